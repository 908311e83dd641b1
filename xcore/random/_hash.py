"""What counter-based generators share: a hash of counter words under key words, as one operation.

Programs show a hash as one equation, so they stay readable and are traced fast. All rounds are
written out where it is lowered: XLA then makes one loop of it that the processor's vector units run.
"""

from __future__ import annotations

from .. import _ops as ops
from .._core import ArrayType, Op, dtypes, errors, fused, typeof
from .._ops import broadcast
from ..numpy._promote import as_array, broadcast_shapes, broadcast_to


class Unsigned:
    """Arithmetic on MLIR values of one unsigned type, for rules that lower hashes."""

    def __init__(self, ctx, shape: tuple, dtype):
        self.ctx, self.array = ctx, ArrayType(shape, dtype)
        self.type = ctx.type(self.array)

    def _binary(self, name: str, x, y):
        return self.ctx.one(f"stablehlo.{name}", self.type, [x, y])

    def constant(self, value: int):
        return self.ctx.full(self.array, value)

    def of(self, x):
        """The value converted to this type."""
        return self.ctx.convert(x, self.type)

    def add(self, x, y):
        return self._binary("add", x, y)

    def mul(self, x, y):
        return self._binary("multiply", x, y)

    def xor(self, x, y):
        return self._binary("xor", x, y)

    def and_(self, x, y):
        return self._binary("and", x, y)

    def shift_right(self, x, n: int):
        return self._binary("shift_right_logical", x, self.constant(n))

    def rotate(self, x, n: int):
        """The bits moved n places up, those that fall off put back at the bottom."""
        left = self._binary("shift_left", x, self.constant(n))
        width = 8 * self.array.dtype.itemsize
        return self._binary("or", left, self.shift_right(x, width - n))


def hash_op(name: str, keys: int, words: int, compute) -> Op:
    """The operation (key words, counter words) -> words, all uint32 of one shape.

    ``compute(ctx, shape, key, counter, rounds)`` writes it in StableHLO.
    """

    def type_rule(*types, rounds):
        if len(types) != keys + words or set(types) != {ArrayType(types[0].shape, dtypes.uint32)}:
            raise errors.shape_mismatch(name, f"must be {keys + words} of uint32 and one shape")
        return [types[0]] * words

    def lower(ctx, *values, rounds):
        return compute(ctx, ctx.out_types[0].shape, values[:keys], values[keys:], rounds)

    def batch(size, args, batched, *, rounds):
        full = [x if b else broadcast(x, size) for x, b in zip(args, batched, strict=True)]
        return op(*full, rounds=rounds), [True] * words

    op = Op(name, type=type_rule, lower=lower, batch=batch, many=True)
    return op


def column(x, i: int):
    """x[..., i] of an array whose size is known."""
    t = typeof(x)
    start, limit = [0] * t.ndim, list(t.shape)
    start[-1], limit[-1] = i, i + 1
    part = ops.slice(x, start=tuple(start), limit=tuple(limit), strides=(1,) * t.ndim)
    return ops.reshape(part, shape=t.shape[:-1])


def pick(words, number):
    """words[number], where the number may differ from element to element."""
    out = words[-1]
    for i, w in enumerate(words[:-1]):
        out = ops.select(ops.eq(number, ops.full_like_type(typeof(number), i)), w, out)
    return out


def all_words(hash_of, columns, count: int):
    """The words that a hash makes of columns of words, along a new last axis.

    Every element of the result is hashed for itself: XLA makes one loop of that, where stacking
    ``count`` results would be ``count`` loops and as many times the work of compiling.
    """
    shape = (*typeof(columns[0]).shape, count)
    axes = tuple(range(len(shape) - 1))
    words = hash_of(*[ops.broadcast_in_dim(c, shape=shape, dims=axes) for c in columns])
    return pick(words[:count], ops.iota(shape=shape, dtype=dtypes.uint32, axis=len(axes)))


def spread(word, shape: tuple):
    """One word (a 0-d array) at every place of a shape."""
    return ops.broadcast_in_dim(word, shape=shape, dims=()) if shape else word


def _columns(name: str, argument: str, x, count: int) -> list:
    x = as_array(f"random.{name}", x, argument, dtypes.uint32)
    t = typeof(x)
    if t.shape[-1:] != (count,):
        raise errors.bad_argument(
            f"random.{name}", argument, x, f"an array of words whose last axis has length {count}"
        )
    return [column(x, i) for i in range(count)]


def public_hash(op: Op, keys: int, words: int, default_rounds: int, doc: str):
    """The function of users for a hash: arrays of words along the last axis."""

    def f(key, counter, rounds: int = default_rounds):
        columns = _columns(op.name, "key", key, keys) + _columns(op.name, "counter", counter, words)
        shape = broadcast_shapes(f"random.{op.name}", *[typeof(c).shape for c in columns])
        columns = [broadcast_to(c, shape) for c in columns]
        return all_words(lambda *w: op(*w, rounds=rounds), columns, words)

    f.__name__ = f.__qualname__ = op.name
    f.__module__ = "xcore.random"
    f.__doc__ = f"""{doc}

    Args:
      key: {keys} words (uint32) along the last axis.
      counter: {words} words along the last axis; the other axes are broadcast with the key's.
      rounds: how often the words are mixed.

    Returns the {words} mixed words, along the last axis.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.random.{op.name}(xnp.zeros({keys}, "uint32"), xnp.zeros({words}, "uint32")).shape
    ({words},)
    """
    return fused(2)(f)
