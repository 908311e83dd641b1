"""QR factors of sparse matrices: beside dense ones and exact arithmetic, over scales, ranks and conditions."""

import functools

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp

import xcore as xc
import xcore.numpy as xnp
from xcore import Status, sparse
from xcore.sparse import Sparse
from xcore.sparse._orthogonal import factors_of, pivots, plan_of, solved_together, upper_values


def drawn(m, n, rng, dtype="float64", density=0.25):
    """A matrix of full rank, some rows of which are empty where there are enough."""
    a = sp.random_array((m, n), density=density, rng=rng) + sp.eye_array(m, n)
    a = sp.csr_array(sp.diags_array(1.0 * ((np.arange(m) % 7 != 6) | (np.arange(m) < n))) @ a)
    a.eliminate_zeros()
    p = sparse.from_scipy(a).pattern
    v = rng.normal(size=p.nnz) + p.nnz * (p.rows == p.columns) / max(m, n)
    if np.dtype(dtype).kind == "c":
        v = v * np.exp(1j * rng.normal(size=p.nnz))
    return Sparse(xnp.asarray(v.astype(dtype)), p)


@pytest.mark.parametrize(
    "m, n, dtype",
    [(1, 1, "float32"), (90, 60, "complex128"), (9, 5, "complex64"), (5, 9, "float64")],
)
def test_beside_dense_factors(m, n, dtype):
    rng = np.random.default_rng(m)
    a = drawn(m, n, rng, dtype, density=min(0.25, 2 / n))
    dense, eps = a.to_scipy().toarray(), np.finfo(dtype).eps
    b = rng.normal(size=(m, 2)).astype(dtype)

    @xc.jit
    def run(a, b):
        f = sparse.factorise(a, "qr")
        return f.R, f.solve(b, report=True), f.full_rank

    upper, found, full = run(a, b)
    order = sparse.factorise(a, "qr").order
    gram = dense.conj().T @ dense if m >= n else dense @ dense.conj().T
    r = upper.to_scipy().toarray()
    assert (np.tril(r, -1) == 0).all() and (np.diagonal(r).real > 0).all()
    off = r.conj().T @ r - gram[np.ix_(order, order)]
    assert np.abs(off).max() <= 10 * eps * np.linalg.norm(dense, 2) ** 2
    exact = np.linalg.pinv(dense.astype("complex128")) @ b
    error = np.abs(found.value - exact).max() / np.abs(exact).max()
    assert found.ok and full and error <= found.certificate.error < 1e5 * eps
    assert found.value.dtype == dtype


def test_the_fronts_of_several_depths():
    """Of random patterns whose graph falls apart."""
    rng = np.random.default_rng(0)
    a = drawn(100, 70, rng, density=0.02)
    plan, dense = plan_of(a.pattern), a.to_scipy().toarray()
    assert len(plan.depths) > 2

    @xc.jit
    def run(v, top, below):
        f = factors_of(plan, v)
        return upper_values(plan, f), pivots(plan, f), *solved_together(plan, f, top, below)

    top, below = rng.normal(size=(100, 2)), rng.normal(size=(70, 2))
    upper, least, left, x = run(a.values, top, below)
    r = Sparse(upper, plan.upper).to_scipy().toarray()
    gram = (dense.T @ dense)[np.ix_(plan.order, plan.order)]
    np.testing.assert_allclose(r.T @ r, gram, atol=1e-12)
    np.testing.assert_allclose(np.asarray(least)[plan.order], r.diagonal())
    np.testing.assert_allclose(left + dense @ x, top, atol=1e-9)
    np.testing.assert_allclose(dense.T @ left, below, atol=1e-9)


def exact_of(a, b):
    a, b = mpmath.matrix(a.tolist()), mpmath.matrix(b.tolist())
    if a.rows < a.cols:
        return a.T * mpmath.lu_solve(a * a.T, b)
    return mpmath.lu_solve(a.T * a, a.T * b)


@pytest.mark.parametrize("m, n", [(14, 8), (8, 14)])
def test_no_claim_is_false(m, n):
    """Rows, columns and right sides of all sizes; conditions up to none at all."""
    rng = np.random.default_rng(m)
    a = drawn(m, n, rng)
    p, values, right, cases = a.pattern, [], [], []
    for scale in (1e-150, 1.0, 1e150):
        for condition in (1.0, 1e4, 1e8, 1e12, 1e16):
            for size, fits, of_rows in ((1e-100, 0, 1), (1.0, 1, 1), (1.0, 0, 0), (1e100, 1, 0)):
                count = m if of_rows else n
                weights = np.geomspace(1, 1 / condition, count)[rng.permutation(count)]
                v = rng.normal(size=p.nnz) * weights[p.rows if of_rows else p.columns] * scale
                dense = Sparse(xnp.asarray(v), p).to_scipy().toarray()
                b = dense @ rng.normal(size=n) / scale if fits else rng.normal(size=m)
                values.append(v)
                right.append(b * size)
                cases.append((condition, of_rows))
    run = lambda v, b: sparse.lstsq(Sparse(v, p), b, method="qr", report=True)
    found = xc.jit(xc.vmap(run))(np.stack(values), np.stack(right))
    good = np.asarray(found.ok)
    for i in np.flatnonzero(good):
        with mpmath.workdps(80):
            exact = exact_of(Sparse(xnp.asarray(values[i]), p).to_scipy().toarray(), right[i])
            off = max(abs(float(x) - e) for x, e in zip(found.value[i], exact, strict=True))
            off = float(off / max(abs(e) for e in exact))
        assert off <= float(found.certificate.error[i]) <= 0.1
    tame = [c <= 1e4 or (m > n) != of_rows for c, of_rows in cases]
    assert good[tame].mean() > 0.9


def test_as_accurate_as_dense_factors():
    """Of condition 1e10, by a column that is nearly a sum of others; of columns of graded sizes, too."""
    rng = np.random.default_rng(3)
    m, right = [], []
    for grade in (1.0, 1e-6):
        for fits in [True] * 5 + [False] * 5:
            one = drawn(30, 12, rng).to_scipy().toarray()
            one[:, 7] = one[:, [0, 3, 8]] @ [1.0, -2.0, 0.5] * (1 + 1e-10 * rng.normal(size=30))
            m.append(one * np.geomspace(1, grade, 12))
            right.append(m[-1] @ rng.normal(size=12) if fits else rng.normal(size=30))
    a, b = sparse.from_dense(np.stack(m)), np.stack(right)[..., None]
    found = xc.jit(lambda a, b: sparse.lstsq(a, b, method="qr", report=True))(a, b)
    errors = []
    for one, y, x in zip(m, right, found.value[..., 0], strict=True):
        assert np.linalg.cond(one / np.linalg.norm(one, axis=0)) > 1e9
        with mpmath.workdps(80):
            exact = np.array([float(x) for x in exact_of(one, y)])
        q, r = np.linalg.qr(one)
        both = np.asarray(x), np.linalg.solve(r, q.T @ y)
        errors.append([np.abs(x - exact).max() / np.abs(exact).max() for x in both])
    ours, theirs = np.array(errors).T
    assert (ours <= found.certificate.error).all()
    for k in range(0, 20, 5):  # alike in size and residual
        assert np.median(ours[k : k + 5]) <= 4 * np.median(theirs[k : k + 5])
        assert ours[k : k + 5].max() <= 8 * theirs[k : k + 5].max()


def test_ranks_that_are_not_full_are_told():
    rng = np.random.default_rng(4)
    m = []
    for scale in (1e-150, 1.0, 1e150):
        for kind in range(5):
            one = drawn(40, 15, rng).to_scipy().toarray()
            if kind == 0:
                one[:, 3] = 0
            elif kind == 1:  # two columns of one place
                one[:, [2, 5]] = 0
                one[7, [2, 5]] = 0.3
            elif kind == 2:  # fewer rows than columns
                one[14:] = 0
            elif kind == 3:
                one[:, 4] = one[:, [0, 6, 9]] @ [1 / 3, -0.7, 2.0]
            else:
                one[:, 4] = one[:, 5] / 3
            m.append(one * scale * np.geomspace(1, 1e-12, 15)[rng.permutation(15)])
    a, b = sparse.from_dense(np.stack(m)), rng.normal(size=40)

    @xc.jit
    def run(a):
        f = sparse.factorise(a, "qr")
        return f.solve(b[:, None], report=True), f.full_rank

    found, full = run(a)
    assert not np.asarray(found.ok).any() and not np.asarray(full).any()
    assert np.isin(found.status, [int(Status.singular), int(Status.ill_conditioned)]).all()
    assert (np.asarray(found.status) == int(Status.singular)).mean() > 0.5


@pytest.mark.parametrize("m, n", [(7, 4), (4, 7)])
def test_derivatives_and_batches(m, n):
    rng = np.random.default_rng(2)
    a = drawn(m, n, rng)
    v, b = a.values, xnp.asarray(rng.normal(size=m))

    def f(v, b, dense):
        x = (
            xc.linalg.lstsq(a.like(v).todense(), b)
            if dense
            else sparse.factorise(a.like(v), "qr").solve(b)
        )
        return xnp.sin(x).sum()

    slopes = [xc.jit(xc.grad(functools.partial(f, dense=d), (0, 1)))(v, b) for d in (0, 1)]
    for one, other in zip(*slopes, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)
    many = v * xnp.asarray([[1.0], [2.0], [-1.0]])
    factors = sparse.factorise(a.like(many), "qr")
    assert factors.shape == (3, n, m) and factors.R.shape == (3, min(m, n), min(m, n))
    got = factors.solve(b[:, None])[..., 0]
    want = np.stack([np.linalg.pinv(a.like(x).to_scipy().toarray()) @ b for x in many])
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)
    weight = xnp.asarray(0.3)
    by = lambda method: lambda r: xnp.sin(sparse.lstsq(a, b, ridge=r, method=method)).sum()
    one, other = (xc.value_and_grad(by(method))(weight) for method in ("qr", "lu"))
    np.testing.assert_allclose(one, other, rtol=1e-9)
    c = xnp.asarray(rng.normal(size=n))
    np.testing.assert_allclose(
        sparse.factorise(a, "qr").T @ c,
        np.linalg.pinv(a.to_scipy().toarray()).T @ c,
        rtol=1e-9,
        atol=1e-12,
    )


def test_what_does_not_go_is_told():
    a = sparse.coo_array(([1.0, 1.0, 2.0, 2.0, 0.0], ([0, 0, 1, 1, 2], [0, 1, 0, 1, 1])), (3, 2))
    with pytest.raises(xc.errors.SingularMatrixError):
        sparse.factorise(a, "qr").solve(np.ones(3))
    assert sparse.lstsq(a, np.ones(3), ridge=1.0, method="qr", report=True).ok
    assert (
        sparse.lstsq(a * np.nan, np.ones(3), method="qr", report=True).status == Status.not_finite
    )
    for shape in ((0, 0), (3, 0), (0, 3)):
        none = sparse.coo_array(([], ([], [])), shape)
        f = sparse.factorise(none, "qr")
        assert f.solve(np.ones(shape[0])).shape == (shape[1],) and f.full_rank
        assert f.R.shape == (0, 0)
    with pytest.raises(xc.errors.ShapeError, match="n = 3"):
        sparse.factorise(a, "qr").solve(np.ones(2))
    with pytest.raises(ValueError, match="method"):
        sparse.lstsq(a, np.ones(3), method="svd")
    hub = sparse.coo_array((np.ones(20_000), (np.zeros(20_000, int), np.arange(20_000))))
    with pytest.raises(ValueError, match="nearly full"):
        sparse.factorise(sparse.vstack([hub, sparse.eye_array(20_000)]), "qr")


@pytest.mark.parametrize("shape", [(1, 1), (6, 3), (3, 6)])
def test_the_rank_of_zeros_is_not_full(shape):
    stored = sparse.from_dense(xnp.zeros(shape), sparse.Pattern(*np.nonzero(np.ones(shape)), shape))
    for a in (
        sparse.csr_array(shape),
        stored,
        sparse.eye_array(*shape, k=1 if shape[0] >= shape[1] else -1),
    ):
        assert not sparse.factorise(a, "qr").full_rank


@pytest.mark.parametrize("method", ["lu", "qr"])
@pytest.mark.parametrize("scale", [1e300, 1e-290])
def test_claims_of_tiny_solutions_do_not_vanish(method, scale):
    with xc.enable_x64():
        a = np.random.default_rng(0).normal(size=(10, 4))
        found = sparse.lstsq(sparse.from_dense(a * scale), np.ones(10), method=method, report=True)
        exact = np.linalg.lstsq(a, np.ones(10))[0]
        error = np.abs(np.asarray(found.value) * scale - exact).max() / np.abs(exact).max()
        assert found.ok and error < 1e-14 and 1e-16 < float(found.certificate.error) < 1e-11
