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

from . import ShapeDtypeStruct, custom_vjp, eval_shape, jit, pure_callback, tree, vjp
from . import numpy as xnp

__all__ = ["as_jax_function", "from_jax", "from_jax_function", "to_jax"]


def _jax() -> Any:
    found = sys.modules.get("jax")
    if found is None or hasattr(found, "xcore"):  # as_jax stands in its place
        raise RuntimeError(
            "xcore.jax: the real jax has not been imported in this process. Write `import jax` before."
        )
    return found


def to_jax(values: Any) -> Any:
    """A pytree of arrays as JAX's, without a copy where both are on one device.

    Args:
      values: pytree of arrays of xcore.

    >>> xcore.jax.to_jax(xnp.ones(2))  # doctest: +SKIP
    """
    jax = _jax()
    return tree.map(lambda x: jax.dlpack.from_dlpack(xnp.asarray(x)), values)


def from_jax(values: Any) -> Any:
    """A pytree of JAX's arrays as xcore's, without a copy where both are on one device.

    Args:
      values: pytree of arrays of jax.

    >>> xcore.jax.from_jax(jax.numpy.ones(2))  # doctest: +SKIP
    """
    return _jax().tree.map(xnp.from_dlpack, values)


def as_jax_function(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function of xcore as one of JAX, for ``jax.jit``, ``jax.grad`` (reverse mode) and ``jax.vmap`` (one by one).

    JAX narrows 64-bit values unless its setting jax_enable_x64 is on.

    Args:
      fun: function of pytrees of arrays.

    >>> solve = xcore.jax.as_jax_function(lambda a, b: xc.linalg.solve(a, b))  # doctest: +SKIP
    >>> jax.grad(lambda b: solve(a, b).sum())(b)  # doctest: +SKIP
    """
    jax, forward, backward = _jax(), jit(fun), jit(_pulled(fun, tree, vjp))

    def across(f: Callable[..., Any], out: Any, *args: Any) -> Any:
        host = lambda *a: tree.map(np.asarray, f(*jax.tree.map(np.asarray, a)))  # noqa: E731
        return jax.pure_callback(host, out, *args, vmap_method="sequential")

    @jax.custom_vjp
    def call(*args: Any) -> Any:
        out = eval_shape(fun, *jax.tree.map(_described, args))
        return across(
            forward, jax.tree.map(lambda t: jax.ShapeDtypeStruct(t.shape, t.dtype), out), *args
        )

    def back(args: Any, cotangent: Any) -> Any:
        leaves, structure = jax.tree.flatten(args)
        inexact = list(map(_inexact, leaves))
        wanted = [
            jax.ShapeDtypeStruct(x.shape, x.dtype)
            for x, w in zip(leaves, inexact, strict=True)
            if w
        ]
        found = iter(across(backward, wanted, args, cotangent))
        none = jax.dtypes.float0
        return structure.unflatten(
            [
                next(found) if w else np.zeros(x.shape, none)
                for x, w in zip(leaves, inexact, strict=True)
            ]
        )

    call.defvjp(lambda *args: (call(*args), args), back)

    @functools.wraps(fun)
    def called(*args: Any) -> Any:
        return call(*jax.tree.map(jax.numpy.asarray, args))

    return called


def from_jax_function(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function of JAX as one of xcore, for ``jit``, ``grad`` (reverse mode) and ``vmap`` (one by one).

    Args:
      fun: function of pytrees of arrays.

    >>> f = xcore.jax.from_jax_function(jax.nn.softmax)  # doctest: +SKIP
    >>> xc.grad(lambda x: f(x)[0])(xnp.ones(3))  # doctest: +SKIP
    """
    jax = _jax()
    forward = jax.jit(fun)

    backward = jax.jit(_pulled(fun, jax.tree, jax.vjp))

    def across(f: Callable[..., Any], out: Any, *args: Any) -> Any:
        host = lambda *a: jax.tree.map(np.asarray, f(*a))  # noqa: E731
        return pure_callback(host, out, *args)

    @custom_vjp
    def call(*args: Any) -> Any:
        given = tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), args)
        out = jax.tree.map(_described, jax.eval_shape(fun, *given))
        return across(forward, out, *args)

    def back(args: Any, cotangent: Any) -> Any:
        leaves, structure = tree.flatten(args)
        inexact = list(map(_inexact, leaves))
        wanted = [_described(x) for x, w in zip(leaves, inexact, strict=True) if w]
        found = iter(across(backward, wanted, args, cotangent))
        return structure.unflatten([next(found) if w else None for w in inexact])

    call.defvjp(lambda *args: (call(*args), args), back)

    @functools.wraps(fun)
    def called(*args: Any) -> Any:
        return call(*tree.map(xnp.asarray, args))

    return called


def _described(x: Any) -> ShapeDtypeStruct:
    return ShapeDtypeStruct(x.shape, np.dtype(x.dtype))


def _inexact(x: Any) -> bool:
    """Whether it has derivatives; NumPy alone does not count bfloat16."""
    return bool(xnp.issubdtype(np.dtype(x.dtype), xnp.inexact))


def _pulled(fun: Callable[..., Any], tree: Any, vjp: Any) -> Callable[..., Any]:
    """(args, cotangent) ↦ the cotangents of those leaves that have some, by one library's tools."""

    def pulled(args: Any, cotangent: Any) -> Any:
        leaves, structure = tree.flatten(args)
        at = [i for i, x in enumerate(leaves) if _inexact(x)]

        def of(parts: Any) -> Any:
            full = [*leaves]
            for i, part in zip(at, parts, strict=True):
                full[i] = part
            return fun(*structure.unflatten(full))

        return vjp(of, [leaves[i] for i in at])[1](cotangent)[0]

    return pulled
