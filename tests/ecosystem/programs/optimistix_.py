"""optimistix: roots, minima, least squares, fixed points."""

import jax
import jax.numpy as jnp
import optimistix as optx


def first_example():
    out = optx.root_find(
        lambda y, args: jnp.tanh(y) - 0.5 * y - args,
        optx.Newton(rtol=1e-6, atol=1e-6),
        jnp.asarray(1.0),
        0.1,
    )
    return out.value


def root_finders():
    f = lambda y, args: jnp.stack([y[0] ** 2 + y[1] - 3.0, y[0] - y[1] ** 2 + 0.5])
    solvers = (optx.Newton(1e-5, 1e-5), optx.Chord(1e-5, 1e-5), optx.Dogleg(1e-5, 1e-5))
    return [optx.root_find(f, s, jnp.asarray([1.3, 1.2])).value for s in solvers]


def bisection():
    out = optx.root_find(
        lambda y, a: y**3 - 2.0,
        optx.Bisection(1e-6, 1e-6),
        jnp.asarray(1.0),
        options={"lower": 0.0, "upper": 2.0},
    )
    return out.value


def minimisers():
    f = lambda y, args: jnp.sum((y - jnp.asarray([1.0, -2.0])) ** 2) + 0.1 * jnp.sum(y**4)
    solvers = (optx.BFGS(1e-5, 1e-5), optx.NonlinearCG(1e-5, 1e-5), optx.NelderMead(1e-5, 1e-5))
    return [optx.minimise(f, s, jnp.zeros(2), max_steps=500).value for s in solvers]


def least_squares():
    t = jnp.linspace(0.0, 2.0, 9)
    data = 2.0 * jnp.exp(-0.7 * t)
    f = lambda y, args: y["a"] * jnp.exp(-y["b"] * t) - data
    y0 = {"a": jnp.asarray(1.0), "b": jnp.asarray(0.1)}
    solvers = (
        optx.LevenbergMarquardt(1e-5, 1e-5),
        optx.GaussNewton(1e-5, 1e-5),
        optx.Dogleg(1e-5, 1e-5),
    )
    return [optx.least_squares(f, s, y0).value for s in solvers]


def fixed_points():
    f = lambda y, args: jnp.cos(y) * args
    return optx.fixed_point(f, optx.FixedPointIteration(1e-6, 1e-6), jnp.asarray(0.5), 0.9).value


def implicit_derivatives():
    def root(a):
        f = lambda y, args: y**3 + args * y - 1.0
        return optx.root_find(f, optx.Newton(1e-6, 1e-6), jnp.asarray(0.7), a).value

    return jax.grad(root)(0.5), jax.vmap(jax.value_and_grad(root))(jnp.asarray([0.1, 1.0, 2.0]))


def failure_is_told():
    out = optx.root_find(
        lambda y, a: y**2 + 1.0, optx.Newton(1e-6, 1e-6), jnp.asarray(0.3), max_steps=5, throw=False
    )
    return jnp.asarray(out.result != optx.RESULTS.successful)


def with_optax():
    import optax

    solver = optx.OptaxMinimiser(optax.adam(0.1), 1e-4, 1e-4)
    f = lambda y, args: jnp.sum((y - 1.5) ** 2)
    return optx.minimise(f, solver, jnp.zeros(2), max_steps=2000).value
