"""NumPy's ``Generator``, with a state, on the functions of keys."""

# Checkers do not see: arrays, tracers, NumPy's arrays and numbers stand for each other.
# pyright: reportReturnType=false

from __future__ import annotations

import functools
import warnings

import numpy as np

from .. import numpy as xnp
from .._core import Array, Tracer, boundary, dtypes, errors, is_evaluating, nodes, typeof
from .._core.source import stack_level
from .._core.trace import is_repeated
from .._core.typing import ArrayLike, DTypeLike, Key, Shape
from ..numpy._promote import as_array
from . import (
    _continuous,
    _counts,
    _gamma,
    _hypergeometric,
    _integers,
    _permute,
    _uncommon,
    _uniform,
    _vectors,
)
from ._keys import KeyArray, as_keys, fold_in, is_key, key, split
from ._source import check_sum_is_one, nonnegative, positive, positive_finite


def _like_numpy(cls):
    """Lists are arrays to NumPy's generators, and so they are to all methods of this class."""
    for name, method in list(vars(cls).items()):
        if not name.startswith("_"):
            setattr(cls, name, _of_lists(method))
    return cls


def _of_lists(method):
    @functools.wraps(method)
    def call(self, *args, **named):
        for name, value in named.items():
            if isinstance(value, list) and name != "size":
                named[name] = np.asarray(value)
        return method(self, *[np.asarray(x) if isinstance(x, list) else x for x in args], **named)

    return call


_FROZEN = (
    "xcore.random.Generator: the numbers that are drawn here are constants of what is traced: every call of a jitted "
    "function, step of a loop and element of vmap gets the same ones. Pass the generator in and return it, or "
    "give keys, one for each: random.split(key, n)."
)


@_like_numpy
class Generator:
    """Random numbers one after the other: each call uses a new part of the stream.

    The state is a key and the number of calls so far, and it is a pytree: passed into a jitted
    function the generator goes on inside, and the function must return it to take its state out
    again. Methods and arguments are those of ``numpy.random.Generator``, ``size`` included.

    >>> import xcore as xc
    >>> rng = xc.random.default_rng(0)
    >>> x, y = rng.normal(size=3), rng.normal(size=3)
    >>> bool((x == y).any())
    False
    """

    __slots__ = ("_calls", "_key", "_outside")

    def __init__(self, key: KeyArray, calls: int | Array = 0) -> None:
        self._key, self._calls, self._outside = key, calls, is_evaluating()

    def __repr__(self):
        return f"Generator({self._key._stream.name})"

    def key(self) -> KeyArray:
        """A new key, to call a function of xcore.random with."""
        if self._outside and is_repeated():
            warnings.warn(_FROZEN, stacklevel=stack_level())
        now, self._calls = self._calls, self._calls + 1
        return fold_in(self._key, now)

    def spawn(self, n_children: int) -> list[Generator]:
        """New generators whose numbers are independent of this one's and each other's."""
        return [Generator(k) for k in split(self.key(), n_children)]

    # Integers and uniform

    def integers(
        self, low: ArrayLike, high: ArrayLike | None = None, size: int | Shape | None = None,
        dtype: DTypeLike | None = None, endpoint: bool = False,
    ) -> Array:  # fmt: skip
        """Integers in [low, high), or in [0, low); ``endpoint`` includes the upper bound."""
        low, high = (0, low) if high is None else (low, high)
        high = _beyond(high) if endpoint else high
        _check_range(low, high)
        shape = _shape_of(size, low, high)
        who = "random.Generator.integers"
        return _integers.draw_between(who, self.key(), shape, dtype, low=low, high=high)

    def random(self, size: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
        """Uniform numbers in [0, 1)."""
        return _uniform.uniform(self.key(), _shape_of(size), dtype)

    def bytes(self, length: int) -> bytes:
        """Random bytes."""
        return np.asarray(_uniform.bits(self.key(), (length,), "uint8")).tobytes()

    def uniform(
        self, low: ArrayLike = 0.0, high: ArrayLike = 1.0, size: int | Shape | None = None,
        dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """Uniform numbers in [low, high)."""
        return _uniform.uniform(self.key(), _shape_of(size, low, high), dtype, low, high)

    # Permutations

    def permutation(self, x: ArrayLike, axis: int = 0) -> Array:
        """x in random order along an axis, slices kept whole; an integer stands for 0 … x - 1."""
        return _permute.permutation(self.key(), x, axis)

    def permuted(self, x: ArrayLike, axis: int | None = None) -> Array:
        """x with every line along the axis in an order of its own; without axis all elements."""
        if axis is None:
            x = as_array("random.Generator.permuted", x, "x")
            return _permute.permutation(self.key(), x.ravel()).reshape(typeof(x).shape)
        return _permute.permutation(self.key(), x, axis, independent=True)

    def shuffle(self, x: ArrayLike, axis: int = 0):
        """There to say that arrays are not changed in place."""
        raise TypeError(
            "xcore.random.Generator.shuffle: arrays do not change in place. Use x = rng.permutation(x, axis)."
        )

    def choice(
        self, a: ArrayLike, size: int | Shape | None = None, replace: bool = True,
        p: ArrayLike | None = None, axis: int = 0, shuffle: bool = True,
    ) -> Array:  # fmt: skip
        """Random elements of an array, or of 0 … a - 1; the probabilities p have the sum 1.

        The order is random too, also where ``shuffle=False`` says that it need not be.
        """
        if p is not None:
            check_sum_is_one("Generator.choice", nonnegative("p", p).checked("Generator.choice"))
        return _permute.choice(self.key(), a, _shape_of(size), replace, p, axis)

    # Location and scale

    def standard_normal(
        self, size: int | Shape | None = None, dtype: DTypeLike | None = None
    ) -> Array:
        """Normal numbers with mean 0 and variance 1."""
        return _uniform.normal(self.key(), _shape_of(size), dtype)

    def normal(
        self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: int | Shape | None = None,
        dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """Normal numbers with mean loc and standard deviation scale."""
        return self._scaled_draw("normal", _uniform.normal, loc, scale, size, dtype)

    def laplace(
        self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: int | Shape | None = None,
        dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """Laplace numbers: density e^(-|x - loc| / scale) / (2 scale)."""
        return self._scaled_draw("laplace", _continuous.laplace, loc, scale, size, dtype)

    def logistic(
        self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: int | Shape | None = None,
        dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """Logistic numbers with centre loc."""
        return self._scaled_draw("logistic", _continuous.logistic, loc, scale, size, dtype)

    def gumbel(
        self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: int | Shape | None = None,
        dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """Gumbel numbers with mode loc."""
        return self._scaled_draw("gumbel", _continuous.gumbel, loc, scale, size, dtype)

    def _scaled_draw(self, who: str, draw, loc, scale, size, dtype):
        scale = _width(who, scale)
        return loc + scale * draw(self.key(), _shape_of(size, loc, scale), dtype)

    def standard_exponential(
        self, size: int | Shape | None = None, dtype: DTypeLike | None = None
    ) -> Array:
        """Exponential numbers with mean 1."""
        return _continuous.exponential(self.key(), _shape_of(size), dtype)

    def exponential(
        self, scale: ArrayLike = 1.0, size: int | Shape | None = None,
        dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """Exponential numbers with mean scale."""
        scale = _width("exponential", scale)
        return scale * _continuous.exponential(self.key(), _shape_of(size, scale), dtype)

    def standard_cauchy(
        self, size: int | Shape | None = None, dtype: DTypeLike | None = None
    ) -> Array:
        """Cauchy numbers."""
        return _continuous.cauchy(self.key(), _shape_of(size), dtype)

    def lognormal(
        self, mean: ArrayLike = 0.0, sigma: ArrayLike = 1.0, size: int | Shape | None = None,
        dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """e to the power of normal numbers with this mean and standard deviation."""
        sigma = _width("lognormal", sigma, "sigma")
        return xnp.exp(self.normal(mean, sigma, size, dtype))

    def rayleigh(
        self, scale: ArrayLike = 1.0, size: int | Shape | None = None,
        dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """Lengths of normal vectors in the plane."""
        return _continuous.rayleigh(self.key(), scale, _shape_of(size, scale), dtype)

    def weibull(
        self, a: ArrayLike, size: int | Shape | None = None, dtype: DTypeLike | None = None
    ) -> Array:
        """Weibull numbers with exponent a and scale 1."""
        return _continuous.weibull_min(self.key(), 1.0, a, _shape_of(size, a), dtype)

    def pareto(
        self, a: ArrayLike, size: int | Shape | None = None, dtype: DTypeLike | None = None
    ) -> Array:
        """Lomax numbers, Pareto's less 1, as NumPy's method of this name gives."""
        return _continuous.pareto(self.key(), a, _shape_of(size, a), dtype) - 1

    def power(
        self, a: ArrayLike, size: int | Shape | None = None, dtype: DTypeLike | None = None
    ) -> Array:
        """Numbers in (0, 1) with density a x^(a-1)."""
        return _uncommon.power(self.key(), a, _shape_of(size, a), dtype)

    def triangular(
        self, left: ArrayLike, mode: ArrayLike, right: ArrayLike, size: int | Shape | None = None,
        dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """Numbers with a triangular density."""
        return _continuous.triangular(
            self.key(), left, mode, right, _shape_of(size, left, mode, right), dtype
        )

    def wald(
        self, mean: ArrayLike, scale: ArrayLike, size: int | Shape | None = None,
        dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """Inverse Gaussian numbers."""
        _finite("wald", mean=mean, scale=scale)
        scale = _positive("wald", scale)
        relative = _positive("wald", mean, "mean") / scale  # pyright: ignore[reportOperatorIssue]
        return scale * _continuous.wald(self.key(), relative, _shape_of(size, mean, scale), dtype)

    def vonmises(
        self, mu: ArrayLike, kappa: ArrayLike, size: int | Shape | None = None,
        dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """Angles in [-π, π) with mean mu and concentration kappa."""
        return _continuous.von_mises(self.key(), mu, kappa, _shape_of(size, mu, kappa), dtype)

    # Gamma family

    def standard_gamma(
        self, shape: ArrayLike, size: int | Shape | None = None, dtype: DTypeLike | None = None
    ) -> Array:
        """Gamma numbers with this shape parameter and scale 1."""
        return _gamma.gamma(self.key(), shape, _shape_of(size, shape), dtype)

    def gamma(
        self, shape: ArrayLike, scale: ArrayLike = 1.0, size: int | Shape | None = None,
        dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """Gamma numbers with this shape parameter and scale."""
        scale = _width("gamma", scale)
        return scale * _gamma.gamma(self.key(), shape, _shape_of(size, shape, scale), dtype)

    def beta(
        self, a: ArrayLike, b: ArrayLike, size: int | Shape | None = None,
        dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """Beta numbers."""
        return _gamma.beta(self.key(), a, b, _shape_of(size, a, b), dtype)

    def chisquare(
        self, df: ArrayLike, size: int | Shape | None = None, dtype: DTypeLike | None = None
    ) -> Array:
        """Chi-square numbers."""
        return _gamma.chisquare(self.key(), df, _shape_of(size, df), dtype)

    def noncentral_chisquare(
        self, df: ArrayLike, nonc: ArrayLike, size: int | Shape | None = None,
        dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """Sums of squares of df normal numbers whose squared means add up to nonc."""
        shape = _shape_of(size, df, nonc)
        return _uncommon.noncentral_chisquare(self.key(), df, nonc, shape, dtype)

    def noncentral_f(
        self, dfnum: ArrayLike, dfden: ArrayLike, nonc: ArrayLike, size: int | Shape | None = None,
        dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """Quotients of a non-central and a central chi-square mean."""
        shape = _shape_of(size, dfnum, dfden, nonc)
        return _uncommon.noncentral_f(self.key(), dfnum, dfden, nonc, shape, dtype)

    def standard_t(
        self, df: ArrayLike, size: int | Shape | None = None, dtype: DTypeLike | None = None
    ) -> Array:
        """Student's t numbers."""
        return _gamma.t(self.key(), df, _shape_of(size, df), dtype)

    def f(
        self, dfnum: ArrayLike, dfden: ArrayLike, size: int | Shape | None = None,
        dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """F numbers."""
        return _gamma.f(self.key(), dfnum, dfden, _shape_of(size, dfnum, dfden), dtype)

    def dirichlet(
        self, alpha: ArrayLike, size: int | Shape | None = None, dtype: DTypeLike | None = None
    ) -> Array:
        """Dirichlet vectors."""
        return _gamma.dirichlet(
            self.key(), as_array("random.Generator.dirichlet", alpha), _or_none(size), dtype
        )

    # Counts

    def poisson(
        self, lam: ArrayLike = 1.0, size: int | Shape | None = None, dtype: DTypeLike | None = None
    ) -> Array:
        """Poisson counts. Counts that the dtype cannot hold are refused as far as they are known."""
        _check_counts("poisson", lam, _integer(dtype))
        return _counts.poisson(self.key(), lam, _shape_of(size, lam), dtype)

    def binomial(
        self, n: ArrayLike, p: ArrayLike, size: int | Shape | None = None,
        dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """Binomial counts."""
        return _counts.binomial(self.key(), n, p, _shape_of(size, n, p), _integer(dtype))

    def negative_binomial(
        self, n: ArrayLike, p: ArrayLike, size: int | Shape | None = None,
        dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """Failures before the n-th success."""
        return _counts.negative_binomial(self.key(), n, p, _shape_of(size, n, p), dtype)

    def geometric(
        self, p: ArrayLike, size: int | Shape | None = None, dtype: DTypeLike | None = None
    ) -> Array:
        """Trials up to the first success."""
        return _integers.geometric(self.key(), p, _shape_of(size, p), dtype)

    def logseries(
        self, p: ArrayLike, size: int | Shape | None = None, dtype: DTypeLike | None = None
    ) -> Array:
        """Counts k from 1 on, of probability proportional to p^k / k."""
        return _uncommon.logseries(self.key(), p, _shape_of(size, p), dtype)

    def zipf(
        self, a: ArrayLike, size: int | Shape | None = None, dtype: DTypeLike | None = None
    ) -> Array:
        """Counts k from 1 on, of probability proportional to k^-a."""
        return _uncommon.zipf(self.key(), a, _shape_of(size, a), dtype)

    def multinomial(
        self, n: ArrayLike, pvals: ArrayLike, size: int | Shape | None = None,
        dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """How often each category comes in n draws."""
        pvals = as_array("random.Generator.multinomial", pvals)
        shape = None if size is None else (*_shape_of(size), typeof(pvals).shape[-1])
        return _counts.multinomial(self.key(), n, pvals, shape=shape, dtype=_integer(dtype))

    def hypergeometric(
        self, ngood: ArrayLike, nbad: ArrayLike, nsample: ArrayLike,
        size: int | Shape | None = None, dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """How many of nsample drawn without replacement from ngood + nbad are good."""
        shape = _shape_of(size, ngood, nbad, nsample)
        return _hypergeometric.hypergeometric(self.key(), ngood, nbad, nsample, shape, dtype)

    def multivariate_hypergeometric(
        self, colors: ArrayLike, nsample: ArrayLike, size: int | Shape | None = None,
        method: str = "marginals", dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """How many of each colour nsample drawn without replacement are; both methods do the same."""
        if method not in ("marginals", "count"):
            raise errors.bad_argument(
                "random.Generator.multivariate_hypergeometric",
                "method",
                method,
                "'marginals' or 'count'",
            )
        shape = None if size is None else (*_shape_of(size), np.shape(colors)[-1])
        return _hypergeometric.multivariate_hypergeometric(
            self.key(), colors, nsample, shape, dtype
        )

    def multivariate_normal(
        self, mean: ArrayLike, cov: ArrayLike, size: int | Shape | None = None, *,
        method: str = "svd", dtype: DTypeLike | None = None,
    ) -> Array:  # fmt: skip
        """Normal vectors with a mean and a covariance."""
        mean, cov = (as_array("random.Generator.multivariate_normal", x) for x in (mean, cov))
        if method == "cholesky":
            _vectors.check_definite("random.Generator.multivariate_normal", cov)
        return _vectors.multivariate_normal(self.key(), mean, cov, _or_none(size), dtype, method)


def _shape_of(size, *parameters) -> tuple:
    """NumPy's ``size``: None stands for the shape of the parameters."""
    if size is None:
        return np.broadcast_shapes(*[np.shape(p) for p in parameters])
    return _or_none(size)


def _beyond(high):
    """One more, which the largest integer of a narrow dtype has no room for."""
    if isinstance(high, np.integer):
        return int(high) + 1
    if isinstance(high, np.ndarray) and high.dtype.kind in "iu" and high.dtype.itemsize < 8:
        high = high.astype(np.int64)
    return high + 1


def _check_range(low, high) -> None:
    """Ranges whose bounds are known have an integer in them."""
    known = not any(isinstance(x, Tracer) for x in (low, high))
    if known and (np.asarray(low) >= np.asarray(high)).any():
        raise ValueError(
            f"xcore.random.Generator.integers: low must be less than high, given {low} and {high}."
        )


def _check_counts(who: str, lam, dtype) -> None:
    """Expected counts that are known leave room for ten standard deviations, as NumPy asks."""
    if isinstance(lam, Tracer):
        return
    lam, most = np.asarray(lam, np.float64), float(np.iinfo(dtype).max)
    if not (lam >= 0).all():
        raise errors.bad_argument(f"random.Generator.{who}", "lam", lam, "numbers of at least 0")
    if lam.size and lam.max() > most - 10 * most**0.5:
        raise ValueError(
            f"xcore.random.Generator.{who}: lam must be less than {most:g}, the most that counts of "
            f"{np.dtype(dtype)} can be, given {lam.max():g}. Pass dtype='int64', or draw from a "
            "normal distribution."
        )


def _width(who: str, scale, name: str = "scale"):
    """A scale, which may be 0. What is known only when the program runs cannot raise, and gives NaN."""
    nonnegative(name, scale).check(f"Generator.{who}")
    return xnp.where(scale >= 0, scale, np.nan) if isinstance(scale, Tracer) else scale


def _positive(who: str, scale, name: str = "scale"):
    """The same for one that must not be 0."""
    positive(name, scale).check(f"Generator.{who}")
    return xnp.where(scale > 0, scale, np.nan) if isinstance(scale, Tracer) else scale


def _finite(who: str, **parameters) -> None:
    """Parameters that are known now are positive and finite: their quotient would not tell which is not."""
    for name, value in parameters.items():
        positive_finite(name, value).check(f"Generator.{who}")


def _integer(dtype):
    return dtypes.default_dtype("int") if dtype is None else dtype


def _or_none(size):
    if size is None:
        return None
    return tuple(size) if np.ndim(size) else (size,)


nodes.register_pytree_node(
    Generator, lambda rng: ((rng._key, rng._calls), None), lambda _, children: Generator(*children)
)


_OF_NUMPYS_STATE = """
    seed rand randn random random_sample ranf sample standard_normal random_integers shuffle RandomState integers
    standard_exponential standard_gamma get_state set_state noncentral_chisquare power vonmises weibull zipf
""".split()


@boundary
def no_such(name: str):
    """Functions of NumPy that draw from a state all share: they are methods of a generator, or take a key."""
    message = f"module 'xcore.random' has no attribute {name!r}"
    if name in _OF_NUMPYS_STATE:
        message += (
            ". No state is shared here: draw from a generator, as with NumPy's, rng = default_rng(42), "
            "rng.normal(size=3); or from a key, normal(key(42), (3,)), which is what jit and vmap want."
        )
    raise AttributeError(message)


def default_rng(seed: int | Key = 0, *, impl: str | None = None) -> Generator:
    """A generator with a state, from a seed or a key.

    Args:
      seed: integer, or a random key.
      impl: name of the generator behind it, as for ``key``.

    >>> import xcore as xc
    >>> rng = xc.random.default_rng(42)
    >>> rng.integers(1, 7, size=5).shape
    (5,)
    """
    if isinstance(seed, Generator):
        return seed
    if is_key(seed):
        return Generator(as_keys("default_rng", seed))
    return Generator(key(seed, impl=impl))
