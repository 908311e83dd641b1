"""Programs with their checks made into values: what ``checkify`` is made of.

The state that goes through a checked program is the error so far: the id of the site that failed
first, or 0, and slots for the arrays that messages show. All sites of a program share the slots; a
site's values go into the first slots of their types.
"""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .._core import ArrayType, Program, bind, dtypes, typeof
from .._ops import stop_gradient
from .._ops.slicing import as_gather
from .checks import check_op, first_bad, index_site, make_site, outside, slots_for
from .threaded import Threader, programs_of

_CODE = ArrayType((), dtypes.int32)
_PLACE = ArrayType((), dtypes.int64)

# Checks of first-order operations
# A rule maps the inputs, results and params of an equation to (failed, site, values of its message).

# They hand values on; where they show a NaN, it was one before, or was asked for.
MOVE = frozenset(
    "all_gather all_to_all bitcast_convert broadcast_in_dim complex concatenate conj convert "
    "dynamic_slice dynamic_update_slice gather imag iota name optimization_barrier pad ppermute real "
    "reshape rev select slice sort stop_gradient transpose".split()
)

_SUMS = ("psum", "psum_invariant", "psum_scatter")


def _all_axes(x) -> tuple:
    return tuple(range(typeof(x).ndim))


def _nan_check(e, ins, outs):
    failed = None
    for x in outs:
        if dtypes.kind(typeof(x).dtype) in ("float", "complex") and typeof(x).size:
            bad = ops.ne(x, x)
            if e.op.name in _SUMS:
                bad = ops.and_(bad, ops.not_(_of_nan(e, ins[0])))
            bad = ops.reduce_or(bad, axes=_all_axes(x))
            failed = bad if failed is None else ops.or_(failed, bad)
    return failed, *make_site("nan", "the operation {} produced a NaN", (e.op.name,), None, e.where)


def _of_nan(e, x):
    """Where a sum over devices has a NaN among its terms, which another device may have made."""
    nan = ops.convert(ops.ne(x, x), dtype=typeof(x).dtype)
    (count,) = bind(e.op, nan, **e.params)
    return ops.ne(count, ops.zeros(typeof(count).strong()))


def _div_check(e, ins, outs):
    zero = ops.eq(ins[1], ops.zeros(typeof(ins[1]).strong()))
    failed = ops.reduce_or(zero, axes=_all_axes(zero))
    return failed, *make_site("div", "division by zero", (), None, e.where)


def _starts_check(e, ins, outs):
    """dynamic_slice and dynamic_update_slice: starts of a window of known size."""
    shape = typeof(ins[0]).shape
    starts, sizes = (
        (ins[1:], e.params["sizes"]) if "sizes" in e.params else (ins[2:], typeof(ins[1]).shape)
    )
    columns = [ops.convert(s, dtype=dtypes.int64) for s in starts]
    return _positions_check(e, columns, range(len(shape)), shape, sizes)


def _rows_check(e, ins, outs):
    """gather and scatter: rows of positions, a column for each axis of the start map."""
    shape, dims = typeof(ins[0]).shape, e.params["dims"]
    sizes = e.params.get("sizes") or as_gather(typeof(ins[0]), typeof(ins[2]), dims)[1]
    rows = ops.convert(ins[1], dtype=dtypes.int64)
    t = typeof(rows)
    ones, front = (1,) * t.ndim, t.shape[:-1]
    columns = [
        ops.slice(rows, start=(*(0,) * len(front), k), limit=(*front, k + 1), strides=ones)
        for k in range(len(dims.start_map))
    ]
    return _positions_check(e, columns, dims.start_map, shape, sizes)


def _positions_check(e, columns, axes, shape, sizes):
    """Positions (int64) along some axes must leave room for a window."""
    failed, index, axis = np.False_, np.int64(0), np.int64(0)
    for column, a in zip(columns, axes, strict=True):
        bad, value = first_bad(outside(column, 0, shape[a] - sizes[a]), column)
        # negative positions were counted from the end before
        value = ops.select(ops.lt(value, np.int64(0)), ops.sub(value, np.int64(shape[a])), value)
        index, axis = ops.select(failed, index, value), ops.select(failed, axis, np.int64(a))
        failed = ops.or_(failed, bad)
    return failed, *index_site(index, axis, shape, e.where)


def _checks_of(e, kinds) -> list:
    """(rule, types of the values its message shows) for the checks of a first-order equation."""
    name, found = e.op.name, []
    if "div" in kinds and name in ("div", "rem") and e.inputs[1].type.size:
        found.append((_div_check, ()))
    if (
        "index" in kinds
        and name in ("dynamic_slice", "dynamic_update_slice")
        and e.inputs[0].type.shape
    ):
        found.append((_starts_check, (_PLACE, _PLACE)))
    if "index" in kinds and name in ("gather", "scatter") and e.inputs[1].type.size:
        # a gather that fills is asked for what is not there
        found += (
            [(_rows_check, (_PLACE, _PLACE))]
            if (name, e.params["mode"]) != ("gather", "fill")
            else []
        )
    if (
        "nan" in kinds
        and name not in MOVE
        and any(
            dtypes.kind(v.type.dtype) in ("float", "complex") and v.type.size for v in e.outputs
        )
    ):
        found.append((_nan_check, ()))
    return found


# The error


def _sites(p: Program, kinds) -> list[tuple]:
    """For each check in a program, the types of the values its message shows."""

    def search():
        found = []
        for e in p.eqns:
            if e.op.nested:
                found += [s for q in programs_of(e.params) for s in _sites(q, kinds)]
            elif _is_asked(e, kinds):
                found.append(tuple(_own_types(e)))
            else:
                found += [types for _, types in _checks_of(e, kinds)]
        return found

    return p.memo(("sites", kinds), search)


def _is_asked(e, kinds) -> bool:
    """Whether it is a check that counts: of a user's, or of positions by a setting or for these kinds."""
    return e.op is check_op and ("user" in kinds or e.params.get("kind") in kinds)


def _own_types(e) -> list[ArrayType]:
    """The types of the values that a check shows, without its batch elements."""
    batch_ndim = e.inputs[0].type.ndim
    return [ArrayType(a.type.shape[batch_ndim:], a.type.dtype) for a in e.inputs[1:]]


def _slots(sites) -> list[ArrayType]:
    """Types of slots that hold the values of any one site."""
    counts: dict = {}
    for types in sites:
        for t in types:
            counts[t] = max(counts.get(t, 0), types.count(t))
    return [t for t in sorted(counts, key=str) for _ in range(counts[t])]


def checker(p: Program, kinds) -> Threader:
    """The Threader that carries an error value through a program."""
    slots = _slots(_sites(p, kinds))

    def concerns(e) -> bool:
        return e.op is check_op or bool(_checks_of(e, kinds))

    def visit(e, error, ins):
        if e.op is check_op and not _is_asked(e, kinds):
            return error, []  # a check that nobody asked for
        if e.op is check_op:
            number, values = _first_failed(e, ins)
            return _after(error, number, values, _own_types(e), slots), []
        outs = bind(e.op, *ins, **e.params)
        for rule, types in _checks_of(e, kinds):
            failed, site, values = rule(e, ins, outs)
            number = ops.select(failed, np.int32(site.number), np.int32(0))
            error = _after(error, number, values, types, slots)
        return error, outs

    return Threader(("error", kinds, tuple(slots)), [_CODE, *slots], concerns, visit, changes=True)


def _after(error, number, values, types, slots) -> list:
    """The error, or if there is none yet, that with this number (0: none)."""
    code, *held = error
    new = ops.and_(ops.eq(code, np.int32(0)), ops.ne(number, np.int32(0)))
    for i, v in zip(slots_for(slots, types), values, strict=True):
        t = typeof(held[i])
        here = ops.broadcast_in_dim(new, shape=t.shape, dims=()) if t.shape else new
        held[i] = ops.select(here, _plain(v), held[i])
    return [ops.select(new, number, code), *held]


def _plain(x):
    """A value for a message: of strong type, and without a derivative."""
    t = typeof(x)
    x = ops.convert(x, dtype=t.dtype) if t.weak else x
    return stop_gradient(x) if dtypes.is_inexact(t.dtype) else x


def _first_failed(e, ins):
    """The number and the values of the first batch element that failed."""
    code, *values = ins
    shape = typeof(code).shape
    if not shape:
        return code, values
    n = int(np.prod(shape))
    if not n:
        return np.int32(0), [ops.zeros(t) for t in _own_types(e)]
    bad = ops.reshape(ops.ne(code, ops.zeros(typeof(code))), shape=(n,))
    place = ops.argmax(bad, axis=0, dtype=dtypes.int32)
    number, *values = [_row(x, n, len(shape), place) for x in ins]
    return number, values


def _row(x, n: int, batch_ndim: int, place):
    """One batch element, of all n in a row, of an array with several leading axes of them."""
    own = typeof(x).shape[batch_ndim:]
    flat = ops.reshape(x, shape=(n, *own))
    row = ops.dynamic_slice(flat, place, *[np.int32(0)] * len(own), sizes=(1, *own))
    return ops.reshape(row, shape=own)
