"""Python's numbers beside arrays of float64 keep all their digits, whichever function takes them."""

import numpy as np
import pytest

import xcore.linalg as la
import xcore.numpy as xnp
import xcore.optimize as xo
import xcore.scipy.integrate as si
import xcore.scipy.optimize as so
from xcore import pde, random, sparse

RANDOM = np.random.default_rng(0).standard_normal((6, 6))
A = xnp.asarray(RANDOM @ RANDOM.T + np.eye(6))
B, Y, START = np.ones(6), np.linspace(0.0, 1.0, 9) ** 2, np.array([1.0, 2.0])
CLOSE = xnp.asarray(np.diag(1 + 1e-9 * np.arange(6)))
TIGHT = {"rtol": 1e-10, "atol": 1e-13}


def _squares(x):
    return (x**2).sum()


def _decay(u, t):
    return -u


def _robust(x):
    return xnp.concatenate([x - 1, x - 3, 2 * x - 1])


TAKES = {
    "expm_multiply": lambda v: la.expm_multiply(A, B, v),
    "lsmr": lambda v: la.lsmr(A, B, damp=v),
    "lstsq": lambda v: la.lstsq(A, B, ridge=v),
    "eigsh": lambda v: la.eigsh(CLOSE, 1, sigma=1 + v * 4.1e-8)[0],
    "eigs": lambda v: sparse.eigs(CLOSE, 1, sigma=1 + v * 4.1e-8)[0],
    "bounds": lambda v: xo.minimize(_squares, START, bounds=(v, None)).x,
    "bounds in a list": lambda v: xo.minimize(_squares, START, bounds=[(v, None), (v, 3)]).x,
    "bounds with constraints": lambda v: xo.minimize_constrained(_squares, START, bounds=[(v, None)] * 2).x,
    "bounds of residuals": lambda v: xo.least_squares(lambda x: x + 1, START, bounds=(v, 5.0)).x,
    "f_scale": lambda v: xo.least_squares(_robust, START[:1], loss="soft_l1", f_scale=v).x,
    "args": lambda v: xo.root(lambda x, c: x**3 - c, START, args=(v,)).x,
    "simpson": lambda v: si.simpson(Y, dx=v),
    "trapezoid": lambda v: si.trapezoid(Y, dx=v),
    "solve_ivp": lambda v: si.solve_ivp(lambda t, y: -y, (0, v), START, **TIGHT).y[:, -1],
    "solve_ivp at times": lambda v: si.solve_ivp(lambda t, y: -y, (0, 1), START, t_eval=[v, 2 * v], **TIGHT).y,
    "integrate": lambda v: pde.integrate(_decay, START, [0.0, v], **TIGHT)[-1],
    "integrate, stiff": lambda v: pde.integrate(_decay, START, [0.0, v], tableau=pde.RODAS5P, **TIGHT)[-1],
}  # fmt: skip


@pytest.mark.parametrize("name", TAKES)
def test_a_python_number_is_as_wide_as_the_arrays(name):
    found, wide = (np.asarray(TAKES[name](kind(0.1))) for kind in (float, np.float64))
    assert found.dtype == wide.dtype
    np.testing.assert_allclose(found, wide, rtol=1e-13)


LINE = lambda x, c: 4 * xnp.sqrt(c) * (x - c)
PLAIN_STARTS = {
    "minimize": lambda c: xo.minimize(lambda x: (x - c) ** 2, 0.3).x,
    "minimize, list": lambda c: xo.minimize(lambda x: (x[0] - c) ** 2 + (x[1] - c) ** 2, [0.3, 0]).x[0],
    "minimize, args": lambda c: xo.minimize(lambda x, c: (x - c) ** 2, 0, c).x,
    "minimize, Nelder-Mead": lambda c: xo.minimize(lambda x: (x - c) ** 2, 0.3, method="Nelder-Mead").x,
    "minimize, bounds": lambda c: xo.minimize(lambda x: (x - c) ** 2, 0.3, bounds=(0, None)).x,
    "minimize, jac": lambda c: xo.minimize(lambda x: ((x - c) ** 2, 2 * (x - c)), 0.3, jac=True).x,
    "minimize_constrained": lambda c: xo.minimize_constrained(lambda x: (x - c) ** 2, 0.3, bounds=(0, 9)).x,
    "minimize_scalar": lambda c: xo.minimize_scalar(lambda x: (x - c) ** 2).x,
    "minimize_scalar, bounds": lambda c: xo.minimize_scalar(lambda x, c: (x - c) ** 2, bounds=(0, 9), args=c).x,
    "proximal_gradient": lambda c: xo.proximal_gradient(lambda x: (x - c) ** 2, 0.3, lambda x, step: x).x,
    "differential_evolution": lambda c: xo.differential_evolution(
        lambda x: (x[0] - c) ** 2, [(0, 4)], key=random.key(0)).x[0],
    "least_squares": lambda c: xo.least_squares(LINE, 0.3, c).x,
    "root": lambda c: xo.root(LINE, 0.3, c).x,
    "root_scalar": lambda c: xo.root_scalar(LINE, (0.0, 9), c).x,
    "fixed_point": lambda c: xo.fixed_point(lambda x: 0.25 * x + 0.75 * c, 0.3).x,
    "scipy's minimize": lambda c: so.minimize(lambda x: ((x - c) ** 2).sum(), [0.3, 0]).x[1],
    "scipy's root": lambda c: so.root(lambda x: [LINE(x[0], c)], [0.3]).x[0],
    "scipy's fsolve": lambda c: so.fsolve(LINE, 0.3, c)[0],
    "scipy's least_squares": lambda c: so.least_squares(LINE, 0.3, args=(c,)).x[0],
    "scipy's fixed_point": lambda c: so.fixed_point(lambda x: 0.25 * x + 0.75 * c, 0.3),
    "scipy's minimize_scalar": lambda c: so.minimize_scalar(lambda x: (x - c) ** 2).x,
    "solve_ivp": lambda c: _rising(si.solve_ivp(lambda t, y: c * y, (0, 1), [0.1], **TIGHT).y[0, -1]),
    "solve_ivp at times": lambda c: _rising(
        si.solve_ivp(lambda t, y: c * y, (0, 1), [0.1], t_eval=[0, 0.7, 1], **TIGHT).y[0, -1]),
    "odeint": lambda c: _rising(si.odeint(lambda y, t: c * y, 0.1, [0, 0.7, 1], **TIGHT)[-1, 0]),
    "integrate": lambda c: _rising(pde.integrate(lambda u, t: c * u, 0.1, [0, 1], **TIGHT)[-1]),
}  # fmt: skip


def _rising(y):
    """The rate of exponential growth to 1 from 0.1."""
    return xnp.log(y / xnp.asarray(0.1, y.dtype))


@pytest.mark.filterwarnings("ignore:.*rtol=1e-10 is below")
@pytest.mark.parametrize("name", PLAIN_STARTS)
def test_starts_of_python_numbers_are_as_wide_as_the_function(name):
    exact = 1.2345678901234567
    for width, error in (("float32", 1e-2), ("float64", 1e-6), ("float16", 1e-2)):
        given = np.array(exact, width)
        found = PLAIN_STARTS[name](given)
        assert found.dtype == ("float64" if width == "float64" else "float32"), width
        assert abs(float(found) - float(given)) < error, width


@pytest.mark.parametrize("scale", [1e-60, 1e60])
@pytest.mark.parametrize("few", [la.eigsh, sparse.eigs])
def test_a_shift_beyond_the_range_of_float32(few, scale):
    a = np.diag(np.arange(1.0, 7.0)) * scale
    for sigma in (3.9 * scale, np.float64(3.9 * scale)):
        np.testing.assert_allclose(np.real(few(a, 1, sigma=sigma)[0]), 4 * scale, rtol=1e-12)


def test_no_bound_is_passed_by_its_rounding():
    for bound in (0.1, 0.3, 1 / 3, 1e-50):
        found = xo.minimize(lambda x: -x.sum(), np.zeros(2), bounds=(None, bound))
        assert (np.asarray(found.x) <= bound).all()
