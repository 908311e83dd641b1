"""Data in units of their own size. Squares of 1e-25 vanish in single precision and those of 1e25 overflow,
so every fit divides its data by a power of two first, which rounds nothing, and ends with that factor."""

# Checkers do not see: arrays, tracers, NumPy's arrays and numbers stand for each other.
# pyright: reportOperatorIssue=false

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import vmap
from .._core import dtypes, fused, struct
from .._iterate import history_of
from .._solution import Status
from ..linalg._range import any_subnormal
from ._cp import CP, gram_product


@struct
class Units:
    """What one stands for: ``whole``, 2 to the ``power``.

    ``nothing``: whether the data are but zeros; ``lost``: what may count as zero in them and is not, relative
    to all of it.
    """

    whole: object
    power: object
    nothing: object
    lost: object

    def of_each(self, count: int):
        """What one stands for in each of so many factors, whose product is the data."""
        return xnp.exp2(self.power / count)

    def penalty(self, ridge, count: int):
        """ridge Σ ‖factors‖², beside squares of data, where factors share the units of the data."""
        if isinstance(ridge, (int, float)) and ridge == 0:
            return ridge
        # at the ends of the range a penalty outweighs the data, or does not count, by far
        limit = dtypes.finfo(self.power.dtype).maxexp / 2
        return ridge * xnp.exp2(xnp.clip(2 * self.power * (1 / count - 1), -limit, limit))

    def start(self, init, factors, x, mask=None, free=(0,)) -> list:
        """Factors to start from, for data x in these units. ``free``: the modes that share them."""
        if not isinstance(init, (CP, tuple, list)):
            return factors if mask is None else _as_large_as(x, mask, factors)
        each = self.whole if len(free) == 1 else self.of_each(len(free))
        return [f / each if k in free else f for k, f in enumerate(factors)]

    def prox(self, prox, count: int):
        """A proximal map of factors, for factors in these units: penalties are of the data's own."""
        if prox is None:
            return None
        each = self.of_each(count)
        longer = (each / self.whole) ** 2
        return lambda a, step: prox(each * a, longer * step) / each

    def sized(self, value):
        """A Tucker tensor or a train with the size of the data themselves."""
        if hasattr(value, "core"):
            return value.replace(core=value.core * self.whole)
        return value.replace(cores=(*value.cores[:-1], value.cores[-1] * self.whole))

    def result(self, fit, free=()):
        """A fit of the data themselves: its weights or its core are, or its factors of free modes.

        The size of a term may be beyond the range of the dtype.
        """
        value, error, nothing = fit.value, fit.error, self.nothing
        if free:
            # what factors must obey may forbid zeros
            each, nothing = self.of_each(len(free)), xnp.zeros_like(nothing)
            sizes = tuple(f * each if k in free else f for k, f in enumerate(value.factors))
            value = value.replace(factors=sizes)
        else:
            name = "weights" if isinstance(value, CP) else "core"
            # a start that shrinks to zero is never there, and has no size to be compared with
            sizes = (xnp.where(nothing, 0, getattr(value, name) * self.whole),)
            value = value.replace(**{name: sizes[0]})
        fine = xnp.stack([xnp.isfinite(s).all() for s in sizes]).all()
        status = xnp.where(fine, fit.status, Status.not_finite).astype(np.int32)
        gone = xnp.where(self.lost > 0, np.int32(Status.stagnation), np.int32(Status.success))
        status = xnp.where(nothing, gone, status)
        error = xnp.where(nothing, 0, error) + self.lost.astype(error.dtype)
        history = history_of(fit.history, fit.steps)
        return fit.replace(value=value, status=status, error=error, history=history)


def _as_large_as(x, mask, factors):
    """The start with the size that x seems to have: a larger or smaller one fits the known elements by
    running wild in the others. There may be an axis of several starts in front."""
    whole = (x * x.conj()).real.sum() / mask.mean(dtype=np.float32)
    if factors[0].ndim > 2:
        return vmap(lambda f: _sized(whole, f))(factors)
    return _sized(whole, factors)


def _sized(square, factors):
    size = gram_product(factors).sum().real
    share = xnp.where((size > 0) & (square > 0), square / xnp.where(size > 0, size, 1), 1)
    return [f * share.astype(size.dtype) ** (0.5 / len(factors)) for f in factors]


def in_units(x) -> tuple:
    """x divided by the power of two below its largest element, and the ``Units`` it is in then.

    Numbers of 16 bits become such of 32, in which fits are made.
    """
    scaled, *units = _divided(x)
    return scaled, Units(*units)


@fused(1)
def _divided(x):
    if dtypes.finfo(x.dtype).bits < 32:
        x = x.astype(np.float32)
    size = _largest(ops.stop_gradient(x))
    info = dtypes.finfo(size.dtype)
    known = (size > 0) & xnp.isfinite(size)
    power = xnp.clip(xnp.frexp(xnp.where(known, size, 1))[1] - 1, info.minexp, info.maxexp - 1)
    whole = xnp.ldexp(xnp.ones_like(size), power)
    held = ops.stop_gradient(x)
    # elements of the data, and of what fits them, that are below the range
    gone = 2 * info.tiny * (x.size * (1 + dtypes.is_complex(x.dtype))) ** 0.5
    length = whole * xnp.sqrt(xnp.sum(xnp.abs(held / whole) ** 2))
    some = any_subnormal([held]).astype(size.dtype)
    lost = xnp.where(size > 0, xnp.minimum(gone / xnp.where(size > 0, length, 1), 1), some)
    return x / whole, whole, power.astype(size.dtype), size == 0, lost.astype(size.dtype)


def _largest(x):
    parts = (x.real, x.imag) if dtypes.is_complex(x.dtype) else (x,)
    return xnp.stack([xnp.abs(p).max() for p in parts]).max()
