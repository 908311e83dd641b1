"""``python -m tests.fuzz --seed S --count N``: runs random programs and prints what differs as scripts."""

import argparse
import json
import sys

from tests.fuzz import workers


def parsed(argv=None):
    p = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    p.add_argument("--seed", type=int, default=0, help="of the sequence of programs")
    p.add_argument(
        "--first", type=int, default=0, help="number of the first program of the sequence"
    )
    p.add_argument("--count", type=int, default=100, help="how many programs")
    p.add_argument("--bits", type=int, choices=(32, 64), default=32, help="the default width")
    p.add_argument(
        "--values", action="store_true", help="with NaN, infinities, zeros, 1e±30 among the inputs"
    )
    p.add_argument("--most", type=int, default=60, help="operations of a program at most")
    p.add_argument("--jobs", type=int, default=1, help="processes")
    p.add_argument("--minutes", type=float, default=None, help="stop after so many")
    p.add_argument(
        "--timeout", type=float, default=120, help="seconds for one program; more is a finding"
    )
    p.add_argument("--jax", action="store_true", help="compare with jax too, if it is installed")
    p.add_argument("--hasty", action="store_true", help="compile fast rather than well")
    p.add_argument("--no-shrink", action="store_true", help="print failures as they were drawn")
    p.add_argument("--show", action="store_true", help="print the first program and stop")
    p.add_argument("--json", default=None, help="write counts and failures to this file")
    return p.parse_args(argv)


def main(argv=None):
    options = parsed(argv)
    if options.show:
        from tests.fuzz import check, generate

        program = generate.program(options.seed, options.first, options.bits, options.values, options.most)  # fmt: skip
        print(check.script(program, []))
        return 0
    summary = workers.run(options, told=_tell)
    print(f"{summary['programs']} programs, {summary['operations']} operations, {len(summary['failures'])} differ, {summary['refused by jax']} refused by jax, {summary['compared with jax']} compared with it")  # fmt: skip
    if options.json:
        with open(options.json, "w") as file:
            json.dump(summary, file, indent=1)
    return 1 if summary["failures"] else 0


def _tell(failure):
    print("-" * 100)
    print(failure["script"], flush=True)


if __name__ == "__main__":
    sys.exit(main())
