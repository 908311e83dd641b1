"""Calls that leave XLA: LAPACK and cuSOLVER.

The factorisations of LAPACK (CPU) and cuSOLVER (GPU) are custom calls of one form: any number of
batch dimensions in front, matrices in column-major order, small settings as attributes. Two tables
below, one row a routine, say how each is named and what it takes; `factor_call` writes the call.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

if TYPE_CHECKING:
    from . import surface as xla
    from .calls import Calls
    from .mlir import Attribute, RankedTensorType, Value

    Values = Sequence[Value]
    Types = Sequence[RankedTensorType]
else:
    from jaxlib import xla_client as xla
from . import hybrid

Shape = tuple[int, ...]
DType = str | np.dtype[Any]


class Routine(NamedTuple):
    """How one routine is called.

    Attributes:
        target: its name as a custom call; `{}` stands for the letter of the dtype.
        attributes: its settings. Each is named and says how a value is written: from the keyword
            of that name (or of the name given) by a letter (`"UL"`: False is U, True is L), by a
            type (`"i1"`, `"i32"`, `"ui8"`), or as a constant (`"=text"`).
        aliases: pairs (operand, result) that may share memory.
        complex_target: the name for complex dtypes where it is another one.
        rank: of its largest operand without batch dimensions.
    """

    target: str
    attributes: Mapping[str, tuple[str | None, str]] = {}
    aliases: tuple[tuple[int, int], ...] = ((0, 0),)
    complex_target: str | None = None
    rank: int = 2


# What each takes and gives, with k = min(m, n), and R the real dtype, C the complex one. `info` is
# an int32 per matrix: 0 for success.
LAPACK = {
    # a -> lu, pivots i32[k] counted from 1, info (positive: exactly singular)
    "getrf": Routine("lapack_{}getrf_ffi"),
    # a -> factor, info (positive: not positive definite); the other triangle is left as it was
    "potrf": Routine("lapack_{}potrf_ffi", {"uplo": ("lower", "UL")}),
    # a, b -> x
    "trsm": Routine(
        "lapack_{}trsm_ffi",
        {
            "side": ("left", "RL"),
            "uplo": ("lower", "UL"),
            "trans_x": ("transpose", "ui8"),
            "diag": ("unit_diagonal", "NU"),
        },
        aliases=((1, 0),),
    ),
    # a -> r above, reflectors below, tau[k]
    "geqrf": Routine("lapack_{}geqrf_ffi"),
    # reflectors, tau -> q
    "orgqr": Routine("lapack_{}orgqr_ffi", complex_target="lapack_{}ungqr_ffi"),
    # a, i32[n] (0: free to move) -> as geqrf, permutation i32[n] counted from 1, tau[k]
    "geqp3": Routine("lapack_{}geqp3_ffi", aliases=((0, 0), (1, 1))),
    # a -> vectors, values R[n] ascending, info
    "syevd": Routine(
        "lapack_{}syevd_ffi",
        {"mode": ("vectors", "NV"), "uplo": ("lower", "UL")},
        complex_target="lapack_{}heevd_ffi",
    ),
    # a -> overwritten, s R[k], u, vh, info; mode is "A" full, "S" thin, "N" values only
    "gesdd": Routine("lapack_{}gesdd_ffi", {"mode": ("mode", "ui8")}),
    # a -> values (real: real parts, imaginary parts), left vectors C, right vectors C, info
    "geev": Routine(
        "lapack_{}geev_ffi",
        {"compute_left": ("left", "NV"), "compute_right": ("right", "NV")},
        aliases=(),
    ),
    # a -> t, vectors, values (real: two arrays), number sorted i32, info
    "gees": Routine(
        "lapack_{}gees_ffi", {"mode": ("vectors", "NV"), "sort": (None, f"={ord('N')} : ui8")}
    ),
    # a -> Hessenberg form and reflectors, tau[n-1], info; rows low..high counted from 1
    "gehrd": Routine("lapack_{}gehrd_ffi", {"low": ("low", "i32"), "high": ("high", "i32")}),
    # a -> reflectors, d R[n], e R[n-1], tau[n-1], info
    "sytrd": Routine(
        "lapack_{}sytrd_ffi", {"uplo": ("lower", "UL")}, complex_target="lapack_{}hetrd_ffi"
    ),
    # dl, d, du, b -> overwritten, overwritten, overwritten, x, info; dl[0] and du[-1] are ignored
    "gtsv": Routine("lapack_{}gtsv_ffi", aliases=((0, 0), (1, 1), (2, 2), (3, 3))),
}

# On a GPU the operands and results are the same unless said.
_NO_MAGMA = (None, '="off"')
CUDA = {
    "getrf": Routine("cusolver_getrf_ffi"),
    "potrf": Routine("cusolver_potrf_ffi", {"lower": ("lower", "i1")}),
    "geqrf": Routine("cusolver_geqrf_ffi"),
    "orgqr": Routine("cusolver_orgqr_ffi"),
    "geqp3": Routine("cuhybrid_geqp3", {"magma": _NO_MAGMA}, aliases=((0, 0), (1, 1))),
    "syevd": Routine(
        "cusolver_syevd_ffi", {"lower": ("lower", "i1"), "algorithm": (None, "=0 : ui8")}
    ),
    # needs m >= n: `transposed` says that row-major matrices were given, that is transposed ones
    "gesvd": Routine(
        "cusolver_gesvd_ffi",
        {
            "full_matrices": ("full_matrices", "i1"),
            "compute_uv": ("compute_uv", "i1"),
            "transposed": ("transposed", "i1"),
        },
    ),
    # a -> overwritten, s, u, v (not its adjoint), info
    "gesvdj": Routine(
        "cusolver_gesvdj_ffi",
        {"full_matrices": ("full_matrices", "i1"), "compute_uv": ("compute_uv", "i1")},
    ),
    # LAPACK's geev on the host, between copies
    "geev": Routine(
        "cuhybrid_eig_real",
        {"magma": _NO_MAGMA, "left": ("left", "i1"), "right": ("right", "i1")},
        aliases=(),
        complex_target="cuhybrid_eig_comp",
    ),
    "sytrd": Routine("cusolver_sytrd_ffi", {"lower": ("lower", "i1")}),
    # dl, d, du, b -> x; at least three unknowns
    "gtsv": Routine("cusparse_gtsv2_ffi", aliases=((3, 0),)),
    # pivots counted from 0 -> permutation; vectors where the others have matrices
    "pivots_to_permutation": Routine("cu_lu_pivots_to_permutation", aliases=(), rank=1),
}

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


class NotHere(NotImplementedError):
    """A platform cannot do what a program asks for; the message says what, and what to do."""


def factor_call(
    builder: Calls, routine: str, dtype: DType, operands: Values, results: Types, *,
    column_major: bool = True, **settings: Any,
) -> list[Value]:  # fmt: skip
    """Write the call of a routine of the tables, for the builder's platform.

    Args:
        builder: the Builder of the module.
        routine: LAPACK's name for it, of real matrices and without the letter of the dtype.
        dtype: of the matrices.
        operands: MLIR values.
        results: MLIR types.
        column_major: False to hand over transposed matrices where the routine has a setting for it.
        settings: the routine's settings.

    Returns:
        The list of results.
    """
    if builder.platform == "cpu":
        ensure_lapack()
        found = LAPACK[routine]
    elif builder.platform == "cuda" and routine in CUDA:
        found = CUDA[routine]
    elif builder.platform == "cuda" and routine in hybrid.ROUTINES:
        call = hybrid.HostRoutine(routine, np.dtype(dtype).name)
        return builder.callback(call, operands, results, side_effect=False)[0]
    else:
        raise NotHere(
            f"xcore: there is no routine like LAPACK's {routine} on this platform "
            f"({builder.platform}). Compute it on the CPU: xc.device_put(x, xc.devices('cpu')[0])."
        )
    return custom_call(
        builder, _target(found, dtype), operands, results,
        attributes={name: _attribute_text(how, settings) for name, how in found.attributes.items()},
        aliases=found.aliases, column_major=column_major, rank=found.rank,
    )  # fmt: skip


def lapack_target(routine: str, dtype: DType) -> str:
    """The name of a LAPACK routine as a custom call, ready to be used.

    >>> lapack_target("orgqr", "complex64")
    'lapack_cungqr_ffi'
    """
    ensure_lapack()
    return _target(LAPACK[routine], dtype)


def _target(routine: Routine, dtype: DType) -> str:
    dtype = np.dtype(dtype)
    complex_ = dtype.kind == "c" and routine.complex_target
    return (complex_ or routine.target).format(_LETTERS.get(dtype.name))


def _attribute_text(how: tuple[str | None, str], settings: Mapping[str, Any]) -> str:
    """An attribute's text from the routine's settings."""
    keyword, form = how
    if keyword is None:
        return form[1:]
    value = settings[keyword]
    if form == "i1":
        return "true" if value else "false"
    if form == "i32":
        return f"{value} : i32"
    letter = value if form == "ui8" else form[bool(value)]
    return f"{ord(letter)} : ui8"


# Custom calls


def custom_call(
    builder: Calls, target: str, operands: Values, results: Types, *,
    attributes: Mapping[str, str], aliases: Iterable[tuple[int, int]] = (),
    column_major: bool = True, rank: int = 2,
) -> list[Value]:  # fmt: skip
    """Write a call of a typed FFI target that works on a batch of matrices.

    Operands and results of the highest rank are matrices and laid out as the target wants them;
    the others (vectors, one number per matrix) are row-major.

    Args:
        builder: the Builder of the module.
        target: the registered name.
        operands: MLIR values, the batch dimensions in front.
        results: MLIR types.
        attributes: name -> MLIR text of the value, such as `"76 : ui8"`.
        aliases: pairs (operand, result) that may share memory.
        column_major: whether matrices are.
        rank: of the largest operand without batch dimensions.
    """
    shapes_in = [tuple(cast("RankedTensorType", value.type).shape) for value in operands]
    shapes_out = [tuple(kind.shape) for kind in results]
    highest = max(map(len, shapes_in))
    batch = highest - rank
    options: dict[str, Attribute] = {}
    if batch:
        options["mhlo.frontend_attributes"] = builder.parse(f'{{num_batch_dims = "{batch}"}}')
        options["sdy.sharding_rule"] = builder.parse(batch_rule(shapes_in, shapes_out, batch))
    single = len(results) == 1
    return list(builder.op(
        "stablehlo.custom_call", results, operands,
        call_target_name=builder.text(target), api_version=builder.integer(4, 32),
        backend_config=builder.parse(_dictionary(attributes)),
        operand_layouts=builder.parse(_layouts(shapes_in, highest, column_major)),
        result_layouts=builder.parse(_layouts(shapes_out, highest, column_major)),
        output_operand_aliases=builder.parse(_list(_alias(*pair, single) for pair in aliases)),
        **options,
    ))  # fmt: skip


def _list(items: Iterable[object]) -> str:
    return f"[{', '.join(map(str, items))}]"


def _dictionary(attributes: Mapping[str, str]) -> str:
    return f"{{{', '.join(f'{name} = {text}' for name, text in attributes.items())}}}"


def _layouts(shapes: Iterable[Shape], highest: int, column_major: bool) -> str:
    return _list(_layout(len(shape), column_major and len(shape) == highest) for shape in shapes)


def _layout(rank: int, column_major: bool) -> str:
    """Dimensions from the fastest to the slowest varying."""
    order = list(range(rank))[::-1]
    if column_major:
        order[:2] = rank - 2, rank - 1
    return f"dense<{order if rank else ''}> : tensor<{rank}xindex>"


def _alias(operand: int, result: int, single: bool) -> str:
    return (
        f"#stablehlo.output_operand_alias<output_tuple_indices = [{'' if single else result}], "
        f"operand_index = {operand}, operand_tuple_indices = []>"
    )


def batch_rule(shapes_in: Sequence[Shape], shapes_out: Sequence[Shape], batch: int) -> str:
    """Tell the partitioner that batch dimensions may be split and the others may not."""
    factors = [f"{name}={size}" for name, size in zip(_names(0, batch), shapes_in[0])]
    whole: list[str] = []

    def tensor(shape: Shape) -> str:
        names = _names(0, batch) + _names(batch + len(whole), len(shape) - batch)
        whole.extend(names[batch:])
        factors.extend(f"{name}={size}" for name, size in zip(names[batch:], shape[batch:]))
        return _list(names)

    operands = ", ".join(map(tensor, shapes_in))
    results = ", ".join(map(tensor, shapes_out))
    return (
        f"#sdy.op_sharding_rule<({operands})->({results}) {{{', '.join(factors)}}} "
        f"need_replication={{{', '.join(whole)}}}, custom>"
    )


def _names(start: int, count: int) -> list[str]:
    """Names of factors as the dialect writes them: i … z, then z_1, z_2, …"""
    return [chr(ord("i") + n) if n < 18 else f"z_{n - 17}" for n in range(start, start + count)]


# LAPACK

_lapack_lock = threading.Lock()
_lapack_ready = False


def ensure_lapack() -> None:
    """Load LAPACK (SciPy's) and register its routines with XLA, once in a process.

    Must come before a program that calls them is compiled or loaded (quirk: LAPACK_ABORTS).
    """
    global _lapack_ready
    if _lapack_ready:
        return
    with _lapack_lock:
        if not _lapack_ready:
            _load_lapack()
            _lapack_ready = True


def calls_lapack(blob: bytes) -> bool:
    """Whether a serialised executable calls a routine of LAPACK."""
    return b"lapack_" in blob


def _load_lapack() -> None:
    lapack = importlib.import_module("jaxlib.lapack")
    with _scipy_pointers():
        lapack._lapack.initialize()
    for name, function, version in lapack.registrations()["cpu"]:
        xla.register_custom_call_target(name, function, platform="cpu", api_version=version)
    for name in lapack.batch_partitionable_targets():
        xla.register_custom_call_as_batch_partitionable(name)


_POINTERS = ("scipy.linalg.cython_blas", "scipy.linalg.cython_lapack")


@contextmanager
def _scipy_pointers() -> Generator[None]:
    """Make the two modules that jaxlib takes pointers from importable at little cost.

    By itself jaxlib imports all of scipy.linalg for them, 0.2 s at the first factorisation; the two
    alone take a tenth of it. They are taken out of the module table again, so that a later import
    of scipy.linalg finds nothing unusual.
    """
    if "scipy.linalg" in sys.modules:
        yield
        return
    loaded: list[str] = []
    try:
        for name in _POINTERS:
            _import_alone(name)
            loaded.append(name)
    except (ImportError, AttributeError):  # SciPy built in another way: import it all
        pass
    try:
        yield
    finally:
        for name in loaded:
            sys.modules.pop(name, None)


def _import_alone(name: str) -> None:
    """Import an extension module without the packages around it."""
    package, _, tail = name.rpartition(".")
    top, *inner = package.split(".")
    root = os.path.join(importlib.import_module(top).__path__[0], *inner)
    spec = PathFinder.find_spec(name, [root])
    if spec is None or spec.loader is None:
        raise ImportError(f"there is no {tail} in {root}")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
