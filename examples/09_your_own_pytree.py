"""Why does a plain class fail under `jit`, and what mends it?

`jit` takes its arguments apart into arrays and puts them together again. It knows how for tuples,
lists and dicts; for your own class you say it once, by registering it as a pytree. The class here is
a matrix given by two thin factors, A = U Vᵀ, that is never formed.
"""

from dataclasses import dataclass

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from xcore.tree_util import register_pytree_node_class


def element(cp, index):
    i, j = index
    return cp.cores[0][i] @ cp.cores[1][j]


@dataclass
class Plain:
    cores: list


rng = np.random.default_rng(0)
u, v = rng.normal(size=(3, 2)), rng.normal(size=(4, 2))
print("eager:", element(Plain([xnp.asarray(u), xnp.asarray(v)]), (0, 1)))
try:
    xc.jit(element)(Plain([u, v]), (0, 1))
except TypeError as e:
    print("jit of a plain class:", e)
else:
    raise AssertionError("a plain class is not a pytree")


@register_pytree_node_class
class Canonical:
    def __init__(self, cores, shape, rank):
        self.cores, self.shape, self.rank = cores, tuple(shape), rank

    def tree_flatten(self):
        return self.cores, (self.shape, self.rank)  # arrays, and what is static

    @classmethod
    def tree_unflatten(cls, static, cores):
        return cls(list(cores), *static)


cp = Canonical([xnp.asarray(u), xnp.asarray(v)], (3, 4), 2)
value = xc.jit(element)(cp, (0, 1))
every = xc.vmap(xc.vmap(lambda i, j: element(cp, (i, j)), (None, 0)), (0, None))
gradient = xc.grad(lambda c: element(c, (0, 1)))(cp)
print("registered:", value, "- its gradient is a", type(gradient).__name__, "again")
assert np.allclose(value, u[0] @ v[1])
assert np.allclose(every(xnp.arange(3), xnp.arange(4)), u @ v.T)
assert np.allclose(gradient.cores[0][0], v[1]) and np.allclose(gradient.cores[0][1:], 0)
