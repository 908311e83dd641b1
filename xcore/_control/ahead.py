"""Ahead of time: a jitted function traced, lowered and compiled for types, step by step."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from .._backend import client as backend
from .._core import Array, ArrayType, Program, ShapeDtypeStruct, compile, errors, tree
from .._core.compile import executable
from .._core.eval import execute, is_array_like, to_array
from .._core.placing import layout_of, reshard
from .._core.sharding import NamedSharding, as_sharding, default_sharding, shape_of_tile
from .costs import costs


def _platform(who: str, name: str, given: str) -> str:
    found = backend.named(given)
    if found not in backend.PLATFORMS:
        raise errors.bad_argument(who, name, given, f"one of {', '.join(backend.PLATFORMS)}")
    return found


def compiler_pairs(options) -> tuple:
    """Options for the compiler as sorted pairs."""
    if not options:
        return ()
    plain = isinstance(options, dict) and all(
        isinstance(k, str) and isinstance(v, (bool, int, float, str)) for k, v in options.items()
    )
    if not plain:
        expected = "a dict of flags of XLA by name, with strings, numbers or booleans as values"
        raise errors.bad_argument("jit", "compiler_options", options, expected)
    return tuple(sorted(options.items()))


class Traced:
    """A function traced for given types: ``.program``, ``.lower()``.

    >>> import xcore as xc
    >>> traced = xc.jit(lambda x: 2 * x).trace(1.0)
    >>> traced.out_info
    ShapeDtypeStruct(shape=(), dtype=float32, weak_type=True)
    """

    def __init__(self, general, found, types, shardings):
        self._general, self._found, self._types = general, found, types
        self._shardings, self._origin = shardings, self
        captured = [getattr(getattr(c, "_t", None), "sharding", None) for c in found.captured]
        given = [s or p for s, p in zip(shardings, found.places, strict=True)]
        for sharding, t in zip(given, types, strict=True):
            if sharding is not None:
                shape_of_tile(sharding, t.shape)  # an error where axes do not divide
        self._layout = layout_of(found.program, [*captured, *given])
        # of each input whether it is spread, or has been asked to be
        self._spread = [s is not None and len(s.devices) > 1 for s in (*captured, *given)]
        self.program: Program = found.program
        self.fun_name = general.name
        self.out_tree, self.in_tree = found.out_tree, found.in_tree

    @property
    def jaxpr(self) -> Program:
        """The program for reading, with the values that it captured: ``.consts``."""
        p = self.program
        return Program(p.inputs, p.eqns, p.outputs, p.name, p.options, self._found.captured)

    @property
    def args_info(self) -> Any:
        """Shapes and dtypes of the arguments, in their tree: (positional, keywords)."""
        return tree.unflatten(self.in_tree, list(map(_struct_of, self._types)))

    @property
    def out_info(self) -> Any:
        """Shapes and dtypes of the results, in their tree."""
        return tree.unflatten(self.out_tree, list(map(_struct_of, self.program.out_types)))

    @property
    def _device(self):
        return self._layout.devices[0] if self._layout else backend.default_device()

    def on(self, platform: str) -> Traced:
        """The same as the platform needs it."""
        origin = self._origin
        found = origin._found.on(platform)
        if found is origin._found:
            return origin
        made = Traced(self._general, found, self._types, self._shardings)
        made._origin = origin
        return made

    def lower(self, lowering_platforms: str | Sequence[str] | None = None) -> Lowered:
        """StableHLO for the platform of the arguments, or for another: ``lowering_platforms=("cuda",)``.

        Platforms are "cpu", "cuda" (or "gpu") and "tpu".
        """
        if lowering_platforms is None:
            return Lowered(self, backend.platform_of(self._device), False)
        given = lowering_platforms
        names = (given,) if isinstance(given, str) else tuple(given)
        if len(names) != 1:
            raise errors.bad_argument(
                "lower", "lowering_platforms", given, "one platform",
                "For several: jit(f).lower(x).for_platforms(\"cpu\", \"cuda\").",
            )  # fmt: skip
        return Lowered(self, _platform("lower", "lowering_platforms", names[0]), True)


class _OfTraced:
    """What is known since the function was traced."""

    _traced: Traced
    args_info = property(lambda self: self._traced.args_info, doc=Traced.args_info.__doc__)
    out_info = property(lambda self: self._traced.out_info, doc=Traced.out_info.__doc__)


class Lowered(_OfTraced):
    """A traced function as StableHLO: ``.as_text()``, ``.compile()``.

    >>> import xcore as xc
    >>> low = xc.jit(lambda x: 2 * x).lower(1.0)
    >>> 'stablehlo.multiply' in low.as_text()
    True
    """

    def __init__(self, traced: Traced, platform: str, asked: bool):
        self._traced, self._platform, self._asked = traced, platform, asked
        self.in_tree, self.out_tree = traced.in_tree, traced.out_tree
        if asked:
            self._traced, _ = traced.on(platform), self._bytecode

    @functools.cached_property
    def _bytecode(self) -> bytes:
        with self._module() as ctx:
            return ctx.bytecode()

    def _module(self):
        traced = self._traced.on(self._platform)
        found, layout = traced._found, traced._layout
        return compile.lowering().lowered(
            found.program, self._platform, donors=found.donors, layout=layout
        )

    def as_text(self, dialect: str = "stablehlo", *, debug_info: bool = False) -> str:
        """The module as text: dialect "stablehlo", or "hlo" for XLA's form before optimisation."""
        if dialect == "hlo":
            return backend.hlo_text(self._bytecode)
        if dialect != "stablehlo":
            raise errors.bad_argument("Lowered.as_text", "dialect", dialect, '"stablehlo" or "hlo"')
        with self._module() as ctx:
            return ctx.as_text(debug_info)

    def for_platforms(self, *platforms: str) -> dict[str, Lowered]:
        """The function lowered for several platforms: "cpu", "cuda" (or "gpu"), "tpu"."""
        names = [_platform("Lowered.for_platforms", "platforms", p) for p in platforms]
        return {name: Lowered(self._traced, name, True) for name in names}

    def compile(
        self, device: Any = None, *, compiler_options: Mapping[str, Any] | None = None
    ) -> Compiled:
        """The executable.

        Args:
          device: one of `xc.devices()`, or of an `xc.topology(…)`, which is not here: then the result can
            be looked at and serialised, not called. By default where the arguments are.
          compiler_options: names of XLA's flags with their values.
        """
        if isinstance(device, dict):  # as jax has it
            device, compiler_options = None, device
        place = self._place(device)
        traced = self._traced.on(backend.platform_of(self._device_of(place)))
        p = traced.program
        if compiler_options:
            options = compiler_pairs(compiler_options)
            p = Program(p.inputs, p.eqns, p.outputs, p.name, options)
        return Compiled(traced, executable(p, place, traced._found.donors))

    @staticmethod
    def _device_of(place):
        return place[0] if isinstance(place, tuple) else place.devices[0]

    def _place(self, device: Any):
        layout = self._traced._layout
        if device is not None and layout is not None:
            raise errors.bad_argument(
                "Lowered.compile", "device", device, "None where arguments are spread over devices",
                "Their shardings say where.",
            )  # fmt: skip
        device = self._traced._device if device is None else getattr(device, "devices", [device])[0]
        if not hasattr(device, "platform"):
            raise errors.bad_argument(
                "Lowered.compile", "device", device, "one of xc.devices(), or an xc.topology(…)",
                'For a device that is not here: .compile(xc.topology("h200")).',
            )  # fmt: skip
        platform = backend.platform_of(device)
        if self._asked and platform != self._platform:
            raise RuntimeError(
                f"xcore: lowered for {self._platform}, but the device to compile for is of {platform}. "
                'Name another: xc.topology says which can be compiled for, .compile(xc.topology("h200")).'
            )
        return layout or (device,)

    def cost_analysis(self) -> dict[str, float]:
        return self.compile().cost_analysis()


class Compiled(_OfTraced):
    """An executable for arguments of given types.

    >>> import xcore as xc
    >>> fast = xc.jit(lambda x: 2 * x).lower(1.0).compile()
    >>> fast(3.0)
    Array(6., dtype=float32, weak_type=True)
    """

    def __init__(self, traced: Traced, exe):
        self._traced, self._exe = traced, exe
        self.in_tree, self.out_tree = traced.in_tree, traced.out_tree

    def __call__(self, *args, **kwargs):
        if type(self._exe) is backend.Prepared:
            return self._exe(args)
        leaves, structure = tree.flatten((self._with_statics(args), kwargs))
        if structure != self._traced.in_tree:
            dynamic, kwargs, _ = self._traced._general.split(args, kwargs)
            leaves, structure = tree.flatten((tuple(dynamic), kwargs))
        if structure != self._traced.in_tree:
            raise TypeError(
                f"xcore: compiled for arguments {self._traced.in_tree}, given {structure}."
            )
        arrays = [to_array(x) for x in leaves]
        for i, (x, t) in enumerate(zip(arrays, self._traced._types, strict=True)):
            if x.type.shape != t.shape or x.type.dtype != t.dtype:
                raise TypeError(
                    f"xcore: {self._traced._general.name} was compiled with {t} for argument leaf {i}, given {x.type}. "
                    "Compile it for these types too, or call the jitted function, which does so by itself."
                )
        arrays = [*self._traced._found.captured, *arrays]
        layout = self._traced._layout
        if layout is not None:
            arrays = list(map(reshard, arrays, layout.inputs))
        return tree.unflatten(self.out_tree, execute(self._exe, arrays))

    def _with_statics(self, args) -> tuple:
        """Positional arguments given without the static ones, which are compiled in, at their places."""
        args, n = [*args], len(self._traced.in_tree.children()[0].children())
        for i in sorted(i for i in self._traced._general.static_argnums if i < n):
            args.insert(i, None)
        return tuple(args)

    @property
    def input_shardings(self) -> Any:
        """How the arguments must be laid out: (positional, keywords)."""
        n = len(self._traced._found.captured)
        layout = self._traced._layout
        inputs = layout.inputs[n:] if layout else [default_sharding()] * self.in_tree.num_leaves
        return tree.unflatten(self.in_tree, inputs)

    @property
    def output_shardings(self) -> Any:
        """How the results will be laid out."""
        found = [t.sharding or default_sharding() for t in self._exe.result_types]
        return tree.unflatten(self.out_tree, found)

    def as_text(self) -> str:
        """The optimised HLO."""
        return "\n".join(m.to_string() for m in self._exe.loaded.hlo_modules())

    def cost_analysis(self) -> dict:
        """Estimates by the compiler: flops, bytes accessed, …; counted here where it does not tell."""
        try:
            found = self._exe.loaded.cost_analysis()
        except backend.RuntimeFailure:  # XLA for CUDA has no such estimate
            return costs(self._traced.program)
        return found[0] if isinstance(found, list) else found

    def memory_analysis(self) -> Any:
        """Sizes in bytes of arguments, results, temporaries and code."""
        return self._exe.loaded.get_compiled_memory_stats()

    def serialize(self) -> bytes:
        """The executable as bytes, for a process on such a device with the same versions."""
        return backend.serialize(self._exe.loaded)

    def runtime_executable(self):
        return self._exe.loaded


@runtime_checkable
class Wrapped(Protocol):
    """What ``jit`` returns: a function that can also be traced and lowered for given types.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> f = xc.jit(lambda x: 2 * x)
    >>> isinstance(f, xc.stages.Wrapped), f(1.0)
    (True, Array(2., dtype=float32, weak_type=True))
    >>> f.lower(xnp.ones(3)).compile()(xnp.ones(3))
    Array([2., 2., 2.], dtype=float32)
    """

    def __call__(self, *args, **kwargs) -> Any: ...

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """The function traced for arguments of which only types matter."""
        ...

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """The function as StableHLO for arguments of which only types matter."""
        ...


def trace(general, *args, **kwargs) -> Traced:
    """Trace for arguments, of which only types matter: arrays, or what has a shape and a dtype."""
    args = [x if i in general.static_argnums else tree.map(_type_of, x) for i, x in enumerate(args)]
    kwargs = {
        k: x if k in general.static_argnames else tree.map(_type_of, x) for k, x in kwargs.items()
    }
    found, values = general.find(args, kwargs)
    shardings = [
        v._t.sharding if type(v) is Array else _with_devices(getattr(v, "sharding", None))
        for v in values
    ]
    return Traced(general, found, [v.type for v in values], shardings)


def _with_devices(sharding):
    """One over axes alone with the mesh of the context; without such a mesh an error."""
    return as_sharding("jit", sharding) if isinstance(sharding, NamedSharding) else sharding


def _type_of(x):
    """A ShapeDtypeStruct for what only has a shape and a dtype."""
    if is_array_like(x) or not (hasattr(x, "shape") and hasattr(x, "dtype")):
        return x
    if isinstance(x, (ShapeDtypeStruct, type)):
        return x
    weak = bool(getattr(x, "weak_type", False))
    return ShapeDtypeStruct(x.shape, x.dtype, sharding=getattr(x, "sharding", None), weak_type=weak)


def _struct_of(t: ArrayType) -> ShapeDtypeStruct:
    return ShapeDtypeStruct(t.shape, t.dtype, weak_type=t.weak)
