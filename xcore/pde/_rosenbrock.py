"""Linearly implicit steps for stiff equations, and the linear systems in them.

A step solves one linear system for each stage, all with the matrix 1 - h γ J of the Jacobian at its start.
(Hairer and Wanner 1996, "Solving ordinary differential equations II", section IV.7)
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import eval_shape, jvp, vmap
from .._core import one_of, static, struct, typeof
from ..linalg import GMRES, FunctionOperator, linear_solve, lu_factor, lu_solve
from ..sparse import Pattern, Sparse, jacobian, jacobian_pattern
from ..sparse import solve as sparse_solve

_DENSE_AT_MOST, _DENSE_ELSE, _SPARSE_AT_MOST = 100, 600, 50_000  # unknowns
_THIN = 0.1  # of its elements that a matrix may have for factors of sparse ones
# of a Krylov solution: relative, and where rounding ends it, in units of the tolerance
_RELATIVE, _LEFT = 1e-12, 1e-2
WAYS = ("auto", "dense", "sparse", "krylov")
_INSIDE = 3  # times the tolerance: by how much the solution may be off between the ends of a step


@struct
class Rosenbrock:
    """Coefficients of a Rosenbrock method, in the form that needs no product with the Jacobian:

        (1 - h γ J) Uᵢ = h γ f(t + αᵢ h, u + Σ aᵢⱼ Uⱼ) + γ Σ cᵢⱼ Uⱼ + h² γ γᵢ ∂f/∂t

    (Hairer and Wanner 1996, section IV.7.)

    Attributes:
      gamma: the number on the diagonal.
      a, c: rows of the strictly lower triangles.
      b: weights of the Uᵢ in the step.
      error: weights in its estimated error.
      between: rows of weights that make the solution between the ends of a step.
      order: of the result; the solution between the ends and the one compared with are one lower.

    >>> from xcore import pde
    >>> u = pde.integrate(lambda u, t: -50.0 * (u - 1.0), 0.0, [0.0, 1.0], tableau=pde.RODAS5P)
    >>> u.round(3)
    Array([0., 1.], dtype=float32)
    """

    gamma: float = static()
    a: tuple = static()
    c: tuple = static()
    b: tuple = static()
    error: tuple = static()
    between: tuple = static()
    order: int = static()

    def matrices(self) -> tuple:
        """(α, Γ) of the form with products: stages at u + Σ αᵢⱼ kⱼ, and γᵢⱼ J kⱼ."""
        n = len(self.b)
        a, c = np.zeros((n, n)), np.zeros((n, n))
        for i in range(1, n):
            a[i, :i], c[i, :i] = self.a[i - 1], self.c[i - 1]
        full = np.linalg.inv(np.eye(n) / self.gamma - c)
        return a @ full, full


# fmt: off
_A6 = (-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946)
# Steinebach 2023, "Construction of Rosenbrock–Wanner method Rodas5P and numerical benchmarks within the Julia
# differential equations package", BIT 63
RODAS5P = Rosenbrock(
    0.21193756319429014,
    (
        (3.0,),
        (2.849394379747939, 0.45842242204463923),
        (-6.954028509809101, 2.489845061869568, -10.358996098473584),
        (2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641),
        _A6, (*_A6, 1.0), (*_A6, 1.0, 1.0),
    ),
    (
        (-14.155112264123755,),
        (-17.97296035885952, -2.859693295451294),
        (147.12150275711716, -1.41221402718213, 71.68940251302358),
        (165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306),
        (24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471),
        (30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623,
         -28.087943162872662),
        (37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002,
         -54.66780262877968, -9.48861652309627),
    ),
    (*_A6, 1.0, 1.0, 1.0), (0, 0, 0, 0, 0, 0, 0, 1.0),
    (
        (25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204, 0.524948541321073,
         1.1241088310450404, 0.4272876194431874, -0.17202221070155493),
        (-9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796, 20.176138334709044,
         15.98066361424651, -6.789040303419874, -6.710236069923372),
        (11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643, -52.072871366152654,
         -59.78993625266729, -0.15582684282751913, 4.883087185713722),
    ),
    5,
)
# fmt: on


def _total(weights, vectors) -> Any:
    """Σ weight × vector; None where all weights are 0."""
    used = [w * v for w, v in zip(weights, vectors, strict=False) if w]
    return functools.reduce(xnp.add, used) if used else None


def _plus(x, weights, vectors):
    more = _total(weights, vectors)
    return x if more is None else x + more


def rosenbrock_step(method: Rosenbrock, f, system, y, t, h, extra, bound):
    """A step of u' = f(u, t, *extra) from the vector y: (the state after it, the vectors that bend the way there, the
    estimated error, whether all systems were solved)."""
    alpha, full = method.matrices()
    places, drifts = alpha.sum(axis=1), np.round(full.sum(axis=1), 14)
    # h ∂f/∂t, which need not overflow where ∂f/∂t does
    moving = jvp(lambda s: f(y, s, *extra), (t,), (h,))[1]
    step = h * method.gamma
    solve = system(*shifted(f, y, t, step, extra), bound(y))
    found, fine = [], True
    for row, carried, place, drift in zip(
        ((), *method.a), ((), *method.c), places.tolist(), drifts.tolist(), strict=True
    ):
        right = step * f(_plus(y, row, found), t + place * h, *extra)
        right = _plus(right, [method.gamma * c for c in carried], found)
        x, good = solve(right + step * drift * moving if drift else right)
        found.append(x)
        fine = fine & good
    new = _plus(y, method.b, found)
    bends, error = [_total(w, found) for w in method.between], _total(method.error, found)
    left = _left_between(y, new, bends, lambda u: step * f(u, t + h / 2, *extra), method.gamma)
    inside, good = solve(left)
    return new, bends, _larger(error, inside / _INSIDE), fine & good


def _left_between(y, new, bends, slope, gamma):
    """What half way through a step the solution between its ends leaves of u' = f, times γ h.

    Solved like a stage it is one step of Newton's method towards where f is met. Where f is stiff or jumps, the end may
    be right and the way there not, which the estimated error of the end does not see."""
    rise, (a, b, c) = new - y, bends
    middle = y + (rise + (a + b / 2 + c / 4) / 2) / 2
    return slope(middle) - gamma * (rise + (b + c) / 4)


def _larger(a, b):
    return xnp.where(xnp.abs(b) <= xnp.abs(a), a, b)  # what is no number is larger


# Linear systems


def shifted(f, y, t, tau, extra) -> tuple:
    """The product (1 - τ ∂f/∂y) v, as a function of (given, v), and what is given."""

    def product(given, v):
        y, t, tau, extra = given
        return v - tau * jvp(lambda y: f(y, t, *extra), (y,), (v,))[1]

    return product, (y, t, tau, tuple(extra))


def system_of(way: str, f, y, t, extra: tuple):
    """A function (product, given, unit) that makes the function b -> (x with product(given, x) = b, whether it is
    that), where unit is the tolerance of x; for products as ``shifted`` has them.

    Args:
      way: one of ``WAYS``.
      f: function of (y, t, *extra), of which only the program counts here.
    """
    n = typeof(y).size
    one_of("pde.integrate", "jac", way, WAYS, f"one of {WAYS}")
    if way == "auto" and n <= _DENSE_AT_MOST:
        way = "dense"
    if way == "auto" and n > _SPARSE_AT_MOST:
        way = "krylov"
    if way in ("dense", "krylov"):
        return _dense if way == "dense" else _krylov
    pattern = _pattern(f, y, t, extra)
    if way == "auto" and pattern.nnz > _THIN * n * n:
        return _dense if n <= _DENSE_ELSE else _krylov
    every = pattern.union(Pattern(np.arange(n), np.arange(n), (n, n)))[0]
    return functools.partial(_sparse, pattern=every)


def _pattern(f, y, t, extra) -> Pattern:
    """Where the Jacobian can have elements, whatever the state and the time are."""
    found = []

    def look(y, *others):  # traced: numbers that are known would count as constants
        found.append(jacobian_pattern(f, y, *others))
        return y

    eval_shape(look, y, t, *extra)
    return found[0]


def _dense(product, given, unit):
    eye = xnp.eye(typeof(unit).size, dtype=typeof(unit).dtype)
    factors = lu_factor(vmap(lambda v: product(given, v), out_axes=1)(eye))
    return lambda b: (lu_solve(factors, b), True)


def _sparse(product, given, unit, pattern: Pattern):
    values = jacobian(lambda v: product(given, v), pattern)(xnp.zeros_like(unit)).values
    return lambda b: (sparse_solve(Sparse(values, pattern), b), True)


def _krylov(product, given, unit):
    """Products only, for unknowns in units of the tolerance."""
    t = typeof(unit)
    unit = xnp.where(unit > 0, unit, 1).astype(t.dtype)
    scaled = lambda given, v: product(given[0], given[1] * v) / given[1]  # noqa: E731
    a = FunctionOperator(scaled, (given, unit), (t.size, t.size))
    # relative: the right sides of derivatives, solved by the same, are of any size
    solver = GMRES(rtol=max(10 * float(xnp.finfo(t.dtype).eps), _RELATIVE), max_steps=50)

    def solve(b):
        found = linear_solve(a, b / unit, solver, report=True)
        return unit * found.value, found.ok | (found.error <= _LEFT)

    return solve
