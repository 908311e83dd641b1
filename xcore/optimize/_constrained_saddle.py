"""Whether a point where the first conditions of a constrained minimum hold is a saddle, or a maximum.

The Lagrangian bends downwards along a direction that keeps active constraints: then so does the objective along
the curve in the feasible set that starts there. Constraints with multipliers keep their value along it; those
that hold with a multiplier of 0 may only be left to the side that is allowed. (Nocedal, Wright 2006, section 12.5)
"""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .._control import vmap
from .._core import typeof
from ..numpy._select import safe_divide
from ._problem import largest
from ._units import equilibrated

PARTS = (
    1 / 2,
    5 / 12,
    1 / 3,
)  # powers of tol: how far to look for lower values, relative to the variables


def falls(lagrangian, loosely, keeps, start, x, d, slope, bend, rows, weak_rows, terms, tol):
    """(whether the Lagrangian is visibly lower near x, whether it falls on a straight way, whether a long Newton step
    leads visibly lower): as constraints allow.

    Args:
      loosely: the Lagrangian without the terms of constraints that ``weak_rows`` are of: what is gained where these
        are left, however small their multipliers are beside curvature.
      keeps: whether a point is on the side of inequalities that is allowed.
      d: how large each variable is.
      slope: the Lagrangian's gradient, in such units.
      bend: the Lagrangian's Hessian, in such units.
      rows, weak_rows: gradients of constraints with and without multipliers, zero if not active; in such units.
      terms: the largest of those that the Lagrangian's gradient is the sum of.
    """
    eps = xnp.finfo(typeof(x).dtype).eps
    # where variables are larger or smaller than they seem, curvature tells, but for rounding errors of the terms
    bend = xnp.where(xnp.abs(bend) > 16 * eps * terms, bend, 0)
    unit = equilibrated(xnp.abs(bend))
    bend, rows, weak_rows = bend * unit * unit[:, None], rows * unit, weak_rows * unit
    both = xnp.concatenate([rows, weak_rows])
    w, q = _along(bend, xnp.stack([_spanned(rows), _spanned(both)]))
    least, ways = w[:, 0], q[..., 0]
    way = _straight(slope, unit, w[1], q[1])
    # the one that keeps the others may leave those without multipliers, if to one side
    leaves = _unit(weak_rows) @ ways[0]
    allowed = [xnp.all(sign * leaves >= -(eps**0.5)) for sign in (1, -1)]
    yes = xnp.ones((), bool)
    taken = xnp.stack([*allowed, yes, yes]) & xnp.repeat(least < -(eps**0.5), 2)
    ways = unit * ways
    size = xnp.max(xnp.abs(ways), axis=1, keepdims=True)
    ways = d * ways / xnp.where(size > 0, size, 1)
    sides = [xnp.stack([way, -way]) for way in ways]
    value = lagrangian(x)
    change = lambda f, way: [vmap(f)(x + tol**p * way) - f(x) for p in PARTS]  # noqa: E731
    changes = xnp.concatenate(
        [xnp.stack(change(*each)) for each in zip((loosely, lagrangian), sides)], axis=1
    )
    noise = 8 * eps * (xnp.abs(value) + terms)
    # on as it came
    onward = d * way, x - start
    slopes = xnp.abs(xnp.vdot(slope, way)), lagrangian(start) - value
    far = np.array([1, *(tol**p for p in PARTS)], x.dtype)
    straight = xnp.zeros((), bool)
    for v, a in zip(onward, slopes):
        points = x + far[:, None] * v
        lower = vmap(lagrangian)(points) < value - xnp.maximum(noise, 0.5 * far * xnp.abs(a))
        kept = vmap(keeps)(points)
        straight = straight | (xnp.all(lower | ~kept) & kept[-1])
    step = _newton(slope, unit, w[1], q[1])
    long = largest(step) > tol**0.5
    there = x + d * step * (tol**0.5 / xnp.where(long, largest(step), 1))
    long &= (lagrangian(there) < value - noise) & keeps(there)
    return xnp.any(taken & (changes < -noise)), straight, long


def _newton(slope, unit, w, q):
    """The step to where the slope vanishes along eigenvectors q with curvatures w that are no rounding errors."""
    bent = (w > _noise_of(w)) & (xnp.sum(q * q, axis=0) > 0.5)
    part = safe_divide((unit * slope) @ q, w, 0, where=bent)
    return -unit * (q @ part)


def _noise_of(w):
    """Rounding errors of eigenvalues."""
    return 30 * typeof(w).shape[0] * xnp.finfo(w.dtype).eps * largest(w)


def _straight(slope, unit, w, q):
    """The way down, as long as variables are large, where Newton steps would be longer: where nothing bends."""
    q = xnp.where(xnp.sum(q * q, axis=0) > 0.5, q, 0)  # those of the projector are none
    part = (unit * slope) @ q
    steps = unit[:, None] * q * part
    w = xnp.abs(w)
    long = (w <= _noise_of(w)) | (xnp.max(xnp.abs(steps), axis=0) > w)
    way = -xnp.sum(xnp.where(long, steps, 0), axis=1)
    size = largest(way)
    return way / xnp.where(size > 0, size, 1)


def _unit(rows):
    most = xnp.max(xnp.abs(rows), axis=1, keepdims=True, initial=0)
    rows = rows / xnp.where(most > 0, most, 1)  # squares are numbers
    length = xnp.sqrt(xnp.sum(rows * rows, axis=1, keepdims=True))
    return rows / xnp.where(length > 0, length, 1)


def _spanned(rows):
    """The projector on what rows span; what rounding errors may have made is counted as theirs."""
    n = typeof(rows).shape[1]
    unit = _unit(rows)
    w, q = xnp.linalg.eigh(unit.T @ unit)
    q = xnp.where(w > 10 * n * xnp.finfo(w.dtype).eps, q, 0)
    return q @ q.T


def _along(bend, projectors):
    """(eigenvalues of ``bend`` where the projectors vanish, eigenvectors)."""
    free = xnp.eye(typeof(bend).shape[0], dtype=bend.dtype) - projectors
    bend = xnp.where(xnp.all(xnp.isfinite(bend)), bend, 0)
    w, q = xnp.linalg.eigh(free @ bend @ free)
    return w, free @ q
