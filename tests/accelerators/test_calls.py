"""Calls of NVIDIA's libraries: as stored, and as jax writes them where it is installed.

Who changes one on purpose writes the file anew: ``python -m tests.accelerators.test_calls``.
"""

import functools
import re
from pathlib import Path

import pytest

import xcore as xc
from xcore._backend import ffi
from xcore.lax import linalg

STORED = Path(__file__).parent / "custom_calls.txt"
DTYPES = ("float32", "float64", "complex64", "complex128")

# Functions of xcore.lax.linalg or of jax's, and the shapes of one call's arguments.
CALLS = {
    "cholesky": (lambda m, a: m.cholesky(a), (4, 4)),
    "lu": (lambda m, a: m.lu(a), (4, 3)),
    "qr": (lambda m, a: m.qr(a), (4, 3)),
    "qr, pivoting": (lambda m, a: m.qr(a, pivoting=True), (4, 3)),
    "eigh": (lambda m, a: m.eigh(a), (4, 4)),
    "svd": (lambda m, a: m.svd(a), (4, 3)),
    "svd of many rows": (lambda m, a: m.svd(a, full_matrices=False), (1100, 3)),
    "svd of many columns": (lambda m, a: m.svd(a, full_matrices=False), (3, 1100)),
    "eig": (lambda m, a: m.eig(a), (4, 4)),
    "householder_product": (lambda m, a, t: m.householder_product(a, t), (4, 4), (4,)),
    "tridiagonal": (lambda m, a: m.tridiagonal(a), (4, 4)),
    "tridiagonal_solve": (lambda m, *xs: m.tridiagonal_solve(*xs), (4,), (4,), (4,), (4, 2)),
}
# several tridiagonal systems are one here, for jax many
CASES = [
    (f, batch) for f in CALLS for batch in ((), (2,)) if (f, batch) != ("tridiagonal_solve", (2,))
]


def arguments(name, batch, dtype, struct):
    return [struct((*batch, *shape), dtype) for shape in CALLS[name][1:]]


def written(name, batch, dtype) -> str:
    lowered = xc.jit(functools.partial(CALLS[name][0], linalg)).lower(
        *arguments(name, batch, dtype, xc.ShapeDtypeStruct)
    )
    return lowered.for_platforms("cuda")["cuda"].as_text()


def calls(text: str) -> list[str]:
    """The calls of a module in one form: target, names and types of settings, layouts, aliases, types."""
    return [_form(line) for line in text.split("\n") if "@cu" in line]


def _form(line: str) -> str:
    target = re.search(r"@(cu\w+)", line)[1]
    settings = re.search(r"backend_config = (\{.*?\})", line)[1]
    settings = re.sub(
        r"true|false", "i1", settings
    )  # which triangle, and whether vectors: ours to choose
    settings = re.sub(r'= "\w+"', "= text", settings)
    layouts = re.findall(r"(?:operand|result)_layouts = \[.*?tensor<\dxindex>\]", line)
    aliases = re.findall(r"output_tuple_indices = \[\d*\], operand_index = \d+", line)
    types = re.search(r"\} : (\(.*)$", line)[1]
    types = re.sub(r"loc\(.*", "", types).strip()
    return " ".join([target, settings, *layouts, *aliases, ":", types])


def everything() -> str:
    with xc.enable_x64():
        return "".join(
            f"{name} {dtype}{' of a batch' if batch else ''}: {call}\n"
            for name, batch in CASES
            for dtype in DTYPES
            for call in calls(written(name, batch, dtype))
        )


def test_calls_are_those_stored():
    assert everything() == STORED.read_text()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "batch"), CASES, ids=str)
def test_calls_are_those_that_jax_writes(name, batch, dtype):
    jax = pytest.importorskip("jax")
    export = pytest.importorskip("jax.export")
    theirs = functools.partial(CALLS[name][0], pytest.importorskip("jax.lax.linalg"))
    targets = {r.target for r in ffi.CUDA.values()} | {"cuhybrid_eig_comp"}
    unchecked = [export.DisabledSafetyCheck.custom_call(t) for t in targets]
    with jax.enable_x64(True), xc.enable_x64():
        export_ = export.export(jax.jit(theirs), platforms=["cuda"], disabled_checks=unchecked)
        text = export_(*arguments(name, batch, dtype, jax.ShapeDtypeStruct)).mlir_module()
        ours = set(calls(written(name, batch, dtype)))
        assert ours
        assert ours <= set(calls(text))


if __name__ == "__main__":
    STORED.write_text(everything())
