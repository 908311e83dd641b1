"""Fitting CP tensors with a general optimiser: the loss and its derivatives, by autodiff."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import Array, ArrayLike, Key, dtypes, errors, require
from .._solution import Solution, Status
from ..optimize import minimize
from ._common import check_count, check_rank, check_slices, check_tensor, fitted, starts
from ._cp import CP, gram_product, normalize
from ._implicit import differentiable
from ._products import mttkrp
from ._units import in_units

if TYPE_CHECKING:
    from ._formats import Tensor


def _loss(x, weights, ridge):
    """Half the (weighted) squared error as a function of the factors, and its share of the data."""
    if weights is None:
        square = (x * x).sum()

        def loss(factors):
            cross = (mttkrp(x, factors, 0) * factors[0]).sum()
            return (square - 2 * cross + gram_product(factors).sum()) / 2 + _penalty(factors, ridge)
    else:
        seen = xnp.where(weights > 0, x, 0)
        square = (weights * seen * seen).sum()

        def loss(factors):
            left = seen - CP(None, tuple(factors)).to_dense()
            return (weights * left * left).sum() / 2 + _penalty(factors, ridge)

    return loss, square


def _penalty(factors, ridge):
    return ridge / 2 * sum((f * f).sum() for f in factors)


def cp_gradient(
    x: Tensor, rank: int, *, method: Any = None, mask: ArrayLike | None = None,
    weights: ArrayLike | None = None, init: str | CP | Sequence[Any] = "random",
    key: Key | None = None, ridge: float = 0.0, rtol: float | None = None, max_steps: int = 1000,
    progress: bool | str = False, checkpoint: str | Path | None = None,
) -> Solution:  # fmt: skip
    """The CP tensor of a rank that is nearest to a tensor, by an optimiser on all factors at once (CP-OPT).

    min Σ weights (x - Σ_r a_r ∘ b_r ∘ …)² / 2 + ridge/2 Σ ‖factors‖². With elements missing this is
    CP-WOPT: these never enter (Acar, Dunlavy, Kolda, Mørup 2011, doi 10.1016/j.chemolab.2010.08.004).

    Args:
      x: dense real tensor of two or more modes.
      rank: number of terms.
      method: of ``xcore.optimize.minimize``: a name or an object; default L-BFGS.
      mask: True where x is known.
      weights: how much each element counts, none negative.
      init: "random", "hosvd", or a CP tensor or its factors.
      key: a random key; default ``random.key(0)``.
      ridge: penalty on the squares of the factors.
      rtol: of ``minimize``, for the loss divided by ‖x‖².
      max_steps: iterations at most.
      progress: show the number of iterations and their rate; a text is the label.
      checkpoint: a folder, in which the state is kept about every ten seconds; a call with the same folder goes
        on from there. Not inside of ``jit``, ``grad`` and ``vmap``. A folder of another problem is refused.

    Returns:
      a ``Solution``; its ``history`` is √(2 loss) / ‖x‖ of the start and of each
        iteration, the error where ridge is 0.

    >>> import xcore.numpy as xnp
    >>> bool(cp_gradient(xnp.ones((3, 4, 2)), 1).error < 1e-2)
    True
    """
    who = "decomp.cp_gradient"
    x, mask = check_tensor(who, x, mask)
    if dtypes.is_complex(x.dtype):
        raise errors.bad_argument(
            who, "x", errors.Words(f"of dtype {x.dtype}"), "real", "For complex tensors: cp_als."
        )
    max_steps = check_count(who, "max_steps", max_steps)
    require("0 or more", who, ridge=ridge)
    check_slices(who, mask, range(x.ndim), ridge)
    x, units = in_units(x)
    ridge = units.penalty(ridge, x.ndim)
    factors, _ = starts(who, x, check_rank(who, rank, x.shape), init, key, 1, False)
    factors = units.start(init, factors, x)
    weights = _weights(who, x, mask, weights)
    fixed = [None if a is None else ops.stop_gradient(a) for a in (x, weights, ridge)]
    loss, square = _loss(*fixed)
    safe = xnp.where(square > 0, square, 1)
    # near the size of x, a random start neither explodes nor vanishes
    size = xnp.sqrt(gram_product(factors).sum())
    scale = (xnp.sqrt(safe) / xnp.where(size > 0, size, 1)) ** (1 / x.ndim)
    start = [f * scale for f in factors] if not isinstance(init, (CP, tuple, list)) else factors
    found = minimize(
        lambda f: loss(f) / safe, start, method=method, tol=rtol, maxiter=max_steps, history=("f",),
        progress=progress, checkpoint=checkpoint,
    )  # fmt: skip
    value = normalize(CP(None, tuple(ops.stop_gradient(f) for f in found.x)))
    known = xnp.ones((), bool) if weights is None else weights > 0  # pyright: ignore[reportOperatorIssue]
    left = xnp.where(known, x - value.to_dense(), 0)
    share = 1 if weights is None else weights
    error = xnp.sqrt((share * left * left).sum() / safe)
    ended = xnp.where(found.status == 0, Status.success, Status.max_steps)
    status = xnp.where(xnp.isfinite(error), ended, Status.not_finite)
    history = xnp.sqrt(xnp.maximum(2 * ops.stop_gradient(found.history["f"]), 0))
    fit = fitted(value, error, status.astype(np.int32), found.nit, history)
    return units.result(differentiable(fit, x, None, weights, ridge))


def _weights(who: str, x, mask, weights):
    if weights is None:
        return None if mask is None else mask.astype(x.dtype)
    weights = xnp.asarray(weights, x.dtype)
    if tuple(weights.shape) != tuple(x.shape):
        raise errors.bad_argument(
            who, "weights", tuple(weights.shape), f"of shape {tuple(x.shape)}"
        )
    if type(weights) is Array and (np.asarray(weights) < 0).any():
        raise errors.bad_argument(
            who, "weights", errors.Words("negative numbers"), "none that is negative"
        )
    return weights if mask is None else xnp.where(mask, weights, 0)
