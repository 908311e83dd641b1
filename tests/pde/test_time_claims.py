"""What ``integrate`` claims where rounding of the time, and sizes of times and states, are in the way."""

import warnings

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.pde import DORMAND_PRINCE, RODAS5P, Status, integrate

METHODS = {"explicit": DORMAND_PRINCE, "stiff": RODAS5P}
SPEEDS = np.array([-1.0, -50.0, 0.5], np.float32)


@pytest.mark.parametrize("method", METHODS)
def test_times_that_rounding_swallows_make_no_false_claim(method):
    """Of u' = s u from times at which float32 has steps of 1e-7 to 1: e^s after a unit of time, or no claim."""

    def run(speed, start):
        times = start + xnp.asarray([0.0, 1.0, 2.0], np.float32)
        return integrate(
            lambda u, t: speed * u,
            xnp.ones(1),
            times,
            tableau=METHODS[method],
            report=True,
            max_steps=300,
        )

    starts = np.array([0.0, 1e4, 1e6, -1e6, 4e6], np.float32)
    answer = xc.jit(xc.vmap(xc.vmap(run, (0, None)), (None, 0)))(SPEEDS, starts)
    ok, u = np.asarray(answer.ok), np.asarray(answer.value)[..., 0]
    exact = np.exp(np.outer(SPEEDS, [0.0, 1.0, 2.0]))
    for i in range(len(starts)):
        near = np.abs(u[i] - exact) <= 3e-4 * np.abs(exact) + 3e-6
        assert (near.all(1) | ~ok[i]).all(), (starts[i], u[i])
    assert ok[0].all() and ok[1].all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_units_of_time_and_state_change_nothing(method, dtype):
    with xc.enable_x64(dtype == "float64"):

        def run(size, unit):
            times = unit * xnp.asarray([0.0, 1.0, 2.0], dtype)
            return integrate(
                lambda u, t: -u / unit, size * xnp.ones(1, dtype), times, tableau=METHODS[method], atol=0.0,
                report=True,
            )  # fmt: skip

        units = np.array([1e-18, 1.0, 1e18], dtype)  # slopes are in range, too
        answer = xc.jit(xc.vmap(xc.vmap(run, (0, None)), (None, 0)))(units, units)
        assert np.asarray(answer.ok).all()
        found = np.asarray(answer.value)[..., 0] / units[:, None]
        assert np.allclose(found, np.exp([0.0, -1.0, -2.0]), rtol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_a_pole_ends_by_steps_that_vanish(method):
    found = integrate(lambda u, t: u * u, xnp.ones(1), xnp.asarray([0.0, 0.5, 2.0]),
                      tableau=METHODS[method], report=True)  # fmt: skip
    assert found.status == Status.stagnation and np.isclose(found.value[1, 0], 2.0, rtol=1e-4)
    few = integrate(lambda u, t: -u, xnp.ones(1), xnp.asarray([1e6, 1e6 + 2]), tableau=METHODS[method],
                    max_step=1e-3, report=True)  # fmt: skip
    assert few.status == Status.stagnation


def test_times_that_fall_together_are_refused():
    with pytest.raises(ValueError, match="apart in float32"):
        integrate(lambda u, t: -u, np.float32(1), np.array([1e8, 1e8 + 1, 1e8 + 2]))
    with pytest.raises(ValueError, match="one array at least"):
        integrate(lambda u, t: u, (), np.array([0.0, 1.0]))


@pytest.mark.parametrize("method", METHODS)
def test_states_of_no_elements_and_of_few_digits(method):
    times = xnp.asarray([0.0, 1.0])
    empty = integrate(lambda u, t: -u, xnp.zeros(0), times, tableau=METHODS[method], report=True)
    assert empty.ok and empty.value.shape == (2, 0)
    if method == "explicit":
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            u = integrate(lambda u, t: -u, np.ones(1, np.float16), times)
        assert abs(float(u[1, 0]) - np.exp(-1)) < 2e-3
