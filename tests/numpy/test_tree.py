"""Trees of arrays as vectors and back."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.flatten_util import ravel_pytree


@pytest.mark.parametrize("tree, dtype", [
    ({"a": np.ones((2, 3), np.float32), "b": [np.arange(4, dtype=np.float32)]}, np.float32),
    ([np.ones(2, np.float16), np.arange(3, dtype=np.int32), 1.5], np.float16),
    ((np.ones((2, 0), np.float32), np.array([1 + 2j], np.complex64)), np.complex64),
    ([], np.float32),
    (3, np.int32),
])  # fmt: skip
def test_there_and_back(tree, dtype):
    vector, unravel = ravel_pytree(tree)
    leaves = [np.asarray(x) for x in xc.tree.leaves(tree)]
    wanted = np.concatenate([x.ravel() for x in leaves]) if leaves else np.zeros(0)
    assert vector.dtype == dtype and np.array_equal(vector, wanted)
    back = unravel(vector)
    assert xc.tree.structure(back) == xc.tree.structure(tree)
    for a, b in zip(xc.tree.leaves(back), xc.tree.leaves(tree), strict=True):
        assert a.dtype == xnp.asarray(b).dtype and np.array_equal(a, b)


def test_under_transformations():
    params = {"w": xnp.arange(6.0).reshape(2, 3), "b": xnp.ones(3)}
    vector, unravel = ravel_pytree(params)

    def loss(v):
        p = unravel(v)
        return ((p["w"] + p["b"]) ** 2).sum()

    assert np.allclose(
        xc.jit(xc.grad(loss))(vector),
        ravel_pytree(xc.grad(lambda p: loss(ravel_pytree(p)[0]))(params))[0],
    )
    rows = xc.vmap(lambda p: ravel_pytree(p)[0])({"w": xnp.ones((4, 2, 3)), "b": xnp.ones((4, 3))})
    assert rows.shape == (4, 9)
    assert unravel == ravel_pytree(params)[1] and hash(unravel) == hash(ravel_pytree(params)[1])


def test_vectors_that_do_not_fit():
    vector, unravel = ravel_pytree([xnp.ones(2), 1.0])
    with pytest.raises(ValueError, match=r"float32\[3\]"):
        unravel(vector[:2])
    with pytest.raises(TypeError, match="float16"):
        unravel(vector.astype(np.float16))
