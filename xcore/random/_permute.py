"""Random order: permutations, and choices with and without replacement."""

from __future__ import annotations

import math
from functools import partial, reduce

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import boundary, dtypes, errors, is_array_like, typeof
from ..numpy._promote import as_array, astype, check_shape, one_axis
from ._continuous import gumbel_regime, sample_gumbel
from ._elementary import log
from ._integers import draw_below, draw_distinct
from ._keys import consumed
from ._source import Source, comparison_dtype, concrete, to_check, weight
from ._staged import staged
from ._streams import like, shifted

# Order
# Elements are sorted by random words, and words that are equal leave theirs in order. So the sorting is
# repeated until no two elements have had equal words all the time, but for a chance below 1 in 10^6;
# or, where that is as unlikely for three in one sorting, a coin is tossed for every two.


def _jax_rounds(source, shape):
    """Random words to sort by, one array after the other: jax's, of 32 bits."""
    count = math.ceil(3 * np.log(max(1, math.prod(shape))) / np.log(2**32 - 1))
    for _ in range(count):
        source, now = source.split(2)
        yield now.bits(shape, 32)


def _shuffled_as_jax(source, x, axis: int):
    for words in _jax_rounds(source, typeof(x).shape):
        x = ops.sort(words, x, axis=axis, num_keys=1, stable=True)[1]
    return x


def _rounds(width: int) -> int:
    """How many rounds of 64 bits, of which the lower ``width`` are the place, 2^width elements need."""
    return (2 * width + 19) // (64 - width) + 1


def _width(n: int) -> int:
    """How many bits places among n have."""
    return max(1, (n - 1).bit_length())


def _sorted_words(source, shape, axis: int):
    """Random words in order, each with its place before that in its lower bits.

    Sorting one array is much faster than sorting two together.
    """
    width, words = _width(shape[axis]), source.bits(shape, 64)
    place = ops.iota(shape=shape, dtype=dtypes.uint64, axis=axis)
    mixed = ops.or_(shifted(shifted(words, -width), width), place)
    return ops.sort(mixed, axis=axis, num_keys=1, stable=False)[0]


def _pairs_tossed(source, mixed, axis: int):
    """Sorted words, of which two that are equal but for their places change theirs by a coin."""
    t = typeof(mixed)
    before, after = (partial(xnp.roll, shift=n, axis=axis) for n in (1, -1))
    equal = shifted(ops.xor(mixed, after(mixed)), -_width(t.shape[axis])) == 0
    heads = source.bits(t.shape, 8) < 128
    # of three in a row, which are less likely than 1 in 10^6, the first two
    change = equal & ~before(equal) & heads
    return xnp.where(change, after(mixed), xnp.where(before(change), before(mixed), mixed))


def _random_order(source, shape, axis: int):
    """For each place along an axis the place from which its element comes."""
    width = _width(shape[axis])
    tossed = _rounds(width) > 1 and width <= 22
    parts = source.split(2 if tossed else _rounds(width))
    words = [_sorted_words(part, shape, axis) for part in parts[: 1 if tossed else None]]
    if tossed:
        words = [_pairs_tossed(parts[1], words[0], axis)]
    orders = [_places(w, width) for w in words]
    return reduce(lambda first, then: ops.take_along(first, then, axis), orders)


def _places(words, width: int):
    return ops.convert(
        ops.and_(words, like(words, 2**width - 1)), dtype=dtypes.default_dtype("int")
    )


def _shuffled(source, x, axis: int):
    t = typeof(x)
    if t.shape[axis] < 2 or not t.size:
        return x
    if not source.stream.fine:
        return _shuffled_as_jax(source, x, axis)
    return ops.take_along(x, _random_order(source, t.shape, axis), axis)


def _numbers(source, n: int):
    """0 … n - 1 in random order."""
    dtype = dtypes.default_dtype("int")
    if source.stream.fine and n > 1:
        return _random_order(source, (n,), 0)
    return _shuffled(source, ops.iota(shape=(n,), dtype=dtype, axis=0), 0)


@staged
def _number_permutation(arrays, n, stream):
    return _numbers(Source(stream, *arrays), n)


@staged
def _array_permutation(arrays, axis, independent, stream):
    data, x = arrays
    source = Source(stream, data)
    if independent or typeof(x).ndim == 1:
        return _shuffled(source, x, axis)
    return xnp.take(x, _numbers(source, typeof(x).shape[axis]), axis=axis)


def _whole_number(who: str, name: str, value) -> int | None:
    """A Python int for an integer scalar, None for an array."""
    if is_array_like(value) and np.shape(value):
        return None
    try:
        return value.__index__()
    except (AttributeError, TypeError):
        raise errors.bad_argument(
            f"random.{who}", name, value, "an array or a whole number"
        ) from None


@boundary
def permutation(key, x, axis=0, independent=False):
    """An array in random order, or the numbers 0 … x - 1 for an integer x.

    Args:
      key: a random key.
      x: array, or number of elements.
      axis: along which elements change places.
      independent: if True every line along the axis gets an order of its own; else slices stay whole.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xnp.sort(xc.random.permutation(xc.random.key(0), 5))
    Array([0, 1, 2, 3, 4], dtype=int32)
    """
    n = _whole_number("permutation", "x", x)
    if n is not None:
        if n < 0:
            raise errors.bad_argument("random.permutation", "x", x, "non-negative")
        one_axis("random.permutation", axis, 1)
        found = consumed("permutation", key)
        return _number_permutation([found._data], n, found._stream)
    x = as_array("random.permutation", x, "x")
    axis = one_axis("random.permutation", axis, typeof(x).ndim)
    found = consumed("permutation", key)
    return _array_permutation([found._data, x], axis, bool(independent), found._stream)


# Choices


@staged
def _first(arrays, shape):
    [x] = arrays
    return x[: math.prod(shape)].reshape(shape)


@staged
def _few_distinct(arrays, n, shape, stream):
    return draw_distinct(Source(stream, *arrays), n, math.prod(shape)).reshape(shape)


def _distinct(found, n: int, shape):
    """Distinct positions among n. Threefry's are the first of a permutation, which are jax's, as long as
    an array of n is no burden."""
    arrays, stream, width = [found._data], found._stream, _width(n)
    if 16 * math.prod(shape) <= n and width > (15 if stream.fine else 25):
        return _few_distinct(arrays, n, shape, stream)
    # the program of ``permutation``, which is there for draws of any number of elements
    return _first([_number_permutation(arrays, n, stream)], shape)


def _positions(found, weights, n: int, shape, replace: bool, regime):
    """Positions among n, of the shape asked for."""
    if replace or weights:
        return _chosen([found._data, *weights], n, shape, replace, regime, found._stream)
    return _distinct(found, n, shape)


@staged
def _chosen(arrays, n, shape, replace, regime, stream):
    """Positions drawn with replacement or weights, which are the second array if there are any."""
    data, *weights = arrays
    source = Source(stream, data)
    if not weights:
        return draw_below(source, n, shape)
    [p] = weights
    dtype = typeof(p).dtype
    if replace:
        total = xnp.cumsum(p)
        places = xnp.searchsorted(total, total[-1] * (1 - source.uniform(shape, dtype)))
    else:
        noise = sample_gumbel(source, shape=(n,), dtype=dtype, regime=regime)
        places = ops.top_k(noise + log(p), k=math.prod(shape))[1].reshape(shape)
    proper = ((p >= 0) & (p < np.inf)).all() & ((p > 0).sum() >= _needed(shape, replace))
    return xnp.where(proper, astype(places, dtypes.default_dtype("int")), -1)


def _needed(shape, replace: bool) -> int:
    """How many of the weights must be positive."""
    return 1 if replace else math.prod(shape)


def _weights(p, n: int, needed: int):
    who = "random.choice"
    p = weight("p", p).check("choice")
    if typeof(p).shape != (n,):
        raise errors.ShapeError(
            f"xcore.{who}: p must have one weight for each of the {n} elements, given {typeof(p)}."
        )
    host = to_check(p)
    if host is not None and np.count_nonzero(host) < needed:
        raise ValueError(
            f"xcore.{who}: p must have at least {needed} positive weights for these draws, "
            f"given {np.count_nonzero(host)}."
        )
    return astype(p, comparison_dtype(p))


def _check_choice(n: int, count: int, replace: bool) -> None:
    dtype = dtypes.default_dtype("int")
    if n > int(dtypes.iinfo(dtype).max) + 1:
        raise ValueError(
            f"xcore.random.choice: {n} elements have numbers that {dtype} cannot hold. "
            'Use xcore.config.update("enable_x64", True).'
        )
    if n <= 0:
        raise ValueError("xcore.random.choice: there is nothing to choose from: a is empty or 0.")
    if not replace and count > n:
        raise ValueError(
            f"xcore.random.choice: {count} draws without replacement asked for, but there are only {n} elements."
        )


@boundary
def choice(key, a, shape=(), replace=True, p=None, axis=0, mode=None):
    """Random elements of an array, or of 0 … a - 1 for an integer a.

    Args:
      key: a random key.
      a: array, or number of elements.
      shape: how many, in which shape; it stands in the place of the axis.
      replace: if False no element comes twice. A few of very many are drawn without an array of all.
      p: weights of the elements, of any sum; without them all are equally likely. If they are none, and
        nobody knew before the program ran, the results are -1 for an integer a and NaN (of an integer
        dtype: its least number) for an array.
      axis: along which elements lie.
      mode: with p and without replacement, the resolution "low" or "high" as for ``gumbel``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> hand = xc.random.choice(xc.random.key(0), 52, (5,), replace=False)
    >>> len(set(hand.tolist()))
    5
    """
    who = "random.choice"
    n, shape = _whole_number("choice", "a", a), check_shape(who, shape)
    array = None if n is not None else as_array(who, a, "a")
    if array is not None:
        axis = one_axis(who, axis, typeof(array).ndim)
        n = typeof(array).shape[axis]
    count = math.prod(shape)
    regime = gumbel_regime("choice", mode)
    if count:
        _check_choice(n, count, replace)
        weights = [] if p is None else [_weights(p, n, _needed(shape, replace))]
        found = consumed("choice", key)
        places = _positions(found, weights, n, shape, bool(replace), regime)
        if array is not None and weights and concrete(weights[0]) is None:
            places = xnp.where(places < 0, n, places)  # beyond the array, where ``take`` finds NaN
    else:
        places = xnp.zeros(shape, dtypes.default_dtype("int"))
    return places if array is None else xnp.take(array, places, axis=axis)
