"""How thin a layer can a grid of 64² cells see, and with which differences?

A flow carries u to the right, diffusion smears it: -a Δu + v·∇u = 1, u = 0 around. Where the Péclet number of a cell
is large, centred differences oscillate, upwind ones smear, and fitted ones do neither along an axis.
"""

import numpy as np
from _figures import figure

import xcore as xc
from xcore.pde import Advection, Diffusion, Grid, solve

xc.config.update("default_bits", 64)
WIND = (1.0, 0.0)


def solved(n, a, scheme):
    grid = Grid((n, n))
    more = {"diffusion": a} if scheme == "fitted" else {}
    op = Diffusion(grid, a) - Advection(grid, WIND, scheme=scheme, **more)
    return op, solve(op, -1.0, report=True)


a, schemes = 2e-3, ("centred", "upwind", "fitted")
fine, exact = solved(512, a, "fitted")
exact = np.asarray(exact.value)[7::8, 7::8]  # at the nodes of 64² cells
found = {}
for scheme in schemes:
    op, answer = solved(64, a, scheme)
    found[scheme] = np.asarray(answer.value)
    print(f"{scheme:8s} {answer.method}: largest error {np.abs(found[scheme] - exact).max():.3f}")

x = np.arange(1, 64) / 64
with figure("layers", cols=3, size=(11, 3.3)) as axes:
    for ax, scheme in zip(axes, schemes, strict=True):
        image = ax.imshow(found[scheme].T, origin="lower", extent=(0, 1, 0, 1), vmin=0, vmax=1.3)
        ax.set(title=scheme, xlabel="x", ylabel="y")
    ax.figure.colorbar(image, ax=axes, shrink=0.8, label="u")
with figure("profile", size=(6, 3.5)) as ax:
    for scheme in schemes:
        ax.plot(x, found[scheme][:, 31], label=scheme)
    ax.plot(x, exact[:, 31], "k:", label="512² cells")
    ax.set(xlabel="x at y = ½", ylabel="u")
    ax.legend()
errors = {s: np.abs(u - exact).max() for s, u in found.items()}
assert errors["fitted"] < 0.1 * errors["centred"] and errors["fitted"] < 0.5 * errors["upwind"]
