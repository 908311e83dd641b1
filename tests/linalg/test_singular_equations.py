"""Equations that do not agree: no method ends farther from them than it began, and MINRES at the least residual."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import Status, linalg


def equations(n, dtype, seed, kind):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, n)) + (1j * rng.normal(size=(n, n)) if dtype[0] == "c" else 0)
    q = np.linalg.qr(z)[0]
    if kind == "skew":
        a = (z - z.conj().T) * 1.0
    else:
        d = np.arange(1.0, n + 1) * (-1.0) ** (np.arange(n) * (kind == "indefinite"))
        d[-(1 + seed % 2) :] = 0
        a = (q * d) @ q.conj().T
        a = (a + a.conj().T) / 2
    b = rng.normal(size=n) + (1j if dtype[0] == "c" else 0)
    return a.astype(dtype), b.astype(dtype)


def left(a, x, b):
    return np.linalg.norm(a @ np.asarray(x) - b) / np.linalg.norm(b)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("kind", ["semidefinite", "indefinite"])
def test_minres_leaves_the_least_residual(kind, dtype):
    rtol = 1e-5 if dtype == "float32" else 1e-10
    for seed, n in enumerate([5, 8, 30, 60]):
        a, b = equations(n, dtype, seed, kind)
        least = left(a, np.linalg.pinv(a, rcond=1e-5) @ b, b)
        for size in (1.0, 1e12):
            told = linalg.linear_solve(
                xnp.asarray(size * a), xnp.asarray(b), linalg.MINRES(rtol=rtol), report=True
            )
            assert not told.ok and int(told.status) in (Status.stagnation, Status.max_steps)
            found = left(size * a, told.value, b)
            assert found <= 1.05 * least
            if dtype != "float32":  # in which rounding of the product is as large
                np.testing.assert_allclose(told.error / np.linalg.norm(b), found, rtol=0.05)


@pytest.mark.parametrize("solver", [linalg.MINRES(), linalg.BiCGStab(), linalg.GMRES()])
@pytest.mark.parametrize("kind", ["semidefinite", "indefinite", "skew"])
def test_no_answer_is_worse_than_the_start(kind, solver):
    if kind == "skew" and isinstance(solver, linalg.MINRES):
        return
    for seed, n in enumerate([4, 8, 31]):
        a, b = equations(n, "float64", seed, kind)
        x0 = np.random.default_rng(seed).normal(size=n)
        for start in (None, x0):
            told = linalg.linear_solve(
                xnp.asarray(a), xnp.asarray(b), solver, x0=start, report=True
            )
            first = 1.0 if start is None else left(a, start, b)
            assert left(a, told.value, b) <= first * (1 + 1e-12)


def test_columns_and_programs():
    a, b = equations(8, "float64", 0, "semidefinite")
    inside = a @ b
    solve = xc.jit(
        lambda b: linalg.linear_solve(xnp.asarray(a), b, linalg.MINRES(rtol=1e-8), report=True)
    )
    told = solve(np.stack([b, inside], axis=1))
    assert np.asarray(told.ok).tolist() == [False, True]


@pytest.mark.parametrize(
    "dtype, least", [("float32", 1e-6), ("float32", 1e-5), ("float64", 1e-12), ("float64", 1e-10)]
)
def test_a_small_eigenvalue_is_no_reason_to_stop(dtype, least):
    a = xnp.asarray(np.diag([1.0, least]).astype(dtype))
    told = linalg.linear_solve(a, xnp.ones(2, dtype), linalg.MINRES(rtol=1e-4), report=True)
    assert bool(told.ok)
    np.testing.assert_allclose(told.value, [1, 1 / least], rtol=1e-2)
