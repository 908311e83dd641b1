"""Least squares, fitted curves, minima of one variable and of a box by SciPy's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

import numpy as np

from .. import numpy as xnp
from .. import random, sparse
from .._control import eval_shape, jacfwd
from .._core import Array, ArrayLike, Tracer, boundary, errors, one_of, typeof
from ..optimize import curve_fit as _curve_fit
from ..optimize import differential_evolution as _differential_evolution
from ..optimize import least_squares as _least_squares
from ..optimize import minimize_scalar as _minimize_scalar
from ..optimize._curve_fit import first_guess, parameters_of
from ..optimize._losses import cost_and_scaled, loss_of, scale_of
from ._found import Found
from ._minima import limits, pairs, point, words
from ._roots import _are_concrete, _arrays

_METHODS = {"dogbox": "trf"}


def _sides(bounds, n: int):
    """(lower, upper) as arrays, None where nothing is bounded."""
    if hasattr(bounds, "lb"):
        bounds = (bounds.lb, bounds.ub)
    sides = [np.broadcast_to(np.asarray(side, float), (n,)) for side in bounds]
    return None if np.all(sides[0] == -np.inf) and np.all(sides[1] == np.inf) else tuple(sides)


def _method(method, bounds):
    return None if method == "lm" and bounds is None else _METHODS.get(method, method)


def _check_x_scale(who: str, given, n: int) -> None:
    if given is None or isinstance(given, Tracer) or (isinstance(given, str) and given == "jac"):
        return
    known = np.zeros(()) if isinstance(given, str) else np.asarray(given, float)
    if known.shape not in ((), (1,), (n,)) or not np.all(known > 0):
        wanted = f"'jac', a number above 0, or one for each of {n} variables"
        raise errors.bad_argument(who, "x_scale", given, wanted)


def _sparse_jacobian(who: str, f: Callable[..., Any], x0: Any, places: Any) -> Callable[..., Any]:
    """The Jacobian on the places that a matrix names."""
    places = places if hasattr(places, "nnz") else np.asarray(places) != 0
    places = sparse.coo_array(places)
    shape = (eval_shape(f, x0).size, x0.size)
    if places.shape != shape:
        need = f"need a row for each residual and a column for each variable, {shape}"
        raise errors.shape_mismatch(who, need, jac_sparsity=places)
    return sparse.jacobian(f, places.pattern)


@boundary
def least_squares(
    fun: Callable[..., Any], x0: Any, jac: Any = "2-point", bounds: Any = (-np.inf, np.inf),
    method: str = "trf", ftol: float = 1e-8, xtol: float = 1e-8, gtol: float = 1e-8,
    x_scale: Any = None, loss: str | Callable[..., Any] = "linear", f_scale: float = 1.0,
    diff_step: Any = None, tr_solver: Any = None, tr_options: Any = None, jac_sparsity: Any = None,
    max_nfev: int | None = None, verbose: int = 0, args: Any = (),
    kwargs: dict[str, Any] | None = None, callback: None = None, workers: Any = None,
) -> Found:  # fmt: skip
    """The x for which half the sum of squares of ``fun(x)`` is least; see ``xcore.optimize.least_squares``.

    Steps go on until rounding errors hide what they gain, which is nearer than ftol, xtol and gtol ask.

    Args:
      fun: ``fun(x, *args, **kwargs)``, residuals.
      x0: where to start.
      bounds: (lower, upper), numbers or vectors, or ``Bounds``.
      method: "trf", "dogbox" (here: "trf") or "lm".
      loss: "linear", "soft_l1", "huber", "cauchy", "arctan" or a function z -> (ρ, ρ', ρ'').
      f_scale: residuals of which size begin to be outliers.
      max_nfev: steps at most.
      args, kwargs: further arguments.
      jac_sparsity: where the Jacobian may be other than 0, a matrix: then it is sparse, steps are by sparse factors
        (``method="sparse"`` of ``xcore.optimize``), and so is ``jac`` of the result. Of no effect with bounds.
      x_scale: of no effect, as are all others: steps are in units of their own, and the Jacobian is computed.
      callback: must be None.

    Returns a result with x, cost, fun, jac, grad, optimality, active_mask, nfev, njev, status, message, success. As
    SciPy's, jac is scaled by the loss: jacᵀ jac is the Hessian of the cost but for second derivatives of fun.

    >>> t = xnp.arange(4.0)
    >>> found = least_squares(lambda p: p[0] * xnp.exp(-p[1] * t) - 2 * xnp.exp(-0.5 * t), [1.0, 1.0])
    >>> found.x.round(3), bool(found.success)
    (Array([2. , 0.5], dtype=float32), True)
    """
    who = "scipy.optimize.least_squares"
    if callback is not None:
        raise errors.bad_argument(who, "callback", callback, "None: loops are compiled")
    f = lambda x: xnp.atleast_1d(_arrays(fun)(x, *args, **(kwargs or {})))  # noqa: E731
    x0 = xnp.atleast_1d(xnp.asarray(point([x0] if isinstance(x0, (int, float)) else x0, f)))
    _check_x_scale(who, x_scale, typeof(x0).size)
    box = _sides(bounds, typeof(x0).size)
    if method == "lm" and box is not None:
        raise errors.bad_argument(who, "method", method, "'trf' where there are bounds")
    own = jacfwd(f) if jac_sparsity is None else _sparse_jacobian(who, f, x0, jac_sparsity)
    by_places = jac_sparsity is not None and box is None
    found = _least_squares(
        f, x0, (), "sparse" if by_places else _method(method, box), jac=own if by_places else None, bounds=box,
        loss=loss, f_scale=f_scale, maxiter=max_nfev,
    )  # fmt: skip
    scaled = cost_and_scaled(loss_of(loss), scale_of(f_scale, x0.dtype), found.fun, own(found.x))[2]
    low, high = (-np.inf, np.inf) if box is None else box
    near = lambda side: xnp.isfinite(side) & (xnp.abs(found.x - side) <= 1e-8 * (1 + xnp.abs(side)))  # noqa: E731
    mask = xnp.where(near(xnp.asarray(low)), -1, xnp.where(near(xnp.asarray(high)), 1, 0))
    return Found(
        message=words(found.status), success=found.status == 0, status=found.status, x=found.x,
        cost=found.stats["cost"], fun=found.fun, jac=scaled, grad=found.grad,
        optimality=found.certificate.stationarity, active_mask=mask, nfev=found.nfev, njev=found.njev,
    )  # fmt: skip


@overload
def curve_fit(
    f: Callable[..., Any], xdata: Any, ydata: ArrayLike | Sequence[Any], p0: ArrayLike | Sequence[Any] | None = None,
    sigma: ArrayLike | Sequence[Any] | None = None, absolute_sigma: bool = False, check_finite: bool | None = None,
    bounds: Any = (-np.inf, np.inf), method: str | None = None, jac: Any = None, *,
    full_output: Literal[False] = False, nan_policy: str | None = None, **kwargs: Any,
) -> tuple[Array, Array]: ...  # fmt: skip
@overload
def curve_fit(
    f: Callable[..., Any], xdata: Any, ydata: ArrayLike | Sequence[Any], p0: ArrayLike | Sequence[Any] | None = None,
    sigma: ArrayLike | Sequence[Any] | None = None, absolute_sigma: bool = False, check_finite: bool | None = None,
    bounds: Any = (-np.inf, np.inf), method: str | None = None, jac: Any = None, *, full_output: Literal[True],
    nan_policy: str | None = None, **kwargs: Any,
) -> tuple[Array, Array, dict[str, Array], str, Array]: ...  # fmt: skip
@overload
def curve_fit(
    f: Callable[..., Any], xdata: Any, ydata: ArrayLike | Sequence[Any], p0: ArrayLike | Sequence[Any] | None = None,
    sigma: ArrayLike | Sequence[Any] | None = None, absolute_sigma: bool = False, check_finite: bool | None = None,
    bounds: Any = (-np.inf, np.inf), method: str | None = None, jac: Any = None, *, full_output: bool = False,
    nan_policy: str | None = None, **kwargs: Any,
) -> tuple[Array, Array] | tuple[Array, Array, dict[str, Array], str, Array]: ...  # fmt: skip
@boundary
def curve_fit(
    f: Callable[..., Any], xdata: Any, ydata: ArrayLike | Sequence[Any],
    p0: ArrayLike | Sequence[Any] | None = None, sigma: ArrayLike | Sequence[Any] | None = None,
    absolute_sigma: bool = False, check_finite: bool | None = None, bounds: Any = (-np.inf, np.inf),
    method: str | None = None, jac: Any = None, *, full_output: bool = False,
    nan_policy: str | None = None, **kwargs: Any,
) -> tuple[Array, Array] | tuple[Array, Array, dict[str, Array], str, Array]:  # fmt: skip
    """(popt, pcov): ``f(xdata, *popt)`` fitted to ``ydata`` by least squares; see ``xcore.optimize.curve_fit``.

    Args:
      f: the curve, ``f(xdata, *params)``, of functions of ``xcore.numpy``.
      xdata, ydata: where, and which values were measured; parameters are as wide as these.
      p0: parameters to start from; by default 1, or between the bounds, for each that f has.
      sigma: standard errors of the values, or their covariance.
      absolute_sigma: take sigma at its word.
      bounds: (lower, upper), numbers or vectors, or ``Bounds``.
      method: "lm", "trf" or "dogbox" (here: "trf").
      kwargs: ``loss``, ``f_scale``, ``max_nfev`` and ``maxfev`` as for ``least_squares``; all others have no effect.
      check_finite: False takes NaN and infinities in known data; by default they are refused.
      nan_policy: "omit" leaves out known measurements where ydata is NaN, or one of xdata; "raise" refuses them.
      full_output: return (popt, pcov, dict with fvec and nfev, message, 1 for success) instead.

    Where it is known that the fit did not converge, RuntimeError is raised.

    >>> x = xnp.linspace(0.0, 4.0, 9)
    >>> popt, pcov = curve_fit(lambda x, a, b: a * xnp.exp(-b * x), x, 3 * xnp.exp(-0.7 * x))
    >>> popt.round(3)
    Array([3. , 0.7], dtype=float32)
    """
    who = "scipy.optimize.curve_fit"
    xdata, ydata = (xnp.asarray(v) if isinstance(v, (list, tuple)) else v for v in (xdata, ydata))
    one_of(who, "nan_policy", nan_policy, (None, "raise", "omit"))
    if nan_policy == "omit":
        xdata, ydata, sigma = _without_nan(who, xdata, ydata, sigma)
    n = parameters_of(who, f) if p0 is None else typeof(xnp.atleast_1d(xnp.asarray(p0))).size
    for name, v in (("xdata", xdata), ("ydata", ydata)) if check_finite is not False else ():
        if _are_concrete(v) and v.dtype.kind in "fc" and not np.all(np.isfinite(np.asarray(v))):
            advice = "Leave them out: keep = xnp.isfinite(ydata), curve_fit(f, xdata[keep], ydata[keep])."
            raise errors.bad_argument(who, name, v, "without NaN and infinities", advice)
    box = _sides(bounds, n)
    start = xnp.atleast_1d(xnp.asarray(first_guess(box, n) if p0 is None else p0))
    if p0 is not None and box is not None and _are_concrete(start):
        known = np.asarray(start)
        if np.any((known < box[0]) | (known > box[1])):
            raise errors.bad_argument(who, "p0", known, f"within bounds, from {box[0]} to {box[1]}")
    strong = [xnp.asarray(v).dtype for v in (ydata, xdata) if not typeof(xnp.asarray(v)).weak]
    own = [] if p0 is None or typeof(start).weak or isinstance(p0, (list, tuple)) else [start.dtype]
    start = start.astype(xnp.result_type(*strong, *own, float))
    most = kwargs.get("max_nfev", kwargs.get("maxfev"))
    found = _curve_fit(
        f, xdata, ydata, tuple(xnp.unstack(start)), sigma, absolute_sigma, bounds=_split(box),
        method=_method(method, box), loss=kwargs.get("loss", "linear"), f_scale=kwargs.get("f_scale", 1.0),
        maxiter=most or None,
    )  # fmt: skip
    status = found.result.status
    if _are_concrete(status) and int(status):
        raise RuntimeError(f"xcore.{who}: {words(status)}.")
    popt = xnp.stack(found.popt)
    if not full_output:
        return popt, found.pcov
    info = {"fvec": found.result.fun, "nfev": found.result.nfev}
    return popt, found.pcov, info, words(status), xnp.where(status == 0, 1, 5)


def _without_nan(who: str, xdata: Any, ydata: Any, sigma: Any) -> tuple:
    """The data where neither is NaN; xdata is (..., measurements)."""
    if any(isinstance(v, Tracer) for v in (xdata, ydata, sigma)):
        need = "None for traced data, whose length may not depend on values"
        raise errors.bad_argument(who, "nan_policy", "omit", need)
    x, y = np.asarray(xdata), np.asarray(ydata)
    keep = ~np.isnan(y)
    if x.ndim and x.shape[-1] == len(y):
        keep &= ~np.isnan(x).reshape(-1, len(y)).any(axis=0)
        x = x[..., keep]
    s = None if sigma is None else np.asarray(sigma)
    if s is not None and s.ndim:
        s = s[keep] if s.ndim == 1 else s[keep][:, keep]
    return x, y[keep], s


def _split(box):
    return None if box is None else tuple(tuple(map(float, side)) for side in box)


@boundary
def minimize_scalar(
    fun: Callable[..., Any], bracket: Sequence[Any] | None = None,
    bounds: Sequence[Any] | None = None, args: Any = (), method: str | None = None,
    tol: float | None = None, options: dict[str, Any] | None = None,
) -> Found:  # fmt: skip
    """The least of a function of one number; see ``xcore.optimize.minimize_scalar``.

    Args:
      fun: ``fun(x, *args)``.
      bracket: two points from which a valley is looked for, or three around one.
      bounds: (lower, upper): search in this interval instead.
      args: further arguments, a tuple.
      method: "brent", "golden" or "bounded"; the one that fits by default.
      tol: the precision of x.
      options: a dict: "maxiter", "xtol" and "xatol" (other names for tol), "disp" (no effect).

    >>> found = minimize_scalar(lambda x: (x - 2.0) ** 2)
    >>> round(float(found.x), 3), bool(found.success)
    (2.0, True)
    """
    tol, most, _ = limits("scipy.optimize.minimize_scalar", options, tol)
    name = method.lower() if isinstance(method, str) else method or "brent"
    found = _minimize_scalar(
        fun, bracket, bounds, args, "brent" if name == "bounded" else name, tol=tol,
        **({} if most is None else {"maxiter": most}),
    )  # fmt: skip
    return Found(
        message=words(found.status), success=found.status == 0, status=found.status, x=found.x, fun=found.fun,
        nfev=found.nfev, nit=found.nit,
    )  # fmt: skip


@boundary
def differential_evolution(
    func: Callable[..., Any], bounds: Any, args: Any = (), strategy: str = "best1bin",
    maxiter: int = 1000, popsize: int = 15, tol: float = 0.01,
    mutation: float | Sequence[float] = (0.5, 1), recombination: float = 0.7, rng: Any = None,
    callback: None = None, disp: bool | int = False, polish: bool = True,
    init: str = "latinhypercube", atol: float = 0, updating: str = "immediate", workers: Any = 1,
    constraints: Any = (), x0: Any = None, *, integrality: Any = None, vectorized: bool = False,
    seed: Any = None,
) -> Found:  # fmt: skip
    """The least of a function in a box; see ``xcore.optimize.differential_evolution``.

    Args:
      func: ``func(x, *args)``, of functions of ``xcore.numpy``.
      bounds: a pair (least, greatest) for each variable, or ``Bounds``.
      args: further arguments, a tuple.
      maxiter, popsize, tol, atol, mutation, recombination, polish, x0: as there.
      rng, seed: a whole number or a key; 0 by default, so that calls are repeated exactly.
      strategy, callback, constraints, integrality: must be left out. All others have no effect.

    >>> found = differential_evolution(lambda x: (x**2).sum(), [(-5.0, 5.0), (-5.0, 5.0)], seed=1)
    >>> bool(found.fun < 1e-6)
    True
    """
    who = "scipy.optimize.differential_evolution"
    for name, given, fine in (("strategy", strategy, "best1bin"), ("callback", callback, None),
                              ("constraints", constraints, ()), ("integrality", integrality, None)):  # fmt: skip
        if given is not None and given != fine:
            raise errors.bad_argument(who, name, given, f"left out: there is {fine} only")
    seed = seed if rng is None else rng
    if isinstance(seed, (np.random.Generator, np.random.RandomState)):
        seed = int(seed.integers(2**31) if hasattr(seed, "integers") else seed.randint(2**31))
    key = random.key(0 if seed is None else seed) if isinstance(seed, (int, type(None))) else seed
    found = _differential_evolution(
        func, pairs(bounds), args, key=key, popsize=popsize, mutation=mutation, recombination=recombination, tol=tol,
        atol=atol, maxiter=maxiter, polish=polish, x0=x0,
    )  # fmt: skip
    return Found(
        message=words(found.status), success=found.status == 0, status=found.status, x=found.x, fun=found.fun,
        nfev=found.nfev, nit=found.nit,
    )  # fmt: skip
