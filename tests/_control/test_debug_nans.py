"""The settings debug_nans and debug_infs: the first operation at fault is named, with its line."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax
from xcore.experimental import pure_callback


@pytest.fixture(autouse=True)
def setting():
    with xc.config.override(debug_nans=True):
        yield


def plain(x):
    y = x * 2
    return xnp.log(y)  # the culprit


def nested(x):
    return xc.jit(plain)(x) + 1


def in_scan(x):
    def step(c, _):
        c = c + 1.0
        return c, xnp.log(-x * c)  # the culprit

    return lax.scan(step, x, None, length=3)[1]


def in_while(x):
    def step(state):
        i, c = state
        return i + 1, xnp.log(c - 1.5)  # the culprit

    return lax.while_loop(lambda s: s[0] < 3, step, (0, x * -4))[1]


def in_cond(x):
    def negative(x):
        return xnp.log(x)  # the culprit

    return lax.cond(x < 0, negative, lambda x: x, x)


def in_switch_in_fori(x):
    branches = [lambda c: c, lambda c: xnp.log(c)]  # the culprit
    return lax.fori_loop(0, 2, lambda i, c: lax.switch(i, branches, c), x)


FORWARD = [plain, nested, in_scan, in_while, in_cond, in_switch_in_fori]


# the line that is marked
CULPRIT = r"operation log .* produced a NaN.*\n  at .*test_debug_nans.py:\d+ .*# the culprit$"


@pytest.mark.parametrize("wrap", [lambda f: f, xc.jit, xc.vmap], ids=["eager", "jit", "vmap"])
@pytest.mark.parametrize("f", FORWARD, ids=lambda f: f.__name__)
def test_forward(f, wrap):
    x = 1.0 if f is in_scan else -1.0
    with pytest.raises(FloatingPointError, match=CULPRIT):
        wrap(f)(np.full(2, x, "f4") if wrap is xc.vmap else x)


def root(x):
    return xnp.sqrt(x)  # the culprit


def root_in_scan(x):
    def step(c, _):
        return c + 0 * xnp.sqrt(c), None  # the culprit

    return lax.scan(step, x, None, length=2)[0]


@pytest.mark.parametrize("wrap", [lambda f: f, xc.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("f", [root, root_in_scan], ids=lambda f: f.__name__)
@pytest.mark.parametrize("mode", ["jvp", "grad"])
def test_derivatives(f, mode, wrap):
    zero = xnp.float32(0)
    g = xc.grad(lambda x: 0 * f(x)) if mode == "grad" else lambda x: xc.jvp(f, (x,), (x,))
    with pytest.raises(FloatingPointError, match=r"(?s)(div|mul) .* produced a NaN.*# the culprit"):
        wrap(g)(zero)


@pytest.mark.parametrize(
    "wrap",
    [lambda f: xc.grad(f), lambda f: xc.jit(xc.grad(f)), lambda f: xc.grad(xc.jit(f))],
    ids=["grad", "jit of grad", "grad of jit"],
)
def test_custom_rules_are_entered(wrap):
    @xc.custom_jvp
    def f(x):
        return xnp.sin(x)

    @f.defjvp
    def f_rule(primals, tangents):
        (x,), (t,) = primals, tangents
        return f(x), t * xnp.log(x)  # the culprit

    @xc.custom_vjp
    def g(x):
        return xnp.sin(x)

    def backward(x, ct):
        return (ct * xnp.log(x),)  # the culprit

    g.defvjp(lambda x: (g(x), x), backward)
    for h in (f, g):
        with pytest.raises(FloatingPointError, match="# the culprit"):
            wrap(lambda x, h=h: h(x))(-1.0)


def test_line_of_this_call_not_of_an_earlier_one():
    x = xnp.asarray([1.0])
    xnp.log(x)  # traced here
    with pytest.raises(FloatingPointError, match="# but at fault here"):
        xnp.log(-x)  # but at fault here


def test_infinities():
    assert np.isinf(xnp.log(xnp.float32(0)))
    with xc.config.override(debug_nans=False, debug_infs=True):
        assert np.isnan(xnp.log(xnp.float32(-1)))
        with pytest.raises(FloatingPointError, match=r"operation log .* produced an infinity"):
            xnp.log(xnp.float32(0))


def test_an_argument_that_was_nan():
    with pytest.raises(FloatingPointError, match="as one of its arguments had one"):
        xnp.sin(xnp.asarray([np.nan]))


def test_what_cannot_be_repeated_names_the_program():
    calls = []

    def once(v):
        calls.append(v)
        return v * (np.nan if len(calls) == 1 else 1)

    def f(x):
        return pure_callback(once, xc.ShapeDtypeStruct((), "float32"), x) + 0

    with pytest.raises(FloatingPointError, match="the program f produced a NaN"):
        xc.jit(f)(np.float32(1))


def test_what_is_finite_passes():
    for f, x in ((plain, 1.0), (in_scan, -0.5), (in_while, -500.0), (in_cond, 1.0)):
        assert np.isfinite(xc.jit(f)(x)).all()
    assert xc.jit(lambda x: x + 1)(np.arange(3)).tolist() == [1, 2, 3]


def test_off_again():
    with xc.config.override(debug_nans=False):
        assert np.isnan(xc.jit(plain)(-1.0))


SOLVERS = {
    "linear": lambda b: lax.custom_linear_solve(
        lambda v: 2 * v, b, lambda _, b: xnp.log(-b)  # the culprit
    ),
    "root": lambda b: lax.custom_root(
        lambda v: v - b, b, lambda _, v: xnp.log(-v),  # the culprit
        lambda g, y: y,
    ),
    "call": lambda b: xc.custom_derivatives.linear_call(
        lambda r, v: xnp.log(-r) * v,  # the culprit
        lambda r, ct: ct, b, b,
    ),
}  # fmt: skip


@pytest.mark.parametrize("wrap", [lambda f: f, xc.jit, xc.vmap], ids=["eager", "jit", "vmap"])
@pytest.mark.parametrize("name", SOLVERS)
def test_inside_of_solvers(name, wrap):
    with pytest.raises(FloatingPointError, match=r"operation log .*\n.*# the culprit"):
        wrap(SOLVERS[name])(xnp.ones(2))


@pytest.mark.parametrize("wrap", [lambda f: f, xc.jit], ids=["eager", "jit"])
@pytest.mark.parametrize(
    "f",
    [
        xnp.median,
        xnp.nanmedian,
        lambda x: xnp.quantile(x, 0.3),
        lambda x: xnp.where(x > 5, xnp.nan, x).sum(),
    ],
)
def test_constants_that_nothing_takes_are_no_result(f, wrap):
    x = xnp.asarray([1.0, 3.0, 2.0])
    assert np.isfinite(wrap(xc.grad(f))(x)).all()
    assert np.isfinite(xc.jvp(wrap(f), (x,), (x,))[1])
    with pytest.raises(FloatingPointError, match="log"):
        wrap(lambda x: f(xnp.log(x)))(-x)
