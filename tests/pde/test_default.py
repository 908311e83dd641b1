"""What ``solve`` does by default with operators that cycles find hard: few steps, no false success."""

import numpy as np
import pytest
import scipy.sparse.linalg as sla

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import Diffusion, Dirichlet, Grid, Neumann, Robin, _blackbox, _general, _portrait

rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def double():
    with xc.enable_x64():
        yield


def solved(op, **more):
    """The solution of op(u) = f, with its residual computed anew."""
    f = 1 + 0.3 * rng.standard_normal(op.field_shape)
    f = f if op.inside is None else f * np.asarray(op.inside)
    answer = pde.solve(op, f, report=True, **more)
    left = np.asarray(op(answer.value)) + np.asarray(op.boundary()) - f
    return answer, float(np.linalg.norm(left) / np.linalg.norm(f))


def test_waves_on_large_grids_are_real_where_the_equation_is(monkeypatch):
    """Cycles are those of damped waves there, whose elements are complex."""
    monkeypatch.setitem(_portrait.FACTORS_AT_MOST, 2, 400)
    waves = pde.Helmholtz(Grid((40, 40)), lambda x, y: 100 * (1 + 0.1 * x))
    answer, left = solved(waves, method="auto")
    assert answer.value.dtype == np.float64
    assert answer.ok and left < 1e-9, (answer, left)
    other, left = solved(1.0 * waves, method="gcr")
    assert "damped" in other.reason and other.ok and left < 1e-9


def test_coarse_grids_carry_waves_that_go_in_all_directions():
    """Nodes between coarse ones take less than the mean of their neighbours, as sums of rows tell: 20 steps else."""
    op = pde.Helmholtz(Grid((160, 160)), lambda x, y: 1600 * (1 + 0.2 * y))
    answer, left = solved(op, method="gcr")
    assert answer.ok and left < 1e-9 and int(answer.steps) <= 15


def test_planes_that_are_tied_weakly_are_not_coarsened_across():
    """Where cells are flat on one end of the box and long on the other; 35 steps else."""
    z = (1e3 ** np.linspace(0, 1, 21) - 1) / 999
    grid = Grid((20, 20, 20), stretched=(None, None, tuple(z)))
    op = Diffusion(
        grid, lambda x, y, z: 1 + x, [Neumann(), Neumann(), (Dirichlet(), Robin(1.0, 1.0))]
    )
    answer, left = solved(1.0 * op, method="cg")
    assert answer.ok and left < 1e-9 and int(answer.steps) <= 20


def test_curved_edges_take_as_few_steps_as_straight_ones():
    """Cycles of flows took 52 for given flows and holes at 256², 24 at 64²."""
    circle = lambda a, b, r: lambda x, y: ((x - a) ** 2 + (y - b) ** 2) ** 0.5 - r
    outer = lambda x, y: -circle(0, 0, 0.95)(x, y)
    inside = [outer, circle(0.3, 0.0, 0.2), circle(-0.4, 0.1, 0.15)]
    edge = [Neumann(), Robin(5.0, 1.0), Dirichlet(1.0)]
    op = pde.CutDiffusion(Grid((160, 160), -1.0, 1.0), inside=inside, edge=edge)
    f = op.only_inside(xnp.ones(op.field_shape))
    answer = pde.solve(1.0 * op, f, method="cg", report=True)
    exact = pde.solve(op, f, method="sparse")
    assert answer.ok and int(answer.steps) <= 10
    assert abs(answer.value - exact).max() < 1e-8 * abs(exact).max()


@pytest.mark.parametrize("nodes, jump", [(512, 1e8), (4096, 1e8), (4096, 1e11)])
def test_what_elements_lose_flows_keep(nodes, jump):
    """On a line the flow is known: what goes in. Rows of elements sum to their rounding, and not to zero."""
    op = Diffusion(Grid(nodes), lambda x: xnp.where(xnp.sin(40 * x) > 0, jump, 1.0))
    f = 1 + 0.3 * rng.standard_normal(op.field_shape)
    x = np.linspace(0, 1, nodes + 1)
    a = np.where(np.sin(40 * x) > 0, jump, 1.0)
    resistance, gone = (
        (1 / a[1:] + 1 / a[:-1]) / 2 / nodes,
        np.concatenate([[0], np.cumsum(f) / nodes]),
    )
    first = np.sum(resistance * gone) / np.sum(resistance)
    want = np.cumsum(resistance * (gone - first))[:-1]
    answer = pde.solve(op, f, report=True)
    assert answer.ok and abs(answer.value - want).max() < 1e-8 * abs(want).max()


def pixels(cells, jump, seed=7):
    """Coefficients that are 1 or ``jump`` at random, node by node."""
    shape = tuple(n + 1 for n in cells)
    return np.where(np.random.default_rng(seed).random(shape) < 0.5, jump, 1.0)


def few_factors(monkeypatch):
    """As on larger grids, of which sparse factors are not taken at once, and of which nothing is known yet."""
    _general._kept.clear()
    monkeypatch.setattr(_portrait, "FACTORS_UP_TO", dict.fromkeys((1, 2, 3), 100))
    monkeypatch.setattr(_portrait, "_COARSEST", dict.fromkeys((1, 2, 3), 500))


HARD = {  # with what the cycle of next neighbours took: more than 40 steps, or none
    "pixels of 1e8": lambda: Diffusion(Grid((90, 90)), pixels((90, 90), 1e8)),
    "pixels of 1e4, walls": lambda: Diffusion(
        Grid((90, 90)), pixels((90, 90), 1e4), [(Neumann(), Dirichlet()), Neumann()]
    ),
    "pixels of 1e6 in space": lambda: Diffusion(Grid((20, 20, 20)), pixels((20,) * 3, 1e6)),
    "cells of all shapes": lambda: Diffusion(
        Grid((18, 18, 18), stretched=(widths(18, 100.0), None, widths(18, 1e3))), (1.0, 10.0, 1.0)
    ),
    "pixels and a wind in space": lambda: (
        Diffusion(Grid((18,) * 3), pixels((18,) * 3, 1e4))
        - pde.Advection(Grid((18,) * 3), (200.0, -100.0, lambda x, y, z: 50 * x), scheme="upwind")
    ),
}


def widths(n, ratio):
    x = np.cumsum(np.append(0, ratio ** np.linspace(0, 1, n)))
    return tuple((x / x[-1]).tolist())


@pytest.mark.parametrize("factors", [True, False])
@pytest.mark.parametrize("name", HARD)
def test_what_takes_many_steps_is_noticed_after_a_few(name, factors, monkeypatch):
    few_factors(monkeypatch)
    if not factors:
        monkeypatch.setattr(_portrait, "FACTORS_AT_MOST", dict.fromkeys((1, 2, 3), 100))
    op = 1.0 * HARD[name]()
    f = 1 + 0.3 * rng.standard_normal(op.field_shape)
    answer, a = pde.solve(op, f, report=True), op.as_sparse().tocsc()
    left = lambda u: np.linalg.norm(a @ u - f.ravel()) / np.linalg.norm(f)
    rounding = left(sla.spsolve(a, f.ravel()))  # which is above 1e-8 with jumps of 1e8
    assert answer.ok and left(np.ravel(answer.value)) < 1e-9 + 300 * rounding
    assert int(answer.steps) <= 20
    assert answer.method in (("sparse", "algebraic") if factors else ("algebraic",))
    again = pde.solve(op, 1.0, report=True)
    assert again.ok and again.method == answer.method


@pytest.mark.parametrize("dt", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("few", [True, False])
def test_long_steps_between_walls_keep_the_mean(dt, few, monkeypatch):
    """Constants are nearly in the kernel: no digit of a row tells of their size, its products in differences do."""
    if few:
        few_factors(monkeypatch)
    grid = Grid((40, 44))
    spread = Diffusion(grid, lambda x, y: xnp.exp(3 * xnp.sin(9 * x * y)), Neumann())
    op, f = dt * spread - 1.0, 1 + rng.standard_normal((41, 45))
    answer = pde.solve(op, f, report=True)
    w = np.asarray(spread.weights)
    assert answer.ok
    assert abs(np.sum(w * np.asarray(answer.value)) + np.sum(w * f)) < 1e-7 * abs(np.sum(w * f))


def test_islands_without_values_on_their_edges_are_told():
    """Each has constants of its own; one alone, or with something added, is solved."""
    disc = lambda a: lambda x, y: 0.3 - ((x - a) ** 2 + y**2) ** 0.5
    both = lambda x, y: xnp.maximum(disc(-0.5)(x, y), disc(0.5)(x, y))
    grid = Grid((40, 40), -1.0, 1.0)
    op = pde.CutDiffusion(grid, 1.0, inside=both, edge=Neumann())
    f = op.only_inside(xnp.where(op.points()[0] > 0, 1.0, -1.0) * xnp.ones(op.field_shape))
    answer = pde.solve(op, f, report=True)
    assert answer.status == pde.Status.singular and "2 of the domain's 2 parts" in answer.message
    with pytest.raises(xc.errors.SingularMatrixError, match="constants are free there"):
        pde.solve(op, f)
    one = pde.CutDiffusion(
        grid, 1.0, [(Dirichlet(), Neumann()), Neumann()], inside=lambda x, y: abs(x) - 0.2, edge=Neumann()
    )  # fmt: skip
    assert (
        "1 of the domain's 2 parts"
        in pde.solve(one, one.only_inside(1.0 + 0 * one.points()[0]), report=True).reason
    )
    assert pde.solve(op - 1.0, f, report=True).ok
    alone = pde.CutDiffusion(grid, 1.0, inside=disc(0.5), edge=Neumann())
    f = alone.only_inside(alone.points()[1] * xnp.ones(alone.field_shape))
    assert pde.solve(alone, f, report=True).ok


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Grid(8, 8), r"Cells of several axes are one tuple: \(8, 8\)"),
        (lambda: Grid(8, 8, 8), r"one tuple: \(8, 8, 8\)"),
        (lambda: Grid.cells(8, 8), r"one tuple: \(8, 8\)"),
        (lambda: Grid(8, 8, 0.0, 1.0), "stretched must be for each axis None or a rising tuple"),
        (
            lambda: (
                pde.CutDiffusion(Grid((9, 9)), inside=lambda x, y: 0.4 - x - y)
                - pde.Advection(Grid((9, 9)), (1.0, 1.0))
            ),
            "must be a CutDiffusion as well",
        ),
        (lambda: Robin(-2j, 1.0), "OpenHelmholtz"),
    ],
)
def test_newcomers_are_told(make, words):
    with pytest.raises(ValueError, match=words):
        make()


# What elements tell


def seen(op):
    return _portrait.portrait(_general.elements(op), np.asarray(op.weights), 2.0**-52)


def turned(angle, ratio):
    """Couplings of this ratio, the strong ones in a direction that is a number or a function of the coordinates."""

    def a(x, y):
        t = angle(x, y) if callable(angle) else angle + 0 * x
        c, s = xnp.cos(t), xnp.sin(t)
        xx, xy, yy = ratio * c * c + s * s, (ratio - 1) * c * s, ratio * s * s + c * c
        return ((xx, xy), (xy, yy))

    return a


ROUND = lambda x, y: xnp.arctan2(y - 0.5, x - 0.5 + 1e-9) + np.pi / 2
SLANTED = [
    (np.deg2rad(20), 1e3, True), (np.deg2rad(45), 50.0, True), (np.deg2rad(105), 1e4, True), (ROUND, 1e3, True),
    (0.0, 1e4, False), (np.pi / 2, 1e4, False), (np.deg2rad(45), 3.0, False), (np.deg2rad(-20), 10.0, False),
]  # fmt: skip


@pytest.mark.parametrize("angle, ratio, slanted", SLANTED)
@pytest.mark.parametrize("faces", [Dirichlet(), Neumann(), pde.Periodic()], ids=["D", "N", "P"])
def test_strong_couplings_across_the_axes_are_seen_and_make_no_waves(angle, ratio, slanted, faces):
    """Next to faces with given values sums of rows may have the sign of waves where the strong direction turns."""
    p = seen(Diffusion(Grid((40, 37)), turned(angle, ratio), faces))
    assert p.symmetric and p.slanted == slanted and not p.waves
    factors = _portrait.way(p, (1000, 1000), "auto")
    assert (factors.method == "sparse") == slanted
    assert _portrait.way(p, (1500, 1500), "auto").factors >= (2e5 if slanted else 2**14)


def test_strong_couplings_across_two_axes_of_three_are_seen():
    for i, j in ((0, 1), (0, 2), (1, 2)):
        a = [[float(k == m) for m in range(3)] for k in range(3)]
        a[i][i], a[j][j], a[i][j], a[j][i] = 75.25, 25.75, 42.87, 42.87
        assert seen(Diffusion(Grid((9, 10, 11)), a)).slanted
    assert not seen(Diffusion(Grid((9, 10, 11)), (1e4, 1.0, 1e2))).slanted


@pytest.mark.parametrize("order", [4, 6])
def test_rows_of_high_order_next_to_faces_are_no_waves_and_waves_are(order):
    for faces in (Dirichlet(), [(Neumann(), Dirichlet()), Dirichlet()]):
        lap = pde.Laplacian(Grid((30, 28)), faces, order)
        assert not seen(lap - 1.0).waves
        assert seen(lap + 200.0).waves
    assert seen(Diffusion(Grid((30, 28)), lambda x, y: 1 + x) + (lambda x, y: 300 * x)).waves


@pytest.mark.parametrize("unit", [1e-9, 1e-6, 16.0, 3e7])
@pytest.mark.parametrize("cells", [(67, 61), (64, 64)])
def test_rounding_of_nodes_leaves_operators_symmetric(unit, cells):
    for grid in (Grid(cells, 0.0, (unit, 1.0)), Grid.cells(cells, upper=(1.0, unit))):
        assert seen(Diffusion(grid, (lambda x, y: 1 + 1e5 * (x > 0.45 * unit), 1.0))).symmetric


def test_slow_cycles_are_given_up_for_factors_where_these_fit(monkeypatch):
    """For flows along closed lines a cycle takes 29 steps at 128²."""
    few_factors(monkeypatch)
    around = (
        lambda x, y: 4e5 * xnp.sin(2 * np.pi * x) * xnp.cos(2 * np.pi * y),
        lambda x, y: -4e5 * xnp.cos(2 * np.pi * x) * xnp.sin(2 * np.pi * y),
    )
    grid = Grid((96, 96))
    op = Diffusion(grid, 1.0) - pde.Advection(grid, around, scheme="upwind")
    answer, left = solved(op)
    assert answer.ok and left < 1e-9 and int(answer.steps) <= 20


# Outside of a domain


def round_(*middle, r):
    return lambda *x: (
        r - xnp.sqrt(sum((xi - m) ** 2 for xi, m in zip(x, middle, strict=True)) + 1e-30)
    )


CURVED = {
    "disc": [round_(0.0, 0.0, r=0.9)],
    "holes": [round_(0.0, 0.0, r=0.95), lambda x, y: -round_(0.3, 0.0, r=0.2)(x, y),
              lambda x, y: -round_(-0.35, 0.2, r=0.15)(x, y)],
    "star": [pde.polygon([(0.9 * r * np.cos(t), 0.9 * r * np.sin(t))
                          for t, r in zip(np.arange(10) * np.pi / 5 + 0.1, [1, 0.4] * 5, strict=True)])],
    "ball": [round_(0.0, 0.1, 0.0, r=0.8)],
}  # fmt: skip


@pytest.mark.parametrize("name", CURVED)
def test_coarse_grids_of_curved_domains_lose_nothing_to_what_is_outside(name):
    """A coarse node outside stands for nodes next to it inside; constants that flow nowhere stay so on all levels."""
    n, ndim = (90, 2) if name != "ball" else (22, 3)
    op = pde.CutDiffusion(Grid((n,) * ndim, -1.0, 1.0), 1.0, inside=CURVED[name], edge=Neumann())
    c = _general.elements(op).map(lambda x: -np.asarray(op.weights) * x)
    c = _blackbox.filled(c)
    kind = _blackbox.Kind((1,) * ndim, False, True, False, True, 30)
    for plan, held in zip(*_blackbox.hierarchy(c, kind), strict=True):
        if plan.last == "dense" or min(plan.shape) < 7:
            break
        every = dict(zip(_blackbox.offsets(ndim), held["a"], strict=True))
        level = c._replace(elements=every, shape=plan.shape)
        scale = level.centre * ~level.alone
        assert np.abs(np.where(level.alone, 0, level.sums)).max() <= 1e-11 * scale.max()


@pytest.mark.parametrize("edge", [Neumann(), Robin(0.1, 1.0)], ids=["N", "R"])
@pytest.mark.parametrize("name", ["disc", "holes", "star"])
def test_steps_in_curved_domains_do_not_grow_with_the_grid(name, edge, monkeypatch):
    """From 11 at 128² to 37 at 1024² where constants were held outside."""
    few_factors(monkeypatch)
    monkeypatch.setattr(_portrait, "_COARSEST", dict.fromkeys((1, 2, 3), 100))
    for n in (48, 180):
        domain = pde.CutDiffusion(Grid((n, n), -1.0, 1.0), 1.0, inside=CURVED[name], edge=edge)
        f = np.asarray(domain.inside) * (1 + 0.3 * rng.standard_normal(domain.field_shape))
        answer = pde.solve(domain - 1.0, f, method="cg", report=True)
        # by volume: what the edge leaves of some cells is next to nothing, and rounding large in its units
        w = np.asarray(domain.weights)
        left = np.linalg.norm(w * np.asarray((domain - 1.0)(answer.value) - f))
        assert answer.ok and left < 1e-9 * np.linalg.norm(w * f) and int(answer.steps) <= 11, (
            n,
            answer,
        )
