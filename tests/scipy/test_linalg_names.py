"""More of SciPy's linear algebra beside SciPy's own: batches, choices, and arguments of JAX."""

import numpy as np
import pytest
import scipy.linalg

import xcore as xc
import xcore.numpy as xnp
import xcore.scipy.linalg as sla
from xcore import lax

rng = np.random.default_rng(0)
A, E = rng.standard_normal((2, 2, 4, 4))
S, SPD = A + A.mT, A @ A.mT + 4 * np.eye(4)
C, R = rng.standard_normal((2, 2, 3))
D, OFF = np.array([2.0, 1, 3, 4]), np.array([0.5, 1, 0.2])
UPPER = np.array([[0, 0, 0.5, 0.25], [0, 1 + 1j, 2 + 1j, 1 + 1j], [4, 5, 6, 7]])
LOWER = np.array([[4.0, 5, 6, 7], [1, 2, 1, 0], [0.5, 0.25, 0, 0]])

BATCHES = {
    "toeplitz": (C, R), "circulant": (C,), "companion": (C,), "leslie": (C, R[:, :2]),
    "fiedler": (C,), "fiedler_companion": (C,), "convolution_matrix": (C, 3), "diagsvd": (C, 3, 5),
    "khatri_rao": (A, E), "block_diag": (A, E[:, :2]), "orthogonal_procrustes": (A, E),
    "subspace_angles": (A[:, :, :2], E[:, :, :2]), "hessenberg": (A,), "bandwidth": (np.tril(A),),
    "issymmetric": (S,), "ishermitian": (A,), "hankel": (C[0], R[0]),
}  # fmt: skip

OPTIONS = [
    ("eigvals_banded", (UPPER,), {}),
    ("eigvals_banded", (LOWER, True), {"select": "i", "select_range": (1, 2)}),
    ("eigvalsh_tridiagonal", (D, OFF), {"select": "v", "select_range": (1.0, 3.5)}),
    ("eigvalsh_tridiagonal", (D, OFF), {"select": "i", "select_range": (1, 1)}),
    ("eigvalsh", (S[0], SPD[0]), {"type": 2}),
    ("eigvalsh", (S[0], SPD[0]), {"type": 3, "lower": False}),
    ("eigvalsh", (S[0],), {"subset_by_value": (-1.0, 2.0)}),
    ("solve_circulant", (C[0], R[0]), {}),
    ("solve_circulant", (np.ones(3), R[0]), {"singular": "lstsq"}),
    ("solve_circulant", (C, R.T), {"caxis": 1, "baxis": 0, "outaxis": -1}),
    ("lu", (A[0],), {"p_indices": True}),
    ("inv", (np.tril(SPD[0]),), {"assume_a": "pos", "lower": True}),
    ("solve", (np.diag(D), D), {"assume_a": "tridiagonal"}),
    ("pascal", (4,), {"exact": False}),
    ("hadamard", (4,), {"dtype": float}),
    ("expm_frechet", (A[0], E[0]), {"method": "SPS"}),
    ("expm_cond", (A[0],), {}),
    ("cdf2rdf", np.linalg.eig(np.roll(np.eye(5), 1, 0)), {}),
]


def test_batches():
    for name, args in BATCHES.items():
        got, wanted = getattr(sla, name)(*args), getattr(scipy.linalg, name)(*args)
        for x, y in zip(xc.tree.leaves(got), xc.tree.leaves(wanted), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12, err_msg=name)
    for n in range(2, 9):
        a = np.arange(1.0, n + 1)
        np.testing.assert_array_equal(sla.fiedler_companion(a), scipy.linalg.fiedler_companion(a))


def test_options():
    for name, args, options in OPTIONS:
        got = getattr(sla, name)(*args, **options)
        wanted = getattr(scipy.linalg, name)(*args, **options)
        for x, y in zip(xc.tree.leaves(got), xc.tree.leaves(wanted), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12, err_msg=name)


def test_vectors_of_three_problems_and_two_sides():
    s, b = S[0], SPD[0]
    for kind, sides in {1: lambda v, w: (s @ v, b @ v * w), 2: lambda v, w: (s @ b @ v, v * w),
                        3: lambda v, w: (b @ s @ v, v * w)}.items():  # fmt: skip
        w, v = map(np.asarray, sla.eigh(s, b, type=kind))
        np.testing.assert_allclose(*sides(v, w), atol=1e-12)
        np.testing.assert_allclose(abs(v), abs(scipy.linalg.eigh(s, b, type=kind)[1]), rtol=1e-9)
    w, left, right = map(np.asarray, sla.eig(A[0], b, left=True))
    np.testing.assert_allclose(left.conj().T @ A[0], w[:, None] * (left.conj().T @ b), atol=1e-13)
    np.testing.assert_allclose(A[0] @ right, b @ right * w, atol=1e-13)
    for v in (left, right):
        np.testing.assert_allclose(np.linalg.norm(v, axis=0), 1)
    alpha, beta = sla.eig(A[0], b, right=False, homogeneous_eigvals=True)
    np.testing.assert_allclose(alpha / beta, w)


@pytest.mark.parametrize("mode", ["left", "right"])
def test_products_with_orthogonal_factors(mode):
    for a in (A[0, :, :3], A[0, :3], A[0] + 1j * E[0]):
        k = min(a.shape)
        c = E[0, :k, :2] if mode == "left" else E[0, :2, : a.shape[0]]
        for options in ((False, False), (True, True)):
            for x in (c, c[:, 0] if mode == "left" else c[0]):
                got = sla.qr_multiply(a, x, mode, *options)
                wanted = scipy.linalg.qr_multiply(a, x, mode, *options)
                for y, z in zip(got, wanted, strict=True):
                    np.testing.assert_allclose(y, z, atol=1e-13)


def test_sylvesters_equation_from_eigenvalues():
    args = A[0], SPD[0], E[0]
    solve = xc.jit(lambda *xs: sla.solve_sylvester(*xs, method="eigen", tol=1e-8))
    np.testing.assert_allclose(solve(*args), scipy.linalg.solve_sylvester(*args), rtol=1e-10)
    assert np.isnan(solve(args[0], -args[0], args[2])).all()
    xc.testing.check_grads(solve, args, order=1, modes=["rev"])


def test_bounded_exponentials():
    mixed = np.triu(A[0]) + np.tril(E[0], -1)
    got = sla.expm(mixed, upper_triangular=True, max_squarings=8)
    np.testing.assert_allclose(got, scipy.linalg.expm(np.triu(mixed)), rtol=1e-12, atol=1e-14)
    assert np.isnan(sla.expm(1e4 * mixed, max_squarings=8)).all()


def test_algorithms_with_names():
    a = A[0, :, :3]
    for algorithm in lax.linalg.SvdAlgorithm:
        if algorithm is lax.linalg.SvdAlgorithm.JACOBI:
            continue
        u, s, vh = lax.linalg.svd(a, full_matrices=False, algorithm=algorithm)
        np.testing.assert_allclose((np.asarray(u) * s) @ vh, a, atol=1e-13)
        wide = lax.linalg.svd(a.T, compute_uv=False, algorithm=algorithm)
        np.testing.assert_allclose(wide, np.linalg.svd(a)[1], rtol=1e-12)
    ours = lax.linalg.schur(S[0], sort_eig_vals=True, select_callable=lambda w: w.real > 0)
    assert np.diag(ours[0])[0] > 0 > np.diag(ours[0])[-1]
    fixed = xc.jacfwd(lambda a: lax.linalg.eig(a, enable_eigvec_derivs=False)[2])(A[0])
    np.testing.assert_array_equal(fixed, 0)
    u, h, _, converged = lax.linalg.qdwh(a)
    assert bool(converged)
    np.testing.assert_allclose(u @ h, a, atol=1e-13)


REFUSED = {
    "implementation": lambda: lax.linalg.eigh(
        S[0], implementation=lax.linalg.EighImplementation.QDWH
    ),
    "use_magma": lambda: lax.linalg.qr(A, use_magma=True),
    "algorithm": lambda: lax.linalg.svd(A, algorithm=lax.linalg.SvdAlgorithm.JACOBI),
    "perturb_singular": lambda: lax.linalg.tridiagonal_solve(D, D, D, A[0], perturb_singular=True),
    "select_callable": lambda: lax.linalg.schur(A, sort_eig_vals=True),
    "dynamic_shape": lambda: lax.linalg.qdwh(A, dynamic_shape=(2, 2)),
    "select": lambda: sla.eigh_tridiagonal(D, OFF, select="i"),
    "range of values": lambda: xc.jit(lambda s: sla.eigvalsh(s, subset_by_value=(0, 1)))(S[0]),
    "the range": lambda: sla.eigvalsh(S[0], subset_by_index=(2, 4)),
    "type": lambda: sla.eigh(S[0], SPD[0], type=4),
    "method": lambda: sla.solve_sylvester(A, A, A, method="other"),
    "singular": lambda: sla.solve_circulant(np.ones((1, 3)), R[0]),
    "columns": lambda: sla.qr_multiply(A[0], np.ones(3)),
    "kind": lambda: sla.pascal(3, "other"),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_is_refused(words):
    with pytest.raises((ValueError, sla.LinAlgError), match=words):
        REFUSED[words]()


ORDERS = [None, 0, 1, 2, -1, -2, 3, 0.5, np.inf, -np.inf]


@pytest.mark.parametrize("scale", [1, 1e200, 1e-200, 1e-300])
@pytest.mark.parametrize("ord", [*ORDERS, "fro", "nuc"])
def test_norms_on_all_scales(ord, scale):
    """Those of multiples are multiples, where squares leave the range too."""
    for shape in ((5,), (4, 3), (3, 3), (1, 1)):
        for x in (rng.standard_normal(shape), rng.standard_normal(shape) * 1j, np.zeros(shape)):
            if isinstance(ord, str) or (len(shape) == 2 and ord in (0, 3, 0.5)):
                if len(shape) == 1 or not isinstance(ord, str):
                    with pytest.raises(ValueError):
                        sla.norm(x * scale, ord)
                    continue
            with np.errstate(divide="ignore"):
                expected = scipy.linalg.norm(x, ord) * (1 if ord == 0 else scale)
            got = float(sla.norm(x * scale, ord))
            assert got == pytest.approx(expected, rel=1e-12, abs=0)
    v = np.array([3.0, -4.0])
    slope = xc.grad(lambda v: sla.norm(v) / 1e200)(xnp.asarray(v * 1e200))
    assert np.allclose(slope * 1e200, v / 5)
    assert np.isnan(sla.norm(np.array([1.0, np.nan]))) and np.isinf(sla.norm(np.array([1.0, np.inf])))  # fmt: skip
    assert sla.norm(np.array([3, 4])).item() == 5
