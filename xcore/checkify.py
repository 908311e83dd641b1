"""Checks of values at run time, and errors as values: names as in ``jax.experimental.checkify``."""

from ._control.checkify import (  # noqa: F401
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
from ._control.checks import Error, check, check_error, debug_check  # noqa: F401
from ._core.exceptions import CheckError as JaxRuntimeError  # noqa: F401
