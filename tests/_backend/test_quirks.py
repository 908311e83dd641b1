"""What the compiler does wrong, shown to it as it is: a workaround goes when its reason has gone."""

import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from jaxlib import _jax
from jaxlib.mlir import ir

import xcore
from xcore._backend import client, context, options, placements, quirks  # noqa: F401 (for scripts)
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


def elsewhere(script: str, **env):
    """A process that runs a script."""
    names = "import numpy as np, ml_dtypes\nfrom tests._backend.test_quirks import *\n"
    command = [sys.executable, "-c", names + script]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | env)


def int2_concatenate_aborts():
    text = (
        "(%x: tensor<4xi2>) -> tensor<8xi2> { %r = stablehlo.concatenate %x, %x, dim = 0 : "
        "(tensor<4xi2>, tensor<4xi2>) -> tensor<8xi2>\n return %r : tensor<8xi2> }"
    )
    return elsewhere(f"compiled({text!r}, np.zeros(4, ml_dtypes.int2))").returncode < 0


def complex_edges():
    z = np.array([complex(np.inf, np.nan)], np.complex64)
    return not np.isinf(one("log", z, "complex<f32>")[0].real)


def complex_sine_cancels():
    return one("sine", np.array([1 + 1e-9j], np.complex64), "complex<f32>")[0].imag == 0


def log1p_inaccurate():
    x = np.linspace(-0.414, -0.39, 1000)
    return np.max(np.abs(one("log_plus_one", x, "f64") / np.log1p(x) - 1)) > 5e-15


def divides_once():
    out = compiled(
        "(%x: tensor<2xf32>) -> tensor<2xf32> {"
        "%q = stablehlo.divide %x, %x : tensor<2xf32>\n"
        "%r = stablehlo.divide %q, %x : tensor<2xf32>\n return %r : tensor<2xf32> }",
        np.full(2, 1e30, np.float32),
    )
    return out[0] == 0


def product_of_multiples():
    out = compiled(
        "(%x: tensor<16x2xf32>) -> tensor<2xf32> {"
        "%c = stablehlo.constant dense<1.0e-30> : tensor<16x2xf32>\n"
        "%o = stablehlo.constant dense<1.0> : tensor<f32>\n"
        "%m = stablehlo.multiply %x, %c : tensor<16x2xf32>\n"
        "%r = stablehlo.reduce(%m init: %o) applies stablehlo.multiply across dimensions = [0] : "
        "(tensor<16x2xf32>, tensor<f32>) -> tensor<2xf32>\n return %r : tensor<2xf32> }",
        np.full((16, 2), 1e30, np.float32),
    )
    return np.isnan(out).all()


def reassociates():
    out = compiled(
        "(%x: tensor<2xf32>) -> tensor<2xf32> {"
        "%c = stablehlo.constant dense<1.0e+08> : tensor<2xf32>\n"
        "%s = stablehlo.add %x, %c : tensor<2xf32>\n"
        "%r = stablehlo.subtract %s, %c : tensor<2xf32>\n return %r : tensor<2xf32> }",
        np.ones(2, np.float32),
    )
    return out[0] == 1


def square_vanishes():
    z = np.array([complex(-1, 1e-30)], np.complex64)
    return np.isinf(one("log_plus_one", z, "complex<f32>")[0].real)


def constants_round_otherwise():
    x = np.linspace(0.5, 3, 500, dtype=np.float32)
    a, numbers = "tensor<500xf32>", ", ".join(f"{v:.9e}" for v in x.tolist())
    constant = f"%x = stablehlo.constant dense<[{numbers}]> : {a}\n %r = stablehlo.log %x : {a}"
    return (compiled(f"() -> {a} {{ {constant}\n return %r : {a} }}") != one("log", x, "f32")).any()


def subnormals_flushed():
    a = "tensor<1xf32>"
    text = f"(%x: {a}) -> {a} {{ %r = stablehlo.add %x, %x : {a}\n return %r : {a} }}"
    return compiled(text, np.array([1e-40], np.float32))[0] == 0


def int2_sort_wrong():
    a, element = "tensor<5xi2>", "tensor<i2>"
    out = compiled(
        f'(%x: {a}) -> {a} {{ %r = "stablehlo.sort"(%x) ({{ ^bb0(%a: {element}, %b: {element}):'
        f"%p = stablehlo.compare LT, %a, %b : ({element}, {element}) -> tensor<i1>\n"
        f"stablehlo.return %p : tensor<i1> }}) {{dimension = 0 : i64}} : ({a}) -> {a}\n return %r : {a} }}",
        np.array([1, 0, 1, 0, 1], ml_dtypes.int2),
    )
    return out.astype(int).tolist() != [0, 0, 1, 1, 1]


def empty_convolution_refused():
    x, k, y = "tensor<1x1x4xf32>", "tensor<1x1x0xf32>", "tensor<1x1x5xf32>"
    text = (
        f"(%x: {x}, %k: {k}) -> {y} {{ %r = stablehlo.convolution(%x, %k) dim_numbers = "
        "[b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1], pad = [[0, 0]]} "
        "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
        f"({x}, {k}) -> {y}\n return %r : {y} }}"
    )
    try:
        compiled(text, np.ones((1, 1, 4), np.float32), np.ones((1, 1, 0), np.float32))
    except ir.MLIRError:
        return True
    return False


def barriers_dropped():
    device, a, entry = client.default_device(), "tensor<1000xf32>", context.take()
    text = (
        f"module {{ func.func public @main(%x: {a}) -> {a} {{ %a = stablehlo.sine %x : {a}\n"
        f"%b = stablehlo.optimization_barrier %x : {a}\n %c = stablehlo.sine %b : {a}\n"
        f"%r = stablehlo.add %a, %c : {a}\n return %r : {a} }} }}"
    )
    given = options.compile_options((device,))
    given.executable_build_options.debug_options.xla_disable_hlo_passes = ""
    with entry[0]:
        program = client.compile_module(ir.Module.parse(text), (device,), given)
    return sum(m.to_string().count(" sine(") for m in program.hlo_modules()) == 1


def barrier_in_kernel_aborts():
    x, i = "tensor<4xf32>", "tensor<i32>"
    text = (
        f"(%a: {x}) -> {x} {{ %i = stablehlo.constant dense<0> : {i}\n"
        f"%r:2 = stablehlo.while(%k = %i, %x = %a) : {i}, {x} cond {{ %n = stablehlo.constant dense<5> : {i}\n"
        f"%p = stablehlo.compare LT, %k, %n : ({i}, {i}) -> tensor<i1>\n stablehlo.return %p : tensor<i1> }}"
        f"do {{ %o = stablehlo.constant dense<1> : {i}\n %j = stablehlo.add %k, %o : {i}\n"
        f"%y = stablehlo.sine %x : {x}\n %z:2 = stablehlo.optimization_barrier %y, %j : {x}, {i}\n"
        f"stablehlo.return %z#1, %z#0 : {i}, {x} }}\n return %r#1 : {x} }}"
    )
    return elsewhere(f"compiled({text!r}, np.ones(4, np.float32))").returncode < 0


def huge_array_aborts():
    a, n = f"tensor<{2**61}x4xf32>", "tensor<f32>"
    text = (
        f"() -> {n} {{ %c = stablehlo.constant dense<0.0> : {n}\n"
        f"%b = stablehlo.broadcast_in_dim %c, dims = [] : ({n}) -> {a}\n"
        f"%r = stablehlo.reduce(%b init: %c) applies stablehlo.add across dimensions = [0, 1] : "
        f"({a}, {n}) -> {n}\n return %r : {n} }}"
    )
    return elsewhere(f"compiled({text!r})").returncode < 0


@functools.cache
def on_two_devices():
    """A process that transforms spread rows and tells whether they are gathered, then uses a part that is gone."""
    a = "tensor<2x8xcomplex<f32>>"
    spread = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'
    text = (
        'module attributes {mhlo.num_partitions = 2 : i32} { sdy.mesh @mesh = <["x"=2]>\n'
        f"func.func public @main(%x: {a} {spread}) -> ({a} {spread}) {{\n"
        f"%r = stablehlo.fft %x, type = FFT, length = [8] : ({a}) -> {a}\n return %r : {a} }} }}"
    )
    return elsewhere(
        f"""
devices = tuple(client.client("cpu").local_devices())
entry = context.take()
with entry[0]:
    module = ir.Module.parse({text!r})
    program = client.compile_module(module, devices, options.compile_options(devices, 2))
print("all-gather" in "".join(m.to_string() for m in program.hlo_modules()))
x, t = np.ones((2, 8), np.complex64), ArrayType((2, 8), np.dtype("complex64"))
spread = placements.spread(devices, np.arange(2).reshape(2, 1, 1))
buffer = client.put_sharded(t, spread, [x[:1], x[1:]], devices)
program.execute_sharded([buffer]).disassemble_into_single_device_arrays()
print("ran", flush=True)
client.shards(buffer)[0].delete()
program.execute_sharded([buffer]).disassemble_into_single_device_arrays()
""",
        XCORE_NUM_CPU_DEVICES="2",
    )


def fft_gathered():
    return on_two_devices().stdout.split()[0] == "True"


def gone_buffer_aborts():
    return "ran" in on_two_devices().stdout and on_two_devices().returncode < 0


def lapack_aborts():
    a, i = "tensor<2x2xf32>", "tensor<i32>"
    text = (
        f"(%a: {a}) -> {a} {{ %r:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {{api_version = 4 : i32, "
        "backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], "
        "result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]} : "
        f"({a}) -> ({a}, {i})\n return %r#0 : {a} }}"
    )
    return (
        elsewhere(f"""
from jaxlib import xla_client
from jaxlib.cpu import _lapack
target = _lapack.registrations()["lapack_spotrf_ffi"]
xla_client.register_custom_call_target("lapack_spotrf_ffi", target, platform="cpu", api_version=1)
compiled({text!r}, np.eye(2, dtype=np.float32))
""").returncode
        < 0
    )


def batches_wait():
    """Whether routines hand batches to the threads they may run on: a hang hangs on the number of these."""
    from jaxlib.cpu import _lapack

    return b"ParallelBatchMap" in Path(_lapack.__file__).read_bytes()


def _transferred(x, *copy, **width):
    device = client.default_device()
    t, place = ArrayType(x.shape, x.dtype), client.one_device(device)
    return client.to_host(_jax.batched_device_put(t, place, [x], [device], True, *copy, **width))


def host_memory_aliased():
    memory = np.zeros(1000)
    x = memory[(-memory.ctypes.data % 64) // 8 :]  # memory that begins elsewhere is copied
    there = _transferred(x, enable_x64=True)
    x[0] = 1
    return there[0] == 1


def transfers_ask_for_width():
    try:
        return _transferred(np.arange(4.0), True).dtype != np.float64
    except RuntimeError:
        return True


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
