"""Types of xcore.lax. Written by tools/stubs.py."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, overload

import numpy as np

from xcore._core.array import Array
from xcore._core.typing import ArrayLike, Axis, DTypeLike, Key, Shape

from xcore.numpy._types import DType
from xcore._core.typing import PyTree, DeviceLike
from xcore._control.checkpoint import optimization_barrier as optimization_barrier
from xcore._control.closures import stop_gradient as stop_gradient
from xcore._control.implicit import custom_root as custom_root
from xcore._control.sharding import with_sharding_constraint as with_sharding_constraint
from xcore._control.while_loop import while_loop as while_loop
from xcore.lax import linalg as linalg
from xcore.numpy._lax import FftType as FftType
from xcore.numpy._lax_elementwise import AccuracyMode as AccuracyMode
from xcore.numpy._lax_elementwise import RoundingMethod as RoundingMethod
from xcore.numpy._lax_scatter import GatherDimensionNumbers as GatherDimensionNumbers
from xcore.numpy._lax_scatter import GatherScatterMode as GatherScatterMode
from xcore.numpy._lax_scatter import ScatterDimensionNumbers as ScatterDimensionNumbers
from xcore.numpy._lax_windows import ConvDimensionNumbers as ConvDimensionNumbers
from xcore.numpy._lax_windows import Precision as Precision

def abs(x: ArrayLike) -> Array:
    """|x|."""
def acos(x: ArrayLike) -> Array:
    """The angle in [0, π] whose cosine is x."""
def acosh(x: ArrayLike) -> Array:
    """Inverse of cosh, for x >= 1."""
def add(x: ArrayLike, y: ArrayLike) -> Array:
    """x + y."""
def all_gather(x: ArrayLike, axis_name: Hashable, *, axis_index_groups: Sequence[Sequence[int]] | None = None, axis: int = 0, tiled: bool = False, to: str = 'varying') -> Any:
    """The values of all members, stacked along ``axis`` (or joined there, if ``tiled``)."""
def all_to_all(x: ArrayLike, axis_name: Hashable, split_axis: int, concat_axis: int, *, axis_index_groups: Sequence[Sequence[int]] | None = None, tiled: bool = False) -> Any:
    """Split every member's value along one axis and give part j to member j, joined along another."""
def approx_max_k(operand: ArrayLike, k: int, reduction_dimension: int = -1, **_: Any) -> tuple[Array, Array]:
    """The k largest elements along an axis and their positions (exact on every platform)."""
def approx_min_k(operand: ArrayLike, k: int, reduction_dimension: int = -1, **_: Any) -> tuple[Array, Array]:
    """The k smallest elements along an axis and their positions (exact on every platform)."""
def argmax(operand: ArrayLike, axis: int, index_dtype: DTypeLike) -> Array:
    """Index of the first largest element along an axis."""
def argmin(operand: ArrayLike, axis: int, index_dtype: DTypeLike) -> Array:
    """Index of the first smallest element along an axis."""
def asin(x: ArrayLike) -> Array:
    """The angle in [-π/2, π/2] whose sine is x."""
def asinh(x: ArrayLike) -> Array:
    """Inverse of sinh."""
def associative_scan(fn: Callable[..., Any], elems: PyTree, reverse: bool = False, axis: int = 0) -> Any:
    """All partial combinations of an associative function: ``[a, a·b, a·b·c, …]``, in log₂ n steps."""
def atan(x: ArrayLike) -> Array:
    """The angle in (-π/2, π/2) whose tangent is x."""
def atan2(x: ArrayLike, y: ArrayLike) -> Array:
    """The angle of the point (x, y) of the plane, in [-π, π]; the height y comes first."""
def atanh(x: ArrayLike) -> Array:
    """Inverse of tanh, for |x| <= 1."""
def axis_index(axis_name: Hashable) -> Array:
    """The index of this member along a named axis."""
def axis_size(axis_name: Hashable) -> int:
    """The size of a named axis."""
def batch_matmul(lhs: ArrayLike, rhs: ArrayLike, precision: Any = None) -> Array:
    """Matrix products along leading axes."""
def bessel_i0e(x: ArrayLike) -> Array:
    """e^-|x| i0(x), which does not overflow."""
def bessel_i1e(x: ArrayLike) -> Array:
    """e^-|x| i1(x), which does not overflow."""
def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """The incomplete beta function ∫₀ˣ t^(a-1) (1-t)^(b-1) dt/B(a, b)."""
def bitcast_convert_type(operand: ArrayLike, new_dtype: DTypeLike) -> Array:
    """The same bits read as another dtype."""
def bitwise_and(x: ArrayLike, y: ArrayLike) -> Array:
    """Bits that are set in both."""
def bitwise_not(x: ArrayLike) -> Array:
    """Every bit inverted: -x - 1 of signed integers, `not` of booleans."""
def bitwise_or(x: ArrayLike, y: ArrayLike) -> Array:
    """Bits that are set in either."""
def bitwise_xor(x: ArrayLike, y: ArrayLike) -> Array:
    """Bits that are set in exactly one."""
def broadcast(operand: ArrayLike, sizes: Shape, *, out_sharding: DeviceLike | None = None) -> Array:
    """New leading axes of the given sizes."""
def broadcast_in_dim(operand: ArrayLike, shape: int | Shape, broadcast_dimensions: Sequence[int], *, out_sharding: DeviceLike | None = None) -> Array:
    """Axis i of the operand becomes axis ``broadcast_dimensions[i]`` of a larger shape."""
def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape that arrays of several shapes broadcast to."""
def broadcast_to_rank(x: ArrayLike, rank: int) -> Array:
    """x with axes of length 1 in front, so that it has ``rank`` axes."""
def broadcasted_iota(dtype: DTypeLike, shape: int | Shape, dimension: int, *, out_sharding: DeviceLike | None = None) -> Array:
    """The index along one axis, at every position of an array."""
def cbrt(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """Cube root, of negative numbers too."""
def ceil(x: ArrayLike) -> Array:
    """The smallest integer that is not below x."""
def clamp(min: ArrayLike, x: ArrayLike, max: ArrayLike) -> Array:
    """x limited to [min, max]."""
def clz(x: ArrayLike) -> Array:
    """How many leading bits are zero."""
def collapse(operand: ArrayLike, start_dimension: int, stop_dimension: int | None = None) -> Array:
    """Axes from ``start_dimension`` up to ``stop_dimension`` as one."""
def complex(x: ArrayLike, y: ArrayLike) -> Array:
    """x + iy from real parts."""
def concatenate(operands: Sequence[ArrayLike], dimension: int) -> Array:
    """Arrays joined along an axis."""
def cond(pred: Any, *args: Any, operand: Any = ..., linear: Any = None, true_fun: Callable[..., Any] | None = None, false_fun: Callable[..., Any] | None = None) -> Any:
    """``true_fun(*operands)`` if the predicate holds, else ``false_fun(*operands)``."""
def conj(x: ArrayLike) -> Array:
    """Complex conjugate; what is real stays as it is."""
def conv(lhs: ArrayLike, rhs: ArrayLike, window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]], precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """Convolution in the layouts NCHW and OIHW."""
def conv_dimension_numbers(lhs_shape: Shape, rhs_shape: Shape, dimension_numbers: Any) -> ConvDimensionNumbers:
    """Layouts by letters, such as ("NHWC", "HWIO", "NHWC"), as positions of axes."""
def conv_general_dilated(lhs: ArrayLike, rhs: ArrayLike, window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]], lhs_dilation: Sequence[int] | None = None, rhs_dilation: Sequence[int] | None = None, dimension_numbers: Any = None, feature_group_count: int = 1, batch_group_count: int = 1, precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """Convolution over any number of spatial axes (as in machine learning: the kernel is not flipped)."""
def conv_general_dilated_patches(lhs: ArrayLike, filter_shape: Any, window_strides: Sequence[int], padding: Any, lhs_dilation: Sequence[int] | None = None, rhs_dilation: Sequence[int] | None = None, dimension_numbers: Any = None, precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """What a convolution sees: the windows, one after the other along the feature axis."""
def conv_transpose(lhs: ArrayLike, rhs: ArrayLike, strides: Sequence[int], padding: str | Sequence[tuple[int, int]], rhs_dilation: Sequence[int] | None = None, dimension_numbers: Any = None, transpose_kernel: bool = False, precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """A convolution that spreads instead of gathers: each element of ``lhs`` adds a kernel."""
def conv_with_general_padding(lhs: ArrayLike, rhs: ArrayLike, window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]], lhs_dilation: Sequence[int] | None = None, rhs_dilation: Sequence[int] | None = None, precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """Convolution in the layouts NCHW and OIHW with dilations."""
def convert_element_type(operand: ArrayLike, new_dtype: DTypeLike) -> Array:
    """The array in another dtype."""
def cos(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """Cosine of an angle in radians."""
def cosh(x: ArrayLike) -> Array:
    """(e^x + e^-x)/2."""
def cumlogsumexp(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Running log Σ exp(x) along an axis, without overflow."""
def cummax(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Running maxima along an axis."""
def cummin(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Running minima along an axis."""
def cumprod(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Running products along an axis."""
def cumsum(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Running sums along an axis."""
def custom_linear_solve(matvec: Callable[..., Any], b: ArrayLike, solve: Callable[..., Any], transpose_solve: Callable[..., Any] | None = None, symmetric: bool = False, has_aux: bool = False) -> Any:
    """The solution x of ``matvec(x) = b``, with derivatives that need no look into the solver."""
def digamma(x: ArrayLike) -> Array:
    """The derivative of lgamma."""
def div(x: ArrayLike, y: ArrayLike) -> Array:
    """x / y; integers round toward zero."""
def dot(lhs: ArrayLike, rhs: Any, precision: Any = None, preferred_element_type: DTypeLike | None = None, *, dimension_numbers: Any = None, out_sharding: DeviceLike | None = None) -> Array:
    """The product of vectors and matrices, or with ``dimension_numbers`` that of ``dot_general``."""
def dot_general(lhs: ArrayLike, rhs: ArrayLike, dimension_numbers: Any, precision: Any = None, preferred_element_type: DTypeLike | None = None, *, out_sharding: DeviceLike | None = None) -> Array:
    """A product that sums over some pairs of axes and runs along others."""
def dtype(x: ArrayLike) -> np.dtype[Any]:
    """The dtype of an array, or the one that a Python number would get; of a dtype itself."""
def dynamic_index_in_dim(operand: ArrayLike, index: Any, axis: int = 0, keepdims: bool = True, *, allow_negative_indices: bool = True) -> Array:
    """One position of an axis, which may be computed."""
def dynamic_slice(operand: ArrayLike, start_indices: Any, slice_sizes: Shape, *, allow_negative_indices: bool = True) -> Array:
    """A window of fixed size at a place known at run time, moved inside if it does not fit."""
def dynamic_slice_in_dim(operand: ArrayLike, start_index: Any, slice_size: int, axis: int = 0, *, allow_negative_indices: bool = True) -> Array:
    """``dynamic_slice`` along one axis."""
def dynamic_update_index_in_dim(operand: ArrayLike, update: ArrayLike, index: Any, axis: int, *, allow_negative_indices: bool = True) -> Array:
    """The array with one position of an axis replaced."""
def dynamic_update_slice(operand: ArrayLike, update: ArrayLike, start_indices: Any, *, allow_negative_indices: bool = True) -> Array:
    """The array with a window replaced, at a place known at run time."""
def dynamic_update_slice_in_dim(operand: ArrayLike, update: ArrayLike, start_index: Any, axis: int, *, allow_negative_indices: bool = True) -> Array:
    """``dynamic_update_slice`` along one axis."""
def empty(shape: int | Shape, dtype: DTypeLike | None = None, *, out_sharding: DeviceLike | None = None) -> Array:
    """An array whose content does not matter (zeros, in fact)."""
def eq(x: ArrayLike, y: ArrayLike) -> Array:
    """Whether x == y."""
def erf(x: ArrayLike) -> Array:
    """Error function 2/√π ∫₀ˣ exp(-t²) dt."""
def erf_inv(x: ArrayLike) -> Array:
    """Inverse of erf on [-1, 1]."""
def erfc(x: ArrayLike) -> Array:
    """1 - erf(x), accurate where it is small."""
def exp(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """e^x."""
def exp2(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """2^x."""
def expand_dims(array: ArrayLike, dimensions: int | Sequence[int]) -> Array:
    """New axes of length 1 at positions of the result."""
def expm1(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """e^x - 1, accurate near 0."""
def fft(x: ArrayLike, fft_type: Any, fft_lengths: Sequence[int]) -> Array:
    """The discrete Fourier transform over the last axes: "FFT", "IFFT", "RFFT" or "IRFFT"."""
def floor(x: ArrayLike) -> Array:
    """The largest integer that is not above x."""
def fori_loop(lower: ArrayLike, upper: ArrayLike, body_fun: Callable[..., Any], init_val: PyTree, *, unroll: int | None = None, progress: str | bool | None = False) -> Any:
    """``for i in range(lower, upper): val = body_fun(i, val)`` as one compiled loop."""
def full(shape: int | Shape, fill_value: ArrayLike, dtype: DTypeLike | None = None, *, sharding: DeviceLike | None = None) -> Array:
    """An array of one value, on a device or laid out by a sharding if one is given."""
def full_like(x: ArrayLike, fill_value: ArrayLike, dtype: DTypeLike | None = None, shape: int | Shape | None = None, *, sharding: DeviceLike | None = None) -> Array:
    """An array of one value, in the shape and dtype of another."""
def gather(operand: ArrayLike, start_indices: Any, dimension_numbers: Any, slice_sizes: Shape, *, unique_indices: bool = False, indices_are_sorted: bool = False, mode: Any = None, fill_value: ArrayLike | None = None) -> Array:
    """A window of ``operand`` for each row of ``start_indices``."""
def ge(x: ArrayLike, y: ArrayLike) -> Array:
    """Whether x >= y."""
def gt(x: ArrayLike, y: ArrayLike) -> Array:
    """Whether x > y."""
def igamma(a: ArrayLike, x: ArrayLike) -> Array:
    """The lower incomplete gamma function P(a, x) = ∫₀ˣ t^(a-1) e^-t dt/Γ(a)."""
def igammac(a: ArrayLike, x: ArrayLike) -> Array:
    """The upper incomplete gamma function 1 - P(a, x), accurate also where it is tiny."""
def imag(x: ArrayLike) -> Array:
    """Imaginary part."""
def index_in_dim(operand: ArrayLike, index: int, axis: int = 0, keepdims: bool = True) -> Array:
    """One position of an axis."""
def index_take(src: Any, idxs: ArrayLike, axes: int | Sequence[Any]) -> Array:
    """Slices of length 1 along ``axes`` at the positions ``idxs`` (an array for each axis), as rows."""
def integer_pow(x: ArrayLike, y: int) -> Array:
    """x^y for a Python int y: products only, so that signs and zeros are exact."""
def iota(dtype: DTypeLike, size: int) -> Array:
    """0, 1, …, size - 1."""
def is_finite(x: ArrayLike) -> Array:
    """Whether x is neither infinite nor NaN."""
def le(x: ArrayLike, y: ArrayLike) -> Array:
    """Whether x <= y."""
def lgamma(x: ArrayLike) -> Array:
    """log|Γ(x)|."""
def log(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """Natural logarithm."""
def log1p(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """log(1 + x), accurate near 0."""
def logistic(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """1/(1 + e^-x)."""
def lt(x: ArrayLike, y: ArrayLike) -> Array:
    """Whether x < y."""
def map(f: Callable[..., Any], xs: PyTree, *, batch_size: int | None = None) -> Any:
    """``[f(x) for x in xs]`` along the first axis, one after the other in one compiled loop."""
def max(x: ArrayLike, y: ArrayLike) -> Array:
    """The larger one; NaN if either is."""
def min(x: ArrayLike, y: ArrayLike) -> Array:
    """The smaller one; NaN if either is."""
def mul(x: ArrayLike, y: ArrayLike) -> Array:
    """x · y."""
def mulhi(x: ArrayLike, y: ArrayLike) -> Array:
    """The upper half of the digits of a product of integers of twice the width."""
def ne(x: ArrayLike, y: ArrayLike) -> Array:
    """Whether x != y."""
def neg(x: ArrayLike) -> Array:
    """-x."""
def nextafter(x1: ArrayLike, x2: ArrayLike) -> Array:
    """The next float after x1 towards x2."""
def pad(operand: ArrayLike, padding_value: Any, padding_config: Any) -> Array:
    """Padded by (low, high, interior) for each axis; negative low and high cut."""
def padtype_to_pads(in_shape: Shape, window_shape: Shape, window_strides: Sequence[int], padding: Any) -> list[tuple[int, int]]:
    """The pairs (low, high) that "SAME", "SAME_LOWER" or "VALID" stands for, for each axis."""
def pargmax(x: ArrayLike, axis_name: Hashable) -> Any:
    """The index along a named axis at which the largest value is, the first of several."""
def pargmin(x: ArrayLike, axis_name: Hashable) -> Any:
    """The index along a named axis at which the smallest value is, the first of several."""
def pbroadcast(x: ArrayLike, axis_name: Hashable, source: int) -> Any:
    """The value of one member, for all members."""
def pcast(x: ArrayLike, axis_name: Hashable, *, to: str) -> Any:
    """The same value, as one that differs between the members of a named axis (``to="varying"``)."""
def platform_dependent(*args: Any, default: Any = None, **per_platform: Any) -> Any:
    """The function of the platform that the program is lowered for, applied to ``args``."""
def pmax(x: Any, axis_name: Any, *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Any:
    """The largest value over all members of a named axis."""
def pmean(x: Any, axis_name: Any, *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Any:
    """The mean over all members of a named axis."""
def pmin(x: Any, axis_name: Any, *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Any:
    """The smallest value over all members of a named axis."""
def polygamma(m: ArrayLike, x: ArrayLike) -> Array:
    """Derivative number m of digamma, m an integer as a float."""
def population_count(x: ArrayLike) -> Array:
    """How many bits are set."""
def pow(x: ArrayLike, y: ArrayLike) -> Array:
    """x^y."""
def ppermute(x: ArrayLike, axis_name: Hashable, perm: Any) -> Any:
    """Send values between members: ``perm`` lists (from, to); members nobody sends to get zeros."""
def pshuffle(x: ArrayLike, axis_name: Hashable, perm: Any) -> Any:
    """Member i gets the value of member perm[i]."""
def psum(x: Any, axis_name: Any, *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Any:
    """The sum over all members of a named axis; every member gets it."""
def psum_scatter(x: ArrayLike, axis_name: Hashable, *, scatter_dimension: int = 0, axis_index_groups: Sequence[Sequence[int]] | None = None, tiled: bool = False) -> Any:
    """The sum over members, of which each member keeps its part along ``scatter_dimension``."""
def pswapaxes(x: ArrayLike, axis_name: Hashable, axis: int, *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Any:
    """Exchange a named axis with an array axis of the same length: a transposition over the members."""
def pvary(x: ArrayLike, axis_name: Hashable) -> Any:
    """The same value. Values need no mark that they differ between the members of a named axis."""
def real(x: ArrayLike) -> Array:
    """Real part."""
def reciprocal(x: ArrayLike) -> Array:
    """1/x."""
def reduce(operands: Sequence[ArrayLike] | ArrayLike, init_values: Any, computation: Callable[..., Any], dimensions: Sequence[int]) -> Any:
    """Combine all elements along axes by an associative and commutative function."""
def reduce_and(operand: ArrayLike, axes: int | Sequence[Any]) -> Array:
    """Whether all are true, over axes; of integers the bits set in all."""
def reduce_max(operand: ArrayLike, axes: int | Sequence[Any]) -> Array:
    """The largest element over axes; NaN if there is one."""
def reduce_min(operand: ArrayLike, axes: int | Sequence[Any]) -> Array:
    """The smallest element over axes; NaN if there is one."""
def reduce_or(operand: ArrayLike, axes: int | Sequence[Any]) -> Array:
    """Whether any is true, over axes; of integers the bits set in any."""
def reduce_precision(operand: ArrayLike, exponent_bits: int, mantissa_bits: int) -> Array:
    """The values that a format of fewer bits can hold, in the dtype they have."""
def reduce_prod(operand: ArrayLike, axes: int | Sequence[Any]) -> Array:
    """The product over axes, in the dtype of the operand."""
def reduce_sum(operand: ArrayLike, axes: int | Sequence[Any]) -> Array:
    """The sum over axes, in the dtype of the operand."""
def reduce_window(operand: ArrayLike, init_value: Any, computation: Callable[..., Any], window_dimensions: Shape, window_strides: Sequence[int] | None = None, padding: Any = 'VALID', base_dilation: Sequence[int] | None = None, window_dilation: Sequence[int] | None = None) -> Any:
    """Combine the elements of each window that slides over an array: the heart of pooling."""
def reduce_xor(operand: ArrayLike, axes: int | Sequence[Any]) -> Array:
    """Whether an odd number is true, over axes; of integers this for each bit."""
def rem(x: ArrayLike, y: ArrayLike) -> Array:
    """Remainder of div, which has the sign of x."""
def reshape(operand: ArrayLike, new_sizes: int | Shape, dimensions: Sequence[int] | None = None, *, out_sharding: DeviceLike | None = None) -> Array:
    """The same elements in another shape, in row-major order (of ``dimensions`` if given)."""
def rev(operand: ArrayLike, dimensions: int | Sequence[int]) -> Array:
    """Reversed along axes."""
def round(x: ArrayLike, rounding_method: Any = ...) -> Array:
    """The nearest integer."""
def rsqrt(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """1/√x."""
def scan(f: Callable[..., Any], init: PyTree, xs: PyTree | None = None, length: Any = None, reverse: bool = False, unroll: int = 1, _split_transpose: bool = False, *, progress: str | bool | None = False) -> tuple[Any, Any]:
    """A loop over the slices of ``xs`` that carries a state and stacks what each step returns."""
def scatter(operand: ArrayLike, scatter_indices: ArrayLike, updates: ArrayLike, dimension_numbers: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None) -> Array:
    """The array with windows replaced."""
def scatter_add(operand: ArrayLike, scatter_indices: ArrayLike, updates: ArrayLike, dimension_numbers: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None) -> Array:
    """The array with updates added to its windows."""
def scatter_apply(operand: ArrayLike, scatter_indices: ArrayLike, func: Callable[..., Any], dimension_numbers: Any, *, update_shape: Any = ..., indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None) -> Array:
    """A function applied to the windows of an array that rows of indices name, each window once."""
def scatter_max(operand: ArrayLike, scatter_indices: ArrayLike, updates: ArrayLike, dimension_numbers: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None) -> Array:
    """The array, in its windows the larger of element and update."""
def scatter_min(operand: ArrayLike, scatter_indices: ArrayLike, updates: ArrayLike, dimension_numbers: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None) -> Array:
    """The array, in its windows the smaller of element and update."""
def scatter_mul(operand: ArrayLike, scatter_indices: ArrayLike, updates: ArrayLike, dimension_numbers: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None) -> Array:
    """The array with its windows multiplied by updates."""
def scatter_sub(operand: ArrayLike, scatter_indices: ArrayLike, updates: ArrayLike, dimension_numbers: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None) -> Array:
    """The array with updates subtracted from its windows."""
def select(pred: ArrayLike, on_true: ArrayLike, on_false: ArrayLike) -> Array:
    """``on_true`` where the predicate holds, else ``on_false``; all of one shape."""
def select_n(which: Any, *cases: ArrayLike) -> Array:
    """``cases[which]``, element by element; ``which`` is boolean or integer."""
def shift_left(x: ArrayLike, y: ArrayLike) -> Array:
    """x · 2^y: bits move up, zeros come in."""
def shift_right_arithmetic(x: ArrayLike, y: ArrayLike) -> Array:
    """x / 2^y rounded down: copies of the sign come in."""
def shift_right_logical(x: ArrayLike, y: ArrayLike) -> Array:
    """Bits move down by y, zeros come in."""
def sign(x: ArrayLike) -> Array:
    """-1, 0 or 1; of complex numbers x / |x|."""
def sin(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """Sine of an angle in radians."""
def sinh(x: ArrayLike) -> Array:
    """(e^x - e^-x)/2."""
def slice(operand: ArrayLike, start_indices: Any, limit_indices: Sequence[int], strides: Sequence[int] | None = None) -> Array:
    """Elements start, start + stride, … below limit along each axis."""
def slice_in_dim(operand: ArrayLike, start_index: Any, limit_index: Any, stride: int = 1, axis: int = 0) -> Array:
    """A slice along one axis."""
def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Sorted along an axis; several arrays are sorted together by the first ``num_keys``."""
def sort_key_val(keys: Any, values: Any, dimension: int = -1, is_stable: bool = True) -> Any:
    """Keys sorted along an axis, and values in the same order."""
def split(operand: ArrayLike, sizes: Shape, axis: int = 0) -> list[Array]:
    """Parts of the given lengths along an axis."""
def sqrt(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """Square root: NaN of negative numbers."""
def square(x: ArrayLike) -> Array:
    """x²."""
def squeeze(array: ArrayLike, dimensions: int | Sequence[int] | None) -> Array:
    """Without the given axes of length 1."""
def stack(operands: Sequence[ArrayLike] | ArrayLike, axis: int = 0) -> Array:
    """Arrays of one shape joined along a new axis."""
def sub(x: ArrayLike, y: ArrayLike) -> Array:
    """x - y."""
def switch(index: Any, branches: Any, *operands: Any, operand: ArrayLike = ...) -> Any:
    """``branches[index](*operands)``, the index limited to the branches there are."""
def tan(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """Tangent of an angle in radians."""
def tanh(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """sinh(x)/cosh(x)."""
def tile(operand: ArrayLike, reps: Any) -> Array:
    """The array several times along its axes."""
def top_k(operand: ArrayLike, k: int, *, axis: int = -1) -> tuple[Array, Array]:
    """The k largest elements along an axis, in descending order, and their positions."""
def transpose(operand: ArrayLike, permutation: Sequence[int]) -> Array:
    """Axes in another order."""
def unstack(x: ArrayLike, axis: int = 0) -> tuple[Array, ...]:
    """The arrays along an axis, as a tuple."""
def zeta(x: ArrayLike, q: ArrayLike) -> Array:
    """Hurwitz' zeta function Σ (k + q)^-x over k = 0, 1, …."""
