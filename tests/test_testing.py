"""The checks accept right derivatives and notice wrong ones."""

import functools

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.testing import assert_close, check_grads, check_jvp, check_vjp, tolerance


@xc.custom_jvp
def wrong_sine(x):
    return xnp.sin(x)


@wrong_sine.defjvp
def _(primals, tangents):
    return wrong_sine(*primals), 1.001 * xnp.cos(primals[0]) * tangents[0]


@xc.custom_jvp
def wrong_curvature(x):
    return xnp.sin(x)


@wrong_curvature.defjvp
def _(primals, tangents):
    return wrong_curvature(*primals), xc.lax.stop_gradient(xnp.cos(primals[0])) * tangents[0]


@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_check_grads_notices_a_wrong_first_derivative(mode):
    check_grads(xnp.sin, (np.float64(0.6),), order=1, modes=mode)
    with pytest.raises(AssertionError, match="jvp" if mode == "fwd" else "vjp"):
        check_grads(wrong_sine, (np.float64(0.6),), order=1, modes=mode)


@pytest.mark.parametrize("modes", ["fwd", "rev", ("rev", "fwd")])
def test_check_grads_notices_a_wrong_second_derivative(modes):
    x = np.asarray([0.6, 1.2])
    check_grads(wrong_curvature, (x,), order=1, modes=modes)
    with pytest.raises(AssertionError):
        check_grads(wrong_curvature, (x,), order=2, modes=modes)


def test_check_grads_of_trees_integers_and_complex_numbers():
    def f(tree, n):
        return {"y": tree["z"] * xnp.exp(tree["x"]), "n": n + 1, "m": xnp.real(tree["z"]) ** n}

    z = np.asarray([1.0 + 2.0j, -0.5j])
    check_grads(f, ({"x": np.asarray([0.3, -0.2]), "z": z}, 2), order=2)


def test_single_precision_has_wider_limits():
    check_grads(lambda x: xnp.exp(x) * x, (np.float32([0.3, 0.7]),), order=2)
    with pytest.raises(AssertionError):
        check_grads(xnp.sin, (np.float32(0.6),), order=1, rtol=1e-9, atol=1e-9)


def test_check_jvp_and_check_vjp_take_the_rule_to_check():
    check_jvp(xnp.sin, functools.partial(xc.jvp, xnp.sin), (0.5,))
    check_vjp(xnp.sin, functools.partial(xc.vjp, xnp.sin), (0.5,))
    with pytest.raises(AssertionError, match="value"):
        check_jvp(xnp.sin, functools.partial(xc.jvp, xnp.cos), (0.5,))
    with pytest.raises(AssertionError, match="vjp of sine"):
        check_vjp(xnp.sin, lambda x: (xnp.sin(x), lambda g: (g,)), (0.5,), err_msg="of sine")


def test_unknown_modes_are_refused():
    with pytest.raises(ValueError, match='"fwd" and "rev", given'):
        check_grads(xnp.sin, (0.5,), modes=["forward"])


def test_assert_close_compares_leaf_by_leaf():
    assert_close({"a": [1.0, xnp.ones(2)]}, {"a": [1.0, np.ones(2)]})
    with pytest.raises(AssertionError, match=r"\['a'\]\[1\]"):
        assert_close({"a": [1.0, xnp.ones(2)]}, {"a": [1.0, np.ones(2) + 1e-4]})
    with pytest.raises(AssertionError, match="shapes"):
        assert_close(xnp.ones(2), np.ones(3))
    with pytest.raises(ValueError, match="assert_close"):
        assert_close({"a": 1.0}, {"b": 1.0})


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64", "complex64"])
def test_tolerances_follow_the_less_precise_dtype(dtype):
    one, off = xnp.ones(3, dtype), np.ones(3) * (1 + 0.5 * tolerance(dtype))
    assert_close(one, off)
    with pytest.raises(AssertionError):
        assert_close(one, np.ones(3) * (1 + 8 * tolerance(dtype)))


def test_integers_must_be_equal():
    assert_close(xnp.arange(3), [0, 1, 2])
    with pytest.raises(AssertionError):
        assert_close(xnp.arange(3), [0, 1, 3])


def _off_by(factor, scale, mode):
    """scale · sin with a rule that is wrong by a factor."""
    if mode == "fwd":
        f = xc.custom_jvp(lambda x: scale * xnp.sin(x))
        f.defjvp(lambda p, t: (f(p[0]), factor * scale * xnp.cos(p[0]) * t[0]))
    else:
        f = xc.custom_vjp(lambda x: scale * xnp.sin(x))
        f.defvjp(lambda x: (scale * xnp.sin(x), x), lambda x, g: (factor * scale * xnp.cos(x) * g,))
    return f


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("mode", ["fwd", "rev"])
@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1e-2, 1.0, 1e5, 1e30])
def test_mistakes_are_found_at_every_scale_of_results(scale, mode, dtype):
    x = xnp.asarray([0.5, 1.2, 2.0, -0.3], dtype)
    check_grads(_off_by(1.0, scale, mode), (x,), order=1, modes=mode)
    for factor in (0.0, -1.0, 0.9, 2.0):
        with pytest.raises(AssertionError):
            check_grads(_off_by(factor, scale, mode), (x,), order=1, modes=mode)


@pytest.mark.parametrize("large", [1e2, 1e4])
def test_what_cancels_inside_is_no_mistake(large):
    """The result is far smaller than what it is computed from, whose rounding errors the difference has."""
    f = lambda x: (large + 1e-3 * xnp.sin(x)) - large
    check_grads(f, (xnp.asarray([0.5, 1.2], "float32"),), order=1)


def test_a_tolerance_that_is_given_is_absolute():
    f = _off_by(0.0, 1e-6, "fwd")
    check_grads(f, (xnp.asarray([0.5, 1.2]),), order=1, modes="fwd", atol=1e-4)
