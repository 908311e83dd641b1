"""dot_general: sums of products along pairs of axes."""

from __future__ import annotations

from .._core import Alternative, ArrayType, Linear, Op, config, dtypes, errors, typeof
from .._cpu.dot import in_better_form, is_best_apart, is_plain_product
from .elementwise import convert
from .families import NUMBERS, add, all_weak, check_kind
from .layout import move_axis, transpose

# precision: how a float32 product is formed on devices with faster, less precise units
PRECISIONS = {None: "HIGHEST", "default": "DEFAULT", "high": "HIGH", "highest": "HIGHEST",
              "float32": "HIGHEST", "bfloat16": "DEFAULT", "fastest": "DEFAULT",
              "tensorfloat32": "HIGH", "bfloat16_3x": "HIGH",
              "tensorfloat32_3x": "HIGHEST"}  # fmt: skip
# what ``jax.lax.DotAlgorithmPreset`` names; all others there are of inputs that are narrow already
_ALGORITHMS = {"f32_f32_f32": "float32", "f64_f64_f64": "highest", "tf32_tf32_f32": "tensorfloat32",
               "tf32_tf32_f32_x3": "tensorfloat32_3x", "bf16_bf16_bf16": "bfloat16", "bf16_bf16_f32": "bfloat16",
               "bf16_bf16_f32_x3": "bfloat16_3x", "bf16_bf16_f32_x6": "highest",
               "bf16_bf16_f32_x9": "highest", "f16_f16_f16": "highest", "f16_f16_f32": "highest",
               "any_f8_any_f8_f32": "highest", "any_f8_any_f8_f32_fast_accum": "highest",
               "any_f8_any_f8_any": "highest", "any_f8_any_f8_any_fast_accum": "highest"}  # fmt: skip


def precision_name(given) -> str | None:
    """A precision argument (name, enum, pair) as one of the names above; None means the setting."""
    if isinstance(given, tuple):
        given = given[0]
    name = getattr(given, "name", given) or config.settings().default_matmul_precision
    name = name.lower() if isinstance(name, str) else name
    name = _ALGORITHMS.get(name, name) if isinstance(name, str) else name
    if name not in PRECISIONS:
        raise errors.bad_argument("dot", "precision", given, f"one of {[*PRECISIONS]}")
    return name


def _free(ndim: int, contract, batch) -> list[int]:
    return [i for i in range(ndim) if i not in contract and i not in batch]


def _dot_type(x, y, *, contract, batch, precision=None, out=None):
    if x.dtype != y.dtype:
        raise errors.dtype_mismatch("dot_general", lhs=x, rhs=y)
    check_kind("dot_general", x.dtype, NUMBERS | {"bool"})
    if out is not None and dtypes.is_complex(x.dtype) and not dtypes.is_complex(out):
        why = "complex (a product of complex numbers is)"
        raise errors.bad_argument("dot_general", "preferred_element_type", out, why)
    pairs = [*zip(*contract, strict=True), *zip(*batch, strict=True)]
    if any(x.shape[i] != y.shape[j] for i, j in pairs):
        raise errors.shape_mismatch(
            "dot_general", f"must agree along axes {contract[0]} and {contract[1]}", lhs=x, rhs=y
        )
    shape = [x.shape[i] for i in batch[0]]
    shape += [x.shape[i] for i in _free(x.ndim, contract[0], batch[0])]
    shape += [y.shape[i] for i in _free(y.ndim, contract[1], batch[1])]
    return [ArrayType(tuple(shape), out or x.dtype, all_weak((x, y)))]


def _dot_lower(ctx, x, y, *, contract, batch, precision=None, out=None):
    if ctx.platform != "cpu" and _sums_whole_numbers_as_floats(ctx):
        x, y = (
            ctx.convert(v, ctx.tensor(t.shape, ctx.out_types[0].dtype))
            for v, t in zip((x, y), ctx.in_types, strict=True)
        )
    if ctx.platform == "tpu" and ctx.in_types[0].dtype.name in ("int64", "uint64"):
        ctx.refuse("a TPU has no products of 64-bit integers. Use int32, or floats: x.astype(...).")
    parts = precision == "tensorfloat32_3x" and ctx.platform == "cuda" and _are_single(ctx)
    return ctx.dot_general(
        x, y, ctx.out(), contract, batch, PRECISIONS[precision], 3 if parts else None
    )


def _are_single(ctx) -> bool:
    return all(t.dtype.name == "float32" for t in (*ctx.in_types, *ctx.out_types))


def _sums_whole_numbers_as_floats(ctx) -> bool:
    """XLA's compiler for CUDA ends the process at such products (int8 · int8 to float32)."""
    return ctx.in_types[0].dtype.kind in "iub" and ctx.out_types[0].dtype.kind not in "iub"


def _in_better_form(ctx, x, y, *, contract, batch, precision=None, out=None):
    return in_better_form(ctx, x, y, contract, PRECISIONS[precision])


def _fenced(ctx, x, y, **params):
    return ctx.fence(_dot_lower(ctx, x, y, **params))


def _dot_jvp(primals, tangents, **params):
    x, y = primals
    gx, gy = tangents
    terms = [dot_general(gx, y, **params)] if gx is not None else []
    terms += [dot_general(x, gy, **params)] if gy is not None else []
    return [dot_general(x, y, **params)], [add(*terms) if len(terms) == 2 else terms[0]]


def _dot_transpose_one(ct, known, target, contract, batch, precision, swapped: bool):
    """The cotangent of one side: contract ct with the other side's free axes, then put axes in order."""
    mine, other = (1, 0) if swapped else (0, 1)
    n_batch = len(batch[0])
    free_mine = _free(target.ndim, contract[mine], batch[mine])
    free_other = _free(typeof(known).ndim, contract[other], batch[other])
    first = n_batch + (len(free_other) if swapped else 0)
    ct_mine = list(range(first, first + len(free_mine)))
    ct_other = [i for i in range(n_batch, typeof(ct).ndim) if i not in ct_mine]
    if typeof(ct).dtype != typeof(known).dtype:
        known = convert(known, dtype=typeof(ct).dtype)
    # the axes of the product: batch, free axes of this side, contracted axes in the order of the other side
    by_position = sorted(range(len(contract[other])), key=lambda k: contract[other][k])
    contracted = [contract[mine][k] for k in by_position]
    orders = [[*batch[mine], *free_mine, *contracted], [*batch[mine], *contracted, *free_mine]]
    in_order = [*range(target.ndim)]
    sides = [
        (ct, tuple(ct_other), tuple(range(n_batch))), (known, tuple(free_other), tuple(batch[other])),
    ]  # fmt: skip
    # the other way round nothing is to be transposed
    if orders[0] != in_order and orders[1] == in_order:
        orders, sides = orders[::-1], sides[::-1]
    (x, *of_x), (y, *of_y) = sides
    out = dot_general(
        x, y, contract=(of_x[0], of_y[0]), batch=(of_x[1], of_y[1]), precision=precision
    )
    perm = tuple(orders[0].index(i) for i in in_order)
    out = out if perm == tuple(in_order) else transpose(out, perm=perm)
    return out if typeof(out).dtype == target.dtype else convert(out, dtype=target.dtype)


def _dot_transpose(cotangents, x, y, *, contract, batch, precision=None, out=None):
    (ct,) = cotangents
    if isinstance(x, Linear):
        return [_dot_transpose_one(ct, y, x.type, contract, batch, precision, False), None]
    return [None, _dot_transpose_one(ct, x, y.type, contract, batch, precision, True)]


def _dot_batch(size, args, batched, *, contract, batch, precision=None, out=None):
    x, y = args
    up = [
        tuple(a + b for a in axes)
        for b, axes in zip((*batched, *batched), (*contract, *batch), strict=True)
    ]
    options = {"precision": precision, "out": out}
    if all(batched):
        return [
            dot_general(x, y, contract=(up[0], up[1]), batch=((0, *up[2]), (0, *up[3])), **options)
        ], [True]
    result = dot_general(x, y, contract=(up[0], up[1]), batch=(up[2], up[3]), **options)
    # the batch is the first free axis of its side: bring it to the front
    n = len(batch[0])
    where = n if batched[0] else n + len(_free(typeof(x).ndim, up[0], up[2]))
    return [move_axis(result, where, 0)], [True]


dot_general = Op(
    "dot_general",
    type=_dot_type,
    lower=_dot_lower,
    alternatives=[
        Alternative(is_plain_product, _in_better_form),
        Alternative(is_best_apart, _fenced),
    ],
    jvp=_dot_jvp,
    transpose=_dot_transpose,
    batch=_dot_batch,
)
