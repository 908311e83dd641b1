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


def weak(n=3):
    return xnp.broadcast_to(1.5, (n,))


MOVED = {
    "sort": xnp.sort, "lax.sort": lax.sort, "top_k": lambda w: lax.top_k(w, 2)[0],
    "partition": lambda w: xnp.partition(w, 1), "pad": lambda w: xnp.pad(w, 1),
    "lax.pad": lambda w: lax.pad(w, 0.0, [(1, 1, 0)]), "tril": lambda w: xnp.tril(w[None]),
    "triu": lambda w: xnp.triu(w[None]), "diag": xnp.diag,
    "take": lambda w: xnp.take(w, np.asarray([0, 2])),
    "take_along_axis": lambda w: xnp.take_along_axis(w, np.asarray([0, 2]), 0),
    "get": lambda w: w.at[np.asarray([0, 9])].get(mode="fill"),
    "get a traced one": lambda w: w.at[xnp.asarray(1)].get(mode="fill"),
    "set": lambda w: w.at[0].set(2), "add many": lambda w: w.at[np.asarray([0, 1])].add(w[:2]),
    "add to all": lambda w: w.at[:].add(w[0]), "set by steps": lambda w: w.at[::2].set(w[0]),
    "dynamic_update_slice": lambda w: lax.dynamic_update_slice(w, w[:1], (0,)),
}  # fmt: skip


@pytest.mark.parametrize("move", MOVED.values(), ids=MOVED)
@pytest.mark.parametrize("beside", [np.float32(1), np.float64(1)], ids=["", "beside float64"])
def test_what_moves_elements_keeps_them_weak(move, beside):
    assert types(move(weak())) == ["float32 weak"]
    assert types(xc.jit(lambda x, _: move(xnp.broadcast_to(x, (3,))))(1.5, beside)) == [
        "float32 weak"
    ]
    assert types(xc.vmap(move)(xnp.broadcast_to(1.5, (2, 3)))) == ["float32 weak"]
    assert types(move(weak()) * half) == ["float16"]
    assert types(move(xnp.ones(3))) == ["float32"]


@pytest.mark.parametrize(
    "f",
    [xnp.copysign, xnp.heaviside, xnp.nextafter, xnp.hypot, xnp.maximum, xnp.fmax, xnp.logaddexp],
)
def test_what_meets_a_strong_value_is_strong(f):
    strong = np.float32(0.5)
    for g in (f, xc.jit(f)):
        assert types(g(1.5, 0.5)) == ["float32 weak"]
        assert (
            types(g(xnp.asarray(1.5), strong)) == types(g(strong, xnp.asarray(1.5))) == ["float32"]
        )


@pytest.mark.parametrize("wide", [np.ones(2), np.ones(2, np.int64), np.ones(2, np.complex128)])
def test_python_numbers_beside_wide_arrays_come_out_as_they_do_alone(wide):
    def f(a, b, _):
        return a * 2, xnp.resize(a, (3,)), b + 1, a

    assert types(xc.jit(f)(2, 2.5, wide)) == types(f(xnp.asarray(2), xnp.asarray(2.5), wide))
    assert types(xc.jit(lambda n, x: n)(2**40, wide)) == ["int64 weak"]


# 64-bit data beside Python numbers, with 32-bit defaults


def _rows(x):
    return xnp.stack([x, x])


WAYS = {
    "eager": lambda f, *xs: f(*xs),
    "jit": lambda f, *xs: xc.jit(f)(*xs),
    "captured": lambda f, *xs: xc.jit(lambda: f(*xs))(),
    "vmap": lambda f, x, s: xc.vmap(f, in_axes=(0, None))(_rows(x), s),
    "jvp": lambda f, x, s: xc.jvp(lambda s: f(x, s), (s,), (s,))[0],
    "grad": lambda f, x, s: xc.value_and_grad(lambda s: f(x, s).real.sum())(0.5)[0],
    "scan": lambda f, x, s: lax.scan(lambda c, x: (c, f(x, s)), 0, _rows(x))[1],
    "cond": lambda f, x, s: lax.cond(x[0] == 0, f, f, x, s),
    "while": lambda f, x, s: lax.while_loop(lambda c: c[0] < 1, lambda c: (c[0] + 1, f(x, s)), (0, f(x, s)))[1],
    "checkpoint": lambda f, x, s: xc.checkpoint(f)(x, s),
}  # fmt: skip
# function of 64-bit integers and a number -> whether its result takes part of the number's kind
BESIDE = {
    "add": (lambda x, s: x + s, True),
    "literal": (lambda x, s: x * 0.25 + s, True),
    "lifted": (lambda x, s: xnp.asarray(s) - x, True),
    "where": (lambda x, s: xnp.where(x > 1, x, s), True),
    "power": (lambda x, s: (x + 1) ** s, True),
    "stack": (lambda x, s: xnp.stack([x[0], s]), True),
    "sum": (lambda x, s: x.sum() + s, True),
    "only a condition": (lambda x, s: xnp.where(x > 1, s, 0.25), False),
    "only a shape": (lambda x, s: s * x.size, False),
    "after it": (lambda x, s: (x + s, xnp.multiply(s, 2.0))[1], False),
}


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("name", BESIDE)
def test_integers_of_64_bits_become_floats_of_64_bits_everywhere(name, dtype):
    f, meets = BESIDE[name]
    x = xnp.arange(3, dtype=dtype) + 2**40
    for s, letter in ((0.5, "float"), (0.5j, "complex")):
        width = 64 * (1 + (letter == "complex"))
        wanted = [f"{letter}{width}"] if meets else [f"{letter}{width // 2} weak"]
        for way, call in WAYS.items():
            if way == "grad" and (letter == "complex" or not meets):
                continue
            out = call(f, x, s)
            if hasattr(out, "dtype"):
                assert types(out) == wanted, (way, s)
            else:
                assert way == "eager" and type(out) is type(s)
            if name == "add" and way in ("eager", "jit", "checkpoint"):  # no digit is lost
                np.testing.assert_array_equal(out, np.asarray(x) + s)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64", "complex128"])
def test_the_width_of_an_exponent_is_not_that_of_the_number(dtype):
    n = xnp.arange(3, dtype=dtype)
    f = xnp.ldexp if n.dtype.kind in "iu" else lambda s, n: xnp.where(n == 1, s, s)
    assert {*types(f(0.5, n)), *types(xc.jit(f)(0.5, n))} <= {"float32", "float32 weak"}
    assert types(f(0.5, n)) == types(xc.jit(f)(0.5, n))


def test_a_python_int_beyond_32_bits_is_no_data_of_64():
    big = xnp.asarray(2**40)
    for f in (lambda x: x + 0.5, xnp.sin, lambda x: x / 2):
        assert types(f(big)) == types(xc.jit(f)(2**40)) == types(xc.jit(f)(big)) == ["float32 weak"]
