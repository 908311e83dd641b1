"""Discrete cosine and sine transforms, named and scaled as in scipy.fft."""

from __future__ import annotations

from .. import _ops as ops
from .._core import dtypes, errors, fused, one_of, typeof
from .._ops.trigonometric import INVERSE_TYPE
from ..numpy._promote import as_array
from ..numpy.fft import (
    axes_and_lengths,
    check_length,
    check_norm,
    only_axis,
    resized,
    working_dtype,
)

# What a norm means to a transform and to its inverse, in the terms of the operation.
_FORWARD = {None: None, "backward": None, "ortho": "ortho", "forward": "forward"}
_INVERSE = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": None}


def _transform(who, x, kind, type, axes, lengths, norm, inverse, orthogonalize):
    """The transform over different axes, each cut off or filled up to its length first."""
    check_norm(who, norm)
    one_of(who, "type", type, INVERSE_TYPE, "1, 2, 3 or 4")
    if len(set(axes)) < len(axes):
        raise errors.bad_argument(who, "axes", tuple(axes), "different axes")
    x, shape = working_dtype(who, x), typeof(x).shape
    if not axes:
        return x
    lengths = [shape[i] if n is None else n for n, i in zip(lengths, axes, strict=True)]
    lengths = [check_length(who, n) for n in lengths]
    if (kind, type) == ("DCT", 1) and min(lengths) < 2:
        raise errors.bad_argument(who, "n", 1, "2 or more for type 1")
    x = resized(x, dict(zip(axes, lengths, strict=True)))
    params = {
        "kind": kind,
        "type": INVERSE_TYPE[type] if inverse else int(type),
        "axes": tuple(sorted(axes)),
        "norm": (_INVERSE if inverse else _FORWARD)[norm],
        "orthogonalize": bool(norm == "ortho" if orthogonalize is None else orthogonalize),
    }
    if dtypes.is_complex(typeof(x).dtype):
        return ops.complex(ops.trig(ops.real(x), **params), ops.trig(ops.imag(x), **params))
    return ops.trig(x, **params)


_TEXT = """{doc}

    {lead}, of n numbers along an axis (a sum leaves out the x_j that stand before it):

{formulas}

    Args:
      x: array; of complex numbers both parts are transformed.
      type: 1 to 4.
{where}
      norm: where the factor 1/L goes, with L = 2n (type 1: {period}):
        "backward" (the default), "forward", or its root to both: "ortho".
      overwrite_x, workers: accepted for compatibility.
      orthogonalize: whether the ends of the axis are weighted so that the matrix is orthogonal but
        for a factor; by default where the norm is "ortho".

    >>> import xcore.numpy as xnp, xcore.fft
    {example}
    """
_ALONG_AXIS = """      n: the number of points: more than there are are zeros, less cut off.
      axis: along which axis."""
_ALONG_AXES = """      s: the number of points along each axis, -1 for all that are there.
      axes: along which axes; by default the last len(s), or all."""


# What types 1 to 4 are of n numbers, in this order.
_COSINES = """      y_k = x_0 + (-1)ᵏ x_(n-1) + 2 Σ x_j cos(π j k / (n - 1))
      y_k = 2 Σ x_j cos(π k (2j + 1) / (2n))
      y_k = x_0 + 2 Σ x_j cos(π (2k + 1) j / (2n))
      y_k = 2 Σ x_j cos(π (2k + 1) (2j + 1) / (4n))"""
_SINES = """      y_k = 2 Σ x_j sin(π (j + 1) (k + 1) / (n + 1))
      y_k = 2 Σ x_j sin(π (k + 1) (2j + 1) / (2n))
      y_k = (-1)ᵏ x_(n-1) + 2 Σ x_j sin(π (2k + 1) (j + 1) / (2n))
      y_k = 2 Σ x_j sin(π (2k + 1) (2j + 1) / (4n))"""


def _documented(f, name: str, doc: str, where: str, example: str):
    f.__name__ = f.__qualname__ = name
    f.__module__ = "xcore.fft"
    period, formulas = ("2(n - 1)", _COSINES) if "dct" in name else ("2(n + 1)", _SINES)
    lead = "It inverts types 1 to 4" if name[0] == "i" else "Types 1 to 4"
    f.__doc__ = _TEXT.format(
        doc=doc, lead=lead, formulas=formulas, where=where, period=period, example=example
    )
    return f


def _pair(name: str, doc: str, example: str, example_of_n: str):
    """The transforms of a name along one axis and along several."""
    kind, inverse = name[-3:].upper(), name[0] == "i"

    @fused(1)
    def along_axis(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None,
                   orthogonalize=None):  # fmt: skip
        who = f"fft.{name}"
        x = as_array(who, x)
        axes = [only_axis(who, axis, typeof(x).ndim)]
        return _transform(who, x, kind, type, axes, [n], norm, inverse, orthogonalize)

    @fused(1)
    def along_axes(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None,
                   orthogonalize=None):  # fmt: skip
        who = f"fft.{name}n"
        x = as_array(who, x)
        axes, s = ((v,) if isinstance(v, int) else v for v in (axes, s))
        axes, lengths = axes_and_lengths(who, typeof(x).shape, s, axes)
        return _transform(who, x, kind, type, axes, lengths, norm, inverse, orthogonalize)

    doc_of_n = doc.replace(".", " along several axes.", 1)
    return (
        _documented(along_axis, name, doc, _ALONG_AXIS, example),
        _documented(along_axes, f"{name}n", doc_of_n, _ALONG_AXES, example_of_n),
    )


# fmt: off
dct, dctn = _pair("dct", "The discrete cosine transform.",
    ">>> xcore.fft.dct(xnp.asarray([1.0, 1.0]))\n    Array([4., 0.], dtype=float32)",
    ">>> xcore.fft.dctn(xnp.ones((2, 2)))[0]\n    Array([16.,  0.], dtype=float32)")
idct, idctn = _pair("idct", "The inverse of the discrete cosine transform.",
    ">>> xcore.fft.idct(xnp.asarray([4.0, 0.0]))\n    Array([1., 1.], dtype=float32)",
    ">>> xcore.fft.idctn(xcore.fft.dctn(xnp.ones((2, 2))))[0]\n    Array([1., 1.], dtype=float32)")
dst, dstn = _pair("dst", "The discrete sine transform.",
    ">>> xcore.fft.dst(xnp.asarray([1.0]), type=1)\n    Array([2.], dtype=float32)",
    ">>> xcore.fft.dstn(xnp.ones((1, 1)), type=1)\n    Array([[4.]], dtype=float32)")
idst, idstn = _pair("idst", "The inverse of the discrete sine transform.",
    ">>> xcore.fft.idst(xnp.asarray([2.0]), type=1)\n    Array([1.], dtype=float32)",
    ">>> xcore.fft.idstn(xnp.asarray([[4.0]]), type=1)\n    Array([[1.]], dtype=float32)")
# fmt: on
