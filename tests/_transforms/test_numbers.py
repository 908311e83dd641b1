"""A value that has a derivative is not given away as a plain number: the derivative would be lost."""

import copy
import math
import operator
import pickle

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax
from xcore.errors import ConcretizationError


def _stored(x):
    out = np.zeros(1)
    try:
        out[0] = x
    except ValueError as e:  # NumPy's own words; ours are the cause
        raise e.__cause__ from None
    return out[0]


WAYS = {
    "float": float,
    "complex": lambda x: complex(x).real,
    "np.asarray": np.asarray,
    "np.array": lambda x: np.array(x, copy=True),
    "np.float32": np.float32,
    "np.sin": np.sin,
    "np.add": lambda x: np.add(x, np.ones(())),
    "np.linalg.norm": np.linalg.norm,
    "np.dot": lambda x: np.dot(x, x),
    "np.stack": lambda x: np.stack([x, x]).sum(),
    "np.full": lambda x: np.full(2, x).sum(),
    "np.interp": lambda x: np.interp(x, [0.0, 9.0], [0.0, 9.0]),
    "np.where": lambda x: np.where(True, x, 0.0),
    "np.object": lambda x: np.asarray([x], dtype=object)[0],
    "np.random": lambda x: np.random.default_rng(0).normal(x, 0.0),
    "stored": _stored,
    "math.sin": math.sin,
    "math.pow": lambda x: math.pow(x, 2.0),
    "math.fsum": lambda x: math.fsum([x, x]),
    "item": lambda x: x.item(),
    "tolist": lambda x: x.tolist(),
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "tobytes": lambda x: np.frombuffer(x.tobytes(), x.dtype)[0],
    "operator": lambda x: operator.methodcaller("item")(x),
    "iteration": lambda x: sum(float(v) for v in xnp.stack([x, 2 * x])),
    "tolist of many": lambda x: sum(xnp.stack([x, 2 * x]).tolist()),
}

TRANSFORMS = {
    "grad": lambda f: xc.grad(f)(3.0),
    "value_and_grad": lambda f: xc.value_and_grad(f)(3.0),
    "jvp": lambda f: xc.jvp(f, (3.0,), (1.0,)),
    "vjp": lambda f: xc.vjp(f, 3.0)[1](1.0),
    "linearize": lambda f: xc.linearize(f, 3.0)[1](1.0),
    "jacfwd": lambda f: xc.jacfwd(f)(3.0),
    "jacrev": lambda f: xc.jacrev(f)(3.0),
    "hessian": lambda f: xc.hessian(f)(3.0),
    "grad of grad": lambda f: xc.grad(xc.grad(f))(3.0),
    "jvp of grad": lambda f: xc.jvp(xc.grad(f), (3.0,), (1.0,)),
    "vmap of grad": lambda f: xc.vmap(xc.grad(f))(xnp.arange(1.0, 4.0)),
    "grad of vmap": lambda f: xc.grad(lambda x: xc.vmap(f)(x).sum())(xnp.arange(1.0, 4.0)),
    "grad without jit": lambda f: _without_jit(lambda: xc.grad(xc.jit(f))(3.0)),
    "grad of a scan without jit": lambda f: _without_jit(
        lambda: xc.grad(lambda x: lax.scan(lambda c, _: (f(c), None), x, None, 2)[0])(3.0)
    ),
    "grad of a loop without jit": lambda f: _without_jit(
        lambda: xc.jvp(lambda x: lax.fori_loop(0, 2, lambda i, c: f(c), x), (3.0,), (1.0,))
    ),
    "grad of a branch without jit": lambda f: _without_jit(
        lambda: xc.grad(lambda x: lax.cond(x > 0, f, lambda v: v, x))(3.0)
    ),
    "grad of a scan": lambda f: xc.grad(
        lambda x: lax.scan(lambda c, _: (f(c), None), x, None, 2)[0]
    )(3.0),
    "grad of jit": lambda f: xc.grad(xc.jit(f))(3.0),
    "grad of checkpoint": lambda f: xc.grad(xc.checkpoint(f))(3.0),
    "inside a custom_jvp": lambda f: xc.grad(xc.grad(_with_rule(f)))(3.0),
    "inside a custom_vjp": lambda f: xc.grad(xc.grad(_with_reverse_rule(f)))(3.0),
}


def _without_jit(f):
    with xc.disable_jit():
        return f()


def _with_rule(f):
    """x³ with a derivative that asks for a number: the second derivative would be lost."""

    @xc.custom_jvp
    def cube(x):
        return x**3

    cube.defjvp(lambda p, t: (p[0] ** 3, 3.0 * (p[0] + 0.0 * f(p[0])) ** 2 * t[0]))
    return cube


def _with_reverse_rule(f):
    @xc.custom_vjp
    def cube(x):
        return x**3

    cube.defvjp(lambda x: (x**3, x), lambda x, g: (3.0 * (x + 0.0 * f(x)) ** 2 * g,))
    return cube


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_number_is_refused(transform, way):
    with pytest.raises(ConcretizationError, match="Python needs"):
        TRANSFORMS[transform](lambda x: WAYS[way](x) * x)


_EAGER = [
    t for t in TRANSFORMS if "vmap" not in t and not t.endswith(("scan", "jit", "checkpoint"))
]


@pytest.mark.parametrize("way", [w for w in WAYS if w not in ("iteration", "tolist of many")])
@pytest.mark.parametrize("transform", _EAGER)
def test_the_number_of_a_stopped_value_is_given(transform, way):
    TRANSFORMS[transform](lambda x: WAYS[way](lax.stop_gradient(x)) * x)


def test_the_derivative_with_a_stopped_value_is_that_of_the_rest():
    stopped = lax.stop_gradient
    assert xc.grad(lambda x: float(stopped(x)) * x**2)(3.0) == 18
    assert xc.grad(lambda x: xc.grad(lambda y: y**2 * float(stopped(y)))(x) * x)(3.0) == 36
    assert xc.jvp(lambda x: np.sin(stopped(x)) * x, (3.0,), (1.0,))[1] == np.float32(np.sin(3.0))


ALLOWED = {
    "bool": lambda x: x**2 if x > 0 else -x,
    "and": lambda x: x**2 if x and not x < 1 else x,
    "int": lambda x: x**2 + 0 * int(x),
    "an index": lambda x: x**2 + ([0.0] * 9)[int(x)],
    "floor": lambda x: x**2 + 0 * (math.floor(x) + math.ceil(x) + math.trunc(x)),
    "round": lambda x: x**2 + 0 * round(x),
    "comparing": lambda x: x**2 * (np.asarray(x > 0) & (float(x == 3.0) == 1.0)),
    "text": lambda x: x**2 * (f"{x} {x!s} {x!r} {x:.2f}" != ""),
    "shape": lambda x: x**2 * (np.shape(x) == () and np.ndim(x) == 0),
    "sum": lambda x: np.sum(x**2) if hasattr(x, "sum") else 0,
    "max": lambda x: max([x, x**2, 2 * x]),
    "an array on the left": lambda x: (np.ones(2) * x**2).sum() / 2,
    "copies": lambda x: copy.deepcopy(x) * copy.copy(x),
    "a list of values": lambda x: xnp.asarray([[x, x], [x, 0.0]])[0].prod(),
    "other numbers": lambda x: x**2 * float(xnp.ones(())),
    "floats of integers": lambda x: x**2 + 0.0 * float(x.astype(int)),
    "printing": lambda x: (print(x, [x], {"x": x}), x**2)[1],
}


@pytest.mark.parametrize("way", ALLOWED)
@pytest.mark.parametrize(
    "transform", ["grad", "value_and_grad", "jvp", "vjp", "jacfwd", "jacrev", "linearize"]
)
def test_what_loses_nothing_is_allowed(transform, way):
    out = TRANSFORMS[transform](ALLOWED[way])
    slope = out[-1] if isinstance(out, tuple) else out
    assert float(slope) == 6.0


def test_the_message_names_the_line_the_reason_and_both_ways_out():
    def f(x):
        return np.linalg.norm(x)  # the asking line

    with pytest.raises(ConcretizationError) as info:
        xc.grad(f)(3.0)
    text = str(info.value)
    for part in (__file__, "the asking line", "derivative", "stop_gradient", "xnp"):
        assert part in text
    with pytest.raises(ConcretizationError, match="the asking line"):
        xc.jit(f)(3.0)


def test_a_value_that_is_not_differentiated_is_a_number():
    f = lambda x, y: x * float(y) * float(xnp.sin(y))
    assert xc.grad(f)(3.0, 2.0) == np.float32(2.0) * np.sin(np.float32(2.0))
    assert xc.jvp(lambda x: f(x, 2.0), (3.0,), (1.0,))[1] == xc.grad(f)(3.0, 2.0)


WANT_NUMBERS = {
    "arange": lambda x: xnp.arange(0, x, 1.0).sum(),
    "linspace": lambda x: xnp.linspace(0, 1, x).sum(),
    "mgrid": lambda x: xnp.mgrid[0:x:1.0].sum(),
    "static": lambda x: xc.jit(lambda a, b: a * b, static_argnums=1)(2.0, x),
}


@pytest.mark.parametrize("name", WANT_NUMBERS)
def test_functions_that_want_numbers_speak_of_the_derivative(name):
    f = WANT_NUMBERS[name]
    with pytest.raises(xc.errors.ConcretizationError, match=r"being differentiated.*stop_gradient"):
        xc.grad(f)(3.0)
    with pytest.raises(xc.errors.ConcretizationError, match="until the compiled program runs"):
        xc.jit(xc.grad(f))(3.0)
