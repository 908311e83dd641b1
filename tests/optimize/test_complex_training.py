"""Training of complex parameters goes downhill, with every rule for updates."""

import numpy as np
import pytest

import xcore.numpy as xnp
from xcore import optimize as xo

X = xnp.linspace(-1.0, 1.0, 12)
W = {"a": 0.5 + 2.0j, "b": xnp.asarray([1.0 - 1.0j, -0.5j])}
RULES = {
    "sgd": xo.sgd(0.3), "momentum": xo.sgd(0.05, momentum=0.9), "adam": xo.adam(0.05), "adamw": xo.adamw(0.05, weight_decay=0.0),
    "rmsprop": xo.rmsprop(0.02), "adagrad": xo.adagrad(0.5),
}  # fmt: skip


def model(w, x):
    return w["a"] * x[:, None] + w["b"] * x[:, None] ** 2 + 1j


def loss(w, batch):
    return xnp.mean(xnp.abs(model(w, batch) - model(W, batch)) ** 2)


@pytest.mark.parametrize("rule", RULES)
def test_the_loss_falls(rule):
    start = {"a": 0j, "b": xnp.zeros(2, complex)}
    done = xo.fit(loss, start, X, RULES[rule], epochs=800)
    assert float(done.losses[-1, 0]) < 1e-3 * float(done.losses[0, 0])
    np.testing.assert_allclose(done.params["a"], W["a"], atol=0.1)


def test_as_with_parts_of_their_own():
    def parts(w, batch):
        return loss({"a": w["re"] + 1j * w["im"], "b": W["b"]}, batch)

    whole = xo.fit(lambda w, x: loss({"a": w, "b": W["b"]}, x), 0j, X, xo.sgd(0.3), epochs=20)
    split = xo.fit(parts, {"re": 0.0, "im": 0.0}, X, xo.sgd(0.3), epochs=20)
    np.testing.assert_allclose(whole.losses, split.losses, rtol=1e-5)
    np.testing.assert_allclose(
        whole.params, split.params["re"] + 1j * split.params["im"], rtol=1e-5
    )


@pytest.mark.parametrize("size", [0, -1, 13, 2.0, "4"])
def test_sizes_of_batches_are_whole_numbers(size):
    with pytest.raises(ValueError, match="batch_size must be a whole number between 1 and 12"):
        xo.fit(loss, {"a": 0j, "b": xnp.zeros(2, complex)}, X, xo.sgd(0.1), batch_size=size)
