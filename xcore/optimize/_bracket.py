"""Roots of functions of one number between two points, many at once.

Each method is a rule for the next point; one loop evaluates the function there, for all batch elements, and
keeps in each the half in which the sign changes. Batch elements that are done stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import cond, custom_root, vmap
from .._core import dtypes, is_evaluating, typeof
from .._solution import Certificate
from .._width import are_plain, as_wide
from ._implicit import at_once
from ._loop import iterations
from ._problem import Flat, Objective, as_tuple, count, tolerance
from ._result import RUNNING, Result, Status, first_of, result


def _secant(a, fa, b, fb):
    gap = fb - fa
    return b - fb * (b - a) / xnp.where(gap == 0, 1, gap)


def _bisect(s):
    return 0.5 * (s["a"] + s["b"])


def _brent(s):
    """Inverse quadratic interpolation, a secant, or bisection where they gain too little.

    b is the end where |f| is smaller, p the end before it, q the one before p. (Brent 1973)
    """
    a, b, fa, fb = s["a"], s["b"], s["fa"], s["fb"]
    swap = xnp.abs(fa) < xnp.abs(fb)
    best, other = xnp.where(swap, a, b), xnp.where(swap, b, a)
    f_best, f_other = xnp.where(swap, fa, fb), xnp.where(swap, fb, fa)
    p, fp = s["d"], s["fd"]
    distinct = (fp != f_best) & (fp != f_other) & xnp.isfinite(fp)
    r = lambda u, v: u / xnp.where(u - v == 0, 1, u - v)  # noqa: E731
    quadratic = (
        other * r(f_best, f_other) * r(fp, f_other)
        + best * r(f_other, f_best) * r(fp, f_best)
        + p * r(f_other, fp) * r(f_best, fp)
    )
    guess = xnp.where(distinct, quadratic, _secant(other, f_other, best, f_best))
    middle = 0.5 * (a + b)
    near = 0.75 * best + 0.25 * other
    between = (guess - near) * (guess - best) < 0
    # three steps must halve the bracket
    slow = s["width3"] < 2 * xnp.abs(b - a)
    return xnp.where(between & ~slow, guess, middle)


def _toms748(s):
    """Alefeld, Potra and Shi's algorithm 4.2 in turns of four points (1995).

    Two by interpolation, cubic where four different values are known and quadratic otherwise, one by
    a secant of double length, and the middle if the bracket has not halved.
    """
    a, b, d, e = s["a"], s["b"], s["d"], s["e"]
    fa, fb, fd, fe = s["fa"], s["fb"], s["fd"], s["fe"]
    phase = s["n"] % 4
    inside = lambda c: (c - a) * (c - b) < 0  # noqa: E731
    quadratic = _newton_quadratic(a, b, d, fa, fb, fd)
    cubic = _inverse_cubic(a, b, d, e, fa, fb, fd, fe)
    interpolated = xnp.where(inside(cubic), cubic, quadratic)
    swap = xnp.abs(fa) < xnp.abs(fb)
    u, fu = xnp.where(swap, a, b), xnp.where(swap, fa, fb)
    slope = (fb - fa) / xnp.where(b == a, 1, b - a)
    double = u - 2 * fu / xnp.where(slope == 0, 1, slope)
    double = xnp.where(xnp.abs(double - u) > 0.5 * xnp.abs(b - a), 0.5 * (a + b), double)
    middle = 0.5 * (a + b)
    halved = xnp.abs(b - a) <= 0.5 * s["width3"]
    guess = xnp.where(
        phase < 2, interpolated, xnp.where(phase == 2, double, xnp.where(halved, double, middle))
    )
    return xnp.where(inside(guess), guess, middle)


def _newton_quadratic(a, b, d, fa, fb, fd):
    """Two Newton steps on the parabola through three points, from the end with its sign."""
    safe = lambda x: xnp.where(x == 0, 1, x)  # noqa: E731
    slope = (fb - fa) / safe(b - a)
    bend = ((fd - fb) / safe(d - b) - slope) / safe(d - a)
    known = xnp.isfinite(fd) & (bend != 0)
    bend = xnp.where(known, bend, 0)
    c = xnp.where(bend * fa > 0, a, b)
    for _ in range(3):
        value = fa + (slope + bend * (c - b)) * (c - a)
        c = c - value / safe(slope + bend * (2 * c - a - b))
    return c


def _inverse_cubic(a, b, c, d, fa, fb, fc, fd):
    """The inverse cubic interpolation at zero; NaN where two values are equal."""
    points, values = (a, b, c, d), (fa, fb, fc, fd)
    total = xnp.zeros_like(a)
    for i in range(4):
        term = points[i]
        for j in range(4):
            if j != i:
                gap = values[j] - values[i]
                term = term * values[j] / xnp.where(gap == 0, xnp.nan, gap)
        total = total + term
    return total


RULES = {"bisect": _bisect, "brent": _brent, "toms748": _toms748}


def root_scalar(
    fun: Callable[..., Any], bracket: Sequence[Any], args: Any = (), method: Any = "toms748", *,
    xtol: float | None = None, maxiter: int | None = None,
) -> Result:  # fmt: skip
    """Roots between two points where the function has different signs, elementwise.

    Args:
      fun: ``fun(x, *args)``, elementwise: an array of x's shape.
      bracket: (a, b), arrays that broadcast, of finite numbers: a root is sought in each place.
      args: further arguments.
      method: "toms748", "brent" or "bisect".
      xtol: the width of the last bracket, relative to |x| or, where that is larger, to the width of the
        first one or 1, whichever is less; 4 eps by default.
      maxiter: evaluations at most.

    Success says that f is 0 at x, or changes its sign between two numbers as near as xtol asks. Where |f| grows
    towards them from both sides there is a pole, and the status is ``stagnation``.

    >>> import xcore.optimize as xo, xcore.numpy as xnp
    >>> squares = xnp.asarray([4.0, 9.0])
    >>> xnp.round(xo.root_scalar(lambda x: x * x - squares, (0.0, 10.0)).x, 4)
    Array([2., 3.], dtype=float32)
    """
    who = "optimize.root_scalar"
    if method not in RULES:
        raise ValueError(
            f"xcore.{who}: method must be one of {', '.join(RULES)}, given {method!r}."
        )
    if not (isinstance(bracket, (tuple, list)) and len(bracket) == 2):
        raise ValueError(f"xcore.{who}: bracket must be a pair (a, b), given {bracket!r}.")
    args = as_tuple(args)
    if are_plain(bracket):
        bracket = tuple(as_wide(lambda ends: fun(ends[0], *args), tuple(bracket)))
    a, b = xnp.broadcast_arrays(*[_inexact(x) for x in bracket])
    dtype = xnp.result_type(a.dtype, b.dtype)
    shape = typeof(xnp.asarray(fun(a.astype(dtype), *args))).shape
    a, b = (xnp.broadcast_to(x.astype(dtype), shape) for x in (a, b))
    if is_evaluating() and not bool(xnp.all(xnp.isfinite(a) & xnp.isfinite(b))):
        raise ValueError(f"xcore.{who}: both ends of a bracket must be finite, given {bracket!r}.")
    problem = Objective(who, fun, Flat(who, "bracket", (a, b)), args)
    value = lambda x: xnp.asarray(fun(x, *problem.args)).astype(dtype)  # noqa: E731
    limit = 1000 if maxiter is None else maxiter  # from 1e30 to where 1 is nothing: 500
    xtol = tolerance(who, xtol, 4 * float(xnp.finfo(dtype).eps), "xtol")

    def solve(a, b):
        return _solve(value, a, b, RULES[method], xtol, limit)

    if is_evaluating():
        x, aux = at_once(solve, problem, a, b)
    else:
        a, b = ops.stop_gradient(a), ops.stop_gradient(b)
        x, aux = custom_root(
            value, 0.5 * (a + b), lambda f, x: solve(a, b),
            lambda g, y: y / g(xnp.ones_like(y)), has_aux=True,
        )  # fmt: skip
    return result(
        x, aux["f"], None, aux["status"], aux["nit"], aux["nit"] + np.int32(2), count(0),
        Certificate(stationarity=xnp.abs(aux["f"])), stats={"bracket": (aux["a"], aux["b"])},
    )  # fmt: skip


def _inexact(x):
    x = xnp.asarray(x)
    return x if dtypes.is_inexact(x.dtype) else x.astype(dtypes.default_dtype("float"))


def _is_pole(value, s, unit, ends):
    """Whether |f| grows on both sides towards the last bracket as towards a pole, be it a logarithm's.

    To a third of each of some distances by as much as to it from three times as far, or more, and from there on it does
    not fall: near enough, sums that hold x may not tell its values apart. Towards a root it falls, and towards a jump
    it grows less and less.
    """
    near = _around(value, s, unit, 6)
    may_be = xnp.all(near[:, 0] >= 0.5 * near[:, -1], axis=0)
    many = max(2 * int(-np.log(_eps(s["a"]))), 6)
    found = cond(
        xnp.any(may_be), lambda: _grows(_around(value, s, unit, many, ends)),
        lambda: xnp.zeros_like(may_be),
    )  # fmt: skip
    return _grows(near) | (may_be & found)


def _around(value, s, unit, many: int, ends=None):
    """|f| at some distances from the last bracket, each three times the one before; in wide brackets, if their ends are
    given, more, and up to these."""
    a, b = s["a"], s["b"]
    away = xnp.maximum(xnp.abs(b - a), _eps(a) * xnp.maximum(xnp.abs(a), unit))
    wide = away if ends is None else 0.1 * xnp.abs(ends[1] - ends[0])
    times = xnp.maximum((wide / away) ** (1 / many), 3)
    far = [away * times**k * xnp.where(a < b, -1, 1) for k in range(1, many + 1)]
    points = xnp.stack([*(a + d for d in far), *(b - d for d in far)])
    points = points if ends is None else xnp.clip(points, *_sorted(*ends))
    return xnp.abs(vmap(value)(points)).reshape((2, many, *typeof(a).shape))


def _grows(sizes):
    places = sizes.shape[1] - 5
    rises = sizes[:, :-1] - sizes[:, 1:]
    grow = (rises > 8 * _eps(sizes) * sizes[:, :-1])[:, 1:]
    grow = grow & (rises[:, :-1] >= 0.75 * rises[:, 1:])
    steep = xnp.stack([grow[:, k : places + k] for k in range(4)]).all(axis=0)
    stays = (ops.cummin(sizes, axis=1) >= 0.9 * sizes)[:, :places]
    return xnp.any(xnp.all(steep & stays, axis=0), axis=0)


def _eps(x) -> float:
    return float(xnp.finfo(typeof(x).dtype).eps)


def _sorted(a, b):
    return xnp.minimum(a, b), xnp.maximum(a, b)


def _solve(value, a, b, rule, xtol, limit):
    fa, fb = value(a), value(b)
    nothing, unit = xnp.full_like(a, xnp.nan), xnp.minimum(1, xnp.abs(b - a))
    state = {
        "a": a, "b": b, "fa": fa, "fb": fb, "d": nothing, "fd": nothing, "e": nothing, "fe": nothing,
        "n": count(0), "nit": xnp.zeros(typeof(a).shape, np.int32), "width3": 4 * xnp.abs(b - a),
        "widths": xnp.stack([xnp.abs(b - a)] * 3) * 4,
    }  # fmt: skip

    def done(s):
        small = xnp.abs(s["b"] - s["a"]) <= xtol * xnp.maximum(
            unit, xnp.minimum(xnp.abs(s["a"]), xnp.abs(s["b"]))
        )
        # nan ends a batch element too: its signs do not differ
        return small | ~(s["fa"] * xnp.sign(s["fb"]) < 0)

    def step(s):
        over = done(s)
        c = rule(s)
        middle = 0.5 * (s["a"] + s["b"])
        # stay off the ends, so that both can move
        least = 0.25 * xtol * xnp.maximum(unit, xnp.abs(c))
        low, high = xnp.minimum(s["a"], s["b"]) + least, xnp.maximum(s["a"], s["b"]) - least
        c = xnp.where(xnp.isfinite(c) & (low < high), xnp.clip(c, low, high), middle)
        fc = value(c)
        left = xnp.sign(fc) * xnp.sign(s["fa"]) <= 0
        zero = fc == 0
        width = xnp.abs(s["b"] - s["a"])
        new = {
            "a": xnp.where(zero | ~left, c, s["a"]), "fa": xnp.where(zero | ~left, fc, s["fa"]),
            "b": xnp.where(zero | left, c, s["b"]), "fb": xnp.where(zero | left, fc, s["fb"]),
            "d": xnp.where(left, s["b"], s["a"]), "fd": xnp.where(left, s["fb"], s["fa"]),
            "e": s["d"], "fe": s["fd"], "nit": s["nit"] + np.int32(1), "width3": s["widths"][0],
        }  # fmt: skip
        kept = {k: xnp.where(over, s[k], v) for k, v in new.items()}
        widths = xnp.concatenate([s["widths"][1:], width[None]])
        return kept | {"n": s["n"] + np.int32(1), "widths": widths}

    s = iterations(lambda s: ~done(s), step, state, limit)
    best = xnp.abs(s["fa"]) <= xnp.abs(s["fb"])
    x, f = xnp.where(best, s["a"], s["b"]), xnp.where(best, s["fa"], s["fb"])
    changes = s["fa"] * xnp.sign(s["fb"]) < 0
    finite = xnp.isfinite(a) & xnp.isfinite(b)  # between others there is no middle
    status = first_of(
        (~finite, Status.no_bracket), (f == 0, Status.success),
        (xnp.isnan(fa) | xnp.isnan(fb), Status.not_finite),
        (fa * xnp.sign(fb) > 0, Status.no_bracket), (~(changes & xnp.isfinite(f)), Status.not_finite),
        (_is_pole(value, s, unit, (a, b)), Status.stagnation), (done(s), Status.success),
    )  # fmt: skip
    status = xnp.where(status == RUNNING, np.int32(Status.max_steps), status)
    return x, {"f": f, "status": status.astype(np.int32), "nit": s["nit"], "a": s["a"], "b": s["b"]}
