"""Sine and cosine transforms by SciPy. (quirk: TRIG_BY_FFT_SLOW)"""

from __future__ import annotations

import numpy as np

from .._core import Alternative
from .._core.kernels import kernel, kernel_call
from .rows import cores, is_worth_it, scipy_fft

_KINDS, _NORMS = ("DCT", "DST"), (None, "ortho", "forward")
_THREADS_FROM = 1 << 16  # elements


@kernel
def trig_transform(x, out, kind, type, norm, orthogonalize, *axes):
    """SciPy's transform, in place."""
    f = getattr(scipy_fft(), f"{_KINDS[kind].lower()}n")
    np.copyto(out, x)
    result = f(
        out, type, axes=axes, norm=_NORMS[norm], overwrite_x=True,
        workers=cores() if x.size >= _THREADS_FROM else 1, orthogonalize=bool(orthogonalize),
    )  # fmt: skip
    if not np.may_share_memory(result, out):
        np.copyto(out, result)


def _lower(ctx, x, *, kind, type, axes, norm=None, orthogonalize=False):
    settings = _KINDS.index(kind), type, _NORMS.index(norm), int(orthogonalize), *axes
    result = ctx.type(ctx.in_types[0].strong())
    return ctx.host_kernel(kernel_call("trig_transform", *settings), [x], [result])


BY_SCIPY = Alternative(lambda ctx, x, **_: is_worth_it(ctx, x), _lower)
