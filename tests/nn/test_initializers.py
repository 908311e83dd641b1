"""Initial values: moments, orthogonality, where the axes are, and errors."""

import numpy as np
import pytest

import xcore as xc
from xcore.nn import initializers

KEY = xc.random.key(1)
SHAPE = (5, 60, 40)  # field, inputs, outputs
FANS = {"fan_in": 300, "fan_out": 200, "fan_avg": 250, "fan_geo_avg": np.sqrt(60000)}


@pytest.mark.parametrize("distribution", ["normal", "truncated_normal", "uniform"])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_variance(distribution, dtype):
    for mode, count in FANS.items() if dtype == "float32" else [("fan_in", 300)]:
        w = np.asarray(initializers.variance_scaling(2.0, mode, distribution)(KEY, SHAPE, dtype))
        assert w.dtype == dtype
        assert np.mean(abs(w) ** 2) == pytest.approx(2 / count, rel=0.06)
        assert abs(w.mean()) < 5 * np.sqrt(2 / count / w.size)


NAMED = {
    "glorot": (1, "fan_avg"), "xavier": (1, "fan_avg"), "lecun": (1, "fan_in"),
    "he": (2, "fan_in"), "kaiming": (2, "fan_in"),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_named_ones(name):
    scale, mode = NAMED[name]
    for suffix, distribution in (("normal", "truncated_normal"), ("uniform", "uniform")):
        got = getattr(initializers, f"{name}_{suffix}")()(KEY, (30, 20))
        same = initializers.variance_scaling(scale, mode, distribution)(KEY, (30, 20))
        np.testing.assert_array_equal(got, same)


def test_axes():
    make = initializers.variance_scaling
    w = make(1.0, "fan_in", "uniform", in_axis=0, out_axis=(1, 2))(KEY, (100, 3, 4))
    assert float(abs(w).max()) == pytest.approx(np.sqrt(3 / 100), rel=0.02)
    w = make(1.0, "fan_in", "uniform", batch_axis=0)(KEY, (50, 4, 5))
    assert float(abs(w).max()) == pytest.approx(np.sqrt(3 / 4), rel=0.02)


def test_simple_ones():
    assert initializers.zeros(KEY, (2, 3)).tolist() == [[0] * 3] * 2
    assert initializers.ones(KEY, (2,), "int32").dtype == "int32"
    np.testing.assert_array_equal(initializers.constant([1, 2])(KEY, (3, 2)), [[1, 2]] * 3)
    w = np.asarray(initializers.uniform(0.5)(KEY, (1000,)))
    assert 0 <= w.min() < 0.01 and 0.49 < w.max() < 0.5
    assert np.std(initializers.normal(2.0)(KEY, (4000,))) == pytest.approx(2, rel=0.05)
    w = np.asarray(initializers.truncated_normal(3.0, lower=-1.0, upper=0.5)(KEY, (1000,)))
    assert -3 <= w.min() < -2.9 and 1.45 < w.max() <= 1.5


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (2, 3, 4), (5, 5)])
@pytest.mark.parametrize("axis", [-1, 0])
def test_orthogonal(shape, axis):
    w = np.moveaxis(np.asarray(initializers.orthogonal(2.0, axis)(KEY, shape, "float64")), axis, -1)
    m = w.reshape(-1, shape[axis]) / 2
    m = m if m.shape[0] >= m.shape[1] else m.T
    np.testing.assert_allclose(m.T @ m, np.eye(m.shape[1]), atol=1e-14)


@pytest.mark.parametrize("field", [(3,), (3, 4), (3, 4, 5)])
def test_delta_orthogonal(field):
    w = np.asarray(initializers.delta_orthogonal()(KEY, (*field, 2, 4), "float64"))
    center = w[tuple((n - 1) // 2 for n in field)]
    np.testing.assert_allclose(center @ center.T, np.eye(2), atol=1e-14)
    assert np.count_nonzero(w) == np.count_nonzero(center)


ERRORS = [
    (lambda: initializers.glorot_normal()(KEY, (3,)), "two axes or more"),
    (lambda: initializers.orthogonal()(KEY, (3,)), "two axes or more"),
    (lambda: initializers.delta_orthogonal()(KEY, (3, 4, 2)), "no smaller"),
    (lambda: initializers.variance_scaling(1.0, "fan", "normal"), "mode must be 'fan_in'"),
    (lambda: initializers.variance_scaling(1.0, "fan_in", "beta"), "distribution must be"),
    (lambda: initializers.normal()(KEY, (2,), "int32"), "only floating"),
]


@pytest.mark.parametrize(("call", "text"), ERRORS)
def test_errors(call, text):
    with pytest.raises((ValueError, TypeError), match=text):
        call()
