"""Where xcore is meant to differ from its references, or is known to: by rule, with the reason."""

import dataclasses
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class Difference:
    applies: Callable  # (program, finding, marks of the reference) -> bool
    reason: str


DIFFERENCES: list[Difference] = []


def explains(program, finding, marks) -> bool:
    """Whether a finding is one of the documented differences."""
    return any(d.applies(program, finding, marks) for d in DIFFERENCES)


def difference(reason):
    def add(applies):
        DIFFERENCES.append(Difference(applies, reason))
        return applies

    return add


# The table


@difference(
    "Inside of jit a Python float beside 64-bit arrays is carried at 64 bits, so that it loses no digits before it "
    "meets one; where a program asks for its .dtype it says float64, outside of jit float32."
)
def _wide_numbers(program, finding, marks):
    kinds = {i.data.dtype.itemsize for i in program.inputs if i.how != "python"}
    floats = any(isinstance(i.data, float) for i in program.inputs if i.how == "python")
    return program.bits == 32 and floats and 8 in kinds and finding.between != "eager, reference"


# Functions whose results are strong here where the arguments are weak, or the other way round in jax:
# here what moves elements and what is computed for each of them keeps weakness, in jax some of each.
_WEAK_IN_ONE = """
xnp.log2 xnp.log10 xnp.deg2rad xnp.rad2deg xnp.sinc xnp.angle xnp.rint xnp.hypot xnp.logaddexp2
xnp.heaviside xnp.gcd xnp.lcm xnp.max xnp.min xnp.nanmax xnp.nanmin xnp.ptp xnp.convolve
nn.gelu nn.softmax nn.log_softmax special.log_ndtr special.ndtr special.logit special.ndtri special.expi
special.exp1 special.spence special.gamma special.rel_entr special.kl_div special.beta
lax.top_k round det cholesky eigvalsh svdvals slogdet convolve polyval diag norm
""".split()


@difference(
    "Weakness after these functions differs between xcore and jax, and with it what is promoted later."
)
def _weak_in_one(program, finding, marks):
    return finding.between == "jit, jax" and any(f"weak {name}" in marks for name in _WEAK_IN_ONE)


@difference(
    "The derivative at a kink or a jump is a convention; what a program makes of it is not compared."
)
def _kinks(program, finding, marks):
    return finding.what == "value" and "kink" in marks


@difference(
    "Squares overflow where the root of their sum need not: of such numbers norms and deviations are infinite, as "
    "NumPy's are in their dtype. The reference has float64."
)
def _squares(program, finding, marks):
    return finding.what == "value" and "squares" in marks and "(inf), wanted" in finding.message


@difference(
    "What does not depend on an argument has the derivative 0, whatever the cotangent is; the reference multiplies NaN by 0."
)
def _nothing_times_nan(program, finding, marks):
    return finding.what == "value" and "0 times NaN" in marks


@difference("The sign bit of a NaN that was computed is the processor's.")
def _sign_of_nan(program, finding, marks):
    return finding.what == "value" and "sign of NaN" in marks


@difference("Beside a coordinate or a value at infinity interp has the limit, where NumPy has NaN.")
def _interp_at_infinity(program, finding, marks):
    return finding.what == "value" and "interp at infinity" in marks


@difference(
    "A derivative of a derivative that is 0 is a small number to the reference, which counts it."
)
def _nearly_zero(program, finding, marks):
    return finding.what == "value" and "nearly 0 counted" in marks


@difference("jax keeps weak booleans; here a boolean is never weak.")
def _weak_booleans(program, finding, marks):
    return finding.between == "jit, jax" and finding.what == "weak" and "bool" in finding.message
