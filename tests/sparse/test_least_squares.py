"""Least squares of sparse matrices: beside exact arithmetic and dense solutions, with their derivatives."""

import functools

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp

import xcore as xc
import xcore.numpy as xnp
from xcore import Status, sparse
from xcore.pde import Advection, Diffusion, Divergence, Gradient, Grid, Laplacian, Periodic
from xcore.sparse import Sparse


def uneven(m, n, rng):
    """A pattern of full rank, and elements for it."""
    p = sparse.from_scipy(
        sp.csr_array(sp.random_array((m, n), density=0.25, rng=rng) + sp.eye_array(m, n))
    ).pattern
    return p, rng.normal(size=p.nnz)


def exact_of(a, b, ridge=0.0):
    """In 80 digits."""
    a, b = mpmath.matrix(a.tolist()), mpmath.matrix(b.tolist())
    m, n = a.rows, a.cols
    if m < n and not ridge:
        return a.T * mpmath.lu_solve(a * a.T, b)
    return mpmath.lu_solve(a.T * a + mpmath.mpf(ridge) * mpmath.eye(n), a.T * b)


@pytest.mark.parametrize("m, n", [(14, 8), (8, 14)])
def test_no_claim_is_false(m, n):
    rng = np.random.default_rng(m)
    p, _ = uneven(m, n, rng)
    solve = xc.jit(lambda v, b: sparse.lstsq(Sparse(v, p), b, report=True))
    claimed = {}
    for scale in (1e-150, 1.0, 1e150):
        for condition in (1.0, 1e4, 1e8, 1e12, 1e16):
            for size, fits in ((1e-100, 0), (1.0, 1), (1.0, 0), (1e100, 1)):
                weights = np.geomspace(1, 1 / condition, m)[rng.permutation(m)]
                v = rng.normal(size=p.nnz) * weights[p.rows] * scale
                a = Sparse(xnp.asarray(v), p).to_scipy().toarray()
                b = (a @ rng.normal(size=n) / scale if fits else rng.normal(size=m)) * size
                found = solve(xnp.asarray(v), xnp.asarray(b))
                claimed.setdefault(condition, []).append(bool(found.ok))
                if found.ok:
                    with mpmath.workdps(80):
                        exact = exact_of(a, b)
                        off = max(
                            abs(float(x) - e) for x, e in zip(found.value, exact, strict=True)
                        )
                        off = float(off / max(abs(e) for e in exact))
                    assert off <= float(found.certificate.error) <= 0.1
    assert all(claimed[1.0] + claimed[1e4]) and np.mean(claimed[1e8]) > 0.7


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_beside_dense_solutions(dtype):
    rng = np.random.default_rng(1)
    eps = np.finfo(dtype).eps
    for m, n, ridge in ((5, 9, 0.0), (9, 5, 0.3), (1, 1, 0.0)):
        p, v = uneven(m, n, rng)
        v = (v * np.exp(1j * np.arange(p.nnz)) if dtype[0] == "c" else v).astype(dtype)
        a = Sparse(xnp.asarray(v), p)
        b = rng.normal(size=(m, 2)).astype(dtype)
        found = xc.linalg.lstsq(a, b, ridge=ridge, report=True)
        dense = xc.linalg.lstsq(
            a.todense().astype("complex128" if dtype[0] == "c" else "float64"), b, ridge=ridge
        )
        size = np.abs(dense).max(0)
        assert found.ok and found.value.dtype == dtype and found.value.shape == (n, 2)
        assert (
            (np.abs(found.value - dense).max(0) / size).max() <= found.certificate.error < 1e5 * eps
        )
        left = np.linalg.norm(a.to_scipy() @ np.asarray(found.value) - b, axis=0)
        np.testing.assert_allclose(found.certificate.residual, left, rtol=1e-3, atol=100 * eps)


@pytest.mark.parametrize("m, n, ridge", [(7, 4, 0.0), (4, 7, 0.0)])
def test_derivatives_and_batches(m, n, ridge):
    rng = np.random.default_rng(2)
    p, v = uneven(m, n, rng)
    v, b = xnp.asarray(v), xnp.asarray(rng.normal(size=m))

    def f(v, b, dense):
        a = Sparse(v, p)
        if dense:
            return xnp.sin(xc.linalg.lstsq(a.todense(), b, ridge=ridge)).sum()
        return xnp.sin(sparse.lstsq(a, b, ridge=ridge)).sum()

    slopes = [xc.jit(xc.grad(functools.partial(f, dense=d), argnums=(0, 1)))(v, b) for d in (0, 1)]
    for one, other in zip(*slopes, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)
    one = sparse.lstsq(Sparse(v, p), b[:, None], ridge=ridge)[:, 0]
    np.testing.assert_allclose(sparse.lstsq(Sparse(v, p), b, ridge=ridge), one, rtol=1e-12)
    many = v * xnp.asarray([[1.0], [2.0], [-1.0]])
    want = xnp.stack([sparse.lstsq(Sparse(x, p), b, ridge=0.1) for x in many])
    np.testing.assert_allclose(
        sparse.lstsq(Sparse(many, p), xnp.stack([b] * 3)[..., None], ridge=0.1)[..., 0],
        want,
        rtol=1e-12,
    )
    np.testing.assert_allclose(
        xc.vmap(lambda v: sparse.lstsq(Sparse(v, p), b, ridge=0.1))(many), want, rtol=1e-12
    )


def test_what_does_not_go_is_told():
    a = sparse.coo_array(([1.0, 1.0, 2.0, 2.0, 0.0], ([0, 0, 1, 1, 2], [0, 1, 0, 1, 1])), (3, 2))
    found = sparse.lstsq(a, np.ones(3), report=True)
    assert found.status in (Status.singular, Status.ill_conditioned)
    assert sparse.lstsq(a, np.ones(3), ridge=1.0, report=True).ok
    assert sparse.lstsq(a * np.nan, np.ones(3), report=True).status != 0
    for shape in ((0, 0), (3, 0), (0, 3)):
        none = sparse.coo_array(([], ([], [])), shape)
        assert sparse.lstsq(none, np.ones(shape[0])).shape == (shape[1],)
    with pytest.raises(xc.errors.ShapeError, match="n = 3"):
        sparse.lstsq(a, np.ones(2))
    with pytest.raises(ValueError, match="ridge"):
        sparse.lstsq(a, np.ones(3), ridge=-1.0)
    with pytest.raises(ValueError, match="lsmr"):
        xc.linalg.lstsq(xc.linalg.Diagonal(xnp.ones(3)), np.ones(3))
    with pytest.raises(ValueError, match="rank"):
        xc.linalg.lstsq(a, np.ones(3), rtol=0.1)


OPERATORS = {
    "laplacian": lambda g, c: Laplacian(g) * c[0, 0],
    "order 6": lambda g, c: Laplacian(g, order=6),
    "diffusion": lambda g, c: Diffusion(g, xnp.pad(c, 1, mode="edge")),
    "advection": lambda g, c: Advection(g, (c, -c)),
    "gradient": lambda g, c: Gradient(g),
    "divergence": lambda g, c: Divergence(g),
    "periodic": lambda g, c: Laplacian(g, Periodic()),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_of_grids_become_sparse(name):
    g = Grid((10, 9))
    c = np.random.default_rng(3).uniform(1, 2, (9, 8))
    with xc.enable_x64():
        make = functools.partial(OPERATORS[name], g)
        a = sparse.as_sparse(make(xnp.asarray(c)))
        dense = np.asarray(make(xnp.asarray(c)).as_matrix("float64"))
        np.testing.assert_allclose(a.todense(), dense, rtol=1e-12, atol=1e-10)
        assert a.nnz <= 1.3 * np.count_nonzero(abs(dense) > 1e-9) and a.dtype == "float64"
        if name in ("diffusion", "advection"):  # derivatives with respect to coefficients
            x = xnp.asarray(np.random.default_rng(4).normal(size=72))
            along = lambda f: xc.jit(xc.grad(lambda c: xnp.sin(f(make(c)) @ x).sum()))(
                xnp.asarray(c)
            )
            np.testing.assert_allclose(
                along(sparse.as_sparse), along(lambda op: op), rtol=1e-10, atol=1e-9
            )
