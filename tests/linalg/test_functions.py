"""Functions of matrices, matrix equations and least squares, against SciPy and closed forms."""

import numpy as np
import pytest
import scipy.linalg

import xcore as xc
import xcore.numpy as xnp
from xcore.testing import check_grads

la = xc.linalg
rng = np.random.default_rng(0)


def with_eigenvalues(w, seed=0):
    q = np.random.default_rng(seed).standard_normal((len(w), len(w))) / 4 + np.eye(len(w))
    return q @ np.diag(w) @ np.linalg.inv(q)


@pytest.mark.parametrize("size", [0.1, 3.0, 80.0])
def test_exponential(size):
    a = rng.standard_normal((2, 4, 4)) * size / 4
    expected = scipy.linalg.expm(a)
    assert abs(la.expm(a) - expected).max() < 1e-12 * (1 + size) * abs(expected).max()


def test_exponential_of_what_is_far_from_normal():
    """In closed form: powers of these grow much slower than powers of their norms, and halving them
    until their norm is small would cost all digits. (Al-Mohy and Higham 2009)"""
    big = 1e8
    a = np.array(
        [[[1.0, big], [0, 1]], [[1.0, big], [0, -1]], [[0, big], [0, 0]], [[0, 1e3], [-1e3, 0]]]
    )
    e, turn = np.e, [[np.cos(1e3), np.sin(1e3)], [-np.sin(1e3), np.cos(1e3)]]
    wanted = [
        [[e, big * e], [0, e]], [[e, big * (e - 1 / e) / 2], [0, 1 / e]], [[1, big], [0, 1]], turn,
    ]  # fmt: skip
    got = np.asarray(la.expm(a))
    for x, exact, rounding in zip(got, wanted, (1e-15, 1e-15, 1e-16, 1e-13), strict=True):
        assert np.allclose(x, exact, rtol=20 * rounding, atol=1e-13)
    assert np.isnan(la.expm(np.full((2, 2), np.nan))).all()
    tiny = np.asarray(la.expm(a[:3].astype(np.float32)))
    squarings = 5  # each doubles the error
    assert np.allclose(tiny, wanted[:3], rtol=2**squarings * 10 * 1.2e-7)
    assert np.allclose(la.expm(np.diag([-1e200, 0.0])), np.diag([0.0, 1]))


def test_exponential_of_other_dtypes():
    a = rng.standard_normal((3, 3)) + 1j * rng.standard_normal((3, 3))
    assert np.allclose(la.expm(a), scipy.linalg.expm(a), rtol=1e-13)
    assert la.expm(xnp.zeros((2, 2), "bfloat16")).dtype == "bfloat16"
    assert la.expm(np.zeros((0, 0))).shape == (0, 0)


def test_root_and_logarithm():
    w = np.array([[1.0, 2, 3, 1e-3], [1.0, 1, 5, 40]])
    a = np.stack([with_eigenvalues(x) for x in w])
    root, log = xc.jit(lambda a: (la.sqrtm(a), la.logm(a)))(a)
    assert np.allclose(root @ root, a, rtol=1e-11) and np.allclose(root.imag, 0, atol=1e-12)
    assert np.allclose(log, [with_eigenvalues(np.log(x)) for x in w], rtol=1e-11, atol=1e-11)


def test_they_differentiate():
    a = with_eigenvalues([0.5, 1, 1.5])

    def every(a):
        return la.expm(a), la.sqrtm(a).real, la.logm(a).real

    check_grads(xc.jit(every), (a,), order=1)
    check_grads(xc.jit(xc.grad(lambda a: la.expm(a)[0, 1])), (a,), order=1)
    frechet = la.expm_frechet(a, np.eye(3))[1]  # the exponential itself: 1 commutes with a
    assert np.allclose(frechet, la.expm(a))


def test_any_function():
    """Of general, normal and defective matrices; derivatives by quotients of differences."""
    a = np.stack([with_eigenvalues([0.5, 1, 1.5, 4]), rng.standard_normal((4, 4))])
    f = lambda w: w * xnp.sin(w)
    value = lambda a: la.funm(a, f)[0]
    wanted = [scipy.linalg.funm(x, lambda w: w * np.sin(w)) for x in a]
    assert np.allclose(xc.jit(value)(a), wanted, rtol=1e-10, atol=1e-12)
    q = scipy.linalg.qr(a[1])[0]
    same = q @ np.diag([2.0, 2, 2, 3]) @ q.T  # normal, with equal eigenvalues
    assert np.allclose(value(same), q @ np.diag(np.sin([2, 2, 2, 3]) * [2, 2, 2, 3]) @ q.T)
    broken, error = la.funm(np.array([[1.0, 1], [0, 1]]), xnp.sqrt)
    assert np.isnan(broken).all() and error == 1
    check_grads(xc.jit(lambda a: value(a).real), (a[0],), order=1, rtol=1e-7, atol=1e-7)
    assert value(np.zeros((0, 0))).shape == (0, 0)


def test_sylvester_and_lyapunov():
    a, b = with_eigenvalues([1.0, 2, 3]), with_eigenvalues([-8.0, 4.0], 1)
    c = rng.standard_normal((3, 2))
    q = rng.standard_normal((3, 3))

    def every(a, b, c, q):
        return (
            la.solve_sylvester(a, b, c),
            la.solve_continuous_lyapunov(a, q),
            la.solve_discrete_lyapunov(a / 4, q),
        )

    x, y, z = xc.jit(every)(a, b, c, q)
    assert np.allclose(x, scipy.linalg.solve_sylvester(a, b, c))
    assert np.allclose(y, scipy.linalg.solve_continuous_lyapunov(a, q))
    assert np.allclose(z, scipy.linalg.solve_discrete_lyapunov(a / 4, q))
    check_grads(xc.jit(lambda *xs: every(*xs)[0]), (a, b, c, q), order=1)
    wide = a + 0.3j * rng.standard_normal((3, 3))
    expected = scipy.linalg.solve_sylvester(wide, b + 0j, c + 0j)
    assert np.allclose(la.solve_sylvester(wide, b, c), expected)


# Least squares


@pytest.mark.parametrize("method", ["svd", "qr"])
def test_least_squares(method):
    draw = np.random.default_rng(1)  # well conditioned, for the finite differences
    a, b = draw.standard_normal((2, 6, 3)), draw.standard_normal((2, 6, 2))
    expected = [np.linalg.lstsq(x, y, rcond=None)[0] for x, y in zip(a, b, strict=True)]
    solve = xc.jit(
        lambda a, b: (la.lstsq(a, b, method=method), la.lstsq(a, b, method=method, ridge=0.5))
    )
    x, tamed = solve(a, b)
    assert np.allclose(x, expected)
    expected = [
        np.linalg.solve(x.T @ x + 0.5 * np.eye(3), x.T @ y) for x, y in zip(a, b, strict=True)
    ]
    assert np.allclose(tamed, expected)
    check_grads(solve, (a, b), order=1)


def test_least_norm_and_spaces():
    a = np.outer([1.0, 2, 3], [1.0, 0, 1, 2])
    assert np.allclose(la.lstsq(a, np.ones(3)), np.linalg.lstsq(a, np.ones(3), rcond=None)[0])
    assert np.allclose(la.pinv(a), np.linalg.pinv(a)) and int(la.matrix_rank(a)) == 1
    null, base = np.asarray(la.null_space(a)), np.asarray(la.orth(a))
    assert (
        null.shape == (4, 3) and np.allclose(a @ null, 0) and np.allclose(null.T @ null, np.eye(3))
    )
    assert base.shape == (3, 1) and np.allclose(base @ (base.T @ a), a)
    fixed = xc.jit(lambda a: la.null_space(a, size=4))(a)
    assert np.allclose(fixed[:, 3], 0) and np.allclose(
        np.asarray(fixed) @ np.asarray(fixed).T, null @ null.T
    )
    with pytest.raises(xc.errors.XcoreError, match="size="):
        xc.jit(la.null_space)(a)
    with pytest.raises(ValueError, match="ridge"):
        la.lstsq(a, np.ones(3), method="qr")
