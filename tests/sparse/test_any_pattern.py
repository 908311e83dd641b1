"""Matrices of any pattern beside SciPy's: empty ones, rows without elements, places given twice, batches, complex numbers."""

import numpy as np
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import xcore.numpy as xnp
from xcore import sparse

DTYPES = st.sampled_from(["float32", "float64", "complex64", "complex128", "int32", "bool"])


@st.composite
def coordinates(draw, rows=None, columns=None):
    """(values, (rows, columns)), shape of a matrix, in any order."""
    m = draw(st.integers(0, 6)) if rows is None else rows
    n = draw(st.integers(0, 6)) if columns is None else columns
    count = draw(st.integers(0, 12)) if m * n else 0
    rng, dtype = np.random.default_rng(draw(st.integers(0, 99))), draw(DTYPES)
    values = rng.integers(-4, 5, count) + (
        1j * rng.integers(-4, 5, count) if "complex" in dtype else 0
    )
    places = (rng.integers(0, max(m, 1), count), rng.integers(0, max(n, 1), count))
    return (values.astype(dtype), places), (m, n)


def both(drawn):
    parts, shape = drawn
    theirs = scipy.sparse.coo_array(parts, shape=shape).tocsr()
    theirs.sum_duplicates()
    return sparse.coo_array(parts, shape=shape), theirs


def same(found, right):
    found = found.todense() if sparse.issparse(found) else found
    right = right.toarray() if scipy.sparse.issparse(right) else right
    np.testing.assert_allclose(np.asarray(found), right, rtol=1e-5, atol=1e-5)


@settings(max_examples=30)
@given(coordinates(), st.data())
def test_one_matrix(drawn, data):
    ours, theirs = both(drawn)
    (m, n), dense = theirs.shape, theirs.toarray()
    same(ours, theirs)
    same(ours.T, theirs.T)
    same(ours.H, dense.conj().T)
    same(ours @ np.ones(n, np.float32), dense @ np.ones(n, np.float32))
    same(np.ones((2, m), np.float32) @ ours, np.ones((2, m), np.float32) @ dense)
    same(ours.sum(0), xnp.asarray(dense).sum(0))
    same(ours.diagonal(), dense.diagonal())
    same(sparse.tril(ours), np.tril(dense))
    same(ours.count_nonzero(), np.count_nonzero(dense))
    kept = data.draw(st.lists(st.integers(0, max(m - 1, 0)), max_size=4)) if m else []
    same(ours[np.array(kept, int)], dense[np.array(kept, int)])
    same(ours[::-1, 1:], dense[::-1, 1:])
    batch = sparse.Sparse(xnp.stack([ours.values, ours.values]), ours.pattern)
    same(batch.todense(), np.stack([dense, dense]))


@settings(max_examples=30)
@given(st.data())
def test_two_matrices(data):
    m, n, k = (data.draw(st.integers(0, 5)) for _ in range(3))
    a, scipys_a = both(data.draw(coordinates(m, n)))
    b, scipys_b = both(data.draw(coordinates(m, n)))
    c, scipys_c = both(data.draw(coordinates(n, k)))
    x, y, z = (xnp.asarray(s.toarray()) for s in (scipys_a, scipys_b, scipys_c))
    same(a + b, x + y)
    same(a * b, x * y)
    same(a @ c, x @ z)
    same(a != b, x != y)
    same(sparse.hstack([a, b]), np.hstack([x, y]))
    same(sparse.kron(a, c), np.kron(x, z))
    same(sparse.block_diag([a, c]), scipy.sparse.block_diag([scipys_a, scipys_c]))
