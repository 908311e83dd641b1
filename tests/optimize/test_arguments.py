"""What users give by mistake is refused in words, and never taken for a success."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

ERRORS = (ValueError, TypeError)
bowl = lambda x: xnp.sum((x - 1) ** 2)
ON = xo.Constraints(eq=lambda x: x[0] - x[1])
ZERO, KEY = np.zeros(2), xc.random.key(0)
TOLERANT = {
    "minimize": lambda t: xo.minimize(bowl, ZERO, tol=t),
    "Nelder-Mead": lambda t: xo.minimize(bowl, ZERO, method="Nelder-Mead", tol=t),
    "sparse": lambda t: xo.minimize(bowl, ZERO, method="sparse", tol=t),
    "gtol": lambda t: xo.minimize(bowl, ZERO, options={"gtol": t}),
    "minimize_constrained": lambda t: xo.minimize_constrained(bowl, ZERO, (), ON, tol=t),
    "least_squares": lambda t: xo.least_squares(lambda x: x - 1, ZERO, tol=t),
    "curve_fit": lambda t: xo.curve_fit(lambda x, a: a * x, np.arange(3.0), np.arange(3.0), (2.0,), tol=t),
    "root": lambda t: xo.root(lambda x: x - 1, ZERO, tol=t),
    "fixed_point": lambda t: xo.fixed_point(lambda x: 0.5 * x + 1, ZERO, tol=t),
    "minimize_scalar": lambda t: xo.minimize_scalar(lambda x: (x - 1) ** 2, tol=t),
    "root_scalar": lambda t: xo.root_scalar(lambda x: x - 1, (0.0, 3.0), xtol=t),
    "proximal_gradient": lambda t: xo.proximal_gradient(bowl, ZERO, xo.prox.l1(0.1), tol=t),
    "differential_evolution": lambda t: xo.differential_evolution(bowl, [(-2, 2)] * 2, key=KEY, tol=t),
}  # fmt: skip


@pytest.mark.parametrize("name", TOLERANT)
def test_tolerances_that_are_none(name):
    """Some were a success whatever the error was, some a TypeError of Python's about complex numbers."""
    for wrong in (-1.0, -1, float("nan"), np.float64(-1e-3), "1e-3"):
        with pytest.raises(ValueError, match="tol must be a number >= 0"):
            TOLERANT[name](wrong)


WRONG = {
    "must return one number, but returned None": lambda: xo.minimize(lambda x: None, ZERO),
    "must return a real number, but returned bool": lambda: xo.minimize(lambda x: x[0] > 0, ZERO),
    "x0 must consist of numbers, given <function": lambda: xo.root(ZERO, bowl),
    "x0 must consist of numbers": lambda: xo.least_squares(lambda x: x, lambda x: x),
}


@pytest.mark.parametrize("words", WRONG)
def test_functions_that_are_none(words):
    with pytest.raises(ERRORS, match=words):
        WRONG[words]()


@pytest.mark.parametrize("solve", [xo.minimize, xo.least_squares, xo.minimize_constrained])
def test_bounds_of_another_shape_are_named(solve):
    f = lambda x: x - 1 if solve is xo.least_squares else xnp.sum((x - 1) ** 2)
    with pytest.raises(ValueError, match=r"bounds must be a tuple .* x0 has shape \(2,\)"):
        solve(f, xnp.ones(2), bounds=(xnp.zeros(3), 5.0))
