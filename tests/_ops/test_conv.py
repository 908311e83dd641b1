"""Convolutions whose groups are parts of the batch, which the table of samples does not know."""

import sys

import numpy as np
import pytest

import xcore as xc
from tests._ops import reference
from xcore import lax
from xcore._core import dtypes
from xcore.testing import check_grads

RNG = np.random.default_rng(0)
X, K = RNG.normal(size=(4, 2, 5)), RNG.normal(size=(6, 2, 2))
ONE = {"strides": (1,), "padding": ((0, 0),), "lhs_dilation": (1,), "rhs_dilation": (1,)}


def by_groups_of_the_batch(x, k):
    return lax.conv_general_dilated(x, k, (1,), "VALID", batch_group_count=2)


def test_each_part_of_the_batch_meets_its_part_of_the_kernel():
    parts = [
        reference.conv(x, k, **ONE) for x, k in zip(np.split(X, 2), np.split(K, 2), strict=True)
    ]
    np.testing.assert_allclose(by_groups_of_the_batch(X, K), np.concatenate(parts, 1), rtol=1e-12)
    check_grads(by_groups_of_the_batch, (X, K), order=2)


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0)])
def test_lanes(axes):
    xs, ks = (
        np.stack([a, 2 * a]) if axis == 0 else a for a, axis in zip((X, K), axes, strict=True)
    )
    once = np.asarray(by_groups_of_the_batch(X, K))
    scale = 2.0 ** sum(axis == 0 for axis in axes)
    np.testing.assert_allclose(
        xc.vmap(by_groups_of_the_batch, axes)(xs, ks), [once, scale * once], rtol=1e-12
    )


def test_counts_that_do_not_divide():
    with pytest.raises(ValueError, match="divisor of the batch size 4"):
        lax.conv_general_dilated(X, K, (1,), "VALID", batch_group_count=3)
    with pytest.raises(ValueError, match="feature_group_count"):
        lax.conv_general_dilated(X, K, (1,), "VALID", batch_group_count=2, feature_group_count=2)


# (length, taps, padding): around the sizes at which the form of the work changes
LONG = [
    (40, 9, (0, 0)), (40, 9, (8, 8)), (40, 40, (0, 0)), (300, 33, (3, 0)), (200, 128, (0, 127)),
    (1300, 129, (128, 128)), (300, 66, (0, 2)), (700, 65, (64, 1)), (2400, 1025, (5, 9)), (9, 12, (7, 6)), (33, 10, (-2, 3)),
]  # fmt: skip


def correlation(x, k, low, high):
    x = np.pad(x, [(0, 0), (max(low, 0), max(high, 0))])[
        :, max(-low, 0) : x.shape[1] + max(low, 0) + high
    ]
    return np.stack([np.correlate(row, k, "valid") for row in x])


@pytest.mark.parametrize(("length", "taps", "padding"), LONG)
def test_long_kernels_of_one_feature(length, taps, padding):
    """A CPU multiplies frames of the signal by a band matrix."""
    rng = np.random.default_rng([length, taps])
    x, k = (rng.standard_normal(s) for s in ((2, 1, length), (1, 1, taps)))
    pairs = [(x.astype(dtype), k.astype(dtype)) for dtype in ("float32", "float64")]
    call = lambda x, k: lax.conv_general_dilated(x, k, (1,), [padding])
    found = xc.jit(lambda pairs: [call(*p) for p in pairs])(pairs)
    for (x, k), got in zip(pairs, found, strict=True):
        wanted = correlation(x[:, 0].astype(float), k[0, 0].astype(float), *padding)
        assert got.dtype == x.dtype and got.shape == (2, 1, wanted.shape[1])
        bound = 4 * np.sqrt(taps) * np.finfo(x.dtype).eps * max(1.0, np.abs(wanted).max())
        np.testing.assert_allclose(got[:, 0], wanted, rtol=0, atol=bound)


@pytest.mark.parametrize("piece", [64, 100, 189])
def test_kernels_in_pieces(monkeypatch, piece):
    """So long a kernel that it is cut, which a smaller bound shows at less cost."""
    rng = np.random.default_rng(0)
    x, k = rng.standard_normal((1, 1, 500)), rng.standard_normal((1, 1, 190))
    monkeypatch.setattr(sys.modules["xcore._ops.conv"], "_PIECE", piece)
    f = lambda x, k: lax.conv_general_dilated(x, k * piece, (1,), [(4, 70)])
    wanted = correlation(x[:, 0], k[0, 0], 4, 70)
    np.testing.assert_allclose(xc.jit(f)(x, k)[0] / piece, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("taps", [1, 5, 6, 9, 32, 33])
def test_short_kernels_by_groups(taps):
    """A CPU adds shifted copies; narrow floats are added in float32."""
    rng = np.random.default_rng(taps)
    x, k = rng.integers(-2, 3, (2, 3, 80)), rng.integers(-2, 3, (6, 1, taps))
    params = {
        "strides": (2,),
        "padding": ((3, -1),),
        "lhs_dilation": (1,),
        "rhs_dilation": (2,),
        "groups": 3,
    }
    call = lambda x, k: lax.conv_general_dilated(
        x, k, (2,), [(3, -1)], rhs_dilation=(2,), feature_group_count=3
    )
    kinds = [dtypes.bfloat16, dtypes.float16, dtypes.int32, dtypes.complex64, dtypes.float32]
    pairs = [(x.astype(d), k.astype(d)) for d in kinds]
    wanted = reference.conv(x.astype(float), k.astype(float), **params)
    for (x, _), got in zip(pairs, xc.jit(lambda ps: [call(*p) for p in ps])(pairs), strict=True):
        got = np.asarray(got)
        assert got.dtype == x.dtype  # whole numbers: nothing is rounded
        np.testing.assert_array_equal(got.astype(complex), wanted)


@pytest.mark.parametrize("taps", [3, 9, 40])
@pytest.mark.parametrize("step", [(2, 2), (2, 1), (1, 2), (3, 3)])
def test_one_feature_by_steps(taps, step):
    """Strides and dilations of one feature, which the forms for long kernels leave to others."""
    rng = np.random.default_rng(taps)
    x, k = rng.standard_normal((2, 1, 200)), rng.standard_normal((1, 1, taps))
    params = {
        "strides": step[:1],
        "rhs_dilation": step[1:],
        "padding": ((5, 4),),
        "lhs_dilation": (1,),
    }
    got = lax.conv_general_dilated(x, k, step[:1], [(5, 4)], rhs_dilation=step[1:])
    np.testing.assert_allclose(got, reference.conv(x, k, **params), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "shapes",
    [
        ((0, 1, 9), (1, 1, 3)),
        ((2, 1, 0), (1, 1, 3)),
        ((2, 1, 2), (1, 1, 3)),
        ((2, 1, 3), (1, 1, 5)),
    ],
)
def test_nothing_comes_out(shapes):
    x, k = map(np.ones, shapes)
    got = lax.conv_general_dilated(x, k, (1,), "VALID")
    assert got.shape == (shapes[0][0], 1, max(0, shapes[0][2] - shapes[1][2] + 1))
    assert got.size == 0


# shapes of x and kernel, of a result that is made of zeros
OF_NOTHING = [
    ((2, 1, 4), (1, 1, 0), (2, 1, 5)), ((2, 3, 4), (5, 3, 0), (2, 5, 5)), ((2, 0, 4), (5, 0, 3), (2, 5, 2)),
    ((2, 3, 4), (0, 3, 2), (2, 0, 3)), ((2, 3, 4, 5), (2, 3, 0, 2), (2, 2, 5, 4)),
]  # fmt: skip


@pytest.mark.parametrize("shapes", OF_NOTHING, ids=str)
def test_sums_of_nothing(shapes):
    x, k = map(np.ones, shapes[:2])
    steps = (1,) * (x.ndim - 2)
    f = lambda x, k: lax.conv_general_dilated(x, k, steps, "VALID")
    np.testing.assert_array_equal(f(x, k), np.zeros(shapes[2]))
    np.testing.assert_array_equal(xc.vmap(f)(x[None], k[None])[0], np.zeros(shapes[2]))
    for a, g in zip((x, k), xc.grad(lambda x, k: f(x, k).sum(), (0, 1))(x, k), strict=True):
        np.testing.assert_array_equal(g, np.zeros(a.shape))


@pytest.mark.parametrize("taps", [9, 40])
@pytest.mark.parametrize(("features", "groups"), [(1, 1), (2, 2)])
def test_long_kernels_with_two_results(taps, features, groups):
    rng = np.random.default_rng(taps)
    x, k = rng.standard_normal((2, features, 100)), rng.standard_normal((2, 1, taps))
    got = lax.conv_general_dilated(x, k, (1,), "VALID", feature_group_count=groups)
    np.testing.assert_allclose(got, reference.conv(x, k, **ONE, groups=groups), rtol=0, atol=1e-12)


@pytest.mark.parametrize("length", [1, 2, 12])
def test_kernels_of_length_one_and_of_one_place(length):
    x = np.arange(2.0 * length).reshape(2, 1, length)
    np.testing.assert_array_equal(
        lax.conv_general_dilated(x, np.full((1, 1, 1), 3.0), (1,), "VALID"), 3 * x
    )
    whole = lax.conv_general_dilated(x, np.ones((1, 1, length)), (1,), "VALID")
    np.testing.assert_array_equal(whole, x.sum(2, keepdims=True))


@pytest.mark.parametrize("taps", [2, 5, 40])
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("dilation", [1, 2, 3])
def test_elements_apart_in_channels_on_their_own(taps, channels, dilation):
    """Zeros between the elements of x, written or asked for, where kernels of few channels have programs of their own."""
    x, k = RNG.standard_normal((2, channels, 50)), RNG.standard_normal((channels, 1, taps))
    wide = np.zeros((2, channels, 49 * dilation + 1))
    wide[..., ::dilation] = x
    found = lax.conv_general_dilated(
        x, k, (1,), [(2, 1)], lhs_dilation=(dilation,), feature_group_count=channels
    )
    for b in range(2):
        for c in range(channels):
            padded = np.pad(wide[b, c], (2, 1))
            assert np.allclose(found[b, c], np.correlate(padded, k[c, 0], "valid"), atol=1e-12)
