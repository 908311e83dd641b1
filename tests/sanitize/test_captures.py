"""What a jitted function refers to, by way of attributes, methods and helpers: told when it changed, and only that."""

import sys
import types

import pytest

import xcore as xc

_HELPERS = """
factor, table = 2.0, [1.0, 2.0]

def scale(x):
    return factor * x + sum(table)
"""


class Descent:
    def __init__(self):
        self.rate, self.losses = 0.1, []

    def update(self, w):
        return w - self.rate * w

    def other(self, w):
        return 2 * w

    @property
    def half(self):
        return self.rate / 2


class Biased(Descent):
    def update(self, w):
        return super().update(w) + 1


class Callable(Descent):
    def __call__(self, w):
        return self.update(w)


class Plain(Descent):
    pass


@pytest.fixture
def helpers(monkeypatch):
    module = types.ModuleType("helpers")
    exec(compile(_HELPERS, "helpers.py", "exec"), vars(module))
    monkeypatch.setitem(sys.modules, "helpers", module)
    return module


def halve(d):
    d.rate /= 2


def note(d):
    d.losses.append(1.0)


def run(function, change, thing):
    f = xc.jit(function)
    f(1.0)
    change(thing)
    return f(1.0)


READS = {
    "method": (Descent, lambda d: d.update),
    "method of a base class": (Biased, lambda d: d.update),
    "method that is called": (Plain, lambda d: lambda w: d.update(w)),
    "property": (Plain, lambda d: lambda w: d.half * w),
    "by name": (Plain, lambda d: lambda w: getattr(d, "rate") * w),  # noqa: B009
    "object that is called": (Callable, lambda d: lambda w: d(w)),
    "object": (Callable, lambda d: d),
}


@pytest.mark.parametrize("case", READS)
def test_attribute_that_is_read(told, case):
    cls, make = READS[case]
    d = cls()
    assert ".rate than now" in told(lambda: run(make(d), halve, d))
    assert told(lambda: run(make(d), note, d)) == ""


def test_attribute_that_is_not_read(told):
    d = Plain()
    assert told(lambda: run(d.other, halve, d)) == ""
    assert told(lambda: run(lambda w: d.other(w), halve, d)) == ""


def test_names_of_another_module(told, helpers):
    def double(m):
        m.factor *= 2

    def append(m):
        m.table.append(1.0)

    scale = helpers.scale
    assert "factor of helpers" in told(lambda: run(lambda x: helpers.scale(x), double, helpers))
    assert "table of helpers" in told(lambda: run(lambda x: scale(x), append, helpers))
    assert "table" in told(lambda: run(scale, append, helpers))
