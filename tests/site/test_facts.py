"""The table of what each function can do says what comes out when a part of it is tried again."""

import pytest

from tools.site import facts
from tools.site.names import places

# Dealt out by their place in the list, so that a new function is tried too.
SHARE = [p for i, p in enumerate(facts.of_interest()) if i % 50 == 3]


@pytest.mark.parametrize("place", SHARE, ids=lambda p: p.name)
def test_rows_are_true(place):
    assert facts.facts(place) == facts.table().get(place.name)


def test_no_derivative_differs_from_differences_of_values():
    assert [f for f in facts.table().values() if f.derivative.startswith("differs")] == []


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


def test_every_row_is_of_a_function():
    assert set(facts.table()) <= set(places())
