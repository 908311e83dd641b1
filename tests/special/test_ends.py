"""Values and two derivatives at infinity: the limits, which are finite, and no 0 times infinity on the way."""

import mpmath
import numpy as np
import pytest
import scipy.special

import xcore as xc
import xcore.numpy as xnp
from xcore import nn, special

# (slope at -inf, at inf); where the value has no finite limit, its slope has one
_RAMPS = "relu gelu silu mish elu celu hard_silu softplus sparse_plus squareplus identity selu leaky_relu".split()
_BENDS = "sigmoid log_sigmoid soft_sign hard_tanh hard_sigmoid sparse_sigmoid relu6 tanh log1mexp".split()
_BOTH = "erf erfc dawsn ndtr expit i0e i1e j0 j1".split()
_RIGHT = "log_ndtr exp1 k0 k1 k0e k1e rgamma y0 y1 erfcx log_expit ellipkm1 zeta digamma gammaln lambertw spence".split()
_LEFT = "ellipk expi exprel".split()
_SLOPES = {
    "identity": (1, 1),
    "selu": (0, 1.0507009873554805),
    "leaky_relu": (0.01, 1),
    "gammaln": (0, np.inf),
}
_SLOPES |= {"log_sigmoid": (1, 0), "log_expit": (1, 0)}
CASES = [(nn, n, (0, 1)) for n in _RAMPS] + [(nn, n, (0, 0)) for n in _BENDS]
CASES += [(special, n, (0, 0)) for n in _BOTH] + [(special, n, (None, 0)) for n in _RIGHT]
CASES += [(special, n, (0, None)) for n in _LEFT]


# one of each kind of mend; the others are slow, for each is a program of its own
QUICK = "gelu silu mish squareplus soft_sign log1mexp erf ndtr dawsn rgamma ellipk".split()


def _named(module, name, slopes):
    marks = () if name in QUICK else pytest.mark.slow
    return pytest.param(module, name, slopes, id=f"{module.__name__[6:]}-{name}", marks=marks)


@pytest.mark.parametrize("module, name, slopes", [_named(*case) for case in CASES])
def test_derivatives_at_infinity(module, name, slopes):
    f = getattr(module, name)
    told = _SLOPES.get(name, slopes)
    slopes = [a if b is not None else None for a, b in zip(told, slopes, strict=True)]
    if name == "log1mexp":
        slopes[0] = None
    x = np.array([-np.inf, np.inf], np.float32)

    def both(x):
        slope = lambda x: xc.jvp(f, (x,), (np.float32(1),))[1]
        return slope(x), *xc.jvp(slope, (x,), (np.float32(1),))

    forward, also, bend = xc.jit(xc.vmap(both))(x)
    back = xc.jit(xc.vmap(xc.grad(f)))(x)
    for i, want in enumerate(slopes):
        if want is not None:
            got = np.array([forward[i], also[i], back[i]])
            assert np.allclose(got, want, rtol=1e-6), (x[i], got)
            assert bend[i] == 0, (x[i], bend[i])


def test_exact_gelu_and_values_at_infinity():
    for f in (
        nn.gelu,
        lambda x: nn.gelu(x, approximate=False),
        nn.silu,
        nn.mish,
        nn.hard_silu,
        nn.squareplus,
    ):
        assert f(-np.inf) == 0 and f(np.inf) == np.inf and np.isnan(f(np.nan))
        for dtype in (np.float16, np.float32):
            big = dtype(xc.numpy.finfo(dtype).max)
            assert xc.grad(f)(big) == 1 and abs(xc.grad(f)(-big)) <= 1e-6
            assert f(big) == big
    assert nn.soft_sign(-np.inf) == -1 and nn.soft_sign(np.inf) == 1


def test_the_bend_of_log_ndtr_far_to_the_left():
    """Its slope grows as -x, with three derivatives that agree where its form changes."""
    slope = xc.grad(special.log_ndtr)
    bend, third = xc.grad(slope), xc.grad(xc.grad(slope))
    for dtype in (np.float32, np.float64):
        x = np.array([-np.inf, xc.numpy.finfo(dtype).min, -1e30], dtype)
        np.testing.assert_array_equal(xc.vmap(bend)(x), -1)
        assert slope(x[0]) == np.inf and slope(x[2]) == -x[2]
    x = np.array([-9999.0, -10001.0])
    np.testing.assert_allclose(xc.vmap(slope)(x), -x - 1 / x, rtol=1e-15)
    np.testing.assert_allclose(xc.vmap(bend)(x), -1 + 1 / x**2, rtol=1e-15)
    np.testing.assert_allclose(xc.vmap(third)(x), -2 / x**3, rtol=1e-3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nothing_is_lost_beside_the_largest_exponential(dtype):
    """log Σ e^a near 0, where what is added to 1 counts, and is all there is."""
    rng = np.random.default_rng(0)
    rows = [np.r_[0, -rng.uniform(0, 60, 3)] for _ in range(20)]
    rows += [
        np.r_[sign * 10.0 ** -rng.uniform(0, 20), -rng.uniform(5, 40, 3)]
        for sign in (1, -1)
        for _ in range(20)
    ]
    rows = np.asarray(rows).astype(dtype)
    want = np.asarray([float(_log_of_sum(row)) for row in rows])
    sizes = np.asarray(
        [float(sum(abs(v) * mpmath.exp(v) for v in row.astype(float))) for row in rows]
    )
    bound = 4 * np.finfo(dtype).eps * (np.abs(want) + sizes)
    got = np.asarray(xc.special.logsumexp(rows, -1), np.float64)
    assert (np.abs(got - want) <= bound).all()
    with_factors, sign = xc.special.logsumexp(rows, -1, b=-2 * np.ones_like(rows), return_sign=True)
    np.testing.assert_allclose(with_factors, want + np.log(2), rtol=20 * np.finfo(dtype).eps)
    assert (np.asarray(sign) == -1).all()


def _log_of_sum(row):
    with mpmath.workdps(50):
        return mpmath.log(mpmath.fsum(mpmath.exp(mpmath.mpf(float(v))) for v in row))


@pytest.mark.parametrize("derivative", [xc.hessian, lambda f: xc.jacrev(xc.jacfwd(f))])
@pytest.mark.parametrize(
    "total",
    [
        xc.special.logsumexp,
        xc.nn.logsumexp,
        lambda x: xc.special.logsumexp(xnp.stack([x, x - 1]), axis=1)[0],
        lambda x: xc.special.logsumexp(x, b=xnp.ones(4)),
        lambda x: xc.special.logsumexp(x, where=xnp.ones(4, bool)),
        lambda x: xc.special.logsumexp(x, return_sign=True)[0],
        lambda x: x[2] - xc.special.log_softmax(x)[2],
        lambda x: xc.lax.cumlogsumexp(x)[3],
        lambda x: xnp.logaddexp(xnp.logaddexp(x[0], x[1]), xnp.logaddexp(x[2], x[3])),
    ],
)
def test_second_derivatives_of_what_is_made_with_logsumexp(total, derivative):
    """L² x₀, where the value is needed beside its derivative: also what a jvp rule returns has one."""
    a = np.asarray([0.3, -1.0, 2.0, 0.5])
    p, value = np.exp(a) / np.exp(a).sum(), np.log(np.exp(a).sum())
    first, bend = np.eye(4)[0], np.diag(p) - np.outer(p, p)
    mixed = 2 * value * (np.outer(p, first) + np.outer(first, p))
    want = a[0] * (2 * np.outer(p, p) + 2 * value * bend) + mixed
    got = derivative(lambda x: total(x) ** 2 * x[0])(xnp.asarray(a))
    np.testing.assert_allclose(got, want, atol=1e-13)


def test_second_derivatives_of_logsumexp_at_ties():
    a = np.asarray([1.0, 1.0, 0.0])
    p = np.exp(a) / np.exp(a).sum()
    want = np.diag(p) - np.outer(p, p)
    np.testing.assert_allclose(xc.hessian(xc.special.logsumexp)(xnp.asarray(a)), want, atol=1e-15)
    last = lambda x: xc.special.log_softmax(x)[1]
    np.testing.assert_allclose(xc.hessian(last)(xnp.asarray(a)), -want, atol=1e-15)


@pytest.mark.parametrize(
    "axis", [xnp.asarray(1), (xnp.asarray(-1),), [np.int64(1)], np.asarray(1), (0, xnp.asarray(1))]
)
def test_axes_of_logsumexp_may_be_arrays(axis):
    x = np.arange(6.0).reshape(2, 3)
    plain = (0, 1) if isinstance(axis, tuple) and len(axis) == 2 else 1
    found = xc.special.logsumexp(xnp.asarray(x), axis=axis)
    np.testing.assert_allclose(found, scipy.special.logsumexp(x, axis=plain), rtol=1e-6)
