"""Special functions, distributions and Fourier transforms: errors in units of the last place.

Points, domains and references of the special functions are those of ``tests/special/table.py``.
"""

import functools

import mpmath
import numpy as np

import xcore as xc
import xcore.numpy as xnp
from tests.accuracy import wide as w
from tests.accuracy.book import Ratio, Routine
from tests.accuracy.matrices import eps, generator
from tests.special.table import ROWS

REAL = ("f16", "bf16", "f32", "f64")
ELEMENTWISE = ("one", "jit", "vmap")
stats = xc.stats


@functools.cache
def _exact(row, dtype) -> tuple:
    """(points in the dtype, exact values there)."""
    points = tuple(p.astype(dtype) for p in row.points())
    with mpmath.workdps(40):
        numbers = zip(*[map(mpmath.mpf, w.narrow(p).tolist()) for p in points], strict=True)
        return points, [_exactly(row, xs) for xs in numbers]


def _exactly(row, xs):
    """NaN at poles, where points that are rounded to 16 bits may lie: nobody owes a finite number."""
    try:
        return mpmath.re(row.exact(*xs))
    except (ValueError, ZeroDivisionError):
        return mpmath.nan


def units(found, values, dtype) -> float:
    """The largest error in units of the last place, of values that the dtype has as normal numbers."""
    info = xnp.finfo(dtype)
    worst = 0.0
    for got, true in zip(w.narrow(found).tolist(), values, strict=True):
        size = abs(float(true)) if mpmath.isfinite(true) else np.inf
        if not float(info.tiny) < size < float(info.max):
            continue
        if not np.isfinite(got):
            return np.inf
        unit = 2.0 ** np.floor(np.log2(size)) * eps(dtype)
        worst = max(worst, float(abs(mpmath.mpf(got) - true)) / unit)
    return worst


def _special(row):
    def problem(family, n, dtype):
        return _exact(row, dtype)[0]

    def judge(arrays, found):
        return [Ratio("units in the last place", units(found, _exact(row, arrays[0].dtype)[1], found.dtype))]  # fmt: skip

    return problem, lambda *xs: row(*xs), judge


def _every(rows):
    for row in rows:
        problem, call, judge = _special(row)
        yield Routine(
            f"special.{row}".replace(" ", ""), "special", problem, call, judge, ("domain",),
            REAL if row.f64 < np.inf and row.f32 < np.inf else ("f64",), (0,), ELEMENTWISE, (0,),
        )  # fmt: skip


# Distributions: name -> (xcore's, mpmath's cdf and sf at x, points)

_HALF = mpmath.mpf(1) / 2


def _normal(x):
    root = mpmath.sqrt(2)
    return mpmath.erfc(-x / root) / 2, mpmath.erfc(x / root) / 2


def _gamma(x):
    return mpmath.gammainc(2.5, 0, x, regularized=True), mpmath.gammainc(2.5, x, regularized=True)


def _student(x):
    """Of three degrees of freedom, in closed form."""
    z = x / mpmath.sqrt(3)
    part = (z / (1 + z * z) + mpmath.atan(z)) / mpmath.pi
    return _HALF + part, _HALF - part


def _logistic(x):
    return 1 / (1 + mpmath.exp(-x)), 1 / (1 + mpmath.exp(x))


def _beta(x):
    return mpmath.betainc(2, 3, 0, x, regularized=True), mpmath.betainc(3, 2, 0, 1 - x, regularized=True)  # fmt: skip


def _ratio(x):
    """Of Fisher's distribution with (3, 5) degrees of freedom: its beta variable rounds to 1 from 1e8 or 1e16 on."""
    above, below = 5 / (3 * x + 5), 3 * x / (3 * x + 5)
    return mpmath.betainc(1.5, 2.5, 0, below, regularized=True), mpmath.betainc(2.5, 1.5, 0, above, regularized=True)  # fmt: skip


DISTRIBUTIONS = {
    "norm": (stats.norm, (), _normal, (-12.0, 12.0)),
    "gamma": (stats.gamma, (2.5,), _gamma, (0.0, 60.0)),
    "t": (stats.t, (3.0,), _student, (-40.0, 40.0)),
    "logistic": (stats.logistic, (), _logistic, (-40.0, 40.0)),
    "beta": (stats.beta, (2.0, 3.0), _beta, (0.0, 1.0)),
    "f": (stats.f, (3.0, 5.0), _ratio, (1e-12, 1e12)),
}
POINTS = 24


def _points(name, dtype):
    low, high = DISTRIBUTIONS[name][3]
    if low > 0:  # over all sizes
        return np.exp(generator(name).uniform(np.log(low), np.log(high), POINTS)).astype(dtype)
    return generator(name).uniform(low, high, POINTS).astype(dtype)


def _probability(name, which):
    family, shapes, both, _ = DISTRIBUTIONS[name]

    def judge(arrays, found):
        with mpmath.workdps(40):
            values = [both(mpmath.mpf(float(x)))[which] for x in arrays[0]]
        return [Ratio("units in the last place", units(found, values, found.dtype))]

    f = family.cdf if which == 0 else family.sf
    call = lambda x: f(x, *(xnp.asarray(s, x.dtype) for s in shapes))
    return lambda family, n, dtype: (_points(name, dtype),), call, judge


def _quantile(name):
    """Back through the exact distribution: |F(ppf(q)) - q| over what one rounding of the point makes."""
    family, shapes, both, _ = DISTRIBUTIONS[name]

    def judge(arrays, found):
        worst = 0.0
        with mpmath.workdps(40):
            for q, x in zip(arrays[0].tolist(), found.tolist(), strict=True):
                if not np.isfinite(x):
                    return [Ratio("steps of the point", np.inf)]
                x, step = mpmath.mpf(x), max(abs(x), 1e-30) * eps(found.dtype)
                here, beside = both(x)[0], both(x + step)[0]
                worst = max(worst, float(abs(here - q) / abs(beside - here)))
        return [Ratio("steps of the point", worst)]

    call = lambda q: family.ppf(q, *(xnp.asarray(s, q.dtype) for s in shapes))
    quantiles = lambda dtype: (
        10.0 ** -generator(name, "ppf").uniform(0.01, 20, POINTS).astype(dtype)
    )
    return lambda family, n, dtype: (quantiles(dtype).astype(dtype),), call, judge


def _distributions():
    more = {"families": ("points",), "dtypes": ("f32", "f64"), "sizes": (0,), "ways": ELEMENTWISE, "compiled": (0,)}  # fmt: skip
    for name in DISTRIBUTIONS:
        for which, word in enumerate(("cdf", "sf")):
            yield Routine(f"stats.{name}.{word}", "stats", *_probability(name, which), **more)
        yield Routine(f"stats.{name}.ppf", "stats", *_quantile(name), **more)


# Fourier transforms: |y - exact| over eps log₂ n |x|


def _signal(family, n, dtype):
    rng = generator("fft", n)
    x = rng.standard_normal(n) + 1j * rng.standard_normal(n)
    size = {"random": 1.0, "graded": 10.0 ** -np.linspace(0, 6, n)}[family]
    return ((x * size).astype(dtype),)


def _transform(x):
    """By the definition, in extended precision."""
    n = len(x)
    k = np.arange(n)
    turns = np.longdouble(2) * np.arctan2(np.longdouble(0), np.longdouble(-1)) * (np.outer(k, k) % n) / n  # fmt: skip
    return (np.cos(turns) - 1j * np.sin(turns)) @ w.widest(x)


def _fourier(arrays, found):
    (x,) = arrays
    size = np.linalg.norm(w.narrow(x)) * len(x) ** 0.5
    error = float(np.linalg.norm(w.narrow(w.widest(found) - _transform(x))))
    return [Ratio("|y - exact|", error / (eps(x.dtype) * max(np.log2(len(x)), 1) * size))]


def _back(arrays, found):
    (x,) = arrays
    error = np.linalg.norm(w.narrow(w.widest(found) - w.widest(x)))
    return [Ratio("|ifft(fft(x)) - x|", float(error / (eps(x.dtype) * max(np.log2(len(x)), 1) * np.linalg.norm(w.narrow(x)))))]  # fmt: skip


_COMPLEX = {"families": ("random", "graded"), "dtypes": ("c64", "c128"), "sizes": (1, 7, 64, 100, 997)}  # fmt: skip
ROUTINES = [
    *_every(ROWS), *_distributions(),
    Routine("fft", "fft", _signal, xnp.fft.fft, _fourier, **_COMPLEX),
    Routine("fft-ifft", "fft", _signal, lambda x: xnp.fft.ifft(xnp.fft.fft(x)), _back, **_COMPLEX),
]  # fmt: skip
