"""Vectorization: every batched value has its batch on axis 0."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any, cast, final

from .._core import ArrayType, typeof
from .._core.program import check_live
from .._core.trace import Trace, Tracer, bind, current, using
from .._ops import broadcast

if TYPE_CHECKING:
    from .._core.op import Op
    from .._core.program import Flat
    from .._core.typing import Operand


@final
class BatchTracer(Tracer):
    """One batch element's view of a batched value."""

    __slots__ = ("tag", "value")

    def __init__(self, trace: BatchTrace, value: Operand) -> None:
        t = typeof(value)
        self.owner, self.value, self.type = trace, value, ArrayType(t.shape[1:], t.dtype, t.weak)
        self.tag = trace.tag

    def origin(self) -> str:
        return self.value.origin() if isinstance(self.value, Tracer) else " It is batched by vmap."


class BatchTrace(Trace):
    batches = True

    def __init__(
        self, parent: Trace, size: int, name: Hashable | None = None, tag: object = None
    ) -> None:
        self.parent, self.size, self.name = parent, size, name
        self.tag = (
            self if tag is None else tag
        )  # values of traces with the same one are batched alike
        self.records = parent.records

    def split(self, x: Operand) -> tuple[Operand, bool]:
        if type(x) is BatchTracer and x.tag is self.tag:
            return x.value, True
        if isinstance(x, Tracer):
            check_live(x)
        return x, False

    def process(self, op: Op, args: Sequence[Operand], params: dict[str, Any]) -> list[Operand]:
        values: list[Operand] = []
        batched: list[bool] = []
        for x in args:
            v, b = self.split(x)
            values.append(v)
            batched.append(b)
        mine = self.name is not None and op.effects and ("axis", self.name) in op.effects(**params)
        with using(self.parent):
            if not (mine or any(batched) or op.closes):
                return bind(op, *values, **params)
            if mine and op.over_axis:
                outs, is_batched = op.over_axis(self.size, self.name, values, batched, params)
            elif op.nested:
                more = {"tag": self.tag} if op.closes else {}
                outs, is_batched = op.rule("batch")(
                    self.size, values, batched, axis_name=self.name, **more, **params
                )
            else:
                outs, is_batched = op.rule("batch")(self.size, values, batched, **params)
        return [BatchTracer(self, x) if b else x for x, b in zip(outs, is_batched, strict=True)]


# The named axes in scope: name -> size. Set by vmap(axis_name=…), shard_map and pmap.
Axes = dict[Hashable, int]
_NO_AXES: Axes = {}  # never changed: with named_axis a new dict is made
_axes: ContextVar[Axes] = ContextVar("xcore axes", default=_NO_AXES)


def axis_sizes() -> Axes:
    return _axes.get()


class named_axis:
    """``with named_axis(name, size):`` makes an axis known to collectives."""

    token: Token[Axes]

    def __init__(self, name: Hashable | None, size: int) -> None:
        self.name, self.size = name, size

    def __enter__(self) -> None:
        here = _axes.get()
        self.token = _axes.set({**here, self.name: self.size} if self.name is not None else here)

    def __exit__(self, *exc: object) -> None:
        _axes.reset(self.token)


def vmap_flat(
    f: Flat, size: int, values: Sequence[Operand], batched: Sequence[bool],
    name: Hashable | None = None, tag: object = None,
) -> tuple[list[Operand], list[bool]]:  # fmt: skip
    """``f(*values) -> [values]`` for every batch element. Results, and which of them are batched.

    ``tag``: that of the trace whose values f may refer to.
    """
    trace = BatchTrace(current(), size, name, tag)
    args = [BatchTracer(trace, v) if b else v for v, b in zip(values, batched, strict=True)]
    with using(trace), named_axis(name, size):
        outs = f(*args)
    pairs = [trace.split(x) for x in outs]
    trace.live = False
    return [v for v, _ in pairs], [b for _, b in pairs]


def all_batched(values: Sequence[Operand], batched: Sequence[bool], size: int) -> list[Operand]:
    return [v if b else broadcast(v, size) for v, b in zip(values, batched, strict=True)]


def axis_size(name: Hashable) -> int:
    """The size of a named axis (or the product over a tuple of them)."""
    several = isinstance(name, (tuple, list))
    names = cast("tuple[Hashable, ...]", name) if several else (name,)
    known, size = _axes.get(), 1
    for n in names:
        if n not in known:
            raise NameError(
                f"xcore: there is no axis named {n!r} here; in scope are {[*known] or 'none'}. "
                "Name one with vmap(axis_name=…), pmap(axis_name=…) or shard_map."
            )
        size *= known[n]
    return size
