"""jaxopt: solvers, implicit derivatives, projections."""

import jax
import jax.numpy as jnp
import jaxopt

A = jnp.asarray([[2.0, 1.0], [1.0, 3.0], [0.5, -1.0]])
B = jnp.asarray([1.0, 2.0, 0.3])


def _ridge(w, l2=0.1):
    return 0.5 * jnp.sum((A @ w - B) ** 2) + 0.5 * l2 * jnp.sum(w**2)


def first_example():
    solver = jaxopt.LBFGS(fun=_ridge, maxiter=50)
    return solver.run(jnp.zeros(2), l2=0.1).params


def implicit_jacobian():
    @jaxopt.implicit_diff.custom_root(jax.grad(_ridge))
    def solve(init, l2):
        return jnp.linalg.solve(A.T @ A + l2 * jnp.eye(2), A.T @ B)

    return jax.jacobian(solve, argnums=1)(None, 10.0)


def gradient_methods():
    made = [
        jaxopt.GradientDescent(_ridge, maxiter=60, stepsize=0.05),
        jaxopt.NonlinearCG(_ridge, maxiter=20),
        jaxopt.BFGS(_ridge, maxiter=20),
        jaxopt.ArmijoSGD(_ridge, maxiter=30),
    ]
    return [s.run(jnp.zeros(2)).params for s in made]


def proximal_and_projected():
    lasso = jaxopt.ProximalGradient(
        lambda w: 0.5 * jnp.sum((A @ w - B) ** 2), jaxopt.prox.prox_lasso, maxiter=100
    )
    box = jaxopt.ProjectedGradient(_ridge, jaxopt.projection.projection_box, maxiter=100)
    return lasso.run(jnp.zeros(2), hyperparams_prox=0.5).params, box.run(
        jnp.zeros(2), hyperparams_proj=(0.0, 0.4)
    ).params


def least_squares():
    f = lambda w: A @ jnp.tanh(w) - B
    return [
        s.run(jnp.zeros(2)).params
        for s in (jaxopt.GaussNewton(f, maxiter=10), jaxopt.LevenbergMarquardt(f))
    ]


def roots_and_fixed_points():
    bis = jaxopt.Bisection(lambda x, a: x**3 - a, 0.0, 3.0)
    fixed = jaxopt.FixedPointIteration(lambda x, a: jnp.cos(x) * a, maxiter=200, tol=1e-6)
    anderson = jaxopt.AndersonAcceleration(lambda x, a: jnp.cos(x) * a, maxiter=50, tol=1e-6)
    g = jax.grad(lambda a: bis.run(None, a).params)(2.0)
    return (
        bis.run(None, 2.0).params,
        g,
        fixed.run(jnp.asarray(0.5), 0.9).params,
        anderson.run(jnp.ones(1), 0.9).params,
    )


def projections():
    x = jnp.asarray([0.3, 2.0, -0.7])
    p = jaxopt.projection
    return (
        p.projection_simplex(x),
        p.projection_l1_ball(x),
        p.projection_l2_ball(x),
        p.projection_non_negative(x),
        p.projection_hyperplane(x, (jnp.ones(3), 1.0)),
        jax.jacobian(p.projection_simplex)(x),
    )


def quadratic_programs():
    q, c = jnp.asarray([[4.0, 1.0], [1.0, 2.0]]), jnp.asarray([1.0, 1.0])
    eq = jaxopt.EqualityConstrainedQP()
    out = eq.run(params_obj=(q, c), params_eq=(jnp.ones((1, 2)), jnp.ones(1))).params.primal
    osqp = jaxopt.OSQP(maxiter=500, tol=1e-5)
    other = osqp.run(
        params_obj=(q, c),
        params_eq=(jnp.ones((1, 2)), jnp.ones(1)),
        params_ineq=(-jnp.eye(2), jnp.zeros(2)),
    ).params.primal
    return out, jnp.round(other, 3)


def scipy_and_optax():
    import optax

    one = jaxopt.ScipyMinimize(fun=_ridge, method="L-BFGS-B").run(jnp.zeros(2)).params
    two = jaxopt.OptaxSolver(_ridge, optax.adam(0.1), maxiter=30).run(jnp.zeros(2)).params
    return jnp.round(one, 3), two


def losses_and_objectives():
    logits = jnp.asarray([0.5, -1.0, 2.0])
    return (
        jaxopt.loss.multiclass_logistic_loss(1, logits),
        jaxopt.loss.binary_logistic_loss(1, 0.3),
        jaxopt.objective.least_squares(jnp.ones(2), (A, B)),
        jax.grad(jaxopt.objective.ridge_regression)(jnp.ones(2), 0.1, (A, B)),
        jaxopt.loss.multiclass_sparsemax_loss(0, logits),
    )
