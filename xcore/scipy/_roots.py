"""Roots by SciPy's names."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, overload

import numpy as np

from .. import numpy as xnp
from .._core import Array, errors, typeof
from .._core.source import boundary, stack_level
from .._width import are_plain, width_of
from ..optimize import fixed_point as _fixed_point
from ..optimize import root as _root
from ..optimize import root_scalar as _root_scalar
from ..optimize._problem import as_tuple
from ._found import Found
from ._minima import limits, point, words

_METHODS = {"broyden1": "broyden", "broyden2": "broyden"}
_SCALAR = {"brentq": "brent", "toms748": "toms748", "bisect": "bisect"}


def _arrays(fun):
    """fun with an array as its result, where it returns a list."""
    return lambda *args: xnp.asarray(fun(*args))


def _are_concrete(*xs) -> bool:
    return all(type(x) in (Array, np.ndarray) for x in xs)


@boundary
def root(
    fun: Callable[..., Any], x0: Any, args: Any = (), method: str = "hybr", jac: Any = None,
    tol: float | None = None, callback: None = None, options: dict[str, Any] | None = None,
) -> Found:  # fmt: skip
    """A solution x of ``fun(x, *args) = 0``; see ``xcore.optimize.root``.

    Args:
      fun: ``fun(x, *args)``, as many numbers as x has; with ``jac=True``, (these, Jacobian).
      x0: where to start.
      args: further arguments, a tuple.
      method: "hybr", "broyden1", "krylov", "anderson", or "newton".
      jac: of no effect unless True: the Jacobian is computed.
      tol: the largest component of fun(x) that counts as zero; by default success is judged by Newton's step.
      callback: must be None: loops are compiled.
      options: a dict: "maxiter", "maxfev", "xtol" (no effect).

    >>> root(lambda x: [x[0] ** 2 - 4.0, x[0] - x[1]], [1.0, 1.0]).x.round(3)
    Array([2., 2.], dtype=float32)
    """
    who = "scipy.optimize.root"
    if callback is not None:
        raise errors.bad_argument(who, "callback", callback, "None: loops are compiled")
    if method == "lm":
        raise errors.bad_argument(who, "method", method, "'hybr'", "For 'lm' take least_squares.")
    both = fun
    fun = (lambda *a: both(*a)[0]) if jac is True else fun
    options = {
        k: v
        for k, v in (options or {}).items()
        if k not in ("xtol", "col_deriv", "band", "factor", "diag")
    }
    tol, most, _ = limits(who, options, tol)
    x0 = point(x0, fun, args)
    found = _root(_arrays(fun), x0, args, _METHODS.get(method, method), tol=tol, maxiter=most)
    return Found(
        message=words(found.status), success=found.status == 0, status=found.status, x=found.x, fun=found.fun,
        nfev=found.nfev, njev=found.njev, nit=found.nit, method=method,
    )  # fmt: skip


@overload
def fsolve(
    func: Callable[..., Any], x0: Any, args: Any = (), fprime: Any = None, full_output: Literal[False, 0] = 0,
    col_deriv: bool | int = 0, xtol: float | None = None, maxfev: int = 0, band: Any = None,
    epsfcn: float | None = None, factor: float = 100, diag: Any = None,
) -> Array: ...  # fmt: skip
@overload
def fsolve(
    func: Callable[..., Any], x0: Any, args: Any = (), fprime: Any = None, *, full_output: Literal[True, 1],
    col_deriv: bool | int = 0, xtol: float | None = None, maxfev: int = 0, band: Any = None,
    epsfcn: float | None = None, factor: float = 100, diag: Any = None,
) -> tuple[Array, dict[str, Array], Array, str]: ...  # fmt: skip
@overload
def fsolve(
    func: Callable[..., Any], x0: Any, args: Any = (), fprime: Any = None, full_output: bool | int = 0,
    col_deriv: bool | int = 0, xtol: float | None = None, maxfev: int = 0, band: Any = None,
    epsfcn: float | None = None, factor: float = 100, diag: Any = None,
) -> Array | tuple[Array, dict[str, Array], Array, str]: ...  # fmt: skip
@boundary
def fsolve(
    func: Callable[..., Any], x0: Any, args: Any = (), fprime: Any = None,
    full_output: bool | int = 0, col_deriv: bool | int = 0, xtol: float | None = None,
    maxfev: int = 0, band: Any = None, epsfcn: float | None = None, factor: float = 100,
    diag: Any = None,
) -> Array | tuple[Array, dict[str, Array], Array, str]:  # fmt: skip
    """A solution x of ``func(x, *args) = 0``; see ``root``.

    Args:
      func, x0, args: as for ``root``.
      full_output: return (x, dict with fvec and nfev, 1 for success, message).
      maxfev: steps at most; 0 for the default. All others have no effect.

    Where it is known that x is no solution a RuntimeWarning says so, unless ``full_output`` does.

    >>> fsolve(lambda x: [x[0] ** 2 - 4.0, x[0] - x[1]], [1.0, 1.0]).round(3)
    Array([2., 2.], dtype=float32)
    """
    x0 = [x0] if isinstance(x0, (int, float)) else x0
    x0 = xnp.atleast_1d(xnp.asarray(point(x0, func, args)))
    found = root(func, x0, args, options={"maxfev": maxfev} if maxfev else None)
    if not full_output:
        if _are_concrete(found.success) and not np.all(np.asarray(found.success)):
            words = f"xcore.scipy.optimize.fsolve: x is no solution: {found.message}."
            warnings.warn(words, RuntimeWarning, stacklevel=stack_level())
        return found.x
    info = {"fvec": found.fun, "nfev": found.nfev}
    return found.x, info, xnp.where(found.success, 1, 5), found.message


@boundary
def fixed_point(
    func: Callable[..., Any], x0: Any, args: Any = (), xtol: float | None = None,
    maxiter: int = 500, method: str = "del2",
) -> Array:  # fmt: skip
    """A solution x of ``func(x, *args) = x``; see ``xcore.optimize.fixed_point``.

    Args:
      func, x0, args: as for ``root``.
      xtol: the tolerance of x - func(x).
      maxiter: steps at most.
      method: "del2" (here: Anderson's acceleration) or "iteration".

    >>> round(float(fixed_point(lambda x: xnp.cos(x), 1.0)), 3)
    0.739
    """
    name = {"del2": "anderson", "iteration": "picard"}.get(method, method)
    found = _fixed_point(func, point(x0, func, args), args, name, tol=xtol, maxiter=maxiter)
    _require("fixed_point", found.status)
    return found.x


# Of one number


@boundary
def root_scalar(
    f: Callable[..., Any], args: Any = (), method: str | None = None,
    bracket: Sequence[Any] | None = None, fprime: Any = None, fprime2: Any = None, x0: Any = None,
    x1: Any = None, xtol: float | None = None, rtol: float | None = None,
    maxiter: int | None = None, options: None = None,
) -> Found:  # fmt: skip
    """A root of a function of one number; see ``xcore.optimize.root_scalar``.

    Args:
      f: ``f(x, *args)``.
      args: further arguments, a tuple.
      method: "brentq", "toms748" or "bisect" with a bracket; "newton" with x0. By default the one that fits.
      bracket: (a, b), between which f changes its sign.
      fprime, fprime2, x1: of no effect: derivatives are computed.
      x0: where Newton's method starts.
      xtol, rtol: the width of the last bracket, relative; the larger of both, 4 eps by default.
      maxiter: steps at most.
      options: must be None.

    >>> round(float(root_scalar(lambda x: x**3 - 1.0, bracket=[0.0, 3.0]).root), 4)
    1.0
    """
    who = "scipy.optimize.root_scalar"
    method = method or ("brentq" if bracket is not None else "newton")
    if method == "newton" and x0 is not None:
        found = _root(f, *_numbers(f, args, x0), args, "newton", maxiter=maxiter)
        calls = found.nfev
    elif method in _SCALAR and bracket is not None:
        width = max((v for v in (xtol, rtol) if v is not None), default=None)
        bracket = _numbers(f, args, *bracket)
        found = _root_scalar(f, bracket, args, _SCALAR[method], xtol=width, maxiter=maxiter)
        calls = found.nfev
        _check_signs(who, f, bracket, args)
    else:
        wanted = "'brentq', 'toms748' or 'bisect' with bracket=(a, b), or 'newton' with x0="
        raise errors.bad_argument(who, "method", method, wanted)
    return Found(
        root=found.x, converged=found.status == 0, flag=words(found.status), iterations=found.nit,
        function_calls=calls, method=method,
    )  # fmt: skip


def _numbers(f, args, *xs) -> tuple:
    """As arrays of floats; Python's numbers as wide as what f gives of them, which may hold wider data."""
    given = [xnp.asarray(x) for x in xs]
    given = [x.astype(xnp.result_type(x, float)) for x in given]
    plain = are_plain(xs)
    kind = width_of(f, given[0], args) if plain else None
    return tuple(xnp.asarray(x, kind) for x in (xs if plain else given))


def _check_signs(who: str, f, bracket, args) -> None:
    values = [xnp.asarray(f(x, *as_tuple(args))) for x in bracket]
    if _are_concrete(*values) and bool(xnp.any(xnp.sign(values[0]) * xnp.sign(values[1]) > 0)):
        raise ValueError(f"xcore.{who}: f(a) and f(b) must have different signs.")


def _require(who: str, status) -> None:
    """An error where it is known that there is no root."""
    if _are_concrete(status) and np.any(np.asarray(status)):
        raise RuntimeError(f"xcore.scipy.optimize.{who}: {words(status)}.")


class _Bracketing(Protocol):
    """``brentq`` and its like."""

    @overload
    def __call__(
        self, f: Callable[..., Any], a: Any, b: Any, args: Any = (), xtol: float | None = None,
        rtol: float | None = None, maxiter: int | None = None, full_output: Literal[False] = False,
        disp: bool = True,
    ) -> Array: ...  # fmt: skip
    @overload
    def __call__(
        self, f: Callable[..., Any], a: Any, b: Any, args: Any = (), xtol: float | None = None,
        rtol: float | None = None, maxiter: int | None = None, *, full_output: Literal[True],
        disp: bool = True,
    ) -> tuple[Array, Found]: ...  # fmt: skip


def _bracketing_method(name: str) -> _Bracketing:
    def find(
        f: Callable[..., Any], a: Any, b: Any, args: Any = (), xtol: float | None = None,
        rtol: float | None = None, maxiter: int | None = None, full_output: bool = False,
        disp: bool = True,
    ) -> Array | tuple[Array, Found]:  # fmt: skip
        found = root_scalar(f, args, name, (a, b), xtol=xtol, rtol=rtol, maxiter=maxiter)
        if disp:
            _require(name, xnp.where(found.converged, 0, 1))
        return (found.root, found) if full_output else found.root

    find.__name__ = find.__qualname__ = name
    find.__module__ = __name__
    find.__doc__ = f"""A root of ``f(x, *args)`` between a and b, where f has different signs; see ``root_scalar``.

    Args:
      f, args, xtol, rtol, maxiter: as for ``root_scalar``.
      a, b: the bracket.
      full_output: return (x, what ``root_scalar`` returns).
      disp: raise RuntimeError where no root was found.

    >>> round(float({name}(lambda x: x**3 - 1.0, 0.0, 3.0)), 4)
    1.0
    """
    return boundary(find)  # pyright: ignore[reportReturnType]


brentq, bisect, toms748 = map(_bracketing_method, ("brentq", "bisect", "toms748"))


@overload
def newton(
    func: Callable[..., Any], x0: Any, fprime: Any = None, args: Any = (), tol: float | None = None,
    maxiter: int = 50, fprime2: Any = None, x1: Any = None, rtol: float = 0.0, full_output: Literal[False, 0] = False,
    disp: bool | int = True,
) -> Array: ...  # fmt: skip
@overload
def newton(
    func: Callable[..., Any], x0: Any, fprime: Any = None, args: Any = (), tol: float | None = None,
    maxiter: int = 50, fprime2: Any = None, x1: Any = None, rtol: float = 0.0, *, full_output: Literal[True, 1],
    disp: bool | int = True,
) -> tuple[Array, Found]: ...  # fmt: skip
@overload
def newton(
    func: Callable[..., Any], x0: Any, fprime: Any = None, args: Any = (), tol: float | None = None,
    maxiter: int = 50, fprime2: Any = None, x1: Any = None, rtol: float = 0.0, full_output: bool | int = False,
    disp: bool | int = True,
) -> Array | tuple[Array, Found]: ...  # fmt: skip
@boundary
def newton(
    func: Callable[..., Any], x0: Any, fprime: Any = None, args: Any = (), tol: float | None = None,
    maxiter: int = 50, fprime2: Any = None, x1: Any = None, rtol: float = 0.0,
    full_output: bool | int = False, disp: bool | int = True,
) -> Array | tuple[Array, Found]:  # fmt: skip
    """A root of ``func(x, *args)`` near x0, by Newton's method with the exact derivative.

    Args:
      func: a function of one number.
      x0: where to start.
      fprime, fprime2, x1, tol, rtol: of no effect.
      args: further arguments, a tuple.
      maxiter: steps at most.
      full_output: return (x, what ``root_scalar`` returns).
      disp: raise RuntimeError where no root was found.

    >>> round(float(newton(lambda x: x**3 - 1.0, 1.5)), 4)
    1.0
    """
    if typeof(xnp.asarray(x0)).ndim:
        raise errors.bad_argument(
            "scipy.optimize.newton", "x0", x0, "one number", "For vectors take root, or vmap of newton."
        )  # fmt: skip
    found = root_scalar(func, args, "newton", x0=x0, maxiter=maxiter)
    if disp:
        _require("newton", xnp.where(found.converged, 0, 1))
    return (found.root, found) if full_output else found.root
