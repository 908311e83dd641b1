"""Units in which a problem has size one, and how far a point is from being a minimum.

A minimum of f(x) is that of f(D z) / s, too. Methods work in z, with D and s chosen so that the Hessian
has a diagonal of ones and the gradient's largest component is 1: then a step, a radius or a tolerance of
1 means the same in all units that variables and values can be written in. D and s are powers of two:
nothing is rounded, and what a method does in other units is the same to the last bit.

The units come from the Hessian where a round of steps begins, and so does the judgement of where it
ended: the Newton step p from there is the error of x to first order, and each of its components is
compared with how large that variable is or how far it has come. So a verdict holds for the point that is
returned, and no unit is in it. (Dennis, Schnabel 1983, chapter 7, on scaling and stopping)
"""

from __future__ import annotations

from typing import Any

from .. import numpy as xnp
from .._core.struct import static, struct
from .._core.types import typeof
from ._problem import Objective, largest
from ._products import View, by_products, power_of_two

FULL = 64  # variables; of more, only products with the Hessian are formed
MATRIX = 512  # the same where methods keep matrices of their own
PRODUCTS = 200  # so many of them at least
# at a minimum of order m a Newton step goes 1/(m - 1) of the way, and the gradient falls by ((m - 2)/(m - 1))ᵐ⁻¹
# only: where m is 8 the way to go is 1 + 18 · (6/7)⁷ = 7 steps, as it should be, where it is 4 then 6 for 3
SLOW = 18


@struct
class Units:
    """x = x_unit · z, f = f_unit · value: powers of two."""

    x: Any
    f: Any

    def of(self, name: str, v):
        """What a method calls ``name``, in the user's units."""
        if name == "x":
            return v * self.x
        if name == "f":
            return v * self.f
        return v / self.x * self.f if name == "g" else v


class InUnits(Objective):
    """An objective, and its bounds, as a method sees them."""

    def __init__(self, problem, units: Units):
        self.problem, self.units = problem, units
        self.who, self.flat = problem.who, problem.flat
        self.lower, self.upper = problem.lower / units.x, problem.upper / units.x

    def value(self, x):
        return self.problem.value(x * self.units.x) / self.units.f


def first_units(x) -> Units:
    """Those of the start's variables, 1 for those that are 0; of many variables the largest one's."""
    many = typeof(x).shape[0] > FULL
    size = xnp.broadcast_to(largest(x), x.shape) if many else x
    return Units(power_of_two(size), xnp.ones((), x.dtype))


@struct
class Sight:
    """What is seen at a point, in its units.

    Attributes:
      f, g: value and gradient.
      step: to where the gradient vanishes, to first order.
      left: of each variable, how far that step and those after it lead, from the gradient where it ends.
      doubt: of each variable, how far rounding errors of the gradient move the end of the step.
      hidden: the part of the step that rounding errors may have made, which is not in it.
      noise: of f, from rounding errors of the point.
      bottom: the eigenvector of the smallest eigenvalue.
      open: number of directions in which there is no curvature but rounding errors.
      gain: what that step promises; infinite where the function is straight.
      least: the smallest eigenvalue of the Hessian with a diagonal of ones; NaN if it is not known.
      diagonal: units in which the Hessian has such a diagonal.
      coupling: the absolute values of that Hessian; None if it is not known.
      sure: whether the step was found; where conjugate gradients did not get there, nothing is known of it.
      kind: what the step is.
    """

    f: Any
    g: Any
    step: Any
    left: Any
    doubt: Any
    gain: Any
    least: Any
    diagonal: Any
    coupling: Any = None
    hidden: Any = None
    noise: Any = None
    bottom: Any = None
    open: Any = None
    sure: Any = True
    kind: str = static(default="")


def look(problem, z, full: int = FULL, products=PRODUCTS) -> Sight:
    """The Newton step at z and what it rests on; of more than ``full`` variables, on so many products at most."""
    f, g = problem.value_and_grad(z)
    held = ((z <= problem.lower) & (g > 0)) | ((z >= problem.upper) & (g < 0))
    free = xnp.where(held, 0, g)
    try:
        if typeof(z).shape[0] <= full:
            kind, view = "Newton step", _by_matrix(problem.hessian(z), free, held, z)
        else:
            kind, view = (
                "Newton step by conjugate gradients",
                by_products(problem, z, free, held, products),
            )
    except Exception:  # whatever a rule that somebody wrote for first derivatives only raises
        return _blind(f, g, free, problem.units.x)
    newton = view.step(free)
    step = xnp.where(held, 0, xnp.clip(z + newton, problem.lower, problem.upper) - z)
    after = problem.value_and_grad(z + step)[1]
    second = xnp.where(held | (z + step <= problem.lower) | (z + step >= problem.upper), 0, after)
    left = xnp.abs(step) + SLOW * xnp.abs(view.step(second))
    return Sight(
        f, g, step, xnp.where(held, 0, left), xnp.where(held, 0, view.doubt), view.gain(newton), view.least,
        view.diagonal, view.coupling, view.hidden, view.noise, view.bottom, view.open, view.sure, kind,
    )  # fmt: skip


def _by_matrix(h, g, held, z) -> View:
    eps, n = xnp.finfo(typeof(g).dtype).eps, typeof(g).shape[0]
    h = xnp.where(held[:, None] | held, 0, h)
    d = equilibrated(xnp.abs(h))
    h, z = h * d * d[:, None], z / d
    fine = xnp.all(xnp.isfinite(h))
    w, q = xnp.linalg.eigh(xnp.where(fine, h, 0))
    most = largest(w)
    least = 4 * n * eps * most
    size = xnp.where(most == 0, 1, xnp.maximum(xnp.abs(w), least))
    # moving z by its own rounding errors changes the gradient by so much
    noise = eps * (xnp.abs(q).T @ (xnp.abs(h) @ xnp.abs(z)))
    # and so, about, do those of evaluating it; a direction of no curvature at all has no place for a minimum either
    bends = xnp.abs(w) > 4 * eps * most
    unknown = xnp.where(bends, 2 * noise / xnp.where(bends, xnp.abs(w), 1), 0)
    c = q.T @ (g * d)
    lost = xnp.abs(c) <= 4 * noise
    hidden, c = xnp.where(lost, c, 0), xnp.where(lost, 0, c)

    def step(g):
        return xnp.where(fine, d * (q @ (xnp.where(lost, 0, q.T @ (-g * d)) / size)), xnp.nan)

    # where the function is straight, no length is known but that of the variables
    straight = (most == 0) & (largest(c) > 0)
    gain = xnp.where(straight, xnp.inf, 0.5 * xnp.sum(c * c / size))
    unit = xnp.where(straight, power_of_two(1 / xnp.sqrt(largest(g * d))), d)
    return View(
        step, lambda _: gain, d * xnp.sqrt((q * q) @ (unknown * unknown)), w[0], unit,
        xnp.abs(xnp.where(fine, h, 1)), d * (q @ (-hidden / size)),
        eps * eps * xnp.vdot(xnp.abs(z), xnp.abs(h) @ xnp.abs(z)), d * q[:, 0],
        xnp.sum(~bends) - xnp.sum(held),
    )  # fmt: skip


def equilibrated(a):
    """d so that the rows of d a d have a largest element of 1: of a definite matrix, its diagonal."""
    diagonal = xnp.diagonal(a)
    d = 1 / xnp.sqrt(xnp.where(diagonal > 0, diagonal, 1))
    for _ in range(3):
        most = xnp.max(a * d * d[:, None], axis=1, initial=0)
        d = d / xnp.sqrt(xnp.where((most > 0) & xnp.isfinite(most), most, 1))
    return power_of_two(d)


def _blind(f, g, free, units) -> Sight:
    """Without curvature no length is known: a gradient is compared with those seen before."""
    one = largest(units) / units  # one unit for all
    return Sight(
        f, g, -free, xnp.abs(free), xnp.zeros_like(g), xnp.vdot(free, free), xnp.full_like(f, xnp.nan), one,
        kind="gradient",
    )  # fmt: skip


def next_units(units: Units, seen: Sight) -> Units:
    """Units in which the Hessian's diagonal is 1 at the point seen, and so is the largest gradient."""
    size = power_of_two(largest(seen.g * seen.diagonal))
    return Units(units.x * seen.diagonal * size, units.f * size * size)


def relative_error(step, reach, diagonal, coupling=None):
    """The largest part of its reach that a variable is still to go.

    A variable that is 0, and always was, has no reach: it is compared with the others, by curvature; with
    those that it is coupled to, where that is known, for their rounding errors are what moves it.
    """
    others = reach / diagonal
    others = largest(others) if coupling is None else xnp.max(coupling * others, axis=1, initial=0)
    least = xnp.finfo(typeof(step).dtype).eps ** 0.5 * others * diagonal
    reach = xnp.maximum(reach, least)
    part = xnp.where(step == 0, 0, xnp.abs(step) / xnp.where(reach > 0, reach, 1))
    return xnp.max(xnp.where((step != 0) & (reach == 0), 1, part), initial=0)
