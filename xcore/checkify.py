"""Checks of values at run time, and errors as values: names as in ``jax.experimental.checkify``."""

from ._control.checkify import (
    all_checks,
    automatic_checks,
    checkify,
    div_checks,
    empty_checks,
    float_checks,
    index_checks,
    nan_checks,
    user_checks,
)  # fmt: skip
from ._control.checks import Error, check, check_error, debug_check
from ._core.exceptions import CheckError as JaxRuntimeError

__all__ = [
    "all_checks", "automatic_checks", "check", "check_error", "checkify", "debug_check",
    "div_checks", "empty_checks", "Error", "float_checks", "index_checks", "JaxRuntimeError",
    "nan_checks", "user_checks",
]  # fmt: skip
