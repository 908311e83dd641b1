"""What a process holds of memory: what the C library keeps of it, and mappings, which are counted."""

import contextlib
import ctypes
import functools
import gc
import os


def return_memory() -> None:
    """Give freed memory back to the system. glibc keeps what compiling has left between small pieces."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError, TypeError):  # other C libraries
        ctypes.CDLL(None).malloc_trim(0)


@functools.cache
def of_host() -> int:
    """Bytes of memory that the machine has, with what it may move to disk; very many where nobody says."""
    total = 0
    with contextlib.suppress(OSError, ValueError), open("/proc/meminfo") as file:
        sizes = dict(line.split(":", 1) for line in file)
        total = sum(1024 * int(sizes[name].split()[0]) for name in ("MemTotal", "SwapTotal"))
    with contextlib.suppress(OSError, ValueError, AttributeError):
        total = total or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return total or 1 << 62


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
