"""Eigenmodes against closed forms."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.pde import Diffusion, Dirichlet, Grid, Laplacian, Masked, Neumann, eigenmodes

D, N = Dirichlet(), Neumann()


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
        with pytest.raises(xc.errors.SolverError, match="limit of steps"):
            eigenmodes(op, 3, method="shift-invert", steps=3)


def test_errors_explain():
    with pytest.raises(ValueError, match="shift-invert"):
        eigenmodes(Laplacian(Grid(8)), 1, method="lanczos")

    lap = Laplacian(Grid(8))
    with pytest.raises(ValueError, match="a third of the 7"):
        eigenmodes(lap, 5)
    with pytest.raises(ValueError, match="of order 2"):
        eigenmodes(Laplacian(Grid(8), Dirichlet(), 4))
