"""The step of a least-squares model in a ball, from orthogonal factors."""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core.types import typeof
from ._packed import loop


def norm(x):
    return xnp.sqrt(xnp.vdot(x, x))


def triangle(j, f):
    """(R, Qᵀf) of J = Q R, without forming Q: f goes along as one more column."""
    m, n = typeof(j).shape
    both = xnp.concatenate([j, f[:, None]], axis=1)
    if m <= n:
        both = xnp.concatenate([both, xnp.zeros((n + 1 - m, n + 1), both.dtype)])
    r = xnp.linalg.qr(both, mode="r")
    return r[:n, :n], r[:n, n]


def _triangular(r, b, transpose="N"):
    x = ops.triangular_solve(
        r, b[:, None], left=True, lower=False, transpose=transpose, unit_diagonal=False
    )
    return x[:, 0]


def _damped(r, qtf, scale, damping):
    """(p, S) with p the least of |R p + Qᵀf|² + damping |D p|², Sᵀ S = Rᵀ R + damping D²."""
    rows = xnp.concatenate([r, xnp.diag(xnp.sqrt(damping) * scale)])
    s, z = triangle(rows, xnp.concatenate([qtf, xnp.zeros_like(qtf)]))
    diagonal = xnp.diagonal(s)
    tiny = xnp.finfo(typeof(s).dtype).tiny
    s = s + xnp.diag(xnp.where(xnp.abs(diagonal) < tiny, 1, 0).astype(s.dtype))
    return -_triangular(s, z), s


def step_in_ball(r, qtf, scale, radius):
    """(p, damping): the least of |R p + Qᵀf|² among |D p| ≤ radius, to a tenth of the radius.

    Newton's method on 1/radius - 1/|D p| as a function of the damping. (Moré 1978)
    """
    eps = xnp.finfo(typeof(r).dtype).eps
    weight = xnp.sqrt(xnp.max(xnp.sum((r / scale) ** 2, axis=0)))
    least = (eps * weight) ** 2  # keeps directions that the data do not determine at rest
    most = norm((r.T @ qtf) / scale) / radius + least

    def newton(s):
        damping, lo, hi, _, k, _ = s
        p, factor = _damped(r, qtf, scale, damping)
        size = norm(scale * p)
        excess = size - radius
        inside = (damping <= least) & (size <= 1.1 * radius)
        good = inside | (xnp.abs(excess) <= 0.1 * radius)
        lo, hi = xnp.where(excess > 0, damping, lo), xnp.where(excess > 0, hi, damping)
        q = _triangular(factor, scale * scale * p / xnp.where(size == 0, 1, size), "T")
        slope = xnp.vdot(q, q)
        new = damping + excess / radius / xnp.where(slope == 0, 1, slope)
        middle = xnp.maximum(xnp.sqrt(lo) * xnp.sqrt(hi), 1e-3 * hi)
        new = xnp.where((new > lo) & (new < hi), new, middle)
        return xnp.where(good, damping, new), lo, hi, p, k + np.int32(1), good

    start = (least, least, most * 1.001, xnp.zeros_like(qtf), np.int32(0), np.bool_(False))
    start = (*start[:4], xnp.asarray(start[4]), xnp.asarray(start[5]))
    damping, _, _, p, _, _ = loop(lambda s: ~s[5] & (s[4] < 12), newton, start)
    return p, damping
