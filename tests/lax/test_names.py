"""Names of JAX's lax that programs look for: what they compute."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax


@pytest.mark.parametrize("name", ["pargmin", "pargmax"])
def test_where_along_named_axes(name):
    x = np.random.default_rng(0).integers(0, 4, (3, 5)).astype("float32")
    f, numpy = getattr(lax, name), getattr(np, name[1:])
    got = xc.vmap(lambda v: f(v, "i"), axis_name="i")(x)
    np.testing.assert_array_equal(got, np.broadcast_to(numpy(x, 0), (3, 5)))
    both = xc.vmap(xc.vmap(lambda v: f(v, ("i", "j")), axis_name="j"), axis_name="i")(x)
    np.testing.assert_array_equal(both, np.full((3, 5), numpy(x)))
    tree = xc.vmap(lambda t: f(t, "i"), axis_name="i")({"a": x, "b": -x})
    np.testing.assert_array_equal(tree["b"][0], numpy(-x, 0))


@pytest.mark.parametrize("kind", ["SAME", "VALID", "SAME_LOWER"])
def test_pads_by_name(kind):
    pads = lax.padtype_to_pads((5, 6, 1), (3, 2, 4), (1, 2, 3), kind)
    x = xnp.ones((1, 1, 5, 6, 1))
    by_name, by_pads = (
        lax.conv_general_dilated(x, xnp.ones((1, 1, 3, 2, 4)), (1, 2, 3), p).shape
        for p in (kind, pads)
    )
    assert by_name == by_pads and all(isinstance(p, tuple) for p in pads)


def test_scatter_apply():
    x, at = xnp.arange(12.0).reshape(4, 3), xnp.asarray([[2], [0]])
    dims = lax.ScatterDimensionNumbers((1,), (0,), (0,))
    got = xc.jit(lambda x: lax.scatter_apply(x, at, lambda w: 10 * w, dims, update_shape=(2, 3)))(x)
    np.testing.assert_array_equal(got, np.asarray(x) * [[10], [1], [10], [1]])
    slope = xc.grad(lambda x: lax.scatter_apply(x, at, xnp.sin, dims, update_shape=(2, 3)).sum())(x)
    np.testing.assert_allclose(slope[1], 1)
    np.testing.assert_allclose(slope[2], np.cos(np.asarray(x[2])), rtol=1e-5)
    with pytest.raises(ValueError, match="keeps the shape"):
        lax.scatter_apply(x, at, lambda w: w[0], dims, update_shape=(2, 3))


def test_specs_with_sums_to_come():
    import pickle

    plain, waiting = xc.P("x", None), xc.P("x", None, unreduced={"y"})
    assert waiting.unreduced == {"y"} and waiting != plain and plain == ("x", None)
    assert hash(waiting) == hash(xc.P("x", None, unreduced={"y"})) and "unreduced={'y'}" in repr(
        waiting
    )
    assert pickle.loads(pickle.dumps(waiting)) == waiting and (plain + waiting).unreduced == {"y"}


@pytest.mark.parametrize("name", ["add", "multiply", "subtract", "maximum"])
@pytest.mark.parametrize("starts", [[0, 4, 1, 5], [3], [7, 0], [2, 2, 2]])
def test_stretches_at_traced_positions(name, starts):
    x, ufunc = np.arange(1.0, 9.0), getattr(xnp, name)
    want = getattr(np, name).reduceat(x, starts)
    np.testing.assert_allclose(xc.jit(lambda i: ufunc.reduceat(x, i))(np.array(starts)), want)
    rows = np.stack([x, -x])
    got = xc.jit(lambda i: ufunc.reduceat(rows, i, axis=1))(np.array(starts))
    np.testing.assert_allclose(got, getattr(np, name).reduceat(rows, starts, axis=1))


@pytest.mark.parametrize(
    "mode", ["off", "tracebackhide", "remove_frames", "quiet_remove_frames", "auto"]
)
def test_modes_of_tracebacks(mode):
    before = xc.config.traceback_filtering
    try:
        xc.config.update("jax_traceback_filtering", mode)
        with pytest.raises(TypeError) as failed:
            xnp.sin("text")
        ours = [
            f for f in failed.traceback if "xcore" in str(f.path) and "tests" not in str(f.path)
        ]
        assert bool(ours) == (mode == "off")
    finally:
        xc.config.update("traceback_filtering", before)


def test_only_what_is_meant_for_users_is_there():
    scope: dict = {}
    exec("from xcore.lax import *", scope)
    assert {n for n in scope if n[0] != "_"} == set(lax.__all__)
    assert {n for n in dir(lax) if n[0] != "_"} <= set(lax.__all__)
