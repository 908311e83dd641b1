"""Exported functions: files that give what the function gives, under transformations too, or an error in words."""

import collections
import functools
import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import export
from xcore._control import exported_files

DATA = Path(__file__).parent / "data"
rng = np.random.default_rng(0)
SQUARE = xnp.asarray(rng.standard_normal((4, 4)), np.float32)
POSITIVE = SQUARE @ SQUARE.T + 4 * xnp.eye(4)
ONES = xnp.ones(3)


def stored(f, *args, order=0, **options):
    """The function written to bytes and read from them."""
    return export.deserialize(export.export(xc.jit(f, **options))(*args).serialize(order))


def model(d, n):
    return {"y": xnp.sin(d["x"]) @ d["w"], "n": n + 1}


def total(f, x):
    return f({"x": x, "w": x.T}, 3)["y"].sum()


X = xnp.asarray(rng.standard_normal((2, 3)), np.float32)
GIVEN = {"x": X, "w": xnp.asarray(rng.standard_normal((3, 2)), np.float32)}


@functools.cache
def read_model():
    return stored(model, GIVEN, 3, order=2)


def read_jax(name: str):
    return export.deserialize((DATA / name).read_bytes())


def equal(a, b) -> None:
    for x, y in zip(xc.tree.leaves(a), xc.tree.leaves(b), strict=True):
        x, y = np.asarray(x), np.asarray(y)
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        np.testing.assert_array_equal(x, y)


# Values

LOOP = lambda x: xc.lax.scan(lambda c, y: (c + y, c * y), 0.0, x)
BARRIERS = lambda x: xc.lax.scan(
    lambda c, y: (sum(xc.lax.optimization_barrier((c * y, c + 1))), None), x, x
)[0]
FUNCTIONS = {
    "int4": (lambda x: x[::-1], xnp.asarray([1, -2, 3], "int4")),
    "bool": (lambda x: ~x, xnp.asarray([True, False])),
    "bfloat16": (lambda x: xnp.sin(x) * 2, xnp.ones(3, "bfloat16")),
    "complex": (lambda x: xnp.exp(x) * 2j, xnp.ones(3, "complex64")),
    "float64": (xnp.cumsum, xnp.ones(3, "float64")),
    "empty": (xnp.sin, xnp.ones((0, 3))),
    "0-d": (xnp.sin, xnp.float32(2.0)),
    "nothing": (lambda: xnp.arange(3),),
    "none": (lambda x: None, ONES),
    "sorts": (lambda x: (xnp.argsort(x), xc.lax.top_k(x, 2)), SQUARE[0]),
    "fft": (xnp.fft.fft, SQUARE[0]),
    "erf": (xc.special.erf, SQUARE),
    "nested": (lambda x: xc.jit(lambda y: xnp.sort(y) + xc.jit(xnp.cumsum)(y))(x), ONES),
    "loops": (lambda x: (LOOP(x), xc.lax.fori_loop(0, x[0].astype(int), lambda i, c: c * 2, 1.0)), ONES),
    "barriers": (lambda x: BARRIERS(x), ONES),  # two values in a small loop
    "branches": (lambda x: xc.lax.cond(x.sum() > 0, xnp.sin, xnp.cos, x), ONES),
    "cholesky": (xnp.linalg.cholesky, POSITIVE),
    "eig": (xnp.linalg.eig, SQUARE),
    "schur": (xc.linalg.schur, SQUARE),
    "random": (lambda k: (xc.random.normal(k, (3,)), xc.random.split(k)), xc.random.key(3)),
    "report": (lambda a: xc.linalg.solve(a, a[0], report=True), POSITIVE),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_bits_are_those_of_the_function(name):
    f, *args = FUNCTIONS[name]
    equal(stored(f, *args).call(*args), f(*args))


READER = """
import pathlib, sys, numpy as np, xcore as xc
for file in pathlib.Path(sys.argv[1]).glob("*.xc"):
    args = np.load(file.with_suffix(".npz"))
    args = [xc.random.key(3)] if file.stem == "random" else [args[k] for k in args]
    outs = xc.tree.leaves(xc.export.deserialize(file.read_bytes()).call(*args))
    np.savez(file.with_suffix(".out.npz"), *map(np.asarray, outs))
"""


def test_a_fresh_process_computes_the_same_bits(tmp_path):
    names = ["loops", "cholesky", "random"]
    for name in names:
        f, *args = FUNCTIONS[name]
        blob = export.export(xc.jit(f))(*args).serialize()
        (tmp_path / f"{name}.xc").write_bytes(blob)
        np.savez(tmp_path / f"{name}.npz", *map(np.asarray, xc.tree.leaves(args)))
    subprocess.run([sys.executable, "-c", READER, str(tmp_path)], check=True)
    for name in names:
        f, *args = FUNCTIONS[name]
        found = np.load(tmp_path / f"{name}.out.npz")
        equal([found[k] for k in found], xc.tree.leaves(f(*args)))


def test_static_arguments_are_part_and_donation_is_not():
    f = stored(lambda x, n, y: (x * n, y), ONES, 3, 2.0, static_argnums=1, donate_argnums=0)
    equal(f.call(ONES, 5.0), (ONES * 3, xnp.float32(5.0)))
    assert not ONES.is_deleted()


def test_constants_stand_in_the_file_once():
    table = xnp.arange(10_000.0)
    blob = export.export(xc.jit(lambda x: (x * table).sum() + table[0]))(2.0).serialize(2)
    assert table.nbytes < len(blob) < table.nbytes + 20_000
    equal(export.deserialize(blob).call(2.0), (2.0 * table).sum() + table[0])


# Transformations


def test_derivatives_are_those_that_are_stored():
    f, f0 = functools.partial(total, read_model().call), functools.partial(total, model)
    np.testing.assert_allclose(xc.grad(f)(X), xc.grad(f0)(X), rtol=1e-6)
    second = lambda f: xc.grad(lambda x: xc.grad(f)(x).sum())
    np.testing.assert_allclose(second(f)(X), second(f0)(X), rtol=1e-5)
    assert read_model().has_vjp() and not read_model().vjp().vjp().has_vjp()


def test_call_composes_with_jit_vmap_and_loops():
    many = xnp.stack([X, X + 1, X - 1])
    f, f0 = functools.partial(total, read_model().call), functools.partial(total, model)
    over = lambda f: xc.jit(xc.vmap(xc.grad(f)))(many)
    np.testing.assert_allclose(over(f), over(f0), rtol=1e-6)
    assert xc.vmap(f)(many[:0]).shape == (0,)
    steps = xc.lax.scan(lambda c, x: (c + f(x), None), 0.0, many)[0]
    np.testing.assert_allclose(steps, xc.vmap(f0)(many).sum(), rtol=1e-5)


def test_a_pull_back_takes_and_gives_leaves():
    pull = read_model().vjp()
    none = np.zeros((), xc.float0)
    w, x, n = pull.call(GIVEN["w"], X, 3, none, xnp.ones((2, 2)))
    _, known = xc.vjp(lambda d: model(d, 3)["y"], GIVEN)
    np.testing.assert_allclose(x, known(xnp.ones((2, 2)))[0]["x"], rtol=1e-6)
    assert w.shape == (3, 2) and n.dtype == xc.float0


def test_custom_rules_are_exported():
    f = xc.custom_vjp(lambda x: 2 * x)
    f.defvjp(lambda x: (2 * x, None), lambda _, g: (100 * g,))
    read = stored(f, ONES, order=1)
    np.testing.assert_array_equal(xc.grad(lambda x: read.call(x).sum())(ONES), 100.0)


def test_exported_functions_are_exported_again():
    again = stored(lambda x: total(read_model().call, x), X, order=1)
    np.testing.assert_allclose(
        xc.grad(again.call)(X), xc.grad(functools.partial(total, model))(X), rtol=1e-6
    )


def test_a_function_in_a_function_in_a_function_keeps_its_own():
    f = stored(lambda x: x + 1, 1.0)
    for _ in range(3):
        f = stored(lambda x, inner=f: inner.call(x) * 2, 1.0)
    equal(f.call(1.0), np.float32(16.0))


def test_without_derivatives_the_error_says_how_to_store_them():
    f = stored(xnp.sin, 1.0)
    with pytest.raises(export.ExportError, match=r"serialize\(vjp_order=1\)"):
        xc.grad(f.call)(1.0)
    with pytest.raises(xc.errors.XcoreError, match=r"forward-mode .* of the exported model"):
        xc.jvp(functools.partial(total, read_model().call), (X,), (X,))


# Platforms


def test_each_platform_has_its_module():
    exported = export.export(xc.jit(xnp.linalg.svd), platforms=["cpu", "gpu", "tpu"])(SQUARE)
    assert exported.platforms == ("cpu", "cuda", "tpu")
    assert "lapack_sgesdd" in exported.mlir_module() and "cusolver" in exported.mlir_module("gpu")
    assert "custom_call" not in exported.mlir_module("tpu").replace("custom_call @Qr", "").replace(
        "custom_call @ProductOfElementaryHouseholderReflectors", ""
    ).replace("custom_call @Eigh", "")
    lowered = xc.jit(exported.call).lower(SQUARE).for_platforms("cpu", "cuda")
    assert "cusolver" in lowered["cuda"].as_text() and "lapack" in lowered["cpu"].as_text()


def test_a_platform_that_it_is_not_for_is_refused():
    f = export.export(xc.jit(xnp.sin), platforms=["cuda"])
    with pytest.raises(export.ExportError, match="exported for cuda, and is called on cpu"):
        f(1.0).call(1.0)
    unchecked = [export.DisabledSafetyCheck.platform()]
    made = export.export(xc.jit(xnp.sin), platforms="cuda", disabled_checks=unchecked)(1.0)
    equal(export.deserialize(made.serialize()).call(1.0), xnp.sin(np.float32(1.0)))


# Mistakes


def exported(f, *args, **options):
    return lambda: export.export(f, **options)(*args)


def progress(x):
    xc.debug.print("{}", x)
    return x


MISTAKES = {
    "not jitted": (exported(xnp.sin, 1.0), "fun_jit must be a jitted function"),
    "platform": (exported(xc.jit(xnp.sin), 1.0, platforms=["rocket"]), "cpu, cuda, tpu"),
    "no platform": (exported(xc.jit(xnp.sin), 1.0, platforms=[]), "cpu, cuda, tpu"),
    "callback": (exported(xc.jit(lambda x: xc.pure_callback(np.sin, x, x)), ONES), "Python functions"),
    "print": (exported(xc.jit(progress), ONES), "something besides computing"),
    "host": (exported(xc.jit(xc.linalg.schur), SQUARE, platforms=["cuda"]), "done on the host"),
    "tracer": (lambda: xc.jit(lambda z: export.export(xc.jit(lambda x: x * z))(1.0).call(1.0))(2.0), "outside of jit"),
    "shape": (lambda: read_model().call(GIVEN | {"x": X[0]}, 3), r"\['x'\] .* float32\[3\]"),
    "dtype": (lambda: read_model().call(GIVEN, 3.0), r"int32\[\] as argument \[0\]\[1\]"),
    "array": (lambda: read_model().call(GIVEN | {"x": "x"}, 3), "'x' of type str"),
    "structure": (lambda: read_model().call(GIVEN), "takes arguments of the structure"),
    "order": (lambda: read_model().serialize(3), "without its derivative"),
    "text": (lambda: export.deserialize("model.bin"), "read_bytes"),
    "symbols": (exported(xc.jit(xnp.sin), xc.ShapeDtypeStruct(export.symbolic_shape("b, 3"), "float32")), "export the function for each"),
    "checks": (exported(xc.jit(xnp.sin), 1.0, disabled_checks=["platform"]), "DisabledSafetyCheck"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_told(name):
    call, words = MISTAKES[name]
    with pytest.raises(xc.errors.XcoreError, match=f"(?i){words}"):
        call()


# Structures

Pair = collections.namedtuple("Pair", "a b")


@xc.tree.struct
class Wave:
    u: xc.Array
    order: int = xc.tree.static(default=2)


@xc.tree.struct
class Tide:
    u: xc.Array


export.register_pytree_node_serialization(Tide, serialized_name="tests.Tide")


def test_containers_of_python_come_back():
    given = collections.OrderedDict(b={1: ONES}, a=[ONES, None, ()])
    back = stored(lambda x: x, given).call(given)
    assert type(back) is collections.OrderedDict and xc.tree.structure(back) == xc.tree.structure(
        given
    )
    made = collections.defaultdict(list, {"x": ONES})
    assert stored(lambda x: x, made).call(made).default_factory is list


def test_classes_are_known_by_the_name_they_are_registered_with():
    for node, register in (
        (Pair(ONES, ONES), export.register_namedtuple_serialization),
        (Wave(ONES), export.register_pytree_node_serialization),
    ):
        f = export.export(xc.jit(lambda x: x))(node)
        with pytest.raises(export.ExportError, match=f"{register.__name__}.{type(node).__name__}"):
            f.serialize()
        register(type(node), serialized_name=f"tests.{type(node).__name__}")
        equal(export.deserialize(f.serialize()).call(node), node)
    with pytest.raises(xc.errors.ArgumentError, match="a name of this class alone"):
        export.register_pytree_node_serialization(Wave, serialized_name="tests.Pair")


def test_a_class_that_is_not_registered_here_is_told():
    blob = export.export(xc.jit(lambda x: x))(Tide(ONES)).serialize()
    unknown = bytes(blob).replace(b":tests.Tide", b":tests.Tade")
    with pytest.raises(export.ExportError, match="under this name"):
        export.deserialize(resealed(unknown))


def resealed(blob: bytes, longer: int = 0) -> bytes:
    """A file with the checksum that its content has; ``longer``: by how much its table became so."""
    head = len(exported_files.MAGIC)
    version, _, length = exported_files._HEAD.unpack_from(blob, head)
    rest = blob[head + exported_files._HEAD.size :]
    sealed = exported_files._HEAD.pack(version, hashlib.sha256(rest).digest(), length + longer)
    return blob[:head] + sealed + rest


@pytest.mark.parametrize(
    "name", ["os:system", "xcore._core.config:os", "xcore.lax:cond", "numpy:ndarray"]
)
def test_a_file_names_no_other_classes(name):
    with pytest.raises(ValueError, match="no class"):
        xc._core.structures.from_state([name, None, []], "test")


# Damage


def test_a_byte_that_is_changed_or_missing_is_noticed():
    blob = bytes(read_model().serialize())
    for at in range(0, len(blob), len(blob) // 100):
        changed = blob[:at] + bytes([blob[at] ^ 1]) + blob[at + 1 :]
        for damaged in (changed, blob[:at]):
            with pytest.raises(export.ExportError):
                export.deserialize(damaged)


def test_a_later_version_is_named():
    blob = read_model().serialize()
    blob[len(exported_files.MAGIC)] = 9
    with pytest.raises(export.ExportError, match=r"version 9 .* reads version 1 and 2"):
        export.deserialize(blob)


def test_types_that_the_module_does_not_have_are_noticed():
    blob = bytes(export.export(xc.jit(xnp.sin))(ONES).serialize())
    lies = resealed(blob.replace(b'["float32", [3]]', b'["float32", [4]]'))
    with pytest.raises(export.ExportError, match="damaged"):
        export.deserialize(lies).call(xnp.ones(4))


# Files of jax


def test_files_of_jax_are_called_and_differentiated():
    theirs = read_jax("model.jax")
    assert theirs.platforms == ("cpu", "cuda") and theirs.calling_convention_version == 10
    found, known = theirs.call(GIVEN, 3), model(GIVEN, 3)
    assert found["n"] == known["n"]
    np.testing.assert_allclose(found["y"], known["y"], rtol=1e-6)
    f, f0 = functools.partial(total, theirs.call), functools.partial(total, model)
    second = lambda f: xc.jit(xc.grad(lambda x: xc.grad(f)(x).sum()))(X)
    np.testing.assert_allclose(second(f), second(f0), rtol=1e-5)
    np.testing.assert_allclose(xc.vmap(f)(xnp.stack([X, X])), [f0(X), f0(X)], rtol=1e-5)
    assert "dense<1>" in xc.jit(theirs.call).lower(GIVEN, 3).for_platforms("cuda")["cuda"].as_text()


def test_a_file_of_jax_calls_lapack():
    a = SQUARE[:3, :3]
    known = np.linalg.cholesky(np.asarray(a @ a.T) + 3 * np.eye(3))
    np.testing.assert_allclose(read_jax("cholesky.jax").call(a), known, rtol=1e-5, atol=1e-6)


def test_files_of_jax_that_end_early_are_told():
    blob = (DATA / "model.jax").read_bytes()
    for n in range(0, len(blob), 97):
        with pytest.raises(export.ExportError):
            export.deserialize(blob[:n])
    with pytest.raises(export.ExportError, match=r"cannot be read|no function in it"):
        export.deserialize(np.random.default_rng(0).bytes(1000))
