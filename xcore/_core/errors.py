"""The wording of every message. The classes are those of ``exceptions``.

A message says who speaks, what was given, what is needed and what to do. Call sites read
``raise errors.shape_mismatch("add", x=tx, y=ty)``, so all messages of one kind read alike.
"""

# pyright: reportUnusedImport=false

from __future__ import annotations

from typing import Any

import numpy as np

from .exceptions import (  # noqa: F401  (for call sites: errors.TreeError)
    ArgumentError,
    AxisError,
    BadIndexError,
    CallbackError,
    CheckError,
    CheckIndexError,
    CheckpointError,
    ConcretizationError,
    DeletedError,
    DistributedError,
    DTypeError,
    ExportError,
    ForwardModeError,
    HalfFloatError,
    MatrixShapeError,
    MismatchError,
    MissingRuleError,
    NonConcreteBooleanIndexError,
    NonConcreteSliceError,
    NotLinearError,
    NoTransposeError,
    OpaqueFunctionError,
    OutOfMemoryError,
    SanitizeError,
    SanitizeOverflowError,
    SanitizeWarning,
    ShapeError,
    SingularMatrixError,
    SolverError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    TracerLeakError,
    TreeError,
    UnknownModeError,
    XcoreError,
    callback_error_like,
)


class Words(str):
    """What was given, said in words: no value of the user's."""

    __slots__ = ()


def describe(x: Any) -> str:
    """A short text of a value for messages: its type and shape when it has them, else its repr."""
    if isinstance(x, Words):
        return str(x)
    type_ = getattr(x, "type", None)
    if type_ is not None and hasattr(type_, "weak"):
        return str(type_)
    if getattr(x, "shape", None) is not None and hasattr(x, "dtype") and not isinstance(x, type):
        return f"{x.dtype}[{','.join(map(str, x.shape))}]"
    text = repr(x)
    return f"{text if len(text) < 60 else text[:57] + '...'} of type {type(x).__name__}"


def check_function(who: str, fun: Any) -> None:
    """Raise where a transformation is made of what cannot be called, not later where its result is."""
    if not callable(fun):
        raise TypeError(f"xcore.{who}: expected a function, given {describe(fun)}.")


def _listing(named: dict[Any, Any]) -> str:
    return ", ".join(f"{name}: {describe(value)}" for name, value in named.items())


def shape_mismatch(who: str, why: str = "need equal shapes", **given: Any) -> ShapeError:
    return ShapeError(f"xcore.{who}: operands {why}; given {_listing(given)}.")


def not_matrices(who: str, why: str, **given: Any) -> MatrixShapeError:
    return MatrixShapeError(f"xcore.{who}: operands {why}; given {_listing(given)}.")


def not_broadcastable(who: str, shapes: Any) -> ShapeError:
    listed = " and ".join(str(tuple(s)) for s in shapes)
    return ShapeError(
        f"xcore.{who}: shapes {listed} cannot be broadcast together. Aligned from the right, each "
        "pair of dimensions must be equal or contain a 1; reshape, or add axes with x[:, None]."
    )


def dtype_mismatch(who: str, **given: Any) -> DTypeError:
    return DTypeError(
        f"xcore.{who}: operands need equal dtypes; given {_listing(given)}. Convert one with .astype()."
    )


def dtype_not_allowed(who: str, dtype: Any, allowed: str) -> DTypeError:
    return DTypeError(
        f"xcore.{who}: only {allowed} dtypes are allowed, given {dtype}. Convert with .astype()."
    )


def bad_argument(who: str, name: str, given: Any, expected: str, advice: str = "") -> ArgumentError:
    tail = f" {advice}" if advice else ""
    return ArgumentError(f"xcore.{who}: {name} must be {expected}, given {describe(given)}.{tail}")


def unknown_mode(who: str, mode: Any, expected: str, advice: str = "") -> UnknownModeError:
    return UnknownModeError(str(bad_argument(who, "mode", mode, expected, advice)))


def impossible_shape(shape: tuple[Any, ...]) -> ShapeError:
    why = "a negative size" if min(shape) < 0 else "more bytes than can be addressed"
    return ShapeError(f"xcore: no array can have the shape {shape}: {why}.")


def bad_compiler_options(options: dict[Any, Any], cause: Exception) -> ValueError:
    return ValueError(
        f"xcore.jit: compiler_options {options} were refused by the compiler: "
        f"{str(cause).removeprefix('INVALID_ARGUMENT: ')} They are names of XLA's flags (without the "
        "dashes) and their values, as in {'xla_llvm_disable_expensive_passes': True}."
    )


def bad_axis(who: str, axis: Any, ndim: int) -> ValueError:
    return AxisError(
        f"xcore.{who}: axis {axis} is out of bounds for an array of dimension {ndim}; "
        f"allowed are {-ndim} to {ndim - 1}."
        if ndim
        else f"xcore.{who}: axis {axis} given for a 0-d array, which has no axes."
    )


def index_out_of_range(index: Any, axis: int, shape: Any) -> IndexError:
    return IndexError(
        f"index {index} is out of bounds for axis {axis} of an array of shape {tuple(shape)}: "
        f"allowed are {-shape[axis]} to {shape[axis] - 1}."
    )


def not_an_array(who: str, x: Any, name: str | None = None) -> ArgumentError:
    what = f"argument {name!r}" if name else "an argument"
    given, advice = describe(x), "Expected an array or a number."
    if isinstance(x, (list, tuple)):
        advice = "Lists are not arrays: write xnp.asarray(...)."
    elif hasattr(x, "todense"):
        given = f"a sparse {type(x).__name__}, {given}"
        advice = "Give x.todense(), or look for the function in xcore.sparse."
    return ArgumentError(f"xcore.{who}: {what} is {given}. {advice}")


def given_to_jax(what: str) -> TypeError:
    return TypeError(
        f"xcore: jax, or a package on it such as optax, was given {what} of xcore, which it cannot compute "
        "with. Take xcore's own: xcore.numpy for jax.numpy, xcore.optimize for optax; or convert arrays that "
        "are not traced: jax.numpy.asarray(x) there, xcore.numpy.asarray(y) back."
    )


def traced_by_jax(x: Any) -> TypeError:
    return TypeError(
        f"xcore: given {describe(x)}, which jax is tracing. Inside of jax's jit, grad and vmap use jax.numpy, and "
        "xcore.numpy inside of xcore's: neither sees through the other."
    )


def masked_array(value: Any) -> ArgumentError:
    return ArgumentError(
        f"xcore: a masked array of NumPy ({value.dtype}{list(value.shape)}) was given; arrays here have no "
        "mask, and dropping it would change results. Fill it, x.filled(0) or x.filled(np.nan) (for "
        "nansum and the like), or pass x.data and where=~x.mask."
    )


def item_assignment() -> TypeError:
    return TypeError(
        "xcore arrays are immutable, so x[index] = value is not possible. Write "
        "x = x.at[index].set(value), which returns a new array (under jit it is done in place)."
    )


def donated_twice(arguments: Any) -> DeletedError:
    buffers = [id(a._buffer()) for a in arguments]
    shared = [str(a.type) for a, b in zip(arguments, buffers, strict=True) if buffers.count(b) > 1]
    which = f" ({shared[0]})" if shared else ""
    return DeletedError(
        f"One array{which} is given for a donated argument of a call (donate_argnums/donate_argnames) "
        "and for another argument; its memory can serve only one of them. Pass a copy for the other: "
        "f(x, x.copy())."
    )


def deleted_array(type_: Any) -> DeletedError:
    return DeletedError(
        f"This array ({type_}) no longer has a buffer: it was donated to a jitted call "
        "(donate_argnums/donate_argnames) or deleted. Use the result of that call instead, or pass a "
        "copy: f(x.copy())."
    )


def tracer_leak(tracer: Any, origin: str) -> TracerLeakError:
    return TracerLeakError(
        f"A traced value ({tracer.type}) was used after the function that made it had returned."
        f"{origin} It probably left the function through a global, an attribute of self "
        "or a closure; return it instead. Setting check_tracer_leaks=True finds the place early."
    )


def tracer_left(tracer: Any, origin: str, holders: str) -> TracerLeakError:
    kept = f" It is kept by {holders}." if holders else ""
    return TracerLeakError(
        f"A traced value ({tracer.type}) outlives the function that made it (check_tracer_leaks).{origin}{kept} "
        "Return it instead of storing it in a global, an attribute or a closure."
    )


_WANTED = {
    "bool": "a Python bool (if, while, and, or, not, assert)",
    "int": "a Python int (int(), round())",
    "index": "a Python int (range, a list index, a shape)",
    "float": "a Python number (float(), complex(), math functions)",
    "complex": "a Python number (float(), complex(), math functions)",
    "numpy": "a NumPy array (np functions, .item(), .tolist(), print formatting)",
}


_KINDS = {
    "bool": TracerBoolConversionError, "index": TracerIntegerConversionError,
    "numpy": TracerArrayConversionError,
}  # fmt: skip


def no_concrete_value(
    tracer: Any, needed_for: str, origin: str, place: str = ""
) -> ConcretizationError:
    if tracer.varies and tracer.concrete() is not None:  # it is there, with a derivative
        return number_loses_tangent(tracer, needed_for, place)
    advice = {
        "bool": "Use xnp.where or xcore.lax.cond for branches and xcore.lax.while_loop for loops",
        "index": "Use xcore.lax.fori_loop for loops over traced counts and xcore.lax.dynamic_slice for indexing",
        "int": "Use xcore.lax.fori_loop for loops and xcore.lax.dynamic_slice for indexing",
        "float": "Keep it an array: xnp functions and operators work on traced values",
        "complex": "Keep it an array: xnp functions and operators work on traced values",
        "numpy": "Use xcore.numpy (xnp) functions instead of numpy's on traced values",
    }.get(needed_for, "Compute it outside the traced function")
    what = _WANTED.get(needed_for, needed_for)
    return _KINDS.get(needed_for, ConcretizationError)(
        f"Python needs {what} here, but the value is traced: {tracer.type} has no concrete value until "
        f"the compiled program runs.{origin} {advice}; or, if it comes from an argument that takes few "
        f"values, mark that argument static (jit's static_argnames).{_on_its_own_line(place)}"
    )


def number_loses_tangent(tracer: Any, needed_for: str, place: str = "") -> ConcretizationError:
    what = _WANTED.get(needed_for, needed_for)
    advice = "Give a number of Python's own; or"
    if needed_for in _WANTED:
        advice = "Use the function of xcore.numpy (xnp) or xcore.scipy, or an operator, which keep derivatives; or"
    return _KINDS.get(needed_for, ConcretizationError)(
        f"Python needs {what} here, but the value is being differentiated: {tracer.type} has a derivative, "
        f"which a plain number cannot carry, so that of the result would silently be 0. {advice}, where the "
        "derivative is not wanted, ask xcore.lax.stop_gradient(x) for the number instead of x."
        f"{_on_its_own_line(place)}"
    )


def _on_its_own_line(place: str) -> str:
    return f"\n  {place}" if place else ""


def traced_shape(tracer: Any, origin: str) -> ConcretizationError:
    return ConcretizationError(
        f"A shape must be made of Python ints, but contains a traced value ({tracer.type}): the shape of "
        f"an array cannot depend on values that exist only at run time.{origin} Mark the argument that "
        "it comes from static (jit's static_argnames), use x.shape, or pad to a fixed size and mask."
    )


def missing_rule(op: Any, rule: str, advice: str = "") -> MissingRuleError:
    what = {
        "jvp": "cannot be differentiated",
        "transpose": "cannot be differentiated in reverse mode (grad, vjp), nor transposed (linear_transpose)",
        "batch": "cannot be vmapped",
        "lower": "cannot be compiled",
    }[rule]
    return MissingRuleError(
        f"xcore: the operation {op.name} {what}: it has no {rule} rule. {advice}".rstrip()
    )


def unknown_dtype(spec: Any, supported: Any) -> DTypeError:
    return DTypeError(
        f"xcore: {spec!r} is not a dtype that arrays can have; strings, objects and dates stay in "
        f"Python or NumPy. Supported are {', '.join(supported)}."
    )


def no_promotion(names: Any, strict: bool) -> DTypeError:
    listed = " and ".join(names)
    why = (
        "under strict promotion (numpy_dtype_promotion='strict') only Python scalars are converted"
        if strict
        else "8-bit floats and 4-bit integers are storage, and are not converted by themselves"
    )
    return DTypeError(
        f"xcore: no implicit promotion between {listed}: {why}. Convert with .astype(), "
        "for example x.astype('float32')."
    )


def tree_mismatch(who: str, path: str, reason: str, expected: Any, given: Any) -> TreeError:
    return TreeError(
        f"xcore.{who}: trees do not match at {f'tree{path}' if path else 'their root'}: {reason}. "
        f"Give trees of the same containers and keys.\n  expected {expected}\n  given    {given}"
    )


def unsortable_keys() -> TreeError:
    return TreeError(
        "xcore.tree: the keys of a dict cannot be sorted, so its leaves have no order. Use keys of "
        "one type, or a collections.OrderedDict, which keeps its own order."
    )


def tree_too_deep() -> TreeError:
    return TreeError(
        "xcore.tree: the tree is nested deeper than can be taken apart, some thousand levels. A chain "
        "of containers, such as a list whose tail is a list, is better one flat list."
    )


def nested_too_deep(name: str) -> RecursionError:
    return RecursionError(
        f"xcore: while {name} was traced Python's stack came to its end: it calls itself, or checkpointed or "
        "jitted functions are nested too deep (some hundred levels). Call inner functions without jit, "
        "loop with lax.scan or lax.fori_loop, or raise sys.setrecursionlimit."
    )


def no_half_floats(name: str) -> HalfFloatError:
    return HalfFloatError(
        f"xcore: {name} computes in float16 (or an 8-bit float, which is converted by way of it), and XLA's "
        "compiler has no code for that on a processor without the instructions F16C (x86 before 2012, or "
        "XLA_FLAGS with --xla_cpu_max_isa below AVX2). Use bfloat16 or float32 there."
    )


def not_a_node(tree: Any) -> TreeError:
    return TreeError(f"xcore.tree_util.flatten_one_level: {describe(tree)} is a leaf, not a node.")


def no_identity() -> TreeError:
    return TreeError(
        "xcore.tree.reduce_associative: the tree has no leaves; give the result for that as identity."
    )


def already_a_node(cls: type) -> TreeError:
    return TreeError(
        f"xcore.tree_util: {cls.__qualname__} is registered as a pytree node already. Register a class "
        "once, where it is defined; struct does so by itself."
    )


def half_the_fields(missing: str) -> TreeError:
    return TreeError(
        f"xcore.tree_util.register_dataclass: {missing} is missing. Give both data_fields and "
        "meta_fields, or neither and mark static fields with xcore.tree.static()."
    )


def not_a_dataclass(cls: type) -> TreeError:
    return TreeError(
        f"xcore.tree_util.register_dataclass: {cls.__qualname__} is not a dataclass, so data_fields "
        "and meta_fields must be given."
    )


def wrong_fields(cls: type, missing: set[Any], unknown: set[Any]) -> TreeError:
    sides = (("missing", missing), ("unknown", unknown))
    found = ", ".join(f"{side}: {sorted(names)}" for side, names in sides if names)
    return TreeError(
        f"xcore.tree_util.register_dataclass: data_fields and meta_fields together must name each "
        f"init field of {cls.__qualname__} once; {found}. Fields to leave out go into drop_fields."
    )


def no_inner_structure() -> TreeError:
    return TreeError(
        "xcore.tree.transpose: the outer structure has no leaves, so the inner one cannot be found; "
        "give inner_treedef."
    )


def integer_input(who: str, type_: Any, name: str) -> DTypeError:
    return DTypeError(
        f"xcore.{who}: derivatives are taken with respect to floating-point numbers, but {name} is {type_}. "
        "Pass a float (1.0 instead of 1), convert it with .astype(float), or choose other argnums; "
        "allow_int=True gives integer inputs a derivative of dtype float0."
    )


def non_scalar_gradient(who: str, type_: Any) -> ShapeError:
    return ShapeError(
        f"xcore.{who}: the gradient is defined for scalar results, but the function returned {type_}. "
        "Reduce it to a scalar (.sum(), .mean()), or use xc.jacobian for all derivatives or xc.vjp for a "
        "weighted combination."
    )


def batch_sizes_differ(who: str, found: list[Any]) -> ShapeError:
    listed = "; ".join(
        f"{name} has size {size} along axis {axis} (shape {shape})"
        for name, size, axis, shape in found
    )
    return ShapeError(
        f"xcore.{who}: the mapped axes must have one size, but {listed}. "
        "Use in_axes=None for arguments that are the same for every batch element."
    )


def carry_changed(who: str, changed: list[Any], place: str) -> MismatchError:
    listed = "; ".join(changed)
    return MismatchError(
        f"xcore.{who}: the carry must keep its shapes and dtypes from one step to the next, but {listed}. "
        f"It is the body{place}."
    )


def branches_differ(who: str, listed: list[Any]) -> MismatchError:
    return MismatchError(
        f"xcore.{who}: the branches must return values of the same types, but {'; '.join(listed)}. "
        "Convert with .astype() in one of them."
    )


def reverse_through_while() -> MissingRuleError:
    return MissingRuleError(
        "xcore.lax.while_loop: reverse-mode differentiation (grad, vjp) needs the values of every step, and their "
        "number is not known. Choose one: while_loop(..., checkpoints=K) keeps K carries and recomputes the rest; "
        "fori_loop with static bounds or scan if the number of steps is known; xc.jvp or xc.jacfwd for forward "
        "mode; lax.custom_root if the loop solves an equation."
    )


def not_linear(op: str = "") -> NotLinearError:
    """Without a name where a rule asks for a value that does not exist; who called the rule knows it."""
    return NotLinearError(
        f"xcore: the operation {op} has no transpose, for it is not linear in what depends on the function's "
        "arguments. A function given to xcore.linear_transpose must be linear; of others take xcore.vjp at a point."
    )


def size_needed(who: str, tracer: Any, name: str = "size") -> ConcretizationError:
    fill = " (and fill_value= for what is missing)" if name == "size" else ""
    return ConcretizationError(
        f"xcore.{who}: the shape of the result depends on the values of {tracer.type}, which are traced."
        f"{tracer.origin()} Give {name}=, the number of results{fill}, or "
        "compute it outside the traced function."
    )


def not_finite(who: str, a: Any) -> SingularMatrixError:
    """The LinAlgError of a matrix whose numbers are not all finite."""
    return SingularMatrixError(
        f"xcore.{who}: the matrix, or one of the batch, has NaN or infinities, with which nothing can be said; given "
        f"{describe(a)}. The setting debug_nans tells where they come from."
    )


def singular_matrix(who: str, a: Any, what: str) -> SingularMatrixError:
    return SingularMatrixError(
        f"xcore.{who}: the matrix, or one of the batch, is {what}; given {describe(a)}. Look at its rank and "
        "its condition number (linalg.matrix_rank, linalg.cond); for a solution in the sense of least "
        "squares use linalg.lstsq or linalg.pinv."
    )


def no_derivative_in(op: str, argument: str) -> MissingRuleError:
    return MissingRuleError(
        f"xcore: the operation {op} cannot be differentiated in {argument}: there is no closed form. "
        "Apply lax.stop_gradient to it, or give a derivative with custom_jvp."
    )


def different_devices(listed: list[Any]) -> ValueError:
    return ValueError(
        f"xcore: arguments are committed to different devices: {'; '.join(listed)}. "
        "Move them together with xc.device_put(x, device) or xc.device_put(x, sharding)."
    )


def process_gone(text: str) -> DistributedError:
    return DistributedError(
        "xcore: an exchange of values between processes has failed, because one of them has ended or cannot "
        f"be reached; its own output says why. Start all processes again. ({text.splitlines()[0][:300]})"
    )


def out_of_memory(words: str, live: list[Any], most: int = 5) -> OutOfMemoryError:
    counted: dict[Any, Any] = {}
    for shape, dtype in live:
        counted[shape, dtype] = counted.get((shape, dtype), 0) + 1
    sizes = {k: n * int(np.prod(k[0], dtype=object)) * k[1].itemsize for k, n in counted.items()}
    listed = "; ".join(
        f"{counted[k]} of {k[1].name}[{','.join(map(str, k[0]))}], {sizes[k] / 2**20:.1f} MiB"
        for k in sorted(counted, key=sizes.__getitem__, reverse=True)[:most]
    )
    return OutOfMemoryError(
        f"The device ran out of memory. Its own words: {words} There are {len(live)} arrays of "
        f"{sum(sizes.values()) / 2**20:.1f} MiB together; the largest are: {listed or 'none'}. Free arrays "
        "(del, x.delete()), donate arguments (donate_argnums), or use a smaller dtype or batch."
    )


def exported_for(name: str, count: int, given: int, called: bool) -> ExportError:
    """Another number of devices than a program was exported for: those it is called on, or those there are."""
    what = f"xcore.export: {name} was exported for {count} devices, and"
    if called:
        return ExportError(
            f"{what} is called on {given}. Spread its arguments over a mesh of {count} devices, or export it for "
            f"{given}."
        )
    return ExportError(
        f"{what} there {'is' if given == 1 else 'are'} {given} here. Call it where there are as many (on a CPU the "
        "environment variable XCORE_NUM_CPU_DEVICES says how many there are), or export it for fewer."
    )
