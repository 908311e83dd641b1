"""The operator of a problem of modes in units of its own: lengths of about 1, coefficients up to 1.

-div(a grad u) + c u = w u becomes, with x = h y, a = A b and c = A d / h², the same with b and d, and
w = A / h² times its eigenvalue; a mode of norm 1 there is one here after division by h to the power of half
the dimension. A and h are powers of two, h of four, so that nothing is rounded.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import Array, dtypes, errors, tree, typeof
from ..linalg._range import magnitude, subnormals
from . import _curvilinear
from ._boundary import Robin
from ._diffusion import Diffusion
from ._laplacian import Laplacian
from ._masked import Masked


def in_units(op) -> tuple:
    """(op in units of its own, A, the binary exponent of h)."""
    lengths = [u - x for u, x in zip(op.grid.upper, op.grid.lower, strict=True)]
    long = max(lengths[i] for i in _curvilinear.lengths(op.coordinates, op.grid.ndim))
    power = 2 * (math.frexp(long)[1] // 2)
    op = _shorter(op, power)
    if isinstance(op, Laplacian):
        return op, xnp.ones((), np.float32), power
    where = (lambda x: xnp.where(op.inside, x, 0)) if isinstance(op, Masked) else lambda x: x
    sizes = [xnp.max(xnp.abs(where(ops.stop_gradient(x)))) for x in tree.leaves(op.a)]
    unit = magnitude(xnp.stack([x.astype(op.dtype) for x in sizes]))
    divided = lambda x: (x.astype(op.dtype) / unit).astype(x.dtype)  # noqa: E731
    parts: dict[str, Any] = {"a": tree.map(divided, op.a)}
    if getattr(op, "mixed", None):
        parts["mixed"] = tree.map(divided, op.mixed)
    if op.c is not None:
        parts["c"] = times(op.c.astype(op.dtype) / unit, 2 * power)
    return op.replace(**parts), unit, power


def _shorter(op, power: int):
    """The operator on a grid that is 2 ** power times as small."""
    g, h = op.grid, math.ldexp(1.0, power)
    long = _curvilinear.lengths(op.coordinates, g.ndim)
    by = [h if i in long else 1.0 for i in range(g.ndim)]
    each = lambda values: tuple(v / b for v, b in zip(values, by, strict=True))  # noqa: E731
    lines = zip(g.stretched, by, strict=True)
    stretched = tuple(None if x is None else tuple(v / b for v in x) for x, b in lines)
    grid = g.replace(lower=each(g.lower), upper=each(g.upper), stretched=stretched)
    if isinstance(op, Masked):
        return op.replace(grid=grid, gaps=tree.map(lambda x: times(x, -power), op.gaps))
    nearer = lambda f: f.replace(beta=f.beta / h) if isinstance(f, Robin) else f  # noqa: E731
    more = (
        {"leaks": tree.map(lambda x: times(x, power), op.leaks)}
        if isinstance(op, Diffusion)
        else {}
    )
    return op.replace(grid=grid, faces=tuple(tuple(map(nearer, pair)) for pair in op.faces), **more)


def times(x, power: int):
    """x 2 ** power, also where that number is out of the range of x's dtype: in two parts."""
    dtype = typeof(x).dtype
    info = dtypes.finfo(dtype)
    parts = np.clip([power // 2, power - power // 2], info.minexp, info.maxexp - 1)
    first, second = np.ldexp(1.0, parts).astype(dtype)
    return x * first * second


def out_of_units(w, modes, unit, power: int, dim: int):
    """(w, modes) of the operator as it was given, in a space of so many dimensions."""
    dtype = typeof(w).dtype
    root = magnitude(xnp.sqrt(unit))
    w = times(w * root.astype(dtype), -2 * power) * (unit / root).astype(dtype)
    return w, times(modes, -power * dim // 2)


def known_as_positive(op):
    """Whether a is positive, c not negative, and both are normal numbers: where a program is made before
    they are known, the constructor does not look."""
    if isinstance(op, Laplacian):
        return xnp.ones((), bool)
    masked = isinstance(op, Masked)
    a = [xnp.where(op.inside, x, 1) if masked else x for x in tree.leaves(op.a)]
    fine = [xnp.all((x > 0) & xnp.isfinite(x)) & ~subnormals(x) for x in a]
    if op.c is not None:
        c = xnp.where(op.inside, op.c, 0) if masked else op.c
        fine.append(xnp.all((c >= 0) & xnp.isfinite(c)))
    return xnp.all(xnp.stack(fine))


def lost(within, found, noise):
    """For each mode whether it, or its eigenvalue, left the range of its dtype on the way back. Eigenvalues
    up to the size of ``noise`` may vanish."""
    (w, modes), axes = found, tuple(range(1, typeof(found[1]).ndim))
    tiny, sizes = float(dtypes.finfo(typeof(w).dtype).tiny), xnp.max(xnp.abs(modes), axis=axes)
    small = (xnp.abs(within) > noise) & (xnp.abs(w) < tiny)
    return ~(xnp.isfinite(w) & xnp.isfinite(sizes)) | small | (sizes < tiny)


def refuse_lost(who: str, op, which, dtype) -> None:
    """An error where numbers are known to be out of range."""
    if type(which) is Array and np.any(np.asarray(which)):
        lengths = tuple(u - x for u, x in zip(op.grid.upper, op.grid.lower, strict=True))
        want = f"such that eigenvalues and modes are in the range of {np.dtype(dtype)}"
        advice = "Take other units of length, or of a and c, or dtype=float64."
        raise errors.bad_argument(who, "the lengths of the grid", lengths, want, advice)
