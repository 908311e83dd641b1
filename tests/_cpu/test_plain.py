"""What only a CPU's speed needs changes no value: each alternative beside the plain way."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax, sparse
from xcore._control import per_element
from xcore._control.call import in_one_kernel
from xcore._control.per_element import while_per_element
from xcore._core import lower
from xcore._core.op import registry

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 90)).astype(np.float32)
TIES = RNG.integers(0, 9, (8, 300)).astype(np.int32)
SQUARE = RNG.standard_normal((2, 128, 128))
LONG = RNG.standard_normal(2**15).astype(np.float32)
WITH_NAN = np.where(RNG.random((40, 90)) < 0.01, np.nan, X).astype(np.float32)

MATRIX = sparse.from_dense(X)


def smoothed(x):
    return lax.fori_loop(0, 5, lambda i, s: s * 0.5 + x, x)


def halvings(x):
    return while_per_element("test", lambda s: s[0] > 1, lambda s: (s[0] / 2, s[1] + 1), (x, 0))


# operation: calls for which an alternative applies
CALLS = {
    "sort": [
        lambda: xnp.sort(WITH_NAN, axis=0),
        lambda: xnp.argsort(TIES, axis=1),
        lambda: lax.sort([TIES[0], LONG[:300]], num_keys=2),
    ],
    "top_k": [lambda: lax.top_k(TIES, 40), lambda: lax.top_k(X, 50)],
    "fft": [
        lambda: xnp.fft.fft(LONG.astype(np.complex64)),
        lambda: xnp.fft.rfft(LONG),
        lambda: xnp.fft.irfft(xnp.asarray(LONG[: 2**14 + 1], np.complex64)),
    ],
    "trig": [lambda: xc.fft.dct(X), lambda: xc.fft.dst(X, type=3, norm="ortho")],
    "dot_general": [
        lambda: xnp.asarray(SQUARE[0]).T @ SQUARE[1],
        lambda: xnp.asarray(SQUARE[0]).T @ xnp.asarray(SQUARE[1]).T,
        lambda: xnp.asarray(SQUARE[0]).T @ SQUARE[1][:, :30],
    ],
    "convolution": [lambda: xnp.convolve(LONG, LONG[:7]), lambda: xnp.convolve(LONG, LONG[:200])],
    "reduce_max": [lambda: xnp.max(WITH_NAN, axis=0), lambda: xnp.max(WITH_NAN)],
    "reduce_min": [lambda: xnp.min(WITH_NAN, axis=1), lambda: xnp.min(X)],
    "argmax": [lambda: xnp.argmax(WITH_NAN, axis=1), lambda: xnp.argmax(TIES, axis=1)],
    "argmin": [lambda: xnp.argmin(WITH_NAN, axis=1), lambda: xnp.argmin(TIES)],
    "cumsum": [lambda: xnp.cumsum(X, axis=1)],
    "cumprod": [lambda: xnp.cumprod(X, axis=1)],
    "cummax": [lambda: lax.cummax(X, axis=0, reverse=True)],
    "cummin": [lambda: lax.cummin(TIES, axis=1)],
    "cumlogsumexp": [lambda: lax.cumlogsumexp(X, axis=1)],
    "log1p": [lambda: xnp.log1p(np.linspace(-0.9, 3, 50))],
    "atanh": [lambda: xnp.arctanh(np.linspace(-0.9, 0.9, 50))],
    "while_per_element": [lambda: xc.vmap(halvings)(np.exp(np.float32(LONG[:300] * 5)))],
    "sparse_row_sums": [lambda: MATRIX @ LONG[:90], lambda: MATRIX.T @ X[:40]],
    "one_kernel": [lambda: in_one_kernel(smoothed, X, part=7)],
}


@pytest.mark.parametrize("name", [name for name, op in registry.items() if op.alternatives])
def test_both_ways(name, monkeypatch):
    taken = []
    kept = lower.Lowering.takes

    def takes(self, way):
        found = kept(self, way)
        taken.append((way.needed, found))
        return found

    monkeypatch.setattr(lower.Lowering, "takes", takes)
    monkeypatch.setenv("XCORE_CACHE", "0")  # programs are written, not found
    for call in CALLS[name]:
        run = xc.jit(call)
        xc.clear_caches()
        ours = run()
        assert all(found for _, found in taken)
        taken.clear()
        with xc.config.override(plain=True):
            plain = run()
        assert all(found == needed for needed, found in taken)
        taken.clear()
        for a, b in zip(xc.tree.leaves(ours), xc.tree.leaves(plain), strict=True):
            assert a.dtype == b.dtype
            # sums in another order: some thousand eps of the largest
            size = np.max(np.abs(b), initial=0, where=np.isfinite(b))
            tolerance = (
                0 if not xnp.issubdtype(a.dtype, xnp.inexact) else 2e3 * xnp.finfo(a.dtype).eps
            )
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * float(size))


def test_every_alternative_has_a_call():
    assert set(CALLS) == {name for name, op in registry.items() if op.alternatives}


@pytest.mark.parametrize("size", [1, 3, 5, 64, 300])
def test_few_that_are_left(size, monkeypatch):
    """Accelerators leave those behind that stopped, of any batch, in one vmap or two; nobody's steps change."""
    monkeypatch.setattr(per_element, "LARGE", 16)
    monkeypatch.setattr(per_element, "FEWER", 4)
    x = np.exp(np.float32(LONG[:size] * 5))
    steps = np.maximum(np.ceil(np.log2(np.maximum(x, 1))), 0)
    with xc.config.override(plain=True):
        halved, many = xc.jit(xc.vmap(halvings))(x)
        pairs = xc.jit(xc.vmap(xc.vmap(halvings)))(np.stack([x, x[::-1]]))
    np.testing.assert_array_equal(many, steps)
    np.testing.assert_array_equal(halved, x / np.float32(2) ** steps)
    np.testing.assert_array_equal(pairs[1], [steps, steps[::-1]])
