"""Hypergeometric functions and spherical harmonics."""

from __future__ import annotations

from .. import _ops as ops
from .. import numpy as xnp
from .._core import errors, fused
from ..numpy._promote import as_arrays
from . import _series_kernels as kernels
from ._public import apply, at_least_float32


@fused(3)
def hyp1f1(a, b, x):
    """Kummer's function Σ (a)_k x^k/((b)_k k!) over k = 0, 1, ….

    Args:
      a, b, x: real arrays.

    >>> import xcore as xc
    >>> xc.special.hyp1f1(1.0, 2.0, 0.5)
    Array(1.2974, dtype=float32, weak_type=True)
    """
    return apply(kernels.hyp1f1, a, b, x)


@fused(4)
def hyp2f1(a, b, c, z):
    """Gauss's function Σ (a)_k (b)_k z^k/((c)_k k!) over k = 0, 1, …, continued to z < 1.

    Args:
      a, b, c, z: real arrays.

    >>> import xcore as xc
    >>> xc.special.hyp2f1(1.0, 2.0, 3.0, 0.5)
    Array(1.5452, dtype=float32, weak_type=True)
    """
    return apply(kernels.hyp2f1, a, b, c, z)


@fused(4)
def sph_harm_y(n, m, theta, phi, diff_n=None, n_max=None):
    """The spherical harmonic of degree n and order m, orthonormal, with the phase (-1)^m.

    Args:
      n, m: degree and order, whole numbers; 0 where |m| > n. Not differentiated.
      theta: polar angle, from 0 to π.
      phi: azimuth.
      diff_n: None or 0; derivatives come from ``grad`` and ``jvp``.
      n_max: degrees above it are taken as n_max; None for no limit.

    >>> import xcore as xc
    >>> xc.special.sph_harm_y(1, 0, 0.5, 0.0)
    Array(0.42879+0.j, dtype=complex64)
    """
    if diff_n not in (None, 0):
        raise errors.bad_argument(
            "special.sph_harm_y", "diff_n", diff_n, "None", "Differentiate with jvp or grad."
        )
    n, m, theta, phi = as_arrays(
        "special.sph_harm_y", n, m, theta, phi, inexact=True, kinds=("float",)
    )
    n = n if n_max is None else xnp.minimum(n, n_max)
    n, m, theta, phi = (at_least_float32(v) for v in (n, m, theta, phi))
    size = kernels.legendre(n, m, theta)
    turn = kernels.cos_of_multiple(m, phi), kernels.sin_of_multiple(m, phi)
    return ops.complex(*[ops.mul(size, part) for part in turn])
