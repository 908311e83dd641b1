# ruff: noqa: E402
"""What several devices cost and bring: calls beside jax's, weak scaling, checkpoints beside the disk."""

import os

DEVICES = 8
os.environ.setdefault("XCORE_NUM_CPU_DEVICES", str(DEVICES))
os.environ.setdefault("XLA_FLAGS", f"--xla_force_host_platform_device_count={DEVICES}")

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from harness import Bench, Case, Lib, interleave, row_of

bench = Bench("Eight CPU devices beside jax; two devices on two cores beside one on one core.")
WORKER = Path(__file__).with_name("scale_worker.py")


# Calls


def spread(lib: Lib, value, *spec, shape=(DEVICES,), names=("x",)):
    """The value laid out over a mesh of eight devices."""
    if lib.name == "xcore":
        mesh, place = lib.core.make_mesh(shape, names), lib.core.sharding
    else:
        place = lib.core.sharding
        auto = (place.AxisType.Auto,) * len(shape)
        mesh = lib.core.make_mesh(shape, names, axis_types=auto)
    return lib.core.device_put(value, place.NamedSharding(mesh, place.PartitionSpec(*spec)))


@bench.time("call of a jitted function on 8 devices", bar=1.05)
def call(lib: Lib):
    f, x = lib.core.jit(lambda x: x + 1), spread(lib, np.ones((8, 4), np.float32), "x")
    return lambda: f(x)


@bench.time("the same, a dict of 16 arrays", bar=1.05)
def tree_call(lib: Lib):
    f = lib.core.jit(lambda d: {k: v + 1 for k, v in d.items()})
    d = {f"p{i}": spread(lib, np.ones((8, 4), np.float32), "x") for i in range(16)}
    return lambda: f(d)


@bench.time("the same with a sum over the devices, waited for", bar=1.05, wait=True)
def summed_call(lib: Lib):
    f, x = lib.core.jit(lambda x: x.sum()), spread(lib, np.ones((8, 4), np.float32), "x")
    return lambda: f(x)


@bench.time("an operation outside jit, x + x on 8 devices", bar=1.05)
def eager(lib: Lib):
    x = spread(lib, np.ones((8, 4), np.float32), "x")
    return lambda: x + x


@bench.time("device_put of 8 MB onto 8 devices", wait=True)
def put(lib: Lib):
    value = np.ones((2048, 1024), np.float32)
    return lambda: spread(lib, value, "x")


# Weak scaling


def seconds_per_step(what: str, devices: int) -> float:
    """A process with so many devices and as many cores, of which each has the same work."""
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[:devices]))
    env = dict(os.environ, XCORE_NUM_CPU_DEVICES=str(devices))
    command = ["taskset", "-c", cores, sys.executable, str(WORKER), what]
    return float(
        subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout
    )


def weak_scaling(what: str, question: str) -> None:
    def measure(question, two, one):
        return row_of(question, interleave(two, one, 3), bar=2 / 1.7)

    bench.cases.append(
        Case(
            f"{question}: time of twice the work on 2 devices and 2 cores / on one",
            lambda: lambda: seconds_per_step(what, 2),
            lambda: lambda: seconds_per_step(what, 1),
            measure,
        )
    )


weak_scaling("mlp", "step of an MLP")
weak_scaling("poisson", "conjugate gradients for Poisson's equation")


# Checkpoints

SIZE = 2**27
_folder = tempfile.TemporaryDirectory(dir=Path(__file__).resolve().parent)


def saving():
    import xcore as xc

    tree = {f"p{i}": xc.numpy.full(SIZE // 32, i, "float32") for i in range(8)}
    return lambda: xc.checkpoint.save(f"{_folder.name}/saved", tree)


def raw_writing():
    data, path = memoryview(np.full(SIZE, 7, np.uint8)), f"{_folder.name}/raw"

    def write():
        with open(path, "wb", buffering=0) as file:
            for start in range(0, SIZE, 2**24):
                file.write(data[start : start + 2**24])
            os.fsync(file.fileno())

    return write


bench.versus("checkpoint of 134 MB / writing as many bytes", saving, raw_writing, 1 / 0.7, rounds=5)


def training_beside(saves: bool):
    """A hundred steps of training, in one case with a checkpoint being written meanwhile."""
    import xcore as xc

    def make():
        params = xc.numpy.zeros(2**21)
        step = xc.jit(lambda p: p * 0.5 + 1)
        step(params)
        number = iter(range(10**6))
        kept = xc.checkpoint.Checkpointer(f"{_folder.name}/steps", keep=1)

        def run():
            p = params
            if saves:
                kept.save(next(number), {"p": p})
            started = time.perf_counter()
            for _ in range(100):
                p = step(p)
            p.block_until_ready()
            spent = time.perf_counter() - started
            kept.wait()
            return spent

        return run

    return make


def side_by_side(question, ours, peer):
    return row_of(question, interleave(ours, peer, 7), None)


bench.cases.append(
    Case(
        "100 steps while a checkpoint is written / alone",
        training_beside(True), training_beside(False), side_by_side,
    )
)  # fmt: skip

if __name__ == "__main__":
    bench.main()
