"""What is seen of a problem at a point: its Newton step, and what that rests on."""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .._control import scan
from .._core import typeof
from ..numpy._select import safe_divide
from ._problem import largest
from ._products import by_products
from ._units import FULL, PRODUCTS, Sight, equilibrated, power_of_two

# at a minimum of order m a Newton step goes 1/(m - 1) of the way, and the gradient falls by ((m - 2)/(m - 1))ᵐ⁻¹
# only: where m is 8 the way to go is 1 + 18 · (6/7)⁷ = 7 steps, as it should be, where it is 4 then 6 for 3
SLOW = 18
SOFT = 2  # so many directions of least curvature, as far as variables may go, are looked along
VANISHED = 16  # times as far at most, where curvature is lost on the way
LEAST = 6  # and so many of least curvature in units in which its diagonal is 1


def look(problem, z, reach, full: int = FULL, products=PRODUCTS) -> Sight:
    """The Newton step at z and what it rests on; of more than ``full`` variables, on at most this many products.

    ``reach``: how large each variable is or how far it came.
    """
    f, g = problem.value_and_grad(z)
    held = ((z <= problem.lower) & (g > 0)) | ((z >= problem.upper) & (g < 0))
    free = xnp.where(held, 0, g)
    try:
        if typeof(z).shape[0] <= full:
            kind = "Newton step"
            seen = _by_matrix(problem.hessian(z), free, held, z, reach)
        else:
            kind = "Newton step by conjugate gradients"
            seen = by_products(problem, z, free, held, products)
    except Exception:  # whatever a rule that somebody wrote for first derivatives only raises
        return _blind(f, g, free, problem.units.x)
    newton = seen.newton(free)
    step = xnp.where(held, 0, xnp.clip(z + newton, problem.lower, problem.upper) - z)
    after, doubt = _from_there(problem, z, g, step, seen)
    second = xnp.where(held | (z + step <= problem.lower) | (z + step >= problem.upper), 0, after)
    left = xnp.abs(step) + SLOW * xnp.abs(seen.newton(second))
    gain = xnp.where(seen.straight, xnp.inf, -0.5 * xnp.vdot(free, newton))
    return seen._replace(
        f=f, g=g, step=step, left=xnp.where(held, 0, left), gain=gain, kind=kind,
        doubt=xnp.where(held, 0, doubt),
    )  # fmt: skip


def _from_there(problem, z, g, step, seen):
    """(the gradient where the step ends, how far rounding errors of gradients move that end).

    They lead as far as themselves by the curvature, where it lasts. At minima of higher order there is less of it on
    the way: gradients at twice the length of a step that may be lost in their rounding errors tell how much.
    """
    u, bend = seen.unsure
    far = z + np.array([[4], [-4]], z.dtype) * u
    there = xnp.clip(far, problem.lower, problem.upper)
    points = xnp.concatenate([(z + step)[None], there])
    grads = scan(lambda _, x: ((), problem.value_and_grad(x)[1]), (), points)[1]
    change = xnp.abs((grads[1:] - g) @ u)
    seeing = xnp.isfinite(change) & xnp.all(there == far, axis=1) & (bend > 0)
    # a quarter of what a lasting curvature changes may be rounding errors
    lasting = xnp.where(seeing, safe_divide(change, bend) - 1, 4)
    return grads[0], seen.doubt * (4 / xnp.clip(xnp.min(lasting), 4 / VANISHED, 4))


def _by_matrix(h, g, held, z, reach) -> Sight:
    eps, n = xnp.finfo(typeof(g).dtype).eps, typeof(g).shape[0]
    h = xnp.where(held[:, None] | held, 0, h)
    d = equilibrated(xnp.abs(h))
    h, z = h * d * d[:, None], z / d
    fine = xnp.all(xnp.isfinite(h))
    h = xnp.where(fine, h, 0)
    w, q = xnp.linalg.eigh(h)
    most = largest(w)
    # moving z by its own rounding errors changes the gradient by so much
    noise = eps * (xnp.abs(q).T @ (xnp.abs(h) @ xnp.abs(z)))
    # and so, about, do those of evaluating it; a direction of no curvature at all has no place for a minimum either
    bends = xnp.abs(w) > 4 * eps * most
    size = xnp.where(most == 0, 1, xnp.where(bends, xnp.abs(w), 4 * eps * most))
    unknown = xnp.where(bends, 2 * noise / size, 0)
    c = q.T @ (g * d)
    lost = xnp.abs(c) <= 4 * noise

    def step(g, along):
        return xnp.where(fine, d * (q @ (xnp.where(along, q.T @ (-g * d), 0) / size)), xnp.nan)

    # where the function is straight, no length is known but that of the variables
    straight = (most == 0) & (largest(xnp.where(lost, 0, c)) > 0)
    unit = xnp.where(straight, power_of_two(1 / xnp.sqrt(largest(g * d))), d)
    missing = xnp.sum(~bends) - xnp.sum(held)
    # of what rounding errors leave open, the step that is the largest part of its variables' reach
    steps = (d * q.T) * unknown[:, None]
    part = xnp.max(xnp.abs(steps) / xnp.where(reach > 0, reach, 1), axis=1, initial=0)
    most_of_it = xnp.argmax(part)
    unsure = steps[most_of_it], w[most_of_it] * unknown[most_of_it] ** 2
    softest, across = _softest(h, held, reach / d)
    some = xnp.cos(xnp.arange(n, dtype=typeof(q).dtype))
    loose = xnp.where(missing > 0, q @ xnp.where(bends, 0, some), softest[0])
    bottoms = xnp.concatenate([q[:, :LEAST].T, softest])
    return Sight(
        lambda g: step(g, ~lost), d * xnp.sqrt((q * q) @ (unknown * unknown)), w[0], unit,
        unsure, xnp.where(fine, xnp.abs(h), 1), hidden=d * (q @ (xnp.where(lost, -c, 0) / size)),
        noise=eps * eps * xnp.vdot(xnp.abs(z), xnp.abs(h) @ xnp.abs(z)),
        bottoms=d * bottoms, rising=xnp.sum(bottoms @ h * bottoms, axis=1) > 4 * eps * n * most,
        open=missing, loose=(d * loose).astype(g.dtype), straight=straight,
        settle=lambda g: xnp.where(missing > 0, step(g, bends), d * across(g * d)),
    )  # fmt: skip


def _softest(h, held, reach):
    """(rows along which the function bends least, as far as variables may go; of a gradient the step in all other
    directions than the first of them)."""
    most = xnp.max(reach, initial=0)
    r = xnp.where(reach > 0, reach / xnp.where(most > 0, most, 1), 1)
    h = h * r * r[:, None]
    # what a bound holds comes last
    w, q = xnp.linalg.eigh(h + xnp.diag(xnp.where(held, 1 + typeof(r).shape[0] * largest(h), 0)))
    q = q * xnp.where(held, 0, r)[:, None]
    size = xnp.where(xnp.abs(w) > 4 * xnp.finfo(w.dtype).eps * largest(w), xnp.abs(w), xnp.inf)
    return q[:, :SOFT].T, lambda g: q[:, 1:] @ ((-g @ q[:, 1:]) / size[1:])


def _blind(f, g, free, units) -> Sight:
    """Without curvature no length is known: a gradient is compared with those seen before."""
    one = largest(units) / units  # one unit for all
    return Sight(
        None, xnp.zeros_like(g), xnp.full_like(f, xnp.nan), one, f=f, g=g, step=-free, left=xnp.abs(free),
        gain=xnp.vdot(free, free), kind="gradient",
    )  # fmt: skip
