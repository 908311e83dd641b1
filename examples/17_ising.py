"""At which temperature does a magnet lose its magnetisation?

Spins ±1 on a torus prefer their neighbours' sign. Metropolis' algorithm turns one colour of the
checkerboard at a time, so that all spins of a colour turn together; `vmap` runs all temperatures side by side,
each with its own stream of random numbers. The magnetisation of the infinite lattice is known
(Onsager 1944, Yang 1952):

    m = (1 - sinh(2/T)⁻⁴)^(1/8) below T = 2 / log(1 + √2) = 2.269, 0 above
"""

import numpy as np
from _figures import figure, film

import xcore as xc
import xcore.numpy as xnp

N, SWEEPS, KEPT = 64, 1000, 400
temperatures = np.linspace(1.6, 3.2, 17).astype("f")
critical = 2 / np.log(1 + np.sqrt(2))
black = xnp.asarray(np.indices((N, N)).sum(0) % 2 == 0)


def turn(spins, key, temperature, colour):
    """One attempt for each spin of a colour: its energy changes by 2 s Σ neighbours."""
    around = sum(xnp.roll(spins, shift, axis) for shift in (1, -1) for axis in (0, 1))
    accepted = xc.random.uniform(key, (N, N)) < xnp.exp(-2 * spins * around / temperature)
    return xnp.where(colour & accepted, -spins, spins)


def sweep(spins, key, temperature):
    first, second = xc.random.split(key)
    return turn(turn(spins, first, temperature, black), second, temperature, ~black)


@xc.jit
def quench(spins, key):
    """States after each sweep of a hot magnet that was put into the cold."""

    def step(spins, key):
        spins = sweep(spins, key, 1.8)
        return spins, spins

    return xc.lax.scan(step, spins, xc.random.split(key, 120))[1]


@xc.jit
@xc.vmap
def simulate(temperature, key):
    """The last state, and |magnetisation| averaged over the last sweeps."""

    def step(i, carry):
        spins, total = carry
        spins = sweep(spins, xc.random.fold_in(key, i), temperature)
        return spins, total + xnp.where(i >= SWEEPS - KEPT, abs(spins.mean()), 0.0)

    spins, total = xc.lax.fori_loop(0, SWEEPS, step, (xnp.ones((N, N)), xnp.float32(0)))
    return spins, total / KEPT


spins, found = simulate(temperatures, xc.random.split(xc.random.key(0), len(temperatures)))
fine = np.linspace(1.6, critical, 300)
with figure("magnetisation", title=f"{N} × {N} spins and the infinite lattice") as ax:
    ax.plot(
        fine, (1 - np.sinh(2 / fine) ** -4.0).clip(0) ** 0.125, "k", label="exact, infinite lattice"
    )
    ax.plot([critical, 3.2], [0, 0], "k")
    ax.plot(temperatures, found, "o", label="simulated")
    ax.set(xlabel="temperature in units of J/k", ylabel="magnetisation per spin")
    ax.legend()
with figure("spins", cols=3, size=(9, 3.3)) as axes:
    for ax, k in zip(axes, (2, 7, 16), strict=True):
        image = ax.imshow(np.asarray(spins[k]), cmap="cividis", vmin=-1, vmax=1)
        ax.set(title=f"T = {temperatures[k]:.1f}", xlabel="column of spins", ylabel="row of spins")
    ax.figure.colorbar(image, ax=axes, ticks=[-1, 1], label="spin (dimensionless)")
hot = xnp.where(xc.random.bernoulli(xc.random.key(1), 0.5, (N, N)), 1.0, -1.0)
with film("quench", fps=15, quality=100) as (ax, take):
    image = ax.imshow(np.asarray(hot), cmap="cividis", vmin=-1, vmax=1, interpolation="nearest")
    for k, state in enumerate(np.asarray(quench(hot, xc.random.key(2)))):
        image.set_data(state)
        take(f"T = 1.8, sweep {k + 1}")

cold = temperatures < 2.15
exact = (1 - np.sinh(2 / temperatures[cold]) ** -4.0) ** 0.125
error = abs(np.asarray(found)[cold] - exact).max()
print(f"below T = 2.15 within {error:.3f} of Onsager's; at T = 3.2: {float(found[-1]):.3f}")
assert error < 0.02 and found[-1] < 0.15
