"""Runs that were interrupted go on from their last state on disk, to the same bits."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo
from xcore import _iterate, decomp, linalg, pde
from xcore._control.saving import Checkpointer
from xcore._core import tree

TENSOR = np.random.default_rng(2).random((4, 5, 3))
MATRIX = np.diag(np.arange(1.0, 41.0))
GRID = pde.Laplacian(pde.Grid(12))


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def residuals(x):
    return xnp.stack([10 * (x[1] - x[0] ** 2), 1 - x[0]])


START = np.asarray([-1.2, 1.0])
RUNS = {
    "minimize": lambda **kw: xo.minimize(rosenbrock, START, history=True, maxiter=60, **kw),
    "least_squares": lambda **kw: xo.least_squares(residuals, START, **kw),
    "root": lambda **kw: xo.root(residuals, START, **kw),
    "constrained": lambda **kw: xo.minimize(
        lambda x: x.sum(), START, constraints=xo.Constraints(eq=lambda x: x @ x - 2.0), **kw
    ),
    "proximal": lambda **kw: xo.proximal_gradient(
        lambda x: xnp.sum((x - 0.2) ** 2 * START**2), START, xo.prox.l1(0.01), **kw
    ),
    "cp_als": lambda **kw: decomp.cp_als(TENSOR, 2, max_steps=8, **kw),
    "cp_arls": lambda **kw: decomp.cp_arls(TENSOR, 2, max_steps=6, **kw),
    "cp_gauss_newton": lambda **kw: decomp.cp_gauss_newton(TENSOR, 2, max_steps=6, **kw),
    "cp_gradient": lambda **kw: decomp.cp_gradient(TENSOR, 2, max_steps=8, **kw),
    "tucker_als": lambda **kw: decomp.tucker_als(TENSOR, 2, max_steps=6, **kw),
    "tucker_nonneg": lambda **kw: decomp.tucker_nonneg(TENSOR, 2, max_steps=6, **kw),
    "solve_nonlinear": lambda **kw: pde.solve_nonlinear(
        lambda u: GRID(u) + xnp.exp(u), GRID.field(0.0), GRID, report=True, **kw
    ),
    "eigsh": lambda **kw: linalg.eigsh(MATRIX, 2, ncv=6, report=True, **kw),
    "lobpcg": lambda **kw: linalg.lobpcg(MATRIX, 2, report=True, history=True, **kw),
}


class Interrupted(Exception):
    pass


@pytest.mark.parametrize("name", RUNS)
def test_goes_on_to_the_same_bits(name, tmp_path, monkeypatch):
    monkeypatch.setattr(_iterate, "_SECONDS", 0.0)  # a state for each step
    whole = RUNS[name](checkpoint=tmp_path / "whole")
    save, left = Checkpointer.save, [2]

    def interrupt(*args, **kw):
        save(*args, **kw)
        left[0] -= 1
        if not left[0]:
            raise Interrupted

    monkeypatch.setattr(Checkpointer, "save", interrupt)
    with pytest.raises(Interrupted):
        RUNS[name](checkpoint=tmp_path / "half")
    monkeypatch.setattr(Checkpointer, "save", save)
    assert_same_bits(RUNS[name](checkpoint=tmp_path / "half"), whole)
    assert_same_bits(RUNS[name](checkpoint=tmp_path / "half"), whole)  # nothing is left to do
    plain = RUNS[name]()
    assert int(plain.steps) == int(whole.steps)
    assert np.array_equal(plain.status, whole.status)


LIMITED = {
    "minimize": lambda n, **kw: xo.minimize(rosenbrock, START, maxiter=n, **kw),
    "newton": lambda n, **kw: xo.minimize(rosenbrock, START, maxiter=n, method="newton-cg", history=True, **kw),
    "bounds": lambda n, **kw: xo.minimize(rosenbrock, START, bounds=(-2.0, 0.8), maxiter=n, **kw),
    "least_squares": lambda n, **kw: xo.least_squares(residuals, START, maxiter=n, history=True, **kw),
    "root": lambda n, **kw: xo.root(residuals, START, maxiter=n, **kw),
    "constrained": lambda n, **kw: xo.minimize_constrained(
        rosenbrock, START, (), xo.Constraints(eq=lambda x: x @ x - 2.0), maxiter=n, **kw
    ),
    "proximal": lambda n, **kw: xo.proximal_gradient(rosenbrock, START, xo.prox.l1(0.01), maxiter=100 * n, **kw),
    "cp_als": lambda n, **kw: decomp.cp_als(TENSOR, 2, max_steps=n, rtol=1e-9, **kw),
    "tucker_als": lambda n, **kw: decomp.tucker_als(TENSOR, 2, max_steps=n, rtol=1e-12, **kw),
    "lobpcg": lambda n, **kw: linalg.lobpcg(MATRIX, 2, report=True, maxiter=n, **kw),
    "eigsh": lambda n, **kw: linalg.eigsh(MATRIX, 2, ncv=6, report=True, maxiter=n, **kw),
    "solve_nonlinear": lambda n, **kw: pde.solve_nonlinear(
        lambda u: GRID(u) + 3 * xnp.exp(u), GRID.field(0.0), GRID, report=True, max_steps=n, **kw
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LIMITED)
def test_a_run_that_met_its_limit_goes_on_with_a_higher_one(name, tmp_path, monkeypatch):
    run, save, written = LIMITED[name], Checkpointer.save, []

    def noted(disk, step, *args, **kw):
        written.append((str(disk.directory), step))
        save(disk, step, *args, **kw)

    monkeypatch.setattr(Checkpointer, "save", noted)
    first = run(2, checkpoint=tmp_path)
    assert not bool(np.all(first.ok)) and np.all(np.asarray(first.status) == xc.Status.max_steps)
    before = [*written]
    written.clear()
    more = run(200, checkpoint=tmp_path)
    assert np.all(more.ok) and int(np.max(more.steps)) > int(np.max(first.steps))
    # loops go on behind what was written; rounds, of which the last is made again, have loops inside
    folders = {d for d, _ in before + written}
    rounds = {d for d in folders if any(e.startswith(d + "/") for e in folders)}
    last = max(step for d, step in before if d not in rounds)
    steps = [step for d, step in written if d not in rounds]
    assert last > 0 and steps and min(steps) >= last
    assert_same_bits(run(200, checkpoint=tmp_path), more)


def assert_same_bits(a, b):
    for x, y in zip(tree.leaves(a), tree.leaves(b), strict=True):
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


KILLED = """
import os, signal, sys
import numpy as np, xcore.numpy as xnp, xcore.optimize as xo
from xcore import _iterate
from xcore._control.saving import Checkpointer
_iterate._SECONDS = 0.0
save, left = Checkpointer.save, [int(sys.argv[2])]
def kill(*args, **kw):
    save(*args, **kw)
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
Checkpointer.save = kill
f = lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
found = xo.minimize(f, np.asarray([-1.2, 1.0]), checkpoint=sys.argv[1])
print(found.x.tobytes().hex() if hasattr(found.x, "tobytes") else np.asarray(found.x).tobytes().hex(), int(found.nit))
"""


def test_killed_process_goes_on(tmp_path):
    def run(folder, saves):
        command = [sys.executable, "-c", KILLED, str(tmp_path / folder), str(saves)]
        return subprocess.run(command, capture_output=True, text=True, env=os.environ)

    whole = run("whole", -1)
    assert whole.returncode == 0, whole.stderr
    assert run("half", 7).returncode == -signal.SIGKILL
    again = run("half", -1)
    assert again.returncode == 0, again.stderr
    assert again.stdout == whole.stdout


def test_values_must_be_at_hand(tmp_path):
    with pytest.raises(ValueError, match="None inside of jit"):
        xc.jit(lambda x: xo.minimize(rosenbrock, x, checkpoint=tmp_path).x)(START)
    with pytest.raises(ValueError, match="None with several restarts"):
        decomp.cp_als(TENSOR, 2, restarts=2, checkpoint=tmp_path)


def test_folder_of_another_function(tmp_path):
    xo.minimize(rosenbrock, START, checkpoint=tmp_path)
    with pytest.raises(ValueError, match=r"a folder of this problem of optimize\.root"):
        xo.root(residuals, START, checkpoint=tmp_path)
