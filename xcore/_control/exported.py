"""Exported functions: StableHLO that is called like the function it was made of, in another process too."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._backend import client as backend
from .._backend import shardy
from .._core import PyTree, boundary, compile, config, dtypes, errors, tree
from .._core.array import numpy_backed
from .._core.eval import is_array_like, to_array, to_value
from .._core.layout import Layout, declared, wanted
from .._core.mesh import AbstractMesh, Mesh, PartitionSpec
from .._core.placing import order_for, reshard
from .._core.program import PYTHON_SCALARS, eval_program
from .._core.sharding import NamedSharding, Sharding
from .._core.spans import Axes, Recorder, Span, on_mesh
from .._core.trace import Tracer, bind, is_evaluating
from .._core.types import ArrayType, ShapeDtypeStruct, typeof
from .._ops import zeros
from .._ops.elementwise import convert
from .._transforms.api import vjp
from .._transforms.programs import marked
from . import exported_files, jax_files
from .custom_ops import VJPRule, custom_vjp_function
from .exported_calls import (
    Artifact,
    Checks,
    DisabledSafetyCheck,
    adopt,
    exported_call,
    reading,
)
from .exported_files import Row, Spread
from .jit import Jitted, jit

CONVENTION = 1  # of files of xcore: constants that the function captured come first


# Exported functions


@dataclass(frozen=True, eq=False, repr=False)
class Exported:
    """A function as StableHLO, that can be called, written to a file, and differentiated.

    Attributes:
      fun_name: the name of the function.
      in_tree, out_tree: structures of (arguments, keywords) and of the result.
      in_avals, out_avals: types of their leaves.
      platforms: "cpu", "cuda", "tpu": those that it was lowered for.
      nr_devices: on how many devices it runs; functions of one device are called on any number.
      calling_convention_version: 1 for files of xcore; 9 and 10 for those of jax.
      module_kept_var_idx: numbers of the leaves of the arguments that the module takes.
      disabled_safety_checks: what was not checked.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> kept = xc.export.export(xc.jit(xnp.sin))(xnp.ones(2))
    >>> kept.platforms, kept.in_avals
    (('cpu',), (float32[2],))
    >>> kept.call(xnp.zeros(2))
    Array([0., 0.], dtype=float32)
    """

    fun_name: str
    in_tree: tree.PyTreeDef
    in_avals: tuple[ArrayType, ...]
    out_tree: tree.PyTreeDef
    out_avals: tuple[ArrayType, ...]
    platforms: tuple[str, ...]
    disabled_safety_checks: Checks
    module_kept_var_idx: tuple[int, ...]
    artifact: Artifact
    constants: tuple[Any, ...] = ()
    calling_convention_version: int = CONVENTION
    spread: Spread | None = None
    whole: bool = False  # whether the module returns something for results of dtype float0
    derivative: Callable[[], Exported] | None = None
    _derivative_memo: list[Exported] = field(default_factory=list)
    _near: dict[Any, list[Any]] = field(default_factory=dict)  # constants where it is called

    def __repr__(self) -> str:
        ins, outs = (", ".join(map(str, ts)) for ts in (self.in_avals, self.out_avals))
        more = f", nr_devices={self.nr_devices}" if self.nr_devices > 1 else ""
        return f"Exported({self.fun_name}: ({ins}) -> ({outs}), platforms={self.platforms}{more})"

    # Looking

    @property
    def nr_devices(self) -> int:
        return 1 if self.spread is None else self.spread.count

    def in_shardings_jax(
        self, mesh: Mesh | AbstractMesh | None = None
    ) -> tuple[NamedSharding | None, ...]:
        """How the leaves of the arguments are laid out, None where that was not said.

        Args:
          mesh: the mesh of the result: as many devices as it was exported for, and axes over which arrays can be
            split like this. By default the axes that were recorded, without devices.
        """
        return self._on_mesh(mesh, "in")

    def out_shardings_jax(
        self, mesh: Mesh | AbstractMesh | None = None
    ) -> tuple[NamedSharding | None, ...]:
        """The same of the leaves of the result; None where the compiler chooses.

        Args:
          mesh: as for `in_shardings_jax`.
        """
        return self._on_mesh(mesh, "out")

    def _on_mesh(
        self, mesh: Mesh | AbstractMesh | None, side: str
    ) -> tuple[NamedSharding | None, ...]:
        types = self.in_avals if side == "in" else self.out_avals
        if self.spread is None:
            return (None,) * len(types)
        who, places = f"export.{side}_shardings_jax", getattr(self.spread, f"{side}s")
        return on_mesh(who, places, [t.ndim for t in types], self.spread.meshes, mesh)

    @property
    def mlir_module_serialized(self) -> bytes:
        """The module of the first platform, as a portable artifact of StableHLO."""
        return self.artifact.blobs[0]

    def mlir_module(self, platform: str | None = None) -> str:
        """The StableHLO as text.

        Args:
          platform: one of ``platforms``, by default the first.
        """
        found = self.artifact.blob(backend.named(platform or self.platforms[0]))
        with reading(self.platforms[0]) as ctx:
            return ctx.artifact_text(found, self.nr_devices > 1)

    # Calling

    @boundary
    def call(self, *args: PyTree, **kwargs: PyTree) -> PyTree:
        """The function's result. Composes with jit, with vmap (a loop over the batch), and with grad if
        the derivative is there (``has_vjp``).

        Args:
          args, kwargs: as the function takes them, without its static arguments.
        """
        given, structure = tree.flatten((args, kwargs))
        if structure != self.in_tree:
            raise errors.ExportError(
                f"xcore.export: {self.fun_name} takes arguments of the structure {self.in_tree}, given {structure}."
                " It is (positional, keywords), without static arguments."
            )
        values = [self._value(i, x) for i, x in enumerate(given)]
        return tree.unflatten(self.out_tree, self._results(values))

    def _value(self, i: int, x):
        """An argument as a value of the type that the function takes."""
        wanted = self.in_avals[i]
        if wanted.dtype == dtypes.float0:
            return np.zeros(wanted.shape, np.bool_)
        number = type(x) in PYTHON_SCALARS
        if number or is_array_like(x):
            v = to_array(x) if is_evaluating() else to_value(x)
            t = typeof(v)
            weaker = number and np.result_type(t.dtype, wanted.dtype).kind == wanted.dtype.kind
            if t.shape == wanted.shape and (t.dtype == wanted.dtype or weaker):
                return v if t.strong() is wanted and not t.weak else convert(v, dtype=wanted.dtype)
        path = tree.flatten_with_path(tree.unflatten(self.in_tree, range(len(self.in_avals))))[0][i]
        raise errors.MismatchError(
            f"xcore.export: {self.fun_name} was exported for {wanted} as argument {tree.keystr(path[0])} of "
            f"(positional, keywords), given {errors.describe(x)}. Convert it, or export the function for it too."
        )

    def _results(self, values: Sequence[Any]) -> list:
        """The leaves of the result for those of the arguments."""
        found = iter(self._differentiable(*values))
        return [
            np.zeros(t.shape, dtypes.float0) if _is_empty(t) else next(found)
            for t in self.out_avals
        ]

    def _differentiable(self, *values) -> list:
        """The same without results of dtype float0; its derivative is that which is stored."""
        if is_evaluating() or not any(_is_differentiable(t) for t in self.in_avals):
            return self._run(*values)
        rule = VJPRule(f"the exported {self.fun_name}", lambda *xs: self._run(*xs), self._forward)
        return bind(custom_vjp_function, *values, rule=rule)

    def _run(self, *values) -> list:
        outs = exported_call(*self._module_inputs(values), artifact=self.artifact)
        if not self.whole:
            return outs
        return [x for x, t in zip(outs, self.out_avals, strict=True) if not _is_empty(t)]

    def _module_inputs(self, values: Sequence[Any]) -> list:
        """What the module takes: constants and arguments, over several devices as it was exported for them."""
        span, kept = self.artifact.span, [values[i] for i in self.module_kept_var_idx]
        if span is None:
            return [*self.constants, *kept]
        if is_evaluating():
            kept = list(map(to_array, kept))
            order = order_for(span, [*self.constants, *kept])
            asked = span.shardings("inputs", order)[len(self.constants) :]
            kept = [x if s is None else reshard(x, s) for x, s in zip(kept, asked, strict=True)]
        elif len(backend.devices()) == span.count:  # arguments can be on no others
            order = order_for(span, self.constants)
        else:
            return [*self.constants, *kept]
        return [*self._constants_near(span, order), *kept]

    def _constants_near(self, span: Span, order: tuple[Any, ...]) -> list:
        """The constants on these devices, where they stay for the next call."""
        near = self._near.get(order)
        if near is None:
            whole = NamedSharding(span.over(order)[0], PartitionSpec())
            asked = span.shardings("inputs", order)
            near = [reshard(c, s or whole) for c, s in zip(self.constants, asked, strict=False)]
            self._near.clear()
            self._near[order] = near
        return near

    def _forward(self, primals, nonzero):
        outs, pull = self._differentiable(*primals), self.vjp()

        def backward(residuals, cotangents):
            given = iter(cotangents)
            cts = [_cotangent(None if _is_empty(t) else next(given), t) for t in self.out_avals]
            found = pull._results([*residuals, *cts])
            return [
                x if _is_differentiable(t) else None
                for x, t in zip(found, self.in_avals, strict=True)
            ]

        return outs, list(primals), backward

    # Derivatives

    def has_vjp(self) -> bool:
        """Whether the derivative in reverse mode is there."""
        return self.derivative is not None

    def vjp(self) -> Exported:
        """The derivative in reverse mode, exported: of the leaves of the arguments, and cotangents of those
        of the result, the cotangents of the arguments. Those of integers are of dtype float0."""
        if self.derivative is None:
            raise errors.ExportError(
                f"xcore.export: {self.fun_name} was stored without its derivative of this order. Store it: "
                "exported.serialize(vjp_order=1); 2 for second derivatives."
            )
        if not self._derivative_memo:
            self._derivative_memo.append(self.derivative())
        return self._derivative_memo[0]

    def serialize(self, vjp_order: int = 0) -> bytearray:
        """The function as a file, for `deserialize`.

        Args:
          vjp_order: how many derivatives in reverse mode are stored with it.
        """
        if not isinstance(vjp_order, int) or vjp_order < 0:
            raise errors.bad_argument("export.serialize", "vjp_order", vjp_order, "0, 1, 2, …")
        if self.calling_convention_version != CONVENTION:
            raise errors.ExportError(
                f"xcore.export: {self.fun_name} was exported by jax: its file can be kept as it is."
            )
        found = [self]
        for _ in range(vjp_order):
            found.append(found[-1].vjp())
        return exported_files.write([e._row() for e in found], sys.modules["xcore"].__version__)

    def _row(self) -> Row:
        return Row(
            self.fun_name, self.in_tree, self.in_avals, self.out_tree, self.out_avals, self.platforms,
            tuple((c.kind, c.target) for c in self.disabled_safety_checks), self.module_kept_var_idx,
            self.artifact.blobs, self.constants, self.calling_convention_version, self.whole, self.spread,
        )  # fmt: skip


def _is_empty(t: ArrayType) -> bool:
    return t.dtype == dtypes.float0


def _is_differentiable(t: ArrayType) -> bool:
    """Whether values of the type have derivatives."""
    return not _is_empty(t) and dtypes.is_inexact(t.dtype)


def _tangent(t: ArrayType) -> ArrayType:
    return t if _is_differentiable(t) else ArrayType(t.shape, dtypes.float0)


def _cotangent(ct, t: ArrayType):
    if not _is_differentiable(t):
        return np.zeros(t.shape, np.bool_)
    return zeros(t) if ct is None else ct


def _from_row(row: Row, derivative: Callable[[], Exported] | None) -> Exported:
    """The function that a row of a file describes, or that was just traced."""
    held = lambda t: ArrayType(t.shape, np.bool_) if _is_empty(t) else t  # noqa: E731
    # those of several devices stay with the host until it is known where they go
    hold = to_array if row.spread is None else numpy_backed
    constants = tuple(map(hold, row.constants))
    ins = (*[c.type.strong() for c in constants], *[held(row.in_avals[i]) for i in row.kept])
    outs = tuple(held(t) for t in row.out_avals if row.whole or not _is_empty(t))
    checks = tuple(DisabledSafetyCheck(*c) for c in row.disabled)
    artifact = Artifact(row.name, row.platforms, row.blobs, ins, outs, checks, _span_of(row))
    return Exported(
        row.name, row.in_tree, row.in_avals, row.out_tree, row.out_avals, row.platforms, checks, row.kept,
        artifact, constants, row.version, row.spread, row.whole, derivative,
    )  # fmt: skip


def _span_of(row: Row) -> Span | None:
    """How what the module takes and gives lies over several devices."""
    s = row.spread
    if s is None:
        return None
    ins = (*s.constants, *[s.ins[i] for i in row.kept])
    given = zip(s.outs, row.out_avals, strict=True)
    outs = tuple(p for p, t in given if row.whole or not _is_empty(t))
    return Span(row.name, s.count, s.meshes, ins, outs)


@boundary
def deserialize(serialized: bytes | bytearray) -> Exported:
    """The exported function that a file holds, of xcore or of jax.

    Nothing in it runs when it is read. What it calls when it runs is StableHLO and libraries of jaxlib.
    Of jax's files, those with shapes of numbers can be called.

    Args:
      serialized: the file's content.

    >>> import xcore as xc
    >>> blob = xc.export.export(xc.jit(lambda d: d["a"] + 1))({"a": 2}).serialize()
    >>> xc.export.deserialize(blob).call({"a": 40})
    Array(41, dtype=int32)
    """
    if not isinstance(serialized, (bytes, bytearray, memoryview)):
        expected = "bytes"
        advice = "Of a file: pathlib.Path(name).read_bytes()."
        raise errors.bad_argument("export.deserialize", "serialized", serialized, expected, advice)
    raw = bytes(serialized)
    ours = raw.startswith(exported_files.MAGIC)
    rows = exported_files.read(raw) if ours else jax_files.read(raw)
    try:
        return _link_derivatives(rows, ours)
    except (IndexError, ValueError) as error:
        if isinstance(error, errors.XcoreError):
            raise
        raise exported_files.damaged(f"its functions do not fit together ({error})") from None


def _link_derivatives(rows: Sequence[Row], ours: bool) -> Exported:
    """The function of the first row, with those behind it as its derivatives."""
    derivative = None
    for row in reversed(rows):
        made = _from_row(row, derivative)
        _check_fit(made)
        if not ours:  # they have no checksum, and name meshes in their modules alone
            with reading("cpu") as ctx:
                meshes = adopt(ctx, made.artifact, made.platforms[0]).meshes
            made = _from_row(_with_meshes(row, meshes.values()), derivative)
        derivative = functools.partial(_itself, made)
    return made


def _with_meshes(row: Row, meshes: Iterable[shardy.Named]) -> Row:
    if row.spread is None:
        return row
    more = [Axes(*m) for m in meshes if m.names]
    spread = row.spread._replace(meshes=tuple(dict.fromkeys([*row.spread.meshes, *more])))
    spread.check(row)
    return row._replace(spread=spread)


def _itself(made: Exported) -> Exported:
    return made


def _check_fit(made: Exported) -> None:
    counts = made.in_tree.num_leaves, made.out_tree.num_leaves
    if counts != (len(made.in_avals), len(made.out_avals)) or not made.platforms:
        raise exported_files.damaged(f"{made.fun_name} has structures that its types do not fit")


# Exporting


def platforms_of(given: Sequence[str] | str | None) -> tuple[str, ...]:
    """Names of platforms, as they are known here; by default that of the default device."""
    if given is None:
        return (backend.platform_of(backend.default_device()),)
    names = [given] if isinstance(given, str) else list(given)
    found = tuple(dict.fromkeys(backend.named(n) if isinstance(n, str) else n for n in names))
    if not found or any(n not in backend.PLATFORMS for n in found):
        expected = f"some of {', '.join(backend.PLATFORMS)}"
        raise errors.bad_argument("export.export", "platforms", given, expected)
    return found


def export(
    fun_jit: Callable[..., Any], *, platforms: Sequence[str] | str | None = None,
    disabled_checks: Sequence[DisabledSafetyCheck] = (),
) -> Callable[..., Exported]:  # fmt: skip
    """A function of arguments, of which only types matter, that gives ``fun_jit`` exported for them.

    What it captured stands in the file once. Static arguments become part of it, and donation is left to
    who calls it. Arguments with a sharding, and meshes in the function, make it one over several devices: it
    is called on any mesh of as many, and its results are spread as ``out_shardings`` says. Programs are
    lowered without what only a CPU's speed needs, so that they depend on nothing but StableHLO and, for
    factorisations, on the libraries of the platform.

    Args:
      fun_jit: a jitted function.
      platforms: "cpu", "cuda" (or "gpu"), "tpu": what it is lowered for. By default where it would run here.
      disabled_checks: what not to check; see `DisabledSafetyCheck`.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> exported = xc.export.export(xc.jit(xnp.sin))(xc.ShapeDtypeStruct((2,), xnp.float32))
    >>> blob = exported.serialize(vjp_order=1)
    >>> again = xc.export.deserialize(blob)  # in another process
    >>> again.call(xnp.zeros(2)), xc.grad(lambda x: again.call(x).sum())(xnp.zeros(2))
    (Array([0., 0.], dtype=float32), Array([1., 1.], dtype=float32))
    """
    if not isinstance(getattr(fun_jit, "jitted", None), Jitted):
        expected, advice = "a jitted function", "Write export(xc.jit(f))."
        raise errors.bad_argument("export.export", "fun_jit", fun_jit, expected, advice)
    names, checks = platforms_of(platforms), tuple(disabled_checks)
    if any(not isinstance(c, DisabledSafetyCheck) for c in checks):
        expected = "a sequence of xc.export.DisabledSafetyCheck"
        raise errors.bad_argument("export.export", "disabled_checks", disabled_checks, expected)

    @boundary
    def exporter(*args: Any, **kwargs: Any) -> Exported:
        traced = _as_needed(fun_jit.trace(*args, **kwargs), names)
        row_of = functools.partial(_row_of, traced, names, checks)
        return _export_traced(traced, row_of, names, checks)

    return exporter


def _as_needed(traced, platforms):
    """What was traced with the captured arrays that all platforms can be given."""
    return traced.on("tpu") if "tpu" in platforms else traced


def _export_traced(traced, row_of: Callable[..., Row], platforms, checks) -> Exported:
    """The export of what was traced; ``row_of(blobs)`` describes it."""
    _check(traced)
    row = row_of(tuple(_lower_module(traced, p, checks) for p in platforms))
    return _from_row(row, functools.partial(_derivative, traced, row, platforms, checks))


def _row_of(traced, platforms, checks, blobs) -> Row:
    n = len(traced._found.captured)
    ins = tuple(t.strong() for t in traced.program.in_types[n:])
    outs = tuple(t.strong() for t in traced.program.out_types)
    return Row(
        traced.fun_name, _without_statics(traced), ins, traced.out_tree, outs, platforms,
        tuple((c.kind, c.target) for c in checks), tuple(range(len(ins))), blobs,
        tuple(traced._found.captured), CONVENTION, spread=_spread_of(traced),
    )  # fmt: skip


def _layout(traced) -> Layout | None:
    """The layout of what is traced for several devices."""
    layout = traced._layout
    return layout if layout is not None and len(layout.devices) > 1 else None


def _requested_shardings(traced, layout: Layout) -> list[Sharding | None]:
    """The shardings of what the program takes, None where neither its arguments nor it itself asked for one."""
    wanted_in = wanted(traced.program, layout.order)
    each = zip(layout.inputs, traced._spread, wanted_in, strict=True)
    return [s if given or w else None for s, given, w in each]


def _spread_of(traced) -> Spread | None:
    layout, p = _layout(traced), traced.program
    if layout is None:
        return None
    recorder, n = Recorder(layout), len(traced._found.captured)
    ins = list(zip(_requested_shardings(traced, layout), [t.ndim for t in p.in_types], strict=True))
    outs = zip(declared(p, layout.order), [t.ndim for t in p.out_types], strict=True)
    places = [recorder.places(given) for given in (ins[:n], ins[n:], outs)]
    return Spread(len(layout.devices), recorder.axes(), *places)


def _without_statics(traced) -> tree.PyTreeDef:
    """The structure of the arguments; where static ones were the trace has holes."""
    positional, keywords = traced.in_tree.children()
    statics = traced._general.static_argnums
    kept = [c for i, c in enumerate(positional.children()) if i not in statics]
    return tree.treedef_tuple([tree.treedef_tuple(kept), keywords])


def _check(traced) -> None:
    name = traced.fun_name
    if any(isinstance(c, Tracer) for c in traced._found.captured):
        raise errors.ExportError(
            f"xcore.export: {name} refers to values of a function that is being traced. Export it outside of jit, "
            "grad and vmap, or make these values its arguments."
        )
    if traced.program.acts:
        raise errors.ExportError(
            f"xcore.export: {name} does something besides computing (debug.print, a callback, a check), which stays "
            "in this process. Leave it out, or return what is to be looked at."
        )
    for c in traced._found.captured:
        if not c.is_fully_addressable:
            raise errors.ExportError(
                f"xcore.export: {name} refers to the array {c.type}, parts of which are held by other processes: a "
                "file holds whole arrays. Make it an argument."
            )


def _lower_module(traced, platform: str, checks: Checks) -> bytes:
    layout, lowered = _layout(traced), compile.lowering().lowered
    with config.override(plain=True), lowered(traced.program, platform, layout=layout) as ctx:
        Artifact(traced.fun_name, (), (), (), (), checks).check_targets(ctx.targets())
        places = () if layout is None else np.argsort(layout.mesh.positions(), axis=None)
        return ctx.portable(tuple(map(int, places)))


def _derivative(traced, row: Row, platforms, checks) -> Exported:
    """The pull-back of a traced function, exported: a function of flat arguments and cotangents."""
    p, captured = traced.program, traced._found.captured
    taken, gives = [row.in_avals[i] for i in row.kept], [_is_differentiable(t) for t in p.out_types]
    differentiable = [_is_differentiable(t) for t in taken]

    def pull_back(*args):
        primals, cotangents = args[: len(taken)], args[len(taken) :]

        def of_differentiable(*xs):
            given = iter(xs)
            full = [next(given) if m else x for x, m in zip(primals, differentiable, strict=True)]
            return marked(eval_program(p, [*captured, *full]), gives)

        return tuple(vjp(of_differentiable, *marked(primals, differentiable))[1](list(cotangents)))

    pull_back.__name__ = f"{row.name}_vjp"
    given = [*taken, *[t.strong() for t in marked(p.out_types, gives)]]
    places, back = _places_of_derivative(traced, gives, differentiable)
    structs = [
        ShapeDtypeStruct(t.shape, t.dtype, sharding=s) for t, s in zip(given, places, strict=True)
    ]
    again = _as_needed(jit(pull_back, out_shardings=back).trace(*structs), platforms)
    ins = (*row.in_avals, *[_tangent(t) for t in row.out_avals])
    outs = tuple(_tangent(t) for t in row.in_avals)
    kept = tuple(i for i, t in enumerate(ins) if not _is_empty(t))

    def row_of(blobs) -> Row:
        found = _row_of(again, platforms, checks, blobs)
        s = found.spread and found.spread._replace(
            ins=_at(kept, found.spread.ins, len(ins)),
            outs=_at(
                [i for i, t in enumerate(outs) if _is_differentiable(t)],
                found.spread.outs,
                len(outs),
            ),
        )
        return found._replace(
            in_tree=tree.structure(((0,) * len(ins), {})), in_avals=ins,
            out_tree=tree.structure((0,) * len(outs)), out_avals=outs, kept=kept, spread=s,
        )  # fmt: skip

    return _export_traced(again, row_of, platforms, checks)


def _at(numbers: Sequence[int], values: Sequence[Any], count: int) -> tuple[Any, ...]:
    """A tuple of so many with the values at these numbers, and None."""
    found = dict(zip(numbers, values, strict=True))
    return tuple(found.get(i) for i in range(count))


def _places_of_derivative(traced, gives, differentiable) -> tuple[list[Sharding | None], Any]:
    """Shardings of the arguments and cotangents of a pull-back, and of its results: those of the arguments."""
    layout, p, n = _layout(traced), traced.program, len(traced._found.captured)
    if layout is None:
        return [None] * (len(differentiable) + sum(gives)), None
    ins = _requested_shardings(traced, layout)[n:]
    return [*ins, *marked(declared(p, layout.order), gives)], tuple(marked(ins, differentiable))
