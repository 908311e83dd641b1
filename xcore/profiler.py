"""What ran when, and what occupies memory: profiles for TensorBoard, Perfetto and pprof."""

from ._control.profiling import (
    StepTraceAnnotation,
    TraceAnnotation,
    annotate_function,
    device_memory_profile,
    save_device_memory_profile,
    start_server,
    start_trace,
    stop_trace,
    trace,
)

__all__ = [
    "annotate_function", "device_memory_profile", "save_device_memory_profile", "start_server",
    "start_trace", "StepTraceAnnotation", "stop_trace", "trace", "TraceAnnotation",
]  # fmt: skip
