"""Extrema and norms of sparse matrices, whose elements that are not stored are zeros; what notebooks show of them."""

import numpy as np
import pytest
import scipy.sparse as ss
import scipy.sparse.linalg

import xcore as xc
import xcore.numpy as xnp
from xcore import sparse
from xcore.scipy.sparse.linalg import factorized, norm


def _cases():
    rng = np.random.default_rng(0)
    for shape in [(1, 1), (5, 7), (7, 5), (1, 6), (40, 3)]:
        for density in (0.0, 0.3, 1.0):
            for sign in (-1.0, 1.0):
                a = rng.random(shape) * (rng.random(shape) < density)
                yield sign * a
    yield np.array([[np.nan, 1.0], [0.0, -2.0]])


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_extrema_count_the_zeros_that_are_not_stored(name, axis):
    for a in _cases():
        got = getattr(sparse.from_dense(a), name)(axis)
        np.testing.assert_array_equal(got, getattr(a, name)(axis), strict=True)


def test_extrema_of_batches_and_their_derivatives():
    a = np.array([[[0.0, 3.0], [-1.0, 0.0]], [[0.0, -3.0], [-1.0, 0.0]]], np.float32)
    p = sparse.from_dense(a[0]).pattern
    both = sparse.Sparse(np.stack([a[0][[0, 1], [1, 0]], a[1][[0, 1], [1, 0]]]), p)
    np.testing.assert_array_equal(both.max(), a.max((1, 2)))
    np.testing.assert_array_equal(both.min(axis=0), a.min(1))
    np.testing.assert_allclose(norm(both), np.sqrt((a**2).sum((1, 2))), rtol=1e-6)
    slope = xc.grad(lambda v: sparse.Sparse(v, p).max())(xnp.asarray([3.0, -1.0]))
    assert slope.tolist() == [1.0, 0.0]


def test_one_full_row_costs_no_more_than_its_elements():
    n = 10**6
    rows = np.concatenate([np.zeros(n, int), np.arange(1, n)])
    columns = np.concatenate([np.arange(n), np.arange(1, n)])
    a = sparse.coo_array((np.ones(2 * n - 1, np.float32), (rows, columns)), shape=(n, n))
    found = np.asarray(a.max(axis=1))
    assert found.shape == (n,) and (found == 1).all()
    assert not np.asarray(a.min(axis=1))[1:].any()


def test_derivatives_along_rows():
    a = np.array([[1.0, 3.0], [-1.0, 0.0]], np.float32)
    p = sparse.Pattern([0, 0, 1], [0, 1, 0], (2, 2))
    v = xnp.asarray([1.0, 3.0, -1.0])
    slope = xc.grad(lambda v: sparse.Sparse(v, p).max(axis=1).sum())(v)
    assert slope.tolist() == [0.0, 1.0, 0.0]
    assert xc.grad(lambda v: sparse.Sparse(v, p).min(axis=1).sum())(v).tolist() == [1.0, 0.0, 1.0]
    np.testing.assert_array_equal(sparse.Sparse(v, p).max(axis=1), a.max(1))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_there_is_no_extremum_of_nothing(shape):
    a = sparse.from_dense(np.zeros(shape))
    with pytest.raises(xc.errors.XcoreError, match="need elements"):
        a.max()
    assert a.max(axis=1).shape == (0,) if shape[1] else True


@pytest.mark.parametrize("scale", [1.0, 1e30, 1e-30])
@pytest.mark.parametrize("order", [None, "fro", 1, -1, np.inf, -np.inf])
def test_norms_of_matrices(scale, order):
    for a in _cases():
        a = (scale * a).astype(np.float32)
        want = scipy.sparse.linalg.norm(ss.csr_array(a.astype(np.float64)), order)
        for given in (sparse.from_dense(a), ss.csr_array(a)):
            np.testing.assert_allclose(norm(given, order), want, rtol=1e-6)


@pytest.mark.parametrize("axis", [0, 1])
def test_norms_of_rows_and_columns(axis):
    for a in _cases():
        for order, want in ((None, 2), (2, 2), (1, 1), (np.inf, np.inf)):
            expected = np.linalg.norm(a, want, axis)
            np.testing.assert_allclose(norm(sparse.from_dense(a), order, axis), expected, rtol=1e-6)


def test_norms_that_are_not_there_are_refused():
    with pytest.raises(xc.errors.XcoreError, match="svds"):
        norm(sparse.eye_array(3), 2)
    with pytest.raises(xc.errors.XcoreError, match="ord"):
        norm(sparse.eye_array(3), "nuc")


def test_factors_as_a_function():
    a = ss.diags_array([2.0, -1.0, -1.0], offsets=[0, 1, -1], shape=(9, 9)).tocsc()
    with xc.enable_x64():
        solve = factorized(a)
        for b in (np.arange(9.0), np.eye(9)[:, :2]):
            np.testing.assert_allclose(solve(b), scipy.sparse.linalg.factorized(a)(b), rtol=1e-12)


def test_pictures_are_as_small_for_large_matrices():
    text = sparse.eye_array(1000)._repr_html_()
    assert text.count("■") == 32 and "1000x1000" in text
    assert sparse.eye_array(3)._repr_html_().count("■") == 3
    assert "■" not in sparse.from_dense(np.zeros((0, 4)))._repr_html_()


def test_structure_is_drawn_without_a_dense_matrix():
    pytest.importorskip("matplotlib").use("Agg")
    n = 10**6
    ax = xc.plot.matrix(sparse.eye_array(n), structure=True)
    assert len(ax.lines[0].get_xdata()) == n
    a = ss.csr_array(np.array([[1.0, 0], [2, 0]]))
    np.testing.assert_array_equal(xc.plot.matrix(a).images[0].get_array(), a.toarray())
