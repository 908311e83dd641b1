"""Functions that have a derivative in reverse mode only, inside of others and before others, in reverse mode."""

import itertools

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax
from xcore.testing import assert_close


@xc.custom_vjp
def reverse_sine(x):
    return xnp.sin(x)


reverse_sine.defvjp(lambda x: (xnp.sin(x), x), lambda x, ct: (ct * xnp.cos(x),))


def _first_of_two(f):
    return lambda x: f(xnp.stack([x, x]))[0]


INSIDE = {
    "jit": lambda f: xc.jit(lambda x: f(x)),
    "cond": lambda f: lambda x: lax.cond(x.sum() > -9, f, lambda y: y, x),
    "switch": lambda f: lambda x: lax.switch(1, [lambda y: 0 * y, f, xnp.cos], x),
    "scan": lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=2)[0],
    "rows": lambda f: lambda x: lax.scan(lambda c, _: (c, f(c)), x, None, length=2)[1].sum(0),
    "while": lambda f: lambda x: lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, f(s[1])), (0, x))[1],
    "checkpoint": lambda f: xc.checkpoint(lambda x: f(x)),
    "vmap": lambda f: _first_of_two(xc.vmap(f)),
    "map": lambda f: _first_of_two(lambda xs: lax.map(f, xs)),
}  # fmt: skip
X = np.asarray([0.3, 0.7], np.float32)


def _nested(names, f):
    """A function in constructs of these names, in each with another one behind it that has what it computes."""
    for name in names:
        f = INSIDE[name](lambda x, name=name, f=f: INSIDE[name](xnp.sin)(f(x)))
    return lambda x: f(x).sum()


@pytest.mark.parametrize("name", INSIDE)
def test_before_another_of_its_kind(name):
    found, want = [xc.grad(xc.jit(_nested([name], f)))(X) for f in (reverse_sine, xnp.sin)]
    assert_close(found, want, rtol=1e-6)


@pytest.mark.parametrize("names", [*itertools.product(INSIDE, repeat=2)], ids="-".join)
def test_no_tangent_is_left_of_two(names):
    xc.jit(xc.grad(xc.jit(_nested(names, reverse_sine)))).lower(X)  # which refuses to write one


@pytest.mark.parametrize("name", ["jit", "cond", "switch", "scan", "while"])
def test_the_linear_function_is_transposed_where_it_runs_at_once(name):
    f = xc.jit(_nested([name], reverse_sine))
    _, push = xc.linearize(f, X)
    (found,) = xc.linear_transpose(push, X)(np.float32(1))
    assert_close(found, xc.grad(f)(X), rtol=1e-6)


def test_values_beside_the_tangent_are_computed():
    """A jitted function of what is known and of a tangent has results of both kinds."""

    @xc.custom_jvp
    def f(x):
        return reverse_sine(x) * 2

    @xc.jit
    def both(x, t):
        y, push = xc.linearize(reverse_sine, x)
        return 2 * y, 2 * push(t)

    f.defjvp(lambda primals, tangents: both(*primals, *tangents))
    assert_close(xc.grad(lambda x: f(x).sum())(X), 2 * np.cos(X), rtol=1e-6)
    assert_close(xc.grad(xc.jit(lambda x: f(x).sum()))(X), 2 * np.cos(X), rtol=1e-6)
