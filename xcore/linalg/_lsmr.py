"""Least squares and exponentials that see a matrix only through products with it."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import cond, custom_linear_solve, fori_loop, scan, stop_gradient, vmap
from .._core import Array, ArrayLike, dtypes, errors, require, static, struct, typeof
from .._iterate import first_row, history_of, iterate, with_row
from .._solution import Solution, Status, first_that_holds
from ..numpy._select import safe_divide
from ._arguments import epsilon
from ._operators import InUnits, LinearOperator, as_operator, in_dtype_of_products
from ._passes import MAX_PASSES
from ._range import magnitude, safe_norm, unit_of
from ._truth import check_status


def _normalised(x):
    """(|x|, x / |x|), and 0 of 0."""
    size = safe_norm(x)
    return size, safe_divide(x, size.astype(typeof(x).dtype))


def _rotation(a, b):
    """(c, s, r) with c a + s b = r >= 0 and c b = s a; c = 1 for zeros."""
    size = magnitude(xnp.stack([a, b]))
    r = size * xnp.sqrt((a / size) ** 2 + (b / size) ** 2)
    return xnp.where(r == 0, 1, safe_divide(a, r)), safe_divide(b, r), r


@struct
class _LSMR:
    """What ``iterate`` drives. (Fong and Saunders 2011, "LSMR: an iterative algorithm for sparse
    least-squares problems"; damping is rows below the matrix)"""

    mv: Any
    back: Any
    target: Any

    def done(self, s):
        return xnp.abs(s["zeta_bar"]) <= self.target

    def begin(self, b):
        beta, u = _normalised(b)
        alpha, v = _normalised(self.back(u))
        one = xnp.ones_like(alpha)
        return {
            "x": xnp.zeros_like(v), "u": u, "v": v, "alpha": alpha, "alpha_bar": alpha,
            "zeta_bar": alpha * beta, "rho": one, "rho_bar": one, "c_bar": one, "s_bar": 0 * one,
            "h": v, "h_bar": xnp.zeros_like(v),
        }  # fmt: skip

    def step(self, s):
        scaled = lambda c, x: c.astype(typeof(x).dtype) * x  # noqa: E731
        beta, u = _normalised(self.mv(s["v"]) - scaled(s["alpha"], s["u"]))
        alpha, v = _normalised(self.back(u) - scaled(beta, s["v"]))
        c, sine, rho = _rotation(s["alpha_bar"], beta)
        theta = sine * alpha
        theta_bar = s["s_bar"] * rho
        c_bar, s_bar, rho_bar = _rotation(s["c_bar"] * rho, theta)
        zeta, zeta_bar = c_bar * s["zeta_bar"], -s_bar * s["zeta_bar"]
        h_bar = s["h"] - scaled(
            safe_divide(theta_bar, s["rho"]) * safe_divide(rho, s["rho_bar"]), s["h_bar"]
        )
        return {
            "x": s["x"] + scaled(safe_divide(safe_divide(zeta, rho), rho_bar), h_bar), "u": u, "v": v,
            "alpha": alpha, "alpha_bar": c * alpha, "zeta_bar": zeta_bar, "rho": rho,
            "rho_bar": rho_bar, "c_bar": c_bar, "s_bar": s_bar,
            "h": v - scaled(safe_divide(theta, rho), s["h"]), "h_bar": h_bar,
        }  # fmt: skip


@struct
class _Passes:
    """Runs of LSMR, each from what the last one left: what ``iterate`` drives.

    The recurrence believes in more than rounding lets be: aᴴ (b - a x), computed from x, decides,
    and as long as a further run at least halves it there is one.
    """

    mv: Any
    back: Any
    b: Any
    target: Any
    least: Any  # what rounding leaves in doubt in any case
    limit: int
    unit: Any = 1.0  # of what history keeps
    progress: Any = static(default=False)

    def done(self, s):
        return ~s["again"]

    def step(self, s):
        scale, spent = magnitude(s["r"]), xnp.maximum(s["steps"], 0)
        solver = _LSMR(self.mv, self.back, self.target / scale)
        row = (
            (lambda state: xnp.abs(state["zeta_bar"]) * scale * self.unit) if "rows" in s else None
        )
        ran, steps, rows = iterate(
            solver, solver.begin(s["r"] / scale), self.limit, row=row, rows=s.get("rows"), steps=spent,
            progress=self.progress,
        )  # fmt: skip
        x = s["x"] + scale * ran["x"]
        r = self.b - self.mv(x)
        gradient = self.back(r / scale)
        size, watched = safe_norm(gradient), solver.done(ran)

        def changed(factor):  # by other roundings of the same
            other = self.back((self.b - self.mv(factor * x) / factor) / scale)
            return safe_norm(other - gradient)

        def doubt():
            # errors lie across what is left
            margin = 1.5 if epsilon(x) > 1e-4 else 3.0
            noise = margin * xnp.maximum(changed(0.75), changed(0.9))
            return xnp.hypot(size, noise) - size + self.least / scale

        unsure = cond(size <= solver.target, doubt, lambda: xnp.zeros_like(size))
        good = size + unsure <= solver.target
        better = (size * scale < s["size"]) | (s["steps"] < 0)
        halved = size * scale < 0.5 * s["size"]
        status = first_that_holds(
            (~xnp.isfinite(size), Status.not_finite), (good, Status.success),
            (watched, Status.stagnation),
        )  # fmt: skip
        kept = lambda new, old: xnp.where(better, new, old)  # noqa: E731
        return {
            "x": kept(x, s["x"]), "r": kept(r, s["r"]), "size": kept(size * scale, s["size"]),
            "steps": steps, "status": kept(status, s["status"]),
            "again": watched & ~good & halved & (steps < self.limit),
        } | ({"rows": with_row(rows, steps, size * scale * self.unit)} if row else {})  # fmt: skip


def _adjoint(a: LinearOperator):
    return lambda y: xnp.conj(a.T.mv(xnp.conj(y)))


def _damped(a: LinearOperator, back, damp):
    """Products with (a; damp) and its adjoint."""
    m = a.shape[0]

    def mv(x):
        return xnp.concatenate([a.mv(x), damp.astype(typeof(x).dtype) * x])

    return mv, lambda y: back(y[:m]) + damp.astype(typeof(y).dtype) * y[m:]


def _run(mv, back, b, rtol: float, limit: int, unit=None, progress=False):
    """(x, steps, |aᴴ (b - a x)|, status) of one right-hand side; with ``unit`` also |aᴴ (b - a x)| of the start and
    after each step, times it."""
    first = back(b)
    size = safe_norm(first)
    least = 0.5 * epsilon(b) * size
    passes = _Passes(
        mv, back, b, rtol * size, least, limit, 1.0 if unit is None else unit, progress
    )
    state = {
        "x": xnp.zeros_like(first), "r": b, "size": xnp.full_like(size, np.inf),
        "steps": xnp.full((), -1, np.int32),  # none as yet
        "status": xnp.zeros((), np.int32), "again": xnp.ones((), bool),
    }  # fmt: skip
    if unit is not None:
        state["rows"] = first_row(size * unit, limit)
    state = iterate(passes, state, MAX_PASSES).state
    rows = [] if unit is None else [state["rows"]]
    return state["x"], state["steps"], state["size"], state["status"], *rows


def _run_each(mv, back, columns, units=None, progress=False, *, rtol: float, limit: int):
    """``_run`` of each column; ``units`` of what is kept of each of its steps."""
    one = lambda b, *unit: _run(mv, back, b, rtol, limit, *unit, progress=progress)  # noqa: E731
    units = [] if units is None else [units]
    if typeof(columns).shape[1] == 1:
        return tuple(y[..., None] for y in one(columns[:, 0], *[x[0] for x in units]))
    out_axes = (1, 0, 0, 0, *[1] * len(units))
    return vmap(one, in_axes=(1, *[0] * len(units)), out_axes=out_axes)(columns, *units)


def _units(a: LinearOperator, columns, weight) -> tuple:
    """What the operator with its damping, and each column, are divided by, so that squares stay in range."""
    if 0 in typeof(columns).shape or 0 in a.shape:
        return xnp.ones((), typeof(weight).dtype), xnp.ones(
            typeof(columns).shape[1], typeof(weight).dtype
        )
    sizes = vmap(unit_of, in_axes=1)(columns)
    images = xnp.conj(a.T.matmat(xnp.conj(columns / sizes.astype(typeof(columns).dtype))))
    most = xnp.max(xnp.abs(ops.stop_gradient(images)), initial=0)
    return unit_of(xnp.maximum(most, xnp.abs(weight).astype(typeof(most).dtype))), sizes


def _in_own_units(x, status, sizes, unit) -> tuple:
    """x with its size, and what of its success is left: what counts as zero is none."""
    own = x * (sizes / unit).astype(typeof(x).dtype)
    here, there = (xnp.max(xnp.abs(ops.stop_gradient(y)), axis=0, initial=0) for y in (own, x))
    limits = dtypes.finfo(dtypes.to_real(typeof(x).dtype))
    least = float(limits.tiny) / float(limits.eps)
    lost = ((here < least) & (there > 0)) | (sizes < least) | (unit < least)
    worse = first_that_holds((~xnp.isfinite(here), Status.not_finite), (lost, Status.stagnation))
    success = status == np.int32(Status.success)
    return own, xnp.where(success & (lost | ~xnp.isfinite(here)), worse, status)


@struct
class _Swapped(LinearOperator):
    """The adjoint of an operator, for LSMR on it."""

    a: Any

    @property
    def shape(self):
        return self.a.shape[::-1]

    def mv(self, x):
        return _adjoint(self.a)(x)


def _check(who: str, a, b) -> None:
    if b.ndim not in (1, 2) or b.shape[0] != a.shape[0]:
        raise errors.shape_mismatch(who, f"need b (m,) or (m, k) for a of shape {a.shape}", b=b)


def lsmr(
    a: ArrayLike | LinearOperator, b: ArrayLike, *, damp: float = 0.0, rtol: float | None = None,
    max_steps: int | None = None, report: bool = False, history: bool = False,
    progress: str | bool = False,
) -> Array | Solution:  # fmt: skip
    """The x that makes |a x - b|² + damp² |x|² least, from products with a and its adjoint.

    Without damping and with fewer independent columns than x has elements, it is that of least
    norm. Derivatives (for full column rank) are those of the normal equations
    (aᴴ a + damp²) x = aᴴ b: at a solution x₀, held fixed, x = x₀ + (aᴴ a + damp²)⁻¹ (aᴴ (b - a x₀) -
    damp² x₀), in which all but the right side's change vanishes. (Björck 1996, "Numerical methods for
    least squares problems", section 1.4)

    Args:
      a: operator or matrix (m, n).
      b: vector (m,) or columns (m, k), each of which stops on its own.
      damp: weight of the size of x.
      rtol: tolerance for |aᴴ (b - a x) - damp² x|, computed anew in the end, relative to |aᴴ b|, which is 0 where
        it rounds to that; 1e-6 by default, or 100 times the precision where that is more. Where rounding
        does not let it be told, as below half of the precision, the status is ``stagnation``.
      max_steps: at most this many steps; 10 min(m, n) by default.
      report: return a ``Solution`` with the steps of each column and what is left of that goal's
        quantity ("residual"), instead of raising SolverError.
      history: with ``report``, keep |aᴴ (b - a x) - damp² x|: row 0 that of the start, row k after step k, as the
        method keeps it up to date, the last as computed from x; (rows,) or (rows, k).
      progress: show the number of steps and their rate; a text is the label.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> a = xnp.asarray([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> xnp.round(xc.linalg.lsmr(a, xnp.asarray([1.0, 3.0, 5.0])), 3)
    Array([1., 2.], dtype=float32)
    """
    who = "linalg.lsmr"
    a, b = as_operator(a), xnp.asarray(b)
    b = b.astype(dtypes.to_inexact(b.dtype))
    _check(who, a, b)
    require("0 or more", who, rtol=rtol, max_steps=max_steps)
    m, n = a.shape
    b = in_dtype_of_products(a, b)
    limit = 10 * min(m, n) if max_steps is None else max_steps
    columns = b[:, None] if b.ndim == 1 else b
    weight = xnp.asarray(damp, dtypes.to_real(typeof(b).dtype))
    unit, sizes = _units(a, ops.stop_gradient(columns), ops.stop_gradient(weight))
    a, weight, columns = InUnits(a, unit), weight / unit, columns / sizes.astype(typeof(b).dtype)
    fixed = ops.stop_gradient(weight)
    within = max(1e-6, 100 * epsilon(b)) if rtol is None else rtol
    run = functools.partial(_run_each, rtol=within, limit=limit)
    still = stop_gradient(a)  # derivatives go by the products below alone
    back, held = _adjoint(still), ops.stop_gradient(columns)
    kept = ops.stop_gradient(sizes) * unit if history else None
    if isinstance(damp, (int, float)) and damp == 0:
        first, steps, size, status, *rows = run(still.mv, back, held, kept, progress)
    else:
        below = xnp.zeros((n, typeof(columns).shape[1]), typeof(b).dtype)
        damped = *_damped(still, back, fixed), xnp.concatenate([held, below])
        first, steps, size, status, *rows = run(*damped, kept, progress)
    first = ops.stop_gradient(first)
    square = (weight * weight).astype(typeof(b).dtype)
    turned = _Swapped(a)

    def normal(x):
        return turned.matmat(a.matmat(x)) + square * x

    def solve(_, r):  # twice least squares: aᴴ y = r and a x = y
        whole = _NormalMatrix(still, fixed)  # with its damping: none is added to it
        inner, _, _, status = run(whole.mv, whole.mv, r)
        check_status(f"{who}, a solution for derivatives,", status)
        return inner

    rest = turned.matmat(columns - a.matmat(first)) - square * first
    rest = rest - ops.stop_gradient(rest)
    x = first + custom_linear_solve(normal, rest, solve=solve, transpose_solve=_transposed(solve))
    x, status = _in_own_units(x, status, sizes, unit)
    if not report and type(status) is not Array:
        check_status(who, status)
    size = size * unit * sizes
    if b.ndim == 1:
        x, status, steps, size, *rows = (v[..., 0] for v in (x, status, steps, size, *rows))
    past = history_of(rows[0], steps) if rows else None
    solution = Solution(x, status, steps=steps, error=size, history=past, who=who)
    return solution if report else solution.check().value


def _transposed(solve):
    """Solve with the transpose of a Hermitian operator, its conjugate."""
    return lambda f, c: xnp.conj(solve(f, xnp.conj(c)))


@struct
class _NormalMatrix(LinearOperator):
    """aᴴ a + damp²."""

    a: Any
    damp: Any

    @property
    def shape(self):
        return (self.a.shape[1],) * 2

    def mv(self, x):
        square = (self.damp * self.damp).astype(typeof(x).dtype)
        return _adjoint(self.a)(self.a.mv(x)) + square * x


# Exponential

_DEGREE = 24  # of the Taylor polynomial of one step
_REACH = 4.0  # norm up to which it is good to double precision
_MOST_STEPS = 1e8  # minutes for the smallest matrices


def expm_multiply(
    a: ArrayLike | LinearOperator, b: ArrayLike, t: ArrayLike = 1.0, *, steps: int | None = None
) -> Array:
    """exp(t a) b, without the exponential: Taylor polynomials in steps short enough.

    (Al-Mohy and Higham 2011, "Computing the action of the matrix exponential")

    Args:
      a: operator or matrix (n, n).
      b: vector (n,) or columns (n, k).
      t: number.
      steps: how many steps; by default as many as |t a|₁ / 4, which must then be known: under
        ``jit`` give the number.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> a = xnp.asarray([[0.0, 1.0], [0.0, 0.0]])
    >>> xc.linalg.expm_multiply(a, xnp.ones(2), 3.0)
    Array([4., 1.], dtype=float32)
    """
    who = "linalg.expm_multiply"
    a, b = as_operator(a), xnp.asarray(b)
    if a.shape[0] != a.shape[1] or b.ndim not in (1, 2) or b.shape[0] != a.shape[0]:
        raise errors.shape_mismatch(
            who, f"need b (n,) or (n, k) for a square a, given {a.shape}", b=b
        )
    columns = b[:, None] if b.ndim == 1 else b
    columns = columns.astype(dtypes.to_inexact(columns.dtype))
    columns = in_dtype_of_products(a, columns)
    if dtypes.is_complex(xnp.asarray(t).dtype):
        columns = columns.astype(dtypes.to_complex(typeof(columns).dtype))
    steps = steps_for(who, a, t, columns) if steps is None else steps
    require("1 or more", who, steps=steps)
    h = xnp.asarray(t, typeof(columns).dtype) / steps

    def step(x, _):
        def term(k, state):
            total, power = state
            power = a.matmat(power) * (h / (k + 1).astype(typeof(h).dtype))
            return total + power, power

        return fori_loop(0, _DEGREE, term, (x, x))[0], None

    x, _ = scan(step, columns, None, length=steps)
    return x.reshape(b.shape)


def steps_for(who: str, a: LinearOperator, t, like) -> int:
    """|t a|₁ / 4 rounded up, the norm estimated from below and doubled."""
    try:
        size = float(stop_gradient(abs(t) * _norm1_estimate(a, like)))
    except errors.ConcretizationError as e:
        raise errors.ConcretizationError(
            f"xcore.{who}: how many steps are needed depends on values that are traced; give steps=."
        ) from e
    if not np.isfinite(size):
        raise errors.bad_argument(who, "t a", size, "of finite norm")
    if 2 * size / _REACH > _MOST_STEPS:
        advice = f"That would take {2 * size / _REACH:.1e} steps; linalg.expm(t * a) @ b squares instead."
        raise errors.bad_argument(
            who, "t a", size, f"of norm {_MOST_STEPS * _REACH / 2:.0e} at most", advice
        )
    return max(1, int(np.ceil(2 * size / _REACH)))


def _norm1_estimate(a: LinearOperator, like, tries: int = 4):
    """An estimate of |a|₁: climb over the corners of the unit ball.

    (Higham 1988, "FORTRAN codes for estimating the one-norm of a real or complex matrix")
    """
    n = a.shape[0]
    x = xnp.full(n, 1 / max(n, 1), typeof(like).dtype)
    best = xnp.zeros((), dtypes.to_real(typeof(like).dtype))
    for _ in range(tries if n else 0):
        y = a.mv(x)
        best = xnp.maximum(best, xnp.sum(xnp.abs(y)))
        signs = safe_divide(y, xnp.abs(y), 1, where=y != 0)
        z = _adjoint(a)(signs)
        x = (xnp.arange(n) == xnp.argmax(xnp.abs(z))).astype(typeof(like).dtype)
    return best
