"""A solver's program is found again where all that its function refers to is the same, and only there."""

import os
import random
import time
import types
from time import perf_counter

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore._control.once import once

SHARED = [1.0]
DRAWS = xc.random.default_rng(0) if hasattr(xc.random, "default_rng") else None
OURS = np.random.default_rng(0)


class Base:
    kind = 1.0

    def size(self):
        return self.kind

    @property
    def shared(self):
        return SHARED[0]

    def __getitem__(self, i):
        return SHARED[i]


class Model(Base):
    def __init__(self):
        self.own = 1.0

    def __call__(self, x):
        return x * self.own * self.size()


def noise():
    return np.random.rand()


def imported(x):
    import random as r

    return x * r.random()


MODEL = Model()
PLACES = types.ModuleType("places")
PLACES.near, PLACES.far = 1.0, 1.0


def of_far():
    return PLACES.far


def weighted(x):
    return x * weighted.scale


weighted.scale = 1.0

CHANGING = {
    "numpy.random": lambda x: x * np.random.rand(),
    "a helper's": lambda x: x * noise(),
    "random": lambda x: x * random.random(),
    "imported inside": imported,
    "a generator of NumPy's": lambda x: x * OURS.random(),
    "time": lambda x: x * time.time(),
    "a clock by name": lambda x: x * perf_counter(),
    "the environment": lambda x: x * float(os.environ["PATH"] != ""),
    "a file": lambda x: x * float(open(os.devnull).read() or 1),
    "getattr": lambda x: x * getattr(MODEL, "own"),  # noqa: B009
}


@pytest.mark.parametrize("name", CHANGING)
def test_what_may_change_without_a_sign_is_traced_anew(name):
    assert once(CHANGING[name]) is not once(CHANGING[name])


@pytest.mark.skipif(DRAWS is None, reason="no generators with a state")
def test_our_own_generators_are_drawn_from_anew():
    f = lambda x: x * DRAWS.normal()
    assert once(f) is not once(f)


def grow():
    SHARED[0] += 1


def set_on(owner, name, value):
    def change():
        setattr(owner, name, value())

    return change


STEPS = {
    "a list": (lambda x: x * SHARED[0], grow),
    "a property": (lambda x: x * MODEL.shared, grow),
    "an index": (lambda x: x * MODEL[0], grow),
    "an attribute": (lambda x: x * MODEL.own, lambda: set_on(MODEL, "own", lambda: MODEL.own + 1)()),
    "a class, by way of a method": (
        lambda x: x * MODEL.size(), lambda: set_on(Base, "kind", lambda: Base.kind + 1)(),
    ),
    "an object that is called": (MODEL, lambda: set_on(MODEL, "own", lambda: MODEL.own + 1)()),
    "an attribute of a function": (weighted, lambda: set_on(weighted, "scale", lambda: weighted.scale + 1)()),
    "a module, by way of a helper": (
        lambda x: x * PLACES.near * of_far(), lambda: set_on(PLACES, "far", lambda: PLACES.far + 1)(),
    ),
    "a bound method": (MODEL.__call__, lambda: set_on(Base, "kind", lambda: Base.kind + 1)()),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_what_changes_is_seen(name):
    f, change = STEPS[name]
    before = once(f)
    assert once(f) is before
    first = float(before(2.0))
    change()
    assert once(f) is not before and float(once(f)(2.0)) > first


def test_arrays_are_compared_by_their_elements():
    a, b = np.ones(3), xnp.arange(3.0)
    f = lambda x: (x * a + b).sum()
    before = once(f)
    assert once(lambda x: (x * a + b).sum()) is not before  # another line
    assert once(f) is before
    a[1] = 5
    assert once(f) is not before
    a[1] = 1
    assert once(f) is before


def test_functions_of_libraries_and_helpers_are_known():
    make = lambda scale: lambda x: xnp.sum(np.float64(scale) * xnp.sin(x)) + SHARED[0]
    assert once(make(2.0)) is once(make(2.0))
    assert once(make(2.0)) is not once(make(3.0))


def test_the_oldest_make_room(monkeypatch):
    from xcore._control import once as module

    monkeypatch.setattr(module, "_MOST", 4)
    make = lambda scale: lambda x: x * scale
    kept = [once(make(float(k))) for k in range(100, 110)]
    assert len(module._known) == 4
    assert [once(make(float(k))) is f for k, f in zip(range(106, 110), kept[6:])] == [True] * 4
    assert once(make(100.0)) is not kept[0]
