"""Operators, LSMR, Chebyshev, exponentials, eigenvalues and singular values without a matrix."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse.linalg

import xcore as xc
import xcore.numpy as xnp
from xcore.testing import check_grads

la = xc.linalg
rng = np.random.default_rng(0)


def chain(n):
    return 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)


def test_the_algebra_of_operators():
    a, b = rng.standard_normal((3, 3)), rng.standard_normal((3, 3))
    A, B = la.as_operator(a), la.as_operator(b)
    whole = {
        "sum": (A + B, a + b), "difference": (A - B, a - b), "product": (A @ B, a @ b),
        "scaled": (2.0 * A, 2 * a), "negative": (-A, -a), "kronecker": (la.Kronecker(A, B), np.kron(a, b)),
        "blocks": (la.Blocks(((A, B), (B, A))), np.block([[a, b], [b, a]])),
        "jacobian": (la.jacobian_operator(lambda x: xnp.tanh(xnp.asarray(a) @ x), np.zeros(3)), a),
        "sparse jacobian": (
            la.jacobian_operator(lambda x: xnp.tanh(xnp.asarray(a) @ x), np.zeros(3), sparse=True), a,
        ),
        "adjoint": (la.as_operator(a + 1j * b).H, (a + 1j * b).conj().T),
        "adjoint of a product": ((la.as_operator(a + 1j * b) @ B).H, ((a + 1j * b) @ b).conj().T),
        "adjoint twice": ((la.as_operator(a + 1j * b) @ B).H.H, (a + 1j * b) @ b),
        "diagonal": (la.Diagonal(xnp.asarray(a[0])), np.diag(a[0])),
    }  # fmt: skip
    operators = {k: v[0] for k, v in whole.items()}
    every = xc.jit(
        lambda ops: {
            k: (v.as_matrix("float64"), v.T.as_matrix("float64"), v.H.as_matrix("float64"))
            for k, v in ops.items()
        }
    )
    for name, (forward, backward, adjoint) in every(operators).items():
        assert np.allclose(forward, whole[name][1]), name
        assert np.allclose(adjoint, whole[name][1].conj().T), name
        assert np.allclose(backward, whole[name][1].T), name
    with pytest.raises(xc.errors.XcoreError, match="do not fit"):
        _ = A + la.as_operator(np.ones((2, 3)))


@pytest.mark.parametrize("shape", [(8, 4), (4, 8)])
def test_lsmr(shape):
    a, b = rng.standard_normal(shape), rng.standard_normal((shape[0], 2))
    solve = xc.jit(lambda a, b: la.lsmr(a, b, rtol=1e-13))
    assert np.allclose(solve(a, b), np.linalg.lstsq(a, b, rcond=None)[0], atol=1e-10)
    damped = la.lsmr(a, b[:, 0], damp=0.7, rtol=1e-13)
    expected = np.linalg.solve(a.T @ a + 0.49 * np.eye(shape[1]), a.T @ b[:, 0])
    assert np.allclose(damped, expected, atol=1e-10)
    if shape[0] > shape[1]:
        check_grads(solve, (a, b), order=1, rtol=1e-6, atol=1e-6)
        slope = lambda a: xc.grad(lambda a: solve(a, b).sum())(a).sum()
        assert xc.make_jaxpr(xc.grad(slope))(a)  # reverse over reverse goes by no loop
    else:
        tame = xc.jit(lambda a, b, damp: la.lsmr(a, b, damp=damp, rtol=1e-13))
        check_grads(tame, (a, b, 0.7), order=1, rtol=1e-6, atol=1e-6)


def test_lsmr_takes_the_steps_of_scipy():
    a = np.diag(np.linspace(1, 10, 30)) + 0.1 * rng.standard_normal((30, 30))
    b = np.ones(30)
    theirs = scipy.sparse.linalg.lsmr(a, b, atol=1e-10, btol=1e-10)
    ours = la.lsmr(a, b, rtol=1e-10, report=True)
    assert abs(int(ours.steps) - theirs[2]) <= 6
    assert np.allclose(ours.value, np.linalg.solve(a, b), rtol=1e-8)


def test_chebyshev():
    a = chain(20)
    w = np.linalg.eigvalsh(a)
    solver = la.Chebyshev(rtol=1e-10, max_steps=1000, bounds=(w[0], w[-1]))
    b = rng.standard_normal((20, 2))
    x = la.linear_solve(la.Matrix(a, symmetric=True, positive=True), b, solver)
    assert np.allclose(x, np.linalg.solve(a, b))
    wrong = solver.replace(bounds=(0.1, 1.0))
    assert not la.linear_solve(la.Matrix(a, symmetric=True), b[:, 0], wrong, report=True).ok


def test_right_hand_sides_take_the_dtype_of_products():
    a, b = chain(6), np.ones(6, np.float32)
    for factor, dtype in ((1, np.float64), (1 + 0j, np.complex128)):
        x = la.linear_solve(la.Matrix(a * factor), b, la.GMRES(), x0=b)
        assert x.dtype == dtype and np.allclose(a @ np.asarray(x), b)
    assert np.allclose(a @ np.asarray(la.lsmr(a, b)), b)
    assert np.allclose(la.expm_multiply(-a, b), scipy.linalg.expm(-a) @ b)


@pytest.mark.parametrize("norm", [1.0, 30.0])
def test_action_of_the_exponential(norm):
    a = rng.standard_normal((6, 6)) * norm / 6
    b = rng.standard_normal((6, 2))
    expected = scipy.linalg.expm(0.5 * a) @ b
    assert np.allclose(
        la.expm_multiply(a, b, 0.5), expected, rtol=1e-10, atol=1e-12 * abs(expected).max()
    )
    if norm == 1.0:
        check_grads(
            xc.jit(lambda a, b, t: la.expm_multiply(a, b, t, steps=2)), (a, b, 0.5), order=1
        )
    with pytest.raises(xc.errors.XcoreError, match="steps="):
        xc.jit(la.expm_multiply)(a, b)


# Eigenvalues


def test_eigenvalues_of_operators():
    a = chain(60) + np.diag(np.linspace(0, 1, 60))
    w, v = np.linalg.eigh(a)
    operator = la.FunctionOperator(lambda p, x: p @ x, xnp.asarray(a), (60, 60), symmetric=True)
    largest, vectors = la.eigsh(operator, 3, ncv=60)
    assert np.allclose(largest, w[-3:]) and np.allclose(a @ vectors, vectors * largest, atol=1e-7)
    near, vectors = la.eigsh(a, 3, sigma=1.7, ncv=30)
    expected = np.sort(w[np.argsort(abs(w - 1.7))[:3]])
    assert np.allclose(near, expected) and np.allclose(a @ vectors, vectors * near, atol=1e-6)
    assert np.allclose(la.eigsh(operator, 2, sigma=0.0, ncv=25)[0], w[:2])


def test_lobpcg():
    a = chain(60) + np.diag(np.linspace(0, 1, 60))
    w = np.linalg.eigvalsh(a)
    small, vectors = la.lobpcg(a, 3, preconditioner=np.linalg.inv(a), rtol=1e-9)
    assert np.allclose(small, w[:3]) and np.allclose(a @ vectors, vectors * small, atol=1e-7)
    assert np.allclose(vectors.T @ vectors, np.eye(3))
    large = la.lobpcg(la.as_operator(a), 2, which="largest", rtol=1e-6, report=True)
    assert np.allclose(large.value[0], w[-2:]) and np.all(large.ok)
    with pytest.raises(xc.errors.SolverError):
        la.lobpcg(a, 2, max_steps=2)


def slopes(f, h):
    """f' and f'' at 0 by central differences of fourth order."""
    low2, low, at, up, up2 = (f(k * h) for k in (-2, -1, 0, 1, 2))
    first = (8 * (up - low) - (up2 - low2)) / (12 * h)
    return first, (16 * (up + low) - (up2 + low2) - 30 * at) / (12 * h * h)


def hermitian(n, dtype="float64", seed=0):
    x = np.random.default_rng(seed).standard_normal((2, n, n))
    x = x[0] + 1j * x[1] if dtype == "complex128" else x[0]
    return (x + x.conj().T) / 20


def test_eigenpairs_differentiate_twice():
    a, change = chain(9) + np.diag(np.linspace(0, 1, 9)), hermitian(9)

    def pairs(t):  # |v| does not depend on signs
        w, v = la.eigsh(xnp.asarray(a) + t * change, 2, ncv=9)
        return xnp.concatenate([w[None], xnp.abs(v)])

    def exact(t):
        w, v = np.linalg.eigh(a + t * change)
        return np.concatenate([w[None, -2:], abs(v[:, -2:])])

    def moved(f):
        return lambda t: xc.jvp(f, (t,), (xnp.ones_like(t),))[1]

    got = xc.jit(lambda t: (moved(pairs)(t), moved(moved(pairs))(t)))(np.zeros(()))
    wanted = slopes(exact, 2e-3)
    assert np.allclose(got[0], wanted[0], atol=1e-9)
    assert np.allclose(got[1], wanted[1], atol=2e-8)  # rounding: 1e-15 / h²


def test_pairs_by_lobpcg_have_gradients():
    a, change = chain(9) + np.diag(np.linspace(0, 1, 9)), hermitian(9)
    weights = rng.standard_normal((10, 2))
    inverse = xnp.asarray(np.linalg.inv(a))

    def score(w, v, np_):
        return (np_.concatenate([w[None], abs(v)]) * weights).sum()

    def ours(a):
        return score(*la.lobpcg(a, 2, rtol=1e-11, preconditioner=inverse), xnp)

    def exact(t):
        w, v = np.linalg.eigh(a + t * change)
        return score(w[:2], v[:, :2], np)

    gradient = np.asarray(xc.jit(xc.grad(ours))(a))
    assert np.isclose((gradient * change).sum(), slopes(exact, 2e-3)[0], atol=1e-9)


def test_complex_and_repeated_eigenvalues_differentiate():
    a, change = 20 * hermitian(5, "complex128"), hermitian(5, "complex128", 1)
    q = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    equal, turn = (q * [1.0, 2, 3, 4, 7, 7]) @ q.T, hermitian(6)

    def ours(t):
        w, v = la.eigsh(xnp.asarray(a) + t * change, 2, ncv=5)
        _, u = la.lobpcg(xnp.asarray(equal) + t * turn, 2, which="largest", rtol=1e-11)
        return w, xnp.abs(v), u @ u.T

    def exact(t):
        w, v = np.linalg.eigh(a + t * change)
        return np.concatenate([w[-2:], abs(v[:, -2:]).ravel()])

    def projection(t):
        u = np.linalg.eigh(equal + t * turn)[1][:, -2:]
        return u @ u.T

    w, v, p = xc.jit(lambda t: xc.jvp(ours, (t,), (xnp.ones_like(t),))[1])(np.zeros(()))
    assert np.allclose(np.concatenate([w, np.ravel(v)]), slopes(exact, 2e-3)[0], atol=1e-9)
    assert np.allclose(p, slopes(projection, 2e-3)[0], atol=1e-9)


def test_derivatives_that_miss_their_goal_say_so(monkeypatch):
    """The inner MINRES gets one step; nothing is near the derivative then."""
    from xcore.linalg import _eigenpairs

    one_step = la.MINRES(max_steps=1)
    monkeypatch.setattr(_eigenpairs, "MINRES", lambda rtol: one_step.replace(rtol=rtol))
    a = chain(9) + np.diag(np.linspace(0, 1, 9))

    def vectors(a):
        return (la.eigsh(a, 2, ncv=9)[1] ** 2 * np.arange(9)[:, None]).sum()

    err, gradient = xc.checkify.checkify(xc.grad(vectors))(xnp.asarray(a))
    assert np.isnan(gradient).any() and "derivatives of eigenvectors: MINRES" in err.get()
    shifted = la.FunctionOperator(lambda p, x: p @ x, xnp.asarray(a), (9, 9), symmetric=True)
    monkeypatch.undo()
    err, _ = xc.checkify.checkify(lambda a: la.eigsh(a, 2, sigma=0.5, ncv=9))(shifted)
    assert err.get() is None


def test_randomized_svd():
    u, v = (
        np.linalg.qr(rng.standard_normal((40, 5)))[0],
        np.linalg.qr(rng.standard_normal((30, 5)))[0],
    )
    a = (u * [9.0, 5, 3, 2, 1]) @ v.T
    U, s, Vh = la.randomized_svd(a, 5, xc.random.key(0))
    assert np.allclose(s, [9, 5, 3, 2, 1]) and np.allclose(U * s @ Vh, a)
    noisy = a + 1e-3 * rng.standard_normal(a.shape)
    best = np.linalg.svd(noisy)[1]
    U, s, Vh = la.randomized_svd(noisy, 5, xc.random.key(1))
    assert np.linalg.norm(noisy - U * s @ Vh, 2) < 1.2 * best[5]


# What is given


def test_lanczos_goes_on_where_the_space_is_invariant():
    a = np.diag([5.0, 5, 5, 1, 1, 1, 0, 0])
    w, v = map(np.asarray, xc.linalg.eigsh(a, 4))
    assert np.allclose(w, [1, 5, 5, 5], atol=1e-12) and np.allclose(v.T @ v, np.eye(4), atol=1e-12)
    assert np.allclose(a @ v, v * w, atol=1e-12)
    q, alpha, beta = map(np.asarray, xc.linalg.lanczos(np.eye(6), np.zeros(6), 6))
    assert np.allclose(q.T @ q, np.eye(6), atol=1e-12) and np.allclose(alpha, 1)
    assert not beta.any()


def test_products_take_the_wider_dtype():
    a = np.array([[1.0, 2j, 3], [4, 5, 6j]])
    op = xc.linalg.Matrix(xnp.asarray(a))
    assert np.allclose(op.T @ np.ones(2), a.T @ np.ones(2))
    b = np.array([1.0, 2, 3])
    turn = np.array([[0.0, 1, 0], [-1, 0, 2], [0, -2, 0.5]])
    expected = scipy.linalg.expm(1j * turn) @ b
    assert np.allclose(xc.linalg.expm_multiply(turn, b, 1j), expected, rtol=1e-12)


_ONE, _PLUS = xc.linalg.Matrix(np.eye(6)), np.arange(1.0, 7)
BAD = {
    "factors are numbers": (lambda: _ONE * _PLUS, "need a number"),
    "functions keep their shape": (
        lambda: xc.linalg.FunctionOperator(lambda _, x: x[:2], None, (3, 3)) @ np.ones(3), "of 3 rows"
    ),
    "blocks of one height": (
        lambda: xc.linalg.Blocks(((_ONE, np.ones((5, 2))),)) @ np.ones(8), "of one height"
    ),
    "blocks without holes": (
        lambda: xc.linalg.Blocks(((_ONE,), (_ONE, _ONE))) @ np.ones(12), "of one height"
    ),
    "no batch of matrices": (
        lambda: xc.linalg.Matrix(np.ones((2, 3, 3))) @ np.ones(3), "need a matrix"
    ),
    "derivative of a number": (
        lambda: xc.linalg.jacobian_operator(xnp.sum, np.ones(3)), "to a vector"
    ),
    "x0 like b": (
        lambda: xc.linalg.linear_solve(_ONE, np.ones((6, 2)), x0=np.ones((2, 6))), "x0 of the shape"
    ),
    "solvers are structs": (lambda: xc.linalg.linear_solve(_ONE, _PLUS, "cg"), "solver must be"),
    "solvers have settings": (
        lambda: xc.linalg.linear_solve(_ONE, _PLUS, xc.linalg.CG), "solver must be"
    ),
    "a shift that is an eigenvalue": (
        lambda: xc.linalg.eigsh(np.diag(_PLUS), 2, sigma=3.0), "sigma is an eigenvalue"
    ),
    "eigsh wants squares": (lambda: xc.linalg.eigsh(np.ones((4, 3)), 1), "symmetric operator"),
    "eigsh x0": (lambda: xc.linalg.eigsh(_ONE, 1, x0=np.ones(3)), "x0 of shape"),
    "lanczos ncv": (lambda: xc.linalg.lanczos(_ONE, _PLUS, 7), "from 1 to 6"),
    "lobpcg wants squares": (lambda: xc.linalg.lobpcg(np.ones((9, 8)), 1), "symmetric operator"),
    "lobpcg x0": (lambda: xc.linalg.lobpcg(_ONE, 2, x0=np.ones((6, 1))), "x0 of shape"),
    "lobpcg NaN": (lambda: xc.linalg.lobpcg(np.full((6, 6), np.nan), 1, max_steps=3), "infinities or NaN"),
    "lobpcg size": (lambda: xc.linalg.lobpcg(_ONE, 3), "a third of the size"),
    "oversampling": (
        lambda: xc.linalg.randomized_svd(_ONE, 1, xc.random.key(0), n_oversamples=-1), "n_oversamples"
    ),
    "exponential of NaN": (lambda: xc.linalg.expm_multiply(_ONE, _PLUS, np.nan), "finite norm"),
    "a long exponential": (lambda: xc.linalg.expm_multiply(_ONE, _PLUS, 1e30), "of norm 2e.08 at most"),
    "exponential in no steps": (lambda: xc.linalg.expm_multiply(_ONE, _PLUS, steps=0), "1 or more"),
    "ridge": (lambda: xc.linalg.lstsq(np.eye(2), np.ones(2), ridge=-1.0), "ridge must be"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_explained(case):
    call, told = BAD[case]
    with pytest.raises(xc.errors.XcoreError, match=told):
        call()


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_lsmr_without_elements(shape):
    for b in (np.ones(shape[0]), np.ones((shape[0], 2))):
        for damp in (0.0, 0.5):
            answer = la.lsmr(np.ones(shape), b, damp=damp, report=True)
            assert np.all(answer.ok) and not np.any(answer.value)


def test_cycles_that_stand_still_are_told_what_to_take():
    """Cycles of 20 products of 24: of a random matrix the residual hardly falls. What is advised then helps."""
    rng = np.random.default_rng(0)
    a, b = xnp.asarray(rng.standard_normal((24, 24))), xnp.asarray(rng.standard_normal(24))
    for short in (la.GMRES(), la.GMRES(max_steps=2)):
        with pytest.raises(xc.errors.SolverError, match=r"take GMRES\(restart=24\)"):
            la.linear_solve(a, b, short)
    np.testing.assert_allclose(a @ la.linear_solve(a, b, la.GMRES(restart=24)), b, atol=1e-3)
    with pytest.raises(xc.errors.SolverError) as told:
        la.linear_solve(a, b, la.GMRES(restart=24, rtol=1e-30))
    assert "restart" not in str(told.value)


@pytest.mark.parametrize("solver", [la.CG, la.MINRES, la.GMRES, la.BiCGStab])
def test_nothing_on_the_right_has_a_known_solution(solver):
    """From any start: a tolerance relative to b asks for 0, which steps would not reach."""
    a = np.random.default_rng(0).random((10, 10))
    a = la.Matrix(xnp.asarray(a @ a.T + 10 * np.eye(10)), symmetric=True, positive=True)
    b = xnp.asarray(np.stack([np.zeros(10), np.ones(10)], 1))
    found = la.linear_solve(a, b, solver(rtol=1e-10), x0=xnp.ones((10, 2)), report=True)
    assert not np.any(np.asarray(found.value)[:, 0]) and not np.any(found.status)
    np.testing.assert_allclose(a @ found.value[:, 1], b[:, 1], rtol=1e-9)


@pytest.mark.parametrize(
    "setting", [{"rtol": "small"}, {"rtol": None}, {"atol": "legacy"}, {"max_steps": "all"}]
)
def test_settings_that_are_no_numbers(setting):
    with pytest.raises(ValueError, match=f"CG's {next(iter(setting))} must be"):
        la.linear_solve(xnp.eye(3), xnp.ones(3), la.CG(**setting))
    for wrong in ({"rtol": -1.0}, {"max_steps": -1}, {"ncv": "5"}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
            la.eigsh(xnp.eye(3), 1, **wrong)


def test_operators_have_scipys_methods():
    a = np.random.default_rng(0).standard_normal((3, 2)) * (1 + 2j)
    ours, theirs = la.as_operator(xnp.asarray(a)), scipy.sparse.linalg.aslinearoperator(a)
    x, y = np.arange(2.0), np.arange(3.0)
    np.testing.assert_allclose(ours.matvec(x[:, None]), a @ x[:, None], rtol=1e-6)
    for name, v in (
        ("matvec", x),
        ("rmatvec", y),
        ("matmat", np.eye(2)),
        ("rmatmat", np.eye(3)),
        ("dot", x),
    ):
        np.testing.assert_allclose(
            getattr(ours, name)(xnp.asarray(v)), getattr(theirs, name)(v), rtol=1e-6
        )
