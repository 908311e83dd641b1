"""What programs that inspect traces rely on: shapes without values, equations, and what is known early."""

import collections
from typing import NamedTuple

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import core, lax

X = xnp.ones(3)


class Duck:
    shape, dtype = (2, 3), np.dtype("float32")


# Shapes

DESCRIBED = {
    "a duck": (lambda: Duck(), lambda x: x * 2, (2, 3)),
    "a type": (lambda: xc.typeof(X), lambda x: x * 2, (3,)),
    "a tree": (lambda: {"a": [Duck()], "b": 1.0}, lambda d: d["a"][0].sum(0) + d["b"], (3,)),
    "a jitted function": (lambda: Duck(), xc.jit(lambda x: x.T), (3, 2)),
    "an array": (lambda: X, lambda x: x[:, None], (3, 1)),
}


@pytest.mark.parametrize("kind", DESCRIBED)
def test_shapes_of_results_for_whatever_has_a_shape(kind):
    make, f, shape = DESCRIBED[kind]
    wanted = xc.ShapeDtypeStruct(shape, xnp.float32)
    assert xc.eval_shape(f, make()) == wanted
    assert xc.make_jaxpr(f)(make()).out_avals == [xc.typeof(xnp.zeros(shape))]
    assert xc.jit(f).trace(make()).out_info == wanted
    assert xc.jit(f).lower(make()).out_info == wanted


def test_functions_may_say_the_shapes_of_results_themselves():
    told = xc.ShapeDtypeStruct((2,), xnp.int8)
    assert xc.eval_shape(lambda x: told, 1.0) == told
    found = xc.eval_shape(lambda x: {"a": told, "b": [x + 1, told], "c": None}, X)
    assert found == {"a": told, "b": [xc.ShapeDtypeStruct((3,), xnp.float32), told], "c": None}


def test_arrays_are_needed_where_there_is_computing():
    with pytest.raises(TypeError, match="not an array"):
        xc.jit(lambda x: x)(Duck())


# Programs


def test_programs_have_the_parts_of_jaxprs():
    program = xc.make_jaxpr(lambda x, y: xnp.sin(x) * y.sum() + X)(1.0, X)
    assert [e.primitive.name for e in program.eqns][:2] == ["sin", "reduce_sum"]
    assert (
        str(program.eqns[0].primitive) == "sin" and not program.eqns[0].primitive.multiple_results
    )
    assert program.eqns[1].params["axes"] == (0,)
    assert [str(v.aval) for v in program.eqns[0].invars] == ["float32[, weak]"]
    assert [str(v.aval) for v in program.eqns[1].outvars] == ["float32[]"]
    assert [*map(str, program.in_avals)] == ["float32[, weak]", "float32[3]"]
    assert [*map(str, program.out_avals)] == ["float32[3]"]
    (constant,) = program.consts
    assert constant is X and len(program.jaxpr.constvars) == 1 and len(program.jaxpr.invars) == 2
    assert "test_inspection" in program.eqns[0].source_info
    wanted = np.sin(np.float32(2)) * 3 + np.ones(3)
    for f in (core.jaxpr_as_fun(program), xc.jit(core.jaxpr_as_fun(program))):
        np.testing.assert_allclose(f(2.0, X)[0], wanted, rtol=1e-6)
    (out,) = core.eval_jaxpr(program.jaxpr, program.consts, 2.0, np.ones(3, np.float32))
    np.testing.assert_allclose(out, wanted, rtol=1e-6)


def count(program, found):
    for e in program.eqns:
        found[e.primitive.name] += 1
        for value in e.params.values():
            if isinstance(value, core.ClosedJaxpr):
                count(value.jaxpr, found)
    return found


def test_programs_in_programs_are_found():
    loop = lambda x: lax.scan(lambda c, _: (xnp.sin(c), c), x, None, 3)
    found = count(xc.make_jaxpr(xc.jit(loop))(X), collections.Counter())
    assert found["scan"] == found["sin"] == found["call"] == 1


def test_types_answer_as_abstract_values():
    t = xc.typeof(X)
    assert t.to_tangent_aval() is t and t.strip_weak_type() is t
    assert xc.typeof(xnp.arange(3)).to_tangent_aval().dtype == xc.dtypes.float0
    assert str(xc.typeof(xnp.arange(3)).to_tangent_aval()) == "float0[3]"
    assert xc.typeof(1.0).weak and xc.typeof(1.0).strip_weak_type() is xc.typeof(xnp.float32(1))
    assert t.update(shape=(2,), dtype="int8", weak_type=True).strip_weak_type().shape == (2,)
    with pytest.raises(ValueError, match="shape, dtype or weak_type"):
        t.update(colour=1)


# Known early


def known_early(f):
    def g(x):
        with xc.ensure_compile_time_eval():
            return f(x)

    return g


PARTS = {
    "a number": lambda x: x * int(xnp.arange(3).sum() - 1),
    "an array": lambda x: x * xnp.asarray(2.0),
    "NumPy's": lambda x: x * np.asarray(xnp.ones(2)).sum(),
    "a shape": lambda x: xnp.broadcast_to(x, (int(xnp.ones(2).sum()),)).sum(),
    "a branch": lambda x: 2 * x if xnp.all(xnp.ones(2) > 0) else x,
    "a mask": lambda x: x * xnp.ones(3)[xnp.asarray([True, True, False])].size,
    "positions": lambda x: x * xnp.nonzero(xnp.asarray([1, 1, 0]))[0].size,
    "a null space": lambda x: x * xc.scipy.linalg.null_space(xnp.ones((3, 3))).shape[1],
    "a random number": lambda x: x * int(xc.random.randint(xc.random.key(0), (), 2, 3)),
    "a jitted function": lambda x: x * int(xc.jit(lambda t: t * 2)(1)),
    "a derivative": lambda x: x * float(xc.grad(lambda t: t * t)(1.0)),
    "a traced call": lambda x: xc.jit(lambda t: t * 2)(x),
    "a traced derivative": lambda x: xc.grad(lambda t: t * t * x)(1.0),
    "a loop": lambda x: lax.fori_loop(0, 2, lambda i, c: c + x, 0.0),
    "a traced branch": lambda x: lax.cond(x > 0, lambda t: t * 2, lambda t: t, x),
    "lanes": lambda x: xc.vmap(lambda t: t * x)(xnp.ones(2)).sum(),
    "a rule": lambda x: 2 * xc.nn.relu(x),
    "an update": lambda x: xnp.zeros(3).at[1].set(x * 2).sum(),
    "a block in a block": known_early(lambda x: x * float(xnp.sum(xnp.ones(2)))),
}
UNDER = {
    "nothing": lambda f: f,
    "jit": xc.jit,
    "grad": lambda f: lambda x: x * xc.grad(f)(x),
    "jit of grad": lambda f: xc.jit(lambda x: x * xc.grad(f)(x)),
    "vmap": lambda f: lambda x: xc.vmap(f)(xnp.stack([x, x]))[1],
}


@pytest.mark.parametrize("under", UNDER)
@pytest.mark.parametrize("part", PARTS)
def test_what_is_known_is_computed_and_the_rest_is_traced(part, under):
    assert UNDER[under](known_early(PARTS[part]))(xnp.float32(2.0)) == 4


def test_named_axes_are_known_to_their_trace_alone():
    share = known_early(lambda x: x / lax.psum(x, "i") + lax.axis_index("i"))
    np.testing.assert_array_equal(xc.vmap(share, axis_name="i")(xnp.ones(2)), [0.5, 1.5])


# Other promises


@pytest.mark.parametrize(
    "transform",
    [
        xc.grad,
        lambda f: xc.jit(xc.grad(f)),
        lambda f: xc.grad(xc.jit(f)),
        lambda f: lambda x: xc.vmap(xc.grad(f))(xnp.stack([x, x]))[0],
    ],
)
def test_numbers_among_residuals_reach_the_rule_as_numbers(transform):
    seen = []

    @xc.custom_vjp
    def f(x):
        return 2 * x

    def backward(residuals, g):
        seen.append(residuals[1:])
        return (g * residuals[1] * residuals[2],)

    f.defvjp(lambda x: (2 * x, (x, 3, 2.5, True, 1j, "a")), backward)
    assert transform(f)(xnp.float32(1)) == 7.5
    assert seen[0] == (3, 2.5, True, 1j, "a") and [*map(type, seen[0])] == [
        int,
        float,
        bool,
        complex,
        str,
    ]


def test_named_tuples_may_have_rules_of_their_own():
    class Half(NamedTuple):
        value: float
        name: str

    xc.tree_util.register_pytree_node(
        Half, lambda h: ((h.value,), h.name), lambda n, v: Half(*v, n)
    )
    assert xc.tree.leaves(Half(1.0, "a")) == [1.0]
    assert xc.jit(lambda h: h._replace(value=h.value + 1))(Half(1.0, "a")) == (2.0, "a")
    with pytest.raises(xc.errors.TreeError, match="already"):
        xc.tree_util.register_pytree_node(Half, lambda h: ((), None), lambda *_: None)
    for known in (tuple, list, dict):
        with pytest.raises(xc.errors.TreeError, match="already"):
            xc.tree_util.register_pytree_node(known, lambda h: ((), None), lambda *_: None)


def test_arrays_of_all_kinds_are_ndarrays():
    assert isinstance(xc.random.key(0), xnp.ndarray) and isinstance(X, xnp.ndarray)
    assert xc.jit(lambda x: x * isinstance(x, xnp.ndarray))(2.0) == 2
    assert not isinstance(np.ones(1), xnp.ndarray)
