"""Small values on the host: NumPy's calls have the bits of the compiled programs."""

import ctypes
import itertools
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import _ops as ops
from xcore import lax
from xcore._core import host
from xcore._core.fused import fused
from xcore._core.types import typeof
from xcore.numpy._promote import as_array

pytestmark = pytest.mark.skipif(not host.ENABLED, reason="XCORE_HOST_CALLS=0")

FLOATS = "float32", "float64"
K = xnp.asarray([5, 0, -3])
SPECIAL = [0.0, -0.0, 1.0, -1.5, 2.5, np.nan, -np.nan, np.inf, -np.inf, 3.0, 0.1]


def bits(x):
    value = np.asarray(x)
    return value.shape, value.dtype, value.tobytes()


def values(dtype, seed, n=16):
    """Numbers of all kinds: ordinary ones, or of any exponent, or special ones."""
    rng, dtype = np.random.default_rng(seed), np.dtype(dtype)
    if dtype == bool:
        return rng.integers(0, 2, n).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        extremes = [info.min, info.max, 0, 1, info.max - 1, info.min + 1]
        return np.where(
            rng.random(n) < 0.5, rng.choice(extremes, n), rng.integers(-100, 100, n)
        ).astype(dtype)
    info = np.finfo(dtype)
    wide = rng.normal(size=n) * 2.0 ** rng.integers(info.minexp - 30, info.maxexp - 1, n)
    tame = rng.normal(size=n) * 2.0 ** rng.integers(info.minexp // 2, info.maxexp // 2, n)
    zeros = rng.choice([0.0, -0.0, 0.3, -0.3, 1.0, -2.5], n)
    pools = [zeros, rng.normal(size=n), wide, tame, rng.choice([*SPECIAL, info.tiny, info.tiny / 2, info.max], n),
             rng.integers(-3, 4, n).astype(float)]  # fmt: skip
    with np.errstate(all="ignore"):
        return pools[seed % 6].astype(dtype)


UNARY = {
    "neg": lambda x: -x, "abs": abs, "sign": xnp.sign, "floor": xnp.floor, "ceil": xnp.ceil, "rint": xnp.rint,
    "isfinite": xnp.isfinite, "isnan": xnp.isnan, "invert": lambda x: ~x, "square": xnp.square,
    "reshape": lambda x: x.reshape(4, -1), "transpose": lambda x: xnp.transpose(x.reshape(4, -1)),
    "flip": xnp.flip, "roll": lambda x: xnp.roll(x, 3), "stride": lambda x: x[::3], "new": lambda x: x[None],
    "sum": lambda x: x.sum(), "prod": lambda x: x.prod(), "max": lambda x: x.max(), "min": lambda x: x.min(),
    "max0": lambda x: x.reshape(4, -1).max(0), "any": lambda x: x.any(), "all": lambda x: x.all(),
    "argmax": lambda x: x.argmax(), "argmin1": lambda x: x.reshape(4, -1).argmin(1), "cumsum": xnp.cumsum,
    "spread": lambda x: xnp.broadcast_to(x, (2, x.size)), "tile": lambda x: xnp.tile(x, 2), "diff": xnp.diff,
    "expand": lambda x: xnp.expand_dims(x, 1), "clip": lambda x: xnp.clip(x, 0, 1), "x*2": lambda x: x * 2,
    "2-x": lambda x: 2 - x, "x>0": lambda x: x > 0, "x==1": lambda x: x == 1, "1/x": lambda x: 1 / x,
    "x/3": lambda x: x / 3, "x/0": lambda x: x / 0, "x*0.": lambda x: x * -0.0, "x//2": lambda x: x // 2,
    "max0.": lambda x: xnp.maximum(x, 0.0), "min-0.": lambda x: xnp.minimum(x, -0.0), "x*1e-30": lambda x: x * 1e-30,
    "x+1e300": lambda x: x + 1e300, "x*nan": lambda x: x * float("nan"), "x*2+1": lambda x: x * 2 + 1,
    "fix": xnp.fix, "sort": xnp.sort, "sort0": lambda x: xnp.sort(x.reshape(4, -1), axis=0), "argsort": xnp.argsort,
    "argsort1": lambda x: xnp.argsort(x.reshape(4, -1)), "descending": lambda x: xnp.argsort(x, descending=True),
    "cumprod": xnp.cumprod, "back": lambda x: lax.cumsum(x.reshape(4, -1), axis=1, reverse=True), "u8": lambda x: x.astype(xnp.uint8),
    "u64": lambda x: x.astype(xnp.uint64), "i64": lambda x: x.astype(xnp.int64), "f16": lambda x: x.astype(xnp.float16),
    "x[k]": lambda x: x[K], "x[k] beyond": lambda x: x[K + 10], "x[mask]": lambda x: x[x > 0], "x[list]": lambda x: x[[0, -1]],
    "x[:, k]": lambda x: x.reshape(4, -1)[:, K % 4], "x[k, None, k]": lambda x: x.reshape(4, -1)[K % 4, None, K % 4],
    "x[array]": lambda x: x[np.array([3, 1])], "x[0-d]": lambda x: x[K[1]], "lax.neg": lambda x: lax.neg(x),
    "max-0.": lambda x: xnp.maximum(-0.0, x), "max of -x": lambda x: xnp.maximum(-x, 0.0),
    "clip to zeros": lambda x: xnp.clip(x, -0.0, 0.0), "min1": lambda x: x.reshape(4, -1).min(1),
    "x[3]": lambda x: x[3], "x[-2]": lambda x: x[-2], "x[1:5]": lambda x: x[1:5], "x[5:2]": lambda x: x[5:2],
    "set": lambda x: x.at[2].set(1), "set2": lambda x: x.at[1:4].set(0), "plus": lambda x: x.at[2].add(1),
    "times": lambda x: x.at[1:4].multiply(3), "set_n": lambda x: x.at[1:4].set(x[5:8]),
    "where": lambda x: xnp.where(x > 0, x, 0), "astype": lambda x: x.astype(float), "int": lambda x: x.astype(int),
    "f64": lambda x: x.astype(xnp.float64), "bool": lambda x: x.astype(bool), "i8": lambda x: x.astype(xnp.int8),
}  # fmt: skip
BINARY = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y,
    "max": xnp.maximum, "min": xnp.minimum, "lt": lambda x, y: x < y, "le": lambda x, y: x <= y,
    "eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "ge": lambda x, y: x >= y, "and": lambda x, y: x & y,
    "or": lambda x, y: x | y, "xor": lambda x, y: x ^ y, "stack": lambda x, y: xnp.stack([x, y]),
    "concatenate": lambda x, y: xnp.concatenate((x, y)), "where": lambda x, y: xnp.where(x > y, x, y),
    "outer": lambda x, y: x[:, None] + y, "floordiv": lambda x, y: x // y, "scalar": lambda x, y: x * y[0],
    "wide where": lambda x, y: xnp.where(x > 0, x, y.astype(xnp.float64)),
    "wide stack": lambda x, y: xnp.stack([x, y.astype(xnp.float64)]), "x[y]": lambda x, y: x[y],
    "0-d": lambda x, y: x[0] + y[1], "0-d<": lambda x, y: x[0] < y[1], "set": lambda x, y: x.at[3].set(y[3]),
}  # fmt: skip
DTYPES = (*FLOATS, "int32", "bool", "uint8", "int64")


def outcome(f, *args):
    try:
        return bits(f(*args))
    except (TypeError, ValueError) as e:
        return type(e)


def compare(cases, count, dtypes, seeds):
    """Differences between calls on the host, each made three times, and the compiled ones."""
    kinds = list(itertools.product(cases, dtypes, range(seeds)))
    made = {}
    for name, dtype, seed in kinds:
        given = [xnp.asarray(values(dtype, seed + 6 * i)) for i in range(count)]
        made[name, dtype, seed] = [outcome(cases[name], *given) for _ in range(3)][-1]
    limit, host.LIMIT = host.LIMIT, -1
    xc.clear_caches()
    try:
        for name, dtype, seed in kinds:
            given = [xnp.asarray(values(dtype, seed + 6 * i)) for i in range(count)]
            expected = outcome(cases[name], *given)
            if made[name, dtype, seed] != expected:
                yield name, dtype, seed, made[name, dtype, seed], expected
    finally:
        host.LIMIT = limit
        xc.clear_caches()


@pytest.mark.parametrize(("cases", "count"), [(UNARY, 1), (BINARY, 2)], ids=["unary", "binary"])
def test_bits_are_those_of_compiled_programs(cases, count):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of numbers beyond float32
        assert not list(compare(cases, count, ["float32", "int32", "bool"], 6))


@fused(2)
def _rows(x, s):
    return x[:, None] * ops.reshape(
        ops.broadcast_in_dim(as_array("", s), shape=(4,), dims=()), shape=(4, 1)
    )


@fused(2)
def _all_of_a_number(x, s):
    return ops.convert(
        ops.broadcast_in_dim(as_array("", s), shape=(4,), dims=()), dtype=xnp.float32
    )


@fused(2)
def _sum_of_numbers(x, s):
    s = ops.broadcast_in_dim(as_array("", s), shape=(4,), dims=())
    return ops.add(s, ops.mul(s, s))


@fused(2)
def _number_twice(x, s):
    s = as_array("", s)
    narrow = ops.convert(ops.convert(s, dtype=xnp.uint8), dtype=typeof(s).dtype)
    return ops.concatenate(*[ops.reshape(v, shape=(1,)) for v in (s, narrow)], axis=0)


@fused(2)
def _reversed_number(x, s):
    return x + ops.rev(ops.broadcast_in_dim(as_array("", s), shape=(4,), dims=()), axes=(0,))


@pytest.mark.parametrize(
    "f", [_rows, _all_of_a_number, _sum_of_numbers, _reversed_number, _number_twice]
)
@pytest.mark.parametrize("number", [2.0, 0.0, -0.0, 3, 300])
def test_numbers_that_programs_spread(f, number):
    x = xnp.arange(1.0, 5.0)
    first, *others = [bits(f(x, number)) for _ in range(4)]
    assert others == [first] * 3
    first, *others = [bits(f(x, x[1])) for _ in range(4)]
    assert others == [first] * 3


def on_host(f, *args):
    """Whether the third call of its kind gave a value in NumPy."""
    return [f(*args)._b is None for _ in range(3)][-1]


@pytest.mark.parametrize("name", [
    "neg", "abs", "isfinite", "square", "reshape", "flip", "stride", "new", "max", "argmax", "spread",
    "x*2", "2-x", "x>0", "x/3", "clip", "x[3]", "x[1:5]", "set", "where", "1/x", "int", "i8", "bool", "sort", "argsort",
    "x[k]", "x[mask]", "x[list]", "x[:, k]", "x[array]", "x[0-d]", "lax.neg",
])  # fmt: skip
@pytest.mark.parametrize("dtype", FLOATS)
def test_ordinary_numbers_stay_on_the_host(name, dtype):
    assert on_host(UNARY[name], xnp.arange(1, 17).astype(dtype))


@pytest.mark.parametrize("name", ["sum", "prod", "cumsum", "cumprod", "back", "sort", "f64"])
def test_integers_stay_on_the_host(name):
    assert on_host(UNARY[name], xnp.arange(16))


@pytest.mark.parametrize(
    "name", ["add", "sub", "mul", "div", "max", "lt", "stack", "concatenate", "where", "0-d"]
)
def test_pairs_stay_on_the_host(name):
    x = xnp.arange(1.0, 17.0)
    assert on_host(BINARY[name], x, x)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e-40, 1e30, -3e-20])
def test_numbers_that_are_not_tame_are_computed_by_compiled_programs(value):
    x = xnp.asarray(np.array([1, value], np.float32))
    assert not on_host(lambda x: x * x, x)
    assert not on_host(lambda x: x > 0, x)
    assert on_host(lambda x: x[1:], x), "moving needs no arithmetic"


def test_division_by_zero_gives_no_warning_of_numpy():
    x, zero = xnp.arange(1.0, 4.0), xnp.zeros(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            out = x / zero, x / 0, zero / x
    assert np.isinf(out[0]).all() and np.isinf(out[1]).all() and not np.any(out[2])


def test_large_arrays_and_pending_ones_are_not_waited_for():
    x = xnp.arange(5000.0)
    assert not on_host(lambda x: x + x, x)


def test_a_donated_or_deleted_array_is_gone():
    double = xc.jit(lambda x: x * 2, donate_argnums=0)
    for _ in range(6):  # by all call paths
        x = xnp.arange(4.0) + 1
        assert (x + 1)[0] == 2
        double(x)
        assert x.is_deleted()
        for use in (lambda x: x + x, lambda x: x[0], float, lambda x: x.at[0].set(1.0)):
            with pytest.raises((RuntimeError, TypeError)):
                use(x)
    x = xnp.arange(4.0) + 1
    x.delete()
    assert x.is_deleted()
    with pytest.raises(RuntimeError):
        np.asarray(x)


def test_what_users_get_cannot_be_written_to_and_is_not_shared_with_their_data():
    data = np.arange(3.0, dtype=np.float32)
    x = xnp.asarray(data)
    data[0] = 7
    assert x[0] == 0
    for value in (x, x + x, x[1:], x[1], x.reshape(3, 1)):
        seen = np.asarray(value)
        assert not seen.flags.writeable


def test_what_users_get_stays_as_it_is():
    x = xnp.arange(6.0).reshape(2, 3)
    for value in [(x + 1, x.T, x[:, ::2], x[1], xnp.broadcast_to(x[0], (4, 3))) for _ in range(3)][
        -1
    ]:
        seen = np.asarray(value)
        assert seen.flags.c_contiguous and seen.view(np.uint8).size == value.nbytes
        with pytest.raises(ValueError, match="WRITEABLE"):
            seen.setflags(write=True)
    assert (x[0] == xnp.arange(3.0)).all()


def test_memory_that_others_write_to():
    """Who lends a buffer, or borrows one, may write to it: no value in NumPy stands for it."""
    x = xnp.arange(4.0) + 1
    np.from_dlpack(x + 0)  # lends another
    x[0]
    own = (ctypes.c_float * 4).from_address(x.unsafe_buffer_pointer())
    own[0] = 7
    assert [float(v) for v in (x[0], (x + 0)[0], x.sum())] == [7, 7, 16]
    room = np.zeros(32, np.float32)
    start = -room.ctypes.data % 64 // 4
    data = room[start : start + 4]
    y = xnp.from_dlpack(data)
    assert [float(y[1]) for _ in range(3)] == [0, 0, 0]
    data[1] = 5
    assert float(y[1]) == float((y + 0)[1]) == float(np.asarray(y)[1])


def test_no_warnings_of_numpy():
    big = xnp.asarray([2**31 - 1, -(2**31)])
    odd = xnp.asarray(np.array([0x7FA00001, 1, 0x7F800000, 0xCF800000], np.uint32).view(np.float32))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            big.at[0].add(1), big.at[1].multiply(3), abs(big), big.cumsum(), big.cumprod()
            for dtype in ("int32", "uint8", "int64", "float64", "bool"):
                odd.astype(dtype)
            xnp.stack([odd, odd.astype(xnp.float64)]), xnp.sort(odd)


def test_operations_on_other_devices_stay_there():
    x = xnp.arange(3.0) + 1
    for device in xc.devices()[:2]:
        y = xc.device_put(x, device)
        for f in (
            lax.neg,
            lambda v: v.astype(xnp.int32),
            lambda v: v[::2],
            lambda v: v[K % 2],
            xnp.sort,
        ):
            for _ in range(3):
                assert f(x)._b is None or f(x).device == xc.devices()[0]
                assert f(y).devices() == {device}


def test_transformations_of_eager_calls_find_the_host_too():
    x = xnp.asarray([1.0, 2.0])
    assert [xc.jvp(lambda v: -v[::-1], (x,), (x,))[1] for _ in range(3)][-1]._b is None
    assert (xc.grad(lambda v: (v * v).sum())(x) == 2 * x).all()


def test_values_go_to_programs_and_come_back():
    step = xc.jit(lambda x: x * 2)
    x = xnp.asarray([1.0, 2.0])
    for _ in range(8):
        x = step(x + 1) - 1
    np.testing.assert_array_equal(
        np.asarray(x), [1 * 2**8 + sum(2**k for k in range(8)), 2 * 2**8 + 255]
    )
    y = x + 1
    assert y.block_until_ready() is y and y.is_ready() and not y.is_deleted()
    assert y.on_device_size_in_bytes() == 8 and y.devices() == x.devices()
    assert (xc.grad(lambda x: (x * x).sum())(y) == 2 * y).all()


def test_settings_ask_for_compiled_programs():
    x = xnp.asarray([1.0, 2.0])
    for _ in range(3):
        x + x
    with xc.debug_nans(True), pytest.raises(FloatingPointError):
        (x - x) / (x - x)


def test_it_can_be_turned_off():
    script = "import xcore.numpy as x; y = x.arange(3.0); [y + y for _ in range(3)]; print((y + y)._b is None)"
    env = os.environ | {"XCORE_HOST_CALLS": "0"}
    out = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "False"
