"""What all fits share: their loop and its result, the algebra of factors, starts, arguments."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from types import NoneType
from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .. import random
from .._control import jit, vmap
from .._control.levels import OF_FEW_NUMBERS
from .._core import Array, dtypes, errors, fused, is_evaluating, one_of
from .._iterate import Steps, checkpoints, iterate
from .._solution import Solution, Status
from ..numpy._select import safe_divide
from ._cp import CP, gram_product, norms_of_columns
from ._products import unfold

_ADVICE = (
    (Status.max_steps, " with max_steps"),
    (
        Status.not_finite,
        "; pass mask= for missing values, ridge= for stability, or data whose norm the dtype can hold",
    ),
)


def until_level(step, state, max_steps: int, first, progress, checkpoint=None):
    """(the last state, steps, history of errors) of steps until the status says that they are over."""
    solver = Steps(step, lambda s: s["status"] != Status.max_steps)
    return iterate(
        solver, state, max_steps, row=lambda s: s["error"], first=first, progress=progress,
        checkpoint=checkpoint,
    )  # fmt: skip


def fitted(value, error, status, steps, history) -> Solution:
    """A fitted tensor, and how the fit went: ‖x - value‖ / ‖x‖ (over the known elements, where some are
    missing) at the end and, as history, of the start and after each sweep. The latter comes from the
    last product of a sweep, so that errors below the square root of the dtype's eps are noise.
    """
    return Solution(value, status, steps=steps, error=error, history=history, advice=_ADVICE)


def in_parts(fit, static):
    """``fit`` as one program; called with ``checkpoint``, which cuts its loop, as what it is."""
    program = jit(fit, static_argnames=static, compiler_options=OF_FEW_NUMBERS)

    def run(*args, checkpoint=None, **settings):
        if checkpoint is None:
            return program(*args, **settings)
        return fit(*args, checkpoint=checkpoint, **settings)

    return run


def checkpoints_of(who: str, folder, several: bool, *data):
    """The argument ``checkpoint`` of a fit to data."""
    if folder is not None and several:
        raise errors.bad_argument(who, "checkpoint", folder, "None with several restarts")
    return checkpoints(who, folder, lambda: [x for x in data if x is not None])


# Factors


def gram(factors, mode: int):
    """Kᵀ conj(K) for all factors but one."""
    others = [f for k, f in enumerate(factors) if k != mode]
    return gram_product(others).conj()


def right_solve(m, g, ridge):
    """m (g + ridge I)⁻¹ for a Hermitian g. Dependent columns differ by rounding only, so the
    diagonal is raised by that much."""
    rank, eps = g.shape[0], float(dtypes.finfo(g.dtype).eps)
    diagonal = xnp.diagonal(g).real
    raised = 10 * rank * eps * xnp.maximum(diagonal, eps * diagonal.max(initial=0))
    raised = g + xnp.diag(ridge + xnp.maximum(raised, float(np.finfo(np.float32).tiny)))
    # L⁻¹ and two products: LAPACK's threads on a tall m cost more than all the rest of a sweep
    half = ops.triangular_solve(
        ops.cholesky(raised), xnp.eye(rank, dtype=g.dtype), left=True, lower=True, transpose="N",
        unit_diagonal=False,
    )  # fmt: skip
    return (m @ half.conj().T) @ half


def balanced(factors, free):
    """The same tensor; the columns of each term have equal norms in the free modes. It is the choice
    that a ridge prefers. Where one of them vanishes all stay as they are."""
    sizes = {k: norms_of_columns(factors[k])[0] for k in free}
    whole = functools.reduce(xnp.multiply, sizes.values())
    share = whole ** (1 / len(free))
    scaled = {k: safe_divide(share, v, 1, where=whole != 0) for k, v in sizes.items()}
    return [f * scaled[k] if k in scaled else f for k, f in enumerate(factors)]


def squared_error(square, factors, mode, m):
    """‖x - model‖² from the product M of one mode."""
    cross = (factors[mode].conj() * m).sum().real
    return square - 2 * cross + gram_product(factors).sum().real


# Starts


@functools.partial(jit, static_argnames=("shape", "rank", "dtype", "positive"))
def start_random(key, *, shape, rank: int, dtype, positive: bool):
    """Factors with independent normal entries; their absolute values if positive."""
    rows = random.normal(key, (sum(shape), rank), dtype)
    rows = xnp.abs(rows) if positive else rows
    return xnp.split(rows, np.cumsum(shape)[:-1].tolist())


def start_hosvd(x, key, rank: int, positive: bool = False):
    """Leading left singular vectors of the unfoldings; random columns where there are too few."""
    factors = []
    for mode, k in enumerate(random.split(key, x.ndim)):
        m = unfold(x, mode)
        _, vectors = xnp.linalg.eigh(m @ m.conj().T)
        vectors = vectors[:, ::-1][:, :rank]
        extra = random.normal(k, (m.shape[0], rank - vectors.shape[1]), x.dtype)
        factors.append(xnp.concatenate([vectors, extra], 1))
    return [xnp.abs(f) for f in factors] if positive else factors


def starts(who, x, rank, init, key, restarts, positive):
    """Factors to start from, with an axis of restarts in front where there are several."""
    if restarts > 1 and not (isinstance(init, str) and init == "random"):
        advice = "Other starts are the same each time: leave restarts at 1."
        raise errors.bad_argument(who, "restarts", restarts, 'with init="random" only', advice)
    if isinstance(init, (CP, tuple, list)):
        factors = init.factors if isinstance(init, CP) else init
        cp = CP(init.weights if isinstance(init, CP) else None, tuple(factors))
        if tuple(cp.shape) != tuple(x.shape) or cp.rank != rank:
            raise errors.bad_argument(who, "init", cp, f"of shape {tuple(x.shape)} and rank {rank}")
        first = (cp.factors[0] * cp.weights).astype(x.dtype)
        return [first, *[f.astype(x.dtype) for f in cp.factors[1:]]], False
    one_of(who, "init", init, ("random", "hosvd"), "'random', 'hosvd', a CP tensor or its factors")
    key, shape = random.key(0) if key is None else key, tuple(x.shape)
    if init == "hosvd":
        return start_hosvd(x, key, rank, positive), False
    if restarts == 1:
        return start_random(key, shape=shape, rank=rank, dtype=x.dtype, positive=positive), False
    draw = vmap(lambda k: start_random(k, shape=shape, rank=rank, dtype=x.dtype, positive=positive))
    return draw(random.split(key, restarts)), True


# Arguments


def check_count(who: str, name: str, value, least: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise errors.bad_argument(who, name, value, f"an int of at least {least}")
    return int(value)


def check_tensor(who: str, x: Any, mask: Any = None, *, masked: bool = True) -> tuple[Array, Any]:
    """x as a tensor of floats, zero where it is missing, and its mask; ``masked``: whether the
    function takes one."""
    x = xnp.asarray(x)
    x = x if dtypes.is_inexact(x.dtype) else x.astype(xnp.result_type(float))
    if x.ndim < 2 or 0 in x.shape:
        raise errors.bad_argument(
            who,
            "x",
            errors.Words(f"shape {tuple(x.shape)}"),
            "a tensor of two or more modes, none of them empty",
        )
    if mask is not None:
        mask = xnp.asarray(mask)
        if tuple(mask.shape) != tuple(x.shape) or mask.dtype != bool:
            raise errors.bad_argument(
                who,
                "mask",
                mask,
                f"an array of booleans of shape {tuple(x.shape)}, True where x is known",
            )
        if type(mask) is Array and not np.asarray(mask).any():
            raise errors.bad_argument(
                who, "mask", errors.Words("no element that is True"), "True for some element"
            )
    if type(x) is Array and type(mask) in (Array, NoneType) and not _is_finite(x, mask):
        advice = (
            "pass mask=xnp.isfinite(x)"
            if masked
            else "fill them in first, for example by cp_als with mask="
        )
        raise ValueError(
            f"xcore.{who}: x contains NaN or infinity. If these elements are missing, {advice}."
        )
    return x if mask is None else xnp.where(mask, x, 0), mask


def check_slices(who: str, mask: Any, modes: Iterable[int], ridge: Any = None) -> None:
    """An error where a slice has no known element: nothing tells its row of the factor but a ridge."""
    if type(mask) is not Array or not (
        ridge is None or (type(ridge) in (int, float) and ridge == 0)
    ):
        return
    known = np.asarray(mask)
    for mode in modes:
        rest = tuple(k for k in range(known.ndim) if k != mode)
        empty = np.flatnonzero(~known.any(axis=rest))
        if empty.size:
            need = f"True somewhere in slice {empty[0]} of mode {mode}: else nothing tells its row of the factor"
            advice = "Leave such slices out" + (
                ", or pass ridge=, which makes it 0." if ridge is not None else "."
            )
            raise errors.bad_argument(
                who, "mask", errors.Words(f"{empty.size} such slices"), need, advice
            )


def _is_finite(x, mask) -> bool:
    if is_evaluating():
        return bool(_finite(x, mask))
    return bool(np.isfinite(np.asarray(x))[... if mask is None else np.asarray(mask)].all())


@fused(2)
def _finite(x, mask):
    """A sum of zeros, or NaN: it takes half the time of a conjunction."""
    return ((x if mask is None else xnp.where(mask, x, 0)) * 0).sum() == 0


def check_rank(who: str, rank, shape) -> int:
    """No tensor of a shape needs more terms than it has fibres along its longest mode."""
    if isinstance(rank, bool) or not isinstance(rank, (int, np.integer)) or rank < 1:
        raise errors.bad_argument(who, "rank", rank, "an int of at least 1")
    most = math.prod(shape) // max(shape)
    if rank > most:
        wanted = f"at most {most}: so many terms make any tensor of shape {tuple(shape)}"
        raise errors.bad_argument(who, "rank", rank, wanted, "Ask for fewer terms.")
    return int(rank)


def check_modes(who: str, name: str, given, ndim: int, most: str = "") -> set:
    """Modes counted from the front; ``most``: what else is expected of them."""
    modes = {m % ndim for m in given if isinstance(m, (int, np.integer)) and -ndim <= m < ndim}
    if len(modes) != len(tuple(given)):
        raise errors.bad_argument(who, name, tuple(given), f"different modes below {ndim}{most}")
    return modes


def check_fixed(who: str, fixed, ndim: int) -> tuple:
    modes = check_modes(who, "fixed", fixed, ndim, ", not all of them")
    if len(modes) == ndim:
        wanted = f"different modes below {ndim}, not all of them"
        raise errors.bad_argument(who, "fixed", tuple(fixed), wanted)
    return tuple(k for k in range(ndim) if k not in modes)
