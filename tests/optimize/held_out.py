"""Standard problems that no constant of the package was tuned on.

Unconstrained ones are of the collections CUTEst (Gould, Orban, Toint 2015) and of Molga and Smutnicki (2005),
without those of Moré, Garbow and Hillstrom; constrained ones of Hock and Schittkowski (1981), without those that
``benchmarks/hock_schittkowski.py`` has. Each row: function of a vector, start, published least values.
"""

import numpy as np

import xcore as xc
import xcore.numpy as xnp

sin, cos, exp, log = xnp.sin, xnp.cos, xnp.exp, xnp.log
TIMES = np.arange(1, 11) / 4


def square(*values):
    return sum(v**2 for v in values)


def allinitu(x):
    a, b, c, d = x
    return (c - 1 + a**2 + b**2 + (c + d) ** 2 + 2 * sin(c) ** 2 + (a * b) ** 2 + d - 3 + (d - 1) ** 2 + b**4
            + (c**2 + (d + a) ** 2) ** 2 + (a - 4 + sin(d) ** 2 + (b * c) ** 2) ** 2 + sin(d) ** 4)  # fmt: skip


def cragglvy(x):
    a, b, c, d = x
    return (exp(a) - b) ** 4 + 100 * (b - c) ** 6 + xnp.tan(c - d) ** 4 + a**8 + (d - 1) ** 2


def engval2(x):
    a, b, c = x
    return square(
        a**2 + b**2 + c**2 - 1, a**2 + b**2 + (c - 2) ** 2 - 1, a + b + c - 1, a + b - c + 1,
        3 * b**2 + a**3 + (5 * c - a + 1) ** 2 - 36,
    )  # fmt: skip


def branin(x):
    a, b = x
    return (
        (b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6) ** 2
        + 10 * (1 - 1 / (8 * np.pi)) * cos(a)
        + 10
    )


def goldstein_price(x):
    a, b = x
    left = 1 + (a + b + 1) ** 2 * (19 - 14 * a + 3 * a**2 - 14 * b + 6 * a * b + 3 * b**2)
    right = 30 + (2 * a - 3 * b) ** 2 * (18 - 32 * a + 12 * a**2 + 48 * b - 36 * a * b + 27 * b**2)
    return left * right


HARTMANN = np.array([[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]])
CENTRES = (
    np.array([[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]) * 1e-4
)


def hartmann(x):
    return -xnp.sum(
        np.array([1, 1.2, 3, 3.2]) * exp(-xnp.sum(HARTMANN * (x - CENTRES) ** 2, axis=1))
    )


def levy(x):
    w = 1 + (x - 1) / 4
    ends = sin(np.pi * w[0]) ** 2 + (w[-1] - 1) ** 2 * (1 + sin(2 * np.pi * w[-1]) ** 2)
    return ends + xnp.sum((w[:-1] - 1) ** 2 * (1 + 10 * sin(np.pi * w[:-1] + 1) ** 2))


def sinquad(x):
    middle = sin(x[1:-1] - x[-1]) - x[0] ** 2 + x[1:-1] ** 2
    return (x[0] - 1) ** 4 + xnp.sum(middle**2) + (x[-1] ** 2 - x[0] ** 2) ** 2


def bdqrtic(x):
    a, b, c, d = x[:-4], x[1:-3], x[2:-2], x[3:-1]
    return xnp.sum((3 - 4 * a) ** 2 + (a**2 + 2 * b**2 + 3 * c**2 + 4 * d**2 + 5 * x[-1] ** 2) ** 2)


def zakharov(x):
    line = xnp.sum(0.5 * np.arange(1, 6) * x)
    return xnp.sum(x**2) + line**2 + line**4


def schmvett(x):
    a, b, c = x[:-2], x[1:-1], x[2:]
    return -xnp.sum(
        1 / (1 + (a - b) ** 2) + sin((np.pi * b + c) / 2) + exp(-(((a + c) / b - 2) ** 2))
    )


N = 8  # of the problems that can have any number of variables
I = np.arange(1.0, N + 1)
HILBERT = 1 / (I[:, None] + I - 1)
CAMEL = lambda x: (4 - 2.1 * x[0] ** 2 + x[0] ** 4 / 3) * x[0] ** 2 + x[0] * x[1] + 4 * (x[1] ** 2 - 1) * x[1] ** 2  # fmt: skip

# name: (function, start, known least values; None where there are many)
FREE = {
    "Himmelblau": (lambda x: (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2, (1, 1), 0),
    "CUBE": (lambda x: (x[0] - 1) ** 2 + 100 * (x[1] - x[0] ** 3) ** 2, (-1.2, 1), 0),
    "BRKMCC": (lambda x: (x[0] - 2) ** 2 + (x[1] - 1) ** 2 + 0.04 / (1 - 0.25 * x[0] ** 2 - x[1] ** 2)
               + 5 * (x[0] - 2 * x[1] + 1) ** 2, (2, 2), 0.16904),
    "CLIFF": (lambda x: (0.01 * x[0] - 0.03) ** 2 - x[0] + x[1] + exp(20 * (x[0] - x[1])), (0, -1), 0.199786613),
    "DENSCHNA": (lambda x: x[0] ** 4 + (x[0] + x[1]) ** 2 + (exp(x[1]) - 1) ** 2, (1, 1), 0),
    "DENSCHNB": (lambda x: (x[0] - 2) ** 2 + ((x[0] - 2) * x[1]) ** 2 + (x[1] + 1) ** 2, (1, 1), 0),
    "DENSCHNC": (lambda x: (x[0] ** 2 + x[1] ** 2 - 2) ** 2 + (exp(x[0] - 1) + x[1] ** 3 - 2) ** 2, (2, 3), 0),
    "DENSCHNF": (lambda x: (2 * (x[0] + x[1]) ** 2 + (x[0] - x[1]) ** 2 - 8) ** 2
                 + (5 * x[0] ** 2 + (x[1] - 3) ** 2 - 9) ** 2, (2, 0), 0),
    "EXPFIT": (lambda x: xnp.sum((x[0] * exp(TIMES * x[1]) - TIMES) ** 2), (0, 0), 0.2405106),
    "HIMMELBB": (lambda x: (x[0] * x[1] * (1 - x[0]) * (1 - x[1] - x[0] * (1 - x[0]) ** 5)) ** 2, (-1.2, 1), 0),
    "HIMMELBG": (lambda x: exp(-x[0] - x[1]) * (2 * x[0] ** 2 + 3 * x[1] ** 2), (0.5, 0.5), 0),
    "HIMMELBH": (lambda x: -3 * x[0] - 2 * x[1] + 2 + x[0] ** 3 + x[1] ** 2, (0, 2), -1),
    "MARATOSB": (lambda x: x[0] + 1e6 * (x[0] ** 2 + x[1] ** 2 - 1) ** 2, (1.1, 0.1), -1.00000006),
    "S308": (lambda x: (x[0] ** 2 + x[0] * x[1] + x[1] ** 2) ** 2 + sin(x[0]) ** 2 + cos(x[1]) ** 2,
             (3, 0.1), 0.773199),
    "SINEVAL": (lambda x: 1e4 * (x[1] - sin(x[0])) ** 2 + 0.25 * x[0] ** 2, (4.712389, -1), 0),
    "SISSER": (lambda x: 3 * x[0] ** 4 - 2 * (x[0] * x[1]) ** 2 + 3 * x[1] ** 4, (1, 0.1), 0),
    "ZANGWIL2": (lambda x: (991 - 56 * x[0] - 256 * x[1] + 16 * x[0] ** 2 + 16 * x[1] ** 2 - 8 * x[0] * x[1]) / 15,
                 (3, 8), -18.2),
    "Zettl": (lambda x: (x[0] ** 2 + x[1] ** 2 - 2 * x[0]) ** 2 + 0.25 * x[0], (0.5, 0.5), -0.00379124),
    "McCormick": (lambda x: sin(x[0] + x[1]) + (x[0] - x[1]) ** 2 - 1.5 * x[0] + 2.5 * x[1] + 1, (0, 0), -1.9132230),
    "Branin": (branin, (6, 6), 0.397887),
    "camel": (CAMEL, (-1, 1), (-1.0316285, -0.2154638, 2.1042503)),
    "Goldstein and Price": (goldstein_price, (0.5, -0.5), (3, 30, 84, 840)),
    "Bohachevsky": (lambda x: x[0] ** 2 + 2 * x[1] ** 2 - 0.3 * cos(3 * np.pi * x[0]) - 0.4 * cos(4 * np.pi * x[1]) + 0.7,
                    (0.8, 0.6), None),
    "LOGROS": (lambda x: log(1 + 1e4 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2), (-1.2, 1), 0),
    "three exponentials": (lambda x: exp(x[0] + 3 * x[1] - 0.1) + exp(x[0] - 3 * x[1] - 0.1) + exp(-x[0] - 0.1),
                           (-2, 1), 2 * 2**0.5 * np.exp(-0.1)),
    "HUMPS": (lambda x: 0.05 * (x[0] ** 2 + x[1] ** 2) + (sin(20 * x[0]) * sin(20 * x[1])) ** 2, (-5.06, -5.062), None),
    "a hat": (lambda x: -exp(-(x[0] ** 2) - 2 * x[1] ** 2), (1.5, -1.2), -1),
    "ENGVAL2": (engval2, (1, 2, 0), 0),
    "DENSCHND": (lambda x: (x[0] ** 2 + x[1] ** 3 - x[2] ** 4) ** 2 + (2 * x[0] * x[1] * x[2]) ** 2
                 + (2 * x[0] * x[1] - 3 * x[1] * x[2] + x[0] * x[2]) ** 2, (10, 10, 10), 0),
    "DENSCHNE": (lambda x: x[0] ** 2 + (x[1] + x[1] ** 2) ** 2 + (exp(x[2]) - 1) ** 2, (2, 3, -8), (0, 1)),
    "Hartmann": (hartmann, (0.5, 0.5, 0.5), (-3.86278, -3.0897642, -1.0008)),
    "ALLINITU": (allinitu, (0, 0, 0, 0), 5.74438491),
    "CRAGGLVY": (cragglvy, (1, 2, 2, 2), 0),
    "Styblinski and Tang": (lambda x: 0.5 * xnp.sum(x**4 - 16 * x**2 + 5 * x), (-1, 1, -2, 0.5), None),
    "Zakharov": (zakharov, (3, -2, 1, 2, -1), 0),
    "Levy": (levy, (2, 3, -1, 0, 1.5), None),
    "SCHMVETT": (schmvett, (0.5,) * 5, -9),
    "HILBERTA": (lambda x: x @ (HILBERT @ x), (1,) * N, 0),
    "Dixon and Price": (lambda x: (x[0] - 1) ** 2 + xnp.sum(I[1:] * (2 * x[1:] ** 2 - x[:-1]) ** 2),
                        (1,) * N, (0, 2 / 3)),
    "Trid": (lambda x: xnp.sum((x - 1) ** 2) - xnp.sum(x[1:] * x[:-1]), (0,) * N, -N * (N + 4) * (N - 1) / 6),
    "ARWHEAD": (lambda x: xnp.sum((x[:-1] ** 2 + x[-1] ** 2) ** 2 - 4 * x[:-1] + 3), (1,) * N, 0),
    "BDQRTIC": (bdqrtic, (1,) * N, None),
    "DQDRTIC": (lambda x: xnp.sum(x[:-2] ** 2 + 100 * x[1:-1] ** 2 + 100 * x[2:] ** 2), (3,) * N, 0),
    "EDENSCH": (lambda x: 16 + xnp.sum((x[:-1] - 2) ** 4 + (x[:-1] * x[1:] - 2 * x[1:]) ** 2 + (x[1:] + 1) ** 2),
                (0,) * N, None),
    "GENROSE": (lambda x: 1 + xnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (x[1:] - 1) ** 2),
                tuple(I / (N + 1)), 1),
    "LIARWHD": (lambda x: xnp.sum(4 * (x**2 - x[0]) ** 2 + (x - 1) ** 2), (4,) * N, 0),
    "NONDIA": (lambda x: (x[0] - 1) ** 2 + 100 * xnp.sum((x[0] - x[:-1] ** 2) ** 2), (-1,) * N, 0),
    "NONDQUAR": (lambda x: (x[0] - x[1]) ** 2 + (x[-2] + x[-1]) ** 2 + xnp.sum((x[:-2] + x[1:-1] + x[-1]) ** 4),
                 (1, -1) * (N // 2), 0),
    "POWER": (lambda x: xnp.sum(I * x**2) ** 2, (1,) * N, 0),
    "QUARTC": (lambda x: xnp.sum((x - I) ** 4), (2,) * N, 0),
    "TQUARTIC": (lambda x: (x[0] - 1) ** 2 + xnp.sum((x[0] ** 2 - x[1:] ** 2) ** 2), (0.1,) * N, 0),
    "TRIDIA": (lambda x: (x[0] - 1) ** 2 + xnp.sum(I[1:] * (2 * x[1:] - x[:-1]) ** 2), (1,) * N, 0),
    "SINQUAD": (sinquad, (0.1,) * N, None),
    "EG2": (lambda x: xnp.sum(sin(x[0] + x[:-1] ** 2 - 1)) + 0.5 * sin(x[-1] ** 2), (0.1,) * N, None),
    "sixth order": (lambda x: xnp.sum((x - 1) ** 6), (0.3,) * N, 0),
}  # fmt: skip

# With constraints: Hock and Schittkowski's numbers; rows as in benchmarks/hock_schittkowski.py


def hs83(a, b, c, d, e):
    p = 85.334407 + 0.0056858 * b * e + 0.0006262 * a * d - 0.0022053 * c * e
    q = 80.51249 + 0.0071317 * b * e + 0.0029955 * a * b + 0.0021813 * c**2
    r = 9.300961 + 0.0047026 * c * e + 0.0012547 * a * c + 0.0019085 * c * d
    return p, 92 - p, q - 90, 110 - q, r - 20, 25 - r


COLVILLE = np.array([[30, -20, -10, 32, -10], [-20, 39, -6, -31, 32], [-10, -6, 10, -6, -10],
                     [32, -31, -6, 39, -20], [-10, 32, -10, -20, 30]])  # fmt: skip
ROWS = np.array([
    [-16, 2, 0, 1, 0], [0, -2, 0, 0.4, 2], [-3.5, 0, 2, 0, 0], [0, -2, 0, -4, -1], [0, -9, -2, 1, -2.8],
    [2, 0, -4, 0, 0], [-1, -1, -1, -1, -1], [-1, -2, -3, -2, -1], [1, 2, 3, 4, 5], [1, 1, 1, 1, 1],
])  # fmt: skip
LEAST = np.array([-40, -2, -0.25, -4, -4, -1, -40, -60, 5, 1])


def hs86(*x):
    x = xnp.stack(x)
    return (np.array([-15, -27, -36, -18, -12]) @ x + x @ (COLVILLE @ x)
            + np.array([4, 8, 10, 6, 2]) @ x**3)  # fmt: skip


def hs93(a, b, c, d, e, f):
    s, t = a * d * (a + b + c), b * c * (a + 1.57 * b + d)
    return 0.0204 * s + 0.0187 * t + 0.0607 * s * e**2 + 0.0437 * t * f**2


def hs93_less(a, b, c, d, e, f):
    s, t = a * d * (a + b + c), b * c * (a + 1.57 * b + d)
    return 0.001 * a * b * c * d * e * f - 2.07, 1 - 0.00062 * s * e**2 - 0.00058 * t * f**2


def hs95(*limits):
    def less(a, b, c, d, e, f):
        return (
            17.1 * a + 38.2 * b + 204.2 * c + 212.3 * d + 623.4 * e + 1495.5 * f - 169 * a * c
            - 3580 * c * e - 3810 * d * e - 18500 * d * f - 24300 * e * f - limits[0],
            17.9 * a + 36.8 * b + 113.9 * c + 169.7 * d + 337.8 * e + 1385.2 * f - 139 * a * c
            - 2450 * d * e - 16600 * d * f - 17200 * e * f - limits[1],
            -273 * b - 70 * d - 819 * e + 26000 * d * e - limits[2],
            159.9 * a - 311 * b + 587 * d + 391 * e + 2198 * f - 14000 * a * f - limits[3],
        )  # fmt: skip

    cost = lambda a, b, c, d, e, f: 4.3 * a + 31.8 * b + 63.3 * c + 15.8 * d + 68.5 * e + 4.7 * f
    return cost, None, less, ((0,) * 6, (0.31, 0.046, 0.068, 0.042, 0.028, 0.0134)), (0,) * 6


def hs108_less(a, b, c, d, e, f, g, h, i):
    return (
        1 - c**2 - d**2, 1 - e**2 - f**2, 1 - a**2 - (b - i) ** 2, 1 - (a - e) ** 2 - (b - f) ** 2,
        1 - (a - g) ** 2 - (b - h) ** 2, 1 - (c - e) ** 2 - (d - f) ** 2, 1 - (c - g) ** 2 - (d - h) ** 2,
        1 - g**2 - (h - i) ** 2, a * d - b * c, c * i, -e * i, e * h - f * g, 1 - i**2, i,
    )  # fmt: skip


ENERGIES = np.array(
    [-6.089, -17.164, -34.054, -5.914, -24.721, -14.986, -24.100, -10.708, -26.662, -22.179]
)


def hs112(*x):
    x = xnp.stack(x)
    return xnp.sum(x * (ENERGIES + log(x / xnp.sum(x))))


def powers(*x):
    x = xnp.stack(x)
    return xnp.sum(log(x - 2) ** 2 + log(10 - x) ** 2) - xnp.prod(x) ** 0.2


def generators(width):
    return (
        lambda a, b, c, d: 3 * a + 1e-6 * a**3 + 2 * b + 2e-6 / 3 * b**3,
        lambda a, b, c, d: (
            1000 * (sin(-c - 0.25) + sin(-d - 0.25)) + 894.8 - a,
            1000 * (sin(c - 0.25) + sin(c - d - 0.25)) + 894.8 - b,
            1000 * (sin(d - 0.25) + sin(d - c - 0.25)) + 1294.8,
        ),
        lambda a, b, c, d: (d - c + width, c - d + width),
        ((0, 0, -width, -width), (1200, 1200, width, width)), (0,) * 4,
    )  # fmt: skip


def shares(a, b, c):
    s = b + c + 0.03
    return -32.174 * (
        255 * log((a + s) / (0.09 * a + s)) + 280 * log(s / (0.07 * b + c + 0.03))
        + 290 * log((c + 0.03) / (0.13 * c + 0.03))
    )  # fmt: skip


ANGLE, WIDE = np.arcsin((1 / 4.2) ** 0.5), np.arcsin((5 / 7.2) ** 0.5)
BOUND = {
    55: (lambda a, b, c, d, e, f: a + 2 * b + 4 * e + exp(a * d),
         lambda a, b, c, d, e, f: (a + 2 * b + 5 * e - 6, a + b + c - 3, d + e + f - 2, a + d - 1, b + e - 2, c + f - 2),
         None, ((0,) * 6, (1, np.inf, np.inf, 1, np.inf, np.inf)), (1, 2, 0, 0, 0, 2), (19 / 3, 20 / 3)),
    56: (lambda a, b, c, d, e, f, g: -a * b * c,
         lambda a, b, c, d, e, f, g: (a - 4.2 * sin(d) ** 2, b - 4.2 * sin(e) ** 2, c - 4.2 * sin(f) ** 2,
                                      a + 2 * b + 2 * c - 7.2 * sin(g) ** 2),
         None, None, (1, 1, 1, ANGLE, ANGLE, ANGLE, WIDE), -3.456),
    62: (shares, lambda a, b, c: (a + b + c - 1,), None, (0.0, 1.0), (0.7, 0.2, 0.1), -26272.51448),
    73: (lambda a, b, c, d: 24.55 * a + 26.75 * b + 39 * c + 40.5 * d, lambda a, b, c, d: (a + b + c + d - 1,),
         lambda a, b, c, d: (2.3 * a + 5.6 * b + 11.1 * c + 1.3 * d - 5, 12 * a + 11.9 * b + 41.8 * c + 52.1 * d - 21
                             - 1.645 * (0.28 * a**2 + 0.19 * b**2 + 20.5 * c**2 + 0.62 * d**2) ** 0.5),
         (0.0, None), (1,) * 4, 29.89437816),
    74: (*generators(0.55), 5126.4981), 75: (*generators(0.48), 5174.4129),
    83: (lambda a, b, c, d, e: 5.3578547 * c**2 + 0.8356891 * a * e + 37.293239 * a - 40792.141, None, hs83,
         ((78, 33, 27, 27, 27), (102, 45, 45, 45, 45)), (78, 33, 27, 27, 27), -30665.53867),
    86: (hs86, None, lambda *x: tuple(ROWS @ xnp.stack(x) - LEAST), (0.0, None), (0, 0, 0, 0, 1), -32.34867897),
    93: (hs93, None, hs93_less, (0.0, None), (5.54, 4.4, 12.02, 11.82, 0.702, 0.852), 135.075961),
    95: (*hs95(4.97, -1.88, -29.08, -78.02), 0.015619514), 96: (*hs95(4.97, -1.88, -69.08, -118.02), 0.015619514),
    97: (*hs95(32.97, 25.12, -29.08, -78.02), (3.1358091, 4.0712464)),
    98: (*hs95(32.97, 25.12, -124.08, -173.02), (3.1358091, 4.0712464)),
    108: (lambda a, b, c, d, e, f, g, h, i: -0.5 * (a * d - b * c + c * i - e * i + e * h - f * g), None, hs108_less,
          None, (1,) * 9, (-0.8660254, -0.6749814)),
    110: (powers, None, None, (2.001, 9.999), (9,) * 10, -45.77846971),
    112: (hs112, lambda a, b, c, d, e, f, g, h, i, j: (
        a + 2 * b + 2 * c + f + j - 2, d + 2 * e + f + g - 1, c + g + h + 2 * i + j - 1),
        None, (1e-6, None), (0.1,) * 10, -47.76109026),
}  # fmt: skip


# What is true of a point


def groups(problems) -> dict:
    """Names by the number of variables: problems of as many share one program."""
    found = {}
    for name, (_, start, _) in problems.items():
        found.setdefault(len(start), []).append(name)
    return found


def one_of(names):
    """The function of (which, x) of problems with as many variables."""
    branches = [lambda x, f=FREE[name][0]: f(x).astype(x.dtype) for name in names]
    return lambda which, x: xc.lax.switch(which, branches, x)


def units(n, decades):
    """Units of variables, powers of two from 10^decades to its reciprocal and back."""
    signs = np.where(np.arange(n) % 2, -1, 1) * np.linspace(1, 0.5, n)
    return 2.0 ** np.round(np.log2(10.0) * decades * signs)


def local_of(names):
    """A compiled function of (which, x) with value, gradient and Hessian."""
    f = one_of(names)
    return xc.jit(
        lambda which, x: (f(which, x), xc.grad(f, 1)(which, x), xc.hessian(f, 1)(which, x))
    )


def refined(local, which, x):
    """(the minimum that Newton's method leads to from x, whether it is one), in double precision."""
    at = lambda x: [np.asarray(v) for v in local(np.int32(which), xnp.asarray(x))]
    x = np.asarray(x, float)
    f, g, h = at(x)
    for _ in range(300):
        w, q, d = _spectrum(h)
        w = np.where(np.abs(w) < 1e-13 * np.abs(w).max(), np.inf, np.abs(w))
        p, t = -(q @ ((q.T @ (g / d)) / w)) / d, 1.0
        new = at(x + p)
        while not new[0] <= f + 1e-14 * abs(f) and t > 1e-6:
            t /= 2
            new = at(x + t * p)
        if t <= 1e-6:
            break
        x, (f, g, h) = x + t * p, new
        if np.all(np.abs(t * p) <= 1e-15 * np.abs(x)):
            break
    w, _, _ = _spectrum(h)
    return x, w[0] > -1e-6 * np.abs(w).max()


def _spectrum(h):
    d = np.sqrt(np.maximum(np.abs(np.diag(h)), 1e-300))
    return *np.linalg.eigh(h / d / d[:, None]), d


def error_of(x, least, start):
    """The largest error of x, each relative to how large its variable is or how far it came."""
    reach = np.max(np.abs([least, start, least - start]), axis=0)
    return np.max(np.abs(x - least) / np.maximum(reach, 1e-6 * reach.max()))
