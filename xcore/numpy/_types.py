"""Dtype objects, which called make arrays; and arrays in other dtypes: converted, or their bytes reread."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _ops as ops
from .._core import Array, config, dtypes, errors, fused, typeof
from . import _promote
from ._creation import asarray
from ._creation import copy as copied
from ._placement import on_device
from ._sanitize import check_cast


class DType:
    """A dtype that can be called.

    It stands wherever a dtype is expected, and compares as NumPy's scalar types do: with the NumPy
    dtype and the scalar type of the same name it is equal, with strings and other objects it is not.

    >>> import xcore.numpy as xnp
    >>> xnp.float32(3)
    Array(3., dtype=float32)
    >>> xnp.zeros(2, xnp.int8).dtype == xnp.int8
    True
    """

    __slots__ = ("_spec",)

    def __init__(self, spec: Any) -> None:
        self._spec = spec

    @property
    def dtype(self) -> np.dtype:
        """The NumPy dtype, also where the setting narrow makes values of it another one.

        That of ``int_`` and the like follows the setting default_bits.
        """
        return dtypes.named(self._spec)

    @property
    def name(self) -> str:
        return self.dtype.name

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    def __call__(self, x: Any = 0) -> Array:
        return asarray(x, self.dtype)  # pyright: ignore[reportReturnType]

    @property
    def __name__(self) -> str:
        return self.name

    def __eq__(self, other):
        if isinstance(other, (DType, np.dtype)):
            return self.dtype == (other.dtype if isinstance(other, DType) else other)
        return other is self.dtype.type or NotImplemented

    def __hash__(self):
        return hash(self.dtype)

    def __instancecheck__(self, x) -> bool:
        """``isinstance(x, xnp.float32)``: of NumPy's scalars, as in JAX."""
        return isinstance(x, self.dtype.type)

    def __mro_entries__(self, bases: tuple) -> tuple:
        """What a class that names a dtype among its bases extends: NumPy's scalar."""
        return (self.dtype.type,)

    def __repr__(self):
        return f"xcore.numpy.{self.name}"


bool_ = DType(dtypes.bool_)
int2, int4, int8 = DType(dtypes.int2), DType(dtypes.int4), DType(dtypes.int8)
int16 = DType(dtypes.int16)
int32, int64 = DType(dtypes.int32), DType(dtypes.int64)
uint2, uint4, uint8 = DType(dtypes.uint2), DType(dtypes.uint4), DType(dtypes.uint8)
uint16 = DType(dtypes.uint16)
float4_e2m1fn = DType(dtypes.float4_e2m1fn)
uint32, uint64 = DType(dtypes.uint32), DType(dtypes.uint64)
float8_e3m4 = DType(dtypes.float8_e3m4)
float8_e4m3 = DType(dtypes.float8_e4m3)
float8_e4m3b11fnuz = DType(dtypes.float8_e4m3b11fnuz)
float8_e4m3fn = DType(dtypes.float8_e4m3fn)
float8_e4m3fnuz = DType(dtypes.float8_e4m3fnuz)
float8_e5m2 = DType(dtypes.float8_e5m2)
float8_e5m2fnuz = DType(dtypes.float8_e5m2fnuz)
float8_e8m0fnu = DType(dtypes.float8_e8m0fnu)
bfloat16, float16 = DType(dtypes.bfloat16), DType(dtypes.float16)
float32, float64 = DType(dtypes.float32), DType(dtypes.float64)
complex64, complex128 = DType(dtypes.complex64), DType(dtypes.complex128)
# What Python's types mean here; their width is the setting default_bits.
int_, uint, float_, complex_ = DType("int"), DType("uint"), DType("float"), DType("complex")
single, double, csingle, cdouble = float32, float64, complex64, complex128

dtype = np.dtype
generic, number, inexact = np.generic, np.number, np.inexact
floating, complexfloating, integer = np.floating, np.complexfloating, np.integer
signedinteger, unsignedinteger = np.signedinteger, np.unsignedinteger
character, flexible, object_ = np.character, np.flexible, np.object_


def astype(x, dtype, /, *, copy=False, device=None):
    """An array in another dtype. Complex numbers become real by their real part.

    Args:
      x: array.
      dtype: the dtype of the result; None means the default float.
      copy: whether the result has a buffer of its own in any case.
      device: where the array shall live.

    >>> import xcore.numpy as xnp
    >>> xnp.astype(xnp.asarray([1.7, -1.7]), xnp.int32)
    Array([ 1, -1], dtype=int32)
    """
    x = _promote.as_array("numpy.astype", x)
    dtype = dtypes.as_dtype("float" if dtype is None else dtype)
    if config.settings().sanitize:
        check_cast("numpy.astype", x, dtype)
    out = _cast(x, dtype) if type(x) is Array and x.dtype != dtype else _promote.astype(x, dtype)
    return on_device(copied(out) if copy and out is x else out, device)


@fused(1)
def _cast(x, dtype):
    return _promote.astype(x, dtype)


@fused(1)
def view(x, dtype=None):
    """The bytes of an array read as another dtype; the last axis grows or shrinks to fit. None is its own dtype."""
    t = typeof(x)
    new = t.dtype if dtype is None else dtypes.as_dtype(dtype)
    if new == t.dtype:
        return x
    old_size, new_size = dtypes.bits_of(t.dtype), dtypes.bits_of(new)
    if not t.ndim and new_size != old_size:
        raise errors.bad_argument(
            "numpy.ndarray.view", "dtype", new, f"of {old_size} bits for a 0-d array"
        )
    if t.shape and t.shape[-1] * old_size % new_size:
        raise errors.bad_argument(
            "numpy.ndarray.view", "dtype", new, f"of a size that divides a last axis of {t}"
        )
    return _from_parts(_in_parts(x), new)


def byteswap(self, inplace=False):
    """The elements with their bytes in reverse order; ``inplace`` must be False."""
    if inplace:
        raise errors.bad_argument("numpy.ndarray.byteswap", "inplace", inplace, "False")
    return _swapped(self)


@fused(1)
def _swapped(x):
    t = typeof(x)
    parts = _in_parts(
        ops.reshape(x, shape=(*t.shape, 1))
    )  # the parts of complex numbers one by one
    if typeof(parts).dtype.itemsize > 1:
        word = typeof(parts).dtype
        octets = ops.bitcast_convert(parts, dtype=dtypes.uint8)
        octets = ops.rev(octets, axes=(typeof(octets).ndim - 1,))
        parts = ops.bitcast_convert(octets, dtype=word)
    return ops.reshape(_from_parts(parts, t.dtype), shape=t.shape)


def _in_parts(x):
    """Complex numbers as pairs of floats along the last axis, bools as bytes."""
    t = typeof(x)
    if t.dtype == bool:
        return ops.convert(x, dtype=dtypes.uint8)
    if not dtypes.is_complex(t.dtype):
        return x
    pair = [ops.reshape(part, shape=(*t.shape, 1)) for part in (ops.real(x), ops.imag(x))]
    out = ops.concatenate(*pair, axis=t.ndim)
    return ops.reshape(out, shape=(*t.shape[:-1], t.shape[-1] * 2)) if t.shape else out


def _from_parts(x, new):
    if new == bool:
        bits = _reread(x, dtypes.uint8)
        return ops.ne(bits, ops.zeros(typeof(bits)))
    if not dtypes.is_complex(new):
        return _reread(x, new)
    parts = _reread(x, dtypes.to_real(new))
    *lead, n = typeof(parts).shape
    pairs = ops.reshape(parts, shape=(*lead, n // 2, 2))
    return ops.complex(pairs[..., 0], pairs[..., 1])


def _reread(x, new):
    t = typeof(x)
    old_size, new_size = dtypes.bits_of(t.dtype), dtypes.bits_of(new)
    if new_size > old_size:
        k = new_size // old_size
        x = ops.reshape(x, shape=(*t.shape[:-1], t.shape[-1] // k, k))
    out = x if t.dtype == new else ops.bitcast_convert(x, dtype=new)
    if new_size < old_size:
        shape = typeof(out).shape
        out = ops.reshape(out, shape=(*shape[:-2], shape[-2] * shape[-1]))
    return out
