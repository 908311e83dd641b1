"""Programs with a mistake each: of newcomers and of experts, and the same programs mended.

``bug(fragment)`` says what the report must say; the line at fault ends with ``# <- here``. The function
below it is the mended program, of which nothing may be told.
"""

import functools
from types import SimpleNamespace

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from xcore import lax, random
from xcore.sharding import PartitionSpec

BUGS, MENDED = [], []


def bug(fragment):
    def mark(f):
        BUGS.append((f, fragment))
        return f

    return mark


def mended(f):
    MENDED.append(f)
    return f


V = xnp.asarray([1.0, -2.0, 3.0])

# NaN and infinities


@bug("exp (float32[2,3]) made an infinity")
def softmax_by_hand():
    @xc.jit
    def chosen(scores, labels):
        e = xnp.exp(scores)  # <- here
        p = e / (1 + e.sum(axis=1, keepdims=True))
        return xnp.log(xnp.take_along_axis(p, labels[:, None], axis=1)), e.max()

    return chosen(xnp.asarray([[1.0, 2.0, 3.0], [10.0, 100.0, 20.0]]), xnp.asarray([2, 0]))


@mended
def softmax_of_the_library():
    scores = xnp.asarray([[1.0, 2.0, 3.0], [10.0, 100.0, 20.0]])
    logs = xc.jit(xc.nn.log_softmax)(scores)
    return xnp.take_along_axis(logs, xnp.asarray([[2], [0]]), axis=1)


@bug("log (float32[3]) made a NaN")
def log_of_returns():
    return xnp.log(V)  # <- here


@mended
def log_of_positive():
    return xnp.log(xnp.abs(V))


@bug("sqrt (float32[]) made a NaN")
def variance_by_squares():
    x = 4096 + xnp.asarray([0.0, 1.0, 0.0, 1.0, 2.0], "float32") / 4096
    var = (x**2).mean() - x.mean() ** 2 - 1e-3
    return xnp.sqrt(var)  # <- here


@mended
def variance_of_deviations():
    x = 4096 + xnp.asarray([0.0, 1.0, 0.0, 1.0, 2.0], "float32") / 4096
    return xnp.sqrt(((x - x.mean()) ** 2).mean())


@bug("div (float32[3], float32[3]) made an infinity")
def normalise_a_constant_column():
    x = xnp.asarray([[1.0, 2.0, 5.0], [3.0, 2.0, 4.0]])

    @xc.jit
    def standardised(x):
        return xnp.ones(3) / x.std(0)  # <- here

    return standardised(x)


@mended
def normalise_with_a_floor():
    x = xnp.asarray([[1.0, 2.0, 5.0], [3.0, 2.0, 4.0]])
    return xc.jit(lambda x: (x - x.mean(0)) / (x.std(0) + 1e-6))(x)


@bug("div (float32[3], float32[3]) made a NaN")
def nothing_by_nothing():
    counts = xnp.asarray([2.0, 0.0, 1.0])
    sums = xnp.asarray([4.0, 0.0, 3.0])
    return sums / counts  # <- here


@mended
def means_of_what_there_is():
    counts = xnp.asarray([2.0, 0.0, 1.0])
    sums = xnp.asarray([4.0, 0.0, 3.0])
    return xnp.where(counts > 0, sums / counts, 0.0)


@bug("exp (float32[3]) made an infinity")
def naive_softmax():
    @xc.jit
    def softmax(z):
        e = xnp.exp(z)  # <- here
        return e / e.sum()

    return softmax(xnp.asarray([1.0, 100.0, 3.0]))


@mended
def shifted_softmax():
    @xc.jit
    def softmax(z):
        e = xnp.exp(z - z.max())
        return e / e.sum()

    return softmax(xnp.asarray([1.0, 100.0, 3.0]))


@bug("made a NaN")
def entropy_of_a_sure_thing():
    p = xnp.asarray([1.0, 0.0])
    return xc.jit(lambda p: -(p * xnp.log(p)).sum())(p)  # <- here


@mended
def entropy_by_xlogy():
    p = xnp.asarray([1.0, 0.0])
    return xc.jit(lambda p: -xc.special.xlogy(p, p).sum())(p)


@bug("log (float32[2]) made an infinity")
def cross_entropy_of_zero():
    def loss(p):
        return -xnp.log(p).mean()  # <- here

    return xc.jit(loss)(xnp.asarray([0.5, 0.0]))


@mended
def cross_entropy_with_a_floor():
    return xc.jit(lambda p: -xnp.log(xnp.maximum(p, 1e-7)).mean())(xnp.asarray([0.5, 0.0]))


@bug("made a NaN")
def derivative_of_a_guarded_root():
    def f(x):
        return xnp.where(x > 0, xnp.sqrt(x), 0.0).sum()  # <- here

    return xc.grad(f)(xnp.asarray([0.0, 4.0]))


@mended
def derivative_of_a_root_guarded_twice():
    def f(x):
        safe = xnp.where(x > 0, x, 1.0)
        return xnp.where(x > 0, xnp.sqrt(safe), 0.0).sum()

    return xc.grad(f)(xnp.asarray([0.0, 4.0]))


@bug("made a")
def derivative_of_a_norm_at_zero():
    def length(x):
        return xnp.sqrt((x**2).sum())  # <- here

    return xc.jit(xc.grad(length))(xnp.zeros(3))


@mended
def derivative_of_a_softened_norm():
    return xc.jit(xc.grad(lambda x: xnp.sqrt((x**2).sum() + 1e-12)))(xnp.zeros(3))


def spread(x, a):
    return ((x - a) ** 2).sum() + 0.1 * (x**4).sum() + x[0] * x[1]


@bug("a solution that was not found")
def derivative_of_a_search_that_was_cut():
    def least(a):
        return xc.optimize.minimize(spread, V[:2], a, maxiter=1).x.sum()  # <- here

    return xc.grad(least)(5.0)


@mended
def derivative_of_a_search():
    def least(a):
        return xc.optimize.minimize(spread, V[:2], a).x.sum()

    return xc.grad(least)(5.0)


@bug("made a NaN")
def newton_out_of_the_domain():
    def step(state):
        i, x = state
        return i + 1, x - xnp.log(x) * x  # <- here

    return lax.while_loop(lambda s: s[0] < 4, step, (0, xnp.float32(4.0)))[1]


@mended
def newton_within_the_domain():
    def step(state):
        i, x = state
        return i + 1, x - xnp.log(x) * x

    return lax.while_loop(lambda s: s[0] < 4, step, (0, xnp.float32(0.8)))[1]


@bug("log (float32[]) made a NaN")
def scan_below_zero():
    def step(c, d):
        c = c - d
        return c, xnp.log(c)  # <- here

    return lax.scan(step, xnp.float32(1.5), xnp.ones(3))[1]


@mended
def scan_above_zero():
    def step(c, d):
        c = c + d
        return c, xnp.log(c)

    return lax.scan(step, xnp.float32(1.5), xnp.ones(3))[1]


@bug("made a NaN")
def the_wrong_branch():
    def root(x):
        return xnp.sqrt(x)  # <- here

    return xc.jit(lambda x: lax.cond(x < 0, root, lambda x: -x, x))(-2.0)


@mended
def the_right_branch():
    return xc.jit(lambda x: lax.cond(x > 0, xnp.sqrt, lambda x: -x, x))(-2.0)


@bug("acos")
def angle_beyond_one():
    def angle(u, v):
        return xnp.arccos(u @ v / (xnp.linalg.norm(u) * xnp.linalg.norm(v)) * 1.01)  # <- here

    return xc.vmap(angle)(xnp.ones((2, 3)), xnp.ones((2, 3)))


@mended
def angle_clipped():
    def angle(u, v):
        c = u @ v / (xnp.linalg.norm(u) * xnp.linalg.norm(v)) * 1.01
        return xnp.arccos(xnp.clip(c, -1, 1))

    return xc.vmap(angle)(xnp.ones((2, 3)), xnp.ones((2, 3)))


@bug("pow")
def cube_root_by_power():
    return xc.jit(lambda x: x ** (1 / 3))(V)  # <- here


@mended
def cube_root():
    return xc.jit(xnp.cbrt)(V)


@bug("of infinite numbers")
def softmax_of_a_row_without_tokens():
    mask = xnp.asarray([[True, True], [False, False]])

    @xc.jit
    def attention(s):
        s = xnp.where(mask, s, -xnp.inf)
        w = xnp.exp(s - s.max(-1, keepdims=True))  # <- here
        return w / w.sum(-1, keepdims=True)

    return attention(xnp.ones((2, 2)))


@mended
def softmax_of_rows_with_tokens():
    mask = xnp.asarray([[True, True], [False, True]])

    @xc.jit
    def attention(s):
        s = xnp.where(mask, s, -xnp.inf)
        w = xnp.exp(s - s.max(-1, keepdims=True))
        return w / w.sum(-1, keepdims=True)

    return attention(xnp.ones((2, 2)))


@bug("made a NaN of infinite numbers")
def descent_with_a_long_step():
    grad = xc.grad(lambda x: (x**4).sum())

    def step(i, x):
        return x - 0.9 * grad(x)  # <- here

    def loss(x):
        return (lax.fori_loop(0, 20, step, x) ** 2).sum()

    return xc.jit(loss)(xnp.ones(2) * 3)


@mended
def descent_with_a_short_step():
    grad = xc.grad(lambda x: (x**4).sum())
    return xc.jit(lambda x: lax.fori_loop(0, 20, lambda i, x: x - 0.001 * grad(x), x))(xnp.ones(2))


@bug("made an infinity")
def sum_in_half_precision():
    x = xnp.full(4, 40000.0, "float16")
    return xc.jit(lambda x: x + x)(x)  # <- here


@mended
def sum_in_single_precision():
    x = xnp.full(4, 40000.0, "float16")
    return xc.jit(lambda x: x.astype("float32") * 2)(x)


@bug("callback")
def nan_from_a_callback():
    def on_host(x):
        return np.where(x < 0, np.nan, x).astype("float32")

    @xc.jit
    def f(x):
        return xc.pure_callback(on_host, xc.ShapeDtypeStruct((), "float32"), x) * 2  # <- here

    return f(-1.0)


@bug("callback")
def nan_from_a_callback_without_jit():
    return xc.pure_callback(np.log, xc.ShapeDtypeStruct((), "float32"), np.float32(-1))  # <- here


@mended
def number_from_a_callback_without_jit():
    return xc.pure_callback(np.log, xc.ShapeDtypeStruct((), "float32"), np.float32(2))


@mended
def number_from_a_callback():
    def on_host(x):
        return np.abs(x).astype("float32")

    return xc.jit(lambda x: xc.pure_callback(on_host, xc.ShapeDtypeStruct((), "float32"), x))(-1.0)


@bug("log")
def nan_on_one_device():
    mesh = xc.make_mesh((1,), ("i",))

    def part(x):
        return xnp.log(x)  # <- here

    spec = PartitionSpec("i")
    f = xc.shard_map(part, mesh=mesh, in_specs=(spec,), out_specs=spec)
    return xc.jit(f)(xnp.asarray([1.0, -1.0, 2.0, 3.0]))


@mended
def no_nan_on_any_device():
    mesh = xc.make_mesh((1,), ("i",))
    spec = PartitionSpec("i")
    f = xc.shard_map(xnp.log1p, mesh=mesh, in_specs=(spec,), out_specs=spec)
    return xc.jit(f)(xnp.asarray([1.0, 0.0, 2.0, 3.0]))


@bug("log")
def nan_in_a_rule_of_ones_own():
    @xc.custom_vjp
    def f(x):
        return xnp.sin(x)

    def backward(x, ct):
        return (ct * xnp.log(x),)  # <- here

    f.defvjp(lambda x: (f(x), x), backward)
    return xc.jit(xc.grad(f))(-1.0)


@mended
def a_rule_of_ones_own():
    @xc.custom_vjp
    def f(x):
        return xnp.sin(x)

    f.defvjp(lambda x: (f(x), x), lambda x, ct: (ct * xnp.cos(x),))
    return xc.jit(xc.grad(f))(-1.0)


@bug("div (float32[], float32[]) made a NaN")
def mean_of_an_empty_selection():
    x = xnp.asarray([0.2, 0.4])
    chosen = x > 1
    return (x * chosen).sum() / chosen.sum()  # <- here


@mended
def mean_of_a_selection():
    x = xnp.asarray([0.2, 0.4])
    chosen = x > 1
    return (x * chosen).sum() / xnp.maximum(chosen.sum(), 1)


@bug("fft (complex64[2]) made an infinity")
def spectrum_of_large_numbers():
    return xc.jit(lambda x: xnp.abs(xnp.fft.fft(x)))(xnp.full(2, 3e38))  # <- here


@mended
def spectrum_of_numbers():
    return xc.jit(lambda x: xnp.abs(xnp.fft.fft(x)))(xnp.full(2, 3e37))


@bug("the whole number 7 is divided by 0")
def batches_of_nothing():
    return xc.jit(lambda n, size: n // size)(7, 0)  # <- here


@mended
def batches_of_something():
    return xc.jit(lambda n, size: xnp.where(size > 0, n // size, 0))(7, 0)


@bug("the whole number 7 is divided by 0")
def remainder_of_nothing():
    return xnp.asarray([7, 8]) % xnp.asarray([0, 3])  # <- here


@mended
def remainder_of_something():
    return xnp.asarray([7, 8]) % xnp.asarray([4, 3])


@bug("the number 1e+300 does not fit in float32")
def data_beyond_single_precision():
    return xnp.asarray(np.array([1e300, 1.0]), dtype="float32")  # <- here


@mended
def data_within_single_precision():
    return xnp.asarray(np.array([1e30, np.inf]), dtype="float32") / 2


# Positions


@bug("index 3 is out of bounds for axis 0")
def off_by_one():
    def step(i, s):
        return s + V[i + 1] - V[i]  # <- here

    return lax.fori_loop(0, 3, step, 0.0)


@mended
def off_by_none():
    return lax.fori_loop(0, 2, lambda i, s: s + V[i + 1] - V[i], 0.0)


@bug("index 7 is out of bounds for axis 0")
def word_beyond_the_vocabulary():
    table = xnp.ones((5, 2))

    @xc.jit
    def embed(words):
        return table[words].sum()  # <- here

    return embed(xnp.asarray([0, 7, 1]))


@mended
def word_of_the_vocabulary():
    table = xnp.ones((5, 2))
    return xc.jit(lambda words: table[words].sum())(xnp.asarray([0, 4, -1]))


@bug("index 5 is out of bounds for axis 0")
def derivative_of_a_read_beyond():
    def f(x, i):
        return x[i] ** 2  # <- here

    return xc.jit(xc.grad(f))(V, 5)


@mended
def derivative_of_a_read():
    return xc.jit(xc.grad(lambda x, i: x[i] ** 2))(V, 2)


@bug("index 4 is out of bounds for axis 0")
def write_beyond():
    @xc.jit
    def put(x, i):
        return x.at[i].set(1.0)  # <- here

    return put(V, 4)


@mended
def write_that_may_be_dropped():
    return xc.jit(lambda x, i: x.at[i].set(1.0, mode="drop"))(V, 4)


@bug("index 3 is out of bounds")
def histogram_beyond():
    @xc.jit
    def count(bins):
        return xnp.zeros(3).at[bins].add(1.0)  # <- here

    return count(xnp.asarray([0, 3, 2]))


@mended
def histogram_within():
    return xc.jit(lambda b: xnp.zeros(3).at[xnp.clip(b, 0, 2)].add(1.0))(xnp.asarray([0, 3, 2]))


@bug("a window of size 2 at 2 does not lie")
def window_moved_inside():
    @xc.jit
    def window(x, i):
        return lax.dynamic_slice(x, (i,), (2,))  # <- here

    return window(V, 2)


@mended
def window_that_fits():
    return xc.jit(lambda x, i: lax.dynamic_slice(x, (i,), (2,)))(V, 1)


@bug("a window of size 2 at 2 does not lie")
def update_moved_inside():
    def step(x, i):
        return lax.dynamic_update_slice(x, xnp.ones(2), (i,)), None  # <- here

    return lax.scan(step, V, xnp.arange(3))[0]


@mended
def update_that_fits():
    def step(x, i):
        return lax.dynamic_update_slice(x, xnp.ones(2), (i,)), None

    return lax.scan(step, V, xnp.arange(2))[0]


@bug("a window of size 1 at 3 does not lie")
def row_of_another_epoch():
    def row(i):
        return lax.dynamic_index_in_dim(V, i, keepdims=False)  # <- here

    return xc.vmap(row)(xnp.arange(4))


@mended
def row_of_this_epoch():
    return xc.vmap(lambda i: lax.dynamic_index_in_dim(V, i, keepdims=False))(xnp.arange(3))


@bug("index 3 is out of bounds")
def take_beyond():
    return xnp.take(V, xnp.asarray([0, 3]))  # <- here


@mended
def take_filled():
    return xnp.nansum(xnp.take(V, xnp.asarray([0, 3]), mode="fill"))


@bug("index 9 is out of bounds")
def take_along_beyond():
    @xc.jit
    def pick(x, order):
        return xnp.take_along_axis(x, order, axis=0)  # <- here

    return pick(xnp.arange(3), xnp.asarray([0, 9]))


@mended
def take_along():
    return xc.jit(lambda x, o: xnp.take_along_axis(x, o, axis=0))(
        xnp.arange(3), xnp.asarray([0, 2])
    )


@bug("index 4 is out of bounds")
def segment_beyond():
    def sums(x, ids):
        return xc.ops.segment_sum(x, ids, num_segments=3)  # <- here

    return xc.jit(sums)(V, xnp.asarray([0, 1, 4]))


@mended
def segment_dropped():
    def sums(x, ids):
        return xc.ops.segment_sum(x, ids, num_segments=3, mode="drop")

    return xc.jit(sums)(V, xnp.asarray([0, 1, 4]))


@bug("index 8 is out of bounds")
def read_in_one_branch():
    def last(i):
        return V[i]  # <- here

    return xc.jit(lambda i: lax.cond(i > 2, last, lambda i: 0.0, i))(8)


@mended
def read_in_the_other_branch():
    return xc.jit(lambda i: lax.cond(i > 2, lambda i: 0.0, lambda i: V[i], i))(8)


@bug("branch 2 is asked for, and there are 2")
def a_branch_that_is_not_there():
    @xc.jit
    def step(kind, x):
        return xc.lax.switch(kind, [lambda x: x, lambda x: -x], x)  # <- here

    return step(2, V)


@mended
def a_branch_that_is_there():
    step = xc.jit(lambda kind, x: xc.lax.switch(kind, [lambda x: x, lambda x: -x], x))
    return step(1, V)


# Casts


@bug("the number 3000000000.0 does not fit in int32")
def microseconds_in_int32():
    return (xnp.asarray([3.0, 1.0]) * 1e9).astype(xnp.int32)  # <- here


@mended
def microseconds_in_int64():
    return (xnp.asarray([3.0, 1.0]) * 1e9).astype(xnp.int64)


@bug("the number nan does not fit in int32")
def missing_value_as_label():
    x = xnp.asarray([1.0, np.nan])
    return xc.jit(lambda x: x.astype(int))(x)  # <- here


@mended
def missing_value_filled():
    x = xnp.asarray([1.0, np.nan])
    return xc.jit(lambda x: xnp.nan_to_num(x).astype(int))(x)


@bug("does not fit in int32")
def nanoseconds_narrowed():
    stamps = np.asarray([1_600_000_000_000_000_000, 5])
    return xnp.asarray(stamps, xnp.int32)  # <- here


@mended
def nanoseconds_kept():
    stamps = np.asarray([1_600_000_000_000_000_000, 5])
    return xnp.asarray(stamps) // 10**9


@bug("the number 300.0 does not fit in uint8")
def brightness_wraps():
    def brighten(image):
        return (image * 1.5).astype(xnp.uint8)  # <- here

    return xc.vmap(brighten)(xnp.asarray([[100.0, 200.0]]))


@mended
def brightness_clipped():
    def brighten(image):
        return xnp.clip(image * 1.5, 0, 255).astype(xnp.uint8)

    return xc.vmap(brighten)(xnp.asarray([[100.0, 200.0]]))


@bug("the number 128 does not fit in int8")
def rounded_out_of_int8():
    scale = xnp.round(xnp.asarray([1.0, -0.5]) * 128).astype(int)
    return lax.convert_element_type(scale, xnp.int8)  # <- here


@mended
def rounded_into_int8():
    scale = xnp.round(xnp.asarray([1.0, -0.5]) * 127).astype(int)
    return lax.convert_element_type(scale, xnp.int8)


# Keys


@bug("this key was used before")
def one_key_for_two():
    key = random.key(0)
    w = random.normal(key, (2,))
    return w + random.uniform(key, (2,))  # <- here


@mended
def a_key_for_each():
    k1, k2 = random.split(random.key(0))
    return random.normal(k1, (2,)) + random.uniform(k2, (2,))


@bug("this key was used before")
def one_key_for_each_call():
    key = random.key(1)
    noisy = xc.jit(lambda key, x: x + random.normal(key, x.shape))
    first = noisy(key, V)
    return first + noisy(key, V)  # <- here


@mended
def a_key_for_each_call():
    k1, k2 = random.split(random.key(1))
    noisy = xc.jit(lambda key, x: x + random.normal(key, x.shape))
    return noisy(k1, V) + noisy(k2, V)


@bug("this key was used before")
def parent_after_split():
    key = random.key(2)
    init = xc.jit(lambda key: random.normal(random.split(key)[1], (2,)))
    w = init(key)
    return w * random.bernoulli(key, 0.5, (2,))  # <- here


@mended
def child_after_split():
    key, part = random.split(random.key(2))
    init = xc.jit(lambda key: random.normal(random.split(key)[1], (2,)))
    return init(part) * random.bernoulli(key, 0.5, (2,))


@bug("each step draws the same numbers")
def the_same_noise_in_each_step():
    key = random.key(3)

    def step(x, _):
        x = x + random.normal(key)  # <- here
        return x, x

    return lax.scan(step, 0.0, None, length=3)[1]


@mended
def new_noise_in_each_step():
    def step(x, key):
        x = x + random.normal(key)
        return x, x

    return lax.scan(step, 0.0, random.split(random.key(3), 3))[1]


@bug("this key was used before")
def a_key_that_jit_keeps():
    key = random.key(4)
    draw = xc.jit(lambda: random.normal(key))
    draw()
    return draw()  # <- here


@mended
def a_key_that_jit_takes():
    draw = xc.jit(lambda key: random.normal(key))
    return [draw(k) for k in random.split(random.key(4), 2)]


# Matrices


@bug("singular")
def normal_equations_of_dependent_columns():
    a = xnp.asarray([[1.0, 2.0], [2.0, 4.0]])

    @xc.jit
    def fit(a, b):
        return xnp.linalg.solve(a.T @ a, a.T @ b)  # <- here

    return fit(a, xnp.ones(2))


@mended
def least_squares_of_dependent_columns():
    a = xnp.asarray([[1.0, 2.0], [2.0, 4.0]])
    return xc.jit(lambda a, b: xnp.linalg.lstsq(a, b)[0])(a, xnp.ones(2))


@bug("not positive definite")
def covariance_without_jitter():
    @xc.jit
    def draw(c):
        return xnp.linalg.cholesky(c)  # <- here

    return draw(xnp.asarray([[1.0, 2.0], [2.0, 1.0]]))


@mended
def covariance_with_jitter():
    return xc.jit(lambda c: xnp.linalg.cholesky(c + 2 * xnp.eye(2)))(xnp.ones((2, 2)))


@bug("singular")
def one_singular_lane():
    def inverse(s):
        return xnp.linalg.inv(xnp.diag(s))  # <- here

    return xc.vmap(inverse)(xnp.asarray([[1.0, 2.0], [1.0, 0.0]]))


@mended
def no_singular_lane():
    return xc.vmap(lambda s: xnp.linalg.inv(xnp.diag(s)))(xnp.asarray([[1.0, 2.0], [1.0, 3.0]]))


# What is hardly meant


@bug("fill_diagonal gives a changed copy, and nobody keeps it")
def diagonal_that_is_lost():
    a = xnp.ones((3, 3))
    xnp.fill_diagonal(a, 5.0, inplace=False)  # <- here
    return a


@mended
def diagonal_that_is_kept():
    return xnp.fill_diagonal(xnp.ones((3, 3)), 5.0, inplace=False)


@bug("nobody keeps it")
def change_that_is_lost():
    x = xnp.zeros(3)
    x.at[0].set(1.0)  # <- here
    return x


@mended
def change_that_is_kept():
    x = xnp.zeros(3)
    x = x.at[0].set(1.0)
    return x


@bug("nobody keeps it")
def change_that_is_lost_in_a_loop():
    def step(i, x):
        x.at[i].add(1.0)  # <- here
        return x

    return lax.fori_loop(0, 3, step, xnp.zeros(3))


@mended
def change_that_is_kept_in_a_loop():
    return lax.fori_loop(0, 3, lambda i, x: x.at[i].add(1.0), xnp.zeros(3))


@bug("x.sort() gives a new array")
def sorted_for_nobody():
    x = xnp.asarray([3, 1, 2])
    x.sort()  # <- here
    return x


@mended
def sorted_for_somebody():
    x = xnp.asarray([3, 1, 2])
    x = x.sort()
    return x


@bug("(4,) beside (4, 1) makes (4, 4)")
def column_of_predictions():
    x, y, w = xnp.ones((4, 2)), xnp.arange(4.0), xnp.ones((2, 1))

    def loss(w):
        return ((x @ w - y) ** 2).mean()  # <- here

    return xc.grad(loss)(w)


@mended
def row_of_predictions():
    x, y, w = xnp.ones((4, 2)), xnp.arange(4.0), xnp.ones((2, 1))

    def loss(w):
        return (((x @ w)[:, 0] - y) ** 2).mean()

    return xc.grad(loss)(w)


@bug("(4,) beside (4, 1) makes (4, 4)")
def column_of_weights():
    def weighted(values, weights):
        return (values * weights).sum()  # <- here

    return weighted(xnp.arange(4.0), xnp.ones((4, 1)))


@mended
def table_of_products():
    x, y = xnp.arange(4.0), xnp.arange(4.0)
    return (x[:, None] * y).sum()


@bug("(5,) beside (5, 1)")
def labels_beside_a_column():
    labels = xnp.arange(5.0)
    predicted = xnp.linspace(0, 4, 5).reshape(-1, 1)
    return ((predicted - labels) ** 2).mean()  # <- here


@mended
def labels_in_a_column():
    labels = xnp.arange(5.0).reshape(-1, 1)
    predicted = xnp.linspace(0, 4, 5).reshape(-1, 1)
    return ((predicted - labels) ** 2).mean()


@bug("another value of scales")
def a_list_that_grew():
    scales = [1.0]

    @xc.jit
    def scaled(x):
        return x * sum(scales)

    first = scaled(V)
    scales.append(2.0)
    return first + scaled(V)  # <- here


@mended
def a_list_that_is_passed():
    @xc.jit
    def scaled(x, scales):
        return x * sum(scales)

    return scaled(V, [1.0]) + scaled(V, [1.0, 2.0])


@bug("another value of table")
def an_array_that_was_written_into():
    table = np.ones(3, "float32")
    look = xc.jit(lambda i: xnp.asarray(table)[i])
    first = look(1)
    table[1] = 5
    return first + look(1)  # <- here


@mended
def an_array_that_is_passed():
    table = np.ones(3, "float32")
    look = xc.jit(lambda table, i: table[i])
    first = look(table, 1)
    table[1] = 5
    return first + look(table, 1)


@bug("another value of self.rate")
def a_method_of_a_changing_object():
    class Model:
        def __init__(self):
            self.rate = 0.1
            self.step = xc.jit(self.move)

        def move(self, x):
            return x * self.rate

    model = Model()
    first = model.step(V)
    model.rate = 0.2
    return first + model.step(V)  # <- here


@mended
def a_method_that_takes_what_changes():
    class Model:
        def __init__(self):
            self.step = xc.jit(self.move)

        def move(self, x, rate):
            return x * rate

    model = Model()
    return model.step(V, 0.1) + model.step(V, 0.2)


@bug("another value of model.rate")
def an_object_that_changed():
    model = SimpleNamespace(rate=0.1)
    move = xc.jit(lambda x: x * model.rate)
    first = move(V)
    model.rate = 0.2
    return first + move(V)  # <- here


@mended
def an_object_of_which_the_number_is_passed():
    model = SimpleNamespace(rate=0.1)
    move = xc.jit(lambda x, rate: x * rate)
    first = move(V, model.rate)
    model.rate = 0.2
    return first + move(V, model.rate)


@bug("another value of model.optimiser.rate")
def an_object_in_an_object_that_changed():
    model = SimpleNamespace(optimiser=SimpleNamespace(rate=0.1))
    move = xc.jit(lambda x: x * model.optimiser.rate)
    first = move(V)
    model.optimiser.rate = 0.2
    return first + move(V)  # <- here


@mended
def an_object_in_an_object_that_stays():
    model = SimpleNamespace(optimiser=SimpleNamespace(rate=0.1, calls=0))
    move = xc.jit(lambda x: x * model.optimiser.rate)
    first = move(V)
    model.optimiser.calls = 1
    return first + move(V)


@bug("another value of the default of rates")
def a_default_that_grew():
    def move(x, rates=[0.1]):  # noqa: B006
        return x * sum(rates)

    jitted = xc.jit(move)
    first = jitted(V)
    move.__defaults__[0].append(0.2)
    return first + jitted(V)  # <- here


@mended
def a_default_that_stays():
    moved = xc.jit(lambda x, rates=(0.1, 0.2): x * sum(rates))
    return moved(V) + moved(V)


@bug("another value of argument 0")
def a_list_in_a_partial_function():
    rates = [0.1]
    move = xc.jit(functools.partial(lambda rates, x: x * sum(rates), rates))
    first = move(V)
    rates.append(0.2)
    return first + move(V)  # <- here


@mended
def a_tuple_in_a_partial_function():
    move = xc.jit(functools.partial(lambda rates, x: x * sum(rates), (0.1, 0.2)))
    return move(V) + move(V)


@bug("another value of self.rate")
def a_static_object_that_changed():
    class Model:
        rate = 0.1

        @functools.partial(xc.jit, static_argnums=0)
        def move(self, x):
            return x * self.rate

    model = Model()
    model.rate = 0.1
    first = model.move(V)
    model.rate = 0.2
    return first + model.move(V)  # <- here


@mended
def a_static_object_whose_other_things_change():
    class Model:
        @functools.partial(xc.jit, static_argnums=0)
        def move(self, x):
            return x * self.rate

    model = Model()
    model.rate, model.calls = 0.1, 0
    first = model.move(V)
    model.calls = 1
    return first + model.move(V)


@bug("another value of FACTOR")
def a_global_that_changed():
    global FACTOR
    FACTOR = 2.0
    scaled = xc.jit(lambda x: x * FACTOR)
    first = scaled(V)
    FACTOR = 3.0
    return first + scaled(V)  # <- here


@mended
def a_number_that_is_passed():
    scaled = xc.jit(lambda x, factor: x * factor)
    return scaled(V, 2.0) + scaled(V, 3.0)


@bug("refers to an array of 19 MB")
def a_table_in_the_program():
    table = xnp.zeros((5000, 1000))

    @xc.jit
    def look(i):
        return table[i].sum()  # <- here

    return look(3)


@mended
def a_table_that_is_passed():
    table = xnp.zeros((5000, 1000))
    return xc.jit(lambda table, i: table[i].sum())(table, 3)


@bug("traced for the 10th time")
def a_shape_for_each_batch():
    total = xc.jit(lambda x: x.sum())
    return [total(np.ones(n, "float32")) for n in range(1, 12)]  # <- here


@mended
def one_shape_for_all_batches():
    total = xc.jit(lambda x, n: xnp.where(xnp.arange(12) < n, x, 0).sum())
    return [total(np.ones(12, "float32"), n) for n in range(1, 12)]


@bug("jit is given <lambda> anew")
def jit_in_a_loop():
    x = V
    for _ in range(12):
        x = xc.jit(lambda v: v * 0.5)(x)  # <- here
    return x


@mended
def jit_before_a_loop():
    half, x = xc.jit(lambda v: v * 0.5), V
    for _ in range(12):
        x = half(x)
    return x


@bug("traced for the 10th time")
def a_step_number_that_is_static():
    step = xc.jit(lambda x, i: x * i, static_argnums=1)
    x = V
    for i in range(12):
        x = step(x, i)  # <- here
    return x


@mended
def a_step_number_that_is_traced():
    step, x = xc.jit(lambda x, i: x * i), V
    for i in range(12):
        x = step(x, i)
    return x


@bug("loses its digits")
def small_beside_large():
    with xc.config.override(sanitize_cancellation=True):
        return xnp.asarray([1e8, 1.0, -1e8]).sum()  # <- here


@mended
def small_beside_large_in_64_bits():
    with xc.config.override(sanitize_cancellation=True):
        return xnp.asarray([1e8, 1.0, -1e8]).sum(dtype="float64")
