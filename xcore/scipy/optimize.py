"""``scipy.optimize``: SciPy's names, arguments and results for the methods of ``xcore.optimize``.

Derivatives are computed, so ``jac``, ``fprime`` and what tunes finite differences may be left out. Tolerances of
values (``ftol``, ``fatol``) have no effect: what is judged is the error of x.
"""

from ._fits import curve_fit, differential_evolution, least_squares, minimize_scalar
from ._found import Found as OptimizeResult
from ._minima import OptimizeResults, fmin, minimize, rosen, rosen_der, rosen_hess, rosen_hess_prod
from ._names import guide as _guide
from ._roots import bisect, brentq, fixed_point, fsolve, newton, root, root_scalar, toms748

__all__ = [
    "OptimizeResult", "OptimizeResults", "bisect", "brentq", "curve_fit", "differential_evolution", "fixed_point",
    "fmin", "fsolve", "least_squares", "minimize", "minimize_scalar", "newton", "root", "root_scalar", "rosen",
    "rosen_der", "rosen_hess", "rosen_hess_prod", "toms748",
]  # fmt: skip

_ABSENT = {
    "linprog milp linear_sum_assignment quadratic_assignment linprog_verbose_callback":
        "Linear and integer programs are solved on the host, by SciPy's own: from scipy.optimize import linprog. For "
        "smooth convex ones there is xcore.optimize.minimize_constrained.",
    "basinhopping dual_annealing shgo brute direct":
        "Global searches here are differential_evolution and xcore.optimize.multistart.",
    "fmin_bfgs fmin_cg fmin_l_bfgs_b fmin_ncg fmin_tnc fmin_slsqp fmin_cobyla fmin_cobyqa fmin_powell":
        "Take minimize(fun, x0, method=...), of which these are older forms.",
    "golden brent fminbound bracket": "Take minimize_scalar, with bounds= for an interval.",
    "brenth ridder": "Take brentq, toms748 or bisect.",
    "broyden1 broyden2 anderson newton_krylov excitingmixing linearmixing diagbroyden":
        "Take root(fun, x0, method=...) with method='broyden1', 'anderson' or 'krylov'.",
    "leastsq": "Take least_squares, of which it is an older form.",
    "nnls": "Take least_squares(lambda x: A @ x - b, x0, bounds=(0, xnp.inf)).",
    "lsq_linear": "Take least_squares with bounds, or xcore.linalg.lstsq without.",
    "approx_fprime approx_derivative": "Derivatives are exact: xcore.grad(fun)(x), or xcore.jacfwd.",
    "check_grad": "Take xcore.testing.check_grads.",
    "BFGS SR1 HessianUpdateStrategy LbfgsInvHessProduct":
        "Hessians are computed; leave hess= out. The last inverse of BFGS is hess_inv of the result.",
    "show_options": "help(xcore.scipy.optimize.minimize) tells the options.",
}  # fmt: skip
__getattr__ = _guide(
    __name__, _ABSENT, "Bounds LinearConstraint NonlinearConstraint OptimizeWarning"
)
