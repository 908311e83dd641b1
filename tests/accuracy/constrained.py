"""Constraints, sets and boxes in all units: whether a success is the minimum, and is feasible.

Solutions are known by construction: conditions of Karush, Kuhn and Tucker are written down first, and the
problem for them.
"""

import numpy as np

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo
from tests.accuracy.book import Claim, Routine
from tests.accuracy.matrices import eps, generator

DTYPES = ("f32", "f64")
WAYS = ("one", "vmap")
N = 4
# name: (decades of the variables' units, unit of the values, of the constraints, multipliers of the active ones)
FAMILIES = {
    "plain": (0, 1.0, 1.0, (1.0, 2.0)), "spread": (6, 1.0, 1.0, (1.0, 2.0)), "values-small": (0, 1e-12, 1.0, (1.0, 2.0)),
    "values-large": (0, 1e12, 1.0, (1.0, 2.0)), "constraints-small": (0, 1.0, 1e-9, (1.0, 2.0)),
    "constraints-large": (0, 1.0, 1e9, (1.0, 2.0)), "weak": (0, 1.0, 1.0, (0.0, 1.0)), "inactive": (0, 1.0, 1.0, (0.0, 0.0)),
}  # fmt: skip


def _units(family, dtype):
    decades, value, constraint, _ = FAMILIES[family]
    scale = 10.0 ** (decades * (np.arange(N) / (N - 1) - 0.5))
    return scale.astype(dtype), np.asarray(value, dtype), np.asarray(constraint, dtype)


def _parts(family):
    """h, g, rows and sides of z ↦ zᵀh z/2 - g z, rows z >= sides: least at z = 1, where two rows are active."""
    rng = generator("constrained")
    m, rows = rng.standard_normal((N, N)), rng.standard_normal((4, N))
    h, weights = m @ m.T / N + np.eye(N), np.array([*FAMILIES[family][3], 0, 0])
    room = np.array([0, 0, 1, 2]) if family != "inactive" else np.ones(4)
    return h, h.sum(1) - rows.T @ weights, rows, rows.sum(1) - room


def _quadratic(family, n, dtype):
    scale, value, constraint = _units(family, dtype)
    start = scale * generator("start", "qp").uniform(-1, 2, N)
    return (
        start.astype(dtype),
        scale,
        value,
        constraint,
        *(x.astype(dtype) for x in _parts(family)),
    )


def _program(method):
    def call(x0, scale, value, constraint, h, g, rows, least):
        f = lambda x: value * (0.5 * (x / scale) @ h @ (x / scale) - g @ (x / scale))
        inside = xo.Constraints(ineq=lambda x: constraint * (rows @ (x / scale) - least))
        found = xo.minimize_constrained(f, x0, (), inside, method)
        return found.x, found.status

    return call


def _circle(method):
    """Least sum of x where |x / unit| is that of ones."""

    def call(x0, scale, value, constraint, *_):
        on = xo.Constraints(eq=lambda x: constraint * (xnp.sum((x / scale) ** 2) - N))
        found = xo.minimize_constrained(lambda x: -value * xnp.sum(x / scale), x0, (), on, method)
        return found.x, found.status

    return call


def _contradiction(method):
    """x >= 1 and x <= -1, in all units: nothing is feasible."""

    def call(x0, scale, value, constraint, *_):
        far = lambda x: constraint * xnp.stack([x[0] / scale[0] - 1, -x[0] / scale[0] - 1])
        inside = xo.Constraints(ineq=far)
        f = lambda x: value * xnp.sum((x / scale) ** 2)
        found = xo.minimize_constrained(f, x0, (), inside, method)
        return found.x, found.status

    return call


def _at_one(arrays, found):
    """Conditions hold to tol, so that x does to some times that: eigenvalues here are from 1 to about 3."""
    (x, status), scale = found, arrays[1].astype(float)
    error = np.abs(x.astype(float) / scale - 1).max()
    error = error if np.isfinite(error) else np.inf
    return [Claim("success: x", error, 10 * eps(arrays[0].dtype) ** 0.4, status == 0)]


def _never(arrays, found):
    return [Claim("success: feasible", 1.0, 0.5, found[1] == 0)]


# Sets given by proximal maps; what is claimed is the map's residual beside the largest gradient

SIZES = {"plain": 1.0, "small": 1e-3, "large": 1e3}


def _near(family, n, dtype):
    y = SIZES[family] * generator("near", family).standard_normal(n) * 2
    curvature = np.linspace(1, 10, n)
    return y.astype(dtype), curvature.astype(dtype), np.asarray(SIZES[family], dtype)


def _proximal(make):
    def call(y, curvature, size):
        f = lambda x: 0.5 * xnp.sum(curvature * (x - y) ** 2)
        found = xo.proximal_gradient(f, xnp.zeros_like(y), make(size))
        return found.x, found.status

    return call


def _soft(x, size):
    return np.sign(x) * np.maximum(np.abs(x) - size, 0)


def _onto_simplex(x, size):
    """Water is poured until the sum is 1."""
    low, high = x.min() - 1.0, x.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(x - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(x - (low + high) / 2, 0)


def _fixed(project):
    """|x - prox(x - gradient)| is at most what was asked of (x - prox(x - step gradient)) / step, step <= 1:

    that share of the largest gradient that was seen, of which we know those where it begins and ends.
    """

    def judge(arrays, found):
        (y, curvature, size), x = (a.astype(np.longdouble) for a in arrays), found[0]
        e, x = eps(x.dtype), x.astype(np.longdouble)
        g = curvature * (x - y)
        left = np.abs(x - project(x - g, size)).max()
        left = left if np.isfinite(left) else np.inf
        seen = max(np.abs(curvature * (z - y)).max() for z in (project(0 * y, size), x))
        rounding = 8 * e * (np.abs(curvature * y).max() + np.abs(x).max())
        bound = 1.05 * e**0.4 * seen + rounding
        return [Claim("success: |x - prox(x - g)| <= tol |g|", left, bound, found[1] == 0)]

    return judge


# Many hills


def _box(family, n, dtype):
    return (np.asarray({"0": 0, "1": 1, "2": 2}[family], np.uint32), np.asarray(1.0, dtype))


def _evolved(seed, one):
    hills = lambda x: xnp.sum(x**2 + 10 - 10 * xnp.cos(2 * np.pi * x))
    box = (-5 * one * xnp.ones(2, one.dtype), 5 * one * xnp.ones(2, one.dtype))
    found = xo.differential_evolution(hills, box, key=xc.random.key(seed))
    return found.x, found.status


def _lowest(arrays, found):
    error = float(np.abs(found[0].astype(float)).max())
    return [Claim("success: x", error, 10 * eps(arrays[1].dtype) ** 0.4, found[1] == 0)]


def _row(name, problem, call, judge, families, ways=WAYS):
    return Routine(
        name, "optimize", problem, xc.jit(call), judge, tuple(families), DTYPES, (N,), ways, (N,)
    )


ROUTINES = [
    *(
        _row(f"constrained-{method}-{name}", _quadratic, make(method), judge, families)
        for method in ("sqp", "augmented-lagrangian")
        for name, make, judge, families in (
            ("qp", _program, _at_one, FAMILIES),
            ("circle", _circle, _at_one, [f for f in FAMILIES if f not in ("weak", "inactive")]),
            ("contradiction", _contradiction, _never, [f for f in FAMILIES if f not in ("weak", "inactive")]),
        )
    ),
    _row("proximal-l1", _near, _proximal(lambda size: xo.prox.l1(size)), _fixed(_soft), SIZES),
    _row("proximal-simplex", _near, _proximal(lambda size: xo.prox.simplex()), _fixed(_onto_simplex), SIZES),
    _row("differential_evolution", _box, _evolved, _lowest, ("0", "1", "2"), ("one",)),
]  # fmt: skip
