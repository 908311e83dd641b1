"""Programs of users of NumPy, SciPy and JAX."""

from functools import partial
from typing import Any, NamedTuple, assert_type

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from xcore import lax, nn, random, special, stats
from xcore.typing import ArrayLike, DTypeLike


def elementwise(x: xc.Array, n: np.ndarray) -> None:
    assert_type(xnp.sin(x), xc.Array)
    assert_type(xnp.add(x, 1), xc.Array)
    assert_type(xnp.add.reduce(n, axis=None), xc.Array)
    assert_type(xnp.where(x > 0, x, 0.0), xc.Array)
    assert_type(xnp.where(x > 0), tuple[xc.Array, ...])
    assert_type(xnp.clip(x, 0, 1), xc.Array)
    assert_type(xnp.maximum(2.0, n), xc.Array)
    assert_type(xnp.float32(3) + xnp.pi, xc.Array)


def creation(dtype: DTypeLike) -> None:
    assert_type(xnp.asarray([[1.0, 2.0], [3.0, 4.0]]), xc.Array)
    assert_type(xnp.zeros((2, 3), xnp.float32), xc.Array)
    assert_type(xnp.full(3, 1.0, dtype=dtype), xc.Array)
    assert_type(xnp.arange(10), xc.Array)
    assert_type(xnp.linspace(0, 1, 11), xc.Array)
    assert_type(xnp.eye(3, dtype="bfloat16"), xc.Array)
    assert_type(xnp.meshgrid(xnp.arange(2), xnp.arange(3)), list[xc.Array])


def shapes(x: xc.Array) -> None:
    assert_type(xnp.concatenate([x, x], axis=-1), xc.Array)
    assert_type(xnp.stack([x, x]), xc.Array)
    assert_type(xnp.split(x, 3), list[xc.Array])
    assert_type(xnp.pad(x, 1), xc.Array)
    assert_type(xnp.unique(x), xc.Array)
    assert_type(xnp.shape(x), tuple[int, ...])
    assert_type(xnp.einsum("ij,jk->ik", x, x), xc.Array)
    assert_type(xnp.take(x, [0, 2], axis=0), xc.Array)
    assert_type(xnp.quantile(x, [0.1, 0.9]), xc.Array)


def algebra(a: xc.Array, b: xc.Array) -> xc.Array:
    q, r = xnp.linalg.qr(a)
    u, s, vh = xnp.linalg.svd(a, full_matrices=False)
    w, v = xnp.linalg.eigh(a)
    assert_type(xnp.linalg.slogdet(a).logabsdet, xc.Array)
    assert_type(xnp.fft.rfft(b, n=64), xc.Array)
    return xnp.linalg.solve(a, b) + q @ r + (u * s) @ vh + w * v + xnp.linalg.norm(b, axis=0)


def softmax_regression(w: xc.Array, x: xc.Array, labels: xc.Array) -> xc.Array:
    logits = nn.log_softmax(x @ w)
    return -xnp.mean(xnp.sum(nn.one_hot(labels, 10) * logits, axis=-1))


class State(NamedTuple):
    w: xc.Array
    key: xc.Array


@partial(xc.jit, static_argnames=("steps",))
def train(state: State, x: xc.Array, labels: xc.Array, steps: int = 10) -> State:
    def step(state: State, _: None) -> tuple[State, xc.Array]:
        value, g = xc.value_and_grad(softmax_regression)(state.w, x, labels)
        key, sub = random.split(state.key)
        noise = random.normal(sub, state.w.shape)
        return State(state.w - 0.1 * g + 1e-3 * noise, key), value

    state, _losses = lax.scan(step, state, None, length=steps)
    return state


def monte_carlo(n: int) -> xc.Array:
    key = random.key(0)
    points = random.uniform(key, (n, 2), minval=-1, maxval=1)
    return 4 * (xnp.sum(points**2, axis=1) < 1).mean()


def per_example(w: xc.Array, x: xc.Array) -> xc.Array:
    gradient: Any = xc.grad(lambda w, x: xnp.sum(xnp.tanh(x @ w)))  # pyright: ignore
    return xc.vmap(gradient, in_axes=(None, 0))(w, x)


def newton(f: Any, x: ArrayLike) -> Any:
    def step(_: Any, x: Any) -> Any:
        return x - f(x) / xc.grad(f)(x)

    return lax.fori_loop(0, 10, step, x)


def likelihood(x: xc.Array, loc: ArrayLike = 0.0) -> xc.Array:
    assert_type(special.gammaln(x), xc.Array)
    assert_type(stats.gamma.cdf(x, 2.0, scale=3.0), xc.Array)
    return stats.norm.logpdf(x, loc, 2.0).sum() + special.logsumexp(x)


def cumulative(x: xc.Array) -> xc.Array:
    assert_type(lax.stop_gradient(x), xc.Array)
    total = lax.associative_scan(xnp.add, x)
    return lax.cond(x.sum() > 0, lambda: total, lambda: -x)


assert_type(xc.vmap(xnp.sin)(xnp.ones(3)), xc.Array)
assert_type(xc.jit(xnp.add)(1, xnp.ones(3)), xc.Array)
