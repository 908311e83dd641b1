"""The switch itself: the command, what is allowed, what it is made of, and that it is off."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax, random
from xcore._core import findings

SCRIPT = """
import sys
import xcore as xc, xcore.numpy as xnp

def train(x):
    x.at[0].set(1.0)
    return xc.jit(lambda v: v / v)(x)  # divides

assert sys.argv[1:] == ["one", "two"] and __name__ == "__main__"
print(train(xnp.ones(2)))
if __file__.endswith("bad.py"):
    print(train(xnp.zeros(2)))
"""


@pytest.fixture(autouse=True)
def nothing_told():
    findings.forget()
    yield
    findings.forget()


@pytest.mark.parametrize("name", ["good", "bad"])
def test_the_command(name, tmp_path):
    script = tmp_path / f"{name}.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "xcore", "sanitize", str(script), "one", "two"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1
    assert "[1. 1.]" in done.stdout
    assert f"{name}.py:6: xcore: x.at[...] gives a changed copy" in done.stderr
    if name == "good":
        assert "xcore sanitize: 1 finding" in done.stderr
    else:
        assert "made a NaN" in done.stderr and "bad.py:7 in <lambda>" in done.stderr
        assert "xcore sanitize: the script failed" in done.stderr


GOES_ON = """
import threading
import xcore as xc, xcore.numpy as xnp

def divide(x):
    return x / x

def look_up(x):
    return xc.jit(lambda x, i: x[i])(x, 5)

def draw(key):
    return xc.random.normal(key) + xc.random.uniform(key)

for f, x in ((divide, xnp.zeros(2)), (look_up, xnp.ones(3)), (draw, xc.random.key(0))):
    try:
        f(x)
    except Exception:
        print("caught")

def root():
    xnp.sqrt(xnp.asarray([-1.0])).sum().item()

thread = threading.Thread(target=root)
thread.start()
thread.join()
"""


def test_errors_that_the_script_catches(tmp_path):
    script = tmp_path / "goes_on.py"
    script.write_text(GOES_ON)
    command = [sys.executable, "-m", "xcore", "sanitize", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stdout.count("caught") == 3
    assert "xcore sanitize: 4 findings" in done.stderr
    for line in (6, 9, 12, 21):
        assert f"goes_on.py:{line} in " in done.stderr
    assert done.stderr.count("the script went on") == 4


WAYS_OF_A_SUM = {
    "eager": lambda x: x.sum(),
    "mean": lambda x: x.mean(),
    "jit": lambda x: xc.jit(lambda v: v.sum())(x),
    "grad": lambda x: xc.grad(lambda v: v.sum())(x),
    "jit(grad)": lambda x: xc.jit(xc.grad(lambda v: v.sum() ** 2))(x),
    "jvp": lambda x: xc.jvp(lambda v: v.sum(), (x,), (x,)),
    "vmap": lambda x: xc.vmap(lambda v: v.sum())(x[None]),
    "vmap of grad": lambda x: xc.vmap(xc.grad(lambda v: v.sum()))(x[None]),
    "jit(vmap)": lambda x: xc.jit(xc.vmap(lambda v: v.sum()))(x[None]),
    "scan": lambda x: lax.scan(lambda c, v: (c, v.sum()), 0.0, x[None]),
    "cond": lambda x: xc.jit(lambda x: lax.cond(x[0] > 0, lambda v: v.sum(), lambda v: v[0], x))(x),
}


@pytest.mark.parametrize("way", WAYS_OF_A_SUM)
def test_cancellation_is_a_warning_everywhere(way):
    x = xnp.asarray([1e8, 1.0, -1e8])
    with xc.config.override(sanitize=True, sanitize_cancellation=True):
        with pytest.warns(xc.errors.SanitizeWarning, match="loses its digits"):
            WAYS_OF_A_SUM[way](x)


def write(x, i):
    return x.at[i].set(1.0)


def read(x, i):
    return x[i]


def cast(x, i):
    return (x * 1e10).astype(int)


def divide(x, i):
    return 1 / (0 * x)


def root(x, i):
    return xnp.sqrt(-x)


def inverse(x, i):
    return xnp.linalg.inv(x * xnp.ones((3, 3)))


KINDS = [
    (write, "index"), (read, "index"), (cast, "overflow"), (divide, "infinity"), (root, "nan"), (inverse, "singular"),
]  # fmt: skip


@pytest.mark.parametrize("wrap", [xc.jit, lambda f: xc.jit(xc.jit(f)), lambda f: xc.checkpoint(f)])
@pytest.mark.parametrize(("f", "kind"), KINDS, ids=lambda x: getattr(x, "__name__", x))
def test_allowed_by_kind(f, kind, wrap):
    def allowed(x, i):
        with xc.sanitize.allow(kind):
            return f(x, i)

    def run(g):
        np.asarray(xc.jit(wrap(g))(xnp.ones(3), 9 if kind == "index" else 0))

    with xc.config.override(sanitize=True):
        with pytest.raises((xc.errors.SanitizeError, xc.errors.CheckError)):
            run(f)
        if kind != "singular":  # what comes of it is a kind of its own
            run(allowed)


def test_unknown_kinds_are_refused():
    with pytest.raises(ValueError, match="kinds"):
        xc.sanitize.allow("NaN")


@pytest.mark.parametrize("setting", ["sanitize", "debug_checks"])
@pytest.mark.parametrize("wrap", [lambda f: f, xc.jit, lambda f: lambda i: xc.vmap(f)(i[None])])
@pytest.mark.parametrize(
    "f",
    [
        lambda x, i: lax.dynamic_slice(x, (i,), (2,)),
        lambda x, i: lax.dynamic_slice_in_dim(x, i, 2),
        lambda x, i: lax.dynamic_index_in_dim(x, i),
        lambda x, i: lax.dynamic_update_slice(x, x[:2], (i,)),
        lambda x, i: lax.dynamic_update_slice_in_dim(x, x[:2], i, 0),
        lambda x, i: lax.dynamic_update_index_in_dim(x, x[0], i, 0),
    ],
)
def test_windows_that_do_not_fit(f, wrap, setting):
    x = xnp.arange(5)
    g = wrap(lambda i: f(x, i))
    with xc.config.override(**{setting: True}):
        for i in (0, 3, -2, -5):
            g(xnp.asarray(i))
        for i in (5, -6):
            with pytest.raises(IndexError, match="does not lie within axis 0"):
                g(xnp.asarray(i))
    g(xnp.asarray(5))


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
)
@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64"])
def test_casts_at_the_bounds(source, dtype):
    """As NumPy tells them: a float fits if its whole part is in the integers' range."""
    info = np.iinfo(dtype)
    x = xnp.asarray([0.0, 1.5, -0.5, info.min, -1.0, 3e4, -3e4, 126.9, 127.5, 255.5], source)
    x = xnp.concatenate([x, xnp.asarray([2.0**k for k in (7, 8, 15, 31, 32, 63)], source)])
    for v in x:
        number = float(v)
        fits = np.isfinite(number) and info.min <= int(number) <= info.max
        with xc.config.override(sanitize=True):
            if fits:
                v.astype(dtype)
            else:
                with pytest.raises(xc.errors.SanitizeOverflowError, match=dtype):
                    v.astype(dtype)


def test_the_same_key_in_each_step_may_be_meant():
    key = random.key(0)
    with xc.config.override(sanitize=True):
        draw = lambda i, s: s + random.normal(random.clone(key))
        assert np.isfinite(lax.fori_loop(0, 3, draw, 0.0))


def test_positions_in_parts_and_their_devices():
    mesh = xc.make_mesh((len(xc.devices()),), ("i",))
    n = len(xc.devices())
    spec = xc.P("i")
    f = xc.shard_map(lambda v, w: w[v], mesh=mesh, in_specs=(spec, xc.P()), out_specs=spec)
    i = np.arange(n)
    with xc.config.override(sanitize=True):
        np.testing.assert_array_equal(xc.jit(f)(i, i * 2), i * 2)
        with pytest.raises(IndexError, match=f"index {n} is out of bounds"):
            xc.jit(f)(np.where(i == n - 1, n, i), i)


def test_nothing_is_different_when_it_is_off():
    def f(x, i):
        return x.at[i].set(2.0)[i] + lax.dynamic_slice(x, (i,), (2,)).sum() + x.astype(int)[0]

    before = str(xc.make_jaxpr(f)(xnp.ones(3), 1))
    with xc.config.override(sanitize=True):
        assert "check" in str(xc.make_jaxpr(f)(xnp.ones(3), 1))
    assert str(xc.make_jaxpr(f)(xnp.ones(3), 1)) == before
    assert "check" not in before


def test_a_warning_for_each_line():
    def lose(x):
        x.at[0].set(1)
        x.at[1].set(1)

    with xc.config.override(sanitize=True), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(3):
            lose(xnp.zeros(2))
    assert len({w.lineno for w in told}) == len(told) == 2
