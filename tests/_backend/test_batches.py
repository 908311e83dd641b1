"""Several batches of matrices in one program: none waits for the threads of another."""

import concurrent.futures

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax
from xcore._backend import batches, quirks


@pytest.fixture(autouse=True)
def _double():
    with xc.enable_x64():
        yield


def matrices(count, n, dtype):
    rng = np.random.default_rng(count * n)
    x = rng.standard_normal((count, n, n)) + 1j * rng.standard_normal((count, n, n))
    x = x if np.dtype(dtype).kind == "c" else x.real
    return (np.conj(x.swapaxes(-1, -2)) @ x + n * np.eye(n)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("count, n", [(30, 40), (3, 100), (101, 24)])
def test_pieces_are_the_whole(count, n, dtype):
    """Last pieces that overlap, one matrix alone, more than fit; twice each, so that none may wait."""
    s, b = matrices(count, n, dtype), matrices(count, n, dtype)[..., :3]
    b = b.reshape(count, n, 3)

    def f(s, b):
        return [
            (lax.linalg.cholesky(x), xnp.linalg.eigh(x)[0], lax.linalg.triangular_solve(x, b, left_side=True, lower=True))
            for x in (s, 2 * s)
        ]  # fmt: skip

    lower = np.tril(s.astype(np.complex128 if np.dtype(dtype).kind == "c" else np.float64))
    for k, found in enumerate(xc.jit(f)(s, b), start=1):
        want = (np.linalg.cholesky(k * s), np.linalg.eigvalsh(k * s), np.linalg.solve(k * lower, b))
        for x, y in zip(found, want, strict=True):
            assert x.dtype == (y.dtype if y.dtype.itemsize == x.dtype.itemsize else x.dtype)
            np.testing.assert_allclose(x, y, atol=60 * n * np.finfo(dtype).eps * abs(y).max())


@pytest.mark.parametrize("f", [lax.linalg.cholesky, xnp.linalg.eigvalsh, xnp.linalg.inv])
def test_many_at_once_come_to_an_end(f):
    """Of eight, on two cores each run hung."""
    s = matrices(30, 40, "float64")
    run = xc.jit(lambda s: [f(s + k * xnp.eye(40)) for k in range(8)])
    first = [np.asarray(x) for x in run(s)]
    for _ in range(5):
        for x, y in zip(run(s), first, strict=True):
            np.testing.assert_array_equal(x, y)


def test_one_alone_may_have_all_threads():
    if not quirks.BATCHES_WAIT.is_here():
        assert batches.piece("potrf", np.dtype("float64"), (30, 40, 40)) is None
        return
    one = xc.jit(lambda s: lax.linalg.cholesky(s)).lower(matrices(30, 40, "float64")).as_text()
    two = xc.jit(lambda s: (lax.linalg.cholesky(s), lax.linalg.cholesky(s + 1.0)))
    assert "while" not in one
    assert two.lower(matrices(30, 40, "float64")).as_text().count("stablehlo.while") == 2
    few = two.lower(matrices(2, 20, "float64")).as_text()
    assert "while" not in few


def test_programs_of_several_threads_come_to_an_end():
    """Of eight threads on two cores, one run in three hung; and a callback stands for such a program."""
    s = xnp.asarray(matrices(40, 60, "float64"))
    runs = [xc.jit(f) for f in (lax.linalg.cholesky, xnp.linalg.eigvalsh)]
    want = [np.asarray(f(s)) for f in runs]

    def work(_):
        return [[f(s).block_until_ready() for f in runs] for _ in range(20)][-1]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for found in pool.map(work, range(8)):
            for x, y in zip(found, want, strict=True):
                np.testing.assert_array_equal(x, y)


def test_what_calls_python_goes_by_pieces():
    """Its function may run programs that wait for threads, while it does."""
    s = matrices(30, 40, "float64")
    like = xc.ShapeDtypeStruct(s.shape, s.dtype)

    def f(s):
        return lax.linalg.cholesky(
            xc.pure_callback(lambda x: lax.linalg.cholesky(2 * x), like, s) @ s
        )

    if quirks.BATCHES_WAIT.is_here():
        assert "while" in xc.jit(f).lower(s).as_text()
    s = xnp.broadcast_to(xnp.diag(xnp.arange(1.0, 41.0)), s.shape)
    np.testing.assert_allclose(xc.jit(f)(s)[7].diagonal(), (2 * np.arange(1.0, 41.0) ** 3) ** 0.25)
