"""All rows of the ledger."""

from tests.accuracy import dense, functions, krylov, structured

ROUTINES = [*dense.ROUTINES, *structured.ROUTINES, *functions.ROUTINES, *krylov.ROUTINES]
BY_NAME = {r.name: r for r in ROUTINES}
assert len(BY_NAME) == len(ROUTINES)
