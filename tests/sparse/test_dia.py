"""Matrices of diagonals beside SciPy's: products, forms, derivatives; operators of grids as such."""

import functools

import numpy as np
import pytest
import scipy.sparse as sp

import xcore as xc
import xcore.numpy as xnp
from xcore import sparse
from xcore.pde import Diffusion, Grid, Laplacian, Masked
from xcore.sparse import Dia

rng = np.random.default_rng(0)


@pytest.mark.parametrize("m, n", [(5, 5), (3, 7), (7, 3), (1, 1), (4, 0), (0, 4)])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_as_scipys(m, n, dtype):
    offsets = (-9, -2, 0, 1, 4, 11)
    bands = rng.normal(size=(6, n)).astype(dtype) * (1 + 1j if dtype[0] == "c" else 1)
    a, b = sp.dia_array((bands, offsets), shape=(m, n)), Dia(offsets, bands, (m, n))
    dense = a.toarray()
    assert b.dtype == dtype and b.shape == (m, n)
    x, y = rng.normal(size=(n, 2)).astype("float32"), rng.normal(size=m).astype("float32")
    close = functools.partial(np.testing.assert_allclose, rtol=1e-5, atol=1e-5)
    close(b.todense(), dense)
    close(b @ x, dense @ x)
    close(b @ x[:, 0], dense @ x[:, 0])
    close(b.T @ y, dense.T @ y)
    close(b.H.todense(), dense.conj().T)
    close(Dia.of(b.to_sparse()).todense(), dense)
    close(Dia.of(a).todense(), dense)
    for k in (-2, 0, 1, 3):
        if abs(k) < max(m, n) and m and n:
            close(b.diagonal(k), np.diagonal(dense, k))


def test_derivatives_and_batches():
    offsets, size = (-1, 0, 2), (5, 5)
    bands, x = xnp.asarray(rng.normal(size=(3, 3, 5))), xnp.asarray(rng.normal(size=5))
    f = lambda bands, x, dense: xnp.sin((Dia(offsets, bands, size).todense() if dense else Dia(offsets, bands, size)) @ x).sum()  # fmt: skip
    slopes = [xc.jit(xc.grad(functools.partial(f, dense=d), (0, 1)))(bands[0], x) for d in (0, 1)]
    for one, other in zip(*slopes, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    each = np.stack([Dia(offsets, b) @ x for b in bands])
    np.testing.assert_allclose(Dia(offsets, bands) @ x, each, rtol=1e-6)
    np.testing.assert_allclose(xc.vmap(lambda b: Dia(offsets, b) @ x)(bands), each, rtol=1e-6)
    several = Dia(offsets, bands)
    np.testing.assert_allclose(several.to_sparse() @ x, each, rtol=1e-5, atol=1e-6)
    assert several.T.shape == (3, 5, 5) and repr(several).startswith("Dia([3] of 5x5")
    a = Dia((-1, 0, 1), np.array([[-1.0] * 6, [3.0] * 6, [-1.0] * 6], "float32"))
    found = xc.linalg.linear_solve(a.replace(symmetric=True, positive=True), np.ones(6, "float32"))
    np.testing.assert_allclose(a.todense() @ found, 1, rtol=1e-4)
    np.testing.assert_allclose(sparse.solve(a, np.ones(6, "float32")), found, rtol=1e-4)


def test_what_does_not_fit_is_told():
    with pytest.raises(ValueError, match="each once"):
        Dia((0, 0), np.ones((2, 3)))
    with pytest.raises(xc.errors.ShapeError, match="row for each offset"):
        Dia((0, 1), np.ones((3, 3)))
    with pytest.raises(xc.errors.ShapeError, match="columns"):
        Dia((0,), np.ones((1, 3)), (3, 4))
    with pytest.raises((ValueError, TypeError)):
        Dia((0,), np.ones((1, 3))) @ np.ones(4)


OPERATORS = {
    "laplacian": lambda: Laplacian(Grid((6, 5))),
    "diffusion": lambda: Diffusion(Grid((5, 6)), lambda x, y: 1 + x * y),
    "disc": lambda: Masked(Grid((8, 8), -1.0, 1.0), lambda x, y: x**2 + y**2 < 0.6),
    "level": lambda: Masked(Grid((8, 8), -1.0, 1.0), lambda x, y: 0.6 - x**2 - y**2, edge="symmetric"),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_of_grids(name):
    with xc.enable_x64():
        op = OPERATORS[name]()
        dense = np.asarray(op.as_matrix("float64"))
        np.testing.assert_allclose(sparse.as_sparse(op).todense(), dense, rtol=1e-12, atol=1e-10)
        found = Dia.of(op)
        np.testing.assert_allclose(found.todense(), dense, rtol=1e-12, atol=1e-10)
        assert len(found.offsets) == 5
        x = rng.normal(size=dense.shape[1])
        np.testing.assert_allclose(found @ x, dense @ x, rtol=1e-11, atol=1e-9)
