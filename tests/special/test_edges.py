"""At poles, infinities, NaN, zeros of both signs and whole numbers: what SciPy gives."""

import itertools

import mpmath as mp
import numpy as np
import pytest
import scipy.special as scipy_special

import xcore as xc
import xcore.numpy as xnp
import xcore.special as special
from tests.special.table import POINTS

LINE = [
    -np.inf,
    -2.5,
    -2,
    -1,
    -0.5,
    -1e-300,
    -0.0,
    0.0,
    1e-300,
    0.5,
    1,
    1.5,
    2,
    3,
    30,
    200,
    1e5,
    np.inf,
    np.nan,
]
FEW = [-np.inf, -2.5, -2, -1, -0.0, 0.0, 0.5, 1, 2, 30, np.inf, np.nan]
TRIPLES = [-1, 0, 0.5, 1, 2, np.inf, np.nan]
ONE = """erf erfc erfcx erfi erfinv erfcinv ndtr log_ndtr ndtri dawsn gamma gammaln gammasgn rgamma
    digamma expit logit log_expit entr exprel exp1 expi spence ellipk ellipkm1 ellipe j0 j1 y0 y1
    i0 i0e i1 i1e k0 k0e k1 k1e""".split()
TWO = """beta betaln poch gammainc gammaincc gammaincinv gammainccinv rel_entr kl_div xlogy xlog1py
    zeta polygamma owens_t""".split()
THREE = "betainc betaincc".split()

# What is kept different, as a condition on the arguments, and why.
NAN_IN_NAN_OUT = lambda *xs: any(map(np.isnan, xs))
DIFFERENT = {
    "j0": lambda x: np.isinf(x),  # 0, the limit; SciPy: NaN
    "j1": lambda x: np.isinf(x),
    "y0": lambda x: np.isinf(x),
    "y1": lambda x: np.isinf(x),
    "spence": lambda x: np.isinf(x),  # -∞, the limit
    "gammaln": lambda x: x == -np.inf,  # ∞, as at the other poles; SciPy: -∞
    "beta": lambda a, b: (
        a == b == np.inf or a < 0 or b < 0 or np.inf in (-a, -b)
    ),  # signs at poles, one-sided limits
    "betaln": lambda a, b: (
        a == b == np.inf or np.inf in (-a, -b) or (np.inf in (a, b) and min(a, b) <= 0)
    ),
    "poch": lambda z, m: np.isinf([z, m]).any(),
    "gammaincinv": lambda a, p: a == 0 or np.isinf(a),
    "gammainccinv": lambda a, p: a == 0 or np.isinf(a),
    "polygamma": lambda n, x: n == 30 and x < 0,  # SciPy loses all digits
    "zeta": lambda s, q: np.isinf([s, q]).any(),
    "betainc": lambda a, b, x: np.isinf([a, b]).any(),
    "betaincc": lambda a, b, x: np.isinf([a, b]).any(),
}

SMALL = {"betaln": 1e-15}  # the logarithm of what is 1 but for rounding


def chunks(points: np.ndarray):
    """Batches of one size, so that there is one program; it serves the accuracy tests as well."""
    missing = -len(points[0]) % POINTS
    padded = np.pad(points, ((0, 0), (0, missing)), mode="edge")
    return np.split(padded, padded.shape[1] // POINTS, axis=1)


def compare(name: str, points: np.ndarray) -> None:
    f, exact = getattr(special, name), getattr(scipy_special, name)
    for batch in chunks(points):
        got = np.asarray(f(*map(xnp.asarray, batch)))
        with np.errstate(all="ignore"):
            known = exact(*batch)
        for *xs, a, b in zip(*batch, got, known, strict=True):
            same = np.isclose(a, b, rtol=1e-9, atol=SMALL.get(name, 1e-300), equal_nan=True)
            if not same and not NAN_IN_NAN_OUT(*xs) and not DIFFERENT.get(name, bool)(*xs):
                raise AssertionError(f"{name}{tuple(map(float, xs))} is {a}, SciPy's is {b}")
            assert np.isnan(a) or not NAN_IN_NAN_OUT(*xs), xs


@pytest.mark.parametrize("name", ONE)
def test_one_argument(name):
    compare(name, np.array([LINE]))


@pytest.mark.parametrize("name", TWO)
def test_two_arguments(name):
    compare(name, np.array(list(itertools.product(FEW, FEW))).T)


@pytest.mark.parametrize("name", THREE)
def test_three_arguments(name):
    compare(name, np.array(list(itertools.product(TRIPLES, TRIPLES, TRIPLES))).T)


def test_zeros_keep_their_sign():
    zero = xnp.asarray([-0.0, 0.0])
    for name in ("erf", "erfi", "erfinv", "dawsn", "gamma", "gammasgn", "j1", "i1"):
        np.testing.assert_array_equal(np.signbit(getattr(special, name)(zero)), [True, False], name)


FAR = [  # a call, and the float64 arguments at which it once overflowed, cancelled or gave up
    ("i1", [1e300, -1e300]),
    ("i1e", [1e300, -1e300]),
    ("erfc", [1.7e308]),
    ("zeta", [-1e4, -1e300]),
    ("rgamma", [-0.0, -1e-200]),
    ("polygamma", [1.0, 2.0], [1e200, 1e120]),
    ("kl_div", [1e-20], [1e300]),
    ("binom", [1e-20, 0.0, 12.5, -0.5], [3.0, 170.5, 40.25, 40.25]),
    ("inv_boxcox", [1e300], [1e300]),
    ("gammainccinv", [222.7683385774051], [7.370470853964398e-289]),
    ("betainc", [0.5, 30, 1e-20, 0.17], [1e-20, 1e-20, 2.0, 1.1e-5], [0.5, 0.999, 0.3, 0.376]),
    ("betainc", [1e282, 3e-29, 4e182, 2e216], [5e226, 8e162, 6e182, 2e-22], [0.8, 0.9, 0.3, 0.2]),
]


@pytest.mark.parametrize(("name", "xs"), [(name, xs) for name, *xs in FAR])
def test_far_arguments(name, xs):
    got = getattr(special, name)(*map(np.array, xs))
    exact = getattr(scipy_special, name)(*map(np.array, xs))
    np.testing.assert_allclose(got, exact, rtol=1e-13)


FAR_COEFFICIENTS = [
    (1018, 509), (1029, 514), (1000.5, 500.2), (1e300, 1), (1e200, 1.5), (1e300, 1e-20), (1e300, -1e-300),
    (1.7e308, 0.5), (1.7e308, -0.5), (1.7e308, 1e-5), (1e18, -3.5), (-1000.5, 170), (-0.5, 3), (-2.5, 7),
]  # fmt: skip


@pytest.mark.parametrize(("n", "k"), FAR_COEFFICIENTS)
def test_binomial_coefficients_near_the_end_of_the_range(n, k):
    """Their beta function has vanished, or n is so large that its powers have, or that k is lost in n - k."""
    with mp.workdps(330):
        want = float(mp.gammaprod([mp.mpf(n) + 1], [mp.mpf(k) + 1, mp.mpf(n) - k + 1]))
    np.testing.assert_allclose(special.binom(np.float64(n), np.float64(k)), want, rtol=1e-12)


def test_waves_at_the_end_of_the_range():
    x = np.array([1e300, 1.7e308])
    orders = [("j0", mp.besselj, 0), ("j1", mp.besselj, 1), ("y0", mp.bessely, 0)]
    for name, f, n in [*orders, ("y1", mp.bessely, 1)]:
        got = getattr(special, name)(x)
        np.testing.assert_allclose(got, [float(f(n, v)) for v in x], rtol=1e-14)
    np.testing.assert_allclose(special.sici(np.float64(1e305))[1], float(mp.sin(1e305) / 1e305))


def test_a_range_is_not_left_too_early():
    """Γ(-34.05) is a normal number of float32, though its reflection's denominator is not."""
    x = np.float32(-34.05)
    np.testing.assert_allclose(special.gamma(x), scipy_special.gamma(float(x)), rtol=1e-6)
    assert special.erfc(np.finfo(np.float32).max) == 0


@pytest.mark.parametrize("name", ["jn", "yn", "kn", "sph_harm_y"])
def test_an_impossible_order_spoils_only_its_own_element(name):
    f, n = getattr(special, name), np.array([3.0, np.nan, np.inf, 1e20, 3.0])
    x = np.array([0.5, 0.5, 0.5, 0.5, np.nan])
    args = (n, np.zeros(5), x, x) if name == "sph_harm_y" else (n, x)
    got = np.asarray(f(*args))
    first = (3, *[a[0] for a in args[1:-1]], 0.5) if name != "sph_harm_y" else (3, 0, 0.5, 0.5)
    np.testing.assert_allclose(got[0], getattr(scipy_special, name)(*first))
    assert np.isnan(got[1:]).all()


def test_hypergeometric_polynomials():
    """One of a, b is a whole number <= 0, at any x, also where c is one that comes later."""
    a, b, c, x = (
        v.ravel()
        for v in np.meshgrid([-1.0, -4.0], [2.5, -3.0], [1.5, -6.0], [-3, -0.4, 0.3, 1, 2.5])
    )
    np.testing.assert_allclose(
        special.hyp2f1(a, b, c, x), scipy_special.hyp2f1(a, b, c, x), rtol=1e-12, atol=1e-13
    )
    c = np.where(c < 0, -21.0, 1.5)
    np.testing.assert_allclose(
        special.hyp1f1(5 * a, c, x), scipy_special.hyp1f1(5 * a, c, x), rtol=1e-12
    )
    laguerre = special.hyp1f1(np.float64(-19), np.float64(19), np.float64(22.292850466754217))
    np.testing.assert_allclose(
        laguerre, scipy_special.hyp1f1(-19, 19, 22.292850466754217), rtol=1e-11
    )


def test_gauss_near_one():
    """Where c - a - b is far from 0, on either side, and parameters are large."""
    a, b, c = np.array([[19.5, 16.4, 1.03], [5.8, 2.2, 38.9], [4.5, -4.8, -1.05]]).T
    x = np.array([0.9999999506848968, 0.9994751317551906, -759474.8692011407])
    exact = [float(mp.hyp2f1(*map(mp.mpf, args))) for args in zip(a, b, c, x, strict=True)]
    np.testing.assert_allclose(special.hyp2f1(a, b, c, x), exact, rtol=1e-11)


def test_gauss_by_steps_towards_one():
    """Where c - a - b is near 0, each step halves the distance to 1; a longer one leaves the circle of convergence."""
    rows = [(0.3, 0.7, 1.2, 0.99), (0.3, 0.7, 1.2, 0.9999), (1.3, 0.7, 2.2, 0.999999), (2.5, -0.5, 2.2, 0.995),
            (0.1, 0.2, 0.5, 0.9999999)]  # fmt: skip
    exact = [float(mp.hyp2f1(*map(mp.mpf, row))) for row in rows]
    np.testing.assert_allclose(special.hyp2f1(*np.array(rows).T), exact, rtol=1e-12)


@pytest.mark.parametrize(
    ("a", "b", "c"),
    [(1, 1, 2), (0.5, 0.5, 1.5), (1, 1.001, 2), (0.3, 0.3001, 0.7), (-0.5, -0.5, 1.3), (1, 3, 1.5)],
)
def test_gauss_far_to_the_left(a, b, c):
    """Powers and logarithms of z go on to the end of the range."""
    x = -(10.0 ** np.array([5, 19, 20, 30, 100, 150, 290]))
    exact = [float(mp.hyp2f1(*map(mp.mpf, (a, b, c, z)))) for z in x]
    np.testing.assert_allclose(special.hyp2f1(a, b, c, x), exact, rtol=1e-11)
    if a == b == 1:
        with xc.enable_x64():
            z = x[:4]
            slopes = xc.vmap(xc.grad(lambda z: special.hyp2f1(a, b, c, z)))(z)
        np.testing.assert_allclose(slopes * z**2, np.log1p(-z) + z / (1 - z), rtol=1e-11)


BOXES = {
    "hyp1f1": [[(-100, 100), (-20, 50), (-100, 100)], [(-10, 10), (-10, 10), (-60, 60)], [(-5, 5), (0.1, 5), (-900, 600)]],
    "hyp2f1": [[(-50, 50), (-50, 50), (-50, 50), (-5, 0.99)], [(-5, 5), (-5, 5), (-5, 5), (-30, 0.999)], [(0, 300), (0, 300), (0, 300), (-2, 0.9)],
               [(-20, -5), (-5, -0.5), (5, 40), (-30, -2)], [(-20, 20), (-20, 20), (-40, 40), (-50, 0.99)], [(0, 30), (-30, 0), (0.5, 30), (-100, 0)]],
}  # fmt: skip


def test_gauss_sum_of_opposite_parameters():
    np.testing.assert_allclose(
        special.hyp2f1(*np.array([500.5, -500.5, 1.0, -0.5])), 3.0180121908795354e284, rtol=1e-9
    )
    assert np.isnan(special.hyp2f1(*np.array([-11.5, -2.2, 28.8, -20.0])))


@pytest.mark.parametrize(
    "name, box", [(n, b) for n, boxes in BOXES.items() for b in boxes], ids=str
)
def test_hypergeometric_sums_that_cancel_are_nan_and_never_wrong(name, box):
    """Far outside of where their accuracy is stated: right to four digits and a bit, or NaN."""
    rng = np.random.default_rng(7)
    points = [rng.uniform(*side, 150) for side in box]
    got = np.asarray(getattr(special, name)(*points))
    with mp.workdps(330):
        exact = [getattr(mp, name)(*map(mp.mpf, map(float, p))) for p in zip(*points, strict=True)]
    within = [1e-290 < abs(x) < 1e300 for x in exact]
    told = np.isfinite(got) & within
    exact = np.array([float(x) if w else 0.0 for x, w in zip(exact, within, strict=True)])
    np.testing.assert_allclose(got[told], exact[told], rtol=1e-3)
    assert told.mean() > (0.3 if box == BOXES["hyp2f1"][3] else 0.5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("b", [-0.5, -1.25, -7.75, -899.5])
def test_beta_of_a_large_and_a_negative_number(b, dtype):
    """log Γ(a) - log Γ(a + b) would lose every digit from a = 1e17 on."""
    a = np.asarray([1.5, 8.25, 1e3, 1e5, 1e8, 1e12, 1e20, 1e30], dtype)
    a = a[a + b > 0]
    with mp.workdps(400):
        wanted = [
            mp.gamma(b) * mp.exp(mp.loggamma(mp.mpf(float(x))) - mp.loggamma(mp.mpf(float(x)) + b))
            for x in a
        ]
        logs = np.asarray([float(mp.log(abs(w))) for w in wanted])
        values = np.asarray([float(w) for w in wanted])
    eps, largest = np.finfo(dtype).eps, np.finfo(dtype).max
    for x, y in ((a, dtype(b)), (dtype(b), a)):
        found = np.asarray(special.betaln(x, y), np.float64)
        assert np.all(np.abs(found - logs) <= 40 * eps * np.maximum(1, np.abs(logs)))
        # what is tiny or infinite is left out; an exponent of many digits has its own error
        fits = (np.abs(values) < largest / 10) & (np.abs(values) > 10 * np.finfo(dtype).tiny)
        found, wanted = np.asarray(special.beta(x, y), np.float64)[fits], values[fits]
        bound = 40 * eps * np.maximum(1, np.abs(logs[fits]))
        assert np.all(np.abs(found - wanted) <= bound * np.abs(wanted))


@pytest.mark.parametrize("center", [1.0, 2.0])
@pytest.mark.parametrize("size", [1e-12, 1e-6, 0.01, 0.2, 0.249, 0.251, 0.4])
def test_complex_log_gamma_near_its_zeros(center, size):
    """Both parts, which vanish there, keep their digits."""
    z = center + size * np.exp(1j * np.linspace(0.1, 6.2, 13))
    with mp.workdps(40):
        want = np.array([complex(mp.loggamma(complex(v))) for v in z])
    got = np.asarray(special.loggamma(z))
    np.testing.assert_allclose(abs(got - want) / abs(want), 0, atol=5e-15 if size < 0.25 else 1e-13)
    tiny = np.asarray(special.loggamma(np.array([center + 1j * size])))[0]
    with mp.workdps(40):
        known = complex(mp.loggamma(complex(center, size)))
    if size < 0.25:
        np.testing.assert_allclose([tiny.real, tiny.imag], [known.real, known.imag], rtol=1e-13)


def test_nan_in_one_part_is_nan():
    for z in (complex(0, np.nan), complex(np.nan, 1)):
        for name in ("wofz", "loggamma"):
            found = np.asarray(getattr(special, name)(np.array(z)))
            assert np.isnan(found.real) and np.isnan(found.imag), name
    for args in itertools.product([0.0, 1.0, np.nan], repeat=3):
        found = special.voigt_profile(*map(np.float64, args))
        np.testing.assert_allclose(found, scipy_special.voigt_profile(*args), rtol=1e-12)


@pytest.mark.parametrize(("x", "power"), [(100, 155), (0.01, -155), (1e-3, -103), (1e10, 30.8)])
def test_box_cox_near_the_end_of_the_range(x, power):
    want = float((mp.mpf(x) ** power - 1) / power)
    np.testing.assert_allclose(special.boxcox(np.float64(x), np.float64(power)), want, rtol=1e-11)


QUOTIENTS = {
    "betaln": lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b),
    "beta": lambda a, b: mp.gamma(a) * mp.gamma(b) * mp.rgamma(a + b) if abs(a) + abs(b) < 1e5 else mp.nan,
    "poch": lambda z, m: mp.exp(mp.loggamma(z + m) - mp.loggamma(z)) if min(z, z + m) > 0 else mp.nan,
    "binom": lambda n, k: (
        mp.exp(mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1))
        if min(n, k, n - k) > -1 else mp.nan
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", QUOTIENTS)
def test_quotients_of_gamma_functions_of_any_size(name):
    """Arguments of 1e-300 to 1e300, some negative: nothing between overflows or vanishes."""
    rng = np.random.default_rng(32)
    exponents = np.where(rng.random((2, 300)) < 0.5, 300, 3) * rng.uniform(-1, 1, (2, 300))
    args = np.where(rng.random((2, 300)) < 0.8, 1, -1) * 10.0**exponents
    args[:, args.min(0) < -1e6] = 2.0  # where the sum's fraction, and so its sine, is rounded
    with mp.workdps(700):
        numbers = [[mp.mpf(float(v)) for v in row] for row in args]
        want = np.array(
            [float(mp.re(QUOTIENTS[name](*pair))) for pair in zip(*numbers, strict=True)]
        )
    known = ~np.isnan(want) & ((abs(want) > 1e-300) | (want == 0))
    assert known.sum() > 120
    found = np.asarray(getattr(special, name)(*args))
    np.testing.assert_allclose(found[known], want[known], rtol=1e-11, atol=1e-300)


def test_binomials_of_negative_numbers_beside_large_ones():
    n = np.array([-15.95, -0.5, -2.25])
    for k in (1e5, 1e17, 1e30):
        with mp.workdps(80):
            want = [
                float(mp.gammaprod([mp.mpf(k) - v], [mp.mpf(k) + 1, -v])) for v in map(mp.mpf, n)
            ]
        np.testing.assert_allclose(special.binom(n, k), want, rtol=1e-11)


def test_incomplete_beta_with_one_huge_shape():
    """Where b is beyond 1e15 it is the incomplete gamma function of b x, and its inverse leads back."""
    rng = np.random.default_rng(5)
    a, b = 10 ** rng.uniform(-3, 3, 300), 10 ** rng.uniform(17, 290, 300)
    z = 10 ** rng.uniform(-4, 2, 300) * np.maximum(a, 0.01)
    with mp.workdps(30):
        want = [[float(mp.gammainc(u, *ends, regularized=True)) for ends in ((0, v), (v, mp.inf))]
                for u, v in zip(a, z, strict=True)]  # fmt: skip
    lower, upper = np.array(want).T
    for f, value in ((special.betainc, lower), (special.betaincc, upper)):
        np.testing.assert_allclose(f(a, b, z / b), value, rtol=1e-10, atol=1e-280)
    x = np.asarray(special.betaincinv(a, b, 0.3))
    held = x > 1e-300
    assert held.sum() > 200
    np.testing.assert_allclose(special.betainc(a, b, x)[held], 0.3, rtol=1e-9)


def kummer(a, b, x):
    """Σ (a)_k/(b)_k x^k/k! with 1000 digits to the end, past where terms grow once more."""
    with mp.workdps(1000):
        a, b, x = map(mp.mpf, (a, b, x))
        term = total = mp.mpf(1)
        for k in range(4000):
            term = term * (a + k) / (b + k) * x / (k + 1)
            total += term
            if k > abs(b) + 10 and abs(term) < abs(total) * mp.mpf(10) ** -25:
                break
        return total


@pytest.mark.parametrize(
    "a, b, x",
    [
        (50.0, 0.5, -750.0),  # e^x vanishes, its product with the series does not
        (300.0, 2.0, -720.0),
        (0.0625, -44.45, -56.0),  # where b is far below 0 the other solution has its part
        (-0.0375, -44.45, -56.0),
        (0.0625, -20.7, -80.0),
        (0.6392633, -171.24574, 59.094229),
        (-0.0755019, -183.121468, 50.594777),
    ],
)
def test_kummer_where_parts_vanish_or_return(a, b, x):
    with xc.enable_x64():
        found = float(special.hyp1f1(a, b, x))
    np.testing.assert_allclose(found, float(kummer(a, b, x)), rtol=1e-9)


def test_kummer_is_right_or_nan_over_its_arguments():
    rng = np.random.default_rng(5)
    a, b = (rng.choice([-1, 1], 60) * 10 ** rng.uniform(-2, 2.2, 60) for _ in range(2))
    x = rng.choice([-1, 1, -1], 60) * 10 ** rng.uniform(-1, 2.6, 60)
    with xc.enable_x64():
        found = np.asarray(special.hyp1f1(a, b, x))
    for got, *where in zip(found, a, b, x, strict=True):
        true = kummer(*where)
        if np.isfinite(got) and 1e-300 < abs(true) < 1e300:
            assert abs(got - float(true)) < 1e-4 * abs(float(true)), where
    assert np.isfinite(found).mean() > 0.8


def exactly(f, *arguments):
    with mp.workdps(60):
        return float(f(*map(mp.mpf, arguments)))


def wide(f, *arguments):
    return float(f(*[xnp.asarray(float(a), "float64") for a in arguments]))


def test_next_to_poles():
    for z in (1e-5, 1e-10, 1e-17, 1e-100, 0.3, 0.9):
        for m in (-1, -2, -3, -10):
            np.testing.assert_allclose(wide(special.poch, z, m), exactly(mp.rf, z, m), rtol=1e-13)
    for q in (-1e-100, -1e-10, -1e-5, -0.3, -1 + 1e-6, -2.3, -3 - 1e-9):
        for s in (2, 3, 5):
            true = exactly(mp.zeta, s, q)
            np.testing.assert_allclose(wide(special.zeta, s, q), true, rtol=1e-13)
            true *= (-1.0) ** s * float(mp.factorial(s - 1))
            np.testing.assert_allclose(wide(special.polygamma, s - 1, q), true, rtol=1e-13)


def test_orders_above_those_that_vanish():
    for n, x in [(200, 705), (200, 709), (100, 709), (150, 720), (3, 501), (40, 499), (1, 600)]:
        np.testing.assert_allclose(wide(special.kn, n, x), exactly(mp.besselk, n, x), rtol=1e-12)
    assert wide(special.kn, 2, 1e4) == 0 and wide(special.kn, 10**6, 600.0) == np.inf


def test_coefficients_of_large_negative_numbers():
    for n, k in [
        (-1000.5, -1000.5),
        (-200.5, -200.5),
        (-200.5, -203.5),
        (-3.5, -3.5),
        (-7.5, -9.5),
        (-1000.5, 3),
    ]:
        # C(n, k) of n - k whole is C(n, n - k), a product
        true = exactly(lambda n, k: mp.binomial(n, n - k if n == k or k < 0 else k), n, k)
        np.testing.assert_allclose(wide(special.binom, n, k), true, rtol=1e-12)
