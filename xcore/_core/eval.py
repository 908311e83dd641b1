"""Evaluation: the trace at the bottom, and the fast path of a call.

An eager operation is a program of one equation; a ``fused`` function (every function of
xcore.numpy) is one program too, however many operations it has. All go through compile.executable.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._backend import client as backend
from .._backend.options import CHAIN_OPTIONS, USUAL_OPTIONS
from . import config, dtypes, errors, findings, tree
from .array import Array, ScalarBuffers, fresh_scalar, from_host, reach_of, scalar
from .call_paths import by_position, call_path
from .compile import executable, placed, translate
from .config import FastCache
from .host_calls import host_call
from .keys import exact, has_zero
from .op import Linear, registry
from .placing import is_spread, prepare_spread
from .program import (
    PYTHON_SCALARS,
    Eqn,
    Literal,
    Program,
    Var,
    check_live,
    eval_program,
    python_literal,
    trace_program,
)  # fmt: skip
from .source import NOWHERE, describe_where, entrance, user_frame
from .trace import (
    Trace,
    Tracer,
    are_known,
    bind,
    current,
    evaluating,
    install_bottom,
    is_evaluating,
)  # fmt: skip
from .types import ArrayType, Placed, Value, typeof

if TYPE_CHECKING:
    from .._backend.client import Device
    from .._backend.options import Flags
    from .op import Op
    from .typing import Operand

RuntimeFailure = backend.RuntimeFailure


# Values to arrays


def default_placed(type_: ArrayType) -> ArrayType | Placed:
    """A type on the device that the setting default_device names."""
    device = config.settings().default_device
    return type_ if device is None else placed(type_, device, committed=False)


def from_numpy(value: np.ndarray, copy: bool = True, exact: bool = False) -> Array:
    """A NumPy array as an Array, of the same dtype unless the setting narrow says otherwise.

    ``exact``: of the same dtype always, as operations need it that meet others of that dtype.
    """
    native = value.dtype if value.dtype.isnative else value.dtype.newbyteorder("=")
    dtype = dtypes.as_dtype(native)  # raises with the list of what is supported
    dtype = native if exact else dtype
    if type(value) is not np.ndarray and isinstance(value, np.ma.MaskedArray):
        raise errors.masked_array(value)
    value = value if dtype is value.dtype else _to_dtype(value, dtype)
    return from_host(value, default_placed(ArrayType(value.shape, value.dtype)), copy)


def host_values(x: Any) -> np.ndarray:
    """What is in host memory as NumPy's array, if no mask is lost by that."""
    if isinstance(x, np.ma.MaskedArray):
        raise errors.masked_array(x)
    return np.asarray(x)


def _to_dtype(value: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """The same numbers in another byte order, or in fewer bits: what that loses, the setting sanitize tells."""
    with np.errstate(over="ignore"):
        out = value.astype(dtype)
    if dtype.itemsize < value.dtype.itemsize and config.settings().sanitize:
        findings.check_narrowed(value, out)
    return out


def to_array(x: Any, wide: bool = False, any_int: bool = False) -> Array:
    """Anything that counts as an array; ``any_int``: also ints beyond the bits there are."""
    if type(x) is Array:
        return x
    if type(x) in PYTHON_SCALARS:
        return fresh_scalar(x, dtypes.scalar_dtype(x, wide, any_int), type(x) is not bool)
    given: Any = x
    if isinstance(x, np.ndarray):
        return from_numpy(given)
    if isinstance(x, np.generic):
        return from_numpy(np.asarray(given))
    if isinstance(x, Literal):
        if x.type.shape:
            return from_host(np.broadcast_to(x.value, x.type.shape), default_placed(x.type))
        return scalar(x.value.item(), x.type.dtype, x.type.weak)
    if isinstance(x, Tracer):
        check_live(x)
        raise errors.tracer_leak(
            x, " It was made in a function that is still being traced, on another thread or level."
        )
    if isinstance(x, PYTHON_SCALARS):  # subclasses: IntEnum, np.float64 is caught above
        base: Any = next(t for t in PYTHON_SCALARS if isinstance(given, t))
        return to_array(base(x), wide, any_int)
    if getattr(x, "__jax_array__", None) is not None:
        held: Any = x.__jax_array__()
        # a function that is being traced may have been given its values in classes of its caller's
        given = held if isinstance(held, Tracer) and not is_evaluating() else to_array(held, wide)
        return given
    if hasattr(x, "_trace") and type(x).__module__.startswith("jax"):
        raise errors.traced_by_jax(x)
    if _has_numbers(x):
        return from_numpy(np.asarray(x))
    raise errors.not_an_array("eval", x)


def to_value(x: Any, wide: bool = False) -> Value | Literal:
    """Anything that counts as an array as something operations take; Python scalars stay literals."""
    if isinstance(x, (Value, Literal)):
        return x
    if type(x) in PYTHON_SCALARS:
        return python_literal(x, wide)
    return to_array(x, wide)


def is_array_like(x: Any) -> bool:
    return (
        isinstance(x, (Value, np.ndarray, np.generic, *PYTHON_SCALARS))
        or hasattr(x, "__jax_array__")
        or (_has_numbers(x) and not isinstance(x, type))
    )


def _has_numbers(x: Any) -> bool:
    """Whether NumPy can read it; arrays of random keys refuse that."""
    return hasattr(x, "__array__") and not isinstance(
        getattr(x, "dtype", None), dtypes.ExtendedDtype
    )


# Running programs


def prepare(
    p: Program, arrays: Sequence[Array], donors: Sequence[int] = ()
) -> tuple[backend.Executable, Sequence[Array]]:
    """The executable of a program for these arguments, and the arguments where it wants them."""
    if is_spread(p, arrays):
        return prepare_spread(p, arrays, donors)
    devices, arrays = _colocate(arrays)
    return executable(p, devices, donors), arrays


def platform_for(arrays: Sequence[Array]) -> str:
    """The platform on which a program of these arguments runs."""
    places = [a._t.sharding for a in arrays]
    held = next((s.devices[0] for s in places if s), None)
    return backend.platform_of(held or config.settings().default_device or backend.default_device())


def _colocate(arrays: Sequence[Array]) -> tuple[tuple[Device, ...], Sequence[Array]]:
    """The device on which to run a program of these arguments, and the arguments moved there."""
    shardings = [a._t.sharding for a in arrays]
    if not any(shardings):
        default = config.settings().default_device
        if default is None or arrays:
            return (backend.default_device(),), arrays
        return (default,), arrays
    committed = {s.devices for a, s in zip(arrays, shardings, strict=True) if s and a.committed}
    if len(committed) > 1:
        raise errors.different_devices(
            [f"{a.type} on {a.sharding.devices}" for a in arrays if a.committed]
        )
    devices = committed.pop() if committed else next(s.devices for s in shardings if s)
    return devices, [to_device(a, devices[0], committed=False) for a in arrays]


def to_device(a: Array, device: Device, committed: bool = True) -> Array:
    """The array on a device; itself if it is there."""
    here = a.sharding.devices
    if here == (device,):
        if committed and type(a._t) is not Placed:
            return Array(a._buffer(), a._t)
        return a
    target = placed(a.type, device, committed)
    if len(here) == 1 and here[0].client is device.client:
        return Array(backend.move(a._live_buffer(), device), target)
    return from_host(np.asarray(a), target)


def execute(exe: backend.Executable, arrays: Sequence[Array]) -> list[Array]:
    try:
        buffers = exe([a._b if a._b is not None else a._buffer() for a in arrays])
    except RuntimeFailure as e:
        raise translate(e, arrays) from None
    return [Array(b, t) for b, t in zip(buffers, exe.result_types, strict=True)]


_sanitizers: list[Callable[[Program, Sequence[Array]], list[Array]]] = []


def install_sanitizer(run: Callable[[Program, Sequence[Array]], list[Array]]) -> None:
    """Set what runs programs where the setting sanitize is on (defined further right)."""
    _sanitizers[:] = [run]


def run_program(p: Program, arrays: Sequence[Array], donors: Sequence[int] = ()) -> list[Array]:
    """Compile (or find) and run a program."""
    settings = config.settings()
    if settings.sanitizes:
        return _sanitizers[0](p, arrays)
    exe, arrays = prepare(p, arrays, donors)
    for i in donors:
        arrays[i]._donated_buffer()
    outs = execute(exe, arrays)
    if settings.debug_nans or settings.debug_infs:
        _check_finite(p, arrays, outs, settings)
    return outs


def _check_finite(
    p: Program, arrays: Sequence[Array], outs: Sequence[Array], settings: config.Settings
) -> None:
    """Raise FloatingPointError at the first operation of the program that makes a NaN or infinity."""
    bad = next((what for x in outs if (what := _not_finite(x, settings))), None)
    if bad is None:
        return
    if len(p.eqns) == 1 and not p.eqns[0].op.nested:
        e = p.eqns[0]
        if e.op.name == "broadcast_in_dim" and not e.inputs[0].type.shape:
            return  # a constant, as that of where(..., nan, x): nothing has been computed
        given = ", ".join(str(a.type) for a in e.inputs)
        what = f"the operation {e.op.name} ({given})"
        place = describe_where(e.where) or describe_where(user_frame())
    else:
        again = _replay(p, arrays)  # one operation at a time: the one at fault raises
        if any(_not_finite(x, settings) for x in again if type(x) is Array):
            return  # all that is not finite are constants
        what, place = f"the program {p.name}", describe_where(user_frame())
    before = any(_not_finite(x, settings) for x in arrays)
    raise FloatingPointError(
        f"xcore: {what} produced {bad}"
        + (", as one of its arguments had one." if before else ".")
        + " (The setting debug_nans or debug_infs is on.)"
        + (f"\n  {place}" if place else "")
    )


def _replay(p: Program, arrays: Sequence[Array]) -> Sequence[Operand]:
    """Run a program operation by operation, and those that hold programs by these."""
    if len(p.eqns) != 1:
        return eval_program(p, arrays)
    e, env = p.eqns[0], dict(zip(p.inputs, arrays, strict=True))
    args = [to_array(env[a] if type(a) is Var else a) for a in e.inputs]
    return e.op.run_steps(eval_program, args, e.params)


def _not_finite(x: Array, settings: config.Settings) -> str | None:
    if not dtypes.is_inexact(x.dtype) or x.dtype.itemsize < 2:
        return None
    host = np.asarray(x)
    if settings.debug_nans and np.isnan(host).any():
        return "a NaN"
    return "an infinity" if settings.debug_infs and np.isinf(host).any() else None


class EvalTrace(Trace):
    """Runs operations now, each as a program of one equation."""

    records = False

    def __init__(self) -> None:
        self.programs = FastCache()

    def process(self, op: Op, args: Sequence[Operand], params: dict[str, Any]) -> list[Operand]:
        if op.eager is not None:
            return op.eager(*args, **params)
        arrays = [a if type(a) is Array else operand(a) for a in args]
        # a scalar at every place is passed as a scalar, and spread inside the program
        types = tuple([
            a.type if type(a) is Literal and a.type.shape else x._t.type
            for a, x in zip(args, arrays)
        ])  # fmt: skip
        given = tuple([x._t.type for x in arrays])
        key = (op, types, given, tuple(params), exact(tuple(params.values())))
        if not _is_hashable(key):
            return [*run_program(_single(op, types, given, params), arrays)]
        known: list[Any] | None = self.programs.get(key)
        if known is None:
            known = [_single(op, types, given, params), None]
            self.programs.keep(key, known, config.base())
        elif op.host is not None and (out := _by_host(known, arrays, given)) is not None:
            return [out]
        outs: Any = run_program(known[0], arrays)
        return outs


def _by_host(known: list[Any], arrays: Sequence[Array], given: Sequence[ArrayType]) -> Array | None:
    """The result in NumPy of a program that is called again; or None."""
    if config.settings().watches or any([type(x._t) is Placed for x in arrays]):
        return None
    if known[1] is None:
        known[1] = host_call(known[0], given, known[0].outputs[0].type) or _no_host_call
    return known[1](*arrays)


def _no_host_call(*arrays: Array) -> None:
    """The call on the host of a program that has none."""


def operand(a: Any) -> Array:
    """What an operation or a program takes for a value, of exactly its dtype."""
    if type(a) is Literal and a.type.shape and not a.value.shape:
        return scalar(a.value.item(), a.type.dtype, a.type.weak)
    given: Any = a
    if isinstance(a, (np.ndarray, np.generic)):
        return from_numpy(np.asarray(given), exact=True)
    if type(a) is Linear:
        raise errors.not_linear()
    return to_array(given)


def _single(
    op: Op, types: tuple[ArrayType, ...], given: tuple[ArrayType, ...], params: dict[str, Any]
) -> Program:
    inputs = [Var(t) for t in given]
    operands = [Var(t) if t is not g else v for t, g, v in zip(types, given, inputs)]
    spread = registry["broadcast_in_dim"]
    eqns = [
        Eqn(spread, [v], [x], {"shape": x.type.shape, "dims": ()})
        for v, x in zip(inputs, operands) if x is not v
    ]  # fmt: skip
    outputs = [Var(t) for t in op.type(*types, **params)]
    return Program(inputs, [*eqns, Eqn(op, operands, outputs, params)], outputs, op.name)


install_bottom(EvalTrace())


# Fused functions


def is_wide(x: Any) -> bool:
    """Whether Python numbers beside this value are carried at 64 bits."""
    dtype = getattr(x, "dtype", None)
    if dtype is None:
        return False
    if not hasattr(dtype, "itemsize"):  # of a column of polars
        return is_wide(np.asarray(x))
    if dtype.itemsize < 8 or dtype == dtypes.complex64:
        return False
    if type(x) is not Array and dtypes.at_width(dtype) is not dtype:  # it comes in narrower
        return False
    return not getattr(x, "weak_type", False)  # a Python int beyond 32 bits is no wide data


def narrowed(x: Any) -> Any:
    """A weak float at the default width: weak values are carried at 64 bits only inside programs."""
    t = typeof(x)
    kind = dtypes.kind(t.dtype)
    if not t.weak or kind not in ("float", "complex"):
        return x
    dtype = dtypes.default_dtype(kind)
    if dtype.itemsize >= t.dtype.itemsize:
        return x
    if isinstance(x, Literal):
        return Literal(np.asarray(x.value, dtype), ArrayType(t.shape, dtype, True))
    return registry["convert"](x, dtype=dtype, weak=True)


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
        if int_overflows(leaves) or not _is_hashable(statics):
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
        if not plain or settings.sanitizes or settings.strict or not _is_hashable(statics):
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


def _is_hashable(x: Any) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


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
