"""Newton's method with sparse Hessians: damped steps by sparse Cholesky factors, and what they say of the end."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as xnp
from .. import sparse
from .._control import cond, eval_shape
from .._core import errors, static, struct, typeof
from .._iterate import checkpoints
from .._solution import Certificate
from ..sparse import Sparse
from ..sparse._cholesky import cholesky
from ._descent import has_fallen
from ._implicit import differentiable
from ._loop import empty_rows, iterations_from
from ._problem import Flat, Objective, count, default_tol, largest, tolerance
from ._result import RUNNING, Result, Status, first_of, result
from ._sight import SLOW
from ._sparse import linear_by
from ._trust import norm


class _Problem(Objective):
    """An objective with a sparse Hessian: as given, or from its program."""

    def __init__(
        self, who: str, fun: Any, flat: Flat, args: Any, given: Any, given_args: Any
    ) -> None:
        super().__init__(who, fun, flat, args)
        self.given, self.given_args = given, given_args

    def sparse_hessian(self, x: Any) -> Sparse:
        if self.given is None:
            return sparse.hessian(self.value)(x)
        found = self.given(self.flat.split(x), *self.given_args)
        found = found if isinstance(found, Sparse) else sparse.coo_array(found)
        if found.shape != (self.flat.size,) * 2:
            why = f"hess must return a matrix of shape {(self.flat.size,) * 2}"
            raise errors.ShapeError(f"xcore.{self.who}: {why}; given {found.shape}.")
        found = found.like(found.values.astype(self.flat.dtype))
        return (found + found.T) / 2

    def all_of(self, x: Any) -> tuple:
        f, g = self.value_and_grad(x)
        return f, g, self.sparse_hessian(x)

    def pattern(self, x: Any) -> Any:
        seen = []
        eval_shape(lambda x: (seen.append(self.sparse_hessian(x).pattern), x)[1], x)
        return seen[0]


def _units(h: Sparse) -> Any:
    """D, with D⁻¹ H D⁻¹ of a diagonal of ones, or of zeros and other elements of 1 at most."""
    n = h.shape[0]
    diagonal = xnp.abs(h.diagonal())
    rows = abs(h) @ xnp.ones(n, h.dtype)
    most = xnp.max(rows, initial=0)
    size = xnp.where(diagonal > 0, diagonal, xnp.where(rows > 0, rows, most))
    return xnp.sqrt(xnp.where(size > 0, size, 1))


@struct
class SparseNewton:
    """Steps of (H + μ D²) p = -g by sparse Cholesky factors, D² the diagonal of H; μ rises where H is not positive
    definite or the model was wrong, and falls where it was good. (Goldfeld, Quandt and Trotter 1966, "Maximization
    by quadratic hill-climbing"; Nielsen 1999, "Damping parameter in Marquardt's method")

    The places of H come from the program of the function, as by ``sparse.hessian``, where it is not given. The
    error of a success comes from factors of H made anew at the end, relative to the largest variable in units of
    the diagonal.

    Attributes:
      damping: the first μ.

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> f = lambda x: xnp.sum((x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    >>> found = optimize.minimize(f, xnp.zeros(4), method=optimize.SparseNewton())
    >>> bool(found.ok), found.x.round(2)
    (True, Array([1., 1., 1., 1.], dtype=float32))
    """

    damping: float = static(default=1e-3)

    def init(self, problem: Any, x: Any, tol: Any) -> dict[str, Any]:
        f, g, h = problem.all_of(x)
        fine = xnp.isfinite(f) & xnp.isfinite(largest(g))
        status = first_of((~fine, Status.not_finite), (largest(g) == 0, Status.success))
        return {
            "x": x, "f": f, "g": g, "h": h, "size": largest(g), "status": status,
            "damping": xnp.full((), self.damping, x.dtype), "growth": xnp.full((), 2, x.dtype),
            "start": x, "nit": count(0), "nfev": count(1), "njev": count(1),
        }  # fmt: skip

    def step(self, problem: Any, s: dict[str, Any], tol: Any) -> dict[str, Any]:
        x, g, mu = s["x"], s["g"], s["damping"]
        d, eps = _units(s["h"]), xnp.finfo(typeof(s["x"]).dtype).eps
        a = s["h"] / d / d[:, None]
        factors = _damped(a, mu)
        q = factors @ (-g / d)
        good = factors.ok & xnp.all(xnp.isfinite(q))
        q = xnp.where(good, q, 0)
        promised = 0.5 * (mu * xnp.vdot(q, q) - xnp.vdot(g / d, q))
        f, new_g, h = problem.all_of(x + q / d)
        noise = 8 * eps * xnp.abs(s["f"])
        ratio = (s["f"] - f + noise) / (promised + noise)
        # where both are rounding errors the gradient decides
        lost = (promised <= noise) & (xnp.abs(s["f"] - f) <= noise)
        ratio = xnp.where(lost, xnp.where(norm(new_g / d) < norm(g / d), 1, -1), ratio)
        finite = good & xnp.isfinite(f) & xnp.isfinite(largest(new_g))
        take = finite & (ratio > 1e-4)
        pick = lambda new, old: xnp.where(take, new, old)  # noqa: E731
        reach = largest(d * xnp.maximum(xnp.abs(x), xnp.abs(x - s["start"])))
        short = largest(q) <= xnp.where(take, 0.01 * tol, eps) * reach
        status = first_of(
            (take & has_fallen(f, s["f"]), Status.unbounded),
            (pick(largest(new_g), s["size"]) == 0, Status.success),
            (good & short, Status.success), (good & lost & ~take, Status.stagnation),
            (mu >= 1 / eps, Status.stagnation),
        )  # fmt: skip
        less = xnp.where(ratio > 0.9, 0.1, xnp.clip(1 - (2 * ratio - 1) ** 3, 1 / 3, 2))
        return s | {
            "x": pick(x + q / d, x), "f": pick(f, s["f"]), "g": pick(new_g, g),
            "h": h.replace(values=pick(h.values, s["h"].values)), "size": pick(largest(new_g), s["size"]),
            "damping": xnp.clip(mu * pick(less, s["growth"]), eps, 2 / eps).astype(x.dtype),
            "growth": pick(xnp.full((), 2, x.dtype), 2 * s["growth"]), "status": status,
            "nit": s["nit"] + np.int32(1), "nfev": s["nfev"] + np.int32(1), "njev": s["njev"] + np.int32(1),
        }  # fmt: skip


def _damped(a, mu):
    return cholesky(a + sparse.eye_array(a.shape[0], dtype=a.dtype) * mu)


def _judged(problem: Any, s: dict[str, Any], tol: Any) -> tuple:
    """(status, error, gain): how far the minimum is, from values, gradient and Hessian evaluated anew.

    In units y = D x, in which the Hessian has a diagonal of ones: H z = H x - g is solved for the next point z, whose
    certificate has the rounding errors of gradients, those of H x. A second Newton step shows where the
    Hessian vanishes in a direction. Errors are relative to the largest of y, or of how far it came.
    """
    x = s["x"]
    f, g, h = problem.all_of(x)
    d = _units(h)
    a = h / d / d[:, None]
    factors = cholesky(a)
    y = x * d
    found = factors.solve(a @ y - g / d, report=True)
    p = found.value - y
    second = factors @ (problem.value_and_grad(x + p / d)[1] / d)
    reach = largest(d * xnp.maximum(xnp.abs(x), xnp.abs(x - s["start"])))
    reach = xnp.where(reach > 0, reach, largest(p))
    doubt = found.certificate.error * xnp.maximum(largest(found.value), reach)
    left = largest(p) + SLOW * largest(second) + doubt
    error = xnp.where(left == 0, 0, left / xnp.where(reach > 0, reach, 1))
    definite = factors.ok & (found.certificate.error < 1)
    error = xnp.where(definite & xnp.isfinite(error), error, xnp.inf)
    fine = xnp.isfinite(f) & xnp.isfinite(largest(g))
    near = largest(g / d) <= tol * xnp.maximum(reach, xnp.finfo(x.dtype).tiny)
    # a least eigenvalue of rounding errors is none
    bends = near & ~factors.ok
    bends = cond(bends, lambda: ~_damped(a, xnp.finfo(x.dtype).eps ** 0.5).ok, lambda: bends)
    last = s["status"]
    status = first_of(
        (~fine, Status.not_finite), (last == np.int32(Status.unbounded), Status.unbounded),
        (error <= tol, Status.success), (bends, Status.saddle),
        (last == np.int32(Status.success), Status.flat),
    )  # fmt: skip
    status = xnp.where(status == RUNNING, last, status)
    return status, error, -0.5 * xnp.vdot(g / d, p), f, g


def minimize_sparse(
    who: str, fun: Any, x0: Any, args: Any, method: SparseNewton, hess: Any, hess_args: Any, tol: Any,
    maxiter: Any, history: Any, progress: Any, checkpoint: Any,
) -> Result:  # fmt: skip
    flat = Flat(who, "x0", x0)
    hess_args = hess_args if isinstance(hess_args, tuple) else (hess_args,)
    problem = _Problem(who, fun, flat, args, hess, hess_args)
    tol = tolerance(who, tol, default_tol(flat.dtype))
    maxiter = 500 if maxiter is None else maxiter
    checkpoint = checkpoints(who, checkpoint, problem.value, flat.start)

    def solve(x: Any) -> tuple:
        rows = empty_rows(who, history, x, maxiter) if history else None
        s = method.init(problem, x, tol)
        s = iterations_from(
            who, method, problem, s, tol, maxiter, progress, rows=rows, checkpoint=checkpoint
        )
        status, error, gain, f, g = _judged(problem, s, tol)
        aux = {
            "status": status, "error": error, "gain": gain, "value": f, "g": g, "nit": s["nit"],
            "nfev": s["nfev"] + np.int32(2), "njev": s["njev"] + np.int32(2), "size": largest(g),
        }  # fmt: skip
        return s["x"], aux | ({} if rows is None else {"history": s["history"]})

    places = lambda: problem.pattern(flat.start)  # noqa: E731
    x, aux = differentiable(
        lambda x: problem.value_and_grad(x)[1], problem.value, solve, flat.start, problem, checkpoint,
        lambda mv, y: linear_by(places())(mv, y),
    )  # fmt: skip
    told = "Newton step by sparse Cholesky factors, in units of the Hessian's diagonal"
    certificate = Certificate(
        stationarity=aux["size"], error=aux["error"], gain=aux["gain"], tested=told
    )
    return result(
        flat.split(x), aux["value"], flat.split(aux["g"]), aux["status"], aux["nit"], aux["nfev"],
        aux["njev"], certificate, aux.get("history"), None,
    )  # fmt: skip
