"""How does a linear program become thirty lines?

Minimise c x with A x = b, x ≥ 0. Mehrotra's method walks through the inside: Newton's steps for A x = b,
Aᵀ y + s = c and x s = μ, with μ sent to zero, one factorisation for a prediction and its correction. `vmap`
solves a hundred programs in one, and the derivative of the optimal cost by b is y: prices. (Mehrotra 1992)
"""

import numpy as np
import scipy.optimize
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore.scipy.linalg import cho_factor, cho_solve

xc.config.update("default_bits", 64)
rng = np.random.default_rng(0)
M, N, MANY = 20, 50, 100


def longest(v, dv):
    """The largest step up to 1 that keeps v positive, and a little less."""
    return xnp.minimum(1.0, 0.995 * xnp.min(xnp.where(dv < 0, -v / dv, xnp.inf)))


def program(a, b, c, rounds=25):
    """x, the prices y, and the gap x·s after each round."""

    def step(state, _):
        x, y, s = state
        primal, dual = b - a @ x, c - a.T @ y - s
        factor = cho_factor((a * (x / s)) @ a.T + 1e-12 * xnp.eye(len(b)))

        def newton(complement):
            dy = cho_solve(factor, primal + a @ ((x * dual - complement) / s))
            ds = dual - a.T @ dy
            return (complement - x * ds) / s, dy, ds

        dx, dy, ds = newton(-x * s)
        gap = x @ s
        after = (x + longest(x, dx) * dx) @ (s + longest(s, ds) * ds)
        dx, dy, ds = newton(gap / len(x) * (after / gap) ** 3 - x * s - dx * ds)
        p, d = longest(x, dx), longest(s, ds)
        new = x + p * dx, y + d * dy, s + d * ds
        keep = gap < 1e-10 * (1 + abs(c @ x))  # solved: stay there
        return tuple(xnp.where(keep, old, v) for old, v in zip(state, new)), gap

    ones = xnp.ones(len(c))
    (x, y, _), gaps = xc.lax.scan(step, (10 * ones, xnp.zeros(len(b)), 10 * ones), None, rounds)
    return x, y, gaps


a = rng.uniform(0, 1, (MANY, M, N))
b = np.einsum("kmn,kn->km", a, rng.uniform(0, 1, (MANY, N)))  # there is a solution
c = rng.uniform(0.5, 1.5, (MANY, N))
x, y, gaps = xc.jit(xc.vmap(program))(a, b, c)
cost = np.einsum("kn,kn->k", c, x)
peer = np.array([scipy.optimize.linprog(c[k], A_eq=a[k], b_eq=b[k]).fun for k in range(MANY)])
missed = abs(np.einsum("kmn,kn->km", a, x) - b).max()
with figure("gap", title=f"{MANY} linear programs, {M} × {N}, in one call") as ax:
    ax.semilogy(np.asarray(gaps).T, color="C0", alpha=0.2)
    ax.set(xlabel="round", ylabel="duality gap")

dearer = b.copy()
dearer[:, 0] += 1e-4
x2, _, _ = xc.jit(xc.vmap(program))(a, dearer, c)
price = (np.einsum("kn,kn->k", c, x2) - cost) / 1e-4
print(f"costs beside SciPy's HiGHS: {abs(cost / peer - 1).max():.1e}; A x = b within {missed:.1e}")
print(f"prices beside differences of the cost: {np.median(abs(price - np.asarray(y)[:, 0])):.1e}")
assert abs(cost / peer - 1).max() < 1e-7 and missed < 1e-6
assert np.median(abs(price - np.asarray(y)[:, 0])) < 1e-4
