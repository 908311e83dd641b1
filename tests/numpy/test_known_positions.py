"""Positions out of range that are known raise, in functions as in x[i]; a mode, or ``clamp``, says otherwise."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp

X = xnp.arange(6.0).reshape(2, 3)
CALLS = {
    "take": lambda i, **more: xnp.take(X, i, axis=1, **more),
    "take of all": lambda i, **more: xnp.take(X, i + 3 * (i > 0) - 3 * (i < 0), **more),
    "method": lambda i, **more: X.take(i, axis=1, **more),
    "jit": lambda i, **more: xc.jit(lambda x: xnp.take(x, i, axis=1, **more))(X),
    "vmap": lambda i, **more: xc.vmap(lambda x: xnp.take(x, i, axis=0, **more))(X),
    "grad": lambda i, **more: xc.grad(lambda x: xnp.take(x, i, axis=1, **more).sum())(X),
    "along": lambda i, **more: xnp.take_along_axis(X, np.full((2, 1), i), 1, **more),
    "put": lambda i, **more: xnp.put(X[0], i, 9.0, inplace=False, **more),
    "put along": lambda i, **more: xnp.put_along_axis(X, np.full((2, 1), i), 9.0, 1, inplace=False, **more),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_known_positions_out_of_range_raise(name):
    call = CALLS[name]
    for i in (3, -4, np.array(3), np.int64(10**12)):
        with pytest.raises(IndexError, match="out of bounds for axis"):
            call(i)
    for i in (2, -3, np.array(0)):
        call(i)
    call(7, mode="clip")
    with xc.config.override(clamp=True):
        call(7)


def test_lists_are_looked_through():
    for i in ([0, 5], [[0], [-4]], (3,)):
        with pytest.raises(IndexError):
            xnp.take(X[0], i)
        with pytest.raises(IndexError):
            xnp.put(X[0], i, 1.0, inplace=False)
    assert xnp.take(X[0], []).shape == (0,)


def test_positions_on_a_device_cannot_raise():
    assert np.isnan(xnp.take(X[0], xnp.asarray([3]))).all()
    np.testing.assert_array_equal(xnp.put(X[0], xnp.asarray(5), 9.0, inplace=False), [0, 1, 9])
    got = xnp.put_along_axis(X[0], xnp.asarray([5]), 9.0, 0, inplace=False)
    np.testing.assert_array_equal(got, X[0])


def test_unravel_index_raises_as_numpy():
    for i in (9, -10, [0, 9]):
        with pytest.raises(IndexError):
            xnp.unravel_index(i, (3, 3))
    assert [int(k) for k in xnp.unravel_index(xnp.asarray(100), (3, 3))] == [2, 2]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "bool"])
def test_small_integers_are_multiplied_in_the_default_width(dtype):
    c = np.array([100, 1, 1]).astype(dtype)
    np.testing.assert_array_equal(xnp.polyder(xnp.asarray(c)), np.polyder(c.astype(int)))
    np.testing.assert_array_equal(xnp.vander(xnp.asarray(c), 4), np.vander(c.astype(int), 4))


def test_put_clips_as_numpy_does():
    at, values = np.array([-2, 9, 1]), np.array([1.0, 2.0, 3.0])
    expected = np.zeros(4)
    np.put(expected, at, values, mode="clip")
    put = lambda i: xnp.put(xnp.zeros(4), i, values, mode="clip", inplace=False)
    np.testing.assert_array_equal(put(at), expected)
    np.testing.assert_array_equal(xc.jit(put)(at), expected)
    for mode in ("clip", "wrap"):
        with pytest.raises(IndexError, match="no elements"):
            xnp.put(xnp.zeros(0), [0], 1.0, mode=mode, inplace=False)
