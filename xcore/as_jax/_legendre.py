"""``lpmn``, ``lpmn_values``: associated Legendre functions of all degrees and orders, which SciPy no longer has."""

from __future__ import annotations

import math

import numpy as np

import xcore as xc
import xcore.numpy as xnp

from .._core import errors


def lpmn_values(m: int, n: int, z, is_normalized: bool):
    """``P_l^m(z)`` at ``[m, l, i]``, with the phase ``(-1)^m``; normalized, those of the spherical harmonics."""
    who, z = "scipy.special.lpmn_values", xnp.asarray(z)
    if z.dtype not in (np.float32, np.float64):
        raise TypeError(f"xcore.{who}: z must be float32 or float64, given {z.dtype}.")
    if z.ndim != 1:
        raise errors.shape_mismatch(who, "z must be a vector", z=z)
    if int(m) != int(n):
        raise NotImplementedError(
            f"xcore.{who}: m must be n, given {m} and {n}. Take the greater for both."
        )
    rows = _by_degree(int(n), z, _normalized if is_normalized else _plain)
    return xnp.stack(rows, axis=1)


def lpmn(m: int, n: int, z):
    """The functions and their derivatives by z."""
    z = xnp.asarray(z)
    return xc.jvp(lambda x: lpmn_values(m, n, x, False), (z,), (xnp.ones_like(z),))


def _by_degree(top: int, z, factors) -> list:
    """For each degree the functions of all orders ``(top + 1, len(z))``, by the three-term recurrence over degrees."""
    start, first, second = factors(top, z.dtype)
    power, root = _powers((1 - z) * (1 + z), top)
    rows = [xnp.zeros((top + 1, z.size), z.dtype)]  # of degree -1
    for l in range(top + 1):
        new = xnp.zeros_like(rows[0]).at[l].set(start[l] * power[l])
        if l:
            new = new + first[l][:, None] * z * rows[-1] - second[l][:, None] * rows[-2]
        rows.append(new)
    return [rows[1], *[row.at[1].multiply(root) for row in rows[2:]]]


def _powers(square, top: int) -> tuple:
    """``square^(m/2)`` of the orders m, with the derivatives at 0 that they have there, and that of order 1 apart.

    Its derivative is infinite there, and of the differences of such in a recurrence nothing would be left.
    """
    power = [square ** (m // 2 if m % 2 == 0 else m / 2) for m in range(top + 1)]
    return [xnp.ones_like(p) if m == 1 else p for m, p in enumerate(power)], square**0.5


def _plain(top: int, dtype) -> tuple:
    """Of ``P_m^m``, and of ``(l - m) P_l = (2l - 1) z P_(l-1) - (l + m - 1) P_(l-2)``."""
    degree, order = np.ogrid[: top + 1, : top + 1]
    below = order < degree
    start = [(-1.0) ** m * math.prod(range(1, 2 * m, 2)) for m in range(top + 1)]
    over = np.where(below, degree - order, 1)
    first = np.where(below, 2 * degree - 1, 0) / over
    second = np.where(below, degree + order - 1, 0) / over
    return start, first.astype(dtype), second.astype(dtype)


def _normalized(top: int, dtype) -> tuple:
    """The same for ``√((2l + 1) (l - m)! / (4π (l + m)!)) P_l^m``, whose values stay of the order of 1."""
    degree, order = np.ogrid[: top + 1, : top + 1]
    below = order < degree
    ratios = [math.sqrt((2 * m + 1) / (2 * m)) for m in range(1, top + 1)]
    start = [(-1.0) ** m * math.prod(ratios[:m]) / math.sqrt(4 * math.pi) for m in range(top + 1)]
    first = np.sqrt(
        np.where(below, 4.0 * degree**2 - 1, 0) / np.where(below, degree**2 - order**2, 1)
    )
    part = np.where(below, (degree - 1.0) ** 2 - order**2, 0) / np.where(
        below, 4.0 * (degree - 1) ** 2 - 1, 1
    )
    return start, first.astype(dtype), (first * np.sqrt(np.maximum(part, 0))).astype(dtype)
