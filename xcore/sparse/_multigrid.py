"""Algebraic multigrid: aggregates, or coarse unknowns, chosen once on the host, all values traced.

Prolongators P come from aggregates, or are those of ``_classical``. With the tentative prolongator T of aggregates, D
the diagonal of A and ρ about the largest eigenvalue of D⁻¹A,

    P = (1 - 4/(3ρ) D⁻¹A) T,    A' = Pᴴ A P,

are products of sparse matrices whose patterns are known: new values of A give new ones of A' without the host.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import fori_loop, jit, stop_gradient
from .._control.levels import OF_MANY_OPERATIONS
from .._core import Array, ArrayLike, dtypes, errors, one_of, require, static, struct
from .._solution import Solution
from ..linalg import CG, GMRES, LinearOperator, linear_solve
from ..linalg._cg import cg_begin, cg_step
from ..linalg._chebyshev import chebyshev
from ..linalg._eigen import _irregular
from ..linalg._krylov import Krylov
from ..linalg._range import norm, safe_norm
from ..numpy._select import safe_divide
from ._aggregation import Hierarchy, coarsened
from ._classical import interpolation, split
from ._known_levels import LANCZOS, WEIGHT, KnownLevel, inverse, smoothed_levels, split_levels
from ._making import coo_array
from ._matrix import Sparse, matmul
from ._pattern import shared
from ._products import spread

KINDS = ("aggregation", "classical")
CYCLES = ("V", "W", "K")
SMOOTHERS = ("chebyshev", "jacobi")
_MOST_DENSE = 2000  # unknowns of the coarsest level that are solved for by a dense inverse


@struct
class Level:
    """A level: its matrix, what leads to the next, and what its smoother needs."""

    a: Sparse
    p: Any  # the prolongator; None on the coarsest
    r: Any  # its adjoint
    scale: Any  # 1 / diagonal
    top: Any  # a bound of the eigenvalues of the scaled matrix


@struct
class Multigrid(LinearOperator):
    """About the inverse of a sparse matrix: a cycle through ever coarser equations.

    Attributes:
      a: the matrix.
      hierarchy: the aggregates, or the coarse unknowns, static.
      cycle, smoother, sweeps: how it goes.

    >>> import xcore.numpy as xnp
    >>> from xcore import sparse
    >>> a = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(4, 4))
    >>> m = sparse.multigrid(a)
    >>> m.solve(xnp.ones(4)).round(3)
    Array([2., 3., 3., 2.], dtype=float32)
    """

    levels: tuple[Level, ...]
    inverse: Any  # of the coarsest matrix
    tentative: Any  # values of the tentative prolongators
    hierarchy: Hierarchy = static()
    cycle: str = static(default="V")
    smoother: str = static(default="chebyshev")
    sweeps: int = static(default=3)
    symmetric: bool = static(default=False)

    @property
    def a(self) -> Sparse:
        return self.levels[0].a

    @property
    def shape(self) -> Any:
        return self.a.pattern.shape

    @property
    def positive(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"Multigrid({' → '.join(map(str, self.hierarchy.sizes))}, {self.cycle})"

    def mv(self, x: Array) -> Array:
        return _cycle(self, x.astype(xnp.result_type(x, self.a.values)))

    def update(self, a: Sparse) -> Multigrid:
        """The same hierarchy for other values of the pattern, which may be traced."""
        if not isinstance(a, Sparse) or a.pattern != self.a.pattern:
            need = f"a Sparse of the pattern that it was made for, {self.a.pattern}"
            raise errors.bad_argument("sparse.Multigrid.update", "a", a, need)
        levels, inverse = _levels(_floating(a), self.tentative, self.hierarchy, self.symmetric)
        return self.replace(levels=levels, inverse=inverse)

    def solve(
        self, b: ArrayLike, *, rtol: float = 1e-5, max_steps: int = 100, accelerate: bool = True,
        report: bool = False, history: bool = False,
    ) -> Array | Solution:  # fmt: skip
        """The solution of a x = b, by conjugate gradients (GMRES if a is not symmetric) or by cycles alone.

        Args:
          b: a vector (n,) or columns (n, k).
          rtol: of the residual, computed anew in the end.
          max_steps: at most so many cycles (of GMRES: so many times ten).
          accelerate: False repeats cycles alone.
          report, history: as of ``linalg.linear_solve``.
        """
        how = {"rtol": rtol, "max_steps": max_steps}
        kind: Krylov = Cycles(**how)
        if accelerate:
            kind = (
                CG(flexible=self.cycle == "K", **how)
                if self.symmetric
                else GMRES(restart=10, **how)
            )
        a = self.a.replace(symmetric=self.symmetric)
        return linear_solve(a, b, kind, preconditioner=self, report=report, history=history)

    def _cycle(self, k: int, b: Array) -> Array:
        """About the solution of the k-th level."""
        level = self.levels[k]
        if level.p is None:
            return (
                self.inverse @ b if self.inverse is not None else self._smoothed(level, b, None, 8)
            )
        x = self._smoothed(level, b, None)
        below = self._below(k + 1, level.r.mv(b - level.a.mv(x)))
        return self._smoothed(level, b, x + level.p.mv(below))

    def _below(self, k: int, b: Array) -> Array:
        """Of the next level: one cycle, two, or two steps of conjugate gradients with them."""
        level = self.levels[k]
        once = functools.partial(self._cycle, k)
        if self.cycle == "V" or level.p is None:
            return once(b)
        if self.cycle == "W":
            again = lambda _, x: x + once(b - level.a.mv(x))  # noqa: E731
            return fori_loop(0, 2, again, xnp.zeros_like(b))
        step = lambda _, s: cg_step(s, level.a.mv, once, flexible=True)[0]  # noqa: E731
        return fori_loop(0, 2, step, cg_begin(xnp.zeros_like(b), b, True))["x"]

    def _smoothed(self, level: Level, b: Array, x: Array | None, times: int = 1) -> Array:
        smooth = _chebyshev if self.smoother == "chebyshev" else _jacobi
        return smooth(level, b, x, self.sweeps * times)


@functools.partial(jit, inline=True)  # traced once, though solvers ask for several products
def _cycle(m: Multigrid, x: Array) -> Array:
    return m._cycle(0, x)


@struct
class Cycles(Krylov):
    """Steps x + m (b - a x) with the preconditioner m."""

    def begin(self, p: Any, x: Array, r: Array) -> dict[str, Any]:
        return {"x": x, "r": r, "first": norm(r)}

    def advance(self, p: Any, s: dict[str, Any]) -> dict[str, Any]:
        d = p.precondition(s["r"])
        r = s["r"] - p.mv(d)
        size = norm(r)
        return s | {"x": s["x"] + d, "r": r, "size": size, "stalled": size > 1e3 * s["first"]}


# Smoothers


def _residual(level: Level, b: Array, x: Array | None) -> Array:
    return b if x is None else b - level.a.mv(x)


def _plus(x: Array | None, d: Array) -> Array:
    return d if x is None else x + d


def _jacobi(level: Level, b: Array, x: Array | None, sweeps: int) -> Array:
    weight = level.scale * (4 / 3 / level.top).astype(level.scale.dtype)
    out = _plus(x, weight * _residual(level, b, x))
    for _ in range(sweeps - 1):
        out = out + weight * (b - level.a.mv(out))
    return out


_SHARE = 8.0  # eigenvalues from an 8th of the largest on are what the smoother is for


def _chebyshev(level: Level, b: Array, x: Array | None, sweeps: int) -> Array:
    """Chebyshev's polynomial for the upper part of the spectrum."""
    half = level.top * ((1 - 1 / _SHARE) / 2)
    unit = level.scale / half.astype(level.scale.dtype)
    return chebyshev(level.a.mv, x, b, unit, (_SHARE + 1) / (_SHARE - 1), sweeps)


# Values of all levels


@functools.partial(
    jit,
    static_argnames=("hierarchy", "hermitian"),
    inline=True,
    compiler_options=OF_MANY_OPERATIONS,
)
def _levels(
    a: Sparse, tentative: Any, hierarchy: Hierarchy, hermitian: bool
) -> tuple[tuple[Level, ...], Any]:
    made = []
    a = a.replace(pattern=shared(a.pattern))
    for k, down in enumerate(hierarchy.down):
        scale, top = _smoothing(a)
        if hierarchy.splits:
            p = interpolation(a, hierarchy.splits[k])
        else:
            t = Sparse(stop_gradient(tentative[k]).astype(a.dtype), down)
            p = _prolongator(a, t, scale, top)
        r = p.H
        made.append(Level(a, p, r, scale, top))
        a = matmul(r, matmul(a, p))
    made.append(Level(a, None, None, *_smoothing(a)))
    n = a.pattern.shape[0]
    if n > _MOST_DENSE or a.ndim > 2:
        return tuple(made), None
    return tuple(made), _inverse(a.todense(), hermitian)


def _inverse(a: Array, hermitian: bool) -> Array:
    """Of what is singular, as of floating bodies, the pseudoinverse."""
    if not a.shape[0]:
        return a
    few = a.shape[0] * 30 * float(dtypes.finfo(a.dtype).eps)
    return xnp.linalg.pinv(a, rtol=few, hermitian=hermitian)


def _known(
    a: Sparse, known: list[KnownLevel], unit: float, hermitian: bool
) -> tuple[tuple[Level, ...], Any]:
    """What ``_levels`` makes, of values that are known, in units."""
    of = lambda x: xnp.asarray(np.asarray(x).astype(a.dtype))  # noqa: E731
    made, first = [], a.replace(pattern=known[0].pattern)
    for x in known:
        b = first if not made else Sparse(of(x.values * unit), shared(x.pattern))
        p = r = None
        if x.down is not None:
            p = Sparse(of(x.weights), shared(x.down))
            r = Sparse(of(x.weights[x.down.order].conj()), p.pattern.T)
        top = xnp.asarray(np.asarray(x.top, dtypes.to_real(a.dtype)))
        made.append(Level(b, p, r, of(x.scale / unit), top))
    n = known[-1].pattern.shape[0]
    if not 0 < n <= _MOST_DENSE:
        return tuple(made), None if n else made[-1].a.todense()
    dense = np.zeros((n, n), known[-1].values.dtype)
    dense[known[-1].pattern.rows, known[-1].pattern.columns] = known[-1].values
    few = n * 30 * float(dtypes.finfo(a.dtype).eps)
    return tuple(made), of(_known_inverse(dense, few, hermitian) / unit)


def _known_inverse(a: np.ndarray, few: float, hermitian: bool) -> np.ndarray:
    """The pseudoinverse; where a is far from singular that is the inverse."""
    with np.errstate(all="ignore"):
        found = inverse(a)
        apart = np.linalg.norm(a, 1) * np.linalg.norm(found, 1) * few < 1
    return found if apart else np.linalg.pinv(a, few, hermitian)


def _smoothing(a: Sparse) -> tuple[Array, Array]:
    d = a.diagonal()
    scale = safe_divide(xnp.ones_like(d), d)
    return scale, stop_gradient(_largest(a, scale))


def _largest(a: Sparse, scale: Array) -> Array:
    """A little more than the largest modulus of an eigenvalue of D⁻¹A: by a few products, or sums of rows if less."""
    n = a.pattern.shape[0]
    if not n:
        return xnp.ones((), dtypes.to_real(a.dtype))
    sums = xnp.max(xnp.abs(scale) * (abs(a) @ xnp.ones(n, dtypes.to_real(a.dtype))), axis=-1)
    start = _irregular((n,), a.dtype)

    def grow(_: Any, s: tuple[Array, Array]) -> tuple[Array, Array]:
        x, seen = s
        y = scale * a.mv(x)
        size = safe_norm(y)
        return safe_divide(y, size.astype(y.dtype)), xnp.maximum(seen, size)

    start = start / safe_norm(start).astype(start.dtype)
    seen = fori_loop(0, 2 * LANCZOS, grow, (start, xnp.zeros((), sums.dtype)))[1]
    top = xnp.minimum(1.1 * seen, sums)
    return xnp.where(top > 0, top, 1)


def _prolongator(a: Sparse, t: Sparse, scale: Array, top: Array) -> Sparse:
    moved = matmul(a, t)
    whole, mine, first = moved.pattern.union(t.pattern)
    weight = (scale * (WEIGHT / top).astype(scale.dtype))[moved.pattern.rows] * moved.values
    values = spread(t.values, first, whole.nnz) - spread(weight, mine, whole.nnz)
    return Sparse(values, whole)


# What users call


def _floating(a: Sparse) -> Sparse:
    return a.astype(dtypes.to_solve(a.dtype))


def multigrid(
    a: Any, *, kind: str = "aggregation", near_nullspace: ArrayLike | None = None, block: int | None = None,
    strength: float | None = None, cycle: str = "V", smoother: str | None = None, sweeps: int = 3,
    max_coarse: int = 250, max_levels: int = 25, improve: int = 4,
) -> Multigrid:  # fmt: skip
    """Algebraic multigrid, by smoothed aggregation or classical: a preconditioner, or a solver of its own.

    The hierarchy is chosen on the host, from values that must be known. ``.update(a)`` gives the same for other values
    of the pattern, traced or not: all that depends on them is made of products of sparse matrices.

    Args:
      a: a square ``Sparse`` matrix (or what ``coo_array`` takes), best symmetric and positive definite.
      kind: "aggregation" joins neighbours; "classical", Ruge and Stüben's, interpolates from some unknowns to the
        others, and is for matrices of one unknown per node whose large couplings have not the diagonal's sign.
      near_nullspace: of aggregation, (n, k) vectors that a takes nearly to 0: ones by default; for elasticity rigid
        motions.
      block: of aggregation, so many unknowns of a node stand together, and stay together; by default 1, of a ``Bsr``
        those of a block.
      strength: neighbours i, j count where |a_ij| is at least that part of √|a_ii a_jj|: 0 by default, 0.08 to 0.25
        where coefficients depend on the direction; for "classical" where -a_ij is at least that part of the row's
        largest, 0.25.
      cycle: "V", "W", or "K": two steps of conjugate gradients on each level.
      smoother: "chebyshev" or "jacobi"; the second by default where a is not symmetric.
      sweeps: products of a smoother, before and after.
      max_coarse: unknowns of the coarsest level, which is solved for by a dense inverse.
      max_levels: at most so many.
      improve: of aggregation, steps of Jacobi's method that smooth ``near_nullspace`` first.

    >>> import xcore.numpy as xnp
    >>> from xcore import sparse
    >>> line = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(30, 30), dtype="float64")
    >>> m = multigrid(sparse.kronsum(line, line))
    >>> m
    Multigrid(900 → ..., V)
    >>> found = m.solve(xnp.ones(900), report=True)
    >>> bool(found.ok), int(found.steps) < 10
    (True, True)
    """
    who = "sparse.multigrid"
    if block is None:
        block = getattr(a, "blocksize", (1,))[0] if kind == "aggregation" else 1
    a = coo_array(a)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise errors.shape_mismatch(who, "need a square matrix; vmap m.update for batches", a=a)
    one_of(who, "kind", kind, KINDS, f"one of {KINDS}")
    one_of(who, "cycle", cycle, CYCLES, f"one of {CYCLES}")
    one_of(who, "smoother", smoother, (None, *SMOOTHERS), f"one of {(None, *SMOOTHERS)}")
    strength = (0.25 if kind == "classical" else 0.0) if strength is None else strength
    require("1 or more", who, sweeps=sweeps, max_coarse=max_coarse, max_levels=max_levels)
    require("0 or more", who, strength=strength, improve=improve)
    if kind == "classical" and strength > 1:
        raise errors.bad_argument(who, "strength", strength, "at most 1 for kind='classical'")
    if kind == "classical" and (near_nullspace is not None or block != 1):
        need = "left out for kind='classical', which knows of no nodes"
        of_nodes = {"near_nullspace": near_nullspace} if block == 1 else {"block": block}
        raise errors.bad_argument(who, *next(iter(of_nodes.items())), need)
    a = _floating(a)
    hermitian, values, unit = _known_values(who, a)
    if cycle == "K" and not hermitian:
        need = "'V' or 'W' for a matrix that is not symmetric"
        raise errors.bad_argument(who, "cycle", cycle, need)
    limits = {"strength": strength, "max_coarse": max_coarse, "max_levels": max_levels}
    near = _near(who, a, near_nullspace, block)
    tentative = []
    if not a.shape[0]:
        found = Hierarchy(a.pattern, ())
        known = smoothed_levels(found, values, tentative)
    elif kind == "classical":
        found, known = split(a.pattern, values, most=_MOST_WEIGHTS, **limits)
        known = split_levels(found, known)
    else:
        found, tentative = coarsened(
            a.pattern, values, near, block=block, improve=improve, **limits
        )
        known = smoothed_levels(found, values, tentative)
    levels, inverse = _known(a, known, unit, hermitian)
    tentative = tuple(xnp.asarray(t.astype(a.dtype)) for t in tentative)
    smoother = smoother or ("chebyshev" if hermitian else "jacobi")
    return Multigrid(levels, inverse, tentative, found, cycle, smoother, sweeps, hermitian)


_MOST_WEIGHTS = 5  # of a row of a classical prolongator


def _known_values(who: str, a: Sparse) -> tuple[bool, np.ndarray, float]:
    """Whether a matrix is Hermitian, its values on the host, in units of about the largest, and these."""
    if type(a.values) is not Array:
        need = "of known values, which choose levels; make m outside of jit, grad and vmap, and m.update(a) inside"
        raise errors.bad_argument(who, "a", a, need)
    values = np.asarray(a.values)
    if values.dtype.itemsize < 8:
        values = values.astype(np.result_type(values.dtype, np.float64))
    if not np.isfinite(values).all():
        raise errors.bad_argument(who, "a", a, "finite")
    unit = float(2.0 ** np.round(np.log2(np.abs(values).max(initial=0) or 1.0)))
    return a.symmetric or _is_hermitian(a.pattern, values), values / unit, unit


def _near(who: str, a: Sparse, given: Any, block: int) -> np.ndarray:
    n = a.shape[0]
    if block < 1 or n % block:
        raise errors.bad_argument(who, "block", block, f"1 or more, and a divisor of {n}")
    if given is None:
        return np.tile(np.eye(block), (n // block, 1))
    near = np.asarray(given)
    near = near[:, None] if near.ndim == 1 else near
    if near.ndim != 2 or near.shape[0] != n or not 0 < near.shape[1]:
        raise errors.shape_mismatch(who, f"need ({n}, k) vectors", near_nullspace=near)
    if not np.isfinite(near).all():
        raise errors.bad_argument(who, "near_nullspace", given, "finite")
    return near.astype(np.result_type(near.dtype, np.float64))


def _is_hermitian(pattern: Any, values: np.ndarray) -> bool:
    if not pattern.is_symmetric:
        return False
    other = values[pattern.order].conj()
    return bool((np.abs(values - other) <= 1e-5 * np.maximum(np.abs(values), np.abs(other))).all())
