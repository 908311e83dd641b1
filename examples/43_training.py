"""A logistic regression and a small network, trained on two spirals: who can tell them apart?

`fit` is the whole training loop as one compiled program. A line cannot separate spirals; two hidden
layers can. Only the loss changes between the two. In a terminal a bar shows how far it is.
"""

import sys

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

rng = np.random.default_rng(0)
turn = np.sqrt(rng.random(400)) * 3 * np.pi
side = np.repeat([0.0, 1.0], 200)
spiral = (
    np.stack([np.cos(turn + np.pi * side), np.sin(turn + np.pi * side)], 1) * turn[:, None] / 10
)
DATA = (spiral.astype("f") + 0.02 * rng.normal(size=(400, 2)).astype("f"), side.astype("f"))


def linear(params, x):
    return x @ params["w"] + params["b"]


def network(params, x):
    *hidden, last = params
    for layer in hidden:
        x = xnp.tanh(linear(layer, x))
    return linear(last, x)[:, 0]


def loss_of(model):
    def loss(params, batch):
        x, y = batch
        z = model(params, x)
        return xnp.mean(xnp.logaddexp(0.0, z) - y * z)

    return loss


keys = xc.random.split(xc.random.key(1), 3)
layers = [
    {"w": xc.random.normal(k, (a, b)) / np.sqrt(a) * 2, "b": xnp.zeros(b)}
    for k, a, b in zip(keys, (2, 32, 32), (32, 32, 1))
]
models = {
    "logistic": (linear, {"w": xnp.zeros(2), "b": xnp.zeros(())}),
    "network": (network, layers),
}
schedule = xo.warmup_cosine_decay_schedule(0.0, 0.02, 100, 2400)
accuracy = {}
with figure("losses", title="Loss at each step") as ax:
    for name, (model, params) in models.items():
        done = xo.fit(
            loss_of(model), params, DATA, xo.adamw(schedule), epochs=400, batch_size=64,
            key=xc.random.key(2), progress=name if sys.stderr.isatty() else False,
        )  # fmt: skip
        accuracy[name] = float(xnp.mean((model(done.params, DATA[0]) > 0) == DATA[1]))
        print(f"{name:9} loss {float(done.losses[-1].mean()):.3f}, right {accuracy[name]:.1%}")
        ax.semilogy(np.asarray(done.losses).ravel(), label=name, linewidth=0.6)
    ax.set(xlabel="step", ylabel="loss")
    ax.legend()

assert accuracy["logistic"] < 0.8 and accuracy["network"] > 0.97
