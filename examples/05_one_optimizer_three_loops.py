"""Should an optimiser's loop be Python's, `fori_loop` or `while_loop`?

Unrolled by tracing, the program grows with the number of steps; `fori_loop` compiles one step and
can still be differentiated; `while_loop` stops when it has converged. All three print from inside
compiled code with `debug.print`.
"""

import time
from functools import partial

import numpy as np

import xcore as xc
import xcore.numpy as xnp


def objective(p):
    return (p**2).sum()


def sgd(p, g, learning_rate=0.1, l2=1e-5):
    return p - learning_rate * (g + l2 * p)


@partial(xc.jit, static_argnums=(0, 2))
def unrolled(f, p, steps):
    for _ in range(steps):
        value, g = xc.value_and_grad(f)(p)
        p = sgd(p, g)
    return value, p


@partial(xc.jit, static_argnums=(0, 2))
def counted(f, p, steps):
    def body(i, state):
        value, g = xc.value_and_grad(f)(state[1])
        return value, sgd(state[1], g)

    return xc.lax.fori_loop(0, steps, body, (0.0, p))


@partial(xc.jit, static_argnums=0)
def converged(f, p, tolerance=1e-3):
    def body(state):
        i, _, p = state
        value, g = xc.value_and_grad(f)(p)
        xc.lax.cond(
            i % 10 == 0, lambda: xc.debug.print("  step {i}: {v:.5f}", i=i, v=value), lambda: None
        )
        return i + 1, value, sgd(p, g)

    return xc.lax.while_loop(lambda s: s[1] > tolerance, body, (0, float("inf"), p))


start = xnp.ones(2)
for steps in (20, 200):
    for name, f in (("unrolled", unrolled), ("fori_loop", counted)):
        begin = time.perf_counter()
        lowered = f.lower(objective, start, steps).as_text()
        spent = 1e3 * (time.perf_counter() - begin)
        print(
            f"{name:9} {steps:3} steps: {lowered.count(chr(10)):5} lines of HLO in {spent:.0f} ms"
        )
print("while_loop:")
n, value, _ = converged(objective, start)
print(f"stopped after {n} steps at {value:.5f}")

first, second = unrolled(objective, start, 20), counted(objective, start, 20)
assert np.allclose(first[0], second[0]) and np.allclose(first[1], second[1])
assert value <= 1e-3 and 10 < n < 100
