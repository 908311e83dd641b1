"""Collectives over lanes against NumPy: along every axis, beside and inside other lanes, both modes."""

import numpy as np
import pytest

import xcore as xc
from xcore import lax

N = 2  # lanes
RNG = np.random.default_rng(0)


def spread(y):
    """The same for every lane."""
    return np.stack([y] * N)


def scattered(x, axis, tiled):
    total = x.sum(0)
    return np.stack(np.split(total, N, axis)) if tiled else np.moveaxis(total, axis, 0)


def exchanged(x, split, concat, tiled):
    """Lane i gets part i of every lane."""
    if tiled:
        parts = [np.split(lane, N, split) for lane in x]
        return np.stack([np.concatenate([p[i] for p in parts], concat) for i in range(N)])
    return np.stack([np.stack([lane.take(i, split) for lane in x], concat) for i in range(N)])


# name -> (collective of a lane, the same of the stack of lanes, shape of a lane, whether it is linear)
CASES = {
    "psum": (lambda x: lax.psum(x, "i"), lambda x: spread(x.sum(0)), (3,), True),
    "pmean": (lambda x: lax.pmean(x, "i"), lambda x: spread(x.mean(0)), (3,), True),
    "pmax": (lambda x: lax.pmax(x, "i"), lambda x: spread(x.max(0)), (3,), False),
    "pmin": (lambda x: lax.pmin(x, "i"), lambda x: spread(x.min(0)), (3,), False),
    "ppermute": (lambda x: lax.ppermute(x, "i", [(0, 1), (1, 0)]), lambda x: x[::-1], (3,), True),
    "ppermute one": (lambda x: lax.ppermute(x, "i", [(0, 1)]), lambda x: np.stack([0 * x[0], x[0]]), (3,), True),
    "index": (lambda x: x * lax.axis_index("i"), lambda x: x * np.array([[0.0], [1.0]]), (3,), True),
}  # fmt: skip
for _k in range(3):
    for _tiled in (False, True):
        CASES[f"all_gather {_k} {_tiled}"] = (
            lambda x, k=_k, t=_tiled: lax.all_gather(x, "i", axis=k, tiled=t),
            lambda x, k=_k, t=_tiled: spread((np.concatenate if t else np.stack)(list(x), k)),
            (2, 3, 4), True,
        )  # fmt: skip
        CASES[f"psum_scatter {_k} {_tiled}"] = (
            lambda x, k=_k, t=_tiled: lax.psum_scatter(x, "i", scatter_dimension=k, tiled=t),
            lambda x, k=_k, t=_tiled: scattered(x, k, t),
            tuple((2 if not _tiled else 6) if i == _k else 3 + i for i in range(3)), True,
        )  # fmt: skip
        for _j in range(3):
            CASES[f"all_to_all {_k} {_j} {_tiled}"] = (
                lambda x, k=_k, j=_j, t=_tiled: lax.all_to_all(x, "i", k, j, tiled=t),
                lambda x, k=_k, j=_j, t=_tiled: exchanged(x, k, j, t),
                tuple((2 if not _tiled else 4) if i == _k else 3 + i for i in range(3)), True,
            )  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_against_numpy(name):
    f, reference, shape, linear = CASES[name]
    x = RNG.standard_normal((3, N, *shape))  # three other lanes around it
    over = xc.vmap(f, axis_name="i")
    wanted = np.stack([reference(part) for part in x])
    ct = RNG.standard_normal(wanted.shape[1:])

    @xc.jit
    def everything(x, ct):
        inner = xc.vmap(xc.vmap(f), in_axes=1, out_axes=1, axis_name="i")(x)  # other lanes inside
        alone = xc.vmap(lambda _: f(x[0, 0]), axis_size=N, axis_name="i", in_axes=None)(0.0)
        tangent = xc.jvp(over, (x[0],), (x[1],))[1]
        (back,) = xc.vjp(over, x[0])[1](ct)
        lanes_back = xc.vmap(lambda x: xc.vjp(over, x)[1](ct)[0])(x)
        return xc.vmap(over)(x), inner, alone, tangent, back, lanes_back

    outer, inner, alone, tangent, back, lanes_back = map(np.asarray, everything(x, ct))
    near = {"rtol": 1e-13, "atol": 1e-13}
    np.testing.assert_allclose(outer, wanted, **near)
    np.testing.assert_allclose(inner, wanted, **near)
    np.testing.assert_allclose(alone, reference(spread(x[0, 0])), **near)
    if linear:
        np.testing.assert_allclose(tangent, wanted[1], **near)
        np.testing.assert_allclose(
            (back * x[2]).sum(), (ct * wanted[2]).sum(), rtol=1e-12, atol=1e-12
        )
        np.testing.assert_allclose(lanes_back, np.stack([back] * 3), **near)
    else:
        chosen = x[0] == wanted[0]  # the extremal lane's tangent
        np.testing.assert_allclose(tangent, spread((chosen * x[1]).sum(0)), **near)
        np.testing.assert_allclose(back, chosen * ct.sum(0), **near)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: lax.ppermute(x, ("i", "j"), [(0, 1)]),
        lambda x: lax.all_to_all(x, ("i", "j"), 0, 0),
    ],
)  # fmt: skip
def test_axes_of_two_maps_at_once_are_refused_by_their_names(f):
    x = np.ones((2, 2, 4))
    with pytest.raises(
        ValueError, match=r"over the axes .*'i', 'j'.* but '[ij]' is that of a vmap"
    ):
        xc.vmap(xc.vmap(f, axis_name="j"), axis_name="i")(x)
