"""Optimizers beside the formulas that their docstrings state."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

RATE, START = 0.1, 2.0
GRADIENTS = (0.5, -2.0, 0.3, 1.1, -0.7)
B1, B2 = 0.9, 0.999


def adam(kind="adam", eps=1e-8, decay=0.0):
    """Adam and its kin: the parameter after each step."""
    m = v = largest = 0.0
    x, path = START, []
    for t, g in enumerate(GRADIENTS, 1):
        m = B1 * m + (1 - B1) * g
        square = (g - m) ** 2 if kind == "adabelief" else g**2
        v = max(B2 * v, abs(g) + eps) if kind == "adamax" else B2 * v + (1 - B2) * square
        mean, mean_square = m / (1 - B1**t), v / (1 - B2**t)
        largest = max(largest, mean_square)
        if kind == "nadam":
            mean = B1 * m / (1 - B1 ** (t + 1)) + (1 - B1) * g / (1 - B1**t)
        root = np.sqrt(largest if kind == "amsgrad" else mean_square) + eps
        x -= RATE * (mean / (v if kind == "adamax" else root) + decay * x)
        path.append(x)
    return path


def along(step):
    x, kept, path = START, {}, []
    for g in GRADIENTS:
        x = step(x, g, kept)
        path.append(x)
    return path


def rmsprop(x, g, kept):
    kept["v"] = 0.9 * kept.get("v", 0.0) + 0.1 * g * g
    return x - RATE * g / np.sqrt(kept["v"] + 1e-8)


def adagrad(x, g, kept):
    kept["s"] = kept.get("s", 0.1) + g * g
    return x - RATE * g / np.sqrt(kept["s"] + 1e-7)


def adadelta(x, g, kept):
    kept["a"] = 0.9 * kept.get("a", 0.0) + 0.1 * g * g
    u = np.sqrt(kept.get("b", 0.0) + 1e-6) * g / np.sqrt(kept["a"] + 1e-6)
    kept["b"] = 0.9 * kept.get("b", 0.0) + 0.1 * u * u
    return x - RATE * u


def lion(x, g, kept):
    u = np.sign(0.9 * kept.get("m", 0.0) + 0.1 * g)
    kept["m"] = 0.99 * kept.get("m", 0.0) + 0.01 * g
    return x - RATE * (u + 1e-3 * x)


def lars(x, g, kept):
    kept["m"] = 0.9 * kept.get("m", 0.0) - RATE * 0.001 * abs(x) * g / abs(g)
    return x + kept["m"]


RULES = {
    "adam": (xo.adam(RATE), adam()),
    "nadam": (xo.nadam(RATE), adam("nadam")),
    "adamw": (xo.adamw(RATE, weight_decay=0.2), adam(decay=0.2)),
    "amsgrad": (xo.amsgrad(RATE), adam("amsgrad")),
    "adamax": (xo.adamax(RATE), adam("adamax")),
    "adabelief": (xo.adabelief(RATE), adam("adabelief", eps=1e-16)),
    "rmsprop": (xo.rmsprop(RATE), along(rmsprop)),
    "adagrad": (xo.adagrad(RATE), along(adagrad)),
    "adadelta": (xo.adadelta(RATE), along(adadelta)),
    "lion": (xo.lion(RATE), along(lion)),
    "lars": (xo.lars(RATE), along(lars)),
}


@pytest.mark.parametrize("name", RULES)
def test_the_formula_of_the_docstring(name):
    opt, right = RULES[name]
    path = []
    with xc.enable_x64(True):
        x = xnp.asarray(START)
        state = opt.init(x)
        for g in GRADIENTS:
            updates, state = opt.update(xnp.asarray(g), state, x)
            x = xo.apply_updates(x, updates)
            path.append(float(x))
    np.testing.assert_allclose(path, right, rtol=1e-12)
