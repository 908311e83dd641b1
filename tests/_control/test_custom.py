"""Functions with derivative rules of their own, under every transformation."""

import functools

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax
from xcore.custom_derivatives import CustomVJPPrimal, SymbolicZero
from xcore.testing import assert_close, check_grads

X = np.asarray([0.3, 0.7, -0.4])


@xc.custom_jvp
def product(x, y=2.0):
    return xnp.sin(x) * y


@product.defjvp
def product_jvp(primals, tangents):
    (x, y), (tx, ty) = primals, tangents
    return product(x, y), xnp.cos(x) * y * tx + xnp.sin(x) * ty


@xc.custom_vjp
def reverse_product(x, y=2.0):
    return xnp.sin(x) * y


reverse_product.defvjp(
    lambda x, y: (reverse_product(x, y), (xnp.cos(x), xnp.sin(x), y)),
    lambda kept, g: (kept[0] * kept[2] * g, xnp.sum(kept[1] * g)),
)


def plain(x, y=2.0):
    return xnp.sin(x) * y


both = pytest.mark.parametrize("f", [product, reverse_product], ids=["jvp", "vjp"])


# Transformations


@both
def test_values_under_every_transformation(f):
    for g in (f, xc.jit(f), xc.vmap(f, in_axes=(0, None)), xc.checkpoint(f)):
        assert_close(g(xnp.asarray(X), 3.0), np.sin(X) * 3)


@both
def test_arguments_by_name_and_by_default(f):
    assert_close(f(y=3.0, x=X), np.sin(X) * 3)
    g = xc.jit(xc.grad(lambda x: f(x=x).sum()))
    assert_close(g(X), 2 * np.cos(X))


WRAPPERS = {
    "plain": lambda f: f,
    "jit": xc.jit,
    "vmap": lambda f: lambda x: xc.vmap(f)(x[None])[0],
    "jit of vmap": lambda f: xc.jit(lambda x: xc.vmap(f)(x[None])[0]),
    "vmap of jit": lambda f: lambda x: xc.vmap(xc.jit(f))(x[None])[0],
    "checkpoint": xc.checkpoint,
    "cond": lambda f: lambda x: lax.cond(True, f, lambda x: x, x),
    "scan": lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=1)[0],
    "scan of rows": lambda f: lambda x: lax.scan(lambda c, r: (c, f(r)), 0.0, x[None])[1][0],
}


def derivatives(f):
    """The first, second and third derivative of a sum."""
    out = []
    for _ in range(3):
        f = xc.grad(lambda x, f=f: f(x).sum())
        out.append(f)
    return out


@both
@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_three_derivatives_inside_of_others(wrap, f):
    custom, known = (derivatives(wrap(lambda x, h=h: h(h(x, 1.5), 0.7))) for h in (f, plain))
    assert_close(custom[0](X), known[0](X))
    found, wanted = xc.jit(lambda x: ([d(x) for d in custom], [d(x) for d in known]))(X)
    assert_close(found, wanted)


def test_jvp_rule_passes_numeric_checks():
    check_grads(xc.jit(product), (X, 1.5), order=2)


def test_vjp_rule_passes_numeric_checks():
    check_grads(xc.jit(reverse_product), (X, 1.5), order=2, modes="rev")


@both
def test_an_argument_that_lanes_share_gets_the_sum_over_lanes(f):
    def total(y):
        return xc.vmap(f, in_axes=(0, None))(X, y).sum()

    assert_close(xc.grad(total)(2.0), np.sin(X).sum(), rtol=1e-6)
    assert_close(xc.jit(xc.grad(xc.jit(total)))(2.0), np.sin(X).sum(), rtol=1e-6)


@both
def test_per_lane_derivatives(f):
    ys = np.asarray([1.0, 2.0, 3.0])
    for g in (xc.vmap(xc.grad(f, argnums=1)), xc.jit(xc.vmap(xc.grad(xc.jit(f), argnums=1)))):
        assert_close(g(X, ys), np.sin(X))
    twice = xc.vmap(xc.vmap(xc.grad(f), in_axes=(0, None)), in_axes=(None, 0))
    assert_close(twice(X, ys), ys[:, None] * np.cos(X))


def test_the_rule_is_used_rather_than_the_function():
    @xc.custom_jvp
    def f(x):
        return x**2

    f.defjvp(lambda primals, tangents: (f(*primals), 7.0 * tangents[0]))
    for g in (f, xc.jit(f), xc.checkpoint(f), xc.vmap(f)):
        x = xnp.ones(1) if g is not f else xnp.ones(())
        assert float(xc.grad(lambda x, g=g: g(x).sum())(x).sum()) == 7.0


def test_rules_see_python_values_outside_of_programs():
    seen = []

    @xc.custom_jvp
    def f(x):
        return xnp.sin(x) if x > 0 else xnp.cos(x)  # Python's if needs a number

    @f.defjvp
    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        seen.append(float(x))
        return f(x), (2.0 if x > 0 else 3.0) * t

    assert float(f(-1.0)) == np.cos(np.float32(-1.0))
    assert float(xc.grad(f)(1.0)) == 2.0
    assert float(xc.grad(f)(-1.0)) == 3.0
    assert seen == [1.0, -1.0]


def test_backward_rules_see_python_values_outside_of_programs():
    @xc.custom_vjp
    def f(x):
        return x * 2 if x > 0 else x

    f.defvjp(lambda x: (f(x), x), lambda x, g: (g * 5 if x > 0 else g * float(x),))
    assert float(xc.grad(f)(1.0)) == 5.0
    assert float(xc.grad(f)(-3.0)) == -3.0


# Forms of arguments


def test_trees_in_and_out():
    @xc.custom_vjp
    def f(p, q):
        return {"s": p["a"] * q[0], "t": [q[1] + p["b"]]}

    def fwd(p, q):
        return f(p, q), (p["a"], q[0])

    def bwd(kept, g):
        a, q0 = kept
        return {"a": g["s"] * q0, "b": g["t"][0]}, (g["s"] * a, g["t"][0])

    f.defvjp(fwd, bwd)
    p, q = {"a": 2.0, "b": 3.0}, (5.0, 7.0)
    out, pull = xc.vjp(f, p, q)
    assert_close(out, {"s": 10.0, "t": [10.0]})
    assert_close(pull({"s": 1.0, "t": [10.0]}), ({"a": 5.0, "b": 10.0}, (2.0, 10.0)))


def test_none_stands_for_zeros():
    @xc.custom_vjp
    def f(p, n, x):
        return p["a"] * x + n

    f.defvjp(lambda p, n, x: (f(p, n, x), x), lambda x, g: (None, None, g * x))
    p = {"a": np.ones(2), "b": np.ones(3)}
    found = xc.grad(lambda *a: f(*a).sum(), argnums=(0, 2))(p, 3, np.asarray([2.0, 4.0]))
    assert_close(found, ({"a": np.zeros(2), "b": np.zeros(3)}, [2.0, 4.0]))


def test_none_within_a_tree_stands_for_zeros():
    @xc.custom_vjp
    def f(p):
        return p["a"] * p["b"][0]

    f.defvjp(lambda p: (f(p), p), lambda p, g: ({"a": g * p["b"][0], "b": None},))
    found = xc.grad(f)({"a": 2.0, "b": [3.0, 4.0]})
    assert_close(found, {"a": 3.0, "b": [0.0, 0.0]})


def test_integer_results_have_no_tangent():
    @xc.custom_jvp
    def f(x):
        return x * 2, xnp.argmax(x)

    @f.defjvp
    def rule(primals, tangents):
        out = f(*primals)
        return out, (tangents[0] * 2, np.zeros((), xc.float0))

    for g in (f, xc.jit(f)):
        out, tangent = xc.jvp(g, (X,), (np.ones(3),))
        assert_close(out, (X * 2, 1))
        assert_close(tangent[0], 2 * np.ones(3))
        assert tangent[1].dtype == xc.float0


def test_integer_arguments_get_float0_tangents():
    seen = []

    @xc.custom_jvp
    def f(x, n):
        return x**n

    @f.defjvp
    def rule(primals, tangents):
        seen.append(tangents[1].dtype)
        return f(*primals), primals[1] * tangents[0]

    assert float(xc.grad(f)(2.0, 3)) == 3.0
    assert seen == [xc.float0]


@pytest.mark.parametrize("by", ["number", "name"])
def test_python_arguments_of_a_jvp_rule(by):
    given = {"nondiff_argnums": (0, 2)} if by == "number" else {"nondiff_argnames": ["g", "n"]}

    @functools.partial(xc.custom_jvp, **given)
    def apply(g, x, n):
        return g(x) * n

    @apply.defjvp
    def rule(g, n, primals, tangents):
        assert n == 3
        return apply(g, *primals, n), 10.0 * tangents[0]

    assert float(xc.grad(apply, argnums=1)(xnp.sin, 1.0, 3)) == 10.0
    inside = xc.jit(lambda x: apply(xnp.sin, x, 3))
    assert float(xc.grad(inside)(1.0)) == 10.0


def test_python_arguments_of_a_vjp_rule():
    @functools.partial(xc.custom_vjp, nondiff_argnums=(0,))
    def apply(g, x):
        return g(x)

    apply.defvjp(lambda g, x: (g(x), x), lambda g, x, ct: (g(ct * x),))
    assert_close(xc.grad(apply, argnums=1)(lambda x: 2 * x, 3.0), 6.0)


def test_methods():
    class Scale:
        def __init__(self, by):
            self.by = by

        @functools.partial(xc.custom_jvp, nondiff_argnums=(0,))
        def __call__(self, x):
            return self.by * x

        @__call__.defjvp
        def rule(self, primals, tangents):
            return self(*primals), -self.by * tangents[0]

    assert float(Scale(3.0)(2.0)) == 6.0
    assert float(xc.grad(Scale(3.0))(2.0)) == -3.0


def test_a_sum_of_rules_skips_those_that_are_not_needed():
    used = []

    @xc.custom_jvp
    def f(x, y, z):
        return x * y * z

    def dx(t, out, x, y, z):
        used.append("x")
        return t * y * z

    f.defjvps(dx, None, lambda t, out, x, y, z: t * out / z)
    assert_close(xc.grad(f, argnums=2)(2.0, 3.0, 5.0), 6.0)
    assert used == []
    assert_close(xc.grad(f, argnums=(0, 1, 2))(2.0, 3.0, 5.0), (15.0, 0.0, 6.0))
    assert used == ["x"]
    assert_close(xc.grad(f, argnums=1)(2.0, 3.0, 5.0), 0.0)


# Symbolic zeros


def test_symbolic_zeros_of_a_jvp_rule():
    seen = []

    @xc.custom_jvp
    def f(x, y):
        return x * y, y

    def rule(primals, tangents):
        seen.append([type(t) is SymbolicZero for t in tangents])
        (x, y), (tx, ty) = primals, tangents
        return f(x, y), (tx * y, ty)

    f.defjvp(rule, symbolic_zeros=True)
    out, tangents = xc.jvp(
        lambda x: f(x, np.float32([3.0])), (np.float32([2.0]),), (np.float32([1.0]),)
    )
    assert seen == [[False, True]]
    assert_close(tangents, ([3.0], [0.0]))
    assert repr(SymbolicZero(out[0].type)) == "SymbolicZero(float32[1])"


def test_symbolic_zeros_of_a_vjp_rule():
    seen = []

    @xc.custom_vjp
    def f(x, y):
        return x * y, x

    def fwd(x, y):
        assert type(x) is CustomVJPPrimal
        seen.append((x.perturbed, y.perturbed))
        return f(x.value, y.value), (x.value, y.value)

    def bwd(kept, g):
        seen.append(type(g[1]) is SymbolicZero)
        return g[0] * kept[1], SymbolicZero(kept[1].type)

    f.defvjp(fwd, bwd, symbolic_zeros=True)
    assert_close(xc.grad(lambda x: f(x, 3.0)[0])(2.0), 3.0)
    assert seen == [(True, False), True]


# Closures


def test_closing_over_a_value_that_is_differentiated_is_an_error():
    def outer(kind, y):
        if kind == "jvp":
            f = xc.custom_jvp(lambda x: x * y)
            f.defjvp(lambda primals, tangents: (f(*primals), tangents[0]))
        else:
            f = xc.custom_vjp(lambda x: x * y)
            f.defvjp(lambda x: (f(x), None), lambda _, g: (g,))
        return xc.jit(f)(3.0) if kind == "jvp" else lax.cond(True, f, f, 3.0)

    for kind in ("jvp", "vjp"):
        with pytest.raises(TypeError, match="closes over"):
            xc.grad(functools.partial(outer, kind))(2.0)


def test_functions_may_close_over_traced_constants():
    def f(y):
        c = lax.stop_gradient(y)
        g = xc.custom_jvp(lambda x: x * c)
        g.defjvp(lambda primals, tangents: (primals[0], 2.0 * tangents[0]))
        return g(y * 3) + xc.jit(g)(y * 3)

    assert_close(xc.vmap(xc.grad(f))(X), 12.0 * np.ones(3))


def test_rules_may_close_over_arrays():
    """A rule that is called within a program transform finds its arrays in the program."""
    c = xnp.asarray(X)
    f = xc.custom_vjp(lambda x: x * c)
    f.defvjp(lambda x: (f(x), None), lambda _, g: (g * c * 2.0,))
    g = rule_jvp(lambda p, t: (g(*p), 3.0 * c * t[0]), lambda x: x * c)
    for wrap in (lambda h: h, xc.jit, xc.checkpoint, xc.vmap):
        h = wrap(lambda x: f(x) + g(x))
        assert_close(xc.jit(xc.grad(lambda x, h=h: h(x).sum()))(X[None]), 5 * X[None])


def test_rules_in_programs_cannot_close_over_traced_values():
    def f(y):
        c = lax.stop_gradient(y)
        g = xc.custom_jvp(lambda x: x * c)
        g.defjvp(lambda primals, tangents: (g(*primals), c * tangents[0]))
        return xc.jit(g)(y * 3)

    with pytest.raises(TypeError, match="traced value from outside, float64"):
        xc.vmap(xc.grad(f))(X)


def test_closure_convert_makes_arguments_of_traced_values():
    def minimum(f, x):
        g, hoisted = xc.closure_convert(f, x)
        return descend(g, x, *hoisted)

    @functools.partial(xc.custom_vjp, nondiff_argnums=(0,))
    def descend(g, x, *hoisted):
        return lax.fori_loop(0, 60, lambda i, x: x - 0.2 * xc.grad(g)(x, *hoisted), x)

    def fwd(g, x, *hoisted):
        best = descend(g, x, *hoisted)
        return best, (best, hoisted)

    def bwd(g, kept, ct):
        best, hoisted = kept
        slope = xc.grad(xc.grad(g))(best, *hoisted)
        _, pull = xc.vjp(lambda *h: xc.grad(g)(best, *h), *hoisted)
        return (0.0, *[-c for c in pull(ct / slope)])

    descend.defvjp(fwd, bwd)

    def solution(a):
        n = np.arange(2)  # neither traced nor inexact: it stays in the closure
        return minimum(lambda x: (x - a**2) ** 2 + 0 * n.sum(), 0.0)

    assert_close(solution(3.0), 9.0, rtol=1e-5)
    assert_close(xc.grad(solution)(3.0), 6.0, rtol=1e-5)
    assert_close(xc.jit(xc.grad(solution))(3.0), 6.0, rtol=1e-5)


def test_closure_convert_checks_the_arguments():
    converted, hoisted = xc.closure_convert(lambda p: p["a"] * 2, {"a": 1.0})
    assert hoisted == []
    assert float(converted({"a": 3.0})) == 6.0
    with pytest.raises(ValueError, match="closure_convert"):
        converted({"b": 3.0})


# custom_gradient


def test_custom_gradient():
    @xc.custom_gradient
    def f(x, y):
        z = xnp.exp(x)
        return z * y, lambda g: (g * z * y * 100, g * z)

    assert_close(f(0.0, 2.0), 2.0)
    assert_close(xc.grad(f, argnums=(0, 1))(0.0, 2.0), (200.0, 1.0))
    assert_close(xc.jit(xc.grad(xc.jit(f)))(0.0, 2.0), 200.0)
    assert_close(xc.vmap(xc.grad(f))(np.zeros(2), np.asarray([1.0, 2.0])), [100.0, 200.0])
    assert_close(xc.grad(xc.grad(f))(0.0, 2.0), 200.0)


@pytest.mark.parametrize("low", [-0.5, -1, np.float32(-0.5)])
@pytest.mark.parametrize("wrap", [lambda f: f, xc.jit])
def test_custom_gradient_with_constant_cotangents(low, wrap):
    """Python numbers, and arrays of the module, that do not depend on the cotangent."""

    @xc.custom_gradient
    def clipped(x, low, high):
        return x, lambda g: (xnp.clip(g, low, high), 0.0, np.float32(0))

    f = wrap(lambda x: 0.5 * clipped(x, low, 0.5) ** 2)
    assert_close(xc.grad(f)(xnp.array(2.0)), 0.5)
    assert_close(xc.grad(lambda x, y: clipped(x, low, y), (0, 1))(2.0, 0.5), (0.5, 0.0))


def test_custom_gradient_of_one_tree_with_a_bare_cotangent():
    @xc.custom_gradient
    def f(p):
        return {"y": p["x"] ** 2, "n": xnp.int32(1)}, lambda g: {"x": g["y"] * 7}

    assert_close(xc.grad(lambda p: f(p)["y"])({"x": 3.0}), {"x": 7.0})


# stop_gradient


def test_stop_gradient():
    def f(x):
        return x * lax.stop_gradient({"y": x, "n": 1})["y"]

    check = xc.jit(xc.grad(f))
    assert float(check(3.0)) == float(xc.grad(f)(3.0)) == 3.0
    assert float(xc.grad(xc.grad(f))(3.0)) == 0.0
    assert_close(xc.vmap(xc.grad(f))(X), X)
    z = xc.grad(lambda z: xnp.real(lax.stop_gradient(z) * z), holomorphic=False)(1.0 + 2.0j)
    assert_close(z, 1.0 + 2.0j)
    assert lax.stop_gradient("text") == "text"


# Errors


def rule_jvp(rule, f=lambda x: {"a": x * 2}):
    g = xc.custom_jvp(f)
    g.defjvp(rule)
    return g


def rule_vjp(bwd, f=lambda p: p["a"] * 2):
    g = xc.custom_vjp(f)
    g.defvjp(lambda p: (f(p), None), bwd)
    return g


P = {"a": 1.0, "b": np.ones(2, np.float32)}
ERRORS = {
    "no jvp rule": (lambda: xc.custom_jvp(lambda x: x)(1.0), AttributeError, "@.*defjvp"),
    "no vjp rule": (lambda: xc.custom_vjp(lambda x: x)(1.0), AttributeError, "@.*defvjp"),
    "not a pair": (
        lambda: xc.jvp(rule_jvp(lambda p, t: 1.0), (1.0,), (1.0,)),
        TypeError, r"must return a pair \(result, tangent\), given 1.0",
    ),
    "tangent of another structure": (
        lambda: xc.jvp(rule_jvp(lambda p, t: ({"a": p[0]}, t[0])), (1.0,), (1.0,)),
        ValueError, "rule of <lambda> .*: trees do not match.*\n.*\n",
    ),
    "tangent of another dtype": (
        lambda: xc.jvp(rule_jvp(lambda p, t: ({"a": p[0]}, {"a": np.float16(1)})), (X[0],), (X[0],)),
        TypeError, r"tangent\['a'\] is float16.*need float64",
    ),
    "tangent of another shape": (
        lambda: xc.jvp(rule_jvp(lambda p, t: ({"a": p[0]}, {"a": t[0][None]})), (1.0,), (1.0,)),
        TypeError, r"tangent\['a'\] is float32\[1, weak\], but need float32\[\]",
    ),
    "tangent of an integer": (
        lambda: xc.jvp(rule_jvp(lambda p, t: ({"a": 1}, {"a": t[0]})), (1.0,), (1.0,)),
        TypeError, "float0",
    ),
    "results unlike the function's": (
        lambda: xc.jvp(xc.jit(rule_jvp(lambda p, t: ([p[0]], [t[0]]))), (1.0,), (1.0,)),
        ValueError, "the rule of <lambda>: trees do not match",
    ),
    "results of other types": (
        lambda: xc.jvp(xc.jit(rule_jvp(lambda p, t: ({"a": p[0][None]}, {"a": t[0][None]}))), (1.0,), (1.0,)),
        TypeError, r"returned \(float32\[1\]\)",
    ),
    "not a tuple of cotangents": (
        lambda: xc.grad(rule_vjp(lambda _, g: g))(P), TypeError, "must return a tuple of 1 cotangents",
    ),
    "cotangents of another structure": (
        lambda: xc.grad(rule_vjp(lambda _, g: ({"a": g},)))(P), ValueError, r"tree\[0\].*missing keys \['b'\]",
    ),
    "cotangent of another shape": (
        lambda: xc.grad(rule_vjp(lambda _, g: ({"a": g, "b": g},)))(P),
        TypeError, r"cotangents\[0\]\['b'\] is float32\[\], but need float32\[2\]",
    ),
    "complex cotangent of a real argument": (
        lambda: xc.grad(rule_vjp(lambda _, g: ({"a": None, "b": xnp.ones(2, "complex64")},)))(P),
        TypeError, r"cotangents\[0\]\['b'\] is complex64\[2\], but need float32\[2\]",
    ),
    "forward mode": (
        lambda: xc.jvp(reverse_product, (1.0, 2.0), (1.0, 0.0)), TypeError, "reverse-mode rule only",
    ),
    "forward mode in a program": (
        lambda: xc.jacfwd(xc.jit(reverse_product))(1.0), TypeError, "define the rule with custom_jvp",
    ),
    "not an array": (
        lambda: xc.grad(lambda x: product(x, "two"))(1.0), TypeError, "argument 1 of product is 'two'",
    ),
    "traced argument that is to be static": (
        lambda: xc.jit(xc.custom_jvp(lambda n, x: x, nondiff_argnums=0).__call__)(1, 2.0),
        AttributeError, "no derivative rule",
    ),
    "keyword-only": (
        lambda: xc.grad(lambda x: rule_jvp(print, lambda x, *, n=1: x)(x, n=2))(1.0), TypeError, "keyword-only",
    ),
    "unknown name": (
        lambda: xc.custom_jvp(lambda x: x, nondiff_argnames="n"), ValueError, r"\['n'\].*\['x'\]",
    ),
    "number out of range": (
        lambda: xc.grad(_numbered)(1.0), ValueError, "names argument 3, but <lambda> was given 1",
    ),
    "sum of rules with static arguments": (
        lambda: xc.custom_jvp(lambda n, x: x, nondiff_argnums=0).defjvps(None), TypeError, "nondiff_argnums",
    ),
    "tangent of integers": (
        lambda: xc.grad(rule_jvp(lambda p, t: (p[0], t[0].astype("int32")), lambda x: x))(1.0), TypeError, "int32",
    ),
    "function returns no array": (
        lambda: xc.jit(rule_jvp(print, lambda x: "text"))(1.0), TypeError, "returned 'text'",
    ),
}  # fmt: skip
_numbered = xc.custom_jvp(lambda x: x, nondiff_argnums=(3,))
_numbered.defjvp(lambda p, t: (p[0], t[0]))


@pytest.mark.parametrize(("call", "kind", "text"), ERRORS.values(), ids=ERRORS)
def test_errors_say_what_is_wrong(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_traced_arguments_cannot_be_static():
    f = xc.custom_vjp(lambda n, x: x * n, nondiff_argnums=0)
    f.defvjp(lambda n, x: (f(n, x), None), lambda n, _, g: (g,))
    with pytest.raises(
        TypeError, match="argument 0 of <lambda> is named by nondiff_argnums but is a traced"
    ):
        xc.jit(f)(1.0, 2.0)


def test_a_function_of_tangents_is_transposed_itself():
    """A custom function that another rule applies to its tangents is linear; its program is transposed."""
    double = rule_jvp(lambda p, t: (double(*p), double(*t)), lambda x: 2.0 * x)
    f = rule_jvp(lambda p, t: (xnp.sin(p[0]), double(t[0])), xnp.sin)
    assert float(xc.grad(f)(1.0)) == 2.0
    assert float(xc.grad(xc.jit(f))(1.0)) == 2.0


def test_rules_that_compute_value_and_tangent_in_one_jitted_function():
    """Such a call has known and linear arguments, and results of both kinds."""

    def three_steps(x):
        return lax.scan(lambda x, _: (xnp.sin(xc.jit(xnp.cos)(x)), x), x, None, length=3)[0]

    def pair(p, t):
        return xc.jvp(three_steps, p, t)

    for by in (pair, xc.jit(pair), xc.checkpoint(pair)):
        f = rule_jvp(lambda p, t, by=by: by(p, t), three_steps)
        assert_close(xc.grad(f)(X[0]), xc.grad(three_steps)(X[0]))
        found = xc.jit(lambda x, f=f: (xc.grad(xc.jit(f))(x), xc.grad(xc.grad(f))(x)))(X[0])
        wanted = xc.grad(three_steps)(X[0]), xc.grad(xc.grad(three_steps))(X[0])
        assert_close(found, wanted)


def test_collectives_inside():
    f = rule_jvp(
        lambda p, t: (lax.psum(p[0], "i"), lax.psum(3 * t[0], "i")), lambda x: lax.psum(x, "i")
    )
    g = xc.vmap(f, axis_name="i")
    assert_close(g(X), np.full(3, X.sum()))
    assert_close(xc.jvp(g, (X,), (np.ones(3),))[1], np.full(3, 9.0))
    shared = xc.vmap(lambda x: f(2.0) + x, axis_name="i")
    assert_close(shared(X), 6.0 + X)


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0)])
def test_lanes_of_the_linear_part_of_a_custom_rule(axes):
    """Tangents that are the same in all lanes beside others that are not, transposed."""
    f = xc.custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda x, y: (x * y, (x, y)), lambda r, ct: (2 * ct * r[1], 3 * ct * r[0]))
    x, y, rows = np.array([1.0, 2.0]), np.array([3.0, 5.0]), np.arange(6.0).reshape(3, 2)
    over = xc.vmap(xc.linearize(f, x, y)[1], in_axes=axes)
    given = [rows if a == 0 else rows[0] for a in axes]
    ct = rows + 1
    back = xc.linear_transpose(over, *given)(ct)
    for found, slope, axis in zip(back, (2 * y, 3 * x), axes, strict=True):
        want = slope * ct
        np.testing.assert_allclose(found, want if axis == 0 else want.sum(0), rtol=1e-14)


def _two_results(x, y):
    return x * y, x + y


def test_lanes_of_two_results_in_programs():
    forward = xc.custom_jvp(_two_results)
    forward.defjvp(lambda p, t: (_two_results(*p), (t[0] * p[1] + p[0] * t[1], t[0] + t[1])))
    back = xc.custom_vjp(_two_results)
    back.defvjp(
        lambda *p: (_two_results(*p), p), lambda p, c: (c[0] * p[1] + c[1], c[0] * p[0] + c[1])
    )
    x, ones = np.array([1.0, 2.0, 3.0]), np.ones(3)
    for f in (forward, back, xc.jit(forward), xc.jit(back)):
        lanes = xc.vmap(f, (0, None))
        assert_close(lanes(x, 2.0), (2 * x, x + 2))
        assert_close(xc.vjp(lanes, x, 2.0)[1]((ones, x)), (2 + x, np.float64(x.sum() * 2)))


def test_a_forward_rule_with_other_results_than_its_function_in_programs():
    f = xc.custom_vjp(lambda x: x * 2)
    f.defvjp(lambda x: (xnp.stack([x, x]), None), lambda _, ct: (ct.sum(),))
    with pytest.raises(xc.errors.DTypeError, match="must return the results of the function"):
        xc.grad(lambda x: xc.jit(f)(x).sum())(1.0)


def test_cotangents_for_whole_nodes_and_for_integers():
    @xc.custom_vjp
    def f(pair, n):
        return (pair[0] * pair[1]).sum() * n

    x = xnp.arange(3.0)
    for of_n in (None, 1, np.int32(1), 1.0, xnp.ones(3)):
        f.defvjp(lambda pair, n: (f(pair, n), n), lambda n, g, c=of_n: (g * n * xnp.ones(3), c))
        for got in xc.grad(f)((x, x), 2):
            assert_close(got, np.full(3, 2.0))
    f.defvjp(lambda pair, n: (f(pair, n), n), lambda n, g: (g, None))
    with pytest.raises(TypeError, match=r"cotangents\[0\]\[0\] is float32\[\]"):
        xc.grad(f)((x, x), 2)


@pytest.mark.parametrize("how", ["jvp", "vjp"])
def test_arguments_by_name_with_others_left_out(how):
    """f(x, c=…) where b has a default: the rules see all of them by position."""

    def scaled(x, a=1, b=2, c=3):
        return x * a * b * c

    if how == "jvp":
        f = xc.custom_jvp(scaled, nondiff_argnums=(1, 2, 3))
        f.defjvp(lambda a, b, c, primals, tangents: (f(*primals, a, b, c), 10 * c * tangents[0]))
    else:
        f = xc.custom_vjp(scaled, nondiff_argnums=(1, 2, 3))
        f.defvjp(lambda x, a, b, c: (f(x, a, b, c), None), lambda a, b, c, _, ct: (10 * c * ct,))
    for call, c in ((lambda x: f(x), 3), (lambda x: f(x, c=5), 5), (lambda x: f(x, b=4), 3)):
        assert xc.grad(call)(1.0) == xc.jit(xc.grad(call))(1.0) == 10 * c
    assert f(1.0, c=5) == 10 and f(1.0, b=4) == 12


def test_results_are_as_weak_as_the_function_s_own():
    """Whatever those of its rules are, of jitted functions too."""
    strong = functools.partial(xnp.asarray, dtype="float32")
    forward = {False: xc.custom_jvp(lambda x: 2 * x), True: xc.custom_jvp(lambda x: strong(2 * x))}
    back = {False: xc.custom_vjp(lambda x: 2 * x), True: xc.custom_vjp(lambda x: strong(2 * x))}
    for is_strong in (False, True):
        other = strong if not is_strong else lambda x: x
        forward[is_strong].defjvp(lambda p, t, other=other: (other(2 * p[0]), 2 * t[0]))
        back[is_strong].defvjp(lambda x, other=other: (other(2 * x), None), lambda _, c: (2 * c,))
        for f in (forward[is_strong], back[is_strong]):
            f = xc.jit(f)
            for y in (xc.vjp(f, 3.0)[0], xc.linearize(f, 3.0)[0], xc.value_and_grad(f)(3.0)[0]):
                assert y.weak_type is not is_strong


def test_a_function_of_python_numbers_is_called_in_its_own_rule():
    f = xc.custom_jvp(lambda x: 5.0)
    f.defjvp(lambda primals, tangents: (f(*primals), 3 * tangents[0]))
    for transformed in (xc.grad(f), xc.jit(xc.grad(f)), lambda x: xc.jvp(f, (x,), (1.0,))[1]):
        assert float(transformed(3.0)) == 3


@pytest.mark.parametrize("count", [1, 3])
def test_a_rule_for_each_argument(count):
    f = xc.custom_jvp(lambda x, y: x * y)
    f.defjvps(*[lambda t, out, x, y: t * y] * count)
    for transformed in (xc.grad(f), xc.jit(xc.grad(f))):
        with pytest.raises(TypeError, match=f"a rule for each of 2 arguments, given {count}"):
            transformed(2.0, 3.0)


def _by_a_rule(fwd, bwd):
    f = xc.custom_vjp(lambda x, y: x * y)
    f.defvjp(fwd, bwd)
    return lambda: xc.grad(f)(2.0, 3.0)


def _by_tangents(rule, fixed=()):
    f = xc.custom_jvp(lambda x, y: x * y, nondiff_argnums=fixed)
    f.defjvp(rule)
    return lambda: xc.grad(f)(2.0, 3.0)


PAIR = lambda x, y: (x * y, (x, y))


@pytest.mark.parametrize("call, words", [
    (_by_a_rule(lambda x: (x, x), lambda r, g: (g, g)), r"forward rule .*test_custom.py:\d+\) must take .*\(x, y\), but .*\(x\)"),
    (_by_a_rule(PAIR, lambda g: (g, g)), r"backward rule .*test_custom.py:\d+\) must take \(residuals, cotangent\), but .*\(g\)"),
    (_by_tangents(lambda p: p), r"rule .*test_custom.py:\d+\) must take \(primals, tangents\), but .*\(p\)"),
    (_by_tangents(lambda p, t: p, (1,)), r"must take \(y, primals, tangents\), but .*\(p, t\)"),
])  # fmt: skip
@pytest.mark.parametrize("staged", [False, True])
def test_rules_of_other_arguments_say_where_they_are_written(call, words, staged):
    with pytest.raises(TypeError, match=words):
        xc.jit(call)() if staged else call()


def test_a_mistake_within_a_rule_is_its_own():
    def rule(primals, tangents):
        return len(3), tangents[0]

    with pytest.raises(TypeError, match="object of type 'int' has no len"):
        _by_tangents(rule)()
