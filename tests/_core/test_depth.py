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


@pytest.mark.parametrize("numbers", [(7,), (-1,), (0, 0)])
def test_wrong_axes_of_a_gather(numbers):
    dims = xc.lax.GatherDimensionNumbers((1,), (0,), numbers)
    at = xnp.zeros((2, len(numbers)), "int32")
    for f in (lambda f: f, xc.jit):
        with pytest.raises(xc.errors.ShapeError, match="start_index_map"):
            f(lambda x: xc.lax.gather(x, at, dims, (1, 4)))(xnp.ones((3, 4)))
