"""Determinants whose pivots leave the range of the dtype together, where the product of all does not."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp


def with_exponents(rng, n, dtype):
    """Matrices with one element in each row: their determinants are known exactly."""
    most = np.log2(float(np.finfo(dtype).max)) - 2
    for case in range(12):
        e = rng.uniform(-most, most, n)
        e = np.clip(e - e.mean() * (case < 6), -most, most)
        e = np.full(n, most) if case == 7 else -e if case == 8 else e
        d = np.exp2(np.round(e)) * rng.choice([-1.5, -1, 1, 1.25], n)
        d[rng.integers(n)] *= case != 9
        order = rng.permutation(n)
        unit = rng.choice([1, 1j, -1j], n) if np.dtype(dtype).kind == "c" else np.ones(n)
        a = np.zeros((n, n), dtype)
        a[np.arange(n), order] = (d * unit).astype(dtype)
        inversions = sum(int(order[i] > order[j]) for i in range(n) for j in range(i + 1, n))
        product = Fraction((-1) ** inversions)
        for v in d:
            product *= Fraction(float(v))
        yield a, product, complex(np.prod(unit))


def in_range(exact: Fraction, dtype):
    """What it may be: it, or 0 or infinity where it leaves the range."""
    limits = np.finfo(dtype)
    if abs(exact) > Fraction(float(limits.max)):
        return np.inf if exact > 0 else -np.inf
    return float(exact) if abs(exact) >= Fraction(float(limits.tiny)) else 0.0


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_pivots_may_leave_the_range_together(dtype):
    det = xc.linalg.det if dtype == "float16" else xnp.linalg.det  # eliminated here, and by LAPACK
    rng = np.random.default_rng(3)
    with xc.enable_x64():
        for n in (1, 2, 3, 5, 18):
            cases = list(with_exponents(rng, n, dtype))
            a = np.stack([case[0] for case in cases])
            for found in (xc.jit(det)(a), xc.vmap(det)(a)):
                for value, (_, exact, turn) in zip(np.asarray(found, complex), cases):
                    want = in_range(exact, dtype)
                    if np.isinf(want):
                        assert not np.isfinite(value)
                        continue
                    value = value / turn
                    most = 8 * n * float(np.finfo(dtype).eps) * abs(want)
                    assert abs(value - want) <= most + 2 * float(np.finfo(dtype).tiny), (
                        n,
                        value,
                        want,
                    )


def test_order_of_multiplication_and_bits_are_as_they_were():
    for n in (1, 2, 3, 8, 40, 200):
        a = np.random.default_rng(n).standard_normal((n, n)).astype(np.float32)
        scaled = xc.jit(xnp.linalg.det)(a * np.float32(2.0**-30))  # which 40 times leaves the range
        limits = np.finfo(np.float32)
        sign, log = np.linalg.slogdet(a.astype(float))
        want = sign * np.exp(np.clip(log - 30 * n * np.log(2), -200, 200))
        if limits.tiny < abs(want) < limits.max:
            np.testing.assert_allclose(scaled, want, rtol=1e-3)
        else:
            assert abs(float(scaled)) in (0.0, np.inf)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_derivatives_are_cofactors_in_the_range_too(dtype):
    """Of diag(1e200, 1e200, 1e-300) they were NaN; elsewhere they are rounding errors."""
    rng, limits = np.random.default_rng(5), np.finfo(dtype)
    decades = np.log10(float(limits.max)) - 1
    real = lambda a: xnp.real(xnp.linalg.det(a))
    with xc.enable_x64():
        slopes = xc.jit(xc.vmap(xc.grad(real)))
        for n in (3, 4, 7):
            e = rng.uniform(-decades, decades, (20, n))
            e[:10] -= e[:10].mean(1, keepdims=True)
            e = np.clip(e, -decades, decades)
            e[0, :3] = 2 / 3 * decades * np.array([1, 1, -1.5])
            logs = e.sum(1, keepdims=True) - e
            good = (np.abs(logs) < decades).all(1)  # all cofactors are numbers
            a = np.stack([np.diag(10.0**row) for row in e]).astype(dtype)
            found = np.asarray(slopes(a))[good | (np.arange(20) == 0)]
            logs = logs[good | (np.arange(20) == 0)]
            for slope, log in zip(found, logs):
                fine = np.abs(log) < decades
                np.testing.assert_allclose(
                    np.diagonal(slope).real[fine], 10.0 ** log[fine], rtol=2e3 * limits.eps
                )
                if fine.all():
                    others = np.abs(slope[~np.eye(n, dtype=bool)])
                    assert others.max() <= 100 * limits.eps * np.abs(slope).max()


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_derivatives_of_determinants_are_numbers_where_they_are_in_range(dtype, n):
    """Cofactors in units of which n together leave the range, and n - 1 do not."""
    a = np.random.default_rng(n).normal(size=(n, n))
    cofactors = np.linalg.det(a) * np.linalg.inv(a).T
    largest = np.log10(float(np.finfo(dtype).max))
    for power in (-0.8, -0.5, 0.3, 0.8):
        unit = 10.0 ** (power * largest / max(n - 1, 1))
        expected = cofactors * unit ** (n - 1)
        given = (a * unit).astype(dtype)
        for derivative in (xc.grad(xnp.linalg.det)(given), xc.jacfwd(xnp.linalg.det)(given)):
            left = np.abs(np.asarray(derivative, float) / unit ** (n - 1) - cofactors)
            assert np.max(left) <= 100 * np.finfo(dtype).eps * np.max(np.abs(cofactors)), (
                unit,
                expected,
            )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_that_vanish_beside_large_ones_are_not_claimed(dtype):
    """A row next to the lower end of the range loses elements, however large the others are."""
    rng, limits = np.random.default_rng(5), np.finfo(dtype)
    for _ in range(20):
        a = rng.standard_normal((3, 3)) * 10 ** rng.uniform(-2, 0, (3, 3))
        powers = np.round([limits.maxexp - 6, limits.minexp + rng.uniform(-1, 4), 0])
        a = np.ldexp(a.astype(dtype), powers.astype(int)[:, None]).astype(dtype)
        exact = [[Fraction(float(x)) for x in row] for row in a]
        cofactor = lambda i, j, m=exact: m[1][i] * m[2][j] - m[1][j] * m[2][i]
        (p, q, r), det = exact[0], xc.linalg.det(a, report=True)
        exact = p * cofactor(1, 2) - q * cofactor(0, 2) + r * cofactor(0, 1)
        log = xc.linalg.slogdet(a, report=True)
        off = abs(float(Fraction(float(det.value)) / exact - 1))
        assert off <= float(det.certificate.error)
        true = math.log(abs(exact.numerator)) - math.log(exact.denominator)
        assert abs(float(log.value[1]) - true) <= float(log.certificate.error) + 1e-13 * abs(true)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("count", [6, 70])  # by LAPACK, and many side by side
def test_rows_and_columns_of_all_sizes_are_claimed_as_they_are(dtype, count):
    """Of rows far from each other elimination loses digits: what is claimed is there."""
    rng, n, limits = np.random.default_rng(8), 4, np.finfo(dtype)
    most = np.log2(float(limits.max)) - 3
    core = 3 * np.eye(n) + rng.uniform(-1, 1, (count, n, n))
    core = core + 1j * rng.uniform(-1, 1, core.shape)
    rows = np.trunc(rng.uniform(-most, most, (count, n)))
    rows -= np.trunc(rows.mean(1, keepdims=True))
    columns = np.trunc(rng.uniform(-0.2, 0.2, (count, n)) * most)
    powers = np.clip(rows[:, :, None] + columns[:, None, :], 12 - most, most)
    powers[count // 2 :] = np.clip(rows, 12 - most, most)[count // 2 :, :, None]
    a = np.ldexp(core.real, powers.astype(int)) + 1j * np.ldexp(core.imag, powers.astype(int))
    a = (a if np.dtype(dtype).kind == "c" else a.real).astype(dtype)
    with xc.enable_x64():
        found = xc.jit(lambda a: xc.linalg.det(a, report=True))(a)
        pair = xc.jit(lambda a: xc.linalg.slogdet(a, report=True))(a)
    seen = 0
    for k in range(count):
        with mpmath.workdps(700):
            exact = mpmath.det(mpmath.matrix(a[k].tolist()))
            size = mpmath.log(abs(exact))
            off = lambda x, y, k=k: float(abs(mpmath.mpmathify(np.asarray(x)[k].item()) - y))
            assert off(pair.value[1], size) <= float(pair.certificate.error[k])
            if not float(limits.tiny) * 4 < abs(exact) < float(limits.max) / 4:
                continue
            seen += 1
            assert off(found.value, exact) <= float(found.certificate.error[k]) * float(abs(exact))
    assert seen > count // 4
