"""Echelon forms over the reals, the complex numbers and the prime fields: the textbook's elimination.

One loop over the columns does it all. What it needs of numbers is an arithmetic: which pivot to
choose, what counts as zero, how to divide and to subtract. Rank, inverse, determinant, solutions and
null spaces over a field are read off the reduced form.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import fori_loop, scan
from .._core import Array, ArrayLike, dtypes, errors, fused, static, struct, typeof
from ..numpy._promote import as_array
from ._arguments import as_inexact, check_matrices, epsilon, modulus, over_batch

# Arithmetics


@struct
class Numbers:
    """Floating and complex numbers; what is at most ``tol`` in modulus counts as zero."""

    tol: Any

    def choose(self, column, allowed):
        """The largest element: (its place, its value, whether it is not zero, whether it is).

        NaN is neither.
        """
        size = xnp.where(allowed, modulus(column), -1)
        place = ops.argmax(size, axis=0, dtype=dtypes.int32)
        return place, column[place], size[place] > self.tol, size[place] <= self.tol

    def divide(self, x, pivot):
        return x / xnp.where(pivot == 0, 1, pivot)

    def subtract(self, x, factors, row):
        return x - factors[:, None] * row

    def times(self, x, y):
        return x * y

    def negative(self, x):
        return -x


@struct
class Residues:
    """Integers modulo a prime, as 0, …, p - 1."""

    p: int = static()

    def choose(self, column, allowed):
        """The first element that is not zero."""
        nonzero = allowed & (column != 0)
        place = ops.argmax(nonzero, axis=0, dtype=dtypes.int32)
        return place, column[place], nonzero[place], ~nonzero[place]

    def divide(self, x, pivot):
        return self.times(x, self.inverse(pivot))

    def inverse(self, x):
        """x to the power p - 2, the inverse by Fermat's little theorem (0 of 0), by squaring."""
        if self.p == 2:
            return x
        result = xnp.ones_like(x)
        for bit in bin(self.p - 2)[2:]:
            result = self.times(result, result)
            result = self.times(result, x) if bit == "1" else result
        return result

    def subtract(self, x, factors, row):
        if self.p == 2:
            return x ^ (factors[:, None] & row)
        return (x - factors[:, None] * row) % self.p

    def times(self, x, y):
        return (x * y) % self.p

    def negative(self, x):
        return -x % self.p


def residue_dtype(p: int):
    """Integers that hold products of two residues."""
    return np.int8 if p == 2 else np.int32 if p <= 46341 else np.int64


def check_field(who: str, p) -> int:
    """A prime below 2³¹."""
    fits = isinstance(p, (int, np.integer)) and 2 <= p < 2**31
    if not fits or any(p % d == 0 for d in range(2, math.isqrt(p) + 1)):
        raise errors.bad_argument(who, "field", p, "a prime below 2**31, the number of elements")
    return int(p)


def residues(who: str, x, p: int):
    """Integers as residues."""
    x = as_array(who, x)
    t = typeof(x)
    if dtypes.kind(t.dtype) not in ("int", "uint", "bool"):
        raise errors.dtype_not_allowed(who, t.dtype, "integer and bool (with field=)")
    if t.dtype == bool:
        x = x.astype(np.int8)
    wide = x if t.dtype.itemsize >= 4 and p < 2**31 else x.astype(np.int64)
    return (wide % p).astype(residue_dtype(p))


# The loop


@struct
class State:
    """Where an elimination is.

    Attributes:
      a: the matrix.
      rank: pivots so far, which is the row where the next one goes.
      pivots: for each row the column of its pivot, -1 while it has none.
      det: product of the pivots, with the sign of the exchanges.
    """

    a: Any
    rank: Any
    pivots: Any
    det: Any


def start(a) -> State:
    m = typeof(a).shape[0]
    zero = xnp.zeros((), np.int32)
    return State(a, zero, xnp.full(m, -1, np.int32), xnp.ones((), typeof(a).dtype))


def step(state: State, j, arithmetic, reduced: bool):
    """Eliminate column j. Returns the state, and (row exchanged, factors) of what was done."""
    a, r, m = state.a, state.rank, typeof(state.a).shape[0]
    rows = ops.iota(shape=(m,), dtype=dtypes.int32, axis=0)
    column = a[:, j]
    place, value, found, zero = arithmetic.choose(column, rows >= r)
    here = xnp.minimum(r, m - 1)
    place = xnp.where(found, place, here)
    chosen, other = a[place], a[here]
    swapped = xnp.where((rows == place)[:, None], other, a)
    lead = arithmetic.divide(chosen, value) if reduced else chosen
    column = swapped[:, j]
    to_clear = (rows != r) if reduced else (rows > r)
    factors = xnp.where(to_clear, column if reduced else arithmetic.divide(column, value), 0)
    below = arithmetic.subtract(swapped, factors.astype(typeof(a).dtype), lead)
    done = xnp.where((rows == r)[:, None], lead, below)
    here_only = xnp.arange(typeof(a).shape[1]) == j
    cleared = to_clear[:, None] & here_only
    done = xnp.where(cleared | (done == 0), 0, done)  # zeros, not -0 or what rounding leaves
    rest = xnp.where((rows >= r)[:, None] & here_only & zero, 0, a)
    det = arithmetic.times(state.det, value)
    det = xnp.where(place == here, det, arithmetic.negative(det))
    after = State(
        xnp.where(found, done, rest).astype(typeof(a).dtype),
        r + found.astype(np.int32),
        xnp.where((rows == r) & found, j, state.pivots),
        xnp.where(found, det, state.det).astype(typeof(a).dtype),
    )
    return after, (
        xnp.where(found, place, -1),
        xnp.where(found, factors, 0).astype(typeof(a).dtype),
    )


def eliminate(a, columns: int, arithmetic, reduced: bool) -> State:
    """All columns of one matrix up to a number, in turn."""
    if 0 in typeof(a).shape:
        return start(a)
    j = lambda i: i.astype(np.int32) if hasattr(i, "astype") else np.int32(i)  # noqa: E731
    return fori_loop(0, columns, lambda i, s: step(s, j(i), arithmetic, reduced)[0], start(a))


def numbers_for(who: str, a, field):
    """Matrices as what an elimination works on."""
    a = as_inexact(who, a)[0] if field is None else residues(who, a, check_field(who, field))
    check_matrices(who, a=a)
    return a


def arithmetic_for(a, field, tol):
    """The arithmetic for one matrix."""
    if field is not None:
        return Residues(int(field))
    if tol is None:  # what rounding makes of a zero
        size = xnp.max(modulus(a), initial=0)
        tol = max(typeof(a).shape[-2:], default=1) * epsilon(a) * size
    return Numbers(xnp.asarray(tol))


def _public(x, field):
    """Residues as int32: they fit, and int8 or int64 are our own business."""
    return x if field is None else x.astype(np.int32)


@fused(1)
def forms(a, who, reduced, field, tol, columns=None):
    """(matrix, rank, pivots, det) of every matrix of a batch."""
    a = numbers_for(who, a, field)
    columns = typeof(a).shape[-1] if columns is None else columns

    def one(a):
        s = eliminate(a, columns, arithmetic_for(a, field, tol), reduced)
        return s.a, s.rank, s.pivots, s.det

    out, rank, pivots, det = over_batch(one, a)
    return _public(out, field), rank, pivots, _public(det, field)


# Faces


def row_echelon(
    a: ArrayLike, *, field: int | None = None, tol: float | None = None, return_steps: bool = False
) -> Array | EliminationSteps:
    """A row echelon form: below and left of each row's first nonzero number stand zeros.

    Rows are exchanged so that the largest possible pivot is used (over a field, the first).

    Args:
      a: matrices (..., m, n).
      field: a prime p, to calculate with integers modulo p.
      tol: numbers up to this modulus count as zero; by default max(m, n) times the precision times
        the largest number.
      return_steps: return the ``EliminationSteps`` of one matrix instead; its ``matrices[-1]`` is the
        form.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.row_echelon(xnp.asarray([[1.0, 2.0], [2.0, 4.0]]))
    Array([[2., 4.],
           [0., 0.]], dtype=float32)
    """
    if return_steps:
        return elimination_steps(a, field=field, tol=tol)
    return forms(a, "linalg.row_echelon", False, field, tol)[0]


def rref(
    a: ArrayLike, *, field: int | None = None, tol: float | None = None, return_steps: bool = False
) -> Array | EliminationSteps:
    """The reduced row echelon form: pivots are 1 and stand alone in their columns.

    Args:
      a, field, tol, return_steps: as in ``row_echelon``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.rref(xnp.asarray([[1.0, 2.0, 3.0], [2.0, 4.0, 8.0]]))
    Array([[1., 2., 0.],
           [0., 0., 1.]], dtype=float32)
    >>> xc.linalg.rref(xnp.asarray([[2, 1], [1, 1]]), field=5)
    Array([[1, 0],
           [0, 1]], dtype=int32)
    """
    if return_steps:
        return elimination_steps(a, reduced=True, field=field, tol=tol)
    return forms(a, "linalg.rref", True, field, tol)[0]


def pivot_count(a, *, field: int | None = None, tol: float | None = None):
    """How many pivots the elimination finds: the rank."""
    return forms(a, "linalg.matrix_rank", False, field, tol)[1]


@struct
class EliminationSteps:
    """An elimination, step by step.

    Attributes:
      matrices: (s + 1, m, n), the matrix at first and after each column.
      pivots: (s,), the column of each step's pivot; -1 where the column had none left.
      exchanged: (s,), the row that came to the pivot's place; -1 without a pivot.
      factors: (s, m), what times the pivot's row was subtracted from each row.
      reduced: whether rows above the pivots were cleared too.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> steps = xc.linalg.elimination_steps(xnp.asarray([[2.0, 4.0], [1.0, 5.0]]))
    >>> steps.matrices[-1]
    Array([[2., 4.],
           [0., 3.]], dtype=float32)
    """

    matrices: Any
    pivots: Any
    exchanged: Any
    factors: Any
    reduced: bool = static()

    def describe(self) -> list[str]:
        """One line for each step that did something, rows counted from 1.

        >>> import xcore.numpy as xnp
        >>> elimination_steps(xnp.asarray([[1.0, 2.0], [2.0, 6.0]])).describe()
        ['column 1: exchange rows 1 and 2; row 2 -= 0.5 row 1', 'column 2: pivot -1']
        """
        lines, r = [], 0
        for j, (p, factors) in enumerate(zip(np.asarray(self.exchanged), np.asarray(self.factors))):
            if p < 0:
                continue
            what = [f"exchange rows {r + 1} and {p + 1}"] if p != r else []
            what += ["make the pivot 1"] if self.reduced else []
            what += [f"row {i + 1} -= {x:.4g} row {r + 1}" for i, x in enumerate(factors) if x != 0]
            what = what or [f"pivot {np.asarray(self.matrices[j + 1])[r, j]:.4g}"]
            lines.append(f"column {j + 1}: " + "; ".join(what))
            r += 1
        return lines


@fused(1)
def _steps(a, reduced, field, tol):
    a = numbers_for("linalg.elimination_steps", a, field)
    arithmetic = arithmetic_for(a, field, tol)
    if typeof(a).ndim > 2 or 0 in typeof(a).shape:
        why = "need one matrix that is not empty"
        raise errors.shape_mismatch("linalg.elimination_steps", why, a=a)

    def body(state, j):
        after, (place, factors) = step(state, j, arithmetic, reduced)
        return after, (after.a, place, factors)

    columns = xnp.arange(typeof(a).shape[1], dtype=np.int32)
    _, (matrices, places, factors) = scan(body, start(a), columns)  # pyright: ignore[reportGeneralTypeIssues]
    matrices = xnp.concatenate([a[None], matrices])
    pivots = xnp.where(places >= 0, columns, -1)
    return EliminationSteps(
        _public(matrices, field), pivots, places, _public(factors, field), reduced
    )


def elimination_steps(
    a: ArrayLike, *, reduced: bool = False, field: int | None = None, tol: float | None = None
) -> EliminationSteps:
    """Every step of the elimination of one matrix, to look at. For equations give (a b).

    Args:
      a: matrix (m, n).
      reduced: go on to the reduced row echelon form.
      field: a prime p, for integers modulo p.
      tol: pivots of at most this modulus count as zero.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.elimination_steps(xnp.asarray([[2.0, 1.0], [4.0, 1.0]])).matrices[-1]
    Array([[4. , 1. ],
           [0. , 0.5]], dtype=float32)
    """
    return _steps(a, reduced, field, tol)
