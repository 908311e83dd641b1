"""Transformations, loops and rules of one's own, as users have them: what the folders above take."""

# fmt: off
from .._transforms.api import jvp, linear_transpose, linearize, vjp
from .._transforms.gradients import grad, value_and_grad
from .._transforms.jacobians import hessian, jacfwd
from .._transforms.map import vmap
from . import lowered_for
from .callback import pure_callback
from .closures import closure_convert, stop_gradient
from .cond import cond, platform_dependent, switch
from .custom import SymbolicZero, custom_jvp, custom_vjp
from .custom_batch import custom_vmap
from .implicit import custom_linear_solve, custom_root
from .jit import eval_shape, jit
from .linear_call import linear_call
from .loops import fori_loop, scan
from .while_loop import while_loop
# fmt: on
