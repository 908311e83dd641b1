"""What functions of ``lax`` are given and cannot take: told before anything is compiled, in our words."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax

X, M, I = xnp.arange(3.0), xnp.ones((2, 3)), xnp.arange(3)
ROWS = xnp.asarray([[0], [1]])


def product(contract, batch=((), ())):
    return lambda m: lax.dot_general(m, m, (contract, batch))


def read(*dims, sizes=(1,)):
    return lambda x: lax.gather(x, ROWS, lax.GatherDimensionNumbers(*dims), sizes)


def written(updates, *dims):
    return lambda x: lax.scatter_add(x, ROWS, updates, lax.ScatterDimensionNumbers(*dims))


REFUSED = {
    "an axis summed twice": (product(((1, 1), (1, 1))), M, "different axes of lhs"),
    "an axis summed, and batch": (product(((1,), (1,)), ((1,), (1,))), M, "different axes of lhs"),
    "no such axis": (product(((2,), (1,))), M, "different axes of lhs"),
    "no such axis of the other": (product(((1,), (2,))), M, "different axes of rhs"),
    "more axes of one": (product(((1, 0), (1,))), M, "as many summed axes"),
    "more batch axes of one": (product(((), ()), ((0,), ())), M, "as many batch axes"),
    "three cases for booleans": (lambda x: lax.select_n(x > 0, x, x, x), X, "one or two"),
    "no case": (lambda x: lax.select_n(x > 0), X, "one array or more"),
    "more keys than arrays": (lambda x: lax.sort((x, x), num_keys=3), X, "num_keys must be 1 to 2"),
    "no key": (lambda x: lax.sort(x, num_keys=0), X, "num_keys must be 1 to 1"),
    "nothing to sort": (lambda _: lax.sort(()), X, "no arrays to sort"),
    "complex order": (lambda x: lax.top_k(x * 1j, 2), X, "only real dtypes"),
    "reciprocals of integers": (lambda x: lax.integer_pow(x, -2), I, "no negative number"),
    "an axis squeezed twice": (lambda x: lax.squeeze(x[None], (0, -2)), X, "different axes"),
    "iota along no axis": (lambda _: lax.broadcasted_iota("int32", (2, 3), 2), X, "axis 2"),
    "a start of floats": (lambda x: lax.dynamic_slice(x, (x[0],), (2,)), X, "only integer dtypes"),
    "an update at floats": (lambda x: lax.dynamic_update_slice(x, x[:1], (1.5,)), X, "only integer dtypes"),
    "windows with an axis too many": (read((0,), (0,), (0,)), X, "axes of windows"),
    "windows with an axis too few": (read((), (), (0,)), X, "axes of windows"),
    "updates with an axis too many": (written(M, (), (0,), (0,)), X, "updates of 1 axes"),
    "updates of too few axes": (written(X[:2], (1,), (), (0,)), X, "updates of 2 axes"),
    "a layout with a letter twice": (
        lambda m: lax.conv_general_dilated(m[None, None], m[None, None], (1, 1), "VALID", dimension_numbers=("NCHW", "OIHW", "NCWW")),
        M, "different letters",
    ),
    "a layout without features": (
        lambda m: lax.conv_general_dilated(m[None, None], m[None, None], (1, 1), "VALID", dimension_numbers=("NHW", "OIHW", "NCHW")),
        M, "different letters",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    call, given, words = REFUSED[name]
    for f in (call, xc.jit(call)):
        with pytest.raises((ValueError, TypeError), match=words):
            f(given)


def test_larger_and_smaller_complex_numbers():
    x, y = np.asarray([1 + 1j, 2 - 1j, np.nan]), np.asarray([1 + 2j, 1 + 9j, 1j])
    assert np.array_equal(lax.max(x, y), np.maximum(x, y), equal_nan=True)
    assert np.array_equal(lax.min(x, y), np.minimum(x, y), equal_nan=True)


def test_modes_by_their_names():
    modes = lax.GatherScatterMode
    for member, names in (
        (modes.CLIP, ("clip", modes.CLIP)),
        (modes.FILL_OR_DROP, ("fill", "drop", None, modes.FILL_OR_DROP)),
        (modes.PROMISE_IN_BOUNDS, ("promise_in_bounds", modes.PROMISE_IN_BOUNDS)),
    ):
        assert {modes.from_any(name) for name in names} == {member}
    with pytest.raises(ValueError, match="mode must be"):
        modes.from_any("clop")
