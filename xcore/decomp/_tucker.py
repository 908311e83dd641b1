"""Tucker tensors: a small core multiplied by a matrix along each mode."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import Array, errors, struct
from . import _index
from ._cp import Format, OfFactors, _as_inexact, _is_scalar, columnwise_products
from ._products import mode_product, multi_mode_product


@struct
class Tucker(OfFactors):
    """A tensor x[i, j, …] = Σ core[a, b, …] factors[0][i, a] factors[1][j, b] ….

    A pytree of its core and factors. Positions give elements and slices give a Tucker tensor of
    the part, without forming the whole.

    Attributes:
      core: (R_1, …, R_N).
      factors: a matrix (I_k, R_k) for each mode.

    >>> import xcore.numpy as xnp
    >>> t = Tucker(xnp.ones((1, 2)), (xnp.ones((3, 1)), xnp.eye(4)[:, :2]))
    >>> t.shape, t.rank, t[2, 1]
    ((3, 4), (1, 2), Array(1., dtype=float32))
    """

    core: Any
    factors: tuple

    def __post_init__(self):
        core, factors = _as_inexact(self.core), tuple(_as_inexact(f) for f in self.factors)
        given = [tuple(f.shape) for f in factors]
        fits = len(factors) == core.ndim and all(
            len(g) == 2 and g[1] == r for g, r in zip(given, core.shape, strict=True)
        )
        if not fits:
            raise errors.bad_argument(
                "decomp.Tucker",
                "factors",
                given,
                f"matrices with {tuple(core.shape)} columns, one for each mode of the core",
            )
        object.__setattr__(self, "core", core)
        object.__setattr__(self, "factors", factors)

    @property
    def rank(self) -> tuple:
        """Lengths of the core's modes."""
        return tuple(f.shape[-1] for f in self.factors)

    @property
    def dtype(self) -> np.dtype:
        """Of the elements."""
        return functools.reduce(xnp.promote_types, [f.dtype for f in self.factors], self.core.dtype)

    __repr__ = Format.__repr__

    def to_dense(self) -> Array:
        """The whole tensor."""
        return multi_mode_product(self.core, self.factors)

    def __getitem__(self, index):
        return _getitem(self, _index.parse("decomp.Tucker", index, self.shape))

    def __add__(self, other):
        """The cores stand on a diagonal, the factors side by side: ranks add."""
        if not isinstance(other, Tucker):
            return NotImplemented
        if self.shape != other.shape:
            raise errors.shape_mismatch("decomp.Tucker addition", left=self, right=other)
        core = xnp.pad(self.core, [(0, r) for r in other.rank]) + xnp.pad(
            other.core, [(r, 0) for r in self.rank]
        )
        pairs = zip(self.factors, other.factors, strict=True)
        return Tucker(core, tuple(xnp.concatenate(p, -1) for p in pairs))

    def __neg__(self):
        return self.replace(core=-self.core)

    def __mul__(self, other):
        """By a scalar, or element by element by another Tucker tensor (ranks multiply)."""
        if isinstance(other, Tucker):
            if self.shape != other.shape:
                raise errors.shape_mismatch("decomp.Tucker multiplication", left=self, right=other)
            columns = zip(self.factors, other.factors, strict=True)
            factors = tuple(columnwise_products(a, b) for a, b in columns)
            return Tucker(xnp.kron(self.core, other.core), factors)
        return self.replace(core=self.core * other) if _is_scalar(other) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self.replace(core=self.core / other) if _is_scalar(other) else NotImplemented


def _getitem(t: Tucker, items):
    rows = [_index.take(f, i) for f, i in zip(t.factors, items, strict=True)]
    points = _index.pointwise("decomp.Tucker", items)
    core, kept = t.core, [k for k, i in enumerate(items) if _index.is_slice(i)]
    for k in reversed(range(t.ndim)):
        if not _index.is_slice(items[k]) and _index.rank_of(items[k]) == 0:
            core = xnp.tensordot(core, rows[k], axes=(k, 0))
    if not points:
        return Tucker(core, tuple(rows[k] for k in kept)) if kept else core
    alive = [k for k in range(t.ndim) if k in kept or k in points]
    core = xnp.moveaxis(core, [alive.index(k) for k in points], list(range(len(points))))
    met = _met(core, [rows[k] for k in points])
    if not kept:
        return met
    place = _index.place_of_points(items)
    factors = [rows[k] for k in kept]
    factors.insert(place, xnp.eye(met.shape[0], dtype=met.dtype))
    return Tucker(xnp.moveaxis(met, 0, place), tuple(factors))


def _met(core, rows):
    """The leading modes of a core contracted with rows of factors, point by point."""
    shape = functools.reduce(np.broadcast_shapes, [r.shape[:-1] for r in rows])
    rows = [xnp.broadcast_to(r, (*shape, r.shape[-1])).reshape(-1, r.shape[-1]) for r in rows]
    out = xnp.tensordot(rows[0], core, axes=(1, 0))
    for r in rows[1:]:
        out = (out * r.reshape(*r.shape, *[1] * (out.ndim - 2))).sum(1)
    return out.reshape(*shape, *out.shape[1:])


def inner_tucker(a: Tucker, b: Tucker):
    """Σ conj(a) b, by the factors' products."""
    grams = [f.conj().T @ g for f, g in zip(a.factors, b.factors, strict=True)]
    return (a.core.conj() * multi_mode_product(b.core, grams)).sum()


def orthogonalize(t: Tucker) -> Tucker:
    """The same tensor with factors of orthonormal columns.

    Args:
      t: Tucker tensor; others become one by ``to_tucker``.

    >>> import xcore.numpy as xnp
    >>> t = orthogonalize(Tucker(xnp.ones((1, 1)), (2 * xnp.ones((4, 1)), xnp.ones((1, 1)))))
    >>> xnp.round(abs(t.core).ravel(), 3)
    Array([4.], dtype=float32)
    """
    if not isinstance(t, Tucker):
        advice = "For other formats: to_tucker first."
        raise errors.bad_argument("decomp.orthogonalize", "t", t, "a Tucker tensor", advice)
    core, factors = t.core, []
    for mode, f in enumerate(t.factors):
        q, r = xnp.linalg.qr(f)
        factors.append(q)
        core = mode_product(core, r, mode)
    return Tucker(core, tuple(factors))
