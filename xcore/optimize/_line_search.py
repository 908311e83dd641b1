"""Searches for a good step along a direction.

A search is a frozen struct of its settings. ``search(problem, x, f, d, slope, step, longest)`` gives
a ``Found``. Functions are evaluated once in each turn of one loop, so a search adds one copy of the
objective to a program.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import static, struct, typeof
from ._packed import loop
from ._problem import count


@struct
class Found:
    """The step, the function and gradient there, evaluations, and whether it is an improvement.

    ``unbounded``: however long the step was made, the function went on falling, by a share of its fall so far each
    time the step doubled: one that nears a limit does not.
    """

    step: Any
    f: Any
    g: Any
    nfev: Any
    ok: Any
    unbounded: Any = False


def _cubic_minimum(a, fa, da, b, fb, db):
    """Where the cubic with these values and slopes at a and b has its minimum; NaN if nowhere.

    (Nocedal, Wright, Numerical Optimization, 2006, equation 3.59)
    """
    d1 = da + db - 3 * (fa - fb) / (a - b)
    root = xnp.sqrt(d1 * d1 - da * db) * xnp.sign(b - a)
    return b - (b - a) * (db + root - d1) / (db - da + 2 * root)


def _secant(a, da, b, db):
    return (a * db - b * da) / (db - da)


@struct
class Wolfe:
    """A step with the strong Wolfe conditions, by bracketing and cubic interpolation.

    Where differences of f drown in rounding errors, slopes decide. (Nocedal, Wright 2006, section
    3.5; Hager, Zhang 2005 for the approximate conditions)

    Attributes:
      c1: the decrease must be this part of what the slope promises.
      c2: the slope must fall to this part of the first one.
      max_evals: evaluations at most.
      rule: how trial points are chosen: "cubic", or "secant" as Hager and Zhang do.

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> f = lambda x: (x[0] - 1) ** 2 + 10 * (x[1] - x[0] ** 2) ** 2
    >>> method = optimize.Descent(optimize.NonlinearCG(), optimize.Wolfe(c2=0.1))
    >>> found = optimize.minimize(f, xnp.array([-1.0, 1.0]), method=method)
    >>> bool(found.ok), found.x.round(2)
    (True, Array([1., 1.], dtype=float32))
    """

    c1: float = static(default=1e-4)
    c2: float = static(default=0.9)
    max_evals: int = static(default=30)
    rule: str = static(default="cubic")

    def __call__(
        self, problem: Any, x: Any, f: Any, g: Any, d: Any, slope: Any, step: Any, longest: Any
    ) -> Found:
        inf = xnp.full_like(f, xnp.inf)
        zero = xnp.zeros_like(f)
        # f and slope go along: what does not change is a kernel in front of the loop for each use
        start = {
            "first": (f, slope), "lo": (zero, f, slope), "hi": (inf, inf, zero), "g": g, "old": (zero, slope),
            "trial": xnp.minimum(step, longest), "n": count(0), "done": xnp.zeros((), bool),
        }  # fmt: skip

        def turn(s):
            a = s["trial"]
            fa, ga = problem.value_and_grad(x + a * d)
            # one product of a matrix is less code for the compiler than a sum of products
            da = (xnp.stack([ga, d]) @ d)[0]
            finite = xnp.isfinite(fa) & xnp.isfinite(da)
            point = (a, xnp.where(finite, fa, xnp.inf), xnp.where(finite, da, 0))
            high, good = self._judge(s, point, longest)
            lo, hi = _narrow(s, point, high, good)
            old = (s["lo"][0], s["lo"][2])
            new = {
                "first": s["first"], "lo": lo, "hi": hi, "g": xnp.where(high, s["g"], ga), "old": old,
                "n": s["n"] + np.int32(1), "done": good,
            }  # fmt: skip
            return new | {"trial": xnp.minimum(self._propose(new, s), longest)}

        def going(s):
            return ~s["done"] & (s["n"] < self.max_evals)

        # own loop: inside a step
        s = loop(going, turn, start)
        a, fa, da = s["lo"]
        unbounded = ~s["done"] & xnp.isinf(s["hi"][0]) & (a > 0) & (-a * da >= 0.1 * (f - fa))
        return Found(a, fa, s["g"], s["n"], s["done"] | ((a > 0) & (fa < f)), unbounded)

    def _judge(self, s, point, longest):
        """(the function is too high here, the step is good)."""
        (f, slope), (a, fa, da) = s["first"], point
        noise = 8 * xnp.finfo(typeof(f).dtype).eps * xnp.abs(f)
        decreased = fa <= f + self.c1 * a * slope
        flat = (fa <= f + noise) & (da <= (2 * self.c1 - 1) * slope)
        high = ~(decreased | flat) | (fa > s["lo"][1] + noise)
        at_end = (a >= longest) & (da < 0)
        return high, ~high & ((xnp.abs(da) <= -self.c2 * slope) | at_end)

    def _propose(self, s, before):
        """The next trial: inside the bracket if there is one, else farther out."""
        (lo, f_lo, d_lo), (hi, f_hi, d_hi) = s["lo"], s["hi"]
        bracketed = xnp.isfinite(hi)
        hi_ = xnp.where(bracketed, hi, lo + 1)
        if self.rule == "secant":
            inner = _secant(lo, d_lo, hi_, d_hi)
            inner = xnp.where((s["n"] % 2 == 0) & (s["old"][0] != lo),
                              _secant(lo, d_lo, *s["old"]), inner)  # fmt: skip
            inner = xnp.where(xnp.isfinite(f_hi) & (d_hi > 0), inner, xnp.nan)
        else:
            inner = _cubic_minimum(lo, f_lo, d_lo, hi_, f_hi, d_hi)
        left, width = xnp.minimum(lo, hi_), xnp.abs(hi_ - lo)
        middle = left + 0.5 * width
        # every third trial halves the bracket, whatever the interpolation says
        usable = xnp.isfinite(inner) & (s["n"] % 3 != 2)
        inner = xnp.where(usable, xnp.clip(inner, left + 0.05 * width, left + 0.95 * width), middle)
        outer = _secant(*s["old"], lo, d_lo)
        outer = xnp.where(
            outer > 0, outer, xnp.inf
        )  # a slope that does not rise: as far as allowed
        outer = xnp.clip(outer, 2 * before["trial"], 8 * before["trial"])
        return xnp.where(bracketed, inner, outer)


def _choose(condition, a, b):
    return tuple(xnp.where(condition, x, y) for x, y in zip(a, b))


def _narrow(s, point, high, good):
    """(lo, hi) with the new point in place of one of them; hi takes lo's where the slope turns."""
    lo, hi = s["lo"], s["hi"]
    rising = xnp.where(hi[0] > lo[0], point[2] >= 0, point[2] <= 0)
    hi = _choose(high, point, _choose(rising, lo, hi))
    return _choose(high & ~good, lo, point), hi


@struct
class Backtracking:
    """The first of the steps a, a/2, a/4, … with enough decrease. (Armijo 1966)

    Attributes:
      c1: the decrease must be this part of what the slope promises.
      factor: each step is this times the one before.
      max_evals: evaluations at most.

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> f = lambda x: (x[0] - 1) ** 2 + 2 * (x[1] - 2) ** 2
    >>> method = optimize.Descent(optimize.Gradient(), optimize.Backtracking())
    >>> found = optimize.minimize(f, xnp.array([-1.0, 1.0]), method=method)
    >>> bool(found.ok), found.x.round(2)
    (True, Array([1., 2.], dtype=float32))
    """

    c1: float = static(default=1e-4)
    factor: float = static(default=0.5)
    max_evals: int = static(default=50)

    def __call__(
        self, problem: Any, x: Any, f: Any, g: Any, d: Any, slope: Any, step: Any, longest: Any
    ) -> Found:
        noise = 8 * xnp.finfo(typeof(f).dtype).eps * xnp.abs(f)

        def turn(s):
            a, _, _, n = s
            a = xnp.where(n == 0, a, self.factor * a)
            return (a, *problem.value_and_grad(x + a * d), n + np.int32(1))

        def going(s):
            a, fa, _, n = s
            good = fa <= f + self.c1 * a * slope + noise
            return (n == 0) | (~good & (n < self.max_evals))

        # own loop: inside a step
        a, fa, ga, n = loop(going, turn, (xnp.minimum(step, longest), f, g, count(0)))
        ok = fa <= f + self.c1 * a * slope + noise
        return Found(xnp.where(ok, a, 0), xnp.where(ok, fa, f), xnp.where(ok, ga, g), n, ok)


SEARCHES = {
    "wolfe": Wolfe(),
    "hager-zhang": Wolfe(rule="secant", c1=0.1),
    "backtracking": Backtracking(),
}


def line_search_of(given, default):
    """A search from its name or itself."""
    if given is None:
        return default
    if isinstance(given, str):
        if given not in SEARCHES:
            raise ValueError(
                f"xcore.optimize: line_search must be one of {', '.join(map(repr, SEARCHES))} or such "
                f"an object, given {given!r}."
            )
        return SEARCHES[given]
    return given
