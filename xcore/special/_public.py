"""From a kernel to a public function."""

from __future__ import annotations

from .. import _ops as ops
from .._core import Value, dtypes, typeof
from ..numpy._elementwise import keeping_weakness
from ..numpy._promote import as_array, as_arrays, astype


def apply(op, *xs, who: str | None = None):
    """An operation on real arguments, promoted to one floating dtype and broadcast."""
    who = who or op.name
    return keeping_weakness(op, *as_arrays(who, *xs, inexact=True, kinds=("float",)))


def compute(f, *xs, who: str):
    """As ``apply``, of a function that uses operators, which the literals of Python numbers do not have."""

    def of_values(*values):
        full = lambda x: ops.full_like_type(x.type.strong(), x.value)  # noqa: E731
        return f(*[x if isinstance(x, Value) else full(x) for x in values])

    return apply(of_values, *xs, who=who)


def complex_array(who: str, z):
    """One array of complex dtype."""
    z = as_array(who, z)
    return astype(z, dtypes.to_complex(typeof(z).dtype))


def at_least_float32(x):
    """16-bit floats as float32: there are no smaller complex numbers."""
    dtype = typeof(x).dtype
    return ops.convert(x, dtype=dtypes.float32 if dtype.itemsize < 4 else dtype)
