"""Gradient descent with an l2 penalty, three times by hand and once from parts: the same numbers?

The update is p - rate (g + l2 p). The loop may be Python's, unrolled by tracing, a `fori_loop`, or a
`while_loop` that stops by itself. In the library the update is a chain of two transformations, which
any other optimizer could replace.
"""

import numpy as np

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

RATE, L2, STEPS = 0.1, 0.5, 30


def loss(p):
    return xnp.sum((p - xnp.asarray([1.0, -2.0])) ** 2)


def step(p):
    return p - RATE * (xc.grad(loss)(p) + L2 * p)


@xc.jit
def unrolled(p):
    for _ in range(STEPS):
        p = step(p)
    return p


counted = xc.jit(lambda p: xc.lax.fori_loop(0, STEPS, lambda i, p: step(p), p))


@xc.jit
def converged(p):
    def going(state):
        old, new = state
        return xnp.max(xnp.abs(new - old)) > 1e-6

    return xc.lax.while_loop(going, lambda state: (state[1], step(state[1])), (p, step(p)))[1]


def make_sgd(learning_rate, l2):
    return xo.chain(xo.add_decayed_weights(l2), xo.scale(-learning_rate))


start = xnp.zeros(2)
library = xo.fit(loss, start, None, make_sgd(RATE, L2), epochs=STEPS)
results = {
    "unrolled": unrolled(start), "fori_loop": counted(start), "while_loop": converged(start),
    "library": library.params,
}  # fmt: skip
for name, p in results.items():
    print(f"{name:10} {p}")
exact = np.array([1.0, -2.0]) / (1 + L2 / 2)  # where 2 (p - a) + l2 p = 0
print(f"exact      {exact}")

assert np.array_equal(results["unrolled"], results["fori_loop"])
assert np.allclose(results["library"], results["fori_loop"], atol=1e-6)
assert np.allclose(results["while_loop"], exact, atol=1e-5)
