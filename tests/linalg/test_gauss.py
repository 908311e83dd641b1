"""Elimination of our own: backward errors, fields against brute force, derivatives."""

import itertools

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.testing import check_grads

DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def random(shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    x = x + 1j * rng.standard_normal(shape) if "complex" in dtype else x
    return xnp.asarray(x).astype(dtype)


def wide(x):
    return np.asarray(x).astype(complex)


def backward_error(f, a):
    """|l u - p a q| / |a|, in units of n eps."""
    a, n = wide(a), max(a.shape[-2:])
    exchanged = np.take_along_axis(a, np.asarray(f.rows)[..., :, None], -2)
    exchanged = np.take_along_axis(exchanged, np.asarray(f.columns)[..., None, :], -1)
    left = abs(wide(f.lower) @ wide(f.upper) - exchanged).sum(-1).max(initial=0)
    eps = float(xnp.finfo(f.packed.dtype).eps)
    return left / abs(a).sum(-1).max(initial=1e-30) / (n * eps)


@pytest.mark.parametrize("dtype", DTYPES)
def test_factors_of_every_dtype(dtype):
    a = random((2, 7, 7), dtype)
    assert backward_error(xc.linalg.gauss_lu(a), a) < 30


@pytest.mark.parametrize("pivoting", ["partial", "complete", "none"])
@pytest.mark.parametrize("shape", [(150, 150), (40, 23), (23, 40), (1, 1), (0, 3), (3, 0)])
def test_factors_of_every_shape(shape, pivoting):
    a = random(shape) + (9 * xnp.eye(*shape, dtype="float64") if pivoting == "none" else 0)
    f = xc.linalg.gauss_lu(a, pivoting)
    assert f.packed.shape == shape and backward_error(f, a) < 30


@pytest.mark.parametrize("pivoting", ["partial", "complete"])
def test_factors_where_the_default_of_integers_is_wide(pivoting):
    a = random((2, 70, 70))
    with xc.enable_x64():
        assert backward_error(xc.linalg.gauss_lu(a, pivoting), a) < 30


def wilkinson(n):
    """The matrix whose last column doubles in each step of partial pivoting."""
    a = np.eye(n) - np.tril(np.ones((n, n)), -1)
    a[:, -1] = 1
    return a


def test_growth_is_reported():
    assert float(xc.linalg.gauss_lu(wilkinson(20)).growth) == 2.0**19
    assert float(xc.linalg.gauss_lu(wilkinson(20), "complete").growth) == 2.0


@pytest.mark.parametrize("n", [5, 70])
def test_partial_pivoting_is_lapacks(n):
    import scipy.linalg

    a = np.asarray(random((n, n)))
    packed, _ = scipy.linalg.lu_factor(a)
    assert np.allclose(xc.linalg.gauss_lu(a).packed, packed, rtol=1e-9, atol=1e-11)


def test_solve_differentiates_and_batches():
    a, b = random((3, 4, 4)) + 3 * xnp.eye(4, dtype="float64"), random((3, 4, 2), seed=1)
    check_grads(xc.linalg.gauss_solve, (a, b), order=2)
    x = xc.vmap(lambda a, b: xc.linalg.gauss_solve(a, b, "complete"))(a, b)
    assert np.allclose(x, np.linalg.solve(a, b))


def test_factors_differentiate():
    for shape in ((4, 4), (5, 3), (3, 5)):
        a = random(shape, seed=3)
        check_grads(lambda a: xc.linalg.gauss_lu(a).packed, (a,), order=1)


def test_singular_raises_with_the_pivot():
    a = np.array([[1.0, 2, 3], [4, 5, 6], [5, 7, 9]])
    a[2] = a[0] + a[1]
    with pytest.raises(xc.errors.XcoreError, match="pivot 2"):
        xc.linalg.gauss_solve(np.diag([1.0, 2.0, 0.0]), np.ones(3))


# Fields


def brute_force_null(a, p):
    """How many vectors a kills modulo p."""
    n = a.shape[1]
    vectors = np.array(list(itertools.product(range(p), repeat=n)))
    return int((vectors @ a.T % p == 0).all(axis=1).sum())


@pytest.mark.parametrize("p", [2, 3, 5])
def test_rank_and_null_space_against_brute_force(p):
    rng = np.random.default_rng(p)
    for _ in range(6):
        a = rng.integers(0, p, (3, 4))
        a[2] = (a[0] + rng.integers(0, p) * a[1]) % p
        rank = int(xc.linalg.matrix_rank(a, field=p))
        null = np.asarray(xc.linalg.gauss_null_space(a, field=p))
        assert p ** (4 - rank) == brute_force_null(a, p)
        assert null.shape == (4, 4 - rank) and not (a @ null % p).any()
        assert int(xc.linalg.matrix_rank(null, field=p)) == 4 - rank if null.size else True


@pytest.mark.parametrize("p", [2, 7, 46337, 65537, 2**31 - 1])
def test_inverse_and_determinant(p):
    rng = np.random.default_rng(0)
    while True:
        a = rng.integers(0, p, (4, 4)).astype(object)
        det = sum(
            (-1) ** sum(s[i] > s[j] for i in range(4) for j in range(i, 4))
            * a[0, s[0]] * a[1, s[1]] * a[2, s[2]] * a[3, s[3]]
            for s in itertools.permutations(range(4))
        ) % p  # fmt: skip
        assert int(xc.linalg.gauss_det(a.astype(np.int64), field=p)) == det
        if det:
            break
    inverse = np.asarray(xc.linalg.gauss_inv(a.astype(np.int64), field=p)).astype(object)
    assert (a @ inverse % p == np.eye(4, dtype=int)).all()


def test_fields_check_their_arguments():
    with pytest.raises(ValueError, match="prime"):
        xc.linalg.rref(np.eye(2, dtype=int), field=6)
    with pytest.raises(TypeError, match="integer"):
        xc.linalg.rref(np.eye(2), field=7)
    with pytest.raises(xc.errors.XcoreError, match="singular"):
        xc.linalg.gauss_solve(np.array([[1, 1], [1, 1]]), np.array([0, 1]), field=2)


# Echelon forms


def test_reduced_form_keeps_the_row_space():
    a = np.array([[1.0, 2, 3, 4], [2, 4, 6, 9], [3, 6, 9, 13]])
    r = np.asarray(xc.linalg.rref(a))
    assert np.allclose(r, [[1, 2, 3, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    assert int(xc.linalg.matrix_rank(a, method="elimination")) == 2
    assert np.allclose(a @ np.asarray(xc.linalg.gauss_null_space(a)), 0)


def test_steps_tell_what_was_done():
    a = np.array([[2.0, 1], [4, 1]])
    steps = xc.linalg.row_echelon(a, return_steps=True)
    assert np.allclose(steps.matrices[0], a) and np.allclose(steps.matrices[-1], [[4, 1], [0, 0.5]])
    assert steps.describe() == [
        "column 1: exchange rows 1 and 2; row 2 -= 0.5 row 1",
        "column 2: pivot 0.5",
    ]
    reduced = xc.linalg.gauss_solve(a, np.ones(2), return_steps=True)
    assert np.allclose(reduced.matrices[-1][:, :2], np.eye(2))


def test_forms_leave_no_dust_and_each_matrix_of_a_batch_has_its_own_zero():
    thin = np.array([[1.0, 3, 0.1], [3, 1, 0.7], [0.1, 0.3, 7], [1, 2, 3]])
    a = thin[:, :1] * np.array([0.1, 0.3, 0.7, 1.1])  # of rank 1 but for roundings
    form = np.asarray(xc.linalg.row_echelon(a))
    assert (
        not form[1:].any()
        and np.isnan(np.asarray(xc.linalg.rref(np.array([[np.nan, 1], [1, 2]])))).any()
    )
    scales = np.stack([1e-12 * np.eye(2), 1e8 * np.eye(2)])
    assert np.asarray(xc.linalg.matrix_rank(scales, method="elimination")).tolist() == [2, 2]
    assert xc.linalg.gauss_null_space(scales, size=1).shape == (2, 2, 1)
    assert not np.asarray(xc.linalg.gauss_null_space(scales, size=1)).any()
    assert xc.linalg.rref(np.zeros((0, 2, 3))).shape == (0, 2, 3)
    assert xc.linalg.gauss_solve(np.zeros((0, 2, 2)), np.zeros((0, 2, 1))).shape == (0, 2, 1)


BAD = {
    "steps need one square matrix": (
        lambda: xc.linalg.gauss_solve(np.ones((2, 3)), np.ones(2), return_steps=True), "square"
    ),
    "steps need rows": (
        lambda: xc.linalg.gauss_solve(np.eye(3), np.ones(2), return_steps=True), "as many rows in b"
    ),
    "steps need arrays": (
        lambda: xc.linalg.gauss_solve([[1, 1], [0, 1]], [0, 1], return_steps=True), "asarray"
    ),
    "steps pivot partially": (
        lambda: xc.linalg.gauss_solve(np.eye(2), np.ones(2), "none", return_steps=True), "'partial'"
    ),
    "fields know the pivotings": (
        lambda: xc.linalg.gauss_inv(np.eye(2, dtype=int), "rook", field=2), "pivoting must be"
    ),
    "who speaks": (
        lambda: xc.linalg.gauss_inv(np.ones((2, 2), int), field=3), "gauss_inv: the matrix is singular"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_explained(case):
    call, told = BAD[case]
    with pytest.raises(xc.errors.XcoreError, match=told):
        call()
