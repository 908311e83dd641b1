"""Modes of operators whose elements are read off, beside dense matrices and known spectra."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.errors import ArgumentError
from xcore.pde import _general, _mode_elements

BOX = pde.Grid((14, 13), -6.0, 6.0)
DISC = lambda x, y: 5.5 - (x**2 + y**2) ** 0.5
CASES = {
    "a well": lambda: pde.Diffusion(BOX, 0.5) + (lambda x, y: 9 * xnp.exp(-(x**2) - y**2)),
    "around": lambda: pde.Laplacian(BOX, pde.Periodic()) - 2.0,
    "Neumann": lambda: pde.Diffusion(BOX, lambda x, y: 7 + x, pde.Neumann()) - (lambda x, y: 0 * x),
    "Robin": lambda: pde.Diffusion(BOX, 1.0, pde.Robin(1.0, 1.0)) - (lambda x, y: x**2),
    "flows through a curve": lambda: pde.CutDiffusion(BOX, inside=DISC, edge=pde.Neumann()),
    "values on a curve": lambda: pde.CutDiffusion(BOX, inside=DISC, edge=pde.Dirichlet()),
    "mask": lambda: pde.Masked(BOX, DISC, edge="symmetric") - (lambda x, y: x**2),
    "stencil": lambda: pde.Stencil(
        BOX, lambda u: u[1, 1] + u[-1, -1] + u[1, -1] + u[-1, 1] - 4 * u[0, 0]
    ),
    "plate": lambda: -(pde.Laplacian(BOX) @ pde.Laplacian(BOX)),
    "ball": lambda: (
        pde.Diffusion(pde.Grid.cells(30), 1.0, coordinates="spherical") - (lambda r: 9 * r**2)
    ),
    # its potential is 100 times as deep as its least eigenvalue
    "atom": lambda: (
        pde.Diffusion(pde.Grid.cells(300, upper=20.0), 0.5, coordinates="spherical")
        + (lambda r: 1 / r)
    ),
    "stretched": lambda: (
        pde.Diffusion(pde.Grid(20, stretched=(tuple(np.linspace(0, 1, 21) ** 2),)), 1.0) - 3.0
    ),
}


@pytest.fixture(autouse=True)
def _double():
    with xc.enable_x64():
        yield


def dense(op, k):
    """The k smallest eigenvalues of -op, by its matrix."""
    w = np.asarray(op.weights).ravel()
    held = np.ones(len(w), bool) if op.inside is None else np.asarray(op.inside).ravel()
    root = np.sqrt(w[held])
    a = -np.asarray(op.as_matrix())[np.ix_(held, held)]
    a = root[:, None] * a / root
    np.testing.assert_allclose(a, a.T, atol=1e-9 * abs(a).max())
    return np.linalg.eigvalsh((a + a.T) / 2)[:k]


@pytest.mark.parametrize("name", CASES)
def test_modes_beside_dense_matrices(name):
    op, k = CASES[name](), 5
    found = pde.eigenmodes(op, k, report=True)
    w, modes = found.value
    want = dense(op, k)
    assert xnp.all(found.ok)
    np.testing.assert_allclose(w, want, atol=1e-9 * abs(want).max())
    weights = np.asarray(op.weights)
    inner = np.einsum("iX,jX,X->ij", *[np.asarray(modes).reshape(k, -1)] * 2, weights.ravel())
    np.testing.assert_allclose(inner, np.eye(k), atol=1e-8)
    for value, u in zip(w, modes, strict=True):
        scale = abs(want).max() * abs(u).max()
        assert abs(op.only_inside(op(u) + value * u)).max() < 1e-6 * max(
            scale, float(abs(op(u)).max())
        )
        if op.inside is not None:
            assert not xnp.any(xnp.where(op.inside, 0, u))


@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_oscillator_in_all_units(unit, dtype):
    """-½ u'' + ½ x² u: n + ½, of order 2 in the step."""
    line = pde.Grid(160, -8.0, 8.0)
    op = unit * (pde.Diffusion(line, 0.5) - (lambda x: x**2 / 2))
    w, modes = pde.eigenmodes(op, 5, dtype=dtype)
    assert w.dtype == modes.dtype == dtype
    np.testing.assert_allclose(w / unit, np.arange(5) + 0.5, rtol=3e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("cells", [(12, 10), (10, 12), (16, 16), (25,)])
@pytest.mark.parametrize("more", [0.0, 1000.0, -7.0])
def test_constants_are_found_on_grids_of_all_sizes(dtype, cells, more):
    """Shifts are found by steps from Gershgorin's bound, from where one may lead to an eigenvalue itself."""
    box = pde.Grid(cells, -1.0, 1.0)
    op = pde.Diffusion(box, lambda *x: 2 + x[0], pde.Neumann()) + more
    found = pde.eigenmodes(op, 3, dtype=dtype, report=True)
    assert np.all(found.ok)
    w, modes = found.value
    np.testing.assert_allclose(
        w, dense(op, 3), atol=2e-5 * max(10, more) * (dtype == np.float32) + 1e-9
    )
    np.testing.assert_allclose(abs(modes[0]), 2 ** (-len(cells) / 2), rtol=5e-3)


LEFT = lambda x, y: xnp.where(x < 0.43, 1.0, 50.0)
WITH_VOLUMES = {
    "cut": lambda: pde.CutDiffusion(BOX, inside=DISC, edge=pde.Neumann()),
    "located": lambda: pde.Diffusion(BOX, LEFT, mean="located"),
    "polar": lambda: pde.Diffusion(
        pde.Grid.cells((9, 12), upper=(1.0, 2 * np.pi)), 1.0,
        [(pde.Neumann(), pde.Dirichlet()), pde.Periodic()], coordinates="polar"),
}  # fmt: skip


@pytest.mark.parametrize("name", WITH_VOLUMES)
def test_sums_and_products_keep_volumes(name):
    op = WITH_VOLUMES[name]()
    ones = op.field(1.0)
    total = op - (lambda x, y: 2 + x**2)
    for made in (total, 2 * op, op @ op, 1.0 + op @ total):
        np.testing.assert_allclose(made.integrate(ones), op.integrate(ones), rtol=1e-12)
    w, modes = pde.eigenmodes(total, 3)
    np.testing.assert_allclose(w, dense(total, 3), rtol=1e-8)
    np.testing.assert_allclose(op.integrate(modes[1] ** 2), 1.0, rtol=1e-8)
    found = pde.solve(total, -1.0, report=True)
    assert found.ok
    off = total(found.value) + total.boundary() - total.field(-1.0)
    assert abs(off).max() < 1e-8


def test_a_mode_that_is_missing_is_noticed():
    """Negative pivots count what is below the last one; the answer of a method that lost one is no success."""
    op = CASES["a well"]()
    w, modes = pde.eigenmodes(op, 4)
    count = _mode_elements._Count(_general.elements(op), np.asarray(op.weights), op.inside)
    assert [count(float(x) + 1e-6) for x in w] == [1, 2, 3, 4]
    rest = (xnp.zeros(3, np.int32), xnp.zeros(3), 1, None)
    kept = _mode_elements._none_missing(count, (w[:3], modes[:3], *rest))
    lost = _mode_elements._none_missing(count, (w[1:], modes[1:], *rest))
    assert not xnp.any(kept[2])
    assert xnp.all(lost[2] == pde.Status.stagnation)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_copies_that_rounding_splits_are_no_loss(dtype):
    """Four waves around a ring of two axes have one eigenvalue; in single precision it is there in four places."""
    ring = pde.Laplacian(pde.Grid((30, 30)), pde.Periodic()) - 1.0
    want = 1 + (60 * np.sin(np.pi / 30)) ** 2
    for k in (2, 4, 5):
        found = pde.eigenmodes(ring, k, dtype=dtype, report=True)
        assert xnp.all(found.ok)
        np.testing.assert_allclose(found.value[0], [1.0] + [want] * (k - 1), rtol=1e-4)


def test_derivatives_by_a_potential():
    def lowest(strength):
        op = pde.Diffusion(BOX, 0.5) - strength * BOX.coordinates()[0] ** 2
        return pde.eigenmodes(op, 2)[0][0]

    step = 1e-4
    want = (lowest(1 + step) - lowest(1 - step)) / (2 * step)
    np.testing.assert_allclose(xc.grad(lowest)(1.0), want, rtol=1e-6)


@pytest.mark.parametrize(
    "make, words",
    [(lambda: pde.Diffusion(BOX, 1.0) - pde.Advection(BOX, (1.0, 0.0)), "symmetric"),
     (lambda: 1j * pde.Diffusion(BOX, 1.0), "real and symmetric"),
     (lambda: pde.Gradient(BOX), "on fields"),
     (lambda: np.eye(3), "operator of xcore.pde")],
)  # fmt: skip
def test_others_are_refused(make, words):
    with pytest.raises(ArgumentError, match=words):
        pde.eigenmodes(make(), 2)
    with pytest.raises(ArgumentError, match="shift-invert"):
        pde.eigenmodes(CASES["around"](), 2, method="lobpcg")
