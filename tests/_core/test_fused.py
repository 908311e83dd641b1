"""Fused functions: whatever way arguments are given, a call means the same, the first time and later."""

import functools
import inspect

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore._core import config
from xcore._core.fused import fused

X = np.arange(6, dtype="float32").reshape(2, 3)


@fused(2)
def scaled(a, b=None, /, axis=None, *, by=1.0, shift=0):
    """A sum with arguments of every kind."""
    total = xnp.sum(a if b is None else a + b, axis=axis)
    return total * by + shift


CALLS = [
    (lambda f, x: f(x), 15.0),
    (lambda f, x: f(x, 1.0), 21.0),
    (lambda f, x: f(x, x), 30.0),
    (lambda f, x: f(x, None, 0), [3.0, 5.0, 7.0]),
    (lambda f, x: f(x, axis=1, by=2.0), [6.0, 24.0]),
    (lambda f, x: f(x, x, axis=None, by=1.0, shift=0), 30.0),
    (lambda f, x: f(x, shift=True), 16.0),
    (lambda f, x: f(x, shift=1.5), 16.5),
]


@pytest.mark.parametrize("call, want", CALLS)
def test_ways_to_give_arguments(call, want):
    x = xnp.asarray(X)
    for _ in range(4):  # the slow path, one that learns, the fast one
        np.testing.assert_array_equal(call(scaled, x), want)
    np.testing.assert_array_equal(xc.jit(lambda x: call(scaled, x))(x), want)


def test_the_signature_and_its_errors():
    assert str(inspect.signature(scaled)) == "(a, b=None, /, axis=None, *, by=1.0, shift=0)"
    for call, message in [
        (lambda: scaled(), "missing 1 required positional argument: 'a'"),
        (lambda: scaled(X, 1.0, 0, 2.0), "takes from 1 to 3 positional arguments"),
        (lambda: scaled(X, scale=2), "unexpected keyword argument 'scale'"),
        (lambda: scaled(X, b=2), "positional-only"),
    ]:
        with pytest.raises(TypeError, match=rf"scaled\(\) .*{message}"):
            call()


def test_static_arguments_that_are_equal_but_not_the_same():
    x = xnp.asarray(X)
    for _ in range(3):
        assert xnp.sum(x, promote_integers=1) == 15
        assert xnp.sum(x, axis=(0, 1)) == xnp.sum(x, axis=[0, 1]) == 15  # a list is no key
        assert scaled(x, shift=1).weak_type == scaled(x, shift=1.0).weak_type


def test_signed_zeros_are_different_arguments():
    x = xnp.asarray([1.0, np.nan])
    for _ in range(4):  # the slow path, one that learns, the fast one
        for zero, sign in ((0.0, False), (-0.0, True)):
            assert np.signbit(xnp.nan_to_num(x, nan=zero)[1]) == sign
            assert np.signbit(xnp.multiply(x, zero)[0]) == sign
            assert np.signbit(xnp.clip(x, 0.0, zero)[0]) == sign


def test_functions_of_any_making():
    @xc.custom_jvp
    def cubed(x):
        return x * x * x

    cubed.defjvps(lambda g, y, x: 3 * x * x * g)

    @functools.wraps(scaled.fused.f)
    def wrapped(*args, **kwargs):
        return xnp.negative(args[0])

    x = xnp.float32(2)
    many = fused(3)(lambda *xs: xs[0] + xs[-1])
    for _ in range(3):
        assert fused(1)(cubed)(x) == 8 and xc.grad(fused(1)(cubed))(x) == 12
        assert many(x, x, 3.0) == 5
        assert fused(1)(lambda x, *, n=2: x**n)(x, n=3) == 8
    assert inspect.signature(fused(1)(wrapped)) == inspect.signature(wrapped)


def looked_up(f, *args):
    """How often five calls more than three ask for their program."""
    for _ in range(3):
        f(*args)
    asked, entry = [], f.fused.entry
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f.fused, "entry", lambda *a: asked.append(a) or entry(*a))
        for _ in range(5):
            f(*args)
    return len(asked)


def test_several_results_are_fast():
    x = xnp.arange(1.0, 7)
    assert looked_up(xnp.divmod, x, x[::-1]) == looked_up(xnp.divmod, 7, x) == 0
    assert looked_up(xnp.modf, x) == 0

    @fused(2)
    def parts(a, b, size=2):
        return {"sum": a + b, "two": (a * size, [b, None]), "none": ()}

    assert looked_up(parts, x, 3.0) == looked_up(parts, x, x, 4) == 0
    for b in (3.0, 5.0, True, x):
        found = parts(x, b)
        np.testing.assert_array_equal(found["sum"], np.asarray(x) + np.asarray(b))
        np.testing.assert_array_equal(found["two"][0], 2 * np.asarray(x))
        assert found["two"][1][1] is None and found["none"] == ()
    assert fused(1)(lambda a: ())(x) == fused(1)(lambda a: ())(x) == fused(1)(lambda a: ())(x) == ()
    nothing = fused(1)(lambda a: ())
    assert looked_up(nothing, x) == 0 and nothing(x) == ()
    gone = x + 1
    gone.delete()
    with pytest.raises(xc.errors.DeletedError):
        parts(gone, 3.0)
    with pytest.raises(OverflowError):
        parts(xnp.arange(3), 2**40)
    slope = xc.grad(lambda x: xnp.sum(parts(x, x)["two"][0]))(x)
    np.testing.assert_array_equal(slope, np.full(6, 2.0))
    with xc.config.override(debug_nans=True), pytest.raises(FloatingPointError):
        parts(x - x, xnp.full(6, xnp.nan))


def test_what_cannot_be_fast_is_looked_up_once():
    captured = xnp.ones(3)  # in the program's constants
    assert looked_up(fused(1)(lambda a: a + captured), xnp.ones(3)) == 5


def test_an_int_out_of_reach_does_not_make_others_slow():
    @fused(2)
    def plus(a, b):
        return a + b

    x = xnp.arange(3)
    for big in (2**40, 2**40, 2**40):
        with pytest.raises(OverflowError):
            plus(x, big)
    for _ in range(3):
        assert plus(x, 1).tolist() == [1, 2, 3]
    assert len(plus.fused.fast) == 1


def test_kinds_of_arguments_are_bounded(monkeypatch):
    monkeypatch.setattr(config, "KEPT", 8)

    @fused(1)
    def twice(a):
        return 2 * a

    for n in range(40):
        for _ in range(3):
            assert twice(xnp.zeros(n % 30)).shape == (n % 30,)
        for kept in twice.fused.seen, twice.fused.cache, twice.fused.fast:
            assert len(kept) <= 8
