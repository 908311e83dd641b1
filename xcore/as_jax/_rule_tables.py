"""``jax.interpreters.ad``, ``batching`` and ``mlir``: the tables of rules and what fills them."""

from __future__ import annotations

import numpy as np

from .._control.custom import SymbolicZero
from .._core import ArrayType, to_value, tree, typeof
from .._ops import add, broadcast, zeros
from .._ops.elementwise import to_user
from ..numpy import moveaxis
from . import _primitives
from ._primitives import UndefinedPrimal, Zero, is_zero, writing

# ad


def is_undefined_primal(x) -> bool:
    return type(x) is UndefinedPrimal


def instantiate_zeros(x):
    """The tangent as an array."""
    return x.instantiate() if isinstance(x, Zero) else x


def zeros_like_aval(aval: ArrayType):
    return zeros(aval)


def add_tangents(x, y):
    """The sum of two tangents, either of which may be zero."""
    return y if is_zero(x) else x if is_zero(y) else add(x, y)


def zero_from_primal(value, symbolic_zeros: bool = False):
    """The zero tangents of a tree of values."""
    types = [typeof(to_value(x)).to_tangent_aval() for x in tree.leaves(value)]
    if symbolic_zeros:
        made = [SymbolicZero(t) for t in types]
    else:
        made = [
            np.zeros(t.shape, t.dtype) if t.dtype.kind == "V" else to_user(zeros(t)) for t in types
        ]
    return tree.unflatten(tree.structure(value), made)


def deflinear(prim, transpose):
    """A primitive linear in all arguments: ``transpose(ct, **params)`` gives their cotangents."""
    deflinear2(prim, lambda ct, *args, **params: transpose(ct, **params))


def deflinear2(prim, transpose):
    """The same with the arguments: ``transpose(ct, *args, **params)``."""

    def jvp(primals, tangents, **params):
        out = prim.bind(*primals, **params)
        if all(map(is_zero, tangents)):
            return out, Zero.from_primal_value(out)
        return out, prim.bind(*map(instantiate_zeros, tangents), **params)

    def rule(ct, *args, **params):
        return [ct] * len(args) if isinstance(ct, Zero) else transpose(ct, *args, **params)

    _primitives.jvps[prim], _primitives.transposes[prim] = jvp, rule


def defjvp(prim, *rules):
    """``rules[i](tangent, *primals, **params)``: what argument i adds to the tangent, None for nothing."""
    defjvp2(prim, *[r and (lambda t, out, *xs, r=r, **p: r(t, *xs, **p)) for r in rules])


def defjvp2(prim, *rules):
    """The same with the result: ``rules[i](tangent, out, *primals, **params)``."""

    def jvp(primals, tangents, **params):
        out = prim.bind(*primals, **params)
        total = None
        for rule, t in zip(rules, tangents):
            if rule is not None and not is_zero(t):
                total = add_tangents(total, rule(t, out, *primals, **params))
        return out, Zero.from_primal_value(out) if total is None else total

    _primitives.jvps[prim] = jvp


def defbilinear(prim, left, right):
    """A primitive linear in each of two arguments, by ``left(ct, x, y)`` and ``right(ct, x, y)``."""
    defjvp(
        prim,
        lambda t, x, y, **params: prim.bind(t, y, **params),
        lambda t, x, y, **params: prim.bind(x, t, **params),
    )

    def transpose(ct, x, y, **params):
        if is_undefined_primal(x):
            return [ct if isinstance(ct, Zero) else left(ct, x, y, **params), None]
        return [None, ct if isinstance(ct, Zero) else right(ct, x, y, **params)]

    _primitives.transposes[prim] = transpose


# batching

not_mapped = None


def batch_to_front(x, size: int, dim):
    """The value with its batch on axis 0, repeated where it has none."""
    if dim is None:
        return broadcast(x, size)
    return moveaxis(x, dim, 0)


def bdim_at_front(x, dim, size: int, *more):
    return batch_to_front(x, size, dim)


def moveto(x, source, destination):
    return x if source == destination or source is None else moveaxis(x, source, destination)


def defvectorized(prim):
    """Batching of a primitive that treats its leading axes alike."""

    def batch(args, dims, **params):
        size = next(x.shape[d] for x, d in zip(args, dims) if d is not None)
        front = [batch_to_front(x, size, d) for x, d in zip(args, dims)]
        out = prim.bind(*front, **params)
        return out, [0] * len(out) if prim.multiple_results else 0

    _primitives.batchers[prim] = batch


defbroadcasting = defvectorized


# mlir


def aval_to_ir_type(aval):
    """The type of MLIR for a shape and dtype; inside of a lowering rule."""
    return writing[-1].type(ArrayType(tuple(aval.shape), aval.dtype))


def dtype_to_ir_type(dtype):
    return writing[-1].element(np.dtype(dtype))


def ir_constant(value):
    """A constant in the program that is written."""
    return writing[-1].constant(np.asarray(value))


def mapped_aval(size: int, axis, aval, *more):
    """The type of one batch element."""
    if axis is None:
        return aval
    shape = aval.shape
    return ArrayType((*shape[:axis], *shape[axis + 1 :]), aval.dtype)


def unmapped_aval(size: int, axis, aval, *more):
    """The type of all batch elements of such a type."""
    if axis is None:
        return aval
    return ArrayType((*aval.shape[:axis], size, *aval.shape[axis:]), aval.dtype)


def get_aval(x) -> ArrayType:
    return typeof(x)
