"""How must a ball be thrown so that its third bounce is at a given place?

Air drags a thrown ball; at each bounce on a slope it loses speed. Zeros of its height above the ground are located in
the solution between the steps, a jump turns the velocity, and the time and place of every bounce have derivatives:
Newton's method finds the throw.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore import pde

xc.config.update("default_bits", 64)
SLOPE, KEEP, DRAG, GOAL = 0.12, 0.85, 0.02, 9.0
NORMAL = np.array([-SLOPE, 1.0]) / np.hypot(SLOPE, 1.0)
times = xnp.linspace(0.0, 4.0, 400)


def air(u, t):
    speed = xnp.sqrt((u["v"] ** 2).sum())
    return {"x": u["v"], "v": -DRAG * speed * u["v"] - xnp.asarray([0.0, 9.81])}


def turned(u, t):
    """Mirrored by the ground, a part of the speed towards it lost."""
    towards = (u["v"] * NORMAL).sum()
    return {"x": u["x"], "v": u["v"] - (1 + KEEP) * towards * NORMAL}


ground = pde.Event(lambda u, t: u["x"][1] - SLOPE * u["x"][0], direction=-1, jump=turned, most=6)


@xc.jit
def thrown(angle):
    start = {"x": xnp.asarray([0.0, 1.0]), "v": 7.0 * xnp.stack([xnp.cos(angle), xnp.sin(angle)])}
    return pde.integrate(air, start, times, events=ground, rtol=1e-9, atol=1e-10, report=True)


third = xc.jit(lambda angle: thrown(angle).y_events[0]["x"][2, 0])
slope = xc.jit(xc.grad(third))
angle, way = xnp.asarray(0.9), []
for _ in range(6):
    way.append(float(third(angle)))
    angle = angle - (third(angle) - GOAL) / slope(angle)
print("third bounce at", np.round(way, 6), "wanted at", GOAL)
difference = (third(angle + 1e-5) - third(angle - 1e-5)) / 2e-5
assert abs(float(third(angle)) - GOAL) < 1e-7 and abs(float(slope(angle) / difference) - 1) < 1e-6

with figure("bounces", size=(8, 3.6)) as ax:
    for a, style in ((0.9, ":"), (float(angle), "-")):
        found = thrown(a)
        x, places = np.asarray(found.value["x"]), np.asarray(found.y_events[0]["x"])
        ax.plot(*x.T, style, color="C0", label=f"{np.degrees(a):.1f}°")
        ax.plot(*places[:3].T, "o", ms=4, color="C1")
    ax.plot([0, 11], [0, 11 * SLOPE], color="k")
    ax.axvline(GOAL, color="C2", lw=1, label="third bounce wanted here")
    ax.set(
        title="a throw whose third bounce is where it should be",
        xlabel="m",
        ylabel="m",
        xlim=(0, 11),
    )
    ax.legend()
