"""Collectives over lanes against NumPy: along every axis, beside and inside other lanes, both modes."""

import functools

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
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


# Lanes along several axes, counted in the order of the names


def _in_groups(rows, groups, f):
    out: list = [None] * len(rows)
    for group in groups:
        for i, found in zip(group, f(rows[list(group)]), strict=True):
            out[i] = found
    return np.stack(out)


def _groups(n):
    """Two groups of every other lane; of an odd number of lanes a group for each."""
    return [[*range(k, n, 2)][::-1] for k in range(2)] if n % 2 == 0 else [[i] for i in range(n)]


def _perm(n):
    """Most lanes to another one; nobody sends to lane 1."""
    return [(i, (2 - i) % n) for i in range(n) if (2 - i) % n != 1]


def _permuted(rows, perm):
    out = np.zeros_like(rows)
    for a, b in perm:
        out[b] = rows[a]
    return out


def _exchanged(rows, split, concat, tiled):
    n = len(rows)
    if tiled:
        parts = [np.split(lane, n, split) for lane in rows]
        return np.stack([np.concatenate([p[i] for p in parts], concat) for i in range(n)])
    return np.stack([np.stack([lane.take(i, split) for lane in rows], concat) for i in range(n)])


def _scattered(rows, axis, tiled):
    total = rows.sum(0)
    return np.stack(np.split(total, len(rows), axis)) if tiled else np.moveaxis(total, axis, 0)


def _everywhere(y, n):
    return np.stack([y] * n)


# name -> (collective over names of n lanes, the same of n rows, shape of a lane)
SEVERAL = {
    "psum": (lambda x, a, n: lax.psum(x, a), lambda r: _everywhere(r.sum(0), len(r)), lambda n: (3,)),
    "psum of groups": (
        lambda x, a, n: lax.psum(x, a, axis_index_groups=_groups(n)),
        lambda r: _in_groups(r, _groups(len(r)), lambda g: _everywhere(g.sum(0), len(g))), lambda n: (3,),
    ),
    "all_gather": (
        lambda x, a, n: lax.all_gather(x, a, axis=1), lambda r: _everywhere(np.stack(r, 1), len(r)), lambda n: (2, 3),
    ),
    "all_gather of groups": (
        lambda x, a, n: lax.all_gather(x, a, axis_index_groups=_groups(n), tiled=True),
        lambda r: _in_groups(r, _groups(len(r)), lambda g: _everywhere(np.concatenate(g), len(g))),
        lambda n: (2, 3),
    ),
    "ppermute": (
        lambda x, a, n: lax.ppermute(x, a, _perm(n)), lambda r: _permuted(r, _perm(len(r))), lambda n: (2,)
    ),
    "pshuffle": (
        lambda x, a, n: lax.pshuffle(x, a, np.roll(np.arange(n), 2)[::-1]),
        lambda r: r[np.roll(np.arange(len(r)), 2)[::-1]], lambda n: (),
    ),
    "pswapaxes": (
        lambda x, a, n: lax.pswapaxes(x, a, 1), lambda r: _exchanged(r, 1, 1, False), lambda n: (2, n)
    ),
    "pbroadcast": (
        lambda x, a, n: lax.pbroadcast(x, a, n - 1), lambda r: _everywhere(r[-1], len(r)), lambda n: (2,)
    ),
    "psum_scatter of groups": (
        lambda x, a, n: lax.psum_scatter(x, a, axis_index_groups=_groups(n), tiled=True),
        lambda r: _in_groups(r, _groups(len(r)), lambda g: _scattered(g, 0, True)), lambda n: (n, 2),
    ),
}  # fmt: skip
for _k in range(2):
    for _tiled in (False, True):
        SEVERAL[f"psum_scatter {_k} {_tiled}"] = (
            lambda x, a, n, k=_k, t=_tiled: lax.psum_scatter(x, a, scatter_dimension=k, tiled=t),
            lambda r, k=_k, t=_tiled: _scattered(r, k, t),
            lambda n, k=_k, t=_tiled: tuple(n * (1 + t) if i == k else 2 for i in range(2)),
        )
        for _j in range(2):
            SEVERAL[f"all_to_all {_k} {_j} {_tiled}"] = (
                lambda x, a, n, k=_k, j=_j, t=_tiled: lax.all_to_all(x, a, k, j, tiled=t),
                lambda r, k=_k, j=_j, t=_tiled: _exchanged(r, k, j, t),
                lambda n, k=_k, t=_tiled: tuple(n * (1 + t) if i == k else 3 for i in range(2)),
            )


def _on_devices(f, name, size):
    """f for each row of the first axis, on a device of its own."""
    mesh = xc.make_mesh((size,), (name,), devices=xc.devices()[:size])
    rows = xc.sharding.P(name)
    return xc.shard_map(lambda x: f(x[0])[None], mesh, rows, rows)


# (f of a lane, sizes) -> f of (2, 3, …): the axes i, of 2 lanes, and j, of 3, outside or inside
PLACES = {
    "two vmaps": lambda f, a, b: xc.vmap(xc.vmap(f, axis_name="j"), axis_name="i"),
    "the other inside": lambda f, a, b: xc.vmap(
        xc.vmap(f, axis_name="i"), in_axes=1, out_axes=1, axis_name="j"
    ),
    "devices outside": lambda f, a, b: _on_devices(xc.vmap(f, axis_name="j"), "i", a),
    "devices inside": lambda f, a, b: xc.vmap(_on_devices(f, "j", b), axis_name="i"),
    "both devices": lambda f, a, b: xc.shard_map(
        lambda x: f(x[0, 0])[None, None], xc.make_mesh((a, b), ("i", "j"), devices=xc.devices()[: a * b]),
        xc.sharding.P("i", "j"), xc.sharding.P("i", "j"),
    ),
}  # fmt: skip


def _check_several(name, place, names, sizes):
    f, reference, shape = SEVERAL[name]
    n = sizes[0] * sizes[1]
    x, tangent = RNG.standard_normal((2, *sizes, *shape(n)))

    def wanted(x):
        x = x if names == ("i", "j") else x.swapaxes(0, 1)
        out = reference(x.reshape(n, *x.shape[2:]))
        out = out.reshape(*x.shape[:2], *out.shape[1:])
        return out if names == ("i", "j") else out.swapaxes(0, 1)

    over = PLACES[place](lambda x: f(x, names, n), *sizes)
    ct = RNG.standard_normal(wanted(x).shape)
    along, back = xc.jit(lambda: (xc.jvp(over, (x,), (tangent,)), xc.vjp(over, x)[1](ct)[0]))()
    near = {"rtol": 1e-13, "atol": 1e-13}
    np.testing.assert_allclose(along[0], wanted(x), **near)
    np.testing.assert_allclose(along[1], wanted(tangent), **near)
    np.testing.assert_allclose((back * tangent).sum(), (ct * wanted(tangent)).sum(), rtol=1e-11)


@pytest.mark.parametrize("names", [("i", "j"), ("j", "i")], ids=lambda n: "".join(n))
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", SEVERAL)
def test_over_two_axes(name, place, names):
    _check_several(name, place, names, (2, 3))


@pytest.mark.parametrize("sizes", [(1, 1), (1, 3), (3, 1), (5, 3)])
@pytest.mark.parametrize("name", SEVERAL)
def test_over_two_axes_of_other_sizes(name, sizes):
    _check_several(name, "two vmaps", ("j", "i"), sizes)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "complex64"])
def test_over_three_axes_of_any_dtype(dtype):
    x = (RNG.standard_normal((2, 3, 2, 4)) * 9).astype(dtype)
    f, perm = lax.ppermute, _perm(12)
    over = xc.vmap(lambda x: f(x, ("k", "i", "j"), perm), axis_name="k")
    got = np.asarray(xc.vmap(xc.vmap(over, axis_name="j"), axis_name="i")(x))
    rows = np.moveaxis(x, 2, 0).reshape(12, 4)
    wanted = np.moveaxis(_permuted(rows, perm).reshape(2, 2, 3, 4), 0, 2)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, wanted)


def test_an_axis_twice_is_refused():
    with pytest.raises(ValueError, match="may stand once among"):
        xc.vmap(lambda x: lax.ppermute(x, ("i", "i"), [(0, 1)]), axis_name="i")(np.ones(2))


@pytest.mark.parametrize("names", ["i", ("i", "j")])
@pytest.mark.parametrize("f, who", [
    (lambda x, a: lax.psum_scatter(x, a), "psum_scatter"),
    (lambda x, a: lax.psum_scatter(x, a, tiled=True), "psum_scatter"),
    (lambda x, a: lax.all_to_all(x, a, 0, 0), "all_to_all"),
    (lambda x, a: lax.all_to_all(x, a, 0, 0, tiled=True), "all_to_all"),
])  # fmt: skip
def test_axes_that_do_not_split(f, who, names):
    over = xc.vmap(xc.vmap(lambda x: f(x, names), axis_name="j"), axis_name="i")
    for call in (over, xc.jit(over), xc.grad(lambda x: over(x).sum())):
        with pytest.raises(xc.errors.ShapeError, match=rf"lax.{who}: .* axis 0"):
            call(np.ones((2, 3, 5)))


WAYS = {
    "jit": xc.jit,
    "checkpoint": xc.checkpoint,
    "jit(inline)": functools.partial(xc.jit, inline=True),
    "jit of grad": lambda f: xc.jit(xc.grad(lambda x: f(x) ** 2)),
    "grad of jit": lambda f: xc.grad(lambda x: xc.jit(f)(x) ** 2),
    "jit in scan": lambda f: lambda x: lax.scan(lambda c, _: (xc.jit(f)(c), None), x, None, 1)[0],
}


@pytest.mark.parametrize("how", WAYS)
def test_programs_are_those_of_the_axis_they_are_called_under(how):
    """A trace holds the size of a named axis: another size, or name, is another trace."""
    f = lambda x: x - lax.pmean(x, "i") + 0 * lax.axis_size("i")
    once, kept = WAYS[how], WAYS[how](f)
    for size in (2, 4, 3, 2):
        x = xnp.arange(float(size))
        fresh = xc.vmap(once(lambda x: f(x)), axis_name="i")(x)
        np.testing.assert_array_equal(xc.vmap(kept, axis_name="i")(x), fresh)
    for axes in ({"axis_name": "j"}, {}):
        with pytest.raises(NameError, match="no axis named 'i'"):
            xc.vmap(kept, **axes)(xnp.ones(2))
    constant = xc.jit(lambda: lax.psum(1, "i"))
    sizes = [int(xc.vmap(lambda x: constant(), axis_name="i")(xnp.ones(n))[0]) for n in (2, 5)]
    assert sizes == [2, 5]
