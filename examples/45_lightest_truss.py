"""The lightest truss of three bars that carries a load, and what more load would cost.

Two slanted bars of section a and an upright one of section b hold a load at 45°; each bar's stress
must stay below a limit. Only the nearer slanted bar is at the limit in the best design, so that with
one multiplier the conditions of Karush, Kuhn and Tucker can be solved by hand: for load / limit = q

    a = q (1/2 + 1/√12),    b = q / √6,    volume = (2 √2 a + b) length = (√2 + √6 / 2) q length.

Stresses grow with the load and fall with the sections in proportion, so the volume is proportional to
the load, and its derivative is volume / load.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

LENGTH, LIMIT, ROOT = 100.0, 2.0, 2**0.5


def volume(x):
    return LENGTH * (2 * ROOT * x[0] + x[1])


def stresses(x, load):
    a, b = x
    together = ROOT * a * a + 2 * a * b
    return load * xnp.stack([(ROOT * a + b) / together, b / together, 1 / (a + ROOT * b)])


def lightest(load):
    safe = xo.Constraints(ineq=lambda x: LIMIT - stresses(x, load))
    start = xnp.asarray([0.5, 0.5], np.float64)
    return xo.minimize_constrained(volume, start, (), safe, bounds=(0.01, 1.0), tol=1e-9)


def cost(load):
    found = lightest(load)
    return found.fun, found


load = xnp.asarray(2.0, np.float64)
(least, found), slope = xc.jit(xc.value_and_grad(cost, has_aux=True))(load)
a, b = map(float, found.x)
print(f"sections {a:.8f}, {b:.8f}; volume {float(least):.7f} after {int(found.nit)} steps")
print("stresses", np.round(np.asarray(stresses(found.x, load)), 6), "of", LIMIT)
print(f"a load larger by 1 costs {float(slope):.6f}; volume / load is {float(least / load):.6f}")

grid = np.linspace(0.05, 1, 120)
A, B = np.meshgrid(grid, grid)
with figure("truss", title="Volume, and where bars would break") as ax:
    lines = ax.contour(A, B, LENGTH * (2 * ROOT * A + B), 12, colors="grey")
    ax.clabel(lines, fontsize=7)
    worst = np.asarray(xc.vmap(stresses, (1, None))(np.stack([A.ravel(), B.ravel()]), load)).max(
        axis=1
    )
    ax.contourf(A, B, worst.reshape(A.shape), [LIMIT, np.inf], colors="C1", alpha=0.3)
    ax.plot(a, b, "*", color="C0", markersize=12)
    ax.set(xlabel="section of the slanted bars", ylabel="section of the upright bar")

q = float(load) / LIMIT
np.testing.assert_allclose([a, b], [q * (0.5 + 1 / 12**0.5), q / 6**0.5], rtol=1e-7)
np.testing.assert_allclose(float(slope), float(least / load), rtol=1e-6)
assert bool(found.success)
