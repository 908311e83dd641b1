"""Evaluation: values to arrays, running programs, and the trace at the bottom.

An eager operation is a program of one equation; a ``fused`` function (every function of
xcore.numpy) is one program too, however many operations it has. All go through compile.executable.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._backend import client as backend
from . import config, dtypes, errors, findings
from .array import Array, fresh_scalar, from_host, scalar
from .compile import executable, placed, translate
from .config import FastCache
from .host_calls import host_call
from .keys import exact, is_hashable
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
)  # fmt: skip
from .source import describe_where, user_frame
from .trace import (
    Trace,
    Tracer,
    install_bottom,
    is_evaluating,
)  # fmt: skip
from .types import ArrayType, Placed, Value, typeof

if TYPE_CHECKING:
    from .._backend.client import Device
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
        if not is_hashable(key):
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


# Widths of values


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
