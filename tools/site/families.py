"""An example for each distribution, made where the site is: what it prints is what came out."""

from __future__ import annotations

import numpy as np

import xcore.numpy as xnp
from xcore.stats._family import Family

# Shapes that one family or another takes.
_SHAPES = (
    (), (2.5,), (0.3,), (10, 0.3), (-1.0, 2.0), (2.5, 1.5), (0, 6), (10, 2.5, 1.5), (3, 0.4),
)  # fmt: skip
_PLACES = (0.05, 0.5, 0.95)


def quantiles(family: Family):
    """Shapes that it takes, and the quantiles of three probabilities."""
    count = len(family.formulas.shapes)
    for shapes in (s for s in _SHAPES if len(s) == count):
        found = family.ppf(xnp.asarray(_PLACES), *shapes)
        if np.isfinite(found).all() and found[0] < found[2]:
            return shapes, found
    raise ValueError(
        f"tools.site.families: no shapes are known for {family.name}; add some to _SHAPES"
    )


def example(family: Family) -> str:
    """Three quantiles, and the probabilities up to them."""
    shapes, found = quantiles(family)
    more = "".join(f", {s}" for s in shapes)
    back = family.cdf(found, *shapes).round(3)
    return (
        f">>> import xcore.numpy as xnp\n>>> from xcore.stats import {family.name}\n"
        f">>> q = {family.name}.ppf(xnp.array({list(_PLACES)}){more})\n>>> q.round(3)\n{found.round(3)!r}\n"
        f">>> {family.name}.cdf(q{more}).round(3)\n{back!r}"
    )
