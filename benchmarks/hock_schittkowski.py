"""Test problems of W. Hock and K. Schittkowski, Test Examples for Nonlinear Programming Codes (1981).

Each row: number, objective, equations, inequalities (>= 0), bounds, start, the least value published.
"""

from math import log, pi, sqrt
from typing import Any, NamedTuple

import numpy as np

import xcore.numpy as xnp


class Problem(NamedTuple):
    number: int
    f: Any
    eq: Any
    ineq: Any
    bounds: Any
    start: Any
    least: float


INF = np.inf


def rows(f):
    """A function of the coordinates that returns several numbers, as one of the vector."""
    return None if f is None else lambda x: xnp.stack([xnp.asarray(v, x.dtype) for v in f(*x)])


def scalar(f):
    return lambda x: f(*x)


def banana(a, b):
    return 100 * (b - a**2) ** 2 + (1 - a) ** 2


def quadratic5(a, b, c, d, e):
    return (a - b) ** 2 + (b + c - 2) ** 2 + (d - 1) ** 2 + (e - 1) ** 2


def powers5(a, b, c, d, e):
    return (a - b) ** 2 + (c - 1) ** 2 + (d - 1) ** 4 + (e - 1) ** 6


def linear5(a, b, c, d, e):
    return a + 3 * b, c + d - 2 * e, b - e


def product5(a, b, c, d, e):
    squares = a**2 + b**2 + c**2 + d**2 + e**2
    return squares - 10, b * c - 5 * d * e, a**3 + b**3 + 1


R2, R3, R7 = sqrt(2), sqrt(3), sqrt(7)
POSITIVE = (0.0, None)
# fmt: off
TABLE = (
    (1, banana, None, None, ((-INF, -1.5), None), (-2, 1), 0),
    (2, banana, None, None, ((-INF, 1.5), None), (-2, 1), 0.0504261879),
    (3, lambda a, b: b + 1e-5 * (b - a) ** 2, None, None, ((-INF, 0), None), (10, 1), 0),
    (4, lambda a, b: (a + 1) ** 3 / 3 + b, None, None, ((1, 0), None), (1.125, 0.125), 8 / 3),
    (5, lambda a, b: xnp.sin(a + b) + (a - b) ** 2 - 1.5 * a + 2.5 * b + 1, None, None,
     ((-1.5, -3), (4, 3)), (0, 0), -R3 / 2 - pi / 3),
    (6, lambda a, b: (1 - a) ** 2, lambda a, b: (10 * (b - a**2),), None, None, (-1.2, 1), 0),
    (7, lambda a, b: xnp.log(1 + a**2) - b, lambda a, b: ((1 + a**2) ** 2 + b**2 - 4,), None, None, (2, 2), -R3),
    (8, lambda a, b: 0 * a - 1, lambda a, b: (a**2 + b**2 - 25, a * b - 9), None, None, (2, 1), -1),
    (9, lambda a, b: xnp.sin(pi * a / 12) * xnp.cos(pi * b / 16), lambda a, b: (4 * a - 3 * b,), None, None,
     (0, 0), -0.5),
    (10, lambda a, b: a - b, None, lambda a, b: (-3 * a**2 + 2 * a * b - b**2 + 1,), None, (-10, 10), -1),
    (11, lambda a, b: (a - 5) ** 2 + b**2 - 25, None, lambda a, b: (b - a**2,), None, (4.9, 0.1), -8.498464223),
    (12, lambda a, b: 0.5 * a**2 + b**2 - a * b - 7 * a - 7 * b, None, lambda a, b: (25 - 4 * a**2 - b**2,), None,
     (0, 0), -30),
    (13, lambda a, b: (a - 2) ** 2 + b**2, None, lambda a, b: ((1 - a) ** 3 - b,), POSITIVE, (-2, -2), 1),
    (14, lambda a, b: (a - 2) ** 2 + (b - 1) ** 2, lambda a, b: (a - 2 * b + 1,),
     lambda a, b: (1 - 0.25 * a**2 - b**2,), None, (2, 2), 9 - 2.875 * R7),
    (15, banana, None, lambda a, b: (a * b - 1, a + b**2), (None, (0.5, INF)), (-2, 1), 306.5),
    (16, banana, None, lambda a, b: (a + b**2, a**2 + b), ((-0.5, -INF), (0.5, 1)), (-2, 1), 0.25),
    (17, banana, None, lambda a, b: (b**2 - a, a**2 - b), ((-0.5, -INF), (0.5, 1)), (-2, 1), 1),
    (18, lambda a, b: 0.01 * a**2 + b**2, None, lambda a, b: (a * b - 25, a**2 + b**2 - 25), ((2, 0), (50, 50)),
     (2, 2), 5),
    (19, lambda a, b: (a - 10) ** 3 + (b - 20) ** 3, None,
     lambda a, b: ((a - 5) ** 2 + (b - 5) ** 2 - 100, 82.81 - (b - 5) ** 2 - (a - 6) ** 2),
     ((13, 0), (100, 100)), (20.1, 5.84), -6961.81381),
    (20, banana, None, lambda a, b: (a + b**2, a**2 + b, a**2 + b**2 - 1), ((-0.5, -INF), (0.5, INF)), (-2, 1),
     81.5 - 25 * R3),
    (21, lambda a, b: 0.01 * a**2 + b**2 - 100, None, lambda a, b: (10 * a - b - 10,), ((2, -50), (50, 50)),
     (-1, -1), -99.96),
    (22, lambda a, b: (a - 2) ** 2 + (b - 1) ** 2, None, lambda a, b: (2 - a - b, b - a**2), None, (2, 2), 1),
    (23, lambda a, b: a**2 + b**2, None,
     lambda a, b: (a + b - 1, a**2 + b**2 - 1, 9 * a**2 + b**2 - 9, a**2 - b, b**2 - a), (-50.0, 50.0), (3, 1), 2),
    (24, lambda a, b: ((a - 3) ** 2 - 9) * b**3 / (27 * R3), None,
     lambda a, b: (a / R3 - b, a + R3 * b, 6 - a - R3 * b), POSITIVE, (1, 0.5), -1),
    (26, lambda a, b, c: (a - b) ** 2 + (b - c) ** 4, lambda a, b, c: ((1 + b**2) * a + c**4 - 3,), None, None,
     (-2.6, 2, 2), 0),
    (27, lambda a, b, c: 0.01 * (a - 1) ** 2 + (b - a**2) ** 2, lambda a, b, c: (a + c**2 + 1,), None, None,
     (2, 2, 2), 0.04),
    (28, lambda a, b, c: (a + b) ** 2 + (b + c) ** 2, lambda a, b, c: (a + 2 * b + 3 * c - 1,), None, None,
     (-4, 1, 1), 0),
    (29, lambda a, b, c: -a * b * c, None, lambda a, b, c: (48 - a**2 - 2 * b**2 - 4 * c**2,), None, (1, 1, 1),
     -16 * R2),
    (30, lambda a, b, c: a**2 + b**2 + c**2, None, lambda a, b, c: (a**2 + b**2 - 1,), ((1, -10, -10), 10.0),
     (1, 1, 1), 1),
    (31, lambda a, b, c: 9 * a**2 + b**2 + 9 * c**2, None, lambda a, b, c: (a * b - 1,),
     ((-10, 1, -10), (10, 10, 1)), (1, 1, 1), 6),
    (32, lambda a, b, c: (a + 3 * b + c) ** 2 + 4 * (a - b) ** 2, lambda a, b, c: (1 - a - b - c,),
     lambda a, b, c: (6 * b + 4 * c - a**3 - 3,), POSITIVE, (0.1, 0.7, 0.2), 1),
    (33, lambda a, b, c: (a - 1) * (a - 2) * (a - 3) + c, None,
     lambda a, b, c: (c**2 - b**2 - a**2, a**2 + b**2 + c**2 - 4), (0.0, (INF, INF, 5)), (0, 0, 3), R2 - 6),
    (34, lambda a, b, c: -a, None, lambda a, b, c: (b - xnp.exp(a), c - xnp.exp(b)), (0.0, (100, 100, 10)),
     (0, 1.05, 2.9), -log(log(10))),
    (35, lambda a, b, c: 9 - 8 * a - 6 * b - 4 * c + 2 * a**2 + 2 * b**2 + c**2 + 2 * a * b + 2 * a * c, None,
     lambda a, b, c: (3 - a - b - 2 * c,), POSITIVE, (0.5, 0.5, 0.5), 1 / 9),
    (36, lambda a, b, c: -a * b * c, None, lambda a, b, c: (72 - a - 2 * b - 2 * c,), (0.0, (20, 11, 42)),
     (10, 10, 10), -3300),
    (37, lambda a, b, c: -a * b * c, None, lambda a, b, c: (72 - a - 2 * b - 2 * c, a + 2 * b + 2 * c), (0.0, 42.0),
     (10, 10, 10), -3456),
    (38, lambda a, b, c, d: banana(a, b) + 90 * (d - c**2) ** 2 + (1 - c) ** 2
     + 10.1 * ((b - 1) ** 2 + (d - 1) ** 2) + 19.8 * (b - 1) * (d - 1), None, None, (-10.0, 10.0),
     (-3, -1, -3, -1), 0),
    (39, lambda a, b, c, d: -a, lambda a, b, c, d: (b - a**3 - c**2, a**2 - b - d**2), None, None, (2, 2, 2, 2), -1),
    (40, lambda a, b, c, d: -a * b * c * d, lambda a, b, c, d: (a**3 + b**2 - 1, a**2 * d - c, d**2 - b), None, None,
     (0.8, 0.8, 0.8, 0.8), -0.25),
    (41, lambda a, b, c, d: 2 - a * b * c, lambda a, b, c, d: (a + 2 * b + 2 * c - d,), None, (0.0, (1, 1, 1, 2)),
     (2, 2, 2, 2), 52 / 27),
    (42, lambda a, b, c, d: (a - 1) ** 2 + (b - 2) ** 2 + (c - 3) ** 2 + (d - 4) ** 2,
     lambda a, b, c, d: (a - 2, c**2 + d**2 - 2), None, None, (1, 1, 1, 1), 28 - 10 * R2),
    (43, lambda a, b, c, d: a**2 + b**2 + 2 * c**2 + d**2 - 5 * a - 5 * b - 21 * c + 7 * d, None,
     lambda a, b, c, d: (8 - a**2 - b**2 - c**2 - d**2 - a + b - c + d,
                         10 - a**2 - 2 * b**2 - c**2 - 2 * d**2 + a + d,
                         5 - 2 * a**2 - b**2 - c**2 - 2 * a + b + d), None, (0, 0, 0, 0), -44),
    (44, lambda a, b, c, d: a - b - c - a * c + a * d + b * c - b * d, None,
     lambda a, b, c, d: (8 - a - 2 * b, 12 - 4 * a - b, 12 - 3 * a - 4 * b, 8 - 2 * c - d, 8 - c - 2 * d, 5 - c - d),
     POSITIVE, (0, 0, 0, 0), -15),
    (45, lambda a, b, c, d, e: 2 - a * b * c * d * e / 120, None, None, (0.0, (1, 2, 3, 4, 5)), (2, 2, 2, 2, 2), 1),
    (46, powers5, lambda a, b, c, d, e: (a**2 * d + xnp.sin(d - e) - 1, b + c**4 * d**2 - 2), None, None,
     (R2 / 2, 1.75, 0.5, 2, 2), 0),
    (47, lambda a, b, c, d, e: (a - b) ** 2 + (b - c) ** 3 + (c - d) ** 4 + (d - e) ** 4,
     lambda a, b, c, d, e: (a + b**2 + c**3 - 3, b - c**2 + d - 1, a * e - 1), None, None,
     (2, R2, -1, 2 - R2, 0.5), 0),
    (48, lambda a, b, c, d, e: (a - 1) ** 2 + (b - c) ** 2 + (d - e) ** 2,
     lambda a, b, c, d, e: (a + b + c + d + e - 5, c - 2 * (d + e) + 3), None, None, (3, 5, -3, 2, -2), 0),
    (49, powers5, lambda a, b, c, d, e: (a + b + c + 4 * d - 7, c + 5 * e - 6), None, None, (10, 7, 2, -3, 0.8), 0),
    (50, lambda a, b, c, d, e: (a - b) ** 2 + (b - c) ** 2 + (c - d) ** 4 + (d - e) ** 2,
     lambda a, b, c, d, e: (a + 2 * b + 3 * c - 6, b + 2 * c + 3 * d - 6, c + 2 * d + 3 * e - 6), None, None,
     (35, -31, 11, 5, -5), 0),
    (51, quadratic5, lambda a, b, c, d, e: (a + 3 * b - 4, c + d - 2 * e, b - e), None, None,
     (2.5, 0.5, 2, -1, 0.5), 0),
    (52, lambda a, b, c, d, e: (4 * a - b) ** 2 + (b + c - 2) ** 2 + (d - 1) ** 2 + (e - 1) ** 2, linear5, None, None,
     (2, 2, 2, 2, 2), 1859 / 349),
    (53, quadratic5, linear5, None, (-10.0, 10.0), (2, 2, 2, 2, 2), 176 / 43),
    (60, lambda a, b, c: (a - 1) ** 2 + (a - b) ** 2 + (b - c) ** 4,
     lambda a, b, c: (a * (1 + b**2) + c**4 - 4 - 3 * R2,), None, (-10.0, 10.0), (2, 2, 2), 0.03256820025),
    (61, lambda a, b, c: 4 * a**2 + 2 * b**2 + 2 * c**2 - 33 * a + 16 * b - 24 * c,
     lambda a, b, c: (3 * a - 2 * b**2 - 7, 4 * a - c**2 - 11), None, None, (0, 0, 0), -143.6461422),
    (63, lambda a, b, c: 1000 - a**2 - 2 * b**2 - c**2 - a * b - a * c,
     lambda a, b, c: (8 * a + 14 * b + 7 * c - 56, a**2 + b**2 + c**2 - 25), None, POSITIVE, (2, 2, 2), 961.7151721),
    (64, lambda a, b, c: 5 * a + 50000 / a + 20 * b + 72000 / b + 10 * c + 144000 / c, None,
     lambda a, b, c: (1 - 4 / a - 32 / b - 120 / c,), (1e-5, None), (1, 1, 1), 6299.842428),
    (65, lambda a, b, c: (a - b) ** 2 + (a + b - 10) ** 2 / 9 + (c - 5) ** 2, None,
     lambda a, b, c: (48 - a**2 - b**2 - c**2,), ((-4.5, -4.5, -5), (4.5, 4.5, 5)), (-5, 5, 0), 0.9535288567),
    (66, lambda a, b, c: 0.2 * c - 0.8 * a, None, lambda a, b, c: (b - xnp.exp(a), c - xnp.exp(b)),
     (0.0, (100, 100, 10)), (0, 1.05, 2.9), 0.5181632741),
    (71, lambda a, b, c, d: a * d * (a + b + c) + c, lambda a, b, c, d: (a**2 + b**2 + c**2 + d**2 - 40,),
     lambda a, b, c, d: (a * b * c * d - 25,), (1.0, 5.0), (1, 5, 5, 1), 17.0140173),
    (72, lambda a, b, c, d: 1 + a + b + c + d, None,
     lambda a, b, c, d: (0.0401 - 4 / a - 2.25 / b - 1 / c - 0.25 / d,
                         0.010085 - 0.16 / a - 0.36 / b - 0.64 / c - 0.64 / d),
     (0.001, (4e5, 3e5, 2e5, 1e5)), (1, 1, 1, 1), 727.67937),
    (76, lambda a, b, c, d: a**2 + 0.5 * b**2 + c**2 + 0.5 * d**2 - a * c + c * d - a - 3 * b + c - d, None,
     lambda a, b, c, d: (5 - a - 2 * b - c - d, 4 - 3 * a - b - 2 * c + d, b + 4 * c - 1.5), POSITIVE,
     (0.5, 0.5, 0.5, 0.5), -4.681818181),
    (77, lambda a, b, c, d, e: (a - 1) ** 2 + powers5(a, b, c, d, e),
     lambda a, b, c, d, e: (a**2 * d + xnp.sin(d - e) - 2 * R2, b + c**4 * d**2 - 8 - R2), None, None,
     (2, 2, 2, 2, 2), 0.24150513),
    (78, lambda a, b, c, d, e: a * b * c * d * e, product5, None, None, (-2, 1.5, 2, -1, -1), -2.91970041),
    (79, lambda a, b, c, d, e: (a - 1) ** 2 + (a - b) ** 2 + (b - c) ** 2 + (c - d) ** 4 + (d - e) ** 4,
     lambda a, b, c, d, e: (a + b**2 + c**3 - 2 - 3 * R2, b - c**2 + d + 2 - 2 * R2, a * e - 2), None, None,
     (2, 2, 2, 2, 2), 0.0787768209),
    (80, lambda a, b, c, d, e: xnp.exp(a * b * c * d * e), product5, None,
     ((-2.3, -2.3, -3.2, -3.2, -3.2), (2.3, 2.3, 3.2, 3.2, 3.2)), (-2, 2, 2, -1, -1), 0.0539498478),
    (81, lambda a, b, c, d, e: xnp.exp(a * b * c * d * e) - 0.5 * (a**3 + b**3 + 1) ** 2, product5, None,
     ((-2.3, -2.3, -3.2, -3.2, -3.2), (2.3, 2.3, 3.2, 3.2, 3.2)), (-2, 2, 2, -1, -1), 0.0539498478),
    (100, lambda a, b, c, d, e, f, g: (a - 10) ** 2 + 5 * (b - 12) ** 2 + c**4 + 3 * (d - 11) ** 2 + 10 * e**6
     + 7 * f**2 + g**4 - 4 * f * g - 10 * f - 8 * g, None,
     lambda a, b, c, d, e, f, g: (127 - 2 * a**2 - 3 * b**4 - c - 4 * d**2 - 5 * e,
                                  282 - 7 * a - 3 * b - 10 * c**2 - d + e,
                                  196 - 23 * a - b**2 - 6 * f**2 + 8 * g,
                                  -4 * a**2 - b**2 + 3 * a * b - 2 * c**2 - 5 * f + 11 * g),
     None, (1, 2, 0, 4, 0, 1, 1), 680.6300573),
    (113, lambda a, b, c, d, e, f, g, h, i, j: a**2 + b**2 + a * b - 14 * a - 16 * b + (c - 10) ** 2
     + 4 * (d - 5) ** 2 + (e - 3) ** 2 + 2 * (f - 1) ** 2 + 5 * g**2 + 7 * (h - 11) ** 2 + 2 * (i - 10) ** 2
     + (j - 7) ** 2 + 45, None,
     lambda a, b, c, d, e, f, g, h, i, j: (
         105 - 4 * a - 5 * b + 3 * g - 9 * h, -10 * a + 8 * b + 17 * g - 2 * h, 8 * a - 2 * b - 5 * i + 2 * j + 12,
         -3 * (a - 2) ** 2 - 4 * (b - 3) ** 2 - 2 * c**2 + 7 * d + 120,
         -5 * a**2 - 8 * b - (c - 6) ** 2 + 2 * d + 40, -0.5 * (a - 8) ** 2 - 2 * (b - 4) ** 2 - 3 * e**2 + f + 30,
         -a**2 - 2 * (b - 2) ** 2 + 2 * a * b - 14 * e + 6 * f, 3 * a - 6 * b - 12 * (i - 8) ** 2 + 7 * j),
     None, (2, 3, 5, 5, 1, 2, 7, 3, 6, 10), 24.3062091),
)
# fmt: on


def _side(side):
    return np.asarray(side, float) if isinstance(side, tuple) else side


def problems() -> list[Problem]:
    """The table with vectors in place of coordinates."""
    return [
        Problem(
            n, scalar(f), rows(eq), rows(ineq), bounds and tuple(map(_side, bounds)),
            np.asarray(start, float), float(least),
        )
        for n, f, eq, ineq, bounds, start, least in TABLE
    ]  # fmt: skip
