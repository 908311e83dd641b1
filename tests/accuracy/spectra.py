"""Spectra: eigenvalues, singular values, their vectors, and what reports say of them."""

import mpmath
import numpy as np

import xcore as xc
import xcore.numpy as xnp
from tests.accuracy import dense
from tests.accuracy import wide as w
from tests.accuracy.book import Claim, Ratio, Routine
from tests.accuracy.dense import orthonormal, over, product, unit, unitary_form
from tests.accuracy.matrices import eps

la = xc.linalg


def just(kind):
    """References in extended precision take a second for each matrix of 100 rows."""
    problem = dense.just(kind)
    return lambda family, n, dtype: None if n > 33 and dtype.itemsize > 4 else problem(family, n, dtype)  # fmt: skip


def _norm2(s):
    return float(np.abs(s).max(initial=0))


def _eigenvalues(a, values):
    true = w.eigh(a)[0]
    error = np.abs(w.widest(values) - true)
    return error, Ratio("|w - λ|", over(error.max(initial=0), unit(a), _norm2(true)))


def _eigh(arrays, found):
    (a,), (values, v) = arrays, found
    if not np.isfinite(w.wide(v)).all():
        return [Ratio("not finite", np.inf)]
    left = w.wide(a) @ w.wide(v) - w.wide(v) * w.wide(values)
    return [
        Ratio("|a v - v w|", over(w.norm1(left), unit(a), w.norm1(w.wide(a)))),
        orthonormal(v, a, "|vᴴv - 1|"), _eigenvalues(a, values)[1],
    ]  # fmt: skip


def angles(found, true, clear):
    """Sines of the angles between columns, where the true one is determined."""
    found, true = w.widest(found), w.widest(true)
    found = found / np.maximum(w.lengths(found), 1e-300)
    part = (np.conj(true) * found).sum(0)
    return np.where(clear, w.lengths(found - true * part), 0)


def _isolated(values, size, others=()):
    """Whether a reference in extended precision knows the vector of each value."""
    every = np.concatenate([values, np.asarray(others, values.dtype)])
    apart = np.abs(values[:, None] - every[None, :])
    apart[np.arange(len(values)), np.arange(len(values))] = np.inf
    return apart.min(1, initial=np.inf) > 1e-13 * size


def _eigh_reported(arrays, answer):
    (a,), (values, v) = arrays, answer.value
    told = _eigh(arrays, answer.value)
    if len(told) == 1:
        return [*told, Claim("ok", np.inf, 0, answer.status == 0)]
    true, vectors = w.eigh(a)
    size, e = _norm2(true), eps(a.dtype)
    left = w.lengths(w.wide(a) @ w.wide(v) - w.wide(v) * w.wide(values)).max(initial=0)
    clear = _isolated(true, size) & (answer.certificate["angle"] < 1)
    return [
        *told, Claim("ok: |a v - v w|", left, 31 * unit(a) * size, answer.status == 0),
        Claim("error of w", np.abs(w.widest(values) - true), w.widest(answer.certificate["error"]), floor=e * size),
        Claim("angle of v", angles(v, vectors, clear), w.widest(answer.certificate["angle"]), clear, floor=e),
    ]  # fmt: skip


def _eigvals(arrays, values):
    """Each is an eigenvalue of a + e, |e| the smallest singular value of a - w."""
    a = w.narrow(arrays[0])
    values, size = w.narrow(values), np.abs(a).max(initial=0)
    if not np.isfinite(values).all():
        return [Ratio("not finite", np.inf)]
    a, values = a / (size or 1), values / (size or 1)
    shifted = a - values[:, None, None] * np.eye(len(a))
    least = np.linalg.svd(shifted, compute_uv=False)[:, -1].max(initial=0)
    return [Ratio("least s of a - w", over(least, unit(arrays[0]), w.norm1(a)))]


def _eig(arrays, found):
    (a,), (values, v) = arrays, found
    if not np.isfinite(w.wide(v)).all():
        return [Ratio("not finite", np.inf)]
    left = w.norm1(w.wide(a) @ w.wide(v) - w.wide(v) * w.wide(values))
    sizes = np.abs(w.lengths(w.wide(v)) - 1).max(initial=0)
    return [
        Ratio("|a v - v w|", over(left, unit(a), w.norm1(w.wide(a)))),
        Ratio("||v| - 1|", over(sizes, unit(a))), *_eigvals(arrays, values),
    ]  # fmt: skip


def _eigvalsh_reported(arrays, answer):
    error, ratio = _eigenvalues(arrays[0], answer.value)
    floor = eps(arrays[0].dtype) * _norm2(w.eigh(arrays[0])[0])
    return [ratio, Claim("error of w", error, w.widest(answer.certificate["error"]), floor=floor)]


@w.remembered
def _exact_eigenvalues(a):
    with mpmath.workdps(60):
        found = mpmath.eig(w.mp_matrix(a), left=False, right=False)
    return np.array([complex(x) for x in found])


def _eig_reported(arrays, answer):
    return [
        *_eig(arrays, answer.value),
        *_values_reported(arrays, answer.value[0], answer.certificate),
    ]


def _eigvals_reported(arrays, answer):
    return [
        *_eigvals(arrays, answer.value),
        *_values_reported(arrays, answer.value, answer.certificate),
    ]


def _values_reported(arrays, values, stats):
    """Each value has an eigenvalue within the error told; of small matrices, mpmath knows them."""
    (a,) = arrays
    values = w.narrow(values)
    if len(a) > 7 or not np.isfinite(values).all():
        return []
    nearest = np.abs(values[:, None] - _exact_eigenvalues(a)).min(1)
    bound = w.widest(stats["error"])
    floor = eps(a.dtype) * np.abs(values).max(initial=0) + 1e-16 * np.abs(values)
    nearest = np.maximum(
        nearest - 1e-16 * np.abs(values), 0
    )  # the reference came in double precision
    return [Claim("error of w", nearest, bound, np.isfinite(bound), floor=floor.max() or 1e-300)]  # fmt: skip


def _svdvals(arrays, s):
    (a,) = arrays
    true = w.svd(a)[1]
    error = np.abs(w.widest(s) - true)
    return [Ratio("|s - σ|", over(error.max(initial=0), unit(a), _norm2(true)))]


def _svd(arrays, found):
    (a,), (u, s, vh) = arrays, found
    if not all(np.isfinite(w.wide(x)).all() for x in found):
        return [Ratio("not finite", np.inf)]
    return [
        product(a, "|u s vᴴ - a|", a, w.wide(u) * w.wide(s), vh), orthonormal(u, a, "|uᴴu - 1|"),
        orthonormal(w.adjoint(vh), a, "|vᴴv - 1|"), *_svdvals(arrays, s),
    ]  # fmt: skip


def _svd_reported(arrays, answer):
    (a,), (u, s, vh) = arrays, answer.value
    told = _svd(arrays, answer.value)
    if len(told) == 1:
        return [*told, Claim("ok", np.inf, 0, answer.status == 0)]
    left, true, right = w.svd(a)
    size, e = _norm2(true), eps(a.dtype)
    others = [0.0] * (a.shape[0] != a.shape[1])
    clear = (
        _isolated(true, size, others) & (true > 1e-13 * size) & (answer.certificate["angle"] < 1)
    )
    pairs = zip((left, right), (u, w.adjoint(vh)), strict=True)
    worst = np.maximum(*(angles(found, exact, clear) for exact, found in pairs))
    return [
        *told, Claim("ok: |u s vᴴ - a|", told[0].value, 62, answer.status == 0),
        Claim("error of s", np.abs(w.widest(s) - true), w.widest(answer.certificate["error"]), floor=e * size),
        Claim("angle of u, v", worst, w.widest(answer.certificate["angle"]), clear, floor=e),
    ]  # fmt: skip


def _row(name, problem, call, judge, part="linalg", **more):
    return Routine(name, part, problem, call, judge, **more)


ROUTINES = [
    _row("eigh", just("symmetric"), lambda a: la.eigh(a, report=True), _eigh_reported, quick=True),
    _row("eigvalsh", just("symmetric"), lambda a: la.eigvalsh(a, report=True), _eigvalsh_reported),
    _row("eig", just("general"), lambda a: la.eig(a, report=True), _eig_reported),
    _row("eigvals", just("general"), lambda a: la.eigvals(a, report=True), _eigvals_reported),
    _row("svd", just("tall"), lambda a: la.svd(a, report=True), _svd_reported),
    _row("svdvals", just("general"), la.svdvals, _svdvals),
    _row("schur", just("general"), la.schur, unitary_form),
    _row("hessenberg", just("general"), la.hessenberg, unitary_form),
    _row(
        "numpy.eigh", just("symmetric"), xnp.linalg.eigh, _eigh, part="numpy.linalg", ways=("one",)
    ),
    _row(
        "numpy.svd",
        just("tall"),
        lambda a: xnp.linalg.svd(a, full_matrices=False),
        _svd,
        part="numpy.linalg",
        ways=("one",),
    ),
]
