"""Programs: the only intermediate representation.

A Program is closed: typed input variables, equations in order, results. Arrays that a function
captured from outside become inputs, not constants, so programs stay small and can share executables.
"""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable, Hashable, Iterable, Sequence
from types import CellType
from typing import TYPE_CHECKING, Any, TypeVar, cast, final

import numpy as np

from .._backend.cache import blake2b
from . import config, dtypes, errors, findings, host, rule_errors
from .key_uses import begin_trace
from .notebook import shown
from .op import Linear, Op
from .pprint import format_program, subprograms
from .source import Where, borrowed, describe_where, user_frame
from .trace import Trace, Tracer, bind, using
from .types import ArrayType, typeof

if TYPE_CHECKING:
    from .mesh import Mesh
    from .spans import Span
    from .typing import Operand

T = TypeVar("T")

# Effects are names (strings), named axes, meshes and spans. Two names mean something here:
ORDERED = "ordered"  # happens in the order of the program, after ordered effects before it
INERT = "inert"  # must stay in the program for a transformation to find; does nothing when run
Effect = str | tuple[str, Any]


@final
class Var:
    """A typed name of a program.

    >>> import xcore as xc
    >>> program = xc.make_jaxpr(lambda x: x + 1)(1.0)
    >>> program.jaxpr.invars[0].aval
    float32[, weak]
    >>> program.jaxpr.invars[0] is program.eqns[0].invars[0]
    True
    """

    __slots__ = ("type",)

    def __init__(self, type_: ArrayType) -> None:
        self.type = type_

    aval = property(lambda self: self.type)


@final
class Literal:
    """A constant that stands in the program text.

    A scalar, a scalar at every place of a shape (then ``type`` has the shape, ``value`` has not), or
    a small table that an operation needs.

    >>> import xcore as xc
    >>> equation = xc.make_jaxpr(lambda x: x + 1)(1.0).eqns[0]
    >>> [isinstance(x, xc.core.Literal) for x in equation.invars]
    [False, True]
    >>> equation.invars[1].val
    np.float32(1.0)
    """

    __slots__ = ("type", "value")

    value: Any  # a scalar of NumPy, or the table

    def __init__(self, value: Any, type_: ArrayType | None = None) -> None:
        self.value = np.asarray(value)[()]
        self.type = type_ or ArrayType(self.value.shape, self.value.dtype)

    # as jaxprs call them; the value in its whole shape
    aval = property(lambda self: self.type)
    val = property(lambda self: np.broadcast_to(self.value, self.type.shape)[()])


Atom = Var | Literal
PYTHON_SCALARS = (bool, int, float, complex)
_LONG_AGO = (-1, None)  # before any trace, of what is no number


def python_literal(x: Any, wide: bool = False) -> Literal:
    """The literal of a Python scalar: weak, and of default width unless it is to be wide."""
    dtype = dtypes.scalar_dtype(x, wide, any_int=False)
    return Literal(np.asarray(x, dtype), ArrayType((), dtype, type(x) is not bool))


@final
class Eqn:
    """``outputs = op(inputs, **params)``, and the user's line that asked for it.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> equation = xc.make_jaxpr(xnp.sin)(1.0).eqns[0]
    >>> str(equation.primitive), equation.outvars[0].aval
    ('sin', float32[, weak])
    """

    __slots__ = ("inputs", "op", "outputs", "params", "where")

    def __init__(
        self, op: Op, inputs: Sequence[Atom], outputs: list[Var], params: dict[str, Any],
        where: Where = None,
    ) -> None:  # fmt: skip
        self.op, self.inputs, self.outputs, self.params, self.where = (
            op,
            inputs,
            outputs,
            params,
            where,
        )

    # as the equations of a jaxpr call them
    primitive = property(lambda self: self.op)
    invars, outvars = property(lambda self: self.inputs), property(lambda self: self.outputs)
    source_info = property(lambda self: describe_where(self.where))
    effects = property(lambda self: eqn_effects(self))


@final
class Program:
    """Inputs, equations, results. Compared by identity; ``fingerprint`` tells equal content.

    ``options`` are pairs for the compiler, of the program that it is called with. ``consts`` are the
    values of its first inputs where it is for reading, as ``make_jaxpr`` gives it.

    >>> import xcore as xc
    >>> program = xc.make_jaxpr(lambda x: 2 * x)(1.0)
    >>> program
    { lambda a:float32[, weak] . let
        b:float32[, weak] = mul 2.0:float32[, weak] a
      in (b,) }
    >>> [str(equation.primitive) for equation in program.eqns]
    ['mul']
    """

    __slots__ = (
        "__weakref__",
        "_effects",
        "_fingerprint",
        "cache",
        "consts",
        "eqns",
        "inputs",
        "name",
        "options",
        "outputs",
    )

    def __init__(
        self, inputs: list[Var], eqns: list[Eqn], outputs: Sequence[Atom], name: str = "main",
        options: tuple[tuple[str, Any], ...] = (), consts: Iterable[Any] = (),
    ) -> None:  # fmt: skip
        self.inputs, self.eqns, self.outputs, self.name = inputs, eqns, outputs, name
        self.options, self.consts = options, list(consts)
        self._fingerprint: str | None = None
        self._effects: frozenset[Effect] | None = None
        self.cache: dict[
            Hashable, Any
        ] = {}  # results of program transforms, which live as long as the program

    @property
    def in_types(self) -> list[ArrayType]:
        return [v.type for v in self.inputs]

    @property
    def out_types(self) -> list[ArrayType]:
        return [a.type for a in self.outputs]

    # as jaxprs, open and closed, call them
    jaxpr = property(lambda self: self)
    literals = property(lambda self: self.consts)
    constvars = property(lambda self: self.inputs[: len(self.consts)])
    invars = property(lambda self: self.inputs[len(self.consts) :])
    outvars = property(lambda self: self.outputs)
    in_avals = property(lambda self: [v.type for v in self.invars])
    out_avals = out_types

    @property
    def effects(self) -> frozenset[Effect]:
        """The kinds of effects its equations have, those of nested programs included."""
        if self._effects is None:
            self._effects = frozenset[Effect]().union(*[eqn_effects(e) for e in self.eqns])
        return self._effects

    @property
    def acts(self) -> bool:
        """Whether running it does something besides computing."""
        return any(type(e) is str and e != INERT for e in self.effects)

    @property
    def meshes(self) -> tuple[Mesh, ...]:
        """The meshes that its equations name."""
        return self.memo("meshes", lambda: _meshes(self.effects))

    @property
    def spans(self) -> tuple[Span, ...]:
        """Those of the exported programs over several devices that it calls."""
        return self.memo("spans", lambda: _spans(self.effects))

    @property
    def fingerprint(self) -> str:
        """A digest of the canonical form; programs with the same digest compute the same thing."""
        if self._fingerprint is None:
            self._fingerprint = _fingerprint(self)
        return self._fingerprint

    @property
    def portable(self) -> bool:
        """False if running it needs objects of this process (Python callbacks)."""
        return "!" not in self.fingerprint and not self.acts

    def memo(self, key: Hashable, make: Callable[[], T]) -> T:
        """A derived object, made once per program."""
        found = self.cache.get(key)
        if found is None:
            found = self.cache[key] = make()
        return found

    def __str__(self) -> str:
        return format_program(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """For notebooks."""
        return shown(f"Program, {len(self.eqns)} equations", text=str(self))


def _meshes(effects: Iterable[Effect]) -> tuple[Mesh, ...]:
    found: list[Mesh] = [e[1] for e in effects if type(e) is tuple and e[0] == "mesh"]
    return tuple(sorted(found, key=lambda mesh: mesh.canonical()))


def _spans(effects: Iterable[Effect]) -> tuple[Span, ...]:
    found: list[Span] = [e[1] for e in effects if type(e) is tuple and e[0] == "span"]
    return tuple(sorted(found, key=repr))


def eqn_effects(e: Eqn) -> frozenset[Effect]:
    return e.op.effects(**e.params) if e.op.effects else frozenset()


# Fingerprints

_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def canonical(value: Any) -> str:
    """A text that is equal for equal params, in this process and in the next."""
    if isinstance(value, _PLAIN):
        return f"{type(value).__name__}:{value!r}"
    if isinstance(value, (tuple, list)):
        return f"({','.join(map(canonical, cast('tuple[Any, ...]', value)))})"
    if isinstance(value, (np.dtype, ArrayType)):
        return str(cast("ArrayType", value))
    if isinstance(value, Program):
        return value.fingerprint
    if isinstance(value, np.generic):
        return f"{cast('np.generic', value).dtype}:{value.tobytes().hex()}"
    portable = getattr(value, "canonical", None)
    if portable is not None:
        return portable()
    # An object of this process. Its identity serves in memory, and "!" keeps it off the disk; the
    # program holds the object, so the identity is not reused while the fingerprint is.
    return f"!{id(value)}"


def _fingerprint(p: Program) -> str:
    numbers = {v: i for i, v in enumerate(p.inputs)}

    def atom(a: Atom) -> str:
        if isinstance(a, Literal):
            return f"{a.value.tobytes().hex()}:{a.type}"
        return str(numbers[a])

    lines = [",".join(str(v.type) for v in p.inputs)]
    for e in p.eqns:
        ins = ",".join([str(numbers[a]) if type(a) is Var else atom(a) for a in e.inputs])
        for v in e.outputs:
            numbers[v] = len(numbers)
        outs = ",".join([str(v.type) for v in e.outputs])
        params = canonical(tuple(e.params.items())) if e.params else ""
        lines.append(f"{e.op.name} {ins} {params} {outs}")
    lines.append(",".join(map(atom, p.outputs)))
    if p.options:
        lines.append(canonical(p.options))
    text = "\n".join(lines)
    digest = blake2b(text.encode(), digest_size=16).hexdigest()
    return digest + ("!" if "!" in text else "")


# Recording


Flat = Callable[..., Sequence["Operand"]]  # a function of values, that returns a list of them
Names = Callable[[], Iterable[str]]  # of arguments, for messages


@final
class RecordTracer(Tracer):
    __slots__ = ("variable", "where")

    def __init__(self, trace: RecordTrace, var: Var, where: Where) -> None:
        self.owner, self.type, self.variable, self.where = trace, var.type, var, where

    def origin(self) -> str:
        trace = cast("RecordTrace", self.owner)
        name = trace.argument_name(self.variable)
        if name:
            return f" It is {name}."
        text = describe_where(self.where)
        made = f" It was made {text}." if text else ""
        sources = [trace.argument_name(v) for v in trace.sources(self.variable)]
        sources = [name for name in sources if name]
        return made + (f" It depends on {', '.join(sources[:4])}." if sources else "")


class RecordTrace(Trace):
    """Records operations as equations of a program.

    ``names()`` describes its arguments for messages, one text for each.
    """

    def __init__(self, names: Names | None = None) -> None:
        self.eqns: list[Eqn] = []
        self.arguments: list[Var] = []
        self.captured: dict[int, tuple[Operand, Var]] = {}  # by id of the value from outside
        self.names = names
        host.moment[0] += 1
        self.moment = host.moment[0]

    def argument(self, type_: ArrayType) -> RecordTracer:
        var = Var(type_)
        self.arguments.append(var)
        return RecordTracer(self, var, None)

    def argument_name(self, var: Var) -> str:
        if self.names is None:
            return ""
        for v, name in zip(self.arguments, self.names(), strict=False):
            if v is var:
                return name
        return ""

    def sources(self, var: Var) -> list[Var]:
        """The arguments that a variable depends on."""
        needed = {var}
        for e in reversed(self.eqns):
            if not needed.isdisjoint(e.outputs):
                needed.update(a for a in e.inputs if type(a) is Var)
        return [v for v in self.arguments if v in needed]

    def atom(self, x: Operand | Var) -> Atom:
        """The program's name for a value: its variable, a literal, or a captured input."""
        if type(x) is RecordTracer and x.owner is self:
            return x.variable
        if isinstance(x, (Var, Literal)):
            return x
        if type(x) in PYTHON_SCALARS:
            return python_literal(x)
        if isinstance(x, Tracer):
            check_live(x)
        elif type(cast("Any", x)) is Linear:
            raise errors.not_linear()
        elif not hasattr(x, "_t") and np.ndim(x) == 0:
            return Literal(x)
        else:
            moment, number = cast("tuple[int, Any]", getattr(x, "_n", _LONG_AGO))
            if moment >= self.moment and not cast("Any", x).is_deleted():
                return Literal(number, typeof(x))
        found = self.captured.get(id(x))
        if found is None:
            found = self.captured[id(x)] = (x, Var(typeof(x)))
            if config.settings().sanitize and not isinstance(x, Tracer):
                findings.note_capture(x)
        return found[1]

    def process(self, op: Op, args: Sequence[Operand], params: dict[str, Any]) -> list[Operand]:
        if op.stage is not None:
            op, args, params = op.stage(*args, **params)
        atom = self.atom
        inputs = [
            x.variable if type(x) is RecordTracer and x.owner is self else atom(x) for x in args
        ]
        where = user_frame(3)
        types = op.type(*[a.type for a in inputs], **params)
        if len(types) == 1:  # as of nearly all operations, without the loops below
            var = Var(types[0])
            self.eqns.append(Eqn(op, inputs, [var], params, where))
            return [RecordTracer(self, var, where)]
        outputs = [Var(t) for t in types]
        self.eqns.append(Eqn(op, inputs, outputs, params, where))
        return [RecordTracer(self, v, where) for v in outputs]

    def finish(self, outs: Iterable[Operand], name: str = "main") -> tuple[Program, list[Operand]]:
        """The program of everything recorded, and the captured values that are its first inputs."""
        outputs = [self.atom(x) for x in outs]
        self.live = False
        captured = list(self.captured.values())
        program = Program([v for _, v in captured] + self.arguments, self.eqns, outputs, name)
        kept = program if findings.checkified.get() else dead_code_eliminated(program)
        return kept, [x for x, _ in captured]


def check_live(x: Tracer) -> None:
    """Raise if a tracer outlived its trace."""
    if not x.owner.live:
        raise errors.tracer_leak(x, x.origin() or " It was made in a traced function.")


def trace_program(
    f: Flat, types: Iterable[ArrayType], name: str = "main", names: Names | None = None,
    where: Where = None,
) -> tuple[Program, list[Operand]]:  # fmt: skip
    """Record ``f(*tracers) -> [values]``. Returns the program and the values it captured.

    Equations remember the line of user code that they come from, or ``where`` if it is given.
    """
    trace = RecordTrace(names)
    begin_trace(trace)
    args = [trace.argument(t) for t in types]
    outside, borrowed.where = borrowed.where, where
    try:
        with using(trace):
            outs = f(*args)
    finally:
        borrowed.where = outside
    program, captured = trace.finish(outs, name)
    settings = config.settings()
    if settings.enable_checks:
        check_program(program)
    if settings.check_tracer_leaks:
        del args, outs
        check_leaks(trace)
    return program, captured


def check_leaks(trace: RecordTrace) -> None:
    """Raise if anybody still holds a tracer of a trace that has come to its end."""
    gc.collect()
    held = [x for x in gc.get_referrers(trace) if isinstance(x, Tracer)]
    if held:
        raise errors.tracer_left(held[0], held[0].origin(), _holders(held[0], held))


def _holders(x: Tracer, held: list[Tracer]) -> str:
    """What refers to a tracer, as far as it has a name."""
    names: list[str] = []
    for holder in gc.get_referrers(x):
        if isinstance(holder, dict):
            holder = cast("dict[Any, Any]", holder)
            names += [f"{key!r} of a dict or module" for key in holder if holder[key] is x]
        elif holder is not held and type(holder) is not CellType and not inspect.isframe(holder):
            names.append(f"a {type(holder).__name__}")
    return " and ".join(names[:3])


def trace_closed(f: Flat, types: Iterable[ArrayType], name: str = "main") -> Program:
    """Record the function of a program transform. Arrays that a user's rule refers to stand in it."""
    program, captured = trace_program(f, types, name)
    return program if not captured else _with_constants(program, captured)


def _with_constants(p: Program, captured: list[Operand]) -> Program:
    """A program without its first inputs, the values that it captured."""
    n = len(captured)
    known = {v: _constant(x) for v, x in zip(p.inputs[:n], captured, strict=True)}

    def atoms(items: Iterable[Atom]) -> list[Atom]:
        return [known.get(a, a) if type(a) is Var else a for a in items]

    eqns = [Eqn(e.op, atoms(e.inputs), e.outputs, e.params, e.where) for e in p.eqns]
    return Program(p.inputs[n:], eqns, atoms(p.outputs), p.name)


def _constant(x: Operand) -> Literal:
    if isinstance(x, Tracer):
        raise rule_errors.rule_closes_over_tracer(x, x.origin())
    return Literal(np.asarray(x), typeof(x))


# Programs as functions


def eval_program(p: Program, args: Iterable[Operand]) -> list[Operand]:
    """Run a program by handing its equations to the current trace, one by one."""
    env = dict(zip(p.inputs, args, strict=True))
    outside = borrowed.where
    try:
        for e in p.eqns:
            borrowed.where = e.where or outside
            ins = [env[a] if type(a) is Var else literal_value(a) for a in e.inputs]
            env.update(zip(e.outputs, bind(e.op, *ins, **e.params), strict=True))
    finally:
        borrowed.where = outside
    return [env[a] if type(a) is Var else literal_value(a) for a in p.outputs]


def eval_jaxpr(jaxpr: Program, consts: Iterable[Operand], *args: Operand) -> list[Operand]:
    """The results of a program that ``make_jaxpr`` gave.

    Args:
      jaxpr: the program.
      consts: values of the arrays that it refers to.
      args: its arguments.

    >>> import xcore as xc
    >>> program = xc.make_jaxpr(lambda x: x + 1)(1.0)
    >>> xc.core.eval_jaxpr(program.jaxpr, program.consts, 2.0)
    [Array(3., dtype=float32, weak_type=True)]
    """
    values = [
        x if hasattr(x, "type") else python_literal(x) if type(x) in PYTHON_SCALARS else x
        for x in (*consts, *args)
    ]
    return eval_program(jaxpr, values)


def jaxpr_as_fun(jaxpr: Program) -> Callable[..., list[Operand]]:
    """A function of the arguments that a program was made for, which returns a list.

    Args:
      jaxpr: a program, such as ``make_jaxpr`` gives, with its constants.

    >>> import xcore as xc
    >>> program = xc.make_jaxpr(lambda x: x + 1)(1.0)
    >>> xc.core.jaxpr_as_fun(program)(2.0)
    [Array(3., dtype=float32, weak_type=True)]
    """
    return lambda *args: eval_jaxpr(jaxpr, jaxpr.consts, *args)


def literal_value(a: Literal) -> Operand:
    """What a literal is outside its program: itself, unless a bare scalar says the same."""
    return a if a.type.weak or a.type.shape else a.value


def _acts(e: Eqn) -> bool:
    return e.op.effects is not None and any([type(x) is str for x in eqn_effects(e)])


def dead_code_eliminated(p: Program) -> Program:
    """Without the equations that neither a result nor an effect needs. Inputs stay."""
    needed = {a for a in p.outputs if type(a) is Var}
    kept: list[Eqn] = []
    for e in reversed(p.eqns):
        if not needed.isdisjoint(e.outputs) or _acts(e):
            kept.append(e)
            needed.update([a for a in e.inputs if type(a) is Var])
    if len(kept) < len(p.eqns):
        p.eqns = kept[::-1]
    return p


def check_program(p: Program) -> None:
    """Re-derive every type and check that every name is defined before it is used."""
    known = set(p.inputs)
    for e in p.eqns:
        unknown = [a for a in e.inputs if type(a) is Var and a not in known]
        assert not unknown, f"{e.op} uses names that are not defined"
        types = e.op.type(*[a.type for a in e.inputs], **e.params)
        assert list(types) == [v.type for v in e.outputs], f"{e.op}: {types} != {e.outputs}"
        for q in subprograms(e.params):
            if not q.cache.get("checked"):
                check_program(q)
                q.cache["checked"] = True
        known.update(e.outputs)
    assert all(a in known for a in p.outputs if type(a) is Var), "a result is not defined"
