"""Distributions as functions, named as in ``scipy.stats``: densities, probabilities, quantiles.

A family has the functions ``logpdf``, ``pdf``, ``cdf``, ``logcdf``, ``sf``, ``logsf``, ``ppf``, ``isf``
of (x, *shapes, loc, scale), a family of whole numbers ``logpmf``, ``pmf`` and no scale. All broadcast,
are differentiable in x and in the parameters, keep their digits in both tails, and are NaN where a
parameter makes no sense. Random numbers of the same families are in ``xcore.random``.

>>> import xcore as xc
>>> xc.stats.norm.logsf(30.0)
Array(-454.3212..., dtype=float32)
>>> xc.grad(xc.stats.gamma.logpdf)(2.0, 3.0)
Array(0., dtype=float32, weak_type=True)
"""

# ruff: noqa: I001 (names stand in lines, not one on each)

# fmt: off
from .._core.package import guide as _guide
from ._circular import vonmises, wrapcauchy
from ._continuous import (
    beta, cauchy, chi2, expon, f, gamma, gennorm, gumbel_l, gumbel_r, invgauss, laplace,
    loggamma, logistic, lognorm, maxwell, norm, pareto, rayleigh, t, triang, uniform,
    wald, weibull_min,
)
from ._discrete import bernoulli, betabinom, binom, geom, nbinom, poisson, randint
from ._kde import gaussian_kde
from ._samples import ModeResult, mode, rankdata, sem
from ._truncated import truncnorm
from ._vectors import dirichlet, multinomial, multivariate_normal
# fmt: on

__all__ = [
    # on the line
    "norm", "truncnorm", "lognorm", "gennorm", "gamma", "loggamma", "chi2", "maxwell", "beta", "t", "f",
    "uniform", "expon", "laplace", "logistic", "cauchy", "gumbel_r", "gumbel_l", "rayleigh",
    "weibull_min", "pareto", "triang", "invgauss", "wald", "vonmises", "wrapcauchy",
    # whole numbers
    "bernoulli", "binom", "poisson", "geom", "nbinom", "randint", "betabinom",
    # vectors
    "multivariate_normal", "dirichlet", "multinomial",
    # samples
    "gaussian_kde", "mode", "ModeResult", "rankdata", "sem",
]  # fmt: skip

__getattr__ = _guide(__name__)
