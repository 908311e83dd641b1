"""Two lines of a molecule's spectrum are measured: where are the next three, and that of a heavier one?

H³⁵Cl vibrates: its energies are the eigenvalues of -ħ²/2μ d²/dr² + V(r), where r is the distance of the nuclei. Morse's
potential, V = D (1 - exp(-a (r - rₑ)))², has two unknowns, which Newton's method finds from two lines by derivatives of
eigenvalues. The same potential then tells the other lines, and with another mass that of D³⁵Cl. Two grids tell the
error of differences, which is taken away. Measured are band origins from the ground state, as the constants of Huber
and Herzberg (1979) give them. The strength of the bond is missed: it is decided far above these lines, where the
potential is another one.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore.pde import Diffusion, Grid, eigenmodes

xc.config.update("default_bits", 64)
MEASURED = np.array([2885.98, 5667.98, 8346.78, 10922.81, 13396.19])  # of H³⁵Cl, per cm
HEAVY, BOND = 2091.06, 4.430  # D³⁵Cl, per cm; energy that parts the nuclei of H³⁵Cl, eV
HBAR, BOTTOM = 16.857629, 1.2746  # ħ²/2 by atomic mass units, Å and 1/cm; the distance rₑ, Å
H, D, CL = 1.00782503, 2.01410178, 34.9688527  # atomic mass units
grids = Grid(200, 0.7, 2.7), Grid(400, 0.7, 2.7)


def morse(p, r):
    depth, a = 1e4 * p[0], p[1]
    return depth * (1 - xnp.exp(-a * (r - BOTTOM))) ** 2


def levels(p, hydrogen):
    """Energies without the error of two grids, and the fine grid's modes."""
    mass = hydrogen * CL / (hydrogen + CL)
    (coarse, _), (fine, modes) = (
        eigenmodes(Diffusion(grid, HBAR / mass, c=morse(p, grid.nodes(0))), 6) for grid in grids
    )
    return fine + (fine - coarse) / 3, modes


@xc.jit
def lines(p, hydrogen):
    """Lines from the lowest level, derivatives of the first two; levels and modes."""

    def first_two(p):
        energies, modes = levels(p, hydrogen)
        return (energies[1:] - energies[0])[:2], (energies, modes)

    slopes, (energies, modes) = xc.jacfwd(first_two, has_aux=True)(p)
    return energies[1:] - energies[0], slopes, energies, modes


p = xnp.asarray([4.0, 1.8])
for _ in range(6):  # Newton's method
    computed, slopes, energies, modes = lines(p, H)
    p = p - xnp.linalg.solve(slopes, computed[:2] - MEASURED[:2])
computed, energies, modes = map(np.asarray, (computed, energies, modes))
errors = 100 * (computed / MEASURED - 1)
print(f"D = {1e4 * float(p[0]):.0f} per cm, a = {float(p[1]):.4f} per Å")
for n, (mine, theirs, error) in enumerate(zip(computed, MEASURED, errors), 1):
    used = " (taken from there)" if n < 3 else ""
    print(f"0 to {n}: computed {mine:9.2f}, measured {theirs:9.2f} per cm, {error:+.4f} %{used}")
heavy = float(lines(p, D)[0][0])
print(f"D35Cl:  computed {heavy:9.2f}, measured {HEAVY:9.2f} per cm, {100 * (heavy / HEAVY - 1):+.4f} %")  # fmt: skip
bond = (1e4 * float(p[0]) - energies[0]) / 8065.544
print(f"bond:   computed {bond:.2f}, measured {BOND:.2f} eV, {100 * (bond / BOND - 1):+.0f} %")

r = grids[1].nodes(0)
with figure("levels", cols=2, size=(10, 4.4)) as (left, right):
    left.plot(r, morse(p, r), "k")
    for energy, mode in zip(energies, modes):
        left.axhline(energy, color="grey", linewidth=0.5)
        left.plot(r[1:-1], energy + 700 * mode * np.sign(mode[np.argmax(abs(mode) > 0.1)]))
    left.set(xlabel="distance of the nuclei (Å)", ylabel="energy (1/cm)", title="levels of H³⁵Cl")
    left.set(xlim=(0.8, 2.4), ylim=(0, 18000))
    n = np.arange(1, 6)
    right.semilogy(n[1:], 100 * abs(n * MEASURED[0] / MEASURED - 1)[1:], "s--", label="equal steps")
    right.semilogy(n[2:], abs(errors[2:]), "o-", label="Morse's potential")
    right.set(xlabel="line, from level 0 to this one", ylabel="error beside what is measured (%)")
    right.set(xticks=n[1:], title="lines that were not used")
    right.legend()

step = (2 * MEASURED[0] - MEASURED[1]) / 2  # by which a line falls behind, in Morse's formula
assert abs(computed - n * (MEASURED[0] - step * (n - 1))).max() < 0.1
assert abs(errors).max() < 0.06 and abs(heavy / HEAVY - 1) < 2e-4
