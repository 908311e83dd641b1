"""``python -m tests.accuracy``: every routine on every family of problems; with --write, the page."""

import argparse
import collections
import multiprocessing
import os
import pickle
import sys
import time


def parsed(argv=None):
    p = argparse.ArgumentParser(prog="python -m tests.accuracy", description=__doc__)
    p.add_argument("--platform", default=None, help="cpu (default) or cuda")
    p.add_argument("--routine", action="append", help="only this one (repeatable; a beginning is enough with a *)")  # fmt: skip
    p.add_argument("--part", action="append", help="only routines of this package")
    p.add_argument("--dtype", action="append", choices=("f16", "bf16", "f32", "f64", "c64", "c128"))
    p.add_argument("--family", action="append", help="only this family of problems")
    p.add_argument("--size", action="append", type=int, help="only this size")
    p.add_argument("--way", action="append", choices=("one", "jit", "batch", "vmap"))
    p.add_argument("--quick", action="store_true", help="small sizes, one problem at a time")
    p.add_argument("--jobs", type=int, default=1, help="processes")
    p.add_argument("--save", default=None, help="keep the records in this file")
    p.add_argument("--load", action="append", help="take records from these files and run nothing")
    p.add_argument("--write", default=None, help="write the page to this file")
    return p.parse_args(argv)


def chosen(options) -> list:
    """(routine's name, dtype) of all that is to run."""
    from tests.accuracy.routines import ROUTINES

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
    from tests.accuracy import book
    from tests.accuracy.routines import BY_NAME

    (name, dtype), options = task
    start = time.perf_counter()
    entries = book.run(
        BY_NAME[name], dtype, options.family, options.size, options.way, options.quick
    )
    return (name, dtype), entries, time.perf_counter() - start


def records(options) -> list:
    if options.load:
        found = []
        for name in options.load:
            with open(name, "rb") as file:
                found += pickle.load(file)
        return found
    tasks = [(task, options) for task in chosen(options)]
    entries = []
    for task, part, seconds in _run(tasks, options.jobs):
        _tell(task, part, seconds)
        entries += part
    return entries


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


def main(argv=None) -> int:
    options = parsed(argv)
    if options.platform:
        os.environ["XCORE_PLATFORM"] = options.platform
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # references are of small matrices
    start = time.perf_counter()
    from tests.accuracy import page, wide

    wide.needs_extended()
    entries = records(options)
    if options.save:
        with open(options.save, "wb") as file:
            pickle.dump(entries, file)
    if options.write:
        with open(options.write, "w") as file:
            file.write(page.text(entries, options, time.perf_counter() - start))
    print(page.summary(entries))
    return 1 if any(e.false for e in entries) else 0


if __name__ == "__main__":
    sys.exit(main())
