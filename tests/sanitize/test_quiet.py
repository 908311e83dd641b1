"""What is right to do is not told: guards, padding, log-space, sentinels, columns that are meant."""

import functools
import warnings

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax, nn, random, special, stats
from xcore._core import findings

X = np.asarray([4.0, 0.0, -1.0], "float32")


@pytest.fixture(autouse=True)
def sanitizing():
    findings.forget()
    xc.config.update("sanitize", True)
    yield
    xc.config.update("sanitize", False)


def guarded_on_the_line(x):
    return xnp.where(x > 0, xnp.log(x), 0.0)


def guarded_below(x):
    y = 1 / x
    z = xnp.sqrt(x)
    return xnp.where(x > 0, y + 1, 0) + xnp.nan_to_num(z)


def guarded_by_select(x):
    return xnp.select([x > 0, x == 0], [xnp.log(x), x], 0.0)


def double_where(x):
    safe = xnp.where(x > 0, x, 1.0)
    return xc.grad(lambda s: xnp.where(x > 0, xnp.sqrt(s), 0.0).sum())(safe)


def log_space(x):
    p = xnp.maximum(x, 0) / 4
    return nn.logsumexp(xnp.log(p)) + xnp.log(p).max()


def all_of_log_space_is_nothing(x):
    return xnp.exp(nn.logsumexp(xnp.log(0 * x)))


def forward_algorithm(x):
    trans = xnp.log(xnp.asarray([[0.5, 0.5], [0.0, 1.0]]))

    def step(alpha, _):
        return nn.logsumexp(alpha[:, None] + trans, axis=0), None

    return lax.scan(step, xnp.log(xnp.asarray([1.0, 0.0])), None, length=4)[0][1]


def masked_softmax(x):
    return nn.softmax(xnp.where(x > 0, x, -xnp.inf))


def masked_softmax_with_additive_mask(x):
    return nn.softmax(x + xnp.log((x > 0).astype("float32")))


def causal_attention(x):
    s = x[:, None] * x[None, :]
    s = xnp.where(xnp.tril(xnp.ones((3, 3), bool)), s, -xnp.inf)
    return nn.softmax(s, axis=-1) @ x


def argmax_of_minus_infinity(x):
    return xnp.argmax(xnp.where(x > 0, x, -xnp.inf))


def padded_with_infinity(x):
    return xnp.sort(xnp.pad(x, (0, 2), constant_values=xnp.inf))


def running_minimum(x):
    return lax.scan(lambda c, v: (xnp.minimum(c, v),) * 2, xnp.inf, x)[1]


def best_so_far(x):
    state = lax.while_loop(
        lambda s: s[0] < 3, lambda s: (s[0] + 1, xnp.minimum(s[1], x[s[0]])), (0, xnp.inf)
    )
    return state[1]


def shortest_paths(x):
    d = xnp.asarray([[0.0, 1.0, xnp.inf], [1.0, 0.0, 2.0], [xnp.inf, 2.0, 0.0]])
    return lax.fori_loop(0, 3, lambda k, d: xnp.minimum(d, d[:, k, None] + d[None, k, :]), d)


def unreachable(x):
    return xnp.asarray([xnp.inf, 1.0]) + x[0] * 2


def missing_values(x):
    x = xnp.where(x < 0, xnp.nan, x)
    return xnp.nanmean(x) + xnp.nanstd(x) + xnp.nansum(x) + xnp.nanmedian(x) + xnp.nanmax(x)


def missing_values_given(x):
    x = xnp.concatenate([x, xnp.asarray([np.nan, np.inf])])
    return xnp.isnan(x * 2 + 1).sum() + xnp.isfinite(xnp.cumsum(x)).sum()


def interpolation_outside(x):
    return xnp.interp(x, xnp.asarray([0.0, 1.0]), xnp.asarray([1.0, 2.0]), left=xnp.nan)


def limits(x):
    return xnp.exp(-xnp.inf * (x + 5)) + xnp.arctan(xnp.inf * (x + 5)) + 1 / xnp.asarray(xnp.inf)


def known_values_at_ends(x):
    ends = xnp.asarray([0.0, 1.0])
    return (
        special.xlogy(ends, ends)
        + special.entr(ends)
        + xnp.tanh(1000 * ends)
        + stats.norm.cdf(1e4 * ends)
    )


def quantiles_at_ends(x):
    return stats.norm.ppf(xnp.asarray([0.0, 1.0])), stats.norm.logpdf(xnp.inf)


def stable_functions(x):
    return (
        nn.softplus(1000 * x) + nn.sigmoid(-1000 * x) + nn.log_sigmoid(-1000 * x) + nn.gelu(100 * x)
    )


def outside_the_support(x):
    return stats.gamma.logpdf(x, 2.0), stats.uniform.logpdf(x), stats.beta.logpdf(x, 2.0, 2.0)


def norm_of_zero(x):
    return xc.grad(lambda v: xnp.abs(v).sum() + xnp.maximum(v, 0).sum())(0 * x)


def sentinels(x):
    i = xnp.asarray([0, 3, -1])
    some = x.at[i].get(mode="fill", fill_value=0) + x.at[i].set(1.0, mode="drop")
    return some + xnp.take(x, i, mode="clip") + xnp.take(x, i, mode="wrap")


def selected_by_a_mask(x):
    i = xnp.nonzero(x > 0, size=3, fill_value=0)[0]
    return x[i]


def padded_positions(x):
    i = xnp.nonzero(x > 0, size=3, fill_value=3)[0]
    return x.at[i].get(mode="fill", fill_value=0)


def read_only_where_it_is(x):
    return xc.vmap(lambda i: lax.cond(i < 3, lambda: x[i], lambda: 0.0))(xnp.arange(5))


def segments_dropped(x):
    return xc.ops.segment_sum(x, xnp.asarray([0, 1, 2]), 2, mode="drop")


def negative_positions(x):
    return x[xnp.asarray([-1, -3])] + lax.dynamic_slice(x, (-2,), (2,)) + x.at[-1].add(1)[:2]


def sliding_windows(x):
    return xc.vmap(lambda i: lax.dynamic_slice(x, (i,), (2,)))(xnp.arange(2))


def casts(x):
    y = x.astype(int).astype("int8").astype("uint32").astype("int32") + (x > 0).astype("uint8")
    return y + xnp.round(x).astype("int64") + xnp.floor(x + 0.5).astype(xnp.int16)


def a_cast_that_is_guarded(x):
    y = xnp.where(x < 0, xnp.nan, x)
    return xnp.where(xnp.isnan(y), 0, y.astype(int))


def hashing(x):
    h = x.astype("int32").view("uint32")
    return (h * np.uint32(2654435761)) >> 7


def low_byte(x):
    return ((x * 100).astype(int) & 0xFF).astype("uint8")


def pairs(x):
    return xnp.abs(x[:, None] - x).sum() + (x.reshape(-1, 1) * x).sum()


def pairs_by_name(x):
    column = xnp.expand_dims(x, 1)
    return (column - x).max()


def centred_rows(x):
    a = xnp.outer(x, x)
    return a - a.mean(1, keepdims=True)


def least_squares(x):
    a = xnp.stack([xnp.ones(3), xnp.arange(3.0)], 1)
    return xnp.linalg.lstsq(a, x)[0], xnp.linalg.svd(xnp.ones((3, 3)))[1], xnp.linalg.pinv(a * 0)


def keys_for_each(x):
    keys = random.split(random.key(0), 3)
    noise = xc.vmap(random.normal)(keys)
    return noise + xc.vmap(lambda i: random.normal(random.fold_in(random.key(1), i)))(xnp.arange(3))


def the_same_draws_for_all(x):
    key = random.key(5)
    return xc.vmap(lambda v: v + random.normal(key))(x)


def a_key_in_a_carry(x):
    def step(key, v):
        key, part = random.split(key)
        return key, v * random.normal(part)

    return lax.scan(step, random.key(2), x)[1]


def a_branch_for_each_use(x):
    key = random.key(3)
    return lax.cond(x[0] > 0, lambda: random.normal(key), lambda: random.uniform(key))


def a_key_for_each_retrace(x):
    f = xc.jit(lambda key, v: v + random.normal(key))
    return [f(random.key(i), x[: i + 1]) for i in range(3)]


def remade_key(x):
    return random.normal(random.key(7)) + random.normal(random.key(7))


def counting_traces(x):
    seen = []

    @xc.jit
    def f(v):
        seen.append(v.shape)
        return v * len(seen)

    return f(x), f(x[:2]), f(x)


def settings_read_while_tracing(x):
    table = {"rate": 0.5, "names": ["a", "b"]}
    f = xc.jit(lambda v: v * table["rate"])
    return f(x), f(x), f(x + 1)


def functions_of_a_factory(x):
    return [xc.jit(functools.partial(lambda k, v: v * k, k))(x) for k in range(12)]


def closures_of_a_factory(x):
    def times(k):
        return xc.jit(lambda v: v * k)

    return [times(k)(x) for k in range(12)]


def early_stopping(x):
    best = np.inf
    for loss in (3.0, 2.0, 2.5):
        best = min(best, float(xnp.asarray(loss)))
    return xnp.asarray(best)


def error_states(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = x / x[1]
    return xnp.isfinite(ratio)


def allowed_in_compiled_code(x):
    @xc.jit
    def f(x):
        with xc.sanitize.allow("nan", "infinity"):
            y = xnp.log(x) / 0
        return y * 2

    return f(x)


def allowed_positions(x):
    with xc.sanitize.allow("index"):
        return xc.jit(lambda x, i: x[i])(x, 7)


def adam_from_zero(x):
    v = xnp.zeros(3)
    return x / (xnp.sqrt(v) + 1e-8)


def histogram(x):
    return (
        xnp.histogram(x, bins=3)[0],
        xnp.digitize(x, xnp.asarray([0.0, 1.0])),
        xnp.bincount(xnp.asarray([0, 5])),
    )


def sorted_with_missing_values(x):
    x = xnp.stack([xnp.where(x < 0, xnp.nan, x), x + 1, x])
    return (
        xnp.sort(x, 0),
        xnp.nanmedian(x, 1),
        (x @ x)[1:, 0],
        x.T,
        xnp.roll(x, 1),
        xnp.cumsum(x, 1),
    )


def a_solver_that_meets_a_singular_matrix(x):
    return xc.optimize.root(lambda v: v**2 + 1, xnp.zeros(2)).status


def sets_and_sorts(x):
    return (
        xnp.unique(x, size=5, fill_value=xnp.inf),
        xnp.searchsorted(xnp.sort(x), 9.0),
        xnp.argsort(x),
    )


def minimised(x):
    return xc.optimize.minimize(lambda v: ((v - 1) ** 2).sum(), x).x


PROGRAMS = [
    f for f in list(globals().values())
    if callable(f) and getattr(f, "__module__", "") == __name__ and f.__name__ != "sanitizing"
]  # fmt: skip
STATIC = {
    a_solver_that_meets_a_singular_matrix,  # they need concrete values, or are about eager calls
    early_stopping, error_states, keys_for_each, a_key_for_each_retrace, functions_of_a_factory, closures_of_a_factory,
    counting_traces, remade_key, the_same_draws_for_all, histogram, allowed_positions, minimised,
}  # fmt: skip


BOTH = [(f, c) for f in PROGRAMS for c in (False, True) if not (c and f in STATIC)]


@pytest.mark.parametrize(
    ("f", "compiled"), BOTH, ids=[f"{f.__name__}-{'jit' if c else 'eager'}" for f, c in BOTH]
)
def test_nothing_is_told(f, compiled):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for out in xc.tree.leaves((xc.jit(f) if compiled else f)(xnp.asarray(X))):
            np.asarray(out)
