"""Arrays on the host: what arrives, that it is no copy, and that reading it imports nothing."""

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore._backend import client

DTYPES = ["bool", "int8", "uint64", "float16", "float32", "complex128"]
SMALL = [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]


@pytest.mark.parametrize("dtype", [*DTYPES, *SMALL])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 3)], ids=str)
def test_round_trip(dtype, shape):
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    got = client.to_host(xnp.asarray(x)._buffer())
    assert got.dtype == x.dtype and got.shape == shape and not got.flags.writeable
    np.testing.assert_array_equal(got, x)


def test_a_view_outlives_its_array():
    x = xnp.arange(1000.0) + 1
    view = client.to_host(x._buffer())
    assert view.ctypes.data == x._buffer().unsafe_buffer_pointer()
    del x
    np.testing.assert_array_equal(view, np.arange(1000.0) + 1)


def test_reading_waits():
    f = xc.jit(lambda x: (x @ x) @ x)
    x = xnp.ones((400, 400))
    f(x)
    np.testing.assert_array_equal(client.to_host(f(x)._buffer()), 160_000)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_knows_shape_and_dtype(dtype):
    x = np.arange(6).reshape(2, 3).astype(dtype)
    got = xnp.from_dlpack(x)
    assert got.shape == (2, 3) and got.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(got), x)
    np.testing.assert_array_equal(np.asarray(xnp.from_dlpack(x.T)), x.T)


def test_a_deleted_array_says_so():
    x = xnp.ones(3) + 1
    x.delete()
    with pytest.raises(client.RuntimeFailure, match="deleted"):
        client.to_host(x._buffer())


_READING = """
import sys, numpy as np, ml_dtypes
import xcore as xc, xcore.numpy as xnp
x = xnp.ones(3)
print(xnp.from_dlpack(np.ones((2, 3))), np.from_dlpack(x))
print(np.asarray(x + 1), float((x > 0).all()), x.astype("bfloat16"), xc.jit(lambda x: (x, x))(x))
assert "jax" not in sys.modules and None not in sys.modules.values()
"""


def test_reading_imports_no_jax():
    subprocess.run([sys.executable, "-c", _READING], check=True, timeout=300)


_SHARDS = """
import sys, numpy as np
from jaxlib import xla_client as xla
from xcore._backend import client
devices = tuple(client.client("cpu").devices())
class Type: shape, dtype, ndim, size, weak_type = (2, 4), np.dtype("f4"), 2, 8, False
spread = client.Spread(devices, xla.HloSharding.iota_tile((2, 1)))
x = client.put_sharded(Type(), spread, [np.ones((1, 4), "f4"), np.zeros((1, 4), "f4")], devices)
print([client.to_host(b) for b in client.shards(x)])
assert "jax" not in sys.modules
"""


def test_shards_import_no_jax():
    subprocess.run(
        [sys.executable, "-c", _SHARDS], check=True, timeout=300,
        env={"XCORE_NUM_CPU_DEVICES": "2", "PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
