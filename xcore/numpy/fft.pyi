"""Types of xcore.numpy.fft. Written by tools/stubs.py."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, overload

import numpy as np

from xcore._core.array import Array
from xcore._core.typing import ArrayLike, Axis, DTypeLike, Key, Shape

from xcore.numpy._types import DType
from xcore._core.typing import DeviceLike

def fft(a: ArrayLike, n: int | None = None, axis: Axis = -1, norm: str | None = None) -> Array:
    """The discrete Fourier transform: element k is sum_j a[j] exp(-2πi jk/n)."""
def fft2(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[Any] = ..., norm: str | None = None) -> Array:
    """The discrete Fourier transform along two axes."""
def fftfreq(n: int, d: ArrayLike = 1.0, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Array:
    """The frequencies of ``fft`` of n points: 0, 1, … and then the negative ones, over n·d."""
def fftn(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[Any] | None = None, norm: str | None = None) -> Array:
    """The discrete Fourier transform along several axes."""
def fftshift(x: ArrayLike, axes: int | Sequence[Any] | None = None) -> Array:
    """Frequencies in rising order: the zero one goes to the middle of each axis."""
def hfft(a: ArrayLike, n: int | None = None, axis: Axis = -1, norm: str | None = None) -> Array:
    """The Fourier transform of numbers whose second half mirrors the first, conjugated: it is real."""
def ifft(a: ArrayLike, n: int | None = None, axis: Axis = -1, norm: str | None = None) -> Array:
    """The inverse of ``fft``: element j is 1/n sum_k a[k] exp(2πi jk/n)."""
def ifft2(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[Any] = ..., norm: str | None = None) -> Array:
    """The inverse of ``fft2``."""
def ifftn(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[Any] | None = None, norm: str | None = None) -> Array:
    """The inverse of ``fftn``."""
def ifftshift(x: ArrayLike, axes: int | Sequence[Any] | None = None) -> Array:
    """The inverse of ``fftshift``."""
def ihfft(a: ArrayLike, n: int | None = None, axis: Axis = -1, norm: str | None = None) -> Array:
    """The inverse of ``hfft``: the first half of the inverse transform of real numbers."""
def irfft(a: ArrayLike, n: int | None = None, axis: Axis = -1, norm: str | None = None) -> Array:
    """The inverse of ``rfft``: n real numbers, by default an even number of them."""
def irfft2(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[Any] = ..., norm: str | None = None) -> Array:
    """The inverse of ``rfft2``."""
def irfftn(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[Any] | None = None, norm: str | None = None) -> Array:
    """The inverse of ``rfftn``."""
def rfft(a: ArrayLike, n: int | None = None, axis: Axis = -1, norm: str | None = None) -> Array:
    """The first half of ``fft`` of real numbers; the rest is its mirror image."""
def rfft2(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[Any] = ..., norm: str | None = None) -> Array:
    """``fft2`` of real numbers; of the last axis only the first half."""
def rfftfreq(n: int, d: ArrayLike = 1.0, *, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Array:
    """The frequencies of ``rfft`` of n points: 0, 1, … n // 2, over n·d."""
def rfftn(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[Any] | None = None, norm: str | None = None) -> Array:
    """``fftn`` of real numbers; of the last axis only the first half."""
