"""Logarithms of densities and probabilities against mpmath, from one far tail to the other."""

import mpmath as mp
import numpy as np
import pytest

import xcore as xc
from xcore import special, stats
from xcore.stats._family import _compute

from .test_families import CONTINUOUS, COSTLY, DISCRETE

DIGITS = 60  # what is added, or taken from 1, is seen down to e^-135; less than that comes from its own formula


def sides(lower, upper):
    """(log cdf, log sf), each from the smaller one."""
    lower, upper = mp.mpf(lower), mp.mpf(upper)
    log = [mp.log(p) if p else -mp.inf for p in (lower, upper)]
    return (log[0], mp.log1p(-lower)) if lower < upper else (mp.log1p(-upper), log[1])


def gamma_sides(a, x):
    """Series for P; for Q what is left, or where that is nothing mpmath's own Q, which is slow elsewhere."""
    lower = x**a * mp.exp(-x) / mp.gamma(a + 1) * mp.hyp1f1(1, a + 1, x, maxterms=10**6)
    upper = 1 - lower
    return lower, upper if upper > 1e-25 else mp.gammainc(a, x, mp.inf, regularized=True)


def beta_part(a, b, x, y):
    """I_x(a, b) by a series of positive terms."""
    log_front = a * mp.log(x) + b * mp.log(y) - mp.log(a) - log_beta(a, b)
    return mp.exp(log_front) * mp.hyp2f1(a + b, 1, a + 1, x, maxterms=10**6)


def log_beta(a, b):
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def beta_sides(a, b, x, y):
    """Each by its own series, which is good on its own side of the mean."""
    if x * (a + b) < a:
        lower = beta_part(a, b, x, y)
        return lower, 1 - lower
    upper = beta_part(b, a, y, x)
    return 1 - upper, upper


def normal(z):
    return mp.erfc(-z / mp.sqrt(2)) / 2, mp.erfc(z / mp.sqrt(2)) / 2


def log_phi(z):
    return -z * z / 2 - mp.log(2 * mp.pi) / 2


def swapped(pair):
    return pair[::-1]


def exponential(u):
    return -mp.expm1(-u), mp.exp(-u)


def normal_mass(a, b):
    f = (lambda z: -mp.erfc(z)) if a > 1 else mp.erf
    return (f(b / mp.sqrt(2)) - f(a / mp.sqrt(2))) / 2


def truncated(x, a, b):
    whole = normal_mass(a, b)
    return normal_mass(a, x) / whole, normal_mass(x, b) / whole


def halves(z, tail):
    """The sides of a symmetric distribution from the probability beyond |z|."""
    return (tail, 1 - tail) if z < 0 else (1 - tail, tail)


def student(z, df):
    w = df + z * z
    return halves(z, beta_sides(df / 2, mp.mpf(1) / 2, df / w, z * z / w)[0] / 2)


def log_student(z, df):
    return -(df + 1) / 2 * mp.log1p(z * z / df) - mp.log(df) / 2 - log_beta(df / 2, mp.mpf(1) / 2)


def fisher(z, m, n):
    w = n + m * z
    return beta_sides(m / 2, n / 2, m * z / w, n / w)


def log_fisher(z, m, n):
    a, b = m / 2, n / 2
    return a * mp.log(m / n) + (a - 1) * mp.log(z) - (a + b) * mp.log1p(m / n * z) - log_beta(a, b)


def gennorm(z, beta):
    return halves(z, gamma_sides(1 / beta, abs(z) ** beta)[1] / 2)


def triangle(z, c):
    return (
        (z * z / c, 1 - z * z / c)
        if z < c
        else (1 - (1 - z) ** 2 / (1 - c), (1 - z) ** 2 / (1 - c))
    )


def inverse_gaussian(z, mu):
    root = mp.sqrt(z)
    second = mp.exp(2 / mu) * normal(-(z / mu + 1) / root)[0]
    below, above = normal((z / mu - 1) / root)
    return below + second, above - second


def log_inverse_gaussian(z, mu):
    return -mp.log(2 * mp.pi * z**3) / 2 - (z - mu) ** 2 / (2 * mu**2 * z)


def circle(z, kappa):
    size = abs(z)
    ends = [size, min(mp.pi, size + 60 / mp.sqrt(kappa)), mp.pi]
    area = mp.quad(lambda t: mp.exp(kappa * (mp.cos(t) - mp.cos(z))), ends)
    return halves(z, mp.exp(kappa * mp.cos(z)) * area / (2 * mp.pi * mp.besseli(0, kappa)))


def wrapped(z, c):
    part = mp.atan2((1 + c) * mp.sin(z / 2), (1 - c) * mp.cos(z / 2)) / mp.pi
    return part, 1 - part


def log_choose(n, k):
    return mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)


def binomial(k, n, p):
    return (1, 0) if k == n else swapped(beta_sides(k + 1, n - k, p, 1 - p))


def betabinomial(k, n, a, b):
    terms = [mp.exp(log_betabinomial(mp.mpf(j), n, a, b)) for j in range(int(n) + 1)]
    return mp.fsum(terms[: int(k) + 1]), mp.fsum(terms[int(k) + 1 :])


def log_betabinomial(k, n, a, b):
    return log_choose(n, k) + log_beta(k + a, n - k + b) - log_beta(a, b)


# name: (log of the density or probability, (cdf, sf), [(points, parameters), …])
TABLE = {
    "norm": (log_phi, normal, [((-450, -45, -1, 0, 3, 45, 450), ())]),
    "truncnorm": (
        lambda x, a, b: log_phi(x) - mp.log(normal_mass(a, b)), truncated,
        [((-1 + 2**-20, -0.75, 0.3, 1.75, 2 - 2**-20), (-1.0, 2.0)), ((1e-300, 1e-30, 1, 8, 28), (0.0, 30.0)),
         ((30.0625, 30.9375), (30.0, 31.0))],
    ),
    "lognorm": (
        lambda x, s: log_phi(mp.log(x) / s) - mp.log(s * x), lambda x, s: normal(mp.log(x) / s),
        [((1e-300, 1e-20, 0.5, 1, 3, 1e20, 1e300), (0.75,))],
    ),
    "gennorm": (
        lambda z, b: mp.log(b / 2) - mp.loggamma(1 / b) - abs(z) ** b, gennorm,
        [((-7e3, -200, -1, 0.25, 2, 200, 7e3), (1.25,)), ((-1e6, 0.01, 1e8), (0.5,))],
    ),
    "gamma": (
        lambda x, a: (a - 1) * mp.log(x) - x - mp.loggamma(a), lambda x, a: gamma_sides(a, x),
        [((1e-300, 1, 900, 1e5), (2.25,)), ((4e3, 1e4, 1.5e4), (1e4,)), ((1e-300, 800), (0.01,)),
         ((2500,), (500.0,)), ((300,), (2e3,)), ((1e-4,), (300.0,))],
    ),
    "loggamma": (
        lambda z, c: c * z - mp.exp(z) - mp.loggamma(c), lambda z, c: gamma_sides(c, mp.exp(z)),
        [((-1e5, -700, -1, 0.3, 2, 6.9, 11.5), (1.375,))],
    ),
    "chi2": (
        lambda x, k: (k / 2 - 1) * mp.log(x / 2) - x / 2 - mp.log(2) - mp.loggamma(k / 2),
        lambda x, k: gamma_sides(k / 2, x / 2), [((1e-300, 0.1, 3, 2e3, 2e5), (3.25,))],
    ),
    "maxwell": (
        lambda x: mp.log(2 / mp.pi) / 2 + 2 * mp.log(x) - x * x / 2,
        lambda x: gamma_sides(mp.mpf(3) / 2, x * x / 2), [((1e-200, 1e-3, 1, 5, 45, 450), ())],
    ),
    "beta": (
        lambda x, a, b: (a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) - log_beta(a, b),
        lambda x, a, b: beta_sides(a, b, x, 1 - x),
        [((1e-300, 1e-3, 0.01, 0.875, 1 - 2**-20), (0.75, 300.0)), ((0.125, 0.5, 0.51, 0.75), (5e3, 5e3))],
    ),
    "t": (
        log_student, student,
        [((-1e200, -1e100, -30, -1, 2**-40, 0.5, 30), (3.5,)), ((-1e5, 1e100), (0.5,)), ((-50, 1), (1e6,))],
    ),
    "f": (log_fisher, fisher, [((1e-300, 0.01, 1, 30, 1e200, 1e300), (3.0, 5.0)), ((0.25, 3), (2e3, 1e3))]),
    "uniform": (lambda x: mp.mpf(0), lambda x: (x, 1 - x), [((1e-300, 0.25, 1 - 2**-20), ())]),
    "expon": (lambda x: -x, exponential, [((1e-300, 1e-3, 1, 1e3, 1e5), ())]),
    "laplace": (
        lambda z: -abs(z) - mp.log(2), lambda z: halves(z, mp.exp(-abs(z)) / 2),
        [((-1e5, -1e3, -1, 0.25, 30, 1e3, 1e5), ())],
    ),
    "logistic": (
        lambda z: -abs(z) - 2 * mp.log1p(mp.exp(-abs(z))),
        lambda z: halves(z, mp.exp(-abs(z)) / (1 + mp.exp(-abs(z)))), [((-1e5, -1e3, -1, 0.25, 30, 1e3, 1e5), ())],
    ),
    "cauchy": (
        lambda z: -mp.log(mp.pi * (1 + z * z)), lambda z: halves(z, mp.atan2(1, abs(z)) / mp.pi),
        [((-1e200, -1e3, -1, 0.25, 2, 1e3, 1e200), ())],
    ),
    "gumbel_r": (
        lambda z: -z - mp.exp(-z), lambda z: swapped(exponential(mp.exp(-z))),
        [((-11.5, -6.9, -1, 0.5, 30, 1e3, 1e5), ())],
    ),
    "gumbel_l": (
        lambda z: z - mp.exp(z), lambda z: exponential(mp.exp(z)), [((-1e5, -1e3, -30, 0.5, 1, 6.9, 11.5), ())],
    ),
    "rayleigh": (
        lambda x: mp.log(x) - x * x / 2, lambda x: exponential(x * x / 2), [((1e-300, 1e-3, 1, 6, 45, 450), ())],
    ),
    "weibull_min": (
        lambda x, c: mp.log(c) + (c - 1) * mp.log(x) - x**c, lambda x, c: exponential(x**c),
        [((1e-300, 1e-3, 1, 5, 58, 870), (1.75,)), ((1e-300, 10), (0.5,))],
    ),
    "pareto": (
        lambda x, b: mp.log(b) - (b + 1) * mp.log(x), lambda x, b: exponential(b * mp.log(x)),
        [((1 + 2**-20, 1.5, 10, 1e200), (2.5,))],
    ),
    "triang": (
        lambda z, c: mp.log(2 * z / c if z < c else 2 * (1 - z) / (1 - c)), triangle,
        [((1e-200, 0.125, 0.25, 0.875, 1 - 2**-20), (0.25,))],
    ),
    "invgauss": (
        log_inverse_gaussian, inverse_gaussian,
        [((5e-6, 5e-4, 0.5, 1, 2, 1e3, 1e5), (0.875,)), ((2e-5, 0.01, 0.2), (0.01,))],
    ),
    "wald": (
        lambda x: log_inverse_gaussian(x, 1), lambda x: inverse_gaussian(x, 1),
        [((5e-6, 5e-4, 0.5, 1, 2, 1e3, 1e5), ())],
    ),
    "vonmises": (
        lambda z, k: k * mp.cos(z) - mp.log(2 * mp.pi * mp.besseli(0, k)), circle,
        [((-3, -1, 0.25, 1, 3), (2.0,)), ((-3, -0.125, 0.02, 1.5), (1e3,)), ((-2,), (1e5,))],
    ),
    "wrapcauchy": (
        lambda z, c: mp.log((1 - c * c) / (2 * mp.pi * (1 + c * c - 2 * c * mp.cos(z)))), wrapped,
        [((1e-300, 0.125, 3, 6.25), (0.375,))],
    ),
    "bernoulli": (
        lambda k, p: mp.log(p) if k else mp.log1p(-p), lambda k, p: (1, 0) if k else (1 - p, p),
        [((0, 1), (0.25,)), ((0, 1), (1e-300,))],
    ),
    "binom": (
        lambda k, n, p: log_choose(n, k) + k * mp.log(p) + (n - k) * mp.log1p(-p), binomial,
        [((0, 4, 12, 20), (20.0, 0.25)), ((0, 100, 2500, 4900), (5e3, 0.5)), ((0, 300), (1e3, 1e-5))],
    ),
    "poisson": (
        lambda k, mu: k * mp.log(mu) - mu - mp.loggamma(k + 1), lambda k, mu: swapped(gamma_sides(k + 1, mu)),
        [((0, 4, 300), (4.5,)), ((0, 5e3, 1e4, 2e4), (1e4,)), ((0, 4), (1e-200,))],
    ),
    "geom": (
        lambda k, p: (k - 1) * mp.log1p(-p) + mp.log(p), lambda k, p: exponential(-k * mp.log1p(-p)),
        [((1, 5, 5e3), (0.25,)), ((1, 10), (1e-300,))],
    ),
    "nbinom": (
        lambda k, n, p: n * mp.log(p) + k * mp.log1p(-p) - log_beta(n, k + 1) - mp.log(n + k),
        lambda k, n, p: beta_sides(n, k + 1, p, 1 - p),
        [((0, 5, 3e3), (3.5, 0.375)), ((10, 1e4, 3e4), (1e4, 0.5))],
    ),
    "randint": (
        lambda k, m, n: -mp.log(n - m), lambda k, m, n: ((k - m + 1) / (n - m), (n - 1 - k) / (n - m)),
        [((2, 5, 8), (2.0, 9.0))],
    ),
    "betabinom": (
        log_betabinomial, betabinomial, [((0, 5, 11, 12), (12.0, 2.0, 3.0)), ((0, 30, 150, 290), (300.0, 150.0, 150.0))],
    ),
}  # fmt: skip
COUNT = 12  # points of a family, so that what families share is compiled once


def rounded(x):
    """A number that float32 holds too, if its range does."""
    return float(np.float32(x)) if 1e-37 < abs(x) < 1e38 else float(x)


def rows(name):
    """Points with their parameters, and what mpmath makes of them."""
    log_density, both, groups = TABLE[name]
    points = [tuple(map(rounded, (x, *p))) for xs, p in groups for x in xs]
    assert len(points) <= COUNT
    with mp.workdps(DIGITS):
        exact = [[mp.mpf(v) for v in point] for point in points]
        logs = [(log_density(*v), *sides(*both(*v))) for v in exact]
    return np.array(points).T, np.array(logs, dtype=float).T


def functions(name):
    family, density = getattr(stats, name), "logpmf" if name in DISCRETE else "logpdf"
    which = (density, "logcdf", "logsf")
    if name in COSTLY:
        places = [np.zeros(COUNT)] if name in DISCRETE else [np.zeros(COUNT), np.ones(COUNT)]
        return lambda *at: [
            _compute(family, w, *at, *[p.astype(at[0].dtype) for p in places]) for w in which
        ]
    return xc.jit(lambda *at: [getattr(family, w)(*at) for w in which])


@pytest.mark.parametrize("name", TABLE)
def test_logarithms_from_tail_to_tail(name):
    points, expected = rows(name)
    f, count = functions(name), points.shape[1]
    full = points[:, np.arange(COUNT) % count]
    # terms of a logarithm are larger than it by two digits or three, where parameters are in the thousands
    found = np.array(f(*full))[:, :count]
    np.testing.assert_allclose(found, expected, rtol=1e-12, err_msg=name)
    sizes = np.abs(points)
    held = ((sizes < 1e38) & ((sizes > 1e-37) | (points == 0))).all(axis=0)
    with np.errstate(over="ignore"):
        full = full.astype(np.float32)
    narrow = np.array(f(*full), np.float64)[:, :count]
    # most are computed in float64 and rounded; the others' formulas are of a few operations. Below the
    # absolute bound are no float32 numbers.
    np.testing.assert_allclose(narrow[:, held], expected[:, held], 2e-6, 1e-37, err_msg=name)


def difference(f, at, k):
    """A slope to 40 digits."""
    step = at[k] * mp.mpf(10) ** -20
    up, down = ([v + s * (i == k) for i, v in enumerate(at)] for s in (step, -step))
    return (f(*up) - f(*down)) / (2 * step)


# name, function, point: slopes in the point and in each parameter
SLOPES = [
    ("gamma", "logsf", (900.0, 2.25)), ("t", "logcdf", (-1e60, 3.5)), ("f", "logsf", (1e70, 3.0, 5.0)), ("beta", "logsf", (0.96875, 0.75, 300.0)),
    ("gennorm", "logsf", (200.0, 1.25)), ("weibull_min", "logcdf", (2.0**-1000, 1.75)),
    ("loggamma", "logcdf", (-900.0, 1.375)), ("binom", "logcdf", (10.0, 5e3, 0.5)),
    ("poisson", "logsf", (900.0, 4.5)), ("betabinom", "logcdf", (5.0, 100.0, 50.0, 50.0)),
    ("vonmises", "logcdf", (-3.0, 1e3)), ("wald", "logsf", (1e4,)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "which", "at"), SLOPES)
def test_slopes_in_the_far_tails(name, which, at):
    whole = name in DISCRETE
    family, both = getattr(stats, name), TABLE[name][1]
    f = lambda v: getattr(family, which)(*[v[i] for i in range(len(at))])
    found = np.asarray(xc.grad(f)(np.array(at)))
    with mp.workdps(DIGITS):
        log = lambda *v: sides(*both(*v))[which == "logsf"]
        expected = [difference(log, [mp.mpf(v) for v in at], k) for k in range(len(at))]
    # the counted variate has none, and a number of trials is whole
    first = {"binom": 2, "betabinom": 2}.get(name, int(whole))
    np.testing.assert_allclose(found[first:], np.array(expected[first:], float), rtol=1e-10)
    assert np.isfinite(found).all()


# Where the beta variable is no float


def f_sides(z, m, n):
    """(P, 1 - P) of the F distribution, the smaller one by its series."""
    a, b, r = mp.mpf(m) / 2, mp.mpf(n) / 2, mp.mpf(m) * z / n
    if r < 1:
        low = beta_part(a, b, r / (1 + r), 1 / (1 + r))
        return low, 1 - low
    high = beta_part(b, a, 1 / (1 + r), r / (1 + r))
    return 1 - high, high


def test_f_probabilities_over_the_range_of_floats():
    rng = np.random.default_rng(3)
    with mp.workdps(DIGITS):
        points = [10 ** rng.uniform(-300, 300, 60), *10 ** rng.uniform(-4, 3, (2, 60))]
        exact = np.array([[float(p) for p in f_sides(*p)] for p in zip(*points, strict=True)]).T
        for got, want in zip((stats.f.cdf(*points), stats.f.sf(*points)), exact, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-290)


@pytest.mark.parametrize("family, freedoms", [(stats.f, 2), (stats.t, 1)], ids=["f", "t"])
def test_quantiles_whose_beta_variable_vanishes(family, freedoms):
    rng = np.random.default_rng(4)
    q, shapes = 10 ** rng.uniform(-30, -0.31, 200), 10 ** rng.uniform(-2, 3, (freedoms, 200))
    for there, back in ((family.ppf, family.cdf), (family.isf, family.sf)):
        x = np.asarray(there(q, *shapes))
        told = np.isfinite(x) & (x != 0)  # else it is beyond the floats
        assert told.mean() > 0.7
        np.testing.assert_allclose(np.asarray(back(x, *shapes))[told], q[told], rtol=1e-11)
    known = {(1e-20, 0.1): -1.6e196}
    for args, want in known.items():
        np.testing.assert_allclose(stats.t.ppf(*map(np.float64, args)), want, rtol=0.05)


def test_t_probabilities_over_the_range_of_floats():
    rng = np.random.default_rng(5)
    z, df = -(10 ** rng.uniform(-8, 300, 60)), 10 ** rng.uniform(-3, 3, 60)
    with mp.workdps(DIGITS):
        exact = [float(f_sides(mp.mpf(x) ** 2, 1, d)[1] / 2) for x, d in zip(z, df, strict=True)]
    np.testing.assert_allclose(stats.t.cdf(z, df), exact, rtol=1e-12, atol=1e-290)
    np.testing.assert_allclose(stats.t.sf(-z, df), exact, rtol=1e-12, atol=1e-290)


def test_quantiles_that_vanish_are_zero_and_not_the_smallest_number():
    rng = np.random.default_rng(5)
    a, b, q = (
        10 ** rng.uniform(-2, 1, 60),
        10 ** rng.uniform(-2, 1, 60),
        10 ** rng.uniform(-30, -1, 60),
    )
    log_x = [  # x^a = q a B(a, b), and further powers of x are nothing
        float((mp.log(p) + mp.log(s) + mp.log(mp.beta(s, t))) / s)
        for s, t, p in zip(a, b, q, strict=True)
    ]
    log_x = np.array(log_x)
    tiny, gone = (log_x < -60) & (log_x > -700), log_x < -750
    assert tiny.sum() > 5 and gone.sum() > 5
    found = np.asarray(xc.stats.beta.ppf(q, a, b))
    assert (found[gone] == 0).all()
    np.testing.assert_allclose(np.log(found[tiny]), log_x[tiny], rtol=1e-13, atol=1e-12)
    assert (np.asarray(xc.stats.beta.isf(q, b, a))[gone] == 1).all()


# What no family may get wrong


def test_numbers_that_are_none_stay_none_and_densities_vanish_at_infinity():
    """Families mask what lies outside of the support; a comparison with NaN had put it inside, at some other place."""
    nan, far = np.float64(np.nan), np.array([-np.inf, np.inf])
    for name, parameters in {**CONTINUOUS, **DISCRETE}.items():
        family, shapes = getattr(stats, name), [np.float64(p) for p in parameters]
        density = "pmf" if family.discrete else "pdf"

        def found(x, loc, family=family, shapes=shapes, density=density):
            which = [density, "log" + density, "cdf", "sf", "logcdf", "logsf"]
            return [
                _compute(family, w, x, *shapes, loc, *[1.0] * (not family.discrete)) for w in which
            ]

        for x, loc in ((nan, np.float64(0)), (np.float64(1), nan)):
            assert all(np.isnan(v) for v in found(x, loc)), name
        at_ends = [np.asarray(v) for v in found(far, np.float64(0))[:2]]
        assert (at_ends[0] == 0).all() and (at_ends[1] == -np.inf).all(), name


ENDS = [
    (-1, 1), (5, 6), (30, 40), (-40, -30), (-1e-9, 1e-9), (-np.inf, 2), (3, np.inf), (-50, 50), (100, np.inf),
    (0, 5), (-5, 0), (1e5, np.inf), (-np.inf, -1e5), (-1e-3, np.inf), (2, 2 + 1e-10),
]  # fmt: skip


def test_quantiles_of_truncated_normals_lead_back():
    """To 1e-12 of the smaller tail, or as near as the next floats come; far tails gave infinity, or an end."""
    small = 10.0 ** -np.array([300, 100, 20, 10, 4, 1, 0.3])
    q, (a, b) = np.tile(np.concatenate([small, 1 - small[3:]]), len(ENDS)), np.repeat(ENDS, 11, 0).T
    for there, back in (("ppf", "cdf"), ("isf", "sf")):
        there, back = getattr(stats.truncnorm, there), getattr(stats.truncnorm, back)
        z = np.asarray(there(q, a, b))
        assert ((a <= z) & (z <= b)).all()
        before, here, after = (
            np.asarray(back(x, a, b))
            for x in (np.nextafter(z, -np.inf), z, np.nextafter(z, np.inf))
        )
        np.testing.assert_array_less(np.abs(here - q), 2 * np.abs(after - before) + 1e-12 * q)


def test_quantiles_next_to_one_and_a_half():
    """By the smaller of q and 1 - q, and of q - 1/2 where that is the small one."""
    q = 1 - 10.0 ** -np.arange(4, 15)
    rest = 1 - q
    np.testing.assert_allclose(stats.cauchy.ppf(q), 1 / np.tan(np.pi * rest), rtol=1e-14)
    middle = 0.5 + 10.0 ** -np.arange(4, 15)
    np.testing.assert_allclose(stats.cauchy.ppf(middle), np.tan(np.pi * (middle - 0.5)), rtol=1e-14)
    for mu in (0.01, 1.0, 100.0):
        z = stats.invgauss.ppf(q, mu)
        np.testing.assert_allclose(stats.invgauss.sf(z, mu), rest, rtol=1e-10)
    for c in (0.0, 1e-12, 0.3, 1.0):
        tiny = np.array([1e-300, 1e-20, 1e-5])
        z = stats.triang.ppf(tiny, np.float64(c))
        np.testing.assert_allclose(stats.triang.cdf(z, np.float64(c)), tiny, rtol=1e-14)
    assert float(stats.triang.pdf(1.0, 1.0)) == 2 == float(stats.triang.pdf(0.0, 0.0))


def test_student_of_many_and_of_infinitely_many_degrees_of_freedom():
    q = 10.0 ** -np.array([300, 100, 10, 1, 0.4])
    normal = stats.norm.ppf(q)
    for df in (1e12, 1e15, np.inf):  # its quantiles are off by z³ / 4 df
        z = np.asarray(stats.t.ppf(q, np.float64(df)))
        np.testing.assert_allclose(z, normal, rtol=4e2 / df + 1e-13)
    for which in ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf"):
        t, norm = getattr(stats.t, which), getattr(stats.norm, which)
        np.testing.assert_allclose(t(normal, np.float64(np.inf)), norm(normal), rtol=1e-12)


def test_gamma_variates_that_are_no_floats():
    """P(c, e^z) = e^(c z) / Γ(c + 1) where e^z vanishes; so do their quantiles, down to the smallest shares."""
    c, z = np.array([1e-6, 1e-4, 1e-2]), -np.array([7e5, 1e4, 1e3])
    with mp.workdps(DIGITS):
        p = [
            mp.exp(mp.mpf(a) * mp.mpf(b)) / mp.gamma(mp.mpf(a) + 1)
            for a, b in zip(c, z, strict=True)
        ]
        exact = [
            [float(f(v)) for v in p] for f in (mp.mpf, lambda v: 1 - v, lambda v: mp.log(1 - v))
        ]
    for which, want in zip(("cdf", "sf", "logsf"), exact, strict=True):
        np.testing.assert_allclose(getattr(stats.loggamma, which)(z, c), want, rtol=1e-12)
    exact = np.array(exact)
    np.testing.assert_allclose(stats.loggamma.ppf(exact[0], c), z, rtol=1e-12)
    np.testing.assert_allclose(stats.loggamma.isf(exact[1], c), z, rtol=1e-12)
    a, q = np.array([1.5, 3, 40]), np.array([1e-300, 1e-305, 3e-307])
    for there, back in (
        (special.gammaincinv, special.gammainc),
        (special.gammainccinv, special.gammaincc),
    ):
        np.testing.assert_allclose(back(a, there(a, q)), q, rtol=1e-11)


def test_f_next_to_nothing():
    with mp.workdps(DIGITS):
        p = [f_sides(mp.mpf(10) ** -305, mp.mpf("0.1"), 50)[0]]
        want = float(mp.log(1 - p[0]))
    np.testing.assert_allclose(
        stats.f.logsf(1e-305, np.float64(0.1), np.float64(50)), want, rtol=1e-10
    )


def test_formulas_are_not_narrowed():
    """What is computed in float64 inside is, where users' 64-bit values become 32 bits wide."""
    cases = [
        (stats.t.logcdf, (3.0,)), (stats.t.logsf, (3.0,)), (stats.t.ppf, (3.0,)), (stats.maxwell.logcdf, ()),
        (stats.maxwell.logsf, ()), (stats.betabinom.logpmf, (5, 2.0, 3.0)),
    ]  # fmt: skip
    x = np.linspace(0.1, 0.9, 5, dtype=np.float32)
    for f, parameters in cases:
        want = np.asarray(f(x, *parameters))
        with xc.config.override(narrow=True):
            got = f(x, *parameters)
        assert got.dtype == np.float32
        np.testing.assert_array_equal(got, want)


LARGE = (1e16, 1e19, 1e25, 1e30, 1e35, 1e100, 1e250, 1e300, np.inf)


@pytest.mark.parametrize("few", [0.5, 3.0, 17.0])
@pytest.mark.parametrize("upside_down", [False, True])
def test_f_with_many_degrees_of_freedom_on_one_side(few, upside_down):
    """It is that of a gamma variable over its mean, or of one over that, to (1 + m²)/n."""
    with xc.enable_x64():
        for large in LARGE:
            dofs = (large, few) if upside_down else (few, large)
            for x in (1e-3, 0.3, 1.0, 1.5, 4.0):
                z = 0.5 * few * (1 / x if upside_down else x)
                lower = mp.gammainc(0.5 * few, 0, z, regularized=True)
                lower = float(1 - lower if upside_down else lower)
                np.testing.assert_allclose(stats.f.cdf(x, *dofs), lower, rtol=1e-11, atol=1e-13)
                np.testing.assert_allclose(stats.f.sf(x, *dofs), 1 - lower, rtol=1e-11, atol=1e-13)
                if lower > 1e-12:
                    np.testing.assert_allclose(
                        stats.f.logcdf(x, *dofs), np.log(lower), rtol=1e-10, atol=3e-12
                    )
                if 1e-10 < lower < 1 - 1e-6:
                    np.testing.assert_allclose(
                        stats.f.ppf(stats.f.cdf(x, *dofs), *dofs), x, rtol=1e-8
                    )
                step = 1e-4 * x
                slope = (stats.f.cdf(x + step, *dofs) - stats.f.cdf(x - step, *dofs)) / (2 * step)
                np.testing.assert_allclose(stats.f.pdf(x, *dofs), slope, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("name", ["cdf", "logsf", "sf", "logcdf", "logpdf", "ppf", "isf"])
def test_derivatives_of_f(name):
    """What is not taken has infinite derivatives of its own, which must not come in."""
    with xc.enable_x64():
        for dofs in ((4.0, 5.0), (4.0, 1e30), (1e30, 5.0)):
            f = lambda z, dofs=dofs: getattr(stats.f, name)(z, *dofs)
            slope = (f(0.6 + 1e-5) - f(0.6 - 1e-5)) / 2e-5
            np.testing.assert_allclose(xc.grad(f)(0.6), slope, rtol=1e-6, atol=1e-9)
            assert np.isfinite(xc.grad(f)(1e-20))


def test_derivatives_of_f_far_out():
    with xc.enable_x64():
        logpdf, isf = (lambda z, f=f: f(z, 4.0, 5.0) for f in (stats.f.logpdf, stats.f.isf))
        np.testing.assert_allclose(xc.grad(logpdf)(1e-160), 1e160, rtol=1e-6)
        np.testing.assert_allclose(xc.grad(isf)(1e-100), -8.25e139, rtol=1e-2)


@pytest.mark.parametrize("dof", [4.0, 1e4, 1e8])
def test_slopes_of_f_are_its_density_with_many_degrees_of_freedom(dof):
    with xc.enable_x64():
        for x in (0.999, 1.0, 1.001):
            slope, density = (
                xc.grad(lambda z: stats.f.cdf(z, dof, dof))(x),
                stats.f.pdf(x, dof, dof),
            )
            np.testing.assert_allclose(slope, density, rtol=1e-7)
