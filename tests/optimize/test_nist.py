"""Least squares beside NIST's Statistical Reference Datasets for nonlinear regression: 27 data sets, each from two starts.

``nist.npz`` has of each data set NIST's observations (y in the first row, what it depends on below), the two starts, the
certified parameters and their standard deviations (rows of ``_parameters``), and the certified sum of squares: all to 11
digits. (https://www.itl.nist.gov/div898/strd/nls/nls_main.shtml)
"""

from pathlib import Path

import numpy as np
import pytest

import xcore.numpy as xnp
import xcore.optimize as xo
from xcore.numpy import arctan, cos, exp, log, pi, sin

DATA = np.load(Path(__file__).with_name("nist.npz"))


def _saturation(x, a, b):
    return a * (1 - exp(-b * x))


def _decay_of_a_ratio(x, a, b, c):
    return exp(-a * x) / (b + c * x)


def _three_decays(x, a, b, c, d, e, f):
    return a * exp(-b * x) + c * exp(-d * x) + e * exp(-f * x)


def _two_peaks(x, a, b, c, d, e, f, g, h):
    return a * exp(-b * x) + c * exp(-(((x - d) / e) ** 2)) + f * exp(-(((x - g) / h) ** 2))


def _cubic_ratio(x, a, b, c, d, e, f, g):
    return (a + x * (b + x * (c + x * d))) / (1 + x * (e + x * (f + x * g)))


def _cycles(x, a, b, c, d, e, f, g, h, i):
    year, slow, slower = (2 * pi * x / period for period in (12, d, g))
    turns = b * cos(year) + c * sin(year) + e * cos(slow) + f * sin(slow)
    return a + turns + h * cos(slower) + i * sin(slower)


def _logistic(x, a, b, c, d=1.0):
    return a / (1 + exp(b - c * x)) ** (1 / d)


MODELS = {
    "Bennett5": lambda x, a, b, c: a * (b + x) ** (-1 / c),
    "BoxBOD": _saturation,
    "Chwirut1": _decay_of_a_ratio,
    "Chwirut2": _decay_of_a_ratio,
    "DanWood": lambda x, a, b: a * x**b,
    "ENSO": _cycles,
    "Eckerle4": lambda x, a, b, c: a / b * exp(-(((x - c) / b) ** 2) / 2),
    "Gauss1": _two_peaks,
    "Gauss2": _two_peaks,
    "Gauss3": _two_peaks,
    "Hahn1": _cubic_ratio,
    "Kirby2": lambda x, a, b, c, d, e: (a + x * (b + x * c)) / (1 + x * (d + x * e)),
    "Lanczos1": _three_decays,
    "Lanczos2": _three_decays,
    "Lanczos3": _three_decays,
    "MGH09": lambda x, a, b, c, d: a * (x**2 + b * x) / (x**2 + c * x + d),
    "MGH10": lambda x, a, b, c: a * exp(b / (x + c)),
    "MGH17": lambda x, a, b, c, d, e: a + b * exp(-d * x) + c * exp(-e * x),
    "Misra1a": _saturation,
    "Misra1b": lambda x, a, b: a * (1 - (1 + b * x / 2) ** -2),
    "Misra1c": lambda x, a, b: a * (1 - (1 + 2 * b * x) ** -0.5),
    "Misra1d": lambda x, a, b: a * b * x / (1 + b * x),
    "Nelson": lambda x, a, b, c: a - b * x[0] * exp(-c * x[1]),
    "Rat42": _logistic,
    "Rat43": _logistic,
    "Roszman1": lambda x, a, b, c, d: a - b * x - arctan(c / (x - d)) / pi,
    "Thurber": _cubic_ratio,
}


def _observations(name):
    y, *x = DATA[f"{name}_data"]
    # Nelson's model is one of logarithms
    return xnp.asarray(x[0] if len(x) == 1 else np.stack(x)), log(
        y
    ) if name == "Nelson" else xnp.asarray(y)


@pytest.mark.parametrize("start", [1, 2])
@pytest.mark.parametrize("name", MODELS)
def test_certified_digits(name, start):
    x, y = _observations(name)
    p0, p, errors = DATA[f"{name}_parameters"][[start - 1, 2, 3]]
    fit = xo.curve_fit(MODELS[name], x, y, p0)
    assert fit.result.success
    np.testing.assert_allclose(fit.popt, p, rtol=1e-9)
    if name != "Lanczos1":  # whose residuals are the rounding of its 14 digits
        np.testing.assert_allclose(fit.stderr, errors, rtol=1e-8)
        np.testing.assert_allclose(2 * fit.result.stats["cost"], DATA[f"{name}_rss"], rtol=1e-9)
