"""The one form in which certificates of linear algebra come."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from .. import numpy as xnp
from .._core.struct import struct


@struct
class Report:
    """What is known of how good a result is, computed from the result itself. None: not known.

    Fields are attributes and keys, ``report.error`` and ``report["error"]``; so are further ones that
    only some functions have, and their docstrings name (``angle``, ``rank``, …).

    Attributes:
      digits: decimal digits that can be trusted of the largest elements of the result (of numbers
        that come as lists, such as eigenvalues, of the largest), from 0 to those of the dtype.
      error: a bound of the error, up to rounding and estimates of norms: of eigenvalues, singular
        values and logarithms in their own units, one for each; of all else the largest, relative
        to the largest element of each column.
      residual: what is left of the equations, in their own units.
      condition: how much relative changes of what was given are amplified, at least; in the 1-norm
        where nothing else is said.
      more: further figures by name. Of linear equations: ``backward_error``, the smallest relative
        change of a and b in the ∞-norm for which x is exact; ``componentwise``, the same where each
        element changes relative to itself; ``condition_inf``, the condition in the ∞-norm; ``pivot``,
        the number of the first vanishing pivot, or -1.
    """

    digits: Any = None
    error: Any = None
    residual: Any = None
    condition: Any = None
    more: Any = dataclasses.field(default_factory=dict)

    def __getattr__(self, name: str):
        more = self.__dict__.get("more")
        if type(more) is dict and name in more:
            return more[name]
        raise AttributeError(f"this report has no {name!r}; it has {list(self.keys())}")

    def __getitem__(self, name: str):
        found = dict(self.items())
        if name not in found:
            raise KeyError(f"this report has no {name!r}; it has {list(found)}")
        return found[name]

    def __contains__(self, name) -> bool:
        return name in self.keys()

    def __iter__(self):
        return iter(self.keys())

    def keys(self):
        return dict(self.items()).keys()

    def items(self):
        """(name, figure) of all that is known."""
        own = [(k, self.__dict__.get(k)) for k in ("digits", "error", "residual", "condition")]
        own = [(k, v) for k, v in own if v is not None]
        return [*own, *(self.__dict__.get("more") or {}).items()]


def digits_of(off, eps: float):
    """Decimal digits where the relative error is at most ``off``; none where that is NaN."""
    off = xnp.where(xnp.isnan(off), xnp.inf, off)
    return xnp.clip(-xnp.log10(xnp.maximum(off, eps / 2)), 0, -math.log10(eps / 2))


def relative(error, size):
    """error / size for errors >= 0; of nothing, 0."""
    return xnp.where(error == 0, 0, error / xnp.where(error == 0, 1, size))


def of_truth(off):
    """Errors relative to the true result, from those relative to what was found, which may be too large."""
    return xnp.where(off < 1, off / xnp.where(off < 1, 1 - off, 1), xnp.inf)
