"""Constructors of operations: each derives most of the rules from a few facts.

Every differentiable argument has exactly one hand-written derivative rule: ``transpose`` if the
operation is linear in it, ``jvp`` if it is not; a derivative that vanishes is written ``ZERO``.
The two operations that the rules themselves are made of, ``add`` and ``broadcast_in_dim``, stand
at the end, with their adjoints.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import ArrayType, Linear, Literal, Op, dtypes, errors, typeof
from .._core.host import moves, totals, ufunc
from .._core.op import storing
from .._cpu.stored import repeated, stored
from .unmerged import add_lower

if TYPE_CHECKING:
    from .._core.typing import Operand

ALL = frozenset({"bool", "int", "uint", "float", "float8", "complex"})
NUMBERS = frozenset({"int", "uint", "float", "complex"})
REALS = frozenset({"int", "uint", "float"})
INEXACT = frozenset({"float", "complex"})
FLOATS = frozenset({"float"})
INTEGERS = frozenset({"int", "uint"})
BITS = frozenset({"bool", "int", "uint"})


class _Zero:
    def __repr__(self):
        return "ZERO"


ZERO = _Zero()


def check_kind(who: str, dtype, kinds) -> None:
    if dtypes.kind(dtype) not in kinds:
        raise errors.dtype_not_allowed(who, dtype, " and ".join(sorted(kinds)))


def all_weak(types) -> bool:
    return all([t.weak for t in types])


# Derived rules


def sum_of_changes(terms):
    """The sum of those terms that exist."""
    total = None
    for t in terms:
        if t is not None:
            total = t if total is None else add(total, t)
    return total


def derive_jvp(op: Op, linear: str | None, transpose, jvp):
    """The jvp rule of a one-result operation from what its author wrote for each argument."""

    def jointly(primals, tangents, **params):
        known = [
            zeros(typeof(p)) if t is None else t for p, t in zip(primals, tangents, strict=True)
        ]
        return [op(*primals, **params)], [op(*known, **params)]

    def one_by_one(primals, tangents, **params):
        out = op(*primals, **params)
        terms = []
        for i, t in enumerate(tangents):
            if t is None:
                continue
            rule = jvp[i] if jvp else None
            if rule is ZERO:
                continue
            if rule is not None:
                terms.append(rule(t, out, *primals, **params))
            elif transpose[i] is not None:
                terms.append(op(*primals[:i], t, *primals[i + 1 :], **params))
        return [out], [sum_of_changes(terms)]

    return jointly if linear == "jointly" else one_by_one


def derive_transpose(transpose):
    def rule(cotangents, *args, **params):
        (ct,) = cotangents
        return [
            (t or _of_nothing)(ct, *args, **params) if isinstance(a, Linear) else None
            for t, a in zip(transpose, args, strict=True)
        ]

    return rule


def _of_nothing(*args, **params):
    raise errors.not_linear()


def check_derivatives(name: str, count: int, transpose, jvp) -> None:
    for i in range(count):
        both = (
            transpose is not None and transpose[i] is not None,
            jvp is not None and jvp[i] is not None,
        )
        if sum(both) != 1:
            raise ValueError(f"{name}: argument {i} needs a transpose or a jvp rule, and not both")


def per_argument(rules, count: int):
    if rules is None or isinstance(rules, tuple):
        return rules
    return (rules,) * count


# Elementwise

# Names of the operations of which element i depends on elements i alone.
ELEMENTWISE: set[str] = set()
storing += [functools.partial(f, elementwise=ELEMENTWISE) for f in (stored, repeated)]


def elementwise(name, *, kinds=NUMBERS, hlo=None, lower=None, result=None, args: int = 1,
                linear=None, transpose=None, jvp=None, alternatives=(), host=None) -> Op:  # fmt: skip
    """An operation that acts on corresponding elements of arrays of one shape and dtype.

    ``result`` maps the dtype to that of the result where it differs. Boolean results, and those of
    integers, have no derivative, so such operations name none.
    """
    hlo = hlo or f"stablehlo.{name}"
    transpose, jvp = per_argument(transpose, args), per_argument(jvp, args)
    check_derivatives(name, args, transpose, jvp)
    same = result is None

    def type_rule(*types):
        t = types[0]
        if args == 2 and t is not types[1]:
            _check_pair(name, *types)
            t = ArrayType(t.shape, t.dtype, t.weak and types[1].weak)
        elif len(types) != args:
            raise errors.shape_mismatch(name, f"must be {args}")
        check_kind(name, t.dtype, kinds)
        if same:
            return [t]
        dtype = result(t.dtype)  # pyright: ignore[reportOptionalCall]
        return [ArrayType(t.shape, dtype, t.weak and dtype != bool)]

    def by_name(ctx, *xs):
        return ctx.one(hlo, ctx.type(ctx.out_types[0]), xs)

    def batch(size, values, batched):
        full = [v if b else broadcast(v, size) for v, b in zip(values, batched, strict=True)]
        return [op(*full)], [True]

    ELEMENTWISE.add(name)
    op = Op(name, type=type_rule, lower=lower or by_name, batch=batch, alternatives=alternatives,
            host=host)  # fmt: skip
    op._jvp = derive_jvp(op, linear, transpose, jvp)
    op._transpose = derive_transpose(transpose) if transpose else None
    return op


def _check_pair(name, x, y) -> None:
    if x.shape != y.shape:
        raise errors.shape_mismatch(name, x=x, y=y)
    if x.dtype != y.dtype:
        raise errors.dtype_mismatch(name, x=x, y=y)


def linear_op(name, *, type, lower, transpose, batch, alternatives=(), host=None) -> Op:
    """An operation of one result, linear in its first argument and constant in any others."""
    op = Op(name, type=type, lower=lower, batch=batch, alternatives=alternatives, host=host)

    def jvp(primals, tangents, **params):
        x_dot = None if tangents[0] is None else op(tangents[0], *primals[1:], **params)
        return [op(*primals, **params)], [x_dot]

    def whole_transpose(cotangents, x, *others, **params):
        return [transpose(cotangents[0], x, *others, **params), *[None] * len(others)]

    op._jvp, op._transpose = jvp, whole_transpose
    return op


# What the rules are made of

add = elementwise(
    "add",
    lower=add_lower,
    args=2,
    linear="jointly",
    kinds=NUMBERS | {"bool"},
    transpose=lambda ct, x, y: ct,
    host=ufunc(np.add, "computes"),
)


def _broadcast_type(x, *, shape, dims):
    known = all(0 <= d < len(shape) for d in dims)
    fits = (
        known
        and len(dims) == x.ndim
        and all(x.shape[i] in (1, shape[d]) for i, d in enumerate(dims))
    )
    if not fits or list(dims) != sorted(set(dims)):
        raise errors.shape_mismatch(
            "broadcast_in_dim", f"must fit shape {shape} at axes {dims}", x=x
        )
    return [x.with_shape(shape)]


def _broadcast_transpose(ct, x, *, shape, dims):
    summed = tuple(i for i in range(len(shape)) if i not in dims)
    kept = reduce_sum(ct, axes=summed) if summed else ct
    ones = tuple(i for i, d in enumerate(dims) if x.type.shape[i] == 1 and shape[d] != 1)
    if not ones:
        return kept
    return broadcast_in_dim(
        reduce_sum(kept, axes=ones), shape=x.type.shape,
        dims=tuple(i for i in range(len(dims)) if i not in ones),
    )  # fmt: skip


def _broadcast_batch(size, args, batched, *, shape, dims):
    shifted = (0, *(d + 1 for d in dims))
    return [broadcast_in_dim(args[0], shape=(size, *shape), dims=shifted)], [True]


def _broadcast_host(types, *, shape, dims):
    (t,) = types
    between = [1] * len(shape)
    for n, d in zip(t.shape, dims, strict=True):
        between[d] = n
    return lambda x: np.broadcast_to(x.reshape(between), shape)


broadcast_in_dim = linear_op(
    "broadcast_in_dim",
    type=_broadcast_type,
    lower=lambda ctx, x, *, shape, dims: ctx.broadcast_in_dim(x, ctx.out(), dims),
    transpose=_broadcast_transpose,
    batch=_broadcast_batch,
    host=moves(_broadcast_host),
)


def reduced_shape(shape, axes) -> tuple:
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def check_axes(name, x, axes) -> None:
    if len(set(axes)) != len(axes) or not all(0 <= a < x.ndim for a in axes):
        raise errors.shape_mismatch(name, f"cannot be reduced over axes {axes}", x=x)


def _sum_type(x, *, axes):
    check_kind("reduce_sum", x.dtype, NUMBERS)
    check_axes("reduce_sum", x, axes)
    return [x.with_shape(reduced_shape(x.shape, axes))]


def _sum_lower(ctx, x, *, axes):
    return ctx.reduce_with("stablehlo.add", x, ctx.scalar(0, x), ctx.out(), axes)


reduce_sum = linear_op(
    "reduce_sum",
    type=_sum_type,
    lower=_sum_lower,
    transpose=lambda ct, x, *, axes: broadcast_in_dim(
        ct, shape=x.type.shape, dims=tuple(i for i in range(x.type.ndim) if i not in axes)
    ),
    batch=lambda size, args, batched, *, axes: (
        [reduce_sum(args[0], axes=tuple(a + 1 for a in axes))], [True],
    ),
    host=totals(np.add),
)  # fmt: skip


def full_like_type(t: ArrayType, value: Any) -> Any:
    """An array of a type filled with one Python number; weak if the type is."""
    scalar = np.asarray(value, t.dtype)[()]
    if t.weak:
        scalar = Literal(scalar, ArrayType((), t.dtype, True))
    return scalar if t.shape == () else broadcast_in_dim(scalar, shape=t.shape, dims=())


def constant(value: np.ndarray) -> Literal:
    """A small table that stands in the program, rather than becoming one of its inputs."""
    return Literal(value)


def splat(t: ArrayType, value: complex) -> Literal:
    """A constant of one value at every place, for use as an operand: it costs no equation."""
    return Literal(np.asarray(value, t.dtype), t)


def zeros(t: ArrayType) -> Any:
    return full_like_type(t, 0)


def ones(t: ArrayType) -> Operand:
    return full_like_type(t, 1)


def broadcast(x: Operand, size: int) -> Any:
    """The same value for every batch element: a new axis 0."""
    t = typeof(x)
    if type(x) is Literal and not x.value.shape:
        return Literal(x.value, ArrayType((size, *t.shape), t.dtype, t.weak))
    return broadcast_in_dim(x, shape=(size, *t.shape), dims=tuple(range(1, t.ndim + 1)))
