"""``report=True`` on nasty matrices: no digit, bound or success is claimed that is not there.

Each routine sees each family of matrices, at the ends of the dtype's range too, in one batch or lane
by lane; references are solutions in some hundred digits.
"""

import ml_dtypes
import mpmath
import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import Status

la = xc.linalg
N = 9


def families(dtype, rng, n=N):
    """(name, matrix) with conditions from 1 to beyond 1 / eps."""
    eps, single = np.finfo(dtype).eps, np.finfo(dtype).bits == 32
    reach, whole = (15, 30) if single else (150, 300)
    i, complex_ = np.arange(n), np.dtype(dtype).kind == "c"
    random = lambda *s: rng.standard_normal(s) + (1j * rng.standard_normal(s) if complex_ else 0)
    q, p = (np.linalg.qr(random(n, n))[0] for _ in range(2))
    cosine, sine = np.cos(1.2), np.sin(1.2)
    upper = np.triu(np.ones((n, n)), 1)
    return {
        "random": random(n, n), "graded": (q * 10.0 ** -np.linspace(0, -0.8 * np.log10(eps), n)) @ p,
        "rows": random(n, n) * 10.0 ** rng.uniform(-reach, reach, (n, 1)),
        "columns": random(n, n) * 10.0 ** rng.uniform(-reach / 10, reach / 10, n),
        "large": random(n, n) * 10.0**whole, "small": random(n, n) * 10.0**-whole,
        "hilbert": 1 / (1 + i[:, None] + i),
        "kahan": (sine**i)[:, None] * (np.eye(n) - cosine * upper),
        "wilkinson": np.eye(n) - upper.T + np.outer(np.ones(n), i == n - 1),
        "jordan": 0.5 * np.eye(n) + np.eye(n, k=1), "orthogonal": q,
        "near": (q * np.where(i == n - 1, eps, 1)) @ p, "zero": np.zeros((n, n)),
        "singular": (q * (i < n - 1)) @ p,
    }  # fmt: skip


def stacked(dtype, seed=0, prepare=lambda a: a):
    found = families(dtype, np.random.default_rng(seed))
    a = np.stack([prepare(x.astype(dtype)) for x in found.values()])
    scale = np.abs(a).max((1, 2)).astype(float)
    rng = np.random.default_rng(seed + 1)
    b = rng.standard_normal(a.shape[:2]) * np.where(scale > 0, scale, 1)[:, None]
    inside = np.arange(len(a)) % 2 == seed
    return a, np.where(inside[:, None], a.sum(-1), b).astype(dtype)


def band(a, lower, upper):
    ab = np.zeros((lower + upper + 1, N), a.dtype)
    for i, j in np.argwhere(np.tril(np.ones((N, N)), upper) * np.triu(np.ones((N, N)), -lower)):
        ab[upper + i - j, j] = a[i, j]
    return ab


def bands(a, lower, upper):
    return np.stack([band(x, lower, upper) for x in a])


def cut(lower, upper):
    return lambda a: np.triu(np.tril(a, upper), -lower)


def toeplitz(a):
    return np.array([[a[i - j, 0] if i >= j else a[0, j - i] for j in range(N)] for i in range(N)])


def circulant(a):
    return np.stack([np.roll(a[:, 0], k) for k in range(N)], axis=1)


def definite(a):
    a = a / (np.abs(a).max() or 1)
    return (a @ a.conj().T + 1e-3 * np.eye(N)).astype(a.dtype)


def column(b):
    return b[..., None]


def factors(a):
    packed = [np.linalg.qr(x.T)[1].conj().T for x in a]  # any triangles will do
    return np.stack(packed)


def tridiagonal(a):
    return bands(a, 1, 1)


# name: (what is made of a matrix, from the batch: arguments; the call)
EQUATIONS = {
    "solve": (lambda a: a, lambda a: (a,), lambda a, b: la.solve(a, b, report=True)),
    "transposed": (
        lambda a: a.T, lambda a: (a.swapaxes(1, 2),),
        lambda a, b: la.solve(a, b, transposed=True, report=True),
    ),
    "refined": (lambda a: a, lambda a: (a,), lambda a, b: la.solve(a, b, refine=3, report=True)),
    "definite": (
        definite, lambda a: (a,),
        lambda a, b: la.solve(a, b, assume_a="pos", report=True),
    ),
    "upper": (np.triu, lambda a: (a,), lambda a, b: la.solve_triangular(a, b, report=True)),
    "lower": (
        lambda a: np.tril(a).T, lambda a: (a.swapaxes(1, 2),),
        lambda a, b: la.solve_triangular(a, b, 1, lower=True, report=True),
    ),
    "banded": (
        cut(2, 1), lambda a: (bands(a, 2, 1),),
        lambda ab, b: la.solve_banded((2, 1), ab, b, report=True),
    ),
    "tridiagonal": (
        cut(1, 1),
        lambda a: tuple(np.moveaxis(tridiagonal(a), 1, 0)),
        lambda u, d, l, b: la.solve_tridiagonal(
            xnp.roll(l, 1, -1), d, xnp.roll(u, -1, -1), b, report=True
        ),
    ),
    "toeplitz": (
        toeplitz, lambda a: (a[:, :, 0], a[:, 0]),
        lambda c, r, b: la.solve_toeplitz(c, b, r, report=True),
    ),
    "circulant": (
        circulant, lambda a: (a[:, :, 0],),
        lambda c, b: la.solve_circulant(c, b, report=True),
    ),
    "cho_solve": (
        lambda a: (lambda l: l @ l.conj().T)(np.linalg.cholesky(definite(a))),
        lambda a: (np.linalg.cholesky(a),),
        lambda l, b: la.cho_solve(l, b, report=True),
    ),
}  # fmt: skip
WAYS = {"float32": "batch", "float64": "vmap", "complex64": "vmap", "complex128": "batch"}
NO_BATCH = ("circulant",)


def called(run, arrays, b, way):
    if way == "batch":
        return xc.jit(lambda *x: run(*x[:-1], x[-1][..., None]))(*arrays, b)
    return xc.jit(xc.vmap(run))(*arrays, b)


def true_digits(a, b, x, dtype):
    """Of the largest element, at most as many as the dtype holds."""
    with mpmath.workdps(120 if np.finfo(dtype).bits == 32 else 450):
        try:
            wanted = mpmath.lu_solve(mpmath.matrix(a.tolist()), mpmath.matrix(b.tolist()))
        except ZeroDivisionError:
            return -np.inf
        most = max(abs(v) for v in wanted)
        off = max(abs(mpmath.mpmathify(u) - v) for u, v in zip(x.tolist(), wanted, strict=True))
        off = float(off / most) if most else float(off > 0)
    return -np.log10(max(off, np.finfo(dtype).eps / 2))


@pytest.mark.parametrize("dtype", WAYS)
@pytest.mark.parametrize("name", EQUATIONS)
def test_digits_of_equations_are_there(name, dtype):
    prepare, arguments, run = EQUATIONS[name]
    a, b = stacked(dtype, prepare=prepare)
    answer = called(run, arguments(a), b, "vmap" if name in NO_BATCH else WAYS[dtype])
    ok, told = np.asarray(answer.ok), np.asarray(answer.certificate.digits)
    x = np.asarray(answer.value).reshape(b.shape)
    assert np.isfinite(told).all() and np.isfinite(x[told > 0]).all()
    slack = [
        true_digits(a[k], b[k], x[k], dtype) - told[k] for k in np.flatnonzero(ok | (told > 0))
    ]
    assert min(slack) > -1e-4  # no claim is false
    assert len(slack) >= 7 and np.median(slack) < 3  # and there are some, that say something
    error = np.asarray(answer.certificate.error)
    assert np.allclose(told, np.clip(-np.log10(error), 0, None), atol=1e-3)
    if name not in ("definite", "cho_solve"):
        assert not ok[list(families(dtype, np.random.default_rng(0))).index("zero")]


@pytest.mark.parametrize("trans", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_digits_of_solutions_with_factors_are_there(dtype, trans):
    turn = (lambda a: a, np.transpose, lambda a: a.conj().T)[trans]
    xc.config.update("disable_most_optimizations", False)  # with which fewer claims are made
    claims = 0
    for name, a in families(dtype, np.random.default_rng(3)).items():
        if name in ("zero", "singular"):
            continue
        a = a.astype(dtype)
        b = turn(a).sum(1)
        answer = la.lu_solve(la.lu_factor(a), b, trans, report=True)
        if answer.ok:
            claims += 1
            true = true_digits(turn(a), b, np.asarray(answer.value), dtype)
            assert float(answer.certificate.digits) <= true + 1e-4, name
    assert claims >= 7


def backward(a, x, b):
    a, x, b = (np.asarray(v, np.clongdouble) for v in (a, x, b))
    size = np.abs(a).sum(1).max() * np.abs(x).max() + np.abs(b).max()
    return float(np.abs(b - a @ x).max() / size)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_backward_errors_after_elements_grew_are_those_of_the_matrix(dtype):
    """Of factors whose product is far larger, element by element, than the matrix; n = 8 is not estimated."""
    rng, eps = np.random.default_rng(4), np.finfo(dtype).eps
    for n in (8, 33):
        grown = np.eye(n) - np.tril(np.ones((n, n)), -1)
        grown[:, -1] = 1
        units = np.array([1.0, 1e-15, 1e15])[:, None, None]
        a = np.concatenate([grown * units, rng.standard_normal((3, n, n)) * units]).astype(dtype)
        b = (a @ rng.standard_normal((n, 1))).astype(dtype)
        for trans, turned in ((0, a), (2, a.conj().swapaxes(1, 2))):
            answer = la.lu_solve(la.lu_factor(a), b, trans, report=True)
            stats, ok = answer.certificate, np.asarray(answer.ok)
            true = [backward(*args) for args in zip(turned, np.asarray(answer.value), b)]
            told = np.asarray(stats.backward_error, float)
            assert (np.array(true) <= told).all() and ok[3:].all()
            assert (told[ok] <= 31 * n * eps).all()
            exact = np.array([np.linalg.cond(m.astype(complex), 1) for m in turned])
            near = told < 1e-3  # the factors' product is still that matrix
            assert (np.asarray(stats.condition) <= exact * 1.01)[near].all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_factors_in_16_bits_count_their_rounding(dtype):
    """And what of them vanishes: elements of the factors go through the end of the range of float16."""
    rng, dtype = np.random.default_rng(5), np.dtype(getattr(ml_dtypes, dtype, dtype))
    units = 10.0 ** np.repeat(np.arange(-6, 4), 8)[:, None, None]
    general = rng.standard_normal((80, 7, 7)) * units
    definite = general @ general.swapaxes(1, 2) / units + 0.1 * units * np.eye(7)
    for a, solve in ((general, la.lu_solve), (definite, la.cho_solve)):
        a = a.astype(dtype)
        b = (a.astype(float) @ rng.standard_normal((80, 7, 1))).astype(dtype)
        factor = xc.jit(la.lu_factor if solve is la.lu_solve else la.cholesky)
        answer = solve(factor(a), b, report=True)
        x, digits = (np.asarray(v).astype(float) for v in (answer.value, answer.certificate.digits))
        true = np.linalg.solve(a.astype(float), b.astype(float))
        claimed = digits > 0
        off = np.abs(x - true).max((1, 2)) / np.abs(true).max((1, 2))
        assert claimed.sum() >= 10 and (off[claimed] <= 1.001 * 10.0 ** -digits[claimed]).all()


def exact_spectrum(a):
    with mpmath.workdps(80):
        return np.array([complex(w) for w in mpmath.eig(mpmath.matrix(a.tolist()), right=False)])


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_bounds_of_eigenvalues_of_square_matrices_hold(dtype):
    """Defective ones too, and those that hide it behind a similarity."""
    rng, n = np.random.default_rng(0), 6
    q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    jordan = np.eye(n) + np.eye(n, k=1)
    cases = [
        rng.standard_normal((n, n)), jordan, q @ jordan @ q.T, np.diag([1.0, 1, 2, 2, 3, 3]),
        q @ np.diag([1.0, 1, 2, 2, 3, 3]) @ q.T, np.zeros((n, n)), q,
        np.triu(rng.standard_normal((n, n))), 1 / (1.0 + np.add.outer(range(n), range(n))),
        q @ (jordan + 1e-5 * np.diag(range(n))) @ q.T, 1e-20 * rng.standard_normal((n, n)),
    ]  # fmt: skip
    a = np.stack(cases).astype(dtype)
    answer = xc.jit(lambda a: la.eig(a, report=True))(a)
    w, error = np.asarray(answer.value.eigenvalues), np.asarray(answer.certificate.error, float)
    for k in range(len(a)):
        size = np.abs(a[k]).max() or 1
        exact = exact_spectrum(a[k].astype(complex) / size) * size
        off = np.abs(w[k][:, None] - exact).min(1)
        floor = 1e-22 * size if k != 1 else 1e-11  # what mpmath leaves
        assert (off <= error[k] + floor).all(), k
        digits = float(answer.certificate.digits[k])
        assert digits == 0 or max(off) <= 10**-digits * abs(w[k]).max() * 1.001 + floor
    assert np.isfinite(error[[0, 3, 4, 6]]).all() and (error[0] < 1e4 * np.finfo(dtype).eps).all()
    assert np.asarray(la.eigvals(a, report=True).certificate.error).shape == error.shape


@pytest.mark.parametrize("dtype", ["float32", "complex64", "float16"])
def test_bounds_of_generalised_eigenvalues_hold(dtype):
    rng = np.random.default_rng(1)
    for condition in (1.0, 1e2, 1e4):
        a, q = rng.standard_normal((2, 7, 7))
        q = np.linalg.qr(q)[0]
        a = (a + a.T).astype(dtype)
        b = (q * condition ** -np.linspace(0, 1, 7)) @ q.T
        b = ((b + b.T) / 2).astype(dtype)
        answer = la.eigh(a, b, report=True)
        values = la.eigvalsh(a, b, report=True)
        if not answer.ok:
            continue
        l = np.linalg.inv(np.linalg.cholesky(b.astype(complex)))
        exact = np.linalg.eigvalsh(l @ a.astype(complex) @ l.conj().T)
        error = np.asarray(answer.certificate.error, float)
        rounded = np.finfo(dtype).eps * abs(exact) if dtype == "float16" else 0
        for got in (answer.value.eigenvalues, values.value):
            assert (abs(np.asarray(got, float) - exact) <= error + rounded).all()
        assert condition > 1 or (error < 1e-3).all() or dtype == "float16"
    assert la.eigh(np.eye(2), -np.eye(2), report=True).status == Status.not_definite


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_errors_of_determinants_are_relative(dtype):
    a, _ = stacked(dtype)
    answer = xc.jit(lambda a: la.det(a, report=True))(a)
    claims = 0
    for k in np.flatnonzero(np.asarray(answer.certificate.digits) > 0):
        with mpmath.workdps(450):
            exact = mpmath.det(mpmath.matrix(a[k].tolist()))
            off = abs(mpmath.mpmathify(answer.value[k].item()) - exact) / abs(exact)
        assert off <= float(answer.certificate.error[k])
        claims += 1
    assert claims >= 4
    assert not np.asarray(answer.ok)[-1] or float(answer.certificate.error[-1]) < 1


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_digits_of_least_squares_by_qr_are_there(dtype):
    rng, claims = np.random.default_rng(0), 0
    for k, condition in enumerate([1.0, 1e1, 1e2, 1e3, 1e5, np.inf]):
        q, p = (
            np.linalg.qr(rng.standard_normal((9, 5)))[0],
            np.linalg.qr(rng.standard_normal((5, 5)))[0],
        )
        s = condition ** -np.linspace(0, 1, 5) if condition < np.inf else np.arange(5.0)
        a = ((q * s) @ p * (1, 1e-15, 1e15)[k % 3]).astype(dtype)
        for b in ((a @ np.ones(5)).astype(dtype), rng.standard_normal(9).astype(dtype)):
            answer = la.lstsq(a, b, method="qr", report=True)
            digits = float(answer.certificate.digits)
            if digits > 0:
                exact = np.linalg.lstsq(a.astype(complex), b.astype(complex), rcond=None)[0]
                off = abs(np.asarray(answer.value) - exact).max() / abs(exact).max()
                assert off <= 10**-digits * 1.001
                claims += answer.ok and digits > 1
    assert claims >= 4 and not answer.ok


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_digits_of_inverses_are_there(dtype):
    """Relative to the largest element of each column, so rows of any sizes do not matter."""
    a, _ = stacked(dtype, 2)
    answer = xc.jit(lambda a: la.inv(a, report=True))(a)
    ok, told = np.asarray(answer.ok), {k: np.asarray(v) for k, v in answer.certificate.items()}
    eps, slack = float(np.finfo(dtype).eps), []
    for k in np.flatnonzero(ok | (told["digits"] > 0)):
        with mpmath.workdps(450):
            exact, x = mpmath.inverse(mpmath.matrix(a[k].tolist())), answer.value[k].tolist()
            off = max(
                max(abs(mpmath.mpmathify(x[i][j]) - exact[i, j]) for i in range(N))
                / max(abs(exact[i, j]) for i in range(N))
                for j in range(N)
            )
            size = mpmath.mnorm(exact, 1) * mpmath.mnorm(mpmath.matrix(a[k].tolist()), 1)
            off, size = max(float(off), eps / 2), float(size)
        assert off <= float(told["error"][k]) and told["digits"][k] <= 1e-3 - np.log10(off), k
        assert np.isclose(told["condition"][k], size, rtol=0.1 + off)
        slack.append(-np.log10(off) - told["digits"][k])
    names = list(families(dtype, np.random.default_rng(0)))
    assert len(slack) >= 9 and np.median(slack) < 3
    assert ok[names.index("rows")] and not ok[names.index("zero")]
    large = np.linalg.qr(np.random.default_rng(1).standard_normal((80, 80)))[0].astype(dtype)
    seen = la.inv(large, report=True)  # through a few columns
    assert seen.ok and float(seen.certificate.digits) > -np.log10(eps) - 4
    left = np.linalg.norm(np.eye(80) - large.astype("D") @ np.asarray(seen.value).astype("D"))
    assert left / 3 <= float(seen.certificate.residual) <= 9 * left


UNREAD = {
    "pos": np.tril, "lower triangular": np.tril, "upper triangular": np.triu,
    "diagonal": lambda a: np.diag(np.diag(a)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex128"])
@pytest.mark.parametrize("assume", UNREAD)
def test_what_is_not_read_may_be_anything(assume, dtype):
    """NaN, infinities or junk there change neither results nor reports, in any dtype."""
    keep, rng = UNREAD[assume], np.random.default_rng(0)
    a = rng.standard_normal((5, 5))
    a, b = a @ a.T + np.eye(5), rng.standard_normal(5)
    given = lambda junk: xnp.asarray(np.where(keep(np.ones((5, 5))) > 0, a, junk)).astype(dtype)
    right, told = xnp.asarray(b).astype(dtype), []
    for junk in (a if assume == "pos" else 0.0, np.nan, np.inf):
        for answer in (
            la.solve(given(junk), right, assume, report=True), la.inv(given(junk), assume, report=True),
            la.solve(given(junk), right, assume, transposed=True, refine=2, report=True),
        ):  # fmt: skip
            assert answer.ok
            told.append([np.asarray(answer.value), float(answer.certificate.digits)])
        if assume.endswith("triangular"):
            lower = assume.startswith("lower")
            assert la.solve_triangular(given(junk), right, lower=lower, report=True).ok
    for other in (told[3:6], told[6:]):
        for one, two in zip(told[:3], other, strict=True):
            assert np.array_equal(one[0], two[0]) and abs(one[1] - two[1]) < 0.1
    assert np.array_equal(la.solve(given(1e3), right, assume), told[0][0])
    assert bool(la.solve(given(1e3), right, assume, report=True).ok) == (assume != "pos")


# Edges

ONE = {
    "solve": lambda a: la.solve(a, a[..., :1] ** 2, report=True),
    "solve_triangular": lambda a: la.solve_triangular(a, a[..., :1], report=True),
    "cho_solve": lambda a: la.cho_solve(a, a[..., :1], report=True),
    "inv": lambda a: la.inv(a, report=True),
    "solve_banded": lambda a: la.solve_banded((1, 1), _three(a), a[..., :1], report=True),
    "solveh_banded": lambda a: la.solveh_banded(_three(a)[..., :2, :], a[..., :1], report=True),
    "solve_tridiagonal": lambda a: la.solve_tridiagonal(
        *(_three(a)[..., k, :] for k in range(3)), a[..., :1], report=True
    ),
    "solve_toeplitz": lambda a: la.solve_toeplitz(_falling(a), a[..., :1], report=True),
    "det": lambda a: la.det(a, report=True), "slogdet": lambda a: la.slogdet(a, report=True),
    "eigh": lambda a: la.eigh(a, report=True), "eigvalsh": lambda a: la.eigvalsh(a, report=True),
    "eig": lambda a: la.eig(a, report=True), "svd": lambda a: la.svd(a, report=True),
    "lstsq": lambda a: la.lstsq(a, a[..., :1], report=True),
    "lstsq qr": lambda a: la.lstsq(a, a[..., :1], method="qr", report=True),
}  # fmt: skip


def _falling(a):
    """Columns of definite Toeplitz matrices."""
    return a.sum(-1) * (0.5 ** np.arange(a.shape[-1])).astype(np.float32)


def _three(a):
    n = a.shape[-1]
    return (
        a[..., :1, :] * xnp.asarray([[1], [8], [1]], a.dtype)
        if n
        else xnp.zeros((*a.shape[:-2], 3, 0))
    )


@pytest.mark.parametrize("name", ONE)
def test_nothing_is_claimed_of_nan_and_infinities(name):
    for bad in (np.nan, np.inf):
        a = np.eye(3) + 1
        a[1, 0] = a[0, 1] = a[0, 0] = bad
        batch = np.stack([np.eye(3) * 2 + 1, a])
        answer = xc.jit(ONE[name])(batch)
        assert not np.asarray(answer.ok)[1] and not float(answer.certificate.digits[1]) > 0


@pytest.mark.parametrize("name", ONE)
def test_reports_of_all_sizes_ways_and_dtypes(name):
    for n in (0, 1, 5):
        a = np.stack([np.eye(n) * 3 + np.tri(n) + np.tri(n).T] * 2)
        answer = ONE[name](xnp.asarray(a))
        assert np.all(answer.ok) and np.shape(answer.certificate.digits) == (2,)
        assert np.all(np.asarray(answer.certificate.digits) > (12 if "slog" not in name else 11))
        lanes = xc.vmap(ONE[name])(xnp.asarray(a))
        assert np.allclose(lanes.certificate.digits, answer.certificate.digits, atol=0.7)
    for dtype in ("bfloat16", "int32"):
        answer = ONE[name](xnp.asarray(a[0]).astype(dtype))
        assert np.isfinite(np.asarray(answer.certificate.digits, float)).all()
    large = np.eye(65) * 3 + np.eye(65, k=1) + np.eye(65, k=-1) + 1
    assert ONE[name](xnp.asarray(large)).ok


@pytest.mark.parametrize("name", ["solve", "solve_banded", "det", "eigh", "lstsq"])
def test_reports_do_not_change_derivatives(name):
    a = xnp.asarray(np.diag([3.0, 4, 6]) + np.tri(3) + np.tri(3).T)
    first = lambda x: xc.tree.leaves(x)[0].sum()
    value = xc.grad(lambda a: first(ONE[name](a).value))(a)
    assert np.isfinite(value).all() and np.abs(value).sum() > 0
    told = xc.grad(lambda a: xnp.sum(ONE[name](a).certificate.digits))(a)
    assert np.all(np.asarray(told) == 0)


def test_reports_read_as_attributes_and_as_keys():
    report = la.lstsq(np.array([[1, 2], [3, 4], [5, 7]]), np.arange(3), report=True).certificate
    assert report.rank == report["rank"] == 2 and "kept" in report and "angle" not in report
    assert report.digits is report["digits"]
    assert isinstance(xc.tree.map(lambda x: x, report), la.Certificate)
    with pytest.raises(AttributeError, match=r"no .angle.; it has .*rank"):
        _ = report.angle
    many = la.solve(np.array([[2, 1], [1, 2]]), np.ones((2, 40)), report=True)
    assert many.ok and many.certificate.residual.shape == (40,)
