"""The compiler ends a process that has no mappings left: programs go before that."""

import sys

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore._backend import memory
from xcore._core import compile

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux counts mappings")


@pytest.fixture
def room(monkeypatch):
    """Mappings for two dozen programs more than there are now."""
    start = memory.mappings()
    limit = start + 240
    monkeypatch.setattr(memory, "most_mappings", lambda: 3 * limit // 2)
    monkeypatch.setattr(compile, "_budget", compile.MappingBudget())
    return limit


def test_old_programs_make_room_for_new_ones(room):
    f = xc.jit(lambda x: xnp.sum(xnp.sin(x) * 2 + x @ x))
    most, before = 0, len(compile._executables)
    for n in range(120):
        x = np.full(n + 5, 0.5, np.float32)
        for _ in range(
            4
        ):  # the fast path, which knows executables too, is learnt at the third call
            value = f(x)
        np.testing.assert_allclose(value, x.size * (2 * np.sin(0.5) + 0.25 * x.size), rtol=1e-5)
        most = max(most, memory.mappings())
    assert most < room + 40 * 16, most - room  # sixteen programs come between two looks
    assert len(compile._executables) < before + 120


def test_large_programs_are_looked_at_in_time(monkeypatch):
    """Each has hundreds of mappings: what programs may come between two looks is not told by how small others were."""
    there, given = memory.mappings(), []
    monkeypatch.setattr(memory, "most_mappings", lambda: 65530)
    monkeypatch.setattr(memory, "mappings", lambda: there + 1000 * len(given))
    monkeypatch.setattr(compile, "forget_half", lambda: given.__delitem__(slice(len(given) // 2)))
    room, most = compile.MappingBudget(), 0
    for _ in range(500):
        room.reserve()
        given.append(None)
        most = max(most, memory.mappings())
    assert most < 60000 and len(given) > 10


def test_nothing_goes_while_there_is_room(monkeypatch):
    monkeypatch.setattr(memory, "most_mappings", lambda: 10 * memory.mappings())
    room, f = compile.MappingBudget(), xc.jit(lambda x: x + 1)
    f(np.ones(3))
    before = len(compile._executables)
    for _ in range(100):
        room.reserve()
    assert len(compile._executables) == before


def test_what_was_forgotten_comes_back(room):
    f, x = xc.jit(lambda x: xnp.cos(x) + 1), np.ones(7)
    compiled = f.lower(x).compile()
    first = np.asarray(f(x))
    compile.forget_half()
    compile.forget_half()
    for _ in range(5):
        assert np.array_equal(f(x), first) and np.array_equal(compiled(x), first)
