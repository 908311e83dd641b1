"""Optimisation inside compiled programs: training, minimisation, least squares, roots."""

# ruff: noqa: I001 (names stand in lines, not one on each)

# fmt: off
from .._core.package import bound as _bound
from .._solution import Certificate
from . import prox
from ._adafactor import adafactor, scale_by_factored_rms
from ._alias import (
    adabelief, adadelta, adagrad, adam, adamax, adamw, amsgrad, lamb, lars, lion, nadam, nadamw,
    radam, rmsprop, sgd, sign_sgd, yogi,
)
from ._box import LBFGSB
from ._bracket import root_scalar
from ._clipping import (
    adaptive_grad_clip, add_noise, apply_if_finite, centralize, clip, clip_by_block_rms,
    clip_by_global_norm, keep_params_nonnegative, zero_nans,
)
from ._constrained import SQP, AugmentedLagrangian, minimize_constrained
from ._constraints import Constraints
from ._curve_fit import CurveFit, curve_fit
from ._descent import BFGS, LBFGS, Descent, Gradient, NonlinearCG
from ._fit import TrainState, fit
from ._global import differential_evolution, multistart
from ._least_squares import GaussNewtonCG, LevenbergMarquardt, TrustRegionReflective, least_squares
from ._line_search import Backtracking, Wolfe
from ._masking import add_decayed_weights, masked, partition
from ._minimize import minimize
from ._newton import NewtonCG, TrustRegion
from ._proximal import FISTA, proximal_gradient
from ._result import Result, Status
from ._root import Anderson, Broyden, Newton, NewtonKrylov, PowellHybrid, fixed_point, root
from ._saving import load, save
from ._scalar import Brent, minimize_scalar
from ._scaling import (
    ema, scale_by_adadelta, scale_by_adam, scale_by_adamax, scale_by_amsgrad, scale_by_belief,
    scale_by_lion, scale_by_radam, scale_by_rms, scale_by_rss,
    scale_by_stddev, scale_by_yogi, trace,
)
from ._schedules import (
    constant_schedule, cosine_decay_schedule, cosine_onecycle_schedule, exponential_decay,
    join_schedules, linear_onecycle_schedule, linear_schedule, piecewise_constant_schedule,
    piecewise_interpolate_schedule, polynomial_schedule, sgdr_schedule,
    warmup_constant_schedule, warmup_cosine_decay_schedule, warmup_exponential_decay_schedule,
)
from ._sizes import scale_by_param_block_rms, scale_by_sign, scale_by_trust_ratio
from ._sparse import SparseLevenbergMarquardt
from ._sparse_newton import SparseNewton
from ._transform import (
    GradientTransformation, apply_updates, chain, global_norm, identity, incremental_update,
    named_chain, scale, scale_by_learning_rate, scale_by_schedule, set_to_zero, stateless,
    stateless_with_tree_map, tree_add, tree_scale, tree_sub,
)
from ._wrappers import LookaheadParams, MultiSteps, inject_hyperparams, lookahead
# fmt: on

__all__ = [
    "adabelief", "adadelta", "adafactor", "adagrad", "adam", "adamax", "adamw", "adaptive_grad_clip",
    "add_decayed_weights", "add_noise", "amsgrad", "Anderson", "apply_if_finite", "apply_updates",
    "AugmentedLagrangian", "Backtracking", "BFGS", "Brent", "Broyden", "centralize", "Certificate", "chain", "clip",
    "clip_by_block_rms", "clip_by_global_norm", "constant_schedule", "Constraints", "cosine_decay_schedule",
    "cosine_onecycle_schedule", "curve_fit", "CurveFit", "Descent", "differential_evolution", "ema",
    "exponential_decay", "FISTA", "fit", "fixed_point", "GaussNewtonCG", "global_norm", "Gradient",
    "GradientTransformation", "identity", "incremental_update", "inject_hyperparams", "join_schedules",
    "keep_params_nonnegative", "lamb", "lars", "LBFGS", "LBFGSB", "least_squares", "LevenbergMarquardt",
    "linear_onecycle_schedule", "linear_schedule", "lion", "load", "lookahead", "LookaheadParams", "masked",
    "minimize", "minimize_constrained", "minimize_scalar", "multi_transform", "multistart", "MultiSteps", "nadam",
    "nadamw", "named_chain", "Newton", "NewtonCG", "NewtonKrylov", "NonlinearCG", "partition",
    "piecewise_constant_schedule", "piecewise_interpolate_schedule", "polynomial_schedule", "PowellHybrid", "prox",
    "proximal_gradient", "radam", "Result", "rmsprop", "root", "root_scalar", "save", "scale", "scale_by_adadelta",
    "scale_by_adam", "scale_by_adamax", "scale_by_amsgrad", "scale_by_belief", "scale_by_factored_rms",
    "scale_by_learning_rate", "scale_by_lion", "scale_by_param_block_rms", "scale_by_radam", "scale_by_rms",
    "scale_by_rss", "scale_by_schedule", "scale_by_sign", "scale_by_stddev", "scale_by_trust_ratio", "scale_by_yogi",
    "set_to_zero", "sgd", "sgdr_schedule", "sign_sgd", "SparseLevenbergMarquardt", "SparseNewton", "SQP", "stateless",
    "stateless_with_tree_map", "Status", "trace", "TrainState", "tree_add", "tree_scale", "tree_sub", "TrustRegion",
    "TrustRegionReflective", "warmup_constant_schedule", "warmup_cosine_decay_schedule",
    "warmup_exponential_decay_schedule", "Wolfe", "yogi", "zero_nans",
]  # fmt: skip

multi_transform = partition

_bound(
    globals(),
    {
        "minimize minimize_constrained minimize_scalar least_squares curve_fit root fixed_point proximal_gradient "
        "differential_evolution": {"rtol": "tol", "max_steps": "maxiter"},
        "root_scalar": {"rtol": "xtol", "tol": "xtol", "max_steps": "maxiter"},
    },
)
