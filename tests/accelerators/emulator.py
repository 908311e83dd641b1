"""Programs lowered for a GPU run on the CPU, SciPy's LAPACK in the place of NVIDIA's solvers.

A plugin of pytest: ``python -m pytest -p tests.accelerators.emulator tests/linalg``. What comes before and after
the solvers (orders of rows, signs, triangles, what is cut off, batches, statuses) is then tested as a GPU gets it.
What a routine does not promise to compute is NaN here, so that who reads it is found out.
"""

import re

import numpy as np
from scipy.linalg import blas, lapack

from xcore._backend import cache, calls, ffi, hlo
from xcore._core import lower

counts: dict[str, int] = {}  # how often each routine was written into a program


def _of(a, *names):
    """LAPACK's routine for the dtype of an array, under the first of the names that it has."""
    return lapack.get_lapack_funcs((names[-1 if a.dtype.kind == "c" else 0],), (a,))[0]


def _getrf(a):
    factors, pivots, info = _of(a, "getrf")(a)
    return factors, pivots + 1, info


def _potrf(a, *, lower):
    return _of(a, "potrf")(a, lower=lower, clean=0)


def _geqrf(a):
    packed, taus, _, _ = _of(a, "geqrf")(a)
    return packed, taus


def _orgqr(a, taus):
    return _of(a, "orgqr", "ungqr")(a[:, : len(a)], taus)[:1]


def _geqp3(a, free):
    assert not free.any()
    packed, order, taus, _, _ = _of(a, "geqp3")(a)
    return packed, order, taus


def _syevd(a, *, lower, **_):
    values, vectors, info = _of(a, "syevd", "heevd")(a, compute_v=1, lower=lower)
    return vectors, values, info


def _svd(a, full):
    u, s, vh, info = _of(a, "gesdd")(a, compute_uv=1, full_matrices=full)
    return u, s, vh, info


def _not_computed(*arrays):
    return tuple(np.full_like(x, np.nan) for x in arrays)


def _gesvd(a, *, full_matrices, compute_uv, transposed):
    assert transposed == (a.shape[0] < a.shape[1])
    u, s, vh, info = _svd(a, full_matrices)
    x, y = (u, vh) if compute_uv else _not_computed(u, vh)
    return (*_not_computed(a), s, *((y, x) if transposed else (x, y)), info)


def _gesvdj(a, *, full_matrices, compute_uv):
    u, s, vh, info = _svd(a, full_matrices)
    u, v = (u, vh.conj().T) if compute_uv else _not_computed(u, vh.T)
    return (*_not_computed(a), s, u, v, info)


def _geev(a, *, left, right):
    *values, vl, vr, info = _of(a, "geev")(a, compute_vl=left, compute_vr=right)
    if a.dtype.kind != "c":
        vl, vr = (_complex_pairs(v, values[1]) for v in (vl, vr))
    shaped = np.empty_like(a, np.result_type(a.dtype, np.complex64))
    vl, vr = (v if wanted else _not_computed(shaped)[0] for v, wanted in ((vl, left), (vr, right)))
    return (*values, vl, vr, info)


def _complex_pairs(v, imaginary):
    """Vectors of pairs, which LAPACK gives as their real and imaginary parts side by side."""
    if v.shape[0] != len(imaginary):
        return v
    out = v.astype(np.result_type(v.dtype, np.complex64))
    for j in np.flatnonzero(imaginary > 0):
        out[:, j], out[:, j + 1] = v[:, j] + 1j * v[:, j + 1], v[:, j] - 1j * v[:, j + 1]
    return out


def _sytrd(a, *, lower):
    packed, d, e, taus, info = _of(a, "sytrd", "hetrd")(a, lower=lower)
    return packed, d, e, taus, info


def _gtsv(dl, d, du, b):
    assert len(d) >= 3
    assert dl[0] == du[-1] == 0
    *_, x, info = _of(d, "gtsv")(dl[1:], d, du[:-1], b)
    return (x if info == 0 else np.full_like(x, np.nan),)  # it divides by zero


def _order(pivots, m):
    order = np.arange(m, dtype=np.int32)
    for i, k in enumerate(pivots):
        order[[i, k]] = order[[k, i]]
    return (order,)


PLAYED = {
    "getrf": _getrf, "potrf": _potrf, "geqrf": _geqrf, "orgqr": _orgqr, "geqp3": _geqp3,
    "syevd": _syevd, "gesvd": _gesvd, "gesvdj": _gesvdj, "geev": _geev, "sytrd": _sytrd, "gtsv": _gtsv,
}  # fmt: skip
assert {*PLAYED, "pivots_to_permutation"} == set(ffi.CUDA)


def _played(one, rank, results, settings):
    """A routine for batches, as a function of arrays that gives arrays of the types declared."""
    shapes, kinds = [tuple(t.shape) for t in results], [_kind(t.element_type) for t in results]

    def run(*operands):
        operands = [np.asarray(x) for x in operands]
        batch = operands[0].shape[: max(x.ndim for x in operands) - rank]
        outs = [np.empty(shape, kind) for shape, kind in zip(shapes, kinds, strict=True)]
        for i in np.ndindex(*batch):
            for out, value in zip(outs, one(*[x[i] for x in operands], **settings), strict=True):
                out[i] = value
        return tuple(outs)

    return run


def _trsm(a, b, *, left, lower, unit_diagonal, transpose):
    """What XLA calls cuBLAS for. On a CPU it inverts blocks of the diagonal, which costs digits."""
    (trsm,) = blas.get_blas_funcs(("trsm",), (a,))
    how = ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT").index(transpose)
    return (trsm(1, a, b, side=not left, lower=lower, trans_a=how, diag=unit_diagonal),)


def _kind(element) -> np.dtype:
    names = {"f32": "float32", "f64": "float64", "i32": "int32"}
    names |= {"complex<f32>": "complex64", "complex<f64>": "complex128"}
    return np.dtype(names[str(element)])


_factor_call, _callback, _one = ffi.factor_call, calls.Calls.callback, hlo.Builder.one


def _emulated(builder, routine, dtype, operands, results, *, column_major=True, **settings):
    if builder.platform != "cuda" or routine not in ffi.CUDA:
        return _factor_call(
            builder, routine, dtype, operands, results, column_major=column_major, **settings
        )
    counts[routine] = counts.get(routine, 0) + 1
    declared = {k for k, _ in ffi.CUDA[routine].attributes.values()}
    one = PLAYED.get(routine) or (lambda pivots: _order(pivots, results[0].shape[-1]))
    settings = {k: v for k, v in settings.items() if k in declared}
    run = _played(one, ffi.CUDA[routine].rank, results, settings)
    return builder.callback(run, operands, results, side_effect=False)[0]


def _written(builder, name, result, operands, **attributes):
    if builder.platform != "cuda" or name != "stablehlo.triangular_solve":
        return _one(builder, name, result, operands, **attributes)
    flags = {k: str(attributes[k]) == "true" for k in ("lower", "unit_diagonal")}
    how = re.search(r"transpose (\w+)", str(attributes["transpose_a"]))[1]
    flags |= {"left": str(attributes["left_side"]) == "true", "transpose": how}
    run = _played(_trsm, 2, [result], flags)
    return builder.callback(run, operands, [result], side_effect=False)[0][0]


def _on_the_cpu(self, *args, **kwargs):
    """Calls of Python functions as a CPU makes them, where the module is for a GPU."""
    platform, self.platform = self.platform, "cpu"
    try:
        return _callback(self, *args, **kwargs)
    finally:
        self.platform = platform


def pytest_configure(config):
    cache.default_cache = lambda: None  # no other process may find these programs
    whole = lower.lowered
    lower.lowered = lambda p, platform, **settings: whole(p, "cuda", **settings)
    ffi.factor_call, calls.Calls.callback, hlo.Builder.one = _emulated, _on_the_cpu, _written


def pytest_terminal_summary(terminalreporter):
    written = ", ".join(f"{k} {n}" for k, n in sorted(counts.items()))
    terminalreporter.write_line(f"routines of a GPU in programs: {written}")
