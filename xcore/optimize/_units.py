"""Units in which a problem has size one, and how far a point is from being a minimum.

A minimum of f(x) is that of f(D z) / s, too. Methods work in z, with D and s chosen so that the Hessian
has a diagonal of ones and the gradient's largest component is 1: then a step, a radius or a tolerance of
1 means the same in all units that variables and values can be written in. D and s are powers of two:
nothing is rounded, and what a method does in other units is the same to the last bit; but for methods that learn
curvature from gradients, where units that differ little are taken for one (``alike``).

The units come from the Hessian where a round of steps begins, and so does the judgement of where it
ended: the Newton step p from there is the error of x to first order, and each of its components is
compared with how large that variable is or how far it has come. So a verdict holds for the point that is
returned, and no unit is in it. (Dennis, Schnabel 1983, chapter 7, on scaling and stopping)
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from .. import _ops as ops
from .. import numpy as xnp
from .._core import struct, typeof
from ._problem import Objective, largest

FULL = 64  # variables; of more, only products with the Hessian are formed
MATRIX = 512  # the same where methods keep matrices of their own
PRODUCTS = 200  # so many of them at least
ALIKE = 32  # units within such a factor of each other


def power_of_two(x, part: float = 0.5):
    """The power of two next to each |x|; 1 for zeros and what is no number.

    Its powers up to 1 / part, and their reciprocals, are numbers, too.
    """
    limits = xnp.finfo(typeof(x).dtype)
    fine = (x != 0) & xnp.isfinite(x)
    size = xnp.clip(xnp.abs(x), (4 * limits.tiny) ** part, (limits.max / 4) ** part)
    bits = limits.bits - 1 - limits.nmant
    kept = ops.reduce_precision(size, exponent_bits=bits, mantissa_bits=0)
    return xnp.where(fine, kept, 1).astype(typeof(x).dtype)


def where_far(x):
    """The power of two next to each |x| where it is so far from 1 that powers of x may leave the range; else 1."""
    size = power_of_two(x, 1.0)
    far = float(xnp.finfo(typeof(x).dtype).max) ** 0.125
    return xnp.where((size > far) | (size < 1 / far), size, 1).astype(typeof(x).dtype)


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


class Sight(NamedTuple):
    """What is seen at a point, in its units.

    Attributes:
      newton: of a gradient, the step to where it vanishes, to first order.
      doubt: of each variable, how far rounding errors of the gradient move the end of the step.
      unsure: the step that they make most of, and the curvature along it, of that length.
      least: the smallest eigenvalue of the Hessian with a diagonal of ones; NaN if it is not known.
      diagonal: units in which the Hessian has such a diagonal.
      coupling: the absolute values of that Hessian; None if it is not known.
      hidden: the part of the step that rounding errors may have made, which is not in it.
      noise: of f, from rounding errors of the point.
      bottoms: rows along which there is least curvature.
      rising: for each of them, whether there is some, upwards.
      open: number of directions in which there is no curvature but rounding errors.
      loose: one of those, or where there are none that of least curvature; None if it is not known.
      settle: the step in all other directions, however short, of a gradient.
      sure: whether the step was found; where conjugate gradients did not get there, nothing is known of it.
      straight: whether there is a slope without any curvature.
      f, g: value and gradient.
      step: that of the gradient, as far as bounds allow.
      left: of each variable, how far that step and those after it lead, from the gradient where it ends.
      gain: what that step promises; infinite where the function is straight.
      kind: what the step is.
    """

    newton: Any
    doubt: Any
    least: Any
    diagonal: Any
    unsure: Any = None
    coupling: Any = None
    hidden: Any = None
    noise: Any = None
    bottoms: Any = None
    rising: Any = None
    open: Any = None
    loose: Any = None
    settle: Any = None
    sure: Any = True
    straight: Any = False
    f: Any = None
    g: Any = None
    step: Any = None
    left: Any = None
    gain: Any = None
    kind: str = ""


def equilibrated(a):
    """d so that the rows of d a d have a largest element of 1: of a definite matrix, its diagonal."""
    diagonal = xnp.diagonal(a)
    d = 1 / xnp.sqrt(xnp.where(diagonal > 0, diagonal, 1))
    # without curvature of its own a variable takes its unit from those that it is coupled to
    coupled = xnp.max(xnp.where(diagonal > 0, a * d, 0), axis=1, initial=0)
    bare = (diagonal == 0) & (coupled > 0) & xnp.isfinite(coupled)
    d = xnp.where(bare, 1 / xnp.where(bare, coupled, 1), d)
    for _ in range(3):
        most = xnp.max(a * d * d[:, None], axis=1, initial=0)
        d = d / xnp.sqrt(xnp.where((most > 0) & xnp.isfinite(most), most, 1))
    return power_of_two(d)


def next_units(units: Units, seen: Sight) -> Units:
    """Units in which the Hessian's diagonal is 1 at the point seen, and so is the largest gradient."""
    size = power_of_two(largest(seen.g * seen.diagonal))
    return Units(units.x * seen.diagonal * size, units.f * size * size)


def alike(units: Units) -> Units:
    """One unit for all variables where they differ little.

    Such differences tell of where the point happens to be. Units of their own then cost methods that learn curvature
    step by step more than they give: six times as many steps along a curved valley of 1000 variables.
    """
    logs = xnp.log2(units.x)
    middle = power_of_two(xnp.exp2(xnp.mean(logs)))
    few = xnp.max(logs, initial=-xnp.inf) - xnp.min(logs, initial=xnp.inf) <= math.log2(ALIKE)
    return units.replace(x=xnp.where(few, middle, units.x))


def relative_error(step, reach, diagonal, start, coupling=None):
    """The largest part of its reach that a variable is still to go.

    A variable that begins at 0, and stays there, has no reach: it is compared with the others, by curvature;
    with those that it is coupled to, where that is known, for their rounding errors are what moves it.
    """
    others = reach / diagonal
    others = largest(others) if coupling is None else xnp.max(coupling * others, axis=1, initial=0)
    eps = xnp.finfo(typeof(step).dtype).eps
    reach = xnp.maximum(reach, xnp.where(start == 0, eps**0.5 * others * diagonal, 0))
    part = xnp.where(step == 0, 0, xnp.abs(step) / xnp.where(reach > 0, reach, 1))
    return xnp.max(xnp.where((step != 0) & (reach == 0), 1, part), initial=0)
