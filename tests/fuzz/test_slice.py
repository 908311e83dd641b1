"""A slice of the fuzzer's programs in every test run, and what it must notice."""

import dataclasses

import numpy as np
import pytest

import xcore.numpy as xnp
from tests.fuzz import check, generate, programs, shrink
from tests.fuzz.helpers import Unfit

COUNT, PARTS = 300, 9  # no divisor of 4 or 5: each part has all kinds


@pytest.mark.parametrize("part", range(PARTS))
def test_slice(part):
    """Small programs: many different ones in the time that a few large ones would take to compile."""
    for number in range(part, COUNT, PARTS):
        bits, special = (64 if number % 4 == 3 else 32), number % 5 == 4
        program = generate.program(2026, number, bits, special, most=8)
        try:
            found = check.compare(program)
        except Unfit:  # too expensive for the reference
            continue
        assert not found, check.script(program, found)


def test_programs_are_determined_by_their_number():
    first, again = (generate.program(1, 5) for _ in range(2))
    assert check.script(first, []) == check.script(again, [])


BROKEN = {
    "a value": lambda f: lambda x: f(x) * (1 + 1e-4),
    "a dtype": lambda f: lambda x: f(x).astype(xnp.float16),
    "a shape": lambda f: lambda x: f(x)[None],
    "an error": lambda f: lambda x: f(x, x, x),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_wrong_function_is_noticed_and_shrunk(how, monkeypatch):
    monkeypatch.setattr(xnp, "exp", BROKEN[how](xnp.exp))
    x = programs.Input("a", np.asarray([0.5, 1.0], np.float32))
    steps = (
        programs.Step(("b",), "xnp.sin", ("a",)),
        programs.Step(("c",), "xnp.exp", ("b",)),
        programs.Step(("d",), "xnp.cos", ("b",)),
        programs.Step(("e",), "mul", ("c", "d")),
    )
    program = programs.Program((x,), steps, ("e",))
    found = check.compare(program)
    assert found
    small = shrink.shrunk(program, found[0].signature)
    assert [s.row for s in small.steps] == ["xnp.exp"]
    assert "xnp.exp" in check.script(small, found)
    assert dataclasses.replace(small, inputs=()) != small
