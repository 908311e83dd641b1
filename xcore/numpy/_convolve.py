"""Convolution and correlation of vectors."""

from __future__ import annotations

from .. import _ops as ops
from .._core import dtypes, errors, fused, one_of, typeof
from ._functions import conj
from ._promote import as_array, astype, result_dtype

_MODES = ("full", "same", "valid")


def _vectors(name: str, mode, *xs):
    who = f"numpy.{name}"
    one_of(who, "mode", mode, _MODES, f"one of {_MODES}")
    xs = [as_array(who, x) for x in xs]
    if any(typeof(x).ndim != 1 or not typeof(x).size for x in xs):
        raise errors.shape_mismatch(who, "must be 1-d and not empty", first=xs[0], second=xs[1])
    dtype, _ = result_dtype(who, *xs)
    return [astype(x, dtype) for x in xs]


def _correlated(x, kernel, mode: str, precision, preferred):
    """sum_j x[i + j] kernel[j], with x not shorter than the kernel."""
    n, dtype = typeof(kernel).size, typeof(x).dtype
    if preferred is not None:
        dtype = dtypes.as_dtype(preferred)
        x, kernel = astype(x, dtype), astype(kernel, dtype)
    # as NumPy's "same" has it: of the full result as much on the left as on the right, or one more
    left = {"full": n - 1, "same": n // 2, "valid": 0}[mode]
    right = {"full": n - 1, "same": n - 1 - n // 2, "valid": 0}[mode]
    if dtype == bool:
        counts = _correlated(*(astype(v, dtypes.int32) for v in (x, kernel)), mode, precision, None)
        return astype(counts, dtype)
    out = ops.conv(
        ops.reshape(x, shape=(1, 1, typeof(x).size)), ops.reshape(kernel, shape=(1, 1, n)),
        strides=(1,), padding=((left, right),), lhs_dilation=(1,), rhs_dilation=(1,),
        precision=ops.precision_name(precision),
    )  # fmt: skip
    return ops.reshape(out, shape=(typeof(out).size,))


def convolve(a, v, mode="full", *, precision=None, preferred_element_type=None):
    """The convolution of two vectors: element k is Σᵢ a[i] v[k - i].

    Args:
      a, v: 1-d arrays.
      mode: "full" (all overlaps), "same" (as long as the longer one), "valid" (complete overlaps).
      precision: how products are formed on devices with less precise units.
      preferred_element_type: the dtype of the result.

    >>> import xcore.numpy as xnp
    >>> xnp.convolve(xnp.asarray([1, 2, 3]), xnp.asarray([0, 1]))
    Array([0, 1, 2, 3], dtype=int32)
    """
    return _convolve([a, v], mode, precision, preferred_element_type)


@fused(1)
def _convolve(pair, mode, precision, preferred):
    a, v = _vectors("convolve", mode, *pair)
    if typeof(a).size < typeof(v).size:
        a, v = v, a
    return _correlated(a, ops.rev(v, axes=(0,)), mode, precision, preferred)


def correlate(a, v, mode="valid", *, precision=None, preferred_element_type=None):
    """The correlation of two vectors: element k is Σᵢ a[i + k] conj(v[i]).

    Args:
      a, v: 1-d arrays.
      mode: "full" (all overlaps), "same" (as long as the longer one), "valid" (complete overlaps).
      precision: how products are formed on devices with less precise units.
      preferred_element_type: the dtype of the result.

    >>> import xcore.numpy as xnp
    >>> xnp.correlate(xnp.asarray([1, 2, 3]), xnp.asarray([0, 1]))
    Array([2, 3], dtype=int32)
    """
    return _correlate([a, v], mode, precision, preferred_element_type)


@fused(1)
def _correlate(pair, mode, precision, preferred):
    a, v = _vectors("correlate", mode, *pair)
    if typeof(a).size >= typeof(v).size:
        return _correlated(a, conj(v), mode, precision, preferred)
    # the other way round, read backwards
    out = _correlated(v, conj(a), mode, precision, preferred)
    return conj(ops.rev(out, axes=(0,)))
