"""``report=True`` of funm and funmh: no claim is false, of whatever functions, at any scale."""

import mpmath
import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from tests.linalg.test_sensitivity import by_eigenvalues, check_claims, precise, stacked

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
