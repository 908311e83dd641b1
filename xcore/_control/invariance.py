"""Gradients, taken inside of ``shard_map``, of values that its devices share: the setting ``shared_gradients``.

Without it a derivative inside is each device's own. With it a value that is the same on all devices along an
axis is one value there, as in JAX since 0.7: where it meets one that differs, it is spread (``pvary``), which is
no work, and whose transpose is the sum over the axis; and the transpose of a sum over the axis is ``pvary``.
A function is rewritten so before it is linearized, from what its arguments are known to be.
"""

from __future__ import annotations

import contextlib
from contextvars import ContextVar

from .._core import Literal, bind, dtypes, errors, eval_program, to_value, trace_program, typeof
from .._core.program import Program, RecordTracer, Var, literal_value, trace_closed
from .._ops import collectives as c
from .._transforms import api
from .._transforms.jvp import JVPTracer
from .._transforms.vmap import BatchTracer
from .replication import SUMMED, grown, outputs, union, varying

_scope: ContextVar[_Scope | None] = ContextVar("shared gradients", default=None)


class _Scope:
    """What is known, inside of one ``shard_map``, of the arguments of the traces there."""

    def __init__(self, manual, outer: _Scope | None) -> None:
        self.manual = frozenset(manual) | (outer.manual if outer else frozenset())
        self.arguments: dict[Var, frozenset] = outer.arguments if outer else {}

    def register(self, tracers, sets) -> None:
        for x, axes in zip(tracers, sets, strict=True):
            if type(x) is RecordTracer and axes is not None:
                self.arguments[x.variable] = frozenset(axes) & self.manual

    def of(self, x) -> frozenset | None:
        """The axes along which a value differs; None if that is not known."""
        while type(x) in (JVPTracer, BatchTracer):
            x = x.primal if type(x) is JVPTracer else x.value
        return self._recorded(x) if type(x) is RecordTracer else frozenset()

    def _recorded(self, x) -> frozenset | None:
        trace = x.owner
        found = {var: self.of(value) for value, var in trace.captured.values()}
        found.update({var: self.arguments.get(var) for var in trace.arguments})
        for e in trace.eqns:
            ins = [frozenset() if type(a) is Literal else found[a] for a in e.inputs]
            outs = [None] * len(e.outputs) if None in ins else outputs(e, ins, SUMMED)
            found.update(zip(e.outputs, outs, strict=True))
        return found[x.variable]


def sets_of(values) -> tuple | None:
    """What is known of values where gradients of shared values are asked for; None elsewhere."""
    scope = _scope.get()
    return None if scope is None else tuple(map(scope.of, values))


def register(tracers, sets) -> None:
    """Arguments of a function that is traced are what ``sets_of`` said of the values."""
    scope = _scope.get()
    if scope is not None and sets is not None:
        scope.register(tracers, sets)


def grown_carry(values, sets) -> tuple | None:
    """For the results of a loop's body: what its carry must be held to be, if not what it was."""
    if sets is None:
        return None
    after = sets_of(values)
    both = zip(sets, after, strict=False)
    grown = [None if a is None or b is None else a | b for a, b in both]
    found = (*grown, *sets[len(grown) :])
    return None if found == sets else found


def _unknown() -> errors.MissingRuleError:
    return errors.MissingRuleError(
        "xcore.shard_map: a derivative is taken inside of a function whose arguments it is not known of whether "
        "devices share them. Take it outside of that function, or pass check_vma=False to shard_map, and sum "
        "gradients of shared values with lax.psum or lax.pmean."
    )


@contextlib.contextmanager
def shared_gradients(manual):
    """Inside, derivatives are those of values that devices share; gives what registers arguments."""
    scope = _Scope(manual, _scope.get())
    token = _scope.set(scope)
    before = api.before_linearizing.set(_rewritten)
    try:
        yield scope.register
    finally:
        api.before_linearizing.reset(before)
        _scope.reset(token)


def spread(x, names):
    """``pvary`` of users: a value that differs from here on, where that means anything."""
    scope = _scope.get()
    names = () if scope is None else tuple(n for n in names if n in scope.manual)
    return _to(to_value(x), frozenset(), frozenset(names)) if names else x


def _rewritten(f, primals):
    """The function as one whose derivative is that of shared values."""
    scope = _scope.get()
    assert scope is not None
    sets = [scope.of(x) for x in primals]
    if None in sets:
        raise _unknown()

    def registered(*xs):
        scope.register(xs, sets)
        return f(*xs)

    program, captured = trace_program(registered, [typeof(x) for x in primals])
    inside = [scope.of(x) for x in captured] + sets
    if None in inside:
        raise _unknown()
    program = invariant(program, inside, scope.manual)
    return lambda *xs: eval_program(program, [*captured, *xs])


# Programs


def invariant(p: Program, ins, manual, wanted=None) -> Program:
    """A program with ``pvary`` where values meet; its results differ along ``wanted``."""
    key = ("invariant", tuple(ins), manual, wanted and tuple(wanted))
    return p.memo(key, lambda: _invariant(p, list(ins), manual, wanted))


def _invariant(p: Program, ins, manual, wanted) -> Program:
    def run(*args):
        found = dict(zip(p.inputs, zip(args, ins, strict=True), strict=True))

        def read(a):
            return (literal_value(a), frozenset()) if type(a) is Literal else found[a]

        for e in p.eqns:
            values, sets = (
                map(list, zip(*map(read, e.inputs), strict=True)) if e.inputs else ([], [])
            )
            outs = _equation(e, values, [s & manual for s in sets], manual)
            after = outputs(e, sets, SUMMED)
            found.update(zip(e.outputs, zip(outs, after, strict=True), strict=True))
        results = [read(a) for a in p.outputs]
        return [
            _to(x, s, w)
            for (x, s), w in zip(results, wanted or [s for _, s in results], strict=True)
        ]

    return trace_closed(run, p.in_types, p.name)


def _to(x, have, want):
    names = tuple(sorted(want - have))
    return c.pvary(x, axis_name=names) if names and dtypes.is_inexact(typeof(x).dtype) else x


def _equation(e, values, ins, manual) -> list:
    name, params = e.op.name, dict(e.params)
    rule = _NESTED.get(name)
    if rule is not None:
        return rule(e, values, ins, manual, params)
    if name in (
        "pvary",
        "psum_invariant",
    ):  # of a derivative that was taken inside of this function
        return bind(e.op, *values, **params)
    if name == "psum" and "groups" not in params:
        return [_sum(values[0], ins[0], params["axis_name"])]
    program = params.get("program")
    if type(program) is Program and "rule" not in params and len(program.inputs) == len(ins):
        return bind(e.op, *values, **params | {"program": invariant(program, ins, manual)})
    meet = union(ins) | (frozenset(params.get("axis_name", ())) & manual)
    return bind(e.op, *[_to(x, s, meet) for x, s in zip(values, ins, strict=True)], **params)


def _sum(x, have, names):
    """Over axes along which a value is the same, the sum is a multiple of it."""
    same, differing = [tuple(n for n in names if (n in have) is found) for found in (False, True)]
    x = c.psum(x, axis_name=same) if same else x
    return c.psum_invariant(x, axis_name=differing) if differing else x


def _scan(e, values, ins, manual, params) -> list:
    body, (nc, nk) = params["body"], params["counts"]

    def after(carry):
        return varying(body, [*ins[:nc], *carry, *ins[nc + nk :]], SUMMED)

    carry = grown(ins[nc : nc + nk], lambda k: after(k)[:nk])
    sets = [*ins[:nc], *carry, *ins[nc + nk :]]
    params["body"] = invariant(body, sets, manual, [*carry, *after(carry)[nk:]])
    return bind(e.op, *[_to(x, s, w) for x, s, w in zip(values, ins, sets, strict=True)], **params)


def _while(e, values, ins, manual, params) -> list:
    nc, nb = params["counts"][:2]
    carry = outputs(e, ins, SUMMED)
    steps = union(varying(params["cond"], [*ins[:nc], *carry], SUMMED))
    sets = [*ins[:nc], *[s | steps for s in ins[nc : nc + nb]], *carry]
    params["body"] = invariant(params["body"], sets[nc:], manual, carry)
    return bind(e.op, *[_to(x, s, w) for x, s, w in zip(values, ins, sets, strict=True)], **params)


def _cond(e, values, ins, manual, params) -> list:
    wanted = outputs(e, ins, SUMMED)
    sets = [ins[0], *[s | ins[0] for s in ins[1:]]]  # devices may take different branches
    params["branches"] = tuple(invariant(p, sets[1:], manual, wanted) for p in params["branches"])
    return bind(e.op, *[_to(x, s, w) for x, s, w in zip(values, ins, sets, strict=True)], **params)


_NESTED = {"scan": _scan, "while": _while, "cond": _cond}


# Back


def plain(p: Program) -> Program:
    """The program without these operations: what each device does, for derivatives of the whole."""
    return p.memo("plain", lambda: _plain(p))


def _plain(p: Program) -> Program:
    params = [{k: _plain_param(v) for k, v in e.params.items()} for e in p.eqns]
    same = all(
        e.op.name not in ("pvary", "psum_invariant") and all(q[k] is v for k, v in e.params.items())
        for e, q in zip(p.eqns, params, strict=True)
    )
    if same:
        return p

    def run(*args):
        found = dict(zip(p.inputs, args, strict=True))
        for e, q in zip(p.eqns, params, strict=True):
            ins = [literal_value(a) if type(a) is Literal else found[a] for a in e.inputs]
            found.update(zip(e.outputs, _plain_equation(e.op, ins, q), strict=True))
        return [literal_value(a) if type(a) is Literal else found[a] for a in p.outputs]

    return trace_closed(run, p.in_types, p.name)


def _plain_equation(op, ins, params) -> list:
    if op.name == "pvary":
        return ins
    return [c.psum(*ins, **params)] if op.name == "psum_invariant" else bind(op, *ins, **params)


def _plain_param(v):
    if type(v) is Program:
        return plain(v)
    if type(v) is tuple and v and type(v[0]) is Program:
        found = tuple(map(plain, v))
        return v if all(a is b for a, b in zip(found, v, strict=True)) else found
    return v
