"""First-order operations. ``from xcore import _ops as ops`` gives them all by name."""

# ruff: noqa: I001 (names stand in lines, not one on each)

# fmt: off
from . import plane  # completes the lowerings of elementwise and transcendental operations
from .coalescing import coupled
from .condensed import hessenberg, tridiagonal
from .conv import conv, groups_of_the_batch
from .cumulative import cumlogsumexp, cummax, cummin, cumprod, cumsum
from .dot import dot_general, precision_name
from .elementwise import *  # noqa: F403
from .factor import (
    cholesky, exchange_rows, lu, lu_pivots_to_permutation, solve_with, triangular_solve,
    tridiagonal_solve,
)
from .families import (
    add, broadcast, broadcast_in_dim, constant, elementwise, full_like_type, linear_op, ones,
    reduce_sum, zeros,
)
from .fft import fft
from .identity import name_op, optimization_barrier, stop_gradient
from .layout import concatenate, iota, move_axis, pad, reshape, rev, slice, slice_along, transpose
from .matrices import adjoint, conjugate, diagonal, matmul, part, swapped
from .orthogonal import geqrf, householder_product, qr
from .reduce import (
    argmax, argmin, reduce_and, reduce_max, reduce_min, reduce_or, reduce_prod, reduce_xor,
)
from .sharding import spread_along
from .slicing import (
    GatherDims, ScatterDims, dynamic_slice, dynamic_update_slice, fill_value_of, gather,
    scatter,
)
from .sort import sort, take_along, top_k
from .spectral import beyond, eig, eig_of_any_scale, eigh, schur, svd
from .transcendental import *  # noqa: F403
from .trigonometric import trig
# fmt: on
