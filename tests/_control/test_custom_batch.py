"""custom_vmap and sequential_vmap under the other transformations."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax
from xcore.custom_batching import custom_vmap, sequential_vmap
from xcore.testing import assert_close

seen = []


@custom_vmap
def scaled(x, d):
    return {"out": xnp.sin(x) * d["by"], "same": d["by"]}


@scaled.def_vmap
def scaled_rule(axis_size, in_batched, x, d):
    """Ten times the function, so that one sees who was asked."""
    seen.append((axis_size, in_batched))
    out = 10 * xnp.sin(x) * d["by"]
    return {"out": out, "same": d["by"]}, {"out": True, "same": in_batched[1]["by"]}


X = np.linspace(0, 1, 3, dtype=np.float32)
D = {"by": np.float32(2)}


def test_plain_calls_run_the_function():
    for f in (scaled, xc.jit(scaled)):
        assert_close(f(X, D)["out"], 2 * np.sin(X))
    assert_close(scaled(X, d=D)["out"], 2 * np.sin(X))


@pytest.mark.parametrize("wrap", [
    lambda f: xc.vmap(f, (0, None)), lambda f: xc.jit(xc.vmap(f, (0, None))), lambda f: xc.vmap(xc.jit(f), (0, None)),
])  # fmt: skip
def test_vmap_asks_the_rule(wrap):
    seen.clear()
    found = wrap(scaled)(X, D)
    assert_close(found["out"], 20 * np.sin(X))
    assert_close(found["same"], np.full(3, 2.0))
    assert seen == [(3, [True, {"by": False}])]


def test_derivatives():
    slope = xc.grad(lambda x: scaled(x, D)["out"])
    assert_close(slope(0.5), 2 * np.cos(0.5))
    push = lambda x: xc.jvp(lambda x: scaled(x, D)["out"], (x,), (np.float32(1),))
    assert_close(push(np.float32(0.5))[1], 2 * np.cos(0.5))
    values, changes = xc.vmap(push)(X)  # forward mode goes through the rule
    assert_close(values, 20 * np.sin(X)), assert_close(changes, 20 * np.cos(X))
    assert_close(xc.vmap(slope)(X), 2 * np.cos(X))  # reverse mode through the function
    over = lambda x: xc.vmap(lambda x: scaled(x, D)["out"])(x).sum()
    assert_close(xc.grad(over)(X), 20 * np.cos(X))
    assert_close(xc.jit(xc.vmap(xc.jit(push)))(X)[1], 20 * np.cos(X))


def test_in_loops_and_nested():
    def f(x):
        return lax.scan(lambda c, _: (scaled(c, D)["out"], None), x, None, length=2)[0]

    once = 20 * np.sin(X)
    assert_close(xc.vmap(f)(X), 20 * np.sin(once))
    table = np.stack([X, X + 1])
    assert_close(xc.vmap(xc.vmap(lambda x: scaled(x, D)["out"]))(table), 20 * np.sin(table))


def test_sequential():
    calls = []

    def f(x, y):
        calls.append(x.shape)
        return x * y, y

    g = sequential_vmap(f)
    a, b = xc.vmap(g, (0, None))(X, np.float32(3))
    assert_close(a, 3 * X), assert_close(b, np.full(3, 3.0))
    assert set(calls) == {()}
    assert_close(
        xc.grad(lambda x: xc.vmap(g, (0, None))(x, np.float32(3))[0].sum())(X), np.full(3, 3.0)
    )


def test_errors():
    f = custom_vmap(lambda x: x)
    with pytest.raises(AttributeError, match="def_vmap"):
        f(1.0)
    f.def_vmap(lambda n, batched, x: x)
    with pytest.raises(TypeError, match="out_batched"):
        xc.vmap(f)(X)
    f.def_vmap(lambda n, batched, x: (x.sum(), True))
    with pytest.raises(ValueError, match="3 batch elements"):
        xc.vmap(f)(X)

    def closes_over(y):
        g = custom_vmap(lambda x: x * y)
        g.def_vmap(lambda n, batched, x: (x * y, True))
        return g(np.float32(1))

    for transformed in (xc.vmap, xc.grad, lambda f: lambda x: xc.jvp(f, (x,), (x,))):
        with pytest.raises(TypeError, match="closes over"):
            transformed(xc.jit(closes_over))(X if transformed is xc.vmap else X[1])


@pytest.mark.parametrize("wrap", [lambda f: f, xc.jit], ids=["eager", "jit"])
def test_results_of_whole_numbers_alone(wrap):
    """Nothing of them has a tangent."""
    place = custom_vmap(lambda x: xnp.argmax(x))
    place.def_vmap(lambda size, batched, x: (xnp.argmax(x, -1), True))
    x = np.array([1.0, 5.0, 2.0])
    assert wrap(lambda x: xc.jvp(place, (x,), (x,))[0])(x) == 1
    slope = wrap(xc.grad(lambda x: (place(x) * x).sum()))(x)
    np.testing.assert_array_equal(slope, np.ones(3))


@pytest.mark.parametrize("count", [1, 2])
def test_captured_arrays_have_no_tangents(count):
    arrays = [xnp.asarray(4.0), xnp.asarray(np.arange(3.0))][:count]
    f = custom_vmap(lambda x: x**2 * sum(a.sum() for a in arrays))
    f.def_vmap(lambda size, batched, x: (x**2 * sum(a.sum() for a in arrays), True))
    slope = 2 * 3.0 * sum(float(a.sum()) for a in arrays)
    x = xnp.asarray(3.0)
    found = [
        xc.grad(f)(x),
        xc.jit(xc.grad(f))(x),
        xc.linearize(f, x)[1](x) / 3,
        xc.jvp(f, (x,), (x,))[1] / 3,
    ]
    found += [*xc.vmap(xc.grad(f))(xnp.stack([x, x])), xc.jacfwd(f)(x), xc.hessian(f)(x) * 3]
    np.testing.assert_allclose(found, slope, rtol=1e-6)
