"""Tasks of a first day run as they are written; names of SciPy are here, or say where they are."""

import importlib
import inspect
import textwrap
import warnings

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.scipy as xs
from tests.habits.tasks import ELSEWHERE, TASKS


def run(program: str) -> None:
    exec(compile(textwrap.dedent(program), "first_day.py", "exec"), {"__name__": "user"})


@pytest.mark.parametrize("task", TASKS)
def test_a_task_of_the_first_day(task):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that float32 holds less than rtol asks
        run(TASKS[task])


@pytest.mark.parametrize("task", ELSEWHERE)
def test_what_is_not_here_says_where_it_is(task):
    program, told = ELSEWHERE[task]
    with pytest.raises((ImportError, AttributeError, TypeError), match=told) as error:
        run(program)
    ours = [f for f in error.traceback if str(f.path).startswith(xc.__path__[0])]
    assert not ours or error.type is xc.errors.ArgumentError


COMMON = {
    "integrate": "solve_ivp odeint trapezoid simpson cumulative_trapezoid",
    "optimize": "minimize minimize_scalar least_squares curve_fit root root_scalar fsolve brentq bisect newton fmin "
    "fixed_point differential_evolution Bounds LinearConstraint NonlinearConstraint rosen rosen_der OptimizeResult",
    "linalg": "solve inv det eig eigh svd qr lu lu_factor lu_solve cholesky cho_factor cho_solve expm logm sqrtm "
    "null_space orth pinv lstsq norm toeplitz block_diag solve_banded solve_triangular schur hessenberg",
    "sparse.linalg": "cg gmres bicgstab minres eigs eigsh svds LinearOperator aslinearoperator expm_multiply splu lsqr",
    "special": "gamma erf erfc beta gammaln expit logsumexp softmax ellipk lambertw",
    "fft": "fft ifft rfft fftfreq fftshift dct fft2 fftn",
    "signal": "convolve fftconvolve correlate welch stft detrend",
    "stats": "norm t chi2 gamma uniform poisson multivariate_normal gaussian_kde",
    "interpolate": "RegularGridInterpolator",
    "ndimage": "map_coordinates",
}


@pytest.mark.parametrize("module", COMMON)
def test_common_names_are_there(module):
    face = importlib.import_module(f"xcore.scipy.{module}")
    for name in COMMON[module].split():
        assert getattr(face, name) is not None
        assert name in dir(face) or name in "Bounds LinearConstraint NonlinearConstraint"


@pytest.mark.parametrize("module", [*COMMON, "sparse"])
def test_absent_names_are_absent_and_explained(module):
    face = importlib.import_module(f"xcore.scipy.{module}")
    for names, why in getattr(face, "_ABSENT", {"": "."}).items():
        assert why.rstrip()[-1] in ".)", why
        for name in names.split():
            assert not hasattr(face, name), name
            with pytest.raises(AttributeError) as told:
                getattr(face, name)
            assert why in str(told.value)
    with pytest.raises(ModuleNotFoundError, match=r"scipy\.cluster\.hierarchy is SciPy's own"):
        importlib.import_module("xcore.scipy.cluster.hierarchy")
    with pytest.raises(AttributeError, match="no such name either"):
        print(face.zzz_nothing)
    with pytest.raises(AttributeError, match=r"__wrapped_by__'$"):
        print(face.__wrapped_by__)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("spatial.distance", "Of distances"),
        ("io", "files on the host"),
        ("io.wavfile", "files on the host"),
        ("constants", "plain numbers"),
        ("sparse.zzz", "no such name"),
        ("zzz", "no such name"),
    ],
)
def test_modules_that_are_not_here_say_where_they_are(name, why):
    with pytest.raises(ModuleNotFoundError, match=why):
        importlib.import_module(f"xcore.scipy.{name}")


@pytest.mark.parametrize("name", ["solve_ivp", "odeint"])
def test_integrators_have_scipys_arguments(name):
    import scipy.integrate

    same_arguments(getattr(xs.integrate, name), getattr(scipy.integrate, name), {"options"})


NAMED = "minimize minimize_scalar least_squares curve_fit root root_scalar fsolve fmin differential_evolution newton"


@pytest.mark.parametrize("name", NAMED.split())
def test_methods_of_optimisation_have_scipys_arguments(name):
    import scipy.optimize

    same_arguments(getattr(xs.optimize, name), getattr(scipy.optimize, name), {"options", "kwargs"})


@pytest.mark.parametrize("name", "cg bicgstab gmres minres eigsh svds LinearOperator".split())
def test_sparse_solvers_have_scipys_arguments(name):
    import scipy.sparse.linalg as theirs

    same_arguments(getattr(xs.sparse.linalg, name), getattr(theirs, name), {"show", "check"})


def same_arguments(ours, theirs, but):
    """All of SciPy's are taken, the positional ones in its order."""
    a, b = (inspect.signature(f).parameters for f in (ours, theirs))
    assert set(b) - but - {"args", "kwargs"} <= set(a)
    places = [
        [n for n, p in x.items() if p.kind == p.POSITIONAL_OR_KEYWORD and n not in but]
        for x in (a, b)
    ]
    shared = [n for n in places[1] if n in places[0]]
    assert [n for n in places[0] if n in shared] == shared


# Results


def test_results_are_as_wide_as_the_data():
    x = np.linspace(0, 4, 30)
    y = 2.5 * np.exp(-1.3 * x)
    f = lambda x, a, b: a * xnp.exp(-b * x)
    for p0 in (None, [1, 1]):
        popt, pcov = xs.optimize.curve_fit(f, x, y, p0)
        assert popt.dtype == pcov.dtype == np.float64
        np.testing.assert_allclose(popt, [2.5, 1.3], rtol=1e-9)
    assert xc.optimize.curve_fit(f, x, y, (1.0, 1.0)).popt[0].dtype == np.float64
    assert (
        xc.optimize.curve_fit(f, x.astype("f4"), y.astype("f4"), (1.0, 1.0)).popt[0].dtype
        == np.float32
    )
    narrow = xs.optimize.curve_fit(f, x.astype("f4"), y.astype("f4"))[0]
    assert narrow.dtype == np.float32
    bounded = xs.optimize.curve_fit(f, x, y, bounds=([0, 0], [2.0, np.inf]))[0]
    np.testing.assert_allclose(bounded[0], 2.0, rtol=1e-6)
    with pytest.raises(RuntimeError, match="limit"):
        xs.optimize.curve_fit(f, x, y, (50.0, 9.0), maxfev=1)
    with pytest.raises(ValueError, match="p0"):
        xs.optimize.curve_fit(lambda x, *p: p[0] * x, x, y)


def test_results_are_read_as_scipys_and_go_through_jit():
    found = xs.optimize.root(lambda x: [x[0] ** 2 - 4.0, x[0] - x[1]], np.ones(2))
    assert found.x is found["x"] and found.success and "was reached" in found.message
    assert set(found) >= {"x", "success", "status", "message", "fun", "nfev"}
    with pytest.raises(AttributeError, match="none of"):
        print(found.y)
    inside = xc.jit(lambda a: xs.optimize.root(lambda x: x**2 - a, np.ones(1)))(4.0)
    assert float(inside.x[0]) == pytest.approx(2, rel=1e-6) and bool(inside["success"])
    slope = xc.grad(lambda a: xs.optimize.root(lambda x: x**2 - a, np.ones(1)).x[0])(4.0)
    assert float(slope) == pytest.approx(0.25, rel=1e-6)
    least = xs.optimize.minimize(
        xs.optimize.rosen, np.zeros(2), options={"xtol": 1e-6, "ftol": 1e-9}
    )
    assert least["x"] is least.x and "was reached" in least.message and least[0] is least.x


def test_brackets_and_newton():
    cubic = lambda x, a: x**3 - a
    for name in ("brentq", "bisect", "toms748"):
        find = getattr(xs.optimize, name)
        assert find(cubic, 0.0, np.float64(3), (2.0,)) == pytest.approx(2 ** (1 / 3), rel=1e-12)
        with pytest.raises(ValueError, match="different signs"):
            find(cubic, 2.0, 3.0, args=(2.0,))
    x, told = xs.optimize.newton(cubic, np.float64(1), args=(2.0,), full_output=True)
    assert x == pytest.approx(2 ** (1 / 3), rel=1e-12) and told.converged
    with pytest.raises(RuntimeError):
        xs.optimize.newton(lambda x: x**2 + 1.0, 1.0)
    with pytest.raises(ValueError, match="bracket"):
        xs.optimize.root_scalar(cubic, method="brentq")


def test_least_squares_beside_scipys():
    import scipy.optimize

    f = lambda m: lambda x: m.stack([10 * (x[1] - x[0] ** 2), 1 - x[0]])
    for options in ({}, {"bounds": ([-np.inf, 1.5], [np.inf, np.inf])}, {"method": "lm"}):
        ours = xs.optimize.least_squares(f(xnp), np.array([2.0, 2.0]), **options)
        theirs = scipy.optimize.least_squares(f(np), [2, 2], **options)
        np.testing.assert_allclose(ours.x, theirs.x, rtol=1e-5)
        np.testing.assert_allclose(ours.cost, theirs.cost, rtol=1e-5, atol=1e-15)
        np.testing.assert_allclose(ours.jac, theirs.jac, rtol=1e-4)
        assert ours.success and (ours.active_mask == theirs.active_mask).all()


def test_sparse_matrices_and_operators():
    import scipy.sparse
    import scipy.sparse.linalg

    rng = np.random.default_rng(0)
    a = scipy.sparse.random_array(
        (30, 30), density=0.2, rng=rng
    ).tocsr() + 5 * scipy.sparse.eye_array(30)
    b, symmetric = np.ones(30), a + a.T
    for solve, m in (("cg", symmetric), ("gmres", a)):
        x, info = getattr(xs.sparse.linalg, solve)(m, b, rtol=1e-10)
        assert info == 0 and np.abs(m @ np.asarray(x) - b).max() < 1e-8
    assert xs.sparse.linalg.cg(symmetric, b, rtol=1e-10, maxiter=1)[1] != 0
    tall = scipy.sparse.random_array((40, 20), density=0.3, rng=rng).tocsr()
    u, s, vh = xs.sparse.linalg.svds(tall, 3)
    np.testing.assert_allclose(s, np.linalg.svd(tall.toarray())[1][2::-1], rtol=1e-8)
    np.testing.assert_allclose(tall @ np.asarray(vh).T, u * s, atol=1e-6)
    np.testing.assert_allclose(u.T @ u, np.eye(3), atol=1e-6)
    np.testing.assert_allclose(
        xs.sparse.linalg.svds(tall, 3, which="SM")[1],
        np.linalg.svd(tall.toarray())[1][:-4:-1],
        rtol=1e-8,
    )
    with pytest.raises(ValueError, match="callback"):
        xs.sparse.linalg.cg(symmetric, b, callback=print)


def test_lists_are_matrices_where_a_function_carries_scipys_name():
    import scipy.linalg

    a, b = [[4.0, 1.0], [1.0, 3.0]], [1.0, 2.0]
    for name, given in {"solve": (a, b), "expm": (a,), "det": (a,), "eigvalsh": (a,), "cholesky": (a,),
                        "solve_toeplitz": (([4.0, 1.0], [4.0, 2.0]), b), "block_diag": (a, [[1.0]]),
                        "lstsq": (a, b), "solveh_banded": ([[0.0, 1.0], [4.0, 3.0]], b)}.items():  # fmt: skip
        plain = [
            x if isinstance(x, tuple) else np.asarray(x) for x in given
        ]  # SciPy 1.18 wants it in lstsq
        ours, theirs = getattr(xs.linalg, name)(*given), getattr(scipy.linalg, name)(*plain)
        ours, theirs = (x[0] if isinstance(x, tuple) else x for x in (ours, theirs))
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, err_msg=name)


def test_integrals_of_samples():
    import scipy.integrate as theirs

    rng = np.random.default_rng(1)
    y = rng.standard_normal((3, 4, 7))
    for n in (3, 6):
        for axis, x in ((-1, np.sort(rng.standard_normal(n))), (-1, None)):
            part = y[..., :n]
            np.testing.assert_allclose(
                xs.integrate.simpson(part, x, axis=axis),
                theirs.simpson(part, x=x, axis=axis),
                atol=1e-12,
            )
            np.testing.assert_allclose(
                xs.integrate.cumulative_trapezoid(part, x, initial=0),
                theirs.cumulative_trapezoid(part, x, initial=0),
                atol=1e-12,
            )
    np.testing.assert_allclose(
        xs.integrate.simpson(y, dx=0.3, axis=1), theirs.simpson(y, dx=0.3, axis=1), atol=1e-12
    )
    wide = np.cumsum(rng.uniform(0.1, 1, y.shape), axis=1)
    np.testing.assert_allclose(
        xs.integrate.simpson(y, wide, axis=1), theirs.simpson(y, x=wide, axis=1), atol=1e-12
    )
