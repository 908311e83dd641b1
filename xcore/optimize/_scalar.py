"""Functions of one number: Brent's search on a line, and golden sections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import grad, vmap
from .._core import errors, is_evaluating, static, struct, typeof
from .._solution import Certificate
from .._width import as_wide
from ._implicit import differentiable
from ._loop import iterations
from ._problem import Flat, Objective, as_tuple, count, default_tol, largest, tolerance
from ._result import RUNNING, Result, Status, first_of, result
from ._verdict import PARTS, aside, noise_of

GOLDEN = float((3 - np.sqrt(5)) / 2)
GROW = float((1 + np.sqrt(5)) / 2)


def bracket_from(value, a, b, limit: int = 100):
    """(a, b, c, evaluations, status) with f(b) ≤ f(a), f(c): from two points, by steps that grow.

    Where there is no valley the status is ``unbounded``, or ``flat`` if f falls less and less, as towards a limit.
    """
    fa, fb = value(a), value(b)
    swap = fb > fa
    a, b = xnp.where(swap, b, a), xnp.where(swap, a, b)
    fb = xnp.minimum(fa, fb)
    c = b + GROW * (b - a)

    def turn(s):
        _a, b, _fb, c, fc, n = s
        further = c + GROW * (c - b)
        return b, c, fc, further, value(further), n + np.int32(1)

    start = (a, b, fb, c, value(c), count(3))
    most = fb
    a, b, fb, c, fc, n = iterations(lambda s: s[4] < s[2], turn, start, limit - 3)
    falls = (fc == -xnp.inf) | (fb - fc >= 0.1 * (most - fc) / limit)
    return a, b, c, n, first_of((fc >= fb, RUNNING), (falls, Status.unbounded), (True, Status.flat))


@struct
class Brent:
    """The least of a function of one number, without derivatives. (Brent 1973, chapter 5)

    Parabolas through the last points where they can be trusted, golden sections elsewhere. A valley
    is looked for from the start by steps that grow; bounds are kept by moving points to them.

    Attributes:
      parabolas: False for golden sections only, which take more evaluations but are never misled.

    >>> from xcore import optimize
    >>> found = optimize.minimize(lambda x: (x - 2) ** 4 + x, 0.0, method=optimize.Brent())
    >>> bool(found.ok), round(float(found.x), 2)
    (True, 1.37)
    """

    parabolas: bool = static(default=True)

    def init(self, problem: Any, x: Any, tol: Any) -> dict[str, Any]:
        if typeof(x).shape != (1,):
            raise errors.ShapeError(
                f"xcore.{problem.who}: 'brent' and 'golden' search along a line, but x0 has "
                f"{typeof(x).size} numbers; use 'nelder-mead', or 'lbfgs' with derivatives."
            )
        value = _line(problem)
        a = xnp.clip(x, problem.lower, problem.upper)[0]
        a, b, c, used, status = bracket_from(value, a, a + xnp.maximum(1, xnp.abs(a)))
        state = self.between(value, xnp.minimum(a, c), b, xnp.maximum(a, c), status)
        state["nfev"] = state["nfev"] + used
        return _with_point(problem, state)

    def step(self, problem: Any, s: dict[str, Any], tol: Any) -> dict[str, Any]:
        return _with_point(problem, s | self.narrowed(_line(problem), s, tol))

    @staticmethod
    def between(value: Any, lo: Any, start: Any, hi: Any, status: Any) -> dict:
        """The state in an interval: u is the best point, w the next best, v the one before.

        d is the last step, e the one before, and unit what is small beside it is nothing.
        """
        f, zero = value(start), xnp.zeros_like(start)
        return {
            "a": lo, "b": hi, "u": start, "w": start, "v": start, "f": f, "fw": f, "fv": f,
            "d": zero, "e": zero, "unit": xnp.minimum(1, hi - lo), "nit": count(0), "nfev": count(1), "njev": count(0),
            "status": xnp.asarray(status),
        }  # fmt: skip

    def narrowed(self, value: Any, s: dict[str, Any], tol: Any) -> dict:
        """A step: a new point, and which of the known ones it replaces."""
        a, b, x, w, v = (s[k] for k in "abuwv")
        d, e = self._move(s, tol)
        least = _least(s, tol)
        t = x + xnp.where(xnp.abs(d) >= least, d, xnp.where(d > 0, least, -least))
        ft = value(t)
        best = ft <= s["f"]
        next_best = ~best & ((ft <= s["fw"]) | (w == x))
        third = ~best & ~next_best & ((ft <= s["fv"]) | (v == x) | (v == w))
        pick = xnp.where
        new_a = pick(best, pick(t >= x, x, a), pick(t < x, t, a))
        new_b = pick(best, pick(t >= x, b, x), pick(t < x, b, t))
        new = {
            "a": new_a, "b": new_b, "d": d, "e": e,
            "v": pick(best | next_best, w, pick(third, t, v)),
            "fv": pick(best | next_best, s["fw"], pick(third, ft, s["fv"])),
            "w": pick(best, x, pick(next_best, t, w)),
            "fw": pick(best, s["f"], pick(next_best, ft, s["fw"])),
            "u": pick(best, t, x), "f": pick(best, ft, s["f"]), "nit": s["nit"] + np.int32(1),
            "nfev": s["nfev"] + np.int32(1),
        }  # fmt: skip
        middle, close = 0.5 * (new_a + new_b), tol * xnp.maximum(s["unit"], xnp.abs(new["u"]))
        done = xnp.abs(new["u"] - middle) <= 2 * close - 0.5 * (new_b - new_a)
        lost = done & ~(new["f"] < xnp.inf)
        return new | {"status": first_of((lost, Status.not_finite), (done, Status.success))}

    def _move(self, s, tol):
        """(step, the step that golden sections are judged by): to a parabola's least, or a section."""
        a, b, x, w, v = (s[k] for k in "abuwv")
        middle, least = 0.5 * (a + b), _least(s, tol)
        other = xnp.where(x < middle, b - x, a - x)
        if not self.parabolas:
            return GOLDEN * other, other
        r, q = (x - w) * (s["f"] - s["fv"]), (x - v) * (s["f"] - s["fw"])
        p, q = (x - v) * q - (x - w) * r, 2 * (q - r)
        p, q = xnp.where(q > 0, -p, p), xnp.abs(q)
        trusted = (
            (xnp.abs(s["e"]) > least) & (xnp.abs(p) < xnp.abs(0.5 * q * s["e"]))
            & (p > q * (a - x)) & (p < q * (b - x))
        )  # fmt: skip
        part = p / xnp.where(q == 0, 1, q)
        near_end = (x + part - a < 2 * least) | (b - x - part < 2 * least)
        part = xnp.where(near_end, xnp.where(x < middle, least, -least), part)
        return xnp.where(trusted, part, GOLDEN * other), xnp.where(trusted, s["d"], other)


def _least(s, tol):
    """Steps are at least so long: values at closer points differ by rounding errors."""
    x = s["u"]
    return tol * xnp.abs(x) + float(xnp.finfo(x.dtype).tiny) + 1e-2 * tol * s["unit"]


def _line(problem, hole=xnp.inf):
    """The objective of a number, moved into the bounds; where it is NaN, ``hole``."""

    def value(t):
        f = problem.value(xnp.clip(xnp.reshape(t, 1), problem.lower, problem.upper))
        return xnp.where(xnp.isnan(f), hole, f)

    return value


def _with_point(problem, s):
    """The state with what the loop of all methods wants."""
    x = xnp.clip(s["u"].reshape(1), problem.lower, problem.upper)
    return s | {"x": x, "g": xnp.full_like(x, xnp.nan), "size": s["b"] - s["a"]}


TESTED = "how far from x the function is visibly higher, or rises, on both sides, relative to the size of x"
METHODS = {"brent": Brent(), "bounded": Brent(), "golden": Brent(parabolas=False)}


def minimize_scalar(
    fun: Callable[..., Any], bracket: Sequence[Any] | None = None,
    bounds: Sequence[Any] | None = None, args: Any = (), method: Any = "brent", *,
    tol: float | None = None, maxiter: int = 200,
) -> Result:  # fmt: skip
    """The least of a function of one number, by Brent's method or by golden sections.

    Args:
      fun: ``fun(x, *args)``, a real scalar of a real scalar.
      bracket: two points from which a valley is looked for, (0, 1) by default; or three, of which the
        middle one lies lower than the others.
      bounds: (lower, upper): search in this interval instead.
      args: further arguments.
      method: "brent" (parabolas and golden sections; "bounded" is the same) or "golden".
      tol: the error of x that is allowed, relative to |x| or, where that is larger, to the width of the bracket
        or 1, whichever is less. By default the search goes on to the root of eps, below which values differ by
        rounding errors only, and success asks for eps^0.4: 5e-7 in 64 bits, 2e-3 in 32.
      maxiter: steps at most.

    Success says that as far as tol from x, on both sides, the function is visibly higher, or rises; where a bound
    is nearer, on the other side. Between these places a continuous function has a minimum; of one that jumps
    nothing more is known. NaN is avoided like infinity, but is not higher than a number: where x ends beside it, the
    status is ``not_finite``. Where it is neither, on plateaus and where rounding errors hide the minimum, the status
    is ``flat``, and the certificate's error the least distance where it is (infinite if at none that was tried);
    where it falls towards x as towards a pole, ``stagnation``.

    >>> import xcore.optimize as xo
    >>> round(float(xo.minimize_scalar(lambda x: (x - 2.0) ** 2).x), 3)
    2.0
    >>> found = xo.minimize_scalar(lambda x: (x - 2.0) ** 2, bounds=(2.5, 4.0), method="golden")
    >>> round(float(found.x), 2)
    2.5
    """
    who = "optimize.minimize_scalar"
    method = _method_of(who, method)
    given = _points(who, bracket, bounds)
    given = (
        as_wide(lambda points: fun(points[0], *as_tuple(args)), given) if callable(fun) else given
    )
    ends = Flat(who, "bounds" if bounds is not None else "bracket", given).start
    flat = Flat(who, "x", ends[0])
    problem = Objective(who, fun, flat, args)
    problem.lower, problem.upper = (-xnp.inf, xnp.inf) if bounds is None else (ends[0], ends[1])
    if bounds is not None and is_evaluating() and not bool(xnp.all(xnp.isfinite(ends))):
        advice = "Where a side is open, give bracket instead."
        raise errors.bad_argument(who, "bounds", bounds, "two finite numbers", advice)
    if bounds is not None and is_evaluating() and not bool(ends[0] <= ends[1]):
        raise ValueError(
            f"xcore.{who}: the lower bound must not be above the upper one, given {bounds!r}."
        )
    # the interval that is left at the end is four times as long
    search, asked = float(xnp.finfo(flat.dtype).eps) ** 0.5, default_tol(flat.dtype)
    tol = tolerance(who, tol)
    search, asked = (search, asked) if tol is None else (0.5 * tol, tol)

    def solve(_):
        s = _search(who, method, problem, ends, bounds is not None, search, asked, maxiter)
        x = xnp.clip(s["u"], problem.lower, problem.upper).reshape(1)
        aux = {k: s[k] for k in ("status", "nit", "nfev", "error")} | {"value": s["f"]}
        return x, aux | {"g": problem.value_and_grad(x)[1]}

    x, aux = differentiable(
        lambda x: problem.value_and_grad(x)[1], problem.value, solve, ends[:1], problem
    )
    return result(
        flat.split(x), aux["value"], flat.split(aux["g"]), aux["status"], aux["nit"], aux["nfev"],
        count(1), Certificate(stationarity=largest(aux["g"]), error=aux["error"], tested=TESTED),
    )  # fmt: skip


def _method_of(who, given) -> Brent:
    given = METHODS.get(given.lower(), given) if isinstance(given, str) else given
    if not isinstance(given, Brent):
        raise ValueError(
            f"xcore.{who}: method must be one of {', '.join(METHODS)} or Brent(...), given {given!r}."
        )
    return given


def _points(who, bracket, bounds) -> tuple:
    """The points to start from, as given by one of the two."""
    if bracket is not None and bounds is not None:
        raise ValueError(f"xcore.{who}: give bracket or bounds, not both.")
    given = (0.0, 1.0) if bracket is None and bounds is None else bracket or bounds
    many = (2,) if bracket is None else (2, 3)
    if not isinstance(given, (tuple, list)) or len(given) not in many:
        raise ValueError(
            f"xcore.{who}: give two points as bounds, or two or three as bracket, given {given!r}."
        )
    return tuple(given)


def _search(who, method: Brent, problem, ends, bounded: bool, tol, asked, maxiter: int):
    """The state at the end of a search between bounds or in a bracket, by the number of points."""
    value = _line(problem)
    used, status = count(0), RUNNING
    if bounded:
        lo, hi = ends[0], ends[1]
        start = lo + GOLDEN * (hi - lo)
    elif ends.shape[0] == 3:
        lo, start, hi = xnp.minimum(ends[0], ends[2]), ends[1], xnp.maximum(ends[0], ends[2])
        found = (value(start) <= xnp.minimum(value(lo), value(hi))) & (lo < start) & (start < hi)
        used, status = count(3), first_of((~found, Status.no_bracket))
    else:
        a, start, c, used, status = bracket_from(value, ends[0], ends[1])
        lo, hi = xnp.minimum(a, c), xnp.maximum(a, c)
        status = xnp.where(ends[0] == ends[1], np.int32(Status.no_bracket), status)
    state = method.between(value, lo, start, hi, status)

    s = iterations(
        lambda s: s["status"] == RUNNING,
        lambda s: s | method.narrowed(value, s, tol),
        state,
        maxiter,
        who,
    )
    end = xnp.where(s["status"] == RUNNING, np.int32(Status.max_steps), s["status"])
    sides = problem.lower, problem.upper
    error, pole, hole = _judged(value, _line(problem, -xnp.inf), s, sides, asked)
    held = first_of(
        (hole, Status.not_finite), (s["f"] == -xnp.inf, Status.unbounded), (pole, Status.stagnation),
        (error <= asked, Status.success), (True, Status.flat),
    )  # fmt: skip
    return s | {"status": xnp.where(end == 0, held, end), "nfev": s["nfev"] + used, "error": error}


def _judged(value, known, s, sides, asked):
    """(the least distance at which f is higher, or rises, on both sides of x, of ``asked`` and larger ones; whether
    f falls towards x as towards a pole; whether it is NaN, where ``known`` is -inf and value inf, at ``asked`` from x),
    relative to the size of x."""
    x, f = xnp.clip(s["u"], *sides), s["f"]
    unit = xnp.maximum(s["unit"], xnp.abs(x))
    both = np.array([1, -1], x.dtype)
    slope = lambda t: grad(value)(t)  # noqa: E731
    near = aside(xnp.reshape(x, 1), unit)[:, 0]
    noise = noise_of(vmap(value)(near), f)
    slope_noise = 2 * xnp.max(xnp.abs(vmap(slope)(near[:4]) - slope(x)))
    sizes = np.array([asked**p for p in PARTS], x.dtype)
    points = x + both[:, None] * sizes * unit
    values, slopes = (vmap(g)(points.reshape(-1)).reshape(points.shape) for g in (value, slope))
    rises = (both[:, None] * slopes > slope_noise) & (values >= f - noise)
    outside = xnp.stack([points[0] >= sides[1], points[1] <= sides[0]])
    holes = ~outside & (vmap(known)(points.reshape(-1)).reshape(points.shape) != values)
    held = xnp.all(((values > f + noise) & ~holes) | rises | outside, axis=0)
    nearest = xnp.min(xnp.where(held, sizes, xnp.inf))
    return nearest, _is_pole(value, x, unit, sides), xnp.any(holes[:, 0])


def _is_pole(value, x, unit, sides):
    """Whether f falls by as much from half the distance to x as from all of it, or more, time and again."""
    eps = xnp.finfo(typeof(x).dtype).eps
    far = unit * min(64 * float(eps) ** 0.5, 0.02) * 2.0 ** np.arange(5).astype(x.dtype)
    left, right = x - far, x + far
    left, right = (
        xnp.where(left <= sides[0], right, left),
        xnp.where(right >= sides[1], left, right),
    )
    left, right = vmap(value)(left), vmap(value)(right)
    values = xnp.stack([left, right, 0.5 * (left + right)])  # there are poles of one side
    falls = values[:, 1:] - values[:, :-1]
    seen = xnp.all(falls > 64 * eps * xnp.max(xnp.abs(values), axis=1, keepdims=True), axis=1)
    return xnp.any(seen & xnp.all(falls[:, :-1] >= 0.97 * falls[:, 1:], axis=1))
