"""Cycles of ``_blackbox``'s hierarchies, as programs.

Lines are solved by two sweeps along them with factors that are kept: first every second line, then the others, along
each axis in turn; behind the coarse grid in the opposite order, which makes the cycle symmetric where the operator is.
"""

from __future__ import annotations

import functools

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import cond, scan, switch
from .._core import dtypes, tree, typeof
from ._along import shifted, slab
from ._blackbox import FACTORS, Plan, base, classes, halved, marches, part, sides, step
from ._couplings import offsets
from ._factors import Spec, solved


def product(plan: Plan, elements: tuple, u):
    """Σ over the offsets of element × (field there)."""
    return product_on(plan.shape, plan.rings, elements, u)


def product_on(shape: tuple, rings: tuple, elements: tuple, u):
    """The same for a shape."""
    wide = u
    for axis, ring in enumerate(rings):
        n = typeof(wide).shape[axis]
        if ring:
            ends = [slab(wide, axis, n - 1, n), slab(wide, axis, 0, 1)]
            wide = xnp.concatenate([ends[0], wide, ends[1]], axis=axis)
        else:
            wide = _padded(wide, axis, 1, 1)
    terms = [
        c * wide[tuple(slice(1 + s, 1 + s + n) for s, n in zip(o, shape, strict=True))]
        for o, c in zip(offsets(len(shape)), elements, strict=True)
    ]
    return functools.reduce(xnp.add, terms)


def _padded(x, axis: int, low: int, high: int, inner: int = 0):
    one = lambda n: tuple(n * (i == axis) for i in range(typeof(x).ndim))  # noqa: E731
    return ops.pad(
        x, xnp.zeros((), typeof(x).dtype), low=one(low), high=one(high), interior=one(inner)
    )


# Transfers


def prolong(plan: Plan, w: tuple, u):
    """Values on a level from those on the next."""
    parts = {(): u}
    for between, ws in zip(classes(plan)[1:], w, strict=True):
        terms = [
            x * _beside(plan, parts[base(between, s)], between, s)
            for x, s in zip(ws, sides(between), strict=True)
        ]
        parts[between] = functools.reduce(xnp.add, terms)
    for axis in (i for i, s in enumerate(plan.strides) if s == 2):
        rest = [t for t in parts if axis not in t]
        parts = {t: _woven(plan, parts[t], parts[tuple(sorted((*t, axis)))], axis) for t in rest}
    return parts[()]


def restrict(plan: Plan, w: tuple, r):
    """What is left to do, summed to coarse nodes: the transpose of ``prolong`` with these weights."""
    parts = {t: r[part(plan, t)] for t in classes(plan)}
    for between, ws in reversed(list(zip(classes(plan)[1:], w, strict=True))):
        for x, s in zip(ws, sides(between), strict=True):
            to = base(between, s)
            parts[to] = parts[to] + _beside(plan, x * parts[between], between, s, back=True)
    return parts[()]


def _beside(plan: Plan, x, between: tuple, side: tuple, back: bool = False):
    """Values at the neighbours on these sides, or from there back to them."""
    for axis, s in zip(between, side, strict=True):
        if s:
            by, ring = step(plan, axis, s)
            by = -by if back else by
            if ring:
                x = shifted(x, axis, by, True)
                continue
            count, n = halved(plan, axis)[0 if back else 1], typeof(x).shape[axis]
            x = _padded(x, axis, -by, count + by - n)  # negative ones cut
    return x


def _woven(plan: Plan, coarse, between, axis: int):
    """A field from its parts at coarse nodes and between, along an axis."""
    off, n = plan.starts[axis], plan.shape[axis]
    place = lambda x, first: _padded(x, axis, first, n - first - 2 * typeof(x).shape[axis] + 1, 1)  # noqa: E731
    return place(coarse, off) + place(between, 1 - off)


# Smoothing


def _polynomial(plan: Plan, held: dict, u, b, reverse: bool):
    """Chebyshev's polynomial of degree 3 over the upper part of the spectrum of D⁻¹ A."""
    a, ndim = held["a"], len(plan.shape)
    whole = a[len(a) // 2] * held["reach"].astype(typeof(b).dtype)
    low, high = 1.0 / (ndim + 1), 2.0
    centre, radius = (high + low) / 2, (high - low) / 2
    r = b - product(plan, a, u)
    d = r / (centre * whole)
    u, rho = u + d, radius / centre
    for _ in range(2):
        new = 1 / (2 * centre / radius - rho)
        r = r - product(plan, a, d)
        d, rho = (new * rho) * d + (2 * new / radius) * (r / whole), new
        u = u + d
    return u


def _lines(plan: Plan, held: dict, u, b, reverse):
    """All unknowns of every second line at once, then of the others, along each axis in turn.

    One loop over the sweeps, so that each axis is compiled once.
    """
    ways = [functools.partial(_sweep, plan, held, axis) for axis in plan.lines]
    which = np.repeat(np.arange(len(plan.lines), dtype=np.int32), 2)
    colours = np.tile(np.array([0, 1], np.int32), len(plan.lines))

    def sweep(u, at):
        at = xnp.where(reverse, 2 * len(ways) - 1 - at, at)
        r = b - product(plan, held["a"], u)
        return u + switch(which[at], ways, r, colours[at]), None

    which, colours = xnp.asarray(which), xnp.asarray(colours)
    return scan(sweep, u, np.arange(2 * len(ways), dtype=np.int32))[0]


def _sweep(plan: Plan, held: dict, axis: int, r, colour):
    """What solves the lines of a colour along an axis."""
    x = xnp.moveaxis(_solved(held["lines"][axis], xnp.moveaxis(r, axis, 0)), 0, axis)
    if len(plan.shape) == 1:
        return x
    other = 1 if axis == 0 else 0
    parity = np.arange(plan.shape[other]) % 2
    parity = parity.reshape([-1 if i == other else 1 for i in range(len(plan.shape))])
    return xnp.where(xnp.asarray(parity.astype(np.int32)) == colour, x, 0)


def _solved(factors: dict, r):
    """All lines, which lie along the first axis, with their factors."""
    lower, pivots, upper = factors["lower"], factors["pivots"], factors["upper"]
    zero = xnp.zeros_like(r[0])

    def down(y, row):
        y = row[0] - row[1] * y
        return y, y

    def up(x, row):
        x = row[0] - row[1] * x
        return x, x

    y = scan(down, zero, (pivots * r, lower))[1]
    x = scan(up, zero, (y, upper), reverse=True)[1]
    if "z" in factors:
        x = x - factors["z"] * (x[0] + factors["link"] * x[-1])  # pyright: ignore[reportOptionalSubscript]
    return x


# Cycles


def smooth(plan: Plan, held: dict, u, b, reverse):
    return _SMOOTH[plan.smoother](plan, held, u, b, reverse)


def _marches(plan: Plan, held: dict, u, b, reverse):
    """Sweeps from half of the corners to the opposite ones; on the way back from the others."""
    ways = marches(plan)
    half = len(ways) // 2

    def sweep(k):
        spec = Spec(plan.shape, plan.rings, ways[k])
        return lambda r: solved(spec, held["keys"][k], held["a"], r)

    def step(u, k):
        r = b - product(plan, held["a"], u)
        return u + switch(k, [sweep(i) for i in range(len(ways))], r), None

    first = xnp.where(reverse, np.int32(half), np.int32(0))
    return scan(step, u, first + np.arange(half, dtype=np.int32))[0]


_SMOOTH = {"polynomial": _polynomial, "lines": _lines, "marches": _marches}


def cycle(plans: tuple, arrays: tuple, b):
    """An approximation to A⁻¹ b by one V-cycle."""
    plan, held = plans[0], arrays[0]
    if plan.last == "dense":
        return (held["inverse"] @ b.reshape(-1)).reshape(plan.shape)
    if plan.last == "algebraic":
        return held["m"].mv(b.reshape(-1)).reshape(plan.shape)
    if plan.last in FACTORS:
        return solved(Spec(plan.shape, plan.rings, plan.last), held["key"], held["a"], b)

    def coarse(u):
        if plan.last:
            return u
        back = held["p"] if held["r"] is None else held["r"]
        live = (lambda x: x) if held["live"] is None else (lambda x: xnp.where(held["live"], x, 0))
        r = restrict(plan, back, live(b - product(plan, held["a"], u)))
        return u + live(prolong(plan, held["p"], cycle(plans[1:], arrays[1:], r)))

    def half(u, second):  # one loop, so that smoothing is compiled once
        u = smooth(plan, held, u, b, second)
        return cond(second, lambda u: u, coarse, u), None

    middle = held["a"][len(held["a"]) // 2]
    start = xnp.zeros(plan.shape, xnp.result_type(b, middle))  # complex where elements are
    return scan(half, start, np.array([False, True]))[0]


def in_dtype(arrays, dtype):
    """The arrays of a hierarchy in a dtype; complex ones stay so, and keys and places."""

    def cast(x):
        x = np.asarray(x)
        wide = np.promote_types(dtype, np.complex64) if np.iscomplexobj(x) else dtype
        return xnp.asarray(x.astype(wide) if dtypes.is_inexact(x.dtype) else x)

    return tree.map(cast, arrays)
