"""Eigenvalues of matrices without symmetry beside dense ones; statuses that are true; derivatives."""

import numpy as np
import pytest
import scipy.sparse as sp

import xcore as xc
import xcore.numpy as xnp
from xcore import sparse
from xcore.sparse import Sparse

rng = np.random.default_rng(0)


def current(n, skew=0.3):
    line = lambda s: sp.diags_array([-1.0 - s, 2.0, -1.0 + s], offsets=[-1, 0, 1], shape=(n, n))
    return sp.csr_array(sp.kronsum(line(skew), 1.3 * line(0.1)))


def wanted(w, which, k, real=True):
    part = (lambda w: np.abs(w.imag)) if real else (lambda w: w.imag)
    merit = {
        "LM": np.abs,
        "SM": lambda w: -np.abs(w),
        "LR": np.real,
        "SR": lambda w: -w.real,
        "LI": part,
    }
    return w[np.argsort(-merit[which](w), kind="stable")][:k]


def near(found, exact, tol):
    """Whether each one found is one of these."""
    return np.abs(np.asarray(found)[:, None] - exact).min(1).max() <= tol


@pytest.mark.parametrize("which", ["LM", "LR", "SR", "LI"])
def test_values_and_vectors(which):
    a = sp.random_array((60, 60), density=0.2, rng=rng).toarray() - 0.3 * np.eye(60)
    exact = np.linalg.eigvals(a)
    with xc.enable_x64():
        found = sparse.eigs(sparse.from_dense(a), 4, which=which, report=True)
    w, v = (np.asarray(x) for x in found.value)
    assert found.ok and near(w, exact, 1e-9)
    np.testing.assert_allclose(np.linalg.norm(v, axis=0), 1, rtol=1e-12)
    left = np.linalg.norm(a @ v - v * w, axis=0)
    assert (left <= found.certificate.residual).all() and (
        left <= 2e-11 * np.linalg.norm(a, 2)
    ).all()
    whole = wanted(exact, which, 4)
    pairs = {"LM": np.abs, "LR": np.real, "SR": np.real, "LI": lambda w: np.abs(w.imag)}[which]
    np.testing.assert_allclose(pairs(w), pairs(whole), rtol=1e-9)


def test_shifts_by_sparse_factors():
    a = current(12)
    exact = np.linalg.eigvals(a.toarray())
    with xc.enable_x64():
        for sigma in (0.9, 2.0 + 0.5j):
            found = sparse.eigs(a, 3, sigma=sigma, report=True)
            best = exact[np.argsort(abs(exact - sigma))[:3]]
            assert found.ok
            np.testing.assert_allclose(
                np.abs(found.value[0] - sigma), np.abs(best - sigma), rtol=1e-8
            )
            dense = xc.linalg.as_operator(xnp.asarray(a.toarray()))
            np.testing.assert_allclose(
                sparse.eigs(dense, 3, sigma=sigma)[0], found.value[0], atol=1e-8
            )
        h = sparse.from_scipy(current(12, 0.0) + current(12, 0.0).T).replace(symmetric=True)
        w, _ = xc.linalg.eigsh(h, 3, sigma=0.0)
        np.testing.assert_allclose(w, np.linalg.eigvalsh(np.asarray(h.todense()))[:3], rtol=1e-10)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128"])
def test_no_claim_is_false(dtype, scale):
    """Jordan blocks, rotations, nothing but zeros, and too few restarts."""
    n = 30
    jordan = np.eye(n) + np.eye(n, k=1)
    turns = np.roll(np.eye(n), 1, axis=0)
    for a in (jordan, turns, np.diag(np.r_[np.ones(n - 1), 2.0]), np.triu(rng.normal(size=(n, n)))):
        a = (a * scale).astype(dtype)
        for maxiter in (1, 30):
            found = sparse.eigs(a, 3, ncv=8, maxiter=maxiter, report=True)
            w, v = (np.asarray(x).astype("complex128") for x in found.value)
            left = np.linalg.norm(a.astype("complex128") @ v - v * w, axis=0)
            if found.ok:
                assert (left <= found.certificate.residual).all()
                assert (
                    left <= 2 * np.finfo(dtype).eps ** 0.75 * np.linalg.norm(a / scale, 2) * scale
                ).all()
    zero = sparse.eigs(sparse.coo_array((5, 5), dtype=dtype), 2, report=True)
    assert zero.ok and not np.abs(zero.value[0]).any()
    diagonal = sparse.eigs(sparse.diags_array(np.arange(1.0, 31)), 3, report=True)
    assert diagonal.ok  # of an easy one something must be claimed


ENDS = {
    "float32": (1, 1e-20, 1e-37, 1e36), "complex64": (1, 1e-37, 1e36),
    "float64": (1, 1e-160, 1e-306, 1e305), "complex128": (1, 1e-306, 1e305),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ENDS)
@pytest.mark.parametrize("sigma", [None, 0.9])
def test_residuals_are_told_at_the_ends_of_the_range(dtype, sigma):
    """Where squares, or residuals themselves, are below it; beside wider numbers."""
    n, k = 9, 2
    draw = lambda: rng.normal(size=(n, n))
    families = [
        draw(), draw() + 10 * np.eye(n), np.eye(n), np.eye(n) + np.eye(n, k=1), np.eye(n, k=1), np.triu(draw()),
        np.roll(np.eye(n), 1, axis=0), np.diag(10.0 ** -np.arange(n)) @ draw(), np.outer(*rng.normal(size=(2, n))),
        0 * draw(),
    ]  # fmt: skip
    a = np.stack([(s * f).astype(dtype) for s in ENDS[dtype] for f in families])
    scales = np.repeat(np.array(ENDS[dtype]), len(families)).astype(a.real.dtype)

    def run(a, scale):
        return sparse.eigs(a, k, sigma=sigma and sigma * scale, report=True)

    found = xc.jit(xc.vmap(run))(a, scales)
    w, v = (np.asarray(x).astype(np.clongdouble) for x in found.value)
    units = scales.astype(np.longdouble)[:, None, None]
    left = a.astype(np.clongdouble) / units @ v - v * (w[:, None] / units)
    left = np.linalg.norm(left, axis=1).astype(float)
    size = np.linalg.norm((a.astype(np.clongdouble) / units).astype(complex), 2, axis=(1, 2))
    ok = np.asarray(found.ok)
    told = np.asarray(found.certificate.residual).astype(np.longdouble) / units[:, 0]
    bad = ~(left <= told.astype(float) * (1 + 1e-6) + 1e-18 * size[:, None])
    assert not bad.any(), (np.argwhere(bad), left[bad], told[bad].astype(float))
    allowed = 2.2 * np.finfo(dtype).eps ** 0.75 * size
    assert (left.max(1) <= allowed)[ok].all()
    assert ok[: len(families)].mean() > 0.7 and ok.mean() > 0.6


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("which", ["LM", "SM"])
def test_many_restarts_end_within_the_tolerance(dtype, which):
    """1 to 1000 in a small space: rounding errors of fifty restarts, and a norm that small values do not tell."""
    d = np.arange(1.0, 1001)
    found = sparse.eigs(sparse.diags_array(d.astype(dtype)), 9, ncv=19, which=which, report=True)
    assert found.ok, found
    want, (w, v) = (d[:-10:-1] if which == "LM" else d[:9]), map(np.asarray, found.value)
    np.testing.assert_allclose(w, want, atol=1e-3)
    left = np.linalg.norm(d[:, None] * v.astype("complex128") - v.astype("complex128") * w, axis=0)
    assert (left <= 1.1 * 1000 * np.finfo(dtype).eps ** 0.75).all()
    assert (left <= found.certificate.residual).all()


def test_derivatives_of_simple_pairs():
    a = sparse.from_scipy(current(4))
    p = a.pattern
    with xc.enable_x64():
        v = xnp.asarray(a.values) * xnp.asarray(rng.uniform(0.8, 1.2, p.nnz))
        d = xnp.asarray(rng.normal(size=p.nnz))

        def few(v):
            w, x = sparse.eigs(Sparse(v, p), 2, which="LR")
            return xnp.real(w).sum() + (xnp.abs(x) ** 4).sum()

        def dense(v):
            w, x = xnp.linalg.eig(Sparse(v, p).todense())
            best = xnp.argsort(-xnp.real(w))[:2]
            x = x[:, best] / xnp.linalg.norm(x[:, best], axis=0)
            return xnp.real(w[best]).sum() + (xnp.abs(x) ** 4).sum()

        slope = xc.jit(xc.grad(few))(v)
        h = 1e-6
        np.testing.assert_allclose(
            slope @ d, (dense(v + h * d) - dense(v - h * d)) / (2 * h), rtol=1e-6
        )
        np.testing.assert_allclose(xc.jvp(few, (v,), (d,))[1], slope @ d, rtol=1e-8)
        matrix = lambda v: xnp.real(sparse.eigs(Sparse(v, p).todense(), 2, which="LR")[0]).sum()
        one = lambda v: xnp.real(sparse.eigs(Sparse(v, p), 2, which="LR")[0]).sum()
        np.testing.assert_allclose(xc.grad(matrix)(v), xc.grad(one)(v), rtol=1e-7, atol=1e-10)


def test_arguments():
    a = sparse.eye_array(5)
    with pytest.raises(ValueError, match="which"):
        sparse.eigs(a, 2, which="largest")
    with pytest.raises(ValueError, match="k"):
        sparse.eigs(a, 6)
    with pytest.raises(ValueError, match="square"):
        sparse.eigs(np.ones((2, 3)), 1)
    operator = xc.linalg.FunctionOperator(lambda _, x: 2 * x, None, (5, 5))
    with pytest.raises(ValueError, match="inverse"):
        sparse.eigs(operator, 1, sigma=1.0)
    with xc.enable_x64():
        a = rng.normal(size=(6, 6)) + 9 * np.diag(np.arange(6))

        def largest(c, dense):
            m = a + c * xnp.eye(6)[::-1]
            operator = xc.linalg.FunctionOperator(lambda m, x: m @ x, m, (6, 6))
            return xnp.real(sparse.eigs(m if dense else operator, 1)[0][0])

        for one, other in zip(
            *[xc.value_and_grad(largest)(0.3, d) for d in (True, False)], strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=1e-9)
