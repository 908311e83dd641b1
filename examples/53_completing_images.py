"""Can a stack of images be seen when four fifths of the pixels are missing?

The frames of a smooth film are of low CP rank, so 20 % of its pixels are more than enough.
"""

import numpy as np
from _figures import figure

import xcore as xc
from xcore import decomp

rng = np.random.default_rng(0)
y, x, t = (
    np.linspace(-1, 1, 48)[:, None, None],
    np.linspace(-1, 1, 48)[None, :, None],
    np.linspace(0, 1, 24),
)
film = np.exp(-8 * (x**2 + (y - 0.3) ** 2)) * (1 + np.sin(2 * np.pi * t))
film = film + np.exp(-20 * ((x - 0.4) ** 2 + (y + 0.4) ** 2)) * (1 + np.cos(2 * np.pi * t))
film = film + 0.4 * np.cos(2 * x) * np.cos(y) * t
known = rng.random(film.shape) < 0.2

holes = np.where(known, film, np.nan)
found = decomp.cp_gradient(holes, 4, mask=known, ridge=1e-4, rtol=1e-7, key=xc.random.key(0))
model = np.asarray(found.value.to_dense())
error = np.linalg.norm((model - film)[~known]) / np.linalg.norm(film[~known])
print(
    f"{known.mean():.0%} of the pixels known; the others are found with a relative error of {error:.1e}"
)
assert error < 0.05

with figure("frames", cols=3, size=(9, 3)) as axes:
    images = {"film": film, "what is known": holes, "completed": model}
    for ax, (name, image) in zip(axes, images.items(), strict=True):
        ax.imshow(image[:, :, 6], vmin=0, vmax=2.2)
        ax.set_title(name)
        ax.set_axis_off()
