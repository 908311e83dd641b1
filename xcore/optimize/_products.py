"""How far a minimum is, and whether it is one, from products with the Hessian only.

Variables are put in units in which rows of the Hessian have length 1, about. Newton's equation is solved by
conjugate gradients, and so is one for the rounding errors that a gradient may have, with random signs: it tells
how far they reach, and, as its right-hand side has a part in every direction, whether the function bends
downwards, or not at all, along one. What was not solved in so many products says nothing.
"""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .. import random
from .._control import vmap
from .._core import typeof
from ..linalg._cg import cg_begin, cg_step
from ._loop import iterations
from ._packed import loop
from ._problem import largest
from ._units import Sight, power_of_two

PROBES = 6  # vectors at once
BALANCES = 8  # each halves the decades that units are apart


def by_products(problem, z, g, held, products) -> Sight:
    eps, n = xnp.finfo(typeof(g).dtype).eps, typeof(g).shape[0]
    times = problem.newton(z)[1]
    free = lambda v: xnp.where(held, 0, times(xnp.where(held, 0, v)))  # noqa: E731
    draws = random.normal(random.key(0), (PROBES + 1, n), z.dtype)
    d = balanced(free, draws[:PROBES])
    scaled = lambda v: d * free(d * v)  # noqa: E731

    def solved(b):
        size = power_of_two(largest(b))
        found = _conjugate_gradients(scaled, b / size, 0.1 / n**0.5, products)
        return size * found["x"], found

    # a gradient's rounding errors are those of moving z by its own
    noise = eps * xnp.mean(xnp.abs(vmap(scaled)(draws[:PROBES] * (z / d))), axis=0)
    reach, known = solved(draws[PROBES] * noise)
    open_ = xnp.abs(known["least"]) <= 4 * n * eps * known["most"]
    dead = ~held & (xnp.max(xnp.abs(vmap(scaled)(draws[:PROBES])), axis=0) == 0)
    bends = known["least"] < -(eps**0.5) * known["most"]
    newton, found = solved(-d * g)
    again = lambda g: d * solved(-d * g)[0]  # noqa: E731
    probable = 2 * reach  # as far as rounding errors may lead
    ways = d * xnp.stack([known["way"], dead.astype(z.dtype)])
    return Sight(
        _first_of(d * newton, again), d * xnp.abs(probable), xnp.where(open_, 0, known["least"]),
        power_of_two(d),
        (d * probable, xnp.vdot(probable, scaled(probable))),
        hidden=xnp.zeros_like(z), noise=xnp.vdot(noise, noise), bottoms=ways,
        rising=xnp.stack([~(open_ | bends), xnp.zeros((), bool)]),
        open=xnp.sum(dead, dtype=np.int32) + open_.astype(np.int32),
        sure=(found["done"] & (known["done"] | open_)) | bends,
    )  # fmt: skip


def _first_of(known, solve):
    """A function that knows its first value, and solves for others."""
    values = [known]
    return lambda g: values.pop() if values else solve(g)


def balanced(times, draws):
    """d so that rows of d h d have length 1, about."""

    def turn(s):
        d, k = s
        size = xnp.mean(xnp.abs(d * vmap(lambda v: times(d * v))(draws)), axis=0)
        fine = (size > 0) & xnp.isfinite(size)
        return d / xnp.sqrt(xnp.where(fine, size, 1)), k + np.int32(1)

    start = xnp.ones_like(draws[0]), xnp.zeros((), np.int32)
    # own loop: counted
    return loop(lambda s: s[1] < BALANCES, turn, start)[0]


def _conjugate_gradients(times, b, target, limit):
    """x with h x = b, whether it is one, the least and the largest curvature seen, and the way of the least.

    It ends where the residual has fallen to ``target``, after ``limit`` products, or where h does not bend upwards.
    """
    eps, bb = xnp.finfo(typeof(b).dtype).eps, xnp.vdot(b, b)
    nothing = xnp.zeros((), bool)
    start = cg_begin(xnp.zeros_like(b), b) | {
        "rr": bb, "done": bb == 0, "least": xnp.full_like(bb, xnp.inf), "most": xnp.zeros_like(bb),
        "way": xnp.zeros_like(b), "bad": nothing,
    }  # fmt: skip

    def step(s):
        new, curvature = cg_step(s, times, lambda r: r)
        d = new["p"]
        dd = xnp.vdot(d, d)
        bend = curvature / xnp.where(dd > 0, dd, 1)
        most, less = xnp.maximum(s["most"], xnp.abs(bend)), bend < s["least"]
        bad = ~(bend > 4 * typeof(b).shape[0] * eps * most)
        kept = {k: xnp.where(bad, s[k], new[k]) for k in ("x", "r")}
        rr = xnp.vdot(kept["r"], kept["r"])
        return new | kept | {
            "rr": rr, "done": rr <= target * target * bb, "bad": bad, "most": most,
            "least": xnp.where(less, bend, s["least"]),
            "way": xnp.where(less, d / xnp.where(dd > 0, xnp.sqrt(dd), 1), s["way"]),
        }  # fmt: skip

    return iterations(lambda s: ~(s["done"] | s["bad"]), step, start, limit)
