"""How do two processes compute as one program?

One command starts this script, which starts itself twice more. Each of the two joins the other and
sees the devices of both; then both run the same program. Here they add up what neither of them has
alone, fit a line to data of which each has one half, and agree on the result.

    python examples/62_two_processes.py

On two machines the same code runs with `xcore.distributed.initialize("host:port", 2, rank)`, or
with no arguments at all under SLURM, Open MPI, Kubernetes or torchrun.
"""

import os
import socket
import subprocess
import sys

PROCESSES = 2


def start_all() -> int:
    """Starts this script once for each process, and passes on what they print."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{s.getsockname()[1]}"
    env = dict(os.environ, XCORE_COORDINATOR_ADDRESS=address, XCORE_NUM_PROCESSES=str(PROCESSES),
               XCORE_NUM_CPU_DEVICES="2")  # fmt: skip
    started = [
        subprocess.Popen(
            [sys.executable, __file__], env=env | {"XCORE_PROCESS_ID": str(i)},
            stdout=subprocess.PIPE, text=True,
        )
        for i in range(PROCESSES)
    ]  # fmt: skip
    for i, process in enumerate(started):
        for line in process.communicate(timeout=300)[0].splitlines():
            if not line.startswith("[Gloo]"):
                print(f"[process {i}] {line}")
    return max(process.returncode for process in started)


def work() -> None:
    import numpy as np

    import xcore as xc
    import xcore.numpy as xnp
    from xcore import multihost
    from xcore.sharding import NamedSharding, P

    xc.distributed.initialize()  # address, number and rank are in the environment
    me = xc.process_index()
    print(f"{xc.local_device_count()} devices here, {xc.device_count()} in all")

    ones = xnp.ones(xc.local_device_count())
    total = xc.pmap(lambda v: xc.lax.psum(v, "i"), axis_name="i")(ones)
    print(f"the sum of a one on each device: {total}")

    mesh = xc.make_mesh((xc.device_count(),), "data")
    rng = np.random.default_rng(me)  # each process has data of its own
    here = rng.uniform(-1, 1, (64, 2)).astype("f")
    x = xc.make_array_from_process_local_data(NamedSharding(mesh, P("data")), here)
    y = xc.jit(lambda x: x @ xnp.asarray([2.0, -1.0]) + 0.5)(x)
    print(f"x: {x.shape} in all, {here.shape} here")

    def loss(params, x, y):
        w, b = params
        return ((x @ w + b - y) ** 2).mean()

    @xc.jit
    def step(params, x, y):
        return xc.tree.map(lambda p, g: p - 0.3 * g, params, xc.grad(loss)(params, x, y))

    params = (xnp.zeros(2), 0.0)
    for _ in range(100):
        params = step(params, x, y)
    w, b = params
    print(f"fitted: {np.asarray(w).round(3)} and {float(b):.3f}")
    assert np.allclose(w, [2, -1], atol=1e-3) and abs(float(b) - 0.5) < 1e-3
    multihost.assert_equal(np.asarray(w))
    xc.distributed.shutdown()


if __name__ == "__main__":
    if "XCORE_PROCESS_ID" in os.environ:
        work()
    else:
        sys.exit(start_all())
