"""The single entry to operations: convert, promote, broadcast, or complain."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np

from .. import _ops as ops
from .._core import Array, Literal, config, dtypes, errors, is_array_like, to_array
from .._core.program import PYTHON_SCALARS as SCALARS
from .._core.source import called_by_user, stack_level
from .._core.types import ArrayType, Value, typeof
from .._ops import broadcast_in_dim, full_like_type
from ._sanitize import note_columns


def as_value(who: str, x: Any, name: str | None = None) -> Any:
    """An array, a tracer, a Python scalar, or what converts to an array; else TypeError."""
    if isinstance(x, (Value, Literal)) or type(x) in SCALARS:
        return x
    if isinstance(
        x, np.generic
    ):  # np.float64 is a Python float as well, but has a dtype of its own
        return Literal(x)
    if not is_array_like(x):
        raise errors.not_an_array(who, x, name)
    return to_array(x)


def as_array(who: str, x: Any, name: str | None = None, dtype: Any = None) -> Array:
    """An array or tracer; Python scalars become weak ones, or exact ones of the dtype."""
    if dtype is not None and type(x) in (float, complex) and dtypes.is_inexact(dtype):
        return to_array(np.asarray(cast_down(x, dtype), dtype)[()])
    x = to_array(x) if isinstance(x, np.generic) else as_value(who, x, name)
    x = to_array(x) if type(x) in SCALARS else x
    return x if dtype is None else astype(x, dtype)


def cast_down(x: Any, dtype: Any) -> Any:
    """The real part of a Python complex number where the dtype is real."""
    return x.real if type(x) is complex and not dtypes.is_complex(dtype) else x


def lists_to_numpy(x: Any) -> Any:
    """Python numbers, also in lists, as a NumPy array, wide enough for what they will meet."""
    return np.asarray(x) if _is_plain(x) else x


def _is_plain(x) -> bool:
    return type(x) in SCALARS or (isinstance(x, (list, tuple)) and all(map(_is_plain, x)))


def promote_dtypes(who: str, *xs: Any) -> list:
    """Arrays of one dtype and their own shapes. Python numbers keep all digits the dtype has."""
    values = [as_value(who, x) for x in xs]
    dtype, _ = result_dtype(who, *values)
    return [as_array(who, x, dtype=dtype) for x in values]


def kind_and_weak(x: Any) -> tuple:
    """The (dtype, weak) that a value brings to a promotion."""
    if type(x) in SCALARS:
        return dtypes.scalar_dtype(x), type(x) is not bool
    if isinstance(x, SCALARS) and not isinstance(x, np.generic):  # such as IntEnum
        return kind_and_weak(next(s for s in SCALARS if isinstance(x, s))(x))
    t = x.type
    if (
        type(x) is Literal and config.settings().narrow
    ):  # a NumPy scalar; what it meets may be wider
        return dtypes.at_width(t.dtype), t.weak
    return t.dtype, t.weak


def result_dtype(who: str, *xs: Any) -> tuple:
    """(dtype, weak) of values together."""
    return promoted(who, [kind_and_weak(x) for x in xs])


def promoted(who: str, pairs: Any) -> tuple:
    """(dtype, weak) of operands of these. Strict promotion holds for what users write."""
    settings = config.settings()
    if settings.numpy_dtype_promotion == "strict":
        try:
            return dtypes.promote(*pairs, bits=settings.default_bits, strict=True)
        except errors.DTypeError:
            if called_by_user(who):
                raise
    dtype, weak = dtypes.promote(*pairs, bits=settings.default_bits)
    if settings.narrow and not any([p[0] == dtype for p in pairs]):  # int64, of uint32 and int32
        return dtypes.at_width(dtype), weak
    return dtype, weak


def astype(x: Any, dtype: Any, weak: bool = False) -> Array:
    """An array or tracer with another dtype. Complex to real keeps the real part."""
    t = typeof(x)
    if t.dtype == dtype and t.weak == weak:
        return x
    if t.dtype == dtype and not weak and not isinstance(x, Literal):
        return ops.convert(x, dtype=dtype)
    if dtypes.kind(t.dtype) == "float8" and dtypes.kind(dtype) not in ("float", "float8"):
        # by way of a dtype that computes. quirk: FLOAT4_TO_INTEGER
        return astype(ops.convert(x, dtype=dtypes.float32), dtype, weak)
    if dtypes.is_complex(t.dtype) and not dtypes.is_complex(dtype):
        if dtype == bool:
            return ops.ne(x, ops.zeros(t))
        x = ops.real(x)
    elif dtype == bool and t.dtype != bool:
        return ops.ne(x, ops.zeros(t))
    return ops.convert(x, dtype=dtype, weak=weak)


def cast(x: Any, dtype: Any, weak: bool, shape: Any = None) -> Any:
    """A value in a dtype; Python scalars are converted on the host, in full precision."""
    if type(x) in SCALARS:
        return Literal(checked_scalar(x, dtype), ArrayType(shape or (), dtype, weak))
    t = typeof(x)
    if t.dtype is dtype or t.dtype == dtype:
        return x
    return astype(x, dtype, weak)


def refuse_complex(who: str, x: Any, dtype: np.dtype, into: Any = None) -> None:
    """Raise where values that are put among real ones would lose their imaginary parts."""
    if dtypes.is_complex(kind_and_weak(x)[0]) and not dtypes.is_complex(dtype) and dtype != bool:
        name = f"xcore.{who}" if who else "xcore"
        raise errors.DTypeError(
            f"{name}: complex values cannot be assigned into {into or dtype.name}; take .real, or make the array "
            "complex first."
        )


def checked_scalar(x: Any, dtype: np.dtype):
    """A Python scalar as a NumPy one. Ints that do not fit are refused; in JAX (narrow) they wrap around."""
    if type(x) is int and dtype.kind in "iu":
        info = dtypes.iinfo(dtype)
        if not info.min <= x <= info.max:
            own = dtypes.iinfo(dtypes.default_dtype("int"))
            if not (config.settings().narrow and own.min <= x <= own.max):
                raise OverflowError(f"The Python int {x} does not fit in {dtype.name}.")
            return np.asarray(x).astype(dtype)[()]
    return np.asarray(x).astype(dtype)[()] if dtype.kind == "V" else np.asarray(x, dtype)[()]


def broadcast_shapes(who: str, *shapes, any_rank: bool = True) -> tuple:
    """The common shape of several. The setting for ranks can forbid all but ``any_rank``."""
    first = next((s for s in shapes if s), ())
    if all([s == first or not s for s in shapes]):
        return tuple(first)
    ndim = max(map(len, shapes))
    settings = config.settings()
    if settings.sanitize:
        note_columns(who, shapes)
    if not any_rank and settings.numpy_rank_promotion != "allow":
        _check_ranks(who, shapes)
    padded = [(1,) * (ndim - len(s)) + tuple(s) for s in shapes]
    out = []
    for sizes in zip(*padded, strict=True):
        wanted = {n for n in sizes if n != 1}
        if len(wanted) > 1:
            raise errors.not_broadcastable(who, shapes)
        out.append(wanted.pop() if wanted else 1)
    return tuple(out)


def _check_ranks(who, shapes):
    if len({len(s) for s in shapes if s}) > 1 and called_by_user(who):
        text = f"xcore.{who}: operands of shapes {shapes} have different ranks (setting numpy_rank_promotion)."
        if config.settings().numpy_rank_promotion == "raise":
            raise errors.ShapeError(text + " Reshape them to one rank.")
        warnings.warn(text, stacklevel=stack_level())


def broadcast_to(x: Any, shape: tuple) -> Array:
    """A value at a shape it broadcasts to."""
    t = typeof(x)
    if t.shape == shape:
        return x
    return broadcast_in_dim(x, shape=shape, dims=tuple(range(len(shape) - t.ndim, len(shape))))


def shape_of(x: Any) -> tuple:
    return () if type(x) in SCALARS else x.type.shape


def as_arrays(
    who: str, *xs: Any, inexact: bool = False, kinds: Any = None, any_rank: bool = False
) -> list:
    """Values of one dtype and one shape, ready for an operation.

    ``inexact`` turns integers into floats first; ``kinds`` limits what the common dtype may be;
    ``any_rank`` is for functions whose operands may have several ranks whatever the settings.
    """
    values = [x if isinstance(x, Value) or type(x) in SCALARS else as_value(who, x) for x in xs]
    dtype, weak = result_dtype(who, *values)
    if inexact and not dtypes.is_inexact(dtype):
        dtype = inexact_dtype(dtype, weak)
    if kinds is not None and dtypes.kind(dtype) not in kinds:
        raise errors.dtype_not_allowed(who, dtype, " and ".join(sorted(kinds)))
    shape = broadcast_shapes(who, *[shape_of(x) for x in values], any_rank=any_rank)
    return [broadcast_to(cast(x, dtype, weak, shape), shape) for x in values]


def as_alike(who: str, *xs: Any, power: bool = False, **options: Any) -> list:
    """``as_arrays`` for functions of lax; under the setting narrow they promote nothing, as in JAX.

    ``power``: floats may have an exponent that is an integer.
    """
    if config.settings().narrow:
        check_alike(who, *xs, power=power)
    return as_arrays(who, *xs, **options)


def check_alike(who: str, *xs: Any, power: bool = False, any_rank: bool = False) -> None:
    """Raise where a user gave lax values of several dtypes, or of several numbers of axes, under narrow."""
    values = [as_value(who, x) for x in xs]
    given = [kind_and_weak(x)[0] for x in values]
    raised = power and dtypes.is_inexact(given[0]) and dtypes.is_integer(given[1])
    alike = raised or len(set(given)) == 1
    ranks = {len(shape_of(x)) for x in values} - {0}
    if (alike and (any_rank or len(ranks) < 2)) or not (
        config.settings().narrow and called_by_user(who)
    ):
        return
    if not alike:
        raise errors.dtype_mismatch(who, **{f"operand {i}": x for i, x in enumerate(values)})
    raise errors.ShapeError(
        f"xcore.{who}: operands need one number of axes, or none; given shapes {[*map(shape_of, values)]}."
    )


def inexact_dtype(dtype: Any, weak: bool = False) -> np.dtype:
    """The dtype in which functions with real results compute: integers of 64 bits go to float64.

    Those of fewer go to the default, to float32 whatever it is where narrow says so, as in JAX.
    """
    if dtypes.is_inexact(dtype):
        return dtype
    short = dtype.itemsize < 8 and not config.settings().narrow
    return dtypes.default_dtype("float") if weak or short else dtypes.to_inexact(dtype)


def as_inexact(who: str, x: Any) -> Array:
    """One array of floating or complex dtype."""
    x = as_array(who, x)
    t = typeof(x)
    return x if dtypes.is_inexact(t.dtype) else astype(x, inexact_dtype(t.dtype, t.weak), t.weak)


def full(shape: Any, value: Any, dtype: Any) -> Array:
    """An array of one NumPy or Python number."""
    return full_like_type(ArrayType(tuple(shape), dtype), value)


def axes_of(who: str, axis: Any, ndim: int) -> tuple:
    """Axes as sorted non-negative numbers; None means all."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, (tuple, list, range)) else (axis,)
    out = [one_axis(who, a, ndim) for a in given]
    if len(set(out)) != len(out):
        raise ValueError(f"xcore.{who}: duplicate value in axis {axis}.")
    return tuple(sorted(out))


def one_axis(who: str, axis: Any, ndim: int) -> int:
    """An axis as a non-negative number."""
    if isinstance(axis, Value):
        if isinstance(axis.type, ArrayType) and not hasattr(axis, "_t"):
            raise errors.no_concrete_value(axis, "a Python int as an axis", axis.origin())
    try:
        number = axis.__index__()
    except AttributeError:
        raise TypeError(
            f"xcore.{who}: axis must be an int, given {errors.describe(axis)}."
        ) from None
    if not -ndim <= number < ndim:
        raise errors.bad_axis(who, number, ndim)
    return number % ndim


def check_shape(who: str, shape: Any, least: int = 0, name: str = "shape") -> tuple:
    """A shape as a tuple of Python ints, none below ``least``; traced values in it are explained."""
    several = isinstance(shape, (tuple, list)) or np.ndim(shape) > 0
    items = tuple(shape) if several else (shape,)
    out = []
    for n in items:
        if isinstance(n, Value) and not hasattr(n, "_t"):
            raise errors.traced_shape(n, n.origin())
        try:
            out.append(operator.index(n))
        except TypeError:
            raise TypeError(
                f"xcore.{who}: a shape consists of ints, given {errors.describe(n)} in {shape!r}."
            ) from None
    if min(out, default=least) < least:
        raise errors.bad_argument(who, name, shape, "made of non-negative sizes")
    return tuple(out)


def whole_numbers(who: str, name: str, given: Any, count: int | None = None) -> tuple:
    """A sequence of ints as a tuple: one for each of so many axes, where their number is said."""
    try:
        items = tuple(given)
    except TypeError:
        items = (None,)
    if not all(hasattr(i, "__index__") for i in items) or count not in (None, len(items)):
        several = "a sequence of ints" if count is None else f"{count} ints, one for each axis"
        raise errors.bad_argument(
            who, name, given, "a sequence of one int" if count == 1 else several
        )
    return items


def concrete(who: str, x: Any) -> Any:
    """A Python or NumPy number from one, or from a concrete 0-d array; traced values are refused."""
    if not isinstance(x, Value):
        return x
    if not hasattr(x, "_t"):
        raise errors.no_concrete_value(x, f"a concrete number in xcore.{who}", x.origin())
    return np.asarray(x)[()]


def dtype_or(dtype: Any, kind: str) -> np.dtype:
    """The dtype asked for, else the default one of a kind."""
    return dtypes.default_dtype(kind) if dtype is None else dtypes.as_dtype(dtype)


def no_out(who: str, out: Any) -> None:
    """Refuse an ``out`` argument: it is in signatures only so that NumPy's calls pass through."""
    if out is not None:
        raise errors.bad_argument(who, "out", out, "None: arrays are immutable", "Use the result.")


def filled(who: str, value: Any, t: ArrayType) -> Array:
    """A number (which stands in the program) or an array as an array of a type."""
    if type(value) in SCALARS or isinstance(value, np.generic):
        return ops.full_like_type(t, value)
    return broadcast_to(as_array(who, value, dtype=t.dtype), t.shape)
