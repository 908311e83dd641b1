"""Parameters that do not fit the ranks of arrays, and functions written for other arguments: told in our words."""

import re

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax


def ones(*shape):
    return xnp.ones(shape)


ROWS = xnp.asarray([[0], [1]])
GATHERED = lax.GatherDimensionNumbers((1,), (0,), (0,))
SCATTERED = lax.ScatterDimensionNumbers((1,), (0,), (0,))
NCHW = ("NCHW", "OIHW", "NCHW")
LINE = ones(1, 1, 4), ones(1, 1, 2)

# what is called, and what its message says: who, which argument, and what is expected
REFUSED = [
    (lambda: lax.slice(ones(3, 3), (0,), (1, 1)), "lax.slice: start_indices must be 2 ints"),
    (lambda: lax.slice(ones(3, 3), (0, 0), (1,)), "lax.slice: limit_indices must be 2 ints"),
    (lambda: lax.slice(ones(3, 3), (0, 0), (1, 1), (1,)), "lax.slice: strides must be 2 ints"),
    (lambda: lax.slice(ones(3), 0, 1), "lax.slice: start_indices must be a sequence of one int"),
    (lambda: lax.slice(ones(3), (0.5,), (1,)), "lax.slice: start_indices must be a sequence of one int"),
    (lambda: lax.slice_in_dim(ones(3), 0, 1, axis=1), "lax.slice_in_dim: axis 1 is out of bounds"),
    (lambda: lax.index_in_dim(ones(3), 0, axis=2), "lax.index_in_dim: axis 2 is out of bounds"),
    (lambda: lax.index_in_dim(ones(3), 0.5), "lax.index_in_dim: index must be an int"),
    (lambda: lax.dynamic_slice(ones(3, 3), (0,), (1, 1)), "lax.dynamic_slice: start_indices must be one for each of the 2 axes"),
    (lambda: lax.dynamic_slice(ones(3, 3), (0, 0, 0), (1, 1)), "lax.dynamic_slice: start_indices must be one for each of the 2 axes"),
    (lambda: lax.dynamic_slice(ones(3, 3), xnp.zeros(1, int), (1, 1)), "lax.dynamic_slice: start_indices must be one for each of the 2 axes"),
    (lambda: lax.dynamic_slice(ones(3), 0, 1), "lax.dynamic_slice: start_indices must be a sequence of integers"),
    (lambda: lax.dynamic_slice(ones(3), (0,), (1,), allow_negative_indices=(True, True)),
     "lax.dynamic_slice: allow_negative_indices must be one for each of the 1 axes"),
    (lambda: lax.dynamic_slice(ones(3, 3), (0, 0), (1,)), "dynamic_slice: operands has no slice of sizes (1,)"),
    (lambda: lax.dynamic_update_slice(ones(3, 3), ones(1, 1), (0,)), "lax.dynamic_update_slice: start_indices must be one for each"),
    (lambda: lax.dynamic_update_slice(ones(3), ones(1), 0), "lax.dynamic_update_slice: start_indices must be a sequence"),
    (lambda: lax.dynamic_update_slice(ones(3, 3), ones(1), (0, 0)), "dynamic_update_slice: operands do not fit"),
    (lambda: lax.index_take(ones(3, 3), (ROWS[0],), (0, 1)), "lax.index_take: idxs must be one for each of the axes"),
    (lambda: lax.split(ones(3), 3), "lax.split: sizes must be a sequence of ints"),
    (lambda: lax.split(ones(3), (-1, 4)), "lax.split: sizes must be lengths that add up to 3"),
    (lambda: lax.pad(ones(2, 2), 0.0, [(1, 1, 0)]), "lax.pad: padding_config must be (low, high, interior) for each of the 2"),
    (lambda: lax.pad(ones(2, 2), 0.0, [(1, 1)] * 2), "lax.pad: padding_config must be (low, high, interior)"),
    (lambda: lax.pad(ones(2, 2), 0.0, [(1, 1, 0), (1, 1)]), "lax.pad: padding_config must be (low, high, interior)"),
    (lambda: lax.pad(ones(2, 2), 0.0, []), "lax.pad: padding_config must be (low, high, interior)"),
    (lambda: lax.pad(ones(2, 2), 0.0, 1), "lax.pad: padding_config must be (low, high, interior)"),
    (lambda: lax.pad(xnp.ones(()), 0.0, [(1, 1, 0)]), "lax.pad: padding_config must be (low, high, interior) for each of the 0"),
    (lambda: lax.transpose(ones(2, 3), (0,)), "lax.transpose: permutation must be 2 ints"),
    (lambda: lax.transpose(ones(2, 3), 0), "lax.transpose: permutation must be 2 ints"),
    (lambda: lax.transpose(ones(2, 3), (0, 0)), "transpose: operands need a permutation"),
    (lambda: lax.reshape(ones(4), (2, 2), (1, 0)), "lax.reshape: dimensions must be a sequence of one int"),
    (lambda: lax.rev(ones(2, 3), 0), "lax.rev: dimensions must be a sequence of ints"),
    (lambda: lax.rev(ones(2, 3), (2,)), "rev: operands has no axes (2,)"),
    (lambda: lax.broadcast_in_dim(ones(3), (2, 3), (1, 0)), "lax.broadcast_in_dim: broadcast_dimensions must be a sequence of one int"),
    (lambda: lax.broadcast_in_dim(ones(3), (2, 3), 1), "lax.broadcast_in_dim: broadcast_dimensions must be a sequence of one int"),
    (lambda: lax.broadcast_in_dim(ones(3), (2, 3), (2,)), "broadcast_in_dim: operands must fit shape (2, 3)"),
    (lambda: lax.expand_dims(ones(2, 3), 0), "lax.expand_dims: dimensions must be a sequence of ints"),
    (lambda: lax.expand_dims(ones(2, 3), (5,)), "lax.expand_dims: axis 5 is out of bounds"),
    (lambda: lax.squeeze(ones(2, 1), 1), "lax.squeeze: dimensions must be a sequence of ints"),
    (lambda: lax.squeeze(ones(2, 1), (0,)), "lax.squeeze: dimensions must be axes of length 1"),
    (lambda: lax.concatenate([ones(2, 3), ones(3)], 0), "concatenate: operands must agree but for axis 0"),
    (lambda: lax.concatenate([ones(2, 3)], 2), "lax.concatenate: axis 2 is out of bounds"),
    (lambda: lax.iota("int32", 2.5), "lax.iota: a shape consists of ints"),
    (lambda: lax.reduce_sum(ones(3), 0), "lax.reduce_sum: axes must be a sequence of ints"),
    (lambda: lax.reduce_max(ones(3), (1,)), "reduce_max: operands cannot be reduced over axes (1,)"),
    (lambda: lax.fft(ones(3), "fft", 3), "lax.fft: fft_lengths must be a sequence of ints"),
    (lambda: lax.dot_general(ones(2, 3), ones(3, 2), ((1,), (0,))), "lax.dot_general: dimension_numbers must be ((lhs summed"),
    (lambda: lax.dot_general(ones(2, 3), ones(3, 2), (((1,),), ((), ()))), "lax.dot_general: dimension_numbers must be ((lhs summed"),
    (lambda: lax.dot_general(ones(2, 3), ones(3, 2), None), "lax.dot_general: dimension_numbers must be ((lhs summed"),
    (lambda: lax.batch_matmul(ones(2, 3), ones(2, 3, 3)), "lax.batch_matmul: operands need as many axes"),
    (lambda: lax.batch_matmul(ones(3), ones(3)), "lax.batch_matmul: operands need as many axes, two or more"),
    (lambda: lax.conv(*LINE, (1, 1), "SAME"), "lax.conv: window_strides must be one int for each of the 1 axes of space"),
    (lambda: lax.conv(*LINE, 1, "SAME"), "lax.conv: window_strides must be one int for each of the 1 axes of space"),
    (lambda: lax.conv(ones(1, 1, 4), ones(1, 1, 2, 2), (1,), "SAME"), "lax.conv_general_dilated: operands need as many axes"),
    (lambda: lax.conv(ones(4), ones(2), (), "SAME"), "lax.conv_general_dilated: operands need as many axes: two"),
    (lambda: lax.conv_general_dilated(*LINE, (1,), [(0, 0)] * 2), "lax.conv: padding must be 'SAME', 'VALID', 'SAME_LOWER' or 1 pairs"),
    (lambda: lax.conv_general_dilated(*LINE, (1,), "VALID", (1, 1)), "lax.conv: lhs_dilation must be one int for each"),
    (lambda: lax.conv_general_dilated(*LINE, (1,), "VALID", (1,), (1, 1)), "lax.conv: rhs_dilation must be one int for each"),
    (lambda: lax.conv_general_dilated(*LINE, (1,), "VALID", dimension_numbers=NCHW), "dimension_numbers must be three layouts of 3 letters"),
    (lambda: lax.conv_general_dilated(*LINE, (1,), "VALID", dimension_numbers=NCHW[:2]), "dimension_numbers must be three layouts of 3 letters"),
    (lambda: lax.conv_with_general_padding(*LINE, (1, 1), "SAME"), "lax.conv: window_strides must be one int"),
    (lambda: lax.conv_transpose(ones(1, 4, 1), ones(2, 1, 1), (1, 1), "SAME"), "lax.conv: strides must be one int for each"),
    (lambda: lax.conv_transpose(ones(1, 4, 1), ones(2, 1), (1,), "SAME"), "lax.conv_transpose: operands need as many axes"),
    (lambda: lax.conv_transpose(ones(1, 4, 1), ones(2, 1, 1), (1,), "SAME", (1, 1)), "lax.conv: rhs_dilation must be one int"),
    (lambda: lax.conv_general_dilated_patches(ones(1, 1, 4), (2, 2), (1,), "SAME"), "lax.conv: filter_shape must be one int for each"),
    (lambda: lax.padtype_to_pads((5, 6), (3,), (1, 2), "SAME"), "lax.padtype_to_pads: window_shape must be 2 ints"),
    (lambda: lax.padtype_to_pads((5, 6), (3, 3), (1,), "SAME"), "lax.padtype_to_pads: window_strides must be 2 ints"),
    (lambda: lax.reduce(ones(3, 3), 0.0, lax.add, 0), "lax.reduce: dimensions must be a sequence of ints"),
    (lambda: lax.reduce(ones(3, 3), ones(3), lax.add, (0,)), "lax.reduce: init_value must be a number"),
    (lambda: lax.reduce(ones(3, 3), 0.0, lambda a: a, (0,)), "lax.reduce: computation (<lambda>, _) must take two arguments"),
    (lambda: lax.reduce_window(ones(3, 3), 0.0, lax.add, (2,)), "lax.reduce_window: window_dimensions must be 2 positive ints"),
    (lambda: lax.reduce_window(ones(3, 3), 0.0, lax.add, 2), "lax.reduce_window: window_dimensions must be a sequence of ints"),
    (lambda: lax.reduce_window(ones(3, 3), 0.0, lax.add, (2, 2), (1,)), "lax.reduce_window: window_strides must be 2 positive ints"),
    (lambda: lax.reduce_window(ones(3, 3), 0.0, lax.add, (2, 2), (1, 1), [(0, 0)]), "lax.reduce_window: padding must be"),
    (lambda: lax.reduce_window(ones(3, 3), 0.0, lax.add, (2, 2), None, "VALID", (1,)), "lax.reduce_window: base_dilation must be 2"),
    (lambda: lax.reduce_window(ones(3, 3), 0.0, lax.add, (2, 2), None, "VALID", None, (1,)), "lax.reduce_window: window_dilation must be 2"),
    (lambda: lax.reduce_window(ones(3), ones(3), lax.add, (2,)), "lax.reduce_window: init_value must be a number"),
    (lambda: lax.reduce_window(ones(3), 0.0, lambda a: a, (2,)), "lax.reduce_window: computation (<lambda>, _) must take two arguments"),
    (lambda: lax.gather(ones(3, 3), ROWS, GATHERED, (1, 3), mode=["a"]), "mode must be 'clip', 'fill'"),
    (lambda: lax.gather(ones(3, 3), ROWS, GATHERED, (1,)), "gather: operands has no window of sizes (1,)"),
    (lambda: lax.scatter_add(ones(3, 3), ROWS, ones(2, 3), SCATTERED, mode=["a"]), "mode must be 'clip', 'fill'"),
    (lambda: lax.scatter(ones(3, 3), ROWS, ones(2), SCATTERED), "scatter: operands need updates of 2 axes"),
    (lambda: lax.scatter_apply(ones(3, 3), ROWS, lambda x: x, SCATTERED), "lax.scatter_apply: update_shape must be 2 ints"),
    (lambda: ones(3).at[0].set(1, mode=["a"]), "mode must be 'clip', 'fill'"),
    (lambda: lax.scan(lambda c: c, 0.0, ones(3)), "lax.scan: the body (<lambda>, _) must take (carry, x), but is written with (c)"),
    (lambda: lax.scan(lambda c, x: (c, x), 0.0, 3.0), "lax.scan: xs is 0-d"),
    (lambda: lax.scan(lambda c, x: (c, x), 0.0, ones(3), length=4), "lax.scan: xs must have first axes of one length"),
    (lambda: lax.scan(lambda c, x: (c, x), 0.0, None, length=-1), "lax.scan: length must be an integer that is not negative"),
    (lambda: lax.scan(lambda c, x: (c, x), 0.0, None, length=2.5), "lax.scan: length must be an integer that is not negative"),
    (lambda: lax.map(lambda x: x, 3), "lax.map: xs is 0-d"),
    (lambda: lax.map(lambda x: x, (ones(3), ones(2))), "lax.map: xs must have first axes of one length"),
    (lambda: lax.map(lambda x: x, ()), "lax.map: xs must be a tree of one array or more"),
    (lambda: lax.map(3, ones(3)), "lax.map: expected a function"),
    (lambda: lax.map(lambda x: x, ones(3), batch_size=-2), "lax.map: batch_size must be None, or an integer"),
    (lambda: lax.map(lambda x: x, ones(3), batch_size=1.5), "lax.map: batch_size must be None, or an integer"),
    (lambda: lax.map(lambda x, y: x, (ones(3), ones(3))), "lax.map: f (<lambda>, _) must take one argument, a slice of xs"),
    (lambda: lax.map(lambda x, y: x, ones(3), batch_size=2), "lax.map: f (<lambda>, _) must take one argument, a slice of xs"),
    (lambda: lax.fori_loop(0, 3, lambda c: c, 0.0), "lax.fori_loop: body_fun (<lambda>, _) must take (i, carry), but is written with (c)"),
    (lambda: xc.jit(lambda n: lax.fori_loop(0, n, lambda c: c, 0.0))(3), "lax.fori_loop: body_fun (<lambda>, _) must take (i, carry)"),
    (lambda: lax.while_loop(lambda: True, lambda c: c, 0.0), "lax.while_loop: cond_fun (<lambda>, _) must take one argument, the carry"),
    (lambda: lax.while_loop(lambda a, b: a < b, lambda c: c, (0.0, 1.0)), "lax.while_loop: cond_fun (<lambda>, _) must take one argument"),
    (lambda: lax.while_loop(lambda c: c[0] < 1, lambda a, b: (a, b), (0.0, 1.0)), "lax.while_loop: body_fun (<lambda>, _) must take one"),
    (lambda: lax.while_loop(lambda c: c < 1, lambda a, b: a, 0.0, max_steps=3), "lax.while_loop: body_fun (<lambda>, _) must take one"),
    (lambda: lax.cond(True, lambda: 1.0, lambda x: x, 2.0), "lax.cond: branch 1 (<lambda>, _) must take one argument"),
    (lambda: lax.cond(True, lambda x: 1.0, lambda: 1.0), "lax.cond: branch 1 (<lambda>, _) must take no argument"),
    (lambda: lax.switch(0, [lambda: 1.0, lambda x: x], 2.0), "lax.switch: branch 0 (<lambda>, _) must take one argument"),
    (lambda: lax.associative_scan(lambda a: a, ones(3)), "lax.associative_scan: fn (<lambda>, _) must take two arguments"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_refused(case):
    call, words = REFUSED[case]
    words = r"^xcore\..*" + re.escape(words).replace("_\\)", r"[^)]*:\d+\)")
    for f in (call, xc.jit(call)):
        with pytest.raises((ValueError, TypeError), match=words):
            f()


def test_errors_of_the_functions_themselves_stay():
    """What is raised within a function that takes what it is given is its own."""

    def body(i, carry):
        return carry + len(carry)

    for f in (
        lambda: lax.fori_loop(0, 3, body, 0.0),
        lambda: lax.scan(body, 0.0, ones(3)),
        lambda: lax.map(lambda x: [] + 1, ones(3)),
        lambda: lax.cond(True, lambda x: x + None, lambda x: x, 1.0),
    ):
        with pytest.raises(TypeError) as raised:
            f()
        assert "must take" not in str(raised.value)


def test_sequences_of_other_kinds():
    """NumPy's ints, arrays of them, lists and ranges are sequences of ints."""
    x = np.arange(6.0).reshape(2, 3)
    assert lax.slice(x, np.array([0, 1]), [2, np.int64(3)]).shape == (2, 2)
    assert (
        lax.transpose(x, range(1, -1, -1)).shape
        == lax.transpose(x, np.array([1, 0])).shape
        == (3, 2)
    )
    assert lax.reduce_sum(x, {0}).shape == (3,) and lax.rev(x, [1]).tolist() == x[:, ::-1].tolist()
    assert lax.pad(x, 0.0, np.array([[0, 1, 0], [0, 0, 1]])).shape == (3, 5)
    assert lax.dot_general(x, x.T, [[[1], [0]], [[], []]]).shape == (2, 2)
    assert lax.dynamic_slice(x, np.array([0, 1]), [1, 1]).tolist() == [[1.0]]
