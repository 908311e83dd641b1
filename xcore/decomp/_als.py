"""Fitting CP tensors mode by mode: alternating least squares and its constrained kin.

A sweep updates each factor from M = X₍ₙ₎ conj(K) and G = Kᵀ conj(K), where K is the Khatri-Rao product
of the other factors: the least squares factor is M G⁻¹. All M of a sweep come from two large matrix
products, by a tree of partial products (Phan, Tichavský, Cichocki 2013, doi 10.1109/TSP.2013.2269903),
and the error from the last M: ‖X - Y‖² = ‖X‖² - 2 Re⟨Y, X⟩ + ‖Y‖² with ⟨Y, X⟩ = Σ conj(A) M.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .. import random
from .._control.jit import jit
from .._control.loops import fori_loop
from .._control.while_loop import while_loop
from .._core import dtypes, errors
from .._core.array import Array
from .._core.struct import struct
from .._iterate import Status
from .._transforms.map import vmap
from ._cp import CP, _balanced, gram_product, normalize, norms_of_columns
from ._products import khatri_rao, unfold


@struct
class Fit:
    """A fitted tensor, and how the fit went.

    Attributes:
      value: the CP tensor, its columns normalised.
      error: ‖x - value‖ / ‖x‖ (over the known elements, where some are missing).
      steps: how many sweeps.
      status: number of a ``Status``: 0 converged, 1 the limit of sweeps came first, 4 not finite.
      history: the error after each sweep, NaN for those that were not needed. It comes from the last
        product of a sweep, so that errors below the square root of the dtype's eps are noise.
    """

    value: Any
    error: Any
    steps: Any
    status: Any
    history: Any

    @property
    def fit(self):
        """1 - error: 1 is perfect."""
        return 1 - self.error

    @property
    def message(self) -> str:
        """The status in words."""
        return _MESSAGES[int(np.asarray(self.status).max(initial=0))]


_MESSAGES = {
    Status.success.value: "the error changes no more",
    Status.max_steps.value: "the limit of sweeps was reached first; allow more with max_steps",
    Status.not_finite.value: "infinities or NaN turned up; pass mask= for missing values, or ridge= for stability",
}

# --------------------------------------------------------------------------------- one sweep


def sweep(x, factors, free, update):
    """Updates the free factors one after the other: ``update(mode, M, factors)`` gives all factors."""
    state = [list(factors)]

    def visit(partial, modes):
        if len(modes) == 1:
            state[0] = list(update(modes[0], partial, state[0]))
            return
        half = _balanced([factors[k].shape[0] for k in modes])
        left, right = modes[:half], modes[half:]
        if free.intersection(left):
            visit(_without_right(partial, [state[0][k] for k in right], partial is x), left)
        if free.intersection(right):
            visit(_without_left(partial, [state[0][k] for k in left], partial is x), right)

    visit(x, list(range(len(factors))))
    return state[0]


def _without_right(partial, factors, is_whole: bool):
    k = khatri_rao(factors).conj()
    kept = partial.shape[: partial.ndim - len(factors) - (not is_whole)]
    if is_whole:
        return (partial.reshape(-1, k.shape[0]) @ k).reshape(*kept, k.shape[1])
    return (partial.reshape(-1, *k.shape) * k).sum(1).reshape(*kept, k.shape[1])


def _without_left(partial, factors, is_whole: bool):
    k = khatri_rao(factors).conj()
    kept = partial.shape[len(factors) : partial.ndim - (not is_whole)]
    if is_whole:
        return (partial.reshape(k.shape[0], -1).T @ k).reshape(*kept, k.shape[1])
    return (
        (partial.reshape(k.shape[0], -1, k.shape[1]) * k[:, None, :])
        .sum(0)
        .reshape(*kept, k.shape[1])
    )


def gram(factors, mode: int):
    """Kᵀ conj(K) for all factors but one."""
    others = [f for k, f in enumerate(factors) if k != mode]
    return gram_product(others).conj()


def right_solve(m, g, ridge):
    """m (g + ridge I)⁻¹ for a Hermitian g. Dependent columns are told apart by rounding only, so the
    diagonal is raised by that much."""
    rank = g.shape[0]
    small = 10 * rank * float(dtypes.finfo(g.dtype).eps)
    diagonal = xnp.diagonal(g).real
    raised = g + xnp.diag(
        ridge
        + small * xnp.maximum(diagonal.max(initial=0), np.finfo(np.float32).tiny)
        + 0 * diagonal
    )
    lower = ops.cholesky(raised)
    half = ops.triangular_solve(
        lower, m.conj().T, left=True, lower=True, transpose="N", unit_diagonal=False
    )
    whole = ops.triangular_solve(
        lower, half, left=True, lower=True, transpose="C", unit_diagonal=False
    )
    return whole.conj().T


# ----------------------------------------------------------------------------- rules of update


def least_squares(m, g, a, dual, ridge, _):
    """The minimum over one factor, all others fixed."""
    return right_solve(m, g, ridge), dual


def hals(m, g, a, dual, ridge, _):
    """Columns one after the other, each the best non-negative one (Cichocki, Phan 2009)."""

    def column(r, a):
        size = g[r, r] + ridge
        better = a[:, r] + (m[:, r] - a @ g[:, r] - ridge * a[:, r]) / xnp.where(size == 0, 1, size)
        return a.at[:, r].set(xnp.maximum(better, 0))

    return fori_loop(0, g.shape[0], column, a), dual


def admm(m, g, a, dual, ridge, prox):
    """A few steps of the alternating direction method of multipliers, with a proximal map
    (Huang, Sidiropoulos, Liavas 2016, doi 10.1109/TSP.2016.2576427)."""
    rho = xnp.trace(g).real / g.shape[0] + ridge
    rho = xnp.where(rho > 0, rho, 1)

    def step(_, state):
        a, dual = state
        free = right_solve(m + rho * (a + dual), g, rho + ridge)
        a = prox(free - dual, 1 / rho)
        return a, dual + a - free

    return fori_loop(0, _INNER_STEPS, step, (a, dual))


_INNER_STEPS = 10


# ----------------------------------------------------------------------------------- the loop


def _scaled(factors, mode: int, last: int):
    """Columns of length 1, in all free factors but the last, which keeps their lengths."""
    if mode == last:
        return factors
    _, lengths = norms_of_columns(factors[mode])
    factors[mode] = factors[mode] / lengths
    return factors


def _one_sweep(x, square, factors, duals, ridge, rules, free, proxes, scale: bool):
    """Factors and duals after a sweep, the squared error, and the largest slope that was found."""
    last, seen, duals = max(free), {}, list(duals)

    def update(mode, m, factors):
        if mode not in free:
            return factors
        g = gram(factors, mode)
        seen["slope"] = xnp.maximum(seen.get("slope", 0), xnp.linalg.norm(factors[mode] @ g - m))
        factors = list(factors)
        factors[mode], duals[mode] = rules[mode](
            m, g, factors[mode], duals[mode], ridge, proxes[mode]
        )
        seen["m"] = m
        return _scaled(factors, mode, last) if scale else factors

    factors = sweep(x, factors, frozenset(free), update)
    cross = (factors[last].conj() * seen["m"]).sum().real
    model = gram_product(factors).sum().real
    return factors, duals, xnp.maximum(square - 2 * cross + model, 0), seen["slope"]


def _filled(x, mask, factors):
    """The known elements, and the model's where they are missing."""
    return x if mask is None else xnp.where(mask, x, CP(None, tuple(factors)).to_dense())


def _error_of_known(x, mask, factors):
    left = xnp.where(mask, x - CP(None, tuple(factors)).to_dense(), 0)
    return (left * left.conj()).real.sum()


def _fit(x, mask, factors, ridge, tol, gtol, rules, free, proxes, max_steps, scale, extrapolate):
    known = x if mask is None else xnp.where(mask, x, 0)
    total = (known * known.conj()).real.sum()
    safe = xnp.where(total > 0, total, 1)
    real = total.dtype
    duals = [
        xnp.zeros_like(f) if p is not None else None for f, p in zip(factors, proxes, strict=True)
    ]

    def going(s):
        return (s["step"] < max_steps) & (s["status"] == Status.max_steps.value)

    def body(s):
        now = _filled(known, mask, s["start"])
        square = total if mask is None else (now * now.conj()).real.sum()
        factors, duals, left, slope = _one_sweep(
            now, square, s["start"], s["duals"], ridge, rules, free, proxes, scale
        )
        if mask is not None:
            left = _error_of_known(known, mask, factors)
        error = xnp.sqrt(left / safe).astype(real)
        worse = error > s["error"] if extrapolate else xnp.zeros((), bool)
        still = (xnp.abs(s["error"] - error) <= tol) | (slope <= gtol * safe)
        status = xnp.where(still & ~worse, Status.success.value, Status.max_steps.value)
        status = xnp.where(xnp.isfinite(error), status, Status.not_finite.value).astype(np.int32)
        start, momentum = _next_start(s, factors, worse, extrapolate, free)
        kept = [xnp.where(worse, a, b) for a, b in zip(s["factors"], factors, strict=True)]
        return {
            "factors": kept, "start": start, "duals": duals, "momentum": momentum, "status": status,
            "error": xnp.where(worse, s["error"], error), "step": s["step"] + np.int32(1),
            "history": s["history"].at[s["step"]].set(xnp.where(worse, s["error"], error)),
        }  # fmt: skip

    out = while_loop(going, body, {
        "factors": list(factors), "start": list(factors), "duals": duals, "momentum": xnp.zeros((), real),
        "status": xnp.asarray(Status.max_steps.value, np.int32), "error": xnp.asarray(np.inf, real),
        "step": xnp.zeros((), np.int32), "history": xnp.full(max_steps, np.nan, real),
    })  # fmt: skip
    value = CP(None, tuple(out["factors"]))
    # from the elements themselves: the loop's formula has half the digits only
    error = xnp.sqrt(_error_of_known(known, True if mask is None else mask, value.factors) / safe)
    return Fit(
        normalize(value) if scale else value, error, out["step"], out["status"], out["history"]
    )


def _next_start(s, factors, worse, extrapolate: bool, free):
    """Beyond the new factors while that helps; back to the last good ones when the error grows."""
    if not extrapolate:
        return factors, s["momentum"]
    momentum = xnp.where(worse, s["momentum"] * 0.3, xnp.minimum(s["momentum"] * 1.1 + 0.05, 0.95))
    ahead = [
        f + momentum * (f - g) if k in free else f
        for k, (f, g) in enumerate(zip(factors, s["factors"], strict=True))
    ]
    back = [xnp.where(worse, g, a) for g, a in zip(s["factors"], ahead, strict=True)]
    return back, momentum


_STATIC = ("rules", "free", "proxes", "max_steps", "scale", "extrapolate")
_fit_program = jit(_fit, static_argnames=_STATIC)


# --------------------------------------------------------------------------------- entry points


def start_random(key, shape, rank: int, dtype, positive: bool = False):
    """Factors with independent normal entries; their absolute values if positive."""
    keys = random.split(key, len(shape))
    factors = [random.normal(k, (n, rank), dtype) for k, n in zip(keys, shape, strict=True)]
    return [xnp.abs(f) for f in factors] if positive else factors


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


def check_tensor(who: str, x, mask=None):
    x = xnp.asarray(x)
    x = x if dtypes.is_inexact(x.dtype) else x.astype(xnp.result_type(float))
    if x.ndim < 2 or 0 in x.shape:
        raise errors.bad_argument(
            who, "x", f"shape {tuple(x.shape)}", "a tensor of two or more modes, none of them empty"
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
        if type(mask) is Array and not bool(mask.any()):
            raise errors.bad_argument(
                who, "mask", "no element that is True", "True for some element"
            )
    known = x if mask is None else xnp.where(mask, x, 0)
    if type(known) is Array and not bool(xnp.isfinite(known).all()):
        raise ValueError(
            f"xcore.{who}: x contains NaN or infinity. If these elements are missing, pass mask=xnp.isfinite(x)."
        )
    return x, mask


def check_rank(who: str, rank) -> int:
    if isinstance(rank, bool) or not isinstance(rank, (int, np.integer)) or rank < 1:
        raise errors.bad_argument(who, "rank", rank, "an int of at least 1")
    return int(rank)


def check_fixed(who: str, fixed, ndim: int) -> tuple:
    modes = {m % ndim for m in fixed if isinstance(m, (int, np.integer)) and -ndim <= m < ndim}
    if len(modes) != len(tuple(fixed)) or len(modes) == ndim:
        raise errors.bad_argument(
            who, "fixed", tuple(fixed), f"different modes below {ndim}, not all of them"
        )
    return tuple(k for k in range(ndim) if k not in modes)


def _starts(who, x, rank, init, key, restarts, positive):
    """Factors to start from, with an axis of restarts in front where there are several."""
    if isinstance(init, (CP, tuple, list)):
        factors = init.factors if isinstance(init, CP) else init
        cp = CP(init.weights if isinstance(init, CP) else None, tuple(factors))
        if tuple(cp.shape) != tuple(x.shape) or cp.rank != rank:
            raise errors.bad_argument(who, "init", cp, f"of shape {tuple(x.shape)} and rank {rank}")
        first = (cp.factors[0] * cp.weights).astype(x.dtype)
        return [first, *[f.astype(x.dtype) for f in cp.factors[1:]]], False
    if init not in ("random", "hosvd"):
        raise errors.bad_argument(
            who, "init", init, "'random', 'hosvd', a CP tensor or its factors"
        )
    key = random.key(0) if key is None else key
    if init == "hosvd":
        return start_hosvd(x, key, rank, positive), False
    if restarts == 1:
        return start_random(key, x.shape, rank, x.dtype, positive), False
    draw = vmap(lambda k: start_random(k, x.shape, rank, x.dtype, positive))
    return draw(random.split(key, restarts)), True


def fit(who, x, rank, rules, proxes, *, init, key, restarts, mask, ridge, tol, gtol, max_steps, fixed, scale,
        extrapolate, positive=False):  # fmt: skip
    """What all entry points do: check, start, run, and take the best of several starts."""
    x, mask = check_tensor(who, x, mask)
    rank, free = check_rank(who, rank), check_fixed(who, fixed, x.ndim)
    if len(free) < x.ndim and not isinstance(init, (CP, tuple, list)):
        raise errors.bad_argument(
            who,
            "fixed",
            tuple(fixed),
            "modes of a given init",
            "Pass init= with the fixed factors.",
        )
    factors, several = _starts(who, x, rank, init, key, restarts, positive)

    def run(factors):
        return _fit_program(x, mask, factors, ridge, tol, gtol, rules=rules, free=free, proxes=proxes,
                            max_steps=int(max_steps), scale=scale, extrapolate=bool(extrapolate))  # fmt: skip

    if not several:
        return run(factors)
    return _best(run, factors)


def _best(run, factors):
    every = vmap(run)(factors)
    errors_ = xnp.where(xnp.isfinite(every.error), every.error, np.inf)
    return _pick(every, xnp.argmin(errors_))


def _pick(every: Fit, at) -> Fit:
    value = CP(every.value.weights[at], tuple(f[at] for f in every.value.factors))
    return Fit(value, every.error[at], every.steps[at], every.status[at], every.history[at])


def cp_als(x, rank: int, *, init="random", key=None, restarts: int = 1, mask=None, ridge=0.0, tol=1e-8, gtol=0.0,
           max_steps: int = 200, fixed=(), extrapolate: bool = False) -> Fit:  # fmt: skip
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
      tol: stop when a sweep changes the relative error by less.
      gtol: stop when the slope of the squared error is below this share of ‖x‖².
      max_steps: sweeps at most.
      fixed: modes whose factors stay as ``init`` has them.
      extrapolate: go beyond each sweep's factors while that lowers the error; fewer sweeps where
        they are slow.

    Returns:
      a ``Fit``: ``value`` (CP), ``error``, ``steps``, ``status``, ``history``.

    >>> import xcore.numpy as xnp
    >>> x = xnp.arange(1.0, 5.0)[:, None, None] * xnp.ones((1, 3, 2))
    >>> found = cp_als(x, 1)
    >>> bool(found.error < 1e-3), found.value
    (True, CP(shape=(4, 3, 2), rank=1, dtype=float32))
    """
    n = xnp.ndim(x)
    return fit("decomp.cp_als", x, rank, (least_squares,) * n, (None,) * n, init=init, key=key, restarts=restarts,
               mask=mask, ridge=ridge, tol=tol, gtol=gtol, max_steps=max_steps, fixed=fixed, scale=True,
               extrapolate=extrapolate)  # fmt: skip


def cp_nonneg(x, rank: int, *, init="random", key=None, restarts: int = 1, mask=None, ridge=0.0, tol=1e-8, gtol=0.0,
              max_steps: int = 500, fixed=(), modes=None, extrapolate: bool = False) -> Fit:  # fmt: skip
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
    chosen = set(range(n)) if modes is None else {m % n for m in modes}
    if chosen != set(range(n)) and np.iscomplexobj(np.empty(0, xnp.asarray(x).dtype)):
        raise errors.bad_argument("decomp.cp_nonneg", "x", x, "real")
    rules = tuple(hals if k in chosen else least_squares for k in range(n))
    return fit("decomp.cp_nonneg", x, rank, rules, (None,) * n, init=init, key=key, restarts=restarts, mask=mask,
               ridge=ridge, tol=tol, gtol=gtol, max_steps=max_steps, fixed=fixed, scale=True,
               extrapolate=extrapolate, positive=True)  # fmt: skip


def cp_constrained(x, rank: int, prox, *, init="random", key=None, restarts: int = 1, mask=None, ridge=0.0, tol=1e-8,
                   gtol=0.0, max_steps: int = 500, fixed=()) -> Fit:  # fmt: skip
    """A CP tensor whose factors obey constraints or penalties, given by proximal maps (AO-ADMM).

    Args:
      prox: a function ``prox(factor, step)``, the argmin over a of penalty(a) + ‖a - factor‖² / (2 step);
        or a sequence with one (or None, for no constraint) for each mode.
      others: as for ``cp_als``.

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
    return fit("decomp.cp_constrained", x, rank, rules, proxes, init=init, key=key, restarts=restarts, mask=mask,
               ridge=ridge, tol=tol, gtol=gtol, max_steps=max_steps, fixed=fixed, scale=False,
               extrapolate=False)  # fmt: skip
