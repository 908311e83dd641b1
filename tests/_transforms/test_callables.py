"""Transformations take any callable, whatever its class calls its attributes."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp


class Energy:
    """An object that is called, with other things where functions have texts and dicts."""

    __name__ = 3
    __annotations__ = property(lambda self: "none")
    __type_params__ = None

    def __call__(self, x):
        return (x * x).sum()


X = np.arange(6.0, dtype=np.float32).reshape(3, 2)
TRANSFORMED = {
    "jit": (xc.jit, 55),
    "checkpoint": (xc.checkpoint, 55),
    "eval_shape": (lambda f: lambda x: xc.eval_shape(f, x).ndim, 0),
    "grad": (xc.grad, 2 * X),
    "value_and_grad": (lambda f: lambda x: xc.value_and_grad(f)(x)[0], 55),
    "jacfwd": (xc.jacfwd, 2 * X),
    "jacrev": (xc.jacrev, 2 * X),
    "hessian": (lambda f: lambda x: xc.hessian(f)(x).sum(), 12),
    "vmap": (xc.vmap, [1, 13, 41]),
    "nested": (lambda f: xc.jit(xc.vmap(xc.grad(f))), 2 * X),
    "map": (lambda f: lambda x: xc.lax.map(f, x), [1, 13, 41]),
    "vectorize": (lambda f: xnp.vectorize(f, signature="(n)->()"), [1, 13, 41]),
    "callback": (lambda f: xc.jit(lambda x: xc.pure_callback(f, xc.ShapeDtypeStruct((), x.dtype), x)), 55),
    "checkify": (lambda f: lambda x: xc.experimental.checkify.checkify(f)(x)[1], 55),
}  # fmt: skip


@pytest.mark.parametrize("name", TRANSFORMED)
def test_objects_that_are_called(name):
    transform, want = TRANSFORMED[name]
    np.testing.assert_allclose(transform(Energy())(xnp.asarray(X)), want)


MADE = {
    **{n: getattr(xc, n) for n in ("jit", "vmap", "grad", "value_and_grad", "jacfwd", "jacrev", "jacobian", "hessian")},
    "fwd_and_bwd": lambda f: xc.fwd_and_bwd(f, 0),
    "shard_map": lambda f: xc.shard_map(f, in_specs=xc.P(), out_specs=xc.P()),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("given", [3, "sin", [1.0]], ids=str)
def test_what_cannot_be_called_is_refused_at_once(name, given):
    with pytest.raises(TypeError, match=r"expected a function, given .* of type"):
        MADE[name](given)
