"""Certificates near the lower end of the range, where elements and products count as zero on many processors."""

import ml_dtypes
import mpmath
import numpy as np
import pytest

import xcore as xc
import xcore.linalg as la
from xcore import Status
from xcore.errors import SingularMatrixError

# (dtype, a scale whose small elements vanish)
SCALES = [(np.float64, 1e-306), (np.float32, 3e-37), (ml_dtypes.bfloat16, 3e-37)]
SEEDS = range(8)


def _solution(a, b):
    with mpmath.workdps(400):
        exact = lambda x: mpmath.matrix(np.asarray(x, np.float64).tolist())
        x = mpmath.lu_solve(exact(a), exact(b))
        return x, max(abs(v) for v in x)


def _error(x, a, b):
    """The relative error of x, by more digits than any dtype has."""
    with mpmath.workdps(400):
        true, size = _solution(a, b)
        found = np.asarray(x, np.float64)
        return float(max(abs(mpmath.mpf(f) - t) for f, t in zip(found, true)) / size)


def _claim(found):
    return float(found.certificate.error) if bool(found.ok) else np.inf


SOLVERS = {
    "solve": lambda a, b: (a, la.solve(a, b, report=True)),
    "lu_solve": lambda a, b: (a, la.lu_solve(la.lu_factor(a), b, report=True)),
    "triangular": lambda a, b: (np.triu(a), la.solve_triangular(np.triu(a), b, report=True)),
    "lstsq": lambda a, b: (a, la.lstsq(a, b, report=True)),
    "qr": lambda a, b: (a, la.lstsq(a, b, method="qr", report=True)),
}


@pytest.mark.parametrize("dtype, scale", SCALES)
@pytest.mark.parametrize("name", SOLVERS)
def test_no_digit_is_claimed_that_vanished(name, dtype, scale):
    for seed in SEEDS:
        a = np.random.default_rng(seed).standard_normal((7, 7)) * scale
        b = (a @ np.ones(7)).astype(dtype)
        matrix, found = SOLVERS[name](a.astype(dtype), b)
        if np.isfinite(np.asarray(found.value, float)).all():
            assert _error(found.value, matrix, b) <= max(
                _claim(found), 10 ** -float(found.certificate.digits)
            )


@pytest.mark.parametrize(
    "dtype, size, small", [(np.float64, 1e-300, 1e-310), (np.float32, 1e-35, 1e-39)]
)
def test_a_right_side_that_counts_as_zero_is_no_zero(dtype, size, small):
    a, b = (size * np.eye(2)).astype(dtype), np.array([small, 2 * small], dtype)
    band = np.full((1, 2), size, dtype)
    for found in (
        la.solve(a, b, report=True), la.solve_triangular(a, b, report=True),
        la.solve_banded((0, 0), band, b, report=True), la.cho_solve(np.sqrt(a), b, report=True),
    ):  # fmt: skip
        off = np.max(np.abs(np.asarray(found.value) / (b / size) - 1))
        assert off < 1e-4 or not bool(found.ok)


@pytest.mark.parametrize("kind", ["general", "symmetric", "positive definite"])
@pytest.mark.parametrize(
    "dtype, k", [(np.float64, 400), (np.float64, 200), (np.float32, 35), (np.float32, 45)]
)
def test_rows_of_very_different_size(kind, dtype, k):
    a = np.array([[2.0 * 2.0 ** (-2 * k), 1], [1, 2 * 2.0 ** (2 * k)]]).astype(dtype)
    b = (a @ np.ones(2, dtype)).astype(dtype)
    found = la.solve(a, b, kind, report=True)
    if np.isfinite(np.asarray(found.value)).all():
        assert not bool(found.ok) or _error(found.value, a, b) <= _claim(found)


@pytest.mark.parametrize(
    "dtype, scale", [(np.float64, 1e-306), (np.float64, 1e-310), (np.float32, 3e-37)]
)
def test_values_of_spectra(dtype, scale):
    for seed in SEEDS:
        a = np.random.default_rng(seed).standard_normal((6, 6))
        a = ((a + a.T) * scale).astype(dtype)
        size = 2.0**1000 if dtype == np.float64 else 2.0**120  # exact, and into the range
        wide = a.astype(np.float64) * size
        w, s = np.linalg.eigvalsh(wide) / size, np.linalg.svd(wide, compute_uv=False) / size
        eigh, svd = la.eigh(a, report=True), la.svd(a, report=True)
        assert (
            np.abs(np.asarray(eigh.value[0], float) - w)
            <= np.asarray(eigh.certificate.error, float)
        ).all()
        assert (
            np.abs(np.asarray(svd.value[1], float) - s) <= np.asarray(svd.certificate.error, float)
        ).all()


@pytest.mark.parametrize("dtype, scale", SCALES[:2])
def test_inverses_and_determinants(dtype, scale):
    for seed in SEEDS:
        a = (np.random.default_rng(seed).standard_normal((5, 5)) * scale).astype(dtype)
        size = 2.0 ** -np.round(np.log2(scale))
        wide = a.astype(np.float64) * size
        found, inverse = la.pinv(a, report=True), np.linalg.pinv(wide)
        if bool(found.ok):
            off = (
                np.abs(np.asarray(found.value, float) / size - inverse).max()
                / np.abs(inverse).max()
            )
            assert off <= _claim(found)
        found = la.slogdet(a, report=True)
        if bool(found.ok):
            log = np.linalg.slogdet(wide)[1] - 5 * np.log(size)
            assert abs(float(found.value[1]) - log) <= float(found.certificate.error)


def test_pseudoinverses_of_equal_singular_values():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        u = np.linalg.qr(rng.standard_normal((5, 3)))[0] * (1 + 1e-9 * np.arange(3))
        a = u @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
        with mpmath.workdps(40):
            m = mpmath.matrix(a.tolist())
            true = np.array(((m.T * m) ** -1 * m.T).tolist(), dtype=float)
        found = la.pinv(a, report=True)
        assert np.abs(np.asarray(found.value) - true).max() / np.abs(true).max() <= _claim(found)


def _spectrum(name, a, size):
    """Eigenvalues or singular values of a, from exact multiples of it."""
    wide = a.astype(np.complex128 if np.iscomplexobj(a) else np.float64) * size
    found = {"eigh": np.linalg.eigvalsh, "eigvals": np.linalg.eigvals}.get(
        name, lambda x: np.linalg.svd(x)[1]
    )
    return np.sort(found(wide)) / size


@pytest.mark.parametrize(
    "dtype, size", [(np.float64, 2.0**1000), (np.float32, 2.0**120), (np.complex64, 2.0**120)]
)
@pytest.mark.parametrize("name", ["eigh", "svd", "eigvals"])
def test_no_digit_of_a_spectrum_is_claimed_that_vanished(name, dtype, size):
    values = {"eigh": lambda x: x[0], "svd": lambda x: x[1], "eigvals": lambda x: x}[name]
    tiny = np.finfo(dtype).tiny
    for scale in (tiny / 1000, tiny / 3, tiny, 3 * tiny, 100 * tiny, tiny**0.5):
        a = np.random.default_rng(0).standard_normal((4, 4)) * np.array([1, 1, 1e-3, 1e-3])
        a = ((a + a.T) * scale).astype(dtype)
        found = getattr(la, name)(a, report=True)
        w, true = np.sort(np.asarray(values(found.value))), _spectrum(name, a, size)
        off = np.abs(w - true).max() / np.abs(true).max()
        digits = float(found.certificate.digits)
        assert off <= 10**-digits or digits == 0
        assert off <= 1e-3 or not bool(found.ok)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex64])
def test_what_vanished_counts_in_the_errors_of_eigenvalues(dtype):
    tiny = float(np.finfo(dtype).tiny)
    for small in (tiny / 8, tiny / 2, tiny * 4):  # the eigenvalues are ±√(large · small)
        large = 2.0**40 * tiny
        found = la.eigvals(np.array([[0, large], [small, 0]], dtype), report=True)
        true = (large / tiny * small / tiny) ** 0.5 * tiny
        off = np.abs(np.abs(np.asarray(found.value)) - true)
        assert (off <= np.asarray(found.certificate.error) * (1 + 1e-6)).all()


FEW = {
    "eigsh": lambda a: la.eigsh(a, 1, report=True),
    "lobpcg": lambda a: la.lobpcg(a, 1, report=True),
    "shift": lambda a: la.eigsh(a, 1, sigma=0.9 * float(a[1, 1]), report=True),
}


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize(
    "dtype, scale", [(np.float64, 1e-311), (np.float64, 1e-306), (np.float32, 1e-41), (np.float32, 1e-36)]
)  # fmt: skip
def test_a_few_eigenvalues_of_what_counts_as_zero(name, dtype, scale):
    a = (np.diag([1, 2, 3, 4, 5, 6e-4]) * scale).astype(dtype)
    if name == "shift" and scale < np.finfo(dtype).tiny:
        with pytest.raises(SingularMatrixError):
            FEW[name](a)
        return
    found = FEW[name](a)
    w, error = float(found.value[0][0]), float(found.certificate.error[0])
    if np.isfinite(w):
        assert np.abs(np.diag(a).astype(float) - w).min() <= error
    assert not bool(found.ok.all()) or (np.isfinite(w) and error <= 1e-3 * abs(w))


ENDS = {
    "float32": [2.0**k for k in (-126, -120, -100, -60, 0, 60, 100, 118, 122, 125)],
    "float64": [2.0**k for k in (-1022, -1010, -900, -500, 0, 500, 900, 1010, 1018, 1021)],
}


@pytest.mark.parametrize("method", ["svd", "qr"])
@pytest.mark.parametrize("dtype", ENDS)
def test_least_squares_at_the_ends_of_the_range(dtype, method):
    """Norms of columns, reciprocals of singular values and solutions may leave it: right, or not claimed."""
    rng, eps = np.random.default_rng(3), float(np.finfo(dtype).eps)
    a0 = np.clip(np.round(3 * rng.standard_normal((5, 3))), -6, 6)
    for size in ENDS[dtype]:
        a = (a0 * min(size, float(np.finfo(dtype).max) / 8)).astype(dtype)
        for unit in (1.0, size):
            b = (rng.integers(-3, 4, 5) / 4 * unit).astype(dtype)
            if not np.isfinite(b).all():
                continue
            with mpmath.workdps(60):
                exact = mpmath.matrix(a.tolist())
                gram, side = exact.T * exact / size / size, exact.T * mpmath.matrix(b.tolist())
                exact = mpmath.lu_solve(gram, side / size / size)
                found = la.lstsq(a, b, method=method, report=True)
                if not found.ok:
                    assert size > 1e30
                    continue
                off = max(
                    abs(mpmath.mpf(float(x)) - y) for x, y in zip(found.value, exact, strict=True)
                )
                off = float(off / max(map(abs, exact)))
            assert off <= float(found.certificate.error), (size, unit)
            if 1e-30 < size < 1e30:
                assert found.ok and float(found.certificate.digits) > -np.log10(eps) - 4, size


@pytest.mark.parametrize("dtype", ENDS)
def test_dependent_columns_are_seen_at_every_size(dtype):
    """Squares of columns that vanish or overflow decided otherwise than those of size 1."""
    a = np.array([[1.0, 2, 3], [2, 4, 5], [3, 6, -1], [1, 2, 0.5]])
    for size in ENDS[dtype][1:-2]:
        for scale, dependent in (([1, 1, 1], True), ([1, 1e-20, 1], True), ([1, 0, 1], True)):
            found = la.lstsq(
                (a * scale * size).astype(dtype), a[:, 0].astype(dtype), method="qr", report=True
            )
            assert (found.status == Status.singular) == dependent, (size, scale)
        other = (a + np.eye(4, 3)) * size
        found = la.lstsq(other.astype(dtype), a[:, 0].astype(dtype), method="qr", report=True)
        assert found.ok and int(found.certificate.rank) == 3, size


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_inverses_below_the_range_are_not_claimed(dtype):
    largest = np.finfo(dtype).max
    for a in (np.diag([largest, largest / 2]), np.array([[0.9, 0.1], [0.2, 0.7]]) * largest):
        for call in (la.inv, la.pinv):
            found = call(a.astype(dtype), report=True)
            assert not found.ok and not found.certificate.digits, call


@pytest.mark.parametrize("method", ["svd", "qr"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_least_squares_claim_no_digit_of_columns_that_leave_the_range(dtype, method):
    """Right sides of all sizes beside each other: some solutions vanish, others stand next to the end of the range."""
    rng, decades = np.random.default_rng(4), -np.log10(float(np.finfo(dtype).tiny))
    powers = (
        np.array([[0.9, -0.9], [0.6, -0.4], [0.0, 0.0], [-0.3, -0.95], [0.5, -0.499]]) * decades
    )
    n, k = 3, len(powers)
    turn = 1j if dtype == "complex128" else 0
    random = lambda *s: rng.standard_normal(s) + turn * rng.standard_normal(s)
    a = np.stack([random(5, n) * 10.0**p for p in powers[:, 0]])
    a = (a if turn else a.real).astype(dtype)
    b = (random(k, 5, k) * 10.0 ** powers[:, 1]).astype(dtype)
    b[2, :, 1] = 0
    found = xc.jit(lambda a, b: la.lstsq(a, b, method=method, report=True))(a, b)
    for i in range(k):
        error = float(found.certificate.error[i])
        assert float(found.certificate.digits[i]) <= max(0, -np.log10(error)) + 1e-3
        if not error < 1:
            continue
        with mpmath.workdps(900):
            m, right = mpmath.matrix(a[i].tolist()), mpmath.matrix(b[i].tolist())
            for j in range(k):
                true = mpmath.lu_solve(m.H * m, m.H * right[:, j])
                got = mpmath.matrix(np.asarray(found.value)[i, :, j].tolist())
                off, size = (max(abs(v) for v in y) for y in (got - true, true))
                assert off <= error * size
    # columns alone: those whose solutions are in the range are claimed
    alone = xc.jit(xc.vmap(lambda a, b: la.lstsq(a, b, method=method, report=True)))
    sizes = powers[:, 1] - powers[:, :1]
    told = np.stack(
        [np.asarray(alone(a, b[:, :, j : j + 1]).certificate.digits) for j in range(k)], 1
    )
    inside = (np.abs(sizes) < 0.8 * decades) & (powers[:, 1] > -0.9 * decades)
    inside &= (np.abs(powers[:, :1]) < 0.4 * decades) | (method == "svd")
    assert (told[inside] > 2).all() and inside.sum() > 3
    assert (told[sizes < -1.02 * decades] <= 0.01).all()
