"""What solvers claim of their results, against references of more precision: no claim is false.

Matrices have conditions from 1 up to singular and sizes over the dtype's range.
"""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import Status

la = xc.linalg
N = 16
CONDITIONS = [1.0, 1e2, 1e4, 1e5, 1e6, 1e8, 1e12, np.inf]
WIDE = {"f": np.longdouble, "c": np.clongdouble}


def orthogonal(rng, n, dtype):
    x = rng.standard_normal((n, n))
    x = x + 1j * rng.standard_normal((n, n)) if np.dtype(dtype).kind == "c" else x
    return np.linalg.qr(x)[0]


def matrices(kind, dtype, n=N, seeds=2):
    """(cases, n, n): definite, indefinite or general, of all conditions, and sizes 1, 1e±18."""
    found = []
    for seed in range(seeds):
        for number, condition in enumerate(CONDITIONS):
            rng = np.random.default_rng((seed, number))
            values = condition ** -np.linspace(0, 1, n) if condition < np.inf else np.arange(n) / n
            values = values * (-1.0) ** np.arange(n) if kind == "indefinite" else values
            q = orthogonal(rng, n, dtype)
            left = orthogonal(rng, n, dtype) if kind == "general" else q
            a = (left * values) @ q.conj().T
            if kind != "general":
                a = (a + a.conj().T) / 2
            found.append(a * (1.0, 1e-18, 1e18)[number % 3])
    return np.stack(found).astype(dtype)


def wide(x):
    x = np.asarray(x)
    return x.astype(WIDE[x.dtype.kind])


def length(x, axis=-1):
    """The norm where squares would overflow."""
    size = np.abs(x).max(axis, keepdims=True)
    size = np.where(size == 0, 1, size)
    return np.sqrt((np.abs(x / size) ** 2).sum(axis)) * size.squeeze(axis)


def right_sides(a, seed=9):
    """Random and inside the range, by turns, and of sizes 1, 1e±15."""
    rng = np.random.default_rng(seed)
    b = rng.standard_normal(a.shape[:-1])
    size = np.abs(a).max((1, 2))[:, None].astype(float)
    b = np.where(np.arange(len(a))[:, None] % 2, np.einsum("kij,kj->ki", a / size[..., None], b), b)
    return (b * 10.0 ** (15 * (np.arange(len(a)) % 5 % 3 - 1.0)[:, None])).astype(a.dtype)


SOLVERS = {
    "CG": ("definite", lambda **k: la.CG(**k)),
    "MINRES": ("indefinite", lambda **k: la.MINRES(**k)),
    "BiCGStab": ("general", lambda **k: la.BiCGStab(**k)),
    "GMRES": ("general", lambda **k: la.GMRES(restart=N, **k)),
    "Chebyshev": ("definite", lambda **k: la.Chebyshev(bounds=(0.01, 1.1), **k)),
}
DTYPES = [("float32", 1e-5), ("complex128", 1e-11)]
KRYLOV = [(s, *d) for s in SOLVERS for d in DTYPES] + [
    ("CG", "float64", 1e-13), ("MINRES", "float64", 1e-13), ("MINRES", "complex64", 1e-6),
    ("GMRES", "float32", 1e-6),
]  # fmt: skip


@pytest.mark.parametrize("name, dtype, rtol", KRYLOV)
def test_krylov_methods_claim_what_the_residual_shows(name, dtype, rtol):
    kind, make = SOLVERS[name]
    a = matrices(kind, dtype)
    if name == "Chebyshev":  # its bounds are those of matrices of size 1
        a = (a / np.abs(a).max((1, 2), keepdims=True)).astype(dtype)
    b = right_sides(a)
    solver = make(rtol=rtol, max_steps=300)

    def solve(a, b):
        operator = la.Matrix(a, symmetric=kind != "general", positive=kind == "definite")
        near = la.Diagonal(1 / (1 + xnp.arange(N) / N).astype(b.dtype), positive=True)
        plain = la.linear_solve(operator, b, solver, report=True)
        return plain, la.linear_solve(operator, b, solver, preconditioner=near, report=True)

    for answer in xc.jit(xc.vmap(solve))(a, b):
        ok, x = np.asarray(answer.ok), np.asarray(answer.value)
        x = np.where(np.isfinite(x), x, 0)
        left = length(wide(b) - np.einsum("kij,kj->ki", wide(a), wide(x)))
        share = left / length(wide(b))
        assert (share[ok] <= 1.01 * rtol).all(), share[ok].max()
        assert ok.sum() >= 2  # and it does claim something
        assert not (ok & ~np.isfinite(np.asarray(answer.value)).all(-1)).any()


def five_points(n):
    """A grid's Laplacian in units of its cells, as function of fields."""

    def apply(_, x):
        u = xnp.pad(x.reshape(n, n), 1)
        near = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        return (4 * u[1:-1, 1:-1] - near).reshape(x.shape)

    return apply


@pytest.mark.parametrize("name, n", [("CG", 25), ("CG", 60), ("GMRES", 25), ("BiCGStab", 10)])
def test_what_single_precision_holds_is_not_refused(name, n):
    """The claim at the default rtol is what the residual in double precision says, both ways."""
    f = five_points(n)
    a = la.FunctionOperator(f, None, (n * n,) * 2, symmetric=True, positive=True, field=(n, n))
    rng = np.random.default_rng(0)
    b = np.stack([np.ones(n * n), np.arange(n * n), rng.standard_normal(n * n)]) * 1e-20
    b = (b[None] * np.array([1e20, 1, 1e45])[:, None, None]).reshape(9, -1).astype("float32")
    solve = xc.jit(
        lambda b: xc.lax.map(lambda b: la.linear_solve(a, b, getattr(la, name)(), report=True), b)
    )
    answer = solve(b)
    x, ok = np.asarray(answer.value, float), np.asarray(answer.ok)
    left = length(b - np.stack([np.asarray(f(None, y)) for y in x])) / length(b.astype(float))
    assert (ok == (left <= 1e-5)).all(), (ok, left)
    assert ok.any() and ok.all() == (n < 60)  # there the rounding of x leaves more
    told = np.asarray(answer.error, float) / length(b.astype(float))
    assert np.allclose(told, left, rtol=0.01, atol=1e-7)


def test_products_that_cannot_be_more_precise_are_doubted():
    """A function for single precision alone, one that rounds on its way: what is claimed still holds."""
    chain = lambda x: 2 * x - xnp.pad(x[1:], (0, 1)) - xnp.pad(x[:-1], (1, 0))
    rounded = lambda _, x: chain(x.astype(np.float32)).astype(x.dtype)

    def alone(_, x):
        if x.dtype != np.float32:
            raise TypeError("written for single precision")
        return chain(x)

    b = xnp.ones(80)
    for f in (rounded, alone):
        a = la.FunctionOperator(f, None, (80, 80), symmetric=True, positive=True)
        for rtol in (1e-5, 1e-4, 1e-3):
            answer = la.linear_solve(a, b, la.CG(rtol=rtol), report=True)
            left = length(1 - np.asarray(chain(np.asarray(answer.value, float)))) / 80**0.5
            assert left <= rtol or not answer.ok
        assert answer.ok


@pytest.mark.parametrize(
    "dtype, rtol", [("float32", 1e-5), ("float64", 1e-10), ("complex64", 1e-5)]
)
def test_lsmr_claims_what_the_gradient_shows(dtype, rtol):
    """|aᴴ (b - a x) - damp² x| <= rtol |aᴴ b|, which the recurrence believes far too soon."""
    a = matrices("general", dtype)[:, :, : N - 4]
    b = right_sides(a.copy().repeat(2, 2)[:, :, :N])
    sizes = np.abs(a).max((1, 2))

    def solve(a, b, damp):
        run = lambda **k: la.lsmr(a, b, rtol=rtol, max_steps=300, report=True, **k)
        return run(), run(damp=damp)

    damps = (1e-3 * sizes).astype(sizes.dtype)
    for damp, answer in zip((0 * damps, damps), xc.jit(xc.vmap(solve))(a, b, damps), strict=True):
        ok, x = np.asarray(answer.ok), wide(answer.value)
        adjoint = wide(a).conj().swapaxes(1, 2)
        left = np.einsum("knm,km->kn", adjoint, wide(b) - np.einsum("kmn,kn->km", wide(a), x))
        left = length(left - wide(damp)[:, None] ** 2 * x)
        goal = rtol * length(np.einsum("knm,km->kn", adjoint, wide(b)))
        assert (left[ok] <= 1.01 * goal[ok]).all() and ok.sum() >= 2
        told = np.asarray(answer.error)
        assert (abs(told - left)[ok] <= 0.5 * goal[ok]).all()


def exact_solution(a, b):
    with mpmath.workdps(500):
        x = mpmath.lu_solve(mpmath.matrix(a.tolist()), mpmath.matrix(b.tolist()))
        return np.array([complex(v) for v in x])


def scaled_systems(dtype, reach, n=8, count=60):
    """Conditions from 1 to beyond 1 / eps; rows, or columns, of any size; triangles."""
    rng = np.random.default_rng(1)
    found = []
    for k in range(count):
        condition = 10 ** rng.uniform(0, -1.1 * np.log10(np.finfo(dtype).eps))
        q, p = orthogonal(rng, n, dtype), orthogonal(rng, n, dtype)
        a = (q * condition ** -np.linspace(0, 1, n)) @ p
        if k % 4 == 1:
            a = rng.standard_normal((n, n)) * 10.0 ** rng.uniform(-reach, reach, (n, 1))
        if k % 4 == 2:
            a = a * 10.0 ** rng.uniform(-reach / 10, reach / 10, n)
        a = np.triu(rng.standard_normal((n, n))) if k % 4 == 3 else a
        found.append((a, a @ np.ones(n) if k % 3 else rng.standard_normal(n)))
    return [np.stack(x).astype(dtype) for x in zip(*found, strict=True)]


@pytest.mark.parametrize("dtype, reach", [("float32", 12), ("float64", 120), ("complex128", 120)])
def test_digits_are_there(dtype, reach):
    a, b = scaled_systems(dtype, reach)
    answer = xc.jit(lambda a, b: la.solve(a, b[..., None], report=True))(a, b)
    eps = np.finfo(dtype).eps / 2
    slack, told_to_scaled = [], []
    for k in np.flatnonzero(answer.ok):
        x, wanted = np.asarray(answer.value)[k, :, 0], exact_solution(a[k], b[k])
        off = max(abs(x - wanted).max() / abs(wanted).max(), eps)
        slack.append(-np.log10(off) - float(answer.certificate.digits[k]))
        if k % 4 == 1:
            told_to_scaled.append(float(answer.certificate.digits[k]))
    assert len(slack) > 30 and min(slack) > -1e-6  # no claim is false
    assert np.mean(np.array(slack) > 3) < 0.13 and np.median(slack) < 2.5
    assert np.median(told_to_scaled) > -np.log10(eps) - 3  # how rows are scaled does not matter


def test_digits_where_one_row_is_long():
    a, b = np.eye(1500), np.random.default_rng(0).standard_normal(1500)
    a[0] = 1
    answer = la.solve(a, b, report=True)
    exact = float(Fraction(b[0]) - sum(map(Fraction, b[1:])))
    off = abs(float(answer.value[0]) - exact) / max(abs(exact), abs(b[1:]).max())
    assert answer.ok and float(answer.certificate.digits) <= -np.log10(max(off, 1.2e-16))
    assert np.isclose(answer.certificate.condition_inf, 1500.0**2) and np.isclose(
        answer.certificate.condition, 4
    )


# Eigenvalues


def chain(n):
    return 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)


def square(n):
    """The Laplacian of a square: most eigenvalues are double."""
    return np.kron(chain(n), np.eye(n)) + np.kron(np.eye(n), chain(n))


def wanted_of(w, k, which):
    order = {
        "LA": np.argsort(-w), "SA": np.argsort(w), "LM": np.argsort(-abs(w)), "SM": np.argsort(abs(w)),
        "BE": np.argsort(np.minimum(2 * np.arange(len(w))[::-1], 2 * np.arange(len(w)) + 1)),
    }[which]  # fmt: skip
    return np.sort(w[order[:k]])


@pytest.mark.parametrize("which", ["LA", "SA", "LM", "BE"])
def test_eigsh_finds_what_repeats(which):
    cases = {
        "square": square(12), "indefinite": square(12) - 3 * np.eye(144),
        "threefold": np.diag(np.repeat(np.arange(1.0, 49), 3)[::-1]),
        "graded": np.diag(2.0 ** -np.arange(144)),
    }  # fmt: skip
    find = xc.jit(lambda a: la.eigsh(a, 5, which=which, max_steps=100, report=True))
    for name, a in cases.items():
        answer = find(a)
        w, v = map(np.asarray, answer.value)
        exact = np.linalg.eigvalsh(a)
        if name == "graded" and which in ("SA", "BE") and not np.all(answer.ok):
            continue  # a hundred values next to 0: it says that it did not get there
        assert np.all(answer.ok), name
        assert np.allclose(w, wanted_of(exact, 5, which), atol=1e-10 * abs(exact).max()), name
        assert np.allclose(v.T @ v, np.eye(5), atol=1e-12), name
        assert (np.linalg.norm(a @ v - v * w, axis=0) <= answer.certificate["error"]).all(), name


def test_eigsh_with_a_shift_finds_what_repeats():
    a = square(10)
    exact = np.linalg.eigvalsh(a)
    for sigma in (0.0, 1.3):
        w = np.asarray(la.eigsh(a, 6, sigma=sigma)[0])
        assert np.allclose(w, np.sort(exact[np.argsort(abs(exact - sigma))[:6]]))
    assert np.allclose(la.eigsh(a, 3, which="smallest")[0], exact[:3])  # by default, that is


@pytest.mark.parametrize("dtype, size", [("float32", 30), ("complex128", 250), ("complex64", 30)])
def test_eigsh_claims_hold_at_all_sizes(dtype, size):
    """Its bounds of errors and angles, for random matrices of sizes up to 10^±size."""
    rng = np.random.default_rng(5)
    sizes = 10.0 ** np.array([0, -size, size])
    a = np.stack([orthogonal(rng, 40, dtype) for _ in sizes]).astype(dtype)
    a = ((a + a.conj().swapaxes(1, 2)) * sizes[:, None, None]).astype(dtype)
    answer = xc.jit(xc.vmap(lambda a: la.eigsh(a, 4, report=True)))(a)
    w, v = np.asarray(answer.value[0]), np.asarray(answer.value[1])
    for k, scale in enumerate(sizes):
        exact, vectors = np.linalg.eigh(a[k].astype(complex) / scale)
        assert np.all(answer.ok[k])
        off = abs(w[k].astype(float) / scale - exact[-4:])
        assert (off <= np.asarray(answer.certificate["error"])[k].astype(float) / scale).all()
        u, x = vectors[:, -4:], v[k] / np.linalg.norm(v[k].astype(complex), axis=0)
        sine = np.linalg.norm(x - u * np.sum(u.conj() * x, axis=0), axis=0)
        assert (sine <= np.asarray(answer.certificate["angle"])[k]).all()


@pytest.mark.parametrize("which", ["BE", "LM"])
def test_eigsh_claims_of_angles_see_neighbours_on_both_sides(which):
    """Nearly equal values next to one that is found, on the side from which fewer are missed."""
    rng = np.random.default_rng(0)
    spectra = [np.r_[v, np.zeros(37)] for v in (np.abs(rng.normal(size=(6, 3))) + 0.1)]
    spectra += [np.r_[np.ones(4), -np.ones(4), rng.random(32) - 0.5] for _ in range(6)]
    q = [orthogonal(rng, 40, "float64") for _ in spectra]
    a = np.stack([(q * w) @ q.T for q, w in zip(q, spectra)]).astype("float32")
    a = (a + a.swapaxes(1, 2)) / 2
    answer = xc.jit(xc.vmap(lambda a: la.eigsh(a, 3, which=which, report=True)))(a)
    for one, v, angle in zip(a, np.asarray(answer.value[1]), answer.certificate["angle"]):
        near = np.max(np.abs(v.T.astype(float) @ np.linalg.eigh(one.astype(float))[1]), axis=1)
        lengths = np.linalg.norm(v.astype(float), axis=0)
        sine = np.sqrt(1 - np.minimum(near / lengths, 1) ** 2)
        assert (sine <= np.asarray(angle) + 1e-7).all()


def test_eigsh_says_what_it_did_not_reach():
    a = square(9)
    short = la.eigsh(a, 4, which="SM", max_steps=2, report=True)
    assert np.all(np.asarray(short.status) == Status.max_steps)
    with pytest.raises(xc.errors.SolverError, match="limit of steps"):
        la.eigsh(a, 4, max_steps=1)
    err, _ = xc.checkify.checkify(xc.jit(lambda a: la.eigsh(a, 4, max_steps=1)))(a)
    assert "eigsh ended with status 1" in err.get()
    with pytest.raises(ValueError, match="Hermitian"):
        la.eigsh(np.triu(a), 2)
    err, _ = xc.checkify.checkify(xc.jit(lambda a: la.eigsh(a, 2, report=True)))(np.triu(a))
    assert "need a symmetric" in err.get()
    lean = la.FunctionOperator(lambda p, x: p @ x, xnp.triu(a), a.shape, symmetric=True)
    assert not np.all(la.eigsh(lean, 2, report=True).ok)
    assert not np.any(la.eigsh(np.full((30, 30), np.nan), 2, report=True).ok)


@pytest.mark.parametrize("dtype, n", [("float64", 40), ("float32", 7), ("complex128", 6)])
def test_lobpcg_leaves_eigenvectors_that_are_not_wanted(dtype, n):
    """Started on some that are too large; the last matrices have no room for a guard."""
    q = orthogonal(np.random.default_rng(2), n, dtype).astype(dtype)
    values = np.r_[1.0, 2, 2, np.arange(3, n)]
    a = (q * values) @ q.conj().T
    a = ((a + a.conj().T) / 2).astype(dtype)
    answer = la.lobpcg(a, 2, x0=q[:, 3:5], max_steps=2000, report=True)
    w, v = map(np.asarray, answer.value)
    eps = np.finfo(dtype).eps
    assert np.all(answer.ok) and np.allclose(w, [1, 2], atol=eps**0.5)
    assert (abs(w - [1, 2]) <= answer.certificate["error"]).all()
    left = np.linalg.norm(wide(a) @ wide(v) - wide(v) * w, axis=0)
    assert (left <= np.asarray(answer.certificate["error"])).all()
    tiny = la.lobpcg(a * np.asarray(1e-30, a.dtype), 2, x0=q[:, 3:5], max_steps=2000, report=True)
    assert np.all(tiny.ok) and np.allclose(
        np.asarray(tiny.value[0]) * 1e30, [1, 2], atol=10 * eps**0.5
    )


SPECTRA = {
    "random": np.random.default_rng(3).standard_normal(12), "graded": 10.0 ** -np.arange(12) * (-1.0) ** np.arange(12),
    "repeated": np.repeat([-2.0, 0.5, 1.5], 4), "clustered": np.r_[1 + 1e-7 * np.arange(6), -1 - 1e-3 * np.arange(6)],
    "zero": np.zeros(12), "of rank 1": np.arange(12) == 0.0,
}  # fmt: skip


@pytest.mark.parametrize("dtype, size", [("float32", 30), ("complex128", 290)])
def test_claims_of_pairs_hold_for_all_spectra_at_all_sizes(dtype, size):
    """And they are made: where the vectors wanted are taken to 0, too, by an operator that is not 0."""
    sizes, rng, k = 10.0 ** np.array([0, -size, size]), np.random.default_rng(8), 3
    turns = [orthogonal(rng, 12, dtype) for _ in SPECTRA]
    a = np.stack([(q * w) @ q.conj().T for q, w in zip(turns, SPECTRA.values(), strict=True)])
    a = ((a + a.conj().swapaxes(1, 2)) / 2)[:, None] * sizes[:, None, None]
    a = a.reshape(-1, 12, 12).astype(dtype)

    def found(a, shift):
        near = la.eigsh(a, k, sigma=shift, report=True)
        return la.lobpcg(a, k, report=True), la.eigsh(a, k, report=True), near

    shifts = np.tile(0.3 * sizes, len(SPECTRA)).astype(np.dtype(dtype).type(0).real.dtype)
    eps = np.finfo(dtype).eps
    for number, answer in enumerate(xc.jit(xc.vmap(found))(a, shifts)):
        assert np.all(answer.ok), number
        told = np.asarray(answer.certificate.error)
        for i, (w, error) in enumerate(zip(np.asarray(answer.value[0]), told, strict=True)):
            unit = sizes[i % 3]
            exact = np.linalg.eigvalsh(a[i].astype(complex) / unit)
            w, error = w.astype(float) / unit, error.astype(float) / unit
            wanted = np.sort(exact[np.argsort(abs(exact - 0.3))[:k]])
            wanted = (exact[:k], exact[-k:], wanted)[number]
            near = np.abs(w[:, None] - exact).min(1)
            assert (near <= error + 4e-15).all(), (number, i)
            within = np.maximum(error, 2 * eps ** (0.75 if number else 0.5) * abs(exact).max())
            off = abs(w - wanted) if number < 2 else abs(abs(w - 0.3) - abs(wanted - 0.3))
            assert (np.sort(off) <= np.sort(within) + 4e-15).all(), (number, i)


def test_lsmr_does_not_claim_what_its_precision_cannot_show():
    """Residuals that round to 0 are none of 1e-10 in single precision."""
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((2, 60, 1, 1)).astype("float32")
    solve = xc.jit(xc.vmap(lambda a, b: la.lsmr(a, b[:, 0], rtol=1e-10, report=True)))
    answer = solve(a, b)
    assert not np.any(answer.ok) and np.all(np.asarray(answer.status) == Status.stagnation)
    exact = xc.jit(xc.vmap(lambda a, b: la.lsmr(a, b[:, 0], report=True)))(a, b)
    assert np.all(exact.ok)
    assert np.allclose(np.asarray(answer.value)[:, 0], (b / a)[:, 0, 0], rtol=1e-5)
    assert np.all(solve(a, 0 * b).ok)  # whose solution is known exactly


# Dense factorisations


def sine(x, u):
    """Of the angles between columns x and columns u, of norm 1."""
    return np.linalg.norm(x - u * np.sum(u.conj() * x, axis=0), axis=0)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_bounds_of_eigh_and_svd_hold(dtype):
    """Beside double precision, for all conditions, sizes 1e±18, repeated values."""
    a = matrices("indefinite", dtype)
    a = np.concatenate([a, [np.eye(N, dtype=dtype), np.zeros((N, N), dtype)]])
    b = np.concatenate([matrices("general", dtype), a[-2:]])[:, :, : N - 3]
    pairs, triples = xc.jit(lambda a, b: (la.eigh(a, report=True), la.svd(b, report=True)))(a, b)
    for k in range(len(a)):
        w, u = np.linalg.eigh(a[k].astype(complex))
        left, s, vh = np.linalg.svd(b[k].astype(complex), full_matrices=False)
        assert pairs.ok[k] and triples.ok[k]
        told = {n: np.asarray(x)[k].astype(float) for n, x in pairs.certificate.items()}
        v = np.asarray(pairs.value[1])[k].astype(complex)
        assert (abs(np.asarray(pairs.value[0])[k].astype(float) - w) <= told["error"]).all()
        assert (sine(v / np.linalg.norm(v, axis=0), u) <= told["angle"] + 1e-12).all()
        told = {n: np.asarray(x)[k].astype(float) for n, x in triples.certificate.items()}
        assert (abs(np.asarray(triples.value.S)[k].astype(float) - s) <= told["error"]).all()
        both = np.concatenate(
            [np.asarray(triples.value.U)[k], np.asarray(triples.value.Vh)[k].conj().T]
        )
        both = both.astype(complex) / np.linalg.norm(both.astype(complex), axis=0)
        exact = np.concatenate([left, vh.conj().T]) / 2**0.5
        assert (sine(both, exact) <= told["angle"] + 1e-12).all()
    size = np.linalg.norm(a, 2, axis=(1, 2)).astype(float)
    assert (
        np.asarray(pairs.certificate["error"], float).max(1) <= 100 * np.finfo(dtype).eps * size
    ).all()


def test_bounds_of_eigh_hold_in_double_precision():
    for a in matrices("indefinite", "float64", n=8, seeds=1)[[0, 2, 4, 7]]:
        answer = la.eigh(a, report=True)
        with mpmath.workdps(40):
            exact = mpmath.eigsy(mpmath.matrix(a.tolist()), eigvals_only=True)
            off = [
                abs(mpmath.mpf(float(x)) - y) for x, y in zip(answer.value[0], exact, strict=True)
            ]
        assert all(x <= float(y) for x, y in zip(off, answer.certificate["error"], strict=True))
    assert not la.eigh(np.full((3, 3), np.nan), report=True).ok


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_digits_of_least_squares_are_there(dtype):
    """Beside double precision: of all conditions, ranks and sizes; right sides inside and outside."""
    a = matrices("general", dtype, seeds=4)[:, :, : N - 3]
    b = np.stack([right_sides(np.pad(a, ((0, 0), (0, 0), (0, 3))), seed) for seed in range(2)], -1)
    answer = xc.jit(lambda a, b: la.lstsq(a, b, report=True))(a, b)
    claims = 0
    for k in range(len(a)):
        u, s, vh = np.linalg.svd(a[k].astype(complex), full_matrices=False)
        r = int(answer.certificate["rank"][k])
        exact = vh[:r].conj().T @ ((u[:, :r].conj().T @ b[k].astype(complex)) / s[:r, None])
        off = abs(np.asarray(answer.value)[k] - exact).max(0) / abs(exact).max(0)
        told = {n: np.asarray(x)[k].astype(float) for n, x in answer.certificate.items()}
        assert off.max() <= 10.0 ** -told["digits"] * (1 + 1e-6)
        eps = np.finfo(dtype).eps
        assert abs(told["kept"] - s[r - 1] / s[0]) <= 30 * eps
        assert abs(told["dropped"] - np.r_[s, 0][r] / s[0]) <= 30 * eps
        claims += told["digits"] > 1
    assert claims >= 4


@pytest.mark.parametrize("dtype, reach", [("float32", 3), ("float64", 60), ("complex128", 60)])
def test_errors_of_determinants_are_bounded(dtype, reach):
    a, _ = scaled_systems(dtype, reach)
    answer = xc.jit(lambda a: la.slogdet(a, report=True))(a)
    for k in range(len(a)):
        with mpmath.workdps(500):
            exact = float(mpmath.log(abs(mpmath.det(mpmath.matrix(a[k].tolist())))))
        off, told = abs(float(answer.value[1][k]) - exact), float(answer.certificate["error"][k])
        assert off <= told
        assert bool(answer.ok[k]) == bool(told <= 1)
    assert np.asarray(answer.ok)[1::4].all()  # how rows are scaled does not matter
    assert la.slogdet(np.ones((3, 3)), report=True).status == Status.singular
