"""Curves through data, with the uncertainty of their parameters."""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import jit, linearize, vmap
from .._core import (
    Array,
    ArrayLike,
    PyTree,
    Tracer,
    dtypes,
    errors,
    is_evaluating,
    static,
    struct,
    tree,
    typeof,
)
from ..numpy._select import safe_divide
from ._implicit import at_once
from ._least_squares import least_squares
from ._losses import loss_of
from ._problem import Flat, Objective, real_parts
from ._result import Result


@struct
class CurveFit:
    """Fitted parameters and their covariance; unpacks as ``popt, pcov = curve_fit(...)``.

    Attributes:
      popt: the parameters, a tree like p0.
      pcov: the covariance of the parameters as one vector, of a complex one the real and the imaginary parts, (n, n);
        infinite where the fit did not converge or the data do not determine them.
      result: what ``least_squares`` returned.
      stderr: standard errors of the parameters, as one vector: numbers even where their squares are none.
      correlation: of the parameters, (n, n); 0 where ``stderr`` is infinite.
      dof: degrees of freedom: data minus parameters.
      known: whether the variance of the values was given, and not estimated from so many degrees of freedom.

    How the fit ended can be asked of it as of a ``Solution``: ``x``, ``ok``, ``status``, ``message``, ``check()``, ….

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> x = xnp.arange(5.0)
    >>> y = 2 * x + xnp.array([0.1, -0.1, 0.0, -0.1, 0.1])
    >>> fit = optimize.curve_fit(lambda x, a, b: a * x + b, x, y, [1.0, 0.0])
    >>> round(float(fit.popt[0]), 2), round(float(fit.stderr[0]), 3)
    (2.0, 0.037)
    """

    popt: Any
    pcov: Any
    result: Result
    stderr: Any
    correlation: Any
    dof: int = static(default=0)
    known: bool = static(default=False)

    value = x = property(
        lambda self: self.popt, doc="The parameters, as a ``Solution`` calls them."
    )
    ok = success = converged = property(
        lambda self: self.result.ok, doc="Whether the fit converged."
    )
    status = property(lambda self: self.result.status, doc="The number of its ``Status``.")
    message = property(lambda self: self.result.message, doc="The status in words.")
    certificate = property(lambda self: self.result.certificate, doc="What is known of the fit.")
    steps = nit = property(lambda self: self.result.steps, doc="Iterations.")

    def __iter__(self):
        return iter((self.popt, self.pcov))

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return (self.popt, self.pcov)[i]

    def check(self) -> CurveFit:
        """Itself, or an error with the status in words."""
        self.result.check("optimize.curve_fit")
        return self

    def quantile(self, level: float) -> float:
        """So many standard errors on either side hold the true value with this probability.

        Student's t where the variance of the values was estimated, the normal distribution where it was given.
        """
        return t_quantile(0.5 + level / 2, math.inf if self.known else self.dof)

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """(lower, upper): confidence intervals of the parameters, as vectors.

        By Student's t; by the normal distribution where ``sigma`` was taken at its word.

        >>> import xcore.optimize as xo, xcore.numpy as xnp
        >>> x = xnp.arange(4.0)
        >>> y = 2 * x + xnp.asarray([0.1, -0.1, 0.1, -0.1])
        >>> low, high = xo.curve_fit(lambda x, a: a * x, x, y, (1.0,)).interval()
        >>> bool(low[0] < 2 < high[0])
        True
        """
        middle = Flat("optimize.interval", "popt", self.popt).start
        half = self.quantile(level) * self.stderr
        return middle - half, middle + half

    def band(
        self, f: Callable[..., Any], xdata: PyTree, level: float = 0.95
    ) -> tuple[Array, Array]:
        """(lower, upper): confidence band of the curve at ``xdata``, to first order; of complex values one of the
        real and one of the imaginary parts.

        >>> import xcore.optimize as xo, xcore.numpy as xnp
        >>> x, f = xnp.arange(4.0), lambda x, a: a * x
        >>> done = xo.curve_fit(f, x, xnp.asarray([0.1, 1.9, 4.1, 5.9]), (1.0,))
        >>> low, high = done.band(f, x)
        >>> bool((low <= high).all())
        True
        """
        flat = Flat("optimize.band", "popt", self.popt)
        y, push = linearize(lambda p: xnp.asarray(f(xdata, *flat.split(p))), flat.start)
        slopes = vmap(push, out_axes=-1)(xnp.eye(flat.size, dtype=flat.dtype))
        width = lambda slopes: _spread(slopes, self.stderr, self.correlation)  # noqa: E731
        is_complex = dtypes.is_complex(typeof(y).dtype)
        half = width(slopes.real) + 1j * width(slopes.imag) if is_complex else width(slopes)
        half = self.quantile(level) * half
        return y - half, y + half


def t_quantile(p: float, dof: float) -> float:
    """The quantile of Student's t; with infinitely many degrees of freedom, of the normal distribution.

    With t = √n tan θ the density is c cosⁿ⁻¹ θ; its integral is inverted by Newton's method.

    >>> round(t_quantile(0.975, 10), 4)
    2.2281
    """
    if dof <= 0:
        return math.inf
    if not 0 < p < 1:
        return math.inf if p == 1 else math.nan
    if dof > 1e5:  # of which the first term of a series in 1 / dof is enough
        z = statistics.NormalDist().inv_cdf(p)
        return z + (z**3 + z) / (4 * dof)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    c = math.exp(math.lgamma((dof + 1) / 2) - math.lgamma(dof / 2)) / math.sqrt(math.pi)
    low, high = -math.pi / 2, math.pi / 2
    for _ in range(60):
        theta = 0.5 * (low + high)
        inside = 0.5 * theta * (nodes + 1)
        area = 0.5 + c * 0.5 * theta * float(weights @ np.cos(inside) ** (dof - 1))
        low, high = (theta, high) if area < p else (low, theta)
    return math.sqrt(dof) * math.tan(0.5 * (low + high))


def curve_fit(
    f: Callable[..., Any], xdata: PyTree, ydata: ArrayLike, p0: PyTree = None,
    sigma: ArrayLike | None = None, absolute_sigma: bool = False, *, bounds: Any = None,
    method: Any = None, loss: str | Callable[[Array], Any] = "linear", f_scale: float = 1.0,
    tol: float | None = None, maxiter: int | None = None,
) -> CurveFit:  # fmt: skip
    """Fit ``f(xdata, *params)`` to ``ydata`` by least squares.

    Args:
      f: the curve: ``f(xdata, *p0)``.
      xdata: whatever f takes; a list of numbers becomes an array.
      ydata: array of the values.
      p0: tuple of parameters to start from; each may be an array or a tree. Python's numbers become as wide as
        ydata. By default 1, or between the bounds, for each parameter that f names.
      sigma: standard errors of the values (n,), or their covariance (n, n); of complex values, of the real and of the
        imaginary part each.
      absolute_sigma: take sigma at its word; otherwise its scale is estimated from the residuals.
        With a robust loss ρ, that part of it is always estimated that says how ρ weighs residuals.
      bounds, method, loss, f_scale, tol, maxiter: as for ``least_squares``; bounds are (lower, upper).

    The covariance is s² (JᵀJ)⁻¹, J the derivative of the curve by its parameters and s² the variance of one
    value: to first order, and as if no bound held. With a loss ρ of residuals r, s² is the mean of ρ'(r)² over
    the square of the mean of ρ''(r), which takes many more data than parameters. (Huber 1981, section 7.6)
    "cauchy" and "arctan" have other minima, too, at which most values count as outliers, and intervals are of the
    one that is found: start from the parameters of a fit with "soft_l1", and let ``f_scale`` be no less than good
    residuals are.

    >>> import xcore.optimize as xo, xcore.numpy as xnp
    >>> x = xnp.linspace(0.0, 4.0, 9)
    >>> popt, pcov = xo.curve_fit(lambda x, a, b: a * xnp.exp(-b * x), x, 3 * xnp.exp(-0.7 * x), (1.0, 1.0))
    >>> [round(float(p), 3) for p in popt]
    [3.0, 0.7]
    """
    who = "optimize.curve_fit"
    p0 = _start(who, f, bounds) if p0 is None else p0
    p0 = tuple(p0) if isinstance(p0, (tuple, list)) else tuple(xnp.unstack(xnp.atleast_1d(p0)))
    ydata, xdata = xnp.asarray(ydata), _as_data(xdata)
    p0 = tree.map(lambda x: _as_wide(x, ydata), p0)
    flat = Flat(who, "p0", p0)
    whiten = _whitening(who, sigma, ydata)
    _check_parameters(who, f, xdata, p0)

    def residuals(params, xdata, ydata):
        off = xnp.asarray(f(xdata, *params)) - ydata
        if off.shape != ydata.shape:
            raise errors.ShapeError(
                f"xcore.{who}: f must return as many values as ydata has, {ydata.shape}; less ydata "
                f"they have the shape {off.shape}."
            )
        return whiten(off)

    problem = Objective(who, residuals, flat, (xdata, ydata))

    def jacobian(x):
        f = lambda p: real_parts(residuals(flat.split(p), *problem.args))  # noqa: E731
        return vmap(linearize(f, x)[1], out_axes=1)(xnp.eye(flat.size, dtype=flat.dtype))

    found = least_squares(
        residuals, p0, problem.args, method=method, bounds=bounds, loss=loss, f_scale=f_scale, tol=tol,
        maxiter=maxiter,
    )  # fmt: skip
    dof = typeof(xnp.asarray(found.fun)).size - flat.size
    x = flat.join(found.x)
    j = at_once(jacobian, problem, x) if is_evaluating() else jacobian(x)
    sizes, correlation = _unit_errors(j)
    deviation = _deviation(found.fun, loss, f_scale, dof, absolute_sigma).astype(flat.dtype)
    stderr, pcov = _errors(found.success, sizes, deviation, correlation)
    known = absolute_sigma and loss == "linear"
    return CurveFit(found.x, pcov, found, stderr, correlation, dof, known)


def parameters_of(who: str, f: Callable[..., Any]) -> int:
    """How many parameters a curve has, by their names."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        names = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        names = ()
    if any(p.kind == inspect.Parameter.VAR_POSITIONAL for p in names) or len(names) < 2:
        wanted = "given where f does not name its parameters, as f(x, *params)"
        raise errors.bad_argument(who, "p0", None, wanted)
    return sum(p.kind in kinds for p in names) - 1


def first_guess(box: Any, n: int) -> np.ndarray:
    """1, or the middle of both bounds, or 1 beside the only one."""
    if box is None:
        return np.ones(n)
    low, high = box
    one = np.where(np.isfinite(low), low + 1, np.where(np.isfinite(high), high - 1, 1))
    both = np.isfinite(low) & np.isfinite(high)
    return np.where(both, 0.5 * (np.where(both, low, 0) + np.where(both, high, 0)), one)


def _start(who: str, f, bounds) -> tuple:
    """Where a fit begins that was not told."""
    n = parameters_of(who, f)
    if bounds is None:
        return (1.0,) * n
    sides = (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else bounds
    try:
        low, high = sides
        box = [
            np.broadcast_to(np.asarray(default if side is None else side, float), (n,))
            for side, default in ((low, -np.inf), (high, np.inf))
        ]
    except (TypeError, ValueError):
        wanted = f"given, as bounds are no pair of numbers or of {n} numbers"
        raise errors.bad_argument(who, "p0", None, wanted) from None
    return tuple(map(float, first_guess(box, n)))


def _check_parameters(who, f, xdata, p0) -> None:
    try:
        inspect.signature(f).bind(xdata, *p0)
    except ValueError:  # functions that do not tell what they take
        return
    except TypeError as e:
        wanted = f"as many parameters as f takes after xdata ({e})"
        raise errors.bad_argument(who, "p0", p0, wanted) from None


def _as_data(x):
    """A list of numbers as the array that SciPy takes it for; all else is what the curve says."""
    is_list = isinstance(x, list) and x and all(isinstance(v, numbers.Real) for v in x)
    return xnp.asarray(x) if is_list else x


def _as_wide(given, data):
    """A parameter; one from Python's numbers is as wide as the data."""
    x = xnp.asarray(given)
    if not typeof(x).weak:
        return x
    real = dtypes.to_real(xnp.result_type(data, float))
    dtype = xnp.result_type(real, complex) if dtypes.is_complex(x.dtype) else real
    return xnp.asarray(given if isinstance(given, (int, float, complex)) else x, dtype)


@jit
def _unit_errors(j):
    """(standard errors where each value has one of 1, correlations): of parameters, from the derivative.

    Columns of length 1 have singular values that no unit is in, and rounding errors of eps, so that those of
    so many columns leave smaller ones open: directions of parameters that the data do not tell.
    """
    m, n = typeof(j).shape
    nothing = xnp.full(n, xnp.inf, j.dtype), xnp.zeros((n, n), j.dtype)
    if m < n or not n:
        return nothing
    large = xnp.max(xnp.abs(j), axis=0)
    large = xnp.where(large > 0, large, 1)
    size = xnp.sqrt(xnp.sum((j / large) ** 2, axis=0))
    size = xnp.where(size > 0, size, 1)
    fine = xnp.all(xnp.isfinite(j))
    _, s, vt = xnp.linalg.svd(xnp.where(fine, j / large / size, 0), full_matrices=False)
    known = fine & xnp.all(s > 10 * n**0.5 * xnp.finfo(j.dtype).eps * s[0])
    rows = vt.T / xnp.where(known, s, 1)
    lengths = xnp.sqrt(xnp.sum(rows * rows, axis=1))
    rows = rows / lengths[:, None]
    errors = lengths / size / large
    return xnp.where(known, errors, nothing[0]), xnp.where(known, rows @ rows.T, nothing[1])


@jit
def _errors(success, sizes, deviation, correlation):
    """(standard errors, covariance)."""
    stderr = xnp.where(success, sizes * deviation, xnp.inf)
    return stderr, stderr[:, None] * stderr * xnp.where(xnp.isinf(stderr), 1, correlation)


@jit
def _spread(slopes, stderr, correlation):
    """Standard errors of values with these slopes, in units of the largest term, whose square may be no number."""
    terms = slopes * stderr
    unit = xnp.max(xnp.abs(terms), axis=-1, keepdims=True)
    terms = safe_divide(terms, unit, where=unit > 0)
    spread = xnp.sqrt(xnp.maximum(xnp.sum((terms @ correlation) * terms, axis=-1), 0))
    return xnp.where(xnp.all(xnp.isfinite(stderr)), unit[..., 0] * spread, xnp.inf)


def _deviation(r, loss, f_scale, dof: int, absolute: bool):
    """The standard deviation of one value, as far as it is not in sigma."""
    r = xnp.asarray(r).reshape(-1)
    if absolute and loss == "linear" and dof >= 0:
        return xnp.ones((), r.dtype)
    if dof <= 0:
        return xnp.full((), xnp.inf, r.dtype)
    if loss == "linear":
        return _rms(r, dof)
    z = r / f_scale
    _, slope, bend = loss_of(loss)(z * z)  # pyright: ignore[reportGeneralTypeIssues]
    bend = slope + 2 * z * z * bend
    mean = xnp.mean(bend)
    safe = xnp.where(mean > 0, mean, 1)
    spread = xnp.sqrt(xnp.sum((z * slope) ** 2) / dof) / safe
    # the second term in the number of parameters for each value (equation 7.6.7)
    more = 1 + (1 - dof / r.size) * xnp.var(bend) / (safe * safe)
    return f_scale * xnp.where(mean > 0, more * spread, xnp.inf)


@functools.partial(jit, static_argnums=1)
def _rms(r, dof: int):
    """√(Σ r² / dof), in units of the largest."""
    unit = xnp.max(xnp.abs(r))
    unit = xnp.where(unit > 0, unit, 1)
    return unit * xnp.sqrt(xnp.sum((r / unit) ** 2) / dof)


def _whitening(who, sigma, ydata):
    """The map that makes residuals independent and of unit variance."""
    if sigma is None:
        return lambda r: r
    sigma = xnp.asarray(sigma)
    if sigma.ndim < 2 or sigma.shape == ydata.shape != (ydata.size,) * 2:
        if sigma.ndim and sigma.shape != ydata.shape:
            raise ValueError(
                f"xcore.{who}: sigma must be like ydata, {ydata.shape}, or its covariance, "
                f"({ydata.size}, {ydata.size}); given {sigma.shape}."
            )
        if not isinstance(sigma, Tracer) and np.any(~(np.asarray(sigma) > 0)):
            raise errors.bad_argument(
                who, "sigma", sigma, "above 0 everywhere, being standard errors"
            )
        return lambda r: r / sigma
    if sigma.shape != (ydata.size,) * 2:
        raise ValueError(
            f"xcore.{who}: sigma must be like ydata, {ydata.shape}, or its covariance, "
            f"({ydata.size}, {ydata.size}); given {sigma.shape}."
        )
    if not isinstance(sigma, Tracer) and not _is_hermitian(np.asarray(sigma)):
        raise errors.bad_argument(who, "sigma", sigma, "symmetric and finite, being a covariance")
    factor = xnp.linalg.cholesky(sigma)
    return lambda r: xnp.linalg.solve(factor, r.reshape(-1))


def _is_hermitian(a) -> bool:
    """Up to rounding errors that a covariance may come with."""
    return bool(np.all(np.abs(a - a.conj().T) <= 1e-3 * np.max(np.abs(a), initial=0)))
