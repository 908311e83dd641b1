"""Methods of elementwise functions, and ufuncs of one's own.

All have ``at``; those of two arrays also ``reduce``, ``reduceat``, ``accumulate`` and ``outer``.

``reduce`` and ``accumulate`` fold from the left. For sums, products, extrema and logic they are the
reductions and cumulative operations of this package; for all other functions, a loop.
"""

from __future__ import annotations

import operator

import numpy as np

from .. import _ops as ops
from .._control import fori_loop, scan
from .._core import ArrayType, Value, dtypes, errors, is_array_like, typeof
from . import _cumulative, _elementwise, _floats, _functions, _reduce, _rounding
from ._apply import vectorize
from ._creation import asarray
from ._index import getitem
from ._promote import SCALARS, as_array, astype, axes_of, broadcast_to, no_out, one_axis
from ._select import where as choose_where
from ._shape import expand_dims, moveaxis, ravel, reshape


class _Ufuncs(type):
    """The class of ``ufunc``: elementwise functions of this package count as its instances."""

    def __instancecheck__(cls, x):
        return type.__instancecheck__(cls, x) or _is_known_function(x)


_IN_ORDER = frozenset(
    "subtract divide true_divide floor_divide power float_power remainder mod fmod arctan2 left_shift right_shift"
    " nextafter copysign ldexp".split()
)


class ufunc(metaclass=_Ufuncs):
    """A function applied to each element, with the methods that NumPy gives such functions.

    Args:
      func: a function of numbers (or of arrays, if ``on_arrays``).
      nin, nout: how many arguments and results it has.
      identity: the number that changes nothing, for reductions of no elements.

    >>> import xcore.numpy as xnp
    >>> f = xnp.frompyfunc(lambda x, y: x + 2 * y, 2, 1)
    >>> f.reduce(xnp.arange(3))
    Array(6, dtype=int32)
    """

    def __init__(self, func, nin: int, nout: int, *, name: str | None = None, identity=None,
                 on_arrays: bool = False, special=None):  # fmt: skip
        self.nin, self.nout, self.nargs = operator.index(nin), operator.index(nout), nin + nout
        self.identity = identity
        self.__name__ = name or getattr(func, "__name__", "ufunc")
        self.__doc__ = getattr(func, "__doc__", None)
        self._about = func, self.nin, self.nout, identity, on_arrays
        self._call = func if on_arrays else vectorize(func)
        self._special = special or {}

    def __call__(self, *args):
        if len(args) != self.nin:
            raise TypeError(
                f"xcore.numpy.{self.__name__}: takes {self.nin} arrays, given {len(args)}."
            )
        return self._call(*args)

    def __eq__(self, other):
        return type(other) is ufunc and self._about == other._about

    def __hash__(self):
        return hash(self._about)

    def __repr__(self):
        return f"<xcore ufunc {self.__name__!r}>"

    def _needs_two(self, method: str) -> None:
        if (self.nin, self.nout) != (2, 1):
            raise ValueError(
                f"xcore.numpy.{self.__name__}.{method}: only for functions of two arrays and one result."
            )

    # Methods

    def outer(self, A, B, /):
        """The function of every pair of an element of A and one of B: shape A.shape + B.shape."""
        self._needs_two("outer")
        who = f"numpy.{self.__name__}.outer"
        if type(B) in SCALARS:
            return self(A, B)
        A, B = as_array(who, A), as_array(who, B)
        return self(expand_dims(A, tuple(range(A.ndim, A.ndim + B.ndim))), B)

    def reduce(self, a, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=None):
        """The elements along axes combined to one, from the left."""
        self._needs_two("reduce")
        who = f"numpy.{self.__name__}.reduce"
        no_out(who, out)
        a = as_array(who, a if is_array_like(a) else asarray(a))
        if where is not None and self.identity is None and initial is None:
            raise errors.bad_argument(
                who, "initial", None, "given together with where: the function has no identity"
            )
        if "reduce" in self._special:
            return self._special["reduce"](a, axis, dtype, keepdims, initial, where)
        axes = axes_of(who, axis, typeof(a).ndim)
        if len(axes) > 1 and self.__name__ in _IN_ORDER:
            need = "one axis: what comes out depends on the order of the elements"
            raise errors.bad_argument(who, "axis", axis, need)
        kept_shape = tuple(1 if i in axes else n for i, n in enumerate(typeof(a).shape))
        where = (
            None
            if where is None
            else _in_rows(broadcast_to(as_array(who, where), typeof(a).shape), axes)
        )
        total = self._fold(who, _in_rows(a, axes), dtype, initial, where)
        return reshape(total, kept_shape) if keepdims else total

    def _result_dtype(self, a, dtype):
        """The dtype in which elements of ``a`` are combined."""
        if dtype is not None:
            return dtypes.as_dtype(dtype)
        one = ops.full_like_type(ArrayType((), typeof(a).dtype), 1)
        return typeof(self(as_array("numpy", one), as_array("numpy", one))).dtype

    def _fold(self, who, rows, dtype, initial, where):
        """The elements along axis 0 combined one after the other."""
        result = self._result_dtype(rows, dtype)
        rows = astype(rows, result) if dtype is not None else rows
        n, rest = typeof(rows).shape[0], typeof(rows).shape[1:]
        start = self.identity if initial is None else initial
        if start is None:
            if not n:
                raise errors.bad_argument(
                    who, "a", rows, "with elements along the axis, or initial given"
                )
            carry, rows = astype(rows[0], result), rows[1:]
        else:
            carry = broadcast_to(as_array(who, start, dtype=result), rest)

        def step(carry, item):
            x, use = item
            new = astype(self(carry, x), result)
            return (new if where is None else choose_where(use, new, carry)), None

        return scan(step, carry, (rows, where))[0] if typeof(rows).shape[0] else carry

    def accumulate(self, a, axis=0, dtype=None, out=None):
        """The results of combining the first element, the first two, and so on along an axis."""
        self._needs_two("accumulate")
        who = f"numpy.{self.__name__}.accumulate"
        no_out(who, out)
        a = as_array(who, a if is_array_like(a) else asarray(a))
        if axis is None and typeof(a).ndim > 1:
            raise errors.bad_argument(who, "axis", axis, "one axis")
        axis = one_axis(who, axis or 0, typeof(a).ndim)
        if "accumulate" in self._special:
            return self._special["accumulate"](a, axis, dtype)
        if not typeof(a).shape[axis]:
            return a if dtype is None else astype(a, dtypes.as_dtype(dtype))
        result = self._result_dtype(a, dtype)
        rows = moveaxis(a if dtype is None else astype(a, result), axis, 0)

        def step(carry, x):
            new = astype(self(carry, x), result)
            return new, new

        first = astype(rows[0], result)
        later = scan(step, first, rows[1:])[1]
        return moveaxis(ops.concatenate(first[None], later, axis=0), 0, axis)

    def at(self, a, indices, b=None, /, *, inplace=True):
        """A copy of ``a`` with the function applied at positions; one that occurs twice, twice."""
        who = f"numpy.{self.__name__}.at"
        if inplace:
            raise errors.bad_argument(
                who,
                "inplace",
                inplace,
                "False: arrays are immutable",
                "The result is a changed copy.",
            )
        a = as_array(who, a)
        if (b is None) != (self.nin == 1) or self.nout != 1:
            raise TypeError(f"xcore.{who}: takes {self.nin} operands.")
        if "at" in self._special:
            return self._special["at"](a.at[indices], b)
        return self._one_by_one(who, a, indices, b)

    def _one_by_one(self, who, a, indices, b):
        t = typeof(a)
        numbers = reshape(ops.iota(shape=(t.size,), dtype=dtypes.int32, axis=0), t.shape)
        where = getitem(numbers, indices)
        others = [] if b is None else [ravel(broadcast_to(as_array(who, b), typeof(where).shape))]
        where = ravel(where)

        def step(i, flat):
            new = self(flat[where[i]], *[x[i] for x in others])
            return flat.at[where[i]].set(astype(new, t.dtype))

        return (
            reshape(fori_loop(0, typeof(where).size, step, ravel(a)), t.shape)
            if typeof(where).size
            else a
        )

    def reduceat(self, a, indices, axis=0, dtype=None, out=None):
        """Reductions of the stretches of an axis that start at given positions.

        Positions that are traced cost a pass over the axis for each of them.
        """
        self._needs_two("reduceat")
        who = f"numpy.{self.__name__}.reduceat"
        no_out(who, out)
        a = as_array(who, a if is_array_like(a) else asarray(a))
        axis = one_axis(who, axis, typeof(a).ndim)
        if isinstance(indices, Value) and not hasattr(indices, "_t"):
            if indices.ndim != 1 or not dtypes.is_integer(indices.dtype):
                raise errors.bad_argument(who, "indices", indices, "1-d, of integers")
            return self._reduceat_traced(moveaxis(a, axis, 0), indices, axis, dtype)
        positions, segment = _segment_lengths(who, indices, typeof(a).shape[axis])
        result = self._result_dtype(a, dtype)
        rows = moveaxis(a, axis, 0)[positions]
        rows = astype(rows, result) if dtype is not None else rows
        fresh = np.diff(segment, prepend=-1) > 0

        def step(carry, item):
            x, new = item
            out = choose_where(new, astype(x, result), astype(self(carry, x), result))
            return out, out

        zero = ops.zeros(ArrayType(typeof(rows).shape[1:], result))
        running = scan(step, as_array(who, zero), (rows, fresh))[1]
        ends = (
            np.flatnonzero(np.diff(segment, append=segment[-1] + 1) > 0)
            if segment.size
            else segment
        )
        return moveaxis(running[ends], 0, axis)  # pyright: ignore[reportOptionalSubscript]

    def _reduceat_traced(self, rows, starts, axis: int, dtype):
        n, result = typeof(rows).shape[0], self._result_dtype(rows, dtype)
        starts = astype(starts, np.dtype(np.int32))
        stops = ops.concatenate(
            starts[1:], as_array("numpy.reduceat", np.array([n], np.int32)), axis=0
        )
        rows = astype(rows, result)
        lead = (typeof(starts).shape[0], *[1] * (typeof(rows).ndim - 1))

        def step(carry, item):
            i, x = item
            inside = ops.reshape((i > starts) & (i < stops), shape=lead)
            return choose_where(inside, astype(self(carry, x), result), carry), None

        numbers = ops.iota(shape=(n,), dtype=np.dtype(np.int32), axis=0)
        return moveaxis(scan(step, rows[starts], (numbers, rows))[0], 0, axis)


def _in_rows(x, axes):
    """The axes in one, in front of the others."""
    rest = [i for i in range(typeof(x).ndim) if i not in axes]
    moved = ops.transpose(x, perm=(*axes, *rest))
    shape = typeof(x).shape
    count = int(np.prod([shape[i] for i in axes], dtype=np.int64))
    return ops.reshape(moved, shape=(count, *[shape[i] for i in rest]))


def _segment_lengths(who: str, indices, n: int):
    """The positions of all segments one after the other, and each one's segment number."""
    starts = np.asarray(indices)
    if starts.ndim != 1 or starts.dtype.kind not in "iu":
        raise errors.bad_argument(who, "indices", indices, "1-d, of integers")
    if starts.size and (starts.min() < 0 or starts.max() >= n):
        raise errors.bad_argument(who, "indices", indices, f"between 0 and {n - 1}")
    stops = np.append(starts[1:], n)
    stops = np.where(stops > starts, stops, starts + 1)
    positions = [np.arange(i, j) for i, j in zip(starts, stops, strict=True)]
    segment = np.repeat(np.arange(len(starts)), stops - starts)
    return (np.concatenate(positions) if positions else np.zeros(0, int)).astype(np.int32), segment


def frompyfunc(func, /, nin, nout, *, identity=None):
    """A function of numbers as a ufunc: applied to each element of arrays that broadcast.

    Args:
      func: a function of ``nin`` numbers with ``nout`` results, written with xcore functions.
      nin, nout: how many arguments and results.
      identity: the number that changes nothing, for reductions of no elements.

    >>> import xcore.numpy as xnp
    >>> xnp.frompyfunc(lambda x, y: x + 2 * y, 2, 1)(xnp.arange(3), 1)
    Array([2, 3, 4], dtype=int32)
    """
    return ufunc(func, nin, nout, identity=identity)


# The binary functions of this package


def _reducer(function, takes_dtype: bool):
    def reduce(a, axis, dtype, keepdims, initial, where):
        given = {"dtype": dtype} if takes_dtype else {}
        out = function(a, axis, keepdims=keepdims, initial=initial, where=where, **given)
        return out if takes_dtype or dtype is None else astype(out, dtypes.as_dtype(dtype))

    return reduce


def _logic_reducer(function, combine):
    def reduce(a, axis, dtype, keepdims, initial, where):
        out = function(a, axis, keepdims=keepdims, where=where)
        out = out if initial is None else combine(out, initial)
        return out if dtype is None else astype(out, dtypes.as_dtype(dtype))

    return reduce


def _real_runner(op, function):
    """cummax and cummin, for dtypes that have an order."""

    def run(a, axis, dtype):
        a = a if dtype is None else astype(a, dtypes.as_dtype(dtype))
        if dtypes.is_complex(typeof(a).dtype):
            return ufunc(function, 2, 1, on_arrays=True).accumulate(a, axis)
        return op(a, axis=axis)

    return run


_e, _f, _r = _elementwise, _functions, _rounding
# fmt: off
_IDENTITIES = {
    _e.add: 0, _e.multiply: 1, _e.logical_and: True, _e.logical_or: False, _e.logical_xor: False,
    _e.bitwise_and: -1, _e.bitwise_or: 0, _e.bitwise_xor: 0, _f.logaddexp: -np.inf, _f.logaddexp2: -np.inf,
    _r.gcd: 0, _f.hypot: 0,
}
_SPECIAL = {
    _e.add: {
        "reduce": _reducer(_reduce.sum, True),
        "accumulate": lambda a, axis, dtype: _cumulative.cumsum(a, axis, dtype),
        "at": lambda at, b: at.add(b),
    },
    _e.subtract: {"at": lambda at, b: at.subtract(b)},
    _e.multiply: {
        "reduce": _reducer(_reduce.prod, True),
        "accumulate": lambda a, axis, dtype: _cumulative.cumprod(a, axis, dtype),
        "at": lambda at, b: at.multiply(b),
    },
    _e.maximum: {
        "reduce": _reducer(_reduce.max, False), "accumulate": _real_runner(ops.cummax, _e.maximum),
        "at": lambda at, b: at.max(b),
    },
    _e.minimum: {
        "reduce": _reducer(_reduce.min, False), "accumulate": _real_runner(ops.cummin, _e.minimum),
        "at": lambda at, b: at.min(b),
    },
    _e.logical_and: {"reduce": _logic_reducer(_reduce.all, _e.logical_and)},
    _e.logical_or: {"reduce": _logic_reducer(_reduce.any, _e.logical_or)},
}
_BINARY = (
    _e.add, _e.subtract, _e.multiply, _e.divide, _e.floor_divide, _e.remainder, _e.fmod, _e.power,
    _e.float_power, _e.maximum, _e.minimum, _e.equal, _e.not_equal, _e.less, _e.less_equal, _e.greater,
    _e.greater_equal, _e.bitwise_and, _e.bitwise_or, _e.bitwise_xor, _e.left_shift, _e.right_shift,
    _e.logical_and, _e.logical_or, _e.logical_xor, _f.arctan2, _f.hypot, _f.logaddexp, _f.logaddexp2, _r.gcd,
    _r.lcm, _f.heaviside, _floats.copysign, _floats.nextafter, _floats.fmax, _floats.fmin,
)


_UNARY = (
    _e.absolute, _e.negative, _e.positive, _e.square, _e.reciprocal, _e.invert, _e.logical_not, _f.sqrt, _f.cbrt,
    _f.exp, _f.exp2, _f.expm1, _f.log, _f.log2, _f.log10, _f.log1p, _f.sin, _f.cos, _f.tan, _f.arcsin, _f.arccos,
    _f.arctan, _f.sinh, _f.cosh, _f.tanh, _f.arcsinh, _f.arccosh, _f.arctanh, _f.deg2rad, _f.rad2deg, _r.floor,
    _r.ceil, _r.trunc, _r.rint, _f.sign, _f.conjugate,
)
# fmt: on
_OF_ALL = ("nin", "nout", "nargs", "identity", "at")
_OF_TWO = ("outer", "reduce", "accumulate", "reduceat")


def _give_methods(function, nin: int, names: tuple) -> None:
    made = ufunc(
        function, nin, 1, name=function.__name__, identity=_IDENTITIES.get(function), on_arrays=True,
        special=_SPECIAL.get(function),
    )  # fmt: skip
    for name in names:
        setattr(function, name, getattr(made, name))


def _is_known_function(x) -> bool:
    return any(x is f for f in (*_BINARY, *_UNARY))


for _function in _BINARY:
    _give_methods(_function, 2, _OF_ALL + _OF_TWO)
for _function in _UNARY:
    _give_methods(_function, 1, _OF_ALL)
