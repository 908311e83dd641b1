"""jaxtyping: annotations of shapes and dtypes, checked when functions run."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Complex, Float, Int, Key, PyTree, Shaped, jaxtyped


def first_example():
    x = jnp.ones((2, 3))
    return jnp.asarray(
        [
            isinstance(x, Float[Array, "2 3"]),
            isinstance(x, Float[Array, "3 2"]),
            isinstance(x, Int[Array, "2 3"]),
            isinstance(x, Float[Array, "... 3"]),
        ]
    )


def kinds():
    values = [
        jnp.ones(2),
        jnp.arange(2),
        jnp.ones(2) > 0,
        1j * jnp.ones(2),
        jnp.ones(2, jnp.bfloat16),
    ]
    kinds_ = [Float, Int, Bool, Complex, Shaped]
    return jnp.asarray([[isinstance(v, k[Array, "2"]) for k in kinds_] for v in values])


def bound_names():
    @jaxtyped(typechecker=None)
    def same(x, y):
        ok = isinstance(x, Float[Array, "a b"]) and isinstance(y, Float[Array, "b a"])
        return ok

    return jnp.asarray(
        [same(jnp.ones((2, 3)), jnp.ones((3, 2))), same(jnp.ones((2, 3)), jnp.ones((2, 3)))]
    )


def under_jit():
    seen = []

    @jax.jit
    def f(x):
        seen.append(isinstance(x, Float[Array, "n"]))
        return x * 2

    out = f(jnp.ones(3))
    return out, jnp.asarray(seen)


def trees():
    tree = {"a": jnp.ones(2), "b": (jnp.ones(3),)}
    return jnp.asarray(
        [isinstance(tree, PyTree[Float[Array, "..."]]), isinstance(tree, PyTree[Int[Array, "..."]])]
    )


def keys():
    k = jax.random.key(0)
    return jnp.asarray(
        [isinstance(k, Key[Array, ""]), isinstance(jax.random.split(k, 3), Key[Array, "3"])]
    )
