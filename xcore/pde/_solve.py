"""One function that solves op(u) + op.boundary() = f, and tells how, and how well."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import cond, custom_linear_solve, jit, linear_transpose
from .._control.levels import OF_MANY_OPERATIONS
from .._core import Array, ArrayLike, Tracer, dtypes, errors, one_of, require, tree, typeof
from .._iterate import history_of
from .._solution import Certificate, Status
from ..linalg import BiCGStab, FunctionOperator, linear_solve
from ..linalg._range import safe_norm
from ._cycles import Near, Ran, Repeated, by_cycles
from ._diffusion import Diffusion, as_diffusion
from ._direct import solve_direct
from ._estimate import MOST, anew, by_hand, compare, ladder, refined
from ._fields import GridOperator
from ._general import simpler, solve_any, values_known
from ._geometry import coarser_masked
from ._grid import Grid, size
from ._judge import default_rtol, judged
from ._laplacian import Laplacian
from ._masked import Masked
from ._multigrid import CYCLES, SMOOTHERS, cycle, finest, full_multigrid, hierarchy, lighter
from ._multigrid import lift as continued
from ._operators import Helmholtz
from ._poisson import balanced, imbalance
from ._solutions import FieldSolution

_LIGHT_FROM, _LIGHT_UP_TO = 2**14, 2000  # unknowns in all, and along an axis
_IN_FLOWS = "elements lose too many digits, so cycles of flows were taken"
_ADVICE = ((Status.max_steps, " with max_steps"),)
OPERATORS = (Laplacian, Diffusion, Masked, Helmholtz)
BY_ELEMENTS = ("sparse", "gcr", "algebraic", "incomplete", "product")
METHODS = ("auto", "direct", "cg", "bicgstab", "multigrid", "full multigrid", *BY_ELEMENTS)


def solve(
    op: GridOperator, f: ArrayLike | Callable[..., ArrayLike], *, rtol: float | None = None,
    method: str = "auto", cycle: str = "V", smoother: str = "auto", max_steps: int = 100,
    report: bool = False, estimate: bool | Callable[..., GridOperator] = False, history: bool = False,
    progress: str | bool = False, of: Callable[..., ArrayLike] | None = None,
) -> Array | FieldSolution:  # fmt: skip
    """The field u with op(u) + op.boundary() = f. Derivatives cost one more solution.

    Args:
      op: any linear operator on fields: ``Laplacian``, ``Diffusion``, ``Masked``, ``Helmholtz``, ``Advection``,
        ``Stencil``, sums, products and multiples. Where coefficients are not constant, its elements are read off,
        and choose a method.
      f: a field, an array at all nodes, or a function of the coordinates.
      rtol: tolerance for the residual, relative to the right-hand side. By default the dtype's precision to
        the power of 2/3, or where it is more what changing u by four roundings changes the residual
        by; of a ``Laplacian`` of order 2 and a ``Diffusion`` the energy of u must then agree with what
        f does on it, to half of the digits, and for other operators 0.1 is the most; steps that ran out
        are not excused. For "full multigrid" 0.1. With ``of`` it is the tolerance for the functional, see there.
      method: "direct": diagonalisation, for constant coefficients; "cg": conjugate gradients with a
        multigrid cycle as preconditioner; "bicgstab": likewise, for operators that are not
        symmetric; "multigrid": cycles alone; "full multigrid": from the coarsest grid up, once, to
        the accuracy of the discretisation. "auto" takes "direct" where it can, else what the elements choose:
        "sparse", sparse factors, "cg" or "gcr" (minimal residuals), with a cycle made of the elements, "algebraic",
        one of those with a cycle of classical multigrid, "incomplete", minimal residuals with sparse factors
        whose small elements are left out, or "product", the factors of a product or of a polynomial of one operator
        one after another. Where
        coefficients are traced it takes "cg", and "bicgstab" for the boundary treatment of Shortley and Weller and
        for a Helmholtz operator whose q varies, where the preconditioner is the inverse for its mean.
      cycle: "V", "W" or "F"; for "cg" "V" or "W", as these are symmetric.
      smoother: "chebyshev", "red-black", "lines" (for conductances that differ much between the
        axes), or "auto", which looks at the coefficients.
      max_steps: at most this many iterations.
      report: return a ``FieldSolution`` instead of raising SolverError where the tolerance is not reached.
      estimate: also solve on every second node (and of these, where it is no operator of the first four), to
        estimate the error of discretisation, for the certificate of the report. A function of a grid that makes the
        operator there where that is not known of itself: of a ``Stencil``, for fields of cells, of cut domains.
      history: with ``report``, keep the relative residual: row 0 that of the start, row k after iteration k, as the
        solver keeps it up to date, the last as computed from u. None of "direct" and "full multigrid".
      progress: show the number of iterations and their rate; a text is the label.
      of: a functional of (u, op), as ``lambda u, op: op.integrate(u)``: the certificate gets ``functional``, its
        value, ``functional_error``, estimated from three grids, and ``functional_order``, that which they show. Of
        errors of discretisation: what the solution and rounding leave on all grids alike comes beside them.
        With ``rtol``, cells are halved until the estimated error is at most rtol times the value, as ``refine`` does
        it, from coarser grids than op's on. For that op and f are made of numbers and functions of the coordinates;
        of others ``estimate`` is a function that makes the operator on a grid. An estimate is no bound.

    Returns:
      An array of the shape ``op.field_shape``, or with ``report`` a ``FieldSolution`` whose ``value`` it is; with
      ``rtol`` and ``of`` that on the grid that was fine enough.

    >>> import xcore as xc
    >>> op = xc.pde.Diffusion(xc.pde.Grid((8, 8)), lambda x, y: 1 + x)
    >>> answer = xc.pde.solve(op, -1.0, report=True)
    >>> answer.method, bool(answer.ok)
    ('sparse', True)
    >>> found = xc.pde.solve(op, -1.0, rtol=1e-2, of=lambda u, op: op.integrate(u), report=True)
    >>> bool(found.ok), found.value.shape, bool(found.error <= 1e-2)
    (True, (31, 31), True)
    """
    who = "pde.solve"
    require("positive", who, rtol=rtol, max_steps=max_steps)
    rtol = rtol if rtol is None else float(rtol)
    if rtol is not None and of is not None:
        again = functools.partial(
            solve, method=method, cycle=cycle, smoother=smoother, max_steps=max_steps, report=True,
            progress=progress,
        )  # fmt: skip
        found = _refined(who, again, op, f, estimate, of, rtol)
        return found if report else found.check().value
    if callable(estimate) or of is not None or (estimate and not isinstance(op, OPERATORS)):
        again = functools.partial(
            solve, rtol=rtol, method=method, cycle=cycle, smoother=smoother, max_steps=max_steps, report=True
        )  # fmt: skip
        answer = again(op, f, history=history, progress=progress)
        more = compare(
            who, again, op, f, answer.value, estimate if callable(estimate) else None, of
        )
        answer = answer.replace(certificate=Certificate(more=more))
        return answer if report else answer.check().value
    op, f = _known_form(who, op, f, method)
    _check_lengths(who, op)
    op.checked_for(who, method, estimate)
    if _by_elements(op, method, cycle, smoother, estimate):
        _only_by_default(who, estimate, cycle, smoother)
        f = _right_side(who, op, f) if isinstance(op, OPERATORS) else f
        answer = solve_any(who, op, f, rtol, method, int(max_steps), history, progress)
        if _lost(op, answer):
            found = solve(op, f, rtol=rtol, method=op.automatic()[0], max_steps=max_steps, history=history,
                          progress=progress, report=True)  # fmt: skip
            answer = found.replace(reason=_IN_FLOWS) if bool(found.ok) else answer  # pyright: ignore
        return answer if report else answer.check().value
    _check_names(who, method, cycle, smoother)
    op = op.prepared(who)
    method, reason = _chosen(who, op, method)
    if method == "cg" and cycle == "F":
        raise errors.bad_argument(who, "cycle", cycle, '"V" or "W" for "cg"')
    f = _right_side(who, op, f)
    dtype = typeof(f).dtype
    op = op.widened(dtype)
    rtol = 0.1 if rtol is None and method == "full multigrid" else rtol
    smoother = smoother_for(op) if smoother == "auto" else smoother
    settings = Settings(method, cycle, smoother, rtol, int(max_steps), history, progress)
    u, ran, (residual, goal, status), excess, mean = _solve(op, f, settings)
    certificate = None
    if estimate:
        certificate = Certificate(more={"discretization_error": _richardson(op, f, u, settings)})
    rows = ran.history()
    answer = FieldSolution(
        u, status, certificate, ran.steps, residual, None if rows is None else history_of(rows, ran.steps),
        who=who, method=method, reason=reason, advice=_ADVICE, goal=goal, projected=mean, imbalance=excess,
    )  # fmt: skip
    return answer if report else answer.check().value


def _refined(who: str, again: Callable, op, f, estimate, of, rtol: float) -> FieldSolution:
    """The solution on a grid so fine that the functional is known to rtol."""
    if not isinstance(op, GridOperator):
        _known_form(who, op, f, "auto")
    f, make, most = by_hand(who, f), anew(who, op, estimate), max(MOST, size(op.grid.shape))
    return refined(who, again, make, f, ladder(op.grid), of, rtol, most, _MORE)


_MORE = f" than {MOST} unknowns with pde.refine(make, f, grid, of=…, rtol=…, most=…)"


def _check_lengths(who: str, op) -> None:
    """That squares of cells' widths are numbers: operators divide by them, before there are arrays."""
    grid, limits = getattr(op, "grid", None), np.finfo(float)
    if not isinstance(grid, Grid):
        return
    widths = np.concatenate([grid.widths(i) for i in range(grid.ndim)])
    for width in (float(widths.min()), float(widths.max())):
        if not float(limits.tiny) ** 0.5 <= width <= float(limits.max) ** 0.5:
            want = "such that their squares are in the range of float64"
            advice = "Take another unit of length."
            raise errors.bad_argument(who, "widths of the grid's cells", width, want, advice)


def _lost(op, answer: FieldSolution) -> bool:
    """Whether it is known that rounding of elements, of which flows are differences, left no solution."""
    flows = (
        isinstance(op, Diffusion | Masked)
        and not getattr(op, "mixed", ())
        and op.coordinates == "cartesian"
    )
    at_hand = flows and type(answer.status) is Array
    return at_hand and int(answer.status) in (Status.stagnation, Status.ill_conditioned)


def _only_by_default(who: str, estimate, cycle: str, smoother: str) -> None:
    if estimate or cycle != "V" or smoother != "auto":
        want = "the default: of this operator the elements choose how"
        raise errors.bad_argument(
            who, "estimate, cycle or smoother", estimate or (cycle, smoother), want
        )


def _check_names(who: str, method: str, cycle: str, smoother: str) -> None:
    for name, given, known in (("method", method, METHODS), ("cycle", cycle, CYCLES),
                               ("smoother", smoother, ("auto", *SMOOTHERS))):  # fmt: skip
        one_of(who, name, given, known, "one of " + ", ".join(map(repr, known)))


def _right_side(who: str, op, f) -> Array:
    """The right-hand side in the dtype of the solution."""
    f = op.right(f)
    t = typeof(f)
    dtype = op.dtype_for(t.dtype)
    if dtypes.to_real(dtype).itemsize < 4:
        raise errors.dtype_not_allowed(who, dtype, "float32 or float64: there are too few digits")
    return f if t.dtype == dtype and not t.weak else f.astype(dtype)


def _known_form(who: str, op, f, method: str) -> tuple:
    """(op, f), where op is a multiple of Δ + q that and f divided by the factor."""
    if isinstance(op, OPERATORS):
        return op, f
    if not (isinstance(op, GridOperator) and op.of_fields):
        advice = "A matrix is solved by sparse.solve, linalg.solve or linalg.linear_solve."
        want = "an operator of xcore.pde on fields, or a sum, multiple or product of them"
        raise errors.bad_argument(who, "op", op, want, advice)
    known = simpler(op) if method in ("auto", "direct") else None
    return (op, f) if known is None else (known[0], op.right(f) / known[1])


def _by_elements(op, method: str, cycle: str, smoother: str, estimate: bool) -> bool:
    """Whether an operator is solved by what is read off: by default all of known values, as cycles of flows along the
    axes see a part of them, and take four times as long to compile; but for boxes, which transforms solve."""
    if not isinstance(op, OPERATORS) or method in BY_ELEMENTS:
        return True
    plain = method == "auto" and not estimate and (cycle, smoother) == ("V", "auto")
    return plain and (op.inside is not None or not op.constant) and values_known(op)


def _chosen(who: str, op, method: str) -> tuple[str, str]:
    if method == "auto":
        return op.automatic()
    if instead := op.instead_of(method):
        raise errors.bad_argument(who, "method", method, instead)
    return method, "it was asked for"


def smoother_for(op) -> str:
    """Lines where the axes' mean conductances differ by more than 8 times, as far as they are known:
    of coefficients that come later those of the grid."""
    kept = vars(op)  # of this operator
    if "smoother" not in kept:
        kept["smoother"] = _smoother_for(op)
    return kept["smoother"]


def _smoother_for(op) -> str:
    if op.coordinates != "cartesian":
        return "lines"
    a = op.conductances
    a = (1.0,) if any(isinstance(x, Tracer) for x in a) else a
    means = [
        float(np.mean(np.asarray(a[i % len(a)]))) / h**2 for i, h in enumerate(op.grid.spacing)
    ]
    wide = max([float(np.ptp(x.weights) / x.weights.min()) for x in op.axes if x.count > 2] + [0])
    return "lines" if max(means) > 8 * min(means) or wide > 8 else "chebyshev"


class Settings(NamedTuple):
    """How to solve; without an ``rtol`` to the dtype's precision to the power of 2/3."""

    method: str
    cycle: str = "V"
    smoother: str = "chebyshev"
    rtol: float | None = None
    max_steps: int = 100
    history: bool = False
    progress: Any = False

    def within(self, dtype) -> dict:
        """What stops an iteration."""
        return {"rtol": self.rtol or default_rtol(dtype), "max_steps": self.max_steps}

    def kept(self) -> dict:
        """What is kept and shown of it."""
        return {"history": self.history, "progress": self.progress}


def _solve_any(op, f, settings: Settings):
    """(u, how it went, (residual, goal, status), imbalance, mean that was taken away)."""
    right = f - op.boundary(typeof(f).dtype)
    excess = imbalance(op, right)
    right, mean = balanced(op, right)
    u, ran = _solved(op, right, settings)
    return u, ran, judged(op, u, right, settings.rtol, excess, ran.status), excess, mean


def _solved(op, right, settings: Settings):
    """(u, how it went) with op(u) = right."""
    if settings.method == "direct":
        lap, q, a = op.shifted()
        return solve_direct(lap, right, q, a), Ran(xnp.zeros((), np.int32))
    if isinstance(op, Helmholtz):
        return _solve_near(op, right, settings)
    dtype = typeof(right).dtype
    flows = as_diffusion(op, dtypes.to_real(dtype))
    # full multigrid interpolates solutions, which must vanish on Dirichlet faces for that
    lift = None
    if settings.method == "full multigrid":
        lift = op.lift(dtype) if op.inside is None else _masked_lift(op, dtype, settings.smoother)
    u, ran = _solve_parts(flows, right if lift is None else right - flows(lift), settings)
    u = u if lift is None else u + lift  # pyright: ignore[reportOperatorIssue]
    # so that no cotangents come from outside
    return op.only_inside(u), ran


def _masked_lift(op: Masked, dtype, smoother: str):
    level = hierarchy(tree.map(ops.stop_gradient, op))
    return op.field(continued(op, level, smoother)).astype(dtype)


def _solve_near(op: Helmholtz, right, settings: Settings):
    """(u, how it went) by the inverse of the operator with the mean of q."""
    mean = ops.stop_gradient(xnp.mean(op.q))
    flat = lambda f: lambda op, x: f(op, x.reshape(op.field_shape)).reshape(-1)  # noqa: E731

    def near(state, x):
        lap, q = state
        return solve_direct(lap, x.reshape(lap.field_shape), q, 1.0).reshape(-1)

    a = FunctionOperator(flat(lambda op, x: op(x)), op, op.shape)
    m = FunctionOperator(near, (op.laplacian, mean), op.shape)
    return _by_linear_solve(a, right, BiCGStab, m, settings)


def _by_linear_solve(a, b, solver, preconditioner, settings: Settings):
    """(u, how it went) for the field u with a u = b."""
    found = linear_solve(
        a, b.reshape(-1), solver(**settings.within(typeof(b).dtype)), preconditioner=preconditioner,
        report=True, **settings.kept(),
    )  # fmt: skip
    norms = (found.history, safe_norm(b)) if settings.history else None
    return found.value.reshape(typeof(b).shape), Ran(found.steps, found.status, norms)


def _solve_parts(op, right, settings: Settings):
    """``_solve_flows``, for real and imaginary part on their own: the operator is real."""
    if not dtypes.is_complex(typeof(right).dtype):
        return _solve_flows(op, right, settings)
    u, ran = _solve_flows(op, xnp.real(right), settings)
    v, other = _solve_flows(op, xnp.imag(right), settings)
    return u + 1j * v, ran.beside(other)  # pyright: ignore[reportOperatorIssue]


def _solve_flows(op, right, settings: Settings):
    """(u, how it went) with op(u) = right; the one without mean where op is singular."""
    if settings.method == "full multigrid" and op.inside is not None:
        return _solve_nested(op, right, settings.smoother)
    if settings.method == "bicgstab" or op.skew:
        return _solve_skew(op, right, settings)
    w = op.volumes(dtypes.to_real(typeof(right).dtype))
    held = tree.map(ops.stop_gradient, op)
    u, aux = custom_linear_solve(
        lambda u: -w * op(u), -w * right,
        solve=lambda _, b: _by_multigrid(held, b, settings), symmetric=True, has_aux=True,
    )  # fmt: skip
    return (u - xnp.sum(w * u) / xnp.sum(w) if op.singular else u), aux


def _solve_skew(op, right, settings: Settings):
    """The same for an operator that is not symmetric, near to one of which there is a hierarchy."""
    held = tree.map(ops.stop_gradient, op)
    even, ratio = held.balance()
    w, rows = op.volumes(dtypes.to_real(typeof(right).dtype)), even * ratio
    n, flat = op.shape[0], lambda x: x.reshape(-1)

    def near(state, x):
        level, even = state
        right = w * x.reshape(op.field_shape) / even
        return flat(cycle(level, right, settings.cycle, settings.smoother, 3))

    def scaled(state, x):
        op, rows = state
        return flat(-rows * op(x.reshape(op.field_shape)))

    m = FunctionOperator(near, (hierarchy(held), even), (n, n))
    a = FunctionOperator(scaled, (op, rows), (n, n))
    solver = Repeated if settings.method == "multigrid" else BiCGStab
    return _by_linear_solve(a, -rows * right, solver, m, settings)


def _solve_nested(op: Masked, right, smoother: str):
    """The same by full multigrid, and once more for what it leaves over next to the boundary."""
    held = tree.map(ops.stop_gradient, op)
    even, ratio = held.balance()
    rows = op.volumes(dtypes.to_real(typeof(right).dtype)) * even * ratio
    level = hierarchy(held)

    def solve(_, b):
        u = full_multigrid(level, b / even, smoother)
        return u + full_multigrid(level, (b + rows * held(u)) / even, smoother)

    def transpose_solve(_, c):
        return linear_transpose(lambda b: solve(None, b), xnp.zeros_like(c))(c)[0]

    u = custom_linear_solve(lambda u: -rows * op(u), -rows * right, solve, transpose_solve)
    return u, _ONCE


def solve_shifted(op, right, tau):
    """(u, status): the field u with u - tau op(u) = right, for homogeneous conditions."""
    c = 1 + (0 if op.c is None else tau * op.c)
    scaled = tree.map(lambda x: tau * x, (op.a, op.mixed) if isinstance(op, Diffusion) else (op.a,))
    shifted = op.replace(**dict(zip(("a", "mixed"), scaled, strict=False)), c=c)
    kept = typeof(right).dtype  # states keep their dtype, of coefficients that have more digits too
    b = -right.astype(xnp.promote_types(kept, shifted.dtype))
    u, ran = _solve_parts(shifted, b, Settings("cg", rtol=default_rtol(kept)))
    status = ran.status
    # success there is of a residual computed anew; else rounding may allow no more
    status = cond(status == 0, lambda: status, lambda: judged(shifted, u, b, None, 0.0, status)[2])
    return u.astype(kept), status


_solve = jit(_solve_any, static_argnums=2, compiler_options=OF_MANY_OPERATIONS)


# By multigrid

_ONCE = Ran(
    np.int32(1), np.int32(Status.max_steps)
)  # full multigrid goes up once, and is judged by others


def _by_multigrid(op, b, settings: Settings):
    """A⁻¹ b for the stiffness A, and how it went."""
    method, smoother = settings.method, settings.smoother
    w = op.volumes(dtypes.to_real(typeof(b).dtype))
    b = b - w * (xnp.sum(b) / xnp.sum(w)) if op.singular else b  # as for constant excess
    if method != "full multigrid" and _light(op, typeof(b).dtype):
        level = finest(op)
        near = Near(*lighter(op, level, np.float32), (settings.cycle, smoother, 3))
    else:
        level = hierarchy(op)
        near = Near(level, None, (settings.cycle, smoother, 3))
    if method == "full multigrid":
        smooth = op.constant and op.grid.uniform
        u = full_multigrid(level, b, smoother, smooth=smooth)
        return u, _ONCE
    rows = op.evened() / xnp.where(w == 0, 1, w)
    if op.inside is None and op.shares is None and np.ptp(op.weights) <= 1e-6 * np.max(op.weights):
        rows = 1.0  # it is the same norm but for a factor
    how = settings.within(typeof(b).dtype) | settings.kept()
    return by_cycles(level, near, b, rows, op.singular, method, **how)


def _light(op, dtype) -> bool:
    """Whether cycles go in single precision: where memory takes the time, and its rounding, which is
    that of products with the operator, does not reach the lowest modes."""
    if dtype != np.float64 or op.inside is not None or op.mixed:
        return False
    return size(op.field_shape) >= _LIGHT_FROM and max(op.field_shape) <= _LIGHT_UP_TO


# Error estimate


def _richardson(op, f, u, settings: Settings):
    """The largest difference to the solution on every second node, over 2^order - 1."""
    coarse = op.coarser() if op.inside is None else coarser_masked(op)
    pick = tuple(slice(1 if a.start else 0, None, 2) for a in op.axes)
    other, *_ = _solve(coarse, f[pick], settings)
    if coarse.inside is not None:
        other = xnp.where(coarse.inside, other, u[pick])
    return xnp.max(xnp.abs(u[pick] - other)) / (2**op.accuracy - 1)
