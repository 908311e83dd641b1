"""What is the derivative of the solution of a linear system?

From a x = b follows a x' = b' - a' x: one more system with the same matrix, whatever solved the
first. Here the stiffness of a chain of springs is found from the places its masses take under load,
under two loads: a chain that is fixed at both ends has one spring more than masses.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp

xc.config.update("default_bits", 64)
n = 12
loads = xnp.stack([xnp.linspace(1.0, 2.0, n), xnp.linspace(1.0, -1.0, n)])


def positions(stiffness):
    """Displacements of a chain that is fixed at both ends, under both loads: n masses, n + 1 springs."""
    left, right = stiffness[:-1], stiffness[1:]
    above = xnp.concatenate([-right[:-1], xnp.zeros(1)])
    below = xnp.concatenate([xnp.zeros(1), -left[1:]])
    return xc.linalg.solve_tridiagonal(below, left + right, above, loads.T).T.ravel()


true = 1.0 + 0.5 * xnp.sin(xnp.arange(n + 1.0))
measured = positions(true)


def misfit(log_stiffness):
    return positions(xnp.exp(log_stiffness)) - measured


@xc.jit
def gauss_newton(u):
    slope = xc.jacfwd(misfit)(u)
    small = slope.T @ slope + 1e-10 * xnp.eye(n + 1)
    return u - xc.linalg.solve(small, slope.T @ misfit(u), "positive definite")


u, errors = xnp.zeros(n + 1), []
for _ in range(12):
    errors.append(float(xnp.linalg.norm(misfit(u))))
    u = gauss_newton(u)
with figure("springs", cols=2, size=(9, 3.5)) as (first, second):
    first.semilogy(errors, "o-")
    first.set(xlabel="step", ylabel="misfit")
    second.plot(true, "o", label="true stiffness")
    second.plot(xnp.exp(u), "x", label="found")
    second.set(xlabel="spring", ylabel="stiffness")
    second.legend()

direction = xnp.cos(xnp.arange(n + 1.0))
_, change = xc.jvp(positions, (true,), (direction,))
h = 1e-6
quotient = (positions(true + h * direction) - positions(true - h * direction)) / (2 * h)
print(f"derivative beside difference quotient: {float(abs(change - quotient).max()):.1e}")
print(f"misfit {errors[0]:.2e} -> {errors[-1]:.2e}")
assert np.allclose(change, quotient, rtol=1e-6)
assert errors[-1] < 1e-7 * errors[0] and np.allclose(np.exp(u), true, rtol=1e-6)
