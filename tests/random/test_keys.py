"""Keys: their words are jax's, and they go wherever arrays go."""

import pickle

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import random
from xcore.random import KeyReuseError

IMPLS = ("threefry2x32", "philox4x32")


def data(keys):
    return np.asarray(random.key_data(keys))


# Words, as jax.random has them (made once with jax 0.10.2, default settings)


@pytest.mark.parametrize(
    ("seed", "words"),
    [
        (0, [0, 0]),
        (1, [0, 1]),
        (-1, [0, 4294967295]),
        (2**31, [0, 2**31]),
        (2**32 - 1, [0, 2**32 - 1]),
        (-(2**31), [0, 2**31]),
        (np.int8(-3), [0, 2**32 - 3]),
        (True, [0, 1]),
    ],
)
def test_words_of_a_seed(seed, words):
    assert data(random.key(seed)).tolist() == words
    assert np.asarray(random.PRNGKey(seed)).tolist() == words


def test_seeds_of_64_bits_count_whole():
    assert data(random.key(2**40 + 5)).tolist() == [256, 5]
    assert data(random.key(-(2**40))).tolist() == [2**32 - 256, 0]
    assert data(random.key(np.uint64(2**63))).tolist() == [2**31, 0]
    assert data(random.key(2**64 - 1)).tolist() == [2**32 - 1, 2**32 - 1]


def test_split_is_jax_s():
    key = random.key(42)
    expected = [[1832780943, 270669613], [64467757, 2916123636], [2465931498, 255383827]]
    assert data(random.split(key, 3)).tolist() == expected
    assert data(random.split(key)).tolist() == expected[:2]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, [1832780943, 270669613]),
        (7, [2547012911, 1371500959]),
        (2**32 - 1, [2398536845, 3890976714]),
        (np.int32(-1), [2398536845, 3890976714]),
        (np.uint8(7), [2547012911, 1371500959]),
    ],
)
def test_fold_in_is_jax_s(number, words):
    assert data(random.fold_in(random.key(42), number)).tolist() == words


@pytest.mark.parametrize("impl", IMPLS)
def test_children_are_numbered(impl):
    key = random.key(3, impl=impl)
    all_at_once = data(random.split(key, (3, 4)))
    assert all_at_once.shape == (3, 4, 2)
    assert np.array_equal(all_at_once.reshape(12, 2), data(random.split(key, 12)))
    assert np.array_equal(all_at_once[1, 2], data(random.fold_in(key, 6)))
    assert len(np.unique(all_at_once.reshape(12, 2), axis=0)) == 12


def test_fold_in_takes_64_bits():
    key = random.key(0)
    low, high = random.fold_in(key, 5), random.fold_in(key, 5 + 2**32)
    assert not np.array_equal(data(low), data(high))
    assert np.array_equal(data(high), data(random.fold_in(key, np.int64(5 + 2**32))))


def test_generators_differ():
    assert not np.array_equal(*[random.bits(random.key(0, impl=i), (4,)) for i in IMPLS])


# Forms


def test_what_a_key_shows():
    assert repr(random.key(42)) == "Array((), dtype=key<fry>) overlaying:\n[ 0 42]"
    assert repr(random.PRNGKey(42)) == "Array([ 0, 42], dtype=uint32)"
    assert repr(random.key(1, impl="philox").dtype) == "key<philox>"
    keys = random.split(random.key(0), (3, 2))
    assert (keys.shape, keys.ndim, keys.size, len(keys), keys.nbytes) == ((3, 2), 2, 6, 3, 48)


def test_unpacking():
    for start in (random.key(1), random.PRNGKey(1)):
        key, subkey = random.split(start)
        key, *subkeys = random.split(start, 9)
        assert len(subkeys) == 8
        assert data(subkeys[-1]).shape == data(key).shape == data(subkey).shape == (2,)


def test_indexing_and_shapes():
    keys = random.split(random.key(0), (3, 4))
    words = data(keys)
    for index in (1, (2, 3), slice(1), (..., 0), (slice(None), 2), [2, 0], -1):
        index = np.array(index) if isinstance(index, list) else index
        picked = keys[index]
        given = index if isinstance(index, tuple) else (index,)
        expected = words[(*given, slice(None))] if given[0] is Ellipsis else words[given]
        assert np.array_equal(data(picked), expected), index
        assert picked.shape == expected.shape[:-1]
    assert keys.reshape(12).shape == keys.ravel().shape == keys.reshape(-1).shape == (12,)
    assert keys.reshape((2, 6)).shape == (2, 6)
    assert keys[:1].squeeze().shape == (4,)
    assert bool((keys == keys).all()) and not bool((keys[0] == keys[1]).any())
    assert (keys[0, 0] == keys).shape == (3, 4)


def test_keys_are_compared_by_functions_too():
    keys, other = random.split(random.key(0), 3), random.split(random.key(0), 3)[::-1]
    for compared in (lambda f: f, xc.jit):
        assert list(compared(xnp.equal)(keys, other)) == [False, True, False]
        assert list(compared(xnp.not_equal)(keys, other)) == [True, False, True]
        assert list(compared(xnp.isclose)(keys, other)) == [False, True, False]
        for whole in xnp.array_equal, xnp.allclose:
            assert compared(whole)(keys, keys) and not compared(whole)(keys, other)
    assert not xnp.array_equal(keys, keys[:2]) and xnp.array_equal(keys[0], keys[:1].squeeze())
    assert not xnp.array_equal(keys, random.split(random.key(0, impl="philox"), 3))
    for f in xnp.equal, xnp.isclose:
        with pytest.raises(TypeError, match="Expected an array"):
            f(keys, 1.0)


KEYS = random.split(random.key(0), (3, 2))
FLAGS = np.array([[True], [False], [True]])
ROWS = np.array([2, 0])
MOVES = [  # by xcore on keys, by NumPy on words (the words of a key are the elements along axis 2)
    (lambda k: xnp.stack([k, k], axis=1), lambda w: np.stack([w, w], axis=1)),
    (lambda k: xnp.stack([k[0, 0], k[1, 1]]), lambda w: np.stack([w[0, 0], w[1, 1]])),
    (lambda k: xnp.concatenate([k, k[:1]]), lambda w: np.concatenate([w, w[:1]])),
    (lambda k: xnp.vstack((k, k)), lambda w: np.vstack((w, w))),
    (lambda k: xnp.where(FLAGS, k, k[::-1]), lambda w: np.where(FLAGS[..., None], w, w[::-1])),
    (lambda k: xnp.where(FLAGS, k, k[0, 0]), lambda w: np.where(FLAGS[..., None], w, w[0, 0])),
    (lambda k: xnp.reshape(k, (2, -1)), lambda w: w.reshape(2, 3, 2)),
    (lambda k: k.reshape(3, 1, 2), lambda w: w.reshape(3, 1, 2, 2)),
    (lambda k: xnp.broadcast_to(k, (4, 3, 2)), lambda w: np.broadcast_to(w, (4, 3, 2, 2))),
    (lambda k: xnp.expand_dims(k, (0, -1)), lambda w: w[None, :, :, None]),
    (lambda k: xnp.squeeze(k[:1], 0), lambda w: w[0]),
    (lambda k: k[:, :1].squeeze(axis=1), lambda w: w[:, 0]),
    (lambda k: xnp.moveaxis(k, 0, -1), lambda w: w.swapaxes(0, 1)),
    (lambda k: k.swapaxes(0, 1), lambda w: w.swapaxes(0, 1)),
    (lambda k: xnp.take(k, ROWS, axis=0), lambda w: w[ROWS]),
    (lambda k: k.take(ROWS), lambda w: w.reshape(6, 2)[ROWS]),
    (lambda k: xnp.ravel(k), lambda w: w.reshape(6, 2)),
    (lambda k: xnp.tile(k, 2), lambda w: np.tile(w, (1, 2, 1))),
    (lambda k: xnp.repeat(k, 2, axis=1), lambda w: w.repeat(2, axis=1)),
    (lambda k: xnp.roll(k, 1, axis=0), lambda w: np.roll(w, 1, axis=0)),
    (lambda k: xnp.flip(k), lambda w: w[::-1, ::-1]),
    (lambda k: xnp.split(k, 3)[1], lambda w: w[1:2]),
    (lambda k: xnp.unstack(k, axis=1)[1], lambda w: w[:, 1]),
    (lambda k: xnp.append(k, k[0, 0]), lambda w: np.concatenate([w.reshape(6, 2), w[0, :1]])),
    (lambda k: xnp.delete(k, 1, axis=0), lambda w: w[ROWS[::-1]]),
    (lambda k: xnp.array([k[0, 0], k[2, 1]]), lambda w: np.stack([w[0, 0], w[2, 1]])),
    (lambda k: xnp.asarray(k), lambda w: w),
    (lambda k: xc.lax.dynamic_slice(k, (1, 0), (2, 1)), lambda w: w[1:3, :1]),
    (lambda k: xc.lax.select(xnp.bool_(True), k, k), lambda w: w),
    (lambda k: k.at[1].set(k[0]), lambda w: w[[0, 0, 2]]),
    (lambda k: k.at[:, 0].set(k[2, 1]), lambda w: np.stack([[w[2, 1]] * 3, w[:, 1]], 1)),
]  # fmt: skip


def test_moving_keys_moves_their_words():
    words = data(KEYS)
    together = xc.jit(lambda k: [ours(k) for ours, _ in MOVES])(KEYS)
    for n, ((ours, numpy_s), traced) in enumerate(zip(MOVES, together, strict=True)):
        for found in (ours(KEYS), traced):
            assert isinstance(found, random.KeyArray), n
            assert found.dtype == KEYS.dtype, n
            assert np.array_equal(data(found), numpy_s(words)), n


def test_moving_keys_under_vmap():
    lanes = xnp.stack([KEYS, KEYS[::-1]])
    together = xc.jit(xc.vmap(lambda k: [ours(k) for ours, _ in MOVES]))(lanes)
    for n, ((_, numpy_s), found) in enumerate(zip(MOVES, together, strict=True)):
        expected = np.stack([numpy_s(w) for w in data(lanes)])
        assert np.array_equal(data(found), expected), n


def test_keys_do_not_mix_with_numbers_or_other_keys():
    philox = random.split(random.key(0, impl="philox"), (3, 2))
    with pytest.raises(TypeError, match=r"xcore.concatenate: an array of key<philox> does not go"):
        xnp.concatenate([KEYS, philox])
    with pytest.raises(TypeError, match="does not go together with an array of key<fry>"):
        xnp.where(True, KEYS, 0)
    with pytest.raises(TypeError, match="Expected an array"):
        xnp.sum(KEYS)


@pytest.mark.parametrize("shape", [(), (3,), (2, 0)])
def test_keys_are_no_numbers_for_numpy(shape):
    keys = xc.random.split(xc.random.key(0), shape) if shape else xc.random.key(0)
    for f in (np.asarray, np.array, lambda k: np.ones(shape) + k, lambda k: np.array([k, k])):
        with pytest.raises(TypeError, match="key_data"):
            f(keys)
    assert xc.typeof(keys).shape == shape
    assert xnp.asarray(keys).shape == shape and xnp.array([keys, keys]).shape == (2, *shape)
    with pytest.raises(TypeError, match="Expected an array"):
        xnp.sin(keys)


def test_raw_and_typed_keys_give_the_same():
    raw, typed = random.PRNGKey(5), random.key(5)
    assert np.array_equal(random.normal(raw, (3,)), random.normal(typed, (3,)))
    assert isinstance(random.split(raw), xc.Array) and isinstance(
        random.split(typed), random.KeyArray
    )
    assert np.array_equal(random.uniform(np.array([0, 5], np.uint32)), random.uniform(typed))


def test_wrap_and_unwrap():
    keys = random.split(random.key(0, impl="philox"), 3)
    again = random.wrap_key_data(random.key_data(keys), impl=random.key_impl(keys))
    assert bool((again == keys).all()) and again.dtype == keys.dtype == random.key_dtype(
        "philox4x32"
    )
    assert random.key(0, dtype=keys.dtype).dtype == keys.dtype
    assert random.key_impl(random.PRNGKey(0)) == "threefry2x32"


def test_default_generator_is_a_setting():
    with xc.config.override(default_prng_impl="philox4x32"):
        assert random.key_impl(random.key(0)) == "philox4x32"
        raw = random.uniform(random.PRNGKey(3), (4,))
    assert np.array_equal(raw, random.uniform(random.key(3, impl="philox4x32"), (4,)))


@pytest.mark.parametrize("impl", IMPLS)
def test_pickle(impl):
    keys = random.split(random.key(9, impl=impl), 3)
    again = pickle.loads(pickle.dumps(keys))
    assert bool((again == keys).all()) and again.dtype == keys.dtype


def test_devices():
    key = random.key(0)
    assert key.device in xc.devices() and key.devices() == {key.device}
    assert key.block_until_ready() is key and key.is_ready()


# Under transformations


def test_keys_are_pytrees():
    keys = {"a": random.key(0), "b": random.split(random.key(1))}
    leaves, structure = xc.tree.flatten(keys)
    assert [x.shape for x in leaves] == [(2,), (2, 2)]
    assert xc.tree.unflatten(structure, leaves)["b"].shape == (2,)


def test_keys_move_as_elements_do():
    keys = random.split(random.key(3), (2, 3))
    words = data(keys)
    assert np.array_equal(data(keys.T), words.transpose(1, 0, 2))
    assert np.array_equal(data(keys.transpose(0, -1)), words)
    assert bool((keys.copy() == keys).all())
    new = random.key(9)
    changed = xc.jit(lambda keys, new: keys.at[:, 1].set(new))(keys, new)
    words = words.copy()
    words[:, 1] = data(new)
    assert np.array_equal(data(changed), words)
    with pytest.raises(TypeError, match="another generator"):
        keys.at[0].set(random.key(0, impl="philox4x32"))


def test_dtypes_of_keys_have_a_family():
    here, there = (random.key(0, impl=impl).dtype for impl in IMPLS)
    for family in (xc.dtypes.prng_key, xc.dtypes.extended, np.generic, here):
        assert xnp.issubdtype(here, family)
    assert not xnp.issubdtype(here, there) and not xnp.issubdtype(here, np.number)
    assert not xnp.issubdtype(np.float32, xc.dtypes.prng_key)


def test_jit_takes_and_returns_keys():
    step = xc.jit(lambda key: random.split(key))
    key = random.key(0)
    assert bool((step(key) == random.split(key)).all())
    seeded = xc.jit(random.key)(7)
    assert bool(seeded == random.key(7))


def test_vmap_over_keys_and_seeds():
    keys = random.split(random.key(0), 5)
    mapped = xc.vmap(lambda key: random.split(key, 3))(keys)
    assert mapped.shape == (5, 3)
    assert bool((mapped[4] == random.split(keys[4], 3)).all())
    assert data(xc.vmap(random.key)(xnp.arange(4))).tolist() == [[0, i] for i in range(4)]
    folded = xc.vmap(random.fold_in, in_axes=(None, 0))(keys[0], xnp.arange(4))
    assert bool((folded == random.split(keys[0], 4)).all())


def test_keys_as_loop_carries():
    def step(key, _):
        key, now = random.split(key)
        return key, random.uniform(now)

    last, drawn = xc.lax.scan(step, random.key(0), None, length=3)
    key, by_hand = random.key(0), []
    for _ in range(3):
        key, now = random.split(key)
        by_hand.append(float(random.uniform(now)))
    assert np.array_equal(drawn, np.float32(by_hand)) and bool(last == key)
    key = xc.lax.fori_loop(0, 3, lambda i, key: random.split(key)[0], random.key(0))
    assert bool(key == last)


# Mistakes


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: random.key(1.5), ValueError, "seed must be an integer"),
        (lambda: random.key(2**64), OverflowError, "does not fit in 64 bits"),
        (lambda: random.key(random.key(0)), TypeError, "is a key already"),
        (lambda: random.key(xnp.arange(3)), ValueError, "vmap"),
        (lambda: random.key(0, impl="mt19937"), ValueError, "'threefry2x32', 'philox4x32'"),
        (lambda: random.normal(3), TypeError, "expected a random key"),
        (lambda: random.normal(xnp.zeros(2)), TypeError, "expected a random key"),
        (lambda: random.normal(random.split(random.key(0))), ValueError, r"vmap\(random.normal\)"),
        (lambda: random.fold_in(random.key(0), 1.5), ValueError, "integer scalar"),
        (lambda: random.fold_in(random.key(0), xnp.arange(3)), ValueError, "vmap"),
        (lambda: random.wrap_key_data(xnp.zeros(3, "uint32")), TypeError, "length 2"),
        (lambda: list(random.key(0)), TypeError, "split"),
        (lambda: xc.vmap(random.normal)(random.key(0)), ValueError, "in_axes=None"),
    ],
)
def test_mistakes_are_explained(call, error, message):
    with pytest.raises(error, match=message):
        call()


# Reuse


@pytest.fixture
def watched():
    with xc.config.override(debug_key_reuse=True):
        yield


def test_reuse_is_off_by_default():
    key = random.key(0)
    assert random.normal(key) == random.normal(key)


def test_reuse_names_both_uses(watched):
    key = random.key(0)
    random.normal(key)  # the first use
    with pytest.raises(KeyReuseError) as caught:
        random.uniform(key)  # the second use
    text = str(caught.value)
    assert "used before, by random.normal" in text and "# the first use" in text
    assert "# the second use" in text and text.count("test_keys.py") == 2


def test_reuse_after_split(watched):
    key = random.key(0)
    random.split(key)
    with pytest.raises(KeyReuseError, match=r"random\.split"):
        random.gamma(key, 2.0)


def test_reuse_of_a_part(watched):
    keys = random.split(random.key(0))
    random.normal(keys[0])
    random.normal(keys[1])
    with pytest.raises(KeyReuseError):
        random.normal(keys[0])


def test_reuse_of_raw_words(watched):
    key = random.PRNGKey(0)
    random.normal(key)
    with pytest.raises(KeyReuseError):
        random.normal(np.asarray(key))


def test_reuse_while_tracing(watched):
    def twice(key):
        return random.normal(key) + random.normal(key)

    def twice_a_part(keys):
        return random.normal(keys[1]) + random.normal(keys[1])

    with pytest.raises(KeyReuseError):
        xc.jit(twice)(random.key(0))
    with pytest.raises(KeyReuseError):
        xc.jit(twice_a_part)(random.split(random.key(0)))
    with pytest.raises(KeyReuseError):
        xc.vmap(twice)(random.split(random.key(0)))


def test_what_is_no_reuse(watched):
    def run():
        key, subkey = random.split(random.key(0))
        return random.normal(key), random.normal(subkey)

    run()
    run()  # the keys of the first run are gone, and a key made from its seed is a new one
    key = random.key(0)
    random.normal(key)
    random.normal(random.clone(key))
    steps = [random.fold_in(random.key(1), i) for i in range(3)]
    assert len({float(random.normal(k)) for k in steps}) == 3
    assert random.normal_at(steps[0], 3) == random.normal_at(steps[0], 3)


def test_two_generators_do_not_share_records(watched):
    for impl in IMPLS:
        random.normal(random.key(12, impl=impl))


@pytest.mark.parametrize("shape", [(), (3,), (2, 0)])
def test_arrays_like_keys_are_keys_of_that_value(shape):
    keys = random.key(0) if shape == () else random.split(random.key(0), shape)
    made = {
        0: [xnp.zeros_like(keys), xnp.empty_like(keys), xc.jit(xnp.zeros_like)(keys)],
        1: [xnp.ones_like(keys)],
        7: [xnp.full_like(keys, 7), xc.lax.full_like(keys, 7), xnp.full_like(a=keys, fill_value=7)],
    }
    for value, found in made.items():
        for x in found:
            assert x.dtype == keys.dtype and x.shape == shape
            assert np.all(np.asarray(random.key_data(x)) == value)
    assert xnp.zeros_like(keys, shape=(4,)).shape == xnp.zeros_like(keys, shape=4).shape == (4,)
    assert xnp.zeros_like(keys, xnp.float32).dtype == np.float32
    assert xnp.zeros_like(keys, xnp.float32).shape == shape


def test_keys_in_places():
    keys = random.split(random.key(0), 3)
    assert np.all(np.asarray(keys.at[xnp.array([2, 0])].get() == keys[xnp.array([2, 0])]))
