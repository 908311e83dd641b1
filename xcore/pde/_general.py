"""Any linear operator on the fields of a grid: read off, judged by its elements, and solved.

The operator is seen through what it does to fields only. Its elements are read off with a few products, a portrait
of them chooses the method, and derivatives are those of the equation.
"""

from __future__ import annotations

import functools
import hashlib
import math
from typing import Any, NamedTuple

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import custom_linear_solve, eval_shape, jit, linear_transpose, vmap
from .._control.levels import OF_MANY_OPERATIONS
from .._core import Array, Value, dtypes, ensure_compile_time_eval, errors, tree, typeof
from .._iterate import history_of
from .._solution import Status, first_that_holds
from ..linalg._range import magnitude, safe_norm
from ..numpy._select import safe_divide
from ._along import along
from ._blackbox import Kind, Plan, algebraic, hierarchy, incomplete
from ._boxcycle import cycle, in_dtype
from ._colours import colours, leading
from ._couplings import Couplings, filled, islands, nearest, offsets, read
from ._fields import Combined, GridOperator
from ._grid import size
from ._judge import default_rtol
from ._minimal import Equation, How, run
from ._operators import Helmholtz
from ._poisson import UNBALANCED
from ._portrait import FACTORS_AT_MOST, FACTORS_UP_TO, Portrait, Way, instead, portrait, way
from ._products import Polynomial, by_modes, factors, is_product, positive, shifted, with_mean
from ._solutions import FieldSolution

METHODS = ("auto", "sparse", "cg", "gcr", "algebraic", "incomplete", "product")
_MOST_KEPT = 4  # set-ups
_kept: dict[bytes, tuple] = {}
_STEPS = 100  # of a solution within a step
_FARTHEST = 6  # nodes: how far rows may look
_PATIENCE = {
    "sparse": 20,
    "algebraic": 40,
    "incomplete": 25,
}  # steps: for more, there are other ways, of which this is the first
_ONE_LEVEL = {"algebraic": algebraic, "incomplete": incomplete}
_MODES = ("modes",)  # in place of plans: a polynomial of a Laplace operator
_BY_FACTORS = 2**14  # unknowns times squares of reaches: for less, sparse factors take no time
_WHOLE = ("sparse", "incomplete")  # take wide stencils as they are
_ADVICE = ((Status.max_steps, " with max_steps"),)


class Prepared(NamedTuple):
    """What is static about a solution."""

    plans: tuple
    portrait: Portrait
    how: How
    null: str  # what the sum of rows vanishes with, if the operator is singular: "ones", "volumes" or ""
    bare: bool = False  # without what data on faces add


def solve_any(who, op, f, rtol, method, max_steps, history, progress) -> FieldSolution:
    """The solution for an operator of any kind; see ``solve``."""
    if method not in METHODS:
        known = ", ".join(map(repr, METHODS))
        raise errors.bad_argument(who, "method", method, f"one of {known} for such an operator")
    f = op.right(f)
    dtype = xnp.promote_types(dtypes.to_inexact(typeof(f).dtype), np.float32)
    f = f.astype(xnp.promote_types(op.with_data(dtype), eval_dtype(op)))
    how = How("cg", rtol, max_steps, history, progress)
    c = elements(op)
    if c is None:
        return _without_values(who, op, f, how)
    set_up = functools.partial(_set_up, op, c, dtype=dtypes.to_real(typeof(f).dtype))
    made = set_up(method)
    tried = made[1].method
    exact = made[1].krylov == "refine"  # then nothing but rounding is left
    others = instead(made[0], c.shape, tried) if method == "auto" and not exact else ()
    if not others:
        return explained(_known(who, op, f, made, how), c)
    return explained(_one_of(who, op, f, how, set_up, others), c)


def explained(answer: FieldSolution, c: Couplings) -> FieldSolution:
    """The answer; of one that is known to be no success why, where parts of the domain hang together with nothing."""
    if type(answer.status) is not Array or bool(answer.ok):
        return answer
    floating, parts = islands(c)
    if not floating or parts < 2:
        return answer
    why = (
        f"{floating} of the domain's {parts} parts have no values on their edges: constants are free there, and "
        "sources must balance. Solve for each part alone, give it a value, or add a small number to the operator"
    )
    return answer.replace(
        status=xnp.asarray(np.int32(Status.singular)), reason=f"{answer.reason}; {why}"
    )


def _one_of(who, op, f, how: How, set_up, others: tuple) -> FieldSolution:
    """The solution by a cycle of next neighbours, or where that needs many steps by the first of others that succeeds,
    which is then known the next time."""
    made = set_up("auto")
    known = made[-1].get("others", others)
    once = any(isinstance(x, Value) and type(x) is not Array for x in tree.leaves((f, op)))
    if known is others:
        patience = None if once else _PATIENCE[others[0][0]]
        answer = _known(who, op, f, made, how.replace(patience=patience))
        if type(answer.status) is not Array or bool(answer.ok):
            return answer
        made[-1]["why"] = f"{answer.reason}; that was no success in {int(answer.steps)} steps"
    found = []
    for name, words in known:
        answer = _known(who, op, f, set_up(name), how)
        if type(answer.status) is not Array or bool(answer.ok):
            made[-1]["others"] = ((name, words),)
            return answer.replace(reason=f"{made[-1]['why']}, so {words} taken")
        found.append(answer)
    made[-1].pop("others", None)
    found.append(_known(who, op, f, made, how))
    return min(found, key=lambda x: np.nan_to_num(float(x.error), nan=np.inf))


def simpler(op: GridOperator) -> tuple | None:
    """(operator, factor): Δ + q of which a sum of Laplace operators and numbers is a multiple; None for others."""
    if not isinstance(op, Combined) or any(xnp.ndim(f) for f in op.factors):
        return None
    q, a, found = 0.0 if op.c is None else op.c, 0.0, None
    for factor, term in zip(op.factors, op.terms, strict=True):
        parts = shifted(term)
        if parts is None or xnp.ndim(q) or (found is not None and parts[0].order != found.order):
            return None
        found = parts[0]
        q, a = q + factor * parts[1], a + factor * parts[2]
    if found is None or xnp.ndim(q) or (type(a) is Array and not bool(a)):
        return None
    return Helmholtz(found.grid, q / a, found.faces, found.order), a


def values_known(op) -> bool:
    """Whether an operator's values are known, derivatives aside."""
    held = tree.map(ops.stop_gradient, op)
    return all(type(x) is Array or not isinstance(x, Value) for x in tree.leaves(held))


def eval_dtype(op) -> Any:
    """The dtype of the operator's products."""
    return eval_shape(op, xnp.zeros(op.field_shape, np.float32)).dtype


def elements(op: GridOperator) -> Couplings | None:
    """What is read off an operator whose values are known, derivatives aside; else None."""
    if not values_known(op):
        return None
    kept, key = (
        vars(op),
        f"elements {dtypes.at_width(np.dtype(float))}",
    )  # an operator never changes
    if key not in kept:
        try:
            kept[key] = _read_off(op)
        except errors.ConcretizationError:  # a function closes over values that are not known
            return None
    return kept[key]


def _read_off(op: GridOperator) -> Couplings | None:
    held = tree.map(ops.stop_gradient, op)
    rings = tuple(a.ring for a in op.axes)
    reach = max(1, *op.reach)
    rng = np.random.default_rng(0)
    with ensure_compile_time_eval():
        apply = lambda u: np.asarray(_apply(held, u))  # noqa: E731
        probe = rng.standard_normal(op.field_shape)
        want = apply(probe)
        # own loop: how far rows look is found by looking farther
        while True:
            c = read(apply, op.field_shape, rings, reach)
            wrong = np.abs(want - c(probe))
            size_of = np.abs(c.centre) + c.others
            if np.all(wrong <= 1e3 * _digits(want) * (size_of.max(initial=0) * 1e-3 + size_of)):
                return _trimmed(c)
            reach += 1
            if reach > _FARTHEST:
                return None


def _digits(x: np.ndarray) -> float:
    return float(
        np.finfo(
            np.float64 if x.dtype.itemsize >= 8 and x.dtype != np.complex64 else np.float32
        ).eps
    )


def _trimmed(c: Couplings) -> Couplings:
    """Without offsets that are 0 everywhere beyond the next neighbours."""
    held = [o for o, x in c.elements.items() if np.any(x)]
    reach = max([1, *[max(map(abs, o)) for o in held]])
    return c._replace(elements={o: c.elements[o] for o in offsets(len(c.shape), reach)})


_apply = jit(lambda op, u: op(u))


def _known(who, op, f, made: tuple, how: How) -> FieldSolution:
    p, taken, plans, arrays, null = made[:5]
    ready = Prepared(plans, p, how.replace(method=taken.krylov), null)
    u, steps, rows, (residual, goal, status), excess, mean = _run(op, f, arrays, ready)
    rows = None if rows is None else history_of(rows, steps)
    return FieldSolution(
        u, status, None, steps, residual, rows, who=who, method=taken.method, reason=taken.reason,
        advice=_ADVICE, goal=goal, projected=mean, imbalance=excess,
    )  # fmt: skip


def set_up(op, dtype) -> tuple | None:
    """What ``homogeneous`` needs to know of an operator of known values; None where it cannot be read off."""
    c = elements(op)
    if c is None:
        return None
    p, taken, plans, arrays, null, _ = _set_up(op, c, "auto", dtypes.to_real(dtype))
    how = How(taken.krylov, None, _STEPS, False, False)
    return arrays, Prepared(plans, p, how, null, bare=True)


def homogeneous(who: str, op, right, made: tuple | None) -> tuple:
    """(u, status) with op(u) = right; ``made`` by ``set_up``, None where values are not known yet."""
    if made is None:
        how = How("cg", None, _STEPS, False, False)
        answer = _without_values(who, op, right, how, bare=True)
        return answer.value, answer.status
    u, _, _, (_, _, status), _, _ = _run(op, right, *made)
    return u, status


def _set_up(op, c: Couplings, method: str, dtype) -> tuple:
    """``_made`` for an operator, or what was made of the same elements just now."""
    starts = tuple(int(not a.ring and a.kinds[0][1] == 0) for a in op.axes)
    digest = hashlib.blake2b(repr((c.shape, c.rings, starts, method, str(dtype))).encode())
    for x in (np.asarray(op.weights), *c.elements.values()):
        digest.update(np.ascontiguousarray(x).data)
    key = digest.digest()
    if key not in _kept:
        _kept[key] = _made(op, c, method, dtype, starts)
    found = _kept[key]
    while len(_kept) > _MOST_KEPT:
        _kept.pop(next(iter(_kept)), None)
    return found


def _made(op, c: Couplings, method: str, dtype, starts: tuple) -> tuple:
    """(portrait, way, plans, arrays, what the sum of rows vanishes with, what is learnt later) of an operator."""
    bare, c = c, filled(c)
    digits = float(
        np.finfo(np.float64).eps
    )  # elements were read in that, coefficients of fewer digits being exact
    weights = np.asarray(op.weights)
    p = portrait(c, weights, digits)
    volumes = np.where(weights > 0, weights, weights.max(initial=0))  # none is outside of a domain
    scale = np.conj(p.turn or 1.0) * (volumes if p.weighted else 1.0)
    unit = 2.0 ** -np.round(np.log2(np.abs(scale * c.centre).max(initial=0) or 1.0))
    plain, c = c, c.map(lambda x: unit * scale * x)
    made = None
    if is_product(op) or method == "product":
        p = p._replace(positive=p.symmetric and p.real and positive(op, _portrait_of))
        made = _of_product(op, c, p, method, dtype)
    if made is None:
        near = c.reach <= 1 or _acts_alike(plain)
        taken = way(p, c.shape, method, near)
        _require_few(c, method, near)
        made = taken, *_of_elements(c, p, taken, starts)
    arrays = {
        "levels": made[2], "rows": unit * scale * np.ones(c.shape), "sizes": np.abs(c.centre) + c.others,
        "columns": None if p.symmetric else np.abs(c.centre) + c.T.others,
    }  # fmt: skip
    return p, *made[:2], in_dtype(arrays, dtype), _null(op, bare, p), {}


def _of_elements(c: Couplings, p: Portrait, taken: Way, starts: tuple) -> tuple:
    """(plans, arrays) of a cycle or of factors."""
    near = c if taken.method in _WHOLE else nearest(c)
    if taken.shift:
        near = _damped(near, taken.shift)
    kind = Kind(
        starts, not p.symmetric, p.symmetric and p.dominant, p.singular, True, taken.factors
    )
    return _ONE_LEVEL.get(taken.method, hierarchy)(near, kind)


def _of_product(op, c: Couplings, p: Portrait, method: str, dtype) -> tuple | None:
    """(way, plans, arrays) where an operator is solved one factor after another; None where it is not."""
    n, asked = size(c.shape) * c.reach**2, method == "product"
    if not (asked or method == "auto"):
        return None
    whole, near = by_modes(op), by_modes(with_mean(op))
    if near is not None and (asked or n > _BY_FACTORS) and not (whole is None and p.singular):
        why = "it is a polynomial of a Laplace operator, and has its modes"
        why = (
            why
            if whole is not None
            else "a polynomial of a Laplace operator with what multiplies u in the mean"
        )
        krylov = "gcr" if whole is None else "refine"
        return Way(krylov, 0.0, 0, "product", f"{p.words()}: {why}"), _MODES, tuple(near)
    found = factors(op) if not p.singular and (asked or n > FACTORS_UP_TO[len(c.shape)]) else None
    if found is None and asked:
        want = "a product of operators, or a polynomial of one, that is not singular"
        raise errors.bad_argument("pde.solve", "op", type(op).__name__, want)
    read_off = [(x, elements(x)) for x in found[0]] if found else []
    if not found or any(x is None for _, x in read_off):
        return None
    made = [_of_factor(x, of, dtype) for x, of in read_off]
    exact = found[1] and all(x[0].krylov == "refine" for x in made)
    why = (
        f"{p.words()}: {'its factors' if found[1] else 'factors of its product'}, one after another"
    )
    way_of = Way("refine" if exact else "gcr", 0.0, 0, "product", why)
    return way_of, tuple(x[1] for x in made), tuple(x[2] for x in made)


def _of_factor(op, c: Couplings, dtype) -> tuple:
    """(way, plans, what it is solved with and the scale of its rows) of a factor of a product."""
    modes = by_modes(op)
    if modes is not None:
        return Way("refine", 0.0, 0, "product", ""), _MODES, {"levels": tuple(modes), "rows": 1.0}
    _, taken, plans, arrays, *_ = _set_up(op, c, "auto", dtype)
    return taken, plans, {"levels": arrays["levels"], "rows": arrays["rows"]}


def _nearly(plans: tuple, levels, rows, r):
    """About the solution of an equation whose rows are scaled by these."""
    if plans == _MODES:
        return Polynomial(*levels).inverse(r / rows)
    if isinstance(plans[0], Plan):
        return cycle(plans, levels, r)
    r = r / rows
    for own, part in zip(plans, levels, strict=True):
        r = _nearly(own, part["levels"], part["rows"], part["rows"] * r)
    return r


def _require_few(c: Couplings, method: str, near: bool) -> None:
    """Raises where neither next neighbours, nor factors, nor the parts of a product make a way."""
    most = FACTORS_AT_MOST[len(c.shape)]
    if method == "auto" and not near and size(c.shape) > most:
        want = f"of at most {most} unknowns where next neighbours tell little of it, as of fourth derivatives"
        advice = (
            "Written as a product, as pde.Laplacian(grid) @ pde.Laplacian(grid) + c, it is solved one factor after "
            'another; method="gcr" tries a cycle of next neighbours nevertheless.'
        )
        raise errors.bad_argument(
            "pde.solve", "op", errors.Words(f"{size(c.shape)} unknowns"), want, advice
        )


def _portrait_of(op: GridOperator) -> Portrait:
    c = elements(op)
    assert c is not None  # it was found for a product of this
    return portrait(filled(c), np.asarray(op.weights), float(np.finfo(np.float64).eps))


def _acts_alike(c: Couplings) -> bool:
    """Whether next neighbours show what a wide stencil does to smooth fields, beside multiples of these: of fourth
    derivatives, which parabolas do not have, they show nothing."""
    near, within = nearest(c), tuple(slice(c.reach, -c.reach or None) for _ in c.shape)
    for nodes in (16, 32, 64):  # in a wave
        waves = [np.cos(2 * np.pi / nodes * np.arange(n) + 1.0) for n in c.shape]
        u = functools.reduce(np.multiply.outer, waves)
        of_all, of_near = ((x(u) - x.sums * u)[within] for x in (c, near))
        if np.linalg.norm(of_all - of_near) > 0.3 * np.linalg.norm(of_all):
            return False
    return True


def _damped(c: Couplings, by: float) -> Couplings:
    """With waves that lose a part of their energy; the more where they lose some already."""
    sums = np.minimum(c.sums.real, 0)
    centre, sign = (0,) * len(c.shape), -1 if np.sum(c.sums.imag) < 0 else 1
    return c._replace(elements=c.elements | {centre: c.centre - 1j * sign * by * sums})


def _null(op, c: Couplings, p: Portrait) -> str:
    if not p.singular:
        return ""
    for name, w in (("ones", np.ones(c.shape)), ("volumes", np.asarray(op.weights))):
        t = c.map(lambda x: w * x).T  # noqa: B023
        if np.all(np.abs(t.sums) <= 1e-6 * (np.abs(t.centre) + t.others)):
            return name
    return ""


def _solve_program(op, f, arrays, ready: Prepared):
    """(u, steps, history, (residual, goal, status), imbalance, mean)."""
    dtype = typeof(f).dtype
    real = dtypes.to_real(dtype)
    right = f if ready.bare else f - op.boundary(dtype)
    null = None
    if ready.null:
        null = op.volumes(real) if ready.null == "volumes" else xnp.ones(op.field_shape, real)
        null = op.only_inside(null)
    right, mean, excess = _balanced(right, null)
    held, rows = tree.map(ops.stop_gradient, op), arrays["rows"]
    unit = magnitude(ops.stop_gradient(rows * right))  # of the solution, about
    x, (steps, status, norms) = custom_linear_solve(
        lambda u: rows * op(u), (rows * right) / unit,
        functools.partial(_forward, arrays, ready), functools.partial(_backward, arrays, ready),
        symmetric=ready.portrait.symmetric, has_aux=True,
    )  # fmt: skip
    u = unit * x
    if ready.portrait.singular:
        w = op.volumes(real)
        u = u - xnp.sum(w * u) / xnp.sum(w)
    u = op.only_inside(u)
    judged = _verdict(held, u, right, arrays, ready, excess, status)
    rows = None if norms is None else safe_divide(norms, norms[0])
    return u, steps, rows, judged, excess, mean


_run = jit(_solve_program, static_argnums=3, compiler_options=OF_MANY_OPERATIONS)


def _balanced(right, null):
    """(right-hand side in the operator's range, the mean that was taken away, its size)."""
    real = dtypes.to_real(typeof(right).dtype)
    if null is None:
        return right, xnp.zeros((), typeof(right).dtype), xnp.zeros((), real)
    w = null / xnp.sum(null)
    mean = xnp.sum(w * right)
    whole = xnp.sum(w * xnp.abs(right))
    # outside of a mask there is nothing to balance
    return (
        right - xnp.where(null == 0, 0, mean),
        mean,
        xnp.abs(mean) / xnp.where(whole == 0, 1, whole),
    )


def _equation(matvec, b, arrays, ready: Prepared, turned: bool) -> Equation:
    levels = arrays["levels"]
    sizes = arrays["columns" if turned else "sizes"]
    real = not dtypes.is_complex(typeof(b).dtype)  # waves may be damped by cycles only
    scale = arrays["rows"]
    near = lambda r: _like(_nearly(ready.plans, levels, scale, r), real)  # noqa: E731
    if turned:
        forward, example = near, xnp.zeros_like(b)
        near = lambda r: linear_transpose(forward, example)(r)[0]  # noqa: E731
    rows = xnp.ones_like(sizes) if turned else 1 / xnp.where(scale == 0, 1, xnp.abs(scale))
    even = 1 / xnp.where(sizes == 0, 1, sizes)
    definite = not turned and ready.portrait.definite
    return Equation(matvec, near, b, sizes, rows / xnp.max(rows), even, definite)


def _like(z, real: bool):
    return xnp.real(z) if real else z


def _forward(arrays, ready: Prepared, matvec, b):
    e = _equation(matvec, b, arrays, ready, False)
    x, steps, status, rows = run(e, ready.how)
    return x, (steps, status, rows)


def _backward(arrays, ready: Prepared, vecmat, b):
    e = _equation(vecmat, b, arrays, ready, not ready.portrait.symmetric)
    scale = magnitude(b)
    e = e.replace(b=b / scale)
    x, steps, status, rows = run(e, ready.how)
    return scale * x, (steps, status, rows)


def _verdict(op, u, right, arrays, ready: Prepared, excess, status):
    """(residual, goal, status) of u, all computed from it."""
    u, right = ops.stop_gradient(u), ops.stop_gradient(right)
    eps = float(dtypes.finfo(dtypes.to_real(typeof(u).dtype)).eps)
    size_of, applied = safe_norm(right), op(u)
    share = lambda x: safe_divide(x, size_of, x, where=size_of > 0)  # noqa: E731
    residual, own = share(safe_norm(applied - right)), ready.how.goal is None
    rows = xnp.abs(arrays["rows"])
    rounding = share(4 * eps * safe_norm(arrays["sizes"] / rows * xnp.abs(u)))
    definite = ready.portrait.definite
    if own:
        most = np.inf if definite else eps**0.5
        goal = xnp.maximum(default_rtol(typeof(u).dtype), xnp.minimum(rounding, most))
        small = residual <= default_rtol(typeof(u).dtype)
        fits = small | (status != Status.max_steps)
        if definite:
            fits = small | (fits & (_off_balance(u, applied, right, rows) <= eps**0.5))
    else:
        goal, fits = ready.how.goal, True
    goal = xnp.asarray(goal, typeof(residual).dtype)
    good = (residual + 8 * eps * (size_of > 0) <= goal) & (excess <= UNBALANCED) & fits
    resonant = rounding > (np.inf if definite else eps**0.5)
    verdict = first_that_holds(
        (~xnp.isfinite(residual), Status.not_finite), (good, Status.success),
        ((status != Status.max_steps) & resonant, Status.ill_conditioned),
        (status == 0, Status.stagnation), default=Status.max_steps,
    )  # fmt: skip
    lost = (verdict == Status.max_steps) & (status != 0)
    return residual, goal, xnp.where(lost, status, verdict)


def _off_balance(u, applied, right, rows):
    """How far the energies ū op(u) and ū right are apart, in parts of them."""
    top = lambda x: xnp.maximum(xnp.max(xnp.abs(x)), dtypes.finfo(typeof(x).dtype).tiny)  # noqa: E731
    way, unit = rows / top(rows) * xnp.conj(u / top(u)), top(applied)
    energy = xnp.abs(xnp.sum(way * (applied / unit)))
    off = xnp.abs(xnp.sum(way * ((applied - right) / unit)))
    return safe_divide(off, energy, off, where=energy > 0)


# Where values are not known yet


def _without_values(who, op, f, how: How, bare: bool = False) -> FieldSolution:
    """The solution by sparse factors that are made when the program runs."""
    shape, rings, n = op.field_shape, tuple(a.ring for a in op.axes), size(op.field_shape)
    most = FACTORS_AT_MOST[len(shape)]
    if n > most:
        advice = (
            f"More than {most} unknowns are solved by multigrid, which looks at values to choose how. Make the "
            "operator outside of jit and vmap; f, and derivatives with respect to all, may be traced."
        )
        raise errors.bad_argument(who, "op", type(op).__name__, "of known values", advice)
    reach = max(1, *op.reach)
    every = elements_in_program(tree.map(ops.stop_gradient, op), shape, rings, reach)
    sizes = functools.reduce(xnp.add, [xnp.abs(x) for x in every])
    middle = len(every) // 2
    every = (*every[:middle], xnp.where(sizes == 0, 1, every[middle]), *every[middle + 1 :])
    sizes = xnp.where(sizes == 0, 1, sizes)
    plan = Plan(shape, rings, (0,) * len(shape), (1,) * len(shape), "lines", (), True, "all")
    p = Portrait(False, False, True, 0.0, False, False, 0.0, reach)
    ready = Prepared((plan,), p, how.replace(method="refine"), "", bare)
    level = {"a": every, "key": xnp.zeros((0,), np.uint8)}
    arrays = {
        "levels": (level,),
        "rows": xnp.ones(shape, sizes.dtype),
        "sizes": sizes,
        "columns": sizes,
    }
    u, steps, rows, (residual, goal, status), excess, mean = _run(op, f, arrays, ready)
    rows = None if rows is None else history_of(rows, steps)
    reason = "its values are not known when the program is made"
    return FieldSolution(
        u, status, None, steps, residual, rows, who=who, method="sparse", reason=reason,
        advice=_ADVICE, goal=goal, projected=mean, imbalance=excess,
    )  # fmt: skip


def elements_in_program(op, shape, rings, reach: int) -> tuple:
    """What ``read`` finds, for traced operators."""
    lines = [colours(n, reach, ring) for n, ring in zip(shape, rings, strict=True)]
    counts = [int(line.max()) + 1 for line in lines]

    def numbered(lines):
        out = xnp.zeros((1,) * len(shape), np.int32)
        for i, (line, count) in enumerate(zip(lines, counts, strict=True)):
            out = out * np.int32(count) + xnp.asarray(along(line, i, len(shape), np.int32))
        return xnp.broadcast_to(out, shape)

    here = numbered(lines)
    product = lambda k: op((here == k).astype(np.float64))  # noqa: E731
    found = vmap(product)(np.arange(math.prod(counts), dtype=np.int32))
    out = []
    for o in offsets(len(shape), reach):
        moved = [leading(n, s, ring) for n, s, ring in zip(shape, o, rings, strict=True)]
        held = [along(at >= 0, i, len(shape), bool) for i, at in enumerate(moved)]
        there = numbered([line[at] for line, at in zip(lines, moved, strict=True)])
        x = xnp.take_along_axis(found, there[None], 0)[0]
        out.append(xnp.where(functools.reduce(xnp.logical_and, held), x, 0))
    return tuple(out)
