"""x[index].

An index is parsed on the host into a static plan and a list of dynamic values (``_plan``). Static
slices lower to slices, dynamic scalars to dynamic slices, arrays of positions to one gather.
"""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .._core import ArrayType, boundary, config, dtypes, errors, fused, host, typeof
from .._core.array import Array, on_host, scalar
from .._core.config import FastCache, get_state
from .._core.dispatch import BUFFER, Path, looked_up, maker
from .._core.host_calls import window_call
from .._ops import full_like_type
from ._plan import (
    Index,
    final_shape,
    gather_dims,
    has_arrays,
    in_bounds,
    index_arrays,
    mode_of,
    rows_of,
    same_dtype,
    scalar_positions,
    static_region,
    take_region,
)
from ._promote import as_array


@fused(2)
def _get(x, values, plan, mode, fill_value, unique, is_sorted):
    x = as_array("numpy.indexing", x)
    values = values if isinstance(values, list) else [values]
    region = static_region(x, plan)
    part = take_region(x, region)
    if has_arrays(plan):
        axes, positions, block = index_arrays(part, plan, values)
        offset, dropped, start_map, sizes = gather_dims(part, plan, axes, len(block))
        rows = rows_of(axes, positions, block)
        dims = ops.GatherDims(offset, dropped, start_map)
        if 0 in block or typeof(part).size == 0:
            out = _empty_or_raise(part, block, final_shape(x, plan, block))
            return out
        part = ops.gather(part, rows, dims=dims, sizes=sizes, mode=mode, fill_value=fill_value,
                          unique=unique, sorted=is_sorted)  # fmt: skip
        shape = final_shape(x, plan, block)
    else:
        part = _take_scalars(part, plan, values, mode, fill_value)
        scalars = any(e[0] in ("at", "int") for e in plan)
        shape = final_shape(x, plan, () if scalars else None)
    return part if typeof(part).shape == shape else ops.reshape(part, shape=shape)


def _empty_or_raise(part, block, shape):
    if 0 not in block and 0 not in shape:
        raise IndexError(f"cannot take elements of an empty array {typeof(part)}")
    return ops.zeros(ArrayType(shape, typeof(part).dtype, typeof(part).weak))


def _take_scalars(part, plan, values, mode, fill_value):
    """Dynamic 0-d positions: one dynamic slice."""
    dynamic = scalar_positions(plan, values)
    if not dynamic:
        return part
    t = typeof(part)
    starts = [dynamic.get(i, np.int32(0)) for i in range(t.ndim)]
    sizes = tuple(1 if i in dynamic else n for i, n in enumerate(t.shape))
    if any(t.shape[a] == 0 for a in dynamic):
        raise IndexError(f"cannot take elements of an empty array {t}")
    if mode == "fill":
        inside = in_bounds(dynamic, t.shape)
        out = ops.dynamic_slice(part, *same_dtype(starts), sizes=sizes)
        filler = full_like_type(typeof(out), ops.fill_value_of(t.dtype, fill_value))
        return ops.select(inside, out, filler)
    return ops.dynamic_slice(part, *same_dtype(starts), sizes=sizes)


def getitem(x, index, mode=None, fill_value=None, unique=False, is_sorted=False, wraps=True):
    """x[index] for an array or tracer."""
    parsed = Index(typeof(x).shape, index, mode, wraps)
    # one array of positions is the common case, and alone it takes the fast path of a fused call
    values = parsed.values[0] if len(parsed.values) == 1 else parsed.values
    return _get(x, values, parsed.plan, mode_of(mode, "clip"), fill_value, unique, is_sorted)


# The fast path of x[index]
# Eager indexing with ints and plain slices: positions are arguments of the program, so a loop over
# x[i] runs one program, not one for each i.

_programs = FastCache()  # (type, sizes, shape) -> the program of a window
_ready = FastCache()  # (type, index) -> the same with the buffers of the positions


@fused(1)
def _window(arrays, sizes, shape):
    x, *starts = arrays
    return ops.reshape(ops.dynamic_slice(x, *starts, sizes=sizes), shape=shape)


def window_of(x: Array, index):
    """(starts, sizes, shape of the result) of an index of ints and slices of step 1, or None."""
    items = index if type(index) is tuple else (index,)
    shape = x._t.shape
    if len(items) > len(shape):
        return None
    starts, sizes, out = [], [], []
    for axis, i in enumerate(items):
        n = shape[axis]
        if type(i) is int:
            if not -n <= i < n:
                if config.settings().clamp:
                    return None
                raise errors.index_out_of_range(i, axis, shape)
            starts.append(i if i >= 0 else i + n)
            sizes.append(1)
        elif type(i) is slice and (i.step is None or i.step == 1):
            try:
                a, b, _ = i.indices(n)
            except TypeError:
                return None
            starts.append(a if b > a else 0)
            sizes.append(max(b - a, 0))
            out.append(sizes[-1])
        else:
            return None
    rest = shape[len(items) :]
    return starts + [0] * len(rest), (*sizes, *rest), (*out, *rest)


def places(starts) -> list:
    """The buffers of positions."""
    return [scalar(i, dtypes.int32)._buffer() for i in starts]


def _learn(key, x: Array, index):
    """What the fast path needs for x[index], kept under a key that is not None; or None."""
    settings = config.base()
    found = window_of(x, index) if has_windows(x) else None
    if found is None:
        return None
    starts, sizes, shape = found
    program = x._t, sizes, shape
    entry = _programs.get(program)
    if entry is None:
        zeros = [scalar(0, dtypes.int32)] * len(sizes)
        entry = _window.fused.fast_entry([[x, *zeros]], (sizes, shape))
        if entry is None:
            return None
        _programs.keep(program, entry, settings)
    entry = (*entry, places(starts), window_call(x._t, starts, sizes, shape, entry[2]))
    if key is not None:
        _ready.keep(key, entry, settings)
    return entry


def has_windows(x: Array) -> bool:
    """Whether windows of an array are found by one program for all positions."""
    return type(x._t) is ArrayType and 0 < x._t.ndim and x._t.size < 2**31


general_getitem = boundary(getitem)

_BASIC = {int, slice, type(None), type(...)}
_MOST = 1024  # elements of an array of positions that is not counted as work


def _basic(x: Array, index):
    """x[index], by NumPy where the value is on the host, else by a compiled program."""
    part = in_numpy(x, index)
    return general_getitem(x, index) if part is None else part


def in_numpy(x: Array, index):
    """x[index] where the value is on the host, the index one of NumPy's, and nothing out of range; or None."""
    if get_state() is not None or not host.fits(x._t) or config.base().watches:
        return None
    index = _of_numpy(index)
    value = x._h if x._h is not None else host.value_of(x)
    if index is NotImplemented or value is None:
        return None
    try:
        part = value[index]
    except (IndexError, TypeError, ValueError):  # refused or clipped, as a program does
        return None
    if part.nbytes > host.LIMIT:
        return None
    return on_host(part, ArrayType(part.shape, part.dtype, x._t.weak))


def _of_numpy(index):
    """The index with arrays replaced by their NumPy values, or NotImplemented."""
    items = index if type(index) is tuple else (index,)
    if {*map(type, items)} <= _BASIC:
        return index
    found = []
    for i in items:
        if type(i) not in _BASIC and (i := _positions(i)) is None:
            return NotImplemented
        found.append(i)
    return tuple(found)


def _positions(i):
    """Positions or a mask in NumPy, or None."""
    if type(i) is Array and host.fits(i._t) and i._t.dtype in host.WHOLE:
        return i._h if i._h is not None else host.value_of(i)
    if type(i) is list:
        return np.asarray(i) if len(i) <= _MOST and {*map(type, i)} in ({int}, {bool}) else None
    return i if type(i) is np.ndarray and i.size <= _MOST and i.dtype in host.WHOLE else None


_BOUNDS = {int, type(None)}
_INTS = {int}
# The key of an index ``_i`` of ints, or of one slice without a step; None if it is another.
KEY = (
    "_i if type(_i) is int else (_i.start, _i.stop, None) "
    "if type(_i) is slice and _i.step is None and {type(_i.start), type(_i.stop)} <= _bounds "
    "else _i if type(_i) is tuple and {*map(type, _i)} == _ints else None"
)
PARTS = {"_bounds": _BOUNDS, "_ints": _INTS}
_PATH = Path(
    params="x, _i",
    find=f"_at = {KEY}\n" + looked_up("_at if _at is None else (x._t, _at)", "_learn(_key, x, _i)"),
    buffers=f"[{BUFFER.format('x')}, *_places]",
    arrays="[x]",
    slow="_slow(x, _i)",
    bound="_get, _learn, _slow, _bounds, _ints",
    entry="_run, _handlers, _t, _places, _host",
    host="_host(x)",
    module=__name__,
)
array_getitem = maker(_PATH)(_ready.get, _learn, _basic, **PARTS)
