"""Fitting CP tensors by damped Gauss-Newton steps: all factors at once.

The matrix JᵀJ is never formed. With Γ⁽ⁿ⁾ the product of the Gram matrices AₖᵀAₖ for k ≠ n and Γ⁽ⁿᵐ⁾
that for k ≠ n, m, its action on changes V of the factors is

    (JᵀJ V)ₙ = Vₙ Γ⁽ⁿ⁾ + Σ_{m ≠ n} Aₙ (Γ⁽ⁿᵐ⁾ ∘ VₘᵀAₘ)

(Phan, Tichavský, Cichocki 2013, doi 10.1137/100808034; Sorber, Van Barel, De Lathauwer 2013,
doi 10.1137/120868323): a few small matrix products. The linear systems are solved by conjugate
gradients, preconditioned with the diagonal blocks. Where terms are nearly collinear, alternating
least squares crawls and this does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import jvp
from .._core import ArrayLike, Key, dtypes, errors
from .._solution import Solution, Status
from ..linalg import CG, linear_solve
from ..linalg._operators import FunctionOperator
from ._als import fit_program, least_squares, sweep
from ._common import (
    balanced,
    check_count,
    check_rank,
    check_slices,
    check_tensor,
    checkpoints_of,
    fitted,
    gram,
    in_parts,
    right_solve,
    squared_error,
    starts,
    until_level,
)
from ._cp import CP, normalize
from ._fit import best_of
from ._implicit import differentiable, flat, parts_of
from ._units import in_units

if TYPE_CHECKING:
    from ._formats import Tensor


def products(x, factors) -> list:
    """The MTTKRP of every mode at one point, from two large products."""
    found: list = [None] * len(factors)

    def note(mode, m, factors):
        found[mode] = m
        return factors

    sweep(x, factors, frozenset(range(len(factors))), note)
    return found


def normal_product(factors, changes):
    """JᵀJ applied to changes of the factors."""
    grams = [f.T @ f for f in factors]
    met = [v.T @ f for v, f in zip(changes, factors, strict=True)]
    out = []
    for n, (f, v) in enumerate(zip(factors, changes, strict=True)):
        total = v @ _product_without(grams, n)
        for m, seen in enumerate(met):
            if m != n:
                total = total + f @ (_product_without(grams, n, m) * seen)
        out.append(total)
    return out


def masked_normal_product(factors, changes, mask):
    """JᵀWJ applied to changes of the factors, W being 1 where the mask is True: by the tensor's change."""
    moved = jvp(lambda *f: CP(None, f).to_dense(), tuple(factors), tuple(changes))[1]
    return products(xnp.where(mask, moved, 0), factors)


def _product_without(grams, *left_out):
    kept = [g for k, g in enumerate(grams) if k not in left_out]
    out = xnp.ones_like(grams[0])
    for g in kept:
        out = out * g
    return out


def _step(factors, slopes, damping, mask):
    """The change that the damped linear model asks for."""
    n, share = sum(f.size for f in factors), 1 if mask is None else mask.mean(dtype=slopes[0].dtype)

    def damped(params, v):
        factors, damping, mask = params
        changes = parts_of(v, factors)
        if mask is None:
            return flat(normal_product(factors, changes)) + damping * v
        return flat(masked_normal_product(factors, changes, mask)) + damping * v

    def precondition(r):
        parts = zip(parts_of(r, factors), range(len(factors)), strict=True)
        return flat([right_solve(p, share * gram(factors, k), damping) for p, k in parts])

    params = (factors, damping, mask)
    operator = FunctionOperator(damped, params, (n, n), symmetric=True, positive=True)
    solver = CG(rtol=1e-3, max_steps=60)
    found = linear_solve(operator, -flat(slopes), solver, preconditioner=precondition, report=True)
    return parts_of(found.value, factors)


def _measure(x, mask, square, factors):
    """The slopes of half the squared error, and the squared error."""
    if mask is not None:
        gap = xnp.where(mask, CP(None, tuple(factors)).to_dense() - x, 0)
        return products(gap, factors), (gap * gap).sum()
    m = products(x, factors)
    slopes = [f @ gram(factors, k) - m for k, (f, m) in enumerate(zip(factors, m, strict=True))]
    return slopes, squared_error(square, factors, -1, m[-1])


def _run(x, mask, factors, rtol, gtol, max_steps, progress, checkpoint=None):
    square = (x * x).sum()
    safe = xnp.where(square > 0, square, 1)
    factors = balanced(factors, range(x.ndim))
    slopes, left = _measure(x, mask, square, factors)
    sizes = xnp.stack([xnp.trace(gram(factors, k)) for k in range(x.ndim)])
    start = {
        "factors": factors, "slopes": slopes, "left": left,
        "damping": 1e-3 * sizes.mean() / factors[0].shape[1],
        "growth": xnp.asarray(2.0, x.dtype), "status": xnp.asarray(Status.max_steps, np.int32),
        "error": xnp.sqrt(xnp.maximum(left, 0) / safe),
    }  # fmt: skip

    def step(s):
        slopes = s["slopes"]
        change = _step(s["factors"], slopes, s["damping"], mask)
        trial = [f + c for f, c in zip(s["factors"], change, strict=True)]
        ahead, left = _measure(x, mask, square, trial)
        # Nielsen's rule for the damping, from the gain beside the one that the linear model promises
        promised = sum(
            (c * (s["damping"] * c - g)).sum() for c, g in zip(change, slopes, strict=True)
        )
        gain = (s["left"] - left) / xnp.where(promised > 0, promised, 1)
        better = xnp.isfinite(left) & (left <= s["left"])
        eased = s["damping"] * xnp.maximum(1 / 3, 1 - (2 * xnp.minimum(gain, 1) - 1) ** 3)
        keep = lambda new, old: [xnp.where(better, a, b) for a, b in zip(new, old, strict=True)]  # noqa: E731
        size = xnp.sqrt(xnp.maximum(left, 0) / safe)
        before = xnp.sqrt(xnp.maximum(s["left"], 0) / safe)
        slope = xnp.stack([xnp.linalg.norm(g) for g in slopes]).max()
        floor = 10 * float(dtypes.finfo(x.dtype).eps) ** 0.5
        done = (
            (better & (before - size <= rtol))
            | (slope <= gtol * safe)
            | (size <= floor)
            | (s["growth"] > 2.0**20)
        )
        return {
            "factors": keep(trial, s["factors"]), "slopes": keep(ahead, slopes),
            "left": xnp.where(better, left, s["left"]),
            "damping": xnp.where(better, eased, s["damping"] * s["growth"]),
            "growth": xnp.where(better, 2.0, 2 * s["growth"]).astype(x.dtype),
            "status": xnp.where(done, Status.success, Status.max_steps).astype(np.int32),
            "error": xnp.where(better, size, before),
        }  # fmt: skip

    out, *how = until_level(step, start, max_steps, start["error"], progress, checkpoint)
    value = CP(None, tuple(out["factors"]))
    gap = x - value.to_dense()
    error = xnp.linalg.norm((gap if mask is None else xnp.where(mask, gap, 0)).ravel())
    error = error / xnp.sqrt(safe)
    status = xnp.where(xnp.isfinite(error), out["status"], Status.not_finite)
    return fitted(normalize(value), error, status.astype(np.int32), *how)


_SWEEPS = 30


def _some_sweeps(x, mask, factors, units) -> list:
    """Factors after some sweeps of alternating least squares, so that the model is about as large as x
    where x is not known."""
    n = x.ndim
    found = fit_program(
        x, mask, factors, 0.0, 0.0, 0.0, units, rules=(least_squares,) * n, free=tuple(range(n)),
        proxes=(None,) * n, max_steps=_SWEEPS, scale=True, extrapolate=False, progress=False,
    )  # fmt: skip
    first, *rest = found.value.factors
    return [first * found.value.weights, *rest]


_run_program = in_parts(_run, ("max_steps", "progress"))


def cp_gauss_newton(
    x: Tensor, rank: int, *, init: str | CP | Sequence[Any] = "random", key: Key | None = None,
    restarts: int = 1, mask: ArrayLike | None = None, rtol: float = 1e-9, gtol: float = 0.0,
    max_steps: int = 100, progress: bool | str = False, checkpoint: str | Path | None = None,
) -> Solution:  # fmt: skip
    """The CP tensor of a rank that is nearest to a tensor, by damped Gauss-Newton (Levenberg-Marquardt).

    Each step costs two large products, as a sweep of ``cp_als`` does, and some small ones. It needs
    far fewer steps where terms are nearly collinear. Where elements are missing they never enter, and
    each product with the linear model costs as much as two with x (Tomasi, Bro 2005, INDAFAC,
    doi 10.1016/j.chemolab.2004.07.003); some sweeps of alternating least squares come first then, as
    steps from a random start run wild in what is not known. With much missing take several restarts.

    Args:
      x: dense real tensor of two or more modes.
      rank: number of terms.
      init: "random", "hosvd", or a CP tensor or its factors.
      key: a random key; default ``random.key(0)``.
      restarts: how many random starts run together, as one program; the best is returned.
      mask: True where x is known.
      rtol: stop when a step lowers the relative error by less.
      gtol: stop when the gradient of the squared error is below this share of ‖x‖².
      max_steps: steps at most.
      progress: show the number of steps and their rate; a text is the label.
      checkpoint: a folder, in which the state is kept about every ten seconds; a call with the same folder goes
        on from there. Not inside of ``jit``, ``grad`` and ``vmap``, nor with restarts. A folder of other data
        is refused.

    Returns:
      a ``Solution``.

    >>> import xcore.numpy as xnp
    >>> bool(cp_gauss_newton(xnp.ones((3, 4, 2), "float64"), 1).error < 1e-6)
    True
    """
    who = "decomp.cp_gauss_newton"
    x, mask = check_tensor(who, x, mask)
    if dtypes.is_complex(x.dtype):
        raise errors.bad_argument(
            who, "x", errors.Words(f"of dtype {x.dtype}"), "real", "For complex tensors: cp_als."
        )
    check_slices(who, mask, range(x.ndim))
    x, units = in_units(x)
    restarts = check_count(who, "restarts", restarts, 1)
    rank = check_rank(who, rank, x.shape)
    factors, several = starts(who, x, rank, init, key, restarts, False)
    factors = units.start(init, factors, x, mask)
    checkpoint = checkpoints_of(who, checkpoint, several, x, mask)  # pyright: ignore[reportAssignmentType]
    drawn = not isinstance(init, (CP, tuple, list))
    max_steps, data = check_count(who, "max_steps", max_steps), ops.stop_gradient(x)

    def run(factors):
        if mask is not None and drawn:
            factors = _some_sweeps(data, mask, factors, units)
        return _run_program(
            data,
            mask,
            factors,
            rtol,
            gtol,
            max_steps=max_steps,
            progress=progress,
            checkpoint=checkpoint,
        )

    found = best_of(run, factors) if several else run(factors)
    return units.result(differentiable(found, x, mask))
