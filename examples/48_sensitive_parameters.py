"""Which parameter of a model decides what happens later?

Hares and lynxes: x' = a x - b x y, y' = c x y - d y, integrated with steps as long as the error allows. Forward
derivatives through the integrator give all four sensitivities at all times at once; multiplied by the parameter
they are percent per percent. One reverse pass instead gives the derivative of a single number, the peak of the
lynxes, by everything.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore.pde import integrate

xc.config.update("default_bits", 64)
NAMES = ("a: hares' births", "b: hunting", "c: lynxes' births", "d: lynxes' deaths")
parameters = xnp.asarray([1.0, 0.1, 0.02, 0.5])
start = xnp.asarray([40.0, 9.0])
times = xnp.linspace(0, 30, 301)


@xc.jit
def populations(p):
    def rate(u, t):
        x, y = u
        return xnp.stack([p[0] * x - p[1] * x * y, p[2] * x * y - p[3] * y])

    return integrate(rate, start, times, rtol=1e-8, atol=1e-8)


u = populations(parameters)
relative = xc.jit(xc.jacfwd(populations))(parameters) * parameters / u[..., None]
with figure("sensitivity", rows=2, size=(8, 6)) as (above, below):
    above.plot(times, u[:, 0], label="hares")
    above.plot(times, u[:, 1], label="lynxes")
    above.set(xlabel="years", ylabel="animals, thousands")
    above.legend()
    for i, name in enumerate(NAMES):
        below.plot(times, relative[:, 1, i], label=name)
    below.set(xlabel="years", ylabel="lynxes: % per %")
    below.legend(ncols=2, fontsize=8)

invariant = (
    parameters[2] * u[:, 0]
    - parameters[3] * xnp.log(u[:, 0])
    + (parameters[1] * u[:, 1] - parameters[0] * xnp.log(u[:, 1]))
)  # constant along exact solutions
drift = float(xnp.max(abs(invariant / invariant[0] - 1)))

at = int(xnp.argmax(u[:, 1]))


def peak(p):
    return populations(p)[at, 1]


slope = np.asarray(xc.jit(xc.grad(peak))(parameters))
steps = 1e-4 * np.diag(np.asarray(parameters))
differences = np.array(
    [float(peak(parameters + h) - peak(parameters - h)) / (2 * h.sum()) for h in steps]
)
print(f"the invariant of the exact solution drifts by {drift:.1e}")
print("derivative of the largest number of lynxes:", np.round(slope, 3))
print("by differences:                            ", np.round(differences, 3))
assert drift < 1e-5 and np.allclose(slope, differences, rtol=1e-4)
assert np.allclose(slope * parameters / u[at, 1], relative[at, 1], rtol=1e-5)
