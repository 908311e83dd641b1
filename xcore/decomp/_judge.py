"""Is the model right? Rank, degeneracy, and how sure the factors are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import numpy as xnp
from .. import random, stats
from .._control import vmap
from .._core import Array, ArrayLike, Key, dtypes, errors, struct
from ..numpy._select import safe_divide
from ._common import check_tensor
from ._cp import CP, as_cp, normalize, norms_of_columns
from ._fit import cp_als
from ._gauss_newton import masked_normal_product, normal_product
from ._implicit import flat, parts_of
from ._products import multi_mode_product
from ._units import in_units

if TYPE_CHECKING:
    from ._formats import Tensor


def core_consistency(x: Tensor, cp: CP) -> Array:
    """How well a core with ones on its diagonal suits the factors, in percent (CORCONDIA).

    100 (1 - ‖G - I‖² / R), where G is the core that fits best with these factors and I has ones on
    the superdiagonal: near 100 for a rank that suits, low or negative for one too large. (Bro and
    Kiers 2003, doi 10.1002/cem.801)

    Args:
      x: the tensor.
      cp: a CP tensor fitted to it.

    >>> import xcore.numpy as xnp
    >>> cp = CP(None, (xnp.eye(3)[:, :2], xnp.eye(4)[:, :2], xnp.eye(2)))
    >>> round(float(core_consistency(cp.to_dense(), cp)))
    100
    """
    x, cp = xnp.asarray(x), as_cp("core_consistency", cp)
    if tuple(x.shape) != tuple(cp.shape):
        raise errors.shape_mismatch("decomp.core_consistency", x=x, cp=cp)
    (x, units), cp = in_units(x), normalize(cp)
    factors = [cp.factors[0] * (cp.weights / units.whole), *cp.factors[1:]]
    core = multi_mode_product(x, [xnp.linalg.pinv(f) for f in factors])
    ideal = CP(None, tuple([xnp.eye(cp.rank, dtype=x.dtype)] * cp.ndim)).to_dense()
    gap = xnp.abs(core - ideal) ** 2
    return 100 * (1 - gap.sum() / cp.rank)


@struct
class RankScan:
    """What ``scan_ranks`` found: for each rank the errors, and the core consistency.

    Attributes:
      ranks: the ranks tried.
      errors: relative errors over the elements used.
      held_out: relative errors over the elements left out; smallest at a good rank.
      consistency: core consistency in percent.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> scan = xc.decomp.scan_ranks(xnp.ones((4, 5, 3)), [1, 2])
    >>> scan.ranks, scan.best
    ((1, 2), 1)
    """

    ranks: tuple
    errors: tuple
    held_out: tuple
    consistency: tuple

    @property
    def best(self) -> int:
        """The rank with the smallest error over elements left out."""
        return self.ranks[int(np.argmin([float(e) for e in self.held_out]))]


def scan_ranks(
    x: Tensor, ranks: Sequence[int], *, share: float = 0.1, mask: ArrayLike | None = None,
    key: Key | None = None, **options: Any,
) -> RankScan:  # fmt: skip
    """Fit several ranks without a random share of the elements, and see how these are predicted.

    Args:
      x: dense tensor.
      ranks: to try.
      share: of the elements left out.
      mask: True where x is known.
      key: a random key; default ``random.key(0)``.
      options: for ``cp_als``.

    >>> import xcore.numpy as xnp
    >>> scan_ranks(xnp.ones((4, 5, 3)), [1]).best
    1
    """
    who = "decomp.scan_ranks"
    x, mask = check_tensor(who, x, mask)
    if not 0 < share < 1:
        raise errors.bad_argument(who, "share", share, "between 0 and 1")
    if not len(ranks):
        raise errors.bad_argument(who, "ranks", ranks, "one rank or more")
    key = random.key(0) if key is None else key
    pick, start = random.split(key)
    known = random.uniform(pick, x.shape) >= share
    left_out = ~known if mask is None else ~known & mask
    known = known if mask is None else known & mask
    seen, missed, consistency = [], [], []
    # squares of differences are numbers in units of what was left out
    unit = _unit(xnp.where(left_out, x, 0))
    size = xnp.linalg.norm((xnp.where(left_out, x, 0) / unit).ravel())
    for rank in ranks:
        found = cp_als(x, rank, mask=known, key=start, **options)
        model = found.value.to_dense()
        left = xnp.where(left_out, x - model, 0) / unit
        seen.append(found.error)
        missed.append(xnp.linalg.norm(left.ravel()) / xnp.where(size > 0, size, 1))
        consistency.append(core_consistency(xnp.where(known, x, model), found.value))
    return RankScan(tuple(ranks), tuple(seen), tuple(missed), tuple(consistency))


@struct
class Degeneracy:
    """Signs of terms that cancel each other.

    Attributes:
      congruence: (R, R), the product over modes of the cosines between columns; -1 between two terms
        means that they are opposite and all but cancel.
      condition: of the unit terms' Gram matrix: how much small changes are magnified.
      weight_ratio: the largest weight beside the norm of the tensor; much more than 1 is a sign.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> opposite = xnp.asarray([[1.0, -1.0], [0.0, 0.01]])
    >>> found = xc.decomp.degeneracy(xc.decomp.CP(None, (opposite, xnp.ones((2, 2)))))
    >>> bool(found.degenerate), found.congruence.round(2)
    (True, Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32))
    """

    congruence: object
    condition: object
    weight_ratio: object

    @property
    def degenerate(self):
        """Whether two terms oppose each other by more than 0.95 with weights beyond the tensor's norm."""
        return (self.congruence.min() < -0.95) & (self.weight_ratio > 1)  # pyright: ignore[reportOperatorIssue]


def degeneracy(cp: CP) -> Degeneracy:
    """How close a CP tensor is to a diverging fit, in which terms grow and cancel.

    Args:
      cp: CP tensor.

    >>> import xcore.numpy as xnp
    >>> bool(degeneracy(CP(None, (xnp.eye(3), xnp.eye(3)))).degenerate)
    False
    """
    cp = normalize(as_cp("degeneracy", cp))
    unit = xnp.ones((cp.rank, cp.rank), cp.dtype)
    for f in cp.factors:
        unit = unit * (f.conj().T @ f)
    signs = xnp.sign(cp.weights)
    congruence = (unit * xnp.outer(signs, signs)).real
    values = xnp.linalg.eigvalsh(unit)
    weights = cp.weights / _unit(cp.weights)
    square = (xnp.outer(weights, weights.conj()) * unit).real.sum()
    whole = xnp.sqrt(xnp.maximum(square, 0))
    return Degeneracy(
        congruence, values[-1] / xnp.maximum(values[0], 0), xnp.abs(weights).max() / whole
    )


def _unit(x):
    """The largest absolute value; 1 where there is none."""
    size = xnp.max(xnp.abs(x), initial=0)
    return xnp.where((size > 0) & xnp.isfinite(size), size, 1)


@struct
class Uncertainty:
    """Standard deviations of a fitted CP tensor; a sequence of those of its factors.

    Attributes:
      factors: an array like each factor.
      weights: of the weights.
      degrees: of freedom that the noise was estimated from: known elements less free parameters.
    """

    factors: tuple
    weights: object
    degrees: object

    def __len__(self) -> int:
        return len(self.factors)

    def __iter__(self):
        return iter(self.factors)

    def __getitem__(self, mode):
        return self.factors[mode]

    def interval(self, share: float = 0.95):
        """Half the width of intervals that cover the truth in this share of cases, by Student's t: an
        ``Uncertainty`` of that many standard deviations."""
        degrees = xnp.maximum(xnp.asarray(self.degrees, np.float64), 1)
        times = stats.t.ppf((1 + share) / 2, degrees).astype(self.weights.dtype)
        factors = tuple(times * f for f in self.factors)
        return Uncertainty(factors, times * self.weights, self.degrees)  # pyright: ignore[reportOperatorIssue]


def factor_uncertainty(x: Tensor, cp: CP, *, mask: ArrayLike | None = None) -> Uncertainty:
    """Standard deviations of the entries of a fit's factors and of its weights.

    For noise that is independent and alike in all elements, σ² (JᵀJ)⁻¹ with J the derivative of the
    elements known: the Cramér-Rao bound, with σ² from the residual. Columns keep the lengths that they
    have in ``cp``, and signs and order, as these are choices; how sure the size of a term is, stands in
    ``weights``. What the data do not tell (two terms that are alike, too many terms) is infinite. All of it to first
    order in the noise: where that is half as large as the tensor's largest element, intervals are too short; with
    few elements known they are earlier (0.92 to 0.95 for 0.95 of 72 elements, 24 parameters, a twentieth of noise):
    what the data tell is computed from the fit, whose columns hold noise, and the tensor bends away from its tangent.

    Args:
      x: the tensor.
      cp: a CP tensor fitted to it by least squares, to the end.
      mask: True where x is known.

    Returns:
      an ``Uncertainty``: ``[k]`` is an array like factor k; ``interval(0.95)`` half the width of
      intervals.

    >>> import xcore.numpy as xnp
    >>> from xcore import random
    >>> x = xnp.ones((9, 8, 7)) + 0.1 * random.normal(random.key(0), (9, 8, 7))
    >>> found = factor_uncertainty(x, cp_als(x, 1).value)
    >>> [tuple(s.shape) for s in found], found.degrees
    ([(9, 1), (8, 1), (7, 1)], 482)
    """
    who, cp = "decomp.factor_uncertainty", as_cp("factor_uncertainty", cp)
    x, mask = check_tensor(who, x, mask)
    if tuple(x.shape) != tuple(cp.shape):
        raise errors.shape_mismatch(who, x=x, cp=cp)
    if dtypes.is_complex(x.dtype) or dtypes.is_complex(cp.dtype):
        given = f"of dtypes {x.dtype} and {cp.dtype}"
        raise errors.bad_argument(who, "x and cp", given, "real")
    known = x.size if mask is None else mask.sum()
    free = cp.rank * (sum(cp.shape) - cp.ndim + 1)
    return _uncertainty(x, mask, cp, known, free)


def _uncertainty(x, mask, cp, known, free) -> Uncertainty:
    x, units = in_units(x.astype(np.float64))
    unit = normalize(CP(cp.weights.astype(np.float64), [f.astype(np.float64) for f in cp.factors]))
    weights = unit.weights / units.whole
    each = xnp.abs(weights) ** (1 / cp.ndim)
    signs = [xnp.sign(weights), *[1.0] * (cp.ndim - 1)]
    factors = [f * each * s for f, s in zip(unit.factors, signs, strict=True)]
    left = x - CP(None, tuple(factors)).to_dense()
    left = left if mask is None else xnp.where(mask, left, 0)
    degrees = known - free
    enough = degrees > 0
    variance = safe_divide((left * left).sum(), degrees, np.inf, where=enough)
    values, vectors = _information(factors, mask)
    vectors = _rows_of(vectors, factors)
    # an entry of a column of length 1, and the logarithm of the length, as a column changes
    turned, longer = [], 0.0
    for u, v in zip(unit.factors, vectors, strict=True):
        v = v / xnp.where(each > 0, each, 1)[:, None]
        along = (u[:, :, None] * v).sum(0)
        turned.append(v - u[:, :, None] * along)
        longer = longer + along
    lengths = [norms_of_columns(f.astype(np.float64))[0] for f in cp.factors]
    spread = [_deviation(t, values, variance) * n for t, n in zip(turned, lengths, strict=True)]
    sizes = _deviation(longer, values, variance) * xnp.abs(cp.weights)
    dtype = cp.dtype
    return Uncertainty(tuple(s.astype(dtype) for s in spread), sizes.astype(dtype), degrees)


def _rows_of(vectors, factors) -> list:
    """The rows that belong to each factor, as (entries, columns, vectors)."""
    stops = np.cumsum([0, *[f.size for f in factors]]).tolist()
    pairs = zip(factors, stops, stops[1:], strict=False)
    return [vectors[a:b].reshape(*f.shape, -1) for f, a, b in pairs]


def _information(factors, mask):
    """Eigenvalues and vectors of JᵀJ, a scaling of parameters to like ones undone in these; where
    columns of one term change their lengths against each other, it is as if that were known."""
    unknowns = sum(f.size for f in factors)

    def normal(v):
        parts = parts_of(v, factors)
        made = (
            normal_product(factors, parts)
            if mask is None
            else masked_normal_product(factors, parts, mask)
        )
        along = xnp.stack([(f * p).sum(0) for f, p in zip(factors, parts, strict=True)])
        uneven = pull * (along - along.mean(0))
        return flat([m + f * a for m, f, a in zip(made, factors, uneven, strict=True)])

    lengths = xnp.stack([(f * f).sum(0) for f in factors]).mean(0)
    pull = xnp.where(lengths > 0, lengths, 1) ** (len(factors) - 2)
    matrix = vmap(normal)(xnp.eye(unknowns, dtype=np.float64))
    size = xnp.sqrt(xnp.diagonal(matrix))
    size = xnp.where(size > 0, size, 1)
    values, vectors = xnp.linalg.eigh((matrix + matrix.T) / (2 * size[:, None] * size))
    return values, vectors / size[:, None]


def _deviation(rows, values, variance):
    """√(Σ rows² / values) of rows in terms of eigenvectors; infinite where a value is as good as 0."""
    nothing = values <= 1e-12 * values[-1]
    part = (rows * rows) / xnp.where(nothing, 1, values)
    lost = xnp.any(nothing & (part > 1e-12 * part.max(-1, keepdims=True, initial=0)), -1)
    return xnp.where(lost, np.inf, xnp.sqrt(variance * xnp.where(nothing, 0, part).sum(-1)))
