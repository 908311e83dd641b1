"""Powers of two that bring the rows and columns of a matrix to one size, where these are far apart.

A y = c with A = R⁻¹ A' C⁻¹ is A' (C⁻¹ y) = R c. Where sizes of rows or columns differ by more than a quarter of the
range of their dtype's exponents, products of norms of A and A⁻¹ leave it, and bounds of errors say nothing; elsewhere
R and C are 1.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from .. import numpy as xnp
from .._control import pure_callback, stop_gradient
from .._control.jit import ShapeDtypeStruct
from .._core import Array, dtypes
from .._solution import Certificate, Status
from ..linalg._range import subnormals
from ._matrix import over_batches
from ._pattern import Pattern
from ._residuals import unless_lost


class Balance(NamedTuple):
    """Exponents of R (..., m) and C (..., n), and whether they are not all 0 (...)."""

    rows: Array
    columns: Array
    far: Array

    def matrix(self, p: Pattern, v: Array) -> Array:
        """The values of R A C."""
        return _shifted(v, self.rows[..., p.rows] + self.columns[..., p.columns])

    def right(self, b: Array) -> Array:
        """R b."""
        return _shifted(b, self.rows[..., None])

    def solution(self, y: Array) -> Array:
        """C y."""
        return _shifted(y, self.columns[..., None])

    def unknowns(self, x: Array) -> Array:
        """y = C⁻¹ x."""
        return _shifted(x, -self.columns[..., None])

    def lengths(self) -> tuple[Array, Array]:
        """C, in units of its largest element; what is below the range is 0, or the smallest number."""
        over = self.columns - xnp.max(self.columns, axis=-1, keepdims=True, initial=-np.inf)
        sizes = xnp.exp2(over)[..., None]
        return sizes, xnp.maximum(sizes, float(xnp.finfo(sizes.dtype).tiny))

    def told(self, told: Certificate, left: Array) -> Certificate:
        """The certificate of A from one of A', and the residual of A'. The condition is out of range, or not known."""
        residual = xnp.max(xnp.abs(_shifted(left, -self.rows[..., None])), -2, initial=0)
        most = lambda c: xnp.where(self.far, xnp.inf, c)  # noqa: E731
        more = {**told.more, "condition_inf": most(told.more["condition_inf"])}
        residual = xnp.where(self.far[..., None], residual, told.residual)
        return told.replace(residual=residual, condition=most(told.condition), more=more)

    def in_range(self, p: Pattern, v: Array, b: Array, x: Array, status: Array, told: Any) -> tuple:
        """No claim where x, or an element of R A C or of R b, left the range."""
        limits = xnp.finfo(xnp.real(x).dtype)
        most = lambda z: xnp.max(xnp.abs(z), axis=-2, initial=0)  # noqa: E731
        small = (most(x) < float(limits.tiny / limits.eps)) & (most(b) > 0)
        gone = small.any(-1) | subnormals(v, -1) | _vanished(v, self.matrix(p, v)).any(-1)
        gone = self.far & (gone | _vanished(b, self.right(b)).any((-2, -1)))
        over = ~xnp.isfinite(x).all(axis=(-2, -1))
        status, told = unless_lost(xnp.where(gone | over, np.inf, 0.0), status, told)
        lost = over & (status == np.int32(Status.ill_conditioned))
        return xnp.where(lost, np.int32(Status.not_finite), status), told


def _vanished(x: Array, scaled: Array) -> Array:
    return (x != 0) & (xnp.abs(scaled) < float(xnp.finfo(xnp.real(x).dtype).tiny))


_SWEEPS = 6


def balance(p: Pattern, v: Array) -> Balance:
    """Of any matrix, on the host."""
    real = dtypes.to_real(v.dtype)
    promised = tuple(ShapeDtypeStruct((n,), real) for n in p.shape)
    call = functools.partial(_on_host, p)
    one = lambda v: pure_callback(call, promised, v, vmap_method="broadcast_all")  # noqa: E731
    f, v = over_batches(one, (stop_gradient(v), 1))
    rows, columns = f(v)
    return Balance(rows, columns, (rows != 0).any(-1) | (columns != 0).any(-1))


def _on_host(p: Pattern, values: Any) -> tuple[np.ndarray, np.ndarray]:
    size, limits = np.abs(np.asarray(values)), np.finfo(values.dtype)
    found = [np.zeros((*size.shape[:-1], n), size.dtype) for n in p.shape]
    known, most = (size >= limits.tiny) & (size <= limits.max), limits.maxexp / 4
    least = size.min(where=known, initial=limits.max)
    if size.max(where=known, initial=limits.tiny) / 2.0**most <= least:
        return found[0], found[1]  # as nearly always
    for i in np.ndindex(*size.shape[:-1]):
        at = np.flatnonzero(known[i])
        of = np.log2(size[i][at])
        if len(at) and np.ptp(of) > most:
            made = _exponents_of(p.rows[at], p.columns[at], of, p.shape)
            if max(map(np.ptp, made)) > most:
                found[0][i], found[1][i] = made
    return found[0], found[1]


def _exponents_of(r: np.ndarray, c: np.ndarray, of: np.ndarray, shape: Any) -> tuple:
    """Those with Σ log² |elements of R A C| about least, and then sums of rows and of columns about 1.

    Each row by the mean of its logarithms, each column by its, in turn: so are found those that a matrix without large
    differences was multiplied by. (Curtis and Reid 1972, "On the automatic scaling of matrices for Gaussian
    elimination")
    """
    sums = [
        functools.partial(np.bincount, x, minlength=n) for x, n in zip((r, c), shape, strict=True)
    ]
    many = [np.maximum(f(), 1) for f in sums]
    columns = np.zeros(shape[1])
    for _ in range(_SWEEPS):
        rows = -sums[0](weights=of + columns[c]) / many[0]
        columns = -sums[1](weights=of + rows[r]) / many[1]
    rows, columns = np.round(rows), np.round(columns)
    rows -= _rounded(sums[0](weights=np.exp2(np.clip(of + rows[r] + columns[c], -1000, 1000))))
    columns -= _rounded(sums[1](weights=np.exp2(np.clip(of + rows[r] + columns[c], -1000, 1000))))
    middle = (rows.max() + rows.min()) // 2
    return rows - middle, columns + middle


def _rounded(sums: np.ndarray) -> np.ndarray:
    return np.round(np.log2(np.where(sums > 0, sums, 1)))


def balance_definite(p: Pattern, v: Array) -> Balance:
    """R = C of a Hermitian definite matrix, by its diagonal, which is among its places."""
    diagonal = xnp.abs(stop_gradient(v))[..., p.diagonal]
    of = _exponents(diagonal)
    far = _apart(of)
    k = xnp.where(far[..., None], -xnp.round(of / 2), 0)
    return Balance(k, k, far)


def _apart(k: Array) -> Array:
    return (_most(k) + _most(-k) > xnp.finfo(k.dtype).maxexp / 4)[..., 0]


def _most(k: Array) -> Array:
    return xnp.max(k, axis=-1, keepdims=True) if k.shape[-1] else xnp.zeros((*k.shape[:-1], 1))


def _exponents(size: Array) -> Array:
    """Whole numbers k with 2ᵏ about these sizes; 0 for 0."""
    most = float(xnp.finfo(size.dtype).max)
    return xnp.round(xnp.log2(xnp.where(size > 0, xnp.minimum(size, most), 1)))


def _shifted(x: Any, k: Array) -> Array:
    """x 2ᵏ, exact within the range, for k to twice the range of exponents."""
    third = xnp.round(k / 3)
    for part in (third, third, k - 2 * third):
        x = x * xnp.exp2(part).astype(x.dtype)
    return x
