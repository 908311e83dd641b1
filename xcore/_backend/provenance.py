"""How a value was made in the module so far, as far as the compiler's quirks depend on it.

What these functions cannot see, as the caller of a function, they take for the worse.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import mlir as ir
    from .mlir import Value
else:
    from jaxlib.mlir import ir


def _names(text: str) -> frozenset[str]:
    return frozenset(f"stablehlo.{name}" for name in text.split())


def _is_of_main(block: ir.Block) -> bool:
    """Whether a block is the body of the public function, with values from outside as arguments."""
    attributes = block.owner.attributes
    return "sym_visibility" in attributes and attributes["sym_visibility"].value == "public"


def in_main() -> bool:
    """Whether what is written next belongs to the body of the public function, in no loop and no branch."""
    return _is_of_main(ir.InsertionPoint.current.block)


# Divisors repeated
# XLA divides by a number or a row repeated by multiplying with its reciprocal, which is rounded
# twice and overflows. (quirk: DIVIDES_BY_RECIPROCAL; tests/numpy/test_division.py)

# Operations of numbers or rows repeated that XLA does once for each and repeats then.
_KEEP_REPEATS = _names(
    "abs add convert cosine divide exponential exponential_minus_one log log_plus_one maximum "
    "minimum multiply negate power reshape rsqrt select sine slice sqrt subtract tanh transpose"
)


def _is_power_of_two(constant: ir.OpView) -> bool:
    """Whether a constant is one real number, whose reciprocal is exact, or a table that has none."""
    element = ir.RankedTensorType(constant.results[0].type).element_type
    if isinstance(element, ir.ComplexType):  # whose attributes the bindings cannot read
        return False
    value = constant.attributes["value"]
    if not value.is_splat:
        return True
    if not isinstance(value, ir.DenseFPElementsAttr):
        return False
    number = value.get_splat_value().value
    return abs(math.frexp(number)[0]) == 0.5 and 1e-30 < abs(number) < 1e30


def may_repeat(x: Value, depth: int = 4) -> bool:
    """Whether a value may be a number or a row repeated, other than a power of two.

    What comes from outside of the module or from operations that make new elements is not.
    """
    owner = x.owner
    if isinstance(owner, ir.Block):
        return ir.RankedTensorType(x.type).rank > 0 and not _is_of_main(owner)
    if owner.name == "stablehlo.constant":
        return not _is_power_of_two(owner)
    if owner.name == "stablehlo.broadcast_in_dim":
        inner = owner.operands[0]
        made = not isinstance(inner.owner, ir.Block) and inner.owner.name == "stablehlo.constant"
        return may_repeat(inner) if made else True
    if owner.name not in _KEEP_REPEATS:
        return False
    return not depth or all([may_repeat(y, depth - 1) for y in owner.operands])


# Updates of a reshaped array
# XLA writes a slice into an array in place. Where the array is another one reshaped, it does not see
# that the slice to be written is read from the same memory, and reads what it has just written:
# x = reshape(a, 6); x.at[1:4].set(x[:3]) repeats x[0] four times.
# (quirk: UPDATE_OVERLAPS; tests/_ops/test_overlap.py)

_SAME_MEMORY = _names("reshape transpose broadcast_in_dim bitcast_convert")
# Operations that the compiler drops if they change nothing.
_MAY_DO_NOTHING = _names(
    "abs add and clamp convert divide maximum minimum multiply negate or pad real reverse select "
    "slice subtract xor"
)


def may_be_reshaped(x: Value, depth: int = 4) -> bool:
    """Whether a value may be the memory of another one, seen with another shape."""
    owner = x.owner
    if isinstance(owner, ir.Block):
        return _may_begin_reshaped(x, owner)
    if owner.name in _SAME_MEMORY:
        return _count(owner.operands[0]) == _count(x)
    if owner.name == "func.call":
        return True
    if owner.name not in _MAY_DO_NOTHING or not depth:
        return False
    return any([may_be_reshaped(y, depth - 1) for y in owner.operands])


def _may_begin_reshaped(x: Value, block: ir.Block) -> bool:
    """Of an argument of a block. A loop of one step is dissolved, so that its start is its argument."""
    around = block.owner.operation
    if around.name == "stablehlo.while":
        return may_be_reshaped(around.operands[ir.BlockArgument(x).arg_number])
    return around.name == "func.func" and not _is_of_main(block)


def _count(x: Value) -> int:
    return math.prod(ir.RankedTensorType(x.type).shape)


def may_overlap(x: Value, update: Value) -> bool:
    """Whether a slice that is written into x must be made before it is."""
    return _count(update) > 1 and not _is_made_of_numbers(update) and may_be_reshaped(x)


def _is_made_of_numbers(x: Value) -> bool:
    owner = x.owner
    if isinstance(owner, ir.Block) or owner.name == "stablehlo.constant":
        return not isinstance(owner, ir.Block)
    return owner.name == "stablehlo.broadcast_in_dim" and _is_made_of_numbers(owner.operands[0])
