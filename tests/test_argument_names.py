"""One set of names: solvers take rtol, max_steps, key, …; other names get a sentence with ours."""

import inspect
import pickle
import re

import numpy as np
import pytest

import xcore
import xcore.numpy as xnp
from xcore import decomp, linalg, optimize, pde
from xcore._core.package import renamed

PACKAGES = {"linalg": linalg, "optimize": optimize, "decomp": decomp, "pde": pde}
FOREIGN = {
    "tol", "xtol", "ftol", "eps", "maxiter", "max_iter", "max_iterations", "n_iter_max", "sweeps", "verbose", "disp",
    "random_state", "seed", "v0", "X", "M", "full", "return_all", "full_output", "start", "near",
    "times", "oversample", "extra",
}  # fmt: skip
# what a field calls so: SciPy's names of functions that it has, JAX's, Optax's, and bounds of zero pivots
KNOWN = {
    "optimize": {
        "minimize", "minimize_constrained", "minimize_scalar", "least_squares", "curve_fit", "root", "fixed_point",
        "root_scalar", "proximal_gradient", "differential_evolution",
    },
    "linalg": {"polar", "qdwh", "matrix_rank", "rref", "row_echelon", "gauss_null_space", "elimination_steps",
               "solve_sylvester", "eigsh"},
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
    "eigsh": (lambda **kw: linalg.eigsh(MATRIX, 2, **kw), {"tol": "rtol", "maxiter": "max_steps", "v0": "x0"}),
    "lobpcg": (lambda **kw: linalg.lobpcg(MATRIX, 2, **kw), {"tol": "rtol", "maxiter": "max_steps", "X": "x0"}),
}  # fmt: skip
VALUES = {
    "rtol": 1e-3,
    "tol": 1e-3,
    "max_steps": 40,
    "maxiter": 40,
    "v0": ONES,
    "X": np.eye(8)[:, :2],
}


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


def test_other_names_of_other_values():
    a = np.diag(np.arange(1.0, 9.0))
    np.testing.assert_array_equal(linalg.cholesky(a, upper=True), linalg.cholesky(a, lower=False))
    x = linalg.cho_solve(linalg.cholesky(a, upper=True), ONES, upper=True)
    np.testing.assert_allclose(a @ x, ONES, rtol=1e-6)
    np.testing.assert_allclose(linalg.lobpcg(a, largest=True)[0], [8.0], rtol=1e-5)
    with pytest.raises(TypeError, match="'upper' is another name of 'lower'"):
        linalg.cholesky(a, lower=True, upper=False)


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
    "of a class": (lambda: linalg.CG(tol=1e-3), r"linalg.CG: there is no argument 'tol': the tolerance is rtol=\.$"),
    "steps of a class": (lambda: linalg.GMRES(maxiter=3), "is max_steps="),
    "unheard of by a class": (lambda: pde.Grid(n=4), "it takes cells, lower, upper"),
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


# Names that were: a row of the changelog's table each

RENAMED = [
    ("eigsh start", lambda: linalg.eigsh(MATRIX, 2, start=ONES), "is x0="),
    ("eigsh steps", lambda: linalg.eigsh(MATRIX, 2, steps=8), "is ncv="),
    ("lanczos", lambda: linalg.lanczos(MATRIX, start=ONES, ncv=2), "is x0="),
    ("lobpcg", lambda: linalg.lobpcg(MATRIX, 2, start=ONES), "is x0="),
    ("eigenmodes", lambda: pde.eigenmodes(None, steps=8), "is ncv="),
    ("rref", lambda: linalg.rref(MATRIX, steps=True), "is return_steps="),
    ("row_echelon", lambda: linalg.row_echelon(MATRIX, steps=True), "is return_steps="),
    ("gauss_solve", lambda: linalg.gauss_solve(MATRIX, ONES, steps=True), "is return_steps="),
    ("randomized_svd", lambda: linalg.randomized_svd(MATRIX, 2, None, oversample=3), "is n_oversamples="),
    ("its power", lambda: linalg.randomized_svd(MATRIX, 2, None, power=3), "is n_iter="),
    ("tucker_random", lambda: decomp.tucker_random(CUBE, 1, extra=3), "is n_oversamples="),
    ("and its power", lambda: decomp.tucker_random(CUBE, 1, power=3), "is n_iter="),
    ("hooi", lambda: decomp.hooi(CUBE, 1, steps=3), "is max_steps="),
    ("tt_cross", lambda: decomp.tt_cross(len, (2, 2), 1, sweeps=3), "is max_steps="),
    ("integrate", lambda: pde.integrate(len, 0.0, times=[0.0]), "is t_eval="),
    ("its first step", lambda: pde.integrate(len, 0.0, [0.0], first=1.0), "is first_step="),
    ("trajectory", lambda: pde.trajectory(None, 0.0, 1.0, 1, start=1.0), "is t0="),
    ("solve_nonlinear", lambda: pde.solve_nonlinear(len, 0.0, near=None), "is preconditioner="),
]  # fmt: skip


@pytest.mark.parametrize("_, call, pattern", RENAMED, ids=[r[0] for r in RENAMED])
def test_old_names_of_arguments_say_the_new_ones(_, call, pattern):
    with pytest.raises(TypeError, match=pattern):
        call()


OLD = [(p, old, new) for p in PACKAGES for old, new in renamed(p).items()]


@pytest.mark.parametrize("package, old, new", OLD, ids=[f"{p}.{old}" for p, old, _ in OLD])
def test_old_names_say_the_new_ones(package, old, new):
    module = PACKAGES[package]
    assert not hasattr(module, old)
    with pytest.raises(AttributeError, match=re.escape(f"It is called {new} now.")):
        getattr(module, old)
    with pytest.raises(ImportError, match=re.escape(new)):
        exec(f"from xcore.{package} import {old}")
    new = new.partition("(")[0]
    assert hasattr(xcore, new[6:]) if new.startswith("xcore.") else new in module.__all__


ABSENT = {
    "norm": (linalg, "There is xcore.numpy.linalg.norm."), "sin": (xcore, "There is xcore.numpy.sin."),
    "erf": (xnp, "There is xcore.special.erf."), "minimise": (optimize, "There is minimize"),
    "solve_ivp": (pde, "There is xcore.scipy.integrate.solve_ivp."), "nothing_like_it": (decomp, "'nothing_like_it'$"),
    "_private": (decomp, "'_private'$"), "adamW": (optimize, "There is adamw"), "gammaln": (xnp, "xcore.special.gammaln"),
}  # fmt: skip


@pytest.mark.parametrize("name", ABSENT)
def test_absent_names_say_where_the_thing_is(name):
    module, pattern = ABSENT[name]
    with pytest.raises(AttributeError, match=pattern) as told:
        getattr(module, name)
    assert pickle.loads(pickle.dumps(told.value)).args == (str(told.value),)
    assert not [f for f in told.traceback if str(f.path).startswith(xcore.__path__[0])]
