"""Writes the stubs of packages whose functions are made from tables: ``make stubs``.

A parameter's type follows from its name, and a result is an array, but for the exceptions below. What
is annotated where it stands is passed on; what can return a ``Solution`` does so where ``report`` is True.
``tests/typing`` writes the stubs again and compares.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "numpy", "numpy.linalg", "numpy.fft", "lax", "lax.linalg", "special", "fft", "nn", "stats",
    "random", "linalg", "pde",
)  # fmt: skip

# What a parameter is, by its name. One that stands nowhere may be anything.
NAMES = {
    "ArrayLike": """
        a a1 a2 alpha ar ar1 ar2 arr array ary a_matrix b beta c c_matrix condition d dl du
        element fill_value fp gamma h idxs lhs lhs_scales lmbda m mask mean neginf nan negative_slope
        padding_value phi posinf prepend append q query key rhs rhs_scales r_matrix sigma sorter
        test_elements theta u updates update v val value variance w weights x x1 x2 xp y z
        scatter_indices to_begin to_end left right fweights aweights taus w_vector initial where
        on_true on_false pred kth p max min a_max a_min operand
    """,
    "Axis": "axis",
    "int | Sequence[Any]": "axes",
    "int | Shape": "shape new_shape ",
    "Shape": """
        sizes slice_sizes new_sizes window_dimensions window_shape lhs_shape rhs_shape
        in_shape dims
    """,
    "Sequence[int]": """
        s dimensions permutation fft_lengths limit_indices broadcast_dimensions window_strides
        lhs_dilation rhs_dilation strides base_dilation window_dilation
    """,
    "DTypeLike": "dtype preferred_element_type new_dtype index_dtype",
    "int": """
        N M k n num count size ndmin decimals minlength offset axis1 axis2 axisa axisb axisc edge_order
        deg dimension num_classes unroll total_repeat_length batch_size num_keys feature_group_count
        batch_group_count rank exponent_bits mantissa_bits start_dimension stop_dimension
        concat_axis split_axis slice_size stride reduction_dimension checkpoints
        max_steps n_iter workers ndim type
    """,
    "float": "rtol atol rcond tol base dx epsilon eps",
    "float | int": "ddof correction",
    "bool": """
        keepdims endpoint equal_nan assume_unique return_indices return_index return_inverse
        return_counts sorted rowvar density sparse include_initial trim_leading_zeros stable descending
        retstep returned increasing full cov invert compute_uv full_matrices hermitian symmetrize_input
        lower upper unit_diagonal left_side transpose_a conjugate_a unique_indices indices_are_sorted
        overwrite_input promote_integers allow_negative_indices reverse tiled is_stable has_aux
        symmetric return_sign is_causal return_residual approximate exact overwrite_x real
        compute_left_eigenvectors compute_right_eigenvectors pivoting compute_schur_vectors
        symmetrize_output perturb_singular transpose_kernel assume_unique_indices wrap inplace copy
        allow_pickle strip_zeros suppress_small wrap_negative_indices bias
    """,
    "str": """
        side order mode indexing bitorder subscripts interpolation casting UPLO norm nan_policy
        trim method kind implementation
    """,
    "None": "out",
    "Sequence[ArrayLike] | ArrayLike": "arrays tup operands",
    "Callable[..., Any]": "func func1d function mask_func pyfunc fn cond_fun body_fun true_fun false_fun computation",
    "Hashable": "axis_name",
    "DeviceLike": "device out_sharding sharding",
    "Sequence[Sequence[int]]": "axis_index_groups",
    "int | Sequence[int] | ArrayLike": "indices_or_sections",
    "str | bool | None": "progress",
}  # fmt: skip

# Where a name means something else: in a package, or in one function.
ELSEWHERE = {
    "special": {"ArrayLike": "n k s N M p m d", "bool | None": "out"},
    "special.sph_harm_y": {"int | None": "n_max"},
    "stats": {"ArrayLike": "n k s c p K kappa df dfn dfd nu mu loc scale low high"},
    "numpy.promote_types": {"DTypeLike": "a b"},
    "random": {
        "Key": "key keys",
        "int | ArrayLike": "seed",
        "str": "impl",
        "ArrayLike": """
            minval maxval index logits lower upper loc scale concentration df dfnum dfden lam n mean cov
            kappa data counter
        """,
    },
    "random.choice": {"int | ArrayLike": "a", "int": "axis", "bool": "replace"},
    "random.permutation": {"int | ArrayLike": "x", "int": "axis", "bool": "independent"},
    "random.categorical": {"bool": "replace"},
    "random.split": {"int | Sequence[int]": "num"},
    "random.triangular": {"ArrayLike": "mode"},
    "random.orthogonal": {"int": "n", "int | None": "m"},
    "random.ball": {"int": "d"},
    "random.sphere": {"int": "d"},
    "random.sobol": {"int": "n dim start", "Key | None": "key"},
    "random.halton": {"int": "n dim start", "Key | None": "key"},
    "lax": {
        "Any": "mode norm n size",
        "PyTree": "init_val init xs elems",
        "Callable[..., Any]": "f matvec solve transpose_solve",
    },
    "lax.conv": {"str | Sequence[tuple[int, int]]": "padding"},
    "lax.conv_general_dilated": {"str | Sequence[tuple[int, int]]": "padding"},
    "lax.conv_with_general_padding": {"str | Sequence[tuple[int, int]]": "padding"},
    "lax.concatenate": {"int": "dimension", "Sequence[ArrayLike]": "operands"},
    "lax.pad": {"Any": "padding_value"},
    "lax.integer_pow": {"int": "y"},
    "lax.full": {"int | Shape": "shape"},
    "lax.rev": {"int | Sequence[int]": "dimensions"},
    "lax.expand_dims": {"int | Sequence[int]": "dimensions"},
    "lax.squeeze": {"int | Sequence[int] | None": "dimensions"},
    "lax.reshape": {"Sequence[int] | None": "dimensions", "int | Shape": "new_sizes"},
    "lax.sort": {"Any": "operand"},
    "lax.sort_key_val": {"Any": "values keys"},
    "lax.optimization_barrier": {"Any": "operand"},
    "lax.with_sharding_constraint": {"Any": "x shardings"},
    "lax.iota": {"int": "size"},
    "lax.clamp": {"ArrayLike": "min x max"},
    "lax.dot": {"Any": "rhs"},
    "lax.top_k": {"ArrayLike": "operand", "int": "k"},
    "lax.fori_loop": {"ArrayLike": "lower upper"},
    "lax.polygamma": {"ArrayLike": "m"},
    "lax.psum": {"Any": "x axis_name"},
    "lax.pmean": {"Any": "x axis_name"},
    "lax.pmax": {"Any": "x axis_name"},
    "lax.pmin": {"Any": "x axis_name"},
    "lax.index_take": {"Any": "src"},
    "lax.cond": {"Any": "operand pred"},
    "lax.conv_transpose": {"str | Sequence[tuple[int, int]]": "padding"},
    "lax.linalg.svd": {"Any": "algorithm"},
    "lax.linalg.tridiagonal": {"bool": "lower"},
    "lax.linalg.qdwh": {"bool": "is_hermitian"},
    "nn.dot_product_attention": {
        "ArrayLike | None": "bias mask query_seq_lengths key_value_seq_lengths",
        "float | None": "scale",
        "int | Sequence[int] | None": "local_window_size",
    },
    "nn.standardize": {"str": "algorithm"},
    "numpy.array": {"bool | None": "copy", "Any": "object"},
    "numpy.asarray": {"bool | None": "copy", "Any": "a"},
    "numpy.argwhere": {"int | None": "size"},
    "numpy.array_equal": {"Any": "a1 a2"},
    "numpy.array_equiv": {"Any": "a1 a2"},
    "numpy.apply_along_axis": {"int": "axis"},
    "numpy.apply_over_axes": {"int | Sequence[int]": "axes"},
    "numpy.bartlett": {"int": "M"},
    "numpy.block": {"Any": "arrays"},
    "numpy.choose": {"Any": "choices"},
    "numpy.copy": {"Any": "a"},
    "numpy.cov": {"ArrayLike | None": "y"},
    "numpy.delete": {"Any": "obj", "int | None": "axis"},
    "numpy.diff": {"int": "n"},
    "numpy.einsum": {"Any": "subscripts"},
    "numpy.einsum_path": {"Any": "subscripts"},
    "numpy.eye": {"int | None": "M"},
    "numpy.fill_diagonal": {"Any": "val"},
    "numpy.fromfunction": {"Sequence[int]": "shape"},
    "numpy.full": {"Any": "fill_value"},
    "numpy.full_like": {"Any": "fill_value a", "int | Shape | None": "shape"},
    "numpy.gradient": {"ArrayLike": "f", "Axis": "axis"},
    "numpy.histogram": {"bool | None": "density"},
    "numpy.insert": {"Any": "obj values", "int | None": "axis"},
    "numpy.isscalar": {"Any": "element"},
    "numpy.isdtype": {"Any": "kind"},
    "numpy.iscomplexobj": {"Any": "x"},
    "numpy.isrealobj": {"Any": "x"},
    "numpy.iterable": {"Any": "y"},
    "numpy.linalg.cond": {"Any": "p"},
    "numpy.linalg.matrix_norm": {"Any": "ord"},
    "numpy.linalg.matrix_power": {"int": "n"},
    "numpy.linalg.matrix_rank": {"ArrayLike": "A", "ArrayLike | None": "rtol tol"},
    "numpy.linalg.multi_dot": {"Sequence[ArrayLike]": "arrays"},
    "numpy.linalg.pinv": {"ArrayLike | None": "rtol rcond"},
    "numpy.linalg.qr": {"str": "mode"},
    "numpy.linspace": {"ArrayLike": "start stop", "int": "num axis"},
    "numpy.logspace": {"ArrayLike": "start stop base", "int": "num axis"},
    "numpy.geomspace": {"ArrayLike": "start stop", "int": "num axis"},
    "numpy.moveaxis": {"int | Sequence[int]": "source destination"},
    "numpy.ndim": {"Any": "a"},
    "numpy.nonzero": {"Any": "fill_value"},
    "numpy.pad": {"Any": "mode pad_width"},
    "numpy.percentile": {"ArrayLike | Sequence[float]": "q"},
    "numpy.nanpercentile": {"ArrayLike | Sequence[float]": "q"},
    "numpy.quantile": {"ArrayLike | Sequence[float]": "q"},
    "numpy.nanquantile": {"ArrayLike | Sequence[float]": "q"},
    "numpy.permute_dims": {"Sequence[int]": "axes"},
    "numpy.piecewise": {"Any": "condlist funclist"},
    "numpy.polyint": {"ArrayLike | Sequence[float] | None": "k", "int": "m"},
    "numpy.polyder": {"int": "m"},
    "numpy.put": {"Any": "ind v"},
    "numpy.ravel_multi_index": {"Any": "multi_index mode"},
    "numpy.repeat": {"ArrayLike | Sequence[int]": "repeats", "int | None": "axis"},
    "numpy.resize": {"int | Shape": "new_shape"},
    "numpy.roll": {"ArrayLike | Sequence[int]": "shift"},
    "numpy.save": {"Any": "arr"},
    "numpy.select": {"Sequence[Any]": "condlist choicelist", "Any": "default"},
    "numpy.shape": {"Any": "a"},
    "numpy.size": {"Any": "a"},
    "numpy.split": {"int": "axis", "int | Sequence[int] | ArrayLike": "indices_or_sections"},
    "numpy.stack": {"int": "axis"},
    "numpy.take": {"ArrayLike | Sequence[Any]": "indices", "int | None": "axis"},
    "numpy.take_along_axis": {"ArrayLike": "indices", "int | None": "axis"},
    "numpy.tile": {"ArrayLike": "A", "int | Sequence[int]": "reps"},
    "numpy.transpose": {"Sequence[int] | None": "axes"},
    "numpy.unstack": {"int": "axis"},
    "numpy.unwrap": {"int": "axis"},
    "numpy.vander": {"int | None": "N"},
}  # fmt: skip

# What a function returns that returns no array; under a bare name, in every package.
RESULTS = {
    "Key": "random.key random.PRNGKey random.split random.fold_in random.clone random.wrap_key_data",
    "str": "random.key_impl numpy.array_repr numpy.array_str",
    "bool": """
        numpy.can_cast numpy.iscomplexobj numpy.isrealobj numpy.isdtype numpy.isscalar numpy.issubdtype
        numpy.iterable
    """,
    "int": "numpy.ndim numpy.size lax.axis_size fft.next_fast_len fft.prev_fast_len",
    "np.dtype[Any]": "numpy.promote_types numpy.result_type lax.dtype",
    "None": "numpy.save numpy.savez numpy.set_printoptions",
    "tuple[int, ...]": "numpy.shape numpy.broadcast_shapes lax.broadcast_shapes",
    "list[Array]": """
        numpy.array_split numpy.dsplit numpy.hsplit numpy.split numpy.vsplit numpy.broadcast_arrays
        numpy.meshgrid lax.split
    """,
    "tuple[Array, ...]": """
        numpy.diag_indices numpy.diag_indices_from numpy.ix_ numpy.mask_indices numpy.nonzero
        numpy.tril_indices numpy.tril_indices_from numpy.triu_indices numpy.triu_indices_from
        numpy.unravel_index numpy.unstack lax.unstack
    """,
    "tuple[Array, Array]": """
        numpy.divmod numpy.frexp numpy.modf numpy.histogram numpy.polydiv special.fresnel special.sici
        lax.top_k lax.approx_max_k lax.approx_min_k linalg.qr linalg.schur
    """,
    "tuple[Array, Array, Array]": "numpy.histogram2d",
    "tuple[Array, list[Array]]": "numpy.histogramdd",
    "tuple[Array, Array, Array, Array]": "numpy.linalg.lstsq",
    "Callable[..., Any]": "numpy.vectorize numpy.frompyfunc",
    "UniqueAll": "numpy.unique_all",
    "UniqueCounts": "numpy.unique_counts",
    "UniqueInverse": "numpy.unique_inverse",
    "QRResult": "numpy.linalg.qr",
    "SVDResult": "numpy.linalg.svd",
    "EigResult": "numpy.linalg.eig",
    "EighResult": "numpy.linalg.eigh",
    "SlogdetResult": "numpy.linalg.slogdet",
    "ConvDimensionNumbers": "lax.conv_dimension_numbers",
    "list[tuple[int, int]]": "lax.padtype_to_pads",
    "ModeResult": "stats.mode",
    "tuple[Any, Any]": "lax.scan",
    "Any": """
        numpy.einsum_path numpy.get_printoptions numpy.gradient numpy.load numpy.printoptions
        lax.all_gather lax.all_to_all lax.pargmax lax.pargmin lax.pbroadcast lax.pcast lax.pmax lax.pmean
        lax.pmin lax.ppermute lax.pshuffle lax.psum lax.psum_scatter lax.pswapaxes lax.pvary
        lax.associative_scan lax.cond lax.switch lax.map lax.fori_loop lax.while_loop lax.custom_root
        lax.custom_linear_solve lax.optimization_barrier lax.platform_dependent lax.reduce
        lax.reduce_window lax.sort lax.sort_key_val lax.with_sharding_constraint
        lax.linalg.eig lax.linalg.eigh lax.linalg.hessenberg lax.linalg.lu lax.linalg.qdwh
        random.key_dtype random.default_rng
        lax.linalg.qr lax.linalg.schur lax.linalg.svd lax.linalg.tridiagonal
        nn.get_scaled_dot_general_config
    """,
}  # fmt: skip

# Arguments that, given otherwise than by default, change what kind of thing is returned.
CHANGING = {
    "numpy.average": "returned",
    "numpy.intersect1d": "return_indices",
    "numpy.linspace": "retstep",
    "numpy.polyfit": "full cov",
    "numpy.unique": "return_index return_inverse return_counts",
    "numpy.linalg.qr": "mode",
    "numpy.linalg.svd": "compute_uv",
    "linalg.gauss_solve": "return_steps",
    "linalg.qr": "mode pivoting",
    "linalg.row_echelon": "return_steps",
    "linalg.rref": "return_steps",
    "linalg.schur": "sort",
    "nn.dot_product_attention": "return_residual",
    "nn.logsumexp": "return_sign",
    "special.logsumexp": "return_sign",
}
WHOLE = {  # signatures that no rule gives
    "numpy.where": (
        "(condition: ArrayLike, x: None = None, y: None = None, /, *, size: int | None = None, "
        "fill_value: Any = None) -> tuple[Array, ...]",
        "(condition: ArrayLike, x: ArrayLike, y: ArrayLike, /) -> Array",
    ),
    "linalg.svd": (
        "(a: ArrayLike, full_matrices: bool = False, compute_uv: Literal[True] = True, *, "
        "report: Literal[False] = False) -> SVDResult",
        "(a: ArrayLike, full_matrices: bool = False, *, compute_uv: Literal[False], "
        "report: Literal[False] = False) -> Array",
        "(a: ArrayLike, full_matrices: bool = False, compute_uv: bool = True, *, "
        "report: Literal[True]) -> Solution",
    ),
}
# What a package needs for itself and does not offer.
HIDDEN = set(
    """annotations as_array as_arrays as_inexact astype axes_of boundary builtins check_cast check_positions
    check_shape check_starts config dtypes enum errors findings fused moves on_device one_axis ops scan_
    spreads typeof symmetric""".split()
)
OFFERED = {"numpy.astype"}  # of these names what a package does offer
OBJECTS = {
    "mgrid": "Any",
    "ogrid": "Any",
    "r_": "Any",
    "c_": "Any",
    "s_": "Any",
    "index_exp": "Any",
}

HEAD = '''"""Types of xcore.{name}. Written by tools/stubs.py."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, overload

import numpy as np

from xcore._core.array import Array
from xcore._core.typing import ArrayLike, Axis, DTypeLike, Key, Shape
'''


def by_name(table: dict[str, str]) -> dict[str, str]:
    return {name: kind for kind, names in table.items() for name in names.split()}


def type_of(where: str, name: str) -> str:
    """The type of a parameter of the function ``where``, as "numpy.linalg.norm"."""
    parts = where.split(".")
    for n in range(len(parts), 0, -1):
        found = by_name(ELSEWHERE.get(".".join(parts[:n]), {})).get(name)
        if found:
            return found
    return by_name(NAMES).get(name, "Any")


def written(value: object) -> str:
    """A default; ``...`` if it is no constant."""
    plain = (
        value is None
        or type(value) in (bool, int, str)
        or (type(value) is float and value == value)
    )
    return repr(value) if plain and value not in (float("inf"), float("-inf")) else "..."


def text_of(annotation: object) -> str:
    """As it is written in the source; modules without deferred annotations have classes there."""
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def parameter(
    where: str, p: inspect.Parameter, literal: bool = False, required: bool = False
) -> str:
    annotated = p.annotation is not p.empty
    kind = text_of(p.annotation) if annotated else type_of(where, p.name)
    if p.kind is p.VAR_POSITIONAL:
        if annotated:
            return f"*{p.name}: {kind}"
        return f"*{p.name}: {'ArrayLike' if p.name in ('arys', 'xi', 'cases') else 'Any'}"
    if p.kind is p.VAR_KEYWORD:
        return f"**{p.name}: Any"
    if p.default is p.empty:
        return f"{p.name}: {kind}"
    if literal:
        kind = f"Literal[{p.default!r}]"
    elif (
        not annotated
        and p.default is None
        and kind not in ("Any", "None", "Axis")
        and "None" not in kind
    ):
        kind += " | None"
    return f"{p.name}: {kind} = {written(p.default)}"


def arguments(
    where: str, signature: inspect.Signature, literal: tuple = (), reports: bool = False
) -> str:
    out, last = [], None
    for p in signature.parameters.values():
        if last is inspect.Parameter.POSITIONAL_ONLY and p.kind is not last:
            out.append("/")
        if p.kind is p.KEYWORD_ONLY and last not in (p.KEYWORD_ONLY, p.VAR_POSITIONAL):
            out.append("*")
        given = reports and p.name == "report"
        out.append("report: Literal[True]" if given else parameter(where, p, p.name in literal))
        last = p.kind
    return ", ".join([*out, "/"] if last is inspect.Parameter.POSITIONAL_ONLY else out)


def first_line(value: object) -> str:
    text = (inspect.getdoc(value) or "").strip().split("\n")[0]
    return '"""' + text.replace("\\", "\\\\") + '"""'


def function(where: str, name: str, f: object) -> list[str]:
    result = by_name(RESULTS).get(where, "Array")
    signature = inspect.signature(f)
    if where in WHOLE:
        kinds = WHOLE[where]
    elif can_report(f):
        plain, solution = alternatives(f)
        kinds = (
            f"({arguments(where, signature, ('report',))}) -> {plain}",
            f"({arguments(where, signature, reports=True)}) -> {solution}",
        )
    elif where in CHANGING:
        flags = tuple(CHANGING[where].split())
        kinds = (
            f"({arguments(where, signature, flags)}) -> {result}",
            f"({arguments(where, signature)}) -> Any",
        )
    else:
        return [f"def {name}({arguments(where, signature)}) -> {result}:", f"    {first_line(f)}"]
    lines = [line for kind in kinds for line in ("@overload", f"def {name}{kind}: ...")]
    lines[-1] = lines[-1].removesuffix(" ...")
    return [*lines, f"    {first_line(f)}"]


UFUNCS = {1: "UnaryFunction", 2: "BinaryFunction"}


def is_ufunc(where: str, f: object) -> bool:
    return hasattr(f, "nin") and where not in by_name(RESULTS)


def family(where: str, name: str, value: object) -> list[str]:
    """An object with functions of arrays, as a distribution, and an object of its class."""
    functions = {n: f for n, f in vars(value).items() if inspect.isfunction(f) and n[0] != "_"}
    lines = [f"class _{name}:"]
    for n, f in functions.items():
        given = arguments(where, inspect.signature(f)).replace("cov: bool", "cov: ArrayLike")
        lines.append(f"    def {n}(self, {given}) -> Array: ...")
    return [*lines, f"{name}: _{name}"]


def is_annotated(f: object) -> bool:
    given = inspect.signature(f).parameters.values()
    return bool(given) and all(p.annotation is not p.empty for p in given)


def alternatives(f: object) -> tuple[str, str]:
    """What it returns without a report, and with one; ("", …) if that is the same."""
    plain, _, last = str(inspect.signature(f).return_annotation).rpartition(" | ")
    return (plain, last) if last.endswith("Solution") else ("", last)


def can_report(f: object) -> bool:
    return "report" in inspect.signature(f).parameters and bool(alternatives(f)[0])


def home(value: object) -> str:
    """The module where a function or class is written."""
    code = getattr(inspect.unwrap(value), "__code__", None)
    if code is None:
        return value.__module__
    return ".".join(Path(code.co_filename).relative_to(ROOT).with_suffix("").parts)


def entry(package: str, name: str, value: object) -> list[str]:
    where = f"{package}.{name}"
    if name in OBJECTS:
        return [f"{name}: {OBJECTS[name]}"]
    if inspect.isfunction(value):
        if is_ufunc(where, value):
            return [f"{name}: {UFUNCS[value.nin]}", first_line(value)]
        if is_annotated(value) and not (can_report(value) or where in {*CHANGING, *WHOLE}):
            return [f"from {home(value)} import {value.__name__} as {name}"]
        return function(where, name, value)
    if isinstance(value, ModuleType):
        return [f"from xcore.{package} import {name} as {name}"]
    if type(value).__name__ in ("Family", "Vectors"):
        return family(where, name, value)
    if isinstance(value, type):
        return [f"from {source_of(value)} import {value.__name__} as {name}"]
    if value is None or isinstance(value, float):
        return [f"{name}: {type(value).__name__ if value is not None else 'None'}"]
    return [f"{name}: {type(value).__name__}"]


def source_of(cls: type) -> str:
    """The module that a class can be imported from."""
    if cls.__name__ == "Array":
        return "xcore._core.array"
    return cls.__module__


def names_of(package: str, module: ModuleType) -> list[str]:
    given = getattr(module, "__all__", None) or sorted(n for n in vars(module) if n[0] != "_")
    return [n for n in given if n not in HIDDEN or f"{package}.{n}" in OFFERED]


def dunder(module: ModuleType) -> list[str]:
    """The names with which a module tells about itself."""
    names = ("__array_namespace_info__", "__array_api_version__")
    return [f"{n}: Any" for n in names if hasattr(module, n)]


def classes_used(lines: list[str], offered: list[str]) -> list[str]:
    """Imports of the classes of arguments and results that the package does not pass on itself."""
    homes = {
        "xcore._core.surface": "UnaryFunction BinaryFunction",
        "xcore.numpy._sets": "UniqueAll UniqueCounts UniqueInverse",
        "xcore.numpy._matrices": "QRResult SVDResult EigResult EighResult",
        "xcore.numpy._determinant": "SlogdetResult",
        "xcore.numpy._types": "DType",
        "pathlib": "Path",
        "xcore._core.typing": "PyTree DeviceLike",
        "xcore.stats._samples": "ModeResult",
        "xcore._solution": "Solution",
        "xcore.pde._fields": "GridOperator",
        "xcore.pde._solutions": "FieldSolution TrajectorySolution",
        "xcore.linalg._factorisations": "LUFactors",
        "xcore.linalg._krylov": "Krylov",
        "xcore.linalg._operators": "LinearOperator",
    }
    text, given = "\n".join(lines), "\n".join(offered)
    out = []
    for module, names in homes.items():
        used = [n for n in names.split() if n in text and f"import {n} as" not in given]
        if used:
            out.append(f"from {module} import {', '.join(used)}")
    return out


def stub(package: str) -> str:
    """The text of a package's stub."""
    module = importlib.import_module(f"xcore.{package}")
    entries = [entry(package, n, getattr(module, n)) for n in names_of(package, module)]
    imports = sorted(line for lines in entries for line in lines if line.startswith("from "))
    rest = [line for lines in entries for line in lines if not line.startswith("from ")]
    if "bool" in dir(module):  # the dtype hides the class of that name
        rest = [re.sub(r"\bbool\b", "_bool", x) if "def " in x else x for x in rest]
        imports.append("from builtins import bool as _bool")
    head = HEAD.format(name=package)
    rest += dunder(module)
    return "\n".join([head, *classes_used(rest, imports), *imports, "", *rest]) + "\n"


def path_of(package: str) -> Path:
    base = ROOT / "xcore" / package.replace(".", "/")
    return base / "__init__.pyi" if base.is_dir() else base.with_suffix(".pyi")


def main() -> None:
    for package in PACKAGES:
        path_of(package).write_text(stub(package), encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
