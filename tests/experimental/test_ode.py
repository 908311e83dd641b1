"""odeint beside SciPy's integrator, closed forms and derivatives of closed forms."""

import numpy as np
import pytest
import scipy.integrate

import xcore as xc
import xcore.numpy as xnp
from xcore.experimental.ode import odeint

T = np.array([0.0, 0.3, 1.0, 2.5])


def pendulum(y, t, damping, length):
    return {"angle": y["rate"], "rate": -damping * y["rate"] - xnp.sin(y["angle"]) / length}


def test_pytrees_as_scipy_has_them():
    y0 = {"angle": np.float64(1.0), "rate": np.float64(0.2)}
    found = xc.jit(lambda *a: odeint(pendulum, *a))(y0, T, 0.3, 0.7)
    flat = lambda t, y: [y[1], -0.3 * y[1] - np.sin(y[0]) / 0.7]
    wanted = scipy.integrate.solve_ivp(
        flat, (0, 2.5), [1.0, 0.2], "DOP853", T, rtol=1e-12, atol=1e-12
    )
    # the local errors are 1.4e-8; over these times they add up to less than ten of them
    assert np.allclose(found["angle"], wanted.y[0], atol=1e-7, rtol=0)
    assert np.allclose(found["rate"], wanted.y[1], atol=1e-7, rtol=0)


def test_derivatives_in_all_arguments():
    """y' = -a t y with y = y0 exp(-a (t^2 - t0^2) / 2), in both modes and twice."""

    def ours(y0, t, a):
        return odeint(lambda y, t, a: -a * y * t, y0, t, a)

    def exact(y0, t, a):
        return y0 * xnp.exp(-a * (t**2 - t[0] ** 2)[:, None] / 2)

    args = np.array([1.0, 2.0]), T + 0.1, np.float64(0.8)
    wanted = xc.jit(xc.jacfwd(exact, (0, 1, 2)))(*args)
    for mode in (xc.jacfwd, xc.jacrev):
        got = xc.jit(mode(ours, (0, 1, 2)))(*args)
        # in t it is the slope of the polynomial between the ends of a step, of one order less
        for a, b, tol in zip(got, wanted, (1e-7, 1e-6, 1e-7), strict=True):
            assert np.allclose(a, b, atol=tol, rtol=0)
    energy = lambda f: lambda a: (f(args[0], args[1], a) ** 2).sum()
    second = [float(xc.jit(xc.hessian(energy(f)))(args[2])) for f in (ours, exact)]
    assert np.isclose(*second, rtol=1e-6)


def test_steps_not_taken_have_no_derivative():
    """The first steps of this would leave the domain of the root, where slopes are NaN."""

    def end(y0):  # y = (sqrt(y0) - t / 2)^2
        return odeint(lambda y, t: -xnp.sqrt(y), y0, np.array([0.0, 1.99]))[-1]

    y, dy = xc.value_and_grad(end)(np.float64(1.0))
    assert np.isclose(y, 0.005**2, atol=1e-7, rtol=0) and np.isfinite(dy)


def test_batches_lanes_complex_and_falling_times():
    turn = lambda y, t, w: 1j * w * y
    t, w = -T, np.array([1.0, 2.0])
    found = xc.vmap(lambda w: odeint(turn, np.complex128(1), t, w))(w)
    assert np.allclose(found, np.exp(1j * w[:, None] * t), atol=1e-7)


def test_single_precision_ends_and_closures_differentiate():
    def end(a):
        return odeint(lambda y, t: a * xnp.cos(t), xnp.zeros(2), np.array([0, 3], np.float32))[
            -1, 0
        ]

    y, slope = xc.value_and_grad(end)(2.0)
    assert y.dtype == np.float32
    assert np.allclose([y, slope], [2 * np.sin(3), np.sin(3)], atol=1e-5)


def test_limits():
    y = odeint(lambda y, t: y**2, np.float64(1.0), np.array([0.0, 0.5, 2.0]))  # infinite at t = 1
    assert np.isclose(y[1], 2, rtol=1e-6) and np.isnan(y[2])
    y = odeint(lambda y, t: xnp.cos(50 * t), np.float64(0.0), np.array([0.0, 9.0]), mxstep=3)
    assert np.isnan(y[1])
    # pulses that long steps would not see
    pulse = lambda y, t: xnp.exp(-(((t - 5) / 0.05) ** 2))
    y = odeint(pulse, np.float64(0.0), np.array([0.0, 10.0]), hmax=0.05)
    assert np.isclose(y[1], 0.05 * np.sqrt(np.pi), rtol=1e-6)
    assert np.array_equal(odeint(pulse, 3, np.array([1.0])), [3.0])


def test_errors():
    with pytest.raises(ValueError, match="t "):
        odeint(lambda y, t: y, 1.0, 3.0)
    with pytest.raises(ValueError, match="odeint"):
        odeint(lambda y, t: (y, y), 1.0, T)


def test_time_moves_by_what_rounding_lets_it():
    """From 1e4 on float32 has steps of 1e-3; the slopes are those of the way that time goes."""
    times = np.array([1e4, 1e4 + 1, 1e4 + 2], np.float32)
    y = odeint(lambda y, t: -y, xnp.ones(1), times)
    assert np.allclose(y[:, 0], np.exp([0.0, -1.0, -2.0]), atol=2e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_units_of_time(dtype):
    """Of y' = w cos(w t), the sine: the first step is never longer than all of the time."""

    @xc.jit
    def run(w):
        times = xnp.asarray([0.0, 10.0, 11.0], dtype) / w
        return odeint(lambda y, t: w * xnp.cos(w * t) + 0 * y, 0 * w, times, rtol=1e-4, atol=1e-6)

    for w in 10.0 ** np.arange(-30, 31, 5):
        found = np.asarray(run(np.asarray(w, dtype)))
        np.testing.assert_allclose(found, np.sin([0, 10, 11]), atol=3e-3, err_msg=str(w))


def test_times_and_tolerances_that_mean_nothing():
    run = lambda t=(0.0, 1.0), **how: odeint(lambda y, t: -y, 1.0, xnp.asarray(t), **how)
    for wrong in (
        {"atol": -1.0},
        {"rtol": np.nan},
        {"hmax": -1.0},
        {"t": [0.0, 1.0, 0.5]},
        {"t": [0.0, np.nan]},
    ):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
            run(**wrong)
    found = np.asarray(xc.jit(run)(np.array([0.0, 1.0, 1.2, 0.2])))
    assert np.allclose(found[:3], np.exp([0, -1, -1.2])) and np.isnan(found[3])
