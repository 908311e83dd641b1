"""Along which axes of a mesh the values of a program differ between devices.

A value is the same on all devices along an axis if it is computed from such values alone, or if it
has been summed (or otherwise collected) over that axis.
"""

from __future__ import annotations

from .._core import Literal, Program

_COLLECTED = {"psum", "pmax", "pmin", "all_gather"}
_MOVED = {"ppermute", "all_to_all", "psum_scatter", "axis_index"}


def varying(p: Program, inputs) -> list[frozenset]:
    """For each result the axes along which it may differ, from those of the inputs."""
    inputs = tuple(map(frozenset, inputs))
    return p.memo(("varying", inputs), lambda: _varying(p, inputs))


def _varying(p: Program, inputs) -> list[frozenset]:
    found = dict(zip(p.inputs, inputs, strict=True))

    def of(a) -> frozenset:
        return frozenset() if type(a) is Literal else found[a]

    for e in p.eqns:
        found.update(zip(e.outputs, _outputs(e, [of(a) for a in e.inputs]), strict=True))
    return [of(a) for a in p.outputs]


def _outputs(e, ins) -> list[frozenset]:
    name, params = e.op.name, e.params
    if name in _COLLECTED and "groups" not in params:
        return [ins[0] - set(params["axis_name"])]
    if name in _MOVED or name in _COLLECTED:
        return [_union(ins) | set(params["axis_name"])]
    if name == "scan":
        return _loop(params["body"], ins, *params["counts"])
    if name == "while":
        return _while(ins, **params)
    if name == "cond":
        return _branches(params["branches"], ins)
    if name == "shard_map":
        return [_union(ins) - set(params["manual"])] * len(e.outputs)
    program = params.get("program")
    if isinstance(program, Program) and len(program.inputs) == len(ins):
        return varying(program, ins)
    return [_union(ins) | _axes_inside(e)] * len(e.outputs)


def _union(sets) -> frozenset:
    return frozenset().union(*sets)


def _axes_inside(e) -> frozenset:
    """The axes that programs inside an operation name."""
    effects = e.op.effects(**e.params) if e.op.effects else ()
    return frozenset(x[1] for x in effects if type(x) is tuple and x[0] == "axis")


def _grown(start, step) -> list:
    """The least fixed point of ``step`` above ``start``."""
    while True:
        after = [a | b for a, b in zip(start, step(start), strict=True)]
        if after == start:
            return start
        start = after


def _loop(body, ins, nc: int, nk: int) -> list[frozenset]:
    consts, carry, xs = ins[:nc], ins[nc : nc + nk], ins[nc + nk :]
    carry = _grown(carry, lambda k: varying(body, [*consts, *k, *xs])[:nk])
    return [*carry, *varying(body, [*consts, *carry, *xs])[nk:]]


def _while(ins, cond, body, counts, **_) -> list[frozenset]:
    nc, nb = counts[:2]
    first, second, carry = ins[:nc], ins[nc : nc + nb], ins[nc + nb :]
    carry = _grown(carry, lambda k: varying(body, [*second, *k]))
    lasts = _union(varying(cond, [*first, *carry]))  # devices that stop at different steps
    return [k | lasts for k in carry]


def _branches(branches, ins) -> list[frozenset]:
    which, rest = ins[0], ins[1:]
    found = [varying(p, rest) for p in branches]
    return [which | _union(outs) for outs in zip(*found, strict=True)]
