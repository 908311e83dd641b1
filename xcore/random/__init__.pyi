"""Types of xcore.random. Written by tools/stubs.py."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, overload

import numpy as np

from xcore._core.array import Array
from xcore._core.typing import ArrayLike, Axis, DTypeLike, Key, Shape

from xcore.numpy._types import DType
from xcore.errors import KeyReuseError as KeyReuseError
from xcore.random._generator import Generator as Generator
from xcore.random._generator import default_rng as default_rng
from xcore.random._keys import KeyArray as KeyArray

def key(seed: int | ArrayLike, *, impl: str | None = None, dtype: DTypeLike | None = None) -> Key:
    """A random key from a seed."""
def PRNGKey(seed: int | ArrayLike, *, impl: str | None = None) -> Key:
    """A raw key from a seed: the two words as a plain uint32 array. ``key`` is the newer form."""
def split(key: Key, num: int | Sequence[int] = 2) -> Key:
    """New keys from a key, which should then not be used again."""
def fold_in(key: Key, data: ArrayLike) -> Key:
    """A new key from a key and an integer, such as the number of a step or of a process."""
def clone(key: Key) -> Key:
    """The same key, which may be used once more where ``debug_key_reuse`` is on."""
def key_data(keys: Key) -> Array:
    """The words of keys, a uint32 array with a last axis of length 2."""
def wrap_key_data(key_bits_array: Any, *, impl: str | None = None, dtype: DTypeLike | None = None) -> Key:
    """Typed keys from their words: the reverse of ``key_data``."""
def key_impl(keys: Key) -> str:
    """The name of the generator that keys are for."""
def key_dtype(impl_spec: Any = None) -> Any:
    """The dtype of typed keys for a generator."""
def bits(key: Key, shape: int | Shape = ..., dtype: DTypeLike | None = None) -> Array:
    """Random bits: every value of an unsigned dtype is equally likely."""
def uniform(key: Key, shape: int | Shape = ..., dtype: DTypeLike | None = None, minval: ArrayLike = 0.0, maxval: ArrayLike = 1.0) -> Array:
    """Uniform random numbers in [minval, maxval)."""
def normal(key: Key, shape: int | Shape = ..., dtype: DTypeLike | None = None) -> Array:
    """Standard normal random numbers: mean 0, variance 1."""
def bits_at(key: Key, index: ArrayLike, dtype: DTypeLike | None = None) -> Array:
    """Elements of a key's stream by their positions: what ``bits(key, (n,))[index]`` is for any n."""
def uniform_at(key: Key, index: ArrayLike, dtype: DTypeLike | None = None) -> Array:
    """Elements of ``uniform(key, (n,))`` by their positions, n as large as one likes."""
def normal_at(key: Key, index: ArrayLike, dtype: DTypeLike | None = None) -> Array:
    """Elements of ``normal(key, (n,))`` by their positions, n as large as one likes."""
def randint(key: Key, shape: int | Shape = ..., minval: ArrayLike = 0, maxval: ArrayLike | None = None, dtype: DTypeLike | None = None) -> Array:
    """Random integers in [minval, maxval), all equally likely: no range has a bias."""
def bernoulli(key: Key, p: ArrayLike = 0.5, shape: int | Shape | None = None, mode: str = 'low') -> Array:
    """Truth values that are true with probability p."""
def rademacher(key: Key, shape: int | Shape = ..., dtype: DTypeLike | None = None) -> Array:
    """Random signs: 1 or -1, equally likely."""
def categorical(key: Key, logits: ArrayLike, axis: Axis = -1, shape: int | Shape | None = None, replace: bool = True, mode: str | None = None) -> Array:
    """Random categories with probabilities proportional to e^logits."""
def choice(key: Key, a: int | ArrayLike, shape: int | Shape = ..., replace: bool = True, p: ArrayLike | None = None, axis: int = 0, mode: str | None = None) -> Array:
    """Random elements of an array, or of 0 … a - 1 for an integer a."""
def permutation(key: Key, x: int | ArrayLike, axis: int = 0, independent: bool = False) -> Array:
    """An array in random order, or the numbers 0 … x - 1 for an integer x."""
def geometric(key: Key, p: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """The number of trials up to the first success, of probability p each: 1, 2, 3, …"""
def exponential(key: Key, shape: int | Shape = ..., dtype: DTypeLike | None = None) -> Array:
    """Exponential random numbers of rate 1: density e^-x on x ≥ 0."""
def laplace(key: Key, shape: int | Shape = ..., dtype: DTypeLike | None = None) -> Array:
    """Random numbers of the Laplace distribution: density e^-|x| / 2."""
def cauchy(key: Key, shape: int | Shape = ..., dtype: DTypeLike | None = None) -> Array:
    """Random numbers of the Cauchy distribution: density 1 / (π (1 + x²))."""
def logistic(key: Key, shape: int | Shape = ..., dtype: DTypeLike | None = None) -> Array:
    """Random numbers of the logistic distribution: distribution function 1 / (1 + e^-x)."""
def gumbel(key: Key, shape: int | Shape = ..., dtype: DTypeLike | None = None, mode: str | None = None) -> Array:
    """Random numbers of the Gumbel distribution: distribution function e^-e^-x."""
def lognormal(key: Key, sigma: ArrayLike = 1.0, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """Lognormal random numbers: e^x of normal x with mean 0 and standard deviation sigma."""
def truncated_normal(key: Key, lower: ArrayLike, upper: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """Standard normal random numbers, conditioned on lying between two bounds."""
def generalized_normal(key: Key, p: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """Random numbers with density proportional to e^-|x|^p: p = 2 normal, p = 1 Laplace."""
def maxwell(key: Key, shape: int | Shape = ..., dtype: DTypeLike | None = None) -> Array:
    """Random numbers of the Maxwell distribution: lengths of standard normal vectors in space."""
def double_sided_maxwell(key: Key, loc: ArrayLike, scale: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """Maxwell random numbers with random signs, times ``scale``, plus ``loc``."""
def rayleigh(key: Key, scale: ArrayLike = 1.0, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """Rayleigh random numbers: lengths of normal vectors in the plane, of this scale in each axis."""
def weibull_min(key: Key, scale: ArrayLike, concentration: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """Weibull random numbers: P(X > x) = exp(-(x / scale)^concentration) for x ≥ 0."""
def pareto(key: Key, b: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """Pareto random numbers with density b / x^(b+1) on x ≥ 1."""
def triangular(key: Key, left: ArrayLike, mode: ArrayLike, right: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """Random numbers whose density rises in a line from ``left`` to ``mode`` and falls to ``right``."""
def wald(key: Key, mean: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """Random numbers of the Wald (inverse Gaussian) distribution with scale 1."""
def von_mises(key: Key, mu: Any, kappa: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """Random angles in [-π, π) with density proportional to e^(κ cos(x - μ))."""
def gamma(key: Key, a: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """Gamma random numbers with density x^(a-1) e^-x / Γ(a): mean a, variance a."""
def loggamma(key: Key, a: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """The logarithm of gamma random numbers: exact where these vanish, as they do for small a."""
def beta(key: Key, a: ArrayLike, b: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """Beta random numbers with density proportional to x^(a-1) (1-x)^(b-1) on (0, 1)."""
def dirichlet(key: Key, alpha: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """Dirichlet random vectors: positive, with sum 1, density proportional to ∏ xᵢ^(αᵢ-1)."""
def chisquare(key: Key, df: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """Chi-square random numbers: sums of df squares of standard normal ones."""
def t(key: Key, df: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """Random numbers of Student's t distribution."""
def f(key: Key, dfnum: ArrayLike, dfden: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """Random numbers of the F distribution: the quotient of two chi-square means."""
def poisson(key: Key, lam: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """Poisson random numbers: counts of independent events of which lam are expected."""
def binomial(key: Key, n: ArrayLike, p: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """Binomial random numbers: successes in n independent trials of probability p."""
def negative_binomial(key: Key, n: ArrayLike, p: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike | None = None) -> Array:
    """The number of failures before the n-th success, of probability p each."""
def multinomial(key: Key, n: ArrayLike, p: ArrayLike, *, shape: int | Shape | None = None, dtype: DTypeLike | None = None, unroll: int = 1) -> Array:
    """Multinomial random vectors: how often each category comes in n independent draws."""
def multivariate_normal(key: Key, mean: ArrayLike, cov: ArrayLike, shape: int | Shape | None = None, dtype: DTypeLike | None = None, method: str = 'cholesky') -> Array:
    """Normal random vectors with a mean and a covariance matrix."""
def orthogonal(key: Key, n: int, shape: int | Shape = ..., dtype: DTypeLike | None = None, m: int | None = None) -> Array:
    """Orthogonal matrices, evenly spread over all of them (Haar's measure)."""
def ball(key: Key, d: int, p: ArrayLike = 2, shape: int | Shape = ..., dtype: DTypeLike | None = None) -> Array:
    """Points spread evenly over the unit ball of the p-norm in d dimensions."""
def sphere(key: Key, d: int, shape: int | Shape = ..., dtype: DTypeLike | None = None) -> Array:
    """Unit vectors in d dimensions, all directions equally likely."""
def sobol(key: Key | None, n: int, dim: int, *, start: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Points of Sobol's sequence in the unit cube: the first 2^k, and each next 2^k, are balanced."""
def halton(key: Key | None, n: int, dim: int, *, start: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Points of Halton's sequence in the unit cube: digits of their numbers in the first primes, mirrored."""
def threefry2x32(key: Key, counter: ArrayLike, rounds: int = 20) -> Array:
    """Threefry with 2 words of 32 bits: a hash of a counter under a key."""
def threefry4x32(key: Key, counter: ArrayLike, rounds: int = 20) -> Array:
    """Threefry with 4 words of 32 bits: a hash of a counter under a key."""
def philox2x32(key: Key, counter: ArrayLike, rounds: int = 10) -> Array:
    """Philox with 2 words of 32 bits: a hash of a counter under a key."""
def philox4x32(key: Key, counter: ArrayLike, rounds: int = 10) -> Array:
    """Philox with 4 words of 32 bits: a hash of a counter under a key."""
