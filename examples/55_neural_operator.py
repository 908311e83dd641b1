"""Can a network learn to solve Poisson's equation?

A DeepONet (Lu et al. 2021): one network reads a source at sensors, another a place; their product is the
solution there. It is trained on random smooth sources with `pde.poisson` as the teacher; after each part its
parameters are saved, and sources that it has not seen are the judge.
"""

import tempfile

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo
from xcore.pde import Grid, Laplacian, poisson

CELLS, WAVES, WIDTH = 24, 4, 96
grid = Grid((CELLS, CELLS))
x, y = map(np.asarray, Laplacian(grid).points())
places = np.stack([x.ravel(), y.ravel()], 1).astype("f")


def source(key):
    """A sum of sines with random amplitudes, which fall with the frequency."""
    k = np.arange(1, WAVES + 1)
    shapes = [np.sin(np.pi * np.multiply.outer(k, p)) for p in (x[:, 0], y[0])]
    amplitudes = xc.random.normal(key, (WAVES, WAVES)) / np.hypot.outer(k, k) * 3
    return xnp.einsum("kl,ki,lj->ij", amplitudes, *(s.astype("f") for s in shapes))


@xc.jit
@xc.vmap
def lessons(key):
    f = source(key)
    return f.reshape(-1), 20 * poisson(f, grid).reshape(-1)


def layers(key, sizes):
    keys = xc.random.split(key, len(sizes) - 1)
    return [
        (xc.random.normal(k, (a, b)) / np.sqrt(a), xnp.zeros(b))
        for k, a, b in zip(keys, sizes, sizes[1:])
    ]


def mlp(parameters, v):
    for i, (w, b) in enumerate(parameters):
        v = (xnp.sin(3 * v) if i else v) @ w + b
    return v


def predict(parameters, f):
    """The solution at all places, for a batch of sources."""
    return mlp(parameters["branch"], f) @ mlp(parameters["trunk"], places).T


def loss(parameters, batch):
    f, u = batch
    return xnp.mean((predict(parameters, f) - u) ** 2) / xnp.mean(u**2)


keys = xc.random.split(xc.random.key(0), 1200)
f, u = lessons(keys)
train, test = (f[:1000], u[:1000]), (f[1000:], u[1000:])
first, second = xc.random.split(xc.random.key(1))
parameters = {
    "branch": layers(first, (f.shape[1], WIDTH)),
    "trunk": layers(second, (2, WIDTH, WIDTH, WIDTH)),
}

PARTS, EPOCHS = 4, 40
schedule = xo.cosine_decay_schedule(3e-3, PARTS * EPOCHS * 10)
optimizer = xo.adam(schedule)
curve = {"learnt from": [], "not seen": []}
score = xc.jit(lambda p, batch: loss(p, batch) ** 0.5)
with tempfile.TemporaryDirectory() as folder, xc.checkpoint.Checkpointer(folder, keep=2) as saved:
    done = None
    for part in range(PARTS):
        done = xo.fit(loss, parameters, train, optimizer, epochs=EPOCHS, batch_size=100, key=xc.random.key(2),
                      resume=done)  # fmt: skip
        parameters = done.params
        for name, batch in (("learnt from", train), ("not seen", test)):
            curve[name].append(float(score(parameters, batch)))
        saved.save(part, parameters, metadata={"error": curve["not seen"][-1]})
    parameters = saved.restore(parameters)

guess = np.asarray(predict(parameters, test[0]))
with figure("losses") as ax:
    for name, values in curve.items():
        ax.semilogy(EPOCHS * np.arange(1, PARTS + 1), values, "o-", label=f"sources {name}")
    ax.set(xlabel="epochs", ylabel="relative error")
    ax.legend()
with figure("solutions", rows=2, cols=3, size=(11, 6.6)) as axes:
    for row, k in zip(axes, (0, 1), strict=True):
        shown = (
            (test[0][k], "a source not seen", "f"),
            (test[1][k], "solution", "20 u"),
            (guess[k], "the network's", "20 u"),
        )
        for ax, (v, title, name) in zip(row, shown, strict=True):
            v = np.asarray(v).reshape(x.shape)
            image = ax.imshow(
                v.T,
                origin="lower",
                extent=(0, 1, 0, 1),
                cmap="RdBu",
                vmin=-abs(v).max(),
                vmax=abs(v).max(),
                interpolation="bilinear",
            )
            ax.set(title=title, xlabel="x", ylabel="y")
            ax.figure.colorbar(image, ax=ax, shrink=0.85, label=f"{name} (dimensionless)")

print(
    f"relative error: sources learnt from {curve['learnt from'][-1]:.3f}, not seen {curve['not seen'][-1]:.3f}"
)
assert curve["not seen"][-1] < 0.1
