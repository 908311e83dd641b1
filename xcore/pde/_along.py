"""Fields along their axes: parts of them, shifted ones, numbers of a line, what acts along one axis."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import typeof
from ..linalg._arguments import loop
from ._axis import Axis


def slab(u, axis: int, start: int, stop: int):
    """The part of a field from start to stop along an axis."""
    return u[(slice(None),) * axis + (slice(start, stop),)]


def shifted(u, axis: int, by: int, ring: bool = False):
    """The field u[i + by] along an axis, with zeros from outside, or around a periodic axis."""
    if by == 0:
        return u
    n = typeof(u).shape[axis]
    if ring:
        by %= n
        return xnp.concatenate([slab(u, axis, by, n), slab(u, axis, 0, by)], axis=axis)
    if abs(by) >= n:
        return xnp.zeros_like(u)
    edges = [
        tuple(sign * by if i == axis else 0 for i in range(typeof(u).ndim)) for sign in (-1, 1)
    ]
    zero = xnp.zeros((), typeof(u).dtype)
    return ops.pad(u, zero, low=edges[0], high=edges[1], interior=(0,) * typeof(u).ndim)


def along(line, axis: int, ndim: int, dtype):
    """Numbers along one axis, shaped to multiply fields; a plain number if there is one only."""
    line = np.asarray(line).astype(dtype)
    if line.size == 1:
        return line.reshape(())[()]
    return line.reshape([-1 if i == axis else 1 for i in range(ndim)])


def by_axes(lines, dtype):
    """The product of numbers along each axis, formed in the program: only the lines are captured."""
    lines = [np.asarray(x, np.float64) for x in lines]
    sizes = [float(np.max(np.abs(x), initial=0)) or 1.0 for x in lines]
    parts = [x / size for x, size in zip(lines, sizes, strict=True)]
    parts[0] = parts[0] * np.prod(sizes)  # so that no product in between leaves the range
    factors = [xnp.asarray(along(x, i, len(lines), dtype)) for i, x in enumerate(parts)]
    return functools.reduce(xnp.multiply, factors)


def times_axis(a: Axis, u, axis: int):
    """The derivative along an axis, with homogeneous conditions."""
    t = typeof(u)
    terms = [
        along(line, axis, t.ndim, t.dtype) * shifted(u, axis, k, a.ring)
        for k, line in a.bands.items()
    ]
    out = functools.reduce(xnp.add, terms)
    for block, first in zip(a.corners, (True, False), strict=True):
        if block.size:
            out = out + _corner(block, u, axis, first)
    return out


def _corner(block: np.ndarray, u, axis: int, first: bool):
    """A small block times the first or last slabs of u, as a field."""
    (rows, cols), n = block.shape, typeof(u).shape[axis]
    near = slab(u, axis, 0, cols) if first else slab(u, axis, n - cols, n)
    part = xnp.moveaxis(xnp.tensordot(block.astype(typeof(u).dtype), near, axes=(1, axis)), 0, axis)
    return padded(part, axis, 0 if first else n - rows, n)


def padded(part, axis: int, start: int, n: int):
    """A thin slab in its place in a field of zeros."""
    t = typeof(part)
    low = tuple(start if i == axis else 0 for i in range(t.ndim))
    high = tuple(n - start - t.shape[axis] if i == axis else 0 for i in range(t.ndim))
    return ops.pad(part, xnp.zeros((), t.dtype), low=low, high=high, interior=(0,) * t.ndim)


def spread(column: np.ndarray, face, axis: int):
    """A column along an axis times data of its face, as a field; the column is mostly zeros."""
    places = np.nonzero(column)[0]
    if not places.size:
        return None
    start, stop = int(places[0]), int(places[-1]) + 1
    t = typeof(face)
    line = along(column[start:stop], axis, t.ndim + 1, t.dtype)
    return padded(line * xnp.expand_dims(face, axis), axis, start, len(column))


def sparse_along(axes, chosen) -> Any:
    """The product of the derivatives along some of the axes, as a sparse matrix on flat fields."""
    from scipy import sparse  # only here: SciPy's sparse matrices are slow to load

    parts = [
        sparse.csr_array((a.elements[1], np.divmod(a.elements[0], a.count)), (a.count,) * 2)
        if i in chosen
        else sparse.eye_array(a.count, format="csr")
        for i, a in enumerate(axes)
    ]
    return functools.reduce(lambda x, y: sparse.kron(x, y, format="csr"), parts)


def in_slabs(f, flat, shape: tuple[int, ...], axis: int, count: int):
    """f(slab, start) of some ``count`` slabs across axis 0 or 1, one after another, in the place of each.

    The field is flat, (shape[0], all others): XLA is then not free to turn it over for the sake of
    what is done to a slab, for which it would need a second one. f keeps shapes and dtypes.
    """
    n, each = shape[axis], 1 if axis == 0 else typeof(flat).shape[1] // shape[1]
    width = -(-n // count)

    def step(start, flat, width):
        slab = tuple(width if i == axis else m for i, m in enumerate(shape))
        sizes = (width, typeof(flat).shape[1]) if axis == 0 else (shape[0], width * each)
        zero, first = np.int32(0), start * np.int32(each)
        corner = (first, zero) if axis == 0 else (zero, first)
        out = f(ops.dynamic_slice(flat, *corner, sizes=sizes).reshape(slab), start)
        return ops.dynamic_update_slice(flat, out.reshape(sizes), *corner)

    full = n // width
    if n % width:  # first: what follows a loop can be its result
        flat = step(np.int32(full * width), flat, n - full * width)
    return loop(full, lambda i, flat: step(i * np.int32(width), flat, width), flat)
