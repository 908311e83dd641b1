"""A pole is no minimum, in whatever units; what is smooth, bends sharply or has a kink is."""

import numpy as np
import pytest

import xcore.numpy as xnp
from xcore.optimize import minimize

POLES = {
    "tan": lambda v: xnp.tan(v[0]) + v[1] ** 2,
    "tan in other units": lambda v: 1e8 * xnp.tan(1e-6 * v[0]) + 1e-6 * v[1] ** 2,
    "odd power": lambda v: 1 / (v[0] - 1) + v[1] ** 2,
}
MINIMA = {
    "square": lambda v: (v[0] - 1) ** 2 + v[1] ** 2,
    "far": lambda v: 1e6 + (v[0] - 1) ** 2 + v[1] ** 2,
    "small": lambda v: 1e-30 * ((v[0] - 1) ** 2 + v[1] ** 2),
    "valley": lambda v: 100 * (v[1] - v[0] ** 2) ** 2 + (1 - v[0]) ** 2,
}


@pytest.mark.parametrize("method", ["lbfgs", "bfgs", "newton-cg"])
@pytest.mark.parametrize("name", POLES)
def test_poles_are_not_claimed(name, method):
    start = xnp.asarray([0.3e6 if "units" in name else 0.3, 1.0], "float64")
    assert not minimize(POLES[name], start, method=method).ok


@pytest.mark.parametrize("start", [(0.3, 1.0), (1.0, 0.0), (1 + 1e-12, 1e-12)])
@pytest.mark.parametrize("name", MINIMA)
def test_minima_are_claimed_wherever_one_starts(name, start):
    start = (1.0, 1.0) if name == "valley" and start[1] == 0 else start
    found = minimize(MINIMA[name], xnp.asarray(start, "float64"))
    assert found.ok
    np.testing.assert_allclose(found.x, [1, 1 if name == "valley" else 0], atol=1e-4)
