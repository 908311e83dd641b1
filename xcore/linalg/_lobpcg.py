"""LOBPCG: a few eigenvalues at an end of the spectrum, by blocks of vectors and a preconditioner."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from .. import _ops as ops
from .. import numpy as xnp
from .._control.levels import OF_MANY_OPERATIONS
from .._control.once import as_one_program
from .._core import Array, ArrayLike, dtypes, errors, static, struct, typeof
from .._core.settings import one_of
from .._iterate import checkpoints, iterate
from .._ops import solve_with
from .._solution import Solution
from ..random import key, normal
from ._arguments import hermitian_part
from ._eigen import (
    _above_zero,
    _answer,
    _check_count,
    _check_symmetric,
    _constant,
    _dtype_of,
    _handed_out,
    _irregular,
    _letters,
    _missed,
    _square,
    _unit_of,
    in_mass,
    own_lengths,
    precondition_by,
    rayleigh_in,
    status_of_pairs,
    weight,
)  # fmt: skip
from ._eigenpairs import with_derivatives
from ._mass import dual_lengths, rounded, weighted
from ._operators import InUnits, LinearOperator, as_operator, is_function
from ._restarted import fresh
from ._truth import of_pairs


@struct
class _Blocks:
    """What ``iterate`` drives: a block of vectors x, with a x, the last step p, and residuals.

    The k vectors wanted stand in front; those behind guard them: were the block to start on
    eigenvectors, nothing else would ever come in. It ends when they are settled to stand behind.
    """

    a: Any
    mass: Any
    precondition: Any
    k: int = static()
    target: float = static()
    sign: float = static()

    def done(self, state):
        k, tol = self.k, self.target * state["scale"]
        gaps = self.sign * (state["w"][k:] - state["w"][k - 1])
        limits = xnp.concatenate([xnp.full(k, tol), xnp.maximum(tol, 0.1 * gaps)])
        return state["size"] <= limits

    def step(self, state):
        x, k = state["x"], typeof(state["x"]).shape[1]
        active = ~self.done(state)  # finished columns stand still
        r = xnp.where(active, self.precondition(state["r"]), 0)
        basis, _ = xnp.linalg.qr(xnp.concatenate([x, r, state["p"]], axis=1))
        image = self.a.matmat(basis)
        found, s = _small_pairs(basis, image, self.mass, self.sign)
        s = s[:, :k]
        scale = xnp.maximum(state["scale"], xnp.max(xnp.abs(found)))
        return self.residuals(basis @ s, image @ s, basis[:, k:] @ s[k:], scale)

    def residuals(self, x, image, p, scale):
        """The state; ``scale`` is the largest that the operator is known to be, not only on these vectors."""
        w = xnp.real(xnp.sum(xnp.conj(x) * image, axis=0))
        r = image - weighted(x, self.mass) * w.astype(typeof(x).dtype)
        scale = xnp.maximum(scale, xnp.max(dual_lengths(image, self.mass)))
        return {"x": x, "p": p, "r": r, "w": w, "size": dual_lengths(r, self.mass), "scale": scale}


def _small_pairs(basis, image, mass, sign: float):
    """(values, coefficients), the best in front, of what an operator is on a basis; orthonormal by the mass."""
    small = hermitian_part(xnp.conj(basis).T @ image) * sign
    if mass is None:
        return xnp.linalg.eigh(small)
    root = xnp.linalg.cholesky(hermitian_part(xnp.conj(basis).T @ mass.matmat(basis)))
    half = solve_with(root, small, True)
    inside = solve_with(root, xnp.conj(half).T, True)
    found, s = xnp.linalg.eigh(hermitian_part(inside))
    return found, solve_with(root, s, True, transpose="C")


def _guarded(start, k: int):
    """The start with a random column more, or where there is no room for it, moved a little."""
    n, given = typeof(start).shape
    if given > k:
        return start
    if 3 * (k + 1) <= n:
        return xnp.concatenate([start, fresh(start.T, 1)[:, None]], axis=1)
    moves = normal(key(5), (n, k), dtypes.float32).astype(typeof(start).dtype)
    return xnp.linalg.qr(start)[0] + moves * (0.1 / n**0.5)


def lobpcg(
    a: ArrayLike | LinearOperator, k: int = 1, *, B: ArrayLike | LinearOperator | None = None,
    which: str = "smallest", x0: ArrayLike | None = None, preconditioner: ArrayLike | LinearOperator | None = None,
    rtol: float | None = None, max_steps: int = 200, report: bool = False, history: bool = False,
    progress: str | bool = False, checkpoint: str | Path | None = None,
) -> tuple[Array, Array] | Solution:  # fmt: skip
    """(w, v): k eigenvalues, ascending, of a symmetric operator and their vectors, by LOBPCG.

        a v = w v, or with B  a v = w B v

    Every step looks for the best vectors in the space of the current ones, their preconditioned
    residuals and the last change. (Knyazev 2001, "Toward the optimal preconditioned eigensolver")
    Derivatives, of any order, need the eigenvalues found to be distinct from all others.

    Args:
      a: symmetric operator or matrix (n, n), n >= 3 k.
      k: how many.
      B: matrix, dense or sparse, or operator, Hermitian and positive definite; all is as with the ``M`` of ``eigsh``.
      which: "smallest" or "largest"; SciPy's "SA" and "LA" are the same.
      x0: vectors (n, k) to start from; fixed irregular ones by default. A random one is added to them, since on
        eigenvectors the method would stay, whichever they are; where n < 3 k + 3 they are moved by a
        tenth instead. More than k columns, if given, take its place.
      preconditioner: operator or function of columns that is about the inverse of a; of B by default.
      rtol: tolerance for the residuals, relative to the norm of a; √precision by default.
      max_steps: at most this many steps.
      report: return a ``Solution`` instead of raising SolverError if the tolerance was not reached. Its
        certificate are the number of steps and, for each pair, its residual, computed anew, and bounds of
        the errors of w and of the sine of the angle of v, as of ``eigsh``.
      history: with ``report``, keep the residuals of the k vectors wanted, the best in front: row 0 those of the
        start, row j after step j.
      progress: show the number of steps and their rate; a text is the label.
      checkpoint: a folder, in which the state is kept about every ten seconds; a call with the same folder goes
        on from there. Not inside of ``jit``, ``grad`` and ``vmap``. A folder of another problem is refused.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> w, v = xc.linalg.lobpcg(xnp.diag(xnp.arange(1.0, 21.0)), 2)
    >>> [round(float(x), 3) for x in w]
    [1.0, 2.0]
    """
    who = "linalg.lobpcg"
    one_of(who, "which", which, ("largest", "smallest", "LA", "SA"))
    a = _square(who, a)
    n, dtype = a.shape[0], _dtype_of(a)
    _check_count(who, k, n // 3, "a third of the size, ")
    start = _irregular((n, k), dtype) if x0 is None else xnp.asarray(x0)
    if start.ndim != 2 or start.shape[0] != n or not k <= start.shape[1] <= n // 3:
        raise errors.shape_mismatch(who, f"need x0 of shape ({n}, {k})", x0=start)
    _check_symmetric(who, a)
    rtol = float(dtypes.finfo(dtypes.to_real(dtype)).eps) ** 0.5 if rtol is None else rtol
    start = ops.stop_gradient(start).astype(dtype)
    sign = 1.0 if which in ("smallest", "SA") else -1.0

    of_mass = None if B is None else weight(who, B, n)

    def run(a, start, of_mass):
        def probed(v):
            return a.mv(v), _letters(which), *(() if B is None else (of_mass.mv(v),))

        kept = checkpoints(who, checkpoint, probed, start[:, 0])
        return _by_lobpcg(
            a, start, of_mass, k, rtol, max_steps, sign, preconditioner, history, progress=progress,
            checkpoint=kept,
        )  # fmt: skip

    solve = (
        run if checkpoint else functools.partial(as_one_program, run, options=OF_MANY_OPERATIONS)
    )
    return _answer(who, report, *solve(a, start, of_mass))


def _by_lobpcg(
    a, start, of_mass, k: int, rtol, max_steps: int, sign, preconditioner, history, **how
) -> tuple:
    """((w, v), status, certificate, steps, history) of k pairs, from k columns or more."""
    held, mass = _constant(a), in_mass(of_mass, start[:, 0])
    of_a = _unit_of(held, start[:, 0])
    unit, held = of_a if mass is None else of_a / mass.unit, InUnits(held, of_a)
    precondition = mass.solve if preconditioner is None and mass else _by_columns(preconditioner)
    blocks = _Blocks(held, mass, precondition, k, rtol, sign)
    x, _ = xnp.linalg.qr(_guarded(start, k))
    image = held.matmat(x)
    _, s = _small_pairs(x, image, mass, sign)
    state = blocks.residuals(x @ s, image @ s, xnp.zeros_like(x), xnp.zeros_like(unit))
    row = (lambda s: s["size"][:k] * unit) if history else None
    state, steps, rows = iterate(blocks, state, max_steps, row=row, **how)
    reached = xnp.all(blocks.done(state)[k:])
    order = xnp.argsort(state["w"][:k])
    w, v, image, weighted = rayleigh_in(held, state["x"][:, order], mass)
    told, vanished = _handed_out(w, unit)
    left = dual_lengths(image - weighted * w.astype(typeof(v).dtype), mass)
    left = left + _missed(held, unit) + vanished
    size, done = state["scale"], reached & blocks.done(state)[order]
    status = status_of_pairs(w, left, rtol * size, reached & (done | (left <= rtol * size)), mass)
    w, others = told, state["w"][k:] * unit
    certificate = of_pairs(
        w,
        _above_zero(left, unit),
        _above_zero(size, unit),
        a.shape[0],
        others,
        rounding=rounded(v, size, mass) * unit,
    )
    found = with_derivatives(
        a, w, own_lengths(v, mass), _of_vectors(preconditioner) or precondition_by(mass), of_mass
    )
    return found, status, certificate, steps, rows


def _by_columns(m):
    if m is None:
        return _same
    return m if is_function(m) else as_operator(m).matmat


def _of_vectors(m):
    """A preconditioner for columns as one for vectors."""
    return None if m is None else lambda x: _by_columns(m)(x[:, None])[:, 0]  # pyright: ignore[reportIndexIssue]


def _same(x):
    return x
