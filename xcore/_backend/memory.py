"""What a process holds of memory: what the C library keeps of it, and mappings, which are counted."""

import contextlib
import ctypes
import functools
import gc


def return_memory() -> None:
    """Give freed memory back to the system. glibc keeps what compiling has left between small pieces."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError, TypeError):  # other C libraries
        ctypes.CDLL(None).malloc_trim(0)


def mappings() -> int:
    """How many pieces of its address space this process has mapped; 0 where nobody counts them."""
    with contextlib.suppress(OSError), open("/proc/self/maps", "rb") as file:
        return sum(part.count(b"\n") for part in iter(lambda: file.read(1 << 16), b""))
    return 0


@functools.cache
def most_mappings() -> int:
    """Of how many the system refuses the next one: the compiler ends the process then."""
    with contextlib.suppress(OSError, ValueError), open("/proc/sys/vm/max_map_count") as file:
        return int(file.read())
    return 1 << 62
