"""``checkify``: functions whose failed checks are values."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from .._core import Program, boundary, config, findings, is_evaluating, trace_closed, tree
from .._core.eval import run_program, to_array
from .._core.source import wraps
from .._core.typing import P, R
from .._ops import zeros
from .call import call_program
from .checked import checker
from .checks import Error
from .jit import Jitted

user_checks = frozenset({"user"})
nan_checks = frozenset({"nan"})
div_checks = frozenset({"div"})
index_checks = frozenset({"index"})
float_checks = nan_checks | div_checks
automatic_checks = float_checks | index_checks
all_checks = automatic_checks | user_checks
empty_checks: frozenset = frozenset()


def _program_with_checks(p: Program, kinds) -> Program:
    """inputs -> (error, results)."""

    def make():
        threader = checker(p, kinds)

        def flat(*args):
            error, outs = threader.run(p, [zeros(t) for t in threader.types], args)
            return [*error, *outs]

        return trace_closed(flat, p.in_types, p.name)

    return p.memo(("with error", kinds), make)


def _as_values():
    """Failed checks in the block become values, so the setting sanitize does not report them."""
    return findings.allow() if config.settings().sanitize else contextlib.nullcontext()


@contextlib.contextmanager
def _looking_for(kinds):
    token = findings.checkified.set(findings.checkified.get() | kinds)
    try:
        yield
    finally:
        findings.checkified.reset(token)


def checkify(
    f: Callable[P, R], errors: frozenset[Any] = user_checks
) -> Callable[P, tuple[Error, R]]:
    """A function that returns ``(error, f(...))``: failed checks become a value.

    Works through jit, vmap, grad and all control flow, and may itself be transformed by them.

    Args:
      f: function of pytrees of arrays.
      errors: what is checked, combined with ``|``: ``user_checks`` (calls of ``check``),
        ``nan_checks``, ``div_checks`` (division by zero), ``index_checks`` (positions outside of an
        array); ``float_checks``, ``automatic_checks`` and ``all_checks`` are several of these.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> def f(x, i):
    ...     y = xnp.log(x)
    ...     return y[i]
    >>> checked = xc.jit(xc.checkify.checkify(f, xc.checkify.all_checks))
    >>> err, y = checked(xnp.asarray([1.0, 2.0]), 1)
    >>> err.get()
    >>> checked(xnp.asarray([1.0, -2.0]), 5)[0].get()
    'the operation log produced a NaN (...)'
    >>> checked(xnp.asarray([1.0, 2.0]), 5)[0].get()
    'index 5 is out of bounds for axis 0 of an array of shape (2,) (...)'
    """
    kinds = frozenset(errors)
    if not kinds <= all_checks:
        raise ValueError(
            f"xcore.checkify: errors must be made of {sorted(all_checks)}, given {sorted(kinds)}."
        )

    @wraps(f)
    @boundary
    def checked(*args, **kwargs):
        with _as_values(), _looking_for(kinds - user_checks):
            found, values = Jitted(f, None, None, None, None, False).find(args, kwargs)
        program = _program_with_checks(found.program, kinds)
        values = [*found.captured, *values]
        if is_evaluating():
            outs = run_program(program, list(map(to_array, values)))
        else:
            outs = call_program(program, values)
        n = len(outs) - found.out_tree.num_leaves
        return Error(outs[0], outs[1:n]), tree.unflatten(found.out_tree, outs[n:])

    return checked
