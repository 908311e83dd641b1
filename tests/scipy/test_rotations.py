"""Rotations beside SciPy's, in all conventions, at the ends of angles, batched, with derivatives."""

import itertools

import numpy as np
import pytest
import scipy.spatial.transform as peer

import xcore as xc
import xcore.numpy as xnp
from xcore.scipy.spatial.transform import Rotation, Slerp

rng = np.random.default_rng(0)
FIXED = ["".join(s) for s in itertools.product("xyz", repeat=3) if s[0] != s[1] != s[2]]
SEQUENCES = [*FIXED, *[s.upper() for s in FIXED]]


def same(a, b, tol=1e-12):
    """The same rotations, whatever the sign of their quaternions."""
    np.testing.assert_allclose(a.as_matrix(), b.as_matrix(), atol=tol)


def quaternions(n):
    """Rotations of all sizes: none at all, half turns, tiny ones, any."""
    tiny = np.concatenate([1e-9 * rng.normal(size=(4, 3)), np.ones((4, 1))], -1)
    special = [
        [0, 0, 0, 1],
        [0, 0, 0, -1],
        [1, 0, 0, 0],
        [0, -1, 0, 0],
        [0, 0, 1, 0],
        [1, 1, 0, 0],
        [0.5, 0.5, 0.5, -0.5],
    ]
    return np.concatenate([special, tiny, rng.normal(size=(n, 4))])


def test_descriptions_are_scipys():
    q = quaternions(40)
    ours, theirs = Rotation.from_quat(q), peer.Rotation.from_quat(q)
    same(ours, theirs)
    np.testing.assert_allclose(
        ours.as_quat(canonical=True), theirs.as_quat(canonical=True), atol=1e-14
    )
    np.testing.assert_allclose(
        ours.as_quat(scalar_first=True), theirs.as_quat(scalar_first=True), atol=1e-14
    )
    np.testing.assert_allclose(ours.magnitude(), theirs.magnitude(), atol=1e-14)
    v, w = ours.as_rotvec(), theirs.as_rotvec()
    half_turns = np.abs(theirs.magnitude() - np.pi) < 1e-9
    np.testing.assert_allclose(v[~half_turns], w[~half_turns], atol=1e-13)
    same(Rotation.from_rotvec(v), theirs)
    same(Rotation.from_rotvec(ours.as_rotvec(degrees=True), degrees=True), theirs)
    same(Rotation.from_mrp(ours.as_mrp()), theirs)
    same(Rotation.from_matrix(theirs.as_matrix()), theirs)


def test_euler_angles_are_scipys():
    angles = rng.uniform(-3, 3, (6, 3))
    q = quaternions(20)
    for seq in SEQUENCES:
        same(Rotation.from_euler(seq, angles), peer.Rotation.from_euler(seq, angles))
        ours = Rotation.from_quat(q).as_euler(seq)
        same(
            Rotation.from_euler(seq, ours), peer.Rotation.from_quat(q), 1e-7
        )  # which ends are cut at
        any_ = rng.normal(size=(20, 4))
        found, want = (
            R.from_quat(any_).as_euler(seq, degrees=True) for R in (Rotation, peer.Rotation)
        )
        np.testing.assert_allclose(found, want, atol=1e-9)
    same(Rotation.from_euler("zy", angles[:, :2]), peer.Rotation.from_euler("zy", angles[:, :2]))
    same(
        Rotation.from_euler("Z", 30, degrees=True),
        peer.Rotation.from_euler("Z", 30, degrees=True),
        1e-7,
    )


@pytest.mark.parametrize("seq", ["xyz", "ZYX", "zxz", "YXY"])
def test_euler_angles_at_their_ends(seq):
    ends = [0.0, np.pi] if seq[0].lower() == seq[2].lower() else [-np.pi / 2, np.pi / 2]
    for end in ends:
        given = peer.Rotation.from_euler(seq, [0.4, end, 0.3])
        ours = Rotation.from_quat(given.as_quat()).as_euler(seq)
        assert ours[2] == 0
        same(Rotation.from_euler(seq, ours), given, 1e-7)


def test_products_powers_means_and_parts():
    p, q = rng.normal(size=(5, 4)), rng.normal(size=(5, 4))
    a, b = Rotation.from_quat(p), Rotation.from_quat(q)
    c, d = peer.Rotation.from_quat(p), peer.Rotation.from_quat(q)
    v = rng.normal(size=(5, 3))
    same(a * b.inv(), c * d.inv())
    same(a**2.5, c**2.5)
    same(a[1:3], c[1:3])
    np.testing.assert_allclose(a.apply(v), c.apply(v), atol=1e-14)
    np.testing.assert_allclose(a.apply(v, inverse=True), c.apply(v, inverse=True), atol=1e-14)
    weights = rng.uniform(size=5)
    same(a.mean(weights), c.mean(weights))
    same(Rotation.concatenate([a, b[0]]), peer.Rotation.concatenate([c, d[0]]))
    assert len(a) == 5 and a[0].single and not a.single
    same(Rotation.identity(2), peer.Rotation.identity(2))
    drawn = Rotation.random(xc.random.key(0), 4000)
    np.testing.assert_allclose(drawn.as_matrix().mean(0), 0, atol=0.05)


def test_paths_are_scipys():
    times, angles = np.asarray([0.0, 1.0, 2.5]), rng.uniform(-1, 1, (3, 3))
    at = np.asarray([0.0, 0.3, 1.0, 1.7, 2.5])
    ours = Slerp.init(times, Rotation.from_euler("xyz", angles))
    same(ours(at), peer.Slerp(times, peer.Rotation.from_euler("xyz", angles))(at))
    same(xc.jit(lambda t: ours(t))(at), ours(at))
    assert ours(0.5).single


def test_derivatives_are_those_of_the_group():
    """At no rotation too: d/dv of exp(v) w is the cross product with w."""
    w = np.asarray([0.3, -1.0, 2.0])
    turned = lambda v: Rotation.from_rotvec(v).apply(w)
    with xc.enable_x64():
        np.testing.assert_allclose(
            xc.jacfwd(turned)(xnp.zeros(3)), np.cross(np.eye(3), w).T, atol=1e-14
        )
        back = lambda v: Rotation.from_rotvec(v).as_rotvec()
        for v in (np.zeros(3), np.asarray([0.1, 0.2, -0.3]), np.asarray([1e-9, 0, 0])):
            for jac in (xc.jacfwd, xc.jacrev):
                np.testing.assert_allclose(jac(back)(v), np.eye(3), atol=1e-9)
        many = xc.vmap(lambda r: r.apply(w))(Rotation.from_quat(rng.normal(size=(4, 4))))
        assert many.shape == (4, 3)


def test_empty_and_narrow():
    assert Rotation.from_quat(np.zeros((0, 4))).as_matrix().shape == (0, 3, 3)
    for dtype in ("float16", "bfloat16", "float32"):
        r = Rotation.from_rotvec(xnp.asarray([0.1, 0.2, 0.3], dtype))
        assert r.quat.dtype == dtype and r.apply(xnp.ones(3, dtype)).dtype == dtype


WRONG = [
    (lambda: Rotation.from_quat(np.ones(3)), ValueError, "4 numbers"),
    (lambda: Rotation.from_matrix(np.ones((2, 3))), ValueError, "3 by 3"),
    (lambda: Rotation.from_euler("xxy", [1, 2, 3]), ValueError, "none twice"),
    (lambda: Rotation.from_euler("xYz", [1, 2, 3]), ValueError, "fixed axes"),
    (lambda: Rotation.from_euler("xy", [1, 2, 3]), ValueError, "2 numbers"),
    (lambda: Rotation.identity().as_euler("xy"), ValueError, "three axes"),
    (lambda: len(Rotation.identity()), TypeError, "single"),
    (lambda: Rotation.identity()[0], TypeError, "single"),
    (lambda: Slerp([0.0], Rotation.identity(1))(0.0), ValueError, "two or more"),
]


@pytest.mark.parametrize(("call", "error", "words"), WRONG)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_known_mistakes_are_refused():
    """SciPy takes the nearest rotation of a matrix that is none; here it is said how."""
    near = np.eye(3)[[2, 0, 1]] * 1.0002
    assert np.allclose(Rotation.from_matrix(near).as_matrix(), np.eye(3)[[2, 0, 1]], atol=1e-3)
    for wrong in (near * 1.1, -np.eye(3), np.stack([np.eye(3), np.zeros((3, 3))])):
        with pytest.raises(ValueError, match="orthogonal"):
            Rotation.from_matrix(wrong)
    for zero in (np.zeros(4), np.array([[1.0, 0, 0, 0], [0, 0, 0, 0]])):
        with pytest.raises(ValueError, match="quat must be of a length"):
            Rotation.from_quat(zero)


@pytest.mark.parametrize(
    "at", [[0, 0, 0], [1e-9, 0, 0], [0.1, -0.2, 0.05], [0.29, 0.29, 0.28], [1.0, 2.0, 0.5]]
)
def test_second_derivatives_at_rest_too(at):
    at, other = np.array(at, float), Rotation.from_euler("z", 0.2)
    maps = {
        "matrix": lambda r: Rotation.from_rotvec(r).as_matrix().ravel(),
        "quaternion": lambda r: Rotation.from_rotvec(r).as_quat(),
        "composed": lambda r: (Rotation.from_rotvec(r) * other).as_rotvec(),
        "back": lambda r: Rotation.from_rotvec(r).as_rotvec(),
    }
    e = 1e-4 * np.eye(3)
    for f in maps.values():
        corner = lambda i, j: np.asarray(f(at + e[i] + e[j]))  # noqa: B023
        by_differences = np.array([
            [(corner(i, j) - f(at + e[i] - e[j]) - f(at - e[i] + e[j]) + f(at - e[i] - e[j])) / 4e-8 for j in range(3)]
            for i in range(3)
        ])  # fmt: skip
        found = np.asarray(xc.jacfwd(xc.jacrev(f))(xnp.asarray(at)))
        np.testing.assert_allclose(found, np.moveaxis(by_differences, -1, 0), atol=1e-6)
    np.testing.assert_allclose(maps["back"](at), at, rtol=1e-14, atol=0)


def test_paths_are_asked_between_their_ends():
    turns = Rotation.from_euler("z", [0.0, 90.0], degrees=True)
    for times, at in (([0.0, 1.0], 2.0), ([0.0, 1.0], -1e-3), ([0.0, 0.0], 0.0), ([1.0, 0.0], 0.5)):
        with pytest.raises(ValueError, match="times must be numbers"):
            Slerp(times, turns)(at)
    assert Slerp([0.0, 1.0], turns)([0.0, 1.0]).as_quat().shape == (2, 4)
