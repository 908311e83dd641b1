"""How far can three reactions be followed whose speeds differ by nine orders of magnitude?

Robertson's kinetics (1966), to t = 1e11: the species in the middle reacts within 1e-5 and lives on through all
decades. Steps of an explicit method stay as short as that reaction; those of Rodas5P grow with what is still to
happen. The sensitivities of the last state come from the same steps, forward through all of them.
"""

import time

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore import pde

xc.config.update("default_bits", 64)
PUBLISHED = np.array([0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050])
SPEEDS = xnp.asarray([0.04, 1e4, 3e7])
times = xnp.concatenate([xnp.zeros(1), xnp.logspace(-6, 11, 120)])


@xc.jit
def run(speeds, rtol):
    def kinetics(y, t):
        slow, back, fast = speeds[0] * y[0], speeds[1] * y[1] * y[2], speeds[2] * y[1] ** 2
        return xnp.stack([back - slow, slow - back - fast, fast])

    return pde.integrate(
        kinetics, xnp.asarray([1.0, 0.0, 0.0]), times, tableau=pde.RODAS5P, rtol=rtol,
        atol=rtol * xnp.asarray([1e-5, 1e-11, 1e-3]), report=True,
    )  # fmt: skip


tolerances, errors, counts = 10.0 ** -np.arange(3, 10), [], []
for rtol in tolerances:
    began = time.perf_counter()
    found = run(SPEEDS, rtol)
    errors.append(np.max(abs(np.asarray(found.value[-1]) / PUBLISHED - 1)))
    counts.append(int(found.steps))
    print(f"rtol {rtol:.0e}: {counts[-1]:5} steps, {int(found.stats['rejected'])} refused, "
          f"error {errors[-1]:.1e}, {time.perf_counter() - began:.2f} s")  # fmt: skip
assert bool(found.ok) and max(e / r for e, r in zip(errors, tolerances, strict=True)) < 10

states = np.asarray(found.value)
sensitive = xc.jit(xc.jacfwd(lambda k: run(k * SPEEDS, 1e-8).value[:, 0]))(xnp.ones(3))
# long after, y₁ falls as (k_back / k_slow)² / (k_fast t)
assert abs(np.asarray(sensitive[-1]) / states[-1, 0] - [-2, 2, -1]).max() < 1e-3

with figure("kinetics", cols=3, size=(11, 3.6)) as (left, middle, right):
    for k, factor in enumerate((1, 1e4, 1)):
        left.semilogx(
            times[1:], factor * states[1:, k], label=f"y{k + 1}" + (" × 10⁴" if k == 1 else "")
        )
    left.set(title="three species", xlabel="t, s", ylabel="concentration")
    left.legend()
    middle.semilogx(times[1:], np.asarray(sensitive[1:]), label=["slow", "back", "fast"])
    middle.set(title="how y₁ depends on each speed", xlabel="t, s", ylabel="∂y₁ / ∂ log k")
    middle.legend()
    right.loglog(tolerances, errors, "o-", label="error at 1e11, largest relative")
    right.loglog(tolerances, tolerances, "k:", label="the tolerance")
    right.set(title="error and tolerance", xlabel="rtol", ylabel="error")
    right.legend()
