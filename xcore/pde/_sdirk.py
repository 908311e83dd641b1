"""Diagonally implicit steps for stiff equations: stages one after the other, each by Newton's method.

All stages of a step share the matrix 1 - h γ J of its start, so it is factorised once; derivatives of stages are those
of their equations, with the Jacobian at the stage. (Hairer and Wanner 1996, section IV.8; Kennedy and Carpenter
2016, "Diagonally implicit Runge–Kutta methods for ordinary differential equations. A review", NASA/TM-2016-219173)
"""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .._control import closure_convert, custom_root, scan, stop_gradient, while_loop
from .._core import static, struct, typeof
from ._rosenbrock import Rosenbrock, rosenbrock_step, shifted

# Newton's method, in units of the tolerance: what it leaves, what is good enough where rounding allows no
# more, and how large the error counts of a step in which it does not converge: the next is about half as long.
_LEFT, _ENOUGH, _FAILED = 1e-2, 0.1, 30.0
_ROUNDINGS, _MOST = 4, 10


@struct
class SDIRK:
    """Coefficients of a diagonally implicit Runge–Kutta method whose first stage is explicit (ESDIRK), and whose last
    one is its result:

        Uᵢ = h f(t + cᵢ h, Yᵢ)        Yᵢ = u + Σ aᵢⱼ Uⱼ + γ Uᵢ

    Attributes:
      gamma: the number on the diagonal, but for the first stage.
      a: rows of the strictly lower triangle, from the second stage on.
      error: weights of the Uᵢ in the estimated error.
      order: of the result.
      inner: of the solution between the ends of a step, at most 4 and ``order``.

    >>> import xcore as xc
    >>> xc.pde.TRBDF2.order
    2
    >>> xc.pde.integrate(lambda u, t: -1000 * (u - 2), 1.0, [0.0, 1.0], tableau=xc.pde.TRBDF2)[-1].round(3)
    Array(2., dtype=float32)
    """

    gamma: float = static()
    a: tuple = static()
    error: tuple = static()
    order: int = static()
    inner: int = static()

    @property
    def matrix(self) -> np.ndarray:
        """All aᵢⱼ, with the diagonal."""
        n = len(self.error)
        full = self.gamma * np.diag(np.arange(n) > 0)
        for i, row in enumerate(self.a, 1):
            full[i, :i] = row
        return full

    def of_stages(self, weights) -> tuple[np.ndarray, np.ndarray]:
        """Weights of the Uᵢ as those of the Yᵢ - u, and what is left of that of U₁, which is large where f is stiff."""
        weights, a = np.asarray(weights, float), self.matrix
        own = np.linalg.solve(a[1:, 1:].T, weights[..., 1:].T).T
        left = weights[..., 0] - own @ a[1:, 0]
        return own, np.where(np.abs(left) < 1e-12, 0, left)

    def between(self, lower: int = 0) -> np.ndarray:
        """Rows of weights that bend the solution between the ends of a step: of the powers of the part of a step the
        smallest ones that fulfil the conditions up to order ``inner``, or so many orders lower, and that leave nothing
        of U₁."""
        a, most = self.matrix, self.inner - lower
        c = a.sum(axis=1)
        conditions = [
            (1, c**0, 1), (2, c, 2), (3, c * c, 3), (3, a @ c, 6),
            (4, c**3, 4), (4, c * (a @ c), 8), (4, a @ (c * c), 12), (4, a @ a @ c, 24),
        ]  # fmt: skip
        conditions = [x for x in conditions if x[0] <= most]
        flat = np.append(1, -np.linalg.solve(a[1:, 1:], a[1:, 0]))
        rows = np.stack([*[x for _, x, _ in conditions], flat])
        powers = np.zeros((5, len(c)))
        for j in range(2, most + 1):
            right = np.array([1 / d if k == j else 0.0 for k, _, d in conditions] + [0.0])
            powers[j] = np.linalg.lstsq(rows, right, rcond=1e-10)[0]
        return -np.stack([powers[2:].sum(axis=0), powers[3:].sum(axis=0), powers[4]])


# fmt: off
_B5 = (0.13659751177640291, 0.0, -0.05496908796538376, -0.04118626728321046, 0.62993304899016403, 0.06962479448202728)
_A5 = (0.13855640231268224, 0.0, -0.04245337201752043, 0.02446657898003141, 0.61943039072480676)
# Kvaerno 2004, "Singly diagonally implicit Runge–Kutta methods with an explicit first stage", BIT 44: the last two
# stages are compared
KVAERNO5 = SDIRK(
    0.26,
    (
        (0.26,), (0.13, 0.84033320996790809), (0.22371961478320505, 0.47675532319799699, -0.06470895363112615),
        (0.16648564323248321, 0.10450018841591720, 0.03631482272098715, -0.13090704451073998), _A5, _B5,
    ),
    (*(x - y for x, y in zip(_B5, (*_A5, 0.26), strict=True)), 0.26), 5, 4,
)
_B4 = (82889 / 524892, 0.0, 15625 / 83664, 69875 / 102672, -2260 / 8211)
# Kennedy and Carpenter 2003, "Additive Runge–Kutta schemes for convection–diffusion–reaction equations", Appl. Numer.
# Math. 44: the implicit one of ARK4(3)6L[2]SA
KENCARP4 = SDIRK(
    0.25,
    (
        (0.25,), (8611 / 62500, -1743 / 31250), (5012029 / 34652500, -654441 / 2922500, 174375 / 388108),
        (15267082809 / 155376265600, -71443401 / 120774400, 730878875 / 902184768, 2285395 / 8070912), _B4,
    ),
    (
        _B4[0] - 4586570599 / 29645900160, 0.0, _B4[2] - 178811875 / 945068544, _B4[3] - 814220225 / 1159782912,
        _B4[4] + 3700637 / 11593932, 0.25 - 61727 / 225920,
    ), 4, 4,
)
# Hosea and Shampine 1996, "Analysis and implementation of TR-BDF2", Appl. Numer. Math. 20
_D, _W = 1 - 2**-0.5, 2**0.5 / 4
TRBDF2 = SDIRK(_D, ((_D,), (_W, _W)), (_W - (1 - _W) / 3, _W - (3 * _W + 1) / 3, 2 * _D / 3), 2, 2)
# fmt: on


def sdirk_step(method: SDIRK, f, system, y, t, h, extra, bound):
    """A step of u' = f(u, t, *extra) from the vector y: (the state after it, the vectors that bend the way there, the
    estimated error, whether it is one)."""
    dtype, a = typeof(y).dtype, method.matrix
    held = stop_gradient((y, t, h * method.gamma, tuple(extra)))
    unit = bound(held[0])
    solve = system(*shifted(f, *held), unit)
    newton = _newton(solve, held[0], bound)

    def along(g, b):  # derivatives of a stage
        pure, given = closure_convert(g, b)
        return system(lambda given, v: pure(v, *given), tuple(given), unit)(b)[0]

    def stage(carry, row):
        rises, before, fine = carry
        weights, place, number = row
        base, when = y + xnp.sum(weights[:, None] * rises, axis=0), t + place * h
        left = lambda x: x - base - h * method.gamma * f(x, when, *extra)  # noqa: E731
        x, good = custom_root(left, before, newton, along, has_aux=True)
        return (rises.at[number].set((x - base) / method.gamma), x, fine & good), x

    first = h * f(y, t, *extra)
    rises = xnp.zeros((len(a), typeof(y).size), dtype).at[0].set(first)
    lower = np.tril(a, -1)[1:].astype(dtype)
    rows = lower, a.sum(axis=1)[1:].astype(typeof(t).dtype), np.arange(1, len(a), dtype=np.int32)
    (_, new, fine), reached = scan(stage, (rises, y, xnp.ones((), bool)), rows)
    total = lambda w: xnp.sum(w.astype(dtype)[:, None] * (reached - y), axis=0)  # noqa: E731
    own, more = method.of_stages(method.error)
    error = total(own)
    if more:
        error = solve(error + float(more) * first)[0]
    bends = method.between()
    # Where f is infinitely stiff the last stage is exact, and the difference of results no estimate. There the error
    # is the difference of two solutions half-way, without what is not stiff.
    apart = total(method.of_stages((bends - method.between(1)).T @ (0.25, 0.125, 0.0625))[0])
    error = xnp.abs(error) + xnp.abs(apart - solve(apart)[0])
    # a length at which Newton's method does not converge is too long, as if its error were too large
    error = xnp.where(fine, error, _FAILED * bound(xnp.abs(y)) + 0 * error)
    return new, [total(w) for w in method.of_stages(bends)[0]], error, True


def _newton(solve, y, bound):
    """A function (left, x) -> (a zero of left near x, whether it is one)."""
    eps = float(xnp.finfo(typeof(y).dtype).eps)

    def size(x, change):
        unit = bound(xnp.maximum(xnp.abs(x), xnp.abs(y))) + _ROUNDINGS / _LEFT * eps * xnp.abs(x)
        unit = xnp.maximum(unit, xnp.finfo(typeof(y).dtype).tiny)
        largest = xnp.max(xnp.abs(change) / unit, initial=0)
        return xnp.where(xnp.all(xnp.isfinite(change)), largest, np.inf).astype(typeof(y).dtype)

    def run(left, x):
        def step(s):
            x, before, count, _, _ = s
            change, good = solve(-left(x))
            x = x + change
            now = size(x, change)
            rate = now / xnp.where(before > 0, before, 1)
            near = xnp.where(count > 0, rate / xnp.maximum(1 - rate, 1e-3) * now, 10 * now) <= _LEFT
            lost = ~xnp.isfinite(now) | ((count > 0) & (rate >= 1))
            return x, now, count + np.int32(1), near | lost, (near | (now <= _ENOUGH)) & good

        zero, no = xnp.zeros((), np.int32), xnp.zeros((), bool)
        # own loop: simplified Newton's method within a step
        x, _, _, _, fine = while_loop(
            lambda s: (s[2] < _MOST) & ~s[3], step, (x, xnp.ones((), typeof(y).dtype), zero, no, no)
        )
        return x, fine

    return run


def implicit_step(method: Rosenbrock | SDIRK):
    """The function that takes a step of a method for stiff equations."""
    return rosenbrock_step if isinstance(method, Rosenbrock) else sdirk_step
