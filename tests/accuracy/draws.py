"""Random numbers: whether twenty thousand of them, of keys that stay, have the distribution they are named for.

A sample claims to be one of its distribution. It is false where a test by SciPy's distribution function
gives a p-value below 1e-6: by chance that is once in several thousand ledgers. Pessimism does not apply.
"""

import numpy as np
from scipy import stats

import xcore as xc
from tests.accuracy.book import Claim, Routine
from tests.random.test_distributions import CONTINUOUS, COUNTS, chi_square

ALARM = 1e-6
AT_ONCE, KEYS = 5000, 4


def _problem(name, grid, what):
    """Keys' seeds, and the parameters of one line of the table."""

    def problem(family, n, dtype):
        seeds = np.arange(KEYS, dtype=np.uint32) + sum(map(ord, name))
        return (seeds, *(np.asarray(p, what or dtype) for p in grid[int(family)]))

    return problem


def _drawn(name, dtype_of):
    draw = getattr(xc.random, name)

    def call(seeds, *parameters):
        one = lambda seed: draw(xc.random.key(seed), *parameters, shape=(AT_ONCE,), **dtype_of)
        return xc.vmap(one)(seeds).ravel()

    return call


def _exact(reference, parameters):
    return reference(*map(float, parameters)) if parameters else reference


def _surprise(p):
    """-log₁₀ p, infinite where there is no p-value."""
    return -np.log10(max(p, 1e-300)) if p == p else np.inf


def _claim(p):
    return Claim(f"distribution: p >= {ALARM:g}", _surprise(p), -np.log10(ALARM))


def _on_the_line(reference):
    def judge(arrays, x):
        if not np.isfinite(x).all():
            return [Claim("finite", 1.0, 0.5)]
        return [_claim(stats.kstest(x.astype(float), _exact(reference, arrays[1:]).cdf).pvalue)]

    return judge


def _of_counts(reference):
    def judge(arrays, k):
        return [_claim(chi_square(k.astype(float), _exact(reference, arrays[1:])))]

    return judge


def _rows(table, judge, dtypes, what=None):
    for name, grid, reference in table:
        families = tuple(map(str, range(len(grid))))
        yield Routine(
            f"random.{name}", "random", _problem(name, grid, what), _drawn(name, {}), judge(reference), families,
            dtypes, (KEYS * AT_ONCE,), ("one", "jit", "vmap"), (KEYS * AT_ONCE,),
        )  # fmt: skip


def _numbers():
    """Those without parameters take their dtype by name."""
    for name, grid, reference in CONTINUOUS:
        if grid != [()]:
            yield from _rows([(name, grid, reference)], _on_the_line, ("f32",))
            continue
        for dtype, long in (("f32", "float32"), ("f64", "float64")):
            yield Routine(
                f"random.{name}" + "-64" * (dtype == "f64"), "random", _problem(name, grid, None),
                _drawn(name, {"dtype": long}), _on_the_line(reference), ("0",), (dtype,), (KEYS * AT_ONCE,),
                ("one", "jit"), (KEYS * AT_ONCE,),
            )  # fmt: skip


ROUTINES = [*_numbers(), *_rows(COUNTS, _of_counts, ("f32",), np.float32)]
