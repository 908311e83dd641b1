"""Quotients are rounded once, whatever the divisor is made of: XLA would multiply by reciprocals."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp

WAYS = {
    "eager": lambda v, s: v / s,
    "jit": xc.jit(lambda v, s: v / s),
    "vmap": lambda v, s: xc.vmap(lambda x: x / s)(v),
    "vmap of both": xc.jit(xc.vmap(lambda x, s: x / s, in_axes=(0, None))),
    "a jit inside": xc.jit(lambda v, s: xc.jit(lambda a, b: a / b)(v, xnp.broadcast_to(s, v.shape))),
    "negated": xc.jit(lambda v, s: -(v / -s)),
    "in a loop": xc.jit(lambda v, s: xc.lax.scan(lambda c, x: (c, x / c), s, v.reshape(-1, 16))[1].ravel()),
    "in a branch": xc.jit(lambda v, s: xc.lax.cond(s > 0, lambda: v / s, lambda: v)),
    "rows": xc.jit(lambda v, s: (v.reshape(-1, 16) / xnp.full(v.size // 16, s)[:, None]).ravel()),
    "tangent": xc.jit(lambda v, s: xc.jvp(lambda v: v / s, (v,), (v,))[1]),
    "cotangent": xc.jit(lambda v, s: xc.vjp(lambda v: v / s, v)[1](v)[0]),
}  # fmt: skip


def as_on_a_cpu(dtype):
    if xc.default_backend() == "cuda" and np.dtype(dtype).char in "fF":
        pytest.skip("a GPU's division of float32 may be two units in the last place off")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_multiples_divide_exactly(dtype, way):
    as_on_a_cpu(xnp.dtype(dtype))
    narrow = dtype in ("float16", "bfloat16")
    k = xnp.arange(1, 257 if narrow else 200_001).astype(dtype)
    for divisor in (3, 7, 49):
        s = xnp.asarray(divisor).astype(dtype)
        v, want = k * s, k
        if narrow:  # the products are rounded
            want = np.asarray(v, np.float64) / divisor
            want = xnp.asarray(want).astype(dtype)
        assert (WAYS[way](v, s) == want).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_literals_in_programs(dtype):
    as_on_a_cpu(dtype)
    k = xnp.arange(1, 200_001).astype(dtype)
    for divisor in (3.0, 7, 49):
        assert (xc.jit(lambda v, d=divisor: v / d)(k * divisor) == k).all()
        assert (k * divisor / divisor == k).all()
        one = xc.jit(lambda x, d=divisor: x / d)(xnp.asarray(21.0, dtype))
        assert np.asarray(one) == np.asarray(21, dtype) / np.asarray(divisor, dtype)
    want = np.asarray(k) / np.asarray(0.1, dtype)
    np.testing.assert_array_equal(xc.jit(lambda v: v / 0.1)(k), want)


@pytest.mark.parametrize("dtype, large", [("float32", 2e38), ("float64", 1.2e308)])
def test_large_divisors(dtype, large):
    v = xnp.asarray(np.array([large, large / 2, 0], dtype))
    for f in (lambda v: v / xnp.max(v), lambda v: v / large, lambda v: v / v[0]):
        np.testing.assert_array_equal(f(v), [1, 0.5, 0])
        np.testing.assert_array_equal(xc.jit(f)(v), [1, 0.5, 0])


def test_special_values():
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0])
    with np.errstate(all="ignore"):
        for s in special:
            for f in (lambda v, s: v / s, xc.jit(lambda v, s: v / s)):
                got = np.asarray(f(special, s))
                np.testing.assert_array_equal(got, special / s)
                np.testing.assert_array_equal(np.signbit(got), np.signbit(special / s), err_msg=s)


def test_powers_of_two_cost_a_multiplication():
    text = xc.jit(lambda v: v / 4).lower(xnp.ones(8)).compile().as_text()
    assert "select" not in text
