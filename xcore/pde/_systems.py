"""Equations for several fields: the matrix of a linear function of a tree of fields, its factors or its multigrid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import eval_shape, jit
from .._core import Array, PyTree, dtypes, errors, require, tree, typeof
from .._solution import Solution, Status, first_that_holds
from ..numpy._select import safe_divide
from ..sparse import Sparse, jacobian, jacobian_pattern
from ..sparse import solve as sparse_solve
from ._judge import default_rtol
from ._solutions import FieldSolution
from ._system_cycles import cycles, solved

_WHO = "pde.solve_system"
_MOST = 300_000
_REASON = "fields are coupled: sparse factors of all of them"


def solve_system(
    f: Callable[[Any], Any], b: PyTree, *, kernel: Any = (), rtol: float | None = None,
    report: bool = False,
) -> PyTree | FieldSolution:  # fmt: skip
    """The tree of fields u with f(u) = b, for a function f that is linear in u, but for what does not depend on u.

    The places of the elements are found by following the program of f, elements by a few products, one for each
    colour; factors are SuperLU's, on the host. Many unknowns in fields of one shape, each on the diagonal of an
    equation of its own, are found by algebraic multigrid that keeps those of a node together. f may be made of
    operators of ``pde``, of stencils, slices and sums;
    fields may differ in shape, as velocities on faces and pressures in cells. Success means that no equation is
    further from being solved than rtol times the sum of the absolute values of its terms, computed from u by f
    itself, and, of factors, that the matrix is not singular up to rounding: cycles of multigrid see that of
    constants and rigid motions only. Derivatives are those of the equations, with respect
    to b and to all that f hangs on.

    Args:
      f: function of a tree of arrays to a tree of the same shapes: one equation for each unknown.
      b: the right-hand sides, a tree of arrays.
      kernel: a tree like u, or a list of these, that f takes to 0, as a constant pressure: the solution is
        that which is orthogonal to them. Without it such a system is singular, and said to be.
      rtol: by default the dtype's precision to the power of 2/3.
      report: return a ``FieldSolution`` instead of raising SolverError where there is no success.

    >>> from xcore.pde import Diffusion, Grid
    >>> d = Diffusion(Grid(4), 1.0)
    >>> f = lambda u: (d(u[0]) - 3 * u[0] + 3 * u[1], 2 * d(u[1]) + u[0])
    >>> u, v = solve_system(f, (xnp.full(3, -1.0), xnp.zeros(3)))
    >>> round(float(abs(f((u, v))[0] + 1).max()), 4)
    0.0
    """
    require("positive", _WHO, rtol=rtol)
    leaves, structure = tree.flatten(tree.map(xnp.asarray, b))
    if not leaves:
        raise errors.bad_argument(
            _WHO, "b", b, "a tree of arrays, a right-hand side for each field"
        )
    shapes = [typeof(x).shape for x in leaves]
    dtype = dtypes.to_inexact(xnp.result_type(*leaves))
    apart = lambda x: tree.unflatten(structure, _apart(x, shapes))  # noqa: E731
    whole = lambda x: _flat(structure, shapes, x)  # noqa: E731
    zero, right = xnp.zeros(sum(map(_count, shapes)), dtype), whole(b)
    dtype = xnp.promote_types(dtype, eval_shape(lambda x: whole(f(apart(x))), zero).dtype)
    dtype = xnp.promote_types(dtype, np.float32)
    zero, right = zero.astype(dtype), right.astype(dtype)
    apply = jit(lambda x: whole(f(apart(x))).astype(dtype))
    vectors = [whole(z).astype(dtype) for z in _kernels(kernel, structure)]
    pinned, weights = _pins(apply, vectors, zero)
    held = lambda x: apply(x).at[pinned].add(weights * x[pinned])  # noqa: E731
    matrix = _matrix(held if len(pinned) else apply, zero)
    start = apply(zero)
    _require_linear(apply, matrix, start, pinned, weights)

    def judged(found: Solution, method: str, reason: str) -> FieldSolution:
        x = _without(found.value, vectors)
        status = found.status if method == "sparse" else 0
        error, goal, status = _verdict(apply, matrix, x, right, start, rtol, status)
        return FieldSolution(
            apart(x), status, found.certificate, found.steps, error, None,
            who=_WHO, method=method, reason=reason, goal=goal,
        )  # fmt: skip

    answer = None
    if how := cycles(matrix, shapes, vectors):
        answer = judged(solved(matrix, right - start, how), "algebraic", how.reason)
    if answer is None or (zero.shape[0] <= _MOST and _failed(answer.status)):
        _require_few(zero.shape[0])
        found = sparse_solve(matrix, right - start, report=True)
        found = found.replace(steps=xnp.ones((), np.int32))
        answer = judged(found, "sparse", _REASON)
    return answer if report else answer.check().value


def _failed(status: Any) -> bool:
    """As far as that is known."""
    status = ops.stop_gradient(status)
    return type(status) is Array and int(status) != Status.success


def _require_few(count: int) -> None:
    if count > _MOST:
        want = f"of at most {_MOST} unknowns in all, or fields of one shape with each its own unknown on the diagonal"
        advice = "These have multigrid, outside of jit and vmap; what f takes to 0, as constants, is given as kernel=."
        raise errors.bad_argument(_WHO, "b", errors.Words(f"{count} elements"), want, advice)


def _matrix(f, zero) -> Sparse:
    pattern = jacobian_pattern(f, zero)
    return Sparse(jit(lambda x: jacobian(f, pattern)(x).values)(zero), pattern)


def _count(shape) -> int:
    return int(np.prod(shape, dtype=np.int64))


def _apart(x, shapes) -> list:
    if len(set(shapes)) == 1:  # unknowns of a node stand side by side
        return list(xnp.moveaxis(x.reshape(*shapes[0], len(shapes)), -1, 0))
    ends = np.cumsum([0, *map(_count, shapes)])
    return [x[a:b].reshape(s) for a, b, s in zip(ends, ends[1:], shapes, strict=False)]


def _flat(structure, shapes, x):
    """A tree of fields as one vector, or an error that says how it differs from the right-hand sides."""
    leaves, own = tree.flatten(tree.map(xnp.asarray, x))
    found = [typeof(y).shape for y in leaves]
    if own != structure or found != shapes:
        want = f"a function to a tree like b, {structure} of shapes {shapes}"
        advice = "There must be one equation for each unknown."
        raise errors.bad_argument(
            _WHO, "f", errors.Words(f"one to {own} of shapes {found}"), want, advice
        )
    if len(set(shapes)) == 1:
        return xnp.stack(leaves, -1).reshape(-1)
    return xnp.concatenate([y.reshape(-1) for y in leaves])


def _kernels(kernel, structure) -> list:
    own = tree.flatten(kernel)[1] == structure
    many = [kernel] if own else list(kernel)
    if any(tree.flatten(z)[1] != structure for z in many):
        raise errors.bad_argument(_WHO, "kernel", kernel, "a tree like b, or a list of such trees")
    return many


def _pins(apply, vectors: list, zero) -> tuple:
    """(unknowns that are held, one for each vector, with what): no combination of these vanishes at all of them."""
    if not vectors:
        return np.zeros(0, np.int64), np.zeros(0)
    rest = np.stack([_values(z) for z in vectors]).astype(np.result_type(zero.dtype, np.float64))
    start, size_of = _values(apply(zero)), np.abs(rest).max(axis=1, keepdims=True)
    probe = np.random.default_rng(0).standard_normal(rest.shape[1]).astype(zero.dtype)
    usual = np.abs(_values(apply(xnp.asarray(probe))) - start)
    for z in vectors:
        left = np.abs(_values(apply(z)) - start)
        if not np.all(left <= 1e-3 * max(usual.max(), 1e-300) * np.abs(_values(z)).max()):
            want = "what f takes to 0, beside what it makes of 0"
            raise errors.bad_argument(_WHO, "kernel", float(left.max()), want)
    rest, places = rest / np.where(size_of > 0, size_of, 1), []
    for k in range(len(rest)):
        p = int(np.argmax(np.abs(rest[k])))
        if not abs(rest[k][p]) > 1e-6:
            raise errors.bad_argument(
                _WHO, "kernel", k, "vectors of which none is made of the others"
            )
        places.append(p)
        rest[k + 1 :] -= np.outer(rest[k + 1 :, p] / rest[k][p], rest[k])
    weights = np.maximum(usual[places], 1e-3 * usual.max())
    return np.array(places), xnp.asarray(weights.astype(dtypes.to_real(zero.dtype)))


def _values(x) -> np.ndarray:
    x = ops.stop_gradient(xnp.asarray(x))
    if type(x) is not Array:
        raise errors.bad_argument(
            _WHO, "kernel", errors.Words("given"), "left out under jit and vmap"
        )
    return np.asarray(x)


def _require_linear(apply, matrix: Sparse, start, pinned, weights) -> None:
    n = typeof(start).shape[0]
    probe = np.random.default_rng(1).standard_normal(n).astype(typeof(start).dtype)
    got, want = apply(xnp.asarray(probe)) - start, matrix @ xnp.asarray(probe)
    if len(pinned):
        want = want.at[pinned].add(-weights * probe[pinned])
    size_of = abs(matrix) @ xnp.abs(xnp.asarray(probe)) + xnp.abs(start)
    got, want, size_of = (ops.stop_gradient(x) for x in (got, want, size_of))
    if not all(type(x) is Array for x in (got, want, size_of)):
        return
    eps = float(dtypes.finfo(dtypes.to_real(typeof(start).dtype)).eps)
    if not np.all(np.abs(np.asarray(got - want)) <= 1e3 * eps * np.asarray(size_of) + 1e-300):
        advice = "Equations that are not linear are solved by pde.solve_nonlinear, or Newton's method around this."
        raise errors.bad_argument(
            _WHO, "f", errors.Words("a function that is not"), "linear in u", advice
        )


def _without(x, vectors: list):
    """What is orthogonal to some vectors."""
    basis: list = []
    for z in vectors:
        for q in basis:
            z = z - xnp.vdot(q, z) * q
        basis.append(z / xnp.sqrt(xnp.sum(xnp.abs(z) ** 2)).astype(typeof(z).dtype))
    for q in basis:
        x = x - xnp.vdot(q, x) * q
    return x


def _verdict(apply, matrix: Sparse, x, right, start, rtol, found) -> tuple:
    """(error, goal, status): the largest residual of an equation, relative to the sum of its terms."""
    x, right, start = map(ops.stop_gradient, (x, right, start))
    left = xnp.abs(ops.stop_gradient(apply(x)) - right)
    terms = ops.stop_gradient(abs(matrix) @ xnp.abs(x)) + xnp.abs(right) + xnp.abs(start)
    error = xnp.max(
        safe_divide(left, terms, xnp.where(left > 0, np.inf, 0), where=terms > 0), initial=0
    )
    goal = xnp.asarray(default_rtol(typeof(x).dtype) if rtol is None else rtol).astype(error.dtype)
    status = first_that_holds(
        (~xnp.all(xnp.isfinite(right)), Status.not_finite), (found == Status.singular, Status.singular),
        (~(xnp.isfinite(error) & xnp.all(xnp.isfinite(left))), Status.not_finite),
        ((error <= goal) & (found == 0), Status.success), (found != 0, Status.ill_conditioned),
        default=Status.stagnation,
    )  # fmt: skip
    return error, goal, status
