"""Lowering for platforms, and what a program costs."""

import re

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import lax
from xcore._control.costs import costs

X = xc.ShapeDtypeStruct((64, 64), np.float32)

# The platform is chosen when a program is lowered


def by_platform(x):
    return lax.platform_dependent(x, cpu=xnp.sin, gpu=xnp.exp, default=xnp.tanh)


def functions(text: str) -> set[str]:
    return {w for w in ("sine", "cosine", "exponential", "tanh") if f".{w} " in text}


def test_one_program_for_several_platforms():
    lowered = xc.jit(by_platform).lower(X).for_platforms("cpu", "gpu", "tpu")
    assert {p: functions(m.as_text()) for p, m in lowered.items()} == {
        "cpu": {"sine"}, "cuda": {"exponential"}, "tpu": {"tanh"},
    }  # fmt: skip
    assert not any("stablehlo.case" in m.as_text() for m in lowered.values())


@pytest.mark.parametrize("name", ["cuda", "gpu"])
def test_both_names_of_gpus_are_understood(name):
    assert functions(xc.jit(by_platform).trace(X).lower((name,)).as_text()) == {"exponential"}
    assert functions(xc.jit(by_platform).trace(X).lower(name).as_text()) == {"exponential"}


@pytest.mark.parametrize("transform", [xc.grad, xc.jit, xc.vmap, lambda f: xc.vmap(xc.grad(f))])
def test_transforms_keep_every_branch(transform):
    x = xnp.asarray([0.3, 1.2], xnp.float64) if transform is not xc.grad else xnp.float64(0.3)
    f = transform(by_platform)
    there = xc.jit(f).lower(x).for_platforms("cuda")["cuda"].as_text()
    assert functions(there) == {"exponential"}
    if xc.default_backend() == "cpu":
        np.testing.assert_allclose(f(x), transform(xnp.sin)(x), rtol=1e-15)


def test_a_branch_for_elsewhere_does_not_need_one_for_here():
    f = lambda x: lax.platform_dependent(x, cuda=xnp.exp, tpu=xnp.tanh)
    assert functions(xc.jit(f).trace(X).lower("tpu").as_text()) == {"tanh"}


def test_branches_return_the_same_types():
    with pytest.raises(TypeError, match=r"platform_dependent.*branches"):
        lax.platform_dependent(1.0, cpu=lambda x: x, default=lambda x: (x, x))


def test_refusals():
    traced = xc.jit(xnp.sin).trace(X)
    with pytest.raises(ValueError, match=r"one of cpu, cuda, tpu, given 'moon'"):
        traced.lower(("moon",))
    with pytest.raises(ValueError, match=r"one platform.*for_platforms"):
        traced.lower(("cpu", "cuda"))
    with pytest.raises(ValueError, match=r"Lowered.for_platforms.*'moon'"):
        traced.lower().for_platforms("cpu", "moon")
    if xc.default_backend() == "cpu":
        with pytest.raises(RuntimeError, match=r"lowered for cuda.*device.* is of cpu"):
            traced.lower(("cuda",)).compile()


def test_compiling_for_a_device():
    compiled = xc.jit(xnp.sin).lower(np.float32(0.5)).compile(xc.devices()[0])
    np.testing.assert_allclose(compiled(np.float32(0.5)), np.sin(0.5), rtol=1e-6)
    assert len(compiled.serialize()) > 100


# Costs

PROGRAMS = [
    lambda x: x @ x,
    lambda x: (x @ x).sum() + x[0, 0],
    lambda x: lax.scan(lambda c, _: (c @ x, None), x, length=7)[0],
    lambda x: lax.conv_general_dilated(x[None, None], x[None, None, :5, :5], (1, 1), "VALID"),
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_operations_are_counted_as_the_compiler_counts_them(f):
    """Within the additions of what it fuses. (A CPU's compiler counts a loop's body once.)"""
    program = xc.jit(f).trace(X).program
    steps = next((e.params["length"] for e in program.eqns if e.op.name == "scan"), 1)
    known = xc.jit(f).lower(X).compile().cost_analysis()["flops"]
    assert costs(program)["flops"] / steps == pytest.approx(known, rel=0.05)


def test_costs_of_chains_branches_and_factorisations():
    one = 64 * 64
    chain = costs(xc.jit(lambda x: xnp.sin(x) * 2 + 1).trace(X).program)
    assert chain == {"flops": 2 * one, "transcendentals": one, "bytes accessed": 2 * 4 * one}
    pick = lambda i, x: lax.cond(i > 0, lambda x: x, lambda x: x @ x, x)
    assert costs(xc.jit(pick).trace(1, X).program)["flops"] >= 2 * 64**3
    solve = costs(xc.jit(xnp.linalg.cholesky).trace(X).program)["flops"]
    assert solve == pytest.approx(64**3 / 3, rel=0.1)


def test_static_arguments_are_compiled_in_and_need_not_be_given_again():
    compiled = xc.jit(lambda x, n, y: n * x + y, static_argnums=(1,)).lower(7.0, 2, 8.0).compile()
    assert compiled(5.0, 1.0) == compiled(5.0, 2, 1.0) == 11
    with pytest.raises(TypeError, match="compiled for arguments"):
        compiled(5.0)


def _flag(s):
    return s[1]


def _first_of_one(s):
    return s[1][0]


@pytest.mark.parametrize("test, shape", [(_flag, ()), (_first_of_one, (1,)), (xc.jit(_flag), ())])
@pytest.mark.parametrize("lanes", [0, 1])
def test_no_loop_of_a_gpu_has_a_boolean_for_a_test(test, shape, lanes):
    """As CUDA graphs these ended too early or too late: what tells goes around as a number."""

    def f(x):
        turn = lambda s: (xnp.sin(s[0]), xnp.full(shape, s[0].sum() > 1))
        return lax.while_loop(test, turn, (x, xnp.ones(shape, bool)))

    g = xc.vmap(f) if lanes else f
    x = xnp.ones((lanes, 5) if lanes else 5)
    text = xc.jit(g).lower(x).for_platforms("cuda")["cuda"].as_text()
    (decides,) = re.findall(r"cond \{(.*?)\} do", text, re.DOTALL)
    assert re.search(r"convert %iterArg\w* : \(tensor<\w*i32>\) -> tensor<\w*i1>", decides), decides
    assert xc.jit(g)(x)[1].dtype == bool


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda low: low.compile("h200"), r'device must be .*given .h200.*xc.topology\("h200"\)'),
        (lambda low: low.compile(3), "device must be one of"),
        (lambda low: low.as_text("prose"), 'dialect must be "stablehlo" or "hlo"'),
        (lambda low: low.compile(compiler_options={"no_such": 1}), "refused by the compiler"),
        (lambda low: low.compile()(xnp.ones(3)), r"compiled with float32\[2\].*given float32\[3\]"),
        (lambda low: low.compile()(x=xnp.ones(2)), "compiled for arguments"),
    ],
)
def test_what_stages_refuse(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call(xc.jit(lambda x: 2 * x).lower(xnp.ones(2)))


@pytest.mark.parametrize("where", [0, 1])
def test_compiled_functions_take_their_arguments_without_the_static_ones(where):
    f = (lambda n, x: x * n) if where == 0 else (lambda x, n: x * n)
    x = xnp.arange(3.0)
    args = (2, x) if where == 0 else (x, 2)
    compiled = xc.jit(f, static_argnums=where).lower(*args).compile()
    for given in ((x,), args):
        assert compiled(*given).tolist() == [0, 2, 4]
