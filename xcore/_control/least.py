"""What no device can do a program without: operations of products and factorisations, and bytes that no cache keeps.

Bytes are those of arguments and results that are wholly read and written, and in loops those of arrays that are larger
than any cache. What only a part may be read of, or be written in place, does not count. A loop whose number of steps is
not known counts one; of branches the one that costs least counts.
"""

# Checkers do not see: None is excluded by another value.
# pyright: reportOptionalMemberAccess=false

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from .._core import Eqn, Program, Var, dtypes
from .costs import FACTORS, operations

_CACHE = 1 << 28  # bytes
_FULL = (None, "highest", "float32")
_UPDATES = ("dynamic_update_slice", "scatter")
_PARTS = ("dynamic_slice", "gather", "slice", *_UPDATES)


def least(p: Program, donors: Iterable[int] = ()) -> Counter:
    """ "bytes", and operations by the kind of numbers: "float64", "float32", "bfloat16"."""
    given = p.memo("least", lambda: _inside(p))
    free = sum(p.in_types[i].nbytes for i in donors)
    read = sum(v.type.nbytes for v in p.inputs if v in wholly_read(p, p.outputs))
    made = {v for v in p.outputs if isinstance(v, Var)} - set(p.inputs)
    written = sum(v.type.nbytes for v in made)
    return given + Counter({"bytes": read + max(written - free, 0)})


def wholly_read(p: Program, outputs: Iterable[Any]) -> set:
    """The variables all of which some of these outputs need."""
    needed = {v for v in outputs if isinstance(v, Var)}
    for e in reversed(p.eqns):
        if not needed.isdisjoint(e.outputs):
            needed.update(v for v in _read_by(e, needed) if isinstance(v, Var))
    return needed


def _read_by(e: Eqn, needed: set) -> Iterable[Any]:
    if not e.op.nested:
        return e.inputs[1:] if e.op.name in _PARTS else e.inputs
    body = e.params.get("body" if e.op.name == "scan" else "program")
    if type(body) is not Program or len(body.inputs) != len(e.inputs):
        return []
    wanted = [v for v, out in zip(body.outputs, e.outputs) if e.op.name == "scan" or out in needed]
    inner = wholly_read(body, wanted)
    return [v for v, inside in zip(e.inputs, body.inputs) if inside in inner]


def _inside(p: Program) -> Counter:
    return sum(map(_of_equation, p.eqns), Counter())


def _of_equation(e: Eqn) -> Counter:
    if not e.op.nested:
        return _operations(e)
    branches = e.params.get("branches")
    if branches:
        return min(map(_inside, branches), key=Counter.total)
    programs = [
        v for k, v in e.params.items() if type(v) is Program and k not in ("matvec", "f", "cond")
    ]
    found = sum(map(_inside, programs), Counter())
    steps = e.params["length"] if e.op.name == "scan" else 1
    times = e.params["mesh"].size if e.op.name == "shard_map" else steps
    found = Counter({k: times * v for k, v in found.items()})
    if e.op.name == "scan" and steps > 1:
        found["bytes"] += (steps - 1) * _of_step(e)
    return found


def _of_step(e: Eqn) -> int:
    """Bytes of a loop's arrays that each step reads or writes, where no cache has them."""
    body, (constants, carried) = e.params["body"], e.params["counts"]
    kept = body.inputs[: constants + carried]
    read = wholly_read(body, body.outputs)
    plain = {v for x in body.eqns if not (x.op.nested or x.op.name in _UPDATES) for v in x.outputs}
    moved = [v for v in kept if v in read] + [v for v in body.outputs[:carried] if v in plain]
    return sum(v.type.nbytes for v in moved if v.type.nbytes > _CACHE)


def _operations(e: Eqn) -> Counter:
    if e.op.name not in ("dot_general", "convolution", *FACTORS):
        return Counter()
    dtype = e.inputs[0].type.dtype
    if not dtypes.is_inexact(dtype):
        return Counter()
    wide = dtypes.to_real(dtype).itemsize
    exact = e.params.get("precision") in _FULL
    kind = "float64" if wide == 8 else "float32" if wide == 4 and exact else "bfloat16"
    return Counter({kind: operations(e)})
