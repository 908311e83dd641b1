"""Types of xcore.fft. Written by tools/stubs.py."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, overload

import numpy as np

from xcore._core.array import Array
from xcore._core.typing import ArrayLike, Axis, DTypeLike, Key, Shape

from xcore.numpy._types import DType
from xcore._core.typing import DeviceLike
from xcore.fft._lengths import next_fast_len as next_fast_len
from xcore.fft._lengths import prev_fast_len as prev_fast_len

def dct(x: ArrayLike, type: int = 2, n: int | None = None, axis: Axis = -1, norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, orthogonalize: Any = None) -> Array:
    """The discrete cosine transform."""
def dctn(x: ArrayLike, type: int = 2, s: Sequence[int] | None = None, axes: int | Sequence[Any] | None = None, norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, orthogonalize: Any = None) -> Array:
    """The discrete cosine transform along several axes."""
def dst(x: ArrayLike, type: int = 2, n: int | None = None, axis: Axis = -1, norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, orthogonalize: Any = None) -> Array:
    """The discrete sine transform."""
def dstn(x: ArrayLike, type: int = 2, s: Sequence[int] | None = None, axes: int | Sequence[Any] | None = None, norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, orthogonalize: Any = None) -> Array:
    """The discrete sine transform along several axes."""
def fft(a: ArrayLike, n: int | None = None, axis: Axis = -1, norm: str | None = None) -> Array:
    """The discrete Fourier transform: y_k = Σ_j a_j e^(-2πi j k / n)."""
def fft2(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[Any] = ..., norm: str | None = None) -> Array:
    """The discrete Fourier transform along two axes: y_(k,l) = Σ_(p,q) a_(p,q) e^(-2πi (p k / m + q l / n))."""
def fftfreq(n: int, d: ArrayLike = 1.0, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Array:
    """The frequencies of ``fft`` of n points: 0, 1, … and then the negative ones, over n·d."""
def fftn(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[Any] | None = None, norm: str | None = None) -> Array:
    """The discrete Fourier transform along axes, for two: y_(k,l) = Σ_(p,q) a_(p,q) e^(-2πi (p k / m + q l / n))."""
def fftshift(x: ArrayLike, axes: int | Sequence[Any] | None = None) -> Array:
    """Frequencies in rising order: the zero one goes to the middle of each axis."""
def hfft(a: ArrayLike, n: int | None = None, axis: Axis = -1, norm: str | None = None) -> Array:
    """The Fourier transform of numbers whose second half mirrors the first, conjugated: it is real."""
def hfft2(x: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[Any] = ..., norm: str | None = None) -> Array:
    """``hfftn`` along two axes."""
def hfftn(x: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[Any] | None = None, norm: str | None = None) -> Array:
    """The Fourier transform of an array that is its own mirror image, conjugated: it is real."""
def idct(x: ArrayLike, type: int = 2, n: int | None = None, axis: Axis = -1, norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, orthogonalize: Any = None) -> Array:
    """The inverse of the discrete cosine transform."""
def idctn(x: ArrayLike, type: int = 2, s: Sequence[int] | None = None, axes: int | Sequence[Any] | None = None, norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, orthogonalize: Any = None) -> Array:
    """The inverse of the discrete cosine transform along several axes."""
def idst(x: ArrayLike, type: int = 2, n: int | None = None, axis: Axis = -1, norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, orthogonalize: Any = None) -> Array:
    """The inverse of the discrete sine transform."""
def idstn(x: ArrayLike, type: int = 2, s: Sequence[int] | None = None, axes: int | Sequence[Any] | None = None, norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, orthogonalize: Any = None) -> Array:
    """The inverse of the discrete sine transform along several axes."""
def ifft(a: ArrayLike, n: int | None = None, axis: Axis = -1, norm: str | None = None) -> Array:
    """The inverse of ``fft``: y_j = 1/n Σ_k a_k e^(2πi j k / n)."""
def ifft2(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[Any] = ..., norm: str | None = None) -> Array:
    """The inverse of ``fft2``: y_(p,q) = 1/(m n) Σ_(k,l) a_(k,l) e^(2πi (p k / m + q l / n))."""
def ifftn(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[Any] | None = None, norm: str | None = None) -> Array:
    """The inverse of ``fftn``: y_(p,q) = 1/(m n) Σ_(k,l) a_(k,l) e^(2πi (p k / m + q l / n)) for two axes."""
def ifftshift(x: ArrayLike, axes: int | Sequence[Any] | None = None) -> Array:
    """The inverse of ``fftshift``."""
def ihfft(a: ArrayLike, n: int | None = None, axis: Axis = -1, norm: str | None = None) -> Array:
    """The inverse of ``hfft``: the first half of the inverse transform of real numbers."""
def ihfft2(x: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[Any] = ..., norm: str | None = None) -> Array:
    """``ihfftn`` along two axes."""
def ihfftn(x: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[Any] | None = None, norm: str | None = None) -> Array:
    """The inverse of ``hfftn``: the first half of the inverse transform of real numbers."""
def irfft(a: ArrayLike, n: int | None = None, axis: Axis = -1, norm: str | None = None) -> Array:
    """The inverse of ``rfft``: n real numbers, by default n = 2 (m - 1) of m."""
def irfft2(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[Any] = ..., norm: str | None = None) -> Array:
    """The inverse of ``rfft2``."""
def irfftn(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[Any] | None = None, norm: str | None = None) -> Array:
    """The inverse of ``rfftn``."""
def rfft(a: ArrayLike, n: int | None = None, axis: Axis = -1, norm: str | None = None) -> Array:
    """The first half of ``fft`` of real numbers; the rest is its mirror image: y_(n-k) = conj(y_k)."""
def rfft2(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[Any] = ..., norm: str | None = None) -> Array:
    """``fft2`` of real numbers; of the last axis only the first half."""
def rfftfreq(n: int, d: ArrayLike = 1.0, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Array:
    """The frequencies of ``rfft`` of n points: 0, 1, … n // 2, over n·d."""
def rfftn(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[Any] | None = None, norm: str | None = None) -> Array:
    """``fftn`` of real numbers; of the last axis only the first half."""
