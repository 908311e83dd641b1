"""Exported functions over several devices: bits of the function, on any mesh of as many devices, in another process."""

import contextlib
import pathlib
import struct
import subprocess
import sys

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from tests.export.test_export import resealed
from xcore import export, lax, pde
from xcore._control import jax_files
from xcore.sharding import AbstractMesh, Mesh, NamedSharding, P, PositionalSharding

if xc.device_count() < 8:
    pytest.skip("needs eight devices", allow_module_level=True)

DEVICES = xc.devices()[:8]
DATA = pathlib.Path(__file__).parent / "data"
MESH = xc.make_mesh((2, 4), ("x", "y"), devices=DEVICES)
LINE = xc.make_mesh((8,), ("z",), devices=DEVICES)
REVERSED = Mesh(np.array(DEVICES)[::-1].reshape(4, 2), ("q", "w"))
X = np.random.default_rng(0).standard_normal((8, 16)).astype(np.float32)
HALVES = (NamedSharding(MESH, P("x", "y")), NamedSharding(MESH, P("y")))


def equal(found, known, spread=True):
    found, known = xc.tree.leaves(found), xc.tree.leaves(known)
    assert len(found) == len(known)
    for a, b in zip(found, known, strict=True):
        x, y = np.asarray(a), np.asarray(b)
        assert x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
        assert not spread or a.sharding.is_equivalent_to(b.sharding, a.ndim)


def stored(f, *args, order=0, **options):
    """The function in jit, as a file and back; it has the function's bits, eagerly and under jit."""
    jitted = xc.jit(f, **options)
    made = export.export(jitted)(*args)
    read, known = export.deserialize(bytes(made.serialize(order))), jitted(*args)
    for g in (made.call, read.call, xc.jit(read.call)):
        equal(g(*args), known)
    assert read.nr_devices == made.nr_devices
    assert read.in_shardings_jax() == made.in_shardings_jax()
    return read


def mixing(mesh):
    """Collectives, products, and what the compiler spreads by itself."""
    n = mesh.shape["x"]

    def ring(a):
        moved = lax.ppermute(a, "x", [(i, (i + 1) % n) for i in range(n)])
        return lax.psum(a, "y") * 1.5 + lax.axis_index("x") + moved

    def f(x, y, k):
        z = xc.shard_map(ring, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)
        z = lax.with_sharding_constraint(z, NamedSharding(mesh, P("y")))
        return {"a": z * y.sum() + k, "b": (x @ x.T).sum(0)}

    put = [NamedSharding(mesh, P("x", "y")), NamedSharding(mesh, P("y"))]
    return xc.jit(f, in_shardings=(put[0], None, None), out_shardings={"a": put[1], "b": None})


_read = {}


def read_mixing(shape=(2, 4)):
    if shape not in _read:
        f = mixing(xc.make_mesh(shape, ("x", "y"), devices=DEVICES))
        blob = export.export(f, platforms=["cpu", "cuda", "tpu"])(X, X, 2.0).serialize(vjp_order=1)
        _read[shape] = export.deserialize(blob)
    return _read[shape]


# Calls


@pytest.mark.parametrize("shape", [(1, 8), (2, 4), (8, 1)])
def test_bits_and_places_are_those_of_the_function(shape):
    mesh = xc.make_mesh(shape, ("x", "y"), devices=DEVICES)
    read, known = read_mixing(shape), mixing(mesh)(X, X, 2.0)
    x = xc.device_put(X, NamedSharding(mesh, P("x", "y")))
    for found in (read.call(X, X, 2.0), read.call(x, X, 2.0), xc.jit(read.call)(x, X, 2.0)):
        equal(found, known)
    assert read.call(x, X, 2.0)["a"].sharding == NamedSharding(mesh, P("y"))
    assert read.nr_devices == 8 and read.platforms == ("cpu", "cuda", "tpu")


def test_a_mesh_of_other_axes_and_another_order_will_do():
    mesh = xc.make_mesh((4, 2), ("a", "b"), devices=DEVICES)
    x = xc.device_put(X, NamedSharding(mesh, P("b", "a")))
    equal(read_mixing().call(x, X, 2.0), mixing(MESH)(X, X, 2.0))
    x = xc.device_put(X, NamedSharding(REVERSED, P("w", "q")))
    backwards = Mesh(np.array(DEVICES)[::-1].reshape(2, 4), ("x", "y"))
    known = mixing(backwards)(X, X, 2.0)  # sums are taken in the order of the devices
    for call in (read_mixing().call, xc.jit(read_mixing().call)):
        equal(call(x, X, 2.0), known)


def test_shardings_are_recorded():
    read = read_mixing()
    assert read.in_shardings_jax(MESH) == (HALVES[0], None, None)
    assert read.out_shardings_jax(MESH) == (HALVES[1], None)
    assert read.in_shardings_jax()[0] == NamedSharding(
        AbstractMesh((2, 4), ("x", "y")), P("x", "y")
    )
    finer = xc.make_mesh((2, 2, 2), ("a", "b", "c"), devices=DEVICES)
    assert read.in_shardings_jax(finer)[0].spec == P("a", ("b", "c"))
    single = export.export(xc.jit(xnp.sin))(1.0)
    assert single.nr_devices == 1 and single.in_shardings_jax(MESH) == (None,)


def test_arguments_and_results_of_which_nothing_was_said_go_where_data_and_compiler_want_them():
    put = xc.device_put(X, HALVES[0])
    stored(lambda x: (x @ x.T, x.sum(0), 3), put)
    stored(lambda x, k: {"a": x * k, "b": []}, X, 3, in_shardings=(HALVES[1], None))
    stored(lambda: xnp.ones(8), out_shardings=NamedSharding(LINE, P("z")))
    stored(lambda x: x * 2, np.float32(3), in_shardings=NamedSharding(MESH, P()), order=1)
    stored(lambda x: (x.sum(), x * 2), X[:0], in_shardings=HALVES[0], order=1)
    stored(lambda x: x @ x.T, xc.device_put(X, PositionalSharding(DEVICES).reshape(2, 4)))
    open_ = NamedSharding(MESH, P("x", P.UNCONSTRAINED))
    stored(lambda x: lax.with_sharding_constraint(x * 2, open_), put)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64", "int8", "bool"])
def test_dtypes(dtype):
    stored(
        lambda x: (xnp.flip(x, 0), x.sum(1)), xc.device_put(xnp.asarray(X).astype(dtype), HALVES[0])
    )


def test_factorisations_transforms_and_draws():
    a = xc.device_put(X[:, :8] @ X[:, :8].T + 8 * np.eye(8, dtype=np.float32), HALVES[0])
    stored(lambda a: (xnp.linalg.cholesky(a), xnp.fft.fft(a).real, xnp.sort(a, 0)), a)
    stored(
        lambda k: xc.random.normal(k, (8, 8)),
        xc.random.key(0),
        out_shardings=NamedSharding(LINE, P("z")),
    )


def test_solutions_and_steps_of_training():
    f = xc.device_put(np.ones((15, 16), np.float32), NamedSharding(LINE, P(None, "z")))
    stored(lambda f: pde.poisson(f, pde.Grid((16, 17))), f)
    loss = lambda w, x: (xnp.tanh(x @ w) ** 2).mean()
    w = xc.device_put(np.ones((16, 8), np.float32), NamedSharding(MESH, P(None, "y")))
    x = xc.device_put(X, NamedSharding(MESH, P("x")))
    stored(lambda w, x: w - 0.1 * xc.grad(loss)(w, x), w, x, order=1)


def test_captured_arrays_stand_in_the_file_once_and_go_where_they_were():
    w = np.random.default_rng(1).standard_normal((16, 512)).astype(np.float32)
    c = xc.device_put(w, HALVES[0])
    read = stored(lambda x: (x @ c).sum(1), X, in_shardings=HALVES[0])
    assert all(k.sharding == HALVES[0] for near in read._near.values() for k in near)
    assert [k._b for k in read.constants] == [None]  # never whole on one device
    assert w.nbytes < len(read.serialize()) < w.nbytes + 6000
    x = xc.device_put(X, NamedSharding(REVERSED, P("w", "q")))
    assert read.call(x).sharding.devices == tuple(DEVICES)
    equal(read.call(X), xc.jit(lambda x: (x @ c).sum(1), in_shardings=HALVES[0])(X))


def test_several_meshes_and_axes_that_the_compiler_has():
    def f(x):
        x = xnp.sin(lax.with_sharding_constraint(x, NamedSharding(LINE, P("z"))))
        return lax.with_sharding_constraint(x, NamedSharding(MESH, P("y", "x"))).sum(0)

    stored(f, X)
    part = xc.shard_map(
        lambda a: lax.psum(a, "x") * lax.axis_index("x"),
        mesh=MESH, in_specs=P("x"), out_specs=P("x"), axis_names={"x"},
    )  # fmt: skip
    stored(lambda x: part(x) @ part(x).T, xc.device_put(X, NamedSharding(MESH, P(None, "y"))))


def test_types_spread_over_axes_alone_are_of_the_mesh_of_the_context():
    axes = NamedSharding(AbstractMesh((2, 4), ("x", "y")), P("x", "y"))
    with MESH:
        made = export.export(xc.jit(xnp.sin))(xc.ShapeDtypeStruct(X.shape, X.dtype, sharding=axes))
    assert made.nr_devices == 8 and made.in_shardings_jax(MESH) == (HALVES[0],)


def test_donation_is_the_callers():
    read = stored(lambda x: x * 2, X, in_shardings=HALVES[0], donate_argnums=0)
    x = xc.device_put(X, HALVES[0])
    read.call(x)
    assert not x.is_deleted()
    xc.jit(read.call, donate_argnums=0)(x)
    assert x.is_deleted()


# Transformations


def test_derivatives_loops_and_batches():
    f, read = mixing(MESH), read_mixing()
    total = lambda f: lambda x: sum((v**2).sum() for v in f(x, X, 2.0).values())
    known = xc.grad(total(f))(X)
    found = xc.grad(total(read.call))(X)
    np.testing.assert_allclose(found, known, rtol=1e-5)
    assert found.sharding == HALVES[0]
    np.testing.assert_allclose(xc.jit(xc.grad(total(read.call)))(X), known, rtol=1e-5)
    pull = read.vjp()
    assert pull.in_shardings_jax(MESH) == (HALVES[0], None, None, HALVES[1], None)
    assert pull.out_shardings_jax(MESH) == (HALVES[0], None, None)
    one = lambda x: read.call(x, X, 2.0)["b"]
    equal(xc.vmap(one)(np.stack([X, 2 * X]))[1], one(2 * X), spread=False)
    looped = xc.jit(lambda x: lax.fori_loop(0, 2, lambda i, c: read.call(c, X, 2.0)["a"] / 100, x))
    twice = read.call(read.call(X, X, 2.0)["a"] / 100, X, 2.0)["a"] / 100
    np.testing.assert_allclose(looped(X), twice, rtol=1e-5)


def test_a_loss_that_all_devices_share():
    total = lambda a: lax.psum((a**2).sum(), ("x", "y"))
    loss = lambda x: xc.shard_map(total, mesh=MESH, in_specs=P("x", "y"), out_specs=P())(x)
    x = xc.device_put(X, HALVES[0])
    read = stored(loss, x, order=2)
    np.testing.assert_allclose(xc.grad(read.call)(x), 2 * X, rtol=1e-6)
    second = xc.grad(xc.grad(lambda t: read.call(t * x)))(1.0)
    np.testing.assert_allclose(second, 2 * (X**2).sum(), rtol=1e-5)


def test_exported_functions_are_exported_again():
    inner = stored(lambda x: mixing(MESH)(x, x, 1.0)["a"], xc.device_put(X, HALVES[0]))
    on_line = xc.device_put(X, NamedSharding(LINE, P(None, "z")))
    middle = stored(lambda x: inner.call(x) * 2, on_line)
    mesh = xc.make_mesh((2, 2, 2), ("a", "b", "c"), devices=DEVICES)
    outer = stored(
        lambda x: middle.call(x) * 2, xc.device_put(X, NamedSharding(mesh, P("a", ("c", "b"))))
    )
    both, one = stored(lambda x: outer.call(x) + inner.call(x), X), np.asarray(inner.call(X))
    close = {"rtol": 1e-6, "atol": 1e-6 * 150}  # sums in other orders, of what is that large
    np.testing.assert_allclose(outer.call(X), 4 * one, **close)
    np.testing.assert_allclose(both.call(X), 5 * one, **close)


# Any meshes


def drawn_mesh(rng, count):
    shapes = [s for n in (1, 2, 3) for s in np.ndindex((9,) * n) if np.prod(s) == count]
    shape = shapes[rng.integers(len(shapes))]
    return Mesh(np.array(DEVICES[:count]).reshape(shape), tuple("abc"[: len(shape)]))


def drawn_sharding(rng, mesh):
    names = list(rng.permutation(mesh.axis_names))
    cut = rng.integers(0, len(names) + 1)
    return NamedSharding(mesh, P(tuple(map(str, names[:cut])), tuple(map(str, names[cut:]))))


@pytest.mark.parametrize("seed", range(8))
def test_meshes_and_shardings_drawn_at_random(seed):
    rng = np.random.default_rng(seed)
    for _ in range(4):
        count = int(rng.choice([2, 4, 6, 8]))
        mesh, other = drawn_mesh(rng, count), drawn_mesh(rng, count)
        axis = mesh.axis_names[int(rng.integers(len(mesh.axis_names)))]
        n, rows = mesh.shape[axis], P(mesh.axis_names, None)

        def local(a, axis=axis, n=n, names=mesh.axis_names):
            moved = lax.ppermute(a, axis, [(i, (i + 1) % n) for i in range(n)])
            return lax.psum(a, axis) + moved * lax.axis_index(names)

        middle = drawn_sharding(rng, mesh)

        def f(x, w, mesh=mesh, rows=rows, local=local, middle=middle):
            y = xc.shard_map(local, mesh=mesh, in_specs=rows, out_specs=rows)(x)
            z = lax.with_sharding_constraint(xnp.tanh(y) @ w, middle)
            return z, z.sum(0)

        x, w = (rng.standard_normal(s).astype(np.float32) for s in ((24, 48), (48, 24)))
        where = drawn_sharding(rng, mesh), drawn_sharding(rng, other)
        read = stored(f, *map(xc.device_put, (x, w), where), out_shardings=(where[0], None))
        known, again = read.call(x, w), drawn_mesh(rng, count)
        given = [xc.device_put(a, drawn_sharding(rng, again)) for a in (x, w)]
        for found in (read.call(*given), xc.jit(read.call)(*given)):
            for a, b in zip(found, known, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


# Other processes

READER = """
import sys, numpy as np, xcore as xc
read = xc.export.deserialize(open(sys.argv[1], "rb").read())
x = np.load(sys.argv[2])
try:
    out = read.call(x, x, 2.0)
    np.savez(sys.argv[3], **out)
    print(out["a"].sharding)
except ValueError as error:
    print(type(error).__name__, error)
"""


def test_a_fresh_process_computes_the_same_bits_and_needs_as_many_devices(tmp_path, monkeypatch):
    (tmp_path / "f.xc").write_bytes(read_mixing().serialize())
    np.save(tmp_path / "x.npy", X)
    hasty = (
        xc.config.disable_most_optimizations
    )  # programs of tests are compiled fast rather than well
    monkeypatch.setenv("XCORE_DISABLE_MOST_OPTIMIZATIONS", str(int(hasty)))
    said = []
    for count in (8, 3):
        monkeypatch.setenv("XCORE_NUM_CPU_DEVICES", str(count))
        files = [tmp_path / name for name in ("f.xc", "x.npy", f"{count}.npz")]
        done = subprocess.run(
            [sys.executable, "-c", READER, *files], capture_output=True, text=True, check=True
        )
        said.append(done.stdout)
    assert "Mesh('x': 2, 'y': 4), spec=PartitionSpec('y')" in said[0]
    with np.load(tmp_path / "8.npz") as found:
        equal({k: found[k] for k in found}, mixing(MESH)(X, X, 2.0), spread=False)
    assert "ExportError" in said[1] and "exported for 8 devices, and there are 3 here" in said[1]


# Mistakes


def four():
    return xc.make_mesh((4,), "x", devices=DEVICES[:4])


def names_that_a_file_cannot_hold():
    mesh = Mesh(np.array(DEVICES), (frozenset([1]),))
    put = xc.device_put(X, NamedSharding(mesh, P(frozenset([1]))))
    return export.export(xc.jit(xnp.sin))(put).serialize()


MISTAKES = {
    "devices": (
        lambda: read_mixing().call(xc.device_put(X, NamedSharding(four(), P("x"))), X, 2.0),
        "exported for 8 devices, and is called on 4. Spread its arguments over a mesh of 8",
    ),
    "devices in jit": (
        lambda: xc.jit(read_mixing().call)(xc.device_put(X, NamedSharding(four(), P("x"))), X, 2.0),
        "exported for 8 devices, and is called on 4",
    ),
    "one device in jit": (
        lambda: xc.jit(read_mixing().call)(xc.device_put(X, DEVICES[3]), X, 2.0),
        "committed to different devices",
    ),
    "inside": (
        lambda: xc.shard_map(lambda x: read_mixing().call(x, x, 2.0), LINE, P(), P())(X),
        "is called inside of shard_map, where there is one",
    ),
    "platform": (
        lambda: xc.jit(stored(xnp.sin, xc.device_put(X, HALVES[0])).call).lower(X).for_platforms("cuda"),
        "exported for cpu, and is called on cuda",
    ),
    "uneven": (
        lambda: export.export(xc.jit(xnp.sin, in_shardings=NamedSharding(LINE, P("z"))))(X[:7]),
        "cannot be split into 8 equal parts",
    ),
    "mesh": (
        lambda: read_mixing().in_shardings_jax(LINE),
        "mesh must be a mesh over whose axes arrays can be split as PartitionSpec('x', 'y')",
    ),
    "no mesh": (lambda: read_mixing().in_shardings_jax("x"), "mesh must be a Mesh"),
    "axes alone": (
        lambda: export.export(xc.jit(xnp.sin))(
            xc.ShapeDtypeStruct((8,), "float32", sharding=read_mixing().in_shardings_jax()[0])
        ),
        "has no devices, and the mesh of the context is None",
    ),
    "names": (names_that_a_file_cannot_hold, "cannot hold the names of the axes"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_told(name):
    call, words = MISTAKES[name]
    with pytest.raises((ValueError, xc.errors.XcoreError)) as caught:
        call()
    assert words in str(caught.value)


LIES = {
    "mesh": (b'[["x", "y"], [2, 4], [0', b'[["x", "y"], [4, 2], [0'),
    "count": (b'"devices": 8', b'"devices": 4'),
    "order": (b"[0, 1, 2, 3, 4, 5, 6, 7]", b"[0, 1, 2, 3, 4, 5, 6, 6]"),
    "axis": (b'[0, [["x"], ["y"]]]', b'[0, [["x"], ["q"]]]'),
    "number": (b'[0, [["x"], ["y"]]]', b'[7, [["x"], ["y"]]]'),
    "places": (b'"ins": [[0, ', b'"ins": [null, [0, '),
}


@pytest.mark.parametrize("name", LIES)
def test_tables_that_lie_are_noticed(name):
    raw = bytes(read_mixing().serialize())
    old, new = LIES[name]
    assert old in raw
    changed = raw.replace(old, new, 1)
    length = len(changed) - len(raw)
    with pytest.raises(export.ExportError, match="damaged"):
        export.deserialize(resealed(changed, length)).call(X, X, 2.0)


def test_a_byte_that_is_changed_or_missing_is_noticed():
    raw = bytes(read_mixing().serialize())
    for at in range(0, len(raw), len(raw) // 50):
        for damaged in (raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :], raw[:at]):
            with pytest.raises(export.ExportError):
                export.deserialize(damaged)


# Files of jax


def ring(x):
    """What the function of `data/spread.jax` does, by NumPy."""
    parts = x.reshape(8, 4, 2)
    swapped = np.concatenate([x[4:], x[:4]])
    rows = np.arange(8)[:, None] // 4
    return np.tile(parts.sum(1), (1, 4)) + rows + swapped


def test_files_of_jax_over_several_devices():
    theirs = export.deserialize((DATA / "spread.jax").read_bytes())
    x = X[:, :8]
    assert theirs.nr_devices == 8 and theirs.platforms == ("cpu", "cuda")
    assert theirs.in_shardings_jax(MESH) == (HALVES[0], None, None)
    reordered = xc.device_put(x, NamedSharding(REVERSED, P("w", "q")))
    for given in (x, xc.device_put(x, HALVES[0]), reordered):
        z, s = theirs.call(given, x, x)
        np.testing.assert_allclose(z, ring(x) * x.sum(), rtol=2e-5)
        np.testing.assert_allclose(s, np.sin(x), rtol=1e-6)
    assert z.sharding.mesh.device_ids.ravel().tolist() == [d.id for d in DEVICES[::-1]]
    g = xc.grad(lambda x: theirs.call(x, X[:, :8], x)[0].sum())(x)
    np.testing.assert_allclose(g, np.full((8, 8), 5 * x.sum()), rtol=1e-4)
    assert "cuda" in xc.jit(theirs.call).lower(x, x, x).for_platforms("cuda")


def test_files_of_jax_over_several_devices_that_end_early_are_told():
    blob = (DATA / "spread.jax").read_bytes()
    for n in range(0, len(blob), 397):
        with pytest.raises(export.ExportError):
            export.deserialize(blob[:n])


def without_places(raw: bytes) -> bytes:
    """The file as older versions of jax wrote it: it does not number the shardings of its arguments."""
    table = jax_files.Table(raw, struct.unpack_from("<I", raw, 0)[0])
    entry = table.fields + 4 + 2 * jax_files._EXPORTED["in_shardings_idxs"]
    return raw[:entry] + bytes(2) + raw[entry + 2 :]


def test_files_of_older_versions_of_jax_and_changed_bytes_are_told():
    raw = (DATA / "spread.jax").read_bytes()
    with pytest.raises(export.ExportError, match="older form"):
        export.deserialize(without_places(raw))
    table = jax_files.Table(raw, struct.unpack_from("<I", raw, 0)[0])
    first, _ = table._vector(jax_files._EXPORTED["module"])
    other, _ = table.table(jax_files._EXPORTED["vjp"])._vector(jax_files._EXPORTED["module"])
    for at in range(0, min(first, other), 23):  # modules are read by MLIR
        changed = raw[:at] + bytes([raw[at] ^ 129]) + raw[at + 1 :]
        with contextlib.suppress(export.ExportError):
            export.deserialize(changed)
