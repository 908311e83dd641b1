"""The least multipliers at a point: where gradients of constraints depend on each other there are many.

A method may end with large ones that cancel, which say that no multipliers exist: those of least length decide.
"""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .._core import typeof
from ._packed import loop
from ._problem import count, largest

TURNS = 6  # guesses which inequalities have multipliers
REFINED = 3


def smallest(g, jh, jc, y, lam, near):
    """(y, λ) with g = y·jh + λ·jc as well as those given, and shorter; or these themselves.

    Args:
      g, jh, jc: gradients of the objective and the constraints, in units in which they are about 1.
      near: which inequalities may have multipliers.
    """
    me = typeof(y).shape[0]
    if not me + typeof(lam).shape[0]:
        return y, lam

    def turn(s):
        mu = _least_squares(g, jh, xnp.where(s["held"][:, None], jc, 0))
        following = s["held"] & (mu[me:] >= 0)
        done = xnp.all(following == s["held"]) | (s["turn"] >= TURNS)
        return {"mu": mu, "held": following, "turn": s["turn"] + np.int32(1), "done": done}

    start = {
        "mu": xnp.concatenate([y, lam]), "held": near, "turn": count(0), "done": xnp.zeros((), bool),
    }  # fmt: skip
    # own loop: a few turns on a small system
    found = loop(lambda s: ~s["done"], turn, start)["mu"]
    new_y, new_lam = found[:me], xnp.where(near, found[me:], 0)
    left, before = (largest(g - a @ jh - b @ jc) for a, b in ((new_y, new_lam), (y, lam)))
    size, had = (xnp.maximum(largest(a), largest(b)) for a, b in ((new_y, new_lam), (y, lam)))
    noise = 64 * xnp.finfo(g.dtype).eps * xnp.maximum(largest(g), size)
    take = xnp.all(new_lam >= 0) & (left <= before + noise) & (size < 0.5 * had)
    return xnp.where(take, new_y, y), xnp.where(take, new_lam, lam)


def _least_squares(g, jh, jc):
    """The shortest multipliers of least error, where rows depend on each other: by a weight refined away."""
    rows = xnp.concatenate([jh, jc])
    m = typeof(rows).shape[0]
    weight = xnp.finfo(g.dtype).eps ** 0.75 * xnp.maximum(1, largest(rows)) ** 2
    gram = rows @ rows.T + weight * xnp.eye(m, dtype=g.dtype)
    mu = xnp.zeros(m, g.dtype)
    for _ in range(REFINED):
        mu = mu + xnp.linalg.solve(gram, rows @ (g - mu @ rows))
    return mu
