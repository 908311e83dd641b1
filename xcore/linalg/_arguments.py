"""Arguments of linear algebra: arrays of one dtype, matrices with batch axes, and how to batch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _ops as ops
from .._control import eval_shape, fori_loop, vmap
from .._core import ArrayType, dtypes, errors, typeof
from .._core.sharding import default_sharding
from .._ops import adjoint
from ..numpy._promote import (
    as_array,
    as_value,
    astype,
    broadcast_shapes,
    broadcast_to,
    inexact_dtype,
    result_dtype,
)


def as_inexact(who: str, *xs) -> list:
    """Arrays of one floating or complex dtype."""
    values = [as_value(who, x) for x in xs]
    dtype, weak = result_dtype(who, *values)
    wanted = dtype if dtypes.is_inexact(dtype) else inexact_dtype(dtype, weak)
    return [astype(as_array(who, x), wanted) for x in values]


def in_lapack_dtype(*xs) -> tuple:
    """Arrays in a dtype that LAPACK knows, and the way back for results: 16 bits go by 32."""
    dtype = typeof(xs[0]).dtype
    if dtype.itemsize >= 4 or dtypes.is_complex(dtype):
        return (*xs, lambda y: y)
    back = lambda y: astype(y, dtype) if typeof(y).dtype == dtypes.float32 else y  # noqa: E731
    return (*[astype(x, dtypes.float32) for x in xs], back)


def check_matrices(who: str, square: bool = False, **named) -> None:
    """Every array has two axes or more, and square ones if asked for."""
    for name, x in named.items():
        shape = typeof(x).shape
        if len(shape) < 2:
            raise errors.not_matrices(
                who, f"need matrices: {name} has fewer than two axes", **named
            )
        if square and shape[-1] != shape[-2]:
            raise errors.not_matrices(who, f"need square matrices {name} (..., n, n)", **named)


def as_square(who: str, *xs) -> tuple:
    """Arrays of one dtype that LAPACK knows, square matrices first, and the way back for results."""
    *xs, back = in_lapack_dtype(*as_inexact(who, *xs))
    check_matrices(who, square=True, a=xs[0])
    return (*xs, back)


def of_one_shape(who: str, **matrices) -> list:
    """Matrices of one size in one batch."""
    shapes = {typeof(x).shape[-2:] for x in matrices.values()}
    if len(shapes) > 1:
        raise errors.shape_mismatch(who, "must be matrices of one shape", **matrices)
    shape = broadcast_shapes(who, *(typeof(x).shape for x in matrices.values()))
    return [broadcast_to(x, shape) for x in matrices.values()]


def with_columns(who: str, a, b) -> tuple:
    """b as matrices of as many rows as a has columns of equations, both in one batch.

    Returns a, b, and the function that gives solutions the shape that goes with the given b. As in
    NumPy a b of one axis is a vector; all else are matrices.
    """
    vector = typeof(b).ndim == 1
    b = b[..., None] if vector else b
    if typeof(b).ndim < 2 or typeof(a).shape[-2] != typeof(b).shape[-2]:
        raise errors.shape_mismatch(who, "need as many rows in b as in a", a=a, b=b)
    lead = broadcast_shapes(who, typeof(a).shape[:-2], typeof(b).shape[:-2])
    a = broadcast_to(a, lead + typeof(a).shape[-2:])
    b = broadcast_to(b, lead + typeof(b).shape[-2:])
    return a, b, (lambda x: x[..., 0]) if vector else (lambda x: x)


def over_batch(f, *xs, core: int = 2) -> Any:
    """``f`` of each matrix of a batch; ``f`` takes and gives arrays without batch axes."""
    lead = typeof(xs[0]).shape[:-core]
    if not lead:
        return f(*xs)
    size = math.prod(lead)
    if not size:  # nothing to calculate: shapes and dtypes alone
        types = [ArrayType(t.shape[len(lead) :], t.dtype) for t in map(typeof, xs)]
        outs = eval_shape(f, *(ops.full_like_type(t, 0) for t in types))
        of = lambda y: ops.full_like_type(ArrayType((*lead, *y.shape), y.dtype), 0)  # noqa: E731
        return of(outs) if not isinstance(outs, (tuple, list)) else tuple(map(of, outs))
    flat = [ops.reshape(x, shape=(size, *typeof(x).shape[len(lead) :])) for x in xs]
    outs = vmap(f)(*flat)
    shaped = [ops.reshape(y, shape=(*lead, *typeof(y).shape[1:])) for y in _listed(outs)]
    return shaped[0] if not isinstance(outs, (tuple, list)) else tuple(shaped)


def _listed(outs) -> list:
    return list(outs) if isinstance(outs, (tuple, list)) else [outs]


def hermitian_part(a):
    """(a + aᴴ) / 2."""
    return (a + adjoint(a)) * ops.full_like_type(typeof(a), 0.5)


def product(x, y):
    """The product of matrices (batches alike), in full precision on every device."""
    n = typeof(x).ndim
    lead = tuple(range(n - 2))
    return ops.dot_general(
        x, y, contract=((n - 1,), (n - 2,)), batch=(lead, lead), precision="highest"
    )


def on_cpu() -> bool:
    """Whether programs traced now will run on a CPU, as far as that is known."""
    return default_sharding().devices[0].platform == "cpu"


def number(k: int):
    """An index as a constant of the program: as an array it would be an argument of it, and
    compiled loops would not know where rows begin."""
    return ops.constant(np.int32(k))


def loop(count: int, body, state):
    """``body(i, state)`` for i = 0, 1, …, which are int32 whatever the default is."""
    return fori_loop(0, count, lambda i, s: body(ops.convert(i, dtype=dtypes.int32), s), state)


def modulus(x):
    """|x|, for complex numbers |Re x| + |Im x|: as good for comparing, and without a root."""
    if not dtypes.is_complex(typeof(x).dtype):
        return ops.abs(x)
    return ops.add(ops.abs(ops.real(x)), ops.abs(ops.imag(x)))


def epsilon(x) -> float:
    """The distance from 1 to the next number in the dtype of an array."""
    return float(dtypes.finfo(dtypes.to_real(typeof(x).dtype)).eps)
