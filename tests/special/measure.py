"""Print the measured errors of every row: python -m tests.special.measure [name ...]"""

import sys
import time

import numpy as np

from tests.special.table import ROWS
from tests.special.test_accuracy import errors


def main(names) -> None:
    for row in ROWS:
        if not names or row.name in names:
            measure(row)


def measure(row) -> None:
    start, found = time.time(), []
    for dtype, bound in ((np.float64, row.f64), (np.float32, row.f32)):
        if bound == np.inf:
            found.append("out of range")
            continue
        off, points = errors(row, dtype)
        worst = int(np.argmax(off))
        at = [float(p[worst]) for p in points]
        found.append(f"{off[worst]:9.3g} of {bound:5g} at {at}")
    print(f"{row!s:18} {time.time() - start:5.1f} s  {found[0]}  |  {found[1]}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
