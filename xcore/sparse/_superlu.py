"""SuperLU's factors, made on one thread.

SuperLU asks BLAS for products of a few columns at a time. Where BLAS shares these among threads, which OpenBLAS does
with complex ones, each product takes longer to share than to compute: complex factors of a grid of 511² took 20 times
as long on two cores as on one.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
from typing import Any

_NAMES = ("scipy_openblas_{}_num_threads", "openblas_{}_num_threads")
_lock = threading.Lock()
_inside = {"count": 0, "threads": 0}


def superlu(a: Any, incomplete: bool = False, **options: Any) -> Any:
    """``scipy.sparse.linalg.splu``, or ``spilu``; None where a pivot vanishes."""
    from scipy.sparse import linalg

    try:
        with one_thread():
            return (linalg.spilu if incomplete else linalg.splu)(a, **options)
    except RuntimeError as e:
        if "singular" in str(e) or _is_structurally_singular(a):
            return None
        raise


def _is_structurally_singular(a: Any) -> bool:
    """Of which SuperLU may say that it failed to factorise, and no more."""
    from scipy.sparse.csgraph import structural_rank

    return bool(structural_rank(a.tocsr()) < min(a.shape))


@contextlib.contextmanager
def one_thread():
    """The BLAS of SuperLU on one thread, where it is one that can be told so; for all who are inside at a time."""
    blas = _blas()
    if blas is None:
        yield
        return
    get, put = blas
    with _lock:
        if not _inside["count"]:
            _inside["threads"] = get()
            put(1)
        _inside["count"] += 1
    try:
        yield
    finally:
        with _lock:
            _inside["count"] -= 1
            if not _inside["count"]:
                put(_inside["threads"])


@functools.cache
def _blas() -> tuple[Any, Any] | None:
    """(how many threads the BLAS that SuperLU is linked to has, what sets that), or None."""
    try:
        from scipy.sparse.linalg._dsolve import _superlu

        library = ctypes.CDLL(_superlu.__file__)
    except (ImportError, OSError, AttributeError):
        return None
    for name in _NAMES:
        get, put = (getattr(library, name.format(do), None) for do in ("get", "set"))
        if get and put:
            return get, put
    return None
