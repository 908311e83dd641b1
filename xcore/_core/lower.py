"""Program → StableHLO module."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._backend.hlo import Builder
from . import config
from .blocking import waiting
from .layout import Layout, Manual, declared
from .op import Alternative, rewriting, storing
from .program import ORDERED, Literal, Program, Var
from .source import scoped_line

if TYPE_CHECKING:
    from .._backend import mlir as ir
    from .._backend.hlo import Body, Types, Values
    from .._backend.mlir import Value
    from .mesh import Name
    from .sharding import Sharding
    from .types import ArrayType

    Scalars = dict[tuple[ArrayType, bytes], Value]


def _first(first: Value, *_: Value) -> Value:
    return first


class Lowering(Builder):
    """A Builder that knows programs. Rules find the types of their equation in ``in_types``, ``out_types``.

    Ordered callbacks are chained by a token. ``host_call``, ``while_`` and ``case`` thread it
    through wherever the equation being written has the effect "ordered", so the rules of
    control flow need not know of it.
    """

    def __init__(self, platform: str, layout: Layout | None = None) -> None:
        super().__init__(platform, 1 if layout is None else len(layout.devices))
        self.layout = layout
        self.manual: Manual | None
        self._numbers = itertools.count()  # of private functions; one may be written within another
        self.in_types: list[ArrayType] = []
        self.out_types: list[ArrayType] = []
        self._token: Value | None = None  # of the last ordered callback
        self.kernel = False  # whether it is the inside of one kernel, which has no barriers
        self.barriers = False  # whether there are optimization barriers in it that may be in loops
        self._ordered = False  # whether the equation being written has ordered callbacks in it
        # whether operations are written as suits a CPU where that is faster
        self.tuned = platform == "cpu" and not config.settings().plain

    def takes(self, way: Alternative) -> bool:
        """Whether an alternative lowering is for this platform, and enabled."""
        return self.tuned or (way.needed and self.platform == "cpu")

    def out(self, i: int = 0) -> ir.Type:
        """The MLIR type of the equation's i-th result."""
        return self.type(self.out_types[i])

    def outs(self) -> list[ir.Type]:
        return [self.type(t) for t in self.out_types]

    def program(self, p: Program, values: Values) -> list[Value]:
        """Write a program's equations here; the values of its results."""
        if self.platform in rewriting:
            p = rewriting[self.platform](p)
        env = dict(zip(p.inputs, values, strict=True))
        outside = self.in_types, self.out_types, self._ordered
        constants: Scalars = {}  # the scalars written here: one that is used often is written once
        stored: set[Var] = set()
        if self.tuned and not self.kernel and self.partitions == 1:
            stored.update(*(of(p) for of in storing))
        for e in p.eqns:
            where = e.where
            if not self.known_location(where):
                self.at(where, scoped_line(where))
            self.in_types = [a.type for a in e.inputs]
            self.out_types = [v.type for v in e.outputs]
            self._ordered = e.op.effects is not None and ORDERED in e.op.effects(**e.params)
            ins = [env[a] if type(a) is Var else self._literal(a, constants) for a in e.inputs]
            outs: Any = e.op.write(self, ins, e.params)
            if type(outs) is not list:
                env[e.outputs[0]] = self.fence(outs) if e.outputs[0] in stored else outs
            else:
                env.update(zip(e.outputs, cast("list[Value]", outs), strict=True))
        self.in_types, self.out_types, self._ordered = outside
        return [env[a] if type(a) is Var else self._literal(a, constants) for a in p.outputs]

    def _literal(self, a: Literal, known: Scalars) -> Value:
        if np.ndim(a.value):
            return self.constant(a.value)
        key = a.type, a.value.tobytes()
        found = known.get(key)
        if found is None:
            found = known[key] = self.full(a.type, a.value)
        return found

    def call_program(self, p: Program, values: Values, one_kernel: bool = False) -> list[Value]:
        """Call a program as a private function, shared by programs of equal content.

        ``one_kernel``: a CPU runs it as one kernel, not operation by operation.
        """
        if self.manual is not None:  # there the same axis names mean other devices elsewhere
            return self.program(p, values)
        kernel = (one_kernel and self.partitions == 1) or self.kernel
        key = p.fingerprint, kernel
        f = self.functions.get(key)
        if f is None:
            saved, outside, self.kernel = self.location, self.kernel, kernel
            name = f"{p.name}_{next(self._numbers)}"
            f = self.functions[key] = self.function(
                name, list(map(self.type, p.in_types)), list(map(self.type, p.out_types)),
                lambda *xs: self.program(p, xs),
            )  # fmt: skip
            self.location, self.kernel = saved, outside
        return self.call(
            f, values, one_kernel and self.partitions == 1
        )  # there are no collectives in one

    # Several devices

    def spread(self, p: Program) -> dict[str, Any]:
        """How the public function's arguments and results lie on the mesh, as far as it is given."""
        layout = self.layout
        if layout is None or self.partitions == 1:
            return {}
        self.mesh(
            list(map(str, layout.mesh.axis_names)),
            layout.mesh.devices.shape,
            layout.mesh.positions().reshape(-1).tolist(),
        )
        return {
            "in_axes": self._axes(layout.inputs, p.in_types),
            "out_axes": self._axes(declared(p, layout.order), p.out_types),
        }

    def _axes(
        self, shardings: Iterable[Sharding | None], types: Iterable[ArrayType]
    ) -> list[list[tuple[str, ...] | None] | None]:
        return [
            None if s is None else self.axes_of(s, t.ndim)
            for s, t in zip(shardings, types, strict=True)
        ]

    def axes_of(self, sharding: Sharding, ndim: int) -> list[tuple[str, ...] | None]:
        """For each array axis the names of the module's mesh axes, None where the compiler chooses."""
        assert self.layout is not None, "of programs over several devices"
        return [None if e is None else tuple(map(str, e)) for e in self.layout.axes(sharding, ndim)]

    @property
    def is_local(self) -> bool:
        if self.manual is None:
            return super().is_local
        return len(self.manual.places) == len(self.manual.mesh.axis_names)

    def groups(self, names: Iterable[Name]) -> np.ndarray:
        """The partitions that differ along the named axes of shard_map only, a row for each group."""
        assert self.manual is not None, "inside of shard_map"
        return self.manual.mesh.groups(names)

    def place_on(self, name: Name) -> Value:
        """The index of the partition along an axis of shard_map, an int32 scalar."""
        assert self.manual is not None, "inside of shard_map"
        return self.manual.places[name]

    @contextlib.contextmanager
    def inside(self, manual: Manual) -> Generator[None]:
        """For a block: operations are those of one partition."""
        outside, self.manual = self.manual, manual
        try:
            yield
        finally:
            self.manual = outside

    # Order

    def last_token(self) -> Value:
        """What the next ordered callback must wait for."""
        if self._token is None:
            self._token = self.token()
        return self._token

    def barrier(self, types: Types, values: Values) -> list[Value]:
        """The values behind an optimization barrier: none is available before all of them are."""
        self.barriers |= not self.in_main()
        return list(self.op("stablehlo.optimization_barrier", types, values))

    def dynamic_update_slice(self, x: Value, update: Value, starts: Values) -> Value:
        if not self.kernel and self.may_overlap(x, update):
            (update,) = self.barrier([update.type], [update])
        return super().dynamic_update_slice(x, update, starts)

    def fence(self, x: Value) -> Value:
        """The value, computed once and stored: the compiler does not fuse what makes it into its users."""
        return self.barrier([x.type], [x])[0]

    def host_call(
        self,
        function: Callable[..., Any],
        operands: Values,
        results: Types,
        side_effect: bool = True,
    ) -> list[Value]:
        """Call a Python function of NumPy arrays; after all ordered ones before it if it is ordered.

        ``function`` takes and returns the token first then.
        """
        token = self.last_token() if self._ordered else None
        outs, after = self.callback(function, operands, results, token, side_effect)
        if self._ordered:
            self._token = after
        return outs

    def while_(self, inits: Values, cond: Callable[..., Value], body: Body) -> list[Value]:
        if not self._ordered:
            return self._told_by_numbers(inits, cond, body)
        # A predicate cannot hand a token on, so it is computed in front of the loop and at the end of
        # each step, and goes around with the token.

        def step(_: Value, token: Value, *state: Value) -> list[Value]:
            self._token = token
            after = list(body(*state))
            more = cond(*after)
            return [more, self._token, *after]

        first = cond(*inits)
        _, self._token, *outs = self._told_by_numbers(
            [first, self.last_token(), *inits], _first, step
        )
        return outs

    def _told_by_numbers(
        self, inits: Values, cond: Callable[..., Value], body: Body
    ) -> list[Value]:
        """The loop; on a GPU lone booleans go around as numbers, so that every test computes something.

        In a CUDA graph a test that computes nothing runs beside the turn before it: loops with a boolean
        for a test ended too early or too late on an H200. (jaxlib 0.11.2)
        """
        if self.platform != "cuda":
            return super().while_(inits, cond, body)
        truths = [x.type for x in inits]
        numbers = [self.number_for(t) for t in truths]

        def put(values: Iterable[Value], types: Types) -> list[Value]:
            pairs = zip(values, types, strict=True)
            return [x if x.type == t else self.convert(x, t) for x, t in pairs]

        last = super().while_(
            put(inits, numbers),
            lambda *xs: cond(*put(xs, truths)),
            lambda *xs: put(body(*put(xs, truths)), numbers),
        )
        return put(last, truths)

    def case(
        self, index: Value, results: Types, branches: Sequence[Callable[[], Iterable[Value]]]
    ) -> list[Value]:
        if not self._ordered:
            return super().case(index, results, branches)
        before = self.last_token()

        def threaded(branch: Callable[[], Iterable[Value]]) -> list[Value]:
            self._token = before
            values = branch()
            return [self._token, *values]

        tails = [functools.partial(threaded, b) for b in branches]
        self._token, *outs = super().case(index, [before.type, *results], tails)
        return outs


@contextlib.contextmanager
def lowered(
    p: Program,
    platform: str,
    *,
    donors: Collection[int] = (),
    verify: bool = False,
    layout: Layout | None = None,
) -> Generator[Lowering]:
    """For a block: the Lowering of a module whose public function ``main`` computes the program.

    Args:
      donors: numbers of arguments whose memory results may take.
      verify: whether to check the module.
      layout: the Layout that spreads the program over several devices.
    """
    ctx = Lowering(platform, layout)
    try:  # from here on: a module that is not closed ends the process as it exits
        ctx.waiting = waiting(p)
        ctx.function(
            "main", list(map(ctx.type, p.in_types)), list(map(ctx.type, p.out_types)),
            lambda *xs: ctx.program(p, xs), public=True, donors=donors, **ctx.spread(p),
        )  # fmt: skip
        if verify:
            ctx.verify()
        yield ctx
    finally:
        ctx.close()
