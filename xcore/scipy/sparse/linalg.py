"""Krylov methods with the arguments of ``jax.scipy.sparse.linalg``.

Unknowns may be trees of arrays. As there, the second result is None and a limit of steps that was
reached raises nothing; ``xcore.linalg.linear_solve`` says how it went.
"""

from __future__ import annotations

import numpy as np

from ... import numpy as xnp
from ..._core import dtypes, errors, tree
from ...linalg import CG, GMRES, BiCGStab, FunctionOperator, linear_solve


class _Flat:
    """Trees of arrays as vectors, and back."""

    def __init__(self, b):
        leaves, self.structure = tree.flatten(b)
        leaves = [xnp.asarray(x) for x in leaves]
        self.shapes = [x.shape for x in leaves]
        self.dtypes = [x.dtype for x in leaves]
        self.cuts = np.cumsum([x.size for x in leaves])[:-1].tolist()
        self.size = sum(x.size for x in leaves)
        self.dtype = xnp.result_type(*leaves)
        if not dtypes.is_inexact(self.dtype):
            self.dtype = dtypes.default_dtype("float")

    def vector(self, x):
        leaves, structure = tree.flatten(x)
        if structure != self.structure:
            raise errors.bad_argument("scipy.sparse.linalg", "x0 or A(x)", x, "a tree like b")
        return xnp.concatenate([xnp.asarray(v).reshape(-1).astype(self.dtype) for v in leaves])

    def tree(self, x):
        parts = zip(xnp.split(x, self.cuts), self.shapes, strict=True)
        return tree.unflatten(self.structure, [p.reshape(shape) for p, shape in parts])


def _as_function(a):
    return a if callable(a) else lambda x: xnp.asarray(a) @ x


def _solve(solver, A, b, x0, M, symmetric: bool):
    flat = _Flat(b)
    real = not dtypes.is_complex(flat.dtype)

    def operator(f):
        f = _as_function(f)
        made = lambda _, v: flat.vector(f(flat.tree(v)))  # noqa: E731
        own = flat.shapes[0] if len(flat.shapes) == 1 else None
        return FunctionOperator(
            made, None, (flat.size,) * 2, symmetric=symmetric and real, field=own
        )

    guess = None if x0 is None else flat.vector(x0)
    m = None if M is None else operator(M)
    answer = linear_solve(
        operator(A), flat.vector(b), solver, preconditioner=m, x0=guess, report=True
    )
    return flat.tree(answer.value), None


def cg(A, b, x0=None, *, tol=1e-5, atol=0.0, maxiter=None, M=None):
    """(x, None): x with A x = b for a Hermitian positive definite A, by conjugate gradients.

    Args:
      A: matrix, or function of trees like b.
      b: right-hand side, an array or a tree of arrays.
      x0: where to start; zeros by default.
      tol, atol: goal, |b - A x| <= max(tol |b|, atol).
      maxiter: so many steps at most; 10 times the number of unknowns by default.
      M: about the inverse of A, as A is given.

    >>> import xcore.numpy as xnp
    >>> cg(lambda x: 2 * x, xnp.ones(3))[0]
    Array([0.5, 0.5, 0.5], dtype=float32)
    """
    return _solve(CG(rtol=tol, atol=atol, max_steps=maxiter), A, b, x0, M, True)


def bicgstab(A, b, x0=None, *, tol=1e-5, atol=0.0, maxiter=None, M=None):
    """(x, None): x with A x = b for any regular A; arguments as for ``cg``.

    >>> import xcore.numpy as xnp
    >>> bicgstab(xnp.asarray([[2.0, 0.0], [0.0, 4.0]]), xnp.ones(2))[0]
    Array([0.5 , 0.25], dtype=float32)
    """
    return _solve(BiCGStab(rtol=tol, atol=atol, max_steps=maxiter), A, b, x0, M, False)


def gmres(A, b, x0=None, *, tol=1e-5, atol=0.0, restart=20, maxiter=None, M=None,
          solve_method="batched"):  # fmt: skip
    """(x, None): x with A x = b for any regular A, by minimal residuals.

    Args:
      A, b, x0, tol, atol, M: as for ``cg``.
      restart: products of one cycle.
      maxiter: so many cycles at most.
      solve_method: "batched" or "incremental"; both do the same here.

    >>> import xcore.numpy as xnp
    >>> x, _ = gmres(xnp.asarray([[2.0, 1.0], [0.0, 4.0]]), xnp.ones(2))
    >>> [round(float(v), 3) for v in x]
    [0.375, 0.25]
    """
    if solve_method not in ("batched", "incremental"):
        raise errors.bad_argument(
            "scipy.sparse.linalg.gmres", "solve_method", solve_method, "'batched' or 'incremental'"
        )
    solver = GMRES(rtol=tol, atol=atol, max_steps=maxiter, restart=restart)
    return _solve(solver, A, b, x0, M, False)


__all__ = ["bicgstab", "cg", "gmres"]
