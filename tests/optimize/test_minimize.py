"""Minimisation: every method, wherever its answer is known; batches, derivatives, bad input."""

import numpy as np
import pytest
import scipy.optimize

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo
import xcore.scipy as xs
from xcore.optimize._bounds import box_of
from xcore.optimize._problem import Flat
from xcore.optimize._unconstrained import METHODS

START = np.array([-1.2, 1.0, 0.8])


def rosenbrock(x):
    return xnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@pytest.mark.parametrize("name", sorted(METHODS.keys() - {"brent", "golden"}))
def test_every_method_finds_the_valley_of_rosenbrock(name):
    limit = 20000 if name == "gradient-descent" else 3000
    tol = 1e-4 if name == "gradient-descent" else 1e-9 if name == "nelder-mead" else None
    found = xo.minimize(rosenbrock, xnp.asarray(START), method=name, maxiter=limit, tol=tol)
    assert found.success, found.message
    np.testing.assert_allclose(found.x, np.ones(3), atol=2e-4)
    np.testing.assert_allclose(found.fun, rosenbrock(found.x), rtol=1e-7, atol=1e-20)
    np.testing.assert_allclose(found.grad, xc.grad(rosenbrock)(found.x), atol=1e-10)
    assert found.nfev >= found.nit > 0
    if name != "nelder-mead":
        assert found.certificate.stationarity == np.abs(found.grad).max()


def quartic(p, a):
    return xnp.sum((p["u"] - a) ** 4 + (p["u"] - a) ** 2) + xnp.abs(p["z"] - (1 + 2j)) ** 2


def test_trees_of_all_kinds_of_numbers():
    start = {"u": xnp.zeros((2, 2)), "z": xnp.asarray(0j, np.complex64)}
    found = xo.minimize(quartic, start, 3.0, method="bfgs")
    assert found.success
    np.testing.assert_allclose(found.x["u"], 3 * np.ones((2, 2)), atol=1e-2)
    np.testing.assert_allclose(found.x["z"], 1 + 2j, atol=1e-2)
    assert found.x["z"].dtype == np.complex64 and found.x["u"].dtype == np.float32


# "wolfe" is the search of the methods above
@pytest.mark.parametrize("search", ["hager-zhang", "backtracking"])
def test_line_searches_end_where_their_conditions_hold(search):
    found = xo.minimize(
        rosenbrock, xnp.asarray(START), method=xo.Descent(xo.LBFGS(memory=5), search)
    )
    assert found.success
    np.testing.assert_allclose(found.x, np.ones(3), atol=1e-5)


def test_a_batch_is_the_sum_of_its_lanes():
    starts = np.random.default_rng(0).normal(size=(300, 3)) * 2
    solve = lambda x: xo.minimize(rosenbrock, x, method="bfgs", tol=1e-6)
    batch = xc.jit(xc.vmap(solve))(xnp.asarray(starts))
    alone = xc.jit(solve)
    steps = set()
    for i in range(0, 300, 29):
        one = alone(xnp.asarray(starts[i]))
        steps.add(int(one.nit))
        assert int(one.nit) == int(batch.nit[i]) and int(one.status) == int(batch.status[i])
        np.testing.assert_allclose(batch.x[i], one.x, rtol=1e-9, atol=1e-9)
    assert len(steps) > 3, "lanes should have needed different numbers of steps"


def test_batches_of_batches():
    starts = xnp.asarray(np.random.default_rng(1).normal(size=(2, 5, 2)))
    solve = lambda x, a: xo.minimize(lambda x: xnp.sum((x - a) ** 4), x, method="bfgs").x
    targets = xnp.asarray([1.0, 2.0])
    found = xc.jit(xc.vmap(xc.vmap(solve, (0, None)), (0, 0)))(starts, targets)
    np.testing.assert_allclose(found, np.broadcast_to([[[1.0]], [[2.0]]], (2, 5, 2)), atol=2e-2)


# Derivatives


def ridge(w, penalty, x, y):
    return xnp.sum((x @ w - y) ** 2) + penalty * xnp.sum(w**2)


def test_derivatives_of_minima_are_those_of_the_closed_form():
    rng = np.random.default_rng(3)
    x, y = xnp.asarray(rng.normal(size=(8, 3))), xnp.asarray(rng.normal(size=8))
    solve = lambda p: xo.minimize(
        ridge, xnp.zeros(3, np.float64), (p, x, y), method="bfgs", tol=1e-10
    )
    closed = lambda p: xnp.linalg.solve(x.T @ x + p * xnp.eye(3, dtype=np.float64), x.T @ y)
    p = xnp.asarray(0.7, np.float64)
    np.testing.assert_allclose(solve(p).x, closed(p), rtol=1e-8)
    for mode in (xc.jacfwd, xc.jacrev):
        np.testing.assert_allclose(
            mode(lambda p: solve(p).x)(p), mode(closed)(p), rtol=1e-6, atol=1e-9
        )
    least = lambda p: ridge(closed(p), p, x, y)
    np.testing.assert_allclose(xc.grad(lambda p: solve(p).fun)(p), xc.grad(least)(p), rtol=1e-8)
    second = xc.grad(xc.grad(lambda p: solve(p).fun))(p)
    np.testing.assert_allclose(second, xc.grad(xc.grad(least))(p), rtol=1e-6)


def test_derivatives_with_bounds():
    def solve(a, upper):
        f = lambda x: (x[0] - a) ** 2 + (x[1] - a * x[0]) ** 2
        return xo.minimize(
            f, xnp.zeros(2, np.float64), bounds=(0.0, xnp.asarray([1.0, 1.0]) * upper)
        ).x

    # held at the bound: x₀ = upper, x₁ = a upper
    a, u = xnp.asarray(0.8, np.float64), xnp.asarray(0.5, np.float64)
    np.testing.assert_allclose(solve(a, u), [0.5, 0.4], atol=1e-6)
    by_a, by_upper = xc.jacrev(solve, (0, 1))(a, u)
    np.testing.assert_allclose(by_a, [0.0, 0.5], atol=1e-6)
    np.testing.assert_allclose(by_upper, [1.0, 0.8], atol=1e-6)


# Bounds


def test_bounds_as_scipy_finds_them():
    rng = np.random.default_rng(4)
    f = lambda x, a, b: 0.5 * x @ (a @ x) - b @ x + 0.01 * xnp.sum(x**4)
    solve = xc.jit(
        lambda a, b, lower, upper: xo.minimize(
            f, xnp.zeros_like(b), (a, b), bounds=(lower, upper), tol=1e-9, curvature=True
        )
    )
    for n in (2, 12, 12, 12):
        a = rng.normal(size=(n, n))
        a = a @ a.T + 0.1 * np.eye(n)
        b, lower, upper = rng.normal(size=n) * 3, -rng.random(n), rng.random(n)
        found = solve(*map(xnp.asarray, (a, b, lower, upper)))
        peer = scipy.optimize.minimize(
            lambda x, a=a, b=b: 0.5 * x @ a @ x - b @ x + 0.01 * np.sum(x**4), np.zeros(n),
            jac=lambda x, a=a, b=b: a @ x - b + 0.04 * x**3, bounds=np.stack([lower, upper], 1),
            method="L-BFGS-B", options={"ftol": 0, "gtol": 1e-10},
        )  # fmt: skip
        assert found.success, found.message
        np.testing.assert_allclose(found.x, peer.x, atol=1e-6)
        assert np.all(found.x >= lower) and np.all(found.x <= upper)
        assert found.certificate.smallest_eigenvalue > 0


def test_open_sides_and_trees_of_bounds():
    f = lambda p: (p["a"] + 1) ** 2 + (p["b"] - 5) ** 2
    start = {"a": 0.5, "b": 0.5}
    one = xo.minimize(f, start, bounds=({"a": 0.0, "b": -np.inf}, None))
    assert one.success
    np.testing.assert_allclose([one.x["a"], one.x["b"]], [0, 5], atol=1e-3)
    two = xo.minimize(f, start, method="nelder-mead", bounds=(0.0, 2.0), tol=1e-5)
    np.testing.assert_allclose([two.x["a"], two.x["b"]], [0, 2], atol=1e-3)


def test_rosenbrock_with_bounds_that_hold():
    found = xo.minimize(rosenbrock, xnp.asarray(START), bounds=(-2.0, 0.5), tol=1e-8)
    peer = scipy.optimize.minimize(
        scipy.optimize.rosen, START, jac=scipy.optimize.rosen_der, bounds=[(-2, 0.5)] * 3,
        options={"gtol": 1e-9, "ftol": 0},
    )  # fmt: skip
    assert found.success
    np.testing.assert_allclose(found.x, peer.x, atol=1e-6)


# Truth, errors


def test_history_and_curvature():
    found = xo.minimize(rosenbrock, xnp.asarray(START), method="newton-cg", history=True,
                        maxiter=60, curvature=True)  # fmt: skip
    n = int(found.nit)
    assert found.history["x"].shape == (n + 1, 3)
    np.testing.assert_array_equal(found.history["x"][n], found.x)
    np.testing.assert_allclose(found.history["f"][0], rosenbrock(xnp.asarray(START)))
    assert np.all(np.diff(found.history["f"]) <= 0)
    assert np.all(np.diff(found.history["nfev"]) >= 0) and found.history["nfev"][n] == found.nfev
    hessian = xc.hessian(rosenbrock)(found.x)
    np.testing.assert_allclose(
        found.certificate.smallest_eigenvalue, np.linalg.eigvalsh(hessian)[0], rtol=1e-6
    )


# fmt: off
STATUS = {
    "nan at the start": (lambda x: xnp.log(x[0]) + x[1] ** 2, [-1.0, 1.0], xo.Status.not_finite),
    "no minimum": (lambda x: x[0] + 0 * x[1], [0.0, 0.0], xo.Status.unbounded),
    "the limit": (rosenbrock, [-1.2, 1.0], xo.Status.max_steps),
    "a wrong derivative": (
        lambda x: 2 * xc.lax.stop_gradient(x[0] ** 2) - x[0] ** 2 + 0 * x[1], [1.0, 1.0],
        xo.Status.stagnation,
    ),
    "there already": (lambda x: xnp.sum(x**2), [0.0, 0.0], xo.Status.success),
}
# fmt: on


@pytest.mark.parametrize("method", ["lbfgs", "lbfgsb"])
def test_what_cannot_be_done_is_told(method):
    functions = [f for f, _, _ in STATUS.values()]

    @xc.jit
    def solve(which, x, limit):
        f = lambda x: xc.lax.switch(which, functions, x)
        return xo.minimize(f, x, method=method, maxiter=limit)

    for which, (name, (_, start, expected)) in enumerate(STATUS.items()):
        found = solve(which, xnp.asarray(start), 2 if name == "the limit" else 500)
        assert xo.Status(int(found.status)) is expected, name
        if expected is not xo.Status.success:
            with pytest.raises(xc.errors.SolverError):
                found.check()


ERRORS = {
    "not a scalar": (lambda: xo.minimize(lambda x: x, xnp.ones(2)), "one number"),
    "complex": (lambda: xo.minimize(lambda x: 1j * x, 1.0), "real number"),
    "an unknown method": (lambda: xo.minimize(rosenbrock, xnp.ones(2), method="magic"), "lbfgs"),
    "bounds not known": (
        lambda: xo.minimize(rosenbrock, xnp.ones(2), method="bfgs", bounds=(0, 1)), "knows no bounds",
    ),
    "bounds that cross": (lambda: xo.minimize(rosenbrock, xnp.ones(2), bounds=(1, 0)), "above"),
    "bounds not a pair": (lambda: xo.minimize(rosenbrock, xnp.ones(2), bounds=3), "pair"),
    "one pair too many": (
        lambda: xo.minimize(rosenbrock, xnp.ones(2), bounds=[(0, 1)] * 3), "a tuple .*There are 2",
    ),
    "a list of sides": (lambda: xo.minimize(rosenbrock, xnp.ones(2), bounds=[0, 1]), "a list with"),
    "two pairs in a tuple": (
        lambda: xo.minimize(rosenbrock, (1.0, 1.0), bounds=((0, None), (0, None))), "two ways",
    ),
    "two rows in a list": (
        lambda: xo.least_squares(lambda x: x, xnp.ones(2), bounds=[[0, 0], [1, 2]]), "two ways",
    ),
    "two pairs of a box": (
        lambda: xo.differential_evolution(sum, ((0, 1), (0, 1)), key=xc.random.key(0)), "two ways",
    ),
    "a method of SciPy": (lambda: xo.minimize(rosenbrock, xnp.ones(2), method="COBYLA"), "SLSQP"),
    "a tolerance of SciPy": (
        lambda: xo.minimize(rosenbrock, xnp.ones(2), options={"ftol": 1}), "ftol: tol= is the one",
    ),
    "an option twice": (
        lambda: xo.minimize(rosenbrock, xnp.ones(2), tol=1.0, options={"gtol": 1}), "given twice",
    ),
    "a callback": (lambda: xo.minimize(rosenbrock, xnp.ones(2), callback=print), "history"),
    "differences": (lambda: xo.minimize(rosenbrock, xnp.ones(2), jac="2-point"), "jac must be True"),
    "a short gradient": (
        lambda: xo.minimize(rosenbrock, xnp.ones(2), jac=lambda x: x[:1]), "shapes of x0",
    ),
    "no gradient": (lambda: xo.minimize(rosenbrock, xnp.ones(2), jac=True), "value, gradient"),
    "a short Hessian": (
        lambda: xo.minimize(rosenbrock, xnp.ones(2), method="dogleg", hess=lambda x: x),
        r"of shape \(2, 2\)",
    ),
    "bounds beside BFGS": (
        lambda: xs.optimize.minimize(rosenbrock, xnp.ones(2), method="BFGS", bounds=(0, 1)), "no bounds",
    ),
    "no function": (lambda: xo.minimize(3.0, xnp.ones(2)), "function"),
    "no numbers": (lambda: xo.minimize(rosenbrock, "abc"), "numbers"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_is_wrong(name):
    call, words = ERRORS[name]
    with pytest.raises((TypeError, ValueError), match=words):
        call()


# SciPy's call forms


def valley(x, a):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (a - x[0]) ** 2


def slope(x, a):
    bend = x[1] - x[0] ** 2
    return xnp.stack([-400 * x[0] * bend - 2 * (a - x[0]), 200 * bend])


def curves(x, a):
    return xnp.stack([
        xnp.stack([1200 * x[0] ** 2 - 400 * x[1] + 2, -400 * x[0]]), xnp.stack([-400 * x[0], 200])
    ])  # fmt: skip


GIVEN = {
    "BFGS": {"jac": slope},
    "Newton-CG": {"jac": slope, "hessp": lambda x, p, a: curves(x, a) @ p},
    "trust-exact": {"hess": curves},
    "Nelder-Mead": {"jac": False, "options": {"disp": False}},
}


@pytest.mark.parametrize("method", GIVEN)
def test_derivatives_given_by_hand_are_followed_where_functions_have_none(method):
    # behind stop_gradient there is nothing to be differentiated: only what is given can have led there
    hidden = lambda x, a: valley(xc.lax.stop_gradient(x), a)
    f = valley if method in ("trust-exact", "Nelder-Mead") else hidden
    start = np.array([-1.2, 1.0])
    found = xo.minimize(f, start, (1.5,), method, **GIVEN[method], tol=1e-7)
    assert found.success, found.message
    np.testing.assert_allclose(found.x, [1.5, 2.25], atol=1e-5)
    if method == "BFGS":
        exact = np.linalg.inv(curves(found.x, 1.5))
        np.testing.assert_allclose(found.stats["hess_inv"], exact, rtol=0.2)  # approaches it


def test_a_wrong_hessian_is_taken_at_its_word():
    double = xo.minimize(valley, np.array([-1.2, 1.0]), (1.5,), "Newton-CG", curvature=True,
                         hess=lambda x, a: 2 * curves(x, a))  # fmt: skip
    least = np.linalg.eigvalsh(2 * curves(double.x, 1.5))[0]
    np.testing.assert_allclose(double.certificate.smallest_eigenvalue, least, rtol=1e-6)


def test_derivatives_of_minima_found_by_given_gradients():
    @xc.jit
    def solve(a):
        both = lambda x: (valley(xc.lax.stop_gradient(x), a), slope(x, a))
        options = {"gtol": 1e-9, "maxiter": 200}
        return xo.minimize(both, np.array([-1.2, 1.0]), method="BFGS", jac=True, options=options).x

    a = np.float64(1.5)  # x = (a, a²)
    for mode in (xc.jacfwd, xc.jacrev):
        np.testing.assert_allclose(mode(solve)(a), [1, 2 * a], rtol=1e-6)
    np.testing.assert_allclose(xc.grad(xc.grad(lambda a: solve(a)[1]))(a), 2, rtol=1e-6)


PAIRS = [(None, 0.5), (0.0, None)]
SIDES = ([-np.inf, 0.0], [0.5, np.inf])
BOUNDS = {
    "a list of pairs": PAIRS, "SciPy's object": scipy.optimize.Bounds(*SIDES),
    "an array of pairs": np.transpose(SIDES), "two sides": tuple(map(np.array, SIDES)),
}  # fmt: skip


def test_bounds_in_all_their_forms():
    start = np.array([-1.2, 1.0])
    peer = scipy.optimize.minimize(valley, start, (1.5,), bounds=PAIRS)
    assert peer.success
    np.testing.assert_allclose(peer.x, [0.5, 0.25], atol=1e-5)
    flat = Flat("test", "x0", start)
    for name, given in BOUNDS.items():
        np.testing.assert_array_equal(np.stack(box_of("test", flat, given)), SIDES, err_msg=name)
        residuals = np.stack(box_of("test", flat, given, columns=True))
        np.testing.assert_array_equal(residuals, SIDES, err_msg=name)
    found = xo.minimize(valley, start, (1.5,), "L-BFGS-B", bounds=PAIRS)
    np.testing.assert_allclose(found.x, [0.5, 0.25], atol=1e-6)
    face = xs.optimize.minimize(valley, start, (1.5,), method="L-BFGS-B", bounds=PAIRS)
    np.testing.assert_allclose(face.x, [0.5, 0.25], atol=1e-6)
    assert np.all(np.stack(box_of("test", flat, scipy.optimize.Bounds(0, 2))) == [[0], [2]])
    assert np.all(
        np.stack(box_of("test", flat, SIDES, columns=True)) == SIDES
    )  # SciPy's least_squares


# One variable


def bent(x):
    return (x - 2.0) ** 2 + 0.1 * (x + 1.0) ** 4


LEAST = float(np.roots([0.4, 1.2, 3.2, -3.6])[-1].real)  # where 2 (x - 2) + 0.4 (x + 1)³ vanishes
PLACES = {"(0, 1)": {}, "bounds": {"bounds": (0.5, 3.0)}, "two points": {"bracket": (5.0, 4.0)},
          "three points": {"bracket": (4.0, 1.0, -2.0)}}  # fmt: skip


@pytest.mark.parametrize("method", ["brent", "golden"])
@pytest.mark.parametrize("place", PLACES)
def test_valleys_of_one_variable(method, place):
    where = {k: tuple(map(np.float64, v)) for k, v in PLACES[place].items()}
    found = xo.minimize_scalar(bent, **where, method=method)
    assert found.success
    np.testing.assert_allclose(found.x, LEAST, atol=1e-3 if not where else 1e-7)


@pytest.mark.parametrize("method", ["brent", "golden"])
def test_one_variable_is_minimised_like_many(method):
    for bounds, expected in ((None, LEAST), ((1.5, None), 1.5), ((-3.0, 0.5), 0.5)):
        found = xo.minimize(
            bent, np.float64(9.0), method=method, bounds=bounds, tol=1e-8, history=True
        )
        assert found.success, found.message
        np.testing.assert_allclose(found.x, expected, atol=3e-8)
        slope = 2 * (found.x - 2) + 0.4 * (found.x + 1) ** 3  # of terms up to 4
        np.testing.assert_allclose(found.grad, slope, rtol=1e-7, atol=1e-14)
        values = np.asarray(found.history["f"])
        rounding = 2 * np.spacing(np.abs(values[1:]))  # f is compiled in two programs
        assert (np.diff(values) <= rounding).all() and values[-1] == found.fun


def test_parabolas_need_fewer_evaluations():
    counts = [
        int(xo.minimize_scalar(bent, bounds=(np.float64(-5.0), 5.0), method=m).nfev)
        for m in ("brent", "golden")
    ]
    assert counts[0] < 0.6 * counts[1]


def test_nothing_is_at_its_minimum_and_its_root():
    nothing = xnp.zeros(0)
    for method in ("lbfgs", "lbfgsb", "nelder-mead", "sqp"):
        found = xo.minimize(lambda x: xnp.sum(x) + 2.0, nothing, method=method)
        assert found.success and found.fun == 2 and found.x.shape == (0,)
    assert xo.root(lambda x: x, nothing, method="krylov").success
    fit = xo.least_squares(lambda p: xnp.ones(3), nothing)
    assert fit.success and fit.stats["cost"] == 1.5


def test_infinite_values_are_told():
    t, status = np.linspace(0, 1, 5), xo.Status.not_finite.value
    assert xo.least_squares(lambda p: (p[0] * t - 1) / p[0], xnp.zeros(2)).status == status
    f = lambda x: xnp.where(x[0] < 2, xnp.inf, xnp.sum((x - 1) ** 2))
    assert xo.proximal_gradient(f, xnp.asarray([3.0, 2.0]), xo.prox.l1(0.5)).status == status


def test_what_one_variable_cannot_do_is_told():
    assert xo.minimize_scalar(lambda x: -x).status == xo.Status.unbounded.value
    outside = xo.minimize_scalar(bent, bracket=(3.0, 4.0, 5.0))
    assert outside.status == xo.Status.no_bracket.value
    assert xo.minimize_scalar(lambda x: x * np.nan).status == xo.Status.not_finite.value
    assert xo.minimize(lambda x: x * np.nan, 1.0, method="brent").status != 0
    with pytest.raises(ValueError, match="2 numbers"):
        xo.minimize(rosenbrock, xnp.asarray([1.0, 2.0]), method="golden")
    with pytest.raises(ValueError, match="golden"):
        xo.minimize_scalar(bent, method="newton")
    with pytest.raises(ValueError, match="two or three"):
        xo.minimize_scalar(bent, bracket=(1.0,))
    with pytest.raises(ValueError, match="not both"):
        xo.minimize_scalar(bent, bracket=(1.0, 2.0), bounds=(0.0, 1.0))


def test_brent_has_derivatives_and_lanes():
    solve = lambda a: xo.minimize_scalar(lambda x: (x - a) ** 2 + 0.1 * x**4, bounds=(-5.0, 5.0)).x
    a = xnp.asarray(np.linspace(0.5, 2.0, 4))
    x = xc.vmap(solve)(a)
    np.testing.assert_allclose(2 * (x - a) + 0.4 * x**3, 0, atol=2e-2)
    slope = 2 / (2 + 1.2 * x**2)
    np.testing.assert_allclose(xc.vmap(xc.grad(solve))(a), slope, rtol=1e-3)
