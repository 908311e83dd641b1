"""Derivatives of solutions: by what holds at a solution, not through the steps that led there.

A minimum x(p) has ∇f(x, p) = 0, a solution of equations F(x, p) = 0, a fixed point x - T(x, p) = 0.
With bounds, x = P(x - ∇f), P the projection; with constraints, the conditions of Karush, Kuhn and
Tucker. Each is a system F(x, p) = 0, and x' = -(∂ₓF)⁻¹ ∂ₚF p'. (Blondel et al. 2022)

What a result tells besides x, such as the least value v = f(x, p), is one more unknown with the
equation v - f(x, p) = 0: evaluated only when it is differentiated.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import custom_jvp, custom_root, eval_shape, jit, vmap
from .._control.checks import report
from .._control.levels import MINIMISERS, MINIMISERS_ALONE
from .._control.once import once
from .._core import Array, findings, is_evaluating, tree, typeof
from ..linalg import GMRES, FunctionOperator, linear_solve

DENSE = 512  # systems of more unknowns are solved by GMRES


def solve_linear(mv, y):
    """The v with mv(v) = y, mv linear."""
    n = typeof(y).shape[0]
    if n <= DENSE:
        return xnp.linalg.solve(vmap(mv)(xnp.eye(n, dtype=y.dtype)).T, y)
    size = 50 * float(xnp.finfo(y.dtype).eps)
    operator = FunctionOperator(lambda _, v: mv(v), None, (n, n))
    found = linear_solve(operator, y, GMRES(rtol=size, max_steps=n, restart=60), report=True)
    return found.value


@custom_jvp
def _watched(x, failed):
    return x


@_watched.defjvp
def _tell_if_failed(primals, tangents):
    """Under the setting ``sanitize``, where a derivative of x is asked for."""
    message = "the derivative of a solution that was not found means nothing: look at success, or check() the result"
    report("derivative", primals[1] > 0, message)
    return primals[0], tangents[0]


@contextlib.contextmanager
def _replaced(owner, **attributes):
    """Other values of an object's attributes for a while."""
    before = {k: getattr(owner, k) for k in attributes}
    vars(owner).update(attributes)
    try:
        yield
    finally:
        vars(owner).update(before)


def at_once(solve, problem, *starts) -> Any:
    """``solve(*starts)`` as one program, which is traced once for all that it refers to.

    Numbers and arrays among the problem's ``args`` are arguments of the program.
    """
    leaves, structure = tree.flatten(problem.args)
    moves = [isinstance(x, (Array, np.ndarray, np.inexact, float, complex)) for x in leaves]
    moving = [x for x, m in zip(leaves, moves) if m]
    held = [None if m else x for x, m in zip(leaves, moves)]

    def run(moving, *starts):
        rest = iter(moving)
        args = [next(rest) if m else x for x, m in zip(held, moves)]
        with _replaced(problem, args=tree.unflatten(structure, args)):
            return solve(*starts)

    with _replaced(problem, args=None), _replaced(problem.flat, start=None):
        program = once(run, compiler_options=MINIMISERS_ALONE)
    try:
        return program(moving, *starts)
    except Exception:
        if not moving:
            raise
    # the function may have to know its args, or what is wrong is seen better in them
    return jit(solve, compiler_options=MINIMISERS_ALONE)(*starts)


def differentiable(equation, value, solve, x0, problem, checkpoint=None, linear=None):
    """``solve(x0) -> (x, aux)`` as a function with derivatives.

    Args:
      equation: ``equation(x)``, zero at the solution.
      value: ``value(x)``, a tree; ``aux["value"]`` is the same at the solution, and so gets derivatives.
      solve: finds x and aux, a dict.
      x0: where to start.
      problem: what ``solve`` solves, with ``args`` and ``flat``.
      checkpoint: where ``solve`` keeps states on disk, and so is no program.
      linear: solves mv(v) = y for a linear mv as ``solve_linear`` does, which it replaces.

    Returns x and aux. Called on arrays, nothing can be differentiated, and it is just ``solve``.
    """
    if checkpoint is not None:
        return solve(x0)
    if is_evaluating():
        return at_once(solve, problem, x0)
    values, structure = tree.flatten(eval_shape(value, x0))

    def system(unknowns):
        x, seen = unknowns
        known = tree.leaves(value(x))
        return equation(x), [a - b for a, b in zip(seen, known)]

    solved: Any = jit(solve, compiler_options=MINIMISERS)

    def run(_, start):
        x, aux = solved(start[0])
        return (x, tree.leaves(aux["value"])), {k: v for k, v in aux.items() if k != "value"}

    def tangent(f, y):
        zeros = [xnp.zeros_like(v) for v in y[1]]
        dx = (linear or solve_linear)(lambda v: f((v, zeros))[0], y[0])
        dx = dx.astype(y[0].dtype)  # factors of a sparse one are wider than 16 bits
        rest = f((dx, zeros))[1]
        return dx, [a - b for a, b in zip(y[1], rest)]

    start = (ops.stop_gradient(x0), [xnp.zeros(v.shape, v.dtype) for v in values])
    (x, at_x), aux = custom_root(system, start, run, tangent, has_aux=True)
    if findings.looks_for("derivative"):
        failed = (aux["status"] != 0).astype(x0.dtype)
        x, at_x = _watched(x, failed), [_watched(v, failed) for v in at_x]
    return x, aux | {"value": tree.unflatten(structure, at_x)}
