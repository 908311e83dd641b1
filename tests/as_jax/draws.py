"""As ``checks.py``: draws with JAX's bits, beside what JAX 0.10.2 gave; dtypes of floats of short integers."""

import json
import sys
from pathlib import Path

import numpy as np
from results import close, tell

if __name__ == "__main__" and "--of-jax" not in sys.argv:  # else the table is written anew, by JAX
    import xcore.as_jax  # noqa: F401 (from here on jax is xcore)

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip

R = jax.random
KEY = R.key(3)
HALF = np.array([0.25, 0.5, 0.0, 2.0], np.float16)
PLAIN = """
    gumbel exponential cauchy laplace logistic maxwell
""".split()
SHAPED = {
    "rayleigh": (2.0,), "weibull_min": (2.0, 1.5), "triangular": (0.0, 0.3, 1.0), "lognormal": (0.5,),
    "truncated_normal": (-1.0, 2.0), "pareto": (2.0,),
}  # fmt: skip


def _of_halves():
    """Each distribution in 16 bits, which has bits of its own."""
    for dtype in (jnp.float16, jnp.bfloat16):
        for name in PLAIN:
            yield f"{name} {np.dtype(dtype)}", getattr(R, name)(KEY, (3,), dtype=dtype)
        for name, given in SHAPED.items():
            yield f"{name} {np.dtype(dtype)}", getattr(R, name)(KEY, *given, (3,), dtype)
    yield "bernoulli half", R.bernoulli(KEY, HALF)
    yield "categorical half", R.categorical(KEY, HALF, shape=(5,))


def _of_modes():
    for mode in ("low", "high", "highest"):
        yield f"gumbel {mode}", R.gumbel(KEY, (5,), jnp.float32, mode=mode)
        yield f"gumbel most {mode}", R.gumbel(KEY, (3000,), mode=mode).max()
        yield f"categorical {mode}", R.categorical(KEY, jnp.zeros((3, 4)), mode=mode)
        yield f"choice {mode}", R.choice(KEY, 6, (3,), False, jnp.arange(6.0), mode=mode)
    yield "bernoulli high", R.bernoulli(KEY, jnp.full(9, 0.3), mode="high")


def _of_weights():
    weights = [0, 1, 1, 0, 0, 1]
    for dtype in (bool, np.int8, np.int32, np.float16, np.float32, np.float64, np.int64):
        p = jnp.asarray(weights, dtype)
        for replace in (True, False):
            yield f"choice {np.dtype(dtype)} {replace}", R.choice(KEY, 6, (4,), replace, p)
    table = jnp.arange(12.0).reshape(3, 4)
    yield "choice of columns", R.choice(KEY, table, (2,), p=jnp.arange(4), axis=1)
    yield "choice of one", R.choice(KEY, jnp.arange(6.0), p=jnp.ones(6))
    bad = jnp.array([[0, -jnp.inf, jnp.nan], [jnp.inf, 0, 0], [-jnp.inf] * 3])
    yield "categorical of none", R.categorical(KEY, bad)
    yield "categorical axis", R.categorical(KEY, jnp.zeros((3, 4)), axis=0, shape=(2, 4))
    yield "categorical distinct", R.categorical(KEY, jnp.zeros((3, 4)), shape=(3, 3), replace=False)


def _of_counts():
    n, p = jnp.array([100, 3, 1000.5, -1, jnp.inf, 0]), jnp.array([0.3, 0.5, 0.7, 0.2, 0.1, 0.4])
    yield "binomial", R.binomial(KEY, n, p)
    yield "binomial shape", R.binomial(KEY, 40, 0.6, (3, 4))
    yield "binomial of none", R.binomial(KEY, 5, jnp.array([-0.1, 1.0, 0.0, jnp.nan]))
    yield "binomial vmap", jax.vmap(lambda k: R.binomial(k, 50, 0.5))(R.split(KEY, 5))
    both = jnp.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
    yield "multinomial", R.multinomial(KEY, jnp.array([50.0, 3.0]), both)
    yield "multinomial shape", R.multinomial(KEY, 20, both[0], shape=(4, 3))


def _found(draws):
    with jax.enable_x64(True):
        yield from ((f"{name} x64", x) for name, x in draws())
    yield from draws()


def _compared(draws):
    for name, x in _found(draws):
        dtype, values = JAX[name]
        assert x.dtype == dtype, (name, x.dtype, dtype)
        tol = 2.0**-5 if x.dtype in (np.float16, jnp.bfloat16) else 2e-5
        try:
            close(np.asarray(x, float).ravel(), np.array(values, float), tol)
        except AssertionError as e:
            raise AssertionError(name) from e


def check_draws_of_16_bits():
    _compared(_of_halves)


def check_modes():
    _compared(_of_modes)


def check_choices():
    _compared(_of_weights)


def check_counts():
    _compared(_of_counts)


def check_floats_of_integers():
    """With x64 integers of 32 bits and fewer have float32 functions, those of 64 float64 ones."""
    functions = (
        jnp.sin, jnp.mean, jnp.std, lambda x: x / x, lambda x: x / jnp.int8(2), jnp.median, jax.nn.softplus,
        jnp.linalg.norm, jnp.cov, jax.scipy.special.gammaln, lambda x: jnp.histogram(x)[0], jnp.exp2,
    )  # fmt: skip
    with jax.enable_x64(True):
        for dtype, result in [("int8", "float32"), ("int32", "float32"), ("int64", "float64")]:
            x = jnp.eye(3).astype(dtype)
            for i, f in enumerate(functions):
                assert f(x).dtype == jax.jit(f)(x).dtype == result, (dtype, i)
            assert jnp.fft.fft(x).dtype == ("complex64" if result == "float32" else "complex128")
            assert (x * 1.0).dtype == jnp.sin(3).dtype == "float64"
            assert jnp.isclose(x, x + 1).dtype == bool
    assert jnp.sin(jnp.arange(3)).dtype == "float32"


def check_dtypes_at_full_width():
    for a, b in [("float64", "float32"), (float, int), ("uint64", "int8")]:
        assert jnp.promote_types(a, b) == np.float64
    assert jnp.promote_types("int8", int) == np.int8
    assert jnp.float_ == np.float64 and jnp.int_ == np.int64
    assert jnp.uint == np.uint64 and jnp.complex_ == np.complex128
    assert jnp.zeros(2, jnp.float_).dtype == jnp.result_type("float64") == np.float32
    assert repr(jnp.bfloat16) == "<class 'jax.numpy.bfloat16'>"


def check_types_of_lowered_arguments():
    f = jax.jit(lambda x, n, y=None: x**n, static_argnums=1)
    for stage in (
        f.lower(jnp.ones((2, 3)), 3, y=jnp.ones(2)),
        f.lower(jnp.ones((2, 3)), 3).compile(),
    ):
        args, kwargs = stage.in_avals
        assert [a.shape for a in args] == [(2, 3)] and set(kwargs) <= {"y"}


def check_derivatives_of_legendre_functions_at_the_ends():
    z, inf = jnp.array([-1.0, 1.0]), np.inf
    for normalized in (False, True):
        f = lambda z, n=normalized: jax.scipy.special.lpmn_values(3, 3, z, n)
        slopes = jax.jvp(f, (z,), (jnp.ones(2),))[1]
        assert slopes[1, 1:].tolist() == [[-inf, inf], [inf, inf], [-inf, inf]]
        others = np.delete(np.asarray(slopes), 1, 0)
        assert np.isfinite(others).all() and (others[2, 2:] == 0).all()


def _written() -> None:
    rows = {}
    for group in (_of_halves, _of_modes, _of_weights, _of_counts):
        for name, x in _found(group):
            values = [float(f"{v:.6g}") for v in np.asarray(x, float).ravel().tolist()]
            rows[name] = [x.dtype.name, values]
    TABLE.write_text(
        "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in rows.items()) + "\n}\n"
    )


TABLE = Path(__file__).with_suffix(".json")
if __name__ == "__main__":
    if "--of-jax" in sys.argv:
        _written()
    else:
        JAX = json.loads(TABLE.read_text())
        tell(globals())
