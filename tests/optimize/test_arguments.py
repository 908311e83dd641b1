"""What users give by mistake is refused in words, and never taken for a success."""

import re

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


T = np.arange(6.0)
decay = lambda p: p[0] * xnp.exp(-p[1] * T) - 2 * xnp.exp(-0.5 * T)
line = lambda x, a, b: a * x + b
square = lambda x: xnp.stack([x[0] ** 2 + x[1] ** 2 - 4, x[0] - x[1]])
fitted = lambda **more: xo.least_squares(decay, np.ones(2), **more)
curve = lambda y, p0=(1.0, 1.0), **more: xo.curve_fit(line, T, y, p0, **more)
under = lambda f, kind="ineq", **more: xo.minimize(
    bowl, np.ones(2), constraints={"type": kind, "fun": f, **more}
)
# what is said, and the calls that must say it; most were a success, with whatever numbers
MISSHAPEN = {
    r"jac must return a row for each of 6 values .* \(6, 2\)": [
        lambda: fitted(jac=lambda p: xc.jacfwd(decay)(p).T), lambda: fitted(jac=lambda p: xnp.ones(12)),
        lambda: fitted(jac=lambda p: xnp.ones((6, 3))), lambda: fitted(jac=lambda p: 1.0),
    ],
    r"jac must return a row for each of 2 values": [
        lambda: xo.root(square, np.ones(2), jac=lambda x: xnp.ones(2)),
        lambda: xo.root(square, np.ones(2), jac=lambda x: xnp.ones((3, 2))),
    ],
    r"jac must return a row for each of 1 values": [
        lambda: under(lambda x: x[0] - x[1], "eq", jac=lambda x: xnp.ones(3)),
    ],
    "jac must be a function": [
        lambda: fitted(jac="2-point"), lambda: xo.root(square, np.ones(2), jac=True),
    ],
    "loss must be .* of three arrays like z": [
        lambda: fitted(loss=lambda z: z), lambda: fitted(loss=lambda z: None),
        lambda: fitted(loss=lambda z: (z, 0 * z + 1)), lambda: fitted(loss=lambda z: (xnp.sum(z), 1.0, 0.0)),
        lambda: fitted(loss=lambda z: xnp.stack([z, 0 * z + 1, 0 * z])),
        lambda: fitted(loss=lambda z: (z, 0 * z[:2], 0 * z)),
    ],
    "loss must be .* of real numbers": [lambda: fitted(loss=lambda z: (1j * z, 1.0, 0.0))],
    "f_scale must be one number above 0": [
        lambda s=s: fitted(loss="huber", f_scale=s) for s in (0.0, -1.0, np.nan, np.inf, np.ones(6))
    ],
    "p0 must be as many parameters as f takes": [
        lambda: curve(T, (1.0,)), lambda: curve(T, (1.0, 1.0, 1.0)),
    ],
    "f must return as many values as ydata": [
        lambda: curve(T[:, None]), lambda: curve(1.0),
    ],
    "sigma must be above 0": [lambda s=s: curve(T, sigma=s + 0 * T) for s in (0.0, -1.0, np.nan)],
    "sigma must be symmetric": [lambda: curve(T, sigma=np.triu(np.ones((6, 6))))],
    "a constraint must return real numbers": [
        lambda: under(lambda x: x[0] > 1), lambda: under(lambda x: 1j * x[0]),
        lambda: xo.minimize(bowl, np.ones(2), constraints=xo.Constraints(ineq=lambda x: [x[0], x[1] > 1])),
    ],
    "a constraint must return numbers, but one returned None": [lambda: under(lambda x: None, "eq")],
    "bounds must be two finite numbers": [
        lambda: xo.minimize_scalar(lambda x: x * x, bounds=(-np.inf, 1.0)),
    ],
}  # fmt: skip


@pytest.mark.parametrize("words", MISSHAPEN)
def test_what_has_another_shape_is_named(words):
    for call in MISSHAPEN[words]:
        with pytest.raises(ERRORS, match=words):
            call()


def test_shapes_that_are_meant():
    """A Jacobian of one equation or unknown as a vector; slopes of losses as numbers; curves that do not bend."""
    whole = xc.jacfwd(decay)
    for jac in (whole, lambda p: whole(p).astype("float32")):
        assert fitted(jac=jac).success
    folded = lambda p: decay(p).reshape(2, 3)
    assert xo.least_squares(folded, np.ones(2), jac=lambda p: whole(p).reshape(2, 3, 2)).success
    assert xo.root(lambda x: x * x - 2, 1.0, jac=lambda x: 2 * x).success
    assert under(lambda x: x[0] - x[1], "eq", jac=lambda x: xnp.asarray([1.0, -1.0])).success
    for loss in (lambda z: (z, 1.0, 0.0), lambda z: [z, xnp.ones_like(z), 0 * z]):
        np.testing.assert_allclose(fitted(loss=loss).x, [2, 0.5], rtol=1e-6)
    mean = xo.curve_fit(lambda x, a: a, T, T, (1.0,))
    np.testing.assert_allclose(mean.popt[0], 2.5, rtol=1e-6)
    fit = lambda y, s: xo.curve_fit(
        line, T, y, (1.0, 1.0), sigma=s, loss="huber", f_scale=9.0
    ).popt[0]
    np.testing.assert_allclose(xc.jit(fit)(T**2, np.eye(6) + 0.1), 5, rtol=1e-5)


def test_scales_of_variables_that_are_none():
    from_scipy = lambda s: xc.scipy.optimize.least_squares(lambda x: x - 1, np.ones(2), x_scale=s)
    for wrong in (np.ones(3), [-1.0, 1.0], [0.0, 1.0], "jacobian", np.nan):
        with pytest.raises(ERRORS, match="x_scale must be 'jac', a number above 0"):
            from_scipy(wrong)
    assert all(bool(from_scipy(s).success) for s in (None, "jac", 2.0, np.ones(2)))


@pytest.mark.parametrize("rule", [xo.LBFGS(memory=3), xo.BFGS(), xo.NonlinearCG(), xo.Gradient()])
def test_a_rule_for_directions_is_a_method(rule):
    """It searches along its directions as ``Descent`` of it does."""
    f = lambda x: xnp.sum((x - 1.5) ** 2)
    found, same = (xo.minimize(f, xnp.zeros(3), method=m) for m in (rule, xo.Descent(rule)))
    assert found.success and found.x.tolist() == same.x.tolist()


@pytest.mark.parametrize(
    ("method", "words"),
    [(xo.LBFGS, "LBFGS()"), (xo.adam(0.1), "fit()"), (3, "given 3"), (lambda: None, "Descent")],
)
def test_what_is_no_method_is_told(method, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        xo.minimize(lambda x: xnp.sum(x**2), xnp.zeros(2), method=method)
