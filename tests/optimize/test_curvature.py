"""``minimize(curvature=True)``: what is called a minimum does not bend down, whatever the method, size and units."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.optimize import Status, minimize


def status(f, x0, **options):
    found = minimize(f, x0, curvature=True, **options)
    assert found.ok == (int(found.status) == 0)
    return Status(int(found.status))


def ridge(x):
    """A saddle at 0, minima at (0, …, 0, ±1/√2)."""
    return xnp.sum(x[:-1] ** 2) - x[-1] ** 2 + x[-1] ** 4


@pytest.mark.parametrize("method", ["lbfgs", "bfgs", "trust-ncg", "Newton-CG"])
@pytest.mark.parametrize("n", [2, 65, 100])
@pytest.mark.parametrize("unit", [1.0, 1e8, 1e-8])
def test_saddles_are_told(method, n, unit):
    with xc.enable_x64():
        beside = np.r_[np.ones(n - 1), 0.0]
        for f, x0 in (
            (lambda x: unit * ridge(x), np.zeros(n)), (lambda x: unit * ridge(x), beside),
            (lambda x: ridge(unit * x), beside / unit),
        ):  # fmt: skip
            assert status(f, x0, method=method) is Status.saddle
        minimum = status(
            lambda x: ridge(unit * x), np.r_[np.ones(n - 1), 0.7] / unit, method=method
        )
        assert minimum is Status.success


def test_maxima_are_told_and_minima_are_not():
    with xc.enable_x64():
        assert status(lambda x: xnp.sum(xnp.cos(x)), np.zeros(100)) is Status.saddle
        assert status(lambda x: x[0] * x[1], np.zeros(2)) is Status.saddle
        assert (
            status(lambda x: xnp.sum((x - 1) ** 2 * 10.0 ** -np.arange(3)), np.zeros(3))
            is Status.success
        )
        held = minimize(
            lambda x: x[0] ** 2 - x[1], np.ones(2), bounds=[(-1, 1), (-1, 1)], curvature=True
        )
        assert held.ok
        rim = minimize(
            lambda x: xnp.sum(0.01 * xnp.abs(x) - x**2 + x**4), np.zeros(1), curvature=True
        )
        assert (
            Status(int(rim.status)) is not Status.saddle
        )  # a minimum with a rim, beyond which it falls
        kink = minimize(lambda x: xnp.sum(xnp.abs(x) - 0.1 * x**2), np.zeros(3), curvature=True)
        assert Status(int(kink.status)) is not Status.saddle
