"""Banded matrices: elimination in a window that moves down the band, and what is made of it.

A band with l diagonals below and u above the main one is stored as in LAPACK, ab[u + i - j, j] =
a[i, j]: each row of ab is a diagonal, flush with its columns. Row i of the matrix is row i of
``_rows_of``, from column i - l on.
"""

# Checkers do not see: None is excluded by another value.
# pyright: reportOptionalSubscript=false

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import custom_linear_solve, scan
from .._core import Array, ArrayLike, dtypes, errors, fused, static, struct, typeof
from .._solution import Solution, Status
from ._arguments import as_inexact, check_matrices, epsilon, modulus, over_batch
from ._elimination import first_zero
from ._equations import Equation, judged, nothing_to_solve, roundings
from ._operators import LinearOperator
from ._truth import answered, fail


def _shifted(x, by: int):
    """x[..., i + by] at place i, and zeros where that is outside."""
    n = typeof(x).shape[-1]
    by = max(-n, min(n, by))
    zero = xnp.zeros_like(x[..., : abs(by)])
    return xnp.concatenate([x[..., by:], zero] if by >= 0 else [zero, x[..., :by]], axis=-1)


def _rows_of(ab, lower: int, upper: int):
    """(n, l + u + 1): the band by rows, with zeros outside of the matrix."""
    n = typeof(ab).shape[-1]
    j = np.arange(n) + np.arange(lower + upper + 1)[:, None] - lower
    rows = [_shifted(ab[lower + upper - c], c - lower) for c in range(lower + upper + 1)]
    return xnp.where((j >= 0) & (j < n), xnp.stack(rows), 0).T


def times_banded(ab, lower: int, upper: int, x):
    """The product of a banded matrix (l + u + 1, n) and columns x (n, k)."""
    total = xnp.zeros_like(x)
    for d in range(lower + upper + 1):  # the diagonal j - i = upper - d
        moved = _shifted((ab[d][:, None] * x).T, upper - d).T
        total = total + moved
    return total


def transposed_band(ab, lower: int, upper: int):
    """The band of the transposed matrix, which has ``upper`` diagonals below its main one."""
    rows = [_shifted(ab[lower + upper - d], d - lower) for d in range(lower + upper + 1)]
    return xnp.stack(rows)


def eliminate(ab, b, lower: int, upper: int, pivot: bool):
    """(rows of u from the diagonal on, l⁻¹ p b) for one band and columns b.

    The window holds the l + 1 rows that a step is about, from the pivot's column on; the largest
    number of its first column comes to the top, is emitted with its row, and the next row moves in.
    """
    rows = _rows_of(ab, lower, upper)
    n, width = typeof(rows).shape
    own = width + (lower if pivot else 0)  # exchanges fill in up to l diagonals more

    def widen(row, b):
        return xnp.concatenate(
            [row, xnp.zeros((*typeof(row).shape[:-1], own - width), row.dtype), b], -1
        )

    zero = xnp.zeros((lower + 1, width), rows.dtype)
    rows = xnp.concatenate([rows, zero])
    b = xnp.concatenate([b, xnp.zeros((lower + 1, typeof(b).shape[1]), b.dtype)])
    first = xnp.stack([_shifted(rows[i], lower - i) for i in range(lower + 1)])
    window = widen(first, b[: lower + 1])

    def step(window, following):
        top, place = window[0], 0
        if pivot and lower:
            place = xnp.argmax(modulus(window[:, 0]))
            top = window[place]
        here = xnp.arange(lower + 1) == place
        rest = xnp.where(here[:, None], window[0], window)[1:] if pivot else window[1:]
        lead = top[0]
        factors = rest[:, :1] / xnp.where(lead == 0, 1, lead)
        rest = rest - factors * top
        body = xnp.concatenate([rest[:, 1:own], xnp.zeros_like(rest[:, :1]), rest[:, own:]], axis=1)
        return xnp.concatenate([body, following[None]]), top

    _, u = scan(step, window, widen(rows[lower + 1 :], b[lower + 1 :])[:n])
    return u[:, :own], u[:, own:]


def back_substitute(u, y):
    """x with u x = y for rows of u from the diagonal on."""
    width = typeof(u).shape[1]

    def step(after, row):
        u, y = row
        x = (y - xnp.sum(u[1:, None] * after, axis=0)) / u[0]
        return xnp.concatenate([x[None], after])[: width - 1], x

    start = xnp.zeros((width - 1, typeof(y).shape[1]), typeof(y).dtype)
    return scan(step, start, (u, y), reverse=True)[1]


def _solve_one(ab, b, lower: int, upper: int, pivot: bool):
    u, y = eliminate(ab, b, lower, upper, pivot)
    return back_substitute(u, y), u[:, 0]


def _band_and_columns(who: str, ab, b, lower: int, upper: int) -> tuple:
    ab, b = as_inexact(who, ab, b)
    vector = typeof(b).ndim == 1
    b = b[..., None] if vector else b
    fits = typeof(ab).ndim >= 2 and typeof(ab).shape[-2] == lower + upper + 1
    if not fits or typeof(b).ndim < 2 or typeof(ab).shape[-1] != typeof(b).shape[-2]:
        why = f"need a band (..., {lower + upper + 1}, n) and b (n,) or (..., n, k)"
        raise errors.shape_mismatch(who, why, ab=ab, b=b)
    lead = np.broadcast_shapes(typeof(ab).shape[:-2], typeof(b).shape[:-2])
    ab = xnp.broadcast_to(ab, (*lead, *typeof(ab).shape[-2:]))
    b = xnp.broadcast_to(b, (*lead, *typeof(b).shape[-2:]))
    return ab, b, (lambda x: x[..., 0]) if vector else (lambda x: x)


def _solved(ab, b, lower: int, upper: int, pivot: bool):
    """(x, pivots); derivatives are those of the equation."""

    def solver(band, l, u):
        return lambda _, b: over_batch(lambda a, b: _solve_one(a, b, l, u, pivot), band, b)

    fixed = ops.stop_gradient(ab)
    turned = over_batch(lambda a: transposed_band(a, lower, upper), fixed)
    return custom_linear_solve(
        lambda x: over_batch(lambda a, x: times_banded(a, lower, upper, x), ab, x), b,
        solve=solver(fixed, lower, upper), transpose_solve=solver(turned, upper, lower),
        has_aux=True,
    )  # fmt: skip


@fused(2)
def in_band(ab, b, lower, upper, report):
    """(x, the number of a vanishing pivot or -1, status and certificate if asked for)."""
    ab, b, back = _band_and_columns("linalg.solve_banded", ab, b, lower, upper)
    if 0 in typeof(b).shape:
        return _nothing(b, back, report)
    x, pivots = _solved(ab, b, lower, upper, True)
    pivot, verdict = _first(pivots == 0), None
    if report:
        make = functools.partial(_equation, lower=lower, upper=upper, pivot=True)
        verdict = judged(make, (ab,), x, b, epsilon(b), pivot, back=back)
    return back(x), pivot, verdict


def _nothing(b, back, report: bool) -> tuple:
    none = xnp.full(typeof(b).shape[:-2], -1, np.int32)
    return back(b), none, nothing_to_solve(b, back) if report else None


def _equation(_, ab, lower: int, upper: int, pivot: bool) -> Equation:
    turned = xnp.conj(over_batch(lambda a: transposed_band(a, lower, upper), ab))

    def times(band, l, u):
        return lambda x: over_batch(lambda a, x: times_banded(a, l, u, x), band, x)

    def solving(band, l, u):
        return lambda b: over_batch(lambda a, b: _solve_one(a, b, l, u, pivot)[0], band, b)

    ones = xnp.ones((*typeof(ab).shape[:-2], typeof(ab).shape[-1], 1), typeof(xnp.real(ab)).dtype)
    size = xnp.max(times(xnp.abs(turned), upper, lower)(ones), axis=(-2, -1))
    return Equation(
        times(ab, lower, upper), times(xnp.abs(ab), lower, upper), solving(ab, lower, upper),
        solving(turned, upper, lower), size, roundings(lower + upper + 1),
    )  # fmt: skip


def _first(bad):
    """The index of the first True of each row, -1 where there is none."""
    return first_zero(xnp.where(bad, 0, 1))


def solve_banded(
    l_and_u: Sequence[int], ab: ArrayLike, b: ArrayLike, *, report: bool = False
) -> Array | Solution:
    """The solution x of a x = b for banded a, by elimination with exchanges of rows.

    Args:
      l_and_u: (l, u), the numbers of diagonals below and above the main one.
      ab: the band, (..., l + u + 1, n), ab[u + i - j, j] = a[i, j].
      b: right-hand sides (..., n, k), or one vector (n,).
      report: return a ``Solution`` with a ``Certificate``, as ``solve`` does; it costs a solution of
        four columns and one, with aᴴ, of eight.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> ab = xnp.asarray([[0.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    >>> xc.linalg.solve_banded((0, 1), ab, xnp.asarray([3.0, 3.0, 2.0]))
    Array([1., 1., 1.], dtype=float32)
    """
    lower, upper = map(int, l_and_u)
    if min(lower, upper) < 0:
        raise errors.bad_argument(
            "linalg.solve_banded", "l_and_u", l_and_u, "two numbers, 0 or more"
        )
    return answered("linalg.solve_banded", ab, "banded", *in_band(ab, b, lower, upper, report))


def _whole_band(ab, lower: bool):
    """Both halves of a Hermitian band of which one is given; the main diagonal is real."""
    d = typeof(ab).shape[-2] - 1
    if lower:
        ab = xnp.conj(over_batch(lambda a: transposed_band(a, d, 0), ab))
    if dtypes.is_complex(typeof(ab).dtype):
        ab = ab.at[..., d, :].set(xnp.real(ab[..., d, :]))
    below = xnp.conj(over_batch(lambda a: transposed_band(a, 0, d), ab))
    return xnp.concatenate([ab, below[..., 1:, :]], axis=-2)


@fused(2)
def _solveh_banded(ab, b, lower, report):
    who = "linalg.solveh_banded"
    (ab,) = as_inexact(who, ab)
    check_matrices(who, ab=ab)
    d = typeof(ab).shape[-2] - 1
    ab, b, back = _band_and_columns(who, _whole_band(ab, lower), b, d, d)
    if 0 in typeof(b).shape:
        return _nothing(b, back, report)
    x, pivots = _solved(ab, b, d, d, False)
    pivot, verdict = _first(~(xnp.real(pivots) > 0)), None
    if report:
        make = functools.partial(_equation, lower=d, upper=d, pivot=False)
        verdict = judged(make, (ab,), x, b, epsilon(b), pivot, Status.not_definite, back=back)
    return back(x), pivot, verdict


def solveh_banded(
    ab: ArrayLike, b: ArrayLike, *, lower: bool = False, report: bool = False
) -> Array | Solution:
    """The solution x of a x = b for Hermitian positive definite banded a.

    Args:
      ab: the upper half of the band, (..., u + 1, n), ab[u + i - j, j] = a[i, j]; with ``lower``
        the lower one, ab[i - j, j] = a[i, j].
      b: right-hand sides (..., n, k), or one vector (n,).
      lower: which half is given.
      report: as for ``solve_banded``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> ab = xnp.asarray([[0.0, -1.0, -1.0], [2.0, 2.0, 2.0]])
    >>> xnp.round(xc.linalg.solveh_banded(ab, xnp.asarray([1.0, 0.0, 1.0])), 4)
    Array([1., 1., 1.], dtype=float32)
    """
    return answered("linalg.solveh_banded", ab, "definite", *_solveh_banded(ab, b, lower, report))


@fused(1)
def _cholesky_banded(ab):
    (ab,) = as_inexact("linalg.cholesky_banded", ab)
    check_matrices("linalg.cholesky_banded", ab=ab)
    d, n = typeof(ab).shape[-2] - 1, typeof(ab).shape[-1]

    def one(a):
        u, _ = eliminate(a, xnp.zeros((n, 0), typeof(a).dtype), d, d, False)
        rows = u[:, : d + 1] / xnp.sqrt(u[:, :1])  # a = l u with u = D lᴴ
        by_diagonals = [_shifted(rows[:, k], -k) for k in range(d, -1, -1)]
        return xnp.stack(by_diagonals), xnp.real(u[:, 0])

    factor, pivots = over_batch(one, _whole_band(ab, False))
    return factor, _first(~(pivots > 0))


def cholesky_banded(ab: ArrayLike) -> Array:
    """The upper triangular factor r of a = rᴴ r, banded like a: (..., u + 1, n).

    Args:
      ab: the upper half of the band of Hermitian positive definite a, as in ``solveh_banded``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.cholesky_banded(xnp.asarray([[0.0, 2.0], [4.0, 2.0]]))
    Array([[0., 1.],
           [2., 1.]], dtype=float32)
    """
    factor, pivot = _cholesky_banded(ab)
    fail("linalg.cholesky_banded", ab, pivot, "definite")
    return factor


# Incomplete Cholesky


@struct
class IncompleteCholesky(LinearOperator):
    """(l lᴴ)⁻¹ for a sparse triangular l, as a preconditioner of l lᴴ ≈ a.

    Attributes:
      rows: (n, k + 1), for each row the elements of l at distances ``offsets`` left of the
        diagonal, then the diagonal's.
      offsets: the k distances.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> m = xc.linalg.incomplete_cholesky(xnp.asarray([[4.0, 5.0], [2.0, 0.0]]))
    >>> m.shape, m.rows
    ((2, 2), Array([[0., 2.],
           [1., 2.]], dtype=float32))
    """

    rows: Any
    offsets: tuple = static(default=())
    symmetric = True
    positive = True

    @property
    def shape(self):
        return (typeof(self.rows).shape[0],) * 2

    def mv(self, x: Array) -> Array:
        x = x.astype(xnp.result_type(x, self.rows))
        return self._backward(self._forward(x))  # pyright: ignore[reportReturnType]

    def _forward(self, b):
        """l⁻¹ b, row by row; the last solutions stand by."""
        most = max(self.offsets, default=0)
        places = np.asarray(self.offsets, int)

        def step(last, row):
            l, b = row
            x = (b - xnp.sum(l[:-1] * last[most - places])) / l[-1]
            return xnp.concatenate([last, x[None]])[1:], x

        return scan(step, xnp.zeros(most, typeof(b).dtype), (self.rows, b))[1]

    def _backward(self, y):
        """l⁻ᴴ y: column by column of l, which is row by row with elements moved up."""
        n, moved = self.shape[0], []
        for k, d in enumerate(self.offsets):
            moved.append(_shifted(xnp.conj(self.rows[:, k]), d))
        rows = xnp.stack([*moved, xnp.conj(self.rows[:, -1])], axis=1)[::-1]
        turned = IncompleteCholesky(rows, self.offsets)
        return turned._forward(y[::-1])[::-1] if n else y


def incomplete_cholesky(ab: ArrayLike, offsets: tuple | None = None) -> IncompleteCholesky:
    """A triangular l that has only the diagonals that a has, with l lᴴ = a on them.

    A preconditioner for ``CG``. For M-matrices, such as discrete Laplacians, it always exists.
    (Meijerink and van der Vorst 1977, "An iterative solution method for linear systems of which the
    coefficient matrix is a symmetric M-matrix") Where a pivot is not positive it does not exist, which
    raises SingularMatrixError; a larger main diagonal helps.

    Args:
      ab: diagonals (k + 1, n): the main one first, then those below it at distances ``offsets``,
        each flush left: ab[m, j] = a[j + offset, j].
      offsets: distances, ascending; (1, …, k) by default, a full band.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> m = xc.linalg.incomplete_cholesky(xnp.asarray([[4.0, 5.0], [2.0, 0.0]]))
    >>> xnp.round(m @ xnp.asarray([6.0, 7.0]), 4)
    Array([1., 1.], dtype=float32)
    """
    (ab,) = as_inexact("linalg.incomplete_cholesky", ab)
    offsets = tuple(range(1, typeof(ab).shape[0])) if offsets is None else tuple(map(int, offsets))
    if typeof(ab).ndim != 2 or typeof(ab).shape[0] != len(offsets) + 1:
        why = f"need a main diagonal and one for each of the offsets {offsets}"
        raise errors.shape_mismatch("linalg.incomplete_cholesky", why, ab=ab)
    if list(offsets) != sorted({*offsets}) or any(d < 1 for d in offsets):
        raise errors.bad_argument(
            "linalg.incomplete_cholesky", "offsets", offsets, "distances 1 <= d₁ < d₂ < …"
        )
    rows, pivot = _incomplete_rows(ab, offsets)
    fail("linalg.incomplete_cholesky", ab, pivot, "definite")
    return IncompleteCholesky(rows, offsets)


@fused(1)
def _incomplete_rows(ab, offsets: tuple):
    by_rows = [_shifted(ab[k + 1], -d) for k, d in enumerate(offsets)]
    rows = _incomplete(xnp.stack([*by_rows, ab[0]], axis=1), offsets)
    return rows, _first(~(xnp.real(rows[:, -1]) > 0))


def _incomplete(rows, offsets: tuple):
    """Row by row: l[i, j] = (a[i, j] - Σ l[i, m] conj l[j, m]) / l[j, j] over all m in the pattern
    of both rows, and l[i, i] = √(a[i, i] - Σ |l[i, m]|²)."""
    most = max(offsets, default=0)
    number = {d: k for k, d in enumerate(offsets)}

    def step(last, a):
        # last[-d] is the row at distance d; elements far from the diagonal come first
        row: list = [None] * len(offsets)
        for d in reversed(offsets):
            value = a[number[d]]
            other = last[most - d]
            for e in offsets:
                if d + e in number:
                    value = value - row[number[d + e]] * xnp.conj(other[number[e]])
            row[number[d]] = value / xnp.where(other[-1] == 0, 1, other[-1])
        left = sum((xnp.abs(x) ** 2 for x in row), xnp.zeros((), dtypes.to_real(typeof(a).dtype)))
        pivot = xnp.sqrt(xnp.real(a[-1]) - left).astype(typeof(a).dtype)
        new = xnp.stack([*row, pivot])
        return xnp.concatenate([last, new[None]])[1:], new

    start = xnp.zeros((most, len(offsets) + 1), typeof(rows).dtype)
    return scan(step, start, rows)[1]
