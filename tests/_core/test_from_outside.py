"""NumPy arrays in the other byte order and with masks, by every door: the right numbers, or words; never others."""

import io

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax
from xcore.sharding import NamedSharding, P

if xc.device_count() < 4:
    pytest.skip("needs four devices", allow_module_level=True)

MESH = xc.make_mesh((4,), ("a",), devices=xc.devices()[:4])
ROWS = NamedSharding(MESH, P("a"))
ONES = np.ones(4, np.float32)
SHAPE = xc.ShapeDtypeStruct((4,), np.float32)
GIVEN = np.array([1.0, -2.5, 3e5, 0.125], np.float32)

DOORS = {  # name -> (function of the array, what it gives)
    "asarray": (xnp.asarray, lambda a: a),
    "device_put": (xc.device_put, lambda a: a),
    "device_put on a device": (lambda a: xc.device_put(a, xc.devices()[1]), lambda a: a),
    "device_put over devices": (lambda a: xc.device_put(a, ROWS), lambda a: a),
    "make_array_from_callback": (lambda a: xc.make_array_from_callback((4,), ROWS, lambda i: a[i]), lambda a: a),
    "the same, on one": (lambda a: xc.make_array_from_callback((4,), xnp.ones(4).sharding, lambda i: a[i]), lambda a: a),
    "make_array_from_process_local_data": (lambda a: xc.make_array_from_process_local_data(ROWS, a), lambda a: a),
    "the same on one": (lambda a: xc.make_array_from_process_local_data(xnp.ones(4).sharding, a), lambda a: a),
    "jit": (lambda a: xc.jit(lambda x: x + 1)(a), lambda a: a + 1),
    "a tree": (lambda a: xc.jit(lambda d: d["a"] + 0)({"a": a}), lambda a: a),
    "a constant": (lambda a: xc.jit(lambda: a * xnp.ones(4))(), lambda a: a),
    "an operation": (lambda a: xnp.ones(4) + a, lambda a: a + 1),
    "an operation of NumPy": (lambda a: a + xnp.ones(4), lambda a: a + 1),
    "lax": (lambda a: lax.add(a, a), lambda a: a + a),
    "vmap": (lambda a: xc.vmap(lambda x: x + 1)(a), lambda a: a + 1),
    "grad": (lambda a: xc.grad(lambda x: (x * x).sum())(a), lambda a: 2 * a),
    "jvp": (lambda a: xc.jvp(lambda x: 2 * x, (ONES,), (a,))[1], lambda a: 2 * a),
    "vjp": (lambda a: xc.vjp(lambda x: 2 * x, ONES)[1](a)[0], lambda a: 2 * a),
    "scan": (lambda a: lax.scan(lambda c, x: (c + x, x), 0.0, a)[1], lambda a: a),
    "the start of a scan": (lambda a: lax.scan(lambda c, x: (c, x), a, ONES)[0], lambda a: a),
    "a branch": (lambda a: lax.cond(True, lambda x: x + 0, lambda x: x, a), lambda a: a),
    "a loop": (lambda a: lax.fori_loop(0, 1, lambda i, c: c, a), lambda a: a),
    "at": (lambda a: xnp.zeros(4).at[:].set(a), lambda a: a),
    "pmap": (lambda a: xc.pmap(lambda x: x + 0)(a), lambda a: a),
    "shard_map": (lambda a: xc.shard_map(lambda x: x + 0, mesh=MESH, in_specs=P("a"), out_specs=P("a"))(a), lambda a: a),
    "a callback": (lambda a: xc.pure_callback(lambda: a, SHAPE), lambda a: a),
    "a compiled callback": (lambda a: xc.jit(lambda: xc.pure_callback(lambda: a, SHAPE))(), lambda a: a),
    "a compiled program": (lambda a: xc.jit(lambda x: x + 0).lower(SHAPE).compile()(a), lambda a: a),
    "an exported program": (lambda a: xc.export.export(xc.jit(lambda x: x + 0))(SHAPE).call(a), lambda a: a),
    "stack": (lambda a: xnp.stack([a, a])[1], lambda a: a),
    "ravel_pytree": (lambda a: xc.flatten_util.ravel_pytree({"a": a})[0], lambda a: a),
    "a sparse matrix": (lambda a: xc.sparse.diags([a]).diagonal(), lambda a: a),
}  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
def test_the_other_byte_order(door):
    enter, expected = DOORS[door]
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(np.asarray(enter(GIVEN.astype(">f4"))), expected(GIVEN))


@pytest.mark.parametrize("door", DOORS)
def test_masks_are_not_dropped(door):
    enter, _ = DOORS[door]
    with pytest.raises((TypeError, ValueError, RuntimeError), match="mask"):
        enter(np.ma.array(GIVEN, mask=[0, 1, 0, 0]))


@pytest.mark.parametrize("dtype", [">f4", ">f8", ">i2", ">u8", ">c8", np.dtype(">i4")])
def test_bytes_of_the_other_order(dtype, tmp_path):
    values = np.arange(5).astype(dtype)
    (tmp_path / "raw").write_bytes(values.tobytes())
    for got in (
        xnp.frombuffer(values.tobytes(), dtype),
        xnp.fromfile(tmp_path / "raw", dtype),
        xnp.fromiter(range(5), dtype),
        xnp.fromstring("0 1 2 3 4", dtype, sep=" ") if np.dtype(dtype).kind != "c" else values,
    ):
        np.testing.assert_array_equal(np.asarray(got), values)
        assert np.asarray(got).dtype == values.dtype.newbyteorder("=") or got is values


def test_what_files_of_numpy_cannot_hold_is_refused():
    for x in (xnp.ones(3, "float8_e4m3fn"), xnp.ones(3, "int4")):
        for save in (xnp.save, xnp.savez):
            with pytest.raises(xc.errors.ArgumentError, match=r"checkpoint\.save keeps all dtypes"):
                save(io.BytesIO(), x)
    file = io.BytesIO()
    xnp.save(file, xnp.ones(3, "bfloat16"))
    file.seek(0)
    assert xnp.load(file).dtype == xnp.bfloat16
