"""The cases of benchmarks/gpu.py in full size, compiled for a device: ``python -m tests.accelerators.large h200``.

Prints the bytes of arguments, results and what each needs besides, and the elements of the largest concatenation.
"""

import importlib
import json
import math
import re
import sys

import xcore as xc
from tests.accelerators.sweep import ROOT


def cases() -> tuple[list, list]:
    """(the cases in the sizes of a GPU, the types of their arguments): no array is made. Without those that
    are others with options of the compiler."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    here, xc.default_backend = xc.default_backend, lambda: "cuda"
    try:
        gpu = importlib.import_module("gpu")
    finally:
        xc.default_backend = here
    found = []

    def arguments():
        found.extend([*gpu.cases(), *gpu.problems()])
        return [work.args for work in found]

    types = xc.eval_shape(arguments)
    usual = [i for i, work in enumerate(found) if not getattr(work, "options", None)]
    return [found[i] for i in usual], [types[i] for i in usual]


def main() -> None:
    """A line for each case."""
    here = xc.topology(sys.argv[1])
    for work, args in zip(*cases(), strict=True):
        try:
            made = xc.jit(work.f).lower(*args).compile(here)
        except Exception as e:
            print(
                json.dumps({"case": work.question, "fails": f"{type(e).__name__}: {e}"[:400]}),
                flush=True,
            )
            continue
        memory = made.memory_analysis()
        joined = re.findall(r"= \w+\[([\d,]+)\]\S* concatenate\(", made.as_text())
        sizes = {
            "joined": max((math.prod(map(int, shape.split(","))) for shape in joined), default=0),
            "arguments": memory.argument_size_in_bytes, "results": memory.output_size_in_bytes,
            "temporaries": memory.temp_size_in_bytes,
        }  # fmt: skip
        print(json.dumps({"case": work.question, **sizes}), flush=True)


if __name__ == "__main__":
    main()
