"""Roots of systems of equations, and fixed points."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import jacfwd, linearize
from .._core import PyTree, errors, static, struct, typeof
from .._iterate import checkpoints
from .._solution import Certificate
from .._width import as_wide
from ..linalg import GMRES, FunctionOperator, linear_solve
from ._given import with_jacobian
from ._implicit import differentiable
from ._packed import loop
from ._problem import Flat, as_tuple, count, largest, tolerance
from ._result import RUNNING, Result, Status, first_of, result
from ._root_units import TESTED, rounds
from ._sparse import Matrix, gives_sparse, linear_by, newton_of
from ._trust import norm


class Equations:
    """A function from vectors to vectors of the same length."""

    def __init__(self, who, fun, flat: Flat, args, fixed: bool = False):
        if not callable(fun):
            raise TypeError(f"xcore.{who}: fun must be a function.")
        self.who, self.fun, self.flat, self.fixed = who, fun, flat, fixed
        self.args = as_tuple(args)
        self.jac: Any = None
        self.matrix: Matrix | None = None

    def value(self, x):
        """F(x); of a fixed-point problem x - fun(x)."""
        found = self.flat_value(self.fun(self.flat.split(x), *self.args))
        return x - found if self.fixed else found

    def jacobian(self, x):
        """A ``Sparse`` matrix where a method asks for that."""
        if self.matrix is not None:
            return self.matrix(x, self.args)
        return jacfwd(self.value)(x)

    def flat_value(self, y):
        given = Flat(self.who, "the result of fun", y)
        if given.size != self.flat.size or (self.fixed and given.structure != self.flat.structure):
            raise errors.ShapeError(
                f"xcore.{self.who}: fun must return as many numbers as there are unknowns, "
                f"{self.flat.size}, but returned {given.size}; for more equations than unknowns use "
                "least_squares."
            )
        return given.start.astype(self.flat.dtype)


def start_of(problem, x, tol, **more):
    """The state before the first step."""
    f = problem.value(x)
    size = largest(f)
    status = first_of((~xnp.isfinite(size), Status.not_finite), (size <= tol, Status.success))
    return {
        "x": x, "f": 0.5 * xnp.vdot(f, f), "g": f, "size": size, "status": status, "nit": count(0),
        "nfev": count(1), "njev": count(0), **more,
    }  # fmt: skip


def moved(s, x, f, tol, nfev, njev, stalled, **more):
    """The state after a step to x, where the function is f."""
    size, eps = largest(f), xnp.finfo(typeof(x).dtype).eps
    still = xnp.all(xnp.abs(x - s["x"]) <= 4 * eps * xnp.abs(x))
    status = first_of(
        (~xnp.isfinite(size), Status.not_finite), (size <= tol, Status.success),
        (stalled | still, Status.stagnation),
    )  # fmt: skip
    return {
        "x": x, "f": 0.5 * xnp.vdot(f, f), "g": f, "size": size, "status": status,
        "nit": s["nit"] + np.int32(1), "nfev": s["nfev"] + nfev, "njev": s["njev"] + np.int32(njev),
        **more,
    }  # fmt: skip


def shortened(problem, x, f, p, limit: int = 30):
    """(x + t p, F there, evaluations, failed): t halves until |F|² falls enough."""
    merit = xnp.vdot(f, f)

    def turn(s):
        t, _, n, _ = s
        t = xnp.where(n == 0, t, 0.5 * t)
        new = problem.value(x + t * p)
        good = xnp.vdot(new, new) <= (1 - 1e-4 * t) ** 2 * merit
        return t, new, n + np.int32(1), good

    start = (xnp.ones((), typeof(x).dtype), f, count(0), xnp.zeros((), bool))
    # own loop: inside a step
    t, new, n, good = loop(lambda s: ~s[3] & (s[2] < limit), turn, start)
    return x + t * p, new, n, ~good


@struct
class Newton:
    """Newton's method with the whole Jacobian; steps that do not help are halved.

    Attributes:
      sparse: whether the Jacobian is found, and its equations are solved, as those of a sparse matrix.

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> f = lambda x: xnp.array([x[0] + x[1] - 3, x[0] * x[1] - 2])
    >>> found = optimize.root(f, xnp.array([0.5, 2.5]), method=optimize.Newton())
    >>> bool(found.ok), found.x.round(3)
    (True, Array([1., 2.], dtype=float32))
    """

    sparse: bool = static(default=False)

    def init(self, problem: Any, x: Any, tol: Any) -> dict[str, Any]:
        return start_of(problem, x, tol)

    def step(self, problem: Any, s: dict[str, Any], tol: Any) -> dict[str, Any]:
        x, f = s["x"], s["g"]
        j = problem.jacobian(x)
        p = newton_of(j, f)[0] if self.sparse else -xnp.linalg.solve(j, f)
        p = xnp.where(xnp.all(xnp.isfinite(p)), p, 0)
        x, f, n, failed = shortened(problem, x, f, p)
        return moved(s, x, f, tol, n, 1, failed)


@struct
class NewtonKrylov:
    """Newton's method whose equations are solved by GMRES: no Jacobian is formed.

    Attributes:
      inner: steps of GMRES at most.

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> f = lambda x: xnp.array([x[0] + x[1] - 3, x[0] * x[1] - 2])
    >>> found = optimize.root(f, xnp.array([0.5, 2.5]), method=optimize.NewtonKrylov())
    >>> bool(found.ok), found.x.round(3)
    (True, Array([1., 2.], dtype=float32))
    """

    inner: int = static(default=60)

    def init(self, problem: Any, x: Any, tol: Any) -> dict[str, Any]:
        return start_of(problem, x, tol)

    def step(self, problem: Any, s: dict[str, Any], tol: Any) -> dict[str, Any]:
        x = s["x"]
        n = typeof(x).shape[0]
        f, push = linearize(problem.value, x)
        operator = FunctionOperator(lambda _, v: push(v), None, (n, n))
        m = min(n, self.inner)
        solver = GMRES(rtol=1e-3, restart=m, max_steps=max(1, -(-self.inner // m)))
        p = linear_solve(operator, -f, solver, report=True).value
        p = xnp.where(xnp.all(xnp.isfinite(p)), p, 0)
        x, f, k, failed = shortened(problem, x, f, p)
        return moved(s, x, f, tol, k, 1, failed)


@struct
class Broyden:
    """The inverse Jacobian is computed once, then learnt from the steps. (Broyden 1965)

    It is computed anew after a step that does not help.

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> f = lambda x: xnp.array([x[0] + x[1] - 3, x[0] * x[1] - 2])
    >>> found = optimize.root(f, xnp.array([0.5, 2.5]), method=optimize.Broyden())
    >>> bool(found.ok), found.x.round(3)
    (True, Array([1., 2.], dtype=float32))
    """

    def init(self, problem: Any, x: Any, tol: Any) -> dict[str, Any]:
        n, dtype = typeof(x).shape[0], typeof(x).dtype
        return start_of(problem, x, tol, h=xnp.zeros((n, n), dtype), fresh=xnp.ones((), bool))

    def step(self, problem: Any, s: dict[str, Any], tol: Any) -> dict[str, Any]:
        x, f = s["x"], s["g"]
        h = xnp.where(s["fresh"], xnp.linalg.inv(problem.jacobian(x)), s["h"])
        p = -(h @ f)
        p = xnp.where(xnp.all(xnp.isfinite(p)), p, 0)
        new_x, new, n, failed = shortened(problem, x, f, p, limit=12)
        step, y = new_x - x, new - f
        hy = h @ y
        base = xnp.vdot(step, hy)
        safe = xnp.abs(base) > 1e-12 * xnp.vdot(step, step)
        change = ((step - hy) / xnp.where(safe, base, 1))[:, None] * (step @ h)
        h = xnp.where(safe, h + change, h)
        keep = failed & ~s["fresh"]  # try again from here with a true Jacobian
        out = moved(
            s, xnp.where(keep, x, new_x), xnp.where(keep, f, new), tol, n, 0, failed & s["fresh"],
            h=h, fresh=failed,
        )  # fmt: skip
        return out | {
            "status": xnp.where(keep, RUNNING, out["status"]),
            "njev": s["njev"] + s["fresh"].astype(np.int32),
        }


@struct
class PowellHybrid:
    """Powell's dogleg: between the gradient's step and Newton's, in a scaled ball. (Powell 1970)

    Attributes:
      first_radius: the first radius, relative to the scaled length of x0.

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> f = lambda x: xnp.array([x[0] + x[1] - 3, x[0] * x[1] - 2])
    >>> found = optimize.root(f, xnp.array([0.5, 2.5]), method=optimize.PowellHybrid())
    >>> bool(found.ok), found.x.round(3)
    (True, Array([1., 2.], dtype=float32))
    """

    first_radius: float = static(default=100.0)

    def init(self, problem: Any, x: Any, tol: Any) -> dict[str, Any]:
        n, dtype = typeof(x).shape[0], typeof(x).dtype
        return start_of(problem, x, tol, radius=-xnp.ones((), dtype), scale=xnp.zeros(n, dtype))

    def step(self, problem: Any, s: dict[str, Any], tol: Any) -> dict[str, Any]:
        x, f = s["x"], s["g"]
        j = problem.jacobian(x)
        scale = xnp.maximum(s["scale"], xnp.sqrt(xnp.sum(j * j, axis=0)))
        scale = xnp.where(scale == 0, 1, scale)
        reach = norm(scale * x)
        first = self.first_radius * xnp.where(reach > 0, reach, norm(f))
        radius = xnp.where(s["radius"] < 0, first, s["radius"]).astype(f.dtype)
        p = self._dogleg(j, f, scale, radius)
        new = problem.value(x + p)
        jp = f + j @ p
        old_merit, merit = xnp.vdot(f, f), xnp.vdot(new, new)
        promised = old_merit - xnp.vdot(jp, jp)
        ratio = (old_merit - merit) / xnp.where(promised > 0, promised, 1)
        ratio = xnp.where(xnp.isfinite(merit) & (promised > 0), ratio, -1)
        size, take = norm(scale * p), ratio > 1e-4
        radius = xnp.where(
            ratio < 0.1, 0.5 * size, xnp.where(ratio > 0.5, xnp.maximum(radius, 2 * size), radius)
        )
        stalled = radius <= 4 * xnp.finfo(f.dtype).eps * reach
        out = moved(s, xnp.where(take, x + p, x), xnp.where(take, new, f), tol, np.int32(1), 1, stalled,
                    radius=radius, scale=scale)  # fmt: skip
        return out | {"status": xnp.where(take | stalled, out["status"], RUNNING)}

    def _dogleg(self, j, f, scale, radius):
        newton = -xnp.linalg.solve(j, f)
        fine = xnp.all(xnp.isfinite(newton))
        newton = xnp.where(fine, newton, 0)
        g = (f @ j) / scale
        jg = j @ (g / scale)
        t = xnp.vdot(g, g) / xnp.maximum(xnp.vdot(jg, jg), xnp.finfo(f.dtype).tiny)
        cauchy, q = -t * g, scale * newton
        short = norm(cauchy) < radius
        a, b = q - cauchy, xnp.vdot(cauchy, q - cauchy)
        aa = xnp.maximum(xnp.vdot(a, a), xnp.finfo(f.dtype).tiny)
        gap = xnp.maximum(radius**2 - xnp.vdot(cauchy, cauchy), 0)
        along = (xnp.sqrt(b * b + aa * gap) - b) / aa
        boundary = -radius * g / xnp.maximum(norm(g), xnp.finfo(f.dtype).tiny)
        bent = xnp.where(
            short & fine, cauchy + xnp.clip(along, 0, 1) * a, xnp.where(short, cauchy, boundary)
        )
        return xnp.where(fine & (norm(q) <= radius), q, bent) / scale


@struct
class Anderson:
    """x ← x - F(x), improved by the combination of the last steps that makes F smallest.

    For fixed points x = T(x), F = x - T. (Anderson 1965; Walker, Ni 2011)

    Attributes:
      memory: how many steps are combined; 0 is the plain iteration.
      mixing: how much of the residual is added.

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> found = optimize.root(lambda x: x - xnp.cos(x), xnp.array([0.5]), method=optimize.Anderson())
    >>> bool(found.ok), found.x.round(4)
    (True, Array([0.7391], dtype=float32))
    """

    memory: int = static(default=5)
    mixing: float = static(default=1.0)

    def init(self, problem: Any, x: Any, tol: Any) -> dict[str, Any]:
        m, n = max(self.memory, 1), typeof(x).shape[0]
        rows = xnp.zeros((m, n), typeof(x).dtype)
        return start_of(problem, x, tol, dx=rows, df=rows)

    def step(self, problem: Any, s: dict[str, Any], tol: Any) -> dict[str, Any]:
        x, f, dx, df = s["x"], s["g"], s["dx"], s["df"]
        if self.memory:
            # the least |f - γ dF|, with rows of no weight for steps not yet made
            gram = df @ df.T
            top = xnp.maximum(xnp.max(xnp.diagonal(gram)), xnp.finfo(f.dtype).tiny)
            eps = 10 * xnp.finfo(f.dtype).eps
            weights = xnp.linalg.solve(
                gram + eps * top * xnp.eye(self.memory, dtype=f.dtype), df @ f
            )
            weights = xnp.where(xnp.all(xnp.isfinite(weights)), weights, 0)
            new_x = x - self.mixing * f - weights @ (dx - self.mixing * df)
        else:
            new_x = x - self.mixing * f
        new = problem.value(new_x)
        push = lambda rows, row: xnp.concatenate([rows[1:], row[None]])  # noqa: E731
        return moved(
            s, new_x, new, tol, np.int32(1), 0, xnp.zeros((), bool), dx=push(dx, new_x - x),
            df=push(df, new - f),
        )  # fmt: skip


METHODS = {
    "newton": Newton(), "sparse": Newton(sparse=True), "hybr": PowellHybrid(), "broyden": Broyden(),
    "krylov": NewtonKrylov(), "anderson": Anderson(), "picard": Anderson(memory=0),
}  # fmt: skip


def _solution(who, problem, method, flat, tol, maxiter, history, checkpoint, jac=None) -> Result:
    is_sparse = (
        jac is not None
        and flat.size > 0
        and gives_sparse(jac, flat.split(flat.start), problem.args)
    )
    method = ("sparse" if is_sparse else "hybr") if method is None else method
    if isinstance(method, str):
        if method not in METHODS:
            raise ValueError(
                f"xcore.{who}: method must be one of {', '.join(METHODS)}, given {method!r}."
            )
        method = METHODS[method]
    method = method if flat.size else METHODS["newton"]  # of nothing there is no space to search
    whole, linear = isinstance(method, Anderson), None
    if isinstance(method, Newton) and method.sparse:
        problem.matrix = Matrix(who, problem.value, flat, jac)
        places = problem.matrix.pattern
        linear = lambda mv, y: linear_by(places(flat.start, problem.args))(mv, y)  # noqa: E731
    elif is_sparse:
        need = '"sparse" where jac is sparse; jac(x).todense() serves the others'
        raise errors.bad_argument(who, "method", method, need)
    elif jac is not None:
        problem.value = with_jacobian(who, problem.value, jac, flat, problem.args)

    tol, checkpoint = tolerance(who, tol), checkpoints(who, checkpoint, problem.value, flat.start)

    def solve(x):
        s = rounds(who, method, problem, x, tol, maxiter, history, whole, checkpoint)
        kept = ("size", "status", "nit", "nfev", "njev", "error", "history")
        return s["x"], {k: s[k] for k in kept if k in s} | {"value": s["f"]}

    x, aux = differentiable(
        problem.value, problem.value, solve, flat.start, problem, checkpoint, linear
    )
    return result(
        flat.split(x), aux["value"], None, aux["status"], aux["nit"], aux["nfev"], aux["njev"],
        Certificate(stationarity=aux["size"], error=aux["error"], tested=TESTED if tol is None else "fun(x)"),
        aux.get("history"),
    )  # fmt: skip


def root(
    fun: Callable[..., Any], x0: PyTree, args: Any = (), method: Any = None, *,
    jac: Callable[..., Any] | None = None, tol: float | None = None, maxiter: int | None = None, history: bool = False,
    checkpoint: str | Path | None = None,
) -> Result:  # fmt: skip
    """A solution x of ``fun(x, *args) = 0``, as many equations as unknowns.

    Args:
      fun: function from a tree like x0 to as many numbers.
      x0: tree of arrays to start from.
      args: further arguments.
      method: "hybr" (Powell's dogleg, the default), "newton", "broyden", "krylov" (no Jacobian), "anderson",
        "sparse" (Newton's with a sparse Jacobian, as by ``sparse.jacobian``; the default if jac is sparse).
      jac: ``jac(x, *args)``, the Jacobian, a row for each equation and a column for each number in x0: an array, or
        a ``sparse.Sparse`` matrix. None: it is computed from fun, exactly.
      tol: the largest component of fun(x) that counts as zero. By default equations are worked on in units
        of their own, and success means that the Newton step from x is at most eps^0.5 (1.5e-8 in 64
        bits, 3e-4 in 32; most often far less) of the size or the way of each variable: that holds in all units.
      maxiter: steps at most.
      history: keep all iterations.
      checkpoint: a folder, in which the state is kept about every ten seconds; a call with the same folder goes
        on from there. Not inside of ``jit``, ``grad`` and ``vmap``. A folder of another problem is refused.

    >>> import xcore.optimize as xo, xcore.numpy as xnp
    >>> f = lambda x: xnp.stack([x[0] ** 2 + x[1] ** 2 - 4, x[0] - x[1]])
    >>> [round(float(x), 3) for x in xo.root(f, xnp.asarray([1.0, 2.0])).x]
    [1.414, 1.414]
    """
    who = "optimize.root"
    flat = Flat(who, "x0", as_wide(fun, x0, args))
    limit = 200 + 100 * (flat.size > 0) if maxiter is None else maxiter
    problem = Equations(who, fun, flat, args)
    return _solution(who, problem, method, flat, tol, limit, history, checkpoint, jac)


def fixed_point(
    fun: Callable[..., Any], x0: PyTree, args: Any = (), method: Any = "anderson", *,
    tol: float | None = None, maxiter: int = 1000, history: bool = False,
    checkpoint: str | Path | None = None,
) -> Result:  # fmt: skip
    """A solution x of ``fun(x, *args) = x``.

    Args:
      fun: function from a tree to a tree like it.
      x0: tree of arrays to start from.
      args: further arguments.
      method: "anderson", "picard" (just repeat), or one of those of ``root``.
      tol, maxiter, history, checkpoint: as for ``root``, of x - fun(x).

    >>> import xcore.optimize as xo, xcore.numpy as xnp
    >>> round(float(xo.fixed_point(xnp.cos, 1.0).x), 3)
    0.739
    """
    who = "optimize.fixed_point"
    flat = Flat(who, "x0", as_wide(fun, x0, args))
    problem = Equations(who, fun, flat, args, fixed=True)
    return _solution(who, problem, method, flat, tol, maxiter, history, checkpoint)
