"""Sums of exponentials over axes: logsumexp, softmax and their kin, without overflow on the way.

16-bit floats are summed in float32 and rounded once.
"""

from __future__ import annotations

import functools
import math

from .. import _ops as ops
from .. import numpy as xnp
from .._control import custom_jvp
from .._core import dtypes, fused, typeof
from ..numpy._promote import as_inexact, astype, axes_of


def _wide(x):
    """16-bit floats as float32."""
    dtype = typeof(x).dtype
    return astype(x, dtypes.float32) if dtype.itemsize < 4 else x


def _top(x, axis, where):
    """The largest (real) exponent along an axis, kept, as a constant; 0 where it is not finite."""
    x = ops.real(x) if dtypes.is_complex(typeof(x).dtype) else x
    top = xnp.max(x, axis=axis, keepdims=True, initial=-math.inf, where=where)
    return ops.stop_gradient(xnp.where(xnp.isfinite(top), top, 0.0))


def _masked(x, where, fill):
    return x if where is None else xnp.where(where, x, fill)


def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, where=None):
    """log Σ b e^a over the axis, without overflow on the way.

    Args:
      a: exponents, real or complex.
      axis: int, tuple of ints, or None for all axes.
      b: factors, broadcast against a.
      keepdims: whether the summed axes stay, with size 1.
      return_sign: also return the sign of the sum (for complex sums, sum/|sum|); the first result
        is then the logarithm of its magnitude. Without it the logarithm of a negative sum is NaN.
      where: which elements to include, broadcast against a.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.special.logsumexp(xnp.asarray([1000.0, 1000.0]))
    Array(1000.7, dtype=float32)
    """
    axis = None if axis is None else axes_of("special.logsumexp", axis, xnp.ndim(a))
    return _logsumexp(a, b, where, axis=axis, keepdims=keepdims, return_sign=return_sign)


@fused(3)
def _logsumexp(a, b, where, axis=None, keepdims=False, return_sign=False):
    given = as_inexact("special.logsumexp", a)
    factor = None if b is None else as_inexact("special.logsumexp", b)
    if factor is not None:
        given, factor = xnp.broadcast_arrays(*_same_dtype(given, factor))
    dtype, counts = typeof(given).dtype, where
    if factor is not None:  # what has the factor 0 adds nothing
        counts = factor != 0 if where is None else xnp.logical_and(where, factor != 0)
    x, top = _wide(given), _top(_wide(given), axis, counts)
    shifted = x - top
    if factor is not None:  # but a slope in it, where that is a number
        most = math.log(xnp.finfo(typeof(shifted).dtype).max) - 1
        small = xnp.real(shifted) < most
        where = xnp.logical_or(counts, small if where is None else xnp.logical_and(where, small))
    shifted = _masked(shifted, where, -math.inf)
    if factor is None and not return_sign and not dtypes.is_complex(dtype):
        size = sign = _log_total(axis)(shifted)
    else:
        factor = None if factor is None else _masked(factor, where, 0)
        size, sign = _log_and_sign(xnp.exp(shifted), factor, axis, return_sign)
    size = size + top
    if not keepdims:
        size, sign = (xnp.squeeze(v, _axes(x, axis)) for v in (size, sign))
    size = astype(size, typeof(size).dtype if dtypes.is_complex(dtype) else dtype)
    return (size, astype(sign, dtype)) if return_sign else size


def _same_dtype(x, y):
    dtype = xnp.result_type(x, y)
    return astype(x, dtype), astype(y, dtype)


def _axes(x, axis):
    return tuple(range(typeof(x).ndim)) if axis is None else axis


@functools.lru_cache(64)
def _log_total(axis):
    """log Σ e^x over the axis, of real exponents whose largest are 0; as ``_log_and_sign``, with fewer sums."""

    def total(x):
        found = xnp.sum(xnp.exp(x), axis, keepdims=True)
        return xnp.where(found == 0, 1, found), found == 0

    def value(x):
        whole, none = total(x)
        rest = xnp.sum(xnp.where(x == 0, 0, xnp.exp(x)), axis, keepdims=True)
        one = xnp.abs(whole - rest - 1) < 0.5  # of all terms one alone is 1
        found = xnp.where(one, xnp.log1p(xnp.where(one, rest, 0)), xnp.log(whole))
        return xnp.where(none, -math.inf, found)

    def rule(primals, tangents):
        share = xnp.exp(*primals) / total(*primals)[0]
        # not ``value``, whose own derivative, of what is taken apart, is another
        return function(*primals), xnp.sum(share * tangents[0], axis, keepdims=True)

    function = custom_jvp(value)
    function.defjvp(rule)
    return function


def _log_and_sign(terms, factor, axis, absolute):
    """log |Σ factor terms| (log of the sum unless ``absolute``) and the sign; log 0 has the derivative 0.

    Real terms, the largest of which are 1, as log m + log(1 + s / m): m is the sum of what multiplies these, s that of
    all else, of which nothing is lost beside m; s has the derivatives of the whole.
    """
    compound = dtypes.is_complex(typeof(terms).dtype)
    largest = xnp.zeros_like(terms) if compound else astype(terms == 1, typeof(terms).dtype)
    parts = (largest, terms - largest)
    parts = parts if factor is None else (p * factor for p in parts)
    most, rest = (xnp.sum(p, axis, keepdims=True) for p in parts)
    if compound:
        return _log_and_sign_of(rest, absolute)
    safe = xnp.where(most == 0, 1, most)
    share = rest / safe
    near = (most != 0) & (share > -0.5)  # else they cancel
    size, sign = _log_and_sign_of(xnp.where(near, 1, most + rest), absolute)
    beside = xnp.log(xnp.abs(safe) if absolute else safe) + xnp.log1p(xnp.where(near, share, 0))
    return xnp.where(near, beside, size), xnp.where(near, xnp.sign(most), sign)


def _log_and_sign_of(total, absolute):
    zero = total == 0
    safe = xnp.where(zero, 1, total)
    sign = xnp.where(zero, 0, ops.stop_gradient(xnp.sign(safe)))
    if dtypes.is_complex(typeof(total).dtype):
        sign = xnp.where(zero, 0, safe / xnp.abs(safe))
    size = xnp.log(xnp.abs(safe) if absolute else safe)
    return xnp.where(zero, -math.inf, size), sign


@fused(2)
def masked_softmax(x, where, axis=-1):
    """e^x / Σ e^x over the axis, of those elements that ``where`` includes; 0 at the others."""
    given = as_inexact("special.softmax", x)
    x = _wide(given)
    terms = xnp.exp(_masked(x - _shift(x, axis, where), where, -math.inf))
    share = terms / _total(terms, axis, where)
    return astype(_masked(share, where, 0), typeof(given).dtype, typeof(given).weak)


@fused(2)
def masked_log_softmax(x, where, axis=-1):
    """The logarithm of ``masked_softmax``, computed as such; -∞ where an element is left out."""
    given = as_inexact("special.log_softmax", x)
    x = _wide(given)
    shifted = x - _shift(x, axis, where)
    terms = xnp.exp(_masked(shifted, where, -math.inf))
    share = shifted - xnp.log(_total(terms, axis, where))
    return astype(_masked(share, where, -math.inf), typeof(given).dtype, typeof(given).weak)


def _shift(x, axis, where):
    """The largest element along an axis, kept: what makes the largest exponential 1."""
    top = xnp.max(x, axis=axis, keepdims=True, initial=-math.inf, where=where)
    return ops.stop_gradient(top if where is None else xnp.where(top == -math.inf, 0.0, top))


def _total(terms, axis, where):
    """Their sum; 1 where all are left out, so that the derivative is 0 there."""
    total = xnp.sum(terms, axis, keepdims=True)
    return total if where is None else xnp.where(total == 0, 1, total)


def softmax(x, axis=None):
    """e^x / Σ e^x, the sum over the axis (all axes by default).

    Args:
      x: array.
      axis: int, tuple of ints, or None.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.special.softmax(xnp.asarray([0.0, 0.0, 1000.0]))
    Array([0., 0., 1.], dtype=float32)
    """
    return masked_softmax(x, None, axis=axis)


def log_softmax(x, axis=None):
    """x - log Σ e^x, the sum over the axis (all axes by default).

    Args:
      x: array.
      axis: int, tuple of ints, or None.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.special.log_softmax(xnp.asarray([0.0, 1000.0]))
    Array([-1000.,     0.], dtype=float32)
    """
    return masked_log_softmax(x, None, axis=axis)
