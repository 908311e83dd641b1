"""A few eigenvalues of matrices without symmetry: Krylov and Schur's method, with shifts by sparse factors.

The space holds orthonormal rows q with A qᴴ = qᴴ h + β q₊ e_mᴴ. A cycle fills it up, orders a Schur form
h = z t zᴴ so that what is wanted stands first, and keeps that part. (Stewart 2001, "A
Krylov–Schur algorithm for large eigenproblems")
"""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from .. import numpy as xnp
from .._control import custom_root, stop_gradient, vmap
from .._core import Array, ArrayLike, dtypes, errors, one_of, static, struct, tree, typeof
from .._iterate import iterate
from .._solution import Certificate, Solution, Status, first_that_holds
from ..linalg import GMRES, FunctionOperator, LinearOperator, Matrix, as_operator
from ..linalg import solve as solve_dense
from ..linalg._arguments import epsilon
from ..linalg._eigen import (
    INVERSES,
    _check_count,
    _dtype_of,
    _handed_out,
    _irregular,
    _missed,
    _unit_of,
)
from ..linalg._linear_solve import solved_within
from ..linalg._mass import ROOTS
from ..linalg._operators import InUnits
from ..linalg._range import magnitude, safe_norm
from ..linalg._restarted import filled_up, fresh
from ..linalg._schur import _sorted, schur
from ..numpy._select import safe_divide
from ._cholesky import cholesky
from ._direct import solve
from ._making import block_array, coo_array, eye_array
from ._matrix import Sparse

MERITS = {
    "LM": xnp.abs, "SM": lambda w: -xnp.abs(w), "LR": xnp.real, "SR": lambda w: -xnp.real(w),
    "LI": xnp.imag, "SI": lambda w: -xnp.imag(w),
}  # fmt: skip
_BOTH = {
    "LI": lambda w: xnp.abs(xnp.imag(w)),
    "SI": lambda w: -xnp.abs(xnp.imag(w)),
}  # of real ones


@struct
class KrylovSchur:
    """What ``iterate`` drives: one step is a cycle."""

    a: Any
    k: int = static()
    m: int = static()
    merit: Any = static()
    rtol: float = static()

    def begin(self, start: Array) -> dict[str, Any]:
        (n,), dtype = start.shape, start.dtype
        real = dtypes.to_real(dtype)
        zero = xnp.zeros((), np.int32)
        return {
            "q": xnp.zeros((self.m + 1, n), dtype).at[0].set(start), "h": xnp.zeros((self.m, self.m), dtype),
            "filled": zero, "cycle": zero, "v": xnp.zeros((self.k, n), dtype), "products": zero,
            "residual": xnp.full(self.k, np.inf, real), "scale": xnp.zeros((), real), "done": xnp.zeros((), bool),
        }  # fmt: skip

    def done(self, s: dict[str, Any]) -> Array:
        return s["done"] | ~xnp.isfinite(s["scale"])

    def step(self, s: dict[str, Any]) -> dict[str, Any]:
        q, h, beta = filled_up(self.a, s, hermitian=False)
        v, residual, scale = self._pairs(q, h, beta)
        q, h, filled = self._kept(q, h, beta)
        # half of it: what rounding errors of restarts add is not seen here
        done = xnp.all(residual <= 0.5 * self.rtol * scale) | (self.m == typeof(q).shape[1])
        return {
            "q": q, "h": h, "filled": filled, "cycle": s["cycle"] + np.int32(1), "v": v, "residual": residual,
            "scale": scale, "done": done, "products": s["products"] + self.m - s["filled"],
        }  # fmt: skip

    def _pairs(self, q: Array, h: Array, beta: Array) -> tuple[Array, Array, Array]:
        w, y = xnp.linalg.eig(h)
        best = xnp.argsort(-self.merit(w))[: self.k]
        y = y[:, best] / xnp.linalg.norm(y[:, best], axis=0)
        return y.T @ q[: self.m], beta * xnp.abs(y[-1]), xnp.max(xnp.abs(w))

    def _kept(self, q: Array, h: Array, beta: Array) -> tuple[Array, Array, Array]:
        p = min(self.k + max((self.m - self.k) // 3, 1), self.m - 1)
        t, z, *_ = schur(h, "complex")
        ranks = xnp.argsort(xnp.argsort(-self.merit(xnp.diagonal(t))))
        t, z, _ = _sorted(t, z, ranks < p)
        there = xnp.arange(self.m) < p
        rows = xnp.where(there[:, None], z.T @ q[: self.m], 0)
        spike = xnp.where(there, beta * z[-1], 0)
        h = xnp.where(there[:, None] & there, t, 0).at[p].set(spike)
        last = xnp.concatenate([rows, xnp.zeros_like(rows[:1])]).at[p].set(q[self.m])
        return last, h, xnp.asarray(p, np.int32)


# Shifts


def _shifted(a: Sparse, sigma: Any) -> Sparse:
    n = a.pattern.shape[0]
    sigma = xnp.asarray(sigma)
    dtype = xnp.result_type(a.values, sigma)
    return a.astype(dtype) - eye_array(n, dtype=dtype) * sigma.astype(dtype)


def _shift(sigma: Any, like: Any):
    """The shift, complex if it was given so, as wide as the operator; 0 if it was not given."""
    sigma = 0.0 if sigma is None else sigma
    given = isinstance(sigma, complex) or dtypes.is_complex(
        getattr(sigma, "dtype", np.dtype(float))
    )
    return xnp.asarray(sigma, (dtypes.to_complex if given else dtypes.to_real)(typeof(like).dtype))


def inverse_of(a: Sparse, sigma: Any) -> LinearOperator:
    """(a - σ)⁻¹ by sparse factors."""
    shifted = _shifted(a, sigma)
    return FunctionOperator(
        lambda s, x: solve(s, x), shifted, a.pattern.shape, symmetric=a.symmetric
    )


def _root_of(m: Sparse) -> tuple[LinearOperator, Array]:
    """(M⁻¹, whether M is definite) by Cholesky factors, which stay in the program."""
    factors = cholesky(m)
    return factors, factors.ok


INVERSES[Sparse] = inverse_of
ROOTS[Sparse] = _root_of


def _inverse(who: str, a: LinearOperator, sigma: Any, unit: Array) -> LinearOperator:
    """(a - σ)⁻¹, with both divided by a unit."""
    if isinstance(a, Matrix):
        dense = xnp.asarray(a.a)
        dense = dense / unit.astype(dense.dtype)
        shift = xnp.asarray(sigma) / unit.astype(sigma.dtype)
        shifted = dense - shift * xnp.eye(a.shape[0], dtype=dense.dtype)
        return FunctionOperator(lambda s, x: solve_dense(s, x[:, None])[:, 0], shifted, a.shape)
    if isinstance(a, Sparse):
        return InUnits(inverse_of(a, sigma), 1 / unit)
    need = (
        "given as the operator x ↦ (a - sigma)⁻¹ x: only matrices, sparse or dense, are factorised"
    )
    raise errors.bad_argument(who, "inverse", None, need)


# Derivatives


def _with_derivatives(a: LinearOperator, w: Array, u: Array) -> tuple[Array, Array]:
    """Simple pairs as solutions of uᴴ x = 1, a x = w x, whose derivatives take one solution each:

    (a - w, -u; uᴴ, 0) (x'; w') = (r; s).
    """
    w, u = stop_gradient(w), stop_gradient(u)

    def equations(pair: Any) -> Any:
        values, x = pair
        return xnp.sum(xnp.conj(u) * x, axis=0) - 1, a.matmat(x) - x * values

    def linearised(_: Any, right: Any) -> Any:
        s, r = right
        held = tree.map(lambda x: stop_gradient(xnp.asarray(x)), a)
        each = vmap(
            lambda w, u, s, r: _bordered(held, w, u, s, r), in_axes=(0, 1, 0, 1), out_axes=(0, 1)
        )
        return each(w, u, s, r)

    values, x = custom_root(equations, (w, u), lambda _, found: found, linearised)
    return values, x / xnp.linalg.norm(x, axis=0).astype(x.dtype)


def _bordered(a: Any, w: Array, u: Array, s: Array, r: Array) -> tuple[Array, Array]:
    right = xnp.append(r, s)
    if isinstance(a, Sparse):
        unit = coo_array(
            (xnp.conj(u), (np.zeros(len(u), int), np.arange(len(u)))), shape=(1, len(u))
        )
        column = coo_array((-u, (np.arange(len(u)), np.zeros(len(u), int))), shape=(len(u), 1))
        found = solve(block_array([[_shifted(a, w), column], [unit, None]]), right)
    elif isinstance(a, Matrix):
        dense = xnp.asarray(a.a, u.dtype) - w * xnp.eye(len(u), dtype=u.dtype)
        above = xnp.concatenate([dense, -u[:, None]], axis=1)
        below = xnp.append(xnp.conj(u), xnp.zeros((), u.dtype))[None]
        found = xnp.linalg.solve(xnp.concatenate([above, below]), right)
    else:
        eps, n = epsilon(u), len(u)
        bordered = FunctionOperator(_bordered_product, (a, w, u), (n + 1, n + 1))
        solver = GMRES(rtol=8 * eps, restart=min(n + 1, 60))
        found = solved_within(bordered, right, solver, eps**0.5, "derivatives of eigenvectors")
    x: Any = found
    return x[-1], x[:-1]


def _bordered_product(params: Any, x: Array) -> Array:
    a, w, u = params
    return xnp.append(a.mv(x[:-1]) - w * x[:-1] - u * x[-1], xnp.sum(xnp.conj(u) * x[:-1]))


# What users call


@overload
def eigs(
    a: Any, k: int = 6, *, sigma: ArrayLike | None = None, which: str = "LM", v0: ArrayLike | None = None,
    ncv: int | None = None, maxiter: int = 300, tol: float | None = None, inverse: Any = None,
    report: Literal[False] = False,
) -> tuple[Array, Array]: ...  # fmt: skip
@overload
def eigs(
    a: Any, k: int = 6, *, sigma: ArrayLike | None = None, which: str = "LM", v0: ArrayLike | None = None,
    ncv: int | None = None, maxiter: int = 300, tol: float | None = None, inverse: Any = None, report: Literal[True],
) -> Solution: ...  # fmt: skip
def eigs(
    a: Any, k: int = 6, *, sigma: ArrayLike | None = None, which: str = "LM", v0: ArrayLike | None = None,
    ncv: int | None = None, maxiter: int = 300, tol: float | None = None, inverse: Any = None, report: bool = False,
) -> tuple[Array, Array] | Solution:  # fmt: skip
    """(w, v): k eigenvalues of a matrix without symmetry, those wanted most in front, and their vectors as columns.

    What is found are eigenpairs, up to residuals; that none between them was missed, a copy of a repeated one say,
    is not known. Derivatives are those of simple eigenvalues, and of vectors of length 1 up to a phase: by factors of
    matrices, by GMRES of other operators (NaN where it does not get there).

    Args:
      a: ``Sparse`` (SciPy's too), a matrix or an operator.
      k: how many.
      sigma: find the eigenvalues next to this shift, from solutions with a - sigma by sparse factors; then
        ``which`` is of 1 / (w - sigma).
      which: "LM", "SM" (by modulus), "LR", "SR" (real part), "LI", "SI" (imaginary part; of real matrices its modulus).
      v0: vector to start from.
      ncv: size of the space; min(n, max(2 k + 1, 20)) by default.
      maxiter: restarts at most.
      tol: for residuals |a v - w v|, relative to the size of a; precision^¾ by default.
      inverse: operator x ↦ (a - sigma)⁻¹ x, of operators that are no matrices.
      report: return a ``Solution`` instead of raising SolverError where the tolerance was missed. The certificate
        has the residual of each pair: that is how far a matrix lies of which it is one, in the 2-norm.

    >>> from xcore import sparse
    >>> a = sparse.diags_array([[0.0, 1.0, 2.0, 3.0], [4.0, 4.0, 4.0]], offsets=[0, 1])
    >>> [round(abs(complex(w)), 3) for w in sparse.eigs(a, 2)[0]]
    [3.0, 2.0]
    """
    who = "sparse.eigs"
    one_of(who, "which", which, tuple(MERITS))
    a = as_operator(a)
    n = a.shape[-1]
    if len(a.shape) != 2 or a.shape[0] != n:
        raise errors.ShapeError(f"xcore.{who}: need a square matrix, given shape {a.shape}.")
    _check_count(who, k, n)
    start = _start(who, a, v0)
    held = tree.map(lambda x: stop_gradient(xnp.asarray(x)), a)
    unit = _unit_of(held, start)
    operator = InUnits(held, unit)
    if sigma is not None or inverse is not None:
        sigma = _shift(sigma, start)
        if inverse is None:
            operator = _inverse(who, held, sigma, unit)
        else:
            operator = InUnits(as_operator(inverse), 1 / unit)
    m = min(n, max(k + 2, max(2 * k + 1, 20) if ncv is None else ncv))
    rtol = epsilon(start) ** 0.75 if tol is None or tol == 0 else tol
    real = not any(dtypes.is_complex(typeof(xnp.asarray(x)).dtype) for x in tree.leaves(a))
    merit = (_BOTH if real else MERITS).get(which, MERITS[which])
    solver = KrylovSchur(operator, k, m, merit, float(rtol))
    end, steps, _ = iterate(
        solver, solver.begin(start / safe_norm(start).astype(start.dtype)), maxiter
    )
    w, v, status, certificate = _judged(held, end, rtol, sigma, merit, unit)
    found = _with_derivatives(a, w, v)
    solution = Solution(found, status, certificate, steps, who=who, method="Krylov–Schur")
    return solution if report else solution.check().value


def _start(who: str, a: LinearOperator, v0: Any) -> Array:
    n, dtype = a.shape[0], np.result_type(_dtype_of(a), np.complex64)
    start = _irregular((n,), dtype) if v0 is None else xnp.asarray(v0)
    if start.shape != (n,):
        raise errors.shape_mismatch(who, f"need v0 of shape ({n},)", v0=start)
    start = stop_gradient(start.astype(dtype))
    start = start / magnitude(start).astype(dtype)
    return xnp.where(xnp.any(start != 0), start, _irregular((n,), dtype))


def _lengths(v: Array) -> Array:
    return vmap(safe_norm, in_axes=1)(v)


def _quotients(v: Array, image: Array) -> tuple[Array, Array, Array]:
    """(w, v, |a v - w v|) with Rayleigh's quotients w."""
    w = xnp.sum(xnp.conj(v) * image, axis=0)
    return w, v, _lengths(image - v * w)


def _within(a: LinearOperator, v: Array) -> tuple[Array, Array]:
    """(v, a v) for the pairs of a in the space of v: many restarts leave rounding errors in what mixes these."""
    q, _ = xnp.linalg.qr(v)
    image = a.matmat(q).astype(q.dtype)
    small = xnp.conj(q.T) @ image
    _, y = xnp.linalg.eig(xnp.where(xnp.isfinite(small).all(), small, 0))
    return q @ y, image @ y


def _judged(a: LinearOperator, end: Any, rtol: float, sigma: Any, merit: Any, unit: Array) -> Any:
    """(w, v, status, certificate) from products with the vectors found, by a unit."""
    v = end["v"].T
    v = v / _lengths(v).astype(v.dtype)
    missed, a = _missed(a, unit), InUnits(a, unit)
    found = v, a.matmat(v).astype(v.dtype)
    other = a.mv(fresh(xnp.zeros_like(end["q"][:1]), 0)).astype(v.dtype)
    size = xnp.maximum(xnp.max(_lengths(found[1])), safe_norm(other))
    if sigma is None:  # what values of the space are at most
        size = xnp.maximum(size, end["scale"])
    first, second = _quotients(*found), _quotients(*_within(a, v))
    better = xnp.max(second[-1]) < xnp.max(first[-1])
    w, v, left = (xnp.where(better, *pair) for pair in zip(second, first))
    shift = None if sigma is None else (sigma / unit.astype(sigma.dtype)).astype(w.dtype)
    goal = w if shift is None else safe_divide(xnp.ones_like(w), w - shift)
    order = xnp.argsort(-merit(goal))
    (w, vanished), v = _handed_out(w[order], unit), v[:, order]
    left = left[order] + missed + vanished
    status = first_that_holds(
        (~xnp.isfinite(left).all(), Status.not_finite), ((left <= rtol * size).all(), Status.success),
        (end["done"], Status.stagnation),
    )  # fmt: skip
    rounding = (4 + v.shape[0] ** 0.5 / 4) * epsilon(v) * size
    tiny = np.asarray(v.shape[0] * xnp.finfo(unit.dtype).tiny, unit.dtype)  # less may have vanished
    told = (left + rounding) * unit + xnp.where(size > 0, tiny, tiny * 0)
    more = {"products": end["products"], "size": size * unit}
    return w, v, status, Certificate(residual=told, more=more)
