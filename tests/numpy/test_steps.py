"""Functions that are flat between their jumps: their derivative is 0, whatever slope it meets behind them."""

import functools

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax, nn

X = np.asarray([0.1, 0.2, 0.4], np.float32)  # where most of the steps below are 0
EDGES = np.asarray([0.15, 0.3], np.float32)

STEPS = {
    "floor": xnp.floor,
    "ceil": lambda x: xnp.ceil(x) - 1,
    "trunc": xnp.trunc,
    "fix": xnp.fix,
    "rint": xnp.rint,
    "round": xnp.round,
    "round to a digit": lambda x: xnp.round(x / 10, 1),
    "round to tens": lambda x: xnp.round(x, -1),
    "round to what none reaches": lambda x: xnp.round(x, -99),
    "round to all digits": lambda x: 0 * xnp.round(x, 99),
    "rint of complex": lambda x: xnp.rint(x + 0j).real,
    "lax.round": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
    "//": lambda x: x // 2,
    "// below": lambda x: 0.01 // x,
    "// of both": lambda x: (x / 2) // x,
    "// in float64": lambda x: x.astype(xnp.float64) // 2,
    "// in float16": lambda x: x.astype(xnp.float16) // 2,
    "// in bfloat16": lambda x: x.astype(xnp.bfloat16) // 2,
    "divmod": lambda x: divmod(x, 2)[0],
    "xnp.divmod": lambda x: xnp.divmod(x, 2)[0],
    "modf": lambda x: xnp.modf(x)[1],
    "frexp": lambda x: 0.0 * xnp.frexp(x)[1],
    "sign": lambda x: xnp.sign(x) - 1,
    "lax.sign": lambda x: lax.sign(x) - 1,
    "heaviside": lambda x: xnp.heaviside(-x, 0.5),
    "copysign": lambda x: xnp.copysign(0.0, x),
    "signbit": lambda x: 1.0 * xnp.signbit(x),
    "nextafter": lambda x: 0 * xnp.nextafter(xnp.ones(3), x),
    "angle": xnp.angle,
    "spacing": lambda x: 0 * xnp.spacing(x),
    "isfinite": lambda x: 1.0 - xnp.isfinite(x),
    "comparing": lambda x: 1.0 * (x > 9),
    "logical": lambda x: 1.0 * xnp.logical_not(x),
    "isclose": lambda x: 1.0 * xnp.isclose(x, 9),
    "choosing": lambda x: xnp.where(x > 9, 1.0, 0.0),
    "piecewise": lambda x: xnp.piecewise(x, [x > 9], [1.0, 0.0]),
    "argmax": lambda x: 0.0 * xnp.argmax(x),
    "argsort": lambda x: 0.0 * xnp.argsort(x),
    "top_k": lambda x: 0.0 * lax.top_k(x, 2)[1],
    "searchsorted": lambda x: 0.0 * xnp.searchsorted(EDGES, x),
    "digitize": lambda x: 0.0 * xnp.digitize(x, EDGES),
    "histogram": lambda x: 0.0 * xnp.histogram(x, EDGES)[0],
    "counting": lambda x: 0.0 * xnp.count_nonzero(x),
    "isin": lambda x: 1.0 * xnp.isin(x, 9.0),
    "rankdata": lambda x: 0.0 * xc.stats.rankdata(x),
    "integers": lambda x: x.astype(int).astype(float),
    "one_hot": lambda x: 0.0 * nn.one_hot(x.astype(int), 3),
    "the sign of a determinant": lambda x: xnp.linalg.slogdet(xnp.diag(x))[0] - 1,
    "a rank": lambda x: 0.0 * xnp.linalg.matrix_rank(xnp.diag(x)),
    "zeros_like": xnp.zeros_like,
    "imag": xnp.imag,
    "stop_gradient": lambda x: 0 * lax.stop_gradient(x),
}  # fmt: skip


def steep(y):
    """Infinite slopes at 0: those of sqrt, log, 1/y and a power."""
    return xnp.sum(xnp.sqrt(y)) + xnp.sum(xnp.log(y)) + xnp.sum(1 / y) + xnp.sum(y**0.3)


def in_scan(f, x):
    return lax.scan(lambda c, _: (c, f(x)), 0.0, None, length=2)[1].sum()


TRANSFORMS = {
    "grad": lambda f: xc.grad(f)(X),
    "jvp": lambda f: xc.jvp(f, (X,), (np.ones_like(X),))[1],
    "vmap of grad": lambda f: xc.vmap(xc.grad(f))(np.stack([X, X + 0.05])),
    "grad of vmap": lambda f: xc.grad(lambda x: xc.vmap(f)(x).sum())(np.stack([X, X + 0.05])),
    "grad of jit": lambda f: xc.jit(xc.grad(xc.jit(f)))(X),
    "grad of scan": lambda f: xc.grad(functools.partial(in_scan, f))(X),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("step", STEPS)
def test_a_step_has_no_slope(step, transform):
    found = np.asarray(TRANSFORMS[transform](lambda x: steep(STEPS[step](x))))
    np.testing.assert_array_equal(found, np.zeros_like(found))


def test_what_is_no_step_beside_one_keeps_its_derivative():
    slopes = xc.grad(lambda x: (x % 0.3).sum() + (x - x // 0.3).sum() + xnp.modf(x)[0].sum())(X)
    np.testing.assert_array_equal(slopes, np.full(3, 3, np.float32))
    by = xc.grad(lambda y: xnp.remainder(0.7, y))(0.3)  # -⌊0.7 / 0.3⌋
    assert by == -2
    at_zero = xc.grad(lambda v: xnp.heaviside(np.asarray([-1.0, 0.0, 1.0], np.float32), v).sum())(
        0.5
    )
    assert at_zero == 1
    turns = xc.grad(lambda x: xnp.unwrap(x * 30).sum())(X)
    np.testing.assert_array_equal(turns, np.full(3, 30, np.float32))
    z = xc.grad(lambda t: xnp.angle(xnp.exp(1j * t)), holomorphic=False)(0.5)
    np.testing.assert_allclose(z, 1, rtol=1e-6)


def test_the_fraction_of_frexp_has_the_slope_of_its_power():
    x = xnp.asarray([3.0, -8.0, 0.7, 1e30, 1e-30])
    slope = xc.vmap(xc.grad(lambda v: xnp.frexp(v)[0]))(x)
    np.testing.assert_allclose(slope, 2.0 ** -np.frexp(np.asarray(x))[1], rtol=1e-6)


@pytest.mark.parametrize("base", [10.0, 1.1, 2])
def test_powers_are_as_precise_as_the_dtype_asked_for(base):
    made = xnp.logspace(0.1, 0.7, 7, base=base, dtype="float64")
    np.testing.assert_allclose(made, np.logspace(0.1, 0.7, 7, base=base), rtol=1e-15)
    np.testing.assert_array_equal(xnp.logspace(0, 9, 10, dtype="int64"), 10 ** np.arange(10))
