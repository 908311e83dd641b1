"""Devices that are not here, to compile for."""

# Users are told what they gave:

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .._backend import topologies
from . import errors

if TYPE_CHECKING:
    from .._backend.client import Device


class Topology:
    """Devices of one kind that compile programs and do not run them.

    Attributes:
      kind: its name in the table, such as "h200".
      name: the maker's name of a device.
      platform: "cuda" or "tpu".
      devices: a tuple of them; iterating and indexing does the same.
      memory: of a device, in bytes.
      bandwidth: of that memory at most, in bytes per second.
      flops: operations per second at most, by dtype: "bfloat16", "float32", "float64" (0: none of its own).
    """

    __slots__ = ("bandwidth", "devices", "flops", "kind", "memory", "name", "platform")

    def __init__(self, kind: str, devices: tuple[Device, ...]) -> None:
        row = topologies.KINDS[kind]
        self.kind, self.name, self.platform, self.devices = kind, row.name, row.platform, devices
        self.memory, self.bandwidth = row.memory, row.bandwidth
        self.flops = {"bfloat16": row.tensor, "float32": row.single, "float64": row.double}

    def __len__(self) -> int:
        return len(self.devices)

    def __getitem__(self, i: int) -> Device:
        return self.devices[i]

    def __iter__(self) -> Iterator[Device]:
        return iter(self.devices)

    def __repr__(self) -> str:
        return f"Topology({self.kind!r}, {len(self.devices)})"


def topology(kind: str, count: int = 1) -> Topology:
    """Devices that are not here: programs are compiled for them, looked at and stored, not run.

    XLA's compilers for GPUs and TPUs need none to be there; they come with the extra ``aot``
    (``pip install "xcore[aot]"``).

    Args:
      kind: "v100", "a100", "l4", "h100", "h200", "b200"; TPUs: "v4", "v5e", "v5p", "v6e".
      count: how many; together they are one machine's.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> x = xc.ShapeDtypeStruct((4096, 4096), xnp.float32)
    >>> lowered = xc.jit(lambda x: x @ x).lower(x)
    >>> lowered.compile(xc.topology("h200")).memory_analysis()  # doctest: +SKIP
    """
    if kind not in topologies.KINDS:
        expected = f"one of {', '.join(topologies.KINDS)}"
        raise errors.bad_argument("topology", "kind", kind, expected)
    if not hasattr(count, "__index__") or not 0 < count <= 256:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise errors.bad_argument("topology", "count", count, "a number of devices from 1 to 256")
    return Topology(kind, topologies.devices_of(kind, int(count)))
