"""What the rounding of time makes of u' = f(u, t).

Times near t are apart by the dtype's precision times |t|, and f is given the nearest ones. In a step of length h this
moves the solution by up to h |∂f/∂t| eps |t| / 2, which no estimate of the method's own error sees.
"""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import jvp, stop_gradient
from .._core import errors, tree, typeof
from .._core.program import dead_code_eliminated, trace_program
from .._solution import Status

_FEWEST = 10  # steps whose tolerances a short run may use up


def follows_time(f, u, *times) -> bool:
    """Whether the results of f(u, *times) depend on the times, as far as its program tells."""
    leaves, shape = tree.flatten((u, times))
    leaves = [xnp.asarray(x) for x in leaves]

    def flat(*leaves):
        u, times = tree.unflatten(shape, leaves)
        return [xnp.asarray(x) for x in tree.leaves(f(u, *times))]

    program = dead_code_eliminated(trace_program(flat, [typeof(x) for x in leaves])[0])
    used = {a for e in program.eqns for a in e.inputs} | set(program.outputs)
    # what f closes over stands first
    return not used.isdisjoint(program.inputs[-len(tree.leaves(times)) :])


def _spacing(t, h):
    eps = float(xnp.finfo(typeof(t).dtype).eps)
    return eps * xnp.maximum(xnp.abs(t), xnp.abs(t + h))


def drift(f, u, t, h):
    """A tree like u: by how much rounding of the time may move it in a step, without a derivative."""
    u, t, h = map(stop_gradient, (u, t, h))
    apart = _spacing(t, h).astype(typeof(t).dtype)
    try:
        moves = jvp(lambda s: f(u, s), (t,), (apart,))[1]
    except errors.MissingRuleError:  # a function of Python's
        moves = tree.map(lambda a, b: a - b, f(u, t + xnp.minimum(apart, h)), f(u, t))
    return tree.map(lambda x: stop_gradient(h / 2 * x), moves)


def too_far(total, count):
    """Whether a drift in units of the tolerances is more than so many steps' own errors may be."""
    return xnp.logical_not(total <= xnp.maximum(count, _FEWEST))


def in_order(run):
    """``run(u, times)`` for times that nobody has looked at: from one on that is NaN, or before an earlier one, states
    are NaN, and the status says so."""

    def looked_at(u, times):
        absent = xnp.isnan(times)
        latest = ops.cummax(stop_gradient(xnp.where(absent, -np.inf, times)), axis=0)
        off = absent | (times < latest)
        found = run(u, xnp.where(off, latest, times))
        lost = ops.cummax(off.astype(np.int32), axis=0) > 0

        def leaf(x):
            gone = lost.reshape(-1, *[1] * (typeof(x).ndim - 1))
            return xnp.where(gone, np.nan, x).astype(typeof(x).dtype)

        status = xnp.where(off.any(), np.int32(Status.incompatible), found.status)
        status = xnp.where(absent.any(), np.int32(Status.not_finite), status)
        left = xnp.minimum(found.left, xnp.min(xnp.where(lost, latest, np.inf)))
        value = tree.map(leaf, found.value)
        return found.replace(value=value, status=status.astype(np.int32), left=left)

    return looked_at


class Clock:
    """The drift of a run, summed in units of the tolerances, and the steps in which it came about.

    Tolerances are those of a step, so it is within them where the steps' own errors, summed like it, may be as large.
    """

    def __init__(self, f, u, t):
        self.f, self.wanted = f, follows_time(f, u, t)

    def begin(self, dtype) -> dict:
        """Before the first step; empty where f does not depend on the time."""
        zero = xnp.zeros((), dtype)
        return {"drift": zero, "count": zero} if self.wanted else {}

    def tick(self, seen: dict, u, t, h, size, good) -> dict:
        """After a step that is taken if it is good; ``size`` of a drift is its norm in units of the tolerances."""
        if not self.wanted:
            return seen
        more = size(drift(self.f, u, t, h)).astype(typeof(seen["drift"]).dtype)
        return {
            "drift": seen["drift"] + xnp.where(good, more, 0),
            "count": seen["count"] + xnp.where(good, 1, 0).astype(typeof(seen["count"]).dtype),
        }

    def lost(self, seen: dict):
        """Whether the drift is more than the steps' own errors may be."""
        if not self.wanted:
            return xnp.zeros((), bool)
        return too_far(seen["drift"], seen["count"])


def drifted(status, lost):
    """The status of a run; ``stagnation`` where all else was well and the drift was too much."""
    late = (status == Status.success) & xnp.any(lost)
    return xnp.where(late, np.int32(Status.stagnation), status).astype(np.int32)
