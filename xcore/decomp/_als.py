"""Fitting CP tensors mode by mode: alternating least squares and its constrained kin.

A sweep updates each factor from M = X₍ₙ₎ conj(K) and G = Kᵀ conj(K), where K is the Khatri-Rao product
of the other factors: the least squares factor is M G⁻¹. All M of a sweep come from two large matrix
products, by a tree of partial products (Phan, Tichavský, Cichocki 2013, doi 10.1109/TSP.2013.2269903),
and the error from the last M: ‖X - Y‖² = ‖X‖² - 2 Re⟨Y, X⟩ + ‖Y‖² with ⟨Y, X⟩ = Σ conj(A) M.
"""

from __future__ import annotations

import math

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import cond, fori_loop, vmap
from .._control.custom_batch import custom_vmap, sequential_vmap
from .._core import dtypes
from .._solution import Status
from ._common import balanced, fitted, gram, in_parts, right_solve, squared_error, until_level
from ._cp import CP, _balanced, normalize
from ._products import first_modes, large_product, mttkrp, squared_norm, transposed_khatri_rao

# One sweep


def sweep(x, factors, free, update):
    """Updates the free factors one after the other: ``update(mode, M, factors)`` gives all factors."""
    state = [list(factors)]

    def visit(partial, modes, whole):
        if len(modes) == 1:
            state[0] = list(update(modes[0], partial.T, state[0]))
            return
        # of two splits that are as good the later one: its longer product sums over leading axes
        half = len(modes) - _balanced([factors[k].shape[0] for k in modes[::-1]])
        left, right = modes[:half], modes[half:]
        if free.intersection(left):
            visit(_without_right(partial, [state[0][k] for k in right], whole), left, False)
        if free.intersection(right):
            visit(_without_left(partial, [state[0][k] for k in left], whole), right, False)

    visit(x, list(range(len(factors))), True)
    return state[0]


# Partial products have the rank as their first axis, and the tensor always stands as it lies in
# memory: XLA's products are fast for rows that follow each other, and slow for a large transpose,
# which it makes of a second argument whose last axes are summed over. Modes are not joined: over a
# mesh each may lie in parts, and to be joined they would have to be gathered.


def _without_right(partial, factors, whole: bool):
    if whole and (count := _enough(factors[::-1])) < len(factors):
        return _without_right(
            _without_right(partial, factors[-count:], True), factors[:-count], False
        )
    k = _products_of_columns(factors)
    if whole:
        return _tensor_times(partial, k)
    summed = tuple(range(partial.ndim - len(factors), partial.ndim)), tuple(range(1, k.ndim))
    return ops.dot_general(partial, k, contract=summed, batch=((0,), (0,)))


@custom_vmap
def _tensor_times(x, k):
    """Σ x[…, j, …] k[r, j, …], the rank first."""
    n = x.ndim - k.ndim + 1
    summed = tuple(range(n, x.ndim)), tuple(range(1, k.ndim))
    return xnp.moveaxis(large_product(x, k, summed), -1, 0)


@_tensor_times.def_vmap
def _tensor_times_lanes(size, batched, x, k):
    """One product for all batch elements: its result is too large to be transposed afterwards."""
    if batched == [True, False]:
        return vmap(_tensor_times.fun, (0, None))(x, k), True
    if batched == [True, True]:
        return vmap(_tensor_times.fun)(x, k), True
    lead, width = x.shape[: x.ndim - k.ndim + 2], math.prod(k.shape[2:])
    rows, columns = k.reshape(size * k.shape[1], width), x.reshape(math.prod(lead), width)
    out = large_product(rows, columns, ((1,), (1,)))
    return out.reshape(size, k.shape[1], *lead), True


def _without_left(partial, factors, whole: bool):
    if whole and (count := _enough(factors)) < len(factors):
        return _without_left(_without_left(partial, factors[:count], True), factors[count:], False)
    k = _products_of_columns(factors)
    first = 0 if whole else 1
    summed = tuple(range(1, k.ndim)), tuple(range(first, first + len(factors)))
    if whole:
        return large_product(k, partial, summed)
    return ops.dot_general(k, partial, contract=summed, batch=((0,), (0,)))


def _enough(factors) -> int:
    """Over how many modes the tensor itself is summed: what is left is then small beside it.

    More would make that product no cheaper, only longer, and its second side larger.
    """
    return first_modes([f.shape[0] for f in factors], 4 * factors[0].shape[1])


def _products_of_columns(factors):
    """The conjugate transposed Khatri-Rao product with an axis for each factor."""
    k = transposed_khatri_rao(factors).conj()
    return k.reshape(k.shape[0], *[f.shape[0] for f in factors])


# Rules of update


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


# The loop


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
        return factors

    factors = sweep(x, factors, frozenset(free), update)
    left = xnp.maximum(squared_error(square, factors, last, seen["m"]), 0)
    return balanced(factors, free) if scale else factors, duals, left, seen["slope"]


def _filled(x, mask, factors):
    """The known elements, and the model's where they are missing."""
    return x if mask is None else xnp.where(mask, x, CP(None, tuple(factors)).to_dense())


@sequential_vmap
def _error_of_known(x, mask, factors):
    """The squared distance. Batch elements one by one: the dense tensors of all of them at once fill the memory."""
    left = xnp.where(mask, x - CP(None, tuple(factors)).to_dense(), 0)
    return squared_norm(left)


def _error_of_start(x, mask, square, factors):
    if mask is not None:
        return _error_of_known(x, mask, factors)
    return xnp.maximum(squared_error(square, factors, 0, mttkrp(x, factors, 0)), 0)


@sequential_vmap
def _final_error(known, mask, factors, error, safe):
    """From the elements themselves where the loop's formula has lost too many digits by cancellation."""
    least = 0 if mask is not None else float(dtypes.finfo(error.dtype).eps) ** 0.25
    return cond(
        xnp.isfinite(error) & (error * error >= least),
        lambda: error,
        lambda: xnp.sqrt(
            _error_of_known(known, True if mask is None else mask, factors) / safe
        ).astype(error.dtype),
    )


def _fit(x, mask, factors, ridge, rtol, gtol, units, rules, free, proxes, max_steps, scale, extrapolate,
         progress, checkpoint=None):  # fmt: skip
    proxes = [units.prox(p, len(free)) for p in proxes]
    known = x if mask is None else xnp.where(mask, x, 0)
    total = squared_norm(known)
    safe = xnp.where(total > 0, total, 1)
    real = total.dtype
    duals = [
        xnp.zeros_like(f) if p is not None else None for f, p in zip(factors, proxes, strict=True)
    ]

    first = xnp.sqrt(_error_of_start(known, mask, total, factors) / safe).astype(real)

    def step(s):
        now = _filled(known, mask, s["start"])
        square = total if mask is None else squared_norm(now)
        factors, duals, left, slope = _one_sweep(
            now, square, s["start"], s["duals"], ridge, rules, free, proxes, scale
        )
        if mask is not None:
            left = _error_of_known(known, mask, factors)
        error = xnp.sqrt(left / safe).astype(real)
        worse = error > s["error"] if extrapolate else xnp.zeros((), bool)
        still = (xnp.abs(s["error"] - error) <= rtol) | (slope <= gtol * safe)
        # a sweep that goes no further than least squares can only be worse by rounding
        done = (still & ~worse) | (worse & (s["momentum"] <= 1e-3))
        status = xnp.where(done, Status.success, Status.max_steps)
        status = xnp.where(xnp.isfinite(error), status, Status.not_finite).astype(np.int32)
        start, momentum = _next_start(s, factors, worse, extrapolate, free)
        kept = [xnp.where(worse, a, b) for a, b in zip(s["factors"], factors, strict=True)]
        return {
            "factors": kept, "start": start, "duals": duals, "momentum": momentum, "status": status,
            "error": xnp.where(worse, s["error"], error),
        }  # fmt: skip

    out, *how = until_level(step, {
        "factors": list(factors), "start": list(factors), "duals": duals, "momentum": xnp.zeros((), real),
        "status": xnp.asarray(Status.max_steps, np.int32), "error": xnp.asarray(np.inf, real),
    }, max_steps, first, progress, checkpoint)  # fmt: skip
    value = CP(None, tuple(out["factors"]))
    error = _final_error(known, mask, value.factors, out["error"], safe)
    return fitted(normalize(value) if scale else value, error, out["status"], *how)


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


_STATIC = ("rules", "free", "proxes", "max_steps", "scale", "extrapolate", "progress")
fit_program = in_parts(_fit, _STATIC)
