"""Modes of operators whose coefficients are constant: products of modes of the axes, all of them known.

The operator is a sum over the axes, -Σ aᵢ ∂ᵢ² + c, so its eigenvalues are sums Σ aᵢ λᵢ + c. Modes of
an axis with equal cells are sines and cosines; else, and next to faces for orders 4 and 6, they come
from a small dense matrix.

The compact operator L stands for M Δ with the local mean M = 1 + Σ hᵢ² ∂ᵢ² / 12, so its modes are those
of -L u = w M u. As -L = M Σ λᵢ + Σ hᵢ² λᵢ² / 12, they have w = Σ λᵢ + Σ hᵢ² λᵢ² / (12 M), which rises
with each λᵢ.
"""

from __future__ import annotations

import functools

import numpy as np

from .. import numpy as xnp
from .._core import errors
from ._axis import DIRICHLET, NEUMANN, Axis, stencil
from ._diffusion import Diffusion
from ._laplacian import COMPACT, Laplacian


def separable(op) -> bool:
    """Whether the operator is such a sum."""
    if not isinstance(op, Diffusion):
        return isinstance(op, Laplacian)
    return (
        op.inside is None
        and op.leaks is None
        and not op.mixed
        and op.coordinates == "cartesian"
        and all(x.ndim == 0 for x in (*op.a, *(() if op.c is None else (op.c,))))
    )


def modes_by_axes(op, k: int, dtype):
    """(w, modes): the k smallest, every multiple one as often as it is there."""
    n = op.grid.ndim
    lines = [lowest(a, k) for a in op.axes]
    places = _candidates([len(values) for values, _ in lines], k)
    parts = [values[i] for (values, _), i in zip(lines, places, strict=True)]
    if isinstance(op, Laplacian):  # rounded once, from the sums in double precision
        found = _sums(op, parts)
        if not np.isfinite(np.sort(found)[k - 1]):
            advice = "The last one is infinite: of its wave the local mean vanishes."
            raise errors.bad_argument("pde.eigenmodes", "k", k, f"at most {k - 1}", advice)
        sums = xnp.asarray(found.astype(dtype))
    else:
        a = [op.a[i % len(op.a)].astype(dtype) for i in range(n)]
        terms = [s * x.astype(dtype) for s, x in zip(a, parts, strict=True)]
        sums = functools.reduce(xnp.add, terms)
        sums = sums if op.c is None else sums + op.c.astype(dtype)
    chosen = xnp.argsort(sums)[:k]
    modes = xnp.ones((k, *(1,) * n), dtype)
    for axis, ((_, v), i) in enumerate(zip(lines, places, strict=True)):
        rows = xnp.asarray(v.T.astype(dtype))[xnp.asarray(i.astype(np.int32))[chosen]]
        modes = modes * rows.reshape(k, *[-1 if j == axis else 1 for j in range(n)])
    return sums[chosen], modes


def _sums(op: Laplacian, parts) -> np.ndarray:
    """Eigenvalues from those of the axes; infinite where the mean of the compact operator vanishes."""
    sums = functools.reduce(np.add, parts)
    if op.order != COMPACT:
        return sums
    shares = [a.spacing**2 * x / 12 for a, x in zip(op.axes, parts, strict=True)]
    mean = 1 - functools.reduce(np.add, shares)
    more = functools.reduce(np.add, [s * x for s, x in zip(shares, parts, strict=True)])
    zero = mean < 1e-14  # of the roughest wave on three periodic axes
    return np.where(zero, np.inf, sums + more / np.where(zero, 1, mean))


def _candidates(counts, k: int) -> list:
    """The places (i, j, …) along the axes that can be among the k smallest: no more than k modes
    stand at or before each of them, which makes Π (i + 1) <= k."""
    found = np.zeros((1, 0), int)
    for n in counts:
        size = np.prod(found + 1, axis=1)
        rows = [np.column_stack([np.repeat(f[None], m, axis=0), np.arange(m)])
                for f, m in zip(found, np.minimum(k // size, n), strict=True)]  # fmt: skip
        found = np.concatenate(rows)
    return list(found.T)


def lowest(a: Axis, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(values, v): the k smallest eigenvalues of minus the second derivative along an axis, rising,
    and their vectors as columns, of norm 1 by the weights; of order 2 and on periodic axes orthonormal."""
    k = min(k, a.count)
    if not a.uniform or not (a.ring or (a.order == 2 and a.kinds in _WAVES)):
        values, v = _of_matrix(a, k)
        if a.singular:
            values, v[:, 0] = np.append(0.0, values[1:]), 1.0
    else:
        values, v = _ring(a, k) if a.ring else _waves(a, k)
    root = np.sqrt(a.weights)[:, None]
    return values, v / np.linalg.norm(v * root, axis=0)


def _of_matrix(a: Axis, k: int):
    """The first ones of the matrix of an axis."""
    values, v = -a.eigenvalues[:k], a.modes[0][:, :k].copy()
    if np.iscomplexobj(values):  # nothing makes those of orders 4 and 6 real, but they are
        raise errors.bad_argument(
            "pde.eigenmodes", "op", a.count, "of order 2", "Some eigenvalues are complex here."
        )
    return values, v


# of conditions at both ends: the wave, the half waves of the first mode, and the first node
_WAVES = {
    (DIRICHLET, DIRICHLET): (np.sin, 2, 1),
    (NEUMANN, NEUMANN): (np.cos, 0, 0),
    (DIRICHLET, NEUMANN): (np.sin, 1, 1),
    (NEUMANN, DIRICHLET): (np.cos, 1, 0),
}


def _waves(a: Axis, k: int):
    wave, first, start = _WAVES[a.kinds]
    quarters, cells = first + 2 * np.arange(k), a.cells
    halves = 2 * np.arange(a.count) + (1 if a.centred else 2 * start)
    turns = halves[:, None] * quarters % (8 * cells)
    values = (2 * np.sin(np.pi * quarters / (4 * cells)) / a.spacing) ** 2
    return values, wave(np.pi * turns / (4 * cells))


def _ring(a: Axis, k: int):
    """Constants, then cosine and sine of each frequency."""
    n, frequency = a.count, (np.arange(k) + 1) // 2
    angle = 2 * np.pi * (np.arange(n)[:, None] * frequency % n) / n
    reach = np.arange(1, a.width + 1)
    values = (2 * np.sin(np.pi * np.multiply.outer(frequency, reach) / n) / a.spacing) ** 2
    values = values @ stencil(2, a.order)[a.width + 1 :]
    return values, np.where(np.arange(k) % 2 == 0, np.sin(angle), np.cos(angle)) + (frequency == 0)
