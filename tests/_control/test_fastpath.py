"""Calls that come back often take a short way: its results are those of the first calls."""

from functools import partial

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore._control.jit import _GENERATE_AFTER


class Scale:
    def __init__(self, by):
        self.by = by

    def __call__(self, x, y):
        return self.by * x + y

    def method(self, x, y):
        return self.by * x - y


def with_default(x, y, by=3.0):
    return by * x + y


def with_keyword(x, *, y):
    return x - y


def of_any(*args):
    return args[0] - args[1]


X, Y = np.float32([1.0, 2.0]), np.float32([10.0, 20.0])
CALLS = {
    "partial": (partial(lambda by, x, y: by * x + y, 2.0), (X, Y), {}, 2 * X + Y),
    "object": (Scale(2.0), (X, Y), {}, 2 * X + Y),
    "method": (Scale(2.0).method, (X, Y), {}, 2 * X - Y),
    "default": (with_default, (X, Y), {}, 3 * X + Y),
    "default given": (with_default, (X, Y, 5.0), {}, 5 * X + Y),
    "default by name": (with_default, (X, Y), {"by": 7.0}, 7 * X + Y),
    "keywords": (with_default, (), {"y": Y, "x": X}, 3 * X + Y),
    "keyword only": (with_keyword, (X,), {"y": Y}, X - Y),
    "any": (of_any, (X, Y), {}, X - Y),
}


def learned(f, *args, **kwargs):
    """The result of a call, after so many that the short way is known."""
    for _ in range(_GENERATE_AFTER + 2):
        result = f(*args, **kwargs)
    return result


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", [np.asarray, xnp.asarray])
def test_all_kinds_of_calls(name, kind):
    f, args, kwargs, want = CALLS[name]
    to = lambda v: kind(v) if isinstance(v, np.ndarray) else v
    jitted = xc.jit(f)
    args, kwargs = [to(a) for a in args], {k: to(v) for k, v in kwargs.items()}
    np.testing.assert_array_equal(learned(jitted, *args, **kwargs), want)


def test_what_differs_from_what_was_learned():
    f = xc.jit(with_default)
    learned(f, X, Y)
    learned(f, X, Y, by=2.0)
    np.testing.assert_array_equal(f(X, Y), 3 * X + Y)
    np.testing.assert_array_equal(f(X, Y, by=4.0), 4 * X + Y)
    np.testing.assert_array_equal(f(Y, X), 3 * Y + X)
    assert f(X.astype(np.float64), Y).dtype == np.float64
    assert f(X[:, None], Y).shape == (2, 2)
    np.testing.assert_array_equal(f(xnp.asarray(X), Y), 3 * X + Y)
    np.testing.assert_array_equal(xc.vmap(f)(X, Y), 3 * X + Y)
    np.testing.assert_array_equal(f(X.astype(">f4"), Y), 3 * X + Y)
    with pytest.raises(TypeError, match="by"):
        f(X, Y, by="a")
    with pytest.raises(TypeError, match="z"):
        f(X, Y, z=1.0)


def test_numpy_arrays_that_change_between_calls():
    f, x = xc.jit(with_default), X.copy()
    learned(f, x, Y)
    x[:] = 5.0
    np.testing.assert_array_equal(f(x, Y), 15 + Y)


def test_static_arguments():
    f = xc.jit(lambda x, how: x * (2.0 if how is True else how), static_argnums=1)
    g = xc.jit(lambda x, *, how: x * how[0], static_argnames="how")
    np.testing.assert_array_equal(learned(f, X, 3), 3 * X)
    np.testing.assert_array_equal(learned(f, X, 1), X)
    np.testing.assert_array_equal(learned(f, X, True), 2 * X)
    np.testing.assert_array_equal(f(X, 3), 3 * X)
    np.testing.assert_array_equal(f(X, 4.0), 4 * X)
    np.testing.assert_array_equal(learned(g, X, how=(3, "a")), 3 * X)
    np.testing.assert_array_equal(g(X, how=(4, "a")), 4 * X)
    with pytest.raises(ValueError, match="hashable"):
        g(X, how=[3])
    assert [f._cache_size(), g._cache_size()] == [4, 2]


@pytest.mark.parametrize("form", [lambda a: a.T, lambda a: a[:, ::-1], lambda a: a.astype(">f4")])
def test_numpy_arrays_of_any_layout(form):
    x = form(np.arange(9, dtype=np.float32).reshape(3, 3))
    subtract = xc.jit(lambda x, y: x - y)
    for n in range(_GENERATE_AFTER + 2):
        np.testing.assert_array_equal(subtract(x, np.full((3, 3), n, np.float32)), x - n)
