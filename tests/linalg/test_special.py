"""Backward errors on matrices made to be difficult, and equations of random shapes."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

import xcore as xc
import xcore.numpy as xnp

la = xc.linalg
N = 12


def frank(n):
    i, j = np.indices((n, n))
    return np.where(j >= i - 1, n - np.maximum(i, j), 0.0)


def kahan(n, angle=1.2):
    scale = np.sin(angle) ** np.arange(n)
    return scale[:, None] * (np.eye(n) - np.cos(angle) * np.triu(np.ones((n, n)), 1))


def wilkinson(n):
    a = np.eye(n) - np.tril(np.ones((n, n)), -1)
    a[:, -1] = 1
    return a


def graded(n):
    a = np.random.default_rng(0).standard_normal((n, n))
    return a * 10.0 ** -np.arange(n)[:, None]


SPECIAL = {
    "hilbert": scipy.linalg.hilbert(N), "frank": frank(N), "kahan": kahan(N),
    "wilkinson": wilkinson(N), "graded": graded(N), "singular": np.outer(np.arange(N), np.ones(N)),
    "zero": np.zeros((N, N)),
}  # fmt: skip


def with_phases(a):
    """Rows and columns times numbers of modulus 1: as difficult, and complex."""
    angles = np.exp(1j * np.arange(2 * N)).reshape(2, N)
    return angles[0][:, None] * a * angles[1]


@pytest.mark.parametrize("turn", [np.asarray, with_phases], ids=["real", "complex"])
def test_every_factorisation_is_backward_stable(turn):
    a = turn(np.stack(list(SPECIAL.values())))
    adjoint = lambda x: xnp.conj(xnp.swapaxes(x, -1, -2))

    def gauss(a, pivoting):
        f = la.gauss_lu(a, pivoting)
        exchanged = xnp.take_along_axis(a, f.rows[..., :, None], axis=-2)
        return f.lower @ f.upper, xnp.take_along_axis(exchanged, f.columns[..., None, :], axis=-1)

    def pairs(a):
        p, l, u = la.lu(a)
        q, r, order = la.qr(a, pivoting=True)
        big, s, vh = la.svd(a)
        sym = a + adjoint(a)
        definite = a @ adjoint(a) + xnp.eye(N)  # up to 1e16 between its eigenvalues for "frank"
        low = la.cholesky(definite)
        w, v = la.eigh(sym)
        t, z = la.schur(a)
        o, h = la.polar(a)
        return {
            "lu": (l @ u, xnp.take_along_axis(a, p[..., None], axis=-2)),
            "qr": (q @ r, xnp.take_along_axis(a, order[..., None, :], axis=-1)),
            "svd": (big * s[..., None, :] @ vh, a), "schur": (z @ t @ adjoint(z), a),
            "eigh": (v * w[..., None, :] @ adjoint(v), sym), "polar": (o @ h, a),
            "cholesky": (low @ adjoint(low), definite),
            "gauss": gauss(a, "partial"), "complete": gauss(a, "complete"),
        }  # fmt: skip

    for name, (made, wanted) in xc.jit(pairs)(a).items():
        error = abs(np.asarray(made) - np.asarray(wanted)).sum(-1).max(-1)
        size = abs(np.asarray(wanted)).sum(-1).max(-1)
        assert (error <= 30 * N * 2.3e-16 * size).all(), name


def test_reports_on_them():
    b = np.stack([SPECIAL[k].sum(1) for k in ("hilbert", "frank", "kahan", "wilkinson", "graded")])
    a = np.stack([SPECIAL[k] for k in ("hilbert", "frank", "kahan", "wilkinson", "graded")])
    answer = la.solve(a, b[..., None], report=True)
    assert (np.asarray(answer.certificate.backward_error) < 30 * N * 2.3e-16).all()
    exact = np.linalg.cond(a, 1)
    told = np.asarray(answer.certificate.condition)
    assert (told > exact / 10).all() and (told[1:] < 1.1 * exact[1:]).all()
    error = abs(np.asarray(answer.value)[..., 0] - 1).max(-1)
    assert (error < 30 * N * 10.0 ** -np.asarray(answer.certificate.digits)).all()


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 3), st.integers(1, 2), st.integers(0, 10**6))
def test_equations_of_random_shapes(n, k, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((n, n)), rng.standard_normal((n, k))
    x = np.asarray(la.solve(a, b))
    size = abs(a).sum(1).max() * abs(x).max() + abs(b).max()
    assert abs(a @ x - b).max() <= 30 * n * 2.3e-16 * size
