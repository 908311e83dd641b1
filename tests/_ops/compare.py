"""Results of operations beside those of NumPy."""

import numpy as np

from tests._ops.samples import Sample
from xcore._core import dtypes


def widened(x: np.ndarray) -> np.ndarray:
    """In a dtype in which NumPy makes (next to) no errors."""
    if not dtypes.is_inexact(x.dtype):
        return x
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def expected(s: Sample, args) -> list[np.ndarray]:
    """What NumPy says: in more precision, or, where no error is allowed, in the same dtype."""
    with np.errstate(all="ignore"):
        outs = s.expect(*(map(widened, args) if s.ulps else args))
    return [np.asarray(y) for y in (outs if isinstance(outs, (list, tuple)) else [outs])]


def unit_roundoff(arrays) -> float:
    found = [
        dtypes.finfo(dtypes.to_real(a.dtype)).eps for a in arrays if dtypes.is_inexact(a.dtype)
    ]
    return float(max(found, default=0.0))


def check(s: Sample, args, outs) -> None:
    wanted = expected(s, args)
    assert len(outs) == len(wanted)
    for y, w in zip(outs, wanted, strict=True):
        host = np.asarray(y)
        assert (host.shape, host.dtype) == (y.type.shape, y.type.dtype), "the type rule is wrong"
        assert host.shape == w.shape
        if not dtypes.is_inexact(host.dtype):
            assert host.dtype.kind == w.dtype.kind
            np.testing.assert_array_equal(host, w)
            continue
        limit = s.ulps * unit_roundoff([host, *args])
        with np.errstate(over="ignore"):
            w = w.astype(host.dtype)
        size = np.where(np.isfinite(widened(w)), np.abs(widened(w)), 0).max(initial=1.0)
        np.testing.assert_allclose(widened(host), widened(w), rtol=limit, atol=limit * size)
