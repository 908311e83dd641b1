"""Can a tensor in CP format go through `jit`, `grad` and `vmap`?

A plain class cannot; the formats of `xcore.decomp` are pytrees and can. Here one element, one slice,
and the gradient of a loss with respect to the factors, without ever forming the tensor.
"""

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from xcore import decomp


class Plain:
    def __init__(self, cores):
        self.cores = cores


rng = np.random.default_rng(0)
factors = [xnp.asarray(rng.normal(size=(1000, 5))) for _ in range(4)]
try:
    xc.jit(lambda cp: cp.cores[0][0])(Plain(factors))
except TypeError as e:
    print("a plain class:", str(e).splitlines()[0])

cp = decomp.CP(None, factors)
print(cp, f"stands for {cp.size:.0e} elements in {sum(f.size for f in cp.factors):.0e} numbers")
element = xc.jit(lambda cp, i: cp[i, i, i, i])
print("element:", element(cp, 7), "norm:", decomp.norm(cp), "slice:", cp[:10, 3])

where = rng.integers(0, 1000, (4, 500))
values = np.cos(where / 1000).sum(0)


def loss(cp):
    return ((cp[tuple(where)] - values) ** 2).mean()


slope = xc.jit(xc.grad(loss))(cp)
step = 1e-6
moved = xc.tree.map(lambda a, g: a - step * g, cp, slope)
print(f"loss {loss(cp):.5f}, after a step down its gradient {loss(moved):.5f}")
assert loss(moved) < loss(cp)
