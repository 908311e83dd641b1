"""vmap against plain Python loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xcore as xc
import xcore.numpy as xnp


def looped(f, args, in_axes):
    """The reference: apply f to each lane and stack."""
    size = next(a.shape[ax] for a, ax in zip(args, in_axes) if ax is not None)
    lanes = [
        f(*[a if ax is None else np.take(a, i, ax) for a, ax in zip(args, in_axes)])
        for i in range(size)
    ]
    return np.stack([np.asarray(x) for x in lanes])


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_axes(data):
    a = np.arange(24.0, dtype=np.float32).reshape(2, 2, 6)
    b = np.arange(8.0, dtype=np.float32).reshape(2, 2, 2)
    in_axes = (
        data.draw(st.sampled_from([0, 1, -2])),
        data.draw(st.sampled_from([None, 0, 1, 2, -1])),
    )
    out_axis = data.draw(st.sampled_from([0, 1, -1]))
    f = lambda x, y: x.sum(0) * y.sum()
    expected = np.moveaxis(looped(f, (a, b), in_axes), 0, out_axis)
    assert np.allclose(xc.vmap(f, in_axes=in_axes, out_axes=out_axis)(a, b), expected)


def test_trees_keywords_and_prefixes():
    params = {"w": np.ones((3, 2), np.float32), "b": np.float32(2.0)}
    f = lambda p, x, scale: {"y": (p["w"] * x).sum() * scale, "b": p["b"]}
    out = xc.vmap(f, in_axes=({"w": 0, "b": None}, None), out_axes={"y": 0, "b": None})(
        params, np.asarray([1.0, 2.0], np.float32), scale=np.asarray([1.0, 2.0, 3.0], np.float32)
    )
    assert np.allclose(out["y"], [3, 6, 9]) and out["b"].shape == ()


def test_nested_matrix_product_of_dot_products():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    mv = xc.vmap(lambda x, y: xnp.vdot(x, y), (0, None), 0)
    mm = xc.vmap(mv, (None, 1), 1)
    assert np.allclose(mm(a, b), a @ b)


def test_per_example_gradients():
    w, xs, ys = np.ones(3), np.arange(12.0).reshape(4, 3), np.arange(4.0)
    loss = lambda w, x, y: (x @ w - y) ** 2
    got = xc.jit(xc.vmap(xc.grad(loss), in_axes=(None, 0, 0)))(w, xs, ys)
    assert np.allclose(got, 2 * (xs @ w - ys)[:, None] * xs)


def test_unbatched_results_are_spread_and_axis_size():
    assert np.allclose(xc.vmap(lambda x: 7.0)(np.ones(3)), [7, 7, 7])
    assert np.allclose(xc.vmap(lambda: 7.0, axis_size=2)(), [7, 7])


def test_vmap_of_jit_and_jit_of_vmap_of_indexing():
    x, i = np.arange(12.0).reshape(3, 4), np.asarray([3, 0, 2])
    f = lambda row, k: row.at[k].set(-1.0)[k - 1]
    expected = [11 - 9.0, -1 + 8.0, 9.0]
    expected = looped(
        lambda r, k: np.asarray(xnp.asarray(r).at[int(k)].set(-1.0)[int(k) - 1]), (x, i), (0, 0)
    )
    assert np.allclose(xc.vmap(xc.jit(f))(x, i), expected)
    assert np.allclose(xc.jit(xc.vmap(f))(x, i), expected)


# Collectives

LANES = np.asarray([1.0, 2.0, 5.0])


@pytest.mark.parametrize(
    "f, expected",
    [
        (lambda x: xc.lax.psum(x, "i"), [8, 8, 8]),
        (lambda x: xc.lax.pmean(x, "i"), [8 / 3] * 3),
        (lambda x: xc.lax.pmax(x, "i") - xc.lax.pmin(x, "i"), [4, 4, 4]),
        (lambda x: x * xc.lax.axis_size("i"), [3, 6, 15]),
        (lambda x: xc.lax.axis_index("i"), [0, 1, 2]),
        (lambda x: xc.lax.all_gather(x, "i")[::-1], [[5, 2, 1]] * 3),
        (lambda x: xc.lax.ppermute(x, "i", [(0, 1), (1, 2), (2, 0)]), [5, 1, 2]),
        (lambda x: xc.lax.ppermute(x, "i", [(0, 1)]), [0, 1, 0]),
        (lambda x: xc.lax.psum(1, "i") * x, [3, 6, 15]),
        (lambda x: xc.lax.psum({"a": x}, "i")["a"], [8, 8, 8]),
    ],
)
def test_collectives(f, expected):
    assert np.allclose(xc.vmap(f, axis_name="i")(LANES), expected)
    assert np.allclose(xc.jit(xc.vmap(xc.jit(f), axis_name="i"))(LANES), expected)


def test_all_to_all_transposes_lanes_and_axis():
    x = np.arange(9.0).reshape(3, 3)
    assert np.allclose(xc.vmap(lambda r: xc.lax.all_to_all(r, "i", 0, 0), axis_name="i")(x), x.T)


def test_psum_scatter():
    x = np.arange(9.0).reshape(3, 3)
    assert np.allclose(xc.vmap(lambda r: xc.lax.psum_scatter(r, "i"), axis_name="i")(x), x.sum(0))


def test_collectives_over_two_axes_and_inside_loops():
    x = np.arange(6.0).reshape(2, 3)
    both = xc.vmap(xc.vmap(lambda v: xc.lax.psum(v, ("i", "j")), axis_name="j"), axis_name="i")
    assert np.allclose(both(x), 15)
    outer = xc.vmap(xc.vmap(lambda v: xc.lax.psum(v, "i"), axis_name="j"), axis_name="i")
    assert np.allclose(outer(x), np.broadcast_to(x.sum(0), (2, 3)))
    loop = lambda v: xc.lax.fori_loop(0, 2, lambda _, a: a + xc.lax.psum(v, "i"), v)
    assert np.allclose(xc.vmap(loop, axis_name="i")(LANES), LANES + 16)


def test_gradient_through_collectives():
    f = lambda x: xc.vmap(lambda v: v / xc.lax.psum(v, "i"), axis_name="i")(x)[0]
    x = LANES
    total = x.sum()
    expected = np.asarray([1 / total, 0, 0]) - x[0] / total**2
    assert np.allclose(xc.grad(f)(x.astype(np.float64)), expected)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: xc.vmap(lambda a, b: a)(np.ones(2), np.ones(3)),
            "argument a has size 2.*argument b has size 3",
        ),
        (lambda: xc.vmap(lambda a: a)(1.0), "no axis 0"),
        (lambda: xc.vmap(lambda a: a, in_axes=None)(np.ones(2)), "nothing to map"),
        (lambda: xc.vmap(lambda a: a, in_axes=(0, 0))(np.ones(2)), "in_axes has 2 entries"),
        (lambda: xc.vmap(lambda a: a, out_axes=None)(np.ones(2)), "differs between batch elements"),
        (lambda: xc.vmap(3), "expected a function"),
        (lambda: xc.vmap(lambda a: xc.lax.psum(a, "nope"))(np.ones(2)), "no axis named 'nope'"),
        (lambda: xc.vmap(lambda n: xnp.ones(n))(np.arange(3)), "shape must be made of Python ints"),
    ],
)
def test_errors_explain(call, message):
    with pytest.raises((TypeError, ValueError, NameError), match=message):
        call()


def test_what_all_lanes_share_may_be_anything():
    power = xc.jit(lambda x, n, name: {"cube": x**n}[name], static_argnums=(1, 2))
    mapped = xc.vmap(power, in_axes=(0, None, None))
    assert mapped(xnp.arange(3.0), 3, "cube").tolist() == [0, 1, 8]
    table = xc.vmap(lambda w, x: w.at[0].set(x), in_axes=(None, 0))(
        np.zeros(2, np.float32), xnp.arange(3.0)
    )
    assert table[:, 0].tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="argument x"):
        xc.vmap(lambda x: x)("cube")


@pytest.mark.parametrize("axes", [1.0, (1.0,), "a", {0: 1}, (True,), ((0, "b"),), [0.0]])
def test_axes_that_are_none_are_refused_at_once(axes):
    with pytest.raises(TypeError, match="in_axes must be an int, None, or a tuple"):
        xc.vmap(lambda x: x, in_axes=axes)


@pytest.mark.parametrize("axes", [0, -3, None, (None,), [0], ((0, {"a": None}),)])
def test_axes_are_checked_against_arguments_later(axes):
    assert callable(xc.vmap(lambda x: x, in_axes=axes))
