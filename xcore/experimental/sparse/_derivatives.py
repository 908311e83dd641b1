"""Derivatives by the values of sparse arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ... import numpy as xnp
from ..._control import grad as _grad
from ..._control import jacfwd as _jacfwd
from ..._control import value_and_grad as _value_and_grad
from ..._core import errors, tree
from ..._transforms.jacobians import jacrev as _jacrev
from ._arrays import BCOO, JAXSparse
from ._places import WHO, of_each


def _is_sparse(x: Any) -> bool:
    return isinstance(x, JAXSparse)


def _values(x: Any) -> Any:
    """A structure with the values of its sparse arrays in their places."""
    return tree.map(lambda m: m.data if _is_sparse(m) else m, x, is_leaf=_is_sparse)


def _with_values(x: Any, values: Any) -> Any:
    """A structure with other values in its sparse arrays."""
    put = lambda m, v: m._with_data(v) if _is_sparse(m) else v  # noqa: E731
    return tree.map(put, x, values, is_leaf=_is_sparse)


def _by_values(
    who: str, transform: Callable[..., Any], fun: Any, argnums: Any, has_aux: bool, options: dict
) -> Any:
    """The chosen arguments, and a derivative with respect to the values of those that are sparse."""
    errors.check_function(WHO + who, fun)

    @functools.wraps(fun)
    def call(*args, **kwargs):
        chosen = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        if any(not -len(args) <= i < len(args) for i in chosen):
            wanted = f"positions among the {len(args)} arguments given"
            raise errors.bad_argument(WHO + who, "argnums", argnums, wanted)
        chosen = tuple(i % len(args) for i in chosen)
        values = [_values(a) if i in chosen else a for i, a in enumerate(args)]

        def of_values(*values, **kwargs):
            full = [_with_values(args[i], v) if i in chosen else v for i, v in enumerate(values)]
            return fun(*full, **kwargs)

        numbers = chosen[0] if isinstance(argnums, int) else chosen
        out = transform(of_values, numbers, has_aux=has_aux, **options)(*values, **kwargs)
        given = args[chosen[0]] if isinstance(argnums, int) else tuple(args[i] for i in chosen)
        return given, out

    return call


def _gradient(
    who: str, transform: Any, fun: Any, argnums: Any, has_aux: bool, options: dict
) -> Any:
    found = _by_values(who, transform, fun, argnums, has_aux, options)

    @functools.wraps(fun)
    def call(*args, **kwargs):
        given, out = found(*args, **kwargs)
        if transform is _value_and_grad:
            return out[0], _with_values(given, out[1])
        return (_with_values(given, out[0]), out[1]) if has_aux else _with_values(given, out)

    return call


def grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any
) -> Callable[..., Any]:
    """The function that gives the gradient of another: by sparse arguments sparse arrays, of slopes by their values.

    Args:
      fun: function with a real number as its result.
      argnums: by which arguments; they may be structures of arrays.
      has_aux: whether ``fun`` returns (number, anything).
      kwargs: further arguments of ``xcore.grad``.

    >>> m = BCOO.fromdense([[0.0, 3.0], [4.0, 0.0]])
    >>> grad(lambda m: (m.data ** 2).sum())(m).todense()
    Array([[0., 6.],
           [8., 0.]], dtype=float32)
    """
    return _gradient("grad", _grad, fun, argnums, has_aux, kwargs)


def value_and_grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any
) -> Callable[..., Any]:
    """The function that gives the value of another and its gradient, as ``grad`` does.

    Args:
      fun: function with a real number as its result.
      argnums: by which arguments; they may be structures of arrays.
      has_aux: whether ``fun`` returns (number, anything).
      kwargs: further arguments of ``xcore.value_and_grad``.

    >>> m = BCOO.fromdense([[0.0, 3.0], [4.0, 0.0]])
    >>> value, slope = value_and_grad(lambda m: (m @ xnp.ones(2)).sum())(m)
    >>> float(value), slope.data
    (7.0, Array([1., 1.], dtype=float32))
    """
    return _gradient("value_and_grad", _value_and_grad, fun, argnums, has_aux, kwargs)


def _jacobian(
    who: str, transform: Any, fun: Any, argnums: Any, has_aux: bool, options: dict
) -> Any:
    """Derivatives by the values of a BCOO, in one with the axes of the result as batch axes before."""
    found = _by_values(who, transform, fun, argnums, has_aux, options)

    @functools.wraps(fun)
    def call(*args, **kwargs):
        given, out = found(*args, **kwargs)
        jac = out[0] if has_aux else out
        inputs = tree.leaves(given, is_leaf=_is_sparse)
        leaves = tree.leaves(jac)
        wrapped = [_around(inputs[i % len(inputs)], x) for i, x in enumerate(leaves)]
        jac = tree.unflatten(tree.structure(jac), wrapped)
        return (jac, out[1]) if has_aux else jac

    return call


def _around(m: Any, jac: Any) -> Any:
    if not isinstance(m, BCOO):
        return jac
    outer = jac.shape[: jac.ndim - m.data.ndim]
    at = of_each(m, m.indices)
    places = xnp.broadcast_to(at, (*outer, *at.shape))
    return BCOO((jac, places), shape=(*outer, *m.shape))


def jacfwd(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any
) -> Callable[..., Any]:
    """The function that gives the Jacobian of another by forward mode: by a BCOO a BCOO, by the values that are stored.

    The axes of the result come first, as batch axes.

    Args:
      fun: function with arrays as its result.
      argnums: by which arguments; they may be structures of arrays.
      has_aux: whether ``fun`` returns (arrays, anything).
      kwargs: further arguments of ``xcore.jacfwd``.

    >>> m = BCOO.fromdense([[0.0, 3.0], [4.0, 0.0]])
    >>> jacfwd(lambda m: m @ xnp.asarray([1.0, 2.0]))(m)
    BCOO(float32[2, 2, 2], nse=2, n_batch=1)
    """
    return _jacobian("jacfwd", _jacfwd, fun, argnums, has_aux, kwargs)


def jacrev(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any
) -> Callable[..., Any]:
    """The function that gives the Jacobian of another by reverse mode: by a BCOO a BCOO, by the values that are stored.

    The axes of the result come first, as batch axes.

    Args:
      fun: function with arrays as its result.
      argnums: by which arguments; they may be structures of arrays.
      has_aux: whether ``fun`` returns (arrays, anything).
      kwargs: further arguments of ``xcore.jacrev``.

    >>> m = BCOO.fromdense([[0.0, 3.0], [4.0, 0.0]])
    >>> jacrev(lambda m: m @ xnp.asarray([1.0, 2.0]))(m).data
    Array([[2., 0.],
           [0., 1.]], dtype=float32)
    """
    return _jacobian("jacrev", _jacrev, fun, argnums, has_aux, kwargs)


jacobian = jacrev
