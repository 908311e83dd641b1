"""Names for parts of programs, shown in profiles and HLO."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from .._core.errors import describe
from .._core.source import borrowed
from .._core.typing import P, R


class named_scope(contextlib.ContextDecorator):
    """``with named_scope("layer"):`` names the operations of the block in profiles and HLO.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> def f(x):
    ...     with xc.named_scope("normalise"):
    ...         return x / x.sum()
    >>> "normalise" in xc.jit(f).lower(xnp.ones(3)).as_text(debug_info=True)
    True
    """

    def __init__(self, name: str):
        if not isinstance(name, str):
            raise TypeError(f"xcore.named_scope: name must be a string, given {describe(name)}.")
        self.name, self.outside = name, []

    def __enter__(self):
        self.outside.append(borrowed.scope)
        borrowed.scope = f"{borrowed.scope}/{self.name}" if borrowed.scope else self.name
        return self

    def __exit__(self, *exc):
        borrowed.scope = self.outside.pop()


def named_call(fun: Callable[P, R], *, name: str | None = None) -> Callable[P, R]:
    """A function whose operations are named after it in profiles and HLO.

    Args:
      fun: function.
      name: by default that of the function.

    >>> import xcore as xc
    >>> f = xc.named_call(lambda x: x * 2, name="doubled")
    >>> "doubled" in xc.jit(f).lower(1.0).as_text(debug_info=True)
    True
    """
    return named_scope(name or getattr(fun, "__name__", "function"))(fun)
