"""Derivatives of functions of pytrees: vjp, jvp, linearize, linear_transpose."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypeVar, cast, final, overload

import numpy as np

from .._core import boundary, dtypes, errors, eval_program, is_evaluating, nodes, tree
from .._core.eval import is_array_like, to_array, to_value
from .._core.program import Literal as Constant
from .._core.program import Program
from .._core.types import ArrayType, Value, typeof
from .._core.typing import PyTree, R
from .._ops import zeros
from .._ops.elementwise import convert, to_user, weakened
from .jvp import Linearized, is_differentiable, jvp_flat, match_tangent
from .jvp import linearize_flat as linearize_as_it_is
from .transpose import backward_pass, instantiate, pull_back, recorded

if TYPE_CHECKING:
    from .._core.typing import Operand, SupportsType

float0 = dtypes.float0
# what functions are rewritten by before they are linearized for users (``_control/invariance.py``)
before_linearizing: ContextVar[Callable[..., Any] | None] = ContextVar(
    "before linearizing", default=None
)
Aux = TypeVar("Aux")


def values_of(who: str, tree_: PyTree, what: str) -> tuple[list[Operand], tree.PyTreeDef]:
    """The leaves of a tree as values of operations, and the structure; messages name the leaf."""
    leaves, structure = tree.flatten(tree_)
    known = is_evaluating()
    out: list[Operand] = []
    for i, x in enumerate(leaves):
        if not is_array_like(x):
            path = tree.flatten_with_path(tree_)[0][i][0]
            raise errors.not_an_array(who, x, f"{what}{tree.keystr(path)}")
        no_tangent = getattr(x, "dtype", None) == float0
        # integers have no tangent: functions get them as they are, to count and to index by
        whole = isinstance(x, (int, np.integer, np.bool_))
        out.append(x if no_tangent else to_array(x) if known or whole else to_value(x))
    return out, structure


def _for_user(x: Any) -> Any:
    return to_user(x) if isinstance(x, Constant) else x


def results_of(who: str, result: PyTree) -> tuple[list[Operand], tree.PyTreeDef]:
    """The same for what a function returned."""
    leaves, structure = tree.flatten(result)
    for i, x in enumerate(leaves):
        if not is_array_like(x):
            path = tree.flatten_with_path(result)[0][i][0]
            raise TypeError(
                f"xcore.{who}: the function returned {errors.describe(x)} at result{tree.keystr(path)}; results "
                "must be arrays, numbers or pytrees of them."
            )
    return [to_value(x) for x in leaves], structure


def linearize_flat(f: Flat, primals: Sequence[Operand]) -> Linearized:
    """``f`` linearized, after what holds here has rewritten it."""
    rewritten = before_linearizing.get()
    return linearize_as_it_is(f if rewritten is None else rewritten(f, primals), primals)


@final
class Split:
    """A function of some of its arguments, the others fixed."""

    def __init__(
        self, f: Callable[..., Any], argnums: int | Sequence[int], args: tuple[PyTree, ...],
        kwargs: Mapping[str, PyTree],
    ) -> None:  # fmt: skip
        self.f, self.args, self.kwargs = f, list(args), kwargs
        self.single = isinstance(argnums, SupportsIndex)
        numbers = (
            (operator.index(argnums),) if isinstance(argnums, SupportsIndex) else tuple(argnums)
        )
        for i in numbers:
            if not -len(args) <= i < len(args):
                raise TypeError(
                    f"xcore: differentiating with respect to argument number {i}, but "
                    f"{getattr(f, '__name__', 'the function')} was given {len(args)} positional arguments."
                )
        self.numbers = [i % len(args) for i in numbers]
        if len(set(self.numbers)) < len(self.numbers):
            raise TypeError(
                f"xcore: argnums={numbers} names one argument of {getattr(f, '__name__', 'the function')} twice; "
                "give each number once."
            )

    def chosen(self) -> tuple[PyTree, ...]:
        return tuple(self.args[i] for i in self.numbers)

    def __call__(self, *chosen: PyTree) -> Any:
        args = list(self.args)
        for i, x in zip(self.numbers, chosen, strict=True):
            args[i] = x
        return self.f(*args, **self.kwargs)


@final
class Flat:
    """A function of pytrees as one of flat lists; remembers the structure of its result.

    With ``has_aux`` the function returns (result, other); arrays in ``other`` come last and are not
    differentiated, and what is no array stays as it is.
    """

    out: tree.PyTreeDef  # both are known when it was called
    aux: tree.PyTreeDef

    def __init__(
        self, who: str, f: Callable[..., Any], structure: tree.PyTreeDef, has_aux: bool = False
    ) -> None:
        self.who, self.f, self.structure, self.has_aux = who, f, structure, has_aux
        self.others: list[Any] = []  # the leaves of aux; None where an array belongs

    def __call__(self, *leaves: Operand) -> list[Operand]:
        result = self.f(*tree.unflatten(self.structure, map(_for_user, leaves)))
        if not self.has_aux:
            values, self.out = results_of(self.who, result)
            return values
        if not (isinstance(result, (tuple, list)) and len(cast("tuple[Any, ...]", result)) == 2):
            raise TypeError(
                f"xcore.{self.who}: with has_aux=True the function must return a pair (result, aux), "
                f"but returned {errors.describe(result)}."
            )
        values, self.out = results_of(self.who, result[0])
        others, self.aux = tree.flatten(result[1])
        self.others = [None if isinstance(x, Value) else x for x in others]
        return values + [x for x in others if isinstance(x, Value)]

    def value(self, outs: Sequence[Operand]) -> PyTree:
        """The result of the function from what it gave for all leaves."""
        return tree.unflatten(self.out, [to_user(x) for x in outs[: self.out.num_leaves]])

    def other(self, outs: Sequence[Operand | None]) -> PyTree:
        """The second part of the result."""
        arrays = iter(outs[self.out.num_leaves :])
        leaves = [_for_user(next(arrays)) if x is None else x for x in self.others]
        return tree.unflatten(self.aux, leaves)


# Forward mode


@overload
def jvp(
    fun: Callable[..., R], primals: Sequence[PyTree], tangents: Sequence[PyTree],
    has_aux: Literal[False] = False,
) -> tuple[R, R]: ...  # fmt: skip
@overload
def jvp(
    fun: Callable[..., tuple[R, Aux]], primals: Sequence[PyTree], tangents: Sequence[PyTree],
    has_aux: Literal[True],
) -> tuple[R, R, Aux]: ...  # fmt: skip
@boundary
def jvp(
    fun: Callable[..., Any], primals: Sequence[PyTree], tangents: Sequence[PyTree],
    has_aux: bool = False,
) -> tuple[Any, Any] | tuple[Any, Any, Any]:  # fmt: skip
    """The value of a function and its derivative in a direction.

    ``jvp(f, (x,), (v,)) = f(x), f'(x) v``

    Args:
      fun: function of the primals.
      primals, tangents: tuples of arguments and of directions, of equal structure and shapes.
      has_aux: the function returns (value, aux); then the result is (value, tangent, aux).

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.jvp(lambda x: x**2, (3.0,), (1.0,))
    (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise TypeError(
                f"xcore.jvp: {name} must be a tuple or list, given {errors.describe(given)}."
            )
    ps, structure = values_of("jvp", tuple(primals), "primals")
    ts, t_structure = values_of("jvp", tuple(tangents), "tangents")
    if structure != t_structure:
        tree.check_structure(structure, tuple(tangents), "jvp")
    ts = [_checked_tangent(p, t) for p, t in zip(ps, ts, strict=True)]
    flat = Flat("jvp", fun, structure, has_aux)
    outs, out_ts = jvp_flat(flat, ps, ts)
    n = flat.out.num_leaves
    out_ts = [_user_tangent(t, p) for p, t in zip(outs[:n], out_ts[:n], strict=True)]
    result = flat.value(outs), tree.unflatten(flat.out, out_ts)
    return (*result, flat.other(outs)) if has_aux else result


def _user_tangent(tangent: Operand | None, primal: Operand | SupportsType) -> Value | np.ndarray:
    """A tangent for users: zeros where there is none, and a float0 array for integers."""
    if not is_differentiable(primal):
        return np.zeros(typeof(primal).shape, float0)
    return to_user(dense(tangent, primal))


def dense(tangent: Operand | None, primal: Operand | SupportsType) -> Operand:
    """A tangent of the primal's type: a weak one has a weak tangent."""
    t = typeof(primal)
    made = zeros(t.strong()) if tangent is None else match_tangent(tangent, primal)
    return weakened(made) if t.weak else made


def _checked_tangent(p: Operand | SupportsType, t: Operand) -> Operand | None:
    tp, tt = typeof(p), typeof(t)
    if tp.shape != tt.shape:
        raise errors.shape_mismatch(
            "jvp", "need tangents of their own shape", primal=tp, tangent=tt
        )
    if not is_differentiable(p):
        if tt.dtype != float0:
            raise errors.MismatchError(
                f"xcore.jvp: a derivative with respect to integers or booleans ({tp}) has dtype float0, given {tt}. "
                "Make the argument a float, or pass np.zeros(shape, xcore.dtypes.float0)."
            )
        return None
    if tt.dtype != tp.dtype:
        if not tt.weak and not tp.weak:
            raise errors.DTypeError(
                f"xcore.jvp: the tangent of {tp} must have its dtype, given {tt}."
            )
        t = convert(t, dtype=tp.dtype)
    return t


@overload
def linearize(
    fun: Callable[..., R], *primals: PyTree, has_aux: Literal[False] = False
) -> tuple[R, Callable[..., R]]: ...
@overload
def linearize(
    fun: Callable[..., tuple[R, Aux]], *primals: PyTree, has_aux: Literal[True]
) -> tuple[R, Callable[..., R], Aux]: ...
@boundary
def linearize(
    fun: Callable[..., Any], *primals: PyTree, has_aux: bool = False
) -> tuple[Any, Callable[..., Any]] | tuple[Any, Callable[..., Any], Any]:
    """The value of a function at a point, and its derivative there as a function of directions.

    ``y, f_lin = linearize(f, x)``; ``f_lin(v)`` is ``f'(x) v`` without evaluating f again.

    Args:
      fun: function of pytrees.
      primals: its arguments, the point.
      has_aux: whether ``fun`` returns a pair of which the second is passed on as it is.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> y, f_lin = xc.linearize(xnp.sin, 0.0)
    >>> float(f_lin(2.0))
    2.0
    """
    ps, structure = values_of("linearize", primals, "primals")
    flat = Flat("linearize", fun, structure, has_aux)
    done = linearize_flat(flat, ps)
    n = flat.out.num_leaves
    types = tuple(typeof(p) for p in ps)
    apply = functools.partial(_push, structure, flat.out, n, types, _Frame(done))
    f_lin = nodes.Partial(apply, [*done.captured], [*done.outs[:n]])
    value = flat.value(done.outs)
    return (value, f_lin, flat.other(done.outs)) if has_aux else (value, f_lin)


class _Frame:
    """What of a linearization is static: everything but its values."""

    __slots__ = ("nonzero", "nonzero_out", "program")

    def __init__(self, done: Linearized) -> None:
        self.nonzero_out, self.nonzero, self.program = done.nonzero_out, done.nonzero, done.program

    def with_values(self, outs: list[Operand], captured: list[Operand]) -> Linearized:
        return Linearized(outs, self.nonzero_out, self.nonzero, self.program, captured)


def _push(
    structure: tree.PyTreeDef, out: tree.PyTreeDef, n: int, types: Sequence[ArrayType],
    frame: _Frame, captured: list[Operand], outs: list[Operand], *tangents: PyTree,
) -> PyTree:  # fmt: skip
    ts, t_structure = values_of("linearize", tangents, "tangents")
    if t_structure != structure:
        tree.check_structure(structure, tangents, "linearize")
    ts = [_checked_tangent(Typed(t), x) for t, x in zip(types, ts, strict=True)]
    from_inputs = [t for t in ts if t is not None]
    found = iter(eval_program(frame.program, [*captured, *from_inputs]))
    made = [next(found) if m else None for m in frame.nonzero_out]
    return tree.unflatten(out, [_user_tangent(t, p) for t, p in zip(made[:n], outs, strict=True)])


@final
class Typed:
    """Stands for a value of which only the type is known."""

    __slots__ = ("type",)

    def __init__(self, type_: ArrayType) -> None:
        self.type = type_


# Reverse mode


@overload
def vjp(
    fun: Callable[..., R], *primals: PyTree, has_aux: Literal[False] = False
) -> tuple[R, Callable[[PyTree], tuple[Any, ...]]]: ...
@overload
def vjp(
    fun: Callable[..., tuple[R, Aux]], *primals: PyTree, has_aux: Literal[True]
) -> tuple[R, Callable[[PyTree], tuple[Any, ...]], Aux]: ...
@boundary
def vjp(
    fun: Callable[..., Any], *primals: PyTree, has_aux: bool = False
) -> tuple[Any, Callable[..., Any]] | tuple[Any, Callable[..., Any], Any]:
    """The value of a function, and the function that pulls cotangents back through it.

    ``y, pull = vjp(f, x)``; ``pull(c)`` is the tuple of ``cᵀ f'(x)``, one entry per argument.

    Args:
      fun: function of pytrees.
      primals: its arguments.
      has_aux: whether ``fun`` returns a pair of which the second is passed on as it is.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> y, pull = xc.vjp(lambda a, b: a * b, 3.0, 4.0)
    >>> [float(c) for c in pull(1.0)]
    [4.0, 3.0]
    """
    ps, structure = values_of("vjp", primals, "primals")
    flat = Flat("vjp", fun, structure, has_aux)
    done = linearize_flat(flat, ps)
    n = flat.out.num_leaves
    out_types = tuple(typeof(x).strong() for x in done.outs[:n])
    in_types = tuple(map(typeof, ps))
    n_aux = len(done.outs) - n
    pull = functools.partial(_pull, structure, flat.out, n_aux, in_types, out_types, _Frame(done))
    pull = nodes.Partial(pull, [*done.captured])
    value = flat.value(done.outs)
    return (value, pull, flat.other(done.outs)) if has_aux else (value, pull)


def _pull(
    structure: tree.PyTreeDef, out: tree.PyTreeDef, n_aux: int, in_types: Sequence[ArrayType],
    out_types: Sequence[ArrayType], frame: _Frame, captured: list[Operand], cotangent: PyTree,
) -> PyTree:  # fmt: skip
    leaves, ct_structure = tree.flatten(cotangent)
    if ct_structure != out:
        tree.check_structure(out, cotangent, "vjp")
    cts = [_checked_cotangent(c, t) for c, t in zip(leaves, out_types, strict=True)]
    found = pull_back(frame.with_values([], captured), [*cts, *[None] * n_aux])
    made = [cotangent_result(c, t) for c, t in zip(found, in_types, strict=True)]
    return tree.unflatten(structure, made)


def _checked_cotangent(c: Any, t: ArrayType) -> Operand | None:
    if getattr(c, "dtype", None) == float0 or not dtypes.is_inexact(t.dtype):
        return None
    return _as_cotangent("vjp", c, t)


def _as_cotangent(who: str, c: Any, t: ArrayType) -> Operand:
    """A cotangent of a user's, of the shape and dtype of the result that it belongs to."""
    c = to_array(c) if is_evaluating() else to_value(c)
    tc = typeof(c)
    if tc.shape != t.shape:
        raise errors.shape_mismatch(
            who, "need cotangents of the results' shapes", result=t, cotangent=tc
        )
    if tc.dtype != t.dtype:
        if not (tc.weak and dtypes.promote((tc.dtype, True), (t.dtype, False))[0] == t.dtype):
            raise errors.MismatchError(
                f"xcore.{who}: the cotangent of a result {t} must have its dtype, given {tc}."
            )
        c = convert(c, dtype=t.dtype)
    return c


def cotangent_result(c: Operand | None, t: ArrayType) -> Value | np.ndarray:
    """A cotangent for users: of the type of the argument that it belongs to."""
    return _in_type(c, t) if dtypes.is_inexact(t.dtype) else np.zeros(t.shape, float0)


def _in_type(c: Operand | None, t: ArrayType) -> Value:
    """A cotangent, which may be no more than a zero, as an array of a type."""
    return to_user(weakened(instantiate(c, t)) if t.weak else instantiate(c, t))


def no_reduce_axes(who: str, reduce_axes: Sequence[Any]) -> None:
    if tuple(reduce_axes):
        needed = "empty: a sum over a named axis is written as lax.psum"
        raise errors.bad_argument(who, "reduce_axes", reduce_axes, needed)


def _type_of_example(x: Any) -> ArrayType:
    """The type of a value, or what anything without values says by its shape and dtype."""
    if hasattr(x, "type"):
        return x.type
    if is_array_like(x) or not (hasattr(x, "shape") and hasattr(x, "dtype")):
        return typeof(to_value(x))
    return ArrayType(tuple(x.shape), dtypes.as_dtype(x.dtype))


def linear_transpose(
    fun: Callable[..., Any], *primals: PyTree, reduce_axes: Sequence[Any] = ()
) -> Callable[[PyTree], tuple[Any, ...]]:
    """The transpose of a linear function: ``⟨c, f(x)⟩ = ⟨fᵀ(c), x⟩``.

    Args:
      fun: a linear function.
      primals: examples of its arguments, or ShapeDtypeStructs; only types matter.
      reduce_axes: must be empty: write a sum over a named axis as ``lax.psum``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> ft = xc.linear_transpose(lambda x: 2 * x, 1.0)
    >>> float(ft(3.0)[0])
    6.0
    """
    no_reduce_axes("linear_transpose", reduce_axes)
    leaves, structure = tree.flatten(primals)
    types = list(map(_type_of_example, leaves))
    flat = Flat("linear_transpose", fun, structure)
    program, captured, nonzero_out, outs = recorded(flat, (), [t.strong() for t in types])
    out_types = [typeof(x).strong() for x in outs]
    kinds = {dtypes.is_inexact(t.dtype) for t in [*types, *out_types]}
    if len(kinds) > 1:
        raise errors.DTypeError(
            "xcore.linear_transpose: arguments and results must all be floats or complex, or all integers; given "
            f"{', '.join(map(str, types))}, the function returned {', '.join(map(str, out_types))}."
        )
    frame = tuple(types), tuple(out_types), tuple(nonzero_out), program
    return nodes.Partial(functools.partial(_transposed, structure, flat.out, *frame), captured)


def _transposed(
    structure: tree.PyTreeDef, out: tree.PyTreeDef, types: Sequence[ArrayType],
    out_types: Sequence[ArrayType], nonzero_out: Sequence[bool], program: Program,
    captured: list[Operand], cotangent: PyTree,
) -> PyTree:  # fmt: skip
    cts, ct_structure = tree.flatten(cotangent)
    if ct_structure != out:
        tree.check_structure(out, cotangent, "linear_transpose")
    cts = [_as_cotangent("linear_transpose", c, t) for c, t in zip(cts, out_types, strict=True)]
    found = backward_pass(
        program, captured, [c for c, m in zip(cts, nonzero_out, strict=True) if m]
    )
    return tree.unflatten(structure, [_in_type(c, t) for c, t in zip(found, types, strict=True)])
