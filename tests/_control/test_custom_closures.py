"""Custom functions and rules that refer to values being batched; cotangents that are wider than their arguments."""

import functools

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import errors


def _times_vjp(w, x):
    @xc.custom_vjp
    def f(y):
        return w * y

    f.defvjp(lambda y: (w * y, None), lambda _, g: (3 * g * w,))
    return f(x)


def _times_jvp(w, x):
    @xc.custom_jvp
    def f(y):
        return w * y

    f.defjvp(lambda primals, tangents: (w * primals[0], 3 * w * tangents[0]))
    return f(x)


def _times_fixed(w, x):
    return _fixed(x, w)


@functools.partial(xc.custom_jvp, nondiff_argnums=(1,))
def _fixed(y, w):
    return w * y


@_fixed.defjvp
def _fixed_jvp(w, primals, tangents):
    return w * primals[0], 3 * w * tangents[0]


W, X = np.float32([0, 1, 2]), np.float32([1, 2, 3])
CALLS = {  # each with its result, and its derivative by x, three times that of w x
    "both": (lambda f: lambda x: xc.vmap(f)(W, x), X, W * X, 3 * W),
    "w": (lambda f: lambda x: xc.vmap(f, (0, None))(W, x), np.float32(2), 2 * W, np.float32(9)),
    "x": (lambda f: lambda x: xc.vmap(f, (None, 0))(2.0, x), X, 2 * X, np.full(3, 6.0)),
    "neither": (lambda f: lambda x: xc.vmap(lambda _: f(2.0, x))(W), np.float32(2), np.full(3, 4.0), 18.0),
    "one for all": (
        lambda f: lambda x: xc.vmap(lambda _: f(2.0, x), out_axes=None)(W), np.float32(2), 4.0, 6.0),
    "one for all, a name": (
        lambda f: lambda x: xc.vmap(lambda _: f(2.0, x), out_axes=None, axis_name="i")(W), np.float32(2), 4.0, 6.0),
    "a name": (
        lambda f: lambda x: xc.vmap(lambda w, x: f(w - xc.lax.pmean(w, "i"), x), axis_name="i")(W, x),
        X, (W - 1) * X, 3 * (W - 1)),
    "twice": (
        lambda f: lambda x: xc.vmap(xc.vmap(f, (0, None)), (None, 0))(W, x), X, np.outer(X, W), np.full(3, 9.0)),
    "a scan": (
        lambda f: lambda x: xc.vmap(lambda w, x: xc.lax.scan(lambda c, _: (f(w, c), None), x, None, 1)[0])(W, x),
        X, W * X, 3 * W),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("f", [_times_vjp, _times_jvp, _times_fixed])
def test_batched_values_that_the_functions_refer_to(f, name):
    call, x, value, slope = CALLS[name]
    g = call(f)
    for run in (g, xc.jit(g)):
        np.testing.assert_allclose(run(x), value)
    if name == "a scan":
        return  # rules in programs cannot refer to what these are traced with
    for run in (lambda x: xc.vjp(g, x)[0], xc.jit(lambda x: xc.vjp(g, x)[0])):
        np.testing.assert_allclose(run(x), value)
    total = lambda x: g(x).sum()
    for run in (xc.grad(total), xc.jit(xc.grad(total))):
        np.testing.assert_allclose(run(x), slope)
    if f is not _times_vjp:
        tangent = xc.jvp(total, (x,), (np.ones_like(x),))[1]
        np.testing.assert_allclose(tangent, np.sum(slope))
    if name == "both":
        np.testing.assert_allclose(xc.vmap(xc.grad(f, argnums=1))(W, x), slope)
        np.testing.assert_allclose(xc.jit(xc.vmap(xc.grad(f, argnums=1)))(W, x), slope)


@pytest.mark.parametrize("f", [_times_vjp, _times_jvp, _times_fixed])
@pytest.mark.parametrize("batched", [False, True])
def test_no_derivative_by_what_a_rule_does_not_speak_of(f, batched):
    g = xc.vmap(f) if batched else f
    with pytest.raises(TypeError):
        xc.grad(lambda w: g(w, w + 1).sum())(xnp.ones(2) if batched else xnp.ones(()))


@pytest.mark.parametrize("wide", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "complex64"])
def test_cotangents_may_be_wider_than_their_arguments(dtype, wide):
    f = xc.custom_vjp(lambda x: x * 2)
    f.defvjp(lambda x: (x * 2, None), lambda _, g: (3 * xnp.real(g).astype(wide),))
    total = lambda x: xnp.real(f(x * 1)).sum().astype("float32")
    for gradient in (xc.grad(total), xc.jit(xc.grad(total))):
        found = gradient(xnp.ones(2, dtype))
        assert found.dtype == dtype
        np.testing.assert_array_equal(np.asarray(found.astype("complex64")), [3, 3])
    f.defvjp(lambda x: (x * 2, None), lambda _, g: (3j * g.astype("complex64"),))
    if dtype != "complex64":
        with pytest.raises(errors.MismatchError):
            xc.grad(total)(xnp.ones(2, dtype))
