"""How do 2000 walkers walk 500 steps at once?

One step is a draw from a row of a transition matrix. `scan` carries the state and stacks what was
visited; `vmap` runs many walkers with a key each. Their shares approach the stationary distribution,
the left eigenvector of the matrix.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp

transition = xnp.asarray([[0.90, 0.08, 0.02], [0.15, 0.80, 0.05], [0.25, 0.25, 0.50]])
names = ["sun", "cloud", "rain"]


def walk(key, start, steps):
    def step(state, key):
        state = xc.random.categorical(key, xnp.log(transition[state]))
        return state, state

    return xc.lax.scan(step, start, xc.random.split(key, steps))[1]


keys = xc.random.split(xc.random.key(0), 2000)
paths = xc.jit(xc.vmap(lambda key: walk(key, xnp.asarray(2), 500)))(keys)

values, vectors = np.linalg.eig(np.asarray(transition, np.float64).T)
stationary = np.real(vectors[:, np.argmax(values.real)])
stationary /= stationary.sum()
shares = np.stack([(np.asarray(paths) == s).mean(0) for s in range(3)])
with figure("shares", title="2000 walkers that all start in the rain") as ax:
    for share, limit, name in zip(shares, stationary, names, strict=True):
        (line,) = ax.plot(share[:60], label=name)
        ax.axhline(limit, color=line.get_color(), linestyle=":")
    ax.set(xlabel="step", ylabel="share of walkers")
    ax.legend()

found = shares[:, 100:].mean(1)
print("stationary distribution:", dict(zip(names, stationary.round(4).tolist(), strict=True)))
print("shares after 100 steps: ", dict(zip(names, found.round(4).tolist(), strict=True)))
assert np.abs(found - stationary).max() < 0.01
