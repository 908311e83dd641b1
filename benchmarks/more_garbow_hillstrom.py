"""Test problems of J. J. Moré, B. S. Garbow and K. E. Hillstrom, Testing Unconstrained Optimization
Software, ACM Transactions on Mathematical Software 7 (1981).

Each is a vector of residuals; the least sums of squares are those published, or local ones.
"""

from typing import Any, NamedTuple

import numpy as np

import xcore.numpy as xnp


class Problem(NamedTuple):
    number: int
    name: str
    residuals: Any
    start: np.ndarray
    count: int  # of residuals
    least: tuple[float, ...]


exp = xnp.exp


def stack(*values):
    return xnp.stack(values)


def freudenstein_roth(x):
    a, b = x
    return stack(-13 + a + ((5 - b) * b - 2) * b, -29 + a + ((b + 1) * b - 14) * b)


def helical_valley(x):
    a, b, c = x
    angle = xnp.arctan(b / a) / (2 * np.pi) + xnp.where(a < 0, 0.5, 0)
    return stack(10 * (c - 10 * angle), 10 * (xnp.sqrt(a * a + b * b) - 1), c)


BARD = np.array(
    [0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39]
)


def bard(x):
    u = np.arange(1.0, 16)
    v = 16 - u
    return BARD - (x[0] + u / (v * x[1] + np.minimum(u, v) * x[2]))


GAUSSIAN = np.array([0.0009, 0.0044, 0.0175, 0.0540, 0.1295, 0.2420, 0.3521, 0.3989])


def gaussian(x):
    t = (8 - np.arange(1.0, 16)) / 2
    return x[0] * exp(-x[1] * (t - x[2]) ** 2 / 2) - np.concatenate([GAUSSIAN, GAUSSIAN[-2::-1]])


MEYER = np.array([34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147, 4427,
                  3820, 3307, 2872.0])  # fmt: skip


def meyer(x):
    return x[0] * exp(x[1] / (45 + 5 * np.arange(1.0, 17) + x[2])) - MEYER


def gulf(x):
    t = np.arange(1.0, 100) / 100
    y = 25 + (-50 * np.log(t)) ** (2 / 3)
    return exp(-(xnp.abs(y - x[1]) ** x[2]) / x[0]) - t


def box(x):
    t = 0.1 * np.arange(1.0, 11)
    return exp(-t * x[0]) - exp(-t * x[1]) - x[2] * (np.exp(-t) - np.exp(-10 * t))


def powell_singular(x):
    a, b, c, d = x.reshape(-1, 4).T
    parts = a + 10 * b, 5**0.5 * (c - d), (b - 2 * c) ** 2, 10**0.5 * (a - d) ** 2
    return xnp.concatenate(parts)


def wood(x):
    a, b, c, d = x
    return stack(
        10 * (b - a * a), 1 - a, 90**0.5 * (d - c * c), 1 - c, 10**0.5 * (b + d - 2), (b - d) / 10**0.5
    )  # fmt: skip


KOWALIK = (np.array([4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625]),
           np.array([0.1957, 0.1947, 0.1735, 0.16, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235,
                     0.0246]))  # fmt: skip


def kowalik_osborne(x):
    u, y = KOWALIK
    return y - x[0] * (u * u + u * x[1]) / (u * u + u * x[2] + x[3])


def brown_dennis(x):
    t = np.arange(1.0, 21) / 5
    return (x[0] + t * x[1] - np.exp(t)) ** 2 + (x[2] + x[3] * np.sin(t) - np.cos(t)) ** 2


OSBORNE1 = np.array([
    0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881, 0.85, 0.818, 0.784, 0.751, 0.718, 0.685, 0.658, 0.628,
    0.603, 0.58, 0.558, 0.538, 0.522, 0.506, 0.49, 0.478, 0.467, 0.457, 0.448, 0.438, 0.431, 0.424, 0.42,
    0.414, 0.411, 0.406,
])  # fmt: skip


def osborne1(x):
    t = 10 * np.arange(33.0)
    return OSBORNE1 - (x[0] + x[1] * exp(-t * x[3]) + x[2] * exp(-t * x[4]))


def biggs(x):
    t = 0.1 * np.arange(1.0, 14)
    y = np.exp(-t) - 5 * np.exp(-10 * t) + 3 * np.exp(-4 * t)
    return x[2] * exp(-t * x[0]) - x[3] * exp(-t * x[1]) + x[5] * exp(-t * x[4]) - y


OSBORNE2 = np.array([
    1.366, 1.191, 1.112, 1.013, 0.991, 0.885, 0.831, 0.847, 0.786, 0.725, 0.746, 0.679, 0.608, 0.655, 0.616,
    0.606, 0.602, 0.626, 0.651, 0.724, 0.649, 0.649, 0.694, 0.644, 0.624, 0.661, 0.612, 0.558, 0.533, 0.495,
    0.5, 0.423, 0.395, 0.375, 0.372, 0.391, 0.396, 0.405, 0.428, 0.429, 0.523, 0.562, 0.607, 0.653, 0.672,
    0.708, 0.633, 0.668, 0.645, 0.632, 0.591, 0.559, 0.597, 0.625, 0.739, 0.71, 0.729, 0.72, 0.636, 0.581,
    0.428, 0.292, 0.162, 0.098, 0.054,
])  # fmt: skip


def osborne2(x):
    t = 0.1 * np.arange(65.0)[:, None]
    peaks = xnp.sum(x[1:4] * exp(-((t - x[8:11]) ** 2) * x[5:8]), axis=1)
    return OSBORNE2 - (x[0] * exp(-t[:, 0] * x[4]) + peaks)


def watson(x):
    n, t = x.shape[0], np.arange(1.0, 30)[:, None] / 29
    powers = t ** np.arange(n)
    slopes = np.arange(n) * t ** np.maximum(np.arange(n) - 1, 0)
    most = slopes @ x - (powers @ x) ** 2 - 1
    return xnp.concatenate([most, stack(x[0], x[1] - x[0] ** 2 - 1)])


def extended_rosenbrock(x):
    a, b = x[::2], x[1::2]
    return xnp.concatenate([10 * (b - a * a), 1 - a])


def penalty1(x):
    return xnp.concatenate([1e-5**0.5 * (x - 1), stack(xnp.sum(x * x) - 0.25)])


def penalty2(x):
    n, a = x.shape[0], 1e-5**0.5
    e, i = exp(x / 10), np.arange(2.0, 11)
    pairs = a * (e[1:] + e[:-1] - np.exp(i / 10) - np.exp((i - 1) / 10))
    last = xnp.sum(np.arange(n, 0, -1) * x * x) - 1
    return xnp.concatenate([stack(x[0] - 0.2), pairs, a * (e[1:] - np.exp(-0.1)), stack(last)])


def variably_dimensioned(x):
    s = xnp.sum(np.arange(1.0, x.shape[0] + 1) * (x - 1))
    return xnp.concatenate([x - 1, stack(s, s * s)])


def trigonometric(x):
    n = x.shape[0]
    return n - xnp.sum(xnp.cos(x)) + np.arange(1.0, n + 1) * (1 - xnp.cos(x)) - xnp.sin(x)


def brown_almost_linear(x):
    n = x.shape[0]
    return xnp.concatenate([x[:-1] + xnp.sum(x) - (n + 1), stack(xnp.prod(x) - 1)])


N, H = 10, 1 / 11
NODES = np.arange(1, N + 1) * H


def boundary_value(x):
    y = xnp.pad(x, 1)
    return 2 * x - y[:-2] - y[2:] + H * H * (x + NODES + 1) ** 3 / 2


def integral_equation(x):
    t, s = NODES[:, None], NODES[None, :]
    kernel = np.where(s <= t, (1 - t) * s, t * (1 - s))
    return x + H * (kernel @ (x + NODES + 1) ** 3) / 2


def broyden_tridiagonal(x):
    y = xnp.pad(x, 1)
    return (3 - 2 * x) * x - y[:-2] - 2 * y[2:] + 1


def broyden_banded(x):
    i = np.arange(N)
    away = i[None, :] - i[:, None]
    band = ((away >= -5) & (away <= 1) & (away != 0)).astype(float)
    return x * (2 + 5 * x * x) + 1 - band @ (x * (1 + x))


M = 20


def linear_full_rank(x):
    return xnp.pad(x, (0, M - N)) - 2 / M * xnp.sum(x) - 1


def linear_rank1(x):
    return np.arange(1.0, M + 1) * xnp.sum(np.arange(1.0, N + 1) * x) - 1


def linear_rank1_zeros(x):
    rows = np.r_[0, np.arange(1.0, M - 1), 0]
    return rows * xnp.sum((np.arange(1.0, N + 1) * x)[1:-1]) - 1


def chebyquad(x):
    n = x.shape[0]
    z, before, total = 2 * x - 1, xnp.ones_like(x), []
    now = z
    for i in range(1, n + 1):
        total.append(xnp.mean(now) + (1 / (i * i - 1) if i % 2 == 0 else 0))
        before, now = now, 2 * z * now - before
    return xnp.stack(total)


TABLE = (
    ("Rosenbrock", extended_rosenbrock, (-1.2, 1), 2, 0),
    ("Freudenstein and Roth", freudenstein_roth, (0.5, -2), 2, (0, 48.98425368)),
    ("Powell badly scaled", lambda x: stack(1e4 * x[0] * x[1] - 1, exp(-x[0]) + exp(-x[1]) - 1.0001),
     (0, 1), 2, 0),
    ("Brown badly scaled", lambda x: stack(x[0] - 1e6, x[1] - 2e-6, x[0] * x[1] - 2), (1, 1), 3, 0),
    ("Beale", lambda x: np.array([1.5, 2.25, 2.625]) - x[0] * (1 - stack(x[1], x[1] ** 2, x[1] ** 3)),
     (1, 1), 3, 0),
    ("Jennrich and Sampson", lambda x: (2 + 2 * np.arange(1.0, 11) - exp(np.arange(1.0, 11) * x[0])
                                        - exp(np.arange(1.0, 11) * x[1])), (0.3, 0.4), 10, 124.3621824),
    ("Helical valley", helical_valley, (-1, 0, 0), 3, 0),
    ("Bard", bard, (1, 1, 1), 15, (8.214877306e-3, 17.42869333)),
    ("Gaussian", gaussian, (0.4, 1, 0), 15, 1.127932770e-8),
    ("Meyer", meyer, (0.02, 4000, 250), 16, 87.94585517),
    ("Gulf research", gulf, (5, 2.5, 0.15), 99, 0),
    ("Box three-dimensional", box, (0, 10, 20), 10, 0),
    ("Powell singular", powell_singular, (3, -1, 0, 1), 4, 0),
    ("Wood", wood, (-3, -1, -3, -1), 6, 0),
    ("Kowalik and Osborne", kowalik_osborne, (0.25, 0.39, 0.415, 0.39), 11, (3.075056039e-4, 1.02734e-3)),
    ("Brown and Dennis", brown_dennis, (25, 5, -5, -1), 20, 85822.20163),
    ("Osborne 1", osborne1, (0.5, 1.5, -1, 0.01, 0.02), 33, 5.464894697e-5),
    ("Biggs EXP6", biggs, (1, 2, 1, 1, 1, 1), 13, (0, 5.655649926e-3)),
    ("Osborne 2", osborne2, (1.3, 0.65, 0.65, 0.7, 0.6, 3, 5, 7, 2, 4.5, 5.5), 65, (4.013773629e-2, 1.78981)),
    ("Watson", watson, (0,) * 6, 31, 2.287670053e-3),
    ("Extended Rosenbrock", extended_rosenbrock, (-1.2, 1) * 5, 10, 0),
    ("Extended Powell singular", powell_singular, (3, -1, 0, 1) * 3, 12, 0),
    ("Penalty I", penalty1, range(1, N + 1), N + 1, 7.087651467e-5),
    ("Penalty II", penalty2, (0.5,) * N, 2 * N, 2.936605374e-4),
    ("Variably dimensioned", variably_dimensioned, 1 - np.arange(1, N + 1) / N, N + 2, 0),
    ("Trigonometric", trigonometric, (1 / N,) * N, N, (0, 2.795056122e-5)),
    ("Brown almost-linear", brown_almost_linear, (0.5,) * N, N, (0, 1)),
    ("Discrete boundary value", boundary_value, NODES * (NODES - 1), N, 0),
    ("Discrete integral equation", integral_equation, NODES * (NODES - 1), N, 0),
    ("Broyden tridiagonal", broyden_tridiagonal, (-1,) * N, N, 0),
    ("Broyden banded", broyden_banded, (-1,) * N, N, 0),
    ("Linear, full rank", linear_full_rank, (1,) * N, M, M - N),
    ("Linear, rank 1", linear_rank1, (1,) * N, M, M * (M - 1) / (2 * (2 * M + 1))),
    ("Linear, rank 1, zero columns and rows", linear_rank1_zeros, (1,) * N, M,
     (M * M + 3 * M - 6) / (2 * (2 * M - 3))),
    ("Chebyquad", chebyquad, np.arange(1, N + 1) / (N + 1), N, (6.503954800e-3, 4.772713e-3)),
)  # fmt: skip


def problems() -> list[Problem]:
    """The table with arrays and numbers."""
    return [
        Problem(i, name, f, np.asarray(list(start), float), m, tuple(np.ravel(least).astype(float)))
        for i, (name, f, start, m, least) in enumerate(TABLE, 1)
    ]
