"""Programs as jaxprs, and the operations in them as primitives, for interpreters of others'."""

from __future__ import annotations

import importlib

from .._control.jit import make_jaxpr as make_program
from .._core import Eqn, Literal, Program, Var, bind, errors, eval_program, to_value, typeof
from .._core.op import Op, registry
from .._core.trace import evaluating
from .._ops import broadcast_in_dim
from .._ops.elementwise import to_user
from ..numpy import _lax as lax
from ..numpy import _lax_elementwise as lax_elementwise
from ._jaxpr_text import text
from ._primitive_params import MORE, RENAMED, SHOWN, unmet
from ._primitives import THEIRS, Primitive, primitives_by_op
from ._trees import data, kinds, with_kinds
from ._types import seen


class OwnPrimitive(Primitive):
    """An operation of xcore's as a primitive."""

    def __init__(self, op: Op, name: str):
        self.op, self.name, self.multiple_results = op, name, op.many

    def bind(self, *args, **params):
        values = [data(a) for a in args]
        if self.op.name in _BINARY:
            values = _of_one_shape(values)
        own, consts = self._own_params(params)
        outs = bind(self.op, *consts, *values, **own)
        return outs if self.multiple_results else outs[0]

    def impl(self, *args, **params):
        return self.bind(*args, **params)

    def abstract_eval(self, *types, **params):
        found = self.op.type(*types, **self._own_params(params)[0])
        return found if self.multiple_results or not isinstance(found, list) else found[0], set()

    def _own_params(self, params):
        """Params of the operation from those that an equation shows, and the constants of its program."""
        if self.op.name in SHOWN:
            return SHOWN[self.op.name][1](params), []
        back = {theirs: own for own, theirs in RENAMED.get(self.op.name, {}).items()}
        extra = MORE.get(self.op.name)
        made = {back.get(k, k): program_of(v) for k, v in params.items()}
        jaxpr = params.get("jaxpr")
        consts = jaxpr.consts if self.op.name == "call" and isinstance(jaxpr, ClosedJaxpr) else []
        return {k: v for k, v in made.items() if not (extra and k in extra(made))}, consts


class _Square(OwnPrimitive):
    """The product of a value with itself, which interpreters of one argument want to see as such."""

    def bind(self, *args, **params):
        (x,) = map(to_value, args)
        return bind(self.op, x, x)[0]


class _SelectN(OwnPrimitive):
    """A choice, whose cases stand the other way round: the one for false first."""

    def bind(self, *args, **params):
        which, *cases = map(to_value, args)
        if len(cases) != 2 or typeof(which).dtype != bool:
            return lax.select_n(which, *cases)
        return bind(self.op, which, *_of_one_shape(cases[::-1]))[0]


class _ByFunction(OwnPrimitive):
    """An operation whose primitive has more params than it: the function of that name takes them."""

    def __init__(self, op: Op, name: str, function):
        super().__init__(op, name)
        self._function = function

    def bind(self, *args, **params):
        outs = self._function(*map(to_user, args), **params)
        return list(outs) if self.multiple_results else outs


_top_k = _ByFunction(registry["top_k"], "top_k", lax.top_k)
_round = _ByFunction(registry["round_even"], "round", lax_elementwise.round)
_square = _Square(registry["mul"], "square")
_select = _SelectN(registry["select"], "select_n")
for _made in (_select, _top_k, _round):
    primitives_by_op[_made.op] = _made


def _is_square(eqn: Eqn) -> bool:
    return eqn.op is _square.op and type(eqn.inputs[0]) is Var and eqn.inputs[0] is eqn.inputs[1]


_BINARY = frozenset("add sub mul div pow max min rem atan2 eq ne lt le gt ge".split())


def _of_one_shape(values):
    """Scalars beside arrays at every place of their shape, as rules that read literals give them."""
    shapes = {typeof(x).shape for x in values}
    if len(shapes) != 2 or () not in shapes:
        return values
    shape = max(shapes, key=len)
    dtype = next(typeof(x).dtype for x in values if typeof(x).shape)
    if any(typeof(x).dtype != dtype for x in values):
        return values
    return [x if typeof(x).shape else broadcast_in_dim(x, shape=shape, dims=()) for x in values]


def primitive_of(op: Op) -> Primitive:
    """The primitive of an operation, the same one for two operations of one name."""
    found = primitives_by_op.get(op)
    if found is None:
        name = THEIRS.get(op.name, op.name)
        found = primitive_of(registry[name]) if name in registry and name != op.name else None
        found = primitives_by_op[op] = found or OwnPrimitive(op, name)
    return found


def primitive_named(name: str) -> Primitive | None:
    """The primitive that JAX calls by this name, without ``_p``."""
    if name in ("square", "select_n"):
        return {"square": _square, "select_n": _select}[name]
    ours = name if name in registry else _OURS.get(name, name)
    if ours.startswith("special."):
        importlib.import_module("xcore.special")
    return primitive_of(registry[ours]) if ours in registry else unmet(name)


_OURS = {theirs: ours for ours, theirs in THEIRS.items()} | {
    "closed_call": "call", "remat": "checkpoint",
}  # fmt: skip


class SourceInfo(str):
    """A line of a program, and the named scopes that it stood in."""

    name_stack = ""
    traceback = None


class JaxprEqn:
    """An equation as interpreters read it."""

    __slots__ = ("effects", "eqn", "invars", "outvars", "params", "primitive", "source_info")
    ctx = None

    def __init__(self, eqn: Eqn):
        self.eqn, self.primitive = eqn, primitive_of(eqn.op)
        self.invars, self.outvars = list(eqn.inputs), list(eqn.outputs)
        if _is_square(eqn):
            self.primitive, self.invars = _square, self.invars[:1]
        if self.primitive is _select:
            self.invars[1:] = self.invars[:0:-1]
        self.effects, self.source_info = eqn.effects, SourceInfo(eqn.source_info)
        self.source_info.name_stack = "".join([*(eqn.where or ())][2:])
        self.params = shown_params(eqn.op, eqn.params)

    def replace(self, **changes) -> JaxprEqn:
        """The same with other invars, outvars, primitive or params."""
        names = ("invars", "outvars", "primitive", "params")
        return new_jaxpr_eqn(*[changes.get(n, getattr(self, n)) for n in names])


def shown_params(op: Op, params) -> dict:
    """Params of an operation as interpreters read them."""
    if op.name in SHOWN:
        return SHOWN[op.name][0](params)
    names, more = RENAMED.get(op.name, {}), MORE.get(op.name, lambda p: {})
    return {**{names.get(k, k): view_of(v) for k, v in params.items()}, **more(params)}


def process_by_primitive(self, op: Op, args, params):
    """``Trace.process`` of traces of somebody else's, which take primitives."""
    if not hasattr(self, "process_primitive"):
        raise errors.missing_rule(op, "lower")
    primitive = primitive_of(op)
    with evaluating():  # what the trace computes with is its own choice; numbers are arrays to it
        args = [to_user(x) for x in args]
        if primitive is _select:
            args[1:] = args[:0:-1]
        outs = self.process_primitive(primitive, args, shown_params(op, params))
    return list(outs) if primitive.multiple_results else [outs]


def new_jaxpr_eqn(invars, outvars, primitive, params, effects=(), source_info=None, ctx=None):
    invars = [*invars, *invars] if primitive is _square else invars
    invars = [invars[0], *invars[:0:-1]] if primitive is _select else invars
    own, _ = primitive._own_params(params) if isinstance(primitive, OwnPrimitive) else (params, [])
    return JaxprEqn(Eqn(primitive.op, list(invars), list(outvars), own))


class Jaxpr:
    """A program as a jaxpr whose constants are named and not given."""

    __slots__ = ("constvars", "eqns", "invars", "outvars", "program")
    debug_info = None

    def __init__(self, constvars, invars, outvars, eqns, effects=(), debug_info=None):
        self.constvars, self.invars = list(constvars), list(invars)
        self.outvars, self.eqns = list(outvars), list(eqns)
        inputs = [*self.constvars, *self.invars]
        self.program = Program(inputs, [e.eqn for e in self.eqns], self.outvars)

    @classmethod
    def of(cls, program: Program) -> Jaxpr:
        self = object.__new__(cls)
        self.program, self.eqns = program, [JaxprEqn(e) for e in program.eqns]
        self.constvars, self.invars = list(program.constvars), list(program.invars)
        self.outvars = list(program.outputs)
        return self

    effects = property(lambda self: self.program.effects)
    in_avals = property(lambda self: [seen(v.type) for v in self.invars])
    out_avals = property(lambda self: [seen(t) for t in self.program.out_types])

    def replace(self, **changes) -> Jaxpr:
        """The same with other constvars, invars, outvars or eqns."""
        names = ("constvars", "invars", "outvars", "eqns")
        return Jaxpr(*[changes.get(n, getattr(self, n)) for n in names])

    def pretty_print(self, **options) -> str:
        return str(self)

    def __str__(self) -> str:
        return text(self)

    __repr__ = __str__


class ClosedJaxpr:
    """A jaxpr and the values of its constants."""

    __slots__ = ("consts", "jaxpr", "keys")
    debug_info = None

    def __init__(self, jaxpr: Jaxpr, consts):
        self.jaxpr, self.consts = jaxpr, list(consts)
        self.keys: tuple = ()  # of results that are keys, what they are (see _trees)

    eqns = property(lambda self: self.jaxpr.eqns)
    literals = property(lambda self: self.consts)
    effects = property(lambda self: self.jaxpr.effects)
    in_avals = property(lambda self: self.jaxpr.in_avals)
    out_avals = property(lambda self: self.jaxpr.out_avals)

    constvars = property(lambda self: self.jaxpr.constvars)
    invars = property(lambda self: self.jaxpr.invars)
    outvars = property(lambda self: self.jaxpr.outvars)

    def map_jaxpr(self, f):
        return ClosedJaxpr(f(self.jaxpr), self.consts)

    def replace(self, *, jaxpr=None, consts=None) -> ClosedJaxpr:
        return ClosedJaxpr(jaxpr or self.jaxpr, self.consts if consts is None else consts)

    def pretty_print(self, **options) -> str:
        return str(self)

    def __str__(self) -> str:
        return str(self.jaxpr)

    __repr__ = __str__


def view_of(value):
    """A program as a closed jaxpr, also in tuples; other values as they are."""
    if isinstance(value, Program):
        return value.memo("jaxpr", lambda: ClosedJaxpr(Jaxpr.of(value), value.consts))
    if isinstance(value, tuple) and any(isinstance(v, Program) for v in value):
        return tuple(map(view_of, value))
    return value


def program_of(value):
    """What ``view_of`` was given."""
    if isinstance(value, (ClosedJaxpr, Jaxpr)):
        return value.program if isinstance(value, Jaxpr) else value.jaxpr.program
    return tuple(map(program_of, value)) if isinstance(value, tuple) else value


def make_jaxpr(fun, static_argnums=(), axis_env=None, return_shape=False, abstracted_axes=None):
    """``jax.make_jaxpr``: a function that returns the program of ``fun`` as a closed jaxpr."""
    errors.check_function("make_jaxpr", fun)
    if axis_env or abstracted_axes is not None:
        raise NotImplementedError(
            "xcore.as_jax: make_jaxpr takes no axis_env and no abstracted_axes; name axes by vmap(axis_name=…) "
            "inside of the function."
        )
    made = make_program(fun, static_argnums, return_shape=True)

    def make(*args, **kwargs):
        program, shapes = made(*args, **kwargs)
        view = view_of(program)
        view.keys = kinds(shapes)
        return (view, shapes) if return_shape else view

    return make


def eval_jaxpr(jaxpr, consts, *args, propagate_source_info=True):
    """The results of a jaxpr."""
    outs = eval_program(program_of(jaxpr), [data(x) for x in (*consts, *args)])
    return [to_user(x) if isinstance(x, Literal) else x for x in outs]


def jaxpr_as_fun(closed):
    """A function of the arguments of a closed jaxpr."""

    def f(*args):
        outs = eval_jaxpr(closed.jaxpr, closed.consts, *args)
        return with_kinds(outs, closed.keys or [None] * len(outs))

    return f


def jaxprs_in_params(params):
    """The jaxprs that the params of an equation hold, without their constants."""
    for value in params.values():
        for v in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(v, (Jaxpr, ClosedJaxpr)):
                yield v.jaxpr if isinstance(v, ClosedJaxpr) else v


def subjaxprs(jaxpr):
    for eqn in jaxpr.eqns:
        yield from jaxprs_in_params(eqn.params)


class DropVar:
    """Stands for a result that nobody reads; programs here have none."""


Atom = Var | Literal
