"""Products of matrices with so many elements that a CPU has them by SciPy: as of small ones, in every way to call."""

import numpy as np
import pytest
import scipy.sparse as sp

import xcore as xc
import xcore.numpy as xnp
from xcore import export, lax, sparse
from xcore.sparse import Sparse
from xcore.sparse._products import _LARGE
from xcore.testing import check_grads

rng = np.random.default_rng(0)
DTYPES = ("float32", "float64", "complex64", "complex128", "float16", "bfloat16", "int32")


def made(dtype="float64", shape=(300, 200)):
    """Rows of none to many elements."""
    a = sp.random_array(shape, density=0.06, rng=np.random.default_rng(1)).tolil()
    a[3], a[7], a[11, :] = 0, 1.5, 0
    a = sp.csr_array(a)
    assert a.nnz > _LARGE
    values = a.data * 10 + (1j * rng.normal(size=a.nnz) if "complex" in dtype else 0)
    m = sparse.from_scipy(a)
    return Sparse(xnp.asarray(values).astype(dtype), m.pattern)


def drawn(dtype, *shape):
    x = rng.normal(size=shape) * 3 + (1j * rng.normal(size=shape) if "complex" in dtype else 0)
    return xnp.asarray(x).astype(dtype)


def close(found, wanted, dtype):
    eps = float(xnp.finfo(dtype).eps) if dtype != "int32" else 0.0
    assert found.dtype == dtype and found.shape == wanted.shape
    found = np.asarray(found.astype("float32") if dtype == "bfloat16" else found)
    np.testing.assert_allclose(found, wanted, rtol=40 * eps, atol=300 * 40 * 30 * eps)


def dense(a):
    wide = {"bfloat16": "float64", "float16": "float64"}.get(str(a.dtype), str(a.dtype))
    with xc.enable_x64():
        return np.asarray(a.todense().astype(wide))


def wide(x):
    return np.asarray(x.astype("float32") if x.dtype == "bfloat16" else x).astype(
        np.result_type(x.dtype, np.float64) if x.dtype != "bfloat16" else np.float64
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", [(), (0,), (1,), (7,)])
def test_vectors_and_columns(dtype, columns):
    a = made(dtype)
    x, y = drawn(dtype, 200, *columns), drawn(dtype, 300, *columns)
    for times in (lambda a, x: a @ x, xc.jit(lambda a, x: a @ x)):
        close(times(a, x), dense(a) @ wide(x), dtype)
        close(times(a.T, y), dense(a).T @ wide(y), dtype)


@pytest.mark.parametrize("columns", [(), (3,)])
def test_batches(columns):
    a = made()
    x = drawn("float64", 5, 200, *columns)
    v = a.values * drawn("float64", 5, 1)
    times = lambda v, x: Sparse(v, a.pattern) @ x
    each = [dense(a.like(w)) for w in v]
    one, first = dense(a), np.asarray(x[0])
    for axes, given, wanted in (
        ((None, 0), (a.values, x), [one @ y for y in np.asarray(x)]),
        ((0, None), (v, x[0]), [b @ first for b in each]),
        ((0, 0), (v, x), [b @ y for b, y in zip(each, np.asarray(x), strict=True)]),
    ):
        for way in (xc.vmap(times, axes), xc.jit(xc.vmap(times, axes))):
            np.testing.assert_allclose(way(*given), wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(a.like(v) @ x[0], [b @ first for b in each], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives(dtype):
    a, x = made(dtype) / 30, drawn(dtype, 200)  # sums of size 1: differences round less
    times = lambda v, x: Sparse(v, a.pattern) @ x
    check_grads(times, (a.values, x), order=2)
    back = xc.linear_transpose(lambda x: times(a.values, x), x)
    ct = drawn(dtype, 300)
    np.testing.assert_allclose(back(ct)[0], dense(a).T @ np.asarray(ct), rtol=1e-12)
    back = xc.linear_transpose(lambda v: times(v, x), a.values)
    wanted = (np.asarray(ct)[:, None] * np.asarray(x))[a.pattern.rows, a.pattern.columns]
    np.testing.assert_allclose(back(ct)[0], wanted, rtol=1e-12)


def test_inside_of_loops_and_branches():
    a, x = made(shape=(250, 250)), drawn("float64", 250)
    a = a / 50
    step = lambda _, x: lax.cond(x[0] > 1e3, lambda x: x, lambda x: a @ x, x)
    found = xc.jit(lambda x: lax.fori_loop(0, 4, step, x))(x)
    np.testing.assert_allclose(found, np.linalg.matrix_power(dense(a), 4) @ np.asarray(x))
    slope = xc.grad(lambda x: xc.jit(lambda x: lax.fori_loop(0, 4, step, x))(x).sum())(x)
    np.testing.assert_allclose(slope, np.linalg.matrix_power(dense(a).T, 4) @ np.ones(250))


def test_what_is_not_finite_stays_in_its_rows():
    a, x = made(), np.ones(200)
    x[17] = np.nan
    found = np.asarray(a @ x)
    touched = a.pattern.rows[a.pattern.columns == 17]
    assert np.isnan(found[touched]).all() and np.isnan(found).sum() == len(touched)


def test_elsewhere_it_is_written_out():
    """Files, other platforms and the setting that does without tuning have no SciPy."""
    a, x = made("float32"), drawn("float32", 200)
    times = xc.jit(lambda v, x: Sparse(v, a.pattern) @ x)
    assert "callback" in times.lower(a.values, x).as_text()
    f = export.export(times, platforms=["cpu", "tpu"])(a.values, x)
    assert "callback" not in f.mlir_module()
    found = export.deserialize(f.serialize()).call(a.values, x)
    close(found, dense(a) @ np.asarray(x), "float32")
