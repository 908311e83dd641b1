"""Options of the compiler for a program: flags of XLA, passes left out, devices and partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import cuda
from .client import VERSION, platform_of

if TYPE_CHECKING:
    from . import surface as xla
    from .client import Device
    from .surface import CompileOptions
else:
    from jaxlib import xla_client as xla

Flags = tuple[tuple[str, Any], ...]  # names of XLA's flags, and values

# On a CPU nearly all of a compilation is LLVM's work, half of it on what the fusion emitters make.
_HASTE: dict[str, Flags] = {
    "cpu": (
        ("xla_backend_optimization_level", 0),
        ("xla_cpu_parallel_codegen_split_count", 1),
        *([("xla_cpu_use_fusion_emitters", False)] if VERSION < 495 else []),
        ("xla_llvm_disable_expensive_passes", True),
    ),
    "cuda": (
        ("xla_backend_optimization_level", 0),
        ("xla_gpu_autotune_level", 0),
        ("xla_llvm_disable_expensive_passes", True),
    ),
    "tpu": (),
}


# For programs that are one long chain of operations on each element, as a hash is: the older emitters
# of loops make as fast code of it in two thirds of the time. Newer jaxlibs have no others.
CHAIN_OPTIONS: Flags = (("xla_cpu_use_fusion_emitters", False),) if VERSION < 495 else ()


# Of small arrays the code costs little beside the calls of it, and half of the compiler's time is spent on it in vain:
# at level 1 it is as fast, at level 0 up to twice as slow, in a third of the time.
_BRISK: dict[str, Callable[[int], Flags]] = {
    "cpu": lambda level: (
        ("xla_backend_optimization_level", level),
        # in parts, side by side, where there is much to do for each; their number is not that of cores, for the
        # code depends on it, and costs nothing on one
        ("xla_cpu_parallel_codegen_split_count", 4 if level else 1),
        *([("xla_cpu_use_fusion_emitters", False)] if VERSION < 495 else []),
        ("xla_llvm_disable_expensive_passes", True),
    ),
}
# Not flags of XLA's, but how many elements the largest value of a program may have for level 0, and for level 1.
LEVELS_UP_TO = ("level_0_up_to", "level_1_up_to")
# Of programs that say nothing: users' without loops, and our functions called on arrays. What is read at many
# places, or of long chains, is slower from some thousand elements on.
USUAL_LEVELS = (0, 256)
USUAL_OPTIONS: Flags = tuple(zip(LEVELS_UP_TO, USUAL_LEVELS, strict=True))


def hasty_options(device: Device) -> Flags:
    """Options for programs that are compiled fast rather than well."""
    return _HASTE[platform_of(device)]


def brisk_options(device: Device, level: int) -> Flags:
    """Options for programs of small arrays."""
    flags = _BRISK.get(platform_of(device))
    return flags(level) if flags else ()


def compile_options(
    devices: Sequence[Device], partitions: int = 1, open_outputs: Iterable[bool] = (True,),
    options: Flags = (),
) -> CompileOptions:  # fmt: skip
    """Options of a program on devices.

    Args:
        devices: where it runs.
        partitions: over how many of them it is spread.
        open_outputs: for each result, whether the compiler chooses how it is spread.
        options: pairs of names of XLA's flags and values, for this program only.
    """
    whole = xla.CompileOptions()
    whole.num_replicas, whole.num_partitions = 1, partitions
    whole.device_assignment = xla.DeviceAssignment.create(np.array([[d.id for d in devices]]))
    whole.env_option_overrides = list(options)
    build = whole.executable_build_options
    if partitions > 1:
        build.use_spmd_partitioning = True
        build.use_shardy_partitioner = True
        build.allow_spmd_sharding_propagation_to_output = list(open_outputs) or [True]
    platform = platform_of(devices[0])
    if platform == "cuda":
        cuda.set_compile_options(build.debug_options)
    if platform == "cpu":
        # What checkpoint recomputes would be merged with the first time, and kept in memory.
        # quirk: BARRIERS_DROPPED
        _leave_out(whole, "cse_barrier_expander")
    return whole


def _leave_out(options: CompileOptions, name: str) -> None:
    """Compile without a pass, besides those that XLA_FLAGS disable."""
    debug = options.executable_build_options.debug_options
    given = debug.xla_disable_hlo_passes
    debug.xla_disable_hlo_passes = f"{given},{name}" if given else name


def keep_barriers(options: CompileOptions) -> None:
    """Options for a CPU program with optimization barriers in it.

    Small loops become one kernel there. quirk: BARRIER_IN_KERNEL_ABORTS
    """
    _leave_out(options, "small-while-loop-hoisting")
