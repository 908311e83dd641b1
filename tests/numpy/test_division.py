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


# v is repeated, and so is a divisor that is made in the program: nothing in it has the quotient's shape.
BOTH_REPEAT = {
    "rows": lambda v, s: v[:, None] / xnp.full((3,), s, v.dtype),
    "columns": lambda v, s: v / xnp.full((2, 1), s, v.dtype),
    "a sum": lambda v, s: v / (xnp.zeros((2, 1), v.dtype) + s),
    "vmap": lambda v, s: xc.vmap(lambda x: x / xnp.full((3,), s, v.dtype))(v),
    "tiles": lambda v, s: v[None] / xnp.tile(xnp.asarray(s, v.dtype), (3, 1)),
    "of its size": lambda v, s: v / (xnp.ones_like(v[:3]) * s)[:, None],
    "a stack": lambda v, s: v / xnp.stack([xnp.full(v.shape, s, v.dtype)] * 2),
    "three axes": lambda v, s: v[:, None, None] / xnp.full((2, 1), s, v.dtype),
    "repeats": lambda v, s: xnp.repeat(v, 3) / xnp.full((3 * v.size,), s, v.dtype),
    "transposed": lambda v, s: xnp.broadcast_to(v, (3, v.size)).T / xnp.full((3,), s, v.dtype),
    "computed": lambda v, s: (v[:, None] + 0) / xnp.sum(xnp.full((3, 2), s / 2, v.dtype), 1),
    "a loop": lambda v, s: xc.lax.fori_loop(
        0, 1, lambda i, c: v[:, None] / xnp.full((3,), s, v.dtype), xnp.zeros((v.size, 3), v.dtype)
    ),
}


@pytest.mark.parametrize("name", BOTH_REPEAT)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_both_sides_repeat(name, dtype):
    as_on_a_cpu(dtype)
    f, large = BOTH_REPEAT[name], float(xnp.finfo(dtype).max) / 1.1
    k = np.arange(1, 4097 if dtype != "float16" else 257, dtype=dtype)
    for v, s in ((k * np.asarray(7, dtype), 7.0), (np.array([large, large / 2, 0], dtype), large)):
        eager, compiled = f(xnp.asarray(v), s), xc.jit(lambda v, s=s: f(v, s))(v)
        np.testing.assert_array_equal(compiled, eager)
        want = {float(x) for x in (k if s == 7.0 else [1, 0.5, 0])}
        assert {float(x) for x in np.unique(np.asarray(compiled, np.float64))} == want


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


# Quotients of quotients, multiples of multiples, sums of sums: each operation is rounded, and nothing overflows
# between them. Values are of 1e30 in float32, and of 1e250 in float64.

CHAINS = {
    "a / b / c": lambda a, b, c: a / b / c,
    "a / (b / c)": lambda a, b, c: a / (b / c),
    "(a / b) / (c / d)": lambda a, b, c: (a / b) / (c / a),
    "reshaped": lambda a, b, c: (a / b).reshape(4, -1) / c.reshape(4, -1),
    "a row": lambda a, b, c: (a[0] / b[0]) / c,
    "a jit inside": lambda a, b, c: xc.jit(lambda x, y: x / y)(a, b) / c,
    "another": lambda a, b, c: xc.jit(lambda x: x / c)(a / b),
    "a loop": lambda a, b, c: xc.lax.fori_loop(0, 1, lambda i, x: x / c, a / b),
    "a branch": lambda a, b, c: xc.lax.cond(a[0] > 0, lambda x: x / c, lambda x: x, a / b),
    "tangent": lambda a, b, c: xc.jvp(lambda a: a / b / c, (a,), (a,))[1],
    "cotangent": lambda a, b, c: xc.vjp(lambda a: a / b / c, a)[1](a)[0],
}


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize(
    "dtype, size", [("float32", 1e30), ("float64", 1e250), ("complex64", 1e30)]
)
def test_quotients_of_quotients(name, dtype, size):
    as_on_a_cpu(dtype)
    a, b, c = (xnp.asarray((np.arange(8) % 3 + k) * size, dtype) for k in (1, 2, 3))
    f = CHAINS[name]
    got, want = xc.jit(f)(a, b, c), f(a, b, c)
    assert np.isfinite(want).all() and (want != 0).all()
    np.testing.assert_allclose(got, want, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype, size", [("float32", 1e25), ("float64", 1e200), ("float16", 3e3)])
def test_numbers_are_multiplied_one_by_one(dtype, size):
    big, small = (xnp.asarray(size, dtype), xnp.asarray(1 / size, dtype))
    chains = {
        "down": (lambda x: x * (1 / size) * (1 / size), big),
        "up": (lambda x: x * size * size, small),
        "numbers first": (lambda x: size * (size * x), small),
        "by quotients": (lambda x: x / 2.0**12 * 2.0**-14, xnp.asarray(2.0**12, dtype)),
        "reshaped": (lambda x: (x * size)[None] * size, small),
    }
    for name, (f, start) in chains.items():
        x = xnp.full(8, start)
        np.testing.assert_array_equal(xc.jit(f)(x), f(x), err_msg=name)


@pytest.mark.parametrize("way", [
    lambda x, m: (x + m) - m, lambda x, m: -m + (m + x), lambda x, m: m - (m - x), lambda x, m: (x - m) + m,
    lambda x, m: ((x + m) + 1) - m - 1, lambda x, m: (x + m).reshape(2, 4).ravel() - m,
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rounding_by_a_large_number(way, dtype):
    """x is rounded to whole numbers, as in every program that was written for it."""
    x = xnp.asarray([1.25, 2.5, 3.5, -7.3, 0.2, 0.5, 1.5, 99.9], dtype)
    large = 1.5 * 2.0 ** np.finfo(dtype).nmant
    np.testing.assert_array_equal(xc.jit(lambda x: way(x, large))(x), np.round(np.asarray(x)))


PRODUCTS = {
    "prod": lambda x, c: (x * c).prod(0),
    "of negatives": lambda x, c: (-(x * c)).prod(0),
    "of sizes": lambda x, c: xnp.abs(x * c).prod(0),
    "of quotients": lambda x, c: (x / 2.0 ** round(-np.log2(c))).prod(0),
    "by a row": lambda x, c: (x * xnp.full(x.shape[1:], c, x.dtype)).prod(0),
    "nothing added": lambda x, c: (x * c + 0).prod(0),
    "lax.reduce": lambda x, c: xc.lax.reduce(x * c, np.ones((), x.dtype), xc.lax.mul, (0,)),
    "vmap": lambda x, c: xc.vmap(lambda v: (v * c).prod(), in_axes=1)(x),
    "a jit inside": lambda x, c: xc.jit(lambda y: y.prod(0))(x * c),
    "cumprod": lambda x, c: xnp.cumprod(x * c, 0)[-1],
    "gradient": lambda x, c: xc.grad(lambda x: (x * c).prod(0).sum())(x)[0] / c,
}  # fmt: skip


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("dtype, size", [("float32", 1e30), ("float64", 1e250), ("float16", 1e3)])
def test_products_of_multiples(name, dtype, size):
    x = xnp.asarray((1 + np.arange(48).reshape(16, 3) % 5 / 16) * size, dtype)
    f = lambda x: PRODUCTS[name](x, 1 / size)
    want = f(x)
    assert np.isfinite(want).all() and (want > 0).all()
    np.testing.assert_allclose(xc.jit(f)(x), want, rtol=100 * float(xnp.finfo(dtype).eps))


# Divisors that the compiler finds out: it computes them when it compiles, or knows that they are powers.

FOUND_OUT = {
    "ones": lambda a: a / (xnp.ones_like(a) * 7),
    "a choice": lambda a: a / xnp.where(a > 0, 7.0, 7.0),
    "the larger": lambda a: a / xnp.maximum(7.0, 3 * xnp.ones_like(a)),
    "a sum": lambda a: a / xnp.sum(xnp.ones(7)),
    "a count": lambda a: a / xnp.count_nonzero(xnp.ones(7)),
    "in pieces": lambda a: a / xnp.concatenate([xnp.full(5000, 7.0), xnp.full(a.size - 5000, 7.0)]),
    "a range": lambda a: a / (xnp.arange(a.size) * 0 + 7.0),
    "a branch": lambda a: a / xc.lax.cond(True, lambda: 7.0, lambda: 3.0),
    "a table": lambda a: a / np.arange(1, a.size + 1).astype("f"),
    "a mean": lambda a: xnp.mean(xnp.repeat(a[:, None], 7, 1), axis=1, where=True),
    "an average": lambda a: xnp.average(xnp.repeat(a[:, None], 7, 1), axis=1, weights=np.ones(7, "f")),
    "a loop": lambda a: xc.lax.fori_loop(0, 3, lambda i, c: c / 7.0, a),
    "a loop of one": lambda a: xc.lax.fori_loop(0, 3, lambda i, c: c / 7.0, a[6]),
    "a scan": lambda a: xc.lax.scan(lambda c, x: (c, x / c), xnp.float32(7.0), a[:100])[1],
    "one inside": lambda a: xc.jit(lambda u, v: u / v)(a[6], 7.0),
    "of a number": lambda a: 2 / (3 / a),
    "of one twice": lambda a: 1 / (1 / a),
    "known chosen": lambda a: a / xnp.where(True, 7.0, a),
    "always chosen": lambda a: a / xnp.where(xnp.full(a.shape, True), 7.0, a),
    "by places": lambda a: a / xnp.where(xnp.arange(a.size) >= 0, 7.0, a),
    "never": lambda a: a / xnp.where(xnp.isnan(a) & False, a, 7.0),
    "part of both": lambda a: a / xnp.concatenate([a, xnp.full(a.shape, 7.0, "float32")])[a.size :],
    "a root": lambda a: a / xnp.sqrt(a[::-1]),
    "one by a root": lambda a: 1 / xnp.sqrt(a),
    "an exponential": lambda a: a / xnp.exp(a / 2e5),
    "a power": lambda a: a / a**0.3,
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND_OUT)
def test_divisors_that_the_compiler_finds_out(name):
    as_on_a_cpu("float32")
    a = xnp.arange(1, 20_001).astype("float32")
    np.testing.assert_array_equal(xc.jit(FOUND_OUT[name])(a), FOUND_OUT[name](a))


@pytest.mark.parametrize("name", [
    "ones", "a choice", "the larger", "a sum", "a count", "in pieces", "a range", "a branch", "a scan", "one inside",
    "known chosen", "always chosen", "by places", "never", "part of both",
])  # fmt: skip
def test_exact_quotients_where_the_divisor_is_found_out(name):
    """The whole multiples of 7 among the numerators."""
    as_on_a_cpu("float32")
    k = np.arange(1, 20_001).astype("float32")
    got = np.asarray(xc.jit(FOUND_OUT[name])(xnp.asarray(7 * k)))
    np.testing.assert_array_equal(got, k[6] if name == "one inside" else k[: got.size])


def test_large_divisors_that_are_found_out():
    v = xnp.asarray(np.array([2e38, 1e38, 0], np.float32))
    for f in (lambda v: v / (xnp.ones_like(v) * 2e38), lambda v: v / xnp.where(v > -1, 2e38, 2e38)):
        np.testing.assert_array_equal(xc.jit(f)(v), [1, 0.5, 0])
