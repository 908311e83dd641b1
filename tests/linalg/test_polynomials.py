"""Chebyshev's polynomials as preconditioners: definite for every spectrum, by the formula, few steps."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import linalg

rng = np.random.default_rng(0)

SPECTRA = {
    "even": lambda n: np.arange(1, n + 1) / n,
    "geometric": lambda n: np.geomspace(1e-4, 1, n),
    "one above": lambda n: np.r_[np.full(n - 1, 0.01), 1.0],
    "one below": lambda n: np.r_[1e-4, np.ones(n - 1)][:n],
    "two heaps": lambda n: np.r_[np.linspace(0.9, 1, n - n // 2), np.linspace(1e-4, 1e-3, n // 2)],
    "equal": np.ones,
}


def matrix(w, dtype):
    n = len(w)
    q = rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if "c" in dtype else 0)
    q = np.linalg.qr(q)[0]
    a = (q * w) @ q.conj().T
    return linalg.Matrix(
        xnp.asarray(((a + a.conj().T) / 2).astype(dtype)), symmetric="c" not in dtype, positive=True
    )


def by_formula(w, steps, low, high):
    """Of eigenvalues w: (1 - T((h + l - 2 w) / (h - l)) / T((h + l) / (h - l))) / w."""
    t = np.polynomial.chebyshev.Chebyshev.basis(steps)
    return (1 - t((high + low - 2 * w) / (high - low)) / t((high + low) / (high - low))) / w


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("n", [1, 2, 12, 13, 14, 60])
def test_it_is_definite_and_the_bound_is_one(name, n, dtype):
    for scale in (1, 1e-25, 1e25):
        w = SPECTRA[name](n) * scale
        a = matrix(w, dtype)
        for steps in (1, 3, 7):
            m = linalg.chebyshev_preconditioner(a, steps)
            values = np.linalg.eigvalsh(np.asarray(m.matmat(xnp.eye(n, dtype=dtype))) * scale)
            assert values[0] > 0, steps
            assert w.max() <= float(m.high) <= 5 * w.max()


@pytest.mark.parametrize("steps", [1, 2, 5, 8])
def test_formula(steps):
    w = np.geomspace(0.01, 1, 30)
    a = linalg.Diagonal(xnp.asarray(w), positive=True)
    for low, high in ((0.01, 1.0), (0.2, 1.1), (0.5, 0.9)):
        m = linalg.chebyshev_preconditioner(a, steps, bounds=(low, high))
        expected = by_formula(w, steps, low, high)
        assert np.allclose(m @ np.ones(30), expected, rtol=1e-10)
        traced = xc.jit(
            lambda low, high: linalg.chebyshev_preconditioner(a, steps, bounds=(low, high)) @ xnp.ones(30)
        )  # fmt: skip
        assert np.allclose(traced(low, high), expected, rtol=1e-5)
    equal = linalg.chebyshev_preconditioner(a, steps, bounds=(2.0, 2.0))
    assert np.isfinite(np.asarray(equal @ xnp.ones(30))).all()


def laplacian(shape):
    def times(_, u):
        v = xnp.pad(u.reshape(shape), 1)
        around = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:]
        return (4 * u.reshape(shape) - around).reshape(-1)

    n = shape[0] * shape[1]
    return linalg.FunctionOperator(times, None, (n, n), symmetric=True, positive=True, field=shape)


@pytest.mark.parametrize("steps", [5, 7, 15])
def test_few_more_products_and_few_steps(steps):
    """The price of not knowing the lower bound is a quarter of the products at most."""
    a, b = laplacian((90, 91)), xnp.asarray(rng.standard_normal(90 * 91))
    solver = linalg.CG(rtol=1e-8, max_steps=5000)
    alone = linalg.linear_solve(a, b, solver, report=True)
    m = linalg.chebyshev_preconditioner(a, steps)
    answer = linalg.linear_solve(a, b, solver, preconditioner=m, report=True)
    left = np.linalg.norm(b - a @ answer.value) / np.linalg.norm(b)
    assert answer.ok and left <= 1.01e-8
    assert int(answer.steps) * steps <= 1.25 * int(alone.steps) + 2 * steps


def test_transformations():
    a = laplacian((6, 7))
    b = xnp.asarray(rng.standard_normal((3, 42)))
    m = linalg.chebyshev_preconditioner(a)

    def solve(b):
        return linalg.linear_solve(a, b, linalg.CG(rtol=1e-10), preconditioner=m)

    exact = np.linalg.inv(np.asarray(a.matmat(xnp.eye(42, dtype="float64"))))
    assert np.allclose(xc.vmap(solve)(b), b @ exact, rtol=1e-7)
    slope = xc.jit(xc.grad(lambda b: (solve(b) ** 2).sum()))(b[0])
    assert np.allclose(slope, 2 * exact @ exact @ b[0], rtol=1e-6)
    made_inside = xc.jit(lambda v: linalg.chebyshev_preconditioner(linalg.Diagonal(v)).high)
    assert float(made_inside(xnp.asarray([1.0, 2.0]))) >= 2
    d, b = np.array([1.0, 2.0, 5.0]), np.array([1.0, -2.0, 3.0])

    def of_diagonal(v):
        return (linalg.chebyshev_preconditioner(linalg.Diagonal(v), 3) @ b).sum()

    steps = 1e-6 * np.eye(3)
    slopes = [(float(of_diagonal(d + s)) - float(of_diagonal(d - s))) / 2e-6 for s in steps]
    assert np.allclose(xc.grad(of_diagonal)(xnp.asarray(d)), slopes, rtol=1e-5)


def test_empty_and_zero():
    nothing = linalg.chebyshev_preconditioner(linalg.Diagonal(xnp.zeros(0)))
    assert (nothing @ xnp.zeros(0)).shape == (0,)
    zero = linalg.chebyshev_preconditioner(linalg.Diagonal(xnp.zeros(3)))
    assert np.isfinite(np.asarray(zero @ xnp.ones(3))).all()


def test_transposes_of_complex_matrices():
    a = matrix(np.arange(1.0, 6), "complex128")
    m = linalg.chebyshev_preconditioner(a)
    whole = np.asarray(m.matmat(xnp.eye(5, dtype="complex128")))
    assert np.allclose(m.T.matmat(xnp.eye(5, dtype="complex128")), whole.T, atol=1e-12)
    assert np.allclose(whole, whole.conj().T, atol=1e-12)
    assert (
        not m.symmetric
        and m.positive
        and linalg.chebyshev_preconditioner(laplacian((2, 3))).symmetric
    )


@pytest.mark.parametrize(
    "args, options, words",
    [
        ((lambda x: x,), {}, "FunctionOperator"),
        ((np.ones((2, 3)),), {}, "square"),
        ((np.eye(2), 0), {}, "at least 1"),
        ((np.eye(2), 2.0), {}, "at least 1"),
        ((np.eye(2), True), {}, "at least 1"),
        ((np.eye(2),), {"bounds": (0.0, 1.0)}, "0 < low <= high"),
        ((np.eye(2),), {"bounds": (2.0, 1.0)}, "0 < low <= high"),
        ((np.eye(2),), {"bounds": (1.0, np.nan)}, "0 < low <= high"),
        ((np.eye(2),), {"bounds": 3.0}, "two numbers"),
        ((np.eye(2),), {"bounds": (1.0, 2.0, 3.0)}, "two numbers"),
    ],
)
def test_refusals(args, options, words):
    with pytest.raises((ValueError, TypeError, xc.errors.ShapeError), match=words):
        linalg.chebyshev_preconditioner(*args, **options)
