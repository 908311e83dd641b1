"""Names that libraries read behind JAX's interface, where what they stand for is a function of a few lines."""

from __future__ import annotations

import contextlib
import functools
import operator
from inspect import Parameter

import numpy as np

import xcore as xc
import xcore.numpy as xnp

from .._transforms.vmap import axis_sizes

# jax._src.api_util


def _tuple(x, single: type) -> tuple:
    return () if x is None else (x,) if isinstance(x, single) else tuple(x)


def infer_argnums_and_argnames(sig, argnums, argnames) -> tuple[tuple, tuple]:
    """Numbers and names of the same arguments, the ones from the others where one of them is None."""
    numbers, names = _tuple(argnums, int), _tuple(argnames, str)
    ordinary = {
        i: name
        for i, (name, p) in enumerate(sig.parameters.items())
        if p.kind == Parameter.POSITIONAL_OR_KEYWORD
    }
    if argnums is None:
        numbers = tuple(i for i, name in ordinary.items() if name in names)
    elif argnames is None:
        names = tuple(name for i, name in ordinary.items() if i in numbers)
    return numbers, names


# jax._src.numpy.util


def promote_dtypes(*args) -> list:
    """The values as arrays of their common dtype."""
    dtype = xnp.result_type(*args)
    return [xnp.asarray(x, dtype) for x in args]


def _promote_to(kind):
    """The function of arrays of one dtype, that which ``kind`` makes of theirs together."""

    def promote(*args) -> list:
        dtype = kind(xnp.result_type(*args))
        return [xnp.asarray(x, dtype) for x in args]

    return promote


promote_dtypes_numeric = _promote_to(lambda dtype: xnp.result_type(dtype, int))
promote_dtypes_inexact = _promote_to(lambda dtype: to_inexact_dtype(dtype))
promote_dtypes_complex = _promote_to(lambda dtype: to_complex_dtype(dtype))


def check_arraylike(fun_name: str, *args) -> None:
    """A TypeError that names the function, where a value is no array or number."""
    for i, x in enumerate(args):
        if not isinstance(x, xc.typing.ArrayLike) and not hasattr(x, "__jax_array__"):
            raise TypeError(
                f"{fun_name} requires ndarray or scalar arguments, got {type(x)} at position {i}."
            )


def ensure_arraylike(fun_name: str, *args):
    """The values as arrays, one of them as itself."""
    check_arraylike(fun_name, *args)
    found = tuple(map(xnp.asarray, args))
    return found[0] if len(found) == 1 else found


def promote_shapes(fun_name: str, *args) -> list:
    """The values with axes of length 1 in front, until all have as many."""
    rank = max(map(xnp.ndim, args), default=0)
    return [xnp.reshape(x, (1,) * (rank - xnp.ndim(x)) + xnp.shape(x)) for x in args]


def promote_args(fun_name: str, *args) -> list:
    check_arraylike(fun_name, *args)
    return promote_shapes(fun_name, *promote_dtypes(*args))


def promote_args_inexact(fun_name: str, *args) -> list:
    check_arraylike(fun_name, *args)
    return promote_shapes(fun_name, *promote_dtypes_inexact(*args))


# jax._src.dtypes


def to_inexact_dtype(dtype) -> np.dtype:
    """The dtype, or the float of its width, 32 bits at least, where it is exact."""
    dtype = np.dtype(dtype)
    inexact = xnp.issubdtype(dtype, np.inexact)
    return dtype if inexact else np.dtype(f"float{max(32, 8 * dtype.itemsize)}")


def to_complex_dtype(dtype) -> np.dtype:
    wide = to_inexact_dtype(dtype) in (np.float64, np.complex128)
    return np.dtype(np.complex128 if wide else np.complex64)


# jax._src.public_test_util


def check_close(xs, ys, atol=None, rtol=None, err_msg="") -> None:
    """Trees of equal values, to bounds that are by default the precision of the dtypes, for each element."""
    xc.tree.map(functools.partial(_check_close, atol=atol, rtol=rtol, err_msg=err_msg), xs, ys)


def _check_close(a, b, atol, rtol, err_msg) -> None:
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape, f"{err_msg}: shapes {a.shape} and {b.shape}"
    atol, rtol = (a.size * max(_bound(x.dtype, t) for x in (a, b)) for t in (atol, rtol))
    wide = [
        x.astype(np.result_type(x.dtype, np.float64)) if x.dtype.kind in "fcV" else x
        for x in (a, b)
    ]
    np.testing.assert_allclose(*wide, rtol=rtol, atol=atol, err_msg=err_msg)


def _bound(dtype: np.dtype, given) -> float:
    """What is given, for all dtypes or for each by its name; else JAX's: some ten units in the last place."""
    known = given if isinstance(given, dict) else {} if given is None else {dtype: given}
    known = {np.dtype(name): bound for name, bound in known.items()}
    if dtype in known:
        return known[dtype]
    digits = {1: 1, 2: 2 if dtype.name == "bfloat16" else 3, 4: 6, 8: 15}
    exact = not xnp.issubdtype(dtype, np.inexact)
    return 0 if exact else 10.0 ** -digits[xnp.finfo(dtype).bits // 8]


# jax._src.util


class HashablePartial(functools.partial):
    """A partial that is equal to another one of equal function and arguments."""

    def _key(self):
        return self.func, self.args, tuple(sorted(self.keywords.items()))

    def __eq__(self, other) -> bool:
        return isinstance(other, HashablePartial) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


def user_context(where):
    """A block whose operations come from somewhere else; here each says the line that it is on."""
    return contextlib.nullcontext()


def safe_zip(*lists) -> list:
    return list(zip(*lists, strict=True))


def unzip2(pairs) -> tuple:
    return unzip(pairs, 2)


def unzip3(triples) -> tuple:
    return unzip(triples, 3)


def unzip(rows, n: int) -> tuple:
    """A tuple of each place of the rows, of which there may be none."""
    columns = tuple(zip(*rows, strict=True))
    return columns or ((),) * n


def split_list(values, sizes) -> list:
    """Lists of these lengths from the front, and the rest."""
    values, found = list(values), []
    for n in sizes:
        found.append(values[:n])
        values = values[n:]
    return [*found, values]


def partition_list(chosen, values) -> tuple[list, list]:
    """The values that are not chosen, and those that are."""
    rows = safe_zip(chosen, values)
    return [v for c, v in rows if not c], [v for c, v in rows if c]


def merge_lists(chosen, others, picked) -> list:
    """What ``partition_list`` took apart."""
    others, picked = iter(others), iter(picked)
    return [next(picked if c else others) for c in chosen]


def canonicalize_axis(axis, num_dims: int) -> int:
    """The axis counted from the front, an error where there is none."""
    axis = operator.index(axis)
    if not -num_dims <= axis < num_dims:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {num_dims}")
    return axis % num_dims


# jax._src.core, jax._src.literals, jax._src.sharding_impls


def is_constant_dim(d) -> bool:
    """Whether a size of a shape is a number, as all are."""
    return isinstance(d, (int, np.integer))


definitely_equal = operator.eq


def axis_names() -> list:
    """The names of the axes that are mapped over here."""
    return list(axis_sizes())


def full_lower(x):
    return x


class TypedInt(int):
    """A number with a dtype; here these are arrays."""


class TypedFloat(float):
    """A number with a dtype; here these are arrays."""


class TypedComplex(complex):
    """A number with a dtype; here these are arrays."""


def canonicalize_sharding(sharding, api_name: str = "", check_mesh_consistency: bool = True):
    """A sharding of the mesh that is set where a PartitionSpec is given, else what is given."""
    mesh = xc.get_mesh()
    if not isinstance(sharding, xc.sharding.PartitionSpec) or mesh is None:
        return sharding
    return xc.sharding.NamedSharding(mesh, sharding)
