"""Special functions named as in ``scipy.special``, with derivatives in all continuous arguments.

Real arguments of 64 bits are computed in float64 to a few units in the last place, smaller ones to
about one; ``docs/special.md`` lists error bounds. Integers are promoted to floats. Poles,
infinities and NaN give what SciPy gives.
"""

# ruff: noqa: I001 (names stand in lines, not one on each)

# fmt: off
from .._core.package import guide as _guide
from ..numpy import sinc
from ._bessel import bessel_jn, i0, i0e, i1, i1e, j0, j1, jn, k0, k0e, k1, k1e, kn, y0, y1, yn
from ._error import (
    dawsn, erf, erfc, erfcinv, erfcx, erfi, erfinv, fresnel, log_ndtr, ndtr, ndtri, owens_t,
    voigt_profile, wofz,
)
from ._gamma import (
    bernoulli, beta, betainc, betaincc, betainccinv, betaincinv, betaln, binom, comb, digamma,
    factorial, gamma, gammainc, gammaincc, gammainccinv, gammaincinv, gammaln, gammasgn,
    loggamma, multigammaln, perm, poch, polygamma, psi, rgamma, zeta,
)
from ._integrals import ellipe, ellipk, ellipkm1, exp1, expi, expn, lambertw, sici, spence
from ._logs import (
    boxcox, boxcox1p, entr, expit, exprel, inv_boxcox, inv_boxcox1p, kl_div, log_expit, logit,
    rel_entr, xlog1py, xlogy,
)
from ._series import hyp1f1, hyp2f1, sph_harm_y
from ._sums import log_softmax, logsumexp, softmax
# fmt: on

__all__ = [
    # the error function and the normal distribution
    "erf", "erfc", "erfcx", "erfi", "erfinv", "erfcinv", "ndtr", "log_ndtr", "ndtri", "dawsn",
    "fresnel", "owens_t", "wofz", "voigt_profile",
    # gamma, beta, zeta
    "gamma", "gammaln", "loggamma", "gammasgn", "rgamma", "multigammaln", "digamma", "psi",
    "polygamma", "zeta", "beta", "betaln", "poch", "binom", "comb", "perm", "factorial", "bernoulli",
    "gammainc", "gammaincc", "gammaincinv", "gammainccinv", "betainc", "betaincc", "betaincinv",
    "betainccinv",
    # exponentials and logarithms
    "logsumexp", "softmax", "log_softmax", "expit", "logit", "log_expit", "exprel", "xlogy",
    "xlog1py", "entr", "rel_entr", "kl_div", "boxcox", "boxcox1p", "inv_boxcox", "inv_boxcox1p",
    # integrals
    "exp1", "expi", "expn", "sici", "spence", "ellipk", "ellipkm1", "ellipe", "lambertw",
    # Bessel functions
    "j0", "j1", "jn", "bessel_jn", "y0", "y1", "yn", "i0", "i0e", "i1", "i1e", "k0", "k0e", "k1",
    "k1e", "kn",
    # series
    "hyp1f1", "hyp2f1", "sph_harm_y", "sinc",
]  # fmt: skip

__getattr__ = _guide(__name__)
