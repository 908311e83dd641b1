"""Messages about a user's function say where it is written."""

import functools

import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax

THREE = xnp.ones(3)


def narrowed(carry, x):
    return carry.astype("int32"), x


def named_vjp(forward, backward):
    f = xc.custom_vjp(lambda x: 2 * x)
    f.defvjp(forward, backward)
    return lambda: xc.grad(f)(1.0)


def named_jvp(rule):
    f = xc.custom_jvp(lambda x: 2 * x)
    f.defjvp(rule)
    return lambda: xc.grad(f)(1.0)


CASES = {
    "dtype of a carry": (narrowed, lambda f: lax.scan(f, THREE, THREE)),
    "partial": (narrowed, lambda f: lax.scan(functools.partial(f), THREE, THREE)),
    "under jit": (narrowed, lambda f: xc.jit(lambda: lax.scan(f, THREE, THREE))()),
    "structure of a carry": (lambda c, x: ((c, c), x), lambda f: lax.scan(f, THREE, THREE)),
    "no pair": (lambda c, x: c, lambda f: lax.scan(f, THREE, THREE)),
    "text": (lambda c, x: (c, "a"), lambda f: lax.scan(f, THREE, THREE)),
    "while": (lambda c: c.astype("int32"), lambda f: lax.while_loop(lambda c: c.sum() < 0, f, THREE)),
    "fori": (lambda i, c: xnp.ones(4), lambda f: lax.fori_loop(0, 3, f, THREE)),
    "count of cotangents": (lambda r, g: (g, g), lambda f: named_vjp(lambda x: (x, ()), f)()),
    "shape of a cotangent": (lambda r, g: (THREE,), lambda f: named_vjp(lambda x: (x, ()), f)()),
    "forward rule": (lambda x: 2 * x, lambda f: named_vjp(f, lambda r, g: (g,))()),
    "rule without a tangent": (lambda p, t: p[0], lambda f: named_jvp(f)()),
    "shape of a tangent": (lambda p, t: (p[0], THREE), lambda f: named_jvp(f)()),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_function_is_named_with_its_line(case):
    f, call = CASES[case]
    with pytest.raises((TypeError, ValueError)) as told:
        call(f)
    assert f"({f.__name__}, {__file__}:{f.__code__.co_firstlineno})" in str(told.value)


def test_new_traces_name_the_calling_line(capsys):
    f = xc.jit(lambda x: 2 * x)
    with xc.config.override(explain_cache_misses=True):
        f(THREE)
    line = test_new_traces_name_the_calling_line.__code__.co_firstlineno + 3
    assert f"{__file__}:{line}" in capsys.readouterr().err
