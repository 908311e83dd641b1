"""Dense linear algebra: solutions, factorisations, spectra, least squares, determinants.

Ratios are those of LAPACK's tests: a residual over n, eps and the norms of what was given.
"""

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from tests.accuracy import wide as w
from tests.accuracy.book import Claim, Ratio, Routine
from tests.accuracy.matrices import eps, matrix, name_of, sides

la = xc.linalg
PART = "linalg"


def unit(a):
    """n eps of a's dtype."""
    return max(a.shape) * eps(a.dtype)


def over(error, *sizes):
    """error / sizes, and 0 where the error is 0."""
    size = np.prod([np.longdouble(s) for s in sizes])
    return 0.0 if error == 0 else float(np.longdouble(error) / size) if size > 0 else np.inf


def hopeless(a):
    """Singular up to rounding: nobody owes a finite result."""
    s = w.svd(a)[1]
    return not len(s) or s[-1] <= 4 * unit(a) * s[0]


def too_large(a, *found):
    """Of what is not finite: one ratio, infinite unless the problem is to blame."""
    if all(np.isfinite(w.wide(x)).all() for x in found):
        return None
    return [] if hopeless(a) else [Ratio("not finite", np.inf)]


def orthonormal(q, like, what):
    gram = w.adjoint(w.wide(q)) @ w.wide(q)
    return Ratio(what, over(w.norm1(gram - np.eye(gram.shape[0])), unit(like)))


# Solutions


# Every size is a program to compile; references in extended precision take seconds for large matrices.
SIZES_OF = {
    "f16": (7,), "bf16": (7,), "f32": (1, 7, 33, 100, 300), "f64": (1, 7, 33, 100), "c64": (7, 33), "c128": (7, 33),
}  # fmt: skip


def unaffordable(family, n, dtype):
    return n not in SIZES_OF[name_of(dtype)] or (n == 300 and family != "random")


def _system(kind):
    def problem(family, n, dtype):
        if unaffordable(family, n, dtype):
            return None
        a = matrix(family, n, dtype, kind)
        return a, sides(a)

    return problem


def just(kind):
    def problem(family, n, dtype):
        return None if unaffordable(family, n, dtype) else (matrix(family, n, dtype, kind),)

    return problem


def _backward(a, x, b):
    """Of the worst column, in the ∞-norm."""
    a, x, b = map(w.wide, (a, x, b))
    left = np.abs(b - a @ x).max(0)
    size = w.norm1(a.T) * np.abs(x).max(0) + np.abs(b).max(0)
    return float((np.where(left == 0, 0, left / np.where(size == 0, 1, size))).max(initial=0))


def solution(arrays, x):
    (a, b), n = arrays, len(arrays[0])
    bad = too_large(a, x)
    return bad if bad is not None else [Ratio("backward", over(_backward(a, x, b), n, eps(a.dtype)))]  # fmt: skip


def forward(a, x, b):
    """Relative errors of the columns, in the ∞-norm; None of singular matrices."""
    found = w.solve(a, b)
    if found is None:
        return None
    true, off = found
    error = np.maximum(np.abs(w.widest(x) - true).max(0) - off, 0)
    size = np.abs(true).max(0)
    return np.where(error == 0, 0, error / np.where(size == 0, 1, size))


def digits(error, answer, dtype):
    """That so many decimal digits of the largest elements are right, and the yes itself: one is.

    ``error``: relative to the largest element; None where there is no reference since there is no result.
    """
    told, ok = float(answer.certificate.digits), answer.status == 0
    error = np.inf if error is None or np.isnan(error) else error
    bound = 10.0 ** -np.longdouble(told)
    return [
        Claim("digits", error, bound, told > 0, floor=eps(dtype) / 2), Claim("ok", error, 0.11, ok),
    ]  # fmt: skip


def reported(arrays, answer):
    (a, b), n = arrays, len(arrays[0])
    x, ok = answer.value, answer.status == 0
    bad = too_large(a, x)
    error = _backward(a, x, b) if bad is None else np.inf
    error = error if error == error else np.inf
    told = [] if bad == [] else [Ratio("backward", over(error, n, eps(a.dtype)))]
    told.append(Claim("ok: backward error", error, 31 * n * eps(a.dtype), ok))
    found = forward(a, x, b) if np.isfinite(w.wide(x)).all() else None
    return told + digits(None if found is None else found.max(), answer, a.dtype)


def _inverse(arrays, x):
    (a,) = arrays
    bad = too_large(a, x)
    if bad is not None:
        return bad
    a, x = w.wide(a), w.wide(x)
    left = w.norm1(a @ x - np.eye(len(a)))
    return [Ratio("|a x - 1|", over(left, w.norm1(a), w.norm1(x), unit(arrays[0])))]


def _pseudoinverse(arrays, x):
    a, given = w.wide(arrays[0]), arrays[0]
    x = w.wide(x)
    s = w.svd(given)[1]
    large = w.norm1(a) * w.norm1(x)
    clear = (
        len(s) and not ((s < 100 * unit(given) * s[0]) & (s > 0)).any()
    )  # the rank is beyond doubt
    found = [Ratio("|a x a - a|", over(w.norm1(a @ x @ a - a), w.norm1(a), large, unit(given)))]
    if clear:
        found.append(Ratio("|x a x - x|", over(w.norm1(x @ a @ x - x), w.norm1(x), large, unit(given))))  # fmt: skip
    return found


# Factorisations


def product(a, what, given, *factors):
    """|a - product of factors| / (n eps |a|)."""
    if not all(np.isfinite(w.wide(f)).all() for f in factors):
        return Ratio("not finite", np.inf)
    found = w.wide(factors[0])
    for f in factors[1:]:
        found = found @ w.wide(f)
    return Ratio(what, over(w.norm1(w.wide(a) - found), unit(given), w.norm1(w.wide(a))))


def _lu(arrays, found):
    (a,), (p, low, up) = arrays, found
    return [product(a[p], "|p l u - a|", a, low, up)]


def _qr(arrays, found):
    (a,), (q, r) = arrays, found
    return [product(a, "|q r - a|", a, q, r), orthonormal(q, a, "|qᴴq - 1|")]


def _cholesky(arrays, low):
    (a,) = arrays
    if not np.isfinite(w.wide(low)).all():
        s = w.eigh(a)[0]
        return [] if s[0] <= 4 * unit(a) * s[-1] else [Ratio("not finite", np.inf)]
    return [product(a, "|l lᴴ - a|", a, low, w.adjoint(w.wide(low)))]


def _ldl(arrays, found):
    (a,), (low, d, _) = arrays, found
    return [product(a, "|l d lᴴ - a|", a, low, d, w.adjoint(w.wide(low)))]


def unitary_form(arrays, found):
    (a,), (t, z) = arrays, found
    return [product(a, "|z t zᴴ - a|", a, z, t, w.adjoint(w.wide(z))), orthonormal(z, a, "|zᴴz - 1|")]  # fmt: skip


def _polar(arrays, found):
    (a,), (u, p) = arrays, found
    least = -w.eigh(p)[0][0]
    size = w.norm1(w.wide(a))
    return [
        product(a, "|u p - a|", a, u, p), orthonormal(u, a, "|uᴴu - 1|"),
        Ratio("p >= 0", over(max(least, 0), unit(a), size)),
    ]  # fmt: skip


# Least squares, determinants


def _least_squares(arrays, x):
    a, x, b = (w.wide(v) for v in (arrays[0], x, arrays[1]))
    bad = too_large(arrays[0], x)
    if bad is not None:
        return bad
    left = np.abs(w.adjoint(a) @ (b - a @ x)).max()
    size = w.norm1(a) * (w.norm1(a) * np.abs(x).max() + np.abs(b).max())
    return [Ratio("|aᴴ(b - a x)|", over(left, unit(arrays[0]), size))]


def _least_squares_reported(arrays, answer):
    (a, b), stats = arrays, answer.certificate
    told = _least_squares(arrays, answer.value)
    true = w.least_norm(a, b, int(stats["rank"]) if "rank" in stats else a.shape[1])
    error = np.abs(w.widest(answer.value) - true).max(0)
    size = np.abs(true).max(0)
    share = np.where(error == 0, 0, error / np.where(size == 0, 1, size)).max()
    share = share if np.isfinite(share) else np.inf
    d = w.wide(stats["digits"])
    bound = 10.0 ** -np.longdouble(d)
    return [*told, Claim("digits", share, bound, d > 0, floor=eps(a.dtype) / 2)]


def _logdet(arrays, found):
    (a,), (sign, log) = arrays, found
    true_sign, true, weight = w.slogdet(a)
    if true == -np.inf or hopeless(a):
        return []
    error = abs(w.widest(log) - true)
    wrong = abs(w.wide(sign) - narrow_sign(true_sign))
    return [
        Ratio("log", over(error, unit(a), weight + abs(true))), Ratio("sign", over(wrong, unit(a), weight)),
    ]  # fmt: skip


def narrow_sign(x):
    return complex(x) if np.iscomplexobj(x) else float(x)


def _logdet_reported(arrays, answer):
    (a,), (sign, log) = arrays, answer.value
    true_sign, true, _ = w.slogdet(a)
    exact = true != -np.inf
    off = abs(w.widest(log) - true) if exact else np.inf
    turn = abs(w.wide(sign) - narrow_sign(true_sign)) if exact else np.inf
    floor = eps(a.dtype) * max(abs(float(true)), 1) if exact else 1.0
    bound, ok = w.widest(answer.certificate["error"]), answer.status == 0
    return [
        *_logdet(arrays, answer.value), Claim("error of log", off, bound, np.isfinite(bound), floor=floor),
        Claim("ok: sign", turn, 1, ok),
    ]  # fmt: skip


def _det_reported(arrays, answer):
    (a,) = arrays
    sign, log, _ = w.slogdet(a)
    bound = w.widest(answer.certificate["error"])
    true = sign * np.exp(log)
    off = abs(w.widest(answer.value) - true) / abs(true) if log > -np.inf else np.inf
    off = off if np.isfinite(off) else np.inf
    return [*_det(arrays, answer.value), Claim("error of det", off, bound, np.isfinite(bound), floor=eps(a.dtype))]  # fmt: skip


def _det(arrays, found):
    (a,) = arrays
    sign, log, weight = w.slogdet(a)
    limits = np.log(np.longdouble(np.finfo(np.float32 if eps(a.dtype) > 1e-8 else np.float64).tiny))
    if log == -np.inf or not limits < log < -limits or hopeless(a):
        return []
    true = sign * np.exp(log)
    if abs(true) > float(np.finfo(np.float16).max) and a.dtype.itemsize == 2:
        return []
    return [Ratio("det", over(abs(w.widest(found) - true), abs(true), unit(a), weight))]


ASSUMED = {
    "general": "general", "symmetric": "symmetric", "hermitian": "symmetric",
    "positive definite": "definite", "upper triangular": "triangular",
}  # fmt: skip


def _solve(assume, **options):
    return lambda a, b: la.solve(a, b, assume, **options)


def _symmetric_system(family, n, dtype):
    """Complex symmetric, not Hermitian."""
    if unaffordable(family, n, dtype):
        return None
    a = matrix(family, n, dtype, "general")
    a = (np.tril(a) + np.tril(a, -1).T).astype(dtype)
    return a, sides(a)


def _row(name, problem, call, judge, part=PART, **more):
    return Routine(name, part, problem, call, judge, **more)


ROUTINES = [
    _row("solve", _system("general"), la.solve, solution),
    _row("solve-report", _system("general"), _solve("general", report=True), reported, quick=True),
    _row("solve-symmetric", _symmetric_system, _solve("symmetric", report=True), reported),
    *(
        _row(f"solve-{assume.replace(' ', '-')}", _system(kind), _solve(assume, report=True), reported)
        for assume, kind in ASSUMED.items()
        if assume not in ("general", "symmetric")
    ),
    _row("inv", just("general"), la.inv, _inverse),
    _row("pinv", just("tall"), la.pinv, _pseudoinverse),
    _row("lu", just("general"), la.lu, _lu),
    _row("qr", just("tall"), la.qr, _qr),
    _row("cholesky", just("definite"), la.cholesky, _cholesky, quick=True),
    _row("ldl", just("symmetric"), la.ldl, _ldl),
    _row("polar", just("tall"), la.polar, _polar),
    _row("lstsq", _system("tall"), lambda a, b: la.lstsq(a, b, report=True), _least_squares_reported, quick=True),
    _row("lstsq-qr", _system("tall"), lambda a, b: la.lstsq(a, b, method="qr", report=True), _least_squares_reported),
    _row("det", just("general"), lambda a: la.det(a, report=True), _det_reported),
    _row("slogdet", just("general"), lambda a: la.slogdet(a, report=True), _logdet_reported, quick=True),
]  # fmt: skip

_FACES = {
    "solve": (_system("general"), xnp.linalg.solve, solution),
    "inv": (just("general"), xnp.linalg.inv, _inverse),
    "cholesky": (just("definite"), xnp.linalg.cholesky, _cholesky),
    "qr": (just("tall"), xnp.linalg.qr, _qr),
    "lstsq": (_system("tall"), lambda a, b: xnp.linalg.lstsq(a, b)[0], _least_squares),
    "det": (just("general"), xnp.linalg.det, _det),
}
ROUTINES += [
    _row(f"numpy.{name}", *row, part="numpy.linalg", ways=("one",)) for name, row in _FACES.items()
]
