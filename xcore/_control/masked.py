"""Programs that act only if a flag is set.

Where batch elements of a vmap part, at a branch or at the end of a loop, all of them go all ways, and what does
not concern a batch element is not selected. What cannot be undone must not happen there: prints, callbacks
with side effects, and checks, which would fail for batch elements that are not concerned.
"""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .._core import ArrayType, Program, bind, dtypes, typeof
from .callback import callback_op
from .checks import check_op
from .threaded import Threader


class Guarded:
    """A host function that takes a flag first, and is called only if it is set."""

    __slots__ = ("inner", "name", "types")

    def __init__(self, inner, types):
        self.inner, self.name, self.types = inner, inner.name, types

    def __call__(self, flag, *arrays):
        return self.inner(*arrays) if flag else [np.zeros(t.shape, t.dtype) for t in self.types]

    def canonical(self) -> str:
        return f"!guarded({self.inner.canonical()})"


def _concerns(e) -> bool:
    return e.op is check_op or (e.op is callback_op and e.params["effect"] != "pure")


def _visit(e, state, ins):
    (flag,) = state
    if e.op is check_op:
        code, *values = ins
        t = typeof(code)
        wide = ops.broadcast_in_dim(flag, shape=t.shape, dims=()) if t.shape else flag
        ins, params = [ops.select(wide, code, ops.zeros(t)), *values], e.params
    else:
        ins = [flag, *ins]
        params = dict(e.params, function=Guarded(e.params["function"], e.params["types"]))
    return state, bind(e.op, *ins, **params)


_masker = Threader("mask", [ArrayType((), dtypes.bool_)], _concerns, _visit, changes=False)


def masked(p: Program) -> Program:
    """(flag, inputs) -> results."""

    def make():
        q = _masker.program(p)
        return Program(q.inputs, q.eqns, q.outputs[1:], p.name)

    return p.memo("masked", make)
