"""Transforms of one and of several long rows: a CPU leaves single ones to kernels on the host."""

import numpy as np
import pytest

import xcore as xc
from xcore import _ops as ops

CALLS = {
    "FFT": (np.fft.fft, lambda n: n, complex), "IFFT": (np.fft.ifft, lambda n: n, complex),
    "RFFT": (np.fft.rfft, lambda n: n, float), "IRFFT": (np.fft.irfft, lambda n: n // 2 + 1, complex),
}  # fmt: skip


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize("rows", [(), (1,), (2,), (1, 1), (1, 2)])
def test_rows(kind, rows):
    expect, stored, number = CALLS[kind]
    rng = np.random.default_rng(0)
    for n in (600, 1023, 4096, 1 << 15):
        shape = (*rows, stored(n))
        x = rng.standard_normal(shape).astype(number)
        x = x + 1j * rng.standard_normal(shape) if number is complex else x
        got = np.asarray(ops.fft(x, kind=kind, lengths=(n,)))
        wanted = expect(x, n)
        size = np.abs(wanted).max()
        assert got.shape == wanted.shape and got.dtype == wanted.dtype
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-14 * size * np.log2(n))


LANES = 2


def solved(dl, d, du, b):
    n = d.shape[-1]
    a = np.diag(d) + np.diag(dl[1:], -1) + np.diag(du[:-1], 1)
    return np.linalg.solve(a, b.reshape(n, -1))


def exchanged(x, pivots):
    order = np.arange(len(x))
    for i, p in enumerate(pivots):
        order[[i, p]] = order[[p, i]]
    return x[order]


_RNG = np.random.default_rng(1)
_LOWER = np.tril(_RNG.uniform(1, 2, (LANES, 4, 4)))
# operation, its arguments in lanes, the same of one lane by NumPy
EACH = {
    "tridiagonal_solve": (
        ops.tridiagonal_solve,
        [_RNG.uniform(0, 1, (LANES, 5)), _RNG.uniform(3, 4, (LANES, 5)), _RNG.uniform(0, 1, (LANES, 5)),
         _RNG.standard_normal((LANES, 5, 2))],
        solved,
    ),
    "triangular_solve": (
        lambda a, b: ops.triangular_solve(a, b, left=True, lower=True, transpose="N", unit_diagonal=False),
        [_LOWER, _RNG.standard_normal((LANES, 4, 3))], np.linalg.solve,
    ),
    "triangular_solve from the right": (
        lambda a, b: ops.triangular_solve(a, b, left=False, lower=True, transpose="T", unit_diagonal=False),
        [_LOWER, _RNG.standard_normal((LANES, 3, 4))], lambda a, b: np.linalg.solve(a, b.T).T,
    ),
    "exchange_rows": (
        lambda x, p: ops.exchange_rows(x, p, reverse=False),
        [_RNG.standard_normal((LANES, 4, 3)), np.array([[1, 3, 2], [2, 1, 3]], np.int32)], exchanged,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EACH)
def test_lanes_of_each_argument_alone(name):
    """And of each pair of lanes of lanes: what does not vary is spread."""
    f, args, reference = EACH[name]
    for mask in range(1, 2 ** len(args)):
        axes = tuple(0 if mask >> i & 1 else None for i in range(len(args)))
        given = [a if axis == 0 else a[0] for a, axis in zip(args, axes, strict=True)]
        each = [
            reference(*[g[k] if x == 0 else g for g, x in zip(given, axes, strict=True)])
            for k in range(LANES)
        ]
        found = xc.vmap(f, axes)(*given)
        np.testing.assert_allclose(found, np.stack(each), rtol=1e-12, atol=1e-13)
        twice = xc.vmap(xc.vmap(f, axes), axes)(
            *[np.stack([g, g[::-1]]) if x == 0 else g for g, x in zip(given, axes, strict=True)]
        )
        np.testing.assert_allclose(twice, np.stack([each, each[::-1]]), rtol=1e-12, atol=1e-13)
