"""Transformations keep the signature of the user's function."""

from collections.abc import Callable
from functools import partial
from typing import Any, assert_type

import xcore as xc
import xcore.numpy as xnp
from xcore import lax

Params = dict[str, xc.Array]


def loss(params: Params, x: xc.Array, scale: float = 1.0) -> xc.Array:
    return (scale * (x @ params["w"] + params["b"]) ** 2).mean()


@xc.jit
def predict(params: Params, x: xc.Array) -> xc.Array:
    return x @ params["w"]


@xc.jit(static_argnames="n", donate_argnums=0)
def power(x: xc.Array, *, n: int = 2) -> xc.Array:
    return x**n


@partial(xc.jit, static_argnums=1)
def shifted(x: xc.Array, n: int) -> xc.Array:
    return x + n


class Model:
    @xc.jit
    def __call__(self, x: xc.Array) -> xc.Array:
        return 2 * x

    @xc.jit
    def pair(self, x: xc.Array) -> tuple[xc.Array, int]:
        return x, 1


@xc.checkpoint
def layer(x: xc.Array) -> xc.Array:
    return x * 2


@xc.custom_jvp
def soft(x: xc.Array) -> xc.Array:
    return x


@soft.defjvp
def soft_jvp(primals: tuple[xc.Array], tangents: tuple[xc.Array]) -> tuple[xc.Array, xc.Array]:
    return soft(*primals), tangents[0]


@xc.custom_vjp
def clipped(x: xc.Array, limit: float) -> xc.Array:
    return x


def with_aux(x: xc.Array) -> tuple[xc.Array, str]:
    return x.sum(), "aux"


def run(params: Params, x: xc.Array) -> None:
    assert_type(predict(params, x), xc.Array)
    assert_type(power(x, n=3), xc.Array)
    assert_type(shifted(x, 3), xc.Array)
    assert_type(Model()(x), xc.Array)
    assert_type(Model().pair(x), tuple[xc.Array, int])
    assert_type(layer(x), xc.Array)
    assert_type(soft(x), xc.Array)
    assert_type(clipped(x, limit=2.0), xc.Array)
    assert_type(xc.vmap(predict, in_axes=(None, 0))(params, x), xc.Array)
    assert_type(xc.grad(loss)(params, x, scale=2.0), Any)
    assert_type(xc.value_and_grad(loss)(params, x), tuple[xc.Array, Any])
    assert_type(xc.jit(xc.value_and_grad(loss))(params, x)[0], xc.Array)
    assert_type(xc.jvp(layer, (x,), (x,)), tuple[xc.Array, xc.Array])
    assert_type(xc.jvp(with_aux, (x,), (x,), has_aux=True), tuple[xc.Array, xc.Array, str])
    assert_type(xc.vjp(layer, x), tuple[xc.Array, Callable[[Any], tuple[Any, ...]]])
    assert_type(xc.linearize(layer, x)[1](x), xc.Array)
    assert_type(xc.checkpoint(policy=None)(loss)(params, x), xc.Array)
    assert_type(xc.named_call(loss, name="loss")(params, x), xc.Array)
    predict.lower(params, x).compile()
    predict.clear_cache()
    xc.hessian(loss)(params, x)
    xc.jacfwd(xc.jacrev(layer))(x)


def clipped_fwd(x: xc.Array, limit: float) -> tuple[xc.Array, float]:
    return x, limit


def clipped_bwd(limit: float, ct: xc.Array) -> tuple[xc.Array, None]:
    return xnp.clip(ct, -limit, limit), None


clipped.defvjp(clipped_fwd, clipped_bwd)


def below(c: xc.Array) -> xc.Array:
    return c < 3


def next_one(c: xc.Array) -> xc.Array:
    return c + 1


def next_of(i: xc.Array, c: xc.Array) -> xc.Array:
    return c + i


def running(c: xc.Array, y: xc.Array) -> tuple[xc.Array, xc.Array]:
    return c + y, c


def half(a: xc.Array) -> xc.Array:
    return a / 2


def loops_and_trees(params: Params, x: xc.Array) -> None:
    assert_type(lax.scan(running, x[0], x), tuple[Any, Any])
    total: xc.Array = lax.while_loop(below, next_one, x[0])
    total = lax.fori_loop(0, 3, next_of, total)
    total = lax.cond(total > 0, next_one, half, total)
    leaves, structure = xc.tree.flatten(params)
    assert_type(leaves, list[Any])
    again: Params = xc.tree.unflatten(structure, leaves)
    halved: Params = xc.tree.map(half, again)
    assert_type(xc.tree.leaves(halved), list[Any])
    out, back = xc.vjp(loss, params, x)
    assert_type(out, xc.Array)
    assert_type(back(total), tuple[Any, ...])
