"""Products of vectors, matrices and tensors: all of them faces of dot_general."""

from __future__ import annotations

import operator

import numpy as np

from .. import _ops as ops
from .._core import dtypes, errors, fused, typeof
from ._compound import moves
from ._placement import spreads
from ._promote import (
    as_array,
    as_value,
    astype,
    axes_of,
    broadcast_shapes,
    broadcast_to,
    no_out,
    one_axis,
    result_dtype,
)  # fmt: skip
from ._reduce import sum as reduce_sum
from ._shape import moveaxis, squeeze
from ._triangles import diagonal_of


def operands_of(who: str, *xs):
    """Arrays of one dtype, not broadcast."""
    values = [as_value(who, x) for x in xs]
    dtype, weak = result_dtype(who, *values)
    # a Python number beside an array is converted to its dtype at once, with all its digits
    return [astype(as_array(who, x, dtype=None if weak else dtype), dtype, weak) for x in values]


def contracted(a, b, contract, batch=((), ()), precision=None, preferred=None):
    """dot_general of operands of one dtype; sums of 16-bit floats are formed in float32."""
    params = {"contract": contract, "batch": batch, "precision": ops.precision_name(precision)}
    if preferred is None:
        return ops.dot_general(a, b, **params)
    dtype, out = typeof(a).dtype, dtypes.as_dtype(preferred)
    work = wider(dtype, out)
    if dtypes.kind(work) != dtypes.kind(dtype):
        a, b = astype(a, work), astype(b, work)
    return astype(ops.dot_general(a, b, out=work, **params), out)


def wider(dtype, preferred):
    """The dtype that sums are formed in, where one for the result is asked for."""
    if dtypes.kind(dtype) == "float8":  # these promote to nothing, and all other floats hold them
        return preferred
    return dtypes.promote((dtype, False), (preferred, False))[0]


@fused(2)
@spreads
def matmul(a, b, *, precision=None, preferred_element_type=None, out_sharding=None):
    """The product of matrices; stacks of them multiply pairwise. Vectors count as a row or column.

      c_(i,k) = Σ_j a_(i,j) b_(j,k)

    Args:
      a, b: arrays of 1 or more axes.
      precision: how float32 products are formed on accelerators ("highest", "high", "default").
      preferred_element_type: the dtype of the result.

    >>> import xcore.numpy as xnp
    >>> xnp.matmul(xnp.ones((2, 3)), xnp.ones(3))
    Array([3., 3.], dtype=float32)
    """
    a, b = operands_of("numpy.matmul", a, b)
    if not typeof(a).ndim or not typeof(b).ndim:
        raise errors.shape_mismatch(
            "numpy.matmul", "need at least one axis (use * for numbers)", a=a, b=b
        )
    row, column = typeof(a).ndim == 1, typeof(b).ndim == 1
    _check_inner(a, b)
    if typeof(a).ndim <= 2 and typeof(b).ndim <= 2:
        contract = ((typeof(a).ndim - 1,), (0,))
        return contracted(a, b, contract, ((), ()), precision, preferred_element_type)
    if row or column:  # a vector with a stack of matrices
        contract = ((0,), (typeof(b).ndim - 2,)) if row else ((typeof(a).ndim - 1,), (0,))
        return contracted(a, b, contract, ((), ()), precision, preferred_element_type)
    return _batched_product(a, b, precision, preferred_element_type)


def _check_inner(a, b) -> None:
    m, n = typeof(a).shape[-1], typeof(b).shape[max(typeof(b).ndim - 2, 0)]
    if m != n:
        raise errors.shape_mismatch(
            "numpy.matmul", f"have {m} columns on the left but {n} rows on the right", a=a, b=b
        )


def _batched_product(a, b, precision, preferred):
    """Stacks of matrices. A stack against one matrix is one large product."""
    if typeof(b).ndim == 2:
        return contracted(a, b, ((typeof(a).ndim - 1,), (0,)), ((), ()), precision, preferred)
    lead = broadcast_shapes("numpy.matmul", typeof(a).shape[:-2], typeof(b).shape[:-2])
    a = broadcast_to(a, lead + typeof(a).shape[-2:])
    b = broadcast_to(b, lead + typeof(b).shape[-2:])
    n = len(lead)
    batch = tuple(range(n))
    return contracted(a, b, ((n + 1,), (n,)), (batch, batch), precision, preferred)


@fused(2)
@spreads
def dot(a, b, *, precision=None, preferred_element_type=None, out_sharding=None):
    """The sum of products over the last axis of ``a`` and the second to last of ``b``.

    Args:
      a, b: arrays; numbers just multiply.
      precision: how float32 products are formed on accelerators ("highest", "high", "default").
      preferred_element_type: the dtype of the result.

    >>> import xcore.numpy as xnp
    >>> xnp.dot(xnp.arange(3), xnp.arange(3))
    Array(5, dtype=int32)
    """
    a, b = operands_of("numpy.dot", a, b)
    if not typeof(a).ndim or not typeof(b).ndim:
        return contracted(a, b, ((), ()), ((), ()), precision, preferred_element_type)
    contract = ((typeof(a).ndim - 1,), (max(typeof(b).ndim - 2, 0),))
    if typeof(a).shape[-1] != typeof(b).shape[contract[1][0]]:
        raise errors.shape_mismatch("numpy.dot", f"must agree along axes {contract}", a=a, b=b)
    return contracted(a, b, contract, ((), ()), precision, preferred_element_type)


@fused(2)
def vdot(a, b, *, precision=None, preferred_element_type=None):
    """The sum of conj(a) * b over all elements.

    Args:
      a, b: arrays with the same number of elements.
      precision: of the products, on devices with less precise units.
      preferred_element_type: dtype of the result.

    >>> import xcore.numpy as xnp
    >>> xnp.vdot(xnp.arange(3), xnp.arange(3))
    Array(5, dtype=int32)
    """
    a, b = operands_of("numpy.vdot", a, b)
    a, b = (ops.reshape(x, shape=(typeof(x).size,)) for x in (a, b))
    return _last_axes(ops.conjugate(a), b, "vdot", precision, preferred_element_type)


def _last_axes(a, b, name, precision, preferred):
    if typeof(a).shape[-1:] != typeof(b).shape[-1:]:
        raise errors.shape_mismatch(f"numpy.{name}", "must agree along the last axis", a=a, b=b)
    return contracted(
        a, b, ((typeof(a).ndim - 1,), (typeof(b).ndim - 1,)), ((), ()), precision, preferred
    )


@fused(2)
def inner(a, b, *, precision=None, preferred_element_type=None):
    """The sum of products over the last axes of both.

    Args:
      a, b: arrays whose last axes have one length, or numbers.
      precision: of the products, on devices with less precise units.
      preferred_element_type: dtype of the result.

    >>> import xcore.numpy as xnp
    >>> xnp.inner(xnp.eye(2), xnp.arange(2.0))
    Array([0., 1.], dtype=float32)
    """
    a, b = operands_of("numpy.inner", a, b)
    if not typeof(a).ndim or not typeof(b).ndim:
        return contracted(a, b, ((), ()), ((), ()), precision, preferred_element_type)
    return _last_axes(a, b, "inner", precision, preferred_element_type)


@fused(2)
def outer(a, b, out=None):
    """All products of an element of ``a`` with one of ``b``; both are flattened.

      c_(i,j) = a_i b_j

    Args:
      a, b: arrays of any shape.
      out: must be None: arrays are immutable.

    >>> import xcore.numpy as xnp
    >>> xnp.outer(xnp.arange(2), xnp.arange(3))
    Array([[0, 0, 0],
           [0, 1, 2]], dtype=int32)
    """
    no_out("numpy.outer", out)
    a, b = operands_of("numpy.outer", a, b)
    return ops.reshape(a, shape=(typeof(a).size, 1)) * ops.reshape(b, shape=(1, typeof(b).size))


@fused(2)
def vecdot(x1, x2, /, *, axis=-1, precision=None, preferred_element_type=None):
    """The sum of conj(x1) * x2 along one axis; other axes broadcast.

    Args:
      x1, x2: arrays of 1 or more axes.
      axis: which axis, counted in both from the end.
      precision, preferred_element_type: as in ``matmul``.

    >>> import xcore.numpy as xnp
    >>> xnp.vecdot(xnp.ones((2, 3)), xnp.arange(3.0))
    Array([3., 3.], dtype=float32)
    """
    who = "numpy.vecdot"
    a, b = operands_of(who, x1, x2)
    for x in (a, b):
        one_axis(who, axis, typeof(x).ndim)
    i, j = (one_axis(who, axis, typeof(x).ndim) for x in (a, b))
    if typeof(a).shape[i] != typeof(b).shape[j]:
        raise errors.shape_mismatch(who, f"must agree along axis {axis}", x1=a, x2=b)
    a, b = ops.conjugate(moveaxis(a, i, -1)), moveaxis(b, j, -1)
    shape = broadcast_shapes(who, typeof(a).shape, typeof(b).shape)
    batch = tuple(range(len(shape) - 1))
    last = (len(shape) - 1,)
    a, b = broadcast_to(a, shape), broadcast_to(b, shape)
    return contracted(a, b, (last, last), (batch, batch), precision, preferred_element_type)


@fused(2)
def matvec(x1, x2, /):
    """Matrices times vectors: axes (..., m, n) and (..., n) give (..., m).

    Args:
      x1: array (..., m, n).
      x2: array (..., n); axes in front are broadcast.

    >>> import xcore.numpy as xnp
    >>> xnp.matvec(xnp.ones((2, 3)), xnp.arange(3.0))
    Array([3., 3.], dtype=float32)
    """
    a, b = operands_of("numpy.matvec", x1, x2)
    return squeeze(matmul(a, b[..., None]), -1) if typeof(b).ndim > 1 else matmul(a, b)


@fused(2)
def vecmat(x1, x2, /):
    """Conjugated vectors times matrices: axes (..., m) and (..., m, n) give (..., n).

    Args:
      x1: array (..., m), which is conjugated.
      x2: array (..., m, n); axes in front are broadcast.

    >>> import xcore.numpy as xnp
    >>> xnp.vecmat(xnp.ones(2), xnp.ones((2, 3)))
    Array([2., 2., 2.], dtype=float32)
    """
    a, b = operands_of("numpy.vecmat", x1, x2)
    a = ops.conjugate(a)
    return squeeze(matmul(a[..., None, :], b), -2) if typeof(a).ndim > 1 else matmul(a, b)


@fused(2)
@spreads
def tensordot(a, b, axes=2, *, precision=None, preferred_element_type=None, out_sharding=None):
    """The sum of products over pairs of axes.

    Args:
      a, b: arrays.
      axes: how many: the last of ``a`` with the first of ``b``; or two lists of axes.
      precision, preferred_element_type: as in ``matmul``.

    >>> import xcore.numpy as xnp
    >>> xnp.tensordot(xnp.ones((2, 3)), xnp.ones((3, 4)), 1).shape
    (2, 4)
    """
    a, b = operands_of("numpy.tensordot", a, b)
    left, right = _paired_axes(a, b, axes)
    for i, j in zip(left, right, strict=True):
        if typeof(a).shape[i] != typeof(b).shape[j]:
            raise errors.shape_mismatch(
                "numpy.tensordot", f"must agree along axes {i} and {j}", a=a, b=b
            )
    return contracted(a, b, (left, right), ((), ()), precision, preferred_element_type)


def _paired_axes(a, b, axes):
    who, m, n = "numpy.tensordot", typeof(a).ndim, typeof(b).ndim
    if isinstance(axes, (int, np.integer)):
        if not 0 <= axes <= min(m, n):
            raise errors.bad_argument(who, "axes", axes, f"between 0 and {min(m, n)}")
        return tuple(range(m - axes, m)), tuple(range(axes))
    if len(axes) != 2:
        raise errors.bad_argument(who, "axes", axes, "an int, or two lists of axes")
    sides = [x if isinstance(x, (tuple, list)) else (x,) for x in axes]
    if len(sides[0]) != len(sides[1]):
        raise errors.bad_argument(who, "axes", axes, "two lists of equal length")
    left, right = ([one_axis(who, i, k) for i in s] for s, k in zip(sides, (m, n), strict=True))
    axes_of(who, tuple(left), m)  # raises where one is named twice
    axes_of(who, tuple(right), n)
    return tuple(left), tuple(right)


@fused(2)
def kron(a, b):
    """The Kronecker product: every element of ``a`` times the whole of ``b``, as blocks.

    Args:
      a, b: arrays; the one with fewer axes gets axes of length 1 in front.

    >>> import xcore.numpy as xnp
    >>> xnp.kron(xnp.arange(2), xnp.ones(2, int))
    Array([0, 0, 1, 1], dtype=int32)
    """
    a, b = operands_of("numpy.kron", a, b)
    ndim = max(typeof(a).ndim, typeof(b).ndim)
    one = [(1,) * (ndim - typeof(x).ndim) + typeof(x).shape for x in (a, b)]
    shape = tuple(m * n for m, n in zip(*one, strict=True))
    a = ops.reshape(a, shape=tuple(n for m in one[0] for n in (m, 1)))
    b = ops.reshape(b, shape=tuple(n for m in one[1] for n in (1, m)))
    return ops.reshape(a * b, shape=shape)


@fused(1)
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """The sum along a diagonal.

      Σ_i a_(i,i)

    Args:
      a: array of 2 or more axes.
      offset: which diagonal.
      axis1, axis2: the axes of the matrices.
      dtype: in which to compute, and of the result.
      out: must be None: arrays are immutable.

    >>> import xcore.numpy as xnp
    >>> xnp.trace(xnp.eye(3))
    Array(3., dtype=float32)
    """
    no_out("numpy.trace", out)
    return reduce_sum(diagonal(a, offset, axis1, axis2), -1, dtype)


@fused(1)
@moves("a")
def diagonal(a, offset=0, axis1=0, axis2=1):
    """The diagonals of matrices, along a last axis.

    Args:
      a: array of 2 or more axes.
      offset: which diagonal; positive ones lie above the main one.
      axis1, axis2: the axes of the matrices.

    >>> import xcore.numpy as xnp
    >>> xnp.diagonal(xnp.arange(4).reshape(2, 2))
    Array([0, 3], dtype=int32)
    """
    a = as_array("numpy.diagonal", a)
    if typeof(a).ndim < 2:
        raise errors.bad_argument("numpy.diagonal", "a", a, "of 2 or more axes")
    i, j = (one_axis("numpy.diagonal", k, typeof(a).ndim) for k in (axis1, axis2))
    if i == j:
        raise errors.bad_argument("numpy.diagonal", "axis2", axis2, "different from axis1")
    return diagonal_of(moveaxis(a, (i, j), (-2, -1)), operator.index(offset))


@fused(2)
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The vector product in three dimensions; in two, its only component.

      c = (a₁ b₂ - a₂ b₁, a₂ b₀ - a₀ b₂, a₀ b₁ - a₁ b₀)

    Args:
      a, b: arrays of vectors of 2 or 3 components.
      axisa, axisb, axisc: where the components are in a, b and the result.
      axis: all three of them.

    >>> import xcore.numpy as xnp
    >>> xnp.cross(xnp.asarray([1, 0, 0]), xnp.asarray([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    who = "numpy.cross"
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = operands_of(who, a, b)
    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    sizes = typeof(a).shape[-1], typeof(b).shape[-1]
    if not set(sizes) <= {2, 3}:
        raise errors.shape_mismatch(who, "need 2 or 3 components", a=a, b=b)
    x, y = _components(a), _components(b)
    if sizes == (2, 2):
        return x[0] * y[1] - x[1] * y[0]
    # a missing third component is 0: its products are left out
    terms = [_minor(x, y, 1, 2), _minor(x, y, 2, 0), _minor(x, y, 0, 1)]
    shape = broadcast_shapes(who, typeof(a).shape[:-1], typeof(b).shape[:-1])
    rows = [ops.reshape(broadcast_to(t, shape), shape=(*shape, 1)) for t in terms]
    return moveaxis(ops.concatenate(*rows, axis=len(shape)), -1, axisc)


def _components(v):
    parts = [v[..., i] for i in range(typeof(v).shape[-1])]
    return parts if len(parts) == 3 else [*parts, parts[0] * 0]


def _minor(x, y, i, j):
    return x[i] * y[j] - x[j] * y[i]
