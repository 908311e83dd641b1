"""Convex quadratic programs, small and dense, by an interior-point method.

Least ½ p·B p + g·p with A p + a = 0 and C p + c ≥ 0 (B positive definite). To be of use where these
contradict each other, both have elastic parts whose size is penalised: A p + a = u - v and
C p + c + w ≥ 0 with u, v, w ≥ 0, at a cost of ρ for each unit. (Nocedal, Wright 2006, section 18.5)

Written with all inequalities as one vector: variables z = (p, u, v, w), G z + h ≥ 0 with multipliers
λ ≥ 0, and solved by Mehrotra's predictor and corrector. That leaves products of multipliers and slack of about
the root of the precision; where it tells which inequalities hold with equality, and nothing needs its elastic part,
the equations for these give the solution with all digits.
"""

from __future__ import annotations

import functools

from .. import numpy as xnp
from .._core import typeof
from ..numpy._select import safe_divide
from ._loop import iterations
from ._problem import largest


def solve_qp(b, g, a_matrix, a, c_matrix, c, charge, limit: int = 40):
    """(p, multipliers of the equations, of the inequalities) with B p + g = Aᵀ y + Cᵀ λ."""
    n, mi = typeof(g).shape[0], typeof(c).shape[0]
    if not mi and not typeof(a).shape[0]:
        none = xnp.zeros(0, g.dtype)
        return xnp.linalg.solve(b, -g), none, none
    problem = _Elastic(b, g, a_matrix, a, c_matrix, c, charge)
    z, y, slack, lam, *_ = iterations(lambda s: ~s[4], problem.turn, problem.start(c), limit)
    found = z[:n], y, lam[:mi]
    return _polished(b, g, a_matrix, a, c_matrix, c, charge, found, lam[:mi] > slack[:mi])


TURNS = 6  # guesses which inequalities hold with equality
REFINED = 2  # times that solutions beside a softened system are


def _polished(b, g, a_matrix, a, c_matrix, c, charge, found, active):
    """The same (p, y, λ), or what the equations of active inequalities give, whichever is nearer to optimal."""
    n, me, mi, dtype = typeof(g).shape[0], typeof(a).shape[0], typeof(c).shape[0], g.dtype
    scale, none = xnp.maximum(largest(b), 1), xnp.zeros((me, me + mi), dtype)

    def error(p, y, lam):
        slack = c_matrix @ p + c
        size = 1 + largest(g) + largest(p)
        dual = largest(b @ p + g - y @ a_matrix - lam @ c_matrix) / scale
        wrong = xnp.maximum(largest(a_matrix @ p + a), largest(xnp.minimum(slack, 0)))
        signs = xnp.maximum(largest(xnp.minimum(lam, 0)), largest(lam * slack))
        beyond = (largest(y) > charge) | (largest(lam) > charge)
        all_of_it = xnp.maximum(xnp.maximum(dual, wrong), signs / scale) / size
        return xnp.where(beyond | ~xnp.isfinite(all_of_it), xnp.inf, all_of_it)

    def turn(state):
        best, active, least, _ = state
        held = xnp.where(active[:, None], c_matrix, 0)
        others = xnp.concatenate(
            [xnp.zeros((mi, me), dtype), xnp.diag((~active).astype(dtype))], axis=1
        )
        system = xnp.block([[b, -a_matrix.T, -held.T], [a_matrix, none], [held, others]])
        right = xnp.concatenate([-g, -a, xnp.where(active, -c, 0)])
        kept = xnp.concatenate([xnp.zeros(n, bool), xnp.ones(me, bool), active])
        z = _softly(system, right, kept.astype(dtype) * xnp.finfo(dtype).eps ** 0.5 / scale)
        new = z[:n], z[n : n + me], z[n + me :]
        now = error(*new)
        better = now < least
        best = tuple(xnp.where(better, x, o) for x, o in zip(new, best))
        following = xnp.where(active, new[2] > 0, c_matrix @ new[0] + c < 0)
        done = ~xnp.all(xnp.isfinite(z)) | xnp.all(following == active)
        return best, following, xnp.minimum(now, least), done

    start = found, active, error(*found), xnp.zeros((), bool)
    return iterations(lambda s: ~s[3], turn, start, TURNS)[0]


def _softly(system, right, soft):
    """A solution with the least multipliers where rows say the same twice, such as v >= 0 and -v >= 0."""
    mended = system + xnp.diag(soft)
    z = xnp.linalg.solve(mended, right)
    for _ in range(REFINED):
        z = z + xnp.linalg.solve(mended, right - system @ z)
    return z


class _Elastic:
    """The program for z = (p, u, v, w): least ½ z·Q z + cost·z with E z + a = 0 and G z + h ≥ 0."""

    def __init__(self, b, g, a_matrix, a, c_matrix, c, charge):
        n, me, mi, dtype = typeof(g).shape[0], typeof(a).shape[0], typeof(c).shape[0], g.dtype
        self.n, self.me, self.elastic, self.dtype = n, me, 2 * me + mi, dtype
        extra = self.elastic
        one, zeros = xnp.eye(me, dtype=dtype), functools.partial(xnp.zeros, dtype=dtype)
        self.scale = xnp.maximum(largest(b), 1)
        # the elastic variables need a curvature to be determined; it is far below their penalty
        weak = xnp.concatenate([zeros(n), xnp.ones(extra, dtype)]) * 1e-10 * self.scale
        self.q = xnp.pad(b, ((0, extra), (0, extra))) + xnp.diag(weak)
        self.cost = xnp.concatenate([g, xnp.full(extra, 1, dtype) * charge])
        self.equal, self.a = xnp.concatenate([a_matrix, -one, one, zeros((me, mi))], axis=1), a
        shared = [c_matrix, zeros((mi, 2 * me)), xnp.eye(mi, dtype=dtype)]
        signs = [zeros((extra, n)), xnp.eye(extra, dtype=dtype)]
        self.rows = xnp.concatenate([xnp.concatenate(r, axis=1) for r in (shared, signs)])
        self.offset = xnp.concatenate([c, zeros(extra)])

    def start(self, c):
        """(z, y, slack s of the inequalities, λ, at the end?, error)."""
        ones = xnp.ones(self.elastic, self.dtype)
        s = xnp.concatenate([xnp.maximum(xnp.abs(c), 1), ones])
        lam = xnp.ones_like(s) * xnp.maximum(1, largest(self.cost[: self.n]))
        z = xnp.concatenate([xnp.zeros(self.n, self.dtype), ones])
        y, far = xnp.zeros(self.me, self.dtype), xnp.full((), xnp.inf, self.dtype)
        return z, y, s, lam, xnp.zeros((), bool), far

    def residuals(self, z, y, s, lam):
        dual = self.q @ z + self.cost - self.equal.T @ y - self.rows.T @ lam
        return dual, self.equal @ z + self.a, self.rows @ z + self.offset - s

    def direction(self, missing, s, lam, target):
        """The Newton step for the products s λ to become ``target``."""
        dual, primal, slack = missing
        w, rows, equal = lam / s, self.rows, self.equal
        # eliminate s and λ, then z
        right = -dual + rows.T @ ((target - s * lam) / s - w * slack)
        corner = -1e-13 * xnp.eye(self.me, dtype=self.dtype)
        kkt = xnp.block([[self.q + (rows.T * w) @ rows, -equal.T], [equal, corner]])
        step = xnp.linalg.solve(kkt, xnp.concatenate([right, -primal]))
        dz, dy = step[: self.n + self.elastic], step[self.n + self.elastic :]
        ds = rows @ dz + slack
        return dz, dy, ds, (target - s * lam - lam * ds) / s

    def error(self, z, y, s, lam):
        wrong = functools.reduce(xnp.maximum, map(largest, self.residuals(z, y, s, lam)))
        gap = xnp.vdot(s, lam) / typeof(s).shape[0]
        return xnp.maximum(gap, wrong / self.scale) / (1 + largest(self.cost) + largest(z))

    def turn(self, state):
        *old, _, before = state
        s, lam = old[2:]
        missing, m = self.residuals(*old), typeof(s).shape[0]
        gap = xnp.vdot(s, lam) / m
        _, _, ds, dlam = self.direction(missing, s, lam, xnp.zeros_like(s))
        t = xnp.minimum(_longest(s, ds), _longest(lam, dlam))
        after = xnp.vdot(s + t * ds, lam + t * dlam) / m
        centre = (after / gap) ** 3 * gap
        changes = self.direction(missing, s, lam, centre - ds * dlam)
        far = xnp.maximum(0.995, 1 - gap)
        t = xnp.minimum(1, far * xnp.minimum(_longest(s, changes[2]), _longest(lam, changes[3])))
        new = [x + t * dx for x, dx in zip(old, changes)]
        error = self.error(*new)
        # at the end rounding errors of ever worse systems grow: the last good point is the solution
        fine = xnp.isfinite(error) & ((error < before) | (before > 1e-6))
        new = [xnp.where(fine, x, o) for x, o in zip(new, old)]
        done = ~fine | (error <= 1e3 * xnp.finfo(self.dtype).eps)
        return (*new, done, error)


def _longest(x, dx):
    """The longest step along dx, up to 1, that leaves x positive."""
    ratio = safe_divide(-x, dx, xnp.inf, where=dx < 0)
    return xnp.minimum(1, xnp.min(ratio))
