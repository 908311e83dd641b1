"""A x = w M x by ``eigsh`` and ``lobpcg``: values, claims over scales, derivatives."""

import numpy as np
import pytest
import scipy.linalg

import xcore as xc
import xcore.numpy as xnp
from xcore import errors, linalg, sparse
from xcore.scipy.sparse import linalg as faces

KINDS = {
    "dense": lambda a: a,
    "sparse": lambda a: sparse.from_dense(a),
    "operator": lambda a: linalg.FunctionOperator(
        lambda p, x: p @ x, xnp.asarray(a), a.shape, symmetric=True
    ),
}
WAYS = {
    "LA": {"which": "LA"},
    "SA": {"which": "SA"},
    "BE": {"which": "BE"},
    "sigma": {"sigma": 0.3},
}


def pencil(n, dtype, seed=0):
    rng = np.random.default_rng(seed)
    draw = lambda: rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n))
    a, root = draw(), draw()
    m = root @ root.conj().T / n + np.eye(n)
    return tuple(
        (x if dtype.startswith("c") else x.real).astype(dtype) for x in (a + a.conj().T, m)
    )


def known(n, dtype, steep=0, seed=0):
    """(A, M, w) of whole numbers, exact in the dtype: A = L W Lᵀ, M = L Lᵀ; steep columns make M ill conditioned."""
    rng = np.random.default_rng(seed)
    low = np.eye(n) + np.tril(rng.integers(-1, 2, (n, n)), -1) * (rng.random((n, n)) < 2 / n)
    low = low * 2.0 ** rng.integers(0, steep + 1, n)[:, None]
    w = np.sort(rng.permutation(np.arange(-n, n))[:n]).astype(float)
    a, m = (low * w) @ low.T, low @ low.T
    assert (a.astype(dtype) == a).all() and (m.astype(dtype) == m).all()
    return a.astype(dtype), m.astype(dtype), w


def wanted(w, way, k):
    if way == "sigma":
        return np.sort(w[np.argsort(abs(w - 0.3))[:k]])
    return {"LA": w[-k:], "SA": w[:k], "BE": np.r_[w[: k // 2], w[-k // 2 :]]}[way]


@pytest.mark.parametrize(
    "way, kind, dtype",
    [
        ("LA", "dense", "float32"), ("sigma", "dense", "complex128"), ("BE", "sparse", "float64"),
        ("sigma", "sparse", "complex64"), ("SA", "operator", "float64"), ("sigma", "operator", "float64"),
    ],
)  # fmt: skip
def test_pairs_beside_dense_ones(way, kind, dtype):
    a, m = pencil(40, dtype)
    eps = np.finfo(dtype).eps
    told = linalg.eigsh(KINDS[kind](a), 4, M=KINDS[kind](m), report=True, **WAYS[way])
    w, v = (np.asarray(x) for x in told.value)
    true = scipy.linalg.eigh(
        *(x.astype("complex128" if dtype[0] == "c" else "float64") for x in (a, m))
    )[0]
    assert np.asarray(told.ok).all() and v.dtype == dtype
    np.testing.assert_allclose(w, wanted(true, way, 4), atol=300 * eps * abs(true).max())
    np.testing.assert_allclose(v.conj().T @ m @ v, np.eye(4), atol=300 * eps)
    assert (abs(w - wanted(true, way, 4)) <= np.asarray(told.certificate.error)).all()


@pytest.mark.parametrize(
    "kind, dtype", [("dense", "float32"), ("sparse", "complex128"), ("operator", "float64")]
)
def test_blocks_beside_dense_ones(kind, dtype):
    a, m = pencil(40, dtype, 1)
    true = scipy.linalg.eigvalsh(a, m)
    told = linalg.lobpcg(KINDS[kind](a), 3, B=KINDS[kind](m), report=True, max_steps=400)
    w, v = (np.asarray(x) for x in told.value)
    eps = np.finfo(dtype).eps
    assert np.asarray(told.ok).all()
    np.testing.assert_allclose(w, true[:3], atol=1e3 * eps * abs(true).max())
    np.testing.assert_allclose(v.conj().T @ m @ v, np.eye(3), atol=300 * eps)


@pytest.mark.parametrize(
    "dtype, steep", [("float32", 0), ("float32", 4), ("float64", 0), ("float64", 8)]
)
def test_claims_hold_over_scales(dtype, steep):
    far = 12 if dtype == "float32" else 150
    for seed, (p, q) in enumerate([(0, 0), (far, 0), (-far, 0), (0, far), (0, -far), (far, far)]):
        a, m, w = known(24, dtype, steep, seed)
        of_a, of_m = (
            2.0 ** round(p * 3.32),
            2.0 ** round(q * 3.32),
        )  # powers of two leave them exact
        a, m, w = a * a.dtype.type(of_a), m * m.dtype.type(of_m), w * (of_a / of_m)
        for way in WAYS:
            how = {"sigma": 0.3 * of_a / of_m} if way == "sigma" else WAYS[way]
            told = linalg.eigsh(a, 4, M=m, report=True, **how)
            found, bound = np.asarray(told.value[0]), np.asarray(told.certificate.error)
            off = abs(found[:, None] - w).min(axis=1)
            good = np.asarray(told.ok)
            assert (off[good] <= bound[good]).all(), (p, q, way, off, bound)
            if steep == 0:
                assert good.all(), (p, q, way, told)
                true = np.sort(wanted(w * of_m / of_a, way, 4)) * of_a / of_m
                np.testing.assert_allclose(
                    found, true, rtol=1e3 * np.finfo(dtype).eps, atol=bound.max()
                )


@pytest.mark.parametrize("f", [lambda a, m: linalg.eigsh(a, 2, M=m, report=True),
                               lambda a, m: linalg.lobpcg(a, 2, B=m, report=True)])  # fmt: skip
def test_what_is_not_definite_is_told(f):
    a, m = pencil(20, "float64")
    for bad in (-m, m - 3 * np.eye(20), np.zeros((20, 20)), np.diag(np.r_[0.0, np.ones(19)])):
        for kind in ("dense", "sparse"):
            told = f(KINDS[kind](a), KINDS[kind](bad))
            assert not np.asarray(told.ok).any(), (kind, told)
            assert xc.Status(int(np.asarray(told.status)[0])) == xc.Status.not_definite


def test_mistakes_are_told():
    a, m = pencil(12, "float64")
    with pytest.raises(errors.ShapeError, match="inner products"):
        linalg.eigsh(a, 2, M=m[:5, :5])
    with pytest.raises(ValueError, match="symmetric"):
        linalg.eigsh(a, 2, M=np.triu(m))
    with pytest.raises(errors.SingularMatrixError, match="inner products"):
        linalg.eigsh(a, 2, M=-m)


def bar(n, dtype="float64"):
    """Stiffness and mass of linear elements on (0, 1), and the eigenvalues, that are known."""
    h = 1 / (n + 1)
    three = lambda d, o: sparse.diags_array(
        [o, d, o], offsets=[-1, 0, 1], shape=(n, n), dtype=dtype
    )
    c = np.cos(np.arange(1, n + 1) * np.pi * h)
    return three(2 / h, -1 / h), three(4 * h / 6, h / 6), 6 / h**2 * (1 - c) / (2 + c)


@pytest.mark.parametrize("n", [31, 1000])
def test_finite_elements(n):
    a, m, w = bar(n)
    told = linalg.eigsh(a, 5, M=m, sigma=0.0, report=True)
    assert bool(xnp.all(told.ok))
    np.testing.assert_allclose(told.value[0], w[:5], rtol=1e-10)
    x = np.ones((n, 5)) + np.arange(n)[:, None] ** np.arange(5)
    for face in (faces.eigsh(a, 5, M=m, sigma=0), faces.lobpcg(
        a, x, B=m, M=sparse.factorise(a), largest=False, tol=1e-9
    )):  # fmt: skip
        np.testing.assert_allclose(face[0], w[:5], rtol=1e-8)


def test_repeated_values_are_all_found():
    a, m, _ = bar(12)
    whole, mass = sparse.kron(a, m) + sparse.kron(m, a), sparse.kron(m, m)
    true = scipy.linalg.eigvalsh(np.asarray(whole.todense()), np.asarray(mass.todense()))
    for how in ({"sigma": 0.0}, {"which": "SA", "max_steps": 600}):
        np.testing.assert_allclose(linalg.eigsh(whole, 6, M=mass, **how)[0], true[:6], rtol=1e-9)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("method", ["eigsh", "lobpcg"])
def test_derivatives_by_both_matrices(method, dtype):
    a, m = pencil(12, dtype, 3)
    d, e = pencil(12, dtype, 4)
    weight = np.random.default_rng(5).normal(size=(12, 2))

    def f(s, t):
        x, y = xnp.asarray(a + s * d), xnp.asarray(m + t * e)
        if method == "eigsh":
            w, v = linalg.eigsh(x, 2, M=y, which="SA", rtol=1e-14)
        else:
            w, v = linalg.lobpcg(x, 2, B=y, rtol=1e-14)
        return w.sum() * w[0] + (weight * xnp.abs(v) ** 2).sum()

    def dense(s, t):
        w, v = scipy.linalg.eigh(a + s * d, m + t * e)
        return w[:2].sum() * w[0] + (weight * abs(v[:, :2]) ** 2).sum()

    h = 1e-4
    both = [(dense(h, 0) - dense(-h, 0)) / (2 * h), (dense(0, h) - dense(0, -h)) / (2 * h)]
    np.testing.assert_allclose(xc.grad(f, (0, 1))(0.0, 0.0), both, rtol=1e-5)
    twice = (dense(h, 0) - 2 * dense(0, 0) + dense(-h, 0)) / h**2
    np.testing.assert_allclose(xc.hessian(f)(0.0, 0.0), twice, rtol=1e-4)
    np.testing.assert_allclose(xc.jvp(f, (0.0, 0.0), (0.0, 1.0))[1], both[1], rtol=1e-5)


def test_in_programs_and_batches():
    a, m = pencil(16, "float64")
    scales = np.array([1.0, 2.0, 5.0])
    f = lambda s: linalg.eigsh(xnp.asarray(a), 2, M=s * xnp.asarray(m), which="LA")[0]
    each = np.array([scipy.linalg.eigvalsh(a, s * m)[-2:] for s in scales])
    np.testing.assert_allclose(xc.jit(xc.vmap(f))(scales), each, rtol=1e-9)
