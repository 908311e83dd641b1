"""CP tensors by randomised alternating least squares: each factor from a sample of the equations.

Battaglino, Ballard, Kolda 2018 (CPRAND-MIX, doi 10.1137/17M1112303). Each mode is first mixed by an
orthogonal map, random signs and then a cosine transform, which spreads what is in single rows over
all of them: then rows drawn at random represent the others. A mixed CP tensor has mixed factors,
so the whole fit goes on in mixed coordinates, and only the factors are mixed back.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _ops as ops
from .. import fft, random
from .. import numpy as xnp
from .._core import Key, errors
from .._solution import Solution, Status
from ._common import (
    balanced,
    check_count,
    check_rank,
    check_tensor,
    checkpoints_of,
    fitted,
    in_parts,
    right_solve,
    starts,
    until_level,
)
from ._cp import CP, normalize
from ._implicit import differentiable
from ._units import in_units

_WATCHED = 2**14  # elements from which the error is estimated
_PATIENCE = 20  # sweeps without a better estimate

if TYPE_CHECKING:
    from ._formats import Tensor


def _mix(x, signs, mode: int):
    along = signs.reshape(-1, *[1] * (x.ndim - mode - 1))
    return fft.dct(x * along, axis=mode, norm="ortho")


def _unmix(factor, signs):
    return fft.idct(factor, axis=0, norm="ortho") * signs[:, None]


def _drawn(numbers, shape, left_out: int | None = None) -> list:
    """Positions in each mode from numbers in [0, 1), a row for each; None for the mode left out."""
    found = [
        xnp.minimum((u * n).astype(np.int32), n - 1) for u, n in zip(numbers, shape, strict=True)
    ]
    return [None if k == left_out else i for k, i in enumerate(found)]


def _rows(factors, where):
    """Rows of the Khatri-Rao product at the drawn positions."""
    met = [f[i] for f, i in zip(factors, where, strict=True) if i is not None]
    return functools.reduce(xnp.multiply, met)


def _all(shape, left_out: int) -> list:
    """All positions in each mode but one, for tensors with fewer equations than would be drawn."""
    others = tuple(1 if k == left_out else n for k, n in enumerate(shape))
    found = np.unravel_index(np.arange(math.prod(others)), others)
    return [None if k == left_out else i for k, i in enumerate(found)]


def _update(x, factors, numbers, mode: int):
    few = math.prod(x.shape) <= numbers.shape[-1] * x.shape[mode]
    where = _all(x.shape, mode) if few else _drawn(numbers, x.shape, mode)
    rows = _rows(factors, where)
    index = [xnp.arange(x.shape[mode])[None] if i is None else i[:, None] for i in where]
    right = x[tuple(index)].T @ rows.conj()
    return right_solve(right, rows.T @ rows.conj(), 0.0)


def _watch(x, key):
    """The error of factors, as far as it shows in some elements; all of them where they are few."""
    if x.size <= _WATCHED:
        return lambda factors: xnp.linalg.norm((x - CP(None, tuple(factors)).to_dense()).ravel())
    where = _drawn(random.uniform(key, (x.ndim, _WATCHED)), x.shape)
    seen, share = x[tuple(where)], math.sqrt(x.size / _WATCHED)
    return lambda factors: share * xnp.linalg.norm(seen - _rows(factors, where).sum(-1))


def _run(x, factors, key, rtol, samples, max_steps, mix, progress, checkpoint=None):
    size = xnp.linalg.norm(x.ravel())
    safe = xnp.where(size > 0, size, 1)
    turn, watched, draw = random.split(key, 3)
    signs = random.rademacher(turn, (sum(x.shape),)).astype(size.dtype)
    signs = xnp.split(signs, np.cumsum(x.shape)[:-1].tolist())
    mixed = x
    if mix:
        mixed = functools.reduce(lambda x, k: _mix(x, signs[k], k), range(x.ndim), x)
        factors = [_mix(f, s, 0) for f, s in zip(factors, signs, strict=True)]
    watch = _watch(mixed, watched)

    def sweep(s):
        now, count = s["now"], (x.ndim, x.ndim, samples)
        numbers = random.uniform(random.fold_in(draw, s["step"]), count)
        for mode in range(x.ndim):
            now = [*now[:mode], _update(mixed, now, numbers[mode], mode), *now[mode + 1 :]]
        now = balanced(now, range(x.ndim))
        error = watch(now) / safe
        better = error < s["least"]
        stale = xnp.where(error < s["mark"] - rtol, 0, s["stale"] + 1).astype(np.int32)
        status = xnp.where(stale >= _PATIENCE, Status.success, Status.max_steps)
        status = xnp.where(xnp.isfinite(error), status, Status.not_finite)
        return {
            "now": now, "best": [xnp.where(better, a, b) for a, b in zip(now, s["best"], strict=True)],
            "error": error, "least": xnp.minimum(error, s["least"]), "mark": xnp.where(stale == 0, error, s["mark"]),
            "stale": stale, "status": status.astype(np.int32), "step": s["step"] + np.int32(1),
        }  # fmt: skip

    infinite = xnp.asarray(np.inf, size.dtype)
    start = {
        "now": factors, "best": factors, "error": watch(factors) / safe, "least": infinite, "mark": infinite,
        "stale": xnp.zeros((), np.int32), "status": xnp.asarray(Status.max_steps, np.int32),
        "step": xnp.zeros((), np.int32),
    }  # fmt: skip
    out, *how = until_level(sweep, start, max_steps, start["error"], progress, checkpoint)
    found = [_unmix(f, s) for f, s in zip(out["best"], signs, strict=True)] if mix else out["best"]
    value = normalize(CP(None, tuple(found)))
    error = xnp.linalg.norm((x - value.to_dense()).ravel()) / safe
    return fitted(value, error, out["status"], *how)


_run_program = in_parts(_run, ("samples", "max_steps", "mix", "progress"))


def cp_arls(
    x: Tensor, rank: int, *, samples: int | None = None, mix: bool = True,
    init: str | CP | Sequence[Any] = "random", key: Key | None = None, rtol: float = 1e-4,
    max_steps: int = 500, progress: bool | str = False, checkpoint: str | Path | None = None,
) -> Solution:  # fmt: skip
    """A CP tensor near a tensor, by alternating least squares on random samples (CP-ARLS).

    A sweep reads ``samples`` fibres for each mode and not the whole tensor: for tensors so large that
    the sweeps of ``cp_als`` are slow. With noise its error is a little above that of ``cp_als``, which
    may be started from its value. It needs all elements: where some are missing, ``cp_als`` and
    ``cp_gradient`` take a mask.

    Args:
      x: dense tensor of two or more modes, real or complex.
      rank: number of terms.
      samples: equations for each factor, at least the rank; default about 10 rank log(rank),
        and 50 or more. Where there are no more equations than that, all are used.
      mix: mix the modes first, at the cost of a transform of x. Without it, what only a few rows of a
        factor hold may be missed.
      init: "random", "hosvd", or a CP tensor or its factors.
      key: a random key for the start and the samples; default ``random.key(0)``.
      rtol: stop when the relative error, estimated from a fixed sample of elements, has not fallen
        by so much in twenty sweeps.
      max_steps: sweeps at most.
      progress: show the number of sweeps and their rate; a text is the label.
      checkpoint: a folder, in which the state is kept about every ten seconds; a call with the same folder goes
        on from there. Not inside of ``jit``, ``grad`` and ``vmap``. A folder of another problem is refused.

    Returns:
      a ``Solution``: its value is the best one seen, ``error`` exact, ``history`` the estimates. Derivatives
      are those of the least squares fit that it is near to.

    >>> import xcore.numpy as xnp
    >>> bool(cp_arls(xnp.ones((6, 5, 4)), 1).error < 1e-3)
    True
    """
    who = "decomp.cp_arls"
    x, _ = check_tensor(who, x, masked=False)
    rank = check_rank(who, rank, x.shape)
    if samples is None:
        samples = max(50, math.ceil(10 * rank * math.log(rank + 2)))
    if not isinstance(samples, (int, np.integer)) or samples < rank:
        raise errors.bad_argument(who, "samples", samples, f"an int of at least the rank, {rank}")
    first, second = random.split(random.key(0) if key is None else key)
    x, units = in_units(x)
    factors, _ = starts(who, x, rank, init, first, 1, False)
    factors = units.start(init, factors, x)
    max_steps = check_count(who, "max_steps", max_steps)
    found = _run_program(ops.stop_gradient(x), factors, second, rtol, samples=int(samples),
                         max_steps=max_steps, mix=bool(mix), progress=progress,
                         checkpoint=checkpoints_of(who, checkpoint, False, x))  # fmt: skip
    return units.result(differentiable(found, x))
