"""Factors of matrices that solve equations: whose elimination, and how its factors are used.

Three eliminations stand behind one face: LAPACK's (or cuSOLVER's), ours with the batch interleaved
for many small matrices, and ours for the dtypes that LAPACK does not know.
"""

from __future__ import annotations

import functools
from typing import Any

from .. import _ops as ops
from .. import numpy as xnp
from .._control import custom_jvp
from .._core import static, struct, typeof
from .._ops import solve_with
from .._ops.matrices import FACTORISED, diagonal, hermitian_of_lower, part
from ..numpy._equations import differentiable_solve, factorised, solve_factorised
from ..numpy._triangles import diagonal_of
from . import _elimination, _lanes
from ._arguments import hermitian_part, product


@struct
class Factors:
    """Something that solves with a matrix: factors of it and how to use them.

    Attributes:
      parts: the arrays.
      kind: the row of ``_KINDS`` that knows them.
    """

    parts: Any
    kind: str = static()

    def solve(self, b, transposed: bool = False):
        """x with a x = b, or aᵀ x = b; b holds columns (..., n, k), in any precision."""
        own, given = typeof(self.parts[0]).dtype, typeof(b).dtype
        return _KINDS[self.kind][1](self.parts, b.astype(own), transposed).astype(given)

    def pivots(self):
        """The numbers of which each is zero only if the matrix is singular."""
        return _KINDS[self.kind][2](self.parts)


def _solve_triangular(parts, b, transposed: bool, lower: bool):
    return solve_with(parts[0], b, lower, transpose="T" if transposed else "N")


def _solve_cholesky(parts, b, transposed: bool):
    # a = l lᴴ; aᵀ = conj(a), so the transposed system is the conjugate of one with a
    if transposed:
        return xnp.conj(_solve_cholesky(parts, xnp.conj(b), False))
    return solve_with(parts[0], solve_with(parts[0], b, True), True, transpose="C")


# name: (factors of a, solution from them, what must not be zero)
_KINDS = {
    "lapack": (
        factorised,
        lambda f, b, t: solve_factorised(*f, b, transposed=t),
        lambda f: diagonal_of(f[0], 0),
    ),
    "lanes": (_lanes.factorise, _lanes.solve_factorised, _lanes.pivots),
    "ours": (
        lambda a: _elimination.eliminate(a, "partial"),
        lambda f, b, t: _elimination.back_substitute(*f, b, transposed=t),
        lambda f: diagonal_of(f[0], 0),
    ),
    "cholesky": (lambda a: (ops.cholesky(a),), _solve_cholesky, lambda f: diagonal_of(f[0], 0)),
    "lower": (
        lambda a: (a,), functools.partial(_solve_triangular, lower=True), lambda f: diagonal_of(f[0], 0),
    ),
    "upper": (
        lambda a: (a,), functools.partial(_solve_triangular, lower=False), lambda f: diagonal_of(f[0], 0),
    ),
    "diagonal": (
        lambda a: (diagonal(a),), lambda f, b, t: b / f[0][..., None], lambda f: f[0],
    ),
}  # fmt: skip

ASSUME = {
    "general": "lapack", "gen": "lapack", "symmetric": "lapack", "sym": "lapack",
    "hermitian": "lapack", "her": "lapack", "positive definite": "cholesky", "pos": "cholesky",
    "lower triangular": "lower", "upper triangular": "upper", "diagonal": "diagonal",
    "tridiagonal": "tridiagonal", "banded": "lapack",
}  # fmt: skip


def kind_for(a, assume_a: str = "general") -> str:
    """Who factorises these matrices, by dtype, size and number."""
    kind = "lapack" if assume_a == "tridiagonal" else ASSUME[assume_a]
    if typeof(a).dtype not in FACTORISED:
        return kind if kind == "diagonal" else "ours"
    if kind in _READ:
        return kind
    return "lanes" if kind == "lapack" and _lanes.applies(a) else kind


def factorise(a, kind: str) -> Factors:
    """Factors of matrices (..., n, n)."""
    if 0 in typeof(a).shape:
        kind = "diagonal"  # nothing is there; the simplest does
    return Factors(tuple(_KINDS[kind][0](a)), kind)


def _are_next(i, j):
    return ops.and_(
        ops.le(i, ops.add(j, ops.ones(typeof(j)))), ops.le(j, ops.add(i, ops.ones(typeof(i))))
    )


_READ = {"lower": ops.ge, "upper": ops.le, "diagonal": ops.eq, "tridiagonal": _are_next}


def read_part(a, assumed: str):
    """What of the matrix derivatives are about, by the ``ASSUME``d kind."""
    if assumed in _READ:
        return part(a, _READ[assumed])
    return hermitian_part(a) if assumed == "cholesky" else a


def read_only(a, assumed: str):
    """What of the matrix the equation is about; what is not read may be anything."""
    return hermitian_of_lower(a) if assumed == "cholesky" else read_part(a, assumed)


def solve_with_factors(a, b, factors: Factors):
    """x with a x = b; its derivatives are those of the equation, the factors are not looked into."""
    return differentiable_solve(lambda x: product(a, x), b, factors.solve)


def solve_lanes(a, b) -> tuple:
    """(x with a x = b, number of the first vanishing pivot or -1) of many small matrices.

    Derivatives as in ``solve_with_factors``; what they need is eliminated anew.
    """
    solve = functools.partial(_lanes.solve, ops.stop_gradient(a))
    x, pivots = differentiable_solve(lambda x: product(a, x), b, solve, has_aux=True)
    return x, _elimination.first_zero(pivots)


@custom_jvp
def _inverse_lanes(a):
    return _lanes.inverse(a)


@_inverse_lanes.defjvp
def _(primals, tangents):
    # a x = 1  =>  x' = -x a' x. (Giles 2008, section 2.2.3)
    x, pivots = _inverse_lanes(*primals)
    moved = -product(product(x, tangents[0]), x)
    return (x, pivots), (moved, xnp.zeros_like(pivots))


def invert_lanes(a) -> tuple:
    """(inverses, number of the first vanishing pivot or -1) of many small matrices."""
    x, pivots = _inverse_lanes(a)
    return x, _elimination.first_zero(ops.stop_gradient(pivots))
