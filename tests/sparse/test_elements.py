"""What matrices of all kinds of storage do element by element, beside SciPy's and dense ones."""

import numpy as np
import pytest
import scipy.sparse as sp

import xcore as xc
import xcore.numpy as xnp
from xcore import sparse

KINDS = {
    "Sparse": sparse.csr_array,
    "Bsr": lambda d: sparse.bsr_array(d, blocksize=2),
    "Dia": sparse.dia_array,
}
D = np.random.default_rng(0).integers(-2, 3, (6, 6)) * 1.0
S = sp.csr_array(D)
DOES = {
    "sums": lambda a: [a + a, a - a, a + D, D + a, a - D, D - a, a + S, a - S, sum([a, a]), a - 0],
    "by elements": lambda a: [a * a, a**2, 2 * a, a / 2, a * D, D * a, a * S, abs(a), -a, a * D[0]],
    "products": lambda a: [a @ a, a @ S, a @ D, D @ a, a @ D[0], D[0] @ a, a.T, a.conj(), a.real],
    "comparisons": lambda a: [a > 0, a != a, a < -1, a != 0],
    "parts": lambda a: [a[1], a[1:3, ::2], a[...], a[..., 0], a[()], a[[0, 2], [1, 0]], a[2, 3]],
    "totals": lambda a: [a.sum(0), a.sum(), a.mean(1), a.max(0), a.min(), a.trace(), a.diagonal(1)],
}


def dense(x):
    return np.asarray(x.todense() if hasattr(x, "todense") else x)


@pytest.mark.parametrize("what", DOES)
@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_do_what_scipys_do(kind, what):
    for ours, theirs in zip(DOES[what](KINDS[kind](D)), DOES[what](S), strict=True):
        np.testing.assert_allclose(dense(ours), dense(theirs))


TRACED = {
    **DOES,
    "extrema": lambda a: [a.maximum(0), a.minimum(a.T), a.max(1), a.count_nonzero(0)],
    "blocks": lambda a: [
        sparse.hstack([a, S]), sparse.vstack([S, a]), sparse.block_diag([a, S]), sparse.tril(a),
        sparse.kron(a, S), sparse.kron(S, a), sparse.kronsum(S, a), sparse.kronsum(a, S),
    ],
}  # fmt: skip


@pytest.mark.parametrize("what", TRACED)
def test_what_is_done_is_traced_and_done_to_batches(what):
    a = sparse.csr_array(D)
    many = a.values * np.array([[1.0], [-2.0]])
    does = TRACED[what]
    wide = lambda x: x.todense() if hasattr(x, "todense") else x
    traced = xc.jit(xc.vmap(lambda v: [wide(x) for x in does(a.like(v))]))(many)
    for k, v in enumerate(many):
        for ours, theirs in zip(traced, does(a.like(v)), strict=True):
            np.testing.assert_allclose(ours[k], dense(theirs), rtol=1e-6)
    if what == "blocks":
        for ours, theirs in zip(does(a.like(many)), traced, strict=True):
            np.testing.assert_allclose(dense(ours), theirs, rtol=1e-6)


def test_numbers_that_zeros_are_compared_with_are_known():
    a = sparse.csr_array(D)
    for f in (lambda t: (a > t).values, lambda t: a.maximum(t).values):
        with pytest.raises(ValueError, match="known before tracing"):
            xc.jit(f)(1.0)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_complex_extrema_are_numpys(axis):
    d = (D + 1j * D.T) * (np.arange(6) > 1)
    for name in ("max", "min"):
        ours = getattr(sparse.from_dense(d), name)(axis=axis)
        np.testing.assert_array_equal(ours, getattr(d, name)(axis=axis))


def test_operators_go_with_one_another():
    for a in (make(D) for make in KINDS.values()):
        for b in (make(D) for make in KINDS.values()):
            np.testing.assert_allclose(dense(a @ b), D @ D)
            np.testing.assert_allclose(dense(a + b), D + D)
            np.testing.assert_allclose(dense(a - b), 0 * D)
            np.testing.assert_allclose(dense(a * b), D * D)
            assert sparse.issparse(a) and sparse.issparse(a @ b)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int32", "float16", "float32"])
@pytest.mark.parametrize("shape", [(3, 150), (150, 3), (0, 3), (3, 0), (1, 1)])
def test_totals_are_those_of_dense_matrices(shape, dtype):
    d = xnp.asarray(np.full(shape, 100).astype(dtype))
    a = sparse.from_dense(d)
    for axis in (0, 1, -1, -2) if all(shape) else ():
        for name in ("sum", "mean"):
            ours, whole = getattr(a, name)(axis=axis), getattr(d, name)(axis=axis)
            assert ours.dtype == whole.dtype
            np.testing.assert_allclose(ours, whole, rtol=1e-3)
    assert a.sum(0).dtype == d.sum(0).dtype and a.sum(0).shape == d.sum(0).shape


@pytest.mark.parametrize(
    "mine, other", [((1, 4), (3, 4)), ((3, 1), (3, 4)), ((1, 1), (2, 3)), ((1, 4), (3, 1))]
)
def test_shapes_broadcast(mine, other):
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 3, mine) * 1.0, rng.integers(1, 3, other) * 1.0
    x, y = sparse.csr_array(a), sparse.csr_array(b)
    for made in (x * b, b * x, x * y, y * x, x * sp.csr_array(b)):
        np.testing.assert_array_equal(dense(made), a * b)
    np.testing.assert_allclose(dense(x / b), a / b)
    slope = xc.grad(lambda v: ((x.like(v) * b).todense() ** 2).sum())(x.values)
    whole = xc.grad(lambda a: ((a * b) ** 2).sum())(xnp.asarray(a))
    np.testing.assert_allclose(slope, np.asarray(whole)[x.pattern.rows, x.pattern.columns])


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"])
def test_matrices_of_scipys_keep_their_dtype(form):
    big = np.diag([2**24 + 1, 2**25 + 1, 3])
    for dtype in ("int32", "int64", "bool"):
        d = big.astype(dtype)
        s, a = sp.csr_array(d).asformat(form), sparse.csr_array(np.eye(3, dtype=dtype))
        for made in (a @ s, a * s, s @ a):
            assert made.dtype == dtype
            np.testing.assert_array_equal(dense(made), d)


MISTAKES = {
    "A.values": lambda a: a.data,
    "A.pattern": lambda a: a.indptr,
    "A.reshape": lambda a: a.ravel(),
    "A.shape": lambda a: len(a),
    "tuple of different ones": lambda a: a.sum((0, 0)),
    "one of SciPy's": lambda a: sparse.hstack([a, a], format="column"),
    "zeros stay 0": lambda a: a.maximum(1.0),
    "immutable": lambda a: a.__setitem__((0, 0), 1.0),
    "do not broadcast": lambda a: a[[0, 1], [0, 1, 2]],
    "an integer": lambda a: a.diagonal(1.5),
    "two integers": lambda a: sparse.csr_array(([1.0], ([0], [0])), (2, 2.5)),
    "that broadcast": lambda a: a * np.ones(4),
    "rows and columns": lambda a: a[..., ...],
    "a Pattern or a Sparse": lambda a: sparse.jacobian(lambda x: x, 3)(xnp.ones(2)),
}


@pytest.mark.parametrize("words", MISTAKES)
def test_mistakes_are_explained(words):
    kinds = (ValueError, TypeError, AttributeError, IndexError)
    with pytest.raises(kinds, match=words):
        MISTAKES[words](sparse.eye_array(3))


def test_patterns_may_come_as_matrices():
    found = sparse.jacobian(lambda x: x**2, sparse.eye_array(3))(xnp.ones(3))
    np.testing.assert_array_equal(found.todense(), 2 * np.eye(3))
    assert sparse.coo_array(([1.0, 2.0], np.array([[0, 1], [1, 0]]))).shape == (2, 2)


@pytest.mark.parametrize("mode", ["auto", "fwd", "rev", "bidirectional"])
def test_jacobians_have_the_dtype_of_results(mode):
    f = lambda x: (x**2).astype(np.float32)
    x = xnp.asarray(np.arange(1.0, 4.0))
    assert sparse.jacobian(f, mode=mode)(x).dtype == np.float32


def test_jacobians_of_functions_with_rules_backward_only():
    f = xc.custom_vjp(xnp.sin)
    f.defvjp(lambda x: (xnp.sin(x), x), lambda x, g: (g * xnp.cos(x),))
    x = xnp.arange(1.0, 5.0)
    found = sparse.jacobian(lambda x: 2 * f(x))(x)
    np.testing.assert_allclose(found.todense(), np.diag(2 * np.cos(x)), rtol=1e-6)
    with pytest.raises(TypeError, match="forward-mode"):
        sparse.jacobian(f, mode="fwd")(x)


E = D * (np.arange(6) > 2)
NAMED = {
    "copies": lambda a: [a.copy(), a.astype(float, copy=False), a.conj(copy=False), a.transpose((1, 0))],
    "formats": lambda a: [a.asformat("csc"), a.tobsr((2, 3)), a.todia(), a.asformat("dia"), a.asformat(None)],
    "counts": lambda a: [a.count_nonzero(), a.count_nonzero(axis=1), *a.nonzero(),],
    "functions": lambda a: [a.sin(), a.expm1(), a.sign(), a.floor(), abs(a).sqrt(), round(a / 3, 1), a.rad2deg()],
    "powers": lambda a: [a.power(2), a.power(np.int64(3)), abs(a).power(0.5)],
    "extrema": lambda a: [a.maximum(a.T), a.minimum(0), a.maximum(-1), a.minimum(2)],
    "totals": lambda a: [
        a.sum((0, 1)), a.sum((1,)), a.sum(-2), a.sum(0, dtype="float32"), a.sum(dtype="complex128"),
        a.mean((0, 1)), a.mean(1, dtype="float32"), a.max((0, 1)), a.min((0,)), a.trace(2),
    ],
}  # fmt: skip


@pytest.mark.parametrize("what", NAMED)
@pytest.mark.parametrize("d", [D, E, np.zeros((6, 6))], ids=["full", "half", "zeros"])
def test_methods_of_scipys(what, d):
    for ours, theirs in zip(
        NAMED[what](sparse.csr_array(d)), NAMED[what](sp.csr_array(d)), strict=True
    ):
        np.testing.assert_allclose(dense(ours), dense(theirs), rtol=1e-6)
        assert what != "totals" or dense(ours).dtype == dense(theirs).dtype


@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_have_methods_of_scipys(kind):
    a = KINDS[kind](D)
    assert a.copy() is a and a.format == {"Sparse": "csr", "Bsr": "bsr", "Dia": "dia"}[kind]
    for what in ("functions", "powers", "totals"):
        for ours, theirs in zip(NAMED[what](a), NAMED[what](S), strict=True):
            np.testing.assert_allclose(dense(ours), dense(theirs), rtol=1e-6)


def test_matrices_are_made_with_scipys_arguments():
    a, key = sparse.csr_array(D, copy=True), xc.random.key(0)
    for ours, theirs in (
        (sparse.eye_array(3, format="csc"), sp.eye_array(3)),
        (sparse.identity(3, "int32", "csr"), sp.identity(3, "int32")),
        (sparse.diags_array([1.0, 2.0], offsets=[0, 1], shape=(3, 3), format="dia"),
         sp.diags_array([1.0, 2.0], offsets=[0, 1], shape=(3, 3))),
        (sparse.hstack([a, a], "csr", "float32"), sp.hstack([S, S])),
        (sparse.vstack([a, a], format="coo"), sp.vstack([S, S])),
        (sparse.block_diag((a, a), dtype="complex64"), sp.block_diag((S, S))),
        (sparse.block_array([[a, None], [None, a]], format="lil"), sp.block_array([[S, None], [None, S]])),
        (sparse.kron(a, a, "csr"), sp.kron(S, S)), (sparse.kronsum(A=a, B=a), sp.kronsum(S, S)),
        (sparse.tril(A=a, k=1, format="csr"), sp.tril(S, 1)), (sparse.triu(a, -1, "csc"), sp.triu(S, -1)),
    ):  # fmt: skip
        np.testing.assert_allclose(dense(ours), theirs.toarray(), rtol=1e-6)
    assert sparse.random_array(key, (4, 4), density=0.5, format="csr").nnz == 8


def test_a_cast_to_the_same_dtype_keeps_what_is_known():
    a = sparse.eye_array(3).replace(symmetric=True, positive=True)
    assert a.astype("float32").positive and not a.astype("float64").positive


@pytest.mark.parametrize("kind", ["dense", *KINDS])
def test_integers_of_64_bits_are_solved_in_64(kind):
    """Those above 2^24 have no place in 32 bits: as numpy.linalg does it, and by SciPy's names."""
    from xcore.scipy.sparse import linalg as sl

    d = (
        np.diag([2**25 + 1, 2**26 + 1, 3, 5, 7, 9])
        + np.eye(6, k=1, dtype=int)
        + np.eye(6, k=-1, dtype=int)
    )
    a, b = KINDS.get(kind, np.asarray)(d), np.arange(6)
    for x in (
        sl.cg(a, b, rtol=1e-13)[0],
        sl.gmres(a, b, rtol=1e-13)[0],
        xc.linalg.lsmr(a, b, rtol=1e-13),
    ):
        np.testing.assert_allclose(x, np.linalg.solve(d, b), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(sl.eigsh(a, 1)[0], np.linalg.eigvalsh(d)[-1:], rtol=1e-14)
    np.testing.assert_allclose(sl.svds(a, 1)[1], np.linalg.eigvalsh(d)[-1:], rtol=1e-14)
    if kind != "dense":
        for x in (
            sparse.solve(a, b),
            sparse.factorise(a, kind="qr").solve(b),
            sl.spsolve(a, sparse.csr_array(b[:, None]))[:, 0],
        ):
            np.testing.assert_allclose(x, np.linalg.solve(d, b), rtol=1e-12, atol=1e-15)
        x = sparse.solve_triangular(sparse.tril(a), b)
        np.testing.assert_allclose(x, np.linalg.solve(np.tril(d), b), rtol=1e-12)


def test_random_arrays_by_scipys_arguments():
    from xcore.scipy import sparse as faces

    a, b = (
        faces.random_array((5, 4), density=0.5, format="csr", rng=k) for k in (3, xc.random.key(3))
    )
    assert a.shape == (5, 4) and a.nnz == 10
    np.testing.assert_array_equal(dense(a), dense(b))


def test_comparisons_with_arrays_are_arrays():
    a = sparse.diags_array([-1.0, 2.0], offsets=[0, 1], shape=(3, 3))
    dense, other = np.asarray(a.todense()), np.arange(9.0).reshape(3, 3) - 1
    for sign in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
        found = getattr(a, sign)(other)
        np.testing.assert_array_equal(found, getattr(dense, sign)(other))
    np.testing.assert_array_equal(other <= a, other <= dense)
