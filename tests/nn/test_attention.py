"""Attention against loops over batch and heads in NumPy."""

import numpy as np
import pytest

import xcore as xc
import xcore.nn as nn
import xcore.numpy as xnp

RNG = np.random.default_rng(5)
B, T, S, N, K, H = 2, 5, 7, 4, 2, 8
Q, KEY, VALUE = (RNG.normal(size=s) for s in ((B, T, N, H), (B, S, K, H), (B, S, K, H)))


def reference(bias=0.0, seen=True, scale=H**-0.5):
    bias, seen = np.broadcast_to(bias, (B, N, T, S)), np.broadcast_to(seen, (B, N, T, S))
    out, sums = np.empty((B, T, N, H)), np.empty((B, T, N))
    for b in range(B):
        for n in range(N):
            shared = n // (N // K)
            logits = Q[b, :, n] @ KEY[b, :, shared].T * scale + bias[b, n]
            weights = np.exp(np.where(seen[b, n], logits, -np.inf))
            nothing = ~seen[b, n].any(1, keepdims=True)
            weights = np.where(nothing, 1.0, weights)
            out[b, :, n] = weights / weights.sum(1, keepdims=True) @ VALUE[b, :, shared]
            sums[b, :, n] = np.log(weights.sum(1))
    return out, sums


ROWS, COLUMNS = np.arange(T)[:, None], np.arange(S)
BIAS, MASK = RNG.normal(size=(1, N, T, S)), RNG.random((B, 1, T, S)) > 0.3
CASES = {
    "plain": ({}, {}),
    "bias": ({"bias": BIAS, "scale": 0.3}, {"bias": BIAS, "scale": 0.3}),
    "mask": ({"mask": MASK}, {"seen": MASK}),
    "causal": ({"is_causal": True}, {"seen": ROWS >= COLUMNS}),
    "window": (
        {"local_window_size": (1, 2)},
        {"seen": (COLUMNS >= ROWS - 1) & (COLUMNS <= ROWS + 2)},
    ),
    "one window": ({"local_window_size": 1}, {"seen": abs(COLUMNS - ROWS) <= 1}),
}


@pytest.mark.parametrize("case", CASES)
def test_values(case):
    given, known = CASES[case]
    exact, sums = reference(**known)
    got, residual = nn.dot_product_attention(Q, KEY, VALUE, **given, return_residual=True)
    np.testing.assert_allclose(got, exact, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(residual, sums, rtol=1e-12, atol=1e-13)


def test_lengths():
    used, there = np.array([3, 5]), np.array([7, 2])
    exact, _ = reference(seen=(COLUMNS < there[:, None])[:, None, None])
    exact = np.where((np.arange(T) < used[:, None])[..., None, None], exact, 0)
    got = nn.dot_product_attention(
        Q, KEY, VALUE, query_seq_lengths=used, key_value_seq_lengths=there
    )
    np.testing.assert_allclose(got, exact, rtol=1e-12, atol=1e-14)


def test_without_batch_and_in_small_floats():
    exact, _ = reference()
    got = nn.dot_product_attention(Q[0], KEY[0], VALUE[0], bias=None)
    np.testing.assert_allclose(got, exact[0], rtol=1e-12)
    small = [xnp.asarray(x, dtype="bfloat16") for x in (Q, KEY, VALUE)]
    out = nn.dot_product_attention(*small)
    assert out.dtype == xnp.bfloat16
    np.testing.assert_allclose(out.astype("float32"), exact, atol=0.03)


def test_gradient_is_finite_where_nothing_is_seen():
    nothing = np.zeros((B, 1, T, S), bool)
    slope = xc.grad(lambda q: nn.dot_product_attention(q, KEY, VALUE, mask=nothing).sum())(
        xnp.asarray(Q)
    )
    np.testing.assert_array_equal(slope, 0)


@pytest.mark.parametrize("q, k", [((2, 0, 2, 4), (2, 0, 2, 4)), ((2, 0, 2, 4), (2, 3, 1, 4)),
    ((2, 3, 2, 4), (2, 0, 1, 4)), ((0, 3, 2, 4), (0, 3, 2, 4)), ((2, 3, 2, 0), (2, 3, 2, 0)),
    ((0, 2, 4), (0, 2, 4))])  # fmt: skip
def test_without_positions(q, k):
    """Nothing asks, or nothing answers: the result is empty, or 0."""
    query, key = xnp.ones(q), xnp.ones(k)
    for f in (nn.dot_product_attention, xc.jit(nn.dot_product_attention)):
        out = f(query, key, key)
        assert out.shape == q and not out.any()
    out, sums = nn.dot_product_attention(query, key, key, is_causal=True, return_residual=True)
    assert out.shape == q and sums.shape == q[:-1]
    slope = xc.grad(lambda x: nn.dot_product_attention(x, key, key).sum())(query)
    assert slope.shape == q and not slope.any()


def test_errors():
    with pytest.raises(ValueError, match="N a multiple of K"):
        nn.dot_product_attention(Q[:, :, :3], KEY, VALUE)
    with pytest.raises(ValueError, match="implementation"):
        nn.dot_product_attention(Q, KEY, VALUE, implementation="cudnn")
