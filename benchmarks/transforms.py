"""What derivatives, batching and loops cost beside jax's: to trace and lower, to run, in memory."""

import contextlib
import io
from functools import partial

import numpy as np
from harness import Bench, Lib, library, lowering, on_device

bench = Bench("Transformations and loops beside jax's, one process, CPU.")
rng = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


WIDTH = 256
LAYERS = [(normal(WIDTH, WIDTH) / WIDTH**0.5, normal(WIDTH)) for _ in range(4)]
INPUTS, TARGETS = normal(128, WIDTH), normal(128, WIDTH)


def predict(lib: Lib, params, x):
    for w, b in params[:-1]:
        x = lib.numpy.tanh(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def loss(lib: Lib, params, x, y):
    return lib.numpy.mean((predict(lib, params, x) - y) ** 2)


# Tracing and lowering


@bench.time("trace and lower value_and_grad of a 4-layer MLP", bar=0.35)
def mlp_gradient(lib: Lib):
    def f(literal, params, x, y):
        return lib.core.value_and_grad(partial(loss, lib))(params, x * literal, y)

    return lowering(lib, f, *on_device(lib, (LAYERS, INPUTS, TARGETS)))


@bench.time("trace and lower the gradient of a scanned RNN", bar=0.35)
def rnn_gradient(lib: Lib):
    xnp = lib.numpy

    def rnn_loss(weights, xs, k):
        def cell(h, x):
            h = xnp.tanh(h @ weights["h"] + x @ weights["x"] + weights["b"])
            return h, h

        _, hs = lib.lax.scan(cell, xnp.zeros((16, 32)), xs)
        return xnp.sum(hs**2) * k

    weights = {"h": normal(32, 32), "x": normal(8, 32), "b": normal(32)}
    f = lambda k, weights, xs: lib.core.grad(rnn_loss)(weights, xs, k)  # noqa: E731
    return lowering(lib, f, *on_device(lib, (weights, normal(50, 16, 8))))


def rosenbrock(lib: Lib, x, k):
    return lib.numpy.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (k - x[:-1]) ** 2)


@bench.time("trace and lower hessian of 20-d Rosenbrock", bar=0.35)
def rosenbrock_hessian(lib: Lib):
    f = lambda k, x: lib.core.hessian(partial(rosenbrock, lib))(x, k)  # noqa: E731
    return lowering(lib, f, lib.numpy.asarray(normal(20)))


# Running


@bench.steady("run an MLP train step", LAYERS, INPUTS, TARGETS)
def train_step(lib: Lib):
    def step(params, x, y):
        value, slopes = lib.core.value_and_grad(partial(loss, lib))(params, x, y)
        descend = lambda p, g: p - 0.01 * g  # noqa: E731
        return value, lib.core.tree_util.tree_map(descend, params, slopes)

    return step


SMALL_LAYERS = [(w[:64, :64], b[:64]) for w, b in LAYERS]


@bench.steady(
    "run per-example gradients, vmap(grad)", SMALL_LAYERS, INPUTS[:, :64], TARGETS[:, :64]
)
def per_example(lib: Lib):
    return lib.core.vmap(lib.core.grad(partial(loss, lib)), in_axes=(None, 0, 0))


@bench.steady("run vmapped 1-d convolution, 64 x 4096 with 31", normal(64, 4096), normal(31))
def convolution(lib: Lib):
    return lib.core.vmap(partial(lib.numpy.convolve, mode="same"), in_axes=(0, None))


@bench.steady("run vmapped 1-d convolution written with dot", normal(64, 256), normal(64, 3))
def convolution_by_hand(lib: Lib):
    def convolve(x, w):
        return lib.numpy.array([lib.numpy.dot(x[i - 1 : i + 2], w) for i in range(1, 255)])

    return lib.core.vmap(convolve)


@bench.steady("run a 10,000-step scan", normal(100))
def long_scan(lib: Lib):
    def step(x, _):
        x = x + 0.01 * lib.numpy.sin(x)
        return x, x[0]

    return lambda x: lib.lax.scan(step, x, None, length=10_000)


@bench.steady("run a 10,000-step while loop", normal(100))
def long_while(lib: Lib):
    def more(state):
        return state[0] < 10_000

    def step(state):
        i, x = state
        return i + 1, x + 0.01 * lib.numpy.sin(x)

    return lambda x: lib.lax.while_loop(more, step, (0, x))


# Progress bars: the peer is the same loop without

WEIGHTS, STEPS = normal(400, 400) / 20, 100  # a step takes some milliseconds


def watched(loop: str, progress: bool):
    """A compiled loop of matrix products that shows its progress, or does not."""
    xc, xnp, lax = library("xcore")[1:]
    step = lambda x: xnp.tanh(w @ x)  # noqa: E731
    loops = {
        "fori_loop": lambda x: lax.fori_loop(0, STEPS, lambda i, x: step(x), x, progress=progress),
        "scan": lambda x: lax.scan(
            lambda x, _: (step(x), None), x, length=STEPS, progress=progress
        )[0],
        "while_loop": lambda x: lax.while_loop(
            lambda s: s[0] < STEPS, lambda s: (s[0] + 1, step(s[1])), (0, x), progress=progress
        )[1],
    }
    w = xnp.asarray(WEIGHTS)
    run = xc.jit(loops[loop])

    def call():
        with contextlib.redirect_stderr(io.StringIO()):
            return run(w).block_until_ready()

    return call


for loop in ("fori_loop", "scan", "while_loop"):
    bench.versus(
        f"{loop} with a progress bar beside without, 100 steps of a 400 x 400 product",
        partial(watched, loop, True),
        partial(watched, loop, False),
        1.03,
        rounds=21,
    )


# Memory


@bench.value("peak memory of the gradient of a 4-layer MLP", bar=1.05)
def mlp_memory(lib: Lib):
    gradient = lib.core.jit(lib.core.grad(partial(loss, lib)))
    compiled = gradient.trace(*on_device(lib, (LAYERS, INPUTS, TARGETS))).lower().compile()
    return compiled.memory_analysis().peak_memory_in_bytes


if __name__ == "__main__":
    bench.main()
