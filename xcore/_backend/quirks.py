"""What XLA's compiler and its runtime do wrong: a table, and how a module that is being written tells where.

A workaround names its quirk in a comment, ``# quirk: NAME``; without a quirk it would have no reason.
``tests/_backend/test_quirks.py`` shows each one to the compiler as it is, and fails where it is gone. All
are in jaxlib 0.10.2 (467), and in the later ones that were tried up to the number that stands beside them.

Each function below looks at how a value was made in the module so far. What it cannot see, as the
caller of a function, it takes for the worse.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from .client import VERSION

if TYPE_CHECKING:
    from . import mlir as ir
    from .mlir import Value
else:
    from jaxlib.mlir import ir


class Quirk(NamedTuple):
    """What happens without the workaround, and the first jaxlib (extension number) that is without it."""

    what: str
    fixed: int | None = None

    def is_here(self) -> bool:
        """Whether the jaxlib that runs has it."""
        return self.fixed is None or VERSION < self.fixed


DIVIDES_BY_RECIPROCAL = Quirk(
    "x / y with y a number or row repeated is x * (1 / y), which is rounded twice and overflows"
)
UPDATE_OVERLAPS = Quirk(
    "a slice written into an array that is another one reshaped is read while it is written"
)
EXTREMUM_LOSES_NAN = Quirk("the maximum and minimum of large arrays on a CPU are without NaN")
BOOL_PRODUCT_CHOOSES = Quirk("a product with a converted bool is a choice: false * NaN is 0")
FLOAT4_ROUNDED_TWICE = Quirk("float64 becomes a 4-bit float by way of float16")
FLOAT4_TO_INTEGER = Quirk("6 as a 4-bit float becomes the largest integer")
INT2_CONCATENATE_ABORTS = Quirk("integers of 2 bits put together end the process on a CPU")
COMPLEX_EDGES = Quirk("log of (inf, nan) has a NaN where C99 (annex G) has an infinity")
COMPLEX_SINE_CANCELS = Quirk("the imaginary part of a complex sine near 0 is 0")
LOG1P_INACCURATE = Quirk("log1p of float64 near -0.4 is 240 ulp off on a CPU", fixed=505)
REASSOCIATES = Quirk("(x + c) - c is x, and exp(a) * exp(b) is exp(a + b)", fixed=505)
SQUARE_VANISHES = Quirk("log(1 + z) of complex z = -1 + yi is -inf where y² vanishes")
CONSTANTS_ROUND_OTHERWISE = Quirk("log and exp of a constant are not what they are of an argument")
SUBNORMALS_FLUSHED = Quirk("numbers below the smallest normal one are 0 in sums and products")
INT2_SORT_WRONG = Quirk("integers of 2 bits sorted on a CPU are others than were given")
EMPTY_CONVOLUTION_REFUSED = Quirk(
    "a convolution with no taps is refused, where it is a sum of nothing"
)
BARRIERS_DROPPED = Quirk("a CPU's programs lose optimization barriers before equal work is merged")
BARRIER_IN_KERNEL_ABORTS = Quirk(
    "a barrier of two values in a small loop ends the process on a CPU"
)
HUGE_ARRAY_ABORTS = Quirk("an array of 2^63 bytes or more ends the process when it is compiled")
FFT_GATHERED = Quirk(
    "rows that are spread over devices are gathered on each of them to be transformed"
)
LAPACK_ABORTS = Quirk(
    "a routine of LAPACK called before jaxlib's pointers are set ends the process"
)
GONE_BUFFER_ABORTS = Quirk(
    "a deleted part of an array on several devices ends the process when used"
)
HOST_MEMORY_ALIASED = Quirk("a buffer is the NumPy array's own memory unless a copy is asked for")
TRANSFERS_ASK_FOR_WIDTH = Quirk(
    "transfers fail, or narrow, unless each says that 64 bits are meant"
)


class Slow(Quirk):
    """What the compiler's code for a CPU takes its time for. ``benchmarks/quirks.py`` measures each one."""


SORT_SLOW = Slow("sorting takes 20 to 80 times what NumPy takes, top_k of many what sorting takes")
ARG_EXTREMUM_SLOW = Slow("positions of extremal elements take 6 to 20 times what NumPy takes")
FFT_ROW_SLOW = Slow("a transform of one long row takes twice what SciPy's takes")
TRIG_BY_FFT_SLOW = Slow(
    "sine and cosine transforms by way of a Fourier transform take their copies' time"
)
DOT_TRANSPOSED_SLOW = Slow("a product with a transposed left side runs at half speed")
DOT_IN_REDUCTION_SLOW = Slow(
    "a large product and the sum over it become one kernel, 2 to 22 times slower than apart",
    fixed=505,
)
CONV_ONE_FEATURE_SLOW = Slow("a convolution of one feature along one axis is no vector code")
REDUCE_WINDOW_QUADRATIC = Slow("running totals by a window as long as the axis take quadratic time")
LOOPS_ON_ONE_CORE = Slow("kernels of loops run on one core, and one after the other")


def _names(text: str) -> frozenset[str]:
    return frozenset(f"stablehlo.{name}" for name in text.split())


def _is_of_main(block: ir.Block) -> bool:
    """Whether a block is the body of the public function, with values from outside as arguments."""
    attributes = block.owner.attributes
    return "sym_visibility" in attributes and attributes["sym_visibility"].value == "public"


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
