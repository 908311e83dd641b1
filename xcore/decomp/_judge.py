"""Is the model right? Rank, degeneracy, and how sure the factors are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import numpy as xnp
from .. import random
from .._core import dtypes, errors
from .._core.struct import struct
from .._transforms.map import vmap
from ._als import check_tensor
from ._cp import CP, as_cp, normalize
from ._fit import cp_als
from ._gauss_newton import normal_product
from ._implicit import flat, parts_of
from ._products import multi_mode_product


def core_consistency(x, cp: CP):
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
    factors = [cp.factors[0] * cp.weights, *cp.factors[1:]]
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
    x, ranks: Sequence[int], *, share: float = 0.1, mask=None, key=None, **options
) -> RankScan:
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
    for rank in ranks:
        found = cp_als(x, rank, mask=known, key=start, **options)
        model = found.value.to_dense()
        left = xnp.where(left_out, x - model, 0)
        size = xnp.linalg.norm(xnp.where(left_out, x, 0).ravel())
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
    """

    congruence: object
    condition: object
    weight_ratio: object

    @property
    def degenerate(self):
        """Whether two terms oppose each other by more than 0.95 with weights beyond the tensor's norm."""
        return (self.congruence.min() < -0.95) & (self.weight_ratio > 1)


def degeneracy(cp: CP) -> Degeneracy:
    """How close a CP tensor is to a diverging fit, in which terms grow and cancel.

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
    square = (xnp.outer(cp.weights, cp.weights.conj()) * unit).real.sum()
    whole = xnp.sqrt(xnp.maximum(square, 0))
    return Degeneracy(
        congruence, values[-1] / xnp.maximum(values[0], 0), xnp.abs(cp.weights).max() / whole
    )


def factor_uncertainty(x, cp: CP):
    """Standard deviations of the factors' entries, by the Laplace approximation.

    The residual's variance times the diagonal of the pseudo-inverse of JᵀJ at the fit; directions
    that leave the tensor as it is (scalings between modes) do not count.

    Args:
      x: the tensor.
      cp: a CP tensor fitted to it; weights are taken into the first factor.

    Returns:
      a list with an array like each factor.

    >>> import xcore.numpy as xnp
    >>> x = xnp.ones((3, 4)) + 0.1 * xnp.eye(3, 4)
    >>> [tuple(s.shape) for s in factor_uncertainty(x, CP(None, (xnp.ones((3, 1)), xnp.ones((4, 1)))))]
    [(3, 1), (4, 1)]
    """
    x, cp = xnp.asarray(x), as_cp("factor_uncertainty", cp)
    if tuple(x.shape) != tuple(cp.shape):
        raise errors.shape_mismatch("decomp.factor_uncertainty", x=x, cp=cp)
    if dtypes.is_complex(x.dtype) or dtypes.is_complex(cp.dtype):
        given = f"of dtypes {x.dtype} and {cp.dtype}"
        raise errors.bad_argument("decomp.factor_uncertainty", "x and cp", given, "real")
    factors = [cp.factors[0] * cp.weights, *cp.factors[1:]]
    unknowns = sum(f.size for f in factors)
    eye = xnp.eye(unknowns, dtype=x.dtype)
    normal = vmap(lambda v: flat(normal_product(factors, parts_of(v, factors))))(eye)
    free = unknowns - cp.rank * (cp.ndim - 1)
    left = x - cp.to_dense()
    variance = (left * left).sum() / max(x.size - free, 1)
    covariance = variance * xnp.linalg.pinv((normal + normal.T) / 2, hermitian=True)
    return parts_of(xnp.sqrt(xnp.maximum(xnp.diagonal(covariance), 0)), factors)
