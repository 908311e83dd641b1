"""Forty-two operators, solved by default: steps, residuals, and how steps grow with the grid.

``python benchmarks/pde_survey.py 64 256 -k flow`` chooses sizes and operators. A row tells the method, its steps,
the residual relative to the right-hand side, and seconds with compiling.
"""

import argparse
import time

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import Advection, Diffusion, Dirichlet, Grid, Laplacian, Neumann, Periodic, Robin

D, N, P = Dirichlet(), Neumann(), Periodic()
R = Robin(1.0, 2.0)


def square(n):
    return Grid((n, n))


def cube(n):
    return Grid((n // 4,) * 3)


def checkers(jump, count=8):
    return lambda x, y: xnp.where((xnp.floor(count * x) + xnp.floor(count * y)) % 2 > 0, jump, 1.0)


def channels(x, y):
    return xnp.where((xnp.abs(y - 0.3) < 0.02) | (xnp.abs(x - 0.7 * y - 0.2) < 0.02), 1e6, 1.0)


def inclusions(n, jump):
    """Small bodies at random places."""
    rng = np.random.default_rng(1)
    a = np.ones((n + 1, n + 1))
    for i, j in rng.integers(0, n, (n // 4, 2)):
        a[i : i + n // 16, j : j + n // 16] = jump
    return a


def lognormal(n, sigma, ndim=2):
    """exp of a smooth random field with this standard deviation."""
    rng = np.random.default_rng(2)
    x = np.linspace(0, 1, n + 1)
    field = 0.0
    for _ in range(60):
        k = rng.normal(0, 8, ndim)
        phase = sum(
            np.expand_dims(ki * x, [j for j in range(ndim) if j != i]) for i, ki in enumerate(k)
        )
        field = field + np.cos(2 * np.pi * phase + rng.uniform(0, 2 * np.pi))
    return np.exp(sigma * field / field.std())


def rough(n, sigma):
    """exp of independent normal numbers at the nodes."""
    return np.exp(sigma * np.random.default_rng(3).standard_normal((n + 1, n + 1)))


def stretched(n, ratio):
    """Nodes whose widest cell is ``ratio`` times the narrowest."""
    h = ratio ** np.linspace(0, 1, n)
    x = np.concatenate([[0], np.cumsum(h)])
    return tuple((x / x[-1]).tolist())


def rotated(n, angle, ratio):
    """div(K grad u) with K of eigenvalues ratio and 1, the first one's direction turned; crossed differences
    lean such that signs are those of flows."""
    c, s = np.cos(angle), np.sin(angle)
    kx, ky, kxy = ratio * c * c + s * s, ratio * s * s + c * c, (ratio - 1) * c * s

    def f(u):
        plain = kx * (u[1, 0] - 2 * u[0, 0] + u[-1, 0]) + ky * (u[0, 1] - 2 * u[0, 0] + u[0, -1])
        up = 2 * u[0, 0] + u[1, 1] + u[-1, -1] - u[1, 0] - u[-1, 0] - u[0, 1] - u[0, -1]
        down = 2 * u[0, 0] + u[1, -1] + u[-1, 1] - u[1, 0] - u[-1, 0] - u[0, 1] - u[0, -1]
        return n * n * (plain + (kxy * up if kxy > 0 else -kxy * down))

    return pde.Stencil(square(n), f)


def centred_cross(n):
    """∂xx + ∂yy + 1.5 ∂xy, the last by the four corners."""

    def f(u):
        five = u[1, 0] + u[-1, 0] + u[0, 1] + u[0, -1] - 4 * u[0, 0]
        return n * n * (five + 1.5 / 4 * (u[1, 1] + u[-1, -1] - u[1, -1] - u[-1, 1]))

    return pde.Stencil(square(n), f)


def wind(n, peclet, scheme, way, faces=D):
    """Δu - v·∇u with a velocity of this Péclet number of a cell."""
    fast = lambda w: lambda x, y: 2 * n * peclet * w(x, y)  # noqa: E731
    v = tuple(map(fast, way))
    more = {"diffusion": 1.0} if scheme == "fitted" else {}
    return Diffusion(square(n), 1.0, faces) - Advection(square(n), v, faces, scheme=scheme, **more)


ALONG = (lambda x, y: 1 + 0 * x, lambda x, y: 0 * x)
ACROSS = (lambda x, y: 0.8 + 0 * x, lambda x, y: 0.6 + 0 * x)
BENT = (lambda x, y: 1 - y**2, lambda x, y: 0.5 + x)
ROUND = (lambda x, y: 4 * x * (1 - x) * (1 - 2 * y), lambda x, y: -4 * y * (1 - y) * (1 - 2 * x))


def holes(n):
    """A disc with three holes."""

    def inside(x, y):
        away = lambda a, b, r: (x - a) ** 2 + (y - b) ** 2 - r**2  # noqa: E731
        whole = xnp.minimum(0.9**2 - x**2 - y**2, away(0.4, 0.1, 0.2))
        return xnp.minimum(whole, xnp.minimum(away(-0.3, 0.4, 0.15), away(-0.2, -0.4, 0.25)))

    return Grid((n, n), -1.0, 1.0), inside


def masked(n, **more):
    grid, inside = holes(n)
    return pde.Masked(grid, inside, **more)


def flows_given(n):
    """A disc with two holes, next to nothing flowing through its edges."""
    away = lambda a, b, r: lambda x, y: xnp.sqrt((x - a) ** 2 + (y - b) ** 2 + 1e-30) - r  # noqa: E731
    levels = [lambda x, y: -away(0, 0, 0.9)(x, y), away(0.3, 0.0, 0.2), away(-0.35, 0.2, 0.15)]
    return pde.CutDiffusion(
        Grid((n, n), -1.0, 1.0), 1.0, inside=levels, edge=[Robin(0.1, 1.0), N, N]
    )


def around(ratio):
    """A matrix whose first eigenvector goes around the middle of the square."""

    def a(x, y):
        t = xnp.arctan2(y - 0.5, x - 0.5 + 1e-9) + np.pi / 2
        c, s = xnp.cos(t), xnp.sin(t)
        xy = (ratio - 1) * c * s
        return ((ratio * c * c + s * s, xy), (xy, ratio * s * s + c * c))

    return a


def varying_waves(n, kh):
    return Laplacian(square(n)) + (
        lambda x, y: (kh * n) ** 2 * (0.6 + 0.4 * xnp.cos(5 * x) * xnp.sin(4 * y))
    )


SURVEY = {
    "Poisson, odd": lambda n: Laplacian(square(n)) * 1.0,
    "Poisson, even number of unknowns": lambda n: Laplacian(square(n + 1)) - 0.0,
    "reaction": lambda n: Laplacian(square(n)) - 100.0,
    "order 4": lambda n: Laplacian(square(n), order=4) - 1.0,
    "order 6": lambda n: Laplacian(square(n), order=6) - 1.0,
    "Neumann all around": lambda n: Laplacian(square(n), N) * 2.0,
    "Robin, Neumann, mixed": lambda n: Diffusion(square(n), lambda x, y: 1 + x, [(R, N), (D, R)]) - 0.0,
    "periodic, odd numbers": lambda n: Diffusion(square(n + 1), lambda x, y: 1.5 + xnp.sin(2 * np.pi * x), P) - 1.0,
    "checkers 1e8": lambda n: Diffusion(square(n), checkers(1e8)) - 0.0,
    "checkers 1e3, not on lines of the grid": lambda n: Diffusion(square(n), checkers(1e3, 7)) - 0.0,
    "channels 1e6": lambda n: Diffusion(square(n), channels) - 0.0,
    "inclusions 1e-6": lambda n: Diffusion(square(n), inclusions(n, 1e-6)) - 0.0,
    "inclusions 1e6": lambda n: Diffusion(square(n), inclusions(n, 1e6)) - 0.0,
    "lognormal, sigma 3": lambda n: Diffusion(square(n), lognormal(n, 3.0)) - 0.0,
    "lognormal at each node, sigma 3": lambda n: Diffusion(square(n), rough(n, 3.0)) - 0.0,
    "anisotropy 1e4": lambda n: Diffusion(square(n), (1e4, 1.0)) - 0.0,
    "anisotropy 1e4 that switches": lambda n: Diffusion(
        square(n), (lambda x, y: xnp.where(x > 0.5, 1e4, 1.0), lambda x, y: xnp.where(x > 0.5, 1.0, 1e4))) - 0.0,
    "anisotropy 1e4 at 45 degrees": lambda n: rotated(n, np.pi / 4, 1e4),
    "anisotropy 1e2 at 30 degrees": lambda n: rotated(n, np.pi / 6, 1e2),
    "anisotropy 10 at -20 degrees": lambda n: rotated(n, -np.pi / 9, 10.0),
    "cross derivative": centred_cross,
    "stretched 1:1000 both": lambda n: Diffusion(Grid((n, n), stretched=(stretched(n, 1e3),) * 2), 1.0) - 0.0,
    "stretched 1:1000 one, Neumann": lambda n: Diffusion(
        Grid((n, n), stretched=(stretched(n, 1e3), None)), 1.0, [(N, D), N]) - 0.0,
    "cells 16:1": lambda n: Diffusion(Grid((n, n), upper=(16.0, 1.0)), lambda x, y: 1 + y) - 0.0,
    "flow along, Péclet 1e3": lambda n: wind(n, 1e3, "upwind", ALONG),
    "flow across, Péclet 1e3": lambda n: wind(n, 1e3, "upwind", ACROSS),
    "flow bent, Péclet 1": lambda n: wind(n, 1.0, "upwind", BENT),
    "flow bent, Péclet 10, fitted": lambda n: wind(n, 10.0, "fitted", BENT),
    "flow bent, Péclet 1e3, outflow": lambda n: wind(n, 1e3, "upwind", BENT, [(D, N), (D, N)]),
    "flow round, Péclet 1": lambda n: wind(n, 1.0, "upwind", ROUND),
    "flow round, Péclet 1e3": lambda n: wind(n, 1e3, "upwind", ROUND),
    "waves, kh 0.6": lambda n: Laplacian(square(n)) + (0.6 * n) ** 2,
    "waves that vary, kh 0.6": lambda n: varying_waves(n, 0.6),
    "waves that vary, kh 0.1": lambda n: varying_waves(n, 0.1),
    "waves, a few modes": lambda n: Diffusion(square(n), lambda x, y: 1 + x) + 300.0,
    "damped waves, kh 0.4, complex": lambda n: Laplacian(square(n)) + (0.4 * n) ** 2 * (1 + 0.1j),
    "complex diffusion": lambda n: Diffusion(square(n), checkers(1e3)) * (1 + 2j) - 3j,
    "a disc with holes": lambda n: masked(n) - 1.0,
    "a disc with holes, given flows": lambda n: flows_given(n) - 1e-3,
    "anisotropy 1e3 around a point": lambda n: Diffusion(square(n), around(1e3)) - 0.0,
    "3-D, anisotropy 1e4 in a plane": lambda n: Diffusion(cube(n), (1e4, 1e4, 1.0)) - 0.0,
    "3-D, lognormal, sigma 3": lambda n: Diffusion(cube(n), lognormal(n // 4, 3.0, 3)) - 0.0,
}  # fmt: skip


def measured(name, n, **more):
    """(solution, relative residual, seconds)."""
    op = SURVEY[name](n)
    f = np.random.default_rng(0).standard_normal(op.field_shape)
    if name.startswith("Neumann"):
        f = f - np.sum(op.weights * f) / np.sum(op.weights)
    inside = op.inside
    f = f if inside is None else f * np.asarray(inside)
    began = time.perf_counter()
    answer = pde.solve(op, f, report=True, **more)
    u = np.asarray(answer.value)
    took = time.perf_counter() - began
    left = np.asarray(op(u)) - f
    return answer, float(np.linalg.norm(left) / np.linalg.norm(f)), took


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", nargs="*", type=int, default=[64])
    parser.add_argument("-k", default="", help="part of a name")
    parser.add_argument("--method", default="auto")
    args = parser.parse_args()
    print(
        "| operator | cells | method | steps | status | residual | seconds |\n|---|---|---|---|---|---|---|"
    )
    with xc.enable_x64():
        for name in SURVEY:
            for n in args.sizes if args.k in name else ():
                a, left, took = measured(name, n, method=args.method)
                print(f"| {name} | {n} | {a.method} | {int(a.steps)} | {pde.Status(int(a.status)).name} | "
                      f"{left:.1e} | {took:.1f} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
