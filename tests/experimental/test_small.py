"""jet, pjit and mesh_utils."""

import math

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.experimental import mesh_utils
from xcore.experimental.jet import jet
from xcore.experimental.pjit import pjit


def test_jet_gives_the_derivatives_of_the_composition():
    """With x(z) = z + z^2 and y(z) = exp(z), of functions whose series are known."""
    x, y = (np.float64(0.0), [1.0, 2.0, 0.0, 0.0]), (np.float64(1.0), [1.0] * 4)

    def f(x, d):
        return xnp.sin(x), {"product": x * d["y"], "still": xnp.ones(2)}

    (s, d), (s_n, d_n) = jet(f, (x[0], {"y": y[0]}), (x[1], {"y": y[1]}))
    # sin(z + z^2) = z + z^2 - z^3/6 - z^4/2 + ..., (z + z^2) exp(z) = z + 2 z^2 + 3/2 z^3 + 2/3 z^4
    assert float(s) == 0 and float(d["product"]) == 0
    assert np.allclose(s_n, [1, 2, -1, -12]) and np.allclose(d_n["product"], [1, 4, 9, 16])
    assert np.array_equal(d_n["still"], np.zeros((4, 2)))


def test_jet_scales_batches_and_differentiates():
    x = np.array([0.3, 0.7])
    plain = lambda x: jet(xnp.exp, (x,), ([1.0, 0.0, 0.0],), factorial_scaled=False)
    value, terms = xc.jit(xc.vmap(plain))(x)
    for n, term in enumerate([value, *terms]):
        assert np.allclose(term, np.exp(x) / math.factorial(n))
    third = xc.grad(lambda x: jet(xnp.sin, (x,), ([1.0, 0.0],))[1][1])(0.3)
    assert np.isclose(third, -np.cos(0.3))
    listed = jet(lambda d: d["a"] ** 2, ({"a": 2.0},), ([{"a": 1.0}, {"a": 0.0}],))[1]
    assert np.array_equal(listed, [4.0, 2.0])


@pytest.mark.parametrize(
    ("primals", "series", "match"),
    [((1.0,), (), "series"), ((1.0, 2.0), ([1.0], [1.0, 0.0]), "lengths"), ((1,), ([1.0],), "primals"),
     ((1.0,), ([np.ones(2)],), "shape")],
)  # fmt: skip
def test_jet_says_what_does_not_fit(primals, series, match):
    with pytest.raises((ValueError, TypeError), match=match):
        jet(lambda *x: x[0], primals, series)


def test_pjit_spreads():
    mesh = xc.sharding.Mesh(mesh_utils.create_device_mesh((2, 4)), ("x", "y"))
    spread = xc.NamedSharding(mesh, xc.P("x", "y"))
    out = pjit(lambda a: a * 2, in_shardings=spread, out_shardings=spread)(np.ones((4, 4)))
    assert out.sharding == spread and np.array_equal(out, np.full((4, 4), 2))


def test_meshes_of_devices():
    devices = xc.devices()
    assert mesh_utils.create_device_mesh((2, 4)).ravel().tolist() == devices
    turned = mesh_utils.create_device_mesh([2], devices[1::-1])
    assert turned.tolist() == devices[1::-1]
    hybrid = mesh_utils.create_hybrid_device_mesh((2, 4), (1, 1))
    assert hybrid.shape == (2, 4) and hybrid.ravel().tolist() == devices
    with pytest.raises(ValueError, match="mesh_shape"):
        mesh_utils.create_device_mesh((3,))
    with pytest.raises(ValueError, match="processes"):
        mesh_utils.create_hybrid_device_mesh((4, 1), (2, 1))


def test_hybrid_meshes_keep_processes_together():
    class Device:
        def __init__(self, number, process):
            self.id, self.process_index = number, process

    devices = [Device(i, 1 - i // 4) for i in range(8)]
    mesh = mesh_utils.create_hybrid_device_mesh((2, 2), (2, 1), devices)
    assert [[d.process_index for d in row] for row in mesh] == [[0, 0], [0, 0], [1, 1], [1, 1]]
