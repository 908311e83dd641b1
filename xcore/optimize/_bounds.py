"""Bounds of variables: as a pair (lower, upper), or as SciPy writes them."""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .._core import errors, is_evaluating, tree
from ._problem import Flat

FORMS = (
    "a tuple (lower, upper), each like x0, a number or None; a list with a pair (least, greatest) for "
    "each variable, None for no bound; or an object with lb and ub"
)


def box_of(who: str, flat: Flat, bounds, columns: bool = False):
    """(lower, upper) as vectors; a missing side is infinite.

    ``columns``: whether SciPy's function of this name takes (lower, upper), not one pair per variable.
    """
    if bounds is None:
        return xnp.full(flat.size, -xnp.inf, flat.dtype), xnp.full(flat.size, xnp.inf, flat.dtype)
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        bounds, columns = (bounds.lb, bounds.ub), True
    if is_sides(bounds):
        refuse_ambiguous(who, flat.size, bounds, tuple, not columns)
        try:
            sides = [_like(flat, s, none) for s, none in zip(bounds, (-xnp.inf, xnp.inf))]
        except ValueError as error:  # shapes, or trees, that are not those of x0
            raise _unlike(who, flat, bounds) from error
    else:
        refuse_ambiguous(who, flat.size, bounds, list, columns)
        sides = columns_of(who, bounds, flat.size, flat.dtype)
    if is_evaluating() and bool(xnp.any(sides[0] > sides[1])):
        raise ValueError(f"xcore.{who}: a lower bound is above its upper bound; given {bounds}.")
    return sides


def _unlike(who, flat, bounds):
    shapes = ", ".join(str(typ.shape) for typ in flat.types)
    return ValueError(
        f"xcore.{who}: bounds must be {FORMS}; x0 has shape {shapes}, given {errors.describe(bounds)}."
    )


def is_sides(bounds) -> bool:
    """Whether these bounds are (lower, upper) rather than one pair for each variable."""
    return isinstance(bounds, tuple) and len(bounds) == 2


def _like(flat, side, none):
    """The vector of one side: a tree, one number for all variables, or their vector."""
    if type(side) in (tuple, list):
        side = type(side)([none if s is None else s for s in side])
    side = none if side is None else side
    given = tree.structure(side)
    if given == flat.structure:
        return flat.join(side)
    if tree.is_leaf_structure(given) and xnp.size(side) == 1:
        one = xnp.reshape(xnp.asarray(side, flat.dtype), ())
        return flat.join(tree.unflatten(flat.structure, [one] * len(flat.types)))
    # the variables are in a tree, their bounds in a row, as for SciPy's curve_fit
    row = isinstance(side, list) or tree.is_leaf_structure(given)
    if row and not tree.is_leaf_structure(flat.structure) and xnp.shape(side) == (flat.size,):
        return xnp.asarray(side, flat.dtype)
    return flat.join(side)


def _is_pair(x) -> bool:
    return (isinstance(x, (tuple, list)) and len(x) == 2) or getattr(x, "shape", None) == (2,)


def refuse_ambiguous(who, size, bounds, kind, other_way: bool) -> None:
    """Two pairs for two variables that SciPy reads the other way than the rule for this kind."""
    pairs = isinstance(bounds, kind) and all(isinstance(b, kind) and _is_pair(b) for b in bounds)
    if other_way and pairs and size == len(bounds) == 2:
        raise ValueError(
            f"xcore.{who}: bounds {bounds} of two variables can be read in two ways. Give a tuple of two "
            "arrays, (lower, upper), or a list of two tuples, [(least, greatest), (least, greatest)]."
        )


def columns_of(who: str, bounds, size: int | None = None, dtype=None):
    """(lower, upper) of a table with a pair for each variable; ``size``: how many there must be."""
    shape = getattr(bounds, "shape", None)
    if shape is not None and len(shape) == 2 and shape[1] == 2 and size in (None, shape[0]):
        return xnp.asarray(bounds, dtype)[:, 0], xnp.asarray(bounds, dtype)[:, 1]
    fine = isinstance(bounds, (tuple, list)) and size in (None, len(bounds))
    if not (fine and all(map(_is_pair, bounds))):
        many = "" if size is None else f" There are {size} variables."
        raise ValueError(
            f"xcore.{who}: bounds must be {FORMS}; given {errors.describe(bounds)}.{many}"
        )
    return [
        xnp.asarray([none if pair[i] is None else pair[i] for pair in bounds], dtype)
        for i, none in enumerate((-np.inf, np.inf))
    ]
