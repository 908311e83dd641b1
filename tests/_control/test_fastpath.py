"""Calls that come back often take a short way: its results are those of the first calls."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import tree
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


@tree.struct
class Inner:
    a: Any
    n: Any = tree.static(default=1)


@tree.struct
class Outer:
    x: Any
    inner: Any
    scale: float = 1.0
    name: Any = tree.static(default="plain")


class Pair(NamedTuple):
    x: Any
    y: Any


class Kind(Outer):
    """Not registered: a leaf that no array is."""


def test_structs_are_told_apart():
    traced = []

    @xc.jit
    def f(s, y):
        traced.append(s.name)
        return s.x * s.inner.a * s.scale * s.inner.n + y

    x = xnp.arange(3.0)
    s = Outer(x, Inner(2.0))
    np.testing.assert_array_equal(learned(f, s, x), 3 * np.arange(3))
    assert len(traced) == 1
    np.testing.assert_array_equal(f(s.replace(scale=5.0), x), 11 * np.arange(3))
    np.testing.assert_array_equal(f(s.replace(inner=Inner(7.0)), x), 8 * np.arange(3))
    assert len(traced) == 1
    # what is static, of another type or structure is another program
    np.testing.assert_array_equal(f(s.replace(inner=Inner(2.0, 4)), x), 9 * np.arange(3))
    assert f(s.replace(name="other"), x).dtype == np.float32 and len(traced) == 3
    assert f(s.replace(inner=Inner(x)), x).shape == (3,) and len(traced) == 4
    assert f(s.replace(inner=Inner(2)), x).shape == (3,) and len(traced) == 5
    assert f(s.replace(x=xnp.arange(3)), x).shape == (3,) and len(traced) == 6
    with pytest.raises(AttributeError):
        f(s.replace(inner=2.0), x)
    with pytest.raises(TypeError):
        f(Kind(x, Inner(2.0)), x)
    with pytest.raises(AttributeError):
        f({"x": x}, x)
    slope = xc.grad(lambda s: xnp.sum(f(s, x)))(s)
    assert type(slope) is Outer and float(slope.inner.a) == 3


def test_results_that_are_structs():
    @xc.jit
    def step(s):
        return s.replace(x=s.x + 1, inner=s.inner.replace(a=[s.inner.a, None])), Inner({})

    s, x = Outer(xnp.zeros(2), Inner(xnp.ones(2)), name="state"), xnp.zeros(2)
    out, empty = learned(step, s)
    assert type(out) is Outer and out.name == "state" and type(empty) is Inner
    np.testing.assert_array_equal(out.x, [1, 1])
    assert out.inner.a[1] is None and isinstance(out.scale, xc.Array) and empty.a == {}

    pair = xc.jit(lambda p: p._replace(x=p.x + p.y))
    for k in range(_GENERATE_AFTER + 3):
        assert pair(Pair(x + k, x)).x[0] == k

    train = xc.jit(lambda s, g: s.replace(x=s.x - g), donate_argnums=0)
    s, before = s.replace(scale=xnp.ones(())), []
    for _ in range(_GENERATE_AFTER + 3):
        before.append(s)
        s = train(s, xnp.ones(2))
    np.testing.assert_array_equal(s.x, np.full(2, -(_GENERATE_AFTER + 3.0)))
    assert before[-1].x.is_deleted()
    with pytest.raises(xc.errors.DeletedError):
        train(before[-1], xnp.ones(2))


def test_classes_whose_results_look_at_what_they_hold():
    made = []

    @xc.tree_util.register_pytree_node_class
    class Checked:
        def __init__(self, x):
            made.append(type(x))
            self.x = x

        def tree_flatten(self):
            return (self.x,), ()

        @classmethod
        def tree_unflatten(cls, _, children):
            return cls(*children)

    f = xc.jit(lambda x: Checked(x + 1))
    for k in range(_GENERATE_AFTER + 3):
        assert f(xnp.ones(()) * k).x == k + 1
    assert set(made[1:]) == {xc.Array}
