"""Can a network learn the law of a spiral from its path alone?

A neural differential equation with diffrax and equinox, written for JAX and run on xcore
(`import xcore.as_jax`); and the same equation by xcore's own adaptive solver, whose gradient agrees.
"""
# pyright: reportMissingImports=false

import numpy as np
from _extras import needs
from _figures import figure

needs("diffrax", "equinox", "optax")
import xcore.as_jax
import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

import xcore as xc
import xcore.numpy as xnp
from xcore.experimental.ode import odeint

TIMES = np.linspace(0, 4, 30, dtype="f")
PATH = (np.exp(-0.2 * TIMES) * np.stack([np.cos(2 * TIMES), np.sin(2 * TIMES)])).T.astype("f")


class Law(eqx.Module):
    net: eqx.nn.MLP

    def __call__(self, t, y, args):
        return self.net(y)


def path(law):
    return diffrax.diffeqsolve(
        diffrax.ODETerm(law), diffrax.Tsit5(), t0=0.0, t1=4.0, dt0=0.05, y0=jnp.asarray(PATH[0]),
        saveat=diffrax.SaveAt(ts=jnp.asarray(TIMES)),
        stepsize_controller=diffrax.PIDController(rtol=1e-5, atol=1e-6),
    ).ys  # fmt: skip


def loss(law):
    return jnp.mean((path(law) - PATH) ** 2)


law = Law(eqx.nn.MLP(2, 2, 16, 1, activation=jnp.tanh, key=jax.random.key(0)))
optimizer = optax.adam(3e-2)
state = optimizer.init(eqx.filter(law, eqx.is_array))


@eqx.filter_jit
def step(law, state):
    value, slope = eqx.filter_value_and_grad(loss)(law)
    updates, state = optimizer.update(slope, state)
    return eqx.apply_updates(law, updates), state, value


losses = []
for _ in range(250):
    law, state, value = step(law, state)
    losses.append(float(value))


# The same in plain xcore: the weights by name, the equation by odeint.
def plain(weights):
    (w, b), (v, c) = weights
    field = lambda y, t: v @ xnp.tanh(w @ y + b) + c
    return xnp.mean((odeint(field, PATH[0], TIMES, rtol=1e-5, atol=1e-6) - PATH) ** 2)


first = Law(eqx.nn.MLP(2, 2, 16, 1, activation=jnp.tanh, key=jax.random.key(0)))
weights = [(layer.weight, layer.bias) for layer in first.net.layers]
theirs = [(x.weight, x.bias) for x in eqx.filter_grad(loss)(first).net.layers]
ours = xc.jit(xc.grad(plain))(weights)
size = max(float(xnp.max(xnp.abs(x))) for x in xc.tree.leaves(ours))
apart = (
    max(
        float(xnp.max(xnp.abs(a - b)))
        for a, b in zip(xc.tree.leaves(ours), xc.tree.leaves(theirs), strict=True)
    )
    / size
)

print(f"loss {losses[0]:.3f} to {losses[-1]:.1e}")
print(
    f"at the start, the gradients of diffrax and of plain xcore differ by {apart:.0e} of the largest"
)
with figure("spiral", title="The path, and what was learned") as ax:
    ax.plot(*PATH.T, "o", label="given")
    ax.plot(*np.asarray(path(law)).T, label="learned")
    ax.set(xlabel="x", ylabel="y")
    ax.legend()

assert losses[-1] < 2e-3 and apart < 2e-3
