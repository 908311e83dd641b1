"""Krylov methods do not mind the sizes of matrices, right-hand sides and preconditioners."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp

la = xc.linalg
N = 12
KINDS = {"CG": "definite", "MINRES": "indefinite", "GMRES": "general", "BiCGStab": "general"}
WIDE = {"f": np.longdouble, "c": np.clongdouble, "V": np.longdouble}
CASES = [
    *((name, "float32", 1e-5, 30) for name in KINDS), ("CG", "float64", 1e-10, 250),
    ("MINRES", "complex128", 1e-10, 250), ("GMRES", "float64", 1e-10, 150),
    ("BiCGStab", "complex64", 1e-5, 30), ("CG", "bfloat16", 0.05, 30), ("GMRES", "float16", 0.05, 2),
]  # fmt: skip


def problems(kind, dtype, reach):
    """Matrices of condition 3, right-hand sides, and the matrices' sizes."""
    rng = np.random.default_rng(7)
    x = rng.standard_normal((2, N, N)) + (
        1j * rng.standard_normal((2, N, N)) if dtype.kind == "c" else 0
    )
    q, p = (np.linalg.qr(y)[0] for y in x)
    values = 3.0 ** -np.linspace(0, 1, N)
    if kind == "indefinite":
        values *= (-1.0) ** np.arange(N)
    a = 2 * np.eye(N) + (q * values) @ p if kind == "general" else (q * values) @ q.conj().T
    sizes = 10.0 ** np.array([[0, 0], [reach, 0], [-reach, 0], [reach, reach], [-reach, -reach]])
    a, b = a * sizes[:, :1, None], rng.standard_normal(N) * sizes[:, 1:]
    return a.astype(dtype), b.astype(dtype), sizes[:, 0]


def length(x):
    size = np.abs(x).max(-1, keepdims=True)
    return np.sqrt((np.abs(x / size) ** 2).sum(-1)) * size[..., 0]


@pytest.mark.parametrize("name, dtype, rtol, reach", CASES)
def test_what_is_reached_at_size_1_is_reached_at_all_sizes(name, dtype, rtol, reach):
    kind, dtype = KINDS[name], xnp.zeros((), dtype).dtype
    a, b, sizes = problems(kind, dtype, reach)

    def solve(a, b, near):
        operator = la.Matrix(a, symmetric=kind != "general", positive=kind == "definite")
        solver = getattr(la, name)(rtol=rtol, max_steps=100)
        near = la.Diagonal(near, positive=True)
        plain = la.linear_solve(operator, b, solver, report=True)
        return plain, la.linear_solve(operator, b, solver, preconditioner=near, report=True)

    near = ((1 + np.arange(N) / N) / sizes[:, None]).astype(dtype)
    wide = [np.asarray(y).astype(WIDE[dtype.kind]) for y in (a, b)]
    for answer in xc.jit(xc.vmap(solve))(a, b, near):
        x = np.asarray(answer.value).astype(WIDE[dtype.kind])
        off = length(wide[1] - np.einsum("kij,kj->ki", wide[0], x)) / length(wide[1])
        assert np.asarray(answer.ok).all() and (off <= 1.01 * rtol).all()


def test_bounds_of_chebyshev_are_those_of_the_matrix_at_all_sizes():
    for size in (1.0, 1e30, 1e-30):
        a, solver = (
            xnp.diag(xnp.linspace(0.5, 1, N) * size),
            la.Chebyshev(bounds=(0.4 * size, 1.1 * size)),
        )
        answer = la.linear_solve(a, a @ xnp.ones(N), solver, report=True)
        assert answer.ok and np.allclose(answer.value, 1, rtol=1e-4)


def test_what_counts_as_zero_is_no_success():
    """At 1e-37 elements of a or b vanish in products on many processors, and x where it gets its size back."""
    a, b, _ = problems("general", np.dtype(np.float32), 0)
    for sa, sb in ((1e-36, 1), (1e-36, 1e-36), (1, 1e-36), (1, 1e-37)):
        for solver in (la.GMRES(rtol=1e-5), la.BiCGStab(rtol=1e-5)):
            with np.errstate(under="ignore"):
                given = (
                    (a[0] * np.float32(sa)).astype(np.float32),
                    (b[0] * np.float32(sb)).astype(np.float32),
                )
            answer = la.linear_solve(*given, solver, report=True)
            x = np.asarray(answer.value).astype(np.longdouble)
            off = length(given[1] - given[0].astype(np.longdouble) @ x) / length(
                given[1].astype(np.longdouble)
            )
            assert off <= 1.01e-5 or not answer.ok


def test_what_counts_as_zero_is_no_success_from_a_start_far_away():
    """There the residual is large, and what vanishes, divided by it, would vanish itself."""
    rng = np.random.default_rng(3)
    row = np.logspace(0, -8, N)
    a, near = [], rng.standard_normal((12, N)) * 1e-144
    for _ in near:
        q = np.linalg.qr(rng.standard_normal((N, N)))[0]
        a.append(row[:, None] * ((q * np.linspace(1, 3, N)) @ q.T) * row)
    a = np.stack(a)
    b = np.einsum("kij,kj->ki", a, rng.standard_normal((12, N))) * 1e-300
    a, solver = a * 1e-150, la.CG(rtol=1e-10, max_steps=100)

    def solve(a, b, x0):
        return la.linear_solve(
            la.Matrix(a, symmetric=True, positive=True), b, solver, x0=x0, report=True
        )

    answer = xc.jit(xc.vmap(solve))(a, b, near)
    x = np.asarray(answer.value).astype(np.longdouble)
    off = length(b - np.einsum("kij,kj->ki", a.astype(np.longdouble), x)) / length(
        b.astype(np.longdouble)
    )
    assert (off[np.asarray(answer.ok)] <= 1.01e-10).all()


@pytest.mark.parametrize(
    "dtype, rtol, reach",
    [
        ("float32", 1e-5, 15), ("float32", 1e-5, 30), ("float64", 1e-10, 150), ("complex64", 1e-5, 30),
        ("complex128", 1e-10, 250), ("bfloat16", 0.05, 30),
    ],
)  # fmt: skip
def test_lsmr_reaches_at_all_sizes_what_it_reaches_at_size_1(dtype, rtol, reach):
    """Of matrices, right-hand sides and damping; where x leaves the range there is no success."""
    dtype = xnp.zeros((), dtype).dtype
    a, b, _ = problems("general", dtype, 0)
    sizes = 10.0 ** (np.stack(np.meshgrid(*[[0, -reach, reach]] * 2, [-1, 0, 1])).reshape(3, -1))
    a = (a[:1, :, : N - 5] * sizes[0][:, None, None]).astype(dtype)
    b = (b[:1] * sizes[1][:, None]).astype(dtype)
    damp = (sizes[0] * sizes[2]).astype(np.dtype(dtype).type(0).real.dtype)

    def solve(a, b, damp):
        run = lambda **k: la.lsmr(a, b, rtol=rtol, max_steps=100, report=True, **k)
        return run(), run(damp=damp)

    limits = xnp.finfo(dtype)
    wide_a, wide_b, wide_damp = (np.asarray(y).astype(WIDE[dtype.kind]) for y in (a, b, damp))
    for weight, answer in zip(
        (0 * wide_damp, wide_damp), xc.jit(xc.vmap(solve))(a, b, damp), strict=True
    ):
        x = np.asarray(answer.value).astype(WIDE[dtype.kind])
        finite, ok = np.isfinite(x).all(-1), np.asarray(answer.ok)
        back = wide_a.conj().swapaxes(1, 2)
        x = np.where(finite[:, None], x, 0)
        left = wide_b - np.einsum("kmn,kn->km", wide_a, x)
        left = np.einsum("knm,km->kn", back, left) - weight[:, None] ** 2 * x
        share = length(left) / length(np.einsum("knm,km->kn", back, wide_b))
        assert finite[ok].all() and (share[ok] <= 1.01 * rtol).all()
        inside = finite & (np.abs(x).max(-1) > float(limits.tiny) / float(limits.eps))
        assert ok[inside].all() and inside.sum() >= 18
