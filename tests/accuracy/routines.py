"""All rows of the ledger."""

from tests.accuracy import (
    constrained,
    dense,
    draws,
    fits,
    functions,
    krylov,
    pdes,
    specials,
    spectra,
    steppers,
    structured,
    tensors,
)

ROUTINES = [
    *dense.ROUTINES, *spectra.ROUTINES, *structured.ROUTINES, *functions.ROUTINES, *krylov.ROUTINES,
    *fits.ROUTINES, *constrained.ROUTINES, *pdes.ROUTINES, *steppers.ROUTINES, *draws.ROUTINES, *tensors.ROUTINES, *specials.ROUTINES,
]  # fmt: skip
BY_NAME = {r.name: r for r in ROUTINES}
assert len(BY_NAME) == len(ROUTINES)
