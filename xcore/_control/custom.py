"""Functions with derivatives of their own: custom_jvp, custom_vjp and their kin."""

# Checkers do not see: None is excluded by another value.
# pyright: reportOptionalCall=false

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np

from .. import _ops as ops
from .._core import (
    ArrayType,
    Tracer,
    bind,
    dtypes,
    errors,
    is_evaluating,
    rule_errors,
    tree,
    typeof,
)
from .._core.eval import is_array_like, is_wide, to_value
from .._core.program import PYTHON_SCALARS
from .._core.source import at_own_lines, boundary, wraps, written_at
from .._core.typing import P, R_co
from .._ops.elementwise import to_user
from .._ops.families import sum_of_changes
from .._transforms.api import float0, results_of
from .custom_ops import JVPRule, VJPRule, custom_jvp_function, custom_vjp_function

T = TypeVar("T")
Rule = TypeVar("Rule", bound=Callable[..., Any])


class SymbolicZero:
    """A zero that nobody made: what rules with ``symbolic_zeros=True`` get and may return.

    >>> import xcore as xc
    >>> f = xc.custom_jvp(lambda x, y: x * y)
    >>> def rule(primals, tangents):
    ...     (x, y), (dx, dy) = primals, tangents
    ...     print(type(dy).__name__)
    ...     return x * y, dx * y
    >>> _ = f.defjvp(rule, symbolic_zeros=True)
    >>> xc.grad(f)(2.0, 3.0)
    SymbolicZero
    Array(3., dtype=float32, weak_type=True)
    """

    __slots__ = ("dtype", "ndim", "shape", "size")

    def __init__(self, type_: ArrayType):
        self.shape, self.dtype, self.ndim, self.size = (
            type_.shape,
            type_.dtype,
            type_.ndim,
            type_.size,
        )

    @property
    def aval(self) -> ArrayType:
        return ArrayType(self.shape, self.dtype)

    def __repr__(self):
        return f"SymbolicZero({self.dtype}[{','.join(map(str, self.shape))}])"


class CustomVJPPrimal:
    """An argument of a forward rule with ``symbolic_zeros=True``: its value; does it vary?

    >>> import xcore as xc
    >>> f = xc.custom_vjp(lambda x, y: x * y)
    >>> def fwd(x, y):
    ...     print(x.perturbed, y.perturbed)
    ...     return x.value * y.value, y.value
    >>> f.defvjp(fwd, lambda y, g: (g * y, None), symbolic_zeros=True)
    >>> xc.grad(f)(2.0, 3.0)
    True False
    Array(3., dtype=float32, weak_type=True)
    """

    __slots__ = ("perturbed", "value")

    def __init__(self, value, perturbed: bool):
        self.value, self.perturbed = value, perturbed


# Values and trees


def _user_zero(t: ArrayType, symbolic: bool):
    if symbolic:
        return SymbolicZero(t)
    return (
        to_user(ops.zeros(t.strong())) if dtypes.is_inexact(t.dtype) else np.zeros(t.shape, float0)
    )


def _user_tangents(tangents, types, symbolic: bool) -> list:
    return [
        _user_zero(t, symbolic) if g is None else to_user(g)
        for g, t in zip(tangents, types, strict=True)
    ]


def _leaf_for_leaf(who: str, structure, given, prefix: bool) -> list:
    """The leaves of ``given`` in the structure's order; None stands for zeros of all below it.

    ``prefix``: whether any leaf in the place of a node is meant for all below it.
    """
    if tree.structure(given) == structure:
        return tree.leaves(given)
    leaves, outline = tree.flatten(given, is_leaf=lambda x: x is None)
    numbers = tree.unflatten(structure, range(structure.num_leaves))
    try:
        parts = tree.flatten_up_to(outline, numbers)
    except ValueError:
        tree.check_structure(structure, given, who)
        raise
    out = [None] * structure.num_leaves
    for leaf, part in zip(leaves, parts, strict=True):
        if leaf is not None and not (prefix or isinstance(part, int)):
            tree.check_structure(structure, given, who)
        for i in tree.leaves(part):
            out[i] = leaf
    return out


def _derivative_leaf(who: str, name, x, t: ArrayType, of_cotangent: bool):
    """A user's tangent or cotangent for a value of type ``t``, checked; None if it is zero.

    Cotangents of integers are whatever they are, nobody asks for them; others may be wider than their argument, as
    where a rule computes in float32 for one of bfloat16.
    """
    inexact = dtypes.is_inexact(t.dtype)
    if (
        x is None
        or isinstance(x, SymbolicZero)
        or (of_cotangent and not inexact and is_array_like(x))
    ):
        return None
    integer_zero = getattr(x, "dtype", None) == float0
    if integer_zero and not inexact:
        return None
    if integer_zero or not (inexact and is_array_like(x)):
        raise rule_errors.custom_rule_leaf(who, name(), x, t.strong() if inexact else None)
    x = to_value(x)
    given = typeof(x)
    loose = given.weak or (t.weak and dtypes.is_inexact(given.dtype))
    if of_cotangent and dtypes.is_inexact(given.dtype):
        loose |= dtypes.is_complex(t.dtype) or not dtypes.is_complex(given.dtype)
    if given.shape != t.shape or not (given.dtype == t.dtype or loose):
        raise rule_errors.custom_rule_leaf(who, name(), x, t.strong())
    return x if given.dtype == t.dtype else ops.convert(x, dtype=t.dtype)


def _derivatives(
    who: str, what: str, structure, given, types_, of_cotangents: bool = False
) -> list:
    """All leaves of a user's tree of tangents or cotangents, checked; None for zeros."""

    def name(i: int) -> str:
        numbers = tree.unflatten(structure, range(structure.num_leaves))
        return what + tree.keystr(tree.flatten_with_path(numbers)[0][i][0])

    leaves = _leaf_for_leaf(who, structure, given, of_cotangents)
    pairs = enumerate(zip(leaves, types_, strict=True))
    return [
        _derivative_leaf(who, functools.partial(name, i), x, t, of_cotangents)
        for i, (x, t) in pairs
    ]


class Result:
    """The structure of a custom function's result, which the function and its rule both tell."""

    def __init__(self, who: str, name: str):
        self.who, self.name, self.structure = who, name, None

    def values(self, result) -> list:
        values, structure = results_of(f"{self.who} of {self.name}", result)
        if self.structure is not None and structure != self.structure:
            tree.check_structure(self.structure, result, f"{self.who}: the rule of {self.name}")
        self.structure = structure
        return values


# Arguments


_BY_NAME = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD


class Signature:
    """How the arguments of calls to a custom function split into fixed and differentiated ones."""

    def __init__(self, who: str, fun, argnums, argnames):
        self.who, self.name = who, getattr(fun, "__name__", type(fun).__name__)
        try:
            self.signature = inspect.signature(fun)
        except (TypeError, ValueError):
            self.signature = None
        self.fixed = ((argnums,) if isinstance(argnums, int) else tuple(argnums)) + self._numbers(
            argnames
        )

    def _numbers(self, names) -> tuple:
        names = (names,) if isinstance(names, str) else tuple(names)
        known = list(self.signature.parameters) if self.signature else []
        unknown = [n for n in names if n not in known]
        if unknown:
            raise ValueError(
                f"xcore.{self.who}: nondiff_argnames name {unknown}, but {self.name} has only the "
                f"parameters {known}."
            )
        return tuple(known.index(n) for n in names)

    def positional(self, args, kwargs) -> tuple:
        """All arguments by position, defaults filled in."""
        if self.signature is None:
            if kwargs:
                raise rule_errors.keyword_only(self.who, self.name, kwargs)
            return args
        bound = self.signature.bind(*args, **kwargs)
        # those that are not given keep their defaults when the function is called
        named = [n for n in bound.arguments if self.signature.parameters[n].kind in _BY_NAME]
        if named:
            raise rule_errors.keyword_only(self.who, self.name, named)
        bound.apply_defaults()
        return bound.args

    def split(self, args, kwargs) -> _Given:
        return _Given(self, self.positional(args, kwargs))


class _Given:
    """The arguments of one call: fixed ones as they are, the others as flat values."""

    def __init__(self, signature: Signature, args):
        who, name = signature.who, signature.name
        for i in signature.fixed:
            if not 0 <= i < len(args):
                raise ValueError(
                    f"xcore.{who}: nondiff_argnums names argument {i}, but {name} was given "
                    f"{len(args)} arguments."
                )
            traced = [x for x in tree.leaves(args[i]) if isinstance(x, Tracer)]
            # a rule in forward mode runs within the traces of its call, so that it may use values of theirs
            if any(who != "custom_jvp" or x.varies for x in traced):
                raise rule_errors.traced_static_argument(who, name, i)
        self.args = args
        self.fixed = [args[i] for i in signature.fixed]
        self.numbers = [i for i in range(len(args)) if i not in signature.fixed]
        dynamic = tuple(args[i] for i in self.numbers)
        leaves, self.structure = tree.flatten(dynamic)
        for i, x in enumerate(leaves):
            if not is_array_like(x):
                path = tree.flatten_with_path(dynamic)[0][i][0]
                where = f"argument {self.numbers[path[0].idx]}{tree.keystr(path[1:])} of {name}"
                raise TypeError(
                    f"xcore.{who}: {where} is {errors.describe(x)}, not an array. Name arguments "
                    "that are not made of arrays in nondiff_argnums."
                )
        wide = any(map(is_wide, leaves))
        self.values = [to_value(x, wide) for x in leaves]

    def trees(self, leaves) -> tuple:
        """The differentiated arguments from their leaves."""
        return tree.unflatten(self.structure, leaves)

    def full(self, leaves) -> list:
        """All arguments in order, the differentiated ones from their leaves."""
        out = list(self.args)
        for i, x in zip(self.numbers, self.trees(leaves), strict=True):
            out[i] = x
        return out


class _WithRule(Generic[P, R_co]):
    """A function with a rule for its derivative; in the body of a class it is a method."""

    _kind, _defined_by = "", ""  # the class's name, and that of the method that sets its rule
    _rule_and_op: Any = None  # the rule as the operation takes it, and the operation

    def __init__(
        self, fun: Callable[P, R_co], nondiff_argnums: Sequence[int] = (),
        nondiff_argnames: Sequence[str] = (),
    ) -> None:  # fmt: skip
        wraps(fun)(self)
        self.fun, self.rule, self.symbolic_zeros = fun, None, False
        self.signature = Signature(self._kind, fun, nondiff_argnums, nondiff_argnames)

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., R_co]: ...
    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    @boundary
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        name = self.signature.name
        if self.rule is None:
            raise rule_errors.no_custom_rule(self._kind, name, self._defined_by)
        if is_evaluating():
            return self.fun(*args, **kwargs)
        given = self.signature.split(args, kwargs)
        result = Result(self._kind, name)

        def function(*leaves):
            return result.values(self.fun(*given.full(map(to_user, leaves))))

        kind, op = self._rule_and_op
        bound = functools.partial(self._bind, given, result)
        rule = kind(name, function, bound, self.rule)
        outs = bind(op, *given.values, rule=rule)
        return tree.unflatten(result.structure, map(to_user, outs))

    def _bind(self, given: _Given, result: Result, *values):
        """What the rule makes of values of the arguments."""
        raise NotImplementedError

    def _made(self, rule, kind: str, *args):
        """What a rule makes of its arguments."""
        try:
            return rule(*args)
        except TypeError:
            if _takes(rule, args):
                raise
            name = f"{self._kind}: the {kind} of {self.signature.name}{written_at(rule)}"
            raise rule_errors.custom_rule_arguments(
                name, inspect.signature(rule), self._wanted(kind)
            ) from None

    def _wanted(self, kind: str) -> str:
        fixed = "".join(f"{self._parameter(i)}, " for i in self.signature.fixed)
        return {
            "rule": f"({fixed}primals, tangents)", "backward rule": f"({fixed}residuals, cotangent)",
            "forward rule": f"the arguments of {self.signature.name}, {self.signature.signature}",
        }[kind]  # fmt: skip

    def _parameter(self, i: int) -> str:
        known = list(self.signature.signature.parameters) if self.signature.signature else []
        return known[i] if i < len(known) else f"argument {i}"

    def _pair(self, made, meaning: str):
        if not (isinstance(made, (tuple, list)) and len(made) == 2):
            name = f"{self.signature.name}{written_at(self.rule)}"
            raise rule_errors.custom_rule_pair(self._kind, name, made, meaning)
        return made


def written_as(rule, source) -> None:
    """Errors name the lines of a user's function in place of those of a rule that is made of it."""
    rule.__signature__ = inspect.signature(rule)
    rule.__wrapped__ = source


def _takes(rule, args) -> bool:
    """Whether a function can be called with so many arguments, as far as is known."""
    try:
        inspect.signature(rule).bind(*args)
    except TypeError:
        return False
    except ValueError:  # a builtin
        return True
    return True


# custom_jvp


class custom_jvp(_WithRule[P, R_co]):
    """A function whose derivative is given by a rule in forward mode; it serves reverse mode too.

    The rule maps ``(primals, tangents)``, two tuples like the arguments, to ``(result, tangent of
    the result)``, and must be linear in the tangents.

    Args:
      fun: function of pytrees of arrays.
      nondiff_argnums, nondiff_argnames: arguments that are Python values, such as functions; the
        rule gets them first, in this order.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> @xc.custom_jvp
    ... def log1pexp(x):
    ...     return xnp.log(1 + xnp.exp(x))
    >>> @log1pexp.defjvp
    ... def log1pexp_jvp(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return log1pexp(x), (1 - 1 / (1 + xnp.exp(x))) * t
    >>> float(xc.grad(log1pexp)(100.0))  # the derivative of the formula itself is nan there
    1.0
    """

    _kind, _defined_by = "custom_jvp", "defjvp"
    _rule_and_op = JVPRule, custom_jvp_function
    jvp: Callable[..., Any] | None = None

    def defjvp(self, jvp: Rule, symbolic_zeros: bool = False) -> Rule:
        """Set the rule ``jvp(*nondiff, primals, tangents) -> (result, tangent)``; returns it.

        With ``symbolic_zeros`` a tangent that is zero arrives as a ``SymbolicZero``.
        """
        self.rule = self.jvp = at_own_lines(jvp)
        self.symbolic_zeros = symbolic_zeros
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Set the rule as a sum over the arguments: ``jvps[i](tangent, result, *primals)``.

        None stands for a derivative that vanishes.
        """
        if self.signature.fixed:
            raise TypeError(
                "xcore.custom_jvp: defjvps cannot be used with nondiff_argnums; use defjvp."
            )

        def rule(primals, tangents):
            if len(jvps) != len(primals):
                raise rule_errors.wrong_count_of_rules(self._who(), len(jvps), len(primals))
            result = self(*primals)
            outs, structure = results_of(f"custom_jvp of {self.signature.name}", result)
            terms = [
                _derivatives(
                    self._who(), "tangent", structure, f(t, result, *primals), map(typeof, outs)
                )
                for f, t in zip(jvps, tangents, strict=True)
                if f is not None and not _is_zero(t)
            ]
            sums = map(sum_of_changes, zip(*terms, strict=True)) if terms else [None] * len(outs)
            return result, tree.unflatten(
                structure, [_or_zero(s, x) for s, x in zip(sums, outs, strict=True)]
            )

        written_as(rule, next((f for f in jvps if f is not None), None))
        self.defjvp(rule, symbolic_zeros=True)

    def _who(self) -> str:
        return f"custom_jvp: the rule of {self.signature.name}{written_at(self.rule)}"

    def _bind(self, given: _Given, result: Result, primals, tangents):
        ts = _user_tangents(tangents, map(typeof, primals), self.symbolic_zeros)
        trees = given.trees(map(to_user, primals)), given.trees(ts)
        made = self._made(self.rule, "rule", *given.fixed, *trees)
        value, tangent = self._pair(made, "(result, tangent)")
        outs = result.values(value)
        changes = _derivatives(self._who(), "tangent", result.structure, tangent, map(typeof, outs))
        return outs, changes


def _is_zero(tangents) -> bool:
    return all(isinstance(x, SymbolicZero) for x in tree.leaves(tangents))


def _or_zero(tangent, primal):
    return SymbolicZero(typeof(primal)) if tangent is None else tangent


# custom_vjp


class custom_vjp(_WithRule[P, R_co]):
    """A function whose derivative is given by a rule in reverse mode.

    ``fwd`` returns ``(result, residuals)``; ``bwd`` maps residuals and the cotangent of the result
    to a tuple with one cotangent for each argument, None standing for zero.

    Args:
      fun: function of pytrees of arrays.
      nondiff_argnums, nondiff_argnames: arguments that are Python values, such as functions; fwd
        gets all arguments in their order, bwd gets these first.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> @xc.custom_vjp
    ... def clip_gradient(lo, hi, x):
    ...     return x
    >>> def fwd(lo, hi, x):
    ...     return x, (lo, hi)
    >>> def bwd(residuals, g):
    ...     lo, hi = residuals
    ...     return None, None, xnp.clip(g, lo, hi)
    >>> clip_gradient.defvjp(fwd, bwd)
    >>> float(xc.grad(lambda x: 10 * clip_gradient(-1.0, 1.0, x))(3.0))
    1.0
    """

    _kind, _defined_by = "custom_vjp", "defvjp"
    _rule_and_op = VJPRule, custom_vjp_function
    fwd: Callable[..., Any] | None = None
    bwd: Callable[..., Any] | None = None

    def defvjp(
        self, fwd: Callable[..., Any], bwd: Callable[..., Any], symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:  # fmt: skip
        """Set the rule.

        Args:
          fwd: ``fwd(*args) -> (result, residuals)``.
          bwd: ``bwd(*nondiff, residuals, cotangent) -> cotangents``, a tuple.
          symbolic_zeros: fwd gets its arguments as ``CustomVJPPrimal``, and bwd gets cotangents
            that are zero as ``SymbolicZero``.
          optimize_remat: accepted for compatibility; fwd is always open to dead-code elimination.
        """
        self.rule = self.fwd = at_own_lines(fwd)
        self.bwd = at_own_lines(bwd)
        self.symbolic_zeros = symbolic_zeros

    def _bind(self, given: _Given, result: Result, primals, nonzero):
        leaves = list(map(to_user, primals))
        if self.symbolic_zeros:
            leaves = [CustomVJPPrimal(x, m) for x, m in zip(leaves, nonzero, strict=True)]
        made = self._made(self.rule, "forward rule", *given.full(leaves))
        value, residuals = self._pair(made, "(result, residuals)")
        outs, kept = result.values(value), _Kept(residuals)
        in_types, out_types = [typeof(x) for x in primals], [typeof(x) for x in outs]

        def backward(residuals, cotangents):
            cts = _user_tangents(cotangents, out_types, self.symbolic_zeros)
            trees = kept.restored(residuals), tree.unflatten(result.structure, cts)
            found = self._made(self.bwd, "backward rule", *given.fixed, *trees)
            return self._cotangents(given, found, in_types)

        return outs, kept.values, backward

    def _cotangents(self, given: _Given, found, in_types) -> list:
        place = written_at(self.bwd)
        who = f"custom_vjp: the backward rule of {self.signature.name}{place}"
        n = len(given.numbers)
        if not (isinstance(found, (tuple, list)) and len(found) == n):
            raise TypeError(
                f"xcore.{who} must return a tuple of {n} cotangents, one for each argument, given "
                f"{errors.describe(found)}."
            )
        return _derivatives(who, "cotangents", given.structure, tuple(found), in_types, True)


class _Kept:
    """A tree of residuals: arrays become values; Python's numbers and all else are kept as they are."""

    def __init__(self, residuals):
        self.leaves, self.structure = tree.flatten(residuals)
        self.places = [i for i, x in enumerate(self.leaves) if _is_array(x)]
        self.values = [to_value(self.leaves[i]) for i in self.places]
        for i in self.places:
            self.leaves[i] = None  # the rule outlives this trace, its values do not

    def restored(self, values):
        leaves = list(self.leaves)
        for i, x in zip(self.places, values, strict=True):
            leaves[i] = to_user(x)
        return tree.unflatten(self.structure, leaves)


def _is_array(x) -> bool:
    return is_array_like(x) and type(x) not in PYTHON_SCALARS
