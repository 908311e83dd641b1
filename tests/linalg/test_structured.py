"""Solvers for structured matrices and matrix-free solvers, against dense ones."""

import numpy as np
import pytest
import scipy.linalg

import xcore as xc
import xcore.numpy as xnp
from xcore.testing import check_grads

rng = np.random.default_rng(0)


def tridiagonal(n, lead=()):
    low, up = rng.standard_normal((2, *lead, n))
    return low, 4 + rng.standard_normal((*lead, n)) ** 2, up


def dense(low, mid, up):
    return np.diag(mid) + np.diag(low[1:], -1) + np.diag(up[:-1], 1)


@pytest.mark.parametrize("method", ["lapack", "sweeps", "thomas", "cyclic"])
@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_tridiagonal(method, n):
    t, b = tridiagonal(n), rng.standard_normal((n, 2))
    x = xc.linalg.solve_tridiagonal(*t, b, method=method)
    assert np.allclose(x, np.linalg.solve(dense(*t), b))


@pytest.mark.parametrize("method", ["lapack", "sweeps", "thomas", "cyclic"])
def test_tridiagonal_differentiates(method):
    t, b = tridiagonal(5), rng.standard_normal(5)
    check_grads(lambda *xs: xc.linalg.solve_tridiagonal(*xs, method=method), (*t, b), order=2)


def test_tridiagonal_batches():
    t, b = tridiagonal(6, (70,)), rng.standard_normal((70, 6))
    x = np.asarray(xc.linalg.solve_tridiagonal(*t, b[..., None]))[..., 0]
    mapped = xc.vmap(xc.linalg.solve_tridiagonal)(*t, b)
    expected = [np.linalg.solve(dense(*[d[i] for d in t]), b[i]) for i in range(70)]
    assert np.allclose(x, expected) and np.allclose(mapped, expected)


def test_tridiagonal_batches_exchange_rows():
    low, up = 1 + rng.random((2, 64, 9))
    mid = 1e-3 * rng.standard_normal((64, 9)) * (rng.random((64, 9)) < 0.5)
    mid[:, -1] = 1.0
    b = rng.standard_normal((64, 9, 2))
    x = np.asarray(xc.linalg.solve_tridiagonal(low, mid, up, b))
    a = np.stack([dense(*rows) for rows in zip(low, mid, up, strict=True)])
    left = np.abs(a @ x - b).max((1, 2)) / (np.abs(a).sum(-1).max(-1) * np.abs(x).max((1, 2)))
    assert left.max() < 9 * np.finfo(np.float64).eps
    mid[5], up[5] = 0, 0  # one matrix is singular
    with pytest.raises(np.linalg.LinAlgError):
        xc.linalg.solve_tridiagonal(low, mid, up, b)


@pytest.mark.parametrize("trans", [0, 1, 2])
@pytest.mark.parametrize("lower", [False, True])
def test_triangular(trans, lower):
    a = rng.standard_normal((5, 5)) + 1j * rng.standard_normal((5, 5)) + 4 * np.eye(5)
    b = rng.standard_normal((5, 2))
    x = xc.linalg.solve_triangular(a, b, trans, lower)
    assert np.allclose(x, scipy.linalg.solve_triangular(a, b.astype(complex), trans, lower))
    with pytest.raises(np.linalg.LinAlgError):
        xc.linalg.solve_triangular(np.zeros((2, 2)), np.ones(2))


def test_circulant_kronecker_blocks_and_woodbury():
    rng = np.random.default_rng(0)  # its own numbers: well-conditioned whichever tests run before
    c, b = rng.standard_normal(6) + 4 * np.eye(6)[0], rng.standard_normal((6, 2))
    circulant = scipy.linalg.circulant(c)
    assert np.allclose(xc.linalg.solve_circulant(c, b), np.linalg.solve(circulant, b))
    check_grads(xc.linalg.solve_circulant, (c, b), order=1)
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        xc.linalg.solve_circulant(np.ones(6), b)
    a1, a2 = np.eye(2) * 3 + 0.5, rng.standard_normal((3, 3)) + 4 * np.eye(3)
    x = np.linalg.solve(np.kron(a1, a2), b[:, 0])
    assert np.allclose(xc.linalg.solve_kronecker([a1, a2], b[:, 0]), x)
    blocks = scipy.linalg.block_diag(a1, a2, [[2.0]])
    assert np.allclose(
        xc.linalg.solve_block_diag([a1, a2, np.array([[2.0]])], b), np.linalg.solve(blocks, b)
    )
    u, v = rng.standard_normal((6, 2)), rng.standard_normal((2, 6))
    x = xc.linalg.solve_woodbury(lambda b: b / 5, u, np.eye(2), v, b)
    assert np.allclose(x, np.linalg.solve(5 * np.eye(6) + u @ v, b))


# Matrix-free

SOLVERS = {
    "CG": xc.linalg.CG(rtol=1e-11),
    "MINRES": xc.linalg.MINRES(rtol=1e-11),
    "BiCGStab": xc.linalg.BiCGStab(rtol=1e-11),
    "GMRES": xc.linalg.GMRES(rtol=1e-11, restart=6),
}


def matrix_for(name, n=6):
    a = np.random.default_rng(1).standard_normal((n, n))
    if name == "CG":
        return a @ a.T + np.eye(n)
    return a + a.T if name == "MINRES" else a + 5 * np.eye(n)


def operator_for(name, a):
    return xc.linalg.Matrix(a, symmetric=name in ("CG", "MINRES"))


@pytest.mark.parametrize("name", SOLVERS)
def test_iterative_solvers(name):
    a, b = matrix_for(name), rng.standard_normal((6, 2))

    def solve(a, b):
        sym = (a + a.T) / 2 if name in ("CG", "MINRES") else a
        return xc.linalg.linear_solve(operator_for(name, sym), b, SOLVERS[name])

    assert np.allclose(solve(xnp.asarray(a), b), np.linalg.solve(a, b), rtol=1e-7)
    check_grads(solve, (a, b), order=1)
    assert np.allclose(xc.vmap(solve, in_axes=(None, 0))(a, b.T[..., None])[..., 0], solve(a, b).T)


def steps_of_scipy(name, a, b, rtol):
    """The number of SciPy's iterate that is the first to leave a residual of rtol |b|."""
    import scipy.sparse.linalg as sla

    residuals = []
    watch = lambda x: residuals.append(np.linalg.norm(b - a @ x) / np.linalg.norm(b))
    if name == "GMRES":  # a step of ours is a cycle of theirs
        sla.gmres(a, b, rtol=rtol, restart=6, callback=watch, callback_type="x")
    else:
        run = {"CG": sla.cg, "MINRES": sla.minres, "BiCGStab": sla.bicgstab}[name]
        run(a, b, rtol=rtol / 10, callback=watch)
    return int(np.argmax(np.array(residuals) <= rtol)) + 1


@pytest.mark.parametrize("name", SOLVERS)
def test_steps_are_those_of_scipy(name):
    n, rtol = 40, 1e-6
    lean = 0.0 if name in ("CG", "MINRES") else 0.3
    a = np.diag(np.full(n, 2.2)) - (1 + lean) * np.eye(n, k=1) - (1 - lean) * np.eye(n, k=-1)
    a = a + np.diag(np.linspace(0, 1, n))
    if name == "MINRES":
        a = a - 1.95 * np.eye(n)  # indefinite
    b, solver = np.ones(n), SOLVERS[name].replace(rtol=rtol)
    operator = operator_for(name, a)
    columns = np.stack([b, 0 * b], 1)
    both = xc.jit(lambda b: xc.linalg.linear_solve(operator, b, solver, report=True))(columns)
    expected = steps_of_scipy(name, a, b, rtol)
    assert expected > 4
    assert np.asarray(both.ok).all() and np.asarray(both.steps)[1] == 0
    assert abs(int(both.steps[0]) - expected) <= 1


@pytest.mark.parametrize("name", ["CG", "MINRES"])
def test_hermitian_operators_differentiate(name):
    """The transpose of a Hermitian operator is its conjugate, not itself."""
    n = 5
    parts = np.random.default_rng(0).standard_normal((4, n, n))
    q = np.linalg.qr(parts[0] + 1j * parts[1])[0]
    values = np.arange(1.0, n + 1) * (1 if name == "CG" else [1, -1, 1, -1, 1])
    a = (q * values) @ q.conj().T
    change = parts[2] + 1j * parts[3]
    change = (change + change.conj().T) / 2
    b = rng.standard_normal(n) + 1j * rng.standard_normal(n)
    weights = rng.standard_normal(n) + 1j * rng.standard_normal(n)
    solver = SOLVERS[name]

    def ours(a, b):
        held = xc.linalg.Matrix((a + xnp.conj(a).T) / 2, symmetric=True)
        return xnp.real(xnp.sum(weights * xc.linalg.linear_solve(held, b, solver)))

    def dense(t, s):
        return np.real(weights @ np.linalg.solve(a + t * change, b + s * b[::-1]))

    gradient, to_b = map(np.asarray, xc.jit(xc.grad(ours, (0, 1)))(xnp.asarray(a), xnp.asarray(b)))
    h = 1e-4
    slope = (dense(h, 0) - dense(-h, 0)) / (2 * h)
    assert np.isclose(np.real(np.sum(gradient * change)), slope, rtol=1e-6)
    # x is linear in b: exact
    assert np.isclose(np.real(np.sum(to_b * b[::-1])), dense(0, 1) - dense(0, 0), rtol=1e-8)
    push = xc.jit(lambda a: xc.jvp(lambda a: ours(a, b), (a,), (xnp.asarray(change),))[1])
    assert np.isclose(push(xnp.asarray(a)), slope, rtol=1e-6)


def test_unreached_accuracy_is_told():
    a = operator_for("CG", np.diag(np.arange(1.0, 30)))
    with pytest.raises(xc.errors.SolverError, match="limit of steps"):
        xc.linalg.linear_solve(a, np.ones(29), xc.linalg.CG(rtol=1e-12, max_steps=3))
    m = xc.linalg.jacobi_preconditioner(a.a)
    answer = xc.linalg.linear_solve(a, np.ones(29), xc.linalg.CG(), preconditioner=m, report=True)
    assert answer.ok and int(answer.steps) == 1


def test_minres_is_preconditioned():
    """By |a| the matrix becomes one of eigenvalues 1 and -1: two steps do, for any right side."""
    d = np.where(np.arange(29) % 3 == 0, -1, 1) * np.arange(1.0, 30)
    a, m = xc.linalg.Diagonal(xnp.asarray(d)), xc.linalg.Diagonal(xnp.asarray(1 / abs(d)))
    b = rng.standard_normal(29)
    solver = xc.linalg.MINRES(rtol=1e-12)
    answer = xc.linalg.linear_solve(a, b, solver, preconditioner=m, report=True)
    assert answer.ok and int(answer.steps) == 2
    assert np.allclose(answer.value, b / d, rtol=1e-11)


def test_algebra_of_operators():
    la = xc.linalg
    a, b = rng.standard_normal((3, 3)), rng.standard_normal((3, 3))
    p, q = la.Matrix(a), la.FunctionOperator(lambda m, x: m @ x, xnp.asarray(b), (3, 3))
    cases = [
        (p + q, a + b), (p - q, a - b), (2.0 * p, 2 * a), (p @ q, a @ b),
        (la.Kronecker(p, q), np.kron(a, b)), (la.Blocks(((p, q), (q, p))), np.block([[a, b], [b, a]])),
        (la.Diagonal(a[0]), np.diag(a[0])),
    ]  # fmt: skip
    for operator, matrix in cases:
        x = rng.standard_normal(matrix.shape[1])
        assert operator.shape == matrix.shape
        assert np.allclose(operator @ x, matrix @ x)
        assert np.allclose(operator.T @ x, matrix.T @ x)
    with pytest.raises(ValueError, match="do not fit"):
        p @ la.Diagonal(np.ones(4))


def test_eigenvalues():
    a = matrix_for("CG", 30)
    w, v = xc.linalg.eigsh(a, 3, ncv=30)
    assert np.allclose(w, np.linalg.eigvalsh(a)[-3:])
    assert np.allclose(np.asarray(a) @ np.asarray(v), np.asarray(v) * np.asarray(w))
    inverse = xc.linalg.Matrix(np.linalg.inv(a), symmetric=True)
    w, _ = xc.linalg.eigsh(a, 2, inverse=inverse, ncv=25)
    assert np.allclose(w, np.linalg.eigvalsh(a)[:2])


@pytest.mark.parametrize("n", [1, 2, 7])
def test_toeplitz(n):
    c, r, phase = rng.standard_normal((3, n))
    c[0] += 3
    for column, row in ((c, r), (c, None), (c + 1j * phase, r + 1j * c)):
        full = None if row is None else np.concatenate([column[:1], row[1:]])
        dense = scipy.linalg.toeplitz(column, full)
        for b in (r, rng.standard_normal((n, 2))):
            x = xc.linalg.solve_toeplitz(column, b, row)
            assert np.allclose(x, np.linalg.solve(dense, b))


def test_toeplitz_with_a_singular_minor():
    c, r = np.array([0.0, 1, 2]), np.array([0.0, 2, 1])
    x = xc.jit(xc.linalg.solve_toeplitz)(c, np.arange(3.0), r)
    assert np.allclose(scipy.linalg.toeplitz(c, r) @ np.asarray(x), np.arange(3.0))


def test_toeplitz_differentiates_and_batches():
    c, r, b = rng.standard_normal((3, 4)) + 4 * np.eye(4)[0]
    solve = xc.jit(xc.linalg.solve_toeplitz)
    check_grads(solve, (c, b, r), order=2)
    two = np.stack([c, r])
    expected = [np.linalg.solve(scipy.linalg.toeplitz(x), b) for x in two]
    assert np.allclose(xc.vmap(solve, in_axes=(0, None))(two, b), expected)
    assert np.allclose(solve(two, np.stack([b, b])[..., None])[..., 0], expected)
