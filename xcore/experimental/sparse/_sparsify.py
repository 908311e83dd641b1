"""Functions of dense arrays as functions of sparse ones."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from ... import lax
from ... import numpy as xnp
from ..._core import errors
from ._arrays import JAXSparse
from ._functions import bcoo_concatenate
from ._places import WHO, as_dense
from ._products import dot_general, matmul


def sparsify(f: Callable[..., Any], use_tracer: bool = False) -> Callable[..., Any]:
    """A function of sparse arrays.

    Of products (``xnp.matmul``, ``xnp.dot``, ``lax.dot_general``), sums, differences, ``xnp.transpose``, ``reshape``,
    ``sum``, ``concatenate`` and of functions that are 0 at 0 (``xnp.sin``) it is the one whose results are sparse. Of
    any other function it is that function: in it operators (``@``, ``*``, ``+``, ``-``) act on the values, and the
    functions of ``xcore.numpy`` take sparse arrays as dense ones.

    Args:
      f: function.
      use_tracer: accepted, of no effect.

    >>> from xcore.experimental import sparse
    >>> m = sparse.BCOO.fromdense([[0.0, 3.0], [4.0, 0.0]])
    >>> sparsify(xnp.matmul)(m, m)
    BCOO(float32[2, 2], nse=2)
    >>> sparsify(lambda m, v: xnp.sin(m @ v))(m, xnp.zeros(2))
    Array([0., 0.], dtype=float32)
    """
    errors.check_function(f"{WHO}sparsify", f)
    rule = next((rule for known, rule in _RULES if known is f), None)
    if rule is None:
        return f

    @functools.wraps(f)
    def call(*args, **kwargs):
        operands = args[0] if args and isinstance(args[0], tuple | list) else args
        return (rule if any(map(_is_sparse, operands)) else f)(*args, **kwargs)

    return call


def _is_sparse(x: Any) -> bool:
    return isinstance(x, JAXSparse)


def _dot(a, b, **options):
    sizes = [x.ndim if _is_sparse(x) else xnp.ndim(x) for x in (a, b)]
    if max(sizes) > 2:
        return xnp.dot(as_dense(a), as_dense(b), **options)
    return a * b if min(sizes) == 0 else matmul(a, b, **options)


def _dot_general(
    lhs, rhs, dimension_numbers, precision=None, preferred_element_type=None, **options
):
    return dot_general(lhs, rhs, dimension_numbers, preferred_element_type, precision)


def _concatenate(arrays, axis=0):
    if axis is None or not all(map(_is_sparse, arrays)):
        return xnp.concatenate([as_dense(x) for x in arrays], axis)
    return bcoo_concatenate(arrays, dimension=axis)


_ZERO_AT_ZERO = (
    xnp.sin, xnp.tan, xnp.arcsin, xnp.arctan, xnp.sinh, xnp.tanh, xnp.arcsinh, xnp.arctanh, xnp.expm1, xnp.log1p,
    xnp.sqrt, xnp.square, xnp.sign, xnp.abs, xnp.floor, xnp.ceil, xnp.real, xnp.imag,
)  # fmt: skip
_RULES: tuple[tuple[Any, Any], ...] = (
    (xnp.matmul, matmul),
    (xnp.dot, _dot),
    (lax.dot_general, _dot_general),
    (xnp.add, operator.add),
    (xnp.subtract, operator.sub),
    (xnp.multiply, operator.mul),
    (xnp.negative, operator.neg),
    (xnp.transpose, lambda m, axes=None: m.transpose(axes)),
    (xnp.reshape, lambda m, shape: m._coo().reshape(shape)),
    (xnp.sum, lambda m, axis=None: m.sum(axis)),
    (xnp.concatenate, _concatenate),
    *((f, lambda m, f=f: m._unary(f)) for f in _ZERO_AT_ZERO),
)
