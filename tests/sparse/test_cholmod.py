"""CHOLMOD in place of SuperLU, where scikit-sparse is installed: the same answers."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import sparse
from xcore.sparse import _cholmod, _direct

pytest.importorskip("sksparse.cholmod")


def matrix(dtype, n=20):
    line = sparse.diags_array([-1.0, 2.1, -1.0], offsets=[-1, 0, 1], shape=(n, n), dtype=dtype)
    a = sparse.kronsum(line, line)
    if dtype != "complex128":
        return a
    turn = np.exp(1j * np.arange(n * n))
    return a.map(lambda v: v * turn[a.pattern.rows] * np.conj(turn[a.pattern.columns]))


def kind_of(a):
    sparse.solve(a, np.ones(a.shape[-1]))
    return type(_direct._factors_of(a.pattern, np.asarray(a.values), "lu", ()))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_solutions_and_determinants(dtype):
    a = matrix(dtype)
    dense = np.asarray(a.todense())
    a = a.like(a.values + np.conj(a.T.values)) * 0.5  # to the last bit
    assert kind_of(a) is _cholmod.Hermitian
    b = np.random.default_rng(0).normal(size=(400, 3)) + (1j if dtype == "complex128" else 0)
    for turned, full in ((a, dense), (a.T, dense.T)):
        told = sparse.solve(turned, b, report=True)
        assert bool(told.ok)
        np.testing.assert_allclose(told.value, np.linalg.solve(full, b), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(sparse.factorise(a).slogdet(), np.linalg.slogdet(dense), rtol=1e-12)
    g = xc.grad(lambda v: xnp.real(sparse.solve(a.like(v), b).sum()))(a.values)
    assert bool(xnp.isfinite(g).all())


def test_others_are_superlus():
    a = matrix("float64")
    for other in (a - 3 * sparse.eye_array(400), -a, a.at[0, 1].set(-0.5), a.astype("float32")):
        assert kind_of(other) is not _cholmod.Hermitian
        told = sparse.solve(other, np.ones(400), report=True)
        want = np.linalg.solve(np.asarray(other.todense()), np.ones(400))
        np.testing.assert_allclose(
            told.value, want, rtol=1e-3 if other.dtype == np.float32 else 1e-9
        )
