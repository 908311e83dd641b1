"""Reports on matrices that are not finite say so, and those on matrices without digits are no success."""

import numpy as np
import pytest

import xcore as xc
from xcore import Status
from xcore import linalg as la

ONE = np.eye(3)
CALLS = {
    "solve": lambda a: la.solve(a, np.ones(3), report=True),
    "solve, symmetric": lambda a: la.solve(a, np.ones(3), assume_a="sym", report=True),
    "right side": lambda a: la.solve(ONE, a[0], report=True),
    "inv": lambda a: la.inv(a, report=True),
    "pinv": lambda a: la.pinv(a, report=True),
    "det": lambda a: la.det(a, report=True),
    "solve_triangular": lambda a: la.solve_triangular(a, np.ones(3), report=True),
    "solve_banded": lambda a: la.solve_banded((1, 1), a, np.ones(3), report=True),
    "solve_sylvester": lambda a: la.solve_sylvester(a, ONE, ONE, report=True),
    "solve_continuous_lyapunov": lambda a: la.solve_continuous_lyapunov(a, ONE, report=True),
    "solve_discrete_lyapunov": lambda a: la.solve_discrete_lyapunov(a, ONE, report=True),
    "solve_continuous_are": lambda a: la.solve_continuous_are(a, ONE, ONE, ONE, report=True),
    "solve_discrete_are": lambda a: la.solve_discrete_are(a, ONE, ONE, ONE, report=True),
    "expm": lambda a: la.expm(a, report=True),
    "sqrtm": lambda a: la.sqrtm(a, report=True),
    "logm": lambda a: la.logm(a, report=True),
    "eigh": lambda a: la.eigh(a, report=True),
    "lstsq": lambda a: la.lstsq(a, np.ones(3), report=True),
    "lstsq, qr": lambda a: la.lstsq(a, np.ones(3), method="qr", report=True),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("what", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_told_as_such(name, what):
    with xc.enable_x64():
        for a in (np.full((3, 3), what), np.where(ONE[::-1] > 0, what, ONE)):
            found = CALLS[name](a)
            assert Status(int(found.status)) is Status.not_finite and not found.ok


def test_what_pencils_are_of_counts_too():
    broken = np.where(ONE[::-1] > 0, np.nan, ONE)
    with xc.enable_x64():
        for more in ({"e": broken}, {"s": broken}):
            found = la.solve_continuous_are(ONE, ONE, ONE, ONE, report=True, **more)
            assert Status(int(found.status)) is Status.not_finite


def test_singular_ones_are_told_as_such():
    with xc.enable_x64():
        for name in ("solve", "solve, symmetric", "inv", "lstsq, qr"):
            assert Status(int(CALLS[name](np.ones((3, 3))).status)) is Status.singular, name
        assert (
            Status(int(la.solve_sylvester(ONE, -ONE, ONE, report=True).status)) is Status.singular
        )
        assert Status(int(la.logm(0 * ONE, report=True).status)) is Status.singular


@pytest.mark.parametrize("method", ["svd", "qr"])
@pytest.mark.parametrize("unit", [1e-20, 1.0, 1e20])
def test_least_squares_without_a_digit_are_no_success(method, unit):
    rng = np.random.default_rng(1)
    u = np.linalg.qr(rng.standard_normal((6, 6)))[0][:, :5]
    v = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    with xc.enable_x64():
        nothing = la.lstsq(
            (u * np.logspace(0, -14, 5)) @ v.T * unit, np.zeros(6), method=method, report=True
        )
        assert nothing.ok and not np.any(nothing.value)
        for k in range(4, 18):
            found = la.lstsq(
                (u * np.logspace(0, -k, 5)) @ v.T * unit,
                np.arange(1, 7.0),
                method=method,
                report=True,
            )
            assert found.ok == (float(found.certificate.error) <= 0.1), k
            assert found.ok or Status(int(found.status)) in (
                Status.ill_conditioned,
                Status.singular,
            )
