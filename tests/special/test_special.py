"""What the tables do not say: inverses, complex arguments, counts, dtypes, shapes, transforms, errors."""

import functools
import inspect

import mpmath as mp
import numpy as np
import pytest
import scipy.special as scipy_special

import xcore as xc
import xcore.numpy as xnp
import xcore.scipy.special
from xcore import special

RNG = np.random.default_rng(11)


# Inverses

A, B = 10 ** RNG.uniform(-1, 2, 32), 10 ** RNG.uniform(-1, 2, 32)
P = np.concatenate([RNG.uniform(0, 1, 16), 10 ** RNG.uniform(-12, -1, 16)])
INVERSES = {
    "gammaincinv": ("gammainc", (A,)),
    "gammainccinv": ("gammaincc", (A,)),
    "betaincinv": ("betainc", (A, B)),
    "betainccinv": ("betaincc", (A, B)),
}


def _density(shapes, x):
    """The derivative in x of the lower function."""
    if len(shapes) == 1:
        (a,) = shapes
        return np.exp((a - 1) * np.log(x) - x - scipy_special.gammaln(a))
    a, b = shapes
    with np.errstate(divide="ignore"):
        logs = (a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - scipy_special.betaln(a, b)
    return np.exp(logs)


@pytest.mark.parametrize("name", INVERSES)
def test_inverses(name):
    forward, shapes = INVERSES[name]
    args = [xnp.asarray(v) for v in (*shapes, P)]
    x = getattr(special, name)(*args)
    there_and_back = getattr(special, forward)(*args[:-1], x)
    # x is rounded, which f feels where it is steep
    x, off = np.asarray(x), abs(np.asarray(there_and_back) - P)
    fit = x < (1 if len(shapes) == 2 else np.inf)
    tolerance = 1e-11 * P[fit] + 1e-15 * (_density(shapes, x) * x)[fit]
    assert fit.sum() > 20
    assert (off[fit] <= tolerance).all()


@pytest.mark.parametrize("name", ["gammaincinv", "betaincinv"])
def test_slopes_of_inverses(name):
    """The derivative in p is 1/density."""
    forward, shapes = INVERSES[name]
    *rest, p = [xnp.asarray(v) for v in (*shapes, P)]

    def f(p):
        return getattr(special, name)(*rest, p)

    x, slope = map(np.asarray, xc.jit(lambda p: xc.jvp(f, (p,), (xnp.ones_like(p),)))(p))
    fit = (x > 1e-8) & (x < (1 - 1e-8 if len(shapes) == 2 else np.inf))
    np.testing.assert_allclose(slope[fit], 1 / _density(shapes, x)[fit], rtol=1e-9)


def test_slope_of_an_inverse_in_its_shape():
    """-(∂P/∂a)/(∂P/∂x), the former by differences of SciPy's function."""
    a, p = np.array([0.5, 3.0, 40.0]), np.array([0.2, 0.7, 0.9])
    x = scipy_special.gammaincinv(a, p)
    h = 1e-5 * a
    change = (scipy_special.gammainc(a + h, x) - scipy_special.gammainc(a - h, x)) / (2 * h)
    slope = xc.vmap(xc.grad(special.gammaincinv))(xnp.asarray(a), xnp.asarray(p))
    np.testing.assert_allclose(slope, -change / _density((a,), x), rtol=1e-7)


# Complex

Z = np.concatenate([
    RNG.normal(size=40) * 5 + 1j * RNG.normal(size=40) * 5,
    10.0 ** RNG.uniform(-8, 1, 20) * np.exp(1j * RNG.uniform(-np.pi, np.pi, 20)),
])  # fmt: skip


def relative(got, exact):
    exact = np.array([complex(e) for e in exact])
    return abs(np.asarray(got) - exact) / np.maximum(abs(exact), 1e-3)


def test_wofz():
    z = Z[Z.imag > -3]
    exact = [mp.exp(-(mp.mpc(v) ** 2)) * mp.erfc(-1j * mp.mpc(v)) for v in z]
    assert relative(special.wofz(z), exact).max() < 1e-12
    assert special.wofz(1.0).dtype == np.complex64
    slope = xc.jvp(special.wofz, (xnp.asarray(z),), (xnp.ones_like(z),))[1]
    exact = [2j / mp.sqrt(mp.pi) - 2 * mp.mpc(v) * e for v, e in zip(z, exact, strict=True)]
    assert relative(slope, exact).max() < 1e-9


def test_loggamma():
    assert relative(special.loggamma(Z), [mp.loggamma(mp.mpc(v)) for v in Z]).max() < 1e-12
    np.testing.assert_array_equal(special.loggamma(np.array([-1.5, 1.0])), [np.nan, 0])
    slope = xc.jvp(special.loggamma, (xnp.asarray(Z),), (xnp.ones_like(Z),))[1]
    assert relative(slope, [mp.psi(0, mp.mpc(v)) for v in Z]).max() < 1e-9


BRANCHES = np.repeat([0, 1, -1, 2, -3, 1000], 9)
PLANE = np.tile(
    [1 + 2j, -0.3 - 0.2j, -0.37 + 0.001j, -0.3678 - 1e-6j, 1e-7j, -2, 1e-200, -1e200 - 1e300j, -8j],
    6,
)


@mp.workdps(30)
def lambert_errors(z, k, got, slope=None):
    """Of the values and of the derivatives, relative."""
    points = list(zip(map(mp.mpc, z.tolist()), k.tolist(), strict=True))
    exact = [mp.lambertw(*point) for point in points]
    if slope is not None:
        exact, got = [w / (1 + w) / z for w, (z, _) in zip(exact, points, strict=True)], slope
    found = map(mp.mpc, np.asarray(got).tolist())
    return max(abs(a / b - 1) for a, b in zip(found, exact, strict=True))


def test_lambertw_on_all_branches():
    z, k = xnp.asarray(PLANE), xnp.asarray(BRANCHES)
    got, slope = xc.jvp(lambda z: special.lambertw(z, k), (z,), (xnp.ones_like(z),))
    assert lambert_errors(PLANE, BRANCHES, got) < 1e-15
    assert lambert_errors(PLANE, BRANCHES, got, slope) < 1e-12
    small = np.where(abs(PLANE) < 1e30, np.where(abs(PLANE) > 1e-30, PLANE, 1), 3j)
    small = small.astype(np.complex64)
    single = special.lambertw(xnp.asarray(small), k)
    assert single.dtype == np.complex64
    assert lambert_errors(small, BRANCHES, single) < 1.2e-7


def test_lambertw_at_exceptional_points():
    z = np.array([0, 0, 0, np.inf, np.inf, -np.inf, -np.inf, np.nan, -0.2, -0.2, -1])
    k = np.array([0, 1, -1, 0, 2, 0, -1, 0, -1, 0, 0])
    np.testing.assert_allclose(special.lambertw(z, k), scipy_special.lambertw(z, k), rtol=1e-14)
    assert special.lambertw(2.0, 3).dtype == np.complex64
    assert special.lambertw(np.float64(2), np.array([0, -1])).dtype == np.complex128
    assert special.lambertw(np.float64(-0.2), np.int32(-1)).dtype == np.float64
    assert xc.jit(special.lambertw, static_argnums=1)(np.ones((2, 1)), 2).shape == (2, 1)
    slope = xc.grad(special.lambertw, holomorphic=True)(0j)
    assert complex(slope) == 1


def test_voigt_profile():
    x, sigma, gamma = np.array([[0, 1, -3, 2, 1.0], [1, 2, 0.5, 0, 3], [0.5, 0.1, 1, 2, 0]])
    got = special.voigt_profile(x, sigma, gamma)
    np.testing.assert_allclose(got, scipy_special.voigt_profile(x, sigma, gamma), rtol=1e-13)
    slope = xc.grad(special.voigt_profile)(1.0, 2.0, 0.5)
    h = 1e-4
    difference = scipy_special.voigt_profile(np.array([1 + h, 1 - h]), 2, 0.5) @ [1, -1] / (2 * h)
    assert float(slope) == pytest.approx(difference, rel=1e-5)


def test_spherical_harmonics():
    n, m = (v.ravel() for v in np.meshgrid(np.arange(7), np.arange(-7, 8)))
    theta, phi = RNG.uniform(0, np.pi, n.size), RNG.uniform(0, 7, n.size)
    got = special.sph_harm_y(n, m, theta, phi)
    np.testing.assert_allclose(got, scipy_special.sph_harm_y(n, m, theta, phi), atol=1e-14)
    slope = xc.jvp(
        lambda t: special.sph_harm_y(n, m, t, phi),
        (xnp.asarray(theta),),
        (xnp.ones_like(theta),),
    )[1]
    h = 1e-6
    above, below = (scipy_special.sph_harm_y(n, m, theta + s, phi) for s in (h, -h))
    np.testing.assert_allclose(slope, (above - below) / (2 * h), atol=1e-8)
    clipped = special.sph_harm_y(9, 1, 0.5, 0.3, n_max=4)
    assert clipped == special.sph_harm_y(4, 1, 0.5, 0.3)


# Counts


def test_counts_are_whole():
    n = np.arange(18.0)
    np.testing.assert_array_equal(special.factorial(n), scipy_special.factorial(n))
    grid = np.array(np.meshgrid(np.arange(-1.0, 15), np.arange(-1.0, 15)))
    np.testing.assert_array_equal(special.comb(*grid), scipy_special.comb(*grid))
    again = special.comb(*grid[:, 1:, 1:], repetition=True)
    np.testing.assert_array_equal(again, scipy_special.comb(*grid[:, 1:, 1:], repetition=True))
    np.testing.assert_allclose(special.perm(*grid), scipy_special.perm(*grid), rtol=1e-14)
    assert float(special.factorial(-3)) == 0


def test_bernoulli():
    exact = [float(mp.bernoulli(k)) for k in range(41)]
    exact[1] = -0.5
    with xc.enable_x64():
        np.testing.assert_array_equal(special.bernoulli(40), exact)
        assert np.asarray(special.bernoulli(270))[-1] == np.inf
    assert special.bernoulli(0).tolist() == [1]
    assert special.bernoulli(1).dtype == np.float32


def test_all_orders_of_bessel():
    z = np.array([0.0, 0.5, 3, 40])
    exact = scipy_special.jv(np.arange(6)[:, None], z)
    np.testing.assert_allclose(
        special.bessel_jn(xnp.asarray(z), v=5), exact, rtol=1e-11, atol=1e-15
    )
    assert special.bessel_jn(xnp.zeros((2, 3)), v=1).shape == (2, 2, 3)


def test_bessel_recurrences_and_symmetry():
    x = np.array([0.3, 2, 9, 25, 25])
    n = np.array([4.0, 7, 3, 30, 11])
    j, y = special.jn, special.yn
    wronskian = j(n + 1, x) * y(n, x) - j(n, x) * y(n + 1, x)
    np.testing.assert_allclose(wronskian, 2 / (np.pi * x), rtol=1e-13)
    np.testing.assert_array_equal(j(-n, x), (-1) ** n * np.asarray(j(n, x)))
    np.testing.assert_array_equal(j(n, -x), (-1) ** n * np.asarray(j(n, x)))
    assert np.isnan(special.jn(0.5, 1.0))


# Dtypes, shapes, transforms

NOT_ELEMENTWISE = {"bernoulli", "bessel_jn", "logsumexp", "softmax", "log_softmax", "multigammaln"}
COMPLEX = {"wofz", "sph_harm_y"}


def _arity(f) -> int:
    return sum(p.default is p.empty for p in inspect.signature(f).parameters.values())


@pytest.mark.parametrize("name", sorted(set(special.__all__) - NOT_ELEMENTWISE))
def test_dtypes_and_shapes(name):
    f = getattr(special, name)
    count = _arity(f)

    def out(dtype, *shapes):
        shapes = [*shapes, *[()] * (count - len(shapes))][:count]
        got = xc.eval_shape(f, *[xc.ShapeDtypeStruct(s, dtype) for s in shapes])
        return got[0] if isinstance(got, tuple) else got

    for given, expected in {"float16": "float16", "bfloat16": "bfloat16", "float32": "float32",
                            "float64": "float64", "int8": "float32", "bool": "float32"}.items():  # fmt: skip
        wanted = xnp.dtype(expected)
        if name in COMPLEX:
            wanted = np.dtype("complex128" if expected == "float64" else "complex64")
        assert out(given).dtype == wanted
    assert out("float32", (0, 3)).shape == (0, 3)
    assert out("float32", (2, 1), (3,)).shape == ((2, 3) if count > 1 else (2, 1))


def test_complex_numbers_are_refused_where_there_is_no_formula():
    with pytest.raises(TypeError, match=r"special\.gamma: only float dtypes.*complex64"):
        special.gamma(1j)


@pytest.mark.parametrize("name", ["gammainc", "jn"])
def test_batches_equal_loops(name):
    """An element's result does not depend on the others, nor on how the call was made."""
    f = getattr(special, name)
    x, y = xnp.asarray([[1.0, 5.0], [3.0, 20.0]]), xnp.asarray([2.0, 7.0])
    whole = np.asarray(f(x, y))
    np.testing.assert_allclose(xc.vmap(f, (0, None))(x, y), whole, rtol=1e-6)
    np.testing.assert_allclose(xc.jit(f)(x, y), whole, rtol=1e-6)
    one_by_one = [[f(float(a), float(b)) for a, b in zip(row, y, strict=True)] for row in x]
    np.testing.assert_allclose(np.float32(one_by_one), whole, rtol=1e-6)


def test_half_precision_is_rounded_once():
    x = xnp.asarray([0.5, 3.0, 7.5], dtype="float16")
    for name in ("gammaln", "erfc", "j0", "ndtri"):
        exact = getattr(special, name)(x.astype("float64")).astype("float16")
        np.testing.assert_allclose(getattr(special, name)(x), exact, rtol=1e-3)


def test_second_derivatives():
    x = 1.7
    assert float(xc.grad(xc.grad(special.gammaln))(x)) == pytest.approx(
        float(mp.psi(1, x)), rel=1e-5
    )
    second = xc.grad(xc.grad(special.gammainc, 1), 1)(2.0, x)
    assert float(second) == pytest.approx((1 - x) * np.exp(-x), rel=1e-5)
    mixed = xc.grad(xc.grad(special.betaln, 0), 1)(2.0, x)
    assert float(mixed) == pytest.approx(-float(mp.psi(1, 2 + x)), rel=1e-5)
    assert float(xc.grad(xc.grad(special.j0))(x)) == pytest.approx(
        float(mp.besselj(1, x) / x - mp.besselj(0, x)), rel=1e-5
    )


def test_derivatives_at_exceptional_points():
    grad = xc.grad
    assert float(grad(special.xlogy)(0.0, 2.0)) == pytest.approx(np.log(2), rel=1e-6)
    assert float(grad(special.xlogy, 1)(0.0, 0.0)) == 0
    assert float(grad(special.rgamma)(-2.0)) == pytest.approx(2)
    assert float(grad(special.j1)(0.0)) == 0.5
    assert float(grad(special.boxcox, 1)(np.e, 0.0)) == pytest.approx(0.5, rel=1e-6)
    assert float(grad(special.ellipk)(0.0)) == pytest.approx(np.pi / 8, rel=1e-6)


def test_integers_promote_to_the_default_float():
    assert special.gamma(5).dtype == np.float32
    with xc.enable_x64():
        assert special.gamma(5).dtype == np.float64


ERRORS = [
    (lambda: special.bessel_jn(1.0, v=1.5), "v must be a Python int"),
    (lambda: special.multigammaln(3.0, 0), "d must be a Python int"),
    (lambda: special.comb(5, 2, exact=True), "exact must be False"),
    (lambda: special.lambertw(1.0, 0.5), "k must be an int or an integer array"),
    (lambda: special.sph_harm_y(1, 0, 0.1, 0.1, diff_n=1), "diff_n must be None"),
    (lambda: special.beta(np.ones(2), np.ones(3)), r"shapes \(2,\) and \(3,\)"),
]


@pytest.mark.parametrize(("call", "text"), ERRORS)
def test_errors(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_the_faces_have_the_same_functions():
    for name in special.__all__:
        assert getattr(xcore.scipy.special, name) is getattr(special, name)
    assert functools.reduce(getattr, ["scipy", "fft", "dct"], xc) is xc.fft.dct


def test_python_numbers_within_a_trace():
    """Beside a traced argument a Python number is a literal, which has no operators."""
    calls = {
        "comb": lambda x: special.comb(x, 2) + special.comb(5, x),
        "perm": lambda x: special.perm(x, 2),
        "factorial": lambda x: special.factorial(3) * x,
        "multigammaln": lambda x: special.multigammaln(3.0, 2) * x,
        "bessel_jn": lambda x: special.bessel_jn(1.5, v=1) * x,
    }
    got = xc.jit(lambda x: {name: f(x) for name, f in calls.items()})(4.0)
    assert (float(got["comb"]), float(got["perm"]), float(got["factorial"])) == (11, 12, 24)
    assert float(got["multigammaln"]) == pytest.approx(4 * scipy_special.multigammaln(3.0, 2))
    np.testing.assert_allclose(got["bessel_jn"], 4 * scipy_special.jv([0, 1], 1.5), rtol=1e-6)


SLOPES = [  # at ends, poles and zeros: a function, the argument, the point, the derivative
    ("erfinv", 0, (1.0,), np.inf),
    ("erfcinv", 0, (0.0,), -np.inf),
    ("ndtri", 0, (0.0,), np.inf),
    ("boxcox", 1, (0.0, 1.0), 1),
    ("inv_boxcox", 1, (1.0, 0.0), -np.e / 2),
    ("inv_boxcox1p", 1, (1.0, 0.0), -np.e / 2),
    ("spence", 0, (np.inf,), 0),
    ("y1", 0, (0.0,), np.inf),
    ("i1", 0, (1e300,), np.inf),
    ("zeta", 0, (-2.0,), float(mp.diff(mp.zeta, -2))),
    ("betainc", 2, (1.0, 0.5, 0.0), 0.5),
    ("betaincinv", 2, (1.0, 1.0, 0.0), 1),
    ("gammaincinv", 0, (2.0, 0.0), 0),
    ("hyp1f1", 0, (-3.0, 2.0, 1.0), float(mp.diff(lambda a: mp.hyp1f1(a, 2, 1), -3))),
    ("hyp1f1", 0, (0.0, 2.0, 1.0), float(mp.diff(lambda a: mp.hyp1f1(a, 2, 1), 0))),
    ("hyp2f1", 0, (-2.0, 2.0, 3.0, -0.5), float(mp.diff(lambda a: mp.hyp2f1(a, 2, 3, -0.5), -2))),
]


@pytest.mark.parametrize(("name", "i", "point", "exact"), SLOPES)
def test_slopes_at_exceptional_points(name, i, point, exact):
    f = getattr(special, name)
    with xc.enable_x64():
        x = xnp.asarray(point[i])
        slope = xc.jvp(lambda x: f(*point[:i], x, *point[i + 1 :]), (x,), (xnp.ones_like(x),))[1]
    np.testing.assert_allclose(slope, exact, rtol=1e-12)
