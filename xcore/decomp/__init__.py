"""Tensor decompositions as pytrees: canonical polyadic, Tucker and tensor-train formats.

>>> import xcore as xc, xcore.numpy as xnp
>>> from xcore import decomp
>>> cp = decomp.CP(None, (xnp.ones((3, 2)), xnp.ones((4, 2))))
>>> xc.jit(lambda cp, i: cp[i, 0])(cp, 2)
Array(2., dtype=float32)
"""

# ruff: noqa: I001 (names stand in lines, not one on each)

# fmt: off
from .._core.package import bound as _bound
from ._arls import cp_arls
from ._cp import CP, CanonicalTT, arrange, fix_signs, normalize
from ._fit import cp_als, cp_constrained, cp_nonneg
from ._formats import (
    factor_match_score, inner, load, norm, plot_factors, relative_error, save, to_tt, to_tucker,
)
from ._gauss_newton import cp_gauss_newton
from ._gradient import cp_gradient
from ._judge import (
    Degeneracy, RankScan, core_consistency, degeneracy, factor_uncertainty, scan_ranks,
)
from ._products import fold, khatri_rao, mode_product, mttkrp, multi_mode_product, unfold
from ._tt import TT
from ._tt_fit import round_tt, tt_cross, tt_svd
from ._tucker import Tucker, orthogonalize
from ._tucker_fit import (
    hooi, hosvd, round_tucker, st_hosvd, tucker_als, tucker_nonneg, tucker_random,
)
# fmt: on

__all__ = [
    "CP", "CanonicalTT", "Degeneracy", "RankScan", "TT", "Tucker", "arrange", "core_consistency", "cp_als", "cp_arls",
    "cp_constrained", "cp_gauss_newton", "cp_gradient", "cp_nonneg", "degeneracy", "factor_match_score",
    "factor_uncertainty", "fix_signs", "fold", "hooi", "hosvd", "inner", "khatri_rao", "load", "mode_dot",
    "mode_product", "mttkrp", "multi_mode_dot", "multi_mode_product", "norm", "normalize", "orthogonalize",
    "plot_factors", "relative_error", "round_tt", "round_tucker", "save", "scan_ranks", "st_hosvd", "to_tt",
    "to_tucker", "tt_cross", "tt_svd", "tucker_als", "tucker_nonneg", "tucker_random", "unfold",
]  # fmt: skip

mode_dot, multi_mode_dot = mode_product, multi_mode_product  # TensorLy's names

_bound(globals())
