"""Eigenmodes of Laplace and diffusion operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import jit, scan
from .._control.levels import OF_MANY_OPERATIONS
from .._core import Array, DTypeLike, dtypes, errors, one_of, require, tree, typeof
from .._iterate import history_of
from .._solution import Solution, Status
from ..linalg import FunctionOperator, eigsh, lobpcg
from ..linalg._eigen import rayleigh
from ..linalg._eigenpairs import with_derivatives
from ..linalg._truth import check_status
from . import _curvilinear
from ._diffusion import Diffusion, as_diffusion
from ._direct import solve_direct
from ._fields import GridOperator
from ._grid import real_dtype, size
from ._laplacian import Laplacian
from ._masked import Masked
from ._mode_elements import modes_by_elements
from ._mode_search import coarsest_for, search
from ._mode_units import in_units, known_as_positive, lost, out_of_units, refuse_lost
from ._multigrid import cycle, hierarchy
from ._separable import modes_by_axes, separable
from ._solve import Near, by_cycles, smoother_for

METHODS = ("auto", "axes", "lobpcg", "shift-invert")


def _checked(who: str, op, k, method: str) -> tuple[int, bool]:
    """(the number of unknowns, whether modes are products of those of the axes), or an error."""
    if not (isinstance(op, GridOperator) and op.of_fields):
        want = "an operator of xcore.pde on fields, or a sum, multiple or product of them"
        raise errors.bad_argument(who, "op", op, want)
    if _any_other(op) and method not in ("auto", "shift-invert"):
        want = '"auto" or "shift-invert" for an operator whose elements are read off'
        raise errors.bad_argument(who, "method", method, want)
    if isinstance(op, Masked) and op.edge == "shortley-weller":
        raise errors.bad_argument(who, "op.edge", op.edge, '"symmetric", also of order 2')
    n = size(op.field_shape)
    if isinstance(op, Masked) and type(op.inside) is Array:
        n = int(np.sum(np.asarray(op.inside)))
    one_of(who, "method", method, METHODS)
    if method == "axes" and not separable(op):
        want = '"lobpcg" or "shift-invert" where coefficients vary'
        raise errors.bad_argument(who, "method", method, want)
    if method not in ("auto", "axes") and op.order != 2:
        raise errors.bad_argument(who, "method", method, '"axes" for orders other than 2')
    by_axes = method == "axes" or (method == "auto" and separable(op))
    whole = isinstance(k, (int, np.integer)) and not isinstance(k, bool)
    if not (whole and 0 < k <= (n if by_axes else n // 3)):
        want = (
            f"from 1 to the {n} unknowns" if by_axes else f"from 1 to a third of the {n} unknowns"
        )
        raise errors.bad_argument(who, "k", k, want)
    return n, by_axes


def _any_other(op) -> bool:
    """Whether the elements of an operator are read off."""
    known = isinstance(op, (Laplacian, Diffusion, Masked))
    return not known or (isinstance(op, Diffusion) and op.inside is not None)


def eigenmodes(
    op: Any, k: int = 6, *, rtol: float | None = None, dtype: DTypeLike | None = None,
    method: str = "auto", ncv: int | None = None, report: bool = False, history: bool = False,
    progress: str | bool = False,
) -> tuple[Array, Array]:  # fmt: skip
    """(w, modes): the k smallest eigenvalues of -op, rising, and their fields (k, ...).

    Modes are orthonormal in the inner product of the grid. Of orders 4 and 6 they have norm 1, but as
    rows next to faces make the operator unsymmetric, smooth ones are orthogonal up to the error of
    discretisation, and rough ones are not. The "compact" Laplacian stands for M Δ; its modes are those
    of -op(u) = w M u, of order 4.

    Args:
      op: a ``Laplacian``, a ``Diffusion``, a ``Masked`` with edge "symmetric" or "staircase"; or any other real
        operator that is symmetric, if need be when weighted by volumes: sums with potentials, ``CutDiffusion``,
        stencils.
      k: how many; up to all of them with "axes", to a third of the unknowns else.
      rtol: tolerance for the modes, which have norm 1; the root of the dtype's precision by default. Of
        "lobpcg" it is what a last cycle would change, of "shift-invert" |u + w op⁻¹(u)|. Errors
        of the eigenvalues are far less, about the square. Where it is missed SolverError is raised.
      dtype: of the modes; that of the coefficients by default.
      method: "axes": products of the modes of the axes, exact but for rounding, for a ``Laplacian``
        and a ``Diffusion`` whose a and c are numbers; "shift-invert": Lanczos' method on the
        inverse, which is direct for a ``Laplacian`` and else conjugate gradients with multigrid
        cycles; "lobpcg": blocks of vectors, preconditioned by cycles, from a coarse grid up. "auto"
        takes the first where it can, else the last.
      ncv: size of the space of Lanczos' method; max(3 k, 24) by default. More takes fewer restarts.
      report: return a ``Solution`` of (w, modes), with the error of each mode and the steps on the finest grid,
        instead of raising SolverError.
      history: with ``report``, keep these errors: row 0 those of the start, row j after step j (of "shift-invert"
        the residuals of Lanczos' method after each restart); of "axes" there are none.
      progress: show the number of steps and their rate; a text is the label.

    >>> from xcore.pde import Grid
    >>> w, modes = eigenmodes(Laplacian(Grid((16, 16))), 2)
    >>> [round(float(x)) for x in w], modes.shape
    ([20, 49], (2, 15, 15))
    """
    who = "pde.eigenmodes"
    n, by_axes = _checked(who, op, k, method)
    dtype = getattr(op, "dtype", None) if dtype is None else dtype
    dtype = real_dtype(dtype)
    if dtypes.is_complex(dtype) or not dtypes.is_inexact(dtype):
        raise errors.bad_argument(who, "dtype", dtype, "one of real numbers")
    require("positive", who, rtol=rtol)
    rtol = float(dtypes.finfo(dtype).eps) ** 0.5 if rtol is None else float(rtol)
    if _any_other(op):
        ncv = min(n, max(3 * k, 24) if ncv is None else max(k, ncv))
        made = modes_by_elements(who, op, k, dtype, rtol, ncv, (bool(history), progress))
        return _answer(who, made, "shift-invert", report)
    # coefficients of fewer digits than the modes are exact as they are
    given = op if by_axes else tree.map(lambda x: _widened(x, dtype), op)
    op, unit, power = in_units(given)
    if by_axes:
        found, rows = modes_by_axes(op, int(k), dtype), None
        size, done = None, xnp.zeros((), np.int32)
        status = xnp.zeros((), np.int32)
    else:
        kept = (bool(history), progress)
        if method == "shift-invert":
            ncv = min(n, max(3 * k, 24) if ncv is None else max(k, ncv))
            made = _modes_by_inverse(op, k, dtype, smoother_for(op), rtol, ncv, *kept)
        else:
            op, method = as_diffusion(op), "lobpcg"
            made = _modes_by_cycles(op, k, dtype, smoother_for(op), rtol, *kept)
        *found, status, size, done, rows = made
    dim = _curvilinear.dimension(op.coordinates, op.grid.ndim)
    within, (w, modes) = found[0], out_of_units(*found, unit, power, dim)
    modes = xnp.where(op.inside, modes, 0) if isinstance(op, Masked) else modes
    away = lost(within, (w, modes), _noise(op, dtype))
    fine = known_as_positive(given)
    if by_axes:
        refuse_lost(who, given, xnp.any(away) & fine, dtype)
        away = xnp.any(away)
    status = xnp.where(away & (status == 0), np.int32(Status.not_finite), status)
    status = xnp.where(fine, status, np.int32(Status.not_definite)).astype(np.int32)
    made = (w, modes, status, size, done, rows)
    return _answer(who, made, "axes" if by_axes else method, report)


def _answer(who: str, made: tuple, method: str, report: bool) -> Any:
    w, modes, status, size, steps, rows = made
    rows = None if rows is None else history_of(rows, steps)
    answer = Solution(
        (w, modes), status, steps=steps, error=size, who=who, method=method, history=rows
    )
    return answer if report else answer.check().value


def _noise(op, dtype):
    """What rounding makes of an eigenvalue that is 0: of the largest one, as Gershgorin bounds it."""
    rows = ops.stop_gradient(xnp.asarray(op.absolute()))
    rows = xnp.where(op.inside, rows, 0) if isinstance(op, Masked) else rows
    return (float(dtypes.finfo(dtype).eps) * xnp.max(rows)).astype(dtype)


def _widened(x, dtype):
    if np.isscalar(x) or not dtypes.is_inexact(typeof(x).dtype):
        return x
    return x.astype(xnp.promote_types(typeof(x).dtype, dtype))


def _scaled(op, dtype):
    """W^½ and -W^½ op W^-½, which is symmetric."""
    n, located = size(op.field_shape), isinstance(op, Diffusion) and op.shares is not None
    root = xnp.sqrt(op.volumes(dtype)) if located else np.sqrt(op.weights).astype(dtype)

    def product(op, x):
        made = -(root * op(x.reshape(op.field_shape) / root)).reshape(-1)
        return made.astype(typeof(x).dtype)

    return root, FunctionOperator(product, op, (n, n), symmetric=True)


@jit(static_argnums=(1, 2, 3, 4, 5, 6), compiler_options=OF_MANY_OPERATIONS)
def _modes_by_cycles(op, k: int, dtype, smoother: str, rtol: float, history: bool, progress):
    root, a = _scaled(op, dtype)
    near = tree.map(ops.stop_gradient, op)
    if op.singular:  # constants are no longer in the kernel
        near = near.replace(c=_small(near))
    level = hierarchy(near)
    precondition = _by_cycle(op, level, root, smoother)
    first = coarsest_for(level, k)
    if first is None:
        start = _irregular(a.shape[0], k + (3 * (k + 1) <= a.shape[0]), dtype)  # one guards
        if isinstance(op, Masked):
            start = xnp.where(op.inside.reshape(-1, 1), start, 0)
        found = lobpcg(
            a, k, x0=start, preconditioner=precondition, rtol=rtol, report=True, history=history,
            progress=progress,
        )  # fmt: skip
        (w, v), status, size = found.value, found.status, found.certificate.residual
        steps, rows = found.steps, found.history
    else:
        weights = near.volumes(near.dtype)
        x, size, steps, rows = search(
            level, weights, k, first, dtype, smoother, rtol, history, progress
        )
        v = x.reshape(k, -1).T
        values = rayleigh(tree.map(ops.stop_gradient, a), v)
        w, v = with_derivatives(a, values, v, lambda x: precondition(x[:, None])[:, 0])
        status = xnp.where(size <= rtol, np.int32(Status.success), np.int32(Status.max_steps))
        status = xnp.where(xnp.isfinite(size), status, np.int32(Status.not_finite)).astype(np.int32)
    return w, v.T.reshape(k, *op.field_shape) / root, status, size, steps, rows


def _by_cycle(op, level, root, smoother: str):
    """A cycle as a function of columns, for the operator of ``_scaled``."""

    def precondition(x):
        fields = x.T.reshape(-1, *op.field_shape) * root
        # one after the other: each fits into the cache
        _, y = scan(
            lambda _, r: (None, cycle(level, r, "V", smoother, 3)), None, fields.astype(op.dtype)
        )
        return (y * root).reshape(typeof(x).shape[1], -1).T.astype(typeof(x).dtype)

    return precondition


def _small(op):
    """A shift less than the eigenvalues that matter, for an operator in units of its own."""
    least = xnp.min(xnp.stack([xnp.min(x) for x in op.a])) if isinstance(op, Diffusion) else 1.0
    return least / max(u - x for u, x in zip(op.grid.upper, op.grid.lower, strict=True)) ** 2


def _irregular(n: int, k: int, dtype):
    """Fixed numbers without order."""
    return xnp.asarray(np.sin(1.0 + np.arange(n * k) ** 2 % 1e6).reshape(n, k).astype(dtype))


@jit(static_argnums=(1, 2, 3, 4, 5, 6, 7), compiler_options=OF_MANY_OPERATIONS)
def _modes_by_inverse(
    op, k: int, dtype, smoother: str, rtol: float, ncv: int, history: bool, progress
):
    root, a = _scaled(op, dtype)
    held = tree.map(ops.stop_gradient, op)
    shift = _small(held) if op.singular else 0.0  # pure Neumann problems have an inverse too
    wide = dtype if isinstance(op, Laplacian) else xnp.promote_types(dtype, op.dtype)
    if isinstance(op, Laplacian):
        state, inverse = held, lambda op, x: solve_direct(op, x / root, shift, -1.0)  # pyright: ignore[reportAssignmentType]
    else:
        near = held.replace(c=shift) if op.singular else held
        even = near.balance()[0] if isinstance(op, Masked) else 1.0
        within, state = float(dtypes.finfo(dtype).eps) ** 0.75, hierarchy(near)

        def inverse(level, x):
            cycles = Near(level, None, ("V", smoother, 3))
            return by_cycles(level, cycles, root * x, even, False, "cg", within, 50)[0]

    # fields outside, of random vectors in the search for copies, count as infinitely rough
    within_mask = (lambda x: xnp.where(op.inside, x, 0)) if isinstance(op, Masked) else lambda x: x

    def back(state, x):
        field = within_mask(x.reshape(op.field_shape)).astype(wide)
        return within_mask(root * inverse(state, field)).reshape(-1).astype(dtype)

    inverted = FunctionOperator(back, state, a.shape, symmetric=True)
    start = _irregular(a.shape[0], 1, dtype)[:, 0]
    if isinstance(op, Masked):
        start = xnp.where(op.inside.reshape(-1), start, 0)
    found = eigsh(
        a, k, sigma=-shift, inverse=inverted, x0=start, ncv=ncv, report=True, history=history,
        progress=progress,
    )  # fmt: skip
    w, v = found.value
    check_status("linalg.eigsh", found.status)
    # judged by the inverse: rounding of high frequencies says nothing about modes
    rows, values = ops.stop_gradient(v).T, ops.stop_gradient(w) + shift
    _, turned = scan(lambda _, x: (None, inverted.mv(x)), None, rows)
    size = xnp.sqrt(xnp.sum((rows - values[:, None] * turned) ** 2, axis=1))
    status = xnp.where(size <= rtol, np.int32(Status.success), np.int32(Status.max_steps)).astype(
        np.int32
    )
    modes = v.T.reshape(k, *op.field_shape) / root
    return w, modes, status, size, found.steps, found.history
