"""LU factors of sparse matrices by dense fronts, those of ``_fronts`` with both sides of each.

    F = (A where p takes part) + Σ_children U,    P F11 = L11 U11,    L21 = F21 U11⁻¹,    U12 = L11⁻¹ P F12,
    U = F22 - L21 U12.

Rows are exchanged within F11. A pivot below the root of the precision, of elements of size 1, is made as large as
that.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import Array, tree
from .._ops.factor import take_rows
from ._fronts import Depth, Fronts, _lines, _part, from_below
from ._pattern import Pattern
from ._products import _gathered


class Front(NamedTuple):
    """Factors of all fronts of a depth: L11 and U11 in one, the order of rows P, L21 and U12."""

    packed: Array
    order: Array
    beside: Array
    above: Array


RANKS = 3, 2, 3, 3


def flat(factors: list[Front]) -> list[Array]:
    return tree.leaves(factors)


def unflat(leaves: tuple[Array, ...]) -> list[Front]:
    return [Front(*leaves[k : k + 4]) for k in range(0, len(leaves), 4)]


def factors_of(plan: Fronts, pattern: Pattern, values: Array) -> tuple[list[Front], Array]:
    """The factors of all depths, from the root down, and how many pivots were changed."""
    mirror = np.append(pattern.order, [pattern.nnz, pattern.nnz + 1]).astype(np.int32)
    constants = xnp.asarray(np.array([0, 1]).astype(values.dtype))
    values = xnp.concatenate([values, constants])
    update, out = xnp.zeros((0, 0, 0), values.dtype), []
    changed: Array = xnp.zeros((), np.int32)
    for d in reversed(plan.depths):
        left = _gathered(values, d.entries)
        right = _gathered(values, mirror[d.entries[:, d.pivots :]]).mT
        top = xnp.concatenate([left[:, : d.pivots], right], axis=2)
        under = xnp.pad(left[:, d.pivots :], ((0, 0), (0, 0), (0, d.others)))
        whole = xnp.concatenate([top, under], axis=1)
        whole = from_below(d, whole, update)
        front, small = _eliminated(d, whole)
        update = whole[:, d.pivots :, d.pivots :] - front.beside @ front.above
        out.append(front)
        changed = changed + small
    return out[::-1], changed


def _eliminated(d: Depth, whole: Array) -> tuple[Front, Array]:
    p = d.pivots
    packed, _, order = ops.lu(whole[:, :p, :p])
    pivots = xnp.diagonal(packed, axis1=-2, axis2=-1)
    size, least = xnp.abs(pivots), float(xnp.finfo(packed.dtype).eps) ** 0.5
    small = ~(size >= least)
    unit = xnp.where(size > 0, pivots / xnp.where(size > 0, size, 1), 1)
    more = xnp.where(small, least * unit - pivots, 0).astype(packed.dtype)
    packed = packed + more[:, :, None] * xnp.eye(p, dtype=packed.dtype)
    above = lower(packed, take_rows(whole[:, :p, p:], order))
    beside = upper(packed, whole[:, p:, :p].mT, turned=True).mT
    return Front(packed, order, beside, above), small.sum(dtype=np.int32)


def _triangular(low: bool, packed: Array, b: Array, turned: bool = False) -> Array:
    return ops.triangular_solve(
        packed, b, left=True, lower=low, transpose="T" if turned else "N", unit_diagonal=low
    )


lower, upper = functools.partial(_triangular, True), functools.partial(_triangular, False)


def solved(plan: Fronts, factors: list[Front], b: Array, turned: bool = False) -> Array:
    """x (n, k) of columns b (n, k), of the transpose where ``turned``."""
    k = b.shape[1]
    right = xnp.concatenate([b, xnp.zeros((1, k), b.dtype)])
    update, ahead = xnp.zeros((0, 0, k), b.dtype), []
    for d, taken, f in reversed(list(zip(plan.depths, plan.taken, factors, strict=True))):
        whole = xnp.pad(_gathered(right, taken), ((0, 0), (0, d.others), (0, 0)))
        whole = from_below(d, whole, update, square=False)
        first = whole[:, : d.pivots]
        y = upper(f.packed, first, True) if turned else lower(f.packed, take_rows(first, f.order))
        update = whole[:, d.pivots :] - (f.above.mT if turned else f.beside) @ y
        ahead.append(y)
    return _backward(plan, factors, ahead[::-1], turned)


def _backward(plan: Fronts, factors: list[Front], ahead: list[Array], turned: bool) -> Array:
    whole, out = None, []
    for d, f, y in zip(plan.depths, factors, ahead, strict=True):
        if whole is None:
            others = xnp.zeros((y.shape[0], d.others, y.shape[2]), y.dtype)
        else:
            others = _lines(whole, d.parent, d.above)
        y = y - (f.beside.mT if turned else f.above) @ others
        x = take_rows(lower(f.packed, y, True), _back(f.order)) if turned else upper(f.packed, y)
        out.append(x.reshape(x.shape[0] * x.shape[1], x.shape[2]))
        whole = xnp.concatenate([x, others], axis=1)
    return _gathered(xnp.concatenate(out), plan.place)


def _back(order: Array) -> Array:
    return xnp.argsort(order, axis=-1).astype(np.int32)


def inverse_values(plan: Fronts, factors: list[Front]) -> Array:
    """The elements of A⁻ᵀ at the places of A, from the root down. (Takahashi, Fagan and Chin 1973)

    With W = F21 F11⁻¹, V = F11⁻¹ F12 and Z22 out of the parent's front: Z21 = -Z22 W, Z12 = -V Z22,
    Z11 = F11⁻¹ - V Z21.
    """
    whole, columns, rows = None, [], []
    for d, f in zip(plan.depths, factors, strict=True):
        if whole is None:
            corner = xnp.zeros((f.packed.shape[0], d.others, d.others), f.packed.dtype)
        else:
            corner = _part(whole, d.parent, d.above)
        unit = xnp.broadcast_to(xnp.eye(d.pivots, dtype=f.packed.dtype), f.packed.shape)
        start = lower(f.packed, take_rows(unit, f.order))
        v, w = upper(f.packed, f.above), f.beside @ start
        side, top = -corner @ w, -v @ corner
        first = upper(f.packed, start) - v @ side
        left = xnp.concatenate([first, side], axis=1)
        columns.append(left.reshape(-1))
        rows.append(xnp.concatenate([first.mT, top.mT], axis=1).reshape(-1))
        whole = xnp.concatenate([left, xnp.concatenate([top, corner], axis=1)], axis=2)
    of_rows, of_columns = (_gathered(xnp.concatenate(z), plan.found) for z in (rows, columns))
    return xnp.where(plan.mirrored, of_columns, of_rows)
