"""What crossing into another library of arrays, in one process, has in common: see `jax` and `torch`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import ShapeDtypeStruct, custom_vjp, eval_shape, jit, pure_callback, tree, vjp
from . import numpy as xnp
from ._core import Tracer, from_numpy


class Side(NamedTuple):
    """A library, as seen from the border.

    Attributes:
      tree: its functions of trees (flatten, leaves, map).
      vjp: ``vjp(f, parts)`` ↦ results and a function of cotangents, in JAX's convention.
      inexact: whether an array of its has derivatives.
      host: a function of its as one of NumPy's arrays, or what becomes some.
      promised: (function, descriptions of arguments) ↦ descriptions of results.
    """

    tree: Any
    vjp: Callable[..., Any]
    inexact: Callable[[Any], bool]
    host: Callable[..., Callable[..., Any]]
    promised: Callable[..., Any]


def described(x: Any) -> ShapeDtypeStruct:
    return ShapeDtypeStruct(x.shape, np.dtype(x.dtype))


def inexact(x: Any) -> bool:
    """Whether it has derivatives; NumPy alone does not count bfloat16."""
    dtype = np.dtype(getattr(x, "dtype", type(x)))
    return dtype.names is None and bool(xnp.issubdtype(dtype, xnp.inexact))  # float0 has names


HERE = Side(tree, vjp, inexact, jit, eval_shape)


def pulled(side: Side, fun: Callable[..., Any]) -> Callable[..., Any]:
    """(arguments, cotangents of the inexact results) ↦ the cotangents of the inexact leaves."""

    def back(args: Any, cotangents: Any) -> Any:
        leaves, structure = side.tree.flatten(args)
        at = [i for i, x in enumerate(leaves) if side.inexact(x)]

        def of(parts: Any) -> Any:
            full = [*leaves]
            for i, part in zip(at, parts, strict=True):
                full[i] = part
            out = fun(*side.tree.unflatten(structure, full))
            return [y for y in side.tree.leaves(out) if side.inexact(y)]

        return side.vjp(of, [leaves[i] for i in at])[1](list(cotangents))[0]

    return back


def brought_in(side: Side, fun: Callable[..., Any], promised: Any = None) -> Callable[..., Any]:
    """A function of another library as one of xcore: called on the host, with reverse derivatives of all orders.

    ``promised`` describes the results, if that is known.
    """
    host, backs = side.host(fun), {}

    @custom_vjp
    def call(*args: Any) -> Any:
        out = promised
        if out is None:
            out = side.promised(fun, *tree.map(described, args))
        return pure_callback(host, out, *args)

    def back(args: Any, cotangent: Any) -> Any:
        leaves, structure = tree.flatten(args)
        wanted = None if promised is None else [described(x) for x in leaves if inexact(x)]
        key = None if wanted is None else tuple((t.shape, t.dtype) for t in wanted)
        if key not in backs:
            backs[key] = brought_in(side, pulled(side, fun), wanted)
        found = iter(backs[key](args, [c for c in tree.leaves(cotangent) if inexact(c)]))
        return structure.unflatten(
            [xnp.asarray(next(found), x.dtype) if inexact(x) else None for x in leaves]
        )

    call.defvjp(lambda *args: (call(*args), args), back)

    @functools.wraps(fun)
    def called(*args: Any) -> Any:
        leaves, structure = tree.flatten(args)
        leaves = [xnp.asarray(x) for x in leaves]
        given = structure.unflatten(leaves)
        if any(isinstance(x, Tracer) for x in leaves):
            return call(*given)
        return tree.map(from_numpy, host(*given))

    return called
