"""dot_general: sums of products along pairs of axes."""

from __future__ import annotations

import math

from .._core import config, dtypes, errors
from .._core.op import Linear, Op
from .._core.types import ArrayType, typeof
from .elementwise import convert
from .families import NUMBERS, add, all_weak, check_kind
from .layout import move_axis, transpose

# precision: how a float32 product is formed on devices with faster, less precise units
PRECISIONS = {None: "HIGHEST", "default": "DEFAULT", "high": "HIGH", "highest": "HIGHEST",
              "float32": "HIGHEST", "bfloat16": "DEFAULT", "fastest": "DEFAULT",
              "tensorfloat32": "HIGH", "bfloat16_3x": "HIGH"}  # fmt: skip


def precision_name(given) -> str | None:
    """A precision argument (name, enum, pair) as one of the names above; None means the setting."""
    if isinstance(given, tuple):
        given = given[0]
    name = getattr(given, "name", given) or config.settings().default_matmul_precision
    name = name.lower() if isinstance(name, str) else name
    if name not in PRECISIONS:
        raise errors.bad_argument("dot", "precision", given, f"one of {[*PRECISIONS]}")
    return name


def _free(ndim: int, contract, batch) -> list[int]:
    return [i for i in range(ndim) if i not in contract and i not in batch]


def _dot_type(x, y, *, contract, batch, precision=None, out=None):
    if x.dtype != y.dtype:
        raise errors.dtype_mismatch("dot_general", lhs=x, rhs=y)
    check_kind("dot_general", x.dtype, NUMBERS | {"bool"})
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
    how = PRECISIONS[precision]
    plain_on_cpu = ctx.platform == "cpu" and ctx.partitions == 1 and not batch[0]
    if plain_on_cpu and ctx.in_types[0].dtype == ctx.out_types[0].dtype:
        made = _in_better_form(ctx, x, y, contract, how)
        if made is not None:
            return made
    if ctx.platform != "cpu" and _sums_whole_numbers_as_floats(ctx):
        x, y = (
            ctx.convert(v, ctx.tensor(t.shape, ctx.out_types[0].dtype))
            for v, t in zip((x, y), ctx.in_types, strict=True)
        )
    return ctx.dot_general(x, y, ctx.out(), contract, batch, how)


def _sums_whole_numbers_as_floats(ctx) -> bool:
    """XLA's compiler for CUDA ends the process at such products (int8 · int8 to float32)."""
    return ctx.in_types[0].dtype.kind in "iub" and ctx.out_types[0].dtype.kind not in "iub"


# Forms of a product on a CPU
# XLA's product (Eigen's) of a transposed left side, aᵀ b or aᵀ bᵀ with a stored by rows, runs at
# half of its speed in float64, and where the right side is narrow in float32 too. Every matrix
# product has such a one in its derivative. So one of three is stored transposed first, whichever is
# smallest: the left side, the right side (then the product's sides change places and its result is
# transposed), or the result alone. The barriers keep XLA from folding the transposition back.
# Float64, one 1000 x 1000 by 1000 x 1000: 75 ms as it is, 36 with the left side stored anew.


def _in_better_form(ctx, x, y, contract, how: str):
    """The product, or None where it is best as it is."""
    (x, x_shape, mine), (y, y_shape, other) = (
        _as_stored(ctx, v, t.shape, tuple(axes))
        for v, t, axes in zip((x, y), ctx.in_types, contract, strict=True)
    )
    count = len(mine)
    leading = tuple(range(count))
    turned = other == tuple(range(len(y_shape) - count, len(y_shape)))
    if mine != leading or count == len(x_shape) or not (turned or other == leading):
        return None
    turned = turned and count < len(y_shape)
    k = math.prod(x_shape[:count])
    m, n = math.prod(x_shape[count:]), math.prod(y_shape) // max(k, 1)
    form = _better_form(m, k, n, turned, ctx.in_types[0].dtype)
    return form and _in_form(ctx, x, y, form, m, k, n, turned, how)


def _as_stored(ctx, x, shape, axes):
    """A value, its shape and the axes to contract; of a transpose, those of what it transposes.

    XLA would fold that transposition into the product.
    """
    source = ctx.source_of_transpose(x) if len(shape) == 2 and len(axes) == 1 else None
    return (x, shape, axes) if source is None else (source, shape[::-1], (1 - axes[0],))


def _better_form(m: int, k: int, n: int, turned: bool, dtype):
    """Which of "left", "right", "result" to store transposed; None if the product stays as it is."""
    if dtype not in (dtypes.float32, dtypes.float64) or min(m, n) == 1 or m * k * n < 1 << 20:
        return None
    costs = {"result": m * n} if turned else {"right": (k + m) * n}
    if dtype == dtypes.float64:
        costs["left"] = m * k
    elif n > 32 and (not turned or m * n > 1 << 18):
        return None
    form = min(costs, key=costs.get)
    return form if m * k * n >= 64 * costs[form] else None


def _in_form(ctx, x, y, form: str, m: int, k: int, n: int, turned: bool, how: str):
    dtype = ctx.in_types[0].dtype
    matrix = lambda a, *shape: ctx.reshape(a, ctx.tensor(shape, dtype))  # noqa: E731

    def stored_transposed(a, rows, columns):
        kind = ctx.tensor((columns, rows), dtype)
        return ctx.fence(ctx.transpose(a, kind, (1, 0)))

    def product(a, b, rows, columns, last):
        kind = ctx.tensor((rows, columns), dtype)
        return ctx.dot_general(a, b, kind, ((1,), (last,)), ((), ()), how)

    x, y = matrix(x, k, m), matrix(y, *((n, k) if turned else (k, n)))
    if form == "left":
        made = product(stored_transposed(x, k, m), y, m, n, 1 if turned else 0)
    else:
        first = y if turned else stored_transposed(y, k, n)
        made = ctx.fence(product(first, x, n, m, 0))
        made = ctx.transpose(made, ctx.tensor((m, n), dtype), (1, 0))
    return ctx.reshape(made, ctx.out())


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
    out = dot_general(
        ct, known, contract=(tuple(ct_other), tuple(free_other)),
        batch=(tuple(range(n_batch)), tuple(batch[other])), precision=precision,
    )  # fmt: skip
    # its axes now: batch, free axes of this side, contracted axes in the order of the other side
    by_position = sorted(range(len(contract[other])), key=lambda k: contract[other][k])
    order = [*batch[mine], *free_mine, *[contract[mine][k] for k in by_position]]
    perm = tuple(order.index(i) for i in range(target.ndim))
    out = out if perm == tuple(range(target.ndim)) else transpose(out, perm=perm)
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
    jvp=_dot_jvp,
    transpose=_dot_transpose,
    batch=_dot_batch,
)
