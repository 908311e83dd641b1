"""One process of scale.py: prints the seconds of a step whose work grows with the number of devices."""

import sys
import time

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from xcore import lax
from xcore.sharding import NamedSharding, P

N = xc.device_count()
MESH = xc.make_mesh((N,), "x")
ROWS = NamedSharding(MESH, P("x"))


def mlp():
    """Data parallel: each device has 512 rows."""
    rng = np.random.default_rng(0)
    sizes = (512, 1024, 1024, 512)
    params = [
        rng.standard_normal((n, m)).astype("f") / n**0.5 for n, m in zip(sizes, sizes[1:])  # noqa: RUF007
    ]  # fmt: skip
    params = xc.device_put(params, NamedSharding(MESH, P()))
    x = xc.device_put(rng.standard_normal((512 * N, 512)).astype("f"), ROWS)

    def loss(params, x):
        y = x
        for w in params:
            y = xnp.tanh(y @ w)
        return ((y - x) ** 2).mean()

    step = xc.jit(lambda p, x: xc.tree.map(lambda a, g: a - 0.1 * g, p, xc.grad(loss)(p, x)))
    return lambda: step(params, x)


def poisson():
    """Each device has 1024 × 1024 points of a strip; twenty steps of conjugate gradients."""
    b = xc.device_put(np.ones((1024 * N, 1024), np.float32), ROWS)

    def apply(u):
        last, first = u[-1:], u[:1]
        below = lax.ppermute(last, "x", [(i, i + 1) for i in range(N - 1)])
        above = lax.ppermute(first, "x", [(i + 1, i) for i in range(N - 1)])
        v = xnp.concatenate([below, u, above])
        h = xnp.pad(u, ((0, 0), (1, 1)))
        return 4 * u - v[:-2] - v[2:] - h[:, :-2] - h[:, 2:]

    def dot(x, y):
        return lax.psum((x * y).sum(), "x")

    def solve(b):
        def step(state, _):
            x, r, p, rr = state
            q = apply(p)
            a = rr / dot(p, q)
            r = r - a * q
            new = dot(r, r)
            return (x + a * p, r, r + new / rr * p, new), None

        return lax.scan(step, (xnp.zeros_like(b), b, b, dot(b, b)), None, length=20)[0][0]

    run = xc.jit(xc.shard_map(solve, MESH, P("x"), P("x")))
    return lambda: run(b)


def seconds(step) -> float:
    xc.block_until_ready(step())
    spent = []
    for _ in range(7):
        started = time.perf_counter()
        xc.block_until_ready(step())
        spent.append(time.perf_counter() - started)
    return min(spent)


if __name__ == "__main__":
    print(seconds({"mlp": mlp, "poisson": poisson}[sys.argv[1]]()))
