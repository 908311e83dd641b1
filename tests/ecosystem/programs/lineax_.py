"""lineax: linear solves and least squares, their derivatives."""

import jax
import jax.numpy as jnp
import jax.random as jr
import lineax as lx

A = jnp.asarray([[4.0, 1.0, 0.5], [1.0, 3.0, -0.2], [0.5, -0.2, 2.0]])
B = jnp.asarray([1.0, -2.0, 0.3])


def first_example():
    matrix, vector = jr.normal(jr.PRNGKey(0), (4, 4)), jr.normal(jr.PRNGKey(1), (4,))
    return lx.linear_solve(lx.MatrixLinearOperator(matrix), vector).value


def by_solvers():
    definite = lx.MatrixLinearOperator(A, lx.positive_semidefinite_tag)
    plain = lx.MatrixLinearOperator(A)
    made = [
        (definite, lx.Cholesky()),
        (definite, lx.CG(rtol=1e-6, atol=1e-6)),
        (plain, lx.LU()),
        (plain, lx.QR()),
        (plain, lx.SVD()),
        (plain, lx.GMRES(rtol=1e-6, atol=1e-6)),
        (plain, lx.BiCGStab(rtol=1e-6, atol=1e-6)),
    ]
    return [lx.linear_solve(op, B, solver).value for op, solver in made]


def least_squares():
    tall = jr.normal(jr.PRNGKey(2), (6, 3))
    b = jnp.arange(6.0)
    return [
        lx.linear_solve(lx.MatrixLinearOperator(m), v, lx.AutoLinearSolver(well_posed=False)).value
        for m, v in [(tall, b), (tall.T, b[:3])]
    ]


def derivatives():
    def f(a, b, solver):
        return jnp.sum(lx.linear_solve(lx.MatrixLinearOperator(a), b, solver).value ** 2)

    g = jax.grad(f, (0, 1))(A, B, lx.LU())
    h = jax.jvp(lambda a: f(a, B, lx.QR()), (A,), (jnp.ones((3, 3)),))
    return g, h


def mapped():
    many = A + jnp.arange(3.0)[:, None, None] * jnp.eye(3)
    solve = lambda a: lx.linear_solve(lx.MatrixLinearOperator(a), B).value
    return jax.vmap(solve)(many), jax.jit(jax.vmap(jax.grad(lambda a: solve(a).sum())))(many)


def structured():
    diagonal = lx.DiagonalLinearOperator(jnp.asarray([1.0, 2.0, 4.0]))
    three = lx.TridiagonalLinearOperator(jnp.full(3, 4.0), jnp.ones(2), -jnp.ones(2))
    upper = lx.MatrixLinearOperator(jnp.triu(A), lx.upper_triangular_tag)
    return [lx.linear_solve(op, B).value for op in (diagonal, three, upper)], three.as_matrix()


def of_functions():
    struct = jax.ShapeDtypeStruct((3,), jnp.float32)
    op = lx.FunctionLinearOperator(lambda x: A @ x, struct, lx.positive_semidefinite_tag)
    out = lx.linear_solve(op, B, lx.CG(rtol=1e-6, atol=1e-6)).value
    jac = lx.JacobianLinearOperator(lambda x, _: jnp.sin(x) * x[0], B)
    return out, op.as_matrix(), jac.as_matrix(), jac.mv(jnp.ones(3)), jac.T.mv(jnp.ones(3))


def trees_and_compositions():
    block = lx.PyTreeLinearOperator(
        {
            "x": {"x": jnp.asarray(2.0), "y": jnp.asarray(1.0)},
            "y": {"x": jnp.asarray(0.5), "y": jnp.asarray(3.0)},
        },
        {"x": jax.ShapeDtypeStruct((), jnp.float32), "y": jax.ShapeDtypeStruct((), jnp.float32)},
    )
    out = lx.linear_solve(block, {"x": jnp.asarray(1.0), "y": jnp.asarray(2.0)}).value
    op = lx.MatrixLinearOperator(A)
    both = op @ op + 2.0 * lx.IdentityLinearOperator(jax.ShapeDtypeStruct((3,), jnp.float32))
    return out, both.mv(B), lx.materialise(both).as_matrix()


def singular_is_told():
    zero = lx.MatrixLinearOperator(jnp.zeros((2, 2)))
    found = lx.linear_solve(zero, jnp.ones(2), throw=False)
    return jnp.asarray(found.result != lx.RESULTS.successful)
