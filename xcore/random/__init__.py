"""Random numbers from explicit keys: no hidden state, and the same numbers everywhere.

A key is made from a seed and split into as many independent ones as needed; every function takes a
key first and gives the same result for the same key: eagerly, under ``jit`` and ``vmap``, in chunks,
over several devices. Element i of what a key gives is a function of the key and i.

>>> import xcore as xc
>>> key, subkey = xc.random.split(xc.random.key(0))
>>> x = xc.random.normal(subkey, (1000,))

Two generators exist. Threefry (the default) gives the numbers of ``jax.random`` bit for bit: keys,
``bits``, ``uniform``, ``normal``, ``permutation`` and what is a formula in these. Philox is the faster
one and takes its normal numbers from more bits. Both are Random123's, of Salmon et al. (2011).
"""

# ruff: noqa: I001 (names stand in lines, not one on each)

# fmt: off
from ._continuous import (
    cauchy, double_sided_maxwell, exponential, generalized_normal, gumbel, laplace, logistic,
    lognormal, maxwell, pareto, rayleigh, triangular, truncated_normal, von_mises, wald,
    weibull_min,
)
from ._counts import binomial, multinomial, negative_binomial, poisson
from ._gamma import beta, chisquare, dirichlet, f, gamma, loggamma, t
from ._generator import Generator, default_rng
from ._generator import no_such as __getattr__
from ._integers import bernoulli, categorical, geometric, rademacher, randint
from ._keys import (
    KeyArray, PRNGKey, clone, fold_in, key, key_data, key_dtype, key_impl, split, wrap_key_data,
)
from ._permute import choice, permutation
from ._philox import philox2x32, philox4x32
from ._quasi import halton, sobol
from ._reuse import KeyReuseError
from ._threefry import threefry2x32, threefry4x32
from ._uniform import bits, bits_at, normal, normal_at, uniform, uniform_at
from ._vectors import ball, multivariate_normal, orthogonal, sphere
# fmt: on

__all__ = [
    # keys
    "key", "PRNGKey", "split", "fold_in", "clone", "key_data", "wrap_key_data", "key_impl", "key_dtype",
    "KeyArray", "KeyReuseError", "Generator", "default_rng",
    # bits, uniform, normal; whole arrays and single elements
    "bits", "uniform", "normal", "bits_at", "uniform_at", "normal_at",
    # integers, categories, order
    "randint", "bernoulli", "rademacher", "categorical", "choice", "permutation", "geometric",
    # on the line
    "exponential", "laplace", "cauchy", "logistic", "gumbel", "lognormal", "truncated_normal",
    "generalized_normal", "maxwell", "double_sided_maxwell", "rayleigh", "weibull_min", "pareto",
    "triangular", "wald", "von_mises",
    # the gamma family
    "gamma", "loggamma", "beta", "dirichlet", "chisquare", "t", "f",
    # counts
    "poisson", "binomial", "negative_binomial", "multinomial",
    # vectors and matrices
    "multivariate_normal", "orthogonal", "ball", "sphere",
    # quasi-random points
    "sobol", "halton",
    # the hashes
    "threefry2x32", "threefry4x32", "philox2x32", "philox4x32",
]  # fmt: skip
