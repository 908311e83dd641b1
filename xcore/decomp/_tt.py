"""Tensor trains: a chain of small three-way cores."""

from __future__ import annotations

import functools
import itertools

import numpy as np

from .. import numpy as xnp
from .._core import Array, errors, struct
from . import _index
from ._cp import Format, _as_inexact, _is_scalar


@struct
class TT(Format):
    """A tensor x[i, j, …, k] = cores[0][0, i] @ cores[1][:, j] @ … @ cores[-1][:, k, 0].

    A pytree of its cores. Positions give elements and slices give a TT of the part, without
    forming the whole.

    Attributes:
      cores: arrays (R_{k-1}, I_k, R_k), with R_0 = R_N = 1.

    >>> import xcore.numpy as xnp
    >>> t = TT((xnp.ones((1, 3, 2)), xnp.ones((2, 4, 1))))
    >>> t.shape, t.rank, t[0, 3]
    ((3, 4), (1, 2, 1), Array(2., dtype=float32))
    """

    cores: tuple

    def __post_init__(self):
        cores = tuple(_as_inexact(c) for c in self.cores)
        given = [tuple(c.shape) for c in cores]
        fits = bool(cores) and all(len(g) == 3 for g in given)
        fits = fits and given[0][0] == given[-1][2] == 1
        if not fits or any(a[2] != b[0] for a, b in itertools.pairwise(given)):
            raise errors.bad_argument(
                "decomp.TT",
                "cores",
                given,
                "arrays (R_{k-1}, I_k, R_k) that fit together, with 1 at both ends",
            )
        object.__setattr__(self, "cores", cores)

    @property
    def shape(self) -> tuple:
        """Lengths of the modes."""
        return tuple(c.shape[-2] for c in self.cores)

    @property
    def rank(self) -> tuple:
        """Lengths of the bonds, from 1 to 1."""
        return (*[c.shape[-3] for c in self.cores], self.cores[-1].shape[-1])

    @property
    def dtype(self) -> np.dtype:
        """Of the elements."""
        return functools.reduce(xnp.promote_types, [c.dtype for c in self.cores])

    __repr__ = Format.__repr__

    def to_dense(self) -> Array:
        """The whole tensor."""
        out = self.cores[0][0]
        for core in self.cores[1:]:
            out = xnp.tensordot(out, core, axes=1)
        return out[..., 0]

    def __getitem__(self, index):
        return _getitem(self, _index.parse("decomp.TT", index, self.shape))

    def __add__(self, other):
        """Cores stand on a diagonal: ranks add."""
        other = _matching("addition", self, other)
        if other is NotImplemented or self.ndim == 1:
            return other if other is NotImplemented else TT((self.cores[0] + other.cores[0],))
        last = self.ndim - 1
        return TT(
            tuple(
                _beside(a, b, k == 0, k == last)
                for k, (a, b) in enumerate(zip(self.cores, other.cores, strict=True))
            )
        )

    def _with_mode(self, matrix, mode: int):
        """The product with a matrix along a mode."""
        cores = list(self.cores)
        cores[mode] = xnp.einsum("ij,ajb->aib", matrix, cores[mode])
        return TT(tuple(cores))

    def __neg__(self):
        return self * -1

    def __mul__(self, other):
        """By a scalar, or element by element by another TT (ranks multiply)."""
        if isinstance(other, TT):
            _matching("multiplication", self, other)
            return TT(
                tuple(_slicewise_kron(a, b) for a, b in zip(self.cores, other.cores, strict=True))
            )
        return TT((self.cores[0] * other, *self.cores[1:])) if _is_scalar(other) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self * (1 / other) if _is_scalar(other) else NotImplemented


def _matching(what: str, a: TT, b):
    if not isinstance(b, TT):
        return NotImplemented
    if a.shape != b.shape:
        raise errors.shape_mismatch(f"decomp.TT {what}", left=a, right=b)
    return b


def _beside(a, b, first: bool, last: bool):
    """The block diagonal of two cores; a row at the start of the chain, a column at its end."""
    if first:
        return xnp.concatenate([a, b], 2)
    if last:
        return xnp.concatenate([a, b], 0)
    return xnp.pad(a, [(0, b.shape[0]), (0, 0), (0, b.shape[2])]) + xnp.pad(
        b, [(a.shape[0], 0), (0, 0), (a.shape[2], 0)]
    )


def _slicewise_kron(a, b):
    out = a[:, None, :, :, None] * b[None, :, :, None, :]
    return out.reshape(a.shape[0] * b.shape[0], a.shape[1], a.shape[2] * b.shape[2])


def _getitem(t: TT, items):
    points = _index.pointwise("decomp.TT", items)
    if not any(map(_index.is_slice, items)):
        return _elements(t, items)
    first, last = _index.span(items) if points else (0, -1)
    if any(map(_index.is_slice, items[first : last + 1])):
        cores, matrix = _fan(t.cores[: last + 1], items)
    else:
        cores, matrix = [core[:, i] for core, i in zip(t.cores[:first], items, strict=False)], None
        if points:
            met = functools.reduce(
                xnp.matmul, map(_matrices, t.cores[first : last + 1], items[first:])
            )
            cores.append(xnp.moveaxis(met, 0, 1))
    for core, i in zip(t.cores[last + 1 :], items[last + 1 :], strict=True):
        part = core[:, i]
        if _index.is_slice(i):
            cores.append(part if matrix is None else xnp.tensordot(matrix, part, axes=1))
            matrix = None
        else:
            matrix = part if matrix is None else matrix @ part
    if matrix is not None:
        cores[-1] = xnp.tensordot(cores[-1], matrix, axes=1)
    return TT(tuple(cores))


def _matrices(core, i):
    """The core's matrices at a position or at several, (P, R, R')."""
    return xnp.moveaxis(core[:, xnp.atleast_1d(i)], 1, 0)


def _fan(cores, items):
    """A train for each of P points, P the first mode and carried along the bonds to the last index array.

    (cores, the matrix that comes after them)
    """
    (count,) = np.broadcast_shapes(*[xnp.shape(i) for i in items if not _index.is_slice(i)])
    eye = xnp.eye(count, dtype=cores[0].dtype)
    out = [eye[None]]
    now = xnp.ones((count, 1, 1), cores[0].dtype)
    for core, i in zip(cores, items, strict=False):
        if not _index.is_slice(i):
            now = now @ _matrices(core, i)
            continue
        part = xnp.einsum("pab,bnc->panc", now, core[:, i])
        _, a, n, c = part.shape
        out.append(xnp.einsum("panc,pq->panqc", part, eye).reshape(count * a, n, count * c))
        now = xnp.broadcast_to(xnp.eye(c, dtype=core.dtype), (count, c, c))
    return out, now.reshape(-1, now.shape[-1])


def _elements(t: TT, items):
    """Products of matrices, point by point."""
    shape = functools.reduce(
        np.broadcast_shapes,
        [
            ()
            if _index.rank_of(i) == 0
            else np.shape(i)
            if not hasattr(i, "shape")
            else tuple(i.shape)
            for i in items
        ],
    )
    row = None
    for core, i in zip(t.cores, items, strict=True):
        part = xnp.moveaxis(core, 1, 0)[i]  # (…, R, R')
        row = part[..., 0, :] if row is None else xnp.einsum("...a,...ab->...b", row, part)
    return xnp.broadcast_to(row[..., 0], shape)  # pyright: ignore[reportOptionalSubscript]


def inner_tt(a: TT, b: TT):
    """Σ conj(a) b, from left to right."""
    met = xnp.ones((1, 1), xnp.promote_types(a.dtype, b.dtype))
    for x, y in zip(a.cores, b.cores, strict=True):
        met = xnp.einsum("abd,abe->de", x.conj(), xnp.tensordot(met, y, axes=1))
    return met[0, 0]
