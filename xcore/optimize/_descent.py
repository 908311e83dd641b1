"""Methods that choose a direction from gradients and search along it.

Every step is a search and then the next direction. The first search goes along the zero direction: it
only evaluates the function where the method starts, so that a program holds it once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import DTypeLike, static, struct, typeof
from ..numpy._select import safe_divide
from ._line_search import Wolfe, line_search_of
from ._problem import count, largest
from ._result import RUNNING, Status, first_of


def first_status(f, size, tol):
    """The status of a point before any step, from the function and the gradient's size."""
    return first_of(
        (~(xnp.isfinite(f) & xnp.isfinite(size)), Status.not_finite),
        (size <= tol, Status.success),
    )


def start_state(problem, x, tol, **more):
    """What the states of methods that use gradients have."""
    f, g = problem.value_and_grad(x)
    size = largest(g)
    return {
        "x": x, "f": f, "g": g, "size": size, "status": first_status(f, size, tol),
        "nit": count(0), "nfev": count(1), "njev": count(1), **more,
    }  # fmt: skip


def bottom(f):
    """No function that has a minimum falls as far as this, in units of what its first step promised."""
    limits = xnp.finfo(typeof(f).dtype)
    return -min(float(limits.eps) ** -2.5, 0.01 * float(limits.max))


def has_fallen(f, before):
    """Whether f is where numbers end, and came there by a share of that: one that nears a limit does not."""
    return (f <= bottom(f)) & xnp.isfinite(before) & (before - f >= -0.1 * f)


def is_bottomless(found, before):
    """Whether a search fell on and on, or to where numbers end."""
    return found.unbounded | has_fallen(found.f, before)


@struct
class Descent:
    """A method made of a rule for directions and a line search.

    A rule is a struct with ``search``, its usual line search, ``init(n, dtype) -> memory`` and
    ``next(memory, s, y, g, step, fresh) -> (memory, d, slope, guess)``: from the changes s, y of the
    point and of the gradient, the gradient g, the last step and whether memory says nothing, to the
    direction, the slope along it and the step to try first.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> method = xc.optimize.Descent(xc.optimize.LBFGS(memory=20))
    >>> xc.optimize.minimize(lambda x: xnp.sum((x - 1) ** 2), xnp.zeros(2), method=method).x
    Array([1., 1.], dtype=float32)
    """

    rule: Any = static()
    line_search: Any = static(default=None)

    def init(self, problem: Any, x: Any, tol: Any) -> dict[str, Any]:
        n, dtype = typeof(x).shape[0], typeof(x).dtype
        zero = xnp.zeros((), dtype)
        return {
            "x": x, "f": xnp.full((), xnp.inf, dtype), "g": xnp.zeros_like(x), "size": zero,
            "status": xnp.asarray(RUNNING), "nit": count(-1), "nfev": count(0), "njev": count(0),
            "d": xnp.zeros_like(x), "slope": zero, "guess": xnp.ones((), dtype),
            "fresh": xnp.ones((), bool), "memory": self.rule.init(n, dtype), **nothing_gained(dtype),
        }  # fmt: skip

    def step(self, problem: Any, s: dict[str, Any], tol: Any) -> dict[str, Any]:
        """A search, and what follows from it; after one that fails, the next goes along the gradient."""
        x, f, d = s["x"], s["f"], s["d"]
        search = line_search_of(self.line_search, self.rule.search)
        no_limit = xnp.full_like(f, xnp.inf)
        found = search(problem, x, f, s["g"], d, s["slope"], s["guess"], no_limit)
        move = found.step * d
        fresh = ~found.ok | (s["nit"] < 0)
        memory, new_d, slope, guess = self.rule.next(
            s["memory"], move, found.g - s["g"], found.g, found.step, fresh
        )
        size = largest(found.g)
        gained = gains(s, found.f, size)
        status = first_of(
            (~(xnp.isfinite(found.f) & xnp.isfinite(size)), Status.not_finite),
            (is_bottomless(found, f), Status.unbounded),
            (size <= tol, Status.success),
            ((~found.ok & s["fresh"]) | (gained["idle"] >= IDLE), Status.stagnation),
        )
        return gained | {
            "x": x + move, "f": found.f, "g": found.g, "size": size, "status": status,
            "nit": s["nit"] + np.int32(1), "nfev": s["nfev"] + found.nfev,
            "njev": s["njev"] + found.nfev, "d": new_d, "slope": slope, "guess": guess,
            "fresh": fresh, "memory": memory,
        }  # fmt: skip


IDLE = 50  # steps after which what has gained nothing gains nothing any more


def nothing_gained(dtype) -> dict[str, Any]:
    far = xnp.full((), xnp.inf, dtype)
    return {"lowest": far, "flattest": far, "idle": count(0)}


def gains(s, f, size) -> dict[str, Any]:
    """The lowest value, the gradient when it last halved, and for how many steps neither has got less."""
    rounding = 4 * xnp.finfo(typeof(f).dtype).eps * xnp.abs(f)
    lower, flatter = f + rounding < s["lowest"], size < 0.5 * s["flattest"]
    return {
        "lowest": xnp.where(lower, f, s["lowest"]), "flattest": xnp.where(flatter, size, s["flattest"]),
        "idle": xnp.where(lower | flatter, 0, s["idle"] + 1).astype(np.int32),
    }  # fmt: skip


def _careful(gg):
    """A first step along minus the gradient, of length at most 1."""
    return xnp.minimum(1, 1 / xnp.sqrt(xnp.maximum(gg, xnp.finfo(typeof(gg).dtype).tiny)))


def _either(fresh, d, slope, guess, g, gg):
    """The direction, slope and first step; those of the gradient if memory says nothing."""
    bad = fresh | ~(slope < 0)
    return (
        xnp.where(bad, -g, d), xnp.where(bad, -gg, slope),
        xnp.where(fresh, _careful(gg), guess).astype(typeof(gg).dtype),
    )  # fmt: skip


@struct
class Gradient:
    """Minus the gradient.

    Attributes:
      barzilai_borwein: try the step s·s / s·y first, else twice the last one. (Barzilai, Borwein 1988)

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> f = lambda x: (x[0] - 1) ** 2 + 2 * (x[1] - 2) ** 2
    >>> found = optimize.minimize(f, xnp.array([-1.0, 1.0]), method=optimize.Gradient())
    >>> bool(found.ok), found.x.round(2)
    (True, Array([1., 2.], dtype=float32))
    """

    search = Wolfe(c2=0.1)
    barzilai_borwein: bool = static(default=False)

    def init(self, n: int, dtype: DTypeLike) -> Any:
        return ()

    def next(self, memory: Any, s: Any, y: Any, g: Any, step: Any, fresh: Any) -> Any:
        gg, guess = xnp.vdot(g, g), 2 * step
        if self.barzilai_borwein:
            sy = xnp.vdot(s, y)
            guess = safe_divide(xnp.vdot(s, s), sy, guess, where=sy > 0)
        return (), *_either(fresh, -g, -gg, guess, g, gg)


@struct
class NonlinearCG:
    """Nonlinear conjugate gradients with the β of Hager and Zhang. (2005)

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> f = lambda x: (x[0] - 1) ** 2 + 10 * (x[1] - x[0] ** 2) ** 2
    >>> found = optimize.minimize(f, xnp.array([-1.0, 1.0]), method=optimize.NonlinearCG())
    >>> bool(found.ok), found.x.round(2)
    (True, Array([1., 1.], dtype=float32))
    """

    search = Wolfe(c2=0.1)

    def init(self, n: int, dtype: DTypeLike) -> Any:
        return {"d": xnp.zeros(n, dtype), "slope": -xnp.ones((), dtype)}

    def next(self, memory: Any, s: Any, y: Any, g: Any, step: Any, fresh: Any) -> Any:
        d, gg, old = memory["d"], xnp.vdot(g, g), g - y
        dy = xnp.vdot(d, y)
        zero = fresh | (dy == 0)
        dy = xnp.where(zero, 1, dy)
        beta = (xnp.vdot(y, g) - 2 * xnp.vdot(y, y) * xnp.vdot(d, g) / dy) / dy
        tiny = xnp.finfo(typeof(g).dtype).tiny
        size = xnp.vdot(d, d) * xnp.minimum(1e-4, xnp.vdot(old, old))
        beta = xnp.where(zero, 0, xnp.maximum(beta, -1 / xnp.sqrt(xnp.maximum(size, tiny))))
        d = beta * d - g
        slope = xnp.vdot(g, d)
        guess = step * memory["slope"] / xnp.where(slope == 0, -1, slope)
        d, slope, guess = _either(zero, d, slope, guess, g, gg)
        return {"d": d, "slope": slope}, d, slope, guess


@struct
class BFGS:
    """The inverse Hessian, dense, learnt from changes of the gradient: BFGS.

    (Broyden, Fletcher, Goldfarb, Shanno 1970)

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> f = lambda x: (x[0] - 1) ** 2 + 10 * (x[1] - x[0] ** 2) ** 2
    >>> found = optimize.minimize(f, xnp.array([-1.0, 1.0]), method=optimize.BFGS())
    >>> bool(found.ok), found.x.round(2)
    (True, Array([1., 1.], dtype=float32))
    """

    search = Wolfe()

    def init(self, n: int, dtype: DTypeLike) -> Any:
        return {"h": xnp.eye(n, dtype=dtype), "known": xnp.zeros((), bool)}

    def next(self, memory: Any, s: Any, y: Any, g: Any, step: Any, fresh: Any) -> Any:
        h, sy, yy = memory["h"], xnp.vdot(s, y), xnp.vdot(y, y)
        good = sy > 1e-10 * xnp.sqrt(xnp.vdot(s, s) * yy)
        sy, yy = xnp.where(good, sy, 1), xnp.where(yy > 0, yy, 1)
        # the first curvature seen scales the identity (Nocedal, Wright 2006, equation 6.20)
        h = xnp.where(memory["known"], h, xnp.where(good, sy / yy, 1) * h)
        hy = h @ y
        left = xnp.stack([s, hy], axis=1)
        right = xnp.stack([((1 + xnp.vdot(y, hy) / sy) * s - hy) / sy, -s / sy])
        h = xnp.where(good, h + left @ right, h)
        d, gg = -(h @ g), xnp.vdot(g, g)
        one = xnp.ones_like(gg)
        return {"h": h, "known": memory["known"] | good}, *_either(
            fresh, d, xnp.vdot(g, d), one, g, gg
        )


def _times(small, x):
    """The product of a small matrix with x, for which the compiler writes less code than for ``@``."""
    return xnp.sum(small * x, axis=1)


@struct
class LBFGS:
    """The last pairs s, y of L-BFGS as the compact form of the inverse Hessian.

    H g = γ g + Sᵀ v - γ Yᵀ u, where u = V S g and v = Vᵀ ((D + γ Y Yᵀ) u - γ Y g); rows of S and Y are
    the pairs, V is the inverse of the upper triangle of S Yᵀ, D its diagonal. (Byrd, Nocedal, Schnabel
    1994, theorem 2.2) A new pair is a new last column of the triangle, so V gets a column too, which is
    a product with V; the oldest pair's row and column go. No order of the pairs is kept: a new one takes
    the place of the oldest. S, Y and g are rows of one matrix P: products with P give the inner
    products of a step, and another the direction.

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> f = lambda x: (x[0] - 1) ** 2 + 10 * (x[1] - x[0] ** 2) ** 2
    >>> found = optimize.minimize(f, xnp.array([-1.0, 1.0]), method=optimize.LBFGS(memory=5))
    >>> bool(found.ok), found.x.round(2)
    (True, Array([1., 1.], dtype=float32))
    """

    search = Wolfe()
    memory: int = static(default=10)

    def init(self, n: int, dtype: DTypeLike) -> Any:
        m = self.memory
        return {
            # rows: m pairs and a place for those that are not taken, of S, of Y; then g
            "p": xnp.zeros((2 * m + 3, n), dtype), "v": xnp.zeros((m, m), dtype),
            "yy": xnp.zeros((m, m), dtype), "gamma": xnp.ones((), dtype), "n": count(0),
        }  # fmt: skip

    def next(self, memory: Any, s: Any, y: Any, g: Any, step: Any, fresh: Any) -> Any:
        m = self.memory
        # products with one vector at a time: XLA's with two or three take five times as long
        ss, sy, yy, gg = xnp.vdot(s, s), xnp.vdot(s, y), xnp.vdot(y, y), xnp.vdot(g, g)
        limits = xnp.finfo(typeof(g).dtype)
        large = 1e10 if limits.bits > 16 else 1 / limits.eps  # the cosine's reciprocal at most
        good = (sy > 0) & ((large * sy) * (large * sy) > ss * yy)
        gamma = safe_divide(sy, yy, memory["gamma"], where=good)
        i = xnp.where(good, memory["n"], m)
        p = memory["p"].at[i].set(s).at[i + np.int32(m + 1)].set(y).at[2 * m + 2].set(g)
        with_y, with_g = p @ y, p @ g
        sy_all, yy_all = with_y[:m], with_y[m + 1 : 2 * m + 1]
        sg, yg = with_g[:m], with_g[m + 1 : 2 * m + 1]
        here = xnp.arange(m, dtype=np.int32) == i
        row, column = here[:, None], here[None, :]
        # pairs that are not there yet have rows and columns of zeros, and so coefficients 0
        known = xnp.where(row | column, 0, memory["v"])
        last = xnp.where(row, 1, -_times(known, sy_all)[:, None]) / xnp.where(good, sy, 1)
        v = xnp.where(column, last, known)
        all_yy = xnp.where(row, yy_all, xnp.where(column, yy_all[:, None], memory["yy"]))
        left, right = self._coefficients(v, all_yy, sg, yg, gamma)
        slope = xnp.sum(gamma * left * yg - right * sg) - gamma * gg
        bad = fresh | ~(slope < 0)
        nothing, plain = xnp.zeros(1, gamma.dtype), xnp.where(bad, 1, gamma)[None]
        weights = xnp.concatenate([-right, nothing, gamma * left, nothing])
        d = xnp.concatenate([xnp.where(bad, 0, weights), -plain]) @ p
        memory = {
            "p": p, "v": v, "yy": all_yy, "gamma": gamma,
            "n": xnp.where(i < m - 1, i + np.int32(1), xnp.where(good, 0, memory["n"])).astype(np.int32),
        }  # fmt: skip
        guess = xnp.where(fresh, _careful(gg), 1).astype(gamma.dtype)
        return memory, d, xnp.where(bad, -gg, slope), guess

    @staticmethod
    def _coefficients(v, yy, sg, yg, gamma):
        """(u, v): what Y and S are multiplied by."""
        diagonal = xnp.diagonal(v)
        u = _times(v, sg)
        du = safe_divide(u, diagonal)
        return u, _times(v.T, du + gamma * (_times(yy, u) - yg))
