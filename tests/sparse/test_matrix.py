"""Sparse matrices beside SciPy's: products, algebra, parts; derivatives beside those of dense matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

import xcore as xc
import xcore.numpy as xnp
from xcore import sparse
from xcore.sparse import Pattern, Sparse

SHAPES = [(0, 3), (3, 0), (1, 1), (7, 5), (5, 11), (40, 40)]
DTYPES = ["float32", "float64", "complex64", "complex128", "int32"]


def drawn(shape, dtype="float64", density=0.25, seed=0):
    """A matrix of SciPy's with empty rows and one row that is full."""
    rng = np.random.default_rng(seed)
    keep = rng.random(shape) < density
    if min(shape) > 4:
        keep[2], keep[3] = True, False
    values = rng.integers(1, 9, shape) * (
        1 + (1j if "complex" in dtype else 0) * rng.integers(1, 3, shape)
    )
    return sp.csr_array((values * keep).astype(dtype))


def equal(ours, theirs, **tolerance):
    dense = ours.todense() if isinstance(ours, Sparse) else ours
    theirs = theirs.toarray() if sp.issparse(theirs) else theirs
    np.testing.assert_allclose(np.asarray(dense), theirs, **tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_products(shape, dtype):
    a, rng = drawn(shape, dtype), np.random.default_rng(1)
    ours = sparse.csr_array(a)
    x, y = (rng.integers(-5, 5, n).astype(dtype) for n in shape[::-1])
    many = rng.integers(-5, 5, (shape[1], 3)).astype(dtype)
    equal(ours, a)
    equal(ours @ x, a @ x)
    equal(ours @ many, a @ many)
    equal(y @ ours, y @ a)
    equal(many.T @ ours.T, many.T @ a.T)
    equal(ours @ ours.T, a @ a.T)
    assert (ours @ x).dtype == (a @ x).dtype


def test_bools_are_summed_as_bools():
    a = drawn((7, 5)) != 0
    x = np.array([True, False, False, True, False])
    ours = sparse.csr_array(a) @ x
    assert ours.dtype == bool
    equal(ours, a @ x)


@pytest.mark.parametrize("lengths", ["equal", "few", "many"])
def test_rows_of_all_kinds_of_lengths(lengths):
    n = 60
    rows = {"equal": np.full(n, 3), "few": np.arange(n) % 4, "many": np.arange(n)}[lengths]
    rng = np.random.default_rng(0)
    r = np.repeat(np.arange(n), rows)
    c = np.concatenate([np.sort(rng.choice(n, k, replace=False)) for k in rows])
    a = sp.csr_array((rng.normal(size=len(r)), (r, c)), shape=(n, n))
    x = rng.normal(size=n)
    x[:5] = np.inf  # what is not stored does not meet it
    with np.errstate(invalid="ignore"):
        equal(sparse.from_scipy(a) @ x, a @ x)


def test_algebra():
    a, b = drawn((7, 5)), drawn((7, 5), seed=3)
    x, y = sparse.csr_array(a), sparse.csr_array(b)
    d = np.random.default_rng(0).normal(size=(7, 5))
    equal(x + y, a + b)
    equal(x - y, a - b)
    equal(x + x, a + a)
    equal(x * y, a * b)
    equal(-x * 2.5, -a * 2.5)
    equal(3 * x / 2, 3 * a / 2)
    equal(x * d, a * d)
    equal(x * d[0], a * d[0])
    equal(x * d[:, :1], a * d[:, :1])
    equal(x + d, a + d)
    equal(d - x, d - a)
    equal(x**2, a**2)
    equal(abs(-x), a)
    for axis in (None, 0, 1):
        equal(x.sum(axis), a.sum(axis))
        equal(x.mean(axis), a.mean(axis))
    equal(x.T, a.T)
    equal(x.tocsr() if hasattr(x, "tocsr") else x, a)
    for one, other in ((x, y), (x, b), (a, y)):
        equal(one * other, a * b)
        equal(one + other, a + b)
        equal(one - other, a - b)
        equal(one @ other.T, a @ b.T)
        assert type(one * other) is Sparse


def test_comparisons():
    a, b = drawn((7, 5)), drawn((7, 5), seed=3)
    x, y = sparse.csr_array(a), sparse.csr_array(b)
    for f in (lambda u, v: u > v, lambda u, v: u < v, lambda u, v: u != v):
        equal(f(x, y), f(a.toarray(), b.toarray()))
    for f in (lambda u: u > 2, lambda u: u != 0, lambda u: u == 3, lambda u: u <= -1):
        equal(f(x), f(a.toarray()))
    for f in (lambda u: u >= 0, lambda u: u == u, lambda u: u < 1):  # true nearly everywhere
        equal(f(x), f(a.toarray()))


def test_parts():
    a = drawn((7, 9))
    x = sparse.csr_array(a)
    for k in (-8, -2, 0, 3, 20):
        if -7 < k < 9:
            equal(x.diagonal(k), a.diagonal(k))
        equal(sparse.tril(x, k), sp.tril(a, k))
        equal(sparse.triu(x, k), sp.triu(a, k))
    dense = a.toarray()
    for index in [(2, 3), (-1, -2), (np.array([0, 3, 2]), np.array([1, 1, -1])), (slice(1, 5), slice(None, None, 2)),
                  slice(2, 4), (slice(None, None, -1), slice(None)), (slice(0, 3), [4, 4, 0]), 2, (slice(None), 3),
                  ([5, 0], slice(None)), dense > 2]:  # fmt: skip
        equal(x[index], dense[index])
    with pytest.raises(IndexError):
        x[7, 0]


def test_changes_of_stored_elements():
    x = sparse.diags_array([[1.0, 2.0, 3.0]], offsets=[0])
    equal(x.at[1, 1].set(9.0), np.diag([1.0, 9.0, 3.0]))
    equal(x.at[[0, 2], [0, 2]].add(1.0), np.diag([2.0, 2.0, 4.0]))
    with pytest.raises(ValueError, match="static"):
        x.at[0, 1].set(1.0)


def test_made_as_scipy_makes_them():
    a, b = drawn((3, 4)), drawn((2, 3), seed=5)
    x, y = map(sparse.csr_array, (a, b))
    equal(sparse.kron(x, y), sp.kron(a, b))
    equal(sparse.kronsum(x @ x.T, y @ y.T), sp.kronsum(a @ a.T, b @ b.T))
    equal(sparse.block_diag([x, y, [[1.0]]]), sp.block_diag([a, b, [[1.0]]]))
    equal(sparse.block_array([[x, None], [None, y]]), sp.block_array([[a, None], [None, b]]))
    equal(sparse.hstack([x, x]), sp.hstack([a, a]))
    equal(sparse.vstack([x, x]), sp.vstack([a, a]))
    equal(sparse.eye_array(3, 5, k=-1), sp.eye_array(3, 5, k=-1))
    equal(
        sparse.diags_array([1.0, [2.0, 3.0]], offsets=[0, -2], shape=(4, 3)),
        sp.diags_array([[1.0] * 3, [2.0, 3.0]], offsets=[0, -2], shape=(4, 3)),
    )
    r, c, v = [0, 2, 0, 2], [1, 0, 1, 1], [1.0, 2.0, 3.0, 4.0]
    equal(sparse.coo_array((v, (r, c)), (3, 2)), sp.coo_array((v, (r, c)), (3, 2)))
    equal(
        sparse.csc_array((v, [0, 1, 1, 2], [0, 1, 4])), sp.csc_array((v, [0, 1, 1, 2], [0, 1, 4]))
    )
    back = sparse.csr_array(a).to_scipy()
    assert type(back) is sp.csr_array
    equal(back.toarray(), a)


def test_derivatives_are_those_of_dense_matrices():
    a = drawn((7, 5))
    p, w = sparse.csr_array(a).pattern, np.random.default_rng(0).normal(size=(7, 2))
    x = np.random.default_rng(1).normal(size=(5, 2))

    def loss(v, x, dense):
        m = Sparse(v, p)
        m = m.todense() if dense else m
        return (xnp.sin(m @ x) * w).sum() + ((m @ m.T) @ w[:, 0]).sum()

    with xc.enable_x64():
        v = xnp.asarray(a.data)
        for f in (
            xc.grad(loss, (0, 1)),
            xc.hessian(loss, (0, 1)),
            xc.jacfwd(xc.grad(loss, (0, 1))),
        ):
            ours, theirs = (xc.tree.leaves(f(v, xnp.asarray(x), dense)) for dense in (False, True))
            for one, other in zip(ours, theirs, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_gradients_have_no_scatter_and_nothing_dense():
    a = sparse.csr_array(drawn((40, 40), "float32"))
    x = xnp.ones(40)
    f = lambda v, x: (a.replace(values=v) @ x).sum()
    text = str(xc.make_jaxpr(xc.grad(f, (0, 1)))(a.values, x))
    assert "scatter" not in text and "[40,40]" not in text


def test_batches():
    a = drawn((7, 5))
    p = sparse.csr_array(a).pattern
    rng = np.random.default_rng(0)
    v, x = rng.normal(size=(3, p.nnz)), rng.normal(size=(5,))
    m = Sparse(v, p)
    assert m.shape == (3, 7, 5)
    dense = np.asarray(m.todense())
    many = rng.normal(size=(3, 5, 2))
    equal(m @ x, dense @ x, rtol=1e-6)
    equal(m @ many, dense @ many, rtol=1e-6)
    equal(m @ m.T, dense @ np.swapaxes(dense, 1, 2), rtol=1e-6)
    equal(m.sum(0), dense.sum(1), rtol=1e-6)
    one = xc.vmap(lambda v: Sparse(v, p) @ xnp.asarray(x))(xnp.asarray(v))
    equal(one, dense @ x, rtol=1e-6)
    equal(xc.jit(lambda m: m.T)(m), np.swapaxes(dense, 1, 2), rtol=1e-6)


def test_solvers_of_linalg_take_them():
    line = sparse.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(50, 50))
    a = line.replace(symmetric=True, positive=True)
    b = xnp.ones(50)
    x = xc.linalg.linear_solve(a, b)
    equal(x, sp.linalg.spsolve(line.to_scipy().tocsc(), np.ones(50, "float32")), rtol=1e-4)
    x = xc.linalg.linear_solve(line.to_scipy(), b)
    equal(line @ x, b, rtol=1e-4)


MISTAKES = {
    "values": lambda: Sparse(xnp.ones(3), Pattern([0], [0], (1, 1))),
    "from 0 to 1": lambda: sparse.coo_array(([1.0], ([2], [0])), shape=(2, 2)),
    "rows": lambda: sparse.eye_array(3) @ xnp.ones(4),
    "must have one shape": lambda: sparse.eye_array(3) + sparse.eye_array(4),
    "todense": lambda: sparse.eye_array(3) + 1,
    "different ones": lambda: sparse.diags_array([1.0, 2.0], offsets=[0, 0], shape=(2, 2)),
    "xcore.sparse": lambda: xnp.sum(sparse.eye_array(2)),
    "xcore.sparse.": lambda: xnp.asarray(sp.eye_array(2)),
    "divide by": lambda: sparse.eye_array(2) / sparse.eye_array(2),
}


@pytest.mark.parametrize("words", MISTAKES)
def test_mistakes_are_explained(words):
    with pytest.raises((ValueError, TypeError), match=words):
        MISTAKES[words]()


def test_places_are_found_among_many_as_among_few():
    """The second way, for many, is SciPy's."""
    rng = np.random.default_rng(0)
    p = sparse.Pattern(*rng.integers(0, (90, 70), (2000, 2)).T, (90, 70))
    rows, columns = rng.integers(-3, (95, 75), (3000, 2)).T
    inside = (rows >= 0) & (rows < 90) & (columns >= 0) & (columns < 70)
    rows, columns = rows[inside], columns[inside]
    assert len(rows) > 1000
    few = [int(p.find(i, j)) for i, j in zip(rows[:300], columns[:300], strict=True)]
    many = p.find(rows, columns)
    np.testing.assert_array_equal(many[:300], few)
    there = many >= 0
    np.testing.assert_array_equal(p.rows[many[there]], rows[there])
    np.testing.assert_array_equal(p.columns[many[there]], columns[there])
    assert 0 < there.sum() < len(there)
    np.testing.assert_array_equal(p.find(np.full(2000, 95), np.zeros(2000, int)), -1)


def test_a_pattern_keeps_the_last_of_what_was_made_for_it():
    p, made = sparse.Pattern([0], [0], (1, 1)), []
    for k in range(2000):
        p.kept(("chosen", k), lambda k=k: made.append(k))
    assert len(p._kept) < 1000 and len(made) == 2000
    p.kept(("chosen", 1999), lambda: made.append(0))
    assert len(made) == 2000
