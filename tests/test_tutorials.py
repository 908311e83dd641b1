"""What JAX tutorials do, and the names by which they do it, with nothing changed but the imports."""

from functools import partial

import numpy as np
import pytest

import xcore as jax
import xcore.numpy as jnp
from xcore import grad, jit, lax, random, vmap
from xcore.experimental.checkify import check, checkify
from xcore.tree_util import register_pytree_node_class


def objective(params):
    return (params**2).sum()


def l2_step(params, updates, learning_rate=0.1, l2=1e-5):
    return learning_rate * (updates + l2 * params)


def unrolled(obj, opt, params, steps):
    for _ in range(steps):
        value, updates = jax.value_and_grad(obj)(params)
        params -= opt(params, updates)
    return value, params


def step_of(obj, opt):
    def step(i, state):
        value, updates = jax.value_and_grad(obj)(state[1])
        return value, state[1] - opt(state[1], updates)

    return step


def counted(obj, opt, params, steps):
    return lax.fori_loop(0, steps, step_of(obj, opt), (0.0, params))


def until_small(obj, opt, params, steps):
    more = lambda state: state[0] >= 1e-1
    step = step_of(obj, opt)
    return lax.while_loop(more, lambda s: step(0, s), (float("+inf"), params))


@pytest.mark.parametrize("loop, steps", [(unrolled, 4), (counted, 4), (until_small, 8)])
def test_an_optimizer_in_three_loops(loop, steps):
    compiled = jit(loop, static_argnums=(0, 1, 3))
    value, params = compiled(objective, l2_step, jnp.ones(2), steps)
    factor = 1 - 0.1 * (2 + 1e-5)
    taken = steps
    if loop is until_small:  # it stops one step behind the first point whose value is below a tenth
        taken = 1 + next(n for n in range(100) if 2 * factor ** (2 * n) < 0.1)
        assert float(value) < 0.1
    np.testing.assert_allclose(params, np.full(2, factor**taken), rtol=1e-5)
    assert "stablehlo" in compiled.lower(objective, l2_step, jnp.ones(2), steps).as_text()


def test_checks_and_the_error_they_replace():
    def double(value):
        value = jnp.asarray(value)
        if (value < 0).any():
            raise ValueError("negative")
        return 2 * value

    with pytest.raises(jax.errors.ConcretizationTypeError, match="value"):
        jit(double)(1.0)

    def checked(value):
        value = jnp.asarray(value)
        check((value >= 0).any(), "Expected a non-negative value.")
        return 2 * value

    error, result = jit(checkify(checked))(1.0)
    error.throw()
    assert float(result) == 2
    error, _ = jit(checkify(checked))(-1.0)
    with pytest.raises(ValueError, match="non-negative"):
        error.throw()


def test_a_class_of_ones_own():
    @register_pytree_node_class
    class Canonical:
        def __init__(self, cores, shape, rank):
            self.cores, self.shape, self.rank = cores, tuple(shape), rank

        def tree_flatten(self):
            return self.cores, {"shape": self.shape, "rank": self.rank}

        @classmethod
        def tree_unflatten(cls, structure, leaves):
            return cls(leaves, **structure)

    def element(cp, index):
        return cp.cores[0][index[0]] @ cp.cores[1][index[1]]

    cp = Canonical([jnp.ones((3, 2)), jnp.ones((3, 2))], (3, 3), 2)
    assert float(jit(element)(cp, (0, 0))) == float(jit(element)(cp, (1, 2))) == 2
    leaves, structure = jax.tree_util.tree_flatten(cp)
    assert jax.tree_util.tree_unflatten(structure, leaves).rank == 2


def test_old_names():
    x = jnp.arange(5)
    assert jnp.alltrue(jax.ops.index_add(x, 4, 6) == x.at[4].add(6))
    assert jnp.alltrue(jax.ops.index_update(x, jax.ops.index[1:3], 9) == x.at[1:3].set(9))
    assert jnp.alltrue(jax.ops.index_min(x, 4, -1) == x.at[4].min(-1))
    assert jax.tree_multimap(lambda a, b: a + b, [1, 2], [3, 4]) == [4, 6]
    assert jax.tree_map(lambda a: 2 * a, {"a": 1}) == {"a": 2}
    drawn = random.randint(random.PRNGKey(0), minval=0, maxval=5, shape=[2], dtype=jnp.int32)
    assert (drawn + 5.0).dtype == jnp.float32 and (jnp.int8(32) + 4).dtype == jnp.int8
    with pytest.raises(jax.errors.UnexpectedTracerError):
        kept = []
        jit(lambda v: kept.append(v))(1.0)
        kept[0] + 1


def test_a_matrix_product_of_dot_products():
    dot = lambda x, y: jnp.vdot(x, y)
    matvec = vmap(dot, (0, None), 0)
    a, b = np.arange(12.0).reshape(4, 3), np.arange(6.0).reshape(3, 2)
    for mapped in (vmap, jax.pmap):
        np.testing.assert_allclose(mapped(matvec, (None, 1), 1)(a, b), a @ b)
    with pytest.raises(TypeError, match="by name"):
        jax.pmap(dot, "i", 0)


def test_positional_shardings():
    sharding = jax.sharding.PositionalSharding(jax.devices()[:8]).reshape(4, 2)
    batch = jax.device_put(jnp.ones((8, 4)), sharding.replicate(1))
    wide = jax.device_put(jnp.ones((4, 4)), sharding.replicate(0))
    tall = jax.device_put(jnp.ones((4, 4)), sharding.replicate(0).T)
    out = jit(lambda x, a, b: (x @ a) @ b)(batch, wide, tall)
    np.testing.assert_array_equal(out, np.full((8, 4), 16.0))


def test_failures_that_explain():
    with pytest.raises(TypeError, match="shape"):
        vmap(lambda n: jnp.sum(jnp.ones((n,))))(jnp.arange(1, 4))
    with pytest.raises(TypeError, match="static"):
        jit(lambda x, how: x)(42, "add")
    with pytest.raises(TypeError, match="asarray"):
        jnp.sum([1, 2, 3])
    with pytest.raises(TypeError, match=r"\.at\["):
        jnp.ones(3)[0] = 1.0


def test_derivatives_of_derivatives():
    third = jit(jax.jacobian(jax.jacobian(grad(objective))))
    np.testing.assert_array_equal(third(jnp.ones(2)), np.zeros((2, 2, 2)))
    assert float(grad(grad(lambda x: x**2))(4.0)) == 2


def test_a_markov_chain():
    @partial(jit, static_argnums=2)
    def sample(key, matrix, length):
        def step(state, key):
            following = random.categorical(key, jnp.log(matrix[state]))
            return following, following

        return lax.scan(step, 0, random.split(key, length))[1]

    moves = np.asarray(sample(random.PRNGKey(0), jnp.array([[0.1, 0.9], [1.0, 0.0]]), 200))
    assert set(moves) == {0, 1} and not ((moves[:-1] == 1) & (moves[1:] == 1)).any()
