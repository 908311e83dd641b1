"""``report=True`` of functions of matrices and matrix equations: no claim is false, at any scale.

References are functions of the eigenvalues, and Kronecker's form of the equations, in 180 digits.
"""

import functools

import mpmath
import numpy as np
import pytest

import xcore as xc
from xcore.linalg import _sensitivity

la = xc.linalg
DPS = 180


def families(dtype, n, rng):
    """Matrices from easy ones to hopeless ones; what has no scale comes at the ends of the range."""
    dtype = np.dtype(dtype)
    eps, single = float(np.finfo(dtype).eps), np.finfo(dtype).bits == 32
    far, complex_ = 10.0 ** (30 if single else 150), dtype.kind == "c"
    random = lambda *s: rng.standard_normal(s) + (1j * rng.standard_normal(s) if complex_ else 0)
    q = np.linalg.qr(random(n, n))[0]
    i, upper, below = np.arange(n), np.triu(np.ones((n, n)), 1), np.eye(n, k=-1)
    decay = np.linspace(0, 1, n)
    jordan = np.eye(n) + np.eye(n, k=1)
    kahan = (np.sin(1.2) ** i)[:, None] * (np.eye(n) - np.cos(1.2) * upper)
    definite = (q * np.linspace(0.5, 2, n)) @ q.conj().T
    return {
        "random": random(n, n), "definite": definite, "shifted": random(n, n) + 2 * n**0.5 * np.eye(n),
        "graded": (q * eps ** (0.6 * decay)) @ q.conj().T,
        "rows": random(n, n) * (10.0 ** -(3 * decay))[:, None],
        "large": definite * far, "small": definite / far, "tiny": definite * 1e-6,
        "jordan": jordan, "turned jordan": q @ jordan @ q.conj().T, "kahan": kahan,
        "grcar": sum(np.eye(n, k=k) for k in range(4)) - below,
        "corner": np.eye(n) + 1e3 * np.eye(n, k=n - 1) * (n > 1),
        "near": (q * np.where(i == n - 1, 30 * eps, 1)) @ q.conj().T,
        "negative": (q * np.linspace(-2, 1.5, n)) @ q.conj().T, "minus": 0 - definite,
        "cut": (q * np.exp(1j * np.linspace(0, np.pi - 1e-3, n))) @ q.conj().T if complex_ else kahan.T,
        "skew": 3 * (q - q.conj().T), "orthogonal": q, "cold": 0 - 40 * definite, "zero": np.zeros((n, n)),
        "singular": (q * (i < n - 1)) @ q.conj().T, "nilpotent": upper * 10,
    }  # fmt: skip


def stacked(dtype, n, seed=0):
    found = families(dtype, n, np.random.default_rng(seed))
    return list(found), np.stack([x.astype(dtype) for x in found.values()])


def precise(f):
    @functools.wraps(f)
    def run(*args):
        with mpmath.workdps(DPS):
            try:
                return f(*args)
            except (
                ZeroDivisionError,
                ValueError,
                OverflowError,
                mpmath.NoConvergence,
                RuntimeError,
            ):
                return None

    return run


@precise
def by_eigenvalues(f, a, origin=0.0):
    """f(a), of defective matrices too: a change of 1e-24 makes eigenvalues differ.

    None on a cut; within ``origin`` of 0 either side of it will do.
    """
    n, triangle = len(a), not np.tril(a, -1).any()
    size = mpmath.mpf(float(np.abs(a).max()) or 1.0)
    a = mpmath.matrix(a.tolist())
    a += mpmath.diag([size * mpmath.mpf(10) ** -24 * (k + 1) ** 2 for k in range(n)])
    w, v = mpmath.eig(a)
    if (
        f in (mpmath.sqrt, mpmath.log)
        and not triangle
        and any(mpmath.re(x) < -origin * size and abs(mpmath.im(x)) < 1e-20 * size for x in w)
    ):
        return None  # on the cut
    return v * mpmath.diag([f(x) for x in w]) * mpmath.inverse(v)


def error_of(x, wanted):
    """Relative to the largest element; infinite where there is no reference."""
    if wanted is None or not np.isfinite(x).all():
        return np.inf
    with mpmath.workdps(DPS):
        off = mpmath.matrix(x.tolist()) - wanted
        most = max(abs(y) for y in wanted)
        return (
            float(max(abs(y) for y in off) / most) if most else float(max(abs(y) for y in off) > 0)
        )


def check_claims(names, answer, references, dtype, least, pessimism=3.0):
    """No false claim; at least so many claims; in the median not too careful."""
    told, error = (np.asarray(getattr(answer.certificate, k), float) for k in ("digits", "error"))
    ok, value = np.asarray(answer.ok), np.asarray(answer.value)
    eps, slack, false = float(np.finfo(dtype).eps), [], []
    for k, name in enumerate(names):
        if not (ok[k] or told[k] > 0):
            continue
        off = error_of(value[k], references(k))
        if not off <= error[k] * 1.0001 or not told[k] <= -np.log10(max(off, eps / 2)) + 1e-3:
            false.append((name, off, error[k], told[k]))
        slack.append(-np.log10(max(off, eps / 2)) - told[k])
    assert not false
    assert len(slack) >= least and np.median(slack) <= pessimism, (len(slack), np.median(slack))
    return slack


FUNCTIONS = {"expm": mpmath.exp, "sqrtm": mpmath.sqrt, "logm": mpmath.log}


@pytest.mark.parametrize(
    "name, dtype, n, least",
    [
        ("expm", "float32", 4, 19), ("expm", "complex128", 3, 19), ("sqrtm", "float64", 4, 10),
        ("sqrtm", "complex64", 3, 10), ("logm", "float32", 3, 9), ("logm", "complex128", 4, 10),
    ],
)  # fmt: skip
def test_claims_of_functions_of_matrices_are_true(name, dtype, n, least):
    names, a = stacked(dtype, n)
    answer = xc.jit(lambda a: getattr(la, name)(a, report=True))(a)
    check_claims(names, answer, lambda k: by_eigenvalues(FUNCTIONS[name], a[k]), dtype, least)
    hopeless = ["large"] if name == "expm" else ["singular", "nilpotent"]
    assert not any(np.asarray(answer.ok)[names.index(k)] for k in hopeless)


def test_claims_of_exponentials_of_graded_rows_are_true():
    """Where the denominator of the approximant is small, its rounding counts by how much exp(a) is."""
    rng = np.random.default_rng(0)
    size = 30 * 10 ** rng.uniform(-0.5, 0.3, (40, 1, 1))
    rows = np.array([[1.0], [1e-8]])
    a = size * rows * (3 * np.eye(2) + rng.standard_normal((40, 2, 2)))
    answer = xc.jit(lambda a: la.expm(a, report=True))(a)
    with mpmath.workdps(60):
        for k in range(len(a)):
            exact = mpmath.expm(mpmath.matrix(a[k].tolist()))
            most = max(abs(x) for x in exact)
            off = (
                max(abs(x) for x in mpmath.matrix(np.asarray(answer.value)[k].tolist()) - exact)
                / most
            )
            assert not answer.ok[k] or off <= float(answer.certificate.error[k])


@precise
def by_kronecker(a, b, c, stein=False):
    """The solution of a x + x b = c, or of a x b + x = c."""
    m, n = c.shape
    a, b = mpmath.matrix(a.tolist()), mpmath.matrix(b.tolist())
    k = mpmath.zeros(m * n)
    for i, j, p, q in np.ndindex(m, n, m, n):
        term = a[i, p] * b[q, j] if stein else (j == q) * a[i, p] + (i == p) * b[q, j]
        k[i * n + j, p * n + q] = term + (stein and i == p and j == q)
    x = mpmath.lu_solve(k, mpmath.matrix(c.reshape(-1).tolist()))
    return mpmath.matrix([[x[i * n + j] for j in range(n)] for i in range(m)])


def adjoint(a):
    return a.conj().swapaxes(-1, -2)


EQUATIONS = {
    "sylvester": (
        lambda a, b, c: la.solve_sylvester(a, b, c, report=True), by_kronecker,
    ),
    "eigen": (
        lambda a, b, c: la.solve_sylvester(a, b, c, "eigen", report=True), by_kronecker,
    ),
    "lyapunov": (
        lambda a, b, c: la.solve_continuous_lyapunov(a, c, report=True),
        lambda a, b, c: by_kronecker(a, adjoint(a), c),
    ),
    "discrete": (
        lambda a, b, c: la.solve_discrete_lyapunov(a, c, report=True),
        lambda a, b, c: by_kronecker(-a, adjoint(a), c, True),
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "name, dtype, least",
    [
        ("sylvester", "float32", 17), ("sylvester", "complex128", 17), ("eigen", "complex64", 11),
        ("lyapunov", "float64", 14), ("discrete", "float32", 9),
    ],
)  # fmt: skip
def test_claims_of_matrix_equations_are_true(name, dtype, least):
    run, reference = EQUATIONS[name]
    names, a = stacked(dtype, 3)
    if name == "discrete":  # its left side has a scale
        a = (a / np.maximum(np.abs(a).max((1, 2), keepdims=True) / 100, 1)).astype(dtype)
    b = np.roll(a, 3, axis=0)[:, ::-1, ::-1].copy()
    scale = np.maximum(np.abs(a).max((1, 2), keepdims=True), 1e-30)
    c = (np.random.default_rng(3).standard_normal(a.shape) * scale).astype(dtype)
    answer = xc.jit(run)(a, b, c)
    check_claims(names, answer, lambda k: reference(a[k], b[k], c[k]), dtype, least)


@pytest.mark.parametrize("size", [1.0, 1e-30, 1e30])
def test_one_matrix_of_zeros_leaves_the_other_its_size(size):
    """b and c of any size beside a = 0: the rounding of their residual is in the bound."""
    rng = np.random.default_rng(6)
    b, c = (rng.standard_normal((2, 300, 1, 1, 2)) @ [1, 1j] * size).astype("complex64")
    answer = la.solve_sylvester(0 * b, b, c, report=True)
    assert np.all(answer.ok)
    x, exact = (
        np.asarray(y).astype(complex).ravel() for y in (answer.value, c.astype(complex) / b)
    )
    assert (abs(x - exact) <= np.asarray(answer.certificate.error) * abs(exact)).all()


ONE = {
    "expm": lambda a: la.expm(a, report=True), "sqrtm": lambda a: la.sqrtm(a, report=True),
    "logm": lambda a: la.logm(a, report=True), "sylvester": lambda a: EQUATIONS["sylvester"][0](a, a, a),
    "lyapunov": lambda a: EQUATIONS["lyapunov"][0](a, a, a),
    "discrete": lambda a: EQUATIONS["discrete"][0](a / 10, a, a),
}  # fmt: skip


@pytest.mark.parametrize("name", ["sqrtm", "logm"])
def test_elements_that_vanished_are_not_claimed(name):
    """Small elements of matrices next to the lower end of the range count as zero, and matter as they do."""
    rng = np.random.default_rng(4)
    q = np.linalg.qr(rng.standard_normal((12, 4, 4)))[0]
    a = (q * [0.5, 1, 1e-3, 2]) @ q.swapaxes(1, 2) * 10.0 ** rng.uniform(-307.5, -304, (12, 1, 1))
    answer = ONE[name](a)
    for k in range(len(a)):
        off = error_of(np.asarray(answer.value)[k], by_eigenvalues(FUNCTIONS[name], a[k]))
        assert not answer.ok[k] or off <= answer.certificate.error[k], k


@pytest.mark.parametrize("name", ONE)
def test_reports_of_edges(name):
    """No elements, 16 bits, lanes; NaN and infinities spoil their own matrix alone."""
    run = ONE[name]
    for shape in ((0, 0), (0, 2, 2), (2, 0, 0)):
        answer = run(np.zeros(shape))
        assert answer.value.shape == shape and np.shape(answer.certificate.digits) == shape[:-2]
        assert np.all(answer.ok)
    a = np.array([[[3.0, 1.0], [0.5, 2.0]]] * 3)
    a[1, 0, 1], a[2, 0, 0] = np.nan, np.inf
    answer, lanes = run(a), xc.vmap(run)(a)
    for each in (answer, lanes):
        assert np.asarray(each.ok).tolist() == [True, False, False]
        digits = np.asarray(each.certificate.digits)
        assert digits[0] > 11 and not digits[1:].any()
    coarse = run(a[0].astype("float16"))
    assert coarse.ok and 1 < float(coarse.certificate.digits) < 7.3


@pytest.mark.parametrize("name", ONE)
def test_reports_do_not_change_derivatives(name):
    a = np.array([[3.0, 1.0], [0.5, 2.0]])
    plain = {
        "expm": la.expm, "sqrtm": la.sqrtm, "logm": la.logm,
        "sylvester": lambda a: la.solve_sylvester(a, a, a),
        "lyapunov": lambda a: la.solve_continuous_lyapunov(a, a),
        "discrete": lambda a: la.solve_discrete_lyapunov(a / 10, a),
    }[name]  # fmt: skip
    weights = np.array([[1.0, 2.0], [-1.0, 0.5]])
    slope = lambda f: np.asarray(xc.grad(lambda a: (weights * f(a)).real.sum())(a))
    assert np.allclose(slope(lambda a: ONE[name](a).value), slope(plain), rtol=1e-10)
    assert not np.any(xc.grad(lambda a: ONE[name](a).certificate.error)(a))


@pytest.mark.parametrize(
    "dtype, shape", [("float32", (5, 3)), ("complex128", (4, 4)), ("float64", (2, 5))]
)
def test_claims_of_pseudoinverses_are_true(dtype, shape):
    """The reference is that of the rank that was found."""
    names, a = stacked(dtype, max(shape))
    a = a[:, : shape[0], : shape[1]].copy()
    answer = xc.jit(lambda a: la.pinv(a, report=True))(a)

    @precise
    def wanted(k):
        rank, b = int(answer.certificate.rank[k]), mpmath.matrix(a[k].tolist())
        if rank == 0:
            return mpmath.zeros(*shape[::-1])
        w, v = mpmath.eighe(b.H * b)
        order = sorted(range(len(w)), key=lambda i: -w[i])[:rank]
        inner = mpmath.zeros(len(w))
        for i in order:
            inner += v[:, i] * v[:, i].H / w[i]
        return inner * b.H

    check_claims(names, answer, wanted, dtype, 12)
    assert np.asarray(answer.certificate.rank)[names.index("zero")] == 0
    lanes = xc.vmap(lambda a: la.pinv(a, report=True))(a[:2])
    assert np.allclose(lanes.certificate.digits, answer.certificate.digits[:2], atol=0.7)
    bad = a[:2].copy()
    bad[1, 0, 0] = np.nan
    assert np.asarray(la.pinv(bad, report=True).ok).tolist() == [True, False]
    assert (
        la.pinv(np.zeros((0, 3)), report=True).ok and la.pinv(np.eye(2, dtype="f2"), report=True).ok
    )


@pytest.mark.parametrize("n, m, dtype", [(9, 12, np.complex128), (11, 10, np.complex64)])
def test_triangular_sylvester_by_blocks(n, m, dtype, monkeypatch):
    """Blocks that fit, and that do not."""
    monkeypatch.setattr(_sensitivity, "_BLOCK", 3)
    rng = np.random.default_rng(n)
    random = lambda *shape: rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    s, t, c = (random(n, n), random(m, m), random(n, m))
    s, t = (np.triu(x, 1) / 3 + np.diag(1 + np.abs(np.diag(x))) for x in (s, t))
    s, t, c = (x.astype(dtype) for x in (s * 1e-20, t * 1e-20, c))
    norm, bound, given = np.linalg.norm, 100 * np.finfo(dtype).eps, map(xc.numpy.asarray, (s, t, c))
    given, (s, t, c) = tuple(given), (x.astype(complex) for x in (s, t, c))
    for solve, turn in (
        (_sensitivity.triangular_sylvester, lambda x: x),
        (_sensitivity.adjoint_sylvester, lambda x: x.conj().T),
    ):
        x = np.asarray(solve(*given)).astype(complex)
        left = norm(turn(s) @ x + x @ turn(t) - c)
        assert left <= bound * ((norm(s) + norm(t)) * norm(x) + norm(c))
