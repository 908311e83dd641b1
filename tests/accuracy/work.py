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

    found = [(r.name, d) for r in ROUTINES if wanted(r) for d in r.dtypes if not options.dtype or d in options.dtype]  # fmt: skip
    return sorted(found, key=lambda task: _FIRST.index(task[1]))


_FIRST = ("f64", "f32", "c128", "c64", "f16", "bf16")  # the order of running


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
        for entries in _stored(name):
            found |= {(e.routine, e.dtype): entries for e in entries[:1]}
    return _ordered([e for entries in found.values() for e in entries])


def _stored(name):
    """What each task found, as it was kept."""
    with open(name, "rb") as file:
        while True:
            try:
                yield pickle.load(file)
            except EOFError:
                return


def _ordered(entries) -> list:
    """In the order of the tables, whichever process was quick."""
    order = {r.name: k for k, r in enumerate(ROUTINES)}
    return sorted(entries, key=lambda e: order[e.routine])


def run_all(options) -> list:
    tasks = [(task, options) for task in chosen(options)]
    entries = []
    for task, part, seconds in _run(tasks, options.jobs):
        _tell(task, part, seconds)
        if options.save:
            with open(options.save, "ab") as file:
                pickle.dump(part, file)
        entries += part
    return _ordered(entries)


LIFE = (
    25  # routines of a process: each executable takes mappings of memory, of which there are 65,530
)


def _run(tasks, jobs):
    if jobs == 1 and len(tasks) <= LIFE:
        yield from map(measured, tasks)
        return
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=LIFE) as pool:
        yield from pool.imap_unordered(measured, tasks, chunksize=1)


def _tell(task, entries, seconds) -> None:
    kinds = collections.Counter(e.kind for e in entries)
    claims, false = sum(e.claims for e in entries), sum(e.false for e in entries)
    worst = max((e for e in entries if e.kind == "ratio"), key=lambda e: e.ratio, default=None)
    where = f"{worst.ratio:.3g} ({worst.what}, {worst.family}, {worst.n}, {worst.way})" if worst else "none"  # fmt: skip
    print(f"{task[0]:<26}{task[1]:<6}{seconds:6.1f} s  largest ratio {where}; {claims} claims, {false} false; {kinds['refused']} refused", flush=True)  # fmt: skip
