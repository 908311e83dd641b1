"""Powers of two that bring the rows and columns of a matrix to one size, where these are far apart.

A y = c with A = R⁻¹ A' C⁻¹ is A' (C⁻¹ y) = R c. Where sizes of rows or columns differ by more than a quarter of the
range of their dtype's exponents, products of norms of A and A⁻¹ leave it, and bounds of errors say nothing; elsewhere
R and C are 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import numpy as xnp
from .._control.custom import stop_gradient
from .._control.loops import fori_loop
from .._core.array import Array
from .._solution import Certificate, Status
from ..linalg._range import subnormals
from ._pattern import Pattern
from ._products import product_of
from ._residuals import each, each_values, unless_lost


class Balance(NamedTuple):
    """Exponents of R (..., m) and C (..., n), and whether they are not all 0 (...)."""

    rows: Array
    columns: Array
    far: Array

    def matrix(self, p: Pattern, v: Array) -> Array:
        """The values of R A C."""
        return _shifted(v, self.rows[..., p.rows] + self.columns[..., p.columns])

    def right(self, b: Array) -> tuple[Array, Array]:
        """R b, in units of its columns where these are near the ends of the range, and the exponents of these."""
        unit = _exponents(xnp.abs(stop_gradient(b))) + self.rows[..., None]
        unit = xnp.max(unit, axis=-2, keepdims=True, initial=-np.inf, where=stop_gradient(b) != 0)
        most = 0.75 * xnp.finfo(unit.dtype).maxexp
        unit = xnp.where(xnp.isfinite(unit), unit - xnp.clip(unit, -most, most), 0)
        unit = xnp.where(self.far[..., None, None], xnp.round(unit), 0)
        return _shifted(b, self.rows[..., None] - unit), unit

    def solution(self, y: Array, unit: Array) -> Array:
        """C y, in units."""
        return _shifted(y, self.columns[..., None] + unit)

    def lengths(self) -> tuple[Array, Array]:
        """C, in units of its largest element; what is below the range is 0, or the smallest number."""
        over = self.columns - xnp.max(self.columns, axis=-1, keepdims=True, initial=-np.inf)
        sizes = xnp.exp2(over)[..., None]
        return sizes, xnp.maximum(sizes, float(xnp.finfo(sizes.dtype).tiny))

    def told(self, told: Certificate, left: Array, unit: Array) -> Certificate:
        """The certificate of A from one of A', and the residual of A'. The condition is out of range, or not known."""
        residual = xnp.max(xnp.abs(_shifted(left, unit - self.rows[..., None])), -2, initial=0)
        most = lambda c: xnp.where(self.far, xnp.inf, c)  # noqa: E731
        more = {**told.more, "condition_inf": most(told.more["condition_inf"])}
        residual = xnp.where(self.far[..., None], residual, told.residual)
        return told.replace(residual=residual, condition=most(told.condition), more=more)

    def in_range(self, v: Array, y: Array, x: Array, status: Array, told: Certificate) -> tuple:
        """No claim of an x that left the range, or of an A that did before it was balanced."""
        limits = xnp.finfo(xnp.real(x).dtype)
        most, there = (xnp.max(xnp.abs(z), axis=-2, initial=0) for z in (x, y))
        gone = ((most < float(limits.tiny / limits.eps)) & (there > 0)).any(-1)
        gone = self.far & (gone | subnormals(stop_gradient(v), -1))
        over = xnp.isfinite(y).all(axis=(-2, -1)) & ~xnp.isfinite(x).all(axis=(-2, -1))
        status, told = unless_lost(xnp.where(gone | over, np.inf, 0.0), status, told)
        return xnp.where(over, np.int32(Status.not_finite), status), told


_SWEEPS = 6


def balance(p: Pattern, v: Array) -> Balance:
    """R and C such that Σ log² |elements of R A C| is about least, and then sums of rows and of columns about 1.

    Each row by the mean of its logarithms, each column by its, in turn: so are found those that a matrix without large
    differences was multiplied by. (Curtis and Reid 1972, "On the automatic scaling of matrices for Gaussian
    elimination")
    """
    size = xnp.abs(stop_gradient(v))
    there = (size > 0).astype(size.dtype)
    of = _exponents(size)

    def sums(along: Pattern, x: Array) -> Array:
        x = x if along is p else each_values(p, x)
        ones = xnp.ones((*x.shape[:-1], along.shape[1], 1), x.dtype)
        return each(product_of(along), x, ones)[..., 0]

    many = [xnp.maximum(sums(along, there), 1) for along in (p, p.T)]

    def sweep(_: Any, k: tuple[Array, Array]) -> tuple[Array, Array]:
        rows = -sums(p, there * (of + k[1][..., p.columns])) / many[0]
        return rows, -sums(p.T, there * (of + rows[..., p.rows])) / many[1]

    begin = tuple(xnp.zeros_like(x) for x in many)
    rows, columns = map(xnp.round, fori_loop(0, _SWEEPS, sweep, begin))
    left = of + rows[..., p.rows] + columns[..., p.columns]
    left = there * xnp.exp2(xnp.minimum(left, xnp.finfo(size.dtype).maxexp / 2))
    more = -_exponents(sums(p, left))
    left = _shifted(left, more[..., p.rows])
    rows, columns = rows + more, columns - _exponents(sums(p.T, left))
    far = _apart(rows) | _apart(columns)
    known = lambda k: xnp.where(far[..., None], k, 0)  # noqa: E731
    return Balance(known(rows), known(columns), far)


def _apart(k: Array) -> Array:
    spread = xnp.max(k, axis=-1, initial=-np.inf) - xnp.min(k, axis=-1, initial=np.inf)
    return spread > xnp.finfo(k.dtype).maxexp / 4


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
