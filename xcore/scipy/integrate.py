"""``scipy.integrate``: initial value problems, and integrals of samples."""

from __future__ import annotations

from collections.abc import Callable as _Callable
from collections.abc import Sequence as _Sequence
from typing import Any as _Any

from .. import numpy as _xnp
from .._core import Array as _Array
from .._core import boundary as _boundary
from .._core import dtypes as _dtypes
from .._core import errors as _errors
from .._core import typeof as _typeof
from .._core.typing import ArrayLike as _ArrayLike
from .._width import are_plain as _are_plain
from .._width import width_of as _width_of
from ..experimental.ode import odeint as _odeint
from ..pde._time import check_order as _check_order
from ._continuation import OdeSolution
from ._found import Found as OdeResult
from ._initial_value import solve_ivp
from ._names import guide as _guide

__all__ = [
    "OdeResult", "OdeSolution", "cumulative_trapezoid", "odeint", "simpson", "solve_ivp",
    "trapezoid",
]  # fmt: skip


def trapezoid(
    y: _ArrayLike | _Sequence[_Any], x: _ArrayLike | _Sequence[_Any] | None = None,
    dx: _ArrayLike = 1.0, axis: int = -1,
) -> _Array:  # fmt: skip
    """The integral of samples along an axis by the trapezoidal rule.

    Args:
      y: samples.
      x: where they were taken; equally spaced by dx if not given.
      dx: the spacing.
      axis: along which to integrate.

    >>> import xcore.numpy as xnp
    >>> trapezoid(xnp.asarray([1.0, 2.0, 4.0]), dx=0.5)
    Array(2.25, dtype=float32)
    """
    x = x if x is None else _xnp.asarray(x)
    return _xnp.trapezoid(_xnp.asarray(y), x, dx, axis)


def _widths(who: str, x, dx, n: int, axis: int, ndim: int):
    """The widths between n samples, to go with their last axis."""
    if x is None:
        return dx
    x = _xnp.asarray(x)
    x = x if _typeof(x).ndim == 1 else _xnp.moveaxis(x, axis, -1)
    if _typeof(x).shape[-1] != n:
        raise _errors.bad_argument(who, "x", _typeof(x), f"{n} places, one for each sample of y")
    return _xnp.diff(x, axis=-1)


def cumulative_trapezoid(
    y: _ArrayLike | _Sequence[_Any], x: _ArrayLike | _Sequence[_Any] | None = None,
    dx: _ArrayLike = 1.0, axis: int = -1, *, initial: float | None = None,
) -> _Array:  # fmt: skip
    """The integrals of samples from the first one to each later one by the trapezoidal rule.

    Args:
      y, x, dx, axis: as for ``trapezoid``.
      initial: 0 puts the integral up to the first sample, 0, before the others.

    >>> cumulative_trapezoid([1.0, 2.0, 4.0], dx=0.5, initial=0)
    Array([0.  , 0.75, 2.25], dtype=float32)
    """
    who = "scipy.integrate.cumulative_trapezoid"
    y = _xnp.moveaxis(_xnp.asarray(y), axis, -1)
    if not _typeof(y).shape[-1]:
        raise _errors.bad_argument(who, "y", _typeof(y), "one sample or more")
    if initial is not None and (not isinstance(initial, (int, float)) or initial != 0):
        raise _errors.bad_argument(who, "initial", initial, "0 or None")
    h = _widths(who, x, dx, _typeof(y).shape[-1], axis, _typeof(y).ndim)
    sums = _xnp.cumsum(h * (y[..., 1:] + y[..., :-1]) / 2, axis=-1)
    if initial is not None:
        sums = _xnp.concatenate([_xnp.zeros_like(sums, shape=(*sums.shape[:-1], 1)), sums], axis=-1)
    return _xnp.moveaxis(sums, -1, axis)


def simpson(
    y: _ArrayLike | _Sequence[_Any], x: _ArrayLike | _Sequence[_Any] | None = None, *,
    dx: _ArrayLike = 1.0, axis: int = -1,
) -> _Array:  # fmt: skip
    """The integral of samples along an axis by Simpson's rule.

    Exact for parabolas at any spacing. Of an even number of samples the last interval is integrated by the parabola
    through the last three. (Cartwright 2017, "Simpson's rule cumulative integration with MS Excel and
    irregularly-spaced data")

    Args:
      y, x, dx, axis: as for ``trapezoid``.

    >>> simpson([0.0, 1.0, 4.0, 9.0])
    Array(9., dtype=float32)
    """
    y = _xnp.moveaxis(_xnp.asarray(y), axis, -1)
    n = _typeof(y).shape[-1]
    h = _widths("scipy.integrate.simpson", x, dx, n, axis, _typeof(y).ndim)
    if n < 3:
        return _xnp.sum(h * (y[..., 1:] + y[..., :-1]) / 2, axis=-1)
    if not hasattr(h, "dtype"):  # a number, which is as wide as the samples
        h = _xnp.asarray(h, _dtypes.to_real(_dtypes.to_inexact(_typeof(y).dtype)))
    h = _xnp.broadcast_to(h, (*y.shape[:-1], n - 1))
    m = n - 1 - (n - 1) % 2  # intervals in pairs
    total = _xnp.sum(_by_parabolas(h[..., 0:m:2], h[..., 1:m:2], y[..., : m + 1]), axis=-1)
    if m == n - 1:
        return total
    return total + _last_interval(h[..., -2], h[..., -1], y)


def _nonzero_widths(a, b):
    """Widths that no formula divides by 0 with, and where two samples stand at one place."""
    same = (a == 0) | (b == 0)
    return _xnp.where(same, 1, a), _xnp.where(same, 1, b), same


def _by_parabolas(a, b, y):
    left, middle, right = y[..., :-2:2], y[..., 1:-1:2], y[..., 2::2]
    straight = (a * (left + middle) + b * (middle + right)) / 2
    a, b, same = _nonzero_widths(a, b)
    outer = left * (2 - b / a) + right * (2 - a / b)
    return _xnp.where(same, straight, (a + b) / 6 * (outer + middle * (a + b) ** 2 / (a * b)))


def _last_interval(a, b, y):
    """The integral from the last sample but one on, of the parabola through the last three."""
    first, second, third = y[..., -3], y[..., -2], y[..., -1]
    straight = b * (second + third) / 2
    a, b, same = _nonzero_widths(a, b)
    sides = third * (2 * b + 3 * a) / (a + b) + second * (b + 3 * a) / a
    return _xnp.where(same, straight, b / 6 * (sides - first * b**2 / (a * (a + b))))


@_boundary
def odeint(
    func: _Callable[..., _Any], y0: _ArrayLike | _Sequence[_Any], t: _ArrayLike | _Sequence[float],
    args: _Any = (), Dfun: _Any = None, col_deriv: bool | int = 0,
    full_output: bool | int = 0, ml: int | None = None, mu: int | None = None,
    rtol: float | None = None, atol: float | None = None, tcrit: _Any = None,
    h0: float = 0.0, hmax: float = 0.0, hmin: float = 0.0, ixpr: bool | int = 0, mxstep: int = 0,
    mxhnil: int = 0, mxordn: int = 12, mxords: int = 5, printmessg: bool | int = 0,
    tfirst: bool = False,
) -> _Array:  # fmt: skip
    """The solution of ``y' = func(y, t, *args)`` at times t, a row for each; see ``xcore.experimental.ode.odeint``.

    The method is explicit, by Dormand and Prince: stiff equations take many steps. What belongs to LSODA, from
    ``Dfun`` on, has no effect but rtol, atol, hmax, mxstep and tfirst.

    Args:
      func: ``func(y, t, *args)``; with ``tfirst``, ``func(t, y, *args)``.
      y0: state at t[0], a vector.
      t: times, rising or falling.
      args: a tuple of further arguments.
      rtol, atol: the error of each element in a step is at most about atol + rtol |y|; 1.5e-8 by default.

    >>> odeint(lambda y, t: -y, [1.0], [0.0, 0.5, 1.0])[:, 0].round(3)
    Array([1.   , 0.607, 0.368], dtype=float32)
    """
    who = "scipy.integrate.odeint"
    if full_output:
        wanted = "0: there is no record; solve_ivp tells how it went"
        raise _errors.bad_argument(who, "full_output", full_output, wanted)
    _check_order(who, func, first="time" if tfirst else "state")
    args = args if isinstance(args, tuple) else (args,)

    def slope(y, s):
        return _xnp.asarray(func(s, y, *args) if tfirst else func(y, s, *args))

    start, times = _xnp.atleast_1d(_xnp.asarray(y0)), _xnp.asarray(t)
    kind = _xnp.result_type(start, times, float)
    if _are_plain((y0, t)):
        kind = _xnp.result_type(kind, _width_of(slope, start.astype(kind), _xnp.zeros((), float)))
    t = times if hasattr(t, "dtype") else _xnp.asarray(t, _dtypes.to_real(kind))
    y0 = _xnp.atleast_1d(_xnp.asarray(y0, kind))

    tolerances = {"rtol": rtol, "atol": atol}
    return _odeint(
        slope, y0, t, mxstep=mxstep or _xnp.inf, hmax=hmax or _xnp.inf,
        **{name: value for name, value in tolerances.items() if value is not None},
    )  # fmt: skip


_ABSENT = {
    "quad dblquad tplquad nquad quad_vec fixed_quad":
        "Integrals of functions work on the host: SciPy's own takes functions of xcore, outside of jit, grad and "
        "vmap: from scipy.integrate import quad. Of samples, also inside of them: trapezoid, simpson.",
    "romb romberg quadrature cumulative_simpson newton_cotes qmc_quad":
        "There are trapezoid, simpson and cumulative_trapezoid.",
    "ode complex_ode OdeSolver DenseOutput RK45 RK23 DOP853 Radau BDF LSODA":
        "There are odeint, and solve_ivp with method='RK45' or 'RK23', for stiff equations 'Radau' or 'BDF'.",
    "solve_bvp":
        "See xcore.pde.solve_nonlinear for boundary value problems on grids; SciPy's own takes functions of xcore: "
        "from scipy.integrate import solve_bvp.",
    "cumtrapz": "SciPy's name is cumulative_trapezoid.",
    "trapz": "NumPy's and SciPy's name is trapezoid.",
    "simps": "SciPy's name is simpson.",
}  # fmt: skip
__getattr__ = _guide(__name__, _ABSENT)
