"""Gradients of scalar functions of pytrees: grad and value_and_grad, and what they ask of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._core import boundary, dtypes, errors, tree
from .._core.source import wraps
from .._core.types import typeof
from .._core.typing import P, PyTree, R
from .._ops import ones
from .api import Flat, Split, cotangent_result, linearize_flat, no_reduce_axes, values_of
from .transpose import pull_back

if TYPE_CHECKING:
    from .._core.typing import Operand


def check_inputs(
    who: str, leaves: Iterable[Operand], split: Split, holomorphic: bool, allow_int: bool
) -> None:
    for i, x in enumerate(leaves):
        t = typeof(x)
        if holomorphic and not dtypes.is_complex(t.dtype):
            raise errors.DTypeError(
                f"xcore.{who}: holomorphic=True needs complex inputs, given {t} at {_leaf_name(split, i)}."
            )
        if not (allow_int or dtypes.is_inexact(t.dtype)):
            raise errors.integer_input(who, t, _leaf_name(split, i))


def check_holomorphic_results(who: str, outs: Iterable[Operand], holomorphic: bool) -> None:
    """A holomorphic function of complex numbers has complex results: a real one is no such function."""
    for t in map(typeof, outs):
        if holomorphic and not dtypes.is_complex(t.dtype):
            raise errors.DTypeError(
                f"xcore.{who}: holomorphic=True needs complex results, but the function returned {t}. Leave it away "
                "for real functions of complex numbers."
            )


def _leaf_name(split: Split, i: int) -> str:
    """argument 0['w']: how a message calls the i-th leaf of the chosen arguments."""
    path: Any = tree.flatten_with_path(split.chosen())[0][i][0]
    return f"argument {split.numbers[path[0].idx]}{tree.keystr(path[1:])}"


def _check_scalar(
    who: str, outs: Sequence[Operand], structure: tree.PyTreeDef, holomorphic: bool
) -> None:
    if structure.num_leaves != 1 or not tree.is_leaf_structure(structure):
        raise TypeError(
            f"xcore.{who}: the function must return one scalar, but returned a tree {structure}. Return the "
            "scalar alone, or (scalar, other) with has_aux=True."
        )
    t = typeof(outs[0])
    if t.shape:
        raise errors.non_scalar_gradient(who, t)
    check_holomorphic_results(who, outs, holomorphic)
    if dtypes.is_complex(t.dtype) and not holomorphic:
        raise errors.DTypeError(
            f"xcore.{who}: the function must return a real number, but returned {t}. For holomorphic functions "
            "pass holomorphic=True; else return its real part or absolute value."
        )
    if not dtypes.is_inexact(t.dtype):
        raise errors.DTypeError(
            f"xcore.{who}: the function must return a floating-point number, but returned {t}. "
            "Convert it with .astype(float) if a derivative is meant."
        )


def value_and_grad(
    fun: Callable[P, R], argnums: int | Sequence[int] = 0, has_aux: bool = False,
    holomorphic: bool = False, allow_int: bool = False, reduce_axes: Sequence[Any] = (),
) -> Callable[P, tuple[R, Any]]:  # fmt: skip
    """A function that returns the value of ``fun`` and its gradient.

    Args:
      fun: function that returns a real scalar (or (scalar, aux) with ``has_aux``).
      argnums: the argument, or tuple of arguments, to differentiate with respect to.
      has_aux: whether the function returns a second value, which is passed on.
      holomorphic: the function is complex-differentiable; inputs and result are complex.
      allow_int: integer inputs get a derivative of dtype float0 instead of an error.
      reduce_axes: must be empty: write a sum over a named axis as ``lax.psum``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> value, grad = xc.value_and_grad(lambda x: (x**2).sum())(xnp.asarray([1.0, 2.0]))
    >>> value, grad
    (Array(5., dtype=float32), Array([2., 4.], dtype=float32))
    """
    errors.check_function("value_and_grad", fun)
    no_reduce_axes("value_and_grad", reduce_axes)

    @wraps(fun)
    @boundary
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> tuple[R, Any]:
        return _value_and_grad(
            "value_and_grad", fun, argnums, has_aux, holomorphic, allow_int, args, kwargs
        )

    return wrapped


def _value_and_grad(
    who: str, fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool,
    holomorphic: bool, allow_int: bool, args: tuple[PyTree, ...], kwargs: Mapping[str, PyTree],
) -> tuple[Any, PyTree]:  # fmt: skip
    split = Split(fun, argnums, args, kwargs)
    ps, structure = values_of(who, split.chosen(), "arguments")
    check_inputs(who, ps, split, holomorphic, allow_int)
    flat = Flat(who, split, structure, has_aux)
    done = linearize_flat(flat, ps)
    n = flat.out.num_leaves
    _check_scalar(who, done.outs[:n], flat.out, holomorphic)
    one = ones(typeof(done.outs[0]).strong())
    found = pull_back(done, [one, *[None] * (len(done.outs) - 1)])
    grads = [cotangent_result(c, typeof(p)) for c, p in zip(found, ps, strict=True)]
    grads = tree.unflatten(structure, grads)
    grads = grads[0] if split.single else grads
    value = flat.value(done.outs)
    return ((value, flat.other(done.outs)), grads) if has_aux else (value, grads)


def grad(
    fun: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False,
    holomorphic: bool = False, allow_int: bool = False, reduce_axes: Sequence[Any] = (),
) -> Callable[P, Any]:  # fmt: skip
    """A function that returns the gradient of ``fun``; arguments as in ``value_and_grad``.

    For complex inputs the gradient of a real function of z = x + iy is ``df/dx - i df/dy``.

    Args:
      fun: function with a real scalar result.
      argnums: position of the argument to differentiate with respect to, or several.
      has_aux: whether ``fun`` returns a pair of which the second is passed on as it is.
      holomorphic: whether fun is a holomorphic function of complex numbers.
      allow_int: whether arguments may be integers, whose gradients are float0.
      reduce_axes: must be empty.

    >>> import xcore as xc
    >>> float(xc.grad(lambda x: x**3)(2.0)), float(xc.grad(xc.grad(lambda x: x**3))(2.0))
    (12.0, 12.0)
    """
    errors.check_function("grad", fun)
    no_reduce_axes("grad", reduce_axes)

    @wraps(fun)
    @boundary
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> Any:
        value, grads = _value_and_grad(
            "grad", fun, argnums, has_aux, holomorphic, allow_int, args, kwargs
        )
        return (grads, value[1]) if has_aux else grads

    return wrapped
