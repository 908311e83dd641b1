"""x.at[index]: changed copies. Slices and dynamic scalars are updated in place, arrays scattered."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from .. import _ops as ops
from .._control import fori_loop
from .._core import boundary, config, dtypes, errors, findings, fused, is_evaluating, is_traced
from .._core.array import Array, ScalarBuffers, reach_of, scalar
from .._core.config import FastCache
from .._core.dispatch import BUFFER, Path, maker, with_parameters
from .._core.host_calls import update_call
from .._core.types import ArrayType, typeof
from .._ops import full_like_type
from . import _reduce
from ._creation import asarray
from ._index import KEY, PARTS, getitem, has_windows, places, window_of
from ._placement import laid_out
from ._plan import (
    Index,
    final_shape,
    gather_dims,
    has_arrays,
    in_bounds,
    index_arrays,
    is_mask,
    mode_of,
    rows_of,
    same_dtype,
    scalar_positions,
    static_region,
    take_region,
)
from ._promote import (
    SCALARS,
    as_array,
    as_inexact,
    as_value,
    astype,
    broadcast_to,
    checked_scalar,
    kind_and_weak,
    refuse_complex,
    result_dtype,
)  # fmt: skip
from ._sanitize import check_cast

WHO = "numpy.ndarray.at"


def _combine(how: str, old, new):
    return {
        "set": lambda: new, "add": lambda: ops.add(old, new), "mul": lambda: ops.mul(old, new),
        "min": lambda: ops.min(old, new), "max": lambda: ops.max(old, new),
    }[how]()  # fmt: skip


@fused(1)
def _put(arrays, plan, how, mode, unique, is_sorted):
    x, v, *values = arrays
    v = as_array(WHO, v)
    region = static_region(x, plan)
    part = take_region(x, region)
    if 0 in typeof(part).shape:
        return x
    if has_arrays(plan):
        part = _scatter_into(x, part, v, plan, values, how, mode, unique, is_sorted)
    else:
        part = _put_scalars(x, part, v, plan, values, how, mode)
    out = _put_region(x, part, region)
    return ops.weakened(out) if typeof(x).weak else ops.strengthened(out)


def _scatter_into(x, part, v, plan, values, how, mode, unique, is_sorted):
    axes, positions, block = index_arrays(part, plan, values)
    shape = final_shape(x, plan, block)
    v = _fit_value(v, shape)
    if 0 in block:
        return part
    offset, dropped, start_map, sizes = gather_dims(part, plan, axes, len(block))
    window = [n for i, n in enumerate(sizes) if i not in dropped]
    # new axes of the index are of length 1: the updates have the shape without them
    it_window, it_block = iter(window), iter(block)
    rank = len(window) + len(block)
    v = ops.reshape(
        v, shape=tuple(next(it_window) if i in offset else next(it_block) for i in range(rank))
    )
    if not start_map:  # nothing but new axes
        return _combine(how, part, ops.reshape(v, shape=typeof(part).shape))
    rows = rows_of(axes, positions, block)
    dims = ops.ScatterDims(offset, dropped, start_map)
    return ops.scatter(
        part, rows, v, dims=dims, how=how, mode=mode, unique=unique, sorted=is_sorted
    )


def _fit_value(v, shape):
    v_shape = typeof(v).shape
    fits = len(v_shape) <= len(shape) or all(n == 1 for n in v_shape[: len(v_shape) - len(shape)])
    if not fits or any(a not in (1, b) for a, b in zip(v_shape[::-1], shape[::-1], strict=False)):
        raise errors.ShapeError(
            f"xcore: a value of shape {v_shape} cannot be assigned to x.at[index] of shape {shape}: "
            "it must broadcast to it."
        )
    extra = len(v_shape) - len(shape)
    v = ops.reshape(v, shape=v_shape[extra:]) if extra > 0 else v
    return broadcast_to(v, shape)


def _put_scalars(x, part, v, plan, values, how, mode):
    """Static slices, and dynamic scalars by one dynamic update; outside positions change nothing."""
    scalars = any(e[0] in ("at", "int") for e in plan)
    v = _fit_value(v, final_shape(x, plan, () if scalars else None))
    dynamic = scalar_positions(plan, values)
    t = typeof(part)
    sizes = tuple(1 if i in dynamic else n for i, n in enumerate(t.shape))
    v = ops.reshape(v, shape=sizes) if typeof(v).shape != sizes else v
    if not dynamic:
        return _combine(how, part, v)
    starts = same_dtype([dynamic.get(i, np.int32(0)) for i in range(t.ndim)])
    old = ops.dynamic_slice(part, *starts, sizes=sizes)
    new = _combine(how, old, v)
    if mode == "fill":
        new = ops.select(in_bounds(dynamic, t.shape), new, old)
    return ops.dynamic_update_slice(part, new, *starts)


def _put_region(x, part, region):
    """x with a region replaced: the reverse of take_region."""
    start, limit, stride, flipped = region
    t = typeof(x)
    part = ops.rev(part, axes=flipped) if flipped else part
    if typeof(part).shape == t.shape:
        return part
    if set(stride) <= {1}:
        return ops.dynamic_update_slice(x, part, *[np.int32(a) for a in start])
    where = {
        "low": start, "interior": tuple(s - 1 for s in stride),
        "high": tuple(n - b for n, b in zip(t.shape, limit, strict=True)),
    }  # fmt: skip
    spread = ops.pad(part, ops.zeros(ArrayType((), t.dtype)), **where)
    true = full_like_type(ArrayType(typeof(part).shape, dtypes.bool_), True)
    inside = ops.pad(true, ops.zeros(ArrayType((), dtypes.bool_)), **where)
    return ops.select(inside, spread, x)


def _value_like(x, v):
    """The value in the array's dtype. A dtype that would lose something is refused when strict."""
    who, t = WHO, typeof(x)
    v = as_value(who, asarray(v, t.dtype) if isinstance(v, (list, tuple)) else v, "value")
    if config.settings().numpy_dtype_promotion == "strict":
        result_dtype(who, x, v)
    refuse_complex("", v, t.dtype, t)
    if type(v) not in SCALARS:
        if config.settings().sanitize:
            check_cast(f"{WHO}[...]", v, t.dtype)
        return astype(as_array(who, v), t.dtype)
    # straight to the dtype, for on the way through the default float digits would be lost
    value = checked_scalar(v, t.dtype)
    return scalar(value, t.dtype) if is_evaluating() else value


def _mask_of(x, index):
    """The mask if the index is a single boolean array that covers the first axes of x."""
    if isinstance(index, (list, tuple)):
        index = index[0] if len(index) == 1 else None
    if not is_mask(index):
        return None
    shape = typeof(x).shape
    if tuple(index.shape) != tuple(shape[: len(index.shape)]):  # pyright: ignore[reportOptionalMemberAccess]
        raise IndexError(
            f"boolean index of shape {tuple(index.shape)} does not match an array of shape {shape}"  # pyright: ignore[reportOptionalMemberAccess]
        )
    return index


@fused(1)
def _put_window(arrays, sizes, shape, how):
    """Static ints and slices of step 1 as arguments, so that a loop over x.at[i] runs one program."""
    x, v, *starts = arrays
    v = ops.reshape(_fit_value(v, shape), shape=sizes)
    old = ops.dynamic_slice(x, *starts, sizes=sizes)
    return ops.dynamic_update_slice(x, _combine(how, old, v), *starts)


@fused(1)
def _put_mask(arrays, how):
    x, v, mask = arrays
    t = typeof(x)
    mask = ops.reshape(mask, shape=(*typeof(mask).shape, *(1,) * (t.ndim - typeof(mask).ndim)))
    return ops.select(broadcast_to(mask, t.shape), _combine(how, x, broadcast_to(v, t.shape)), x)


_LOST = "x.at[...] gives a changed copy, and nobody keeps it: arrays do not change. Write x = x.at[...]."


class Access(NamedTuple):
    """How positions are meant, and what is promised about them."""

    mode: object = None
    unique: bool = False
    is_sorted: bool = False
    wraps: bool = True


def _is_complex_extremum(how: str, x) -> bool:
    return how in ("min", "max") and dtypes.is_complex(typeof(x).dtype)


def update(x, index, v, how: str, access: Access):
    """x.at[index] combined with v: ``how`` is set, add, mul, min or max."""
    if _is_complex_extremum(how, x):
        raise errors.dtype_not_allowed(f"numpy.ndarray.at[...].{how}", typeof(x).dtype, "real")
    if how != "set" and _is_of_wider_kind(x, v):
        return _update_as_wider(x, index, v, how, access)
    v = _value_like(x, v)
    mode = mode_of(access.mode, "fill")  # looked at where no position can be outside, too
    mask = _mask_of(x, index)
    if mask is not None:
        inner = len(typeof(x).shape) - len(mask.shape)
        if typeof(v).ndim <= inner:
            return _put_mask([x, v, as_array(WHO, mask)], how)
        if is_traced(mask):
            raise errors.ConcretizationError(
                "Under a transformation x.at[mask] takes a scalar, or a value for the axes behind the mask; one "
                f"value for each selected element ({typeof(v)}) needs their number. Use xnp.where(mask, v_full, x)."
            )
    if type(x) is Array and access.mode is None and access.wraps and is_evaluating() and has_windows(x):  # fmt: skip
        found = window_of(x, index)
        if found is not None:
            starts, sizes, shape = found
            return _put_window(
                [x, v, *[scalar(i, dtypes.int32) for i in starts]], sizes, shape, how
            )
    parsed = Index(typeof(x).shape, index, access.mode, access.wraps)
    return _put([x, v, *parsed.values], parsed.plan, how, mode, access.unique, access.is_sorted)


def _is_of_wider_kind(x, v) -> bool:
    """Whether an array of integers or bools meets floats, or bools meet integers."""
    if dtypes.kind(typeof(x).dtype) not in _KINDS or isinstance(v, (list, tuple)):
        return False
    found = dtypes.kind(kind_and_weak(as_value(WHO, v, "value"))[0])
    return _KINDS.get(found, -1) > _KINDS[dtypes.kind(typeof(x).dtype)]


_KINDS = {"bool": 0, "int": 1, "uint": 1, "float": 2, "float8": 2}


def _widened(x, v):
    """A value in the dtype that it and an array have together."""
    return astype(as_array(WHO, v), result_dtype(WHO, x, as_value(WHO, v))[0])


def _update_as_wider(x, index, v, how: str, access: Access):
    """As ``x[index] = x[index] + v`` in NumPy: computed in the common dtype. The other elements stay."""
    v, t = _widened(x, v), typeof(x)
    new = astype(update(astype(x, typeof(v).dtype), index, v, how, access), t.dtype)
    touched = update(ops.zeros(ArrayType(t.shape, dtypes.bool_)), index, True, "set", access)
    return ops.select(touched, new, x)


def _subtract(x, index, v, access: Access):
    v = _widened(x, v) if _is_of_wider_kind(x, v) else _value_like(x, v)
    return update(x, index, ops.neg(v), "add", access)


def _divide(x, index, v, access: Access):
    x = as_inexact(WHO, x)
    return ops.div(x, update(ops.ones(typeof(x).strong()), index, v, "mul", access))


def _power(x, index, v, access: Access):
    return ops.pow(x, update(ops.ones(typeof(x).strong()), index, _value_like(x, v), "mul", access))


def _apply(x, index, function, access: Access):
    """Each element as often as it stands at the index, one after the other."""

    def once(x):
        old = getitem(x, index, access.mode, wraps=access.wraps)
        return update(x, index, function(old), "set", access)

    def again(k, new):
        return ops.select(count > k, once(new), new)

    new = once(x)
    mask = _mask_of(x, index)
    if access.unique or mask is not None or not _may_repeat(x, index, access):
        return new
    count = update(ops.zeros(ArrayType(typeof(x).shape, dtypes.int32)), index, 1, "add", access)
    return fori_loop(1, _reduce.max(count, initial=0), again, new)


def _may_repeat(x, index, access: Access) -> bool:
    return has_arrays(Index(typeof(x).shape, index, access.mode, access.wraps).plan)


class At:
    """``x.at``: ``x.at[index].set(v)`` is a copy of x with ``x[index] = v`` done."""

    __slots__ = ("_x",)

    def __init__(self, x):
        self._x = x

    def __getitem__(self, index):
        return AtIndex(self._x, index)

    def __repr__(self):
        return f"At({self._x!r})"


def _method(doc: str, change):
    """A method of ``x.at[index]`` that returns a changed copy."""

    def method(self, values, *, indices_are_sorted=False, unique_indices=False, mode=None,
               wrap_negative_indices=True):  # fmt: skip
        access = Access(mode, unique_indices, indices_are_sorted, wrap_negative_indices)
        out = change(self._x, self._index, values, access)
        if config.settings().sanitize:
            findings.report_discarded(_LOST, __name__)
        return out

    method.__doc__ = doc
    return method


# The fast path of x.at[index], as that of x[index]

_programs = FastCache()  # (how, type, sizes, shape, kind of value) -> the program of a window
_ONE = "values._t if type(values) is _Array else type(values)"
_PATH = Path(
    params="self, values, indices_are_sorted, unique_indices, mode, wrap_negative_indices",
    find=f"""\
_x, _i, _key, _entry = self._x, self._index, None, None
if mode is None and wrap_negative_indices is True and type(_x) is _Array:
    _at = {KEY}
    if _at is not None:
        _key = _x._t, _at, {_ONE}
        _entry = _get(_key)
    if _entry is None:
        _entry = _learn(_key, _x, _i, values)""",
    entry="_run, _handlers, _t, _scalars, _places, _host",
    host="_host(_x, values)",
    buffers=f"[{BUFFER.format('_x')}, {BUFFER.format('values')} if _scalars is None else _scalars[values], *_places]",
    arrays="[_x, *([values] if _scalars is None else [])]",
    slow="_slow(self, values, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices, "
    "mode=mode, wrap_negative_indices=wrap_negative_indices)",
    bound="_get, _learn, _slow, _bounds, _ints",
    module=__name__,
)


def _combining(name: str, how: str, doc: str):
    """The method of this name that combines by ``how``, with a fast path."""
    ready = FastCache()  # (type, index, kind of value) -> the program with its buffers
    slow = _method(doc, lambda x, index, v, access: update(x, index, v, how, access))
    learn = functools.partial(_learn, ready, how)
    call = maker(_PATH)(ready.get, learn, slow, **PARTS)
    call.__name__, call.__qualname__ = name, f"AtIndex.{name}"
    with_parameters(call, call, slow.__code__)
    call.__kwdefaults__, call.__doc__ = slow.__kwdefaults__, doc
    return call


def _learn(ready: FastCache, how: str, key, x: Array, index, v):
    """What the fast path needs for a change by ``v``, kept under a key that is not None; or None."""
    settings, found = config.base(), None
    given = _simple_value(x, v) if has_windows(x) and not _is_complex_extremum(how, x) else None
    if given is not None:
        found = window_of(x, index)
    if found is None:
        return None
    (kind, scalars), (starts, sizes, shape) = given, found  # pyright: ignore[reportGeneralTypeIssues]
    program = how, x._t, sizes, shape, kind
    entry = _programs.get(program)
    if entry is None:
        zeros = [scalar(0, dtypes.int32)] * len(sizes)
        value = v if scalars is None else scalar(0, x.dtype)
        try:
            entry = _put_window.fused.fast_entry([[x, value, *zeros]], (sizes, shape, how))
        except Exception:  # the slow path, which comes next, says what is wrong
            entry = None
        if entry is None:
            return None
        entry = *entry, scalars
        _programs.keep(program, entry, settings)
    on_host = update_call(x._t, kind if scalars is None else scalars, starts, sizes, shape, how)
    entry = *entry, places(starts), on_host
    if key is not None:
        ready.keep(key, entry, settings)
    return entry


_RANKS = {"bool": 0, "int": 1, "uint": 1, "float": 2, "complex": 3}


def _simple_value(x: Array, v):
    """(kind, what has buffers of Python scalars) of a value of x's dtype or a number of its kind, or None."""
    t = x._t
    if type(v) is Array:
        fits = type(v._t) is ArrayType and v._t.dtype == t.dtype and not v._t.weak
        return (v._t, None) if fits else None
    rank = _RANKS.get(dtypes.kind(t.dtype), -1) if t.dtype.kind != "V" else -1
    if type(v) not in SCALARS or _RANKS[dtypes.kind(dtypes.scalar_dtype(v))] > rank:
        return None
    reach = reach_of(t.dtype) if type(v) is int and dtypes.is_integer(t.dtype) else None
    return type(v), ScalarBuffers(t.dtype, False, reach)


class AtIndex:
    """``x.at[index]``: get, or a changed copy.

    Each takes ``mode`` ("fill"/"drop": positions outside are ignored, the default for changes;
    "clip": moved to the nearest; "promise_in_bounds"), ``indices_are_sorted``, ``unique_indices``, and
    ``wrap_negative_indices``: False if negative positions are out of range, and do not count from the end.

    >>> import xcore.numpy as xnp
    >>> xnp.zeros(3).at[1].set(5)
    Array([0., 5., 0.], dtype=float32)
    """

    __slots__ = ("_index", "_x")

    def __init__(self, x, index):
        self._x, self._index = x, index

    @boundary
    def get(self, *, mode=None, fill_value=None, indices_are_sorted=False, unique_indices=False,
            out_sharding=None, wrap_negative_indices=True):  # fmt: skip
        """x[index]; with mode="fill" positions outside give ``fill_value`` (default NaN)."""
        out = getitem(
            self._x, self._index, mode, fill_value, unique_indices, indices_are_sorted, wrap_negative_indices,
        )  # fmt: skip
        return out if out_sharding is None else laid_out(WHO, out, out_sharding)

    set = _combining("set", "set", "x with x[index] = values.")
    add = _combining("add", "add", "x with values added at the index; repeated positions add up.")
    subtract = boundary(_method("x with values subtracted at the index.", _subtract))
    multiply = mul = _combining("multiply", "mul", "x with the elements at the index multiplied.")
    divide = boundary(
        _method("x with elements divided; integers become floats, as with ``/``.", _divide)
    )
    power = boundary(_method("x with the elements at the index raised to a power.", _power))
    min = _combining("min", "min", "x with the smaller of x[index] and values.")
    max = _combining("max", "max", "x with the larger of x[index] and values.")
    apply = boundary(
        _method(
            "x with a function applied to the elements at the index; to repeated ones as often as they are there.",
            _apply,
        )
    )
