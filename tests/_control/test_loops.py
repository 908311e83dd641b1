"""cond, switch, while_loop, scan, fori_loop, map, associative_scan against Python."""

import functools

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax


@pytest.fixture(autouse=True)
def _double():
    with xc.config.override(default_bits=64):
        yield


def slope(f, x, h=1e-6):
    return (float(f(x + h)) - float(f(x - h))) / (2 * h)


# Cond and switch


def both(x):
    return lax.cond(x > 1, lambda y: xnp.sin(y) * y, lambda y: y**2, x)


@pytest.mark.parametrize("transform", [lambda f: f, xc.jit])
def test_cond(transform):
    f = transform(both)
    assert np.allclose([f(0.5), f(2.0)], [0.25, np.sin(2) * 2])
    assert np.allclose([xc.grad(f)(0.5), xc.grad(f)(2.0)], [1.0, np.cos(2) * 2 + np.sin(2)])
    assert np.allclose(xc.grad(xc.grad(f))(2.0), -2 * np.sin(2) + 2 * np.cos(2))
    assert np.allclose(xc.vmap(f)(np.asarray([0.5, 2.0])), [0.25, np.sin(2) * 2])
    assert np.allclose(
        xc.vmap(xc.grad(f))(np.asarray([0.5, 2.0])), [1.0, np.cos(2) * 2 + np.sin(2)]
    )


def test_cond_call_forms():
    assert float(lax.cond(True, 1.0, lambda a: a + 1, 5.0, lambda b: b * 2)) == 2.0
    assert float(lax.cond(False, 1.0, lambda a: a + 1, 5.0, lambda b: b * 2)) == 10.0
    assert float(lax.cond(1, lambda a: a, lambda a: -a, operand=3.0)) == 3.0
    assert float(lax.cond(True, lambda: 1.0, lambda: 2.0)) == 1.0
    assert float(lax.cond(False, true_fun=lambda a: a, false_fun=lambda a: -a, operand=3.0)) == -3.0
    assert float(lax.cond(False, lambda a: a, false_fun=lambda a: -a, operand=3.0)) == -3.0
    assert float(lax.cond(True, lambda _: 1.0, lambda _: 2.0, operand=None)) == 1.0
    assert float(lax.switch(1, [lambda _: 1.0, lambda _: 2.0], operand=None)) == 2.0
    assert lax.cond(True, lambda x: {"a": x}, lambda x: {"a": -x}, 2.0)["a"] == 2.0


def test_cond_runs_one_branch():
    seen = []
    f = lambda p: lax.cond(
        p, lambda: xc.pure_callback(lambda: (seen.append(1), np.float64(1))[1], xc.ShapeDtypeStruct((), "float64")),
        lambda: 0.0)  # fmt: skip
    assert float(xc.jit(f)(False)) == 0.0 and not seen
    assert float(xc.jit(f)(True)) == 1.0 and seen


def test_batched_cond_hands_on_what_all_branches_hand_on():
    """A value that no branch changes is no other one for a batch element because the predicate is."""

    def f(i, shared, own):
        return lax.cond(i > 1, lambda a, b: (a, b, b), lambda a, b: (a, b + 1, b), shared, own)

    i, own = xnp.arange(4), xnp.arange(4.0)
    for mapped in (xc.vmap(f, (0, None, 0), (None, 0, 0)), xc.vmap(f, (0, None, 0))):
        shared, changed, same = mapped(i, 7.0, own)
        assert (shared == 7).all() and same.tolist() == own.tolist()
        assert changed.tolist() == [1, 2, 2, 3]
    with pytest.raises(ValueError, match="differs between batch elements"):
        xc.vmap(f, (0, None, 0), (None, None, 0))(i, 7.0, own)


def test_cond_residuals_of_different_branches():
    f = lambda w, x: lax.cond(
        x.sum() > 0, lambda: xnp.tanh(w @ x).sum(), lambda: (xnp.exp(w).sum() * x).sum()
    )
    w, x = np.arange(4.0).reshape(2, 2) / 4, np.asarray([0.5, 1.0])
    tanh = np.tanh(w @ x)
    assert np.allclose(xc.grad(f)(w, x), np.outer(1 - tanh**2, x))
    assert np.allclose(xc.grad(f)(w, -x), np.exp(w) * -x.sum())


def test_switch_clamps_and_differentiates():
    branches = [lambda x: x, lambda x: x**2, lambda x: x**3]
    f = lambda i, x: lax.switch(i, branches, x)
    assert [float(f(i, 2.0)) for i in (-1, 0, 1, 2, 7)] == [2, 2, 4, 8, 8]
    assert np.allclose(xc.vmap(f, in_axes=(0, None))(np.arange(3), 2.0), [2, 4, 8])
    assert np.allclose(xc.vmap(xc.grad(f, 1), in_axes=(0, None))(np.arange(3), 2.0), [1, 4, 12])


# while_loop


def test_while_lanes_stop_on_their_own():
    f = lambda x: lax.while_loop(lambda v: v < 100, lambda v: v * 2, x)
    assert np.allclose(xc.vmap(f)(np.asarray([3.0, 50.0, 200.0])), [192, 100, 200])
    assert np.allclose(xc.jit(xc.vmap(f))(np.asarray([3.0, 50.0, 200.0])), [192, 100, 200])


def test_while_with_captured_tracers_and_trees():
    def f(limit, factor):
        return lax.while_loop(
            lambda s: s["x"] < limit,
            lambda s: {"x": s["x"] * factor, "n": s["n"] + 1},
            {"x": 1.0, "n": 0},
        )

    assert int(f(100.0, 3.0)["n"]) == 5
    assert np.allclose(xc.vmap(f)(np.asarray([10.0, 100.0]), np.asarray([2.0, 3.0]))["n"], [4, 5])
    x, dx = xc.jvp(lambda k: f(100.0, k)["x"], (3.0,), (1.0,))
    assert np.allclose([x, dx], [3.0**5, 5 * 3.0**4])


def test_while_zero_trips_and_max_steps():
    double = lambda x: x * 2
    assert float(lax.while_loop(lambda x: x < 0, double, 5.0)) == 5.0
    assert float(lax.while_loop(lambda x: True, double, 1.0, max_steps=10)) == 1024.0


def drift(x, n, checkpoints):
    step = lambda s: (s[0] + 1, xnp.sin(s[1]) * 1.1 + 0.1 * x)
    return lax.while_loop(lambda s: s[0] < n, step, (0, x), checkpoints=checkpoints)[1]


def drift_python(x, n):
    y = x
    for _ in range(n):
        y = np.sin(y) * 1.1 + 0.1 * x
    return y


@pytest.mark.parametrize(
    "n, checkpoints", [(0, 4), (1, 1), (5, 8), (37, 4), (60, 2), (200, 8), (40, 1)]
)
def test_reverse_through_while(n, checkpoints):
    got = float(xc.jit(xc.grad(drift), static_argnums=2)(0.7, n, checkpoints))
    assert np.isclose(got, slope(lambda x: drift_python(x, n), 0.7), rtol=1e-6)


def test_reverse_through_while_composes():
    xs, ns = np.asarray([0.3, 0.7]), np.asarray([5, 17])
    expected = [slope(functools.partial(drift_python, n=n), x) for x, n in zip(xs, ns)]
    lanes = lambda x, n: drift(x, n, 4)
    assert np.allclose(xc.vmap(xc.grad(lanes))(xs, ns), expected, rtol=1e-6)
    assert np.allclose(xc.grad(lambda xs: xc.vmap(lanes)(xs, ns).sum())(xs), expected, rtol=1e-6)
    second = (
        drift_python(0.7 + 1e-4, 7) - 2 * drift_python(0.7, 7) + drift_python(0.7 - 1e-4, 7)
    ) / 1e-8
    assert np.isclose(float(xc.hessian(lambda x: drift(x, 7, 4))(0.7)), second, rtol=1e-5)


def test_gradient_of_newton_and_of_conjugate_gradients():
    def root(a):
        return lax.while_loop(lambda s: abs(s * s - a) > 1e-14 * a, lambda s: (s + a / s) / 2, a)

    assert np.isclose(float(xc.grad(root)(2.0)), 0.5 / np.sqrt(2), rtol=1e-6)

    a = np.asarray([[4.0, 1, 0], [1, 3, 1], [0, 1, 5]])

    def cg(b):
        def step(s):
            x, r, p = s
            ap = a @ p
            alpha = (r @ r) / (p @ ap)
            new = r - alpha * ap
            return x + alpha * p, new, new + (new @ new) / (r @ r) * p

        return lax.while_loop(
            lambda s: s[1] @ s[1] > 1e-24, step, (xnp.zeros(3), b, b), max_steps=10
        )[0]

    b = np.asarray([1.0, 2, -1])
    assert np.allclose(xc.jacrev(cg)(b), np.linalg.inv(a), atol=1e-6)


def test_gradient_of_an_adaptive_ode_loop():
    def flow(k):
        """y' = -k y with Heun steps whose size follows the error estimate."""

        def step(s):
            t, y, h = s
            h = xnp.minimum(h, 1.0 - t)
            euler = y - h * k * y
            heun = y + h * (-k * y - k * euler) / 2
            error = abs(heun - euler) / 1e-4
            accept = error < 1
            grown = h * xnp.clip(0.9 / xnp.sqrt(error + 1e-12), 0.2, 2.0)
            return xnp.where(accept, t + h, t), xnp.where(accept, heun, y), grown

        return lax.while_loop(lambda s: s[0] < 1.0, step, (0.0, 1.0, 0.1), checkpoints=6)[1]

    assert np.isclose(float(xc.jit(xc.grad(flow))(1.3)), slope(xc.jit(flow), 1.3), rtol=1e-6)


def test_memory_of_a_checkpointed_loop_does_not_grow_with_its_steps():
    def f(x, n):
        return lax.while_loop(
            lambda s: s[0] < n, lambda s: (s[0] + 1, xnp.sin(s[1])), (0, x), checkpoints=8
        )[1].sum()

    sizes = [
        xc.jit(xc.grad(f)).lower(xnp.ones(10_000), n).compile().memory_analysis()
        for n in (10, 10_000)
    ]
    assert sizes[0].temp_size_in_bytes == sizes[1].temp_size_in_bytes
    assert sizes[0].temp_size_in_bytes < 40 * 8 * 10_000


# scan


def rnn(w, xs, h0=0.5):
    return lax.scan(lambda h, x: (xnp.tanh(h * w + x), h * w), h0, xs)


def rnn_python(w, xs, h=0.5):
    ys = []
    for x in xs:
        h, y = np.tanh(h * w + x), h * w
        ys.append(y)
    return h, np.asarray(ys)


XS = np.asarray([0.1, -0.3, 0.5, 0.2])


def test_scan_values_and_derivatives_to_third_order():
    h, ys = rnn(0.3, XS)
    h2, ys2 = rnn_python(0.3, XS)
    assert np.allclose(h, h2) and np.allclose(ys, ys2)
    f = lambda w: rnn(w, XS)[0] + rnn(w, XS)[1].sum()
    reference = lambda w: rnn_python(w, XS)[0] + rnn_python(w, XS)[1].sum()
    first, second = xc.grad(f), xc.grad(xc.grad(f))
    assert np.isclose(float(first(0.3)), slope(reference, 0.3), rtol=1e-8)
    assert np.isclose(float(second(0.3)), slope(first, 0.3), rtol=1e-7)
    assert np.isclose(float(xc.grad(second)(0.3)), slope(second, 0.3), rtol=1e-7)
    assert np.isclose(float(xc.jacfwd(first)(0.3)), float(second(0.3)), rtol=1e-12)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("unroll", [1, 2, 3, True])
def test_scan_options(reverse, unroll):
    f = lambda c, x: (c * 0.5 + x, c)
    c, ys = 1.0, []
    for x in XS[::-1] if reverse else XS:
        c, y = c * 0.5 + x, c
        ys.append(y)
    ys = ys[::-1] if reverse else ys
    got_c, got_ys = xc.jit(lambda xs: lax.scan(f, 1.0, xs, reverse=reverse, unroll=unroll))(XS)
    assert np.allclose(got_c, c) and np.allclose(got_ys, ys)
    total = lambda xs: (lax.scan(f, 1.0, xs, reverse=reverse, unroll=unroll)[1] ** 2).sum()
    bump = np.eye(4)[1] * 1e-6
    numeric = (float(total(XS + bump)) - float(total(XS - bump))) / 2e-6
    assert np.isclose(xc.grad(total)(XS)[1], numeric, rtol=1e-6)


def test_scan_without_xs_or_ys_and_of_length_zero():
    assert float(lax.scan(lambda c, _: (c * 2, None), 1.0, None, length=5)[0]) == 32.0
    c, ys = lax.scan(lambda c, x: (c + x, c * x), 1.0, np.zeros((0,)))
    assert float(c) == 1.0 and ys.shape == (0,)
    assert lax.scan(lambda c, x: ((), x), (), XS)[1].shape == (4,)


def test_vmap_of_scan_of_captured_batched_values():
    ws = np.asarray([0.3, 0.4])
    expected = [rnn_python(w, XS)[0] for w in ws]
    assert np.allclose(xc.vmap(lambda w: rnn(w, XS)[0])(ws), expected)
    both_batched = xc.vmap(lambda w, xs: rnn(w, xs)[1])(ws, np.stack([XS, 2 * XS]))
    assert np.allclose(both_batched, [rnn_python(w, x)[1] for w, x in zip(ws, (XS, 2 * XS))])
    got = xc.vmap(xc.grad(lambda w: rnn(w, XS)[0]))(ws)
    assert np.allclose(got, [slope(lambda w: rnn_python(w, XS)[0], w) for w in ws], rtol=1e-7)


def test_weights_are_not_stacked_as_residuals():
    w = xnp.ones((200, 200))

    def f(w):
        step = lambda h, x: (xnp.tanh(w @ h + x), None)
        return lax.scan(step, xnp.ones(200), xnp.ones((500, 200)))[0].sum()

    memory = xc.jit(xc.grad(f)).lower(w).compile().memory_analysis()
    assert memory.temp_size_in_bytes < 100 * w.nbytes  # stacking w would need 500 of it


# fori_loop


def test_fori_loop_static_and_dynamic():
    f = lambda n, x: lax.fori_loop(0, n, lambda i, y: y * x + i, 1.0)
    expected = ((1.0 * 2 + 0) * 2 + 1) * 2 + 2
    assert float(f(3, 2.0)) == expected and float(xc.jit(f)(3, 2.0)) == expected
    for n in (3, xnp.asarray(3)):
        assert np.isclose(float(xc.grad(f, argnums=1)(n, 2.0)), 13.0)
    assert int(lax.fori_loop(5, 2, lambda i, t: t + i, 0)) == 0
    assert np.allclose(
        xc.vmap(lambda n: lax.fori_loop(0, n, lambda i, t: t + i, 0))(np.arange(4)), [0, 0, 1, 3]
    )


def test_weak_start_takes_the_dtype_of_the_body():
    out = lax.fori_loop(0, 3, lambda i, x: x + np.float32(0.5), 0)
    assert out.dtype == np.float32 and float(out) == 1.5


# Map, associative_scan


def test_map():
    x = np.arange(7.0)
    assert np.allclose(lax.map(lambda v: v**2, x), x**2)
    assert np.allclose(lax.map(lambda v: {"a": v + 1}, x, batch_size=3)["a"], x + 1)
    assert np.allclose(lax.map(lambda v: v * 2, x[:0]), x[:0])


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("weak", [False, True])
def test_slices_are_weak_as_what_they_are_slices_of(weak, jit):
    x = xnp.resize(xnp.asarray(2.0) if weak else xnp.float32(2), (3,))
    seen = []

    def f(x):
        return lax.map(lambda v: (seen.append(v.weak_type), v, v + xnp.bfloat16(1)), x)[1:]

    same, met = (xc.jit(f) if jit else f)(x)
    assert x.weak_type == same.weak_type == seen[0] == weak
    assert met.dtype == (xnp.bfloat16 if weak else np.float32)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 13])
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan(n, reverse):
    x = np.linspace(0.5, 1.5, n)
    expected = np.cumprod(x[::-1])[::-1] if reverse else np.cumprod(x)
    assert np.allclose(lax.associative_scan(lambda a, b: a * b, x, reverse=reverse), expected)


def test_associative_scan_of_matrices_keeps_their_order():
    m = np.random.default_rng(0).normal(size=(5, 2, 2))
    got = lax.associative_scan(lambda a, b: a @ b, m)
    expected = m[0]
    for k in range(1, 5):
        expected = expected @ m[k]
        assert np.allclose(got[k], expected)


def test_associative_scan_in_reverse_is_that_of_the_elements_turned_round():
    m = np.random.default_rng(0).normal(size=(5, 2, 2))
    got = lax.associative_scan(lambda a, b: a @ b, m, reverse=True)
    turned = lax.associative_scan(lambda a, b: a @ b, m[::-1])
    assert np.allclose(got, turned[::-1]) and np.allclose(got[3], m[4] @ m[3])


def test_a_function_in_several_places_is_traced_once():
    seen = []

    def f(x):
        seen.append(x)
        return xnp.sin(x) * w

    w = xnp.arange(3.0)
    choose = xc.jit(lambda i, x: lax.switch(i, [f, xnp.cos, f], x))
    x = xnp.ones(3)
    for i, expected in enumerate([xnp.sin(x) * w, xnp.cos(x), xnp.sin(x) * w]):
        assert np.allclose(choose(i, x), expected)
    assert len(seen) == 1
    slopes = xc.vmap(xc.grad(lambda x, i: choose(i, x).sum()), (None, 0))(x, xnp.arange(3))
    assert np.allclose(slopes, [xnp.cos(x) * w, -xnp.sin(x), xnp.cos(x) * w])


# Errors


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: lax.scan(lambda c, x: ({"a": c["a"][None]}, x), {"a": 1.0}, XS),
         r"carry\['a'\] starts as float64\[\]"),
        (lambda: lax.scan(lambda c, x: (c.astype("float32"), x), xnp.ones(2), XS), r"astype\(xnp.float64\)"),
        (lambda: lax.scan(lambda c, x: c, 1.0, XS), "must return a pair"),
        (lambda: lax.scan(lambda c, x: ((c, c), x), 1.0, XS), "structure"),
        (lambda: lax.scan(lambda c, x: (c, x), 1.0, {"a": XS, "b": XS[:2]}), r"xs\['a'\] has 4, xs\['b'\] has 2"),
        (lambda: lax.scan(lambda c, x: (c, x), 1.0), "length="),
        (lambda: lax.while_loop(lambda x: x, lambda x: x, 1.0), "boolean"),
        (lambda: lax.while_loop(lambda x: x[0] < 1, lambda x: (x[0], 1), (0, 1.0)), r"carry\[1\]"),
        (lambda: lax.cond(True, lambda x: x, lambda x: (x, x), 1.0), "structure"),
        (lambda: lax.cond(True, lambda x: {"a": x}, lambda x: {"a": x > 0}, 1.0), r"result\['a'\] is .*bool"),
        (lambda: lax.cond(xnp.ones(2) > 0, lambda: 1, lambda: 2), "scalar"),
        (lambda: lax.cond(True, 1, 2, 3), "call it as"),
        (lambda: lax.switch(1.0, [lambda: 1]), "integer"),
        (lambda: lax.switch(1, []), "non-empty"),
        (lambda: lax.fori_loop(0j, 3, lambda i, x: x, 1.0), "lower must be an integer or a float"),
        (lambda: xc.grad(lambda x: lax.while_loop(lambda s: s < 9, lambda s: s * x, x, checkpoints=0))(2.0),
         "checkpoints=K"),
    ],
)  # fmt: skip
def test_errors_explain(call, message):
    with pytest.raises((TypeError, ValueError, NotImplementedError), match=message):
        call()


def test_disable_jit_runs_python():
    seen = []
    with xc.disable_jit():
        lax.fori_loop(0, 3, lambda i, x: (seen.append(int(i)), x)[1], 1.0)
        lax.while_loop(lambda x: x < 3, lambda x: (seen.append(float(x)), x + 1)[1], 0.0)
        lax.cond(True, lambda: seen.append("yes"), lambda: seen.append("no"))
    assert seen == [0, 1, 2, 0.0, 1.0, 2.0, "yes"]


def stops_moving(loop):
    """A carry whose first part is a constant after one step, its tangent with it: (x, x²) → (1, x²)."""
    return lambda x: loop(lambda c: (xnp.ones_like(x), c[0] * c[1]), (x, x))[1]


STOPPING = {
    "fori": lambda step, c: lax.fori_loop(0, 3, lambda i, c: step(c), c),
    "scan": lambda step, c: lax.scan(lambda c, _: (step(c), None), c, None, length=3)[0],
    "unrolled": lambda step, c: lax.scan(lambda c, _: (step(c), None), c, None, length=3, unroll=2)[0],
    "while": lambda step, c: lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, step(s[1])), (0, c))[1],
    "cond": lambda step, c: step(lax.cond(c[0].sum() > 99, lambda c: c, lambda c: step(step(c)), c)),
    "checkpoint": lambda step, c: step(xc.checkpoint(lambda c: step(step(c)))(c)),
}  # fmt: skip


@pytest.mark.parametrize("name", STOPPING)
def test_a_carry_that_stops_moving(name):
    f = stops_moving(STOPPING[name])
    x = np.array([0.5, 2.0])
    for transform in (lambda f: f, xc.jit):
        np.testing.assert_allclose(transform(f)(x), x**2)
        np.testing.assert_allclose(transform(lambda x: xc.jvp(f, (x,), (x,))[1])(x), 2 * x**2)
        np.testing.assert_allclose(transform(xc.vmap(f))(x), x**2)
        if name != "while":
            np.testing.assert_allclose(transform(xc.grad(lambda x: f(x).sum()))(x), 2 * x)


@pytest.mark.parametrize("unroll", [1, 2])
@pytest.mark.parametrize("reverse", [False, True])
def test_the_transpose_of_a_linear_scan(reverse, unroll):
    """Linear in a constant, in the start and in what is scanned, in any of them alone."""
    w = np.array([2.0, -1.0, 0.5])

    def run(c, start, xs):
        step = lambda s, row: (((s[0] * row[1] + c + row[0]), s[1] + 1), s[0])
        (end, _), ys = lax.scan(
            step, (start, 0), (xs, xnp.asarray(w)), reverse=reverse, unroll=unroll
        )
        return end, ys

    full = (np.float64(0.3), np.float64(-1.5), np.array([1.0, 4.0, -2.0]))
    ct = (np.float64(0.7), np.array([0.1, -3.0, 2.0]))
    zero = tuple(map(np.zeros_like, full))
    for i in range(3):
        f = lambda v, i=i: run(*zero[:i], v, *zero[i + 1 :])
        out = f(full[i])
        (back,) = xc.linear_transpose(f, full[i])(ct)
        pairing = ct[0] * out[0] + (ct[1] * np.asarray(out[1])).sum()
        np.testing.assert_allclose((np.asarray(back) * full[i]).sum(), pairing, rtol=1e-12)
    both = xc.linear_transpose(run, *full)(ct)
    out = run(*full)
    pairing = sum((np.asarray(b) * v).sum() for b, v in zip(both, full, strict=True))
    np.testing.assert_allclose(
        pairing, ct[0] * out[0] + (ct[1] * np.asarray(out[1])).sum(), rtol=1e-12
    )


@pytest.mark.parametrize("transform", [lambda f: f, xc.jit], ids=["eager", "jit"])
def test_numbers_of_branches_that_do_not_exist(transform):
    """The nearest branch, for every lane, whichever varies: number, operand or both."""
    branches = [lambda x: x + 1, lambda x: x * 10, lambda x: -x]
    numbers, x = np.array([-7, 0, 1, 2, 3, 99]), np.arange(1.0, 7.0)
    wanted = lambda i, x: (x + 1, x * 10, -x)[min(max(i, 0), 2)]
    f = lambda i, x: lax.switch(i, branches, x)
    found = transform(xc.vmap(f))(numbers, x)
    np.testing.assert_array_equal(found, [wanted(i, v) for i, v in zip(numbers, x, strict=True)])
    found = transform(xc.vmap(f, (0, None)))(numbers, 5.0)
    np.testing.assert_array_equal(found, [wanted(i, 5.0) for i in numbers])
    for i in numbers:
        np.testing.assert_array_equal(
            transform(xc.vmap(f, (None, 0)))(i, x), [wanted(i, v) for v in x]
        )
        np.testing.assert_array_equal(transform(f)(i, 2.0), wanted(i, 2.0))
    slopes = transform(xc.vmap(xc.grad(f, 1)))(numbers, x)
    np.testing.assert_array_equal(slopes, [1, 1, 10, -1, -1, -1])


@pytest.mark.parametrize("reverse", [False, True])
def test_scans_in_python(reverse):
    """With ``disable_jit`` a scan is a loop, and gives the same."""
    xs = {"a": np.arange(6.0).reshape(3, 2), "b": np.array([1, 2, 3])}
    run = lambda: lax.scan(
        lambda c, x: (c * 2 + x["a"].sum() * x["b"], (c, x["a"])), 1.0, xs, reverse=reverse
    )
    compiled = run()
    with xc.disable_jit():
        plain = run()
    for a, b in zip(xc.tree.leaves(compiled), xc.tree.leaves(plain), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lax.scan(3, 0, np.arange(3)), TypeError, "lax.scan: expected a function"),
        (lambda: lax.fori_loop(0, 3, 4, 0), TypeError, "body_fun must be a function"),
        (lambda: lax.associative_scan(lambda a, b: a, (np.ones(3), np.ones(4))), ValueError, "one length"),
        (lambda: lax.scan(lambda c, x: (c, x), 0, (np.ones(3), 2.0)), ValueError, "scan"),
    ],
)  # fmt: skip
def test_what_loops_refuse(call, error, words):
    with pytest.raises(error, match=words):
        call()
    assert lax.associative_scan(lambda a, b: a, ()) == ()


@pytest.mark.parametrize("unroll", [1, 2, 3, 7, 9])
@pytest.mark.parametrize("reverse", [False, True])
def test_unrolled_scans_are_loops(unroll, reverse):
    xs, w = np.arange(1.0, 8.0), np.arange(14.0).reshape(7, 2)
    step = lambda c, x: (c * 0.5 + x[0], c + x[1])
    run = xc.jit(lambda c: lax.scan(step, c, (xs, w), reverse=reverse, unroll=unroll))
    c, ys = np.array([0.3, -2.0]), {}
    end, rows = run(c)
    for i in reversed(range(7)) if reverse else range(7):
        c, ys[i] = c * 0.5 + xs[i], c + w[i]
    np.testing.assert_allclose(end, c, rtol=1e-14)
    np.testing.assert_allclose(rows, np.stack([ys[i] for i in range(7)]), rtol=1e-14)


def test_transposes_of_transposes_of_a_scan():
    """What linearization makes of a transposed scan is transposed again, as often as wanted."""
    xs = np.array([1.0, -2.0, 3.0])
    f = lambda a: lax.scan(lambda c, x: (c * x + a, c + a), xnp.zeros((), "float64"), xs)
    start = np.float64(1)
    out = f(start)
    size = lambda o: np.asarray(o[0]) ** 2 + (np.asarray(o[1]) ** 2).sum()
    once = lambda ct: xc.linear_transpose(f, start)(ct)[0]
    twice = lambda a: xc.linear_transpose(once, out)(a)[0]
    thrice = lambda ct: xc.linear_transpose(twice, start)(ct)[0]
    np.testing.assert_allclose(once(out), size(out), rtol=1e-13)
    np.testing.assert_allclose(twice(start)[1], out[1], rtol=1e-13)
    for g in (thrice, xc.jit(thrice)):
        np.testing.assert_allclose(g(out), size(out), rtol=1e-13)


def test_lanes_of_a_scan_that_are_the_same_stay_one():
    """Parts of the carry and slices of results that no lane changes have no axis of lanes."""
    xs = np.array([1.0, 2.0, 3.0])

    def f(a):
        step = lambda c, x: ((c[0] + a, c[1] + x, c[2] + c[0]), (c[0], x * c[1], 1.0))
        return lax.scan(step, (0.0, 0.0, 0.0), xs)

    one = (0, None, 0), (0, None, None)
    carry, ys = xc.vmap(f, out_axes=one)(np.array([1.0, 10.0]))
    assert [c.shape for c in carry] == [(2,), (), (2,)]
    np.testing.assert_array_equal(ys[0], [[0, 1, 2], [0, 10, 20]])
    np.testing.assert_array_equal(ys[1], [0, 2, 9])
    assert ys[2].shape == (3,)


@pytest.mark.parametrize(
    "where, expected", [("body", [1, 3, 3, 3]), ("cond", [0, 1, 1, 3, 3, 3, 3])]
)
@pytest.mark.parametrize("compile", [lambda f: f, xc.jit])
def test_batch_elements_that_have_stopped_do_not_act(where, expected, compile):
    """Callbacks of loops whose predicates are batched: one for each step of each element, and each test of it."""
    seen = []

    def note(at, n):
        if at == where:
            xc.debug.callback(lambda n: seen.append(int(n)), n)

    def count(n):
        def cond(c):
            note("cond", n)
            return c < n

        def body(c):
            note("body", n)
            return c + 1

        return lax.while_loop(cond, body, 0)

    out = compile(xc.vmap(count))(xnp.asarray([0, 1, 3]))
    xc.effects_barrier()
    assert out.tolist() == [0, 1, 3] and sorted(seen) == expected


@pytest.mark.parametrize("checkpoints", [None, 1, 3, 8])
def test_reverse_of_the_reverse_of_a_while_loop(checkpoints):
    given = {} if checkpoints is None else {"checkpoints": checkpoints}

    def f(a):
        step = lambda s: (xnp.sin(s[0]) * a, s[1] + 1)
        return xc.lax.while_loop(lambda s: s[1] < 7, step, (a, 0), **given)[0]

    def unrolled(a):
        x = a
        for _ in range(7):
            x = xnp.sin(x) * a
        return x

    with xc.enable_x64():
        twice = lambda f: xc.grad(xc.grad(f))
        np.testing.assert_allclose(twice(f)(0.7), twice(unrolled)(0.7), rtol=1e-13)
        np.testing.assert_allclose(xc.jit(twice(f))(0.7), twice(unrolled)(0.7), rtol=1e-13)
        if checkpoints == 3:
            third = lambda f: xc.grad(twice(f))(0.7)
            np.testing.assert_allclose(third(f), third(unrolled), rtol=1e-13)


@pytest.mark.parametrize("unroll", [True, 1, 3])
def test_unrolled_loops_of_no_steps(unroll):
    assert lax.fori_loop(3, 3, lambda i, c: c + i, 7, unroll=unroll) == 7
    assert lax.fori_loop(5, 2, lambda i, c: c + i, 7, unroll=unroll) == 7
    carry, ys = lax.scan(lambda c, x: (c + x, c), 1.0, xnp.zeros((0,)), unroll=unroll)
    assert carry == 1 and ys.shape == (0,)
