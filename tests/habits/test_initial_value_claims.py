"""What ``solve_ivp`` claims in any unit of time and state, and where rounding of the time is in the way."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.scipy.integrate import solve_ivp


def circling(dtype, unit, start, method):
    """x'' = -x in a unit of time: the cosine, its zeros, and those of the speed where that rises."""
    unit = dtype(unit)

    def lowest(t, y):
        return y[1]

    lowest.terminal, lowest.direction = 2, 1
    span = dtype(start) * unit, dtype(start + 12) * unit
    return solve_ivp(
        lambda t, y: xnp.stack([y[1], -y[0]]) / unit, span, np.array([1, 0], dtype), method, rtol=2e-5,
        events=[lambda t, y: y[0], lowest], dense_output=True,
    ), span  # fmt: skip


CASES = [(unit, start, "RK45") for unit in (1e-20, 1.0, 1e20) for start in (0.0, 5.0)]
CASES += [(1e20, -3.0, "RK23"), (1e-20, 5.0, "Radau"), (1e20, 5.0, "Radau")]
CASES += [(1e-20, 5.0, "DOP853"), (1e20, 0.0, "DOP853")]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("unit, start, method", CASES)
def test_units_of_time(unit, start, method, dtype):
    with xc.enable_x64(dtype is np.float64):
        found, span = circling(dtype, unit, start, method)
        assert found.success and found.status == 1, found.message
        zeros, lows = ((np.asarray(t, float) - float(span[0])) / unit for t in found.t_events)
        assert np.allclose(zeros, np.pi * np.array([0.5, 1.5, 2.5]), atol=1e-3)
        assert np.allclose(lows, [np.pi, 3 * np.pi], atol=1e-3)
        y = found.sol(span[0] + dtype(unit))
        assert np.allclose(y, [np.cos(1), -np.sin(1)], atol=1e-3)


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau"])
def test_rounding_of_times_that_fun_depends_on(method):
    wave = lambda t, y: 3 * xnp.cos(3 * t) * xnp.ones(1)
    y0 = np.ones(1, np.float32)
    for start, told in ((0.0, True), (2e4, False)):
        span = np.float32(start), np.float32(start + 2)
        found = solve_ivp(wave, span, y0, method, rtol=1e-4)
        assert found.success == told
        # steps of order 8 become as short as the rounding before that
        assert told or "count time from where the run starts" in found.message or method == "DOP853"
        still = solve_ivp(lambda t, y: -y, span, y0, method, rtol=1e-2)
        assert still.success and np.isclose(still.y[0, -1], np.exp(-2), rtol=0.05)


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau"])
def test_no_time_at_all(method):
    """The start is the end, as of a loop over parts of a span: the state is what was given, at any time asked for."""
    found = solve_ivp(
        lambda t, y: -y, (2.0, 2.0), [3.0], method, dense_output=True, events=lambda t, y: y[0] - 1
    )
    assert found.success and found.t.tolist() == [2.0, 2.0] and found.y.tolist() == [[3.0, 3.0]]
    assert found.sol(2.0).tolist() == [3.0] and len(found.t_events[0]) == 0
    assert solve_ivp(lambda t, y: -y, (2.0, 2.0), [3.0], method, [2.0]).y.tolist() == [[3.0]]


WRONG = {
    "first_step": (-1.0, 0.0, np.nan), "max_step": (-1.0, 0.0, np.nan), "rtol": (-1.0, np.nan),
    "atol": (-1.0, np.nan, [-1.0], np.array([1e-3, np.nan]), [1e-3, 1e-3, 1e-3]), "t_eval": ([0.5, np.nan],),
    "t_span": ((0, np.nan), (0, np.inf), (np.nan, 1), (-np.inf, 0)), "y0": ([1.0, np.nan],),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_settings_that_ended_nowhere_are_refused(name):
    """Some of these ran for ever, others were a success of other times or tolerances."""
    for wrong in WRONG[name]:
        given = {"t_span": (0, 1), "y0": [1.0, 2.0], name: wrong}
        with pytest.raises(ValueError, match=name):
            solve_ivp(lambda t, y: -y, **given)


def test_longest_steps_count_in_programs_too():
    """A pulse that steps of their own length pass over; and tolerances of each element."""
    pulse = lambda t, y: xnp.exp(-(((t - 5.3) / 0.01) ** 2)) * 100 + 0 * y
    run = lambda y: (
        solve_ivp(pulse, (0.0, 10.0), y, t_eval=xnp.asarray([10.0]), max_step=0.02, atol=[1e-6]).y
    )
    for found in (run(xnp.zeros(1)), xc.jit(run)(xnp.zeros(1))):
        assert np.isclose(found[0, 0], np.pi**0.5, rtol=1e-2)
