# ruff: noqa: E501 (a row of a table stands on one line)
"""Writes docs/numpy.md: every name of xcore.numpy, what it does, and how it differs from NumPy.

    python tools/numpy_page.py

What a function does is the first sentence of its docstring; the differences and what is left out
are the tables below. The day and the versions are those of the run that wrote the page. A test fails
where the rest of the page is not what this writes, and where NumPy has a name that neither xcore.numpy
nor the table LEFT_OUT has.
"""

from __future__ import annotations

import datetime
import inspect
import platform
import re
from pathlib import Path

import numpy as np
import scipy

import xcore.numpy as xnp
from xcore.numpy._methods import METHODS, PROPERTIES

PAGE = Path(__file__).parents[1] / "docs" / "numpy.md"

HEAD = """\
# xcore.numpy

<!-- Written by tools/numpy_page.py: change the docstrings or the tables there, and run it. -->

`import xcore.numpy as xnp` is NumPy's main namespace on arrays of devices, with `xnp.linalg` and
`xnp.fft`. Names, arguments and results are those of NumPy 2 and of the Python Array API standard
(2024.12), but for what the tables on this page say. A click on a heading sorts a table.

@COMPARED@

`make test` holds them at each change against the NumPy that is installed, and fails where it has a name that neither
xcore nor this page has.

## What differs everywhere

| subject | here |
|---|---|
| changes | Arrays are immutable. `x.at[i].set(v)` gives a changed copy; `out=`, where a function has it, must be None; functions that NumPy lets write into an array (`put`, `place`, `fill_diagonal`, `np.add.at`) return a changed copy and want `inplace=False`. |
| dtypes | Python numbers and creation functions have 32 bits, or 64 under the setting `default_bits=64`. A dtype that is asked for is always honoured. |
| promotion | By one table: a Python number takes the dtype of the array it meets; integers meet floats in the float's dtype (`int32 + float32` is `float32`, in NumPy `float64`). 64-bit integers beside Python floats are data that 32 bits would spoil: `int64 + 0.5` is `float64`, as `int64 / 2` is, whatever the default width. `uint32` with a signed integer is `int64` whatever the default width. |
| sequences | Functions take arrays, numbers and tuples or lists *of arrays* where NumPy stacks them; a list of numbers in place of an array is a `TypeError` that names `xnp.asarray`. |
| shapes that depend on values | Outside of transformations as in NumPy. Under `jit`, `vmap` and the like such functions need `size=` (and fill up with `fill_value=`), or raise a `ConcretizationError`. |
| positions out of range | Python ints and NumPy arrays raise `IndexError`, in `x[i]` as in `take`, `put` and their like. Arrays of positions on a device cannot raise in a compiled program: `x[i]` clips, `take` fills, writing drops (`put` clips); `x.at[i].get(mode=...)` and `mode=` of the functions choose. |
| integers | Wrap around when they overflow, without a warning. Division by zero gives 0, `int` to a negative power raises where the exponent is known. |
| floats | Overflow gives infinity, invalid operations NaN, both without a warning; the setting `debug_nans` raises at the first NaN. Signed zeros are kept. Numbers below the smallest normal one may be flushed to zero, as XLA does. |
| digits | Elementary functions are within 8 units of the last place (float32, float64; 4 in 16 bits) over the range of the dtype: `tests/numpy/test_last_places.py`. |
| narrow dtypes | Sums and products of small integers have the default width; sums and means of 16-bit floats are accumulated in float32. On x86 without the instructions F16C (before 2012) XLA has no code for float16: `HalfFloatError`; bfloat16 works. |
| copies | There are no views: slices, `reshape`, `broadcast_to`, `ravel` give arrays of their own. `order=` changes how elements are counted, never how they lie. `memoryview(x)` reads an array where it is, from Python 3.12 on; before, ask `memoryview(np.asarray(x))`. |
| places | `device=` of functions that make arrays takes a device or a sharding. `out_sharding=` (there, and of `matmul`, `dot`, `tensordot`, `einsum`, `reshape`, `ravel`, `broadcast_to`, `repeat`, `bincount`, `x.at[i].get`) lays the result out by a sharding, or by a `PartitionSpec` in `with mesh:`, under `jit` too; there a single device is the program's own. |

"""

_CONVOLVED = "Takes `precision=`. NaN and infinities of the shorter one spread to both ends."
_SIZE = "Under `jit`: give `size=`, and `fill_value=` for what is missing."
_HOST = "Needs concrete values: not under `jit`."
_COPY = "Returns a changed copy; wants `inplace=False`."
_COUNTS = "Counts are of the default float, or of the weights' dtype."
_SOLVER = "Outside of `jit` a singular matrix raises; inside its result is inf or NaN."
_ALWAYS_STABLE = "`kind` is ignored: sorting is always stable. `descending=` as in the Array API."

DIFFERENCES = {
    "meshgrid": "A list, as in the standard (2024.12) and JAX.",
    "broadcast_arrays": "A list, as in the standard (2024.12) and JAX.",
    "reciprocal": "Of integers it is a float, as `1 / x` is; NumPy's is 0 but for 1 and -1.",
    "nonzero": _SIZE, "argwhere": _SIZE, "flatnonzero": _SIZE, "unique": _SIZE, "unique_all": _SIZE,
    "unique_counts": _SIZE, "unique_inverse": _SIZE, "unique_values": _SIZE, "union1d": _SIZE,
    "intersect1d": _SIZE, "setdiff1d": _SIZE, "setxor1d": _SIZE, "compress": _SIZE, "extract": _SIZE,
    "put": _COPY, "place": _COPY, "putmask": _COPY, "put_along_axis": _COPY, "fill_diagonal": _COPY,
    "trim_zeros": _HOST, "sort": _ALWAYS_STABLE, "argsort": _ALWAYS_STABLE,
    "average": "Weights whose sum is 0 give NaN, and raise nothing.", "trapezoid": "Booleans count as 0 and 1.",
    "partition": "Sorts completely.", "argpartition": "Sorts completely.",
    "bincount": "Under `jit`: give `length=`; what is beyond it is dropped.",
    "histogram2d": _COUNTS, "histogramdd": _COUNTS,
    "histogram_bin_edges": "Rules such as 'auto' need concrete values.",
    "cumsum": "Narrow integers keep their dtype; `cumulative_sum` widens them.",
    "cumprod": "Narrow integers keep their dtype; `cumulative_prod` widens them.",
    "repeat": "Under `jit`: counts in an array need `total_repeat_length=`.",
    "roots": "Always complex. Under `jit`: pass `strip_zeros=False`, and coefficients whose first is not 0.",
    "poly": "Complex roots give complex coefficients, also where they come in pairs.",
    "polydiv": "The remainder has the length of the dividend, unless `trim_leading_zeros=True`.",
    "polymul": "Leading zeros stay, unless `trim_leading_zeros=True`.",
    "polyadd": "Numbers and vectors only.", "polysub": "Numbers and vectors only.",
    "nanargmax": "-1 where all are NaN: a program cannot raise.",
    "nanargmin": "-1 where all are NaN: a program cannot raise.",
    "quantile": "Between infinities it interpolates to them, not to NaN.",
    "percentile": "As `quantile`.", "choose": "mode='raise' needs concrete numbers.",
    "take": "Positions on a device, out of range: NaN or the lowest integer; `mode` and `fill_value` choose.",
    "unravel_index": "Positions on a device, out of range, are clipped.",
    "floor_divide": "x // ±inf is the quotient ±0, and ±inf // x infinite, as the standard asks; NumPy's are -1 and NaN.",
    "divmod": "As `floor_divide`.",
    "nancumsum": "Narrow integers keep their dtype, as in `cumsum`.",
    "nancumprod": "Narrow integers keep their dtype, as in `cumprod`.",
    "tril": "Of matrices and stacks of them only.", "triu": "Of matrices and stacks of them only.",
    "clip": "Not of complex numbers.", "median": "Not of complex numbers.", "nanmedian": "Not of complex numbers.",
    "histogram": "Fourth comes `weights`, then `density`.",
    "permute_dims": "`axes` must be given, as in the standard.",
    "take_along_axis": "As `take`; axis is the last one by default.",
    "searchsorted": "`method=` chooses the algorithm.",
    "digitize": "Bins must be rising or falling; traced ones are not checked.",
    "ravel_multi_index": "mode='raise' checks concrete positions only.",
    "vectorize": "Runs as one batched program (`vmap`), not as a loop in Python; no `otypes`.",
    "frompyfunc": "The function is traced, so it must be written with xcore functions.",
    "apply_along_axis": "The function is traced once and batched.",
    "fromfunction": "The function is called once, with arrays.",
    "piecewise": "All functions are called with the whole array.",
    "select": "All choices are evaluated.",
    "einsum": "`precision=` and `preferred_element_type=`; contraction orders are cached.",
    "matmul": "`precision=` and `preferred_element_type=`.", "dot": "`precision=` and `preferred_element_type=`.",
    "asarray": "NumPy arrays are copied; lists of arrays are stacked.",
    "array": "No object dtype; `order` is accepted and changes nothing.",
    "copy": "Rarely needed: arrays cannot change.", "resize": "A copy; the array's own size stays.",
    "broadcast_to": "A copy, which compiled programs do not make.",
    "empty": "Zeros.", "empty_like": "Zeros.", "float_power": "In the default float dtype at least, not float64.",
    "result_type": "By the promotion table above.", "promote_types": "By the promotion table above.",
    "can_cast": "Knows bfloat16 and the narrow dtypes too.",
    "convolve": _CONVOLVED, "correlate": _CONVOLVED,
    "isin": "`method=` chooses the algorithm.", "nan_to_num": "`copy` is ignored.",
    "ix_": "Masks need concrete values.", "mask_indices": _SIZE, "interp": "`left` and `right` may be 'extrapolate'.",
    "load": "Files of `save` and `savez`; those with several arrays give a dict.", "pad": "A function gets a row and returns it, changed.",
    "set_printoptions": "NumPy's own settings.", "delete": "Traced positions need `assume_unique_indices=True`.",
    "linalg.inv": _SOLVER, "linalg.solve": _SOLVER, "linalg.cholesky": _SOLVER, "linalg.eig": "Eigenvalues are always complex.",
    "linalg.eigvals": "Eigenvalues are always complex.", "linalg.matrix_rank": "`rtol=` as in NumPy 2.",
    "linalg.lstsq": "Residuals have the full length also where the rank is deficient.",
    "linalg.eigh": "Of (A + Aᴴ)/2, as in JAX; NumPy reads one triangle. `symmetrize_input=False` reads the lower one.",
    "linalg.eigvalsh": "Of (A + Aᴴ)/2, as in JAX; NumPy reads one triangle.", "linalg.svd": "Batches of matrices.",
}  # fmt: skip

# Names of NumPy that are not here, by reason.
LEFT_OUT = {
    "strings, bytes, records, dates and objects stay in Python and NumPy": """bytes_ str_ char strings void record
        recarray rec datetime64 timedelta64 busday_count busday_offset busdaycalendar is_busday datetime_as_string
        datetime_data isnat""",
    "there is no memory to write into, to share or to lay out": """copyto may_share_memory shares_memory memmap nditer
        nested_iters flatiter broadcast asfortranarray ascontiguousarray isfortran require asanyarray""",
    "the result's dtype would depend on values": """real_if_close min_scalar_type common_type mintypecode
        asarray_chkfinite""",
    "two-dimensional matrices of a class of their own are deprecated in NumPy itself": "matrix asmatrix bmat",
    "text and compressed files: read them with NumPy, then `xnp.asarray`": """loadtxt genfromtxt savetxt fromregex
        savez_compressed array2string format_float_positional format_float_scientific base_repr binary_repr""",
    "widths that depend on the platform, or that no device has": """byte ubyte short ushort intc uintc intp uintp long
        ulong longlong ulonglong half longdouble clongdouble float128 complex256""",
    "programs report no floating-point errors; see the setting `debug_nans`": """errstate seterr geterr seterrcall
        geterrcall setbufsize getbufsize""",
    "plain Python or an older name does it": """row_stack ndenumerate ndindex True_ False_ ScalarType sctypeDict typecodes
        typename little_endian info""",
    "classes of polynomials: the functions `poly*` take coefficients": "poly1d polynomial",
    "is elsewhere: `xcore.random`, `xcore.testing`, `xcore.errors`": "random testing exceptions",
    "NumPy's own machinery": """core ctypeslib dtypes emath f2py get_include lib ma show_config show_runtime test
        typing""",
}  # fmt: skip
# Names of jax.numpy that are not here.
LEFT_OUT_OF_JAX = {
    "XLA compiles no conversions to these dtypes on any platform that we run": "float6_e2m3fn float6_e3m2fn int1 uint1",
}
STANDARD = set(
    """abs acos acosh add all any arange argmax argmin argsort asarray asin asinh astype atan atan2 atanh bitwise_and
    bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor broadcast_arrays broadcast_to can_cast
    ceil clip concat conj copysign cos cosh count_nonzero cumulative_prod cumulative_sum diff divide empty empty_like
    equal exp expand_dims expm1 eye finfo flip floor floor_divide from_dlpack full full_like greater greater_equal hypot
    iinfo imag isdtype isfinite isinf isnan less less_equal linspace log log10 log1p log2 logaddexp logical_and
    logical_not logical_or logical_xor matmul matrix_transpose max maximum mean meshgrid min minimum moveaxis multiply
    negative nextafter nonzero not_equal ones ones_like permute_dims positive pow prod real reciprocal remainder repeat
    reshape result_type roll round searchsorted sign signbit sin sinh sort sqrt square squeeze stack std subtract sum
    take take_along_axis tan tanh tensordot tile tril triu trunc unique_all unique_counts unique_inverse unique_values
    unstack var vecdot where zeros zeros_like e inf nan newaxis pi bool int8 int16 int32 int64 uint8 uint16 uint32 uint64
    float32 float64 complex64 complex128 linalg.cholesky linalg.cross linalg.det linalg.diagonal linalg.eig linalg.eigh
    linalg.eigvals linalg.eigvalsh linalg.inv linalg.matmul linalg.matrix_norm linalg.matrix_power linalg.matrix_rank
    linalg.matrix_transpose linalg.outer linalg.pinv linalg.qr linalg.slogdet linalg.solve linalg.svd linalg.svdvals
    linalg.tensordot linalg.trace linalg.vecdot linalg.vector_norm fft.fft fft.ifft fft.fftn fft.ifftn fft.rfft fft.irfft
    fft.rfftn fft.irfftn fft.hfft fft.ihfft fft.fftfreq fft.rfftfreq fft.fftshift fft.ifftshift""".split()
)

SCIPY = """\
With `SCIPY_ARRAY_API=1` in the environment the functions of SciPy that support arrays of libraries
other than NumPy take arrays of xcore and return them (as of SciPy 1.17; `tests/numpy/scipy_calls.py`
calls each). Many compute on the host. These are the exceptions: give them `np.asarray(x)`, and the
result to `xnp.asarray`. What SciPy makes without a dtype, such as windows and filters, has the default
float's width, 32 bits but for the setting `default_bits=64`, without which `interpolate.RBFInterpolator`
fails: it means float64 where it says `float`.
"""

_AT = "SciPy changes a copy in place, but for the arrays of JAX, which it knows to be immutable"
_ASSIGNS = "SciPy writes `x[i] = v`, which arrays that are immutable do not allow"
_WRITES = "SciPy's compiled code wants memory to write into; NumPy's read-only arrays fail alike"
_RETURNS_NUMPY = "work, and return arrays of NumPy"

NOT_OF_SCIPY = {
    _AT: """
        cluster.hierarchy.from_mlab_linkage cluster.vq.whiten differentiate.derivative differentiate.hessian
        differentiate.jacobian integrate.qmc_quad linalg.block_diag optimize.rosen_hess signal.iircomb
        signal.savgol_coeffs signal.savgol_filter signal.sos2zpk special.log_softmax special.logsumexp
        special.rel_entr stats.alexandergovern stats.ansari stats.bartlett stats.bootstrap stats.boxcox_llf
        stats.cramervonmises stats.epps_singleton_2samp stats.f_oneway stats.false_discovery_control
        stats.fligner stats.friedmanchisquare stats.gstd stats.gzscore stats.iqr stats.kruskal
        stats.kurtosistest stats.levene stats.lmoment stats.mannwhitneyu stats.median_abs_deviation
        stats.mode stats.mood stats.normaltest stats.pearsonr stats.quantile stats.skewtest
        stats.spearmanrho stats.tmean stats.tsem stats.tstd stats.tvar stats.variation stats.wilcoxon
        stats.yeojohnson_llf stats.zscore spatial.transform.RigidTransform spatial.transform.Slerp
        Rotation.align_vectors Rotation.approx_equal Rotation.as_davenport Rotation.as_euler
        Rotation.from_davenport Rotation.from_euler Rotation.from_matrix Rotation.inv Rotation.__setitem__
    """,
    _ASSIGNS: """
        integrate.cumulative_simpson integrate.nsum integrate.tanhsinh interpolate.Akima1DInterpolator
        interpolate.PchipInterpolator optimize.elementwise.bracket_minimum
        optimize.elementwise.bracket_root optimize.elementwise.find_minimum
        optimize.elementwise.find_root optimize.rosen_der optimize.rosen_hess_prod signal.deconvolve
        signal.envelope signal.hilbert signal.hilbert2 signal.lfiltic signal.lp2bp signal.lp2bs
        signal.lp2hp signal.minimum_phase signal.resample signal.sosfilt_zi signal.windows.chebwin
        signal.windows.taylor
    """,
    _WRITES: "signal.sosfilt signal.sosfiltfilt",
    _RETURNS_NUMPY: "signal.bode signal.cspline2d signal.impulse signal.place_poles",
}


def names(table: dict) -> set:
    """All names of a table of reasons."""
    return {name for text in table.values() for name in text.split()}


def public(module) -> dict:
    """The public functions, classes and constants of a module, without modules."""
    found = {n: getattr(module, n) for n in dir(module) if not n.startswith("_")}
    return {n: f for n, f in found.items() if not inspect.ismodule(f)}


def functions(module, prefix: str = "") -> dict:
    found = {n: f for n, f in public(module).items() if callable(f) and not isinstance(f, type)}
    ours = "xcore.numpy"
    return {
        prefix + n: f
        for n, f in sorted(found.items())
        if getattr(f, "__module__", "").startswith(ours) and hasattr(f, "__name__")
    }


def sentence(f) -> str:
    """The first sentence of a docstring, on one line."""
    paragraph = inspect.cleandoc(f.__doc__ or "").split("\n\n")[0]
    return " ".join(paragraph.split()).replace("|", "\\|")


def in_numpy(name: str) -> bool:
    found = np
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is not None


def status(name: str) -> str:
    if not in_numpy(name):
        return "not in NumPy"
    return "differs" if DIFFERENCES.get(name) else "as NumPy"


def rows(found: dict) -> list:
    out = ["| name | what it does | standard | status | difference |", "|---|---|---|---|---|"]
    for name, f in found.items():
        mark = "yes" if name in STANDARD else ""
        out.append(
            f"| `{name}` | {sentence(f)} | {mark} | {status(name)} | {DIFFERENCES.get(name, '')} |"
        )
    return out


def reasons(table: dict) -> list:
    lines = [
        f"| {reason} | {' '.join(f'`{n}`' for n in text.split())} |"
        for reason, text in table.items()
    ]
    return ["| reason | names |", "|---|---|", *lines]


def others() -> list:
    """Names that are no functions: dtypes, constants, classes, and objects to index."""
    listed = set(functions(xnp))
    return sorted(n for n in public(xnp) if n not in listed)


def compared() -> str:
    """When and where this page was written, and beside which versions of those that it compares with."""
    machine = platform.machine().replace("x86_64", "x86-64").replace("AMD64", "x86-64")
    cells = {
        "date": str(datetime.date.today()),
        "processor": f"{machine}, {platform.system()}",
        "compared with": f"NumPy {np.__version__}, SciPy {scipy.__version__}",
        "command": "`python tools/numpy_page.py`",
    }
    return "\n".join(["| | |", "|---|---|", *(f"| {k} | {v} |" for k, v in cells.items())])


def compared_on(text: str) -> str:
    """What a page that is already written says of its own run."""
    found = re.search(r"^\| \| \|\n\|---\|---\|\n\| date \|.*\n(?:\|.*\n)*", text, re.M)
    return found[0].rstrip() if found else ""


def page(run: str) -> str:
    methods = " ".join(f"`{n}`" for n in sorted({*METHODS, *PROPERTIES, "at"}))
    sections = [
        ("Functions", rows(functions(xnp))),
        ("xnp.linalg", rows(functions(xnp.linalg, "linalg."))),
        ("xnp.fft", rows({k: f for k, f in functions(xnp.fft, "fft.").items() if in_numpy(k)})),
        ("Constants, dtypes, classes", [" ".join(f"`{n}`" for n in others())]),
        ("Methods and properties of arrays", [methods]),
        ("What NumPy has and this has not", reasons(LEFT_OUT)),
        ("What jax.numpy has and this has not", reasons(LEFT_OUT_OF_JAX)),
        ("Arrays in SciPy's functions", [SCIPY, *reasons(NOT_OF_SCIPY)]),
    ]
    text = [f"## {title}\n\n" + "\n".join(lines) + "\n" for title, lines in sections]
    return HEAD.replace("@COMPARED@", run) + "\n".join(text)


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(compared()), encoding="utf-8")
