"""Does a wave leave the box as if there were no edge, and what does its record tell of the ground?

A source at the surface of three layers of rock sends a pulse down; receivers beside it hear what comes back. Three
edges are open: layers of twenty cells absorb (CPML), a box that is larger shows that hardly anything comes back
from them. The gradient of the record's misfit by the speed at every node, in the memory of forty states, draws the
interfaces that a first guess does not have. (Tarantola 1984, "Inversion of seismic reflection data in the acoustic
approximation", Geophysics 49)
"""

import numpy as np
from _figures import figure, film

import xcore as xc
import xcore.numpy as xnp
from xcore import pde

WIDE, DEEP, CELL, STEPS, DT = 120, 80, 25.0, 700, 0.003  # metres, seconds
RECORDED = np.stack([np.linspace(100.0, 2900.0, 57), np.full(57, 60.0)], axis=1)


def pulse(t):
    z = (np.pi * 6 * (t - 0.2)) ** 2
    return (1 - 2 * z) * xnp.exp(-z)


def survey(speed, shot, margin=0):
    """(the wave, its receivers) of a shot at this place along the line."""
    grid = pde.Grid(
        (WIDE + 2 * margin, DEEP + margin),
        (-CELL * margin, 0.0),
        (CELL * (WIDE + margin), CELL * (DEEP + margin)),
    )
    source = pde.Points(grid, xnp.stack([xnp.asarray(shot), xnp.asarray(41.0)])[None])
    wave = pde.Wave(grid, speed, source, pulse, layer=(20, (0, 20)))  # the surface is free
    return wave, pde.Points(grid, RECORDED)


def record(speed, shot, margin=0):
    wave, receivers = survey(speed, shot, margin)

    def heard(state, t):
        return receivers.read(wave.inside(state))

    return pde.trajectory(wave, wave.start(dt=DT), DT, STEPS, save=heard, checkpoints=40)


x, z = np.meshgrid(np.arange(WIDE + 1) * CELL, np.arange(DEEP + 1) * CELL, indexing="ij")
true = 1800.0 + 500.0 * (z > 700 + 150 * np.sin(x / 600)) + 600.0 * (z > 1400 - 0.15 * x)
guess = np.full_like(true, 1800.0)
true, guess = xnp.asarray(true, "float32"), xnp.asarray(guess, "float32")

# what comes back from the open edges
film_of = survey(true, 1490.0)[0]
movie = pde.trajectory(
    film_of, film_of.start(dt=DT), DT, STEPS, every=14, save=lambda s, t: film_of.inside(s)
)
margin = 60
large = xnp.pad(true, ((margin, margin), (0, margin)), mode="edge")
listen = xc.jit(record, static_argnums=2)
heard, alone = listen(true, 1490.0, 0), listen(large, 1490.0, margin)
back = float(((heard - alone) ** 2).sum() / (alone**2).sum())
print(f"energy of the record that came back from open edges: {back:.1e}")
assert back < 1e-4

# the gradient by the speed, of several shots
shots = 400.0, 1490.0, 2600.0


@xc.jit
def gradient(shot):
    wanted = record(true, shot)
    return xc.grad(lambda c: ((record(c, shot) - wanted) ** 2).sum())(guess)


total = np.sum([gradient(s) for s in shots], axis=0)
total[:, :12] = 0  # beside sources and receivers it is large
way = -total / abs(total).max()


def misfit(speed):
    return sum(((listen(speed, s, 0) - listen(true, s, 0)) ** 2).sum() for s in shots)


before, after = float(misfit(guess)), float(misfit(guess + 60 * xnp.asarray(way)))
print(f"misfit of a step along it, relative to that of the guess: {after / before:.3f}")
assert after < before

edge = (0, WIDE * CELL / 1000, DEEP * CELL / 1000, 0)
with figure("ground", cols=3, size=(11, 3.3)) as (left, middle, right):
    left.imshow(np.asarray(true).T, extent=edge, cmap="viridis")
    left.plot(RECORDED[:, 0] / 1000, RECORDED[:, 1] / 1000, "v", ms=2, color="w")
    left.set(title="speed of sound, 1800 to 2900 m/s", xlabel="km", ylabel="depth, km")
    late = np.asarray(heard)
    top = np.quantile(abs(late[300:]), 0.98)
    middle.imshow(
        late, aspect="auto", cmap="gray", vmin=-top, vmax=top, extent=(0.1, 2.9, STEPS * DT, 0)
    )
    middle.set(title="what the receivers heard", xlabel="km", ylabel="s")
    top = np.quantile(abs(way), 0.995)
    right.imshow(way.T, extent=edge, cmap="RdBu", vmin=-top, vmax=top)
    right.set(title="where the record asks for faster rock", xlabel="km", ylabel="depth, km")
    for axes in (left, middle, right):
        axes.grid(False)
frames = np.asarray(movie)
top = np.quantile(abs(frames[10:]), 0.998)
with film("wave", size=(4, 4 * frames.shape[2] / frames.shape[1]), fps=12, quality=65) as (
    ax,
    take,
):
    ax.imshow(np.asarray(true).T, cmap="gray", alpha=0.5, extent=edge)
    image = ax.imshow(0 * frames[0].T, cmap="RdBu", vmin=-top, vmax=top, alpha=0.8, extent=edge,
                      interpolation="bicubic")  # fmt: skip
    for k, frame in enumerate(frames):
        image.set_data(frame.T)
        take(f"t = {STEPS * DT * (k + 1) / len(frames):.2f} s")
