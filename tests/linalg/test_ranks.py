"""Ranks, null spaces and ranges of matrices of all sizes that their dtype has."""

import functools

import numpy as np
import pytest

import xcore as xc
import xcore.linalg as la
import xcore.numpy as xnp

M, N, RANK = 5, 7, 3


def _orthonormal(rng, n, dtype):
    x = rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n))
    return np.linalg.qr(x if np.dtype(dtype).kind == "c" else x.real)[0]


def matrices(dtype):
    """(matrices of rank 3 that have no element below the range, by what they were multiplied)."""
    rng, limits = np.random.default_rng(3), np.finfo(dtype)
    sizes = 2.0 ** np.array([0, limits.minexp // 2, limits.minexp + 14, limits.maxexp - 4])
    values = [np.r_[1, 0.5, 0.25], np.r_[1, 1e-2, 1e-4], np.r_[1, 1, 300 * limits.eps], np.ones(3)]
    found = []
    while len(found) < 12 * len(sizes):
        s = values[len(found) % len(values)]
        a = (_orthonormal(rng, M, dtype)[:, :RANK] * s) @ _orthonormal(rng, N, dtype)[:RANK]
        if min(np.abs(a.real).min(), np.abs(a.imag).min() or 1) > 2.0**-11:
            found.append(a)
    sizes = np.repeat(sizes, 12)[:, None, None]
    return (np.stack(found) * sizes).astype(dtype), sizes


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_ranks_do_not_depend_on_units(dtype):
    """Singular values that were below the range, in the units of the matrix, counted as zero."""
    a, sizes = matrices(dtype)
    b = np.ones((len(a), M), dtype)

    @xc.jit
    @xc.vmap
    def found(a, b):
        solved = la.lstsq(a, b, report=True)
        ranks = (la.matrix_rank(a), xnp.linalg.matrix_rank(a), solved.certificate["rank"])

        return ranks, la.null_space(a, size=N), la.orth(a, size=M)

    ranks, null, base = found(a, b)
    for each in ranks:
        assert np.asarray(each).tolist() == [RANK] * len(a)
    exact = a.astype(np.clongdouble) / sizes
    limit = 10 * N * np.finfo(dtype).eps
    for x, z, q in zip(exact, np.asarray(null), np.asarray(base)):
        z, q = z[:, : N - RANK].astype(np.clongdouble), q[:, :RANK].astype(np.clongdouble)
        assert np.abs(x @ z).max() < limit and np.abs(x - q @ (q.conj().T @ x)).max() < limit
        for basis in (z, q):
            assert np.abs(basis.conj().T @ basis - np.eye(basis.shape[1])).max() < limit
    assert not np.asarray(null)[:, :, N - RANK :].any() and not np.asarray(base)[:, :, RANK:].any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_least_squares_do_not_depend_on_units(dtype):
    """Of the rank that there is, x is that of the same matrix in other units."""
    a, sizes = matrices(dtype)
    b = np.random.default_rng(4).normal(size=(len(a), M)).astype(dtype)
    more = np.where(sizes[:, 0] > 1, 2.0**-9, 2.0**9)  # away from the ends of the range
    scaled = (b * sizes[:, 0] * more).astype(dtype)
    plain = xc.jit(xc.vmap(la.lstsq))((a / sizes).astype(dtype), b)
    small = xc.jit(xc.vmap(la.lstsq))(a, scaled)
    np.testing.assert_allclose(small / more, plain, rtol=30 * np.finfo(dtype).eps, atol=0.0)
    one, at = a[24].astype(dtype), scaled[24]
    x, _, rank, s = xnp.linalg.lstsq(one, at)
    assert int(rank) == RANK
    np.testing.assert_allclose(x, small[24], rtol=1e-5)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("given", [{}, {"tol": 0.1}, {"rtol": 0.1}])
def test_ranks_of_what_is_not_finite(bad, given):
    """Not 0, which is the rank of zero; in compiled code there is no other number."""
    a = xnp.asarray([[[1.0, bad], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]])
    for rank in (la.matrix_rank, xnp.linalg.matrix_rank):
        with pytest.raises(np.linalg.LinAlgError, match="has NaN or infinities"):
            rank(a[0], **given)
        with pytest.raises(np.linalg.LinAlgError, match="has NaN or infinities"):
            rank(a, **given)
        assert rank(a[1], **given) == 2
        assert xc.jit(functools.partial(rank, **given))(a).tolist() == [0, 2]
