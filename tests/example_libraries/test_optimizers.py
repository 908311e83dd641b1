"""Optimizers step by step against the formulas in NumPy; schedules, states and their packing."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.example_libraries import optimizers as opt

START = np.float64([1.0, -2.0, 0.5])
SCALES = np.float64([1.0, 3.0, 0.0])  # the last gradient is zero throughout


def momentum(size, m, nested=False):
    x, v = START.copy(), 0.0
    while True:
        g = SCALES * x
        v = m * v + g
        x = x - size * (m * v + g if nested else v)
        yield x


def divided(size, gamma, m, eps, total=False):
    """rmsprop (m = None), with momentum, or adagrad."""
    x, squares, v = START.copy(), np.zeros(3), np.zeros(3)
    for _ in iter(int, 1):
        g = SCALES * x
        squares = squares + g * g if total else gamma * squares + (1 - gamma) * g * g
        with np.errstate(divide="ignore", invalid="ignore"):
            d = np.where(squares > 0, g / np.sqrt(squares + eps), 0.0)
        if total:
            v = (1 - m) * d + m * v
            x = x - size * v
        else:
            v = size * d + (m or 0.0) * v
            x = x - v
        yield x


def adam(size, b1, b2, eps, largest=False):
    x, m, v = START.copy(), 0.0, np.zeros(3)
    for i in range(1, 100):
        g = SCALES * x
        m = b1 * m + (1 - b1) * g
        if largest:
            v = np.maximum(b2 * v, abs(g))
            x = x - size / (1 - b1**i) * m / (v + eps)
        else:
            v = b2 * v + (1 - b2) * g * g
            x = x - size * (m / (1 - b1**i)) / (np.sqrt(v / (1 - b2**i)) + eps)
        yield x


PAIRS = {
    "sgd": (opt.sgd(0.1), momentum(0.1, 0.0)),
    "momentum": (opt.momentum(0.1, 0.8), momentum(0.1, 0.8)),
    "nesterov": (opt.nesterov(0.1, 0.8), momentum(0.1, 0.8, nested=True)),
    "adagrad": (opt.adagrad(0.1), divided(0.1, None, 0.9, 0.0, total=True)),
    # one axis: the same as adagrad
    "sm3": (opt.sm3(0.1), divided(0.1, None, 0.9, 0.0, total=True)),
    "rmsprop": (opt.rmsprop(0.1), divided(0.1, 0.9, None, 1e-8)),
    "rmsprop_momentum": (opt.rmsprop_momentum(0.1), divided(0.1, 0.9, 0.9, 1e-8)),
    "adam": (opt.adam(0.1), adam(0.1, 0.9, 0.999, 1e-8)),
    "adamax": (opt.adamax(0.1), adam(0.1, 0.9, 0.999, 1e-8, largest=True)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_steps(name):
    (init, update, get_params), expected = PAIRS[name]
    step = xc.jit(lambda i, s: update(i, xnp.asarray(SCALES) * get_params(s), s))
    state = init(xnp.asarray(START))
    for i in range(6):
        state = step(i, state)
        np.testing.assert_allclose(get_params(state), next(expected), rtol=1e-12, err_msg=f"{i}")


def test_sm3_keeps_a_sum_for_each_index():
    init, update, get_params = opt.sm3(1.0, momentum=0.0)
    g = xnp.array([[1.0, 2.0], [3.0, 4.0]])
    state = update(0, g, init(xnp.zeros((2, 2))))
    np.testing.assert_array_equal(get_params(state), -np.ones((2, 2)))
    rows, columns = opt.unpack_optimizer_state(state).subtree[2]
    np.testing.assert_array_equal(rows, [4.0, 16.0])
    np.testing.assert_array_equal(columns, [9.0, 16.0])


def test_trees():
    params = {"a": xnp.ones(2), "b": (xnp.zeros((2, 2)), xnp.float32(1.0))}
    init, update, get_params = opt.momentum(opt.exponential_decay(0.5, 1, 0.5), 0.9)
    state = update(1, params, init(params))
    assert xc.tree.structure(get_params(state)) == xc.tree.structure(params)
    np.testing.assert_allclose(get_params(state)["a"], 0.75)
    again = opt.pack_optimizer_state(opt.unpack_optimizer_state(state))
    assert xc.tree.structure(again) == xc.tree.structure(state)
    assert xc.tree.all(xc.tree.map(lambda a, b: bool((a == b).all()), again, state))
    with pytest.raises(ValueError, match="grads"):
        update(0, [xnp.ones(2)], state)
    with pytest.raises(ValueError, match="JoinPoint"):
        opt.pack_optimizer_state({"a": 1.0})


SCHEDULES = {
    "constant": (opt.constant(0.3), [0.3, 0.3, 0.3]),
    "exponential": (opt.exponential_decay(0.4, 2, 0.25), [0.4, 0.2, 0.4 * 0.25**2.5]),
    "inverse": (opt.inverse_time_decay(0.6, 2, 4.0), [0.6, 0.2, 0.6 / 11]),
    "staircase": (opt.inverse_time_decay(0.6, 2, 4.0, True), [0.6, 0.6, 0.6 / 9]),
    "polynomial": (opt.polynomial_decay(1.0, 2, 0.2, 2.0), [1.0, 0.4, 0.2]),
    "piecewise": (opt.piecewise_constant([0, 1], [3.0, 2.0, 1.0]), [3.0, 2.0, 1.0]),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name):
    schedule, expected = SCHEDULES[name]
    np.testing.assert_allclose([schedule(i) for i in (0, 1, 5)], expected, rtol=1e-6)
    np.testing.assert_allclose([xc.jit(schedule)(i) for i in (0, 1, 5)], expected, rtol=1e-6)


def test_bad_schedules():
    with pytest.raises(ValueError, match="step_size"):
        opt.sgd(xnp.ones(2))
    with pytest.raises(ValueError, match="one number more"):
        opt.piecewise_constant([1, 2], [1.0, 2.0])


def test_norms():
    tree = [xnp.array([3.0, 0.0]), {"a": xnp.array(4.0)}]
    assert opt.l2_norm(tree) == 5.0
    np.testing.assert_allclose(opt.l2_norm(opt.clip_grads(tree, 2.0)), 2.0, rtol=1e-6)
    np.testing.assert_array_equal(opt.clip_grads(tree, 6.0)[0], tree[0])
