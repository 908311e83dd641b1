"""chex: assertions, dataclasses, variants."""

import chex
import jax
import jax.numpy as jnp


def _told(f, *args):
    try:
        f(*args)
    except AssertionError:
        return True
    return False


def first_example():
    @chex.dataclass
    class Parameters:
        x: chex.ArrayDevice
        y: chex.ArrayDevice

    p = Parameters(x=jnp.ones((2, 2)), y=jnp.ones((1, 2)))
    return jax.tree.map(lambda v: 2.0 * v, p), p.replace(y=jnp.zeros(3)).y


def shapes_and_types():
    x, y = jnp.ones((2, 3)), jnp.arange(3)
    return jnp.asarray(
        [
            _told(chex.assert_shape, x, (2, 3)),
            _told(chex.assert_shape, x, (3, None)),
            _told(chex.assert_rank, x, 1),
            _told(chex.assert_type, [x, y], [float, int]),
            _told(chex.assert_type, y, float),
            _told(chex.assert_equal_shape, [x, y]),
            _told(chex.assert_scalar, 3),
            _told(chex.assert_axis_dimension, x, 1, 3),
            _told(chex.assert_tree_all_finite, {"a": jnp.asarray([1.0, jnp.nan])}),
        ]
    )


def trees():
    a, b = {"x": jnp.ones(2)}, {"x": jnp.ones(2) + 1e-8}
    return jnp.asarray(
        [
            _told(chex.assert_trees_all_close, a, b),
            _told(chex.assert_trees_all_equal_shapes, a, {"x": jnp.ones(3)}),
            _told(chex.assert_trees_all_equal_structs, a, {"y": 1}),
            _told(chex.assert_trees_all_equal, a, {"x": jnp.zeros(2)}),
        ]
    )


def traced_once():
    @chex.assert_max_traces(n=1)
    def f(x):
        return x + 1

    g = jax.jit(f)
    g(jnp.ones(2))
    g(jnp.zeros(2))
    return jnp.asarray(_told(g, jnp.ones(3)))


def values_under_jit():
    @chex.chexify
    @jax.jit
    def f(x):
        chex.assert_tree_all_finite(x)
        return jnp.log(x)

    f(jnp.ones(2))
    f.wait_checks()

    def bad():
        f(jnp.asarray([jnp.nan, 1.0]))
        f.wait_checks()

    return jnp.asarray(_told(bad))


def mappable_and_dims():
    @chex.dataclass(mappable_dataclass=True)
    class M:
        a: chex.Array
        b: chex.Array

    m = M(a=jnp.ones(2), b=jnp.zeros(2))
    dims = chex.Dimensions(B=2, T=3)
    chex.assert_shape(jnp.ones((2, 3)), dims["BT"])
    return dict(m), jnp.asarray(len(m))


def fakes():
    with chex.fake_jit():
        a = jax.jit(lambda x: x * 2)(jnp.ones(2))
    with chex.fake_vmap_and_pmap() if hasattr(chex, "fake_vmap_and_pmap") else chex.fake_jit():
        b = jax.jit(lambda x: x * 3)(jnp.ones(2))
    return a, b
