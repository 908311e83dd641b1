"""flax.linen: modules as functions of their variables, lifted transformations, training with optax."""

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import serialization, struct, traverse_util
from flax.core import freeze, unfreeze
from flax.training import train_state

KEY = jax.random.PRNGKey(0)
X = jax.random.normal(jax.random.PRNGKey(1), (8, 4))


class MLP(nn.Module):
    features: tuple = (6, 2)

    @nn.compact
    def __call__(self, x):
        for i, n in enumerate(self.features):
            x = nn.Dense(n, name=f"layer_{i}")(x)
            x = nn.relu(x) if i + 1 < len(self.features) else x
        return x


class CNN(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        x = nn.relu(nn.Conv(4, (3, 3))(x))
        x = nn.avg_pool(x, (2, 2), (2, 2))
        x = nn.BatchNorm(use_running_average=not train)(x)
        x = nn.Dropout(0.3, deterministic=not train)(x)
        return nn.Dense(3)(x.reshape((x.shape[0], -1)))


def first_example():
    model = nn.Dense(features=5)
    params = model.init(KEY, X)
    return params, model.apply(params, X)


def training():
    model = MLP()
    y = jnp.stack([X[:, 0] * X[:, 1], X[:, 2]], -1)
    state = train_state.TrainState.create(
        apply_fn=model.apply, params=model.init(KEY, X)["params"], tx=optax.adam(1e-2)
    )

    @jax.jit
    def step(state):
        loss, g = jax.value_and_grad(
            lambda p: jnp.mean((state.apply_fn({"params": p}, X) - y) ** 2)
        )(state.params)
        return state.apply_gradients(grads=g), loss

    losses = []
    for _ in range(10):
        state, loss = step(state)
        losses.append(loss)
    return jnp.stack(losses), state.params


def convolutional_with_state():
    image = jax.random.normal(KEY, (4, 8, 8, 1))
    variables = CNN().init(KEY, image)
    out, changed = CNN().apply(
        variables,
        image,
        train=True,
        mutable=["batch_stats"],
        rngs={"dropout": jax.random.PRNGKey(5)},
    )
    return variables, out, changed, CNN().apply(variables, image)


def lifted_scan_and_vmap():
    scanned = nn.scan(
        nn.SimpleCell,
        variable_broadcast="params",
        split_rngs={"params": False},
        in_axes=1,
        out_axes=1,
    )(features=3)
    xs = jax.random.normal(KEY, (2, 5, 3))
    carry = jnp.zeros((2, 3))
    params = scanned.init(KEY, carry, xs)
    many = nn.vmap(nn.Dense, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=0)(
        features=2
    )
    stacked = many.init(KEY, jnp.ones((3, 4)))
    return params, scanned.apply(params, carry, xs), stacked, many.apply(stacked, jnp.ones((3, 4)))


def remat_jit_and_setup():
    class Outer(nn.Module):
        def setup(self):
            self.inner = nn.remat(MLP)(name="inner")
            self.scale = self.param("scale", nn.initializers.ones, (2,))

        def __call__(self, x):
            return nn.jit(lambda m, x: m.inner(x))(self, x) * self.scale

    model = Outer()
    params = model.init(KEY, X)
    return jax.grad(lambda p: jnp.sum(model.apply(p, X) ** 2))(params)


def attention_and_recurrent():
    x = jax.random.normal(KEY, (2, 5, 8))
    att = nn.MultiHeadDotProductAttention(num_heads=2, qkv_features=8)
    p = att.init(KEY, x, x)
    rnn = nn.RNN(nn.LSTMCell(4))
    q = rnn.init(KEY, x)
    return att.apply(p, x, x, mask=nn.make_causal_mask(x[..., 0])), rnn.apply(q, x)


def norms_and_embeddings():
    made = [
        nn.LayerNorm(),
        nn.RMSNorm(),
        nn.GroupNorm(2),
        nn.WeightNorm(nn.Dense(3)),
        nn.DenseGeneral((2, 3)),
    ]
    outs = [m.init_with_output(KEY, X)[0] for m in made]
    return outs, nn.Embed(7, 3).init_with_output(KEY, jnp.asarray([1, 4]))


def state_as_bytes():
    params = MLP().init(KEY, X)
    again = serialization.from_bytes(params, serialization.to_bytes(params))
    flat = traverse_util.flatten_dict(unfreeze(freeze(params)), sep="/")
    return again, flat, jnp.asarray(len(flat))


def sown_and_perturbed():
    class Sower(nn.Module):
        @nn.compact
        def __call__(self, x):
            h = nn.Dense(3)(x)
            self.sow("intermediates", "h", h)
            h = self.perturb("h_grad", h)
            return jnp.sum(h**2)

    model = Sower()
    v = model.init(KEY, X)
    out, kept = model.apply(v, X, mutable=["intermediates"])
    g = jax.grad(lambda p: model.apply({"params": v["params"], "perturbations": p}, X))(
        v["perturbations"]
    )
    return out, kept, g


def dataclasses_and_tables():
    @struct.dataclass
    class State:
        x: Any
        n: int = struct.field(pytree_node=False, default=3)

    s = jax.jit(lambda s: s.replace(x=s.x * s.n))(State(jnp.ones(2)))
    text = nn.tabulate(MLP(), KEY)(X)
    lazy = MLP().lazy_init(KEY, jax.ShapeDtypeStruct((8, 4), jnp.float32))
    return s, jnp.asarray("layer_1" in text), lazy


def carried_while():
    class Loop(nn.Module):
        @nn.compact
        def __call__(self, x):
            dense = nn.Dense(4)
            dense(x)
            cond = lambda m, c: c[0] < 3
            body = lambda m, c: (c[0] + 1, m(c[1]))
            return nn.while_loop(
                cond, body, dense, (0, x), carry_variables=[], broadcast_variables="params"
            )

    params = Loop().init(KEY, X)
    return Loop().apply(params, X)
