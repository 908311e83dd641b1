"""Processes made by os.fork(): the runtime's threads stay behind, so that nothing can be computed there."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .surface import Buffer

forked = False
_SPAWN = 'multiprocessing\'s "spawn" method: multiprocessing.get_context("spawn").'


class ForkedProcess(RuntimeError):
    """A process made by os.fork() asked the runtime for work, for which it has no threads."""


def watch(clients: Mapping[str, object]) -> None:
    """Warn of forks, and take note of them, once there is a client."""

    def warn() -> None:
        if clients:
            warnings.warn(
                "os.fork() after xcore has used a device: the new process has none of its threads and "
                f"cannot compute with xcore. Start processes with {_SPAWN}",
                RuntimeWarning,
                stacklevel=2,
            )

    def note() -> None:
        global forked
        forked = forked or bool(clients)

    os.register_at_fork(before=warn, after_in_child=note)


def check_process(*buffers: Buffer) -> None:
    """Refuse what would wait for ever in a forked process: all work whose results are not there."""
    if forked and not (buffers and all([b.is_ready() for b in buffers])):
        raise ForkedProcess(
            "This process was made by os.fork() after xcore had used a device. The runtime's threads "
            f"stayed behind, so nothing can be compiled or computed here. Start processes with {_SPAWN}"
        )
