"""Loops whose scalars travel as two vectors, of floats and of integers.

Each scalar that goes around a loop is a small kernel of its own for the compiler: time to compile,
time to start. As one vector they are one kernel.
"""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import while_loop
from .._core import dtypes, tree, typeof


def marks(table: np.ndarray):
    """A table of 0 and 1 as booleans that the compiler knows."""
    known = ops.constant(table.astype(np.int8))
    return ops.ne(known, ops.zeros(known.type))


class Packing:
    """How a state splits into a vector of its floating scalars, one of its counters, and the rest."""

    def __init__(self, state):
        leaves, self.structure = tree.flatten(state)
        types = [typeof(x) for x in leaves]
        floats = [t.dtype for t in types if not t.shape and dtypes.is_inexact(t.dtype)]
        self.dtype = floats[0] if floats else np.dtype(np.float32)
        self.types = types
        self.kinds = [self._kind(t) for t in types]

    def _kind(self, t):
        """The vector that a leaf travels in, if it does: "float" or "integer".

        Integers do not go with floats: a bfloat16 counter would stop at 256, and its loop never.
        """
        if t.shape or t.dtype not in (self.dtype, np.int32, np.bool_):
            return None
        return "float" if t.dtype == self.dtype else "integer"

    def _of_kind(self, leaves, kind):
        return [x for x, k in zip(leaves, self.kinds) if k == kind]

    def pack(self, state):
        leaves = tree.flatten_up_to(self.structure, state)
        dtype = {"float": self.dtype, "integer": np.dtype(np.int32)}
        vectors = [self._vector(self._of_kind(leaves, k), dtype[k]) for k in self._vectors()]
        return vectors, self._of_kind(leaves, None)

    def _vectors(self):
        return [k for k in ("float", "integer") if k in self.kinds]

    @staticmethod
    def _vector(scalars, dtype):
        # a chain of selections is one kernel; a concatenation would be one for each of its parts
        shape = (len(scalars),)
        vector = xnp.zeros(shape, dtype)
        for x, here in zip(scalars, np.eye(len(scalars), dtype=np.int8)):
            spread = ops.broadcast_in_dim(xnp.asarray(x, dtype), shape=shape, dims=())
            vector = ops.select(marks(here), spread, vector)
        return vector

    def unpack(self, carry):
        vectors, rest = carry
        parts = {None: iter(rest)} | {
            k: iter([v[i] for i in range(typeof(v).shape[0])])
            for k, v in zip(self._vectors(), vectors)
        }
        leaves = [self._leaf(next(parts[k]), t) for k, t in zip(self.kinds, self.types)]
        return tree.unflatten(self.structure, leaves)

    @staticmethod
    def _leaf(x, t):
        return x != 0 if t.dtype == np.bool_ and x.dtype == np.int32 else x


def loop(going, step, state, run=None):
    """``while_loop``, or ``run`` with its arguments, whose scalars travel as two vectors."""
    run = run or (lambda *args: while_loop(*args, checkpoints=0))
    packing = Packing(state)
    carry = run(
        lambda c: going(packing.unpack(c)),
        lambda c: packing.pack(step(packing.unpack(c))),
        packing.pack(state),
    )
    return packing.unpack(carry)
