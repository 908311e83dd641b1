"""The two passes of reverse mode as two compiled functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._core import errors
from .._transforms.api import Split, vjp
from .jit import jit


def fwd_and_bwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool = False,
    jitted: bool = True,
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Functions for the forward and the backward pass of ``fun``, each compiled once.

    ``y, kept = fwd(*args)``; ``bwd(kept, c)`` is ``cᵀ f'(x)``, as the function from ``vjp`` gives it.
    That function is new after every call of ``vjp``; ``bwd`` is the same for all of them.

    Args:
      fun: function to differentiate.
      argnums: the argument, or tuple of arguments, to differentiate with respect to; of several the
        result of ``bwd`` is a tuple.
      has_aux: ``fun`` returns (value, aux), and ``fwd`` (value, kept, aux).
      jitted: whether both are compiled, or left to a surrounding ``jit``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> fwd, bwd = xc.fwd_and_bwd(lambda a, x: a @ x, argnums=(0, 1))
    >>> y, kept = fwd(xnp.ones(2), xnp.arange(2.0))
    >>> bwd(kept, 2.0)
    (Array([0., 2.], dtype=float32), Array([2., 2.], dtype=float32))
    """

    errors.check_function("fwd_and_bwd", fun)

    def fwd(*args, **kwargs):
        split = Split(fun, argnums, args, kwargs)
        return vjp(split, *split.chosen(), has_aux=has_aux)

    def bwd(kept, cotangent):
        found = kept(cotangent)
        return found[0] if isinstance(argnums, int) else found

    return (jit(fwd), jit(bwd)) if jitted else (fwd, bwd)
