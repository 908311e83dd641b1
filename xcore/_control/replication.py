"""Along which axes of a mesh the values of a program differ between devices.

A value is the same on all devices along an axis if it is computed from such values alone, or if it
has been summed (or otherwise collected) over that axis.
"""

from __future__ import annotations

from .._core import Literal, Program

SUMMED = frozenset({"psum", "psum_invariant", "pmax", "pmin"})
_COLLECTED = SUMMED | {"all_gather"}
_MOVED = {"ppermute", "all_to_all", "psum_scatter", "all_gather", "axis_index", "pvary"}


def varying(p: Program, inputs, collected=_COLLECTED) -> list[frozenset]:
    """For each result the axes along which it may differ, from those of the inputs.

    ``collected`` are the operations whose results are held to be the same.
    """
    inputs = tuple(map(frozenset, inputs))
    return p.memo(("varying", inputs, collected), lambda: _varying(p, inputs, collected))


def _varying(p: Program, inputs, collected) -> list[frozenset]:
    found = dict(zip(p.inputs, inputs, strict=True))

    def of(a) -> frozenset:
        return frozenset() if type(a) is Literal else found[a]

    for e in p.eqns:
        found.update(zip(e.outputs, outputs(e, [of(a) for a in e.inputs], collected), strict=True))
    return [of(a) for a in p.outputs]


def outputs(e, ins, collected) -> list[frozenset]:
    """The axes along which the results of one equation may differ."""
    name, params = e.op.name, e.params
    if name in collected and "groups" not in params:
        return [ins[0] - set(params["axis_name"])]
    if name in _MOVED or name in collected:
        return [union(ins) | set(params["axis_name"])]
    if name == "scan":
        return _loop(collected, params["body"], ins, *params["counts"])
    if name == "while":
        return _while(collected, ins, **params)
    if name == "cond":
        return _branches(collected, params["branches"], ins)
    if name == "shard_map":
        return [union(ins) - set(params["manual"])] * len(e.outputs)
    program = params.get("program")
    if isinstance(program, Program) and len(program.inputs) == len(ins):
        return varying(program, ins, collected)
    return [union(ins) | _axes_inside(e)] * len(e.outputs)


def union(sets) -> frozenset:
    """All axes of several sets."""
    return frozenset().union(*sets)


def _axes_inside(e) -> frozenset:
    """The axes that programs inside an operation name."""
    effects = e.op.effects(**e.params) if e.op.effects else ()
    return frozenset(x[1] for x in effects if type(x) is tuple and x[0] == "axis")


def grown(start, step) -> list:
    """The least fixed point of ``step`` above ``start``."""
    while True:
        after = [a | b for a, b in zip(start, step(start), strict=True)]
        if after == start:
            return start
        start = after


def _loop(collected, body, ins, nc: int, nk: int) -> list[frozenset]:
    consts, carry, xs = ins[:nc], ins[nc : nc + nk], ins[nc + nk :]
    carry = grown(carry, lambda k: varying(body, [*consts, *k, *xs], collected)[:nk])
    return [*carry, *varying(body, [*consts, *carry, *xs], collected)[nk:]]


def _while(collected, ins, cond, body, counts, **_) -> list[frozenset]:
    nc, nb = counts[:2]
    first, second, carry = ins[:nc], ins[nc : nc + nb], ins[nc + nb :]
    carry = grown(carry, lambda k: varying(body, [*second, *k], collected))
    lasts = union(
        varying(cond, [*first, *carry], collected)
    )  # devices that stop at different steps
    return [k | lasts for k in carry]


def _branches(collected, branches, ins) -> list[frozenset]:
    which, rest = ins[0], ins[1:]
    found = [varying(p, rest, collected) for p in branches]
    return [which | union(outs) for outs in zip(*found, strict=True)]
