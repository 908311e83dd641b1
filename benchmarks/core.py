"""What the front end costs beside jax's: import, calls, eager operations, tracing, restarts."""

import sys
import tempfile
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np
from harness import Bench, Command, Lib, Thunk, lowering

bench = Bench("The front end beside jax's, one process, default settings of both, CPU.")
rng = np.random.default_rng(0)


# Starting


@bench.process("import the package and its numpy, process time", bar=0.45)
def start(lib: Lib):
    return Command([sys.executable, "-c", f"import {lib.name}, {lib.name}.numpy"])


TEN_FUNCTIONS = """
import numpy as np
import {name} as xc, {name}.numpy as xnp

def softmax(x):
    e = xnp.exp(x - xnp.max(x, axis=-1, keepdims=True))
    return e / xnp.sum(e, axis=-1, keepdims=True)

def logsumexp(x):
    m = xnp.max(x, axis=-1, keepdims=True)
    return m + xnp.log(xnp.sum(xnp.exp(x - m), axis=-1, keepdims=True))

def layer_norm(x):
    c = x - xnp.mean(x, axis=-1, keepdims=True)
    return c / xnp.sqrt(xnp.mean(c * c, axis=-1, keepdims=True) + 1e-5)

def mlp(x):
    for _ in range(4):
        x = xnp.tanh(xnp.matmul(x, x) + 1.0)
    return x

def attention(x):
    return xnp.matmul(softmax(xnp.matmul(x, x.T) / 8.0), x)

def gelu(x):
    return 0.5 * x * (1.0 + xnp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))

def horner(x):
    y = xnp.zeros_like(x)
    for n in range(12):
        y = y * x + 1.0 / (n + 1)
    return y

def distances(x):
    return xnp.sqrt(xnp.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=-1))

def power_iteration(x):
    v = xnp.ones(x.shape[0])
    for _ in range(8):
        v = xnp.matmul(x, v)
        v = v / xnp.sqrt(xnp.sum(v * v))
    return v

def clipped(x):
    return xnp.where(x > 0, xnp.minimum(x, 1.0), xnp.maximum(-x, -1.0)) + xnp.abs(x)

x = xnp.asarray(np.linspace(-1, 1, 64 * 64, dtype=np.float32).reshape(64, 64))
for f in (softmax, logsumexp, layer_norm, mlp, attention, gelu, horner, distances, power_iteration,
          clipped):
    xc.jit(f)(x).block_until_ready()
"""


def second_start(lib: Lib, env: dict[str, str] | None = None) -> Command:
    """The script of ten compiled functions; xcore keeps its executables in a folder of its own."""
    script = scratch() / f"ten_functions_{lib.name}.py"
    script.write_text(TEN_FUNCTIONS.format(name=lib.name))
    return Command(
        [sys.executable, str(script)], {"XCORE_CACHE_DIR": f"{scratch()}/executables"} | (env or {})
    )


def scratch() -> Path:
    """A folder that lives as long as this process."""
    return Path(_folder.name)


_folder = tempfile.TemporaryDirectory()
bench.process("second start, ten jitted functions, process time", bar=0.35)(second_start)
bench.process("second start, ten jitted functions, wall time", bar=0.35, clock="wall")(second_start)


@bench.process("the same, jax with its disk cache switched on, wall time", clock="wall")
def both_cached(lib: Lib):
    return second_start(
        lib,
        {
            "JAX_COMPILATION_CACHE_DIR": f"{scratch()}/executables-jax",
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        },
    )


# Calls


@bench.time("jit call, one small array", bar=0.9)
def small_call(lib: Lib):
    f, x = lib.core.jit(lambda x: x + 1), lib.numpy.ones(3)
    return lambda: f(x)


@bench.time("jit call, dict of 100 arrays in and out", bar=1.0)
def tree_call(lib: Lib):
    f = lib.core.jit(lambda d: {k: v + 1 for k, v in d.items()})
    d = {f"p{i}": lib.numpy.ones(3) for i in range(100)}
    return lambda: f(d)


class Affine:
    """A thing whose method and whose instances are jitted."""

    def __call__(self, x, y):
        return x + y

    def method(self, x, y):
        return x + y


def defaults(x, y, k=2):
    return x + y


def any_number(*arrays):
    return arrays[0] + arrays[1]


def by_keyword(x, *, y):
    return x + y


BOTH = lambda x: ((x, x), {})  # noqa: E731
CALLS = {
    "a method": (Affine().method, BOTH),
    "a callable object": (Affine(), BOTH),
    "a partial": (partial(lambda k, x, y: x + y, 1), BOTH),
    "a function with a default": (defaults, BOTH),
    "a function of *args": (any_number, BOTH),
    "a keyword-only argument": (by_keyword, lambda x: ((x,), {"y": x})),
    "an argument passed by its name": (lambda x, y: x + y, lambda x: ((x,), {"y": x})),
    "a Python number": (lambda x, y: x + y, lambda x: ((x, 1.5), {})),
    "a static argument": (lambda x, k: x + k, lambda x: ((x, 3), {})),
    "a NumPy array": (lambda x, y: x + y, lambda x: ((x, np.ones(3, np.float32)), {})),
    "a dict": (lambda d: d["a"] + d["b"], lambda x: (({"a": x, "b": x},), {})),
    "a list": (lambda xs: xs[0] + xs[1], lambda x: (([x, x],), {})),
}
for text, (function, arguments) in CALLS.items():

    @bench.time(f"jit call, {text}", bar=1.0)
    def form(lib: Lib, text=text, function=function, arguments=arguments):
        f = lib.core.jit(function, static_argnums=1 if text == "a static argument" else ())
        args, kwargs = arguments(lib.numpy.ones(3))
        return lambda: f(*args, **kwargs)


K = np.array([3, 1, 6])
EAGER = {
    "x + x": (0.25, lambda xnp, x: x + x),
    "x * 2 + 1": (0.25, lambda xnp, x: x * 2 + 1),
    "x > 0": (0.25, lambda xnp, x: x > 0),
    "x.sum()": (0.65, lambda xnp, x: x.sum()),
    "x.max()": (0.25, lambda xnp, x: x.max()),
    "where(x > 0, x, 0)": (0.25, lambda xnp, x: xnp.where(x > 0, x, 0)),
    "x.reshape(2, 4)": (0.25, lambda xnp, x: x.reshape(2, 4)),
    "stack([x, x])": (0.25, lambda xnp, x: xnp.stack([x, x])),
    "concatenate([x, x])": (0.25, lambda xnp, x: xnp.concatenate([x, x])),
    "x.at[2].set(1.)": (0.25, lambda xnp, x: x.at[2].set(1.0)),
    "float(x[3])": (0.25, lambda xnp, x: float(x[3])),
    "list(x)": (0.25, lambda xnp, x: list(x)),
    "x[3]": (0.25, lambda xnp, x: x[3]),
    "x[1:5]": (0.25, lambda xnp, x: x[1:5]),
    "x[k]": (0.25, lambda xnp, x: x[K]),
    "x[x > 0]": (0.25, lambda xnp, x: x[x > 0]),
    "x.astype(int32)": (0.25, lambda xnp, x: x.astype("int32")),
    "sort(x)": (0.25, lambda xnp, x: xnp.sort(x)),
    "argsort(x)": (0.25, lambda xnp, x: xnp.argsort(x)),
    "asarray([1., 2., 3.])": (0.25, lambda xnp, x: xnp.asarray([1.0, 2.0, 3.0])),
}
for text, (bar, operation) in EAGER.items():
    bench.time(f"eager {text}", bar=bar)(
        lambda lib, operation=operation: partial(operation, lib.numpy, lib.numpy.ones(8))
    )


# Tracing and lowering


@bench.time("trace and lower a chain of 500 operations", bar=0.25)
def chain(lib: Lib):
    def f(k, x):
        for _ in range(250):
            x = lib.numpy.sin(x) * k
        return x

    return lowering(lib, f, lib.numpy.ones(8))


@bench.time("trace and lower a 4-layer MLP", bar=0.25)
def mlp(lib: Lib):
    xnp = lib.numpy

    def f(k, params, x):
        for w, b in params[:-1]:
            x = xnp.tanh(x @ w + b)
        w, b = params[-1]
        return xnp.mean((x @ w + b) ** 2) * k

    return lowering(
        lib, f, [(xnp.ones((64, 64)), xnp.ones(64)) for _ in range(4)], xnp.ones((32, 64))
    )


# Steady state: the same XLA runs underneath, so these show that nothing is in its way

MILLION = rng.standard_normal(1_000_000).astype(np.float32)
SQUARE = MILLION.reshape(1000, 1000)
INDICES = rng.integers(0, MILLION.size, MILLION.size).astype(np.int32)


@bench.steady("compiled elementwise chain, 1e6", MILLION)
def elementwise(lib: Lib):
    xnp = lib.numpy
    return lambda x: xnp.exp(-x * x) * xnp.sin(x) + xnp.tanh(x) / (1 + x * x)


@bench.steady("compiled matmul, 1000 x 1000", SQUARE, SQUARE)
def matmul(lib: Lib):
    return lib.numpy.matmul


for width in (128, 1000):

    @bench.steady(
        f"compiled x.T @ y, {width} x {width}", SQUARE[:width, :width], SQUARE[:width, :width]
    )
    def transposed(lib: Lib):
        return lambda x, y: x.T @ y


def in_float64(lib: Lib, width: int) -> Thunk:
    """`x.T @ y` in double precision, which jax has only while its setting is on."""
    scope = partial(lib.core.enable_x64, True) if lib.name == "jax" else nullcontext
    with scope():
        x = lib.numpy.asarray(SQUARE[:width, :width].astype(np.float64))
    f = lib.core.jit(lambda x, y: x.T @ y)

    def product():
        with scope():
            return f(x, x)

    return product


for width in (128, 1000):
    bench.time(f"compiled x.T @ y, {width} x {width}, float64", 1.05, wait=True)(
        partial(in_float64, width=width)
    )


@bench.steady("compiled softmax, 1000 x 1000", SQUARE)
def softmax(lib: Lib):
    def f(x):
        e = lib.numpy.exp(x - lib.numpy.max(x, axis=-1, keepdims=True))
        return e / lib.numpy.sum(e, axis=-1, keepdims=True)

    return f


@bench.steady("compiled gather, 1e6 of 1e6", MILLION, INDICES)
def gather(lib: Lib):
    return lambda x, i: x[i]


@bench.steady("compiled scatter-add, 1e6 into 1e6", MILLION, INDICES)
def scatter(lib: Lib):
    return lambda x, i: lib.numpy.zeros_like(x).at[i].add(x)


if __name__ == "__main__":
    bench.main()
