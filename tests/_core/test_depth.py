"""Nesting without end: trees and calls that are too deep are told in words."""

import pytest

import xcore as xc
import xcore.numpy as xnp


def chain(depth, wrap):
    tree = 1.0
    for _ in range(depth):
        tree = wrap(tree)
    return tree


WRAPS = {"dict": lambda t: {"a": t}, "list": lambda t: [t], "tuple": lambda t: (t, 0.0)}
USES = {
    "flatten": xc.tree.flatten,
    "with paths": xc.tree.flatten_with_path,
    "map": lambda t: xc.tree.map(lambda x: x, t),
    "jit": lambda t: xc.jit(lambda t: 1.0)(t),
    "grad": lambda t: xc.grad(lambda t: 1.0)(t),
    "result": lambda t: xc.jit(lambda: t)(),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("wrap", WRAPS)
def test_deep_trees(wrap, use):
    with pytest.raises(xc.errors.TreeError, match="nested deeper"):
        USES[use](chain(20_000, WRAPS[wrap]))  # Python 3.13 goes as deep as 10,000
    assert xc.tree.leaves(chain(100, WRAPS[wrap]))[0] == 1.0


def nested(depth):
    inner = nested(depth - 1) if depth else None
    return xc.jit(lambda x: inner(x)) if depth else lambda x: x + 1


def test_deep_calls():
    assert nested(20)(1.0) == 2
    for f in (nested(400), xc.jit(lambda x: endless(x))):
        with pytest.raises(RecursionError, match="jitted functions are nested too deep"):
            f(1.0)
    assert float(xc.jit(lambda x: x + 1)(1.0)) == 2


def endless(x):
    return endless(x)


TRANSFORMED = {
    "grad": lambda f: xc.grad(f)(1.0),
    "vmap": lambda f: xc.vmap(f)(xnp.ones(2)),
    "jvp": lambda f: xc.jvp(f, (1.0,), (1.0,)),
    "jit(grad)": lambda f: xc.jit(xc.grad(f))(1.0),
    "hessian": lambda f: xc.hessian(f)(1.0),
}


def checkpointed(depth):
    inner = checkpointed(depth - 1) if depth else None
    return xc.checkpoint(lambda x: xnp.sin(inner(x))) if depth else lambda x: x + 1


@pytest.mark.parametrize("how", TRANSFORMED)
@pytest.mark.parametrize("depth", [100, 160, 250])
@pytest.mark.parametrize("chain", [nested, checkpointed])
def test_deep_calls_under_transformations(chain, depth, how):
    try:
        TRANSFORMED[how](chain(depth))
    except RecursionError as e:
        assert "nested too deep" in str(e)


@pytest.mark.parametrize("how", TRANSFORMED)
def test_a_recursion_of_the_users_own_keeps_its_words(how):
    with pytest.raises(RecursionError) as told:
        TRANSFORMED[how](lambda x: endless(x))
    if how != "jit(grad)":
        assert "nested too deep" not in str(told.value)


@pytest.mark.parametrize("numbers", [(7,), (-1,), (0, 0)])
def test_wrong_axes_of_a_gather(numbers):
    dims = xc.lax.GatherDimensionNumbers((1,), (0,), numbers)
    at = xnp.zeros((2, len(numbers)), "int32")
    for f in (lambda f: f, xc.jit):
        with pytest.raises(xc.errors.ShapeError, match="start_index_map"):
            f(lambda x: xc.lax.gather(x, at, dims, (1, 4)))(xnp.ones((3, 4)))
