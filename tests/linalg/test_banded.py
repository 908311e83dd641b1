"""Banded systems and incomplete factors, against SciPy and dense matrices."""

import numpy as np
import pytest
import scipy.linalg

import xcore as xc
import xcore.numpy as xnp
from xcore.testing import check_grads

la = xc.linalg
rng = np.random.default_rng(0)


def dense(ab, lower, upper):
    n = ab.shape[1]
    a = np.zeros((n, n), ab.dtype)
    for i in range(n):
        for j in range(max(0, i - lower), min(n, i + upper + 1)):
            a[i, j] = ab[upper + i - j, j]
    return a


@pytest.mark.parametrize("lower, upper, n", [(1, 2, 7), (2, 0, 5), (0, 1, 4), (3, 3, 3), (0, 0, 3)])
def test_solve_banded(lower, upper, n):
    ab, b = rng.standard_normal((lower + upper + 1, n)), rng.standard_normal((n, 2))
    x = la.solve_banded((lower, upper), ab, b)
    assert np.allclose(x, np.linalg.solve(dense(ab, lower, upper), b), rtol=1e-9)


def test_banded_complex_batches_and_derivatives():
    ab = rng.standard_normal((2, 4, 5)) + 1j * rng.standard_normal((2, 4, 5))
    b = rng.standard_normal((2, 5, 1))
    solve = xc.jit(lambda ab, b: la.solve_banded((1, 2), ab, b))
    expected = [np.linalg.solve(dense(x, 1, 2), y) for x, y in zip(ab, b, strict=True)]
    assert np.allclose(solve(ab, b), expected)
    real = ab.real + 4 * np.eye(4)[2][:, None]
    check_grads(solve, (real, b), order=1)
    with pytest.raises(np.linalg.LinAlgError, match="singular: pivot 1"):
        la.solve_banded((0, 0), np.array([[1.0, 0.0]]), np.ones(2))


@pytest.mark.parametrize("lower", [False, True])
def test_definite_bands(lower):
    upper_band = np.array([[0.0, 0, 0.5, -1, 1], [0, 1, -1, 2, 1], [9, 8, 7, 8, 9]])
    upper_band = upper_band + (0.5j * rng.standard_normal((3, 5)) if lower else 0) * (
        np.arange(3)[:, None] < 2
    )
    whole = dense(upper_band, 0, 2)
    whole = whole + np.triu(whole, 1).conj().T
    ab = upper_band
    if lower:
        ab = np.array([[whole[j + d, j] if j + d < 5 else 7 for j in range(5)] for d in range(3)])
    b = rng.standard_normal((5, 2))
    assert np.allclose(la.solveh_banded(ab, b, lower=lower), np.linalg.solve(whole, b))
    if not lower:
        expected = scipy.linalg.cholesky_banded(upper_band)
        assert np.allclose(la.cholesky_banded(upper_band), expected)
        check_grads(xc.jit(la.solveh_banded), (upper_band, b), order=1)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite: pivot 0"):
        la.solveh_banded(-ab, b, lower=lower)


def laplacian(m):
    """Of an m × m grid: dense, and its diagonals at 0, 1, m."""
    t = 2 * np.eye(m) - np.eye(m, k=1) - np.eye(m, k=-1)
    a = np.kron(t, np.eye(m)) + np.kron(np.eye(m), t)
    below = [np.append(np.diag(a, -d), np.zeros(d)) for d in (1, m)]
    return a, np.stack([np.diag(a), *below])


def test_incomplete_cholesky():
    m = 8
    a, diagonals = laplacian(m)
    p = la.incomplete_cholesky(diagonals, (1, m))
    l = np.zeros_like(a)  # the textbook's algorithm
    for i in range(m * m):
        for j in range(i + 1):
            if a[i, j]:
                left = a[i, j] - l[i, :j] @ l[j, :j]
                l[i, j] = np.sqrt(left) if i == j else left / l[j, j]
    x = rng.standard_normal(m * m)
    assert np.allclose(p @ x, np.linalg.solve(l @ l.T, x))
    operator, b = la.Matrix(a, symmetric=True, positive=True), rng.standard_normal(m * m)
    counts = [
        int(la.linear_solve(operator, b, la.CG(rtol=1e-10), preconditioner=q, report=True).steps)
        for q in (None, p)
    ]
    assert counts[1] < 0.7 * counts[0]
    full = la.incomplete_cholesky(
        np.array([[4.0, 5, 6], [1, 2, 0], [0.5, 0, 0]])
    )  # nothing is left out
    whole = np.array([[4, 1, 0.5], [1, 5, 2], [0.5, 2, 6]])
    assert np.allclose(full.as_matrix("float64"), np.linalg.inv(whole))


@pytest.mark.parametrize("n", [5, 200])  # eliminated whole, and in a window
def test_solve_is_told_of_a_band(n):
    rng = np.random.default_rng(n)
    full, b = rng.standard_normal((n, n)), rng.standard_normal((n, 2))
    i, j = np.indices((n, n))
    near = np.abs(i - j) <= 1
    want, turned = (np.linalg.solve(m, b) for m in (full * near, (full * near).T))
    scale = np.linalg.cond(full * near) * n * np.finfo(float).eps
    for x, y in (
        (xc.linalg.solve(full, b, "tridiagonal"), want),  # what is off the diagonals is not read
        (xc.linalg.solve(full * near, b, "banded"), want),
        (xc.linalg.solve(full, b, "tridiagonal", transposed=True), turned),
        (xc.linalg.solve(full * near, b, "banded", transposed=True), turned),
        (xc.linalg.inv(full, "tridiagonal") @ b, want),
        (xc.jit(lambda a, b: xc.linalg.solve(a, b, "banded"))(full * near, b), want),
    ):
        assert np.linalg.norm(x - y) <= scale * np.linalg.norm(y)
    answer = xc.linalg.solve(full, b, "tridiagonal", report=True)
    assert answer.ok and answer.certificate.backward_error < 1e-13
    # dx = -a⁻¹ da x, so the gradient of Σ x is -a⁻ᵀ 1 xᵀ on the three diagonals, and zero elsewhere
    got = xc.grad(lambda a: xc.linalg.solve(a, b, "tridiagonal").sum())(xnp.asarray(full))
    exact = -np.linalg.solve((full * near).T, np.ones((n, 2))) @ want.T * near
    assert np.linalg.norm(got - exact) <= scale * np.linalg.norm(exact)
    with pytest.raises(np.linalg.LinAlgError, match=f"solve: .*singular.*{n},{n}"):
        xc.linalg.solve(np.zeros((n, n)), b, "tridiagonal")
    with pytest.raises(ValueError, match="rows in b"):
        xc.linalg.solve(full, b[1:], "tridiagonal")
