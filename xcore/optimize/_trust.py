"""The step of a least-squares model in a ball, from orthogonal factors.

Vectors and matrices may have one more axis, the last: the elements of a batch. Each operation then works
on rows of them, which are next to each other in memory, where LAPACK would be called for each element.
"""

from __future__ import annotations

import functools

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import cond, custom_vmap
from .._core import tree, typeof
from ._packed import loop


def norm(x):
    return xnp.sqrt(xnp.vdot(x, x))


FEW = 8  # columns; of more, LAPACK makes the factors


def _lanes_last(function):
    """The function, for whose arguments and results batch elements under vmap are the last axis."""
    mapped = custom_vmap(function)

    @mapped.def_vmap
    def rule(size, batched, *args):
        wide = [x if b else xnp.broadcast_to(x, (size, *x.shape)) for x, b in zip(args, batched)]
        outs = function(*[xnp.moveaxis(x, 0, -1) for x in wide])
        return tree.map(lambda x: xnp.moveaxis(x, -1, 0), outs), True

    return mapped


def lengths(x):
    """The norms of vectors along axis 0."""
    return xnp.sqrt(xnp.sum(x * x, axis=0))


def transposed_times(r, x):
    """rᵀ x for a small r: a sum of rows, and no product of matrices for each batch element."""
    return xnp.sum(r * x[:, None], axis=0)


def _gram_schmidt(columns, rows):
    """(R, Q, the last column after it): modified Gram and Schmidt's orthogonalisation of all columns but the last.

    Inner products are those of the first ``rows`` rows; the others go along. R, a list of rows, has the
    last column's coefficients too, and is as exact as Householder's. (Björck 1967)
    """
    # no square overflows or vanishes
    sizes = [xnp.sum(xnp.abs(a[:rows]), axis=0) for a in columns]
    units = [1 / xnp.where(size > 0, size, 1) for size in sizes]
    columns, r, q = [a * u for a, u in zip(columns, units)], [], []
    for k in range(len(columns) - 1):
        column, *later = columns[k:]
        length = lengths(column[:rows])
        unit = column * (1 / xnp.where(length > 0, length, 1))
        shares = [xnp.sum(unit[:rows] * a[:rows], axis=0) for a in later]
        columns[k + 1 :] = [a - unit * share for a, share in zip(later, shares)]
        r.append([xnp.zeros_like(length)] * k + [length, *shares])
        q.append(unit)
    rows_of_r = [xnp.stack([x * size for x, size in zip(row, sizes)]) for row in r]
    return rows_of_r, q, columns[-1] * sizes[-1]


@_lanes_last
def _few_triangle(j, f):
    m, n = typeof(j).shape[:2]
    # a barrier, for else each reader of a column would pick it out of all batch elements' matrices
    columns = ops.optimization_barrier(*(j[:, k] for k in range(n)), f)
    r = xnp.stack(_gram_schmidt(columns, m)[0])
    return r[:, :n], r[:, n]


def triangle(j, f):
    """(R, Qᵀf) of J = Q R, without forming Q: f goes along as one more column."""
    m, n = typeof(j).shape
    if 0 < n <= FEW:
        return _few_triangle(j, f)
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
    """(p, v -> S⁻ᵀ v): p the least of |R p + Qᵀf|² + damping |D p|², Sᵀ S = Rᵀ R + damping D²."""
    rows = xnp.concatenate([r, xnp.diag(xnp.sqrt(damping) * scale)])
    s, z = triangle(rows, xnp.concatenate([qtf, xnp.zeros_like(qtf)]))
    diagonal = xnp.diagonal(s)
    tiny = xnp.finfo(typeof(s).dtype).tiny
    s = s + xnp.diag(xnp.where(xnp.abs(diagonal) < tiny, 1, 0).astype(s.dtype))
    return -_triangular(s, z), lambda v: _triangular(s, v, "T")


def _few_damped(r, qtf, scale, damping):
    """``_damped`` of a few columns: the identity below becomes S⁻¹, the zeros below Qᵀf become p."""
    n = typeof(qtf).shape[0]
    below = xnp.sqrt(damping) * scale
    units = xnp.eye(n, dtype=r.dtype).reshape(n, n, *[1] * (typeof(qtf).ndim - 1))
    columns = [
        xnp.concatenate([r[:, k], units[k] * below, xnp.broadcast_to(units[k], below.shape)])
        for k in range(n)
    ]
    nothing = xnp.zeros_like(qtf)
    _, q, last = _gram_schmidt([*columns, xnp.concatenate([qtf, nothing, nothing])], 2 * n)
    turned = lambda v: xnp.stack([xnp.sum(v * unit[2 * n :], axis=0) for unit in q])  # noqa: E731
    return last[2 * n :], turned


def step_in_ball(r, qtf, scale, radius):
    """(p, damping): the least of |R p + Qᵀf|² among |D p| ≤ radius, to a tenth of the radius.

    Newton's method on 1/radius - 1/|D p| as a function of the damping. (Moré 1978)
    """
    n = typeof(qtf).shape[0]
    few = 0 < n <= FEW
    search = _few_search if few else functools.partial(_search, _known_by_values, _damped)
    return search(r, qtf, scale, radius)


AT_REST = 2  # in units of eps: the root of the damping that is no damping
_ROUNDING = 16  # the same: what is left of a column of length 1 that depends on others


def _known_by_columns(r, qtf):
    """(R, Qᵀf) without directions of rounding errors, of which f has a part that would be followed.

    Of columns of length 1 the longest is taken first, and away from all, until none is left but for rounding.
    """
    sizes = _sizes(r)
    left, rows, values = r / sizes, [], []
    least = _ROUNDING * xnp.finfo(typeof(r).dtype).eps
    for _ in range(typeof(r).shape[0]):
        length = lengths(left)
        longest = xnp.max(length, axis=0)
        first = xnp.cumsum(length == longest, axis=0) == 1
        column = xnp.sum(xnp.where(first & (length == longest), left, 0), axis=1)
        unit = xnp.where(longest > least, column / xnp.where(longest > 0, longest, 1), 0)
        shares, value = transposed_times(left, unit), xnp.sum(unit * qtf, axis=0)
        left, qtf = left - unit[:, None] * shares, qtf - unit * value
        rows.append(shares * sizes)
        values.append(value)
    return xnp.stack(rows), xnp.stack(values)


def _known_by_values(r, qtf):
    """The same by singular values, where a column next to depends on those before it."""
    n, eps = typeof(r).shape[0], float(xnp.finfo(typeof(r).dtype).eps)
    sizes = _sizes(r)

    def some(r, qtf):
        u, s, vt = xnp.linalg.svd(r / sizes)
        known = s > max(_ROUNDING, n) * eps * xnp.max(s, initial=0)
        return xnp.where(known, s, 0)[:, None] * vt * sizes, xnp.where(known, qtf @ u, 0)

    depends = xnp.any(xnp.abs(xnp.diagonal(r)) <= eps**0.75 * sizes) & xnp.all(xnp.isfinite(r))
    return cond(depends, some, lambda r, qtf: (r, qtf), r, qtf)


def _sizes(r):
    """The lengths of columns, whose squares may be out of range; 1 for those of zeros."""
    most = xnp.max(xnp.abs(r), axis=0, initial=0)
    most = xnp.where(most > 0, most, 1)
    length = lengths(r / most)
    return most * xnp.where(length > 0, length, 1)


def _search(known, damped, r, qtf, scale, radius):
    r, qtf = known(r, qtf)
    eps = xnp.finfo(typeof(r).dtype).eps
    weight = xnp.sqrt(xnp.max(xnp.sum((r / scale) ** 2, axis=0), axis=0))
    least = (AT_REST * eps * weight) ** 2  # keeps directions that the data do not determine at rest
    most = lengths(transposed_times(r, qtf) / scale) / radius + least

    def newton(s):
        damping, lo, hi, _, k, done = s
        p, turned = damped(r, qtf, scale, damping)
        size = lengths(scale * p)
        excess = size - radius
        inside = (damping <= least) & (size <= 1.1 * radius)
        good = done | inside | (xnp.abs(excess) <= 0.1 * radius)
        lo, hi = xnp.where(excess > 0, damping, lo), xnp.where(excess > 0, hi, damping)
        q = turned(scale * scale * p / xnp.where(size == 0, 1, size))
        slope = xnp.sum(q * q, axis=0)
        new = damping + excess / radius / xnp.where(slope == 0, 1, slope)
        middle = xnp.maximum(xnp.sqrt(lo) * xnp.sqrt(hi), 1e-3 * hi)
        new = xnp.where((new > lo) & (new < hi), new, middle)
        # a batch element that is done computes its p again, from the same damping, and keeps it
        return xnp.where(good, damping, new), lo, hi, p, k + np.int32(1), good

    start = (
        least, least, most * 1.001, xnp.zeros_like(qtf), xnp.asarray(np.int32(0)),
        xnp.zeros(least.shape, bool),
    )  # fmt: skip
    # own loop: inside a step
    damping, _, _, p, _, _ = loop(lambda s: ~xnp.all(s[5]) & (s[4] < 12), newton, start)
    return p, damping


_few_search = _lanes_last(functools.partial(_search, _known_by_columns, _few_damped))
