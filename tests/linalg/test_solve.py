"""Dense solvers: against NumPy, their reports, their errors, their derivatives."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import Status
from xcore.testing import check_grads


def random(shape, seed=0):
    """Random numbers; of square matrices, well-conditioned ones."""
    a = np.random.default_rng(seed).standard_normal(shape)
    return a / 2 + 3 * np.eye(shape[-1]) if shape[-1] == shape[-2] else a


@pytest.mark.parametrize("shape", [(5, 5), (2, 5, 5), (70, 3, 3), (0, 0), (2, 0, 0), (0, 3, 3)])
def test_against_numpy(shape):
    a, b = random(shape), random((*shape[:-1], 2), 1)
    assert np.allclose(xc.linalg.solve(a, b), np.linalg.solve(a, b))
    assert np.allclose(xc.linalg.inv(a), np.linalg.inv(a))
    assert np.allclose(xc.linalg.det(a), np.linalg.det(a))
    for ours, theirs in zip(xc.linalg.slogdet(a), np.linalg.slogdet(a), strict=True):
        assert np.allclose(ours, theirs)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex64"])
def test_other_dtypes(dtype):
    a = xnp.asarray(random((4, 4))).astype(dtype)
    answer = xc.linalg.solve(a, a[:, 0], report=True)
    eps = float(xnp.finfo(dtype).eps)
    assert float(answer.certificate.backward_error) < 30 * 4 * eps
    assert np.allclose(np.asarray(answer.value).astype(complex), np.eye(4)[0], atol=40 * eps)


@pytest.mark.parametrize(
    "assume", ["general", "symmetric", "positive definite", "diagonal", "upper triangular"]
)
def test_structure_that_is_assumed(assume):
    a = random((4, 4))
    a = {"general": a, "diagonal": np.diag(np.diag(a)), "upper triangular": np.triu(a)}.get(
        assume, a @ a.T
    )
    b = random((4, 2), 1)
    assert np.allclose(xc.linalg.solve(a, b, assume), np.linalg.solve(a, b))
    assert np.allclose(xc.linalg.solve(a, b, assume, transposed=True), np.linalg.solve(a.T, b))


def test_derivatives():
    a, b = random((4, 4)), random((4, 2), 1)

    def all_of_them(a, b):
        return xc.linalg.solve(a, b), xc.linalg.slogdet(a)[1], xc.linalg.inv(a)

    check_grads(xc.jit(all_of_them), (a, b), order=2)


@pytest.mark.parametrize("shape", [(4, 4), (65, 2, 2)])
def test_second_derivatives_of_any_matrices(shape):
    """In closed form: the error of differences grows with |a⁻¹|⁵. With x = a⁻¹ and y = x e the
    inverse changes by -y x, then 2 y y x; log|det a| by tr y, then -tr y y; and the gradient of
    <w, x> is -xᵀ w xᵀ."""
    a, e, w = np.random.default_rng(0).standard_normal((3, *shape))
    b = np.random.default_rng(1).standard_normal((*shape[:-1], 2))

    def functions(a):
        return xc.linalg.solve(a, b), xc.linalg.inv(a), xc.linalg.slogdet(a)[1]

    def sums(a):
        return (w @ b * xc.linalg.solve(a, b)).sum() + xc.linalg.slogdet(a)[1].sum()

    def slope(f):
        return lambda a: xc.jvp(f, (a,), (xnp.asarray(e),))[1]

    derivatives = (slope(functions), slope(slope(functions)), xc.grad(sums), slope(xc.grad(sums)))
    first, second, gradient, moved = xc.jit(lambda a: [f(a) for f in derivatives])(a)
    x = np.linalg.inv(a)
    y, t = x @ e, np.swapaxes(x, -1, -2)
    trace = lambda m: np.trace(m, axis1=-2, axis2=-1)
    weights, turned = w @ b @ np.swapaxes(b, -1, -2), np.swapaxes(y @ x, -1, -2)
    wanted = [
        *(-y @ x @ b, -y @ x, trace(y)), *(2 * y @ y @ x @ b, 2 * y @ y @ x, -trace(y @ y)),
        t - t @ weights @ t, turned @ weights @ t + t @ weights @ turned - turned,
    ]  # fmt: skip
    eps = 100 * 2.2e-16 * np.linalg.cond(a)[..., None, None]
    for got, exact in zip((*first, *second, gradient, moved), wanted, strict=True):
        tolerance = eps.reshape(
            eps.shape[: np.ndim(exact)] if np.ndim(exact) < a.ndim else eps.shape
        )
        assert (abs(got - exact) <= tolerance * abs(exact).max()).all()


def test_determinant_of_singular_matrices_differentiates():
    a = np.array([[1.0, 2], [2, 4]])
    assert np.allclose(xc.grad(xc.linalg.det)(xnp.asarray(a)), [[4, -2], [-2, 1]])


def test_lanes_of_lanes():
    a, b = random((2, 3, 4, 4)), random((2, 3, 4), 1)
    x = xc.vmap(xc.vmap(xc.linalg.solve))(a, b)
    assert np.allclose(x, np.linalg.solve(a, b[..., None])[..., 0])


def test_many_small_matrices_where_the_default_of_integers_is_wide():
    a = np.random.default_rng(0).standard_normal((64, 3, 3))
    with xc.enable_x64():
        np.testing.assert_allclose(xc.linalg.inv(a), np.linalg.inv(a), rtol=1e-9)


def test_batches_of_many_chunks():
    """More matrices than a chunk holds, the last chunk not a whole one."""
    a, b = random((1101, 2, 2)), random((1101, 2, 1), 1)
    every = xc.jit(lambda a, b: (xc.linalg.solve(a, b), xc.linalg.inv(a), xc.linalg.det(a)))
    wanted = np.linalg.solve(a, b), np.linalg.inv(a), np.linalg.det(a)
    for ours, theirs in zip(every(a, b), wanted, strict=True):
        assert np.allclose(ours, theirs, rtol=1e-12)


def test_one_singular_matrix_of_many_raises():
    for bad in (np.zeros((3, 3)), np.diag([1.0, 0, 2]), np.outer([1.0, 2, 4], [4.0, 2, 1])):
        a = random((64, 3, 3))
        a[7] = bad
        with pytest.raises(xc.errors.SingularMatrixError, match=r"matrix \(7,\) of the batch"):
            xc.linalg.inv(a)


def test_factors_of_many_small_matrices():
    a, b = np.random.default_rng(0).standard_normal((70, 5, 5)), random((70, 5, 2), 1)

    def both(a, b):
        return [xc.linalg.solve(a, b, report=True, transposed=t) for t in (False, True)]

    for answer, m in zip(xc.jit(both)(a, b), (a, np.swapaxes(a, -1, -2)), strict=True):
        assert (np.asarray(answer.certificate.backward_error) < 30 * 5 * 2.2e-16).all()
        assert np.allclose(answer.value, np.linalg.solve(m, b), rtol=1e-8)


def hilbert(n):
    i = np.arange(n)
    return 1 / (i[:, None] + i + 1)


@pytest.mark.parametrize("n", [3, 6, 9])
def test_condition_and_digits_of_hilbert_matrices(n):
    h = hilbert(n)
    answer = xc.linalg.solve(h, h.sum(axis=1), report=True)
    exact = np.linalg.cond(h, 1)
    assert exact / 3 < float(answer.certificate.condition) < 1.1 * exact
    error = abs(np.asarray(answer.value) - 1).max()
    assert error < 30 * n * 10.0 ** -float(answer.certificate.digits)
    assert float(answer.certificate.backward_error) < 30 * n * 2e-16
    assert exact / 3 < float(xc.linalg.condest(h)) < 1.1 * exact


def test_hopeless_systems_say_so():
    answer = xc.linalg.solve(hilbert(15), np.ones(15), report=True)
    assert not answer.ok and float(answer.certificate.digits) < 1


def test_mixed_precision_reaches_the_wide_one():
    a, b = random((30, 30)), random((30, 2), 1)
    plain = xc.linalg.solve(a.astype(np.float32), b.astype(np.float32))
    answer = xc.linalg.solve(a, b, precision="float32", report=True)
    assert abs(np.asarray(plain) - np.linalg.solve(a, b)).max() > 1e-9
    assert float(answer.certificate.backward_error) < 30 * 30 * 2.3e-16
    check_grads(lambda a: xc.linalg.solve(a, b, precision="float32"), (a,), order=1)


def test_precision_that_does_not_suffice_is_not_taken():
    """Complex, too ill-conditioned for float32, and out of its range."""
    turn = np.exp(1j * np.arange(64).reshape(8, 8))
    cases = [random((8, 8)) * turn, hilbert(8), 1e-60 * random((8, 8)), 1e60 * random((8, 8))]

    def solve(a, b):
        return xc.linalg.solve(a, b, precision="float32", report=True)

    compiled = xc.jit(solve)
    for a in cases:
        answer = compiled(a, a @ np.ones(8))
        assert answer.ok and answer.certificate.backward_error < 30 * 8 * 2.3e-16
        exact = np.linalg.cond(a, 1)
        assert exact / 3 < answer.certificate.condition < 1.1 * exact
        assert np.allclose(
            xc.linalg.solve(a, a @ np.ones(8), precision="float32"), 1, rtol=1e-15 * exact
        )
    err, _ = xc.checkify.checkify(xc.jit(lambda a: xc.linalg.solve(a, a, precision="float32")))(
        cases[2]
    )
    assert err.get() is None


def test_a_structure_that_is_not_there_is_told():
    """Of the matrix only the lower triangle is read."""
    answer = xc.linalg.solve(np.array([[2.0, 1], [0, 2]]), np.ones(2), "pos", report=True)
    assert not answer.ok and answer.certificate.backward_error > 0.01


def test_failures():
    one = np.ones((3, 3))
    with pytest.raises(np.linalg.LinAlgError, match="pivot 1"):
        xc.linalg.solve(one, np.ones(3))
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        xc.linalg.solve(-np.eye(3), np.ones(3), "pos")
    with pytest.raises(np.linalg.LinAlgError, match=r"matrix \(1,\)"):
        xc.linalg.inv(np.stack([np.eye(3), one]))
    with pytest.raises(ValueError, match="rows in b"):
        xc.linalg.solve(np.eye(3), np.ones(4))
    with pytest.raises(ValueError, match="assume_a"):
        xc.linalg.solve(np.eye(3), np.ones(3), "fine")
    err, _ = xc.checkify.checkify(xc.jit(lambda a: xc.linalg.solve(a, np.ones(3))))(one)
    assert "singular" in err.get()
    status = xc.jit(lambda a: xc.linalg.solve(a, np.ones(3), report=True).status)(one)
    assert status == Status.singular


def test_settings_that_are_arrays_are_looked_at():
    a = xnp.asarray([[1.0], [2.0]])
    with pytest.raises(ValueError, match="ridge"):
        xc.linalg.lstsq(a, xnp.ones(2), ridge=xnp.asarray(-1.0))
