"""Fitting Tucker tensors: truncated higher-order singular value decompositions, and their refinement.

De Lathauwer, De Moor, Vandewalle 2000 (doi 10.1137/S0895479896305696 and …305697); sequential
truncation: Vannieuwenhoven, Vandebril, Meerbergen 2012 (doi 10.1137/110836067).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .. import numpy as xnp
from .. import random
from .._control import fori_loop, jit
from .._core import Array, Key, dtypes, errors, fused
from .._solution import Solution, Status
from ._common import check_count, check_tensor, checkpoints_of, fitted, in_parts, until_level
from ._cp import norms_of_columns
from ._products import mode_product, multi_mode_product, squared_norm, unfold
from ._tucker import Tucker, orthogonalize
from ._units import in_units

if TYPE_CHECKING:
    from ._formats import Tensor


def check_ranks(who: str, ranks, shape) -> tuple:
    """One rank for each mode, none larger than the mode; an int stands for all."""
    given = (ranks,) * len(shape) if isinstance(ranks, (int, np.integer)) else tuple(ranks)
    fits = len(given) == len(shape) and all(
        isinstance(r, (int, np.integer)) and r >= 1 for r in given
    )
    if not fits or any(r > n for r, n in zip(given, shape, strict=True)):
        raise errors.bad_argument(
            who,
            "ranks",
            ranks,
            f"an int, or one for each mode, between 1 and the lengths {tuple(shape)}",
        )
    return tuple(int(r) for r in given)


def _spectrum(x, mode: int):
    """Squared singular values of an unfolding, the largest first, with left singular vectors."""
    m = unfold(x, mode)
    values, vectors = xnp.linalg.eigh(m @ m.conj().T)
    return xnp.maximum(values[::-1], 0), vectors[:, ::-1]


_spectrum_now = fused(1)(_spectrum)


def squares_tell(rows: int, dtype, rtol: float) -> bool:
    """Whether a matrix' product with itself, of so many rows, shows what a cut at the tolerance is to leave out:

    the sum of its eigenvalues is wrong by so many eps.
    """
    return rtol**2 > 20 * rows * dtypes.finfo(dtype).eps


def _spectrum_for(x, mode: int, rtol: float):
    """The same, for a tolerance that products of the unfolding with itself may be too coarse for."""
    if squares_tell(x.shape[mode], x.dtype, rtol):
        return _spectrum_now(x, mode)
    u, s, _ = xnp.linalg.svd(unfold(x, mode), full_matrices=False)
    return s**2, u


def _rank_for(values, budget: float) -> int:
    """The fewest singular values such that the squares of the others add up to at most the budget."""
    tail = np.cumsum(np.asarray(values, np.float64)[::-1])[::-1]
    return max(1, int((tail > budget).sum()))


def _budget(who: str, x, rtol, modes: int) -> float:
    """How much squared norm each mode may lose for the whole error to be at most rtol ‖x‖."""
    if not isinstance(rtol, (int, float)) or not 0 <= rtol:
        raise errors.bad_argument(who, "rtol", rtol, "a number that is not negative")
    if type(x) is not Array:
        raise errors.ConcretizationError(
            f"xcore.{who}: under jit or vmap ranks are shapes and cannot depend on values. Pass ranks=, not rtol=."
        )
    return float(rtol) ** 2 * float((x * x.conj()).real.sum()) / modes


def _one_of(who: str, ranks, rtol) -> None:
    if (ranks is None) == (rtol is None):
        raise errors.bad_argument(
            who, "ranks", ranks, "given, or rtol", "Pass one of ranks= and rtol=."
        )


def hosvd(
    x: Tensor, ranks: int | Sequence[int] | None = None, *, rtol: float | None = None
) -> Tucker:
    """A Tucker tensor with the leading left singular vectors of every unfolding.

    Its squared error is at most the sum of the squared singular values left out, so it is within √N
    of the best one, for N modes.

    Args:
      x: dense tensor.
      ranks: an int, or one for each mode.
      rtol: or: as small as possible with ‖x - result‖ ≤ rtol ‖x‖ (not under ``jit``).

    >>> import xcore.numpy as xnp
    >>> hosvd(xnp.ones((3, 4, 5)), rtol=1e-3)
    Tucker(shape=(3, 4, 5), rank=(1, 1, 1), dtype=float32)
    """
    who = "decomp.hosvd"
    x, units = in_units(check_tensor(who, x, masked=False)[0])
    _one_of(who, ranks, rtol)
    if rtol is None:
        return units.sized(_hosvd(x, check_ranks(who, ranks, x.shape)))
    budget = _budget(who, x, rtol, x.ndim)
    spectra = [_spectrum_for(x, mode, rtol) for mode in range(x.ndim)]
    factors = tuple(vectors[:, : _rank_for(values, budget)] for values, vectors in spectra)
    return units.sized(_projected(x, factors))


@fused(1)
def _hosvd(x, ranks):
    return _projected(x, tuple(_spectrum(x, mode)[1][:, :r] for mode, r in enumerate(ranks)))


def _projected(x, factors) -> Tucker:
    return Tucker(multi_mode_product(x, factors, transpose=True), factors)


def st_hosvd(
    x: Tensor, ranks: int | Sequence[int] | None = None, *, rtol: float | None = None
) -> Tucker:
    """As ``hosvd``, but each mode is cut before the next is looked at: less work, and the same bound.

    Args:
      x, ranks, rtol: as for ``hosvd``.

    >>> import xcore.numpy as xnp
    >>> st_hosvd(xnp.ones((3, 4, 5)), 1).rank
    (1, 1, 1)
    """
    who = "decomp.st_hosvd"
    x, units = in_units(check_tensor(who, x, masked=False)[0])
    _one_of(who, ranks, rtol)
    if rtol is None:
        return units.sized(_st_hosvd(x, check_ranks(who, ranks, x.shape)))
    budget, core, factors = _budget(who, x, rtol, x.ndim), x, []
    for mode in range(x.ndim):
        values, vectors = _spectrum_for(core, mode, rtol)
        factors.append(vectors[:, : _rank_for(values, budget)])
        core = mode_product(core, factors[-1].conj().T, mode)
    return units.sized(Tucker(core, tuple(factors)))


@fused(1)
def _st_hosvd(x, ranks):
    factors: list = [None] * x.ndim
    # the mode that shrinks most goes first: the others then have less to do
    for mode in sorted(range(x.ndim), key=lambda k: ranks[k] / x.shape[k]):
        factors[mode] = _spectrum(x, mode)[1][:, : ranks[mode]]
        x = mode_product(x, factors[mode].conj().T, mode)
    return Tucker(x, tuple(factors))


def round_tucker(
    x: Tucker, ranks: int | Sequence[int] | None = None, *, rtol: float | None = None
) -> Tucker:
    """A Tucker tensor of smaller ranks near one, without the full tensor: its core is truncated.

    Args:
      x: a Tucker tensor, for example a sum.
      ranks: an int, or one for each mode.
      rtol: or: as small as possible with ‖x - result‖ ≤ rtol ‖x‖ (not under ``jit``).

    >>> import xcore.numpy as xnp
    >>> t = st_hosvd(xnp.ones((3, 4, 5)), 1)
    >>> round_tucker(t + t, rtol=1e-3).rank
    (1, 1, 1)
    """
    who = "decomp.round_tucker"
    if not isinstance(x, Tucker):
        raise errors.bad_argument(who, "x", x, "a Tucker tensor", "For a dense tensor: st_hosvd.")
    _one_of(who, ranks, rtol)
    x = orthogonalize(x)
    ranks = None if ranks is None else check_ranks(who, ranks, x.rank)
    core = st_hosvd(x.core, ranks, rtol=rtol)
    return Tucker(core.core, tuple(f @ g for f, g in zip(x.factors, core.factors, strict=True)))


def hooi(
    x: Tensor, ranks: int | Sequence[int], *, max_steps: int = 10, init: Tucker | None = None,
    progress: bool | str = False,
) -> Tucker:  # fmt: skip
    """The Tucker tensor of given ranks improved mode by mode (higher-order orthogonal iteration).

    ``tucker_als`` does the same until the error changes no more, and has the history of errors.

    Args:
      x: dense tensor.
      ranks: an int, or one for each mode.
      max_steps: sweeps over all modes; none makes the error larger.
      init: where to start; default ``st_hosvd``.
      progress: show a bar of the sweeps; a text is its label.

    >>> import xcore.numpy as xnp
    >>> hooi(xnp.ones((3, 4, 5)), 1).shape
    (3, 4, 5)
    """
    who = "decomp.hooi"
    x, units, factors, ranks = _hooi_start(who, x, ranks, init)
    return units.sized(_hooi(x, factors, ranks, check_count(who, "max_steps", max_steps), progress))


def _hooi_start(who: str, x, ranks, init):
    x, units = in_units(check_tensor(who, x, masked=False)[0])
    ranks = check_ranks(who, ranks, x.shape)
    start = _st_hosvd(x, ranks) if init is None else init
    fits = isinstance(start, Tucker) and (start.shape, start.rank) == (tuple(x.shape), ranks)
    if not fits:
        wanted = f"a Tucker tensor of shape {tuple(x.shape)} and ranks {ranks}"
        raise errors.bad_argument(who, "init", init, wanted)
    return x, units, [f.astype(x.dtype) for f in start.factors], ranks


def _hooi_sweep(x, factors, ranks):
    """(factors after a sweep, the squared norm of the core that goes with them)."""
    factors, kept = list(factors), None
    for mode, rank in enumerate(ranks):
        others = [None if k == mode else f for k, f in enumerate(factors)]
        small = multi_mode_product(x, others, range(x.ndim), transpose=True)
        values, vectors = _spectrum(small, mode)
        factors[mode], kept = vectors[:, :rank], values[:rank].sum()
    return factors, kept


@functools.partial(jit, static_argnums=(2, 3, 4))
def _hooi(x, factors, ranks, steps, progress):
    def sweep(_, factors):
        return _hooi_sweep(x, factors, ranks)[0]

    factors = fori_loop(0, steps, sweep, factors, progress=progress)
    return Tucker(multi_mode_product(x, factors, transpose=True), tuple(factors))


def tucker_als(
    x: Tensor, ranks: int | Sequence[int], *, rtol: float = 1e-8, max_steps: int = 100,
    init: Tucker | None = None, progress: bool | str = False, checkpoint: str | Path | None = None,
) -> Solution:  # fmt: skip
    """As ``hooi``, until the error changes no more, with an account of how it went.

    Args:
      x, ranks, init: as for ``hooi``.
      rtol: stop when a sweep changes the relative error by less.
      max_steps: sweeps at most.
      progress: show the number of sweeps and their rate; a text is the label.
      checkpoint: a folder, in which the state is kept about every ten seconds; a call with the same folder goes
        on from there. Not inside of ``jit``, ``grad`` and ``vmap``. A folder of another problem is refused.

    Returns:
      a ``Solution`` whose value is a ``Tucker`` tensor.

    >>> import xcore.numpy as xnp
    >>> found = tucker_als(xnp.ones((3, 4, 5)), 1)
    >>> found.value, bool(found.error < 1e-3)
    (Tucker(shape=(3, 4, 5), rank=(1, 1, 1), dtype=float32), True)
    """
    who = "decomp.tucker_als"
    x, units, factors, ranks = _hooi_start(who, x, ranks, init)
    max_steps = check_count(who, "max_steps", max_steps)
    return units.result(
        _tucker_als(x, factors, rtol, ranks=ranks, max_steps=max_steps, progress=progress,
                    checkpoint=checkpoints_of(who, checkpoint, False, x))
    )  # fmt: skip


def _until_level(square, sweep, parts, left, rtol, max_steps: int, progress, checkpoint):
    """(parts, status, steps, history) of sweeps until the error changes no more.

    ``sweep(parts)`` gives (parts, what they leave of ‖x‖²); ``left``: what the start leaves of it.
    """
    safe = xnp.where(square > 0, square, 1)

    def relative(left):
        return xnp.sqrt(xnp.maximum(left, 0) / safe)

    def step(s):
        parts, left = sweep(s["parts"])
        error = relative(left)
        done = xnp.abs(s["error"] - error) <= rtol
        status = xnp.where(done, Status.success, Status.max_steps)
        status = xnp.where(xnp.isfinite(error), status, Status.not_finite).astype(np.int32)
        return {"parts": parts, "error": error, "status": status}

    start = {
        "parts": parts, "error": xnp.asarray(np.inf, square.dtype),
        "status": xnp.asarray(Status.max_steps, np.int32),
    }  # fmt: skip
    out, *how = until_level(step, start, max_steps, relative(left), progress, checkpoint)
    return out["parts"], out["status"], *how


def _tucker_fit(x, value: Tucker, *how) -> Solution:
    """With the error from the elements themselves: the loop's formula has half the digits only."""
    square = squared_norm(x)
    error = xnp.sqrt(squared_norm(x - value.to_dense()) / xnp.where(square > 0, square, 1))
    return fitted(value, error, *how)


@functools.partial(in_parts, static=("ranks", "max_steps", "progress"))
def _tucker_als(x, factors, rtol, *, ranks, max_steps, progress, checkpoint=None):
    square = squared_norm(x)

    def sweep(factors):
        factors, kept = _hooi_sweep(x, factors, ranks)
        return factors, square - kept

    left = square - squared_norm(multi_mode_product(x, factors, transpose=True))
    factors, *how = _until_level(
        square, sweep, factors, left, rtol, max_steps, progress, checkpoint
    )
    core = multi_mode_product(x, factors, transpose=True)
    return _tucker_fit(x, Tucker(core, tuple(factors)), *how)


def tucker_random(
    x: Tensor, ranks: int | Sequence[int], *, key: Key | None = None, n_oversamples: int = 8,
    n_iter: int = 1,
) -> Tucker:  # fmt: skip
    """As ``st_hosvd``, with the range of each unfolding found by random combinations of its columns
    (Halko, Martinsson, Tropp 2011, doi 10.1137/090771806).

    Args:
      x, ranks: as for ``hosvd``.
      key: a random key; default ``random.key(0)``.
      n_oversamples: how many more combinations than the rank.
      n_iter: rounds of subspace iteration; more for singular values that fall slowly.

    >>> import xcore.numpy as xnp
    >>> tucker_random(xnp.ones((3, 4, 5)), 1).rank
    (1, 1, 1)
    """
    who = "decomp.tucker_random"
    x, units = in_units(check_tensor(who, x, masked=False)[0])
    key = random.key(0) if key is None else key
    extra, rounds = (
        check_count(who, n, v) for n, v in (("n_oversamples", n_oversamples), ("n_iter", n_iter))
    )
    return units.sized(_tucker_random(x, key, check_ranks(who, ranks, x.shape), extra, rounds))


@functools.partial(jit, static_argnums=(2, 3, 4))
def _tucker_random(x, key, ranks, extra, rounds):
    factors = []
    for mode, (rank, k) in enumerate(zip(ranks, random.split(key, x.ndim), strict=True)):
        m = unfold(x, mode)
        width = min(rank + extra, *m.shape)
        q, _ = xnp.linalg.qr(m @ random.normal(k, (m.shape[1], width), x.dtype))
        for _ in range(rounds):
            q, _ = xnp.linalg.qr(m @ (m.conj().T @ q))
        small = q.conj().T @ m
        _, vectors = xnp.linalg.eigh(small @ small.conj().T)
        factors.append(q @ vectors[:, ::-1][:, :rank])
        x = mode_product(x, factors[-1].conj().T, mode)
    return Tucker(x, tuple(factors))


def tucker_nonneg(
    x: Tensor, ranks: int | Sequence[int], *, key: Key | None = None, rtol: float = 1e-8,
    max_steps: int = 200, progress: bool | str = False, checkpoint: str | Path | None = None,
) -> Solution:  # fmt: skip
    """A Tucker tensor whose core and factors are nowhere negative, by multiplicative updates
    (Lee, Seung 2001; Kim, Choi 2007), none of which makes the error larger.

    Args:
      x: dense tensor that is nowhere negative.
      ranks: an int, or one for each mode.
      key: a random key for the start; default ``random.key(0)``.
      rtol: stop when a sweep changes the relative error by less.
      max_steps: sweeps at most.
      progress: show the number of sweeps and their rate; a text is the label.
      checkpoint: a folder, in which the state is kept about every ten seconds; a call with the same folder goes
        on from there. Not inside of ``jit``, ``grad`` and ``vmap``. A folder of another problem is refused.

    Returns:
      a ``Solution`` whose value is a ``Tucker`` tensor.

    >>> import xcore.numpy as xnp
    >>> bool((tucker_nonneg(xnp.ones((3, 4, 5)), 2, max_steps=5).value.core >= 0).all())
    True
    """
    who = "decomp.tucker_nonneg"
    x, _ = check_tensor(who, x, masked=False)
    ranks = check_ranks(who, ranks, x.shape)
    if dtypes.is_complex(x.dtype):
        raise errors.bad_argument(who, "x", errors.Words(f"of dtype {x.dtype}"), "real")
    if type(x) is Array and (np.asarray(x) < 0).any():
        raise errors.bad_argument(who, "x", errors.Words("negative elements"), "nowhere negative")
    x, units = in_units(x)
    keys = random.split(random.key(0) if key is None else key, x.ndim + 1)
    sizes = [ranks, *zip(x.shape, ranks, strict=True)]
    core, *factors = [random.uniform(k, size, x.dtype) for k, size in zip(keys, sizes, strict=True)]
    scale = xnp.sqrt((x * x).mean()) / math.prod(ranks)  # pyright: ignore[reportOperatorIssue]
    max_steps = check_count(who, "max_steps", max_steps)
    found = _nonneg(
        x, [core * scale, *factors], rtol, max_steps=max_steps, progress=progress,
        checkpoint=checkpoints_of(who, checkpoint, False, x),
    )  # fmt: skip
    return units.result(found)


@functools.partial(in_parts, static=("max_steps", "progress"))
def _nonneg(x, parts, rtol, *, max_steps, progress, checkpoint=None):
    square = squared_norm(x)

    def products(factors):
        return multi_mode_product(x, factors, transpose=True), [f.T @ f for f in factors]

    def left(core, up, grams):
        return square - 2 * (core * up).sum() + (core * multi_mode_product(core, grams)).sum()

    def sweep(parts):
        core, factors = _nonneg_factors(x, *parts)
        up, grams = products(factors)
        core = core * up / xnp.maximum(multi_mode_product(core, grams), _TINY)
        return [core, *factors], left(core, up, grams)

    first = left(parts[0], *products(parts[1:]))
    (core, *factors), *how = _until_level(
        square, sweep, parts, first, rtol, max_steps, progress, checkpoint
    )
    return _tucker_fit(x, Tucker(core, tuple(factors)), *how)


_TINY = 1e-30  # beside data near 1 nothing, and not so small that compiled code loses it


def _nonneg_factors(x, core, *factors):
    """The core and the factors after an update of each, their columns of length 1."""
    factors = list(factors)
    for mode in range(x.ndim):
        others = [None if k == mode else f for k, f in enumerate(factors)]
        seen = unfold(multi_mode_product(core, others, range(x.ndim)), mode)
        # what shrinks towards zero has no square: its size goes over to the factor, and comes back with the lengths
        _, sizes = norms_of_columns(seen.T)
        seen, a = seen / sizes[:, None], factors[mode] * sizes
        a = a * (unfold(x, mode) @ seen.T) / xnp.maximum(a @ (seen @ seen.T), _TINY)
        _, lengths = norms_of_columns(a)
        factors[mode] = a / lengths
        core = mode_product(core, xnp.diag(lengths / sizes), mode)
    return core, factors
