"""Custom calls of LAPACK against NumPy and SciPy."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

from tests._backend.compiled import run, type_of
from xcore._backend import ffi


def call(routine, arguments, results, **settings):
    """Run one routine; `results` are pairs (shape of each matrix's result, dtype)."""
    batch = arguments[0].shape[:-2] if routine != "gtsv" else arguments[0].shape[:-1]
    dtype = arguments[0].dtype
    types = [type_of(batch + shape, kind) for shape, kind in results]
    return run(
        lambda builder, values, out: ffi.factor_call(
            builder, routine, dtype, values, out, **settings
        ),
        arguments,
        types,
    )


# The routines

M, N = 5, 3
CASES = [("float32", ()), ("float64", (2, 3)), ("complex64", (2, 3)), ("complex128", ())]
cases = pytest.mark.parametrize("dtype, batch", CASES, ids=[case[0] for case in CASES])


def random(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def adjoint(x):
    return x.conj().swapaxes(-1, -2)


def real(dtype):
    return np.zeros(0, dtype).real.dtype


def close(got, want, dtype):
    np.testing.assert_allclose(got, want, rtol=0, atol=200 * np.finfo(dtype).eps)


def reflectors_product(qr, tau, columns):
    """H₁ H₂ … of the reflectors below the diagonal, by their definition."""
    m = qr.shape[-2]
    q = np.broadcast_to(np.eye(m, dtype=qr.dtype), (*qr.shape[:-2], m, m))
    for k in range(tau.shape[-1]):
        v = np.where(np.arange(m) < k, 0, qr[..., :, k])
        v[..., k] = 1
        q = q - tau[..., k, None, None] * (q @ v[..., None]) @ adjoint(v[..., None])
    return q[..., :, :columns]


@cases
def test_getrf(dtype, batch):
    a = random((*batch, M, N), dtype)
    lu, pivots, info = call("getrf", [a], [((M, N), dtype), ((N,), "i4"), ((), "i4")])
    assert (info == 0).all()
    lower = np.tril(lu, -1)[..., :, :N] + np.eye(M, N)
    product = lower @ np.triu(lu)[..., :N, :]
    for index in np.ndindex(batch):
        rows = np.arange(M)
        for i, p in enumerate(pivots[index]):
            rows[[i, p - 1]] = rows[[p - 1, i]]
        close(product[index], a[index][rows], dtype)


@cases
@pytest.mark.parametrize("lower", [True, False])
def test_potrf(dtype, batch, lower):
    x = random((*batch, N, N), dtype)
    a = x @ adjoint(x) + np.eye(N, dtype=dtype)
    factor, info = call("potrf", [a], [((N, N), dtype), ((), "i4")], lower=lower)
    assert (info == 0).all()
    factor = np.tril(factor) if lower else adjoint(np.triu(factor))
    close(factor, np.linalg.cholesky(a), dtype)
    _, info = call("potrf", [-a], [((N, N), dtype), ((), "i4")], lower=lower)
    assert (info == 1).all()


@cases
@pytest.mark.parametrize("left, lower, transpose, unit", [(1, 1, "N", 0), (0, 0, "C", 1)])
def test_trsm(dtype, batch, left, lower, transpose, unit):
    a = random((*batch, N, N), dtype) + 3 * np.eye(N, dtype=dtype)
    b = random((*batch, *((N, M) if left else (M, N))), dtype, 1)
    (x,) = call(
        "trsm", [a, b], [(b.shape[-2:], dtype)],
        left=left, lower=lower, transpose=transpose, unit_diagonal=unit,
    )  # fmt: skip
    t = np.tril(a) if lower else np.triu(a)
    if unit:
        t = t - t * np.eye(N) + np.eye(N)
    t = {"N": t, "T": t.swapaxes(-1, -2), "C": adjoint(t)}[transpose]
    close(t @ x if left else x @ t, b, dtype)


@cases
def test_qr_and_its_reflectors(dtype, batch):
    a = random((*batch, M, N), dtype)
    qr, tau = call("geqrf", [a], [((M, N), dtype), ((N,), dtype)])
    q = reflectors_product(qr, tau, N)
    close(q @ np.triu(qr)[..., :N, :], a, dtype)
    (thin,) = call("orgqr", [qr, tau], [((M, N), dtype)])
    close(thin, q, dtype)


@cases
def test_geqp3(dtype, batch):
    a = random((*batch, M, N), dtype)
    free = np.zeros((*batch, N), np.int32)
    qr, order, tau = call("geqp3", [a, free], [((M, N), dtype), ((N,), "i4"), ((N,), dtype)])
    r = np.triu(qr)[..., :N, :]
    sizes = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    assert (np.diff(sizes) <= 0).all()
    permuted = np.take_along_axis(a, order[..., None, :] - 1, -1)
    close(reflectors_product(qr, tau, N) @ r, permuted, dtype)


@cases
@pytest.mark.parametrize("lower", [True, False])
def test_syevd(dtype, batch, lower):
    x = random((*batch, M, M), dtype)
    a = x + adjoint(x)
    other = np.tril(np.full((M, M), 7, dtype), -1)  # must not be read
    given = a + (other.T if lower else other)
    results = [((M, M), dtype), ((M,), real(dtype)), ((), "i4")]
    v, w, info = call("syevd", [given], results, vectors=True, lower=lower)
    assert (info == 0).all()
    close(w, np.linalg.eigvalsh(a), dtype)
    close(a @ v, v * w[..., None, :], dtype)
    _, values, _ = call("syevd", [given], results, vectors=False, lower=lower)
    close(values, w, dtype)


@cases
@pytest.mark.parametrize("mode", "ASN")
def test_gesdd(dtype, batch, mode):
    a = random((*batch, M, N), dtype)
    k = M if mode == "A" else N
    _, s, u, vh, info = call(
        "gesdd", [a],
        [((M, N), dtype), ((N,), real(dtype)), ((M, k), dtype), ((N, N), dtype), ((), "i4")],
        mode=mode,
    )  # fmt: skip
    assert (info == 0).all()
    close(s, np.linalg.svd(a, compute_uv=False), dtype)
    if mode != "N":
        close(adjoint(u) @ u, np.broadcast_to(np.eye(k), (*batch, k, k)), dtype)
        close((u[..., :N] * s[..., None, :]) @ vh, a, dtype)


def values_of(results, dtype):
    """The eigenvalues, which real routines return as real and imaginary parts."""
    return results[0] + 1j * results[1] if np.dtype(dtype).kind == "f" else results[0]


def values_types(dtype):
    return [((M,), dtype)] * (2 if np.dtype(dtype).kind == "f" else 1)


@cases
def test_geev(dtype, batch):
    a = random((*batch, M, M), dtype)
    wide = np.result_type(dtype, "c8")
    results = [*values_types(dtype), ((M, M), wide), ((M, M), wide), ((), "i4")]
    *w, left, right, info = call("geev", [a], results, left=True, right=True)
    w = values_of(w, dtype)
    assert (info == 0).all()
    close(a @ right, right * w[..., None, :], dtype)
    close(adjoint(left) @ a, w[..., :, None] * adjoint(left), dtype)


@cases
def test_gees(dtype, batch):
    a = random((*batch, M, M), dtype)
    results = [((M, M), dtype), ((M, M), dtype), *values_types(dtype), ((), "i4"), ((), "i4")]
    t, z, *w, _, info = call("gees", [a], results, vectors=True)
    assert (info == 0).all()
    close(z @ t @ adjoint(z), a, dtype)
    close(np.tril(t, -2), 0, dtype)
    close(np.trace(t, axis1=-2, axis2=-1), values_of(w, dtype).sum(-1), dtype)


@cases
def test_gehrd(dtype, batch):
    a = random((*batch, M, M), dtype)
    h, tau, info = call(
        "gehrd", [a], [((M, M), dtype), ((M - 1,), dtype), ((), "i4")], low=1, high=M
    )
    assert (info == 0).all()
    q = np.zeros((*batch, M, M), dtype)
    q[..., 0, 0] = 1
    q[..., 1:, 1:] = reflectors_product(h[..., 1:, :-1], tau, M - 1)
    close(q @ np.triu(h, -1) @ adjoint(q), a, dtype)


@cases
def test_sytrd(dtype, batch):
    x = random((*batch, M, M), dtype)
    a = x + adjoint(x)
    results = [((M, M), dtype), ((M,), real(dtype)), ((M - 1,), real(dtype)), ((M - 1,), dtype)]
    _, d, e, _, info = call("sytrd", [a], [*results, ((), "i4")], lower=True)
    assert (info == 0).all()
    for index in np.ndindex(batch):
        w = scipy.linalg.eigvalsh_tridiagonal(d[index], e[index])
        close(w, np.linalg.eigvalsh(a[index]), dtype)


@cases
def test_gtsv(dtype, batch):
    dl, d, du = (random((*batch, M), dtype, seed) for seed in range(3))
    d = d + 4
    b = random((*batch, M, N), dtype, 3)
    vector, matrix = ((M,), dtype), ((M, N), dtype)
    *_, x, info = call("gtsv", [dl, d, du, b], [vector, vector, vector, matrix, ((), "i4")])
    assert (info == 0).all()
    product = d[..., None] * x
    product[..., 1:, :] += dl[..., 1:, None] * x[..., :-1, :]
    product[..., :-1, :] += du[..., :-1, None] * x[..., 1:, :]
    close(product, b, dtype)


# The tables


def test_every_routine_is_registered():
    ffi.ensure_lapack()
    from jaxlib import lapack

    known = {name for name, _, _ in lapack.registrations()["cpu"]}
    for routine in ffi.LAPACK:
        for dtype in ("float32", "float64", "complex64", "complex128"):
            assert ffi.lapack_target(routine, dtype) in known


def test_calls_are_recognised_in_executables():
    assert ffi.calls_lapack(b"... lapack_dgetrf_ffi ...") and not ffi.calls_lapack(b"add")


def test_a_batch_may_be_partitioned():
    rule = ffi.batch_rule([(4, 3, 3), (4, 3)], [(4, 3, 3)], 1)
    assert "([i, j, k], [i, l])->([i, m, n])" in rule
    assert "{i=4, j=3, k=3, l=3, m=3, n=3} need_replication={j, k, l, m, n}" in rule
    assert ffi._names(16, 4) == ["y", "z", "z_1", "z_2"]


def test_a_batch_is_partitioned():
    worker = Path(__file__).with_name("partitioned_worker.py")
    done = subprocess.run(
        [sys.executable, str(worker)], check=True, capture_output=True, text=True, timeout=300,
        env=dict(os.environ, XCORE_NUM_CPU_DEVICES="4", PYTHONPATH=str(worker.parents[2])),
    )  # fmt: skip
    (call,) = [line for line in done.stdout.splitlines() if "lapack_dpotrf_ffi" in line]
    assert "f64[2,3,3]" in call
    assert "all-gather" not in done.stdout


_LOADING = """
import sys, threading
from xcore._backend import ffi
assert not any(name.partition(".")[0] == "scipy" for name in sys.modules)
threads = [threading.Thread(target=ffi.ensure_lapack) for _ in range(8)]
[thread.start() for thread in threads]; [thread.join() for thread in threads]
assert "scipy.linalg" not in sys.modules
import numpy, scipy.linalg, scipy.optimize, scipy.sparse.linalg
assert scipy.linalg.cython_lapack.__pyx_capi__ and "scipy.linalg.cython_blas" in sys.modules
numpy.testing.assert_allclose(scipy.linalg.solve(2 * numpy.eye(3), numpy.ones(3)), 0.5)
"""


def test_lapack_loads_late_and_leaves_scipy_intact():
    subprocess.run([sys.executable, "-c", _LOADING], check=True, timeout=300)


def test_lapack_loads_after_scipy():
    code = "import scipy.linalg; from xcore._backend import ffi; ffi.ensure_lapack()"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
