"""One process of a cluster on this machine, doing what its first argument names."""

import os
import signal
import sys
import time

import numpy as np
from jaxlib import xla_client as xla
from jaxlib.mlir import ir

from xcore._backend import client, cluster, hlo, options

# psum over one device in each of {n} processes.
_ALL_REDUCE = """
module @psum attributes {{mhlo.num_partitions = {n} : i32, mhlo.num_replicas = 1 : i32}} {{
  sdy.mesh @mesh = <["x"={n}]>
  func.func public @main(
      %x: tensor<{n}x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}})
      -> (tensor<{n}x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}) {{
    %r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{"x"}}, {{}}]>]
        out_shardings=[<@mesh, [{{"x"}}, {{}}]>] manual_axes={{"x"}} (%s: tensor<1x4xf32>) {{
      %o = "stablehlo.all_reduce"(%s) ({{
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %z = stablehlo.add %p, %q : tensor<f32>
          stablehlo.return %z : tensor<f32>
      }}) {{replica_groups = dense<[{group}]> : tensor<1x{n}xi64>, use_global_device_ids,
           channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}}
        : (tensor<1x4xf32>) -> tensor<1x4xf32>
      sdy.return %o : tensor<1x4xf32>
    }} : (tensor<{n}x4xf32>) -> tensor<{n}x4xf32>
    return %r : tensor<{n}x4xf32>
  }}
}}
"""


class Global:
    """The type of an array with a row in each process."""

    dtype, weak_type, ndim = np.dtype("float32"), False, 2

    def __init__(self, n):
        self.shape, self.size = (n, 4), 4 * n


class Psum:
    """Adds up an array of four numbers over the processes."""

    def __init__(self, joined):
        runtime = xla.make_cpu_client(asynchronous=True, num_devices=1, **joined.cpu_options())
        self.devices, self.local = tuple(runtime.devices()), runtime.local_devices()[0]
        n = joined.num_processes
        assert len(self.devices) == n
        self.type = Global(n)
        self.sharding = client.Spread(self.devices, xla.HloSharding.iota_tile((n, 1)))
        flags = options.compile_options(self.devices, partitions=n)
        builder = hlo.Builder("cpu")
        module = ir.Module.parse(_ALL_REDUCE.format(n=n, group=list(range(n))))
        loaded = runtime.compile_and_load(module, client.DeviceList(self.devices), flags)
        builder.close()
        self.run = client.Executable(loaded, [self.type], [self.sharding], self.devices)

    def __call__(self, row):
        row = np.asarray(row, np.float32)[None]
        given = client.put_sharded(self.type, self.sharding, [row], [self.local])
        (result,) = self.run([given])
        return client.to_host(client.shards(result)[0])[0]


def psum(joined):
    result = Psum(joined)(np.arange(4) + 10 * joined.process_id)
    n = joined.num_processes
    np.testing.assert_array_equal(result, n * np.arange(4) + 10 * sum(range(n)))


def dictionary(joined):
    me, n = joined.process_id, joined.num_processes
    joined.set(f"from {me}", bytes([me, 0, 255]))
    for other in range(n):
        assert joined.get(f"from {other}", 20) == bytes([other, 0, 255])
    joined.barrier("all are here", 20)
    if me == 0:
        try:
            joined.get("nobody sets this", 0.3)
        except TimeoutError as error:
            assert "nobody sets this" in str(error)
        try:
            joined.barrier("nobody else comes here", 0.3)
        except TimeoutError as error:
            assert "nobody else comes here" in str(error)
            print("two timeouts")


def last(joined):
    return joined.process_id == joined.num_processes - 1


def killed(joined):
    """The last process is killed between two collectives."""
    add = Psum(joined)
    add(np.ones(4))
    if last(joined):
        os.kill(os.getpid(), signal.SIGKILL)
    started = time.monotonic()
    try:
        while time.monotonic() < started + 60:
            add(np.ones(4))
    except client.RuntimeFailure as error:
        print(f"raised after {time.monotonic() - started:.0f} s: {error}")
        raise SystemExit(3) from None


def hangs(joined):
    """The last process stops without ending; the others wait for it in a collective."""
    add = Psum(joined)
    add(np.ones(4))
    if last(joined):
        os.kill(os.getpid(), signal.SIGSTOP)
    while True:
        add(np.ones(4))


def coordinator_killed(joined):
    if joined.process_id == 0:
        joined.barrier("ready", 20)
        os.kill(os.getpid(), signal.SIGKILL)
    joined.barrier("ready", 20)
    time.sleep(60)


def raises(joined):
    """The last process ends by an exception; the others wait for it in a collective."""
    add = Psum(joined)
    add(np.ones(4))
    if last(joined):
        raise KeyError("a mistake in one process")
    try:
        add(np.ones(4))
    except client.RuntimeFailure:
        raise SystemExit(3) from None


def raises_early(joined):
    """The last process ends by an exception before the processes have met in a collective."""
    if last(joined):
        raise KeyError("a mistake in one process")
    Psum(joined)(np.ones(4))


def early(joined):
    """The last process is done long before process 0 is."""
    if not last(joined):
        time.sleep(3)


def main(what, address, count, index):
    started = time.monotonic()
    if what in ("hangs", "raises_early"):  # nobody here raises by itself in the time that is given
        cluster._GRACE_SECONDS = 1
    try:
        joined = cluster.connect(
            address, int(count), int(index),
            initialization_timeout=20, heartbeat_timeout=3, shutdown_timeout=20,
        )  # fmt: skip
    except TimeoutError as error:
        print(f"{error} after {time.monotonic() - started:.0f} s")
        raise SystemExit(4) from None
    globals()[what](joined)
    if what in ("psum", "dictionary"):
        cluster.disconnect()
        assert cluster.current() is None


if __name__ == "__main__":
    main(*sys.argv[1:])
