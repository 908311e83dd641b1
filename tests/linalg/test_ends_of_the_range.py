"""Factors of matrices whose squares leave the range of the dtype."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.scipy.linalg as sl

RNG = np.random.default_rng(0)
A = RNG.normal(size=(5, 5))
SYMMETRIC = A + A.T
LA = xc.linalg


def product(*parts):
    return np.linalg.multi_dot([np.asarray(p) for p in parts])


def _lanczos(a):
    q, alpha, beta = LA.lanczos(a, a[0], 5)
    t = xnp.diag(alpha) + xnp.diag(beta, 1) + xnp.diag(beta, -1)
    return product(q, t, q.T)


def _ldl(a):
    low, d, _ = LA.ldl(a)
    return product(low, d, low.mT)


def _qdwh(a):
    u, h, _, converged = LA.qdwh(a)
    assert converged
    return product(u, h)


def _schur(t, z):
    return product(z, t, z.conj().mT)


# each gives the matrix back
FACTORS = {
    "lanczos": (_lanczos, SYMMETRIC), "ldl": (_ldl, SYMMETRIC), "qdwh": (_qdwh, A),
    "rsf2csf": (lambda a: _schur(*sl.rsf2csf(*LA.schur(a, output="real"))), A),
    "sorted schur": (lambda a: _schur(*LA.schur(a, sort="lhp")[:2]), A),
}  # fmt: skip
ENDS = [("float32", 1e25), ("float32", 1e-25), ("float64", 1e200), ("float64", 1e-200)]


@pytest.mark.parametrize(("dtype", "size"), ENDS)
@pytest.mark.parametrize("name", FACTORS)
def test_factors_give_the_matrix_back(name, dtype, size):
    back, a = FACTORS[name]
    found = back(xnp.asarray((a * size).astype(dtype))) / np.asarray(size, dtype)
    np.testing.assert_allclose(found, a, atol=100 * np.finfo(dtype).eps)


@pytest.mark.parametrize(("dtype", "size"), ENDS)
def test_what_has_no_units_stays(dtype, size):
    of = lambda x: xnp.asarray((x * size).astype(dtype))
    near = lambda x, y: np.testing.assert_allclose(x, y, atol=1e4 * np.finfo(dtype).eps)
    near(
        sl.orthogonal_procrustes(of(A), of(SYMMETRIC))[0], sl.orthogonal_procrustes(A, SYMMETRIC)[0]
    )
    near(sl.signm(of(A + 3 * np.eye(5))), sl.signm(A + 3 * np.eye(5)))


def test_derivatives_of_factors_in_units():
    def f(s, a):
        return xnp.sum(LA.ldl(s * a).D ** 2) + xnp.sum(LA.qdwh(s * a).H)

    for s in (1.0, 1e3):
        found = xc.grad(f)(s, xnp.asarray(SYMMETRIC))
        h = 1e-6 * s
        slope = (f(s + h, SYMMETRIC) - f(s - h, SYMMETRIC)) / (2 * h)
        np.testing.assert_allclose(found, slope, rtol=1e-6)
