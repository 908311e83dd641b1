"""What is true of a solution: its residual computed anew, beside what was asked for."""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import dtypes, tree, typeof
from .._solution import Status, first_that_holds
from ..linalg._range import safe_norm
from ..numpy._select import safe_divide
from ._along import along
from ._poisson import UNBALANCED

_ROUNDINGS = 4  # of u, as a backward error
_RESONANT = 0.1  # residual that rounding leaves: the problem is as good as singular
_UNSEEN = 8  # roundings of the right-hand side: less than these a residual cannot tell


def default_rtol(dtype) -> float:
    """The dtype's precision to the power of 2/3."""
    return float(dtypes.finfo(dtypes.to_real(dtype)).eps) ** (2 / 3)


def judged(op, u, right, goal, excess, status=None):
    """(residual, goal, status): the residual relative to the right-hand side, in the norm of rows that
    are evened; it decides. Where it is above the goal, the status is the solver's, or ``stagnation``.

    ``goal``: None for the dtype's precision to the power of 2/3, or what changing u by a few
    roundings changes the residual by. That may be more than all of the right-hand side, and of errors
    along smooth fields a residual shows little; so then the energy of u must be right too, and steps
    that ran out are no rounding.
    """
    op, u, right, excess = tree.map(ops.stop_gradient, (op, u, right, excess))
    rows = op.evened()
    size = safe_norm(rows * right)
    applied = op.in_differences(u)
    left = safe_norm(rows * (applied - right))
    share = lambda x: safe_divide(x, size, x, where=size > 0)  # noqa: E731
    residual = share(left)
    eps = float(dtypes.finfo(typeof(residual).dtype).eps)
    if goal is None:
        rounding = share(safe_norm(rows * op.absolute() * xnp.abs(u)))
        rounding = _ROUNDINGS * eps * rounding
        goal = xnp.maximum(default_rtol(typeof(u).dtype), xnp.minimum(rounding, _most(op)))
        explained = _off_balance(op, u, applied, right) <= eps**0.5
        if status is not None:
            explained = explained & (status != Status.max_steps)
        explained = explained | (residual <= default_rtol(typeof(u).dtype))
        known = xnp.asarray(op.resonant)
        resonant, explained = known | (rounding > _most(op)), explained & ~known
    else:
        resonant, explained = xnp.zeros((), bool), True
    goal = xnp.asarray(goal, typeof(residual).dtype)
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
    return np.inf if op.has_energy else _RESONANT


def _off_balance(op, u, applied, right):
    """How far ∫ ū op(u) is from ∫ ū right, in parts of it: how large an error along u is. Products in
    the form of flows are sums of differences, and what rounding of u does to both is small."""
    if not op.has_energy:
        return xnp.zeros(())
    top = lambda x: xnp.maximum(xnp.max(xnp.abs(x)), dtypes.finfo(typeof(x).dtype).tiny)  # noqa: E731
    way, unit, real = xnp.conj(u / top(u)), top(applied), dtypes.to_real(typeof(u).dtype)
    if op.inside is not None:
        w = op.volumes(real)
        way = way * (w / xnp.max(w))
    for i, w in enumerate(op.lines if op.inside is None else ()):
        way = way * along(w / np.max(w), i, op.grid.ndim, real)
    energy = xnp.abs(xnp.sum(way * (applied / unit)))
    return xnp.abs(xnp.sum(way * ((applied - right) / unit))) / xnp.where(energy > 0, energy, 1)
