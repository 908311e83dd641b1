"""Python's numbers beside arrays of float64 keep all their digits, whichever function takes them."""

import numpy as np
import pytest

import xcore.linalg as la
import xcore.numpy as xnp
import xcore.optimize as xo
import xcore.scipy.integrate as si
from xcore import pde, sparse

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
