"""Eigenmodes of the operators of second order."""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control.jit import jit
from .._core import dtypes, errors, tree
from .._core.array import Array
from .._core.types import typeof
from .._iterate import Solution
from .._transforms.map import vmap
from ..linalg import FunctionOperator, eigsh, lobpcg
from ._diffusion import Diffusion
from ._direct import solve_direct
from ._grid import real_dtype, size
from ._laplacian import Laplacian
from ._masked import Masked
from ._multigrid import cycle, hierarchy
from ._solve import smoother_for


def eigenmodes(op, k: int = 6, *, rtol: float | None = None, dtype=None):
    """(w, modes): the k smallest eigenvalues of -op, rising, and their fields (k, ...).

    Modes are orthonormal in the inner product of the grid. Of a ``Laplacian`` by Lanczos' method on
    the direct inverse; else by LOBPCG, preconditioned by multigrid cycles.

    Args:
      op: a ``Laplacian`` of order 2, a ``Diffusion``, or a ``Masked`` with edge "symmetric" or
        "staircase".
      k: how many.
      rtol: goal for the residuals |op(u) + w u|, relative to the largest w, where LOBPCG works; the
        root of the dtype's precision by default.
      dtype: of the modes; the default one.

    >>> from xcore.pde import Grid
    >>> w, modes = eigenmodes(Laplacian(Grid((16, 16))), 2)
    >>> [round(float(x)) for x in w], modes.shape
    ([20, 49], (2, 15, 15))
    """
    who = "pde.eigenmodes"
    if not isinstance(op, (Laplacian, Diffusion, Masked)) or op.order != 2:
        raise errors.bad_argument(who, "op", op, "a Laplacian of order 2, a Diffusion or a Masked")
    if isinstance(op, Masked) and op.edge == "shortley-weller":
        raise errors.bad_argument(who, "op.edge", op.edge, '"symmetric", also of order 2')
    n = size(op.field_shape)
    if isinstance(op, Masked) and type(op.inside) is Array:
        n = int(np.sum(np.asarray(op.inside)))
    if not 0 < k <= n // 3:
        raise errors.bad_argument(who, "k", k, f"from 1 to a third of the {n} unknowns")
    dtype = real_dtype(dtype)
    if isinstance(op, Laplacian):
        return _eigenmodes(op, k, dtype)
    rtol = float(dtypes.finfo(dtype).eps) ** 0.5 if rtol is None else float(rtol)
    w, modes, status, stats = _modes_by_cycles(op, k, dtype, smoother_for(op), rtol)
    Solution(w, status, stats).check(who)
    return w, modes


def _scaled(op, dtype):
    """W^½ and -W^½ op W^-½, which is symmetric."""
    root, n = np.sqrt(op.weights).astype(dtype), size(op.field_shape)

    def product(op, x):
        return -(root * op(x.reshape(op.field_shape) / root)).reshape(-1)

    return root, FunctionOperator(product, op, (n, n), symmetric=True)


@jit(static_argnums=(1, 2, 3, 4))
def _modes_by_cycles(op, k: int, dtype, smoother: str, rtol: float):
    root, a = _scaled(op, dtype)
    near = tree.map(ops.stop_gradient, op)
    if op.singular:  # constants are no longer in the kernel
        near = near.replace(c=_small(op))
    level = hierarchy(near)

    def precondition(x):
        fields = x.T.reshape(-1, *op.field_shape) * root
        y = vmap(lambda r: cycle(level, r, "V", smoother, 3))(fields.astype(near.dtype))
        return (y * root).reshape(typeof(x).shape[1], -1).T.astype(typeof(x).dtype)

    start = _irregular(a.shape[0], k, dtype)
    if isinstance(op, Masked):
        start = xnp.where(op.inside.reshape(-1, 1), start, 0)
    found = lobpcg(a, k, start=start, preconditioner=precondition, rtol=rtol, report=True)
    w, v = found.value
    return w, v.T.reshape(k, *op.field_shape) / root, found.status, found.stats


def _small(op) -> float:
    """A shift less than the eigenvalues that matter."""
    return 1 / max(u - x for u, x in zip(op.grid.upper, op.grid.lower, strict=True)) ** 2


@jit(static_argnums=(1, 2))
def _eigenmodes(op, k: int, dtype):
    root, a = _scaled(op, dtype)
    w, v = _by_inverse(tree.map(ops.stop_gradient, op), a, k, root)
    return w, v.T.reshape(k, *op.field_shape) / root


def _irregular(n: int, k: int, dtype):
    """Fixed numbers without order."""
    return xnp.asarray(np.sin(1.0 + np.arange(n * k) ** 2 % 1e6).reshape(n, k).astype(dtype))


def _by_inverse(op, a, k: int, root):
    shift = _small(op)  # so that pure Neumann problems have an inverse too

    def inverse(op, x):
        x = solve_direct(op, x.reshape(op.field_shape) / root, shift, -1.0)
        return (root * x).reshape(-1)

    n = a.shape[0]
    back = FunctionOperator(inverse, op, a.shape, symmetric=True)
    start = _irregular(n, 1, root.dtype)[:, 0]
    return eigsh(a, k, sigma=-shift, inverse=back, start=start, steps=min(n, max(3 * k, 24)))
