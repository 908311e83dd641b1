"""Profiles: what ran when, and what occupies memory."""

from __future__ import annotations

import contextlib
import functools
import gzip
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .._backend import profiling as backend
from .._core import boundary
from .._core.typing import P, R

_session: list = []  # (session, folder, whether a file for Perfetto is wanted)


@boundary
def start_trace(
    log_dir: str | Path, create_perfetto_link: bool = False, create_perfetto_trace: bool = False,
    **options: Any,
) -> None:  # fmt: skip
    """Start to record what runs; ``stop_trace`` writes it. See ``trace``.

    Args:
      log_dir, create_perfetto_link, create_perfetto_trace, options: as for ``trace``.

    >>> import xcore as xc, xcore.numpy as xnp, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     xc.profiler.start_trace(folder)
    ...     total = xnp.sum(xnp.ones(1000))
    ...     xc.profiler.stop_trace()
    """
    if _session:
        raise RuntimeError(
            "xcore.profiler.start_trace: a trace is being recorded already; stop it by stop_trace()."
        )
    folder = Path(log_dir)
    folder.mkdir(parents=True, exist_ok=True)
    wanted = create_perfetto_trace or create_perfetto_link
    _session.append((backend.start(**options), folder, wanted))


@boundary
def stop_trace() -> None:
    """End the recording and write it.

    >>> import xcore as xc, xcore.numpy as xnp, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     xc.profiler.start_trace(folder)
    ...     total = xnp.sum(xnp.ones(1000))
    ...     xc.profiler.stop_trace()
    """
    if not _session:
        raise RuntimeError("xcore.profiler.stop_trace: no trace is being recorded.")
    session, folder, perfetto = _session.pop()
    backend.stop(session, str(folder))
    if perfetto:
        _perfetto(folder)


def _perfetto(folder: Path) -> None:
    """A copy of the last trace under the name that Perfetto's users look for."""
    traces = sorted(folder.glob("plugins/profile/*/*.trace.json.gz"))
    if traces:
        with gzip.open(traces[-1]) as source:
            with gzip.open(traces[-1].with_name("perfetto_trace.json.gz"), "wb") as target:
                shutil.copyfileobj(source, target)


@contextlib.contextmanager
def trace(
    log_dir: str | Path, create_perfetto_link: bool = False, create_perfetto_trace: bool = False,
    **options: Any,
) -> Iterator[None]:  # fmt: skip
    """``with trace(folder):`` records what runs in the block.

    The folder can be opened by TensorBoard's profile plugin; the file ``*.trace.json.gz`` in it by
    https://ui.perfetto.dev. Operations carry the names of the user's functions and ``named_scope``s.

    Args:
      log_dir: the folder.
      create_perfetto_link: as create_perfetto_trace; nothing is uploaded.
      create_perfetto_trace: write the trace as perfetto_trace.json.gz too.
      options: of the runtime's profiler, such as host_tracer_level=3 or python_tracer_level=1.

    >>> import xcore as xc, xcore.numpy as xnp, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with xc.profiler.trace(folder):
    ...         total = float(xnp.ones(100).sum())
    >>> total
    100.0
    """
    start_trace(log_dir, create_perfetto_link, create_perfetto_trace, **options)
    try:
        yield
    finally:
        stop_trace()


TraceAnnotation = backend.Annotation


class StepTraceAnnotation(TraceAnnotation):
    """``with StepTraceAnnotation("train", step_num=i):`` marks a step of a loop in the profile.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> for i in range(3):
    ...     with xc.profiler.StepTraceAnnotation("train", step_num=i):
    ...         y = xnp.sin(1.0)
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        super().__init__(name, _r=1, **kwargs)


def annotate_function(
    func: Callable[P, R], name: str | None = None, **kwargs: Any
) -> Callable[P, R]:
    """A function whose calls are marked in the profile.

    Args:
      func: function.
      name: in the profile; by default that of the function.
      kwargs: what else is shown, as ``name=value``.

    >>> import xcore as xc
    >>> step = xc.profiler.annotate_function(lambda x: x + 1, name="step")
    >>> step(1)
    2
    """
    shown = name or getattr(func, "__qualname__", "function")

    @functools.wraps(func)
    def call(*args, **more):
        with TraceAnnotation(shown, **kwargs):
            return func(*args, **more)

    return call


def start_server(port: int) -> object:
    """Let TensorBoard ask this process for profiles at a port. Keep what is returned.

    Args:
      port: the number of a free port.

    >>> import xcore as xc
    >>> server = xc.profiler.start_server(9999)  # doctest: +SKIP
    """
    return backend.serve(port)


def device_memory_profile(platform: str | None = None) -> bytes:
    """What occupies the memory of devices, as a file for ``pprof``.

    Args:
      platform: "cpu", "gpu" or another; by default the best one there is.

    >>> import xcore as xc
    >>> len(xc.profiler.device_memory_profile()) > 0
    True
    """
    return backend.memory_profile(platform)


def save_device_memory_profile(filename: str | Path, platform: str | None = None) -> None:
    """Write ``device_memory_profile()`` to a file.

    Args:
      filename: where to.
      platform: whose devices; the default one's if None.

    >>> import xcore as xc, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     xc.profiler.save_device_memory_profile(f"{folder}/memory.prof")
    ...     pathlib.Path(f"{folder}/memory.prof").exists()
    True
    """
    Path(filename).write_bytes(device_memory_profile(platform))
