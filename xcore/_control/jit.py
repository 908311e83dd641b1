"""jit: trace once for each kind of arguments, compile once for each program, then call fast."""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from .._core import (
    Array,
    compile,
    config,
    dtypes,
    errors,
    findings,
    is_array_like,
    to_array,
    to_value,
    tree,
)  # fmt: skip
from .._core.config import FastCache, FastList, get_state
from .._core.devices import devices
from .._core.eval import (
    execute,
    install_sanitizer,
    narrowed,
    operand,
    platform_for,
    prepare,
    run_program,
    to_device,
)
from .._core.key_uses import Tracing, repeat
from .._core.placing import reshard
from .._core.program import Literal, eval_program, trace_program
from .._core.sharding import as_sharding, is_placement, same_layout
from .._core.source import boundary, reading_line, wraps
from .._core.trace import Tracer, are_known, current, evaluating, is_evaluating
from .._core.types import ShapeDtypeStruct, Value
from .._core.typing import DeviceLike, JittedFunction, P, PyTree, R
from .._ops.sharding import sharding_constraint
from .._transforms.integers import numbers_of
from .._transforms.vmap import axis_sizes
from . import lowered_for
from .ahead import compiler_pairs, trace
from .arguments import Arguments
from .call import call_program
from .fastpath import generated_call, make_fast
from .invariance import register, sets_of
from .misses import why_traced
from .unknown_sizes import names_in, of_unknown_sizes

_CAPACITY = 2048  # traced variants kept for one function
_GENERATE_AFTER = 3  # calls with one structure before a call path is generated for it


class Variant:
    """One traced variant of a jitted function."""

    __slots__ = (
        "calls", "captured", "captures", "donors", "in_tree", "on_tpu", "out_devices", "out_tree", "own",
        "places", "program", "uses", "wide",
    )  # fmt: skip

    def __init__(self, program, captured, in_tree, out_tree, donors, places, out_devices):
        self.program, self.captured = program, captured
        self.in_tree, self.out_tree = in_tree, out_tree
        self.donors = donors
        self.places = places  # for each leaf of the arguments the sharding it must have, or None
        self.out_devices = (
            out_devices  # for each result the sharding that puts it onto one device, or None
        )
        self.uses: list = []  # of random keys, and the ids of the tracers that stood for arguments
        self.own: list = []
        self.wide = any(c.type.dtype in lowered_for.WIDE for c in captured)
        self.on_tpu: Variant | None = None  # the same as a TPU needs it, once that is known
        self.captures = None  # what the function referred to, under the setting sanitize
        self.calls = (
            weakref.WeakKeyDictionary()
        )  # executable -> number of calls that needed nothing to be moved

    def on(self, platform: str) -> Variant:
        """The variant for a platform: in programs of a TPU captured tables of 64-bit floats are constants."""
        if platform != "tpu" or not self.wide:
            return self
        found = self.on_tpu or lowered_for.without_wide_tables(self)
        self.on_tpu = found
        return found

    def with_program(self, program, left: list[int]) -> Variant:
        """The variant with another program, of those of its inputs that have these numbers."""
        n = len(self.captured)
        captured = [self.captured[i] for i in left if i < n]
        donors = tuple(k for k, i in enumerate(left) if i in self.donors)
        made = Variant(
            program, captured, self.in_tree, self.out_tree, donors, self.places, self.out_devices
        )
        made.uses, made.own, made.captures = self.uses, self.own, self.captures
        return made

    def pure(self) -> bool:
        """True if it holds no tracer, so that it may be kept."""
        return not any(isinstance(c, Tracer) for c in self.captured)


class Jitted(Arguments):
    """Everything about one jitted function but its fast path."""

    def __init__(self, f, static_argnums, static_argnames, donate_argnums, donate_argnames, inline,
                 in_shardings=None, out_shardings=None, options=()):  # fmt: skip
        super().__init__(f, static_argnums, static_argnames, donate_argnums, donate_argnames)
        self.inline, self.options = inline, options
        self.in_shardings, self.out_shardings = in_shardings, out_shardings
        self.traces = compile.Bounded(_CAPACITY)
        self.lock = threading.RLock()
        self.hits = self.misses = 0
        self.fast, self.generated = FastCache(), FastList()
        self.watch = None  # of the setting sanitize
        self.has_table = False  # whether the fast path looks into ``fast``
        _all_jitted.add(self)

    # Tracing

    def find(self, args, kwargs):
        """The traced variant for these arguments, and their leaves."""
        args_, kwargs_, statics = self.split(args, kwargs)
        dynamic = (tuple(args_), kwargs_)
        leaves, structure = tree.flatten(dynamic)
        for x in leaves:
            if type(x) is np.ndarray and x.dtype.kind == "V":
                dynamic, leaves, structure = numbers_of(dynamic)
                break
        leaves = [
            x if isinstance(x, Value) else self._leaf_value(x, i, dynamic)
            for i, x in enumerate(leaves)
        ]
        given = [dtypes.at_width(x.dtype) for x in leaves if hasattr(x, "dtype")]
        wide = any([d.itemsize >= 8 and d != dtypes.complex64 for d in given])
        described = ShapeDtypeStruct, Tracer
        values = [x if isinstance(x, described) else to_value(x, wide) for x in leaves]
        types = tuple([v.type for v in values])
        sets = sets_of(values)
        # programs hold the sizes of named axes, and checks; outside of traces there are none
        state = get_state()
        settings = config.base() if state is None else state.settings
        around = () if state is None else _around()
        key = (structure, types, statics, settings, sets, around)
        found = self.traces.lookup(key)
        if found is not None:
            self.hits += 1
            if found.captures is not None:
                watch: Any = self.watch
                watch.called(self.f, statics, found, self.name)
            return found, values
        with self.lock:
            found = self.traces.lookup(key)
            if found is None:
                self._explain(key)
                watch = self._watch(key)
                found = self._trace(args, kwargs, dynamic, structure, types, sets)
                if watch is not None:
                    watch.traced(self.f, statics, found)
                    captures().note_constants(self.name, found.captured)
                self.misses += 1
                if found.pure():
                    self.traces.store(key, found)
        return found, values

    def _trace(self, args, kwargs, dynamic, structure, types, sets) -> Variant:
        out_tree, own = [], []
        statics = {i: args[i] for i in self.static_argnums if i < len(args)}
        static_kwargs = {k: v for k, v in kwargs.items() if k in self.static_argnames}

        def flat(*tracers):
            register(tracers, sets)
            own.extend(map(id, tracers) if config.settings().watches_keys else ())
            args_, kwargs_ = tree.unflatten(structure, map(constrained, tracers, places))
            full = [statics.get(i, a) for i, a in enumerate(args_)]
            result = self.f(*full, **kwargs_, **static_kwargs)
            result, leaves, found = numbers_of(result)
            out_tree.append(found)
            outs = [narrowed(self._result(x, i, result)) for i, x in enumerate(leaves)]
            return self._constrain_results(outs, result, out_devices)

        places, out_devices = self._places(dynamic, structure), []
        with Tracing() as uses:
            try:
                program, captured = trace_program(
                    flat, types, self.name, lambda: self.leaf_names(dynamic)
                )
            except RecursionError:
                if is_evaluating():  # the outermost: there is stack for an explanation
                    raise errors.nested_too_deep(repr(self.name)) from None
                raise
        program.options = self.options
        captured = [c if isinstance(c, Tracer) else operand(c) for c in captured]
        found = Variant(
            program,
            captured,
            structure,
            out_tree[0],
            self._donors(structure, dynamic, len(captured)),
            places,
            out_devices,
        )
        found.uses, found.own = uses, own
        return found

    def _places(self, dynamic, structure) -> list:
        """The sharding that in_shardings asks of each leaf of the arguments, or None."""
        count = structure.num_leaves
        if self.in_shardings is None:
            return [None] * count
        args = tuple(a for i, a in enumerate(dynamic[0]) if i not in self.static_argnums)
        found = placements("in_shardings", self.in_shardings, args)
        return found + [None] * (count - len(found))

    def _constrain_results(self, outs, result, devices: list) -> list:
        """Results laid out as out_shardings says; ``devices`` is filled if one device is to have one."""
        if self.out_shardings is None:
            return outs
        found = placements("out_shardings", self.out_shardings, result)
        single = [s if s is not None and len(s.devices) == 1 else None for s in found]
        devices[:] = single if any(s is not None for s in single) else []
        return list(map(constrained, outs, found))

    def _result(self, x, i, result):
        if is_array_like(x) or isinstance(x, Literal):
            return to_value(x)
        path, _ = tree.flatten_with_path(result)[0][i]
        raise TypeError(
            f"xcore.jit: {self.name} returned {errors.describe(x)} at result{tree.keystr(path)}; results must be "
            "arrays, numbers or pytrees of them. Return the arrays it is made from instead."
        )

    def _donors(self, structure, dynamic, offset) -> tuple:
        if not (self.donate_argnums or self.donate_argnames):
            return ()
        args, kwargs = dynamic
        marks = []
        for i, a in enumerate(args):
            marks += [i in self.donate_argnums] * len(tree.leaves(a))
        for k in sorted(kwargs):
            marks += [k in self.donate_argnames] * len(tree.leaves(kwargs[k]))
        return tuple(offset + i for i, m in enumerate(marks) if m)

    def _watch(self, key):
        """What the setting sanitize has to know of the function, before it is traced."""
        if not config.settings().sanitize:
            return None
        captures().note_retrace(self.name, self.f, key, [*self.traces], why_traced)
        if self.watch is None:
            self.watch = captures().Watch()
        self.watch.begin(self.f, key[2])
        return self.watch

    def _explain(self, key) -> None:
        if not config.settings().explain_cache_misses:
            return
        line = reading_line(column=True)
        why = why_traced(key, [*self.traces])
        print(f"xcore.jit: tracing {self.name}{line and f' {line}'}: {why}", file=sys.stderr)

    # Calling

    def __call__(self, *args, **kwargs):
        settings = config.settings()
        if settings.disable_jit:
            return self.f(*args, **kwargs)
        traced = self.misses
        found, values = self.find(args, kwargs)
        if current().folds and are_known([*found.captured, *values]):
            with evaluating():
                return self(*args, **kwargs)
        if found.uses:
            own = dict(zip(found.own, values, strict=True))
            repeat(found.uses, own, self.misses > traced)
        if is_evaluating():
            outs, exe, captured = self._run(found, values)
            if exe is not None and get_state() is None and settings is config.base():
                self._learn(found, args, kwargs, exe, captured)
        elif current().by_type:
            outs = current().jitted(found, values)
        elif self.inline and current().records:
            outs = eval_program(found.program, [*found.captured, *values])
        else:
            outs = call_program(found.program, [*found.captured, *values])
        return tree.unflatten(found.out_tree, outs)

    def _run(self, found: Variant, values):
        """Results; and the executable and captured values for the fast path, if it could be used."""
        given = [v if type(v) is Array else to_array(v) for v in values]
        if self.in_shardings is not None:
            given = list(map(self._put, given, found.places))
        if found.wide:
            found = found.on(platform_for([*found.captured, *given]))
        arrays = [*found.captured, *given]
        settings = config.settings()
        if settings.watches:
            return run_program(found.program, arrays), None, ()
        exe, arrays = prepare(found.program, arrays, found.donors)
        for i in found.donors:
            arrays[i]._donated_buffer()
        outs = execute(exe, arrays)
        if found.out_devices:
            moved = zip(outs, found.out_devices, strict=True)
            outs = [x if s is None else reshard(to_device(x, s.devices[0]), s) for x, s in moved]
            return outs, None, ()
        n = len(found.captured)
        if any([type(v) is Array and v is not a for v, a in zip(values, arrays[n:], strict=True)]):
            return outs, None, ()
        return outs, exe, arrays[:n]

    def _put(self, a: Array, place) -> Array:
        """An argument where in_shardings wants it."""
        if place is None or place == a._t.sharding:
            return a
        here = a._t.sharding
        if a.committed and len(here.devices) > 1 and not same_layout(here, place, a.ndim):  # pyright: ignore[reportOptionalMemberAccess]
            raise ValueError(
                f"xcore.jit: in_shardings of {self.name} asks for {place}, but the argument {a.type} has been "
                f"laid out as {here}. Move it with xc.device_put(x, sharding), or leave in_shardings out."
            )
        if len(place.devices) == 1:
            return to_device(a, place.devices[0])
        return reshard(a, place)

    def _learn(self, found: Variant, args, kwargs, exe, captured) -> None:
        """Tell the fast path of a call whose kind keeps coming back."""
        if exe.effectful:
            return
        calls = found.calls[exe] = found.calls.get(exe, 0) + 1
        table = self.has_table and not (kwargs or self.static_argnums or self.static_argnames)
        single = not found.captured and tree.is_leaf_structure(found.out_tree)
        if (
            table
            and single
            and not found.donors
            and len(args) <= 2
            and all([type(a) is Array for a in args])
        ):
            key = args[0]._t if len(args) == 1 else tuple([a._t for a in args])
            self.fast.keep(key, (exe.execute, exe.handlers, exe.result_types[0]), config.base())
        elif calls == _GENERATE_AFTER:
            made = generated_call(self, args, kwargs, found, exe, captured)
            if made is not None:
                self.generated.insert(0, made)
                del self.generated[4:]


def _around() -> tuple:
    """What holds around a call: the named axes and their sizes, and the checks that are asked for."""
    checks, axes = findings.checkified.get(), axis_sizes()
    return (checks, *axes.items()) if checks or axes else ()


def captures():
    """What looks at the functions themselves, under the setting sanitize."""
    return importlib.import_module("xcore._control.captures")


def _run_watched(program, arrays):
    return importlib.import_module("xcore._control.watch").run(program, arrays)


install_sanitizer(_run_watched)
_all_jitted: weakref.WeakSet = weakref.WeakSet()


def placements(who: str, shardings, values) -> list:
    """The sharding for each leaf of a pytree from a prefix of it; None where nothing is said."""
    if isinstance(shardings, list) and not isinstance(values, list):
        shardings = tuple(shardings)
    found = tree.broadcast_prefix(shardings, values, is_placement, f"jit({who})")
    return [None if s is None else as_sharding("jit", s) for s in found]


def constrained(x, place):
    """A value of a program, laid out as a sharding over several devices says."""
    if place is None or len(place.devices) == 1:
        return x
    return sharding_constraint(x, sharding=place)


class JitOptions(TypedDict, total=False):
    """The options of ``jit``, for type checkers."""

    static_argnums: int | Sequence[int] | None
    static_argnames: str | Iterable[str] | None
    donate_argnums: int | Sequence[int] | None
    donate_argnames: str | Iterable[str] | None
    keep_unused: bool
    inline: bool
    in_shardings: PyTree
    out_shardings: PyTree
    device: DeviceLike
    backend: str | None
    compiler_options: Mapping[str, Any] | None


@overload
def jit(fun: Callable[P, R], /, **options: Unpack[JitOptions]) -> JittedFunction[P, R]: ...
@overload
def jit(
    fun: None = None, /, **options: Unpack[JitOptions]
) -> Callable[[Callable[P, R]], JittedFunction[P, R]]: ...
def jit(fun: Callable[..., Any] | None = None, /, *,
        static_argnums: int | Sequence[int] | None = None,
        static_argnames: str | Iterable[str] | None = None,
        donate_argnums: int | Sequence[int] | None = None,
        donate_argnames: str | Iterable[str] | None = None, keep_unused: bool = False,
        inline: bool = False, in_shardings: PyTree = None, out_shardings: PyTree = None,
        device: DeviceLike = None, backend: str | None = None,
        compiler_options: Mapping[str, Any] | None = None,
) -> JittedFunction[..., Any] | Callable[[Callable[..., Any]], JittedFunction[..., Any]]:  # fmt: skip
    """Compile a function: traced once for each kind of arguments, then run as one program.

    Args:
      fun: function of arrays, numbers and pytrees of them, returning such. Usable as a decorator,
        also with arguments: ``@jit`` and ``@jit(static_argnames="n")``.
      static_argnums, static_argnames: arguments that are Python values during tracing; the function
        is traced anew for each of their values, which must be hashable.
      donate_argnums, donate_argnames: arguments whose memory results may take over; they cannot be
        used after the call.
      keep_unused: accepted for compatibility; arguments are always kept.
      inline: write the equations into a surrounding program instead of a call.
      in_shardings, out_shardings: how arguments and results are laid out over devices: shardings
        (or PartitionSpecs, in `with mesh:`) or pytrees of them that match the beginning of the
        tuple of positional arguments, and of the result; None leaves it to the data and the compiler.
      device, backend: run there; a backend is a platform's name, as "cpu".
      compiler_options: flags of XLA by name, with their values, for calls of the function itself;
        inside of other programs and under transformations those of the surrounding program hold.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> @xc.jit
    ... def selu(x, alpha=1.67, lambda_=1.05):
    ...     return lambda_ * xnp.where(x > 0, x, alpha * xnp.exp(x) - alpha)
    >>> selu(xnp.arange(3.0))
    Array([0.  , 1.05, 2.1 ], dtype=float32)
    """
    if fun is None:
        return functools.partial(
            jit, static_argnums=static_argnums, static_argnames=static_argnames,
            donate_argnums=donate_argnums, donate_argnames=donate_argnames, keep_unused=keep_unused,
            inline=inline, in_shardings=in_shardings, out_shardings=out_shardings, device=device,
            backend=backend, compiler_options=compiler_options,
        )  # fmt: skip
    errors.check_function("jit", fun)
    if device is None and backend is not None:
        device = devices(backend)[0]
    if device is not None and in_shardings is None:
        in_shardings = as_sharding("jit", device)
    general = Jitted(fun, static_argnums, static_argnames, donate_argnums, donate_argnames, inline,
                     in_shardings, out_shardings, compiler_pairs(compiler_options))  # fmt: skip
    fast = make_fast(general, general.__call__, fun)
    with contextlib.suppress(AttributeError, TypeError):
        wraps(fun)(fast)
    fast.__wrapped__ = fun
    fast.jitted = general
    fast.trace = functools.partial(trace, general)
    fast.lower = lambda *args, **kwargs: trace(general, *args, **kwargs).lower()
    fast.eval_shape = functools.partial(eval_shape, fast)
    fast._cache_size = lambda: len(general.traces)
    fast.clear_cache = lambda: forget(general)
    return fast


def forget(general: Jitted) -> None:
    with general.traces.lock:
        general.traces.clear()
    general.generated.clear()
    general.fast.clear()


def clear_caches() -> None:
    """Forget every traced function and every compiled program (those on disk stay).

    Their memory goes back to the system where the C library can return it (glibc). What stays is held
    for the process's life: the compiler itself, interned types, and what compiling left in LLVM.

    >>> import xcore as xc
    >>> xc.clear_caches()  # the next call of a jitted function traces again
    """
    for general in list(_all_jitted):
        forget(general)
    config.clear_fast_caches()
    compile.clear()
    compile.return_memory()


# Types and programs


@boundary
def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> PyTree:
    """The shapes and dtypes of ``fun(*args, **kwargs)``, without computing anything.

    Of arguments only types matter: whatever has a shape and a dtype will do. The function may
    return ShapeDtypeStructs as well. Sizes may be unknown ones, of ``export.symbolic_shape``.

    Args:
      fun: function of pytrees.
      args, kwargs: its arguments.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.eval_shape(lambda a, b: a @ b, xnp.ones((2, 3)), xnp.ones((3, 4)))
    ShapeDtypeStruct(shape=(2, 4), dtype=float32)
    """
    if names := names_in(tree.leaves((args, kwargs))):
        return of_unknown_sizes(
            names, lambda fill: eval_shape(fun, *tree.map(fill, args), **tree.map(fill, kwargs))
        )
    general, notes = _general_of(fun), {}
    if general.f is fun:  # a function that is not jitted may return descriptions
        general.f = wraps(fun)(lambda *a, **k: _without_descriptions(fun(*a, **k), notes))
    out = trace(general, *args, **kwargs).out_info
    return notes["structure"].unflatten(notes["fill"](tree.leaves(out))) if notes else out


def _without_descriptions(result, notes: dict) -> list:
    """The arrays of a result; ShapeDtypeStructs are taken out, and ``notes['fill']`` puts them back."""
    leaves, notes["structure"] = tree.flatten(result)
    structs = [
        x if isinstance(x, ShapeDtypeStruct) else None for x in leaves
    ]  # and no traced values

    def fill(arrays):
        arrays = iter(arrays)
        return [next(arrays) if x is None else x for x in structs]

    notes["fill"] = fill
    return [x for x, s in zip(leaves, structs, strict=True) if s is None]


def _general_of(fun) -> Jitted:
    return getattr(fun, "jitted", None) or Jitted(fun, None, None, None, None, False)


def make_jaxpr(
    fun: Callable[P, Any], static_argnums: int | Sequence[int] = (), return_shape: bool = False
) -> Callable[P, Any]:
    """A function that returns the Program of ``fun`` for given arguments; it prints readably.

    Args:
      fun: function of pytrees.
      static_argnums: positions of arguments that are part of the program.
      return_shape: whether the shapes of the results are returned too.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> print(xc.make_jaxpr(lambda x: 2 * xnp.sin(x))(1.0))
    { lambda a:float32[, weak] . let
        b:float32[, weak] = sin a
        c:float32[, weak] = mul 2.0:float32[, weak] b
      in (c,) }
    """
    general = Jitted(fun, static_argnums, None, None, None, False)

    @boundary
    def make(*args, **kwargs):
        traced = trace(general, *args, **kwargs)
        return (traced.jaxpr, traced.out_info) if return_shape else traced.jaxpr

    return make
