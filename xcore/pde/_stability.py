"""How long the steps of a Runge–Kutta method may be, found from the function itself.

A few steps of Arnoldi's method on the derivative of f give the outermost of its eigenvalues λ, complex
ones too; dt λ must stay where the method's polynomial |R(z)| is at most 1, or what the exact solution
grows by. (Arnoldi 1951; Hairer and Wanner 1996, "Solving ordinary differential equations II", IV.2)
"""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .._control import jit, jvp
from .._core import dtypes, tree, typeof

_STEPS = 30  # of Arnoldi's method: the outermost eigenvalues to a few percent
_FARTHEST, _LEAST = 20.0, 0.1  # of |dt λ|: what is looked at, and what counts as a step at all
_ALLOWED = 1e-6  # growth in a step that nobody sees


def longest_step(tableau, f, u, t) -> float:
    """About the longest stable dt for u' = f(u, t) near a state; 0 if there is none."""
    return limit(tableau, outer_eigenvalues(f, u, t))


def limit(tableau, values: np.ndarray) -> float:
    """The longest dt for these eigenvalues: the first at which one leaves the region of stability."""
    sizes = np.abs(values)
    values = values[sizes > 1e-5 * sizes.max(initial=0)]
    if not values.size:
        return float("inf")
    way = np.linspace(0, _FARTHEST, 4001)[1:]
    z = way * (values / np.abs(values))[:, None]
    grows = np.abs(np.polyval(_polynomial(tableau)[::-1], z))
    outside = grows > np.maximum(1, np.exp(z.real)) * (1 + _ALLOWED)
    first = np.where(outside.any(axis=1), way[outside.argmax(axis=1)], np.inf)
    return 0.0 if first.min() < _LEAST else float(np.min(first / np.abs(values)))


def _polynomial(tableau) -> np.ndarray:
    """The coefficients of R(z) = 1 + z bᵀ (1 - z A)⁻¹ 1, those of low powers first."""
    n = len(tableau.b)
    a = np.zeros((n, n))
    for i, row in enumerate(tableau.a):
        a[i + 1, : len(row)] = row
    ones, found = np.ones(n), [1.0]
    for _ in range(n):
        found.append(float(np.dot(tableau.b, ones)))
        ones = a @ ones
    return np.array(found)


def outer_eigenvalues(f, u, t) -> np.ndarray:
    """Approximate eigenvalues of ∂f/∂u, the outermost ones best."""
    leaves, shape = tree.flatten(tree.map(xnp.asarray, u))
    product = jit(lambda u, v: jvp(lambda u: f(u, t), (u,), (v,))[1])
    matvec = lambda v: _flat(tree.leaves(product(u, tree.unflatten(shape, _like(v, leaves)))))  # noqa: E731
    v = np.random.default_rng(0).normal(size=_flat(leaves).size)
    q, h = [v / np.linalg.norm(v)], np.zeros((_STEPS + 1, _STEPS))
    for j in range(min(_STEPS, v.size)):
        w = matvec(q[j])
        if not np.all(np.isfinite(w)):
            return np.zeros(0)
        size, rows = np.linalg.norm(w), np.array(q)
        for _ in range(2):
            part = rows @ w
            h[: j + 1, j] += part
            w = w - part @ rows
        h[j + 1, j] = np.linalg.norm(w)
        if h[j + 1, j] <= 1e-6 * size:
            break
        q.append(w / h[j + 1, j])
    return np.linalg.eigvals(h[: j + 1, : j + 1])


def _flat(leaves) -> np.ndarray:
    """Real numbers in double precision; of complex ones both parts."""
    parts = [np.ravel(np.asarray(x)) for x in leaves]
    parts = [np.concatenate([x.real, x.imag]) if np.iscomplexobj(x) else x for x in parts]
    return np.concatenate([x.astype(np.float64) for x in parts])


def _like(v: np.ndarray, leaves) -> list:
    """The inverse of ``_flat``."""
    made = []
    for x in leaves:
        dtype, n = typeof(x).dtype, typeof(x).size
        part, v = v[:n], v[n:]
        if dtypes.is_complex(dtype):
            part, v = part + 1j * v[:n], v[n:]
        made.append(xnp.asarray(part.reshape(typeof(x).shape).astype(dtype)))
    return made
