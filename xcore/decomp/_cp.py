"""Canonical polyadic tensors: sums of outer products of vectors."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import Array, dtypes, errors, static, struct
from .._core.notebook import shown
from ..linalg._range import magnitude
from . import _index
from ._products import khatri_rao


class Format:
    """What all forms of a tensor have, whatever their parts are."""

    @property
    def ndim(self: Any) -> int:
        """Number of modes."""
        return len(self.shape)

    @property
    def size(self: Any) -> int:
        """Number of elements of the tensor."""
        return math.prod(self.shape)

    def __repr__(self: Any) -> str:
        return f"{type(self).__name__}(shape={self.shape}, rank={self.rank}, dtype={self.dtype})"

    def __array__(self: Any, dtype=None, copy=None):
        return np.asarray(self.to_dense(), dtype)

    def __sub__(self: Any, other):
        return self + -other if isinstance(other, type(self)) else NotImplemented


class OfFactors(Format):
    """A form with a matrix for each mode."""

    factors: Any

    @property
    def shape(self) -> tuple:
        """Lengths of the modes."""
        return tuple(f.shape[-2] for f in self.factors)

    def _with_mode(self: Any, matrix, mode: int):
        """The product with a matrix along a mode."""
        factors = list(self.factors)
        factors[mode] = matrix @ factors[mode]
        return self.replace(factors=tuple(factors))


@struct
class CP(OfFactors):
    """A tensor in canonical polyadic form, x[i, j, …] = Σ_r weights[r] factors[0][i, r] factors[1][j, r] ….

    It is a pytree of its weights and factors: it passes through ``jit``, ``grad`` and ``vmap``.
    Indexing never forms the tensor: positions give elements, slices give a CP of the part.

    Attributes:
      weights: (R,), or None for ones.
      factors: a matrix (I_k, R) for each mode.

    >>> import xcore.numpy as xnp
    >>> cp = CP(xnp.asarray([1.0, 2.0]), (xnp.ones((3, 2)), xnp.eye(4)[:, :2]))
    >>> cp.shape, cp.rank
    ((3, 4), 2)
    >>> cp[0, 1]
    Array(2., dtype=float32)
    >>> cp[:2].shape
    (2, 4)
    """

    weights: Any
    factors: Any  # a tuple, of whatever sequence was given

    def __post_init__(self):
        factors = tuple(_as_inexact(f) for f in self.factors)
        if not factors:
            raise errors.bad_argument("decomp.CP", "factors", (), "at least one matrix")
        ranks = {f.shape[-1] if f.ndim > 1 else None for f in factors}
        if len(ranks) != 1 or None in ranks:
            given = [tuple(f.shape) for f in factors]
            raise errors.bad_argument(
                "decomp.CP", "factors", given, "matrices (I_k, R) of one rank R"
            )
        weights = self.weights
        weights = (
            xnp.ones(factors[0].shape[-1], factors[0].dtype)
            if weights is None
            else _as_inexact(weights)
        )
        if weights.shape[-1:] != factors[0].shape[-1:]:
            raise errors.bad_argument(
                "decomp.CP",
                "weights",
                tuple(weights.shape),
                f"of shape ({factors[0].shape[-1]},), one for each column",
            )
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "factors", factors)

    @property
    def rank(self) -> int:
        """Number of terms."""
        return self.factors[0].shape[-1]

    @property
    def dtype(self) -> np.dtype:
        """Of the elements."""
        return functools.reduce(
            xnp.promote_types, [f.dtype for f in self.factors], self.weights.dtype
        )

    __repr__ = Format.__repr__

    def _repr_html_(self) -> str:
        """For notebooks."""
        facts = [
            (f"factor {k}", f"{f.shape[0]} × {f.shape[1]}") for k, f in enumerate(self.factors)
        ]
        return shown(
            f"CP tensor of rank {self.rank}, {self.dtype}", [("weights", self.weights), *facts]
        )

    def __getitem__(self, index):
        return _getitem(self, _index.parse("decomp.CP", index, self.shape))

    def to_dense(self) -> Array:
        """The whole tensor."""
        return _to_dense(self)

    def __add__(self, other):
        other = _same_shape("addition", self, other)
        if other is NotImplemented:
            return other
        return CP(
            xnp.concatenate([self.weights, other.weights], -1),
            tuple(
                xnp.concatenate(pair, -1) for pair in zip(self.factors, other.factors, strict=True)
            ),
        )

    def __neg__(self):
        return self.replace(weights=-self.weights)

    def __mul__(self, other):
        """By a scalar, or element by element by another CP (ranks multiply)."""
        if isinstance(other, CP):
            _same_shape("multiplication", self, other)
            return CP(
                xnp.outer(self.weights, other.weights).ravel(),
                tuple(
                    columnwise_products(a, b)
                    for a, b in zip(self.factors, other.factors, strict=True)
                ),
            )
        if not _is_scalar(other):
            return NotImplemented
        return self.replace(weights=self.weights * other)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self.replace(weights=self.weights / other) if _is_scalar(other) else NotImplemented


@struct
class CanonicalTT:
    """A CP tensor without weights, as tutorials write it: cores, shape and rank.

    >>> import xcore.numpy as xnp
    >>> c = CanonicalTT([xnp.ones((3, 2)), xnp.ones((4, 2))], (3, 4), 2)
    >>> c.ndim, c[0, 0]
    (2, Array(2., dtype=float32))
    """

    cores: Any
    shape: tuple = static()
    rank: int = static()

    def __post_init__(self):
        object.__setattr__(self, "shape", tuple(self.shape))
        given = [
            tuple(np.shape(c)) if not hasattr(c, "shape") else tuple(c.shape) for c in self.cores
        ]
        if given != [(n, self.rank) for n in self.shape]:
            raise errors.bad_argument(
                "decomp.CanonicalTT",
                "cores",
                given,
                f"{[(n, self.rank) for n in self.shape]}, for this shape and rank",
            )

    @property
    def ndim(self) -> int:
        """Number of modes."""
        return len(self.shape)

    def to_cp(self) -> CP:
        """The same tensor with weights of one."""
        return CP(None, tuple(self.cores))

    def _with_mode(self, matrix, mode: int) -> CanonicalTT:
        """The product with a matrix along a mode."""
        cp = self.to_cp()._with_mode(matrix, mode)
        return CanonicalTT(list(cp.factors), cp.shape, self.rank)

    def to_dense(self) -> Array:
        """The whole tensor."""
        return self.to_cp().to_dense()

    def __getitem__(self, index):
        return self.to_cp()[index]


def _as_inexact(x):
    x = xnp.asarray(x)
    return x if dtypes.is_inexact(x.dtype) else x.astype(xnp.result_type(float))


def _is_scalar(x) -> bool:
    return isinstance(x, (int, float, complex, np.number)) or getattr(x, "shape", None) == ()


def _same_shape(what: str, a: CP, b):
    if not isinstance(b, CP):
        return NotImplemented
    if a.shape != b.shape:
        raise errors.shape_mismatch(f"decomp.CP {what}", left=a, right=b)
    return b


def columnwise_products(a, b):
    """Every column of one times every column of the other."""
    return (a[:, :, None] * b[:, None, :]).reshape(a.shape[0], a.shape[1] * b.shape[1])


def _to_dense(cp: CP):
    if any(f.ndim > 2 for f in cp.factors):
        raise errors.bad_argument(
            "decomp.CP.to_dense", "cp", cp, "one tensor", "For a batch: xc.vmap(CP.to_dense)."
        )
    half = _balanced(cp.shape)
    left = khatri_rao(cp.factors[:half]) * cp.weights
    if half == cp.ndim:
        return left.sum(-1).reshape(cp.shape)
    return (left @ khatri_rao(cp.factors[half:]).T).reshape(cp.shape)


def _balanced(shape) -> int:
    """After how many modes the two sides of the unfolding are most alike."""
    if len(shape) == 1:
        return 1
    sizes = [abs(math.prod(shape[:k]) - math.prod(shape[k:])) for k in range(1, len(shape))]
    return 1 + int(np.argmin(sizes))


def _getitem(cp: CP, items):
    rows = [_index.take(f, i) for f, i in zip(cp.factors, items, strict=True)]
    points = _index.pointwise("decomp.CP", items)
    if not any(map(_index.is_slice, items)):
        return (cp.weights * functools.reduce(xnp.multiply, rows)).sum(-1)
    weights, factors = (
        cp.weights,
        [r for r, i in zip(rows, items, strict=True) if _index.is_slice(i)],
    )
    for row, i in zip(rows, items, strict=True):
        if not _index.is_slice(i) and _index.rank_of(i) == 0:
            weights = weights * row
    if points:
        met = functools.reduce(xnp.multiply, [rows[k] for k in points])
        factors.insert(_index.place_of_points(items), met)
    return CP(weights, tuple(factors))


# The same tensor


def norms_of_columns(factor):
    """Euclidean lengths, and what to divide by: 1 where a column is zero, so that derivatives are finite."""
    unit = ops.stop_gradient(magnitude(factor, -2))
    scaled = factor / unit
    square = (scaled * scaled.conj()).real.sum(-2)
    empty = square == 0
    lengths = xnp.where(empty, 0, xnp.sqrt(xnp.where(empty, 1, square))) * unit[..., 0, :]
    return lengths, xnp.where(empty, 1, lengths)


def as_cp(who: str, x) -> CP:
    """A CP tensor, or a ``CanonicalTT`` as one."""
    if isinstance(x, CanonicalTT):
        return x.to_cp()
    if not isinstance(x, CP):
        advice = f"It is a {type(x).__name__}: fit a CP tensor with cp_als."
        raise errors.bad_argument(f"decomp.{who}", "cp", x, "a CP tensor", advice)
    return x


def normalize(cp: CP) -> CP:
    """The same tensor with columns of length 1; the weights take their lengths.

    Args:
      cp: CP tensor.

    >>> import xcore.numpy as xnp
    >>> normalize(CP(None, (3 * xnp.ones((4, 1)), xnp.ones((1, 1))))).weights
    Array([6.], dtype=float32)
    """
    cp = as_cp("normalize", cp)
    weights, factors = cp.weights, []
    for f in cp.factors:
        lengths, divisors = norms_of_columns(f)
        weights = weights * lengths
        factors.append(f / divisors)
    return CP(weights, tuple(factors))


def arrange(cp: CP) -> CP:
    """The same tensor: normalised, the term with the largest weight first.

    Args:
      cp: CP tensor.

    >>> import xcore.numpy as xnp
    >>> arrange(CP(xnp.asarray([1., 3., 2.]), (xnp.ones((1, 3)),))).weights
    Array([3., 2., 1.], dtype=float32)
    """
    cp = normalize(as_cp("arrange", cp))
    order = xnp.argsort(-xnp.abs(cp.weights))
    return CP(cp.weights[order], tuple(f[:, order] for f in cp.factors))


def fix_signs(cp: CP) -> CP:
    """The same tensor with signs chosen: in each mode but the last, the largest entry of a column is
    positive (for complex numbers: real and positive); the last mode takes what is left.

    Args:
      cp: CP tensor.

    >>> import xcore.numpy as xnp
    >>> fix_signs(CP(None, (-xnp.ones((2, 1)), xnp.ones((2, 1))))).factors[1].ravel()
    Array([-1., -1.], dtype=float32)
    """
    cp = as_cp("fix_signs", cp)
    factors, left = [], xnp.ones(cp.rank, cp.dtype)
    for f in cp.factors[:-1]:
        largest = (
            xnp.take_along_axis(f, xnp.argmax(xnp.abs(f), 0)[None], 0)[0]
            if f.shape[0]
            else xnp.ones_like(left)
        )
        sign = xnp.where(largest == 0, 1, xnp.sign(largest))
        factors.append(f * sign.conj())
        left = left * sign
    return CP(cp.weights, (*factors, cp.factors[-1] * left))


# Numbers about tensors


def gram_product(factors, others=None):
    """The elementwise product of the matrices aᴴ b of corresponding factors."""
    others = factors if others is None else others
    return functools.reduce(
        xnp.multiply, [a.conj().T @ b for a, b in zip(factors, others, strict=True)]
    )


def inner_cp(a: CP, b: CP):
    """Σ conj(a) b, from R₁ × R₂ numbers for each mode."""
    return xnp.einsum("r,rs,s->", a.weights.conj(), gram_product(a.factors, b.factors), b.weights)
