"""Every mode of pad, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xcore as xc
import xcore.numpy as xnp
from tests.numpy.reference import check_call, values
from xcore.testing import check_grads

X = values("float64", (3, 4))
WIDTHS = ["1", "(2, 1)", "((1, 0), (0, 2))", "((3, 5), (9, 1))"]
MODES = """constant | edge | reflect | symmetric | wrap | linear_ramp | mean | median | maximum | minimum""".split(
    " | "
)
MODES_WITH_SETTINGS = [
    "'constant', constant_values=2", "'constant', constant_values=((1, 2), (3, 4))", "'constant', constant_values=(5, 6)",
    "'linear_ramp', end_values=((1, -1), (0, 9))", "'mean', stat_length=2", "'maximum', stat_length=((1, 2), (2, 1))",
    "'minimum', stat_length=(3,)", "'median', stat_length=3", "'reflect', reflect_type='odd'", "'symmetric', reflect_type='odd'",
]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_modes(mode):
    for widths in WIDTHS:
        check_call(f"m.pad(x, {widths}, '{mode}')", X, ulps=16, traced=widths == "1")


@pytest.mark.parametrize("settings", MODES_WITH_SETTINGS)
def test_settings(settings):
    for widths in WIDTHS:
        check_call(f"m.pad(x, {widths}, {settings})", X, ulps=16, traced=widths == "1")


def test_widths_by_axis_and_none():
    check_call("m.pad(x, {0: 1, -1: (0, 2)})", X)
    check_call("m.pad(x, 0)", X)
    check_call("m.pad(x[0, 0], 3)", X)
    check_call("m.pad(x[:0], ((1, 2), (0, 0)))", X)
    check_call("m.pad(x[:1], 4, 'reflect')", X)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int32", "float16", "bfloat16", "float32", "complex64"]
)
def test_dtypes(dtype):
    x = values(dtype, (5,))
    for mode in ("constant", "edge", "reflect", "wrap"):
        got = xnp.pad(xnp.asarray(x), 2, mode)
        assert got.dtype == x.dtype and np.asarray(got).tolist() == np.pad(x, 2, mode).tolist()
    if x.dtype.kind in "iu":
        for mode in ("mean", "median", "linear_ramp"):
            assert xnp.pad(xnp.asarray(x), 2, mode).tolist() == np.pad(x, 2, mode).tolist()


def test_empty_leaves_the_values_open():
    got = xnp.pad(xnp.asarray(X), ((1, 2), (0, 3)), "empty")
    assert got.shape == (6, 7)
    np.testing.assert_array_equal(np.asarray(got)[1:4, :4], X)


def test_a_function_of_ones_own():
    def ends(vector, widths, axis, kwargs):
        low, high = widths
        if isinstance(vector, np.ndarray):
            vector[:low], vector[len(vector) - high :] = kwargs["fill"], -1
            return vector
        return vector.at[:low].set(kwargs["fill"]).at[len(vector) - high :].set(-1)

    want = np.pad(X, ((1, 2), (2, 1)), ends, fill=7)
    np.testing.assert_allclose(
        np.asarray(xnp.pad(xnp.asarray(X), ((1, 2), (2, 1)), ends, fill=7)), want
    )


@given(
    st.integers(1, 5),
    st.integers(0, 12),
    st.integers(0, 12),
    st.sampled_from(["reflect", "symmetric", "wrap", "edge"]),
)
def test_any_widths(n, low, high, mode):
    x = np.arange(n)
    assert xnp.pad(x, (low, high), mode).tolist() == np.pad(x, (low, high), mode).tolist()


def test_lanes_and_derivatives():
    x = xnp.asarray(X)
    for mode in ("constant", "reflect", "linear_ramp", "mean"):
        lanes = np.asarray(xc.vmap(lambda v, mode=mode: xnp.pad(v, 2, mode))(x))
        np.testing.assert_allclose(lanes, [np.pad(v, 2, mode) for v in X], rtol=1e-12)
        check_grads(lambda v, mode=mode: xnp.pad(v, 2, mode) ** 2, (X,), order=1)


BAD = [
    (lambda: xnp.pad(xnp.ones(3), -1), "negative|0 or more"), (lambda: xnp.pad(xnp.ones(3), 1, "mirror"), "mirror"),
    (lambda: xnp.pad(xnp.ones(3), ((1, 1), (1, 1))), "pad_width"), (lambda: xnp.pad(xnp.ones(3), 1, "edge", constant_values=1), "constant_values"),
    (lambda: xnp.pad(xnp.ones(0), 1, "edge"), "empty|element"), (lambda: xnp.pad(xnp.ones(3), 1, "mean", stat_length=0), "stat_length"),
]  # fmt: skip


@pytest.mark.parametrize("call, pattern", BAD)
def test_errors(call, pattern):
    with pytest.raises((ValueError, TypeError), match=pattern):
        call()
