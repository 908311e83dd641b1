"""``svds`` beside dense singular values: of any rank, at all scales, with orthonormal vectors."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.scipy.sparse.linalg import LinearOperator, svds


def matrices(m, n, dtype):
    rng = np.random.default_rng(m + n)
    for rank in (0, 1, 2, min(m, n)):
        a = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
        yield a * (1 + 0.3j) if np.dtype(dtype).kind == "c" else a
    u, v = (np.linalg.qr(rng.standard_normal((k, min(m, n))))[0] for k in (m, n))
    for s in (
        10.0 ** -np.arange(0, 4 * min(m, n), 4),
        np.repeat([2.0, 1.0], min(m, n))[-min(m, n) - 1 :][: min(m, n)],
    ):
        yield (u * s) @ v.T


@pytest.mark.parametrize("which", ["LM", "SM"])
@pytest.mark.parametrize(
    "m, n, k, dtype", [(7, 4, 4, "float32"), (5, 9, 3, "complex128"), (1, 1, 1, "float64")]
)
def test_values_and_vectors(m, n, k, dtype, which):
    with xc.enable_x64():
        run = xc.jit(lambda a: svds(a, k, which=which))
        for a in matrices(m, n, dtype):
            for size in (1e-30, 1.0, 1e30):
                given = (a * size).astype(dtype)
                unit = np.abs(given).max(initial=0) or 1
                b = (given / unit).astype(complex)
                u, s, vh = (np.asarray(x) for x in run(given))
                want = np.sort(np.linalg.svd(b)[1])
                want, most = (
                    want[-k:] if which == "LM" else want[:k],
                    20 * np.finfo(dtype).eps ** 0.75 * (want[-1] or 1),
                )
                s = (s / unit).astype(float)
                assert np.allclose(s, want, rtol=0, atol=most)
                assert np.allclose(b @ vh.conj().T, u * s, rtol=0, atol=most)
                for q in (u.conj().T @ u, vh @ vh.conj().T):
                    assert np.allclose(q, np.eye(k), rtol=0, atol=50 * np.finfo(dtype).eps)


def test_derivatives_and_operators():
    with xc.enable_x64():
        a = np.random.default_rng(2).standard_normal((6, 4))
        flat = np.zeros((6, 4))
        flat[:4, :3] = np.outer(np.arange(1, 5.0), np.arange(1, 4.0))
        u, s, vh = np.linalg.svd(a)
        slope = xc.jit(xc.grad(lambda a: xnp.sum(svds(a, 2)[1] * np.array([1.0, 2.0]))))
        np.testing.assert_allclose(slope(a), 2 * u[:, :1] * vh[0] + u[:, 1:2] * vh[1], atol=1e-9)
        np.testing.assert_allclose(slope(flat), 2 * flat / np.linalg.norm(flat), atol=1e-9)
        free = LinearOperator(a.shape, lambda x: xnp.asarray(a) @ x)
        np.testing.assert_allclose(
            svds(free, 2, which="SM", return_singular_vectors=False), s[:1:-1], rtol=1e-12
        )
    with pytest.raises(ValueError, match="'LM', 'SM'"):
        svds(a, 2, which="LA")


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_what_is_told_of_singular_values_holds(scale):
    from xcore import sparse

    rng = np.random.default_rng(5)
    for m, n, rank in ((30, 20, 20), (20, 30, 3), (25, 25, 24)):
        dense = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n)) * scale
        dense[rng.random((m, n)) < 0.5] = 0
        a = sparse.from_dense(dense)
        right = np.linalg.svd(dense, compute_uv=False)
        for which, wanted in (("LM", right[:4][::-1]), ("SM", right[-4:][::-1])):
            found = sparse.svds(a, 4, which=which, report=True)
            u, s, vh = map(np.asarray, found.value)
            assert bool(found.ok)
            assert (np.abs(s - wanted) <= np.asarray(found.certificate.error)).all()
            left = np.linalg.norm(dense @ vh.T - u * s, axis=0)
            assert (left <= np.asarray(found.certificate.error) * 1.5).all()
    assert not sparse.svds(
        sparse.from_dense(dense), 4, max_steps=1, ncv=6, rtol=1e-14, report=True
    ).ok
