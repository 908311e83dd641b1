"""Convex quadratic programs, small and dense, by an interior-point method.

Least ½ p·B p + g·p with A p + a = 0 and C p + c ≥ 0 (B positive definite). To be of use where these
contradict each other, both have elastic parts whose size is charged: A p + a = u - v and
C p + c + w ≥ 0 with u, v, w ≥ 0, at a cost of ρ for each unit. (Nocedal, Wright 2006, section 18.5)

Written with all inequalities as one vector: variables z = (p, u, v, w), G z + h ≥ 0 with multipliers
λ ≥ 0, and solved by Mehrotra's predictor and corrector.
"""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .._core.types import typeof
from ._packed import loop
from ._problem import largest


def solve_qp(b, g, a_matrix, a, c_matrix, c, charge, limit: int = 40):
    """(p, multipliers of the equations, of the inequalities) with B p + g = Aᵀ y + Cᵀ λ."""
    n, me, mi = typeof(g).shape[0], typeof(a).shape[0], typeof(c).shape[0]
    total, dtype = n + 2 * me + mi, g.dtype
    one = xnp.eye(me, dtype=dtype)
    eps = xnp.finfo(dtype).eps
    scale = xnp.maximum(largest(b), 1)
    elastic = xnp.concatenate([xnp.zeros(n, dtype), xnp.ones(total - n, dtype)])
    pad = ((0, total - n), (0, total - n))
    # the elastic variables need a curvature to be determined; it is far below their price
    q = xnp.pad(b, pad) + xnp.diag(elastic * 1e-10 * scale)
    price = xnp.concatenate([g, xnp.full(total - n, 1, dtype) * charge])
    equal = xnp.concatenate([a_matrix, -one, one, xnp.zeros((me, mi), dtype)], axis=1)
    rows = xnp.concatenate([
        xnp.concatenate([
            c_matrix, xnp.zeros((mi, 2 * me), dtype), xnp.eye(mi, dtype=dtype)
        ], axis=1),
        xnp.concatenate([
            xnp.zeros((total - n, n), dtype), xnp.eye(total - n, dtype=dtype)
        ], axis=1),
    ])  # fmt: skip
    offset = xnp.concatenate([c, xnp.zeros(total - n, dtype)])
    m = mi + total - n
    if m == 0:
        return _equality_only(b, g, a_matrix, a)

    def residuals(z, y, s, lam):
        return (
            q @ z + price - equal.T @ y - rows.T @ lam, equal @ z + a, rows @ z + offset - s,
        )  # fmt: skip

    def direction(w, dual, primal, slack, s, lam, target):
        """The Newton step for the products s λ to become ``target``."""
        # eliminate s and λ, then z
        right = -dual + rows.T @ ((target - s * lam) / s - w * slack)
        kkt = xnp.block([
            [q + (rows.T * w) @ rows, -equal.T], [equal, -1e-13 * xnp.eye(me, dtype=dtype)]
        ])  # fmt: skip
        step = xnp.linalg.solve(kkt, xnp.concatenate([right, -primal]))
        dz, dy = step[:total], step[total:]
        ds = rows @ dz + slack
        dlam = (target - s * lam - lam * ds) / s
        return dz, dy, ds, dlam

    def longest(x, dx):
        ratio = xnp.where(dx < 0, -x / xnp.where(dx < 0, dx, 1), xnp.inf)
        return xnp.minimum(1, xnp.min(ratio))

    def turn(state):
        z, y, s, lam, k, _, before = state
        dual, primal, slack = residuals(z, y, s, lam)
        gap, w = xnp.vdot(s, lam) / m, lam / s
        _, _, ds, dlam = direction(w, dual, primal, slack, s, lam, xnp.zeros_like(s))
        t = xnp.minimum(longest(s, ds), longest(lam, dlam))
        after = xnp.vdot(s + t * ds, lam + t * dlam) / m
        centre = (after / gap) ** 3 * gap
        dz, dy, ds, dlam = direction(w, dual, primal, slack, s, lam, centre - ds * dlam)
        far = xnp.maximum(0.995, 1 - gap)
        t, r = xnp.minimum(1, far * longest(s, ds)), xnp.minimum(1, far * longest(lam, dlam))
        t = r = xnp.minimum(t, r)
        new = z + t * dz, y + r * dy, s + t * ds, lam + r * dlam
        dual, primal, slack = residuals(*new)
        size = 1 + largest(price) + largest(new[0])
        wrong = xnp.maximum(xnp.maximum(largest(dual), largest(primal)), largest(slack)) / scale
        error = xnp.maximum(xnp.vdot(new[2], new[3]) / m, wrong) / size
        # at the end rounding errors of ever worse systems grow: the last good point is the solution
        fine = xnp.isfinite(error) & ((error < before) | (before > 1e-6))
        new = [xnp.where(fine, n_, o) for n_, o in zip(new, (z, y, s, lam))]
        return (*new, k + np.int32(1), ~fine | (error <= 1e3 * eps), error)

    begin = xnp.concatenate([xnp.maximum(xnp.abs(c), 1), xnp.ones(total - n, dtype)])
    start = (
        xnp.concatenate([xnp.zeros(n, dtype), xnp.ones(total - n, dtype)]), xnp.zeros(me, dtype),
        begin, xnp.ones(m, dtype) * xnp.maximum(1, largest(g)), xnp.zeros((), np.int32),
        xnp.zeros((), bool), xnp.full((), xnp.inf, dtype),
    )  # fmt: skip
    z, y, _, lam, *_ = loop(lambda s: ~s[5] & (s[4] < limit), turn, start)
    return z[:n], y, lam[:mi]


def _equality_only(b, g, a_matrix, a):
    kkt = xnp.block([[b, -a_matrix.T], [a_matrix, xnp.zeros((0, 0), b.dtype)]])
    n = typeof(g).shape[0]
    found = xnp.linalg.solve(kkt, -xnp.concatenate([g, a]))
    return found[:n], found[n:], xnp.zeros(0, g.dtype)
