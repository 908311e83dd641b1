"""The Programs of a dozen functions as they were: a refactoring that changes nothing leaves them so.

`python tests/_core/test_programs.py` writes them anew, for a change that is meant.
"""

import re
from pathlib import Path

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import _ops as ops
from xcore import lax
from xcore._core import compile

STORED = Path(__file__).with_name("programs.txt")

x = np.linspace(0.1, 1, 4, dtype=np.float32)
m = np.arange(12, dtype=np.float32).reshape(3, 4)


def softmax_loss(w, b):
    return -xnp.log(xc.nn.softmax(m @ w + b))[..., 0].sum()


def newton(a):
    return lax.while_loop(lambda s: abs(s * s - a) > 1e-6, lambda s: 0.5 * (s + a / s), a)


def running(c, ys):
    return lax.scan(lambda c, y: (xnp.tanh(c + y), c * y), c, ys)


FUNCTIONS = {
    "where": (lambda x: xnp.where(x > 0.5, x, 0.1 * xnp.exp(x)), x),
    "mean and variance": (lambda m: (m.mean(0), m.var(1)), m),
    "indexing": (lambda m, i: m[1:, ::-1] + m.at[i].set(0.0)[:2], m, np.int32(2)),
    "gradient of a softmax loss": (xc.grad(softmax_loss, (0, 1)), np.eye(4, dtype=np.float32), x),
    "while": (newton, np.float32(2)),
    "forward through while": (lambda a: xc.jvp(newton, (a,), (a,)), np.float32(2)),
    "scan": (running, np.float32(0), x),
    "backward through scan": (xc.grad(lambda c, ys: running(c, ys)[1].sum()), np.float32(0), x),
    "cond by lanes": (
        xc.vmap(lambda v: lax.cond(v > 0.5, xnp.sin, xnp.cos, v)),
        x,
    ),
    "hessian": (xc.hessian(lambda x: (x[1:] - x[:-1] ** 2).sum()), x),
    "sort and its transpose": (lambda x: xc.vjp(xnp.sort, x)[1](x), x),
    "einsum": (lambda a, b: xnp.einsum("ij,kj->ik", a, b), m, m),
    "jit in vmap": (xc.vmap(xc.jit(lambda v: v @ v)), m),
    "solve": (lambda a, b: xc.linalg.solve(a, b, assume_a="pos"), np.eye(4, dtype=np.float32), x),
}


def text(name: str) -> str:
    f, *args = FUNCTIONS[name]
    program = str(xc.make_jaxpr(f)(*args))
    # The number of a check depends on the path of the file where it stands.
    return re.sub(r"select (\w+) \d{5,}:", r"select \1 SITE:", program)


def stored() -> dict[str, str]:
    sections = STORED.read_text().split("\n=== ")[1:]
    return dict(part.rstrip("\n").split("\n", 1) for part in sections)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs_are_as_they_were(name):
    assert text(name) == stored()[name]


@pytest.mark.parametrize("make", [xnp.asarray, xnp.float32, lambda v: xnp.full((), v)])
def test_numbers_made_in_a_function_stand_in_its_program(make):
    """As Python's do: the compiler may fold them, and no call hands them over."""

    def scaled(x):
        outer = make(3.0)
        return xc.jit(lambda x: x * outer)(x) + make(2.0)

    p = xc.make_jaxpr(scaled)(x)
    assert len(p.consts) == 0 and "3.0:float32" in str(p) and "2.0:float32" in str(p)
    np.testing.assert_array_equal(xc.jit(scaled)(x), 3 * x + 2)


def test_numbers_from_before_are_inputs_so_that_programs_share_code():
    def compiled_anew(number):
        before = compile.counts["compiled"]
        got = xc.jit(lambda x: x * number - 0.5)(x)
        np.testing.assert_allclose(got, x * float(number) - 0.5, rtol=1e-6, atol=1e-7)
        return compile.counts["compiled"] - before

    numbers = [xnp.asarray(v, xnp.float32) for v in (1.5, 2.5, 3.5)]
    compiled_anew(numbers[0])
    assert [compiled_anew(n) for n in numbers[1:]] == [0, 0]


def test_padding_has_no_input_but_the_array():
    assert (
        len(xc.make_jaxpr(lambda u: xnp.pad(u, 1) + xnp.pad(u, 1, constant_values=2))(m).consts)
        == 0
    )


def test_python_numbers_are_weak_literals_of_default_width():
    for bits in (32, 64):
        with xc.config.override(default_bits=bits):
            x = np.ones((), f"float{bits}")
            p = xc.make_jaxpr(lambda x: (ops.mul(x, 0.5), 2.0, 2, True))(x)
            weak = [f"float{bits}[, weak]", f"int{bits}[, weak]"]
            assert [str(t) for t in p.out_types] == [f"float{bits}[]", *weak, "bool[]"]
            assert str(p.eqns[0].inputs[1].type) == weak[0]


if __name__ == "__main__":
    parts = [f"\n=== {name}\n{text(name)}\n" for name in FUNCTIONS]
    STORED.write_text(
        "Programs of test_programs.py, which says how to write them.\n" + "".join(parts)
    )
