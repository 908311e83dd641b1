"""Fused functions: one program for all that a function does, and what the fast path of its calls learns."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._backend import client as backend
from .._backend.options import CHAIN_OPTIONS, USUAL_OPTIONS
from . import config, dtypes, errors, findings, tree
from .array import Array, ScalarBuffers, reach_of
from .call_paths import by_position, call_path
from .config import FastCache
from .eval import (
    execute,
    is_array_like,
    is_wide,
    narrowed,
    operand,
    prepare,
    run_program,
    to_array,
)  # fmt: skip
from .host_calls import host_call
from .keys import exact, has_zero, is_hashable
from .op import registry
from .program import (
    PYTHON_SCALARS,
    Literal,
    Program,
    trace_program,
)  # fmt: skip
from .source import NOWHERE, entrance
from .trace import (
    are_known,
    bind,
    current,
    evaluating,
    is_evaluating,
)  # fmt: skip
from .types import Value, typeof

if TYPE_CHECKING:
    from .._backend.options import Flags
    from .typing import Operand


def int_overflows(values: Iterable[Any]) -> bool:
    """Whether a Python int does not fit in an integer dtype beside it, so that converting it fails."""
    ints = [x for x in values if type(x) is int and not 0 <= x < 128]
    if not ints:
        return False
    kept = [x.dtype for x in values if hasattr(x, "dtype") and dtypes.is_integer(x.dtype)]
    low, high = reach_of(*kept) if kept else (min(ints), max(ints))
    return not low <= min(ints) <= max(ints) <= high


_LONG = 12  # equations from which on a function is one operation under derivatives that run at once


class Fused:
    """The slow path of one fused function: its cache of programs, and what the fast path learns."""

    def __init__(self, f: Callable[..., Any], count: int, options: Flags = ()) -> None:
        self.f, self.count, self.name = by_position(f), count, f.__name__
        self.options = options
        self.cache, self.fast = FastCache(), FastCache()
        # kinds of arguments called once: the second time they become fast; True: they cannot
        self.seen = FastCache()

    def results(self, out: Any) -> Any:
        """Results of the function while tracing: constants that rules made become arrays."""
        if isinstance(out, (np.generic, Literal)):
            return to_array(out)
        parts: Any = out
        return tuple([self.results(x) for x in parts]) if type(out) is tuple else out

    def entry(self, arrays: Sequence[Any], rest: Sequence[Any]) -> tuple[Any, list[Any]]:
        """(executable, results' types, captured arrays, structure) for these arguments, and leaves."""
        leaves, structure = tree.flatten(list(arrays))
        statics = exact(rest)
        if int_overflows(leaves) or not is_hashable(statics):
            return None, leaves
        wide = any(map(is_wide, leaves))
        leaves = [x if type(x) is Array else to_array(x, wide, any_int=True) for x in leaves]
        types = tuple([x._t for x in leaves])
        settings = config.settings()
        # strict settings refuse what users write and let ourselves do it: programs for each way in
        way_in = entrance() if settings.strict else None
        key = (structure, types, statics, wide, settings, way_in)
        found = self.cache.get(key)
        if found is None:
            before = findings.count
            found = self._trace(leaves, structure, rest)
            if findings.count == before:  # what was found at one line may be found at the next
                self.cache.keep(key, found, config.base())
        return found, leaves

    def _program(
        self, leaves: Iterable[Any], structure: tree.PyTreeDef, rest: Sequence[Any]
    ) -> tuple[Program, list[Operand], tree.PyTreeDef]:
        made: list[tree.PyTreeDef] = []

        def flat(*tracers: Operand) -> list[Any]:
            outs, out_structure = tree.flatten(self.f(*tree.unflatten(structure, tracers), *rest))
            made.append(out_structure)
            return [narrowed(x) if isinstance(x, (Value, Literal)) else x for x in outs]

        # the program serves callers on any line, so it remembers none
        types = [typeof(x) for x in leaves]
        program, captured = trace_program(flat, types, self.name, where=NOWHERE)
        program.options = self.options
        return program, captured, made[0]

    def _trace(
        self, leaves: list[Array], structure: tree.PyTreeDef, rest: Sequence[Any]
    ) -> tuple[Any, ...]:
        program, captured, made = self._program(leaves, structure, rest)
        captured = [operand(c) for c in captured]
        if config.settings().watches:
            return None, captured, made, program, False
        exe, moved = prepare(program, [*captured, *leaves])
        # results of arguments that must be moved first are not for the fast path
        direct = all(a is b for a, b in zip(moved, [*captured, *leaves], strict=True))
        return exe, captured, made, program, direct and not exe.effectful

    def _as_call(self, args: Sequence[Any]) -> list[Any] | None:
        """[the result] as one operation, where operations run one by one under derivatives and batches.

        None if it is short, must see values, or does not take the arguments.
        """
        leaves, structure = tree.flatten(list(args[: self.count]))
        settings, rest = config.settings(), args[self.count :]
        statics = exact(rest)
        plain = all([isinstance(x, (Value, Literal)) for x in leaves])
        if not plain or settings.sanitizes or settings.strict or not is_hashable(statics):
            return None
        enough = (
            2 if settings.watches else _LONG
        )  # NaNs on the way to results that have none are no fault
        key = ("call", structure, tuple([typeof(x) for x in leaves]), statics, settings)
        found: Any = self.cache.get(key)
        if found is None:
            try:
                found = self._program(leaves, structure, rest)
                own = are_known(found[1]) and not found[0].effects
                found = found if own and len(found[0].eqns) >= enough else ()
            except Exception:  # in its own words the plain call complains; or it sees values
                found = ()
            self.cache.keep(key, found, config.base())
        if not found:
            return None
        program, captured, made = found
        return [tree.unflatten(made, bind(registry["call"], *captured, *leaves, program=program))]

    def __call__(self, *args: Any) -> Any:
        settings = config.settings()
        if not is_evaluating() or settings.disable_jit:
            if current().folds and are_known(tree.leaves(list(args[: self.count]))):
                with evaluating():
                    return self(*args)
            found = None if settings.disable_jit or current().records else self._as_call(args)
            return self.results(self.f(*args)) if found is None else found[0]
        arrays, rest = args[: self.count], args[self.count :]
        for a in arrays:
            if not is_array_like(a) and a is not None and not isinstance(a, (list, tuple)):
                return self.f(*args)  # it complains in its own words
        refused, leaves = None, []
        try:
            found, leaves = self.entry(arrays, rest)
        except errors.ConcretizationError:  # it needs to see values
            found = None
        except TypeError as e:
            found, refused = None, e
        if found is None:
            result = self.f(*args)  # if it refuses, it names what was given, not what stood for it
            if refused is not None:
                raise refused
            return result
        exe, captured, structure, program, direct = found
        if direct:
            outs = execute(exe, [*captured, *leaves])
        else:
            outs = run_program(program, [*captured, *leaves])
        return tree.unflatten(structure, outs)

    def fast_entry(self, arrays: Sequence[Any], rest: Sequence[Any] = ()) -> Any:
        """What the fast path needs for a call with just these arrays and one result, or None."""
        found = self._direct(arrays, rest)
        if found is None or not tree.is_leaf_structure(found[2]):
            return None
        return found[0].execute, found[0].handlers, found[0].result_types[0]

    def _direct(self, arrays: Sequence[Any], rest: Sequence[Any]) -> Any:
        """The entry for these arguments where nothing is to be done but to run a program, or None."""
        settings = config.settings()
        if not is_evaluating() or settings.watches or settings.strict or settings.disable_jit:
            return None
        found, _ = self.entry(arrays, rest)
        if found is None or found[1] or not found[4]:  # captured, direct
            return None
        return found

    def _path(
        self, arrays: Sequence[Any], rest: Sequence[Any], flat: Sequence[Any], scalars: Any
    ) -> Any:
        """What the fast path needs for calls like this, or None: of several results, a function in its last place."""
        found = self._direct(arrays, rest)
        if found is None:
            return None
        exe, _, structure, program, _ = found
        if not tree.is_leaf_structure(structure):
            return exe.execute, exe.handlers, None, scalars, _several(exe, structure, scalars)
        given = [x._t if type(x) is Array else x for x in flat]
        if scalars is not None:
            given = [g if s is None else s for s, g in zip(scalars, given)]
        result = exe.result_types[0]
        return exe.execute, exe.handlers, result, scalars, host_call(program, given, result)

    def forget(self) -> None:
        """Forget all kinds of arguments. Executables that are in memory still are found again."""
        for kept in self.cache, self.fast, self.seen:
            kept.clear()

    def learn(self, key: Any, arrays: Sequence[Any], rest: Sequence[Any], default: bool) -> Any:
        """An entry for the fast path when a kind of call comes for the second time, or None.

        Args:
          key: what the fast path looks for.
          arrays, rest: the arguments, arrays and static ones.
          default: whether the static ones are the defaults, and not in the key.
        """
        refused, settings = self.seen.get(key), config.base()
        flat = arrays[0] if len(arrays) == 1 and type(arrays[0]) in (list, tuple) else arrays
        if refused or not _simple(flat) or not (default or not has_zero(rest)):
            return None
        if refused is None:
            self.seen.keep(key, False, settings)
            return None
        try:
            scalars = _scalar_kinds(flat)
            entry = None if scalars is NotImplemented else self._path(arrays, rest, flat, scalars)
        except Exception:  # the slow path, which comes next, says what is wrong
            entry = None
        if entry:
            self.fast.keep(key, entry, settings)
            return entry
        if entry is None and not int_overflows(flat):  # else the next number may be a smaller one
            self.seen.keep(key, True, settings)
        return None


def _several(
    exe: backend.Executable, structure: tree.PyTreeDef, scalars: Any
) -> Callable[..., Any]:
    """Runs a program of several results, given as arrays and Python scalars, or None."""
    types, run, handlers = exe.result_types, exe.execute, exe.handlers

    def call(*args: Any) -> Any:
        if scalars is None:
            buffers = [x._b if x._b is not None else x._buffer() for x in args]
        else:
            buffers = [
                x._buffer() if s is None else s[x] for x, s in zip(args, scalars) if x is not None
            ]
        outs = run(buffers).consume_with_handlers(handlers)
        return tree.unflatten(structure, [Array(b, t) for b, t in zip(outs, types)])

    return call


def fused(count: int = 1, chain: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """A function whose first ``count`` arguments are arrays (or lists of arrays), the rest static.

    Called on arrays it runs as one compiled program; called while tracing it is plain Python. ``chain``
    says that the program is one long chain of operations on each element, as a hash is.
    """

    def wrap(f: Callable[..., Any]) -> Any:
        general = Fused(f, count, (*USUAL_OPTIONS, *(CHAIN_OPTIONS if chain else ())))
        fast = call_path(general, f)
        fast.fused = general
        return fast

    return wrap


def _simple(args: Sequence[Any]) -> bool:
    """Arrays, Python scalars and None only, and at least one array."""
    kinds: list[Any] = [type(x) for x in args if x is not None]
    return Array in kinds and all([k is Array or k in PYTHON_SCALARS for k in kinds])


def _scalar_kinds(args: Sequence[Any]) -> list[Any] | None:
    """For each argument, what has the buffers of Python scalars there; None if there are none.

    NotImplemented if an int is so large that its program is one of its own.
    """
    if all([type(x) is Array for x in args]):
        return None
    wide = any(map(is_wide, args))
    beside = [x.dtype for x in args if type(x) is Array and dtypes.is_integer(x.dtype)]
    found: list[Any] = []
    for x in args:
        if type(x) not in PYTHON_SCALARS:
            found.append(None)
            continue
        dtype, reach = dtypes.scalar_dtype(type(x)(0), wide), None
        if type(x) is int:
            reach = reach_of(dtype, *beside)
            if not reach[0] <= x <= reach[1]:
                return NotImplemented
        found.append(ScalarBuffers(dtype, type(x) is not bool, reach))
    return found
