"""All rows of the ledger."""

from tests.accuracy import (
    dense,
    fits,
    functions,
    krylov,
    pdes,
    specials,
    spectra,
    structured,
    tensors,
)

ROUTINES = [
    *dense.ROUTINES, *spectra.ROUTINES, *structured.ROUTINES, *functions.ROUTINES, *krylov.ROUTINES,
    *fits.ROUTINES, *pdes.ROUTINES, *tensors.ROUTINES, *specials.ROUTINES,
]  # fmt: skip
BY_NAME = {r.name: r for r in ROUTINES}
assert len(BY_NAME) == len(ROUTINES)
