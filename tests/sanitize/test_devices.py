"""NaN and infinities in programs of several devices: told with the line that made them, whoever of them did."""

import inspect

import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import checkify, lax
from xcore.sharding import PartitionSpec as P

X = xnp.linspace(0.0, 2.0, 8)
CASES = []


def case(out):
    def mark(f):
        CASES.append((f, out))
        return f

    return mark


@case(P())
def logarithm_then_sum(x):
    y = xnp.log1p(-x)  # <- here
    return lax.psum(y.sum(), "d")


@case(P())
def pole_then_sum(x):
    y = 1 / (x - 2)  # <- here
    return 2 * lax.psum(y.sum(), "d")


@case(P("d"))
def overflow_in_a_loop(x):
    def step(c, _):
        return c * 1e20, None  # <- here

    return lax.scan(step, x, None, length=4)[0]


@case(P())
def overflow_then_mean(x):
    e = xnp.exp(100 * x)  # <- here
    return lax.pmean(e.mean(), "d")


@case(P("d"))
def root_then_scattered_sum(x):
    n = xnp.sqrt(x[0] - 1) * xnp.ones(4)  # <- here
    return lax.psum_scatter(n, "d")[None]


@case(P("d"))
def root_of_a_neighbour(x):
    n = xnp.sqrt(x - 1)  # <- here
    return 2 * lax.ppermute(n, "d", [(i, (i + 1) % 4) for i in range(4)])


@case(P())
def infinities_that_meet(x):
    end = xnp.where(lax.axis_index("d") == 0, xnp.inf, -xnp.inf)
    return lax.psum(end + 0 * x.sum(), "d")  # <- here


@case(P())
def too_large_together(x):
    return lax.psum(x.max() * 1.5e38, "d")  # <- here


@case(P())
def in_a_branch(x):
    s = lax.cond(x[0] > 1, lambda v: xnp.log(1 - v), lambda v: v, x)  # <- here
    return lax.psum(s, "d")


@case(P())
def in_a_derivative(x):
    g = xc.grad(lambda v: xnp.sqrt(xnp.abs(v - x[0])).sum())(x)  # <- here
    return lax.psum(g, "d")


@case(P("d"))
def after_one_that_is_taken_away(x):
    y = xnp.where(x > 1, xnp.log(x - 1), 0.0)
    return y + xnp.sqrt(1.5 - x)  # <- here


def spread(f, out):
    mesh = xc.make_mesh((4,), ("d",))
    return xc.shard_map(f, mesh=mesh, in_specs=P("d"), out_specs=out, check_vma=False)


@pytest.mark.parametrize("compiled", [True, False], ids=["jit", "eager"])
@pytest.mark.parametrize(("f", "out"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_the_line_of_a_device(told, f, out, compiled):
    lines, first = inspect.getsourcelines(f)
    (line,) = [first + i for i, text in enumerate(lines) if "# <- here" in text]
    g = xc.jit(spread(f, out)) if compiled else spread(f, out)
    assert f"test_devices.py:{line} " in told(lambda: g(X))


def test_several_axes_and_specs(told):
    """Parts along two axes of a mesh, in either order, replicated along one, or not at all."""
    mesh = xc.make_mesh((2, 4), ("a", "b"))

    def f(x, y, z):
        bad = xnp.log(x.sum() - y.sum() - z)  # <- here
        return lax.psum(bad, "a"), bad[None, None]

    specs = (P("b", "a"), P(None, ("b", "a")), P())
    g = xc.shard_map(f, mesh=mesh, in_specs=specs, out_specs=(P(), P("a", "b")), check_vma=False)
    line = f.__code__.co_firstlineno + 1
    x, y = xnp.ones((4, 2)).at[3, 1].set(-9.0), xnp.ones((2, 8))
    assert f"test_devices.py:{line} " in told(lambda: xc.jit(g)(x, y, 0.5)[1])


def test_quiet(told):
    def masked(x):
        y = xnp.where(x > 1, xnp.log(x - 1), 0.0)
        return lax.psum(y.sum(), "d"), lax.pmax(xnp.where(x > 1, x, -xnp.inf).max(), "d")

    assert told(lambda: xc.jit(spread(masked, (P(), P())))(X)) == ""


def test_checkify_names_the_device_that_failed():
    check = checkify.checkify(spread(logarithm_then_sum, P()), errors=checkify.nan_checks)
    error, _ = xc.jit(check)(X)
    assert "log1p produced a NaN" in error.get()
    check = checkify.checkify(spread(infinities_that_meet, P()), errors=checkify.nan_checks)
    assert "psum produced a NaN" in check(X)[0].get()
