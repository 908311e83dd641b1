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


@pytest.mark.parametrize("shape", [(30, 40), (1, 30, 40), (8, 9, 10)])
def test_several_axes_of_one_array(shape):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    for kind, expect in (("FFT", np.fft.fftn), ("IFFT", np.fft.ifftn)):
        got = ops.fft(x, kind=kind, lengths=shape[-2:])
        np.testing.assert_allclose(got, expect(x, axes=(-2, -1)), rtol=0, atol=1e-11)


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


def _symmetric(a):
    return a + a.swapaxes(-1, -2)


FACTORS = {
    "cholesky": lambda a: [ops.cholesky(ops.add(_symmetric(a), 9 * np.broadcast_to(np.eye(3), a.shape)))],
    "lu": lambda a: list(ops.lu(a))[:1],
    "qr": lambda a: list(ops.qr(a, full=False, pivoting=False)),
    "eigh": lambda a: list(ops.eigh(_symmetric(a), vectors=True))[:1],
    "svd": lambda a: list(ops.svd(a, full=False, vectors=False)),
    "triangular": lambda a: [ops.triangular_solve(a, a, left=True, lower=True, transpose="T", unit_diagonal=False)],
}  # fmt: skip


@pytest.mark.parametrize("name", FACTORS)
def test_derivatives_of_batches_are_those_of_each(name):
    """A batch that an operation is given itself, one of lanes, and a loop."""
    rng = np.random.default_rng(3)
    a, v = rng.standard_normal((2, 2, 4, 3, 3))
    a = a + 3 * np.eye(3)
    f = lambda a: FACTORS[name](xc.numpy.asarray(a))
    move = lambda a, v: xc.jvp(f, (a,), (v,))[1]
    pull = lambda a: xc.vjp(f, a)[1](f(a))[0]
    whole, back = xc.jit(move)(a, v), xc.jit(pull)(a)
    lanes, lanes_back = xc.jit(xc.vmap(xc.vmap(move)))(a, v), xc.jit(xc.vmap(xc.vmap(pull)))(a)
    one, one_back = xc.jit(move), xc.jit(pull)
    for i, j in np.ndindex(2, 4):
        for w, m, e in zip(whole, lanes, one(a[i, j], v[i, j]), strict=True):
            np.testing.assert_allclose(w[i, j], e, rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(m[i, j], e, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(back[i, j], one_back(a[i, j]), rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(lanes_back[i, j], one_back(a[i, j]), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_singular_matrices_have_factors_and_indefinite_ones_have_not(dtype):
    """An exact zero among the pivots is no failure of LU; a leading minor below zero is one of Cholesky."""
    a = np.array([[[1, 2], [2, 4]], [[0, 0], [0, 0]], [[4, 1], [1, 3]]]).astype(dtype)
    packed, pivots, order = map(np.asarray, ops.lu(a))
    lower, upper = np.tril(packed, -1) + np.eye(2), np.triu(packed)
    assert np.isfinite(packed).all()
    for row, (lo, up, p) in enumerate(zip(lower, upper, order, strict=True)):
        np.testing.assert_allclose(lo @ up, a[row][p], rtol=1e-6)
    found = np.isfinite(np.asarray(ops.cholesky(a - np.eye(2, dtype=dtype)))).all((1, 2))
    np.testing.assert_array_equal(found, [False, False, True])
