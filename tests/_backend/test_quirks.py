"""What the compiler does wrong, shown to it as it is: a workaround goes when its reason has gone."""

import re
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from jaxlib.mlir import ir

import xcore
from xcore._backend import client, context, options, quirks
from xcore._core.types import ArrayType

ALL = {name: q for name, q in vars(quirks).items() if isinstance(q, quirks.Quirk)}
SLOW = {name: q for name, q in ALL.items() if isinstance(q, quirks.Slow)}  # measured, not tested
TABLE = {name: q for name, q in ALL.items() if name not in SLOW}


def compiled(text: str, *args):
    """The result of a function in StableHLO, without anything of ours in between."""
    device = client.default_device()
    entry = context.take()
    with entry[0]:
        module = ir.Module.parse(f"module {{ func.func public @main{text} }}")
        program = client.compile_module(module, (device,), options.compile_options((device,)))
    buffers = [client.put(x, ArrayType(x.shape, x.dtype), device) for x in args]
    return client.to_host(
        program.execute_sharded(buffers).disassemble_into_single_device_arrays()[0][0]
    )


def one(op: str, x, element: str, to: str | None = None):
    """``op`` of an array of one axis."""
    a, b = f"tensor<{len(x)}x{element}>", f"tensor<{len(x)}x{to or element}>"
    kind = f"({a}) -> {b}" if to else a
    return compiled(f"(%x: {a}) -> {b} {{ %r = stablehlo.{op} %x : {kind}\n return %r : {b} }}", x)


def divides_by_reciprocal():
    k = np.arange(1, 1001, dtype=np.float32)
    row = "tensor<1000xf32>"
    out = compiled(
        f"(%x: {row}, %y: tensor<f32>) -> {row} {{"
        f"%b = stablehlo.broadcast_in_dim %y, dims = [] : (tensor<f32>) -> {row}\n"
        f"%r = stablehlo.divide %x, %b : {row}\n return %r : {row} }}",
        7 * k, np.asarray(7, np.float32),
    )  # fmt: skip
    return (out != k).any()


def update_overlaps():
    out = compiled(
        "(%x: tensor<2x3xf32>) -> tensor<6xf32> {"
        "%a = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>\n"
        "%s = stablehlo.slice %a [0:3] : (tensor<6xf32>) -> tensor<3xf32>\n"
        "%i = stablehlo.constant dense<1> : tensor<i32>\n"
        "%r = stablehlo.dynamic_update_slice %a, %s, %i : (tensor<6xf32>, tensor<3xf32>, tensor<i32>)"
        " -> tensor<6xf32>\n return %r : tensor<6xf32> }",
        np.arange(6, dtype=np.float32).reshape(2, 3),
    )
    return out.tolist() != [0, 0, 1, 2, 4, 5]


def extremum_loses_nan():
    x = np.zeros((3, 2**17), np.float32)
    x[1, 5] = np.nan
    out = compiled(
        "(%x: tensor<3x131072xf32>) -> tensor<3xf32> {"
        "%c = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
        "%r = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [1] : "
        "(tensor<3x131072xf32>, tensor<f32>) -> tensor<3xf32>\n return %r : tensor<3xf32> }",
        x,
    )
    return not np.isnan(out[1])


def bool_product_chooses():
    out = compiled(
        "(%x: tensor<1xf32>, %p: tensor<1xi1>) -> tensor<1xf32> {"
        "%c = stablehlo.convert %p : (tensor<1xi1>) -> tensor<1xf32>\n"
        "%r = stablehlo.multiply %x, %c : tensor<1xf32>\n return %r : tensor<1xf32> }",
        np.full(1, np.nan, np.float32), np.zeros(1, bool),
    )  # fmt: skip
    return not np.isnan(out[0])


def float4_rounded_twice():
    return float(one("convert", np.array([0.7499999999]), "f64", "f4E2M1FN")[0]) != 0.5 + 0.5


def float4_to_integer():
    six = np.array([6], ml_dtypes.float4_e2m1fn)
    return one("convert", six, "f4E2M1FN", "i32")[0] != 6


def int2_concatenate_aborts():
    script = (
        "import numpy as np, ml_dtypes\n"
        "from tests._backend.test_quirks import compiled\n"
        "compiled('''(%x: tensor<4xi2>) -> tensor<8xi2> { %r = stablehlo.concatenate %x, %x, dim = 0 : "
        "(tensor<4xi2>, tensor<4xi2>) -> tensor<8xi2>\n return %r : tensor<8xi2> }''', "
        "np.zeros(4, ml_dtypes.int2))"
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True).returncode < 0


def complex_edges():
    z = np.array([complex(np.inf, np.nan)], np.complex64)
    return not np.isinf(one("log", z, "complex<f32>")[0].real)


def complex_sine_cancels():
    return one("sine", np.array([1 + 1e-9j], np.complex64), "complex<f32>")[0].imag == 0


def log1p_inaccurate():
    x = np.linspace(-0.414, -0.39, 1000)
    return np.max(np.abs(one("log_plus_one", x, "f64") / np.log1p(x) - 1)) > 5e-15


def reassociates():
    out = compiled(
        "(%x: tensor<2xf32>) -> tensor<2xf32> {"
        "%c = stablehlo.constant dense<1.0e+08> : tensor<2xf32>\n"
        "%s = stablehlo.add %x, %c : tensor<2xf32>\n"
        "%r = stablehlo.subtract %s, %c : tensor<2xf32>\n return %r : tensor<2xf32> }",
        np.ones(2, np.float32),
    )
    return out[0] == 1


@pytest.mark.parametrize("name", TABLE)
def test_the_compiler_has_it_where_the_table_says_so(name):
    if client.platform_of(client.default_device()) != "cpu":
        pytest.skip("the table is of the compiler for CPUs")
    found = bool(globals()[name.lower()]())
    assert found == TABLE[name].is_here(), (
        f"jaxlib {client.VERSION}: {TABLE[name].what}: {found}. Where it is gone, set fixed= in "
        f"_backend/quirks.py; where no supported jaxlib has it, remove what is marked quirk: {name}."
    )


def test_every_quirk_has_a_workaround_that_names_it():
    root = Path(xcore.__file__).parent
    named = {
        n for f in root.rglob("*.py") for n in re.findall(r"quirk: ([A-Z0-9_]+)", f.read_text())
    }
    assert named - {"NAME"} == set(ALL)
