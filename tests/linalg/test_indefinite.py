"""Bunch's and Kaufman's factorisation, which pivots as LAPACK does, beside SciPy's."""

import numpy as np
import pytest
import scipy.linalg

import xcore as xc
from xcore.testing import check_grads

ldl = xc.jit(xc.linalg.ldl, static_argnums=(1, 2))
rng = np.random.default_rng(0)
X, Y = rng.standard_normal((2, 3, 7, 7))
# without diagonals most pivots have two rows
KINDS = {
    "real": (X + X.mT) * (1 - np.eye(7)), "hermitian": X + 1j * Y + (X - 1j * Y).mT,
    "symmetric": X + 1j * Y + (X + 1j * Y).mT,
}  # fmt: skip


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_factors(kind, lower):
    hermitian = kind != "symmetric"
    triangle = (np.tril if lower else np.triu)(KINDS[kind])
    ours = list(map(np.asarray, ldl(triangle, lower, hermitian)))
    for k, a in enumerate(triangle):
        for x, y in zip(ours, scipy.linalg.ldl(a, lower, hermitian), strict=True):
            np.testing.assert_allclose(x[k], y, rtol=1e-12, atol=1e-13)
    low, d = ours[:2]
    turned = low.conj().mT if hermitian else low.mT
    np.testing.assert_allclose(low @ d @ turned, KINDS[kind], atol=1e-13)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_tiny_pivots_keep_the_residual_small(dtype):
    """Imaginary rounding of a pivot that should be real was divided by, and then dropped."""
    n, eps = 60, np.finfo(dtype).eps
    w = rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n)) * (
        np.dtype(dtype).kind == "c"
    )
    q = np.linalg.qr(w)[0]
    a = (q * (-1.0) ** np.arange(n) * eps ** np.linspace(0, 1, n)) @ q.conj().T
    a = ((a + a.conj().T) / 2 if np.dtype(dtype).kind == "c" else (a + a.conj().T).real / 2).astype(dtype)  # fmt: skip
    low, d, _ = (np.asarray(x).astype(complex) for x in ldl(a, True, True))
    assert abs(low @ d @ low.conj().T - a).sum(0).max() <= n * eps * abs(a).sum(0).max()


def test_inertia_of_a_saddle_point():
    """As many negative pivots as there are constraints, with zeros on the diagonal."""
    g = Y[0, :3]
    a = np.block([[X[0] @ X[0].T + np.eye(7), g.T], [g, np.zeros((3, 3))]])
    w = np.linalg.eigvalsh(np.asarray(ldl(a, True, True).D))
    assert (w < 0).sum() == 3 and (w > 0).sum() == 7


def test_nothing_and_zeros():
    assert ldl(np.zeros((2, 0, 0)), True, True).P.shape == (2, 0)
    np.testing.assert_array_equal(ldl(np.zeros((3, 3)), True, True).L, np.eye(3))
    assert ldl(np.float16(X), True, True).D.dtype == "float16"
    with pytest.raises(ValueError, match="square"):
        ldl(X[:, :3], True, True)


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives(kind):
    a = KINDS[kind][0, :4, :4]
    f = lambda a: xc.linalg.ldl(a, True, kind != "symmetric")[:2]
    check_grads(xc.jit(f), (a,), order=1, rtol=1e-8, atol=1e-8)
