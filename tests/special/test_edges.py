"""At poles, infinities, NaN, zeros of both signs and whole numbers: what SciPy gives."""

import itertools

import numpy as np
import pytest
import scipy.special as scipy_special

import xcore.numpy as xnp
import xcore.special as special
from tests.special.table import POINTS

LINE = [
    -np.inf,
    -2.5,
    -2,
    -1,
    -0.5,
    -1e-300,
    -0.0,
    0.0,
    1e-300,
    0.5,
    1,
    1.5,
    2,
    3,
    30,
    200,
    1e5,
    np.inf,
    np.nan,
]
FEW = [-np.inf, -2.5, -2, -1, -0.0, 0.0, 0.5, 1, 2, 30, np.inf, np.nan]
TRIPLES = [-1, 0, 0.5, 1, 2, np.inf, np.nan]
ONE = """erf erfc erfcx erfi erfinv erfcinv ndtr log_ndtr ndtri dawsn gamma gammaln gammasgn rgamma
    digamma expit logit log_expit entr exprel exp1 expi spence ellipk ellipkm1 ellipe j0 j1 y0 y1
    i0 i0e i1 i1e k0 k0e k1 k1e""".split()
TWO = """beta betaln poch gammainc gammaincc gammaincinv gammainccinv rel_entr kl_div xlogy xlog1py
    zeta polygamma owens_t""".split()
THREE = "betainc betaincc".split()

# What is kept different, as a condition on the arguments, and why.
NAN_IN_NAN_OUT = lambda *xs: any(map(np.isnan, xs))
DIFFERENT = {
    "j0": lambda x: np.isinf(x),  # 0, the limit; SciPy: NaN
    "j1": lambda x: np.isinf(x),
    "y0": lambda x: np.isinf(x),
    "y1": lambda x: np.isinf(x),
    "spence": lambda x: np.isinf(x),  # -∞, the limit
    "gammaln": lambda x: x == -np.inf,  # ∞, as at the other poles; SciPy: -∞
    "beta": lambda a, b: (
        a == b == np.inf or a < 0 or b < 0 or np.inf in (-a, -b)
    ),  # signs at poles, one-sided limits
    "betaln": lambda a, b: (
        a == b == np.inf or np.inf in (-a, -b) or (np.inf in (a, b) and min(a, b) <= 0)
    ),
    "poch": lambda z, m: np.isinf([z, m]).any(),
    "gammaincinv": lambda a, p: a == 0 or np.isinf(a),
    "gammainccinv": lambda a, p: a == 0 or np.isinf(a),
    "polygamma": lambda n, x: n == 30 and x < 0,  # SciPy loses all digits
    "zeta": lambda s, q: np.isinf([s, q]).any(),
    "betainc": lambda a, b, x: np.isinf([a, b]).any(),
    "betaincc": lambda a, b, x: np.isinf([a, b]).any(),
}

SMALL = {"betaln": 1e-15}  # the logarithm of what is 1 but for rounding


def chunks(points: np.ndarray):
    """Batches of one size, so that there is one program; it serves the accuracy tests as well."""
    missing = -len(points[0]) % POINTS
    padded = np.pad(points, ((0, 0), (0, missing)), mode="edge")
    return np.split(padded, padded.shape[1] // POINTS, axis=1)


def compare(name: str, points: np.ndarray) -> None:
    f, exact = getattr(special, name), getattr(scipy_special, name)
    for batch in chunks(points):
        got = np.asarray(f(*map(xnp.asarray, batch)))
        with np.errstate(all="ignore"):
            known = exact(*batch)
        for *xs, a, b in zip(*batch, got, known, strict=True):
            same = np.isclose(a, b, rtol=1e-9, atol=SMALL.get(name, 1e-300), equal_nan=True)
            if not same and not NAN_IN_NAN_OUT(*xs) and not DIFFERENT.get(name, bool)(*xs):
                raise AssertionError(f"{name}{tuple(map(float, xs))} is {a}, SciPy's is {b}")
            assert np.isnan(a) or not NAN_IN_NAN_OUT(*xs), xs


@pytest.mark.parametrize("name", ONE)
def test_one_argument(name):
    compare(name, np.array([LINE]))


@pytest.mark.parametrize("name", TWO)
def test_two_arguments(name):
    compare(name, np.array(list(itertools.product(FEW, FEW))).T)


@pytest.mark.parametrize("name", THREE)
def test_three_arguments(name):
    compare(name, np.array(list(itertools.product(TRIPLES, TRIPLES, TRIPLES))).T)


def test_zeros_keep_their_sign():
    zero = xnp.asarray([-0.0, 0.0])
    for name in ("erf", "erfi", "erfinv", "dawsn", "gamma", "gammasgn", "j1", "i1"):
        np.testing.assert_array_equal(np.signbit(getattr(special, name)(zero)), [True, False], name)
