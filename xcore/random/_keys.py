"""Keys: where random numbers start. Small arrays of words, made from a seed, split, never changed."""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .._core import Array, Tracer, boundary, config, dtypes, errors, nodes, structures, tree, typeof
from .._core.eval import is_array_like
from .._core.types import ShapeDtypeStruct
from ..numpy._compound import Compound
from ..numpy._dot import diagonal
from ..numpy._promote import as_array, check_shape
from ..numpy._repeat import repeat
from ..numpy._shape import squeeze, swapaxes
from ..numpy._take import take
from . import _reuse
from ._hash import column, spread
from ._staged import staged
from ._streams import STREAMS, Stream, child_of, children, halves, pick, stream_named

WORDS = 2  # the words of one key, of either generator


class KeyType(dtypes.ExtendedDtype):
    """The dtype of typed keys, such as ``key<fry>``: it names the generator they are for."""

    __slots__ = ("stream",)
    type = dtypes.prng_key
    kind, itemsize = "V", 4 * WORDS

    def __init__(self, stream: Stream):
        self.stream = stream

    @property
    def name(self) -> str:
        return f"key<{self.stream.tag}>"

    def __repr__(self):
        return self.name

    def __eq__(self, other):
        return isinstance(other, KeyType) and other.stream is self.stream

    def __hash__(self):
        return hash(self.stream.name)


class KeyArray(Compound):
    """An array of random keys: words, and the generator they are for.

    It has a shape, is indexed and iterated like an array, and is a pytree whose leaf is the uint32
    array of words, so keys pass through ``jit``, ``vmap``, ``scan`` and pickle. Arithmetic on keys
    has no meaning and does not exist.

    >>> import xcore as xc
    >>> keys = xc.random.split(xc.random.key(0), (3, 2))
    >>> keys.shape, keys[0, 1].shape, keys.dtype
    ((3, 2), (), key<fry>)
    """

    __slots__ = ("__weakref__", "_data", "_part_of", "_stream")
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __init__(self, data, stream: Stream, part_of=None):
        self._data, self._stream, self._part_of = data, stream, part_of

    # What it is

    @property
    def __class__(self):  # ``isinstance``: keys without values are also what eval_shape gives
        return ShapeDtypeStruct if type(self._data) is ShapeDtypeStruct else KeyArray

    @property
    def dtype(self) -> KeyType:
        return KeyType(self._stream)

    @property
    def shape(self) -> tuple:
        return _shape_of(self._data)[:-1]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    @property
    def itemsize(self) -> int:
        return 4 * WORDS

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def sharding(self):
        return self._data.sharding

    @property
    def device(self):
        return self._data.device

    def devices(self) -> set:
        return self._data.devices()

    @property
    def is_fully_addressable(self) -> bool:
        return self._data.is_fully_addressable

    def block_until_ready(self) -> KeyArray:
        self._data.block_until_ready()
        return self

    def is_ready(self) -> bool:
        return self._data.is_ready()

    # Its elements

    def __len__(self):
        if not self.ndim:
            raise TypeError("len() of a single key")
        return self.shape[0]

    def __iter__(self):
        if not self.ndim:
            raise TypeError(
                "A single key cannot be iterated over; random.split(key) gives an array of keys."
            )
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index):
        full = _whole_index(index)
        part = self._data[(*full, slice(None))]
        static = all(isinstance(i, int) for i in full[:-1]) and len(full) - 1 == self.ndim
        return KeyArray(part, self._stream, (self._data, full[:-1]) if static else None)

    def __array__(self, dtype=None, copy=None):
        raise TypeError(
            "Random keys are no numbers for NumPy. random.key_data(keys) gives their words."
        )

    def _with(self, data) -> KeyArray:
        return KeyArray(data, self._stream)

    def reshape(self, *shape) -> KeyArray:
        shape = shape[0] if len(shape) == 1 else shape
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        return self._with(self._data.reshape((*shape, WORDS)))

    def ravel(self) -> KeyArray:
        return self.reshape(self.size)

    flatten = ravel

    squeeze, swapaxes, take = squeeze, swapaxes, take
    repeat, diagonal = repeat, diagonal

    def transpose(self, *axes) -> KeyArray:
        axes = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        axes = tuple(axes or ()) or tuple(reversed(range(self.ndim)))
        return self._with(self._data.transpose((*[a % self.ndim for a in axes], self.ndim)))

    @property
    def T(self) -> KeyArray:
        return self.transpose()

    def copy(self) -> KeyArray:
        return clone(self)

    @property
    def at(self) -> _Places:
        """``keys.at[index].set(others)``: the keys with some of them replaced."""
        return _Places(self)

    def __eq__(self, other):
        if not isinstance(other, KeyArray):
            return NotImplemented
        if other._stream is not self._stream:
            return np.zeros(np.broadcast_shapes(self.shape, other.shape), bool)
        same = self._data == other._data
        return (
            same.all(axis=-1) if np.ndim(same) else same
        )  # a tree of something else has its place

    def __ne__(self, other):
        same = self.__eq__(other)
        if same is NotImplemented:
            return same
        return not same if isinstance(same, bool) else ~same

    def __reduce__(self):
        return _restore, (self._data, self._stream.name)

    def __repr__(self):
        if isinstance(self._data, Tracer):
            return f"Traced<{self.dtype.name}[{','.join(map(str, self.shape))}]>"
        if not getattr(self._data, "shape", ()):  # a tree of dtypes, names, …
            return f"KeyArray({self._data!r})"
        return f"Array({self.shape}, dtype={self.dtype.name}) overlaying:\n{self._data}"


def _whole_index(index) -> tuple:
    """An index with an ellipsis in it, to be followed by one of the axis of words."""
    index = index if isinstance(index, tuple) else (index,)
    return index if any(i is Ellipsis for i in index) else (*index, ...)


class _Places:
    """Keys that are about to be replaced in an array of them."""

    __slots__ = ("_index", "_keys")

    def __init__(self, keys: KeyArray, index: tuple = ()):
        self._keys, self._index = keys, index

    def __getitem__(self, index) -> _Places:
        return _Places(self._keys, _whole_index(index))

    def get(self, **options) -> KeyArray:
        """The keys in the places; the options are those of ``x.at[i].get``."""
        keys = self._keys
        return keys._with(keys._data.at[(*self._index, slice(None))].get(**options))

    def set(self, values, **options) -> KeyArray:
        """The array with these keys in the places; the options are those of ``x.at[i].set``."""
        keys = self._keys
        values = as_keys("KeyArray.at.set", values)
        if values._stream is not keys._stream:
            raise TypeError(
                f"xcore.random: an array of {keys.dtype} cannot take {values.dtype}: its keys are for "
                "another generator."
            )
        places = keys._data.at[(*self._index, slice(None))]
        return keys._with(places.set(values._data, **options))


def _restore(data, name: str) -> KeyArray:
    return KeyArray(data, STREAMS[name])


def _shape_of(data) -> tuple:
    shape = tuple(getattr(data, "shape", ()))
    if shape[-1:] != (WORDS,):
        raise errors.ShapeError(
            f"xcore.random: the words of keys have lost their last axis: their shape is {shape} and should "
            f"end in {WORDS}. A vmap or scan went along it: map over an array of keys, as random.split "
            "gives, and pass a single key with in_axes=None."
        )
    return shape


nodes.register_pytree_node(
    KeyArray,
    lambda keys: ((keys._data,), keys._stream),
    lambda stream, data: KeyArray(*data, stream),
    # named by the generator: the words of a key mean another one to another generator
    lambda keys: (((tree.GetAttrKey(keys._stream.name), keys._data),), keys._stream),
)

structures.register_pytree_node_serialization(
    KeyArray, serialized_name="xcore.random.KeyArray",
    serialize_auxdata=lambda stream: stream.name.encode(),
    deserialize_auxdata=lambda raw: stream_named("export.deserialize", raw.decode()),
)  # fmt: skip

# Reading arguments


def is_key(x) -> bool:
    """Whether something is a typed key or has the form of raw key words."""
    return isinstance(x, KeyArray) or (
        is_array_like(x) and getattr(x, "dtype", None) == np.uint32 and np.shape(x)[-1:] == (WORDS,)
    )


def as_keys(who: str, key) -> KeyArray:
    """Typed keys as they are; raw words as keys of the default generator."""
    if isinstance(key, KeyArray):
        _shape_of(key._data)
        return key
    if not is_key(key):
        raise TypeError(
            f"xcore.random.{who}: expected a random key, given {errors.describe(key)}. Make one with "
            "random.key(seed); raw keys are uint32 arrays whose last axis has length 2."
        )
    return KeyArray(as_array(f"random.{who}", key, "key"), stream_named(who, None))


def single_key(who: str, key) -> KeyArray:
    """One key, not yet counted as used."""
    keys = as_keys(who, key)
    if keys.shape:
        raise errors.ShapeError(
            f"xcore.random.{who}: expected a single key, given an array of keys of shape {keys.shape}. "
            f"Map over them: xcore.vmap(random.{who})(keys)."
        )
    return keys


def consumed(who: str, key) -> KeyArray:
    """One key that the caller now uses up."""
    found = single_key(who, key)
    _reuse.consume(who, found._stream, found._data, found._part_of)
    return found


def words_of(data) -> tuple:
    """The two words of one key."""
    return tuple(column(data, i) for i in range(WORDS))


def _like(given, made: KeyArray):
    """Keys in the form of the argument they were made from: typed or raw."""
    return made if isinstance(given, KeyArray) else made._data


# Making keys


def _check_seed(who: str, seed):
    if isinstance(seed, KeyArray):
        raise TypeError(
            f"xcore.random.{who}: the seed is a key already, {seed.dtype.name}; give an integer."
        )
    if not is_array_like(seed) or isinstance(seed, (float, complex)):
        raise errors.bad_argument(f"random.{who}", "seed", seed, "an integer")
    seed = int(seed) if isinstance(seed, bool) else seed
    if isinstance(seed, int) and not -(2**63) <= seed < 2**64:
        raise OverflowError(f"xcore.random.{who}: the seed {seed} does not fit in 64 bits.")
    if isinstance(seed, int):
        wide = seed < 0 and config.settings().default_bits == 64  # where JAX keeps 64 bits of it
        upper = seed >> 32 if wide or not -(2**31) <= seed < 2**32 else 0
        return np.array([upper & 0xFFFFFFFF, seed & 0xFFFFFFFF], np.uint32)
    seed = as_array(f"random.{who}", seed, "seed")
    t = typeof(seed)
    if t.shape or not dtypes.is_integer(t.dtype):
        raise errors.bad_argument(
            f"random.{who}",
            "seed",
            seed,
            "an integer scalar",
            "Map over several: xcore.vmap(random.key)(seeds).",
        )
    return seed


@staged
def _key_from_seed(arrays):
    return _pair(halves(*arrays))


def _pair(words):
    """Two words as the array of a key."""
    number = ops.iota(shape=(WORDS,), dtype=dtypes.uint32, axis=0)
    return pick([spread(w, (WORDS,)) for w in words], number)


def _new_key(who: str, seed, impl) -> KeyArray:
    stream = impl.stream if isinstance(impl, KeyType) else stream_named(who, impl)
    seed = _check_seed(who, seed)
    data = as_array(who, seed) if isinstance(seed, np.ndarray) else _key_from_seed([seed])
    _reuse.forget(stream, data)
    return KeyArray(data, stream)


@boundary
def key(seed, *, impl=None, dtype=None) -> KeyArray:
    """A random key from a seed.

    A key is used once: it gives the same numbers again, and to other functions numbers that depend on them.
    ``split`` makes new ones of it; under the setting ``debug_key_reuse`` a second use raises.

    Args:
      seed: an integer of up to 64 bits. Near seeds give keys as good as any.
      impl: the generator: "threefry2x32" (the default, with the numbers of jax.random) or
        "philox4x32" (the faster one); the setting ``default_prng_impl`` changes the default.
      dtype: another way to name the generator, by the dtype of a key.

    >>> import xcore as xc
    >>> xc.random.key(42)
    Array((), dtype=key<fry>) overlaying:
    [ 0 42]
    >>> first, second = xc.random.split(xc.random.key(42))
    >>> xc.random.normal(first) == xc.random.normal(second)
    Array(False, dtype=bool)
    """
    return _new_key("key", seed, dtype if impl is None else impl)


@boundary
def PRNGKey(seed, *, impl=None):
    """A raw key from a seed: the two words as a plain uint32 array. ``key`` is the newer form.

    Args:
      seed: integer.
      impl: name of the generator; that of the setting ``default_prng_impl`` by default.

    >>> import xcore as xc
    >>> xc.random.PRNGKey(42)
    Array([ 0, 42], dtype=uint32)
    """
    return _new_key("PRNGKey", seed, impl)._data


@boundary
def key_data(keys):
    """The words of keys, a uint32 array with a last axis of length 2.

    Args:
      keys: a key or an array of keys.

    >>> import xcore as xc
    >>> xc.random.key_data(xc.random.key(7))
    Array([0, 7], dtype=uint32)
    """
    return as_keys("key_data", keys)._data


@boundary
def wrap_key_data(key_bits_array, *, impl=None, dtype=None) -> KeyArray:
    """Typed keys from their words: the reverse of ``key_data``.

    Args:
      key_bits_array: uint32 array whose last axis has length 2.
      impl, dtype: the generator, as in ``key``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.random.wrap_key_data(xnp.zeros((3, 2), "uint32")).shape
    (3,)
    """
    data = as_keys("wrap_key_data", key_bits_array)._data
    impl = dtype if impl is None else impl
    stream = impl.stream if isinstance(impl, KeyType) else stream_named("wrap_key_data", impl)
    _reuse.forget(stream, data)
    return KeyArray(data, stream)


@boundary
def key_impl(keys) -> str:
    """The name of the generator that keys are for.

    Args:
      keys: a key or an array of keys.

    >>> import xcore as xc
    >>> xc.random.key_impl(xc.random.key(0, impl="philox4x32"))
    'philox4x32'
    """
    return as_keys("key_impl", keys)._stream.name


@boundary
def key_dtype(impl_spec=None) -> KeyType:
    """The dtype of typed keys for a generator.

    Args:
      impl_spec: name of the generator, as for ``key``.

    >>> import xcore as xc
    >>> xc.random.key_dtype("threefry2x32")
    key<fry>
    """
    return KeyType(stream_named("key_dtype", impl_spec))


# Keys from keys


@staged
def _split(arrays, shape, stream):
    return children(stream, words_of(*arrays), shape)


@boundary
def split(key, num=2):
    """New keys from a key, which should then not be used again.

    The i-th new key is ``fold_in(key, i)``; it depends on nothing but the key and i.

    Args:
      key: a single key.
      num: how many keys, or the shape of an array of them.

    >>> import xcore as xc
    >>> key, subkey = xc.random.split(xc.random.key(0))
    >>> xc.random.split(key, (4, 3)).shape
    (4, 3)
    """
    shape = check_shape("random.split", num)
    found = consumed("split", key)
    data = _split([found._data], shape, found._stream)
    return _like(key, KeyArray(data, found._stream))


@staged
def _fold_in(arrays, stream):
    data, number = arrays
    number = tuple(spread(w, (WORDS,)) for w in halves(number))
    return child_of(stream, words_of(data), number)


@boundary
def fold_in(key, data):
    """A new key from a key and an integer, such as the number of a step or of a process.

    Args:
      key: a single key.
      data: an integer scalar, Python's or an array; integers of 64 bits count whole.

    >>> import xcore as xc
    >>> keys = [xc.random.fold_in(xc.random.key(0), step) for step in range(3)]
    """
    found = single_key("fold_in", key)
    if isinstance(data, int) and not isinstance(data, bool) and not -(2**31) <= data < 2**31:
        data = np.asarray(data, np.uint64 if data >= 0 else np.int64)
    number = as_array("random.fold_in", data, "data")
    t = typeof(number)
    if t.shape or not dtypes.is_integer(t.dtype):
        advice = "Map over several: xcore.vmap(random.fold_in, in_axes=(None, 0))(key, numbers)."
        raise errors.bad_argument("random.fold_in", "data", data, "an integer scalar", advice)
    made = _fold_in([found._data, number], found._stream)
    return _like(key, KeyArray(made, found._stream))


@boundary
def clone(key):
    """The same key, which may be used once more where ``debug_key_reuse`` is on.

    Args:
      key: a key or an array of keys.

    >>> import xcore as xc
    >>> key = xc.random.key(0)
    >>> x, same = xc.random.normal(key), xc.random.normal(xc.random.clone(key))
    >>> bool(x == same)
    True
    """
    found = as_keys("clone", key)
    data = found._data
    data = data.copy() if type(data) is Array else ops.reshape(data, shape=typeof(data).shape)
    _reuse.forget(found._stream, data)
    return _like(key, KeyArray(data, found._stream))
