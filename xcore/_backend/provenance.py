"""How a value was made in the module so far, as far as the compiler's quirks depend on it.

What these functions cannot see, as the caller of a function, they take for the worse.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

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


def _may_begin(what: Callable[[Value], bool], x: Value, block: ir.Block) -> bool:
    """Of an argument of a block. A loop of one step is dissolved, so that its start is its argument."""
    around = block.owner.operation
    if around.name == "stablehlo.while":
        return what(around.operands[ir.BlockArgument(x).arg_number])
    return around.name == "func.func" and not _is_of_main(block)


# Divisors that are numbers, or repeated
# XLA divides by what it finds to be a constant, or a number or a row repeated, by multiplying with its reciprocal,
# which is rounded twice and overflows. (quirk: DIVIDES_BY_RECIPROCAL; tests/numpy/test_division.py)

# Operations whose results are not known to the compiler, whatever they are made of.
_FROM_ELSEWHERE = _names("custom_call rng rng_bit_generator infeed recv partition_id replica_id")
# Operations of which one operand may be all that counts.
_OF_PARTS = _names("concatenate dynamic_update_slice and or")
_BY_REGIONS = _names("while case if") | {"func.call"}


def _is_power_of_two(constant: ir.OpView) -> bool:
    """Whether a constant is one real number, whose reciprocal is exact, or a table that has none."""
    if _is_complex(constant):
        return False
    value = constant.attributes["value"]
    if not value.is_splat:
        return True
    if not isinstance(value, ir.DenseFPElementsAttr):
        return False
    number = value.get_splat_value().value
    return abs(math.frexp(number)[0]) == 0.5 and 1e-30 < abs(number) < 1e30


def may_repeat(x: Value) -> bool:
    """Whether a divisor may be made of numbers alone, or be a number or a row repeated, other than a power of two."""
    made_by = _made_by(x)
    if made_by is not None and made_by.name == "stablehlo.constant":
        return not _is_power_of_two(made_by)
    return may_be_known(x)


def may_be_known(x: Value, depth: int = 4) -> bool:
    """Whether the compiler may compute a value, or see that it is one number or row repeated, as far as one sees."""
    owner = x.owner
    if isinstance(owner, ir.Block):
        return not _is_of_main(owner)
    if owner.name in ("stablehlo.constant", "stablehlo.broadcast_in_dim"):
        return True
    if owner.name in _FROM_ELSEWHERE:
        return False
    if not depth or owner.name in _BY_REGIONS:
        return True
    known = [may_be_known(y, depth - 1) for y in owner.operands]
    if owner.name == "stablehlo.select":
        return (known[1] and known[2]) or (known[0] and (known[1] or known[2]))
    return any(known) if owner.name in _OF_PARTS else all(known)


# Numbers and quotients in what follows them
# (quirk: DIVIDES_ONCE, quirk: PRODUCT_OF_MULTIPLES, quirk: REASSOCIATES; xcore/_ops/unmerged.py)

_SAME_ELEMENTS = _names("broadcast_in_dim reshape transpose")


def _made_by(x: Value) -> ir.OpView | None:
    """The operation that makes the elements of a value; None for an argument."""
    owner = x.owner
    while not isinstance(owner, ir.Block) and owner.name in _SAME_ELEMENTS:
        x = owner.operands[0]
        owner = x.owner
    return None if isinstance(owner, ir.Block) else owner


def may_be_quotient(x: Value) -> bool:
    """Whether a value may be a quotient, or one whose elements are elsewhere."""
    if isinstance(x.owner, ir.Block):
        return _may_begin(may_be_quotient, x, x.owner)
    made_by = _made_by(x)
    return made_by is not None and made_by.name in ("stablehlo.divide", "func.call")


# A quotient by one of these is a product with another one of them.
_HAVE_RECIPROCALS = _names("sqrt rsqrt cbrt exponential power")


def has_reciprocal(x: Value) -> bool:
    """Whether a value is a root, a power or an exponential, whose reciprocal is one, too."""
    made_by = _made_by(x)
    return made_by is not None and made_by.name in _HAVE_RECIPROCALS


def may_be_multiple(x: Value) -> bool:
    """Whether a value may be another one times a number: all that is made in the module may, by what does nothing."""
    if isinstance(x.owner, ir.Block):
        return _may_begin(may_be_multiple, x, x.owner)
    return _made_by(x) is not None


def number(x: Value) -> float | None:
    """The real number that a value is, or is everywhere."""
    made_by = _made_by(x)
    if made_by is None or made_by.name != "stablehlo.constant" or _is_complex(made_by):
        return None
    value = made_by.attributes["value"]
    if not isinstance(value, ir.DenseFPElementsAttr) or not value.is_splat:
        return None
    return value.get_splat_value().value


def _is_complex(constant: ir.OpView) -> bool:
    """Whether a constant is complex: the bindings cannot read those."""
    element = ir.RankedTensorType(constant.results[0].type).element_type
    return isinstance(element, ir.ComplexType)


def has_term(x: Value) -> bool:
    """Whether a value is a sum with a number, as it was written."""
    made_by = _made_by(x)
    if made_by is None or made_by.name not in ("stablehlo.add", "stablehlo.subtract"):
        return False
    return any([number(y) is not None for y in made_by.operands])


def factors(x: Value) -> list[float]:
    """The numbers that a value is a multiple of, as it was written."""
    made_by = _made_by(x)
    if made_by is None:
        return []
    if made_by.name == "stablehlo.multiply":
        return [c for c in map(number, made_by.operands) if c is not None]
    divisor = number(made_by.operands[1]) if made_by.name == "stablehlo.divide" else None
    return [1 / divisor] if divisor else []


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
        return _may_begin(may_be_reshaped, x, owner)
    if owner.name in _SAME_MEMORY:
        return _count(owner.operands[0]) == _count(x)
    if owner.name == "func.call":
        return True
    if owner.name not in _MAY_DO_NOTHING or not depth:
        return False
    return any([may_be_reshaped(y, depth - 1) for y in owner.operands])


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
