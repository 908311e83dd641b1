"""Constrained minima of Hock and Schittkowski's collection (1981), and derivatives through them."""

import numpy as np
import pytest
import scipy.optimize

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo
import xcore.scipy as xs
from xcore.optimize._constraints import constraints_of
from xcore.optimize._problem import Flat


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


IMPOSSIBLE = {
    "two sides of nothing": xo.Constraints(ineq=lambda x: xnp.stack([x[0] - 2, 1 - x[0]])),
    "two equations": xo.Constraints(eq=lambda x: xnp.stack([x[0] - 1, x[0] - 2])),
    "a negative square": {"type": "eq", "fun": lambda x: x @ x + 1},
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_cannot_be_satisfied_is_told(name):
    found = xo.minimize_constrained(
        lambda x: x @ x, xnp.asarray([0.1, 0.1]), (), IMPOSSIBLE[name], maxiter=60
    )
    assert xo.Status(int(found.status)) is xo.Status.infeasible
    assert found.certificate.feasibility > 0.1


def valley(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1.5 - x[0]) ** 2


DISK = {
    "type": "ineq", "fun": lambda x, r: r - x[0] ** 2 - x[1] ** 2, "args": (1.0,),
    "jac": lambda x, r: -2 * x,
}  # fmt: skip
FORMS = {
    "a dict": ("SLSQP", DISK, None),
    "dicts and bounds": ("slsqp", [DISK, {"type": "eq", "fun": lambda x: x[0] - 2 * x[1]}],
                         [(0, None), (None, 0.4)]),
    "a linear object": ("trust-constr", scipy.optimize.LinearConstraint([[1, 1]], -np.inf, 1), None),
    "equal and open sides": (
        None,
        [scipy.optimize.NonlinearConstraint(lambda x: x @ x, 1, 1, jac=lambda x: 2 * x),
         scipy.optimize.NonlinearConstraint(lambda x: x[0] - x[1], -0.1, np.inf)],
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_constraints_as_scipy_writes_them(name):
    method, constraints, bounds = FORMS[name]
    start = np.array([0.6, 0.7])
    peer = scipy.optimize.minimize(valley, start, method="SLSQP", constraints=constraints,
                                   bounds=bounds, options={"ftol": 1e-12})  # fmt: skip
    found = xo.minimize(valley, start, (), method, constraints=constraints, bounds=bounds, tol=1e-8)
    assert peer.success and found.success, (peer.message, found.message)
    # SciPy's gradients are differences: good to the root of eps
    np.testing.assert_allclose(found.x, peer.x, atol=1e-6)
    assert found.certificate.feasibility < 1e-8


def test_each_component_of_an_object_is_an_equation_or_has_up_to_two_sides():
    three = scipy.optimize.NonlinearConstraint(lambda x: x, [1, -2, -np.inf], [1, 5, np.inf])
    parts = constraints_of("test", Flat("test", "x0", np.zeros(3)), three)
    x = xnp.asarray(np.array([3.0, 4.0, 7.0]))
    np.testing.assert_array_equal(parts.eq(x)[0], [2])
    np.testing.assert_array_equal(np.concatenate(parts.ineq(x)[0]), [6, 1])


def test_the_face_of_scipy_takes_constraints():
    face = xs.optimize.minimize(valley, np.array([0.6, 0.7]), method="SLSQP", constraints=DISK)
    assert face.success and abs(face.x @ face.x - 1) < 1e-5 and face.hess_inv is None


WRONG = {
    "an unknown dict": ({"type": "le", "fun": valley}, {}, "'eq' or 'ineq'"),
    "a method without": (DISK, {"method": "BFGS"}, "SLSQP"),
    "an object without": (DISK, {"method": xo.NewtonCG()}, "SLSQP"),
    "kept between steps": (
        scipy.optimize.LinearConstraint(np.eye(2), keep_feasible=True), {}, "keep_feasible",
    ),
    "curvature": (DISK, {"curvature": True}, "curvature"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_errors_of_scipys_forms(name):
    constraints, settings, words = WRONG[name]
    with pytest.raises(ValueError, match=words):
        xo.minimize(valley, np.ones(2), constraints=constraints, **settings)


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
    # multipliers near there have ten digits: rounding, and so the processor, says whether any are found, and whether
    # ever shorter steps end before their limit does
    assert found.status in (xo.Status.degenerate, xo.Status.stagnation, xo.Status.max_steps)
    assert "LICQ" in found.message or method == "sqp"
    np.testing.assert_allclose(found.fun, 1, atol=1e-2)  # near the solution, but uncertified


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_large_multipliers_of_scaled_constraints_are_no_cusp(scale):
    # the multiplier of a constraint in other units is as large as the unit says: 1 / scale
    plane = xo.Constraints(ineq=lambda x: scale * (x[0] + x[1] - 2))
    found = xo.minimize_constrained(lambda x: x @ x / 2, xnp.asarray(np.zeros(2)), (), plane)
    assert found.success, found.message
    np.testing.assert_allclose(found.x, [1, 1], rtol=1e-6)
    np.testing.assert_allclose(found.certificate.multipliers[1], 1 / scale, rtol=1e-6)


@pytest.mark.parametrize("method", ["sqp", "augmented-lagrangian"])
@pytest.mark.parametrize("start", [(1.0, 2.0, 3.0), (1.0, 1.0, 1.0), (5.0, 7.0, 3.0)])
def test_bounds_that_are_equal(method, start):
    """A variable that is held: two inequalities with one gradient, which no multipliers tell apart."""
    held = xo.Constraints(ineq=lambda x: 40 - x @ x)
    f = lambda x: 100 * ((x[1:] - x[:-1] ** 2) ** 2).sum() + ((1 - x[:-1]) ** 2).sum()
    bounds = ([0.0, 2.0, 0.0], [10.0, 2.0, 10.0])
    found = xo.minimize_constrained(f, xnp.asarray(start), (), held, method, bounds=bounds)
    want = np.roots([400, 0, 2 - 800, -2]).max()  # of the first variable alone
    assert found.status == 0 and float(found.x[1]) == 2.0
    np.testing.assert_allclose(found.x, [want, 2.0, 4.0], rtol=1e-3)


@pytest.mark.parametrize("method", ["trust-constr", "augmented-lagrangian"])
@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_the_objective_does_not_lead_away_from_all_that_is_allowed(method, unit):
    """|x|² outside of a hyperbola: down the objective lies its centre, where no slope tells how to leave it."""
    starts = unit * np.array(
        [[1, 2], [1, -2], [0.5, 3], [-1, 2], [0, 1], [1, 5], [2, 1], [0.1, 0.1]]
    )
    outside = {"type": "ineq", "fun": lambda x: (x[0] / unit) ** 2 - (x[1] / unit) ** 2 - 1}
    solve = lambda x0: xo.minimize(lambda x: x @ x, x0, method=method, constraints=[outside])
    found = xc.jit(xc.vmap(solve))(starts)
    assert np.asarray(found.success).all()
    np.testing.assert_allclose(np.abs(found.x), unit * np.array([[1, 0]] * 8), atol=1e-5 * unit)


def test_what_cannot_be_met_is_told_after_a_second_look():
    empty = {"type": "ineq", "fun": lambda x: -1 - x @ x}
    found = xo.minimize(lambda x: xnp.sum(x), np.array([1.0, 2.0]), constraints=[empty])
    assert not found.success and "constraints" in found.message


def _least(f, starts, constraints, method, data):
    """Of a batch: statuses and points."""

    def solve(x0, d):
        parts = {k: lambda x, c=c: c(x, d) for k, c in constraints.items()}
        found = xo.minimize(
            lambda x: f(x, d), x0, method=method, constraints=xo.Constraints(**parts)
        )
        return found.status, found.x

    return map(np.asarray, xc.jit(xc.vmap(solve))(starts, data))


@pytest.mark.parametrize("method", ["sqp", "augmented-lagrangian"])
def test_a_way_far_out_does_not_make_what_is_violated_small(method):
    """a·x = b and 2 a·x = 2 b + gap: methods run along both, and were judged by how far they had come."""
    rng = np.random.default_rng(19)
    a, b, target = (
        rng.standard_normal((24, 5)),
        rng.standard_normal(24),
        rng.standard_normal((24, 5)),
    )
    root, gap = rng.standard_normal((24, 5, 5)), rng.choice([0.01, 1.0, 10.0], 24)
    bend = np.swapaxes(root, 1, 2) @ root + 0.1 * np.eye(5)
    both = lambda x, d: xnp.stack([d[0] @ x - d[1], 2 * (d[0] @ x) - 2 * d[1] - d[2]])
    far = lambda x, d: (x - d[3]) @ d[4] @ (x - d[3]) / 2 + xnp.cos(3 * x).sum() / 2
    starts = 3 * rng.standard_normal((24, 5))
    status, _ = _least(far, starts, {"eq": both}, method, (a, b, gap, target, bend))
    assert (status == np.int32(xo.Status.infeasible)).all(), status


@pytest.mark.parametrize("method", ["sqp", "augmented-lagrangian"])
def test_a_slope_does_not_say_how_large_variables_are_where_constraints_hold_them(method):
    """From 0, where the objective's Newton step leads to 1e3 to 1e9, onto a ball of radius 1; and past it."""
    centers = np.array([1.0, 2.0, -1.0]) * 10.0 ** np.arange(3, 10)[:, None]
    f, ball = lambda x, c: xnp.sum((x - c) ** 2), lambda x, c: 1 - x @ x
    outside = lambda x, c: xnp.stack([ball(x, c), x[0] - 1.001])
    status, _ = _least(f, np.zeros((7, 3)), {"ineq": outside}, method, centers)
    assert (status != 0).all() and (status == np.int32(xo.Status.infeasible)).sum() > 3, status
    status, x = _least(f, np.zeros((7, 3)), {"ineq": ball}, method, centers)
    assert (status == 0).sum() > 3, status
    want = centers / np.linalg.norm(centers, axis=1)[:, None]
    np.testing.assert_allclose(x[status == 0], want[status == 0], atol=3e-6)


def test_an_equation_may_be_two_inequalities():
    """v >= 0 and -v >= 0: no multipliers are the only ones, and no point is inside."""
    rng = np.random.default_rng(20)
    a, at, target = (rng.standard_normal(s) for s in ((16, 2, 5), (16, 5), (16, 5)))
    pairs = lambda x, d: xnp.concatenate([d[0] @ (x - d[1]), d[0] @ (d[1] - x)])
    f = lambda x, d: xnp.sum((x - d[2]) ** 2)
    status, x = _least(f, rng.standard_normal((16, 5)), {"ineq": pairs}, "sqp", (a, at, target))
    assert (status == 0).all(), status
    want = target + np.einsum(
        "bnm,bm->bn", np.linalg.pinv(a), np.einsum("bmn,bn->bm", a, at - target)
    )
    np.testing.assert_allclose(x, want, atol=1e-5)


@pytest.mark.parametrize("dtype, within", [("float64", 1e-5), ("float32", 2e-2)])
def test_a_start_that_is_nearly_zero_says_nothing(dtype, within):
    """A variable of 1e-2 to 1e-15 at the start stayed there: slopes times its size seemed small."""
    rng = np.random.default_rng(3)
    root, far = rng.standard_normal((24, 4, 4)), 2 * rng.standard_normal((24, 4))
    a, b, starts = (
        rng.standard_normal((24, 4)),
        rng.standard_normal(24),
        rng.standard_normal((24, 4)),
    )
    for i, start in enumerate(starts):
        start[rng.integers(4, size=1 + i % 3)] *= 10.0 ** -rng.integers(2, 16)
    bend = root @ np.swapaxes(root, 1, 2) + 0.1 * np.eye(4)
    plane = lambda x, d: d[2] @ x - d[3]
    f = lambda x, d: (x - d[0]) @ d[1] @ (x - d[0]) / 2
    data = [xnp.asarray(v, dtype) for v in (far, bend, a, b)]
    status, x = _least(f, xnp.asarray(starts, dtype), {"eq": plane}, "sqp", tuple(data))
    claimed = status == 0
    assert claimed.sum() >= 22, status
    y = np.linalg.solve(bend, a[..., None])[..., 0]  # the nearest point of the plane, in this norm
    off = (np.sum(a * far, 1) - b) / np.sum(a * y, 1)
    want = (far - off[:, None] * y)[claimed]
    np.testing.assert_allclose(x[claimed], want, atol=within * np.abs(far).max())
