"""Times that are not known when a program is made, runs of few steps, and states of which few elements move."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.scipy.integrate as si
from xcore.experimental.ode import odeint
from xcore.pde import DORMAND_PRINCE, KVAERNO5, RODAS5P, Status, integrate

TABLEAUS = {"explicit": DORMAND_PRINCE, "stiff": RODAS5P, "sdirk": KVAERNO5}
ROWS = np.array(
    [[0, 2, 1], [0, 1, 2], [np.nan, 1, 2], [0, np.nan, 2], [0, 1, 1], [3, 2, 1], [0, 1, -1]]
)


@pytest.mark.parametrize("name", TABLEAUS)
def test_no_success_where_times_turn_back(name):
    """They are seen as they come under ``jit`` and ``vmap``: what is no solution is NaN, and no success."""
    tableau = TABLEAUS[name]
    run = lambda t: integrate(
        lambda u, t: -u, xnp.ones(1, "float64"), t, tableau=tableau, report=True
    )
    found = xc.jit(xc.vmap(run))(ROWS)
    u, falls, absent = np.asarray(found.value)[..., 0], np.diff(ROWS) < 0, np.isnan(ROWS)
    off = absent | np.pad(falls, ((0, 0), (1, 0)))
    off = np.logical_or.accumulate(off, axis=1)
    assert np.array_equal(np.isnan(u), off)
    np.testing.assert_allclose(u[~off], np.exp(ROWS[:, :1] - ROWS)[~off], rtol=1e-4)
    assert np.array_equal(np.asarray(found.ok), ~off.any(1))
    want = np.where(absent.any(1), Status.not_finite, Status.incompatible)[off.any(1)]
    assert np.array_equal(np.asarray(found.status)[off.any(1)], want)
    assert "times do not rise" in run(ROWS[1]).replace(status=Status.incompatible, left=1.0).message


@pytest.mark.parametrize("method", ["RK45", "RK23", "Radau", "Kvaerno5", "TRBDF2"])
def test_times_beyond_the_span_are_no_success(method):
    solve = lambda span, t: si.solve_ivp(
        lambda t, y: -y, span, xnp.ones(1, "float64"), method=method, t_eval=t
    )
    run = xc.jit(xc.vmap(lambda t: (lambda r: (r.y[0], r.success))(solve((0.0, 2.0), t))))
    times = np.array([[0.5, 2.0], [0.5, 2.5], [-0.5, 1.0], [1.0, 0.5], [0.5, np.nan]])
    y, good = map(np.asarray, run(times))
    assert good.tolist() == [True, False, False, False, False]
    np.testing.assert_allclose(y[0], np.exp(-times[0]), rtol=5e-3)
    for span, t in (((0.0, 1.0), [0.5, 2.0]), ((0.0, 1.0), [0.7, 0.2]), ((1.0, 0.0), [0.2, 0.7])):
        with pytest.raises(ValueError, match="a row of times from"):
            xc.jit(lambda span=span, t=t: solve(span, np.array(t)).y)()


@pytest.mark.parametrize("wrap", [lambda f: f, xc.jit], ids=["eager", "jit"])
def test_a_span_that_rounding_swallows_is_refused(wrap):
    with pytest.raises(ValueError, match="apart in float32"):
        wrap(lambda y: si.solve_ivp(lambda t, y: -y, (1e8, 1e8 + 1), y, t_eval=[1e8]).y)(
            xnp.ones(1, "f")
        )


@pytest.mark.parametrize("name", TABLEAUS)
def test_a_time_that_was_not_reached_is_no_success_at_a_later_one(name):
    """Steps are counted between two times; those behind one that took too many are not given for it."""
    times = xnp.asarray([0.0, 10.0, 10.1, 10.2, 10.3])
    run = lambda times: integrate(
        lambda u, t: -u,
        xnp.ones(1),
        times,
        tableau=TABLEAUS[name],
        max_step=2.0,
        max_steps=4,
        report=True,
    )
    for found in (run(times), xc.jit(run)(times)):
        assert found.status == Status.max_steps and found.left == 10
        assert np.isnan(np.asarray(found.value)[1:]).all()


SOLVERS = {
    "integrate": lambda f, y, t, tol: integrate(f, y, t, rtol=tol, atol=tol),
    "odeint": lambda f, y, t, tol: odeint(f, y, t, rtol=tol, atol=tol),
    "solve_ivp": lambda f, y, t, tol: (
        si.solve_ivp(lambda t, y: f(y, t), (t[0], t[-1]), y, t_eval=t, rtol=tol, atol=tol).y.T
    ),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_tolerances_hold_for_each_element_however_many_there_are(name):
    """Few that move among many at rest: as a root of a mean, errors of these were a hundred times as large."""
    times, tol = np.array([0.0, 5.0, 10.0]), 1e-6

    def wave(y, t):
        return xnp.concatenate([xnp.stack([y[1], -y[0]]), 0 * y[2:]])

    for rest in (0, 20_000):
        start = np.zeros(2 + rest)
        start[0] = 1
        found = np.asarray(SOLVERS[name](wave, start, times, tol))[:, 0]
        assert np.abs(found - np.cos(times)).max() < 30 * tol


def test_a_state_at_rest_without_an_absolute_tolerance():
    """Nothing in units of nothing is no error."""
    for name, solve in SOLVERS.items():
        still = solve(lambda y, t: -y, np.zeros(2), np.array([0.0, 1.0]), 1e-6)
        assert not np.asarray(still).any(), name
    found = si.solve_ivp(lambda t, y: -y, (0, 1), np.zeros(2), atol=0.0)
    assert found.success and not np.asarray(found.y).any()
