"""x[index].

An index is parsed on the host into a static plan and a list of dynamic values (``_plan``). Static
slices lower to slices, dynamic scalars to dynamic slices, arrays of positions to one gather.
"""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .._core import config, dtypes, errors
from .._core.array import Array, scalar
from .._core.compile import translate
from .._core.config import FastCache, get_state
from .._core.eval import RuntimeFailure, fused
from .._core.source import boundary
from .._core.types import ArrayType, typeof
from .._ops.families import full_like_type
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

_programs = FastCache()
_positions: dict = {}
_KEEP = 4096


def _position(i: int):
    found = _positions.get(i)
    if found is None or found.is_deleted():
        if len(_positions) > _KEEP:
            _positions.clear()
        found = _positions[i] = scalar(i, dtypes.int32)._b
    return found


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


_ready = FastCache()  # (type, index) -> what runs, with the buffers of the positions


def array_getitem(x: Array, index):
    """x[index] for an Array: the fast path, else the general one."""
    if get_state() is None:
        cls = type(index)
        if cls is int:
            key = x._t, index
        elif (
            cls is slice and index.step is None and {type(index.start), type(index.stop)} <= _BOUNDS
        ):
            key = x._t, index.start, index.stop
        else:
            key = None
        entry = _ready.get(key)
        if entry is not None:
            run, handlers, t, places = entry
            try:
                return Array(run([x._b, *places]).consume_with_handlers(handlers)[0], t)
            except RuntimeFailure as e:
                raise translate(e, [x]) from None
        return _getitem(x, index, key)
    return general_getitem(x, index)


_BOUNDS = {int, type(None)}


@boundary
def _getitem(x: Array, index, key):
    if type(x._t) is ArrayType and x._t.size < 2**31:
        found = window_of(x, index)
        if found is not None:
            starts, sizes, shape = found
            program = x._t, sizes, shape
            entry = _programs.get(program) or _window_program(program, x, sizes, shape)
            if entry:
                run, handlers, t = entry
                places = [_position(i) for i in starts]
                if key is not None:
                    if len(_ready) > _KEEP:
                        _ready.clear()
                    _ready[key] = run, handlers, t, places
                try:
                    return Array(run([x._b, *places]).consume_with_handlers(handlers)[0], t)
                except RuntimeFailure as e:
                    raise translate(e, [x]) from None
    return general_getitem(x, index)


def _window_program(key, x, sizes, shape):
    if not x._t.ndim:
        return None
    settings = config.settings()
    if settings.watches or settings.disable_jit:
        return None
    zero = scalar(0, dtypes.int32)
    found, _ = _window.fused.entry([[x, *[zero] * len(sizes)]], (sizes, shape))
    exe = found[0]
    entry = _programs[key] = exe.execute, exe.handlers, exe.result_types[0]
    return entry


general_getitem = boundary(getitem)
