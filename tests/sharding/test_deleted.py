"""Arrays that were given away or deleted: every use raises, on one device and on several."""

import copy
import pickle

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.sharding import NamedSharding, P

MESH = xc.make_mesh((2,), ("i",))
PLACES = {"one": None, "split": NamedSharding(MESH, P("i")), "copied": NamedSharding(MESH, P())}
TWICE = r"a donated argument.*x\.copy\(\)"
ELSEWHERE = NamedSharding(xc.make_mesh((4,), ("k",)), P("k"))

USES = {
    "add": lambda y: y + 1,
    "add itself": lambda y: y + y,
    "negative": lambda y: -y,
    "compare": lambda y: y == y,
    "matmul": lambda y: y @ y,
    "element": lambda y: y[0, 0],
    "rows": lambda y: y[:2],
    "at": lambda y: y.at[0].set(1),
    "iterate": list,
    "sum": lambda y: y.sum(),
    "where": lambda y: xnp.where(y > 0, y, 0),
    "concatenate": lambda y: xnp.concatenate([y, y]),
    "NumPy's": np.sin,
    "jit": lambda y: xc.jit(lambda x: x * 2)(y),
    "jit of a tree": lambda y: xc.jit(lambda d: d["a"][0] + 1)({"a": [y]}),
    "jit of a closure": lambda y: xc.jit(lambda z: y * z)(2.0),
    "jit, given away again": lambda y: xc.jit(lambda x: x + 1, donate_argnums=0)(y),
    "ahead": lambda y: xc.jit(lambda x: x + 1).lower(y).compile()(y),
    "grad": lambda y: xc.grad(lambda x: (x * 2).sum())(y),
    "vmap": lambda y: xc.vmap(lambda x: x * 2)(y),
    "scan": lambda y: xc.lax.scan(lambda c, x: (c + x.sum(), c), 0.0, y),
    "cond": lambda y: xc.lax.cond(True, lambda v: v * 1, lambda v: v * 2, y),
    "shard_map": lambda y: xc.shard_map(lambda v: v * 2, MESH, P("i"), P("i"))(y),
    "collectives": lambda y: xc.jit(lambda x: xnp.sort(x, axis=0))(y),
    "callback": lambda y: xc.pure_callback(np.asarray, y, y),
    "to a device": lambda y: xc.device_put(y, xc.devices()[3]),
    "to a mesh": lambda y: xc.device_put(y, ELSEWHERE),
    "to the host": xc.device_get,
    "asarray": np.asarray,
    "as text": lambda y: f"{y + 0}",
    "copy": lambda y: y.copy(),
    "deepcopy": copy.deepcopy,
    "pickle": pickle.dumps,
    "tolist": lambda y: y.tolist(),
    "item": lambda y: y.item(0),
    "parts": lambda y: y.addressable_shards,
    "all parts": lambda y: y.global_shards,
    "a part": lambda y: y.addressable_data(0),
    "wait": lambda y: y.block_until_ready(),
    "begin to copy": lambda y: y.copy_to_host_async(),
    "is it ready": lambda y: y.is_ready(),
}


def made(place):
    y = xnp.arange(1.0, 17.0).reshape(4, 4)
    return y if PLACES[place] is None else xc.device_put(y, PLACES[place])


def gone(place, how):
    y = made(place)
    if how == "deleted":
        y.delete()
    else:
        xc.jit(lambda x: x + 1, donate_argnums=0)(y)
    assert y.is_deleted()
    return y


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("how", ["jit", "deleted"])
def test_every_use_raises(place, how, tmp_path):
    y = gone(place, how)
    uses = USES | {"checkpoint": lambda y: xc.checkpoint.save(tmp_path / "y", {"y": y})}
    for name, use in uses.items():
        with pytest.raises(xc.errors.DeletedError, match="no longer has a buffer"):
            print(name, use(y))
    assert "deleted" in repr(y) and "deleted" in str(y)
    assert y.shape == (4, 4) and y.sharding is not None  # what needs no content is there still


def test_given_to_pmap():
    y = xc.pmap(lambda x: x)(xnp.ones((2, 3)))
    xc.pmap(lambda x: x + 1, donate_argnums=0)(y)
    again = (xc.pmap(lambda v: v * 2, donate_argnums=d) for d in ((), 0))
    for use in USES["add"], USES["jit"], USES["element"], np.asarray, *again:
        with pytest.raises(xc.errors.DeletedError):
            use(y)


@pytest.mark.parametrize("place", PLACES)
def test_on_the_fast_path(place):
    """After the program has run on arrays that are there."""
    f, tree = xc.jit(lambda x: x * 2), xc.jit(lambda d: {"b": d["a"] * 2})
    for _ in range(8):
        y = made(place)
        f(y), y + 1, y[0], tree({"a": y})
    y.delete()
    for use in f, USES["add"], USES["element"], lambda y: tree({"a": y}):
        with pytest.raises(xc.errors.DeletedError):
            use(y)


@pytest.mark.parametrize("place", ["split", "copied"])
@pytest.mark.parametrize("which", [0, 1])
def test_parts_share_their_memory_with_the_whole(place, which):
    y = made(place)
    part = y.addressable_shards[which].data
    xc.jit(lambda x: x + 1, donate_argnums=0)(part)
    for use in USES["add"], USES["jit"], lambda y: y.addressable_shards[which].data + 1:
        with pytest.raises(xc.errors.DeletedError):
            use(y)
    y = made(place)
    part = y.addressable_shards[which].data
    xc.jit(lambda x: x + 1, donate_argnums=0)(y)
    with pytest.raises(xc.errors.DeletedError):
        _ = part + 1


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("donors", [(0, 1), (0,), (1,)])
def test_given_away_twice(place, donors):
    f = xc.jit(lambda a, b: (a + b, a - b), donate_argnums=donors)
    y = made(place)
    for _ in range(3):
        with pytest.raises(xc.errors.DeletedError, match=TWICE):
            f(y, y)
        assert not y.is_deleted()
    assert (f(y, y.copy())[0] == 2 * made(place)).all()
    with pytest.raises(xc.errors.DeletedError, match=TWICE):
        z = made(place)
        xc.jit(lambda t: (t["a"] + 1, t["b"] * 2), donate_argnums=0)({"a": z, "b": z})


@pytest.mark.parametrize("place", ["split", "copied"])
def test_one_memory_under_two_shardings(place):
    y = made(place)
    other = NamedSharding(xc.make_mesh((2,), ("k",)), P("k") if place == "split" else P())
    alias = xc.device_put(y, other)
    with pytest.raises(xc.errors.DeletedError, match=TWICE):
        xc.jit(lambda a, b: (a + 1, b + 1), donate_argnums=0)(y, alias)


OF_NUMBERS = {
    "asarray": lambda: xnp.asarray(1.5),
    "array": lambda: xnp.array(1.5),
    "copy": lambda: xnp.copy(1.5),
    "device_put": lambda: xc.device_put(1.5),
    "jvp": lambda: xc.jvp(lambda x: x, (1.5,), (1.5,))[0],
    "tangent": lambda: xc.jvp(lambda x: x, (1.5,), (1.5,))[1],
    "vjp": lambda: xc.vjp(lambda x: x, 1.5)[1](1.5)[0],
    "jit": lambda: xc.jit(lambda x: x)(1.5),
}


@pytest.mark.parametrize("make", OF_NUMBERS.values(), ids=OF_NUMBERS)
def test_arrays_of_equal_numbers_are_deleted_one_by_one(make):
    first, second = make(), make()
    assert first is not second
    first.delete()
    assert float(second) == float(make()) == 1.5
    xc.jit(lambda x: x + 1, donate_argnums=0)(second)
    assert float(make()) == float(xnp.asarray(1.0) * 1.5) == 1.5
