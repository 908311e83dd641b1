"""Results in the form that JAX has them in, where ours is another: lists, plain tuples, dtypes of sums."""

from __future__ import annotations

import functools

import numpy as np

import xcore.numpy as xnp
from xcore import config, dtypes, lax
from xcore._core import Array, Tracer, Value
from xcore.scipy import linalg
from xcore.scipy.sparse import linalg as krylov


def _formed(form, function):
    """The function with its results in another form."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        return form(function(*args, **kwargs))

    return call


def _without_info(found) -> tuple:
    """The solution; that it converged is not told there."""
    return found[0], None


top_k = _formed(list, lax.top_k)
lu, hessenberg, tridiagonal, schur = (
    _formed(list, f)
    for f in (lax.linalg.lu, lax.linalg.hessenberg, lax.linalg.tridiagonal, lax.linalg.schur)
)
lu_factor, scipy_schur = _formed(tuple, linalg.lu_factor), _formed(list, linalg.schur)
cg, bicgstab = _formed(_without_info, krylov.cg), _formed(_without_info, krylov.bicgstab)


def _of_vectors(function, only=lambda options: True):
    """The function that takes as many vectors as there are matrices for one each, where ours takes columns."""

    @functools.wraps(function)
    def call(a, b, *args, **kwargs):
        matrices = xnp.ndim(a[0] if isinstance(a, tuple) else a)
        if xnp.ndim(b) == matrices - 1 > 1 and only(kwargs):
            return function(a, xnp.asarray(b)[..., None], *args, **kwargs)[..., 0]
        return function(a, b, *args, **kwargs)

    return call


cho_solve, lu_solve = _of_vectors(linalg.cho_solve), _of_vectors(linalg.lu_solve)
solve_triangular = _of_vectors(linalg.solve_triangular)
solve = _of_vectors(linalg.solve, lambda options: options.get("assume_a") == "pos")


def einsum_path(*args, **kwargs):
    """The pairs alone, and the text."""
    path, text = xnp.einsum_path(*args, **kwargs)
    return path[1:], text


@functools.wraps(xnp.bincount)
def bincount(x, weights=None, *args, **kwargs):
    counts = xnp.bincount(x, weights, *args, **kwargs)
    return counts if weights is None else counts.astype(xnp.asarray(weights).dtype)


@functools.wraps(xnp.promote_types)
def promote_types(a, b):
    """At full width, whatever width arrays have; but integers of 64 bits come of such alone."""
    with config.override(narrow=False, default_bits=64):
        found, given = xnp.promote_types(a, b), [xnp.dtype(x) for x in (a, b)]
    wide = found.kind != "i" or any(x.itemsize == 8 for x in given)
    return found if wide else dtypes.canonicalize_dtype(found)


def exponent(e):
    """A known whole number, of whatever width, as Python's: powers by it keep the dtype of their base."""
    known = isinstance(e, (np.integer, np.ndarray, Array)) and not isinstance(e, Tracer)
    return int(e) if known and not e.ndim and np.issubdtype(e.dtype, np.integer) else e


@functools.wraps(xnp.power)
def power(x1, x2, /):
    return xnp.power(x1, exponent(x2) if isinstance(x1, Value) else x2)


def conj(x, input_dtype=None):
    """The complex conjugate, complex for real numbers too."""
    found = lax.conj(x)
    return found if xnp.iscomplexobj(found) else lax.complex(found, xnp.zeros_like(found))
