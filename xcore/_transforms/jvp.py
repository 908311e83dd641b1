"""Forward mode and linearization: one trace, two choices of where tangents live.

``jvp`` is JVPTrace(parent, tangents=parent): tangents are computed beside the primals.
``linearize`` is JVPTrace(parent, tangents=LinearTrace(parent)): what depends on primals alone is
computed by the parent, what touches a tangent is recorded. There is no partial evaluation.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast, final

from .._core import config, dtypes, typeof
from .._core.program import RecordTrace, RecordTracer, check_live, check_program
from .._core.trace import Trace, Tracer, bind, current, is_evaluating, using
from .._ops import zeros
from .._ops.elementwise import convert

if TYPE_CHECKING:
    from .._core.op import Op
    from .._core.program import Flat, Program
    from .._core.typing import Operand, SupportsType

    Tangents = Sequence[Operand | None]  # None is a zero that nobody has built


@final
class JVPTracer(Tracer):
    """A primal value with its tangent, which is not None: a zero nobody made needs no tracer."""

    __slots__ = ("primal", "tangent")
    varies = True

    def __init__(self, trace: JVPTrace, primal: Operand, tangent: Operand) -> None:
        self.owner, self.primal, self.tangent, self.type = trace, primal, tangent, typeof(primal)

    def concrete(self) -> Operand | None:
        return self.primal.concrete() if isinstance(self.primal, Tracer) else self.primal

    def origin(self) -> str:
        return self.primal.origin() if isinstance(self.primal, Tracer) else ""


class JVPTrace(Trace):
    def __init__(self, parent: Trace, tangents: Trace) -> None:
        self.parent, self.tangents, self.records = parent, tangents, parent.records
        self.linearizing = tangents is not parent

    def split(self, x: Operand) -> tuple[Operand, Operand | None]:
        if type(x) is JVPTracer and x.owner is self:
            return x.primal, x.tangent
        if isinstance(x, Tracer):
            check_live(x)
        return x, None

    def join(self, primal: Operand, tangent: Operand | None) -> Operand:
        return primal if tangent is None else JVPTracer(self, primal, tangent)

    def process(self, op: Op, args: Sequence[Operand], params: dict[str, Any]) -> list[Operand]:
        primals: list[Operand] = []
        tangents: list[Operand | None] = []
        for x in args:
            p, t = self.split(x)
            primals.append(p)
            tangents.append(t)
        if all([t is None for t in tangents]):
            with using(self.parent):
                return bind(op, *primals, **params)
        if self.linearizing and op.linearize is not None:
            with using(self.parent):
                outs, tangent_fn = op.linearize(
                    primals, [t is not None for t in tangents], **params
                )
            changes = cast("LinearTrace", self.tangents).record(tangent_fn, tangents)
        else:
            rule = op.rule("jvp")
            with using(self.tangents):
                outs, changes = rule(primals, tangents, **params)
        return [
            self.join(p, t if t is not None and dtypes.is_inexact(typeof(p).dtype) else None)
            for p, t in zip(outs, changes, strict=True)
        ]


class Watch(Trace):
    """Hands everything to its parent, and notes whether a value with a derivative took part.

    >>> with watching() as seen:
    ...     pass
    >>> seen.derivative
    False
    """

    def __init__(self, parent: Trace) -> None:
        self.parent, self.derivative, self.records = parent, False, parent.records

    def process(self, op: Op, args: Sequence[Operand], params: dict[str, Any]) -> list[Operand]:
        varies = any([isinstance(x, Tracer) and x.varies for x in args])
        self.derivative |= varies and op.name != "stop_gradient"
        with using(self.parent):
            return bind(op, *args, **params)


@contextlib.contextmanager
def watching() -> Generator[Watch]:
    """``with watching() as seen:`` finds out whether ``seen.derivative`` hangs on what is computed."""
    watch = Watch(current())
    with using(current() if is_evaluating() else watch):
        yield watch


class LinearTrace(RecordTrace):
    """Records what touches one of its tracers; hands everything else to the parent.

    A higher-order operation of known and of linear arguments may have results of both kinds (a
    jitted function that returns a value and a tangent). It is split by its rule for that; one that
    has none is linearized at zero.
    """

    def __init__(self, parent: Trace) -> None:
        super().__init__()
        self.parent, self.splitting, self.records = parent, True, parent.records

    def process(self, op: Op, args: Sequence[Operand], params: dict[str, Any]) -> list[Operand]:
        mine = [type(x) is RecordTracer and x.owner is self for x in args]
        if not any(mine):
            with using(self.parent):
                return bind(op, *args, **params)
        if op.split is None or all(mine) or not self.splitting:
            return super().process(op, args, params)
        with using(self.parent):
            at_zero = [zeros(typeof(x)) if m else x for x, m in zip(args, mine, strict=True)]
            outs, tangent_fn = op.split(at_zero, mine, **params)
        tangents = [x if m else None for x, m in zip(args, mine, strict=True)]
        changes = self.record(tangent_fn, tangents)
        return [x if t is None else t for x, t in zip(outs, changes, strict=True)]

    def record(
        self, tangent_fn: Callable[..., list[Operand | None]], tangents: Tangents
    ) -> list[Operand | None]:
        """What a linearized operation does to tangents, which is linear already."""
        before, self.splitting = self.splitting, False
        try:
            with using(self):
                return tangent_fn(*tangents)
        finally:
            self.splitting = before


def is_differentiable(x: Operand | SupportsType) -> bool:
    return dtypes.is_inexact(typeof(x).dtype)


def match_tangent(tangent: Operand, primal: Operand | SupportsType) -> Operand:
    """The tangent in the primal's dtype. Rules may widen it; a weak primal has a weak type."""
    t, p = typeof(tangent), typeof(primal)
    return tangent if t.dtype == p.dtype else convert(tangent, dtype=p.dtype)


def jvp_flat(
    f: Flat, primals: Sequence[Operand], tangents: Tangents
) -> tuple[list[Operand], list[Operand | None]]:
    """``f(*primals) -> [values]`` with tangents (or None): results, and their tangents or None."""
    parent = current()
    trace = JVPTrace(parent, parent)
    with using(trace):
        outs = f(*[trace.join(p, t) for p, t in zip(primals, tangents, strict=True)])
    pairs = [trace.split(x) for x in outs]
    trace.live = False
    return [p for p, _ in pairs], [t for _, t in pairs]


@final
class Linearized:
    """A function linearized at a point: ``program`` maps (captured values, tangents) to tangents.

    ``outs`` are the results there, ``nonzero_out`` says which of them have a tangent, and ``nonzero``
    which inputs had one.
    """

    __slots__ = ("captured", "nonzero", "nonzero_out", "outs", "program")

    def __init__(
        self, outs: list[Operand], nonzero_out: list[bool], nonzero: list[bool], program: Program,
        captured: list[Operand],
    ) -> None:  # fmt: skip
        self.outs, self.nonzero_out, self.nonzero = outs, nonzero_out, nonzero
        self.program, self.captured = program, captured


def linearize_flat(
    f: Flat, primals: Sequence[Operand], nonzero: Iterable[bool] | None = None
) -> Linearized:
    """Linearize ``f(*primals) -> [values]`` in the inputs that ``nonzero`` marks."""
    nonzero = [is_differentiable(p) for p in primals] if nonzero is None else list(nonzero)
    parent = current()
    linear = LinearTrace(parent)
    trace = JVPTrace(parent, linear)
    args: list[Operand] = []
    for p, active in zip(primals, nonzero, strict=True):
        args.append(JVPTracer(trace, p, linear.argument(typeof(p).strong())) if active else p)
    with using(trace):
        outs = f(*args)
    pairs = [trace.split(x) for x in outs]
    trace.live = False
    tangents = [t for _, t in pairs if t is not None]
    program, captured = linear.finish(tangents, "linear")
    if config.settings().enable_checks:
        check_program(program)
    return Linearized(
        [p for p, _ in pairs], [t is not None for _, t in pairs], nonzero, program, captured
    )
