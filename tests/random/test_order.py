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


# ngood, nbad, nsample: few, many, lopsided, nearly all, without a choice
URNS = [
    (5, 3, 4), (50, 1000, 30), (100000, 200000, 5000), (500000000, 400000000, 1000),
    (10, 999999999, 500000000), (20, 20, 39), (3, 0, 2), (0, 4, 2), (7, 9, 16), (7, 9, 0),
]  # fmt: skip


def test_hypergeometric():
    urns = np.array(URNS)
    size = (len(urns), 6000)
    drawn = np.asarray(random.default_rng(3).hypergeometric(*urns.T[:, :, None], size=size))
    for row, (good, bad, sample) in zip(drawn, URNS, strict=True):
        share = good / (good + bad)
        mean, width = sample * share, 2 + np.sqrt(sample * share * (1 - share))
        k = np.arange(max(0, np.floor(mean - 9 * width)), np.ceil(mean + 9 * width))
        cell = np.clip((k - mean) / width * 4 + 10, 0, 20).astype(int)
        probability = stats.hypergeom.pmf(k, good + bad, good, sample)
        expected = np.bincount(cell, probability, 21) * row.size
        found = np.bincount(cell[np.searchsorted(k, row)], minlength=21)
        known = expected > 5
        assert found[expected < 1e-9].sum() == 0
        assert abs(found[known].sum() / expected[known].sum() - 1) < 0.01
        scale = found[known].sum() / expected[known].sum()
        if known.sum() > 1:
            assert stats.chisquare(found[known], expected[known] * scale).pvalue > ALARM


def test_multivariate_hypergeometric():
    colors, sample, size = np.array([5, 0, 10, 3]), 7, 20000
    reference = stats.multivariate_hypergeom(colors, sample)
    drawn = np.asarray(random.default_rng(1).multivariate_hypergeometric(colors, sample, size))
    assert (drawn.sum(axis=1) == sample).all()
    assert (drawn <= colors).all()
    near = 5 * np.sqrt(np.diag(reference.cov()) / size)
    assert (abs(drawn.mean(axis=0) - reference.mean()) <= near).all()
    np.testing.assert_allclose(np.cov(drawn.T), reference.cov(), atol=0.05)  # 5 deviations


def test_mistakes_about_urns_are_explained():
    rng = random.default_rng(0)
    for call, message in [
        (lambda: rng.hypergeometric(5, 3, 9), "nsample must not be larger .* 9 of 8"),
        (lambda: rng.hypergeometric(2.5, 3, 1), "ngood must be a whole number"),
        (lambda: rng.multivariate_hypergeometric([1, 2], 4), "4 of 3"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match=r"rng\.permutation"):
        rng.shuffle([1, 2])
    assert sorted(rng.choice(5, 5, replace=False, shuffle=False).tolist()) == list(range(5))
    unknown = xc.jit(lambda n: random.default_rng(0).hypergeometric(5, 3, n, 4))
    assert unknown(9).tolist() == [-1] * 4
