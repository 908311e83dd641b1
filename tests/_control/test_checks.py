"""Checks: raised at once, from compiled programs, and as values; through all control flow."""

import re

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import checkify as ck
from xcore import lax
from xcore.checkify import check, checkify
from xcore.experimental.checkify import checkify as checkify_under_its_old_name

HERE = r"test_checks.py:\d+ in \w+|test_checks.py:\d+ in <lambda>"


def positive(x):
    check(x > 0, "x is {x:.1f}", x=x)
    return x + 1.0


# The tutorials' example


def double(value):
    value = xnp.asarray(value)
    check((value >= 0).any(), "Expected a non-negative values.")
    return 2 * value


def test_as_tutorials_write_it():
    assert checkify_under_its_old_name is checkify
    err, res = xc.jit(checkify(double))(1.0)
    err.throw()
    assert res == 2
    err, res = xc.jit(checkify(double))(-1.0)
    with pytest.raises(ValueError, match="Expected a non-negative values"):
        err.throw()
    with pytest.raises(ck.JaxRuntimeError):
        err.throw()


# Without checkify


@pytest.mark.parametrize("wrap", [lambda f: f, xc.jit, xc.grad, lambda f: xc.jit(xc.grad(f))])
def test_check_raises_without_checkify(wrap):
    f = wrap(positive)
    f(1.0)
    with pytest.raises(ck.JaxRuntimeError, match=rf"^x is -2.0 \(.*({HERE})\)$"):
        f(-2.0)


def test_check_under_vmap_names_the_lanes():
    for wrap in (lambda f: f, xc.jit):
        with pytest.raises(
            ck.JaxRuntimeError, match=r"^batch element 1: x is -1.0.*\nbatch element 2: x is -3.0"
        ):
            wrap(xc.vmap(positive))(xnp.asarray([1.0, -1.0, -3.0]))


def test_check_in_a_compiled_loop_raises():
    f = xc.jit(lambda x: lax.fori_loop(0, 5, lambda i, c: positive(c) - 2, x))
    assert f(9.0) == 4
    with pytest.raises(ck.JaxRuntimeError, match=r"x is -0.5"):
        f(2.5)


@pytest.mark.parametrize("pred", [np.ones(2, bool), 1.0, "yes", 1])
def test_condition_must_be_a_boolean_scalar(pred):
    with pytest.raises(TypeError, match="must be a boolean scalar"):
        check(pred, "message")


def test_message_must_fit():
    with pytest.raises(ValueError, match="names 'y'"):
        check(True, "{y}", x=1)
    with pytest.raises(TypeError, match="format string"):
        check(True, 3)


def test_messages_show_pytrees_and_python_values():
    tree = {"a": xnp.asarray([1, 2]), "b": "text"}
    f = lambda x: check(x > 0, "{} {t[a]} {t[b]} {k}", x, t=tree, k=None)
    err, _ = xc.jit(checkify(f))(0)
    assert err.get().startswith("0 [1 2] text None (")


# Through control flow: f(x) fails for x <= 0 and is fine for x > 0


def in_jit(x):
    return xc.jit(positive)(x)


def in_cond(x):
    return lax.cond(x < 10, positive, lambda x: x, x)


def in_switch(x):
    return lax.switch(xnp.int32(1), [lambda x: x, positive, lambda x: x], x)


def in_scan(x):
    return lax.scan(lambda c, y: (positive(c), y), x, xnp.arange(3))[0]


def in_reversed_scan(x):
    return lax.scan(lambda c, y: (positive(c), y), x, None, 5, reverse=True, unroll=2)[0]


def in_fori(x):
    return lax.fori_loop(0, 3, lambda i, c: positive(c), x)


def in_while(x):
    return lax.while_loop(lambda c: c < 2, positive, x)


def in_while_condition(x):
    def test(c):
        check(c > 0, "x is {x:.1f}", x=c)
        return c < 2

    return lax.while_loop(test, lambda c: c + 1, x)


def in_map(x):
    return lax.map(positive, xnp.ones(3) * x).sum()


def in_vmap(x):
    return xc.vmap(positive)(xnp.ones(3) * x).sum()


def in_checkpoint(x):
    return xc.checkpoint(positive)(x)


def in_custom_jvp(x):
    f = xc.custom_jvp(positive)
    f.defjvp(lambda primals, tangents: (primals[0] + 1, 10 * tangents[0]))
    return f(x)


def in_custom_vjp(x):
    f = xc.custom_vjp(positive)
    f.defvjp(lambda x: (x + 1, None), lambda _, ct: (10 * ct,))
    return f(x)


def in_custom_root(x):
    def solve(f, start):
        return positive(start)

    def tangent_solve(g, y):
        return y / g(1.0)

    return lax.custom_root(lambda y: y - x, x, solve, tangent_solve)


def nested(x):
    def step(i, c):
        return lax.cond(i > 0, lambda c: in_scan(xc.jit(in_while)(c)), lambda c: c, c)

    return lax.fori_loop(0, 2, step, x)


CONTROL_FLOW = [
    positive, in_jit, in_cond, in_switch, in_scan, in_reversed_scan, in_fori, in_while,
    in_while_condition, in_map, in_vmap, in_checkpoint, in_custom_jvp, in_custom_vjp, in_custom_root,
    nested,
]  # fmt: skip


@pytest.mark.parametrize("f", CONTROL_FLOW, ids=lambda f: f.__name__)
def test_control_flow(f):
    checked = xc.jit(checkify(f))
    plain = xc.jit(f)
    err, y = checked(3.0)
    assert err.get() is None and y == plain(3.0)
    err, _ = checked(-3.5)
    assert re.match(rf"x is -3.5 \(.*({HERE})\)$", err.get())
    with pytest.raises(ck.JaxRuntimeError, match=r"x is -3.5"):
        plain(-3.5)
    # lanes
    err, _ = xc.jit(xc.vmap(checkify(f)))(xnp.asarray([2.0, -1.0, 3.0]))
    assert re.match(r"batch element 1: x is -1.0 \(.*\)$", err.get())


@pytest.mark.parametrize("f", CONTROL_FLOW, ids=lambda f: f.__name__)
def test_derivatives_of_checked_functions(f):
    if f in (in_while, in_while_condition, nested):
        slope = lambda g, x: xc.jvp(g, (x,), (1.0,))[1]
    else:
        slope = lambda g, x: xc.grad(g)(x)
    expected = slope(f, 1.5)
    assert slope(lambda x: checkify(f)(x)[1], 1.5) == expected  # inside
    err, found = xc.jit(checkify(lambda x: slope(f, x)))(1.5)  # outside
    assert err.get() is None and found == expected
    err, _ = xc.jit(checkify(lambda x: slope(f, x)))(-1.5)
    assert err.get() is None or err.get().startswith("x is -1.5")
    if f not in (in_custom_jvp, in_custom_vjp):  # whose rules check nothing
        assert err.get() is not None


def test_the_first_failure_is_kept():
    def f(x):
        check(x < 2, "first {}", x)
        check(x < 1, "second {}", x)
        check(x < 3, "third {}", x)

    checked = xc.jit(checkify(f))
    messages = [checked(x)[0].get() for x in (0.0, 1.0, 2.0, 3.0)]
    assert messages[0] is None
    assert [m.split(" (")[0] for m in messages[1:]] == ["second 1.0", "first 2.0", "first 3.0"]


def test_the_first_step_that_fails_is_kept():
    def step(c, x):
        check(x != 3, "at {} the sum is {}", x, c)
        check(c < 20, "later")
        return c + x, None

    err, _ = checkify(lambda xs: lax.scan(step, 0, xs))(xnp.arange(10))
    assert err.get().startswith("at 3 the sum is 3 ")


def test_values_of_many_types_share_slots():
    def f(x, v, b):
        check(x > 0, "{} {} {}", x, v, x + 1)
        check(b, "{} {}", v, b)
        check(v[0] > 0, "{}", v * 2)

    checked = xc.jit(checkify(f))
    v = xnp.asarray([1, 2])
    assert checked(0.5, v, True)[0].get() is None
    assert checked(-0.5, v, True)[0].get().startswith("-0.5 [1 2] 0.5 (")
    assert checked(0.5, v, False)[0].get().startswith("[1 2] False (")
    assert checked(0.5, -v, True)[0].get().startswith("[-2 -4] (")
    assert len(checked(0.5, v, True)[0]._payload) == 4  # two floats, one vector, one bool


def test_lanes():
    x = xnp.asarray([[1.0, -1.0], [-2.0, 3.0]])
    err, y = xc.vmap(xc.vmap(checkify(positive)))(x)
    np.testing.assert_array_equal(y, x + 1)
    assert [line.split(" (")[0] for line in err.get().splitlines()] == [
        "batch element 0, 1: x is -1.0",
        "batch element 1, 0: x is -2.0",
    ]
    # checkify outside: one error, that of the first lane
    err, _ = checkify(xc.vmap(xc.vmap(positive)))(x)
    assert err.get().startswith("x is -1.0")
    err, _ = checkify(xc.vmap(positive))(xnp.ones((0,)))
    assert err.get() is None


def large(x):
    check(x > 1, "x is {x:.1f}", x=x)
    ck.debug_check(x > -100, "far too low")
    return x


def parted_by_cond(x):
    return lax.cond(x > 0, large, lambda x: -x, x)


def parted_by_switch(x):
    return lax.switch((x > 0).astype(int), [lambda x: -x, lambda x: parted_by_cond(x)], x)


def parted_by_while(x):
    return lax.while_loop(lambda c: (0 < c) & (c < 4), lambda c: large(c) + 1, x)


def parted_in_scan(x):
    return lax.scan(lambda c, _: (parted_by_cond(parted_by_while(c)), None), x, None, 2)[0]


@pytest.mark.parametrize(
    "f",
    [parted_by_cond, parted_by_switch, parted_by_while, parted_in_scan],
    ids=lambda f: f.__name__,
)
def test_lanes_that_part(f):
    """A check on a way that a lane does not take does not fail for it."""
    fine, failing = xnp.asarray([2.0, -3.0]), xnp.asarray([2.0, -3.0, 0.5, 0.25])
    lanes = xc.jit(xc.vmap(f))
    np.testing.assert_array_equal(lanes(fine), [f(x) for x in fine])
    with pytest.raises(
        ck.JaxRuntimeError, match=r"^batch element 2: x is 0.5 .*\nbatch element 3: x is 0.2 "
    ):
        lanes(failing)
    assert xc.jit(checkify(xc.vmap(f)))(fine)[0].get() is None
    assert xc.jit(checkify(xc.vmap(f)))(failing)[0].get().startswith("x is 0.5")
    assert xc.vmap(checkify(f))(fine)[0].get() is None
    assert xc.vmap(checkify(f))(failing)[0].get().startswith("batch element 2: x is 0.5")


def test_errors_are_values():
    def step(c, x):
        err, y = checkify(positive)(x)
        return c + y, err

    total, err = xc.jit(lambda xs: lax.scan(step, 0.0, xs))(xnp.asarray([1.0, -4.0]))
    assert total == -1 and err.get().startswith("batch element 1: x is -4.0")
    assert ck.Error().get() is None and repr(ck.Error()) == "Error(None)"
    assert repr(err) == f"Error({err.get()})"
    leaves, structure = xc.tree.flatten(err)
    assert xc.tree.unflatten(structure, leaves).get() == err.get()


def test_check_error_hands_an_error_on():
    def f(x):
        err, y = checkify(positive)(x)
        check(y != 0, "y is {}", y)
        ck.check_error(err)
        return y

    assert checkify(f)(1.0)[0].get() is None
    assert xc.jit(checkify(f))(-1.0)[0].get().startswith("y is 0.0")
    assert xc.jit(checkify(f))(-3.0)[0].get().startswith("x is -3.0")
    for wrap in (lambda f: f, xc.jit):
        with pytest.raises(ck.JaxRuntimeError, match=r"x is -3.0"):
            wrap(f)(-3.0)
    with pytest.raises(TypeError, match="expected an Error"):
        ck.check_error(None)


# Automatic checks


def message(f, *args, errors=ck.all_checks):
    eager = checkify(f, errors)(*args)[0].get()
    assert xc.jit(checkify(f, errors))(*args)[0].get() == eager
    return eager


def test_sets_of_checks():
    assert ck.all_checks == ck.automatic_checks | ck.user_checks
    assert ck.float_checks == ck.nan_checks | ck.div_checks
    assert ck.automatic_checks == ck.float_checks | ck.index_checks
    assert ck.all_checks - ck.user_checks == ck.automatic_checks
    with pytest.raises(ValueError, match="must be made of"):
        checkify(positive, errors={"typos"})


def test_checks_of_kinds_not_asked_for_are_none():
    def f(x):
        ck.check(x > 0, "x is {}", x)
        return xc.lax.fori_loop(0, 2, lambda i, v: (ck.check(v > 0, "v"), v * xnp.log(x))[1], x)

    assert message(f, -1.0, errors=ck.div_checks) is None
    assert message(f, -1.0, errors=ck.nan_checks).startswith("the operation log produced a NaN")
    assert message(f, -1.0).startswith("x is -1.0")
    each = xc.vmap(checkify(f, ck.div_checks))(xnp.asarray([-1.0, 1.0]))[0]
    assert each.get() is None


def test_nan_checks():
    f = lambda x: xnp.log(x).sum()
    assert message(f, xnp.ones(3)) is None
    assert message(f, xnp.asarray([1.0, -1.0])).startswith("the operation log produced a NaN (")
    assert message(f, xnp.asarray([1.0, -1.0]), errors=ck.user_checks) is None
    assert message(lambda z: z - z, xnp.asarray([complex(np.inf, 0)])).startswith(
        "the operation sub"
    )
    # asked for
    assert message(lambda x: xnp.where(x > 0, x, np.nan), xnp.asarray([1.0, -1.0])) is None


def test_div_checks():
    assert message(lambda x, y: x / y, 1.0, 2.0) is None
    assert message(lambda x, y: x / y, 1.0, 0.0).startswith("division by zero (")
    assert message(lambda x, y: x // y, 4, 0).startswith("division by zero (")
    assert message(lambda x, y: x % y, 4, 0).startswith("division by zero (")
    assert message(lambda x, y: x / y, 0.0, 0.0, errors=ck.nan_checks).startswith(
        "the operation div"
    )


X = np.arange(12.0, dtype="f4").reshape(3, 4)
INDEXING = {
    "scalar": (lambda x, i: x[i], 3, "index 3 is out of bounds for axis 0"),
    "negative": (lambda x, i: x[i], -4, "index -4 is out of bounds for axis 0"),
    "second axis": (lambda x, i: x[:, i], 4, "index 4 is out of bounds for axis 1"),
    "array": (lambda x, i: x[xnp.stack([i * 0, i])], 7, "index 7 is out of bounds for axis 0"),
    "pair": (lambda x, i: x[i - 1, xnp.stack([i, i + 2])], 2, "index 4 is out of bounds for axis 1"),
    "set": (lambda x, i: x.at[i].set(0.0), 5, "index 5 is out of bounds for axis 0"),
    "add": (lambda x, i: x.at[:, xnp.stack([i, i])].add(1.0), 9, "index 9 is out of bounds for axis 1"),
    "slice": (lambda x, i: lax.dynamic_slice(x, (i, 0), (2, 2)), 2, "index 2 is out of bounds for axis 0"),
    "update": (lambda x, i: lax.dynamic_update_slice(x, x[:2], (i, 0)), 2, "index 2 is out"),
    "lanes": (lambda x, i: xc.vmap(lambda k: x[k])(xnp.stack([i * 0, i])), 3, "index 3 is out"),
    "in a loop": (lambda x, i: lax.fori_loop(0, i, lambda k, s: s + x[k, 0], 0.0), 5, "index 3 is out"),
}  # fmt: skip


@pytest.mark.parametrize("case", INDEXING)
def test_index_checks(case):
    f, bad, expected = INDEXING[case]
    checked = xc.jit(checkify(f, ck.index_checks))
    assert checked(X, 1)[0].get() is None
    err, _ = checked(X, bad)
    assert err.get().startswith(expected) and "of an array of shape (3, " in err.get()
    with pytest.raises(IndexError, match="out of bounds"):
        err.throw()


def test_where_is_the_line_of_the_operation():
    def f(x):
        y = x + 1
        return xnp.log(y)  # here

    line = f.__code__.co_firstlineno + 2
    assert f"test_checks.py:{line} in f" in message(f, -3.0)
    # ... also of the backward pass
    g = lambda x: xc.grad(lambda x: xnp.sqrt(x) * 1.0)(x)
    assert "test_checks.py" in message(g, 0.0)


def test_gradients_are_checked_too():
    f = xc.grad(lambda x: xnp.where(x > 0, xnp.sqrt(x), 0.0))
    assert message(f, 4.0) is None
    assert message(f, -1.0, errors=ck.nan_checks).startswith("the operation sqrt produced a NaN")
    assert message(f, 0.0, errors=ck.div_checks).startswith("division by zero")


# The setting debug_checks


def checked_in_debugging(x):
    ck.debug_check(x > 0, "x is {}", x)
    check(x > -5, "far below: {}", x, debug=True)
    return x


def test_debug_check():
    for wrap in (lambda f: f, xc.jit):
        assert wrap(checked_in_debugging)(-1.0) == -1
        with xc.config.override(debug_checks=True):
            with pytest.raises(ck.JaxRuntimeError, match=r"x is -1.0"):
                wrap(checked_in_debugging)(-1.0)
    assert xc.jit(checkify(checked_in_debugging))(-1.0)[0].get().startswith("x is -1.0")


def test_debug_check_that_is_off_costs_nothing():
    text = xc.jit(checked_in_debugging).lower(1.0).as_text()
    assert "custom_call" not in text
    program = xc.make_jaxpr(checked_in_debugging)(1.0)
    assert not program.acts and program.portable


@pytest.mark.parametrize("index", [3, -4])
@pytest.mark.parametrize("wrap", [lambda f: f, xc.jit], ids=["eager", "jit"])
def test_dynamic_indices_under_debug_checks(wrap, index):
    with xc.config.override(debug_checks=True):
        f = wrap(lambda x, i: x[i])
        g = wrap(lambda x, i: x.at[0, i[None]].set(0.0))
        i = xnp.asarray(index)
        assert f(X, xnp.asarray(-3)).tolist() == [0, 1, 2, 3]
        with pytest.raises(IndexError, match=f"index {index} is out of bounds for axis 0"):
            f(xnp.asarray(X), i)
        with pytest.raises(IndexError, match="out of bounds for axis 1"):
            g(xnp.asarray(X), i * 0 + 9)
        with pytest.raises(IndexError, match=f"index {index}"):
            xc.jit(xc.vmap(lambda i: xnp.asarray(X)[i]))(xnp.stack([i * 0, i]))
    assert f(xnp.asarray(X), i) is not None  # off again: positions are limited to the array


@pytest.mark.parametrize("at", [0, 2, 5, 6])
@pytest.mark.parametrize("in_body", [False, True])
@pytest.mark.parametrize("wrap", [lambda f: f, xc.jit, xc.vmap], ids=["eager", "jit", "vmap"])
def test_checks_in_predicates(wrap, in_body, at):
    """A predicate is asked once more than the body: its first and its last answer are checked too."""

    def loop(x):
        def more(i):
            check(i != at, "predicate at {i}", i=i)
            return i < x

        def body(i):
            if in_body:
                check(i != at - 1, "body at {i}", i=i)
            return i + 1

        return lax.while_loop(more, body, 0 * x)

    arg = np.array([5, 5]) if wrap is xc.vmap else 5
    err, out = wrap(checkify(loop))(arg)
    text = err.get()
    if at == 6:
        assert text is None
        np.testing.assert_array_equal(out, arg)
    else:
        assert ("body at" if in_body and at else f"predicate at {at}") in text


def _shown(f):
    return lambda x: (f(x), x)[1]


UNUSED = {
    "nan": (_shown(xnp.log), "NaN"),
    "division": (_shown(lambda x: 1 / xnp.add(x, 1)), "division by zero"),
    "in jit": (_shown(xc.jit(lambda x: xnp.log(x))), "NaN"),
    "in a loop": (lambda x: lax.fori_loop(0, 2, lambda i, c: _shown(xnp.log)(c), x), "NaN"),
    "in a condition": (lambda x: lax.while_loop(lambda c: (xnp.log(c), c < 0)[1], lambda c: c + 2, x), "NaN"),
    "in a branch": (lambda x: lax.cond(x < 0, _shown(xnp.log), lambda x: x, x), "NaN"),
    "position": (_shown(lambda x: xnp.ones(3)[xnp.multiply(4, x).astype(int)]), "index -4 is out of bounds"),
}  # fmt: skip


@pytest.mark.parametrize("wrap", [lambda f: f, xc.jit, xc.checkpoint])
@pytest.mark.parametrize("name", UNUSED)
def test_what_no_result_needs_is_checked(name, wrap):
    f, expected = UNUSED[name]
    f = wrap(f)
    f(-1.0)  # a trace that is kept, without what nobody needs
    kinds = ck.automatic_checks
    err, out = checkify(f, kinds)(-1.0)
    assert expected in err.get() and float(out) in (-1.0, 1.0)
    assert expected in xc.jit(checkify(f, kinds))(-1.0)[0].get()
    if name != "in a condition":
        assert checkify(f, kinds)(0.25)[0].get() is None
    assert checkify(f)(-1.0)[0].get() is None  # of users' checks there is none


@pytest.mark.parametrize("kinds", [ck.index_checks, ck.all_checks])
def test_positions_that_are_filled_where_nobody_asked_for_it(kinds):
    x = xnp.arange(3.0)
    for take in (
        lambda i, **k: xnp.take(x, i, **k),
        lambda i, **k: xnp.take_along_axis(x, i, 0, **k),
    ):
        f = lambda i, take=take, **k: take(xnp.atleast_1d(i), **k)
        for g in (f, xc.jit(f)):
            assert "index 7 is out" in checkify(g, kinds)(7)[0].get()
            assert checkify(g, kinds)(2)[0].get() is None
        assert checkify(lambda i, f=f: f(i, mode="fill"), kinds)(7)[0].get() is None
