"""Direct solutions: right beside SciPy's, with true certificates and the derivatives of dense solutions."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import xcore as xc
import xcore.numpy as xnp
import xcore.scipy.sparse.linalg as splinalg
from xcore import Status, sparse
from xcore.errors import SingularMatrixError
from xcore.sparse import Sparse, _superlu


def grid(n, dtype="float64", skew=0.0):
    """Differences on n by n points."""
    line = sp.diags_array([-1.0 - skew, 2.0, -1.0 + skew], offsets=[-1, 0, 1], shape=(n, n))
    return sp.csr_array(sp.kronsum(line, line)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("skew", [0.0, 0.4])
def test_solutions(dtype, skew):
    a = grid(12, dtype, skew)
    b = np.random.default_rng(0).normal(size=(144, 3)).astype(dtype)
    found = sparse.solve(sparse.from_scipy(a), b, report=True)
    exact = np.linalg.solve(a.toarray().astype("complex128"), b)
    error = np.abs(found.value - exact).max(0) / np.abs(exact).max(0)
    assert found.ok and found.value.dtype == dtype
    assert error.max() <= found.certificate.error
    assert found.certificate.error < 1e4 * np.finfo(dtype).eps
    np.testing.assert_array_equal(sparse.solve(sparse.from_scipy(a), b[:, 0]), found.value[:, 0])


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("condition", [1e2, 1e8, 1e14, 1e18])
def test_no_claim_is_false(condition, scale):
    rng = np.random.default_rng(int(np.log10(condition)))
    n = 30
    q = sp.random_array((n, n), density=0.1, rng=rng) + sp.eye_array(n)
    a = sp.csr_array(q @ sp.diags_array(np.geomspace(1, 1 / condition, n)) @ q.T) * scale
    x = rng.normal(size=n)
    b = (a.toarray().astype("longdouble") @ x).astype("float64")
    found = sparse.solve(sparse.from_scipy(a), b, report=True)
    assert found.ok or condition > 1e9  # else nothing would be claimed
    if found.ok:
        import mpmath as mp

        with mp.workdps(80):
            exact = mp.lu_solve(mp.matrix(a.toarray().tolist()), mp.matrix(b.tolist()))
            size = max(abs(v) for v in exact)
            error = (
                max(abs(mp.mpf(float(v)) - e) for v, e in zip(found.value, exact, strict=True))
                / size
            )
        assert error <= float(found.certificate.error)


def test_singular_matrices_are_told():
    a = sparse.diags_array([[1.0, 0.0, 2.0]], offsets=[0])
    assert sparse.solve(a, xnp.ones(3), report=True).status == Status.singular
    with pytest.raises(xc.errors.SingularMatrixError):
        sparse.solve(a, xnp.ones(3))
    empty_row = sparse.coo_array(([1.0], ([0], [0])), shape=(2, 2))
    assert not sparse.solve(empty_row, xnp.ones(2), report=True).ok
    nan = sparse.eye_array(2) * xnp.nan
    assert not sparse.solve(nan, xnp.ones(2), report=True).ok


def test_derivatives_and_batches():
    a = sparse.from_scipy(grid(4, skew=0.3))
    p, b = a.pattern, np.random.default_rng(0).normal(size=(16, 2))

    def loss(v, b, dense):
        m = Sparse(v, p)
        x = xnp.linalg.solve(m.todense(), b) if dense else sparse.solve(m, b)
        return xnp.sin(x).sum()

    with xc.enable_x64():
        v, b = xnp.asarray(a.values), xnp.asarray(b)
        for f in (
            xc.grad(loss, (0, 1)),
            lambda v, b, d: xc.jvp(lambda v, b: loss(v, b, d), (v, b), (v**2, b)),
        ):
            for one, other in zip(
                xc.tree.leaves(f(v, b, False)), xc.tree.leaves(f(v, b, True)), strict=True
            ):
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)
        h = xc.hessian(loss, 0)
        np.testing.assert_allclose(h(v, b, False), h(v, b, True), rtol=1e-8, atol=1e-10)
        many = v * xnp.asarray([1.0, 2.0, 4.0])[:, None]
        batch = sparse.solve(Sparse(many, p), b[:, 0])
        one = sparse.solve(a, b[:, 0])
        np.testing.assert_allclose(batch, one / np.array([[1.0], [2.0], [4.0]]), rtol=1e-12)
        mapped = xc.jit(xc.vmap(lambda v: sparse.solve(Sparse(v, p), b[:, 0])))(many)
        np.testing.assert_allclose(mapped, batch, rtol=1e-12)
        both = sparse.solve(Sparse(many, p), b, report=True)
        assert both.ok.shape == (3,) and both.ok.all()


def test_incomplete_factors_precondition():
    a = sparse.from_scipy(grid(20, skew=0.3))
    b = np.random.default_rng(0).normal(size=400)
    plain = xc.linalg.linear_solve(a, b, xc.linalg.BiCGStab(rtol=1e-9), report=True)
    better = xc.linalg.linear_solve(
        a,
        b,
        xc.linalg.BiCGStab(rtol=1e-9),
        preconditioner=sparse.factorise(a, "ilu", drop_tol=1e-3),
        report=True,
    )
    assert better.ok and better.steps < plain.steps / 3


def _scaled(seed, rows_by, columns_by):
    """(matrix, solution, right side), exact: small integers, near to singular or not, with rows and columns in units
    of powers of two."""
    rng, n = np.random.default_rng(seed), 16
    a = rng.integers(-3, 4, (n, n)) * (rng.random((n, n)) < rng.choice([0.2, 0.5, 1.0]))
    a = a.astype(float) + np.diag(rng.integers(1, 9, n))
    if seed % 3 == 1:
        a[1] = a[0]
        a[1, 0] += 2.0 ** -rng.integers(5, 45)
    if seed % 3 == 2:
        a[:, 1] = a[:, 0]
        a[0, 1] += 2.0 ** -rng.integers(5, 45)
    y = rng.integers(-9, 10, n).astype(float)
    rows, columns = (2.0 ** rng.integers(-by, by + 1, n) for by in (rows_by, columns_by))
    order = rng.permutation(n)
    return (rows[:, None] * a * columns)[order], y / columns, (rows * (a @ y))[order]


@pytest.mark.parametrize("rows_by, columns_by", [(0, 0), (100, 0), (0, 20), (60, 100), (300, 0)])
def test_sizes_of_rows_take_no_digits_and_no_claim_is_false(rows_by, columns_by):
    pattern = sparse.Pattern(*np.nonzero(np.ones((16, 16))), (16, 16))
    claims = {}
    with xc.enable_x64():
        for by in (0, rows_by):
            for seed in range(40):
                a, x, b = _scaled(seed, by, columns_by)
                found = sparse.solve(sparse.from_dense(a, pattern), b, report=True)
                error = np.abs(np.asarray(found.value) - x).max() / max(np.abs(x).max(), 1e-300)
                if bool(found.ok):
                    assert error <= float(np.max(found.certificate.error))
                    claims[by] = claims.get(by, 0) + 1
    assert claims[rows_by] >= claims[0] - 2


FAR = [(0, 0), (400, 0), (0, 400), (300, 300), (500, 400)]  # exponents of two


@pytest.mark.parametrize("rows_by, columns_by", FAR)
def test_sizes_over_the_whole_range_are_claimed_and_no_claim_is_false(rows_by, columns_by):
    pattern = sparse.Pattern(*np.nonzero(np.ones((16, 16))), (16, 16))
    claims = 0
    with xc.enable_x64():
        for seed in range(20):
            a, x, b = _scaled(seed, rows_by, columns_by)
            found = sparse.solve(sparse.from_dense(a, pattern), b, report=True)
            error = np.abs(np.asarray(found.value) - x).max() / np.abs(x).max()
            assert not found.ok or error <= float(np.max(found.certificate.error))
            claims += bool(found.ok)
        plain = sum(
            bool(sparse.solve(sparse.from_dense(a, pattern), b, report=True).ok)
            for a, _, b in (_scaled(seed, 0, 0) for seed in range(20))
        )
    assert claims >= plain - 2


@pytest.mark.parametrize(
    "dtype, far", [("float32", 1e30), ("float64", 1e200), ("complex128", 1e200)]
)
def test_diagonals_over_the_whole_range(dtype, far):
    with xc.enable_x64():
        d = np.array([1 / far, 1, far]).astype(dtype)
        a = sparse.diags_array([d], offsets=[0])
        for b in (np.ones(3), np.array([1 / far, 1, far]), np.zeros(3)):
            found = sparse.solve(a, b.astype(dtype), report=True)
            np.testing.assert_allclose(found.value, b / d, rtol=1e-6)
            assert found.ok and found.certificate.error < 1e-5
        loss = lambda v, b: (sparse.solve(a.like(v), b)[1:] ** 2).sum().real
        slopes = xc.grad(loss, (0, 1))(a.values, xnp.ones(3, dtype))
        np.testing.assert_allclose(slopes[0][1], -2, rtol=1e-6)
        np.testing.assert_allclose(slopes[1][1], 2, rtol=1e-6)
        many = sparse.solve(
            a.like(xnp.stack([a.values, xnp.ones(3, dtype)])), xnp.ones(3, dtype), report=True
        )
        assert many.ok.all()
        np.testing.assert_allclose(many.value, [1 / d, [1, 1, 1]], rtol=1e-6)


def test_solutions_out_of_range_are_no_success():
    with xc.enable_x64():
        a = sparse.diags_array([[1e-200, 1.0, 1e200]], offsets=[0])
        assert sparse.solve(a, [1e200, 1.0, 1.0], report=True).status == Status.not_finite
        assert not sparse.solve(a, [0.0, 0.0, 1e-150], report=True).ok


def test_solutions_can_be_transposed():
    a = sparse.diags_array([[1.0, -1.0], [2.0, 3.0, 4.0]], offsets=[-1, 0])
    back = xc.linear_transpose(lambda b: sparse.solve(a, b), xnp.ones(3))
    np.testing.assert_allclose(*back(xnp.ones(3)), sparse.solve(a.T, xnp.ones(3)), rtol=1e-6)


# Threads of BLAS while SuperLU works, which asks for small products


@pytest.mark.parametrize(
    "a", [[[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]], [[0, 1.0, 0], [1, 0, 2], [0, 2, 0]]]
)
def test_incomplete_factors_of_singular_matrices_are_refused(a):
    a = sparse.from_dense(np.array(a))
    m = sparse.factorise(a, "ilu")
    for solve in (lambda b: m @ b, m.solve, splinalg.spilu(a).solve):
        with pytest.raises(SingularMatrixError, match="a pivot vanishes"):
            solve(np.ones(a.shape[0]))
    assert np.isnan(xc.jit(lambda b: m @ b)(np.ones(a.shape[0]))).all()


def test_factors_are_made_on_one_thread_of_blas(monkeypatch):
    blas = _superlu._blas()
    if blas is None:
        pytest.skip("SciPy's BLAS cannot be told how many threads to take")
    get, put = blas
    before, seen = get(), []
    two = sp.csc_array(2.0 * sp.eye_array(3) + 1j * sp.eye_array(3))
    for name in ("splu", "spilu"):
        make = getattr(sla, name)
        monkeypatch.setattr(
            sla, name, lambda *a, make=make, **k: (seen.append(get()), make(*a, **k))[1]
        )
    try:
        put(2)
        assert np.allclose(_superlu.superlu(two).solve(np.ones(3, complex)), 1 / (2 + 1j))
        _superlu.superlu(two, incomplete=True)
        assert _superlu.superlu(sp.csc_array((3, 3))) is None
        with _superlu.one_thread(), _superlu.one_thread():
            seen.append(get())
        assert seen == [1, 1, 1, 1] and get() == 2
    finally:
        put(before)


def test_where_blas_has_no_threads_factors_are_made_as_well(monkeypatch):
    monkeypatch.setattr(_superlu, "_NAMES", ("no_such_{}_function",))
    _superlu._blas.cache_clear()
    try:
        assert _superlu._blas() is None
        assert np.allclose(
            _superlu.superlu(sp.csc_array(2 * sp.eye_array(3))).solve(np.ones(3)), 0.5
        )
    finally:
        _superlu._blas.cache_clear()


KINDS = {
    "host": {}, "device": {"on": "device"}, "cholesky": {"kind": "cholesky"}, "ldl": {"kind": "ldl"},
    "qr": {"kind": "qr"},
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_no_right_sides_have_no_solutions(kind):
    a = sparse.csr_array(
        np.diag([2.0, 3.0, 4.0]) + np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1)
    )
    factors = sparse.factorise(a, **KINDS[kind])
    assert factors.solve(np.ones((3, 0))).shape == (3, 0)
    told = factors.solve(np.ones((3, 0)), report=True)
    assert told.value.shape == (3, 0) and bool(told.ok)


@pytest.mark.parametrize("n", [3, 6, 12, 40])
def test_structurally_singular_matrices_are_told(n):
    """Of which SuperLU says, for some sizes, that it failed at a line of its source."""
    a = np.zeros((n, n))
    a[:, 0] = a[0, :] = 1
    s, b = sparse.from_dense(a), xnp.ones(n)
    assert sparse.solve(s, b, report=True).status == xc.Status.singular
    assert sparse.factorise(s).slogdet()[0] == 0
    for f in (lambda: sparse.solve(s, b), lambda: xc.scipy.sparse.linalg.spsolve(s, b)):
        with pytest.raises(xc.errors.SingularMatrixError):
            f()
    good = sparse.Sparse(xnp.ones(s.nnz), s.pattern) + 4 * sparse.eye_array(n)
    values = xnp.stack([good.values, 2 * good.values])
    status = xc.vmap(lambda v: sparse.solve(good.like(v), b, report=True).status)(values)
    assert status.tolist() == [0, 0]
