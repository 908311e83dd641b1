"""Devices that are not here: described, so that XLA compiles for them, and never run on.

A row a device, from its maker's published specifications. XLA's compiler for CUDA takes from a row
what its cost model and code generator ask of a GPU; libtpu knows its TPUs by name.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from . import surface as xla
else:
    from jaxlib import xla_client as xla
from . import cuda, tpu


class Gpu(NamedTuple):
    """A GPU. Sizes in bytes, bandwidth in bytes and arithmetic in operations per second, at most."""

    name: str
    capability: tuple[int, int]
    cores: int  # multiprocessors
    fpus: int  # float32 units of each
    threads: int  # resident on each
    shared: int  # memory of each that its threads share
    clock: float  # GHz
    bandwidth: float
    cache: int  # L2
    memory: int
    tensor: float  # bfloat16 products with float32 sums (V100: float16), dense
    double: float  # float64, with tensor cores where there are
    platform: str = "cuda"

    @property
    def single(self) -> float:
        return 2e9 * self.cores * self.fpus * self.clock


class Tpu(NamedTuple):
    """A TPU: libtpu's name of it, and of one chip what a row of Gpu says."""

    name: str
    key: str
    bandwidth: float
    memory: int
    tensor: float
    axes: int  # of the torus that chips form
    single: float = 0.0  # of its own; products of float32 are several of bfloat16
    double: float = 0.0
    platform: str = "tpu"


_KIB, _MIB, _GIB = 1 << 10, 1 << 20, 1 << 30

# NVIDIA's data sheets and architecture white papers: V100 (2017), A100 (2020), H100 (2022), L4 (2023),
# H200 (2023), B200 (2024). TPUs: Google Cloud's pages of system architecture, one for each version.
KINDS: dict[str, Gpu | Tpu] = {
    "v100": Gpu("NVIDIA V100", (7, 0), 80, 64, 2048, 96 * _KIB, 1.53, 900e9, 6 * _MIB, 32 * _GIB, 125e12, 7.8e12),
    "a100": Gpu("NVIDIA A100", (8, 0), 108, 64, 2048, 164 * _KIB, 1.41, 2039e9, 40 * _MIB, 80 * _GIB, 312e12, 19.5e12),
    "l4": Gpu("NVIDIA L4", (8, 9), 58, 128, 1536, 100 * _KIB, 2.04, 300e9, 48 * _MIB, 24 * _GIB, 121e12, 0.49e12),
    "h100": Gpu("NVIDIA H100", (9, 0), 132, 128, 2048, 228 * _KIB, 1.98, 3350e9, 50 * _MIB, 80 * _GIB, 989e12, 67e12),
    "h200": Gpu("NVIDIA H200", (9, 0), 132, 128, 2048, 228 * _KIB, 1.98, 4800e9, 50 * _MIB, 141 * _GIB, 989e12, 67e12),
    "b200": Gpu("NVIDIA B200", (10, 0), 148, 128, 2048, 228 * _KIB, 1.96, 8e12, 126 * _MIB, 180 * _GIB, 2250e12, 37e12),
    "v4": Tpu("TPU v4", "v4", 1228e9, 32 * _GIB, 275e12, 3),
    "v5e": Tpu("TPU v5e", "v5e", 819e9, 16 * _GIB, 197e12, 2),
    "v5p": Tpu("TPU v5p", "v5p", 2765e9, 95 * _GIB, 459e12, 3),
    "v6e": Tpu("TPU v6e", "v6e", 1640e9, 32 * _GIB, 918e12, 2),
}  # fmt: skip

_ACCELERATED = ((9, 0), (10, 0))  # whose code may use what later architectures need not have
_RESERVED = _KIB  # of a block's share of shared memory the driver takes this much


def _target_config(g: Gpu) -> str:
    """What XLA wants to know of a GPU, in the text form of its GpuTargetConfigProto."""
    major, minor = g.capability
    feature = " feature_extension: ACCELERATED_FEATURES" if g.capability in _ACCELERATED else ""
    device = {
        "threads_per_block_limit": 1024, "threads_per_warp": 32, "shared_memory_per_block": 48 * _KIB,
        "shared_memory_per_core": g.shared, "shared_memory_per_block_optin": g.shared - _RESERVED,
        "threads_per_core_limit": g.threads, "core_count": g.cores, "fpus_per_core": g.fpus,
        "block_dim_limit_x": 2**31 - 1, "block_dim_limit_y": 2**16 - 1, "block_dim_limit_z": 2**16 - 1,
        "thread_dim_limit_x": 1024, "thread_dim_limit_y": 1024, "thread_dim_limit_z": 64,
        "registers_per_core_limit": 2**16, "registers_per_block_limit": 2**16,
        "memory_bandwidth": int(g.bandwidth), "l2_cache_size": g.cache, "clock_rate_ghz": g.clock,
        "device_memory_size": g.memory, "device_vendor": '"NVIDIA Corporation"', "name": f'"{g.name}"',
        "driver_version": '"13.0.0"', "runtime_version": '"13.0.0"',
        "compile_time_toolkit_version": '"13.0.0"', "dnn_version": '"9.12.0"',
        "cuda_compute_capability": f"{{ major: {major} minor: {minor}{feature} }}",
    }  # fmt: skip
    fields = "\n".join(
        f"  {k} {v}" if k == "cuda_compute_capability" else f"  {k}: {v}" for k, v in device.items()
    )
    return (
        f'gpu_device_info {{\n{fields}\n}}\nplatform_name: "CUDA"\n'
        "dnn_version_info { major: 9 minor: 12 patch: 0 }\nruntime_version { major: 13 minor: 0 patch: 0 }\n"
        f'device_description_str: "{g.name}"\n'
    )


_OLDEST = {"13": (7, 5)}  # compute capability that each major version compiles for


class CannotCompile(RuntimeError):
    """The compiler for a device is not installed, or does not know it; the message says which."""


@functools.cache
def devices_of(kind: str, count: int) -> tuple[xla.Device, ...]:
    """So many devices of a kind, to compile for."""
    row = KINDS[kind]
    loader = cuda.load_compiler if row.platform == "cuda" else tpu.load_compiler
    if not loader():
        raise CannotCompile(
            f"xcore.topology: the compiler for {row.platform} is not installed. "
            "Install the extra: pip install 'xcore[aot]'."
        )
    plugin = cuda.installed_plugin() if isinstance(row, Gpu) else None
    if isinstance(row, Gpu) and plugin and row.capability < _OLDEST.get(plugin.major, (0, 0)):
        raise CannotCompile(
            f"xcore.topology: CUDA {plugin.major} has no code for {row.name} (compute capability "
            f"{row.capability[0]}.{row.capability[1]}). Install the plugin packages of an older CUDA."
        )
    try:
        found = _gpus(row, count) if isinstance(row, Gpu) else _tpus(row, count)
        devices = tuple(found._make_compile_only_devices()[:count])
    except xla.XlaRuntimeError as error:
        raise CannotCompile(
            f"xcore.topology: XLA here does not know {count} × {row.name}: {error}"
        ) from error
    made.update(devices)
    return devices


made: set[xla.Device] = set()  # all devices that are not here


def _gpus(row: Gpu, count: int) -> xla.Topology:
    return xla._xla.get_default_c_api_topology(
        "cuda", "", {"topology": f"1x1x{count}", "target_config": _target_config(row)}
    )


def _tpus(row: Tpu, count: int) -> xla.Topology:
    name = "x".join(map(str, chips(count, row.axes)))
    return xla.make_tfrt_tpu_c_api_device_topology(f"{row.key}:{name}")


def chips(count: int, axes: int) -> tuple[int, ...]:
    """The sides of the smallest torus, of powers of two, with so many chips.

    >>> chips(4, 2), chips(8, 3), chips(3, 2)
    ((2, 2), (2, 2, 2), (2, 2))
    """
    sides = [2, 2] + [1] * (axes - 2)
    while math.prod(sides) < count:
        sides[sides.index(min(sides))] *= 2
    return tuple(sides)
