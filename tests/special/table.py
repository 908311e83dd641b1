"""Every function with its mpmath reference, where it is tested, and how many units it may be off.

A row's points are float32 numbers, so that one reference serves both precisions. ``f64`` and ``f32``
bound the error in units in the last place of the exact result; docs/special.md is made from them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mpmath as mp
import numpy as np

import xcore.special as special

POINTS = 32


@dataclass(frozen=True)
class Row:
    name: str
    exact: Callable  # of mpmath numbers
    domain: tuple  # one (text, sampler) per argument
    f64: float
    f32: float = 1.0
    f: Callable | None = None  # where it is not special.<name>
    fixed: tuple = ()  # arguments without a derivative
    label: str = ""

    def __call__(self, *xs):
        return (self.f or getattr(special, self.name))(*xs)

    def __str__(self):
        return self.label or self.name

    def points(self, count: int = POINTS) -> list[np.ndarray]:
        rng = np.random.default_rng(sum(map(ord, str(self))))
        return [sample(rng, count).astype(np.float32) for _, sample in self.domain]


def line(low, high):
    """Uniform on an interval."""
    return f"[{low:g}, {high:g}]", lambda rng, n: rng.uniform(low, high, n)


def powers(low, high, sign=1.0):
    """Sizes from 10^low to 10^high, of all magnitudes alike."""
    text = f"{'-' if sign < 0 else ''}[1e{low:g}, 1e{high:g}]"
    return text, lambda rng, n: sign * 10.0 ** rng.uniform(low, high, n)


def around(center, low, high):
    """A number plus sizes from 10^low to 10^high on either side."""
    signs = lambda rng, n: rng.choice([-1.0, 1.0], n)
    text = f"{center:g} ± [1e{low:g}, 1e{high:g}]"
    return text, lambda rng, n: center + signs(rng, n) * 10.0 ** rng.uniform(low, high, n)


def whole(low, high):
    return f"{low}, …, {high}", lambda rng, n: rng.integers(low, high + 1, n).astype(float)


def either(*domains):
    """Each of several domains in turn."""

    def sample(rng, n):
        parts = [s(rng, n) for _, s in domains]
        return np.stack(parts)[np.arange(n) % len(parts), np.arange(n)]

    return " or ".join(text for text, _ in domains), sample


def series(term, count: int):
    return sum((term(mp.mpf(k)) for k in range(count)), mp.mpf(0))


def _erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def _log_ndtr(x):
    return mp.log(mp.ncdf(x)) if x < 0 else mp.log1p(-mp.ncdf(-x))


def _log_gamma(x):
    return mp.log(abs(mp.gamma(x)))


def _upper(a, x):
    return mp.gammainc(a, x, regularized=True)


def _lower(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def _beta_part(a, b, x):
    return mp.betainc(a, b, 0, x, regularized=True)


def _owens_t(h, a):
    return mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, a]) / (2 * mp.pi)


def _box(x, power):
    return mp.expm1(power * mp.log(x)) / power


SIZE = either(line(-6, 6), powers(-10, 0))

ERROR = (
    Row("erf", mp.erf, (SIZE,), 1.5, 3),
    Row("erfc", mp.erfc, (either(line(-6, 9), powers(-10, 0)),), 4, 4),
    Row("erfc", mp.erfc, (line(9, 26),), 4, np.inf, label="erfc, far"),
    Row("erfcx", _erfcx, (either(line(-6, 26), powers(-10, 5)),), 3, 4),
    Row("erfi", mp.erfi, (SIZE,), 4),
    Row("erfinv", mp.erfinv, (either(line(-1, 1), powers(-12, 0), around(0, -6, 0)),), 5, 4),
    Row("erfcinv", lambda p: mp.erfinv(1 - p), (either(line(0, 2), powers(-15, 0)),), 6, 5),
    Row("ndtr", mp.ncdf, (either(line(-12, 9), powers(-10, 0)),), 5, 5),
    Row("log_ndtr", _log_ndtr, (either(line(-37, 9), powers(-10, 4, -1)),), 5, 6),
    Row(
        "ndtri",
        lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1),
        (either(line(0, 1), powers(-15, 0)),),
        6,
        6,
    ),
    Row("dawsn", lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), (SIZE,), 4),
    Row("fresnel", mp.fresnels, (SIZE,), 5, f=lambda x: special.fresnel(x)[0], label="fresnel, S"),
    Row("fresnel", mp.fresnelc, (SIZE,), 5, f=lambda x: special.fresnel(x)[1], label="fresnel, C"),
    Row("owens_t", _owens_t, (powers(-2, 0.6), powers(-2, 1)), 20),
)

GAMMA = (
    Row("gamma", mp.gamma, (either(line(0, 34), powers(-10, 0)),), 5, 5),
    Row("gamma", mp.gamma, (line(-20, 0),), 8, 8, label="gamma, left"),
    Row("gamma", mp.gamma, (line(34, 170),), 6, np.inf, label="gamma, far"),
    Row("gammaln", _log_gamma, (either(line(0, 5), powers(-10, 6)),), 4, 4),
    Row("rgamma", mp.rgamma, (line(-10, 30),), 8),
    Row("digamma", mp.digamma, (either(line(0, 5), powers(-10, 6)),), 4, 4),
    Row("polygamma", lambda n, x: mp.psi(int(n), x), (whole(0, 6), powers(-3, 3)), 8, fixed=(0,)),
    Row("zeta", mp.zeta, (line(1.001, 8), powers(-2, 2)), 5, label="zeta, Hurwitz"),
    Row("zeta", mp.zeta, (line(-10, 30),), 60, 2, label="zeta, Riemann"),
    Row("multigammaln", lambda a: 3 * mp.log(mp.pi) + series(lambda j: mp.loggamma(a - j / 2), 4),
        (line(2, 30),), 4, 4, f=lambda a: special.multigammaln(a, 4)),
    Row("beta", mp.beta, (powers(-3, 2), powers(-3, 2)), 10),
    Row("betaln", lambda a, b: mp.log(mp.beta(a, b)), (powers(-3, 3), powers(-3, 3)), 20),
    Row("poch", mp.rf, (powers(-2, 2), line(0, 10)), 20),
    Row("binom", mp.binomial, (line(0, 50), line(0, 10)), 40),
    Row("gammainc", _lower, (powers(-2, 2), powers(-2, 2)), 200, 2),
    Row("gammaincc", _upper, (powers(-2, 2), powers(-2, 2)), 200, 2),
    Row("betainc", _beta_part, (powers(-1, 2), powers(-1, 2), line(0, 1)), 60, 2),
)  # fmt: skip

LOGS = (
    Row("expit", lambda x: 1 / (1 + mp.exp(-x)), (line(-80, 80),), 3, 3),
    Row("logit", lambda p: mp.log(p / (1 - p)), (either(line(0, 1), powers(-20, 0)),), 3, 3),
    Row("log_expit", lambda x: -mp.log1p(mp.exp(-x)), (line(-80, 80),), 3, 3),
    Row("entr", lambda x: -x * mp.log(x), (powers(-12, 2),), 2, 2),
    Row("rel_entr", lambda x, y: x * mp.log(x / y), (powers(-2, 2), powers(-2, 2)), 3, 3),
    Row("kl_div", lambda x, y: x * mp.log(x / y) - x + y, (powers(-2, 2), powers(-2, 2)), 6, 6),
    Row("kl_div", lambda x, y: x * mp.log(x / y) - x + y, (around(1, -3, -1), around(1, -3, -1)), 6, 6, label="kl_div, close"),
    Row("xlogy", lambda x, y: x * mp.log(y), (powers(-2, 2), powers(-9, 9)), 2, 2),
    Row("xlog1py", lambda x, y: x * mp.log1p(y), (powers(-2, 2), powers(-9, 2)), 3, 3),
    Row("exprel", lambda x: mp.expm1(x) / x, (either(line(-30, 30), powers(-9, 0)),), 4, 4),
    Row("boxcox", _box, (powers(-2, 2), either(line(-3, 3), powers(-9, 0))), 12, 16),
    Row("boxcox1p", lambda x, p: _box(1 + x, p), (powers(-6, 2), either(line(-3, 3), powers(-9, 0))), 12, 16),
    Row("inv_boxcox", lambda y, p: mp.exp(mp.log1p(p * y) / p), (line(0, 3), either(line(0, 3), powers(-9, 0))), 6),
    Row("inv_boxcox1p", lambda y, p: mp.expm1(mp.log1p(p * y) / p), (line(0, 3), either(line(0, 3), powers(-9, 0))), 6),
)  # fmt: skip

INTEGRALS = (
    Row("exp1", mp.e1, (either(line(0, 20), powers(-10, 0)),), 6),
    Row("expi", mp.ei, (either(line(-20, 50), powers(-10, 0)),), 10),
    Row("expn", lambda n, x: mp.expint(int(n), x), (whole(0, 8), powers(-3, 1.5)), 10, fixed=(0,)),
    Row("sici", mp.si, (SIZE,), 5, f=lambda x: special.sici(x)[0], label="sici, Si"),
    Row("sici", mp.ci, (either(line(0, 6), powers(-5, 0)),), 10, f=lambda x: special.sici(x)[1], label="sici, Ci"),
    Row("spence", lambda x: mp.polylog(2, 1 - x).real, (either(line(0, 4), powers(-6, 3)),), 8),
    Row("ellipk", mp.ellipk, (either(line(-3, 1), powers(-6, 3, -1)),), 5),
    Row("ellipkm1", lambda p: mp.ellipk(1 - p), (powers(-20, 3),), 8),
    Row("ellipe", mp.ellipe, (either(line(-3, 1), powers(-6, 3, -1)),), 8),
    Row("lambertw", mp.lambertw, (either(line(-0.36, 4), powers(-9, 20)),), 6, label="lambertw, 0"),
    Row("lambertw", lambda x: mp.lambertw(x, -1).real, (either(line(-0.36, 0), powers(-20, -0.5, -1)),), 8,
        f=lambda x: special.lambertw(x, -1), label="lambertw, -1"),
)  # fmt: skip

BESSEL = (
    Row("j0", lambda x: mp.besselj(0, x), (line(-8, 8),), 8),
    Row("j1", lambda x: mp.besselj(1, x), (line(-8, 8),), 8),
    Row("y0", lambda x: mp.bessely(0, x), (either(line(0, 8), powers(-9, 0)),), 12),
    Row("y1", lambda x: mp.bessely(1, x), (either(line(0, 8), powers(-9, 0)),), 12),
    Row("i0", lambda x: mp.besseli(0, x), (line(-80, 80),), 8),
    Row("i1", lambda x: mp.besseli(1, x), (line(-80, 80),), 8),
    Row("i0e", lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), (either(line(-20, 20), powers(-5, 5)),), 6),
    Row("i1e", lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), (either(line(-20, 20), powers(-5, 5)),), 6),
    Row("k0", lambda x: mp.besselk(0, x), (either(line(0, 80), powers(-9, 0)),), 6),
    Row("k1", lambda x: mp.besselk(1, x), (either(line(0, 80), powers(-9, 0)),), 6),
    Row("k0e", lambda x: mp.besselk(0, x) * mp.exp(x), (either(line(0, 20), powers(-5, 3)),), 6),
    Row("k1e", lambda x: mp.besselk(1, x) * mp.exp(x), (either(line(0, 20), powers(-5, 3)),), 6),
    Row("jn", lambda n, x: mp.besselj(int(n), x), (whole(0, 12), powers(-1, 0.7)), 40, 2, fixed=(0,)),
    Row("yn", lambda n, x: mp.bessely(int(n), x), (whole(0, 12), powers(-1, 0.7)), 60, 2, fixed=(0,)),
    Row("kn", lambda n, x: mp.besselk(int(n), x), (whole(0, 12), powers(-1, 1.7)), 20, fixed=(0,)),
)  # fmt: skip

HYPERGEOMETRIC = (
    Row("hyp1f1", mp.hyp1f1, (line(0.1, 5), line(0.1, 5), line(-30, 30)), 400, 4),
    Row("hyp2f1", mp.hyp2f1, (line(0.1, 3), line(0.1, 3), line(0.5, 5), line(-5, 0.95)), 400, 4),
)

ROWS = ERROR + GAMMA + LOGS + INTEGRALS + BESSEL + HYPERGEOMETRIC
