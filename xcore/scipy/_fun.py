"""Functions and their derivatives for SciPy's solvers: NumPy in, NumPy out."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import eval_shape, grad, hessian, jacfwd, jacrev, jit, jvp
from .. import numpy as xnp
from .._core import boundary


class ScipyFun:
    """A function of xcore's with its derivatives, for SciPy: ``fun``, ``fun.jac``, ``fun.hess``, ``fun.hessp``.

    Each is compiled once for each shape. See ``xcore.scipy_fun``.
    """

    def __init__(self, f: Callable[..., Any], argnum: int):
        self._f, self._argnum = f, argnum
        self._programs: dict[str, Any] = {}
        with contextlib.suppress(ValueError, TypeError):  # SciPy counts the parameters of a model
            self.__signature__ = inspect.signature(f)

    def _run(self, name: str, make: Callable[[], Callable[..., Any]], args: tuple[Any, ...]) -> Any:
        """The program of this name on arguments as NumPy has them; numbers of Python are float64."""
        if name not in self._programs:
            self._programs[name] = jit(make())
        given = [_as_floats(x) if i == self._argnum else _as_numpy(x) for i, x in enumerate(args)]
        return np.asarray(self._programs[name](*given))

    def __call__(self, *args: Any) -> Any:
        """The value: a float where it is a scalar, as ``scipy.optimize.minimize`` wants it, else an array."""
        found = self._run("value", lambda: self._f, args)
        return found if found.ndim else found.item()

    def jac(self, *args: Any) -> np.ndarray:
        """The gradient of a scalar, or the Jacobian."""
        return self._run("jac", lambda: lambda *a: self._jacobian(*a), args)

    def _jacobian(self, *args: Any) -> Any:
        out, x = eval_shape(self._f, *args), args[self._argnum]
        if out.ndim == 0:
            return grad(self._f, self._argnum)(*args)
        forward = x.size <= out.size
        return (jacfwd if forward else jacrev)(self._f, self._argnum)(*args)

    def hess(self, *args: Any) -> np.ndarray:
        """The Hessian of a scalar; of a vector, with weights v behind the arguments, Σ vᵢ Hᵢ."""
        return self._run("hess", lambda: self._hessian, args)

    def _hessian(self, *args: Any) -> Any:
        return hessian(*self._weighted(args))(*args)

    def hessp(self, *args: Any) -> np.ndarray:
        """``hessp(x, p, *args)``: the Hessian of a scalar times p, which stands behind the variable."""
        return self._run("hessp", lambda: self._hessian_product, args)

    def _hessian_product(self, *args: Any) -> Any:
        at = self._argnum
        before, x, p, after = args[:at], args[at], args[at + 1], args[at + 2 :]
        slope = grad(lambda x: self._f(*before, x, *after))
        return jvp(slope, (x,), (p.astype(x.dtype),))[1]

    def _weighted(self, args: tuple[Any, ...]) -> tuple[Callable[..., Any], int]:
        """The scalar that is differentiated, and by which argument."""
        try:
            scalar = eval_shape(self._f, *args).ndim == 0
        except TypeError:  # it does not take the weights that are there
            scalar = False
        if scalar:
            return self._f, self._argnum
        return lambda *a: xnp.vdot(a[-1], self._f(*a[:-1])), self._argnum


def _as_numpy(x: Any) -> Any:
    return np.asarray(x, float) if isinstance(x, (int, float, list, tuple)) else x


def _as_floats(x: Any) -> Any:
    """What is differentiated by: integers, too, are read as numbers of float64."""
    x = np.asarray(x)
    return x.astype(float) if x.dtype.kind in "iub" else x


@boundary
def scipy_fun(fun: Callable[..., Any], argnum: int = 0) -> ScipyFun:
    """A function with its derivatives as SciPy's solvers take them: NumPy arrays in, NumPy arrays out.

    ``fun.jac``, ``fun.hess`` and ``fun.hessp`` are its derivatives by one argument, compiled; numbers have
    the width of what SciPy passes, which is float64.

    Args:
      fun: function of arrays, of a scalar or an array.
      argnum: which argument the derivatives are taken by: 1 for ``fun(t, y)`` of ``scipy.integrate``.

    >>> import scipy.optimize, xcore as xc, xcore.numpy as xnp
    >>> f = xc.scipy_fun(lambda x: xnp.sum((x - 1) ** 2) + xnp.sum(x**4))
    >>> found = scipy.optimize.minimize(f, [0.0, 2.0], jac=f.jac, hess=f.hess, method="trust-exact")
    >>> print(found.x.round(6), f.jac(found.x).round(4) + 0.0)
    [0.589755 0.589755] [0. 0.]
    """
    if not callable(fun):
        raise TypeError(f"xcore.scipy_fun: expected a function, given {type(fun).__name__}.")
    return ScipyFun(fun, argnum)
