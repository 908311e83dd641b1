"""What is given to sparse functions and cannot be used: refused in words, never an answer of another matrix."""

import numpy as np
import pytest
import scipy.sparse as ss

import xcore as xc
import xcore.numpy as xnp
from xcore import sparse
from xcore._core.errors import ArgumentError
from xcore.sparse._pattern import by_place, stable_order


def _lopsided(dtype="float64"):
    a = np.diag([4.0, 5.0, 6.0, 7.0]).astype(dtype)
    a[0, 1], a[1, 0] = 1.0, 2.0
    return a


@pytest.mark.parametrize("kind", ["cholesky", "ldl", "ic0"])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_matrices_that_are_not_hermitian_are_refused(kind, scale):
    with xc.enable_x64():
        with pytest.raises(ArgumentError, match="Hermitian"):
            sparse.factorise(sparse.from_dense(scale * _lopsided()), kind)
        with pytest.raises(ArgumentError, match="Hermitian"):  # equal, but not conjugate
            sparse.factorise(sparse.from_dense(np.array([[4, 1j], [1j, 4]]) * scale), kind)
        nearly = np.diag([4.0, 5.0]) + np.array([[0, 1.0], [1.0 + 1e-15, 0]])
        sparse.factorise(sparse.from_dense(nearly * scale), kind)  # sums in another order


def test_of_a_batch_all_are_looked_at():
    with xc.enable_x64():
        good = (_lopsided() + _lopsided().T) / 2
        with pytest.raises(ArgumentError, match="Hermitian"):
            sparse.factorise(sparse.from_dense(np.stack([good, _lopsided()])), "cholesky")


def test_traced_matrices_that_are_not_hermitian_have_no_success():
    with xc.enable_x64():
        a = sparse.from_dense(_lopsided())
        for kind in ("cholesky", "ldl"):
            solve = lambda v: sparse.factorise(a.like(v), kind).solve(np.ones(4), report=True).ok  # noqa: B023
            assert not bool(xc.jit(solve)(a.values))


@pytest.mark.parametrize("kind", ["lu", "cholesky", "ldl"])
def test_elements_that_are_not_finite_are_called_so(kind):
    with xc.enable_x64():
        a = np.diag([4.0, np.nan, 6.0])
        found = sparse.factorise(sparse.from_dense(a), kind).solve(np.ones(3), report=True)
        assert int(found.status) == 3 and not bool(found.ok)
        with pytest.raises(Exception, match="NaN"):
            sparse.factorise(sparse.from_dense(a), kind).solve(np.ones(3))
    with pytest.raises(Exception, match="NaN"):
        sparse.lstsq(sparse.from_dense(np.array([[np.nan], [1.0]])), np.ones(2))


def test_factors_report_as_solve_does():
    with xc.enable_x64():
        f = sparse.factorise(sparse.from_dense(_lopsided()))
        found = f.solve(np.ones(4), report=True)
        assert bool(found.ok) and np.allclose(_lopsided() @ np.asarray(found.value), 1)
        with pytest.raises(ArgumentError, match="preconditioner"):
            sparse.factorise(sparse.from_dense(_lopsided()), "ilu").solve(np.ones(4), report=True)
        with pytest.raises(ArgumentError, match="those of kind='ilu'"):
            sparse.factorise(sparse.from_dense(_lopsided()), "ilu", tolerance=1.0)


def test_integers_of_any_kind_are_indices():
    rows, columns = np.array([2, 0, 2], np.uint8), np.array([1, 2, 1], np.uint8)
    a = sparse.coo_array(([1.0, 2.0, 3.0], (rows, columns)))
    assert np.array_equal(
        a.todense(), [[0, 0, 0], [0, 0, 0], [0, 4, 0]] + np.eye(3)[[0]].T * [0, 0, 2]
    )


@pytest.mark.parametrize(
    "pointers", [[0, 2, 1, 2], [0, 1, 2, 5], [1, 1, 2, 2], [], [0.0, 1.0, 2.0, 2.0]]
)
def test_row_pointers_are_looked_at(pointers):
    with pytest.raises(ArgumentError, match="row_pointers"):
        sparse.csr_array(([1.0, 2.0], [0, 1], pointers))


def test_shapes_of_pointers_and_of_the_matrix_agree():
    with pytest.raises(ArgumentError, match="2 rows"):
        sparse.csr_array(([1.0, 2.0], [0, 1], [0, 1, 2]), (3, 3))


def test_sums_of_lists_and_masks_of_comparisons():
    a = sparse.from_dense(np.array([[0.0, 2.0], [3.0, 0.0]]))
    assert np.array_equal(sum([a, a]).todense(), 2 * a.todense())
    assert np.array_equal((0 - a).todense(), -a.todense())
    assert np.array_equal(a[a > 2.5], [3.0])
    assert np.array_equal(a.at[a > 2.5].set(1.0).todense(), [[0, 2], [1, 0]])
    with pytest.raises(ArgumentError, match="bool"):
        bool(a != a)


def test_parts_are_scipys_in_any_order():
    rng = np.random.default_rng(0)
    s = ss.random_array((40, 30), density=0.2, rng=rng, format="csr")
    a, d = sparse.from_scipy(s), s.toarray()
    up, down, twice = slice(3, 31, 2), slice(None, None, -1), [5, 5, 2, 39]
    for index in (
        (up, up),
        (down, up),
        (up, down),
        (twice, up),
        (slice(9, 9), up),
        (up, slice(0, 0)),
    ):
        assert np.array_equal(a[index].todense(), d[index]), index


def test_orders_by_counting_are_those_by_comparing():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 500, 5000)
    assert np.array_equal(stable_order(x, 500), np.argsort(x, kind="stable"))
    y = rng.integers(0, 70, 5000)
    rows, columns, order = by_place(x, y, (500, 70))
    assert np.array_equal(order, np.lexsort((y, x)))
    assert np.array_equal(rows, x[order]) and np.array_equal(columns, y[order])


def test_products_of_large_matrices_and_their_derivatives():
    with xc.enable_x64():
        rng = np.random.default_rng(0)
        s, t = (ss.random_array((60, 60), density=0.4, rng=rng, format="csr") for _ in range(2))
        a, b = sparse.from_scipy(s), sparse.from_scipy(t)
        assert np.allclose((a @ b).todense(), (s @ t).toarray(), rtol=1e-13)
        weight = rng.normal(size=(60, 60))
        f = lambda a, b: xnp.sum((a @ b).todense() * weight)
        left, right = xc.grad(f, (0, 1))(a, b)
        assert np.allclose(left.todense(), weight @ t.T * (s.toarray() != 0), rtol=1e-12)
        assert np.allclose(right.todense(), s.T @ weight * (t.toarray() != 0), rtol=1e-12)
        turned = xc.grad(lambda a: xnp.sum(a.T.todense() * weight.T))(a)
        assert np.allclose(turned.todense(), weight * (s.toarray() != 0))


def test_traced_dense_matrices_need_a_pattern():
    with pytest.raises(ArgumentError, match="Pattern for a traced matrix"):
        xc.jit(lambda x: sparse.from_dense(x).todense())(np.eye(2))
    p = sparse.Pattern([0, 1], [0, 1], (2, 2))
    assert np.array_equal(
        xc.jit(lambda x: sparse.from_dense(x, p).todense())(np.ones((2, 2))), np.eye(2)
    )
