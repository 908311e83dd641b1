"""What ``lax.linalg`` has beside the factorisations that ``xcore.linalg`` offers too."""

import numpy as np
import pytest
import scipy.linalg

import xcore as xc
import xcore.numpy as xnp
from xcore import lax

rng = np.random.default_rng(0)


def complex_of(x):
    return x + 1j * rng.standard_normal(x.shape)


@pytest.mark.parametrize("kind", [np.asarray, complex_of], ids=["real", "complex"])
@pytest.mark.parametrize("shape", [(5, 3), (4, 4), (3, 5)])
def test_products_with_the_orthogonal_factor(shape, kind):
    (m, _), a = shape, kind(rng.standard_normal(shape))
    (packed, taus), q = scipy.linalg.qr(a, mode="raw")[0], scipy.linalg.qr(a)[0]
    run = xc.jit(lax.linalg.ormqr, static_argnames=("left", "transpose"))
    for transpose in (False, True):
        factor = q.conj().T if transpose else q
        c = kind(rng.standard_normal((m, 2)))
        np.testing.assert_allclose(
            run(packed, taus, c, transpose=transpose), factor @ c, atol=1e-13
        )
        np.testing.assert_allclose(
            run(packed, taus, c.T, left=False, transpose=transpose), c.T @ factor, atol=1e-13
        )


def test_update_of_a_cholesky_factor():
    a, w = rng.standard_normal((2, 5, 5)), rng.standard_normal((2, 5))
    r = np.linalg.cholesky(a @ a.mT + np.eye(5)).mT
    new = np.asarray(xc.jit(lax.linalg.cholesky_update)(r, w))
    np.testing.assert_allclose(new.mT @ new, r.mT @ r + w[:, :, None] * w[:, None, :], rtol=1e-12)
    np.testing.assert_array_equal(new, np.triu(new))
    lanes = xc.vmap(lax.linalg.cholesky_update)(r, w)
    np.testing.assert_allclose(lanes, new, rtol=1e-14)
    xc.testing.check_grads(lax.linalg.cholesky_update, (r[0], w[0]), order=1, modes=["fwd", "rev"])
    zeros = lax.linalg.cholesky_update(np.zeros((2, 2)), np.float64([0.0, 3.0]))
    np.testing.assert_array_equal(zeros, [[0, 0], [0, 3]])


def test_condensed_forms():
    a = rng.standard_normal((5, 5))
    h, _ = lax.linalg.hessenberg(a)
    np.testing.assert_allclose(np.triu(h, -1), scipy.linalg.hessenberg(a), atol=1e-13)
    _, d, e, _ = lax.linalg.tridiagonal(a + a.T)
    values = scipy.linalg.eigvalsh_tridiagonal(d, e)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(a + a.T), atol=1e-13)


def test_parts_of_spectra():
    a = rng.standard_normal((4, 3))
    w, v = np.linalg.eigh(a.T @ a)
    vectors, values = lax.linalg.eigh(a.T @ a, subset_by_index=(1, 3))
    np.testing.assert_allclose(values, w[1:], rtol=1e-12)
    np.testing.assert_allclose(abs(vectors.mT @ v[:, 1:]), np.eye(2), atol=1e-12)
    u, s, vh = lax.linalg.svd(a, full_matrices=False, subset_by_index=(0, 2))
    np.testing.assert_allclose(s, np.sqrt(w[:0:-1]), rtol=1e-12)
    np.testing.assert_allclose(u.mT @ a @ vh.mT, np.diag(s), atol=1e-12)
    only = lax.linalg.svd(a, compute_uv=False, subset_by_index=(2, 3))
    np.testing.assert_allclose(only, np.sqrt(w[:1]), rtol=1e-10)


BAD = {
    "ormqr": lambda: lax.linalg.ormqr(np.eye(3), np.ones(3), np.ones((2, 2))),
    "cholesky_update": lambda: lax.linalg.cholesky_update(np.eye(3), np.ones(2)),
    "eigh": lambda: lax.linalg.eigh(np.eye(3), subset_by_index=(0, 4)),
    "svd": lambda: lax.linalg.svd(np.eye(3), subset_by_index=(0, 2)),
    "hessenberg": lambda: lax.linalg.hessenberg(xnp.ones((2, 3))),
    "tridiagonal": lambda: lax.linalg.tridiagonal(xnp.ones((2, 3))),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    with pytest.raises(ValueError, match=name):
        BAD[name]()
