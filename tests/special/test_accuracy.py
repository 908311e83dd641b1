"""Errors in units in the last place, against mpmath, over the domains of table.py."""

import functools

import mpmath as mp
import numpy as np
import pytest

import xcore.numpy as xnp
from tests.special.table import ROWS, Row

mp.mp.dps = 40


def units(got: np.ndarray, exact: list) -> np.ndarray:
    """|got - exact| in units of the last place that the exact result has in the dtype of ``got``."""
    info = np.finfo(got.dtype)
    size = np.array([float(abs(e)) for e in exact])
    unit = np.maximum(
        np.spacing(size.astype(got.dtype)).astype(float), float(info.smallest_normal) * info.eps
    )
    return (
        np.array(
            [
                float(abs(mp.mpf(float(g)) - e)) if np.isfinite(g) else np.inf
                for g, e in zip(got, exact, strict=True)
            ]
        )
        / unit
    )


@functools.cache
def reference(row: Row):
    """Points and exact values, computed once for both precisions."""
    points = row.points()
    numbers = zip(*[map(mp.mpf, p.tolist()) for p in points], strict=True)
    return points, [mp.re(row.exact(*xs)) for xs in numbers]


def errors(row: Row, dtype) -> tuple[np.ndarray, list[np.ndarray]]:
    points, exact = reference(row)
    got = np.asarray(row(*[xnp.asarray(p.astype(dtype)) for p in points]))
    assert got.dtype == dtype
    normal = np.array([abs(e) > np.finfo(dtype).tiny for e in exact])
    return units(got[normal], np.array(exact)[normal]), [p[normal] for p in points]


@pytest.mark.parametrize("row", ROWS, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["f64", "f32"])
def test_units_in_the_last_place(row, dtype):
    bound = row.f64 if dtype is np.float64 else row.f32
    if bound == np.inf:
        pytest.skip("beyond the range of float32")
    off, points = errors(row, dtype)
    worst = int(np.argmax(off))
    assert off[worst] <= bound, [float(p[worst]) for p in points]


def test_units_notice():
    exact = [mp.mpf(1), mp.mpf(3)]
    assert list(units(np.array([1.0, 3.0 + 2**-50]), exact)) == [0, 2]
