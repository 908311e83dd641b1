"""Partial differential equations on boxes by finite differences: operators, solvers, time."""

# ruff: noqa: I001 (names stand in lines, not one on each)

# fmt: off
from .._core.package import bound as _bound
from .._solution import Status
from ._acoustic import AcousticWave
from ._boundary import Dirichlet, Neumann, Periodic, Robin
from ._cut import CutDiffusion
from ._diffusion import Diffusion
from ._direct import apply_function, solve_direct
from ._events import Event
from ._grid import Grid
from ._interface import interface_diffusion
from ._laplacian import Laplacian
from ._march import Print, Steady, march
from ._masked import Masked
from ._modes import eigenmodes
from ._nonlinear import solve_nonlinear
from ._open import OpenHelmholtz
from ._operators import Advection, Divergence, Gradient, Helmholtz
from ._poisson import IncompatibleError, poisson
from ._refine import refine
from ._rosenbrock import RODAS5P, Rosenbrock
from ._sdirk import KENCARP4, KVAERNO5, SDIRK, TRBDF2
from ._shapes import polygon
from ._solutions import FieldSolution, TrajectorySolution
from ._solve import solve
from ._stencil import Stencil
from ._store import Store
from ._systems import solve_system
from ._tableaux import (
    BOGACKI_SHAMPINE, DOP853, DORMAND_PRINCE, EULER, HEUN, MIDPOINT, RK4, SSP3, Tableau,
)
from ._time import (
    IMEX, ExponentialIntegrator, Leapfrog, Newmark, RungeKutta, ThetaMethod, UnstableStepError,
    check_step, stable_step, wave_energy,
)
from ._trajectory import integrate, trajectory
from ._waves import Points, Wave
# fmt: on

__all__ = [
    "AcousticWave", "Advection", "BOGACKI_SHAMPINE", "CutDiffusion", "DOP853", "DORMAND_PRINCE", "Diffusion",
    "Dirichlet", "Divergence", "EULER", "Event", "ExponentialIntegrator", "Gradient", "Grid", "HEUN", "Helmholtz",
    "IMEX", "IncompatibleError", "KENCARP4", "KVAERNO5", "Laplacian", "Leapfrog", "MIDPOINT", "Masked", "Neumann",
    "Newmark", "OpenHelmholtz", "Periodic", "Points", "RK4", "FieldSolution", "RODAS5P", "Print", "Robin",
    "Rosenbrock", "RungeKutta", "SDIRK", "SSP3", "Status", "Steady", "Stencil", "Store", "Tableau", "TRBDF2",
    "ThetaMethod", "TrajectorySolution", "UnstableStepError", "Wave", "check_step", "eigenmodes", "apply_function",
    "integrate", "interface_diffusion", "march", "poisson", "polygon", "refine", "solve", "solve_direct",
    "solve_nonlinear", "solve_system", "stable_step", "trajectory", "wave_energy",
]  # fmt: skip

_bound(globals())
