"""xcore.numpy.linalg against NumPy, in value and derivative, compiled, batched and in vmap."""

import inspect
import itertools

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.numpy import linalg
from xcore.numpy._norms import chain_order

DTYPES = ("float32", "float64", "complex64", "complex128")


def random(shape, dtype="float64", seed=0):
    rng = np.random.default_rng([seed, *shape])
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def square(dtype):
    return random((2, 4, 4), dtype)


def tall(dtype):
    return random((2, 5, 3), dtype)


def wide(dtype):
    return random((3, 5), dtype)


def hermitian(dtype):
    x = square(dtype)
    return x + x.conj().swapaxes(-1, -2)


def definite(dtype):
    x = square(dtype)
    return x @ x.conj().swapaxes(-1, -2) + np.eye(4, dtype=dtype)


def deficient(dtype):
    return random((5, 2), dtype) @ random((2, 4), dtype, 1)


def rows(dtype):
    return random((4, 3), dtype)


def vector(dtype):
    return random((6,), dtype)


# A function of the module (NumPy's or ours) and arguments, and what makes the arguments.
ROWS = {
    "cholesky": (lambda L, a: L.cholesky(a), [definite]),
    "cholesky_upper": (lambda L, a: L.cholesky(a, upper=True), [definite]),
    "qr_r": (lambda L, a: L.qr(a, "r"), [tall]),
    "qr_raw": (lambda L, a: L.qr(a, "raw"), [wide]),
    "qr_complete": (lambda L, a: L.qr(a, "complete"), [tall]),
    "svdvals": (lambda L, a: L.svdvals(a), [tall]),
    "svd_values": (lambda L, a: L.svd(a, compute_uv=False), [wide]),
    "svd_hermitian": (lambda L, a: L.svd(a, hermitian=True).S, [hermitian]),
    "eigvalsh": (lambda L, a: L.eigvalsh(a), [hermitian]),
    "eigvalsh_upper": (lambda L, a: L.eigvalsh(a, "U"), [square]),
    "eigh_lower": (lambda L, a: L.eigh(a, "L").eigenvalues, [square]),
    "det": (lambda L, a: L.det(a), [square]),
    "slogdet": (lambda L, a: tuple(L.slogdet(a)), [square]),
    "solve": (lambda L, a, b: L.solve(a, b), [square, lambda d: random((2, 4, 3), d)]),
    "solve_broadcast": (lambda L, a, b: L.solve(a, b), [square, lambda d: random((3, 1, 4, 2), d)]),
    "solve_one_matrix": (
        lambda L, a, b: L.solve(a, b),
        [lambda d: random((4, 4), d), lambda d: random((3, 2, 4, 2), d)],
    ),
    "solve_vector": (lambda L, a, b: L.solve(a, b), [square, lambda d: random((4,), d)]),
    "inv": (lambda L, a: L.inv(a), [square]),
    "pinv": (lambda L, a: L.pinv(a), [tall]),
    "pinv_wide": (lambda L, a: L.pinv(a), [wide]),
    "pinv_deficient": (lambda L, a: L.pinv(a, 1e-4), [deficient]),
    "pinv_hermitian": (lambda L, a: L.pinv(a, hermitian=True), [hermitian]),
    "matrix_rank": (lambda L, a: L.matrix_rank(a, rtol=1e-4), [deficient]),
    "matrix_rank_tol": (lambda L, a: L.matrix_rank(a, 1.0), [tall]),
    "matrix_rank_hermitian": (lambda L, a: L.matrix_rank(a, hermitian=True), [hermitian]),
    "matrix_rank_vector": (lambda L, a: L.matrix_rank(a), [vector]),
    "lstsq": (lambda L, a, b: L.lstsq(a, b, 1e-4)[0], [rows, lambda d: random((4, 2), d)]),
    "lstsq_rest": (lambda L, a, b: L.lstsq(a, b, 1e-4)[1:], [rows, lambda d: random((4,), d)]),
    "lstsq_deficient": (
        lambda L, a, b: L.lstsq(a, b, 1e-4)[0],
        [deficient, lambda d: random((5, 2), d)],
    ),
    "matrix_power": (lambda L, a: L.matrix_power(a, 5), [square]),
    "matrix_power_0": (lambda L, a: L.matrix_power(a, 0), [square]),
    "matrix_power_negative": (lambda L, a: L.matrix_power(a, -2), [square]),
    "tensorinv": (lambda L, a: L.tensorinv(a, 2), [lambda d: random((2, 3, 6), d)]),
    "tensorinv_1": (lambda L, a: L.tensorinv(a, 1), [lambda d: random((6, 2, 3), d)]),
    "tensorsolve": (
        lambda L, a, b: L.tensorsolve(a, b),
        [lambda d: random((2, 3, 6), d), lambda d: random((2, 3), d)],
    ),
    "tensorsolve_axes": (
        lambda L, a, b: L.tensorsolve(a, b, (0,)),
        [lambda d: random((6, 2, 3), d), lambda d: random((2, 3), d)],
    ),
    "multi_dot": (
        lambda L, *xs: L.multi_dot(xs),
        [lambda d, s=s: random(s, d) for s in [(3,), (3, 5), (5, 2), (2, 4)]],
    ),
    "cross": (lambda L, a, b: L.cross(a, b), [rows, rows]),
    "cross_axis": (lambda L, a, b: L.cross(a, b, axis=0), [lambda d: random((3, 2), d)] * 2),
    "outer": (lambda L, a, b: L.outer(a, b), [vector, lambda d: random((2,), d)]),
    "diagonal": (lambda L, a: L.diagonal(a, offset=1), [tall]),
    "trace": (lambda L, a: L.trace(a, offset=-1), [tall]),
    "matmul": (lambda L, a, b: L.matmul(a, b), [square, square]),
    "vecdot": (lambda L, a, b: L.vecdot(a, b, axis=0), [rows, rows]),
    "tensordot": (lambda L, a, b: L.tensordot(a, b, axes=1), [square, rows]),
    "matrix_transpose": (lambda L, a: L.matrix_transpose(a), [tall]),
    "norm": (lambda L, a: L.norm(a), [tall]),
    **{
        f"norm_vector_{p}": (lambda L, a, p=p: L.norm(a, p), [vector])
        for p in (np.inf, -np.inf, 0, 1, -1, 2, -2, 3, 0.5)
    },
    **{
        f"norm_matrix_{p}": (lambda L, a, p=p: L.norm(a, p, (2, 0), keepdims=True), [tall])
        for p in ("fro", "nuc", np.inf, -np.inf, 1, -1, 2, -2)
    },
    "norm_axis": (lambda L, a: L.norm(a, axis=1, keepdims=True), [tall]),
    "norm_axes": (lambda L, a: L.norm(a, axis=(0, 2)), [tall]),
    "vector_norm": (lambda L, a: L.vector_norm(a, axis=(0, 2), ord=3), [tall]),
    "vector_norm_all": (lambda L, a: L.vector_norm(a, keepdims=True), [tall]),
    "matrix_norm": (lambda L, a: L.matrix_norm(a, ord=2), [tall]),
    **{
        f"cond_{p}": (lambda L, a, p=p: L.cond(a, p), [square])
        for p in (None, 2, -2, "fro", "nuc", 1, -1, np.inf, -np.inf)
    },
}
CASES = [
    (name, dtype)
    for i, name in enumerate(ROWS)
    for dtype in (DTYPES if name in ("solve", "svdvals") else (DTYPES[i % 2], DTYPES[2 + i % 2]))
]


def leaves(x):
    return list(x) if isinstance(x, (tuple, list)) else [x]


def close(got, want, factor=1.0):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape and got.dtype == want.dtype, (got.dtype, want.dtype)
    if want.dtype.kind == "i":
        np.testing.assert_array_equal(got, want)
        return
    size = np.abs(want[np.isfinite(want)]).max(initial=1.0)
    bound = 500 * np.finfo(want.dtype).eps * size * factor
    np.testing.assert_allclose(got, want, rtol=0, atol=bound)


def numpy_result(name, arguments):
    """NumPy's result, in the dtypes that ours has: counts in 32 bits."""
    call, _ = ROWS[name]
    for y in leaves(call(np.linalg, *arguments)):
        y = np.asarray(y)
        yield y.astype(np.int32) if y.dtype.kind == "i" else y


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_against_numpy(name, dtype):
    call, makers = ROWS[name]
    arguments = [make(dtype) for make in makers]
    got = leaves(call(linalg, *arguments))
    for y, want in zip(got, numpy_result(name, arguments), strict=True):
        close(y, want, 20)


COMPILED = ["cholesky", "qr_raw", "svd_hermitian", "det", "slogdet", "solve", "inv", "pinv_deficient",
            "matrix_rank", "matrix_power_negative", "tensorsolve", "norm_matrix_nuc", "cond_1"]  # fmt: skip


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_is_the_same(name):
    call, makers = ROWS[name]
    arguments = [make("float64") for make in makers]
    got = xc.jit(lambda *xs: call(linalg, *xs))(*arguments)
    for y, want in zip(leaves(got), leaves(call(linalg, *arguments)), strict=True):
        close(y, np.asarray(want))


def test_vectors_of_factorisations():
    a, h = tall("complex128"), hermitian("complex128")
    u, s, vh = map(np.asarray, linalg.svd(a, full_matrices=False))
    close((u * s[..., None, :]) @ vh, a)
    u, s, vh = map(np.asarray, linalg.svd(h, hermitian=True))
    close((u * s[..., None, :]) @ vh, h)
    q, r = map(np.asarray, linalg.qr(a))
    close(q @ r, a)
    w, v = map(np.asarray, linalg.eigh(h))
    close(h @ v, v * w[..., None, :])
    w, v = map(np.asarray, linalg.eig(square("float64")))
    close(square("complex128").real @ v, v * w[..., None, :])
    close(np.sort_complex(np.asarray(linalg.eigvals(h))[0]).real, np.linalg.eigvalsh(h)[0])


def test_names_are_numpys_and_the_standards():
    missing = {n for n in np.linalg.__all__ if not hasattr(linalg, n)} - {"test"}
    assert missing == set()
    assert linalg.LinAlgError is np.linalg.LinAlgError
    assert xnp.linalg is linalg
    for result, fields in [
        (linalg.svd(np.eye(2)), ("U", "S", "Vh")),
        (linalg.qr(np.eye(2)), ("Q", "R")),
        (linalg.eigh(np.eye(2)), ("eigenvalues", "eigenvectors")),
        (linalg.slogdet(np.eye(2)), ("sign", "logabsdet")),
    ]:
        assert result._fields == fields
    signatures = {"solve": "(a, b)", "inv": "(a)", "det": "(a)", "svdvals": "(x, /)"}
    assert {
        name: str(inspect.signature(getattr(linalg, name))) for name in signatures
    } == signatures


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_computed_in_single(dtype):
    a = xnp.asarray([[4.0, 1.0], [2.0, 3.0]], dtype)
    for got, want in [
        (linalg.solve(a, a), np.eye(2)),
        (linalg.det(a), 10),
        (linalg.cholesky(a @ a.T), np.linalg.cholesky([[17.0, 11], [11, 13]])),
        (linalg.svdvals(a), np.linalg.svd([[4.0, 1], [2, 3]])[1]),
        (linalg.norm(a, 2), np.linalg.norm([[4.0, 1], [2, 3]], 2)),
        (linalg.cond(a, 1), np.linalg.cond([[4.0, 1], [2, 3]], 1)),
    ]:
        assert got.dtype == a.dtype
        np.testing.assert_allclose(np.asarray(got, np.float64), want, rtol=2e-2, atol=2e-2)


def test_integers_become_floats():
    a = np.array([[2, 1], [1, 3]])
    assert linalg.inv(a.astype("int32")).dtype == np.float32
    assert linalg.inv(a).dtype == np.float64  # a 64-bit integer asks for 64 bits
    assert linalg.solve(a.astype("int8"), a.astype("float64")).dtype == np.float64
    assert linalg.matrix_power(a, 3).dtype == a.dtype
    np.testing.assert_array_equal(linalg.matrix_power(a, 3), np.linalg.matrix_power(a, 3))


# Empty and degenerate


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)], ids=str)
def test_empty_squares(shape):
    a = np.zeros(shape)
    for name in ("det", "inv", "cholesky", "eigvalsh"):
        close(getattr(linalg, name)(a), getattr(np.linalg, name)(a))
    for got, want in zip(linalg.slogdet(a), np.linalg.slogdet(a)):
        close(got, want)
    b = np.zeros((*shape[:-1], 2))
    close(linalg.solve(a, b), np.linalg.solve(a, b))


def test_empty_norms():
    a = np.zeros((0, 3))
    for args in [(), (1,), ("fro",)]:
        close(linalg.norm(a, *args), np.linalg.norm(a, *args))
    close(linalg.vector_norm(np.zeros(0)), np.float64(0))
    close(linalg.pinv(a), np.zeros((3, 0)))
    assert int(linalg.matrix_rank(np.zeros((2, 3)))) == 0


SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])


def test_singular_matrices():
    assert float(linalg.det(SINGULAR)) == 0
    sign, log = linalg.slogdet(SINGULAR)
    assert float(sign) == 0 and float(log) == -np.inf
    assert np.isinf(linalg.cond(SINGULAR, 1)) and linalg.cond(SINGULAR) > 1e15
    for call in (linalg.inv, lambda a: linalg.solve(a, np.ones(2)), lambda a: linalg.cholesky(-a)):
        with pytest.raises(np.linalg.LinAlgError, match=r"singular|definite"):
            call(SINGULAR)
        with pytest.raises(xc.errors.SingularMatrixError):
            call(np.stack([np.eye(2), SINGULAR]))
        assert not np.isfinite(xc.jit(call)(SINGULAR)).all()  # compiled code cannot raise


def test_nan_is_not_singular():
    a = np.full((2, 2), np.nan)
    assert np.isnan(linalg.inv(a)).all() and np.isnan(linalg.cond(a))


def test_lstsq_residuals_as_numpys():
    for shape in [(4, 3), (3, 3), (2, 3)]:
        a, b = random(shape), random((shape[0], 2), seed=1)
        got = linalg.lstsq(a, b, numpy_resid=True)
        close(got[1], np.linalg.lstsq(a, b)[1])


def test_matrices_of_one_triangle():
    a = square("float64")
    symmetric = (a + a.swapaxes(-1, -2)) / 2
    close(linalg.eigvalsh(a), np.linalg.eigvalsh(symmetric))
    close(linalg.eigvalsh(a, "L"), np.linalg.eigvalsh(a, "L"))
    close(linalg.eigvalsh(a, "L", symmetrize_input=True), np.linalg.eigvalsh(symmetric))
    upper = np.triu(definite("float64"))
    close(
        linalg.cholesky(upper, upper=True, symmetrize_input=False),
        np.linalg.cholesky(upper, upper=True),
    )


# Derivatives


def invariant_svd(L, a):
    u, s, vh = L.svd(a, full_matrices=False)
    return s, xnp.matmul(u, vh)


def invariant_eigh(L, a):
    w, v = L.eigh(a)
    return w, xnp.matmul(v[..., :1], v[..., :1].conj().swapaxes(-1, -2))


DERIVATIVES = {
    **{
        name: ROWS[name]
        for name in [
            "cholesky", "cholesky_upper", "det", "slogdet", "solve", "solve_one_matrix", "inv", "pinv",
            "pinv_wide", "lstsq", "matrix_power_negative", "tensorsolve", "norm", "norm_vector_3",
            "norm_vector_inf", "norm_matrix_nuc", "norm_matrix_2", "norm_matrix_1", "cond_None",
            "cond_fro", "svd_hermitian", "multi_dot",
        ]
    },
    "svd": (invariant_svd, [tall]),
    "eigh": (invariant_eigh, [hermitian]),
    "eig": (lambda L, a: tuple(L.eig(a)), [square]),
}  # fmt: skip


def pairing(xs, ys):
    return sum(np.real(np.sum(np.asarray(x) * np.asarray(y))) for x, y in zip(xs, ys))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives(name, dtype):
    call, makers = DERIVATIVES[name]
    xs = tuple(make(dtype) for make in makers)
    changes = tuple(random(x.shape, x.dtype, 10 + i) for i, x in enumerate(xs))
    if name == "svd_hermitian":
        changes = tuple(g + g.conj().swapaxes(-1, -2) for g in changes)
    f = xc.jit(lambda *xs: tuple(leaves(call(linalg, *xs))))

    def central(step):
        ends = [f(*[x + s * step * g for x, g in zip(xs, changes)]) for s in (1, -1)]
        return [(np.asarray(p) - np.asarray(m)) / (2 * step) for p, m in zip(*ends)]

    cts = tuple(random(y.shape, y.dtype, 20 + i) for i, y in enumerate(f(*xs)))
    _, tangents = xc.jvp(f, xs, changes)
    pulled = xc.vjp(f, *xs)[1](cts)
    for got, one, two in zip(tangents, central(1e-5), central(2e-5)):
        want = (4 * one - two) / 3
        size = max(1, np.abs(want).max())
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6 * size)
    left, right = pairing(tangents, cts), pairing(pulled, changes)
    np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rank", [2, 1, 0])
def test_derivative_of_a_vanishing_determinant(rank):
    """det' is tr(adj(a) a'): cofactors, which exist where the inverse does not."""
    a = random((3, rank)) @ random((rank, 3), seed=1) if rank else np.zeros((3, 3))
    want = [
        [
            (-1) ** (i + j) * np.linalg.det(np.delete(np.delete(a, i, 0), j, 1))
            for j in range(3)
        ]
        for i in range(3)
    ]  # fmt: skip
    np.testing.assert_allclose(xc.grad(linalg.det)(a), want, atol=1e-12)


def test_norms_have_a_finite_gradient_at_zero():
    for p in (None, 1, 2, 3, np.inf):
        assert np.isfinite(xc.grad(lambda x, p=p: linalg.norm(x, p))(np.zeros(3))).all()
    assert np.isfinite(xc.grad(linalg.matrix_norm)(np.zeros((2, 2)))).all()


def test_norms_of_no_order_are_the_usual_ones():
    x = xnp.asarray([[3.0, 0.0], [0.0, 4.0]])
    assert linalg.matrix_norm(x, ord=None) == linalg.vector_norm(x, ord=None) == 5


def test_gradients_of_symmetric_functions_are_symmetric():
    a = definite("float64")[0]
    for f in (lambda a: linalg.cholesky(a).sum(), lambda a: linalg.eigvalsh(a)[0]):
        g = np.asarray(xc.grad(f)(a))
        np.testing.assert_allclose(g, g.T)


@pytest.mark.parametrize(
    "name", ["solve", "inv", "det", "cholesky", "pinv", "norm_axis", "svdvals"]
)
def test_vmap_is_a_loop(name):
    call, makers = ROWS[name]
    arguments = [np.stack([make("float64"), 2 * make("float64")]) for make in makers]
    got = xc.vmap(lambda *xs: call(linalg, *xs))(*arguments)
    for lane in range(2):
        close(got[lane], np.asarray(call(linalg, *[x[lane] for x in arguments])))


def test_solve_with_one_batched_side_in_vmap():
    a, b = random((4, 4)), random((3, 4), seed=1)
    close(xc.vmap(lambda b: linalg.solve(a, b))(b), np.linalg.solve(a, b.T).T)
    stacked = np.stack([a, a + np.eye(4)])
    got = xc.vmap(lambda a: linalg.solve(a, b[0]))(stacked)
    close(got, np.stack([np.linalg.solve(m, b[0]) for m in stacked]))


# Products of many, errors


def cost(order, sizes):
    """(operations, first and last size) of multiplying in an order."""
    if isinstance(order, int):
        return 0, order, order + 1
    (left, first, middle), (right, _, last) = (cost(part, sizes) for part in order)
    return left + right + sizes[first] * sizes[middle] * sizes[last], first, last


def all_orders(i, j):
    if i == j:
        yield i
    for k in range(i, j):
        yield from itertools.product(all_orders(i, k), all_orders(k + 1, j))


@pytest.mark.parametrize("seed", range(5))
def test_chain_order_is_cheapest(seed):
    sizes = tuple(int(n) for n in np.random.default_rng(seed).integers(1, 30, 6))
    best = min(cost(order, sizes)[0] for order in all_orders(0, 4))
    assert cost(chain_order(sizes), sizes)[0] == best


ERRORS = [
    (lambda: linalg.inv(np.ones((2, 3))), ValueError, r"linalg\.inv.*square.*2,3"),
    (lambda: linalg.det(np.ones(3)), ValueError, "2 or more axes"),
    (lambda: linalg.solve(np.eye(3), np.ones((2, 3))), ValueError, "as many rows in b as in a"),
    (lambda: linalg.solve(np.ones((2, 3, 3)), np.ones((4, 3, 1))), ValueError, "broadcast"),
    (lambda: linalg.qr(np.eye(2), "full"), ValueError, "'reduced'"),
    (lambda: linalg.eigh(np.eye(2), "X"), ValueError, "UPLO"),
    (lambda: linalg.norm(np.eye(2), 3), ValueError, "'fro'"),
    (lambda: linalg.norm(np.ones(3), "fro"), ValueError, "ord"),
    (lambda: linalg.norm(np.ones((2, 2, 2)), 2), ValueError, "axis"),
    (lambda: linalg.norm(np.eye(2), axis=(0, 0)), ValueError, "axis"),
    (lambda: linalg.cross(np.ones(2), np.ones(2)), ValueError, "3 components"),
    (lambda: linalg.outer(np.ones((2, 2)), np.ones(2)), ValueError, "vectors"),
    (lambda: linalg.multi_dot([np.eye(2)]), ValueError, "two or more"),
    (lambda: linalg.multi_dot([np.eye(2), np.ones(2), np.eye(2)]), ValueError, r"arrays\[1\]"),
    (lambda: linalg.tensorinv(np.eye(2), 0), ValueError, "positive"),
    (
        lambda: linalg.tensorsolve(np.ones((2, 3, 4)), np.ones((2, 3))),
        ValueError,
        "as many elements",
    ),
    (lambda: linalg.lstsq(np.ones((2, 2, 2)), np.ones(2)), ValueError, r"\(m, n\)"),
    (lambda: linalg.slogdet(np.eye(2), method="svd"), ValueError, "'lu'"),
    (lambda: linalg.solve([[1.0, 0.0], [0.0, 1.0]], np.ones(2)), TypeError, "asarray"),
    (lambda: linalg.cond(np.zeros((0, 0))), ValueError, "empty"),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("name", ["inv", "det", "cholesky", "eigh", "eigvals", "slogdet"])
def test_what_is_no_square_matrix_is_numpys_error_too(name):
    for shape in ((3,), (2, 3)):
        with pytest.raises(np.linalg.LinAlgError, match=r"must be square|need 2 or more axes"):
            getattr(xnp.linalg, name)(xnp.ones(shape))
        with pytest.raises(np.linalg.LinAlgError):
            getattr(np.linalg, name)(np.ones(shape))
