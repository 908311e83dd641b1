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
    middle = (_most(rows) - _most(-rows)) // 2
    rows, columns = rows - middle, columns + middle
    far = _apart(rows) | _apart(columns)
    known = lambda k: xnp.where(far[..., None], k, 0)  # noqa: E731
    return Balance(known(rows), known(columns), far)


def balance_definite(p: Pattern, v: Array) -> Balance:
    """R = C of a Hermitian definite matrix, by its diagonal, which is among its places."""
    diagonal = xnp.abs(stop_gradient(v))[..., p.find(*[np.arange(p.shape[0])] * 2)]
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
