"""Modes of any symmetric operator on a grid, from its elements and solutions with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import jit, scan
from .._core import Array, dtypes, errors, tree
from .._solution import Status
from ..linalg import FunctionOperator, eigsh
from ..sparse._superlu import superlu
from ._couplings import Couplings
from ._factors import dissected
from ._general import elements, eval_dtype, homogeneous, set_up
from ._grid import size
from ._portrait import FACTORS_AT_MOST, portrait

_TRIES, _GROWN = 40, 1e8
_COUNTED_UP_TO = {1: 2**20, 2: 140_000, 3: 15_000}  # unknowns: several factors are made for a count


def modes_by_elements(who: str, op, k: int, dtype, rtol: float, ncv: int, kept: tuple) -> tuple:
    """(w, modes, status, error, steps, history) of -op, for any symmetric operator of known values.

    Solutions with op + s, where s is below all eigenvalues of -op (Gershgorin), make the smallest of these the largest
    of what Lanczos' method looks at.
    """
    c = elements(op)
    if c is None:
        advice = "Make the operator outside of jit and vmap; derivatives by its coefficients exist."
        raise errors.bad_argument(
            who, "op", type(op).__name__, "one whose elements can be read off", advice
        )
    p = portrait(c, np.asarray(op.weights), float(np.finfo(np.float64).eps))
    if not (p.symmetric and p.real):
        advice = "sparse.eigs(sparse.as_sparse(op)) is for others."
        raise errors.bad_argument(
            who, "op", p.words(), "real and symmetric, if need be when weighted by volumes", advice
        )
    count = _Count(c, np.asarray(op.weights), op.inside)
    shift, few = float(_below(c, op.inside)), size(c.shape) <= _COUNTED_UP_TO[len(c.shape)]
    wide = xnp.promote_types(dtype, eval_dtype(op + shift))

    near = 8 * float(dtypes.finfo(dtype).eps) ** 0.5

    def found(shift):
        made = set_up(op + shift, wide)
        return _found(op, made[0], shift, (made[1], k, dtype, wide, rtol, ncv, *kept))  # pyright: ignore

    answer = found(_raised(count, shift, k, near) if few else shift)
    if few or size(c.shape) > FACTORS_AT_MOST[len(c.shape)]:
        return _none_missing(count, answer) if few else answer
    known = type(answer[2]) is Array and np.any(np.asarray(answer[2]))
    return _none_missing(count, found(_raised(count, shift, k, near)) if known else answer)


def _below(c: Couplings, inside) -> np.floating:
    """A number below the eigenvalues of -op, by about as much as they are apart."""
    rows = -c.centre - c.others
    rows = rows if inside is None else rows[np.asarray(inside)]
    return rows.min(initial=np.inf) - _apart(c)


def _apart(c: Couplings) -> np.floating:
    """About how far the eigenvalues are apart, of a Laplace operator on as many nodes with such elements."""
    return (np.abs(c.centre).max(initial=0) or 1.0) / max(c.shape) ** 2


class _Count:
    """How many eigenvalues of -op are below a number: the negative pivots of -op less that number, weighted."""

    def __init__(self, c: Couplings, weights: np.ndarray, inside):
        held = np.ones(c.shape, bool) if inside is None else np.asarray(inside)
        self.c = c.map(lambda x: np.where(held, -weights * x, 0).real)
        self.weights, self.outside = np.where(held, weights, 0), np.where(held, 0.0, 1.0)
        self.apart = _apart(c)

    def __call__(self, below: float) -> int | None:
        """None where rounding of the pivots may have changed a sign."""
        from scipy import sparse

        middle = self.c.centre - below * self.weights + self.outside * np.abs(self.c.centre).max()
        moved = self.c._replace(elements=self.c.elements | {(0,) * len(self.c.shape): middle})
        values, rows, columns = moved.triples()
        order, n = dissected(moved.shape, max(1, moved.reach), moved.rings), size(moved.shape)
        place = np.empty(n, np.int64)
        place[order] = np.arange(n)
        a = sparse.coo_array((values, (place[rows], place[columns])), shape=(n, n)).tocsc()
        own: dict[str, Any] = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
        lu = superlu(a, permc_spec="NATURAL", **own)
        if lu is None:  # a pivot is 0
            return None
        pivots = lu.U.diagonal()
        sound = (
            np.array_equal(lu.perm_r, lu.perm_c)
            and np.abs(lu.U.data).max(initial=0) < _GROWN * np.abs(a.data).max()
        )
        return int(np.sum(pivots < 0)) if sound else None


def _raised(count: _Count, below: float, k: int, near: float) -> float:
    """A number below all eigenvalues, that is about as near to the least one as that is to the one behind the k-th.

    It is a little less than what was counted: a step may end on an eigenvalue but for rounding (on 0, from
    Gershgorin's bound on, where constants are in the kernel), where solutions are nothing but that one's mode.
    ``near``: a part of the shift, less than which is no distance in the precision of the modes."""
    low, least, last, step = below, np.inf, np.inf, float(count.apart)
    for _ in range(_TRIES):
        if last < np.inf and least - low <= max(last - least, count.apart / 8):
            break
        at = low + step if last == np.inf else (low + least) / 2
        found = count(at)
        if found is None:
            step *= 1.5
            if last < np.inf:
                break
        elif found == 0:
            low, step = at, 4 * step
        else:
            least, last = min(least, at), min(last, at) if found > k else last
            step = at - low if last < np.inf else 4 * (at - low)
    return low - max(float(count.apart) / 16, near * abs(low))


def _none_missing(count: _Count, answer: tuple) -> tuple:
    """The answer; without success where there are more eigenvalues below the last one than were found."""
    w, modes, status, error, steps, history = answer
    values = ops.stop_gradient(w)
    if type(values) is not Array or not np.all(np.isfinite(np.asarray(values))):
        return answer
    # copies of one eigenvalue are apart by rounding: those within twice that of the last one are not asked for
    near = float(dtypes.finfo(values.dtype).eps) ** 0.5
    values = np.asarray(values, np.float64)
    near *= max(float(count.apart), abs(values).max())
    below = count(values[-1] - 2 * near)
    if below is None or below <= np.sum(values < values[-1] - near):
        return answer
    return w, modes, xnp.full_like(status, np.int32(Status.stagnation)), error, steps, history


@jit(static_argnums=3)
def _found(op, arrays, shift, how: tuple):
    ready, k, dtype, wide, rtol, ncv, history, progress = how
    held, shape = tree.map(ops.stop_gradient, op), op.field_shape
    inside = (lambda x: x) if op.inside is None else (lambda x: xnp.where(op.inside, x, 0))
    volumes = held.volumes(dtype)
    root = xnp.sqrt(xnp.where(volumes > 0, volumes, 1))

    def product(op, x):
        x = inside(x.reshape(shape)) / root
        return -inside(root * op(x.astype(dtype))).reshape(-1).astype(dtype)

    def back(state, x):
        held, arrays, shift = state
        right = inside(x.reshape(shape) / root).astype(wide)
        u, _ = homogeneous("pde.eigenmodes", held + shift, right, (arrays, ready))
        return -inside(root * u).reshape(-1).astype(dtype)

    n = size(shape)
    a = FunctionOperator(product, op, (n, n), symmetric=True)
    inverted = FunctionOperator(back, (held, arrays, shift), (n, n), symmetric=True)
    irregular = np.sin(1.0 + np.arange(n) ** 2 % 1e6).reshape(shape)
    start = inside(xnp.asarray(irregular, dtype)).reshape(-1)
    found = eigsh(
        a, k, sigma=shift, inverse=inverted, x0=start, ncv=ncv, report=True, history=history, progress=progress
    )  # fmt: skip
    w, v = found.value
    rows = ops.stop_gradient(v).T
    turned: Any = scan(lambda _, x: (None, inverted.mv(x)), None, rows)[1]
    # the distance from the shift, of which w itself says little that is far from 0
    beyond = 1 / xnp.sum(rows * turned, axis=1)
    away = xnp.sqrt(xnp.sum((rows - beyond[:, None] * turned) ** 2, axis=1))
    w = w + ops.stop_gradient(shift - w + beyond).astype(w.dtype)
    status = xnp.where(away <= rtol, np.int32(Status.success), np.int32(Status.max_steps))
    modes = inside(v.T.reshape(k, *shape) / root)
    return w, modes, status.astype(np.int32), away, found.steps, found.history
