"""``jax.core.Primitive``: primitives of others' over one operation of xcore each, and ours as they see them.

Libraries fill the tables of rules after they have made a primitive, so rules are looked up when they
are needed. A rule meets xcore's conventions here and nowhere else: a zero tangent is None, a linear
argument ``Linear``, and the batch is axis 0.
"""

from __future__ import annotations

import itertools

from .._backend.callbacks import wrap_callback
from .._control.callback import _identity  # pyright: ignore[reportPrivateUsage]
from .._core import ArrayType, Linear, Literal, Op, bind, errors, trace_closed, typeof
from .._core.eval import is_array_like, run_program, to_array, to_value
from .._core.nodes import register_pytree_node
from .._ops import zeros
from .._ops.elementwise import convert, to_user
from ..numpy import moveaxis
from ._trees import data

# The tables that libraries fill, by primitives.
jvps: dict = {}
transposes: dict = {}
batchers: dict = {}
axis_batchers: dict = {}
fancy_batchers: dict = {}
lowerings: dict = {}  # for each primitive rules by platforms, None for all

writing: list = []  # the modules in which lowering rules write, the innermost last
_numbers = itertools.count()


class Zero:
    """A tangent or cotangent that is zero and that nobody has made."""

    __slots__ = ("aval",)

    def __init__(self, aval):
        self.aval = aval

    def __repr__(self) -> str:
        return f"Zero({self.aval})"

    @staticmethod
    def from_primal_value(x) -> Zero:
        return Zero(typeof(x).to_tangent_aval())

    def instantiate(self):
        return to_user(zeros(self.aval))


class UndefinedPrimal:
    """Stands for a linear argument in a transpose rule."""

    __slots__ = ("aval",)

    def __init__(self, aval):
        self.aval = aval

    def __repr__(self) -> str:
        return f"UndefinedPrimal({self.aval})"


# Nodes without leaves, so that they pass through vmap beside arrays.
for _cls in (Zero, UndefinedPrimal):
    register_pytree_node(_cls, lambda z: ((), z.aval), lambda aval, _, cls=_cls: cls(aval))


def is_zero(x) -> bool:
    """Whether a tangent is None, a Zero (or the class itself, which some rules return), or of an integer."""
    return x is None or x is Zero or isinstance(x, Zero) or typeof(x).dtype.kind == "V"


class BindParams(dict):
    """Params to bind with, as JAX 0.10 gives them; and, unpacked, the pair (functions, params) of versions before."""

    def __iter__(self):
        return iter(([], dict(self.items())))


class Primitive:
    """An operation of somebody's own, with rules in the tables of ``jax.interpreters``."""

    multiple_results = False
    call_primitive = map_primitive = False
    skip_canonicalization = ref_primitive = is_effectful = False

    def __init__(self, name: str):
        self.name = name
        self._abstract = self._impl = None
        self._acts = False
        # "!" keeps programs that hold it off the disk: what its rules say is known in this process only
        self.op = Op(
            f"{name}!{next(_numbers)}", type=self._type, lower=self._lower, jvp=self._jvp,
            transpose=self._transpose, batch=self._batch, eager=self._eager, many=True,
            effects=lambda **params: frozenset({"io"}) if self._acts else frozenset(),
        )  # fmt: skip
        primitives_by_op[self.op] = self

    def __repr__(self) -> str:
        return self.name

    # What libraries say of it

    def def_impl(self, impl):
        self._impl = impl
        return impl

    def def_abstract_eval(self, rule):
        self._abstract = rule
        return rule

    def def_effectful_abstract_eval(self, rule):
        self._acts = True
        self._abstract = lambda *types, **params: rule(*types, **params)[0]
        return rule

    def def_bind_with_trace(self, rule):
        raise NotImplementedError(
            "xcore.as_jax: primitives cannot choose how traces treat them; give them rules in the tables of "
            "jax.interpreters."
        )

    def bind(self, *args, **params):
        outs = bind(self.op, *map(data, args), **params)
        return outs if self.multiple_results else outs[0]

    def impl(self, *args, **params):
        if self._impl is None:
            return apply_primitive(self, *args, **params)
        return self._impl(*args, **params)

    def abstract_eval(self, *types, **params):
        if self._abstract is None:
            raise NotImplementedError(
                f"xcore.as_jax: the primitive {self.name} has no rule for types; give it one by "
                "def_abstract_eval."
            )
        return self._abstract(*types, **params), set()

    def get_bind_params(self, params):
        return BindParams(params)

    # As a list, whether it has one result or several

    def _as_list(self, results) -> list:
        return list(results) if self.multiple_results else [results]

    def _unlisted(self, listed):
        """What its rules are given or give of a list of results."""
        return list(listed) if self.multiple_results else listed[0]

    def _types(self, types, params):
        """As ``abstract_eval`` says, which classes of others write themselves."""
        return self.abstract_eval(*[t.type for t in types], **params)[0]

    # The rules of the operation

    def _type(self, *types, **params):
        found = self._as_list(self._types(types, params))
        return [ArrayType(tuple(t.shape), t.dtype, getattr(t, "weak_type", False)) for t in found]

    def _eager(self, *args, **params):
        outs = self._as_list(self.impl(*map(to_user, args), **params))
        return [to_array(x) if is_array_like(x) or isinstance(x, Literal) else x for x in outs]

    def _lower(self, ctx, *values, **params):
        rules = lowerings.get(self, {})
        rule = rules.get(ctx.platform, rules.get(None))
        if rule is None:
            if self._impl is None:
                raise errors.missing_rule(self.op, "lower")
            rule = lower_fun(self._impl, multiple_results=self.multiple_results)
        writing.append(ctx)
        try:
            outs = rule(Context(ctx, self), *values, **params)
        finally:
            writing.pop()
        return [_single_value(x) for x in outs]

    def _jvp(self, primals, tangents, **params):
        rule = jvps.get(self)
        if rule is None:
            raise errors.missing_rule(self.op, "jvp", "It would stand in ad.primitive_jvps.")
        primals = list(map(to_user, primals))
        pairs = zip(primals, tangents)
        given = [Zero.from_primal_value(p) if t is None else to_user(t) for p, t in pairs]
        outs, changes = rule(primals, given, **params)
        changes = [None if is_zero(t) else t for t in self._as_list(changes)]
        return [to_value(x) for x in self._as_list(outs)], changes

    def _transpose(self, cotangents, *args, **params):
        rule = transposes.get(self)
        if rule is None:
            raise errors.missing_rule(
                self.op, "transpose", "It would stand in ad.primitive_transposes."
            )
        types = [a.type if isinstance(a, Linear) else typeof(a) for a in args]
        outs = self._type(*types, **params)
        cts = [Zero(t) if ct is None else to_user(ct) for t, ct in zip(outs, cotangents)]
        given = [UndefinedPrimal(a.type) if isinstance(a, Linear) else to_user(a) for a in args]
        found = rule(self._unlisted(cts), *given, **params)
        if found is Zero or isinstance(found, Zero) or found is None:
            return [None] * len(args)
        return [None if is_zero(ct) else ct for ct in found]

    def _batch(self, size, args, batched, **params):
        dims = [0 if b else None for b in batched]
        args = list(map(to_user, args))
        if self in fancy_batchers:
            outs, dims = fancy_batchers[self](AxisData(None, size), args, dims, **params)
        elif self in axis_batchers:
            outs, dims = axis_batchers[self](size, None, None, args, dims, **params)
        elif self in batchers:
            outs, dims = batchers[self](args, dims, **params)
        else:
            raise errors.missing_rule(
                self.op, "batch", "It would stand in batching.primitive_batchers."
            )
        outs, dims = self._as_list(outs), self._as_list(dims)
        front = [to_value(x if d in (None, 0) else moveaxis(x, d, 0)) for x, d in zip(outs, dims)]
        return front, [d is not None for d in dims]


primitives_by_op: dict[Op, Primitive] = {}


class AxisData:
    """The axis that vmap adds, as batching rules are told of it."""

    __slots__ = ("explicit_mesh_axis", "name", "size", "spmd_name")

    def __init__(self, name, size: int):
        self.name, self.size, self.spmd_name, self.explicit_mesh_axis = name, size, None, None


def apply_primitive(primitive: Primitive, *args, **params):
    """Runs a primitive as a program of its own, by its lowering rule."""
    arrays = [to_array(a) for a in args]
    program = trace_closed(
        lambda *xs: bind(primitive.op, *xs, **params), [a.type for a in arrays], primitive.name
    )
    outs = run_program(program, arrays)
    return outs if primitive.multiple_results else outs[0]


# Lowering


class _Module:
    """What rules ask of the module that is written."""

    def __init__(self, ctx):
        self.platforms, self.ctx = (ctx.platform,), ctx

    def add_keepalive(self, kept) -> None:
        """Programs hold what they call themselves."""


class Context:
    """What a lowering rule is told: the types of arguments and results, and the module."""

    def __init__(self, ctx, primitive):
        self.ctx, self.primitive = ctx, primitive
        self.avals_in, self.avals_out = list(ctx.in_types), list(ctx.out_types)
        self.module_context = _Module(ctx)
        self.platforms = (ctx.platform,)
        self.tokens_in = self.tokens_out = None


def _single_value(x):
    """A value of MLIR; rules may give it in a list or as an operation."""
    if isinstance(x, (list, tuple)):
        (x,) = x
    return getattr(x, "result", x)


def lower_fun(fun, multiple_results: bool = True):
    """A lowering rule that writes what ``fun(*args, **params)`` computes."""

    def rule(ctx: Context, *values, **params):
        def flat(*xs):
            found = fun(*xs, **params)
            outs = list(found) if multiple_results else [found]
            types = ctx.avals_out
            return [_of_dtype(to_value(x), t) for x, t in zip(outs, types, strict=True)]

        program = trace_closed(flat, ctx.avals_in, ctx.primitive.name)
        return ctx.ctx.program(program, values)

    return rule


def _of_dtype(x, type_: ArrayType):
    return x if typeof(x).dtype == type_.dtype else convert(x, dtype=type_.dtype)


def register_lowering(prim, rule, platform=None, inline=True, cacheable=True):
    lowerings.setdefault(prim, {})[platform] = rule
    return rule


class _HostFunction:
    """A Python function that a lowering rule calls from the program."""

    def __init__(self, function):
        self.function, self.name = function, getattr(function, "__name__", "callback")

    def __call__(self, *arrays):
        return [*self.function(*arrays)]

    def canonical(self) -> str:
        return f"!host({_identity(self.function)})"


def emit_python_callback(
    ctx: Context, callback, token, operands, operand_avals, result_avals, *,
    has_side_effect: bool = True, returns_token: bool = False, partitioned: bool = False,
    sharding=None,
):  # fmt: skip
    """Writes a call of a Python function; its results, the token, and what must be kept alive."""
    if token is not None:
        raise NotImplementedError(
            "xcore.as_jax: ordered callbacks are those of jax.experimental.io_callback(ordered=True)."
        )
    function = _HostFunction(callback)
    call = wrap_callback(function, tuple(result_avals), function.name)
    types = [ctx.ctx.type(t) for t in result_avals]
    outs = ctx.ctx.host_call(call, list(operands), types, side_effect=has_side_effect)
    return outs, None, call


# Operations of ours as primitives: names where theirs differ

THEIRS = {
    "call": "jit", "convert": "convert_element_type", "bitcast_convert": "bitcast_convert_type",
    "convolution": "conv_general_dilated", "linear_solve": "custom_linear_solve", "round_even": "round",
    "callback": "pure_callback", "special.erf": "erf", "special.erfc": "erfc", "special.erfinv": "erf_inv",
    "special.expit": "logistic", "special.digamma": "digamma", "special.gammaln": "lgamma",
    "special.gammainc": "igamma", "special.gammaincc": "igammac", "special.i0e": "bessel_i0e",
    "special.i1e": "bessel_i1e", "special.betainc": "regularized_incomplete_beta", "special.zeta": "zeta",
    "special.polygamma": "polygamma",
}  # fmt: skip
