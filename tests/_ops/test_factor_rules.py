"""Derivatives of factorisations against differences, and lanes in vmap against loops."""

from typing import NamedTuple

import numpy as np
import pytest

import xcore as xc
from tests._ops.matrices import arrays, close, definite, hermitian, random
from xcore._ops import families, matrices
from xcore._ops.elementwise import mul
from xcore._ops.factor import (
    cholesky,
    exchange_rows,
    lu,
    triangular_solve,
    tridiagonal_solve,
)
from xcore._ops.orthogonal import qr
from xcore._ops.spectral import eig, eigh, svd
from xcore._transforms import api

WIDE = ("float64", "complex128")


class Sample(NamedTuple):
    """A function of arrays, its arguments in a dtype, and what of its results is determined."""

    name: str
    function: object
    make: object
    invariant: object = None  # what depends on no free phase, for complex matrices


def _times_adjoint(u):
    return matrices.matmul(u, matrices.adjoint(u))


def _weighted(u, s):
    """u diag(1, 2, …) uᴴ: a different weight for each vector, free of its phase."""
    n = s.shape[-1]
    weights = np.arange(1.0, n + 1) * np.ones(s.shape)
    return matrices.matmul(matrices.times_columns(u, weights.astype(s.dtype)), matrices.adjoint(u))


def _both_phases(s, u, vh):
    return [s, _weighted(u, s), _weighted(matrices.adjoint(vh), s), matrices.matmul(u, vh)]


def _square(dtype, seed=0):
    return [random((3, 3), dtype, seed)]


def _tall(dtype):
    return [random((5, 3), dtype)]


def _wide(dtype):
    return [random((3, 5), dtype)]


def _triangle_and_side(dtype, left=True):
    a = random((3, 3), dtype) + 3 * np.eye(3, dtype=dtype)
    return [a, random((3, 2) if left else (2, 3), dtype, 1)]


def _diagonals(dtype):
    dl, d, du = (random((4,), dtype, seed) for seed in range(3))
    return [dl, d + 4, du, random((4, 2), dtype, 3)]


def _symmetrised(op):
    """The op of the Hermitian part of its argument, so that any change of the argument is legal."""

    def function(a):
        return op(
            matrices.in_dtype_of(
                mul(
                    families.add(a, matrices.adjoint(a)),
                    families.full_like_type(a.type.strong(), 0.5),
                ),
                a.type,
            )
        )

    return function


def _triangular(**settings):
    return lambda a, b: [triangular_solve(a, b, **settings)]


SAMPLES = [
    *[
        Sample(
            f"triangular_{'left' if left else 'right'}_{transpose}",
            _triangular(left=left, lower=lower, transpose=transpose, unit_diagonal=unit),
            lambda dtype, left=left: _triangle_and_side(dtype, left),
        )
        for left, lower, transpose, unit in [
            (True, True, "N", False),
            (False, True, "T", False),
            (True, False, "C", True),
            (False, False, "C", False),
        ]
    ],
    Sample("cholesky", lambda a: [cholesky(a)], lambda d: [definite(random((3, 3), d))]),
    Sample(
        "cholesky_symmetrised",
        _symmetrised(lambda a: [cholesky(a)]),
        lambda d: [definite(random((3, 3), d))],
    ),
    Sample("lu_square", lambda a: lu(a)[:1], _square),
    Sample("lu_tall", lambda a: lu(a)[:1], _tall),
    Sample("lu_wide", lambda a: lu(a)[:1], _wide),
    *[
        Sample(
            f"qr_{make.__name__}_{full}_{pivoting}",
            lambda a, full=full, pivoting=pivoting: qr(a, full=full, pivoting=pivoting)[:2],
            make,
        )
        for make, full, pivoting in [
            (_square, True, False),
            (_tall, False, False),
            (_wide, True, False),
            (_square, False, True),
            (_tall, False, True),
            (_wide, False, True),
        ]
    ],
    Sample(
        "exchange_rows",
        lambda x: [exchange_rows(x, np.array([3, 1, 2, 4], np.int32), reverse=True)],
        _tall,
    ),
    Sample("tridiagonal_solve", lambda *xs: [tridiagonal_solve(*xs)], _diagonals),
    Sample("eigvalsh", lambda a: eigh(a, vectors=False), _square),
    Sample(
        "eigh",
        lambda a: eigh(a, vectors=True),
        _square,
        lambda w, v: [w, _weighted(v, w)],
    ),
    Sample("svdvals", lambda a: svd(a, full=False, vectors=False), _tall),
    *[
        Sample(
            f"svd{make.__name__}", lambda a: svd(a, full=False, vectors=True), make, _both_phases
        )
        for make in (_square, _tall, _wide)
    ],
    Sample("eigvals", lambda a: eig(a, left=False, right=False), _square),
    Sample("eig", lambda a: eig(a, left=True, right=True), _square),
]
CASES = [(sample, dtype) for sample in SAMPLES for dtype in WIDE]
samples = pytest.mark.parametrize(
    ("sample", "dtype"), CASES, ids=[f"{sample.name}-{dtype}" for sample, dtype in CASES]
)


def determined(sample, dtype):
    """The sample's function, followed by what makes of its results what is determined."""
    invariant = sample.invariant if np.dtype(dtype).kind == "c" else None
    if invariant is None:
        return sample.function
    return lambda *xs: invariant(*sample.function(*xs))


def differences(f, xs, changes, step=1e-5):
    """Central differences, extrapolated to fourth order."""

    def at(h):
        return [np.asarray(y) for y in f(*[x + h * g for x, g in zip(xs, changes)])]

    one = [(p - m) / (2 * step) for p, m in zip(at(step), at(-step))]
    two = [(p - m) / (4 * step) for p, m in zip(at(2 * step), at(-2 * step))]
    return [(4 * a - b) / 3 for a, b in zip(one, two)]


def pairing(xs, ys):
    return sum(np.real(np.sum(np.asarray(x) * np.asarray(y))) for x, y in zip(xs, ys))


@samples
def test_derivatives(sample, dtype):
    f = xc.jit(determined(sample, dtype))
    xs = sample.make(dtype)
    changes = [random(x.shape, x.dtype, 10 + i) for i, x in enumerate(xs)]

    def both(xs, changes, cts):
        outs, tangents = api.jvp(f, tuple(xs), tuple(changes))
        again, pull = api.vjp(f, *xs)
        return outs, tangents, pull(list(cts) if isinstance(again, list) else tuple(cts))

    cts = [random(y.shape, y.dtype, 20 + i) for i, y in enumerate(arrays(f(*xs)))]
    _, tangents, pulled = xc.jit(both)(xs, changes, cts)
    for got, want in zip(tangents, differences(f, xs, changes)):
        np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-7 * max(1, np.abs(want).max()))
    left, right = pairing(tangents, cts), pairing(pulled, changes)
    np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-10)


SECOND = ["cholesky", "lu_tall", "qr__tall_False_False", "eigh", "svd_wide"]


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.name in SECOND], ids=lambda s: s.name)
def test_second_derivatives(sample):
    f = determined(sample, "float64")
    xs = sample.make("float64")
    changes = [random(x.shape, x.dtype, 10 + i) for i, x in enumerate(xs)]

    def first(*xs):
        return api.jvp(f, xs, tuple(changes))[1]

    first = xc.jit(first)
    _, tangents = xc.jit(lambda xs: api.jvp(first, tuple(xs), tuple(changes)))(xs)
    for got, want in zip(tangents, differences(first, xs, changes)):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6 * max(1, np.abs(want).max()))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.name)
def test_vmap_is_a_loop(sample):
    lanes = [
        sample.make("complex128"),
        [
            2 * x + 0.1 * np.eye(*x.shape[-2:]) if x.ndim > 1 else x + 1
            for x in sample.make("complex128")
        ],
    ]
    f = determined(sample, "complex128")
    stacked = tuple(np.stack(xs) for xs in zip(*lanes))
    changes = tuple(random(x.shape, x.dtype, 10 + i) for i, x in enumerate(stacked))
    outs, tangents = xc.jit(lambda xs, gs: api.jvp(xc.vmap(f), xs, gs))(stacked, changes)
    once = xc.jit(lambda xs, gs: api.jvp(f, xs, gs))
    for lane, xs in enumerate(lanes):
        wanted, slopes = once(tuple(xs), tuple(g[lane] for g in changes))
        for y, want in zip(outs, wanted):
            close(y[lane], want, "float64", 30)
        for y, want in zip(tangents, slopes):
            close(y[lane], want, "float64", 1000)


LINEAR = [s for s in SAMPLES if s.name.startswith(("triangular", "exchange", "tridiagonal"))]


@pytest.mark.parametrize("sample", LINEAR, ids=lambda s: s.name)
def test_pulling_back_through_a_stack_is_a_loop(sample):
    """What is linear in its last argument is transposed with the lanes in front."""
    *known, last = sample.make("float64")
    stack = [np.stack([x, x[::-1] + 5 * np.eye(*x.shape) if x.ndim > 1 else 2 * x]) for x in known]
    sides = np.stack([last, 2 * last + 1])
    f = lambda *xs: sample.function(*xs)[0]
    pulled = lambda g, xs, ct: api.vjp(lambda x: g(*xs[:-1], x), xs[-1])[1](ct)[0]
    ct = random(np.shape(xc.vmap(f)(*stack, sides)), "float64", 3)
    got = xc.jit(lambda xs, ct: pulled(xc.vmap(f), xs, ct))([*stack, sides], ct)
    for lane in range(2):
        want = pulled(f, [*[x[lane] for x in stack], sides[lane]], ct[lane])
        close(got[lane], want, "float64", 100)


@pytest.mark.parametrize("left", [True, False])
def test_vmap_of_one_matrix_with_many_sides(left):
    a, b = _triangle_and_side("float64", left)
    sides = np.stack([b, 2 * b, b + 1])
    solve = _triangular(left=left, lower=True, transpose="T", unit_diagonal=False)
    got = xc.vmap(lambda b: solve(a, b)[0])(sides)
    for lane, side in enumerate(sides):
        close(got[lane], solve(a, side)[0], "float64")


def test_eigh_derivatives_with_repeated_eigenvalues():
    """Values and projectors on groups of equal ones have finite, right derivatives."""
    rotation = np.linalg.qr(random((4, 4), "float64"))[0]
    a = rotation @ np.diag([1.0, 1.0, 1.0, 5.0]) @ rotation.T
    change = hermitian(random((4, 4), "float64", 1))

    def projector(a):
        w, v = eigh(a, vectors=True)
        group = matrices.columns(v, 0, 3)
        return [_times_adjoint(group), families.reduce_sum(w, axes=(0,))]

    _, tangents = api.jvp(xc.jit(projector), (a,), (change,))
    want = differences(projector, [a], [change])
    np.testing.assert_allclose(tangents[0], want[0], atol=1e-8)
    np.testing.assert_allclose(tangents[1], want[1], atol=1e-8)
    function = xc.jit(lambda a: eigh(a, vectors=True))
    for exact in (np.eye(3), np.zeros((3, 3)), np.diag([1.0, 2.0, 2.0])):
        _, (w_dot, v_dot) = api.jvp(function, (exact,), (change[:3, :3].copy(),))
        assert np.isfinite(w_dot).all() and np.isfinite(v_dot).all()


@pytest.mark.parametrize("values", [[2.0, 2.0, 1.0], [3.0, 1.0, 0.0], [0.0, 0.0, 0.0]], ids=str)
def test_svd_derivatives_stay_finite(values):
    u, v = (np.linalg.qr(random((n, 3), "float64", n))[0] for n in (4, 3))
    a = (u * np.array(values)) @ v.T
    change = random((4, 3), "float64", 1)
    function = xc.jit(lambda a: svd(a, full=False, vectors=True))
    _, tangents = api.jvp(function, (a,), (change,))
    assert all(np.isfinite(t).all() for t in tangents)
