"""Arrays from outside and to outside: buffers, iterators, files, DLPack, packed bits."""

from __future__ import annotations

import operator

import numpy as np

from .. import _ops as ops
from .._core import dtypes, errors, from_numpy, fused, one_of, typeof
from .._core.array import Array, view_of_foreign
from ._creation import asarray
from ._elementwise import truth
from ._grid import indices
from ._placement import on_device
from ._promote import as_array, astype, check_shape, one_axis
from ._shape import moveaxis

# Other libraries


def from_dlpack(x, /, *, device=None, copy=None):
    """An array of another library that speaks DLPack; memory is shared where alignment allows it.

    Args:
      x: an array with ``__dlpack__``.
      device: where the result shall live.
      copy: True for a new buffer, False to fail if one would be needed.

    >>> import numpy as np, xcore.numpy as xnp
    >>> xnp.from_dlpack(np.arange(3.0, dtype="float32"))
    Array([0., 1., 2.], dtype=float32)
    """
    if type(x) is Array:
        return on_device(x.copy() if copy else x, device)
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"xcore.numpy.from_dlpack: {errors.describe(x)} has no __dlpack__ method.")
    out = None if copy else view_of_foreign(x)
    if out is None and copy is False:
        raise BufferError(
            "xcore.numpy.from_dlpack: the memory cannot be shared (its alignment, layout or dtype does not "
            "fit), but copy=False forbids a copy."
        )
    return on_device(from_numpy(np.array(np.from_dlpack(x))) if out is None else out, device)


# Buffers and functions


def _of_bytes(dtype) -> np.dtype:
    """The dtype of bytes from elsewhere, whose order may be another one than the machine's."""
    here = dtypes.as_dtype(dtype)
    given = np.dtype(dtype) if isinstance(dtype, (str, np.dtype)) else here
    return here if given.isnative else given


def frombuffer(buffer, dtype=float, count=-1, offset=0):
    """The bytes of a buffer as a 1-d array.

    Args:
      buffer: bytes, or anything with the buffer protocol.
      dtype: what the bytes are.
      count: how many elements; all by default.
      offset: how many bytes to skip.

    >>> import xcore.numpy as xnp
    >>> xnp.frombuffer(b"abc", dtype=xnp.uint8)
    Array([97, 98, 99], dtype=uint8)
    """
    return from_numpy(np.frombuffer(buffer, _of_bytes(dtype), count, offset))


def fromstring(string, dtype=float, count=-1, *, sep):
    """Numbers written in a text as a 1-d array.

    Args:
      string: the text.
      dtype: of the numbers.
      count: how many to read; all by default.
      sep: what stands between them.

    >>> import xcore.numpy as xnp
    >>> xnp.fromstring("1 2 3", int, sep=" ")
    Array([1, 2, 3], dtype=int32)
    """
    return from_numpy(np.fromstring(string, dtypes.as_dtype(dtype), count, sep=sep))


def fromiter(iter, dtype, count=-1):
    """A 1-d array of what an iterable gives.

    Args:
      iter: the iterable.
      dtype: of the array.
      count: how many items to take; all by default.

    >>> import xcore.numpy as xnp
    >>> xnp.fromiter((i * i for i in range(3)), int)
    Array([0, 1, 4], dtype=int32)
    """
    return from_numpy(np.fromiter(iter, dtypes.as_dtype(dtype), count))


def fromfile(file, dtype=float, count=-1, sep="", offset=0):
    """Numbers from a file as a 1-d array; see ``numpy.fromfile``.

    Args:
      file: name of the file, or an open one.
      dtype: of the numbers.
      count: int; how many, -1 for all.
      sep: what stands between numbers written as text; "" for binary ones.
      offset: int; bytes to leave out at the beginning.

    >>> import tempfile, xcore.numpy as xnp
    >>> with tempfile.TemporaryFile() as f:
    ...     _ = f.write(bytes([1, 2])), f.seek(0)
    ...     print(xnp.fromfile(f, xnp.uint8))
    [1 2]
    """
    return from_numpy(np.fromfile(file, _of_bytes(dtype), count, sep, offset))


def fromfunction(function, shape, *, dtype=float, **kwargs):
    """The values of a function at the positions of a grid.

    Args:
      function: called once, with an array of indices for each axis.
      shape: of the grid.
      dtype: of the indices.
      **kwargs: passed on to the function.

    >>> import xcore.numpy as xnp
    >>> xnp.fromfunction(lambda i, j: 10 * i + j, (2, 2), dtype=int)
    Array([[ 0,  1],
           [10, 11]], dtype=int32)
    """
    shape = check_shape("numpy.fromfunction", shape)
    out = as_array("numpy.fromfunction", function(*indices(shape, dtype=dtype), **kwargs))  # pyright: ignore[reportGeneralTypeIssues]
    return (
        ops.broadcast_in_dim(out, shape=shape, dims=()) if not typeof(out).ndim and shape else out
    )


# Files

_STORED_AS = {"V2": dtypes.bfloat16}


def _restored(value: np.ndarray) -> np.ndarray:
    """Files know NumPy's own dtypes only: two opaque bytes are a bfloat16."""
    found = _STORED_AS.get(value.dtype.str.lstrip("|<>="))
    return value if found is None else value.view(found)


def _storable(who: str, a) -> np.ndarray:
    """The values, of a dtype that ``load`` finds again."""
    value = np.asarray(a)
    if value.dtype.kind == "V" and value.dtype.itemsize == 1:
        need = "of a dtype that .npy files know, or bfloat16"
        advice = "xcore.checkpoint.save keeps all dtypes."
        raise errors.bad_argument(f"numpy.{who}", "an array", a, need, advice)
    return value


def load(file, *args, **kwargs):
    """An array from a .npy file, or what a .npz file holds, by name; see ``numpy.load``.

    Args:
      file: name of the file, or an open one.
      args, kwargs: further arguments of ``numpy.load``.

    >>> import tempfile, xcore.numpy as xnp
    >>> with tempfile.TemporaryFile() as f:
    ...     xnp.save(f, xnp.arange(3))
    ...     _ = f.seek(0)
    ...     print(xnp.load(f))
    [0 1 2]
    """
    found = np.load(file, *args, **kwargs)
    if isinstance(found, np.ndarray):
        return from_numpy(_restored(found))
    with found:
        return {name: from_numpy(_restored(found[name])) for name in found.files}


def save(file, arr, allow_pickle=True):
    """Write an array to a .npy file; see ``numpy.save``.

    Args:
      file: name of the file, or an open one.
      arr: array.
      allow_pickle: as in ``numpy.save``.

    >>> import tempfile, xcore.numpy as xnp
    >>> with tempfile.TemporaryFile() as f:
    ...     xnp.save(f, xnp.arange(3))
    """
    np.save(file, _storable("save", as_array("numpy.save", arr)), allow_pickle)


def savez(file, *args, allow_pickle=True, **kwds):
    """Write arrays to a .npz file; see ``numpy.savez``.

    Args:
      file: name of the file, or an open one.
      args: arrays, stored as ``arr_0``, ``arr_1``, ….
      allow_pickle: as in ``numpy.savez``.
      kwds: arrays, stored by these names.

    >>> import tempfile, xcore.numpy as xnp
    >>> with tempfile.TemporaryFile() as f:
    ...     xnp.savez(f, x=xnp.arange(3))
    ...     _ = f.seek(0)
    ...     print(xnp.load(f)["x"])
    [0 1 2]
    """
    arrays = [_storable("savez", asarray(a)) for a in args]
    named = {name: _storable("savez", asarray(a)) for name, a in kwds.items()}
    np.savez(file, *arrays, allow_pickle=allow_pickle, **named)


# Packed bits


def _bit_weights(bitorder: str, name: str):
    one_of(f"numpy.{name}", "bitorder", bitorder, ("big", "little"), "'big' or 'little'")
    shifts = np.arange(8, dtype=np.uint8)
    return shifts[::-1] if bitorder == "big" else shifts


@fused(1)
def packbits(a, axis=None, bitorder="big"):
    """Truth values as the bits of bytes, eight in one.

    Args:
      a: array of bools or integers.
      axis: along which axis; None flattens first.
      bitorder: "big" if the first one is the highest bit, or "little".

    >>> import xcore.numpy as xnp
    >>> xnp.packbits(xnp.asarray([1, 0, 1, 0, 0, 0, 0, 0]))
    Array([160], dtype=uint8)
    """
    who = "numpy.packbits"
    shifts = _bit_weights(bitorder, "packbits")
    a = as_array(who, a)
    if dtypes.is_inexact(typeof(a).dtype):
        raise errors.dtype_not_allowed(who, typeof(a).dtype, "bool and integer")
    axis, a = (0, ops.reshape(a, shape=(typeof(a).size,))) if axis is None else (axis, a)
    axis = one_axis(who, axis, typeof(a).ndim)
    bits = moveaxis(astype(truth(a), dtypes.uint8), axis, -1)
    *lead, n = typeof(bits).shape
    count = -(-n // 8)
    high = (*[0] * len(lead), 8 * count - n)
    bits = ops.pad(bits, np.uint8(0), low=(0,) * len(high), high=high, interior=(0,) * len(high))
    bits = ops.reshape(bits, shape=(*lead, count, 8))
    weights = ops.broadcast_in_dim(
        np.uint8(1) << shifts, shape=typeof(bits).shape, dims=(len(lead) + 1,)
    )
    return moveaxis(ops.reduce_sum(ops.mul(bits, weights), axes=(len(lead) + 1,)), -1, axis)


@fused(1)
def unpackbits(a, axis=None, count=None, bitorder="big"):
    """The bits of bytes as an array of zeros and ones.

    Args:
      a: array of dtype uint8.
      axis: along which axis; None flattens first.
      count: how many bits to return: the last ones are cut, or as many are if it is negative; what
        is missing is zero.
      bitorder: "big" if the highest bit comes first, or "little".

    >>> import xcore.numpy as xnp
    >>> xnp.unpackbits(xnp.asarray([5], dtype=xnp.uint8))
    Array([0, 0, 0, 0, 0, 1, 0, 1], dtype=uint8)
    """
    who = "numpy.unpackbits"
    shifts = _bit_weights(bitorder, "unpackbits")
    a = as_array(who, a)
    if typeof(a).dtype != dtypes.uint8:
        raise errors.dtype_not_allowed(who, typeof(a).dtype, "uint8")
    axis, a = (0, ops.reshape(a, shape=(typeof(a).size,))) if axis is None else (axis, a)
    axis = one_axis(who, axis, typeof(a).ndim)
    moved = moveaxis(a, axis, -1)
    shape = (*typeof(moved).shape, 8)
    spread = ops.broadcast_in_dim(moved, shape=shape, dims=tuple(range(len(shape) - 1)))
    by = ops.broadcast_in_dim(shifts, shape=shape, dims=(len(shape) - 1,))
    bits = ops.and_(ops.shift_right_logical(spread, by), ops.ones(typeof(spread)))
    bits = ops.reshape(bits, shape=(*shape[:-2], shape[-2] * 8))
    return moveaxis(_cut_to(bits, count), -1, axis)


def _cut_to(bits, count):
    n = typeof(bits).shape[-1]
    if count is None:
        return bits
    count = operator.index(count)
    count = count if count >= 0 else max(n + count, 0)
    ndim = typeof(bits).ndim
    high = (*[0] * (ndim - 1), count - n)
    return ops.pad(bits, np.uint8(0), low=(0,) * ndim, high=high, interior=(0,) * ndim)
