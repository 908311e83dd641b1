"""Grids spread over several devices give what one device gives, to round-off."""

import numpy as np
import pytest

import xcore as xc
from xcore import pde
from xcore.pde import Diffusion, Grid, Laplacian, _direct
from xcore.sharding import NamedSharding, P

pytestmark = pytest.mark.skipif(len(xc.devices()) < 8, reason="needs 8 devices")

SOLVERS = {
    "direct": lambda f: pde.solve(Laplacian(Grid((33, 33))), f),
    "cg": lambda f: pde.solve(
        Diffusion(Grid((33, 33)), lambda x, y: 1 + x * y), f, method="cg", rtol=1e-12
    ),
    "heat": lambda f: pde.trajectory(pde.ThetaMethod(Laplacian(Grid((33, 33)))), f, 1e-3, 3),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_spread_over_eight_devices(name):
    with xc.enable_x64():
        f = np.random.default_rng(0).standard_normal((32, 32))
        run = xc.jit(SOLVERS[name])
        alone = run(f)
        mesh = xc.make_mesh((4, 2), ("x", "y"), devices=xc.devices()[:8])
        parts = xc.device_put(f, NamedSharding(mesh, P("x", "y")))
        assert len(parts.sharding.device_set) == 8
        spread = run(parts)
        # sums are taken in another order; CG ends at its goal, 1e-12 of the right-hand side
        assert np.allclose(spread, alone, rtol=0, atol=1e-11 * np.abs(alone).max())


def test_fields_that_are_spread_have_no_other_slabs(monkeypatch):
    monkeypatch.setattr(_direct, "IN_SLABS_FROM", 0)
    lap = Laplacian(Grid((9, 9, 9)))
    f = np.random.default_rng(0).standard_normal((8, 8, 8))
    run = xc.jit(lambda f: pde.solve_direct(lap, f))
    mesh = xc.make_mesh((8,), ("x",), devices=xc.devices()[:8])
    parts = xc.device_put(f, NamedSharding(mesh, P("x")))
    assert "while" in run.lower(f).as_text()
    assert "while" not in run.lower(parts).as_text()
    assert np.allclose(run(parts), run(f), rtol=0, atol=1e-13 * np.abs(run(f)).max())
