"""Can one differentiate through a loop whose length nobody knows?

A pendulum is integrated until it crosses zero, with steps that an error estimate chooses. Reverse
mode goes through the `while_loop` with memory for a fixed number of states (`checkpoints`), whatever
the number of steps; the derivative of the quarter period agrees with the one of the closed form.
"""

import numpy as np
from _figures import figure
from scipy.special import ellipk

import xcore as xc
import xcore.numpy as xnp

xc.config.update("default_bits", 64)


def midpoint(s, h):
    slope = lambda s: xnp.stack([s[1], -xnp.sin(s[0])])  # noqa: E731
    k = slope(s)
    for _ in range(3):  # classical Runge-Kutta written as its four stages would be longer
        k = slope(s + h / 2 * k)
    return s + h * k


def quarter_period(angle, checkpoints=16):
    """Time until a pendulum released at rest hangs straight down."""

    def step(state):
        t, s, h = state
        once, twice = midpoint(s, h), midpoint(midpoint(s, h / 2), h / 2)
        error = abs(once - twice).max() / 1e-9
        good = error < 1
        h_next = h * xnp.clip(0.9 * xnp.maximum(error, 1e-8) ** (-1 / 3), 0.3, 2.0)
        return xnp.where(good, t + h, t), xnp.where(good, twice, s), h_next

    start = (0.0, xnp.stack([angle, 0.0 * angle]), 0.01)
    t, s, _ = xc.lax.while_loop(lambda state: state[1][0] > 0, step, start, checkpoints=checkpoints)
    return t - s[0] / s[1]  # the last step went a little too far: one Newton correction


def exact(angle):
    return ellipk(np.sin(angle / 2) ** 2)


angles = np.linspace(0.2, 2.8, 14)
times, slopes = xc.jit(xc.vmap(xc.value_and_grad(quarter_period)))(angles)
expected = (exact(angles + 1e-6) - exact(angles - 1e-6)) / 2e-6
with figure("pendulum", title="Quarter period of a pendulum") as ax:
    ax.plot(angles, times, "o", label="time")
    ax.plot(angles, exact(angles), label="elliptic integral")
    ax.plot(angles, slopes, "s", label="its derivative through the loop")
    ax.plot(angles, expected, label="difference quotient")
    ax.set(xlabel="amplitude, radians", ylabel="time in units of √(length / g)", ylim=(0, 5))
    ax.legend()

print(f"largest error of the time {np.abs(times - exact(angles)).max():.1e}, "
      f"of its derivative {np.abs(slopes / expected - 1).max():.1e} (relative)")  # fmt: skip
assert np.allclose(times, exact(angles), rtol=1e-4)
assert np.allclose(slopes, expected, rtol=2e-2)
