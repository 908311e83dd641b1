"""Methods and properties of arrays that are functions of xcore.numpy."""

from __future__ import annotations

import sys

import numpy as np

from . import (
    _cumulative,
    _dot,
    _functions,
    _moments,
    _placement,
    _reduce,
    _repeat,
    _rounding,
    _select,
    _shape,
    _sort,
    _take,
    _types,
)
from ._sanitize import kept


def _shape_argument(shape):
    """The shape of x.reshape(2, 3) or x.reshape((2, 3))."""
    return shape[0] if len(shape) == 1 else shape


def _reshape(self, *shape, order="C", copy=None, out_sharding=None):
    """The same elements in another shape: x.reshape(2, -1) or x.reshape((2, -1))."""
    more = {} if out_sharding is None else {"out_sharding": out_sharding}
    return _shape.reshape(self, _shape_argument(shape), order, copy=copy, **more)


def _transpose(self, *axes):
    """Axes in another order; reversed by default."""
    return _shape.transpose(self, _shape_argument(axes) if axes else None)


def _astype(self, dtype, order="K", casting="unsafe", subok=True, copy=False, device=None):
    """The array in another dtype; complex to real keeps the real part."""
    return _types.astype(self, dtype, copy=copy, device=device)


def _to_device(self, device, /, *, stream=None):
    """The array on a device."""
    return _placement.on_device(self, device)


def _namespace(self, /, *, api_version=None):
    """The module with the functions of the Array API standard."""
    if api_version not in (None, *API_VERSIONS):
        raise ValueError(
            f"xcore.numpy follows the Array API of {API_VERSIONS}; given {api_version!r}."
        )
    return sys.modules[__package__]


API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


def _clip(self, min=None, max=None):
    """Elements limited to an interval."""
    return _rounding.clip(self, min, max)


def _compress(self, condition, axis=None, *, size=None, fill_value=0, out=None):
    """The slices along an axis where a condition holds."""
    return _select.compress(condition, self, axis, size=size, fill_value=fill_value, out=out)


METHODS = {
    "__array_namespace__": _namespace, "to_device": _to_device,
    "tobytes": lambda self, order="C": np.asarray(self).tobytes(order),
    # other shapes
    "reshape": _reshape, "transpose": _transpose, "ravel": _shape.ravel, "squeeze": _shape.squeeze,
    "flatten": lambda self, order="C": _shape.ravel(self, order), "swapaxes": _shape.swapaxes,
    "repeat": _repeat.repeat,
    # other values
    "astype": _astype, "view": _types.view, "round": _rounding.round, "clip": _clip,
    "conj": _functions.conj, "conjugate": _functions.conj,
    "byteswap": _types.byteswap,
    # some of the elements
    "take": _take.take, "nonzero": _select.nonzero, "compress": _compress, "choose": _select.choose,
    "diagonal": _dot.diagonal, "sort": kept("sort", _sort.sort), "argsort": _sort.argsort,
    "argpartition": _sort.argpartition, "searchsorted": _sort.searchsorted,
    # fewer axes
    "sum": _reduce.sum, "prod": _reduce.prod, "mean": _moments.mean, "var": _moments.var, "std": _moments.std,
    "max": _reduce.max, "min": _reduce.min, "ptp": _reduce.ptp, "argmax": _reduce.argmax,
    "argmin": _reduce.argmin, "any": _reduce.any, "all": _reduce.all, "trace": _dot.trace,
    "cumsum": _cumulative.cumsum, "cumprod": _cumulative.cumprod, "dot": _dot.dot,
}  # fmt: skip
PROPERTIES = {
    "real": property(lambda self: _functions.real(self), doc="The real part."),
    "imag": property(lambda self: _functions.imag(self), doc="The imaginary part."),
    "flat": property(lambda self: _shape.ravel(self), doc="All elements along one axis."),
    "T": property(lambda self: _shape.transpose(self), doc="The array with its axes reversed."),
    "mT": property(lambda self: _shape.matrix_transpose(self), doc="The last two axes exchanged."),
}
