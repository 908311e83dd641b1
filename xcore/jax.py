"""Functions across the border to JAX, in one process: each library's as one of the other's, with derivatives.

JAX is imported by who uses this, before; nothing of xcore needs it. Values cross the border as NumPy
arrays on the host, so a call costs some tens of microseconds and, on accelerators, two copies.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from . import eval_shape, jit, tree
from . import numpy as xnp
from ._border import HERE, Side, brought_in, described, inexact, pulled
from ._core import PyTree

__all__ = ["as_jax_function", "from_jax", "from_jax_function", "to_jax"]


def _jax() -> Any:
    found = sys.modules.get("jax")
    if found is None or hasattr(found, "xcore"):  # as_jax stands in its place
        raise RuntimeError(
            "xcore.jax: the real jax has not been imported in this process. Write `import jax` before."
        )
    return found


def to_jax(values: PyTree) -> PyTree:
    """A pytree of arrays as JAX's, without a copy where both are on one device.

    Args:
      values: pytree of arrays of xcore.

    >>> xcore.jax.to_jax(xnp.ones(2))  # doctest: +SKIP
    """
    jax = _jax()
    return tree.map(lambda x: jax.dlpack.from_dlpack(xnp.asarray(x)), values)


def from_jax(values: PyTree) -> PyTree:
    """A pytree of JAX's arrays as xcore's, without a copy where both are on one device.

    Args:
      values: pytree of arrays of jax.

    >>> xcore.jax.from_jax(jax.numpy.ones(2))  # doctest: +SKIP
    """
    return _jax().tree.map(xnp.from_dlpack, values)


def _remembered(describe: Callable[..., Any]) -> Callable[..., Any]:
    """Descriptions of results, kept by those of the arguments."""
    known: dict[Any, Any] = {}

    def of(*args: Any) -> Any:
        leaves, structure = tree.flatten(args)
        key = structure, tuple([(t.shape, t.dtype) for t in leaves])
        if key not in known:
            known[key] = describe(*args)
        return known[key]

    return of


def as_jax_function(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function of xcore as one of JAX, for ``jax.jit``, ``jax.grad`` (reverse mode) and ``jax.vmap`` (one by one).

    JAX narrows 64-bit values unless its setting jax_enable_x64 is on.

    Args:
      fun: function of pytrees of arrays.

    >>> solve = xcore.jax.as_jax_function(lambda a, b: xc.linalg.solve(a, b))  # doctest: +SKIP
    >>> jax.grad(lambda b: solve(a, b).sum())(b)  # doctest: +SKIP
    """
    jax, forward = _jax(), jit(fun)
    # one function for all calls: JAX compiles a callback anew for each function that it meets
    host = lambda *a: tree.map(np.asarray, forward(*jax.tree.map(np.asarray, a)))  # noqa: E731
    behind = functools.cache(lambda: as_jax_function(pulled(HERE, fun)))

    shapes = _remembered(lambda *args: eval_shape(fun, *args))

    @jax.custom_vjp
    def call(*args: Any) -> Any:
        out = shapes(*jax.tree.map(described, args))
        promised = jax.tree.map(lambda t: jax.ShapeDtypeStruct(t.shape, t.dtype), out)
        return jax.pure_callback(host, promised, *args, vmap_method="sequential")

    def back(args: Any, cotangent: Any) -> Any:
        leaves, structure = jax.tree.flatten(args)
        found = iter(behind()(args, [c for c in jax.tree.leaves(cotangent) if inexact(c)]))
        none = jax.dtypes.float0
        return structure.unflatten(
            [next(found) if inexact(x) else np.zeros(x.shape, none) for x in leaves]
        )

    call.defvjp(lambda *args: (call(*args), args), back)

    @functools.wraps(fun)
    def called(*args: Any) -> Any:
        given = jax.tree.map(jax.numpy.asarray, args)
        if any(isinstance(x, jax.core.Tracer) for x in jax.tree.leaves(given)):
            return call(*given)
        return jax.tree.map(jax.numpy.asarray, host(*given))

    return called


def from_jax_function(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function of JAX as one of xcore, for ``jit``, ``grad`` (reverse mode) and ``vmap`` (one by one).

    Args:
      fun: function of pytrees of arrays.

    >>> f = xcore.jax.from_jax_function(jax.nn.softmax)  # doctest: +SKIP
    >>> xc.grad(lambda x: f(x)[0])(xnp.ones(3))  # doctest: +SKIP
    """
    jax = _jax()

    def host(fun: Callable[..., Any]) -> Callable[..., Any]:
        compiled = jax.jit(fun)
        return lambda *args: jax.tree.map(np.asarray, compiled(*jax.tree.map(np.asarray, args)))

    def promised(fun: Callable[..., Any], *args: Any) -> Any:
        given = tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), args)
        return jax.tree.map(described, jax.eval_shape(fun, *given))

    return brought_in(Side(jax.tree, jax.vjp, inexact, host, promised), fun)
