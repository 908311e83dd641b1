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
    "A.map": lambda a: a.sqrt(),
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
