"""The matrix M of A x = w M x: its inner product, and solutions with it.

Eigenvectors are orthonormal in xᴴ M y, and residuals r = A x - w M x are measured in the dual norm (rᴴ M⁻¹ r)^½, in
which |λ - w| <= |r| holds as it does of M = 1. (Parlett 1998, chapter 15)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import vmap
from .._core import dtypes, struct, tree, typeof
from ._arguments import epsilon
from ._elimination import first_zero
from ._factors import factorise
from ._krylov import CG
from ._linear_solve import solved_within
from ._operators import FunctionOperator, InUnits, LinearOperator, Matrix, as_operator
from ._range import inner, safe_norm
from ._truth import norm1_estimate

ROOTS: dict[type, Any] = {}  # of classes of operators: functions to (M⁻¹, whether M is definite)


@struct
class Mass:
    """M divided by a power of two, the operator M⁻¹ times it, and whether M is known to be positive definite.

    ``norms`` are about (‖M‖, ‖M⁻¹‖), from above.
    """

    m: Any
    inverse: Any
    definite: Any
    unit: Any
    norms: Any = None

    def mv(self, x):
        return self.m.mv(x).astype(typeof(x).dtype)

    def matmat(self, x):
        return self.m.matmat(x).astype(typeof(x).dtype)

    def solve(self, x):
        return self.inverse.matmat(x).astype(typeof(x).dtype)

    def own_length(self):
        """What vectors of length 1 by ``m`` are multiplied by to be of length 1 by M."""
        return 1 / xnp.sqrt(self.unit)


def length(x, mass):
    """The length of a vector, (xᴴ M x)^½."""
    return safe_norm(x) if mass is None else xnp.sqrt(xnp.real(inner(x, mass.mv(x))))


def lengths(columns, mass):
    """That of columns."""
    if mass is None:
        return vmap(safe_norm, in_axes=1)(columns)
    return xnp.sqrt(_products(columns, mass.matmat(columns)))


def dual_lengths(columns, mass):
    """(rᴴ M⁻¹ r)^½ of columns, which may be far from 1."""
    if mass is None:
        return lengths(columns, None)
    size = vmap(safe_norm, in_axes=1)(columns)
    unit = xnp.where((size > 0) & xnp.isfinite(size), size, 1)
    columns = columns / unit.astype(typeof(columns).dtype)
    return xnp.sqrt(_products(columns, mass.solve(columns))) * unit


def weighted(x, mass):
    """M x, of vectors or columns."""
    if mass is None:
        return x
    return mass.mv(x) if typeof(x).ndim == 1 else mass.matmat(x)


def _products(x, y):
    """xᴴ y of each column."""
    return xnp.real(xnp.sum(xnp.conj(x) * y, axis=0))


def rounded(v, scale, mass):
    """What rounding of A v and M v may add to dual lengths of residuals, where eigenvalues go up to a scale."""
    if mass is None:
        return 0.0
    most, inverse = mass.norms
    n = typeof(v).shape[0]
    size = vmap(safe_norm, in_axes=1)(v)
    return (4 + n**0.5 / 4) * epsilon(size) * scale * most * xnp.sqrt(inverse) * size


def mass_of(m: Any, unit: Any, like: Any) -> Mass:
    """M, given as a matrix or an operator, for vectors of the dtype of one."""
    held = tree.map(lambda x: ops.stop_gradient(xnp.asarray(x)), as_operator(m))
    inverse, definite = _root(held)
    inside, inverse = InUnits(held, unit), InUnits(inverse, 1 / unit)
    mass = Mass(inside, inverse, definite, unit)
    column = xnp.asarray(like)[:, None]
    both = [norm1_estimate(f, f, column) for f in (mass.matmat, mass.solve)]
    return mass.replace(norms=tuple(3 * x for x in both))  # estimates are from below


def _root(m: LinearOperator):
    """(M⁻¹, whether M is definite): of matrices by Cholesky factors, of operators by conjugate gradients."""
    if type(m) in ROOTS:
        return ROOTS[type(m)](m)
    if isinstance(m, Matrix):
        factors = factorise(xnp.asarray(m.a), "cholesky")
        solve = FunctionOperator(_solved_by, factors, m.shape, symmetric=True)
        return solve, first_zero(factors.pivots()) < 0
    solve = FunctionOperator(_solved_by_cg, m, m.shape, symmetric=True)
    return solve, xnp.ones((), bool)


def _solved_by(factors, x):
    return factors.solve(x[:, None])[:, 0]


def _solved_by_cg(m, x):
    eps = float(dtypes.finfo(dtypes.to_real(typeof(x).dtype)).eps)
    return solved_within(m, x, CG(rtol=8 * eps), np.sqrt(eps), "linalg.eigsh: solutions with M")
