"""Arrays by values and places beside dense ones of NumPy."""

import pickle

import numpy as np
import pytest
import scipy.sparse as ss

import xcore as xc
import xcore.numpy as xnp
from xcore.experimental import sparse
from xcore.experimental.sparse import BCOO, BCSR, COO, CSC, CSR, JAXSparse, linalg

RNG = np.random.default_rng(0)
KINDS = BCOO, BCSR, CSR, CSC, COO


def drawn(*shape):
    return (RNG.standard_normal(shape) * (RNG.random(shape) < 0.5)).astype("f")


A, B = drawn(4, 5), drawn(2, 3, 4, 5)
M = BCOO.fromdense(A)


def close(found, wanted, **kw):
    found = np.asarray(found.todense() if isinstance(found, JAXSparse) else found)
    assert found.shape == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, **{"rtol": 1e-5, "atol": 1e-5} | kw)


@pytest.mark.parametrize(
    "a", [A, np.zeros((0, 3), "f"), np.zeros((3, 0), "f")], ids=["some", "no rows", "no columns"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_matrix_beside_the_dense_one(kind, a):
    m, (r, c) = kind.fromdense(a), a.shape
    assert type(m) is kind and m.shape == a.shape and m.dtype == a.dtype and m.ndim == 2
    assert m.nse == (a != 0).sum() and m.size == a.size and len(m) == len(list(m)) == r
    v, w = np.arange(1, c + 1, dtype="f"), np.arange(1, r + 1, dtype="f")
    close(m, a)
    close(xc.jit(lambda m: m @ m.T)(m), a @ a.T)
    close(m.T, a.T)
    close(m @ v, a @ v)
    close(w @ m, w @ a)
    close(xnp.asarray(w) @ m, w @ a)
    close(m @ np.ones((c, 2), "f"), a @ np.ones((c, 2)))
    for axis in (None, 0, 1, -1, (0, 1), ()):
        close(m.sum(axis), a.sum(axis))
    for found, wanted in (
        (m + m, 2 * a), (m - m, 0 * a), (m * m, a * a), (m * v, a * v), (2 * m, 2 * a), (m / v, a / v), (m / 2, a / 2),
        (xnp.asarray(v) * m, a * v), (a * m, a * a), (abs(-m) ** 2, a**2), (m.astype(int), a.astype(int)),
        (m[:, 1:], a[:, 1:]),
    ):  # fmt: skip
        assert isinstance(found, JAXSparse)
        close(found, wanted)
    for found, wanted in (
        (m + a, 2 * a),
        (a - m, 0 * a),
        (xnp.sin(m), np.sin(a)),
        (np.asarray(m), a),
    ):
        assert not isinstance(found, JAXSparse)
        close(found, wanted)


@pytest.mark.parametrize("kind", KINDS)
def test_to_matrices_of_known_places_and_back(kind):
    places = [[0, 0], [-1, -1], [5, 1], [0, 0]]  # twice, from the end, padding
    m = BCOO((np.arange(1, 5, dtype="f"), places), shape=(2, 3))
    a = np.array([[5, 0, 0], [0, 0, 2]], "f")
    m = m if kind is BCOO else kind._of(m)
    assert type(m) is kind
    close(m, a)
    close(m @ np.array([1, 2, 3], "f"), [5, 6])
    close(m.sum(), 7)
    close(abs(m) * m, a * a)
    close(m.to_sparse().todense(), a)
    close(kind.from_scipy_sparse(m.to_sparse()), a)
    close(kind.from_scipy_sparse(ss.csr_array(a)), a)
    if kind is BCOO:
        close(
            xc.sparse.solve((m @ m.T).to_sparse(), np.ones(2, "f")),
            np.linalg.solve(a @ a.T, np.ones(2)),
        )
        close(xc.jit(lambda v: m._with_data(v).to_sparse().todense())(2 * m.data), 2 * a)
    close(pickle.loads(pickle.dumps(m)), a)


@pytest.mark.parametrize("n_batch", range(5))
def test_layouts(n_batch):
    x = drawn(5, 2)
    for n_dense in range(5 - n_batch):
        m = BCOO.fromdense(B, n_batch=n_batch, n_dense=n_dense)
        assert (m.n_batch, m.n_sparse, m.n_dense) == (n_batch, 4 - n_batch - n_dense, n_dense)
        close(m, B)
        if n_dense in (0, 4 - n_batch):
            close(m @ x, B @ x)
            close(m.sum_duplicates(), B)


@pytest.mark.parametrize(("n_batch", "n_dense"), [(1, 1), (2, 0)])
def test_batch_and_dense_axes(n_batch, n_dense):
    x, many = drawn(5, 2), drawn(2, 3, 5, 2)
    m = BCOO.fromdense(B, n_batch=n_batch, n_dense=n_dense)
    close(m @ many, B @ many)
    for axis in (None, *range(4)):
        close(m.sum(axis), B.sum(axis))
    for found, wanted in (
        ((m + m).sum_duplicates(nse=2 * m.nse + 1), 2 * B), (m * B[:, :1, :, :1], B * B[:, :1, :, :1]), (m * m, B * B),
        (m.reshape(2, 3, -1), B.reshape(2, 3, -1)), (sparse.bcoo_rev(m, (1, -1)), B[:, ::-1, :, ::-1]),
        (sparse.bcoo_concatenate([m, m], dimension=-1), np.concatenate([B, B], -1)), (sparse.bcoo_extract(m, B), B),
        (sparse.grad(lambda m: (m.todense() ** 2).sum())(m), 2 * B), (m.update_layout(n_batch=1, n_dense=0), B),
    ):  # fmt: skip
        close(found, wanted)
    close(xc.vmap(lambda m: m @ x)(m), B @ x)
    shared = BCOO((m.data[:1], m.indices[:1]), shape=m.shape)
    same = np.broadcast_to(B[:1], B.shape)
    for found, wanted in (
        (shared @ x, same @ x), (shared + m, same + B), (shared.sort_indices(), same), (shared.sum_duplicates(), same),
        (shared * m, same * B), (shared.sum(), same.sum()),
    ):  # fmt: skip
        close(found, wanted)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool", "complex64", "float16", "bfloat16"])
def test_dtypes_are_those_of_dense_arrays(dtype):
    a = xnp.asarray(np.round(2 * A)).astype(dtype)
    v = xnp.asarray(np.arange(5.0)).astype(dtype)
    m = BCOO.fromdense(a)
    for f in (
        lambda m: m @ v, lambda m: m.sum(), lambda m: m.sum(0), lambda m: m * v, lambda m: m + m,
        lambda m: m * 2, lambda m: m / 2, abs, lambda m: m @ np.ones(5, "f"), lambda m: v @ m.T,
    ):  # fmt: skip
        found, wanted = f(m), f(a)
        found = found.todense() if isinstance(found, JAXSparse) else found
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(
            np.asarray(found, complex), np.asarray(wanted, complex), rtol=1e-2
        )


def test_sums_in_half_precision_keep_their_digits():
    ones = BCOO((xnp.ones(4096, "bfloat16"), np.zeros((4096, 1), int)), shape=(1,))
    assert float(ones @ xnp.ones(1, "bfloat16")) == 4096


def test_places_of_large_arrays():
    """Their numbers are beyond 32 bits."""
    at = [[99_999, 99_999], [5, 70_000], [99_999, 99_999]]
    m = BCOO((np.array([1, 2, 4], "f"), at), shape=(100_000, 100_000))
    merged = m.sum_duplicates()
    assert merged.indices.tolist() == [[5, 70_000], [99_999, 99_999]] and merged.data.tolist() == [
        2,
        5,
    ]
    assert BCSR.from_bcoo(m).data.tolist() == [2, 1, 4]
    assert m.reshape(1000, -1).indices.tolist() == [
        [999, 9_999_999],
        [0, 570_000],
        [999, 9_999_999],
    ]
    assert float((m * np.ones(100_000, "f")).sum()) == 7
    assert sparse.eye(10**6).nse == 10**6


def test_narrow_indices():
    """Of few rows and columns, but many values."""
    ones = np.ones((20, 20), "f")
    for kind in KINDS:
        m = kind.fromdense(ones, index_dtype="int8")
        close(m @ ones, ones @ ones)
        assert float(m.sum()) == 400
    m = BCOO(([1.0, 2.0, 4.0], np.array([[0, 1], [9, 9], [0, 1]], "uint8")), shape=(3, 3))
    assert m.sum_duplicates().data.tolist() == [5.0]


def test_python_sums():
    found = sum([M, M, CSR.fromdense(A)])
    assert isinstance(found, BCOO)
    close(found, 3 * A)


def test_values_that_are_not_finite_stay_where_they_are():
    """Padding meets none of them."""
    m = BCOO.fromdense(np.eye(3, dtype="f"), nse=5)
    v = np.array([np.nan, 1, np.inf], "f")
    np.testing.assert_array_equal(m @ v, v)
    np.testing.assert_array_equal(m.sum(0) @ xnp.ones(3), 3)
    assert float(m.T.sum(1)[2].todense()) == 1


def test_places_given_twice():
    m = BCOO((np.array([1, 2, 0], "f"), [[1], [1], [0]]), shape=(3,))
    close(abs(m) ** 2, [0, 9, 0])
    close(m * m, [0, 9, 0])
    assert m.sum_duplicates().nse == 1 and m.sum_duplicates(remove_zeros=False).nse == 2
    close(xc.jit(lambda m: m.sum_duplicates())(m), [0, 3, 0])
    close(sparse.bcoo_extract(m, np.array([4, 5, 6], "f")), [4, 5, 0])
    assert sparse.bcoo_sort_indices(m).indices.tolist() == [[0], [1], [1]]


def test_room_that_is_too_small_keeps_the_first():
    close(BCOO.fromdense(np.arange(4, dtype="f"), nse=2), [0, 1, 2, 0])
    close(
        (M + M).sum_duplicates(nse=1), np.where(np.cumsum(A != 0).reshape(A.shape) == 1, 2 * A, 0)
    )


def test_derivatives_by_the_values():
    v = np.arange(1, 6, dtype="f")
    value, slope = sparse.value_and_grad(lambda m, c: c * (m @ v).sum())(M, 2.0)
    close(value, 2 * (A @ v).sum())
    close(slope, 2 * v * (A != 0))
    tree, aux = sparse.grad(lambda p: ((p["m"] @ p["v"]).sum(), 7), has_aux=True)({"m": M, "v": v})
    assert aux == 7
    close(tree["m"], v * (A != 0))
    close(tree["v"], A.sum(0))
    exact = np.eye(4)[:, :, None] * v * (A != 0)
    for jac in (sparse.jacfwd, sparse.jacrev, sparse.jacobian):
        by_m, by_v = jac(lambda m, v: m @ v, (0, -1))(M, v)
        close(by_m, exact)
        close(by_v, A)
    close(xc.jit(sparse.grad(lambda m: (m @ v).sum()))(M), v * (A != 0))
    xc.testing.check_grads(lambda d: M._with_data(d) @ v, (M.data,))
    for kind in KINDS:
        close(sparse.grad(lambda m: (m.T.todense() ** 2).sum())(kind.fromdense(A)), 2 * A)


def test_functions_of_sparse_arrays():
    v = np.arange(5, dtype="f")
    close(sparse.sparsify(lambda m, v: xnp.sin(m) @ v)(M, v), np.sin(A) @ v)
    close(xc.jit(sparse.sparsify(lambda m, v: m @ v))(M, v), A @ v)
    for f, args in (
        (xnp.matmul, (M, M.T)),
        (xnp.dot, (M, M.T)),
        (xnp.dot, (M, 2.0)),
        (xnp.dot, (2.0, M)),
    ):
        found = sparse.sparsify(f)(*args)
        assert isinstance(found, BCOO)
        close(found, f(*map(sparse.todense, args)))
    for f, *args in (
        (xnp.add, M, M), (xnp.subtract, M, M), (xnp.multiply, M, v), (xnp.negative, M), (xnp.transpose, M), (xnp.sin, M),
        (xnp.reshape, M, (2, -1)), (xnp.sum, M, 0), (xnp.concatenate, [M, M], 1), (xnp.abs, CSR.fromdense(A)),
        (xnp.square, BCOO((np.ones(2), [[1], [1]]), shape=(3,))),
    ):  # fmt: skip
        found = sparse.sparsify(f)(*args)
        assert isinstance(found, JAXSparse)
        dense = xc.tree.map(
            sparse.todense, args, is_leaf=lambda x: isinstance(x, JAXSparse | tuple)
        )
        dense = [a if isinstance(a, tuple) else d for a, d in zip(args, dense)]
        close(found, f(*[int(d) if isinstance(a, int) else d for a, d in zip(args, dense)]))
    assert float(sparse.sparsify(xnp.sum)(M)) == pytest.approx(A.sum(), rel=1e-5)
    close(sparse.sparsify(xnp.concatenate)([M, A]), np.concatenate([A, A]))
    close(sparse.sparsify(xnp.sin)(A), np.sin(A))
    assert sparse.sparsify(xnp.dot)(BCOO.fromdense(B), drawn(2, 5, 1)).shape == (2, 3, 4, 2, 1)
    many = BCOO.fromdense(B[0], n_batch=1)
    close(
        sparse.sparsify(xc.vmap(xnp.matmul))(many, B[0].swapaxes(1, 2)), B[0] @ B[0].swapaxes(1, 2)
    )
    dims = ((1,), (1,)), ((), ())
    close(sparse.sparsify(xc.lax.dot_general)(M, A, dims), A @ A.T)
    close(sparse.sparsify(xnp.matmul)(A, A.T), A @ A.T)


def test_general_products():
    b, y = drawn(2, 4, 5), drawn(2, 5, 3)
    m = BCOO.fromdense(b, n_batch=1)
    numbers = ((2,), (1,)), ((0,), (0,))
    close(sparse.bcoo_dot_general(m, y, dimension_numbers=numbers), b @ y)
    close(
        sparse.bcoo_dot_general(y, m, dimension_numbers=(((1,), (2,)), ((0,), (0,)))),
        np.einsum("bji,bkj->bik", y, b),
    )
    close(
        sparse.bcoo_dot_general(M, A, dimension_numbers=(((0, 1), (0, 1)), ((), ()))), (A * A).sum()
    )
    close(
        sparse.bcoo_dot_general(M, A[0], dimension_numbers=(((), ()), ((), ()))),
        A[:, :, None] * A[0],
    )
    numbers = ((1,), (0,)), ((), ())
    places = [[0, 0], [9, 9], [-1, -1]]
    found = sparse.bcoo_dot_general_sampled(A, A.T, places, dimension_numbers=numbers)
    close(found, [(A @ A.T)[0, 0], 0, (A @ A.T)[-1, -1]])
    found = sparse.bcsr_dot_general(
        BCSR.fromdense(A), A.T, dimension_numbers=numbers, preferred_element_type="float64"
    )
    assert found.dtype == "float64"


def test_axes_and_parts():
    m = BCOO.fromdense(B, n_batch=1, n_dense=1)
    close(sparse.bcoo_transpose(m, permutation=(0, 2, 1, 3)), B.transpose(0, 2, 1, 3))
    close(sparse.bcoo_squeeze(BCOO.fromdense(A[None, :, None]), dimensions=(0, 2)), A)
    wide = sparse.bcoo_broadcast_in_dim(M, shape=(3, 4, 1, 5), broadcast_dimensions=(1, 3))
    assert wide.n_batch == 1
    close(wide, np.broadcast_to(A[:, None], (3, 4, 1, 5)))
    box = sparse.bcoo_slice(M, start_indices=(1, 0), limit_indices=(4, 5), strides=(2, 1))
    close(box, A[1:4:2])
    close(xc.jit(lambda i: sparse.bcoo_dynamic_slice(M, (i, 0), (2, 5)))(1), A[1:3])
    close(sparse.bcoo_reshape(M, new_sizes=(20,), dimensions=(1, 0)), A.T.reshape(20))
    rows = BCSR.fromdense(A)
    close(sparse.bcsr_concatenate([rows, rows], dimension=0), np.concatenate([A, A]))
    close(
        sparse.bcsr_broadcast_in_dim(rows, shape=(2, 4, 5), broadcast_dimensions=(1, 2)),
        np.stack([A, A]),
    )
    close(sparse.bcsr_extract(rows.indices, rows.indptr, A), rows.data)
    close(M[1], A[1])
    close(M[-1, 1:3], A[-1, 1:3])


@pytest.mark.parametrize("kind", KINDS)
def test_making(kind):
    name = kind.__name__.lower()
    for k in (-7, -1, 0, 2):
        close(sparse.eye(4, 5, k=k, sparse_format=name), np.eye(4, 5, k=k))
    close(sparse.empty((2, 3), nse=2, sparse_format=name), np.zeros((2, 3)))
    assert (
        type(sparse.eye(2, sparse_format=name))
        is type(sparse.empty((2, 2), sparse_format=name))
        is kind
    )


def test_random_arrays():
    key = xc.random.key(0)
    m = sparse.random_bcoo(key, (3, 6, 5), nse=7, n_batch=1, sorted_indices=True)
    flat = np.asarray(m.indices @ np.array([5, 1]))
    assert (np.diff(flat) > 0).all() and m.nse == 7 and m.unique_indices
    assert sparse.random_bcoo(key, (6, 5)).nse == 6
    m = sparse.random_bcoo(key, (2, 2), nse=9, unique_indices=False, generator=xc.random.normal)
    assert m.nse == 9 and (np.asarray(m.indices) < 2).all()
    assert sparse.random_bcoo(key, (0, 2), nse=0).nse == 0


def test_solutions_and_eigenvalues():
    a = np.eye(4, dtype="f") * 3 + np.eye(4, k=1, dtype="f")
    r, b = BCSR.fromdense(a, nse=9), np.arange(4, dtype="f")
    for way in (lambda f: f, xc.jit):
        solve = way(lambda v: linalg.spsolve(v, r.indices, r.indptr, b))
        close(solve(r.data), np.linalg.solve(a, b))
    traced = xc.jit(linalg.spsolve)(r.data, r.indices, r.indptr, b)
    close(traced, np.linalg.solve(a, b))
    m = BCOO.fromdense(np.diag(np.arange(1, 12, dtype="f")))
    for op in (m, m.todense(), lambda x: m @ x):
        w, v, _ = linalg.lobpcg_standard(op, np.eye(11, 2, dtype="f") + 0.1)
        close(w, [11, 10], rtol=1e-3)
        close(m @ v, v * w, atol=1e-2)


@pytest.mark.parametrize("kind", KINDS)
def test_through_transformations(kind):
    m = kind.fromdense(A)
    close(xc.jit(lambda m: 2 * m)(m), 2 * A)
    close(xc.lax.cond(True, lambda m: 2 * m, lambda m: m, m), 2 * A)
    close(xc.lax.scan(lambda c, _: (2 * c, None), m, None, length=2)[0], 4 * A)
    close(xc.jit(lambda a: kind.fromdense(a, nse=20) @ np.ones(5, "f"))(A), A.sum(1))
    if kind in (BCOO, BCSR):
        found = xc.vmap(lambda a: kind.fromdense(a, nse=20))(B[0])
        assert found.shape == (3, 4, 5) and found.n_batch == 1
        close(found, B[0])


ONE, ROWS = np.ones(1), np.zeros((1, 1), int)
NOT_ACCEPTED = {
    "indices that are no integers": (lambda: BCOO(([1.0], [[0.0]]), shape=(2,)), "indices must be integers"),
    "other numbers": (lambda: BCOO((np.ones(3), np.zeros((2, 2), int)), shape=(2, 2)), r"shape \(2, 2\); given data: float64\[3\]"),
    "another shape": (lambda: BCOO((ONE, ROWS), shape=(2, 2, 2)), r"do not make an array of shape \(2, 2, 2\)"),
    "a shape that is none": (lambda: BCOO((ONE, ROWS), shape=3), "a tuple of integers"),
    "a negative size": (lambda: BCOO((ONE, ROWS), shape=(-3,)), "negative"),
    "one part": (lambda: BCOO(np.ones(3), shape=(3,)), r"args must be \(data, indices\)"),
    "flat indices": (lambda: BCOO((ONE, [0]), shape=(3,)), "number of values, sparse axes"),
    "narrow indices": (lambda: BCOO((ONE, ROWS.astype("int8")), shape=(300,)), "integers up to 300"),
    "rows of another number": (lambda: BCSR((ONE, [0], [0, 1, 1]), shape=(3, 3)), "do not make"),
    "three axes": (lambda: CSR((np.ones((1, 1)), ROWS, [[0, 1]]), shape=(1, 1, 1)), "that of one matrix"),
    "unequal columns": (lambda: COO((ONE, [0, 1], [0]), shape=(2, 2)), "do not make"),
    "traced without nse": (lambda: xc.jit(BCOO.fromdense)(A), "say nse="),
    "a negative nse": (lambda: BCOO.fromdense(A, nse=-1), "nse must be an integer, 0 at least"),
    "a broken nse": (lambda: BCOO.fromdense(A, nse=2.5), "nse must be an integer"),
    "many batch axes": (lambda: BCOO.fromdense(A, n_batch=3), "2 axes together at most"),
    "a vector by rows": (lambda: CSR.fromdense(np.ones(3)), "two sparse axes"),
    "a product": (lambda: M @ np.ones(4), "equal lengths along axes"),
    "a sparse product": (lambda: M @ M, "equal lengths along axes"),
    "a number": (lambda: M @ 3, r"use \*"),
    "nothing": (lambda: M @ None, "unsupported operand"),
    "a word": (lambda: M * "a", "can't multiply"),
    "a factor": (lambda: M * np.ones(3), "broadcast"),
    "an axis": (lambda: M.sum(5), "axis 5 is out of bounds"),
    "half an axis": (lambda: M.sum(1.5), "axis must be an integer"),
    "one axis twice": (lambda: M.transpose((0, 0)), "each of 2 axes once"),
    "axes among others": (lambda: BCOO.fromdense(B, n_batch=1).T, "update_layout"),
    "sizes": (lambda: M.reshape(3, -1), "20 elements"),
    "a format": (lambda: sparse.eye(2, sparse_format="lil"), "one of 'bcoo'"),
    "a vector's format": (lambda: sparse.empty((2,), sparse_format="csr"), "'bcoo' for other arrays"),
    "a long draw": (lambda: sparse.random_bcoo(xc.random.key(0), (2, 2), nse=5), "up to 4"),
    "an axis of two": (lambda: sparse.bcoo_squeeze(BCOO.fromdense(A), dimensions=(0,)), "axes of size 1"),
    "none": (lambda: sparse.bcoo_concatenate([], dimension=0), "one sparse array at least"),
    "unequal ones": (lambda: sparse.bcoo_concatenate([M, M.T], dimension=0), "all axes but 0"),
    "a dense one": (lambda: sparse.bcoo_todense(A), r"BCOO.fromdense\(\)"),
    "two dense ones": (lambda: sparse.bcoo_dot_general(A, A, dimension_numbers=(((1,), (1,)), ((), ()))), "a sparse array"),
    "flat numbers": (lambda: sparse.bcoo_dot_general(M, A, dimension_numbers=((1,), (1,))), "dimension_numbers must be"),
    "broadcasting down": (lambda: sparse.bcoo_broadcast_in_dim(M, shape=(4,), broadcast_dimensions=(0,)), "2 axes of 1"),
    "no function": (lambda: sparse.grad(3), "expected a function"),
    "far arguments": (lambda: sparse.grad(lambda m: m.sum(), 5)(M), "the 1 arguments given"),
    "a batch": (lambda: BCOO.fromdense(B).to_sparse(), "without batch and dense axes"),
    "traced places": (lambda: xc.jit(lambda m: m.to_sparse().todense())(M), "Close over the places"),
    "a dense matrix": (lambda: BCOO.from_scipy_sparse(A), "a sparse matrix of SciPy's"),
    "a long right side": (lambda: linalg.spsolve(ONE, [0], [0, 1], np.ones(3)), "1 elements"),
    "wide columns": (lambda: linalg.lobpcg_standard(A, np.ones((4, 1))), "eigh for more"),
    "another operator": (lambda: linalg.lobpcg_standard(np.eye(6), np.ones((8, 1))), "8 rows and columns"),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_ACCEPTED)
def test_what_is_not_accepted_is_told(name):
    f, said = NOT_ACCEPTED[name]
    with pytest.raises(
        (TypeError, ValueError, NotImplementedError, np.exceptions.AxisError), match=said
    ):
        f()
