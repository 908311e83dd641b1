"""Eigenmodes against closed forms."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import xcore as xc
import xcore.numpy as xnp
from xcore.pde import (
    Diffusion,
    Dirichlet,
    Grid,
    Laplacian,
    Masked,
    Neumann,
    Periodic,
    eigenmodes,
)

D, N, P = Dirichlet(), Neumann(), Periodic()


@pytest.mark.parametrize("bc", [Dirichlet(), Neumann()])
def test_modes_of_the_laplace_operator(bc):
    with xc.enable_x64():
        lap = Laplacian(Grid((12, 9), upper=(1.0, 0.7)), bc)
        w, modes = eigenmodes(lap, 4)
        assert np.allclose(w, np.sort(-np.asarray(lap.eigenvalues()))[:4], rtol=1e-9, atol=1e-8)
        assert np.allclose([-lap(m) for m in modes], w[:, None, None] * modes, atol=1e-6)
        gram = [[float(lap.integrate(a * b)) for a in modes] for b in modes]
        assert np.allclose(gram, np.eye(4), atol=1e-9)


def lshape(x, y):
    return (x < 0) | (y > 0)


def varying(x, y):
    return 1 + x * y


OPERATORS = {
    "jump": lambda: Diffusion(Grid((20, 15)), lambda x, y: xnp.where(x < 0.6, 1.0, 1e3)),
    "mixed": lambda: Diffusion(Grid((18, 15)), varying, [(N, D), N], c=1.0),
    "Neumann": lambda: Diffusion(Grid((16, 15)), varying, N),
    "L": lambda: Masked(Grid((18, 18), -1.0, 1.0), lshape, edge="symmetric"),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_modes_by_shift_and_inversion(name):
    """Of operators whose inverse is known by multigrid only, beside dense matrices."""
    with xc.enable_x64():
        op = OPERATORS[name]()
        w, modes = eigenmodes(op, 3, method="shift-invert", rtol=1e-8)
        at = np.ravel(op.inside) if isinstance(op, Masked) else slice(None)
        matrix = -op.as_sparse().toarray()[at][:, at]
        assert np.allclose(w, np.sort(np.linalg.eigvals(matrix).real)[:3], rtol=1e-8, atol=1e-8)
        gram = [[float(op.integrate(a * b)) for a in modes] for b in modes]
        assert np.allclose(gram, np.eye(3), atol=1e-8)
        for value, mode in zip(w, modes, strict=True):
            assert np.allclose(
                -op(mode), value * mode, atol=1e-5 * np.abs(value * mode).max() + 1e-6
            )
    if name == "L":
        few, _ = eigenmodes(op, 3, method="shift-invert", steps=3)  # restarts make up for it
        assert np.allclose(few, w, rtol=1e-4)


def dotted(x, y):
    """Two discs, the small one not seen by a coarse grid."""
    return (x**2 + y**2 < 0.4) | ((x - 0.84) ** 2 + (y - 0.84) ** 2 < 0.02)


LARGER = {
    "jump": lambda: Diffusion(Grid((40, 33)), lambda x, y: xnp.where(x < 0.6, 1.0, 1e3)),
    "Neumann and ring": lambda: Diffusion(Grid((36, 32)), varying, [N, P]),
    "discs": lambda: Masked(Grid((36, 36), -1.0, 1.0), dotted, edge="symmetric"),
}


@pytest.mark.parametrize("name", LARGER)
def test_modes_from_coarse_grids_up(name):
    """Of grids that have coarser ones, beside SciPy's shift and inversion."""
    with xc.enable_x64():
        op = LARGER[name]()
        w, modes = eigenmodes(op, 5, rtol=1e-8)
        at = np.ravel(op.inside) if isinstance(op, Masked) else slice(None)
        root = np.sqrt(np.broadcast_to(op.weights, op.field_shape)).ravel()[at]
        matrix = sp.diags_array(root) @ -op.as_sparse()[at][:, at] @ sp.diags_array(1 / root)
        expected, _ = sla.eigsh(matrix.tocsc(), 5, sigma=-1.0, tol=1e-12)
        # the square of the modes' error, and rounding by the largest eigenvalue
        assert np.allclose(w, expected, rtol=1e-10, atol=1e-14 * abs(matrix).max())
        rows = np.asarray(modes).reshape(5, -1)[:, at] * root
        assert np.allclose(rows @ rows.T, np.eye(5), atol=1e-10)
        inverted = sla.splu((matrix + sp.eye_array(root.size)).tocsc()).solve(rows.T)
        assert np.linalg.norm(rows.T - inverted * (1 + expected), axis=0).max() < 1e-8


def test_modes_in_single_precision_their_derivatives_and_lanes():
    """w is proportional to a, and its derivatives are those of that."""
    a = np.exp(np.sin(np.arange(41 * 29)).reshape(41, 29)).astype(np.float32)
    first = xc.vmap(
        xc.value_and_grad(lambda s: eigenmodes(Diffusion(Grid((40, 28)), s * a), 2)[0][1])
    )
    values, slopes = first(xnp.asarray([1.0, 3.0]))
    with xc.enable_x64():
        w = eigenmodes(Diffusion(Grid((40, 28)), a.astype(np.float64)), 2, rtol=1e-6)[0][1]
    assert values.dtype == np.float32
    # single precision of numbers some thousand times as large as w
    assert np.allclose(values, w * np.array([1.0, 3.0]), rtol=1e-4)
    assert np.allclose(slopes, w, rtol=1e-4)


def test_errors_explain():
    with pytest.raises(ValueError, match="shift-invert"):
        eigenmodes(Laplacian(Grid(8)), 1, method="lanczos")

    lap = Laplacian(Grid(8))
    with pytest.raises(ValueError, match="a third of the 7"):
        eigenmodes(lap, 5)
    with pytest.raises(ValueError, match="of order 2"):
        eigenmodes(Laplacian(Grid(8), Dirichlet(), 4))
