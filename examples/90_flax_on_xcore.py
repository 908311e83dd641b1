"""Does a network of flax's nnx, trained by optax and kept by orbax, learn on xcore what it would elsewhere?

`import xcore.as_jax` comes first: every `import jax` after it, in this script and in the libraries, gives
xcore. The same network in plain xcore, from the same weights, takes the same steps.
"""
# pyright: reportMissingImports=false

import tempfile
from pathlib import Path

import numpy as np
from _extras import needs
from _figures import figure

needs("flax", "optax", "orbax")
import xcore.as_jax
import jax
import jax.numpy as jnp
import optax
import orbax.checkpoint as ocp
from flax import nnx

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

rng = np.random.default_rng(0)
X = rng.normal(size=(256, 2)).astype("f")
Y = (X[:, 0] * X[:, 1] > 0).astype("f")
STEPS = 150


class MLP(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(2, 32, rngs=rngs)
        self.second = nnx.Linear(32, 32, rngs=rngs)
        self.last = nnx.Linear(32, 1, rngs=rngs)

    def __call__(self, x):
        return self.last(nnx.relu(self.second(nnx.relu(self.first(x)))))[:, 0]


model = MLP(nnx.Rngs(0))
start = [(layer.kernel[...], layer.bias[...]) for layer in (model.first, model.second, model.last)]
optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)


@nnx.jit
def step(model, optimizer):
    loss = lambda m: optax.sigmoid_binary_cross_entropy(m(jnp.asarray(X)), Y).mean()
    value, slope = nnx.value_and_grad(loss)(model)
    optimizer.update(model, slope)
    return value


theirs = [float(step(model, optimizer)) for _ in range(STEPS)]

with tempfile.TemporaryDirectory() as folder, ocp.StandardCheckpointer() as keeper:
    path, state = Path(folder).resolve() / "model", nnx.state(model)
    keeper.save(path, state)
    keeper.wait_until_finished()
    again = nnx.merge(
        nnx.graphdef(model), keeper.restore(path, jax.tree.map(jnp.zeros_like, state))
    )
restored = float(jnp.max(jnp.abs(again(X) - model(X))))


# The same in plain xcore: weights in a list, the loss a function, the loop one program.
def loss(layers, x, y):
    for w, b in layers[:-1]:
        x = xc.nn.relu(x @ w + b)
    z = (x @ layers[-1][0] + layers[-1][1])[:, 0]
    return xnp.mean(xnp.logaddexp(0.0, z) - y * z)


adam = xo.adam(1e-2)


@xc.jit
def train(layers):
    def one(carry, _):
        layers, state = carry
        value, slope = xc.value_and_grad(loss)(layers, X, Y)
        updates, state = adam.update(slope, state, layers)
        return (xo.apply_updates(layers, updates), state), value

    return xc.lax.scan(one, (layers, adam.init(layers)), None, length=STEPS)[1]


ours = np.asarray(train(start))
apart = np.abs(ours[:20] / np.asarray(theirs)[:20] - 1).max()
right = float(jnp.mean((model(X) > 0) == Y))
print(
    f"flax, optax: loss {theirs[-1]:.4f}, right {right:.1%}; restored, it differs by {restored:g}"
)
print(f"plain xcore: loss {ours[-1]:.4f}; the first twenty losses differ by {apart:.0e}")
with figure("losses", title="Loss at each step") as ax:
    ax.semilogy(theirs, label="flax and optax, on xcore")
    ax.semilogy(ours, "--", label="plain xcore")
    ax.set(xlabel="step", ylabel="loss")
    ax.legend()

assert right > 0.97 and restored == 0 and apart < 1e-4
