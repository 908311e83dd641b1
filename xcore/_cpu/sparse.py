"""Products with sparse matrices by SciPy. (quirk: SPARSE_PRODUCT_SLOW)"""

from __future__ import annotations

import functools
import importlib

from .._core import Alternative
from .._core.kernels import kernel, kernel_call


@kernel
def sparse_product(values, columns, pointers, x, out):
    """Rows of a matrix times a vector, or times columns next to each other."""
    vector, several = _routines()
    shape = len(out), len(x)
    out[...] = 0
    if x.ndim == 1:
        vector(*shape, pointers, columns, values, x, out)
    elif x.size:
        several(*shape, x.shape[1], pointers, columns, values, x.reshape(-1), out.reshape(-1))


@functools.cache
def _routines():
    tools = importlib.import_module("scipy.sparse._sparsetools")
    return tools.csr_matvec, tools.csr_matvecs


@functools.cache
def _are_there() -> bool:
    try:
        return bool(_routines())
    except (ImportError, AttributeError):
        return False


def _applies(ctx, values, columns, pointers, x, **_) -> bool:
    """SciPy adds in the dtype of the values, and knows NumPy's own."""
    known = values.dtype.kind in "fc" and values.dtype.itemsize >= 4
    return known and ctx.is_local and not ctx.kernel and _are_there()


def _lower(ctx, *arrays, **_):
    return ctx.host_kernel(kernel_call("sparse_product"), list(arrays), ctx.outs())


BY_SCIPY = Alternative(_applies, _lower)
