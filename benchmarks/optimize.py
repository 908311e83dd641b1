"""Optimisation beside SciPy, Optax and torch."""

import itertools
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax
import scipy.optimize
import torch
from harness import Bench

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

bench = Bench("Optimisation beside SciPy, Optax and torch; 64-bit numbers but for training.")
jax.config.update("jax_enable_x64", True)
rng = np.random.default_rng(0)

# L-BFGS

START = np.tile([-1.2, 1.0], 500)
GTOL = 1e-5


def rosenbrock(np_):
    return lambda x: np_.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def lbfgs_ours(scale=1.0):
    f = rosenbrock(xnp)
    solve = xc.jit(
        lambda x: xo.minimize(lambda x: f(x) * scale, x, method="lbfgs", tol=GTOL, maxiter=20000)
    )
    x = xnp.asarray(START)
    return lambda: solve(x).x


def lbfgs_optax(scale=1.0):
    plain = rosenbrock(jnp)
    f = lambda x: plain(x) * scale  # noqa: E731
    opt = optax.lbfgs()
    both = optax.value_and_grad_from_state(f)

    def step(carry):
        x, state, n = carry
        value, g = both(x, state=state)
        updates, state = opt.update(g, state, x, value=value, grad=g, value_fn=f)
        return optax.apply_updates(x, updates), state, n + 1

    def going(carry):
        g = optax.tree.get(carry[1], "grad")
        return (carry[2] == 0) | ((jnp.max(jnp.abs(g)) > GTOL) & (carry[2] < 20000))

    solve = jax.jit(lambda x: jax.lax.while_loop(going, step, (x, opt.init(x), 0))[0])
    x = jnp.asarray(START)
    return lambda: solve(x)


def lbfgs_scipy():
    return lambda: scipy.optimize.minimize(
        scipy.optimize.rosen, START, jac=scipy.optimize.rosen_der, method="L-BFGS-B",
        options={"gtol": GTOL, "ftol": 0, "maxiter": 20000, "maxfun": 30000},
    ).x  # fmt: skip


slow = {"rounds": 5, "wait": True}
bench.versus("L-BFGS, 1000-d Rosenbrock, peer SciPy", lbfgs_ours, lbfgs_scipy, bar=0.25, **slow)
bench.versus("L-BFGS, 1000-d Rosenbrock, peer Optax", lbfgs_ours, lbfgs_optax, bar=0.6, **slow)


def first_call(make):
    """Seconds of a call that has not been made before: tracing, compiling, running."""
    scales = (1.0 + n / 1024 for n in itertools.count())

    def measure():
        thunk = make(next(scales))
        begin = time.perf_counter()
        np.asarray(thunk())
        return time.perf_counter() - begin

    return measure


@bench.value("L-BFGS, first call, peer Optax", bar=0.25, unit="s")
def first(lib):
    measure = first_call(lbfgs_ours if lib.name == "xcore" else lbfgs_optax)
    return float(np.median([measure() for _ in range(3)]))


# Training

X = rng.normal(size=(256, 20)).astype("f")
LABELS = (X @ rng.normal(size=20) > 0).astype("f")
STEPS = 1000


def logistic(np_):
    def loss(w, x, y):
        z = x @ w
        return np_.mean(np_.logaddexp(0.0, z) - y * z)

    return loss


def adam_in(core, np_, lax, opt, apply_updates):
    loss = logistic(np_)

    def train(w, x, y):
        def step(_, carry):
            w, state = carry
            updates, state = opt.update(core.grad(loss)(w, x, y), state, w)
            return apply_updates(w, updates), state

        return lax.fori_loop(0, STEPS, step, (w, opt.init(w)))[0]

    run = core.jit(train)
    args = np_.zeros(20, np.float32), np_.asarray(X), np_.asarray(LABELS)
    return lambda: run(*args)


def adam_ours():
    return adam_in(xc, xnp, xc.lax, xo.adam(0.01), xo.apply_updates)


def adam_optax():
    return adam_in(jax, jnp, jax.lax, optax.adam(0.01), optax.apply_updates)


def adam_torch():
    x, y = torch.tensor(X), torch.tensor(LABELS)

    def train():
        w = torch.zeros(20, requires_grad=True)
        opt = torch.optim.Adam([w], lr=0.01)
        for _ in range(STEPS):
            opt.zero_grad()
            torch.nn.functional.binary_cross_entropy_with_logits(x @ w, y).backward()
            opt.step()
        return w.detach().numpy()

    return train


bench.versus(
    "1000 Adam steps, logistic regression, peer Optax", adam_ours, adam_optax, bar=1.0, **slow
)
bench.versus(
    "1000 Adam steps, logistic regression, peer torch", adam_ours, adam_torch, bar=0.3, **slow
)

# Least squares

T = np.linspace(0, 4, 40)
TRUTH = rng.uniform([1, 0.3, -0.5], [4, 3, 0.5], size=(1000, 3))
DATA = TRUTH[:, :1] * np.exp(-TRUTH[:, 1:2] * T) + TRUTH[:, 2:] + 0.02 * rng.normal(size=(1000, 40))


def fits_ours():
    def one(y):
        model = lambda p: p[0] * xnp.exp(-p[1] * T) + p[2] - y  # noqa: E731
        return xo.least_squares(model, xnp.asarray(np.ones(3)), tol=1e-8).x

    run, data = xc.jit(xc.vmap(one)), xnp.asarray(DATA)
    return lambda: run(data)


def fits_scipy():
    def all_of_them():
        return [
            scipy.optimize.leastsq(lambda p, y=y: p[0] * np.exp(-p[1] * T) + p[2] - y, np.ones(3))[
                0
            ]
            for y in DATA
        ]

    return all_of_them


bench.versus(
    "1000 Levenberg-Marquardt fits by vmap, peer SciPy's leastsq",
    fits_ours,
    fits_scipy,
    bar=0.25,
    **slow,
)

# Evolution

GENERATIONS = 100


def evolution_ours():
    f = lambda x: 300 + xnp.sum(x**2 - 10 * xnp.cos(2 * np.pi * x))  # noqa: E731
    box = (xnp.full(30, -5.12), xnp.full(30, 5.12))
    run = xc.jit(
        lambda key: (
            xo.differential_evolution(f, box, key=key, maxiter=GENERATIONS, tol=0.0, polish=False).x
        )
    )
    key = xc.random.key(0)
    return lambda: run(key)


def evolution_scipy():
    f = lambda x: 300 + np.sum(x**2 - 10 * np.cos(2 * np.pi * x))  # noqa: E731
    return lambda: (
        scipy.optimize.differential_evolution(
            f, [(-5.12, 5.12)] * 30, maxiter=GENERATIONS, tol=0.0, polish=False, rng=0
        ).x
    )


bench.versus(
    "differential evolution, 30-d Rastrigin, 100 generations, peer SciPy", evolution_ours, evolution_scipy,
    bar=0.2, rounds=3, wait=True,
)  # fmt: skip

if __name__ == "__main__":
    bench.main()
