"""Higher derivatives along curves: Taylor series through functions."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import numpy as xnp
from .._control import jvp
from .._core import PyTree, dtypes, errors, tree, typeof

__all__ = ["jet"]


def jet(
    fun: Callable[..., Any], primals: Sequence[PyTree], series: Sequence[PyTree],
    factorial_scaled: bool = True,
) -> tuple[PyTree, PyTree]:  # fmt: skip
    """A function's value and its derivatives along a curve, of as many orders as are given.

    For the curve x(z) with x(0) = primals and derivatives ``series`` at z = 0: the value and the
    derivatives of ``fun(x(z))`` there, by forward mode within forward mode.

    Args:
      fun: function of the primals.
      primals: a tuple of pytrees of real or complex arrays.
      series: for each of them its derivatives of order 1, 2, …: a list of pytrees like it, or a pytree
        like it with such lists as leaves.
      factorial_scaled: False if given and wanted are coefficients of powers of z instead, that is
        derivatives divided by the factorials of their orders.

    >>> from xcore.experimental.jet import jet
    >>> value, (first, second) = jet(lambda x: x**3, (2.0,), ([1.0, 0.0],))
    >>> float(value), float(first), float(second)
    (8.0, 12.0, 12.0)
    """
    if len(primals) != len(series):
        wanted = f"one list for each of the {len(primals)} primals"
        raise errors.bad_argument("jet", "series", errors.Words(f"{len(series)} of them"), wanted)
    primals = tuple(tree.map(xnp.asarray, x) for x in primals)
    terms = [t for x, given in zip(primals, series, strict=True) for t in _terms(x, given)]
    order = len(terms[0]) if terms else 0
    if any(len(t) != order for t in terms):
        lengths = sorted({len(t) for t in terms})
        raise errors.bad_argument(
            "jet", "series", errors.Words(f"lists of lengths {lengths}"), "one length"
        )
    leaves, structure = tree.flatten(primals)
    scales = [math.factorial(n) if factorial_scaled else 1 for n in range(1, order + 1)]
    curves = [_curve(x, t, scales) for x, t in zip(leaves, terms, strict=True)]
    along = lambda z: fun(*tree.unflatten(structure, [c(z) for c in curves]))  # noqa: E731
    wide = [dtypes.to_real(typeof(x).dtype) for x in leaves]
    zero = xnp.zeros((), max(wide, key=lambda d: d.itemsize) if wide else None)
    value, found = _derivatives(along, zero, order)
    scale = [1 if factorial_scaled else math.factorial(n) for n in range(1, order + 1)]
    return value, tree.map(lambda v, *ds: [d / s for d, s in zip(ds, scale)], value, *found)


def _terms(x, given):
    """The derivatives of each leaf of a primal, in lists."""
    leaves, structure = tree.flatten(x)
    if isinstance(given, (list, tuple)) and all(tree.structure(g) == structure for g in given):
        columns = [tree.leaves(g) for g in given]
        return [[c[i] for c in columns] for i in range(len(leaves))]
    is_list = lambda g: isinstance(g, (list, tuple)) and not tree.structure(g) == structure  # noqa: E731
    found, outer = tree.flatten(given, is_leaf=is_list)
    if outer != structure or not all(isinstance(g, (list, tuple)) for g in found):
        raise errors.bad_argument("jet", "series", tree.structure(given), f"lists of {structure}")
    return found


def _curve(x, terms, scales):
    """The polynomial of z through x with these derivatives, by Horner's rule."""
    t = typeof(x)
    if terms and not dtypes.is_inexact(t.dtype):
        raise errors.bad_argument("jet", "primals", t, "floating-point or complex numbers")
    terms = [xnp.asarray(v) for v in terms]
    for v in terms:
        if typeof(v).shape != t.shape:
            raise errors.shape_mismatch("jet", "need the same shape", primal=t, term=typeof(v))

    def at(z):
        total = 0 * x
        for v, scale in zip(reversed(terms), reversed(scales), strict=True):
            total = (total + v / scale) * z
        return x + total.astype(t.dtype)

    return at


def _derivatives(f, z, order: int):
    """(value, [derivatives of order 1, 2, … at z])."""

    g = functools.partial(_entries, f)
    for _ in range(order):
        g = functools.partial(_with_slope, g)
    value, *found = g(z)
    return value, found


def _entries(f, z):
    """The result of f as the only entry; nothing in it may be an integer."""
    value = tree.map(xnp.asarray, f(z))
    for x in tree.leaves(value):
        if not dtypes.is_inexact(typeof(x).dtype):
            raise errors.bad_argument(
                "jet", "the result of fun", typeof(x), "floating-point numbers"
            )
    return (value,)


def _with_slope(g, z):
    """What g gives, and the derivative of its last entry."""
    entries, slopes = jvp(g, (z,), (xnp.ones((), typeof(z).dtype),))
    return (*entries, slopes[-1])
