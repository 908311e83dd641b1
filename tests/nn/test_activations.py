"""Activations against their formulas in NumPy's float64, and their derivatives at the joints."""

import mpmath as mp
import numpy as np
import pytest

import xcore as xc
import xcore.nn as nn
import xcore.numpy as xnp

X = np.array([-100.0, -6, -3, -2.5, -1, -0.25, 0, 0.25, 1, 2.5, 3, 6, 100])


def _sigmoid(x):
    return np.where(x < 0, np.exp(np.minimum(x, 0)), 1) / (1 + np.exp(-np.abs(x)))


def _softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _relu6(x):
    return np.clip(x, 0, 6)


def _gelu(x):
    return x * _sigmoid(np.sqrt(8 / np.pi) * (x + 0.044715 * x**3))


def _sparse_plus(x):
    return np.where(x <= -1, 0, np.where(x >= 1, x, (x + 1) ** 2 / 4))


FORMULAS = {
    "identity": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "relu6": _relu6,
    "leaky_relu": lambda x: np.where(x >= 0, x, 0.01 * x),
    "softplus": _softplus,
    "sparse_plus": _sparse_plus,
    "sparse_sigmoid": lambda x: np.clip((x + 1) / 2, 0, 1),
    "soft_sign": lambda x: x / (1 + np.abs(x)),
    "sigmoid": _sigmoid,
    "log_sigmoid": lambda x: -_softplus(-x),
    "silu": lambda x: x * _sigmoid(x),
    "swish": lambda x: x * _sigmoid(x),
    "mish": lambda x: x * np.tanh(_softplus(x)),
    "tanh": np.tanh,
    "hard_tanh": lambda x: np.clip(x, -1, 1),
    "hard_sigmoid": lambda x: _relu6(x + 3) / 6,
    "hard_silu": lambda x: x * _relu6(x + 3) / 6,
    "hard_swish": lambda x: x * _relu6(x + 3) / 6,
    "elu": _elu,
    "celu": _elu,
    "selu": lambda x: 1.0507009873554805 * _elu(x, 1.6732632423543772),
    "gelu": _gelu,
    "squareplus": lambda x: np.where(
        x < 0, 2 / (np.sqrt(x * x + 4) + abs(x)), (x + np.sqrt(x * x + 4)) / 2
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_values(name):
    got = getattr(nn, name)(xnp.asarray(X))
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, FORMULAS[name](X), rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize("name", FORMULAS)
def test_shapes_and_dtypes(name):
    f = getattr(nn, name)
    for dtype in ("float16", "bfloat16", "float32"):
        for shape in ((), (0,), (2, 3)):
            out = xc.eval_shape(f, xc.ShapeDtypeStruct(shape, dtype))
            assert (out.shape, out.dtype) == (shape, np.dtype(xnp.dtype(dtype)))
    out = xc.eval_shape(f, xc.ShapeDtypeStruct((3,), "int32"))
    assert out.dtype == ("int32" if name in ("identity", "relu", "hard_tanh") else "float32")


JOINTS = {
    "relu": (0, 0), "relu6": (0, 0), "leaky_relu": (0, 1), "elu": (0, 1), "celu": (0, 1),
    "sparse_plus": (0, 0.5), "hard_sigmoid": (0, 1 / 6), "softplus": (0, 0.5), "silu": (0, 0.5),
    "gelu": (0, 0.5), "mish": (0, 0.6), "squareplus": (0, 0.5), "sigmoid": (0, 0.25),
    "log_sigmoid": (-1000, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", JOINTS)
def test_slope_where_pieces_meet(name):
    x, slope = JOINTS[name]
    assert xc.grad(getattr(nn, name))(float(x)) == pytest.approx(slope, rel=1e-6)


SMOOTH = (
    "softplus",
    "silu",
    "mish",
    "gelu",
    "elu",
    "celu",
    "selu",
    "squareplus",
    "sigmoid",
    "soft_sign",
)


@pytest.mark.parametrize("name", SMOOTH)
def test_slopes(name):
    x = X[np.abs(X) < 50] + 0.1
    got = xc.vmap(xc.grad(getattr(nn, name)))(xnp.asarray(x))
    h = 1e-5
    difference = (FORMULAS[name](x + h) - FORMULAS[name](x - h)) / (2 * h)
    np.testing.assert_allclose(got, difference, rtol=1e-7, atol=1e-9)


def test_nan_stays_and_infinities_have_limits():
    x = xnp.asarray([np.nan, np.inf, -np.inf])
    for name, limits in {
        "relu": (np.inf, 0),
        "softplus": (np.inf, 0),
        "sigmoid": (1, 0),
        "hard_tanh": (1, -1),
    }.items():
        np.testing.assert_array_equal(getattr(nn, name)(x), [np.nan, *limits])


def test_parameters():
    x = xnp.asarray([-2.0, 2.0])
    np.testing.assert_allclose(nn.leaky_relu(x, 0.5), [-1, 2])
    np.testing.assert_allclose(nn.elu(x, 3.0), [3 * np.expm1(-2.0), 2], rtol=1e-6)
    np.testing.assert_allclose(nn.celu(x, alpha=4.0), [4 * np.expm1(-0.5), 2], rtol=1e-6)
    np.testing.assert_allclose(nn.squareplus(x, 0.0), [0, 2])
    far = nn.squareplus(xnp.asarray([-52.25, -1e4, -1e9]))  # digits that x + √ would cancel
    np.testing.assert_allclose(far, [1.91317e-2, 1e-4, 1e-9], rtol=1e-5)
    slope = xc.grad(lambda a: nn.leaky_relu(x, a).sum())(0.5)
    assert float(slope) == -2.0


def test_gelu_without_approximation():
    x = xnp.asarray([-10.0, -1.0, 0.0, 2.0], dtype=np.float64)
    exact = [-7.619853024160525e-23, -0.15865525393145707, 0, 1.9544997361036416]
    np.testing.assert_allclose(nn.gelu(x, approximate=False), exact, rtol=1e-14)


def test_log1mexp():
    x = np.array([1e-300, 1e-10, 0.1, 0.7, 5, 800, 0, -1])
    exact = [float(mp.log(-mp.expm1(-mp.mpf(v)))) if v > 0 else -np.inf for v in x[:-1]] + [np.nan]
    np.testing.assert_allclose(nn.log1mexp(xnp.asarray(x)), exact, rtol=1e-14)
    assert float(xc.grad(nn.log1mexp)(1e-10)) == pytest.approx(1e10, rel=1e-6)


def test_glu():
    x = np.arange(12.0).reshape(3, 4)
    np.testing.assert_allclose(nn.glu(xnp.asarray(x)), x[:, :2] * _sigmoid(x[:, 2:]), rtol=1e-6)
    with pytest.raises(ValueError, match="even size"):
        nn.glu(xnp.asarray(x), axis=0)


def test_each_is_one_program():
    for f in (nn.gelu, nn.silu, nn.mish):
        text = xc.jit(f).lower(xnp.ones(128, np.float32)).compile().as_text()
        assert text.count("fusion(") <= 1
