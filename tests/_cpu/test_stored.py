"""A stencil of a stencil is made once, and nothing is stored that is read at one place."""

import re

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax
from xcore._backend import quirks
from xcore._core import compile

FIELD = np.sin(np.arange(48 * 48, dtype=np.float32)).reshape(48, 48)


def by_roll(u):
    return sum(xnp.roll(u, k, axis) for k in (1, -1) for axis in (0, 1)) - 4 * u


def by_pad(u):
    p = xnp.pad(u, 1)
    return p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u


def runge_kutta(laplacian):
    def step(u, h=0.05):
        k1 = laplacian(u)
        k2 = laplacian(u + h / 2 * k1)
        k3 = laplacian(u + h / 2 * k2)
        k4 = laplacian(u + h * k3)
        return u + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    return step


def heat(laplacian, steps):
    def run(u):
        for _ in range(steps):
            u = u + 0.1 * laplacian(u)
        return u

    return run


def slope(u):
    x, y = u[1:, :-1] - u[:-1, :-1], u[:-1, 1:] - u[:-1, :-1]
    size = xnp.sqrt(x * x + y * y + 1)
    return x / size + y / size


def chain(u):
    for k in range(12):
        u = xnp.where(u > 0.5, u * u - 0.1 * k, xnp.sqrt(xnp.abs(u) + k)) + xnp.roll(u, k)
    return u


def count(f, x=FIELD):
    """How many values are stored."""
    return len(re.findall("optimization_barrier", xc.jit(f).lower(x).as_text()))


@pytest.mark.parametrize(
    ("f", "stored"),
    [
        (runge_kutta(by_roll), 3),
        (runge_kutta(by_pad), 2),
        (heat(by_roll, 4), 3),
        (heat(by_roll, 1), 0),
        (heat(by_pad, 1), 0),
        (lambda u: by_roll(by_roll(u)), 1),
        (slope, 0),
        (lambda u: u.at[1:-1].add(u[2:] - u[:-2]), 0),
        (lambda u: xnp.roll(xnp.roll(xnp.roll(u, 1), 2), 3) * 2, 0),
        (lambda u: xnp.concatenate([u[:3], u[3:] * 2]) + xnp.flip(u, 0), 0),
    ],
)
def test_what_is_stored(f, stored):
    assert count(f) == stored
    assert count(f, FIELD[:4, :4]) == 0
    with xc.config.override(plain=True):
        assert count(f) == 0


@pytest.mark.parametrize(
    "f",
    [
        runge_kutta(by_roll),
        runge_kutta(by_pad),
        chain,
        xc.grad(lambda u: xnp.sum(heat(by_roll, 2)(u) ** 2)),
        lambda u: lax.fori_loop(0, 3, lambda i, u: runge_kutta(by_roll)(u), u),
        xc.vmap(heat(lambda u: xnp.roll(u, 1) - 2 * u + xnp.roll(u, -1), 3)),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_are_as_before(f, dtype):
    check_values(f, FIELD.astype(dtype))


def test_values_of_complex_fields_are_as_before():
    check_values(runge_kutta(by_roll), FIELD * (1 + 0.5j))


def check_values(f, x):
    got = xc.jit(f)(x)
    with xc.config.override(plain=True):
        want = xc.jit(lambda x: f(x))(x)
    eps = float(xnp.finfo(got.dtype).eps)
    np.testing.assert_allclose(got, want, rtol=100 * eps, atol=100 * eps * np.abs(want).max())


ROWS = np.linspace(0.1, 3, 256 * 32, dtype=np.float32).reshape(256, 32)
NORMALISED = {
    "by sums": (lambda x: x / x.sum(1, keepdims=True), 1),
    "by norms": (lambda x: x / xnp.linalg.norm(x, axis=0), 1),
    "softmax": (xc.nn.softmax, 1),
    "above the mean": (lambda x: x > x.mean(), 1),
    "the largest marked": (lambda x: xnp.arange(32) == xnp.argmax(x, 1)[:, None], 1),
    "in a loop": (lambda x: lax.fori_loop(0, 5, lambda i, x: x / x.sum(1, keepdims=True), x), 1),
    "beside a callback": (
        lambda x: (xc.debug.callback(lambda s: None, x.sum()), x / x.sum())[1],
        1,
    ),
    "moved by the mean": (lambda x: x - x.mean(1, keepdims=True), 0),
    "by a column": (lambda x: x / x[:, :1], 0),
    "the sums alone": (lambda x: x.sum(1) / x.max(1), 0),
}


@pytest.mark.skipif(not quirks.REPEATS_STORED.is_here(), reason="this jaxlib is without the quirk")
@pytest.mark.parametrize("name", NORMALISED)
def test_what_is_repeated_is_stored_as_it_was(name):
    f, stored = NORMALISED[name]
    assert count(f, ROWS) == stored
    assert count(f, ROWS[:4, :4]) == 0
    check_values(lambda x: 1.0 * f(x), ROWS)
    with xc.config.override(plain=True):
        assert count(f, ROWS) == 0


def test_work_does_not_grow_with_levels():
    """The compiled program of twice as many steps has at most some three times the instructions: not 5ᵏ times."""

    def instructions(steps):
        text = xc.jit(heat(by_roll, steps)).lower(FIELD).compile().as_text()
        return len(re.findall(r" (?:add|multiply|subtract)\(", text))

    few, many = instructions(3), instructions(6)
    assert many <= 3 * few


@pytest.mark.skipif(not quirks.REPEATS_STORED.is_here(), reason="this jaxlib is without the quirk")
def test_small_loops_beside_a_stored_value_become_one_kernel():
    def normalised(y):
        return y / y.sum(1, keepdims=True)

    def beside(x, y):
        return lax.fori_loop(0, 9, lambda i, x: 0.5 * x + 1, x), normalised(y)

    def inside(y):
        return lax.fori_loop(0, 3, lambda i, y: normalised(y), y)

    y = xnp.ones((200, 100))
    for f, args, kept in ((beside, (xnp.ones(8), y), False), (inside, (y,), True)):
        program = xc.jit(f).trace(*args).program
        with compile.lowering().lowered(program, "cpu") as ctx:
            assert ctx.barriers == kept
