"""Products of tensors with matrices: unfoldings, Khatri-Rao products, and MTTKRP, the kernel of CP."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import _ops as ops
from .. import numpy as xnp
from .._control import platform_dependent
from .._core import Array, ArrayLike, errors, fused


def check_mode(who: str, mode: int, ndim: int) -> int:
    """The mode, counted from the front."""
    if not isinstance(mode, int) or isinstance(mode, bool) or not -ndim <= mode < ndim:
        raise errors.bad_argument(who, "mode", mode, f"an int from {-ndim} to {ndim - 1}")
    return mode % ndim


def unfold(x: ArrayLike, mode: int) -> Array:
    """The matrix whose rows are the slices of a tensor along a mode.

    The other modes follow each other in order, the last one fastest, as the rows of
    ``khatri_rao`` of their factors do.

    Args:
      x: tensor.
      mode: which mode becomes the rows.

    >>> import xcore.numpy as xnp
    >>> unfold(xnp.arange(6).reshape(1, 2, 3), 2)
    Array([[0, 3],
           [1, 4],
           [2, 5]], dtype=int32)
    """
    x = xnp.asarray(x)
    mode = check_mode("decomp.unfold", mode, x.ndim)
    rest = math.prod(x.shape[:mode] + x.shape[mode + 1 :])
    return xnp.moveaxis(x, mode, 0).reshape(x.shape[mode], rest)


def fold(matrix: ArrayLike, mode: int, shape: Sequence[int]) -> Array:
    """The tensor of a shape whose unfolding along a mode is the matrix.

    Args:
      matrix: array (shape[mode], product of the others), as ``unfold`` gives it.
      mode: which axis its rows are.
      shape: of the tensor.

    >>> import xcore.numpy as xnp
    >>> x = xnp.arange(6).reshape(1, 2, 3)
    >>> bool((fold(unfold(x, 1), 1, x.shape) == x).all())
    True
    """
    shape = tuple(shape)
    mode = check_mode("decomp.fold", mode, len(shape))
    rows = xnp.asarray(matrix).reshape(shape[mode], *shape[:mode], *shape[mode + 1 :])
    return xnp.moveaxis(rows, 0, mode)


def khatri_rao(matrices: Sequence) -> Array:
    """The Kronecker products of corresponding columns of matrices.

    Row (i, j, …) of the result, the last index fastest, is the product of row i of the first
    matrix, row j of the second, and so on.

    Args:
      matrices: at least one, all of the same number of columns.

    >>> import xcore.numpy as xnp
    >>> khatri_rao([xnp.eye(2), xnp.asarray([[1., 2.], [3., 4.]])])
    Array([[1., 0.],
           [3., 0.],
           [0., 2.],
           [0., 4.]], dtype=float32)
    """
    matrices = [xnp.asarray(m) for m in matrices]
    given = [tuple(m.shape) for m in matrices]
    if {len(g) for g in given} != {2} or len({g[1] for g in given}) != 1:
        wanted = "at least one matrix, as wide as each other"
        raise errors.bad_argument("decomp.khatri_rao", "matrices", given, wanted)
    out = matrices[0]
    for m in matrices[1:]:
        out = (out[:, None, :] * m[None, :, :]).reshape(out.shape[0] * m.shape[0], m.shape[1])
    return out


def transposed_khatri_rao(matrices: Sequence):
    """The transpose of ``khatri_rao``, made of long rows."""
    out = matrices[0].T
    for m in matrices[1:]:
        out = (out[:, :, None] * m.T[:, None, :]).reshape(out.shape[0], out.shape[1] * m.shape[0])
    return out


def mode_product(x: ArrayLike, matrix: ArrayLike, mode: int) -> Array:
    """A tensor multiplied by a matrix along a mode: Σ_j matrix[i, j] x[…, j, …].

    Args:
      x: an array, or a tensor in a format, which it stays in.
      matrix: of as many columns as the mode is long.
      mode: which.

    >>> import xcore.numpy as xnp
    >>> mode_product(xnp.ones((2, 3, 4)), xnp.ones((5, 3)), 1).shape
    (2, 5, 4)
    """
    with_mode = getattr(x, "_with_mode", None)
    x, matrix = x if with_mode else xnp.asarray(x), xnp.asarray(matrix)
    mode = check_mode("decomp.mode_product", mode, x.ndim)
    if matrix.ndim != 2 or matrix.shape[1] != x.shape[mode]:
        raise errors.bad_argument(
            "decomp.mode_product",
            "matrix",
            tuple(matrix.shape),
            f"a matrix of {x.shape[mode]} columns",
        )
    if with_mode:
        return with_mode(matrix, mode)
    return xnp.moveaxis(xnp.tensordot(matrix, x, axes=(1, mode)), 0, mode)


def multi_mode_product(
    x: ArrayLike, matrices: Sequence, modes: Sequence[int] | None = None, transpose: bool = False
) -> Array:
    """A tensor multiplied by a matrix along each of several modes, those that shrink it most first.

    Args:
      x: an array, or a tensor in a format.
      matrices: one for each mode; None leaves its mode alone.
      modes: which; default all in order.
      transpose: multiply by the conjugate transposes.

    >>> import xcore.numpy as xnp
    >>> multi_mode_product(xnp.ones((2, 3)), [xnp.ones((4, 2)), None]).shape
    (4, 3)
    """
    modes = range(len(matrices)) if modes is None else modes
    if len(modes) != len(matrices):
        who, wanted = "decomp.multi_mode_product", f"{len(matrices)} modes, one for each matrix"
        raise errors.bad_argument(who, "modes", tuple(modes), wanted)
    pairs = [(m, n) for m, n in zip(matrices, modes, strict=True) if m is not None]
    if transpose:
        pairs = [(m.mT.conj(), n) for m, n in pairs]
    for matrix, mode in sorted(pairs, key=lambda p: p[0].shape[0] / max(p[0].shape[1], 1)):
        x = mode_product(x, matrix, mode)
    return x  # pyright: ignore[reportReturnType]


def large_product(x, y, contract=((1,), (0,))):
    """The product of a tensor and what its factors make, whichever comes first.

    The smaller one is fenced: XLA for GPUs joins two products that share it (that of its columns with each
    other is one), and copies the tensor for that.
    """
    dtype = xnp.result_type(x, y)
    x, y = x.astype(dtype), y.astype(dtype)
    small = x if math.prod(x.shape) < math.prod(y.shape) else y
    (fenced,) = ops.optimization_barrier(small)
    x, y = (fenced if v is small else v for v in (x, y))
    precision = ops.precision_name(None)
    return ops.dot_general(x, y, contract=contract, batch=((), ()), precision=precision)


@fused(2)
def _mttkrp(x, factors, mode):
    before, after = factors[:mode], factors[mode + 1 :]
    rows, rank = x.shape[mode], factors[mode - 1].shape[1]
    right = math.prod(x.shape[mode + 1 :])
    if not before:
        return platform_dependent(x, *after, cpu=_first_mode, default=_first_mode_by_last)
    # one matrix product that leaves x as it lies; what is left is small
    first = first_modes(x.shape[:mode], 4 * rank)
    size = math.prod(x.shape[:first])
    if size < 4 * rank and right > size:
        partial = large_product(transposed_khatri_rao(after), x.reshape(-1, right), ((1,), (1,)))
        partial = partial.reshape(rank, -1, rows)
        return xnp.einsum("rij,ri->jr", partial, transposed_khatri_rao(before))
    partial = large_product(transposed_khatri_rao(before[:first]), x.reshape(size, -1))
    if first < mode:
        partial = partial.reshape(rank, -1, rows * right)
        rest = transposed_khatri_rao(before[first:])
        partial = xnp.einsum("rij,ri->rj", partial, rest)
    if not after:
        return partial.reshape(rank, rows).T
    partial = partial.reshape(rank, rows, right)
    return xnp.einsum("rij,rj->ir", partial, transposed_khatri_rao(after))


def _first_mode(x, *after):
    return large_product(x.reshape(x.shape[0], -1), khatri_rao(after))


def _first_mode_by_last(x, *after):
    """The same by way of the last modes alone. What sums over all others at once a GPU splits, and
    copies the tensor for it."""
    rank = after[0].shape[1]
    count = first_modes(x.shape[:0:-1], 4 * rank)
    if count == len(after):
        return _first_mode(x, *after)
    last = khatri_rao(after[-count:])
    partial = large_product(x.reshape(-1, last.shape[0]), last)
    return (partial.reshape(x.shape[0], -1, rank) * khatri_rao(after[:-count])).sum(1)


def first_modes(shape, least: int) -> int:
    """How many modes, at least one, have so many elements together; all of them if none do."""
    for count in range(1, len(shape)):
        if math.prod(shape[:count]) >= least:
            return count
    return len(shape)


def mttkrp(x: ArrayLike, factors: Sequence, mode: int) -> Array:
    """The unfolding of a tensor times the Khatri-Rao product of all factors but one.

    M[i, r] = Σ x[…, i, …] · Π_{k ≠ mode} factors[k][i_k, r]. The product with the longer side is one
    matrix product, so the Khatri-Rao product of all of them is never formed.

    Args:
      x: tensor of two or more modes.
      factors: a matrix (I_k, R) for each mode; that of ``mode`` is not read.
      mode: the one that stays.

    >>> import xcore.numpy as xnp
    >>> mttkrp(xnp.ones((2, 3, 4)), [xnp.ones((n, 2)) for n in (2, 3, 4)], 0)
    Array([[12., 12.],
           [12., 12.]], dtype=float32)
    """
    x = xnp.asarray(x)
    mode = check_mode("decomp.mttkrp", mode, x.ndim)
    factors = [xnp.asarray(f) for f in factors]
    wanted = [(n, factors[0].shape[-1]) for n in x.shape] if factors else []
    given = [tuple(f.shape) for f in factors]
    if (
        x.ndim < 2
        or len(given) != x.ndim
        or any(g != w for k, (g, w) in enumerate(zip(given, wanted, strict=True)) if k != mode)
    ):
        raise errors.bad_argument(
            "decomp.mttkrp",
            "factors",
            given,
            f"matrices of {tuple(x.shape)} rows, one for each mode",
        )
    return _mttkrp(x, factors, mode)


def squared_norm(x):
    """Σ |x|²."""
    return (x * x.conj()).real.sum()
