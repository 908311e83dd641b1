"""Scaled dot-product attention."""

from __future__ import annotations

import math

from .. import numpy as xnp
from .._core import dtypes, errors, fused, one_of, typeof
from ..numpy._promote import as_inexact, check_alike, promote_dtypes
from ..special._sums import logsumexp, masked_softmax

_WHO = "nn.dot_product_attention"


def dot_product_attention(
    query, key, value, bias=None, mask=None, *, scale=None, is_causal=False,
    query_seq_lengths=None, key_value_seq_lengths=None, local_window_size=None,
    implementation=None, return_residual=False,
):  # fmt: skip
    """softmax(scale Q Kᵀ + bias) V for each head.

    Args:
      query: shape (B, T, N, H), or (T, N, H) without batch: T positions, N heads of H numbers.
      key, value: shape (B, S, K, H) or (S, K, H), where N is a multiple of K; each of the K heads
        then serves N/K heads of the query.
      bias: added to the logits; broadcast to (B, N, T, S).
      mask: which pairs take part; broadcast to (B, N, T, S).
      scale: factor of the logits, 1/√H by default.
      is_causal: whether position t sees positions up to t only.
      query_seq_lengths, key_value_seq_lengths: shape (B,); how many positions are in use. Results
        of unused query positions are 0.
      local_window_size: (left, right), or one number for both: how far a position sees.
      implementation: None or "xla".
      return_residual: also return the logarithms of the softmax's denominators, (B, T, N).

    Where a position sees nothing, it gets the mean of all values. Logits are computed in float32
    or wider.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> x = xnp.ones((2, 1, 4))
    >>> xc.nn.dot_product_attention(x, x, x).shape
    (2, 1, 4)
    """
    one_of(_WHO, "implementation", implementation, (None, "xla"), 'None or "xla"')
    arrays = (query, key, value, bias, mask, query_seq_lengths, key_value_seq_lengths)
    window = local_window_size
    window = (window, window) if isinstance(window, int) else window and tuple(window)
    return _attend(
        *arrays, scale=scale, causal=bool(is_causal), window=window, residual=bool(return_residual)
    )


@fused(7)
def _attend(query, key, value, bias, mask, query_lengths, key_lengths,
            scale, causal, window, residual):  # fmt: skip
    check_alike(_WHO, query, key, value, any_rank=True)
    query, key, value = (as_inexact(_WHO, x) for x in promote_dtypes(_WHO, query, key, value))
    single = typeof(query).ndim == 3
    if single:
        query, key, value = (x[None] for x in (query, key, value))
        bias, mask = (x[None] if x is not None and x.ndim == 3 else x for x in (bias, mask))
    _check(query, key, value)
    # heads without numbers have logits of 0, by whatever scale
    scale = 1 / math.sqrt(typeof(query).shape[-1] or 1) if scale is None else scale
    logits = _logits(query, key, scale)
    if bias is not None:
        logits = logits + bias
    seen = _visible(logits, mask, causal, window, query_lengths, key_lengths)
    if seen is not None:
        lowest = -0.7 * float(dtypes.finfo(typeof(logits).dtype).max)
        logits = xnp.where(seen, logits, lowest)
    out = _mix(masked_softmax(logits, None, axis=-1), value)
    if query_lengths is not None:
        used = xnp.arange(out.shape[1]) < query_lengths[:, None]
        out = xnp.where(used[:, :, None, None], out, 0)
    out = out.astype(typeof(query).dtype)
    if not residual:
        return out[0] if single else out
    sums = xnp.moveaxis(logsumexp(logits, -1), 1, 2)
    return (out[0], sums[0]) if single else (out, sums)


def _check(query, key, value):
    q, k, v = (typeof(x).shape for x in (query, key, value))
    fits = len(q) == len(k) == len(v) == 4 and k[:3] == v[:3]
    fits = fits and q[0] == k[0] and q[3] == k[3] and k[2] and q[2] % k[2] == 0
    if not fits:
        raise errors.shape_mismatch(
            _WHO, "must be (B, T, N, H), (B, S, K, H), (B, S, K, H) with N a multiple of K",
            query=typeof(query), key=typeof(key), value=typeof(value),
        )  # fmt: skip


def _grouped(query, key):
    """The query with its heads split into those of the key and those that share one."""
    b, t, n, h = typeof(query).shape
    k = typeof(key).shape[2]
    return query.reshape(b, t, k, n // k, h)


def _wide(x):
    return x.astype(dtypes.float32) if typeof(x).dtype.itemsize < 4 else x


def _logits(query, key, scale):
    """(B, N, T, S), in float32 at least."""
    b, t, n, _ = typeof(query).shape
    product = xnp.einsum("btkgh,bskh->bkgts", _wide(_grouped(query, key)), _wide(key))
    return product.reshape(b, n, t, typeof(key).shape[1]) * scale


def _mix(weights, value):
    b, n, t, s = typeof(weights).shape
    k = typeof(value).shape[2]
    shares = weights.reshape(b, k, n // k, t, s)
    out = xnp.einsum("bkgts,bskh->btkgh", shares, _wide(value))
    return out.reshape(b, t, n, typeof(value).shape[-1])


def _visible(logits, mask, causal, window, query_lengths, key_lengths):
    """Which logits count, or None for all."""
    t, s = typeof(logits).shape[2:]
    here, there = xnp.arange(t)[:, None], xnp.arange(s)[None]
    conditions = [] if mask is None else [mask]
    if causal:
        conditions.append(here >= there)
    if window is not None:
        conditions += [here - window[0] <= there, there <= here + window[1]]
    if query_lengths is not None:
        conditions.append((here < query_lengths[:, None, None])[:, None])
    if key_lengths is not None:
        conditions.append((there < key_lengths[:, None, None])[:, None])
    seen = None
    for condition in conditions:
        seen = condition if seen is None else xnp.logical_and(seen, condition)
    return seen
