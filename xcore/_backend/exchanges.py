"""Programs that wait for threads or for other devices, while they are under way."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import surface as xla
else:
    from jaxlib import xla_client as xla


class Queue:
    """Programs of one kind. ``under_way`` is the last one: what waits for its end, and its processes."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.under_way: list[tuple[xla.Token, set[int]]] = []


# apart: a callback of a program that communicates may run one that waits for threads, which has no callbacks
COMMUNICATING, WAITING = Queue(), Queue()


def one_after_another(
    execute: Callable[..., xla.ExecuteResults], processes: set[int], queue: Queue
) -> Callable[..., xla.ExecuteResults]:
    """Start a program when the last one of its kind has ended.

    A CPU's devices share threads. When several programs are under way whose devices wait for each
    other (or which wait for threads, quirk: BATCHES_WAIT), all threads may end up waiting for what has none.
    """

    def run(buffers: Sequence[xla.Buffer]) -> xla.ExecuteResults:
        with queue.turn:
            while queue.under_way:
                with contextlib.suppress(xla.XlaRuntimeError):  # whoever needs its results sees it
                    queue.under_way[0][0].block_until_ready()
                del queue.under_way[:1]
            results = execute(buffers, with_tokens=True)
            queue.under_way.append((results.consume_token(), processes))
        return results

    return run


def stalled(absent: set[int], seconds: float) -> bool:
    """Whether a program that needs one of these processes does not end within so many seconds."""
    waiting = [token for token, processes in list(COMMUNICATING.under_way) if processes & absent]
    if not waiting:
        return False

    def wait() -> None:
        with contextlib.suppress(xla.XlaRuntimeError):
            waiting[0].block_until_ready()

    thread = threading.Thread(target=wait, name="xcore-stalled", daemon=True)
    thread.start()
    thread.join(seconds)
    return thread.is_alive()
