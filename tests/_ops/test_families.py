"""The constructors of operations: what they refuse, and what they are made of."""

import numpy as np
import pytest

import xcore as xc
from xcore import _ops as ops
from xcore._core.op import registry
from xcore._core.program import Literal
from xcore._core.types import ArrayType
from xcore._ops import families
from xcore._ops.families import ZERO, check_derivatives, elementwise

f32 = ArrayType((3,), np.dtype("float32"))


@pytest.mark.parametrize(
    ("transpose", "jvp"),
    [
        (None, None), ((None,), None), (None, (None,)), ((None,), (None,)),
        ((lambda ct, x: ct,), (ZERO,)), ((lambda ct, x: ct,), (lambda g, y, x: g,)),
    ],
)  # fmt: skip
def test_an_argument_has_one_derivative_rule(transpose, jvp):
    with pytest.raises(ValueError, match="argument 0 needs a transpose or a jvp rule"):
        check_derivatives("made", 1, transpose, jvp)
    check_derivatives("made", 1, (lambda ct, x: ct,), None)
    check_derivatives("made", 2, (lambda ct, x: ct, None), (None, ZERO))
    with pytest.raises(ValueError, match="argument 1"):
        check_derivatives("made", 2, (lambda ct, x: ct, None), None)
    with pytest.raises(ValueError, match="argument 1"):
        check_derivatives("made", 2, None, (ZERO, None))


def test_a_name_is_taken_once_and_unknown_rules_are_told():
    with pytest.raises(ValueError, match="'sin' is defined twice"):
        elementwise("sin", jvp=ZERO)
    with pytest.raises(xc.errors.MissingRuleError, match="no such rule"):
        ops.sort.rule("transpose", "There is no such rule here.")
    assert repr(registry["sin"]) == "<op sin>" and repr(ZERO) == "ZERO"
    assert repr(xc._core.op.Linear(f32)) == "Linear(float32[3])"


def test_scalars_at_every_place_and_tables_in_lanes():
    """A splat stays a splat when it gets an axis; a table that stands in the program is repeated."""
    splat = families.broadcast(families.splat(f32, 2), 4)
    assert type(splat) is Literal and splat.type == ArrayType((4, 3), f32.dtype)
    assert families.broadcast(families.splat(f32.weakened(), 2), 4).type.weak
    table = np.arange(3, dtype="float32")
    out = xc.jit(lambda: families.broadcast(families.constant(table), 4))()
    np.testing.assert_array_equal(out, np.tile(table, (4, 1)))
    lanes = xc.jit(xc.vmap(lambda x: ops.add(x, families.constant(table))))
    np.testing.assert_array_equal(lanes(np.ones((2, 3), "float32")), np.tile(table + 1, (2, 1)))


def test_sums_of_changes():
    total = families.sum_of_changes
    x, y = xc.numpy.arange(3.0), xc.numpy.ones(3)
    assert total([]) is None and total([None, None]) is None
    assert total([None, x, None]) is x
    np.testing.assert_array_equal(total([x, None, y, y]), [2.0, 3.0, 4.0])


@pytest.mark.parametrize("n", range(-9, 17))
def test_whole_powers(n):
    x = np.array([-2.0, 0.5, 1.0, 4.0])
    np.testing.assert_array_equal(xc.jit(lambda x: ops.integer_pow(x, n))(x), x**n)


def test_the_exponent_of_zero():
    """The slope of xʸ in y is xʸ log x, and 0 where x is 0; in x it is y xʸ⁻¹, also for y of 0 and 1."""
    x, y = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 2.0]), np.array([2.0, 1.0, 0.5, 3.0, 0.0, 1.0])
    in_y = xc.jvp(lambda y: ops.pow(x, y), (y,), (np.ones(6),))[1]
    np.testing.assert_allclose(in_y, [0, 0, 0, 0, np.log(2), 2 * np.log(2)], rtol=1e-14)
    x, y = np.array([0.0, 0.0, 2.0, 3.0]), np.array([1.0, 2.0, 0.0, 1.0])
    in_x = xc.jvp(lambda x: ops.pow(x, y), (x,), (np.ones(4),))[1]
    np.testing.assert_allclose(in_x, [1, 0, 0, 1], rtol=1e-14)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_cotangents_of_what_was_spread(size):
    """An axis of 1 that is spread over ``size`` and a new one beside it."""
    x = np.array([[1.0], [2.0]])
    f = lambda x: ops.broadcast_in_dim(x, shape=(4, 2, size), dims=(1, 2))
    ct = np.arange(8.0 * size).reshape(4, 2, size)
    out, back = xc.vjp(f, x)
    np.testing.assert_array_equal(out, np.broadcast_to(x, (4, 2, size)))
    np.testing.assert_array_equal(back(ct)[0], ct.sum((0, 2))[:, None])
