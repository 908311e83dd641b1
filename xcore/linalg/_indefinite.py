"""The factorisation l d lᴴ of Hermitian and symmetric matrices that need not be definite."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import numpy as xnp
from .._control import custom_jvp, while_loop
from .._core import ArrayLike, dtypes, fused, typeof
from .._ops import adjoint, conjugate, solve_with, swapped
from .._ops import matmul as product
from ..numpy._equations import solve_matrices
from ._arguments import as_inexact, check_matrices, in_lapack_dtype, modulus, over_batch
from ._range import in_units

_ALPHA = (1 + 17**0.5) / 8  # growth is bounded alike for pivots of one row and of two


def _choice(a, k):
    """(whether the pivot has two rows, the row that becomes its last one).

    (Bunch and Kaufman 1977, "Some stable methods for calculating inertia and solving symmetric linear
    systems", algorithm A)
    """
    row = xnp.arange(typeof(a).shape[0])
    below = xnp.where(row > k, modulus(a[:, k]), 0)
    r = xnp.argmax(below).astype(np.int32)
    largest, own = below[r], modulus(a[k, k])
    most = xnp.max(xnp.where((row >= k) & (row != r), modulus(a[:, r]), 0))
    keep = (own >= _ALPHA * largest) | (own * most >= _ALPHA * largest * largest)
    alone = modulus(a[r, r]) >= _ALPHA * most
    return ~keep & ~alone, xnp.where(keep, k, r)


def _exchanged(x, i, j):
    """x with two rows exchanged."""
    at_i, at_j = x[i], x[j]
    return x.at[i].set(at_j).at[j].set(at_i)


def _turned(x, hermitian: bool):
    return conjugate(x) if hermitian else x


def _columns_of_l(a, k, two, hermitian: bool):
    """(x, y) with (x y) d = the columns under the pivot d = (p q̄; q s), or x p; and these columns.

    The pivot of two rows is divided by |q|, its largest element.
    """
    n = typeof(a).shape[0]
    after = xnp.minimum(k + 1, n - 1)
    rest = xnp.arange(n) > k + two
    first, second = (xnp.where(rest, a[:, i], 0) for i in (k, after))
    p, q, s = a[k, k], a[after, k], a[after, after]
    size = xnp.where(two & (q != 0), xnp.abs(q), 1).astype(typeof(a).dtype)
    p_, q_, s_ = p / size, q / size, s / size
    det = xnp.where(two, p_ * s_ - q_ * _turned(q_, hermitian), 1)
    x = (first * s_ - second * q_) / (det * size)
    y = (second * p_ - first * _turned(q_, hermitian)) / (det * size)
    alone = first / xnp.where(p == 0, 1, p)
    x, y = xnp.where(two, x, alone), xnp.where(two, y, 0)
    return x, y, first, second


def _pivoted(a, hermitian: bool):
    """(l, d, order) of one matrix: a[order][:, order] = l d lᴴ."""
    n = typeof(a).shape[0]
    row = xnp.arange(n, dtype=np.int32)

    def eliminate(state):
        k, a, low, order, twos = state
        two, r = _choice(a, k)
        place = xnp.where(two, xnp.minimum(k + 1, n - 1), k)
        a = swapped(_exchanged(swapped(_exchanged(a, place, r)), place, r))
        low, order = _exchanged(low, place, r), _exchanged(order, place, r)
        x, y, first, second = _columns_of_l(a, k, two, hermitian)
        a = a - x[:, None] * _turned(first, hermitian) - y[:, None] * _turned(second, hermitian)
        if hermitian:  # d leaves out imaginary parts: tiny pivots must not be divided by with them
            a = xnp.where(row[:, None] == row, xnp.real(a).astype(typeof(a).dtype), a)
        low = low + xnp.where(row == k, x[:, None], 0) + xnp.where(row == k + 1, y[:, None], 0)
        return k + 1 + two, a, low, order, twos | (two & (row == k))

    start = (xnp.zeros((), np.int32), a, xnp.zeros_like(a), row, row < 0)
    # own loop: counted, in steps of one or two columns
    _, a, low, order, twos = while_loop(lambda state: state[0] < n, eliminate, start)
    beside = xnp.where((row[:, None] == row + 1) & twos, a, 0)
    middle = xnp.where(row[:, None] == row, a, 0)
    middle = xnp.real(middle).astype(typeof(a).dtype) if hermitian else middle
    d = middle + beside + _turned(swapped(beside), hermitian)
    return low + xnp.eye(n, dtype=typeof(a).dtype), d, order


def _blocks(d):
    """Where two rows belong to one pivot."""
    return (d != 0) | xnp.eye(typeof(d).shape[-1], dtype=bool)


def _factors_of(hermitian: bool):
    @custom_jvp
    def factors(a):
        return over_batch(lambda a: _pivoted(a, hermitian), a)

    @factors.defjvp
    def _(primals, tangents):
        # With the rows in their order, l⁻¹ a' l⁻ᴴ = x d + d' + d xᴴ with l' = l x: below the blocks
        # of the diagonal it is x d, in them d'.
        low, d, order = factors(*primals)
        rows = order[..., :, None]
        w = xnp.take_along_axis(tangents[0], rows, axis=-2)
        w = xnp.take_along_axis(w, swapped(rows), axis=-1)
        w = solve_with(low, w, True, unit=True)
        w = solve_with(low, w, True, left=False, transpose="C" if hermitian else "T", unit=True)
        inside = _blocks(d)
        d_dot = xnp.where(inside, w, 0)
        x = swapped(solve_matrices(swapped(d), swapped(xnp.where(inside, 0, xnp.tril(w))))[0])
        return (low, d, order), (product(low, x), d_dot, None)

    return factors


_FACTORS = {True: _factors_of(True), False: _factors_of(False)}


class LDL(NamedTuple):
    """a = L D Lᴴ; L[P] is triangular.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> a = xnp.asarray([[0.0, 2.0], [2.0, 1.0]])
    >>> L, D, P = xc.linalg.ldl(a)
    >>> L @ D @ L.T
    Array([[0., 2.],
           [2., 1.]], dtype=float32)
    """

    L: Any
    D: Any
    P: Any


@fused(1)
def ldl(a: ArrayLike, lower: bool = True, hermitian: bool = True) -> LDL:
    """(l, d, p): the factors of Hermitian matrices a = l d lᴴ that need not be definite.

    l[p] is triangular with ones on its diagonal; d has blocks of one or two rows, whose eigenvalues
    have the signs of a's. The pivots are constants to derivatives.

    Args:
      a: matrices (..., n, n), of which one triangle is read.
      lower: which one, and whether l[p] is a lower or an upper triangle.
      hermitian: False for complex symmetric matrices a = l d lᵀ.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> l, d, _ = xc.linalg.ldl(xnp.asarray([[0.0, 2.0], [2.0, 0.0]]))
    >>> l @ d @ l.mT
    Array([[0., 2.],
           [2., 0.]], dtype=float32)
    """
    a, back = in_lapack_dtype(*as_inexact("linalg.ldl", a))
    check_matrices("linalg.ldl", square=True, a=a)
    unit, a = in_units(a, (-2, -1))
    hermitian = bool(hermitian) and dtypes.is_complex(typeof(a).dtype)
    half = a if lower else a[..., ::-1, ::-1]  # elimination from the last row upwards  # pyright: ignore[reportIndexIssue]
    strict = xnp.tril(half, -1)
    middle = xnp.tril(half) - strict
    if hermitian:
        middle = xnp.real(middle).astype(typeof(a).dtype)
    whole = strict + middle + (adjoint(strict) if hermitian else swapped(strict))
    n = typeof(a).shape[-1]
    if 0 in typeof(a).shape:
        order = xnp.broadcast_to(xnp.arange(n, dtype=np.int32), typeof(a).shape[:-1])
        return LDL(back(a), back(a), order)  # pyright: ignore[reportReturnType]
    low, d, order = _FACTORS[hermitian](whole)
    if not lower:
        low, d, order = low[..., ::-1, ::-1], d[..., ::-1, ::-1], n - 1 - order[..., ::-1]
    places = xnp.argsort(order, axis=-1)[..., None]
    return LDL(back(xnp.take_along_axis(low, places, axis=-2)), back(d * unit), order)
