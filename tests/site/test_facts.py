"""The table of what each function can do says what comes out when a part of it is tried again."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo
from tools.site import facts, uses
from tools.site.names import places

# Dealt out by their place in the list, so that a new function is tried too.
SHARE = [p for i, p in enumerate(facts.of_interest()) if i % 50 == 3]


@pytest.mark.parametrize("place", SHARE, ids=lambda p: p.name)
def test_rows_are_true(place):
    assert facts.facts(place) == facts.table().get(place.name)


CLASSES = [p for i, p in enumerate(facts.of_classes()) if i % 12 == 5]


@pytest.mark.parametrize("place", CLASSES, ids=lambda p: p.name)
def test_rows_of_classes_are_true(place):
    assert facts.facts(place) == facts.table().get(place.name)


METHODS = [p for p in facts.of_classes() if facts.table()[p.name].derivative == "of the solution"]


@pytest.mark.parametrize("place", METHODS[::6], ids=lambda p: p.name)
def test_methods_have_the_derivative_of_the_solution(place):
    """By a shift of the unknowns of the example, of which the start knows nothing."""
    use = uses.recorded(place)
    assert use is not None
    fun, start, *others = use.args
    with xc.enable_x64(True):
        start = xnp.asarray(start, "float64")

        def last(q):
            found = use.f(lambda x: fun(x + q), start, *others, **use.kwargs).x
            return xnp.ravel(found)[-1]

        reverse = xc.jit(xc.grad(last))(0.0)
        forward = xc.jit(lambda q: xc.jvp(last, (q,), (1.0,))[1])(0.0)
        measured = (last(1e-3) - last(-1e-3)) / 2e-3
    np.testing.assert_allclose([reverse, forward], measured, rtol=1e-3, atol=1e-6)


def test_a_class_has_a_row_or_a_reason():
    assert {p.name for p in facts.of_classes()} <= set(facts.table())
    assert uses.without_rows() <= set(places())
    assert uses.without_rows().isdisjoint(facts.table())


def test_classes_are_tried_through_what_their_example_uses_them_in():
    via = {name: row.via for name, row in facts.table().items()}
    assert via["xcore.linalg.CG"] == "xcore.linalg.linear_solve"
    assert via["xcore.optimize.Wolfe"] == "xcore.optimize.minimize"  # inside of a method
    assert via["xcore.pde.Tableau"] == "xcore.pde.trajectory"
    assert via["xcore.sparse.Sparse"] == "__matmul__"
    assert via["xcore.linalg.LDL"] == "xcore.linalg.ldl"
    assert via["xcore.decomp.CP"] == "to_dense"


def test_an_example_leaves_functions_and_methods_as_they_were():
    laplacian, bfgs = (places()[n] for n in ("xcore.pde.Laplacian", "xcore.optimize.BFGS"))
    methods, minimize = {m: getattr(laplacian.value, m) for m in uses.METHODS[:2]}, xo.minimize
    for place in (laplacian, bfgs):
        assert uses.recorded(place) is not None
    assert {m: getattr(laplacian.value, m) for m in methods} == methods
    assert xo.minimize is minimize


# Known of each without the table: by formulas, and by what other pages say.
DIFFERENTIABLE = """
    xcore.optimize.least_squares xcore.optimize.root xcore.optimize.fixed_point xcore.scipy.optimize.brentq
    xcore.scipy.optimize.newton xcore.lax.custom_root xcore.optimize.minimize_constrained xcore.stats.uniform
    xcore.stats.poisson xcore.stats.geom xcore.stats.nbinom xcore.stats.bernoulli xcore.lax.polygamma xcore.lax.zeta
    xcore.numpy.sin xcore.numpy.linalg.solve xcore.linalg.expm xcore.numpy.sort xcore.numpy.cumsum xcore.linalg.svd
    xcore.special.gammaln xcore.pde.poisson xcore.stats.t xcore.numpy.where xcore.numpy.fft.fft xcore.optimize.curve_fit
""".split()


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_what_has_a_derivative_is_not_said_to_have_none(name):
    assert facts.table()[name].derivative not in ("zero", "no", "?")


def test_nothing_that_has_slopes_is_said_to_be_a_step():
    """Steps, and functions of which the example gives nothing but orders and signs."""
    steps = {n for n, f in facts.table().items() if f.derivative == "zero"}
    assert {"xcore.numpy.floor", "xcore.numpy.sign", "xcore.numpy.round"} <= steps
    known = {"xcore.stats.rankdata", "xcore.special.gammasgn"}
    smooth = ("xcore.stats.", "xcore.special.", "xcore.scipy.optimize")
    assert not [n for n in steps - known if n.startswith(smooth)]


def test_every_row_is_of_a_public_name():
    assert set(facts.table()) <= set(places())
