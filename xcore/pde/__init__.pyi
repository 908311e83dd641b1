"""Types of xcore.pde. Written by tools/stubs.py."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, overload

import numpy as np

from xcore._core.array import Array
from xcore._core.typing import ArrayLike, Axis, DTypeLike, Key, Shape

from pathlib import Path
from xcore._core.typing import PyTree
from xcore._solution import Solution
from xcore.pde._fields import GridOperator
from xcore._solution import Status as Status
from xcore.errors import IncompatibleError as IncompatibleError
from xcore.errors import UnstableStepError as UnstableStepError
from xcore.pde._acoustic import AcousticWave as AcousticWave
from xcore.pde._boundary import Dirichlet as Dirichlet
from xcore.pde._boundary import Neumann as Neumann
from xcore.pde._boundary import Periodic as Periodic
from xcore.pde._boundary import Robin as Robin
from xcore.pde._cut import CutDiffusion as CutDiffusion
from xcore.pde._diffusion import Diffusion as Diffusion
from xcore.pde._direct import apply_function as apply_function
from xcore.pde._direct import solve_direct as solve_direct
from xcore.pde._events import Event as Event
from xcore.pde._grid import Grid as Grid
from xcore.pde._interface import interface_diffusion as interface_diffusion
from xcore.pde._laplacian import Laplacian as Laplacian
from xcore.pde._march import Print as Print
from xcore.pde._march import Steady as Steady
from xcore.pde._masked import Masked as Masked
from xcore.pde._modes import eigenmodes as eigenmodes
from xcore.pde._open import OpenHelmholtz as OpenHelmholtz
from xcore.pde._operators import Advection as Advection
from xcore.pde._operators import Divergence as Divergence
from xcore.pde._operators import Gradient as Gradient
from xcore.pde._operators import Helmholtz as Helmholtz
from xcore.pde._poisson import poisson as poisson
from xcore.pde._rosenbrock import Rosenbrock as Rosenbrock
from xcore.pde._sdirk import SDIRK as SDIRK
from xcore.pde._shapes import polygon as polygon
from xcore.pde._solutions import FieldSolution as FieldSolution
from xcore.pde._solutions import TrajectorySolution as TrajectorySolution
from xcore.pde._stencil import Stencil as Stencil
from xcore.pde._store import Store as Store
from xcore.pde._tableaux import Tableau as Tableau
from xcore.pde._time import ExponentialIntegrator as ExponentialIntegrator
from xcore.pde._time import IMEX as IMEX
from xcore.pde._time import Leapfrog as Leapfrog
from xcore.pde._time import Newmark as Newmark
from xcore.pde._time import RungeKutta as RungeKutta
from xcore.pde._time import ThetaMethod as ThetaMethod
from xcore.pde._time import check_step as check_step
from xcore.pde._time import stable_step as stable_step
from xcore.pde._time import wave_energy as wave_energy
from xcore.pde._waves import Points as Points
from xcore.pde._waves import Wave as Wave

BOGACKI_SHAMPINE: Tableau
DOP853: Tableau
DORMAND_PRINCE: Tableau
EULER: Tableau
HEUN: Tableau
KENCARP4: SDIRK
KVAERNO5: SDIRK
MIDPOINT: Tableau
RK4: Tableau
RODAS5P: Rosenbrock
SSP3: Tableau
TRBDF2: SDIRK
@overload
def integrate(f: Callable[..., Any], x0: PyTree, t_eval: ArrayLike | Sequence[float], *, tableau: Tableau | Rosenbrock | SDIRK = ..., rtol: float = 1e-05, atol: PyTree = 1e-08, first_step: ArrayLike | None = None, max_step: ArrayLike | None = None, max_steps: int = 100000, events: Any = None, jac: str = 'auto', checkpoints: int | None = None, report: Literal[False] = False) -> PyTree: ...
@overload
def integrate(f: Callable[..., Any], x0: PyTree, t_eval: ArrayLike | Sequence[float], *, tableau: Tableau | Rosenbrock | SDIRK = ..., rtol: float = 1e-05, atol: PyTree = 1e-08, first_step: ArrayLike | None = None, max_step: ArrayLike | None = None, max_steps: int = 100000, events: Any = None, jac: str = 'auto', checkpoints: int | None = None, report: Literal[True]) -> TrajectorySolution:
    """States of u' = f(u, t) at given times, with steps as long as the error allows."""
@overload
def march(stepper: Any, x0: PyTree, dt: ArrayLike, steps: int, *, every: int = 1, trackers: Any = ..., t0: ArrayLike = 0.0, op: Any = None, report: Literal[False] = False) -> PyTree: ...
@overload
def march(stepper: Any, x0: PyTree, dt: ArrayLike, steps: int, *, every: int = 1, trackers: Any = ..., t0: ArrayLike = 0.0, op: Any = None, report: Literal[True]) -> TrajectorySolution:
    """The last state of a long run, of which trackers see every so many steps. Nothing else is kept."""
@overload
def refine(make: Callable[[Grid], GridOperator], f: Any, grid: Grid, *, of: Callable[[Any, GridOperator], ArrayLike], rtol: float = 0.001, most: int = 300000, report: Literal[False] = False) -> Array: ...
@overload
def refine(make: Callable[[Grid], GridOperator], f: Any, grid: Grid, *, of: Callable[[Any, GridOperator], ArrayLike], rtol: float = 0.001, most: int = 300000, report: Literal[True]) -> FieldSolution:
    """The solution of make(grid)(u) + boundary = f on a grid so fine that the estimated error of a functional is at"""
@overload
def solve(op: GridOperator, f: ArrayLike | Callable[..., ArrayLike], *, rtol: float | None = None, method: str = 'auto', cycle: str = 'V', smoother: str = 'auto', max_steps: int = 100, report: Literal[False] = False, estimate: bool | Callable[..., GridOperator] = False, history: bool = False, progress: str | bool = False, of: Callable[..., ArrayLike] | None = None) -> Array: ...
@overload
def solve(op: GridOperator, f: ArrayLike | Callable[..., ArrayLike], *, rtol: float | None = None, method: str = 'auto', cycle: str = 'V', smoother: str = 'auto', max_steps: int = 100, report: Literal[True], estimate: bool | Callable[..., GridOperator] = False, history: bool = False, progress: str | bool = False, of: Callable[..., ArrayLike] | None = None) -> FieldSolution:
    """The field u with op(u) + op.boundary() = f. Derivatives cost one more solution."""
@overload
def solve_nonlinear(f: Callable[[Array], Array], x0: ArrayLike, preconditioner: Any, *, rtol: float | None = None, max_steps: int = 50, report: Literal[False] = False, history: bool = False, progress: str | bool = False, checkpoint: str | Path | None = None) -> Array: ...
@overload
def solve_nonlinear(f: Callable[[Array], Array], x0: ArrayLike, preconditioner: Any, *, rtol: float | None = None, max_steps: int = 50, report: Literal[True], history: bool = False, progress: str | bool = False, checkpoint: str | Path | None = None) -> FieldSolution:
    """The field u with f(u) = 0, by Newton's method. Derivatives cost one linear solution more."""
@overload
def solve_system(f: Callable[[Any], Any], b: PyTree, *, kernel: Any = ..., rtol: float | None = None, report: Literal[False] = False) -> PyTree: ...
@overload
def solve_system(f: Callable[[Any], Any], b: PyTree, *, kernel: Any = ..., rtol: float | None = None, report: Literal[True]) -> FieldSolution:
    """The tree of fields u with f(u) = b, for a function f that is linear in u, but for what does not depend on u."""
@overload
def trajectory(stepper: Any, x0: PyTree, dt: ArrayLike, steps: int, *, every: int = 1, t0: ArrayLike = 0.0, save: Callable[..., Any] | None = None, op: Any = None, progress: bool | str = False, checkpoint: str | Path | None = None, parts: int = 10, checkpoints: int | None = None, report: Literal[False] = False) -> PyTree: ...
@overload
def trajectory(stepper: Any, x0: PyTree, dt: ArrayLike, steps: int, *, every: int = 1, t0: ArrayLike = 0.0, save: Callable[..., Any] | None = None, op: Any = None, progress: bool | str = False, checkpoint: str | Path | None = None, parts: int = 10, checkpoints: int | None = None, report: Literal[True]) -> TrajectorySolution:
    """States after ``every``, 2 ``every``, … of ``steps`` steps, stacked along a new first axis."""
