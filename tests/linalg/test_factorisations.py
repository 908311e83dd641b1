"""Factorisations: they multiply back, agree with SciPy, and differentiate."""

import numpy as np
import pytest
import scipy.linalg

import xcore as xc
import xcore.numpy as xnp
from xcore.testing import check_grads

la = xc.linalg


def random(*shape, seed=0, dtype="float64"):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    x = x + 1j * rng.standard_normal(shape) if "complex" in dtype else x
    return x.astype(dtype)


def definite(n, dtype="float64", seed=0):
    a = random(n, n, dtype=dtype, seed=seed)
    return a @ a.conj().T + n * np.eye(n, dtype=dtype)


def close(got, wanted, n):
    """Within 30 n eps of the size of what is wanted."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    eps = np.finfo(wanted.dtype).eps
    return abs(got - wanted).max(initial=0) <= 30 * n * eps * max(abs(wanted).max(initial=0), 1e-30)


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
def test_every_factorisation_multiplies_back(shape, dtype):
    a = random(2, *shape, dtype=dtype)

    def rebuilt(a):
        p, l, u = la.lu(a)
        q, r = la.qr(a)
        q2, r2, order = la.qr(a, pivoting=True)
        full, r3 = la.qr(a, "complete")
        U, s, vh = la.svd(a)
        w, h = la.polar(a)
        w2, h2 = la.polar(a, "left")
        lu = xnp.take_along_axis(l @ u, xnp.argsort(p, axis=-1)[..., None], axis=-2)
        qr = xnp.take_along_axis(q2 @ r2, xnp.argsort(order, axis=-1)[..., None, :], axis=-1)
        return lu, q @ r, qr, full @ r3, (U * s[..., None, :]) @ vh, w @ h, h2 @ w2, full

    *products, full = xc.jit(rebuilt)(a)
    for made in products:
        assert close(made, a, 5)
    eye = np.eye(shape[0], dtype=dtype)
    assert close(np.asarray(full) @ np.asarray(full).conj().swapaxes(1, 2), eye + 0 * full, 5)


@pytest.mark.parametrize("shape", [(90, 50), (50, 90)])
def test_singular_vectors_of_large_matrices(shape):
    """Large ones with longer columns than rows reach LAPACK another way than small ones."""
    a = random(2, *shape, dtype="complex128")
    both = xc.jit(lambda a: (la.svd(a), la.svd(a, full_matrices=True), la.svdvals(a)))
    (u, s, vh), (full_u, _, full_vh), only = both(a)
    k = min(shape)
    assert close((u * s[:, None, :]) @ vh, a, 90)
    assert close((full_u[..., :k] * s[:, None, :]) @ full_vh[:, :k], a, 90)
    for q, n in ((full_u, shape[0]), (full_vh, shape[1])):
        assert close(q @ np.asarray(q).conj().swapaxes(1, 2), np.eye(n) + 0 * q, 90)
    wanted = np.linalg.svd(a, compute_uv=False)
    assert close(s, wanted, 90) and close(only, wanted, 90)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_hermitian_and_square_ones(dtype):
    a, b = definite(4, dtype), definite(4, dtype, 1)

    def every(a, b):
        l = la.cholesky(a)
        w, v = la.eigh(a)
        w2, v2 = la.eigh(a, b)
        t, z = la.schur(a @ b, "complex")
        e, x = la.eig(a @ b)
        return l, w, v, w2, v2, t, z, e, x, la.cho_solve(l, b), la.lu_solve(la.lu_factor(a), b, 2)

    l, w, v, w2, v2, t, z, e, x, solved, other = map(np.asarray, xc.jit(every)(a, b))
    assert close(l @ l.conj().T, a, 4) and close((v * w) @ v.conj().T, a, 4)
    assert close(w2, scipy.linalg.eigh(a, b, eigvals_only=True), 40)
    assert close(a @ v2, b @ v2 * w2, 40) and close(v2.conj().T @ b @ v2, np.eye(4) + 0j, 40)
    assert close(z @ t @ z.conj().T, a @ b + 0j, 4) and not np.tril(t, -1).any()
    assert close((a @ b) @ x, x * e, 40)
    assert close(solved, np.linalg.solve(a, b), 40)
    assert close(other, np.linalg.solve(a.conj().T, b), 40)
    assert close(la.eigvalsh(a), w, 4)


def test_16_bits_are_factorised_in_32():
    a = xnp.asarray(definite(4)).astype("bfloat16")
    l = la.cholesky(a)
    assert l.dtype == a.dtype
    assert abs(np.asarray(l @ l.T - a).astype(float)).max() < 0.02 * float(a.max())
    assert la.svd(a).S.dtype == a.dtype


def test_failures_say_which_pivot():
    bad = np.diag([1.0, 1.0, -1.0, 1.0])
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite: pivot 2"):
        la.cholesky(bad)
    with pytest.raises(np.linalg.LinAlgError, match="matrix b"):
        la.eigh(np.eye(4), bad)
    with pytest.raises(np.linalg.LinAlgError, match="pivot 1"):
        la.lu_factor(np.ones((2, 2)))
    err, _ = xc.checkify.checkify(xc.jit(la.cholesky))(bad)
    assert "not positive definite" in err.get()


def test_derivatives():
    a, b = definite(3), definite(3, seed=1)
    tall = random(4, 3, seed=2)

    def every(a, b, tall):
        w, v = la.eigh(a, b)
        q, r, _ = la.qr(tall, pivoting=True)
        u, p = la.polar(tall)
        return la.cholesky(a), w, xnp.abs(v), q, r, la.lu(tall)[1:], u, p

    check_grads(xc.jit(every), (a, b, tall), order=1)


def test_invariants_of_repeated_eigenvalues_differentiate():
    q = np.linalg.qr(random(4, 4))[0]
    a = xnp.asarray((q * [1.0, 2, 2, 2]) @ q.T)

    def projection(a):  # onto the space of the three equal eigenvalues
        v = la.eigh(a).eigenvectors[:, 1:]
        return v @ v.T

    change = random(4, 4, seed=1)
    change = change + change.T
    h = 1e-5
    moved = xc.jit(
        lambda a, t: xc.jvp(lambda a: (projection(a), la.eigh(a)[0].sum()), (a,), (t,))[1]
    )
    got, trace = moved(a, xnp.asarray(change))
    exact = [np.linalg.eigh(np.asarray(a) + s * h * change)[1][:, 1:] for s in (1, -1)]
    assert np.allclose(got, (exact[0] @ exact[0].T - exact[1] @ exact[1].T) / (2 * h), atol=1e-8)
    assert np.isclose(trace, np.trace(change))


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 3), (0, 3, 3)])
def test_empty(shape):
    a = np.zeros(shape)
    k = min(shape[-2:])
    assert la.qr(a)[0].shape == (*shape[:-1], k)
    assert la.lu(a)[1].shape == (*shape[:-1], k)
    if shape[-1] == shape[-2]:
        assert la.cholesky(a).shape == shape and la.eigh(a)[0].shape == shape[:-1]


def test_factors_with_a_zero_pivot_raise():
    """As ``solve`` does: no infinities from factors that somebody else made."""
    factor, lu = np.array([[1.0, 0], [3, 0]]), np.array([[1.0, 3], [2, 0]])
    calls = {
        "cho_solve": lambda f, b: xc.linalg.cho_solve(f, b),
        "lu_solve": lambda f, b: xc.linalg.lu_solve((f, np.arange(2, dtype=np.int32)), b),
    }
    for (name, call), f in zip(calls.items(), (factor, lu), strict=True):
        for stack in (f, np.stack([np.eye(2), f])):
            with pytest.raises(xc.errors.SingularMatrixError, match=f"{name}.*pivot 1"):
                call(stack, np.ones((2, 1)))
        err, _ = xc.checkify.checkify(xc.jit(call))(f, np.ones(2))
        assert "singular (pivot 1)" in err.get()
        assert xc.checkify.checkify(xc.jit(call))(np.eye(2), np.ones(2))[0].get() is None


@pytest.mark.parametrize(
    "dtype, reach", [("float32", 30), ("complex64", 30), ("float64", 290), ("complex128", 290)]
)
@pytest.mark.parametrize("way", ["one", "batch", "vmap"])
def test_eigenvalues_of_matrices_of_every_size(dtype, reach, way):
    """Some builds of LAPACK scale small and large matrices, and do not scale their eigenvalues back."""
    numbers = np.random.default_rng(1)
    a = numbers.standard_normal((5, 5)) + 1j * numbers.standard_normal((5, 5)) * (dtype[0] == "c")
    a = (a if dtype[0] == "c" else a.real).astype(dtype)
    sizes = 10.0 ** np.linspace(-reach, reach, 11)
    batch = (
        a.astype(np.clongdouble if dtype[0] == "c" else np.longdouble) * sizes[:, None, None]
    ).astype(dtype)
    eig = {"one": lambda b: [np.stack(x) for x in zip(*map(xc.linalg.eig, b), strict=True)],
           "batch": xc.linalg.eig, "vmap": xc.jit(xc.vmap(xc.linalg.eig))}[way]  # fmt: skip
    eps = np.finfo(dtype).eps
    for b, w, v, own, size in zip(
        batch,
        *map(np.asarray, eig(batch)),
        np.asarray(xc.linalg.eigvals(batch)),
        sizes,
        strict=True,
    ):
        b, w, own = (x.astype(np.complex128) / size for x in (b, w, own))
        v = v.astype(np.complex128)
        assert abs(b @ v - v * w).max() <= 60 * eps
        assert abs(np.sort_complex(w) - np.sort_complex(own)).max() <= 200 * eps
