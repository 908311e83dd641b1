"""Time: steps of many methods, as data or as small structs.

A stepper has ``step(u, t, dt) -> u`` for a tree of arrays u; one that solves linear systems has
``attempt(u, t, dt) -> (u, status)`` too.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import stop_gradient
from .._core import Array, ArrayLike, PyTree, dtypes, errors, static, struct, tree, typeof
from .._core.trace import ensure_compile_time_eval
from .._solution import Status
from ._boundary import as_dtype
from ._diffusion import Diffusion, diagonal
from ._direct import apply_function
from ._exponential import grown
from ._fields import GridOperator
from ._grid import fits
from ._laplacian import Laplacian
from ._masked import Masked
from ._operators import Helmholtz
from ._shifted import SOLVED, known_product, of_laplacian, require_complex, shifted_solve
from ._stability import longest_step
from ._stencil import Stencil
from ._tableaux import RK4, Tableau, place

# Runge and Kutta

_TIMES = ("t", "time", "tau")


def check_order(who: str, f, first: str = "state") -> None:
    """That a function's first argument is the state, or the time, as far as the names of its arguments tell."""
    if isinstance(f, GridOperator):
        want = "a function of u and t"
        raise errors.bad_argument(
            who, "f", type(f).__name__, want, "Of an operator: lambda u, t: op(u) + op.boundary()."
        )
    try:
        signature = inspect.signature(f)
    except (TypeError, ValueError):  # a builtin, or no function
        return
    if who.startswith("pde.") and not fits(signature, 2):  # others have further arguments
        raise errors.bad_argument(
            who, "the function", f, "one of two arguments, the state and the time"
        )
    names = [p.lower() for p in signature.parameters][:2]
    place, other = (0, "solve_ivp, whose functions are of (t, y)") if first == "state" else (
        1, "odeint, whose functions are of (y, t)"
    )  # fmt: skip
    if len(names) == 2 and names[place] in _TIMES and names[1 - place] not in _TIMES:
        order = "(state, time)" if first == "state" else "(time, state)"
        raise errors.bad_argument(
            who, "the function", errors.Words(f"({', '.join(names)})"), f"of {order}, in this order",
            f"Exchange its arguments; or call xcore.scipy.integrate.{other}.",
        )  # fmt: skip


def stages(rows: tuple, f, u, t, dt, slopes=()) -> list:
    """The slopes at the start of a step, or those that are known, and those of all stages of these rows."""
    found = list(slopes) or [f(u, t)]
    for row in rows:
        found.append(f(moved(u, found, row, dt), t + place(row) * dt))
    return found


def estimated(tableau: Tableau, slopes, like, dt):
    """The estimated error of a step from ``like``."""
    zero = tree.map(xnp.zeros_like, like)
    fine = moved(zero, slopes, tableau.error, dt)
    if not len(tableau.coarse):
        return fine

    def smaller(fine, coarse):
        size = xnp.abs(fine)
        both = xnp.hypot(size, xnp.abs(coarse) / 10)
        return fine * stop_gradient(size / xnp.where(both > 0, both, 1))

    return tree.map(smaller, fine, moved(zero, slopes, tableau.coarse, dt))


def check_tree(who: str, slope, structure, what: str = "f(u, t)") -> None:
    """Raises where f, or another function of the state, gives other containers than those of its state."""
    given = tree.structure(slope)
    if given != structure:
        advice = "xnp.stack([…]) makes one array of several numbers, and xnp.asarray(x0) of a list to start from."
        one = tree.structure(0)
        said = [
            "one array" if s == one else str(s)[len("PyTreeDef(") : -1] for s in (given, structure)
        ]
        raise errors.bad_argument(who, what, said[0], f"of the form of u, {said[1]}", advice)


def check_slope(who: str, k, shape: tuple, what: str = "f(u, t)") -> None:
    """Raises where f gives an array that fits its state by broadcasting only; a number is one for all elements."""
    if xnp.shape(k) not in ((), shape):
        name = what.partition("(")[0]
        raise errors.shape_mismatch(who, f"need {what} of the shape of u, {shape}", **{name: k})


def moved(u, slopes, weights, dt):
    """u + dt Σ weight × slope."""
    used = [(w, s) for w, s in zip(weights, slopes, strict=False) if w]
    if not used:
        return u
    weights, slopes = zip(*used, strict=True)
    for slope in slopes:
        check_tree("pde", slope, tree.structure(u))

    def leaf(x, *ks):
        for k in ks:
            check_slope("pde", k, typeof(x).shape)
        total = sum(w * k for w, k in zip(weights, ks, strict=True))
        return as_dtype("pde", "f(u, t)", x + dt * total, typeof(x).dtype)

    return tree.map(leaf, u, *slopes)


@struct
class RungeKutta:
    """Steps of u' = f(u, t) by an explicit Runge–Kutta method.

    Which steps are stable depends on f. They are checked before the run where its linear operator is
    given too, as ``op`` of ``trajectory`` or ``check_step``; ``stable_step(stepper, u=u)`` estimates
    the longest from f, as does the warning of a trajectory that leaves the finite numbers.

    >>> step = RungeKutta(lambda u, t: -u, RK4).step
    >>> step(xnp.ones(()), 0.0, 0.1)
    Array(0.90484, dtype=float32)
    """

    f: Any = static()
    tableau: Any = RK4

    def __post_init__(self):
        check_order("pde.RungeKutta", self.f)

    def step(self, u: PyTree, t: float | Array, dt: float | Array) -> PyTree:
        """One step."""
        return moved(u, stages(self.tableau.a, self.f, u, t, dt), self.tableau.b, dt)


# Linear, implicit


def check_one_field(who: str, name: str, u: PyTree) -> None:
    """Raises where a state is a tree of several, or none."""
    if not tree.is_leaf_structure(tree.structure(u)):
        advice = "Several fields take pde.RungeKutta, pde.IMEX or pde.integrate; xnp.asarray makes an array of a list."
        raise errors.bad_argument(who, name, u, "one field, an array of the unknowns of op", advice)


@struct
class ThetaMethod:
    """Steps of u' = op(u) + boundary + source by the θ-method:

        (1 - θ dt L) u₊ = u + dt ((1 - θ) L u + boundary + source)

    θ = 1/2 is Crank and Nicolson's method, 1 the implicit Euler method, 0 the explicit one. Each
    step is one solution: direct for constant coefficients, by multigrid or sparse factors else, which are made once.

    Attributes:
      op: any linear operator on a grid, also sums, products, ``Advection``, ``Stencil``, complex ones (for these the
        state is complex, too); where data on the faces or coefficients change, a function of the time that gives one.
      source: a field, or a function of the time, taken in the middle of the step.
      theta: from 0 to 1.

    >>> from xcore.pde import Grid
    >>> stepper = ThetaMethod(Laplacian(Grid(4)))
    >>> u = stepper.step(xnp.ones(3), 0.0, 0.01)
    """

    op: Any
    source: Any = 0.0
    theta: float = static(default=0.5)

    def __post_init__(self):
        if not 0 <= self.theta <= 1:
            raise errors.bad_argument("pde.ThetaMethod", "theta", self.theta, "from 0 to 1")

    def step(self, u: Array, t: float | Array, dt: float | Array) -> Array:
        """One step."""
        return self.attempt(u, t, dt)[0]

    def attempt(self, u: Array, t: float | Array, dt: float | Array) -> tuple[Array, Array]:
        """One step, and the status of its linear system."""
        check_one_field("pde.ThetaMethod", "u", u)
        dtype = typeof(u).dtype
        source = _source("pde.ThetaMethod", self.source, t + dt / 2, u)
        now, then = operator_at(self.op, t), operator_at(self.op, t + dt)
        require_complex("pde.ThetaMethod", now, u)
        still = (1 - self.theta) * now.boundary(dtype) + self.theta * then.boundary(dtype)
        right = u + dt * ((1 - self.theta) * now(u) + still + source)
        right = as_dtype("pde.ThetaMethod", "source", right, dtype)
        return (
            (right, SOLVED)
            if self.theta == 0
            else shifted_solve(then, right, known_product(dt, self.theta))
        )  # pyright: ignore[reportReturnType]

    def leap(self, u: Array, dt: float | Array, count: int) -> Any:
        """So many steps at once, or None where that is not known how.

        With data that stand still, and a Laplace operator of a box, a step multiplies the part of an
        eigenvector by g = (1 + (1 - θ) dt w) / (1 - θ dt w) and adds h = dt s / (1 - θ dt w); n of
        them make gⁿ u + (1 + g + … + gⁿ⁻¹) h.
        """
        if not isinstance(self.op, Laplacian) or callable(self.source):
            return None
        dtype = typeof(u).dtype
        still = as_dtype("pde.ThetaMethod", "source", self.op.boundary(dtype) + self.source, dtype)
        still = xnp.broadcast_to(still, typeof(u).shape)

        def made(w):
            within = 1 - self.theta * dt * w
            power, total = _powers((1 + (1 - self.theta) * dt * w) / within, count)
            return power, total * dt / within

        grown = apply_function(self.op, u, lambda w: made(w)[0])
        return (grown + apply_function(self.op, still.astype(dtype), lambda w: made(w)[1])).astype(
            dtype
        )


def _powers(g, count: int) -> tuple:
    """(gⁿ, 1 + g + … + gⁿ⁻¹) by doubling and adding one, n's bits saying when."""
    power, total = xnp.ones_like(g), xnp.zeros_like(g)
    for bit in f"{count:b}":
        power, total = power * power, total * (1 + power)
        if bit == "1":
            power, total = power * g, total * g + 1
    return power, total


def operator_at(op, t):
    """The operator at a time, where it is a function of the time; else as it is."""
    words = "or a function of the time that gives one"
    if isinstance(op, GridOperator) or not callable(op):
        return _operator(op, words)
    signature = None
    with contextlib.suppress(TypeError, ValueError):  # of a builtin nothing is known
        signature = inspect.signature(op)
    if signature is not None and not fits(signature, 1):
        raise errors.bad_argument("pde", "op", op, f"an operator of xcore.pde, {words}")
    return _operator(op(t), words)


def _operator(op, words: str = "with data that stand still"):
    """The operator, if it is one."""
    if not isinstance(op, GridOperator) or not op.of_fields:
        want = f"an operator of xcore.pde that takes a field to a field, {words}"
        raise errors.bad_argument("pde", "op", op, want)
    return op


def _source(who: str, given, t, u):
    """The source at a time: a field like u, or a number."""
    if callable(given):
        with contextlib.suppress(TypeError, ValueError):  # of a builtin nothing is known
            if not fits(inspect.signature(given), 1):
                given = errors.Words(f"a function {inspect.signature(given)}")
        if isinstance(given, errors.Words):
            advice = "op.field(f) is the field of a function of the coordinates."
            raise errors.bad_argument(
                who, "source", given, "a field or a function of the time", advice
            )
        given = given(t)
    if not repeats_to(given, u):
        want = f"a field of shape {typeof(u).shape}, or what repeats to it"
        raise errors.bad_argument(who, "source", given, want)
    return given


def repeats_to(x, u) -> bool:
    """Whether an array repeats to the shape of another."""
    sizes = zip(reversed(xnp.shape(x)), reversed(typeof(u).shape), strict=False)
    return xnp.ndim(x) <= typeof(u).ndim and all(m in (1, n) for m, n in sizes)


@struct
class ExponentialIntegrator:
    """Steps of u' = L u + boundary + source for data that stand still, as long as one likes:
    u₊ = e^{dt L} u + dt φ(dt L) (boundary + source), where φ(z) = (eᶻ - 1) / z.

    Of multiples of a Laplace operator of a box plus a number by its eigenvectors, exact but for rounding; of any
    other linear operator by products with it (Krylov's spaces), to the dtype's precision to the power of 2/3. That
    takes some hundred products where dt times the largest eigenvalue is a thousand, and more in proportion.

    >>> from xcore.pde import Grid
    >>> u = ExponentialIntegrator(Laplacian(Grid(4))).step(xnp.ones(3), 0.0, 0.01)
    """

    op: Any
    source: Any = 0.0

    def step(self, u: Array, t: float | Array, dt: float | Array) -> Array:
        """One step."""
        return self.attempt(u, t, dt)[0]

    def attempt(self, u: Array, t: float | Array, dt: float | Array) -> tuple[Array, Array]:
        """One step, and the status of its approximation."""
        who, op = "pde.ExponentialIntegrator", _operator(self.op)
        check_one_field(who, "u", u)
        if callable(self.source):
            want = "a field: of data that change take pde.ThetaMethod, or pde.integrate"
            raise errors.bad_argument(who, "source", self.source, want)
        require_complex(who, op, u)
        dtype = typeof(u).dtype
        still = op.boundary(dtype) + _source(who, self.source, 0.0, u)
        still = as_dtype(who, "source", still, dtype)
        still = xnp.broadcast_to(still, typeof(u).shape)
        known = of_laplacian(op)
        if known is None:
            return grown(op, u, still, dt)  # pyright: ignore[reportReturnType]
        lap, q, a = known
        e = apply_function(lap, u, lambda w: xnp.exp(dt * (a * (w + q))))
        more = apply_function(lap, still, lambda w: dt * _phi(dt * (a * (w + q))))
        return (e + more).astype(dtype), SOLVED  # pyright: ignore[reportReturnType]


def _phi(z):
    small = xnp.abs(z) < 1e-6
    safe = xnp.where(small, 1, z)
    return xnp.where(small, 1 + z / 2, xnp.expm1(safe) / safe)


@struct
class IMEX:
    """Steps of u' = op(u) + boundary + f(u, t): the linear part implicit, f explicit, of order 2.

    Crank and Nicolson's method for op, Heun's for f. For reaction and diffusion: op is stiff, f not.

    Attributes:
      op: any linear operator on a grid, or a function of the time that gives one; or a tree of these like u.
      f: function of u and t; 0 if it is not given.

    >>> import xcore.numpy as xnp
    >>> from xcore import pde
    >>> op = pde.Laplacian(pde.Grid(8))
    >>> step = pde.IMEX(op, lambda u, t: u - u**3)
    >>> u = pde.trajectory(step, 0.1 * xnp.ones(7), 0.01, 10)
    >>> u.shape
    (10, 7)
    """

    op: Any
    f: Any = static(default=None)

    def __post_init__(self):
        if callable(self.f):
            check_order("pde.IMEX", self.f)

    def step(self, u: PyTree, t: float | Array, dt: float | Array) -> PyTree:
        """One step."""
        return self.attempt(u, t, dt)[0]

    def attempt(self, u: PyTree, t: float | Array, dt: float | Array) -> tuple[PyTree, Array]:
        """One step, and the status of its linear systems."""
        f = _nothing if self.f is None else self.f
        if not callable(f):
            raise errors.bad_argument("pde.IMEX", "f", f, "a function of u and t")
        found: list = []

        def linear(op, x, k):
            x, status = self._linear(op, x, k, t, dt)
            found.append(status)
            return x

        first = f(u, t)
        guess = tree.map(linear, self.op, u, first, is_leaf=_is_op)
        second = f(guess, t + dt)
        mean = tree.map(lambda a, b: (a + b) / 2, first, second)
        u = tree.map(linear, self.op, u, mean, is_leaf=_is_op)
        return u, functools.reduce(xnp.maximum, found)

    def _linear(self, op, u, k, t, dt):
        now, then, dtype = operator_at(op, t), operator_at(op, t + dt), typeof(u).dtype
        if not repeats_to(k, u):
            raise errors.bad_argument(
                "pde.IMEX", "f(u, t)", k, f"of the shape of u, {typeof(u).shape}"
            )
        still = (now.boundary(dtype) + then.boundary(dtype)) / 2
        right = u + dt * (now(u) / 2 + still + k)
        return shifted_solve(
            then, as_dtype("pde.IMEX", "f(u, t)", right, dtype), known_product(dt, 0.5)
        )


def _nothing(u, t):
    return tree.map(xnp.zeros_like, u)


def _is_op(x) -> bool:
    return isinstance(x, GridOperator)


# Waves


@struct
class Leapfrog:
    """Steps of u'' = op(u) + boundary, u' = v for the state (u, v): half a step of v, one of u, half
    a step of v. Explicit, of order 2, symplectic; stable for dt up to ``stable_step``.

    >>> from xcore.pde import Grid
    >>> u, v = Leapfrog(Laplacian(Grid(4))).step((xnp.ones(3), xnp.zeros(3)), 0.0, 0.1)
    """

    op: Any

    def step(
        self, state: tuple[Array, Array], t: float | Array, dt: float | Array
    ) -> tuple[Array, Array]:
        """One step."""
        u, v = _pair("pde.Leapfrog", self.op, state)
        still = dt / 2 * self.op.boundary(typeof(u).dtype)
        # op(dt u) and not dt op(u): of fine grids and long ones alone op(u) may be out of range
        v = v + (self.op(dt / 2 * u) + still)
        u = u + dt * v
        return (u, v + (self.op(dt / 2 * u) + still))


@struct
class Newmark:
    """Steps of u'' = op(u) + boundary, u' = v for the state (u, v) with constant mean acceleration:
    implicit, of order 2, stable for every dt, and it keeps the energy. (Newmark 1959, β = 1/4)

    >>> from xcore.pde import Grid
    >>> u, v = Newmark(Laplacian(Grid(4))).step((xnp.ones(3), xnp.zeros(3)), 0.0, 0.1)
    """

    op: Any

    def step(
        self, state: tuple[Array, Array], t: float | Array, dt: float | Array
    ) -> tuple[Array, Array]:
        """One step."""
        return self.attempt(state, t, dt)[0]

    def attempt(
        self, state: tuple[Array, Array], t: float | Array, dt: float | Array
    ) -> tuple[tuple[Array, Array], Array]:
        """One step, and the status of its linear system."""
        u, v = _pair("pde.Newmark", self.op, state)
        # v₊ = v + dt (a + a₊) / 2, u₊ = u + dt (v + v₊) / 2: a system for v₊ alone; op(dt u) and not dt op(u),
        # for of fine grids and long ones alone op(u) may be out of range
        force = self.op(dt * u) + dt * self.op.boundary(typeof(u).dtype)
        right = v + force + self.op(dt / 2 * (dt / 2 * v))
        square, fine = _square_of_half(dt, typeof(right).dtype)
        v_new, status = shifted_solve(self.op, right, square)
        v_new = xnp.where(fine, v_new, np.nan)
        status = xnp.where(fine, status, np.int32(Status.not_finite))
        return (u + dt / 2 * (v + v_new), v_new), status  # pyright: ignore[reportReturnType]


def _square_of_half(dt, dtype):
    """((dt/2)², whether it is in the range): where not, 1, with which nothing is said of the step."""
    limits = xnp.finfo(dtypes.to_real(dtype))
    with ensure_compile_time_eval():
        square = dt * dt * 0.25
        size = xnp.abs(xnp.asarray(square)).astype(limits.dtype)
        fine = (size >= limits.tiny) & (size <= limits.max) | (xnp.asarray(dt) == 0)
        # a step that is known stays so
        square = square if type(fine) is Array and bool(fine) else xnp.where(fine, square, 1)
    return square, fine


def _pair(who: str, op, state) -> tuple:
    """The parts of a state, for an operator that is one."""
    _operator(op)
    if not isinstance(state, (tuple, list)) or len(state) != 2:
        raise errors.bad_argument(who, "the state", state, "a pair (u, v) of fields")
    return tuple(state)


def wave_energy(op: Any, state: PyTree, dt: ArrayLike | None = None) -> Array:
    """∫ v²/2 + |∇u|²/2 for homogeneous conditions: -u op(u) / 2 by volumes. Of an ``AcousticWave``
    ∫ p²/2ρc² + ρ|v|²/2, which its steps keep between walls.

    Args:
      op: a ``Laplacian`` or ``Diffusion``; or an ``AcousticWave``.
      state: the pair (u, v) of the field and its velocity; or a state of the acoustic wave.
      dt: of the acoustic wave: the length of its steps, by half of which velocities are before pressures.

    >>> from xcore.pde import Grid
    >>> wave_energy(Laplacian(Grid(4)), (xnp.ones(3), xnp.zeros(3)))
    Array(4., dtype=float32)
    """
    if hasattr(op, "energy"):
        if dt is None:
            want = "the length of the steps, by half of which velocities are before pressures"
            raise errors.bad_argument("pde.wave_energy", "dt", dt, want)
        return op.energy(state, dt)
    u, v = _pair("pde.wave_energy", op, state)
    return op.integrate(v * v - u * op(u)) / 2


# Stability


class UnstableStepError(errors.XcoreError, ValueError):
    """A step longer than the method is stable for; the message gives the longest.

    >>> import xcore as xc
    >>> lap = xc.pde.Laplacian(xc.pde.Grid(10))
    >>> f = lambda u, t: lap(u)
    >>> xc.pde.check_step(xc.pde.RungeKutta(f, xc.pde.EULER), 1.0, lap)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnstableStepError: ...
    """


def spectral_radius(op) -> float:
    """An upper bound of the modulus of real eigenvalues: of box operators the sum of the axes'
    largest, of others Gershgorin's, from the diagonal or the rows."""
    if isinstance(op, Laplacian):
        values = op.symbol(np.float64)
        return float(xnp.max(xnp.abs(values)))
    if isinstance(op, Masked):
        return 2 * float(xnp.max(xnp.where(op.inside, op.diagonal(), 0)))
    if isinstance(op, (Helmholtz, Stencil)):
        return float(abs(op.as_sparse()).sum(axis=1).max())
    if not isinstance(op, Diffusion):
        want = "a Laplacian, Diffusion, Masked, Helmholtz or Stencil, whose eigenvalues are real"
        raise errors.bad_argument("pde.stable_step", "op", op, want)
    d = diagonal(op.edges(), op.sinks(), op.rings) / op.weights
    return 2 * float(xnp.max(d))


def stable_step(stepper: Any, op: Any = None, *, u: PyTree = None, t: ArrayLike = 0.0) -> float:
    """The longest step for which a method stays bounded: infinite for implicit ones.

    Args:
      stepper: what takes the steps.
      op: for ``RungeKutta`` the linear operator in its function, with real eigenvalues.
      u, t: for ``RungeKutta`` without ``op`` a state and its time: the step is estimated from the
        derivative of f there, to a few percent, whatever its eigenvalues; 0 where no step is stable,
        as of Euler's method for waves.

    >>> from xcore.pde import Grid
    >>> round(stable_step(Leapfrog(Laplacian(Grid(10)))), 3)
    0.101
    """
    if isinstance(stepper, RungeKutta):
        if op is None and u is None:
            want = "the linear operator of f, or u a state to estimate the step at"
            raise errors.bad_argument("pde.stable_step", "op", op, want)
        if op is None:
            return longest_step(stepper.tableau, stepper.f, u, t)
        return stepper.tableau.real / spectral_radius(op)
    if hasattr(stepper, "longest_step"):
        return stepper.longest_step()
    if isinstance(stepper, Leapfrog):
        return 2 / spectral_radius(stepper.op) ** 0.5
    if isinstance(stepper, ThetaMethod) and stepper.theta < 0.5:
        op = operator_at(stepper.op, 0.0)
        return 2 / ((1 - 2 * stepper.theta) * spectral_radius(op))
    if not hasattr(stepper, "step"):
        want = "what takes steps, such as pde.RungeKutta(f) or pde.Leapfrog(op)"
        advice = "Of u' = op(u): pde.stable_step(pde.RungeKutta(lambda u, t: op(u)), op)."
        raise errors.bad_argument("pde.stable_step", "stepper", stepper, want, advice)
    return float("inf")


def check_step(stepper: Any, dt: ArrayLike, op: Any = None) -> None:
    """Raises ``UnstableStepError`` if dt and the limit are known, and dt is longer.

    Args:
      stepper: a method in time, such as ``RungeKutta``.
      dt: the time step.
      op: the operator on the right-hand side, where the method does not hold it.

    >>> from xcore.pde import Grid
    >>> check_step(Leapfrog(Laplacian(Grid(10))), 0.1)
    """
    if not (type(dt) is Array or isinstance(dt, (int, float, complex, np.generic, np.ndarray))):
        return
    steps = np.asarray(dt)
    if np.iscomplexobj(steps) or not np.all((steps > 0) & (steps < np.inf)):
        raise errors.bad_argument("pde", "dt", dt, "positive and finite")
    if isinstance(stepper, RungeKutta) and op is None:
        return
    try:
        longest = stable_step(*stop_gradient((stepper, op)))
    except errors.ConcretizationError:  # of coefficients that only the running program knows
        return
    if steps.max() > longest * (1 + 1e-9):
        raise UnstableStepError(
            f"xcore.pde: a step of {steps.max():.4g} makes {type(stepper).__name__} unstable: small "
            f"waves would grow without bound. The longest stable step is {longest:.6g}; take shorter "
            "ones, or an implicit method (ThetaMethod, ExponentialIntegrator, Newmark)."
        )
