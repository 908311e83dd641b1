"""Derivatives where functions end: polynomials beyond the circle, poles, overflow. Beside mpmath, or in closed form."""

import mpmath as mp
import numpy as np
import pytest

import xcore as xc
from xcore import special


def _slopes(f, *args):
    with xc.enable_x64():
        return [
            float(v) for v in xc.grad(f, argnums=tuple(range(len(args))))(*map(np.float64, args))
        ]


def _exact(f, args, i):
    with mp.workdps(40):
        return float(
            mp.diff(lambda t: f(*[t if k == i else mp.mpf(v) for k, v in enumerate(args)]), args[i])
        )


@pytest.mark.parametrize("a", [-1.0, -2.0, -3.0])
@pytest.mark.parametrize("c", [1.5, 3.0, -5.0])
def test_polynomials_of_gauss(a, c):
    """In the other parameters they are polynomials beyond 1, and at poles of c; in a they have no derivative there."""
    for b in (3.0, -4.0, 0.7):
        for x in (5.0, 1.5, 1.0, -5.0, 0.5):
            found = _slopes(special.hyp2f1, a, b, c, x)
            for i in (2, 3) if b < 0 else (1, 2, 3):
                want = _exact(mp.hyp2f1, (a, b, c, x), i)
                assert found[i] == pytest.approx(want, rel=1e-9, abs=1e-12), (a, b, c, x, i)
            if b > 0 and (x > 1 or c < 0):
                assert np.isnan(found[0])
            swapped = _slopes(special.hyp2f1, b, a, c, x)
            np.testing.assert_allclose(swapped, [found[1], found[0], *found[2:]], rtol=1e-12)


def test_gauss_has_no_slope_where_it_is_not_a_number():
    assert all(np.isnan(v) for v in _slopes(special.hyp2f1, 0.5, 3.0, 3.0, 2.0))
    assert np.isnan(_slopes(special.hyp2f1, 0.5, 3.0, -5.0, 0.5)[:3]).all()


@pytest.mark.parametrize("a", [1.0, 2.0, 0.5, -1.5])
@pytest.mark.parametrize("x", [-60.0, -100.0, -1000.0, 60.0])
def test_kummer_far_from_0(a, x):
    """The series far on the left ends where b - a is a whole number; its derivatives do not."""
    for b in (a + 1, a + 3, 2.5, 0.7):
        found = _slopes(special.hyp1f1, a, b, x)
        for i in range(3):
            want = _exact(mp.hyp1f1, (a, b, x), i)
            assert found[i] == pytest.approx(want, rel=1e-8), (a, b, x, i)


def test_zeta_at_its_pole():
    for order in (1, 2, 3):
        f = special.zeta
        for _ in range(order):
            f = xc.grad(f)
        assert np.isnan(f(1.0)) and np.isfinite(f(1.5))
    assert np.isnan(xc.grad(special.zeta)(1.0, 2.0))


@pytest.mark.parametrize("x", [800.0, 700.0, 1.0, 0.999, 0.0, -1.0, -50.0, -800.0, np.inf])
def test_exprel_to_the_ends(x):
    want = (
        (x - 1) * mp.exp(x) / mp.mpf(x) ** 2 + 1 / mp.mpf(x) ** 2 if np.isfinite(x) and x else 0.5
    )
    want = np.inf if x in (800.0, np.inf) else float(want)
    assert _slopes(special.exprel, x)[0] == pytest.approx(want, rel=1e-11)
