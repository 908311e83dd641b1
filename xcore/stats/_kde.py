"""Kernel density estimates."""

from __future__ import annotations

import math
from collections.abc import Callable

from .. import _ops as ops
from .. import numpy as xnp
from .. import random, special
from .._core import Array, ArrayLike, Key, Shape, dtypes, errors, nodes, typeof
from ..numpy._promote import as_inexact, astype
from ._samples import in_units
from ._vectors import whitened


def _bandwidth(who: str, method, neff, d: int):
    """The width of the kernels in units of the data's own spread."""
    if method is None or method == "scott":
        return neff ** (-1 / (d + 4))
    if method == "silverman":
        return (neff * (d + 2) / 4) ** (-1 / (d + 4))
    if isinstance(method, (int, float)):
        return float(method)
    raise errors.bad_argument(who, "bw_method", method, "'scott', 'silverman' or a number")


class gaussian_kde:
    """A density estimated as the mean of normal densities around the points of a sample.

    A pytree; ``kde(points)`` is its density at points (m,), or (d, m) with one in each column.

    Args:
      dataset: the sample: (n,), or (d, n).
      bw_method: the kernels' width relative to the sample's: "scott" (the default), "silverman", a
        number, or a function of the estimate so far, which knows ``neff`` and ``d``.
      weights: of the sample's points, (n,); equal if not given.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> kde = xc.stats.gaussian_kde(xnp.array([0.0, 1.0, 1.5, 3.0]))
    >>> kde(xnp.array([1.0, 8.0])).shape
    (2,)
    """

    # the sample less its mean, and the kernels' covariance, in units of the sample's own
    __slots__ = ("_away", "_kernel", "_mean", "_unit", "dataset", "neff", "weights")

    def __init__(
        self, dataset: ArrayLike,
        bw_method: str | float | Callable[[gaussian_kde], ArrayLike] | None = None,
        weights: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        who = "stats.gaussian_kde"
        self.dataset = xnp.atleast_2d(as_inexact(who, dataset))
        dtype = typeof(self.dataset).dtype
        if self.dataset.ndim != 2 or self.n < 2 or dtype.kind == "c":
            raise errors.bad_argument(
                who, "dataset", dataset, "a real array (n,) or (d, n) with n > 1"
            )
        w = xnp.ones(self.n, dtype) if weights is None else as_inexact(who, weights)
        if typeof(w).shape != (self.n,):
            raise errors.shape_mismatch(
                who, "need one weight for each point", dataset=self.dataset, weights=w
            )
        self.weights = w / w.sum()
        self.neff = 1 / xnp.square(self.weights).sum()
        places, self._unit = in_units(self.dataset, 1)
        self._mean = (places * self.weights).sum(axis=1, keepdims=True)
        self._away = places - self._mean
        away = self._away - (self._away * self.weights).sum(axis=1, keepdims=True)
        spread = (away * self.weights) @ away.T / (1 - 1 / self.neff)
        width = (
            bw_method(self)
            if callable(bw_method)
            else _bandwidth(who, bw_method, self.neff, self.d)
        )
        self._kernel = spread * width**2  # pyright: ignore[reportOperatorIssue]

    @property
    def covariance(self) -> Array:
        """The covariance of the kernels."""
        return self._kernel * self._unit * self._unit.T

    @property
    def d(self) -> int:
        """The dimension of the points."""
        return typeof(self.dataset).shape[0]

    @property
    def n(self) -> int:
        """The number of points."""
        return typeof(self.dataset).shape[1]

    @property
    def inv_cov(self) -> Array:
        """The inverse of the kernels' covariance."""
        inverse = self._white(self._kernel, xnp.eye(self.d, dtype=typeof(self._kernel).dtype))
        return inverse.T @ inverse / self._unit / self._unit.T

    def _white(self, covariance, x):
        factor = ops.cholesky(covariance)
        return whitened(factor, astype(x, typeof(factor).dtype))

    def _in_units(self, points):
        return points / self._unit - self._mean

    def _points(self, who: str, points):
        given, points = points, xnp.atleast_2d(as_inexact(f"stats.gaussian_kde.{who}", points))
        if dtypes.is_complex(typeof(points).dtype):
            raise errors.bad_argument(f"stats.gaussian_kde.{who}", "points", given, "real")
        if typeof(points).shape[0] != self.d and typeof(points).shape == (1, self.d):
            points = points.T
        if typeof(points).ndim != 2 or typeof(points).shape[0] != self.d:
            raise errors.shape_mismatch(
                f"stats.gaussian_kde.{who}", "need points of one dimension, in columns",
                points=points, dataset=self.dataset,
            )  # fmt: skip
        return points

    def logpdf(self, x: ArrayLike) -> Array:
        """The logarithm of the density, far from all points too."""
        return self._log_mean(self._points("logpdf", x), self._kernel)

    def _log_mean(self, points, covariance):
        """The logarithm of the weighted mean of normal densities with this covariance, in units of the sample."""
        here, there = (self._white(covariance, v) for v in (self._in_units(points), self._away))
        squares = xnp.square(here[:, :, None] - there[:, None, :]).sum(axis=0)
        size = xnp.log(xnp.diagonal(ops.cholesky(covariance))).sum() + xnp.log(self._unit).sum()
        log_root = size + 0.5 * self.d * math.log(2 * math.pi)
        return special.logsumexp(-0.5 * squares, axis=1, b=self.weights) - log_root

    def pdf(self, x: ArrayLike) -> Array:
        """The density."""
        return xnp.exp(self.logpdf(x))

    evaluate = __call__ = pdf

    def integrate_gaussian(self, mean: ArrayLike, cov: ArrayLike) -> Array:
        """The integral of the density times a normal density."""
        mean = self._points("integrate_gaussian", xnp.atleast_1d(mean)[:, None])
        cov = xnp.atleast_2d(as_inexact("stats.gaussian_kde.integrate_gaussian", cov))
        return xnp.exp(self._log_mean(mean, self._kernel + cov / self._unit / self._unit.T))[0]

    def integrate_box_1d(self, low: ArrayLike, high: ArrayLike) -> Array:
        """The probability of an interval, in one dimension."""
        if self.d != 1:
            raise ValueError(
                f"xcore.stats.gaussian_kde.integrate_box_1d: the points have {self.d} dimensions, not 1."
            )
        x, width = self._away[0], xnp.sqrt(self._kernel[0, 0])
        unit, mean = self._unit[0, 0], self._mean[0, 0]
        below, above = (
            special.ndtr((xnp.asarray(v) / unit - mean - x) / width) for v in (low, high)
        )
        return (self.weights * (above - below)).sum()

    def integrate_kde(self, other: gaussian_kde) -> Array:
        """The integral of the product with another estimate."""
        times = self._unit / other._unit
        covariance = self._kernel * times * times.T + other._kernel
        both = xnp.exp(other._log_mean(self.dataset, covariance))
        return (self.weights * both).sum()

    def resample(self, key: Key, shape: Shape = ()) -> Array:
        """New points from the density: an array (d, *shape)."""
        which, noise = random.split(key)
        places = random.choice(which, self.n, shape, p=self.weights)
        dtype = typeof(self.dataset).dtype
        zero = xnp.zeros(self.d, dtype)
        moved = (
            random.multivariate_normal(noise, zero, self._kernel, shape, dtype) * self._unit[:, 0]
        )
        return self.dataset[:, places] + xnp.moveaxis(moved, -1, 0)


_PARTS = ("dataset", "weights", "neff", "_away", "_kernel", "_mean", "_unit")


def _children(kde) -> tuple:
    return tuple(getattr(kde, name) for name in _PARTS), None


def _rebuilt(_, children) -> gaussian_kde:
    made = object.__new__(gaussian_kde)
    for name, part in zip(_PARTS, children, strict=True):
        setattr(made, name, part)
    return made


nodes.register_pytree_node(gaussian_kde, _children, _rebuilt)
