"""Domains given by their corners, beside exact areas and solutions."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.errors import ArgumentError, ShapeError

TRIANGLE = np.array([(-0.8, -0.5), (0.8, -0.5), (0.0, 0.8 * 3**0.5 - 0.5)])
HEART = [(0.0, -0.9), (0.9, 0.1), (0.6, 0.8), (0.0, 0.3), (-0.6, 0.8), (-0.9, 0.1)]
HOLE = [(-0.2, -0.3), (0.2, -0.3), (0.2, 0.1), (-0.2, 0.1)]


@pytest.fixture(autouse=True)
def _double():
    with xc.enable_x64():
        yield


def area(ring):
    x, y = np.transpose(ring)
    return abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2


def test_distances_and_sides():
    square = pde.polygon([(0, 0), (2, 0), (2, 2), (0, 2)])
    x, y = (
        np.array([1.0, 0.5, 3.0, 3.0, 1.0, 0.0, -1.0]),
        np.array([1.0, 1.0, 1.0, 3.0, 2.0, 0.0, 1.0]),
    )
    np.testing.assert_allclose(square(x, y), [1, 0.5, -1, -(2**0.5), 0, 0, -1], atol=1e-15)
    np.testing.assert_allclose(square(xnp.asarray(x), xnp.asarray(y)), square(x, y), atol=1e-15)
    ring = pde.polygon(
        [(0, 0), (2, 0), (2, 2), (0, 2)], [(0.5, 0.5), (0.5, 1.5), (1.5, 1.5), (1.5, 0.5)]
    )
    np.testing.assert_allclose(ring(np.array([1.0, 0.25]), np.array([1.0, 1.0])), [-0.5, 0.25])


@pytest.mark.parametrize("turn", [1, -1])
def test_areas(turn):
    grid = pde.Grid((64, 64), -1.0, 1.0)
    shape = pde.polygon(HEART[::turn], HOLE)
    op = pde.CutDiffusion(grid, inside=shape, edge=pde.Neumann())
    np.testing.assert_allclose(op.integrate(1.0), area(HEART) - area(HOLE), rtol=2e-3)


def test_torsion_of_a_triangle():
    """Δu = -1 with u = 0 on an equilateral triangle: the product of the three distances over the height."""
    sides = [pde.polygon(TRIANGLE)]
    height = TRIANGLE[2, 1] - TRIANGLE[0, 1]

    def exact(x, y):
        low = y + 0.5
        left = (3**0.5 * (x + 0.8) - low) / 2
        right = (3**0.5 * (0.8 - x) - low) / 2
        return low * left * right / height

    op = pde.Masked(pde.Grid((48, 48), -1.0, 1.0), sides[0])
    u = pde.solve(op, -1.0)
    assert xnp.where(op.inside, abs(u - op.field(exact)), 0).max() < 1e-4


def test_derivatives_by_corners():
    def volume(corners):
        op = pde.CutDiffusion(
            pde.Grid((32, 32), -1.0, 1.0), inside=pde.polygon(corners), edge=pde.Neumann()
        )
        return op.integrate(1.0)

    slope = xc.grad(volume)(xnp.asarray(TRIANGLE))
    want = xc.grad(
        lambda c: (
            abs(xnp.dot(c[:, 0], xnp.roll(c[:, 1], -1)) - xnp.dot(c[:, 1], xnp.roll(c[:, 0], -1)))
            / 2
        )
    )
    np.testing.assert_allclose(slope, want(xnp.asarray(TRIANGLE)), atol=0.05)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_derivatives_at_edges_are_those_beside_them(dtype):
    """Nodes on the edge are the rule, where a shape is drawn on the grid."""
    ring = np.array([(0, 0), (2, 0), (2, 1), (1, 2), (0, 2), (0, 2)], dtype)
    inner = [((1.0, 0.0), (0, 1)), ((2.0, 0.5), (-1, 0)), ((1.5, 1.5), (-(0.5**0.5), -(0.5**0.5))),
             ((0.5, 2.0), (0, -1)), ((0.0, 1.0), (1, 0))]  # fmt: skip
    at = xnp.asarray([x for x, _ in inner], dtype)
    slope = lambda c, x: xc.grad(lambda x: pde.polygon(c)(x[0], x[1]))(x)
    moved = xc.grad(lambda c: pde.polygon(c)(*at.T).sum())
    for turned in (ring, ring[::-1]):
        for place, (_, normal) in zip(at, inner, strict=True):
            np.testing.assert_allclose(slope(turned, place), normal, atol=1e-6)
        outward = -sum(np.array(n) for _, n in inner)
        np.testing.assert_allclose(moved(xnp.asarray(turned)).sum(0), outward, atol=1e-5)
        assert np.all(np.isfinite(slope(turned, xnp.asarray([0.0, 0.0], dtype))))


@pytest.mark.parametrize(
    "ring",
    [
        [(0, 0), (1, 0)],
        [0.0, 1.0],
        [(0, 0, 0), (1, 0, 0), (0, 1, 0)],
        [(0, 0), (1, 0), (0, np.nan)],
        [(0, 0), (1, 0, 2), (0, 1)],
        [(0, 0), (1, 0), (1j, 1)],
        [("a", 0), (1, 0), (1, 1)],
    ],
)
def test_what_is_no_polygon_is_refused(ring):
    with pytest.raises((ArgumentError, ShapeError), match="polygon"):
        pde.polygon(ring)
