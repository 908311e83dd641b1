"""Rules for derivatives, under the names of ``jax.custom_derivatives``."""

from ._control import linear_call
from ._control.closures import closure_convert
from ._control.custom import (
    CustomVJPPrimal,
    SymbolicZero,
    custom_jvp,
    custom_vjp,
)  # fmt: skip
from ._control.custom_gradient import custom_gradient

__all__ = [
    "closure_convert", "custom_gradient", "custom_jvp", "custom_vjp", "CustomVJPPrimal",
    "linear_call", "SymbolicZero",
]  # fmt: skip
