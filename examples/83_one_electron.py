"""How strongly does one electron bind two protons?

The states of an electron are the modes of -½ Δ + V, with energies in hartree and lengths in bohr. Around one proton
they hang on the radius alone: spherical coordinates, and the known -1/2 and -1/8. Around two protons, the ion H₂⁺,
they hang on (r, z) of a cylinder; its axis is no edge, and the cells are narrow next to it. The poles of the
potential are at corners of cells: two grids tell the error, and what is left when it is taken away stands beside the
published energy, -1.1026342 for protons 2 bohr apart, and the strength of the bond beside what spectra of the ion say:
21379 waves per cm to part it, and 1144 that its vibration has left at absolute zero.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore.pde import Diffusion, Grid, eigenmodes

xc.config.update("default_bits", 64)
ball = Grid.cells(400, upper=30.0, stretched=(tuple(30.0 * np.linspace(0, 1, 401) ** 2),))
atom = Diffusion(ball, 0.5, coordinates="spherical") + (lambda r: 1 / r)
levels, _ = eigenmodes(atom, 2)
print("hydrogen:", *(f"{float(e):.4f}" for e in levels), "hartree; known: -0.5, -0.125")


def ion(distance, cells):
    """(energy, its field, operator), lengths of cells growing away from the axis and the protons."""
    s, far = np.linspace(0, 1, cells + 1), 10.0
    radii = far * (0.15 * s + 0.85 * s**3)
    half = distance / 2 * np.linspace(0, 1, cells // 3 + 1)
    beyond = distance / 2 + (far - distance / 2) * (0.15 * s + 0.85 * s**3)[1:]
    up = np.concatenate([half[:-1], [distance / 2], beyond])
    heights = np.concatenate([-up[:0:-1], up])
    grid = Grid.cells((cells, len(heights) - 1), stretched=(tuple(radii), tuple(heights)))
    well = lambda r, z: sum(1 / xnp.hypot(r, z - p) for p in (-distance / 2, distance / 2))  # noqa: E731
    op = Diffusion(grid, 0.5, coordinates="cylindrical") + well
    energies, states = eigenmodes(op, 1)
    return float(energies[0]), states[0], op


coarse, fine = ion(2.0, 24)[0], ion(2.0, 48)[0]
better = fine + (fine - coarse) / 3
print(f"H2+ at 2 bohr: {coarse:.5f}, {fine:.5f}, without their error {better:.5f}; known: -1.10263")
volts = 27.2114 * (-0.5 - (better + 1 / 2.0))  # as far as an atom and a proton far from it
print(f"strength of the bond: {volts:.3f} eV; measured: {(21379.4 + 1144.3) / 8065.54:.3f} eV")
distances = np.array([1.4, 2.0, 2.8, 4.0])
whole = [ion(d, 24)[0] + 1 / d for d in distances]
with figure("ion", cols=2, size=(8, 4)) as axes:
    _, state, op = ion(2.0, 48)
    xc.plot.field(op, abs(state), axes[0], cmap="viridis", label="amplitude (bohr$^{-3/2}$)")
    axes[0].set(xlim=(0, 4), ylim=(-4, 4), xlabel="r (bohr)", ylabel="z (bohr)", title="the bond")
    axes[0].grid(False)
    axes[1].plot(distances, whole, "o-")
    axes[1].axhline(-0.5, color="grey", linestyle="--", label="one proton far away")
    axes[1].set(xlabel="distance of the protons (bohr)", ylabel="energy (hartree)")
    axes[1].legend()
assert abs(levels - xnp.asarray([-0.5, -0.125])).max() < 2e-3
assert abs(better + 1.10263) < 5e-3
assert np.argmin(whole) == 1
