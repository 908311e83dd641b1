"""A logistic regression and a small network, trained on two spirals: who can tell them apart?

`fit` is the whole training loop as one compiled program. A line cannot separate spirals; two hidden
layers can. Only the loss changes between the two. In a terminal a bar shows how far it is.

Each is trained in parts, and after each part all that the next one needs is saved. The network's training is broken
off within its third part and started again: it restores the newest checkpoint, repeats what was lost, and its losses
are those of a training that nobody stopped, to the last bit.
"""

import sys
import tempfile
from functools import partial

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
EPOCHS, PART, BATCH, STOP = 400, 80, 64, 200
steps = len(side) // BATCH  # of an epoch
optimizer = xo.adamw(xo.warmup_cosine_decay_schedule(0.0, 0.02, 100, EPOCHS * steps))


def train(name, folder, stop=EPOCHS + 1):
    """Parameters and losses (epochs, steps), from the newest checkpoint in the folder on, if there is one."""
    model, params = models[name]
    fit = partial(xo.fit, loss_of(model), params, DATA, optimizer, batch_size=BATCH, key=xc.random.key(2))  # fmt: skip
    bar = name if sys.stderr.isatty() else False
    done, losses = fit(epochs=0).replace(losses=None), np.zeros((EPOCHS, steps), "f")
    with xc.checkpoint.Checkpointer(folder, keep=2) as saved:
        if saved.latest_step() is not None:
            done, losses = saved.restore((done, losses))
            print(f"{name:9} goes on from epoch {int(done.epoch)}")
        for epoch in range(int(done.epoch), EPOCHS, PART):
            part = fit(epochs=min(PART, stop - epoch), resume=done, progress=bar)
            losses = np.array(losses)
            losses[epoch : int(part.epoch)] = part.losses
            if epoch + PART > stop:
                raise KeyboardInterrupt(losses[:stop])
            done = part.replace(losses=None)
            saved.save(epoch + PART, (done, losses))
    return done.params, np.asarray(losses)


accuracy = {}
folder = tempfile.TemporaryDirectory()
with figure("losses", cols=2, size=(10, 4)) as (left, right):
    for name, (model, _) in models.items():
        params, losses = train(name, f"{folder.name}/{name}")
        accuracy[name] = float(xnp.mean((model(params, DATA[0]) > 0) == DATA[1]))
        print(f"{name:9} loss {losses[-1].mean():.3f}, right {accuracy[name]:.1%}")
        left.semilogy(losses.ravel(), label=name, linewidth=0.6)
    left.set(xlabel="step", ylabel="loss", title="Loss at each step")
    left.legend()
    try:
        train("network", f"{folder.name}/stopped", STOP)
    except KeyboardInterrupt as stopped:
        print(f"network   is stopped after epoch {STOP}")
        before = stopped.args[0]
    _, again = train("network", f"{folder.name}/stopped")
    right.semilogy(losses.mean(1), color="C0", linewidth=5, alpha=0.3, label="not stopped")
    right.semilogy(before.mean(1), color="C1", label=f"stopped after epoch {STOP}")
    restored = np.arange(STOP // PART * PART, EPOCHS)
    right.semilogy(restored, again.mean(1)[restored], "k--", linewidth=1, label="resumed")
    right.axvline(restored[0], color="grey", linewidth=0.8, label="checkpoint")
    right.set(xlabel="epoch", ylabel="mean loss", title="The network, stopped and resumed")
    right.legend()

print(f"largest difference to the losses that nobody stopped: {abs(again - losses).max():.0e}")
assert accuracy["logistic"] < 0.8 and accuracy["network"] > 0.97
assert np.array_equal(again, losses)
