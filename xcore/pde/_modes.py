"""Eigenmodes of a Laplace operator."""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control.jit import jit
from .._core import errors, tree
from ..linalg import FunctionOperator, eigsh
from ._direct import solve_direct
from ._grid import real_dtype, size
from ._laplacian import Laplacian


def eigenmodes(op, k: int = 6, *, dtype=None):
    """(w, modes): the k smallest eigenvalues of -op, rising, and their fields (k, ...).

    Modes are orthonormal in the inner product of the grid. By Lanczos' method on the direct inverse.

    Args:
      op: a ``Laplacian`` of order 2.
      k: how many.
      dtype: of the modes; the default one.

    >>> from xcore.pde import Grid
    >>> w, modes = eigenmodes(Laplacian(Grid((16, 16))), 2)
    >>> [round(float(x)) for x in w], modes.shape
    ([20, 49], (2, 15, 15))
    """
    who = "pde.eigenmodes"
    if not isinstance(op, Laplacian) or op.order != 2:
        raise errors.bad_argument(who, "op", op, "a Laplacian of order 2")
    n = size(op.field_shape)
    if not 0 < k <= n // 3:
        raise errors.bad_argument(who, "k", k, f"from 1 to a third of the {n} unknowns")
    return _eigenmodes(op, k, real_dtype(dtype))


@jit(static_argnums=(1, 2))
def _eigenmodes(op, k: int, dtype):
    root = np.sqrt(op.weights).astype(dtype)
    shape = (size(op.field_shape),) * 2

    def product(op, x):  # symmetric: -W^½ op W^-½
        x = x.reshape(op.field_shape) / root
        return -(root * op(x)).reshape(-1)

    a = FunctionOperator(product, op, shape, symmetric=True)
    w, v = _by_inverse(tree.map(ops.stop_gradient, op), a, k, root)
    return w, v.T.reshape(k, *op.field_shape) / root


def _irregular(n: int, k: int, dtype):
    """Fixed numbers without order."""
    return xnp.asarray(np.sin(1.0 + np.arange(n * k) ** 2 % 1e6).reshape(n, k).astype(dtype))


def _by_inverse(op, a, k: int, root):
    extent = max(u - x for u, x in zip(op.grid.upper, op.grid.lower, strict=True))
    shift = 1 / extent**2  # so that pure Neumann problems have an inverse too

    def inverse(op, x):
        x = solve_direct(op, x.reshape(op.field_shape) / root, shift, -1.0)
        return (root * x).reshape(-1)

    n = a.shape[0]
    back = FunctionOperator(inverse, op, a.shape, symmetric=True)
    start = _irregular(n, 1, root.dtype)[:, 0]
    return eigsh(a, k, sigma=-shift, inverse=back, start=start, steps=min(n, max(3 * k, 24)))
