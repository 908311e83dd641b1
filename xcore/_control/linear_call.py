"""``linear_call``: a linear function together with its transpose, both given by the user.

The operation's arguments are residuals, then linear arguments. Its two programs are

forward     (residuals, linear arguments) -> results
backward    (residuals, cotangents of results) -> cotangents of linear arguments

and transposing it exchanges them, so a transposed call can be transposed again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._core import Linear, Op, PyTree, boundary, errors, tree, typeof
from .._ops.elementwise import strengthened
from .._ops.families import broadcast, sum_of_changes
from .._transforms.programs import batch_program, zeros_for
from .._transforms.transpose import instantiate
from .call import call
from .carry import Body, check_like, leaf_values, merge_captured


def _jvp(primals, tangents, **params):
    n = params["count"]
    terms = []
    if any(t is not None for t in tangents[n:]):
        known = zeros_for(tangents[n:], primals[n:])
        terms.append(linear_call_op(*primals[:n], *known, **params))
    if any(
        t is not None for t in tangents[:n]
    ):  # residuals enter in any way, so through the program
        none = [None] * (len(primals) - n)
        program = params["forward"]
        terms.append(call.rule("jvp")(primals, [*tangents[:n], *none], program=program)[1])
    return linear_call_op(*primals, **params), list(map(sum_of_changes, zip(*terms, strict=True)))


def _transpose(cotangents, *args, forward, backward, count):
    if any(isinstance(a, Linear) for a in args[:count]):
        raise errors.missing_rule(linear_call_op, "transpose", "It is not linear in its residuals.")
    cts = [instantiate(ct, t) for ct, t in zip(cotangents, forward.out_types, strict=True)]
    found = linear_call_op(*args[:count], *cts, forward=backward, backward=forward, count=count)
    known = [
        ct if isinstance(a, Linear) else None for a, ct in zip(args[count:], found, strict=True)
    ]
    return [*[None] * count, *known]


def _batch(size, args, batched, *, forward, backward, count, axis_name=None):
    # linear arguments that batch elements share are spread before, so that their cotangents are summed there
    wanted = [*batched[:count], *[True] * (len(args) - count)]
    full = [
        broadcast(x, size) if w and not b else x
        for x, w, b in zip(args, wanted, batched, strict=True)
    ]
    outs = [True] * len(forward.outputs)
    back = [*batched[:count], *outs]
    f, _ = batch_program(forward, size, wanted, outs, axis_name)
    b, _ = batch_program(backward, size, back, wanted[count:], axis_name)
    return linear_call_op(*full, forward=f, backward=b, count=count), outs


linear_call_op = Op(
    "linear_call",
    type=lambda *types, forward, backward, count: forward.out_types,
    lower=lambda ctx, *values, forward, backward, count: ctx.program(forward, values),
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    many=True,
    nested=True,
    effects=lambda forward, backward, count: forward.effects,
    steps=lambda run, *args, forward, **params: run(forward, args),
)


@boundary
def linear_call(
    fun: Callable[..., Any], fun_transpose: Callable[..., Any], residual_args: PyTree,
    linear_args: PyTree,
) -> PyTree:  # fmt: skip
    """``fun(residual_args, linear_args)``, transposed by the function that is given for it.

    Args:
      fun: function of residuals and linear arguments, linear in the latter.
      fun_transpose: function of residuals and a cotangent of fun's result, which returns
        cotangents of the linear arguments. The transpose of ``fun_transpose`` is ``fun``.
      residual_args, linear_args: pytrees of arrays, what both functions are given.

    >>> import xcore as xc
    >>> def divide(y, x):
    ...     return xc.custom_derivatives.linear_call(
    ...         lambda y, x: x / y, lambda y, g: g / y, y, x)
    >>> float(xc.linear_transpose(lambda x: divide(4.0, x), 1.0)(2.0)[0])
    0.5
    """
    who = "custom_derivatives.linear_call"
    residuals, _ = leaf_values(who, "residual_args", residual_args)
    linear, l_tree = leaf_values(who, "linear_args", linear_args)
    residuals, linear = [[strengthened(x) for x in xs] for xs in (residuals, linear)]
    r_types, l_types = [[typeof(x) for x in xs] for xs in (residuals, linear)]
    both = tree.structure((residual_args, linear_args))
    forward = Body(who, fun, both, [*r_types, *l_types], "fun")
    n_out = forward.result.num_leaves
    out_types = [t.strong() for t in forward.program.out_types]
    cotangent = tree.unflatten(forward.result, range(n_out))
    given = tree.structure((residual_args, cotangent))
    backward = Body(who, fun_transpose, given, [*r_types, *out_types], "fun_transpose")
    what = "the result of fun_transpose"
    check_like(who, what, l_tree, l_types, backward.result, backward.program.out_types)
    (f, b), captured = merge_captured([forward, backward])
    outs = linear_call_op(
        *captured, *residuals, *linear, forward=f, backward=b, count=len(captured) + len(residuals)
    )
    return tree.unflatten(forward.result, outs)
