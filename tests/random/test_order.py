"""Permutations and choices without replacement: every order and every subset is equally likely."""

import numpy as np
import pytest
from scipy import stats

import xcore as xc
import xcore.numpy as xnp
from xcore import random
from xcore.random._integers import draw_distinct
from xcore.random._permute import _pairs_tossed, _width
from xcore.random._source import Source

ALARM = 1e-6  # the false alarms of this folder, see test_distributions.py
PHILOX = random.key(5, impl="philox")


def distinct(key, n, count):
    return draw_distinct(Source(key._stream, key._data), n, count)


def test_all_sequences_of_distinct_numbers_are_equally_likely():
    keys = random.split(PHILOX, 20000)
    drawn = np.asarray(xc.vmap(lambda key: distinct(key, 4, 3))(keys))
    codes, counts = np.unique(drawn @ [16, 4, 1], return_counts=True)
    assert len(codes) == 24
    assert stats.chisquare(counts).pvalue > ALARM


@pytest.mark.parametrize(("impl", "n"), [("philox", 40000), ("threefry", 2**31 - 1)])
def test_a_few_of_many_need_no_array_of_all(impl, n):
    key = random.key(3, impl=impl)
    drawn = np.asarray(random.choice(key, n, (20, 100), replace=False))
    assert len(set(drawn.flat)) == 2000
    assert stats.kstest((drawn.ravel() + 0.5) / n, "uniform").pvalue > ALARM
    traced = xc.jit(lambda key: random.choice(key, n, (20, 100), replace=False))
    assert (np.asarray(traced(key)) == drawn).all()


def test_what_a_large_permutation_and_choice_are():
    n = 2**15 + 7
    order = np.asarray(random.permutation(PHILOX, n))
    assert (np.sort(order) == np.arange(n)).all()
    assert stats.kstest(order[: n // 2] / n, "uniform").pvalue > ALARM
    assert abs(stats.pearsonr(order[1:], order[:-1]).statistic) < 5 / np.sqrt(n)
    assert (np.asarray(random.choice(PHILOX, n, (n // 2,), replace=False)) == order[: n // 2]).all()


def test_a_coin_is_tossed_for_words_that_are_equal():
    n = 2**15
    upper = np.sort(np.random.default_rng(0).integers(0, n // 3, n)).astype(np.uint64)
    place = np.random.default_rng(1).permutation(n).astype(np.uint64)
    words = np.sort(upper << np.uint64(_width(n)) | place)
    with xc.enable_x64(True):
        source = Source(PHILOX._stream, PHILOX._data)
        out = np.asarray(_pairs_tossed(source, xnp.asarray(words), 0))
    assert (np.sort(out) == words).all()
    first, counts = np.unique(upper, return_index=True, return_counts=True)[1:]
    assert (out[first[counts == 1]] == words[first[counts == 1]]).all()
    changed = out[first[counts == 2]] != words[first[counts == 2]]
    assert stats.binomtest(int(changed.sum()), len(changed)).pvalue > ALARM
    assert (
        out[first[counts == 2] + 1] != words[first[counts == 2] + 1]
    ).tolist() == changed.tolist()


@pytest.mark.parametrize("replace", [True, False])
def test_numbers_that_the_dtype_cannot_hold(replace):
    with pytest.raises(ValueError, match="1099511627776 elements have numbers that int32 cannot"):
        random.choice(PHILOX, 2**40, (3,), replace=replace)
