"""Where xcore is meant to differ from its references, by rule and with the reason."""

import dataclasses
from collections.abc import Callable

from tests.fuzz.programs import steps_of


@dataclasses.dataclass(frozen=True)
class Difference:
    applies: Callable  # (names of rows in the program, program, finding) -> bool
    reason: str


DIFFERENCES: list[Difference] = []


def explains(program, finding) -> bool:
    """Whether a finding is one of the documented differences."""
    rows = {step.row for step in steps_of(program)}
    return any(d.applies(rows, program, finding) for d in DIFFERENCES)
