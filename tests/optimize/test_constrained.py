"""Constrained minima of Hock and Schittkowski's collection (1981), and derivatives through them."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo


def hs71(x):
    return x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2]


HS71 = xo.Constraints(eq=lambda x: x @ x - 40, ineq=lambda x: x[0] * x[1] * x[2] * x[3] - 25)
START = np.array([1.0, 5.0, 5.0, 1.0])


@pytest.mark.parametrize("method", ["sqp", "augmented-lagrangian"])
def test_problem_71(method):
    found = xo.minimize_constrained(
        hs71, xnp.asarray(START), (), HS71, method=method, bounds=(1.0, 5.0)
    )
    assert found.success, found.message
    np.testing.assert_allclose(found.fun, 17.0140173, rtol=1e-7)
    np.testing.assert_allclose(found.x, [1, 4.7429994, 3.8211503, 1.3794082], rtol=1e-6)
    y, lam = found.certificate.multipliers
    np.testing.assert_allclose(np.abs(y), 0.16146857, rtol=1e-4)  # published multipliers
    np.testing.assert_allclose(lam[0], 0.55229366, rtol=1e-4)
    assert found.certificate.feasibility < 1e-6
    if method == "sqp":  # quadratic programs solved to the end make its convergence superlinear
        assert int(found.nit) <= 8


def test_derivatives_of_a_constrained_minimum():
    # the nearest point of a circle of radius r to a: r a / |a|
    def nearest(a, r):
        circle = xo.Constraints(eq=lambda x: x @ x - r**2)
        start = xnp.asarray(np.array([1.0, 0.2]))
        return xo.minimize_constrained(lambda x: (x - a) @ (x - a), start, (), circle, tol=1e-9).x

    a, r = xnp.asarray(np.array([3.0, 4.0])), xnp.asarray(2.0, np.float64)
    np.testing.assert_allclose(nearest(a, r), [1.2, 1.6], rtol=1e-8)
    by_a, by_r = xc.jacrev(nearest, (0, 1))(a, r)
    np.testing.assert_allclose(by_r, [0.6, 0.8], rtol=1e-6)
    expected = 2 / 5 * (np.eye(2) - np.outer([0.6, 0.8], [0.6, 0.8]))
    np.testing.assert_allclose(by_a, expected, atol=1e-7)


def test_what_cannot_be_satisfied_is_told():
    both = xo.Constraints(ineq=lambda x: xnp.stack([x[0] - 2, 1 - x[0]]))
    found = xo.minimize_constrained(lambda x: x @ x, xnp.asarray(np.zeros(2)), (), both, maxiter=60)
    assert not found.success and found.certificate.feasibility > 0.1


def test_errors():
    with pytest.raises(ValueError, match="sqp"):
        xo.minimize_constrained(hs71, START, (), HS71, method="magic")
    with pytest.raises(TypeError, match="Constraints"):
        xo.minimize_constrained(hs71, START, (), 3)


@pytest.mark.parametrize("method", ["sqp", "augmented-lagrangian"])
def test_a_cusp_without_multipliers_is_not_called_a_success(method):
    # problem 13: at the solution (1, 0) both active gradients are ±(0, 1), the objective's is (-2, 0)
    cusp = xo.Constraints(ineq=lambda x: (1 - x[0]) ** 3 - x[1])
    start = xnp.asarray(np.array([-2.0, -2.0]))
    found = xo.minimize_constrained(
        lambda x: (x[0] - 2) ** 2 + x[1] ** 2, start, (), cusp, method=method, bounds=(0.0, None)
    )
    assert xo.Status(int(found.status)) is xo.Status.degenerate
    assert "LICQ" in found.message
    np.testing.assert_allclose(found.fun, 1, atol=1e-2)  # near the solution, but uncertified


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_large_multipliers_of_scaled_constraints_are_no_cusp(scale):
    # the multiplier of a constraint in other units is as large as the unit says: 1 / scale
    plane = xo.Constraints(ineq=lambda x: scale * (x[0] + x[1] - 2))
    found = xo.minimize_constrained(lambda x: x @ x / 2, xnp.asarray(np.zeros(2)), (), plane)
    assert found.success, found.message
    np.testing.assert_allclose(found.x, [1, 1], rtol=1e-6)
    np.testing.assert_allclose(found.certificate.multipliers[1], 1 / scale, rtol=1e-6)
