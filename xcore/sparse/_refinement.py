"""Solutions by factors of a matrix nearby, refined, and what can be said of them.

Factors whose pivots are chosen before, or among few, are those of a matrix nearby: a pivot that is small is made
larger. (Li and Demmel 1998, "Making sparse Gaussian elimination scalable by static pivoting") Refinement makes up for
it, or the status says that it did not.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from .. import numpy as xnp
from .._control import custom_linear_solve, fori_loop, jit, stop_gradient
from .._core import Array, ArrayLike
from .._solution import Solution, Status, first_that_holds
from ..linalg import LinearOperator
from ..linalg._arguments import epsilon
from ..linalg._equations import Equation, coins, judged, roundings
from ._matrix import Sparse, over_batches
from ._pattern import Pattern
from ._products import product_of
from ._residuals import ASTRAY, answered, columns_for, each, each_values

_STEPS = 4  # of refinement


class Way(NamedTuple):
    """How the columns of a x = b are solved.

    Attributes:
      times, once: x ↦ a x, b ↦ F⁻¹ b.
      rows, columns: what rows and columns of a are multiplied by, to be of size 1.
    """

    times: Callable[[Array], Array]
    once: Callable[[Array], Array]
    rows: Array
    columns: Array


def refined(way: Way, b: Array) -> Array:
    """The best x of some steps of refinement, by the largest residual in units of rows."""

    def missed(x: Array) -> tuple[Array, Array]:
        r = b - way.times(x)
        size = xnp.max(xnp.abs(way.rows[:, None] * r), axis=0, initial=0)
        return r, xnp.where(xnp.isfinite(size), size, xnp.inf)

    def step(_: Any, state: Any) -> Any:
        x, r, size = state
        new = x + way.once(r)
        left, less = missed(new)
        take = less < size
        pick = lambda a, b: xnp.where(take, a, b)  # noqa: E731
        return pick(new, x), pick(left, r), pick(less, size)

    x = way.once(b)
    return fori_loop(0, _STEPS, step, (x, *missed(x)))[0]


def turned(way: Way, b: Array) -> Array:
    """The solution with the transpose, by the way of the adjoint."""
    return xnp.conj(refined(way, xnp.conj(b)))


def astray(way: Way) -> Array:
    """How far F⁻¹ A y is from a random y, in units: whether factors tell of the inverse."""
    unit = way.columns[:, None]
    y = unit * coins(unit.shape[0], 2, unit.dtype)
    found = refined(way, way.times(y))
    return xnp.max(xnp.abs(found - y) / unit, initial=0)


def _wrong(pattern: Pattern, v: Array, x: Array, b: Array) -> Array:
    """The componentwise backward error of x, the largest. (Oettli and Prager 1964)"""
    times = product_of(pattern)
    size = times(xnp.abs(v), xnp.abs(x)) + xnp.abs(b)
    part = xnp.abs(b - times(v, x)) / xnp.where(size > 0, size, 1)
    return xnp.max(xnp.where(xnp.isfinite(part), part, xnp.inf), initial=0)


class StaticPivots(LinearOperator):
    """The inverse of a square matrix ``a`` by factors of one nearby."""

    a: Sparse
    method: str

    @property
    def shape(self) -> Any:
        return self.a.pattern.shape

    @property
    @abc.abstractmethod
    def parts(self) -> list[tuple[Array, int]]:
        """The arrays of the factors, and how many axes they have for one matrix."""

    @abc.abstractmethod
    def made(self, v: Array) -> list[Array]:
        """Those arrays for the values of one matrix."""

    @abc.abstractmethod
    def ways(self, v: Array, *parts: Array) -> tuple[Way, Way]:
        """How a x = b and aᴴ x = b are solved, of one matrix."""

    def mv(self, x: Array) -> Array:
        return self.matmat(x[:, None])[:, 0]

    def matmat(self, x: Array) -> Array:
        return _product(self, x)

    def _mapped(self, f: Callable[..., Any], dtype: Any, *others: tuple[Array, int]) -> Any:
        """f(others, values, parts) of each matrix of a batch."""
        given = *others, (self.a.values.astype(dtype), 1), *self.parts
        g, *operands = over_batches(f, *given)
        return g(*operands)

    def _solved(self, b: Array) -> Array:
        dtype = xnp.result_type(self.a.values, b)
        if not self.shape[0]:
            return b.astype(dtype)
        times = product_of(self.a.pattern)

        def one(b: Array, v: Array, *parts: Array) -> Array:
            forward, adjoint = self.ways(stop_gradient(v), *parts)
            return custom_linear_solve(  # pyright: ignore[reportReturnType]
                functools.partial(times, v), b,
                lambda _, b: refined(forward, b), lambda _, b: turned(adjoint, b),
            )  # fmt: skip

        return self._mapped(one, dtype, (b.astype(dtype), 2))

    @overload
    def solve(self, b: ArrayLike, *, report: Literal[False] = False) -> Array: ...
    @overload
    def solve(self, b: ArrayLike, *, report: Literal[True]) -> Solution: ...
    def solve(self, b: ArrayLike, *, report: bool = False) -> Array | Solution:
        """The solution of a x = b, refined, with the derivatives of the equation.

        A success means that each row of the equation holds up to the rounding of its terms, as computed from x; where
        refinement does not reach that, the status is ``stagnation``, and without ``report`` it is raised.

        Args:
          b: a vector (n,) or columns (..., n, k).
          report: return a ``Solution`` with status and certificate.
        """
        who = f"sparse.{type(self).__name__}.solve"
        _, columns, vector = columns_for(who, self.a, b)
        x, status, told = _run(self, columns, report=report)
        return answered(who, x, vector, status, told, self.method, report)

    def _found(self, columns: Array, report: bool) -> tuple[Array, Array, Any]:
        x, p = self._solved(columns), self.a.pattern
        known = stop_gradient(self.a.values).astype(x.dtype)
        seen, given = stop_gradient(x), stop_gradient(columns).astype(x.dtype)
        f, *operands = over_batches(functools.partial(_wrong, p), (known, 1), (seen, 2), (given, 2))
        allowed = 16 * roundings(int(p.lengths.max(initial=1))) * epsilon(x)
        wrong = f(*operands)
        status, told = first_that_holds(
            (~xnp.all(xnp.isfinite(known), axis=-1), Status.not_finite),
            (~xnp.all(xnp.isfinite(x), axis=(-2, -1)), Status.singular),
            (~(wrong <= allowed), Status.stagnation), default=Status.success,
        ), None  # fmt: skip
        if report and self.shape[0]:
            status, told = self._judged(known, given, seen, status)
        return x, status, told

    def _judged(self, v: Array, b: Array, x: Array, before: Array) -> tuple[Array, Any]:
        lead = x.shape[:-2]
        v, b = xnp.broadcast_to(v, (*lead, v.shape[-1])), xnp.broadcast_to(b, x.shape)
        none = xnp.full(lead, -1, np.int32)
        status, told = judged(self._equation, (v,), x, b, epsilon(x), none)
        off = self._mapped(lambda *given: astray(self.ways(*map(stop_gradient, given))[0]), x.dtype)
        lost = xnp.broadcast_to(~(off <= ASTRAY), lead)
        status = xnp.where(before != 0, before, status)
        status = xnp.where(lost & (status == 0), np.int32(Status.ill_conditioned), status)
        at = lost if told.error.ndim == lost.ndim else lost[..., None]
        told = told.replace(
            error=xnp.where(at, xnp.inf, told.error), digits=xnp.where(at, 0, told.digits)
        )
        return status, told

    def _equation(self, _: Any, v: Array) -> Equation:
        p, ranks = self.a.pattern, [rank for _, rank in self.parts]
        f, known = over_batches(lambda v: tuple(self.made(v)), (v, 1))
        parts = f(known)

        def solve(which: int, b: Array) -> Array:
            one = lambda b, v, *parts: refined(self.ways(v, *parts)[which], b)  # noqa: E731
            g, *operands = over_batches(one, (b, 2), (v, 1), *zip(parts, ranks, strict=True))
            return g(*operands)

        size = xnp.abs(v)
        ones = xnp.ones((*v.shape[:-1], p.shape[0], 1), size.dtype)
        columns = each(product_of(p.T), each_values(p, size), ones)
        return Equation(
            lambda x: each(product_of(p), v, x), lambda x: each(product_of(p), size, x),
            functools.partial(solve, 0), functools.partial(solve, 1),
            xnp.max(columns, axis=(-2, -1), initial=0), roundings(int(p.lengths.max(initial=1))),
        )  # fmt: skip


@functools.partial(jit, static_argnames="report", inline=True)
def _run(factors: Any, columns: Array, report: bool) -> tuple[Array, Array, Any]:
    return factors._found(columns, report)


@functools.partial(jit, inline=True)
def _product(factors: Any, x: Array) -> Array:
    return factors._solved(x)
