"""equinox: modules, filtered transformations, checkpointed loops, checks, files."""

import io

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import jax.tree_util as jtu
import optax

KEY = jr.PRNGKey(0)


class Linear(eqx.Module):
    weight: jax.Array
    bias: jax.Array

    def __init__(self, n, m, key):
        wkey, bkey = jr.split(key)
        self.weight = jr.normal(wkey, (m, n))
        self.bias = jr.normal(bkey, (m,))

    def __call__(self, x):
        return self.weight @ x + self.bias


def first_example():
    @jax.jit
    @jax.grad
    def slope(model, x, y):
        return jnp.mean((jax.vmap(model)(x) - y) ** 2)

    g = slope(Linear(2, 3, KEY), jnp.ones((4, 2)), jnp.zeros((4, 3)))
    return g.weight, g.bias


def mlp_training():
    model = eqx.nn.MLP(2, 1, 8, 2, key=KEY)
    x = jr.normal(jr.PRNGKey(1), (16, 2))
    y = x[:, :1] * x[:, 1:]
    tx = optax.adam(1e-2)
    state = tx.init(eqx.filter(model, eqx.is_inexact_array))

    @eqx.filter_jit
    def step(model, state):
        loss = lambda m: jnp.mean((jax.vmap(m)(x) - y) ** 2)
        value, g = eqx.filter_value_and_grad(loss)(model)
        updates, state = tx.update(g, state, model)
        return eqx.apply_updates(model, updates), state, value

    for _ in range(15):
        model, state, value = step(model, state)
    return value, jax.vmap(model)(x)


def convolutions_and_norms():
    keys = jr.split(KEY, 4)
    x = jr.normal(keys[0], (3, 8, 8))
    conv = eqx.nn.Conv2d(3, 4, 3, stride=2, padding=1, key=keys[1])
    up = eqx.nn.ConvTranspose2d(4, 2, 3, stride=2, key=keys[2])
    pool, norm = eqx.nn.MaxPool2d(2, 2), eqx.nn.GroupNorm(2, 4)
    y = conv(x)
    return y, up(y), pool(y), norm(y), eqx.nn.AdaptiveAvgPool2d(2)(y)


def recurrent_cells():
    keys = jr.split(KEY, 3)
    xs = jr.normal(keys[0], (5, 3))
    gru, lstm = eqx.nn.GRUCell(3, 4, key=keys[1]), eqx.nn.LSTMCell(3, 4, key=keys[2])
    h, _ = jax.lax.scan(lambda h, x: (gru(x, h), None), jnp.zeros(4), xs)
    hc, _ = jax.lax.scan(lambda c, x: (lstm(x, c), None), (jnp.zeros(4), jnp.zeros(4)), xs)
    return h, hc


def attention_and_embedding():
    keys = jr.split(KEY, 3)
    e = eqx.nn.Embedding(10, 8, key=keys[0])
    x = jax.vmap(e)(jnp.arange(5))
    att = eqx.nn.MultiheadAttention(2, 8, key=keys[1])
    mask = jnp.tril(jnp.ones((5, 5), bool))
    return att(x, x, x, mask=mask), eqx.nn.RotaryPositionalEmbedding(8)(x)


def batch_norm_state():
    model, state = eqx.nn.make_with_state(eqx.nn.BatchNorm)(3, axis_name="batch", mode="ema")
    x = jr.normal(KEY, (6, 3))
    out, state = jax.vmap(model, axis_name="batch", in_axes=(0, None), out_axes=(0, None))(x, state)
    frozen = eqx.nn.inference_mode(model)
    again, _ = jax.vmap(frozen, axis_name="batch", in_axes=(0, None), out_axes=(0, None))(x, state)
    return out, again


def checkpointed_loop():
    def f(x):
        step = lambda c: (c[0] + 1, jnp.sin(c[1]) * 1.1)
        return eqx.internal.while_loop(
            lambda c: c[0] < 9, step, (0, x), max_steps=16, kind="checkpointed", checkpoints=3
        )[1]

    return jax.value_and_grad(f)(0.7), jax.vmap(jax.grad(f))(jnp.asarray([0.1, 0.5]))


def bounded_loop_and_scan():
    def f(x):
        return eqx.internal.while_loop(
            lambda c: c < 5.0, lambda c: c * 1.5, x, max_steps=16, kind="bounded"
        )

    def g(x):
        return eqx.internal.scan(
            lambda c, y: (c * y, c), x, jnp.arange(1.0, 5.0), kind="checkpointed"
        )

    return jax.value_and_grad(f)(0.7), jax.jacrev(lambda x: g(x)[1])(1.3), g(0.4)


def custom_rules():
    @eqx.filter_custom_vjp
    def f(x, scale):
        return x**2 * scale

    @f.def_fwd
    def fwd(perturbed, x, scale):
        return x**2 * scale, (x, scale)

    @f.def_bwd
    def bwd(residuals, g, perturbed, x, scale):
        return 10.0 * residuals[0] * residuals[1] * g

    primal, tangent = eqx.filter_jvp(lambda x, y: jnp.sin(x) * y, (0.5, 2.0), (1.0, None))
    return jax.grad(f)(jnp.asarray(3.0), 2.0), primal, tangent


def closure_conversion():
    w = jnp.arange(3.0)
    f = eqx.filter_closure_convert(lambda x: jnp.sum(jnp.tanh(x * w)), jnp.ones(3))
    closed = eqx.filter_make_jaxpr(lambda x: jnp.exp(x) + 1)(jnp.float32(1.0))[0]
    return (
        f(2 * jnp.ones(3)),
        jax.grad(lambda x: f(x))(jnp.ones(3)),
        jax.core.eval_jaxpr(closed.jaxpr, closed.consts, jnp.float32(0.3)),
    )


def surgery_and_files():
    model = eqx.nn.MLP(2, 2, 4, 1, key=KEY)
    changed = eqx.tree_at(lambda m: m.layers[0].bias, model, jnp.ones(4))
    kept = io.BytesIO()
    eqx.tree_serialise_leaves(kept, changed)
    kept.seek(0)
    again = eqx.tree_deserialise_leaves(kept, model)
    dynamic, static = eqx.partition(again, eqx.is_array)
    total = jtu.tree_reduce(lambda a, x: a + jnp.sum(x), dynamic, 0.0)
    return again(jnp.ones(2)), total, eqx.combine(dynamic, static)(jnp.zeros(2))


def errors_and_ensembles():
    def checked(x):
        x = eqx.error_if(x, x < 0, "negative")
        return jnp.sqrt(x)

    try:
        eqx.filter_jit(checked)(jnp.asarray(-1.0)).block_until_ready()
        told = 0
    except Exception as e:
        told = int("negative" in str(e))
    made = eqx.filter_vmap(lambda k: eqx.nn.Linear(2, 3, key=k))(jr.split(KEY, 4))
    out = eqx.filter_vmap(lambda m, x: m(x), in_axes=(eqx.if_array(0), None))(made, jnp.ones(2))
    return eqx.filter_jit(checked)(jnp.asarray(4.0)), jnp.asarray(told), out
