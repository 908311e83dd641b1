"""Arrays: operators, parts, changed copies, methods."""

from collections.abc import Iterator
from typing import assert_type

import numpy as np

import xcore as xc
from xcore.typing import ArrayLike


def operators(x: xc.Array, y: np.ndarray, k: int) -> None:
    assert_type(x + 1, xc.Array)
    assert_type(1.0 + x, xc.Array)
    assert_type(2j * x - y, xc.Array)
    assert_type(x @ x.T, xc.Array)
    assert_type(-x // 2 % 3, xc.Array)
    assert_type(x**2 / x, xc.Array)
    assert_type(2**x, xc.Array)
    assert_type((x > 0) & ~(x < 1) | (x == y), xc.Array)
    assert_type(abs(x), xc.Array)
    assert_type(divmod(x, k), tuple[xc.Array, xc.Array])
    assert_type(round(x, 2), xc.Array)


def parts(x: xc.Array, mask: xc.Array, i: np.int64) -> Iterator[xc.Array]:
    assert_type(x[0, ..., None], xc.Array)
    assert_type(x[1:, ::-1], xc.Array)
    assert_type(x[mask], xc.Array)
    assert_type(x[i, [0, 2]], xc.Array)
    assert_type(x.at[0].set(1.0), xc.Array)
    assert_type(x.at[1:, mask].add(x), xc.Array)
    assert_type(x.at[..., 0].get(mode="clip"), xc.Array)
    assert_type(x.at[i].apply(abs), xc.Array)
    for row in x:
        yield row


def methods(x: xc.Array) -> None:
    assert_type(x.sum(), xc.Array)
    assert_type(x.mean(axis=(0, 1), keepdims=True), xc.Array)
    assert_type(x.reshape(2, -1).T, xc.Array)
    assert_type(x.reshape((2, -1)).mT, xc.Array)
    assert_type(x.astype("float32").real, xc.Array)
    assert_type(x.astype(int).astype(np.float64), xc.Array)
    assert_type(x.shape, tuple[int, ...])
    assert_type(x.ndim + len(x) + x.size, int)
    assert_type(float(x[0]) + int(x[1]), float)
    assert_type(x.block_until_ready(), xc.Array)
    assert_type(x.nonzero(size=3), tuple[xc.Array, ...])
    assert_type(x.is_deleted(), bool)
    np.sin(np.asarray(x))


def like(x: ArrayLike) -> xc.Array | None:
    return x * 2 if isinstance(x, xc.Array) else None


like(1)
like(np.float32(1))
like(np.ones(3))
