"""Eigenvalues of matrices of all sizes that their dtype has, from every function that returns or uses them."""

import numpy as np
import pytest

import xcore as xc
import xcore.lax.linalg
import xcore.linalg as la
import xcore.numpy as xnp
import xcore.scipy.linalg as sl
from tests.accuracy import wide
from xcore import sparse

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]
VALUES = np.array([(5 - 5**0.5) / 2, (5 + 5**0.5) / 2])
WAYS = {
    "numpy.eig": lambda a: xnp.linalg.eig(a)[0],
    "numpy.eigvals": xnp.linalg.eigvals,
    "linalg.eig": lambda a: la.eig(a)[0],
    "linalg.eigvals": la.eigvals,
    "lax.linalg.eig": lambda a: xcore.lax.linalg.eig(a)[0],
    "scipy.eig": lambda a: sl.eig(a)[0],
    "scipy.eigvals": sl.eigvals,
    "scipy.eig of two": lambda a: sl.eig(a, xnp.eye(2, dtype=a.dtype))[0],
}


def _scales(dtype):
    """Powers of two over all of the range, and next to its ends."""
    limits = np.finfo(dtype)
    low, high = limits.minexp, limits.maxexp - 3
    ends = [low, low + 1, low + 2, low + 3, high - 1, high]
    return 2.0 ** np.array([*ends, *range(low + 4, high, -low // 8)], float)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", WAYS)
def test_eigenvalues_scale_with_the_matrix(way, dtype):
    for scale in _scales(dtype):
        a = xnp.asarray((np.array([[2, 1], [1, 3]]) * scale).astype(dtype))
        found = np.sort(np.asarray(WAYS[way](a)).real / scale)
        np.testing.assert_allclose(found, VALUES, rtol=30 * np.finfo(dtype).eps, err_msg=str(scale))


@pytest.mark.parametrize("dtype", DTYPES)
def test_small_elements_beside_large_ones(dtype):
    limits = np.finfo(dtype)
    for large, small in [(limits.maxexp - 2, 0), (30, limits.minexp), (limits.maxexp - 2, 20)]:
        a = np.array([[0, 2.0**large], [2.0**small, 0]]).astype(dtype)
        found, true = np.asarray(la.eigvals(a)), 2.0 ** ((large + small) / 2)
        np.testing.assert_allclose(np.abs(found), true, rtol=30 * limits.eps)


def test_a_batch_of_all_scales_with_what_is_not_finite():
    a = np.array([[2, 1], [1, 3.0]])
    batch = np.stack([a * 1e-307, a * 0, a * 1e307, a * np.nan, a * np.inf, a])
    w = np.sort(np.asarray(la.eigvals(batch)).real, axis=-1)
    np.testing.assert_allclose(
        w[[0, 1, 2, 5]], VALUES * np.array([1e-307, 0, 1e307, 1])[:, None], rtol=1e-14
    )
    assert np.isnan(w[3:5]).all()


FEW = {
    "eigsh": lambda a, s: la.eigsh(a, 2, report=True), "near a shift": lambda a, s: la.eigsh(a, 2, sigma=0.8 * s, report=True),
    "far from one": lambda a, s: la.eigsh(a, 2, sigma=-0.6 * s, report=True),
    "lobpcg": lambda a, s: la.lobpcg(a, 2, which="largest", report=True),
    "eigs": lambda a, s: sparse.eigs(a, 2, report=True),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
@pytest.mark.parametrize("way", FEW)
def test_few_pairs_of_matrices_whose_products_with_unit_vectors_vanish(way, dtype):
    """Nothing told how large they are, so they were not scaled: vectors were not orthonormal, errors told as 0."""
    limits, n = np.finfo(dtype), 21
    scales = 2.0 ** np.array([0.0, limits.minexp + 1, limits.minexp + 6, limits.maxexp - 1])
    values = np.stack([np.eye(n)[0], np.r_[1, -0.7, np.zeros(n - 2)], np.r_[1, 1, np.zeros(n - 2)]])
    a = np.stack([np.diag(s * d) for s in scales for d in values]).astype(dtype)
    units = np.repeat(scales, len(values)).astype(limits.dtype)
    found = xc.jit(xc.vmap(lambda a, s: FEW[way](a, s)))(a, units)
    w, v = (np.asarray(x) for x in found.value)
    assert np.all(found.ok)
    wide = v.astype(complex)
    off = np.abs(wide.conj().swapaxes(1, 2) @ wide - np.eye(2)).max((1, 2))
    assert off.max() < 100 * limits.eps or way == "eigs"
    wanted = np.tile(values, (len(scales), 1))
    near = np.abs(w[:, :, None] / units[:, None, None] - wanted[:, None]).min(2)
    assert near.max() < limits.eps**0.5
    left = np.linalg.norm(wanted[:, :, None] * wide - wide * (w / units[:, None])[:, None], axis=1)
    told = np.asarray(found.certificate.residual).astype(float) / units[:, None]
    rounding = 0 if way == "eigs" else 30 * limits.eps
    assert (left <= told + rounding).all()
    if way != "eigs":
        assert (left <= np.asarray(found.certificate.error).astype(float) / units[:, None]).all()


SHIFTS = {"far": (0, 1e6), "at one": (1, 0.0), "near one": (1, 1e-9), "amid": (1, 0.3)}


@pytest.mark.skipif(
    wide.EXTENDED > 1e-18, reason="the references need more digits than float64 has"
)
@pytest.mark.parametrize("n", [2, 3, 12])
@pytest.mark.parametrize("where", SHIFTS)
def test_angles_told_near_a_shift(where, n):
    """Those that 1 / (λ - shift) makes nearly equal, or loses beside a large one, are told apart by no gap."""
    rng = np.random.default_rng(n)
    turn = np.linalg.qr(rng.standard_normal((n, n)))[0]
    spectra = [np.r_[np.ones(2), rng.uniform(-1, 1, n - 2)], np.ones(n)]
    spectra += [np.r_[1 + 10.0**-d * np.arange(2), rng.uniform(-1, 1, n - 2)] for d in range(3, 17)]
    a = np.stack([(turn * w) @ turn.T for w in spectra])
    a = (a + a.swapaxes(1, 2)) / 2
    count, claims = min(n, 3) - 1, 0
    at, away = SHIFTS[where]
    shifts = np.array([away + at * w[n // 2] for w in spectra])
    found = xc.jit(xc.vmap(lambda a, s: la.eigsh(a, count, sigma=s, report=True)))(a, shifts)
    w, v = (np.asarray(x) for x in found.value)
    error, angle = np.asarray(found.certificate.error), np.asarray(found.certificate["angle"])
    for i, matrix in enumerate(a):
        true, vectors = wide.eigh(matrix)
        for j in range(count):
            near = np.abs(true - w[i, j]) <= error[i, j] + 1e-17
            if np.asarray(found.ok)[i, j] and angle[i, j] < 0.1:
                claims += 1
                assert near.sum() == 1
                off = v[i, :, j] - vectors[:, near] @ (vectors[:, near].T @ v[i, :, j])
                assert np.linalg.norm(off.astype(float)) <= angle[i, j] + 3e-16
    assert claims or where in ("far", "at one")
