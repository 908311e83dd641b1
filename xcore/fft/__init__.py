"""Fourier, cosine and sine transforms: what scipy.fft has, on xcore arrays.

The Fourier transforms are those of ``xcore.numpy.fft``. The cosine and sine transforms, types I to
IV, diagonalise finite differences with zero or symmetric ends: the solvers of ``xcore.pde`` use them.
"""

# ruff: noqa: I001 (names stand in lines, not one on each)

# fmt: off
from .._core.package import guide as _guide
from ..numpy.fft import (
    fft, fft2, fftfreq, fftn, fftshift, hfft, ifft, ifft2, ifftn, ifftshift, ihfft, irfft,
    irfft2, irfftn, rfft, rfft2, rfftfreq, rfftn,
)
from ._hermitian import hfft2, hfftn, ihfft2, ihfftn
from ._lengths import next_fast_len, prev_fast_len
from ._trigonometric import dct, dctn, dst, dstn, idct, idctn, idst, idstn
# fmt: on

__all__ = [
    "dct", "dctn", "dst", "dstn", "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn",
    "idct", "idctn", "idst", "idstn", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "ihfft2", "ihfftn",
    "irfft", "irfft2", "irfftn", "next_fast_len", "prev_fast_len", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

__getattr__ = _guide(__name__)
