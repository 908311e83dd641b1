"""The operations: how each is written, what it takes, what NumPy computes for it.

A row's ``code`` is what the libraries run. Its ``ref`` is the same in NumPy and SciPy (``sp``), and left
out where it reads alike; ``h`` is ``helpers``. ``kinds`` gives for each argument the letters of the dtypes it may have (b, i, u,
f, c; F: float32 and float64 only); ``out`` names a rule of ``promotion``; ``make`` draws parameters from the values; ``shapes``
says which shapes fit together.
"""

import dataclasses
from collections.abc import Callable

from tests.fuzz import choices as make

ANY, NUMBER, REAL, FLOAT, INEXACT, WHOLE, BITS = "biufc", "iufc", "biuf", "f", "fc", "iu", "biu"


@dataclasses.dataclass(frozen=True)
class Row:
    code: str
    kinds: tuple
    out: str | tuple  # one rule per result
    make: Callable | None = None
    ref: str | None = None
    error: float = 1.0  # of a result, in roundings; 0 where it is exact
    shapes: str | Callable = "broadcast"
    domain: tuple = ()  # per argument: "+", "unit", ">1", "small", ...
    smooth: bool = True  # False: its derivative may not be compared
    alike: bool = False  # further arguments take the dtype of the first

    @property
    def reference(self) -> str:
        return self.ref or self.code


ROWS: dict[str, Row] = {}


# fmt: off
def row(name, code, kinds, out, make=None, ref=None, **settings):
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    ROWS[name] = Row(code, kinds, out, make, ref, **settings)


def unary(prefix, names, kinds, out, ref=None, **settings):
    for name in names.split():
        row(f"{prefix}.{name}", f"{prefix}.{name}({{0}})", kinds, out, ref=ref and ref.format(name=name, x="{0}"), **settings)


def binary(prefix, names, kinds, out, ref=None, **settings):
    for name in names.split():
        row(f"{prefix}.{name}", f"{prefix}.{name}({{0}}, {{1}})", (kinds, kinds), out, ref=ref and ref.format(name=name, x="{0}", y="{1}"), **settings)


# Elementwise

unary("xnp", "sin cos tanh arctan arcsinh exp expm1 sinh cosh", REAL + "c", "inexact", error=3, domain=("small",))
unary("xnp", "tan", REAL, "inexact", error=4, domain=("unit",))
unary("xnp", "log log2 log10 sqrt", REAL + "c", "inexact", error=3, domain=("+",))
unary("xnp", "log1p cbrt", REAL, "inexact", error=3, domain=("+",))
unary("xnp", "arcsin arccos arctanh", REAL, "inexact", error=4, domain=("unit",))
unary("xnp", "arccosh", REAL, "inexact", error=4, domain=(">1",))
unary("xnp", "exp2 deg2rad rad2deg", REAL, "inexact", error=3, domain=("small",))
unary("xnp", "i0", REAL, "inexact", error=8, domain=("small",))
unary("xnp", "sinc", REAL, "inexact", error=8, domain=("small",), ref="np.where({x} == np.round({x}), 1.0 * ({x} == 0), np.sinc({x}))")
unary("xnp", "square positive", NUMBER, "join")
unary("xnp", "negative", NUMBER, "join", error=0)
unary("xnp", "reciprocal", INEXACT, "inexact", domain=("+",))
unary("xnp", "conj", NUMBER, "join", error=0)
unary("xnp", "abs", NUMBER, "real", error=2)
unary("xnp", "real imag", "fc", "real", error=0)
unary("xnp", "angle", "fc", "real", error=3)
unary("xnp", "sign", NUMBER, "join", error=0)
unary("xnp", "floor ceil trunc", "iuf", "join", error=0)
unary("xnp", "rint", "iuf", "inexact", error=0)
unary("xnp", "isnan isinf isfinite", NUMBER, "compare", error=0)
unary("xnp", "signbit isposinf isneginf", "f", "compare", error=0)
unary("xnp", "invert", BITS, "join", error=0)
unary("xnp", "logical_not", ANY, "bool", error=0)
unary("xnp", "bitwise_count", WHOLE, "uint8", error=0)
unary("xnp", "nan_to_num", "fc", "first!", ref="h.nan_to_num({x}, dtype)", error=0)
unary("xnp", "fabs", REAL, "inexact", error=0)

row("add", "{0} + {1}", (ANY, ANY), "join")
row("sub", "{0} - {1}", (NUMBER, NUMBER), "join")
row("mul", "{0} * {1}", (ANY, ANY), "join")
row("div", "{0} / {1}", (ANY, ANY), "inexact", domain=("", "nonzero"), error=2)
row("floordiv", "{0} // {1}", ("iuf", "iuf"), "join", ref="h.floor_quotient({0}, {1})", domain=("", "nonzero"))
row("mod", "{0} % {1}", ("iuf", "iuf"), "join", ref="np.mod({0}, {1})", domain=("", "nonzero"))
row("power", "{0} ** {1}", ("iuf", FLOAT), "inexact", error=8, domain=("+", "small"))
row("integer power", "{0} ** {n}", "iufc", "join", make.small_power, error=4)
row("less", "{0} < {1}", (REAL, REAL), "compare", error=0)
row("equal", "{0} == {1}", (ANY, ANY), "compare", error=0)
row("and", "{0} & {1}", (BITS, BITS), "join", error=0)
row("or", "{0} | {1}", (BITS, BITS), "join", error=0)
row("xor", "{0} ^ {1}", (BITS, BITS), "join", error=0)
row("lshift", "{0} << {n}", WHOLE, "join", make.shift, error=0)
row("rshift", "{0} >> {n}", WHOLE, "join", make.shift, error=0)
binary("xnp", "maximum minimum fmax fmin", REAL, "join", error=0)
binary("xnp", "greater greater_equal less_equal", REAL, "compare", error=0)
binary("xnp", "not_equal", ANY, "compare", error=0)
binary("xnp", "logical_and logical_or logical_xor", ANY, "bool", error=0)
binary("xnp", "arctan2 hypot logaddexp logaddexp2", "iuf", "inexact", error=4)
binary("xnp", "copysign", "iuf", "inexact", error=0)
binary("xnp", "heaviside", "f", "inexact", error=0)
binary("xnp", "fmod", "iuf", "join", domain=("", "nonzero"))
binary("xnp", "gcd lcm", "iu", "join", error=0)
row("float_power", "xnp.float_power({0}, {1})", ("f", "f"), "inexact", error=8, domain=("+", "small"))
row("ldexp", "xnp.ldexp({0}, {n})", "f", "first!", make.exponent, error=0)
row("divmod", "xnp.divmod({0}, {1})", ("iuf", "iuf"), ("join", "join"), ref="(h.floor_quotient({0}, {1}), np.mod({0}, {1}))", domain=("", "nonzero"))
row("modf", "xnp.modf({0})", "f", ("first", "first"), ref="np.modf({0})", error=0)
row("round", "xnp.round({0}, {n})", "f", "first", make.digits)
row("clip", "xnp.clip({0}, {low}, {high})", "iuf", "first", make.bounds, error=0)
row("where", "xnp.where({0}, {1}, {2})", ("b", ANY, ANY), "join", ref="np.where({0} != 0, {1}, {2})", error=0)
row("isclose", "xnp.isclose({0}, {1})", ("f", "f"), "compare", error=0)
row("astype", "{0}.astype({dtype})", "biuf", "param", make.dtype, ref="h.cast({0}, {dtype})")
row("astype complex", "{0}.astype({dtype})", "biufc", "param", make.complex_dtype, ref="h.cast({0}, {dtype})")

# Lax, nn, special

unary("lax", "sin cos tanh exp log1p sqrt logistic", "f", "first", ref="h.{name}({x})", error=4, domain=("+",))
unary("lax", "exp2", "f", "first", ref="np.exp2({x})", error=4, domain=("small",))
unary("lax", "rsqrt", "f", "first", ref="1 / np.sqrt({x})", error=4, domain=("+",))
unary("lax", "erf erfc lgamma digamma", "f", "first", ref="h.{name}({x})", error=16, domain=("+",))
unary("lax", "erf_inv", "f", "first", ref="sp.erfinv({x})", error=16, domain=("unit",))
unary("lax", "neg floor ceil sign", "f", "first", ref="h.{name}({x})", error=0)
unary("lax", "is_finite", "f", "bool", ref="np.isfinite({x})", error=0)
unary("lax", "population_count", WHOLE, "first", ref="h.population_count({x})", error=0)
unary("lax", "bitwise_not", BITS, "first", ref="np.invert({x})", error=0)
binary("lax", "add sub mul", "iufc", "join", ref="h.{name}({x}, {y})", shapes="equal")
binary("lax", "max min", "iuf", "join", ref="h.{name}({x}, {y})", shapes="equal", error=0)
binary("lax", "atan2", "f", "join", ref="np.arctan2({x}, {y})", shapes="equal", error=4)
binary("lax", "eq ne lt ge", "iuf", "compare", ref="h.{name}({x}, {y})", shapes="equal", error=0)
row("lax.integer_pow", "lax.integer_pow({0}, {n})", "f", "first", make.small_power, ref="{0} ** {n}", error=4)
row("lax.clamp", "lax.clamp({low}, {0}, {high})", "f", "first", make.bounds, ref="np.clip({0}, {low}, {high})", error=0)
row("lax.select", "lax.select({0}, {1}, {2})", ("b", "iufc", "iufc"), "join2", ref="np.where({0}, {1}, {2})", shapes="equal2", error=0)

unary("nn", "relu relu6 leaky_relu elu silu softplus sigmoid log_sigmoid soft_sign hard_tanh hard_sigmoid mish squareplus celu selu", "f", "first", ref="h.{name}({x})", error=6)
row("nn.gelu", "nn.gelu({0}, approximate={flag})", "f", "first", make.flag, ref="h.gelu({0}, {flag})", error=8)
for _name in ("softmax", "log_softmax"):
    row(f"nn.{_name}", f"nn.{_name}({{0}}, axis={{axis}})", "f", "first", make.axis, ref=f"sp.{_name}({{0}}, axis={{axis}})", error=8)
row("nn.logsumexp", "nn.logsumexp({0}, axis={axis}, keepdims={keep})", "f", "first!", make.axis_keep, ref="sp.logsumexp({0}, axis={axis}, keepdims={keep})", error=8)
row("nn.one_hot", "nn.one_hot({0}, {n})", "i", "float", make.classes, ref="np.equal({0}[..., None], np.arange({n})).astype(float)", error=0)

unary("special", "erf erfc expit gammaln digamma log_ndtr ndtr i0e i1e entr", "f", "first", ref="sp.{name}({x})", error=24, domain=("+",))
unary("special", "i1", "f", "first", ref="h.i1({x})", error=24, domain=("+",))
unary("special", "logit", "f", "first", ref="sp.logit({x})", error=8, domain=("open",))
unary("special", "ndtri", "f", "first", ref="sp.ndtri({x})", error=24, domain=("open",))
unary("special", "erfinv", "f", "first", ref="sp.erfinv({x})", error=24, domain=("unit",))
unary("special", "expi exp1 gamma", "f", "first", ref="sp.{name}({x})", error=32, domain=("+",))
unary("special", "spence", "f", "first", ref="h.spence({x})", error=32, domain=("+",))
binary("special", "xlogy xlog1py", "f", "join", ref="sp.{name}({x}, {y})", error=8, domain=("+", "+"))
binary("special", "rel_entr kl_div", "f", "join", ref="h.{name}({x}, {y})", error=8, domain=("+", "+"))
binary("special", "betaln", "f", "join", ref="sp.betaln({x}, {y})", error=64, domain=("+", "+"))
binary("special", "beta", "f", "join", ref="h.beta({x}, {y})", error=64, domain=("+", "+"))
binary("special", "gammainc gammaincc", "f", "join", ref="sp.{name}({x}, {y})", error=64, domain=("+", "+"), smooth=False)

# Reductions

for _name, _kinds, _out, _error in [
    ("sum", ANY, "sum", 4), ("prod", NUMBER, "sum", 8), ("mean", ANY, "mean", 4),
    ("nansum", "iuf", "sum", 4), ("nanmean", "iuf", "mean", 4),
    ("std", "iuf", "spread", 8), ("var", "iuf", "spread", 8), ("nanvar", "f", "spread", 8),
    ("all", ANY, "bool", 0), ("any", ANY, "bool", 0), ("count_nonzero", ANY, "index", 0),
]:
    row(f"xnp.{_name}", f"xnp.{_name}({{0}}, axis={{axis}}, keepdims={{keep}})", _kinds, _out, make.axes_keep, error=_error)
for _name in ("max", "min", "nanmax", "nanmin", "ptp"):
    row(f"xnp.{_name}", f"xnp.{_name}({{0}}, axis={{axis}}, keepdims={{keep}})", "iuf", "first", make.full_axes_keep, error=_name == "ptp")
for _name in ("argmax", "argmin"):
    row(f"xnp.{_name}", f"xnp.{_name}({{0}}, axis={{axis}}, keepdims={{keep}})", "iuf", "index", make.full_axis_keep, error=0)
for _name in ("cumsum", "cumprod", "nancumsum"):
    row(f"xnp.{_name}", f"xnp.{_name}({{0}}, axis={{axis}})", "biuf", "cumsum", make.axis, error=8, ref=f"np.{_name}({{0}}, axis={{axis}}, dtype=h.at_least_int({{0}}))")
row("sum where", "xnp.sum({0}, axis={axis}, where={1})", ("iuf", "b"), "sum", make.axis, shapes="equal shapes", error=4)
row("median", "xnp.median({0}, axis={axis})", "f", "mean", make.full_axis, error=4)
row("quantile", "xnp.quantile({0}, {q}, axis={axis})", "f", "first!", make.quantile,
    ref="h.quantile({0}, {q}, {axis})", error=4)
row("average", "xnp.average({0}, axis={axis}, weights={1})", ("f", "f"), "inexact!", make.full_axis, shapes="equal shapes", domain=("", "+"), error=8)
for _name, _ref in (("cummax", "np.maximum"), ("cummin", "np.minimum")):
    row(f"lax.{_name}", f"lax.{_name}({{0}}, axis={{axis}}, reverse={{flag}})", "iuf", "first", make.scan_axis, ref=f"h.cumulative({_ref}, {{0}}, {{axis}}, {{flag}})", error=0)
row("lax.cumlogsumexp", "lax.cumlogsumexp({0}, axis={axis}, reverse={flag})", "f", "first", make.scan_axis, ref="h.cumulative(np.logaddexp, {0}, {axis}, {flag})", error=8)
row("lax.reduce_max", "lax.reduce_max({0}, {axes})", "iuf", "first", make.full_axes, ref="np.max({0}, axis={axes})", error=0)
row("lax.reduce_sum", "lax.reduce_sum({0}, {axes})", "iufc", "first", make.full_axes, ref="np.sum({0}, axis={axes}, dtype={0}.dtype)", error=4)
row("norm", "xnp.linalg.norm({0}, axis={axis})", "f", "first!", make.full_axis, error=4)

# Shape and order

row("reshape", "{0}.reshape({shape})", ANY, "first", make.reshape, error=0)
row("transpose", "xnp.transpose({0}, {axes})", ANY, "first", make.permutation, error=0)
row("ravel", "xnp.ravel({0})", ANY, "first", error=0)
row("swapaxes", "xnp.swapaxes({0}, {i}, {j})", ANY, "first", make.two_axes, error=0)
row("moveaxis", "xnp.moveaxis({0}, {i}, {j})", ANY, "first", make.two_axes, error=0)
row("expand_dims", "xnp.expand_dims({0}, {axis})", ANY, "first", make.new_axis, error=0)
row("squeeze", "xnp.squeeze({0})", ANY, "first", error=0)
row("flip", "xnp.flip({0}, {axis})", ANY, "first", make.axis, error=0)
row("roll", "xnp.roll({0}, {n}, {axis})", ANY, "first", make.roll, error=0)
row("rot90", "xnp.rot90({0}, {n})", ANY, "first", make.turns, error=0)
row("tile", "xnp.tile({0}, {n})", ANY, "first", make.tiles, error=0)
row("repeat", "xnp.repeat({0}, {n}, {axis})", ANY, "first", make.repeats, error=0)
row("broadcast_to", "xnp.broadcast_to({0}, {shape})", ANY, "first", make.broadcast, error=0)
row("resize", "xnp.resize({0}, {shape})", ANY, "first", make.new_shape, error=0)
row("pad", "xnp.pad({0}, {n}, mode={mode})", ANY, "first", make.pad, error=0)
row("diff", "xnp.diff({0}, axis={axis})", "iuf", "first", make.full_axis)
row("concatenate", "xnp.concatenate([{0}, {1}], axis={axis})", (ANY, ANY), "join", make.axis, shapes="equal shapes", error=0)
row("stack", "xnp.stack([{0}, {1}, {0}], axis={axis})", (ANY, ANY), "join", make.new_axis, shapes="equal shapes", error=0)
row("hstack", "xnp.hstack([{0}, {1}])", (ANY, ANY), "join", shapes="equal shapes", error=0)
row("split", "xnp.split({0}, {n}, {axis})", ANY, ("first", "first"), make.halves, error=0)
row("sort", "xnp.sort({0}, axis={axis})", "iuf", "first", make.axis, error=0)
row("argsort", "xnp.argsort({0}, axis={axis}, stable=True)", "iuf", "index", make.axis, error=0)
row("searchsorted", "xnp.searchsorted({0}, {1})", ("f", "f"), "index", ref="np.searchsorted({0}, {1}.astype({0}.dtype))", shapes=make.vector_and_any, domain=("sorted", ""), error=0)
row("lax.top_k", "lax.top_k({0}, {n})", "f", ("first", "int32"), make.top, ref="h.top_k({0}, {n})", error=0)
row("tril", "xnp.tril({0}, {n})", ANY, "first", make.diagonal, error=0)
row("triu", "xnp.triu({0}, {n})", ANY, "first", make.diagonal, error=0)
row("diag", "xnp.diag({0})", ANY, "first", make.low_rank, error=0)
row("diagonal", "xnp.diagonal({0}, {n})", ANY, "first", make.diagonal, error=0)
row("lax.rev", "lax.rev({0}, {axes})", ANY, "first", make.full_axes, ref="np.flip({0}, {axes})", error=0)
row("lax.pad", "lax.pad({0}, xnp.zeros((), {0}.dtype), {config})", "iuf", "first", make.lax_pad, ref="h.lax_padded({0}, {config})", error=0)
row("lax.expand_dims", "lax.expand_dims({0}, ({axis},))", ANY, "first", make.new_axis, ref="np.expand_dims({0}, {axis})", error=0)
row("lax.broadcast", "lax.broadcast({0}, ({n},))", ANY, "first", make.turns, ref="np.broadcast_to({0}, ({n}, *{0}.shape))", error=0)
row("nonzero", "xnp.nonzero({0}, size={n}, fill_value=0)[0]", "biuf", "index", make.sized, ref="h.nonzero({0}, {n})", error=0)

# Indexing

row("index", "{0}[{index}]", ANY, "first", make.index, error=0)
row("index array", "{0}[{1}]", (ANY, "i"), "first", ref="h.taken({0}, {1})", shapes=make.any_and_indices, error=0)
row("take", "xnp.take({0}, {1}, axis={axis}, mode='clip')", (ANY, "i"), "first", make.full_axis, ref="np.take({0}, {1}, axis={axis}, mode='clip')", shapes=make.any_and_indices, error=0)
row("take wrap", "xnp.take({0}, {1}, axis={axis}, mode='wrap')", (ANY, "i"), "first", make.full_axis, ref="np.take({0}, {1}, axis={axis}, mode='wrap')", shapes=make.any_and_indices, error=0)
row("take_along_axis", "xnp.take_along_axis({0}, {1} % {n}, axis={axis})", (ANY, "i"), "first", make.along, shapes="equal shapes", error=0)
row("at set", "{0}.at[{index}].set({1})", (ANY, ANY), "first", make.index_update, ref="h.at({0}, h.I[{index}], {1}, 'set')", shapes=make.any_and_scalar, error=0, alike=True)
row("at add", "{0}.at[{index}].add({1})", (NUMBER, NUMBER), "first", make.index_update, ref="h.at({0}, h.I[{index}], {1}, 'add')", shapes=make.any_and_scalar, alike=True)
row("at multiply", "{0}.at[{index}].multiply({1})", (NUMBER, NUMBER), "first", make.index_update, ref="h.at({0}, h.I[{index}], {1}, 'multiply')", shapes=make.any_and_scalar, alike=True)
row("at max", "{0}.at[{index}].max({1})", ("iuf", "iuf"), "first", make.index_update, ref="h.at({0}, h.I[{index}], {1}, 'maximum')", shapes=make.any_and_scalar, error=0, alike=True)
row("at get", "{0}.at[{1}].get(mode='fill', fill_value=7)", ("iuf", "i"), "first", ref="h.filled({0}, {1})", shapes=make.any_and_indices, error=0)
row("at array add", "{0}.at[{1}].add({2}, mode='drop')", (NUMBER, "i", NUMBER), "first", ref="h.scattered({0}, {1}, {2})", shapes=make.any_indices_scalar, alike=True)
row("lax.dynamic_slice", "lax.dynamic_slice({0}, [{1}], ({n},))", (ANY, "i"), "first", make.length, ref="h.dynamic_slice({0}, {1}, {n})", shapes=make.vector_and_scalar, error=0)
row("lax.dynamic_update_slice", "lax.dynamic_update_slice({0}, {1}, [{2}])", (ANY, ANY, "i"), "first", ref="h.dynamic_update({0}, {1}, {2})", shapes=make.two_vectors_and_scalar, error=0, alike=True)
row("lax.dynamic_index_in_dim", "lax.dynamic_index_in_dim({0}, {1}, {axis}, keepdims={flag})", (ANY, "i"), "first", make.dynamic_axis, ref="h.dynamic_index({0}, {1}, {axis}, {flag})", shapes=make.any_and_scalar, error=0)

# Algebra

row("matmul", "{0} @ {1}", (NUMBER, NUMBER), "join", shapes=make.matrices, error=4)
row("matvec", "{0} @ {1}", (NUMBER, NUMBER), "join", shapes=make.matrix_vector, error=4)
row("dot", "xnp.dot({0}, {1})", (NUMBER, NUMBER), "join", shapes=make.vectors, error=4)
row("vdot", "xnp.vdot({0}, {1})", (NUMBER, NUMBER), "join", shapes=make.vectors, error=4)
row("inner", "xnp.inner({0}, {1})", (NUMBER, NUMBER), "join", shapes=make.vectors, error=4)
row("outer", "xnp.outer({0}, {1})", (NUMBER, NUMBER), "join", shapes=make.vectors)
row("kron", "xnp.kron({0}, {1})", (NUMBER, NUMBER), "join", shapes=make.vectors)
row("einsum", "xnp.einsum('ij,kj->ik', {0}, {1})", ("fc", "fc"), "join", shapes=make.matrices_turned, error=4)
row("einsum trace", "xnp.einsum('ij,ji->', {0}, {1})", ("fc", "fc"), "join", shapes=make.matrices_back, error=4)
row("tensordot", "xnp.tensordot({0}, {1}, 1)", (NUMBER, NUMBER), "join", shapes=make.matrices, error=4)
row("convolve", "xnp.convolve({0}, {1}, mode={mode})", ("f", "f"), "join!", make.convolution, shapes=make.vectors, error=4)
row("trapezoid", "xnp.trapezoid({0}, axis={axis})", "f", "first!", make.full_axis, error=4)
row("trace", "xnp.trace({0})", NUMBER, "sum", make.matrix_only, error=4)
row("interp", "xnp.interp({0}, {1}, {2})", ("f", "f", "f"), "inexact", shapes=make.any_and_two_vectors, domain=("", "sorted", ""), error=8)
row("polyval", "xnp.polyval({0}, {1})", ("f", "f"), "join!", shapes=make.vector_and_any, error=8)
row("det", "linalg.det({0})", "F", "first!", ref="np.linalg.det({0})", shapes=make.square, domain=("spd",), error=16)
row("inv", "linalg.inv({0})", "F", "first!", ref="np.linalg.inv({0})", shapes=make.square, domain=("spd",), error=16)
row("solve", "linalg.solve({0}, {1})", ("F", "F"), "inexact!", ref="np.linalg.solve({0}, {1})", shapes=make.square_vector, domain=("spd", ""), error=16)
row("cholesky", "linalg.cholesky({0})", "F", "first!", ref="np.linalg.cholesky({0})", shapes=make.square, domain=("spd",), error=16)
row("eigvalsh", "linalg.eigvalsh({0})", "F", "first!", ref="np.linalg.eigvalsh({0})", shapes=make.square, domain=("spd",), error=32)
row("svdvals", "xnp.linalg.svdvals({0})", "F", "first!", ref="np.linalg.svd({0}, compute_uv=False)", shapes=make.square, domain=("spd",), error=32)
row("slogdet", "linalg.slogdet({0})", "F", ("first!", "first!"), ref="tuple(np.linalg.slogdet({0}))", shapes=make.square, domain=("spd",), error=16)
row("fft", "xnp.fft.fft({0})", "Fc", "complex", ref="np.fft.fft({0})", make=make.fft, error=8)
row("rfft", "xnp.fft.rfft({0})", "F", "complex", ref="np.fft.rfft({0})", make=make.fft, error=8)

# Made of nothing

row("zeros_like", "xnp.zeros_like({0})", ANY, "first", error=0)
row("full", "xnp.full({shape}, {value}, dtype={dtype})", (), "param", make.filled_with, error=0)
row("arange", "xnp.arange({n})", (), "index", make.count, error=0)
row("linspace", "xnp.linspace(-1.0, 2.0, {n})", (), "float", make.count)
row("eye", "xnp.eye({n})", (), "float", make.count, error=0)
row("random.normal", "random.normal(random.key({seed}), {shape})", (), "float", make.drawn, ref="h.drawn_by('normal', {seed}, {shape}, dtype)")
row("random.uniform", "random.uniform(random.key({seed}), {shape})", (), "float", make.drawn, ref="h.drawn_by('uniform', {seed}, {shape}, dtype)")
row("random.randint", "random.randint(random.key({seed}), {shape}, -5, 9)", (), "int", make.drawn, ref="h.drawn_by('randint', {seed}, {shape}, dtype)", error=0)

# what brings values into an operation's domain; never drawn by themselves
SQUASH = {
    "+": ("xnp.abs({0}) + 0.5", "iufb", "with float", "np.abs({0}) + 0.5"),
    "unit": ("xnp.sin({0}) * 0.75", "iufb", "inexact", "np.sin({0}) * 0.75"),
    "open": ("xnp.cos({0}) * 0.25 + 0.5", "iufb", "inexact", "np.cos({0}) * 0.25 + 0.5"),
    "small": ("xnp.arctan({0}) * 2", "iufb", "inexact", "np.arctan({0}) * 2"),
    ">1": ("xnp.abs({0}) + 1.25", "iufb", "with float", "np.abs({0}) + 1.25"),
    "nonzero": ("xnp.where({0} == 0, 3, {0})", "iufc", "first", "np.where({0} == 0, 3, {0}).astype({0}.dtype)"),
    "nonzero bool": ("{0} | True", "b", "first", "{0} | True"),
    "sorted": ("xnp.sort({0})", "iufb", "first", "np.sort({0})"),
    "spd": ("{0} @ {0}.T + 2 * xnp.eye({0}.shape[0], dtype={0}.dtype)", "f", "first!", "{0} @ {0}.T + 2 * np.eye({0}.shape[0])"),
}
for _name, (_code, _kinds, _out, _ref) in SQUASH.items():
    row(f"squash {_name}", _code, _kinds, _out, ref=_ref, error=4)
DRAWN = [name for name in ROWS if not name.startswith("squash")]
