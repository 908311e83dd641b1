"""Banded, triangular, Toeplitz, circulant systems, factors; equations of Sylvester, Lyapunov, Riccati."""

import numpy as np

import xcore as xc
from tests.accuracy import wide as w
from tests.accuracy.book import Claim, Ratio, Routine
from tests.accuracy.dense import SIZES_OF, digits, forward, over, reported, unit
from tests.accuracy.matrices import generator, matrix, name_of, sides

la = xc.linalg
LOWER, UPPER = 2, 1
SIZES = (1, 2, 7, 33)
MILD = ("random", "hilbert", "kahan", "wilkinson", "defective", "repeated", "small", "large")


def within(a, lower, upper):
    return np.tril(np.triu(a, -lower), upper)


def _bands(a, lower, upper):
    """The diagonals, as rows: ab[upper + i - j, j] = a[i, j]."""
    n = len(a)
    ab = np.zeros((lower + upper + 1, n), a.dtype)
    for i in range(n):
        for j in range(max(0, i - lower), min(n, i + upper + 1)):
            ab[upper + i - j, j] = a[i, j]
    return ab


def _from_bands(ab, lower, upper):
    n = ab.shape[1]
    a = np.zeros((n, n), ab.dtype)
    for i in range(n):
        for j in range(max(0, i - lower), min(n, i + upper + 1)):
            a[i, j] = ab[upper + i - j, j]
    return a


def _here(n, dtype):
    return n in SIZES_OF[name_of(dtype)]


def _banded(family, n, dtype):
    if n < 3 or not _here(n, dtype):
        return None
    a = within(matrix(family, n, dtype), LOWER, UPPER)
    return _bands(a, LOWER, UPPER), sides(a)


def _banded_definite(family, n, dtype):
    """l lᴴ of a band l, whose diagonal is 1 and more."""
    if n < 3 or not _here(n, dtype):
        return None
    low = within(w.narrow(matrix(family, n, dtype)), 1, 0)
    scale = np.abs(low).max(1, keepdims=True)
    low = low / np.where(scale == 0, 1, scale)
    low = np.tril(low, -1) + np.diag(1 + np.abs(np.diagonal(low)))
    a = low @ low.conj().T
    a = (a + a.conj().T).astype(dtype) / np.asarray(2, dtype)
    return _bands(a, 0, 1)[:2], sides(a)


def _from_upper(ab):
    a = _from_bands(ab, 0, 1)
    return a + np.conj(np.triu(a, 1)).T


def _tridiagonal(family, n, dtype):
    if n < 2 or not _here(n, dtype):
        return None
    ab = _bands(within(matrix(family, n, dtype), 1, 1), 1, 1)
    lower, upper = np.roll(ab[2], 1), np.roll(ab[0], -1)
    return lower, ab[1], upper, sides(_from_diagonals(lower, ab[1], upper))


def _from_diagonals(lower, diagonal, upper):
    return np.diag(lower[1:], -1) + np.diag(diagonal) + np.diag(upper[:-1], 1)


def _triangular(family, n, dtype):
    if not _here(n, dtype):
        return None
    a = matrix(family, n, dtype, "triangular")
    return a, sides(a)


def _toeplitz(family, n, dtype):
    if not _here(n, dtype):
        return None
    a = matrix(family, n, dtype)
    column, row = a[:, 0].copy(), a[0].copy()
    row[0] = column[0]
    return column, sides(_from_column(column, row)), row


def _from_column(column, row):
    n = len(column)
    return np.array([[column[i - j] if i >= j else row[j - i] for j in range(n)] for i in range(n)])


def _circulant(family, n, dtype):
    """The first column of the family's matrix."""
    if not _here(n, dtype):
        return None
    c = matrix(family, n, dtype)[:, 0].copy()
    return c, sides(_around(c))


def _around(c):
    k = np.arange(len(c))
    return c[np.subtract.outer(k, k) % len(c)]


def _full(kind):
    def problem(family, n, dtype):
        if not _here(n, dtype):
            return None
        a = matrix(family, n, dtype, kind)
        return a, sides(a)

    return problem


def _as_dense(whole):
    """Judges structured arguments by the dense matrix they stand for."""
    return lambda arrays, answer: reported(whole(*arrays), answer)


# Matrix equations


def _pair(family, n, dtype):
    """a of the family and b = 1 + small, so that a and -b have no eigenvalue in common, unless a has them."""
    if not _here(n, dtype):
        return None
    a = matrix(family, n, dtype)
    rng = generator("sylvester", n)
    size = np.abs(w.narrow(a)).max()
    if size == 0:  # of which 0 is the one eigenvalue, and no other matrix has another
        return None
    b = (size * (2 * n * np.eye(n) + rng.standard_normal((n, n)) / 4)).astype(dtype)
    c = (size * rng.standard_normal((n, n))).astype(dtype)
    return a, b, c


def equation(what, left, like, *sizes):
    """|terms| over n eps and the sum of the sizes of the terms."""
    if not np.isfinite(left).all():
        return [Ratio("not finite", np.inf)]
    return [Ratio(what, over(w.norm1(left), unit(like) * sum(sizes)))]


FEW = 7  # rows: the equations of more have too many elements for a dense reference


def _by_kronecker(terms, c, answer, dtype):
    """Claims of x with Σ l x r = c, beside the dense equations of its elements."""
    if len(c) > FEW:
        return []
    dense = sum(np.kron(w.widest(l), w.widest(r).T) for l, r in terms)
    found = forward(dense, answer.value.reshape(-1, 1), c.reshape(-1, 1))
    return digits(None if found is None else float(found[0]), answer, dtype)


def _sylvester(arrays, answer):
    (a, b, c), x, one = map(w.wide, arrays), w.wide(answer.value), np.eye(len(arrays[0]))
    size = (w.norm1(a) + w.norm1(b)) * w.norm1(x)
    ratios = equation("|a x + x b - c|", a @ x + x @ b - c, arrays[0], size, w.norm1(c))
    return ratios + _by_kronecker([(a, one), (one, b)], c, answer, arrays[0].dtype)


def _stable(family, n, dtype):
    """A matrix whose eigenvalues are left of -1, and a Hermitian right side."""
    if not _here(n, dtype):
        return None
    a = w.narrow(matrix(family, n, dtype))
    a = a / max(np.linalg.norm(a, 2), 1e-300) - 2 * np.eye(n)
    q = generator("lyapunov", n).standard_normal((n, n))
    return a.astype(dtype), (q + q.T).astype(dtype)


def _lyapunov(arrays, answer):
    (a, q), x, one = map(w.wide, arrays), w.wide(answer.value), np.eye(len(arrays[0]))
    left, size = a @ x + x @ w.adjoint(a) - q, 2 * w.norm1(a) * w.norm1(x)
    ratios = equation("|a x + x aᴴ - q|", left, arrays[0], size, w.norm1(q))
    return ratios + _by_kronecker([(a, one), (one, w.adjoint(a))], q, answer, arrays[0].dtype)


def _contraction(family, n, dtype):
    found = _stable(family, n, dtype)
    return found and ((w.narrow(found[0]) / 4).astype(dtype), found[1])


def _discrete_lyapunov(arrays, answer):
    (a, q), x, one = map(w.wide, arrays), w.wide(answer.value), np.eye(len(arrays[0]))
    left, size = a @ x @ w.adjoint(a) - x + q, (w.norm1(a) * w.norm1(a.T) + 1) * w.norm1(x)
    ratios = equation("|a x aᴴ - x + q|", left, arrays[0], size, w.norm1(q))
    return ratios + _by_kronecker([(-a, w.adjoint(a)), (one, one)], q, answer, arrays[0].dtype)


def _control(family, n, dtype):
    """The family's matrix of size 1, a random input, definite weights."""
    if not _here(n, dtype):
        return None
    a = w.narrow(matrix(family, n, dtype))
    a = a / max(np.linalg.norm(a, 2), 1e-300)
    rng, m = generator("riccati", n), max(1, n // 2)
    b = rng.standard_normal((n, m))
    return tuple(x.astype(dtype) for x in (a, b, np.eye(n), np.eye(m)))


def _continuous_parts(a, b, q, x):
    """(residual, closed loop, terms of what a change of x changes): r is 1."""
    gain, one = b @ w.adjoint(b) @ x, np.eye(len(a))
    loop = a - gain
    left = w.adjoint(a) @ x + x @ a - x @ gain + q
    return left, loop, [(w.adjoint(loop), one), (one, loop)]


def _discrete_parts(a, b, q, x):
    inner = w.solve(np.eye(b.shape[1]) + w.adjoint(b) @ x @ b, w.adjoint(b) @ x @ a)
    loop = a - b @ (inner[0] if inner else np.full_like(b.T, np.nan))
    left = w.adjoint(a) @ x @ loop - x + q
    return left, loop, [(w.adjoint(loop), loop), (-np.eye(len(a)), np.eye(len(a)))]


def _stabilising(parts, stable, a, b, q, x):
    """What Newton's method makes of x in extended precision; None if that does not stabilise."""
    for _ in range(8):
        left, loop, terms = parts(a, b, q, x)
        if not np.isfinite(left).all() or not stable(np.linalg.eigvals(w.narrow(loop))):
            return None
        dense = sum(np.kron(w.widest(l), w.widest(r).T) for l, r in terms)
        step = w.solve(dense, left.reshape(-1, 1))
        if step is None:
            return None
        x = x - step[0].reshape(x.shape)
    return x


def _riccati(parts, stable, size_of):
    def judge(arrays, answer):
        (a, b, q, _), x = map(w.widest, arrays), w.widest(answer.value)
        ok = answer.status == 0
        if not np.isfinite(x).all():
            return [Claim("ok", np.inf, 0, ok)]
        sizes = w.norm1(a), w.norm1(a.T), w.norm1(b) * w.norm1(b.T), w.norm1(x)
        ratios = equation(
            "|residual|", parts(a, b, q, x)[0], arrays[0], size_of(*sizes), w.norm1(q)
        )
        if len(a) > FEW:
            return ratios
        true = _stabilising(parts, stable, a, b, q, x)
        error = None if true is None else float(np.abs(x - true).max() / np.abs(true).max())
        return ratios + digits(error, answer, arrays[0].dtype)

    return judge


_continuous = _riccati(
    _continuous_parts, lambda w: (w.real < 0).all(), lambda a, at, b, x: 2 * a * x + x**2 * b
)
_discrete = _riccati(
    _discrete_parts, lambda w: (np.abs(w) < 1).all(), lambda a, at, b, x: x + a * at * x * (1 + x * b),
)  # fmt: skip


def _row(name, problem, call, judge, families=None, part="linalg"):
    more = {} if families is None else {"families": families}
    return Routine(name, part, problem, call, judge, sizes=SIZES, **more)


ROUTINES = [
    _row("solve_banded", _banded, lambda ab, b: la.solve_banded((LOWER, UPPER), ab, b, report=True),
         _as_dense(lambda ab, b: (_from_bands(ab, LOWER, UPPER), b))),
    _row("solveh_banded", _banded_definite, lambda ab, b: la.solveh_banded(ab, b, report=True),
         _as_dense(lambda ab, b: (_from_upper(ab), b))),
    _row("solve_tridiagonal", _tridiagonal, lambda *given: la.solve_tridiagonal(*given, report=True),
         _as_dense(lambda low, d, up, b: (_from_diagonals(low, d, up), b))),
    _row("solve_triangular", _triangular, lambda a, b: la.solve_triangular(a, b, report=True), reported),
    _row("solve_toeplitz", _toeplitz, lambda c, b, r: la.solve_toeplitz(c, b, r, report=True),
         _as_dense(lambda c, b, r: (_from_column(c, r), b))),
    _row("solve_circulant", _circulant, lambda c, b: la.solve_circulant(c, b, report=True),
         _as_dense(lambda c, b: (_around(c), b))),
    _row("cho_solve", _full("definite"), lambda a, b: la.cho_solve(la.cholesky(a), b, report=True), reported),
    _row("lu_solve", _full("general"), lambda a, b: la.lu_solve(la.lu_factor(a), b, report=True), reported),
    _row("solve_sylvester", _pair, lambda *given: la.solve_sylvester(*given, report=True), _sylvester, MILD),
    _row("solve_continuous_lyapunov", _stable, lambda *given: la.solve_continuous_lyapunov(*given, report=True), _lyapunov, MILD),
    _row("solve_discrete_lyapunov", _contraction, lambda *given: la.solve_discrete_lyapunov(*given, report=True),
         _discrete_lyapunov, MILD),
    _row("solve_continuous_are", _control, lambda *given: la.solve_continuous_are(*given, report=True), _continuous, MILD),
    _row("solve_discrete_are", _control, lambda *given: la.solve_discrete_are(*given, report=True), _discrete, MILD),
]  # fmt: skip
