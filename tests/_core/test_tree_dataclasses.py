"""Dataclasses as pytrees: ``tree.struct`` and ``register_dataclass``."""

import dataclasses
import pickle

import pytest

from xcore import tree, tree_util
from xcore._core.exceptions import TreeError


@tree.struct
class Line:
    slope: object
    offset: object = 0.0
    name: str = tree.static(default="line")


def test_struct():
    line = Line(1.0, [2.0, None], "x")
    assert tree.leaves(line) == [1.0, 2.0]
    assert line.replace(slope=3.0) == Line(3.0, [2.0, None], "x")
    assert tree.structure(line) != tree.structure(line.replace(name="y"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        line.slope = 2
    assert pickle.loads(pickle.dumps(line)) == line
    assert hash(Line(1, 2)) == hash(Line(1, 2))


def test_struct_checks_only_what_users_give():
    @tree.struct
    class Positive:
        value: float
        double: float = dataclasses.field(init=False)

        def __post_init__(self):
            if not self.value > 0:
                raise ValueError("must be positive")
            object.__setattr__(self, "double", 2 * self.value)

        def replace(self, value):
            return Positive(abs(value))

    with pytest.raises(ValueError, match="positive"):
        Positive(-1)
    assert tree.leaves(Positive(2)) == [2, 4]
    assert tree.map(lambda x: -x, Positive(2)).double == -4
    assert tree.map(lambda x: object(), Positive(2)) != Positive(2)
    assert Positive(1).replace(-3) == Positive(3)


def test_struct_of_static_fields_only_is_hashable_and_has_no_leaves():
    @tree.struct
    class Grid:
        shape: tuple = tree.static()
        units: str = tree.static(default="m", metadata={"note": "kept"})

    assert tree.leaves(Grid((2, 3))) == []
    assert {Grid((2, 3)): 1}[Grid((2, 3))] == 1
    assert dataclasses.fields(Grid)[1].metadata["note"] == "kept"
    assert tree.unflatten(tree.structure(Grid((2, 3))), []) == Grid((2, 3), "m")


def test_struct_inherits_fields():
    @tree.struct
    class Named(Line):
        extra: object = None

    x = Named(1, 2, "n", 3)
    assert tree.leaves(x) == [1, 2, 3]
    assert tree.map(lambda y: y, x) == x


def test_register_dataclass():
    @tree_util.register_dataclass
    @dataclasses.dataclass
    class Point:
        x: object
        tag: str = dataclasses.field(default="", metadata={"static": True})
        cached: object = dataclasses.field(default=0, init=False)

    x = Point([1, 2], "t")
    assert [tree_util.keystr(p) for p, _ in tree.leaves_with_path(x)] == [".x[0]", ".x[1]"]
    assert tree.map(lambda y: 2 * y, x) == Point([2, 4], "t")
    assert tree.structure(x) != tree.structure(Point([1, 2], "other"))


def test_register_dataclass_with_lists():
    @dataclasses.dataclass
    class Point:
        x: object
        y: object = 1
        z: object = 2

    tree_util.register_dataclass(Point, ["y", "x"], (), drop_fields=["z"])
    assert tree.leaves(Point(10, 20, 30)) == [20, 10]
    assert tree.map(lambda v: v, Point(10, 20, 30)) == Point(10, 20, 2)


def test_register_dataclass_of_another_class():
    class Plain:
        def __init__(self, a, b):
            self.a, self.b = a, b

    tree_util.register_dataclass(Plain, data_fields=["a"], meta_fields=["b"])
    doubled = tree.map(lambda v: 2 * v, Plain(3, "label"))
    assert (doubled.a, doubled.b) == (6, "label")


@pytest.mark.parametrize(
    ("data", "meta", "drop", "match"),
    [
        (["x"], None, (), "meta_fields is missing"),
        (None, ["x"], (), "data_fields is missing"),
        (["x"], [], (), r"missing: \['y'\].*drop_fields"),
        (["x", "y"], ["w"], (), r"unknown: \['w'\]"),
        (["x", "y"], ["y"], (), "once"),
        (["x", "y"], [], ["y"], r"unknown: \['y'\]"),
    ],
)
def test_register_dataclass_errors(data, meta, drop, match):
    @dataclasses.dataclass
    class Point:
        x: object
        y: object

    with pytest.raises(TreeError, match=match):
        tree_util.register_dataclass(Point, data, meta, drop)
    assert not tree_util.is_tree_node(Point)


def test_register_dataclass_needs_a_dataclass_or_lists():
    class Plain:
        pass

    with pytest.raises(TypeError, match=r"Plain is not a dataclass.*must be given"):
        tree_util.register_dataclass(Plain)
