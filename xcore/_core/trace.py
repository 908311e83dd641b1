"""Traces: the interpreters of operations. Exactly one is current."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from . import config, errors
from .config import STATE, State, get_state
from .types import Value

if TYPE_CHECKING:
    from contextvars import Token

    from .op import Op
    from .types import ArrayType
    from .typing import Operand


class Trace:
    """An interpreter. ``process`` receives an operation whose inputs may be this trace's tracers.

    Any other value is a constant to it. ``live`` turns False once the traced function has returned.
    """

    live = True
    folds = False  # whether it computes at once what holds none of its tracers
    by_type = False  # whether functions are jitted, and nothing of them is run
    batches = False  # whether a value stands for many
    records = True  # whether what is done becomes part of a program, also by way of derivatives and batches

    def process(self, op: Op, args: Sequence[Operand], params: dict[str, Any]) -> list[Operand]:
        raise errors.missing_rule(op, "lower")


class Tracer(Value):
    """A value that belongs to a trace, its owner. Subclasses add what the trace knows about it.

    No attribute here may be named like a method of arrays: it would hide it under tracing.

    >>> import xcore as xc
    >>> xc.jit(lambda x: print(isinstance(x, xc.core.Tracer)))(1.0)
    True
    """

    __slots__ = ("__weakref__", "owner", "type")

    owner: Trace
    type: ArrayType
    varies = False  # whether it has a derivative, which a plain number would lose

    def concrete(self) -> Operand | None:
        """The value itself where it exists although traced (forward mode outside jit), else None."""
        return None

    @property
    def __jax_array__(self) -> Any:
        """What jax asks for. It cannot compute with what is traced here."""
        raise errors.given_to_jax(f"the traced value {self.type}")

    def origin(self) -> str:
        """Where this tracer comes from, a sentence for error messages."""
        return ""


_bottom: list[Trace] = []


def install_bottom(trace: Trace) -> None:
    """Set the trace that is current when nothing is traced (EvalTrace, defined further right)."""
    _bottom[:] = [trace]


def current() -> Trace:
    state = get_state()
    if state is None or state.trace is None:
        return _bottom[0]
    return state.trace


def is_evaluating() -> bool:
    """True when no transformation is being traced in this thread."""
    return current() is _bottom[0]


def is_repeated() -> bool:
    """Whether what is computed now serves many: the calls of a program, the elements of a batch."""
    trace: Any = current()
    while trace is not None and not (trace.records or trace.batches):
        trace = getattr(trace, "parent", None)
    return trace is not None


class using:
    """``with using(trace):`` makes a trace current."""

    __slots__ = ("token", "trace")

    token: Token[State | None]

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def __enter__(self) -> Trace:
        state = get_state()
        here = config.settings() if state is None else state.settings
        trace = None if self.trace is _bottom[0] else self.trace
        # back at the bottom under process-wide settings is the default state: the fast path applies
        plain = trace is None and here is config._base
        self.token = STATE.set(None if plain else State(trace, here))
        return self.trace

    def __exit__(self, *exc: object) -> None:
        STATE.reset(self.token)


class FoldingTrace(Trace):
    """Computes at once what is known, and leaves the rest to the trace that was current before."""

    folds = True

    def __init__(self, outside: Trace) -> None:
        self.outside = outside

    def process(self, op: Op, args: Sequence[Operand], params: dict[str, Any]) -> list[Operand]:
        axes = op.effects is not None and any(type(e) is tuple for e in op.effects(**params))
        with using(self.outside if axes or not are_known(args) else _bottom[0]):
            return bind(op, *args, **params)


def are_known(values: Iterable[object]) -> bool:
    """Whether none of the values is traced."""
    return not any([isinstance(x, Tracer) for x in values])


def evaluating() -> using:
    """``with evaluating():`` nothing is traced."""
    return using(_bottom[0])


@contextlib.contextmanager
def ensure_compile_time_eval() -> Generator[None]:
    """``with ensure_compile_time_eval():`` computes at once what depends on no traced value.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> @xc.jit
    ... def f(x):
    ...     with xc.ensure_compile_time_eval():
    ...         size = int(xnp.arange(3).sum())  # a number, not a traced value
    ...         x = 2 * x  # traced as ever
    ...     return xnp.broadcast_to(x, (size,))
    >>> f(xnp.float32(1))
    Array([2., 2., 2.], dtype=float32)
    """
    here = current()
    with using(here if here.folds or here is _bottom[0] else FoldingTrace(here)):
        yield


def bind(op: Op, *args: Operand, **params: Any) -> list[Operand]:
    """Hand an operation to the current trace; all its results as a list."""
    state = get_state()
    if state is None or state.trace is None:
        return _bottom[0].process(op, args, params)
    return state.trace.process(op, args, params)
