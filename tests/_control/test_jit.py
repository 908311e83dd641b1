"""jit: caching, static and donated arguments, ahead-of-time stages, threads, errors."""

import functools
import itertools
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore._core.eval import EvalTrace

X = np.arange(4, dtype=np.float32)


def counted(f):
    """A function that counts how often it is traced."""

    @functools.wraps(f)
    def wrapped(*args, **kwargs):
        wrapped.traces += 1
        return f(*args, **kwargs)

    wrapped.traces = 0
    return wrapped


def test_traced_once_for_each_kind_of_arguments():
    f = counted(lambda x, y=2.0: x * y)
    g = xc.jit(f)
    for _ in range(5):
        g(X)
    assert f.traces == 1
    g(X + 1), g(X.astype(np.float64)), g(X[:2]), g(X, 3.0), g(X, y=3.0)
    assert f.traces == 5 and g._cache_size() == 5
    g.clear_cache()
    assert g._cache_size() == 0


def test_equal_programs_share_an_executable_whoever_made_them():
    from xcore._core import compile

    before = None
    for k in range(5):
        xc.jit(lambda x: xnp.sin(x) * 1.2345 + x)(X)
        if k == 0:
            before = dict(compile.counts)
    assert compile.counts["compiled"] == before["compiled"]
    assert compile.counts["from_disk"] == before["from_disk"]


@pytest.mark.parametrize("calls", [1, 2, 6])
def test_trees_in_and_out_on_every_path_of_a_call(calls):
    """The first calls take the slow path, later ones a generated one."""
    f = xc.jit(lambda p, s: ({"w": p["w"] * s, "t": (p["b"][0], None)}, [p["b"][1] + s]))
    p = {"w": xnp.asarray(X), "b": [xnp.ones(2), xnp.zeros(3)]}
    for k in range(calls):
        out, rest = f(p, k + 1.0)
        assert (
            np.allclose(out["w"], X * (k + 1))
            and out["t"][1] is None
            and np.allclose(rest[0], k + 1)
        )
    other = {"w": xnp.ones((2, 2)), "b": [xnp.ones(2), xnp.zeros(3)]}
    assert f(other, 2.0)[0]["w"].shape == (2, 2)
    assert f({**p, "b": tuple(p["b"])}, 2.0)[1][0].shape == (3,)


def test_generated_path_tells_types_apart():
    f = xc.jit(lambda d, k: d["x"] + k)
    for _ in range(6):
        f({"x": xnp.ones(3)}, 1.0)
    assert f({"x": xnp.ones(3, "float64")}, 1.0).dtype == np.float64
    assert f({"x": np.ones(3, np.float32)}, 1.0).dtype == np.float32
    assert f({"x": xnp.ones(3)}, 1).dtype == np.float32
    assert f({"x": xnp.ones(3)}, 2**40 * 1.0)[0] == 2.0**40
    with pytest.raises(KeyError):
        f({"y": xnp.ones(3)}, 1.0)


def test_static_arguments():
    @functools.partial(xc.jit, static_argnums=(0, 1))
    def f(op, n, x):
        return [op(x)] * n

    assert len(f(xnp.sin, 3, X)) == 3

    @xc.jit
    def no_static(x, n):
        return xnp.ones(n) * x

    named = xc.jit(
        lambda x, n, *, flag=False: x * n if flag else xnp.ones(n) * x,
        static_argnames=("n", "flag"),
    )
    assert (
        named(2.0, 3).shape == (3,)
        and named(2.0, n=3).shape == (3,)
        and named(2.0, 3, flag=True).shape == ()
    )
    with pytest.raises(TypeError, match="argument n of no_static"):
        no_static(2.0, 3)


def test_methods_partials_and_decorators_with_arguments():
    class Model:
        def __init__(self, k):
            self.k = k

        @functools.partial(xc.jit, static_argnums=0)
        def __call__(self, x):
            return x * self.k

    assert float(Model(2.0)(3.0)) == 6.0 and float(Model(5.0)(3.0)) == 15.0
    assert np.allclose(xc.jit(functools.partial(xnp.sum, axis=0))(np.ones((2, 3))), [2, 2, 2])

    @xc.jit(static_argnames="n")
    def power(x, n=2):
        return x**n

    assert float(power(3.0)) == 9.0 and float(power(3.0, n=3)) == 27.0 and power.__name__ == "power"


def test_donation():
    f = xc.jit(lambda x, y: x + y, donate_argnums=0)
    x, y = xnp.ones(1000), xnp.ones(1000)
    f(x, y)
    assert x.is_deleted() and not y.is_deleted()
    with pytest.raises(RuntimeError, match="donated"):
        f(x, y)
    with pytest.raises(RuntimeError, match="donated"):
        x + 1
    with pytest.raises(RuntimeError, match="donated"):
        np.asarray(x)


def test_donated_numbers_are_not_those_of_others():
    f, x = xc.jit(lambda a: a + 1, donate_argnums=0), xnp.ones(3)
    for _ in range(5):  # the slow paths, and the fast ones
        assert f(2.0) == 3 and f(2.0) == 3
        np.testing.assert_array_equal(x * 2.0, [2, 2, 2])
        np.testing.assert_array_equal(xnp.maximum(x, 2.0), [2, 2, 2])


def test_jit_inside_transformations_and_itself():
    inner = xc.jit(lambda x: xnp.sin(x) * x)
    outer = xc.jit(lambda x: inner(inner(x)) + inner(x))
    plain = lambda x: np.sin(x) * x
    assert np.allclose(outer(X), plain(plain(X)) + plain(X), rtol=1e-6)
    assert outer.lower(X).as_text().count("stablehlo.sine") <= 3


def test_captured_arrays_are_arguments_not_constants():
    big = xnp.arange(10_000.0)
    text = xc.jit(lambda x: x + big).lower(1.0).as_text()
    assert len(text) < 2000
    assert np.allclose(xc.jit(lambda x: x + big)(1.0)[-1], 10_000)


# Ahead of time, shapes


def test_stages():
    traced = xc.jit(lambda x, n: x * n, static_argnums=1).trace(X, 2)
    assert "mul" in str(traced.jaxpr)
    lowered = traced.lower()
    assert "stablehlo.multiply" in lowered.as_text() and "multiply" in lowered.as_text("hlo")
    compiled = lowered.compile()
    assert np.allclose(compiled(X, 2), X * 2)
    assert compiled.cost_analysis()["flops"] >= 4
    assert compiled.memory_analysis().argument_size_in_bytes >= 16
    assert "fusion" in compiled.as_text() or "multiply" in compiled.as_text()
    with pytest.raises(TypeError, match="compiled with float32"):
        compiled(X[:2], 2)


def test_lowering_from_shapes_and_eval_shape():
    s = xc.ShapeDtypeStruct((2, 3), "float32")
    assert xc.jit(lambda a: a @ a.T).lower(s).compile()(np.ones((2, 3), np.float32)).shape == (2, 2)
    out = xc.eval_shape(lambda a: {"m": a @ a.T, "n": a.sum()}, s)
    assert out["m"].shape == (2, 2) and out["n"].dtype == np.float32


def test_make_jaxpr_prints_programs():
    text = str(xc.make_jaxpr(lambda x: xc.lax.cond(x > 0, xnp.sin, xnp.cos, x))(1.0))
    for word in ("lambda", "gt", "cond", "sin", "cos"):
        assert word in text


# Eager and jit agree


SCALARS = [True, 3, 2.5, 1 + 2j]
ARRAYS = [np.asarray(v, d) for d in ("bool", "int8", "uint32", "int64", "float16", "float32", "float64", "complex64")
          for v in [[1, 0]]]  # fmt: skip
BINARY = [xnp.add, xnp.multiply, xnp.true_divide, xnp.maximum, xnp.power]


@pytest.mark.parametrize("op", BINARY, ids=lambda f: f.__name__)
def test_dtypes_of_eager_and_jit_agree_for_python_scalars(op):
    for a, b in [*itertools.product(SCALARS, SCALARS), *itertools.product(ARRAYS[::2], SCALARS)]:
        if op is xnp.maximum and isinstance(b, complex):
            continue
        eager, jitted = op(a, b), xc.jit(op)(a, b)
        assert eager.dtype == jitted.dtype and eager.weak_type == jitted.weak_type, (a, b)


def test_python_scalars_keep_their_precision_beside_64_bit_arrays():
    x = np.ones(2)
    expected = x * 0.1
    assert np.array_equal(xnp.asarray(x) * 0.1, expected)
    assert np.array_equal(xc.jit(lambda x, s: x * s)(x, 0.1), expected)
    assert np.array_equal(xc.jit(lambda x: x * 0.1)(x), expected)
    assert xc.jit(lambda s: s)(2**40) == 2**40
    with pytest.raises(OverflowError):
        xc.jit(lambda s: s)(2**70)


# Threads, processes


def test_threads_share_one_jitted_function():
    f = counted(lambda x: xnp.cumsum(xnp.sin(x) * 3.14159))
    g = xc.jit(f)
    results, errors = [], []

    def work(k):
        try:
            for _ in range(20):
                results.append((k, np.asarray(g(xnp.full(8, float(k))))))
        except Exception as e:
            errors.append(e)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not errors and f.traces == 1
    assert all(
        np.allclose(r, np.cumsum(np.full(8, np.sin(k) * 3.14159)), rtol=1e-5) for k, r in results
    )


def test_settings_are_local_to_their_thread():
    seen = {}
    ready = threading.Event()

    def other():
        ready.wait()
        seen["other"] = xnp.ones(1).dtype

    t = threading.Thread(target=other)
    t.start()
    with xc.enable_x64():
        ready.set()
        t.join()
        seen["here"] = xnp.ones(1).dtype
    assert seen == {"other": np.float32, "here": np.float64}


def test_global_settings_empty_the_fast_paths():
    f = xc.jit(lambda x: x + xnp.ones(2))
    for _ in range(5):
        assert f(xnp.zeros(2)).dtype == np.float32
    try:
        xc.config.update("jax_enable_x64", True)
        assert f(xnp.zeros(2)).dtype == np.float64
        assert (xnp.zeros(2) + 1.0).dtype == np.float64
    finally:
        xc.config.update("jax_enable_x64", False)
    assert f(xnp.zeros(2)).dtype == np.float32
    with pytest.raises(AttributeError, match="no setting"):
        xc.config.update("jax_no_such_thing", 1)
    with pytest.raises(ValueError, match="must be one of"):
        xc.config.update("default_bits", 16)


@pytest.mark.parametrize("order", ["jax, xcore", "xcore, jax"])
def test_lives_with_jax_in_one_process(order):
    pytest.importorskip("jax")
    code = f"""
import {order}
import numpy as np, jax, xcore as xc, xcore.numpy as xnp, jax.numpy as jnp
a = xc.grad(lambda x: xnp.sin(x).sum())(xnp.ones(3, "float64"))
b = jax.grad(lambda x: jnp.sin(x).sum())(jnp.ones(3))
assert np.allclose(a, b) and a.dtype == np.float64 and b.dtype == np.float32
assert np.allclose(jnp.asarray(a) + b, np.asarray(a) * 2)
jax.config.update("jax_enable_x64", True)
assert xnp.ones(3).dtype == np.float32 and jnp.ones(3).dtype == np.float64
assert (xnp.arange(3.0) + 1).sum() == 6 and jax.jit(lambda x: x + 1)(1) == 2
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_import_leaves_the_disk_and_mlir_alone(tmp_path):
    code = "import sys, xcore; print('jaxlib.mlir' in sys.modules, 'scipy' in sys.modules)"
    env = {"XCORE_CACHE_DIR": str(tmp_path / "c"), "PATH": "", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert done.stdout.split() == ["False", "False"], done.stderr


# Errors


def test_what_fails_while_it_is_lowered_ends_as_errors_do():
    """A module that was left open ended the process with a signal as it exited."""
    code = """
import xcore as xc, xcore.numpy as xnp
from xcore._core import lower
lower.waiting = None
xc.jit(lambda x: xnp.sin(x) * 2)(xnp.ones(3))
"""
    environment = dict(os.environ, XCORE_CACHE="0")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 1 and "NoneType" in done.stderr, done.stderr


def _leaked():
    kept = []
    xc.jit(lambda x: kept.append(x * 2) or x)(1.0)
    return kept[0] + 1


def _leaked_argument():
    kept = []
    xc.jit(lambda x: kept.append(x) or x)(1.0)
    return kept[0] + 1


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (
            lambda: xc.jit(lambda x: 1 if x > 0 else 2)(1.0),
            xc.errors.ConcretizationError,
            "argument x of.*where",
        ),
        (lambda: xc.jit(lambda x: [0] * int(x))(1.0), xc.errors.ConcretizationError, "Python int"),
        (
            lambda: xc.jit(lambda n: list(range(n)))(3),
            xc.errors.ConcretizationError,
            "fori_loop.*static_argnames",
        ),
        (lambda: xc.jit(lambda n: xnp.zeros(n))(3), xc.errors.ConcretizationError, "shape.*static"),
        (lambda: xc.jit(lambda x: np.sin(x))(1.0), xc.errors.ConcretizationError, "xcore.numpy"),
        (_leaked, xc.errors.TracerLeakError, "test_jit.py"),
        (_leaked_argument, xc.errors.TracerLeakError, "argument x of"),
        (lambda: xnp.sin([1.0, 2.0]), TypeError, r"\[1.0, 2.0\] of type list.*xnp.asarray"),
        (lambda: xc.jit(lambda s, x: x)("add", 1.0), TypeError, "argument s of.*'add'.*static"),
        (lambda: xc.jit(lambda o: o)({"a": object()}), TypeError, r"argument o\['a'\]"),
        (
            lambda: xc.jit(lambda x, k: x, static_argnums=1)(1.0, [1]),
            ValueError,
            "static argument 'k'.*hashable.*tuple",
        ),
        (lambda: xc.jit(lambda x: x, static_argnames="nope"), ValueError, "nope"),
        (lambda: xc.jit(lambda x: x, static_argnums=3), ValueError, "argument number 3"),
        (lambda: xc.jit(3), TypeError, "expected a function"),
        (lambda: xc.jit(lambda x: "text")(1.0), TypeError, "returned 'text'"),
        (lambda: xnp.ones(2) + xnp.ones(3), xc.errors.ShapeError, r"\(2,\) and \(3,\)"),
        (lambda: xnp.sin([1.0]), TypeError, "asarray"),
        (lambda: xnp.ones(3).__setitem__(0, 1), TypeError, r"x.at\[index\].set"),
        (lambda: hash(xnp.ones(2)), TypeError, "unhashable"),
        (lambda: bool(xnp.ones(2)), ValueError, "ambiguous"),
    ],
)
def test_errors_explain(call, kind, message):
    with pytest.raises(kind, match=f"(?s){message}"):
        call()


def test_traceback_shows_the_users_frames_only():
    import traceback

    def user_function(x):
        return xnp.ones(2) @ x

    try:
        xc.jit(user_function)(xnp.ones(3))
    except Exception as e:
        files = [f.filename for f in traceback.extract_tb(e.__traceback__)]
    assert files and all("xcore/_" not in f and "xcore/numpy" not in f for f in files)


def test_explain_cache_misses(capsys):
    f = xc.jit(lambda x: x)
    with xc.explain_cache_misses():
        f(X)
        f(X.astype(np.float64))
    printed = capsys.readouterr().err
    assert "first call" in printed and "float64[4], was float32[4]" in printed


@pytest.mark.parametrize("indent", [0, 4, 9])
def test_explain_cache_misses_gives_line_and_column(indent, capsys, tmp_path):
    path = tmp_path / "user.py"
    path.write_text(f"if True:\n{' ' * indent} y = 1 + f(x) if x is not None else 0\n")
    f = xc.jit(lambda x: x)
    with xc.explain_cache_misses():
        exec(compile(path.read_text(), str(path), "exec"), {"f": f, "x": X})
    column = indent + len(" y = 1 + ") + 1
    assert f"at {path}:2:{column} in <module>: y = 1" in capsys.readouterr().err


def test_compiler_options():
    x = xnp.arange(4.0)
    f = lambda x: xnp.sin(x) * 3.25
    quick = {"xla_cpu_parallel_codegen_split_count": 1}
    before = xc.jit(f)
    compiled = before.lower(x).compile(compiler_options=quick)
    by_jit = xc.jit(f, compiler_options=quick)
    np.testing.assert_array_equal(compiled(x), before(x))
    np.testing.assert_array_equal(by_jit(x), before(x))
    # they are part of what tells executables apart
    texts = {p.fingerprint for p in (before.trace(x).program, by_jit.trace(x).program)}
    assert len(texts) == 2
    decorated = xc.jit(compiler_options=quick, backend="cpu")(f)
    assert decorated.trace(x).program.fingerprint == by_jit.trace(x).program.fingerprint


@pytest.mark.parametrize(
    "options, text",
    [
        ({"xla_no_such_flag": True}, "No such compile option"),
        ({"xla_cpu_enable_fast_math": "perhaps"}, "not a valid bool"),
        ({3: True}, "dict of flags"),
        ("O2", "dict of flags"),
    ],
)
def test_compiler_options_that_are_wrong(options, text):
    with pytest.raises(ValueError, match=text):
        xc.jit(lambda x: x + 41.5, compiler_options=options)(1.0)


MEMORY = """
import xcore as xc, xcore.numpy as xnp, numpy as np

def resident():  # of its own: which pages of libraries are in memory is not up to us
    with open("/proc/self/status") as f:
        return int(f.read().partition("RssAnon:")[2].split()[0])

f = xc.jit(lambda x: xnp.sum(xnp.sin(x) * 2 + x @ x))
for n in range(20):  # what is needed once: threads and their memory
    f(np.ones(n + 100, np.float32))
xc.clear_caches()
start = resident()
for n in range(80):
    f(np.ones(n + 4, np.float32))
grown = resident() - start
xc.clear_caches()
left = resident() - start
assert left < 0.4 * grown, (left, grown)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_clear_caches_gives_memory_back():
    environment = dict(os.environ, XCORE_CACHE="0")
    subprocess.run([sys.executable, "-c", MEMORY], check=True, env=environment, timeout=200)


def test_an_inlined_function_is_one_program_under_eager_derivatives(monkeypatch):
    """Nothing is recorded there that its equations could be written into: they ran one by one."""

    def f(x):
        for k in range(9):
            x = xnp.sin(x) * (1.0 + 0.1 * k) + 0.3 * x
        return x.sum()

    inlined = xc.jit(f, inline=True)
    names = lambda g: [e.op.name for e in xc.jit(g).trace(xnp.ones(17)).program.eqns]
    assert "call" not in names(inlined) and "call" not in names(xc.grad(inlined))
    ran, process = [], EvalTrace.process
    monkeypatch.setattr(
        EvalTrace, "process", lambda self, op, *rest: ran.append(op) or process(self, op, *rest)
    )
    x = xnp.linspace(0.1, 0.2, 17)
    for transform in (xc.grad, xc.hessian, lambda g: xc.vmap(lambda x, s: g(s * x), (None, 0))):
        args = (x,) if transform in (xc.grad, xc.hessian) else (x, x)
        expected = np.asarray(xc.jit(transform(f))(*args))
        ran.clear()
        np.testing.assert_allclose(transform(inlined)(*args), expected, rtol=1e-4, atol=1e-5)
        assert len(ran) <= 30, [op.name for op in ran]
