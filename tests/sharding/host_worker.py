"""One process of a program of several on this machine, doing what its first argument names."""

import os
import signal
import sys
import time

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from xcore import lax, multihost
from xcore.sharding import NamedSharding, P

rng = np.random.default_rng(0)
A = rng.standard_normal((8, 8)).astype(np.float32)


def everything():
    n, me = xc.process_count(), xc.process_index()
    assert len(xc.local_devices()) == 2 and len(xc.devices()) == 2 * n
    assert [d.process_index for d in xc.local_devices(process_index=n - 1)] == [n - 1] * 2
    assert multihost.live_processes() == list(range(n))
    assert multihost.live_devices(xc.devices()[1:]) == xc.devices()[1:]
    arrays()
    exchange(n, me)
    training(n)
    mapped(n)
    exported()


def line():
    return xc.make_mesh((len(xc.devices()),), "x")


def arrays():
    s = NamedSharding(line(), P("x"))
    x = xc.device_put(A, s)
    assert not x.is_fully_addressable and len(x.addressable_shards) == 2
    for shard in x.addressable_shards:
        np.testing.assert_array_equal(shard.data, A[shard.index])
    assert sum(g.data is not None for g in x.global_shards) == 2
    assert "sharding=" in repr(x) and str(x) == repr(x)
    try:
        np.asarray(x)
    except RuntimeError as error:
        assert "process_allgather" in str(error)
    np.testing.assert_allclose(float((x * 2 + 1).sum()), (A * 2 + 1).sum(), rtol=1e-5)
    np.testing.assert_array_equal(multihost.process_allgather(x), A)
    moved = xc.device_put(x, NamedSharding(line(), P(None, "x")))  # through collectives
    for shard in moved.addressable_shards:
        np.testing.assert_array_equal(shard.data, A[shard.index])
    rows = 8 // xc.process_count()
    mine = A[rows * xc.process_index() :][:rows]
    y = xc.make_array_from_process_local_data(s, mine)
    np.testing.assert_array_equal(multihost.process_allgather(y), A)
    back = multihost.global_array_to_host_local_array(y, line(), P("x"))
    np.testing.assert_array_equal(back, mine)
    z = multihost.host_local_array_to_global_array({"a": mine}, line(), P("x"))["a"]
    assert z.shape == (8, 8)
    copied = z.copy()
    z.delete()
    np.testing.assert_array_equal(multihost.process_allgather(copied), A)


def exchange(n, me):
    seen = multihost.process_allgather({"i": np.int64(me), "v": np.full(2, me)})
    np.testing.assert_array_equal(seen["i"], np.arange(n))
    np.testing.assert_array_equal(
        multihost.process_allgather(np.full(2, me), tiled=True), np.repeat(np.arange(n), 2)
    )
    mine = {"a": np.array([-0.0, np.nan, me]), "b": np.array([True, me == 0])}
    got = multihost.broadcast_one_to_all(mine, is_source=me == n - 1)
    np.testing.assert_array_equal(got["a"], [-0.0, np.nan, n - 1])
    assert np.signbit(got["a"][0]) and got["b"].tolist() == [True, False]
    multihost.sync_global_devices("here")
    multihost.assert_equal(A)
    try:
        multihost.assert_equal(np.arange(me + 1)[-1:], "as they should")
        raise SystemExit("not noticed")
    except AssertionError as error:
        assert "as they should" in str(error)
    try:
        multihost.sync_global_devices(f"place {min(me, 1)}")
        raise SystemExit("not noticed")
    except RuntimeError as error:
        assert "take the same way" in str(error)


def training(n):
    """A step on rows split over all devices is the step on all rows."""

    def loss(w, rows):
        return (xnp.tanh(rows @ w) ** 2).mean()

    w = rng.standard_normal((8, 4)).astype(np.float32)
    want = w - 0.1 * np.asarray(xc.grad(loss)(xnp.asarray(w), xnp.asarray(A)))
    step = xc.jit(lambda w, rows: w - 0.1 * xc.grad(loss)(w, rows))
    mesh = line()
    rows = xc.device_put(A, NamedSharding(mesh, P("x")))
    shared = xc.device_put(w, NamedSharding(mesh, P()))
    for _ in range(4):
        out = step(shared, rows)
    assert out.is_fully_replicated
    np.testing.assert_allclose(out, want, rtol=1e-4, atol=1e-6)


def mapped(n):
    total = xc.shard_map(lambda v: lax.psum(v.sum(0), "x"), line(), P("x"), P())
    np.testing.assert_allclose(total(A), A.sum(0), rtol=1e-4, atol=1e-5)
    ones = xnp.ones(xc.local_device_count())
    out = xc.pmap(lambda v: lax.psum(v, "i"), axis_name="i")(ones)
    assert out.tolist() == [2.0 * n] * 2


def exported():
    """A function over the devices of all processes: the same file everywhere, and the function's bits."""
    rows, b = NamedSharding(line(), P("x")), A[:, :2]
    f = xc.jit(lambda v: (xnp.tanh(v @ b), (v.T @ v).sum(0)), out_shardings=(rows, None))
    x = xc.device_put(A, rows)
    blob = bytes(xc.export.export(f)(x).serialize())
    multihost.assert_equal(np.frombuffer(blob, np.uint8), "files")
    read = xc.export.deserialize(blob)
    for call in (read.call, xc.jit(read.call)):
        for found, known in zip(call(x), f(x), strict=True):
            np.testing.assert_array_equal(
                multihost.process_allgather(found), multihost.process_allgather(known)
            )
    assert call(x)[0].sharding == rows
    try:
        xc.export.export(xc.jit(lambda v: v + x))(x)
        raise SystemExit("not noticed")
    except ValueError as error:
        assert "held by other processes" in str(error)


def ring():
    """psum and ppermute over four processes."""
    n = len(xc.devices())
    f = xc.jit(xc.shard_map(
        lambda v: (lax.psum(v, "x"), lax.ppermute(v, "x", [(i, (i + 1) % n) for i in range(n)])),
        line(), P("x"), (P(), P("x")),
    ))  # fmt: skip
    total, turned = f(np.arange(n))
    assert total.tolist() == [n * (n - 1) // 2]
    np.testing.assert_array_equal(multihost.process_allgather(turned), np.roll(np.arange(n), 1))


def state():
    mesh = line()
    return {
        "w": xc.device_put(A, NamedSharding(mesh, P("x"))),
        "shared": xc.device_put(A[0], NamedSharding(mesh, P())),
        "local": xnp.arange(3),
        "n": 5,
    }


def saves():
    """Two checkpoints, one in the background."""
    with xc.checkpoint.Checkpointer(FOLDER[0], keep=1) as steps:
        for i in range(2):
            steps.save(i, state())
    assert steps.all_steps() == [1]


def restores():
    """On another number of processes than those that saved."""
    got = xc.checkpoint.Checkpointer(FOLDER[0]).restore(like=state())
    for shard in got["w"].addressable_shards:
        np.testing.assert_array_equal(shard.data, A[shard.index])
    np.testing.assert_array_equal(got["shared"], A[0])
    assert got["n"] == 5 and got["local"].tolist() == [0, 1, 2]


def killed():
    """The last process is killed between two collectives; the others raise."""
    total = xc.jit(xc.shard_map(lambda v: lax.psum(v, "x"), line(), P("x"), P()))
    x = xc.device_put(np.ones(len(xc.devices())), NamedSharding(line(), P("x")))
    total(x).block_until_ready()
    if xc.process_index() == xc.process_count() - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    started = time.monotonic()
    try:
        while time.monotonic() < started + 40:
            total(x).block_until_ready()
    except xc.errors.DistributedError as error:
        print(f"raised: {error}", flush=True)
        os._exit(3)


def summing():
    """A program that needs all processes, and its argument."""
    total = xc.jit(xc.shard_map(lambda v: lax.psum(v, "x"), line(), P("x"), P()))
    return total, xc.device_put(np.ones(len(xc.devices())), NamedSharding(line(), P("x")))


ENDS = {
    "exit": lambda: sys.exit(0),
    "raise": lambda: 1 / 0,
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
}


def ends():
    """One process ends in some way, while the others exchange values, wait for all, or do neither."""
    how, which, what = FOLDER
    total, x = summing()
    float(total(x)[0])
    print("at", time.time(), flush=True)
    if xc.process_index() == int(which):
        time.sleep(0.5)
        print("at", time.time(), flush=True)
        ENDS[how]()
    try:
        while what == "exchange":
            float(total(x)[0])
        if what == "barrier":
            multihost.sync_global_devices("here")
        while True:
            time.sleep(0.1)
    except xc.errors.DistributedError:
        os._exit(3)


def goes_on():
    """The last process ends in order; the others go on without it, for longer than any grace."""
    total, x = summing()
    float(total(x)[0])
    if xc.process_index() == xc.process_count() - 1:
        return
    f = xc.jit(xc.shard_map(lambda v: lax.psum(v, "i"), xc.make_mesh(
        (2,), ("i",), devices=xc.local_devices()), P("i"), P()))  # fmt: skip
    started = time.monotonic()
    while time.monotonic() < started + 5:
        assert float(f(np.ones(2))[0]) == 2


if __name__ == "__main__":
    what, address, count, rank, *FOLDER = sys.argv[1:]
    xc.distributed.initialize(
        address,
        int(count),
        int(rank),
        initialization_timeout=120,
        heartbeat_timeout_seconds=8 if what in ("ends", "goes_on") else 60,
    )
    assert xc.distributed.is_initialized()
    globals()[what]()
    xc.distributed.shutdown()
    print("done", flush=True)
