"""``xcore.checkify`` under the name it has in JAX."""

# ruff: noqa: I001 (names stand in lines, not one on each)

# fmt: off
from ..checkify import (
    Error, JaxRuntimeError, all_checks, automatic_checks, check, check_error, checkify,
    debug_check, div_checks, empty_checks, float_checks, index_checks, nan_checks, user_checks,
)
# fmt: on

__all__ = [
    "all_checks", "automatic_checks", "check", "check_error", "checkify", "debug_check",
    "div_checks", "empty_checks", "Error", "float_checks", "index_checks", "JaxRuntimeError",
    "nan_checks", "user_checks",
]  # fmt: skip
