"""The step of conjugate gradients, for all methods that take one."""

from __future__ import annotations

from .. import numpy as xnp
from ..numpy._select import safe_divide
from ._range import inner


def cg_begin(x, r, flexible: bool = False) -> dict:
    """The state at x, where b - a x is r: there was no direction yet."""
    zero = xnp.zeros_like(r)
    state = {"x": x, "r": r, "p": zero, "rz": xnp.sum(zero)}
    return state | ({"old": zero} if flexible else {})


def cg_step(s, mv, precondition, *, inner=inner, flexible: bool = False, known=None) -> tuple:
    """(the state after a step, the curvature along its direction, which is the new ``p``).

    ``known``: rᴴz and β, where the step before has made them.

    The direction is z + β p with z = m r and β = rᴴz / (rᴴz of before). ``flexible``: β = (r - r of
    before)ᴴz / (…), which tolerates an m that is not quite symmetric. (Hestenes and
    Stiefel 1952; Polak and Ribière 1969; Notay 2000, "Flexible conjugate gradients")
    """
    r = s["r"]
    z = precondition(r)
    if known is None:
        rz = inner(r, z)
        change = inner(r - s["old"], z) if flexible else rz
        known = rz, safe_divide(change, s["rz"])
    rz, beta = known
    p = z + beta * s["p"]
    q = mv(p)
    curvature = inner(p, q)
    alpha = safe_divide(rz, curvature)
    new = {"x": s["x"] + alpha * p, "r": r - alpha * q, "p": p, "rz": rz}
    return new | ({"old": r} if flexible else {}), curvature
