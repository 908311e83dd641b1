"""``checkpoint=folder``: a run goes on from its own states, also with other limits, and refuses those of other problems."""

import subprocess
import sys

import numpy as np
import pytest

import xcore.numpy as xnp
from xcore import decomp, linalg, optimize, pde

X0 = xnp.zeros(3)
T = xnp.asarray(np.random.default_rng(0).normal(size=(4, 5, 6)))
A = np.diag(np.arange(1.0, 41.0))
LAP = pde.Laplacian(pde.Grid((8, 8)))
U = LAP.field(xnp.ones((9, 9)))


def off(a):
    return lambda x: ((x - a) ** 2).sum()


def on_plane(a, p):
    plane = optimize.Constraints(eq=lambda x: x.sum() - a)
    return optimize.minimize_constrained(off(1.0), X0, (), plane, checkpoint=p)


SOLVERS = {  # name -> (solver of a problem and a folder, a problem, another one)
    "a number": (lambda a, p: optimize.minimize(off(a), X0, checkpoint=p), 1.0, 2.0),
    "data": (lambda a, p: optimize.minimize(off(a), X0, checkpoint=p), xnp.arange(3.0), xnp.arange(3.0) + 1),
    "args": (lambda a, p: optimize.minimize(lambda x, a: off(a)(x), X0, (a,), checkpoint=p), xnp.ones(3), 2 * xnp.ones(3)),
    "another function": (lambda f, p: optimize.minimize(f, X0, checkpoint=p), off(1.0), lambda x: off(1.0)(x) + off(1.0)(x) ** 2),
    "bounds": (lambda a, p: optimize.minimize(off(1.0), X0, bounds=[(None, a)] * 3, checkpoint=p), 0.5, 0.6),
    "constraints": (on_plane, 1.0, 2.0),
    "least squares": (lambda a, p: optimize.least_squares(lambda x: x - a, X0, checkpoint=p), 1.0, 2.0),
    "a loss": (lambda a, p: optimize.least_squares(lambda x: x - 1, X0, loss=a, checkpoint=p), "linear", "huber"),
    "root": (lambda a, p: optimize.root(lambda x: x - a, X0, checkpoint=p), 1.0, 2.0),
    "proximal": (lambda a, p: optimize.proximal_gradient(off(1.0), X0, lambda x, s: x / (1 + s * a), checkpoint=p), 0.1, 0.2),
    "sparse": (lambda a, p: optimize.minimize(off(a), X0, method="sparse", checkpoint=p), 1.0, 2.0),
    "cp_als": (lambda a, p: decomp.cp_als(a, 2, checkpoint=p), T, T + 1),
    "a mask": (lambda a, p: decomp.cp_als(T, 2, mask=a, checkpoint=p), T > -1, T > -2),
    "cp_arls": (lambda a, p: decomp.cp_arls(a, 2, checkpoint=p), T, T + 1),
    "tucker_als": (lambda a, p: decomp.tucker_als(a, 2, checkpoint=p), T, T + 1),
    "eigsh": (lambda a, p: linalg.eigsh(a, 2, checkpoint=p), A, A + np.eye(40)),
    "which": (lambda a, p: linalg.eigsh(A, 2, which=a, checkpoint=p), "LA", "SA"),
    "lobpcg": (lambda a, p: linalg.lobpcg(a, 2, checkpoint=p), A, A + np.eye(40)),
    "nonlinear": (lambda a, p: pde.solve_nonlinear(lambda u: LAP(u) - a * xnp.exp(-u), U, LAP, checkpoint=p), 1.0, 2.0),
    "a start in time": (lambda a, p: pde.trajectory(pde.ThetaMethod(LAP), a, 0.01, 20, checkpoint=p), U, 2 * U),
    "an equation in time": (lambda a, p: pde.trajectory(pde.RungeKutta(lambda u, t: -a * u, pde.EULER), X0, 0.01, 20, checkpoint=p), 1.0, 2.0),
}  # fmt: skip


@pytest.mark.parametrize("name", SOLVERS)
def test_states_of_another_problem_are_refused(name, tmp_path):
    solve, one, other = SOLVERS[name]
    solve(one, tmp_path / "a")
    solve(one, tmp_path / "a")
    with pytest.raises(ValueError, match=r"another function, other data|of the same run"):
        solve(other, tmp_path / "a")
    solve(other, tmp_path / "b")


def test_other_limits_make_no_other_problem(tmp_path):
    for maxiter, tol in ((500, 1e-6), (400, 1e-9)):
        found = optimize.minimize(
            off(1.0), np.zeros(3), maxiter=maxiter, tol=tol, checkpoint=tmp_path / "a"
        )
        assert bool(found.ok)


PROGRAM = """
import sys, numpy as np, xcore.numpy as xnp
from xcore import optimize
data = xnp.asarray(np.arange(1000.0))
found = optimize.minimize(lambda x: ((x * data - float(sys.argv[2]) * data) ** 2).mean(), 0.0, checkpoint=sys.argv[1])
print(round(float(found.x), 3))
"""


def test_in_another_process(tmp_path):
    def run(goal):
        command = [sys.executable, "-c", PROGRAM, str(tmp_path / "a"), goal]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    assert run("3").stdout == run("3").stdout == "3.0\n"
    assert "another function, other data" in run("4").stderr


@pytest.mark.parametrize("folder", [3, True, b"a"])
def test_a_folder_is_a_name(folder):
    with pytest.raises(ValueError, match="checkpoint must be the name of a folder"):
        optimize.minimize(off(1.0), X0, checkpoint=folder)


def test_and_no_file(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match="It is a file"):
        optimize.minimize(off(1.0), X0, checkpoint=tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"
