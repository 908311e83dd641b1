"""How a distribution is drawn: arguments checked outside, a sampler run inside one program.

A sampler is a function ``sample(source, *parameters, shape, dtype)``. The source is the key inside
the program; the parameters are arrays of the dtype it computes in, of shapes that broadcast to
``shape``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import Array, ArrayType, config, dtypes, errors, to_array, typeof
from ..numpy._promote import as_array, astype, broadcast_shapes, check_shape
from ._from_bits import bits_for, fine_normal, jax_normal, mantissa_uniform, scaled
from ._hash import spread
from ._keys import WORDS, consumed, words_of
from ._staged import staged
from ._streams import Stream, children, elements, halves, is_listed, kept_children, numbers

# The source


class Source:
    """A key inside a program: what its numbers are. ``data`` is the key's words, an array of two."""

    __slots__ = ("data", "stream")

    def __init__(self, stream: Stream, data):
        self.stream, self.data = stream, data

    @property
    def words(self) -> tuple:
        return words_of(self.data)

    def split(self, count: int = 2) -> list[Source]:
        """Sources of the first children."""
        if is_listed(self.stream):
            data = children(self.stream, self.words, (count,))
        else:
            data = kept_children(self.stream, self.words, numbers((count, WORDS, 2)))
        return [Source(self.stream, _row(data, i)) for i in range(count)]

    def child(self, number) -> Source:
        """The source of the child of this number, a 0-d uint32 array."""
        number = tuple(spread(half, (WORDS, 2)) for half in halves(number))
        return Source(self.stream, kept_children(self.stream, self.words, number))

    def with_opaque_zero(self, nothing) -> Source:
        """This source, with a 0 in its words of which XLA does not know that it is one.

        What a loop does not change XLA computes before it, and keeps: the first sums of a hash for
        all elements.
        """
        return Source(self.stream, ops.add(self.data, spread(nothing, (WORDS,))))

    def bits(self, shape: tuple, bits: int = 32):
        return elements(self.stream, self.words, shape, bits)

    def uniform(self, shape: tuple, dtype, low=None, high=None):
        """In [low, high), by default [0, 1). The bounds are arrays of shapes that broadcast."""
        flat = mantissa_uniform(self.bits((math.prod(shape),), bits_for(dtype)), dtype)
        u = ops.reshape(flat, shape=shape)
        return u if low is None else scaled(u, fit(low, shape), fit(high, shape))

    def normal(self, shape: tuple, dtype):
        """Standard normal."""
        bits, make = normal_of(self.stream, dtype)
        return ops.reshape(make(self.bits((math.prod(shape),), bits), dtype), shape=shape)

    def complex_normal(self, shape: tuple, dtype):
        """Complex normal numbers of variance 1, half of it in each part."""
        part = dtypes.to_real(dtype)
        both = ops.complex(*[s.normal(shape, part) for s in self.split(2)])
        return ops.div(both, ops.full_like_type(ArrayType(shape, dtype), np.sqrt(2)))

    def pair(self, number, attempt, bits: int) -> list:
        """Two words for the elements of these numbers, in each attempt others."""
        return self.stream.pair(self.words, number, attempt, bits)


def normal_of(stream: Stream, dtype) -> tuple:
    """How many bits a generator takes for a normal number, and how they are made into it."""
    if stream.fine:
        return max(32, 8 * dtype.itemsize), fine_normal
    return bits_for(dtype), jax_normal


def _row(x, i: int):
    """x[i]"""
    part = ops.slice(x, start=(i, 0), limit=(i + 1, WORDS), strides=(1, 1))
    return ops.reshape(part, shape=(WORDS,))


def fit(x, shape: tuple):
    """A parameter at the shape of the result."""
    t = typeof(x)
    if t.shape == shape:
        return x
    return ops.broadcast_in_dim(x, shape=shape, dims=tuple(range(len(shape) - t.ndim, len(shape))))


def via_float64(f, *parameters):
    """f(*parameters), computed in float64 and rounded to the parameters' dtype.

    What is computed from parameters alone XLA does when it compiles, where it knows them, and in the
    program where not (quirk: CONSTANTS_ROUND_OTHERWISE). Float64 hides that.
    """
    dtype = typeof(parameters[0]).dtype
    return [astype(x, dtype) for x in f(*[astype(p, dtypes.float64) for p in parameters])]


# Parameters


class Parameter(NamedTuple):
    """A parameter of a distribution: its name, value, and what it must satisfy, in words and code.

    Without the words it has been checked.
    """

    name: str
    value: Any
    expected: str
    violated: Callable | None

    def check(self, who: str):
        """The value as an array. Where it is known now it is checked; NaN passes, to give NaN.

        What is known only when the program runs cannot raise, and ``draw`` makes it NaN.
        """
        # a Python float keeps its digits until the dtype to compute in is known
        exact = isinstance(self.value, float)
        x = (
            to_array(self.value, wide=True)
            if exact
            else as_array(f"random.{who}", self.value, self.name)
        )
        if not _is_real(typeof(x).dtype):
            raise errors.bad_argument(f"random.{who}", self.name, self.value, "real numbers")
        if self.violated and self.expected:
            self._check_known(who, x)
        return x

    def _check_known(self, who: str, x) -> None:
        # a Python number is looked at as it is: an array would have to be read back from its device
        number = type(self.value) in (int, float)
        host = None if is_lenient() else self.value if number else concrete(x)
        if host is None or (number and not self.violated(host)):  # pyright: ignore[reportOptionalCall]
            return
        with np.errstate(invalid="ignore"):
            bad = self.violated(host)  # pyright: ignore[reportOptionalCall]
        if np.any(bad):
            first = np.asarray(host)[np.asarray(bad)].flat[0]
            raise ValueError(
                f"xcore.random.{who}: {self.name} must be {self.expected}, given {first:g}."
            )

    def checked(self, who: str) -> Parameter:
        """The parameter with its value as ``check`` gives it, and nothing left to check."""
        return self._replace(value=self.check(who), expected="")


def _is_real(dtype) -> bool:
    return dtypes.is_floating(dtype) or dtypes.is_integer(dtype) or dtype == bool


def concrete(x):
    """The value of an array on the host, if it exists now, in a dtype that NumPy computes with."""
    if type(x) is not Array:
        return None
    host = np.asarray(x)
    return host.astype(np.float32) if host.dtype.kind == "V" else host


def is_lenient() -> bool:
    """Whether parameters that are none give NaN or -1 even where they are known now, instead of an error."""
    return config.settings().clamp


def to_check(x):
    """The value of an array on the host, if it exists now and is to be checked."""
    return None if is_lenient() else concrete(x)


def within(x, low: float, high: float) -> bool:
    """Whether an array is known now to lie in an interval."""
    host = concrete(x)
    return host is not None and bool(np.all((low <= host) & (host <= high)))


def kind_of_parameter(expected: str, violated: Callable | None):
    return lambda name, value: Parameter(name, value, expected, violated)


real = kind_of_parameter("a number", None)
positive = kind_of_parameter("positive", lambda x: x <= 0)
positive_finite = kind_of_parameter("positive and finite", lambda x: (x <= 0) | (x == np.inf))
weight = kind_of_parameter("non-negative and finite", lambda x: (x < 0) | (x == np.inf) | (x != x))
nonnegative = kind_of_parameter("non-negative", lambda x: x < 0)
probability = kind_of_parameter("a probability, in [0, 1]", lambda x: (x < 0) | (x > 1))
bound = kind_of_parameter("finite", lambda x: (x == np.inf) | (x == -np.inf))
chance = kind_of_parameter("a probability in (0, 1]", lambda x: (x <= 0) | (x > 1))
finite = kind_of_parameter("non-negative and finite", lambda x: (x < 0) | (x == np.inf))
trials = kind_of_parameter(
    "a whole number, at least 0", lambda x: (x < 0) | (x == np.inf) | (x % 1 > 0)
)


def ordered(who: str, *parameters: Parameter) -> list[Parameter]:
    """The parameters, checked: neighbours whose values are known now are in order, or equal."""
    checked = [p.checked(who) for p in parameters]
    for low, high in itertools.pairwise(checked):
        a, b = to_check(low.value), to_check(high.value)
        if a is None or b is None:
            continue
        shape = broadcast_shapes(f"random.{who}", a.shape, b.shape)
        a, b = np.broadcast_to(a, shape), np.broadcast_to(b, shape)
        if (bad := a > b).any():
            raise ValueError(
                f"xcore.random.{who}: {low.name} must not be larger than {high.name}, "
                f"given {a[bad].flat[0]:g} and {b[bad].flat[0]:g}."
            )
    return checked


def shape_for(who: str, shape, parameters) -> tuple:
    """The shape of the result: as asked for, and wide enough for the parameters."""
    shapes = [typeof(p).shape for p in parameters]
    needed = broadcast_shapes(f"random.{who}", *shapes) if any(shapes) else ()
    if shape is None:
        return needed
    shape = check_shape(f"random.{who}", shape)
    if needed and broadcast_shapes(f"random.{who}", shape, needed) != shape:
        raise errors.ShapeError(
            f"xcore.random.{who}: the parameters have shape {needed} together, which does not broadcast to "
            f"the shape {shape} asked for. Give a shape that ends in theirs, or none."
        )
    return shape


def floating(who: str, dtype, *values, complex_too: bool = False):
    """The dtype of a floating result: as asked for, else the default, or wider if a parameter is."""
    if dtype is None:
        found = dtypes.default_dtype("float")
        wide = any(typeof(v).dtype == dtypes.float64 for v in values if not typeof(v).weak)
        return dtypes.float64 if wide else found
    found = dtypes.as_dtype(dtype)
    if not (
        (dtypes.is_floating(found) and found.itemsize > 1)
        or (complex_too and dtypes.is_complex(found))
    ):
        raise errors.dtype_not_allowed(f"random.{who}", found, "floating")
    return found


def comparison_dtype(x):
    """The dtype of random numbers that a parameter is compared with: its own, of at least 32 bits.

    It is jax's, so results carry over under ``enable_x64`` too.
    """
    t = typeof(x)
    own = dtypes.is_floating(t.dtype) and not t.weak
    return working_dtype(t.dtype) if own else dtypes.default_dtype("float")


def integral(who: str, dtype):
    """The dtype of an integer result."""
    found = dtypes.default_dtype("int") if dtype is None else dtypes.as_dtype(dtype)
    if not dtypes.is_integer(found):
        raise errors.dtype_not_allowed(f"random.{who}", found, "integer")
    return found


def working_dtype(dtype):
    """The dtype that a sampler computes in: at least 32 bits; 16 where draws are to be those of JAX."""
    least = 2 if is_lenient() else 4
    return dtype if dtype.itemsize >= least and dtypes.is_floating(dtype) else dtypes.float32


def check_sum_is_one(who: str, p: Parameter) -> None:
    """Probabilities along the last axis that are known now add up to 1, but for rounding."""
    host = to_check(p.value)
    if host is None:
        return
    total = host.sum(axis=-1, dtype=np.float64)
    if (bad := np.abs(total - 1) > rounding(typeof(p.value).dtype)).any():
        raise ValueError(
            f"xcore.random.{who}: {p.name} must have the sum 1, given probabilities whose sum is "
            f"{np.asarray(total)[bad].flat[0]:g}. Divide them by it."
        )


def rounding(dtype) -> float:
    """How far numbers that are equal but for rounding may lie apart: half of the digits, as in NumPy."""
    return float(dtypes.finfo(dtype).eps) ** 0.5 if dtypes.is_floating(dtype) else 0.0


def as_counts(x, dtype):
    """Counts in an integer dtype: those too large for it are its maximum, NaN is -1."""
    if dtypes.is_inexact(dtype):
        return astype(x, dtype)
    top = int(dtypes.iinfo(dtype).max)
    # the largest float64 below top where top itself is none
    limit = float(top) if int(float(top)) <= top else float(np.nextafter(float(top), 0))
    whole = astype(xnp.clip(xnp.where(xnp.isnan(x), 0, x), 0, limit), dtype)
    return xnp.where(x > limit, top, xnp.where(xnp.isnan(x), whole - 1, whole))


# A draw


def _rounded(p: Parameter, x, work) -> tuple:
    """(the parameter, what is left to check): a Python float has been looked at, and is rounded on the
    host, as a program that computes in float32 should not hold it in float64."""
    if isinstance(p.value, float) and work == dtypes.float32:
        with np.errstate(over="ignore", under="ignore"):
            return to_array(np.float32(p.value)), None
    return x, p.violated


def _or_nan(violated, x, dtype):
    """A parameter in the dtype to compute in: NaN where it is not what it must be."""
    work = astype(x, dtype)
    return work if violated is None else xnp.where(violated(x), np.nan, work)


@staged
def _drawn(arrays, sample, shape, dtype, work, stream, regime, violated):
    data, *parameters = arrays
    parameters = [_or_nan(v, p, work) for v, p in zip(violated, parameters, strict=True)]
    known = {} if regime is None else {"regime": regime}
    with config.override(narrow=False):  # the dtype to compute in is not the user's
        out = sample(Source(stream, data), *parameters, shape=shape, dtype=work, **known)
    return astype(out, dtype)


def draw(
    who: str,
    sample,
    key,
    shape,
    dtype,
    *parameters: Parameter,
    narrow=False,
    regime=None,
    result=None,
):
    """A result of a distribution.

    Args:
      dtype: what the sampler computes in, and the dtype of a floating result, as the user gave it.
      narrow: compute in 16 bits where these are asked for; else in 32.
      regime: function of the parameters: what is known now of where they lie, for the sampler.
      result: the dtype of the result where that is another one.
    """
    arrays = [p.check(who) for p in parameters]
    if result is None or dtype is None:  # else it is the sampler's choice, whatever the settings
        dtype = floating(who, dtype, *arrays)
    shape = shape_for(who, shape, arrays)
    work = dtype if narrow else working_dtype(dtype)
    found = consumed(who, key)
    known = regime(*arrays) if regime else None
    rounded = [_rounded(p, x, work) for p, x in zip(parameters, arrays, strict=True)]
    arrays, violated = zip(*rounded, strict=True) if rounded else ((), ())
    return _drawn(
        [found._data, *arrays], sample, shape, result or dtype, work, found._stream, known, violated
    )
