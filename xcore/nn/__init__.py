"""Functions that neural networks are made of: activations, softmax, attention, initial values."""

# ruff: noqa: I001 (names stand in lines, not one on each)

# fmt: off
from .._core.package import guide as _guide
from . import initializers
from ._activations import (
    celu, elu, gelu, glu, hard_sigmoid, hard_silu, hard_swish, hard_tanh, identity, leaky_relu,
    log1mexp, log_sigmoid, mish, relu, relu6, selu, sigmoid, silu, soft_sign, softplus,
    sparse_plus, sparse_sigmoid, squareplus, swish, tanh,
)
from ._attention import dot_product_attention
from ._scaled import get_scaled_dot_general_config, scaled_dot_general, scaled_matmul
from ._sums import log_softmax, logmeanexp, logsumexp, one_hot, softmax, standardize
# fmt: on

__all__ = [
    "relu", "relu6", "leaky_relu", "elu", "celu", "selu", "gelu", "silu", "swish", "mish", "softplus",
    "sparse_plus", "squareplus", "sigmoid", "log_sigmoid", "sparse_sigmoid", "soft_sign", "tanh",
    "hard_tanh", "hard_sigmoid", "hard_silu", "hard_swish", "glu", "identity", "log1mexp",
    "softmax", "log_softmax", "logsumexp", "logmeanexp", "standardize", "one_hot",
    "dot_product_attention", "scaled_matmul", "scaled_dot_general", "get_scaled_dot_general_config", "initializers",
]  # fmt: skip

__getattr__ = _guide(__name__)
