"""Constraints: as functions, or in SciPy's forms, dicts and objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import Tracer, dtypes, errors, static, struct, tree, typeof
from ._given import with_jacobian
from ._problem import as_tuple


@struct
class Constraints:
    """Equations ``eq(x) = 0`` and inequalities ``ineq(x) >= 0``; each function returns a tree of arrays.

    >>> import xcore.optimize as xo
    >>> disk = xo.Constraints(ineq=lambda x: 1 - x[0] ** 2 - x[1] ** 2)
    """

    eq: Any = static(default=None)
    ineq: Any = static(default=None)


FORMS = (
    "Constraints(eq=..., ineq=...); or, one or a list of them, dicts {'type': 'eq' or 'ineq', 'fun': f} "
    "with perhaps jac and args, or objects with lb, ub and fun or A"
)


def constraints_of(who: str, flat, given) -> Constraints:
    """One ``Constraints`` of what is given."""
    if given is None:
        return Constraints()
    if isinstance(given, Constraints):
        return given
    if isinstance(given, dict) and given.keys() <= {"eq", "ineq"}:
        return Constraints(**given)
    several = given if isinstance(given, (list, tuple)) else [given]
    return all_of([_one(who, flat, c) for c in several])


def any_given(constraints) -> bool:
    """Whether there are any: SciPy's default is an empty tuple."""
    return constraints is not None and not (
        isinstance(constraints, (tuple, list)) and not constraints
    )


def all_of(parts) -> Constraints:
    def together(functions):
        functions = [f for f in functions if f is not None]
        return (lambda x: [f(x) for f in functions]) if functions else None

    return Constraints(together([p.eq for p in parts]), together([p.ineq for p in parts]))


def _one(who, flat, given) -> Constraints:
    if isinstance(given, Constraints):
        return given
    if isinstance(given, dict):
        return _of_dict(who, flat, given)
    if not (hasattr(given, "lb") and hasattr(given, "ub")):
        raise errors.bad_argument(who, "constraints", given, FORMS)
    if np.any(getattr(given, "keep_feasible", False)):
        raise ValueError(
            f"xcore.{who}: no method keeps constraints between its steps; leave keep_feasible out."
        )
    if hasattr(given, "A"):
        a = given.A.toarray() if hasattr(given.A, "toarray") else given.A
        return _between(who, lambda x: xnp.atleast_2d(a) @ flat.join(x), given)
    if callable(getattr(given, "fun", None)):
        jac = getattr(given, "jac", None)
        return _between(who, _vector(who, flat, given.fun, (), jac), given)
    raise errors.bad_argument(who, "constraints", given, FORMS)


def _of_dict(who, flat, given) -> Constraints:
    known = given.keys() <= {"type", "fun", "jac", "args"} and callable(given.get("fun"))
    kind = str(given.get("type")).lower()
    if not known or kind not in ("eq", "ineq"):
        raise errors.bad_argument(who, "constraints", given, FORMS)
    args = as_tuple(given.get("args", ()))
    return Constraints(**{kind: _vector(who, flat, given["fun"], args, given.get("jac"))})


def joined(who: str, found):
    """What a constraint returned, as one vector."""
    if found is None:
        raise TypeError(f"xcore.{who}: a constraint must return numbers, but one returned None.")
    parts = [xnp.asarray(p).reshape(-1) for p in tree.leaves(found)]
    if not parts:
        return xnp.zeros(0)
    for p in parts:
        if p.dtype == bool or dtypes.is_complex(p.dtype):
            raise errors.DTypeError(
                f"xcore.{who}: a constraint must return real numbers, which shall be 0 or >= 0, as "
                f"x[0] - 1 for x[0] >= 1; but one returned {typeof(p)}."
            )
    return xnp.concatenate(parts)


def _vector(who, flat, fun, args, jac):
    """``fun`` as a vector; names of difference schemes, in the place of jac, are not needed."""

    def value(v):
        return joined(who, fun(flat.split(v), *args)).astype(v.dtype)

    if not callable(jac):
        return lambda x: value(flat.join(x))
    whole = with_jacobian(who, value, jac, flat, args)
    return lambda x: whole(flat.join(x))


def _between(who, value, given) -> Constraints:
    """lb <= value <= ub: an equation where both are one number, else inequalities where they are finite."""
    if any(isinstance(side, Tracer) for side in (given.lb, given.ub)):
        raise ValueError(
            f"xcore.{who}: lb and ub of a constraint must be known before the function is compiled, for "
            "they say which are equations; write Constraints(eq=..., ineq=...) instead."
        )

    def sides(v):
        low, high = (np.broadcast_to(np.asarray(s), typeof(v).shape) for s in (given.lb, given.ub))
        return low, high, low == high

    def eq(x):
        v = value(x)
        low, _, same = sides(v)
        return (v - low.astype(v.dtype))[same]

    def ineq(x):
        v = value(x)
        low, high, same = sides(v)
        below, above = ~same & (low > -np.inf), ~same & (high < np.inf)
        low, high = low.astype(v.dtype), high.astype(v.dtype)
        return [v[below] - low[below], high[above] - v[above]]

    return Constraints(eq, ineq)
