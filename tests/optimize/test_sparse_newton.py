"""Minimisation with sparse Hessians: truth of success by gradients and known minima, over scales; what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo
from xcore import Status, sparse


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def bratu(x, load):
    """The energy of -Δu = load eᵘ on the unit square."""
    n = int(np.sqrt(x.shape[0]))
    u = xnp.pad(x.reshape(n, n), 1)
    bends = sum((xnp.diff(u, axis=k) ** 2).sum() for k in (0, 1))
    return bends / 2 - load / (n + 1) ** 2 * xnp.exp(u[1:-1, 1:-1]).sum()


def test_ten_thousand_unknowns():
    with xc.enable_x64():
        found = xo.minimize(rosenbrock, np.full(10_000, 0.9), method="sparse")
        assert found.success and np.abs(np.asarray(found.x) - 1).max() <= found.error <= 5e-7
        field = xo.minimize(bratu, np.zeros(10_000), 5.0, method="sparse")
        u = np.pad(np.asarray(field.x).reshape(100, 100), 1)
        left = 4 * u[1:-1, 1:-1] - u[2:, 1:-1] - u[:-2, 1:-1] - u[1:-1, 2:] - u[1:-1, :-2]
        left -= 5 / 101**2 * np.exp(u[1:-1, 1:-1])
        assert field.success and np.abs(left).max() < 1e-13 and field.steps < 12


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_success_is_true_over_scales(dtype):
    """A chain of known minimum in other units of variables and of values."""
    n, rng = 12, np.random.default_rng(0)
    exact = rng.normal(size=n)

    def f(x, unit, size):
        y = x * unit - xnp.asarray(exact, dtype)
        return size * ((xnp.cosh(y) - 1).sum() + (xnp.diff(y) ** 2).sum())

    for unit, size in ((1, 1), (1e-6, 1e9), (1e8, 1e-12)):
        with xc.enable_x64():
            args = tuple(np.asarray(v, dtype) for v in (unit, size))
            found = xo.minimize(f, np.zeros(n, dtype), args, method="sparse")
        error = np.abs(np.asarray(found.x, float) * unit - exact).max() / np.abs(exact).max()
        assert found.success and error <= found.error + 4 * np.finfo(dtype).eps


def test_no_success_where_there_is_no_minimum():
    link = lambda x: 0.01 * (xnp.diff(x) ** 2).sum()
    with xc.enable_x64():
        saddle = xo.minimize(lambda x: ((x[0] - 1) ** 2 - x[1:] ** 2).sum(), np.r_[2.0, np.zeros(3)], method="sparse")  # fmt: skip
        assert saddle.status == Status.saddle
        valley = xo.minimize(lambda x: (x.sum() - 1) ** 2, np.ones(4), method="sparse")
        assert not valley.success
        eighth = xo.minimize(lambda x: ((x - 1) ** 8).sum() + link(x), np.zeros(4), method="sparse")
        assert not eighth.success or np.abs(np.asarray(eighth.x) - 1).max() <= eighth.error


def test_given_hessians_derivatives_and_history():
    n = 9
    stiff = sp.diags_array([-1.0, 3.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))

    def f(x, t):
        return (
            (x**2).sum() / 2 + (xnp.diff(xnp.pad(x, 1)) ** 2).sum() / 2 + (t * x**4 / 4 - x).sum()
        )

    def hess(x, t):
        return sparse.from_scipy(stiff) + sparse.diags_array(3 * t * x**2)

    with xc.enable_x64():
        t = xnp.asarray(0.5)
        start = np.zeros(n)
        found = xo.minimize(f, start, (t,), hess=hess, history=True)
        assert found.success and len(found.history["f"]) == found.steps + 1
        x = np.asarray(found.x)
        np.testing.assert_allclose(stiff @ x + 0.5 * x**3, 1, rtol=1e-9)
        slope = xc.grad(lambda t: xo.minimize(f, start, (t,), method="sparse").x.sum())(t)
        at = lambda t: float(xo.minimize(f, start, (t,), method="sparse").x.sum())
        np.testing.assert_allclose(slope, (at(0.501) - at(0.499)) / 0.002, rtol=1e-5)
        many = xc.vmap(lambda t: xo.minimize(f, start, (t,), method="sparse"))(
            xnp.asarray([0.5, 2.0])
        )
        assert many.success.all()
        np.testing.assert_allclose(many.x[0], x, rtol=1e-9)


def test_what_is_refused():
    f = lambda x: (x**2).sum()
    eye = lambda x: sparse.eye_array(3)
    for more in ({"bounds": (0, 1)}, {"curvature": True}, {"hessp": lambda x, p: p}):
        with pytest.raises(ValueError, match="sparse"):
            xo.minimize(f, np.ones(3), method="sparse", **more)
    with pytest.raises(ValueError, match="todense"):
        xo.minimize(f, np.ones(3), method="bfgs", hess=eye)
    with pytest.raises(xc.errors.ShapeError, match="hess"):
        xo.minimize(f, np.ones(4), hess=eye)
    assert xo.minimize(lambda x: (x**2).sum(), np.ones(0), method="sparse").x.shape == (0,)
