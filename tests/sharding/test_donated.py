"""Arrays over several devices that were donated or deleted: every use of them raises."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.sharding import NamedSharding, PartitionSpec

MESH = xc.make_mesh((2,), ("i",))
PLACES = {
    "split": lambda: NamedSharding(MESH, PartitionSpec("i")),
    "copies": lambda: NamedSharding(MESH, PartitionSpec()),
    "one device": lambda: xc.sharding.SingleDeviceSharding(xc.devices()[0]),
}
WAYS = {
    "jit": lambda x: xc.jit(lambda x: x + 1, donate_argnums=0)(x),
    "delete": lambda x: x.delete(),
}
USES = {
    "eager": lambda y: y + 1,
    "eager of two": lambda y: y * y,
    "index": lambda y: y[0],
    "slice": lambda y: y[2:4],
    "item": lambda y: y[0].item(),
    "jit": lambda y: xc.jit(lambda x: 2 * x)(y),
    "jit of a tree": lambda y: xc.jit(lambda t: t["a"] * 2)({"a": y}),
    "grad": lambda y: xc.grad(lambda x: xnp.sum(x * x))(y),
    "sum": lambda y: xnp.sum(y),
    "at": lambda y: y.at[0].set(1.0),
    "numpy": lambda y: np.asarray(y),
    "device_put": lambda y: xc.device_put(y, NamedSharding(MESH, PartitionSpec())) + 0,
    "shard_map": lambda y: xc.shard_map(
        lambda x: x * 2, mesh=MESH, in_specs=PartitionSpec("i"), out_specs=PartitionSpec("i")
    )(y),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", PLACES)
def test_use_after_the_end(place, way, use):
    if place == "one device" and use == "shard_map":
        pytest.skip("runs on the mesh")
    y = xc.device_put(xnp.arange(8.0), PLACES[place]())
    USES[use](y)  # compiled before, so that fast paths are taken
    y = xc.device_put(xnp.arange(8.0), PLACES[place]())
    WAYS[way](y)
    if not y.is_deleted():
        pytest.skip("nothing was donated")
    with pytest.raises(xc.errors.DeletedError, match="donated"):
        xc.block_until_ready(USES[use](y))
    assert "deleted" in repr(y)


def test_use_after_donation_to_pmap():
    y = xc.device_put(xnp.ones((2, 3)), NamedSharding(MESH, PartitionSpec("i")))
    xc.pmap(lambda x: x + 1, donate_argnums=0)(y)
    if y.is_deleted():
        with pytest.raises(xc.errors.DeletedError):
            y + 1


@pytest.mark.parametrize("donated", [0, (0, 1)], ids=["once", "twice"])
@pytest.mark.parametrize("place", PLACES)
def test_one_array_for_a_donated_argument_and_another(place, donated):
    y = xc.device_put(xnp.arange(8.0), PLACES[place]())
    both = xc.jit(lambda a, b: (a + b, a - b), donate_argnums=donated)
    with pytest.raises(xc.errors.DeletedError, match=r"a donated argument.*x\.copy\(\)"):
        both(y, y)
