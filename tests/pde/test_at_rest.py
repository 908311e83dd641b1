"""Derivatives of states at rest: the error of a step says nothing of them, and still they are right."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.experimental.ode import odeint
from xcore.scipy.integrate import solve_ivp

ONE, E = np.float64(1), np.exp
SOLVERS = {
    "odeint": lambda f, y, t: odeint(lambda y, s: f(y), y, t),
    "integrate": lambda f, y, t: pde.integrate(lambda u, s: f(u), y, t, rtol=1e-8),
    "DOP853": lambda f, y, t: pde.integrate(lambda u, s: f(u), y, t, tableau=pde.DOP853, rtol=1e-8),
    "some checkpoints": lambda f, y, t: pde.integrate(
        lambda u, s: f(u), y, t, rtol=1e-8, checkpoints=6
    ),
    "max_step": lambda f, y, t: pde.integrate(lambda u, s: f(u), y, t, rtol=1e-8, max_step=9.0),
    "solve_ivp": lambda f, y, t: _by_solve_ivp(f, y, t),
    "solve_ivp, max_step": lambda f, y, t: _by_solve_ivp(f, y, t, max_step=9.0),
}


def _by_solve_ivp(f, y, t, **options):
    y = xnp.asarray(y)
    slope = lambda s, u: f(u.reshape(y.shape))
    found = solve_ivp(
        slope, (t[0], t[-1]), y.reshape(-1), t_eval=t, rtol=1e-8, atol=1e-10, **options
    )
    return found.y.T.reshape(-1, *y.shape)


# the last state of a run from p, and its derivative by p, by hand
CASES = {
    "towards what moves": (lambda s, p: s(lambda y: p - y, xnp.ones((), float), np.array([0.0, 5])), 1 - E(-5)),
    "logistic": (lambda s, p: s(lambda y: y * (1 - y), p, np.array([0.0, 1, 10])), E(-10)),
    "away": (lambda s, p: s(lambda y: y * (y - 1), p, np.array([0.0, 3])), E(3)),
    "from 0": (lambda s, p: s(lambda y: -y, p - 1, np.array([0.0, 1])), E(-1)),
    "a rate": (lambda s, p: s(lambda y: 1 - p * y, xnp.ones((), float), np.array([0.0, 1])), E(-1) - 1),
    "one moves": (
        lambda s, p: s(lambda y: y * np.array([-1.0, -50]), xnp.stack([p, p - 1]), np.array([0.0, 1])).sum(-1),
        E(-1) + E(-50),
    ),
}  # fmt: skip
MODES = {
    "grad": lambda f: xc.grad(f)(ONE),
    "jvp": lambda f: xc.jvp(f, (ONE,), (ONE,))[1],
    "jit": lambda f: xc.jit(xc.grad(f))(ONE),
    "of jit": lambda f: xc.grad(xc.jit(f))(ONE),
    "vmap": lambda f: xc.vmap(xc.grad(f))(np.ones(2))[1],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_derivatives(solver, case, mode):
    run, expected = CASES[case]
    if mode != "grad" and "max_step" in solver:
        pytest.skip("the loop is that of max_step in all modes")
    with xc.config.override(default_bits=64):
        found = MODES[mode](lambda p: run(SOLVERS[solver], p)[-1])
    np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_states_are_those_of_longer_steps():
    """What no derivative is taken of is not slowed down."""
    asked = []

    def slope(u, t):
        xc.debug.callback(lambda: asked.append(0))
        return 1 - u

    run = lambda u: pde.integrate(slope, u, np.array([0.0, 1000]))[-1]
    assert float(run(ONE)) == 1 and 0 < len(asked) < 200


@pytest.mark.parametrize("solver", ["odeint", "integrate", "max_step", "solve_ivp"])
def test_what_runs_refer_to_may_be_traced(solver):
    """Whole numbers of a jitted function around, and its tolerances."""
    run = lambda y, k: SOLVERS[solver](lambda u: -k * u, y, np.array([0.0, 1]))[-1]
    for k in (1, 2):
        for g in (xc.grad(xc.jit(run)), xc.jit(xc.grad(run))):
            np.testing.assert_allclose(g(ONE, k), E(-k), rtol=1e-3)
    both = lambda y: xc.vmap(lambda n: run(y, n))(np.array([1, 2])).sum()
    np.testing.assert_allclose(xc.grad(both)(ONE), E(-1) + E(-2), rtol=1e-3)
    tight = lambda y, r: pde.integrate(lambda u, t: -u, y, np.array([0.0, 1]), rtol=r, atol=r)[-1]
    np.testing.assert_allclose(xc.grad(xc.jit(tight))(ONE, 1e-6), E(-1), rtol=1e-3)
