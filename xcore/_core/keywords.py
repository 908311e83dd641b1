"""Argument names of other libraries, and ours. Looked up only when a call used an unknown keyword."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

# One meaning a row: what it is, our names for it first, then those that are used elsewhere.
_ROWS = (
    ("the tolerance", "rtol tol xtol gtol eps epsilon ftol fatol xatol stol reltol rel_tol tolerance precision"),
    ("the absolute tolerance", "atol abstol abs_tol"),
    ("the limit of steps", "max_steps maxiter steps sweeps max_iter max_iterations n_iter_max maxiters maxit maxits "
     "n_iter num_iters niter iterations max_sweeps epochs maxfun maxfev max_nfev"),
    ("a progress bar", "progress verbose verbosity disp iprint show show_progress printitn"),
    ("a random key, such as xcore.random.key(0),", "key random_state seed rng generator"),
    ("the start", "x0 init start p0 u v0 guess initial initial_guess x_init X y0 u0"),
    ("the number of starts", "restarts starts n_restarts n_init nstarts"),
    ("what is kept of each step", "history return_all return_errors return_history store_history callback"),
    ("an account of how it went", "report full_output return_report return_info info"),
    ("the preconditioner", "preconditioner near M precond"),
    ("True where elements are known", "mask missing known"),
    ("the number of vectors that are kept", "ncv memory steps maxcor"),
    ("more vectors than are asked for", "n_oversamples oversample extra oversampling p"),
    ("rounds of power iteration", "n_iter power iterations n_power_iter"),
    ("the number of terms", "rank ranks k n_components R ncomponents"),
    ("the times of results", "t_eval times tspan ts saveat"),
    ("the first step", "first_step first h0 dt0"),
    ("the steps of the elimination", "return_steps steps"),
    ("the triangle", "lower upper UPLO uplo triangle"),
    ("the time of the first state", "t0 start tstart"),
    ("modes that stay as they are", "fixed fixed_modes"),
    ("the penalty", "ridge l2_reg alpha regularization damp"),
)  # fmt: skip
_OF_SOLVERS = ("the tolerance", "the limit of steps")


# Another name of an argument: ours, and where its values differ, what makes ours of them.
Alias: TypeAlias = str | tuple[str, Callable[[Any], Any]]


def by_our_names(
    who: str, f: Callable[..., Any], kwargs: Mapping[str, Any], aliases: Mapping[str, Alias]
) -> dict[str, Any]:
    """A call's named arguments by the names that ``f`` has, or an error that says what they are."""
    known = [
        p.name
        for p in inspect.signature(f).parameters.values()
        if p.kind.name != "VAR_KEYWORD" and p.name != "self"
    ]
    found: dict[str, Any] = {}
    for name, value in kwargs.items():
        alias = name if name in known else aliases.get(name, "")
        ours, convert = (alias, None) if isinstance(alias, str) else alias
        if ours not in known:
            raise TypeError(f"xcore.{who}: there is no argument {name!r}{_instead(name, known)}.")
        if ours in found:
            raise TypeError(f"xcore.{who}: {name!r} is another name of {ours!r}; give one of them.")
        found[ours] = value if convert is None else convert(value)
    return found


def _instead(name: str, known: list[str]) -> str:
    import difflib  # here, as it is slow to load

    rows = [(what, names.split()) for what, names in _ROWS if name in names.split()]
    meant = [(what, n) for what, row in rows if (n := next((n for n in row if n in known), None))]
    if meant:
        return f": {', '.join(f'{what} is {n}=' for what, n in meant)}"
    for what, row in rows:
        if what in _OF_SOLVERS and "solver" in known:
            return f": {what} belongs to the solver, as in solver=CG({row[0]}=...)"
    near = difflib.get_close_matches(name, known, 1, 0.6)
    listed = f": did you mean {near[0]}=" if near else ""
    return f"{listed}; it takes {', '.join(known)}"
