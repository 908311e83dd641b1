"""Kernels that the cores share: a program of the rows of a part, called by way of the host."""

import threading

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore._control.call import in_one_kernel
from xcore._control.loops import fori_loop
from xcore._core import compile

ROWS = np.random.default_rng(0).standard_normal((10, 3))


def smoothed(x, y):
    out = fori_loop(0, 5, lambda i, s: s * 0.5 + y, x)
    return out, xnp.real(out) > 0


def in_parts(x, y):
    return in_one_kernel(smoothed, x, y, part=4)  # 0-3, 4-7 and 6-9


def expected(x, y):
    out = x / 32 + y * (1 - 1 / 32) * 2
    return out, np.real(out) > 0


@pytest.mark.parametrize("dtype", ["float32", "complex128", "float16", "bfloat16"])
def test_rows_are_those_of_the_whole(dtype):
    with xc.enable_x64():
        x, y = xnp.asarray(ROWS).astype(dtype), xnp.asarray(ROWS[::-1]).astype(dtype)
        for ours, theirs in zip(xc.jit(in_parts)(x, y), smoothed(x, y), strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs)


def test_transforms():
    def f(x):
        return in_parts(x, x * x)[0]

    def loop(x):
        return fori_loop(0, 3, lambda i, s: xc.lax.cond(i < 9, f, lambda s: s, s), x)

    want = expected(ROWS, ROWS**2)[0]
    np.testing.assert_allclose(xc.vmap(f)(xnp.stack([ROWS, -ROWS]))[0], want, rtol=1e-5)
    slopes = xc.grad(lambda x: f(x).sum())(ROWS)
    np.testing.assert_allclose(slopes, 1 / 32 + 4 * (1 - 1 / 32) * ROWS, rtol=1e-5)
    looped = ROWS / 9
    for _ in range(3):
        looped = expected(looped, looped**2)[0]
    np.testing.assert_allclose(xc.jit(loop)(ROWS / 9), looped, rtol=1e-4)


def test_threads_do_not_wait_for_each_other():
    """More programs at once than there are threads, some of whose arguments are not ready."""
    f = xc.jit(lambda x: in_parts(in_parts(x, x)[0], x)[0])
    big = xc.jit(lambda m: (m @ m)[:10, :3])
    m = xnp.full((300, 300), 1 / 300)
    found = []

    def work():
        outs = [f(big(m)) for _ in range(20)]
        found.extend(map(np.asarray, outs))

    threads = [threading.Thread(target=work, daemon=True) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(timeout=60)
    one = expected(1 / 300, 1 / 300)[0]
    want = np.full((120, 10, 3), expected(one, 1 / 300)[0])
    np.testing.assert_allclose(np.stack(found), want, rtol=1e-5)


def test_part_is_kept_on_the_disk_with_the_program(tmp_path, monkeypatch):
    monkeypatch.setenv("XCORE_CACHE_DIR", str(tmp_path))

    def run():
        before = dict(compile.counts)
        out, _ = xc.jit(lambda x: in_parts(x, x + 1))(ROWS)
        np.testing.assert_allclose(out, expected(ROWS, ROWS + 1)[0], rtol=1e-5)
        return compile.counts["compiled"] - before["compiled"]

    compile.clear()
    assert run() == 2  # the part and what is around it
    compile.clear()
    assert run() == 0
