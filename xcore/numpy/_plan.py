"""What an index means: a static plan, and the positions known only at run time."""

from __future__ import annotations

import functools
import operator

import numpy as np

from .. import _ops as ops
from .._control.checks import check_positions
from .._core import (
    Array,
    ArrayType,
    Value,
    config,
    dtypes,
    errors,
    findings,
    is_traced,
    to_value,
    typeof,
)
from .._ops import full_like_type
from ._promote import as_array, astype, broadcast_shapes, broadcast_to

# The plan of an index is a tuple with one entry for each axis of the array and each new axis:
#   ("new",)                  a new axis
#   ("gap",)                  an ellipsis for no axis at all, which still keeps arrays apart
#   ("slice", start, n, step) n elements from start, step apart (step may be negative)
#   ("int", i)                one element, the axis goes
#   ("at", k, n)              the k-th dynamic value, a 0-d integer: one element, the axis goes
#   ("array", k, n)           the k-th dynamic value, an array of positions along an axis of length n


def _expand_ellipsis(index: tuple, ndim: int) -> list:
    """The index with one entry for each axis and new axis; bool arrays stand for several axes."""
    used = sum(_axes_taken(i) for i in index)
    dots = [k for k, i in enumerate(index) if i is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if used > ndim:
        raise IndexError(
            f"too many indices: the array is {ndim}-dimensional, but {used} were given"
        )
    rest = [slice(None)] * (ndim - used)
    if not dots:
        return [*index, *rest]
    return [*index[: dots[0]], *(rest or [Ellipsis]), *index[dots[0] + 1 :]]


def _axes_taken(i) -> int:
    if i is None or i is Ellipsis or isinstance(i, (bool, np.bool_)):
        return 0
    return np.ndim(i) if is_mask(i) else 1


def is_mask(i) -> bool:
    return getattr(i, "dtype", None) == bool


def _normalize(index) -> tuple:
    """The index as a tuple; lists, and tuples within it, become arrays of positions or masks."""
    items = index if isinstance(index, tuple) else (index,)
    return tuple(_list_to_array(i) if isinstance(i, (list, tuple)) else i for i in items)


def _positions(items):
    """Nested tuples of numbers, some of them arrays, as one array of positions."""
    parts = [_positions(i) if isinstance(i, tuple) else to_value(i) for i in items]
    kind = functools.reduce(np.promote_types, [typeof(p).dtype for p in parts])
    rows = [ops.reshape(ops.convert(p, dtype=kind), shape=(1, *typeof(p).shape)) for p in parts]
    return ops.concatenate(*rows, axis=0)


def _are_numbers(items) -> bool:
    flat = [i for i in items if not isinstance(i, tuple)]
    nested = all(_are_numbers(i) for i in items if isinstance(i, tuple))
    kinds = (Value, int, np.integer, np.ndarray)
    return nested and all(isinstance(i, kinds) and typeof(to_value(i)).shape == () for i in flat)


def _list_to_array(items):
    if isinstance(items, tuple) and _has_arrays(items) and _are_numbers(items):
        return _positions(items)
    if any(isinstance(i, (Value, slice)) or i is None or i is Ellipsis for i in items):
        raise TypeError(
            "A list of arrays or slices is not an index. Use a tuple for several axes (x[a, b]), or "
            "xnp.asarray / xnp.stack to make one array of positions."
        )
    try:
        found = np.asarray(items)
    except ValueError:
        raise errors.BadIndexError(
            f"lists of different lengths have no shape and are not an index: {errors.describe(items)}. "
            "Use a tuple for several axes."
        ) from None
    return found.astype(np.int32) if found.size == 0 else found


def _has_arrays(items) -> bool:
    return any(isinstance(i, Value) or (isinstance(i, tuple) and _has_arrays(i)) for i in items)


class Index:
    """A parsed index of an array of one shape: ``plan`` (static) and ``values`` (dynamic)."""

    __slots__ = ("checked", "plan", "strict", "values", "wraps")

    def __init__(self, shape: tuple, index, mode=None, wraps: bool = True):
        self.wraps = wraps  # whether negative positions count from the end
        # who names a mode says what positions outside of the array mean
        self.strict = mode is None and not config.settings().clamp
        self.checked = mode is None and findings.checks_positions()
        entries = _expand_ellipsis(_normalize(index), len(shape))
        self.values: list = []
        plan, axis = [], 0
        for entry in entries:
            plan += self._parse(entry, axis, shape)
            axis += _axes_taken(entry)
        self.plan = tuple(plan)

    def _parse(self, i, axis: int, shape) -> list:
        if i is None or i is Ellipsis:
            return [("new",) if i is None else ("gap",)]
        if isinstance(i, slice):
            return [_slice_entry(i, axis, shape)]
        if isinstance(i, (bool, np.bool_)):
            return self._switch(i, axis, shape)
        if is_mask(i):
            return self._mask(i, axis, shape)
        if isinstance(i, (int, np.integer)):
            return self._static(int(i), axis, shape)
        if isinstance(i, (float, complex, str)) or not (
            hasattr(i, "dtype") or hasattr(i, "__index__")
        ):
            raise errors.BadIndexError(
                f"only integers, slices (:), ellipsis (...), None and integer or boolean arrays are indices; "
                f"given {errors.describe(i)}"
            )
        if not hasattr(i, "dtype"):
            return self._static(i.__index__(), axis, shape)
        if not dtypes.is_integer(i.dtype):
            raise errors.BadIndexError(
                f"arrays used as indices must be of integer or bool dtype, given {i.dtype}"
            )
        return self._dynamic(i, axis, shape)

    def _static(self, i: int, axis: int, shape) -> list:
        n = shape[axis]
        if self.strict or -n * self.wraps <= i < n:
            return [("int", _checked(i, axis, shape, self.wraps))]
        return self._dynamic(np.asarray(np.clip(i, -(2**31), 2**31 - 1), np.int32), axis, shape)

    def _dynamic(self, i, axis: int, shape) -> list:
        if isinstance(i, np.ndarray):
            if self.strict:
                _check_positions(i, axis, shape, self.wraps)
                if i.ndim == 0:
                    return [("int", int(i) % max(shape[axis], 1))]
        elif self.checked:
            if type(i) is Array:
                _check_positions(np.asarray(i), axis, shape)
            else:
                check_positions(i, axis, shape)
        self.values.append(i if self.wraps else _not_counted_from_the_end(i, shape[axis]))
        return [("at" if np.ndim(i) == 0 else "array", len(self.values) - 1, shape[axis])]

    def _mask(self, mask, axis: int, shape) -> list:
        if is_traced(mask):
            raise errors.NonConcreteBooleanIndexError(
                "x[mask] under a transformation would have a shape that depends on values. Use "
                "xnp.where(mask, x, fill) to keep the shape, x.at[mask].set(v) to assign, or "
                "x[xnp.nonzero(mask, size=n, fill_value=0)] to take a fixed number." + mask.origin()
            )
        host = np.asarray(mask)
        if not host.ndim:
            return self._switch(host, axis, shape)
        sizes = shape[axis : axis + host.ndim]
        # as in NumPy a mask may be empty along an axis: it selects nothing
        if len(sizes) < host.ndim or any(m not in (n, 0) for m, n in zip(host.shape, sizes)):
            raise IndexError(
                f"boolean index of shape {host.shape} does not match axes {axis} to {axis + host.ndim - 1} "
                f"of an array of shape {tuple(shape)}"
            )
        return self._positions([p.astype(np.int32) for p in np.nonzero(host)], axis, shape)

    def _switch(self, mask, axis: int, shape) -> list:
        """A mask without axes: a new axis of length 1 or 0."""
        return self._positions([np.zeros(int(mask), np.int32)], axis, shape, new=True)

    def _positions(self, arrays, axis, shape, new: bool = False) -> list:
        entries = []
        for a in arrays:
            self.values.append(a)
            entries.append(("array", len(self.values) - 1, None))
        return [("new array", len(self.values) - 1)] if new else entries


def _not_counted_from_the_end(i, n: int):
    """Positions of which the negative ones are far out of range, before they are counted and after."""
    if isinstance(i, np.ndarray):
        return np.where(i < 0, np.int64(-1 - n), i)
    i = _as_position(as_array("numpy.indexing", i), n)
    t = typeof(i)
    return ops.select(ops.lt(i, ops.zeros(t)), full_like_type(t, -1 - n), i)


def _slice_entry(s: slice, axis: int, shape) -> tuple:
    for part in (s.start, s.stop, s.step):
        if is_traced(part):
            raise errors.NonConcreteSliceError(
                f"The bounds of a slice must be Python ints under a transformation, given {part.type}. "
                "Use xcore.lax.dynamic_slice(x, starts, sizes) for a window of fixed size at a traced place, "
                "or mask with xnp.where." + part.origin()
            )
    parts = [None if p is None else operator.index(p) for p in (s.start, s.stop, s.step)]
    start, stop, step = slice(*parts).indices(shape[axis])
    return ("slice", start, len(range(start, stop, step)), step)


def _checked(i: int, axis: int, shape, wraps: bool = True) -> int:
    n = shape[axis]
    if not -n * wraps <= i < n:
        raise errors.index_out_of_range(i, axis, shape)
    return i % n


def _check_positions(i: np.ndarray, axis: int, shape, wraps: bool = True) -> None:
    n = shape[axis]
    if i.size and not (-n * wraps <= i.min() and i.max() < n):
        worst = int(i.max() if i.max() >= n else i.min())
        raise errors.index_out_of_range(worst, axis, shape)


def refuse_known(x, indices, axis=None, mode=None, wraps: bool = True) -> None:
    """IndexError for positions out of range that are known, where no mode says what they mean."""
    if mode is not None or isinstance(indices, Value) or config.settings().clamp:
        return
    shape = np.shape(x) if axis is not None else (np.size(x),)
    axis = 0 if axis is None else axis
    found = np.asarray(indices)
    if found.dtype.kind in "iu" and -len(shape) <= axis < len(shape):
        _check_positions(found, axis % len(shape), shape, wraps)


def position(values, entry):
    """The k-th dynamic value, negative ones counted from the end, as int32 (int64 for long axes)."""
    _, k, n = entry
    i = as_array("numpy.indexing", values[k])
    if n is None:  # positions that a mask gave
        return i
    unsigned = dtypes.kind(typeof(i).dtype) == "uint"
    i = _as_position(i, n)
    t = typeof(i)
    return (
        i if unsigned else ops.select(ops.lt(i, ops.zeros(t)), ops.add(i, full_like_type(t, n)), i)
    )


def _as_position(i, n: int):
    """Integers as int32, or as int64 for axes that are longer and for those that may hold more."""
    wide = n >= 2**31 or typeof(i).dtype in (dtypes.int64, dtypes.uint64, dtypes.uint32)
    return astype(i, dtypes.int64 if wide else dtypes.int32)


# What a plan says


def axes_of_plan(plan) -> list:
    """(axis of the array or None, entry) for each entry of a plan."""
    out, axis = [], 0
    for entry in plan:
        takes = entry[0] not in ("new", "new array", "gap")
        out.append((axis if takes else None, entry))
        axis += takes
    return out


def static_region(x, plan):
    """The static slices and ints of a plan as (start, limit, stride) per axis, and reversed axes."""
    start, limit, stride, flipped = [], [], [], []
    for axis, entry in axes_of_plan(plan):
        if axis is None:
            continue
        if entry[0] == "int":
            a, b, s = entry[1], entry[1] + 1, 1
        elif entry[0] == "slice":
            _, a, n, s = entry
            if s < 0:
                flipped.append(axis)
                a, s = a + (n - 1) * s, -s
            a = a if n else 0
            b = a + (n - 1) * s + 1 if n else a
        else:
            a, b, s = 0, typeof(x).shape[axis], 1
        start.append(a)
        limit.append(b)
        stride.append(s)
    return tuple(start), tuple(limit), tuple(stride), tuple(flipped)


def take_region(x, region):
    start, limit, stride, flipped = region
    t = typeof(x)
    if start != (0,) * t.ndim or limit != t.shape or any(s != 1 for s in stride):
        x = ops.slice(x, start=start, limit=limit, strides=stride)
    return ops.rev(x, axes=flipped) if flipped else x


def _block_place(plan) -> int:
    """Where the axes of index arrays go: at the first one if they stand together, else in front."""
    places = [k for k, e in enumerate(plan) if e[0] in ("array", "at", "int", "new array")]
    together = places[-1] - places[0] + 1 == len(places)
    if not together:
        return 0
    return sum(e[0] in ("slice", "new") for e in plan[: places[0]])


def final_shape(x, plan, block) -> tuple:
    """The shape of the result; ``block`` is the common shape of the index arrays, or None."""
    kept = [1 if e[0] == "new" else e[2] for e in plan if e[0] in ("new", "slice")]
    if block is None:
        return tuple(kept)
    place = _block_place(plan)
    return (*kept[:place], *block, *kept[place:])


def index_arrays(x, plan, values):
    """(axes, positions, common shape) of a plan with arrays; ints count as arrays then."""
    axes, arrays = [], []
    for axis, entry in axes_of_plan(plan):
        if entry[0] in ("array", "at"):
            axes.append(axis)
            arrays.append(position(values, entry))
        elif entry[0] == "new array":
            axes.append(None)
            arrays.append(as_array("numpy.indexing", values[entry[1]]))
    shape = broadcast_shapes("numpy.indexing", *[typeof(a).shape for a in arrays])
    return axes, arrays, shape


def rows_of(axes, arrays, shape):
    """Index arrays as rows of one matrix: shape (*shape, number of axes)."""
    pairs = [(axis, a) for axis, a in zip(axes, arrays, strict=True) if axis is not None]
    wide = any(typeof(a).dtype == dtypes.int64 for _, a in pairs)
    dtype = dtypes.int64 if wide else dtypes.int32
    columns = [
        ops.reshape(broadcast_to(astype(a, dtype), shape), shape=(*shape, 1)) for _, a in pairs
    ]
    if not columns:
        return ops.zeros(ArrayType((*shape, 0), dtype))
    return columns[0] if len(columns) == 1 else ops.concatenate(*columns, axis=len(shape))


def _offset_dims(window_rank: int, block_rank: int, kept_before: int) -> tuple:
    """The result axes of a gather that hold the window: all but the block at ``kept_before``."""
    total = window_rank + block_rank
    block = range(kept_before, kept_before + block_rank)
    return tuple(i for i in range(total) if i not in block)


def _window_axes_before(plan) -> int:
    """How many axes of the array stand before the block of index arrays in the result."""
    places = [k for k, e in enumerate(plan) if e[0] in ("array", "at", "int", "new array")]
    if places[-1] - places[0] + 1 != len(places):
        return 0
    return sum(e[0] == "slice" for e in plan[: places[0]])


def has_arrays(plan) -> bool:
    return any(e[0] in ("array", "new array") for e in plan)


def gather_dims(x, plan, axes, block_rank):
    """GatherDims and window sizes for index arrays along ``axes`` of a region already cut out."""
    t = typeof(x)
    taken = {a for a in axes if a is not None}
    # static ints were cut to size 1: they are dropped with the axes of the arrays
    dropped = taken | {a for a, e in axes_of_plan(plan) if e[0] == "int"}
    offset = _offset_dims(t.ndim - len(dropped), block_rank, _window_axes_before(plan))
    sizes = tuple(1 if i in dropped else n for i, n in enumerate(t.shape))
    start_map = tuple(a for a in axes if a is not None)
    return offset, tuple(sorted(dropped)), start_map, sizes


def scalar_positions(plan, values) -> dict:
    """The positions of those axes that a dynamic scalar indexes."""
    return {axis: position(values, e) for axis, e in axes_of_plan(plan) if e[0] == "at"}


def same_dtype(starts):
    wide = any(typeof(s).dtype == dtypes.int64 for s in starts)
    return [astype(s, dtypes.int64 if wide else dtypes.int32) for s in starts]


def in_bounds(dynamic: dict, shape):
    """Whether all dynamic scalars are positions of their axis."""
    inside = None
    for axis, i in dynamic.items():
        t = typeof(i)
        top = min(shape[axis], dtypes.iinfo(t.dtype).max)
        ok = ops.and_(ops.ge(i, ops.zeros(t)), ops.lt(i, full_like_type(t, top)))
        inside = ok if inside is None else ops.and_(inside, ok)
    return inside


_MODES = {
    None: "clip",
    "clip": "clip",
    "promise_in_bounds": "promise",
    "fill": "fill",
    "drop": "fill",
}


def mode_of(mode, default):
    name = getattr(mode, "name", mode)
    name = name.lower() if isinstance(name, str) else name
    name = "fill" if name == "fill_or_drop" else name
    if not (name is None or isinstance(name, str)) or name not in _MODES:
        raise errors.bad_argument(
            "numpy.ndarray.at", "mode", mode, "'clip', 'fill', 'drop' or 'promise_in_bounds'"
        )
    return default if name is None else _MODES[name]
