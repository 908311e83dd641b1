"""Equations of Lyapunov and Stein of closed loops, and what they say of solutions of Riccati's equations.

With the gain k of a solution x of Riccati's equation, c = a - b k, and f(x) what x leaves of it,

    f(x + δ) = f(x) + l(δ) - what is quadratic in δ,
    l(δ) = cᴴ δ e + eᴴ δ c  (continuous)  or  cᴴ δ c - eᴴ δ e  (discrete).

The loop (c, e) is stable if and only if some d > 0 has l(d) < 0, and then -l⁻¹ takes positive matrices to
positive ones: with -w <= f(x) <= w <= -l(d) for a diagonal w, l⁻¹ f(x) lies between -d and d. So one solution
d of that equation proves that the loop is stable, how stable it is, and how far x is from the stabilising
solution; no norm is estimated. (Hewer and Kenney 1988, "The sensitivity of the stable Lyapunov equation"; Sun
1997, "Residual bounds of approximate solutions of the algebraic Riccati equation")
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from .. import _ops as ops
from .. import numpy as xnp
from .._core import typeof
from .._iterate import Steps, iterate
from .._ops import adjoint, diagonal, matmul, swapped
from ..numpy._equations import identity_like, solve_matrices
from ._arguments import epsilon, hermitian_part
from ._digits import relative
from ._equations import roundings
from ._sensitivity import concluded, frobenius, scaled, unit
from ._truth import norm1

_DOUBLINGS = 60


def solve(a, b):
    return solve_matrices(a, b)[0]


def solve_right(b, a):
    """b a⁻¹."""
    return swapped(solve(swapped(a), swapped(b)))


# Sums


def settled(step, start, size_of_change):
    """Steps until what they add is below rounding, or is not finite."""

    def forward(state):
        new = step(state[0])
        return new, size_of_change(state[0], new)

    solver = Steps(forward, lambda state: ~(state[1] > 0))
    return iterate(solver, forward((start, None)), _DOUBLINGS, steps=1).state[0]


def significant(old, new, eps: float):
    """The change of a matrix where it is above rounding, else 0 (for NaN too)."""
    change = norm1(new - old)
    return xnp.where(change > eps * norm1(new), change, 0)


def summed(n, c) -> tuple:
    """(Σ (nᴴ)ᵏ c nᵏ over k ≥ 0, a high power of n) for stable n: x = nᴴ x n + c."""
    eps = epsilon(c)

    def step(state):
        n, x = state
        return matmul(n, n), x + matmul(adjoint(n), matmul(x, n))

    n, x = settled(step, (n, c), lambda x, y: significant(x[1], y[1], eps))
    return x, n


def turned(c, gamma) -> tuple:
    """(t, i) with which cᴴ δ + δ c = y is tᴴ δ t - δ = 2γ iᴴ y i: t = (γ + c)(γ - c)⁻¹, i = (γ - c)⁻¹."""
    one = identity_like(c)
    inverse = solve(gamma * one - c, one)
    return matmul(gamma * one + c, inverse), inverse


def beyond(size, like):
    """γ for matrices of this size, of the shape that multiplies them."""
    return xnp.where(size > 0, 1.25 * size, 1).astype(typeof(like).dtype)[..., None, None]


# The two loops


def _times(x, e):
    return x if e is None else matmul(x, e)


def _times_left(e, x):
    return x if e is None else matmul(adjoint(e), x)


def _rows(u, x, v, y):
    """|u|ᵀ |x| |v| y, from moduli; None is 1."""
    y = matmul(x, y if v is None else matmul(v, y))
    return y if u is None else matmul(swapped(u), y)


def _pair(u, x, v, y):
    return _rows(u, x, v, y) + _rows(v, x, u, y)


def _continuous(c, e, x):
    half = matmul(adjoint(c), _times(x, e))
    return half + adjoint(half)


def _discrete(c, e, x):
    here = _times_left(e, _times(x, e))
    return matmul(adjoint(c), matmul(x, c)) - here


def _of_lyapunov(c, y):
    t, i = turned(c, beyond(norm1(c), c))
    return summed(t, 2 * beyond(norm1(c), c) * matmul(adjoint(i), matmul(y, i)))[0]


# kind: l, the solution of l(d) = -y for e = 1, rows of the moduli in l(x), and of its change with c
_LOOPS = {
    "continuous": (
        _continuous, _of_lyapunov, lambda c, e, x, y: _pair(c, x, e, y),
        lambda moved, c, e, x, y: _pair(moved, x, e, y),
    ),
    "discrete": (
        _discrete, lambda c, y: summed(c, y)[0],
        lambda c, e, x, y: _rows(c, x, c, y) + _rows(e, x, e, y),
        lambda moved, c, e, x, y: _pair(moved, x, c + moved, y),
    ),
}  # fmt: skip


def _solution_of_loop(kind: str, c, e, y):
    """d with l(d) = -y."""
    if e is not None:
        c, y = solve_right(c, e), solve_right(solve(adjoint(e), y), e)
    return hermitian_part(_LOOPS[kind][1](c, y))


def _positive(d):
    """Whether a Hermitian matrix is positive definite, with a margin for rounding; scaled to have ones on
    its diagonal. (Higham 2002, section 10.1)"""
    n = typeof(d).shape[-1]
    along = xnp.real(diagonal(d))
    root = xnp.sqrt(xnp.where(along > 0, along, 1))
    inner = d / (root[..., :, None] * root[..., None, :]).astype(typeof(d).dtype)
    less = inner - n * roundings(n) * epsilon(d) * identity_like(d)
    there = xnp.isfinite(ops.cholesky(less)).all(axis=(-2, -1))
    return there & (along > 0).all(axis=-1)


def _radius(d, b, inverse, rounding: float):
    """The spectral radius of d b v⁻¹ bᴴ, that is of v⁻¹ bᴴ d b, or more."""
    d_b, moduli = matmul(d, b), xnp.abs(b)
    core = xnp.abs(matmul(adjoint(b), d_b)) + rounding * matmul(
        swapped(moduli), matmul(xnp.abs(d), moduli)
    )
    y = xnp.sqrt(xnp.max(core, axis=-1, keepdims=True))
    return xnp.max(relative(matmul(inverse, matmul(core, y)), y), axis=(-2, -1), initial=0)


# Certificate


def _over(x, *units):
    """x by powers of two, one after the other."""
    for u in units if x is not None else ():
        x = scaled(x, u)
    return x


def _in_units(kind: str, x, a, b, q, r, e, s) -> tuple:
    """The equation with x, a, e and b of size about 1, and the units of what is left of it."""
    own = lambda y: xnp.ones_like(unit(x)) if y is None else unit(y)  # noqa: E731
    two, width = unit(x), unit(b)
    if kind == "continuous":
        one, far = unit(a), own(e)
    else:
        one = far = own(None) if e is None else unit(a, e)
    x, a, b, e = _over(x, two), _over(a, one), _over(b, width), _over(e, far)
    away = far if kind == "continuous" else one
    r = _over(r, two, width, *((1 / one, width, far) if kind == "continuous" else (width,)))
    return x, a, b, _over(q, two, one, away), r, e, _over(s, two, width, away), (two, one, away)


def _inverse_above(v, sizes, rounding: float):
    """|v⁻¹| or more, element by element: v⁻¹ = y (1 - f)⁻¹ for about an inverse y and f = 1 - v y."""
    one = identity_like(v)
    y = solve(v, one)
    fault = norm1(xnp.abs(one - matmul(v, y)) + rounding * matmul(sizes, xnp.abs(y)))
    share = xnp.where(fault < 0.5, fault / (1 - xnp.minimum(fault, 0.5)), xnp.inf)
    y = xnp.abs(y)
    return y + share[..., None, None] * xnp.sum(y, axis=-1, keepdims=True)


def _largest(y):
    return xnp.max(y, axis=(-2, -1), initial=0)


def _size(y):
    return None if y is None else xnp.abs(y)


class _Loop(NamedTuple):
    """The closed loop of a solution, from a gain k that is off a little, and how much.

    Attributes:
      c, wide: a - b k, and |a| + |b| |k|.
      miss, inverse: the residual of the gain, and |v⁻¹|, of the equation v k = w.
      moved: how far c is from the loop of the exact gain.
    """

    k: Any
    c: Any
    wide: Any
    miss: Any
    inverse: Any
    moved: Any


def _loop(kind: str, x, a, b, r, e, s, rounding: float) -> _Loop:
    near = a if kind == "discrete" else e
    x_b, wide_b = matmul(x, b), matmul(_size(x), _size(b))
    w = adjoint(_times_left(near, x_b) + s)
    wide_w = swapped(_times_left(_size(near), wide_b) + _size(s))
    v, wide_v = r, _size(r)
    if kind == "discrete":
        v, wide_v = v + matmul(adjoint(b), x_b), wide_v + matmul(swapped(_size(b)), wide_b)
    k = solve(v, w)
    wide = _size(a) + matmul(_size(b), _size(k))
    miss = _size(w - matmul(v, k)) + rounding * (wide_w + matmul(wide_v, _size(k)))
    inverse = _inverse_above(v, wide_v, rounding)
    moved = matmul(_size(b), matmul(inverse, miss)) + rounding * wide
    return _Loop(k, a - matmul(b, k), wide, miss, inverse, moved)


def _left(kind: str, x, q, r, e, s, loop: _Loop) -> tuple:
    """(f(x), sums over rows of its moduli or more, those of its terms)."""
    k, ones = loop.k, xnp.ones_like(xnp.real(x[..., :1]))
    half = matmul(adjoint(k), matmul(r, k) / 2 - adjoint(s))
    f = _LOOPS[kind][0](loop.c, e, x) + q + half + adjoint(half)
    paid = matmul(_size(k), ones)
    sizes = _LOOPS[kind][2](loop.wide, e, _size(x), ones) + matmul(_size(q), ones)
    sizes = (
        sizes
        + matmul(_size(s), paid)
        + matmul(swapped(_size(k)), matmul(_size(r), paid) + matmul(swapped(_size(s)), ones))
    )
    second = matmul(swapped(loop.miss), matmul(loop.inverse, matmul(loop.miss, ones)))
    return f, xnp.sum(_size(f), axis=-1, keepdims=True) + second, sizes


def of_riccati(kind: str, x, a, b, q, r, e, s, bad, eps: float) -> tuple:
    """(status, Certificate) of x, which should be the stabilising solution.

    f(x) is l(x) with its own loop, q, and the costs of the gain: whatever the gain is, these are off by its
    square only. With |f(x)| <= t w the map δ ↦ l⁻¹ (-f(x) + the quadratic part) takes what lies between
    -2 t d and 2 t d into that where 8 t times the radius of d b v⁻¹ bᴴ and that of eᴴ d e by w is below 1;
    and then l(d) < 0 for the loops of all of that, too, so that its fixed point is the stabilising solution.
    """
    x, a, b, q, r, e, s = (
        None if y is None else ops.stop_gradient(y) for y in (x, a, b, q, r, e, s)
    )
    x, q, r = hermitian_part(x.astype(typeof(a).dtype)), hermitian_part(q), hermitian_part(r)  # pyright: ignore[reportOptionalMemberAccess]
    x, a, b, q, r, e, s, units = _in_units(kind, x, a, b, q, r, e, s)
    s = xnp.zeros_like(b) if s is None else s
    l, _, sizes_of, changes = _LOOPS[kind]
    n, m = typeof(b).shape[-2:]
    rounding = 2 * roundings(n + m) * epsilon(a)  # of two products in a row
    loop = _loop(kind, x, a, b, r, e, s, rounding)
    f, left, sizes = _left(kind, x, q, r, e, s, loop)

    weights = left + rounding * sizes
    top = _largest(weights)
    # what is much less than the rest may count as 2⁻¹⁰ of it
    w = xnp.maximum(relative(weights, top[..., None, None]), 2.0**-10)
    whole = xnp.where(xnp.eye(n, dtype=bool), w, 0).astype(typeof(a).dtype)
    d = _solution_of_loop(kind, loop.c, e, whole)
    y = 1 / xnp.sqrt(w)
    off_d = rounding * sizes_of(loop.wide, e, _size(d), y)
    off_d = off_d + changes(loop.moved, loop.wide, e, _size(d), y)
    fault = _largest(y * (matmul(_size(l(loop.c, e, d) + whole), y) + off_d))
    good = (fault < 0.5) & _positive(d)
    more = xnp.where(good, 1 / (1 - xnp.minimum(fault, 0.5)), xnp.inf)
    depth = xnp.max(xnp.real(diagonal(d)), axis=-1) * more

    core = _size(d if e is None else matmul(adjoint(e), matmul(d, e)))
    slack = more * _largest(y * matmul(core, y))  # eᴴ d e <= slack w
    bent = 8 * top * more * _radius(d, b, loop.inverse, rounding)
    bent = bent * (slack if kind == "continuous" else xnp.maximum(slack, 1))
    off = xnp.where(good & (bent < 1), top * depth * (1 + bent), xnp.inf)
    slack = 0.99 / slack
    end = -slack / 2 * units[1] / units[2] if kind == "continuous" else xnp.sqrt(1 - slack)
    most, residual = _largest(sizes), functools.reduce(xnp.multiply, units, frobenius(f))
    return concluded(
        x, off, relative(_largest(left), n * eps * most),
        relative(_largest(sizes / w) * depth, _largest(_size(x))), eps, residual=residual,
        singular=bad, given=[y for y in (a, b, q, r, e, s) if y is not None],
        backward_error=relative(_largest(left), most),
        closed_loop=xnp.where(good, end, xnp.inf),
    )  # fmt: skip
