"""What ``eigenmodes`` claims, beside dense eigenvalues, over units of length and of coefficients: none is false."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.pde import (
    Diffusion,
    Dirichlet,
    Grid,
    Laplacian,
    Masked,
    Neumann,
    Periodic,
    Robin,
    Status,
    eigenmodes,
)

D, N, P, R = Dirichlet(), Neumann(), Periodic(), Robin(2.0, 0.5)
JUMP = np.where(np.arange(15) < 6, 1e-6, 1.0)
BENT = tuple(np.append(0, np.cumsum(np.geomspace(1, 1e3, 14))))
# lengths by powers of four: in units of their own all are one program
UNITS = [(1e-30, 1.0), (1e30, 1.0), (1.0, 4.0**15), (1e-25, 4.0**-10), (1e20, 4.0**-15)]

# name: (cells, bent, conditions, a, c) where lengths are 1
FAMILIES = {
    "Neumann": ((14,), None, N, 1 + np.arange(15.0), None),
    "jump": ((14,), None, N, JUMP, None),
    "decay": ((14,), None, (N, R), 1 + np.arange(15.0), np.arange(15.0)),
    "bent": ((14,), BENT, (R, N), 1 + np.arange(15.0) / 14, None),
    "ring": ((5, 4), None, [P, N], 1 + np.arange(30.0).reshape(6, 5), None),
    "numbers": ((5, 4), None, [N, (D, R)], (1.0, 1e-3), 3.0),
}


def dense(op):
    """All eigenvalues of -op by NumPy, and the largest; rows evened out by the weights."""
    matrix = -op.as_sparse().toarray().astype(float)
    at = np.ravel(op.inside) if isinstance(op, Masked) else slice(None)
    root = np.sqrt(np.broadcast_to(np.asarray(op.weights, float), op.field_shape)).ravel()[at]
    large = abs(matrix).max()
    even = matrix[at][:, at] / large * (root / root.max())[:, None] / (root / root.max())
    return np.linalg.eigvalsh((even + even.T) / 2) * large, large, root, at


def made(name, size, length, dtype):
    cells, bent, bc, a, c = FAMILIES[name]
    far = None if bent is None else [tuple(x * length for x in bent)]
    grid = Grid(cells, stretched=far) if far else Grid(cells, upper=length)
    shrunk = lambda f: Robin(f.alpha, f.beta * length) if isinstance(f, Robin) else f
    pairs = [bc] if isinstance(bc, tuple) else bc
    faces = [tuple(map(shrunk, p)) if isinstance(p, tuple) else shrunk(p) for p in pairs] \
        if isinstance(pairs, list) else pairs  # fmt: skip

    def cast(x):
        with np.errstate(over="ignore"):  # infinities are refused
            return np.asarray(np.asarray(x) * size, dtype)

    a = tuple(map(cast, a)) if isinstance(a, tuple) else cast(a)
    return Diffusion(grid, a, faces, 0.0 if c is None else cast(np.asarray(c) / length**2))


@pytest.mark.parametrize("method", ["auto", "shift-invert"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FAMILIES)
def test_claims_do_not_depend_on_units(name, dtype, method):
    """An unknown scale of a, c and lengths changes neither what is claimed nor how true that is."""
    if name == "numbers" and method != "auto":
        pytest.skip("a claim of its own: axes")
    with xc.enable_x64():
        claims = 0
        for size, length in UNITS:
            k = 4
            try:
                op = made(name, size, length, dtype)
                expected, large, root, _ = dense(op)
                found = eigenmodes(op, k, dtype=dtype, method=method, report=True)
            except ValueError as error:
                words = ("in the range", "must be finite", "must be positive and finite")
                assert any(w in str(error) for w in words) and dtype == "float32"
                continue
            ok = np.broadcast_to(np.asarray(found.ok), k)
            w, modes = (np.asarray(x, float) for x in found.value)
            eps = float(np.finfo(dtype).eps)
            # the square of the modes' error, and rounding by the largest eigenvalue
            allowed = 100 * eps * abs(expected[:k]) + 4 * eps * root.size * large
            assert (abs(w - expected[:k]) <= allowed)[ok].all(), (size, length)
            rows = (modes.reshape(k, -1) * root)[ok]
            assert np.allclose(rows @ rows.T, np.eye(len(rows)), atol=1e3 * eps**0.75)
            claims += ok.all()
        assert claims >= 2


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_claims_of_masks_do_not_depend_on_units(size):
    level = lambda x, y: 0.2 - (x / size - 0.5) ** 2 - (y / size - 0.4) ** 2
    with xc.enable_x64():
        op = Masked(Grid((13, 12), upper=size), level, a=np.float64(size), edge="symmetric")
        found = eigenmodes(op, 5, report=True)
        assert bool(found.ok.all())
        assert np.allclose(found.value[0], dense(op)[0][:5], rtol=1e-12)
        assert np.allclose([op.integrate(m * m) for m in found.value[1]], 1)


OUT_OF_RANGE = {
    "large": lambda: Diffusion(Grid(8), np.float32(1e37)),
    "small": lambda: Diffusion(Grid(8, upper=1e10), np.float32(1e-25)),
    "short": lambda: Diffusion(Grid(8, upper=1e-10), np.float32(1e25)),
    "long": lambda: Laplacian(Grid(8, upper=1e30)),
}


@pytest.mark.parametrize("name", OUT_OF_RANGE)
def test_eigenvalues_out_of_range_are_refused(name):
    with pytest.raises(ValueError, match="range of float32"):
        eigenmodes(OUT_OF_RANGE[name](), 3)


KINDS = {  # operators of a number, and numbers that they must not be given
    "number": (lambda a: Diffusion(Grid(9), a), (np.nan, -1.0, 0.0, np.inf)),
    "field": (lambda a: Diffusion(Grid(9), a * xnp.ones(10)), (np.nan, -1.0, np.inf)),
    "decay": (lambda a: Diffusion(Grid(9), 1.0, D, a), (np.nan, -1.0, np.inf)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_no_claim_for_coefficients_that_are_none(kind):
    """Where only the running program knows them; else they are refused."""
    made, wrong = KINDS[kind]
    status = xc.jit(lambda a: eigenmodes(made(a), 2, report=True).status)
    for a in wrong:
        assert (np.asarray(status(np.float32(a))) == Status.not_definite).all()
        with pytest.raises(ValueError, match=r"positive and finite|finite and nowhere"):
            made(np.float32(a))


def test_settings_are_asked_for_sense():
    op = Diffusion(Grid(9), 1 + np.arange(10.0))
    for wrong in ({"rtol": 0.0}, {"rtol": -1.0}, {"rtol": np.nan}, {"k": True}):
        with pytest.raises(ValueError, match="must be"):
            eigenmodes(op, **{"k": 2} | wrong)


@pytest.mark.parametrize("ratio", [1e-300, 1e-12, 1e-6, 1.0, 1e6, 1e12, 1e200])
def test_robin_rows_keep_their_digits(ratio):
    """beta over alpha against the width of a cell; u' = (g - alpha u) / beta at the face in closed form."""
    with xc.enable_x64():
        beta, h = 0.5 * ratio, 0.25
        row = Laplacian(Grid(4), Robin(0.5, beta)).as_sparse().toarray()[0]
        want = np.array([-2 / h**2 - 2 * 0.5 / beta / h, 2 / h**2])
        assert np.allclose(row[:2], want, rtol=1e-14)
        assert np.allclose(
            Laplacian(Grid(4), Robin(0.5, beta, 1.0)).boundary()[0], 2 / beta / h, rtol=1e-14
        )


def test_symmetry_is_that_of_the_weights_not_of_their_units():
    for length in (1e-30, 1.0, 1e30):
        bent = Grid(4, stretched=[tuple(np.array([0, 1, 3, 6, 10.0]) * length)])
        assert not Laplacian(bent).symmetric and not Diffusion(bent).symmetric
        assert Laplacian(Grid(4, upper=length)).symmetric
