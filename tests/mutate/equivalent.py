"""Survivors that no test can kill: what the mistake changes cannot be seen. Each with the reason.

A row is (file, function, part of the text "before → after", reason); function and part may be "*".
"""

from __future__ import annotations

ACCELERATOR = "runs on an accelerator alone, whose tests are marked so"
FORM = "chooses between forms that give the same values; benchmarks tell them apart"
PROMISE = "a promise to the compiler, which code for the CPU makes no use of"
SYMMETRIC = "the operands may change places"
SAME_TYPE = "both operands are of one type there"

_OPS = "xcore/_ops/"
ROWS: tuple = (
    (_OPS + "factor.py", "_permuted", "*", ACCELERATOR),
    (_OPS + "factor.py", "_tridiagonal_gpu", "*", ACCELERATOR),
    (_OPS + "spectral.py", "_svd_gpu", "*", ACCELERATOR),
    (_OPS + "spectral.py", "_svd_gpu_qr", "*", ACCELERATOR),
    (_OPS + "factor.py", "_by_kernel", "*", FORM),
    (_OPS + "dot.py", "_better_form", "*", FORM),
    (_OPS + "reduce.py", "_extremum_with_nans", "_MANY_RESULTS", FORM),
    (_OPS + "spectral.py", "_svd_cpu", "m <= n", FORM),
    (_OPS + "conv.py", "_frames_by_band", "64 if piece", FORM),
    (_OPS + "cumulative.py", "_totals", "if not blocks", FORM),
    (_OPS + "slicing.py", "_gather_batch", "sorted=False", PROMISE),
    (_OPS + "slicing.py", "_scatter_batch", "sorted=False", PROMISE),
    ("xcore/_control/cond.py", "_batch", "ops.clamp(zeros", "0 and top are in order: " + SYMMETRIC),
    ("xcore/_control/checkpoint.py", "_lower", "differentiated and prevent_cse", PROMISE),
)


def reason(mutant) -> str | None:
    """Why a mutant changes nothing that can be seen; None if it should be killed."""
    for path, function, part, why in ROWS:
        if path == mutant.path and function in ("*", mutant.function):
            if part == "*" or part in mutant.text:
                return why
    return None
