"""Random integers, and choices among finitely many things that are one comparison or search."""

from __future__ import annotations

import math

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import while_loop
from .._core import boundary, dtypes, errors, one_of, typeof
from ..numpy._promote import as_array, astype, check_shape, one_axis
from ._continuous import gumbel_regime, sample_gumbel, sample_signs
from ._elementary import log
from ._from_bits import open_uniform
from ._keys import consumed
from ._source import (
    Source,
    as_counts,
    chance,
    comparison_dtype,
    concrete,
    draw,
    fit,
    integral,
    is_lenient,
    probability,
    real,
    shape_for,
    to_check,
)
from ._staged import staged
from ._streams import UINT, joined, like, numbers

# Integers
# A word w of 64 (for long ranges: 32) bits gives w mod n, n the length of the range; for integers of 64
# bits it is 128 and 64. That is what jax does. The last words, of which there are fewer than n, would
# make the first results more likely; here they are drawn again, so the numbers are jax's but for these.
# Where a word fits in an integer of 64 bits it is one, and that is one division for each number.


def _remainder(x, n):
    """x mod n, and x itself where n is 0, which stands for 2 to the power of the width."""
    return ops.select(ops.eq(n, like(n, 0)), x, ops.rem(x, n))


def _short_facts(n) -> list:
    """(how many words there are beyond the last full round of n, n, the largest word), in 64 bits."""
    n = ops.convert(n, dtype=dtypes.uint64)
    n = ops.select(ops.eq(n, like(n, 0)), like(n, 1 << 32), n)
    largest = ops.select(n < 1 << 16, like(n, (1 << 64) - 1), like(n, (1 << 32) - 1))
    return [ops.rem(ops.add(ops.rem(largest, n), like(n, 1)), n), n, largest]


def _short_offset(high, low, spare, n, largest):
    """A word mod n; all ones where it must be drawn again. The word is high:low, or only low.

    One array, not two: so XLA makes one loop of it, with the hashes in it once.
    """
    word = ops.and_(joined(low, high), largest)
    offset = ops.convert(ops.rem(word, n), dtype=dtypes.uint32)
    return ops.select(ops.lt(ops.sub(largest, word), spare), ~like(offset, 0), offset)


def _long_facts(n) -> list:
    """(spare words, n, whether a word is only its lower half, 2^width mod n)."""
    bits = 8 * typeof(n).dtype.itemsize
    long = n > (1 << bits // 2) - 1
    root = _remainder(like(n, 1 << bits // 2), n)
    square = _remainder(ops.mul(root, root), n)  # of an n that is not long: 2^bits, modulo n
    once = _remainder(ops.neg(n), n)
    return [ops.select(long, once, _remainder(ops.mul(once, once), n)), n, long, square]


def _long_offset(high, low, spare, n, long, square):
    """The same with halves of 64 bits."""
    short = ops.add(ops.mul(_remainder(high, n), square), _remainder(low, n))
    unfair = (~low < spare) & (long | (~high == 0))
    return ops.select(unfair, ~like(n, 0), _remainder(xnp.where(long, low, short), n))


_WAYS = {32: (_short_facts, _short_offset), 64: (_long_facts, _long_offset)}


def _length(low, high, beyond, wide):
    """How many integers a range has; 0 stands for all of them; an empty range counts as one."""
    n = ops.sub(ops.convert(high, dtype=wide), ops.convert(low, dtype=wide))
    n = ops.add(n, ops.convert(beyond, dtype=wide))
    return ops.select(ops.or_(ops.gt(high, low), beyond), n, like(n, 1))


def _below(source, n, shape, bits: int):
    """Integers in [0, n), n an array of unsigned integers that broadcasts to the shape."""
    facts_of, offset_of = _WAYS[bits]
    facts = facts_of(n)
    exact = facts[0] == 0
    offset = offset_of(*[s.bits(shape, bits) for s in source.split(2)], *_spread(facts, shape))

    def waiting(offset):
        """Offsets are less than n, so all ones are none, but where every word is fair."""
        return ~(fit(exact, shape) | (offset != ~like(offset, 0)))

    def again(state):
        t, offset = state
        nothing = ops.shift_right_logical(t, like(t, 31))
        words = source.with_opaque_zero(nothing).pair(numbers((math.prod(shape),)), t, bits)
        words = [ops.reshape(w, shape=shape) for w in words]
        fresh = offset_of(*words, *_spread(facts, shape, nothing))
        return ops.add(t, np.uint32(1)), ops.select(waiting(offset), fresh, offset)

    return while_loop(lambda state: waiting(state[1]).any(), again, (np.uint32(0), offset))[1]


def _spread(facts, shape, nothing=None):
    """Facts at every place of a shape, with a 0 added of which XLA does not know that it is one.

    What a loop does not change XLA computes before it, for all places, and keeps: here that would
    cost more than the numbers, for a loop that is hardly ever entered.
    """
    if nothing is not None:
        facts = [
            x if typeof(x).dtype == bool else x + astype(nothing, typeof(x).dtype) for x in facts
        ]
    return [fit(x, shape) for x in facts]


@staged
def _integers(arrays, shape, dtype, stream):
    data, low, high, beyond = arrays
    bits = max(32, 8 * dtype.itemsize)
    n = _length(low, high, beyond, UINT[bits])
    offset = _below(Source(stream, data), n, shape, bits)
    return ops.add(fit(low, shape), ops.convert(offset, dtype=dtype))


def draw_below(source, n: int, shape):
    """Integers in [0, n) of the default dtype."""
    dtype = dtypes.default_dtype("int")
    bits = 8 * dtype.itemsize
    offset = _below(source, UINT[bits].type(n), shape, bits)
    return ops.convert(offset, dtype=dtype)


def _without_repeats(x):
    """x, with all ones in place of those that have equals in front of them."""
    places = ops.iota(shape=typeof(x).shape, dtype=dtypes.uint32, axis=0)
    x, places = ops.sort(x, places, axis=0, num_keys=1, stable=True)
    repeats = xnp.concatenate([xnp.zeros(1, bool), x[1:] == x[:-1]])
    x = ops.select(repeats, ~like(x, 0), x)
    return ops.sort(places, x, axis=0, num_keys=1, stable=False)[1]


def draw_distinct(source, n: int, count: int):
    """So many integers in [0, n) of the default dtype, none of them twice, n some times their number.

    Repeats are drawn again, all at once. Which are does not depend on what the numbers are, only on
    which are equal, so all sequences of distinct numbers are equally likely.
    """
    dtype = dtypes.default_dtype("int")
    bits = 8 * dtype.itemsize
    facts_of, offset_of = _WAYS[bits]
    facts = _spread(facts_of(UINT[bits].type(n)), (count,))

    def turn(state):
        t, x = state
        fresh = offset_of(*source.pair(numbers((count,)), t, bits), *facts)
        return ops.add(t, np.uint32(1)), _without_repeats(ops.select(x == ~like(x, 0), fresh, x))

    start = np.uint32(0), xnp.full((count,), ~UINT[bits].type(0))
    x = while_loop(lambda state: (state[1] == ~like(state[1], 0)).any(), turn, start)[1]
    return ops.convert(x, dtype=dtype)


def _known(value):
    """A bound that is known now, in all its digits; None where it is not, or is not to be checked."""
    if is_lenient():
        return None
    of_host = isinstance(value, (int, np.integer, np.ndarray))
    return np.asarray(value) if of_host else concrete(value)


def _check_held(who: str, name: str, value, dtype, beyond: int) -> None:
    """Bounds that are known now are integers of the dtype, or as much beyond the largest one."""
    host, info = _known(value), dtypes.iinfo(dtype)
    if host is None or not (isinstance(value, int) or host.dtype.kind in "iu"):
        return  # what is no integer is told of by ``_bound``
    low, high = int(info.min), int(info.max) + beyond
    outside = (host < low) | (host > high)
    if np.any(outside):
        raise errors.bad_argument(
            who, name, int(host[outside].flat[0]), f"{low} to {high}, as the integers drawn are {dtype}",
            "Give dtype= another that holds it: 'int64' and 'uint64' are the widest.",
        )  # fmt: skip


def _bound(who: str, name: str, value, dtype):
    """A bound in the dtype of the result, moved to its limits, and whether it lay above them."""
    info = dtypes.iinfo(dtype)
    if isinstance(value, int):
        clipped = min(max(value, int(info.min)), int(info.max))
        return as_array(who, np.asarray(clipped, dtype)), value > info.max
    x = as_array(who, value, name)
    t = typeof(x)
    if not dtypes.is_integer(t.dtype):
        raise errors.bad_argument(who, name, value, "integers")
    mine = dtypes.iinfo(t.dtype)
    low, high = max(int(info.min), int(mine.min)), min(int(info.max), int(mine.max))
    return astype(xnp.clip(x, low, high), dtype), x > high if high < mine.max else False


@boundary
def randint(key, shape=(), minval=0, maxval=None, dtype=None):
    """Random integers in [minval, maxval), all equally likely: no range has a bias.

    Args:
      key: a random key.
      shape: shape of the result.
      minval, maxval: bounds, of shapes that broadcast to ``shape``; maxval may be one more than the
        largest integer of the dtype. An empty range gives minval. Bounds that the dtype cannot hold are
        refused; where nobody knew before the program ran they are moved to its limits.
      dtype: integer dtype of the result; int32 by default.

    >>> import xcore as xc
    >>> xc.random.randint(xc.random.key(0), (4,), 0, 10)
    Array([9, 0, 2, 3], dtype=int32)
    """
    if maxval is None:
        raise errors.bad_argument(
            "random.randint", "maxval", None, "given: the least integer that is not drawn"
        )
    return draw_between("random.randint", key, shape, dtype, minval=minval, maxval=maxval)


def draw_between(who: str, key, shape, dtype, **bounds):
    """Integers between two bounds, which have the names that whoever asks gives them."""
    dtype = integral("randint", dtype)
    if dtype.itemsize * 8 not in UINT:
        raise errors.dtype_not_allowed(who, dtype, "integer (8 to 64 bits)")
    for beyond, (name, value) in enumerate(bounds.items()):
        _check_held(who, name, value, dtype, beyond)
    (low, _), (high, beyond) = [_bound(who, name, x, dtype) for name, x in bounds.items()]
    shape = shape_for("randint", shape, (low, high))
    found = consumed("randint", key)
    beyond = as_array("random.randint", beyond)
    arrays = [fit_together(x, low, high, beyond) for x in (low, high, beyond)]
    return _integers([found._data, *arrays], shape, dtype, found._stream)


def fit_together(x, *others):
    """x at the shape that all have together."""
    return fit(x, np.broadcast_shapes(*[typeof(o).shape for o in others]))


# Yes or no, signs


def _sample_bernoulli(source, p, *, shape, dtype, regime):
    fine = regime == "high"
    return (
        open_uniform(source.bits(shape, 64), dtype) if fine else source.uniform(shape, dtype)
    ) < p


@boundary
def bernoulli(key, p=0.5, shape=None, mode="low"):
    """Truth values that are true with probability p.

    Args:
      key: a random key.
      p: probabilities. What is none, and nobody knew before the program ran, counts as the nearest one; NaN
        as 0.
      shape: shape of the result; that of p if not given.
      mode: "low" compares one random fraction with p, which in float32 tells apart multiples of
        2^-23; "high" takes 64 bits and serves the smallest p.

    >>> import xcore as xc
    >>> xc.random.bernoulli(xc.random.key(0), 0.5, (3,))
    Array([False, False,  True], dtype=bool)
    """
    one_of("random.bernoulli", "mode", mode, ("low", "high"), "'low' or 'high'")
    # no truth value is NaN, and a quotient of densities may be given for the probability that it exceeds
    p = probability("p", p).checked("bernoulli")._replace(violated=None)
    work = comparison_dtype(p.value)
    return draw(
        "bernoulli",
        _sample_bernoulli,
        key,
        shape,
        work,
        p,
        regime=lambda _: mode,
        result=dtypes.bool_,
    )


@boundary
def rademacher(key, shape=(), dtype=None):
    """Random signs: 1 or -1, equally likely.

    Args:
      key: a random key.
      shape: shape of the result.
      dtype: integer or floating dtype; int32 by default.

    >>> import xcore as xc
    >>> xc.random.rademacher(xc.random.key(0), (3,))
    Array([-1, -1,  1], dtype=int32)
    """
    dtype = dtypes.default_dtype("int") if dtype is None else dtypes.as_dtype(dtype)
    return draw("rademacher", sample_signs, key, shape, None, result=dtype)


# Categorical


@staged
def _categories(arrays, axis, prefix, batch, regime, stream):
    data, logits = arrays
    work = typeof(logits).dtype
    size = typeof(logits).shape[axis]
    shape = (*prefix, *batch[:axis], size, *batch[axis:])
    noise = sample_gumbel(Source(stream, data), shape=shape, dtype=work, regime=regime)
    chosen = xnp.argmax(noise + logits, axis=len(prefix) + axis)
    return xnp.where(_proper(logits, axis), chosen, -1)


def _proper(logits, axis: int):
    """Whether logits are weights: none is NaN or infinite, and one is not 0."""
    top = logits.max(axis=axis)
    return (top > -np.inf) & (top < np.inf)


def _possible(logits, axis: int):
    """How many categories have weights other than 0."""
    return (logits > -np.inf).sum(axis=axis)


@staged
def _distinct_categories(arrays, axis, prefix, batch, regime, stream):
    data, logits = arrays
    t = typeof(logits)
    noise = sample_gumbel(Source(stream, data), shape=t.shape, dtype=t.dtype, regime=regime)
    _, chosen = ops.top_k(xnp.moveaxis(noise + logits, axis, -1), k=math.prod(prefix))
    proper = _proper(logits, axis) & (_possible(logits, axis) >= math.prod(prefix))
    chosen = xnp.where(proper[..., None], chosen, -1)
    return xnp.moveaxis(chosen, -1, 0).reshape((*prefix, *batch))


def _leading(who: str, shape: tuple, batch: tuple, axis: int) -> tuple:
    """A shape as the axes that are new and those that logits broadcast to."""
    n = len(shape) - len(batch)
    if n < 0 or any(b not in (1, s) for b, s in zip(batch, shape[n:], strict=True)):
        raise errors.ShapeError(
            f"xcore.{who}: shape {shape} must end in {batch}, the shape of logits without axis {axis}."
        )
    return shape[:n], shape[n:]


def _check_possible(who: str, possible, needed: int) -> None:
    if possible.size and possible.min() < needed:
        raise ValueError(
            f"xcore.{who}: logits must have at least {needed} categories that are not -inf for these distinct "
            f"draws, given {possible.min()}."
        )


@boundary
def categorical(key, logits, axis=-1, shape=None, replace=True, mode=None):
    """Random categories with probabilities proportional to e^logits.

      P(k) = e^(l_k) / Σ_j e^(l_j)

    with logits l.

    Args:
      key: a random key.
      logits: logarithms of the weights, -inf for weight 0; the categories are along ``axis``. If one is NaN
        or inf, or all are -inf, and nobody knew before the program ran, the category is -1; so are all of
        distinct draws where fewer categories have weights other than 0.
      axis: of the categories.
      shape: shape of the result; it ends in the shape of logits without that axis, which is also the
        default.
      replace: if False, the draws along the axes that ``shape`` has in front are distinct.
      mode: "low" or "high", the resolution of the random numbers as for ``gumbel``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.random.categorical(xc.random.key(0), xnp.log(xnp.array([0.1, 0.0, 0.9])), shape=(5,))
    Array([0, 2, 2, 2, 2], dtype=int32)
    """
    who, regime = "random.categorical", gumbel_regime("categorical", mode)
    logits = real("logits", logits).check("categorical")
    t = typeof(logits)
    if not t.shape:
        raise errors.bad_argument(who, "logits", logits, "at least one-dimensional")
    axis = one_axis(who, axis, t.ndim)
    batch = (*t.shape[:axis], *t.shape[axis + 1 :])
    prefix, batch = _leading(who, batch if shape is None else check_shape(who, shape), batch, axis)
    if not t.shape[axis]:
        raise errors.bad_argument(who, "logits", logits, "of at least one category")
    if not replace and math.prod(prefix) > t.shape[axis]:
        raise ValueError(
            f"xcore.{who}: {math.prod(prefix)} distinct draws asked for, but there are {t.shape[axis]} categories."
        )
    host = to_check(logits)
    if host is not None and not _proper(host, axis).all():
        raise errors.bad_argument(
            who, "logits", logits, "numbers or -inf, with one number among those of each draw"
        )
    if host is not None and not replace:
        _check_possible(who, _possible(host, axis), math.prod(prefix))
    logits = astype(logits, comparison_dtype(logits))
    logits = xnp.broadcast_to(logits, (*batch[:axis], t.shape[axis], *batch[axis:]))
    found = consumed("categorical", key)
    function = _categories if replace else _distinct_categories
    return function([found._data, logits], axis, prefix, batch, regime, found._stream)


# Geometric


def _sample_geometric(source, p, *, shape, dtype, regime):
    u = source.uniform(shape, dtype)
    u = xnp.where(u == 0, 1, u)
    n = xnp.floor(log(u) / xnp.log1p(-p)) + 1
    return as_counts(xnp.where(p == 1, 1, n), regime)


@boundary
def geometric(key, p, shape=None, dtype=None):
    """The number of trials up to the first success, of probability p each: 1, 2, 3, …

      P(k) = (1 - p)^(k - 1) p

    Args:
      key: a random key.
      p: probability of success, not 0. Where it is none, and nobody knew before the program ran, the number
        is -1.
      shape: shape of the result; that of p if not given.
      dtype: integer dtype. Numbers that it cannot hold are its largest one.

    >>> import xcore as xc
    >>> xc.random.geometric(xc.random.key(0), 0.25, (3,)).shape
    (3,)
    """
    dtype, p = integral("geometric", dtype), chance("p", p).checked("geometric")
    return draw(
        "geometric", _sample_geometric, key, shape, comparison_dtype(p.value), p, result=dtype,
        regime=lambda p: dtype,
    )  # fmt: skip
