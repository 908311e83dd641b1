"""Work in forked processes: a warm process is copied for each piece, which then may crash or hang.

The process that is copied must not have started XLA's client, whose threads no copy has; it takes
a copy 6 ms to start its own.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import signal
import time
from dataclasses import dataclass, field


@dataclass
class Child:
    """A process at work."""

    pid: int
    pipe: int
    task: object
    deadline: float
    started: float
    parts: list = field(default_factory=list)


_numbers = itertools.count()


def _pin(number: int) -> None:
    """On a machine of many cores a copy has two of them: its pools of threads are small then."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 2:
        os.sched_setaffinity(0, {cores[(2 * number + i) % len(cores)] for i in (0, 1)})


def _fork(task, work, limit: float) -> Child:
    read, write = os.pipe()
    number = next(_numbers)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setpgid(0, 0)
            os.close(read)
            _silence()
            _pin(number)
            _answer(write, work(task))
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    now = time.monotonic()
    return Child(pid, read, task, now + limit, now)


def _silence() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)


def _answer(pipe: int, answer) -> None:
    data = memoryview(json.dumps(answer).encode())
    while data:
        data = data[os.write(pipe, data) :]


def _end(child: Child) -> None:
    """Reap a process, and end what it has started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    os.close(child.pipe)
    os.waitpid(child.pid, 0)


def run(tasks, work, *, jobs: int, limit, until: float = float("inf")):
    """Yield (task, answer, seconds) as they end; the answer is "crash" or "hang" where there is none.

    Args:
      tasks: an iterator; the next one is taken when a process is free.
      work: called with a task in the copy, returns something for JSON.
      limit: called with a task, says how many seconds it has.
      until: when (of ``time.monotonic``) no more tasks are begun.
    """
    busy: dict[int, Child] = {}
    tasks = iter(tasks)
    try:
        while True:
            while len(busy) < jobs and time.monotonic() < until:
                task = next(tasks, None)
                if task is None:
                    until = 0.0
                    break
                child = _fork(task, work, limit(task))
                busy[child.pipe] = child
            if not busy:
                return
            yield from _ended(busy)
    finally:
        for child in busy.values():
            _end(child)


def _ended(busy: dict):
    ready, _, _ = select.select(list(busy), [], [], 0.5)
    now = time.monotonic()
    for pipe in ready:
        child, data = busy[pipe], os.read(pipe, 1 << 20)
        if data:
            child.parts.append(data)
            continue
        del busy[pipe]
        _end(child)
        text = b"".join(child.parts)
        yield child.task, json.loads(text) if text else "crash", now - child.started
    for pipe, child in list(busy.items()):
        if now > child.deadline:
            del busy[pipe]
            _end(child)
            yield child.task, "hang", now - child.started
