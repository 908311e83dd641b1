"""SciPy's call forms: derivatives that are given, options, names of methods."""

from __future__ import annotations

from .. import _ops as ops
from .. import numpy as xnp
from .._control import custom_jvp, eval_shape, grad
from .._core import errors, eval_program, trace_program, tree, typeof
from ._problem import as_tuple

SAME = {
    "l-bfgs": "lbfgs", "l-bfgs-b": "lbfgsb", "slsqp": "sqp", "trust-constr": "sqp",
}  # fmt: skip
ABSENT = {
    "powell": "'Nelder-Mead', which needs no derivatives either, or 'L-BFGS-B'",
    "tnc": "'L-BFGS-B', or without bounds 'Newton-CG'",
    "cobyla": "'SLSQP'; derivatives cost you nothing here",
    "cobyqa": "'SLSQP'; derivatives cost you nothing here",
    "trust-krylov": "'trust-ncg' or 'trust-exact'",
}
INSTEAD = {
    "ftol fatol xtol xatol xrtol barrier_tol": "tol= is the one tolerance of each method",
    "eps finite_diff_rel_step workers": "derivatives are exact; leave it out",
    "maxfun maxfev maxls": "maxiter limits the steps",
    "disp iprint verbose": "use progress=True",
    "return_all": "use history=True",
    "norm": "tol is compared with the error of each variable",
}


def canonical(who: str, method):
    """A method's name here; what is no name stays as it is."""
    if not isinstance(method, str):
        return method
    name = method.lower()
    if name in ABSENT:
        raise ValueError(f"xcore.{who}: there is no method {method!r}; use {ABSENT[name]}.")
    return SAME.get(name, name)


def settings(who: str, options, tol, maxiter):
    """(tol, maxiter), of which SciPy's ``options`` may be the source."""
    if not isinstance(options or {}, dict):
        raise errors.bad_argument(who, "options", options, "a dict with the keys gtol and maxiter")
    given = {
        k: v for k, v in (options or {}).items() if not (k in ("disp", "return_all") and not v)
    }
    found = {"gtol": tol, "maxiter": maxiter}
    for key, value in given.items():
        if key not in found:
            why = [words for names, words in INSTEAD.items() if key in names.split()]
            advice = (
                why[0] if why else "settings of a method belong to its object, as in NewtonCG()"
            )
            wanted = "a dict with the keys gtol and maxiter"
            raise errors.bad_argument(who, "options", sorted(given), wanted, f"{key}: {advice}.")
        if found[key] is not None:
            raise ValueError(f"xcore.{who}: {key} is given twice, by options and by an argument.")
        found[key] = value
    return found["gtol"], found["maxiter"]


# Derivatives


def with_derivative(f, push):
    """``f`` of a vector whose derivative along dx is ``push(x, dx)``.

    What else f and push use, traced values too, keeps its own derivatives: f(x) is taken as a constant
    in x, and a zero with this derivative is added.
    """

    def g(x):
        program, captured = trace_program(lambda x, dx: [push(x, dx)], [typeof(x)] * 2)
        out = program.outputs[0].type

        @custom_jvp
        def nothing(x, *captured):
            return xnp.zeros(out.shape, out.dtype)

        @nothing.defjvp
        def rule(primals, tangents):
            x, *captured = primals
            return nothing(x, *captured), eval_program(program, [*captured, x, tangents[0]])[0]

        return f(ops.stop_gradient(x)) + nothing(x, *captured)

    return g


def with_jacobian(who: str, f, jac, flat, args):
    """``f``, a vector of a vector, whose Jacobian is ``jac``, a function of x0's tree."""
    _check_callable(who, "jac", jac)
    m, n = eval_shape(f, flat.start).shape[0], flat.size

    def push(x, dx):
        found = xnp.asarray(jac(flat.split(x), *args))
        rows_first = m == 1 or n == 1 or typeof(found).shape[-1:] == (n,)
        if typeof(found).size != m * n or not rows_first:
            raise errors.ShapeError(
                f"xcore.{who}: jac must return a row for each of {m} values and a column for each of "
                f"{n} numbers in x0, ({m}, {n}); given {typeof(found).shape}."
            )
        return found.astype(x.dtype).reshape(m, n) @ dx

    return with_derivative(f, push)


def _check_callable(who: str, name: str, given) -> None:
    if not callable(given):
        wanted = "a function, or None: then it is computed from fun, exactly"
        raise errors.bad_argument(who, name, given, wanted)


def objective_of(who: str, fun, flat, args, jac, hess, hessp):
    """``fun`` as a function of x0's tree alone, with the derivatives that are given."""
    _check_derivatives(who, fun, jac, hess, hessp)
    args = as_tuple(args)
    both = fun
    if jac is True:
        fun, jac = (lambda *a: _pair(who, both(*a))[0]), (lambda *a: _pair(who, both(*a))[1])
    value = lambda v: xnp.asarray(fun(flat.split(v), *args))  # noqa: E731
    slope = grad(lambda v: value(v).reshape(()).astype(flat.dtype))
    if jac:
        slope = lambda v: _joined(who, "jac", flat, jac(flat.split(v), *args))  # noqa: E731
    if hess:
        square = lambda v: _square(who, hess(flat.split(v), *args), v)  # noqa: E731
        slope = with_derivative(slope, lambda v, dv: square(v) @ dv)
    if hessp:
        times = lambda v, dv: hessp(flat.split(v), flat.split(dv), *args)  # noqa: E731
        slope = with_derivative(slope, lambda v, dv: _joined(who, "hessp", flat, times(v, dv)))
    whole = with_derivative(value, lambda v, dv: xnp.vdot(slope(v), dv))
    return lambda x: whole(flat.join(x))


def _check_derivatives(who, fun, jac, hess, hessp) -> None:
    wanted = "a function, or None: then it is computed from fun, exactly"
    for name, given, fine in (("jac", jac, (None, False, True)), ("hess", hess, (None,)),
                              ("hessp", hessp, (None,))):  # fmt: skip
        if not (callable(given) or any(given is f for f in fine)):
            expected = "True (fun returns the gradient too), " if name == "jac" else ""
            raise errors.bad_argument(who, name, given, expected + wanted)
    if not callable(fun):
        raise TypeError(f"xcore.{who}: fun must be a function, given {errors.describe(fun)}.")
    if hess is not None and hessp is not None:
        raise ValueError(f"xcore.{who}: give hess or hessp, not both.")


def _pair(who, found):
    if not (isinstance(found, (tuple, list)) and len(found) == 2):
        raise ValueError(
            f"xcore.{who}: with jac=True fun must return (value, gradient), but it returned "
            f"{errors.describe(found)}."
        )
    return found


def _joined(who, name, flat, found):
    """The vector of a gradient, a tree of the shapes of x0."""
    parts = tree.flatten_up_to(flat.structure, found, who)
    shapes = [typeof(xnp.asarray(p)).shape for p in parts]
    if shapes != [t.shape for t in flat.types]:
        raise errors.ShapeError(
            f"xcore.{who}: {name} must return what has the shapes of x0, "
            f"{[t.shape for t in flat.types]}; given {shapes}."
        )
    return flat.join(found)


def _square(who, h, v):
    h, n = xnp.asarray(h), typeof(v).size
    if typeof(h).shape != (n, n):
        raise errors.ShapeError(
            f"xcore.{who}: hess must return a matrix of shape {(n, n)}, one row for each of the numbers "
            f"in x0; given {typeof(h).shape}."
        )
    return h.astype(v.dtype)
