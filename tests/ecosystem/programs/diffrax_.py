"""diffrax: differential equations, ordinary, stochastic and controlled."""

import diffrax as dfx
import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr


def _decay(t, y, args):
    return -y


def _lotka(t, y, args):
    a, b, c, d = args
    x, z = y
    return jnp.stack([a * x - b * x * z, -c * z + d * x * z])


ARGS = (0.7, 0.4, 0.9, 0.3)


def first_example():
    out = dfx.diffeqsolve(dfx.ODETerm(_decay), dfx.Tsit5(), 0.0, 1.0, 0.1, jnp.asarray([2.0, 3.0]))
    return out.ts, out.ys


def explicit_solvers():
    y0, save = jnp.asarray([1.0, 2.0]), dfx.SaveAt(ts=jnp.linspace(0.0, 3.0, 5))
    steps = dfx.PIDController(rtol=1e-5, atol=1e-5)
    return [
        dfx.diffeqsolve(
            dfx.ODETerm(_lotka), s, 0.0, 3.0, 0.1, y0, ARGS, saveat=save, stepsize_controller=steps
        ).ys
        for s in (dfx.Tsit5(), dfx.Dopri5(), dfx.Dopri8(), dfx.Bosh3(), dfx.Heun())
    ]


def implicit_solver():
    def robertson(t, y, args):
        f0 = -0.04 * y[0] + 1e4 * y[1] * y[2]
        f2 = 3e3 * y[1] ** 2
        return jnp.stack([f0, -f0 - f2, f2])

    out = dfx.diffeqsolve(
        dfx.ODETerm(robertson),
        dfx.Kvaerno5(),
        0.0,
        10.0,
        1e-3,
        jnp.asarray([1.0, 0.0, 0.0]),
        stepsize_controller=dfx.PIDController(rtol=1e-4, atol=1e-6),
    )
    return out.ys


def gradients_by_adjoints():
    def loss(y0, adjoint):
        out = dfx.diffeqsolve(
            dfx.ODETerm(_lotka),
            dfx.Tsit5(),
            0.0,
            2.0,
            0.1,
            y0,
            ARGS,
            adjoint=adjoint,
            stepsize_controller=dfx.PIDController(rtol=1e-5, atol=1e-5),
            max_steps=256,
        )
        return jnp.sum(out.ys**2)

    y0 = jnp.asarray([1.0, 2.0])
    return [
        jax.grad(loss)(y0, a)
        for a in (dfx.RecursiveCheckpointAdjoint(), dfx.DirectAdjoint(), dfx.BacksolveAdjoint())
    ]


def dense_output_and_events():
    event = dfx.Event(lambda t, y, args, **kw: y[0] - 0.5)
    out = dfx.diffeqsolve(
        dfx.ODETerm(_decay),
        dfx.Tsit5(),
        0.0,
        5.0,
        0.1,
        jnp.asarray([2.0]),
        saveat=dfx.SaveAt(t1=True, dense=True),
        event=event,
    )
    return out.ts, out.ys, out.interpolation.evaluate(0.3)


def many_at_once():
    def solve(y0):
        return dfx.diffeqsolve(
            dfx.ODETerm(_lotka),
            dfx.Tsit5(),
            0.0,
            1.0,
            0.05,
            y0,
            ARGS,
            stepsize_controller=dfx.PIDController(rtol=1e-4, atol=1e-4),
        ).ys

    return jax.jit(jax.vmap(solve))(jnp.asarray([[1.0, 2.0], [0.5, 1.0], [2.0, 0.3]]))


def stochastic():
    path = dfx.VirtualBrownianTree(0.0, 1.0, tol=1e-2, shape=(), key=jr.PRNGKey(3))
    terms = dfx.MultiTerm(
        dfx.ODETerm(lambda t, y, a: -y), dfx.ControlTerm(lambda t, y, a: 0.1 * y, path)
    )
    out = dfx.diffeqsolve(
        terms, dfx.Euler(), 0.0, 1.0, 0.05, 1.0, saveat=dfx.SaveAt(steps=True), max_steps=32
    )
    return out.ys[:20], path.evaluate(0.0, 0.4)


def controlled():
    ts = jnp.linspace(0.0, 1.0, 6)
    xs = jnp.stack([ts, jnp.sin(ts)], -1)
    coeffs = dfx.backward_hermite_coefficients(ts, xs)
    control = dfx.CubicInterpolation(ts, coeffs)
    term = dfx.ControlTerm(lambda t, y, a: jnp.stack([y, -y]), control).to_ode()
    out = dfx.diffeqsolve(term, dfx.Tsit5(), 0.0, 1.0, 0.1, jnp.asarray([0.1, 0.2]))
    return (
        out.ys,
        control.evaluate(0.35),
        control.derivative(0.35),
        dfx.LinearInterpolation(ts, xs).evaluate(0.1, 0.7),
    )


def neural_ode_training():
    class Func(eqx.Module):
        mlp: eqx.nn.MLP

        def __call__(self, t, y, args):
            return self.mlp(y)

    model = Func(eqx.nn.MLP(2, 2, 8, 1, key=jr.PRNGKey(5)))
    ts = jnp.linspace(0.0, 1.0, 4)

    @eqx.filter_value_and_grad
    def loss(m):
        out = dfx.diffeqsolve(
            dfx.ODETerm(m), dfx.Tsit5(), 0.0, 1.0, 0.1, jnp.ones(2), saveat=dfx.SaveAt(ts=ts)
        )
        return jnp.mean((out.ys - jnp.cos(ts)[:, None]) ** 2)

    values = []
    for _ in range(3):
        value, g = eqx.filter_jit(loss)(model)
        model = eqx.apply_updates(model, jax.tree.map(lambda x: -0.05 * x, g))
        values.append(value)
    return jnp.stack(values)


def steady_state_and_steps():
    out = dfx.diffeqsolve(
        dfx.ODETerm(lambda t, y, a: 1.0 - y),
        dfx.Tsit5(),
        0.0,
        jnp.inf,
        0.1,
        jnp.asarray([0.0]),
        event=dfx.Event(dfx.steady_state_event(rtol=1e-4, atol=1e-4)),
        max_steps=1024,
        stepsize_controller=dfx.PIDController(rtol=1e-4, atol=1e-4),
    )
    return out.ys, out.stats["num_steps"]
