"""Meshes and shardings; arrays over several devices: made, moved, read, written as text."""

import copy
import pickle

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.sharding import Mesh, NamedSharding, P, PositionalSharding, SingleDeviceSharding

if xc.device_count() < 8:
    pytest.skip("needs eight devices", allow_module_level=True)

DEVICES = xc.devices()[:8]
MESH = xc.make_mesh((4, 2), ("x", "y"), devices=DEVICES)
SHUFFLED = Mesh(np.array(DEVICES, dtype=object)[[3, 1, 0, 2, 7, 6, 5, 4]].reshape(4, 2), ("a", "b"))
POSITIONS = PositionalSharding(DEVICES).reshape(4, 2)
VALUE = np.arange(64, dtype=np.float32).reshape(8, 8)

SHARDINGS = [
    NamedSharding(MESH, P()),
    NamedSharding(MESH, P("x")),
    NamedSharding(MESH, P(None, "y")),
    NamedSharding(MESH, P("y", "x")),
    NamedSharding(MESH, P(("y", "x"))),
    NamedSharding(SHUFFLED, P("b", "a")),
    POSITIONS,
    POSITIONS.T,
    POSITIONS.replicate(),
    POSITIONS.replicate(0),
    POSITIONS.replicate(1).T,
    SingleDeviceSharding(DEVICES[5]),
]


def name(sharding):
    return repr(getattr(sharding, "spec", sharding))[:60]


# Meshes and specs


def test_mesh():
    assert dict(MESH.shape) == {"x": 4, "y": 2}
    assert MESH is xc.make_mesh((4, 2), ("x", "y"), devices=DEVICES)
    assert MESH.size == 8 and MESH.axis_names == ("x", "y")
    assert pickle.loads(pickle.dumps(MESH)) is MESH
    np.testing.assert_array_equal(MESH.device_ids, [[0, 1], [2, 3], [4, 5], [6, 7]])
    np.testing.assert_array_equal(MESH.groups(("x",)), [[0, 2, 4, 6], [1, 3, 5, 7]])
    np.testing.assert_array_equal(SHUFFLED.groups(("b",)), [[3, 1], [0, 2], [7, 6], [5, 4]])


def test_spec():
    assert P("x", None, ["y", "z"]) == P("x", None, ("y", "z"))
    assert P(("x",)) == P("x") and P().names == ()
    assert P(P.UNCONSTRAINED, "x").names == ("x",)


ABSTRACT = xc.sharding.AbstractMesh((4, 2), ("x", "y"))


def test_axes_without_devices():
    assert MESH.abstract_mesh == ABSTRACT and hash(MESH.abstract_mesh) == hash(ABSTRACT)
    assert ABSTRACT != xc.sharding.AbstractMesh((2, 4), ("x", "y"))
    assert ABSTRACT.size == 8 and dict(ABSTRACT.shape) == {"x": 4, "y": 2} and not ABSTRACT.empty
    assert ABSTRACT.update(axis_sizes=(2, 4)).shape["y"] == 4
    assert pickle.loads(pickle.dumps(ABSTRACT)) == ABSTRACT
    planned, real = NamedSharding(ABSTRACT, P("x", "y")), NamedSharding(MESH, P("x", "y"))
    assert planned.shard_shape((8, 6)) == real.shard_shape((8, 6)) == (2, 3)
    assert planned != real and planned == NamedSharding(ABSTRACT, P("x", "y"))
    with MESH:  # the mesh of the context stands in
        x = xc.device_put(VALUE, planned)
        doubled = xc.shard_map(lambda v: 2 * v, ABSTRACT, P("x"), P("x"))(VALUE)
        steered = xc.jit(lambda v: xc.reshard(v + 1, planned))(VALUE)
    assert x.sharding == steered.sharding == real
    np.testing.assert_array_equal(steered, VALUE + 1)
    np.testing.assert_array_equal(doubled, 2 * VALUE)


def test_parts_of_shardings_are_exchanged():
    s = NamedSharding(MESH, P("x"))
    assert s.update(spec=P(None, "y")) == NamedSharding(MESH, P(None, "y"))
    assert s.update(mesh=ABSTRACT) == NamedSharding(ABSTRACT, P("x")) and s.update() == s
    kind = DEVICES[0].default_memory().kind
    assert s.with_memory_kind(kind) == s.with_memory_kind(None) == s
    moved = xc.reshard(xc.device_put(VALUE, s), s.update(spec=P(None, "x")))
    assert moved.sharding == NamedSharding(MESH, P(None, "x"))
    np.testing.assert_array_equal(moved, VALUE)


@pytest.mark.parametrize("name", ["float64", "int64", ">f4"])
def test_the_bytes_are_those_of_the_dtype(name):
    """Also where the setting narrow makes 32 bits of what comes in, and where they lie in another order."""
    value = np.arange(8).astype(name).reshape(8, 1)
    for place in NamedSharding(MESH, P("x")), SingleDeviceSharding(DEVICES[1]), None:
        with xc.config.override(narrow=True):
            x = xc.device_put(value, place)
            assert x.dtype.itemsize == 4
            assert np.array_equal(x, value) and np.array_equal(x + x, 2 * value)


@pytest.mark.parametrize("n", [1, 3])
def test_small_arrays_on_a_mesh_of_one_device(n):
    """Their second call takes another path than their first."""
    lone = NamedSharding(Mesh(DEVICES[:1], ("x",)), P("x"))
    x, y = xc.device_put(np.ones((1, n), np.float32), lone), xnp.zeros((1, n))
    for _ in range(4):
        assert np.array_equal(x + x, 2 * np.ones((1, n)))
        assert np.array_equal(x * 3 - y, 3 * np.ones((1, n)))
        assert np.array_equal(y.at[0, :].set(x[0]), np.ones((1, n)))
        assert np.array_equal(xnp.where(x > y, x, y), np.ones((1, n)))


@pytest.mark.parametrize(
    ("make", "pattern"),
    [
        (lambda: xc.make_mesh((16, 1), ("x", "y"), devices=DEVICES), "needs 16 devices, there are 8"),
        (lambda: Mesh(DEVICES, ("x", "y")), "name for each of the 1 axes"),
        (lambda: Mesh([DEVICES[:2], DEVICES[:2]], ("x", "y")), "twice"),
        (lambda: Mesh([1, 2], ("x",)), "expected devices"),
        (lambda: NamedSharding(MESH, P("z")), "'z'.*has the axes"),
        (lambda: NamedSharding(MESH, P("x", "x")), "more than one array axis"),
        (lambda: NamedSharding(MESH, P("x")).shard_shape((6, 8)), "axis 0 of shape .6, 8. cannot be split into 4"),
        (lambda: xc.device_put(VALUE[:7], NamedSharding(MESH, P("x"))), "cannot be split into 4"),
        (lambda: xc.device_put(VALUE[0], NamedSharding(MESH, P(None, "x"))), "at least 2 axes"),
        (lambda: xc.device_put(VALUE, P("x")), "needs a mesh"),
        (lambda: xc.device_put(VALUE, 3), "device_put"),
        (lambda: xc.device_put(VALUE, NamedSharding(ABSTRACT, P("x"))), "no devices"),
        (lambda: NamedSharding(ABSTRACT, P("x")).is_fully_addressable, "no devices"),
        (lambda: xc.shard_map(lambda v: v, ABSTRACT, P("x"), P("x"))(VALUE), "no devices"),
        (lambda: xc.sharding.AbstractMesh((4, 2), ("x", "x")), "name of its own"),
        (lambda: NamedSharding(MESH, P("x")).with_memory_kind("moon"), "moon"),
        (lambda: xc.device_put(VALUE[0], POSITIONS), "does not fit arrays of 1 axes"),
    ],
)  # fmt: skip
def test_wrong_placements(make, pattern):
    with pytest.raises((ValueError, TypeError), match=pattern):
        make()


def test_positions():
    assert POSITIONS.shape == (4, 2) and POSITIONS.T.shape == (2, 4)
    assert POSITIONS.replicate(0).shape == (1, 2)
    assert POSITIONS.replicate(0, keepdims=False).shape == (2,)
    assert POSITIONS.replicate().is_fully_replicated
    assert POSITIONS.is_equivalent_to(NamedSharding(MESH, P("x", "y")), 2)
    assert POSITIONS.replicate(0).is_equivalent_to(NamedSharding(MESH, P("y")), 1)
    assert not POSITIONS.is_equivalent_to(NamedSharding(MESH, P("y", "x")), 2)


# Putting and reading


@pytest.mark.parametrize("sharding", SHARDINGS, ids=name)
def test_put(sharding):
    x = xc.device_put(VALUE, sharding)
    assert x.sharding == sharding and x.devices() == sharding.device_set
    assert x.is_fully_addressable and x.is_fully_replicated == sharding.is_fully_replicated
    np.testing.assert_array_equal(x, VALUE)
    assert len(x.addressable_shards) == sharding.num_devices
    for shard, whole in zip(x.addressable_shards, x.global_shards):
        assert shard.data.device == shard.device == whole.device
        assert shard.index == sharding.devices_indices_map(VALUE.shape)[shard.device]
        np.testing.assert_array_equal(shard.data, VALUE[shard.index])
    assert str(x) == str(VALUE) and repr(x).startswith("Array([[ 0.,  1.,")


@pytest.mark.parametrize("origin", SHARDINGS[::3], ids=name)
@pytest.mark.parametrize("target", SHARDINGS, ids=name)
def test_move(origin, target):
    x = xc.device_put(xc.device_put(VALUE, origin), target)
    assert x.sharding == target
    np.testing.assert_array_equal(x, VALUE)


def test_mesh_order_decides_who_holds_what():
    x = xc.device_put(VALUE, NamedSharding(SHUFFLED, P("a", "b")))
    first = {s.device.id: s.data for s in x.addressable_shards}
    np.testing.assert_array_equal(first[3], VALUE[:2, :4])
    np.testing.assert_array_equal(first[4], VALUE[6:, 4:])


@pytest.mark.parametrize(
    "value", [np.float64(2.5), np.zeros((0, 4), bool), np.arange(8, dtype=np.int8)]
)
def test_other_types(value):
    s = NamedSharding(MESH, P("x") if np.ndim(value) else P())
    x = xc.device_put(value, s)
    assert x.dtype == value.dtype and x.shape == value.shape
    np.testing.assert_array_equal(x, value)


def test_copies_are_numbered():
    x = xc.device_put(VALUE, NamedSharding(MESH, P("y")))
    assert [s.replica_id for s in x.addressable_shards] == [0, 0, 1, 1, 2, 2, 3, 3]


def test_tree_of_targets():
    s, r = NamedSharding(MESH, P("x")), NamedSharding(MESH, P())
    out = xc.device_put({"a": VALUE, "b": (VALUE, 1.5)}, {"a": s, "b": r})
    assert out["a"].sharding == s and out["b"][1].sharding == r


def test_mesh_of_the_context():
    with MESH:
        x = xc.device_put(VALUE, P("y"))
    assert x.sharding == NamedSharding(MESH, P("y"))
    with xc.set_mesh(MESH):
        assert xc.get_mesh() is MESH
    assert xc.get_mesh() is None


def test_keys():
    keys = xc.device_put(xc.random.split(xc.random.key(0), 8), NamedSharding(MESH, P("x")))
    drawn = xc.vmap(lambda k: xc.random.uniform(k, (4,)))(keys)
    plain = xc.vmap(lambda k: xc.random.uniform(k, (4,)))(xc.random.split(xc.random.key(0), 8))
    np.testing.assert_array_equal(drawn, plain)
    assert drawn.sharding.is_equivalent_to(NamedSharding(MESH, P("x")), 2)


def test_life():
    x = xc.device_put(VALUE, SHARDINGS[3])
    assert x.block_until_ready() is x and x.is_ready()
    assert x.copy().sharding == x.sharding and copy.deepcopy(x).sharding == x.sharding
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(x)), VALUE)
    assert pickle.loads(pickle.dumps(x.sharding)) == x.sharding
    with pytest.raises(BufferError, match="lies on 8 devices"):
        x.__dlpack__()
    x.delete()
    assert x.is_deleted()
    with pytest.raises(xc.errors.DeletedError):
        np.asarray(x)


# Arrays from parts


@pytest.mark.parametrize("sharding", SHARDINGS, ids=name)
def test_from_callback(sharding):
    asked = []

    def part(index):
        asked.append(index)
        return VALUE[index]

    x = xc.make_array_from_callback(VALUE.shape, sharding, part)
    np.testing.assert_array_equal(x, VALUE)
    assert x.sharding == sharding or sharding.num_devices == 1
    assert len(asked) == np.prod(
        sharding.tiles(2).shape[:-1]
    )  # once for each part, not each device


def test_from_single_device_arrays():
    s = NamedSharding(MESH, P("y", "x"))
    x = xc.device_put(VALUE, s)
    parts = [shard.data for shard in x.addressable_shards]
    y = xc.make_array_from_single_device_arrays(VALUE.shape, s, parts[::-1])
    np.testing.assert_array_equal(y, VALUE)
    with pytest.raises(ValueError, match="need one array on each"):
        xc.make_array_from_single_device_arrays(VALUE.shape, s, parts[:-1])
    with pytest.raises(ValueError, match="shape"):
        xc.make_array_from_single_device_arrays((16, 16), s, parts)


def test_from_local_data():
    for s in SHARDINGS:
        x = xc.make_array_from_process_local_data(s, VALUE)
        np.testing.assert_array_equal(x, VALUE)


def test_wrong_part():
    with pytest.raises(ValueError, match=r"shape \(2, 8\)"):
        xc.make_array_from_callback(VALUE.shape, SHARDINGS[1], lambda index: VALUE)


# Pictures


def test_picture(capsys):
    xc.debug.visualize_array_sharding(xc.device_put(VALUE, NamedSharding(MESH, P(None, "y"))))
    p = DEVICES[0].platform.upper()
    line = "─" * (len(p) + 10)
    cells = f"│ {p} 0,2,4,6 │ {p} 1,3,5,7 │"
    assert capsys.readouterr().out == f"┌{line}┬{line}┐\n{cells}\n└{line}┴{line}┘\n"
    with pytest.raises(ValueError, match="one or two axes"):
        xc.debug.visualize_sharding((2, 2, 2), NamedSharding(MESH, P()))
    xc.debug.visualize_sharding((8, 2), SHARDINGS[0], use_color=False, min_width=40)
    assert capsys.readouterr().out.splitlines()[0].count("─") % 40 == 0
    with pytest.raises(ValueError, match="use_color"):
        xc.debug.visualize_array_sharding(xnp.ones(2), use_color=True)


def test_inspect():
    seen = []
    xc.debug.inspect_array_sharding(xc.device_put(VALUE, SHARDINGS[2]), callback=seen.append)
    xc.debug.inspect_array_sharding(xnp.ones(2), callback=seen.append)
    assert seen[0] == SHARDINGS[2] and type(seen[1]) is SingleDeviceSharding


def test_arrays_like_spread_ones():
    x = xc.device_put(np.ones((8, 2), np.float32), NamedSharding(MESH, P("x")))
    for like in (
        xnp.zeros_like(x),
        xnp.ones_like(x, dtype=int),
        xnp.full_like(x, 3),
        xnp.empty_like(x),
    ):
        assert like.sharding == x.sharding
    assert len(xnp.zeros_like(x, shape=(3,)).sharding.devices) == 1
    x.copy_to_host_async()
    np.testing.assert_array_equal(x, np.ones((8, 2)))


def test_meshes_of_one_device_stay_with_what_is_put_there():
    s = NamedSharding(xc.make_mesh((1, 1), ("x", "y")), P("x"))
    host = np.arange(6.0).reshape(2, 3)
    made = [
        xc.device_put(host, s), xc.device_put(xnp.asarray(host), s),
        xc.make_array_from_process_local_data(s, host), xc.make_array_from_callback((2, 3), s, lambda i: host[i]),
        xc.make_array_from_single_device_arrays((2, 3), s, [xnp.asarray(host)]),
    ]  # fmt: skip
    for x in made:
        assert x.sharding == s
        np.testing.assert_array_equal(xc.jit(lambda v: v + 1)(x), host + 1)


def test_trees_of_local_data():
    s, host = NamedSharding(MESH, P("x")), {"a": np.ones((8, 2)), "b": np.ones(4)}
    for shape in (None, {"a": (8, 2), "b": None}):
        made = xc.make_array_from_process_local_data({"a": s, "b": s}, host, shape)
        assert made["a"].shape == (8, 2) and made["b"].sharding == s


def test_what_meshes_and_shardings_say_of_themselves():
    s = NamedSharding(MESH, P("x", "y"))
    here = s.addressable_devices
    assert here == set(DEVICES) and s.has_addressable_devices and s.is_fully_addressable
    assert s.addressable_devices_indices_map((8, 8)) == s.devices_indices_map((8, 8))
    assert s.devices_indices_map((8, 8))[DEVICES[3]] == (slice(2, 4), slice(4, 8))
    assert not s.is_fully_replicated and NamedSharding(MESH, P()).is_fully_replicated
    assert not MESH.empty and MESH.local_devices == DEVICES and len(MESH.axis_types) == 2
    assert MESH.abstract_mesh.abstract_mesh == MESH.abstract_mesh
    assert MESH.abstract_mesh.axis_types == MESH.axis_types
    assert P("x") + P("y", None) == P("x", "y", None)
    assert NamedSharding(MESH, "x") == NamedSharding(MESH, ("x",)) == NamedSharding(MESH, P("x"))
    assert NamedSharding(MESH, None) == NamedSharding(MESH, P())
    array = xc.device_put(VALUE, s)
    assert array.addressable_data(3).shape == (2, 4) and "replica_id=0" in repr(
        array.addressable_shards[0]
    )
    assert array.on_device_size_in_bytes() >= VALUE.nbytes // 8


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: NamedSharding("mesh", P()), TypeError, "mesh must be a Mesh"),
        (lambda: NamedSharding(MESH, 3), TypeError, "spec must be a PartitionSpec"),
        (lambda: NamedSharding(MESH.abstract_mesh, P("x")).tiles(1), ValueError, "has no devices"),
        (lambda: Mesh(np.array(DEVICES, dtype=object).reshape(4, 2), ("x", "x")), ValueError, "must differ"),
        (lambda: Mesh(np.array(DEVICES, dtype=object), ("x", "y")), ValueError, "a name for each"),
        (lambda: Mesh(np.arange(8), ("x",)), TypeError, "expected devices"),
        (lambda: Mesh(np.array(DEVICES[:1] * 2, dtype=object), ("x",)), ValueError, "stands in it twice"),
        (lambda: xc.make_mesh((8,), ("x",), axis_types="Explicit"), ValueError, "axis types"),
        (lambda: xc.device_put(VALUE, 3.5), TypeError, "expected a device, a platform name or a sharding"),
    ],
)  # fmt: skip
def test_what_makes_no_mesh_or_sharding(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_specs_are_equal_to_tuples_alone():
    assert P() == () and P("x", None) == ("x", None) and P("x") == P("x")
    for other in (None, "x", 1, ["x"], {"x"}):
        assert P("x") != other and not P("x") == other and P() != other
    assert None not in (P(), P("x")) and P(unreduced={"x"}) != P()


def test_all_axes_are_the_compilers():
    for mesh in (MESH, MESH.abstract_mesh):
        assert mesh.are_all_axes_auto and mesh.auto_axes == mesh.axis_names == ("x", "y")
        assert not (mesh.are_all_axes_explicit or mesh.are_all_axes_manual)
        assert mesh.explicit_axes == mesh.manual_axes == ()


def test_axes_have_types():
    kinds = xc.sharding.AxisType
    mesh = xc.make_mesh((2, 2), ("x", "y"), axis_types=(kinds.Explicit, kinds.Auto))
    assert mesh.explicit_axes == ("x",) and mesh.auto_axes == ("y",)
    assert mesh.abstract_mesh.axis_types == mesh.axis_types and "Explicit" in repr(mesh)
    assert pickle.loads(pickle.dumps(mesh)) is mesh
    assert pickle.loads(pickle.dumps(mesh.abstract_mesh)) == mesh.abstract_mesh
    plain = xc.make_mesh((2, 2), ("x", "y"))
    assert plain != mesh and plain.are_all_axes_auto and not mesh.are_all_axes_explicit
    x = xc.device_put(np.arange(8.0, dtype="f").reshape(4, 2), xc.NamedSharding(mesh, xc.P("x")))
    y = xc.jit(lambda x: xc.reshard(x * 2, xc.NamedSharding(mesh, xc.P(None, "y"))))(x)
    assert y.sharding.spec == xc.P(None, "y") and np.array_equal(y, 2 * np.asarray(x))
    with pytest.raises(ValueError, match="shard_map"):
        xc.make_mesh((1,), "x", axis_types=kinds.Manual)
    with pytest.raises(ValueError, match="each of the 2"):
        xc.make_mesh((1, 1), ("x", "y"), axis_types=(kinds.Auto,))
