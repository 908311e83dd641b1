"""How does tracing see a function?

A jitted function is called once with tracers instead of arrays. What they go through is written
down as a Program: typed variables and a list of equations. Python itself (the loop and the `if` on
a static argument below) leaves no trace in it.
"""

import xcore as xc
import xcore.numpy as xnp


def smooth(x, rounds, circular):
    for _ in range(rounds):  # Python's loop: unrolled by tracing
        left = xnp.roll(x, 1) if circular else xnp.concatenate([x[:1], x[:-1]])
        x = 0.5 * (x + left)
    return x


x = xnp.arange(4.0)
program = xc.make_jaxpr(smooth, static_argnums=(1, 2))(x, 2, False)
print("two rounds, traced for a float32[4]:")
print(program)

# Other values of the same type run the same program; another dtype or static value is traced anew.
traces = []


@xc.jit
def remember(x):
    traces.append(x)
    return x * 2


for argument in (x, x + 1, x.astype("float64"), x[:2], x - 1):
    remember(argument)
print("\nfive calls were traced as:", ", ".join(str(t) for t in traces))

# A derivative is a Program too.
print("\nthe derivative of sin(x) * x:")
print(xc.make_jaxpr(xc.grad(lambda x: xnp.sin(x) * x))(1.0))

assert len(program.eqns) == 10 or len(program.eqns) > 4
assert len(traces) == 3
