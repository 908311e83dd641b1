"""What a jitted function refers to, by way of attributes, methods and helpers: told when it changed, and only that."""

import collections
import functools
import sys
import types

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax

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


class Settings:
    rate, seen = 0.1, 0


class Slotted:
    __slots__ = ("losses", "rate")

    def __init__(self):
        self.rate, self.losses = 0.1, []


def test_attributes_of_classes_and_slots(told):
    class Local(Settings):
        def update(self, w):
            return w - self.rate * w

    def count(cls):
        cls.seen += 1

    for f in (lambda w: Local.rate * w, Local().update, lambda w: Local().update(w)):
        assert ".rate than now" in told(functools.partial(run, f, halve, Local))
        assert told(functools.partial(run, f, count, Local)) == ""
    s = Slotted()
    assert "s.rate" in told(lambda: run(lambda w: s.rate * w, halve, s))
    assert told(lambda: run(lambda w: s.rate * w, note, s)) == ""


@pytest.mark.parametrize(
    ("thing", "change"),
    [
        (collections.deque([1.0, 2.0]), lambda q: q.append(3.0)),
        (collections.OrderedDict({1.0: 2}), lambda d: d.update({4.0: 2})),
        (collections.defaultdict(list, {1.0: []}), lambda d: d[1.0].append(2)),
        ({1.0, 2.0}, lambda s: s.add(3.0)),
        ([np.ones(2)], lambda a: a.append(np.ones(2))),
    ],
    ids=lambda x: type(x).__name__,
)
def test_containers(told, thing, change):
    assert "another value of thing" in told(lambda: run(lambda x: sum(thing) * x, change, thing))


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


RATE = 0.1
BIG = np.ones((2500, 2000), "float32")


def product(w):
    return (BIG @ w).sum()  # <- here


@pytest.mark.parametrize(
    "through",
    [
        lambda f: f,
        xc.grad,
        lambda f: lambda w: lax.scan(lambda c, _: (c + f(w), None), 0.0, None, length=2)[0],
        lambda f: lambda w: lax.cond(w[0] > 0, f, lambda w: w.sum(), w),
        lambda f: lambda w: xc.vmap(lambda a: f(a * w))(xnp.ones((2, 1))),
        lambda f: xc.jit(lambda w: xc.checkpoint(f)(w)),
    ],
    ids=["plain", "grad", "scan", "cond", "vmap", "jit of jit"],
)
def test_the_line_that_refers_to_a_large_array(told, through):
    report = told(lambda: xc.jit(through(product))(xnp.ones(2000)))
    assert "an array of 19 MB" in report
    assert f"test_captures.py:{product.__code__.co_firstlineno + 1} in product" in report


@pytest.mark.parametrize(
    "make",
    [
        lambda: lambda v: v * RATE,
        lambda: functools.partial(lambda v, k: v * k, k=RATE),
        lambda: Plain().update,
        lambda: xc.grad(lambda v: v * RATE),
    ],
    ids=["closure", "partial", "method", "derivative"],
)
def test_functions_that_are_made_anew(told, make):
    def loop(n):
        for _ in range(n):
            xc.jit(make())(1.0)

    assert told(lambda: loop(4)) == ""
    assert "anew, and traces it for the 10th time" in told(lambda: loop(7))
