"""Checks of values and derivatives, for tests: ``assert_close``, ``check_grads``.

Derivatives are compared with central differences in one random direction, so a check costs a few
evaluations of the function whatever its size.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._core import DTypeLike, PyTree, boundary, dtypes, tree
from ._core import is_array_like as _is_array_like
from ._transforms.api import float0, jvp, vjp

__all__ = ["assert_close", "check_grads", "check_jvp", "check_vjp", "tolerance"]

# Errors of a few operations: this many units in the last place.
_ULPS = {2: 4, 4: 32, 8: 32}


def _precision(*arrays) -> np.dtype:
    """The real dtype of the least precise of some arrays (float64 for exact ones)."""
    found = [dtypes.to_real(a.dtype) for a in arrays if dtypes.is_inexact(a.dtype)]
    return min(
        found, key=lambda d: (-float(dtypes.finfo(d).eps), d.itemsize), default=dtypes.float64
    )


def tolerance(dtype: DTypeLike) -> float:
    """The relative error that results of a few operations may have in a dtype.

    Args:
      dtype: a dtype of floats or complex numbers, or its name.

    >>> tolerance("float64") < 1e-14 < tolerance("float32") < 1e-5
    True
    """
    real = dtypes.to_real(dtypes.as_dtype(dtype))
    return _ULPS[real.itemsize] * float(dtypes.finfo(real).eps)


def _wide(a: np.ndarray) -> np.ndarray:
    """In a dtype that NumPy compares without rounding."""
    if dtypes.is_complex(a.dtype):
        return a.astype(np.complex128)
    return a.astype(np.float64) if dtypes.is_inexact(a.dtype) else a


@boundary
def assert_close(
    actual: PyTree, expected: PyTree, *, rtol: float | None = None, atol: float | None = None,
    err_msg: str = "",
) -> None:  # fmt: skip
    """Raise AssertionError where two trees differ in structure, shapes or, but for errors, values.

    Args:
      actual, expected: trees of arrays or numbers; a list counts as an array in ``expected``
        where ``actual`` has one.
      rtol, atol: ``|actual - expected| <= atol + rtol |expected|``; by default ``tolerance`` of the
        less precise of the two dtypes. Integers and booleans must be equal.
      err_msg: what the error says besides.

    >>> import xcore.numpy as xnp
    >>> assert_close({"a": xnp.ones(2)}, {"a": [1.0, 1.0 + 1e-7]})
    >>> assert_close({"a": xnp.ones(2)}, {"a": [1.0, 1.1]})  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    AssertionError: Not equal to tolerance ...
    """
    leaves, structure = tree.flatten_with_path(actual)
    parts = tree.flatten_up_to(structure, expected, "testing.assert_close")
    for (path, a), b in zip(leaves, parts, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        name = f"{err_msg} at tree{tree.keystr(path)}" if path else err_msg
        assert a.shape == b.shape, f"{name}: shapes {a.shape} and {b.shape}"
        limit = tolerance(_precision(a, b))
        exact = not (dtypes.is_inexact(a.dtype) or dtypes.is_inexact(b.dtype))
        rtol_, atol_ = (0 if exact else limit if t is None else t for t in (rtol, atol))
        np.testing.assert_allclose(_wide(a), _wide(b), rtol=rtol_, atol=atol_, err_msg=name)


# Differences


def _is_smooth(x) -> bool:
    dtype = x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype
    return dtype != float0 and dtypes.is_inexact(dtype)


def _host(tree_):
    """On the host, as wide as functions take it: under the setting narrow a Python float is a float32."""

    def on_host(x):
        x = np.asarray(x)
        return x.astype(dtypes.at_width(x.dtype), copy=False)

    return tree.map(on_host, tree_)


def _random_like(rng, tree_):
    """A direction with entries of size at most 1; float0 zeros for integers."""

    def direction(x):
        x = np.asarray(x)
        if not _is_smooth(x):
            return np.zeros(x.shape, float0)
        v = rng.uniform(-1, 1, x.shape)
        if dtypes.is_complex(x.dtype):
            v = v + 1j * rng.uniform(-1, 1, x.shape)
        return np.asarray(v).astype(x.dtype)

    return tree.map(direction, tree_)


def _shifted_by(xs, vs, h: float):
    def move(x, v):
        return (_wide(x) + h * _wide(v)).astype(x.dtype) if _is_smooth(x) else x

    return tree.map(move, xs, vs)


def _numeric_jvp(f, xs, vs, h: float):
    """The derivative of f along vs by a central difference of fourth order."""

    def at(step):
        return [_wide(np.asarray(y)) for y in tree.leaves(f(*_shifted_by(xs, vs, step)))]

    near = [a - b for a, b in zip(at(h), at(-h), strict=True)]
    far = [a - b for a, b in zip(at(2 * h), at(-2 * h), strict=True)]
    return [(8 * a - b) / (12 * h) for a, b in zip(near, far, strict=True)]


def _inner(a, b) -> float:
    """The pairing under which ``vjp`` is the transpose of ``jvp``: Re of the sum of products."""
    pairs = zip(tree.leaves(a), tree.leaves(b), strict=True)
    return float(sum(np.sum(np.real(_wide(x) * _wide(y))) for x, y in pairs if _is_smooth(x)))


class _Check:
    """Steps and tolerances of a check, from the precision of what is checked.

    A tolerance that is not given is relative to the largest number of a result: of the function, whose rounding
    errors a difference has, or of its derivative. No unit is in it.
    """

    def __init__(self, args, atol, rtol, eps):
        real = _precision(*[np.asarray(x) for x in tree.leaves(args)])
        ulp = float(dtypes.finfo(real).eps)
        # the error of the difference, h⁴ + ulp / h, is smallest about here
        self.h = ulp**0.2 if eps is None else eps
        expected = 30 * (self.h**4 + ulp / self.h)
        self.given, self.atol = atol is not None, expected if atol is None else atol
        self.rtol = expected if rtol is None else rtol
        self.rng = np.random.default_rng(0)

    def close(self, actual, expected, scales, what: str, again: Callable | None = None) -> None:
        """Compares leaves; where they differ by more, also with what another step gives.

        What two steps do not agree on is an error of the difference: numbers inside of the function may be
        larger than its results.
        """
        limits = [self.atol * (1 if self.given else s) for s in scales]
        far = [not self._is_within(*row) for row in zip(actual, expected, limits, strict=True)]
        if any(far) and again is not None and not self.given:
            other = again()
            noise = [float(np.max(np.abs(a - b), initial=0)) for a, b in zip(expected, other)]
            limits = [m + 10 * n if n == n else m for m, n in zip(limits, noise, strict=True)]
        for a, b, limit in zip(actual, expected, limits, strict=True):
            assert_close(a, b, atol=limit, rtol=self.rtol, err_msg=what)

    def _is_within(self, a, b, limit: float) -> bool:
        with np.errstate(all="ignore"):
            return bool(np.all(np.abs(_wide(np.asarray(a)) - b) <= limit + self.rtol * np.abs(b)))


def _size(*arrays) -> float:
    """The largest finite absolute value."""
    found = [np.abs(_wide(np.asarray(a))).ravel() for a in arrays]
    return max((float(np.max(x[np.isfinite(x)], initial=0)) for x in found), default=0.0)


def _check_values(c: _Check, outs, values, what: str) -> None:
    c.close(outs, values, [_size(v) for v in values], f"value{what}")


def _check_jvp(c: _Check, f, f_jvp, args, what: str) -> None:
    vs = _random_like(c.rng, args)
    outs, tangents = map(tree.leaves, _host(f_jvp(args, vs)))
    values = tree.leaves(_host(f(*args)))
    _check_values(c, outs, values, what)
    smooth = [k for k, y in enumerate(outs) if _is_smooth(y)]

    def wanted(h):
        numeric = _numeric_jvp(f, args, vs, h)
        return [numeric[k] for k in smooth]

    near = wanted(c.h)
    sizes = [_size(values[k], n) for k, n in zip(smooth, near, strict=True)]
    found = [tangents[k] for k in smooth]
    c.close(found, near, sizes, f"jvp{what}", lambda: wanted(0.8 * c.h))


def _check_vjp(c: _Check, f, f_vjp, args, what: str) -> None:
    out, pull = f_vjp(*args)
    out, value = _host(out), _host(f(*args))
    _check_values(c, tree.leaves(out), tree.leaves(value), what)
    vs, cts = _random_like(c.rng, args), _random_like(c.rng, out)
    found = _inner(vs, _host(pull(cts)))

    def wanted(h):
        return _inner(tree.leaves(cts), _numeric_jvp(f, args, vs, h))

    near = wanted(c.h)
    size = sum(_size(v) * np.size(v) ** 0.5 for v in tree.leaves(value) if _is_smooth(v))
    limit = max(size, abs(near))
    c.close([found], [near], [limit], f"vjp{what}", lambda: [wanted(0.8 * c.h)])


@boundary
def check_jvp(
    f: Callable[..., Any], f_jvp: Callable[..., Any], args: Sequence[PyTree],
    atol: float | None = None, rtol: float | None = None, eps: float | None = None,
    err_msg: str = "",
) -> None:  # fmt: skip
    """Check a forward-mode derivative ``f_jvp(primals, tangents)`` of f against differences.

    Args:
      f: function.
      f_jvp: its derivative.
      args: arguments of f, the point.
      atol, rtol: tolerances, by default those of the dtype.
      eps: step of the differences.
      err_msg: what the error says besides.

    >>> import xcore as xc, xcore.numpy as xnp, functools
    >>> check_jvp(xnp.sin, functools.partial(xc.jvp, xnp.sin), (0.5,))
    """
    args = tuple(_host(args))
    _check_jvp(_Check(args, atol, rtol, eps), f, f_jvp, args, err_msg and f" {err_msg}")


@boundary
def check_vjp(
    f: Callable[..., Any], f_vjp: Callable[..., Any], args: Sequence[PyTree],
    atol: float | None = None, rtol: float | None = None, eps: float | None = None,
    err_msg: str = "",
) -> None:  # fmt: skip
    """Check a reverse-mode derivative ``f_vjp(*args) -> value, pull`` of f against differences.

    Args:
      f: function.
      f_vjp: its derivative.
      args: arguments of f, the point.
      atol, rtol: tolerances, by default those of the dtype.
      eps: step of the differences.
      err_msg: what the error says besides.

    >>> import xcore as xc, xcore.numpy as xnp, functools
    >>> check_vjp(xnp.sin, functools.partial(xc.vjp, xnp.sin), (0.5,))
    """
    args = tuple(_host(args))
    _check_vjp(_Check(args, atol, rtol, eps), f, f_vjp, args, err_msg and f" {err_msg}")


@boundary
def check_grads(
    f: Callable[..., Any], args: Sequence[PyTree], order: int = 2,
    modes: str | Sequence[str] = ("fwd", "rev"), atol: float | None = None,
    rtol: float | None = None, eps: float | None = None,
) -> None:  # fmt: skip
    """Check derivatives of a function against central differences, to some order.

    At each order the derivative of the order below, in a random direction, is itself differentiated
    in every mode and compared.

    Args:
      f: function of trees of arrays; smooth within a few ``eps`` of the arguments.
      args: tuple of arguments. Differences of float64 are most precise.
      order: up to which order.
      modes: "fwd", "rev" or both.
      atol, rtol: tolerances; by default from the error of the difference in the arguments' dtype, relative to the
        largest number of a result, so alike in all units of results; steps are as they are in all units of arguments.
      eps: step of the differences.

    >>> import xcore.numpy as xnp
    >>> check_grads(lambda x, y: xnp.sin(x) * y, (0.5, 2.0), order=2)
    >>> check_grads(xnp.round, (0.7,), order=1)
    >>> from xcore.lax import stop_gradient
    >>> check_grads(lambda x: stop_gradient(x) * x, (0.7,), order=1)
    Traceback (most recent call last):
    AssertionError: ...
    """
    modes = (modes,) if isinstance(modes, str) else tuple(modes)
    unknown = [m for m in modes if m not in ("fwd", "rev")]
    if unknown or not modes:
        raise ValueError(f'xcore.testing.check_grads: modes are "fwd" and "rev", given {modes}.')
    args = tuple(_host(args))
    _check_order(_Check(args, atol, rtol, eps), f, args, order, modes, "")


def _check_order(c: _Check, f, args, order: int, modes, path: str) -> None:
    for mode in modes:
        here = f"{path} {mode}"
        if mode == "fwd":
            _check_jvp(c, f, functools.partial(jvp, f), args, f" ({here.strip()})")
        else:
            _check_vjp(c, f, functools.partial(vjp, f), args, f" ({here.strip()})")
        if order > 1:
            _check_order(c, _derivative(c, f, args, mode), args, order - 1, modes, here)


def _derivative(c: _Check, f, args, mode: str):
    """The derivative of f in a random direction, as a function."""
    if mode == "fwd":
        vs = _random_like(c.rng, args)
        return lambda *xs: _smooth_leaves(jvp(f, xs, vs)[1])
    cts = _random_like(c.rng, _host(f(*args)))
    return lambda *xs: _smooth_leaves(vjp(f, *xs)[1](cts))


def _smooth_leaves(tree_) -> list:
    return [x for x in tree.leaves(tree_) if _is_array_like(x) and _is_smooth(x)]
