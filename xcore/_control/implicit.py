"""Solutions of equations, differentiated by the implicit function theorem, not through the solver.

Linear equations.  A x = b, where A and b depend on parameters. Differentiating gives
A' x + A x' = b', so

    x' = A⁻¹ (b' - A' x)

is one more solve with the same A. The map b ↦ A⁻¹ b is linear; its transpose c ↦ A⁻ᵀ c is a solve
with Aᵀ. (M. Giles, Collected matrix derivative results for forward and reverse mode algorithmic
differentiation, 2008, section 2.2.3.)

Nonlinear equations.  f(x, p) = 0 with ∂ₓf invertible defines x(p). Differentiating f(x(p), p) = 0
gives ∂ₓf x' + ∂ₚf p' = 0, so

    x' = - (∂ₓf)⁻¹ ∂ₚf p'

is a linear solve with A = ∂ₓf at the solution, where the starting point plays no role. (M. Blondel
et al., Efficient and modular implicit differentiation, NeurIPS 2022.)

Both rules are made of operations that have rules themselves, so they hold for all higher
derivatives. Parameters are whatever the functions close over; it becomes arguments of the
operations, followed by b (or the starting point).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._core import (
    Linear,
    Op,
    PyTree,
    boundary,
    errors,
    eval_program,
    rule_errors,
    trace_closed,
    tree,
    typeof,
)
from .._ops import broadcast, zeros
from .._ops.elementwise import convert, neg, strengthened, sub
from .._transforms.api import linearize
from .._transforms.programs import (
    batch_program,
    fill,
    marked,
    tangent_program,
    transpose_program,
    zeros_for,
)
from .._transforms.transpose import instantiate
from .call import call_program
from .carry import Body, check_like, leaf_values, merge_captured, promoted_start
from .levels import OF_FEW_NUMBERS

# The linear operation
# Programs: ``matvec``: (parameters, x) -> A x. ``solve``: (parameters, b) -> x and what else it
# tells. ``back``: how to solve with Aᵀ: a pair of such programs, None if that is not known, or
# BY_TRANSPOSITION where ``solve`` is itself made of linear operations.

BY_TRANSPOSITION = "by transposition"


def _change_of(program, primals, tangents) -> list:
    """The tangents of a program's results where only some inputs vary; None for zeros."""
    nonzero = [t is not None for t in tangents]
    q, nonzero_out = tangent_program(program, nonzero)
    return fill(call_program(q, [*primals, *marked(tangents, nonzero)]), nonzero_out)


def _difference(b, a):
    return b if a is None else neg(a) if b is None else sub(b, a)


def _linear_jvp(primals, tangents, **params):
    n = params["count"]
    outs = linear_solve(*primals, **params)
    k = len(primals) - n
    x, rest = outs[:k], outs[k:]
    rhs = tangents[n:]
    if any(t is not None for t in tangents[:n]):
        changes = _change_of(params["matvec"], [*primals[:n], *x], [*tangents[:n], *[None] * k])
        rhs = [_difference(b, a) for a, b in zip(changes, rhs, strict=True)]
    if all(t is None for t in rhs):
        return outs, [None] * len(outs)
    solved = linear_solve(*primals[:n], *zeros_for(rhs, primals[n:]), **params)
    return outs, [*solved[:k], *[None] * len(rest)]


def _backward(matvec, solve, back, count):
    """(vecmat, transpose_solve)."""
    if back is None:
        raise rule_errors.no_transpose_solve()
    if back == BY_TRANSPOSITION:
        return transpose_program(matvec, count), transpose_program(solve, count)
    return back


def _linear_transpose(cotangents, *args, matvec, solve, back, count):
    if any(isinstance(a, Linear) for a in args[:count]):
        raise errors.missing_rule(linear_solve, "transpose", "It is not linear in its matrix.")
    types = [typeof(a) for a in args[count:]]
    cts = [instantiate(ct, t) for ct, t in zip(cotangents[: len(types)], types, strict=True)]
    vecmat, transpose_solve = _backward(matvec, solve, back, count)
    found = linear_solve(
        *args[:count], *cts, matvec=vecmat, solve=transpose_solve, back=(matvec, solve), count=count
    )
    return [*[None] * count, *found[: len(types)]]


def _every_batched(program, size, batched, axis_name):
    return batch_program(program, size, batched, [True] * len(program.outputs), axis_name)[0]


def _broadcast_unknowns(size, args, batched, count):
    """The arguments with what is solved for in every batch element, and which of them are batched then."""
    out_batched = [*batched[:count], *[True] * (len(args) - count)]
    wanted = zip(args, out_batched, batched, strict=True)
    return [broadcast(x, size) if need and not b else x for x, need, b in wanted], out_batched


def _linear_batch(size, args, batched, *, matvec, solve, back, count, axis_name=None):
    full, out_batched = _broadcast_unknowns(size, args, batched, count)
    made = [_every_batched(p, size, out_batched, axis_name) for p in (matvec, solve)]
    if isinstance(back, tuple):
        back = tuple(_every_batched(p, size, out_batched, axis_name) for p in back)
    outs = linear_solve(*full, matvec=made[0], solve=made[1], back=back, count=count)
    return outs, [True] * len(outs)


linear_solve = Op(
    "linear_solve",
    type=lambda *types, matvec, solve, back, count: solve.out_types,
    lower=lambda ctx, *values, matvec, solve, back, count: ctx.program(solve, values),
    jvp=_linear_jvp,
    transpose=_linear_transpose,
    batch=_linear_batch,
    many=True,
    nested=True,
    effects=lambda matvec, solve, back, count: solve.effects,
    steps=lambda run, *args, solve, **params: run(solve, args),
)

# The nonlinear operation
# Programs: ``f``: (parameters, x) -> f(x). ``solve``: (parameters, start) -> x and what else it
# tells. ``tangent``: (parameters, x, y) -> v with ∂ₓf v = y.


def _slope_program(f, count: int):
    """(parameters, x, v) -> ∂ₓf v."""
    k = len(f.inputs) - count

    def make():
        q, nonzero_out = tangent_program(f, [*[False] * count, *[True] * k])

        def every(*args):
            found = fill(eval_program(q, args), nonzero_out)
            return [zeros(t.strong()) if x is None else x for x, t in zip(found, f.out_types)]

        return trace_closed(every, q.in_types, f.name)

    return f.memo(("slope", count), make)


def _root_jvp(primals, tangents, **params):
    n, f = params["count"], params["f"]
    k = len(primals) - n
    outs = root(*primals, **params)
    x = outs[:k]
    if not any(t is not None for t in tangents[:n]):
        return outs, [None] * len(outs)
    changes = _change_of(f, [*primals[:n], *x], [*tangents[:n], *[None] * k])
    if all(t is None for t in changes):
        return outs, [None] * len(outs)
    rhs = map(neg, zeros_for(changes, x))
    solved = linear_solve(
        *primals[:n], *x, *rhs, matvec=_slope_program(f, n), solve=params["tangent"],
        back=BY_TRANSPOSITION, count=n + k,
    )  # fmt: skip
    return outs, [*solved, *[None] * (len(outs) - k)]


def _root_batch(size, args, batched, *, f, solve, tangent, count, axis_name=None):
    full, out_batched = _broadcast_unknowns(size, args, batched, count)
    outs = root(
        *full,
        f=_every_batched(f, size, out_batched, axis_name),
        solve=_every_batched(solve, size, out_batched, axis_name),
        tangent=_every_batched(tangent, size, out_batched + out_batched[count:], axis_name),
        count=count,
    )
    return outs, [True] * len(outs)


root = Op(
    "root",
    type=lambda *types, f, solve, tangent, count: solve.out_types,
    lower=lambda ctx, *values, f, solve, tangent, count: ctx.program(solve, values),
    jvp=_root_jvp,
    batch=_root_batch,
    many=True,
    nested=True,
    effects=lambda f, solve, tangent, count: solve.effects,
    steps=lambda run, *args, solve, **params: run(solve, args),
)

# Public functions


def _with_aux(who: str, what: str, has_aux: bool, solver):
    """A solver that returns a pair (solution, aux), aux being None where there is none."""

    def pair(*args):
        result = solver(*args)
        if not has_aux:
            return result, None
        if not (isinstance(result, (tuple, list)) and len(result) == 2):
            raise TypeError(
                f"xcore.{who}: with has_aux=True, {what} must return a pair (solution, aux), "
                f"given {errors.describe(result)}."
            )
        return tuple(result)

    return pair


class _Equation:
    """The trees that an equation's functions take and return, and their names in messages.

    Python numbers in ``value`` take the dtype that ``f``, the equation's function, gives them.
    """

    def __init__(self, who: str, what: str, value, f):
        values, self.structure = leaf_values(who, what, value)
        types = [typeof(x) for x in values]
        if any(t.weak for t in types):
            body = Body(who, f, self.arguments(), types, what)
            if body.result == self.structure:
                values = promoted_start(values, body) or values
        self.who, self.values = who, [strengthened(x) for x in values]
        self.types = [typeof(x) for x in self.values]

    def arguments(self, copies: int = 1):
        """The structure of the arguments of a function of such trees."""
        whole = tree.unflatten(self.structure, range(self.structure.num_leaves))
        return tree.structure((whole,) * copies)

    def traced(self, what: str, f, copies: int = 1, pair: bool = False) -> Body:
        """A function of such trees, which returns one too, or a pair of one and something else."""
        body = Body(self.who, f, self.arguments(copies), self.types * copies, what)
        found = tree.treedef_children(body.result)[0] if pair else body.result
        given = body.program.out_types[: found.num_leaves]
        check_like(self.who, f"the result of {what}", self.structure, self.types, found, given)
        return body


@boundary
def custom_linear_solve(
    matvec, b, solve, transpose_solve=None, symmetric: bool = False, has_aux: bool = False
):
    """The solution x of ``matvec(x) = b``, with derivatives that need no look into the solver.

    Args:
      matvec: linear function of x, a tree of arrays like b. It may close over arrays; derivatives
        with respect to them are right.
      b: right-hand side, an array or a tree of arrays.
      solve: ``solve(matvec, b) -> x``; need not be differentiable.
      transpose_solve: ``transpose_solve(vecmat, c) -> x`` solves with the transposed function;
        needed for reverse mode unless the function is symmetric.
      symmetric: matvec equals its transpose, so ``solve`` serves both.
      has_aux: the solvers return (x, aux); then so does this function.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> def richardson(matvec, b):  # a loop, which grad need not look into
    ...     return xc.lax.fori_loop(0, 99, lambda i, x: x + 0.4 * (b - matvec(x)), b)
    >>> def solution(d, b):
    ...     return xc.lax.custom_linear_solve(lambda x: d * x, b, richardson, symmetric=True)
    >>> float(solution(2.0, 6.0)), float(xc.grad(solution)(2.0, 6.0))  # b / d, -b / d²
    (3.0, -1.5)
    """
    who = "lax.custom_linear_solve"
    given = _Equation(who, "b", b, matvec)
    solver = _with_aux(who, "solve", has_aux, solve)
    linear = given.traced("matvec", matvec)
    bodies = [linear, given.traced("solve", lambda b: solver(matvec, b), pair=True)]
    if transpose_solve is not None:
        back_solver = _with_aux(who, "transpose_solve", has_aux, transpose_solve)
        vecmat = _transpose_linear(linear, given.structure)
        bodies.append(given.traced("transpose_solve", lambda c: back_solver(vecmat, c), pair=True))
    (a, forward, *backward), captured = merge_captured(bodies)
    for program in (forward, *backward):
        program.options = tuple(OF_FEW_NUMBERS.items())
    n = len(captured)
    back = (a, forward) if symmetric else None
    if backward:
        back = (a if symmetric else transpose_program(a, n), backward[0])
    outs = linear_solve(*captured, *given.values, matvec=a, solve=forward, back=back, count=n)
    x, aux = tree.unflatten(bodies[1].result, outs)
    return (x, aux) if has_aux else x


def _transpose_linear(linear: Body, structure):
    """The transpose of a traced linear function from trees to trees of one structure."""
    program = transpose_program(linear.program, len(linear.captured))

    def vecmat(c):
        who = "lax.custom_linear_solve"
        leaves, given = leaf_values(who, "the argument of vecmat", c)
        if given != structure:
            tree.check_structure(structure, c, f"{who}: the argument of vecmat")
        expected = program.in_types[len(linear.captured) :]
        leaves = [
            convert(x, dtype=t.dtype) if typeof(x).weak else x
            for x, t in zip(leaves, expected, strict=True)
        ]
        return tree.unflatten(structure, call_program(program, [*linear.captured, *leaves]))

    return vecmat


@boundary
def custom_root(
    f: Callable[..., Any], initial_guess: PyTree, solve: Callable[..., Any],
    tangent_solve: Callable[..., Any], has_aux: bool = False,
) -> PyTree:  # fmt: skip
    """A solution x of ``f(x) = 0``, with derivatives by the implicit function theorem.

    Args:
      f: function from a tree of arrays to a tree like it. It may close over arrays, with respect
        to which the solution is then differentiable.
      initial_guess: where the solver starts.
      solve: ``solve(f, initial_guess) -> x``; need not be differentiable.
      tangent_solve: ``tangent_solve(g, y) -> v`` solves ``g(v) = y`` for a linear function g, the
        derivative of f at the solution; it must be linear in y. For scalars ``y / g(1.0)``.
      has_aux: ``solve`` returns (x, aux); then so does this function.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> def newton(f, x):
    ...     return xc.lax.fori_loop(0, 20, lambda i, x: x - f(x) / xc.grad(f)(x), x)
    >>> def cube_root(a):
    ...     return xc.lax.custom_root(
    ...         lambda x: x**3 - a, 1.0, newton, lambda g, y: y / g(1.0))
    >>> round(float(cube_root(8.0)), 4), round(float(xc.grad(cube_root)(8.0)), 4)
    (2.0, 0.0833)
    """
    who = "lax.custom_root"
    given = _Equation(who, "initial_guess", initial_guess, f)
    solver = _with_aux(who, "solve", has_aux, solve)

    def tangent(x, y):
        return tangent_solve(linearize(f, x)[1], y)

    bodies = [
        given.traced("f", f),
        given.traced("solve", lambda x: solver(f, x), pair=True),
        given.traced("tangent_solve", tangent, copies=2),
    ]
    (p, forward, slope), captured = merge_captured(bodies)
    n = len(captured)
    outs = root(*captured, *given.values, f=p, solve=forward, tangent=slope, count=n)
    x, aux = tree.unflatten(bodies[1].result, outs)
    return (x, aux) if has_aux else x
