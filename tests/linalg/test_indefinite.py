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
