"""Problems whose derivatives leave the range of the dtype in the user's units: solved, or not called a success."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import optimize
from xcore.scipy import optimize as so

FAR = {  # sizes of variables and of values
    np.float32: [(1e20, 1e-20), (1e-20, 1e20), (1e8, 1e-30), (1.0, 1e-30), (1e-12, 1e-12), (1e12, 1e12)],
    np.float64: [(1e200, 1e-200), (1e-200, 1e200), (1e10, 1e-300), (1.0, 1e-300), (1e-100, 1e-100), (1e100, 1e100)],
}  # fmt: skip
CASES = [(d, s, c) for d, pairs in FAR.items() for s, c in pairs]
NAMES = [f"{d.__name__}-{s:g}-{c:g}" for d, s, c in CASES]


def bowl(x, s, c):
    return c * ((x[0] / s - 2) ** 2 + (x[1] / s + 1) ** 2 + 7)


@pytest.mark.parametrize("method", ["SLSQP", "augmented-lagrangian"])
@pytest.mark.parametrize("dtype,s,c", CASES, ids=NAMES)
def test_constrained_methods(dtype, s, c, method):
    s, c = xnp.asarray(s, dtype), xnp.asarray(c, dtype)
    x0 = s * xnp.asarray([1, -0.7], dtype)
    found = optimize.minimize(bowl, x0, (s, c), method=method)
    assert found.success
    tol = 10 * float(np.finfo(dtype).eps) ** 0.4
    np.testing.assert_allclose(found.x / s, [2, -1], atol=tol)
    np.testing.assert_allclose(found.fun / c, 7, rtol=tol)
    kept = optimize.Constraints(ineq=lambda x: x[0] + x[1] - 2 * s)
    found = optimize.minimize_constrained(bowl, x0, (s, c), kept, method, history=True)
    assert found.success
    np.testing.assert_allclose(found.x / s, [2.5, -0.5], atol=tol)
    if float(c) / float(s) < float(np.finfo(dtype).max):  # by the condition g = λ (1, 1)
        wanted = float(c) / float(s)
        least = float(np.finfo(dtype).tiny)
        np.testing.assert_allclose(
            found.certificate.multipliers[1], [wanted], rtol=100 * tol, atol=least
        )
    x, f = found.history["x"], found.history["f"]
    np.testing.assert_allclose(x[0] / s, [1, -0.7], rtol=1e-6)
    np.testing.assert_allclose(f[-1] / c, 7.5, rtol=tol)


@pytest.mark.parametrize("method", ["lm", "trf", "gauss-newton", "matrix-free"])
@pytest.mark.parametrize("dtype,s,c", CASES, ids=NAMES)
def test_least_squares(dtype, s, c, method):
    s, c = xnp.asarray(s, dtype), xnp.asarray(c, dtype)
    t = xnp.linspace(0, 1, 9, dtype=dtype)
    f = lambda p: c * (p[0] / s * xnp.exp(-p[1] / s * t) - 2 * xnp.exp(-0.5 * t))
    found = optimize.least_squares(f, xnp.stack([s, s]), method=method)
    # rounding errors of residuals near 0 may hide from products alone that it is there
    assert found.success or (method == "matrix-free" and dtype == np.float32)
    np.testing.assert_allclose(found.x / s, [2, 0.5], rtol=2e-3 if dtype == np.float32 else 1e-6)


@pytest.mark.parametrize("method", ["lm", "trf", "matrix-free"])
def test_what_no_derivative_tells_is_no_success(method):
    with xc.enable_x64():
        vanishing = lambda p: 1e-310 * (p / 1e200 - 2) * xnp.ones(3)
        assert not optimize.least_squares(vanishing, xnp.asarray([1e200]), method=method).success
        plateau = lambda p: xnp.exp(-1e5 * (p - 1) ** 2) - 0.3  # which ends between what is tried
        found = optimize.least_squares(plateau, xnp.asarray([2.0]), method=method)
        assert found.success == (abs(found.fun[0]) < 1e-6)
        bent = optimize.least_squares(lambda p: p**2 + 1, xnp.asarray([0.0]), method=method)
        assert bent.success


@pytest.mark.parametrize("method", ["lm", "trf", "matrix-free"])
def test_a_flat_place_with_others_beside_it_is_called_flat(method):
    """Behind a hinge no derivative tells that nothing is lower: it may be a plateau beside a valley."""
    hinge = lambda p: xnp.maximum(p, 0) + 1
    found = optimize.least_squares(hinge, np.array([-1.0]), method=method)
    assert found.status == xc.Status.flat and "plateau" in found.message
    nothing = lambda p: 0 * p + 1
    assert optimize.least_squares(nothing, np.array([-1.0]), method=method).success


@pytest.mark.parametrize("loss", ["linear", "soft_l1", "huber", "cauchy", "arctan"])
def test_scales_of_losses_far_from_residuals(loss):
    """Far above all residuals a loss is that of squares; in its own units nothing changes."""
    t = np.linspace(0, 4, 20)
    y = 2 * t + 1 + np.where(t > 3, 0.5, 0)
    for c in (1e-250, 1e100):
        f = lambda p: c * (p[0] * t + p[1] - y)  # noqa: B023
        squares = optimize.least_squares(f, np.ones(2), loss=loss, f_scale=1e40 * c)
        np.testing.assert_allclose(squares.x, np.polyfit(t, y, 1), rtol=1e-6)
        own = optimize.least_squares(f, np.ones(2), loss=loss, f_scale=0.3 * c)
        assert squares.success and own.success
        np.testing.assert_allclose(
            own.x, optimize.least_squares(lambda p: f(p) / c, np.ones(2), loss=loss, f_scale=0.3).x, rtol=1e-6  # noqa: B023
        )  # fmt: skip


def test_what_is_not_a_number_is_left_out_where_asked():
    t = np.linspace(0, 4, 20)
    y, x = 2 * t + 1, t.copy()
    y[5], x[8] = np.nan, np.nan
    line = lambda x, a, b: a * x + b
    for sigma in (None, np.full(20, 0.5), np.diag(np.full(20, 0.25))):
        popt, _ = so.curve_fit(line, x, y, sigma=sigma, nan_policy="omit")
        np.testing.assert_allclose(popt, [2, 1], rtol=1e-9)
    for wrong in ({"nan_policy": "raise"}, {"nan_policy": "propagate"}, {}):
        with pytest.raises(ValueError, match=r"without NaN|nan_policy must be one of"):
            so.curve_fit(line, x, y, **wrong)
    with pytest.raises(ValueError, match="p0 must be within bounds"):
        so.curve_fit(line, t, 2 * t + 1, p0=[5.0, 5.0], bounds=(0, 1))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sparse_methods_of_sixteen_bits_in_programs(dtype):
    f = lambda x: ((x - 1) ** 2).sum() + (x[1:] * x[:-1]).sum() / 8
    solve = lambda x: optimize.minimize(f, x, method=optimize.SparseNewton()).x
    x0 = xnp.zeros(4, dtype)
    np.testing.assert_array_equal(xc.jit(solve)(x0), solve(x0))
    assert xc.jit(xc.grad(lambda x: solve(x).sum()))(x0).dtype == dtype
