"""Every family against SciPy's, in both tails too, and its derivatives against differences."""

import mpmath as mp
import numpy as np
import pytest
import scipy.stats

import xcore as xc
import xcore.numpy as xnp
from xcore import stats
from xcore.stats._family import _compute

# name: parameters
CONTINUOUS = {
    "norm": (), "truncnorm": (-1.0, 2.0), "lognorm": (0.7,), "gennorm": (1.3,), "gamma": (2.3,),
    "loggamma": (1.4,), "chi2": (3.3,), "maxwell": (), "beta": (0.7, 2.5), "t": (3.5,), "f": (3.0, 5.0),
    "uniform": (), "expon": (), "laplace": (), "logistic": (), "cauchy": (), "gumbel_r": (),
    "gumbel_l": (), "rayleigh": (), "weibull_min": (1.7,), "pareto": (2.5,), "triang": (0.3,),
    "invgauss": (0.8,), "wald": (), "vonmises": (2.0,), "wrapcauchy": (0.4,),
}  # fmt: skip
DISCRETE = {
    "bernoulli": (0.3,), "binom": (20.0, 0.3), "poisson": (4.5,), "geom": (0.2,), "nbinom": (3.5, 0.4),
    "randint": (2.0, 9.0), "betabinom": (12.0, 2.0, 3.0),
}  # fmt: skip
# Those made of functions that XLA takes seconds to compile: they are evaluated one operation after
# the other, so that each of these functions is compiled once for all families.
COSTLY = {
    "truncnorm", "gennorm", "gamma", "loggamma", "chi2", "maxwell", "beta", "t", "f", "vonmises", "binom",
    "poisson", "nbinom", "betabinom",
}  # fmt: skip
# Where probabilities vanish as floats SciPy's logarithms of these end; test_tails.py goes on from here.
FAR = {"loggamma": 8.0, "maxwell": 30.0}
LEVELS = np.array([0.0, 1e-8, 0.01, 0.2, 0.5, 0.7, 0.99, 1 - 1e-6, 1.0])
COUNTS = np.array([-1.0, 0, 1, 2, 3, 5, 8, 12, 2.5, 40])


def compare(name, which, found, expected):
    # where SciPy's logarithm of a probability near 1 has lost its digits, it is right to 1e-16
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=2e-16, err_msg=f"{name}.{which}")


def values(name, which, *arguments):
    """Several functions of a family, in one program or, of the costly ones, in many shared ones."""
    family = getattr(stats, name)
    if name in COSTLY:
        arrays = [xnp.broadcast_to(a, arguments[0].shape) for a in arguments]
        return [_compute(family, w, *arrays) for w in which]
    return xc.jit(lambda *a: [getattr(family, w)(*a) for w in which])(*arguments)


def check(name, which, x, parameters, loc, scale):
    """Several functions of a family beside SciPy's."""
    reference = getattr(scipy.stats, name)
    places = [np.float64(v) for v in ((loc,) if scale is None else (loc, scale))]
    parameters = [np.float64(p) for p in parameters]
    with np.errstate(all="ignore"):
        for w, found in zip(which, values(name, which, x, *parameters, *places), strict=True):
            assert found.dtype == np.float64
            compare(name, w, found, getattr(reference, w)(x, *parameters, *places))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # SciPy's
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name):
    parameters, loc, scale = CONTINUOUS[name], 0.3, 1.7
    x = getattr(scipy.stats, name).ppf(LEVELS[1:-1], *parameters, loc, scale)
    if name != "vonmises":  # whose support is the circle here and the line in SciPy
        x = np.concatenate([x, [-30.0, 0.2, 1.0, FAR.get(name, 100.0)]])
    check(name, ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf"), x, parameters, loc, scale)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CONTINUOUS)
def test_quantiles(name):
    levels = LEVELS[1:-1] if name == "vonmises" else LEVELS
    check(name, ("ppf", "isf"), levels, CONTINUOUS[name], 0.3, 1.7)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name):
    loc = 1.0
    which = ("logpmf", "pmf", "cdf", "sf", "logcdf", "logsf")
    check(name, which, COUNTS + loc, DISCRETE[name], loc, None)


@pytest.mark.parametrize("name", ["binom", "geom", "randint"])
def test_quantiles_of_counts(name):
    check(name, ("ppf", "isf"), LEVELS[1:-1], DISCRETE[name], 1.0, None)


# Tails


def test_entropy_of_poisson():
    mu = np.array([[0.0, 1e-6, 0.3, 4.5, 30.0, 99.9], [100.0, 100.1, 150.0, 1000.0, 1.0, 2.0]])
    k = np.arange(1500.0)
    p, log_p = (getattr(scipy.stats.poisson, f)(k, mu[..., None]) for f in ("pmf", "logpmf"))
    wanted = (p * np.minimum(-log_p, 1e4)).sum(-1)
    np.testing.assert_allclose(stats.poisson.entropy(mu.astype("f4")), wanted, rtol=1e-6)
    with xc.enable_x64(True):
        np.testing.assert_allclose(stats.poisson.entropy(mu), wanted, rtol=1e-12)
        known = scipy.stats.poisson.entropy(4.5)
        assert float(stats.poisson.entropy(4.5, loc=7)) == pytest.approx(known, rel=1e-12)
        below, above = stats.poisson.entropy(np.array([1 - 1e-5, 1 + 1e-5]) * 30.0).tolist()
        slope = float(xc.grad(stats.poisson.entropy)(30.0))
        assert slope == pytest.approx((above - below) / 6e-4, rel=1e-7)
    assert np.isnan(stats.poisson.entropy(np.array([-1.0, np.nan]))).all()
    assert stats.poisson.entropy(np.inf) == np.inf


def test_far_tails():
    """Where probabilities underflow or differ from 1 by less than a float can show."""
    mp.mp.dps = 30
    x = np.float64(50.0)
    expected = float(mp.log(mp.erfc(50 / mp.sqrt(2)) / 2))
    np.testing.assert_allclose(stats.norm.logsf(x), expected, rtol=1e-13)
    np.testing.assert_allclose(stats.norm.logcdf(-x), expected, rtol=1e-13)
    np.testing.assert_allclose(stats.norm.logcdf(x / 5), -float(mp.erfc(10 / mp.sqrt(2)) / 2))
    q = mp.gammainc(3, 200, regularized=True)
    np.testing.assert_allclose(stats.gamma.sf(np.float64(200), 3.0), float(q), rtol=1e-12)
    np.testing.assert_allclose(stats.cauchy.sf(np.float64(1e20)), 1e-20 / np.pi, rtol=1e-13)
    mass = mp.log(mp.erfc(30 / mp.sqrt(2)) - mp.erfc(31 / mp.sqrt(2))) - mp.log(2)
    inside = -0.5 * 30.5**2 - 0.5 * np.log(2 * np.pi) - float(mass)
    found = stats.truncnorm.logpdf(np.float64(30.5), 30.0, 31.0)
    np.testing.assert_allclose(found, inside, rtol=1e-11)


def test_float32_is_right_to_its_last_digits():
    """Families whose terms cancel compute in float64."""
    a = np.float32(1e4)
    x = np.linspace(9700, 10300, 7, dtype=np.float32)
    expected = scipy.stats.gamma.logpdf(x.astype(float), float(a))
    found = stats.gamma.logpdf(x, a)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=2e-7)


# Derivatives

SLOPES = [
    ("norm", "logcdf", (-3.0, 0.3, 1.7)), ("gamma", "logpdf", (1.3, 2.3, 0.1, 1.7)),
    ("gamma", "cdf", (1.3, 2.3, 0.1, 1.7)), ("t", "cdf", (0.8, 3.5, 0.1, 1.7)),
    ("t", "logpdf", (0.8, 3.5, 0.1, 1.7)), ("beta", "sf", (0.4, 0.7, 2.5, 0.0, 1.1)),
    ("truncnorm", "logsf", (0.4, -1.0, 2.0, 0.1, 1.2)), ("vonmises", "cdf", (0.8, 2.0, 0.1, 1.0)),
    ("invgauss", "logcdf", (0.8, 0.9, 0.0, 1.2)), ("weibull_min", "logpdf", (0.8, 1.7, 0.1, 1.2)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "which", "at"), SLOPES)
def test_derivatives(name, which, at):
    f = getattr(getattr(stats, name), which)
    at, h = np.array(at), 1e-5
    found = xc.jit(xc.grad(lambda v: f(*v)))(xnp.asarray(at))
    # vonmises: SciPy's has too few digits for differences
    reference = f if name == "vonmises" else getattr(getattr(scipy.stats, name), which)
    up, down = (np.asarray(reference(*(at + s * np.eye(len(at))).T)) for s in (h, -h))
    np.testing.assert_allclose(found, (up - down) / (2 * h), rtol=1e-6, atol=1e-8)


def test_derivatives_outside_of_the_support_are_zero():
    for f in (stats.gamma.cdf, stats.gamma.pdf):
        assert xc.grad(f)(-1.0, 2.0) == 0
    assert xc.grad(stats.t.cdf)(0.0, 5.0) == pytest.approx(float(stats.t.pdf(0.0, 5.0)), rel=1e-6)


# Arguments


def test_arguments():
    x = np.linspace(0.1, 3, 4, dtype=np.float32)
    assert stats.norm.logpdf(x, loc=1.0, scale=2.0).shape == (4,)
    assert stats.norm.logpdf(x, scale=xnp.ones((3, 1))).shape == (3, 4)
    assert stats.gamma.logpdf(2, 3).dtype == np.float32
    assert stats.poisson.pmf(np.int32(2**24 + 1), 2.0**24) == pytest.approx(
        scipy.stats.poisson.pmf(2**24 + 1, 2.0**24), rel=1e-5
    )
    with pytest.raises(TypeError, match="missing a required argument: 'a'"):
        stats.gamma.logpdf(1.0)
    with pytest.raises(AttributeError, match="but no 'pmf'"):
        stats.norm.pmf  # noqa: B018
    with pytest.raises(TypeError, match=r"stats\.norm\.pdf"):
        stats.norm.pdf(1j)


def test_parameters_without_sense_give_nan():
    assert np.isnan(stats.norm.pdf(0.0, 0.0, -1.0)) and np.isnan(stats.gamma.pdf(1.0, -2.0))
    assert np.isnan(stats.binom.pmf(1, 5, 1.5)) and np.isnan(stats.norm.ppf(1.5))
    assert np.isnan(stats.norm.cdf(np.nan)) and np.isnan(stats.triang.logsf(0.5, 1.5))
    half = np.array([0.5, 0.5])
    assert np.isnan(stats.multinomial.logpmf(np.array([1, 2]), np.array([-3, 2.5]), half)).all()
    assert np.isnan(stats.dirichlet.pdf(half, np.array([1.0, -1.0])))
    assert np.isnan(stats.multivariate_normal.pdf(np.zeros(2), np.zeros(2), -np.eye(2)))


@pytest.mark.parametrize(
    "name, parameters",
    [("norm", (1.0, 2.0)), ("gamma", (2.5, 0.0, 3.0)), ("binom", (9, 0.3)), ("poisson", (4.0, 1))],
)
def test_distributions_with_their_parameters(name, parameters):
    family, theirs = getattr(stats, name), getattr(scipy.stats, name)
    mine, other = family(*parameters), theirs(*parameters)
    density = "pmf" if family.discrete else "pdf"
    x = np.array([1.0, 3.0, 6.0])
    for which, at in (
        (density, x),
        ("cdf", x),
        ("sf", x),
        ("ppf", x / 9),
        ("median", None),
        ("interval", 0.9),
    ):
        args = [] if at is None else [at]
        got, want = getattr(mine, which)(*args), getattr(other, which)(*args)
        np.testing.assert_allclose(got, want, rtol=1e-5)
        np.testing.assert_array_equal(got, getattr(family, which)(*args, *parameters))
    assert name in repr(mine)


def test_distributions_say_which_parameters_they_take():
    with pytest.raises(TypeError, match=r"stats\.norm.*'mu'.*loc=0, scale=1"):
        stats.norm(mu=1.0)
    with pytest.raises(TypeError, match="'a'"):
        stats.gamma()
    with pytest.raises(AttributeError, match="no 'rvs'"):
        stats.norm(1.0).rvs()


def test_normal_densities_of_numbers():
    """With a number for mean and variance a vector holds numbers, as in SciPy."""
    x = np.asarray([0.1, 0.5, 2.0, 5.0])
    for given in (x, x[:1], x[0], x[:, None]):
        for mean, cov in ((0.0, 1.0), (0.5, 2.0)):
            wanted = scipy.stats.multivariate_normal.logpdf(given, mean, cov)
            assert np.allclose(stats.multivariate_normal.logpdf(given, mean, cov), wanted)
            wanted = scipy.stats.multivariate_normal.pdf(given, mean, cov)
            assert np.allclose(xc.jit(stats.multivariate_normal.pdf)(given, mean, cov), wanted)
