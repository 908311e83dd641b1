"""Array: content in and out, attributes, text, devices, lifetime."""

import copy
import operator
import pickle
import sys

import ml_dtypes
import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp

DTYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
    *(
        np.dtype(getattr(ml_dtypes, n))
        for n in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "int4")
    ),
]
SHAPES = [(), (0,), (3,), (2, 0), (2, 3), (1, 2, 2)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_round_trips_in_every_dtype_and_shape(dtype):
    for shape in SHAPES:
        value = np.ones(shape).astype(dtype)
        x = xnp.asarray(value)
        assert x.dtype == value.dtype and x.shape == shape and x.size == value.size
        assert x.ndim == value.ndim and x.itemsize == value.itemsize and x.nbytes == value.nbytes
        for again in (
            np.asarray(x),
            np.asarray(pickle.loads(pickle.dumps(x))),
            np.asarray(copy.deepcopy(x)),
        ):
            assert again.dtype == value.dtype and np.array_equal(again, value)


def test_content_is_copied_by_array_and_views_are_read_only():
    source = np.zeros(1024, np.float32)
    x = xnp.array(source)
    source[:] = 1
    assert float(x.sum()) == 0
    view = np.asarray(x)
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1
    np.array(x)[0] = 1  # a copy may be changed


def test_creation_from_python():
    assert xnp.asarray([[1, 2], [3, 4]]).dtype == np.int32
    assert xnp.asarray([1, 2.5]).dtype == np.float32 and xnp.asarray(True).dtype == bool
    assert xnp.asarray([xnp.ones(2), xnp.zeros(2)]).shape == (2, 2)
    assert xnp.asarray(np.float64(1.5)).dtype == np.float64  # NumPy's dtypes are kept
    with xc.enable_x64():
        assert xnp.asarray([1, 2.5]).dtype == np.float64 and xnp.arange(3).dtype == np.int64
    for bad in (["a"], [object()], np.asarray(["a"]), np.zeros(2, "M8[s]")):
        with pytest.raises(TypeError):
            xnp.asarray(bad)


def test_big_endian_and_strided_sources():
    assert np.array_equal(xnp.asarray(np.arange(3, dtype=">f4")), [0, 1, 2])
    grid = np.arange(12.0).reshape(3, 4)
    assert np.array_equal(xnp.asarray(grid.T[::2]), grid.T[::2])
    assert np.array_equal(xnp.asarray(np.asfortranarray(grid)), grid)


@pytest.mark.parametrize(
    "value, text",
    [
        ([1.0, 2.0], "Array([1., 2.], dtype=float32)"),
        ([[1, 2], [3, 4]], "Array([[1, 2],\n       [3, 4]], dtype=int32)"),
        (3.0, "Array(3., dtype=float32, weak_type=True)"),
        (np.int8(3), "Array(3, dtype=int8)"),
        (np.zeros((0,), np.float32), "Array([], dtype=float32)"),
        (np.zeros((2, 0), np.float32), "Array([], shape=(2, 0), dtype=float32)"),
        ([True], "Array([ True], dtype=bool)"),
    ],
)
def test_repr(value, text):
    assert repr(xnp.asarray(value)) == text


def test_str_and_format_are_numpys():
    x = xnp.asarray([1.0, 2.0])
    assert str(x) == "[1. 2.]" and f"{x[0]:.3f}" == "1.000" and f"{xnp.asarray(3)}" == "3"


def test_python_conversions():
    x = xnp.asarray(2.5)
    assert float(x) == 2.5 and int(x) == 2 and complex(x) == 2.5 and bool(x) and x.item() == 2.5
    assert [0, 1, 2][xnp.asarray(1)] == 1 and list(range(xnp.asarray(3))) == [0, 1, 2]
    assert xnp.arange(4).tolist() == [0, 1, 2, 3] and xnp.arange(4).item(2) == 2
    assert [int(v) for v in xnp.arange(3)] == [0, 1, 2] and len(xnp.ones((4, 2))) == 4
    assert 2 in xnp.arange(3) and 5 not in xnp.arange(3)
    for call in (
        lambda: len(x),
        lambda: iter(x),
        lambda: int(xnp.ones(2)),
        lambda: [1][xnp.ones(1)],
        lambda: [1][x],
    ):
        with pytest.raises(TypeError):
            call()


def test_mixing_with_numpy():
    x, a = xnp.arange(3.0), np.arange(3.0, dtype=np.float32)
    for out in (a + x, x + a, a * x, np.float32(2) * x, a < x, a @ x):
        assert isinstance(out, xc.Array)
    assert isinstance(np.sin(x), np.ndarray) and np.allclose(np.sin(x), np.sin(a))
    assert np.allclose(np.concatenate([a, x]), [0, 1, 2, 0, 1, 2])
    assert (x == None) is False  # noqa: E711
    with pytest.raises(TypeError):
        x + "text"
    with pytest.raises(TypeError):
        operator.add(x, [1, 2, 3])


def test_dlpack_shares_memory_both_ways():
    x = xnp.arange(16.0)
    view = np.from_dlpack(x)
    assert view.ctypes.data == x.unsafe_buffer_pointer() and np.array_equal(view, x)
    back = xnp.from_dlpack(x)
    assert back.unsafe_buffer_pointer() == x.unsafe_buffer_pointer()
    transposed = np.arange(6.0).reshape(2, 3).T
    assert np.array_equal(xnp.from_dlpack(transposed), transposed)


def test_delete_and_readiness():
    x = xnp.ones(3)
    assert x.block_until_ready() is x and x.is_ready() and not x.is_deleted()
    x.delete()
    assert x.is_deleted() and "deleted" in repr(x)
    for use in (lambda: x + 1, lambda: np.asarray(x), lambda: x[0], lambda: xc.jit(lambda v: v)(x)):
        with pytest.raises(RuntimeError, match="no longer has a buffer"):
            use()


# Devices


def test_devices_and_placement():
    first, second = xc.devices()[:2]
    x = xnp.arange(3.0)
    assert x.device == first and x.devices() == {first} and not x.committed
    y = xc.device_put(x, second)
    assert y.device == second and y.committed and isinstance(y.sharding, xc.SingleDeviceSharding)
    for out in (
        y + 1,
        x + y,
        xnp.sin(y),
        y[1:],
        xc.jit(lambda a, b: a @ b)(x, y),
        xc.grad(lambda a: (a * y).sum())(x),
    ):
        assert out.device == second
    assert np.array_equal(x + y, [0, 2, 4])
    with pytest.raises(ValueError, match="different devices"):
        y + xc.device_put(x, xc.devices()[2])
    with xc.default_device(second):
        assert xnp.ones(2).device == second and xnp.asarray([1.0]).device == second
        assert (xnp.ones(2) * 2).device == second
    assert xnp.ones(2).device == first


def test_device_put_and_get_of_trees():
    tree = {"a": np.ones(2, np.float32), "b": [1, 2.5]}
    put = xc.device_put(tree, xc.devices()[1])
    assert put["a"].device == put["b"][1].device == xc.devices()[1]
    got = xc.device_get(put)
    assert isinstance(got["a"], np.ndarray) and got["b"][1] == 2.5
    with pytest.raises(TypeError, match="device_put"):
        xc.device_put(1.0, 3)
    with pytest.raises(RuntimeError, match="no backend"):
        xc.devices("tpu")


def test_out_of_memory_is_explained():
    with pytest.raises(MemoryError, match=r"(?s)ran out of memory.*donate"):
        x = xnp.ones(2**22)
        (x[:, None] + x).block_until_ready()


def test_what_counts_as_an_array():
    assert isinstance(xnp.ones(2), xc.Array) and isinstance(xc.random.key(0), xc.Array)
    assert not any(isinstance(x, xc.Array) for x in (np.ones(2), 1.0, None, [xnp.ones(2)]))
    for transform in (xc.jit, xc.vmap, xc.grad, xc.checkpoint):
        transform(lambda x: check_is_traced_array(x) or x.sum())(xnp.ones(2))


def check_is_traced_array(x):
    assert isinstance(x, xc.Array) and isinstance(x, xc.core.Tracer) and type(x) is not xc.Array


def _memory(x, flags=0):
    """What ``memoryview(x)`` asks for, from Python 3.12 on."""
    return memoryview(x) if sys.version_info >= (3, 12) and not flags else x.__buffer__(flags)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "complex128"])
def test_a_memoryview_reads_the_array(dtype, shape):
    x = xnp.asarray(np.full(shape, 3, np.dtype(dtype, copy=True)))  # copies are not "built in"
    view = _memory(x)
    assert view.readonly
    read = np.asarray(view)
    assert read.dtype == np.dtype(dtype) and read.shape == shape
    np.testing.assert_array_equal(read, np.full(shape, 3, dtype))
    held = np.asarray(_memory(xnp.full(shape, 3, dtype)))  # the memory lives as long as the view
    np.testing.assert_array_equal(held, read)


@pytest.mark.parametrize("dtype", ["bfloat16", "int4", "float8_e5m2"])
def test_what_python_has_no_buffers_of(dtype):
    x = xnp.ones(2, dtype)
    with pytest.raises(BufferError, match="no buffers of"):
        _memory(x)
    assert np.asarray(x).dtype == x.dtype


def test_memory_is_not_for_writing_or_gone():
    x = xnp.ones(2)
    with pytest.raises(BufferError, match=r"np.array\(x\) is a copy"):
        _memory(x, flags=1)
    x.delete()
    with pytest.raises(xc.errors.DeletedError):
        _memory(x)
