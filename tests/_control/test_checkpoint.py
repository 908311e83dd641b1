"""Recomputation: same derivatives, fewer values kept, in fact less memory."""

import functools

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax
from xcore.ad_checkpoint import checkpoint_name
from xcore.testing import assert_close, check_grads

POLICIES = xc.checkpoint_policies
X = np.asarray([0.3, 0.7, -0.4])
W = np.random.default_rng(0).standard_normal((3, 3))


def layer(w, x):
    h = checkpoint_name(xnp.sin(w @ x), "hidden")
    return xnp.tanh(checkpoint_name(xc.jit(xnp.cos)(h), "inner") * x)


ALL = {
    "none": None,
    "everything": POLICIES.everything_saveable,
    "nothing": POLICIES.nothing_saveable,
    "dots": POLICIES.dots_saveable,
    "dots without batch": POLICIES.dots_with_no_batch_dims_saveable,
    "these names": POLICIES.save_only_these_names("hidden"),
    "other names": POLICIES.save_any_names_but_these("hidden"),
    "all but names": POLICIES.save_anything_except_these_names("hidden", "inner"),
    "either": POLICIES.save_from_both_policies(
        POLICIES.save_only_these_names("inner"), POLICIES.dots_saveable
    ),
    "own": lambda op, *types, **params: op.name == "sin" and types[0].shape == (3,),
}
policies = pytest.mark.parametrize("policy", ALL.values(), ids=ALL)


def residual_ops(f, *args):
    """What the linear part of a function keeps: names of operations, and ``argument``."""
    names = set()
    program = xc.make_jaxpr(lambda *a: xc.vjp(f, *a))(*args)
    made = {v: e.op.name for e in program.eqns for v in e.outputs}
    for out in program.outputs[1:]:
        names.add(made.get(out, "argument"))
    return names


# Derivatives


@policies
def test_derivatives_are_the_same(policy):
    checkpointed = xc.checkpoint(layer, policy=policy)

    def everything(g):
        def f(w, x):
            return (g(w, x) * X).sum()

        def along(w, x):
            return (xc.grad(f, 1)(w, x) * X).sum()

        return lambda w, x: (f(w, x), xc.grad(f, (0, 1))(w, x), xc.grad(along, (0, 1))(w, x))

    plain, found = xc.jit(lambda w, x: [everything(g)(w, x) for g in (layer, checkpointed)])(W, X)
    assert_close(found, plain)


def test_forward_mode_lanes_and_eager_calls():
    f = xc.checkpoint(layer, policy=POLICIES.save_only_these_names("hidden"))
    xs = np.stack([X, -X])
    for g in (lambda f: xc.vmap(xc.jacrev(f, 1), (None, 0))(W, xs), lambda f: xc.hessian(f)(W, X)):
        found, wanted = xc.jit(lambda g=g: (g(f), g(layer)))()
        assert_close(found, wanted)
    assert_close(xc.grad(lambda x: f(W, x).sum())(X), xc.grad(lambda x: layer(W, x).sum())(X))


def test_numeric_derivatives():
    check_grads(xc.checkpoint(layer), (W, X), order=2)


def test_third_derivative():
    def f(x):
        return xnp.sin(xnp.sin(x) * x)

    d, e = xc.checkpoint(f), f
    for _ in range(3):
        d, e = xc.grad(d), xc.grad(e)
    assert_close(*xc.jit(lambda x: (d(x), e(x)))(np.float64(0.7)))


def test_inside_of_loops_and_branches():
    step = xc.checkpoint(layer, prevent_cse=False)

    def loop(step, w):
        return lax.scan(lambda x, _: (step(w, x), x.sum()), X, None, length=4)[0].sum()

    def branch(step, w):
        return lax.cond(w[0, 0] > 0, step, lambda w, x: x, w, X).sum()

    for f in (loop, branch):
        found = xc.jit(xc.grad(functools.partial(f, step)))(W)
        assert_close(found, xc.jit(xc.grad(functools.partial(f, layer)))(W), rtol=1e-13)


def test_custom_rules_inside():
    @xc.custom_vjp
    def double(x):
        return 2 * x

    double.defvjp(lambda x: (double(x), None), lambda _, g: (g * 100,))
    for policy in (None, POLICIES.everything_saveable):
        f = xc.checkpoint(lambda x: double(xnp.sin(x)), policy=policy)
        assert_close(xc.grad(f)(0.5), 100 * np.cos(np.float32(0.5)))
        assert_close(xc.jit(xc.grad(f))(0.5), 100 * np.cos(np.float32(0.5)))


def test_call_forms():
    @functools.partial(xc.remat, static_argnums=(1,))
    def power(x, n, *, scale=1.0):
        return scale * x**n if n > 2 else x

    assert_close(xc.grad(power)(2.0, 3, scale=10.0), 120.0)
    assert_close(xc.grad(power)(2.0, 2), 1.0)

    @xc.checkpoint(policy=POLICIES.nothing_saveable)
    def tree(p):
        return {"y": p["a"] * 2, "n": 1}

    assert tree.__name__ == "tree"
    assert_close(tree({"a": 3.0}), {"y": 6.0, "n": 1})
    with xc.disable_jit():
        assert_close(tree({"a": 3.0}), {"y": 6.0, "n": 1})
    assert tree({"a": 3.0})["y"].weak_type  # as without checkpoint


def test_closures():
    def f(x, y):
        return xc.checkpoint(lambda x: xnp.sin(x * y))(x)

    assert_close(xc.grad(f, argnums=1)(2.0, 3.0), 2 * np.cos(np.float32(6.0)), rtol=1e-6)
    assert_close(xc.vmap(f)(X, X), np.sin(X * X))


# What is kept


def test_arguments_alone_are_kept_without_a_policy():
    f = xc.checkpoint(lambda x: xnp.sin(xnp.sin(xnp.sin(x))))
    assert residual_ops(f, X) == {"argument"}
    assert residual_ops(lambda x: xnp.sin(xnp.sin(x)), X) != {"argument"}


def forward_outputs(policy):
    """What a checkpointed layer computes forward, beside its result: the operations that make it."""
    f = xc.checkpoint(layer, policy=policy)
    program = xc.make_jaxpr(lambda w, x: xc.vjp(f, w, x)[0])(W, X)
    (e,) = [e for e in program.eqns if e.op.name == "checkpoint"]
    inner = e.params["program"]
    made = {v: (q.op.name, q.params.get("name")) for q in inner.eqns for v in q.outputs}
    return [made[v] for v in inner.outputs[1:]]


WANTED = {
    "none": [],
    "nothing": [],
    "these names": [("name", "hidden")],
    "other names": [("name", "inner")],
    "own": [("sin", None)],
    "dots": [("dot_general", None)],
    "either": [("dot_general", None), ("name", "inner")],
}


@pytest.mark.parametrize("name", WANTED)
def test_policies_choose_what_is_kept(name):
    """Whatever of it the tangents need: a kept value whose use is covered by another is dropped."""
    assert forward_outputs(ALL[name]) == WANTED[name]


def test_names_inside_of_jitted_functions_are_kept(capsys):
    inner = xc.jit(lambda x: checkpoint_name(xnp.sin(x), "a") * x)
    for policy, lines in ((POLICIES.save_only_these_names("a"), 2), (POLICIES.nothing_saveable, 1)):
        f = xc.checkpoint(lambda x: xnp.cos(inner(x)), policy=policy)
        xc.ad_checkpoint.print_saved_residuals(f, 1.0)
        assert len(capsys.readouterr().out.splitlines()) == lines


def test_saved_residuals_are_listed(capsys):
    def f(w, p):
        return xnp.sin(checkpoint_name(w @ p["x"], "product"))

    xc.ad_checkpoint.print_saved_residuals(f, W, p={"x": X})
    lines = capsys.readouterr().out.splitlines()
    assert "float64[3,3] from the argument w of f" in lines
    assert "float64[3] from the argument p['x'] of f" in lines
    assert any("cos at" in line and "xnp.sin(checkpoint_name" in line for line in lines)
    keep = POLICIES.save_only_these_names("product")
    xc.ad_checkpoint.print_saved_residuals(xc.checkpoint(f, policy=keep), W, p={"x": X})
    kept = capsys.readouterr().out.splitlines()
    assert len(kept) == 3 and sum("from checkpoint" in line for line in kept) == 1


def counted(f, *args):
    text = xc.jit(xc.value_and_grad(f)).lower(*args).as_text()
    return text.count("stablehlo.sine"), text.count("stablehlo.dot_general")


def test_primal_work_is_done_again_unless_it_is_kept():
    def f(x):
        return xnp.sin(checkpoint_name(xnp.sin(xnp.sin(x)), "second")).sum()

    keep = POLICIES.save_only_these_names("second")
    assert counted(f, X)[0] == 3
    assert counted(xc.checkpoint(f), X)[0] == 3 + 2
    assert counted(xc.checkpoint(f, policy=POLICIES.everything_saveable), X)[0] == 3
    assert counted(xc.checkpoint(f, policy=keep), X)[0] == 3 + 1


# Memory


def deep(block, layers: int = 12):
    def loss(ws, x):
        for w in ws:
            x = block(w, x)
        return (x**2).sum()

    ws = [np.zeros((32, 32), np.float32)] * layers
    x = np.zeros((256, 32), np.float32)
    return xc.jit(xc.grad(loss)).lower(ws, x).compile(), x.nbytes


def four_sines(w, x):
    for _ in range(4):
        x = xnp.sin(x @ w)
    return x


def test_memory_shrinks():
    """A chain of 12 blocks of 4 sines each keeps about 2 values per sine, or 1 per block."""
    kept, unit = deep(four_sines)
    few, _ = deep(xc.checkpoint(four_sines))
    dots, _ = deep(xc.checkpoint(four_sines, policy=POLICIES.dots_saveable))
    sizes = [c.memory_analysis().temp_size_in_bytes / unit for c in (kept, few, dots)]
    assert sizes[0] > 80
    assert sizes[1] < 25
    assert sizes[1] < sizes[2] < 70


def test_the_compiler_keeps_the_second_computation():
    def sines(c):
        return c.as_text().count(" sine(")

    assert sines(deep(xc.checkpoint(four_sines))[0]) > sines(deep(four_sines)[0])


def test_memory_shrinks_in_a_scan():
    def loss(block, w, x):
        return (lax.scan(lambda x, _: (block(w, x), None), x, None, length=20)[0] ** 2).sum()

    w, x = np.zeros((32, 32), np.float32), np.zeros((256, 32), np.float32)
    sizes = [
        xc.jit(xc.grad(functools.partial(loss, block))).lower(w, x).compile().memory_analysis()
        for block in (four_sines, xc.checkpoint(four_sines, prevent_cse=False))
    ]
    kept, few = (s.temp_size_in_bytes / x.nbytes for s in sizes)
    assert kept > 100
    assert few < 40


# Barrier


@pytest.mark.parametrize("policy", [None, "nothing_saveable", "everything_saveable"])
def test_custom_rules_inside_keep_their_slope(policy):
    forward = xc.custom_jvp(lambda x: x * x)
    forward.defjvp(lambda p, t: (p[0] * p[0], 3 * t[0]))
    back = xc.custom_vjp(lambda x: x * x)
    back.defvjp(lambda x: (x * x, None), lambda _, ct: (3 * ct,))
    options = {} if policy is None else {"policy": getattr(xc.checkpoint_policies, policy)}
    for f in (forward, back, xc.jit(forward), xc.jit(back)):
        g = xc.checkpoint(lambda x, f=f: 2 * f(xnp.sin(x)), **options)
        assert_close(xc.grad(g)(1.0), 6 * np.cos(1.0))


def test_a_barrier_is_transposed_beside_constants():
    known, x = np.full(2, 9.0), np.array([1.0, 2.0])
    f = lambda x: lax.optimization_barrier((known, x, 3 * x))[1:]
    (back,) = xc.linear_transpose(f, x)(f(x))
    np.testing.assert_array_equal(back, 10 * x)


def test_optimization_barrier():
    def f(x, n):
        a, b, _ = lax.optimization_barrier((xnp.sin(x), x, n))
        return a * b

    assert_close(f(X, 1), np.sin(X) * X)
    check_grads(xc.jit(lambda x: f(x, 1)), (X,), order=2)
    assert_close(xc.vmap(f, in_axes=(0, None))(X, 1), np.sin(X) * X)
    assert lax.optimization_barrier(()) == ()
    text = xc.jit(f).lower(X, 1).as_text()
    assert text.count("optimization_barrier") == 1


def test_a_barrier_keeps_equal_computations_apart():
    def f(x):
        return xnp.sin(x) + xnp.cos(xnp.sin(lax.optimization_barrier(x)))

    assert xc.jit(f).lower(X).compile().as_text().count(" sine(") == 2
    g = xc.jit(lambda x: xnp.sin(x) + xnp.cos(xnp.sin(x)))
    assert g.lower(X).compile().as_text().count(" sine(") == 1


def test_names_change_nothing():
    x = {"a": xnp.ones(2), "n": 1}
    assert_close(checkpoint_name(x, "x"), {"a": [1.0, 1.0], "n": 1})
    check_grads(lambda x: checkpoint_name(xnp.sin(x), "x"), (X,), order=2)
    assert_close(xc.vmap(lambda x: checkpoint_name(x, "x"))(X), X)


def test_barriers_in_small_loops():
    """XLA makes one kernel of a small loop, and cannot write a barrier of two values there."""

    def step(state):
        i, x = lax.optimization_barrier((state[0] + 1, xnp.sin(state[1])))
        return i, x

    count, x = lax.while_loop(lambda s: s[0] < 3, step, (0, np.float32(1)))
    assert int(count) == 3 and np.isclose(x, np.sin(np.sin(np.sin(1.0))))

    def repeated(x):
        return lax.scan(xc.checkpoint(lambda c, _: (xnp.sin(c), None)), x, None, length=2)[0]

    assert np.isclose(xc.grad(repeated)(1.0), np.cos(np.sin(1.0)) * np.cos(1.0))


@pytest.mark.parametrize("number", [0, -3])
def test_static_arguments_need_no_hash(number):
    def f(settings, x, y):
        return settings["power"][0] * xnp.sin(x) * y

    settings = {"power": [2.0]}
    checkpointed = xc.checkpoint(f, static_argnums=number)
    for run in (lambda g: g, xc.jit):
        slope = run(xc.grad(lambda x: checkpointed(settings, x, 3.0)))
        assert_close(slope(0.5), 6 * np.cos(0.5))
    settings["power"][0] = 4.0  # seen, since it is traced anew
    assert_close(checkpointed(settings, 0.5, 3.0), 12 * np.sin(0.5))
