"""``xcore.checkify`` under the name it has in JAX."""

from ..checkify import (  # noqa: F401
    Error,
    JaxRuntimeError,
    all_checks,
    automatic_checks,
    check,
    check_error,
    checkify,
    debug_check,
    div_checks,
    empty_checks,
    float_checks,
    index_checks,
    nan_checks,
    user_checks,
)  # fmt: skip
