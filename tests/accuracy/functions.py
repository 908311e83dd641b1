"""Functions of matrices and what is claimed of them, beside mpmath in fifty digits.

An error is measured by what it would take to explain it: the change of the true result when the matrix
changes by n eps of its norm, the largest of two random changes.
"""

import mpmath
import numpy as np

import xcore as xc
import xcore.numpy as xnp
from tests.accuracy import wide as w
from tests.accuracy.book import Ratio, Routine
from tests.accuracy.dense import digits, over, unit
from tests.accuracy.matrices import DTYPES, generator, matrix

la = xc.linalg
MILD = (
    "random",
    "small",
    "hilbert",
    "kahan",
    "wilkinson",
    "defective",
    "repeated",
    "near-singular",
)
SIZES = (1, 7)


def _by_spectrum(f):
    """f of a Hermitian matrix in mpmath."""

    def of(m):
        values, v = mpmath.eighe(m)
        return v * mpmath.diag([f(x) for x in values]) * v.H

    return of


def _of_any(f, hermitian):
    """``f`` of mpmath's matrices is slow; spectra are quick where they do."""

    def of(m):
        off = max(abs(m[i, j] - mpmath.conj(m[j, i])) for i in range(m.rows) for j in range(i + 1))
        return _by_spectrum(hermitian)(m) if off == 0 else f(m)

    return of


FUNCTIONS = {
    "expm": _of_any(mpmath.expm, mpmath.exp),
    "logm": _of_any(mpmath.logm, mpmath.log),
    "sqrtm": _of_any(mpmath.sqrtm, mpmath.sqrt),
    "tanh": _by_spectrum(mpmath.tanh),
}


def _norm(m):
    return float(mpmath.mnorm(m, 1))


def _reference(name, a, hermitian):
    """(f(a), how far it moves when a does)."""
    with mpmath.workdps(50):
        m = w.mp_matrix(a)
        f = FUNCTIONS[name]
        value, moved = f(m), 0.0
        for k in range(2):
            e = generator("change", k, a.shape).standard_normal(a.shape)
            e = e + e.T if hermitian else e
            e *= unit(a) * float(np.abs(w.narrow(a)).sum(0).max()) / np.abs(e).sum(0).max()
            moved = max(moved, _norm(f(m + mpmath.matrix(e.tolist())) - value))
        return value, moved


_KNOWN: dict = {}


def reference(name, a, hermitian=False):
    key = (name, a.tobytes(), a.dtype, hermitian)
    if key not in _KNOWN:
        try:
            _KNOWN[key] = _reference(name, a, hermitian)
        except mpmath.libmp.NoConvergence:
            _KNOWN[key] = None
    return _KNOWN[key]


def _reported(name):
    """The ratio, and the digits claimed: where mpmath has no result, there is nothing to judge."""
    plain = _judge(name)

    def judge(arrays, answer):
        known, x = reference(name, arrays[0]), answer.value
        if known is None:
            return []
        with mpmath.workdps(50):
            most = max(map(abs, known[0]))
            off = (
                max(map(abs, w.mp_matrix(x) - known[0])) if np.isfinite(w.wide(x)).all() else np.inf
            )
            error = float(off / most) if most else float(off > 0)
        return [*plain(arrays, x), *digits(error, answer, x.dtype)]

    return judge


def _judge(name, hermitian=False):
    def judge(arrays, found):
        (a,) = arrays
        known = reference(name, a, hermitian)
        if known is None:  # mpmath has none
            return []
        value, moved = known
        size = _norm(value)
        if not np.isfinite(w.wide(found)).all():
            largest = float(xnp.finfo(found.dtype).max)
            return [] if not size < largest else [Ratio("not finite", np.inf)]
        with mpmath.workdps(50):
            error = _norm(w.mp_matrix(found) - value)
        return [Ratio(f"|{name}|", over(error, max(moved, unit(a) * size)))]

    return judge


def _plain(kind):
    return lambda family, n, dtype: (matrix(family, n, dtype, kind),)


def _off_the_cut(family, n, dtype):
    """No eigenvalue near the negative numbers: definite, triangular with a positive diagonal, 1 + small."""
    if family in ("kahan", "defective"):
        return (matrix(family, n, dtype),)
    if family == "random":
        near = np.eye(n) + w.narrow(matrix(family, n, dtype)) / (4 * n)
        return (near.astype(dtype),)
    return (matrix(family, n, dtype, "definite"),)


def _row(name, problem, call, judge, families=MILD):
    return Routine(name, "functions of matrices", problem, call, judge, families, tuple(DTYPES), SIZES)  # fmt: skip


REGULAR = tuple(f for f in MILD if f not in ("near-singular", "wilkinson"))
ROUTINES = [
    _row("expm", _plain("general"), lambda a: la.expm(a, report=True), _reported("expm")),
    _row("logm", _off_the_cut, lambda a: la.logm(a, report=True), _reported("logm"), REGULAR),
    _row("sqrtm", _off_the_cut, lambda a: la.sqrtm(a, report=True), _reported("sqrtm"), REGULAR),
    _row("funm-exp", _plain("symmetric"), lambda a: la.funm(a, xnp.exp)[0], _judge("expm", True)),
    _row("funmh-tanh", _plain("symmetric"), lambda a: la.funmh(a, xnp.tanh), _judge("tanh", True)),
]
