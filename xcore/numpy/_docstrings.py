"""Docstrings made of parts: a shared argument is described once for all functions that take it."""

from __future__ import annotations

from .._core import fused

_ARGUMENTS = {
    "a": "array.",
    "x": "array.",
    "axis": "an int or several; all by default.",
    "dtype": "in which to compute, and of the result.",
    "out": "must be None: arrays are immutable.",
    "keepdims": "keep the reduced axes with length 1.",
    "initial": "a number that takes part.",
    "where": "which elements take part.",
    "promote_integers": "whether integers are widened to the default width.",
    "ddof": "the sum of squares is divided by n - ddof.",
    "mean": "the mean if it is known, with the reduced axes kept.",
    "correction": "ddof under its name in the Array API.",
}
_IMPORTS = "import xcore as xc, xcore.numpy as xnp"
ONE_AXIS = "which axis; None flattens first."


def named(f, name: str, doc: str, example: str, count: int, module: str = "xcore.numpy"):
    """The public function made of ``f``: named, documented, fused. The example: ``call → result``."""
    f.__name__ = f.__qualname__ = name
    f.__module__ = module
    needs = "import xcore.numpy as xnp" if module == "xcore.numpy" else _IMPORTS
    call, _, result = example.partition(" → ")
    lines = "\n    ".join(result.split("\n"))
    f.__doc__ = f"{doc}\n\n    >>> {needs}\n    >>> {call}\n    {lines}\n    "
    return fused(count)(f)


def described(doc: str, example: str, **about: str):
    """A decorator for a function of one array: documents its arguments, and fuses it.

    ``about`` says what an argument means where that is not what it means elsewhere.
    """

    def wrap(f):
        code = f.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        lines = [f"      {name}: {about.get(name) or _ARGUMENTS[name]}" for name in names]
        return named(f, f.__name__, "\n".join([doc, "", "    Args:", *lines]), example, 1)

    return wrap
