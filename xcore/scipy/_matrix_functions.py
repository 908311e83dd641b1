"""Functions of matrices with SciPy's arguments, for ``xcore.scipy.linalg``."""

from __future__ import annotations

from collections.abc import Callable as _Callable
from collections.abc import Sequence as _Sequence
from typing import Any as _Any

import numpy as _np

from .. import linalg as _la
from .. import numpy as _xnp
from .._control import vmap as _vmap
from .._core import Array as _Array
from .._core import ArrayLike as _ArrayLike
from .._core import errors as _errors
from ..linalg._range import in_units as _in_units
from ..numpy.linalg import norm


def expm_frechet(
    A: _ArrayLike | _Sequence[_Any], E: _ArrayLike | _Sequence[_Any], method: str | None = None,
    compute_expm: bool = True, check_finite: bool = True,
) -> _Any:  # fmt: skip
    """(exp(A), its derivative in the direction E), or the derivative alone.

    ``method`` is None, "SPS" or "blockEnlarge"; all are the last one.

    Args:
      A: matrices (..., n, n).
      E: matrices (..., n, n), the direction.
      compute_expm: False returns the derivative alone.
      method: None, "SPS" or "blockEnlarge"; of no effect.
      check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> expm_frechet(xnp.zeros((1, 1)), xnp.ones((1, 1)))[1].round(3)
    Array([[1.]], dtype=float32)
    """
    if method not in (None, "SPS", "blockEnlarge"):
        what = "None, 'SPS' or 'blockEnlarge'"
        raise _errors.bad_argument("scipy.linalg.expm_frechet", "method", method, what)
    value, moved = _la.expm_frechet(A, E)
    return (value, moved) if compute_expm else moved


def expm(
    A: _ArrayLike | _Sequence[_Any], *, upper_triangular: bool = False,
    max_squarings: int | None = None,
) -> _Array:  # fmt: skip
    """The exponential of a matrix.

    Args:
      A: matrices (..., n, n).
      upper_triangular: they are; what stands below their diagonals is not read.
      max_squarings: a matrix that needs more squarings (about log₂ of its norm) gives NaN.

    >>> import xcore.numpy as xnp
    >>> expm(xnp.zeros((2, 2)))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return _la.expm(_xnp.triu(A) if upper_triangular else A, max_squarings)


def logm(A: _ArrayLike | _Sequence[_Any], disp: bool = True) -> _Any:
    """The principal logarithm; without ``disp`` also |exp(x) - a| / |a| in the 1-norm.

    Args:
      A: matrices (..., n, n).
      disp: False returns a pair: the matrix, and how wrong it is, as said above.

    >>> import xcore.numpy as xnp
    >>> logm(xnp.eye(2)).real.round(4)
    Array([[0., 0.],
           [0., 0.]], dtype=float32)
    """
    x = _la.logm(A)
    return x if disp else (x, norm(_la.expm(x) - A, 1) / norm(A, 1))  # pyright: ignore[reportOperatorIssue]


def sqrtm(A: _ArrayLike | _Sequence[_Any], disp: bool = True, blocksize: int = 64) -> _Any:
    """The principal square root; without ``disp`` also |x² - a|² / |a| in Frobenius' norm.

    Args:
      A: matrices (..., n, n).
      disp: False returns a pair: the matrix, and how wrong it is, as said above.
      blocksize: of no effect.

    >>> import xcore.numpy as xnp
    >>> sqrtm(xnp.eye(2) * 4).real.round(4)
    Array([[2., 0.],
           [0., 2.]], dtype=float32)
    """
    x = _la.sqrtm(A)
    return x if disp else (x, norm(x @ x - _xnp.asarray(A)) ** 2 / norm(A))


def expm_cond(A: _ArrayLike | _Sequence[_Any], check_finite: bool = True) -> _Array:
    """How much relative changes of a matrix are amplified in its exponential, in Frobenius' norm:
    |L| |a| / |exp(a)| with the derivative L, a matrix of n² rows.

    Args:
      A: matrices (..., n, n).
      check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> expm_cond(xnp.eye(1) * 2).round(3)
    Array(2., dtype=float32)
    """
    a = _xnp.asarray(A) * 1.0
    n = a.shape[-1]
    units = _xnp.eye(n * n, dtype=a.dtype).reshape(n * n, *[1] * (a.ndim - 2), n, n)
    along = _vmap(lambda e: _la.expm_frechet(a, _xnp.broadcast_to(e, a.shape))[1])(units)
    whole = _xnp.moveaxis(along, 0, -1).reshape(*a.shape[:-2], n * n, n * n)
    size = norm(a, axis=(-2, -1)) / norm(_la.expm(a), axis=(-2, -1))
    return norm(whole, 2, axis=(-2, -1)) * size


def funm(A: _ArrayLike | _Sequence[_Any], func: _Callable[..., _Any], disp: bool = True) -> _Any:
    """A function of a matrix from its values at eigenvalues, complex; without ``disp`` also an estimate
    of the relative error. See ``xcore.linalg.funm``.

    Args:
      A: matrices (..., n, n).
      func: function of complex arrays, elementwise and analytic.
      disp: False returns a pair: the matrix, and how wrong it is, as said above.

    >>> import xcore.numpy as xnp
    >>> funm(xnp.diag(xnp.asarray([1.0, 4.0])), xnp.sqrt).real
    Array([[1., 0.],
           [0., 2.]], dtype=float32)
    """
    value, error = _la.funm(A, func)
    return value if disp else (value, error)


def signm(A: _ArrayLike | _Sequence[_Any], disp: bool = True) -> _Any:
    """The sign of a matrix without imaginary eigenvalues, a (a²)^(-1/2); without ``disp`` also
    |x² - 1| in the 1-norm.

    (Higham 2008, "Functions of matrices", section 5.1)

    Args:
      A: matrices (..., n, n).
      disp: False returns a pair: the matrix, and how wrong it is, as said above.

    >>> import xcore.numpy as xnp
    >>> signm(xnp.diag(xnp.asarray([3.0, -2.0]))).round(4)
    Array([[ 1.,  0.],
           [ 0., -1.]], dtype=float32)
    """
    _, a = _in_units(_xnp.asarray(A), (-2, -1))
    x = a @ _la.inv(_la.sqrtm(a @ a))
    x = x if _xnp.iscomplexobj(a) else x.real
    return x if disp else (x, norm(x @ x - _xnp.eye(a.shape[-1], dtype=x.dtype), 1))


def _real_like(x, a):
    return _xnp.real(x).astype(a.dtype) if _xnp.isrealobj(a) else x


def _trigonometric(a):
    """(cosine, sine), from e^{ia} and e^{-ia}, of which for real a the second is the conjugate."""
    a = _xnp.asarray(a) * 1.0
    up = expm(1j * a)
    down = _xnp.conj(up) if _xnp.isrealobj(a) else expm(-1j * a)
    return _real_like((up + down) / 2, a), _real_like((up - down) / 2j, a)


def _hyperbolic(a):
    a = _xnp.asarray(a) * 1.0
    up, down = expm(a), expm(-a)
    return (up + down) / 2, (up - down) / 2


def cosm(A: _ArrayLike | _Sequence[_Any]) -> _Array:
    """The cosine of a matrix.

    Args:
      A: square matrices (..., n, n).

    >>> import xcore.numpy as xnp
    >>> cosm(xnp.zeros((1, 1)))
    Array([[1.]], dtype=float32)
    """
    return _trigonometric(A)[0]


def sinm(A: _ArrayLike | _Sequence[_Any]) -> _Array:
    """The sine of a matrix.

    Args:
      A: square matrices (..., n, n).

    >>> import xcore.numpy as xnp
    >>> sinm(xnp.zeros((1, 1)))
    Array([[0.]], dtype=float32)
    """
    return _trigonometric(A)[1]


def tanm(A: _ArrayLike | _Sequence[_Any]) -> _Array:
    """The tangent of a matrix.

    Args:
      A: square matrices (..., n, n).

    >>> import xcore.numpy as xnp
    >>> tanm(xnp.zeros((1, 1)))
    Array([[0.]], dtype=float32)
    """
    return _la.solve(*_trigonometric(A))


def coshm(A: _ArrayLike | _Sequence[_Any]) -> _Array:
    """The hyperbolic cosine of a matrix.

    Args:
      A: square matrices (..., n, n).

    >>> import xcore.numpy as xnp
    >>> coshm(xnp.zeros((1, 1)))
    Array([[1.]], dtype=float32)
    """
    return _hyperbolic(A)[0]


def sinhm(A: _ArrayLike | _Sequence[_Any]) -> _Array:
    """The hyperbolic sine of a matrix.

    Args:
      A: square matrices (..., n, n).

    >>> import xcore.numpy as xnp
    >>> sinhm(xnp.zeros((1, 1)))
    Array([[0.]], dtype=float32)
    """
    return _hyperbolic(A)[1]


def tanhm(A: _ArrayLike | _Sequence[_Any]) -> _Array:
    """The hyperbolic tangent of a matrix.

    Args:
      A: square matrices (..., n, n).

    >>> import xcore.numpy as xnp
    >>> tanhm(xnp.zeros((1, 1)))
    Array([[0.]], dtype=float32)
    """
    return _la.solve(*_hyperbolic(A))


def fractional_matrix_power(A: _ArrayLike | _Sequence[_Any], t: float) -> _Array:
    """A^t = A^⌊t⌋ e^{(t - ⌊t⌋) log A}; complex, like ``logm``, but for whole t. On a CPU only, then.

    Args:
      A: matrices (..., n, n).
      t: number.

    >>> import xcore.numpy as xnp
    >>> fractional_matrix_power(xnp.eye(1) * 4, 0.5).real.round(3)
    Array([[2.]], dtype=float32)
    """
    A, whole = _xnp.asarray(A) * 1.0, int(_np.floor(t))
    power = _xnp.linalg.matrix_power(A, whole)
    return power if t == whole else power @ expm((t - whole) * logm(A))
