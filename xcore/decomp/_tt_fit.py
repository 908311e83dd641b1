"""Tensor trains of dense tensors and of functions, and shorter trains of longer ones.

Oseledets 2011 (doi 10.1137/090752286); cross interpolation: Oseledets, Tyrtyshnikov 2010
(doi 10.1016/j.laa.2009.07.024), with rows of largest volume (Goreinov et al. 2010).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .. import random
from .._control import while_loop
from .._core import DTypeLike, Key, Shape, errors, fused
from ._common import check_count, check_tensor
from ._tt import TT
from ._tucker_fit import _budget, _one_of, _rank_for, squares_tell
from ._units import in_units

if TYPE_CHECKING:
    from ._formats import Tensor


def _bonds(who: str, ranks, shape) -> tuple:
    """The inner ranks, none larger than the unfolding allows; an int stands for all."""
    n = len(shape) - 1
    given = (ranks,) * n if isinstance(ranks, (int, np.integer)) else tuple(ranks)
    if len(given) == n + 2 and given[0] == given[-1] == 1:
        given = given[1:-1]
    if len(given) != n or not all(isinstance(r, (int, np.integer)) and r >= 1 for r in given):
        raise errors.bad_argument(who, "ranks", ranks, f"an int of at least 1, or {n} of them")
    out, left = [], 1
    for k, r in enumerate(given):
        right = int(np.prod(shape[k + 1 :], dtype=np.float64).clip(max=2**62))
        left = min(int(r), left * shape[k], right)
        out.append(left)
    return tuple(out)


def tt_svd(x: Tensor, ranks: int | Sequence[int] | None = None, *, rtol: float | None = None) -> TT:
    """A tensor train by singular value decompositions from the left.

    Its squared error is at most the sum of what the cuts leave out: within √(N-1) of the best one.

    Args:
      x: dense tensor of two or more modes.
      ranks: an int, or one for each bond between neighbouring modes.
      rtol: or: as small as possible with ‖x - result‖ ≤ rtol ‖x‖ (not under ``jit``).

    >>> import xcore.numpy as xnp
    >>> tt_svd(xnp.ones((3, 4, 5)), rtol=1e-3).rank
    (1, 1, 1, 1)
    """
    who = "decomp.tt_svd"
    x, units = in_units(check_tensor(who, x, masked=False)[0])
    _one_of(who, ranks, rtol)
    if rtol is None:
        return units.sized(_tt_svd(x, _bonds(who, ranks, x.shape)))
    budget, cores, rank = _budget(who, x, rtol, x.ndim - 1), [], 1
    rest = x
    for n in x.shape[:-1]:
        matrix = rest.reshape(rank * n, -1)
        basis, values, rest = _split_now(matrix, squares_tell(rank * n, x.dtype, rtol))
        cut = _rank_for(values, budget)
        cores.append(basis[:, :cut].reshape(rank, n, cut))
        rest, rank = rest[:cut], cut
    return units.sized(TT((*cores, rest.reshape(rank, -1, 1))))


def _split(m, coarse: bool = True):
    """m = basis · rest with orthonormal columns, most important first, and squared singular values.

    If ``coarse``, the short side's Gram matrix is enough; it resolves singular values down to √eps of the largest.
    """
    rows, columns = m.shape
    if coarse and rows * 4 <= columns:
        values, basis = xnp.linalg.eigh(m @ m.conj().T)
        basis = basis[:, ::-1]
        return basis, xnp.maximum(values[::-1], 0), basis.conj().T @ m
    u, s, vh = xnp.linalg.svd(m, full_matrices=False)
    return u, s * s, s[:, None] * vh


_split_now = fused(1)(_split)


@fused(1)
def _tt_svd(x, bonds):
    cores, rank, shape = [], 1, x.shape
    for n, cut in zip(shape[:-1], bonds, strict=True):
        basis, _, rest = _split(x.reshape(rank * n, -1))
        cores.append(basis[:, :cut].reshape(rank, n, cut))
        x, rank = rest[:cut], cut
    return TT((*cores, x.reshape(rank, shape[-1], 1)))


def round_tt(x: TT, ranks: int | Sequence[int] | None = None, *, rtol: float | None = None) -> TT:
    """A shorter train near a train, without the full tensor: by QR from the right, SVD from the left.

    Args:
      x: a tensor train, for example a sum.
      ranks: an int, or one for each bond.
      rtol: or: as small as possible with ‖x - result‖ ≤ rtol ‖x‖ (not under ``jit``).

    >>> import xcore.numpy as xnp
    >>> t = tt_svd(xnp.ones((3, 4, 5)), 1)
    >>> round_tt(t + t, rtol=1e-3).rank
    (1, 1, 1, 1)
    """
    who = "decomp.round_tt"
    if not isinstance(x, TT):
        raise errors.bad_argument(who, "x", x, "a TT", "For a dense tensor: tt_svd.")
    _one_of(who, ranks, rtol)
    cores = _orthogonal_from_right(x)
    cores[0], units = in_units(cores[0])
    bonds = _bonds(who, ranks, x.shape) if rtol is None else None
    budget = _budget(who, cores[0], rtol, max(x.ndim - 1, 1)) if rtol is not None else 0.0
    for k in range(x.ndim - 1):
        left, n, right = cores[k].shape
        u, s, vh = xnp.linalg.svd(cores[k].reshape(left * n, right), full_matrices=False)
        cut = _rank_for(s * s, budget) if bonds is None else min(bonds[k], s.shape[0])
        cores[k] = u[:, :cut].reshape(left, n, cut)
        cores[k + 1] = xnp.tensordot(s[:cut, None] * vh[:cut], cores[k + 1], axes=1)
    return units.sized(TT(tuple(cores)))


def _orthogonal_from_right(x: TT) -> list:
    """The cores of the same train, all but the first with orthonormal rows."""
    cores = list(x.cores)
    for k in range(len(cores) - 1, 0, -1):
        left, n, right = cores[k].shape
        q, r = xnp.linalg.qr(cores[k].reshape(left, n * right).conj().T)
        cores[k] = q.conj().T.reshape(q.shape[1], n, right)
        cores[k - 1] = xnp.tensordot(cores[k - 1], r.conj().T, axes=1)
    return cores


# Cross interpolation


def tt_cross(
    f: Callable, shape: Shape, rank: int, *, key: Key | None = None, max_steps: int = 4,
    dtype: DTypeLike | None = None,
) -> TT:  # fmt: skip
    """A tensor train of a function of integer positions, from few of its values.

    Each sweep goes from left to right and back, and at each bond takes the rows of largest volume
    of a matrix of values; the train agrees with the function where these cross.

    Args:
      f: ``f(positions)`` with positions (P, N) gives P values; it is called with traced arrays.
      shape: lengths of the modes.
      rank: of all bonds (smaller where a mode is too short for it).
      key: a random key for the positions to start from; default ``random.key(0)``.
      max_steps: sweeps, in both directions.
      dtype: of the values; default that of ``f``'s.

    >>> import xcore.numpy as xnp
    >>> t = tt_cross(lambda p: 1.0 / (1 + p.sum(-1)), (8, 8, 8, 8), 5)
    >>> abs(float(t[1, 2, 3, 4]) - 1 / 11) < 1e-4
    True
    """
    who = "decomp.tt_cross"
    shape = tuple(int(n) for n in shape)
    if len(shape) < 2 or min(shape) < 1:
        raise errors.bad_argument(who, "shape", shape, "lengths of two or more modes")
    if not callable(f):
        raise errors.bad_argument(who, "f", f, "a function of positions (P, N)")
    bonds = (1, *_bonds(who, rank, shape), 1)
    key = random.key(0) if key is None else key
    keys = random.split(key, len(shape))
    right = [_random_positions(k, shape[i + 1 :], bonds[i + 1]) for i, k in enumerate(keys)]
    left: list = [xnp.zeros((1, 0), np.int32)] + [None] * (len(shape) - 1)
    cores: list = [None] * len(shape)
    for _ in range(check_count(who, "max_steps", max_steps, 1)):
        for k in range(len(shape) - 1):
            values = _cross_values(f, left[k], shape[k], right[k], dtype)
            q = xnp.linalg.qr(values.reshape(-1, values.shape[2]))[0]
            rows, _ = _largest_volume(q)
            left[k + 1] = _extended(left[k], shape[k])[rows]
        for k in range(len(shape) - 1, 0, -1):
            values = _cross_values(f, left[k], shape[k], right[k], dtype)
            q = xnp.linalg.qr(values.reshape(values.shape[0], -1).T)[0]
            rows, weights = _largest_volume(q)
            right[k - 1] = _extended_left(shape[k], right[k])[rows]
            cores[k] = weights.T.reshape(weights.shape[1], shape[k], -1)
    cores[0] = _cross_values(f, left[0], shape[0], right[0], dtype)
    return TT(tuple(cores))


def _random_positions(key, shape, count: int):
    """Rows of positions in the modes of a shape, all different in their first mode where possible."""
    if not shape:
        return xnp.zeros((1, 0), np.int32)
    keys = random.split(key, len(shape))
    columns = [
        random.randint(k, (count,), 0, n, np.int32) for k, n in zip(keys, shape, strict=True)
    ]
    spread = (columns[0] // max(count, 1) + xnp.arange(count)) % shape[0]
    return xnp.stack([spread.astype(np.int32), *columns[1:]], 1)


def _cross_values(f, left, n: int, right, dtype):
    """f at every combination of positions on the left, in the middle, and on the right."""
    a, b = left.shape[0], right.shape[0]
    grid = xnp.concatenate([
        xnp.broadcast_to(left[:, None, None], (a, n, b, left.shape[1])),
        xnp.broadcast_to(xnp.arange(n, dtype=np.int32)[None, :, None, None], (a, n, b, 1)),
        xnp.broadcast_to(right[None, None], (a, n, b, right.shape[1])),
    ], -1)  # fmt: skip
    values = xnp.asarray(f(grid.reshape(a * n * b, -1)))
    if tuple(values.shape) != (a * n * b,):
        raise errors.bad_argument(
            "decomp.tt_cross",
            "f",
            errors.Words(f"values of shape {tuple(values.shape)}"),
            f"one value for each of {a * n * b} rows",
        )
    return values.reshape(a, n, b).astype(values.dtype if dtype is None else dtype)


def _extended(left, n: int):
    """Positions on the left with every position in the next mode."""
    a = left.shape[0]
    middle = xnp.broadcast_to(xnp.arange(n, dtype=np.int32)[None, :, None], (a, n, 1))
    return xnp.concatenate(
        [xnp.broadcast_to(left[:, None], (a, n, left.shape[1])), middle], -1
    ).reshape(a * n, -1)


def _extended_left(n: int, right):
    b = right.shape[0]
    middle = xnp.broadcast_to(xnp.arange(n, dtype=np.int32)[:, None, None], (n, b, 1))
    return xnp.concatenate(
        [middle, xnp.broadcast_to(right[None], (n, b, right.shape[1]))], -1
    ).reshape(n * b, -1)


@fused(1)
def _largest_volume(q):
    """Rows whose square matrix has (nearly) the largest determinant, and all rows in terms of these.

    Starts from the pivots of an elimination; then swaps in a row while that enlarges the volume by
    more than a twentieth.
    """
    rank = q.shape[1]
    order = ops.lu(q)[2][:rank]
    weights = xnp.linalg.solve(q[order].T, q.T).T

    def going(s):
        return (xnp.abs(s[1]).max() > 1.05) & (s[2] < 100)

    def swap(s):
        rows, weights, count = s
        at = xnp.argmax(xnp.abs(weights))
        i, j = at // rank, at % rank
        row = weights[i].at[j].add(-1)
        weights = weights - xnp.outer(weights[:, j], row) / weights[i, j]
        return rows.at[j].set(i.astype(rows.dtype)), weights, count + np.int32(1)

    # own loop: inside a sweep
    rows, weights, _ = while_loop(going, swap, (order, weights, xnp.zeros((), np.int32)))
    return rows, weights
