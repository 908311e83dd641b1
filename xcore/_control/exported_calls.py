"""Calling StableHLO of a file: what it is, and the operation that takes it into a program."""

from __future__ import annotations

import contextlib
import functools
import hashlib
from dataclasses import dataclass

import numpy as np

from .._backend import artifacts, shardy
from .._core import ArrayType, Mesh, Op, compile, errors
from .._core.layout import refined
from .._core.spans import Axes, Span
from .._transforms.programs import marked
from .loops import map as loop


@dataclass(frozen=True)
class DisabledSafetyCheck:
    """A check that is left out at export and at the call: ``platform()`` or ``custom_call(target)``.

    >>> import xcore as xc
    >>> xc.export.DisabledSafetyCheck.custom_call("my_kernel")
    DisabledSafetyCheck(kind='custom_call', target='my_kernel')
    """

    kind: str
    target: str = ""

    @classmethod
    def platform(cls) -> DisabledSafetyCheck:
        """It may run on platforms that it was not lowered for, as the first one that it was lowered for."""
        return cls("platform")

    @classmethod
    def custom_call(cls, target_name: str) -> DisabledSafetyCheck:
        """It may call this target, of which nobody promises that it stays."""
        return cls("custom_call", target_name)


Checks = tuple[DisabledSafetyCheck, ...]


@dataclass(frozen=True, eq=False)
class Artifact:
    """StableHLO for some platforms: one module each, or one that gets the platform's index."""

    name: str
    platforms: tuple[str, ...]
    blobs: tuple[bytes, ...]
    in_types: tuple[ArrayType, ...]
    out_types: tuple[ArrayType, ...]
    disabled: Checks = ()
    span: Span | None = None  # of several devices

    @functools.cached_property
    def digest(self) -> str:
        text = repr((self.platforms, self.in_types, self.out_types, self.disabled, self.span))
        parts = [hashlib.sha256(b).digest() for b in (text.encode(), *self.blobs)]
        return hashlib.sha256(b"".join(parts)).hexdigest()

    def canonical(self) -> str:
        return f"exported:{self.digest}"

    def number(self, platform: str) -> int:
        """Which of its platforms this is."""
        if platform in self.platforms:
            return self.platforms.index(platform)
        if DisabledSafetyCheck.platform() in self.disabled:
            return 0
        raise errors.ExportError(
            f"xcore.export: {self.name} was exported for {', '.join(self.platforms)}, and is called on {platform}. "
            f'Export it for both: xc.export.export(f, platforms=["{self.platforms[0]}", "{platform}"]).'
        )

    def blob(self, platform: str) -> bytes:
        n = self.number(platform)
        return self.blobs[n if len(self.blobs) > 1 else 0]

    def check_targets(self, targets: set[str]) -> None:
        allowed = {c.target for c in self.disabled if c.kind == "custom_call"}
        for target in sorted(targets - allowed):
            if artifacts.calls_python(target):
                raise errors.ExportError(
                    f"xcore.export: {self.name} calls Python functions (pure_callback, debug.print, a progress bar, "
                    "or a routine that is done on the host), which stay in the process that made them. Leave them out."
                )
            if not artifacts.stays(target):
                raise errors.ExportError(
                    f"xcore.export: {self.name} calls {target!r}, of which nobody promises that it means the same in "
                    "another version. To export or call it all the same: disabled_checks="
                    f"[xc.export.DisabledSafetyCheck.custom_call({target!r})]."
                )


# The operation


def _type(*types, artifact):
    expected = list(artifact.in_types)
    if [t.strong() for t in types] != expected:
        raise errors.ExportError(
            f"xcore.export: {artifact.name} takes {expected}, given {list(types)}."
        )
    return list(artifact.out_types)


def _lower(ctx, *values, artifact):
    span = artifact.span
    if span is None:
        return _emit_call(ctx, values, artifact, adopt(ctx, artifact))
    _check_devices(ctx, span)
    adopted = adopt(ctx, artifact, site=_site(ctx, span))
    order = ctx.layout.order
    values = _constrain(ctx, values, span.shardings("inputs", order), artifact.in_types)
    outs = _emit_call(ctx, values, artifact, adopted)
    return _constrain(ctx, outs, span.shardings("outputs", order), artifact.out_types)


def _emit_call(ctx, values, artifact, adopted: artifacts.Adopted) -> list:
    number = artifact.number(ctx.platform)
    first = [ctx.constant(np.int32(number))] if adopted.by_platform else []
    return ctx.call(adopted.function, [*first, *values])


def _check_devices(ctx, span: Span) -> None:
    if ctx.manual is not None:
        raise errors.ExportError(
            f"xcore.export: {span.name} was exported for {span.count} devices, and is called inside of shard_map, "
            "where there is one. Call it outside, or export the function of one device."
        )
    assert ctx.partitions == span.count, "the layout is of devices that were counted"


def _constrain(ctx, values, shardings, types) -> list:
    return [
        x if s is None else ctx.sharding_constraint(x, ctx.axes_of(s, t.ndim))
        for x, s, t in zip(values, shardings, types, strict=True)
    ]


def _site(ctx, span: Span) -> shardy.Site:
    """What the devices and axes of a module from a file are in that of ``ctx``."""
    layout = ctx.layout
    known = span.over(layout.order)
    known_meshes = {_mesh_key(m) for m in (*known, refined(known[0]))}

    def axes(mesh: shardy.Named) -> shardy.Renamed:
        if not mesh.names:
            return {}
        if mesh[:2] not in known_meshes:
            raise artifacts.Damaged(f"its mesh is {mesh}, of which the file does not tell")
        here = Axes(*mesh).over(layout.order)
        return {n: tuple(map(str, layout.names(here, (n,)))) for n in mesh.names}

    places = layout.mesh.positions().reshape(-1).tolist()
    return shardy.Site(ctx.MESH, axes, tuple(places))


def _mesh_key(mesh: Mesh) -> tuple[tuple[str, ...], tuple[int, ...]]:
    return tuple(map(str, mesh.axis_names)), mesh.axis_sizes


def adopt(
    ctx, artifact: Artifact, platform: str = "", site: shardy.Site | None = None
) -> artifacts.Adopted:
    """The artifact's function in the module of ``ctx``; it must be what its types say."""
    blob = artifact.blob(platform or ctx.platform)
    try:
        adopted = ctx.adopt(("exported", hashlib.sha256(blob).digest()), blob, site)
    except artifacts.Damaged as error:
        raise errors.ExportError(
            f"xcore.export: the module of {artifact.name} cannot be read: {error}. It is damaged, or was written by a "
            "later version of StableHLO than this jaxlib knows."
        ) from None
    except shardy.Unknown as error:
        raise errors.ExportError(
            f"xcore.export: {artifact.name} cannot be called here: {error}. Spread its arguments over a mesh like the "
            "one that it was exported for: exported.in_shardings_jax()."
        ) from None
    artifact.check_targets(adopted.targets)
    given = adopted.inputs[adopted.by_platform :], adopted.results
    expected = list(map(ctx.type, artifact.in_types)), list(map(ctx.type, artifact.out_types))
    if given != expected:
        raise errors.ExportError(
            f"xcore.export: the module of {artifact.name} is damaged: its function has the types "
            f"{list(map(str, given[0]))} -> {list(map(str, given[1]))}, and the file says {artifact.in_types} -> "
            f"{artifact.out_types}."
        )
    return adopted


def _batch(size, args, batched, *, artifact):
    """StableHLO has no batch rule: one call for each element of the batch, in a loop."""

    def one(remaining):
        remaining = iter(remaining)
        full = [next(remaining) if b else x for x, b in zip(args, batched, strict=True)]
        return exported_call(*full, artifact=artifact)

    outs = loop(one, marked(args, batched))
    return outs, [True] * len(outs)


def _effects(*, artifact):
    return frozenset() if artifact.span is None else frozenset([("span", artifact.span)])


exported_call = Op(
    "exported_call", type=_type, lower=_lower, batch=_batch, many=True, effects=_effects
)


@contextlib.contextmanager
def reading(platform: str):
    """For a block: a module to take artifacts into."""
    ctx = compile.lowering().Lowering(platform)
    try:
        yield ctx
    finally:
        ctx.close()
