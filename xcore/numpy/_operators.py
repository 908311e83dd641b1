"""Operators and methods of arrays. They belong to NumPy's surface but live on a lower class.

This is the one place that reaches down: it installs them on Value (arrays and tracers alike), and
on Array again where a faster way exists.
"""

from __future__ import annotations

import numpy as np

from .._core import Array, Tracer, Value, dtypes, errors, is_array_like
from .._core.call_paths import operator
from .._core.source import reading_line
from . import _at, _dot, _index, _rounding
from . import _elementwise as e
from ._methods import METHODS, PROPERTIES

_OURS = Value, np.ndarray, np.generic, bool, int, float, complex


def _is_left_to(other, answer: str) -> bool:
    """Whether an operand on the right answers itself: what is no array, or another package's with that method.

    What can be read as an array (``__array__``) may be more than that: an operator, or numbers with units. What says so
    itself (``__jax_array__``) answers where it claims a higher priority than arrays, as NumPy has it.
    """
    if isinstance(other, _OURS):
        return False
    if hasattr(other, "__jax_array__"):
        first = getattr(other, "__array_priority__", 0) > Array.__array_priority__
        return first and hasattr(type(other), answer)
    return hasattr(type(other), answer) or not is_array_like(other)


def _deferring(function, name: str = "", reflected: bool = False):
    """A binary method that leaves foreign operands to them; ``name`` is that of theirs, beside ours on the left."""

    def method(self, other):
        if _is_left_to(other, name) if name else not is_array_like(other):
            return NotImplemented
        return function(other, self) if reflected else function(self, other)

    method.__doc__ = function.__doc__
    return method


_BINARY = {
    "add": e.add, "sub": e.subtract, "mul": e.multiply, "truediv": e.divide, "floordiv": e.floor_divide,
    "mod": e.remainder, "and": e.bitwise_and, "or": e.bitwise_or, "xor": e.bitwise_xor,
    "lshift": e.left_shift, "rshift": e.right_shift,
}  # fmt: skip
_COMPARE = {
    "lt": e.less, "le": e.less_equal, "gt": e.greater,
    "ge": e.greater_equal,
}  # fmt: skip


def _unequal_kinds(method):
    """Elements are compared; Python would call an array and a list unequal as a whole, and go on."""

    def compared(self, other):
        if isinstance(other, (list, tuple, set, dict)):
            raise TypeError(
                f"an array and a {type(other).__name__} are not compared element by element: lists of numbers are "
                "no arrays here. Write xnp.asarray(...) around it, or np.array_equal(...) for one answer."
            )
        return method(self, other)

    compared.__doc__ = method.__doc__
    return compared


def _install(
    name: str, function, answer: str = "", reflected: bool = False, compares: bool = False
) -> None:
    method = _deferring(function, answer, reflected)
    method = _unequal_kinds(method) if compares else method
    setattr(Value, name, method)
    setattr(Array, name, operator(method, function, reflected))


for _name, _function in _BINARY.items():
    _install(f"__{_name}__", _function, f"__r{_name}__")
    _install(f"__r{_name}__", _function, reflected=True)
for _name, _function in _COMPARE.items():
    _install(f"__{_name}__", _function)
for _name, _function in (("__eq__", e.equal), ("__ne__", e.not_equal)):
    _install(_name, _function, compares=True)


def _power(self, other, modulo=None):
    return NotImplemented if _is_left_to(other, "__rpow__") else e.power(self, other)


def _reflected_power(self, other, modulo=None):
    return e.power(other, self) if is_array_like(other) else NotImplemented


def _iterate(self):
    if not self.ndim:
        raise TypeError("iteration over a 0-d array")
    return (self[i] for i in range(self.shape[0]))


def _contains(self, item):
    return bool((self == item).any())


def _round(self, ndigits=None):
    """As of Python's numbers: without a number of digits the result is whole, and an integer."""
    out = _rounding.round(self, ndigits or 0)
    return out.astype(int) if ndigits is None and dtypes.is_floating(self.dtype) else out


_COMMON = {
    "__pow__": _power,
    "__rpow__": _reflected_power,
    "__matmul__": _deferring(_dot.matmul, "__rmatmul__"),
    "__rmatmul__": _deferring(_dot.matmul, reflected=True),
    "__divmod__": lambda self, other: (self // other, self % other),
    "__rdivmod__": lambda self, other: (other // self, other % self),
    "__neg__": lambda self: e.negative(self),
    "__pos__": lambda self: self,
    "__abs__": lambda self: e.absolute(self),
    "__invert__": lambda self: e.bitwise_not(self),
    "__round__": _round,
    "__floor__": lambda self: int(_rounding.floor(self)),
    "__ceil__": lambda self: int(_rounding.ceil(self)),
    "__trunc__": lambda self: int(_rounding.trunc(self)),
    "__getitem__": _index.general_getitem,
    "__iter__": _iterate,
    "__contains__": _contains,
    "aval": property(lambda self: self.type, doc="What is known of it without its values."),
    "at": property(_at.At, doc="Changed copies: x.at[index].set(v), .add(v), …"),
}
for _name, _function in (_COMMON | METHODS | PROPERTIES).items():
    setattr(Value, _name, _function)
Array.__getitem__ = _index.array_getitem


# What tracers are


def _concrete_or(needed: str):
    """A conversion to a Python value: of the concrete value a tracer holds, or an explanation.

    A number that leaves xcore would take no derivative along; truth values and integers have none.
    """

    def method(self, *args, **options):
        value = self.concrete()
        if value is None:
            raise errors.no_concrete_value(self, needed, self.origin(), reading_line())
        if self.varies and loses:
            raise errors.number_loses_tangent(self, needed, reading_line())
        return getattr(value, name)(*args, **options)

    loses = needed in ("float", "complex", "numpy")

    name = {"bool": "__bool__", "int": "__int__", "float": "__float__", "complex": "__complex__",
            "index": "__index__", "numpy": "__array__"}[needed]  # fmt: skip
    return method


def _tracer_setitem(self, index, value):
    raise errors.item_assignment()


def _tracer_repr(self):
    return f"Traced<{self.type}>"


def _tracer_len(self):
    if not self.type.shape:
        raise TypeError("len() of a 0-d array")
    return self.type.shape[0]


def _tracer_format(self, spec):
    return repr(self) if not spec else format(repr(self), spec if spec.isalpha() else "")


_ON_TRACERS = {
    "__bool__": _concrete_or("bool"),
    "__int__": _concrete_or("int"),
    "__index__": _concrete_or("index"),
    "__float__": _concrete_or("float"),
    "__complex__": _concrete_or("complex"),
    "__array__": _concrete_or("numpy"),
    "item": lambda self, *args: _concrete_or("numpy")(self).item(*args),
    "tolist": lambda self: _concrete_or("numpy")(self).tolist(),
    "__reduce__": lambda self: _concrete_or("numpy")(self),  # pickling asks for numbers
    "__setitem__": _tracer_setitem,
    "__repr__": _tracer_repr,
    "__format__": _tracer_format,
    "__len__": _tracer_len,
    "__array_priority__": 100,
    "__hash__": None,
    "shape": property(lambda self: self.type.shape),
    "dtype": property(lambda self: self.type.dtype),
    "ndim": property(lambda self: self.type.ndim),
    "size": property(lambda self: self.type.size),
    "nbytes": property(lambda self: self.type.nbytes),
    "itemsize": property(lambda self: self.type.dtype.itemsize),
    "weak_type": property(lambda self: self.type.weak),
    "copy": lambda self: self,
    "__copy__": lambda self: self,
    "__deepcopy__": lambda self, memo: self,
    "block_until_ready": lambda self: self,
}
for _name, _function in _ON_TRACERS.items():
    setattr(Tracer, _name, _function)
