"""What is true of a solution: its residual computed anew, beside what was asked for."""

from __future__ import annotations

import functools

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import dtypes, tree
from .._core.types import typeof
from .._solution import Status, first_that_holds
from ..linalg._range import safe_norm
from ..numpy._select import safe_divide
from ._diffusion import Diffusion, diagonal
from ._fields import along, shifted
from ._laplacian import Laplacian
from ._masked import Masked
from ._operators import Helmholtz
from ._poisson import UNBALANCED

_ROUNDINGS = 4  # of u, as a backward error
_RESONANT = 0.1  # residual that rounding leaves: the problem is as good as singular
_UNSEEN = 8  # roundings of the right-hand side: less than these a residual cannot tell


def default_rtol(dtype) -> float:
    """The dtype's precision to the power of 2/3."""
    return float(dtypes.finfo(dtypes.to_real(dtype)).eps) ** (2 / 3)


def evened(op):
    """Factors of rows: those next to the boundary of a mask outweigh all others in a norm."""
    if not isinstance(op, Masked):
        return 1
    even, ratio = op.balance()
    return even * ratio


def judged(op, u, right, goal, excess, status=None):
    """(residual, goal, status): the residual relative to the right-hand side, in the norm of rows that
    are evened; it decides. Where it is above the goal, the status is the solver's, or ``stagnation``.

    ``goal``: None for the dtype's precision to the power of 2/3, or what changing u by a few
    roundings changes the residual by. That may be more than all of the right-hand side, and of errors
    along smooth fields a residual shows little; so then the energy of u must be right too, and steps
    that ran out are no rounding.
    """
    op, u, right, excess = tree.map(ops.stop_gradient, (op, u, right, excess))
    rows = evened(op)
    size = safe_norm(rows * right)
    applied = _flowing(op, u) if _has_energy(op) and isinstance(op, Laplacian) else op(u)
    left = safe_norm(rows * (applied - right))
    share = lambda x: safe_divide(x, size, x, where=size > 0)  # noqa: E731
    residual = share(left)
    eps = float(dtypes.finfo(typeof(residual).dtype).eps)
    if goal is None:
        rounding = share(safe_norm(rows * absolute(op) * xnp.abs(u)))
        rounding = _ROUNDINGS * eps * rounding
        goal = xnp.maximum(default_rtol(typeof(u).dtype), xnp.minimum(rounding, _most(op)))
        explained = _off_balance(op, u, applied, right) <= eps**0.5
        if status is not None:
            explained = explained & (status != Status.max_steps)
        explained = explained | (residual <= default_rtol(typeof(u).dtype))
    else:
        rounding, explained = 0, True
    resonant = rounding > _most(op)
    goal = xnp.asarray(goal).astype(typeof(residual).dtype)
    good = (residual + _UNSEEN * eps * (size > 0) <= goal) & (excess <= UNBALANCED) & explained
    found = (
        (xnp.ones((), bool), Status.stagnation)
        if status is None
        else (status == 0, Status.stagnation)
    )
    rules = [(~xnp.isfinite(residual), Status.not_finite), (good, Status.success),
             (resonant, Status.ill_conditioned), found]  # fmt: skip
    verdict = first_that_holds(*rules)
    lost = verdict == Status.max_steps
    return residual, goal, verdict if status is None else xnp.where(lost, status, verdict)


def _most(op):
    """Up to which residual rounding is an excuse: near resonances it hides errors of any size, and where
    the energy is not looked at."""
    return np.inf if _has_energy(op) else _RESONANT


def _has_energy(op) -> bool:
    return isinstance(op, Diffusion) or (isinstance(op, Laplacian) and op.order == 2)


def _flowing(op: Laplacian, u):
    """The product with u as a sum of differences, which are exact between neighbours."""
    terms = []
    for i, a in enumerate(op.axes):
        for side, leak in zip((-1, 1), a.leaks, strict=True):
            line = np.broadcast_to(a.bands[side], a.count).copy()
            if not a.ring:  # beyond a face u is 0
                line[0 if side < 0 else -1] = leak
            line = along(line, i, op.grid.ndim, dtypes.to_real(typeof(u).dtype))
            terms.append(line * (shifted(u, i, side, a.ring) - u))
    return functools.reduce(xnp.add, terms)


def _off_balance(op, u, applied, right):
    """How far ∫ ū op(u) is from ∫ ū right, in parts of it: how large an error along u is. Products in
    the form of flows are sums of differences, and what rounding of u does to both is small."""
    if not _has_energy(op):
        return xnp.zeros(())
    top = lambda x: xnp.maximum(xnp.max(xnp.abs(x)), dtypes.finfo(typeof(x).dtype).tiny)  # noqa: E731
    way, unit, real = xnp.conj(u / top(u)), top(applied), dtypes.to_real(typeof(u).dtype)
    for i, a in enumerate(op.axes):
        way = way * along(a.weights / np.max(a.weights), i, op.grid.ndim, real)
    energy = xnp.abs(xnp.sum(way * (applied / unit)))
    return xnp.abs(xnp.sum(way * ((applied - right) / unit))) / xnp.where(energy > 0, energy, 1)


def absolute(op):
    """For each row the sum of the absolute values of its elements; about that of orders above 2."""
    if isinstance(op, Masked):
        return 2 * op.diagonal()
    if isinstance(op, Diffusion):
        volumes = op.weights.astype(op.dtype)
        return 2 * diagonal(op.edges(), op.sinks(), op.rings) / volumes
    dtype = np.float64
    rows = [sum(np.abs(x) for x in a.bands.values()) for a in op.axes]
    total = sum(along(x, i, op.grid.ndim, dtype) for i, x in enumerate(rows))
    if isinstance(op, Helmholtz):
        return total.astype(op.q.dtype) + xnp.abs(op.q)
    return total
