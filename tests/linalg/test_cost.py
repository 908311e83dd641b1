"""What ``report=True`` adds to a call: passes over matrices, counted in the program, not timed."""

import collections

import numpy as np
import pytest

import xcore as xc

la = xc.linalg
N, FEW = 40, 8  # more columns than these are a matrix

rng = np.random.default_rng(0)
A, B = rng.standard_normal((N, N)), rng.standard_normal(N)
H, BAND = A + A.T, np.add(A[:3], [[0], [9], [0]])
DEFINITE = A @ A.T + np.eye(N)
LU, CHOLESKY = la.lu_factor(A), np.linalg.cholesky(DEFINITE)

FACTORISATIONS = ("lu", "cholesky", "eigh", "eig", "svd", "qr")
LOOPS = ("while", "scan", "tridiagonal_solve")


def programs(eqn):
    """Programs in an equation that run; of solutions the derivatives' do not."""
    held = [eqn.params["solve"]] if eqn.op.name == "linear_solve" else eqn.params.values()
    for value in held:
        for part in value if isinstance(value, (tuple, list)) else (value,):
            if hasattr(part, "eqns"):
                yield part


def passes(program, found=None):
    """How often a program does what reads a whole matrix."""
    found = collections.Counter() if found is None else found
    for eqn in program.eqns:
        name, shapes = eqn.op.name, [xc.typeof(x).shape for x in eqn.inputs]
        if name in ("triangular_solve", "dot_general") and (N, N) in shapes:
            kind = "solve" if name == "triangular_solve" else "times"
            wide = min(map(np.prod, shapes)) > N * FEW
            found[f"{kind} matrix" if wide else kind] += 1
        if name in FACTORISATIONS + LOOPS:
            found[name] += 1
        for inner in programs(eqn):
            passes(inner, found)
    return found


# call: what a report adds, and nothing else. Equal factorisations are one when compiled.
MORE = {
    "solve": (lambda **k: la.solve(A, B, **k), {"solve": 4, "times": 4}),
    # two of these run only where numbers above the diagonal are not finite
    "definite": (lambda **k: la.solve(DEFINITE, B, "pos", **k), {"solve": 4, "times": 7}),
    "inv": (lambda **k: la.inv(A, **k), {"times matrix": 2, "times": 2}),  # two of 16 columns
    "lstsq": (lambda **k: la.lstsq(A, B, **k), {"svd": 1, "times": 2}),
    "lstsq qr": (lambda **k: la.lstsq(A, B, method="qr", **k), {"solve": 2, "times": 2}),
    "pinv": (lambda **k: la.pinv(A, **k), {"svd": 1, "times matrix": 2}),
    "det": (lambda **k: la.det(A, **k), {"lu": 1, "solve": 4, "times": 1}),
    "slogdet": (lambda **k: la.slogdet(A, **k), {"lu": 1, "solve": 4, "times": 1}),
    "eigh": (lambda **k: la.eigh(H, **k), {"times matrix": 1, "times": 2}),
    "eigh of two": (
        lambda **k: la.eigh(H, DEFINITE, **k),
        {"cholesky": 1, "times matrix": 2, "solve matrix": 1, "times": 4, "solve": 1},
    ),
    "eig": (
        lambda **k: la.eig(A, **k), {"lu": 1, "times matrix": 2, "solve matrix": 2, "times": 3},
    ),
    "svd": (lambda **k: la.svd(A, **k), {"times matrix": 2, "times": 4}),
    "sylvester": (
        lambda **k: la.solve_sylvester(A, DEFINITE, H, "schur", **k), {"scan": 3, "solve": 3, "times": 3, "times matrix": 2},
    ),
    "triangular": (lambda **k: la.solve_triangular(DEFINITE, B, **k), {"solve": 2, "times": 4}),
    "cho_solve": (lambda **k: la.cho_solve(CHOLESKY, B, **k), {"solve": 4, "times": 8}),
    "lu_solve": (lambda **k: la.lu_solve(LU, B, **k), {"solve": 4, "times": 8}),
    "banded": (lambda **k: la.solve_banded((1, 1), BAND, B, **k), {"scan": 4}),
    "tridiagonal": (
        lambda **k: la.solve_tridiagonal(B, B + 9, B, B, **k), {"tridiagonal_solve": 2},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MORE)
def test_passes_of_reports(name):
    run, more = MORE[name]
    made = [xc.make_jaxpr(lambda r=r: xc.tree.leaves(run(report=r)))() for r in (False, True)]
    plain, told = map(passes, made)
    assert {k: told[k] - plain[k] for k in told if told[k] != plain[k]} == more


@pytest.mark.parametrize("name, routine", [("det", "getrf"), ("lstsq", "gesdd"), ("pinv", "gesdd")])
def test_factorisations_serve_their_reports(name, routine):
    run = {"det": la.det, "lstsq": lambda a, report: la.lstsq(a, B, report=report), "pinv": la.pinv}
    text = xc.jit(lambda a: run[name](a, report=True)).lower(A).compile().as_text()
    assert text.count(f"lapack_d{routine}") == 1
