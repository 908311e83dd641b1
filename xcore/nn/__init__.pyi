"""Types of xcore.nn. Written by tools/stubs.py."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, overload

import numpy as np

from xcore._core.array import Array
from xcore._core.typing import ArrayLike, Axis, DTypeLike, Key, Shape

from xcore._core.surface import UnaryFunction
from xcore.numpy._types import DType
from xcore.nn import initializers as initializers

def relu(x: ArrayLike) -> Array:
    """max(x, 0); the derivative at 0 is 0."""
def relu6(x: ArrayLike) -> Array:
    """min(max(x, 0), 6); the derivative at both ends is 0."""
def leaky_relu(x: ArrayLike, negative_slope: ArrayLike = 0.01) -> Array:
    """x for x ≥ 0, else negative_slope x."""
def elu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """x for x > 0, else alpha (e^x - 1)."""
def celu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """x for x > 0, else alpha (e^(x/alpha) - 1): differentiable at 0 for every alpha."""
def selu(x: ArrayLike) -> Array:
    """The scaled elu that keeps mean 0 and variance 1: 1.0507 elu(x, 1.6733)."""
def gelu(x: ArrayLike, approximate: bool = True) -> Array:
    """x Φ(x) with the normal distribution function Φ."""
def silu(x: ArrayLike) -> Array:
    """x / (1 + e^-x), which is x sigmoid(x), also called swish."""
def swish(x: ArrayLike) -> Array:
    """x / (1 + e^-x), which is x sigmoid(x), also called swish."""
def mish(x: ArrayLike) -> Array:
    """x tanh(log(1 + e^x)), which is x tanh(softplus(x))."""
def softplus(x: ArrayLike) -> Array:
    """log(1 + e^x), a smooth relu."""
def sparse_plus(x: ArrayLike) -> Array:
    """0 up to -1, (x + 1)²/4 between -1 and 1, x from there on."""
def squareplus(x: ArrayLike, b: ArrayLike = 4) -> Array:
    """(x + √(x² + b))/2, a smooth relu without exponentials; b/2/(√(x² + b) - x) where x < 0."""
def sigmoid(x: ArrayLike) -> Array:
    """The logistic function 1/(1 + e^-x)."""
def log_sigmoid(x: ArrayLike) -> Array:
    """log(expit(x)), without underflow."""
def sparse_sigmoid(x: ArrayLike) -> Array:
    """The derivative of sparse_plus: (x + 1)/2 between -1 and 1, constant outside."""
def soft_sign(x: ArrayLike) -> Array:
    """x/(1 + |x|)."""
tanh: UnaryFunction
"""Hyperbolic tangent."""
def hard_tanh(x: ArrayLike) -> Array:
    """min(max(x, -1), 1)."""
def hard_sigmoid(x: ArrayLike) -> Array:
    """min(max(x + 3, 0), 6) / 6."""
def hard_silu(x: ArrayLike) -> Array:
    """x min(max(x + 3, 0), 6) / 6, also called hard_swish."""
def hard_swish(x: ArrayLike) -> Array:
    """x min(max(x + 3, 0), 6) / 6, also called hard_swish."""
def glu(x: ArrayLike, axis: Axis = -1) -> Array:
    """The first half of x times the sigmoid of the second half, along an axis of even size."""
def identity(x: ArrayLike) -> Array:
    """x itself, as an array."""
def log1mexp(x: ArrayLike) -> Array:
    """log(1 - e^-x), accurate for small and for large x; NaN for x < 0."""
def softmax(x: ArrayLike, axis: Axis = -1, where: ArrayLike | None = None) -> Array:
    """e^x / Σ e^x, the sum over the axis."""
def log_softmax(x: ArrayLike, axis: Axis = -1, where: ArrayLike | None = None) -> Array:
    """x - log Σ e^x, the sum over the axis."""
@overload
def logsumexp(a: ArrayLike, axis: Axis = None, b: ArrayLike | None = None, keepdims: bool = False, return_sign: Literal[False] = False, where: ArrayLike | None = None) -> Array: ...
@overload
def logsumexp(a: ArrayLike, axis: Axis = None, b: ArrayLike | None = None, keepdims: bool = False, return_sign: bool = False, where: ArrayLike | None = None) -> Any:
    """log Σ b e^a over the axis, without overflow on the way."""
def logmeanexp(x: ArrayLike, axis: Axis = None, where: ArrayLike | None = None, keepdims: bool = False) -> Array:
    """The logarithm of the mean of e^x over the axis."""
def standardize(x: ArrayLike, axis: Axis = -1, mean: ArrayLike | None = None, variance: ArrayLike | None = None, epsilon: float = 1e-05, where: ArrayLike | None = None, *, algorithm: str = 'stable') -> Array:
    """(x - mean)/√(variance + epsilon) over the axis."""
def one_hot(x: ArrayLike, num_classes: int, *, dtype: DTypeLike | None = None, axis: Axis = -1) -> Array:
    """Vectors of zeros with a one at position x, along a new axis; x outside gives zeros."""
@overload
def dot_product_attention(query: ArrayLike, key: ArrayLike, value: ArrayLike, bias: ArrayLike | None = None, mask: ArrayLike | None = None, *, scale: float | None = None, is_causal: bool = False, query_seq_lengths: ArrayLike | None = None, key_value_seq_lengths: ArrayLike | None = None, local_window_size: int | Sequence[int] | None = None, implementation: str | None = None, return_residual: Literal[False] = False) -> Array: ...
@overload
def dot_product_attention(query: ArrayLike, key: ArrayLike, value: ArrayLike, bias: ArrayLike | None = None, mask: ArrayLike | None = None, *, scale: float | None = None, is_causal: bool = False, query_seq_lengths: ArrayLike | None = None, key_value_seq_lengths: ArrayLike | None = None, local_window_size: int | Sequence[int] | None = None, implementation: str | None = None, return_residual: bool = False) -> Any:
    """softmax(scale Q Kᵀ + bias) V for each head."""
def scaled_matmul(lhs: ArrayLike, rhs: ArrayLike, lhs_scales: ArrayLike, rhs_scales: ArrayLike, preferred_element_type: DTypeLike = 'float32') -> Array:
    """Products of matrices whose rows have a scale for each block: ``(lhs ∘ S) (rhs ∘ T)ᵀ``."""
def scaled_dot_general(lhs: ArrayLike, rhs: ArrayLike, dimension_numbers: Any, preferred_element_type: DTypeLike = 'float32', configs: Any = None, implementation: str | None = None) -> Array:
    """``lax.dot_general`` of operands that are first rounded to few bits, with scales for blocks."""
def get_scaled_dot_general_config(mode: str, global_scale: Any = None) -> Any:
    """How ``scaled_dot_general`` rounds one of its operands."""
