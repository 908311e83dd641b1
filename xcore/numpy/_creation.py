"""Making arrays from data and from shapes."""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .._core import config, dtypes, errors, is_evaluating
from .._core.array import Array, is_traced, on_host
from .._core.eval import default_placed, from_numpy, is_array_like, to_array
from .._core.fused import fused
from .._core.host import fits
from .._core.sharding import default_sharding
from .._core.types import ArrayType, Placed, Value, typeof
from ._compound import Compound, fills, moves
from ._placement import on_device, placement
from ._promote import (
    SCALARS,
    as_array,
    astype,
    broadcast_to,
    check_shape,
    dtype_or,
    refuse_complex,
    result_dtype,
)  # fmt: skip
from ._sanitize import check_cast

# From data


def asarray(a, dtype=None, order=None, *, copy=None, device=None, out_sharding=None):
    """An array of what ``a`` holds: an array, a number, nested lists, anything with ``__array__``.

    Args:
      a: the data. Numbers in lists take the default dtype of their kind; NumPy values keep theirs.
      dtype: the dtype of the result; always honoured.
      order: accepted for compatibility; layouts are the compiler's business.
      copy: True for a new buffer, False to fail if one would be needed.
      device, out_sharding: where the array shall live: a device or a sharding.

    >>> import xcore.numpy as xnp
    >>> xnp.asarray([[1, 2], [3, 4]])
    Array([[1, 2],
           [3, 4]], dtype=int32)
    """
    if type(a) is list and dtype is device is out_sharding is copy is None and is_evaluating():
        out = _from_short_list(a)
        if out is not None:
            return out
    device = placement("numpy.asarray", device, out_sharding)
    out = _converted(a, None if dtype is None else dtypes.as_dtype(dtype))
    if copy is False and out is not a:
        raise ValueError("xcore.numpy.asarray: a copy is needed here, but copy=False forbids it.")
    out = on_device(out, device)
    return out.copy() if copy and out is a and type(out) is Array else out


def array(object, dtype=None, copy=True, order="K", ndmin=0, *, device=None, out_sharding=None):
    """A new array of what ``object`` holds; see ``asarray``.

    Args:
      object: the data: an array, a number, nested lists.
      dtype: the dtype of the result.
      copy: whether the result has a buffer of its own.
      order: accepted for compatibility.
      ndmin: axes of length 1 are put in front until there are this many.
      device, out_sharding: where the array shall live: a device or a sharding.

    >>> import xcore.numpy as xnp
    >>> xnp.array([1.0, 2.0], ndmin=2)
    Array([[1., 2.]], dtype=float32)
    """
    device = placement("numpy.array", device, out_sharding)
    out = asarray(object, dtype, copy=copy or None)
    missing = ndmin - out.ndim
    return on_device(out.reshape((1,) * missing + out.shape) if missing > 0 else out, device)


def _converted(a, dtype):
    if isinstance(a, (list, tuple, range)):
        return _from_list(a, dtype)
    if a is None or not is_array_like(a):
        return _from_foreign(a, dtype)
    if isinstance(a, (np.ndarray, np.generic)) and dtype is not None and dtype != a.dtype:
        dtypes.as_dtype(a.dtype)
        if config.settings().sanitize:
            check_cast("numpy.asarray", np.asarray(a), dtype)
        return from_numpy(cast_on_host(np.asarray(a), dtype))
    if type(a) in SCALARS and dtype is not None:
        return _from_numbers(a, dtype)
    if type(a) is int:
        _refuse_wide_ints(a)
    value = a if isinstance(a, Value) else to_array(a)
    if type(value) is Array and value._b is not None and value._b.is_deleted():
        raise errors.deleted_array(value.type)
    if dtype is None:
        return value
    if config.settings().sanitize:
        check_cast("numpy.asarray", value, dtype)
    return astype(value, dtype)


def cast_on_host(value: np.ndarray, dtype):
    """NumPy's conversion, without its warning for what does not fit; complex to real drops a part."""
    if value.dtype.kind == "c" and not dtypes.is_complex(dtype) and dtype != bool:
        value = value.real
    with np.errstate(all="ignore"):
        return value.astype(dtype)


def _from_foreign(a, dtype):
    if isinstance(a, Compound) and dtype in (None, a.dtype):
        return a
    if hasattr(a, "__dlpack__"):
        return _converted(np.from_dlpack(a), dtype)
    try:
        view = memoryview(a)
    except TypeError:
        raise errors.not_an_array("numpy.asarray", a) from None
    return _converted(np.asarray(view), dtype)


@moves("items")
def _from_list(items, dtype):
    kinds = leaf_classes(items)
    if kinds <= set(SCALARS):
        return _from_numbers(items, dtype)
    if any(map(_tells_what_it_holds, kinds)):
        items = _held_in(items)
    leaves = list(_leaves(items))
    if dtype is None:
        plain = lambda x: isinstance(x, (Value, *SCALARS)) and not isinstance(x, np.generic)  # noqa: E731
        values = [x if plain(x) else _converted(x, None) for x in leaves]
        dtype = result_dtype("numpy.asarray", *values)[0]
    if any(map(is_traced, leaves)):
        return _stacked(items, dtype)
    return from_numpy(_on_host(items, dtype))


def _from_short_list(items):
    """An array from a short flat list of Python numbers of one class; None for others."""
    classes = {*map(type, items)}
    if len(classes) != 1 or len(items) > 512 or (kind := _KINDS.get(classes.pop())) is None:
        return None
    dtype = dtypes.default_dtype(kind)
    t = default_placed(ArrayType((len(items),), dtype))
    if not fits(t):
        return None
    try:
        return on_host(np.array(items, dtype), t)
    except OverflowError:  # an int that needs a wider dtype
        return None


_KINDS = {float: "float", int: "int", bool: "bool"}


def leaf_classes(items) -> set:
    """The classes of what nested lists hold."""
    found = set(map(type, items))
    nested = found & {list, tuple} or {c for c in found if issubclass(c, (list, tuple))}
    if not nested:
        return found
    inner = [leaf_classes(i) for i in items if isinstance(i, (list, tuple))]
    return set().union(found - nested, *inner)


def _tells_what_it_holds(kind: type) -> bool:
    return hasattr(kind, "__jax_array__") and not issubclass(kind, Value)


def _held_in(items) -> list:
    """Nested lists with the arrays that objects in them say they are."""
    return [
        _held_in(i)
        if isinstance(i, (list, tuple))
        else i.__jax_array__()
        if _tells_what_it_holds(type(i))
        else i
        for i in items
    ]


def _leaves(items):
    for i in items:
        if isinstance(i, (list, tuple)):
            yield from _leaves(i)
        else:
            yield i


def _from_numbers(items, dtype):
    """Python numbers in lists or alone; without a dtype, of the default one of their kind."""
    try:
        host = (
            np.array(items) if dtype is None or dtype.kind != "V" else np.array(items, np.float64)
        )
    except ValueError:
        raise _ragged_lists(items) from None
    if host.dtype == object:  # an int of more than 64 bits
        host = host != 0 if dtype == bool else _as_floats(items, dtype)
    if dtype is None:
        return from_numpy(host.astype(_default_for(host), copy=False))
    if host.dtype.kind == "c" and not (dtypes.is_complex(dtype) or dtype == bool):
        raise errors.dtype_not_allowed("numpy.asarray", dtype, "complex (for complex numbers)")
    if dtype.kind in "iu" and (host.dtype.kind in "iu" or int in leaf_classes([items])):
        host = _as_ints(items, dtype, host)
    if config.settings().sanitize:
        check_cast("numpy.asarray", host, dtype)
    return from_numpy(cast_on_host(host, dtype))


def _as_floats(items, dtype) -> np.ndarray:
    if dtype is None or not dtypes.is_inexact(dtype):
        raise OverflowError(
            f"xcore.numpy.asarray: an int in {errors.describe(items)} does not fit in 64 bits."
        )
    return np.array(items, np.complex128 if dtypes.is_complex(dtype) else np.float64)


def _as_ints(items, dtype, host: np.ndarray) -> np.ndarray:
    """Ints converted one by one, as NumPy's common dtype may be a float; raises for those out of range."""
    try:
        return np.array(items, dtype)
    except (OverflowError, ValueError):  # of floats infinities and NaN too, which are cast
        if float in leaf_classes([items]):
            return host
        raise


def _default_for(host: np.ndarray):
    kind = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}[host.dtype.kind]
    if not host.size:
        kind = "float"
    dtype = dtypes.default_dtype(kind)
    if kind == "int" and host.size:
        info = dtypes.iinfo(dtype)
        if host.min() < info.min or host.max() > info.max:
            _refuse_wide_ints(int(host.min()), int(host.max()))
            return host.dtype
    return dtype


def _refuse_wide_ints(*ints: int) -> None:
    """Raise where 64-bit values become narrow, and one of these would be another number then."""
    info = dtypes.iinfo(dtypes.default_dtype("int"))
    for x in ints:
        if config.settings().narrow and not info.min <= x <= info.max:
            raise OverflowError(
                f"xcore.numpy.asarray: the int {x} does not fit in int{info.bits}. Enable 64 bits (enable_x64), or "
                "give a dtype that holds it."
            )


def _ragged_lists(items) -> Exception:
    return errors.bad_argument(
        "numpy.asarray", "the data", items, "nested lists of equal lengths",
        "Lists of different lengths have no shape; pad them.",
    )  # fmt: skip


def _on_host(items, dtype):
    """Nested lists of numbers and concrete arrays as one NumPy array."""
    if isinstance(items, (list, tuple)):
        parts = [_on_host(i, dtype) for i in items]
        if not parts:
            return np.zeros(0, dtype)
        if len({p.shape for p in parts}) > 1:
            raise _ragged_lists(items)
        return np.stack(parts)
    return cast_on_host(np.asarray(items), dtype)


def _stacked(items, dtype):
    if not isinstance(items, (list, tuple)):
        return as_array("numpy.asarray", items, dtype=dtype)
    parts = [_stacked(i, dtype) for i in items]
    shapes = {typeof(p).shape for p in parts}
    if len(shapes) != 1:
        raise (
            _ragged_lists(items)
            if shapes
            else errors.bad_argument("numpy.asarray", "the data", items, "not empty")
        )
    shape = shapes.pop()
    return ops.concatenate(*[ops.reshape(p, shape=(1, *shape)) for p in parts], axis=0)


def copy(a, order=None):
    """A copy of an array.

    Args:
      a: array, or what ``array`` takes.
      order: of no effect: how elements lie in memory is the compiler's affair.

    >>> import xcore.numpy as xnp
    >>> xnp.copy(xnp.arange(3))
    Array([0, 1, 2], dtype=int32)
    """
    return array(a, copy=True)


# From shapes


def constant(shape, value, dtype, weak: bool = False, device=None):
    """A filled array: made on the host where the device is the host, else by a program."""
    t = ArrayType(shape, dtype, weak)
    if not is_evaluating():
        out = ops.full_like_type(t.strong(), value)
        out = as_array("numpy.full", out) if shape == () else out
        return on_device(astype(out, dtype, weak) if weak else out, device)
    if t.nbytes < 65536 or default_sharding().devices[0].platform == "cpu":
        try:
            out = from_numpy(np.full(shape, value, dtype), copy=False)
        except MemoryError as e:
            raise errors.out_of_memory(f"{e}.", []) from None
    else:
        out = _filled(shape, value, dtype)
    return on_device(astype(out, dtype, weak), device)


@fused(0)
def _filled(shape, value, dtype):
    return ops.full_like_type(ArrayType(shape, dtype), value)


def zeros(shape, dtype=None, *, device=None, out_sharding=None):
    """An array of zeros.

    Args:
      shape: an int or a tuple of ints.
      dtype: defaults to the default float.
      device, out_sharding: where the array shall live: a device or a sharding.

    >>> import xcore.numpy as xnp
    >>> xnp.zeros(3)
    Array([0., 0., 0.], dtype=float32)
    """
    device = placement("numpy.zeros", device, out_sharding)
    return constant(check_shape("numpy.zeros", shape), 0, dtype_or(dtype, "float"), device=device)


def ones(shape, dtype=None, *, device=None, out_sharding=None):
    """An array of ones.

    Args:
      shape: an int or a tuple of ints.
      dtype: defaults to the default float.
      device, out_sharding: where the array shall live: a device or a sharding.

    >>> import xcore.numpy as xnp
    >>> xnp.ones((2, 2))
    Array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    device = placement("numpy.ones", device, out_sharding)
    return constant(check_shape("numpy.ones", shape), 1, dtype_or(dtype, "float"), device=device)


def empty(shape, dtype=None, *, device=None, out_sharding=None):
    """An array whose content does not matter: here, zeros.

    Args:
      shape: an int or a tuple of ints.
      dtype: defaults to the default float.
      device, out_sharding: where the array shall live: a device or a sharding.

    >>> import xcore.numpy as xnp
    >>> xnp.empty((2, 0)).shape
    (2, 0)
    """
    device = placement("numpy.empty", device, out_sharding)
    return constant(check_shape("numpy.empty", shape), 0, dtype_or(dtype, "float"), device=device)


def full(shape, fill_value, dtype=None, *, device=None, out_sharding=None):
    """An array filled with one value.

    Args:
      shape: an int or a tuple of ints.
      fill_value: a number, or an array that broadcasts to the shape.
      dtype: defaults to that of the value.
      device, out_sharding: where the array shall live: a device or a sharding.

    >>> import xcore.numpy as xnp
    >>> xnp.full((2, 2), 7)
    Array([[7, 7],
           [7, 7]], dtype=int32, weak_type=True)
    """
    device = placement("numpy.full", device, out_sharding)
    shape = check_shape("numpy.full", shape)
    if type(fill_value) in SCALARS:
        given = typeof(_converted(fill_value, None)) if dtype is None else None
        wanted = given.dtype if given else dtypes.as_dtype(dtype)
        refuse_complex("numpy.full", fill_value, wanted)
        if config.settings().sanitize:
            check_cast("numpy.full", np.asarray(fill_value), wanted)
        value = cast_on_host(np.asarray(fill_value), wanted)[()]
        return constant(shape, value, wanted, bool(given) and given.weak, device)
    value = asarray(fill_value, dtype)
    return on_device(_broadcast_value(value, shape), device)


@fused(1)
def _broadcast_value(value, shape):
    given = typeof(value).shape
    if len(given) > len(shape) or any(
        a not in (1, b) for a, b in zip(given[::-1], shape[::-1], strict=False)
    ):
        raise errors.not_broadcastable("numpy.full", (given, shape))
    return broadcast_to(value, shape)


def _like(a, dtype, shape, name):
    """The (shape, dtype, weak) that a *_like function makes."""
    if is_array_like(a) or isinstance(a, (list, tuple)):
        a = asarray(a)  # of a list what it would be as an array
    t = typeof(a)
    shape = t.shape if shape is None else check_shape(f"numpy.{name}", shape)
    return shape, t.dtype if dtype is None else dtypes.as_dtype(dtype), t.weak and dtype is None


def _place_like(a, shape, device):
    """The placement of a ``*_like`` array: that of its prototype, if the shapes agree."""
    if (
        device is None and getattr(a, "spread", None) and a.shape == shape
    ):  # of a type that fits follows
        return a.spread
    put = device is None and type(a) is Array and type(a._t) is Placed and a._t.committed
    return a._t.sharding if put and a.shape == shape and is_evaluating() else device


@fills
def zeros_like(a, dtype=None, shape=None, *, device=None, out_sharding=None):
    """Zeros in the shape and dtype of an array.

    Args:
      a: an array, or anything with a shape and a dtype.
      dtype, shape: what to have instead.
      device, out_sharding: where the array shall live: a device or a sharding.

    >>> import xcore.numpy as xnp
    >>> xnp.zeros_like(xnp.arange(3))
    Array([0, 0, 0], dtype=int32)
    """
    device = placement("numpy.zeros_like", device, out_sharding)
    shape, dtype, weak = _like(a, dtype, shape, "zeros_like")
    return constant(shape, 0, dtype, weak, _place_like(a, shape, device))


@fills
def ones_like(a, dtype=None, shape=None, *, device=None, out_sharding=None):
    """Ones in the shape and dtype of an array.

    Args:
      a: an array, or anything with a shape and a dtype.
      dtype, shape: what to have instead.
      device, out_sharding: where the array shall live: a device or a sharding.

    >>> import xcore.numpy as xnp
    >>> xnp.ones_like(xnp.arange(3), dtype=float)
    Array([1., 1., 1.], dtype=float32)
    """
    device = placement("numpy.ones_like", device, out_sharding)
    shape, dtype, weak = _like(a, dtype, shape, "ones_like")
    return constant(shape, 1, dtype, weak, _place_like(a, shape, device))


@fills
def empty_like(prototype, dtype=None, shape=None, *, device=None, out_sharding=None):
    """An array like another whose content does not matter: here, zeros.

    Args:
      prototype: an array, or anything with a shape and a dtype.
      dtype, shape: what to have instead.
      device, out_sharding: where the array shall live: a device or a sharding.

    >>> import xcore.numpy as xnp
    >>> xnp.empty_like(xnp.arange(3)).shape
    (3,)
    """
    return zeros_like(prototype, dtype, shape, device=device, out_sharding=out_sharding)


@fills
def full_like(a, fill_value, dtype=None, shape=None, *, device=None, out_sharding=None):
    """One value in the shape and dtype of an array.

    Args:
      a: an array, or anything with a shape and a dtype.
      fill_value: a number, or an array that broadcasts to the shape.
      dtype, shape: what to have instead.
      device, out_sharding: where the array shall live: a device or a sharding.

    >>> import xcore.numpy as xnp
    >>> xnp.full_like(xnp.arange(3), 5)
    Array([5, 5, 5], dtype=int32)
    """
    device = placement("numpy.full_like", device, out_sharding)
    shape, dtype, weak = _like(a, dtype, shape, "full_like")
    out = full(shape, fill_value, dtype, device=_place_like(a, shape, device))
    return astype(out, dtype, weak) if weak else out
