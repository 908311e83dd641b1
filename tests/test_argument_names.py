"""One set of names: solvers take rtol, max_steps, key, …; other names get a sentence with ours."""

import inspect

import numpy as np
import pytest

import xcore.numpy as xnp
from xcore import decomp, linalg, optimize, pde

PACKAGES = {"linalg": linalg, "optimize": optimize, "decomp": decomp, "pde": pde}
FOREIGN = {
    "tol", "xtol", "ftol", "eps", "maxiter", "max_iter", "max_iterations", "n_iter_max", "sweeps", "verbose", "disp",
    "random_state", "seed", "v0", "X", "M", "full", "return_all", "full_output",
}  # fmt: skip
# what a field calls so: SciPy's names of functions that it has, JAX's, Optax's, and bounds of zero pivots
KNOWN = {
    "optimize": {
        "minimize", "minimize_constrained", "minimize_scalar", "least_squares", "curve_fit", "root", "fixed_point",
        "root_scalar", "proximal_gradient", "differential_evolution",
    },
    "linalg": {"polar", "qdwh", "rank", "rref", "row_echelon", "gauss_null_space", "elimination_steps",
               "solve_sylvester"},
    "decomp": {"tt_cross"},
}  # fmt: skip


def of_optax(package, name):
    return package == "optimize" and "eps" in inspect.signature(getattr(optimize, name)).parameters


@pytest.mark.parametrize("package", PACKAGES)
def test_public_functions_have_our_names(package):
    module = PACKAGES[package]
    for name in module.__all__:
        f = getattr(module, name)
        if inspect.isfunction(f) and not of_optax(package, name):
            found = FOREIGN & set(inspect.signature(f).parameters)
            assert not found or name in KNOWN.get(package, ()), (name, found)


def square(x):
    return xnp.sum((x - 1.0) ** 2)


def root_scalar(**kw):
    return optimize.root_scalar(lambda x: x - 1.0, (0.0, 3.0), **kw)


MATRIX, ONES, CUBE = np.diag(np.arange(1.0, 9.0)), np.ones(8), np.ones((2, 3, 2))
ALIASES = {
    "minimize": (lambda **kw: optimize.minimize(square, ONES, **kw), {"rtol": "tol", "max_steps": "maxiter"}),
    "root_scalar": (root_scalar, {"rtol": "xtol", "tol": "xtol", "max_steps": "maxiter"}),
    "lsmr": (lambda **kw: linalg.lsmr(MATRIX, ONES, report=True, **kw), {"maxiter": "max_steps"}),
    "eigsh": (lambda **kw: linalg.eigsh(MATRIX, 2, **kw), {"tol": "rtol", "maxiter": "max_steps", "ncv": "steps"}),
    "lobpcg": (lambda **kw: linalg.lobpcg(MATRIX, 2, **kw), {"tol": "rtol", "maxiter": "max_steps"}),
}  # fmt: skip
VALUES = {"rtol": 1e-3, "tol": 1e-3, "max_steps": 40, "maxiter": 40, "ncv": 7}


@pytest.mark.parametrize("name", ALIASES)
def test_other_names_work(name):
    f, aliases = ALIASES[name]
    for other, ours in aliases.items():
        a, b = f(**{other: VALUES[other]}), f(**{ours: VALUES[other]})
        a, b = (getattr(x, "value", x) for x in (a, b))
        np.testing.assert_array_equal(
            a[0] if isinstance(a, tuple) else a, b[0] if isinstance(b, tuple) else b
        )
        with pytest.raises(TypeError, match=f"is another name of {ours!r}"):
            f(**{ours: VALUES[other], other: VALUES[other]})


SENTENCES = {
    "tol": (lambda: decomp.cp_als(CUBE, 1, tol=1e-3), r"decomp.cp_als: there is no argument 'tol': .* is rtol="),
    "n_iter_max": (lambda: decomp.cp_als(CUBE, 1, n_iter_max=3), "is max_steps="),
    "random_state": (lambda: decomp.cp_als(CUBE, 1, random_state=0), r"xcore.random.key\(0\), is key="),
    "verbose": (lambda: decomp.tucker_als(CUBE, 1, verbose=True), "is progress="),
    "max_iter": (lambda: optimize.minimize(square, ONES, max_iter=3), "is maxiter="),
    "ftol": (lambda: optimize.minimize(square, ONES, ftol=3), "is tol="),
    "seed": (lambda: optimize.differential_evolution(square, (ONES, 2 * ONES), seed=0), "is key="),
    "the solver's": (lambda: linalg.linear_solve(MATRIX, ONES, rtol=1e-3), r"solver=CG\(rtol="),
    "M": (lambda: linalg.linear_solve(MATRIX, ONES, M=None), "is preconditioner="),
    "maxiter": (lambda: pde.solve_nonlinear(None, None, maxiter=3), "is max_steps="),
    "misspelt": (lambda: optimize.minimize(square, ONES, jacc=True), "did you mean jac="),
    "unheard of": (lambda: optimize.minimize(square, ONES, colour=1), "it takes fun, x0, args"),
}  # fmt: skip


@pytest.mark.parametrize("name", SENTENCES)
def test_names_that_do_not_exist(name):
    call, pattern = SENTENCES[name]
    with pytest.raises(TypeError, match=pattern):
        call()


def test_errors_of_users_functions_stay_theirs():
    def fun(x, wrong):
        return fun(x, unknown=1)

    with pytest.raises(TypeError, match="unexpected keyword argument 'unknown'"):
        optimize.minimize(fun, ONES, args=(1.0,))
    with pytest.raises(TypeError, match="missing 1 required positional"):
        optimize.minimize(square, tol=1e-3)
