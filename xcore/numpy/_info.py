"""What can be asked about dtypes, values and this namespace."""

from __future__ import annotations

import contextlib

import numpy as np

from .._control import stop_gradient
from .._core import Value, config, dtypes, errors, is_array_like, typeof
from .._core.devices import devices
from . import _promote
from ._compound import Compound
from ._types import DType

# Promotion

_WEAK_TYPES = {int: "int", float: "float", complex: "complex"}


def _pair(x) -> tuple:
    """The (dtype, weak) of an array, a number, a dtype, or one of Python's types of numbers."""
    if isinstance(x, type) and x in _WEAK_TYPES:
        return dtypes.default_dtype(_WEAK_TYPES[x]), True
    if isinstance(x, (Value, *_promote.SCALARS)) and not isinstance(x, np.generic):
        return _promote.kind_and_weak(x)
    return dtypes.default_dtype("float") if x is None else dtypes.as_dtype(x), False


def result_type(*args):
    """The dtype of the result of combining arrays, numbers and dtypes; None is the one of floats by default.

    Args:
      *args: arrays, numbers, dtypes, names of dtypes, or None.

    >>> import xcore.numpy as xnp
    >>> xnp.result_type(xnp.int8, 3), xnp.result_type(xnp.arange(2), 0.5)
    (dtype('int8'), dtype('float32'))
    """
    if not args:
        raise errors.bad_argument(
            "numpy.result_type", "arguments", args, "at least one array or dtype"
        )
    if isinstance(args[0], Compound) and all(
        getattr(x, "dtype", None) == args[0].dtype for x in args
    ):  # pyright: ignore
        return args[0].dtype  # pyright: ignore[reportAttributeAccessIssue]
    return _promote.promoted("numpy.result_type", [_pair(x) for x in args])[0]


def promote_types(a, b):
    """The dtype of the result of combining two dtypes.

    Args:
      a, b: dtypes, their names, or Python's types of numbers.

    >>> import xcore.numpy as xnp
    >>> xnp.promote_types("int32", "float16")
    dtype('float16')
    """
    pairs = [_pair(_as_dtype_or_type(x)) for x in (a, b)]
    return _promote.promoted("numpy.promote_types", pairs)[0]


def _as_dtype_or_type(x):
    return x if isinstance(x, type) and x in _WEAK_TYPES else dtypes.as_dtype(x)


def can_cast(from_, to, casting="safe"):
    """Whether a dtype (or an array's) can be converted to another one without loss.

    Args:
      from_: a dtype or an array.
      to: a dtype.
      casting: "safe" for without loss, "same_kind", "equiv", "no" or "unsafe".

    >>> import xcore.numpy as xnp
    >>> xnp.can_cast("int8", "int16"), xnp.can_cast("float32", "int32")
    (True, False)
    """
    source = typeof(from_).dtype if isinstance(from_, Value) else dtypes.named(from_)
    target = dtypes.named(to)
    if casting == "safe" and "V" in (source.kind, target.kind):
        return source == target or _holds(target, source)
    return bool(np.can_cast(source, target, casting))


def _holds(big, small) -> bool:
    """Whether every number of one dtype is one of the other, for the dtypes NumPy does not know."""
    kinds = [dtypes.kind(d).replace("float8", "float") for d in (big, small)]
    if kinds[1] == "bool":
        return True
    if kinds[1] in ("int", "uint"):
        digits = dtypes.iinfo(small).bits - (kinds[1] == "int")
        if kinds[0] in ("int", "uint"):
            return (kinds[0] == "int" or kinds[1] == "uint") and dtypes.iinfo(big).bits - (
                kinds[0] == "int"
            ) >= digits
        return dtypes.finfo(big).nmant + 1 >= digits and dtypes.finfo(big).maxexp >= digits
    if kinds[0] in ("int", "uint", "bool"):
        return False
    if kinds[1] == "complex" and kinds[0] != "complex":
        return False
    a, b = dtypes.finfo(big), dtypes.finfo(small)
    return a.nmant >= b.nmant and a.maxexp >= b.maxexp and a.minexp <= b.minexp


# Limits


class finfo:
    """Machine limits of a floating dtype, or of the parts of a complex one.

    Attributes: ``bits dtype eps epsneg max min smallest_normal smallest_subnormal tiny precision
    resolution nmant nexp maxexp minexp``. Numbers are Python floats.

    >>> import xcore.numpy as xnp
    >>> xnp.finfo(xnp.float32).bits
    32
    """

    def __init__(self, dtype):
        found = typeof(dtype).dtype if isinstance(dtype, Value) else dtypes.named(dtype)
        self._info = dtypes.finfo(found)
        self.dtype = dtypes.to_real(found)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self._info, name)
        return float(value) if isinstance(value, np.generic) else value

    def __reduce__(self):
        return finfo, (self.dtype,)

    def __repr__(self):
        return f"finfo(eps={self.eps}, min={self.min}, max={self.max}, dtype={self.dtype.name})"


class iinfo:
    """Limits of an integer dtype: ``bits dtype max min``.

    >>> import xcore.numpy as xnp
    >>> xnp.iinfo(xnp.int8).max
    127
    """

    def __init__(self, int_type):
        given = typeof(int_type).dtype if isinstance(int_type, Value) else int_type
        self.dtype = dtypes.named(given)
        info = dtypes.iinfo(self.dtype)
        self.bits, self.min, self.max = int(info.bits), int(info.min), int(info.max)

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype.name})"


# Kinds

_KINDS = {
    "bool": ("bool",), "signed integer": ("int",), "unsigned integer": ("uint",), "integral": ("int", "uint"),
    "real floating": ("float", "float8"), "complex floating": ("complex",),
    "numeric": ("int", "uint", "float", "float8", "complex"),
}  # fmt: skip
_ABSTRACT = {
    np.generic: ("bool", "int", "uint", "float", "float8", "complex"),
    np.number: _KINDS["numeric"], np.integer: _KINDS["integral"], np.signedinteger: ("int",),
    np.unsignedinteger: ("uint",), np.inexact: ("float", "float8", "complex"), np.floating: ("float", "float8"),
    np.complexfloating: ("complex",), np.flexible: (), np.character: (),
}  # fmt: skip


def isdtype(dtype, kind):
    """Whether a dtype is another one, or of a kind.

    Args:
      dtype: a dtype.
      kind: a dtype; "bool", "signed integer", "unsigned integer", "integral", "real floating",
        "complex floating" or "numeric"; or a tuple of these.

    >>> import xcore.numpy as xnp
    >>> xnp.isdtype(xnp.bfloat16, "real floating")
    True
    """
    found = dtypes.named(dtype)
    for k in kind if isinstance(kind, tuple) else (kind,):
        if isinstance(k, str) and k in _KINDS:
            if dtypes.kind(found) in _KINDS[k]:
                return True
        elif isinstance(k, str):
            raise errors.bad_argument("numpy.isdtype", "kind", k, f"a dtype or one of {[*_KINDS]}")
        elif dtypes.named(k) == found:
            return True
    return False


_NUMPYS = {float: np.float64, int: np.int64, complex: np.complex128}


def issubdtype(arg1, arg2):
    """Whether a dtype is below another one in NumPy's hierarchy of types, where ``float`` is float64.

    Args:
      arg1: dtype, or a class of dtypes such as ``xnp.floating``.
      arg2: the dtype or class that it may be, or be below.

    >>> import xcore.numpy as xnp
    >>> xnp.issubdtype(xnp.bfloat16, xnp.floating)
    True
    """
    if isinstance(arg1, type) and arg1 in _ABSTRACT:
        return isinstance(arg2, type) and issubclass(arg1, arg2)
    arg1, arg2 = _NUMPYS.get(arg1, arg1), _NUMPYS.get(arg2, arg2)
    if isinstance(arg1, dtypes.ExtendedDtype):
        return arg1 == arg2 or (isinstance(arg2, type) and issubclass(arg1.type, arg2))
    found = dtypes.named(arg1)
    if isinstance(arg2, type) and issubclass(arg2, dtypes.extended):
        return False
    if isinstance(arg2, type) and arg2 in _ABSTRACT:
        return dtypes.kind(found) in _ABSTRACT[arg2]
    return found == dtypes.named(arg2)


def iscomplexobj(x):
    """Whether an array or number is of complex dtype.

    Args:
      x: array or number.

    >>> import xcore.numpy as xnp
    >>> xnp.iscomplexobj(1 + 0j)
    True
    """
    return _dtype_of(x).kind == "c"


def isrealobj(x):
    """Whether an array or number is not of complex dtype.

    Args:
      x: array or number.

    >>> import xcore.numpy as xnp
    >>> xnp.isrealobj(xnp.ones(2))
    True
    """
    return not iscomplexobj(x)


def _dtype_of(x):
    return typeof(x).dtype if isinstance(x, Value) else np.asarray(x).dtype


def isscalar(element):
    """Whether something is a number: one of Python's or NumPy's, or a 0-d array.

    Args:
      element: any object.

    >>> import xcore.numpy as xnp
    >>> xnp.isscalar(3.0), xnp.isscalar(xnp.ones(1))
    (True, False)
    """
    if hasattr(element, "__jax_array__") and not isinstance(element, Value):
        element = element.__jax_array__()
    if isinstance(element, (Value, np.ndarray, np.generic)):
        return np.ndim(element) == 0
    return isinstance(element, DType) or np.isscalar(element)


def iterable(y):
    """Whether one can loop over something.

    Args:
      y: any object.

    >>> import xcore.numpy as xnp
    >>> xnp.iterable(xnp.ones(2)), xnp.iterable(xnp.ones(()))
    (True, False)
    """
    if isinstance(y, Value):
        return typeof(y).ndim > 0
    return np.iterable(y)


def ndim(a):
    """The number of axes.

    Args:
      a: array, number, or nested lists of numbers.

    >>> import xcore.numpy as xnp
    >>> xnp.ndim(xnp.zeros((2, 3)))
    2
    """
    return len(shape(a))


def shape(a):
    """The length along each axis.

    Args:
      a: array, number, or nested lists of numbers.

    >>> import xcore.numpy as xnp
    >>> xnp.shape(xnp.zeros((2, 3)))
    (2, 3)
    """
    if isinstance(a, Value):
        return typeof(a).shape
    if isinstance(a, Compound):
        return a.shape  # pyright: ignore[reportAttributeAccessIssue]
    if not is_array_like(a) and not isinstance(a, (list, tuple)):
        raise errors.not_an_array("numpy.shape", a)
    return np.shape(a)


def size(a, axis=None):
    """The number of elements, or the length along axes.

    Args:
      a: array, number or nested list.
      axis: an int or several; None counts all elements.

    >>> import xcore.numpy as xnp
    >>> xnp.size(xnp.zeros((2, 3))), xnp.size(xnp.zeros((2, 3)), 1)
    (6, 3)
    """
    lengths = shape(a)
    out = 1
    for i in _promote.axes_of("numpy.size", axis, len(lengths)):
        out *= lengths[i]
    return out


# As text


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """An array as text, with its dtype.

    Args:
      arr: array.
      max_line_width: int; columns of a line, by default what ``set_printoptions`` says.
      precision: int; digits after the point, by default what is set.
      suppress_small: whether numbers that round to zero are shown as zero, by default what is set.

    >>> import xcore.numpy as xnp
    >>> xnp.array_repr(xnp.arange(2))
    'Array([0, 1], dtype=int32)'
    """
    given = {"linewidth": max_line_width, "precision": precision, "suppress": suppress_small}
    with np.printoptions(**{k: v for k, v in given.items() if v is not None}):
        return repr(arr)


def array_str(a, max_line_width=None, precision=None, suppress_small=None):
    """The content of an array as text.

    Args:
      a: array.
      max_line_width: int; columns of a line, by default what ``set_printoptions`` says.
      precision: int; digits after the point, by default what is set.
      suppress_small: whether numbers that round to zero are shown as zero, by default what is set.

    >>> import xcore.numpy as xnp
    >>> xnp.array_str(xnp.arange(2))
    '[0 1]'
    """
    return np.array_str(np.asarray(stop_gradient(a)), max_line_width, precision, suppress_small)


def set_printoptions(*args, **kwargs):
    """How arrays are printed: NumPy's settings, which xcore's arrays follow.

    Args:
      args, kwargs: those of ``numpy.set_printoptions``, as ``precision=3``.

    >>> import xcore.numpy as xnp
    >>> xnp.set_printoptions(precision=8)
    """
    np.set_printoptions(*args, **kwargs)


def get_printoptions():
    """How arrays are printed: NumPy's settings, which xcore's arrays follow.

    >>> import xcore.numpy as xnp
    >>> xnp.get_printoptions()["precision"]
    8
    """
    return np.get_printoptions()


@contextlib.contextmanager
def printoptions(*args, **kwargs):
    """Settings of printing for a ``with`` block.

    Args:
      args, kwargs: as for ``set_printoptions``; they hold within the block.

    >>> import xcore.numpy as xnp
    >>> with xnp.printoptions(precision=2):
    ...     print(xnp.asarray([1.23456]))
    [1.23]
    """
    with np.printoptions(*args, **kwargs) as options:
        yield options


# The Array API's inquiry


class NamespaceInfo:
    """What this namespace can do, in the form of the Array API standard."""

    def capabilities(self) -> dict:
        """Which optional features there are; both only outside of transformations."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self):
        """The device on which arrays are made."""
        return config.settings().default_device or devices()[0]

    def devices(self) -> list:
        """All devices."""
        return devices()

    def default_dtypes(self, *, device=None) -> dict:
        """The dtypes that numbers get when none is asked for."""
        return {
            "real floating": dtypes.default_dtype("float"), "complex floating": dtypes.default_dtype("complex"),
            "integral": dtypes.default_dtype("int"), "indexing": dtypes.default_dtype("int"),
        }  # fmt: skip

    def dtypes(self, *, device=None, kind=None) -> dict:
        """The dtypes of the standard by name, all or those of a kind."""
        found = {name: np.dtype(name) for name in _STANDARD}
        return found if kind is None else {n: d for n, d in found.items() if isdtype(d, kind)}


_STANDARD = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip


def __array_namespace_info__():
    """What this namespace can do, in the form of the Array API standard.

    >>> import xcore.numpy as xnp
    >>> xnp.__array_namespace_info__().default_dtypes()["integral"]
    dtype('int32')
    """
    return NamespaceInfo()
