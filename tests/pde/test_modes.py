"""Eigenmodes against closed forms."""

import numpy as np
import pytest

import xcore as xc
from xcore.pde import Dirichlet, Grid, Laplacian, Neumann, eigenmodes


@pytest.mark.parametrize("bc", [Dirichlet(), Neumann()])
def test_modes_of_the_laplace_operator(bc):
    with xc.enable_x64():
        lap = Laplacian(Grid((12, 9), upper=(1.0, 0.7)), bc)
        w, modes = eigenmodes(lap, 4)
        assert np.allclose(w, np.sort(-np.asarray(lap.eigenvalues()))[:4], rtol=1e-9, atol=1e-8)
        assert np.allclose([-lap(m) for m in modes], w[:, None, None] * modes, atol=1e-6)
        gram = [[float(lap.integrate(a * b)) for a in modes] for b in modes]
        assert np.allclose(gram, np.eye(4), atol=1e-9)


def test_errors_explain():
    lap = Laplacian(Grid(8))
    with pytest.raises(ValueError, match="a third of the 7"):
        eigenmodes(lap, 5)
    with pytest.raises(ValueError, match="of order 2"):
        eigenmodes(Laplacian(Grid(8), Dirichlet(), 4))
