"""Initial value problems under the name that JAX has for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import custom_jvp, jvp, scan, stop_gradient, while_loop
from .._control.closures import hoisted_where
from .._control.once import as_one_program
from .._core import Array, ArrayLike, PyTree, dtypes, errors, require, tree, typeof
from ..pde._small_moves import careful_where_differentiated, error_of_moves
from ..pde._tableaux import DORMAND_PRINCE
from ..pde._time import check_order, moved
from ..pde._trajectory import _error_norm, check_tolerances

__all__ = ["odeint"]

_FOREVER = 2**31 - 1


def odeint(
    func: Callable[..., Any], y0: PyTree, t: ArrayLike, *args: PyTree, rtol: float = 1.4e-8,
    atol: float = 1.4e-8, mxstep: float = xnp.inf, hmax: float = xnp.inf,
) -> PyTree:  # fmt: skip
    """The solution of ``y' = func(y, t, *args)``, ``y(t[0]) = y0`` at the times t.

    The pair of Dormand and Prince with steps as long as the error allows; between the ends of a step
    the solution is a polynomial, so that many times cost no more steps than few. Derivatives in y0, t,
    args and what ``func`` closes over, in both modes, are those of steps that are no longer than small moves of
    the state allow, too; higher ones go forward, over forward or reverse mode (``hessian``).

    Args:
      func: function of (y, t, *args), with a result like y.
      y0: state at t[0]: a pytree of real or complex arrays.
      t: 1-d array of times, rising or falling.
      args: pytrees of further arguments.
      rtol, atol: the error of each element in a step is at most about atol + rtol |y|; an rtol below
        ten rounding errors counts as these.
      mxstep: steps between two times at most; where more are needed the solution is NaN.
      hmax: length of a step at most.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> y = xc.experimental.ode.odeint(lambda y, t: -y, 1.0, xnp.linspace(0.0, 1.0, 3))
    >>> [round(float(x), 4) for x in y]
    [1.0, 0.6065, 0.3679]
    """
    check_order("odeint", func)
    t = _inexact(t)
    if typeof(t).ndim != 1 or not typeof(t).size or dtypes.is_complex(typeof(t).dtype):
        raise errors.bad_argument(
            "odeint", "t", typeof(t), "a 1-d array of real times, one at least"
        )
    steps = np.diff(np.asarray(t)) if type(t) is Array else np.zeros(0)
    if not (np.all(steps >= 0) or np.all(steps <= 0)):  # pyright: ignore[reportOperatorIssue]
        raise errors.bad_argument("odeint", "t", t, "times that rise, or fall, from first to last")
    check_tolerances("odeint", rtol, atol)
    require("positive", "odeint", mxstep=mxstep, hmax=hmax)
    y0 = tree.map(_inexact, y0)
    args = tree.map(xnp.asarray, args)
    limits = rtol, atol, min(mxstep, _FOREVER), hmax

    def run(y0, t, *args):
        f, y0, t, inputs = _forward(func, y0, t, args)
        steps = lambda careful, y0, t, *inputs: _solve(f, y0, t, inputs, limits, careful)  # noqa: E731
        return careful_where_differentiated(steps, y0, t, *inputs)

    return as_one_program(run, y0, t, *args)


def _forward(func, y0, t, args) -> tuple:
    """The slope as a function of (y, s, inputs) with a time that rises, the state, the times and the inputs."""
    slope, hoisted = hoisted_where(lambda _: True, func, y0, t[0], *args)
    sign = stop_gradient(xnp.where(t[-1] >= t[0], 1, -1).astype(t.dtype))

    def forward(y, s, inputs):
        sign, *others = inputs
        found = slope(y, sign * s, *others)
        tree.check_structure(tree.structure(y), found, "odeint")
        return tree.map(lambda k, x: _like(sign * k, typeof(x)), found, y)

    return forward, y0, sign * t, (sign, *args, *hoisted)


def _like(slope, t):
    return xnp.broadcast_to(slope, t.shape).astype(t.dtype)


def _inexact(x):
    x = xnp.asarray(x)
    return x if dtypes.is_inexact(typeof(x).dtype) else x.astype(float)


def _solve(f, y0, t, inputs, limits, careful):
    """States at all times, which rise."""
    rtol, atol, most, hmax = limits
    eps = max(float(xnp.finfo(typeof(x).dtype).eps) for x in tree.leaves(y0))
    rtol = max(rtol, 10 * eps)
    attempt = _attempt(f, rtol, atol)

    def step(state):
        count, dt, last = state
        h = stop_gradient((last["t"] + dt) - last["t"])  # what rounding lets time move by
        *new, size = attempt(last["y"], last["k"], last["t"], h, inputs)
        if careful:
            slope = lambda y, s: f(y, s, stop_gradient(inputs))  # noqa: E731
            here = last["y"], last["t"], h
            size = xnp.maximum(
                size, error_of_moves(DORMAND_PRINCE, slope, *here, _error_norm, rtol, atol)
            )
        good, grow = size <= 1, _growth(size).astype(typeof(dt).dtype)
        y, k, mid = new
        new = {"y": y, "k": k, "mid": mid, "t": last["t"] + h, "from": _start(last), "h": h}
        kept = tree.map(lambda a, b: xnp.where(good, a, b), new, last)
        return count + 1, xnp.minimum(dt * grow, hmax).astype(typeof(dt).dtype), kept

    def advance(carry, goal):
        dt, last = carry

        def going(state):
            count, dt, now = state
            return (now["t"] < goal) & (count < most) & (now["t"] + dt > now["t"])

        _, dt, last = while_loop(going, step, (np.int32(0), dt, last))
        reached = (last["t"] >= goal) & (
            goal >= last["from"]["t"]
        )  # times that turn back are not reached
        return (dt, last), tree.map(lambda x: xnp.where(reached, x, xnp.nan), _between(last, goal))

    k0 = f(y0, t[0], inputs)
    dt = xnp.minimum(_first_step(f, y0, k0, t, inputs, rtol, atol), hmax).astype(typeof(t).dtype)
    last = {"y": y0, "k": k0, "mid": tree.map(lambda x: 0 * x, k0), "t": t[0], "h": dt}
    last["from"] = _start(last)
    _, states = scan(advance, (dt, last), t[1:])
    return tree.map(lambda a, b: xnp.concatenate([a[None], b]), y0, states)


def _start(state):
    return {name: state[name] for name in ("y", "k", "t")}


def _growth(size):
    """By how much the next step may be longer, from the scaled error of this one."""
    return xnp.clip(0.9 * xnp.maximum(size, 1e-10) ** -0.2, 0.2, 5.0)


def _stages(f, y, k, t, h, inputs):
    """(state after a step, slope there, correction between, estimated error)."""
    slopes, new = [k], y
    for row, c in zip(DORMAND_PRINCE.a, DORMAND_PRINCE.c[1:], strict=True):
        new = moved(y, slopes, row, h)
        slopes.append(f(new, t + c * h, inputs))
    zero = tree.map(lambda x: 0 * x, y)
    mid, error = (moved(zero, slopes, w, h) for w in (DORMAND_PRINCE.bend[0], DORMAND_PRINCE.error))
    return new, slopes[-1], mid, error


def _attempt(f, rtol, atol):
    """A step and the size of its error, without a derivative where the step will not be taken.

    What is not taken may leave the domain of f; zero times the infinite derivative there is NaN.
    """

    def scaled(y, k, t, h, inputs):
        new, *rest, error = _stages(f, y, k, t, h, inputs)
        size = _error_norm(*map(stop_gradient, (y, new, error)), rtol, atol)
        return new, *rest, xnp.where(xnp.isfinite(size), size, 1e6).astype(typeof(h).dtype)

    attempt = custom_jvp(scaled)

    @attempt.defjvp
    def rule(primals, tangents):
        *outs, size = attempt(*primals)
        y, k, t, h, inputs = primals
        taken = y, k, t, xnp.where(size <= 1, h, 0 * h), inputs
        moves = jvp(lambda *xs: _stages(f, *xs)[:3], taken, tangents)[1]
        return (*outs, size), (*moves, 0 * size)

    return attempt


def _between(last, goal):
    """The solution at a time within the last step."""
    start, h = last["from"], last["h"]
    part = (goal - start["t"]) / h

    def leaf(y0, y1, k0, k1, mid):
        rise = y1 - y0
        a, b = h * k0 - rise, 2 * rise - h * (k0 + k1)
        value = y0 + part * (rise + (1 - part) * (a + part * (b + (1 - part) * mid)))
        return value.astype(typeof(y0).dtype)

    return tree.map(leaf, start["y"], last["y"], start["k"], last["k"], last["mid"])


def _first_step(f, y, k, t, inputs, rtol, atol):
    """The length of the first step. (Hairer, Nørsett and Wanner 1993, section II.4, page 169)

    At most all of the time: in units in which that is tiny, a longer one passes over what happens within.
    """
    y, k, t, inputs = stop_gradient((y, k, t, inputs))
    whole = xnp.where(t[-1] > t[0], t[-1] - t[0], xnp.inf)
    zero = tree.map(lambda x: 0 * x, y)
    norm = lambda x: _error_norm(y, zero, x, rtol, atol)  # noqa: E731
    d0, d1 = norm(y), norm(k)
    guess = xnp.where((d0 < 1e-5) | (d1 < 1e-5), 1e-6, 0.01 * d0 / xnp.where(d1 > 0, d1, 1))
    guess = xnp.minimum(guess, whole).astype(typeof(t).dtype)
    ahead = f(moved(y, [k], (1.0,), guess), t[0] + guess, inputs)
    d2 = norm(tree.map(lambda a, b: a - b, ahead, k)) / guess
    steep = xnp.maximum(d1, d2)
    other = xnp.where(
        steep <= 1e-15, xnp.maximum(1e-6, guess * 1e-3), (0.01 / xnp.maximum(steep, 1e-15)) ** 0.2
    )
    step = xnp.minimum(100 * guess, other)
    step = xnp.where(xnp.isfinite(step) & (step > 0), step, 1e-6)
    return stop_gradient(xnp.minimum(step, whole))
