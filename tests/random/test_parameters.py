"""Parameters that are none: an error where they are known now, NaN (for counts -1) where they are not."""

import functools
import itertools

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import random

KEY = random.key(0)
NAN, INF = np.nan, np.inf

# a distribution, parameters that are fine, and for each of them values that are not
SCALARS = {
    "beta": ((2.0, 3.0), ((0.0, -1.0), (0.0, -1.0))),
    "binomial": ((10.0, 0.3), ((-1.0, 2.5, INF), (-0.1, 1.1))),
    "chisquare": ((3.0,), ((0.0, -1.0),)),
    "double_sided_maxwell": ((0.0, 1.0), ((), (0.0, -1.0))),
    "f": ((3.0, 4.0), ((0.0, -1.0, INF), (0.0, -1.0, INF))),
    "gamma": ((1.0,), ((-1.0,),)),
    "generalized_normal": ((2.0,), ((0.0, -1.0, INF),)),
    "geometric": ((0.3,), ((0.0, -0.5, 1.5),)),
    "loggamma": ((1.0,), ((-1.0,),)),
    "lognormal": ((1.0,), ((-1.0,),)),
    "negative_binomial": ((3.0, 0.4), ((0.0, -1.0, INF), (0.0, -0.1, 1.2))),
    "pareto": ((1.0,), ((0.0, -1.0),)),
    "poisson": ((1.0,), ((-1.0, INF),)),
    "rayleigh": ((1.0,), ((-1.0,),)),
    "t": ((1.0,), ((0.0, -1.0, INF),)),
    "triangular": ((0.0, 1.0, 2.0), ((3.0, -INF), (-1.0, 5.0), (-2.0, INF))),
    "truncated_normal": ((-1.0, 1.0), ((3.0, INF), (-2.0, -INF))),
    "uniform": ((0.0, 1.0), ((2.0, -INF), (-1.0, INF))),
    "von_mises": ((0.0, 1.0), ((INF, -INF), (-1.0, INF))),
    "wald": ((1.0,), ((0.0, -1.0, INF),)),
    "weibull_min": ((1.0, 2.0), ((0.0, -1.0), (0.0, -1.0))),
}  # fmt: skip
COUNTS = {"geometric", "negative_binomial", "poisson"}


def variants(good, bad):
    """The good parameters with one of them replaced, for each value that is bad; with NaN too."""
    return [(*good[:i], v, *good[i + 1 :]) for i, values in enumerate(bad) for v in (*values, NAN)]


def drawn(name, *parameters):
    shape = np.broadcast_shapes(*[np.shape(p) for p in parameters])
    if name == "uniform":
        return random.uniform(KEY, shape, None, *parameters)
    return getattr(random, name)(KEY, *parameters, shape=shape)


@pytest.mark.parametrize("name", SCALARS)
def test_parameters_known_now(name):
    good, bad = SCALARS[name]
    for parameters in variants(good, bad):
        if not np.isnan(parameters).any():
            with pytest.raises(ValueError, match=rf"xcore\.random\.{name}: .* must .* given "):
                drawn(name, *parameters)


@pytest.mark.parametrize("name", SCALARS)
def test_parameters_known_at_run_time(name):
    good, bad = SCALARS[name]
    rows = [good, *variants(good, bad)]
    columns = [xnp.asarray(c, "float32") for c in zip(*rows, strict=True)]
    x = np.asarray(xc.jit(functools.partial(drawn, name))(*columns))
    none = x == -1 if name in COUNTS else np.isnan(x)
    assert none.tolist() == [False] + [True] * (len(rows) - 1), rows


# Vectors

P = [0.2, 0.3, 0.5]
VECTORS = {
    "dirichlet": (random.dirichlet, [1.0, 2.0, 3.0], [[1.0, 0.0, 2.0], [1.0, -1.0, 2.0], [INF, 1.0, 1.0]]),
    "categorical": (random.categorical, [0.0, -INF, 1.0], [[0.0, NAN, 1.0], [0.0, INF, 1.0], [-INF] * 3]),
    "categorical, distinct": (
        functools.partial(random.categorical, shape=(2,), replace=False), [0.0, 2.0, -INF], [[0.0, NAN, 1.0], [0.0, -INF, -INF]]),
    "choice": (
        lambda key, p: random.choice(key, 3, (4,), p=p), [2.0, 0.0, 1.0],
        [[-0.2, 0.7, 0.5], [0.0] * 3, [NAN, 0.3, 0.5], [1.0, INF, 1.0]]),
    "choice, distinct": (
        lambda key, p: random.choice(key, 3, (2,), False, p), [2.0, 0.0, 1.0],
        [[-0.2, 0.7, 0.5], [0.0, 1.0, 0.0]]),
    "choice from an array": (
        lambda key, p: random.choice(key, xnp.arange(3.0), (4,), p=p), [2.0, 0.0, 1.0], [[NAN, 0.3, 0.5]]),
    "multinomial": (lambda key, p: random.multinomial(key, 9, p), P, [[-0.2, 0.7, 0.5]]),
}  # fmt: skip
INTEGERS = {"categorical", "categorical, distinct", "choice", "choice, distinct"}


@pytest.mark.parametrize("name", VECTORS)
def test_vectors_of_parameters(name):
    draw, good, bad = VECTORS[name]
    for p in bad:
        with pytest.raises(ValueError, match=r"must .* given "):
            draw(KEY, xnp.array(p))
    x = np.asarray(xc.jit(xc.vmap(functools.partial(draw, KEY)))(xnp.array([good, *bad])))
    none = x == -1 if name in INTEGERS else np.isnan(x)
    assert not none[0].any() and none[1:].all()


def test_probabilities_have_the_sum_1():
    for draw in (
        lambda p: random.multinomial(KEY, 10, p),
        lambda p: random.default_rng(0).multinomial(10, p),
        lambda p: random.default_rng(0).choice(3, p=p),
    ):
        with pytest.raises(ValueError, match=r"p must have the sum 1, given .* 1\.4\. Divide"):
            draw(np.array([0.2, 0.3, 0.9]))
        draw(xnp.asarray(P, "bfloat16"))  # whose sum is 0.998
    assert (
        random.choice(KEY, 3, (9,), p=np.array([0, 7, 0])).tolist() == [1] * 9
    )  # weights need not
    with pytest.raises(ValueError, match=r"n must be a whole number, at least 0, given 2\.5"):
        random.multinomial(KEY, 2.5, np.array(P))


COVARIANCES = {
    "cholesky": ([[1.0, 0.5], [0.5, 1.0]], [[1.0, 2.0], [2.0, 1.0]]),
    "eigh": ([[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]),
    "svd": ([[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]),
}


@pytest.mark.parametrize("method", COVARIANCES)
def test_covariances(method):
    """Semidefinite ones have numbers except with Cholesky's factor, indefinite ones have none."""
    x = random.multivariate_normal(KEY, xnp.zeros(2), xnp.array(COVARIANCES[method]), method=method)
    assert np.isfinite(x[0]).all() and np.isnan(x[1]).all()
    with pytest.raises(ValueError, match=r"cov must be symmetric, given .* by up to 5"):
        random.multivariate_normal(KEY, xnp.zeros(2), xnp.array([[1.0, 5.0], [0.0, 1.0]]))


def test_what_is_no_error():
    """Documented values, which jax's users rely on."""
    assert random.randint(KEY, (2,), 9, 5).tolist() == [9, 9]
    sure = xc.jit(lambda p: random.bernoulli(KEY, p, (3, 50)))(xnp.array([[1.5], [-0.5], [NAN]]))
    assert np.asarray(sure).all(axis=1).tolist() == [True, False, False] and not sure[1:].any()
    assert random.bernoulli(KEY, NAN) == False  # noqa: E712
    assert (random.uniform(KEY, (3,), None, 2.0, 2.0) == 2).all()


# Generators with a state

METHODS = {
    "normal": ((0.0, 1.0), ((), (-1.0,))),
    "laplace": ((0.0, 1.0), ((), (-1.0,))),
    "logistic": ((0.0, 1.0), ((), (-1.0,))),
    "gumbel": ((0.0, 1.0), ((), (-1.0,))),
    "exponential": ((1.0,), ((-1.0,),)),
    "lognormal": ((0.0, 1.0), ((), (-1.0,))),
    "uniform": ((0.0, 1.0), ((2.0,), (-1.0,))),
    "gamma": ((1.0, 2.0), ((-1.0,), (-1.0,))),
    "wald": ((1.0, 2.0), ((0.0, -1.0, INF), (0.0, -1.0, INF))),
    "power": ((2.0,), ((0.0, -1.0),)),
    "noncentral_chisquare": ((2.0, 1.0), ((0.0,), (-1.0, INF))),
    "noncentral_f": ((2.0, 3.0, 1.0), ((0.0, INF), (0.0, INF), (-1.0, INF))),
    "logseries": ((0.5,), ((-0.1, 1.0),)),
    "zipf": ((2.0,), ((1.0, 0.5),)),
}
OTHERS = {
    "standard_gamma": "gamma", "beta": "beta", "chisquare": "chisquare", "standard_t": "t", "f": "f",
    "pareto": "pareto", "rayleigh": "rayleigh", "triangular": "triangular", "vonmises": "von_mises",
    "poisson": "poisson", "binomial": "binomial", "negative_binomial": "negative_binomial",
    "geometric": "geometric",
}  # fmt: skip


@pytest.mark.parametrize("name", [*METHODS, *OTHERS])
def test_methods_and_parameters_known_now(name):
    good, bad = METHODS.get(name) or SCALARS[OTHERS[name]]
    for parameters in variants(good, bad):
        if not np.isnan(parameters).any():
            with pytest.raises(ValueError, match=r"xcore\.random\.\S+: .* must .* given "):
                getattr(random.default_rng(0), name)(*parameters)


def test_methods_and_parameters_known_at_run_time():
    rows = {name: [good, *variants(good, bad)] for name, (good, bad) in METHODS.items()}

    @xc.jit
    def draw(columns):
        return {name: getattr(random.default_rng(0), name)(*c) for name, c in columns.items()}

    drawn = draw({
        name: [xnp.asarray(c, "float32") for c in zip(*r, strict=True)] for name, r in rows.items()
    })  # fmt: skip
    for name, x in drawn.items():
        none = np.asarray(x) == -1 if name in {"logseries", "zipf"} else np.isnan(np.asarray(x))
        assert none.tolist() == [False] + [True] * (len(rows[name]) - 1), (name, rows[name])


def test_lists_are_arrays_to_generators():
    """As to NumPy's, whose interface they have."""
    rng = random.default_rng(0)
    assert rng.choice([5, 7, 9], size=[2, 3], p=[0.0, 1.0, 0.0]).tolist() == [[7] * 3] * 2
    assert sorted(rng.permutation([3, 1, 2]).tolist()) == [1, 2, 3]
    assert rng.multinomial(3, pvals=[0.5, 0.5]).sum() == 3
    assert rng.dirichlet([1.0, 2.0], 4).shape == (4, 2) and rng.poisson([1, 2, 3]).shape == (3,)
    assert rng.multivariate_normal([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]).shape == (2,)
    assert rng.normal([0.0, 1.0], [[1.0], [2.0]]).shape == (2, 2)
    with pytest.raises(ValueError, match="must"):
        rng.exponential([1.0, -1.0])


def test_ranges_of_integers():
    rng = random.default_rng(0)
    for low, high in itertools.product((5, xnp.array([0, 5])), (5, 3)):
        with pytest.raises(ValueError, match="low must be less than high"):
            rng.integers(low, high)
    assert rng.integers(5, 5, endpoint=True) == 5


# a dtype, bounds that it holds, and bounds of which it holds one less, or one more, or none
HELD = {
    None: ((0, 2**31), (0, 10**10), (-(2**31) - 1, 5), (2**31, 2**31)),
    "int8": ((-128, 128), (0, 1000), (-129, 5), (0, np.int64(129)), (0, np.asarray([3, 300]))),
    "uint8": ((0, 256), (-1, 5), (0, 257), (0, xnp.asarray([3, 300]))),
    "int64": ((0, 2**63), (0, 2**63 + 1), (-(2**63) - 1, 0)),
    "uint64": ((0, 2**64), (0, 2**64 + 1), (xnp.asarray(-1), 5)),
}


@pytest.mark.parametrize("dtype", HELD)
def test_bounds_that_the_dtype_cannot_hold(dtype):
    (low, high), *bad = HELD[dtype]
    x = np.asarray(random.randint(KEY, (200,), low, high, dtype)).astype(object)
    assert low <= x.min() < low + (high - low) // 8 and high - (high - low) // 8 < x.max() < high
    for low, high in bad:
        words = (
            r"xcore\.random\.randint: m..val must be \S+ to \d+, .* given .* Give dtype= another"
        )
        with pytest.raises(ValueError, match=words):
            random.randint(KEY, (2,), low, high, dtype)
        if np.all(np.asarray(low) < np.asarray(high)):
            with pytest.raises(
                ValueError, match=r"Generator\.integers: (low|high) must be \S+ to \d+, "
            ):
                random.default_rng(0).integers(low, high, 2, dtype)


def test_bounds_known_at_run_time_are_moved():
    """As documented: a program cannot raise."""
    x = xc.jit(lambda high: random.randint(KEY, (200,), 0, high, "int8"))(xnp.asarray(1000))
    assert x.min() >= 0 and 120 < x.max() <= 127


@pytest.mark.parametrize(
    "dtype, low, high",
    [
        ("float64", -1e308, 1e308),
        ("float32", -3e38, 3e38),
        ("float16", -4e4, 4e4),
        ("bfloat16", -3e38, 3e38),
    ],
)
def test_distances_that_leave_the_range(dtype, low, high):
    """They are twice those between the halves, which are drawn from the same bits."""
    for draw in (random.uniform, lambda *given: xc.jit(lambda: random.uniform(*given))()):
        x, half = (draw(KEY, (500,), dtype, low / n, high / n) for n in (1, 2))
        x, half = np.asarray(x.astype("float64")), np.asarray(half.astype("float64"))
        np.testing.assert_array_equal(x, 2 * half)
        assert x.min() < 0.97 * low and x.max() > 0.97 * high
    both = xnp.asarray([low, 0.0], dtype), xnp.asarray([high, 1.0], dtype)  # beside an ordinary one
    beside = np.asarray(random.uniform(KEY, (250, 2), dtype, *both).astype("float64"))
    plain = np.asarray(random.uniform(KEY, (250, 2), dtype).astype("float64"))
    assert np.isfinite(beside).all() and (beside[:, 1] == plain[:, 1]).all()


def test_distinct_categories_with_weights():
    """As many as have weights are drawn; more are refused."""
    logits = xnp.asarray([[0.0, -INF, 1.0], [-INF, 0.0, 0.0]])
    assert np.sort(random.categorical(KEY, logits, shape=(2, 2), replace=False), 0).T.tolist() == [
        [0, 2],
        [1, 2],
    ]
    with pytest.raises(ValueError, match=r"logits must have at least 3 categories .* given 2"):
        random.categorical(KEY, logits, shape=(3, 2), replace=False)


@pytest.mark.parametrize("bounds", [(0, 1e39), (0.0, np.inf), (np.nan, 1.0), (-np.inf, 0)])
def test_numbers_that_are_no_bounds_of_uniform(bounds):
    with pytest.raises(ValueError, match=r"m(ax|in)val must be a finite number of float32"):
        random.uniform(random.key(0), (2,), "float32", *bounds)
    if np.isfinite(bounds).all():
        x = random.uniform(random.key(0), (100,), "float64", *bounds)
        assert 0 <= x.min() and x.max() < bounds[1]


@pytest.mark.parametrize("high", [np.int8(127), np.array([127], np.int8), np.uint8(255), 127])
def test_endpoints_of_narrow_integers(high):
    g = random.Generator(random.key(1))
    x = np.asarray(g.integers(0, high, 4000, endpoint=True, dtype=getattr(high, "dtype", None)))
    assert x.min() == 0 and x.max() == np.max(high)
