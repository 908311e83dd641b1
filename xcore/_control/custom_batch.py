"""Functions with a rule of their own for vmap: custom_vmap and sequential_vmap."""

# Checkers do not see: None is excluded by another value.
# pyright: reportOptionalCall=false

from __future__ import annotations

import functools
from collections.abc import Callable

from .._core import (
    bind,
    boundary,
    dtypes,
    errors,
    is_evaluating,
    rule_errors,
    trace_program,
    tree,
    typeof,
)
from .._core.eval import to_value
from .._core.typing import P, R
from .._ops import broadcast, zeros
from .._ops.elementwise import to_user
from .._transforms.api import results_of
from .._transforms.jvp import jvp_flat
from .._transforms.programs import fill, marked
from .call import call
from .custom import Signature
from .custom_ops import python_op, staged_op
from .loops import map as loop


class BatchRule:
    """A function of flat values, and ``batch_rule(size, args, batched) -> (outs, batched)`` for all batch elements."""

    __slots__ = ("batch_rule", "function", "name")

    def __init__(self, name: str, function, batch_rule):
        self.name, self.function, self.batch_rule = name, function, batch_rule

    def canonical(self) -> str:
        return "rule"  # it says how to map a program, not what the program computes

    def jvp_rule(self, nonzero) -> BatchRule:
        """The rule of (arguments, tangents that are not zero) -> (results, tangents of inexact ones)."""
        n = len(nonzero)

        def function(*xs):
            return _jvp_flat(self.function, xs[:n], fill(xs[n:], nonzero))

        def batch_rule(size, args, batched):
            both = [bool(a or b) for a, b in zip(batched, fill(batched[n:], nonzero), strict=False)]
            wide = [
                _broadcast_if(x, b, w, size) for x, b, w in zip(args, batched, both, strict=False)
            ]
            tangents = marked(both, nonzero), args[n:], batched[n:]
            wide_ts = [_broadcast_if(t, b, w, size) for w, t, b in zip(*tangents, strict=True)]
            flags = []

            def all_elements(*xs):
                outs, flags[:] = self.batch_rule(size, xs, both)
                return outs

            outs = _jvp_flat(all_elements, wide, fill(wide_ts, nonzero))
            return outs, [*flags, *marked(flags, map(_is_inexact, outs[: len(flags)]))]

        return BatchRule(self.name, function, batch_rule)


def _is_inexact(x) -> bool:
    return dtypes.is_inexact(typeof(x).dtype)


def _broadcast_if(x, batched, wanted, size):
    return broadcast(x, size) if wanted and not batched else x


def _jvp_flat(function, primals, tangents) -> list:
    outs, changes = jvp_flat(function, primals, tangents)
    pairs = zip(outs, changes, strict=True)
    return [
        *outs,
        *[zeros(typeof(x).strong()) if t is None else t for x, t in pairs if _is_inexact(x)],
    ]


# Operations


def _jvp_of(primals, tangents, bind_jvp):
    nonzero = [t is not None for t in tangents]
    found = bind_jvp(nonzero, [*primals, *marked(tangents, nonzero)])
    n = next(k for k in range(len(found) + 1) if k + sum(map(_is_inexact, found[:k])) == len(found))
    return found[:n], fill(found[n:], map(_is_inexact, found[:n]))


def _jvp_function(primals, tangents, *, rule):
    def bind_jvp(nonzero, args):
        return bind(custom_vmap_function, *args, rule=rule.jvp_rule(nonzero))

    return _jvp_of(primals, tangents, bind_jvp)


def _jvp_staged(primals, tangents, *, program, rule, captured):
    if any(t is not None for t in tangents[:captured]):
        raise rule_errors.custom_rule_closure("custom_vmap", rule.name)
    return _jvp_function(primals[captured:], tangents[captured:], rule=rule)


def _linearize_function(primals, nonzero, *, rule):
    """The values follow the rule; their derivative is that of the function."""
    program, captured = trace_program(rule.function, [typeof(p) for p in primals], rule.name)
    flags = [False] * len(captured) + list(nonzero)
    _, tangent_fn = call.linearize([*captured, *primals], flags, program=program)
    outs = bind(custom_vmap_function, *primals, rule=rule)
    return outs, lambda *tangents: tangent_fn(*[None] * len(captured), *tangents)


def _linearize_staged(primals, nonzero, *, program, rule, captured):
    if any(nonzero[:captured]):
        raise rule_errors.custom_rule_closure("custom_vmap", rule.name)
    _, tangent_fn = call.linearize(primals, nonzero, program=program)
    return bind(
        custom_vmap_call, *primals, program=program, rule=rule, captured=captured
    ), tangent_fn


def _batch_function(size, args, batched, *, rule, axis_name=None):
    return rule.batch_rule(size, args, batched)


def _batch_staged(size, args, batched, *, program, rule, captured, axis_name=None):
    if any(batched[:captured]):
        raise rule_errors.mapped_closure(rule.name)
    return rule.batch_rule(size, args[captured:], batched[captured:])


custom_vmap_call = staged_op("custom_vmap_call", jvp=_jvp_staged, linearize=_linearize_staged)
custom_vmap_call._batch = _batch_staged
custom_vmap_function = python_op(
    "custom_vmap_function", custom_vmap_call, jvp=_jvp_function, linearize=_linearize_function
)
custom_vmap_function._batch = _batch_function

# Public functions


class custom_vmap:
    """A function with its own rule for ``vmap``; set it with ``def_vmap``.

    The rule ``rule(axis_size, in_batched, *args) -> (out, out_batched)`` gets the arguments of all
    batch elements, the mapped axis first. ``in_batched`` has the arguments' structure, with True where there
    is such an axis; ``out_batched`` says the same of the result.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> @xc.custom_batching.custom_vmap
    ... def product(a, b):
    ...     return a @ b
    >>> @product.def_vmap
    ... def product_rule(axis_size, in_batched, a, b):
    ...     if in_batched == [False, True]:  # one product with a matrix instead of many
    ...         return (a @ b.T).T, True
    ...     return xc.vmap(lambda a, b: a @ b, [0 if x else None for x in in_batched])(a, b), True
    >>> xc.vmap(product, (None, 0))(2 * xnp.eye(2), xnp.ones((3, 2))).shape
    (3, 2)
    """

    def __init__(self, fun):
        functools.update_wrapper(self, fun)
        self.fun, self.vmap_rule = fun, None
        self.signature = Signature("custom_vmap", fun, (), ())

    def def_vmap(self, vmap_rule):
        """Set the rule ``(axis_size, in_batched, *args) -> (out, out_batched)``; returns it."""
        self.vmap_rule = vmap_rule
        return vmap_rule

    @boundary
    def __call__(self, *args, **kwargs):
        name = self.signature.name
        if self.vmap_rule is None:
            raise rule_errors.no_custom_rule("custom_vmap", name, "def_vmap")
        if is_evaluating():
            return tree.map(lambda x: to_user(to_value(x)), self.fun(*args, **kwargs))
        given = self.signature.split(args, kwargs)
        made = []

        def function(*leaves):
            values, structure = results_of(
                f"custom_vmap: {name}", self.fun(*given.full(map(to_user, leaves)))
            )
            made.append(structure)
            return values

        def batch_rule(size, xs, batched):
            trees = given.trees(map(to_user, xs))
            outs, structure, flags = self._rule_results(size, given.trees(batched), trees)
            made.append(structure)
            return outs, flags

        outs = bind(custom_vmap_function, *given.values, rule=BatchRule(name, function, batch_rule))
        return tree.unflatten(made[0], outs)

    def _rule_results(self, size, batched, args):
        who = f"custom_vmap: the rule of {self.signature.name}"
        pair = self.vmap_rule(size, list(batched), *args)
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
            raise rule_errors.custom_rule_pair(
                "custom_vmap", self.signature.name, pair, "(out, out_batched)"
            )
        outs, structure = results_of(who, pair[0])
        flags = tree.broadcast_prefix(pair[1], pair[0], who=f"{who}: out_batched")
        for x, b in zip(outs, flags, strict=True):
            if b and typeof(x).shape[:1] != (size,):
                raise errors.ShapeError(
                    f"xcore.{who}: a result that is batched must have {size} batch elements along its first axis, "
                    f"given {typeof(x)}."
                )
        return outs, structure, [bool(b) for b in flags]


def sequential_vmap(fun: Callable[P, R]) -> Callable[P, R]:
    """A function that ``vmap`` runs on one batch element after the other, in a loop.

    Args:
      fun: function of arrays or pytrees of arrays.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> total = xc.custom_batching.sequential_vmap(lambda x: x.sum())
    >>> xc.vmap(total)(xnp.ones((2, 3)))
    Array([3., 3.], dtype=float32)
    """
    mapped = custom_vmap(fun)

    @mapped.def_vmap
    def rule(axis_size, in_batched, *args):
        leaves, structure = tree.flatten(args)
        flags = tree.leaves(in_batched)
        varying = [x for x, b in zip(leaves, flags, strict=True) if b]

        def one(xs):
            remaining = iter(xs)
            values = [next(remaining) if b else x for x, b in zip(leaves, flags, strict=True)]
            return mapped(*tree.unflatten(structure, values))

        out = loop(one, varying)
        return out, tree.map(lambda _: True, out)

    return mapped
