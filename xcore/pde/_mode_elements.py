"""Modes of any symmetric operator on a grid, from its elements and solutions with them."""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control.jit import jit
from .._control.loops import scan
from .._core import errors, tree
from .._solution import Status
from ..linalg import FunctionOperator, eigsh
from ._couplings import Couplings
from ._general import elements, eval_dtype, homogeneous, set_up
from ._portrait import portrait


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
    shift = float(_below(c, op.inside))
    wide = xnp.promote_types(dtype, eval_dtype(op + shift))
    made = set_up(op + shift, wide)
    return _found(op, made[0], shift, (made[1], k, dtype, wide, rtol, ncv, *kept))  # pyright: ignore


def _below(c: Couplings, inside) -> np.floating:
    """A number below the eigenvalues of -op, by about as much as they are apart."""
    rows = -c.centre - c.others
    rows = rows if inside is None else rows[np.asarray(inside)]
    largest = np.abs(c.centre).max(initial=0) or 1.0
    return rows.min(initial=np.inf) - largest / max(c.shape) ** 2


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

    n = int(np.prod(shape))
    a = FunctionOperator(product, op, (n, n), symmetric=True)
    inverted = FunctionOperator(back, (held, arrays, shift), (n, n), symmetric=True)
    irregular = np.sin(1.0 + np.arange(n) ** 2 % 1e6).reshape(shape)
    start = inside(xnp.asarray(irregular, dtype)).reshape(-1)
    found = eigsh(
        a, k, sigma=shift, inverse=inverted, x0=start, ncv=ncv, report=True, history=history, progress=progress
    )  # fmt: skip
    w, v = found.value
    rows, values = ops.stop_gradient(v).T, ops.stop_gradient(w) - shift
    _, turned = scan(lambda _, x: (None, inverted.mv(x)), None, rows)
    size = xnp.sqrt(xnp.sum((rows - values[:, None] * turned) ** 2, axis=1))
    status = xnp.where(size <= rtol, np.int32(Status.success), np.int32(Status.max_steps))
    modes = inside(v.T.reshape(k, *shape) / root)
    return w, modes, status.astype(np.int32), size, found.steps, found.history
