"""Matrices of dense blocks beside SciPy's and dense ones: forms, products, solvers, derivatives."""

import functools

import numpy as np
import pytest
import scipy.sparse as sp

import xcore as xc
import xcore.numpy as xnp
from xcore import sparse
from xcore.sparse import Bsr, Pattern, Sparse

rng = np.random.default_rng(0)
close = functools.partial(np.testing.assert_allclose, rtol=2e-5, atol=2e-5)


def drawn(m, n, r, c, dtype="float64", count=None):
    """SciPy's, of blocks at random places, some perhaps in a row or column without any."""
    count = min(m * n, 2 * max(m, n)) if count is None else count
    keys = np.sort(rng.choice(m * n, count, replace=False))
    rows, columns = np.divmod(keys, n)
    blocks = rng.normal(size=(count, r, c)).astype(dtype) * (1 + 1j if dtype[0] == "c" else 1)
    pointers = np.searchsorted(rows, np.arange(m + 1))
    return sp.bsr_array((blocks, columns, pointers), shape=(m * r, n * c))


@pytest.mark.parametrize(
    "m, n, r, c, dtype",
    [
        (5, 4, 2, 3, "float32"),
        (1, 1, 1, 1, "complex128"),
        (3, 6, 9, 1, "float64"),
        (4, 2, 1, 10, "float32"),
    ],
)
def test_as_scipys(m, n, r, c, dtype):
    a = drawn(m, n, r, c, dtype)
    b, dense = sparse.bsr_array(a), a.toarray()
    assert b.shape == a.shape and b.blocksize == (r, c) and b.dtype == dtype and b.nnz == a.nnz
    x, y = (rng.normal(size=(k, 2)).astype("float32") for k in dense.shape[::-1])
    pairs = [
        (b.todense(), dense), (b @ x, dense @ x), (b @ x[:, 0], dense @ x[:, 0]), (y.T @ b, y.T @ dense),
        (b.T.todense(), dense.T), (b.H @ y, dense.conj().T @ y), ((b * 2 - b / 4).todense(), 1.75 * dense),
        ((b @ b.H).todense(), dense @ dense.conj().T), (b.diagonal(), np.diagonal(dense)),
        ((b + Bsr.of(-2 * dense, (r, c))).todense(), -dense), ((b + b.to_sparse()).todense(), 2 * dense),
        ((b.to_sparse() + b).todense(), 2 * dense), ((b.T.to_sparse() @ b).todense(), dense.T @ dense),
        (Bsr.of(b.to_sparse(), b.blocksize).todense(), dense), (b.to_scipy().toarray(), dense),
        (sparse.coo_array(b).todense(), dense), (sparse.from_scipy(a).todense(), dense),
    ]  # fmt: skip
    for got, want in pairs:
        close(got, want)


def test_forms():
    blocks = rng.normal(size=(3, 2, 2))
    given = (blocks, [1, 0, 1], [0, 3, 3])  # twice at one place, and a row without any
    want = sp.bsr_array(given, shape=(4, 6)).toarray()
    close(sparse.bsr_array(given, (4, 6)).todense(), want)
    close(xc.jit(lambda v: sparse.bsr_array((v, *given[1:]), (4, 6)).todense())(blocks), want)
    close(sparse.bsr_array(want, blocksize=(2, 3)).todense(), want)
    close(sparse.bsr_array(sp.csr_array(want)).todense(), want)
    assert sparse.bsr_array(
        sp.kron(sp.random_array((5, 5), density=0.3, rng=1), np.ones((3, 3)))
    ).blocksize == (3, 3)
    assert sparse.bsr_array(sparse.eye_array(4)).blocksize == (1, 1)
    for none in (sparse.bsr_array((4, 6), blocksize=2), Bsr.of(np.zeros((4, 6)), 2)):
        assert none.shape == (4, 6) and none.nnz == 0
        close(none @ np.ones(6), 0)
        close(none.T @ np.ones(4), 0)
    for shape in ((0, 4), (4, 0), (0, 0)):
        none = sparse.bsr_array(shape, blocksize=(2, 2))
        assert (none @ np.ones((shape[1], 3))).shape == (
            shape[0],
            3,
        ) and none.todense().shape == shape
    assert xc.scipy.sparse.bsr_array is sparse.bsr_array
    assert repr(sparse.bsr_array(given, (4, 6))) == "Bsr(4x6, 2 blocks of 2x2, float64)"


def test_derivatives_and_batches():
    a = sparse.bsr_array(drawn(4, 3, 2, 3))
    p, v, x = a.pattern, a.blocks, xnp.asarray(rng.normal(size=(9, 2)))

    def f(v, x, dense):
        m = Bsr(v, p)
        return xnp.sin((m.todense() if dense else m) @ x).sum()

    for order in (xc.grad, lambda f, k: xc.grad(lambda *xs: (xc.grad(f, 0)(*xs) ** 2).sum(), k)):
        slopes = [xc.jit(order(functools.partial(f, dense=d), (0, 1)))(v, x) for d in (0, 1)]
        for one, other in zip(*slopes, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)
    many = v * xnp.asarray([1.0, 2.0, -1.0])[:, None, None, None]
    several = Bsr(many, p)
    assert several.shape == (3, 8, 9) and several.T.shape == (3, 9, 8)
    assert repr(several).startswith("Bsr([3] of 8x9")
    each = np.stack([np.asarray(Bsr(w, p) @ x) for w in many])
    close(several @ x, each)
    close(xc.vmap(lambda w: Bsr(w, p) @ x)(many), each)
    close(several @ x[:, 0], each[..., 0])
    close(several.todense() @ x, each)
    close((several + several).todense(), 2 * several.todense())


def test_solvers_take_them():
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(20, 20))
    stiff = np.array([[2.0, 0.5], [0.5, 1.0]])
    scipys = sp.bsr_array(sp.kron(sp.kronsum(line, line), stiff), blocksize=(2, 2))
    a = sparse.bsr_array(scipys)
    b = rng.normal(size=800)
    want = sp.linalg.spsolve(scipys.tocsc(), b)
    solve, cg = xc.linalg.linear_solve, xc.linalg.CG(rtol=1e-10)
    tagged = a.replace(symmetric=True, positive=True)
    jacobi = sparse.block_jacobi(a)
    assert jacobi.blocks.shape == (400, 2, 2)
    for found in (
        sparse.solve(a, b), sparse.factorise(a, "cholesky").solve(b),
        solve(tagged, b, solver=cg), solve(tagged, b, solver=cg, preconditioner=jacobi),
        sparse.multigrid(a).solve(b, rtol=1e-10),
    ):  # fmt: skip
        np.testing.assert_allclose(found, want, rtol=1e-6, atol=1e-7)


def test_what_does_not_fit_is_told():
    p = Pattern([0], [0], (1, 1))
    with pytest.raises(xc.errors.ShapeError, match="one for each place"):
        Bsr(np.ones((2, 2, 2)), p)
    with pytest.raises(ValueError, match="Pattern"):
        Bsr(np.ones((1, 2, 2)), "p")
    a = Bsr(np.ones((1, 2, 2)), p)
    with pytest.raises(xc.errors.ShapeError, match="2 rows"):
        a @ np.ones(3)
    with pytest.raises(ValueError, match="divisors"):
        Bsr.of(np.ones((3, 4)), 2)
    with pytest.raises(ValueError, match="blocksize"):
        sparse.bsr_array((np.ones((1, 2, 2)), [0], [0, 1]), blocksize=(1, 2))
    with pytest.raises(ValueError, match="row_pointers"):
        sparse.bsr_array((np.ones((1, 2, 2)), [0], [0, 2]))
    with pytest.raises(ValueError, match="columns"):
        sparse.bsr_array((np.ones((1, 2, 2)), [3], [0, 1]), (2, 4))
    with pytest.raises(xc.errors.ShapeError, match="one shape"):
        a + Bsr(np.ones((1, 2, 2)), Pattern([0], [0], (2, 1)))
    assert isinstance(a.to_sparse(), Sparse) and sparse.issparse(a)
