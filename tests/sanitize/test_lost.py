"""Results that nobody keeps: told where a line throws them away, and not where something may read them."""

# ruff: noqa: F841

import warnings

import pytest

import xcore as xc
import xcore.numpy as xnp


def alone(x):
    x.at[0].set(1)


def in_a_tuple(x):
    x.at[0].set(1), x.at[1].set(2)


def in_a_list(x):
    [3, x.at[0].set(1)]


def second_of_a_chain(x):
    x.at[0].set(1).at[1].set(2)


def under_the_old_name(x):
    x = x.at[0].set(1)


def under_a_name(x):
    changed = x.at[0].set(1)
    return x


def under_a_name_in_a_block(x):
    with warnings.catch_warnings():
        changed = x.at[0].set(1)
    return 0


def before_the_cleaning_up(x):
    try:
        x = x.at[0].set(1)
    finally:
        print(end="")


def sorted_under_a_name(x):
    order = x.sort()
    return x


def given_back(x):
    changed = x.at[0].set(1)
    return changed


def read_later(x):
    changed = x.at[0].set(1)
    print(end="")
    return x + changed


def read_in_the_next_round(x):
    for i in range(2):
        x = x.at[i].set(1)


def read_in_the_round(x):
    while True:
        changed = x.at[0].set(1)
        if changed[0] == 1:
            break


def deleted(x):
    changed = x.at[0].set(1)
    del changed


def meant(x):
    _ = x.at[0].set(1)


def read_by_a_closure(x):
    changed = x.at[0].set(1)
    return lambda: changed


def read_by_name(x):
    changed = x.at[0].set(1)
    return locals()


def one_of_two_ways(x):
    if x is not None:
        x = x.at[0].set(1)
    return x


def an_element_of(x):
    kept = {}
    kept["x"] = x.at[0].set(1)


def an_argument(x):
    print(x.at[0].set(1), end="")


def in_a_number(x):
    x += x.at[0].set(1)
    return x


def in_a_text(x):
    return f"{x.at[0].set(1)}"


def asserted(x):
    assert x.at[0].set(1) is not None


LOST = [
    alone, in_a_tuple, in_a_list, second_of_a_chain, under_the_old_name, under_a_name,
    under_a_name_in_a_block, before_the_cleaning_up, sorted_under_a_name,
]  # fmt: skip
KEPT = [
    given_back, read_later, read_in_the_next_round, read_in_the_round, deleted, meant, read_by_a_closure,
    read_by_name, one_of_two_ways, an_element_of, an_argument, in_a_number, in_a_text, asserted,
]  # fmt: skip


def findings(f):
    with xc.config.override(sanitize=True), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        f(xnp.arange(3.0))
    return [w for w in told if "nobody keeps it" in str(w.message)]


@pytest.mark.parametrize("f", LOST, ids=lambda f: f.__name__)
def test_what_is_lost_is_told(f):
    (told,) = findings(f)
    assert told.filename == __file__


@pytest.mark.parametrize("f", KEPT, ids=lambda f: f.__name__)
def test_what_may_be_read_is_not(f):
    assert not findings(f)


def test_in_a_traced_function():
    @xc.jit
    def lost(x):
        x = x.at[0].set(1)

    assert len(findings(lost)) == 1
    assert not findings(xc.jit(given_back))
