"""Roots, fixed points and brackets against closed forms and SciPy."""

import numpy as np
import pytest
import scipy.optimize

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo
from xcore.optimize._bracket import RULES


def system(x, a=0.0):
    return xnp.stack([
        x[0] ** 2 + x[1] ** 2 - 4 + x[2] - a, xnp.exp(x[0]) - x[1] + 0.1, x[2] - 0.3 * x[0]
    ])  # fmt: skip


@pytest.mark.parametrize("method", ["newton", "hybr", "broyden", "krylov", "anderson"])
def test_all_methods_solve_a_system(method):
    start = np.array([0.5, 1.0, 0.0])
    found = xo.root(system, xnp.asarray(start), method=method)
    peer = scipy.optimize.root(lambda x: np.asarray(system(xnp.asarray(x))), start, tol=1e-13)
    assert found.success and np.abs(found.fun).max() <= 2e-12
    np.testing.assert_allclose(found.x, peer.x, rtol=1e-9)


@pytest.mark.parametrize("method", ["newton", "hybr", "broyden"])
def test_far_starts(method):
    # Powell's badly scaled function (Moré, Garbow, Hillstrom 1981, problem 3)
    f = lambda x: xnp.stack([1e4 * x[0] * x[1] - 1, xnp.exp(-x[0]) + xnp.exp(-x[1]) - 1.0001])
    found = xo.root(f, xnp.asarray(np.array([0.0, 1.0])), method=method, tol=1e-10)
    assert found.success, found.message
    np.testing.assert_allclose(found.x, [1.09815933e-5, 9.10614674], rtol=1e-5)


def test_derivatives_are_the_implicit_ones():
    a = xnp.asarray(0.3, np.float64)
    solve = lambda a: xo.root(lambda x: system(x, a), xnp.asarray(np.array([0.5, 1.0, 0.0]))).x
    x = solve(a)
    expected = np.linalg.solve(xc.jacfwd(system)(x, a), [1.0, 0, 0])
    np.testing.assert_allclose(xc.jacfwd(solve)(a), expected, rtol=1e-9)
    np.testing.assert_allclose(xc.jacrev(solve)(a), expected, rtol=1e-9)


def test_fixed_points_and_their_derivatives():
    solve = lambda c, m: (
        xo.fixed_point(lambda x: c * xnp.cos(x), xnp.ones(2, np.float64), method=m).x
    )
    c = xnp.asarray(0.8, np.float64)
    for method in ("anderson", "picard", "newton"):
        x = solve(c, method)
        np.testing.assert_allclose(x, 0.8 * np.cos(x), atol=1e-11)
    expected = np.cos(x) / (1 + 0.8 * np.sin(x))
    np.testing.assert_allclose(xc.jacrev(lambda c: solve(c, "anderson"))(c), expected, rtol=1e-8)


def test_anderson_needs_fewer_steps_than_repetition():
    steps = [
        int(xo.fixed_point(lambda x: xnp.cos(x), xnp.ones(3), method=m).nit)
        for m in ("anderson", "picard")
    ]
    assert 2 * steps[0] < steps[1]


@pytest.mark.parametrize("method", RULES)
def test_brackets_in_many_places_at_once(method):
    k = np.linspace(0.5, 45, 11)
    found = xo.root_scalar(
        lambda x: x**3 + xnp.exp(x) - k, (np.float64(-3), np.float64(4)), method=method
    )
    expected = [
        scipy.optimize.brentq(lambda x, c=c: x**3 + np.exp(x) - c, -3, 4, xtol=1e-15) for c in k
    ]
    assert np.all(found.status == 0)
    np.testing.assert_allclose(found.x, expected, rtol=1e-13)
    if method != "bisect":
        assert np.max(found.nit) < 25


@pytest.mark.parametrize("method", RULES)
def test_hard_brackets(method):
    # flat, steep, beside a pole
    f = lambda x: xnp.stack([x[0] ** 9, xnp.tanh(1e6 * (x[1] - 0.3)), 1 / (x[2] - 1.0) + 6])
    ends = np.array([-1.0, 0.0, -3.0]), np.array([4.0, 1.0, 1 - 1e-9])
    found = xo.root_scalar(f, ends, method=method)
    np.testing.assert_allclose(found.x, [0.0, 0.3, 5 / 6], atol=1e-6)


def test_lanes_without_a_change_of_sign_are_told_apart():
    found = xo.root_scalar(lambda x: x**2 - xnp.asarray([4.0, -1.0, np.nan]), (0.0, 5.0))
    assert [xo.Status(int(s)).name for s in found.status] == ["success", "no_bracket", "not_finite"]
    np.testing.assert_allclose(found.x[0], 2.0, rtol=1e-6)


def test_bracketed_roots_have_derivatives():
    k = xnp.asarray(np.linspace(1, 9, 4))
    solve = lambda k: xo.root_scalar(lambda x: x * x - k, (np.float64(0), np.float64(10))).x
    np.testing.assert_allclose(
        xc.grad(lambda k: xnp.sum(solve(k)))(k), 0.5 / np.sqrt(k), rtol=1e-12
    )


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: xo.root(lambda x: x[:1], xnp.ones(2)), "as many numbers"),
        (lambda: xo.root(lambda x: x, xnp.ones(2), method="magic"), "hybr"),
        (lambda: xo.root_scalar(lambda x: x, (0, 1), method="magic"), "toms748"),
        (lambda: xo.root_scalar(lambda x: x, 3.0), "pair"),
    ],
)
def test_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call()
