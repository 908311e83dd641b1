"""Products of numbers of few bits with scales for blocks, against NumPy with the dtypes of ml_dtypes."""

import ml_dtypes
import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp

RANDOM = np.random.default_rng(0)
A, B = (RANDOM.normal(size=(2, n, 64)).astype(np.float32) for n in (4, 3))
SA, SB = (RANDOM.uniform(0.5, 2, size=(2, n, j)).astype(np.float32) for n, j in ((4, 2), (3, 4)))
ROWS = (((2,), (2,)), ((0,), (0,)))
FORMATS = {
    "mxfp8": (32, ml_dtypes.float8_e4m3fn, 448.0),
    "nvfp4": (16, ml_dtypes.float4_e2m1fn, 6.0),
}


@pytest.mark.parametrize("dtype, scale", [("float32", "float32"), ("float8_e4m3fn", "float8_e8m0fnu"),
                                          ("float4_e2m1fn", "float8_e4m3fn"), ("int8", "float32")])  # fmt: skip
def test_scaled_matmul(dtype, scale):
    given = [x.astype(xnp.dtype(d)) for x, d in ((A, dtype), (B, dtype), (SA, scale), (SB, scale))]
    a, b, sa, sb = (x.astype(np.float64) for x in given)
    want = np.einsum("bmk,bnk->bmn", a * np.repeat(sa, 32, -1), b * np.repeat(sb, 16, -1))
    # sums of 64 terms in float32
    np.testing.assert_allclose(xc.nn.scaled_matmul(*given), want, rtol=1e-5, atol=1e-4)
    assert xc.nn.scaled_matmul(*given, preferred_element_type="bfloat16").dtype == xnp.bfloat16


def rounded(x, mode, factor):
    size, dtype, top = FORMATS[mode]
    blocks = x.reshape(-1, size)
    scale = np.abs(blocks).max(-1, keepdims=True) / top
    if mode == "mxfp8":
        scale = 2.0 ** np.ceil(np.log2(scale))
    else:
        scale = (scale / factor).astype(ml_dtypes.float8_e4m3fn).astype(np.float32) * factor
    digits = np.clip(blocks / scale, -top, top).astype(dtype)
    return (digits.astype(np.float64) * scale).reshape(x.shape)


@pytest.mark.parametrize("mode, factor", [("mxfp8", 1), ("nvfp4", 1), ("nvfp4", 0.25)])
def test_scaled_dot_general(mode, factor):
    config = xc.nn.get_scaled_dot_general_config(mode, None if factor == 1 else factor)
    f = lambda a, b: xc.nn.scaled_dot_general(a, b, ROWS, configs=[config] * 3)
    want = np.einsum("bmk,bnk->bmn", rounded(A, mode, factor), rounded(B, mode, factor))
    np.testing.assert_allclose(f(A, B), want, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(xc.jit(f)(A, B), want, rtol=1e-5, atol=1e-4)
    # derivatives are those without the rounding
    for slope, other in zip(xc.grad(lambda a, b: f(a, b).sum(), (0, 1))(A, B), (B, A), strict=True):
        wanted = np.broadcast_to(other.sum(1)[:, None], slope.shape)
        np.testing.assert_allclose(slope, wanted, rtol=1e-5, atol=1e-5)


def test_axes_that_are_summed_may_be_several():
    a, b = A.reshape(2, 4, 4, 16), B.transpose(0, 2, 1)
    config = xc.nn.get_scaled_dot_general_config("mxfp8")
    numbers = (((2, 3), (1, 2)), ((0,), (0,)))
    got = xc.nn.scaled_dot_general(a, b.transpose(0, 2, 1).reshape(2, 3, 4, 16).transpose(0, 2, 3, 1),
                                   numbers, configs=[config] * 2)  # fmt: skip
    want = xc.nn.scaled_dot_general(A, B, ROWS, configs=[config] * 2)
    np.testing.assert_array_equal(got, want)
    np.testing.assert_allclose(
        xc.nn.scaled_dot_general(A, B, ROWS), np.einsum("bmk,bnk->bmn", A, B), rtol=1e-5, atol=1e-4
    )
    zeros = np.zeros((1, 1, 32), np.float32)
    assert xc.nn.scaled_dot_general(zeros, zeros, ROWS, configs=[config] * 2).tolist() == [[[0]]]


MX = xc.nn.get_scaled_dot_general_config("mxfp8")
ERRORS = {
    "no scales": (lambda: xc.nn.scaled_matmul(A, B, SA[..., :0], SB), "lhs_scales.*divisor"),
    "other batch": (lambda: xc.nn.scaled_matmul(A[:1], B, SA[:1], SB), "equal first axes"),
    "few elements": (lambda: xc.nn.scaled_dot_general(A[..., :20], B[..., :20], ROWS, configs=[MX] * 2), "of 32"),
    "one config": (lambda: xc.nn.scaled_dot_general(A, B, ROWS, configs=[MX]), "configs.*each operand"),
    "a mode": (lambda: xc.nn.get_scaled_dot_general_config("fp8"), "mode.*mxfp8"),
    "a factor": (lambda: xc.nn.get_scaled_dot_general_config("mxfp8", 2.0), "global_scale"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "text"), ERRORS.values(), ids=ERRORS)
def test_errors(call, text):
    with pytest.raises(ValueError, match=text):
        call()
