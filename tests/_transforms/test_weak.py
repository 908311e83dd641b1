"""Weak types under transformations, and what of a function's result stays as it is."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax

half = np.ones((), np.float16)


def types(tree):
    return [f"{x.dtype}{' weak' if x.weak_type else ''}" for x in xc.tree.leaves(tree)]


@pytest.mark.parametrize("derivative", [
    lambda f: xc.grad(f), lambda f: xc.jit(xc.grad(f)), lambda f: xc.jacfwd(f), lambda f: xc.jacrev(f),
    lambda f: xc.hessian(f), lambda f: lambda x: xc.jvp(f, (x,), (x,)),
    lambda f: lambda x: xc.vjp(f, x)[1](1.0), lambda f: lambda x: xc.linearize(f, x)[1](1.0),
])  # fmt: skip
def test_derivatives_are_as_weak_as_arguments(derivative):
    d = derivative(lambda x: x**3)
    assert set(types(d(2.0))) == {"float32 weak"}
    assert set(types(d(np.float32(2)))) == {"float32"}
    with xc.config.override(default_bits=64):
        assert set(types(d(2.0))) == {"float64 weak"}


@pytest.mark.parametrize("loop, wanted", [
    (lambda: lax.fori_loop(0, 3, lambda i, s: s * 2, 1.0), ["float32 weak"]),
    (lambda: lax.fori_loop(0, 3, lambda i, s: s + half * i, 0.0), ["float16"]),
    (lambda: lax.fori_loop(0, 3, lambda i, s: s + i, np.int16(0)), ["int16"]),
    (lambda: xc.jit(lambda n: lax.fori_loop(0, n, lambda i, s: s + i, np.int16(0)))(3), ["int16"]),
    (lambda: lax.fori_loop(0, 3, lambda i, s: s + 1.5, 0), ["float32 weak"]),
    (lambda: lax.scan(lambda c, x: (c + x, c), 0.0, xnp.ones(3, np.float16)), ["float16", "float16"]),
    (lambda: lax.scan(lambda c, _: (c + 1, 2.0), 0, None, 3), ["int32 weak", "float32 weak"]),
    (lambda: lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] + half), (0, 0.0)),
     ["int32 weak", "float16"]),
    # what depends on a value that the body makes strong is strong
    (lambda: lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] + np.float32(1), s[1] * 2), (0, 0.0, 0.0)),
     ["int32 weak", "float32", "float32"]),
    (lambda: lax.cond(True, lambda: 1.0, lambda: 2.0), ["float32 weak"]),
    (lambda: lax.cond(True, lambda x: x, lambda x: 2.0, np.float32(1)), ["float32"]),
    (lambda: lax.map(lambda x: 1.0, xnp.arange(2)), ["float32 weak"]),
    (lambda: xc.vmap(lambda x: 1.0)(xnp.arange(2)), ["float32 weak"]),
    (lambda: xc.vmap(lambda x: 1.0, out_axes=None)(xnp.arange(2)), ["float32 weak"]),
])  # fmt: skip
def test_loops_and_branches(loop, wanted):
    """A carry is weak if it starts so and each step leaves it so; a branch if all branches are."""
    assert types(loop()) == wanted
    assert types(xc.jit(loop)()) == wanted


def test_a_weak_carry_takes_the_width_of_what_it_meets():
    x = np.arange(5, dtype=np.float32)
    with xc.config.override(default_bits=64):
        total = lax.fori_loop(0, 5, lambda i, s: s + xnp.asarray(x)[i], 0.0)
    assert total.dtype == np.float32 and float(total) == 10


constant = lambda y: 5.0


@pytest.mark.parametrize("f", [
    lambda x: xc.value_and_grad(constant)(x)[0],
    lambda x: xc.vjp(constant, x)[0],
    lambda x: xc.jvp(constant, (x,), (x,))[0],
    lambda x: xc.linearize(constant, x)[0],
    lambda x: xc.checkpoint(constant)(x),
    lambda x: xc.vmap(constant, out_axes=None, axis_size=2, in_axes=None)(x),
    lambda x: xc.vmap(lambda a, b: b, in_axes=(0, None))(xnp.ones(2), 5.0)[0] + 0 * x,
    lambda x: xc.grad(lambda y: (y, xnp.asarray(5.0)), has_aux=True)(x)[1],
])  # fmt: skip
def test_constant_results_are_arrays(f):
    for g in (f, xc.jit(f)):
        assert isinstance(g(1.0), xc.Array) and float(g(1.0)) == 5
    assert xc.jit(lambda x: f(x).reshape(1) + 1)(1.0).tolist() == [6.0]


@pytest.mark.parametrize("call", [
    lambda f, x: xc.grad(f, has_aux=True)(x)[1],
    lambda f, x: xc.value_and_grad(f, has_aux=True)(x)[0][1],
    lambda f, x: xc.vjp(f, x, has_aux=True)[2],
    lambda f, x: xc.jvp(f, (x,), (x,), has_aux=True)[2],
    lambda f, x: xc.linearize(f, x, has_aux=True)[2],
    lambda f, x: xc.jacrev(f, has_aux=True)(x)[1],
    lambda f, x: xc.jacfwd(f, has_aux=True)(x)[1],
    lambda f, x: xc.hessian(f, has_aux=True)(x)[1],
])  # fmt: skip
def test_aux_may_be_anything(call):
    what = {"count": 3, "name": "run", "rows": np.arange(2), "missing": None}
    found = call(lambda x: (x * x, {**what, "twice": 2 * x}), np.float32(2))
    assert float(found.pop("twice")) == 4
    assert all(found[k] is v for k, v in what.items())


def test_integer_tangents():
    zero = np.zeros((), xc.dtypes.float0)
    assert float(xc.jvp(lambda x, i: x * i, (2.0, 3), (1.0, zero))[1]) == 3
    with pytest.raises(TypeError, match="float0"):
        xc.jvp(lambda x: x * 2.0, (3,), (1,))
