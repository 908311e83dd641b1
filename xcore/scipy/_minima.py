"""Minimisation by SciPy's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from .. import numpy as xnp
from .._control import grad, hessian, jvp
from .._core import Array, ArrayLike, boundary, errors, one_of, tree
from .._width import are_plain, as_wide, width_of
from ..optimize import Result
from ..optimize import minimize as _minimize
from ..optimize._given import INSTEAD
from ..optimize._problem import Flat

# What of SciPy's options is a tolerance of x, a limit of steps, or of no effect.
_TOLERANCES = ("gtol", "xtol", "xatol", "xrtol")
_LIMITS = ("maxiter", "maxfun", "maxfev")
_NO_EFFECT = """
    ftol fatol eps finite_diff_rel_step iprint verbose maxls maxcor norm c1 c2 adaptive return_all workers
    initial_constr_penalty initial_tr_radius barrier_tol sparse_jacobian factorization_method catol
""".split()
_DERIVED = ("2-point", "3-point", "cs")


class OptimizeResults(NamedTuple):
    """Where a minimisation ended, and how; ``found["x"]`` is ``found.x``.

    Attributes:
      x: the point.
      success: whether it is a minimum, up to the tolerance.
      status: 0 for success, 1 for the limit of iterations; else see ``xcore.optimize.Status``.
      fun, jac: the function and its gradient there.
      hess_inv: the last estimate of the inverse Hessian; None from methods without one.
      nfev, njev, nit: calls of the function, of its gradient; iterations.

    >>> import xcore.numpy as xnp
    >>> from xcore.scipy.optimize import minimize
    >>> found = minimize(lambda x: xnp.sum((x - 1) ** 2), xnp.zeros(2), method="BFGS")
    >>> bool(found.success), found.x.round(3)
    (True, Array([1., 1.], dtype=float32))
    """

    x: Any
    success: Any
    status: Any
    fun: Any
    jac: Any
    hess_inv: Any
    nfev: Any
    njev: Any
    nit: Any

    @property
    def message(self) -> str:
        """The status in words."""
        return words(self.status)

    def __getitem__(self, which: Any) -> Any:
        return getattr(self, which) if isinstance(which, str) else tuple(self)[which]


def words(status: Any) -> str:
    """What a status says, where it is known."""
    return Result(None, status).message


def point(x0: Any, fun: Any, args: Any = ()) -> Any:
    """x0 as SciPy reads it: a list is an array, of Python's numbers as wide as fun; other trees stay as they are."""
    if not (isinstance(x0, (list, tuple)) and _numbers(x0)):
        return as_wide(fun, x0, args)
    x = xnp.asarray(x0)
    plain = callable(fun) and are_plain(x0)
    return xnp.asarray(x0, width_of(fun, x.astype(float), args)) if plain else x


def _numbers(x) -> bool:
    plain = (bool, int, float, complex, np.generic)
    return len(x) > 0 and all(isinstance(v, plain) or getattr(v, "shape", None) == () for v in x)


def pairs(bounds: Any) -> Any:
    """Bounds of ``minimize``: a pair for each variable, in whatever sequence."""
    if isinstance(bounds, (list, tuple)) and all(
        isinstance(b, (list, tuple)) and len(b) == 2 for b in bounds
    ):
        return [tuple(b) for b in bounds]
    return bounds


def limits(
    who: str, options: Any, tol: float | None, maxiter: int | None = None
) -> tuple[Any, Any, bool]:
    """(tol, maxiter, whether to print) of SciPy's options."""
    if not isinstance(options or {}, dict):
        raise errors.bad_argument(who, "options", options, "a dict such as {'maxiter': 100}")
    show = False
    for key, value in (options or {}).items():
        if key in _TOLERANCES:
            tol = value if tol is None else tol
        elif key in _LIMITS:
            maxiter = value if maxiter is None or value is None else min(maxiter, value)
        elif key == "disp":
            show = bool(value)
        elif key not in _NO_EFFECT:
            why = [w for names, w in INSTEAD.items() if key in names.split()]
            wanted = f"of {', '.join((*_TOLERANCES, *_LIMITS, 'disp'))} and others of SciPy"
            advice = (
                why[0] if why else "settings of a method belong to its object, as in NewtonCG()"
            )
            raise errors.bad_argument(who, "options", key, wanted, f"{key}: {advice}.")
    return tol, maxiter, show


@boundary
def minimize(
    fun: Callable[..., Any], x0: Any, args: Any = (), method: Any = None, jac: Any = None,
    hess: Any = None, hessp: Any = None, bounds: Any = None, constraints: Any = (),
    tol: float | None = None, callback: None = None, options: dict[str, Any] | None = None,
) -> OptimizeResults:  # fmt: skip
    """The point where a function is least, near a start; see ``xcore.optimize.minimize``.

    The point has derivatives with respect to all that ``fun`` uses, by the implicit function theorem.

    Args:
      fun: ``fun(x, *args)``, a real scalar.
      x0: where to start: an array, a list, or a tree of arrays.
      args: further arguments, a tuple.
      method: "BFGS", "L-BFGS-B", "Nelder-Mead", "SLSQP", or another name that ``xcore.optimize.minimize`` knows; by
        default "BFGS", with bounds "L-BFGS-B", with constraints "SLSQP".
      jac, hess, hessp: as there; differences by name ("2-point") are left to the exact derivative.
      bounds: a pair (least, greatest) for each variable, None for no bound; or ``Bounds``.
      constraints: dicts with "type", "fun", "jac", "args", ``LinearConstraint``, ``NonlinearConstraint``.
      tol: the error of each variable, relative to its size or way; eps^0.4 by default, 5e-7 in 64 bits and 2e-3
        in 32.
      callback: must be None: loops are compiled.
      options: a dict: "maxiter" ("maxfun" and "maxfev" limit it too), "gtol", "xtol" and "xatol" (other names for
        tol), "disp" to print how it ended. "ftol", "eps" and what else tunes SciPy's methods have no effect.

    >>> found = minimize(rosen, [-1.2, 1.0], method="BFGS")
    >>> [round(float(x), 2) for x in found.x], bool(found.success)
    ([1.0, 1.0], True)
    """
    who, x0 = "scipy.optimize.minimize", point(x0, fun, args)
    tol, most, show = limits(who, options, tol)
    given = not (
        constraints is None or (isinstance(constraints, (list, tuple, dict)) and not constraints)
    )
    if method is None:
        method = "SLSQP" if given else "BFGS" if bounds is None else "L-BFGS-B"
    if isinstance(method, str) and method.lower().startswith("l-bfgs"):
        method = "lbfgs" if bounds is None else "lbfgsb"
    most = 200 * Flat(who, "x0", x0).size if most is None else most
    found = _minimize(
        fun, x0, args, method, None if jac in _DERIVED else jac, None if hess in _DERIVED else hess, hessp,
        pairs(bounds), constraints if given else None, tol, callback, maxiter=most,
    )  # fmt: skip
    h = found.stats.get("hess_inv")
    result = OptimizeResults(
        found.x, found.status == 0, found.status, found.fun, found.grad, h, found.nfev, found.njev,
        found.nit,
    )  # fmt: skip
    if show:
        _as_numpy(result)
    return result


def _as_numpy(found: OptimizeResults) -> None:
    if all(type(x) in (Array, np.ndarray) for x in tree.leaves(found)):
        print(f"{found.message}\n         Current function value: {float(found.fun):f}")
        print(
            f"         Iterations: {int(found.nit)}\n         Function evaluations: {int(found.nfev)}"
        )


@overload
def fmin(
    func: Callable[..., Any], x0: Any, args: Any = (), xtol: float | None = None, ftol: float | None = None,
    maxiter: int | None = None, maxfun: int | None = None, full_output: Literal[False, 0] = 0, disp: bool | int = 1,
    retall: bool | int = 0, callback: None = None, initial_simplex: None = None,
) -> Array: ...  # fmt: skip
@overload
def fmin(
    func: Callable[..., Any], x0: Any, args: Any = (), xtol: float | None = None, ftol: float | None = None,
    maxiter: int | None = None, maxfun: int | None = None, *, full_output: Literal[True, 1], disp: bool | int = 1,
    retall: bool | int = 0, callback: None = None, initial_simplex: None = None,
) -> tuple[Array, Array, Array, Array, Array]: ...  # fmt: skip
@overload
def fmin(
    func: Callable[..., Any], x0: Any, args: Any = (), xtol: float | None = None, ftol: float | None = None,
    maxiter: int | None = None, maxfun: int | None = None, full_output: bool | int = 0, disp: bool | int = 1,
    retall: bool | int = 0, callback: None = None, initial_simplex: None = None,
) -> Array | tuple[Array, Array, Array, Array, Array]: ...  # fmt: skip
@boundary
def fmin(
    func: Callable[..., Any], x0: Any, args: Any = (), xtol: float | None = None,
    ftol: float | None = None, maxiter: int | None = None, maxfun: int | None = None,
    full_output: bool | int = 0, disp: bool | int = 1, retall: bool | int = 0,
    callback: None = None, initial_simplex: None = None,
) -> Array | tuple[Array, Array, Array, Array, Array]:  # fmt: skip
    """The point where a function is least, by Nelder and Mead's method; see ``minimize``.

    Args:
      func: ``func(x, *args)``, a real scalar.
      x0: where to start.
      args: further arguments, a tuple.
      xtol: the tolerance of x; ftol has no effect.
      maxiter, maxfun: steps at most.
      full_output: return (x, value, iterations, evaluations, status) instead of x.
      disp: print how it ended.
      retall, callback, initial_simplex: must be left out.

    >>> [round(float(v), 1) for v in fmin(rosen, [-1.2, 1.0], disp=False)]
    [1.0, 1.0]
    """
    who = "scipy.optimize.fmin"
    for name, given in (
        ("retall", retall),
        ("callback", callback),
        ("initial_simplex", initial_simplex),
    ):
        one_of(who, name, given, (None, 0, False), "left out: loops are compiled")
    limit = {k: v for k, v in (("maxiter", maxiter), ("maxfun", maxfun)) if v is not None}
    found = minimize(func, x0, args, "Nelder-Mead", tol=xtol, options={"disp": bool(disp), **limit})
    if not full_output:
        return found.x
    return found.x, found.fun, found.nit, found.nfev, found.status


# Rosenbrock's function


def rosen(x: ArrayLike | Sequence[Any]) -> Array:
    """Rosenbrock's function Σ 100 (xᵢ₊₁ - xᵢ²)² + (1 - xᵢ)².

    Args:
      x: two or more numbers, or an array whose first axis counts them.

    >>> rosen([1.0, 2.0, 3.0])
    Array(201., dtype=float32)
    """
    x = xnp.asarray(x) * 1.0
    return xnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2, axis=0)


def rosen_der(x: ArrayLike | Sequence[Any]) -> Array:
    """Its gradient.

    Args:
      x: the point: two or more numbers.

    >>> rosen_der([1.0, 1.0])
    Array([0., 0.], dtype=float32)
    """
    return grad(rosen)(xnp.asarray(x) * 1.0)


def rosen_hess(x: ArrayLike | Sequence[Any]) -> Array:
    """Its Hessian.

    Args:
      x: the point: two or more numbers.

    >>> rosen_hess([1.0, 1.0])
    Array([[ 802., -400.],
           [-400.,  200.]], dtype=float32)
    """
    return hessian(rosen)(xnp.asarray(x) * 1.0)


def rosen_hess_prod(x: ArrayLike | Sequence[Any], p: ArrayLike | Sequence[Any]) -> Array:
    """The product of its Hessian and a vector.

    Args:
      x: vector; the point.
      p: vector of this length.

    >>> rosen_hess_prod([1.0, 1.0], [1.0, 2.0])
    Array([2., 0.], dtype=float32)
    """
    x = xnp.asarray(x) * 1.0
    return jvp(grad(rosen), (x,), (xnp.asarray(p, x.dtype),))[1]
