"""How well long programs of ours are compiled on a CPU: ``compiler_options`` of ``jit``.

Half of the compiler's time, or two thirds, goes into code that a program of few numbers runs no faster for. At
level 1 most kernels are as fast up to some thousand elements (``lgamma`` is not: 4.6 times slower at 2,048), while
choices, gathers and scatters of many take up to 2.3 times as long; level 0 is for what runs a few times.
"""

from __future__ import annotations

from .._backend.options import LEVELS_UP_TO


def _levels(zero: int, one: int) -> dict[str, int]:
    """For which numbers of elements, of the largest value that is computed, a program is compiled at levels 0 and 1."""
    return dict(zip(LEVELS_UP_TO, (zero, one), strict=True))


# Iterations that may be many.
OF_FEW_NUMBERS = _levels(0, 2048)
# Solvers with much around their iterations.
OF_MANY_OPERATIONS = _levels(0, 2**20)
# Minimisers take seconds to compile, and milliseconds to run; called by themselves, one of them in Python.
MINIMISERS, MINIMISERS_ALONE = _levels(0, 2**22), _levels(2048, 2**22)
# The work is products by dense kernels, which are not compiled.
OF_KERNELS = _levels(0, 2**62)
