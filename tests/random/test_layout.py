"""The layout of Threefry's words that jax had before 0.5: those of one list, whose length counts."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import random

KEY = random.PRNGKey(7)


@pytest.fixture(autouse=True)
def listed():
    with xc.config.override(threefry_partitionable=False):
        yield


def words_of_list(key, count):
    """The definition: the counters in two halves, a 0 behind an odd number of them."""
    counters = np.zeros(count + count % 2, np.uint32)
    counters[:count] = np.arange(count)
    blocks = random.threefry2x32(key, counters.reshape(2, -1).T)
    return np.asarray(blocks).T.ravel()[:count]


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("shape", [(), (1,), (2,), (5,), (3, 4), (0, 3)])
def test_elements_are_words_of_the_list(bits, shape):
    size = int(np.prod(shape, dtype=int))
    words = words_of_list(KEY, -(-size * bits // 32))
    if bits == 64:
        high, low = words.astype(np.uint64).reshape(2, -1)
        expected = (high << np.uint64(32)) | low
    else:
        expected = words.astype("<u4").view(f"<u{bits // 8}")[:size]
    with xc.config.override(threefry_partitionable=False, default_bits=64):
        got = np.asarray(random.bits(KEY, shape, f"uint{bits}"))
    np.testing.assert_array_equal(got, expected.reshape(shape))


@pytest.mark.parametrize("shape", [1, 2, 3, (2, 3), 0])
def test_children_are_words_of_the_list(shape):
    shape = (shape,) if isinstance(shape, int) else shape
    expected = words_of_list(KEY, 2 * int(np.prod(shape))).reshape(*shape, 2)
    for split in (random.split, xc.jit(random.split, static_argnums=1)):
        np.testing.assert_array_equal(split(KEY, shape), expected)
    typed = random.key_data(random.split(random.key(7), shape))
    np.testing.assert_array_equal(typed, expected)


# Jax's values (made once with jax 0.10.2, jax_threefry_partitionable=False, key 7)
NORMAL = [-2.2590880393981934, -0.3074738383293152, -0.4251098334789276, 0.2759009301662445,
          0.580084502696991, 3.172461986541748, 1.1208903789520264]  # fmt: skip
DRAWS = [
    (random.randint, ((9,), 0, 1000), [829, 753, 789, 887, 526, 149, 555, 812, 489]),
    (random.permutation, (13,), [4, 11, 5, 2, 9, 7, 12, 6, 1, 0, 10, 8, 3]),
]


@pytest.mark.parametrize(("f", "arguments", "values"), DRAWS)
def test_integers_are_jax_s(f, arguments, values):
    assert f(KEY, *arguments).tolist() == values


def test_normal_numbers_are_jax_s():
    np.testing.assert_allclose(random.normal(KEY, (7,)), NORMAL, rtol=1e-6)


def test_what_follows_the_setting():
    """Programs made under one layout are not those of the other; numbers folded in have one layout."""
    draw = xc.jit(lambda key: random.uniform(key, (5,)))
    old, folded = draw(KEY), random.fold_in(KEY, 3)
    batch = xc.vmap(draw)(xnp.stack([KEY, folded]))
    np.testing.assert_array_equal(batch[0], old)
    with xc.config.override(threefry_partitionable=True):
        new = draw(KEY)
        np.testing.assert_array_equal(new, random.uniform(KEY, (5,)))
        np.testing.assert_array_equal(folded, random.fold_in(KEY, 3))
    assert not np.any(np.asarray(old) == np.asarray(new))
    np.testing.assert_array_equal(draw(KEY), old)


def test_the_other_generator_has_one_layout():
    key = random.key(7, impl="philox4x32")
    old = random.bits(key, (5,))
    with xc.config.override(threefry_partitionable=True):
        np.testing.assert_array_equal(random.bits(key, (5,)), old)


def test_elements_by_their_positions_are_refused():
    with pytest.raises(ValueError, match="threefry_partitionable"):
        random.bits_at(KEY, xnp.arange(3))
