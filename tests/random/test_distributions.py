"""Every distribution has the distribution it should: against SciPy's, over grids of parameters.

Seeds are fixed. A test statistic's p-value is compared with ALARM, which by chance one of all the
p-values in this folder (some 300) falls below once in 3,000 sets of seeds.
"""

import functools

import numpy as np
import pytest
from scipy import stats

import xcore as xc
import xcore.numpy as xnp
from xcore import random

ALARM = 1e-6
N = 20000
AT_ONCE = 5000
IMPLS = ("threefry2x32", "philox4x32")


def key_of(name, impl="threefry2x32"):
    return random.key(sum(map(ord, name)), impl=impl)


def rows(name, parameters, impl="threefry2x32"):
    """A row of numbers for each set of parameters, all drawn by one program, from several keys.

    So few at once are drawn by a program that compiles three times as fast as that of a large draw;
    that this one gives the same numbers is a test of its own.
    """
    columns = [
        xnp.asarray(np.array(c, float), "float32")[:, None] for c in zip(*parameters, strict=True)
    ]
    draw, shape = getattr(random, name), (len(parameters), AT_ONCE)
    keys = random.split(key_of(name, impl), N // AT_ONCE)
    return np.concatenate([draw(key, *columns, shape=shape) for key in keys], axis=1).astype(float)


def ks(x, distribution):
    assert np.isfinite(x).all()
    return stats.kstest(x, distribution.cdf).pvalue


def chi_square(counts, distribution):
    """A p-value from bins of at least 20 expected counts."""
    edges = np.unique(distribution.ppf(np.linspace(0, 1, 41)[1:-1]))
    p = np.diff(np.concatenate([[0.0], distribution.cdf(edges), [1.0]]))
    found = np.histogram(counts, np.concatenate([[-np.inf], edges + 0.5, [np.inf]]))[0]
    expected = p * len(counts)
    large = expected >= 20
    if not large.all():
        expected = np.append(expected[large], expected[~large].sum())
        found = np.append(found[large], found[~large].sum())
        expected, found = expected[expected > 0], found[expected > 0]
    if len(expected) < 2:
        return 1.0
    return stats.chi2.sf(((found - expected) ** 2 / expected).sum(), len(expected) - 1)


def moments(x, distribution):
    """A p-value of the mean, where the distribution has a variance."""
    mean, variance = distribution.stats(moments="mv")
    if not np.isfinite(variance) or variance == 0:
        return 1.0
    return 2 * stats.norm.sf(abs(x.mean() - mean) / np.sqrt(variance / len(x)))


# On the line

CONTINUOUS = [
    ("exponential", [()], stats.expon),
    ("cauchy", [()], stats.cauchy),
    ("laplace", [()], stats.laplace),
    ("logistic", [()], stats.logistic),
    ("gumbel", [()], stats.gumbel_r),
    ("maxwell", [()], stats.maxwell),
    ("normal", [()], stats.norm),
    ("uniform", [()], stats.uniform),
    ("pareto", [(0.5,), (3.0,), (40.0,)], stats.pareto),
    ("rayleigh", [(1e-3,), (2.0,)], lambda s: stats.rayleigh(scale=s)),
    ("weibull_min", [(2.0, 0.3), (1.0, 1.0), (1e-3, 8.0)], lambda s, c: stats.weibull_min(c, scale=s)),
    ("lognormal", [(0.05,), (1.0,), (5.0,)], stats.lognorm),
    ("triangular", [(0.0, 1.0, 4.0), (-2.0, -2.0, 1.0), (1.0, 3.0, 3.0)],
     lambda a, m, b: stats.triang((m - a) / (b - a), a, b - a)),
    ("wald", [(0.01,), (1.0,), (50.0,), (1e5,)], stats.invgauss),
    ("generalized_normal", [(0.5,), (1.0,), (2.0,), (7.0,)], stats.gennorm),
    ("double_sided_maxwell", [(0.0, 1.0), (3.0, 0.5)], lambda m, s: DoubleMaxwell(m, s)),
    ("truncated_normal",
     [(-2.0, 2.0), (-np.inf, 1.0), (0.5, 0.6), (3.5, np.inf), (8.0, 9.0), (-20.0, -19.5), (30.0, np.inf)],
     stats.truncnorm),
    ("von_mises", [(0.0, 1e-4), (0.0, 0.5), (0.0, 4.0), (0.0, 200.0), (0.0, 1e5)], lambda m, k: VonMises(k)),
    ("gamma", [(0.05,), (0.5,), (1.0,), (2.5,), (40.0,), (1e4,), (1e7,)], stats.gamma),
    ("chisquare", [(0.5,), (1.0,), (7.0,), (1000.0,)], stats.chi2),
    ("beta", [(0.5, 0.5), (1.0, 1.0), (2.0, 7.0), (0.1, 3.0), (500.0, 300.0)], stats.beta),
    ("t", [(0.3,), (1.0,), (3.0,), (100.0,)], stats.t),
    ("f", [(1.0, 1.0), (5.0, 2.0), (3.0, 40.0), (200.0, 100.0)], stats.f),
]  # fmt: skip


class DoubleMaxwell:
    """|x - loc| / scale is Maxwell, and the sign is a coin's."""

    def __init__(self, loc, scale):
        self.loc, self.scale = loc, scale

    def cdf(self, x):
        z = (x - self.loc) / self.scale
        return 0.5 + 0.5 * np.sign(z) * stats.maxwell.cdf(abs(z))

    def stats(self, moments):
        return self.loc, 3 * self.scale**2


class VonMises:
    """SciPy's distribution function; its variance, of which SciPy makes a long quadrature, by a sum."""

    def __init__(self, kappa):
        self.kappa, self.cdf = kappa, stats.vonmises(kappa).cdf

    def stats(self, moments):
        reach = min(np.pi, 12 / np.sqrt(self.kappa))
        x = np.linspace(-reach, reach, 4001)
        density = np.exp(self.kappa * (np.cos(x) - 1))
        return 0.0, (density * x * x).sum() / density.sum()


def by_generator(table):
    """Every row with Threefry; with Philox those whose sampler takes other bits for it."""
    different = {"uniform", "normal", "gamma", "poisson", "binomial"}
    return [
        pytest.param(*row, impl, id=f"{row[0]}-{impl}")
        for impl in IMPLS for row in table
        if impl == IMPLS[0] or row[0] in different
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "grid", "reference", "impl"), by_generator(CONTINUOUS))
def test_continuous(name, grid, reference, impl):
    if grid == [()]:
        drawn = [np.asarray(getattr(random, name)(key_of(name, impl), (N,)), float)]
    else:
        drawn = rows(name, grid, impl)
    for parameters, x in zip(grid, drawn, strict=True):
        distribution = reference(*parameters) if parameters else reference
        exact = [float(np.float32(p)) for p in parameters]
        distribution = reference(*exact) if parameters else distribution
        assert ks(x, distribution) > ALARM, parameters
        assert moments(x, distribution) > ALARM, parameters


def test_gamma_of_tiny_shapes():
    """Most of these numbers are below the smallest float, their logarithms are not."""
    for a, log_x in zip((1e-6, 1e-3), rows("loggamma", [(1e-6,), (1e-3,)]), strict=True):
        # F(x) = x^a / Γ(a + 1) (1 + O(ax)), so that a log x + ... is the logarithm of a uniform number
        p = np.exp(a * log_x - np.log(1 + 0 * log_x))
        body = log_x < -20
        assert body.mean() > 0.9
        assert stats.kstest(p[body] / np.exp(-20 * a), "uniform").pvalue > ALARM
    assert (rows("gamma", [(0.0,)]) == 0).all()


# Counts

COUNTS = [
    ("poisson", [(0.0,), (0.01,), (1.0,), (9.9,), (10.0,), (25.0,), (300.0,), (1e4,), (1e6,)], stats.poisson),
    ("geometric", [(1.0,), (0.5,), (0.01,)], stats.geom),
    ("negative_binomial", [(0.5, 0.1), (3.0, 0.5), (100.0, 0.01)], stats.nbinom),
    ("binomial",
     [(0, 0.5), (1, 0.3), (10, 0.0), (10, 1.0), (10, 0.5), (40, 0.5), (100, 0.01), (100, 0.99), (1000, 0.7),
      (1e6, 1e-5), (1e6, 0.5), (1e7, 0.875)], stats.binom),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:divide by zero")  # SciPy's, where a probability is 0 or 1
@pytest.mark.parametrize(("name", "grid", "reference", "impl"), by_generator(COUNTS))
def test_counts(name, grid, reference, impl):
    for parameters, k in zip(grid, rows(name, grid, impl), strict=True):
        distribution = reference(*[float(np.float32(p)) for p in parameters])
        assert (k == np.round(k)).all()
        assert chi_square(k, distribution) > ALARM, parameters
        assert moments(k, distribution) > ALARM, parameters
        if distribution.var() == 0:
            assert (k == distribution.mean()).all()


@pytest.mark.parametrize("name", ["poisson", "binomial"])
def test_regimes_agree(name):
    """Parameters known in advance choose a shorter program, and the same numbers."""
    few, many = {"poisson": ((2.0,), (50.0,)), "binomial": ((20, 0.1), (300, 0.4))}[name]
    draw = getattr(random, name)
    for parameters in (few, many):
        here = draw(KEY, *parameters, (500,))
        hidden = xc.jit(lambda *p: draw(KEY, *p, (500,)))(*parameters)
        assert np.array_equal(here, hidden)


def test_large_counts_are_exact():
    """Counts beyond 2^24, the whole numbers of float32, have no gaps between them."""
    k = np.asarray(random.poisson(KEY, 1e8, (N,)))
    assert k.dtype == np.int32 and chi_square(k, stats.poisson(1e8)) > ALARM
    assert stats.chisquare(np.bincount(k % 8)).pvalue > ALARM
    k = np.asarray(random.binomial(KEY, 2 * 10**9, 0.25, (N,), "int32"))
    assert stats.chisquare(np.bincount(k % 8)).pvalue > ALARM


def test_counts_at_the_limits():
    lam = xnp.array([0.0, np.nan, 1e12])
    assert random.poisson(KEY, lam).tolist() == [0, -1, 2**31 - 1]
    assert random.poisson(KEY, lam, dtype="uint8").tolist()[0::2] == [0, 255]
    k = xc.jit(lambda n, p: random.binomial(KEY, n, p))(
        xnp.array([5.0, -1.0, 5.0]), xnp.array([np.nan, 0.5, 2.0])
    )
    assert np.isnan(k).all()


# Integers

KEY = random.key(2024)


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
)
def test_randint_has_no_bias(dtype):
    """Ranges of three quarters of all integers: by one remainder the first third would come twice as often."""
    info = np.iinfo(dtype)
    low, third = int(info.min), 2 ** (8 * np.dtype(dtype).itemsize - 2)
    x = np.asarray(random.randint(KEY, (N,), low, low + 3 * third, dtype))
    counts = np.bincount(((x.astype(object) - low) // third).astype(int), minlength=3)
    assert len(counts) == 3 and stats.chisquare(counts).pvalue > ALARM


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_randint_reaches_its_bounds(dtype):
    info = np.iinfo(dtype)
    top = np.asarray(random.randint(KEY, (5000,), info.max - 3, int(info.max) + 1, dtype))
    assert set(top.tolist()) == {int(info.max) - i for i in range(4)}
    whole = np.asarray(
        random.randint(KEY, (5000,), int(info.min), int(info.max) + 1, dtype)
    ).astype(float)
    assert (
        stats.kstest(
            (whole - float(info.min)) / 2.0 ** (8 * whole.itemsize if info.bits > 8 else 8),
            "uniform",
        ).pvalue
        > 1e-9
    )


def test_randint_over_arrays_of_bounds():
    low, high = xnp.array([0, -5, 10]), xnp.array([[2], [100]])
    x = np.asarray(random.randint(KEY, (4000, 2, 3), low, high + 11))
    assert (x >= np.asarray(low)).all() and (x < np.asarray(high) + 11).all()
    assert (x.min(axis=0) == np.broadcast_to(np.asarray(low), (2, 3))).all()
    counts = np.bincount(x[:, 0, 0])
    assert len(counts) == 13 and stats.chisquare(counts).pvalue > ALARM


def test_bernoulli_and_signs():
    for mode in ("low", "high"):
        x = np.asarray(random.bernoulli(KEY, xnp.array([0.0, 0.2, 1.0]), (N, 3), mode=mode))
        assert not x[:, 0].any() and x[:, 2].all()
        assert stats.binomtest(int(x[:, 1].sum()), N, float(np.float32(0.2))).pvalue > ALARM
    signs = np.asarray(random.rademacher(KEY, (N,), "float32"))
    assert (
        set(signs.tolist()) == {1.0, -1.0}
        and stats.binomtest(int((signs > 0).sum()), N).pvalue > ALARM
    )


@pytest.mark.parametrize("mode", ["low", "high"])
def test_categorical(mode):
    p = np.array([[0.1, 0.2, 0.0, 0.7], [0.25, 0.25, 0.25, 0.25]])
    with np.errstate(divide="ignore"):
        logits = np.log(p).astype(np.float32)
    x = np.asarray(random.categorical(KEY, logits, shape=(N, 2), mode=mode))
    for i in range(2):
        expected = p[i][p[i] > 0] * N
        assert stats.chisquare(np.bincount(x[:, i], minlength=4)[p[i] > 0], expected).pvalue > ALARM
    distinct = np.asarray(random.categorical(KEY, logits[1], shape=(3,), replace=False, mode=mode))
    assert len(set(distinct.tolist())) == 3


# Vectors


def test_dirichlet():
    alpha = np.array([0.2, 1.0, 5.0])
    x = np.asarray(random.dirichlet(KEY, alpha, (N,)), float)
    np.testing.assert_allclose(x.sum(axis=-1), 1, atol=1e-6)
    for i in range(3):
        assert ks(x[:, i], stats.beta(alpha[i], alpha.sum() - alpha[i])) > ALARM
    tiny = np.asarray(random.dirichlet(KEY, xnp.full(4, 1e-4), (100,)))
    assert np.isfinite(tiny).all() and (tiny.max(axis=-1) > 0.999).all()


@pytest.mark.parametrize("method", ["cholesky", "eigh", "svd"])
def test_multivariate_normal(method):
    mean, cov = (
        np.array([1.0, -2.0, 0.0]),
        np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]]),
    )
    x = np.asarray(random.multivariate_normal(KEY, mean, cov, (N,), "float64", method))
    white = np.linalg.solve(np.linalg.cholesky(cov), (x - mean).T)
    assert stats.kstest((white**2).sum(axis=0), stats.chi2(3).cdf).pvalue > ALARM
    for row in white:
        assert ks(row, stats.norm) > ALARM


def test_multivariate_normal_of_low_rank():
    cov = xnp.array([[1.0, 1.0], [1.0, 1.0]])
    x = np.asarray(random.multivariate_normal(KEY, xnp.zeros(2), cov, (50,), method="svd"))
    np.testing.assert_allclose(x[:, 0], x[:, 1], atol=1e-3)
    batch = random.multivariate_normal(KEY, xnp.zeros((4, 1, 2)), xnp.stack([xnp.eye(2)] * 3))
    assert batch.shape == (4, 3, 2)


def test_multinomial():
    n, p = 100, np.array([0.05, 0.25, 0.3, 0.4])
    x = np.asarray(random.multinomial(KEY, n, p, shape=(N, 4)), float)
    assert (x.sum(axis=-1) == n).all()
    for i in range(4):
        assert chi_square(x[:, i], stats.binom(n, p[i])) > ALARM
    draw = functools.partial(
        random.multinomial,
        KEY,
        xnp.array([0, 7]),
        xnp.array([[1.0, 0.0], [0.5, 0.5]]),
        dtype="int32",
    )
    many = draw()
    assert (draw(unroll=2) == many).all()
    assert many.dtype == xnp.int32 and many.sum(axis=1).tolist() == [0, 7]


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_orthogonal(dtype):
    q = np.asarray(random.orthogonal(KEY, 3, (2000,), dtype))
    eye = np.einsum("kij,klj->kil", q, q.conj())
    np.testing.assert_allclose(eye, np.broadcast_to(np.eye(3), eye.shape), atol=2e-6)
    # the square of an entry of a matrix of Haar's measure is a beta variate
    half = 1 if dtype == "complex64" else 0.5
    assert ks(np.abs(q[:, 0, 2]) ** 2, stats.beta(half, 2 * half)) > ALARM
    tall, wide = random.orthogonal(KEY, 4, m=2), random.orthogonal(KEY, 2, m=4)
    pair = (
        random.orthogonal(KEY, 2, m=3, dtype="complex64"),
        random.orthogonal(KEY, 3, m=2, dtype="complex64"),
    )
    np.testing.assert_array_equal(pair[0], pair[1].T)  # the plain transpose, as JAX's bits are
    assert tall.shape == (4, 2) and wide.shape == (2, 4)
    np.testing.assert_allclose(wide @ wide.T, np.eye(2), atol=1e-6)


def test_ball_and_sphere():
    for p in (0.7, 2.0):
        x = np.asarray(random.ball(KEY, 3, p, (N,)), float)
        assert ks((np.abs(x) ** p).sum(axis=-1) ** (3 / p), stats.uniform) > ALARM
    x = np.asarray(random.sphere(KEY, 3, (N,)), float)
    np.testing.assert_allclose((x * x).sum(axis=-1), 1, atol=1e-6)
    assert ks(x[:, 1], stats.uniform(-1, 2)) > ALARM


# Rejection: small and large draws


@pytest.fixture
def as_users_compile():
    """Programs that are compiled in haste, as in these tests, round otherwise in a batch."""
    with xc.config.override(disable_most_optimizations=False):
        yield


@pytest.mark.parametrize(
    ("name", "parameters", "impl"),
    [("gamma", (1.5,), "philox4x32"), ("poisson", (12.0,), "threefry2x32")],
)
def test_a_large_draw_is_its_small_ones(name, parameters, impl, as_users_compile):
    """Large draws gather the elements that were rejected: each must get back its own value."""
    draw, key, n = getattr(random, name), random.key(8, impl=impl), 70001
    large = np.asarray(draw(key, *parameters, (n,)))
    assert np.array_equal(draw(key, *parameters, (1000,)), large[:1000])
    keys = random.split(key, 2)[1:]
    alone = draw(keys[0], *parameters, (n,))
    assert np.array_equal(xc.vmap(lambda k: draw(k, *parameters, (n,)))(keys)[0], alone)
    spread = [
        xnp.full((n,), p) for p in parameters
    ]  # what is made of them may be rounded otherwise
    mapped = xc.vmap(lambda k: draw(k, *spread))(keys)[0]
    np.testing.assert_allclose(mapped, alone, rtol=1e-6)


ALONE_AND_IN_A_BATCH = {
    "normal": (), "uniform": (), "exponential": (), "laplace": (), "gumbel": (), "cauchy": (), "logistic": (),
    "maxwell": (), "double_sided_maxwell": (0.0, 1.0), "truncated_normal": (-1.0, 2.0), "gamma": (1.5,),
    "loggamma": (1.5,), "chisquare": (3.0,), "beta": (2.0, 3.0), "f": (3.0, 4.0), "t": (3.0,), "poisson": (12.0,),
    "binomial": (20.0, 0.3), "geometric": (0.2,), "pareto": (2.0,), "rayleigh": (1.0,), "wald": (2.0,),
    "weibull_min": (1.0, 2.0), "generalized_normal": (1.5,),
}  # fmt: skip


@pytest.mark.parametrize("impl", ["threefry2x32", "philox4x32"])
@pytest.mark.parametrize("name", ALONE_AND_IN_A_BATCH)
def test_a_number_depends_on_its_key_and_its_place_alone(name, impl, as_users_compile):
    """To the last bit, as the page on reproducibility says: in a batch of keys, and first of many."""
    draw = lambda k, n: getattr(random, name)(k, *ALONE_AND_IN_A_BATCH[name], shape=(n,))
    keys = random.split(random.key(7, impl=impl), 3)
    many = np.asarray(draw(keys[1], 1000))
    np.testing.assert_array_equal(xc.vmap(lambda k: draw(k, 1000))(keys)[1], many)
    np.testing.assert_array_equal(draw(keys[1], 5), many[:5])


@pytest.mark.parametrize("density", [0.0, 0.003, 0.4, 1.0])
def test_positions_of_marks(density):
    from xcore.random._rejection import Marks

    marked = np.random.default_rng(0).random(1237) < density
    marked[-1] |= density > 0

    @xc.jit
    def positions(marked):
        marks = Marks(marked)
        return marks.total, marks.position(xnp.arange(1237))

    total, place = positions(marked)
    assert int(total) == marked.sum()
    assert np.array_equal(np.asarray(place)[: marked.sum()], np.flatnonzero(marked))


# Dtypes and parameters


# 16 bits: normal numbers are made of words of that size, all others rounded from float32
DTYPES = [
    *[(name, "float64") for name in (
        "exponential", "gumbel", "normal", "gamma", "t", "von_mises", "truncated_normal")],
    *[(name, dtype) for name in ("normal", "truncated_normal") for dtype in ("float16", "bfloat16")],
]  # fmt: skip


@pytest.mark.parametrize(("name", "dtype"), DTYPES)
def test_every_floating_dtype(name, dtype):
    parameters = {
        "gamma": (2.0,),
        "t": (5.0,),
        "von_mises": (0.0, 1.0),
        "truncated_normal": (-1.0, 4.0),
    }
    x = np.asarray(getattr(random, name)(KEY, *parameters.get(name, ()), (2000,), dtype))
    assert x.dtype == dtype and np.isfinite(x.astype(float)).all()
    assert len(np.unique(x)) > (100 if dtype != "float64" else 1990)


def test_dtype_of_the_result():
    assert random.gamma(KEY, 2.0).dtype == np.float32
    assert random.gamma(KEY, xnp.float64(2.0)).dtype == np.float64
    assert random.gamma(KEY, xnp.asarray(2.0, "float16")).dtype == np.float32
    assert random.poisson(KEY, 2.0).dtype == np.int32
    with xc.config.override(default_bits=64):
        assert random.gamma(KEY, 2.0).dtype == np.float64
        assert random.poisson(KEY, 2.0).dtype == np.int64
        assert random.permutation(KEY, 3).dtype == np.int64


def test_parameters_broadcast():
    assert random.beta(KEY, xnp.ones(3), xnp.ones((2, 1))).shape == (2, 3)
    assert random.normal(KEY).shape == random.gamma(KEY, 1.0).shape == ()
    assert random.gamma(KEY, xnp.zeros((0, 3)) + 1).shape == (0, 3)
    assert random.poisson(KEY, xnp.ones(3), (5, 3)).shape == (5, 3)


MISTAKES = [
    (lambda: random.gamma(KEY, -1.0), "a must be non-negative, given -1"),
    (lambda: random.gamma(KEY, xnp.array([1.0, -2.0])), "a must be non-negative, given -2"),
    (lambda: random.beta(KEY, 0.0, 1.0), "a must be positive, given 0"),
    (lambda: random.dirichlet(KEY, 1.0), "at least one-dimensional"),
    (lambda: random.t(KEY, -3), "df must be positive"),
    (lambda: random.poisson(KEY, -0.5), "lam must be non-negative"),
    (lambda: random.binomial(KEY, 5, 1.5), r"p must be a probability, in \[0, 1\], given 1.5"),
    (lambda: random.bernoulli(KEY, -0.1), "p must be a probability"),
    (lambda: random.bernoulli(KEY, 0.5, mode="fast"), "'low' or 'high'"),
    (lambda: random.geometric(KEY, 2.0), "p must be a probability"),
    (lambda: random.wald(KEY, 0.0), "mean must be positive"),
    (lambda: random.von_mises(KEY, 0.0, -1.0), "kappa must be non-negative"),
    (lambda: random.gamma(KEY, 2j), "real numbers"),
    (lambda: random.gamma(KEY, xnp.ones(3), (2,)), "does not broadcast|cannot be broadcast"),
    (lambda: random.gamma(KEY, 1.0, dtype="int32"), "only floating"),
    (lambda: random.poisson(KEY, 1.0, dtype="float32"), "only integer"),
    (lambda: random.multivariate_normal(KEY, xnp.zeros(2), xnp.eye(3)), "vectors"),
    (lambda: random.multivariate_normal(KEY, xnp.zeros(2), xnp.eye(2), method="lu"), "cholesky"),
    (lambda: random.categorical(KEY, xnp.zeros(3), shape=(5,), replace=False), "5 distinct draws"),
    (lambda: random.categorical(KEY, xnp.zeros((2, 3)), shape=(3,)), "must end in"),
    (lambda: random.ball(KEY, 0), "at least 1"),
    (lambda: random.permutation(KEY, 10, axis=3), "axis"),
    (lambda: random.triangular(KEY, 0, 5, 3), "mode must not be larger than right, given 5 and 3"),
    (
        lambda: random.triangular(KEY, xnp.array([0.0, 2.0]), 1, 3),
        "left must not be .* given 2 and 1",
    ),
    (lambda: random.truncated_normal(KEY, 2.0, xnp.array([3, 1])), "lower must .* given 2 and 1"),
    (
        lambda: random.default_rng(0).normal(0.0, -1.0),
        "normal: scale must be non-negative, given -1",
    ),
    (lambda: random.default_rng(0).lognormal(0.0, -1.0), "sigma must be non-negative"),
    (
        lambda: random.default_rng(0).gamma(1.0, xnp.array([2.0, -1.0])),
        "gamma: scale must be non-negative",
    ),
    (lambda: random.default_rng(0).exponential(-2.0), "exponential: scale must be non-negative"),
]


@pytest.mark.parametrize(("call", "message"), MISTAKES)
def test_mistakes_are_explained(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


# Independence


@pytest.mark.parametrize("impl", IMPLS)
def test_streams_are_independent(impl):
    """Words of sibling, parent and neighbouring keys: no bit of one agrees with one of another too often."""
    root = random.key(0, impl=impl)
    keys = [root, *random.split(root, 3), random.key(1, impl=impl), random.fold_in(root, 2**31)]
    n = 4000
    bits = np.stack([np.unpackbits(np.asarray(random.bits(k, (n,))).view(np.uint8)) for k in keys])
    agree = (bits[:, None] == bits[None, :]).reshape(len(keys), len(keys), n, 32).sum(axis=2)
    for i in range(len(keys)):
        for j in range(i):
            z = (agree[i, j] - n / 2) / np.sqrt(n / 4)
            assert stats.chi2.sf((z**2).sum(), 32) > ALARM, (i, j)


def test_draws_for_different_purposes_are_independent():
    """Attempts at an element share nothing with the elements and children of the same key."""
    from xcore.random._streams import STREAMS, halves

    for name, stream in STREAMS.items():
        key = tuple(np.uint32(w) for w in (7, 9))
        number = halves(xnp.arange(1000, dtype="uint32"))
        drawn = [
            stream.elements(key, number, 32), *stream.child(key, number),
            *[w for t in (0, 1) for w in stream.pair(key, number, np.uint32(t), 32)],
        ]  # fmt: skip
        words = np.concatenate([np.asarray(w) for w in drawn])
        if name == "threefry2x32":  # its elements are made of its children's words, as in jax
            assert np.array_equal(words[:1000], words[1000:2000] ^ words[2000:3000])
        assert len(np.unique(words)) >= len(words) - 2


# What only generators with a state have

SCARCE = {
    "power": ((2.5,), stats.powerlaw(2.5)),
    "noncentral_chisquare": ((0.7, 3.0), stats.ncx2(0.7, 3.0)),
    "noncentral_f": ((3.0, 7.0, 2.0), stats.ncf(3.0, 7.0, 2.0)),
    "logseries": ((0.9,), stats.logser(0.9)),
    "zipf": ((1.3,), stats.zipf(1.3)),
}


@pytest.mark.parametrize("name", SCARCE)
def test_methods_of_numpy_s_generators(name):
    """Counts fall into the cells of the distribution as often as they should."""
    parameters, reference = SCARCE[name]
    x = np.asarray(getattr(random.default_rng(5), name)(*parameters, size=20000)).astype(float)
    assert x.shape == (20000,)
    edges = (
        np.arange(1, 9) if name in ("logseries", "zipf") else reference.ppf(np.arange(1, 16) / 16)
    )
    expected = np.diff(reference.cdf(edges), prepend=0.0, append=1.0)
    found = np.diff([np.count_nonzero(x <= e) for e in edges], prepend=0, append=x.size)
    assert stats.chisquare(found, expected * x.size).pvalue > ALARM


def test_parameters_of_scarce_distributions():
    rng = random.default_rng(0)
    assert (np.asarray(rng.logseries(0.0, 50)) == 1).all()
    assert (np.asarray(rng.zipf(1.01, 200)) >= 1).all()
    assert rng.zipf(np.array([2.0, 3.0])).shape == (2,)
    for draw in (lambda: rng.zipf(1.0), lambda: rng.logseries(1.0), lambda: rng.power(0.0)):
        with pytest.raises(ValueError, match="must be"):
            draw()


def test_parameters_that_are_numbers_are_not_float64_in_programs():
    """They are checked with all their digits, and rounded on the host."""
    key = random.key(0)
    for f in (lambda k: random.gamma(k, 2.3), lambda k: random.beta(k, 2.3, 0.4)):
        assert "f64" not in xc.jit(f).lower(key).as_text()
    for a in (1e-60, 2.3, 1e60, float("nan")):
        plain, traced = (
            random.gamma(key, a),
            random.gamma(key, xnp.asarray(a, "float64"), dtype="float32"),
        )
        assert np.array_equal(plain, traced, equal_nan=True)


@pytest.mark.parametrize(
    "low, high", [(1000.0, 1001.0), (5, 6), (-1001, -1000), (1.0, 1.0000005), (-1, 1)]
)
def test_uniform_numbers_are_below_their_upper_bound(low, high):
    drawn = np.asarray(xc.random.uniform(xc.random.key(1), (10**6,), minval=low, maxval=high))
    assert drawn.min() >= np.float32(low)
    assert drawn.max() < np.float32(high)
    same = xc.random.uniform(xc.random.key(1), (9,), minval=low, maxval=low)
    np.testing.assert_array_equal(same, np.full(9, low, np.float32))
