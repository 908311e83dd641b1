"""Multifrontal Cholesky factors: solutions, determinants, parts of the inverse, in batches, with derivatives."""

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp

import xcore as xc
import xcore.numpy as xnp
from xcore import Status, sparse
from xcore.sparse import Sparse, _cholesky, _column_kernels
from xcore.sparse._dissection import dissected

rng = np.random.default_rng(0)


def line(n):
    return sp.diags_array([-1.0, 2.1, -1.0], offsets=[-1, 0, 1], shape=(n, n))


def grid(n):
    return sp.csr_array(sp.kronsum(line(n), line(n)))


def network(n, density):
    r = sp.random_array((n, n), density=density, rng=rng)
    r = abs(r + r.T)
    return sp.csr_array(sp.diags_array(r.sum(1) + 0.1) - r)


MATRICES = {
    "one": grid(1), "grid": grid(13), "network": network(120, 0.02), "dense": network(50, 0.9),
    "apart": sp.csr_array(sp.block_diag([grid(5), grid(3), 2 * np.eye(60), network(40, 0.1)])),
    "arrow": sp.csr_array(sp.diags_array(np.r_[np.full(80, 2.0), 90.0]) + sp.csr_array(
        (np.ones(160), (np.r_[np.full(80, 80), np.arange(80)], np.r_[np.arange(80), np.full(80, 80)])))),
    "chain": sp.csr_array(line(301)),
}  # fmt: skip


@pytest.mark.parametrize("name", MATRICES)
def test_solutions_determinants_and_inverses(name):
    a = MATRICES[name]
    s, n = sparse.from_scipy(a), a.shape[0]
    nodes = dissected(s.pattern)
    assert sorted(np.concatenate([x.pivots for x in nodes])) == list(range(n))
    assert max(x.depth for x in nodes) < 10
    b = rng.normal(size=(n, 2))

    @xc.jit
    def all_of(s, b):
        f = sparse.factorise(s, "cholesky")
        return f.solve(b, report=True), f.logdet(), f.inverse()

    found, logdet, inverse = all_of(s, b)
    exact = np.linalg.solve(a.toarray(), b)
    error = np.abs(found.value - exact).max(0) / np.abs(exact).max(0)
    assert found.ok and error.max() <= found.certificate.error + 1e-15 < 1e-10
    np.testing.assert_allclose(logdet, np.linalg.slogdet(a.toarray())[1], rtol=1e-12)
    p = inverse.pattern
    np.testing.assert_allclose(
        inverse.values, np.linalg.inv(a.toarray())[p.rows, p.columns], rtol=1e-9, atol=1e-13
    )


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_other_dtypes(dtype):
    a = grid(7).toarray().astype(dtype)
    if dtype[0] == "c":
        turn = np.exp(1j * np.arange(49))
        a = turn[:, None] * a * turn.conj()
    f = sparse.factorise(sparse.from_dense(a), "cholesky")
    b = rng.normal(size=49).astype(dtype)
    x = f.solve(b)
    eps = 100 * np.finfo(dtype).eps
    assert x.dtype == dtype
    np.testing.assert_allclose(a @ np.asarray(x), b, rtol=eps, atol=10 * eps)
    assert not dtype[0] == "c" or f.logdet().dtype == "float64"
    np.testing.assert_allclose(f.logdet(), np.linalg.slogdet(a)[1], rtol=eps)
    p = f.a.pattern
    np.testing.assert_allclose(
        f.inverse().values, np.linalg.inv(a)[p.rows, p.columns], rtol=20 * eps, atol=eps
    )
    slope = xc.grad(lambda b: xnp.abs(f.solve(b)).sum())(xnp.asarray(b))
    dense = xc.grad(lambda b: xnp.abs(xnp.linalg.solve(a, b)).sum())(xnp.asarray(b))
    np.testing.assert_allclose(slope, dense, rtol=100 * eps, atol=10 * eps)


def test_derivatives_to_second_order_and_batches():
    a = sparse.from_scipy(grid(5))
    p, b = a.pattern, rng.normal(size=(25, 2))
    turn = p.order
    with xc.enable_x64():

        def f(v, b, dense):
            v = (v + v[turn]) / 2
            m = Sparse(v, p)
            if dense:
                m = m.todense()
                return xnp.linalg.slogdet(m)[1] + xnp.sin(xnp.linalg.solve(m, b)).sum()
            c = sparse.factorise(m, "cholesky")
            return c.logdet() + xnp.sin(c.solve(b)).sum()

        v, b = xnp.asarray(a.values), xnp.asarray(b)
        d = xnp.asarray(rng.normal(size=p.nnz)) / 20
        along = lambda dense: xc.jit(
            lambda v: xc.jvp(xc.grad(lambda v: f(v, b, dense)), (v,), (d,))
        )
        for one, other in zip(along(False)(v), along(True)(v), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)
        many = v * xnp.asarray([[1.0], [2.0], [4.0]])
        mapped = xc.jit(xc.vmap(lambda v: f(v, b, False)))(many)
        np.testing.assert_allclose(mapped, [f(v, b, True) for v in many], rtol=1e-11)
        batch = sparse.factorise(Sparse(many, p), "cholesky")
        assert batch.logdet().shape == (3,) and batch.ok.shape == (3,)
        np.testing.assert_allclose(
            batch.solve(b), batch.solve(b)[0] / np.array([1, 2, 4.0])[:, None, None], rtol=1e-11
        )
        assert batch.solve(b, report=True).ok.all()


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_no_claim_is_false(scale):
    for condition in (1e3, 1e9, 1e15):
        n = 16
        q = sp.random_array((n, n), density=0.06, rng=rng) + sp.eye_array(n)
        a = (q @ sp.diags_array(np.geomspace(1, 1 / condition, n)) @ q.T).toarray() * scale
        a = (a + a.T) / 2
        b = a @ rng.normal(size=n)
        found = sparse.factorise(sparse.from_dense(a), "cholesky").solve(b, report=True)
        assert found.ok or condition > 1e8
        if found.ok:
            with mpmath.workdps(60):
                exact = mpmath.lu_solve(mpmath.matrix(a.tolist()), mpmath.matrix(b.tolist()))
                size = max(abs(x) for x in exact)
                error = (
                    max(
                        abs(mpmath.mpf(float(x)) - e)
                        for x, e in zip(found.value, exact, strict=True)
                    )
                    / size
                )
            assert error <= float(found.certificate.error)


def test_what_is_not_definite_is_told():
    a = sparse.from_scipy(grid(6) - 3 * sp.eye_array(36))
    f = sparse.factorise(a, "cholesky")
    assert not f.ok and np.isnan(f.logdet())
    assert f.solve(np.ones(36), report=True).status == Status.not_definite
    with pytest.raises(xc.errors.SingularMatrixError):
        f.solve(np.ones(36))
    zero = sparse.factorise(sparse.coo_array((3, 3)), "cholesky")
    assert not zero.solve(np.ones(3), report=True).ok
    empty = sparse.factorise(sparse.coo_array((0, 0)), "cholesky")
    assert empty.logdet() == 0 and empty.solve(np.ones(0)).shape == (0,)


def test_many_unknowns():
    a = grid(50)
    b = rng.normal(size=2500)
    with xc.enable_x64():
        f = sparse.factorise(sparse.from_scipy(a), "cholesky")
        np.testing.assert_allclose(a @ np.asarray(f.solve(b)), b, rtol=1e-9, atol=1e-11)
        lu = sp.linalg.splu(sp.csc_array(a))
        np.testing.assert_allclose(f.logdet(), np.log(np.abs(lu.U.diagonal())).sum(), rtol=1e-12)


def hermitian(n, dtype):
    a = grid(n).astype(dtype)
    if dtype[0] == "c":
        turn = sp.diags_array(np.exp(1j * np.arange(n * n)))
        a = sp.csr_array(turn @ a @ turn.conj())
    return a


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("kept", [1 << 18, 0], ids=["tables in programs", "tables beside them"])
def test_batches_of_any_size(dtype, kept, monkeypatch):
    """Few go through at once, many in chunks that cores share; of one matrix right sides are columns."""
    monkeypatch.setattr(_column_kernels, "_CONSTANT", kept)
    a = hermitian(4 if kept else 5, dtype)
    s, n, lead = sparse.from_scipy(a), a.shape[0], (2, 3)
    b = rng.normal(size=n).astype(dtype)
    scales = rng.uniform(1, 2, 70 if kept else 5).astype(dtype)
    f = xc.jit(lambda t, b: sparse.factorise(s.like(s.values * t), "cholesky").solve(b))
    tol = 300 * np.finfo(dtype).eps
    exact = np.linalg.solve(a.toarray(), b)
    several = xc.vmap(f, (0, None))(scales, b)
    np.testing.assert_allclose(several, exact / scales[:, None], rtol=tol, atol=tol)
    nested = xc.vmap(xc.vmap(f, (0, None)), (None, 0))(scales[:2], np.stack([b, 2 * b, 3 * b]))
    expected = exact / scales[:2, None] * np.arange(1, 4, dtype=dtype)[:, None, None]
    np.testing.assert_allclose(nested, expected, rtol=tol, atol=tol)
    one = sparse.factorise(s, "cholesky")
    right = xc.vmap(xc.vmap(one.solve))(np.broadcast_to(b, (*lead, n)))
    np.testing.assert_allclose(right, np.broadcast_to(exact, (*lead, n)), rtol=tol, atol=tol)


def test_each_matrix_of_a_batch_has_its_status():
    a = sparse.from_scipy(grid(6))
    values = a.values * xnp.ones((100, 1))
    d = a.pattern.find(np.arange(36), np.arange(36))
    bad = rng.choice(100, 30, replace=False)
    values = values.at[bad[:, None], d[rng.integers(0, 36, 30)][:, None]].set(-1.0)
    f = sparse.factorise(a.like(values), "cholesky")
    found = f.solve(np.ones(36), report=True)
    expected = ~np.isin(np.arange(100), bad)
    np.testing.assert_array_equal(found.ok, expected)
    np.testing.assert_array_equal(f.ok, expected)
    assert (np.asarray(found.status)[bad] == Status.not_definite).all()


def test_by_fronts_as_by_columns(monkeypatch):
    """Elsewhere than on a CPU."""
    s, b = sparse.from_scipy(grid(6)), rng.normal(size=(36, 2))
    columns = sparse.factorise(s, "cholesky")
    monkeypatch.setattr(_cholesky, "on_cpu", lambda: False)
    xc.clear_caches()
    s.pattern._kept.clear()
    fronts = sparse.factorise(s, "cholesky")
    assert isinstance(fronts.factors, list)
    np.testing.assert_allclose(fronts.solve(b), columns.solve(b), rtol=1e-11)
    found = sparse.factorise(s.like(s.values * xnp.ones((2, 1))), "cholesky").solve(b, report=True)
    assert found.ok.all()
    np.testing.assert_allclose(fronts.logdet(), columns.logdet(), rtol=1e-12)


@pytest.mark.parametrize("by", [0, 20, 300])
def test_sizes_over_the_whole_range_are_claimed_and_no_claim_is_false(by):
    with xc.enable_x64():
        claims = 0
        for seed in range(10):
            rng, n = np.random.default_rng(seed), 12
            low = np.tril(rng.integers(-2, 3, (n, n)) * (rng.random((n, n)) < 0.3), -1) + np.eye(n)
            sizes = 2.0 ** rng.integers(-by, by + 1, n)
            x = rng.integers(1, 9, n) / sizes
            a = sizes[:, None] * (low @ low.T) * sizes  # exact, as b is
            b = sizes * (low @ (low.T @ (x * sizes)))
            found = sparse.factorise(sparse.from_dense(a), "cholesky").solve(b, report=True)
            error = np.abs(np.asarray(found.value) - x).max() / np.abs(x).max()
            assert not found.ok or error <= float(np.max(found.certificate.error))
            claims += bool(found.ok)
        assert claims == 10
        far = sparse.diags_array([[1e-200, 1.0, 1e200]], offsets=[0])
        found = sparse.factorise(far, "cholesky").solve([1.0, 1.0, 1.0], report=True)
        np.testing.assert_allclose(found.value, [1e200, 1, 1e-200], rtol=1e-14)
        assert found.ok
