"""device= and out_sharding=: results lie where they are asked to, eagerly and in programs."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax

if len(xc.devices()) < 4:
    pytest.skip("needs several devices", allow_module_level=True)

MESH = xc.make_mesh((2, 2), ("a", "b"))
TILES = xc.NamedSharding(MESH, xc.P("a", "b"))
X, Y = np.arange(8.0, dtype=np.float32).reshape(2, 4), np.ones((4, 2), np.float32)
PAIRS = (((1,), (0,)), ((), ()))

# each makes an array of two axes, laid out by its keyword arguments
CALLS = {
    "zeros": (lambda **k: xnp.zeros((2, 4), **k), 0 * X),
    "ones": (lambda **k: xnp.ones((4, 2), **k), Y),
    "empty": (lambda **k: xnp.empty((2, 4), **k), 0 * X),
    "full": (lambda **k: xnp.full((4, 2), 1, **k), Y),
    "full of an array": (lambda **k: xnp.full((2, 4), xnp.asarray(X[0]), **k), X[[0, 0]]),
    "zeros_like": (lambda **k: xnp.zeros_like(X, **k), 0 * X),
    "ones_like": (lambda **k: xnp.ones_like(Y, **k), Y),
    "empty_like": (lambda **k: xnp.empty_like(X, **k), 0 * X),
    "full_like": (lambda **k: xnp.full_like(Y, 1, **k), Y),
    "asarray": (lambda **k: xnp.asarray(X, **k), X),
    "array": (lambda **k: xnp.array([X[0], X[1]], **k), X),
    "matmul": (lambda **k: xnp.matmul(X, Y, **k), X @ Y),
    "dot": (lambda **k: xnp.dot(X, Y, **k), X @ Y),
    "tensordot": (lambda **k: xnp.tensordot(X, Y, 1, **k), X @ Y),
    "linalg.tensordot": (lambda **k: xnp.linalg.tensordot(X, Y, axes=1, **k), X @ Y),
    "einsum": (lambda **k: xnp.einsum("ij,jk", X, Y, **k), X @ Y),
    "reshape": (lambda **k: xnp.reshape(X, (4, 2), **k), X.reshape(4, 2)),
    "broadcast_to": (lambda **k: xnp.broadcast_to(X[0], (2, 4), **k), X[[0, 0]]),
    "repeat": (lambda **k: xnp.repeat(X, 2, axis=0, **k), X[[0, 0, 1, 1]]),
    "get": (lambda **k: xnp.asarray(X).at[:, ::2].get(**k), X[:, ::2]),
    "lax.full": (lambda out_sharding: lax.full((4, 2), 1.0, sharding=out_sharding), Y),
    "lax.full_like": (lambda out_sharding: lax.full_like(Y, 1, sharding=out_sharding), Y),
    "lax.empty": (lambda **k: lax.empty((2, 4), "float32", **k), 0 * X),
    "lax.dot": (lambda **k: lax.dot(X, Y, **k), X @ Y),
    "lax.dot_general": (lambda **k: lax.dot_general(X, Y, PAIRS, **k), X @ Y),
    "lax.reshape": (lambda **k: lax.reshape(X, (4, 2), **k), X.reshape(4, 2)),
    "lax.broadcast": (lambda **k: lax.broadcast(X[0], (2,), **k), X[[0, 0]]),
    "lax.broadcast_in_dim": (lambda **k: lax.broadcast_in_dim(X[0], (2, 4), (1,), **k), X[[0, 0]]),
    "lax.broadcasted_iota": (
        lambda **k: lax.broadcasted_iota("int32", (2, 4), 1, **k), np.arange(8).reshape(2, 4) % 4,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "expected"), CALLS.values(), ids=CALLS)
def test_out_sharding(call, expected):
    out = call(out_sharding=TILES)
    assert out.sharding == TILES
    np.testing.assert_array_equal(out, expected)


def test_out_sharding_in_a_program():
    outs = xc.jit(lambda: [call(out_sharding=TILES) for call, _ in CALLS.values()])()
    for out, (_, expected) in zip(outs, CALLS.values(), strict=True):
        assert out.sharding == TILES
        np.testing.assert_array_equal(out, expected)


def test_out_sharding_of_vectors():
    rows = xc.NamedSharding(MESH, xc.P("a"))
    with xc.set_mesh(MESH):
        outs = [
            xnp.arange(8, out_sharding=xc.P("a")), xnp.ravel(X, out_sharding=xc.P("a")),
            xnp.bincount(np.arange(4), out_sharding=xc.P("a")),
        ]  # fmt: skip
    assert [out.sharding for out in outs] == [rows] * 3
    assert xnp.array(
        [1.0, 2.0], ndmin=2, out_sharding=xc.NamedSharding(MESH, xc.P(None, "a"))
    ).shape == (1, 2)
    assert xnp.matmul(X, Y, out_sharding=xc.devices()[2]).devices() == {xc.devices()[2]}


def test_devices_in_programs():
    """A sharding steers the compiler; one device is the program's own."""
    spread, alone = xc.jit(
        lambda: (xnp.zeros((2, 4), device=TILES), xnp.eye(2, device=xc.devices()[1]))
    )()
    assert spread.sharding == TILES and alone.sum() == 2


def test_derivatives_and_lanes_pass_through():
    total = lambda x: xnp.matmul(x, Y, out_sharding=TILES).sum()
    np.testing.assert_array_equal(xc.grad(total)(X), 2 * np.ones_like(X))
    lanes = xc.vmap(lambda x: xnp.matmul(x, Y, out_sharding=TILES))(np.stack([X, X]))
    np.testing.assert_array_equal(lanes[1], X @ Y)


ERRORS = {
    "device and sharding": (lambda: xnp.zeros(4, device=xc.devices()[0], out_sharding=TILES), ValueError, "one of"),
    "no sharding": (lambda: xnp.matmul(X, Y, out_sharding="a"), TypeError, "matmul.*sharding.*'a'"),
    "no mesh": (lambda: xnp.dot(X, Y, out_sharding=xc.P("a")), ValueError, "needs a mesh"),
    "uneven": (lambda: xnp.zeros((3, 2), out_sharding=TILES), ValueError, "3.*2 equal parts"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), ERRORS.values(), ids=ERRORS)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
