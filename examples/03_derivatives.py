"""How do derivatives of any order and shape come about?

`grad` is for functions with one number as result, `jacfwd` and `jacrev` for vectors, `hessian` for
second derivatives; all of them nest. Forward mode costs one pass for each input, reverse mode one
for each output.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp

f = xnp.tanh
order = [f]
for _ in range(3):
    order.append(xc.grad(order[-1]))
x = xnp.linspace(-4, 4, 401)
with figure("tanh", title="tanh and its first three derivatives") as ax:
    for k, g in enumerate(order):
        ax.plot(x, xc.vmap(g)(x), label=f"derivative {k}" if k else "tanh")
    ax.set(xlabel="x", ylabel="tanh and its derivatives")
    ax.legend()


def spherical(p):
    r, theta, phi = p
    return r * xnp.stack(
        [xnp.sin(theta) * xnp.cos(phi), xnp.sin(theta) * xnp.sin(phi), xnp.cos(theta)]
    )


p = xnp.asarray([2.0, 0.7, 0.3])
forward, reverse = xc.jacfwd(spherical)(p), xc.jacrev(spherical)(p)
print("Jacobian of spherical coordinates:\n", forward)
volume = abs(np.linalg.det(forward))
print(f"its determinant {volume:.5f} is r² sin θ = {4 * np.sin(0.7):.5f}")

rosenbrock = lambda v: 100 * (v[1] - v[0] ** 2) ** 2 + (1 - v[0]) ** 2  # noqa: E731
print("Hessian of Rosenbrock's function at its minimum:\n", xc.hessian(rosenbrock)(xnp.ones(2)))

# a directional derivative needs no matrix
value, slope = xc.jvp(rosenbrock, (xnp.zeros(2),), (xnp.asarray([1.0, 0.0]),))
print(f"at the origin the value is {value}, the slope along x is {slope}")

assert np.allclose(forward, reverse, atol=1e-6)
assert np.isclose(volume, 4 * np.sin(0.7), rtol=1e-5)
assert np.allclose(xc.hessian(rosenbrock)(xnp.ones(2)), [[802, -400], [-400, 200]])
