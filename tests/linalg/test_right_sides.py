"""Every direct solver takes a vector, columns and batches of them beside a batch of matrices, as NumPy and SciPy do."""

import numpy as np
import pytest
import scipy.linalg

import xcore as xc
import xcore.numpy as xnp
import xcore.scipy.linalg as faces
from xcore import linalg

rng = np.random.default_rng(0)
N, BATCH = 3, (2, 4)
FULL = rng.normal(size=(*BATCH, N, N)) + 4 * np.eye(N)
BAND = rng.normal(size=(*BATCH, 3, N)) + np.asarray([0.0, 4.0, 0.0])[:, None]
LINE = rng.normal(size=(*BATCH, N)) + np.asarray([4.0, 0.0, 0.0])


def dense_band(ab):
    return sum(np.diag(ab[1 - k, max(k, 0) : N + min(k, 0)], k) for k in (-1, 0, 1))


def symmetric_band(ab):
    return dense_band(np.stack([ab[0], ab[1], [*ab[0, 1:], 0.0]]))


def toeplitz(c):
    return np.asarray([[c[abs(i - j)] for j in range(N)] for i in range(N)])


def circulant(c):
    return np.asarray([[c[(i - j) % N] for j in range(N)] for i in range(N)])


def hermitian(a):
    return a @ a.T


def same(a):
    return a


# name: (solver, what it is given, the matrix of that)
SOLVERS = {
    "solve": (linalg.solve, FULL, same),
    "lstsq": (linalg.lstsq, FULL, same),
    "lstsq by qr": (lambda a, b, **k: linalg.lstsq(a, b, method="qr", **k), FULL, same),
    "gauss_solve": (linalg.gauss_solve, FULL, same),
    "lu_solve": (lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b), FULL, same),
    "cho_solve": (lambda a, b: linalg.cho_solve(linalg.cholesky(a @ a.mT), b), FULL, hermitian),
    "solve_triangular": (lambda a, b, **k: linalg.solve_triangular(a, b, lower=True, **k), FULL, np.tril),
    "solve_banded": (lambda ab, b, **k: linalg.solve_banded((1, 1), ab, b, **k), BAND, dense_band),
    "solveh_banded": (lambda ab, b, **k: linalg.solveh_banded(ab[..., :2, :], b, **k), BAND, symmetric_band),
    "solve_tridiagonal": (lambda ab, b: linalg.solve_tridiagonal(
        xnp.roll(ab[..., 2, :], 1, -1), ab[..., 1, :], xnp.roll(ab[..., 0, :], -1, -1), b), BAND, dense_band),
    "solve_toeplitz": (linalg.solve_toeplitz, LINE, toeplitz),
    "solve_circulant": (linalg.solve_circulant, LINE, circulant),
    "scipy's lstsq": (lambda a, b: faces.lstsq(a, b)[0], FULL, same),
}  # fmt: skip
SIDES = {
    "vector": (N,),
    "columns": (N, 2),
    "batch": (*BATCH, N, 2),
    "row of it": (4, N, 1),
    "new axis": (5, 1, 1, N, 2),
}


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", SOLVERS)
def test_batches_of_matrices(name, side):
    solve, given, dense = SOLVERS[name]
    b = rng.normal(size=SIDES[side])
    matrices = np.asarray([dense(a) for a in given.reshape(-1, *given.shape[2:])])
    right = np.linalg.solve(matrices.reshape(*BATCH, N, N), b)
    with xc.enable_x64(True):
        a = xnp.asarray(given)
        np.testing.assert_allclose(solve(a, xnp.asarray(b)), right, rtol=1e-9)
        np.testing.assert_allclose(xc.jit(solve)(a, xnp.asarray(b)), right, rtol=1e-9)
        one = solve(a[0, 0], xnp.asarray(b))
        np.testing.assert_allclose(one, np.linalg.solve(matrices[0], b), rtol=1e-9)


@pytest.mark.parametrize("side", ["vector", "columns", "new axis"])
@pytest.mark.parametrize(
    "name", ["solve", "lstsq", "lstsq by qr", "solve_triangular", "solve_banded", "solve_circulant"]
)
def test_reports_of_them(name, side):
    solve, given, _ = SOLVERS[name]
    b = rng.normal(size=SIDES[side])
    with xc.enable_x64(True):
        a = xnp.asarray(given)
        found, plain = solve(a, xnp.asarray(b), report=True), solve(a, xnp.asarray(b))
    np.testing.assert_allclose(found.value, plain, rtol=1e-12)
    assert np.asarray(found.ok).shape == np.broadcast_shapes(BATCH, b.shape[:-2])
    assert np.asarray(found.ok).all() and np.asarray(found.certificate.digits > 8).all()


def test_empty_batches():
    for name, (solve, given, _) in SOLVERS.items():
        out = solve(xnp.asarray(given[:0, 0], np.float32), xnp.ones(N))
        assert out.shape == (0, N), name


def test_residuals_of_scipys_least_squares():
    a = rng.normal(size=(7, 3))
    for b in (rng.normal(size=7), rng.normal(size=(7, 2))):
        for ours, theirs in zip(faces.lstsq(a, b), scipy.linalg.lstsq(a, b), strict=True):
            assert np.shape(ours) == np.shape(theirs)
            np.testing.assert_allclose(ours, theirs, rtol=1e-4)


EQUATIONS = {
    "solve_sylvester": ((*BATCH, N, N), (2, 2), (N, 2)),
    "solve_continuous_lyapunov": ((*BATCH, N, N), (N, N)),
    "solve_discrete_lyapunov": ((4, N, N), (2, 1, N, N)),
}


@pytest.mark.parametrize("name", EQUATIONS)
def test_matrix_equations_broadcast_their_batches(name):
    arrays = [rng.normal(size=s) for s in EQUATIONS[name]]
    lead = np.broadcast_shapes(*(a.shape[:-2] for a in arrays))
    flat = [np.broadcast_to(a, lead + a.shape[-2:]).reshape(-1, *a.shape[-2:]) for a in arrays]
    right = np.asarray([getattr(scipy.linalg, name)(*each) for each in zip(*flat, strict=True)])
    with xc.enable_x64(True):
        for ours in (getattr(faces, name), getattr(linalg, name)):
            np.testing.assert_allclose(ours(*map(xnp.asarray, arrays)), right.reshape(*lead, *right.shape[1:]), rtol=1e-8)  # fmt: skip
        assert getattr(linalg, name)(*map(xnp.asarray, arrays), report=True).ok.shape == lead


def test_integers_and_what_is_not_finite():
    np.testing.assert_array_equal(faces.signm(xnp.asarray([[2, 0], [0, -3]])), np.diag([1.0, -1]))
    turn = xnp.asarray([[0, 1], [1, 0]])
    np.testing.assert_allclose(faces.orthogonal_procrustes(xnp.eye(2, dtype=int), turn)[0], turn)
    bad = xnp.asarray([[np.nan, 1.0], [2.0, 3.0]])
    for found in (
        linalg.orth(bad),
        linalg.orth(bad, size=1),
        faces.subspace_angles(bad[:, :1], xnp.ones((2, 1))),
    ):
        assert found.size and np.isnan(found).all()
