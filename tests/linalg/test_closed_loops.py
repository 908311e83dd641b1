"""``report=True`` of Riccati's equations: no claim is false, at any scale.

The reference is Newton's iteration in 60 digits from what was found, and stands only if its loop is stable.
"""

import functools

import mpmath
import numpy as np
import pytest

import xcore as xc

la = xc.linalg
N, M, DPS = 3, 2, 60
SOLVE = {
    kind: xc.jit(functools.partial(getattr(la, f"solve_{kind}_are"), report=True))
    for kind in ("continuous", "discrete")
}


def families(kind, dtype, seed=0):
    """(a, b, q, r) from easy ones to those without a solution, and of all sizes."""
    rng, single = np.random.default_rng(seed), np.finfo(dtype).bits == 32
    turn = 1j if np.dtype(dtype).kind == "c" else 0
    wide = lambda *s: rng.standard_normal(s) + turn * rng.standard_normal(s)
    large, continuous = 10.0 ** (30 if single else 150), kind == "continuous"
    a, b, c, one = wide(N, N), wide(N, M), wide(N, N), np.eye(N)
    q, r = c @ c.conj().T, 2 * np.eye(M)
    calm = a - 4 * one if continuous else a / 5
    wild = np.diag([1.0, 2, 3]) + np.eye(N, k=1) if continuous else np.diag([1.5, 2, 3])
    steps = np.diag([1, 1e2, 1e-2])
    graded = steps @ a @ np.linalg.inv(steps), steps @ b, np.linalg.inv(steps), r
    time = large if continuous else 1.0
    edge = np.diag([0.0, -1, -2]) if continuous else np.diag([1.0, 0.5, 0.2])
    return {
        "random": (a, b, q, r), "calm": (calm, b, q, r), "wild": (wild, b, one, r),
        "weak": (wild, b, 1e-3 * one, 1e3 * r), "cheap": (a, b, q, 1e-4 * r),
        "large": (calm, b, q * large, r * large), "small": (calm, b, q / large, r / large),
        "slow": (a / time, b / time**0.5, q / time, r), "fast": (a * time, b * time**0.5, q * time, r),
        "strong": (calm, b * large**0.5, q, r * large), "faint": (calm, b / large**0.5, q, r / large),
        "graded": graded, "nothing to pay": (calm, b, 0 * q, r), "only to steady": (wild, b, 0 * q, r),
        "far": (wild, 1e-3 * b, one, r), "out of reach": (wild, 0 * b, one, r),
        "unseen": (edge, b, 0 * one, r), "edge": (edge, b, np.diag([1e-12, 1, 1]), r),
        "zero": (0 * a, 0 * b, 0 * q, r), "free": (a, b, q, 0 * r),
        "indefinite": (a, b, np.diag([-3.0, 1, 1]), r), "blunt": (a, b, -q, r),
    }  # fmt: skip


HOPELESS = {
    "continuous": ("out of reach", "unseen", "zero", "free"),
    "discrete": ("out of reach", "unseen", "free"),
}


def stacked(kind, dtype, seed=0):
    found = families(kind, dtype, seed)
    arrays = [np.stack(x).astype(dtype) for x in zip(*found.values(), strict=True)]
    arrays[2:] = [(x + x.conj().swapaxes(1, 2)) / 2 for x in arrays[2:]]
    return list(found), arrays


def precise_loop(kind, x, a, b, r, e, s):
    near = a if kind == "discrete" else e
    v = r + b.H * x * b if kind == "discrete" else r
    k = mpmath.inverse(v) * (b.H * x * near + s.H)
    return a - b * k, k


def precise_map(kind, c, e, x):
    return c.H * x * e + e.H * x * c if kind == "continuous" else c.H * x * c - e.H * x * e


def precise_step(kind, c, e, y):
    """The δ with l(δ) = y, by columns."""
    n = len(y)
    whole, right = mpmath.zeros(n * n), mpmath.zeros(n * n, 1)
    for k in range(n * n):
        unit = mpmath.zeros(n)
        unit[k // n, k % n] = 1
        image = precise_map(kind, c, e, unit)
        for i in range(n * n):
            whole[i, k] = image[i // n, i % n]
        right[k] = y[k // n, k % n]
    x = mpmath.lu_solve(whole, right)
    return mpmath.matrix([[x[i * n + j] for j in range(n)] for i in range(n)])


def reference(kind, x, a, b, q, r, e=None, s=None):
    """(the stabilising solution, the loop's largest real part or modulus) next to x, or None."""
    with mpmath.workdps(DPS):
        e = np.eye(N) if e is None else e
        s = np.zeros((N, M)) if s is None else s
        x, a, b, q, r, e, s = (mpmath.matrix(y.tolist()) for y in (x, a, b, q, r, e, s))
        start = x
        try:
            for _ in range(30):
                c, k = precise_loop(kind, x, a, b, r, e, s)
                left = precise_map(kind, c, e, x) + q + k.H * r * k - s * k - k.H * s.H
                change = precise_step(kind, c, e, -left)
                x = x + (change + change.H) / 2
                if mpmath.mnorm(change, 1) <= mpmath.mpf(10) ** -45 * mpmath.mnorm(x, 1):
                    break
            else:
                return None
            c, _ = precise_loop(kind, start, a, b, r, e, s)
            end = _end(kind, c, e)
            exact, _ = precise_loop(kind, x, a, b, r, e, s)
            return (x, end) if _end(kind, exact, e) < (kind == "discrete") else None
        except ZeroDivisionError:
            return None


def _end(kind, c, e):
    w = mpmath.eig(mpmath.inverse(e) * c, right=False)
    return max(mpmath.re(z) if kind == "continuous" else abs(z) for z in w)


def check(kind, answer, arrays, dtype):
    """How many digits claims are below the truth; no claim may be above it."""
    eps, slack, false = float(np.finfo(dtype).eps), {}, []
    told = {k: np.asarray(v) for k, v in answer.certificate.items()}
    for k in range(len(arrays[0])):
        if not (np.asarray(answer.ok)[k] or told["digits"][k] > 0):
            continue
        x = np.asarray(answer.value)[k]
        found = reference(kind, x, *(y[k] for y in arrays))
        if found is None:
            false.append((k, "no solution"))
            continue
        exact, end = found
        with mpmath.workdps(DPS):
            most = max(abs(y) for y in exact)
            off = max(abs(y) for y in mpmath.matrix(x.tolist()) - exact)
            off = float(off / most) if most else float(off > 0)
        if not off <= float(told["error"][k]) * 1.0001 or not end <= float(told["closed_loop"][k]):
            false.append((k, off, told["error"][k], float(end), told["closed_loop"][k]))
        if told["digits"][k] > -np.log10(max(off, eps / 2)) + 1e-3:
            false.append((k, "digits"))
        slack[k] = -np.log10(max(off, eps / 2)) - told["digits"][k]
    assert not false, false
    return slack


@pytest.mark.parametrize(
    "kind, dtype, least",
    [
        ("continuous", "float64", 15), ("continuous", "complex64", 12), ("discrete", "complex128", 15),
        ("discrete", "float32", 9),
    ],
)  # fmt: skip
def test_claims_are_true(kind, dtype, least):
    names, arrays = stacked(kind, dtype)
    answer = SOLVE[kind](*arrays)
    slack = check(kind, answer, arrays, dtype)
    assert len(slack) >= least and np.median(list(slack.values())) < 2.5
    assert not any(np.asarray(answer.ok)[names.index(k)] for k in HOPELESS[kind])


@pytest.mark.parametrize("kind", SOLVE)
def test_claims_with_all_terms_are_true(kind):
    rng, count = np.random.default_rng(2), 6
    a, c, e = rng.standard_normal((3, count, N, N))
    b, s = rng.standard_normal((2, count, N, M))
    q = c @ c.swapaxes(1, 2) + np.eye(N)
    r = np.diag([1.0, 10]) * 10.0 ** np.linspace(-2, 2, count)[:, None, None]
    e = np.eye(N) * (1 + np.arange(count)[:, None, None] % 2) + 0.3 * e
    arrays = [a, b, q, r, e, 0.1 * s]
    answer = SOLVE[kind](*arrays)
    slack = check(kind, answer, arrays, "float64")
    assert len(slack) >= 5 and np.median(list(slack.values())) < 3
    lanes = xc.vmap(SOLVE[kind])(*arrays)
    assert np.allclose(lanes.certificate.digits, answer.certificate.digits, atol=0.5)


@pytest.mark.parametrize("kind", SOLVE)
def test_reports_of_edges(kind):
    solve = functools.partial(getattr(la, f"solve_{kind}_are"), report=True)
    for shape in ((0, 0), (2, 0, 0)):
        answer = solve(np.zeros(shape), np.zeros((0, 1)), np.zeros(shape), np.eye(1))
        assert answer.value.shape == shape and np.shape(answer.certificate.digits) == shape[:-2]
        assert np.all(answer.ok)
    a = np.stack([np.eye(2) / 2] * 4)
    a[1, 0, 1], a[2, 0, 0] = np.nan, np.inf
    q = np.stack([np.eye(2)] * 3 + [np.full((2, 2), np.nan)])
    answer = solve(a, np.eye(2), q, np.eye(2))
    assert np.asarray(answer.ok).tolist() == [True, False, False, False]
    digits = np.asarray(answer.certificate.digits)
    assert digits[0] > 13 and not digits[1:].any()
    assert np.isinf(np.asarray(answer.certificate.closed_loop)[1:]).all()
    coarse = solve(*(x.astype("float16") for x in (a[0], np.eye(2), q[0], np.eye(2))))
    assert (
        coarse.ok and 1 < float(coarse.certificate.digits) < 4 and coarse.value.dtype == "float16"
    )
    plain = lambda a: getattr(la, f"solve_{kind}_are")(a, np.eye(2), q[0], np.eye(2))
    told = lambda a: solve(a, np.eye(2), q[0], np.eye(2))
    slopes = [xc.grad(lambda a, f=f: f(a)[0].sum())(a[0]) for f in (plain, lambda a: told(a).value)]
    assert np.allclose(*slopes) and not np.any(xc.grad(lambda a: told(a).certificate.error)(a[0]))
