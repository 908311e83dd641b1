"""Every exception class of xcore. What they say is worded in ``errors``."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np


class XcoreError(Exception):
    """Base of all errors that xcore raises on its own account."""

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
    """What must be a matrix, or a square one, is not; NumPy's LinAlgError too."""


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
    """What stands between the brackets cannot be an index: a float, a string, a set."""


class DTypeError(XcoreError, ValueError, TypeError):
    """A dtype is not allowed here, or dtypes do not fit together."""


class HalfFloatError(DTypeError, NotImplementedError):
    """The compiler has no code for float16 on this processor."""


class MismatchError(DTypeError, ShapeError):
    """A value differs in shape or dtype from what must come there.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.fori_loop(0, 3, lambda i, x: x / 2, xnp.arange(3))  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    MismatchError: xcore.lax.scan: the carry must keep its shapes and dtypes from one step to the next, ...
    """


class TreeError(XcoreError, ValueError, TypeError):
    """Pytrees have different structures where they must agree."""


class TracerLeakError(XcoreError, TypeError, RuntimeError):
    """A traced value was kept and used after the function that made it had returned."""


class ConcretizationError(XcoreError, TypeError):
    """Python needed a concrete value where only a traced one exists.

    ``if``, ``while``, ``int()``, ``bool()``, an index of ``range`` or a shape need a number now; under
    ``jit`` or ``vmap`` the number exists only when the compiled program runs. Repairs: select with
    ``xnp.where``, branch with ``xcore.lax.cond``, loop with ``xcore.lax.while_loop``, or mark the
    argument with ``static_argnames`` so that the function is traced once for each of its values.
    """


class NonConcreteBooleanIndexError(ConcretizationError, IndexError):
    """A traced mask is an index: how many entries it selects is not known yet."""


class NonConcreteSliceError(ConcretizationError, IndexError):
    """A bound of a slice is traced: how many entries it selects is not known yet."""


class MissingRuleError(XcoreError, NotImplementedError):
    """An operation has no derivative (or no batch rule) in the way that was asked for."""


class OpaqueFunctionError(MissingRuleError, ValueError):
    """The derivative of a Python function that is called from a program, which nobody has given."""


class DeletedError(XcoreError, RuntimeError):
    """The buffer of an array is gone: it was donated to a call, or deleted."""


class OutOfMemoryError(XcoreError, MemoryError):
    """A device could not hold an array or a program's temporaries."""


class CheckpointError(XcoreError, OSError):
    """A checkpoint is not there, is damaged, or does not fit what is to be restored."""


class ExportError(XcoreError, ValueError, TypeError):
    """A function cannot be exported, or a file of an exported function cannot be read or called here."""


class DistributedError(XcoreError, RuntimeError):
    """Another process of the program is gone, so what needs all of them cannot be done."""


class CallbackError(XcoreError, RuntimeError):
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
    """The setting ``sanitize`` found a number that does not fit in the dtype that it was cast to."""


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
    """A solver did not reach what was asked of it."""


class AxisError(XcoreError, np.exceptions.AxisError):
    """An axis that the array does not have: NumPy's AxisError, so a ValueError and an IndexError too."""


class ForwardModeError(MissingRuleError, TypeError):
    """Forward mode met a function that has a reverse-mode rule only."""


class NoTransposeError(MissingRuleError, TypeError):
    """A linear solve that can be differentiated in forward mode only."""


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
