"""The families with a density. Parameters are scipy.stats's, and so are their names and order."""

from __future__ import annotations

import math

import numpy as np

from .. import numpy as xnp
from .. import special
from ._family import Family, Formulas, log_of
from ._tails import (
    beta_odds,
    log_beta_odds,
    log_betainc,
    log_exponential,
    log_gammainc,
    log_gammaincc,
    log_lower_gamma,
    log_of_gamma_quantile,
    log_of_quantile,
    log_upper_gamma,
    lower_gamma,
    upper_gamma,
)

_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)
_LOG_2 = math.log(2)


def _positive(*shapes):
    valid = shapes[0] > 0
    for s in shapes[1:]:
        valid = valid & (s > 0)
    return valid


def one(*shapes):
    return 1.0


def _half(*shapes):
    return 0.5


def _on_half_line(log_density, **more) -> Formulas:
    return Formulas(log_density, **{"low": 0.0, "inside": one, "valid": lambda *s: True} | more)


# Normal and near it


def log_normal_density(z):
    return -0.5 * z * z - _LOG_ROOT_2PI


_NORM = Formulas(
    log_normal_density, special.ndtr, logcdf=special.log_ndtr, ppf=special.ndtri, symmetric=True
)
norm = Family("norm", "The normal distribution: density e^(-x²/2) / √(2π).", _NORM)


# fmt: off
_LOGNORM = Formulas(
    lambda z, s: log_normal_density(xnp.log(z) / s) - xnp.log(s * z),
    lambda z, s: special.ndtr(xnp.log(z) / s),
    lambda z, s: special.ndtr(-xnp.log(z) / s),
    logcdf=lambda z, s: special.log_ndtr(xnp.log(z) / s),
    logsf=lambda z, s: special.log_ndtr(-xnp.log(z) / s),
    ppf=lambda q, s: xnp.exp(s * special.ndtri(q)),
    isf=lambda q, s: xnp.exp(-s * special.ndtri(q)),
    shapes=("s",), low=0.0, open_low=True, inside=one, valid=_positive, wide=True,
)
# fmt: on
lognorm = Family(
    "lognorm",
    "The lognormal distribution: that of e^(sx) for normal x.",
    _LOGNORM,
    "e^(-log(x)²/(2s²)) / (s x √(2π)) for x > 0",
)


def _power_size(z, beta):
    """|z|^β, its derivative at 0 kept from being NaN."""
    size = xnp.abs(z)
    zero = size == 0
    return xnp.where(zero, 0.0, xnp.where(zero, 1.0, size) ** beta)


def _gennorm_cdf(z, beta):
    below, size = z < 0, xnp.where(z == 0, 1.0, xnp.abs(z)) ** beta
    tail = 0.5 * special.gammaincc(1 / beta, size)
    value = xnp.where(below, tail, 0.5 + 0.5 * special.gammainc(1 / beta, size))
    return xnp.where(z == 0, 0.5, value)


def _gennorm_logcdf(z, beta):
    below, size = z < 0, xnp.where(z == 0, 1.0, xnp.abs(z)) ** beta
    tail = log_gammaincc(1 / beta, size) - _LOG_2
    value = xnp.where(below, tail, xnp.log1p(-xnp.exp(xnp.where(below, -1.0, tail))))
    return xnp.where(z == 0, -_LOG_2, value)


def _gennorm_ppf(q, beta):
    lower, middle = q < 0.5, q == 0.5
    tail = xnp.where(middle, 0.5, 2 * xnp.where(lower, q, 1 - q))
    size = special.gammainccinv(1 / beta, tail) ** (1 / beta)
    return xnp.where(middle, 0.0, xnp.where(lower, -size, size))


_GENNORM = Formulas(
    lambda z, beta: xnp.log(0.5 * beta) - special.gammaln(1 / beta) - _power_size(z, beta),
    _gennorm_cdf, logcdf=_gennorm_logcdf, ppf=_gennorm_ppf,
    shapes=("beta",), valid=_positive, symmetric=True, wide=True, slopes="level", flat=True,
)  # fmt: skip
gennorm = Family(
    "gennorm", "The generalized normal distribution: density proportional to e^-|x|^β.", _GENNORM
)

# Gamma and its kindred


_GAMMA = _on_half_line(
    lambda z, a: special.xlogy(a - 1, z) - z - special.gammaln(a),
    cdf=lambda z, a: special.gammainc(a, z),
    sf=lambda z, a: special.gammaincc(a, z),
    logcdf=lambda z, a: log_gammainc(a, z), logsf=lambda z, a: log_gammaincc(a, z),
    ppf=lambda q, a: special.gammaincinv(a, q),
    isf=lambda q, a: special.gammainccinv(a, q),
    shapes=("a",), valid=_positive, wide=True,
)  # fmt: skip
gamma = Family("gamma", "The gamma distribution: density x^(a-1) e^-x / Γ(a).", _GAMMA)

_CHI2 = _on_half_line(
    lambda z, df: _GAMMA.log_density(0.5 * z, 0.5 * df) - _LOG_2,
    cdf=lambda z, df: special.gammainc(0.5 * df, 0.5 * z),
    sf=lambda z, df: special.gammaincc(0.5 * df, 0.5 * z),
    logcdf=lambda z, df: log_gammainc(0.5 * df, 0.5 * z),
    logsf=lambda z, df: log_gammaincc(0.5 * df, 0.5 * z),
    ppf=lambda q, df: 2 * special.gammaincinv(0.5 * df, q),
    isf=lambda q, df: 2 * special.gammainccinv(0.5 * df, q),
    shapes=("df",), valid=_positive, wide=True,
)  # fmt: skip
chi2 = Family(
    "chi2",
    "The chi-square distribution: sums of df squares of normal ones.",
    _CHI2,
    "x^(ν/2 - 1) e^(-x/2) / (2^(ν/2) Γ(ν/2)) for x > 0, with ν the df",
)

_LOGGAMMA = Formulas(
    lambda z, c: c * z - xnp.exp(z) - special.gammaln(c),
    lambda z, c: lower_gamma(c, xnp.exp(z), z),
    lambda z, c: upper_gamma(c, xnp.exp(z), z),
    logcdf=lambda z, c: log_lower_gamma(c, xnp.exp(z), z),
    logsf=lambda z, c: log_upper_gamma(c, xnp.exp(z), z),
    ppf=lambda q, c: log_of_gamma_quantile(special.gammaincinv(c, q), c, xnp.log(q)),
    isf=lambda q, c: log_of_gamma_quantile(special.gammainccinv(c, q), c, xnp.log1p(-q)),
    shapes=("c",), valid=_positive, wide=True,
)  # fmt: skip
loggamma = Family(
    "loggamma",
    "The logarithm of a gamma variate of shape c.",
    _LOGGAMMA,
    "e^(c x - e^x) / Γ(c)",
)


def _half_square(z):
    """z²/2 and its logarithm."""
    return 0.5 * z * z, 2 * xnp.log(z) - _LOG_2


_MAXWELL = _on_half_line(
    lambda z: 2 * xnp.log(z) - 0.5 * z * z + 0.5 * math.log(2 / math.pi),
    cdf=lambda z: special.gammainc(1.5, 0.5 * z * z),
    sf=lambda z: special.gammaincc(1.5, 0.5 * z * z),
    logcdf=lambda z: log_lower_gamma(xnp.full_like(z, 1.5), *_half_square(z)),
    logsf=lambda z: log_gammaincc(xnp.full_like(z, 1.5), 0.5 * z * z),
    ppf=lambda q: xnp.sqrt(2 * special.gammaincinv(1.5, q)),
    isf=lambda q: xnp.sqrt(2 * special.gammainccinv(1.5, q)),
    wide=True,
)  # fmt: skip
maxwell = Family(
    "maxwell",
    "Maxwell's distribution: lengths of normal vectors in space.",
    _MAXWELL,
    "√(2/π) x² e^(-x²/2) for x ≥ 0",
)

_BETA = Formulas(
    lambda z, a, b: special.xlogy(a - 1, z) + special.xlog1py(b - 1, -z) - special.betaln(a, b),
    lambda z, a, b: special.betainc(a, b, z),
    lambda z, a, b: special.betaincc(a, b, z),
    logcdf=lambda z, a, b: log_betainc(a, b, z, 1 - z),
    logsf=lambda z, a, b: log_betainc(b, a, 1 - z, z),
    ppf=lambda q, a, b: special.betaincinv(a, b, q),
    isf=lambda q, a, b: special.betainccinv(a, b, q),
    shapes=("a", "b"), low=0.0, high=1.0, inside=_half, valid=_positive, wide=True,
)  # fmt: skip
beta = Family("beta", "The beta distribution: density x^(a-1) (1-x)^(b-1) / B(a, b).", _BETA)


def _log_1p_square(z):
    """log(1 + z²), also where the square is too large for a float."""
    far = xnp.abs(z) > 1
    size = xnp.where(far, xnp.abs(z), 1.0)
    near = xnp.where(far, 1 / size, z)
    return xnp.log1p(near * near) + 2 * xnp.log(size)


def _t_log_density(z, df):
    spread = _log_1p_square(z / xnp.sqrt(df))
    return -0.5 * (df + 1) * spread - 0.5 * xnp.log(df) - special.betaln(0.5, 0.5 * df)


def _t_cdf(z, df):
    """The incomplete beta function, of the smaller of two complements; a line next to 0."""
    flat = xnp.abs(z) < 1e-9
    size = xnp.where(flat, 1.0, xnp.abs(z))
    odds, log_odds = xnp.square(size / xnp.sqrt(df)), 2 * xnp.log(size) - xnp.log(df)
    half, b = xnp.full_like(df, 0.5), 0.5 * df
    tail = 0.5 * beta_odds(b, half, 1 / odds, -log_odds)
    centre = 0.5 * beta_odds(half, b, odds, log_odds)
    side = xnp.where(odds < 1, 0.5 + centre, 1 - tail)
    return xnp.where(flat, _t_line(z, df), xnp.where(z > 0, side, tail))


def _t_line(z, df):
    return 0.5 + z * xnp.exp(_t_log_density(xnp.zeros_like(z), df))


def _t_logcdf(z, df):
    flat, below = xnp.abs(z) < 1e-9, z < 0
    size = xnp.where(flat, 1.0, xnp.abs(z)) / xnp.sqrt(df)
    odds = xnp.square(1 / xnp.where(size > 1e-100, size, 1e-100))
    tail = log_beta_odds(0.5 * df, xnp.full_like(df, 0.5), odds, -2 * xnp.log(size)) - _LOG_2
    value = xnp.where(below, tail, xnp.log1p(-xnp.exp(xnp.where(below, -1.0, tail))))
    return xnp.where(flat, xnp.log(xnp.where(flat, _t_line(z, df), 0.5)), value)


def _t_ppf(q, df):
    """Through the beta quantiles of the tail and of the rest, each with its digits: z² = df w / (1 - w)."""
    lower = q < 0.5
    tail = 2 * xnp.where(lower, q, 1 - q)
    tail, half, b = xnp.where(q == 0.5, 0.5, tail), xnp.full_like(df, 0.5), 0.5 * df
    w, v = special.betainccinv(half, b, tail), special.betaincinv(b, half, tail)
    log_v = log_of_quantile(v, b, half, xnp.log(tail))
    root = xnp.where(w > 0, xnp.sqrt(xnp.where(w > 0, w, 1.0)), 0.0)
    size = xnp.exp(0.5 * (xnp.log(df) - log_v)) * root
    return xnp.where(q == 0.5, 0.0, xnp.where(lower, -size, size))


def _or_normal(formula, normal):
    """A formula of Student's, and that of the normal distribution for infinitely many degrees of freedom."""
    return lambda z, df: xnp.where(
        df == np.inf, normal(z), formula(z, xnp.where(df == np.inf, 1.0, df))
    )


_T = Formulas(
    _or_normal(_t_log_density, log_normal_density),
    _or_normal(_t_cdf, special.ndtr),
    logcdf=_or_normal(_t_logcdf, special.log_ndtr),
    ppf=_or_normal(_t_ppf, special.ndtri),
    shapes=("df",),
    valid=_positive,
    symmetric=True,
    wide=True,
    slopes="level",
)
t = Family(
    "t",
    "Student's t distribution with df degrees of freedom.",
    _T,
    "Γ((ν + 1)/2) / (√(π ν) Γ(ν/2)) (1 + x²/ν)^(-(ν + 1)/2), with ν the df",
)


def _f_log_density(z, dfn, dfd):
    a, b = 0.5 * dfn, 0.5 * dfd
    ratio = dfn / dfd
    odds = ratio * z
    low, far = odds < 1, xnp.where(odds < 1, 1.0, odds)
    here = special.xlogy(a - 1, z) - (a + b) * xnp.log1p(xnp.where(low, odds, 1.0))
    below = a * xnp.log(ratio) + here
    # with many degrees of freedom above, what is to cancel is large there
    above = -a * xnp.log1p(1 / far) - b * xnp.log1p(far) - xnp.log(xnp.where(low, 1.0, z))
    return xnp.where(low, below, above) - special.betaln(a, b)


def _f_odds(z, dfn, dfd):
    """Half the degrees of freedom, and the odds of the beta variable with their logarithm."""
    return 0.5 * dfn, 0.5 * dfd, dfn / dfd * z, xnp.log(dfn) - xnp.log(dfd) + xnp.log(z)


def _f_below(z, dfn, dfd):
    a, b, r, log_r = _f_odds(xnp.where(z > 0, z, 1.0), dfn, dfd)
    return xnp.where(z > 0, beta_odds(a, b, r, log_r), 0)


def _f_above(z, dfn, dfd):
    a, b, r, log_r = _f_odds(xnp.where(z > 0, z, 1.0), dfn, dfd)
    return xnp.where(z > 0, beta_odds(b, a, 1 / r, -log_r), 1)


def _f_log_above(z, dfn, dfd):
    a, b, r, log_r = _f_odds(z, dfn, dfd)
    return log_beta_odds(b, a, 1 / r, -log_r)


def _f_quantile(p, dfn, dfd, upper: bool):
    """The odds x / (1 - x) of the beta quantile, scaled; either of x and 1 - x may vanish."""
    inverse, other = special.betaincinv, special.betainccinv
    inverse, other = (other, inverse) if upper else (inverse, other)
    a, b = 0.5 * dfn, 0.5 * dfd
    x, y = inverse(a, b, p), other(b, a, p)
    log_p, log_q = xnp.log(p), xnp.log1p(-p)
    log_p, log_q = (log_q, log_p) if upper else (log_p, log_q)
    log_odds = log_of_quantile(x, a, b, log_p) - log_of_quantile(y, b, a, log_q)
    far = (x < 1e-30) | (y < 1e-30)
    near = x / xnp.where(far, 1.0, y) * (dfd / dfn)
    return xnp.where(far, xnp.exp(log_odds + xnp.log(dfd) - xnp.log(dfn)), near)


def _or_gamma(formula, of_gamma, of_inverse):
    """A formula of F's, and for one number of degrees of freedom far above the other one that of a gamma variable.

    With n → ∞ in the denominator z is a gamma variable over its mean, with m → ∞ in the numerator 1/z is. The next
    term is smaller by (1 + m²)/n.
    """

    def either(z, dfn, dfd):
        gamma = dfd > 1e18 * (1 + xnp.square(dfn))
        inverse = dfn > 1e18 * (1 + xnp.square(dfd))
        a, b = 0.5 * xnp.where(gamma, dfn, 1.0), 0.5 * xnp.where(inverse, dfd, 1.0)
        near = gamma | inverse
        # each at arguments of its own: derivatives of what is not taken must be finite
        out = formula(*(xnp.where(near, y, x) for x, y in ((z, 0.5), (dfn, 1.0), (dfd, 1.0))))
        first, second = (
            of_gamma(xnp.where(gamma, z, 0.5), a),
            of_inverse(xnp.where(inverse, z, 0.5), b),
        )
        return xnp.where(gamma, first, xnp.where(inverse, second, out))

    return either


_F = _on_half_line(
    _or_gamma(
        _f_log_density, lambda z, a: _GAMMA.log_density(a * z, a) + xnp.log(a),
        lambda z, b: _GAMMA.log_density(b / z, b) + xnp.log(b) - 2 * xnp.log(z),
    ),
    cdf=_or_gamma(
        _f_below, lambda z, a: special.gammainc(a, a * xnp.maximum(z, 0)),
        lambda z, b: xnp.where(z > 0, special.gammaincc(b, b / positive_or_one(z)), 0),
    ),
    sf=_or_gamma(
        _f_above, lambda z, a: special.gammaincc(a, a * xnp.maximum(z, 0)),
        lambda z, b: xnp.where(z > 0, special.gammainc(b, b / positive_or_one(z)), 1),
    ),
    logcdf=_or_gamma(
        lambda z, dfn, dfd: log_beta_odds(*_f_odds(z, dfn, dfd)),
        lambda z, a: log_gammainc(a, a * z), lambda z, b: log_gammaincc(b, b / z),
    ),
    logsf=_or_gamma(
        _f_log_above, lambda z, a: log_gammaincc(a, a * z), lambda z, b: log_gammainc(b, b / z)
    ),
    ppf=_or_gamma(
        lambda q, dfn, dfd: _f_quantile(q, dfn, dfd, False),
        lambda q, a: special.gammaincinv(a, q) / a, lambda q, b: b / special.gammainccinv(b, q),
    ),
    isf=_or_gamma(
        lambda q, dfn, dfd: _f_quantile(q, dfn, dfd, True),
        lambda q, a: special.gammainccinv(a, q) / a, lambda q, b: b / special.gammaincinv(b, q),
    ),
    shapes=("dfn", "dfd"), valid=_positive, wide=True,
)  # fmt: skip
f = Family(
    "f",
    "The F distribution: the quotient of two chi-square means.",
    _F,
    "(m/n)^(m/2) x^(m/2 - 1) / (B(m/2, n/2) (1 + m x/n)^((m + n)/2)) for x > 0, with m the dfn and n the dfd",
)


# A formula of one line

_UNIFORM = Formulas(
    lambda z: 0 * z, lambda z: z, lambda z: 1 - z, ppf=lambda q: q, isf=lambda q: 1 - q,
    low=0.0, high=1.0, inside=_half,
)  # fmt: skip
uniform = Family(
    "uniform",
    "The uniform distribution on [loc, loc + scale].",
    _UNIFORM,
    "1 for 0 ≤ x ≤ 1",
)

_EXPON = _on_half_line(
    lambda z: -z, cdf=lambda z: -xnp.expm1(-z), sf=lambda z: xnp.exp(-z), logsf=lambda z: -z,
    ppf=lambda q: -xnp.log1p(-q), isf=lambda q: -xnp.log(q),
)  # fmt: skip
expon = Family("expon", "The exponential distribution: density e^-x.", _EXPON)


def _laplace_logcdf(z):
    below = z < 0
    upper = xnp.log1p(-0.5 * xnp.exp(-xnp.where(below, 0, z)))
    return xnp.where(below, z - _LOG_2, upper)


_LAPLACE = Formulas(
    lambda z: -xnp.abs(z) - _LOG_2,
    lambda z: xnp.exp(_laplace_logcdf(z)), logcdf=_laplace_logcdf,
    ppf=lambda q: xnp.where(q < 0.5, xnp.log(2 * q), -xnp.log(2 * (1 - q))),
    symmetric=True,
)  # fmt: skip
laplace = Family("laplace", "The Laplace distribution: density e^-|x| / 2.", _LAPLACE)

_LOGISTIC = Formulas(
    lambda z: special.log_expit(z) + special.log_expit(-z), special.expit,
    logcdf=special.log_expit, ppf=special.logit, symmetric=True,
)  # fmt: skip
logistic = Family("logistic", "The logistic distribution: cdf 1 / (1 + e^-x).", _LOGISTIC)


def _cauchy_ppf(q):
    """By a tangent where q - 1/2 has all digits, else by a cotangent of the smaller of q and 1 - q."""
    side = xnp.where(q < 0.5, -q, 1 - q)
    central = xnp.abs(q - 0.5) < 0.25
    inner = xnp.tan(math.pi * xnp.where(central, q - 0.5, 0.0))
    return xnp.where(central, inner, 1 / xnp.tan(math.pi * xnp.where(central, 0.25, side)))


_CAUCHY = Formulas(
    lambda z: -math.log(math.pi) - _log_1p_square(z),
    lambda z: xnp.arctan2(1.0, -z) / math.pi,
    ppf=_cauchy_ppf, symmetric=True,
)  # fmt: skip
cauchy = Family("cauchy", "The Cauchy distribution: density 1 / (π (1 + x²)).", _CAUCHY)

_GUMBEL_R = Formulas(
    lambda z: -z - xnp.exp(-z),
    lambda z: xnp.exp(-xnp.exp(-z)), lambda z: -xnp.expm1(-xnp.exp(-z)),
    logcdf=lambda z: -xnp.exp(-z), logsf=lambda z: log_exponential(xnp.exp(-z), -z),
    ppf=lambda q: -xnp.log(-xnp.log(q)), isf=lambda q: -xnp.log(-xnp.log1p(-q)),
)  # fmt: skip
gumbel_r = Family("gumbel_r", "The Gumbel distribution of maxima: cdf e^-e^-x.", _GUMBEL_R)

_GUMBEL_L = Formulas(
    lambda z: z - xnp.exp(z),
    lambda z: -xnp.expm1(-xnp.exp(z)), lambda z: xnp.exp(-xnp.exp(z)),
    logcdf=lambda z: log_exponential(xnp.exp(z), z), logsf=lambda z: -xnp.exp(z),
    ppf=lambda q: xnp.log(-xnp.log1p(-q)), isf=lambda q: xnp.log(-xnp.log(q)),
)  # fmt: skip
gumbel_l = Family("gumbel_l", "The Gumbel distribution of minima: sf e^-e^x.", _GUMBEL_L)

_RAYLEIGH = _on_half_line(
    lambda z: xnp.log(z) - 0.5 * z * z,
    cdf=lambda z: -xnp.expm1(-0.5 * z * z), sf=lambda z: xnp.exp(-0.5 * z * z),
    logcdf=lambda z: log_exponential(*_half_square(z)), logsf=lambda z: -0.5 * z * z,
    ppf=lambda q: xnp.sqrt(-2 * xnp.log1p(-q)), isf=lambda q: xnp.sqrt(-2 * xnp.log(q)),
)  # fmt: skip
rayleigh = Family(
    "rayleigh",
    "Rayleigh's distribution: lengths of normal vectors in the plane.",
    _RAYLEIGH,
    "x e^(-x²/2) for x ≥ 0",
)

_WEIBULL = _on_half_line(
    lambda z, c: xnp.log(c) + special.xlogy(c - 1, z) - _power_size(z, c),
    cdf=lambda z, c: -xnp.expm1(-_power_size(z, c)), sf=lambda z, c: xnp.exp(-_power_size(z, c)),
    logcdf=lambda z, c: log_exponential(_power_size(z, c), c * xnp.log(z)),
    logsf=lambda z, c: -_power_size(z, c),
    ppf=lambda q, c: (-xnp.log1p(-q)) ** (1 / c), isf=lambda q, c: (-xnp.log(q)) ** (1 / c),
    shapes=("c",), valid=_positive,
)  # fmt: skip
weibull_min = Family("weibull_min", "The Weibull distribution: sf e^-x^c.", _WEIBULL)

_PARETO = Formulas(
    lambda z, b: xnp.log(b) - (b + 1) * xnp.log(z),
    lambda z, b: -xnp.expm1(-b * xnp.log(z)), lambda z, b: xnp.exp(-b * xnp.log(z)),
    logsf=lambda z, b: -b * xnp.log(z),
    ppf=lambda q, b: xnp.exp(-xnp.log1p(-q) / b), isf=lambda q, b: xnp.exp(-xnp.log(q) / b),
    shapes=("b",), low=1.0, inside=lambda b: 2.0, valid=_positive,
)  # fmt: skip
pareto = Family("pareto", "The Pareto distribution: sf x^-b from 1 on.", _PARETO)


def positive_or_one(x):
    return xnp.where(x > 0, x, 1.0)


def _triangle(rising, falling):
    """Formulas on the left of c and on the right, each of (z, c, 1 - z, 1 - c), or these the other way round."""

    def formula(z, c):
        rest, d = 1 - z, 1 - c
        left = rising(z, positive_or_one(c), rest, d)
        return xnp.where((z < c) | (c >= 1), left, falling(rest, positive_or_one(d), z, c))

    return formula


def _triangle_share(z, c, rest, d):
    return z * (z / c)


def _triangle_rest(z, c, rest, d):
    """1 - z²/c without a difference of large terms; c - z is also rest - d, of which the smaller numbers tell more."""
    step = xnp.where(c < 0.5, c - z, rest - d)
    return d + step * (c + z) / c


def _triangle_log_share(z, c, rest, d):
    return 2 * xnp.log(z) - xnp.log(c)


def _triangle_log_rest(z, c, rest, d):
    return log_of(_triangle_rest(z, c, rest, d), z * (z / c))


def _triang_quantile(p, rest, c):
    """Where a share p is below, of which the rest is 1 - p."""
    root = xnp.sqrt(rest) * xnp.sqrt(positive_or_one(1 - c))
    return xnp.where(p < c, xnp.sqrt(p) * xnp.sqrt(positive_or_one(c)), (p + c * rest) / (1 + root))


_TRIANG = Formulas(
    _triangle(*[lambda z, c, rest, d: xnp.log(2 * (z / c))] * 2),
    _triangle(_triangle_share, _triangle_rest), _triangle(_triangle_rest, _triangle_share),
    logcdf=_triangle(_triangle_log_share, _triangle_log_rest),
    logsf=_triangle(_triangle_log_rest, _triangle_log_share),
    ppf=lambda q, c: _triang_quantile(q, 1 - q, c), isf=lambda q, c: _triang_quantile(1 - q, q, c),
    shapes=("c",), low=0.0, high=1.0, inside=_half, valid=lambda c: (c >= 0) & (c <= 1),
)  # fmt: skip
triang = Family(
    "triang",
    "The triangular distribution on [0, 1] with its mode at c.",
    _TRIANG,
    "2 x / c up to c and 2 (1 - x) / (1 - c) beyond",
)

# Inverse Gaussian


def _mills(z):
    """The normal probability beyond z, divided by the density there."""
    return math.sqrt(0.5 * math.pi) * special.erfcx(math.sqrt(0.5) * z)


def _wald_logs(z, mu):
    """(log cdf, log sf). Of the two terms Φ(u) and e^(2/μ) Φ(-v) the normal density at u is a factor."""
    root, above = xnp.sqrt(z), z > mu
    u, v = (z / mu - 1) / root, (z / mu + 1) / root
    first, second = _mills(xnp.abs(u)), _mills(v)
    part = xnp.where(above, xnp.maximum(first - second, 1e-300), first + second)
    small = log_normal_density(u) + xnp.log(part)
    rest = xnp.log1p(-xnp.exp(small))
    return xnp.where(above, rest, small), xnp.where(above, small, rest)


def _wald_logcdf(z, mu):
    return _wald_logs(z, mu)[0]


def _wald_logsf(z, mu):
    return _wald_logs(z, mu)[1]


_INVGAUSS = Formulas(
    lambda z, mu: -_LOG_ROOT_2PI - 1.5 * xnp.log(z) - xnp.square((z - mu) / mu) / (2 * z),
    lambda z, mu: xnp.exp(_wald_logcdf(z, mu)), lambda z, mu: xnp.exp(_wald_logsf(z, mu)),
    logcdf=_wald_logcdf, logsf=_wald_logsf,
    shapes=("mu",), low=0.0, open_low=True, inside=lambda mu: mu, valid=_positive, wide=True,
)  # fmt: skip
invgauss = Family(
    "invgauss",
    "The inverse Gaussian distribution with mean mu and scale 1.",
    _INVGAUSS,
    "e^(-(x - μ)²/(2 μ² x)) / √(2π x³) for x > 0, with μ = mu",
)

_WALD = Formulas(
    lambda z: _INVGAUSS.log_density(z, 1.0),
    lambda z: xnp.exp(_wald_logcdf(z, 1.0)), lambda z: xnp.exp(_wald_logsf(z, 1.0)),
    logcdf=lambda z: _wald_logcdf(z, 1.0), logsf=lambda z: _wald_logsf(z, 1.0),
    low=0.0, open_low=True, inside=one, wide=True,
)  # fmt: skip
wald = Family(
    "wald",
    "Wald's distribution: the inverse Gaussian one with mean 1.",
    _WALD,
    "e^(-(x - 1)²/(2x)) / √(2π x³) for x > 0",
)
