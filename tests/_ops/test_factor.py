"""Factorisations against NumPy and SciPy. (Derivatives and lanes: ``test_factor_rules.py``)"""

from functools import partial

import numpy as np
import pytest
import scipy.linalg

from tests._ops.matrices import adjoint, arrays, close, definite, hermitian, random
from xcore._core import errors
from xcore._ops import families
from xcore._ops.condensed import hessenberg, tridiagonal
from xcore._ops.factor import (
    cholesky,
    exchange_rows,
    lu,
    lu_pivots_to_permutation,
    triangular_solve,
    tridiagonal_solve,
)
from xcore._ops.orthogonal import geqrf, householder_product, qr
from xcore._ops.spectral import eig, eigh, schur, svd
from xcore._transforms import api, gradients
from xcore._transforms.map import vmap

DTYPES = ("float32", "float64", "complex64", "complex128")

# Values

SHAPES = [(4, 4), (5, 3), (3, 5), (1, 1), (2, 3, 4, 3)]
EMPTY = [(0, 0), (3, 0), (0, 3), (0, 3, 3), (2, 0, 0)]
# Every dtype for two shapes, every shape for two dtypes: a compilation each is what they cost.
GRID = [
    (shape, dtype)
    for i, shape in enumerate(SHAPES + EMPTY)
    for dtype in (DTYPES if shape in [(5, 3), (2, 3, 4, 3)] else (DTYPES[i % 2], DTYPES[2 + i % 2]))
]
grid = pytest.mark.parametrize(("shape", "dtype"), GRID, ids=lambda x: str(x).replace(" ", ""))
dtypes = pytest.mark.parametrize("dtype", DTYPES)


def square_of(shape):
    return (*shape[:-2], shape[-1], shape[-1])


@grid
def test_cholesky(shape, dtype):
    a = definite(random(square_of(shape), dtype))
    upper_is_ignored = np.tril(a) + 3 * np.triu(np.ones_like(a), 1)
    factor = np.asarray(cholesky(upper_is_ignored))
    assert factor.dtype == dtype
    close(factor, np.linalg.cholesky(a), dtype)


def test_cholesky_of_an_indefinite_matrix_is_nan():
    good = definite(random((3, 3), "float64"))
    both = np.asarray(cholesky(np.stack([good, -good])))
    assert np.isfinite(both[0]).all() and np.isnan(both[1]).all()


@grid
def test_lu(shape, dtype):
    a = random(shape, dtype)
    packed, pivots, order = arrays(lu(a))
    m, n = shape[-2:]
    k = min(m, n)
    lower = np.tril(packed, -1)[..., :k] + np.eye(m, k)
    close(lower @ np.triu(packed)[..., :k, :], np.take_along_axis(a, order[..., None], -2), dtype)
    largest = np.sqrt(2) if np.iscomplexobj(a) else 1  # LAPACK compares |re| + |im|
    assert (np.abs(lower) <= largest + 1e-6).all() and packed.dtype == dtype
    np.testing.assert_array_equal(lu_pivots_to_permutation(pivots, size=m), order)
    np.testing.assert_array_equal(order, _exchanged(pivots, m))


def _exchanged(pivots, m):
    order = np.broadcast_to(np.arange(m), (*pivots.shape[:-1], m)).copy()
    for index in np.ndindex(pivots.shape[:-1]):
        for i, p in enumerate(pivots[index]):
            order[index][[i, p]] = order[index][[p, i]]
    return order


@pytest.mark.parametrize("batch", [(), (1,), (2, 3), (0,)], ids=str)
def test_exchange_rows(batch):
    x = random((*batch, 5, 2), "float64")
    pivots = np.random.default_rng(0).integers(0, 5, (*batch, 4)).astype(np.int32)
    moved = np.asarray(exchange_rows(x, pivots, reverse=False))
    order = np.asarray(lu_pivots_to_permutation(pivots, size=5))
    np.testing.assert_array_equal(moved, np.take_along_axis(x, order[..., None], -2))
    np.testing.assert_array_equal(exchange_rows(moved, pivots, reverse=True), x)


def test_lu_of_a_singular_matrix_is_finite():
    packed, _, order = arrays(lu(np.ones((3, 3))))
    np.testing.assert_array_equal(packed, [[1, 1, 1], [1, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(order, [0, 1, 2])


@grid
@pytest.mark.parametrize("full", [False, True], ids=["thin", "full"])
def test_qr(shape, dtype, full):
    a = random(shape, dtype)
    q, r = arrays(qr(a, full=full, pivoting=False))
    want_q, want_r = np.linalg.qr(a, "complete" if full else "reduced")
    assert (q.shape, r.shape) == (want_q.shape, want_r.shape) and q.dtype == dtype
    close(adjoint(q) @ q, adjoint(want_q) @ want_q, dtype)
    close(q @ r, a, dtype)
    close(np.tril(r, -1), 0, dtype)


@grid
def test_qr_with_pivoting(shape, dtype):
    a = random(shape, dtype)
    q, r, order = arrays(qr(a, full=False, pivoting=True))
    assert order.shape == (*shape[:-2], shape[-1]) and order.dtype == np.int32
    close(q @ r, np.take_along_axis(a, order[..., None, :], -1), dtype)
    sizes = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    assert (np.diff(sizes) <= 1e-6).all()


@dtypes
@pytest.mark.parametrize("shape", [(5, 3), (4, 4), (2, 3, 5, 2), (3, 0)], ids=str)
def test_householder_product(shape, dtype):
    a = random(shape, dtype)
    packed, taus = geqrf(a)
    q, r = arrays(qr(a, full=False, pivoting=False))
    close(np.triu(packed)[..., : r.shape[-2], :], r, dtype)
    close(householder_product(packed, taus), q, dtype)


@dtypes
@pytest.mark.parametrize("batch", [(), (2, 3), (0,)], ids=str)
@pytest.mark.parametrize("left", [True, False], ids=["left", "right"])
@pytest.mark.parametrize("transpose", "NTC")
def test_triangular_solve(batch, dtype, left, transpose):
    a = random((*batch, 4, 4), dtype) + 4 * np.eye(4, dtype=dtype)
    b = random((*batch, *((4, 2) if left else (2, 4))), dtype, 1)
    op = {"N": lambda x: x, "T": lambda x: x.swapaxes(-1, -2), "C": adjoint}[transpose]
    for lower, unit in [(True, False), (False, True)]:
        x = np.asarray(
            triangular_solve(a, b, left=left, lower=lower, transpose=transpose, unit_diagonal=unit)
        )
        read = np.tril(a) if lower else np.triu(a)
        read = read - read * np.eye(4) + np.eye(4) if unit else read
        close(op(read) @ x if left else x @ op(read), b, dtype, 30)


@dtypes
@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_tridiagonal_solve(n, dtype):
    dl, d, du = (random((2, n), dtype, seed) for seed in range(3))
    d = d + 4
    b = random((2, n, 3), dtype, 5)
    x = np.asarray(tridiagonal_solve(dl, d, du, b))
    for i in range(2):
        dense = np.diag(d[i]) + np.diag(dl[i, 1:], -1) + np.diag(du[i, :-1], 1)
        close(dense @ x[i], b[i], dtype)


def test_tridiagonal_solve_of_a_singular_system_is_nan():
    zero, one = np.zeros((2, 3)), np.ones((2, 3))
    d = np.array([[1.0, 1, 1], [0, 0, 0]])
    x = np.asarray(tridiagonal_solve(zero, d, zero, one[..., None]))
    np.testing.assert_array_equal(x[0, :, 0], 1)
    assert np.isnan(x[1]).all()


@grid
def test_eigh(shape, dtype):
    a = hermitian(random(square_of(shape), dtype))
    w, v = arrays(eigh(a + 5 * np.triu(np.ones_like(a), 1), vectors=True))
    close(w, np.linalg.eigvalsh(a), dtype)
    close(a @ v, v * w[..., None, :], dtype)
    assert w.dtype == a.real.dtype and v.dtype == dtype
    (values,) = eigh(a, vectors=False)
    close(values, w, dtype)


@grid
@pytest.mark.parametrize("full", [False, True], ids=["thin", "full"])
def test_svd(shape, dtype, full):
    a = random(shape, dtype)
    s, u, vh = arrays(svd(a, full=full, vectors=True))
    want = np.linalg.svd(a, full_matrices=full)
    assert [s.shape, u.shape, vh.shape] == [x.shape for x in (want[1], want[0], want[2])]
    k = s.shape[-1]
    close(s, want[1], dtype)
    close((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a, dtype)
    close(adjoint(u) @ u, adjoint(want[0]) @ want[0], dtype)
    close(vh @ adjoint(vh), want[2] @ adjoint(want[2]), dtype)
    close(svd(a, full=full, vectors=False)[0], s, dtype)


@grid
def test_eig(shape, dtype):
    a = random(square_of(shape), dtype)
    w, left, right = arrays(eig(a, left=True, right=True))
    assert w.dtype == left.dtype == right.dtype == np.result_type(dtype, "c8")
    close(a @ right, right * w[..., None, :], dtype)
    close(adjoint(left) @ a, w[..., :, None] * adjoint(left), dtype)
    close(eig(a, left=False, right=False)[0], w, dtype, 30)
    close(np.linalg.norm(right, axis=-2), np.ones_like(w.real), dtype)


@grid
def test_schur(shape, dtype):
    a = random(square_of(shape), dtype)
    t, z = arrays(schur(a))
    close(z @ t @ adjoint(z), a, dtype)
    close(adjoint(z) @ z, np.broadcast_to(np.eye(a.shape[-1]), a.shape), dtype)
    below = np.tril(t, -1 if np.dtype(dtype).kind == "c" else -2)
    assert not below.any()


@grid
def test_hessenberg(shape, dtype):
    a = random(square_of(shape), dtype)
    n = a.shape[-1]
    packed, taus = arrays(hessenberg(a))
    form = np.triu(packed, -1)
    q = np.broadcast_to(np.eye(n, dtype=dtype), a.shape).copy()
    if n > 1:
        q[..., 1:, 1:] = householder_product(packed[..., 1:, :-1], taus)
    close(q @ form @ adjoint(q), a, dtype)
    close(adjoint(q) @ q, np.broadcast_to(np.eye(n), a.shape), dtype)


@grid
def test_tridiagonal(shape, dtype):
    a = hermitian(random(square_of(shape), dtype))
    n = a.shape[-1]
    packed, d, e, taus = arrays(tridiagonal(np.tril(a), lower=True))
    assert d.dtype == e.dtype == a.real.dtype
    form = sum(
        np.eye(n, k=k) * np.concatenate([np.zeros((*a.shape[:-2], max(k, 0))), x], -1)[..., None, :n]
        for k, x in ((0, d), (1, e), (-1, np.concatenate([e, 0 * d[..., :1]], -1)))
    )  # fmt: skip
    q = np.broadcast_to(np.eye(n, dtype=dtype), a.shape).copy()
    if n > 1:
        q[..., 1:, 1:] = householder_product(packed[..., 1:, :-1], taus)
    close(q @ form @ adjoint(q), a, dtype)
    above = arrays(tridiagonal(np.triu(a), lower=False))
    close(np.sort(np.linalg.eigvalsh(form)), np.linalg.eigvalsh(a), dtype, 10)
    assert above[1].shape == d.shape


def test_nan_stays_in_its_lane():
    a = np.stack([np.full((3, 3), np.nan), hermitian(random((3, 3), "float64"))])
    for outs in (
        eigh(a, vectors=True),
        svd(a, full=False, vectors=True),
        qr(a, full=False, pivoting=False),
    ):
        for x in arrays(outs):
            assert np.isnan(x[0]).any() and np.isfinite(x[1]).all()


# Errors

solve_lower = partial(triangular_solve, left=True, lower=True, unit_diagonal=False)
ERRORS = [
    (lambda: cholesky(np.ones((2, 3))), errors.ShapeError, "must be square matrices"),
    (lambda: cholesky(np.ones(3)), errors.ShapeError, "must be matrices"),
    (lambda: lu(np.ones((2, 2), "float16")), errors.DTypeError, "float32 and float64"),
    (lambda: qr(np.ones((2, 2), int), full=True, pivoting=False), errors.DTypeError, "int64"),
    (
        lambda: solve_lower(np.ones((2, 2)), np.ones((3, 2)), transpose="N"),
        errors.ShapeError,
        "need rows of b to match a",
    ),
    (
        lambda: solve_lower(np.ones((2, 2)), np.ones((2, 2)), transpose="X"),
        ValueError,
        "'N', 'T' or 'C'",
    ),
    (
        lambda: tridiagonal_solve(np.ones(3), np.ones(3), np.ones(2), np.ones((3, 1))),
        errors.ShapeError,
        "diagonals",
    ),
    (lambda: householder_product(np.ones((2, 3)), np.ones(2)), errors.ShapeError, "k <= n <= m"),
    (
        lambda: exchange_rows(np.ones((2, 2)), np.zeros(3, np.int32), reverse=False),
        errors.ShapeError,
        "k <= m",
    ),
    (
        lambda: lu_pivots_to_permutation(np.zeros(3, np.int32), size=2),
        errors.ShapeError,
        "at most 2",
    ),
    (
        lambda: gradients.grad(lambda a: families.reduce_sum(schur(a)[0], axes=(0, 1)))(np.eye(2)),
        errors.MissingRuleError,
        "schur",
    ),
    (
        lambda: api.jvp(
            lambda a: qr(a, full=True, pivoting=False), (np.ones((3, 2)),), (np.ones((3, 2)),)
        ),
        errors.MissingRuleError,
        "mode='reduced'",
    ),
    (
        lambda: api.jvp(
            lambda a: svd(a, full=True, vectors=True), (np.ones((3, 2)),), (np.ones((3, 2)),)
        ),
        errors.MissingRuleError,
        "full_matrices=False",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_against_scipy_pivots():
    a = random((6, 6), "float64")
    packed, pivots, _ = arrays(lu(a))
    want, want_pivots = scipy.linalg.lu_factor(a)
    close(packed, want, "float64")
    np.testing.assert_array_equal(pivots, want_pivots)


@pytest.mark.parametrize("rows", [5, 64, 70])
@pytest.mark.parametrize("columns", [1, 3])
def test_exchanges_of_few_and_many_rows(rows, columns):
    """Many rows of one matrix are put in order by a kernel on the host."""
    rng = np.random.default_rng(rows)
    x = rng.standard_normal((rows, columns))
    pivots = np.array([rng.integers(i, rows) for i in range(rows - 2)], np.int32)
    order = np.arange(rows)
    for i, p in enumerate(pivots):
        order[[i, p]] = order[[p, i]]
    np.testing.assert_array_equal(lu_pivots_to_permutation(pivots, size=rows), order)
    np.testing.assert_array_equal(exchange_rows(x, pivots, reverse=False), x[order])
    np.testing.assert_array_equal(exchange_rows(x[order], pivots, reverse=True), x)
    lanes = np.asarray(
        vmap(partial(exchange_rows, reverse=True), (0, None))(np.stack([x, -x]), pivots)
    )
    np.testing.assert_array_equal(lanes[:, order], np.stack([x, -x]))
    none = np.zeros(0, np.int32)
    np.testing.assert_array_equal(lu_pivots_to_permutation(none, size=rows), np.arange(rows))
    np.testing.assert_array_equal(exchange_rows(x, none, reverse=True), x)


def _pivots_exchanged(pivots, reverse, x):
    return exchange_rows(x, pivots, reverse=reverse)


def test_rows_in_batches_beside_pivots_of_several_matrices():
    """Pivots with an axis of their own, which the batch has not."""
    x, pivots = random((4, 2, 3, 5), "float64"), np.array([[1, 2, 2], [2, 1, 2]], np.int32)
    for reverse in (False, True):
        found = vmap(partial(_pivots_exchanged, pivots, reverse))(x)
        for i in range(4):
            for j in range(2):
                rows = list(range(3))
                for k in range(3)[:: -1 if reverse else 1]:
                    rows[k], rows[pivots[j, k]] = rows[pivots[j, k]], rows[k]
                np.testing.assert_array_equal(found[i, j], x[i, j][rows])
