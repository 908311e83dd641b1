"""Layers against the same formulas in NumPy, shapes with an open batch, and a network that learns."""

import numpy as np
import pytest
import scipy.signal

import xcore as xc
import xcore.numpy as xnp
from xcore.example_libraries import optimizers, stax

KEY = xc.random.key(0)
rng = np.random.default_rng(0)
IMAGES = rng.standard_normal((2, 7, 6, 3)).astype(np.float32)
LAYERS = {
    "conv": (stax.Conv(4, (3, 2)), IMAGES),
    "conv same": (stax.Conv(4, (3, 2), strides=(2, 2), padding="SAME"), IMAGES),
    "conv transpose": (stax.ConvTranspose(4, (3, 3), (2, 2)), IMAGES),
    "conv 1d transpose": (stax.Conv1DTranspose(4, (3,), (2,)), IMAGES[:, 0]),
    "batch norm": (stax.BatchNorm(), IMAGES),
    "max pool": (stax.MaxPool((2, 2), strides=(2, 2)), IMAGES),
    "sum pool": (stax.SumPool((2, 3)), IMAGES),
    "avg pool": (stax.AvgPool((2, 2), padding="SAME"), IMAGES),
    "flatten": (stax.Flatten, IMAGES),
    "network": (
        stax.serial(stax.Conv(2, (3, 3)), stax.Relu, stax.Flatten, stax.FanOut(2),
                    stax.parallel(stax.Dense(3), stax.serial(stax.Dense(4), stax.Tanh)),
                    stax.FanInConcat(), stax.LogSoftmax),
        IMAGES,
    ),
    "residual": (
        stax.serial(stax.FanOut(2), stax.parallel(stax.Identity, stax.Dense(6)), stax.FanInSum),
        IMAGES[:, 0].swapaxes(1, 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_shapes_are_those_of_outputs(name):
    (init, apply), x = LAYERS[name]
    if name == "residual":
        x = x[..., :6]
    shape, params = init(KEY, x.shape)
    assert apply(params, x).shape == shape
    assert init(KEY, (-1, *x.shape[1:]))[0] == (-1, *shape[1:])


def test_convolution_is_a_correlation():
    init, apply = stax.Conv(1, (3, 2))
    _, (W, b) = init(KEY, IMAGES.shape)
    expected = sum(
        scipy.signal.correlate2d(IMAGES[0, ..., c], np.asarray(W)[..., c, 0], "valid")
        for c in range(3)
    )
    np.testing.assert_allclose(apply((W, b + 1), IMAGES)[0, ..., 0], expected + 1, atol=1e-5)


def test_pools_and_norms():
    windows = IMAGES[:, :6].reshape(2, 3, 2, 3, 2, 3)
    for layer, reduce in ((stax.MaxPool, np.max), (stax.SumPool, np.sum), (stax.AvgPool, np.mean)):
        pooled = layer((2, 2), strides=(2, 2))[1]((), IMAGES[:, :6])
        np.testing.assert_allclose(pooled, reduce(windows, axis=(2, 4)), atol=1e-6)
    edge = stax.AvgPool((2, 2), padding="SAME")[1]((), IMAGES)[:, -1, -1]
    np.testing.assert_allclose(edge, IMAGES[:, -1, -1], atol=1e-6)
    init, apply = stax.BatchNorm()
    _, (beta, gamma) = init(KEY, IMAGES.shape)
    mean, variance = IMAGES.mean((0, 1, 2)), IMAGES.var((0, 1, 2))
    expected = 2 * (IMAGES - mean) / np.sqrt(variance + 1e-5) + 1
    np.testing.assert_allclose(apply((beta + 1, gamma * 2), IMAGES), expected, atol=1e-5)
    plain = stax.BatchNorm(center=False, scale=False)
    assert plain[0](KEY, IMAGES.shape)[1] == ((), ())
    np.testing.assert_allclose(plain[1](((), ()), IMAGES), (expected - 1) / 2, atol=1e-5)


def test_dropout():
    init, apply = stax.serial(stax.Identity, stax.Dropout(0.8))
    _, params = init(KEY, (-1,))
    out = np.asarray(xc.jit(apply)(params, xnp.ones(10_000), rng=KEY))
    assert set(out.tolist()) == {0.0, 1.25}
    assert abs((out > 0).mean() - 0.8) < 5 * np.sqrt(0.8 * 0.2 / 10_000)
    for mode in ("eval", "test"):
        assert stax.Dropout(0.8, mode=mode)[1]((), 3.0) == 3.0
    with pytest.raises(ValueError, match="rng=key"):
        apply(params, xnp.ones(3))
    with pytest.raises(ValueError, match="mode"):
        stax.Dropout(0.5, mode="never")


def test_bad_filters_are_refused():
    with pytest.raises(ValueError, match="filter_shape"):
        stax.Conv(3, (3,))
    with pytest.raises(ValueError, match="spec"):
        stax.MaxPool((2, 2), spec="NHC")


def test_a_network_learns():
    x = rng.standard_normal((64, 2)).astype(np.float32)
    labels = (x[:, 0] * x[:, 1] > 0).astype(int)
    init, apply = stax.serial(stax.Dense(16), stax.Tanh, stax.Dense(2), stax.LogSoftmax)
    start, update, get_params = optimizers.adam(0.05)

    def loss(params):
        return -xnp.mean(xnp.take_along_axis(apply(params, x), labels[:, None], 1))

    @xc.jit
    def train(state):
        step = lambda i, s: update(i, xc.grad(loss)(get_params(s)), s)
        return xc.lax.fori_loop(0, 200, step, state)

    params = get_params(train(start(init(KEY, (-1, 2))[1])))
    assert np.mean(np.argmax(apply(params, x), 1) == labels) > 0.95
