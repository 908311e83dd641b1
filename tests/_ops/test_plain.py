"""What other platforms than a CPU compute without a library of their own, run on the CPU.

The bounds are those of backward stable algorithms: a few units of rounding times the size of the matrix.
"""

import numpy as np
import pytest

import xcore.numpy as xnp
from tests._ops.elsewhere import run_as
from xcore import _ops as ops
from xcore import lax
from xcore._backend import hybrid
from xcore._ops import factor

DTYPES = ("float32", "complex64")
SHAPES = ((7, 7), (5, 7), (7, 4), (1, 1))
EPS = float(np.finfo("float32").eps)


def matrices(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(3, *shape))
    return (x + 1j * rng.normal(size=x.shape) if dtype[0] == "c" else x).astype(dtype)


def adjoint(x):
    return x.conj().swapaxes(-2, -1)


def assert_orthonormal(q):
    one = np.broadcast_to(np.eye(q.shape[-1]), (*q.shape[:-2], q.shape[-1], q.shape[-1]))
    np.testing.assert_allclose(adjoint(q) @ q, one, atol=20 * EPS)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_lu_is_lapacks(shape, dtype):
    a = matrices(shape, dtype)
    a[1, :, 0] = 0  # a pivot that vanishes
    factors, pivots, order = run_as("tpu", lambda x: tuple(ops.lu(x)), a)
    known = [np.asarray(x) for x in ops.lu(xnp.asarray(a))]
    np.testing.assert_array_equal(pivots, known[1])
    np.testing.assert_array_equal(order, known[2])
    np.testing.assert_allclose(factors, known[0], atol=50 * EPS * np.abs(known[0]).max())


@pytest.mark.parametrize("dtype", DTYPES)
def test_cholesky_and_what_has_none(dtype):
    a = matrices((6, 6), dtype)
    a = a @ adjoint(a) + np.eye(6, dtype=dtype)
    bad = a.copy()
    bad[1, 2, 2] = -1
    found = run_as("tpu", ops.cholesky, bad)
    assert np.isnan(found[1]).all()
    np.testing.assert_allclose(found[[0, 2]], np.linalg.cholesky(a)[[0, 2]], atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_qr(shape, full, dtype):
    a = matrices(shape, dtype)
    q, r = run_as("tpu", lambda x: tuple(ops.qr(x, full=full, pivoting=False)), a)
    assert q.shape == np.linalg.qr(a, "complete" if full else "reduced").Q.shape
    assert_orthonormal(q)
    np.testing.assert_allclose(q @ r, a, atol=20 * EPS * np.abs(a).max())


@pytest.mark.parametrize("dtype", DTYPES)
def test_eigh_reads_the_lower_triangle(dtype):
    a = matrices((6, 6), dtype)
    a = a + adjoint(a)
    w, v = run_as("tpu", lambda x: tuple(ops.eigh(x, vectors=True)), np.tril(a))
    size = np.abs(a).max()
    np.testing.assert_allclose(w, np.linalg.eigvalsh(a), atol=20 * EPS * size)
    np.testing.assert_allclose(a @ v, v * w[:, None, :], atol=50 * EPS * size)
    assert_orthonormal(v)


@pytest.mark.parametrize(
    "shape, full, dtype",
    [
        ((5, 5), False, "float32"),
        ((4, 6), True, "float32"),
        ((6, 3), True, "complex64"),
        ((4, 6), False, "complex64"),
    ],
)
def test_svd_of_regular_and_singular_matrices(shape, full, dtype):
    a = matrices(shape, dtype)
    a[1, 1] = a[1, 0]  # of lower rank
    a[2] = 0
    s, u, vh = run_as("tpu", lambda x: tuple(ops.svd(x, full=full, vectors=True)), a)
    size, k = np.abs(a).max(), min(shape)
    np.testing.assert_allclose(s, np.linalg.svd(a, compute_uv=False), atol=50 * EPS * size)
    assert (np.diff(s) <= 0).all() and (s >= 0).all()
    assert u.shape == (3, shape[0], shape[0] if full else k)
    assert_orthonormal(u)
    assert_orthonormal(adjoint(vh))
    np.testing.assert_allclose((u[..., :k] * s[:, None]) @ vh[:, :k], a, atol=50 * EPS * size)


@pytest.mark.parametrize("platform, batch", [("tpu", ()), ("tpu", (2, 3)), ("cuda", (2, 3))])
@pytest.mark.parametrize("n", [1, 2, 3, 8])
@pytest.mark.parametrize("dtype", DTYPES)
def test_tridiagonal_systems_exchange_rows(platform, batch, n, dtype, monkeypatch):
    """Regular, but without exchanges each has a pivot that vanishes or nearly does."""
    monkeypatch.setattr(factor, "_MANY", 0)  # of so many on a GPU, as on a TPU, by a loop
    rng = np.random.default_rng(1)
    low, d, high = (rng.normal(size=(*batch, n)).astype(dtype) for _ in range(3))
    d[..., 0] = 1e-20 if n > 1 else 2
    b = rng.normal(size=(*batch, n, 2)).astype(dtype)
    x = run_as(platform, ops.tridiagonal_solve, low, d, high, b)
    dense = np.zeros((*batch, n, n), dtype)
    for i in range(n):
        dense[..., i, i] = d[..., i]
        if i:
            dense[..., i, i - 1], dense[..., i - 1, i] = low[..., i], high[..., i - 1]
    left = np.abs(dense @ x - b).max((-2, -1))
    size = np.abs(dense).max((-2, -1)) * np.abs(x).max((-2, -1))
    assert (left <= 10 * n * EPS * size).all()


def test_a_singular_tridiagonal_system_does_not_touch_others(monkeypatch):
    monkeypatch.setattr(factor, "_MANY", 0)
    d, other = np.ones((3, 4), np.float32), np.zeros((3, 4), np.float32)
    d[1, 2] = 0
    x = run_as("cuda", ops.tridiagonal_solve, other, d, other, np.ones((3, 4, 1), np.float32))
    assert np.isnan(x[1]).all() and (x[[0, 2]] == 1).all()


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
)
@pytest.mark.parametrize("groups", [1, 2])
def test_integer_convolutions_of_a_gpu(dtype, groups):
    """Modulo the range of the dtype, over all of it."""
    rng, info = np.random.default_rng(3), np.iinfo(dtype)
    draw = lambda *s: rng.integers(info.min, info.max, s, dtype, endpoint=True)
    x, kernel = draw(2, 4, 9), draw(6, 4 // groups, 3)
    f = lambda x, k: lax.conv_general_dilated(x, k, (2,), "SAME", feature_group_count=groups)
    known = np.asarray(f(xnp.asarray(x), xnp.asarray(kernel)))
    found = run_as("cuda", f, x, kernel)
    assert found.dtype == known.dtype
    np.testing.assert_array_equal(found, known)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("groups", [1, 2])
def test_complex_convolutions_of_accelerators(dtype, groups):
    rng = np.random.default_rng(2)
    draw = lambda *s: (rng.normal(size=s) + 1j * rng.normal(size=s)).astype(dtype)
    x, kernel = draw(2, 4, 9, 8), draw(6, 4 // groups, 3, 2)
    f = lambda x, k: lax.conv_general_dilated(x, k, (2, 1), "SAME", feature_group_count=groups)
    known = np.asarray(f(xnp.asarray(x), xnp.asarray(kernel)))
    found = run_as("cuda", f, x, kernel)
    np.testing.assert_allclose(found, known, atol=100 * np.finfo(dtype).eps)


# Host LAPACK of GPUs


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("batch", [(), (2,), (2, 2)])
def test_schur_and_hessenberg_forms_by_the_host(dtype, batch):
    rng = np.random.default_rng(3)
    a = (rng.normal(size=(*batch, 5, 5)) + (1j if dtype[0] == "c" else 0)).astype(dtype)
    form, vectors, *_, count, info = hybrid.HostRoutine("gees", dtype)(a)
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(vectors @ form @ adjoint(vectors), a, atol=50 * eps)
    assert (info == 0).all() and info.shape == batch and count.dtype == np.int32
    packed, taus, info = hybrid.HostRoutine("gehrd", dtype)(a)
    known = [np.asarray(x) for x in ops.hessenberg(xnp.asarray(a))]
    np.testing.assert_allclose(packed, known[0], atol=50 * eps)
    np.testing.assert_allclose(taus, known[1], atol=50 * eps)
    assert packed.dtype == taus.dtype == dtype and (info == 0).all()


def test_a_stored_program_finds_its_routine_again():
    from xcore._core import kernels

    call = hybrid.HostRoutine("gees", "float32")
    (found,), blob = kernels.unpack(kernels.pack([call], b"code"))
    assert type(found) is hybrid.HostRoutine and found.key == call.key and blob == b"code"
