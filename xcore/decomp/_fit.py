"""Entry points of the fits that go mode by mode: ``cp_als``, ``cp_nonneg`` and ``cp_constrained``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import numpy as xnp
from .._control import stop_gradient, vmap
from .._core import ArrayLike, Key, dtypes, errors, require
from .._solution import Solution
from ._als import admm, fit_program, hals, least_squares
from ._common import (
    check_count,
    check_fixed,
    check_modes,
    check_rank,
    check_slices,
    check_tensor,
    checkpoints_of,
    fitted,
    starts,
)
from ._cp import CP
from ._implicit import differentiable
from ._units import in_units

if TYPE_CHECKING:
    from ._formats import Tensor


class Settings(NamedTuple):
    """What all entry points take, by their names."""

    init: Any
    key: Any
    restarts: int
    mask: Any
    ridge: Any
    rtol: Any
    gtol: Any
    max_steps: int
    fixed: Any
    progress: Any
    checkpoint: Any


def fit(
    who, x, rank, rules, proxes, given: Settings, *, scale=True, extrapolate=False, positive=False
):
    """What all entry points do: check, start, run, and take the best of several starts."""
    x, mask = check_tensor(who, x, given.mask)
    rank, free = check_rank(who, rank, x.shape), check_fixed(who, given.fixed, x.ndim)
    if len(free) < x.ndim and not isinstance(given.init, (CP, tuple, list)):
        advice = "Pass init= with the fixed factors."
        raise errors.bad_argument(who, "fixed", tuple(given.fixed), "modes of a given init", advice)
    restarts = check_count(who, "restarts", given.restarts, 1)
    max_steps = check_count(who, "max_steps", given.max_steps)
    require("0 or more", who, ridge=given.ridge)
    if not any(p is not None for p in proxes):  # penalties tell what no data do
        check_slices(who, mask, free)
    x, units = in_units(x)
    ridge = units.penalty(given.ridge, len(free))
    factors, several = starts(who, x, rank, given.init, given.key, restarts, positive)
    factors = units.start(given.init, factors, x, mask, free[:1] if scale else free)
    stop, checkpoint = stop_gradient, checkpoints_of(who, given.checkpoint, several, x, mask)

    def run(factors):
        return fit_program(
            stop(x), mask, [stop(f) for f in factors], stop(ridge), given.rtol, given.gtol, units,
            rules=rules, free=free, proxes=proxes, max_steps=max_steps, scale=scale,
            extrapolate=bool(extrapolate), progress=given.progress, checkpoint=checkpoint,
        )  # fmt: skip

    found = best_of(run, factors) if several else run(factors)
    signed = tuple(k for k in free if rules[k] is hals)
    maps = [units.prox(p, len(free)) for p in proxes] if admm in rules else None
    found = differentiable(found, x, mask, None, ridge, free, signed, factors, maps)
    return units.result(found, () if scale else free)


def best_of(run, factors):
    """The fit with the smallest error of several starts, which run as one program."""
    every = vmap(run)(factors)
    errors_ = xnp.where(xnp.isfinite(every.error), every.error, np.inf)
    return _pick(every, xnp.argmin(errors_))


def _pick(every: Solution, at) -> Solution:
    value = CP(every.value.weights[at], tuple(f[at] for f in every.value.factors))
    return fitted(value, every.error[at], every.status[at], every.steps[at], every.history[at])


def cp_als(
    x: Tensor, rank: int, *, init: str | CP | Sequence[Any] = "random", key: Key | None = None,
    restarts: int = 1, mask: ArrayLike | None = None, ridge: float = 0.0, rtol: float = 1e-8,
    gtol: float = 0.0, max_steps: int = 200, fixed: Sequence[int] = (), extrapolate: bool = False,
    progress: bool | str = False, checkpoint: str | Path | None = None,
) -> Solution:  # fmt: skip
    """The CP tensor of a rank that is nearest to a tensor, by alternating least squares.

    min ‖x - Σ_r a_r ∘ b_r ∘ …‖² + ridge Σ ‖factors‖², each factor in turn.

    Args:
      x: dense tensor of two or more modes, real or complex.
      rank: number of terms.
      init: "random" (normal), "hosvd" (singular vectors), or a CP tensor or its factors.
      key: a random key; default ``random.key(0)``.
      restarts: how many random starts run together, as one program; the best is returned.
      mask: True where x is known; the rest is filled in from the model before each sweep (EM).
      ridge: penalty on the squares of the factors.
      rtol: stop when a sweep changes the relative error by less.
      gtol: stop when the gradient of the squared error is below this share of ‖x‖².
      max_steps: sweeps at most.
      fixed: modes whose factors stay as ``init`` has them.
      extrapolate: go beyond each sweep's factors while that lowers the error; fewer sweeps where
        they are slow.
      progress: show the number of sweeps and their rate; a text is the label.
      checkpoint: a folder, in which the state is kept about every ten seconds; a call with the same folder goes
        on from there. Not inside of ``jit``, ``grad`` and ``vmap``, nor with restarts. A folder of other data
        is refused.

    Returns:
      a ``Solution``: ``value`` (CP), ``error``, ``steps``, ``status``, ``history``.

    >>> import xcore.numpy as xnp
    >>> x = xnp.arange(1.0, 5.0)[:, None, None] * xnp.ones((1, 3, 2))
    >>> found = cp_als(x, 1)
    >>> bool(found.error < 1e-3), found.value
    (True, CP(shape=(4, 3, 2), rank=1, dtype=float32))
    """
    n = xnp.ndim(x)
    given = Settings(
        init, key, restarts, mask, ridge, rtol, gtol, max_steps, fixed, progress, checkpoint
    )
    return fit(
        "decomp.cp_als", x, rank, (least_squares,) * n, (None,) * n, given, extrapolate=extrapolate
    )


def cp_nonneg(
    x: Tensor, rank: int, *, init: str | CP | Sequence[Any] = "random", key: Key | None = None,
    restarts: int = 1, mask: ArrayLike | None = None, ridge: float = 0.0, rtol: float = 1e-8,
    gtol: float = 0.0, max_steps: int = 500, fixed: Sequence[int] = (),
    modes: Sequence[int] | None = None, extrapolate: bool = False, progress: bool | str = False,
    checkpoint: str | Path | None = None,
) -> Solution:  # fmt: skip
    """A CP tensor with factors that are nowhere negative, by hierarchical alternating least squares.

    Args:
      modes: those that must not be negative; default all. The others are least squares factors.
      others: as for ``cp_als``.

    >>> import xcore.numpy as xnp
    >>> found = cp_nonneg(xnp.ones((3, 4, 2)), 1)
    >>> bool((found.value.factors[0] >= 0).all())
    True
    """
    n = xnp.ndim(x)
    chosen = set(range(n) if modes is None else check_modes("decomp.cp_nonneg", "modes", modes, n))
    if chosen and dtypes.is_complex(xnp.asarray(x).dtype):
        raise errors.bad_argument(
            "decomp.cp_nonneg", "x", x, "real", "For complex tensors: cp_als."
        )
    rules = tuple(hals if k in chosen else least_squares for k in range(n))
    given = Settings(
        init, key, restarts, mask, ridge, rtol, gtol, max_steps, fixed, progress, checkpoint
    )
    return fit(
        "decomp.cp_nonneg",
        x,
        rank,
        rules,
        (None,) * n,
        given,
        extrapolate=extrapolate,
        positive=True,
    )


def cp_constrained(
    x: Tensor, rank: int, prox: Any, *, init: str | CP | Sequence[Any] = "random",
    key: Key | None = None, restarts: int = 1, mask: ArrayLike | None = None, ridge: float = 0.0,
    rtol: float = 1e-8, gtol: float = 0.0, max_steps: int = 500, fixed: Sequence[int] = (),
    progress: bool | str = False, checkpoint: str | Path | None = None,
) -> Solution:  # fmt: skip
    """A CP tensor whose factors obey constraints or penalties, given by proximal maps (AO-ADMM).

    Args:
      prox: a function ``prox(factor, step)``, the argmin over a of penalty(a) + ‖a - factor‖² / (2 step);
        or a sequence with one (or None, for no constraint) for each mode.
      others: as for ``cp_als``.

    Derivatives are those of the fixed point factor = prox(factor - step slope, step), so a fit must
    have converged; prox must be differentiable where it is not at a kink.

    >>> import xcore.numpy as xnp
    >>> found = cp_constrained(xnp.ones((3, 4, 2)), 1, lambda a, step: xnp.maximum(a, 0))
    >>> bool((found.value.factors[1] >= 0).all())
    True
    """
    n = xnp.ndim(x)
    proxes = (prox,) * n if callable(prox) else tuple(prox)
    if len(proxes) != n or not all(p is None or callable(p) for p in proxes):
        raise errors.bad_argument(
            "decomp.cp_constrained", "prox", prox, f"a function, or {n} of them or None"
        )
    rules = tuple(least_squares if p is None else admm for p in proxes)
    given = Settings(
        init, key, restarts, mask, ridge, rtol, gtol, max_steps, fixed, progress, checkpoint
    )
    return fit("decomp.cp_constrained", x, rank, rules, proxes, given, scale=False)
