"""Families of matrices, and how they are made Hermitian, definite, triangular, tall."""

import zlib

import ml_dtypes
import numpy as np

DTYPES = {
    "f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16), "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64), "c64": np.dtype(np.complex64), "c128": np.dtype(np.complex128),
}  # fmt: skip
# decades of scaled rows, columns and whole matrices: their squares are in range of the wider types
REACH = {"f16": 1.5, "bf16": 15, "f32": 15, "f64": 150, "c64": 15, "c128": 150}


def eps(dtype) -> float:
    return float(ml_dtypes.finfo(np.dtype(dtype)).eps)


def name_of(dtype) -> str:
    return next(k for k, v in DTYPES.items() if v == np.dtype(dtype))


def generator(*keys) -> np.random.Generator:
    """The same numbers for the same keys, whatever else is run."""
    return np.random.default_rng(zlib.crc32(repr(keys).encode()))


class Draw:
    """What a family draws from: size, dtype, and numbers."""

    def __init__(self, family, n, dtype, reach=1.0):
        self.n, self.dtype, self.family = n, np.dtype(dtype), family
        self.rng = generator(family, n)
        self.reach = reach * REACH[name_of(dtype)]
        self.eps = eps(dtype)

    def normal(self, *shape):
        x = self.rng.standard_normal(shape)
        return x + 1j * self.rng.standard_normal(shape) if self.dtype.kind == "c" else x

    def orthogonal(self):
        return np.linalg.qr(self.normal(self.n, self.n))[0]

    def spectrum(self, values):
        return (self.orthogonal() * values) @ self.orthogonal()

    def decades(self):
        """Powers of ten over the reach, in random order."""
        return 10.0 ** self.rng.permutation(np.linspace(-self.reach, self.reach, self.n))

    def steps(self):
        return np.arange(self.n) / max(self.n - 1, 1)


def _kahan(d):
    s = np.sin(1.2)
    upper = np.triu(np.full((d.n, d.n), -np.cos(1.2)), 1) + np.eye(d.n)
    return s ** np.arange(d.n)[:, None] * upper


def _wilkinson(d):
    return np.diag(np.abs(np.arange(d.n) - (d.n - 1) / 2)) + np.eye(d.n, k=1) + np.eye(d.n, k=-1)


def _growth(d):
    """Elimination with partial pivoting doubles the last column in every step."""
    a = np.eye(d.n) - np.tril(np.ones((d.n, d.n)), -1)
    a[:, -1] = 1
    return a


def _defective(d):
    """Jordan blocks of order 3 for eigenvalues 1, 2, …, in a basis of whole numbers."""
    k = np.arange(d.n)
    jordan = np.diag(1.0 + k // 3) + np.diag((k[1:] % 3 != 0) * 1.0, 1)
    basis, inverse = np.tril(np.ones((d.n, d.n))), np.eye(d.n) - np.eye(d.n, k=-1)
    return basis @ jordan @ inverse


def _graded(d):
    g = 10.0 ** (-d.reach / 3 * d.steps())
    return g[:, None] * d.normal(d.n, d.n) * g


def _singular(d):
    """Whole numbers, of rank n - 1."""
    a = d.rng.integers(-3, 4, (d.n, d.n)).astype(float)
    a[-1] = a[: d.n - 1].sum(0) * (d.n > 1)
    return a


FAMILIES = {
    "random": lambda d: d.normal(d.n, d.n),
    "graded": _graded,
    "rows": lambda d: d.decades()[:, None] * d.normal(d.n, d.n),
    "columns": lambda d: d.normal(d.n, d.n) * d.decades(),
    "large": lambda d: d.normal(d.n, d.n) * 10.0**d.reach,
    "small": lambda d: d.normal(d.n, d.n) * 10.0**-d.reach,
    "hilbert": lambda d: 1 / (1.0 + np.add.outer(np.arange(d.n), np.arange(d.n))),
    "kahan": _kahan,
    "wilkinson": _wilkinson,
    "growth": _growth,
    "defective": _defective,
    "repeated": lambda d: d.spectrum(1.0 + np.arange(d.n) // ((d.n + 2) // 3)),
    "near-singular": lambda d: d.spectrum(d.eps ** d.steps()),
    "singular": _singular,
}


def _symmetric(family, d):
    """Scaled families D s D, prescribed spectra q λ qᴴ, the others (a + aᴴ) / 2."""
    if family in ("rows", "columns"):
        g = 10.0 ** (np.log10(d.decades()) / 2)
        return _symmetric("random", d) * g[:, None] * g
    if family in ("repeated", "near-singular"):
        values = 1.0 + np.arange(d.n) // ((d.n + 2) // 3) if family == "repeated" else d.eps ** d.steps()  # fmt: skip
        q = d.orthogonal()
        return (q * values * (-1.0) ** np.arange(d.n)) @ q.conj().T
    a = FAMILIES[family](d)
    return (a + a.conj().T) / 2


def _definite(family, d):
    if family in ("rows", "columns"):
        g = 10.0 ** (np.log10(d.decades()) / 2)
        return _definite("random", d) * g[:, None] * g
    if family == "hilbert":
        return FAMILIES[family](d)
    if family in ("repeated", "near-singular"):
        values = 1.0 + np.arange(d.n) // ((d.n + 2) // 3) if family == "repeated" else d.eps ** d.steps()  # fmt: skip
        q = d.orthogonal()
        return (q * values) @ q.conj().T
    a = FAMILIES[family](d)
    return a @ a.conj().T


def _triangular(family, d):
    """Triangles of full matrices are far worse than the matrices."""
    return np.triu(FAMILIES[family](d))


def _tall(family, d):
    return FAMILIES[family](d)[:, : max(1, 2 * d.n // 3)]


KINDS = {
    "general": lambda family, d: FAMILIES[family](d),
    "symmetric": _symmetric, "definite": _definite, "triangular": _triangular, "tall": _tall,
}  # fmt: skip


def _cast(a, dtype):
    dtype = np.dtype(dtype)
    return (a if dtype.kind == "c" else np.real(a)).astype(dtype)


def matrix(family, n, dtype, kind="general"):
    """The matrix of a family, rounded to the dtype: the rounded one is the problem."""
    d = Draw(family, n, dtype, 0.5 if kind == "definite" else 1.0)
    with np.errstate(over="ignore", under="ignore"):
        a = _cast(KINDS[kind](family, d), dtype)
    if kind in ("symmetric", "definite"):
        lower = np.tril(a, -1)
        diagonal = np.diag(np.diagonal(a)).astype(a.dtype)
        a = (lower + np.conj(lower.T) + (diagonal if a.dtype.kind != "c" else diagonal.real)).astype(dtype)  # fmt: skip
    return a


def sides(a, count=2):
    """Right sides: a x for random x, and a random one of the size of a."""
    rng = generator("sides", a.shape)
    dtype, wider = a.dtype, a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)
    x = rng.standard_normal((a.shape[1], 1))
    b = rng.standard_normal((a.shape[0], count - 1)) * max(np.abs(wider).max(initial=0), 1e-300)
    return _cast(np.concatenate([wider @ x, b], 1), dtype)
