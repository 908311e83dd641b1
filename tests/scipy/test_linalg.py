"""SciPy's names for linear algebra, beside SciPy's own and jax's arguments."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse.linalg

import xcore as xc
import xcore.numpy as xnp
import xcore.scipy.linalg as sla
from xcore.scipy.sparse.linalg import bicgstab, cg, gmres
from xcore.testing import check_grads

rng = np.random.default_rng(0)
A = rng.standard_normal((4, 4))
SPD = A @ A.T + 4 * np.eye(4)
B = rng.standard_normal((4, 2))


def test_the_same_results_as_scipy():
    every = {
        "cholesky": (SPD,), "det": (A,), "inv": (A,), "solve": (A, B), "eigvalsh": (SPD,),
        "expm": (A,), "solve_triangular": (SPD, B), "circulant": (B[:, 0],),
        "toeplitz": (B[:, 0], B[:, 1]), "block_diag": (A, B), "solve_sylvester": (A, SPD, A),
        "solve_discrete_lyapunov": (A / 9, SPD), "svdvals": (B,), "pinv": (B,),
    }  # fmt: skip
    got = xc.jit(lambda args: {k: getattr(sla, k)(*v) for k, v in args.items()})(every)
    for name, args in every.items():
        assert np.allclose(got[name], getattr(scipy.linalg, name)(*args)), name
    for ours, theirs in zip(sla.lu(A), scipy.linalg.lu(A), strict=True):
        assert np.allclose(ours, theirs)
    half = np.triu(SPD) + np.tril(np.full((4, 4), 7.0), -1)
    for kind in ("pos", "sym", "her"):
        assert np.allclose(sla.solve(half, B, assume_a=kind), np.linalg.solve(SPD, B))
    assert np.allclose(sla.eigh(half, SPD, lower=False, eigvals_only=True)[0], 0, atol=2)
    assert np.allclose(sla.hilbert(3), scipy.linalg.hilbert(3))
    w, v = sla.eigh_tridiagonal(np.ones(3), np.array([0.5, 0.25]))
    assert np.allclose(w, scipy.linalg.eigh_tridiagonal(np.ones(3), [0.5, 0.25])[0])


def test_more_of_scipys_names_and_arguments():
    """What follows from other functions, with SciPy's signatures; one program for all of them."""
    low = np.array([[4.0, 5, 6, 7], [1, 2, 1, 0], [0.5, 0.25, 0, 0]])
    up = np.array([[0, 0, 0.5, 0.25], [0, 1, 2, 1], [4.0, 5, 6, 7]])
    c, r, s = B[:, 0] + 4, B[:, 1], np.array([3.0, 1.0])
    flat = np.outer(B[:, 0], B[:, 0])  # of rank one
    every = {
        "pinvh": ((flat,), {}), "pinv": ((flat,), {"atol": 1e-9}), "norm": ((A, "fro"), {}),
        "rq": ((A[:, :3],), {}), "diagsvd": ((s, 2, 3), {}), "signm": ((A,), {}),
        "solve_toeplitz": (((c, r), B), {}), "matmul_toeplitz": (((c, r), B), {}),
        "eigvalsh_tridiagonal": ((c, r[:3]), {}), "expm": ((), {"A": A}),
        "eigvals": ((SPD, SPD @ SPD), {"check_finite": False}),
        "lu_factor": ((A,), {"overwrite_a": False, "check_finite": False}),
        "cholesky_banded": ((low,), {"lower": True}), "svdvals": ((B,), {"check_finite": False}),
        "eigvalsh": ((SPD,), {"subset_by_index": (1, 2)}),
    }  # fmt: skip
    got = xc.jit(lambda: {k: getattr(sla, k)(*a, **o) for k, (a, o) in every.items()})()
    for name, (args, options) in every.items():
        wanted = getattr(scipy.linalg, name)(*args, **options)
        if name == "eigvals":
            got[name], wanted = np.sort(got[name]), np.sort(wanted)
        for ours, theirs in zip(xc.tree.leaves(got[name]), xc.tree.leaves(wanted), strict=True):
            assert np.allclose(abs(ours), abs(theirs)), name  # rows of rq up to signs
    assert np.allclose(got["rq"][0] @ got["rq"][1], A[:, :3])
    a = scipy.linalg.toeplitz(np.zeros(4)) + np.diag(low[0])
    a += sum(np.diag(low[k, : 4 - k], i) for k in (1, 2) for i in (k, -k))
    for form, lower in ((low, True), (up, False)):
        x = sla.cho_solve_banded((sla.cholesky_banded(form, lower=lower), lower), B)
        assert np.allclose(a @ np.asarray(x), B)
    assert sla.pinvh(flat, return_rank=True)[1] == 1
    assert sla.pinv(A, rtol=0.99, return_rank=True)[1] == 1
    assert sla.logm(SPD, disp=False)[1] < 1e-12 and sla.sqrtm(SPD, disp=False)[1] < 1e-12
    assert np.allclose(abs(sla.null_space(flat, rcond=1e-9).T @ B[:, 0]), 0)


def test_krylov_methods_take_trees_and_differentiate():
    b = {"x": xnp.asarray(B[:2, 0]), "y": xnp.asarray(B[2:, 0].reshape(2, 1))}

    def flat(t):
        return xnp.concatenate([t["x"], t["y"].reshape(-1)])

    def product(a):
        def f(t):
            v = a @ flat(t)
            return {"x": v[:2], "y": v[2:].reshape(2, 1)}

        return f

    for solver, a in ((cg, SPD), (bicgstab, A + 5 * np.eye(4)), (gmres, A + 5 * np.eye(4))):
        solve = xc.jit(lambda a, b, s=solver: flat(s(product(a), b, tol=1e-12)[0]))
        assert np.allclose(solve(a, b), np.linalg.solve(a, B[:, 0]))
        if solver is not cg:
            check_grads(solve, (a, b), order=1, rtol=1e-6, atol=1e-6)
    x, info = cg(SPD, B[:, 0], x0=B[:, 1], M=np.diag(1 / np.diag(SPD)), tol=1e-12)
    assert info == 0 and np.allclose(x, np.linalg.solve(SPD, B[:, 0]))
    worse, _ = cg(SPD, B[:, 0], maxiter=1)
    assert not np.allclose(worse, x)


def test_conjugate_gradients_on_fields():
    """Vectors in the shape of b: the same solution and slopes, with a preconditioner too."""
    shift = rng.random((3, 4)) + 1.0
    matrix = np.diag(shift.ravel()) + 0.1

    def solve(b, shift):
        near = lambda u: u / (shift + 0.1)
        return cg(lambda u: shift * u + 0.1 * u.sum(), b, M=near, tol=1e-13)[0]

    b = rng.standard_normal((3, 4))
    expected = np.linalg.solve(matrix, b.ravel()).reshape(3, 4)
    assert np.allclose(xc.jit(solve)(b, shift), expected)
    slopes = xc.grad(lambda b, s: (solve(b, s) ** 2).sum(), (0, 1))(xnp.asarray(b), shift)
    back = np.linalg.solve(matrix, 2 * expected.ravel()).reshape(3, 4)
    assert np.allclose(slopes[0], back) and np.allclose(slopes[1], -back * expected)


NAMED = {
    "hankel": ([1.0, 2, 3], [3.0, 4]), "companion": ([2.0, 1, 3],), "leslie": ([1.0, 2], [0.5]),
    "fiedler": ([1.0, 4, 2],), "khatri_rao": (A, B @ B.T), "hilbert": (3,), "invhilbert": (6,),
    "pascal": (5,), "invpascal": (5,), "hadamard": (8,), "helmert": (5,), "dft": (5,),
    "cosm": (A,), "sinm": (A,), "tanm": (A,), "coshm": (A,), "sinhm": (A,), "tanhm": (A,),
    "fractional_matrix_power": (SPD, -1.3), "subspace_angles": (A[:, :2], B),
    "issymmetric": (SPD,), "ishermitian": (A,), "bandwidth": (np.triu(A),),
}  # fmt: skip


def test_matrices_with_names_and_functions_of_matrices():
    with xc.enable_x64():
        for name, args in NAMED.items():
            got, want = getattr(sla, name)(*args), getattr(scipy.linalg, name)(*args)
            assert np.allclose(got, want, rtol=1e-10, atol=1e-12), name
        for kind in ("lower", "upper"):
            assert np.array_equal(sla.pascal(4, kind), scipy.linalg.pascal(4, kind))
            assert np.array_equal(sla.invpascal(4, kind), scipy.linalg.invpascal(4, kind))
        for mode in ("full", "same", "valid"):
            for n in (2, 5):
                got = sla.convolution_matrix(A[0, :3], n, mode)
                assert np.allclose(got, scipy.linalg.convolution_matrix(A[0, :3], n, mode))
        assert np.allclose(sla.helmert(4, full=True), scipy.linalg.helmert(4, full=True))
        assert np.allclose(sla.dft(4, "sqrtn"), scipy.linalg.dft(4, "sqrtn"))
        ours, theirs = sla.orthogonal_procrustes(A, SPD), scipy.linalg.orthogonal_procrustes(A, SPD)
        assert np.allclose(ours[0], theirs[0]) and np.isclose(ours[1], theirs[1])
        tiny = np.array([[1.0], [1e-9]])  # whose cosine is 1 in all digits
        assert np.isclose(sla.subspace_angles(np.eye(2)[:, :1], tiny)[0], 1e-9, rtol=1e-6)


@pytest.mark.parametrize("kind", ["sym", "her", "pos"])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_one_triangle_is_read(kind, lower, dtype):
    """A complex symmetric matrix is no Hermitian one."""
    rng = np.random.default_rng(3)
    a = rng.standard_normal((5, 5)) + (
        1j * rng.standard_normal((5, 5)) if dtype is np.complex128 else 0
    )
    whole = {"sym": a + a.T, "her": a + a.conj().T, "pos": a @ a.conj().T + np.eye(5)}[kind]
    known = np.tril(whole) if lower else np.triu(whole)
    other = np.triu(np.full((5, 5), 7.0), 1) if lower else np.tril(np.full((5, 5), 7.0), -1)
    with xc.enable_x64():
        x = sla.solve(known + other, a[:, :2], lower=lower, assume_a=kind)
        inverse = sla.inv(known + other, lower=lower, assume_a=kind)
    np.testing.assert_allclose(x, np.linalg.solve(whole, a[:, :2]), rtol=1e-10)
    np.testing.assert_allclose(inverse, np.linalg.inv(whole), rtol=1e-10)


@pytest.mark.parametrize(
    ("first", "second"), [((2, 1), (1, 3)), ((3,), ()), ((), (2,)), ((0,), ())]
)
def test_batches_beside_each_other(first, second):
    """Batches of two arguments are broadcast: each is what it is of one pair of matrices."""
    rng, lead = np.random.default_rng(0), np.broadcast_shapes(first, second)
    a, b = (rng.standard_normal((*s, 4, 4)) for s in (first, second))
    b = b @ b.swapaxes(-1, -2) + np.eye(4)
    pairs = list(
        zip(*(np.broadcast_to(x, (*lead, 4, 4)).reshape(-1, 4, 4) for x in (a, b)), strict=True)
    )
    with xc.enable_x64():
        w, v = sla.eigh(a + a.swapaxes(-1, -2), b)
        _, e = sla.expm_frechet(a, b)
        x, _, rank, s = sla.lstsq(a[..., :3], b)
    assert (w.shape, v.shape, e.shape) == ((*lead, 4), (*lead, 4, 4), (*lead, 4, 4))
    assert (x.shape, rank.shape, s.shape) == ((*lead, 3, 4), lead, (*lead, 3))
    for k, (p, q) in enumerate(pairs):
        np.testing.assert_allclose(
            w.reshape(-1, 4)[k], scipy.linalg.eigvalsh(p + p.T, q), rtol=1e-9
        )
        np.testing.assert_allclose(
            e.reshape(-1, 4, 4)[k], scipy.linalg.expm_frechet(p, q)[1], rtol=1e-9
        )
        np.testing.assert_allclose(
            x.reshape(-1, 3, 4)[k], scipy.linalg.lstsq(p[:, :3], q)[0], rtol=1e-9
        )
    with pytest.raises(ValueError, match="of one shape"):
        sla.eigh(np.eye(3), np.eye(4))
