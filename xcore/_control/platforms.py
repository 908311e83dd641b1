"""Operations that are another algorithm on another platform, chosen where a program is lowered.

``platform_dependent`` traces all of its branches; of these one alone is traced, and where it is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._core import Op, config, trace_closed
from .._ops.matrices import batch_in_front


def by_platform(
    name: str, types: Callable[..., Any], default: Callable[..., Any], **ways: Callable[..., Any]
) -> Op:
    """An operation on any number of batches of matrices, without derivatives.

    Args:
      name: of the operation.
      types: its type rule.
      default: a function of the arguments and params that returns the list of results.
      ways: other functions, by the names of platforms.
    """

    def lower(ctx, *values, **params):
        f = ways.get(ctx.platform, default)
        with config.override(disable_jit=False):
            p = trace_closed(lambda *xs: list(f(*xs, **params)), list(ctx.in_types), name)
        return list(ctx.call_program(p, values))

    op = Op(name, type=types, lower=lower, many=True)
    op._batch = batch_in_front(op)
    return op
