"""A script's programs compiled before it runs: it is followed by types, and the cache on disk is filled."""

from __future__ import annotations

import math
import os
import sys
import time
from typing import Any

from .._backend import client as backend
from .._core import compile
from .costs import in_seconds
from .fits import TypesTrace, follow


class Here:
    """The devices of this process, with what is asked of a topology."""

    name, memory, bandwidth = "this machine", math.inf, math.inf

    def __init__(self) -> None:
        self.devices = tuple(backend.local_devices())
        self.flops = dict.fromkeys(("bfloat16", "float32", "float64"), math.inf)


def warm(path: str, arguments: list[str]) -> int:
    """Compile what a script will jit, as far as types lead: 0 if that was to its end, 1 if not, 2 if nothing was.

    Args:
      path: of the script.
      arguments: ``sys.argv`` for it.
    """
    if not os.path.isfile(path):
        print(f"xcore warm: there is no file {path}", file=sys.stderr)
        return 2
    if compile.disk_state() is None:
        print("xcore warm: there is no cache on disk to fill (XCORE_CACHE=0)", file=sys.stderr)
        return 2
    start, trace = time.perf_counter(), TypesTrace(_here())
    status, end = follow(path, arguments, trace)
    spent, counts = time.perf_counter() - start, compile.counts
    print(
        f"\nxcore warm: {counts['compiled']} programs compiled, {counts['from_disk']} were on disk, "
        f"in {in_seconds(spent)}; {end}"
    )
    for row in trace.rows.values():
        if row.refused:
            print(f"{row.name} {row.where} does not compile: {row.refused}")
    return 1 if status is None else status


def _here() -> Any:  # a Topology, but for what names devices that are not here
    return Here()
