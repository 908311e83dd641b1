"""``linear_solve``: equations from products with their matrix, with the derivatives of the equations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import custom_linear_solve, eval_shape, jit, vmap
from .._control.levels import OF_FEW_NUMBERS
from .._core import Array, ArrayLike, dtypes, errors, tree, typeof
from .._iterate import history_of
from .._solution import Solution, Status
from ._arguments import as_inexact, check_matrices
from ._elimination import first_zero
from ._krylov import CG, GMRES, MINRES, Krylov, identity
from ._operators import Diagonal, LinearOperator, as_operator, in_dtype_of_products, is_function
from ._passes import products_of_more_precision, solve_alone, solve_one
from ._range import safe_norm
from ._truth import check_later, check_status, fail

_MORE_STEPS = " with the solver's max_steps, or precondition"
_STAGNANT = (
    "ask for a larger rtol, precondition, or, where the rounding of x is all that is left, give b and a in more "
    "precision"
)
_NOT_DEFINITE = ": take MINRES or GMRES, or, where all eigenvalues are negative, solve -a x = -b"
_NOT_FINITE = ": is preconditioner(b) finite? Its matrix may be singular"


def _advice(solver: Krylov, n: int, preconditioned: bool) -> tuple:
    """What to do about each status; cycles that are shorter than n may stand still."""
    short = isinstance(solver, GMRES) and solver.restart < n
    longer = f"restart={n}" if n <= 1000 else "a larger restart"
    first = (
        f"take GMRES({longer}), whose cycles end with x,"
        if n <= 1000
        else f"take GMRES with {longer},"
    )
    words = f"{first} {_STAGNANT}" if short else _STAGNANT
    more = f"{_MORE_STEPS}, or {first[:-1]}" if short else _MORE_STEPS
    said = ((Status.max_steps, more), (Status.stagnation, f": {words}"))
    said += ((Status.not_finite, _NOT_FINITE),) if preconditioned else ()
    return (*said, (Status.not_definite, _NOT_DEFINITE)) if isinstance(solver, CG) else said


def linear_solve(
    a: ArrayLike | LinearOperator, b: ArrayLike, solver: Krylov | None = None, *,
    preconditioner: ArrayLike | LinearOperator | Callable[[Array], Array] | None = None, x0: ArrayLike | None = None,
    report: bool = False, history: bool = False, progress: str | bool = False,
) -> Array | Solution:  # fmt: skip
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
      progress: show the number of steps and their rate; a text is the label.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> a = xc.linalg.Matrix(xnp.asarray([[4.0, 1.0], [1.0, 3.0]]), symmetric=True, positive=True)
    >>> xnp.round(xc.linalg.linear_solve(a, xnp.asarray([1.0, 2.0])), 4)
    Array([0.0909, 0.6364], dtype=float32)
    """
    who = "linalg.linear_solve"
    a, b = as_operator(a), xnp.asarray(b)
    b = b.astype(dtypes.to_inexact(b.dtype))
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
    watch = None if report else f"{who}: {type(solver).__name__}"
    known = all(map(_holds_no_function, (a, solver, preconditioner)))
    run = _compiled if known and not progress else _watched
    x, aux = run(a, columns, solver, preconditioner, guess, watch, history, progress)
    single = b.ndim == 1
    x = x[:, 0] if single else x
    steps, size, status, *rows = (v[..., 0] if single else v for v in aux)
    solution = Solution(
        x, status, steps=steps, error=size, history=history_of(rows[0], steps) if rows else None, who=who,
        method=type(solver).__name__, advice=_advice(solver, a.shape[0], preconditioner is not None),
    )  # fmt: skip
    return solution if report else solution.check().value


def _holds_no_function(x: Any) -> bool:
    """Whether an operator or solver is data alone: then calls with others of its kind share one program."""
    if isinstance(x, tuple | list):
        return all(map(_holds_no_function, x))
    if not dataclasses.is_dataclass(x):
        return not (callable(x) or isinstance(x, LinearOperator | Krylov))
    node = not tree.is_leaf_structure(tree.structure(x))
    return node and all(_holds_no_function(getattr(x, f.name)) for f in dataclasses.fields(x))


def _watched(a, columns, solver, preconditioner, guess, watch, history, progress):
    judge = None if watch is None else _check_for(watch)
    return _differentiable(a, columns, solver, preconditioner, guess, judge, history, progress)


_compiled = jit(
    _watched,
    static_argnames=("watch", "history", "progress"),
    inline=True,
    compiler_options=OF_FEW_NUMBERS,
)


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
    if not is_function(m):
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


def _differentiable(a, columns, solver, preconditioner, guess=None, judge=None, history=False,
                    progress=False):  # fmt: skip
    """(x, (steps, residuals, states)) of a x = columns, with the derivatives of the equation.

    ``judge(x, b, size, status)`` sees every solution, those of derivatives too, and returns it.
    """
    # Each operator's arrays are constants of the solvers below; derivatives go by a.matmat alone.
    m = _preconditioning(preconditioner)

    def run(operator, precondition, start, progress=False):
        def solve(_, b):
            wide = products_of_more_precision(operator, b[:, 0])
            one = lambda x, b: solve_one(  # noqa: E731
                solver,
                operator.mv,
                precondition,
                x,
                b,
                tree.leaves(operator),
                history,
                progress,
                wide,
            )
            out_axes = (1, 0, 0, 0, *[1] * history)
            # batch elements keep what is done by selections, which are passes over memory
            if typeof(b).shape[1] == 1:
                first = None if start is None else start[:, 0]
                found = solve_alone(
                    solver, operator, precondition, first, b[:, 0], history, progress
                )
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
        a.matmat, columns, solve=run(a, m[0], guess, progress),
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
        left = f"left a relative residual above {rtol:.0e}"
        check_later(xnp.any(bad), f"{who}: {type(solver).__name__} {left}")
        return xnp.where(bad, np.nan, x).astype(typeof(x).dtype)

    return _differentiable(a, b[:, None], solver, preconditioner, None, judge)[0][:, 0]


def _preconditioning(m):
    """The preconditioner as a function, and its transpose; a function is taken to be Hermitian."""
    if m is None:
        return identity, identity
    if not is_function(m):
        m = as_operator(m)
        return m.mv, m.T.mv
    return m, lambda x: xnp.conj(m(xnp.conj(x)))


def jacobi_preconditioner(a: ArrayLike) -> LinearOperator:
    """The inverse of the diagonal of a matrix, as a preconditioner.

    Args:
      a: square matrix, without a zero on its diagonal.

    >>> import xcore.numpy as xnp
    >>> jacobi_preconditioner(xnp.diag(xnp.asarray([2.0, 4.0]))) @ xnp.ones(2)
    Array([0.5 , 0.25], dtype=float32)
    """
    a = as_inexact("linalg.jacobi_preconditioner", a)[0]
    check_matrices("linalg.jacobi_preconditioner", square=True, a=a)
    d = xnp.diagonal(a)
    fail("linalg.jacobi_preconditioner", a, first_zero(d), "zero")
    return Diagonal(1 / d, positive=True)
