"""``python -m tests.accuracy``: every routine on every family of problems; with --write, the page."""

import argparse
import os
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
    p.add_argument("--save", default=None, help="add the records to this file as they come")
    p.add_argument("--load", action="append", help="take records from these files and run nothing")
    p.add_argument("--write", default=None, help="write the page to this file")
    return p.parse_args(argv)


def main(argv=None) -> int:
    options = parsed(argv)
    if options.platform:
        os.environ["XCORE_PLATFORM"] = options.platform
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # references are of small matrices
    start = time.perf_counter()
    from tests.accuracy import page, wide, work

    wide.needs_extended()
    entries = work.records(options)
    if options.write:
        with open(options.write, "w") as file:
            file.write(
                page.text(entries, options, 0 if options.load else time.perf_counter() - start)
            )
    print(page.summary(entries))
    return 1 if any(e.false for e in entries) else 0


if __name__ == "__main__":
    sys.exit(main())
