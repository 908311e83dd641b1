"""A slice of an array may be written into the same array under another shape: XLA's CPU compiler
would read what it has just written. Compiled, each form gives what NumPy gives."""

import itertools

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax

SHAPES = [((2, 3), (6,)), ((6,), (2, 3)), ((2, 3, 4), (6, 4)), ((1, 6), (6,)), ((6, 1), (1, 6)),
          ((4, 6), (2, 2, 6))]  # fmt: skip
DTYPES = ["int32", "float32", "float64", "bfloat16", "float16", "complex64", "bool", "uint8"]

# How the array under its new shape is made from the one that was given.
VIEWS = {
    "reshape": lambda x, shape: x.reshape(shape),
    "twice": lambda x, shape: x.reshape(-1).reshape(shape),
    "called": lambda x, shape: xc.jit(lambda y: y.reshape(shape))(x),
    "zero added": lambda x, shape: x.reshape(shape) | False if x.dtype == bool else x.reshape(shape) + 0,
}  # fmt: skip
# How slices are written: y, the slice, its start along the first axis.
WRITES = {
    "dynamic": lambda y, part, i: lax.dynamic_update_slice_in_dim(y, part, i, 0),
    "static": lambda y, part, i: y.at[1 : 1 + len(part)].set(part),
    "in a call": lambda y, part, i: xc.jit(lax.dynamic_update_slice_in_dim, static_argnums=3)(y, part, i, 0),
    "in a loop": lambda y, part, i: lax.fori_loop(
        0, 1, lambda _, c: (lax.dynamic_update_slice_in_dim(*c, i, 0), c[1]), (y, part))[0],
    "in a while loop": lambda y, part, i: lax.while_loop(
        lambda c: c[0] < 1, lambda c: (c[0] + 1, lax.dynamic_update_slice_in_dim(*c[1:], i, 0), c[2]),
        (0, y, part))[1],
    "in a scan": lambda y, part, i: lax.scan(
        lambda c, _: ((lax.dynamic_update_slice_in_dim(*c, i, 0), c[1]), None), (y, part), length=1)[0][0],
    "in a branch": lambda y, part, i: lax.cond(
        True, lambda: lax.dynamic_update_slice_in_dim(y, part, i, 0), lambda: y),
}  # fmt: skip


def _written(x, shape, view, write, i, twice):
    y = VIEWS[view](x, shape)
    part = y[:-1] if len(y) > 1 else y
    return WRITES[write](y, part * 2 if twice else part, i)


def _expected(x, shape, i, twice):
    y = x.reshape(shape)
    part = y[:-1].copy() if len(y) > 1 else y.copy()
    out, start = y.copy(), min(i, len(y) - len(part))
    out[start : start + len(part)] = part * np.asarray(2, x.dtype) if twice else part
    return out


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("view", VIEWS)
def test_what_is_written_is_read_before(view, write):
    shapes = SHAPES if view == "reshape" else SHAPES[:2]
    for (given, shape), twice in itertools.product(shapes, [False, True]):
        x = np.arange(1, 1 + np.prod(given), dtype="int32").reshape(given)
        i = min(1, shape[0] - 1)
        if write == "static" and shape[0] < 2:
            continue
        got = xc.jit(lambda x, i, s=shape, t=twice: _written(x, s, view, write, i, t))(x, i)
        np.testing.assert_array_equal(
            got, _expected(x, shape, i, twice), f"{given} {shape} {twice}"
        )


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype):
    x = xnp.asarray((np.arange(1, 9) % 3).reshape(2, 4)).astype(dtype)
    flat = np.asarray(x.astype("complex64")).reshape(-1)
    for donated in ((), (0,)):
        f = xc.jit(lambda x: x.reshape(8).at[1:6].set(x.reshape(8)[:5]), donate_argnums=donated)
        got = np.asarray(
            f(x + xnp.zeros((), dtype) if dtype != "bool" else x.copy()).astype("complex64")
        )
        np.testing.assert_array_equal(got, [*flat[:1], *flat[:5], *flat[6:]])


def test_transformed():
    x = xnp.arange(1.0, 7).reshape(2, 3)

    def f(x):
        y = x.reshape(6)
        return y.at[1:4].set(y[:3])

    want = np.array([1, 1, 2, 3, 5, 6.0])
    np.testing.assert_array_equal(xc.jit(f)(x), want)
    np.testing.assert_array_equal(xc.jit(xc.vmap(f))(x[None])[0], want)
    np.testing.assert_array_equal(xc.jvp(xc.jit(f), (x,), (x,))[1], want)
    weights = np.array([2.0, 3, 5, 7, 11, 13])
    got = xc.jit(xc.grad(lambda x: (f(x) * weights).sum()))(x)
    np.testing.assert_array_equal(got, [[5, 5, 7], [0, 11, 13]])
    doubled = xc.jit(lambda x: lax.fori_loop(0, 2, lambda _, x: f(x).reshape(2, 3), x))(x)
    np.testing.assert_array_equal(doubled.reshape(-1), [1, 1, 1, 2, 5, 6])


def test_loops_write_in_place():
    """What needs no copy has none: rows of results, caches of what came before."""

    def cached(cache, k):
        cache = lax.dynamic_update_slice_in_dim(cache, (k * xnp.ones(8))[None], k, 0)
        return cache, cache[k] * 2

    text = xc.jit(lambda c: lax.scan(cached, c, xnp.arange(4))).lower(xnp.zeros((4, 8))).as_text()
    assert "optimization_barrier" not in text
