"""The table of what each function can do says what comes out when a part of it is tried again."""

import pytest

from tools.site import facts
from tools.site.names import places

# Dealt out by their place in the list, so that a new function is tried too.
SHARE = [p for i, p in enumerate(facts.of_interest()) if i % 50 == 3]


@pytest.mark.parametrize("place", SHARE, ids=lambda p: p.name)
def test_rows_are_true(place):
    assert facts.facts(place) == facts.table().get(place.name)


def test_no_derivative_differs_from_differences_of_values():
    assert [f for f in facts.table().values() if f.derivative.startswith("differs")] == []


def test_every_row_is_of_a_function():
    assert set(facts.table()) <= set(places())
