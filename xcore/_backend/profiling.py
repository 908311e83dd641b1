"""The profiler of the runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import surface as _profiler
else:
    from jaxlib import _profiler

from .client import client

Annotation = _profiler.TraceMe


def start(**options: Any) -> _profiler.ProfilerSession:
    """A running session. Options are those of ``jaxlib._profiler.ProfileOptions``."""
    client()  # what is not there when a session starts is not recorded by it
    settings = _profiler.ProfileOptions()
    settings.python_tracer_level = 0  # a call of every Python function costs more than it tells
    given: object = options.pop("profiler_options", None)  # which has some of them, and others
    named = [name for name in getattr(given, "__dict__", ()) if hasattr(settings, name)]
    for name, value in ({n: getattr(given, n) for n in named} | options).items():
        setattr(settings, name, value)
    return _profiler.ProfilerSession(settings)


def stop(session: _profiler.ProfilerSession, folder: str) -> None:
    """End a session and write what it recorded, in the formats of TensorBoard and Perfetto."""
    session.stop_and_export(folder)


def serve(port: int) -> _profiler.ProfilerServer:
    client()
    return _profiler.start_server(port)


def memory_profile(platform: str | None = None) -> bytes:
    """What occupies the memory of devices, in the format of pprof."""
    return client(platform).heap_profile()
