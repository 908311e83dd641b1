"""Operations: one record holds all rules of one operation.

rule        signature                                           says
==========  ==================================================  =======================================
type        (*types, **params) -> [ArrayType]                   what is legal and what comes out
lower       (ctx, *values, **params) -> value or [values]       the StableHLO; ``ctx.out_types`` is given
jvp         (primals, tangents, **params) -> outs, out_tangents  for operations that are not linear
transpose   (cotangents, *args, **params) -> [cotangent|None]   linear arguments arrive as Linear(type)
batch       (size, args, batched, **params) -> outs, batched    batch axis 0 in and out
linearize   (primals, nonzero, **params) -> outs, tangent_fn    optional, for higher-order operations
split       (args, linear, **params) -> outs, tangent_fn        the same where it is linear in these already
over_axis   (size, name, args, batched, params) -> as batch     for collectives, over vmap's own axis
eager       (*args, **params) -> [values]                       params that hold Python functions: run them
stage       (*args, **params) -> op, args, params               what a program holds in its place
threaded    (threader, state, args, **params) -> state, outs    with a state that goes through programs
steps       (run, *args, **params) -> [values]                  in plain Python: ``run(program, args)``
host        a ``host.Step``, or (types, **params) -> one    the same bits by NumPy, for small eager calls
==========  ==================================================  =======================================

``effects(**params)`` names what an operation does besides computing: a set of strings, and of pairs
("axis", name) for named axes it refers to. ``nested`` marks operations whose params hold programs;
their batch rules also receive ``axis_name``, the name of the axis that is being added. ``steps``
says what those do that do not just run ``params["program"]``. For loops and branches the
arguments must be concrete. ``closes`` marks those whose params hold Python functions that may refer to values being
batched: their batch rules receive the ``tag`` of these, too, and are asked even where no argument is batched.
``alternatives`` are other ways to lower it on a CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from . import errors
from .trace import current
from .types import ArrayType

registry: dict[str, Op] = {}
# What says which values of a program are stored on a CPU; set by the operations, which know what they read.
storing: list[Callable[[Any], set[Any]]] = []
# What a program is written as for a platform, by its name; set where programs are transformed.
rewriting: dict[str, Callable[[Any], Any]] = {}
# The programs, for types of arguments, of operations that are written by one.
texts: dict[str, Callable[..., Any]] = {}
# A mark in ``Program.cache``: whether a function has been seen to be right in float32's range, with its ends in the
# place of numbers beyond it. Programs of users have none.
BOUNDED = "bounded"
Rule = Callable[..., Any]


class Linear:
    """Stands for a linear argument in a transpose rule: its type is known, its value does not exist."""

    __slots__ = ("type",)

    def __init__(self, type_: ArrayType) -> None:
        self.type = type_

    def __repr__(self) -> str:
        return f"Linear({self.type})"


class Alternative(NamedTuple):
    """Another way to write an operation, which no other platform needs: a CPU's speed, or a quirk.

    Attributes:
      applies: ``(ctx, *types, **params) -> bool``.
      lower: as the rule; NotImplemented where it sees that ``lower`` is better.
      needed: whether what ``lower`` writes would be wrong there; else the setting ``plain`` does without.
    """

    applies: Rule
    lower: Rule
    needed: bool = False


class Op:
    """A named record of rules. Calling it hands it to the current trace.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> sin = xc.make_jaxpr(xnp.sin)(1.0).eqns[0].primitive
    >>> isinstance(sin, xc.core.Primitive), sin.name
    (True, 'sin')
    """

    __slots__ = (
        "_batch", "_jvp", "_lower", "_transpose", "alternatives", "closes", "eager", "effects", "host", "linearize",
        "many", "name", "nested", "over_axis", "split", "stage", "steps", "threaded", "type",
    )  # fmt: skip

    def __init__(
        self, name: str, *, type: Rule, lower: Rule | None = None, jvp: Any = None,
        transpose: Rule | None = None, batch: Rule | None = None, linearize: Rule | None = None,
        many: bool = False, effects: Any = None, nested: bool = False, over_axis: Any = None,
        eager: Rule | None = None, stage: Any = None, steps: Any = None, threaded: Any = None,
        alternatives: Sequence[Alternative] = (), host: Any = None, split: Rule | None = None,
        closes: bool = False,
    ) -> None:  # fmt: skip
        if name in registry:
            raise ValueError(f"operation {name!r} is defined twice")
        self.name, self.type, self.linearize, self.split = name, type, linearize, split or linearize
        self._lower, self._jvp, self._transpose, self._batch = lower, jvp, transpose, batch
        self.many, self.effects, self.nested, self.over_axis = many, effects, nested, over_axis
        self.eager, self.stage, self.steps, self.threaded = eager, stage, steps, threaded
        self.alternatives, self.host, self.closes = alternatives, host, closes
        registry[name] = self

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def __str__(self) -> str:
        return self.name

    multiple_results = property(lambda self: self.many)  # as primitives call it
    is_transposable = property(lambda self: self._transpose is not None)

    def __call__(self, *args: Any, **params: Any) -> Any:
        outs = current().process(self, args, params)
        return outs if self.many else outs[0]

    def run_steps(self, run: Any, args: Any, params: dict[Any, Any]) -> list[Any]:
        """What a nested operation computes, by ``run(program, args)`` on the programs that it holds."""
        if self.steps is None:
            return run(params["program"], args)
        return self.steps(run, *args, **params)

    def write(self, ctx: Any, values: Any, params: dict[str, Any]):
        """The StableHLO: that of the first alternative that applies, or the rule's."""
        for way in self.alternatives:
            if ctx.takes(way) and way.applies(ctx, *ctx.in_types, **params):
                outs = way.lower(ctx, *values, **params)
                if outs is not NotImplemented:
                    return outs
        return self.rule("lower")(ctx, *values, **params)

    def rule(self, name: str, advice: str = ""):
        """The rule of that name, or the one error that says it is missing."""
        found = getattr(self, f"_{name}")
        if found is None:
            raise errors.missing_rule(self, name, advice)
        return found
