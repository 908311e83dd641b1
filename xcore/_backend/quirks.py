"""What XLA's compiler and its runtime do wrong: a table.

A workaround names its quirk in a comment, ``# quirk: NAME``; without a quirk it would have no reason.
``tests/_backend/test_quirks.py`` shows each one to the compiler as it is, and fails where it is gone. All
are in jaxlib 0.10.2 (467), and in the later ones that were tried up to the number that stands beside them.
"""

from __future__ import annotations

from typing import NamedTuple

from .client import VERSION


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
DIVIDES_ONCE = Quirk("a / b / c is a / (b * c), and a / (b / c) is (a * c) / b, which overflow")
PRODUCT_OF_MULTIPLES = Quirk(
    "the product of n elements x * c is c^n times that of all x, and NaN where the one vanishes and the other overflows"
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
LOG1P_INACCURATE = Quirk("log1p of float64 near -0.4 is 240 ulp off on a CPU", fixed=480)
REASSOCIATES = Quirk(
    "(x + c) - c is x, x * c * d is x * (c * d), and exp(a) * exp(b) is exp(a + b)", fixed=505
)
SQUARE_VANISHES = Quirk("log(1 + z) of complex z = -1 + yi is -inf where y² vanishes")
CONSTANTS_ROUND_OTHERWISE = Quirk("log and exp of a constant are not what they are of an argument")
SUBNORMALS_FLUSHED = Quirk("numbers below the smallest normal one are 0 in sums and products")
INT2_SORT_WRONG = Quirk("integers of 2 bits sorted on a CPU are others than were given")
EMPTY_CONVOLUTION_REFUSED = Quirk(
    "a convolution with no taps is refused, where it is a sum of nothing"
)
BARRIERS_DROPPED = Quirk(
    "a CPU's programs lose optimization barriers before equal work is merged", fixed=480
)
BARRIER_IN_KERNEL_ABORTS = Quirk(
    "a barrier in a small loop is not compiled on a CPU, and one of two values ends the process"
)
HUGE_ARRAY_ABORTS = Quirk(
    "an array of 2^63 bytes or more ends the process when it is compiled", fixed=477
)
FFT_GATHERED = Quirk(
    "rows that are spread over devices are gathered on each of them to be transformed", fixed=505
)
LAPACK_ABORTS = Quirk(
    "a routine of LAPACK called before jaxlib's pointers are set ends the process"
)
GONE_BUFFER_ABORTS = Quirk(
    "a deleted part of an array on several devices ends the process when used", fixed=505
)
BATCHES_WAIT = Quirk(
    "several batches of matrices in one program wait for threads that wait for them, for ever",
    fixed=495,
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
SPARSE_PRODUCT_SLOW = Slow(
    "gathers and sums of a sparse product take up to 5 times what SciPy's takes, and long to compile"
)
DOT_TRANSPOSED_SLOW = Slow("a product with a transposed left side runs at half speed")
DOT_IN_REDUCTION_SLOW = Slow(
    "a large product and the sum over it become one kernel, 2 to 22 times slower than apart",
    fixed=505,
)
STENCILS_REPEATED = Slow(
    "a stencil of a stencil makes the inner one again at every point of the outer one"
)
REPEATS_STORED = Slow(
    "a sum repeated along its axis is written out in full before a division, comparison or choice",
    fixed=505,
)
CONV_ONE_FEATURE_SLOW = Slow("a convolution of one feature along one axis is no vector code")
REDUCE_WINDOW_QUADRATIC = Slow("running totals by a window as long as the axis take quadratic time")
LOOPS_ON_ONE_CORE = Slow("kernels of loops run on one core, and one after the other")
