"""What is to run, in one process or several."""

import collections
import multiprocessing
import pickle
import time

from tests.accuracy import book
from tests.accuracy.routines import BY_NAME, ROUTINES


def chosen(options) -> list:
    """(routine's name, dtype) of all that is to run."""

    def wanted(routine):
        return (not options.part or routine.part in options.part) and (
            not options.routine
            or any(routine.name == r or (r[-1] == "*" and routine.name.startswith(r[:-1])) for r in options.routine)
        )  # fmt: skip

    return [
        (r.name, d)
        for r in ROUTINES
        if wanted(r)
        for d in r.dtypes
        if not options.dtype or d in options.dtype
    ]


def measured(task) -> tuple:
    """(task, entries, seconds): what one process does."""
    (name, dtype), options = task
    start = time.perf_counter()
    entries = book.run(
        BY_NAME[name], dtype, options.family, options.size, options.way, options.quick
    )
    return (name, dtype), entries, time.perf_counter() - start


def records(options) -> list:
    return loaded(options.load) if options.load else run_all(options)


def loaded(names) -> list:
    """Records of files; later ones replace those of the same routine and dtype."""
    found: dict = {}
    for name in names:
        with open(name, "rb") as file:
            entries = pickle.load(file)
        new: dict = {}
        for e in entries:
            new.setdefault((e.routine, e.dtype), []).append(e)
        found |= new
    return _ordered([e for entries in found.values() for e in entries])


def _ordered(entries) -> list:
    """In the order of the tables, whichever process was quick."""
    order = {r.name: k for k, r in enumerate(ROUTINES)}
    return sorted(entries, key=lambda e: order[e.routine])


def run_all(options) -> list:
    tasks = [(task, options) for task in chosen(options)]
    entries = []
    for task, part, seconds in _run(tasks, options.jobs):
        _tell(task, part, seconds)
        entries += part
    return _ordered(entries)


def _run(tasks, jobs):
    if jobs == 1:
        yield from map(measured, tasks)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap_unordered(measured, tasks, chunksize=1)


def _tell(task, entries, seconds) -> None:
    kinds = collections.Counter(e.kind for e in entries)
    claims, false = sum(e.claims for e in entries), sum(e.false for e in entries)
    worst = max((e for e in entries if e.kind == "ratio"), key=lambda e: e.ratio, default=None)
    where = f"{worst.ratio:.3g} ({worst.what}, {worst.family}, {worst.n}, {worst.way})" if worst else "none"  # fmt: skip
    print(f"{task[0]:<26}{task[1]:<6}{seconds:6.1f} s  largest ratio {where}; {claims} claims, {false} false; {kinds['refused']} refused", flush=True)  # fmt: skip
