"""Python functions called from compiled programs: pure_callback, io_callback, debug.callback, debug.print."""

from __future__ import annotations

import re
import string
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .._backend.callbacks import checked, wrap_callback
from .._backend.client import wait_for_effects
from .._core import ArrayType, Op, PyTree, bind, boundary, config, errors, one_of, tree
from .._core.compile import raise_from_callback
from .._core.eval import from_numpy, is_array_like, run_program, to_array, to_value
from .._core.program import ORDERED, canonical, trace_closed
from .._ops import broadcast
from .._transforms.programs import batched_type

# What runs on the host
# A host function takes NumPy arrays and returns a sequence of them. It has a name for messages and
# says by ``canonical`` what it is, so that tracing the same lines again does not compile again.


class HostCall:
    """A user's function of pytrees as a host function."""

    __slots__ = ("function", "in_tree", "name", "out_tree", "statics")
    handed = None  # makes what the function is given of each array, where it is not that

    def __init__(self, function, in_tree, statics, out_tree):
        self.function, self.in_tree, self.statics, self.out_tree = (
            function,
            in_tree,
            statics,
            out_tree,
        )
        self.name = _name_of(function)

    def __call__(self, *arrays):
        leaves = iter(arrays) if self.handed is None else map(self.handed, arrays)
        filled = [next(leaves) if s is _DYNAMIC else s for s in self.statics]
        args, kwargs = tree.unflatten(self.in_tree, filled)
        result = self.function(*args, **kwargs)
        if self.out_tree is None:
            return ()
        outs, found = tree.flatten(result)
        if found != self.out_tree:
            raise TypeError(
                f"it must return a result of the structure {self.out_tree}, but returned {found}"
            )
        return outs

    def canonical(self) -> str:
        statics = ["?" if s is _DYNAMIC else canonical(s) for s in self.statics]
        return f"!call({_identity(self.function)},{self.in_tree},{statics},{self.out_tree})"


class _Dynamic:
    def __repr__(self):
        return "?"


_DYNAMIC = _Dynamic()  # a place among the statics that an array fills


def _name_of(function) -> str:
    """What messages call a function; a lambda by its line."""
    function = getattr(function, "func", function)  # of a functools.partial
    name = getattr(function, "__qualname__", type(function).__qualname__)
    code = getattr(function, "__code__", None)
    if "<lambda>" in name and code is not None:
        return f"<lambda> ({code.co_filename}:{code.co_firstlineno})"
    return name


def _identity(function) -> str:
    """A text that is equal for functions that do the same, as far as identities tell.

    A lambda in a loop body is a new object in each tracing, of the same code and the same cells.
    """
    own = getattr(function, "canonical", None)
    if own is not None:
        return own()
    code = getattr(function, "__code__", None)
    if code is None or getattr(function, "__self__", None) is not None:
        return str(id(function))
    parts = [
        code,
        function.__globals__,
        *(function.__closure__ or ()),
        *(function.__defaults__ or ()),
    ]
    return ",".join(str(id(p)) for p in parts) + str(function.__kwdefaults__ or "")


class BatchedCall:
    """A host function called once for each batch element of a vmap, its results stacked."""

    __slots__ = ("batched", "inner", "name", "size", "types")

    def __init__(self, inner, size: int, batched, types):
        self.inner, self.size, self.batched, self.types = inner, size, tuple(batched), types
        self.name = inner.name

    def __call__(self, *arrays):
        rows = [self._element(i, arrays) for i in range(self.size)]
        return [
            np.stack([row[k] for row in rows]) if rows else np.empty((0, *t.shape), t.dtype)
            for k, t in enumerate(self.types)
        ]

    def _element(self, i: int, arrays):
        mine = [a[i, ...] if b else a for a, b in zip(arrays, self.batched, strict=True)]
        return checked(self.inner(*mine), self.types, self.name)

    def canonical(self) -> str:
        return f"!lanes({self.inner.canonical()},{self.size},{self.batched})"


# The operation

_METHODS = (
    "sequential",
    "sequential_unrolled",
    "expand_dims",
    "broadcast_all",
    "legacy_vectorized",
)
_SEQUENTIAL = _METHODS[:2]


def _eager(*args, function, types, **params):
    arrays = [to_array(a) for a in args]
    if config.settings().watches:  # results of programs are looked at
        call = partial(bind, callback_op, function=function, types=types, **params)
        return run_program(trace_closed(call, [a.type for a in arrays]), arrays)
    arrays = [np.asarray(a) for a in arrays]
    try:
        results = checked(function(*arrays), types, function.name)
    except Exception as e:
        raise_from_callback(function.name, e)
    return [from_numpy(r) for r in results]


def _lower(ctx, *values, function, types, effect, ordered, vmap_method):
    call = wrap_callback(function, types, function.name, token=ordered)
    return ctx.host_call(call, list(values), ctx.outs(), side_effect=effect != "pure")


def _jvp(primals, tangents, *, function, types, effect, **params):
    if any(t.dtype.kind not in "biu" for t in types):
        refusal = errors.missing_rule(
            callback_op, "jvp",
            f"What the Python function {function.name} computes is not known to xcore. Wrap the function that calls "
            "it in xcore.custom_jvp or custom_vjp, or apply xcore.lax.stop_gradient to its arguments.",
        )  # fmt: skip
        raise errors.OpaqueFunctionError(*refusal.args)
    outs = bind(callback_op, *primals, function=function, types=types, effect=effect, **params)
    return outs, [None] * len(outs)


def _batch(size, args, batched, *, function, types, vmap_method, **params):
    if vmap_method in _SEQUENTIAL:
        function = BatchedCall(function, size, batched, types)
    elif vmap_method != "legacy_vectorized":
        count = size if vmap_method == "broadcast_all" else 1
        args = [a if b else broadcast(a, count) for a, b in zip(args, batched, strict=True)]
    types = tuple(batched_type(t, size) for t in types)
    outs = bind(
        callback_op, *args, function=function, types=types, vmap_method=vmap_method, **params
    )
    return outs, [True] * len(outs)


def _effects(*, effect, ordered, **params):
    if effect == "pure":
        return frozenset()
    return frozenset({effect, ORDERED}) if ordered else frozenset({effect})


callback_op = Op(
    "callback",
    type=lambda *args, types, **params: list(types),
    lower=_lower,
    jvp=_jvp,
    batch=_batch,
    eager=_eager,
    effects=_effects,
    many=True,
)

# Public functions


def _call(
    who,
    function,
    args,
    kwargs,
    out_tree,
    types,
    *,
    effect,
    ordered,
    vmap_method="sequential",
    fixed=(),
):
    if not callable(function):
        raise TypeError(
            f"xcore.{who}: callback must be a function, given {errors.describe(function)}."
        )
    leaves, in_tree = tree.flatten((args, kwargs))
    dynamic = [is_array_like(x) and not isinstance(x, fixed) for x in leaves]
    statics = [_DYNAMIC if d else x for x, d in zip(leaves, dynamic, strict=True)]
    values = [to_value(x) for x, d in zip(leaves, dynamic, strict=True) if d]
    call = HostCall(function, in_tree, statics, out_tree)
    return bind(
        callback_op, *values, function=call, types=tuple(types), effect=effect, ordered=bool(ordered),
        vmap_method=vmap_method,
    )  # fmt: skip


def _declared_types(who: str, result_shape_dtypes):
    """The types and the structure of results that are given as anything with shape and dtype."""
    leaves, structure = tree.flatten(result_shape_dtypes)
    for x in leaves:
        if not (hasattr(x, "shape") and hasattr(x, "dtype")):
            raise TypeError(
                f"xcore.{who}: result_shape_dtypes must be a pytree of ShapeDtypeStructs or arrays; it contains "
                f"{errors.describe(x)}. Write xcore.ShapeDtypeStruct(shape, dtype)."
            )
    return [ArrayType(tuple(x.shape), np.dtype(x.dtype)) for x in leaves], structure


@boundary
def pure_callback(
    callback: Callable[..., Any], result_shape_dtypes: PyTree, *args: PyTree, sharding: Any = None,
    vmap_method: str | None = None, vectorized: bool | None = None, **kwargs: Any,
) -> PyTree:  # fmt: skip
    """Call a Python function of NumPy arrays without side effects, also from compiled programs.

    The function may be called any number of times, or not at all if nothing needs its result.

    Args:
      callback: function of NumPy arrays (in pytrees as given) that returns such a pytree.
      result_shape_dtypes: what it returns: a pytree of ShapeDtypeStructs, or of arrays alike.
      args, kwargs: its arguments.
      sharding: accepted for compatibility; the function runs in this process.
      vmap_method: what vmap does: call it for each batch element ("sequential", the default), or once with a
        leading axis of batch elements on batched arguments, where the others get an axis of length 1
        ("expand_dims"), are repeated ("broadcast_all") or stay ("legacy_vectorized").
      vectorized: older name for vmap_method="legacy_vectorized".

    >>> import numpy as np, xcore as xc, xcore.numpy as xnp
    >>> @xc.jit
    ... def median(x):
    ...     return xc.pure_callback(np.median, xc.ShapeDtypeStruct((), x.dtype), x)
    >>> median(xnp.asarray([3.0, 1.0, 2.0]))
    Array(2., dtype=float32)
    """
    method = vmap_method or ("legacy_vectorized" if vectorized else "sequential")
    one_of("pure_callback", "vmap_method", method, _METHODS, f"one of {_METHODS}")
    types, structure = _declared_types("pure_callback", result_shape_dtypes)
    outs = _call("pure_callback", callback, args, kwargs, structure, types, effect="pure", ordered=False,
                 vmap_method=method)  # fmt: skip
    return tree.unflatten(structure, outs)


@boundary
def io_callback(
    callback: Callable[..., Any], result_shape_dtypes: PyTree, *args: PyTree, sharding: Any = None,
    ordered: bool = False, **kwargs: Any,
) -> PyTree:  # fmt: skip
    """Call a Python function that may have side effects, each time the program reaches it.

    Args:
      callback: function of NumPy arrays (in pytrees as given) that returns such a pytree.
      result_shape_dtypes: what it returns: a pytree of ShapeDtypeStructs, or of arrays alike; None
        for nothing.
      args, kwargs: its arguments.
      sharding: accepted for compatibility; the function runs in this process.
      ordered: keep the order of the program among ordered callbacks. Under vmap it is called for
        each batch element in turn.

    >>> import numpy as np, xcore as xc
    >>> seen = []
    >>> @xc.jit
    ... def f(x):
    ...     xc.experimental.io_callback(lambda v: seen.append(float(v)), None, x)
    ...     return x + 1
    >>> f(1.0), seen
    (Array(2., dtype=float32, weak_type=True), [1.0])
    """
    types, structure = _declared_types("io_callback", result_shape_dtypes)
    outs = _call(
        "io_callback", callback, args, kwargs, structure, types, effect="io", ordered=ordered
    )
    return tree.unflatten(structure, outs)


@boundary
def debug_callback(
    callback: Callable[..., Any], *args: PyTree, ordered: bool = False, partitioned: bool = False,
    **kwargs: Any,
) -> None:  # fmt: skip
    """Call a Python function with the values that arrays have when a compiled program runs.

    Under grad it is called with primal values, under vmap for each batch element.

    Args:
      callback: function of NumPy arrays (in pytrees as given); what it returns is ignored.
      args, kwargs: its arguments. Those that are not arrays arrive as they are.
      ordered: keep the order of the program among ordered callbacks.
      partitioned: accepted for compatibility.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> norms = []
    >>> @xc.jit
    ... def step(x):
    ...     xc.debug.callback(lambda n: norms.append(round(float(n), 3)), xnp.sum(x * x))
    ...     return x / 2
    >>> _ = step(step(xnp.ones(2))); norms
    [2.0, 0.5]
    """
    _call("debug.callback", callback, args, kwargs, None, (), effect="debug", ordered=ordered)


class _ArrayFormatter(string.Formatter):
    """``str.format`` in which a format specification applies to every element of an array."""

    def format_field(self, value, format_spec):
        if isinstance(value, np.ndarray) and value.ndim and format_spec:
            return np.array2string(value, formatter={"all": lambda v: format(v, format_spec)})
        return super().format_field(value, format_spec)


_formatter = _ArrayFormatter()


def format_values(fmt: str, args, kwargs) -> str:
    return _formatter.vformat(fmt, args, kwargs)


class _Printer:
    """Prints values by a format string."""

    __slots__ = ("fmt",)
    __qualname__ = "debug.print"

    def __init__(self, fmt: str):
        self.fmt = fmt

    def __call__(self, *args, **kwargs):
        print(format_values(self.fmt, args, kwargs), flush=True, file=sys.stdout)

    def canonical(self) -> str:
        return f"!print({self.fmt!r})"


def check_format(who: str, fmt, count: int, names) -> None:
    """Raise unless a format string fits its arguments: each field has a value, each value a field."""
    if not isinstance(fmt, str):
        raise TypeError(
            f"xcore.{who}: the first argument must be a format string, given {errors.describe(fmt)}."
        )
    fields = _fields(who, fmt)
    automatic = fields.count("")
    used = {f for f in fields if f}
    if automatic and any(f.isdigit() for f in used):
        raise ValueError(f"xcore.{who}: the format string {fmt!r} mixes numbered fields with {{}}.")
    used.update(map(str, range(automatic)))
    known = {*map(str, range(count)), *names}
    for text, wrong in (
        ("names {}, which is not given", used - known),
        ("does not use {}", known - used),
    ):
        if wrong:
            listed = ", ".join(f"argument {n}" if n.isdigit() else f"{n!r}" for n in sorted(wrong))
            raise ValueError(f"xcore.{who}: the format string {fmt!r} {text.format(listed)}.")


def _fields(who: str, fmt: str) -> list[str]:
    """The leading names of the fields of a format string, also within format specifications."""
    out = []
    try:
        for _, name, spec, _ in string.Formatter().parse(fmt):
            if name is not None:
                out.append(re.split(r"[.\[]", name, maxsplit=1)[0])
                out += _fields(who, spec or "")
    except ValueError as e:
        raise ValueError(f"xcore.{who}: the format string {fmt!r} is not valid: {e}.") from None
    return out


@boundary
def debug_print(
    fmt: str, *args: PyTree, ordered: bool = False, partitioned: bool = False, **kwargs: Any
) -> None:
    """Print the values that arrays have when a compiled program runs.

    Works under jit, vmap (a line for each batch element), grad (primal values), and in loops and branches.
    Format specifications apply to each element of an array. With plain evaluation it prints at once.

    Args:
      fmt: a format string as for ``str.format``; no f-string, which would print tracers.
      args, kwargs: what its fields name; arrays, pytrees of them, or any Python values.
      ordered: keep the order of the program among ordered callbacks.
      partitioned: accepted for compatibility.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> @xc.jit
    ... def f(x):
    ...     xc.debug.print("x = {x:.2f}, its sum is {}", x.sum(), x=x)
    ...     return x
    >>> _ = f(xnp.asarray([1.0, 2.5]))
    x = [1.00 2.50], its sum is 3.5
    """
    check_format("debug.print", fmt, len(args), kwargs)
    _call("debug.print", _Printer(fmt), args, kwargs, None, (), effect="debug", ordered=ordered,
          fixed=(bool, int, float, complex))  # fmt: skip


def _stop_here(**values):
    """A prompt of the debugger in which the values are variables."""
    exec("breakpoint()", {"__name__": "__breakpoint__"}, values)


def debug_breakpoint(*, ordered: bool = False, **ignored: Any) -> None:
    """Stop in the Python debugger with the caller's local variables, also in compiled programs.

    Arrays have the values of the running program. Honours ``PYTHONBREAKPOINT``.

    Args:
      ordered: keep the order of the program among ordered callbacks.
      ignored: options of JAX's function of this name are accepted.

    >>> import xcore as xc
    >>> def f(x):
    ...     y = x * 2
    ...     xc.debug.breakpoint()  # here y can be looked at
    ...     return y
    >>> f(1.0)  # doctest: +SKIP
    """
    frame = sys._getframe(1)
    values = {n: v for n, v in frame.f_locals.items() if n.isidentifier()}
    del frame
    _call("debug.breakpoint", _stop_here, (), values, None, (), effect="debug", ordered=ordered)


def effects_barrier() -> None:
    """Wait until the callbacks of all programs started so far, in any thread, have run.

    A call of a program with effects returns when they have happened, so within one thread there is
    never anything to wait for.

    >>> import xcore as xc
    >>> xc.effects_barrier()
    """
    wait_for_effects()
