"""Draws as programs: one compiled program eagerly, one call under a transformation."""

from __future__ import annotations

import functools

from .._control import jit
from .._core import fused, is_evaluating


def staged(f):
    """A function of a list of arrays and of static, hashable values.

    Called on arrays it runs as one program, as every function of xcore.numpy does. Under a
    transformation it is a call of its program, which is traced once however often it is drawn from,
    and which an eager vmap runs whole instead of one operation at a time.
    """

    @functools.lru_cache(4096, typed=True)
    def prepared(count: int, *statics):
        def run(*arrays):
            return f(arrays, *statics)

        run.__name__ = run.__qualname__ = f.__name__.lstrip("_")
        return fused(count, chain=True)(run), jit(run)

    @functools.wraps(f)
    def call(arrays, *statics):
        eager, traced = prepared(len(arrays), *statics)
        return (eager if is_evaluating() else traced)(*arrays)

    return call
