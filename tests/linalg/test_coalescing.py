"""Derivatives where eigenvalues or singular values meet, and of determinants at singular matrices.

Through the faces, these are the tests of the operations ``aligned``, ``coupled`` and ``settled``.

References: the same quantities by formulas that never see the spectrum (traces of powers and
exponentials, minors, Frobenius norms), SciPy's exponentials of block matrices, and differences.
"""

import functools
import itertools

import numpy as np
import pytest
import scipy.linalg

import xcore as xc
import xcore.numpy as xnp
from xcore import linalg as la

rng = np.random.default_rng(0)
SPECTRA = [[1.0, 1, 1], [0.0, 0, 0], [2.0, 2, 5], [-1.0, 3, 3], [1.0, 2, 4]]


def rotated(values, kind=float):
    n = len(values)
    x = rng.normal(size=(n, n)) + (1j * rng.normal(size=(n, n)) if kind is complex else 0)
    q = np.linalg.qr(x)[0]
    return (q * np.array(values)) @ q.conj().T


def hermitian(n, kind=float):
    x = rng.normal(size=(n, n)) + (1j * rng.normal(size=(n, n)) if kind is complex else 0)
    return x + x.conj().T


def hessian_along(f, a, e):
    """The second derivative of f in the direction e twice, by forward over reverse mode."""
    return xc.jvp(lambda a: xc.jvp(f, (a,), (e,))[1], (a,), (e,))[1]


# Symmetric functions


@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])
@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("values", SPECTRA, ids=str)
def test_hessians_of_symmetric_functions_of_eigenvalues(values, kind, scale):
    a, e = rotated(values, kind), hermitian(3, kind)
    # Σ w² = tr a², Σ w³ = tr a³
    for power, want in ((2, 2 * np.trace(e @ e)), (3, 6 * np.trace(a @ e @ e))):
        f = lambda a, p=power: xnp.sum(xnp.linalg.eigvalsh(a) ** p)
        g = xc.jit(lambda a, e, f=f: xc.jvp(xc.grad(f), (a,), (e,))[1])
        got = np.real(np.sum(np.asarray(g(scale * a, scale * e)) * scale * e))
        assert np.isclose(got, scale**power * np.real(want), rtol=1e-10)


@pytest.mark.parametrize("dtype, rtol", [("float32", 2e-5), ("float64", 1e-12)])
def test_hessian_of_the_trace_of_the_exponential(dtype, rtol):
    f = xc.jit(xc.hessian(lambda a: xnp.sum(xnp.exp(xnp.linalg.eigvalsh(a)))))
    got = f(xnp.eye(3, dtype=dtype))
    e = np.e * np.eye(9).reshape(3, 3, 3, 3)
    np.testing.assert_allclose(got, (e + e.swapaxes(2, 3)) / 2, rtol=rtol, atol=rtol)


MATRICES = {
    "identity": np.eye(3),
    "zero": np.zeros((3, 3)),
    "tall identity": np.eye(4)[:, :3],
    "tall zero": np.zeros((4, 3)),
    "wide identity": np.eye(3, 5),
    "rank 2": np.diag([1.0, 1, 0]),
    "tall, rank 2": np.diag([1.0, 1, 0, 0])[:, :3],
    "rank 1": np.outer([1.0, 2, 3], [1.0, -1, 0]),
    "orthogonal": np.linalg.qr(np.arange(9.0).reshape(3, 3) ** 1.5 + np.eye(3))[0],
    "empty": np.zeros((0, 3)),
    "one": np.ones((1, 1)),
}


@pytest.mark.parametrize("name", MATRICES)
def test_hessian_of_the_sum_of_squared_singular_values(name):
    a = xnp.asarray(MATRICES[name])
    got = xc.jit(xc.hessian(lambda a: xnp.sum(xnp.linalg.svdvals(a) ** 2)))(a)
    got = np.asarray(got).reshape(a.size, a.size)
    np.testing.assert_allclose(got, 2 * np.eye(a.size), atol=1e-13)


def test_batches_have_repeated_values_each_on_its_own():
    stack = xnp.asarray(np.stack([np.eye(3), np.diag([1.0, 2, 3]), np.diag([2.0, 2, 1])]))
    f = lambda a: xnp.sum(xnp.linalg.eigvalsh(a) ** 3)
    got, one = xc.jit(xc.vmap(xc.hessian(f)))(stack), xc.jit(xc.hessian(f))
    for x, h in zip(stack, got, strict=True):
        np.testing.assert_allclose(h, one(x), atol=1e-13)
    whole = xc.jit(lambda a: xc.jvp(xc.grad(f), (a,), (a,))[1])(stack)
    np.testing.assert_allclose(whole, 6 * np.asarray(stack @ stack), atol=1e-12)


# Vectors of values that are equal


ORDERS = {
    "forward over reverse": lambda f, a, e: xc.jvp(xc.grad(f), (a,), (e,))[1],
    "reverse over forward": lambda f, a, e: xc.grad(lambda a: xc.jvp(f, (a,), (e,))[1])(a),
    "reverse over reverse": lambda f, a, e: xc.grad(lambda a: (xc.grad(f)(a) * e).sum())(a),
    "jacrev of grad": lambda f, a, e: xnp.einsum("ijkl,kl->ij", xc.jacrev(xc.grad(f))(a), e),
}
OF_VALUES = {  # symmetric functions, and the second derivative along e at a symmetric matrix
    "squares": (lambda a: (xnp.linalg.eigvalsh(a) ** 2).sum(), lambda a, e: 2 * e),
    "squares by eigh": (lambda a: (xnp.linalg.eigh(a)[0] ** 2).sum(), lambda a, e: 2 * e),
    "cubes": (lambda a: (xnp.linalg.eigvalsh(a) ** 3).sum(), lambda a, e: 3 * (a @ e + e @ a)),
    "singular values": (lambda a: (xc.linalg.svdvals(a) ** 2).sum(), lambda a, e: 2 * e),
    "by svd": (
        lambda a: (xnp.linalg.svd(a, compute_uv=True, full_matrices=False)[1] ** 2).sum(),
        lambda a, e: 2 * e,
    ),
}
SPACES = [(1, 1), (0, 0), (3, 3, 3), (1, 1, 2), (0, 0, 1), (2, -2), (1, 2), (1, 2, 4), (0, 1, 3)]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", OF_VALUES)
def test_second_derivatives_of_functions_of_values_are_right_or_nan(name, order):
    f, second = OF_VALUES[name]
    for values in SPACES:
        n = len(values)
        turns = np.linalg.qr(np.random.default_rng(n).normal(size=(n, n)))[0]
        for basis in (np.eye(n), turns):
            a = (basis * values) @ basis.T
            for e in (np.ones((n, n)) - np.eye(n), np.ones((n, n)), np.diag(np.arange(n))):
                e = xnp.asarray(e.astype(float))
                got, want = ORDERS[order](f, xnp.asarray(a), e), second(a, e)
                apart = len({abs(x) if "sv" in name or "sing" in name else x for x in values}) == n
                if apart or order == "forward over reverse":
                    assert np.isfinite(got).all(), values
                if np.isfinite(got).any():
                    np.testing.assert_allclose(
                        np.where(np.isfinite(got), got, want), want, atol=1e-9, err_msg=values
                    )


def by_vectors(a):
    w, v = xnp.linalg.eigh(a)
    return (v * xnp.exp(w)) @ xnp.conj(v.T)


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("values", SPECTRA, ids=str)
def test_functions_by_eigenvectors_are_right_forward_and_never_wrong_backward(values, kind):
    a, e, c = rotated(values, kind), hermitian(3, kind), hermitian(3, kind)
    want = scipy.linalg.expm_frechet(a, e)[1]
    for f in (by_vectors, xc.jit(by_vectors), xc.checkpoint(by_vectors)):
        np.testing.assert_allclose(xc.jvp(f, (a,), (e,))[1], want, atol=1e-10)
    back = np.asarray(xc.grad(lambda a: xnp.real(xnp.sum(by_vectors(a) * c)))(a))
    distinct = len({round(x, 9) for x in values}) == 3
    got = np.real(np.sum(back * e))
    assert np.isclose(got, np.real(np.sum(want * c))) if distinct else np.isnan(got)


def test_what_depends_on_a_whole_eigenspace_is_right_backward():
    a, c = rotated([1.0, 1, 5]), rng.normal(size=(3, 3))

    def projected(a):
        group = xnp.linalg.eigh(a)[1][:, :2]
        return xnp.sum(group @ group.T * c)

    moved = hermitian(3)
    for f in (projected, xc.jit(projected), xc.checkpoint(projected)):
        forward = xc.jvp(f, (a,), (moved,))[1]
        np.testing.assert_allclose(np.sum(np.asarray(xc.grad(f)(a)) * moved), forward, rtol=1e-10)
    one = lambda a: xnp.sum(xnp.linalg.eigh(a)[1][:, 0] * c[0])  # one vector of two
    assert np.isnan(xc.grad(one)(a)).all()


def test_derivatives_transpose():
    """A derivative is linear in the direction, whichever way it was made."""
    a, e = rotated([1.0, 2, 4]), hermitian(3)
    f = lambda a: by_vectors(a)
    back = xc.linear_transpose(lambda e: xc.jvp(f, (a,), (e,))[1], e)(e)[0]
    np.testing.assert_allclose(back, xc.vjp(f, a)[1](e)[0], atol=1e-10)
    over = xc.grad(lambda a: xnp.sum(xc.jvp(f, (a,), (e,))[1] * e))(a)
    want = xc.jvp(lambda a: xc.vjp(f, a)[1](e)[0], (a,), (e,))[1]
    np.testing.assert_allclose(over, want, atol=1e-9)


def test_derivatives_of_singular_vectors_at_deficient_rank():
    """Products that do not depend on the choice of vectors; single vectors have no derivative."""
    a, e = np.outer([1.0, 2, 2, 0], [3.0, 0, 4]), rng.normal(size=(4, 3))

    def rebuilt(a):
        u, s, vh = xnp.linalg.svd(a, full_matrices=False)
        return (u * s) @ vh

    np.testing.assert_allclose(xc.jvp(rebuilt, (a,), (e,))[1], e, atol=1e-12)
    last = lambda a: xnp.sum(xnp.linalg.svd(a, full_matrices=False)[0][:, 2] * e[:, 0])
    assert np.isnan(xc.grad(last)(a)).any()


@xc.jit
def both_ways_of_eigvals(a):
    w, moved = xc.jvp(xnp.linalg.eigvals, (a,), (xnp.ones_like(a),))
    return moved, xc.vjp(xnp.linalg.eigvals, a)[1](xnp.ones_like(w))[0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("size", [2, 3])
def test_defective_matrices_have_no_derivatives_of_eigenvalues(dtype, size):
    block = (np.eye(size) + np.eye(size, k=1)).astype(dtype)
    q = np.linalg.qr(rng.normal(size=(size, size)))[0].astype(dtype)
    for a in (block, q @ block @ q.T):
        moved, back = both_ways_of_eigvals(a)
        assert np.isnan(moved).all() and np.isnan(back).all()


def test_simple_and_semisimple_eigenvalues_have_derivatives():
    for a in (
        np.diag([1.0, 1, 2]),
        np.array([[1.0, 5], [0, 2]]),
        np.triu(np.ones((4, 4)), 1) * 30 + np.diag([1.0, 2, 3, 4]),
    ):
        e = rng.normal(size=a.shape)
        moved = xc.jit(lambda a, e: xc.jvp(xnp.linalg.eigvals, (a,), (e,))[1])(a, e)
        np.testing.assert_allclose(np.sum(moved), np.trace(e), rtol=1e-8)


# Determinants


def second_derivatives_of_det(a):
    """Those of a sum of products, one factor from each row and column: minors with signs."""
    n, found = len(a), np.zeros(a.shape * 2, a.dtype)
    for i, j, k, m in itertools.product(range(n), repeat=4):
        if i == k or j == m:
            continue
        minor = np.delete(np.delete(a, [i, k], 0), [j, m], 1)
        sign = (-1) ** (i + j + k + m) * (1 if (i < k) == (j < m) else -1)
        found[i, j, k, m] = sign * (np.linalg.det(minor) if n > 2 else 1)
    return found


SINGULAR = {
    "regular": rng.normal(size=(4, 4)),
    "complex": rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3)),
    "identity": np.eye(3),
    "rank 2 of 3": np.array([[1.0, 2, 3], [2, 4, 6], [1, 0, 1]]),
    "rank 2 of 4": np.diag([2.0, 20, 0, 0]) @ rng.normal(size=(4, 4)),
    "rank 1": np.ones((4, 4)),
    "zero": np.zeros((3, 3)),
    "zero of 2": np.zeros((2, 2)),
    "one": np.zeros((1, 1)),
}


@pytest.mark.parametrize(
    "det", [xnp.linalg.det, la.det, la.gauss_det], ids=["numpy", "linalg", "gauss"]
)
@pytest.mark.parametrize("name", SINGULAR)
def test_second_derivatives_of_determinants(name, det):
    a = SINGULAR[name]
    want, holomorphic = second_derivatives_of_det(a), np.iscomplexobj(a)
    modes = (xc.jacfwd, xc.jacrev)
    for outer, inner in itertools.product(modes, modes):
        f = outer(inner(det, holomorphic=holomorphic), holomorphic=holomorphic)
        got = xc.jit(f)(a)  # one program, not one for each operation
        np.testing.assert_allclose(got, want, atol=1e-12 * max(1, np.abs(want).max()))


def test_third_derivatives_of_determinants():
    a, e = rng.normal(size=(3, 3)), np.zeros((3, 3))
    e[0, 1] = 1e-5
    want = (second_derivatives_of_det(a + e) - second_derivatives_of_det(a - e)) / 2e-5
    third = xc.jit(xc.jacfwd(xc.hessian(xnp.linalg.det)))
    np.testing.assert_allclose(third(a)[..., 0, 1], want, atol=1e-9)
    assert not np.isfinite(third(np.zeros((3, 3)))).all()


def test_determinants_along_a_curve_and_in_batches():
    """The third derivative, where the direction turns too; the second of many matrices at once."""
    curves = rng.normal(size=(2, 3, 3, 3))
    at = lambda c, t: c[0] + t * c[1] + t * t * c[2]
    times = np.linspace(-1, 1, 7)
    fits = [np.polyfit(times, [np.linalg.det(at(c, t)) for t in times], 6) for c in curves]
    slope = lambda f: lambda c, t: xc.jvp(lambda t: f(c, t), (t,), (1.0,))[1]
    of_det = lambda c, t: xnp.linalg.det(at(c, t))
    second, third = slope(slope(of_det)), slope(slope(slope(of_det)))
    of_all = lambda f: xc.jit(xc.vmap(f, (0, None)))(curves, np.float64(0))
    np.testing.assert_allclose(of_all(second), [2 * f[4] for f in fits], rtol=1e-9)
    np.testing.assert_allclose(of_all(third), [6 * f[3] for f in fits], rtol=1e-9)


# Polar factors


@pytest.mark.parametrize("method", ["svd", "qdwh"])
@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4)], ids=str)
def test_second_derivatives_of_polar_factors_at_orthogonal_matrices(shape, method):
    a = np.linalg.qr(rng.normal(size=(max(shape), min(shape))))[0]
    a = a if shape[0] >= shape[1] else a.T
    c = rng.normal(size=shape)
    f = lambda a: xnp.sum(la.polar(a, method=method)[0] * c)
    hessian = np.asarray(xc.jit(xc.hessian(f))(a)).reshape(a.size, a.size)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-10)
    e, h = rng.normal(size=shape), 1e-3
    unitary = lambda a: np.sum(scipy.linalg.polar(a)[0] * c)
    points = np.array([unitary(a + k * h * e) for k in (-2, -1, 0, 1, 2)])
    want = points @ [-1, 16, -30, 16, -1] / (12 * h * h)
    np.testing.assert_allclose(e.ravel() @ hessian @ e.ravel(), want, rtol=1e-6)


# Functions of Hermitian matrices

FUNCTIONS = {"exp": (xnp.exp, scipy.linalg.expm), "sin": (xnp.sin, scipy.linalg.sinm)}
CLOSE = [
    [1.0, 1, 1],
    [1.0, 1, 2],
    [1.0, 1 + 1e-9, 1.5],
    [1.0, 1 + 1e-3, 1 + 2e-3],
    [0.5, 1, 2],
    [0, 0.1, 9],
]


@functools.cache
def derivatives_of_funmh(f):
    """Value, derivatives along e forward, and backward of Re Σ f(a) c: first, forward over it, and it again."""

    @xc.jit
    def found(a, e, c):
        apply = lambda a: la.funmh(a, f)
        value, first = xc.jvp(apply, (a,), (e,))
        back = xc.grad(lambda a: xnp.real(xnp.sum(apply(a) * c)))
        forward = xc.jvp(back, (a,), (e,))[1]
        again = xc.grad(lambda a: xnp.real(xnp.sum(back(a) * e)))(a)
        return value, first, hessian_along(apply, a, e), back(a), forward, again

    return found


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("values", CLOSE, ids=str)
def test_functions_of_hermitian_matrices(values, kind, name):
    f, reference = FUNCTIONS[name]
    a, e, c = rotated(values, kind), hermitian(3, kind), hermitian(3, kind)
    zero = np.zeros_like(a)
    block = reference(np.block([[a, e, zero], [zero, a, e], [zero, zero, a]]))
    value, first, second = block[:3, :3], block[:3, 3:6], 2 * block[:3, 6:]
    size = np.abs(second).max()
    got, along, twice, back, *backs = derivatives_of_funmh(f)(a, e, c)
    np.testing.assert_allclose(got, value, atol=1e-12 * size)
    np.testing.assert_allclose(along, first, atol=1e-12 * size)
    np.testing.assert_allclose(twice, second, atol=1e-11 * size)
    paired = lambda x: np.real(np.sum(np.asarray(x) * e))
    assert np.isclose(paired(back), np.real(np.sum(first * c)), atol=1e-11 * size)
    for found in backs:
        assert np.isclose(paired(found), np.real(np.sum(second * c)), atol=1e-10 * size)


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
)
@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (2, 0, 0), (5, 3, 3)], ids=str)
def test_functions_of_hermitian_matrices_in_all_dtypes(dtype, shape):
    a = xnp.broadcast_to(xnp.eye(shape[-1], dtype=dtype), shape)
    got = la.funmh(a, xnp.exp)
    assert got.dtype == a.dtype and got.shape == shape
    rtol = {"bfloat16": 1e-2, "float16": 2e-3, "float32": 1e-5, "complex64": 1e-5}.get(dtype, 1e-13)
    want = np.e * np.asarray(a, complex)
    np.testing.assert_allclose(np.asarray(got, complex), want, rtol=rtol)
    if "complex" not in dtype:
        slope = xc.jit(xc.grad(lambda a: xnp.sum(la.funmh(a, xnp.exp))))(a)
        want = np.broadcast_to(np.e, shape)
        np.testing.assert_allclose(np.asarray(slope, float), want, rtol=rtol)


@xc.jit
def third(a, e):
    """The third derivative of exp along e."""
    along = lambda t: la.funmh(a + t * e, xnp.exp)
    for _ in range(3):
        along = xc.jacfwd(along)
    return along(xnp.zeros((), "float64"))


@pytest.mark.parametrize("values", CLOSE, ids=str)
def test_third_derivatives_of_functions_of_hermitian_matrices(values):
    a, e = rotated(values), hermitian(3)
    block = np.kron(np.eye(4), a) + np.kron(np.eye(4, k=1), e)
    want = 6 * scipy.linalg.expm(block)[:3, 9:]
    np.testing.assert_allclose(third(a, e), want, atol=1e-9 * np.abs(want).max())


def test_functions_of_hermitian_matrices_along_a_curve():
    """The second derivative where the direction turns: of exp at a + t b + t² c, b c and c b apart."""
    a, b, c = rotated([1.0, 1, 1.5]), hermitian(3), hermitian(3)
    slope = lambda f: lambda t: xc.jvp(f, (t,), (1.0,))[1]
    got = xc.jit(slope(slope(lambda t: la.funmh(a + t * b + t * t * c, xnp.exp))))(np.float64(0))
    block = np.kron(np.eye(3), a) + np.kron(np.eye(3, k=1), b) + np.kron(np.eye(3, k=2), c)
    np.testing.assert_allclose(got, 2 * scipy.linalg.expm(block)[:3, 6:], rtol=1e-9, atol=1e-9)


def test_functions_with_complex_values_and_of_small_eigenvalues():
    a, e = rotated([1.0, 1, 2]), hermitian(3)
    got = xc.jvp(lambda a: la.funmh(a, lambda w: xnp.exp(1j * w)), (a,), (e,))[1]
    np.testing.assert_allclose(got, scipy.linalg.expm_frechet(1j * a, 1j * e)[1], atol=1e-12)
    log_along = xc.jit(lambda a, e: xc.jvp(lambda a: la.funmh(a, xnp.log), (a,), (e,))[1])
    # no scale but that of the eigenvalues: log and roots of tiny ones
    for size in (1e-200, 1e-20, 1e20):
        small = size * rotated([1.0, 1, 1 + 1e-6])
        moved = log_along(small, size * e)
        np.testing.assert_allclose(moved, e, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("bad, message", [(np.ones((2, 3)), "square"), (np.ones(3), "matrices")])
def test_wrong_matrices_are_named(bad, message):
    with pytest.raises(xc.errors.ShapeError, match=f"linalg.funmh.*{message}"):
        la.funmh(bad, xnp.exp)


NEARLY_DEFECTIVE = [  # and whether rounding leaves their eigenvalues a derivative
    ([[1.0, 1.0], [0.0, 1.0 + 1e-5]], True),  # less ill than digits are half
    ([[1.0, 1.0], [0.0, 1.0 + 1e-9]], False),  # eigenvalues that rounding carries past each other
    ([[1.0, 1e4, 1e4], [0.0, 2.0, 1e4], [0.0, 0.0, 3.0]], True),  # ill, but far from each other
    ([[1.0, 1e6, 1e6], [0.0, 2.0, 1e6], [0.0, 0.0, 3.0]], False),
]


@pytest.mark.parametrize("scale", [1.0, 1e8, 1e-8])
@pytest.mark.parametrize("a, fine", NEARLY_DEFECTIVE)
def test_nearly_defective_matrices(a, fine, scale):
    a = xnp.asarray(scale * np.array(a))
    slopes = xc.jvp(xnp.linalg.eigvals, (a,), (xnp.ones_like(a),))[1]
    assert np.isfinite(np.asarray(slopes)).all() == fine


def _smooth_at_equal_values():
    """(function, matrix, direction) of pseudoinverses and least squares whose singular values are equal."""
    tall = np.linalg.qr(rng.standard_normal((4, 3)))[0]
    complex_ = np.linalg.qr(rng.standard_normal((4, 3)) + 1j * rng.standard_normal((4, 3)))[0]
    b, even = np.arange(4.0), rng.standard_normal((3, 3))
    sum_ = lambda x: (xnp.abs(x) ** 2 * x.real).sum()
    return {
        "pinv": (lambda w: sum_(la.pinv(w)), tall, None),
        "pinv of a complex matrix": (lambda w: sum_(la.pinv(w)), complex_, 1j),
        "pinv, hermitian": (lambda w: sum_(la.pinv(w, hermitian=True)), 2 * np.eye(3), even + even.T),
        "pinv of a scaled one": (lambda w: 1e60 * sum_(la.pinv(w)), 1e20 * tall, None),
        "lstsq": (lambda w: sum_(la.lstsq(w, b)), tall, None),
        "lstsq, wide": (lambda w: sum_(la.lstsq(w, b[:3])), tall.T, None),
        "lstsq, ridge": (lambda w: sum_(la.lstsq(w, b[:2], ridge=0.1)), rng.standard_normal((2, 4)), None),
        "lstsq, rows": (lambda w: sum_(la.lstsq(w, np.ones((4, 2)), ridge=0.3)), 0.5 * tall, None),
        "numpy's": (lambda w: sum_(xnp.linalg.lstsq(w, b)[0]), tall, None),
    }  # fmt: skip


@pytest.mark.parametrize("name", _smooth_at_equal_values())
def test_pseudoinverses_know_no_singular_vectors(name):
    with xc.enable_x64():
        f, w, direction = _smooth_at_equal_values()[name]
        random = np.random.default_rng(1)
        if direction is None or np.ndim(direction) == 0:
            direction = random.standard_normal(w.shape) * (
                1.0 if direction is None else 1 + direction
            )
        direction = direction * (1e20 if "scaled" in name else 1.0)
        along = lambda t: f(w + t * direction)
        slope, h = xc.jit(xc.grad(along)), 1e-5
        want = (float(along(h)) - float(along(-h))) / (2 * h)
        assert float(slope(0.0)) == pytest.approx(want, rel=1e-6, abs=1e-7)
        want = (float(slope(h)) - float(slope(-h))) / (2 * h)
        modes = (xc.jacfwd, xc.jacrev)
        for one, two in itertools.product(modes, modes):
            assert float(one(two(along))(0.0)) == pytest.approx(want, rel=1e-6, abs=1e-6)


def test_pseudoinverses_of_deficient_rank_along_matrices_of_that_rank():
    with xc.enable_x64():
        u, du, v = (rng.standard_normal(s) for s in ((5, 2), (5, 2), (2, 4)))
        along = lambda t: (la.pinv((u + t * du) @ xnp.asarray(v)) ** 3).sum()
        slope, h = xc.grad(along), 1e-5
        want = (float(slope(h)) - float(slope(-h))) / (2 * h)
        for one, two in itertools.product((xc.jacfwd, xc.jacrev), repeat=2):
            assert float(one(two(along))(0.0)) == pytest.approx(want, rel=1e-5)
