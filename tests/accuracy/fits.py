"""Minima, fits and roots in all units: whether a success is one, and whether intervals cover."""

import numpy as np

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo
from tests.accuracy.book import Claim, Routine
from tests.accuracy.matrices import eps, generator

DTYPES = ("f32", "f64")
WAYS = ("one", "vmap")


# Minima: f(x / s) v, whose minimum is s · 1


def rosenbrock(x):
    return xnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def valley(x):
    """A quadratic function of condition 1e4, in rotated coordinates."""
    n = x.shape[0]
    d = x - 1
    turned = d - 2 * xnp.mean(d)
    return xnp.sum(10.0 ** (4 * np.arange(n) / max(n - 1, 1)) * turned**2)


def flat(x):
    """Of the fourth order at its minimum."""
    return xnp.sum((x - 1) ** 4) + xnp.sum(xnp.diff(x) ** 2)


FUNCTIONS = {"rosenbrock": rosenbrock, "valley": valley, "flat": flat}
# name: (decades of the variables' units, unit of the values)
UNITS = {
    "plain": (0, 1.0), "spread": (6, 1.0), "far-spread": (12, 1.0), "values-small": (0, 1e-20),
    "values-large": (0, 1e20), "both": (6, 1e-12),
}  # fmt: skip
METHODS = ("L-BFGS-B", "BFGS", "CG", "Newton-CG", "trust-exact", "Nelder-Mead")


def _units(n, decades):
    return 10.0 ** (decades * (np.arange(n) / max(n - 1, 1) - 0.5))


def _start(family, n, dtype):
    decades, value = UNITS[family]
    scale = _units(n, decades)
    x0 = scale * (1 + generator("start", n).uniform(-0.5, 0.5, n))
    return x0.astype(dtype), scale.astype(dtype), np.asarray(value, dtype)


def _minimised(f, method):
    def call(x0, scale, value):
        found = xo.minimize(lambda x: value * f(x / scale), x0, method=method)
        return found.x, found.status

    return call


def _minimum(arrays, found):
    """Each variable relative to its unit, of the order of which it is; three times what was asked for,

    as errors are estimated by a Newton step.
    """
    (x0, scale, _), (x, status) = arrays, found
    error = np.abs(x.astype(float) / scale - 1).max()
    error = error if np.isfinite(error) else np.inf
    return [Claim("success: x", error, 3 * eps(x0.dtype) ** 0.4, status == 0)]


def _minima():
    for name, f in FUNCTIONS.items():
        for method in METHODS:
            yield Routine(
                f"minimize-{method}-{name}", "optimize", _start, xc.jit(_minimised(f, method)), _minimum,
                tuple(UNITS), DTYPES, (5,), WAYS, (5,),
            )  # fmt: skip


# Least squares: a exp(-b t) + c through data, in units of y and t


def _curve(p, t, exp):
    return p[0] * exp(-p[1] * t) + p[2]


FITS = {
    "plain": (1.0, 1.0, 1.0, 0.0), "noise": (1.0, 1.0, 1.0, 0.05), "tall": (1e12, 1.0, 1.0, 0.01),
    "quick": (1.0, 1e-9, 1.0, 0.01), "both": (1e-15, 1e6, 1.0, 0.01), "nearly straight": (1.0, 1.0, 0.01, 1e-4),
    "straight": (1.0, 1.0, 1e-5, 0.0), "flat": (1.0, 1.0, 60.0, 0.01),
}  # fmt: skip


def _data(family, n, dtype):
    """(t, y, start); the third number makes decay so slow, or so fast, that the parameters blur."""
    tall, wide_, decay, noise = FITS[family]
    rng = generator("fit", family, n)
    t = np.linspace(0, 4, n)
    y = _curve((2.0, decay, 0.5), t, np.exp) + noise * rng.standard_normal(n)
    return (t * wide_).astype(dtype), (y * tall).astype(dtype), np.array([tall, 1 / wide_, 0]).astype(dtype)  # fmt: skip


def _fitted(t, y, start):
    found = xo.least_squares(lambda p: _curve(p, t, xnp.exp) - y, start)
    return found.x, found.status


def _judge_fit(arrays, found):
    """What is left: the cost that a Gauss-Newton step would still take away, relative to what there is.

    In the metric of JᵀJ, so that no units count: |J step| beside |r| and the rounding of y.
    """
    t, y, _ = (a.astype(np.longdouble) for a in arrays)
    p, ok, e = found[0].astype(np.longdouble), found[1] == 0, eps(arrays[0].dtype)
    r = _curve(p, t, np.exp) - y
    jacobian = np.stack([np.exp(-p[1] * t), -p[0] * t * np.exp(-p[1] * t), np.ones_like(t)], 1)
    if not (np.isfinite(jacobian).all() and np.isfinite(r).all()):
        return [Claim("success: step", np.inf, 1, ok)]
    size = np.maximum(np.abs(jacobian).max(0), 1e-4000)
    q, s, _ = np.linalg.svd((jacobian / size).astype(float), full_matrices=False)
    unit = np.abs(y).max() or 1
    part = q[:, s > 1e-12 * s[0]].T @ (r / unit).astype(float)
    left, size = np.linalg.norm(part), np.linalg.norm((r / unit).astype(float))
    share = 10 * e**0.375 if e > 1e-10 else 1e-4
    return [Claim("success: J step", left, share * size + 30 * e * len(t) ** 0.5, ok)]


# Intervals of fitted parameters: how often they hold the truth

TRUE, TRIALS, POINTS = np.array([2.0, 1.3, 0.5]), 400, 24
NOISES = {"little": (0.02, 1.0), "much": (0.1, 1.0), "units": (0.05, 1e6)}


def _trials(family, n, dtype):
    noise, unit = NOISES[family]
    t = np.linspace(0, 4, POINTS)
    y = _curve(TRUE, t, np.exp) + noise * generator("trials", family).standard_normal((TRIALS, POINTS))  # fmt: skip
    return t.astype(dtype), (y * unit).astype(dtype), np.asarray(unit, dtype)


def _intervals(t, y, unit):
    def one(y):
        start = (unit, xnp.ones_like(unit), xnp.zeros_like(unit))
        fit = xo.curve_fit(lambda t, a, b, c: _curve((a, b, c), t, xnp.exp), t, y, start)
        return (*fit.interval(0.95), fit.result.status)

    return xc.vmap(one)(y)


def coverage(inside, level=0.95):
    """|share - level| of the trials, beside four standard deviations of it."""
    share, count = inside.mean(0), len(inside)
    return [Claim(f"{level:.0%} intervals", np.abs(share - level), 4 * (level * (1 - level) / count) ** 0.5)]  # fmt: skip


def _covers(arrays, found):
    unit = float(arrays[2])
    low, high, status = found
    true = TRUE * np.array([unit, 1, unit])
    return coverage(((low <= true) & (true <= high))[status == 0])


# Roots


def _system(x):
    """x = 1: three equations of different kinds."""
    a, b, c = x
    return xnp.stack([a * b * c - 1, xnp.exp(a - 1) - b, a + b * b - 2 * c])


def _root_start(family, n, dtype):
    decades, _ = UNITS[family]
    scale = _units(3, decades)
    x0 = scale * np.array([1.4, 0.7, 1.2])
    return x0.astype(dtype), scale.astype(dtype), np.asarray(UNITS[family][1], dtype)


def _root(method):
    def call(x0, scale, value):
        found = xo.root(lambda x: value * _system(x / scale), x0, method=method)
        return found.x, found.status

    return call


def _line(x0, scale, value):
    low, high = 0.5 * scale[0], 2.5 * scale[0]
    found = xo.minimize_scalar(lambda x: value * ((x / scale[0] - 1) ** 2 + 0.1 * (x / scale[0] - 1) ** 4), bounds=(low, high))  # fmt: skip
    return found.x, found.status


def _minimum_on_line(arrays, found):
    error = np.abs(float(found[0]) / float(arrays[1][0]) - 1)
    return [Claim("success: x", error, 30 * eps(arrays[0].dtype) ** 0.5, found[1] == 0)]


def _others():
    for method in ("hybr", "newton", "broyden"):
        yield Routine(f"root-{method}", "optimize", _root_start, xc.jit(_root(method)), _minimum, tuple(UNITS), DTYPES, (3,), WAYS, (3,))  # fmt: skip
    yield Routine("minimize_scalar", "optimize", _root_start, xc.jit(_line), _minimum_on_line, tuple(UNITS), DTYPES, (3,), WAYS, (3,))  # fmt: skip
    yield Routine("least_squares", "optimize", _data, xc.jit(_fitted), _judge_fit, tuple(FITS), DTYPES, (12, 40), WAYS, (12,))  # fmt: skip
    yield Routine("curve_fit", "optimize", _trials, _intervals, _covers, tuple(NOISES), DTYPES, (POINTS,), ("one",), ())  # fmt: skip


ROUTINES = [*_minima(), *_others()]
