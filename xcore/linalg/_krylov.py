"""Iterative solvers that see a matrix only through products with it.

A solver is a frozen struct of its settings. It is written for one right-hand side; several are
batch elements of a vmap, so each column stops when it is done. Derivatives come from the equation alone.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control.checks import fail_if, make_site
from .._control.cond import cond
from .._control.implicit import custom_linear_solve
from .._control.jit import eval_shape
from .._control.loops import fori_loop
from .._core import dtypes, errors, tree
from .._core.keywords import require
from .._core.source import user_frame
from .._core.struct import static, struct
from .._core.trace import Tracer
from .._core.types import typeof
from .._iterate import first_row, history_of, iterate, with_row
from .._solution import Solution, Status, first_that_holds
from .._transforms.map import vmap
from ._arguments import as_inexact, check_matrices, modulus
from ._elimination import first_zero
from ._operators import Diagonal, LinearOperator, as_operator, in_dtype_of_products
from ._range import any_subnormal, divided, inner, magnitude, norm, ratio, safe_norm, unit_of
from ._truth import check_status, fail


def _norm_by(z, r):
    """√(rᴴ z), for z = m r with a positive definite m."""
    return xnp.sqrt(xnp.maximum(xnp.real(inner(r, z)), 0)).astype(typeof(r).dtype)


_ADVICE = ((Status.max_steps, " with the solver's max_steps, or precondition"),)


@struct
class Krylov:
    """Settings that all solvers have.

    Attributes:
      rtol, atol: a solution is good when |b - a x|, computed anew in the end, is at most
        max(rtol |b|, atol); where rounding does not let it, the status is ``stagnation``.
      max_steps: at most this many steps, 10 n by default; as many once more if the sizes of products
        let the first run fail.
    """

    rtol: float = static(default=1e-5)
    atol: float = static(default=0.0)
    max_steps: int | None = static(default=None)

    lost = Status.breakdown  # how it ends where ``stalled``

    def limit(self, n: int) -> int:
        """The number of steps allowed for n unknowns."""
        return 10 * n if self.max_steps is None else self.max_steps

    def check(self, who: str) -> None:
        """An error for settings that make no sense."""
        for wanted, names in (("0 or more", "rtol atol max_steps"), ("1 or more", "restart")):
            own = {f"{type(self).__name__}'s {n}": getattr(self, n, None) for n in names.split()}
            require(wanted, who, **own)

    def usable(self):
        """Whether settings that may be traced make sense."""
        return xnp.ones((), bool)


@struct
class _Problem:
    """One right-hand side given to a solver: what ``iterate`` drives."""

    mv: Any
    precondition: Any
    solver: Any
    target: Any
    unit: Any = 1.0  # what eigenvalues, those of the preconditioned matrix, were divided by

    def done(self, state):
        return (state["size"] <= self.target) | state["stalled"] | ~xnp.isfinite(state["size"])

    def step(self, state):
        new = self.solver.advance(self, state)
        if "rows" not in state:
            return new
        at = state["at"] + np.int32(1)
        rows = with_row(state["rows"], at, new["size"] * state["of"])
        return new | {"at": at, "of": state["of"], "rows": rows}


@struct
class CG(Krylov):
    """Conjugate gradients, for Hermitian positive definite matrices. (Hestenes and Stiefel 1952)"""

    lost = Status.not_definite

    def begin(self, p: _Problem, x, r):
        z = p.precondition(r)
        return {"x": x, "r": r, "p": z, "rz": inner(r, z)}

    def advance(self, p: _Problem, s):
        q = p.mv(s["p"])
        curvature = inner(s["p"], q)
        alpha = ratio(s["rz"], curvature)
        x, r = s["x"] + alpha * s["p"], s["r"] - alpha * q
        z = p.precondition(r)
        rz = inner(r, z)
        return {
            "x": x, "r": r, "p": z + ratio(rz, s["rz"]) * s["p"], "rz": rz, "size": norm(r),
            "stalled": ~(xnp.real(curvature) > 0),
        }  # fmt: skip


@struct
class BiCGStab(Krylov):
    """Biconjugate gradients, stabilised, for any square matrix. (van der Vorst 1992)"""

    def begin(self, p: _Problem, x, r):
        one = xnp.ones((), typeof(r).dtype)
        zero = xnp.zeros_like(r)
        return {
            "x": x,
            "r": r,
            "shadow": r,
            "rho": one,
            "alpha": one,
            "omega": one,
            "p": zero,
            "v": zero,
        }

    def advance(self, p: _Problem, s):
        rho = inner(s["shadow"], s["r"])
        beta = ratio(rho, s["rho"]) * ratio(s["alpha"], s["omega"])
        direction = s["r"] + beta * (s["p"] - s["omega"] * s["v"])
        y = p.precondition(direction)
        v = p.mv(y)
        alpha = ratio(rho, inner(s["shadow"], v))
        half = s["r"] - alpha * v
        z = p.precondition(half)
        t = p.mv(z)
        small = t / magnitude(t)  # so that a matrix of tiny numbers has an omega
        omega = ratio(inner(small, half), inner(small, t))
        r = half - omega * t
        return {
            "x": s["x"] + alpha * y + omega * z, "r": r, "shadow": s["shadow"], "rho": rho,
            "alpha": alpha, "omega": omega, "p": direction, "v": v, "size": norm(r),
            "stalled": (rho == 0) | (alpha == 0),
        }  # fmt: skip


@struct
class MINRES(Krylov):
    """Minimal residuals, for Hermitian matrices that may be indefinite; a preconditioner must be
    positive definite. (Paige and Saunders 1975; with a preconditioner Elman, Silvester and Wathen
    2014, "Finite elements and fast iterative solvers", algorithm 4.1)"""

    def begin(self, p: _Problem, x, r):
        z = p.precondition(r)
        beta = _norm_by(z, r)
        zeros, zero = xnp.zeros_like(r), xnp.zeros((), typeof(r).dtype)
        one = xnp.ones((), typeof(r).dtype)
        return {
            "x": x, "r": r, "v": ratio(r, beta), "z": ratio(z, beta), "old": zeros, "beta": zero,
            "eta": beta, "c": one, "c_old": one, "s": zero, "s_old": zero, "w": zeros, "w_old": zeros,
        }  # fmt: skip

    def advance(self, p: _Problem, s):
        v, z = s["v"], s["z"]
        q = p.mv(z) - s["beta"] * s["old"]
        alpha = inner(z, q)
        q = q - alpha * v
        y = p.precondition(q)
        beta = _norm_by(y, q)
        # the new column of the tridiagonal matrix, through the last two rotations and a new one
        delta = s["c"] * alpha - s["c_old"] * s["s"] * s["beta"]
        rho2 = s["s"] * alpha + s["c_old"] * s["c"] * s["beta"]
        rho3 = s["s_old"] * s["beta"]
        rho1 = xnp.sqrt(xnp.abs(delta) ** 2 + xnp.abs(beta) ** 2).astype(typeof(v).dtype)
        c, sine = ratio(delta, rho1), ratio(beta, rho1)
        w = ratio(z - rho3 * s["w_old"] - rho2 * s["w"], rho1)
        eta, following = -sine * s["eta"], ratio(q, beta)
        r, size = s["r"], xnp.abs(eta)
        if p.precondition is not _identity:  # eta is then the residual in another norm
            r = sine**2 * r + c * eta * following
            size = norm(r)
        return {
            "x": s["x"] + c * s["eta"] * w, "r": r, "v": following, "z": ratio(y, beta), "old": v,
            "beta": beta, "eta": eta, "c": c, "c_old": s["c"], "s": sine, "s_old": s["s"], "w": w,
            "w_old": s["w"], "size": size, "stalled": rho1 == 0,
        }  # fmt: skip


@struct
class GMRES(Krylov):
    """Minimal residuals over growing spaces, for any square matrix, restarted now and then.

    A step is one cycle of ``restart`` products. (Saad and Schultz 1986)
    """

    restart: int = static(default=20)

    def begin(self, p: _Problem, x, r):
        return {"x": x, "r": r}

    def advance(self, p: _Problem, s):
        n = typeof(s["r"]).shape[0]
        m = min(self.restart, n)
        dtype = typeof(s["r"]).dtype
        beta = norm(s["r"])
        basis = xnp.zeros((m + 1, n), dtype).at[0].set(ratio(s["r"], beta.astype(dtype)))

        def arnoldi(k, state):
            basis, h = state
            w = p.mv(p.precondition(basis[k]))
            column = xnp.conj(basis) @ w
            w = w - basis.T @ column
            again = xnp.conj(basis) @ w  # once more: rounding leaves a little of the space in w
            w = w - basis.T @ again
            size = safe_norm(w)
            small = size <= xnp.finfo(dtype).eps * norm(column)  # the space is invariant
            w = xnp.where(small, 0, ratio(w, size.astype(dtype)))
            column = (column + again).at[k + 1].set(xnp.where(small, 0, size).astype(dtype))
            return basis.at[k + 1].set(w), h.at[:, k].set(column)

        basis, h = fori_loop(0, m, arnoldi, (basis, xnp.zeros((m + 1, m), dtype)))
        right = xnp.zeros(m + 1, dtype).at[0].set(beta.astype(dtype))
        y = xnp.linalg.lstsq(h, right)[0]
        x = s["x"] + p.precondition(basis[:m].T @ y)
        r = s["b"] - p.mv(x)
        size = norm(r)
        return {"x": x, "r": r, "b": s["b"], "size": size, "stalled": size >= beta}


@struct
class Chebyshev(Krylov):
    """Chebyshev's iteration, for Hermitian positive definite matrices whose spectrum is bounded.

    No inner products, so nothing waits for all processors. (Saad 2003, "Iterative methods for sparse
    linear systems", algorithm 12.1)

    Attributes:
      bounds: (low, high) between which all eigenvalues lie, those of the preconditioned matrix.
    """

    bounds: Any = (1.0, 1.0)

    def check(self, who: str) -> None:
        super().check(who)
        bounds = [np.asarray(x) for x in self.bounds if not isinstance(x, Tracer)]
        if len(self.bounds) != 2 or (len(bounds) == 2 and not 0 < bounds[0] <= bounds[1] < np.inf):
            need = "two numbers 0 < low <= high between which all eigenvalues lie"
            raise errors.bad_argument(who, "Chebyshev's bounds", self.bounds, need)

    def usable(self):
        low, high = self.bounds
        return xnp.asarray((low > 0) & (low <= high) & (high < np.inf))

    def begin(self, p: _Problem, x, r):
        dtype = dtypes.to_real(typeof(r).dtype)
        low, high = (xnp.asarray(y, dtype) / p.unit for y in self.bounds)
        centre = xnp.asarray((low + high) / 2).astype(dtype)
        radius = xnp.maximum(xnp.asarray((high - low) / 2).astype(dtype), 1e-6 * centre)
        z = p.precondition(r)
        return {"x": x, "r": r, "d": z / centre, "rho": radius / centre, "radius": radius,
                "ratio": 2 * centre / radius}  # fmt: skip

    def advance(self, p: _Problem, s):
        x, r = s["x"] + s["d"], s["r"] - p.mv(s["d"])
        z = p.precondition(r)
        rho = 1 / (s["ratio"] - s["rho"])
        d = rho * s["rho"] * s["d"] + (2 * rho / s["radius"]) * z
        size = norm(r)
        grew = size > 1e3 * s["first"]  # the bounds were wrong
        return s | {"x": x, "r": r, "d": d, "rho": rho, "size": size, "stalled": grew}


def _identity(x):
    return x


MAX_PASSES = 30  # each but the last halves the residual


@struct
class _Passes:
    """Runs of a solver, each from the residual that the last one left: what ``iterate`` drives.

    A run sees a y = r / s for the change s y of x, with a power of two s that makes the residual r of
    size 1: squares of its elements neither overflow nor vanish, and roundings are the same. A
    solver watches a residual that it keeps up to date, and that drifts from the one x has by what
    rounding did on the way. (Greenbaum 1997, "Estimating the attainable accuracy of recursively
    computed residual methods") Here it is computed from x, that one decides, and as long as a
    further run at least halves it there is one. A first run that fails has another one, with products
    divided by their sizes, if these are far from 1.
    """

    mv: Any
    precondition: Any
    solver: Any
    b: Any
    unit: Any  # of b and x: what they were divided by
    arrays: Any  # of the operator, and b as it was
    limit: int

    def done(self, s):
        return ~s["again"]

    def step(self, s):
        scale, (unit, near) = magnitude(s["r"]), s["units"]
        alone = self.precondition is _identity
        problem = _Problem(
            divided(self.mv, unit), _identity if alone else divided(self.precondition, near),
            self.solver, self._target(scale), unit * near,
        )  # fmt: skip
        spent, limit = xnp.maximum(s["steps"], 0), self._limit(unit, near)
        start = self._begin(problem, s["r"] / scale)
        if "rows" in s:
            start |= {"rows": s["rows"], "at": spent, "of": scale * self.unit}
        ran, steps = iterate(problem, start, limit - spent)
        x = s["x"] + (scale / unit) * ran["x"]
        x = x * self.unit / self.unit  # what is left of it when it gets its size back
        r = self.b - self.mv(x)
        size = norm(r / scale)
        watched = ran["size"] <= problem.target
        good = self._reached(x, r, scale, size, ran["size"], problem.target)
        first = s["steps"] < 0
        steps = spent + steps
        fresh = lambda: self._units(s["r"] / scale, alone)  # noqa: E731
        units = cond(good | ~first, lambda: (unit, near), fresh)
        anew = (units[0] != unit) | (units[1] != near)
        halved = watched & ~good & (size * scale < 0.5 * s["size"])
        again = (halved | anew) & (steps < self._limit(*units))
        lower = ~anew | (size < norm(s["r"] / scale))  # what failed may be worse than the start
        better = (size * scale < s["size"]) & lower | (first & xnp.isfinite(size) & lower)
        status = self._ending(size, good, watched, ran["stalled"])
        kept = lambda new, old: xnp.where(better, new, old)  # noqa: E731
        return {
            "x": kept(x, s["x"]), "r": kept(r, s["r"]), "size": kept(size * scale, s["size"]),
            "steps": steps, "status": xnp.where(better | first, status, s["status"]), "again": again,
            "units": units,
        } | ({"rows": with_row(ran["rows"], steps, size * start["of"])} if "rows" in s else {})  # fmt: skip

    def _limit(self, unit, near):
        return self.limit * xnp.where((unit != 1) | (near != 1), np.int32(2), np.int32(1))

    def _units(self, r, alone: bool):
        near = magnitude(xnp.zeros_like(r)) if alone else unit_of(self.precondition(r))
        return unit_of(self.mv(r)), near

    def _begin(self, problem, r):
        state = self.solver.begin(problem, xnp.zeros_like(r), r)
        state |= {"size": norm(r), "stalled": ~self.solver.usable()}
        if isinstance(self.solver, GMRES):
            state["b"] = r
        if isinstance(self.solver, Chebyshev):
            state["first"] = state["size"]
        return state

    def _reached(self, x, r, scale, size, watched, target):
        """Whether |b - a x| is at most the target, were it computed without rounding.

        Two ways to compute it tell how far rounding reaches: the one on the solver's way, or where
        that differs, or GMRES took this one, that from 3 x / 4.
        """
        unclear = xnp.abs(size - watched) > 0.01 * target
        unclear = xnp.ones_like(unclear) if isinstance(self.solver, GMRES) else unclear

        def doubt():
            other = self.b - self.mv(0.75 * x) / 0.75
            return norm((other - r) / scale).astype(typeof(size).dtype)

        doubtful = unclear & (size <= target)
        zero = xnp.zeros_like(size)
        size = size + cond(doubtful, doubt, lambda: zero)
        # elements of a and b that count as zero, though they are not, are not seen by any product
        tiny = float(xnp.finfo(typeof(size).dtype).tiny) * math.prod(typeof(x).shape) ** 1.5
        lost = tiny / scale * (xnp.max(modulus(x), initial=0) + 1 / self.unit)
        lost = lost.astype(typeof(size).dtype)
        there = (size <= target) & (lost > 0.01 * target)
        there = cond(there, lambda: any_subnormal(self.arrays), lambda: xnp.zeros((), bool))
        return size + xnp.where(there, lost, zero) <= target

    def _target(self, scale):
        """max(rtol |b|, atol) by the scale."""
        goal = xnp.maximum(self.solver.rtol * norm(self.b), self.solver.atol / self.unit)
        return (goal / scale).astype(scale.dtype)

    def _ending(self, size, good, watched, stalled):
        return first_that_holds(
            (~xnp.isfinite(size), Status.not_finite), (good, Status.success),
            (watched | (size == 0), Status.stagnation), (stalled, self.solver.lost),
        )  # fmt: skip


def _solve_one(solver, mv, precondition, x0, b, arrays=(), history=False):
    """(x, steps, residual's norm, status) for one right-hand side, which is divided by its size first.
    With ``history`` also the residual's norms of the start and after each step.
    """
    limit, unit = solver.limit(math.prod(typeof(b).shape)), magnitude(b)
    arrays, b = (*arrays, b), b / unit
    passes = _Passes(mv, precondition, solver, b, unit, arrays, limit)
    real = dtypes.to_real(typeof(b).dtype)
    start = xnp.zeros_like(b) if x0 is None else x0 / unit
    state = {
        "x": start, "r": b if x0 is None else b - mv(start),
        "size": xnp.full((), np.inf, real), "steps": xnp.full((), -1, np.int32),  # none as yet
        "status": xnp.zeros((), np.int32), "again": xnp.ones((), bool),
        "units": (xnp.ones((), real), xnp.ones((), real)),
    }  # fmt: skip
    if history:  # another run in other units may take as many steps as the first
        first = unit * magnitude(state["r"]) * norm(state["r"] / magnitude(state["r"]))
        state["rows"] = first_row(first, 2 * limit)
    state, _ = iterate(passes, state, MAX_PASSES)
    rows = [state["rows"]] if history else []
    return unit * state["x"], state["steps"], unit * state["size"], state["status"], *rows


def _solve_alone(solver, operator, precondition, x0, b, history=False):
    """The same, with vectors in the shape that the operator works in, if the solver allows it.

    A stencil between reshapes would find the place of each element by divisions.
    """
    field = getattr(operator, "field", None)
    if field is None or not isinstance(solver, CG):
        return _solve_one(solver, operator.mv, precondition, x0, b, tree.leaves(operator), history)

    def shaped(f):
        return lambda x: f(x.reshape(-1)).reshape(field)

    near = _identity if precondition is _identity else shaped(precondition)
    x0 = None if x0 is None else x0.reshape(field)
    b, arrays = b.reshape(field), tree.leaves(operator)
    x, *rest = _solve_one(solver, shaped(operator.mv), near, x0, b, arrays, history)
    return x.reshape(-1), *rest


def linear_solve(
    a, b, solver=None, *, preconditioner=None, x0=None, report: bool = False, history: bool = False
):
    """The solution x of a x = b from products with a. Derivatives cost one more solution.

    Args:
      a: a ``LinearOperator`` or a matrix, square.
      b: vector (n,) or columns (n, k), each of which stops on its own.
      solver: ``CG()``, ``MINRES()``, ``BiCGStab()``, ``GMRES()``, ``Chebyshev()``; by default CG for operators
        tagged positive, MINRES for symmetric ones, else GMRES.
      preconditioner: operator or function that is about the inverse of a; for CG and MINRES
        positive definite.
      x0: where to start, shaped like b; zeros by default.
      report: return a ``Solution`` with steps and residual of each column, instead of raising
        SolverError if one was not reached.
      history: with ``report``, keep the norms of the residual: row 0 that of the start, row k after
        step k, as the solver keeps it up to date, the last as computed from x; (rows,) or (rows, k), in which
        columns that end before others repeat their last.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> a = xc.linalg.Matrix(xnp.asarray([[4.0, 1.0], [1.0, 3.0]]), symmetric=True, positive=True)
    >>> xnp.round(xc.linalg.linear_solve(a, xnp.asarray([1.0, 2.0])), 4)
    Array([0.0909, 0.6364], dtype=float32)
    """
    who = "linalg.linear_solve"
    a, b = as_operator(a), xnp.asarray(b)
    b = b if dtypes.is_inexact(b.dtype) else b.astype(np.float32)
    if a.shape[0] != a.shape[1] or b.ndim not in (1, 2) or b.shape[0] != a.shape[0]:
        raise errors.shape_mismatch(
            who, f"need b (n,) or (n, k) for a square a, given {a.shape}", b=b
        )
    b = in_dtype_of_products(a, b)
    if solver is None:
        solver = CG() if a.positive else MINRES() if a.symmetric else GMRES()
    if not isinstance(solver, Krylov):
        raise errors.bad_argument(who, "solver", solver, "a solver such as linalg.CG()")
    solver.check(who)
    _check_preconditioner(who, preconditioner, b)
    columns = b[:, None] if b.ndim == 1 else b
    guess = None if x0 is None else _guess(who, x0, b).reshape(columns.shape)
    judge = None if report else _check_for(f"{who}: {type(solver).__name__}")
    x, aux = _differentiable(a, columns, solver, preconditioner, guess, judge, history)
    single = b.ndim == 1
    x = x[:, 0] if single else x
    steps, size, status, *rows = (v[..., 0] if single else v for v in aux)
    solution = Solution(
        x, status, steps=steps, error=size, history=history_of(rows[0], steps) if rows else None, who=who,
        method=type(solver).__name__, advice=_ADVICE,
    )  # fmt: skip
    return solution if report else solution.check().value


def _check_for(who: str):
    """Leaves a check for ``checkify`` that solutions, those of derivatives too, are what they should."""

    def judge(x, b, size, status):
        check_status(who, status)
        return x

    return judge


def _guess(who: str, x0, b):
    x0 = xnp.asarray(x0)
    if x0.shape != b.shape:
        raise errors.shape_mismatch(who, "need x0 of the shape of b", x0=x0, b=b)
    if dtypes.is_complex(x0.dtype) and not dtypes.is_complex(b.dtype):
        why = "need a real x0 for real products: give b in a complex dtype"
        raise errors.shape_mismatch(who, why, x0=x0, b=b)
    return x0.astype(b.dtype)


def _check_preconditioner(who: str, m, b) -> None:
    """It takes vectors like a column of b to such vectors."""
    if m is None:
        return
    n = typeof(b).shape[0]
    if isinstance(m, LinearOperator) or not callable(m):
        m = as_operator(m)
        if m.shape != (n, n):
            why = f"need a preconditioner of shape ({n}, {n}), given {m.shape}"
            raise errors.shape_mismatch(who, why, b=b)
        m = m.mv
    result = eval_shape(m, xnp.zeros(n, typeof(b).dtype))
    if getattr(result, "shape", None) != (n,):
        why = f"need a preconditioner of vectors ({n},) to such vectors, given one to {result}"
        raise errors.shape_mismatch(who, why, b=b)
    if dtypes.is_complex(result.dtype) and not dtypes.is_complex(typeof(b).dtype):
        why = "need a real preconditioner for real products: give b in a complex dtype"
        raise errors.shape_mismatch(who, why, b=b)


def _differentiable(a, columns, solver, preconditioner, guess=None, judge=None, history=False):
    """(x, (steps, residuals, states)) of a x = columns, with the derivatives of the equation.

    ``judge(x, b, size, status)`` sees every solution, those of derivatives too, and returns it.
    """
    # Each operator's arrays are constants of the solvers below; derivatives go by a.matmat alone.
    m = _preconditioning(preconditioner)

    def run(operator, precondition, start):
        def solve(_, b):
            one = lambda x, b: _solve_one(  # noqa: E731
                solver, operator.mv, precondition, x, b, tree.leaves(operator), history
            )
            out_axes = (1, 0, 0, 0, *[1] * history)
            # batch elements keep what is done by selections, which are passes over memory
            if typeof(b).shape[1] == 1:
                first = None if start is None else start[:, 0]
                found = _solve_alone(solver, operator, precondition, first, b[:, 0], history)
                x, *rest = (y[..., None] for y in found)
            elif start is None:
                lanes = vmap(lambda b: one(None, b), in_axes=1, out_axes=out_axes)
                x, *rest = lanes(b)
            else:
                x, *rest = vmap(one, in_axes=(1, 1), out_axes=out_axes)(start, b)
            return (x if judge is None else judge(x, b, *rest[1:3])), tuple(rest)

        return solve

    # a Hermitian operator equals its transpose only where all is real
    real = not dtypes.is_complex(typeof(columns).dtype)
    guess = None if guess is None else ops.stop_gradient(guess)
    return custom_linear_solve(
        a.matmat, columns, solve=run(a, m[0], guess),
        transpose_solve=run(a.T, m[1], None), symmetric=a.symmetric and real, has_aux=True,
    )  # fmt: skip


def solved_within(a, b, solver, rtol: float, who: str, preconditioner=None):
    """x (n,) of a x = b; NaN, and a check for ``checkify``, where |b - a x| > rtol |b| in the end.

    For solutions inside of others, where nobody looks at a status; those of its derivatives, of
    any order, are looked at as well.
    """

    def judge(x, b, size, _):
        limit = rtol * vmap(safe_norm, in_axes=1)(b)
        bad = ~(size <= limit)
        told = f"{who}: {type(solver).__name__} left a relative residual above {rtol:.0e}"
        site, values = make_site("user", told, (), {}, user_frame())
        fail_if(xnp.any(bad), site, values, active=False)
        return xnp.where(bad, np.nan, x).astype(typeof(x).dtype)

    return _differentiable(a, b[:, None], solver, preconditioner, None, judge)[0][:, 0]


def _preconditioning(m):
    """The preconditioner as a function, and its transpose; a function is taken to be Hermitian."""
    if m is None:
        return _identity, _identity
    if isinstance(m, LinearOperator) or not callable(m):
        m = as_operator(m)
        return m.mv, m.T.mv
    return m, lambda x: xnp.conj(m(xnp.conj(x)))


def jacobi_preconditioner(a) -> LinearOperator:
    """The inverse of the diagonal of a matrix, as a preconditioner.

    >>> import xcore.numpy as xnp
    >>> jacobi_preconditioner(xnp.diag(xnp.asarray([2.0, 4.0]))) @ xnp.ones(2)
    Array([0.5 , 0.25], dtype=float32)
    """
    a = as_inexact("linalg.jacobi_preconditioner", a)[0]
    check_matrices("linalg.jacobi_preconditioner", square=True, a=a)
    d = xnp.diagonal(a)
    fail("linalg.jacobi_preconditioner", a, first_zero(d), "zero")
    return Diagonal(1 / d, positive=True)
