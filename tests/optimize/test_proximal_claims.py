"""Sums of smooth and simple functions in all units: a success satisfies the conditions of the minimum."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

RNG = np.random.default_rng(3)
A = RNG.normal(size=(20, 6)) * np.geomspace(1, 0.05, 6)
B = A @ np.array([2.0, 0, -1, 0, 3, 0]) + 0.01 * RNG.normal(size=20)
SCALES = {
    np.float64: ((1, 1), (1e12, 1), (1e-12, 1), (1, 1e20), (1, 1e-20), (1e8, 1e-20), (1e-12, 1e12)),
    np.float32: ((1, 1), (1e6, 1), (1e-6, 1), (1, 1e8), (1, 1e-8), (1e6, 1e-8)),
}
KINDS = ("lasso", "nonnegative", "nothing")


def prox_of(kind, weight):
    return {
        "lasso": xo.prox.l1(weight),
        "nonnegative": xo.prox.nonnegative(),
        "nothing": xo.prox.zero(),
    }[kind]


def subgradient(kind, z, g, weight):
    """The largest component of what is left of the gradient: the distance from -g to the subdifferential."""
    if kind == "lasso":
        at_zero = np.maximum(np.abs(g) - weight, 0)
        return np.max(np.where(z == 0, at_zero, np.abs(g + weight * np.sign(z))))
    if kind == "nonnegative":
        assert np.all(z >= 0)
        return np.max(np.where(z == 0, np.maximum(-g, 0), np.abs(g)))
    return np.max(np.abs(g))


@pytest.mark.parametrize("dtype", SCALES)
@pytest.mark.parametrize(
    "kind, method", [("lasso", "fista"), ("nonnegative", "fista"), ("nothing", "proximal-gradient")]
)
def test_success_is_a_minimum_in_all_units(kind, method, dtype):
    a, b = A.astype(dtype), B.astype(dtype)

    @xc.jit
    def solve(start, unit, size):
        f = lambda x: 0.5 * size * xnp.sum((a @ (x / unit) - b) ** 2)
        return xo.proximal_gradient(
            f, start, prox_of(kind, 0.5 * size / unit), method=method, maxiter=20000
        )

    tol, steps = float(np.finfo(dtype).eps) ** 0.4, []
    for unit, size in SCALES[dtype]:
        for begin in (np.zeros(6), RNG.normal(size=6)):
            found = solve((begin * unit).astype(dtype), dtype(unit), dtype(size))
            assert found.success, (unit, size, found.message)
            z = np.asarray(found.x, float) / unit
            g = A.T @ (A @ z - B)
            most = max(np.abs(A.T @ B).max(), np.abs(A.T @ (A @ begin - B)).max())
            # beside the rounding errors of the gradient in this dtype
            noise = 20 * np.finfo(dtype).eps * np.abs(A.T @ A).max() * np.abs(z).max()
            assert subgradient(kind, z, g, 0.5) <= 4 * tol * most + noise, (unit, size)
            assert float(found.certificate.error) <= tol
            steps.append(int(found.nit))
    assert max(steps[::2]) <= 1.5 * min(steps[::2]) + 5  # from 0: the same path in all units


def test_what_is_no_minimum_is_not_called_one():
    off = xo.proximal_gradient(
        lambda x: -xnp.sum(x), xnp.ones(2, np.float64), xo.prox.zero(), maxiter=300
    )
    assert not off.success
    low = xo.proximal_gradient(
        lambda x: xnp.sum(xnp.log(x)), -xnp.ones(2, np.float64), xo.prox.zero()
    )
    assert xo.Status(int(low.status)) is xo.Status.not_finite
    short = xo.proximal_gradient(
        lambda x: 0.5 * xnp.sum((A @ x - B) ** 2), np.zeros(6), xo.prox.l1(1e-3), maxiter=5
    )
    assert (
        xo.Status(int(short.status)) is xo.Status.max_steps
        and float(short.certificate.error) > 1e-6
    )
