"""Factors of Hermitian matrices that are not definite: solutions, claims, inertia; no pivots are exchanged."""

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp

import xcore as xc
import xcore.numpy as xnp
from xcore import Status, sparse
from xcore.sparse import Sparse

rng = np.random.default_rng(0)


def line(n):
    return sp.diags_array([-1.0, 2.1, -1.0], offsets=[-1, 0, 1], shape=(n, n))


def saddle(n, m):
    """Equations of a minimum under constraints: no diagonal in the last rows."""
    g = sp.csr_array(sp.kronsum(line(n), line(n)))
    c = sp.random_array((m, n * n), density=0.05, rng=rng) + sp.eye_array(m, n * n)
    return sp.csr_array(sp.block_array([[g, c.T], [c, None]]))


def random(n):
    r = sp.random_array((n, n), density=0.15, rng=rng, data_sampler=rng.normal)
    return sp.csr_array(r + r.T)


MATRICES = {
    "shifted": sp.csr_array(sp.kronsum(line(8), line(8)) - 3 * sp.eye_array(64)),
    "saddle": saddle(6, 12), "random": random(40), "exchange": sp.csr_array([[0.0, 1.0], [1.0, 0.0]]),
    "one": sp.csr_array([[-2.0]]),
}  # fmt: skip


@pytest.mark.parametrize("name", MATRICES)
def test_solutions_and_inertia(name):
    a, s = MATRICES[name], sparse.from_scipy(MATRICES[name])
    b = rng.normal(size=(a.shape[0], 2))
    f = sparse.factorise(s, "ldl")
    found, seen = f.solve(b, report=True), f.inertia()
    exact, w = np.linalg.solve(a.toarray(), b), np.linalg.eigvalsh(a.toarray())
    error = np.abs(found.value - exact).max(0) / np.abs(exact).max(0)
    assert found.ok and error.max() <= found.certificate.error + 1e-13 < 1e-8
    assert seen.certain and (seen.positive, seen.negative) == ((w > 0).sum(), (w < 0).sum())


@pytest.mark.parametrize(
    "most, dtype", [(10, "float64"), (30, "float64"), (60, "float64"), (5, "float32")]
)
def test_unknowns_in_any_units(most, dtype):
    """R A R y = R b has the solution R⁻¹ A⁻¹ b, whatever powers of ten R holds."""
    a = MATRICES["shifted"]
    r, b = 10.0 ** rng.uniform(-most, most, 64), rng.normal(size=64)
    exact = np.linalg.solve(a.toarray(), b)
    scaled = sp.csr_array(sp.diags_array(r) @ a @ sp.diags_array(r)).astype(dtype)
    found = sparse.factorise(sparse.from_scipy(scaled), "ldl").solve(
        (r * b).astype(dtype), report=True
    )
    error = np.abs(np.asarray(found.value) * r - exact).max() / np.abs(exact).max()
    assert found.ok and error < 1000 * np.finfo(dtype).eps


@pytest.mark.parametrize("scale", [1e-140, 1.0, 1e140])
def test_no_claim_is_false(scale):
    """Random eigenvalues down to rounding errors and 0; one program for all of them."""
    p = sparse.from_dense(np.ones((8, 8))).pattern
    q = np.linalg.qr(rng.normal(size=(20, 8, 8)))[0]
    least = np.r_[np.geomspace(1, 1e-18, 19), 0.0]
    w = rng.choice([-1.0, 1.0], (20, 8)) * np.geomspace(1, np.maximum(least, 1e-30), 8).T
    w[-1, -1] = 0
    a = np.einsum("bij,bj,bkj->bik", q, w, q)
    a = (a + a.transpose(0, 2, 1)) / 2 * scale
    x = rng.normal(size=(20, 8, 1))
    f = sparse.factorise(Sparse(a.reshape(20, 64), p), "ldl")
    found, seen = f.solve(a @ x, report=True), f.inertia()
    assert found.ok[0] and seen.certain[0] and not found.ok[-1] and not seen.certain[-1]
    error = np.abs(found.value - x).max(1)[:, 0] / np.abs(x).max(1)[:, 0]
    bound = np.asarray(found.certificate.error).reshape(20)
    left = np.abs(a @ x - a @ np.asarray(found.value)).max((1, 2))
    ok = np.asarray(found.ok)
    # b itself is rounded: by eps of the condition
    assert (error[ok] <= (bound + 1e-15 / np.maximum(least, 1e-20))[ok]).all()
    assert (left[ok] <= 1e-13 * scale).all()
    known = np.linalg.eigvalsh(a / scale)
    certain = np.asarray(seen.certain)
    np.testing.assert_array_equal(np.asarray(seen.positive)[certain], (known > 0).sum(1)[certain])


def test_derivatives_batches_and_dtypes():
    a = sparse.from_scipy(MATRICES["exchange"] + 0.5 * sp.eye_array(2))
    p, b = a.pattern, np.array([1.0, 2.0])
    with xc.enable_x64():
        f = lambda v: sparse.factorise(Sparse(v, p), "ldl").solve(b)
        dense = lambda v: xnp.linalg.solve(Sparse(v, p).todense(), b)
        v = xnp.asarray(a.values)
        slopes = [xc.grad(lambda v: xnp.sin(g(v)).sum())(v) for g in (f, dense)]  # noqa: B023
        np.testing.assert_allclose(*slopes, rtol=1e-11, atol=1e-14)
        many = v * np.arange(1.0, 80.0)[:, None]
        np.testing.assert_allclose(
            xc.vmap(f)(many), f(v) / np.arange(1.0, 80.0)[:, None], rtol=1e-12, atol=1e-15
        )
    turned = np.array([[0, 1j], [-1j, 0.5]], np.complex64)
    x = sparse.factorise(sparse.from_dense(turned), "ldl").solve(np.array([1.0, 2.0], np.complex64))
    np.testing.assert_allclose(turned @ np.asarray(x), [1, 2], atol=1e-5)


def test_what_is_singular_is_told():
    for a in (np.ones((3, 3)), np.zeros((3, 3))):
        f = sparse.factorise(sparse.from_dense(a), "ldl")
        found = f.solve(np.array([1.0, 2.0, 4.0]), report=True)
        assert found.status in (Status.stagnation, Status.ill_conditioned, Status.singular)
        assert not f.inertia().certain
    with pytest.raises(xc.errors.XcoreError):
        f.solve(np.array([1.0, 2.0, 4.0]))
    empty = sparse.factorise(sparse.coo_array((0, 0)), "ldl")
    assert empty.solve(np.ones(0)).shape == (0,) and empty.inertia().certain


@pytest.mark.parametrize("dtype,most", [(np.float32, 6), (np.float64, 15)])
def test_definite_matrices_keep_their_small_pivots(dtype, most):
    """Pivots far below the root of the precision, which refinement could not make up for."""
    r = np.random.default_rng(5)
    q = np.linalg.qr(r.normal(size=(40, 6, 6)))[0]
    w = 10.0 ** (-r.uniform(0.5 * most, most, (40, 1)) * np.linspace(0, 1, 6))
    a = (q * w[:, None]) @ np.swapaxes(q, 1, 2)
    a = ((a + np.swapaxes(a, 1, 2)) / 2).astype(dtype)
    x = r.normal(size=(40, 6))
    b = np.einsum("kij,kj->ki", a, x).astype(dtype)
    p = sparse.from_dense(a[0]).pattern
    f = sparse.factorise(Sparse(a.reshape(40, 36), p), "ldl")
    found = f.solve(b[..., None], report=True)
    assert set(np.asarray(found.status).tolist()) <= {Status.success, Status.ill_conditioned}
    assert (np.asarray(found.status) == Status.success).mean() > 0.9
    true = np.stack([mp_solve(*ab) for ab in zip(a, b, strict=True)])
    off = np.abs(found.value[..., 0] - true).max(1) / np.abs(true).max(1)
    assert (off <= np.asarray(found.certificate.error).reshape(40, -1).max(1)).all()


def mp_solve(a, b):
    """With 50 digits."""
    with mpmath.workdps(50):
        return np.array([float(x) for x in mpmath.lu_solve(mpmath.matrix(a), mpmath.matrix(b))])
