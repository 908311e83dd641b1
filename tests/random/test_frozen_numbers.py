"""Numbers that a generator from outside gives to a traced function are the same in each call: that is told."""

import warnings

import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax, random

REPEATED = {
    "jit": lambda rng: xc.jit(lambda: rng.normal())(),
    "vmap": lambda rng: xc.vmap(lambda x: x + rng.normal())(xnp.zeros(3)),
    "scan": lambda rng: lax.scan(lambda c, x: (c, rng.uniform()), 0.0, xnp.arange(3.0)),
    "fori_loop": lambda rng: lax.fori_loop(0, 3, lambda i, c: c + rng.normal(), 0.0),
    "grad in jit": lambda rng: xc.jit(xc.grad(lambda x: x * rng.normal()))(1.0),
    "vmap of grad": lambda rng: xc.vmap(xc.grad(lambda x: x * rng.normal()))(xnp.ones(2)),
    "spawn": lambda rng: xc.jit(lambda: rng.spawn(1)[0].normal())(),
}
ONCE = {
    "plain": lambda rng: rng.normal(),
    "grad": lambda rng: xc.grad(lambda x: x * rng.normal())(1.0),
    "jvp": lambda rng: xc.jvp(lambda x: x * rng.normal(), (1.0,), (1.0,)),
    "hessian": lambda rng: xc.jvp(xc.grad(lambda x: x**2 * rng.normal()), (1.0,), (1.0,)),
    "passed in": lambda rng: xc.jit(lambda r: (r.normal(), r))(rng),
    "made inside": lambda rng: xc.jit(lambda: random.default_rng(3).normal())(),
    "made inside vmap": lambda rng: xc.vmap(lambda k: random.default_rng(k).normal())(random.split(random.key(0), 3)),
    "carried": lambda rng: lax.scan(lambda r, x: (r, r.normal()), random.default_rng(1), xnp.arange(3.0)),
}  # fmt: skip


def told(f):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        f(random.default_rng(0))
    return [w for w in found if "constants of what is traced" in str(w.message)]


@pytest.mark.parametrize("name", REPEATED)
def test_repeated_numbers_are_told(name):
    assert told(REPEATED[name])[0].filename == __file__


@pytest.mark.parametrize("name", ONCE)
def test_others_are_not(name):
    assert not told(ONCE[name])
