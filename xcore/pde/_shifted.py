"""Steps of implicit methods: the field u with u - τ op(u) = f, for any linear operator on a grid."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import Array, Value, dtypes, ensure_compile_time_eval, errors, tree, typeof
from .._solution import Status
from ._diffusion import Diffusion
from ._direct import solve_direct
from ._general import eval_dtype, homogeneous, set_up, simpler, values_known
from ._laplacian import Laplacian
from ._masked import Masked
from ._operators import Helmholtz
from ._solve import solve_shifted

SOLVED = np.int32(Status.success)
_MOST_KEPT = 8
_kept: OrderedDict[Any, Any] = OrderedDict()


def known_product(a, b):
    """a b, computed now where both are known, also while something is traced."""
    with ensure_compile_time_eval():
        return a * b


def of_laplacian(op) -> tuple | None:
    """(L, q, a) of an operator a (L + q) with numbers a and q; None for others."""
    if isinstance(op, Laplacian):
        return op, 0.0, 1.0
    if isinstance(op, Helmholtz):
        return (op.laplacian, op.q, 1.0) if op.constant else None
    known = simpler(op)
    return None if known is None else (known[0].laplacian, known[0].q, known[1])


def require_complex(who: str, op, u) -> None:
    """Raises where an operator takes real fields to complex ones, and the field is real."""
    real = not dtypes.is_complex(typeof(u).dtype)
    if real and dtypes.is_complex(eval_dtype(op)):
        advice = "Begin with u.astype(complex)."
        raise errors.bad_argument(who, "the state", typeof(u).dtype, "complex, as the operator is", advice)  # fmt: skip


def shifted_solve(op, right, tau) -> tuple:
    """(u, status): the field u with u - tau op(u) = right, for homogeneous conditions."""
    if isinstance(op, Diffusion | Masked):
        return solve_shifted(op, right, tau)
    known = of_laplacian(op)
    if known is not None:
        lap, q, a = known
        with ensure_compile_time_eval():
            scale = -tau * a
            shift = 1 + scale * q
        return solve_direct(lap, right, shift, scale).astype(typeof(right).dtype), SOLVED
    with ensure_compile_time_eval():
        shifted = -tau * op + 1.0
    kept = typeof(right).dtype
    dtype = xnp.promote_types(xnp.promote_types(kept, np.float32), eval_dtype(shifted))
    u, status = homogeneous("pde", shifted, right.astype(dtype), _made(op, shifted, tau, dtype))
    return u.astype(kept), status


def _made(op, shifted, tau, dtype):
    """What is read off the shifted operator, kept for the next step; None where values are not known yet."""
    if not values_known(shifted):
        return None
    leaves, structure = tree.flatten(op)
    if not all(type(x) is Array or not isinstance(x, Value) for x in leaves):
        return set_up(shifted, dtype)  # derivatives are taken: tracers are not kept
    try:
        key = structure, tuple(map(id, leaves)), complex(tau), str(dtype)
        hash(key)
    except TypeError:
        return set_up(shifted, dtype)
    if key not in _kept:
        _kept[key] = leaves, set_up(shifted, dtype)
        while len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
    return _kept[key][1]
