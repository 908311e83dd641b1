"""Pictures show what solvers return: what is drawn is compared with the numbers, not looked at."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import decomp, optimize, pde, plot

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


GRID = pde.Grid((8, 8))


def drawn(ax):
    return np.asarray(ax.collections[0].get_array())


def test_a_field_as_poisson_returns_it():
    u = pde.poisson(1.0, GRID)
    ax = plot.field(GRID, u)
    np.testing.assert_allclose(drawn(ax), np.asarray(u).T)
    assert ax.collections[0].get_cmap().name == "viridis"
    assert (
        plot.field(pde.Laplacian(GRID), pde.solve(pde.Laplacian(GRID), -1.0, report=True), ax=ax)
        is ax
    )


def test_both_signs_are_centred():
    x, _ = np.meshgrid(*2 * (np.linspace(-1, 1, 9),), indexing="ij")
    mesh = plot.field(GRID, x + 0.5).collections[0]
    assert mesh.get_cmap().name == "RdBu_r" and mesh.get_clim() == (-1.5, 1.5)


@pytest.mark.parametrize(("cells", "kind"), [(8, "map"), ((6, 5), "contour"), ((4, 4, 4), "map")])
def test_dimensions_and_kinds(cells, kind):
    grid = pde.Grid(cells)
    ax = plot.field(grid, np.random.default_rng(0).random(grid.shape), kind=kind)
    assert ax.lines or ax.collections


FACES = [
    (pde.Dirichlet(1.0), (9, 9)),
    (pde.Neumann(0.0), (9, 9)),
    (pde.Periodic(), (9, 9)),
    ((pde.Periodic(), (pde.Dirichlet(1.0), pde.Robin(1.0, 1.0))), (9, 9)),
]


@pytest.mark.parametrize(("bc", "shape"), FACES)
def test_an_operator_draws_its_faces_too(bc, shape):
    op = pde.Laplacian(GRID, bc)
    values = drawn(plot.field(op, np.full(op.field_shape, 1.0)))
    assert values.shape == shape
    np.testing.assert_array_equal(values, 1.0)
    line = pde.Laplacian(pde.Grid(8), pde.Dirichlet(2.0))
    x, y = plot.field(line, np.zeros(7)).lines[0].get_data()
    assert (x[0], x[-1], y[0], y[-1]) == (0.0, 1.0, 2.0, 2.0)


def test_modes_vanish_on_given_faces_whatever_is_given():
    op = pde.Laplacian(GRID, pde.Dirichlet(5.0))
    mode = drawn(plot.modes(op, [1.0], np.ones((1, 7, 7))).flat[0])
    assert mode.shape == (9, 9) and mode[0, 0] == mode[-1, 4] == 0.0 and mode[4, 4] == 1.0


def test_a_film_of_a_ring_closes_it():
    op = pde.Laplacian(pde.Grid(8), pde.Periodic())
    film = plot.movie(op, np.linspace(0, 1, 8) * np.ones((3, 1)))
    film._draw_was_started = True  # it is not shown
    assert len(film._fig.axes[0].lines[0].get_xdata()) == 9


DOMAINS = {
    "mask": lambda grid: pde.Masked(grid, lambda x, y: x + y < 1.2),
    "hole": lambda grid: pde.Masked(grid, lambda x, y: (x - 0.5) ** 2 + (y - 0.5) ** 2 > 0.06),
    "cut": lambda grid: pde.CutDiffusion(
        grid, inside=lambda x, y: 0.41 - ((x - 0.5) ** 2 + (y - 0.5) ** 2) ** 0.5, edge=pde.Dirichlet(0.0)
    ),
    "cut open": lambda grid: pde.CutDiffusion(
        grid, 1.0, pde.Neumann(), inside=lambda x, y: 0.7 - x + 0.3 * y, edge=pde.Neumann()
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DOMAINS)
def test_nothing_outside_of_a_domain(name):
    """Smooth within, and no colour where there are no unknowns, also on the faces of the box."""
    op = DOMAINS[name](pde.Grid((24, 24)))
    mesh = plot.field(op, np.ones(op.field_shape)).collections[0]
    corners = np.asarray([path.vertices[:3] for path in mesh.get_paths()])
    middles = corners.mean(1).T
    (a, b), (c, d) = (corners[:, 1] - corners[:, 0]).T, (corners[:, 2] - corners[:, 0]).T
    size = np.abs(a * d - b * c).sum() / 2
    near = 1.5 / 24
    inside = {
        "mask": lambda x, y: x + y < 1.2,
        "hole": lambda x, y: np.hypot(x - 0.5, y - 0.5) > 0.06**0.5,
        "cut": lambda x, y: np.hypot(x - 0.5, y - 0.5) < 0.41,
        "cut open": lambda x, y: 0.7 - x + 0.3 * y > 0,
    }[name]
    slack = near * (name == "cut open")  # a node beside the edge may have a share of the domain
    assert inside(middles[0] - slack, middles[1]).all()
    fine = (np.arange(400) + 0.5) / 400
    x, y = np.meshgrid(fine, fine)
    shifts = [(s * near, t * near) for s in (-1, 0, 1) for t in (-1, 0, 1)]
    open_ = name == "cut open"
    deep = np.mean(
        np.all([inside(np.clip(x + s, 0, 1), np.clip(y + t, 0, 1)) for s, t in shifts], axis=0)
        & (open_ or ((np.abs(x - 0.5) < 0.5 - near) & (np.abs(y - 0.5) < 0.5 - near)))
    )
    assert deep <= size <= inside(x - slack, y).mean() + 1e-9


def test_fields_whose_shape_does_not_tell_their_places():
    """Periodic axes and those with a value on one face: by the conditions, beside the grid, or by the operator."""
    grid, mixed = pde.Grid((8, 8)), [(pde.Dirichlet(1.0), pde.Neumann()), pde.Periodic()]
    for faces in (pde.Periodic(), mixed):
        u = np.asarray(pde.Laplacian(grid, faces).field(lambda x, y: x + np.sin(2 * np.pi * y)))
        one = drawn(plot.field(grid, u, faces=faces, label="u [K]"))
        np.testing.assert_array_equal(one, drawn(plot.field(pde.Laplacian(grid, faces), u)))
        assert one.shape == (9, 9)
        with pytest.raises(
            ValueError, match=r"plot.field.*Give the operator in place of the grid, or faces="
        ):
            plot.field(grid, u)
    with pytest.raises(ValueError, match="An operator has its own"):
        plot.field(pde.Laplacian(grid), np.zeros((7, 7)), faces=pde.Periodic())
    film = plot.movie(grid, np.zeros((2, 8, 8)), faces=pde.Periodic())
    film._draw_was_started = True
    with pytest.raises(ValueError, match="kind must be one of"):
        plot.field(grid, u, kind="heat")


def test_sections_in_three_dimensions():
    grid = pde.Grid((6, 6, 6))
    x, y, z = grid.coordinates()
    assert plot.field(grid, (x, y, z), kind="quiver").collections[0].N == 49
    film = plot.movie(grid, np.stack([x, 2 * x]))
    film._draw_was_started = True
    mask = pde.Masked(grid, lambda x, y, z: x + y < 1.2)
    film = plot.movie(mask, np.ones((3, *mask.field_shape)))
    film._draw_was_started = True


def test_names_of_axes():
    ax = plot.field(pde.Grid(8), np.ones(9), label="u [m]")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "u [m]")
    ax = GRID.plot(np.ones(GRID.shape))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")
    ax = plot.spectrum(xc.linalg.eigsh(xnp.diag(xnp.arange(1.0, 30)), 3, report=True))
    assert ax.get_ylabel() == "value" and len(ax.lines[0].get_xdata()) >= 3


def test_arrows():
    x = np.ones(GRID.shape)
    assert plot.field(GRID, (x, 2 * x), kind="quiver").collections[0].N == 81
    with pytest.raises(ValueError, match="a field for each axis"):
        plot.field(GRID, (x,), kind="quiver")


@pytest.mark.parametrize("cells", [8, (8, 8)])
def test_a_film_has_one_scale(tmp_path, cells):
    grid = pde.Grid(cells)
    states = np.linspace(1, 2, 3).reshape(3, *[1] * grid.ndim) * np.ones((3, *grid.shape))
    film = plot.movie(grid, states, tmp_path / "film.gif", fps=5)
    with pytest.importorskip("PIL.Image").open(tmp_path / "film.gif") as picture:
        assert picture.n_frames == 3
    assert film is not None
    with pytest.raises(ValueError, match="first axis"):
        plot.movie(grid, states[0])


def test_modes_are_centred_and_have_their_values():
    w, u = np.array([1.0, 2.0]), np.stack([np.ones((9, 9)), -2 * np.ones((9, 9))])
    axes = plot.modes(GRID, w, u)
    assert [ax.get_title() for ax in axes.flat[:2]] == ["λ = 1", "λ = 2"]
    assert axes.flat[0].collections[0].get_clim() == (-1, 1)
    with pytest.raises(ValueError, match="2 modes"):
        plot.modes(GRID, w, u[:1])


def test_orders_are_fitted():
    h = np.array([0.1, 0.05, 0.025])
    ax = plot.convergence(h, {"a": 3 * h**2, "b": h})
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["a, order 2.00", "b, order 1.00"]
    assert np.isnan(plot.order(h, 0 * h))
    with pytest.raises(ValueError, match="as many"):
        plot.convergence(h, h[:2])


def test_spectra():
    np.testing.assert_array_equal(plot.spectrum([1.0, 3.0, 2.0]).lines[0].get_ydata(), [3, 2, 1])
    assert plot.spectrum([1.0, 1e3]).get_yscale() == "log"
    np.testing.assert_array_equal(plot.spectrum([1 + 2j]).lines[0].get_ydata(), [2])
    assert plot.spectrum(np.zeros(0)).get_yscale() == "linear"


def test_matrices():
    a = np.array([[1.0, 0.0], [-2.0, 0.5]])
    np.testing.assert_array_equal(plot.matrix(a).images[0].get_array(), a)
    assert plot.matrix(xc.linalg.Matrix(xnp.asarray(a))).images[0].get_clim() == (-2, 2)
    assert len(plot.matrix(a, structure=True).lines[0].get_xdata()) == 3
    assert len(plot.spy(xc.sparse.from_dense(a)).lines[0].get_xdata()) == 3
    with pytest.raises(ValueError, match="a matrix"):
        plot.matrix(np.ones(3))


def test_factors_of_a_fit():
    cp = decomp.CP(None, (np.eye(3, 2), np.eye(4, 2)))
    assert len(plot.factors(cp).axes) == 4


def test_histories():
    found = optimize.minimize(lambda x: ((x - 1) ** 2).sum(), xnp.zeros(2), history=True)
    line = plot.history(found, what="g").lines[0]
    np.testing.assert_allclose(line.get_ydata(), np.linalg.norm(found.history["g"], axis=1))
    assert plot.history([1.0, 0.1]).get_yscale() == "log"
    with pytest.raises(ValueError, match="nfev"):
        plot.history(found, what="nothing")
    with pytest.raises(ValueError, match="history=True"):
        plot.history(optimize.minimize(lambda x: ((x - 1) ** 2).sum(), xnp.zeros(2)))


def test_programs():
    told = xc.make_jaxpr(lambda x: xnp.sin(x) * x)(xnp.ones(3))
    texts = [t.get_text() for t in plot.program(told).texts if t.get_text()]
    assert len(texts) == 1 + len(told.eqns) and any(t.startswith("sin\n") for t in texts)
    with pytest.raises(ValueError, match="make_jaxpr"):
        plot.program(xnp.sin)


def test_shardings():
    mesh = (
        xc.make_mesh((2,), ("rows",), devices=xc.devices()[:2]) if len(xc.devices()) > 1 else None
    )
    x = xnp.ones((4, 3))
    if mesh is not None:
        x = xc.device_put(x, xc.NamedSharding(mesh, xc.P("rows")))
    ax = plot.sharding(x)
    assert sum(p.get_width() * p.get_height() for p in ax.patches) == 12
    assert len(ax.patches) == (2 if mesh is not None else 1)
    with pytest.raises(ValueError, match="one or two"):
        plot.sharding(xnp.ones((2, 2, 2)))


def test_the_same_axes_come_back():
    _, ax = pyplot.subplots()
    assert plot.spectrum([1.0], ax) is ax and plot.history([1.0], ax) is ax


def test_what_cannot_be_drawn_is_refused():
    grid = pde.Grid((4, 4))
    u = np.ones((5, 5))
    for wave in (lambda: plot.field(grid, 1j * u), lambda: plot.movie(grid, [1j * u, u])):
        with pytest.raises(ValueError, match=r"u must be real.*draw u\.real, u\.imag or abs\(u\)"):
            wave()
    with pytest.raises(ValueError, match="one or more states"):
        plot.movie(grid, np.ones((0, 5, 5)))
