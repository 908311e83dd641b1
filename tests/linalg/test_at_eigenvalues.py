"""``report=True`` of funm and funmh: no claim is false, of whatever functions, at any scale."""

import mpmath
import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from tests.linalg.test_sensitivity import by_eigenvalues, check_claims, error_of, precise, stacked

la = xc.linalg
FUNCTIONS = {
    "exp": (xnp.exp, mpmath.exp), "sqrt": (xnp.sqrt, mpmath.sqrt), "log": (xnp.log, mpmath.log),
    "inverse": (lambda w: 1 / w, lambda w: 1 / w), "sin": (xnp.sin, mpmath.sin),
    "square": (lambda w: w * w, lambda w: w * w),
}  # fmt: skip


@pytest.mark.parametrize(
    "name, dtype, n, least",
    [
        ("exp", "float32", 4, 7), ("sqrt", "complex128", 3, 7), ("log", "float64", 4, 7),
        ("inverse", "complex64", 3, 7), ("square", "float64", 3, 7),
    ],
)  # fmt: skip
def test_claims_of_any_function_are_true(name, dtype, n, least):
    f, exact = FUNCTIONS[name]
    names, a = stacked(dtype, n)
    answer = xc.jit(lambda a: la.funm(a, f, report=True))(a)
    near = (
        1e-14 if name == "sqrt" else 0.0
    )  # where its two values differ by less than what is claimed
    check_claims(names, answer, lambda k: by_eigenvalues(exact, a[k], near), dtype, least)


@precise
def hermitian(f, a):
    w, v = mpmath.eighe(mpmath.matrix(a.tolist()))
    return v * mpmath.diag([f(x) for x in w]) * v.H


def real(f):
    """Nothing where f of a real number is none."""

    def run(x):
        y = f(x)
        if mpmath.im(y) != 0:
            raise ValueError(x)
        return y

    return run


STEPS = {
    "abs": (xnp.abs, abs), "step": (lambda w: xnp.where(w > 1, 1.0, 0.0), lambda w: mpmath.mpf(w > 1)),
    **FUNCTIONS,
}  # fmt: skip


@pytest.mark.parametrize(
    "name, dtype, least",
    [
        ("exp", "float32", 9), ("sqrt", "float64", 6), ("log", "complex64", 6), ("abs", "float32", 14),
        ("step", "float64", 9), ("inverse", "complex128", 9), ("sin", "float64", 14),
    ],
)  # fmt: skip
def test_claims_of_functions_of_hermitian_matrices_are_true(name, dtype, least):
    f, exact = STEPS[name]
    names, a = stacked(dtype, 4)
    a = ((a + a.conj().swapaxes(1, 2)) / 2).astype(dtype)
    answer = xc.jit(lambda a: la.funmh(a, f, report=True))(a)
    check_claims(names, answer, lambda k: hermitian(real(exact), a[k]), dtype, least)


def test_the_condition_of_a_function_of_a_hermitian_matrix_is_exact():
    """1 / the smallest gap that a step stands in, and the largest slope."""
    a = np.diag([0.0, 0.5, 1.5, 4.0])
    step = la.funmh(a, lambda w: xnp.where(w > 1, 1.0, 0.0), report=True)
    assert np.isclose(step.certificate.condition, np.linalg.norm(a) / 2**0.5)
    root = la.funmh(a + np.eye(4), xnp.sqrt, report=True)
    exact = 0.5 * np.linalg.norm(a + np.eye(4)) / np.linalg.norm(np.sqrt(np.diag(a) + 1))
    assert np.isclose(root.certificate.condition, exact, rtol=0.05)
    assert not la.funmh(a - np.eye(4) / 2, lambda w: xnp.where(w > 0, 1.0, 0.0), report=True).ok


CALLS = {
    "funm": (lambda a: la.funm(a, xnp.exp, report=True), lambda a: la.funm(a, xnp.exp)[0]),
    "funmh": (lambda a: la.funmh(a, xnp.exp, report=True), lambda a: la.funmh(a, xnp.exp)),
}


@pytest.mark.parametrize("name", CALLS)
def test_reports_of_edges(name):
    run, plain = CALLS[name]
    for shape in ((0, 0), (0, 2, 2), (2, 0, 0), (1, 1)):
        answer = run(np.ones(shape))
        assert answer.value.shape == shape and np.shape(answer.certificate.digits) == shape[:-2]
        assert np.all(answer.ok)
    a = np.array([[[3.0, 1.0], [0.5, 2.0]]] * 3)
    a[1, 0, 1], a[2, 0, 0] = np.nan, np.inf
    for each in (run(a), xc.vmap(run)(a)):
        assert np.asarray(each.ok).tolist() == [True, False, False]
        digits = np.asarray(each.certificate.digits)
        assert digits[0] > 11 and not digits[1:].any()
    coarse = run(a[0].astype("float16"))
    assert coarse.ok and 1 < float(coarse.certificate.digits) < 7.3
    slopes = [
        np.asarray(xc.grad(lambda a, f=f: f(a).real.sum())(a[0]))
        for f in (plain, lambda a: run(a).value)
    ]
    assert np.allclose(*slopes) and not np.any(xc.grad(lambda a: run(a).certificate.error)(a[0]))
    large = np.diag(np.linspace(-1, 1, 40)) + 0.01
    assert float(run(large).certificate.digits) > 10  # the residuals are seen through a few columns


SCALES = {
    "float64": 10.0 ** np.array([-300, -290, -150, 0, 150, 300, 307]),
    "complex64": 10.0 ** np.arange(-30, 37, 11),
}


@pytest.mark.parametrize("dtype", SCALES)
@pytest.mark.parametrize("name", ["sqrt", "inverse", "square", "log", "identity"])
def test_functions_of_matrices_of_any_size(name, dtype):
    """The recurrence's products stay in range where f(a) does; where f(a) leaves it nothing is claimed."""
    f, exact = {**FUNCTIONS, "identity": (lambda w: w, lambda w: w)}[name]
    eps, tiny, largest = (float(getattr(np.finfo(dtype), k)) for k in ("eps", "tiny", "max"))
    a = np.array([[2, 1, -1], [0, 3, 1], [0.5, 0, 5]])
    batch = np.stack([(a * s).astype(dtype) for s in SCALES[dtype]])
    value = np.asarray(la.funm(batch, f)[0])
    answer = la.funm(batch, f, report=True)
    for k in range(len(batch)):
        wanted = by_eigenvalues(exact, batch[k])
        most = float(max(abs(x) for x in wanted))
        if tiny / eps < most < largest / 8:
            assert error_of(value[k], wanted) < 100 * eps, SCALES[dtype][k]
            assert float(answer.certificate.digits[k]) > -np.log10(eps) - 3.5, SCALES[dtype][k]
        elif not tiny < most < largest:
            assert not answer.ok[k] and not answer.certificate.digits[k], SCALES[dtype][k]


@pytest.mark.parametrize("name", CALLS)
def test_what_vanishes_is_not_claimed(name):
    """Neither values of f below the range, nor changes of small eigenvalues that are below it."""
    call = getattr(la, name)
    square = lambda w: w * w
    below = call(np.diag([1e-290, 3e-290]), square, report=True)
    assert not below.ok and not below.certificate.digits
    assert la.funmh(np.zeros((2, 2)), square, report=True).ok
    for seed in range(8):
        q = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]
        a = ((q * [1, 1e-7, 3e-15]) @ q.T + 4e-15 * np.eye(3)) * 1e-300
        found = call((a + a.T) / 2, xnp.sqrt, report=True)
        off = error_of(np.asarray(found.value), hermitian(mpmath.sqrt, (a + a.T) / 2))
        assert off <= found.certificate.error


@pytest.mark.parametrize("size", [1e-300, 1e-30, 1.0, 1e30, 1e300])
def test_no_logarithm_is_claimed_on_its_cut_or_of_singular_matrices(size):
    """2 π is a small part of the logarithms of very small and very large numbers."""
    q = np.linalg.qr(np.random.default_rng(2).standard_normal((3, 3)))[0]
    for w in ([-1.0, 2, 3], [-2.0, -1, 3], [0.0, 1, 2], [0, 0.5j, -0.5j]):
        w = np.array(w)
        a = (q * w) @ q.T
        answer = la.funm(a * size, xnp.log, report=True)
        assert not answer.ok and not answer.certificate.digits, w
