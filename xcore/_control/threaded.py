"""A state that goes through a program, from equation to equation, beside its values.

The error of ``checkify`` is one, the flag that says whether a batch element takes part is another. A threaded
program takes the state in front of its inputs, and returns it in front of its results. Operations
that hold programs have a rule for it, ``threaded(threader, state, args, **params) -> state, results``:
the state goes through calls as an argument and through loops as a part of the carry.
"""

from __future__ import annotations

from .._core import bind, dtypes, typeof
from .._core.program import Eqn, Program, Var, literal_value, trace_closed
from .._core.source import borrowed
from .._ops import stop_gradient


class Threader:
    """What a state is and what equations do to it.

    Attributes:
      key: a name for it; equal ones do the same.
      types: the types of the state's values.
      concerns: ``concerns(equation) -> bool`` for equations that hold no programs.
      visit: ``visit(equation, state, inputs) -> (state, results)`` for those that it concerns.
      changes: whether visits change the state.
    """

    __slots__ = ("changes", "concerns", "key", "types", "visit")

    def __init__(self, key, types, concerns, visit, changes: bool):
        self.key, self.types, self.changes = key, list(types), changes
        self.concerns, self.visit = concerns, visit

    def finds(self, p: Program) -> bool:
        """Whether the state concerns any equation of a program, or of programs in it."""

        def search():
            return any(
                any(map(self.finds, programs_of(e.params))) if e.op.nested else self.concerns(e)
                for e in p.eqns
            )

        return p.memo(("found", self.key), search)

    def run(self, p: Program, state, args):
        """(state, results) of a program."""
        env = dict(zip(p.inputs, args, strict=True))
        outside = borrowed.where
        try:
            for e in p.eqns:
                borrowed.where = e.where or outside
                ins = [env[a] if type(a) is Var else literal_value(a) for a in e.inputs]
                state, outs = self._equation(e, state, ins)
                env.update(zip(e.outputs, outs, strict=True))
        finally:
            borrowed.where = outside
        return state, [env[a] if type(a) is Var else literal_value(a) for a in p.outputs]

    def _equation(self, e: Eqn, state, ins):
        if not e.op.nested:
            return (
                self.visit(e, state, ins)
                if self.concerns(e)
                else (state, bind(e.op, *ins, **e.params))
            )
        if not any(map(self.finds, programs_of(e.params))):
            return state, bind(e.op, *ins, **e.params)
        if e.op.threaded is None:
            return self._keep_rule(e, state, ins)
        return e.op.threaded(self, state, ins, **e.params)

    def _keep_rule(self, e: Eqn, state, ins):
        """Operations with derivatives of their own keep them: what they compute comes from themselves,
        the state from running their programs beside them. XLA merges the two."""
        outs = bind(e.op, *ins, **{k: self._param_without(v) for k, v in e.params.items()})
        fixed = [stop_gradient(x) if dtypes.is_inexact(typeof(x).dtype) else x for x in ins]

        def run(p, args):
            nonlocal state
            state, results = self.run(p, state, args)
            return results

        e.op.run_steps(run, fixed, e.params)
        return state, outs

    def program(self, p: Program) -> Program:
        """(state, inputs) -> (state, results)."""
        n = len(self.types)

        def flat(*args):
            state, outs = self.run(p, list(args[:n]), args[n:])
            return [*state, *outs]

        make = lambda: trace_closed(flat, [*self.types, *p.in_types], p.name)  # noqa: E731
        return p.memo(("threaded", self.key), make)

    def split(self, outs):
        """(state, results) of a threaded program."""
        n = len(self.types)
        return list(outs[:n]), list(outs[n:])

    def without(self, p: Program) -> Program:
        """The program without the equations that the state concerns and that have no results."""
        if not self.finds(p):
            return p

        def make():
            kept = [e for e in p.eqns if e.op.nested or e.outputs or not self.concerns(e)]
            return Program(p.inputs, [*map(self._equation_without, kept)], p.outputs, p.name)

        return p.memo(("without", self.key), make)

    def _equation_without(self, e: Eqn) -> Eqn:
        if not e.op.nested:
            return e
        params = {k: self._param_without(v) for k, v in e.params.items()}
        return Eqn(e.op, e.inputs, e.outputs, params, e.where)

    def _param_without(self, v):
        if isinstance(v, Program):
            return self.without(v)
        return tuple(map(self._param_without, v)) if isinstance(v, tuple) else v


def programs_of(params: dict) -> list[Program]:
    """The programs among the params of an operation."""
    flat = [q for v in params.values() for q in (v if isinstance(v, tuple) else (v,))]
    return [q for q in flat if isinstance(q, Program)]
