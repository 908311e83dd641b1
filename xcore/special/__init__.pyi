"""Types of xcore.special. Written by tools/stubs.py."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, overload

import numpy as np

from xcore._core.array import Array
from xcore._core.typing import ArrayLike, Axis, DTypeLike, Key, Shape


def erf(x: ArrayLike) -> Array:
    """The error function 2/√π ∫₀ˣ e^(-t²) dt."""
def erfc(x: ArrayLike) -> Array:
    """1 - erf(x), accurate also where that is tiny."""
def erfcx(x: ArrayLike) -> Array:
    """e^(x²) erfc(x), which does not underflow."""
def erfi(x: ArrayLike) -> Array:
    """-i erf(ix) = 2/√π ∫₀ˣ e^(t²) dt."""
def erfinv(y: ArrayLike) -> Array:
    """The number whose erf is y; NaN outside [-1, 1]."""
def erfcinv(y: ArrayLike) -> Array:
    """The x with erfc(x) = y; NaN outside [0, 2]."""
def ndtr(x: ArrayLike) -> Array:
    """The normal distribution function Φ(x) = erfc(-x/√2)/2."""
def log_ndtr(x: ArrayLike, series_order: Any = 3) -> Array:
    """log Φ(x), without underflow on the left and accurate on the right."""
def ndtri(p: ArrayLike) -> Array:
    """The quantile of the normal distribution: the x with Φ(x) = p."""
def dawsn(x: ArrayLike) -> Array:
    """Dawson's integral e^(-x²) ∫₀ˣ e^(t²) dt."""
def fresnel(z: ArrayLike) -> tuple[Array, Array]:
    """Fresnel's integrals (S, C) = (∫₀ᶻ sin(πt²/2) dt, ∫₀ᶻ cos(πt²/2) dt)."""
def owens_t(h: ArrayLike, a: ArrayLike) -> Array:
    """Owen's T function 1/(2π) ∫₀ᵃ exp(-h²(1 + x²)/2)/(1 + x²) dx."""
def wofz(z: ArrayLike) -> Array:
    """Faddeeva's function e^(-z²) erfc(-iz)."""
def voigt_profile(x: ArrayLike, sigma: ArrayLike, gamma: ArrayLike) -> Array:
    """The convolution of a normal density of width σ with Cauchy's of half width γ, at x."""
def gamma(x: ArrayLike) -> Array:
    """The gamma function Γ(x) = ∫₀^∞ t^(x-1) e^-t dt. NaN at negative whole numbers, ±∞ at ±0."""
def gammaln(x: ArrayLike) -> Array:
    """log |Γ(x)|. Its derivative is digamma."""
def loggamma(z: ArrayLike) -> Array:
    """The logarithm of Γ(z) that is analytic in the plane cut along the negative axis."""
def gammasgn(x: ArrayLike) -> Array:
    """The sign of Γ(x): ±1, NaN at negative whole numbers, and that of x at ±0."""
def rgamma(x: ArrayLike) -> Array:
    """1/Γ(x), finite everywhere."""
def multigammaln(a: ArrayLike, d: ArrayLike) -> Array:
    """log of the multivariate gamma function: d(d-1)/4 log π + Σ log Γ(a - j/2), j = 0, …, d - 1."""
def digamma(x: ArrayLike) -> Array:
    """The logarithmic derivative ψ(x) = Γ'(x)/Γ(x)."""
def psi(x: ArrayLike) -> Array:
    """The logarithmic derivative ψ(x) = Γ'(x)/Γ(x)."""
def polygamma(n: ArrayLike, x: ArrayLike) -> Array:
    """The n-th derivative of digamma at x; NaN unless n is a whole number, 0 or more."""
def zeta(x: ArrayLike, q: ArrayLike | None = None) -> Array:
    """Hurwitz's zeta function Σ (k + q)^-x over k = 0, 1, …; Riemann's without q."""
def beta(a: ArrayLike, b: ArrayLike) -> Array:
    """The beta function Γ(a) Γ(b)/Γ(a + b)."""
def betaln(a: ArrayLike, b: ArrayLike) -> Array:
    """log |B(a, b)|, without cancellation where an argument is large."""
def poch(z: ArrayLike, m: ArrayLike) -> Array:
    """The rising factorial Γ(z + m)/Γ(z), with its limits where both are poles."""
def binom(x: ArrayLike, y: ArrayLike) -> Array:
    """The binomial coefficient Γ(x + 1)/(Γ(y + 1) Γ(x - y + 1)) of real numbers."""
def comb(N: ArrayLike, k: ArrayLike, exact: bool = False, repetition: Any = False) -> Array:
    """The number of ways to choose k of N things, as a float; 0 where k > N or either is negative."""
def perm(N: ArrayLike, k: ArrayLike, exact: bool = False) -> Array:
    """N!/(N - k)!, the number of arrangements of k of N things, as a float."""
def factorial(n: ArrayLike, exact: bool = False) -> Array:
    """n! = Γ(n + 1) as a float; 0 for negative n."""
def bernoulli(n: ArrayLike) -> Array:
    """The Bernoulli numbers B₀, …, Bₙ, with B₁ = -1/2."""
def gammainc(a: ArrayLike, x: ArrayLike) -> Array:
    """The lower incomplete gamma function P(a, x) = ∫₀ˣ t^(a-1) e^-t dt/Γ(a)."""
def gammaincc(a: ArrayLike, x: ArrayLike) -> Array:
    """The upper incomplete gamma function 1 - P(a, x), accurate also where it is tiny."""
def gammaincinv(a: ArrayLike, y: ArrayLike) -> Array:
    """The x with gammainc(a, x) = y."""
def gammainccinv(a: ArrayLike, y: ArrayLike) -> Array:
    """The x with gammaincc(a, x) = y."""
def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """The incomplete beta function ∫₀ˣ t^(a-1) (1-t)^(b-1) dt/B(a, b)."""
def betaincc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """1 - betainc(a, b, x), accurate also where it is tiny."""
def betaincinv(a: ArrayLike, b: ArrayLike, y: ArrayLike) -> Array:
    """The x with betainc(a, b, x) = y."""
def betainccinv(a: ArrayLike, b: ArrayLike, y: ArrayLike) -> Array:
    """The x with betaincc(a, b, x) = y."""
@overload
def logsumexp(a: ArrayLike, axis: Axis = None, b: ArrayLike | None = None, keepdims: bool = False, return_sign: Literal[False] = False, where: ArrayLike | None = None) -> Array: ...
@overload
def logsumexp(a: ArrayLike, axis: Axis = None, b: ArrayLike | None = None, keepdims: bool = False, return_sign: bool = False, where: ArrayLike | None = None) -> Any:
    """log Σ b e^a over the axis, without overflow on the way."""
def softmax(x: ArrayLike, axis: Axis = None) -> Array:
    """e^x / Σ e^x, the sum over the axis (all axes by default)."""
def log_softmax(x: ArrayLike, axis: Axis = None) -> Array:
    """x - log Σ e^x, the sum over the axis (all axes by default)."""
def expit(x: ArrayLike) -> Array:
    """The logistic function 1/(1 + e^-x)."""
def logit(x: ArrayLike) -> Array:
    """log(x/(1 - x)), the inverse of expit; NaN outside [0, 1]."""
def log_expit(x: ArrayLike) -> Array:
    """log(expit(x)), without underflow."""
def exprel(x: ArrayLike) -> Array:
    """(e^x - 1)/x, which is 1 at 0."""
def xlogy(x: ArrayLike, y: ArrayLike) -> Array:
    """x log y, which is 0 for x = 0."""
def xlog1py(x: ArrayLike, y: ArrayLike) -> Array:
    """x log(1 + y), which is 0 for x = 0."""
def entr(x: ArrayLike) -> Array:
    """The elementwise entropy -x log x; 0 at 0, -∞ for negative x."""
def rel_entr(x: ArrayLike, y: ArrayLike) -> Array:
    """The elementwise relative entropy x log(x/y); 0 for x = 0, ∞ for negative arguments."""
def kl_div(x: ArrayLike, y: ArrayLike) -> Array:
    """The elementwise Kullback-Leibler divergence x log(x/y) - x + y, without cancellation."""
def boxcox(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """Box and Cox's transformation (x^λ - 1)/λ, which is log x for λ = 0."""
def boxcox1p(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """Box and Cox's transformation of 1 + x: ((1 + x)^λ - 1)/λ."""
def inv_boxcox(y: ArrayLike, lmbda: ArrayLike) -> Array:
    """The x with boxcox(x, lmbda) = y."""
def inv_boxcox1p(y: ArrayLike, lmbda: ArrayLike) -> Array:
    """The x with boxcox1p(x, lmbda) = y."""
def exp1(x: ArrayLike) -> Array:
    """The exponential integral E₁(x) = ∫ₓ^∞ e^-t/t dt for x > 0; NaN for x < 0."""
def expi(x: ArrayLike) -> Array:
    """The exponential integral Ei(x), the principal value of ∫ e^t/t dt from -∞ to x."""
def expn(n: ArrayLike, x: ArrayLike) -> Array:
    """The exponential integral E_n(x) = ∫₁^∞ e^(-xt)/t^n dt."""
def sici(x: ArrayLike) -> tuple[Array, Array]:
    """The sine and cosine integrals (∫₀ˣ sin(t)/t dt, γ + log |x| + ∫₀ˣ (cos(t) - 1)/t dt)."""
def spence(z: ArrayLike) -> Array:
    """The dilogarithm ∫₁ᶻ log(t)/(1 - t) dt = Li₂(1 - z)."""
def ellipk(m: ArrayLike) -> Array:
    """The complete elliptic integral of the first kind ∫ (1 - m sin²t)^(-1/2) dt over [0, π/2]."""
def ellipkm1(p: ArrayLike) -> Array:
    """ellipk(1 - p), accurate for p near 0."""
def ellipe(m: ArrayLike) -> Array:
    """The complete elliptic integral of the second kind ∫ (1 - m sin²t)^(1/2) dt over [0, π/2]."""
def lambertw(z: ArrayLike, k: ArrayLike = 0) -> Array:
    """Lambert's W function, the w with w e^w = z, on branch k."""
def j0(x: ArrayLike) -> Array:
    """The Bessel function of the first kind, order 0."""
def j1(x: ArrayLike) -> Array:
    """The Bessel function of the first kind, order 1."""
def jn(n: ArrayLike, x: ArrayLike) -> Array:
    """The Bessel function of the first kind J_n(x), of whole order."""
def bessel_jn(z: ArrayLike, *, v: ArrayLike, n_iter: int | None = None) -> Array:
    """J₀(z), …, J_v(z), along a new first axis."""
def y0(x: ArrayLike) -> Array:
    """The Bessel function of the second kind, order 0; NaN for x < 0."""
def y1(x: ArrayLike) -> Array:
    """The Bessel function of the second kind, order 1; NaN for x < 0."""
def yn(n: ArrayLike, x: ArrayLike) -> Array:
    """The Bessel function of the second kind Y_n(x), of whole order; NaN for x < 0."""
def i0(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind, order 0."""
def i0e(x: ArrayLike) -> Array:
    """e^-|x| i0(x), which does not overflow."""
def i1(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind, order 1."""
def i1e(x: ArrayLike) -> Array:
    """e^-|x| i1(x), which does not overflow."""
def k0(x: ArrayLike) -> Array:
    """The modified Bessel function of the second kind, order 0; NaN for x < 0."""
def k0e(x: ArrayLike) -> Array:
    """e^x k0(x), which does not underflow."""
def k1(x: ArrayLike) -> Array:
    """The modified Bessel function of the second kind, order 1; NaN for x < 0."""
def k1e(x: ArrayLike) -> Array:
    """e^x k1(x), which does not underflow."""
def kn(n: ArrayLike, x: ArrayLike) -> Array:
    """The modified Bessel function of the second kind K_n(x), of whole order; NaN for x < 0."""
def hyp1f1(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Kummer's function Σ (a)_k x^k/((b)_k k!) over k = 0, 1, …."""
def hyp2f1(a: ArrayLike, b: ArrayLike, c: ArrayLike, z: ArrayLike) -> Array:
    """Gauss's function Σ (a)_k (b)_k z^k/((c)_k k!) over k = 0, 1, …, continued to z < 1."""
def sph_harm_y(n: ArrayLike, m: ArrayLike, theta: ArrayLike, phi: ArrayLike, diff_n: Any = None, n_max: int | None = None) -> Array:
    """The spherical harmonic of degree n and order m, orthonormal, with the phase (-1)^m."""
def sinc(x: ArrayLike, *, out: bool | None = None, where: ArrayLike | None = None) -> Array:
    """sin(πx) / (πx), and 1 at 0."""
