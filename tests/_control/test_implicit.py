"""Derivatives by the implicit function theorem, and linear calls with transposes of their own."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax
from xcore.custom_derivatives import linear_call
from xcore.testing import assert_close, check_grads

A = np.asarray([[3.0, 1.0, 0.5], [0.2, 2.5, -0.3], [0.1, 0.4, 2.0]])
S = A + A.T
B = np.asarray([0.3, -0.7, 1.1])


def jacobi(matvec, b, diagonal):
    """A solver nobody could differentiate in reverse: a loop until nothing changes."""

    def body(state):
        x, _, n = state
        new = x + (b - matvec(x)) / diagonal
        return new, xnp.abs(new - x).max(), n + 1

    x, _, n = lax.while_loop(lambda s: (s[1] > 1e-15) & (s[2] < 200), body, (b, b.max() + 1.0, 0))
    return x, n


def solve(a, b, **options):
    d = lax.stop_gradient(xnp.diagonal(a))

    def forward(matvec, b):
        return jacobi(matvec, b, d)[0]

    return lax.custom_linear_solve(lambda x: a @ x, b, forward, forward, **options)


def solve_symmetric(a, b):
    d = lax.stop_gradient(xnp.diagonal(a))
    return lax.custom_linear_solve(
        lambda x: a @ x, b, lambda matvec, b: jacobi(matvec, b, d), symmetric=True, has_aux=True
    )[0]


solvers = pytest.mark.parametrize(
    ("solve", "a"), [(solve, A), (solve_symmetric, S)], ids=["general", "symmetric"]
)


@solvers
def test_values(solve, a):
    assert_close(solve(a, B), np.linalg.solve(a, B))
    assert_close(xc.jit(solve)(a, B), np.linalg.solve(a, B))


def sensitivities(a, b, c):
    """The gradient of c·x for a x = b: db = a⁻ᵀ c, da = -db xᵀ."""
    db = np.linalg.solve(a.T, c)
    return -np.outer(db, np.linalg.solve(a, b)), db


@solvers
def test_first_derivatives_against_the_closed_form(solve, a):
    c = np.asarray([1.0, 2.0, -1.0])
    gradient = xc.grad(lambda a, b: c @ solve(a, b), argnums=(0, 1))
    for f in (gradient, xc.jit(gradient)):
        assert_close(f(a, B), sensitivities(a, B, c))


@solvers
def test_numeric_derivatives(solve, a):
    order = 2 if solve is solve_symmetric else 1
    check_grads(xc.jit(lambda a, b: xnp.sin(solve(a, b))), (a, B), order=order)


def test_third_derivative():
    """x(t) = 1/t as a solve with the matrix t."""

    def inverse(t):
        return lax.custom_linear_solve(
            lambda x: t * x,
            1.0,
            lambda matvec, b: b / matvec(1.0),
            lambda vecmat, b: b / vecmat(1.0),
        )

    f = inverse
    for order, wanted in enumerate([1 / 2, -1 / 4, 2 / 8, -6 / 16]):
        assert_close(f(np.float64(2.0)), wanted, rtol=1e-6)
        f = xc.grad(f) if order % 2 else xc.jacfwd(f)


@solvers
def test_vmap_over_right_hand_sides_matrices_and_both(solve, a):
    bs = np.stack([B, 2 * B, B[::-1]])
    As = np.stack([a, a + np.eye(3), 2 * a])
    assert_close(xc.vmap(solve, in_axes=(None, 0))(a, bs), np.linalg.solve(a, bs.T).T)
    assert_close(
        xc.vmap(solve, in_axes=(0, None))(As, B), np.stack([np.linalg.solve(m, B) for m in As])
    )
    both = xc.jit(xc.vmap(xc.grad(lambda a, b: solve(a, b).sum(), argnums=(0, 1))))(As, bs)
    wanted = [sensitivities(m, b, np.ones(3)) for m, b in zip(As, bs, strict=True)]
    assert_close(both, tuple(map(np.stack, zip(*wanted, strict=True))))


def test_gradient_of_a_vmapped_solve_sums_over_lanes():
    bs = np.stack([B, 2 * B, B[::-1]])
    found = xc.grad(lambda a: xc.vmap(solve, in_axes=(None, 0))(a, bs).sum())(A)
    assert_close(found, sum(sensitivities(A, b, np.ones(3))[0] for b in bs))


def test_transpose_of_a_solve():
    (found,) = xc.linear_transpose(lambda b: solve(A, b), B)(B)
    assert_close(found, np.linalg.solve(A.T, B))
    (twice,) = xc.linear_transpose(
        lambda c: xc.linear_transpose(lambda b: solve(A, b), B)(c)[0], B
    )(B)
    assert_close(twice, np.linalg.solve(A, B))


def test_trees_and_auxiliary_results():
    """[[0, p], [q, 0]] (u, v) = b, a system of two blocks."""

    def f(p, q, b):
        def matvec(x):
            return {"u": p * x["v"], "v": q * x["u"]}

        def inverse(matvec, b):
            return {"u": b["v"] / q, "v": b["u"] / p}, {"trips": 3, "size": b["u"] * 2}

        def transposed(vecmat, b):
            assert vecmat(b)["u"].shape == b["u"].shape
            return {"u": b["v"] / p, "v": b["u"] / q}, {"trips": 4, "size": b["u"]}

        return lax.custom_linear_solve(matvec, b, inverse, transposed, has_aux=True)

    b = {"u": np.ones(2) * 6, "v": np.ones(2) * 8}
    x, aux = f(2.0, 4.0, b)
    assert_close((x, aux), ({"u": [2.0, 2.0], "v": [3.0, 3.0]}, {"trips": 3, "size": [12.0, 12.0]}))
    p, q = np.full(2, 2.0), np.full(2, 4.0)
    found = xc.grad(lambda p, q: (lambda x: (x["u"] + 10 * x["v"]).sum())(f(p, q, b)[0]), (0, 1))(
        p, q
    )
    assert_close(found, (-10 * b["u"] / p**2, -b["v"] / q**2))
    aux_slope = xc.grad(lambda b: f(p, q, b)[1]["size"].sum())(b)
    assert_close(aux_slope, {"u": np.zeros(2), "v": np.zeros(2)})
    assert_close(
        xc.vmap(lambda b: f(p, q, b))({"u": b["u"][None], "v": b["v"][None]})[1]["trips"], [3]
    )


def test_forward_mode_needs_no_transposed_solver():
    def f(t):
        return lax.custom_linear_solve(lambda x: t * x, 1.0, lambda mv, b: b / mv(1.0))

    assert_close(xc.jacfwd(f)(2.0), -0.25)
    with pytest.raises(NotImplementedError, match="Give transpose_solve, or symmetric=True"):
        xc.grad(f)(2.0)


def test_what_only_the_solver_uses_has_no_derivative():
    def f(hint):
        return lax.custom_linear_solve(
            lambda x: 2.0 * x, 1.0, lambda mv, b: b / 2.0 + 0 * hint, symmetric=True
        )

    assert float(xc.grad(f)(3.0)) == 0.0
    assert_close(xc.jvp(f, (3.0,), (1.0,)), (0.5, 0.0))


# Roots


def newton(f, x):
    return lax.while_loop(
        lambda s: (xnp.abs(f(s[0])) > 1e-14) & (s[1] < 50),
        lambda s: (s[0] - f(s[0]) / xc.grad(f)(s[0]), s[1] + 1),
        (x, 0),
    )


def cube_root(a, start=1.0):
    def solver(f, x):
        return newton(f, x)[0]

    return lax.custom_root(lambda x: x**3 - a, start, solver, lambda g, y: y / g(1.0))


def test_a_root_and_its_derivatives_against_the_closed_form():
    f, wanted = cube_root, [2.0, 8 ** (-2 / 3) / 3, -2 * 8 ** (-5 / 3) / 9, 10 * 8 ** (-8 / 3) / 27]
    for order, value in enumerate(wanted):
        assert_close(f(np.float64(8.0)), value, rtol=1e-12)
        assert_close(xc.jit(f)(np.float64(8.0)), value, rtol=1e-12)
        f = xc.jacfwd(f) if order % 2 else xc.grad(f)


def test_numeric_derivatives_of_a_root():
    check_grads(xc.jit(cube_root), (np.float64(5.0),), order=2)


def test_the_starting_point_has_no_derivative():
    assert float(xc.grad(cube_root, argnums=1)(np.float64(8.0), np.float64(1.5))) == 0.0


def test_the_starting_point_of_several_unknowns_has_no_derivative():
    def tangent_solve(g, y):
        return xc.tree.map(lambda v: v / 2, y)

    def root(start):
        f = lambda x: {"a": 2 * x["a"] - 2, "b": 2 * x["b"] - 6}
        solver = lambda f, x: xc.tree.map(lambda v, r: v - r / 2, x, f(x))
        return lax.custom_root(f, start, solver, tangent_solve)

    start = {"a": np.float64(5.0), "b": np.float64(7.0)}
    found, slopes = xc.jvp(root, (start,), (start,))
    assert (float(found["a"]), float(found["b"])) == (1.0, 3.0)
    assert (float(slopes["a"]), float(slopes["b"])) == (0.0, 0.0)


def test_vmap_of_a_root():
    a = np.asarray([1.0, 8.0, 27.0])
    assert_close(xc.vmap(cube_root)(a), [1.0, 2.0, 3.0])
    assert_close(xc.jit(xc.vmap(xc.grad(cube_root)))(a), np.asarray([1.0, 2.0, 3.0]) ** -2 / 3)
    starts = xc.vmap(cube_root, in_axes=(None, 0))(np.float64(8.0), np.asarray([1.0, 5.0]))
    assert_close(starts, [2.0, 2.0])


def test_a_system_of_equations():
    """x + 0.1 sin(A x) = p by fixed-point iteration."""

    def root(a, p):
        def f(x):
            return x["x"] + 0.1 * xnp.sin(a @ x["x"]) - p

        def iterate(f, x):
            return lax.fori_loop(0, 80, lambda i, x: {"x": x["x"] - f(x)["x"]}, x), {"n": 80}

        def tangent(g, y):
            columns = xc.vmap(lambda e: g({"x": e})["x"], out_axes=1)(xnp.eye(3, dtype="float64"))
            inverse = lax.stop_gradient(xnp.eye(3, dtype="float64"))
            inverse = lax.fori_loop(0, 30, lambda i, m: 2 * m - m @ columns @ m, inverse)
            return {"x": inverse @ y["x"]}

        return lax.custom_root(lambda x: {"x": f(x)}, {"x": p}, iterate, tangent, has_aux=True)

    x, aux = root(A, B)
    x = np.asarray(x["x"])
    assert aux["n"] == 80
    assert_close(x + 0.1 * np.sin(A @ x), B)
    check_grads(xc.jit(lambda a, p: root(a, p)[0]), (A, B), order=2)
    # the closed form: x' = (1 + 0.1 cos(A x) A)⁻¹ p'
    slope = np.linalg.inv(np.eye(3) + 0.1 * np.cos(A @ x)[:, None] * A)
    assert_close(xc.jacrev(lambda p: root(A, p)[0]["x"])(B), slope, rtol=1e-12)


def chain(p, q, r):
    """x = p, y = q x², z = x y + r: each number stands in one equation of three."""

    def equations(v):
        x, y, z = v
        return x - p, y - q * x**2, z - x * y - r

    def solver(f, v):
        for _ in range(3):  # triangular: each round solves one equation more
            v = tuple(a - b for a, b in zip(v, f(v), strict=True))
        return v, {"rounds": 3}

    def tangent(g, y):
        v = tuple(xnp.zeros_like(a) for a in y)
        for _ in range(3):
            v = tuple(a - (b - c) for a, b, c in zip(v, g(v), y, strict=True))
        return v

    start = tuple(map(xnp.asarray, (0.0, 0.0, 0.0)))
    return lax.custom_root(equations, start, solver, tangent, has_aux=True)[0]


def triangular(a, b, c, r):
    """The same of a linear system: x = b, y = a x + c, z = y + r, with a result beside them."""

    def matvec(v):
        x, y, z = v
        return x, y - a * x, z - y

    def forward(_, v):
        x, y = v[0], v[1] + a * v[0]
        return (x, y, v[2] + y), {"rounds": 1}

    def backward(_, v):
        y = v[1] + v[2]
        return (v[0] + a * y, y, v[2]), {"rounds": 1}

    return lax.custom_linear_solve(matvec, (b, c, r), forward, backward, has_aux=True)[0]


SYSTEMS = {
    "root": (chain, (2.0, 3.0, 0.5), lambda p, q, r: (p, q * p**2, q * p**3 + r),
             lambda p, q, r: [[1, 0, 0], [2 * q * p, p**2, 0], [3 * q * p**2, p**3, 1]]),
    "linear": (triangular, (2.0, 3.0, 0.5, -1.0), lambda a, b, c, r: (b, a * b + c, a * b + c + r),
               lambda a, b, c, r: [[0, 1, 0, 0], [b, a, 1, 0], [b, a, 1, 1]]),
}  # fmt: skip


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_number_that_stands_in_one_equation_of_several(name):
    """Derivatives in each number alone, and in each result alone; in lanes of each number alone."""
    f, at, wanted, slopes = SYSTEMS[name]
    at = tuple(map(np.float64, at))
    jacobian = np.asarray(slopes(*at), float)
    assert_close(f(*at), wanted(*at))
    for i in range(len(at)):
        one = lambda v, i=i: f(*at[:i], v, *at[i + 1 :])
        assert_close(
            xc.jit(lambda v, one=one: xc.jvp(one, (v,), (2.0,))[1])(at[i]),
            tuple(2 * jacobian[:, i]),
        )
        found = xc.jit(xc.jacrev(one))(at[i])
        assert_close(found, tuple(jacobian[:, i]))
        lanes = np.stack([at[i], at[i] + 1])
        moved = [wanted(*at[:i], v, *at[i + 1 :]) for v in lanes]
        assert_close(xc.vmap(one)(lanes), tuple(np.stack(z) for z in zip(*moved, strict=True)))
    for k in range(3):
        found = xc.jit(xc.grad(lambda *a, k=k: f(*a)[k], argnums=tuple(range(len(at)))))(*at)
        assert_close(found, tuple(jacobian[k]))


def test_a_root_of_equations_with_a_scan_inside():
    """Forward, backward (through the transpose of the scan) and by differences."""

    def root(p):
        def f(x):
            s, ys = lax.scan(lambda c, v: (c * 0.5 + 0.1 * xnp.sin(v), c * v), 0.1 * x.sum(), x)
            return x + 0.1 * ys + 0.1 * s - p

        def tangent(g, y):
            return xnp.linalg.solve(xc.vmap(g, out_axes=1)(xnp.eye(3, dtype="float64")), y)

        return lax.custom_root(
            f, p, lambda f, x: lax.fori_loop(0, 60, lambda i, x: x - f(x), x), tangent
        )

    forward = np.asarray(xc.jit(xc.jacfwd(root))(B))
    assert_close(xc.jit(xc.jacrev(root))(B), forward, rtol=1e-12)
    steps = 1e-6 * np.eye(3)
    differences = [(np.asarray(root(B + h)) - np.asarray(root(B - h))) / 2e-6 for h in steps]
    np.testing.assert_allclose(forward, np.stack(differences, 1), atol=1e-8)


def test_a_number_whose_changes_do_not_reach_the_equations():
    def f(p):
        still = lax.stop_gradient(p), xnp.floor(p)
        equations = lambda v: tuple(a - b for a, b in zip(v, still, strict=True))
        take = lambda f, v: tuple(a - b for a, b in zip(v, f(v), strict=True))
        start = xnp.zeros_like(p), xnp.zeros_like(p)
        return lax.custom_root(equations, start, take, lambda g, y: y)

    p = np.float64(2.5)
    for transform in (lambda f: f, xc.jit):
        value, tangent = transform(lambda p: xc.jvp(f, (p,), (1.0,)))(p)
        assert_close(value, (2.5, 2.0))
        assert_close(tangent, (0.0, 0.0))
        assert transform(xc.grad(lambda p: sum(f(p))))(p) == 0.0


def test_changes_that_end_inside_of_several_equations():
    def still_root(p):
        equations = lambda v: (v[0] - lax.stop_gradient(p), 2 * v[1] - lax.stop_gradient(p))
        take = lambda f, v: (v[0] - f(v)[0], v[1] - f(v)[1] / 2)
        return lax.custom_root(equations, (0.0 * p, 0.0 * p), take, lambda g, y: (y[0], y[1] / 2))

    def still_solve(p):
        matvec = lambda v: tuple(lax.stop_gradient(p) * x for x in v)
        divide = lambda _, b: tuple(x / lax.stop_gradient(p) for x in b)
        return lax.custom_linear_solve(matvec, (np.float64(4.0), np.float64(2.0)), divide, divide)

    p = np.float64(2.0)
    for f in (still_root, still_solve):
        value, tangent = xc.jvp(f, (p,), (np.float64(1.0),))
        assert_close(value, (2.0, 1.0))
        assert_close(tangent, (0.0, 0.0))


def test_a_solution_is_not_linear_in_its_matrix():
    b, c, r = map(np.float64, (3.0, 0.5, -1.0))
    for f, args in [
        (lambda a: triangular(a, b, c, r), (2.0,)),
        (lambda a, b: triangular(a, b, c, r), (2.0, 3.0)),
        (lambda a: solve(a * np.eye(3) + A, B), (2.0,)),
    ]:
        with pytest.raises(xc.errors.MissingRuleError, match="not linear in its matrix"):
            xc.linear_transpose(f, *map(np.float64, args))(f(*map(np.float64, args)))


# Linear calls


def halves(r, x):
    return linear_call(lambda r, x: {"y": x / r}, lambda r, ct: ct["y"] / r, r, x)["y"]


def test_linear_call_is_transposed_by_its_own_function():
    seen = []

    def transposed(r, ct):
        seen.append("transposed")
        return ct * r * 100

    def f(x):
        return linear_call(lambda r, x: x * r, transposed, 3.0, x)

    assert float(f(2.0)) == 6.0
    assert float(xc.grad(f)(2.0)) == 300.0
    assert float(xc.jvp(f, (2.0,), (1.0,))[1]) == 3.0
    back = xc.linear_transpose(lambda ct: xc.linear_transpose(f, 2.0)(ct)[0], 1.0)
    assert float(back(1.0)[0]) == 3.0
    assert seen


def test_linear_call_in_derivatives_of_residuals():
    check_grads(xc.jit(halves), (np.float64(2.0), np.float64(3.0)), order=2)
    check_grads(xc.jit(lambda r: halves(r, r**2)), (np.float64(2.0),), order=2)


def test_vmap_of_linear_call():
    x = np.asarray([2.0, 4.0])
    two, eight = np.float64(2.0), np.float64(8.0)
    assert_close(xc.vmap(halves, in_axes=(None, 0))(two, x), x / 2)
    assert_close(xc.vmap(halves, in_axes=(0, None))(x, eight), 8 / x)
    shared = xc.grad(lambda y: xc.vmap(halves, in_axes=(0, None))(x, y).sum())
    assert_close(shared(eight), (1 / x).sum())
    assert_close(xc.jit(xc.vmap(xc.grad(halves)))(x, x), -1 / x)


# Errors

ERRORS = {
    "matvec of another shape": (
        lambda: lax.custom_linear_solve(lambda x: x[:2], B, lambda mv, b: b),
        TypeError, r"the result of matvec is float64\[2\], but need float64\[3\]",
    ),
    "solve of another structure": (
        lambda: lax.custom_linear_solve(lambda x: x, {"a": B}, lambda mv, b: b["a"]),
        ValueError, "the result of solve: trees do not match",
    ),
    "no pair with has_aux": (
        lambda: lax.custom_linear_solve(lambda x: x, B, lambda mv, b: b, has_aux=True),
        TypeError, r"with has_aux=True, solve must return a pair \(solution, aux\)",
    ),
    "f of another dtype": (
        lambda: lax.custom_root(lambda x: x.astype("float32"), B, lambda f, x: x, lambda g, y: y),
        TypeError, r"the result of f is float32\[3\], but need float64\[3\]",
    ),
    "tangent_solve of another shape": (
        lambda: lax.custom_root(lambda x: x, B, lambda f, x: x, lambda g, y: y[0]),
        TypeError, "the result of tangent_solve is",
    ),
    "guess that is no array": (
        lambda: lax.custom_root(lambda x: x, "text", lambda f, x: x, lambda g, y: y),
        TypeError, "custom_root",
    ),
    "transpose of another structure": (
        lambda: linear_call(lambda r, x: x, lambda r, ct: (ct, ct), (), 1.0),
        ValueError, "the result of fun_transpose: trees do not match",
    ),
    "transpose of another shape": (
        lambda: linear_call(lambda r, x: x.sum(), lambda r, ct: ct, (), B),
        TypeError, r"the result of fun_transpose is float64\[\], but need float64\[3\]",
    ),
    "linear in residuals": (
        lambda: xc.linear_transpose(lambda r: linear_call(lambda r, x: x * r, lambda r, ct: ct * r, r, 1.0), 2.0)(1.0),
        NotImplementedError, "not linear in its residuals",
    ),
    "linear in the matrix": (
        lambda: xc.linear_transpose(lambda a: solve(a, B), A)(B),
        NotImplementedError,
        "It is not linear in its matrix",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "text"), ERRORS.values(), ids=ERRORS)
def test_errors_say_what_is_wrong(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_a_linear_call_is_not_linear_in_what_it_keeps():
    f = lambda r, x: linear_call(lambda r, x: x * r[0] * r[1], lambda r, ct: ct * r[0] * r[1], r, x)
    for g in (lambda a: f((a, 2.0), 3.0), lambda a, x: f((2.0, a), x), lambda a, b: f((a, b), 3.0)):
        count = g.__code__.co_argcount
        with pytest.raises(xc.errors.MissingRuleError):
            xc.linear_transpose(g, *[1.5] * count)(1.0)


HELD = {  # what makes a NaN inside of an operation that holds a program
    "linear_call": lambda x: linear_call(lambda r, x: xnp.log(r * x), lambda r, y: r * y, xnp.arange(1.0, 4.0), x),
    "custom_linear_solve": lambda x: lax.custom_linear_solve(
        lambda v: 2 * v, x, solve=lambda _, b: xnp.sqrt(b) / 2, symmetric=True
    ),
    "custom_root": lambda x: lax.custom_root(
        lambda y: y * y - x, x, lambda f, start: xnp.log(start), lambda f, b: b / f(xnp.ones_like(b))
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize("compile", [lambda f: f, xc.jit])
def test_the_operation_inside_that_made_a_nan_is_named(name, compile):
    with xc.config.override(debug_nans=True), pytest.raises(FloatingPointError, match=r"operation (log|sqrt)"):  # fmt: skip
        compile(HELD[name])(xnp.asarray([-1.0, -2.0, -3.0]))
