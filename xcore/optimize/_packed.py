"""Loops whose scalars travel as one vector.

Each scalar that goes around a loop is a small kernel of its own for the compiler: time to compile,
time to start. As one vector they are one kernel.
"""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control.while_loop import while_loop
from .._core import dtypes, tree
from .._core.types import typeof


def marks(table: np.ndarray):
    """A table of 0 and 1 as booleans that the compiler knows."""
    known = ops.constant(table.astype(np.int8))
    return ops.ne(known, ops.zeros(known.type))


class Packing:
    """How a state splits into a vector of its scalars and the rest."""

    def __init__(self, state):
        leaves, self.structure = tree.flatten(state)
        types = [typeof(x) for x in leaves]
        floats = [t.dtype for t in types if not t.shape and dtypes.is_inexact(t.dtype)]
        self.dtype = floats[0] if floats else np.dtype(np.float32)
        self.types = types
        self.inside = [self._fits(t) for t in types]

    def _fits(self, t) -> bool:
        # counters stay below 2²⁴, up to which all integers are floats
        return not t.shape and (t.dtype == self.dtype or t.dtype in (np.int32, np.bool_))

    def pack(self, state):
        leaves = tree.flatten_up_to(self.structure, state)
        scalars = [xnp.asarray(x).astype(self.dtype) for x, i in zip(leaves, self.inside) if i]
        rest = [x for x, i in zip(leaves, self.inside) if not i]
        # a chain of selections is one kernel; a concatenation would be one for each of its parts
        shape = (len(scalars),)
        vector = xnp.zeros(shape, self.dtype)
        for x, here in zip(scalars, np.eye(len(scalars), dtype=np.int8)):
            spread = ops.broadcast_in_dim(x, shape=shape, dims=())
            vector = ops.select(marks(here), spread, vector)
        return vector, rest

    def unpack(self, carry):
        vector, rest = carry
        scalars, rest = iter(range(len(self.types))), iter(rest)
        leaves = [
            self._scalar(vector[next(scalars)], t) if i else next(rest)
            for t, i in zip(self.types, self.inside)
        ]
        return tree.unflatten(self.structure, leaves)

    @staticmethod
    def _scalar(x, t):
        return x > 0.5 if t.dtype == np.bool_ else x.astype(t.dtype)


def loop(going, step, state, run=None):
    """``while_loop``, or ``run`` with its arguments, whose scalars travel as one vector."""
    run = run or (lambda *args: while_loop(*args, checkpoints=0))
    packing = Packing(state)
    carry = run(
        lambda c: going(packing.unpack(c)),
        lambda c: packing.pack(step(packing.unpack(c))),
        packing.pack(state),
    )
    return packing.unpack(carry)
