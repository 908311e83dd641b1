"""Problems as functions of one flat vector of real numbers."""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .._control import grad, hessian, linearize, value_and_grad
from .._core import dtypes, errors, tree, typeof


def real_parts(x):
    """The numbers of an array as a vector; of complex ones the real parts, and then the imaginary ones."""
    x = xnp.ravel(x)
    return xnp.concatenate([xnp.real(x), xnp.imag(x)]) if dtypes.is_complex(typeof(x).dtype) else x


def as_tuple(args) -> tuple:
    """Further arguments, of which one may stand alone."""
    return args if isinstance(args, tuple) else (args,)


class Flat:
    """Trees of arrays as vectors: real numbers of one dtype, complex ones as two of them.

    Vectors are those of the tree given at first; ``dtype`` is the widest of its dtypes.
    """

    def __init__(self, who: str, what: str, x0):
        leaves, self.structure = tree.flatten(x0)
        leaves = [self._inexact(who, what, x) for x in leaves]
        self.who, self.types = who, [typeof(x).strong() for x in leaves]
        reals = [dtypes.to_real(t.dtype) for t in self.types]
        self.dtype = xnp.result_type(*reals) if reals else dtypes.default_dtype("float")
        self.size = sum(t.size * (1 + dtypes.is_complex(t.dtype)) for t in self.types)
        self.start = self.join(tree.unflatten(self.structure, leaves))

    @staticmethod
    def _inexact(who, what, x):
        if isinstance(x, str) or x is None or callable(x):
            raise errors.DTypeError(
                f"xcore.{who}: {what} must consist of numbers, given {errors.describe(x)}."
            )
        x = xnp.asarray(x)
        return x if dtypes.is_inexact(x.dtype) else x.astype(dtypes.default_dtype("float"))

    def join(self, x):
        """The vector of a tree of this structure."""
        leaves = tree.flatten_up_to(self.structure, x, self.who)
        parts = []
        for leaf, t in zip(leaves, self.types):
            kind = dtypes.to_complex(self.dtype) if dtypes.is_complex(t.dtype) else self.dtype
            leaf = xnp.broadcast_to(xnp.asarray(leaf, kind), t.shape)
            parts.append(real_parts(leaf).astype(self.dtype))
        if not parts:
            return xnp.zeros(0, self.dtype)
        return parts[0] if len(parts) == 1 else xnp.concatenate(parts)

    def split(self, v):
        """The tree of a vector."""
        leaves, place = [], 0
        for t in self.types:
            pieces = [v[place : place + t.size]]
            if dtypes.is_complex(t.dtype):
                place += t.size
                pieces.append(v[place : place + t.size])
            place += t.size
            whole = pieces[0] if len(pieces) == 1 else pieces[0] + 1j * pieces[1]
            leaves.append(whole.reshape(t.shape).astype(t.dtype))
        return tree.unflatten(self.structure, leaves)


class Objective:
    """A scalar function of a vector, and its derivatives."""

    def __init__(self, who: str, fun, flat: Flat, args=()):
        if not callable(fun):
            raise TypeError(f"xcore.{who}: fun must be a function, given {errors.describe(fun)}.")
        self.who, self.fun, self.flat = who, fun, flat
        self.args = as_tuple(args)

    def value(self, x):
        """fun(x), a scalar of the vector's dtype."""
        found = self.fun(self.flat.split(x), *self.args)
        if found is None:
            raise errors.ArgumentError(
                f"xcore.{self.who}: fun must return one number, but returned None; is there no return?"
            )
        found = xnp.asarray(found)
        t = typeof(found)
        if t.size != 1:
            raise errors.ShapeError(
                f"xcore.{self.who}: fun must return one number, but returned {t}. Reduce it (.sum(), "
                ".mean()); for a sum of squares of residuals use xcore.optimize.least_squares."
            )
        if dtypes.is_complex(t.dtype) or t.dtype == np.bool_:
            raise errors.DTypeError(
                f"xcore.{self.who}: fun must return a real number, but returned {t}; "
                "take its real part or its absolute value, or of a condition xnp.where."
            )
        return found.reshape(()).astype(self.flat.dtype)

    def value_and_grad(self, x):
        return value_and_grad(self.value)(x)

    def hessian(self, x):
        return hessian(self.value)(x)

    def newton(self, x):
        """(gradient, function v -> Hessian times v)."""
        return linearize(grad(self.value), x)


def tolerance(who: str, tol, default=None, name: str = "tol"):
    """What a user asked for, or the default; refused where it is a number that no error can be less than."""
    number = isinstance(tol, (int, float, np.number))
    if isinstance(tol, str) or (number and not tol >= 0):
        raise ValueError(
            f"xcore.{who}: {name} must be a number >= 0, or None; given {errors.describe(tol)}."
        )
    return default if tol is None else tol


def default_tol(dtype) -> float:
    """eps^0.4: 5e-7 in 64 bits, 2e-3 in 32."""
    return float(xnp.finfo(dtype).eps) ** 0.4


def largest(x):
    """The largest absolute value; 0 of nothing."""
    return xnp.max(xnp.abs(x), initial=0)


def scalar(value, dtype):
    return xnp.asarray(value, dtype)


def count(n: int):
    return xnp.asarray(n, np.int32)
