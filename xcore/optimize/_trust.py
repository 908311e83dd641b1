"""The step of a least-squares model in a ball, from orthogonal factors."""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control.loops import fori_loop
from .._core.types import typeof
from ._packed import loop


def norm(x):
    return xnp.sqrt(xnp.vdot(x, x))


FEW = 8  # columns; of more, LAPACK makes the factors


def _gram_schmidt(a, rows):
    """(R, Q, the last column after it): modified Gram and Schmidt's orthogonalisation of all columns but the last.

    Inner products are those of the first ``rows`` rows; the others go along. R has the last column's
    coefficients too, and is as exact as Householder's. (Björck 1967) Plain array operations: lanes of a
    batch share them, where LAPACK would be called for each.
    """
    n = typeof(a).shape[1] - 1
    columns = xnp.arange(n + 1, dtype=np.int32)
    # no square overflows or vanishes
    size = xnp.max(xnp.abs(a[:rows]), axis=0)
    size = xnp.where(size > 0, size, 1)

    def turn(k, carry):
        a, r = carry
        column = xnp.take(a, k, axis=1)
        length = xnp.sqrt(xnp.sum(column[:rows] ** 2))
        q = column / xnp.where(length > 0, length, 1)
        later = xnp.where(columns > k, xnp.sum(q[:rows, None] * a[:rows], axis=0), 0)
        a = xnp.where(columns == k, q[:, None], a - q[:, None] * later)
        here = xnp.arange(n, dtype=np.int32) == k
        return a, xnp.where(here[:, None], xnp.where(columns == k, length, later), r)

    a, r = fori_loop(0, n, turn, (a / size, xnp.zeros((n, n + 1), a.dtype)))
    return r * size, a[:, :n], a[:, n] * size[n]


def triangle(j, f):
    """(R, Qᵀf) of J = Q R, without forming Q: f goes along as one more column."""
    m, n = typeof(j).shape
    both = xnp.concatenate([j, f[:, None]], axis=1)
    if n <= FEW:
        r = _gram_schmidt(both, m)[0]
        return r[:, :n], r[:, n]
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
    """(p, v -> S⁻ᵀ v): p the least of |R p + Qᵀf|² + damping |D p|², Sᵀ S = Rᵀ R + damping D²."""
    rows = xnp.concatenate([r, xnp.diag(xnp.sqrt(damping) * scale)])
    rest = xnp.concatenate([qtf, xnp.zeros_like(qtf)])
    n = typeof(qtf).shape[0]
    if n <= FEW:
        # the identity below becomes S⁻¹, the zeros below Qᵀf become p
        both = xnp.concatenate([rows, rest[:, None]], axis=1)
        below = xnp.concatenate([xnp.eye(n, dtype=r.dtype), xnp.zeros((n, 1), r.dtype)], axis=1)
        _, q, last = _gram_schmidt(xnp.concatenate([both, below]), 2 * n)
        return last[2 * n :], lambda v: v @ q[2 * n :]
    s, z = triangle(rows, rest)
    diagonal = xnp.diagonal(s)
    tiny = xnp.finfo(typeof(s).dtype).tiny
    s = s + xnp.diag(xnp.where(xnp.abs(diagonal) < tiny, 1, 0).astype(s.dtype))
    return -_triangular(s, z), lambda v: _triangular(s, v, "T")


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
        p, turned = _damped(r, qtf, scale, damping)
        size = norm(scale * p)
        excess = size - radius
        inside = (damping <= least) & (size <= 1.1 * radius)
        good = inside | (xnp.abs(excess) <= 0.1 * radius)
        lo, hi = xnp.where(excess > 0, damping, lo), xnp.where(excess > 0, hi, damping)
        q = turned(scale * scale * p / xnp.where(size == 0, 1, size))
        slope = xnp.vdot(q, q)
        new = damping + excess / radius / xnp.where(slope == 0, 1, slope)
        middle = xnp.maximum(xnp.sqrt(lo) * xnp.sqrt(hi), 1e-3 * hi)
        new = xnp.where((new > lo) & (new < hi), new, middle)
        return xnp.where(good, damping, new), lo, hi, p, k + np.int32(1), good

    start = (least, least, most * 1.001, xnp.zeros_like(qtf), np.int32(0), np.bool_(False))
    start = (*start[:4], xnp.asarray(start[4]), xnp.asarray(start[5]))
    damping, _, _, p, _, _ = loop(lambda s: ~s[5] & (s[4] < 12), newton, start)
    return p, damping
