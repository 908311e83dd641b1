"""e^{tL} for any linear operator on a grid, by Krylov's spaces.

The solution of w' = L w + s is w + t φ(t L) (L w + s) with φ(z) = (eᶻ - 1) / z. On the space of m products with L
that begins there φ is that of a small matrix, and what the space lacks is told by the next vector; steps are as long
as that is small. (Saad 1992, "Analysis of some Krylov subspace approximations to the matrix exponential operator";
Niesen and Wright 2012, "Algorithm 919")
"""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import fori_loop, while_loop
from .._core import dtypes, typeof
from .._solution import Status, first_that_holds
from ..linalg import expm
from ..linalg._range import magnitude
from ..numpy._select import safe_divide
from ._general import eval_dtype
from ._grid import size
from ._judge import default_rtol

_PRODUCTS = 30  # for one space
_MOST = 2000  # spaces for one step
_SHORTEST = 2.0**-40


def grown(op, u, still, dt):
    """(w(dt), status) of w' = op(w) + still, w(0) = u."""
    dtype = typeof(u).dtype  # coefficients may have more digits
    wide = xnp.promote_types(xnp.promote_types(dtype, np.float32), eval_dtype(op))
    real = dtypes.to_real(wide)
    u, still, dt = u.astype(wide), still.astype(wide), xnp.asarray(dt, real)
    goal, shape = default_rtol(dtype), typeof(u).shape
    still = dt * still
    large = [xnp.max(xnp.abs(x), initial=0) for x in (u, still)]
    unit = magnitude(ops.stop_gradient(xnp.stack(large)))  # squares of it may be out of range
    u, still = u / unit, still / unit
    m = min(_PRODUCTS, size(shape))
    # in units of dt: squares of op(x) may be out of range, too
    apply = lambda x: dt * op(x.reshape(shape)).reshape(-1).astype(wide)  # noqa: E731

    def step(s):
        b = apply(s["w"]) + still.reshape(-1)
        v, h, length = _space(apply, b, m)
        left = 1 - s["done"]
        most = goal * xnp.maximum(_norm(s["w"]), length)

        def shorter(tried):
            share = tried[0] / 2
            small, out = _small(h, share)
            return share, length * share * out, small

        bad = lambda tried: ~(tried[1] <= most * tried[0]) & (tried[0] > _SHORTEST)  # noqa: E731
        start = 2 * left, xnp.full((), np.inf, real), xnp.zeros((m + 1,), wide)
        # own loop: how long a step may be is told by small matrices alone
        share, wrong, small = while_loop(bad, shorter, start)
        return {
            "w": s["w"] + share * length * (small @ v), "count": s["count"] + np.int32(1),
            "done": xnp.where(share >= left, 1, s["done"] + share), "lost": ~(wrong <= most * share),
        }  # fmt: skip

    more = lambda s: (s["done"] < 1) & (s["count"] < _MOST) & ~s["lost"]  # noqa: E731
    first = {
        "w": u.reshape(-1), "count": xnp.zeros((), np.int32),
        "done": xnp.zeros((), real), "lost": xnp.zeros((), bool),
    }  # fmt: skip
    # own loop: over time
    s = while_loop(more, step, first)
    status = first_that_holds(
        (~xnp.all(xnp.isfinite(xnp.abs(s["w"]))), Status.not_finite), (s["lost"], Status.stagnation),
        (s["done"] >= 1, Status.success), default=Status.max_steps,
    )  # fmt: skip
    return (unit * s["w"]).reshape(shape).astype(dtype), status


def _norm(x):
    return xnp.sqrt(xnp.sum(xnp.abs(x) ** 2))


def _space(apply, b, m: int) -> tuple:
    """(orthonormal vectors as rows, the small matrix with one row more, the length of b), by Arnoldi's method."""
    dtype, length = typeof(b).dtype, _norm(b)
    v = xnp.zeros((m + 1, typeof(b).shape[0]), dtype)
    v = v.at[0].set(safe_divide(b, length.astype(dtype)))
    scale = float(dtypes.finfo(dtypes.to_real(dtype)).eps)

    def add(j, pair):
        v, h = pair
        w = apply(v[j])
        whole, column = _norm(w), xnp.zeros((m + 1,), dtype)
        for _ in range(2):  # once more: rounding leaves a little
            shares = xnp.conj(v) @ w
            w, column = w - shares @ v, column + shares
        rest = _norm(w)
        rest = xnp.where(rest > 10 * scale * whole, rest, 0).astype(
            dtype
        )  # else the space is complete
        column = column.at[j + 1].set(rest)
        return v.at[j + 1].set(safe_divide(w, rest)), h.at[:, j].set(column)

    return *fori_loop(0, m, add, (v, xnp.zeros((m + 1, m), dtype))), length


def _small(h, t) -> tuple:
    """(φ(t H) e₁ with a zero behind, how much of t h φ₂(t H) e₁ leads out of the space)."""
    m = typeof(h).shape[1]
    wide = xnp.zeros((m + 2, m + 2), typeof(h).dtype)
    wide = wide.at[:m, :m].set(t * h[:m]).at[0, m].set(1).at[m, m + 1].set(1)
    e = expm(wide)
    out = t * xnp.abs(h[m, m - 1] * e[m - 1, m + 1])
    return xnp.concatenate([e[:m, m], xnp.zeros((1,), typeof(h).dtype)]), out
