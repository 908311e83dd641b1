"""Python functions inside compiled programs: what they see, in which order, and what they raise."""

import pickle
import threading

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import debug, lax
from xcore._core import compile, errors
from xcore.experimental import io_callback, pure_callback


def lines(capsys):
    return capsys.readouterr().out.splitlines()


def shape(x):
    return xc.ShapeDtypeStruct(x.shape, x.dtype)


# Printing


def shown(x):
    debug.print("x = {x}", x=x)
    return x * x


@pytest.mark.parametrize("wrap", [lambda f: f, xc.jit], ids=["eager", "jit"])
@pytest.mark.parametrize(
    "transform, argument, expected",
    [
        (lambda f: f, 3.0, ["x = 3.0"]),
        (xc.grad, 3.0, ["x = 3.0"]),
        (lambda f: xc.grad(xc.grad(f)), 3.0, ["x = 3.0"]),
        (xc.vmap, np.arange(3), ["x = 0", "x = 1", "x = 2"]),
        (lambda f: xc.vmap(xc.vmap(f)), np.arange(4).reshape(2, 2), [f"x = {i}" for i in range(4)]),
        (lambda f: xc.vmap(xc.grad(f)), np.arange(2.0), ["x = 0.0", "x = 1.0"]),
        (lambda f: lambda x: xc.jvp(f, (x,), (x,)), 2.0, ["x = 2.0"]),
    ],
)
def test_print_under_transforms(capsys, wrap, transform, argument, expected):
    wrap(transform(shown))(argument)
    assert lines(capsys) == expected


def test_print_under_a_batch_of_nothing_prints_nothing(capsys):
    assert xc.vmap(shown)(np.zeros((0,))).shape == (0,)
    assert lines(capsys) == []


def test_formats(capsys):
    x = xnp.asarray([1.0, 2.5])
    tree = {"a": xnp.asarray([1, 2]), "b": (3, "text")}
    debug.print("{0:.3f} {x:6.2f} {x.shape} {x[1]} {t[b][1]} {0!r:>4}", 2, x=x, t=tree)
    debug.print("{:.{n}f}", xnp.asarray(2.0), n=3)
    debug.print("plain {{}}")
    assert lines(capsys) == [
        "2.000 [  1.00   2.50] (2,) 2.5 text    2",
        "2.000",
        "plain {}",
    ]


@pytest.mark.parametrize(
    "fmt, args, kwargs, message",
    [
        ("{} {}", (1,), {}, "names argument 1, which is not given"),
        ("{x}", (), {}, "names 'x', which is not given"),
        ("{:{w}}", (1,), {}, "names 'w'"),
        ("text", (1,), {}, "does not use argument 0"),
        ("text", (), {"y": 1}, "does not use 'y'"),
        ("{", (), {}, "not valid"),
        ("{} {0}", (1,), {}, "mixes"),
    ],
)
def test_format_must_fit(fmt, args, kwargs, message):
    with pytest.raises(ValueError, match=message):
        debug.print(fmt, *args, **kwargs)


def test_format_must_be_text():
    with pytest.raises(TypeError, match="format string"):
        debug.print(3.0)


def loop(x, ordered):
    """Prints in a loop, in both branches of a cond, and in the test of a while loop."""

    def step(i, c):
        debug.print("{} {}", i, c, ordered=ordered)

        def large(c):
            debug.print("large", ordered=ordered)
            return c * 2

        def small(c):
            debug.print("small", ordered=ordered)
            return c + 1

        return lax.cond(c > 2, large, small, c)

    def test(c):
        debug.print("test {}", c, ordered=ordered)
        return c < 20

    x = lax.fori_loop(0, 3, step, x)
    return lax.while_loop(test, lambda c: shown_square(c, ordered), x)


@xc.jit
def _square(c):
    return c * c


def shown_square(c, ordered):
    debug.print("square {}", c, ordered=ordered)
    return _square(c)


LOOP = ["0 1", "small", "1 2", "small", "2 3", "large", "test 6", "square 6", "test 36"]


@pytest.mark.parametrize("wrap", [lambda f: f, lambda f: xc.jit(f, static_argnums=1)])
def test_ordered_prints_keep_the_order_of_the_program(capsys, wrap):
    assert wrap(loop)(1, True) == 36
    assert lines(capsys) == LOOP


def test_unordered_prints_all_happen(capsys):
    assert xc.jit(loop, static_argnums=1)(1, False) == 36
    assert sorted(lines(capsys)) == sorted(LOOP)


def test_ordered_prints_with_disable_jit(capsys):
    with xc.disable_jit():
        loop(1, True)
    assert lines(capsys) == LOOP


def test_order_across_scan_options(capsys):
    def f(c, x):
        debug.print("{}", x, ordered=True)
        return c + x, None

    for unroll, reverse in ((1, False), (3, False), (2, True), (True, False)):
        xc.jit(lambda xs, u=unroll, r=reverse: lax.scan(f, 0, xs, unroll=u, reverse=r))(
            np.arange(7)
        )
        expected = [str(i) for i in range(7)]
        assert lines(capsys) == (expected[::-1] if reverse else expected)


def test_order_of_successive_calls(capsys):
    f = xc.jit(lambda x: (debug.print("{}", x), x + 1)[1])
    x = xnp.asarray(0)
    for _ in range(5):
        x = f(x)
    assert lines(capsys) == [str(i) for i in range(5)]


def test_print_in_the_gradient_of_a_loop_happens_once(capsys):
    def f(x):
        def step(c, _):
            debug.print("{}", c, ordered=True)
            return c * x, None

        return lax.scan(step, x, None, length=3)[0]

    assert xc.jit(xc.grad(f))(2.0) == 32.0
    assert lines(capsys) == ["2.0", "4.0", "8.0"]


def test_lanes_that_part_act_on_their_own_ways(capsys):
    def f(x):
        x = lax.while_loop(lambda c: c < 2, lambda c: shown_square(c, True) + 1, x)
        return lax.cond(
            x > 3, lambda x: (debug.print("large {}", x, ordered=True), x)[1], lambda x: x, x
        )

    for wrap in (lambda f: f, xc.jit):
        np.testing.assert_array_equal(wrap(xc.vmap(f))(np.asarray([0, 5, 1])), [2, 5, 2])
        assert lines(capsys) == ["square 0", "square 1", "square 1", "large 5"]


def test_side_effects_of_lanes_that_part():
    log = []

    def f(x):
        def record(v):
            log.append(int(v))
            return np.int32(len(log))

        return lax.cond(x > 1, lambda x: io_callback(record, np.int32(0), x), lambda x: -x, x)

    assert xc.jit(xc.vmap(f))(np.asarray([2, 0, 3], "i4")).tolist() == [1, 0, 2]
    assert log == [2, 3]


def test_switch_prints_the_branch_that_runs(capsys):
    branches = [lambda x, k=k: (debug.print("branch {}", k), x + k)[1] for k in range(3)]
    f = xc.jit(lambda i: lax.switch(i, branches, 1))
    assert [int(f(i)) for i in (2, 0)] == [3, 1]
    assert lines(capsys) == ["branch 2", "branch 0"]


# Values


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "bfloat16", "float64", "complex64"])
def test_pure_callback_takes_every_dtype(dtype):
    x = xnp.asarray(np.arange(3), dtype)
    seen = []

    def f(v):
        seen.append((type(v), v.dtype))
        return v[::-1]

    y = xc.jit(lambda x: pure_callback(f, shape(x), x))(x)
    np.testing.assert_array_equal(np.asarray(y), np.asarray(x)[::-1])
    assert seen == [(np.ndarray, x.dtype)]


@pytest.mark.parametrize("wrap", [lambda f: f, xc.jit], ids=["eager", "jit"])
def test_pytrees_and_keywords(wrap):
    def host(tree, scale, *, shift):
        return {"sum": tree["a"] + tree["b"][0] * scale + shift, "none": None}

    def f(a, b):
        like = {"sum": shape(a), "none": None}
        return pure_callback(host, like, {"a": a, "b": [b]}, np.float32(2), shift=b)

    a, b = xnp.arange(3.0), xnp.ones(3)
    np.testing.assert_array_equal(wrap(f)(a, b)["sum"], np.arange(3) + 3)


def test_pure_callback_that_nobody_needs_is_not_called():
    calls = []
    xc.jit(lambda x: (pure_callback(lambda v: calls.append(1) or v, x, x), x + 1)[1])(np.float32(1))
    assert calls == []


METHODS = {
    "sequential": [((), ())] * 3,
    "sequential_unrolled": [((), ())] * 3,
    "expand_dims": [((3,), (1,))],
    "broadcast_all": [((3,), (3,))],
    "legacy_vectorized": [((3,), ())],
    None: [((), ())] * 3,
}


@pytest.mark.parametrize("method", METHODS)
def test_vmap_methods(method):
    seen = []

    def host(a, b):
        seen.append((a.shape, b.shape))
        return a + b

    f = lambda a, b: pure_callback(host, shape(a), a, b, vmap_method=method)
    y = xc.jit(xc.vmap(f, in_axes=(0, None)))(xnp.arange(3.0), xnp.float32(10))
    np.testing.assert_array_equal(y, [10, 11, 12])
    assert seen == METHODS[method]


@pytest.mark.parametrize("method", ["sequential", "expand_dims", "broadcast_all"])
def test_nested_vmap(method):
    f = lambda a, b: pure_callback(lambda a, b: a * b, shape(a), a, b, vmap_method=method)
    g = xc.vmap(xc.vmap(f, in_axes=(0, None)), in_axes=(None, 0))
    a, b = np.arange(3.0, dtype="f4"), np.arange(2.0, dtype="f4")
    np.testing.assert_array_equal(g(a, b), b[:, None] * a)


def test_unknown_vmap_method():
    with pytest.raises(ValueError, match="vmap_method must be one of"):
        pure_callback(np.sin, np.float32(0), 0.0, vmap_method="fast")


def test_io_callback_returns_and_acts():
    log = []

    def host(v):
        log.append(float(v))
        return np.float32(len(log))

    def step(c, _):
        n = io_callback(host, xc.ShapeDtypeStruct((), "float32"), c, ordered=True)
        return c + n, n

    total, counts = xc.jit(lambda: lax.scan(step, xnp.float32(0), None, length=3))()
    assert total == 6 and counts.tolist() == [1, 2, 3] and log == [0, 1, 3]
    xc.jit(lambda x: (io_callback(host, np.float32(0), x), x)[1])(1.0)  # kept although not needed
    assert log[3:] == [1.0]


def test_callback_may_compute():
    inner = xc.jit(lambda x: xnp.sin(x))
    f = xc.jit(lambda x: pure_callback(lambda v: np.asarray(inner(v)), shape(x), x) * 2)
    np.testing.assert_allclose(f(xnp.float32(1)), 2 * np.sin(np.float32(1)), rtol=1e-6)


def test_debug_callback_sees_python_values():
    seen = []
    f = xc.jit(lambda x: debug.callback(lambda *a, **k: seen.append((a, k)), x, "name", flag=None))
    f(1.0)
    assert seen == [((np.asarray(1.0), "name"), {"flag": None})]


def test_custom_derivative_of_a_callback():
    @xc.jit
    def f(x):
        return pure_callback(np.sin, shape(x), x)

    with pytest.raises(errors.MissingRuleError, match="custom_jvp") as refusal:
        xc.grad(f)(1.0)
    assert isinstance(refusal.value, ValueError)
    # results without a derivative need none
    count = lambda x: pure_callback(lambda v: np.int32(3), np.int32(0), x) * x
    assert xc.grad(count)(1.0) == 3


def test_the_same_lines_compile_once():
    def run():
        lax.fori_loop(0, 2, lambda i, c: (debug.callback(lambda v: None, c), c + 1)[1], 0.0)
        lax.fori_loop(0, 2, lambda i, c: (debug.print("", ordered=True), c + 1)[1], 0.0)

    run()
    before = compile.counts["compiled"]
    run()
    assert compile.counts["compiled"] == before


def test_breakpoint_shows_the_local_variables(monkeypatch):
    seen = []

    def hook():
        import sys

        seen.append({k: v for k, v in sys._getframe(1).f_locals.items() if k in ("x", "y")})

    monkeypatch.setattr("sys.breakpointhook", hook)

    def f(x):
        y = x + 1
        debug.breakpoint()
        return y

    xc.jit(f)(1.0)
    f(2)
    assert seen == [{"x": 1.0, "y": 2.0}, {"x": 2, "y": 3}]


# What goes wrong


def fails(v):
    raise LookupError("no such row")


@pytest.mark.parametrize("wrap", [lambda f: f, xc.jit, xc.vmap], ids=["eager", "jit", "vmap"])
@pytest.mark.parametrize(
    "call",
    [
        lambda x: pure_callback(fails, shape(x), x),
        lambda x: io_callback(fails, shape(x), x),
        lambda x: debug.callback(fails, x),
    ],
    ids=["pure", "io", "debug"],
)
def test_exceptions_name_the_callback(wrap, call):
    with pytest.raises(
        errors.CallbackError, match="callback fails raised LookupError: no such row"
    ):
        np.asarray(wrap(call)(xnp.ones(2)))


def test_the_cause_is_the_exception_itself():
    with pytest.raises(errors.CallbackError) as caught:
        xc.jit(lambda x: debug.callback(fails, x))(1.0)
    assert type(caught.value.__cause__) is LookupError
    assert any(e.name == "fails" for e in traceback_entries(caught.value.__cause__))


class NeedsTwo(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


@pytest.mark.parametrize(
    "error",
    [ValueError("low"), KeyError("low"), OSError(2, "low"), errors.ShapeError("low"), StopIteration("low"),
     UnicodeDecodeError("utf-8", b"x", 0, 1, "low"), NeedsTwo(1, "low")],
    ids=lambda e: type(e).__name__,
)  # fmt: skip
@pytest.mark.parametrize("wrap", [lambda f: f, xc.jit])
def test_the_class_of_the_exception_catches_it(error, wrap):
    """Where a class can be both and takes a text alone; CallbackError does always."""

    def fails(x):
        raise error

    with pytest.raises(errors.CallbackError, match="fails raised") as caught:
        np.asarray(wrap(lambda x: pure_callback(fails, shape(x), x))(xnp.ones(2)))
    alone = isinstance(error, (UnicodeDecodeError, NeedsTwo))
    assert isinstance(caught.value, type(error)) != alone
    assert type(pickle.loads(pickle.dumps(caught.value))) is errors.CallbackError


def traceback_entries(e):
    import traceback

    return traceback.extract_tb(e.__traceback__)


WRONG = [
    (lambda v: v[:1], r"must be float32\[2\], but is float32\[1\]"),
    (lambda v: v.astype("int32"), r"but is int32\[2\]"),
    (lambda v: (v, v), "must return a result of the structure"),
    (lambda v: None, "must return a result of the structure"),
]


@pytest.mark.parametrize("wrap", [lambda f: f, xc.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("host, message", WRONG)
def test_wrong_results(wrap, host, message):
    with pytest.raises(errors.CallbackError, match=message):
        np.asarray(wrap(lambda x: pure_callback(host, shape(x), x))(xnp.ones(2)))


def test_wide_results_are_narrowed_to_the_promise():
    y = pure_callback(lambda v: np.linspace(0, 1, 3), xc.ShapeDtypeStruct((3,), "float32"), 0.0)
    assert y.dtype == "float32" and y[1] == 0.5


def test_arguments_of_the_wrong_kind():
    with pytest.raises(TypeError, match="ShapeDtypeStruct"):
        pure_callback(np.sin, "float32", 1.0)
    with pytest.raises(TypeError, match="callback must be a function"):
        debug.callback("print", 1.0)


def test_failure_behind_an_unready_input_is_raised_when_read():
    slow = xc.jit(lambda x: (x @ x @ x)[0, 0])
    failing = xc.jit(lambda v: pure_callback(fails, shape(v), v))
    failing.trace(xnp.float32(0))  # so that little time is left for the input to become ready
    for _ in range(
        2
    ):  # every time it is read; or at once where the machine was too busy to be late
        with pytest.raises(errors.CallbackError, match="fails raised LookupError"):
            np.asarray(failing(slow(xnp.ones((700, 700)))))


def test_interrupts_pass_through():
    def interrupted(v):
        raise KeyboardInterrupt

    for wrap in (lambda f: f, xc.jit):
        with pytest.raises(KeyboardInterrupt):
            wrap(lambda x: debug.callback(interrupted, x))(1.0)


def test_each_thread_gets_its_own_exception():
    found = []

    def work(k):
        def own(v):
            raise ValueError(f"of thread {k}")

        f = xc.jit(lambda x: debug.callback(own, x))
        for _ in range(10):
            with pytest.raises(errors.CallbackError) as caught:
                f(1.0)
            found.append(str(caught.value.__cause__) == f"of thread {k}")

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [True] * 30


@pytest.mark.parametrize("platform", ["cpu", "cuda"])
def test_arrays_are_handed_over_row_by_row(platform):
    """A compiler may keep them otherwise, and did on a GPU: every call must say how it reads them."""
    same = lambda x: np.asarray(x)

    def f(x):
        y = xc.pure_callback(same, xc.ShapeDtypeStruct(x.shape, x.dtype), x.T.reshape(x.shape))
        z = io_callback(same, xc.ShapeDtypeStruct(x.shape, x.dtype), y, ordered=True)
        xc.debug.print("{}", z, ordered=True)
        io_callback(lambda x: None, None, z.T)
        return z

    lowered = xc.jit(f).lower(xc.ShapeDtypeStruct((2, 3), "float32"))
    text = lowered.for_platforms(platform)[platform].as_text()
    calls = [x for x in text.splitlines() if "@xla_ffi_python" in x]
    assert len(calls) == 4
    assert all("operand_layouts = [" in x and "result_layouts = [" in x for x in calls)
