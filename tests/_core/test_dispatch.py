"""Calls on the fast paths give what the slow path gives, in whatever order kinds of calls come.

Keys that are equal to Python but mean different things, settings that change between two calls, and
buffers that are gone are what a table of calls gets wrong without saying so.
"""

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore._core import config
from xcore._core.dispatch import Path, looked_up


class Jitted:
    """Jitted functions that no one has called yet."""

    def __init__(self):
        self.plain = xc.jit(lambda x, y: x - y)
        self.tree = xc.jit(lambda d, z=2: {"out": d["x"] * d["y"], "and": [d["x"] - z]})
        self.static = xc.jit(lambda x, *, by: x * by, static_argnames="by")
        self.pair = xc.jit(lambda x, by: x + by[0], static_argnums=1)


EQUAL = [  # as keys
    [True, 1, 1.0, complex(1, 0.0), complex(1, -0.0)],
    [False, 0, 0.0, -0.0, complex(0.0, 0.0)],
    [complex(-0.0, 1), complex(0.0, 1)],
    [2, 2.0, 200, -3, 2**40],
    [np.nan, 2.5],
]
ARRAYS = [
    lambda: xnp.asarray(np.float32([1.5, -2.0, 0.0])),
    lambda: xnp.asarray(np.int8([1, -2, 3])),
    lambda: xnp.asarray(np.int32([1, -2, 3])),
    lambda: xnp.asarray(np.float64([1.5, -2.0, 0.0])),
    lambda: xnp.asarray(np.array([True, False, True])),
    lambda: xnp.broadcast_to(xnp.asarray(2.5), (3,)),  # weak
    lambda: xc.device_put(np.float32([1, 2, 3]), xc.devices()[-1]),
]
PATHS = {
    "add": lambda x, y: x + y,
    "reflected": lambda x, y: y - x,
    "multiply": lambda x, y: x * y,
    "compare": lambda x, y: x < y,
    "fused": lambda x, y: xnp.subtract(x, y),
    "static": lambda x, y: xnp.nan_to_num(x / x, nan=y),
    "statics": lambda x, y: xnp.sum(x, axis=(0,), keepdims=bool(y)),
    "jit": lambda x, y: used.plain(x, y),
    "jit of trees": lambda x, y: used.tree({"x": x, "y": y}),
    "jit of a number": lambda x, y: used.tree({"x": x, "y": x}, y),
    "jit, static": lambda x, y: used.static(x, by=y),
    "jit, tuple": lambda x, y: used.pair(x, (y, 1)),
    "int": lambda x, y: x[int(y.real) % 3],
    "slice": lambda x, y: x[int(y.real) % 3 :],
    "set": lambda x, y: x.at[1].set(y),
    "add at": lambda x, y: x.at[1:3].add(y),
    "set array": lambda x, y: x.at[0].set(xnp.asarray(y)),
}
SETTINGS = [
    {},
    {},
    {"enable_checks": True},
    {"default_bits": 64},
    {"numpy_rank_promotion": "raise"},
]


used = Jitted()


def expected(path, x, y, **settings):
    """The outcome on the slow path. Numbers are arguments of jitted functions, and may wrap around."""
    global used
    kept, used = used, Jitted()
    try:
        return outcome(path, x, y, disable_jit="jit" not in path, **settings)
    finally:
        used = kept


def outcome(path, x, y, **settings):
    """What a call gives, in a form that tells signs of zeros and kinds of failures apart."""
    with config.override(**settings) if settings else nullcontext():
        try:
            out = PATHS[path](x(), y)
        except Exception as e:
            return type(e)
    leaves = xc.tree.leaves(out)
    return [(a.dtype.name, a.weak_type, a.device, _bits(a)) for a in leaves]


def _bits(a):
    host = np.asarray(a)
    return host.shape, np.where(host == host, host, 7).tobytes()  # NaN has many bits


def _settings(chosen: dict, process_wide: bool):
    if not (process_wide and chosen):
        return None
    before = {k: config.read(k) for k in chosen}
    for k, v in chosen.items():
        config.update(k, v)
    return before


@pytest.mark.parametrize("seed", range(3))
def test_any_order_of_calls(seed):
    draw, known, told = random.Random(seed), {}, []
    with ThreadPoolExecutor(1) as other_thread:
        for _ in range(60):
            path, chosen = draw.choice([*PATHS]), draw.choice(SETTINGS)
            x, numbers = draw.choice(ARRAYS), draw.choice(EQUAL)
            process_wide, threaded = draw.random() < 0.3, draw.random() < 0.3
            before = _settings(chosen, process_wide)
            given = {} if before else chosen
            try:
                for y in 4 * draw.sample(numbers, len(numbers)):
                    key = path, ARRAYS.index(x), repr(y), repr(chosen)
                    if key not in known:
                        known[key] = expected(path, x, y, **given)
                    if threaded:
                        found = other_thread.submit(outcome, path, x, y, **given).result()
                    else:
                        found = outcome(path, x, y, **given)
                    if found != known[key]:
                        told.append((key, found, known[key]))
            finally:
                for k, v in (before or {}).items():
                    config.update(k, v)
    assert not told, told[:3]


@pytest.mark.parametrize("path", PATHS)
def test_arguments_that_are_gone(path):
    for _ in range(4):
        outcome(path, ARRAYS[0], 2.0)
    x = ARRAYS[0]()
    x.delete()
    for _ in range(3):
        assert outcome(path, lambda: x, 2.0) is xc.errors.DeletedError


@pytest.mark.parametrize("path", PATHS)
def test_shared_numbers_that_are_gone(path):
    want = [outcome(path, ARRAYS[0], 2.5) for _ in range(4)][-1]
    for number in (
        xnp.asarray(2.5),
        xnp.asarray(2),
        xnp.asarray(1),
        xnp.float32(2.5),
        xnp.int32(1),
    ):
        number.delete()
    for _ in range(3):
        assert outcome(path, ARRAYS[0], 2.5) == want


def test_parameters_may_have_any_name():
    f = xc.jit(lambda _t, _entry: _t - _entry)
    x, y = xnp.ones(3), xnp.zeros(3)
    for _ in range(3):
        assert f(x, y).tolist() == [1, 1, 1]
        assert f(_entry=x, _t=y).tolist() == [-1, -1, -1]
    with pytest.raises(xc.errors.DeletedError):
        y.delete()
        f(x, y)


def test_mistakes_of_ours_are_seen():
    """What fails while it is traced and does not when it runs eagerly is no detour for users."""
    from xcore._core.fused import fused
    from xcore._core.trace import is_evaluating

    @fused(1)
    def broken(x):
        return x if is_evaluating() else None + x

    with pytest.raises(TypeError, match="NoneType"):
        broken(xnp.ones(3))


def test_what_was_made_under_other_settings_is_not_kept():
    cache, made_under = config.FastCache(), config.base()
    cache.keep("a", 1, made_under)
    config.update("default_bits", 64)
    try:
        assert not cache
        cache.keep("a", 2, made_under)
        assert not cache
    finally:
        config.update("default_bits", 32)


def test_a_path_needs_lists_that_fit_its_names():
    path = Path("x", looked_up("x"), "[]", "[]", "_slow(x)")
    assert path.maker()({}.get, lambda x: x + 1)(2) == 3
