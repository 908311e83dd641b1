"""Type rules: what comes out of which types, and what is refused, with words that name it.

Nothing is compiled here. A row is (operation, types, params, what comes out), types written as
"f32[2,3]", weak ones as "f32[]w"; or, where it is refused, the exception's class and part of its text.
"""

import re

import numpy as np
import pytest

import xcore.numpy as xnp
from tests._ops.test_ops import operations
from xcore import _ops as ops
from xcore._core import errors
from xcore._core.types import ArrayType

OPS = operations()
SHORT = {"f": "float", "i": "int", "u": "uint", "c": "complex", "bf": "bfloat"}


def parse(text: str) -> ArrayType:
    name, shape, weak = re.fullmatch(r"(\w+)\[([\d,]*)\](w?)", text).groups()
    dtype = xnp.dtype(re.sub(r"^(f|i|u|c|bf)(?=\d)", lambda m: SHORT[m[0]], name))
    return ArrayType(tuple(map(int, filter(None, shape.split(",")))), dtype, weak == "w")


def result(name, types, params):
    return OPS[name].type(*map(parse, types.split()), **params)


SLICE = {"start": (0, 1), "limit": (2, 3), "strides": (1, 1)}
PAD = {"low": (1, 0), "high": (0, 2), "interior": (0, 1)}
DOT = {"contract": ((1,), (0,)), "batch": ((), ())}
CONV = {"strides": (1,), "padding": ((0, 0),), "lhs_dilation": (1,), "rhs_dilation": (1,)}
SOLVE = {"left": True, "lower": True, "transpose": "N", "unit_diagonal": False}
TRIG = {"kind": "DCT", "type": 2, "axes": (0,)}
MEMBERS = {"axis_name": "i", "axis_size": 2}
ROWS = {"dims": ops.GatherDims((1,), (0,), (0,)), "sizes": (1, 3), "mode": "clip"}
INTO = {"dims": ops.ScatterDims((1,), (0,), (0,)), "how": "add", "mode": "drop"}

GIVES = [
    ("add", "f32[2] f32[2]w", {}, "f32[2]"),
    ("add", "f32[2]w f32[2]w", {}, "f32[2]w"),
    ("add", "bool[2] bool[2]", {}, "bool[2]"),
    ("neg", "i8[0]", {}, "i8[0]"),
    ("abs", "c64[2]w", {}, "f32[2]w"),
    ("eq", "f32[2]w f32[2]w", {}, "bool[2]"),
    ("is_finite", "f32[2]w", {}, "bool[2]"),
    ("complex", "f64[2]w f64[2]", {}, "c128[2]"),
    ("select", "bool[] f32[2] f32[2]w", {}, "f32[2]"),
    ("select", "bool[2] f32[2]w f32[2]w", {}, "f32[2]w"),
    ("convert", "f32[2]w", {"dtype": xnp.int32}, "i32[2]"),
    ("convert", "c64[2]", {"dtype": np.dtype(bool)}, "bool[2]"),
    ("convert", "c64[2]", {"dtype": xnp.complex128, "weak": True}, "c128[2]w"),
    ("bitcast_convert", "f32[2]w", {"dtype": xnp.int32}, "i32[2]"),
    ("bitcast_convert", "f32[2]", {"dtype": xnp.int8}, "i8[2,4]"),
    ("bitcast_convert", "i8[3,4]", {"dtype": xnp.float32}, "f32[3]"),
    ("reduce_precision", "f32[2]w", {"exponent_bits": 1, "mantissa_bits": 0}, "f32[2]w"),
    ("broadcast_in_dim", "f32[1,3]w", {"shape": (2, 5, 3), "dims": (1, 2)}, "f32[2,5,3]w"),
    ("reduce_sum", "f32[2,3,4]w", {"axes": (0, 2)}, "f32[3]w"),
    ("reduce_max", "f32[2,3,4]w", {"axes": (1,)}, "f32[2,4]w"),
    ("argmax", "f32[2,3]w", {"axis": 1, "dtype": xnp.int32}, "i32[2]"),
    ("reshape", "f32[2,3]w", {"shape": (6, 1)}, "f32[6,1]w"),
    ("transpose", "f32[2,3,4]w", {"perm": (2, 0, 1)}, "f32[4,2,3]w"),
    ("concatenate", "f32[2,3]w f32[2,4]", {"axis": 1}, "f32[2,7]"),
    ("concatenate", "f32[2]w f32[4]w", {"axis": 0}, "f32[6]w"),
    ("slice", "f32[2,3]w", SLICE, "f32[2,2]w"),
    ("slice", "f32[2,3]", {"start": (2, 0), "limit": (2, 3), "strides": (1, 2)}, "f32[0,2]"),
    ("pad", "f32[2,3]w f32[]w", PAD, "f32[3,7]w"),
    ("pad", "f32[2,3]w f32[]", PAD, "f32[3,7]w"),
    ("pad", "f32[2,3] f32[]w", PAD, "f32[3,7]"),
    ("pad", "f32[2,1] f32[]", {**PAD, "low": (-2, 0)}, "f32[0,3]"),
    ("pad", "f32[0,1] f32[]", {**PAD, "interior": (3, 3)}, "f32[1,3]"),
    ("dynamic_slice", "f32[4,5]w i32[] i32[]", {"sizes": (4, 0)}, "f32[4,0]w"),
    ("dynamic_update_slice", "f32[4]w f32[4] i32[]", {}, "f32[4]w"),
    ("gather", "f32[4,3]w i32[5,1]", ROWS, "f32[5,3]w"),
    ("scatter", "f32[4,3]w i32[5,1] f32[5,3]", INTO, "f32[4,3]w"),
    ("sort", "f32[3]w i32[3]", {"axis": 0}, "f32[3]w i32[3]"),
    ("top_k", "f32[2,3]w", {"k": 3}, "f32[2,3]w i32[2,3]"),
    ("top_k", "f32[2,3]", {"k": 0}, "f32[2,0] i32[2,0]"),
    ("cumsum", "f32[2,3]w", {"axis": 1}, "f32[2,3]w"),
    ("dot_general", "f32[2,3]w f32[3,4]w", DOT, "f32[2,4]w"),
    ("dot_general", "f32[2,3]w f32[3,4]", {**DOT, "out": xnp.float64}, "f64[2,4]"),
    ("dot_general", "f32[5,2] f32[5,2,4]", {"contract": ((1,), (1,)), "batch": ((0,), (0,))}, "f32[5,4]"),
    ("convolution", "f32[1,2,7] f32[3,2,3]", CONV, "f32[1,3,5]"),
    ("convolution", "f32[1,4,7] f32[6,2,3]", {**CONV, "groups": 2, "strides": (2,)}, "f32[1,6,3]"),
    ("convolution", "f32[1,1,0] f32[1,1,3]", {**CONV, "padding": ((1, 1),)}, "f32[1,1,0]"),
    ("convolution", "f32[1,1,4] f32[1,1,0]", {**CONV, "lhs_dilation": (3,)}, "f32[1,1,11]"),
    ("convolution", "f32[1,1,9] f32[1,1,3]", {**CONV, "rhs_dilation": (2,)}, "f32[1,1,5]"),
    ("convolution", "f32[3,2] f32[4,2]", dict.fromkeys(CONV, ()), "f32[3,4]"),
    ("fft", "c64[2,6]w", {"kind": "FFT", "lengths": (6,)}, "c64[2,6]"),
    ("fft", "f64[2,6]", {"kind": "RFFT", "lengths": (6,)}, "c128[2,4]"),
    ("fft", "c64[5,4]", {"kind": "IRFFT", "lengths": (5, 7)}, "f32[5,7]"),
    ("trig", "f32[2,3]w", {**TRIG, "axes": (1, 0)}, "f32[2,3]"),
    ("trig", "f32[2]", {**TRIG, "type": 1}, "f32[2]"),
    ("trig", "f32[1]", {**TRIG, "kind": "DST", "type": 1}, "f32[1]"),
    ("cholesky", "f32[2,3,3]w", {}, "f32[2,3,3]"),
    ("triangular_solve", "f32[2,3,3] f32[2,3,5]w", SOLVE, "f32[2,3,5]"),
    ("triangular_solve", "f32[3,3] f32[5,3]", {**SOLVE, "left": False}, "f32[5,3]"),
    ("exchange_rows", "f32[2,5,3]w i32[2,5]", {"reverse": False}, "f32[2,5,3]"),
    ("lu_pivots_to_permutation", "i32[2,3]", {"size": 3}, "i32[2,3]"),
    ("tridiagonal_solve", "f32[4] f32[4] f32[4] f32[4,2]w", {}, "f32[4,2]"),
    ("geqrf", "f32[7,5,3]w", {}, "f32[7,5,3] f32[7,3]"),
    ("householder_product", "f32[5,3]w f32[3]", {}, "f32[5,3]"),
    ("psum_scatter", "f32[4,3]w", {**MEMBERS, "axis": 0, "tiled": True}, "f32[2,3]w"),
    ("psum_scatter", "f32[2,3]", {**MEMBERS, "axis": 0, "tiled": False}, "f32[3]"),
    ("all_gather", "f32[4,3]", {**MEMBERS, "axis": 1, "tiled": True}, "f32[4,6]"),
    ("all_gather", "f32[4,3]", {**MEMBERS, "axis": 1, "tiled": False}, "f32[4,2,3]"),
    ("all_to_all", "f32[4,3]w", {**MEMBERS, "split": 0, "concat": 1}, "f32[2,6]w"),
]  # fmt: skip

Shape, DType, Argument = errors.ShapeError, errors.DTypeError, errors.ArgumentError
Axis, Matrix = errors.AxisError, errors.MatrixShapeError

REFUSED = [
    ("add", "f32[2] f32[3]", {}, Shape, "equal shapes"),
    ("add", "f32[2] f64[2]", {}, DType, "equal dtypes"),
    ("neg", "f32[2] f32[2]", {}, Shape, "must be 1"),
    ("neg", "bool[2]", {}, DType, "complex and float and int and uint"),
    ("select", "i32[2] f32[2] f32[2]", {}, Shape, "boolean"),
    ("select", "bool[1] f32[2] f32[2]", {}, Shape, "boolean"),
    ("select", "bool[2] f32[2] f32[3]", {}, Shape, "equal shapes"),
    ("select", "bool[2] f32[2] f64[2]", {}, DType, "equal dtypes"),
    ("convert", "c64[2]", {"dtype": xnp.float32}, DType, "equal dtypes"),
    ("bitcast_convert", "i8[]", {"dtype": xnp.float32}, Shape, "last axis of 4"),
    ("bitcast_convert", "i8[3]", {"dtype": xnp.float32}, Shape, "last axis of 4"),
    ("reduce_precision", "i32[2]", {"exponent_bits": 5, "mantissa_bits": 5}, DType, "float"),
    ("reduce_precision", "f32[2]", {"exponent_bits": 0, "mantissa_bits": 5}, Argument, "1 or more"),
    ("reduce_precision", "f32[2]", {"exponent_bits": 5, "mantissa_bits": -1}, Argument, "0 or more"),
    ("broadcast_in_dim", "f32[2]", {"shape": (2, 3), "dims": (1,)}, Shape, "must fit"),
    ("broadcast_in_dim", "f32[2]", {"shape": (3, 2), "dims": (2,)}, Shape, "must fit"),
    ("broadcast_in_dim", "f32[2]", {"shape": (2, 2), "dims": (-1,)}, Shape, "must fit"),
    ("broadcast_in_dim", "f32[2]", {"shape": (2, 2), "dims": (0, 1)}, Shape, "must fit"),
    ("broadcast_in_dim", "f32[2,2]", {"shape": (2, 2), "dims": (1, 0)}, Shape, "must fit"),
    ("broadcast_in_dim", "f32[2,2]", {"shape": (2, 2), "dims": (1, 1)}, Shape, "must fit"),
    ("reduce_sum", "bool[2]", {"axes": (0,)}, DType, "int"),
    ("reduce_sum", "f32[2]", {"axes": (1,)}, Shape, "reduced over"),
    ("reduce_sum", "f32[2]", {"axes": (-1,)}, Shape, "reduced over"),
    ("reduce_sum", "f32[2,2]", {"axes": (0, 0)}, Shape, "reduced over"),
    ("reduce_max", "c64[2]", {"axes": (0,)}, DType, "float"),
    ("reduce_max", "f32[2]", {"axes": (1,)}, Shape, "reduced over"),
    ("argmax", "c64[2]", {"axis": 0, "dtype": xnp.int32}, DType, "float"),
    ("argmax", "f32[2]", {"axis": 1, "dtype": xnp.int32}, Shape, "need elements"),
    ("argmax", "f32[2]", {"axis": -1, "dtype": xnp.int32}, Shape, "need elements"),
    ("argmin", "f32[2,0]", {"axis": 1, "dtype": xnp.int32}, Shape, "need elements"),
    ("reshape", "f32[2,3]", {"shape": (5,)}, Shape, "cannot take the shape"),
    ("transpose", "f32[2,3]", {"perm": (0, 0)}, Shape, "permutation"),
    ("transpose", "f32[2,3]", {"perm": (0,)}, Shape, "permutation"),
    ("rev", "f32[2]", {"axes": (1,)}, Shape, "has no axes"),
    ("rev", "f32[2]", {"axes": (-1,)}, Shape, "has no axes"),
    ("rev", "f32[2,3]", {"axes": (0, 2)}, Shape, "has no axes"),
    ("rev", "f32[2]", {"axes": (0, 0)}, Shape, "twice"),
    ("iota", "", {"shape": (2,), "dtype": np.dtype(bool), "axis": 0}, DType, "int"),
    ("concatenate", "f32[2] f64[2]", {"axis": 0}, DType, "equal dtypes"),
    ("concatenate", "f32[2,3] f32[3,3]", {"axis": 1}, Shape, "but for axis 1"),
    ("concatenate", "f32[2,3] f32[2]", {"axis": 1}, Shape, "but for axis 1"),
    ("slice", "f32[2,3]", {**SLICE, "start": (0,)}, Shape, "has no elements"),
    ("slice", "f32[2,3]", {**SLICE, "start": (-1, 0)}, Shape, "has no elements"),
    ("slice", "f32[2,3]", {**SLICE, "limit": (3, 3)}, Shape, "has no elements"),
    ("slice", "f32[2,3]", {**SLICE, "start": (2, 3), "limit": (1, 3)}, Shape, "has no elements"),
    ("slice", "f32[2,3]", {**SLICE, "strides": (1, 0)}, Shape, "has no elements"),
    ("pad", "f32[2,3] f64[]", PAD, Shape, "0-d padding value"),
    ("pad", "f32[2,3] f32[1]", PAD, Shape, "0-d padding value"),
    ("pad", "f32[2,3] f32[]", {**PAD, "interior": (0, -1)}, Argument, "interior"),
    ("pad", "f32[2,3] f32[]", {**PAD, "low": (-3, 0)}, Shape, "cannot be cut"),
    ("dynamic_slice", "f32[4] i32[] i32[]", {"sizes": (1,)}, Shape, "start indices"),
    ("dynamic_slice", "f32[4] i32[1]", {"sizes": (1,)}, Shape, "start indices"),
    ("dynamic_slice", "f32[4] f32[]", {"sizes": (1,)}, Shape, "start indices"),
    ("dynamic_slice", "f32[4] i32[]", {"sizes": (5,)}, Shape, "no slice of sizes"),
    ("dynamic_slice", "f32[4] i32[]", {"sizes": (-1,)}, Shape, "no slice of sizes"),
    ("dynamic_slice", "f32[4] i32[]", {"sizes": (1, 1)}, Shape, "no slice of sizes"),
    ("dynamic_update_slice", "f32[4] f32[1] f32[]", {}, Shape, "start indices"),
    ("dynamic_update_slice", "f32[4] f64[1] i32[]", {}, DType, "equal dtypes"),
    ("dynamic_update_slice", "f32[4] f32[5] i32[]", {}, Shape, "do not fit"),
    ("dynamic_update_slice", "f32[4] f32[1,1] i32[]", {}, Shape, "do not fit"),
    ("gather", "f32[4,3] f32[5,1]", ROWS, Shape, "integer rows"),
    ("gather", "f32[4,3] i32[5,2]", ROWS, Shape, "integer rows"),
    ("gather", "f32[4,3] i32[5,1]", {**ROWS, "sizes": (1, 4)}, Shape, "no window"),
    ("gather", "f32[4,3] i32[5,1]", {**ROWS, "sizes": (1, -1)}, Shape, "no window"),
    ("gather", "f32[4,3] i32[5,1]", {**ROWS, "sizes": (1,)}, Shape, "no window"),
    ("scatter", "f32[4,3] i32[5,1] f64[5,3]", INTO, DType, "scatter_add"),
    ("scatter", "f32[4,3] f32[5,1] f32[5,3]", INTO, Shape, "integer rows"),
    ("scatter", "f32[4,3] i32[5,2] f32[5,3]", INTO, Shape, "integer rows"),
    ("scatter", "f32[4,3] i32[] f32[3]", INTO, Shape, "integer rows"),
    ("gather", "f32[4,3] i32[]", ROWS, Shape, "integer rows"),
    ("sort", "f32[3] f32[4]", {"axis": 0}, Shape, "equal shapes"),
    ("sort", "f32[3] f32[3] f32[4]", {"axis": 0}, Shape, "equal shapes"),
    ("sort", "f32[3]", {"axis": 1}, Axis, "axis 1"),
    ("sort", "f32[3]", {"axis": -1}, Axis, "axis -1"),
    ("top_k", "f32[]", {"k": 0}, Argument, "last axis"),
    ("top_k", "f32[3]", {"k": 4}, Argument, "last axis"),
    ("top_k", "f32[3]", {"k": -1}, Argument, "last axis"),
    ("cumsum", "bool[3]", {"axis": 0}, DType, "float"),
    ("cumsum", "f32[3]", {"axis": 1}, Axis, "axis 1"),
    ("cumsum", "f32[3]", {"axis": -1}, Axis, "axis -1"),
    ("cumlogsumexp", "i32[3]", {"axis": 0}, DType, "float"),
    ("dot_general", "f32[2,3] f64[3,4]", DOT, DType, "equal dtypes"),
    ("dot_general", "float8_e5m2[2,3] float8_e5m2[3,4]", DOT, DType, "float"),
    ("dot_general", "f32[2,3] f32[2,3]", DOT, Shape, "must agree"),
    ("dot_general", "f32[2,3] f32[3,3]", {"contract": ((1,), (1,)), "batch": ((0,), (0,))}, Shape, "agree"),
    ("convolution", "f32[1,2,7] f64[3,2,3]", CONV, DType, "equal dtypes"),
    ("convolution", "f32[1,2,7] f32[3,3,3]", CONV, Shape, "do not fit"),
    ("convolution", "f32[1,2,7] f32[3,2,3,1]", CONV, Shape, "do not fit"),
    ("convolution", "f32[2] f32[2]", CONV, Shape, "do not fit"),
    ("convolution", "f32[1,4,7] f32[3,2,3]", {**CONV, "groups": 2}, Shape, "do not fit"),
    ("fft", "f32[6]", {"kind": "FFT", "lengths": (6,)}, DType, "complex"),
    ("fft", "c64[6]", {"kind": "RFFT", "lengths": (6,)}, DType, "float32 and float64"),
    ("fft", "i32[6]", {"kind": "RFFT", "lengths": (6,)}, DType, "float32 and float64"),
    ("fft", "c64[6]", {"kind": "FFT", "lengths": ()}, Shape, "1 to 3"),
    ("fft", "c64[6]", {"kind": "FFT", "lengths": (6, 6)}, Shape, "1 to 3"),
    ("fft", "c64[1,2,3,4]", {"kind": "FFT", "lengths": (1, 2, 3, 4)}, Shape, "1 to 3"),
    ("fft", "c64[5]", {"kind": "FFT", "lengths": (6,)}, Shape, "must have lengths"),
    ("fft", "c64[6]", {"kind": "IRFFT", "lengths": (6,)}, Shape, "must have lengths"),
    ("trig", "i32[4]", TRIG, DType, "float32"),
    ("trig", "f32[4]", {**TRIG, "axes": ()}, Shape, "along axes"),
    ("trig", "f32[4]", {**TRIG, "axes": (0, 0)}, Shape, "along axes"),
    ("trig", "f32[4]", {**TRIG, "axes": (1,)}, Shape, "along axes"),
    ("trig", "f32[4]", {**TRIG, "axes": (-1,)}, Shape, "along axes"),
    ("trig", "f32[0]", TRIG, Shape, "1 points"),
    ("trig", "f32[1]", {**TRIG, "type": 1}, Shape, "2 points"),
    ("trig", "f32[4,1]", {**TRIG, "type": 1, "axes": (0, 1)}, Shape, "2 points"),
    ("cholesky", "f16[3,3]", {}, DType, "float32 and float64"),
    ("cholesky", "f32[3]", {}, Matrix, "matrices"),
    ("cholesky", "f32[3,4]", {}, Matrix, "square"),
    ("cholesky", "f32[4,3,4]", {}, Matrix, "square"),
    ("cholesky", "f32[4,4,3]", {}, Matrix, "square"),
    ("triangular_solve", "f32[4,3,4] f32[4,4,4]", SOLVE, Shape, "square"),
    ("lu", "i32[3,4]", {}, DType, "float32 and float64"),
    ("qr", "f32[3]", {"full": False, "pivoting": False}, Matrix, "matrices"),
    ("svd", "f32[3]", {"full": False, "vectors": True}, Matrix, "matrices"),
    ("geqrf", "f32[3]", {}, Matrix, "matrices"),
    ("triangular_solve", "f32[3,3] f64[3,3]", SOLVE, DType, "equal dtypes"),
    ("triangular_solve", "f32[2,3,3] f32[3,3]", SOLVE, Shape, "equal batch"),
    ("triangular_solve", "f32[3,3] f32[3]", SOLVE, Matrix, "matrices"),
    ("triangular_solve", "f32[3,4] f32[4,4]", SOLVE, Shape, "square"),
    ("triangular_solve", "f32[3,3] f32[4,3]", SOLVE, Shape, "rows of b"),
    ("triangular_solve", "f32[3,3] f32[3,4]", {**SOLVE, "left": False}, Shape, "columns of b"),
    ("triangular_solve", "f32[3,3] f32[3,3]", {**SOLVE, "transpose": "X"}, Argument, "transpose"),
    ("exchange_rows", "f32[3,3] i64[3]", {"reverse": False}, DType, "int32"),
    ("exchange_rows", "f32[3] i32[3]", {"reverse": False}, Shape, "pivots"),
    ("exchange_rows", "f32[2,3,3] i32[3]", {"reverse": False}, Shape, "pivots"),
    ("exchange_rows", "f32[3,3] i32[4]", {"reverse": False}, Shape, "k <= m"),
    ("lu_pivots_to_permutation", "i64[3]", {"size": 3}, DType, "int32"),
    ("lu_pivots_to_permutation", "i32[]", {"size": 3}, Shape, "pivots"),
    ("lu_pivots_to_permutation", "i32[4]", {"size": 3}, Shape, "at most 3"),
    ("tridiagonal_solve", "f32[4] f32[4] f32[4] f32[4]", {}, Matrix, "matrices"),
    ("tridiagonal_solve", "f32[4] f32[3] f32[4] f32[4,2]", {}, Shape, "diagonals"),
    ("tridiagonal_solve", "f32[4] f32[4] f64[4] f32[4,2]", {}, Shape, "one dtype"),
    ("householder_product", "f16[5,3] f16[3]", {}, DType, "float32 and float64"),
    ("householder_product", "f32[5,3] f64[3]", {}, Shape, "taus"),
    ("householder_product", "f32[2,5,3] f32[3]", {}, Shape, "taus"),
    ("householder_product", "f32[5,3] f32[4]", {}, Shape, "k <= n"),
    ("householder_product", "f32[3,5] f32[3]", {}, Shape, "n <= m"),
    *[(name, "f32[3,4]", params, Matrix, "square") for name, params in [
        ("eigh", {"vectors": True}), ("eig", {"left": True, "right": True}), ("schur", {}), ("hessenberg", {}), ("tridiagonal", {"lower": True}),
    ]],
    ("psum_scatter", "f32[3]", {**MEMBERS, "axis": 0, "tiled": True}, Shape, "divisible by 2"),
    ("psum_scatter", "f32[4]", {**MEMBERS, "axis": 0, "tiled": False}, Shape, "divisible by 2"),
    ("all_to_all", "f32[3,2]", {**MEMBERS, "split": 0, "concat": 1}, Shape, "divisible by 2"),
]  # fmt: skip


def name_of(row) -> str:
    return f"{row[0]} {row[1]} {' '.join(f'{k}={v}' for k, v in row[2].items())}"[:70]


@pytest.mark.parametrize("row", GIVES, ids=name_of)
def test_what_comes_out(row):
    name, types, params, wanted = row
    assert result(name, types, params) == [parse(t) for t in wanted.split()]


@pytest.mark.parametrize("row", REFUSED, ids=name_of)
def test_what_is_refused(row):
    name, types, params, error, words = row
    with pytest.raises(error, match=re.escape(words)) as caught:
        result(name, types, params)
    assert type(caught.value) is error
