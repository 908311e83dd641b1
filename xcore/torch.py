"""Functions across the border to PyTorch, in one process: each library's as one of the other's, with derivatives.

PyTorch is an extra: nothing of xcore needs it, and it is imported when a function of this module is called.
On the CPU, values cross on the memory that they have.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from . import ShapeDtypeStruct, jit, jvp, tree, vmap
from . import numpy as xnp
from ._border import HERE, Side, brought_in, inexact, pulled
from ._core import Array, PyTree, Tracer, dtypes, errors, from_numpy

__all__ = ["as_torch_function", "from_torch", "from_torch_function", "to_torch"]


@functools.cache
def _torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError as e:
        why = "xcore.torch needs PyTorch, which is not installed here: `pip install torch`."
        raise ImportError(why) from e


def to_torch(values: PyTree) -> PyTree:
    """A pytree of arrays as PyTorch's tensors, without a copy where both are on one device.

    A tensor on an array's memory must not be written to: ``x.clone()`` may be.

    Args:
      values: pytree of arrays of xcore.

    >>> xcore.torch.to_torch(xnp.ones(2))  # doctest: +SKIP
    tensor([1., 1.])
    """
    torch = _torch()
    return tree.map(lambda x: _tensor(torch, xnp.asarray(x)), values)


def from_torch(values: PyTree) -> PyTree:
    """A pytree of PyTorch's tensors as xcore's arrays, without a copy where both are on one device.

    Memory is shared where a tensor is contiguous and begins at a multiple of 64 bytes; such a tensor must not
    be written to while the array is in use. A tensor that requires a gradient is refused: the graph would end.

    Args:
      values: pytree of tensors.

    >>> xcore.torch.from_torch(torch.ones(2))  # doctest: +SKIP
    Array([1., 1.], dtype=float32)
    """
    torch = _torch()

    def one(x: Any) -> Any:
        if not isinstance(x, torch.Tensor):
            raise errors.bad_argument("torch.from_torch", "values", x, "tensors of torch")
        if x.requires_grad:
            raise ValueError(
                "xcore.torch.from_torch: this tensor requires a gradient, and PyTorch's graph would end here. "
                "Give x.detach(), or call a function made by xcore.torch.as_torch_function."
            )
        if x.device.type == "cpu":
            return from_numpy(_numpy(torch, x), copy=False, exact=True)
        return xnp.from_dlpack(x.contiguous().resolve_conj().resolve_neg())

    return tree.map(one, values)


def as_torch_function(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function of xcore as one of PyTorch: for ``backward`` (of all orders), ``torch.func`` and ``torch.vmap``.

    The function and each of its derivatives are compiled once for each shape; a backward pass computes the values
    anew. PyTorch's older way to batched gradients (``is_grads_batched=True``) takes no functions of Python's:
    ``torch.func.vmap`` does.

    Args:
      fun: function of pytrees of arrays; the tensors among its arguments are what it is differentiated by.

    >>> solve = xcore.torch.as_torch_function(lambda a, b: xc.linalg.solve(a, b))  # doctest: +SKIP
    >>> solve(a, b).sum().backward()  # doctest: +SKIP
    """
    torch, crossing = _torch(), _crossing()
    flat = functools.cache(lambda structure: _Flat(lambda *x: fun(*structure.unflatten(x))))

    @functools.wraps(fun)
    def called(*args: Any) -> Any:
        leaves, structure = tree.flatten(args)
        of, found = flat(structure), SimpleNamespace()
        if _is_plain(torch, leaves):
            out = _run(torch, of, found, leaves)
        else:
            out = crossing.apply(of, found, *leaves)
        return found.structure.unflatten(out)

    return called


def from_torch_function(
    fun: Callable[..., Any], result_shape_dtypes: Any = None
) -> Callable[..., Any]:
    """A function of PyTorch as one of xcore, for ``jit``, ``grad`` (reverse, all orders) and ``vmap`` (one by one).

    It is called on the host with tensors of the CPU, which are its own to write to.

    Args:
      fun: function of pytrees of tensors.
      result_shape_dtypes: what it returns, a pytree of ``ShapeDtypeStruct``; by default PyTorch finds it
        with tensors without values, which a function that looks at values does not take.

    >>> f = xcore.torch.from_torch_function(torch.special.expit)  # doctest: +SKIP
    >>> xc.grad(lambda x: f(x).sum())(xnp.ones(3))  # doctest: +SKIP
    """
    torch = _torch()

    def host(fun: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            given = tree.map(lambda x: _own_tensor(torch, np.asarray(x)), args)
            return tree.map(lambda x: _numpy(torch, x), fun(*given))

        return call

    @functools.wraps(fun)
    def tensors(*args: Any) -> Any:
        return tree.map(torch.as_tensor, fun(*args))

    promised = lambda fun, *args: _declared_results(torch, fun, args)  # noqa: E731
    side = Side(tree, functools.partial(_vjp, torch), _differentiable, host, promised)
    return brought_in(side, tensors, result_shape_dtypes)


# Values


def _numpy(torch: Any, x: Any) -> np.ndarray:
    """A tensor's values as NumPy's, on its memory where it is on the CPU and contiguous."""
    if x.layout is not torch.strided or x.is_quantized:
        raise TypeError(
            f"xcore.torch: need dense tensors, given one of layout {x.layout} and dtype {x.dtype}; "
            "x.to_dense() or x.dequantize() is one."
        )
    try:
        return x.numpy(force=True)
    except TypeError:  # bfloat16 and float8: NumPy has them from elsewhere
        dtype = dtypes.as_dtype(str(x.dtype).rpartition(".")[2])
        bits = torch.uint8 if dtype.itemsize == 1 else torch.int16
        return x.detach().contiguous().view(bits).numpy(force=True).view(dtype)


def _own_tensor(torch: Any, x: np.ndarray) -> Any:
    """A new tensor of NumPy's values."""
    x = np.array(x)
    if x.dtype.isbuiltin == 1:
        return torch.from_numpy(x)
    bits = x.view(np.uint8 if x.dtype.itemsize == 1 else np.int16)
    return torch.from_numpy(bits).view(getattr(torch, x.dtype.name))


def _tensor(torch: Any, x: Array) -> Any:
    """An array as a tensor on the same memory, once its values are there."""
    if isinstance(x, Tracer):
        raise errors.bad_argument(
            "torch.to_torch", "values", x,
            "values that are there, not those of a program; xcore.torch.from_torch_function calls torch from programs",
        )  # fmt: skip
    x = x.block_until_ready()
    try:
        return torch.from_dlpack(x.__dlpack__())
    except (BufferError, RuntimeError, TypeError):  # dtypes that DLPack does not know
        return _own_tensor(torch, np.asarray(x))


# Functions of xcore in PyTorch


class _Flat:
    """A function of leaves, compiled, and what its derivatives and lanes are; each is made once."""

    def __init__(self, fun: Callable[..., Any]):
        self.fun, self.program, self._derived = fun, jit(fun), {}

    def derived(self, make: Callable[..., Any], *how: Any) -> _Flat:
        if (make, how) not in self._derived:
            self._derived[make, how] = _Flat(make(self.fun, *how))
        return self._derived[make, how]


def _of_parts(fun: Callable[..., Any], at: tuple[int, ...], leaves: Any) -> Callable[..., Any]:
    """The function of some of the leaves; the others stay."""

    def of(*parts: Any) -> Any:
        full = [*leaves]
        for i, part in zip(at, parts, strict=True):
            full[i] = part
        return fun(*full)

    return of


def _backward(fun: Callable[..., Any], at: tuple[int, ...], n: int) -> Callable[..., Any]:
    """(n leaves, cotangents of the inexact results) ↦ those of the leaves at some places.

    PyTorch's are the conjugates of JAX's.
    """

    def back(*given: Any) -> Any:
        parts, cotangents = [given[i] for i in at], map(xnp.conj, given[n:])
        return list(
            map(xnp.conj, pulled(HERE, _of_parts(fun, at, given[:n]))(parts, [*cotangents]))
        )

    return back


def _along(fun: Callable[..., Any], at: tuple[int, ...], n: int) -> Callable[..., Any]:
    """(n leaves, tangents of those at some places) ↦ the tangents of the inexact results."""

    def along(*given: Any) -> Any:
        of = _of_parts(fun, at, given[:n])
        parts = [given[i] for i in at]
        inexact_results = lambda *x: [y for y in tree.leaves(of(*x)) if inexact(y)]  # noqa: E731
        return jvp(inexact_results, parts, [*given[n:]])[1]

    return along


def _vmapped(fun: Callable[..., Any], axes: tuple[int | None, ...]) -> Callable[..., Any]:
    return vmap(fun, in_axes=axes)


def _run(torch: Any, of: _Flat, found: SimpleNamespace, leaves: Any) -> tuple[Any, ...]:
    """The tensors that a function gives; its structure goes into ``found``."""
    given, away = [], None
    for x in leaves:
        if not isinstance(x, torch.Tensor):
            given.append(x)
        elif x.is_cpu:
            given.append(_numpy(torch, x))  # which programs take on the memory where it is
        else:
            away = x.device
            given.append(from_torch(x.detach()))
    out, structure = tree.flatten(of.program(*given))
    found.structure = structure
    tensors = [_tensor(torch, y) for y in out]
    return tuple(tensors if away is None else (y.to(away) for y in tensors))


def _is_plain(torch: Any, leaves: list[Any]) -> bool:
    """Whether nothing of PyTorch's watches a call: neither its graph nor a transformation."""
    watched = getattr(torch._C, "_are_functorch_transforms_active", lambda: True)()
    if watched or getattr(torch.autograd.forward_ad, "_current_level", 0) >= 0:
        return False
    if not torch.is_grad_enabled():
        return True
    return not any(isinstance(x, torch.Tensor) and x.requires_grad for x in leaves)


@functools.cache
def _crossing() -> Any:
    """The ``autograd.Function`` of (a function, where its structure goes, leaves)."""
    torch = _torch()

    def apply(ctx: Any, make: Any, at: list[int], behind: list[Any]) -> list[Any]:
        saved = iter(ctx.saved_tensors)
        leaves = [next(saved) if x is None else x for x in ctx.rest]
        of = ctx.of.derived(make, tuple(at), len(leaves))
        return Crossing.apply(of, SimpleNamespace(), *leaves, *behind)

    class Crossing(torch.autograd.Function):
        @staticmethod
        def forward(of, found, *leaves):
            return _run(torch, of, found, leaves)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.of, _, *leaves = inputs
            tensors = [x for x in leaves if isinstance(x, torch.Tensor)]
            ctx.rest = [None if isinstance(x, torch.Tensor) else x for x in leaves]
            ctx.save_for_backward(*tensors)
            ctx.save_for_forward(*tensors)
            ctx.differentiable = [_differentiable(y) for y in output]
            pairs = zip(output, ctx.differentiable, strict=True)
            ctx.mark_non_differentiable(*(y for y, d in pairs if not d))

        @staticmethod
        def backward(ctx, *cotangents):
            at = [i for i, need in enumerate(ctx.needs_input_grad[2:]) if need]
            behind = [c for c, d in zip(cotangents, ctx.differentiable, strict=True) if d]
            found = dict(zip(at, apply(ctx, _backward, at, behind), strict=True))
            return None, None, *(found.get(i) for i in range(len(ctx.rest)))

        @staticmethod
        def jvp(ctx, _, __, *tangents):
            at = [i for i, t in enumerate(tangents) if t is not None]
            found = iter(apply(ctx, _along, at, [tangents[i] for i in at]))
            return tuple(next(found) if d else None for d in ctx.differentiable)

        @staticmethod
        def vmap(info, in_dims, of, found, *leaves):
            out = Crossing.apply(of.derived(_vmapped, tuple(in_dims[2:])), found, *leaves)
            return out, (0,) * len(out)

    return Crossing


def _differentiable(x: Any) -> bool:
    return x.is_floating_point() or x.is_complex()


# Functions of PyTorch in xcore


def _vjp(torch: Any, of: Callable[..., Any], parts: list[Any]) -> Any:
    """``vjp`` by PyTorch's graph; may be differentiated in turn where the parts are."""
    again = any(x.requires_grad for x in parts)
    with torch.enable_grad():
        parts = [x if x.requires_grad else x.detach().requires_grad_() for x in parts]
        out = of([x.clone() for x in parts])

    def pull(cotangents: list[Any]) -> Any:
        moved = [(y, c.conj()) for y, c in zip(out, cotangents, strict=True) if y.requires_grad]
        if not moved or not parts:
            return ([torch.zeros_like(x) for x in parts],)
        found = torch.autograd.grad(
            [y for y, _ in moved], parts, [c for _, c in moved],
            create_graph=again, allow_unused=True, materialize_grads=True,
        )  # fmt: skip
        return ([x.conj() for x in found],)

    return out, pull


def _declared_results(torch: Any, fun: Callable[..., Any], args: Any) -> Any:
    """The descriptions of a function's results, by tensors that have no values."""
    fake = importlib.import_module("torch._subclasses.fake_tensor").FakeTensorMode
    empty = lambda t: torch.empty(t.shape, dtype=getattr(torch, t.dtype.name))  # noqa: E731
    name = getattr(fun, "__qualname__", "this function")
    try:
        with fake(allow_non_fake_inputs=True):
            out = fun(*tree.map(empty, args))
    except Exception as e:
        raise TypeError(
            f"xcore.torch.from_torch_function: the shapes of what {name} returns were not found "
            f"without values ({type(e).__name__}: {e}). Give them: result_shape_dtypes=."
        ) from e
    return tree.map(
        lambda y: ShapeDtypeStruct(
            tuple(y.shape), dtypes.as_dtype(str(y.dtype).rpartition(".")[2])
        ),
        out,
    )
