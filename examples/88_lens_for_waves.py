"""Where does a lens send waves of one frequency, and is the way back the same as the way there?

A point sends waves of ten cells' length into a box whose edges are open (PML); a disc in which they are slower gathers
them behind it. What a receiver hears of the source is what the source would hear of the receiver (reciprocity), to the
last digits, edges and lens and all. The slope of the energy in the focus by k at every node draws the paths.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore import pde

xc.config.update("default_bits", 64)
box = pde.Grid((66, 44), upper=(6.6, 4.4))
x, y = np.meshgrid(box.nodes(0), box.nodes(1), indexing="ij")
k = 2 * np.pi * (1 + 0.5 / (1 + np.exp(((x - 3.0) ** 2 + (y - 2.2) ** 2 - 1.2**2) / 0.3)))
here, there = pde.Points(box, [[0.73, 2.32]]), pde.Points(box, [[4.71, 2.07]])


def field(source, k):
    op = pde.OpenHelmholtz(box, k, layer=10)
    return op.in_box(pde.solve(op, -source.spread([1.0])))


out, back = field(here, k), field(there, k)
ways = complex(there.read(out)[0]), complex(here.read(back)[0])
apart = abs(ways[0] - ways[1]) / abs(ways[0])
print(f"the way there {ways[0]:.6f}, the way back {ways[1]:.6f}: apart by {apart:.1e}")

alone = field(here, np.full_like(k, 2 * np.pi))
gain = float((abs(there.read(out)) / abs(there.read(alone)))[0])
print(f"amplitude behind the lens, beside that without it: {gain:.2f}")

slope = xc.grad(lambda k: (abs(there.read(field(here, k))) ** 2).sum())(xnp.asarray(k))

edge = (0, 6.6, 0, 4.4)
with figure("lens", cols=3, size=(11, 3)) as (left, middle, right):
    top = np.quantile(abs(np.asarray(out)), 0.99)
    left.imshow(
        np.asarray(out).real.T, extent=edge, origin="lower", cmap="RdBu", vmin=-top, vmax=top
    )
    left.contour(x, y, k, levels=[7.8], colors="k", linewidths=0.8)
    left.set(title="the wave at one moment")
    middle.imshow(abs(np.asarray(out)).T, extent=edge, origin="lower", cmap="magma", vmax=top)
    middle.plot(4.71, 2.07, "wv", ms=5)
    middle.set(title="its amplitude")
    top = np.quantile(abs(np.asarray(slope)), 0.99)
    right.imshow(np.asarray(slope).T, extent=edge, origin="lower", cmap="RdBu", vmin=-top, vmax=top)
    right.set(title="how k changes what is received")
    for axes in (left, middle, right):
        axes.set(xlabel="wave lengths", ylabel="wave lengths")
        axes.grid(False)

assert apart < 1e-8 and gain > 1.3
