"""(n,) beside (n, 1): told where the column came about, quiet where a new axis is spoken of."""

import linecache

import pytest

import xcore as xc
import xcore.numpy as xnp

ROW, INTS = xnp.arange(1.0, 5.0), xnp.arange(4)
COLUMN = xnp.ones((4, 3)) @ xnp.ones((3, 1))

FUNCTIONS = """
r - c | r < c | r ** c | c // r | r.clip(c, 9.0) | xnp.where(c > 1, r, 0.0) | xnp.where(r > 1, r, c)
xnp.select([c > 1], [r], 0.0) | xnp.clip(r, c, 9.0) | xnp.isclose(r, c) | xnp.allclose(r, c) | i & k | i == k
xnp.logaddexp(r, c) | xnp.divmod(r, c) | xnp.ldexp(r, k) | xnp.arctan2(r, c) | special.xlogy(r, c)
special.rel_entr(r, c) | special.betainc(r, c, 0.5) | stats.norm.logpdf(r, c) | stats.poisson.logpmf(i, c)
random.normal(random.key(0), r.shape) + c | sum([r, c]) | xc.jit(lambda a, b: a - b)(r, c)
xc.vmap(lambda a, b: a - b, in_axes=(None, None), axis_size=2)(r, c)
xc.lax.scan(lambda s, _: (s, s - c), r, None, length=3)[1]
""".replace("\n", "|").split("|")

BUGS = {
    "features of one column": """
x, w, y = xnp.arange(5.0)[:, None], xnp.ones((1, 1)), xnp.arange(5.0)
r = x @ w - y  # <- here
""",
    "prediction of a model": """
def model(w, x):
    return x @ w
x, y = xnp.arange(5.0)[:, None], xnp.arange(5.0)
def loss(w):
    pred = model(w, x)
    return ((pred - y) ** 2).mean()  # <- here
r = xc.jit(xc.grad(loss))(xnp.ones((1, 1)))
""",
    "labels reshaped before": """
y, p = xnp.arange(5.0).reshape(-1, 1), xnp.arange(5.0)
r = p - y  # <- here
""",
    "labels given by name": """
def mse(p, y):
    return ((p - y) ** 2).mean()  # <- here
y = xnp.arange(5.0).reshape(-1, 1)
r = mse(xnp.arange(5.0), y)
""",
    "a model of the user's": """
def predict(w, x):
    return w * x + 1
x, y = xnp.linspace(0, 1, 5)[:, None], xnp.linspace(0, 1, 5)
pred = predict(2.0, x)
r = xnp.abs(pred - y).max()  # <- here
""",
    "a model that is an object": """
class Model:
    def __init__(self):
        self.w = xnp.ones((3, 1))
    def __call__(self, x):
        return x @ self.w
m, x, y = Model(), xnp.ones((5, 3)), xnp.arange(5.0)
r = (lambda m: ((m(x) - y) ** 2).mean())(m)  # <- here
""",
    "None of another meaning": """
f = xc.vmap(lambda w, x: x @ w, in_axes=(None, 0))
x, y, w = xnp.ones((5, 3)), xnp.arange(5.0), xnp.ones((3, 1))
r = xc.lax.scan(lambda c, _: (c, f(c, x) - y), w, None, length=2)[1]  # <- here
""",
    "in place": """
def step(u, f):
    u -= 0.1 * f  # <- here
    return u
r = step(xnp.ones((5, 1)) + 0.0, xnp.arange(5.0))
""",
    "solution of a column": """
x = xnp.linalg.solve(3 * xnp.eye(5), xnp.ones((5, 1)))
r = xnp.linalg.norm(x - xnp.ones(5))  # <- here
""",
}

MEANT = {
    "parameters": """
def kernel(a, b):
    return xnp.exp(-(a - b) ** 2)
x = xnp.arange(5.0)
r = kernel(x[:, None], x), xc.jit(kernel)(x[:, None], x), kernel(x.reshape(-1, 1), x)
""",
    "names": """
x = xnp.arange(5.0)
col = x[:, None]
scaled = 2 * xnp.exp(col)
r = scaled - x
""",
    "attributes": """
class Grid:
    def __init__(self, n):
        x = xnp.linspace(0, 1, n)
        self.x, self.y = x[:, None], x
    def field(self):
        return xnp.sin(self.x) * xnp.cos(self.y)
r = Grid(5).field()
""",
    "parameters of parameters": """
def f(x, y):
    return x * y
def g(*a):
    return f(*a)
x = xnp.arange(5.0)
r = g(xnp.expand_dims(x, 1), x), g(x[:, None], x)
""",
    "sums that keep their axis": """
a = xnp.ones((5, 5))
r = (a**2).sum(axis=1, keepdims=True) + (a**2).sum(axis=1) - 2 * a @ a.T
""",
    "positions": """
i = xnp.arange(5)[:, None]
r = xnp.ones((5, 5))[i, xnp.arange(5)], xnp.where(i > xnp.arange(5), 0.0, 1.0)
""",
    "names within a function": """
t = xnp.linspace(0, 1, 5)
def wave(x, t):
    phase = 2 * x - t
    return xnp.sin(phase)
def solve(n):
    xs = xnp.linspace(0, 1, n)
    return wave(xs[:, None], xs)
r = solve(5), xc.grad(lambda a: wave(a * t[:, None], t).sum())(1.0)
""",
    "functions in the line": """
x = xnp.arange(1.0, 5.0)
r = xc.special.xlogy(x[:, None], x), xc.stats.norm.logpdf(x[:, None], x, 1.0), xnp.logaddexp(x[:, xnp.newaxis], x)
""",
}


def runner(text: str, name: str):
    """A function that runs a program, whose lines can be read as those of a file."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    code = compile(text, name, "exec")

    def run():
        space = {"xc": xc, "xnp": xnp, "r": ROW, "c": COLUMN, "i": INTS, "k": INTS[:, None] + 0}
        exec(code, space | {m: getattr(xc, m) for m in ("special", "stats", "random")})
        return space

    return run


@pytest.mark.parametrize("call", [f.strip() for f in FUNCTIONS if f.strip()])
def test_functions_that_broadcast(told, call):
    assert "beside (4, 1) makes (4, 4)" in told(lambda: runner(call, f"<call {call}>")() and None)


@pytest.mark.parametrize("case", BUGS)
def test_columns_that_came_about(told, case):
    text = BUGS[case]
    line = 1 + next(n for n, part in enumerate(text.splitlines()) if "# <- here" in part)
    assert f"<{case}>:{line} " in told(lambda: runner(text, f"<{case}>")() and None)


@pytest.mark.parametrize("case", MEANT)
def test_columns_that_are_meant(told, case):
    assert told(lambda: runner(MEANT[case], f"<{case}>")() and None) == ""
