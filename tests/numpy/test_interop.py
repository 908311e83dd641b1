"""Arrays beside those of other libraries: NumPy, PyTorch, SciPy, matplotlib; copies and pickles."""

import copy
import operator
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp

X = np.arange(6, dtype=np.float32).reshape(2, 3)
OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.pow,
    operator.mod,
    operator.lt,
    operator.eq,
]


@pytest.mark.parametrize("op", OPERATORS)
def test_numpy_arrays_in_operators(op):
    x, y = xnp.asarray(X + 1), X[0] + 1
    for got, want in (
        (op(x, y), op(X + 1, y)),
        (op(y, x), op(y, X + 1)),
        (op(np.float32(2), x), op(np.float32(2), X + 1)),
    ):
        assert isinstance(got, xc.Array) and got.dtype == want.dtype
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6)


def test_numpy_dtypes_take_part_in_promotion():
    x = xnp.ones(3, "float32")
    assert (x + np.ones(3)).dtype == "float64" and (np.ones(3, np.float16) + x).dtype == "float32"
    assert (x * np.float64(2)).dtype == "float64" and (x * 2.0).dtype == "float32"
    assert isinstance(X @ x, xc.Array) and isinstance(x @ X.T, xc.Array)


def test_numpy_arrays_in_jit():
    f = xc.jit(lambda x, y: {"sum": x + y, "rest": xnp.asarray(X) @ x})
    got = f(X[0], xnp.asarray(X))
    np.testing.assert_array_equal(np.asarray(got["sum"]), X[0] + X)
    np.testing.assert_array_equal(np.asarray(got["rest"]), X @ X[0])
    constant = np.arange(3.0, dtype=np.float32)
    assert xc.grad(lambda x: (x * constant).sum())(X[0]).tolist() == constant.tolist()
    assert xc.vmap(lambda row: row @ constant)(X).tolist() == (X @ constant).tolist()


def test_numpy_functions_take_our_arrays():
    x = xnp.asarray(X)
    assert np.asarray(x).base is not None or np.asarray(x) is not X
    np.testing.assert_array_equal(np.concatenate([x, X]), np.concatenate([X, X]))
    np.testing.assert_array_equal(np.array(x, dtype=np.float64), X.astype(float))
    assert np.linalg.norm(x) == np.linalg.norm(X) and np.stack([x, x]).shape == (2, 2, 3)
    assert [float(v) for v in x[0]] == [0, 1, 2] and list(range(4))[xnp.asarray(2)] == 2
    np.testing.assert_array_equal(X[xnp.asarray([1, 0])], X[[1, 0]])


def test_views_of_our_memory_are_read_only():
    view = np.asarray(xnp.asarray(X))
    with pytest.raises(ValueError, match="read-only"):
        view[0, 0] = 7
    theirs = X.copy()
    ours = xnp.asarray(theirs)
    theirs[0, 0] = 99
    assert ours[0, 0] == 0


# DLPack

DTYPES = "bool int8 uint8 int32 int64 float16 float32 float64 complex64".split()


@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_with_numpy(dtype):
    x = (np.arange(6).reshape(2, 3) % 3).astype(dtype)
    ours = xnp.from_dlpack(x)
    assert ours.dtype == dtype and ours.tolist() == x.tolist()
    back = np.from_dlpack(xnp.asarray(x, device=xc.devices("cpu")[0]))  # NumPy sees no other memory
    assert back.dtype == dtype and back.tolist() == x.tolist()
    again = xnp.from_dlpack(ours, device=ours.device, copy=True)
    assert again.tolist() == x.tolist() and again.device == ours.device
    assert ours.__dlpack_device__() == (1, 0)


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "bfloat16"])
def test_dlpack_with_torch(dtype):
    torch = pytest.importorskip("torch")
    theirs = torch.arange(6).reshape(2, 3).to(getattr(torch, dtype))
    ours = xnp.from_dlpack(theirs)
    assert ours.dtype.name == dtype and ours.tolist() == theirs.tolist()
    back = torch.from_dlpack(ours * 2)
    assert back.dtype == theirs.dtype and back.tolist() == (theirs * 2).tolist()
    assert xnp.from_dlpack(theirs.T.contiguous()).shape == (3, 2)


# SciPy


def test_scipy_functions_that_speak_the_array_api():
    script = Path(__file__).with_name("scipy_calls.py")
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=600, cwd=root,
        env=os.environ | {"PYTHONPATH": str(root), "SCIPY_ARRAY_API": "1", "XCORE_DEFAULT_BITS": "64"}
        | {"XCORE_DISABLE_MOST_OPTIMIZATIONS": "1"},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout == "", run.stdout


# Matplotlib


def test_matplotlib_plots_arrays(tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    x = xnp.linspace(0, 1, 20)
    figure, axes = pyplot.subplots(2, 2)
    (line,) = axes[0, 0].plot(x, xnp.sin(x))
    np.testing.assert_allclose(line.get_ydata(), np.sin(np.linspace(0, 1, 20)), rtol=1e-5)
    axes[0, 0].scatter(x, x**2, c=x)
    axes[0, 0].errorbar(x, x, yerr=x * 0.1)
    axes[0, 1].imshow(xnp.outer(x, x))
    axes[1, 0].hist(x, bins=np.linspace(0, 1, 5))
    axes[1, 0].bar(xnp.arange(3), xnp.arange(3))
    axes[1, 1].contourf(*xnp.meshgrid(x, x), xnp.outer(x, x))
    axes[1, 1].fill_between(x, x, 2 * x)
    figure.savefig(tmp_path / "plot.png")
    pyplot.close(figure)
    assert (tmp_path / "plot.png").stat().st_size > 1000


# Copies and pickles

VALUES = [
    X,
    np.float32(2.5),
    np.zeros((0, 3)),
    np.array([True, False]),
    np.array([1 + 2j]),
    xnp.ones(3, "bfloat16"),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda v: f"{v.dtype}{list(v.shape)}")
def test_pickle_and_deepcopy(value):
    x = xnp.asarray(value)
    for other in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
        assert type(other) is type(x) and other.dtype == x.dtype and other.shape == x.shape
        assert np.asarray(other).tobytes() == np.asarray(x).tobytes()
    tree = copy.deepcopy({"a": [x, 1], "b": x})
    assert tree["a"][0] is tree["b"] and tree["b"] is not x


def test_pickle_keeps_weakness():
    x = xnp.asarray(2.5)
    assert x.weak_type and pickle.loads(pickle.dumps(x)).weak_type == x.weak_type


class Held:
    """A class of somebody's own that stands for an array, as parameters of libraries do."""

    def __init__(self, value):
        self.value = value

    def __jax_array__(self):
        return self.value


@xc.tree_util.register_pytree_node_class
class HeldNode(Held):
    """The same as a node of trees."""

    def tree_flatten(self):
        return (self.value,), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


@pytest.mark.parametrize("kind", [Held, HeldNode])
def test_classes_that_stand_for_arrays(kind):
    w, x = xnp.asarray([[1.0, 2.0], [3.0, 4.0]]), xnp.ones((3, 2))
    calls = [
        lambda w: x @ kind(w), lambda w: xnp.sin(kind(w)), lambda w: xnp.dot(x, kind(w)),
        lambda w: xnp.where(w > 2, kind(w), 0), lambda w: xc.lax.add(kind(w), w), lambda w: w * kind(w),
        lambda w: xnp.sum(kind(w), axis=0), lambda w: xnp.concatenate([kind(w), w]), lambda w: xnp.asarray(kind(w)),
    ]  # fmt: skip
    plain = [
        lambda w: x @ w, xnp.sin, lambda w: xnp.dot(x, w), lambda w: xnp.where(w > 2, w, 0),
        lambda w: w + w, lambda w: w * w, lambda w: w.sum(0), lambda w: xnp.concatenate([w, w]), lambda w: w,
    ]  # fmt: skip
    for f, g in zip(calls, plain, strict=True):
        want = np.asarray(g(w))
        for way in (lambda f: f, xc.jit, lambda f: lambda w: xc.vmap(f)(w[None])[0]):
            for _ in range(3):
                np.testing.assert_allclose(way(f)(w), want, rtol=1e-6)
        grads = [np.asarray(xc.grad(lambda w, h=h: xnp.sum(h(w)))(w)) for h in (f, g)]
        np.testing.assert_allclose(*grads, rtol=1e-6)
