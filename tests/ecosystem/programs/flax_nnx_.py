"""flax.nnx: modules that hold their state, lifted transformations, training with optax."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class MLP(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(2, 8, use_bias=False, rngs=rngs)  # its slope behind a norm is noise
        self.drop = nnx.Dropout(0.2, rngs=rngs)
        self.norm = nnx.BatchNorm(8, rngs=rngs)
        self.last = nnx.Linear(8, 1, rngs=rngs)

    def __call__(self, x):
        return self.last(self.drop(nnx.relu(self.norm(self.first(x)))))


X = jax.random.normal(jax.random.PRNGKey(1), (16, 2))
Y = jnp.sin(X[:, :1]) * X[:, 1:]


def first_example():
    model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
    return model(jnp.ones((1, 2))), model.kernel[...], model.bias[...]


def training():
    model = MLP(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)

    @nnx.jit
    def step(model, optimizer, x, y):
        loss, g = nnx.value_and_grad(lambda m: jnp.mean((m(x) - y) ** 2))(model)
        optimizer.update(model, g)
        return loss

    losses = [step(model, optimizer, X, Y) for _ in range(10)]
    model.eval()
    return jnp.stack(losses), model(X), model.norm.mean[...]


def split_and_merge():
    model = MLP(nnx.Rngs(3))
    graph, params, rest = nnx.split(model, nnx.Param, ...)

    @jax.jit
    def f(params, rest, x):
        m = nnx.merge(graph, params, rest)
        m.eval()
        return m(x)

    flat = nnx.to_flat_state(params)
    return f(params, rest, X), [v[...] for _, v in flat]


def scan_over_layers():
    class Block(nnx.Module):
        def __init__(self, rngs):
            self.linear = nnx.Linear(4, 4, rngs=rngs)

        def __call__(self, x):
            return nnx.tanh(self.linear(x))

    @nnx.split_rngs(splits=3)
    @nnx.vmap(in_axes=0, out_axes=0)
    def make(rngs):
        return Block(rngs)

    blocks = make(nnx.Rngs(0))

    @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
    def forward(x, block):
        return block(x)

    return forward(jnp.ones((2, 4)), blocks), blocks.linear.kernel.shape[0] * jnp.ones(1)


def counts_and_custom_variables():
    class Count(nnx.Variable):
        pass

    class Counter(nnx.Module):
        def __init__(self):
            self.n = Count(jnp.asarray(0))
            self.w = nnx.Param(jnp.asarray(2.0))

        def __call__(self, x):
            self.n[...] += 1
            return self.w * x

    c = Counter()
    f = nnx.jit(lambda c, x: c(x))
    out = [f(c, float(k)) for k in range(3)]
    return out, c.n[...], nnx.state(c, Count)["n"][...]


def layers():
    rngs = nnx.Rngs(0)
    image = jax.random.normal(jax.random.PRNGKey(2), (2, 8, 8, 3))
    words = jnp.asarray([[1, 2, 3]])
    conv = nnx.Conv(3, 4, (3, 3), strides=2, rngs=rngs)
    att = nnx.MultiHeadAttention(2, 8, decode=False, rngs=rngs)
    x = nnx.Embed(10, 8, rngs=rngs)(words)
    norm = nnx.LayerNorm(8, rngs=rngs)
    return (
        conv(image),
        att(x),
        norm(x),
        nnx.avg_pool(image, (2, 2), (2, 2)),
        nnx.GroupNorm(4, 2, rngs=rngs)(conv(image)),
    )


def recurrent():
    cell = nnx.RNN(nnx.GRUCell(3, 4, rngs=nnx.Rngs(0)))
    lstm = nnx.RNN(nnx.OptimizedLSTMCell(3, 4, rngs=nnx.Rngs(1)))
    x = jax.random.normal(jax.random.PRNGKey(2), (2, 5, 3))
    return cell(x), lstm(x)


def gradients_of_parts():
    model = MLP(nnx.Rngs(0))
    model.eval()
    last = nnx.All(nnx.Param, nnx.PathContains("last"))
    g = nnx.grad(lambda m: jnp.sum(m(X) ** 2), argnums=nnx.DiffState(0, last))(model)
    lora = nnx.LoRA(2, 1, 1, rngs=nnx.Rngs(0))
    return jax.tree.leaves(g), lora(X)


def metrics_and_rngs():
    m = nnx.MultiMetric(loss=nnx.metrics.Average("loss"), accuracy=nnx.metrics.Accuracy())
    m.update(loss=jnp.asarray(0.5), logits=jnp.eye(3), labels=jnp.asarray([0, 1, 1]))
    m.update(loss=jnp.asarray(1.5), logits=jnp.eye(3), labels=jnp.asarray([0, 1, 2]))
    rngs = nnx.Rngs(params=0, dropout=1)
    draws = [jax.random.normal(rngs.params(), (2,)), jax.random.uniform(rngs.dropout(), (2,))]
    return m.compute(), draws, rngs.params.count[...]


def state_in_plain_grad():
    model = nnx.Linear(2, 1, rngs=nnx.Rngs(0))
    graph, state = nnx.split(model)
    g = jax.grad(lambda s: jnp.mean(nnx.merge(graph, s)(X) ** 2))(state)
    shapes = nnx.eval_shape(lambda: MLP(nnx.Rngs(0)))
    return jax.tree.leaves(g), jnp.asarray(shapes.first.kernel.shape)
