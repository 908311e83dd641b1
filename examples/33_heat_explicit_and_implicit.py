"""Why are heat equations solved by implicit steps?

Explicit steps are cheap, but longer than h²/4 they make small waves grow without bound; xcore refuses
them and says how long they may be. Crank and Nicolson's method takes one solution of a linear system
for each step, and as long steps as accuracy allows.
"""

import numpy as np
from _figures import figure, film

import xcore as xc
from xcore import pde

xc.config.update("default_bits", 64)
lap = pde.Laplacian(pde.Grid((48, 48)))
x, y = map(np.asarray, lap.points())
u = np.exp(-60 * ((x - 0.4) ** 2 + (y - 0.5) ** 2))
end = 0.05

exact = pde.ExponentialIntegrator(lap).step(xc.numpy.asarray(u), 0.0, end)
explicit = pde.RungeKutta(lambda u, t: lap(u), pde.EULER)
limit = pde.stable_step(explicit, lap)
try:
    pde.trajectory(explicit, u, 2 * limit, 10, op=lap)
except pde.UnstableStepError as error:
    print(error)

steps = int(np.ceil(end / limit))
results = {
    f"explicit, {steps} steps": pde.trajectory(explicit, u, end / steps, steps, every=steps)[-1]
}
for n in (10, 40, 160):
    heat = pde.trajectory(pde.ThetaMethod(lap), u, end / n, n, every=n)[-1]
    results[f"Crank-Nicolson, {n} steps"] = heat
errors = {name: float(abs(v - exact).max()) for name, v in results.items()}
with figure("heat", cols=2, size=(9, 4)) as (first, second):
    shown = (first, u, "at the start"), (second, np.asarray(exact), f"at t = {end}")
    for ax, field, title in shown:
        image = ax.imshow(field.T, origin="lower", extent=(0, 1, 0, 1), interpolation="bilinear")
        ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.04, label="temperature")
        ax.set(title=title, xlabel="x", ylabel="y")
states = pde.trajectory(pde.ThetaMethod(lap), u, end / 60, 60, every=1)
with film("heat") as (ax, take):  # in colours that follow the falling maximum
    image = ax.imshow(u.T, origin="lower", interpolation="bicubic")
    for k, state in enumerate(np.asarray(states)):
        image.set(data=state.T, clim=(0, state.max()))
        take(f"t = {end * (k + 1) / 60:.3f}, hottest {state.max():.2f}")
for name, e in errors.items():
    print(f"{name}: error {e:.1e}")
assert errors["Crank-Nicolson, 160 steps"] < errors[f"explicit, {steps} steps"]
