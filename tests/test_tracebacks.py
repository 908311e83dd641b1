"""Mistakes in calls of the packages end in a traceback that shows the user's lines and none of ours."""

import traceback

import pytest

import xcore
import xcore.numpy as xnp
from xcore import decomp, linalg, optimize, pde

MISTAKES = {
    "numpy.linalg.solve": lambda: xnp.linalg.solve(xnp.ones((3, 3)), xnp.ones(4)),
    "numpy.linalg.inv": lambda: xnp.linalg.inv(xnp.ones((3, 2))),
    "numpy.linalg.cholesky": lambda: xnp.linalg.cholesky(-xnp.eye(2)),
    "linalg.solve": lambda: linalg.solve(xnp.ones((3, 3)), xnp.ones(4)),
    "linalg.eigsh": lambda: linalg.eigsh(xnp.ones((3, 3)), k=9),
    "linalg.solve_banded": lambda: linalg.solve_banded((1, 1), [[1, 2, 3]] * 3, [1, 2]),
    "optimize.minimize": lambda: optimize.minimize(lambda x: x, xnp.ones(3)),
    "optimize.root": lambda: optimize.root(lambda x: x[:2], xnp.ones(3)),
    "optimize.curve_fit": lambda: optimize.curve_fit(
        lambda t, a: a * t, xnp.ones(3), xnp.ones(4), p0=[1.0]
    ),
    "decomp.cp_als": lambda: decomp.cp_als(xnp.ones((3, 3, 3)), rank=0),
    "pde.poisson": lambda: pde.poisson(pde.Grid((8, 8)), xnp.ones((3, 3))),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_no_frame_of_ours(name):
    with pytest.raises((TypeError, ValueError, ArithmeticError)) as caught:
        MISTAKES[name]()
    files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert not [f for f in files if f.startswith(xcore.__path__[0])]


def test_a_mistake_in_the_users_function_shows_its_line():
    def fun(x):
        return (x @ xnp.ones((4, 4))).sum()

    with pytest.raises(ValueError) as caught:
        optimize.minimize(fun, xnp.ones(3))
    assert [f.name for f in traceback.extract_tb(caught.value.__traceback__)][-1] == "fun"
