"""Settings: names, checked values, blocks; and the settings that no other file tests."""

import subprocess
import sys

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax, optimize
from xcore._backend.options import LEVELS_UP_TO, brisk_options
from xcore._core import compile as compile_module
from xcore._core import config
from xcore._core.compile import compiler_flags


def test_names_with_and_without_prefix():
    with xc.config.override(jax_debug_nans=True):
        assert xc.config.settings().debug_nans
    assert not xc.config.settings().debug_nans
    with pytest.raises(AttributeError, match="Settings are"):
        xc.config.update("debug_nan", True)
    with pytest.raises(ValueError, match="standard"):
        xc.config.update("numpy_dtype_promotion", "loose")


def test_settings_are_read_by_name():
    assert xc.config.debug_nans is xc.config.jax_debug_nans is xc.config.read("debug_nans") is False
    with xc.config.override(default_bits=64, debug_nans=True):
        assert xc.config.jax_enable_x64 and xc.config.read("enable_x64") and xc.config.debug_nans
    with pytest.raises(AttributeError, match="Settings are"):
        _ = xc.config.debug_nan


@pytest.mark.parametrize("name", [
    "debug_nans", "debug_infs", "debug_key_reuse", "enable_checks", "log_compiles", "check_tracer_leaks",
])  # fmt: skip
def test_blocks(name):
    before = getattr(xc.config.settings(), name)
    with getattr(xc, name)(not before):
        assert getattr(xc.config.settings(), name) is not before
    assert getattr(xc.config.settings(), name) is before


kept = []


class Model:
    pass


def test_leaks_are_found_early():
    def keeps(x):
        kept.append(xnp.sin(x))
        return x

    model = Model()

    def stores(x):
        model.hidden = x + 1
        return x

    with xc.checking_leaks():
        with pytest.raises(
            xc.errors.TracerLeakError, match=r"argument x of keeps.* kept by a list"
        ):
            xc.jit(keeps)(1.0)
        kept.clear()
        with pytest.raises(xc.errors.TracerLeakError, match=r"test_config.py.*kept by a Model"):
            xc.jit(stores)(1.0)


def test_nothing_leaks_where_nothing_does():
    def loss(x):
        return lax.scan(lambda c, x: (c + xnp.cos(x), None), 0.0, x)[0]

    with xc.checking_leaks():
        xc.jit(xc.grad(loss))(xnp.ones(3))
        xc.vmap(xnp.sin)(xnp.ones((2, 3)))
        assert xc.eval_shape(loss, xnp.ones(3)).shape == ()
        described = xc.eval_shape(
            lambda x: (x, xc.ShapeDtypeStruct((2,), "int8"), x.sum()), xnp.ones(3)
        )
        assert [d.shape for d in described] == [(3,), (2,), ()]


def test_evaluation_while_tracing():
    @xc.jit
    def f(x):
        with xc.ensure_compile_time_eval():
            size = int(xnp.arange(3).sum())
        return xnp.broadcast_to(x, (size,))

    assert f(1.0).shape == (3,)


def test_programs_compiled_in_haste_are_executables_of_their_own():
    def f(x):
        return xnp.tanh(x).sum()

    x = xnp.linspace(0, 1, 100)
    compiled = []
    for hasty in (False, True, False):
        with xc.config.override(disable_most_optimizations=hasty):
            compiled.append(xc.jit(f).lower(x).compile())
    first, fast, again = (c.runtime_executable() for c in compiled)
    assert first is again and first is not fast
    np.testing.assert_allclose(compiled[1](x), f(x), rtol=1e-6)


def test_solvers_of_few_numbers_are_compiled_briskly():
    """The option is of this program alone: neither of large ones nor of loops that go on for long."""
    brisk = {"compiler_options": dict(zip(LEVELS_UP_TO, (0, 100)))}
    fast = dict(brisk_options(xc.devices("cpu")[0], 1))
    loop = lambda n: lambda x: lax.scan(lambda c, _: (xnp.sin(c), None), x, length=n)[0]
    for f, size, small in (
        (xnp.sin, 100, True), (xnp.sin, 101, False), (lambda x: xnp.outer(x, x).sum(), 11, False),
        (loop(10), 10, True), (loop(11), 10, False), (xc.jit(loop(11)), 10, False),
    ):  # fmt: skip
        with xc.config.override(disable_most_optimizations=False):
            program = xc.jit(f, **brisk).trace(xnp.ones(size)).program
            flags = dict(compiler_flags(program, xc.devices("cpu")[:1]))
        assert flags == (fast if small else {})
        np.testing.assert_allclose(xc.jit(f, **brisk)(xnp.ones(size)), f(xnp.ones(size)), rtol=1e-5)


def test_minimize_and_least_squares_are_such_solvers(monkeypatch):
    seen = []
    build = compile_module._build
    monkeypatch.setattr(
        compile_module, "_build", lambda p, *rest: seen.append(p) or build(p, *rest)
    )
    with xc.config.override(disable_most_optimizations=False):
        optimize.minimize(lambda x: xnp.sum((x - 1.25) ** 2), xnp.zeros(3))
        optimize.least_squares(lambda x: x - 1.25, xnp.zeros(3))
        optimize.curve_fit(lambda t, a: a * t, xnp.ones(4), xnp.ones(4), p0=xnp.ones(1))
    whole = [p for p in seen if any(e.op.name == "while" for e in p.eqns)]
    assert len(whole) >= 3 and all({*LEVELS_UP_TO} <= {*dict(p.options)} for p in whole)


def test_settings_of_the_runtime(tmp_path, monkeypatch):
    monkeypatch.setenv("XCORE_CACHE_DIR", "elsewhere")
    xc.config.update("jax_compilation_cache_dir", str(tmp_path / "kept"))
    xc.jit(lambda x: x * 1.2345 + 1)(xnp.ones(3))
    assert any((tmp_path / "kept").rglob("*"))
    xc.config.update("jax_enable_custom_prng", True)
    with pytest.raises(ValueError, match="always True"):
        xc.config.update("jax_enable_custom_prng", False)
    with pytest.raises(RuntimeError, match="before the first array"):
        xc.config.update("jax_num_cpu_devices", 77)


def test_settings_of_the_runtime_are_read(monkeypatch):
    for variable in ("XCORE_CACHE_DIR", "XCORE_CACHE"):
        monkeypatch.setenv(variable, "")  # what is set below ends with the test
        monkeypatch.delenv(variable)
    assert xc.config.jax_compilation_cache_dir is None
    assert xc.config.read("enable_compilation_cache") is True
    xc.config.update("jax_compilation_cache_dir", "there")
    xc.config.update("enable_compilation_cache", False)
    assert xc.config.compilation_cache_dir == "there"
    assert xc.config.enable_compilation_cache is False
    xc.config.update("jax_compilation_cache_dir", None)
    assert xc.config.jax_compilation_cache_dir is None


def test_devices_are_chosen_before_they_are_used():
    program = """
import xcore as xc
xc.config.update("jax_platform_name", "cpu")
xc.config.update("jax_num_cpu_devices", 3)
print(len(xc.devices()), xc.default_backend())
"""
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == ["3", "cpu"]


def test_narrow_is_what_jax_does_without_x64():
    """What comes in, and what is asked for; not what meets in operations, nor anything while 64 bits are the default."""
    x, i = np.arange(3.0), np.arange(3)

    def dtypes_of():
        xnp = xc.numpy
        made = [
            xnp.asarray(x), xnp.asarray(i), xnp.sin(x), x * xnp.ones(3, "float32"), xnp.zeros(2, "float64"),
            xnp.ones(2, "float32").astype(np.int64), xc.jit(lambda a: a + 1)(x), xc.jit(lambda: xnp.asarray(x) + x)(),
            xnp.asarray(1, "uint32") + xnp.asarray(1, "int32"), xc.grad(lambda a: (a**2).sum())(x),
            xc.random.normal(xc.random.key(0), (2,), np.float64), xnp.asarray(x * 1j), xnp.float64(3),
            xc.device_put(x), xc.device_put(x, xc.devices()[0]) + 0, xc.eval_shape(lambda a: a, x), xc.lax.scan(lambda c, v: (c + v, v), 0.0, x)[1],
        ]  # fmt: skip
        return {y.dtype.name for y in made}

    with xc.config.override(narrow=True, default_bits=32):
        assert dtypes_of() == {"float32", "int32", "complex64"}
        assert xc.numpy.finfo("float64").bits == 64
        assert xc.random.randint(xc.random.key(0), (2,), 0, 5).dtype == np.int32
        assert xc.numpy.histogram(x)[1].dtype == np.float32
        assert abs(float(xc.special.gammaincinv(2.0, 0.3)) - 1.0973496) < 1e-6
    with xc.config.override(narrow=True, default_bits=64):
        assert dtypes_of() >= {"float64", "int64", "complex128"}
    assert xc.numpy.asarray(x).dtype == np.float64


def test_clamp_is_what_jax_does_with_known_positions():
    x = xnp.arange(3.0)
    with pytest.raises(IndexError):
        x[5]
    with xc.config.override(clamp=True):
        for i in (5, np.int32(7), -9, (4,), np.asarray([-9, 1, 9])):
            traced = xc.jit(lambda i: x[i])(i if not isinstance(i, tuple) else i[0])
            np.testing.assert_array_equal(x[i], traced)
        assert float(x[5]) == 2 and float(x[-9]) == 0
        np.testing.assert_array_equal(x.at[5].set(9.0), x)
        np.testing.assert_array_equal(xnp.ones((2, 3))[4, 1:], [1, 1])
        assert float(xc.jit(lambda y: y[7])(x)) == 2
        assert float(xc.grad(lambda y: y[7] ** 2)(x)[2]) == 4
    with pytest.raises(IndexError):
        x[5]


def levels_of(f, *args, **options):
    """At which level a program is compiled; None for the compiler's own."""
    with xc.config.override(disable_most_optimizations=False):
        program = xc.jit(f, **options).trace(*args).program
        flags = dict(compiler_flags(program, xc.devices("cpu")[:1]))
    return flags.get("xla_backend_optimization_level")


def test_levels_of_the_compiler():
    """Programs of small arrays without loops at level 1; solvers at their own, alone and in users' programs."""
    loop = lambda x: lax.fori_loop(0, 9, lambda i, x: xnp.sin(xnp.cos(xnp.sin(x))), x)
    solver = xc.jit(loop, compiler_options=dict(zip(LEVELS_UP_TO, (36, 72))))  # nine times
    ones = xnp.ones
    assert levels_of(xnp.sin, ones(256)) == 1 and levels_of(xnp.sin, ones(257)) is None
    assert levels_of(loop, ones(3)) is None  # a user's loop may go on for long
    assert [levels_of(solver, ones(n)) for n in (4, 5, 8, 9)] == [0, 1, 1, None]
    assert [levels_of(lambda x: solver(x) + 1, ones(n)) for n in (4, 5, 9)] == [0, 1, None]
    assert levels_of(xc.vmap(lambda x: solver(x) + 1), ones((2, 2))) == 0
    assert levels_of(xc.vmap(lambda x: solver(x) + 1), ones((3, 3))) is None
    many = lambda x: solver(loop(xnp.cos(xnp.sin(xnp.cos(x * 2))) + 1)) + 1
    assert levels_of(many, ones(3)) is None  # the solver is the smaller part
    # large arrays that are only read do not count but at level 0
    table = ones(1000)
    assert levels_of(lambda x: solver(lax.dot(table, table) * x), ones(2)) == 1


def test_a_minimiser_in_a_users_program_is_compiled_at_a_level_of_its_own():
    def least(a):
        return optimize.minimize(lambda x: xnp.sum((x - a) ** 2), xnp.zeros(3)).x

    assert levels_of(least, 2.0) == 1 and levels_of(xc.vmap(least), xnp.ones(4)) == 1


def test_levels_of_programs_that_call_each_other_over_and_over():
    """Twice in each of 40 functions: the same program at 2**40 places, which is looked at once."""
    f = xnp.sin
    for _ in range(40):
        f = xc.jit(lambda x, f=f: f(f(x * 1.01) + 1) - 0.5)
    assert levels_of(f, xnp.ones(3)) == 1
    assert levels_of(f, xnp.ones(3), compiler_options={"level_0_up_to": 3}) == 0
    assert levels_of(f, xnp.ones(300), compiler_options={"level_1_up_to": 300}) == 1


@pytest.mark.parametrize("word", ["1", "true", "Yes", "ON", " on "])
def test_words_for_truth(word):
    for name in ("debug_nans", "jax_enable_x64"):
        with xc.config.override(**{name: word}):
            assert xc.config.read(name) is True


@pytest.mark.parametrize("word", ["0", "False", "no", "OFF", ""])
def test_words_for_falsehood(word):
    for name in ("debug_nans", "jax_enable_x64"):
        with xc.config.override(**{name: True}), xc.config.override(**{name: word}):
            assert xc.config.read(name) is False


def test_other_words_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="debug_nans must be one of 1, true, yes, on, 0"):
        xc.config.update("debug_nans", "maybe")
    for variable, value in (
        ("XCORE_SANITIZE", "maybe"), ("XCORE_ENABLE_X64", "64"), ("JAX_ENABLE_X64", "x"), ("XCORE_DEFAULT_BITS", "many"),
    ):  # fmt: skip
        monkeypatch.setenv(variable, value)
        with pytest.raises(ValueError, match=f"{variable} must be"):
            config._initial()
        monkeypatch.delenv(variable)
