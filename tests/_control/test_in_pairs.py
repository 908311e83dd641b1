"""Programs for a TPU, with pairs of float32 in the place of float64, run on this machine beside those they stand for."""

import operator

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax, linalg, optimize, pde, random, special, stats
from xcore._backend import client as backend
from xcore._backend.ffi import NotHere
from xcore._core import compile
from xcore._core.eval import execute
from xcore._core.op import registry, rewriting, texts
from xcore._core.types import ArrayType
from xcore._ops import long
from xcore._ops.families import INTEGERS, ZERO, elementwise
from xcore.special import _kernel

rng = np.random.default_rng(0)
N = 4003  # the last ones are computed by other code than the others


def on_scales(low, high, signed=True):
    size = np.exp(rng.uniform(np.log(low), np.log(high), N))
    return size * rng.choice([-1, 1], N) if signed else size


def as_for_a_tpu(p):
    """But for constants, which are computed in float64."""
    return p if p.name == "constants" else rewriting["tpu"](p)


def one_by_one(p, devices, donors, options):
    """Compiled without loops of many operations. jaxlib 0.12 makes one of thousands on a CPU and runs twice
    what is used twice, so that draws of Poisson's distribution in pairs would take hours."""
    options.executable_build_options.debug_options.xla_disable_hlo_passes += ",fusion"
    return compile._compile(p, devices, donors, options, None)[0]


@pytest.fixture
def both_ways(monkeypatch):
    """The results of a function, and those of a program of this machine that is written as one for a TPU."""

    def run(traced, args):
        found = traced._found
        exe = compile._build(traced.program, (backend.default_device(),), ())
        return [np.asarray(x) for x in execute(exe, [*found.captured, *map(xnp.asarray, args)])]

    def found(f, *args, fused=True):
        alone = lambda *a: compile._compile(*a, None)[0]
        traced = xc.jit(f).trace(*[xc.ShapeDtypeStruct(x.shape, x.dtype) for x in args])
        wide = traced.lower("cuda").as_text()
        assert "f64" in wide
        with monkeypatch.context() as m:
            m.setattr(compile, "_load_or_compile", alone if fused else one_by_one)
            here = run(traced, args)
            m.setitem(rewriting, "cpu", as_for_a_tpu)
            return here, run(traced.on("tpu"), args)

    return found


# Arithmetic


def in_parts(x):
    high = x.astype("float32")
    return high, (x - high).astype("float32")


def of_parts(f):
    """A function of float64 as one of pairs of float32, whose result is a pair too."""

    def g(*parts):
        xs = [a.astype("float64") + b.astype("float64") for a, b in zip(parts[::2], parts[1::2])]
        y = f(*xs)
        high = y.astype("float32")
        return high, (y - high.astype("float64")).astype("float32")

    return g


ANY, POSITIVE = on_scales(1e-12, 1e12), on_scales(1e-12, 1e12, signed=False)
ARITHMETIC = {
    "add": (operator.add, ANY, on_scales(1e-12, 1e12)),
    "add what cancels": (operator.add, ANY, -ANY * (1 + rng.uniform(-1e-6, 1e-6, N))),
    "subtract": (operator.sub, ANY, on_scales(1e-12, 1e12)),
    "multiply": (operator.mul, ANY, on_scales(1e-12, 1e12)),
    "divide": (operator.truediv, ANY, on_scales(1e-12, 1e12)),
    "sqrt": (xnp.sqrt, POSITIVE),
    "exp": (xnp.exp, rng.uniform(-80, 80, N)),
    "exp near 0": (xnp.exp, on_scales(1e-12, 1)),
    "expm1": (xnp.expm1, on_scales(1e-25, 20)),
    "log": (xnp.log, POSITIVE),
    "log near 1": (xnp.log, 1 + on_scales(1e-9, 0.5)),
    "log1p": (xnp.log1p, on_scales(1e-20, 1e6, signed=False)),
    "log1p below 0": (xnp.log1p, -rng.uniform(0, 0.99, N)),
    "tanh": (xnp.tanh, on_scales(1e-6, 50)),
    "floor": (xnp.floor, ANY),
    "ceil": (xnp.ceil, ANY),
    "round": (xnp.round, ANY),
    "round halves": (xnp.round, rng.integers(-100, 100, N) / 2),
    "sum": (lambda x: xnp.cumsum(xnp.abs(x)), ANY),
    "largest": (lambda x: xnp.max(x[:4000].reshape(-1, 50), -1), ANY),
    "smallest": (lambda x: xnp.min(x[:4000].reshape(-1, 50), -1), ANY),
    "sorted": (xnp.sort, np.concatenate([ANY[:50], ANY[:50] * (1 + 1e-12)])),
    "total": (lambda x: xnp.sum(xnp.abs(x[:4000]).reshape(-1, 50), -1), ANY),
    "product": (lambda x: xnp.prod(x[:4000].reshape(-1, 50), -1), 1 + on_scales(1e-9, 0.1)),
    "matrix product": (
        lambda x: xnp.abs(x[:4000]).reshape(40, 100) @ xnp.abs(x[:4000]).reshape(100, 40),
        ANY,
    ),
}
LOOSE = {  # relative to what, and to what digit
    "power": (operator.pow, 2**-40, on_scales(1e-3, 1e3, signed=False), rng.uniform(-8, 8, N)),
    "sin": (xnp.sin, None, on_scales(1e-6, 1e6)),
    "cos": (xnp.cos, None, on_scales(1e-6, 1e6)),
    "erf": (lax.erf, 2**-42, on_scales(1e-6, 8)),
}


def errors(both_ways, f, *xs):
    """(errors, exact results) of a function of float64 in pairs."""
    parts = [p for x in xs for p in in_parts(x)]
    (want, rest), (high, low) = both_ways(of_parts(f), *parts)
    exact = want.astype(float) + rest
    return np.abs(high.astype(float) + low - exact), exact


@pytest.mark.parametrize("name", ARITHMETIC)
def test_pairs_have_44_bits_and_more(both_ways, name):
    f, *xs = ARITHMETIC[name]
    off, exact = errors(both_ways, f, *xs)
    assert (off <= 2**-44 * np.abs(exact)).all()


@pytest.mark.parametrize("name", LOOSE)
def test_powers_and_sines(both_ways, name):
    """Sines have their errors relative to 1 and to the digits of large angles."""
    f, bound, *xs = LOOSE[name]
    off, exact = errors(both_ways, f, *xs)
    assert (off <= (bound * np.abs(exact) if bound else 2**-45 * (1 + np.abs(xs[0])))).all()


def test_the_ends_of_the_range(both_ways):
    values = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 3e38, -3e38, 1e-37], "float32")
    x, y = (v.ravel() for v in np.meshgrid(values, values))
    functions = {
        "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "max": xnp.maximum,
        "min": xnp.minimum, "<": operator.lt, "==": operator.eq, "exp": lambda x, y: xnp.exp(x),
        "log": lambda x, y: xnp.log(x), "sqrt": lambda x, y: xnp.sqrt(x), "expm1": lambda x, y: xnp.expm1(x),
        "log1p": lambda x, y: xnp.log1p(x), "floor": lambda x, y: xnp.floor(x), "abs": lambda x, y: abs(x),
    }  # fmt: skip
    for name, f in functions.items():
        wide = lambda x, y, f=f: f(x.astype("float64"), y.astype("float64")).astype("float32")
        (want,), (got,) = both_ways(wide, x, y)
        with np.errstate(all="ignore"):
            np.testing.assert_array_almost_equal_nulp(np.nan_to_num(want), np.nan_to_num(got), 1)
        assert (np.isnan(want) == np.isnan(got)).all(), name
        assert (np.isinf(want) == np.isinf(got)).all(), name


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint32", "int64", "uint64"])
def test_integers_there_and_back(both_ways, dtype):
    info = np.iinfo(dtype)
    ends = [
        v
        for v in (info.min, info.min + 1, -1, 0, 1, info.max - 1, info.max)
        if info.min <= v <= info.max
    ]
    largest = min(info.max, 2**48)
    more = rng.integers(max(info.min, -largest), largest, 500, dtype=dtype, endpoint=True)
    x = np.concatenate([np.array([v for v in ends if abs(v) <= 2**48], dtype), more])
    (want,), (got,) = both_ways(lambda v: v.astype("float64").astype(v.dtype), x)
    np.testing.assert_array_equal(want, got)
    halves = np.array([-1e10, -7.5, -0.5, 0.5, 7.5, 200.25, 3e9, 1e12, 1e25], "float32")
    (want,), (got,) = both_ways(lambda v: (v.astype("float64") * 1).astype(dtype), halves)
    np.testing.assert_array_equal(want, got)


# Functions of float32 that compute in float64 inside

X, POINTS = rng.normal(size=1000).astype("float32"), rng.uniform(size=9).astype("float32")
WHOLE = rng.integers(-50, 50, 500).astype("int32")
HOLES = np.where(rng.uniform(size=1000) < 0.1, np.nan, X).astype("float32")
KEY = np.asarray(random.PRNGKey(3))
SINGLE = np.float32(2.5).reshape(())
FUNCTIONS = {
    "linspace": (lambda x: xnp.linspace(0, 1, 101) + x, SINGLE * 0),
    "linspace of integers": (lambda x: xnp.linspace(-x, x, 37, dtype="int32"), SINGLE * 8),
    "linspace, complex": (lambda x: xnp.linspace(0, 1 + 1j, 11) * x, SINGLE),
    "linspace with its step": (lambda x: xnp.linspace(0.1, 0.7, 11, retstep=True)[1] + x, SINGLE * 0),
    "logspace": (lambda x: xnp.logspace(0, 3, 50) + x, SINGLE * 0),
    "geomspace": (lambda x: xnp.geomspace(1, 1000, 50) + x, SINGLE * 0),
    "gradient": (lambda x: xnp.gradient(x, np.linspace(0, 1, 1000)), X),
    "polyint": (xnp.polyint, POINTS),
    "histogram": (lambda x: xnp.histogram(x, 17), X),
    "histogram of integers": (lambda x: xnp.histogram(x, 10), WHOLE),
    "histogram in a range": (lambda x: xnp.histogram(x, 10, range=(-1, 1), density=True), X),
    "histogram2d": (lambda x: xnp.histogram2d(x, x[::-1], 5), X),
    "histogramdd": (lambda x: xnp.histogramdd(x.reshape(-1, 2), 4), X),
    "histogram_bin_edges": (lambda x: xnp.histogram_bin_edges(x, 30), X),
    "quantile": (xnp.quantile, X, POINTS),
    "quantile, hazen": (lambda x, q: xnp.quantile(x, q, method="hazen"), X, POINTS),
    "quantile with weights": (lambda x: xnp.quantile(x, 0.3, weights=xnp.abs(x), method="inverted_cdf"), X),
    "percentile": (lambda x, q: xnp.percentile(x, 100 * q), X, POINTS),
    "nanquantile": (xnp.nanquantile, HOLES, POINTS),
    "nanpercentile": (lambda x: xnp.nanpercentile(x, 30), HOLES),
    "nanmedian": (xnp.nanmedian, HOLES),
    "digitize": (lambda x: xnp.digitize(x, xnp.linspace(-1, 1, 7)), X),
    "pde.solve": (lambda f: pde.solve(pde.Laplacian(pde.Grid((16, 16))), f), X[:225].reshape(15, 15)),
    "poisson.pmf": (lambda k: stats.poisson.pmf(k, 3.5), np.arange(12, dtype="float32")),
    "special.exp1": (special.exp1, np.abs(X)),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_what_they_are_elsewhere(both_ways, name):
    """To the last digit of float32 but one; counts and other whole numbers are the same."""
    f, *args = FUNCTIONS[name]
    for want, got in zip(*both_ways(f, *args), strict=True):
        if want.dtype.kind in "iub":
            np.testing.assert_array_equal(want, got)
        else:
            loose = 1e-6 * np.abs(want).max() if name == "gradient" else 0  # differences of float32
            np.testing.assert_allclose(want, got, rtol=2.5e-7, atol=1e-37 + loose)


def sample(count, seed):
    """Arguments of all scales, whole numbers among them, a part of them negative."""
    draw, n = np.random.default_rng(seed), 1003
    for _ in range(count):
        scales = (
            draw.uniform(0, 1, n),
            draw.uniform(0, 20, n),
            np.exp(draw.uniform(-18, 18, n)),
            draw.integers(0, 12, n) * 1.0,
        )
        x = np.choose(draw.integers(0, 4, n), scales) * draw.choice([1, 1, 1, -1], n)
        yield x.astype("float32")


QUICK = ("i0e", "exp1", "ellipk", "xlogy")
KERNELS = sorted(name.removeprefix("special.") for name in _kernel._IN_PAIRS)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in KERNELS]
)
def test_special_functions_have_the_digits_of_float32(name, both_ways):
    op, args = registry[f"special.{name}"], [*sample(_arguments(name), 1)]
    f = lambda *xs: op(*[x.astype("float64") for x in xs]).astype("float32")
    (want,), (got,) = both_ways(f, *args)
    np.testing.assert_array_equal(np.isnan(want), np.isnan(got))
    np.testing.assert_array_equal(np.isinf(want), np.isinf(got))
    there = np.isfinite(want)
    off = np.abs(want[there].astype(float) - got[there])
    assert (off <= np.maximum(1.01 * np.spacing(np.abs(want[there])), 1.2e-38)).all()


def _arguments(name):
    t = ArrayType((2,), np.dtype("float64"))
    for count in (1, 2, 3):
        try:
            return count if texts[f"special.{name}"](*[t] * count) else 0
        except TypeError:
            continue
    raise AssertionError(name)


def test_multigrid_solves_as_well(both_ways):
    grid = pde.Grid((32, 32))
    solve = lambda f: pde.solve(pde.Laplacian(grid), f, method="multigrid")
    (want, *_), (got, *_) = both_ways(solve, X[:961].reshape(31, 31))
    np.testing.assert_allclose(want, got, atol=2e-6 * np.abs(want).max())


DRAWS = {
    "poisson": lambda k: random.poisson(k, 4.0, (3000,)),
    "poisson of many": lambda k: random.poisson(k, 4e5, (3000,)),
    "binomial": lambda k: random.binomial(k, 10, 0.3, (3000,), "int32"),
    "binomial of many": lambda k: random.binomial(k, 10**6, 0.3, (3000,), "int32"),
    "negative binomial": lambda k: random.negative_binomial(k, 3, 0.3, (3000,)),
    "multinomial": lambda k: random.multinomial(k, 40, xnp.array([0.2, 0.3, 0.5]), dtype="int32"),
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n == "multinomial" else ()) for n in DRAWS]
)
def test_draws_are_the_same_numbers(both_ways, name):
    (want, *_), (got, *_) = both_ways(DRAWS[name], KEY, fused=backend.VERSION < 505)
    assert (want != got).mean() < 1e-3


# Divisions of 64-bit integers


def _by_pieces(name, f):
    return elementwise(
        name,
        args=2,
        kinds=INTEGERS,
        jvp=ZERO,
        lower=lambda ctx, x, y: f(ctx, x, y, ctx.out_types[0]),
    )


quotient = _by_pieces("test.quotient", lambda *a: long.divided(*a)[0])
rest = _by_pieces("test.rest", lambda *a: long.divided(*a)[1])
upper = _by_pieces("test.upper", long.upper_half)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_long_divisions_are_exact(dtype):
    info = np.iinfo(dtype)
    ends = [
        info.min,
        info.min + 1,
        0,
        1,
        2,
        3,
        7,
        10,
        2**31,
        2**32 - 1,
        2**32,
        2**32 + 1,
        info.max - 1,
        info.max,
    ]
    ends += [-1, -2, -7, -(2**32)] if dtype == "int64" else [2**63, 2**63 + 1]
    some = rng.integers(info.min, info.max, 300, dtype=dtype, endpoint=True)
    small = some >> rng.integers(0, 63, 300).astype(dtype)
    x, y = (v.ravel() for v in np.meshgrid(np.array(ends, dtype), np.array(ends, dtype)))
    x, y = np.concatenate([x, some, some]), np.concatenate([y, small, some[::-1]])
    x, y = x[y != 0], y[y != 0]
    for op, exact in ((quotient, _quotient), (rest, _rest), (upper, lambda a, b: a * b >> 64)):
        got = np.asarray(xc.jit(lambda a, b, op=op: op(a, b))(xnp.asarray(x), xnp.asarray(y)))
        want = [exact(a, b) for a, b in zip(x.tolist(), y.tolist())]
        np.testing.assert_array_equal(
            got, np.array([w % 2**64 for w in want], "uint64").astype(dtype)
        )


def _quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _rest(a, b):
    return a - b * _quotient(a, b)


# What is lowered


LOWERED = {
    **{name: (f, *args) for name, (f, *args) in FUNCTIONS.items()},
    **{name: (f, KEY) for name, f in DRAWS.items()},
    "randint": (lambda k: random.randint(k, (9,), 0, 10), KEY),
    "choice": (lambda k: random.choice(k, 10, (3,)), KEY),
    "long division": (lambda x: x.astype("int64") // 7 + x.astype("int64") % 5, WHOLE),
    "half precision": (lambda x, q: xnp.quantile(x.astype("bfloat16"), q), X, POINTS),
    "optimize": (lambda x: optimize.minimize(lambda y: (y**2).sum(), x).x, POINTS),
    "a residual": (lambda b: linalg.linear_solve(xnp.eye(9), b, linalg.CG()), POINTS),
}


@pytest.mark.parametrize("name", LOWERED)
def test_lowered_for_a_tpu_without_float64(name):
    f, *args = LOWERED[name]
    text = xc.jit(f).lower(*args).for_platforms("tpu")["tpu"].as_text()
    assert "f64" not in text


@pytest.mark.parametrize("platform", ["cpu", "cuda"])
def test_other_platforms_compute_in_float64(platform):
    for name in ("linspace", "quantile", "histogram"):
        f, *args = FUNCTIONS[name]
        lowered = xc.jit(f).lower(*args).for_platforms("tpu", platform)[platform]
        assert (
            "f64" in lowered.as_text()
            and lowered._traced._found.on_tpu is not lowered._traced._found
        )
        assert "stablehlo.bitcast_convert" not in lowered.as_text()


def test_nested_functions_share_what_they_captured():
    inner = xc.jit(lambda x: xnp.linspace(0, 1, 5) * x)
    outer = xc.jit(
        lambda x: inner(x) + lax.fori_loop(0, 3, lambda i, y: y + inner(x), 0 * inner(x))
    )
    assert "f64" not in outer.trace(SINGLE).lower("tpu").as_text()


def test_exported_for_all_platforms():
    exported = xc.export.export(
        xc.jit(lambda x: xnp.linspace(0, 1, 5) * x), platforms=["cpu", "tpu"]
    )(SINGLE)
    np.testing.assert_array_equal(exported.call(SINGLE), xnp.linspace(0, 1, 5) * SINGLE)


def test_derivatives_and_batches(both_ways):
    slope = xc.grad(
        lambda x: xnp.quantile(x, xnp.float32(0.3)) + (xnp.linspace(0, 1, 5) * x[:5]).sum()
    )
    for f in (slope, xc.vmap(lambda x: xnp.histogram(x, 4)[0])):
        x = X if f is slope else X.reshape(10, 100)
        for want, got in zip(*both_ways(f, x), strict=True):
            np.testing.assert_allclose(want, got, rtol=2.5e-7)


# What is refused


def refusal(f, *args) -> str:
    with pytest.raises(NotHere) as found:
        xc.jit(f).trace(*args).lower("tpu")
    return str(found.value)


def test_arguments_and_results_of_64_bits_are_told_of_as_such():
    wide = xc.ShapeDtypeStruct((3,), "float64")
    for said in (refusal(xnp.sin, wide), refusal(lambda x: x.astype("float64"), SINGLE)):
        assert "Use float32" in said and "inside" not in said


def test_what_computes_in_64_bits_inside_is_named():
    def f(x):
        return xnp.linalg.inv(x.astype("float64")).astype("float32")

    said = refusal(f, np.eye(3, dtype="float32"))
    assert (
        "inside" in said and " lu " in said and "device_put" in said and "Use float32" not in said
    )


def test_numbers_beyond_the_range_are_refused_but_as_bounds():
    said = refusal(lambda x: (x.astype("float64") * 1e200).astype("float32"), SINGLE)
    assert "1e+200" in said and "device_put" in said
    refusal(lambda x: (x.astype("float64") * 1e-200).astype("float32"), SINGLE)
    bounded = lambda x: xnp.clip(x.astype("float64"), 1e-300, 1e300).astype("float32")
    assert "f64" not in xc.jit(bounded).trace(SINGLE).lower("tpu").as_text()


def test_functions_that_need_more_than_pairs_are_named():
    said = refusal(special.betaincinv, *[POINTS] * 3)
    assert "special.betaincinv" in said and "inside" in said and "device_put" in said
