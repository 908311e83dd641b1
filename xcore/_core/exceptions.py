"""Every exception class of xcore. What they say is worded in ``errors``."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .._backend.client import RuntimeFailure


class XcoreError(Exception):
    """Base of all errors that xcore raises on its own account.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> try:
    ...     xnp.ones(2) + xnp.ones(3)
    ... except xc.errors.XcoreError as e:
    ...     print(type(e).__name__)
    ShapeError
    """

    __str__ = Exception.__str__  # that of the runtime's errors asks for what these do not have

    def __init_subclass__(cls) -> None:
        cls.__module__ = "xcore.errors"  # where users find them


class ShapeError(XcoreError, ValueError, TypeError):
    """Shapes do not fit together.

    >>> import xcore.numpy as xnp
    >>> xnp.ones(2) + xnp.ones(3)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ShapeError: xcore.add: shapes (2,) and (3,) cannot be broadcast together.
    """


class MatrixShapeError(ShapeError, np.linalg.LinAlgError):
    """What must be a matrix, or a square one, is not; NumPy's LinAlgError too.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.solve(xnp.ones((2, 3)), xnp.ones(2))  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    MatrixShapeError: xcore.linalg.solve ...
    """


class ArgumentError(XcoreError, ValueError, TypeError):
    """An argument has a value, or is of a kind, that the function does not take.

    Which of the two it is differs between NumPy and its peers, so it can be caught as either.

    >>> import xcore.numpy as xnp
    >>> xnp.transpose(xnp.ones((2, 3)), (0, 0))  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ArgumentError: xcore.numpy.transpose: axes must be a permutation of 2 axes, given (0, 0) ...
    """


class UnknownModeError(ArgumentError, NotImplementedError):
    """A mode that NumPy may know, and that a compiled program cannot have.

    >>> import xcore.numpy as xnp
    >>> xnp.take(xnp.arange(3), xnp.asarray([5]), mode="raise")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnknownModeError: xcore.numpy.take: mode must be one of ...
    """


class BadIndexError(XcoreError, IndexError, TypeError):
    """What stands between the brackets cannot be an index: a float, a string, a set.

    >>> import xcore.numpy as xnp
    >>> xnp.arange(3)[1.0]  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    BadIndexError: only integers, slices (:), ellipsis (...), None and integer or boolean arrays ar ...
    """


class DTypeError(XcoreError, ValueError, TypeError):
    """A dtype is not allowed here, or dtypes do not fit together.

    >>> import xcore.numpy as xnp
    >>> xnp.bitwise_and(1.0, 2.0)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    DTypeError: xcore.numpy.bitwise_and ...
    """


class HalfFloatError(DTypeError, NotImplementedError):
    """The compiler has no code for float16 on this processor.

    >>> import xcore.numpy as xnp
    >>> from xcore.errors import HalfFloatError
    >>> def halved(x):
    ...     try:
    ...         return (x.astype("float16") / 2).astype(x.dtype)
    ...     except HalfFloatError:  # on processors without them
    ...         return (x.astype("bfloat16") / 2).astype(x.dtype)
    >>> halved(xnp.ones(2))
    Array([0.5, 0.5], dtype=float32)
    """


class MismatchError(DTypeError, ShapeError):
    """A value differs in shape or dtype from what must come there.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.fori_loop(0, 3, lambda i, x: x / 2, xnp.arange(3))  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    MismatchError: xcore.lax.scan: the carry must keep its shapes and dtypes from one step to the next, ...
    """


class TreeError(XcoreError, ValueError, TypeError):
    """Pytrees have different structures where they must agree.

    >>> import xcore as xc
    >>> xc.tree.map(lambda x, y: x + y, {"a": 1}, {"b": 2})  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    TreeError: xcore.tree.map ...
    """


class TracerLeakError(XcoreError, TypeError, RuntimeError):
    """A traced value was kept and used after the function that made it had returned.

    >>> import xcore as xc
    >>> kept = []
    >>> _ = xc.jit(lambda x: kept.append(x))(1.0)
    >>> kept[0] + 1  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    TracerLeakError: A traced value (float32[, weak]) was used after the function that made it had re ...
    """


class ConcretizationError(XcoreError, TypeError):
    """Python needed a concrete value where only a traced one exists.

    ``if``, ``while``, ``int()``, ``bool()``, an index of ``range`` or a shape need a number now; under
    ``jit`` or ``vmap`` the number exists only when the compiled program runs. Repairs: select with
    ``xnp.where``, branch with ``xcore.lax.cond``, loop with ``xcore.lax.while_loop``, or mark the
    argument with ``static_argnames`` so that the function is traced once for each of its values.

    >>> import xcore as xc
    >>> xc.jit(lambda x: float(x) + 1)(1.0)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ConcretizationError: Python needs a Python number (float(), complex(), math functions) here, but the  ...
    >>> xc.jit(lambda x: x + 1)(1.0)
    Array(2., dtype=float32, weak_type=True)
    """


class TracerBoolConversionError(ConcretizationError):
    """Python asked a traced value for its truth: ``if``, ``while``, ``and``, ``or``, ``not``, ``assert``, ``bool()``.

    >>> import xcore as xc
    >>> xc.jit(lambda x: 1 if x > 0 else 2)(1.0)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    TracerBoolConversionError: Python needs a Python bool (if, while, and, or, not, assert) here, but the  ...
    >>> xc.jit(lambda x: xc.numpy.where(x > 0, 1, 2))(1.0)
    Array(1, dtype=int32, weak_type=True)
    """


class TracerIntegerConversionError(ConcretizationError):
    """Python needed a traced value as an index: ``range(n)``, an element of a list, a shape.

    >>> import xcore as xc
    >>> xc.jit(lambda i: [10, 20, 30][i])(1)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    TracerIntegerConversionError: Python needs a Python int (range, a list index, a shape) here, but the va ...
    >>> xc.jit(lambda i: xc.numpy.asarray([10, 20, 30])[i])(1)
    Array(20, dtype=int32)
    """


class TracerArrayConversionError(ConcretizationError):
    """NumPy asked a traced value for its numbers: functions of ``np``, ``.item()``, ``.tolist()``.

    >>> import numpy as np, xcore as xc
    >>> xc.jit(lambda x: np.sin(x))(1.0)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    TracerArrayConversionError: Python needs a NumPy array (np functions, .item(), .tolist(), print formattin ...
    >>> xc.jit(lambda x: xc.numpy.sin(x))(0.0)
    Array(0., dtype=float32, weak_type=True)
    """


class NonConcreteBooleanIndexError(ConcretizationError, IndexError):
    """A traced mask is an index: how many entries it selects is not known yet.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> x = xnp.asarray([1.0, -1.0])
    >>> xc.jit(lambda x: x[x > 0].sum())(x)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    NonConcreteBooleanIndexError: x[mask] under a transformation would have a shape that depends on values ...
    >>> xc.jit(lambda x: x.sum(where=x > 0))(x)
    Array(1., dtype=float32)
    """


class NonConcreteSliceError(ConcretizationError, IndexError):
    """A bound of a slice is traced: how many entries it selects is not known yet.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.jit(lambda x, n: x[:n])(xnp.arange(5), 2)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    NonConcreteSliceError: The bounds of a slice must be Python ints under a transformation, given int32[,  ...
    >>> xc.jit(lambda x, i: xc.lax.dynamic_slice(x, (i,), (2,)))(xnp.arange(5), 1)
    Array([1, 2], dtype=int32)
    """


class MissingRuleError(XcoreError, NotImplementedError):
    """An operation has no derivative (or no batch rule) in the way that was asked for.

    >>> import xcore as xc, numpy as np
    >>> def sine(x):
    ...     return xc.pure_callback(np.sin, x, x)
    >>> xc.grad(sine)(1.0)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    OpaqueFunctionError: xcore ...
    """


class OpaqueFunctionError(MissingRuleError, ValueError):
    """The derivative of a Python function that is called from a program, which nobody has given."""


class DeletedError(XcoreError, RuntimeError):
    """The buffer of an array is gone: it was donated to a call, or deleted.

    >>> import xcore.numpy as xnp
    >>> x = xnp.ones(3)
    >>> x.delete()
    >>> x + 1  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    DeletedError: This array (float32[3]) no longer has a buffer ...
    """


class OutOfMemoryError(XcoreError, MemoryError, RuntimeFailure):
    """A device could not hold an array or a program's temporaries.

    >>> import xcore.numpy as xnp
    >>> from xcore.errors import OutOfMemoryError
    >>> def in_parts(f, x):
    ...     try:
    ...         return f(x)
    ...     except OutOfMemoryError:
    ...         return xnp.concatenate([f(part) for part in xnp.split(x, 4)])
    >>> in_parts(xnp.sqrt, xnp.ones(4))
    Array([1., 1., 1., 1.], dtype=float32)
    """


class CheckpointError(XcoreError, OSError):
    """A checkpoint is not there, is damaged, or does not fit what is to be restored.

    >>> import xcore as xc
    >>> xc.checkpoint.restore("nowhere")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    CheckpointError: xcore.checkpoint: there is no checkpoint ...
    """


class ExportError(XcoreError, ValueError, TypeError):
    """A function cannot be exported, or a file of an exported function cannot be read or called here.

    >>> import xcore as xc
    >>> xc.export.deserialize(b"not a file of ours")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ExportError: xcore.export.deserialize ...
    """


class DistributedError(XcoreError, RuntimeFailure):
    """Another process of the program is gone, so what needs all of them cannot be done.

    >>> import xcore as xc
    >>> from xcore.errors import DistributedError
    >>> def saved(path, tree):
    ...     try:
    ...         xc.multihost.sync_global_devices("step")
    ...     except DistributedError:  # another process is gone: keep what this one has
    ...         xc.checkpoint.save(path, tree)
    """


class CallbackError(XcoreError, RuntimeFailure):
    """A Python callback inside a compiled program raised, or returned something of the wrong form.

    The exception that it raised is the ``__cause__``, and ``except`` of its class catches this one too.

    >>> import xcore as xc
    >>> def fails(x):
    ...     raise LookupError("no such row")
    >>> xc.jit(lambda x: xc.debug.callback(fails, x))(1.0)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    CallbackError: The Python callback fails raised LookupError: no such row
    """

    def __str__(self) -> str:  # a KeyError has another one
        return Exception.__str__(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return CallbackError, self.args


@functools.cache
def callback_error_like(kind: type[Exception]) -> type[CallbackError]:
    """CallbackError as a subclass of another class, too, where a class can be both and takes a text alone."""
    try:
        both = type("CallbackError", (CallbackError, kind), {})
        kind("")
    except Exception:
        return CallbackError
    return both


class CheckError(XcoreError, ValueError):
    """A check of values failed at run time (``checkify``, ``check``, the setting debug_checks).

    >>> import xcore as xc
    >>> xc.checkify.check(False, "n is {}", 3)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    CheckError: n is 3 (...)
    """


class CheckIndexError(CheckError, IndexError):
    """A position known only at run time is outside of an array.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> with xc.config.override(debug_checks=True):
    ...     xc.jit(lambda x, i: x[i])(xnp.ones(3), 5)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    CheckIndexError: index 5 is out of bounds for axis 0 of an array of shape (3,) (...)
    """


class SanitizeError(XcoreError, FloatingPointError):
    """The setting ``sanitize`` found a value that cannot be meant: a NaN or an infinity was made.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> with xc.config.override(sanitize=True):
    ...     xnp.log(xnp.float32(-1))  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    SanitizeError: xcore: the operation log (float32) made a NaN of finite numbers...
    """


class SanitizeOverflowError(SanitizeError, OverflowError):
    """The setting ``sanitize`` found a number that does not fit in the dtype that it was cast to.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> with xc.config.override(sanitize=True):
    ...     xnp.asarray(300).astype("int8")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    SanitizeOverflowError: xcore: numpy.astype: the number 300 does not fit in int8
    """


class SanitizeWarning(UserWarning):
    """The setting ``sanitize`` found a line that does what it says, and hardly what is meant.

    >>> import warnings, xcore as xc, xcore.numpy as xnp
    >>> def fill(x):
    ...     x.at[0].set(1.0)
    >>> with xc.config.override(sanitize=True), warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     fill(xnp.zeros(3))
    >>> found[0].category.__name__
    'SanitizeWarning'
    """


SanitizeWarning.__module__ = "xcore.errors"


class SolverError(XcoreError, RuntimeError):
    """A solver did not reach what was asked of it.

    >>> import xcore as xc
    >>> found = xc.optimize.root(lambda x: x * x + 1, 1.0)
    >>> bool(found.ok)
    False
    >>> found.check()  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    SolverError: xcore.optimize ...
    """


class AxisError(XcoreError, np.exceptions.AxisError):
    """An axis that the array does not have: NumPy's AxisError, so a ValueError and an IndexError too."""


class ForwardModeError(MissingRuleError, TypeError):
    """Forward mode met a function that has a reverse-mode rule only."""


class NoTransposeError(MissingRuleError, TypeError):
    """A linear solve that can be differentiated in forward mode only."""


class NotLinearError(MissingRuleError, TypeError):
    """A function that is transposed is not linear."""


class SingularMatrixError(XcoreError, np.linalg.LinAlgError):
    """A matrix that must be inverted is singular, or one that must be positive definite is not.

    Attributes:
      pivot: number of the first pivot of the elimination that fails, -1 where there is no such number.
      matrix: index of the matrix in its batch, () for one matrix.
      condition: condition number in the 1-norm: inf for singular matrices, NaN where it is not known.

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.inv(xnp.ones((2, 2)))  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    SingularMatrixError: xcore.numpy.linalg.inv: a matrix is singular...
    """

    def __init__(
        self, *args: Any, pivot: int = -1, matrix: tuple[Any, ...] = (), condition: float = np.nan
    ) -> None:
        super().__init__(*args)
        self.pivot, self.matrix, self.condition = pivot, matrix, condition
