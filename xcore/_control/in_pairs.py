"""Programs of 64-bit floats for a TPU, which has none: with pairs of float32 in their place.

Functions of float32 compute in float64 inside where float32 would lose digits: where a quantile lies among 10⁷
elements, the edges of a histogram, sums of probabilities. When such a program is lowered for a TPU, and only then,
its equations are written anew: a value of float64 becomes a pair (``_ops/pairs.py``), of 48 bits and with float32's
range; what depends on no argument is computed here, in float64. Arguments and results of 64 bits stay, and are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _ops as ops
from .._backend import client as backend
from .._backend.ffi import NotHere
from .._core import ArrayType, bind, config, dtypes, typeof
from .._core.compile import executable
from .._core.eval import execute
from .._core.op import BOUNDED, texts
from .._core.pprint import subprograms
from .._core.program import (
    Eqn,
    Literal,
    Program,
    Var,
    dead_code_eliminated,
    eqn_effects,
    literal_value,
    trace_closed,
)  # fmt: skip
from .._core.source import describe_where
from .._ops.pairs import LARGEST, SMALLEST, Pair, parts_of, single

WIDE = (dtypes.float64, dtypes.complex128)
_TABLE = 65536  # elements of the largest constant that is written for a scalar

Rule = Callable[..., Any]
rules: dict[str, Rule] = {}  # by operation: (walk, equation, arguments) -> results


def is_wide(a: Any) -> bool:
    return typeof(a).dtype in WIDE


def in_pairs(p: Program) -> Program:
    """The program with pairs in the place of its float64, if there are some that are no arguments or results."""
    return p.memo("in pairs", lambda: _in_pairs(p))


def _check(p: Program) -> None:
    """Refuse functions that have not been seen to be right in pairs."""
    if p.cache.get(BOUNDED) is False:
        raise NotHere(
            f"xcore: {p.name} computes in 64 bits inside, whatever its arguments are, and a TPU has no float64. Pairs "
            "of float32, in which other functions are computed there, have not its range or digits, or keep the "
            "compiler busy for minutes. Compute it on the CPU: xc.device_put(x, xc.devices('cpu')[0])."
        )


def _in_pairs(p: Program) -> Program:
    border = [*p.inputs, *p.outputs]
    inside = any(is_wide(a) for e in p.eqns for a in (*e.inputs, *e.outputs))
    if not inside or any(map(is_wide, border)):
        return p
    _check(p)
    with config.override(disable_jit=False):
        return rewritten(folded(p))


def rewritten(p: Program) -> Program:
    """The program whose arguments and results of float64 are pairs."""
    return trace_closed(
        lambda *xs: flat(_eval(p, paired(xs, p.in_types))), flat_types(p.in_types), p.name
    )


def flat_types(types) -> list[ArrayType]:
    parts = [
        2 * [ArrayType(t.shape, dtypes.float32)] if t.dtype == dtypes.float64 else [t]
        for t in types
    ]
    return [t for part in parts for t in part]


def flat(values) -> list:
    return [part for x in values for part in (x if isinstance(x, Pair) else [x])]


def paired(values, types) -> list:
    it = iter(values)
    return [Pair(next(it), next(it)) if t.dtype == dtypes.float64 else next(it) for t in types]


def _eval(p: Program, args) -> list:
    env: dict[Any, Any] = dict(zip(p.inputs, args, strict=True))

    bounded = p.cache.get(BOUNDED, False)

    def value(a, reader: str):
        a = env[a] if type(a) is Var else a
        return _literal(a, reader, bounded) if isinstance(a, Literal) else a

    for e in p.eqns:
        same = _number_repeated(e, env)
        if same is not None:  # it depends on its readers what becomes of it
            env[e.outputs[0]] = same
            continue
        given = [value(a, e.op.name) for a in e.inputs]
        env.update(zip(e.outputs, _results(e, given, p), strict=True))
    return [_of_type(value(a, "return"), a.type) for a in p.outputs]


def _number_repeated(e: Eqn, env) -> Literal | None:
    """What a number of float64 is at every place of a shape."""
    if e.op.name != "broadcast_in_dim":
        return None
    a = env.get(e.inputs[0], e.inputs[0]) if type(e.inputs[0]) is Var else e.inputs[0]
    if not isinstance(a, Literal) or a.type.dtype != dtypes.float64 or a.value.ndim:
        return None
    return Literal(a.value, e.outputs[0].type)


def _of_type(x, t: ArrayType):
    if isinstance(x, Pair) or typeof(x) is t:
        return x
    return ops.convert(x, dtype=t.dtype, weak=t.weak)


def _results(e: Eqn, given: list, p: Program) -> list:
    if e.op.name in ("bitcast_convert", "and"):
        found = _upper_digits(e, given, p)
        if found is not None:
            return [found]
    if not any(is_wide(a) for a in (*e.inputs, *e.outputs)):
        return bind(e.op, *given, **e.params)
    if any(a.type.dtype == dtypes.complex128 for a in (*e.inputs, *e.outputs)):
        _refuse(e, p)
    for q in subprograms(e.params):
        _like(q, p)
    rule = rules.get(e.op.name)
    if rule is None and e.op.name in texts:
        text = texts[e.op.name](*[a.type.strong() for a in e.inputs])
        _check(text)
        return _eval(text, given)
    if rule is None and e.op.nested and e.op.name != "shard_map":
        return e.op.run_steps(lambda q, args: _eval(q, args), given, e.params)
    found = NotImplemented if rule is None else rule(e, given)
    if found is NotImplemented:
        _refuse(e, p)
    return found if type(found) is list else [found]


class Bits(NamedTuple):
    """The bits of a float64 of which there is a pair."""

    number: Pair


def _upper_digits(e: Eqn, given: list, p: Program):
    """What keeps the upper half of a number's digits: its bits without the lower ones, as a number again."""
    x = given[0]
    if e.op.name == "and":
        return x if isinstance(x, Bits) and _keeps_half(e.inputs[1], p) else None
    if isinstance(x, Bits) and e.outputs[0].type.dtype == dtypes.float64:
        return single(x.number.high)
    return Bits(x) if isinstance(x, Pair) and e.outputs[0].type.dtype == dtypes.uint64 else None


def _keeps_half(a, p: Program) -> bool:
    """Whether a mask leaves the sign, the exponent and about half of the digits of float64."""
    made = next((e for e in p.eqns if a in e.outputs), None)
    a = made.inputs[0] if made is not None and made.op.name == "broadcast_in_dim" else a
    return (
        isinstance(a, Literal)
        and not a.value.ndim
        and int(a.value) in (2**64 - 2**26, 2**64 - 2**27)
    )


def _refuse(e: Eqn, p: Program):
    line = describe_where(e.where)
    raise NotHere(
        f"xcore: {p.name} computes {e.op.name} in 64 bits inside, whatever its arguments are, and a TPU has no float64"
        f"{line and f' (asked for {line})'}. Compute it on the CPU: xc.device_put(x, xc.devices('cpu')[0])."
    )


def _like(q: Program, p: Program) -> Program:
    """A program that is part of another one, with its mark."""
    if p.cache.get(BOUNDED):
        q.cache[BOUNDED] = True
    return q


# Constants


# Bounds may lie beyond float32's range: numbers of this range are on one side of them.
_BOUNDS = {"max", "min", "lt", "le", "gt", "ge"}
_GUARDS = _BOUNDS | {
    "add",
    "sub",
    "eq",
    "ne",
}  # against zeros: of such small numbers only that they are none counts


def _literal(a: Literal, reader: str, bounded: bool):
    """A constant as what reads it gets it."""
    if a.type.dtype != dtypes.float64:
        return literal_value(a)
    found, t = np.asarray(a.value), ArrayType(a.type.shape, dtypes.float32)
    large = np.isfinite(found) & (np.abs(found) > LARGEST)
    small = (found != 0) & (np.abs(found) < SMALLEST)
    out = (large.any() and reader not in _BOUNDS) or (small.any() and reader not in _GUARDS)
    if out and not bounded:
        given = found[large | small].flat[0]
        raise NotHere(
            f"xcore: the program has the number {given:g} of 64 bits inside (for {reader}), and a TPU has no float64: "
            "numbers are pairs of float32 there, between 1.2e-38 and 3.4e38. Compute it on the CPU: "
            "xc.device_put(x, xc.devices('cpu')[0])."
        )
    found = np.where(
        large, np.copysign(LARGEST, found), np.where(small, np.copysign(SMALLEST, found), found)
    )
    return Pair(*[Literal(part, t) for part in parts_of(found)])


def folded(p: Program) -> Program:
    """The program with the float64 that depend on no argument as constants, and what is made of them alone."""
    known: set[Var] = set()
    wide: set[Var] = set()
    eqns, rest = [], []
    for e in p.eqns:
        if not _is_known(e, known):
            rest.append(e)
            continue
        eqns.append(e)
        known.update(e.outputs)
        if any(is_wide(a) or a in wide for a in (*e.inputs, *e.outputs)):
            wide.update(e.outputs)
    read = {a for e in rest for a in e.inputs if type(a) is Var} | {
        a for a in p.outputs if type(a) is Var
    }
    wanted = [v for e in eqns for v in e.outputs if v in wide and v in read]
    if not wanted:
        return p
    values = dict(zip(wanted, _computed(eqns, wanted), strict=True))
    return _with_constants(p, values)


def _is_known(e: Eqn, known: set) -> bool:
    if any(type(a) is Var and a not in known for a in e.inputs) or eqn_effects(e) or not e.outputs:
        return False
    tables = [a.value.size for a in e.inputs if type(a) is Literal]
    size = max([_TABLE, *tables, *[a.type.size for a in e.inputs if type(a) is Var]])
    return all(v.type.size <= size for v in e.outputs)


def _computed(eqns: list[Eqn], wanted: list[Var]) -> list[np.ndarray]:
    """The values of some variables, by a program of a CPU without arguments."""
    made = dead_code_eliminated(Program([], [*eqns], wanted, "constants"))
    cpu = backend.client("cpu").local_devices()[0]
    return [np.asarray(x) for x in execute(executable(made, (cpu,)), [])]


def _with_constants(p: Program, values: dict) -> Program:
    def atoms(items):
        return [_table(values[a], a.type) if type(a) is Var and a in values else a for a in items]

    eqns = [Eqn(e.op, atoms(e.inputs), e.outputs, e.params, e.where) for e in p.eqns]
    made = Program(p.inputs, eqns, atoms(p.outputs), p.name)
    return _like(dead_code_eliminated(made), p)


def _table(value: np.ndarray, t: ArrayType) -> Literal:
    """A constant, as one number where it is the same at all places."""
    first = value.flat[0] if value.size else None
    same = (
        first is not None
        and (value == first).all()
        and (first != 0 or not np.signbit(value.real).any())
    )
    return Literal(first if same else value, t)


def with_tables(p: Program, values) -> tuple[Program, list[int]]:
    """The program whose captured arrays of float64 stand in it, and the numbers of the inputs that are left."""
    tables = zip(p.inputs, values)
    known = {v: np.asarray(x) for v, x in tables if is_wide(v)}
    left = [i for i, v in enumerate(p.inputs) if v not in known]
    made = _with_constants(p, known)
    return Program([p.inputs[i] for i in left], made.eqns, made.outputs, p.name, p.options), left


def rule(*names: str):
    """Decorates the rule of some operations: a function of an equation and its arguments."""

    def take(f):
        rules.update(dict.fromkeys(names, f))
        return f

    return take
