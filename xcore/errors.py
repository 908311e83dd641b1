"""The exception classes, each with a program that raises it and its repair."""

# ruff: noqa: I001 (names stand in lines, not one on each)

# fmt: off
from ._core.exceptions import (
    ArgumentError, BadIndexError, CallbackError, CheckError, CheckIndexError, CheckpointError,
    ConcretizationError, DeletedError, DistributedError, DTypeError, ExportError,
    HalfFloatError, MatrixShapeError, MismatchError, MissingRuleError, NonConcreteBooleanIndexError,
    NonConcreteSliceError, OutOfMemoryError, SanitizeError, SanitizeOverflowError,
    SanitizeWarning, ShapeError, SingularMatrixError, SolverError, TracerArrayConversionError,
    TracerBoolConversionError, TracerIntegerConversionError, TracerLeakError, TreeError,
    UnknownModeError, XcoreError,
)
from ._backend.client import RuntimeFailure
from .random import KeyReuseError
# fmt: on

__all__ = [
    "ArgumentError", "BadIndexError", "CallbackError", "CheckError", "CheckIndexError",
    "CheckpointError", "ConcretizationError", "ConcretizationTypeError", "DeletedError",
    "DistributedError", "DTypeError", "ExportError", "HalfFloatError", "KeyReuseError",
    "MatrixShapeError", "MismatchError", "MissingRuleError", "NonConcreteBooleanIndexError",
    "NonConcreteSliceError", "OutOfMemoryError", "SanitizeError", "SanitizeOverflowError",
    "SanitizeWarning", "ShapeError", "SingularMatrixError", "SolverError",
    "TracerArrayConversionError", "TracerBoolConversionError", "TracerIntegerConversionError",
    "TracerLeakError", "TreeError", "UnexpectedTracerError", "UnknownModeError", "XcoreError",
]  # fmt: skip

# as ``jax.errors`` names them
ConcretizationTypeError = ConcretizationError
UnexpectedTracerError = TracerLeakError
JaxRuntimeError = RuntimeFailure  # the base of what a running program raises
