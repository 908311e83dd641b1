"""Riccati's equations: against SciPy, by their residuals, closed loops and derivatives."""

import numpy as np
import pytest
import scipy.linalg

import xcore as xc
from xcore.testing import check_grads

la = xc.linalg
rng = np.random.default_rng(0)
N, M = 4, 2
A, C = rng.standard_normal((2, N, N))
B, S = rng.standard_normal((2, N, M)) * [[[1.0]], [[0.02]]]
Q, R, E = C @ C.T, 2 * np.eye(M), np.eye(N) + 0.2 * rng.standard_normal((N, N))
SOLVE = {"continuous": xc.jit(la.solve_continuous_are), "discrete": xc.jit(la.solve_discrete_are)}


def residual(kind, x, a, b, q, r, e=None, s=0):
    e = np.eye(len(a)) if e is None else e
    ah, bh, eh = (m.conj().T for m in (a, b, e))
    if kind == "continuous":
        half = eh @ x @ b + s
        return ah @ x @ e + eh @ x @ a - half @ np.linalg.solve(r, half.conj().T) + q
    half = ah @ x @ b + s
    return ah @ x @ a - eh @ x @ e - half @ np.linalg.solve(r + bh @ x @ b, half.conj().T) + q


def closed_loop(kind, x, a, b, r):
    bh = b.conj().T
    if kind == "continuous":
        return np.linalg.eigvals(a - b @ np.linalg.solve(r, bh @ x)).real.max()
    inner = np.linalg.solve(r + bh @ x @ b, bh @ x @ a)
    return abs(np.linalg.eigvals(a - b @ inner)).max() - 1


@pytest.mark.parametrize("kind", SOLVE)
def test_solutions(kind):
    theirs = getattr(scipy.linalg, f"solve_{kind}_are")
    apart = -np.diag([1e-3, 1, 10, 1e3])
    cases = {"plain": (A, B), "complex": (A + 1j * C, B + 1j * S), "far apart": (apart, B)}
    for name, (a, b) in cases.items():
        x = np.asarray(SOLVE[kind](a, b, Q, R))
        np.testing.assert_allclose(x, theirs(a, b, Q, R), rtol=1e-8, err_msg=name)
        np.testing.assert_array_equal(x, x.conj().T)
        assert closed_loop(kind, x, a, b, R) < 0
    x = np.asarray(SOLVE[kind](A, B, Q, R, E, S))
    np.testing.assert_allclose(residual(kind, x, A, B, Q, R, E, S), 0, atol=1e-11 * abs(x).max())
    lanes = SOLVE[kind](np.stack([A, A.T]).astype("float32"), B, Q, R)
    np.testing.assert_allclose(lanes[1], theirs(A.T, B, Q, R), rtol=1e-3)
    assert SOLVE[kind](np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((0, 0)), R[:1, :1]).size == 0


@pytest.mark.parametrize("kind", SOLVE)
def test_derivatives(kind):
    solve = SOLVE[kind]
    check_grads(solve, (A, B, Q, R, E, S), order=1, rtol=1e-8, atol=1e-8)
    small = lambda a: solve(a, B[:2] + 1j, Q[:2, :2], R)
    check_grads(small, (A[:2, :2] + 1j * C[:2, :2],), order=1, rtol=1e-7, atol=1e-7)


def test_one_dimension_in_closed_form():
    """2 a x - x² + q = 0: x = a + √(a² + q), and its second derivative in a is q / (a² + q)^(3/2)."""
    one = np.ones((1, 1))
    x = lambda a: la.solve_continuous_are(a * one, one, 3 * one, one)[0, 0]
    np.testing.assert_allclose([x(1.0), xc.grad(xc.grad(x))(1.0)], [3, 3 / 8], rtol=1e-6)


@pytest.mark.parametrize("kind", SOLVE)
def test_what_cannot_be_steered_is_refused(kind):
    solve = getattr(la, f"solve_{kind}_are")
    args = 2 * np.eye(2), np.zeros((2, 1)), np.eye(2), np.eye(1)
    with pytest.raises(xc.errors.SingularMatrixError, match="no stabilising solution"):
        solve(*args)
    assert np.isnan(SOLVE[kind](*args)).all()
    with pytest.raises(ValueError, match="need a, q and e"):
        solve(A, B, Q, np.eye(3))
