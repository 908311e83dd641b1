"""Solvers tell the truth: sizes that squares cannot hold, statuses, checks, errors that explain."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import Status
from xcore.linalg._digits import digits_of, of_truth

la = xc.linalg
rng = np.random.default_rng(0)
N = 8
CHAIN = 3 * np.eye(N) - np.eye(N, k=1) - np.eye(N, k=-1)
SOLVERS = {
    "cg": la.CG(), "minres": la.MINRES(), "bicgstab": la.BiCGStab(), "gmres": la.GMRES(restart=5),
    "chebyshev": la.Chebyshev(bounds=(1.0, 5.0)),
}  # fmt: skip


@pytest.mark.parametrize("dtype, power", [("float64", 530), ("float32", 66), ("complex128", 530)])
def test_sizes_of_right_hand_sides_change_nothing_but_the_size(dtype, power):
    """2^±power has no square. Powers of two are kept: all digits are as for numbers of size 1."""
    b, x0 = rng.standard_normal((2, N)).astype(dtype)
    a = la.Matrix(CHAIN.astype(dtype), symmetric=True, positive=True)
    sizes = 2.0 ** np.array([0, -power, power])

    def every(b, x0):
        found = {k: la.linear_solve(a, b, s, x0=x0, report=True) for k, s in SOLVERS.items()}
        plain = la.linear_solve(a, b, la.CG(rtol=0, atol=1e-3), report=True)
        return found | {"lsmr": la.lsmr(a, b, report=True), "absolute": plain}

    columns = ((x[:, None] * sizes).astype(dtype) for x in (b, x0))
    for name, answer in xc.jit(every)(*columns).items():
        x, steps = (
            np.asarray(answer.value).astype(np.result_type(dtype, float)),
            answer.steps,
        )
        if name == "absolute":  # this goal does not move with the size
            assert int(steps[0]) > 0 == int(steps[1]) and answer.status[1] == 0, name
            continue
        assert np.all(answer.ok) and len(set(np.asarray(steps).tolist())) == 1, name
        assert (x / sizes == x[:, :1]).all(), name
        assert np.allclose(CHAIN @ x[:, 0], b, atol=1e-4), name
        if name != "lsmr":
            left = np.linalg.norm(CHAIN @ x / sizes - b[:, None], axis=0)
            assert np.allclose(np.asarray(answer.error, float) / sizes, left, atol=1e-6)


class Optimist(la.CG):
    """Believes after every step that no residual is left."""

    def advance(self, p, s):
        return super().advance(p, s) | {"size": 0 * s["size"]}


def test_success_is_what_the_residual_says():
    answer = la.linear_solve(CHAIN, np.arange(N), Optimist(), report=True)
    assert "no step improves" in answer.message and answer.error > 0.1
    stiff = np.diag(10.0 ** np.arange(0, 8)).astype(np.float32)
    fine = la.linear_solve(stiff, np.ones(8, np.float32), la.CG(rtol=1e-6), report=True)
    assert fine.ok
    never = la.linear_solve(CHAIN, np.arange(1.0, N + 1) / 3, la.CG(rtol=1e-17), report=True)
    assert never.status in (Status.max_steps, Status.stagnation)  # no rounded x is as good as that


ONE, PLUS = la.Matrix(np.eye(6)), np.arange(1.0, 7)


def solved(**settings):
    return lambda: la.linear_solve(ONE, PLUS, **settings)


def chebyshev(*bounds):
    return solved(solver=la.Chebyshev(bounds=bounds))


BAD = {
    "restart": (solved(solver=la.GMRES(restart=0)), "GMRES's restart must be 1 or more"),
    "rtol": (solved(solver=la.CG(rtol=float("nan"))), "CG's rtol must be 0 or more"),
    "steps": (solved(solver=la.CG(max_steps=-1)), "max_steps must be 0"),
    "bounds in order": (chebyshev(3.0, 1.0), "0 < low <= high"),
    "bounds above 0": (chebyshev(0.0, 1.0), "0 < low <= high"),
    "bounds that are numbers": (chebyshev(1.0, np.nan), "0 < low <= high"),
    "two bounds": (chebyshev(1.0, 2.0, 3.0), "0 < low <= high"),
    "preconditioner": (solved(preconditioner=np.eye(3)), r"preconditioner of shape \(6, 6\)"),
    "preconditioner's result": (solved(preconditioner=lambda x: x[:2]), "to such vectors"),
    "complex preconditioner": (solved(preconditioner=1j * np.eye(6)), "real preconditioner"),
    "complex x0": (solved(x0=1j * PLUS), "real x0"),
    "no negative matrix for CG": (
        lambda: la.linear_solve(np.diag([1.0, -1, 2]), np.ones(3), la.CG()), "not positive definite"
    ),
    "lsmr": (lambda: la.lsmr(ONE, PLUS, rtol=-1.0), "rtol must be 0"),
    "operators are no divisors": (lambda: 2 / ONE, "linear_solve"),
    "powers": (lambda: ONE**0.5, "exponent must be an int"),
    "operators are no factors": (lambda: ONE * ONE, "need a number"),
    "rows on the left": (lambda: np.ones(5) @ ONE, "of 6 columns"),
    "refine": (lambda: la.solve(np.eye(2), np.ones(2), refine=-1), "refine must be an int"),
    "bands": (lambda: la.solve_banded((-1, 1), np.ones((1, 3)), np.ones(3)), "0 or more"),
    "half a band": (lambda: la.solveh_banded(np.ones(3), np.ones(3)), "fewer than two axes"),
    "band": (lambda: la.cholesky_banded(np.ones(3)), "fewer than two axes"),
    "Sylvester": (lambda: la.solve_sylvester(np.eye(2), np.eye(3), np.ones((3, 2))), r"need a \(..., m, m\), b"),
    "overflow": (lambda: la.solve(np.eye(2) * 1e-300, np.full(2, 1e300)), "overflowed"),
    "no root": (lambda: la.sqrtm(np.eye(3, k=1)), "no square root"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_explained(case):
    call, told = BAD[case]
    with pytest.raises(xc.errors.XcoreError, match=told):
        call()


SINGULAR = {  # what is called, what is said, and the number of the pivot
    "field": (lambda: la.gauss_inv(np.ones((2, 2), int), field=7), "over this field: column 1", 1),
    "columns": (lambda: la.lstsq(np.ones((4, 2)), np.ones(4), method="qr"), "method='svd'", 1),
    "Sylvester": (
        lambda: la.solve_sylvester(np.diag([2.0, 1]), -np.eye(2), np.ones((2, 2))), "eigenvalue 1", 1
    ),
    "Lyapunov": (lambda: la.solve_continuous_lyapunov(np.diag([1.0, -1]), np.eye(2)), "eigenvalue 0", 0),
    "Stein": (lambda: la.solve_discrete_lyapunov(-np.eye(2), np.eye(2)), "λ conj μ = 1", 0),
    "logarithm": (lambda: la.logm(np.ones((2, 2))), "no solution", 1),
    "Jacobi": (lambda: la.jacobi_preconditioner(np.diag([1.0, 0])), "singular", 1),
    "incomplete": (lambda: la.incomplete_cholesky(-np.ones((2, 3))), "not positive definite", 0),
    "Toeplitz": (lambda: la.solve_toeplitz(np.ones(3), np.ones(3)), "singular", 1),
    "Cholesky": (lambda: la.cholesky(np.diag([1.0, 2, -3, 4])), "linalg.eigvalsh", 2),
    "NaN": (lambda: la.solve(np.full((2, 2), np.nan), np.ones(2)), "holds NaN or infinities", 0),
}  # fmt: skip


@pytest.mark.parametrize("case", SINGULAR)
def test_singular_matrices_are_named(case):
    call, told, pivot = SINGULAR[case]
    with pytest.raises(xc.errors.SingularMatrixError, match=told) as caught:
        call()
    assert caught.value.pivot == pivot


def test_errors_know_matrix_and_condition():
    with pytest.raises(xc.errors.SingularMatrixError) as caught:
        la.cholesky(np.stack([np.eye(2), np.diag([2.0, -1])]))
    assert (caught.value.pivot, caught.value.matrix, caught.value.condition) == (1, (1,), 2.0)
    with pytest.raises(xc.errors.SingularMatrixError) as caught:
        la.solve(np.ones((2, 2)), np.ones(2))
    assert caught.value.condition == np.inf


ONES = np.ones((2, 2))
CHECKED = {
    "CG ended with status 1": lambda a: la.linear_solve(
        a + np.eye(2), PLUS[:2], la.CG(max_steps=0)
    ),
    "lsmr ended with status 1": lambda a: la.lsmr(a, PLUS[:2], max_steps=0),
    "column rank": lambda a: la.lstsq(a, PLUS[:2], method="qr"),
    "logm": la.logm,
    "solve_sylvester": lambda a: la.solve_sylvester(a, -a, a),
    "solve_toeplitz": lambda a: la.solve_toeplitz(a[0], PLUS[:2]),
}


def test_compiled_code_leaves_checks():
    for told, f in CHECKED.items():
        err, _ = xc.checkify.checkify(xc.jit(f))(ONES)
        assert told in err.get(), told


def test_least_squares_report_rank_and_residual():
    a, b = np.stack([ONES, np.eye(2)]), np.array([[1.0, 3], [1, 2]])[..., None]
    for method, status in (("qr", [Status.singular, 0]), ("svd", [0, 0])):
        answer = la.lstsq(a, b, method=method, report=True)
        assert np.asarray(answer.status).tolist() == status
        assert np.asarray(answer.certificate["rank"]).tolist() == [1, 2]
    assert np.allclose(answer.certificate["residual"], [[2**0.5], [0]])
    small = np.stack([np.ones(3), 1e-20 * np.arange(3)], axis=1)  # columns may differ in size
    assert np.allclose(la.lstsq(small, np.arange(3.0), method="qr"), [0, 1e20], atol=1e-12)


def test_arrays_beside_operators():
    a = rng.standard_normal((3, 3))
    A, B = la.Matrix(a), np.arange(9.0).reshape(3, 3)
    whole = {
        "sum": (B + A, B + a), "difference": (B - A, B - a), "quotient": (A / 2, a / 2),
        "power": (A**3, a @ a @ a), "number": (np.float64(2) * A, 2 * a),
        "kronecker": (la.Kronecker(a, B), np.kron(a, B)), "turned": (la.Kronecker(a, B).T, np.kron(a, B).T),
    }  # fmt: skip
    for name, (operator, expected) in whole.items():
        assert np.allclose(operator.as_matrix("float64"), expected), name
    for left in (B, B[0], xnp.asarray(B)):
        assert np.allclose(left @ A, np.asarray(left) @ a)


EMPTY = {
    "solve": lambda a: la.solve(a, a), "inv": la.inv, "det": la.det, "slogdet": lambda a: la.slogdet(a)[1],
    "lu": lambda a: la.lu(a)[2], "lu_solve": lambda a: la.lu_solve(la.lu_factor(a), a),
    "pivoted": lambda a: la.qr(a, pivoting=True)[1], "eigvals": lambda a: xnp.abs(la.eigvals(a)),
    "pinv": lambda a: la.pinv(a, hermitian=True), "orth": lambda a: la.orth(a, size=1),
    "gauss": lambda a: la.gauss_solve(a, a), "gauss_inv": la.gauss_inv, "logm": lambda a: la.logm(a).real,
    "toeplitz": lambda a: la.solve_toeplitz(a[..., 0], a) if a.shape[-1] else a,
    "lstsq": lambda a: la.lstsq(a, a, method="qr"),
}  # fmt: skip


@pytest.mark.parametrize("shape", [(0, 0), (0, 2, 2), (2, 0, 0)])
def test_nothing_is_solved_for_and_differentiated(shape):
    a = np.zeros(shape)

    def every(a):
        values = {k: f(a) for k, f in EMPTY.items()}
        return values, {k: xc.grad(lambda a, f=f: f(a).sum())(a) for k, f in EMPTY.items()}

    values, slopes = xc.jit(every)(a)
    for name, f in EMPTY.items():
        assert values[name].shape[: len(shape) - 2] == shape[:-2], name
        assert slopes[name].shape == shape, name
        assert len(shape) == 3 or f(a).shape == values[name].shape, name
    if shape == (0, 2, 2):
        lanes = xc.jit(xc.vmap(lambda a: {k: f(a) for k, f in EMPTY.items()}))(a)
        assert all(lanes[k].shape == values[k].shape for k in EMPTY)
    bands = np.zeros((*shape[:-2], 2, shape[-1]))
    assert la.cholesky_banded(bands).shape == bands.shape
    assert la.solveh_banded(bands, np.zeros(shape)).shape == shape


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_digits_are_relative_to_the_truth_whatever_was_found(dtype):
    """Results from nothing to many times the true one, each with its error as an exact bound."""
    found = np.array([0.0, 1e-3, 0.4, 0.6, 0.999, 1, 1.001, 1.5, 1.9, 2.1, 50], dtype)
    with np.errstate(divide="ignore"):
        off = of_truth(np.abs(found - 1) / found)
    true = np.abs(found - 1)
    told = np.asarray(digits_of(off, np.finfo(dtype).eps))
    assert (true <= np.asarray(off) * (1 + 1e-4)).all()
    assert (told[[1, 2, 9, 10]] == 0).all() and told[4] > 2.9 and np.isfinite(told).all()
