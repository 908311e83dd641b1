"""Bits, uniform and normal numbers, and all that is a formula in them: jax's values, the same everywhere."""

import functools
import zlib

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import random

KEY = random.key(42)
IMPLS = ("threefry2x32", "philox4x32")


def checksum(x):
    return zlib.crc32(np.ascontiguousarray(np.asarray(x)).tobytes())


# Jax's values (made once with jax 0.10.2, default settings, key 42)
# The last column is the CRC-32 of the bytes of a whole array of shape (7, 143).

BITS = [
    ("uint8", [162, 217, 249, 215], 3857570992),
    ("uint16", [5026, 12505, 63993, 49623], 1560629006),
    ("uint32", [2098992034, 2919706841, 2646866425, 2409546199], 3837508232),
]
UNIFORM = [
    ("float16", [0.076171875, 0.1904296875, 0.9755859375, 0.7568359375], 516217551),
    ("bfloat16", [0.6328125, 0.84375, 0.96875, 0.8359375], 1781018809),
    ("float32", [0.48870956897735596, 0.6797971725463867, 0.6162714958190918, 0.5610160827636719], 2908763317),
]  # fmt: skip
NORMAL = [
    ("float16", [-1.4296875, -0.87548828125, 1.974609375, 0.69677734375]),
    ("bfloat16", [0.34375, 1.015625, 1.890625, 0.984375]),
    ("float32", [-0.02830461598932743, 0.4671318531036377, 0.2957029640674591, 0.15354591608047485]),
    ("float64", [-0.18471174528191162, -2.169824560397754, 0.18693555179382582]),
    ("complex64", [0.05368746072053909 + 0.4283398389816284j, -0.34389618039131165 + 0.5650094747543335j]),
    ("complex128", [-0.5093295292642132 + 0.45954304860759587j, -0.18428781404443714 + 0.08377702715980621j]),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "first", "whole"), BITS)
def test_bits_are_jax_s(dtype, first, whole):
    assert np.asarray(random.bits(KEY, (4,), dtype)).tolist() == first
    assert checksum(random.bits(KEY, (7, 143), dtype)) == whole


@pytest.mark.parametrize(("dtype", "first", "whole"), UNIFORM)
def test_uniform_is_jax_s(dtype, first, whole):
    u = random.uniform(KEY, (7, 143), dtype)
    assert np.asarray(u[0, :4], np.float64).tolist() == first
    assert checksum(u) == whole


def test_64_bits_are_jax_s():
    assert random.bits(KEY, (3,), "uint64").tolist() == [
        7871734211187709741, 276886910877598708, 10591095138341673235,
    ]  # fmt: skip
    expected = [0.4267275666499091, 0.015010069515314584, 0.5741444178995352]
    assert random.uniform(KEY, (3,), "float64").tolist() == expected


@pytest.mark.parametrize(("dtype", "values"), NORMAL)
def test_normal_is_jax_s(dtype, values):
    x = np.asarray(random.normal(KEY, (len(values),), dtype))
    assert x.dtype == dtype
    eps = float(xnp.finfo(dtype).eps)
    np.testing.assert_allclose(x.astype(np.complex128), values, rtol=4 * eps)


INTEGERS = [
    (random.randint, (0, 10), [4, 4, 1]),
    (random.randint, (-5, 3), [-1, -3, 2]),
    (random.randint, (0, 1000003), [284901, 855213, 368787]),
    (random.randint, (0, 2147483647), [977810629, 1236381715, 780371127]),
    (random.randint, (-2147483648, 2147483647), [977810628, 1236381714, -1367112521]),
    (random.randint, (-128, 128, "int8"), [68, -110, 55]),
    (random.randint, (0, 10, "uint8"), [4, 4, 1]),
    (random.randint, (-300, 300, "int16"), [144, -186, 171]),
]  # fmt: skip


@pytest.mark.parametrize(("f", "arguments", "values"), INTEGERS)
def test_randint_is_jax_s(f, arguments, values):
    assert f(KEY, (3,), *arguments).tolist() == values


def test_other_integers_are_jax_s():
    assert random.permutation(KEY, 10).tolist() == [7, 4, 2, 5, 3, 6, 8, 9, 0, 1]
    assert checksum(random.permutation(KEY, 5000)) == 2884010727
    x = xnp.arange(12).reshape(3, 4)
    assert random.permutation(KEY, x).tolist() == [[8, 9, 10, 11], [0, 1, 2, 3], [4, 5, 6, 7]]
    rows = [[2, 3, 0, 1], [7, 4, 5, 6], [10, 11, 8, 9]]
    assert random.permutation(KEY, x, 1, independent=True).tolist() == rows
    assert random.choice(KEY, 50, (6,)).tolist() == [44, 14, 21, 19, 9, 19]
    assert random.choice(KEY, 50, (6,), replace=False).tolist() == [35, 45, 31, 7, 4, 29]
    p = xnp.arange(1.0, 9.0) / 36
    assert random.choice(KEY, 8, (6,), p=p).tolist() == [5, 4, 4, 5, 5, 4]
    assert random.choice(KEY, 8, (6,), False, p).tolist() == [7, 5, 3, 4, 2, 1]
    assert random.bernoulli(KEY, 0.3, (8,)).tolist() == [False] * 6 + [True, False]
    assert random.rademacher(KEY, (8,)).tolist() == [1, -1, -1, -1, 1, -1, 1, -1]
    assert random.geometric(KEY, 0.2, (6,)).tolist() == [4, 2, 3, 3, 4, 3]
    logits = xnp.log(xnp.array([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]]))
    assert random.categorical(KEY, logits).tolist() == [2, 0]
    assert random.categorical(KEY, logits, shape=(4, 2)).tolist() == [
        [2, 0],
        [2, 0],
        [1, 0],
        [1, 2],
    ]
    assert random.categorical(KEY, logits, axis=0).tolist() == [1, 0, 0]
    assert random.categorical(KEY, logits, shape=(2, 2), replace=False).tolist() == [[2, 0], [1, 1]]


def test_what_is_compared_with_float32_is_the_same_under_x64():
    """As in jax, where random numbers have the dtype of the parameter they are compared with."""
    p = xnp.array([0.1, 0.2, 0.7], "float32")
    draws = (
        lambda: random.bernoulli(KEY, p[1], (20,)),
        lambda: random.geometric(KEY, p[1], (20,)),
        lambda: random.categorical(KEY, xnp.log(p), shape=(20,)),
        lambda: random.categorical(KEY, xnp.log(p), shape=(3,), replace=False),
        lambda: random.choice(KEY, 3, (20,), p=p),
        lambda: random.choice(KEY, 3, (3,), False, p),
    )
    plain = [draw().tolist() for draw in draws]
    with xc.enable_x64(True):
        assert [draw().tolist() for draw in draws] == plain
        # a Python float has the default dtype, and signs are a comparison with 0.5
        u = random.uniform(KEY, (20,))
        assert u.dtype == "float64"
        assert (random.bernoulli(KEY, 0.3, (20,)) == (u < 0.3)).all()
        for dtype in ("int8", "float32"):
            assert (random.rademacher(KEY, (20,), dtype) == xnp.where(u < 0.5, 1, -1)).all()


FORMULAS = [
    ("exponential", (), [0.670817494, 1.13880062, 0.957819998]),
    ("cauchy", (), [-0.0354846306, 0.63372612, 0.382440567]),
    ("laplace", (), [0.0228396524, -0.445653558, -0.264672905]),
    ("logistic", (), [-0.0451694131, 0.752839804, 0.47375232]),
    ("gumbel", (), [0.334093392, 0.952019453, 0.725530565]),
    ("maxwell", (), [0.553582489, 0.293285072, 1.70860302]),
    ("pareto", (3.0,), [1.25057793, 1.4617002, 1.37612748]),
    ("rayleigh", (2.0,), [2.3933022, 1.75718141, 1.96787739]),
    ("weibull_min", (2.0, 0.7), [1.13063383, 2.40807247, 1.88058388]),
    ("lognormal", (0.5,), [0.985947371, 1.26309609, 1.15934074]),
    ("triangular", (0.0, 1.0, 4.0), [1.52300882, 2.03978729, 1.85413384]),
    ("truncated_normal", (-2.0, 2.0), [-0.0270164981, 0.44438082, 0.281877071]),
    ("wald", (1.0,), [1.07886255, 1.61878002, 0.296910763]),
    ("double_sided_maxwell", (1.0, 2.0), [-1.76204348, -0.351377964, 5.44404268]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "parameters", "values"), FORMULAS)
def test_formulas_are_jax_s(name, parameters, values):
    # relative to numbers of order 1, to within the rounding of a handful of operations
    x = getattr(random, name)(KEY, *parameters, (3,))
    np.testing.assert_allclose(x, values, rtol=3e-6, atol=3e-7)


# Philox is Random123's sequence of blocks


def test_philox_words_are_the_blocks():
    key = random.key(2**40 + 17, impl="philox4x32")
    counter = np.zeros((25, 4), np.uint32)
    counter[:, 0] = np.arange(25)
    blocks = np.asarray(random.philox4x32(random.key_data(key), counter))
    assert np.array_equal(random.bits(key, (100,)), blocks.ravel())
    assert np.array_equal(random.bits(key, (50,), "uint64"), blocks.reshape(-1).view(np.uint64))
    assert np.array_equal(random.bits(key, (100,), "uint8"), blocks.ravel().astype(np.uint8))


def test_philox_counts_on_beyond_32_bits():
    key = random.key(5, impl="philox4x32")
    counter = np.array([[3, 1, 0, 0]], np.uint32)
    block = np.asarray(random.philox4x32(random.key_data(key), counter))[0]
    numbers = np.arange(4) + 4 * (2**32 + 3)
    assert np.array_equal(random.bits_at(key, numbers), block)


def test_threefry_counts_on_beyond_32_bits():
    x0, x1 = np.asarray(random.threefry2x32(random.key_data(KEY), np.array([2, 9], np.uint32)))
    assert int(random.bits_at(KEY, 2 * 2**32 + 9)) == int(x0 ^ x1)


# The same numbers however they are drawn

DRAWS = {
    "bits": lambda key, n: random.bits(key, (n,)),
    "uniform": lambda key, n: random.uniform(key, (n,)),
    "normal": lambda key, n: random.normal(key, (n,)),
    "gamma": lambda key, n: random.gamma(key, 0.7, (n,)),
    "poisson": lambda key, n: random.poisson(key, 30.0, (n,)),
    "binomial": lambda key, n: random.binomial(key, 100, 0.4, (n,)),
    "randint": lambda key, n: random.randint(key, (n,), 0, 1000),
    "permutation": lambda key, n: random.permutation(key, n),
    "von_mises": lambda key, n: random.von_mises(key, 0.0, 2.0, (n,)),
}


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("name", DRAWS)
def test_eager_and_mapped(name, impl):
    f = functools.partial(DRAWS[name], n=37)
    keys = random.split(random.key(0, impl=impl), 3)
    eager = np.stack([np.asarray(f(key)) for key in keys])
    assert np.array_equal(xc.jit(xc.vmap(f))(keys), eager)


@pytest.mark.parametrize("n", [5, 37])
def test_jit_and_eager_vmap(n):
    """The last elements of a loop are computed by other instructions than the first."""
    for f in (random.normal, random.von_mises):
        parameters = (0.0, 2.0) if f is random.von_mises else ()
        draw = lambda key: f(key, *parameters, (n,))  # noqa: B023
        keys = random.split(random.key(0, impl="philox4x32"), 3)
        eager = np.stack([np.asarray(draw(key)) for key in keys])
        assert np.array_equal(xc.jit(draw)(keys[0]), eager[0])
        assert np.array_equal(xc.vmap(draw)(keys), eager)


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize(
    "whole, at", [("bits", "bits_at"), ("uniform", "uniform_at"), ("normal", "normal_at")]
)
def test_chunks(whole, at, impl):
    key = random.key(1, impl=impl)
    all_of_it = np.asarray(DRAWS[whole](key, 1000))
    part = getattr(random, at)
    chunks = [part(key, xnp.arange(i, i + 125)) for i in range(0, 1000, 125)]
    assert np.array_equal(np.concatenate(chunks), all_of_it)
    places = np.array([[999, 0], [5, 5]])
    assert np.array_equal(part(key, places), all_of_it[places])
    assert np.array_equal(xc.vmap(lambda i: part(key, i))(xnp.arange(1000)), all_of_it)


@pytest.mark.parametrize("impl", IMPLS)
def test_shape_is_only_a_shape(impl):
    key = random.key(2, impl=impl)
    flat = np.asarray(random.normal(key, (24,)))
    assert np.array_equal(random.normal(key, (2, 3, 4)), flat.reshape(2, 3, 4))
    assert np.array_equal(random.normal(key), flat[0])
    assert random.normal(key, (0, 3)).shape == (0, 3)
    assert np.array_equal(random.normal(key, (30,))[:24], flat)


@pytest.mark.parametrize("impl", IMPLS)
def test_every_device_draws_the_same(impl):
    key = random.key(3, impl=impl)
    here = np.asarray(random.normal(key, (100,)))
    for device in xc.devices()[1:3]:
        there = random.normal(xc.device_put(key, device), (100,))
        assert there.device == device
        assert np.array_equal(there, here)


def test_uniform_bounds():
    low, high = xnp.array([-3.0, 0.0, 5.0]), xnp.array([2.5, 1e-3, 1e6])
    u = np.asarray(random.uniform(KEY, (10000, 3), minval=low, maxval=high))
    assert (u >= np.asarray(low)).all() and (u < np.asarray(high)).all()
    found = random.uniform(KEY, (1001,), "float32", -3, 2.5)
    fused, apart = (
        1146740746,
        2091862901,
    )  # a product and a sum, on processors that round once or twice
    assert checksum(found) in (fused, apart)
    bits = np.asarray(random.uniform(KEY, (1001,), "float32"), np.float64)
    np.testing.assert_allclose(found, -3 + 5.5 * bits, rtol=0, atol=3e-7)


def test_fine_normal_numbers_reach_far():
    """Philox makes them of 32 bits: the extreme words give 6.3 standard deviations."""
    from scipy.special import ndtri

    from xcore.random._from_bits import fine_normal

    words = np.array([0, 1, 2**30, 2**31 - 1, 2**31, 2**32 - 1, 12345], np.uint32)
    p = ((words & 0x7FFFFFFF) + 0.5) / 2.0**32
    expected = np.where(words < 2**31, -ndtri(p), ndtri(p))
    x = np.asarray(xc.jit(fine_normal, static_argnums=1)(words, np.dtype("float32")))
    np.testing.assert_allclose(x, expected, rtol=1e-6, atol=1e-7)
    assert expected.max() > 6.2


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: random.bits(KEY, (2,), "int32"), TypeError, "unsigned"),
        (lambda: random.uniform(KEY, (2,), "int32"), TypeError, "floating"),
        (lambda: random.normal(KEY, (2,), "float8_e5m2"), TypeError, "floating"),
        (lambda: random.normal(KEY, (-1,)), ValueError, "non-negative"),
        (lambda: random.uniform(KEY, (2,), minval=xnp.zeros(3)), ValueError, "broadcast"),
        (lambda: random.bits_at(KEY, 1.5), ValueError, "integers"),
        (lambda: random.normal_at(KEY, np.array([0, -2])), ValueError, "non-negative.* given -2"),
        (lambda: random.default_rng(0).integers(5, 5), ValueError, "low must be less than high"),
        (lambda: random.randint(KEY, (2,), 0, 5.5), ValueError, "integers"),
        (lambda: random.randint(KEY, (2,), 0, 5, "float32"), TypeError, "integer"),
    ],
)
def test_mistakes_are_explained(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_truncated_normal_lies_between_its_bounds_in_its_own_dtype(dtype):
    low, high = np.array([-0.3, 8.1, 1.0]), np.array([0.3, 8.4, 1.0])
    x = random.truncated_normal(KEY, low, high, (3000, 3), dtype)
    low, high = xnp.asarray(low, dtype), xnp.asarray(high, dtype)
    assert ((low < x) & (x < high))[:, :2].all()
    assert (x[:, 2] == 1).all()  # between equal bounds there is nothing else


def test_shapes_must_be_known():
    with pytest.raises(TypeError, match="static"):
        xc.jit(lambda n: random.normal(KEY, (n,)))(3)


def test_programs_hold_each_hash_once():
    """XLA repeats what is cheap, but for the rounds of a hash that means to compile them again."""
    draw = xc.jit(lambda key: xc.random.t(key, 5.0, (100,)))
    text = draw.lower(xc.random.key(0)).compile().as_text()
    rounds = text.count(" xor(")
    assert 60 <= rounds < 80  # of three hashes: the split key, the normal number, an attempt
