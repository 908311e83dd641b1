"""Transforms from programs to programs, from which higher-order operations build their rules.

Each result is kept in the program it was derived from, so it is made once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast, final

from .._core import ArrayType, dtypes, typeof
from .._core.program import Program, dead_code_eliminated, eval_program, trace_closed
from .._ops import zeros
from .jvp import Linearized, jvp_flat, linearize_flat, match_tangent
from .transpose import instantiate, recorded, transpose_under_trace
from .vmap import all_batched, vmap_flat

if TYPE_CHECKING:
    from .._core.program import Flat
    from .._core.typing import Operand

T = TypeVar("T")


def marked(items: Iterable[T], marks: Iterable[bool]) -> list[T]:
    """The items whose mark is true."""
    return [x for x, m in zip(items, marks, strict=True) if m]


def fill(items: Iterable[T], marks: Iterable[bool]) -> list[T | None]:
    """The reverse: items at the true marks, None elsewhere."""
    source = iter(items)
    return [next(source) if m else None for m in marks]


def jvp_program(p: Program, nonzero: Iterable[bool]) -> tuple[Program, list[bool]]:
    """(inputs, tangents of those marked) -> (results, tangents of those that move); which move."""
    nonzero = tuple(nonzero)
    return p.memo(("jvp", nonzero), lambda: _jvp_program(p, nonzero))


def _jvp_program(p: Program, nonzero: tuple[bool, ...]) -> tuple[Program, list[bool]]:
    nonzero_out: list[bool] = []

    def f(*args: Operand) -> list[Operand]:
        n = len(p.inputs)
        outs, tangents = jvp_flat(
            lambda *xs: eval_program(p, xs), args[:n], fill(args[n:], nonzero)
        )
        nonzero_out[:] = [t is not None for t in tangents]
        known = [match_tangent(t, x) for t, x in zip(tangents, outs, strict=True) if t is not None]
        return [*outs, *known]

    types = p.in_types + [t.strong() for t in marked(p.in_types, nonzero)]
    return trace_closed(f, types, p.name), nonzero_out


def tangent_program(p: Program, nonzero: Iterable[bool]) -> tuple[Program, list[bool]]:
    """The same without the results: only the tangents of those that move."""
    nonzero = tuple(nonzero)

    def make() -> tuple[Program, list[bool]]:
        both, nonzero_out = jvp_program(p, nonzero)
        kept = Program(both.inputs, both.eqns, both.outputs[len(p.outputs) :], p.name)
        return dead_code_eliminated(kept), nonzero_out

    return p.memo(("tangent", nonzero), make)


@final
class LinearizedProgram:
    """``primal``: inputs -> (results, residuals). ``linear``: (residuals, tangents) -> tangents.

    ``kept`` numbers the inputs that serve as residuals themselves and so need not be results of
    the primal program; residuals come in the order: computed ones, then kept inputs.
    """

    __slots__ = ("count", "kept", "linear", "nonzero_out", "primal")

    def __init__(
        self, primal: Program, linear: Program, count: int, kept: list[int], nonzero_out: list[bool]
    ) -> None:
        self.primal, self.linear, self.count, self.kept, self.nonzero_out = (
            primal,
            linear,
            count,
            kept,
            nonzero_out,
        )

    def residuals(self, outs: Sequence[T], inputs: Sequence[T]) -> list[T]:
        """All residuals, from the results of ``primal`` and its inputs."""
        return [*outs[len(outs) - self.count :], *[inputs[i] for i in self.kept]]


def linearize_program(p: Program, nonzero: Iterable[bool]) -> LinearizedProgram:
    nonzero = tuple(nonzero)
    return p.memo(("linearize", nonzero), lambda: _linearize_program(p, nonzero, linearize_flat))


def split_program(p: Program, linear: Iterable[bool]) -> LinearizedProgram:
    """The same for a program that is linear in the inputs that ``linear`` marks, from any values of them.

    What depends on these is in ``linear`` alone: ``primal`` has zeros for results that do. Of a tangent that
    has a rule in reverse mode only nothing can be computed, at zero neither. What is not written as linear, as
    where units are taken of an argument and given back, is linearized at zero.
    """
    linear = tuple(linear)
    if not p.memo(("is linear", linear), lambda: _written_as_linear(p, linear)):
        return linearize_program(p, linear)
    return p.memo(("split", linear), lambda: _linearize_program(p, linear, _split_flat))


def _written_as_linear(p: Program, linear: Sequence[bool]) -> bool:
    """Whether all operations on what depends on these inputs have a transpose."""
    moved = {id(x) for x in marked(p.inputs, linear)}
    for e in p.eqns:
        marks = [id(x) in moved for x in e.inputs]
        if not any(marks):
            continue
        inner = _programs_in(e.params) if e.op.split is not e.op.linearize else []
        ends = [marks[-len(q.inputs) :] for q in inner]
        if not e.op.is_transposable or not all(map(_written_as_linear, inner, ends)):
            return False
        moved |= {id(x) for x in e.outputs}
    return True


def _programs_in(params: dict[str, Any]) -> list[Program]:
    held: list[Any] = []
    for v in params.values():
        held += cast("Sequence[Any]", v) if isinstance(v, (tuple, list)) else [v]
    return [x for x in held if type(x) is Program and x.inputs]


def _split_flat(f: Flat, args: Sequence[Operand], linear: Sequence[bool]) -> Linearized:
    known = [x for x, m in zip(args, linear, strict=True) if not m]
    types = [typeof(x).strong() for x in marked(args, linear)]

    def ordered(*xs: Operand) -> list[Operand]:
        sources = iter(xs[: len(known)]), iter(xs[len(known) :])
        return [*f(*[next(sources[m]) for m in linear])]

    program, captured, nonzero_out, outs = recorded(ordered, known, types)
    primals = [zeros(typeof(x)) if m else x for x, m in zip(outs, nonzero_out, strict=True)]
    return Linearized(primals, nonzero_out, list(linear), program, captured)


def _linearize_program(
    p: Program,
    nonzero: tuple[bool, ...],
    run: Callable[[Flat, Sequence[Operand], tuple[bool, ...]], Linearized],
) -> LinearizedProgram:
    found: list[tuple[Program, list[bool], list[int], list[tuple[int, int]]]] = []

    def f(*args: Operand) -> list[Operand]:
        done = run(lambda *xs: eval_program(p, xs), args, nonzero)
        numbers = {id(x): i for i, x in enumerate(args)}
        kept = [(j, numbers[id(c)]) for j, c in enumerate(done.captured) if id(c) in numbers]
        inside = {j for j, _ in kept}
        computed = [j for j in range(len(done.captured)) if j not in inside]
        found[:] = [(done.program, done.nonzero_out, computed, kept)]
        return [*done.outs, *[done.captured[j] for j in computed]]

    primal = trace_closed(f, p.in_types, p.name)
    ((linear, nonzero_out, computed, kept),) = found
    n = len(computed) + len(kept)
    order = [*computed, *[j for j, _ in kept]]
    inputs = [linear.inputs[j] for j in order] + linear.inputs[n:]
    linear = Program(inputs, linear.eqns, linear.outputs, p.name)
    return LinearizedProgram(primal, linear, len(computed), [i for _, i in kept], nonzero_out)


def transpose_program(p: Program, residuals: int) -> Program:
    """(residuals, cotangents of results) -> cotangents of the linear inputs, all made."""
    return p.memo(("transpose", residuals), lambda: _transpose_program(p, residuals))


def _transpose_program(p: Program, n: int) -> Program:
    linear_types = p.in_types[n:]

    kinds = {dtypes.is_inexact(t.dtype) for t in linear_types}

    def f(*args: Operand) -> list[Operand]:
        # results that are no numbers of the inputs' kind, such as comparisons, are none of the linear function
        asked = [
            c if dtypes.is_inexact(t.dtype) in kinds else None
            for c, t in zip(args[n:], p.out_types, strict=True)
        ]
        cts = transpose_under_trace(lambda *xs: eval_program(p, xs), args[:n], linear_types, asked)
        return [instantiate(ct, t) for ct, t in zip(cts, linear_types, strict=True)]

    return trace_closed(f, p.in_types[:n] + [t.strong() for t in p.out_types], p.name)


def batch_program(
    p: Program, size: int, batched: Sequence[bool], force: Sequence[bool] | None = None,
    axis_name: Hashable | None = None,
) -> tuple[Program, list[bool]]:  # fmt: skip
    """The program on batch elements: which results are batched, those that ``force`` marks in any case."""
    key = ("batch", size, tuple(batched), None if force is None else tuple(force), axis_name)
    return p.memo(key, lambda: _batch_program(p, size, batched, force, axis_name))


def batched_type(t: ArrayType, size: int) -> ArrayType:
    return ArrayType((size, *t.shape), t.dtype, t.weak)


def _batch_program(
    p: Program, size: int, batched: Sequence[bool], force: Sequence[bool] | None,
    axis_name: Hashable | None,
) -> tuple[Program, list[bool]]:  # fmt: skip
    result: list[bool] = []

    def f(*args: Operand) -> list[Operand]:
        outs, is_batched = vmap_flat(
            lambda *xs: eval_program(p, xs), size, args, batched, axis_name
        )
        wanted = [b or bool(force and force[i]) for i, b in enumerate(is_batched)]
        result[:] = wanted
        forced = [not w or b for w, b in zip(wanted, is_batched, strict=True)]
        return all_batched(outs, forced, size)

    types = [batched_type(t, size) if b else t for t, b in zip(p.in_types, batched, strict=True)]
    return trace_closed(f, types, p.name), result


def zeros_for(tangents: Iterable[Operand | None], primals: Iterable[Operand]) -> list[Operand]:
    """Tangents with zeros made for those that are None."""
    return [
        zeros(typeof(p).strong()) if t is None else t
        for t, p in zip(tangents, primals, strict=True)
    ]
