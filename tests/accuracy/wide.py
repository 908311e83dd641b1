"""Reference results in wider types: extended precision by NumPy, any precision by mpmath."""

import functools

import mpmath
import numpy as np

EXTENDED = np.finfo(np.longdouble).eps
_WIDER = {2: np.float64, 4: np.float64}  # the others: the widest there is
_WIDER_COMPLEX = {8: np.complex128}


def needs_extended():
    """Results in float64 can be judged in nothing narrower."""
    if EXTENDED > 1e-18:
        raise RuntimeError("the ledger needs a NumPy whose longdouble is wider than float64")


def wide(x):
    """x in the next wider type; integers and booleans as they are."""
    x = np.asarray(x)
    if x.dtype.kind in "biuUO":
        return x
    if x.dtype.kind == "c":
        return x.astype(_WIDER_COMPLEX.get(x.dtype.itemsize, np.clongdouble))
    return x.astype(_WIDER.get(x.dtype.itemsize, np.longdouble))


def widest(x):
    x = np.asarray(x)
    return x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble)


def narrow(x):
    """For LAPACK."""
    x = np.asarray(x)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def adjoint(a):
    return np.conj(a).swapaxes(-1, -2)


def norm1(a):
    """The largest column sum; of what is not finite, infinity."""
    if a.size == 0:
        return 0.0
    found = np.abs(a).sum(-2).max() if a.ndim > 1 else np.abs(a).sum()
    return found if np.isfinite(found) else np.inf


def lengths(columns):
    """Norms of columns, where squares would overflow."""
    size = np.abs(columns).max(-2, initial=0)
    size = np.where((size > 0) & np.isfinite(size), size, 1)
    return np.sqrt((np.abs(columns / size[..., None, :]) ** 2).sum(-2)) * size


def remembered(f):
    """Of arrays: the same matrix is judged for several routines and ways."""
    known = functools.lru_cache(maxsize=256)(lambda *keys: f(*map(_array, keys)))
    return lambda *arrays: known(*map(_key, arrays))


def _key(x):
    x = np.ascontiguousarray(x)
    return x.tobytes(), x.shape, x.dtype


def _array(key):
    return np.frombuffer(key[0], key[2]).reshape(key[1])


# Elimination


def lu(a):
    """(packed factors, rows, columns, sign) by elimination with complete pivoting, in extended precision.

    Pivots of columns alone would let elements grow by 2ⁿ, as those of the routines may.
    """
    a, n = widest(a).copy(), len(a)
    rows, columns, sign = np.arange(n), np.arange(n), 1
    for k in range(n):
        p, q = np.add(divmod(int(np.argmax(np.abs(a[k:, k:]))), n - k), k)
        if p != k:
            a[[k, p]], rows[[k, p]], sign = a[[p, k]], rows[[p, k]], -sign
        if q != k:
            a[:, [k, q]], columns[[k, q]], sign = a[:, [q, k]], columns[[q, k]], -sign
        if a[k, k] != 0:
            a[k + 1 :, k] /= a[k, k]
            a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a, rows, columns, sign


def _with_factors(packed, rows, columns, b):
    n = len(packed)
    x = widest(b)[rows].astype(np.result_type(packed, widest(b)))
    with np.errstate(all="ignore"):
        for k in range(n):
            x[k + 1 :] -= np.outer(packed[k + 1 :, k], x[k])
        for k in range(n - 1, -1, -1):
            x[k] = x[k] / packed[k, k]
            x[:k] -= np.outer(packed[:k, k], x[k])
    return x[np.argsort(columns)]


def mp_matrix(a):
    """The same numbers, in mpmath, at the precision that is set there."""
    most = np.asarray(narrow(a))
    rest = np.asarray(narrow(widest(a) - most))
    found = mpmath.matrix(most.tolist())
    return found + mpmath.matrix(rest.tolist()) if rest.any() else found


def _from_mp(m, dtype):
    entries = [m[i, j] for i in range(m.rows) for j in range(m.cols)]
    if np.dtype(dtype).kind == "c":
        return np.array([_long(v.real) + 1j * _long(v.imag) for v in entries]).reshape(m.rows, m.cols)  # fmt: skip
    return np.array([_long(mpmath.re(v)) for v in entries]).reshape(m.rows, m.cols)


def _long(v):
    return np.longdouble(mpmath.nstr(v, 25)) if v else np.longdouble(0)


@remembered
def solve(a, b):
    """(x, by how much each column may be off), or None for singular matrices."""
    if len(a) <= 8:
        with mpmath.workdps(400):
            try:
                x = _mp_solve(a, b)
            except ZeroDivisionError:
                return None
        return x, np.zeros(x.shape[1], np.longdouble)
    *factors, _ = lu(a)
    if (np.diagonal(factors[0]) == 0).any():
        return None
    x = _with_factors(*factors, b)
    inverse = _with_factors(*factors, np.eye(len(a)))
    weight = np.abs(widest(a)) @ np.abs(x) + np.abs(widest(b))
    off = len(a) * EXTENDED * np.abs(inverse) @ weight
    return x, off.max(0)


def _mp_solve(a, b):
    """Column by column: mpmath's solver takes one right side."""
    m, b = mp_matrix(a), np.asarray(b)
    p, perm = mpmath.mp.LU_decomp(m.copy())
    dtype = np.result_type(a, b)
    columns = []
    for j in range(b.shape[1]):
        y = mpmath.mp.L_solve(p, mp_matrix(b[:, j : j + 1]), perm)
        columns.append(_from_mp(mpmath.mp.U_solve(p, y), dtype)[:, 0])
    return np.stack(columns, 1)


@remembered
def slogdet(a):
    """(sign, logarithm, Σ |aᵢⱼ| |a⁻¹ⱼᵢ|): the last says how much relative changes of elements count."""
    *factors, sign = lu(a)
    d = np.diagonal(factors[0])
    if (d == 0).any():
        return 0.0, -np.inf, np.inf
    inverse = _with_factors(*factors, np.eye(len(a)))
    sign = sign * np.prod(d / np.abs(d))
    return sign, np.log(np.abs(d)).sum(), (np.abs(widest(a)) * np.abs(inverse.T)).sum()


# Spectra: LAPACK's vectors, made orthonormal and then improved by rotations


def _is_short(a):
    return a.dtype.itemsize < 8 or a.dtype == np.complex64


def _orthonormal(v):
    v = widest(v)
    for _ in range(3):
        v = v @ (3 * np.eye(v.shape[1]) - adjoint(v) @ v) / 2
    return v


def _rounds(n):
    """All pairs of n columns, in rounds of pairs that have no column in common."""
    ring = list(range(n + n % 2))
    for _ in range(len(ring) - 1):
        pairs = [(ring[i], ring[-1 - i]) for i in range(len(ring) // 2)]
        pairs = [(min(p), max(p)) for p in pairs if max(p) < n]
        yield np.array(pairs, int).reshape(-1, 2).T
        ring = [ring[0], ring[-1], *ring[1:-1]]


def _rotation(alpha, beta, gamma):
    """cos, sin and phase that make columns with the gram matrix (alpha gamma; γ̄ beta) orthogonal."""
    size = np.abs(gamma)
    there = size > 0
    safe = np.where(there, size, 1)
    zeta = (beta - alpha) / (2 * safe)
    t = np.where(zeta >= 0, 1, -1) / (np.abs(zeta) + np.sqrt(1 + zeta * zeta))
    t = np.where(there, t, 0)
    c = 1 / np.sqrt(1 + t * t)
    return c, c * t, np.where(there, gamma / safe, 1)


def _turn(x, i, j, c, s, phase):
    """Columns i and j after the rotation."""
    left, right = x[:, i], x[:, j] * np.conj(phase)
    x[:, i], x[:, j] = c * left - s * right, s * left + c * right


@remembered
def eigh(a):
    """Eigenvalues, increasing, and vectors, of a Hermitian matrix; errors are some 1e-19 of its norm.

    (1e-16 where it came in 32 bits or fewer: LAPACK is wide enough there.)
    """
    if _is_short(a):
        return np.linalg.eigh(narrow(a))
    a, n = widest(a), len(a)
    a = (a + adjoint(a)) / 2
    size = np.abs(a).max(initial=0)
    if size == 0 or n == 1:
        return np.real(np.diagonal(a)).copy(), np.eye(n, dtype=a.dtype)
    v = _orthonormal(np.linalg.eigh(narrow(a / size))[1])
    b = adjoint(v) @ (a / size) @ v
    for _ in range(30):
        off = np.abs(b - np.diag(np.diagonal(b))).max()
        if off <= EXTENDED:
            break
        for i, j in _rounds(n):
            c, s, phase = _rotation(np.real(b[i, i]), np.real(b[j, j]), b[i, j])
            _turn(b, i, j, c, s, phase)
            b = adjoint(b)
            _turn(b, i, j, c, s, phase)
            b = adjoint(b)
            _turn(v, i, j, c, s, phase)
    w = np.real(np.diagonal(b)) * size
    order = np.argsort(w)
    return w[order], v[:, order]


@remembered
def svd(a):
    """(u, s, v) with a = u diag(s) vᴴ, by one-sided rotations; of matrices in 32 bits by LAPACK."""
    if a.shape[0] < a.shape[1]:
        u, s, v = svd(adjoint(a))
        return v, s, u
    if _is_short(a):
        u, s, vh = np.linalg.svd(narrow(a), full_matrices=False)
        return u, s, adjoint(vh)
    a = widest(a)
    size = np.abs(a).max(initial=0)
    size = size if size > 0 else 1
    v = _orthonormal(adjoint(np.linalg.svd(narrow(a / size), full_matrices=False)[2]))
    g = (a / size) @ v
    for _ in range(40):
        worst = 0.0
        for i, j in _rounds(g.shape[1]):
            alpha, beta = (np.real((np.conj(g[:, k]) * g[:, k]).sum(0)) for k in (i, j))
            gamma = (np.conj(g[:, i]) * g[:, j]).sum(0)
            scale = np.sqrt(alpha * beta)
            gamma = np.where(np.abs(gamma) > 4 * EXTENDED * scale, gamma, 0)
            cosine = np.abs(gamma) / np.where(scale > 0, scale, 1)
            worst = max(worst, float(cosine.max(initial=0)))
            c, s, phase = _rotation(alpha, beta, gamma)
            _turn(g, i, j, c, s, phase)
            _turn(v, i, j, c, s, phase)
        if worst <= 4 * EXTENDED:
            break
    s = lengths(g)
    order = np.argsort(-s)
    u = g / np.where(s > 0, s, 1)
    return u[:, order], s[order] * size, v[:, order]


def least_norm(a, b, rank):
    """The solution of least squares and least norm when only ``rank`` singular values are kept."""
    u, s, v = svd(a)
    part = adjoint(u[:, :rank]) @ widest(b)
    return v[:, :rank] @ (part / s[:rank, None])
