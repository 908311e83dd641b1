"""Functions of xcore's in SciPy's own solvers."""

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize

import xcore as xc
import xcore.numpy as xnp


def rosen(x, a=100.0):
    return xnp.sum(a * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


START = [1.3, 0.7, 0.8, 1.9]


@pytest.mark.parametrize(
    "method", ["BFGS", "L-BFGS-B", "Newton-CG", "trust-exact", "trust-ncg", "SLSQP"]
)
def test_minimize(method):
    f = FUN
    more = {"hess": f.hess} if method == "trust-exact" else {}
    more |= {"hessp": f.hessp} if method in ("Newton-CG", "trust-ncg") else {}
    found = scipy.optimize.minimize(f, START, jac=f.jac, method=method, tol=1e-10, **more)
    np.testing.assert_allclose(found.x, 1, atol=1e-5)


FUN = xc.scipy_fun(rosen)


def test_derivatives_are_scipys():
    x, p = np.array(START), np.arange(4.0)
    assert type(FUN(x)) is float and FUN(x) == pytest.approx(scipy.optimize.rosen(x), rel=1e-14)
    np.testing.assert_allclose(FUN.jac(x), scipy.optimize.rosen_der(x), rtol=1e-12)
    np.testing.assert_allclose(FUN.hess(x), scipy.optimize.rosen_hess(x), rtol=1e-12)
    np.testing.assert_allclose(FUN.hessp(x, p), scipy.optimize.rosen_hess_prod(x, p), rtol=1e-12)
    assert FUN.jac(x).dtype == np.float64 and type(FUN.jac(x)) is np.ndarray
    for same in (START, tuple(START)):  # Python's numbers, too
        np.testing.assert_array_equal(FUN.jac(same), FUN.jac(x))
    np.testing.assert_array_equal(FUN.jac(np.arange(4)), FUN.jac(np.arange(4.0)))
    assert FUN.jac(x.astype("float32")).dtype == np.float32
    np.testing.assert_allclose(FUN.jac(x, 0.0), 2 * np.array([0.3, -0.3, -0.2, 0]), atol=1e-12)


def test_vectors_constraints_and_roots():
    g = xc.scipy_fun(lambda x: xnp.stack([x[0] ** 2 + x[1] ** 2, x[0] * x[1]]))
    x, v = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    np.testing.assert_allclose(g.jac(x), [[2, 4], [2, 1]])
    np.testing.assert_allclose(g.hess(x, v), [[6, 5], [5, 6]])
    on_circle = scipy.optimize.NonlinearConstraint(g, [1, -1], [1, 1], jac=g.jac, hess=g.hess)
    f = xc.scipy_fun(lambda x: x[0] + x[1])
    found = scipy.optimize.minimize(
        f, [0.5, -1.0], jac=f.jac, hess=f.hess, constraints=on_circle, method="trust-constr"
    )
    np.testing.assert_allclose(found.x, -(0.5**0.5), atol=1e-4)
    root = scipy.optimize.root(xc.scipy_fun(lambda x: x**3 - 8), [1.0], jac=None)
    np.testing.assert_allclose(root.x, 2)
    wide = xc.scipy_fun(lambda x: xnp.stack([xnp.sum(x), xnp.sum(x**2)]))  # by reverse mode
    np.testing.assert_allclose(wide.jac(np.arange(5.0)), [np.ones(5), 2 * np.arange(5.0)])
    fit = scipy.optimize.least_squares(g, [0.5, 0.5], jac=g.jac)
    assert fit.cost < 1e-8


@pytest.mark.parametrize("method", ["trust-constr", "trust-ncg", "trust-krylov", "Newton-CG"])
def test_products_with_the_hessian(method):
    f = xc.scipy_fun(lambda x: ((x - 1) ** 4).sum() + (x[:-1] * x[1:]).sum())
    found = scipy.optimize.minimize(f, np.ones(4), jac=f.jac, hessp=f.hessp, method=method)
    np.testing.assert_allclose(f.jac(found.x), 0, atol=1e-3)
    x, p = np.arange(4.0), np.array([1, 0, -1, 2])
    for kind in (int, np.int8, np.float32, bool):  # SciPy asks with others than the variables have
        np.testing.assert_allclose(f.hessp(x, p.astype(kind)), f.hess(x) @ p.astype(kind))
    assert f.hessp(np.ones(2, "f"), np.ones(2)).dtype == "float32"


def test_models_have_the_parameters_of_their_function():
    t = np.linspace(0, 1, 9)
    line = xc.scipy_fun(lambda t, a, b: a * t + b)
    np.testing.assert_allclose(scipy.optimize.curve_fit(line, t, 2 * t + 1)[0], [2, 1])


def test_ordinary_differential_equations():
    f = xc.scipy_fun(lambda t, y: xnp.stack([y[1], 50 * (1 - y[0] ** 2) * y[1] - y[0]]), argnum=1)
    found = scipy.integrate.solve_ivp(f, (0, 20), [2.0, 0.0], method="Radau", jac=f.jac)
    assert found.success and found.njev < 60
    np.testing.assert_allclose(f.jac(0.0, np.array([2.0, 1.0])), [[0, 1], [-201, -150]])


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="expected a function, given int"):
        xc.scipy_fun(3)
