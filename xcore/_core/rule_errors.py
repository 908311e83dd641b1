"""The wording of messages about derivative and batch rules that users write (custom_jvp, custom_vjp and their kin)."""

from __future__ import annotations

from typing import Any

from .errors import describe
from .exceptions import (
    DTypeError,
    ForwardModeError,
    MismatchError,
    MissingRuleError,
    NoTransposeError,
    TracerLeakError,
)


def forward_mode_of_custom_vjp(name: str) -> ForwardModeError:
    return ForwardModeError(
        f"xcore: forward-mode differentiation (jvp, jacfwd, hessian) of {name}, which is a custom_vjp function "
        "and so has a reverse-mode rule only. Use grad, vjp or jacrev, or define the rule with custom_jvp, "
        "which serves both modes."
    )


def no_custom_rule(who: str, name: str, define: str) -> AttributeError:
    what = "rule for vmap" if who == "custom_vmap" else "derivative rule"
    return AttributeError(
        f"xcore.{who}: {name} has no {what} yet. Define it with @{name}.{define} before the first call."
    )


def mapped_closure(name: str) -> TypeError:
    return TypeError(
        f"xcore.custom_vmap: vmap maps over a value that {name} closes over. Its rule speaks of its "
        "arguments alone; make the value an argument."
    )


def custom_rule_closure(who: str, name: str) -> TypeError:
    return TypeError(
        f"xcore.{who}: differentiation of {name} with respect to a value it closes over. Its rule speaks of its "
        "arguments only: make that value an argument (and adapt the rule), or apply lax.stop_gradient to it outside."
    )


def wrong_count_of_rules(who: str, given: int, need: int) -> TypeError:
    return TypeError(
        f"xcore.{who}: defjvps needs a rule for each of {need} arguments, given {given}; None stands for a "
        "derivative that vanishes."
    )


def custom_rule_arguments(who: str, given: Any, wanted: str) -> TypeError:
    return TypeError(f"xcore.{who} must take {wanted}, but is written with {given}.")


def custom_rule_pair(who: str, name: str, given: Any, meaning: str) -> TypeError:
    return TypeError(
        f"xcore.{who}: the rule of {name} must return a pair {meaning}, given {describe(given)}."
    )


def custom_rule_leaf(who: str, what: str, given: Any, expected: Any) -> MismatchError:
    needed = (
        f"need {expected}"
        if expected is not None
        else "must be None or have dtype float0 (it belongs to integers)"
    )
    return MismatchError(f"xcore.{who}: {what} is {describe(given)}, but {needed}.")


def custom_rule_results(who: str, name: str, place: str, expected: Any, given: Any) -> DTypeError:
    return DTypeError(
        f"xcore.{who}: the rule of {name}{place} must return the results of the function, {_types(expected)}, "
        f"but returned {_types(given)}."
    )


def _types(types: Any) -> str:
    return f"({', '.join(map(str, types))})"


def traced_static_argument(who: str, name: str, i: int) -> TracerLeakError:
    return TracerLeakError(
        f"xcore.{who}: argument {i} of {name} is named by nondiff_argnums but is a traced array. Those are for "
        "Python values such as functions and flags; pass arrays as ordinary arguments, with a zero "
        "(None) derivative if need be."
    )


def keyword_only(who: str, name: str, names: Any) -> TypeError:
    return TypeError(
        f"xcore.{who}: {name} was given the keyword-only arguments {sorted(names)}; a derivative rule counts "
        "arguments by position, so make them positional."
    )


def no_transpose_solve() -> MissingRuleError:
    return NoTransposeError(
        "xcore.lax.custom_linear_solve: reverse-mode differentiation needs a solve with the transposed matrix. "
        "Give transpose_solve, or symmetric=True if the matrix is symmetric."
    )


def rule_closes_over_tracer(tracer: Any, origin: str) -> TypeError:
    return TypeError(
        f"xcore: a derivative rule (of custom_jvp or custom_vjp) that is part of a compiled function uses a "
        f"traced value from outside, {tracer.type}.{origin} Pass that value as an argument of the function "
        "whose rule it is; closure_convert does so for closures."
    )
