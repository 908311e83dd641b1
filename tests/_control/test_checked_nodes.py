"""Pytree classes that look at what they are made of meet arrays only, under every transformation."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore._core.exceptions import MismatchError


@xc.tree_util.register_pytree_node_class
class Checked:
    """Refuses to be made of what is no array."""

    def __init__(self, x):
        if not isinstance(x, xnp.ndarray):
            raise TypeError(f"not an array: {x!r}")
        self.x = x

    def tree_flatten(self):
        return (self.x,), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)

    def doubled(self):
        return Checked(2 * self.x)


TRANSFORMED = {
    "jit": lambda v: xc.jit(Checked.doubled)(v).x,
    "jit of parts": lambda v: xc.jit(lambda v: {"a": [v, v.x]})(v)["a"][0].x * 2,
    "vmap": lambda v: xc.vmap(Checked.doubled)(v).x,
    "scan": lambda v: xc.lax.scan(lambda c, w: (c.doubled(), w), v, v)[0].x / 4,
    "map": lambda v: xc.lax.map(Checked.doubled, v).x,
    "while": lambda v: xc.lax.while_loop(lambda c: c.x[0] < 1, Checked.doubled, v).x * 2,
    "cond": lambda v: xc.lax.cond(v.x[0] > 0, Checked.doubled, Checked.doubled, v).x,
    "grad": lambda v: xc.grad(lambda v: (v.x**2).sum())(v).x,
    "jvp": lambda v: xc.jvp(Checked.doubled, (v,), (v,))[1].x,
    "checkpoint": lambda v: xc.checkpoint(Checked.doubled)(v).x,
    "linearize": lambda v: xc.linearize(Checked.doubled, v)[1](v).x,
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_classes_that_look_at_what_they_are_made_of(name):
    v = Checked(xnp.arange(1.0, 4.0))
    for f in (TRANSFORMED[name], xc.jit(TRANSFORMED[name])):
        for _ in range(3):  # the first call is another one than those that follow
            np.testing.assert_array_equal(f(v), [2, 4, 6])


def test_messages_about_such_classes():
    v = Checked(xnp.ones(3))
    with pytest.raises(MismatchError, match="leaf 0"):
        xc.lax.while_loop(lambda c: True, lambda c: Checked(c.x[:2]), v)
