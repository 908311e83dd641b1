"""Arrays whose elements are several numbers each, such as random keys, in functions that move elements."""

from __future__ import annotations

import functools
import inspect

from .._control import vmap
from .._core import errors, tree
from .._core.types import ShapeDtypeStruct


class Compound:
    """Base of such arrays: the numbers of an element lie along the last axis of ``_data``.

    A subclass has a ``dtype``, and ``_with(data)`` makes an array of its kind from other data.
    """

    __slots__ = ()
    _counts_as_array = True


def _is_compound(x) -> bool:
    return isinstance(x, Compound)


def _may_hold(x) -> bool:
    """Whether x is such an array, or a list whose first element is one."""
    while type(x) in (list, tuple) and x:
        x = x[0]
    return isinstance(x, Compound)


def moves(*names: str):
    """Marks a function that only moves the elements of these arguments: it then takes such arrays.

    What it does with elements it does with each of their numbers, so it is mapped over the numbers.
    """

    def wrap(f):
        signature = inspect.signature(f)
        known = list(signature.parameters)
        places = tuple(known.index(n) for n in names)
        varies = signature.parameters[names[0]].kind is inspect.Parameter.VAR_POSITIONAL

        @functools.wraps(f)
        def moved(*args, **kwargs):
            found = [args[i] for i in places if i < len(args)] if not varies else args
            if kwargs:
                found = [*found, *[kwargs[n] for n in names if n in kwargs]]
            if not any(map(_may_hold, found)):
                return f(*args, **kwargs)
            return _lift_to_keys(f, signature.bind(*args, **kwargs), names)

        return moved

    return wrap


def fills(f):
    """Makes a ``*_like`` function give such an array for one: the value is that of all of their numbers."""
    signature = inspect.signature(f)
    first = next(iter(signature.parameters))

    @functools.wraps(f)
    def filled(*args, **kwargs):
        like = args[0] if args else kwargs.get(first)
        if not isinstance(like, Compound):
            return f(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        return _filled_like(f, bound, like, first)

    return filled


def _filled_like(f, bound, like, first: str):
    given = bound.arguments
    shape = given.get("shape")
    shape = like.shape if shape is None else shape
    dtype = given.pop("dtype", None)
    if dtype is not None and dtype != like.dtype:
        given.update({first: ShapeDtypeStruct(shape, dtype)})
        return f(*bound.args, **bound.kwargs)
    numbers = like._data.shape[-1]
    shape = (shape, numbers) if isinstance(shape, int) else (*shape, numbers)
    given.update({first: like._data, "shape": shape})
    return like._with(f(*bound.args, **bound.kwargs))


def _lift_to_keys(f, bound, names: tuple):
    held = {n: bound.arguments[n] for n in names if n in bound.arguments}
    leaves, structure = tree.flatten(held, is_leaf=_is_compound)
    like = _common_type(f.__name__.lstrip("_"), leaves)

    def of_numbers(numbers):
        bound.arguments.update(tree.unflatten(structure, numbers))
        return f(*bound.args, **bound.kwargs)

    out = vmap(of_numbers, in_axes=-1, out_axes=-1)([x._data for x in leaves])
    return tree.map(like._with, out)


def _common_type(name: str, leaves) -> Compound:
    """The first of the arrays, if all are of one kind."""
    like = next(x for x in leaves if _is_compound(x))
    for x in leaves:
        if getattr(x, "dtype", None) != like.dtype or not _is_compound(x):
            given = f"an array of {x.dtype}" if _is_compound(x) else errors.describe(x)
            raise TypeError(
                f"xcore.{name}: {given} does not go together with an array of {like.dtype}; "
                "all have to be of this dtype."
            )
    return like
