"""Can a small convolutional network of flax's linen tell stripes that lie from stripes that stand?

Written for JAX, run on xcore (`import xcore.as_jax`), trained by optax, kept by orbax with the state of its
optimiser; and the same network in plain xcore, whose values are equal.
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
from flax import linen as nn
from flax.training.train_state import TrainState

import xcore as xc
import xcore.numpy as xnp

rng = np.random.default_rng(0)
KIND = rng.integers(0, 2, 256)
wave = np.sin(np.arange(12) * rng.uniform(1.0, 2.0, (256, 1)) + rng.uniform(0, 6, (256, 1)))
IMAGES = np.where(KIND[:, None, None] == 0, wave[:, None, :], wave[:, :, None])
IMAGES = (IMAGES + 0.7 * rng.normal(size=IMAGES.shape)).astype("f")[..., None]


class CNN(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Conv(8, (3, 3))(x))
        x = nn.max_pool(x, (2, 2), strides=(2, 2))
        x = nn.relu(nn.Conv(8, (3, 3))(x)).mean(axis=(1, 2))
        return nn.Dense(2)(x)


model = CNN()
params = model.init(jax.random.key(0), IMAGES[:1])
state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(2e-2))


@jax.jit
def step(state, images, kind):
    def loss(params):
        z = state.apply_fn(params, images)
        return optax.softmax_cross_entropy_with_integer_labels(z, kind).mean()

    value, slope = jax.value_and_grad(loss)(state.params)
    return state.apply_gradients(grads=slope), value


losses = []
for i in range(60):
    part = slice(64 * (i % 3), 64 * (i % 3) + 64)  # the last quarter is kept for the test
    state, value = step(state, IMAGES[part], KIND[part])
    losses.append(float(value))

with tempfile.TemporaryDirectory() as folder, ocp.StandardCheckpointer() as keeper:
    path, kept = Path(folder).resolve() / "state", {"params": state.params, "opt": state.opt_state}
    keeper.save(path, kept)
    keeper.wait_until_finished()
    back = keeper.restore(path, jax.tree.map(jnp.zeros_like, kept))
same = all(
    bool((a == b).all()) for a, b in zip(jax.tree.leaves(kept), jax.tree.leaves(back), strict=True)
)


# The same network in plain xcore.
def conv(p, x):
    form = ("NHWC", "HWIO", "NHWC")
    out = xc.lax.conv_general_dilated(x, p["kernel"], (1, 1), "SAME", dimension_numbers=form)
    return xc.nn.relu(out + p["bias"])


@xc.jit
def plain(p, x):
    x = conv(p["Conv_0"], x)
    x = xc.lax.reduce_window(x, -xnp.inf, xc.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = conv(p["Conv_1"], x).mean(axis=(1, 2))
    return x @ p["Dense_0"]["kernel"] + p["Dense_0"]["bias"]


test = IMAGES[192:]
z = model.apply(state.params, test)
apart = float(xnp.max(xnp.abs(z - plain(state.params["params"], test))))
right = float(jnp.mean(z.argmax(-1) == KIND[192:]))
print(
    f"loss {losses[0]:.3f} to {losses[-1]:.3f}; of images not seen before {right:.1%} are told right"
)
print(f"kept and read back, the state is the same: {same}; plain xcore differs by {apart:.0e}")
with figure("images", cols=2, title="One that stands, one that lies") as axes:
    for ax, kind in zip(axes, (0, 1), strict=True):
        ax.imshow(IMAGES[KIND == kind][0, ..., 0], cmap="gray")
        ax.set(xticks=[], yticks=[])

assert right > 0.95 and same and apart < 1e-4
