"""haiku: modules by names, transformed to functions of parameters."""

import haiku as hk
import jax
import jax.numpy as jnp

KEY = jax.random.PRNGKey(42)
X = jax.random.normal(jax.random.PRNGKey(1), (4, 6))


def _mlp(x):
    return hk.nets.MLP([5, 3])(x)


def first_example():
    f = hk.without_apply_rng(hk.transform(_mlp))
    params = f.init(KEY, X)
    return params, f.apply(params, X), jax.grad(lambda p: jnp.sum(f.apply(p, X) ** 2))(params)


def with_state():
    def net(x, train):
        x = hk.Linear(3)(x)
        x = hk.BatchNorm(True, True, 0.9)(x, train)
        return hk.dropout(hk.next_rng_key(), 0.2, x) if train else x

    f = hk.transform_with_state(net)
    params, state = f.init(KEY, X, True)
    out, state = f.apply(params, state, KEY, X, True)
    return out, state, f.apply(params, state, None, X, False)[0]


def convolutions():
    image = jax.random.normal(KEY, (2, 8, 8, 3))

    def net(x):
        x = hk.Conv2D(4, 3, stride=2)(x)
        x = hk.max_pool(jax.nn.relu(x), 2, 2, "SAME")
        return hk.Linear(2)(hk.Flatten()(hk.Conv2DTranspose(3, 3)(x)))

    f = hk.transform(net)
    params = f.init(KEY, image)
    return f.apply(params, None, image)


def recurrent():
    def net(xs):
        core = hk.LSTM(4)
        out, state = hk.dynamic_unroll(core, xs, core.initial_state(2))
        gru = hk.GRU(3)
        return out, state, hk.static_unroll(gru, out, gru.initial_state(2))[0]

    xs = jax.random.normal(KEY, (5, 2, 3))
    f = hk.transform(net)
    return f.apply(f.init(KEY, xs), None, xs)


def attention():
    def net(x):
        y = hk.MultiHeadAttention(2, 4, w_init=hk.initializers.VarianceScaling(1.0), model_size=8)(
            x, x, x
        )
        return hk.LayerNorm(-1, True, True)(y + hk.Embed(10, 8)(jnp.arange(5)))

    x = jax.random.normal(KEY, (1, 5, 8))
    f = hk.transform(net)
    return f.apply(f.init(KEY, x), None, x)


def own_modules_and_parameters():
    class Scale(hk.Module):
        def __call__(self, x):
            w = hk.get_parameter("w", x.shape[1:], init=hk.initializers.TruncatedNormal())
            n = hk.get_state("n", (), jnp.int32, init=jnp.zeros)
            hk.set_state("n", n + 1)
            return w * x

    f = hk.transform_with_state(lambda x: Scale(name="mine")(x))
    params, state = f.init(KEY, X)
    return f.apply(params, state, None, X), params


def lifted():
    def net(x):
        layer = hk.Linear(6)
        step = lambda c, _: (jnp.tanh(layer(c)), None)
        layer(x)
        out, _ = hk.scan(step, x, None, length=3)
        out = hk.remat(lambda y: hk.Linear(2, name="last")(y))(out)
        return hk.cond(jnp.sum(out) > 0, lambda y: y, lambda y: -y, out)

    f = hk.transform(net)
    params = f.init(KEY, X)
    return f.apply(params, None, X), jax.grad(lambda p: jnp.sum(f.apply(p, None, X)))(params)


def layer_stacks_and_vmap():
    def net(x):
        x = hk.experimental.layer_stack(3)(lambda h: jnp.tanh(hk.Linear(6)(h)))(x)
        return hk.vmap(lambda y: hk.Linear(2, name="v")(y), split_rng=False)(x)

    f = hk.transform(net)
    params = f.init(KEY, X)
    return params, f.apply(params, None, X)


def trees_of_parameters():
    params = hk.transform(_mlp).init(KEY, X)
    weights, biases = hk.data_structures.partition(lambda m, n, v: n == "w", params)
    merged = hk.data_structures.merge(weights, biases)
    return (
        merged,
        jnp.asarray(hk.data_structures.tree_size(params)),
        hk.data_structures.map(lambda m, n, v: v * 2, biases),
    )


def averages_and_norms():
    def net(x):
        return hk.ExponentialMovingAverage(0.9)(x), hk.RMSNorm(-1)(x), hk.GroupNorm(2)(x)

    f = hk.transform_with_state(net)
    params, state = f.init(KEY, X)
    return f.apply(params, state, None, X)
