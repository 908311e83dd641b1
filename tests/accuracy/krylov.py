"""Iterative methods: what they claim of residuals, gradients, eigenvalues that were asked for."""

import numpy as np

import xcore as xc
from tests.accuracy import wide as w
from tests.accuracy.book import Claim, Routine
from tests.accuracy.dense import SIZES_OF
from tests.accuracy.matrices import eps, matrix, name_of, sides
from tests.accuracy.spectra import angles

la = xc.linalg
SIZES = (7, 33, 100)
# what is asked for, within what rounding allows
RTOL = {"f16": 1e-2, "bf16": 5e-2, "f32": 1e-5, "f64": 1e-11, "c64": 1e-5, "c128": 1e-11}
PAIRS = 3


def rtol_of(a):
    return RTOL[name_of(a.dtype)]


def _system(kind):
    def problem(family, n, dtype):
        if n not in SIZES_OF[name_of(dtype)]:
            return None
        a = matrix(family, n, dtype, kind)
        return a, sides(a)[:, 0]

    return problem


def _solved_by(make, kind):
    def call(a, b):
        operator = la.Matrix(a, symmetric=kind != "general", positive=kind == "definite")
        solver = make(rtol=rtol_of(a), max_steps=400)
        return la.linear_solve(operator, b, solver, report=True)

    return call


def _share(left, size):
    """|left| / |size|; what is not finite is infinitely far."""
    if not np.isfinite(left).all():
        return np.inf
    left, size = (w.lengths(x[:, None])[0] for x in (left, size))
    return float(left / size) if size > 0 else (0.0 if left == 0 else np.inf)


def _residual(arrays, answer):
    (a, b), goal = arrays, rtol_of(arrays[0])
    share = _share(w.wide(b) - w.wide(a) @ w.wide(answer.value), w.wide(b))
    return [Claim("ok: |b - a x| <= rtol |b|", share, 1.01 * goal, answer.status == 0)]


def _gradient(arrays, answer):
    (a, b), goal = map(w.wide, arrays), max(rtol_of(arrays[0]), 100 * eps(arrays[0].dtype))
    left = w.adjoint(a) @ (b - a @ w.wide(answer.value))
    share = _share(left, w.adjoint(a) @ b)
    return [Claim("ok: |aᴴ(b - a x)| <= rtol |aᴴ b|", share, 1.01 * goal, answer.status == 0)]


def _tall(family, n, dtype):
    if n not in SIZES_OF[name_of(dtype)]:
        return None
    a = matrix(family, n, dtype, "tall")
    return a, sides(a)[:, 0]


def _symmetric(family, n, dtype):
    if n < 3 * PAIRS or n not in SIZES_OF[name_of(dtype)]:
        return None
    return (matrix(family, n, dtype, "symmetric"),)


def _pairs(wanted, power=0.75):
    """Of the k smallest or largest: that they are those, with the error told; and their angles."""

    def judge(arrays, answer):
        (a,), (values, v), stats = arrays, answer.value, answer.certificate
        true, vectors = w.eigh(a)
        true, vectors = (true[:PAIRS], vectors[:, :PAIRS]) if wanted == "smallest" else (true[-PAIRS:], vectors[:, -PAIRS:])  # fmt: skip
        size, e = np.abs(w.eigh(a)[0]).max(), eps(a.dtype)
        error = np.abs(w.widest(values) - true)
        error = np.where(np.isfinite(error), error, np.inf)
        every = w.eigh(a)[0]
        nearest = np.abs(w.widest(values)[:, None] - every).min(1)
        apart = np.abs(true[:, None] - every)
        apart = np.sort(apart, axis=1)[:, 1]
        clear = (apart > 1e-13 * size) & (stats["angle"] < 1) & (answer.status == 0)
        bound = np.maximum(w.widest(stats["error"]), 0)
        return [
            # success is a residual below that power of the precision times the norm: it may hide a smaller one
            Claim("ok: those wanted", error, np.maximum(bound, e**power * size), answer.status == 0, floor=e * size),
            Claim("error of w", nearest, bound, np.isfinite(bound), floor=e * size),
            Claim("angle of v", angles(np.nan_to_num(w.wide(v)), vectors, clear), w.widest(stats["angle"]), clear, floor=e),
        ]  # fmt: skip

    return judge


def _row(name, problem, call, judge):
    return Routine(name, "iterative", problem, call, judge, sizes=SIZES)  # fmt: skip


ROUTINES = [
    *(
        _row(name, _system(kind), _solved_by(getattr(la, name), kind), _residual)
        for name, kind in (("CG", "definite"), ("MINRES", "symmetric"), ("GMRES", "general"), ("BiCGStab", "general"))
    ),
    _row("lsmr", _tall, lambda a, b: la.lsmr(a, b, rtol=max(rtol_of(a), 100 * eps(a.dtype)), report=True), _gradient),
    _row("eigsh-largest", _symmetric, lambda a: la.eigsh(a, PAIRS, report=True), _pairs("largest")),
    _row("eigsh-smallest", _symmetric, lambda a: la.eigsh(a, PAIRS, which="SA", report=True), _pairs("smallest")),
    _row("lobpcg", _symmetric, lambda a: la.lobpcg(a, PAIRS, report=True), _pairs("smallest", 0.5)),
]  # fmt: skip
