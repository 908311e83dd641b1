"""Schur forms in any order, Hessenberg forms and polar factors, against SciPy and closed forms."""

import numpy as np
import pytest
import scipy.linalg

import xcore as xc
from xcore.testing import check_grads

la = xc.linalg
rng = np.random.default_rng(0)
A = rng.standard_normal((2, 6, 6))
COMPLEX = A + 1j * A[::-1]


def is_schur_form_of(a, t, z, rows_below):
    n = a.shape[-1]
    np.testing.assert_allclose(z @ t @ z.conj().mT, a, atol=30 * n * 2.3e-16 * 6)
    np.testing.assert_allclose(z.conj().mT @ z, np.broadcast_to(np.eye(n), a.shape), atol=1e-14)
    np.testing.assert_array_equal(np.tril(t, -rows_below), 0)


def _in_order(w):
    """Pairs whose real parts differ by rounding, which differs between processors, by their imaginary parts."""
    return w[np.lexsort((w.imag, w.real.round(9)))]


@pytest.mark.parametrize("sort", ["lhp", "rhp", "iuc", "ouc", lambda w: w.real > 0.5])
def test_chosen_eigenvalues_come_first(sort):
    for a, output in ((A, "complex"), (COMPLEX, "real"), (A, "real")):
        t, z, count = map(np.asarray, la.schur(a, output, sort))
        is_schur_form_of(a, t, z, 2 if output == "real" and a is A else 1)
        for x, top, k in zip(a, t, count, strict=True):
            parts = callable(sort) and output == "real" and a is A
            by = (lambda re, im: re > 0.5) if parts else sort
            theirs, _, wanted = scipy.linalg.schur(x, output, sort=by)
            assert k == wanted
            ours, theirs = (_in_order(np.linalg.eigvals(m[:k, :k])) for m in (top, theirs))
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_sorting_under_jit():
    wanted = la.schur(A, "complex", lambda w: w.imag > 0)
    got = xc.jit(lambda a: la.schur(a, "complex", lambda w: w.imag > 0))(A)
    np.testing.assert_array_equal(got[2], wanted[2])
    np.testing.assert_allclose(abs(got[0]), abs(wanted[0]), atol=1e-13)
    with pytest.raises(ValueError, match="output must be 'complex'"):
        xc.jit(lambda a: la.schur(a, sort="lhp"))(A)


def test_triangular_from_real_forms():
    t, z = map(np.asarray, la.schur(A))
    ours = [np.asarray(x) for x in la.rsf2csf(t, z)]
    is_schur_form_of(A, *ours, 1)
    for k in (0, 1):
        for x, y in zip(ours, scipy.linalg.rsf2csf(t[k], z[k]), strict=True):
            np.testing.assert_allclose(x[k], y, atol=1e-13)
    general = np.asarray([[1.0, 2, 3], [4, 5, 6], [0, 0, 7]])  # a block of real eigenvalues
    t, z = map(np.asarray, la.rsf2csf(general, np.eye(3)))
    is_schur_form_of(general, t, z, 1)


def test_hessenberg():
    for a in (A, COMPLEX, A[:, :2, :2], A[:, :1, :1], A[:, :0, :0]):
        h, q = map(np.asarray, la.hessenberg(a))
        np.testing.assert_allclose(q @ h @ q.conj().mT, a, atol=1e-13)
        np.testing.assert_array_equal(np.tril(h, -2), 0)
    np.testing.assert_allclose(la.hessenberg(A)[0][1], scipy.linalg.hessenberg(A[1]), atol=1e-13)
    assert la.hessenberg(np.float32(A))[1].dtype == "float32"


# Polar


@pytest.mark.parametrize("side", ["left", "right"])
def test_polar_factors(side):
    for a in (A[:, :, :3], A[:, :3], COMPLEX):
        wanted = [np.stack(x) for x in zip(*(scipy.linalg.polar(x, side) for x in a), strict=True)]
        for method in ("svd", "qdwh"):
            for x, y in zip(la.polar(a, side, method), wanted, strict=True):
                np.testing.assert_allclose(x, y, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_halleys_iteration_needs_six_steps(dtype):
    """Whatever the condition number, if it is one; fewer in shorter numbers."""
    eps = np.finfo(dtype).eps
    a = A[0, :, :3] @ np.diag([1, 1e-3, 10 * eps])
    u, h, steps, converged = la.qdwh(a.astype(dtype))
    assert bool(converged) and int(steps) <= 6 and u.dtype == dtype
    np.testing.assert_allclose(np.asarray(u).T @ u, np.eye(3), atol=30 * eps)
    np.testing.assert_allclose(u @ h, a, atol=60 * eps)
    assert not bool(la.qdwh(a.astype(dtype), max_iterations=2).converged)
    with pytest.raises(ValueError, match="as many rows as columns"):
        la.qdwh(a.T)


def test_polar_factors_differentiate_where_singular_values_are_equal():
    """The unitary factor of a rotation times 2 turns with half of the anti-symmetric part."""
    q = scipy.linalg.qr(A[0, :3, :3])[0]
    e = A[1, :3, :3]
    for method in ("svd", "qdwh"):
        moved = xc.jvp(lambda a, m=method: la.polar(a, "right", m)[0], (2 * q,), (e,))[1]
        inner = q.T @ e
        np.testing.assert_allclose(moved, q @ (inner - inner.T) / 4, atol=1e-14)
    tall = np.eye(4)[:, :2] + 0j
    check_grads(xc.jit(lambda a: la.polar(a)), (tall,), order=1)
    check_grads(xc.jit(lambda a: la.polar(a, "left", "qdwh")), (A[0],), order=1, rtol=1e-7)
