"""What each operation of float64 is in pairs of float32."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .. import _ops as ops
from .._core import ArrayType, Literal, Program, bind, dtypes, typeof
from .._ops import pairs
from .._ops.pairs import Pair, single, splat
from .cond import _branch_for, cond_op
from .in_pairs import flat, in_pairs, paired, rewritten, rule, rules
from .loops import scan
from .scan import Scan
from .while_loop import while_op

__all__ = ["in_pairs"]  # with its rules

# Element by element

_OF_NUMBERS: dict[str, Callable] = {
    "add": pairs.plus, "sub": pairs.minus, "mul": pairs.times, "div": pairs.over, "neg": pairs.negative,
    "abs": pairs.size, "floor": pairs.whole_below, "ceil": pairs.whole_above, "round_even": pairs.nearest_even,
    "sqrt": pairs.square_root, "max": pairs.larger, "min": pairs.smaller, "eq": pairs.equals, "ne": pairs.differs,
    "lt": pairs.less, "le": pairs.at_most, "gt": lambda x, y: pairs.less(y, x), "ge": lambda x, y: pairs.at_most(y, x),
    "exp": pairs.exponential, "expm1": pairs.exponential_less_one, "log": pairs.logarithm,
    "log1p": pairs.logarithm_of_one_plus, "pow": pairs.to_power, "sin": pairs.sine_of, "cos": pairs.cosine_of,
    "is_finite": lambda x: ops.is_finite(x.high), "sign": lambda x: single(ops.sign(x.high)),
    "rsqrt": lambda x: pairs.over(splat(x, 1.0), pairs.square_root(x)),
}  # fmt: skip
for _name, _f in _OF_NUMBERS.items():
    rules[_name] = lambda e, given, f=_f: f(*given)


@rule("logistic")
def _logistic(e, given):
    (x,) = given
    z = pairs.exponential(pairs.negative(pairs.size(x)))
    far = pairs.over(z, pairs.plus(z, splat(z, 1.0)))
    near = pairs.over(splat(z, 1.0), pairs.plus(z, splat(z, 1.0)))
    return pairs.keeping_nan(pairs.where(pairs.is_below(x), far, near), x)


@rule("tanh")
def _tanh(e, given):
    (x,) = given
    z = pairs.exponential_less_one(
        pairs.by_number(pairs.smaller(pairs.size(x), splat(x, 30.0)), 2.0)
    )
    found = pairs.over(z, pairs.plus(z, splat(z, 2.0)))
    return pairs.keeping_nan(pairs.where(pairs.is_below(x), pairs.negative(found), found), x)


@rule("erf")
def _erf(e, given):
    """2/√π e^(-x²) x (1 + 2x²/3 + (2x²)²/(3·5) + …), whose terms are positive; 1 from 6 on."""
    x = pairs.smaller(pairs.size(given[0]), splat(given[0], 6.0))
    w = pairs.times(x, x)
    ratios = [Literal(part) for part in pairs.parts_of(2 / np.arange(3.0, 2 * _TERMS + 3, 2))]

    def step(state, ratio):
        term = pairs.times(pairs.times(Pair(*state[:2]), w), Pair(*[ops.broadcast_in_dim(
            r, shape=typeof(w.high).shape, dims=()) for r in ratio]))  # fmt: skip
        return (*term, *pairs.plus(Pair(*state[2:]), term)), None

    total = Pair(*scan(step, (*splat(x, 1.0), *splat(x, 1.0)), tuple(ratios))[0][2:])
    factor = pairs.by_number(pairs.exponential(pairs.negative(w)), 2 / math.sqrt(math.pi))
    found = pairs.times(factor, pairs.times(x, total))
    found = pairs.where(ops.lt(x.high, splat(x, 6.0).high), found, splat(x, 1.0))
    found = pairs.where(pairs.is_below(given[0]), pairs.negative(found), found)
    return pairs.keeping_nan(found, given[0])


_TERMS = 120  # of the series at 6


@rule("convert")
def _convert(e, given):
    (x,), dtype = given, e.params["dtype"]
    if not isinstance(x, Pair):
        kind = dtypes.kind(typeof(x).dtype)
        return (
            single(pairs.rounded(ops.convert(x, dtype=dtypes.float32)))
            if kind in ("float", "float8")
            else pairs.of_integer(x)
        )
    if dtype == dtypes.float64:
        return x
    found = _narrowed(x, dtype)
    return ops.convert(found, **e.params)


def _narrowed(x: Pair, dtype):
    if dtypes.is_integer(dtype):
        return pairs.to_integer(x, dtype)
    return ops.ne(x.high, splat(x, 0.0).high) if dtypes.is_bool(dtype) else x.high


@rule("reduce_precision")
def _reduce_precision(e, given):
    (x,), bits = given, e.params["mantissa_bits"]
    if bits > 23:
        return x if bits >= 48 else NotImplemented
    return single(
        ops.reduce_precision(
            x.high, exponent_bits=min(e.params["exponent_bits"], 8), mantissa_bits=bits
        )
    )


# Moving and choosing


@rule(
    "broadcast_in_dim", "reshape", "transpose", "rev", "slice", "pad", "concatenate", "gather", "dynamic_slice",
    "dynamic_update_slice", "select", "stop_gradient", "sharding_constraint", "exchange_rows", "name",
)  # fmt: skip
def _both(e, given):
    parts = [[x[i] if isinstance(x, Pair) else x for x in given] for i in (0, 1)]
    return Pair(*[bind(e.op, *xs, **e.params)[0] for xs in parts])


@rule("scatter")
def _scatter(e, given):
    return _both(e, given) if e.params["how"] == "set" else NotImplemented


@rule("optimization_barrier")
def _barrier(e, given):
    return paired(bind(e.op, *flat(given)), [v.type for v in e.outputs])


@rule("iota")
def _iota(e, given):
    return pairs.range_of(e.params["shape"], e.params["axis"])


@rule("sort")
def _sort(e, given):
    keys = e.params.get("num_keys", 1)
    params = {**e.params, "num_keys": len(flat(given[:keys]))}
    return paired(bind(e.op, *flat(given), **params), [v.type for v in e.outputs])


# Along axes


@rule("reduce_max", "reduce_min")
def _extremum(e, given):
    (x,), axes = given, e.params["axes"]
    shape = typeof(x.high).shape
    high = bind(e.op, x.high, **e.params)[0]
    kept = tuple(i for i in range(len(shape)) if i not in axes)
    there = ops.eq(x.high, ops.broadcast_in_dim(high, shape=shape, dims=kept))
    never = ops.full_like_type(
        typeof(x.low).strong(), -math.inf if e.op.name == "reduce_max" else math.inf
    )
    low = bind(e.op, ops.select(there, x.low, never), **e.params)[0]
    return Pair(high, ops.select(ops.is_finite(low), low, ops.zeros(typeof(low).strong())))


@rule("reduce_sum", "reduce_prod")
def _total(e, given):
    (x,), axes = given, e.params["axes"]
    shape = typeof(x.high).shape
    kept = [i for i in range(len(shape)) if i not in axes]
    rest, n = tuple(shape[i] for i in kept), math.prod(shape[i] for i in axes)
    x = _each(lambda v: ops.reshape(ops.transpose(v, perm=(*kept, *axes)), shape=(*rest, n)), x)
    return _combined(*_OF_TOTALS[e.op.name.partition("_")[2]], x)


_OF_TOTALS = {"sum": (pairs.plus, 0.0), "prod": (pairs.times, 1.0)}


def _combined(f, neutral: float, x: Pair) -> Pair:
    """Along the last axis: halves of what is left are put together until one is left."""
    *rest, n = typeof(x.high).shape
    if not n:
        return Pair(
            *[ops.full_like_type(ArrayType(tuple(rest), dtypes.float32), v) for v in (neutral, 0.0)]
        )
    while n > 1:
        half = n // 2
        both = f(_rows(x, 0, half), _rows(x, half, 2 * half))
        x = _joined(both, _rows(x, 2 * half, n)) if n % 2 else both
        n = half + n % 2
    return _each(lambda v: ops.reshape(v, shape=tuple(rest)), x)


def _each(f, *xs: Pair) -> Pair:
    return Pair(*[f(*[x[i] for x in xs]) for i in (0, 1)])


def _rows(x: Pair, start: int, limit: int) -> Pair:
    """Elements along the last axis."""
    return _each(lambda v: ops.slice_along(v, typeof(v).ndim - 1, start, limit), x)


def _joined(*xs: Pair) -> Pair:
    return _each(lambda *vs: ops.concatenate(*vs, axis=typeof(vs[0]).ndim - 1), *xs)


@rule("cumsum", "cumprod")
def _running(e, given):
    """After step k each element holds the total of the 2ᵏ elements up to it."""
    (x,), axis, back = given, e.params["axis"], e.params.get("reverse", False)
    f, neutral = _OF_TOTALS[e.op.name.removeprefix("cum")]
    last = typeof(x.high).ndim - 1
    x = _each(lambda v: ops.move_axis(ops.rev(v, axes=(axis,)) if back else v, axis, last), x)
    n, step = typeof(x.high).shape[-1], 1
    while step < n:
        first = splat(_rows(x, 0, step), neutral)
        x = f(x, _joined(first, _rows(x, 0, n - step)))
        step *= 2
    x = _each(lambda v: ops.move_axis(v, last, axis), x)
    return _each(lambda v: ops.rev(v, axes=(axis,)), x) if back else x


_AT_ONCE = 2**22  # products that are made before they are summed


@rule("dot_general")
def _dot(e, given):
    """Sums of products: all products at once where they are few, else term by term."""
    contract, batch = e.params["contract"], e.params["batch"]
    x, y = (
        v if isinstance(v, Pair) else single(ops.convert(v, dtype=dtypes.float32)) for v in given
    )
    (x, sizes, m), (y, _, n) = (_in_order(v, batch[i], contract[i]) for i, v in enumerate((x, y)))
    k = typeof(x.high).shape[-1]
    full = (*sizes, *m, *n, k)
    nb, nm, last = len(sizes), len(m), len(full) - 1
    rows, columns = tuple(range(nb + nm)), (*range(nb), *range(nb + nm, last))

    def products(x, y, shape, *summed):
        x = _each(lambda v: ops.broadcast_in_dim(v, shape=shape, dims=(*rows, *summed)), x)
        y = _each(lambda v: ops.broadcast_in_dim(v, shape=shape, dims=(*columns, *summed)), y)
        return pairs.times(x, y)

    if math.prod(full) <= _AT_ONCE:
        return _as_result(_combined(pairs.plus, 0.0, products(x, y, full, last)), e)

    def step(total, terms):
        term = products(Pair(*terms[:2]), Pair(*terms[2:]), full[:-1])
        return tuple(pairs.plus(Pair(*total), term)), None

    terms = tuple(ops.move_axis(v, typeof(v).ndim - 1, 0) for v in (*x, *y))
    nothing = ops.full_like_type(ArrayType(full[:-1], dtypes.float32), 0)
    return _as_result(Pair(*scan(step, (nothing, nothing), terms)[0]), e)


def _in_order(x: Pair, batch, over):
    """The factor with its axes as batch, own, summed in one; the sizes of the first two."""
    shape = typeof(x.high).shape
    own = [i for i in range(len(shape)) if i not in batch and i not in over]
    sizes, own_sizes = (tuple(shape[i] for i in axes) for axes in (batch, own))
    perm, k = (*batch, *own, *over), math.prod(shape[i] for i in over)
    moved = lambda v: ops.reshape(ops.transpose(v, perm=perm), shape=(*sizes, *own_sizes, k))  # noqa: E731
    return _each(moved, x), sizes, own_sizes


def _as_result(x: Pair, e):
    dtype = e.outputs[0].type.dtype
    return x if dtype == dtypes.float64 else ops.convert(_narrowed(x, dtype), dtype=dtype)


# Loops and branches


def _in_pairs(p: Program) -> Program:
    return p.memo("rewritten", lambda: rewritten(p))


def _out_types(e):
    return [v.type for v in e.outputs]


@rule("while")
def _while(e, given):
    (cc, bc), cond, body = e.params["counts"], e.params["cond"], e.params["body"]
    counts = len(flat(given[:cc])), len(flat(given[cc : cc + bc]))
    outs = bind(
        while_op, *flat(given), cond=_in_pairs(cond), body=_in_pairs(body), counts=counts,
        checkpoints=e.params.get("checkpoints", 0),
    )  # fmt: skip
    return paired(outs, _out_types(e))


@rule("scan")
def _scan(e, given):
    s = Scan(**e.params)
    consts, carry, _ = s.split(given)
    made = Scan(
        _in_pairs(s.body), (len(flat(consts)), len(flat(carry))), s.length, s.reverse, s.unroll
    )
    return paired(made.bind(*flat(given)), _out_types(e))


@rule("cond")
def _cond(e, given):
    index, *rest = given
    branches, platforms = e.params["branches"], e.params.get("platforms", ())
    if not platforms:
        made = tuple(map(_in_pairs, branches))
        return paired(cond_op(index, *flat(rest), branches=made), _out_types(e))
    used = sorted({_branch_for("tpu", platforms, n) for n in (1, 2)})  # of one device, of several
    made = tuple(_in_pairs(branches[i]) for i in used)
    names = tuple(platforms[i] for i in used) if len(used) > 1 else (None,)
    return paired(cond_op(index, *flat(rest), branches=made, platforms=names), _out_types(e))
