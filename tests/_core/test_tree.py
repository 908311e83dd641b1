"""Pytrees against a few lines of plain Python that walk nested containers."""

import dataclasses
import functools
import pickle
import subprocess
import sys
from collections import OrderedDict, defaultdict, namedtuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xcore import tree, tree_util
from xcore._core import tree as core
from xcore._core.exceptions import TreeError

Pair = namedtuple("Pair", "first second")


@tree_util.register_pytree_node_class
class Box:
    """A class of one's own without keys: one child and a label."""

    def __init__(self, child, label=""):
        self.child, self.label = child, label

    def tree_flatten(self):
        return (self.child,), self.label

    @classmethod
    def tree_unflatten(cls, label, children):
        return cls(*children, label)

    def __eq__(self, other):
        return (self.child, self.label) == (other.child, other.label)


@tree.struct
class Line:
    slope: object
    offset: object = 0.0
    name: str = tree.static(default="line")


INTEGERS, ZEROS = st.integers(), st.just(0)


def trees(leaf=INTEGERS):
    keys = st.text("abc", min_size=1, max_size=2)

    def nodes(children):
        return st.one_of(
            st.lists(children, max_size=3),
            st.lists(children, max_size=3).map(tuple),
            st.dictionaries(keys, children, max_size=3),
            st.dictionaries(keys, children, max_size=3).map(OrderedDict),
            st.dictionaries(keys, children, max_size=3).map(lambda d: defaultdict(list, d)),
            st.builds(Pair, children, children),
            st.builds(Box, children, keys),
            st.builds(Line, children, children, keys),
        )

    return st.recursive(leaf | st.none(), nodes, max_leaves=8)


def children_of(x):
    """[(key as text, child)] of a node, or None for a leaf."""
    match x:
        case None:
            return []
        case Pair():
            return [(".first", x.first), (".second", x.second)]
        case Line():
            return [(".slope", x.slope), (".offset", x.offset)]
        case Box():
            return [("[<flat index 0>]", x.child)]
        case list() | tuple():
            return [(f"[{i}]", child) for i, child in enumerate(x)]
        case OrderedDict():
            return [(f"[{key!r}]", child) for key, child in x.items()]
        case dict():
            return [(f"[{key!r}]", x[key]) for key in sorted(x)]
    return None


def walk(x, path=""):
    children = children_of(x)
    if children is None:
        return [(path, x)]
    return [pair for key, child in children for pair in walk(child, path + key)]


def is_none(x):
    return x is None


# Taking apart and putting together


@given(trees())
def test_leaves_and_paths(x):
    expected = walk(x)
    assert tree.leaves(x) == [leaf for _, leaf in expected]
    assert [(tree_util.keystr(path), y) for path, y in tree.leaves_with_path(x)] == expected
    assert tree.structure(x).num_leaves == len(expected)


@given(trees())
def test_round_trip(x):
    leaves, treedef = tree.flatten(x)
    again = tree.unflatten(treedef, leaves)
    assert again == x
    assert type(again) is type(x)
    assert tree.flatten_with_path(x)[1] == treedef == tree.structure(again)
    assert hash(treedef) == hash(tree.structure(again))


@given(trees())
def test_none_can_be_a_leaf(x):
    everything = tree.leaves(x, is_leaf=is_none)
    assert [y for y in everything if y is not None] == tree.leaves(x)
    assert [y for _, y in tree.leaves_with_path(x, is_leaf=is_none)] == everything


def test_is_leaf_may_look_at_the_path():
    x = {"a": [1, 2], "b": [3]}
    shallow = tree.leaves_with_path(x, lambda path, _: len(path) == 1, is_leaf_takes_path=True)
    assert [leaf for _, leaf in shallow] == [[1, 2], [3]]
    lengths = tree.map_with_path(
        lambda path, leaf: len(leaf), x, is_leaf=lambda path, _: bool(path), is_leaf_takes_path=True
    )
    assert lengths == {"a": 2, "b": 1}


def test_order_of_dicts():
    assert tree.leaves({"b": 1, "a": 2}) == [2, 1]
    assert tree.leaves(OrderedDict(b=1, a=2)) == [1, 2]
    assert tree.leaves(defaultdict(int, b=1, a=2)) == [2, 1]
    kept = tree.map(str, defaultdict(int, b=1))
    assert kept["new"] == 0
    assert tree.structure(OrderedDict(a=1)) != tree.structure({"a": 1})


def test_values_that_are_leaves():
    for x in (1, "text", np.zeros(2), {1, 2}, object(), 1 + 2j):
        assert tree.leaves(x)[0] is x
        assert core.is_leaf_structure(tree.structure(x))
    assert not core.is_leaf_structure(tree.structure(None))


def test_unsortable_keys():
    for call in (tree.leaves, tree.leaves_with_path):
        with pytest.raises(TreeError, match=r"keys of a dict cannot be sorted.*OrderedDict"):
            call({1: 0, "a": 0})


def test_errors_of_user_classes_pass_through():
    class Bad:
        pass

    def fail(_):
        raise ValueError("my own")

    tree_util.register_pytree_node(Bad, fail, lambda _, children: Bad())
    with pytest.raises(ValueError, match="my own"):
        tree.leaves(Bad())


@pytest.mark.parametrize("count", [1, 3])
def test_wrong_number_of_leaves(count):
    with pytest.raises(ValueError, match="expected 2"):
        tree.unflatten(tree.structure((0, 0)), range(count))


def test_keystr():
    x = {"a": [Pair(1, Box(2))]}
    path, _ = tree.leaves_with_path(x)[1]
    assert tree_util.keystr(path) == "['a'][0].second[<flat index 0>]"
    assert tree_util.keystr(path, simple=True, separator="/") == "a/0/second/0"
    assert path == (
        tree_util.DictKey("a"),
        tree_util.SequenceKey(0),
        tree_util.GetAttrKey("second"),
        tree_util.FlattenedIndexKey(0),
    )
    assert tree_util.keystr(()) == ""
    assert tree_util.keystr(("mine", 3), simple=True, separator=".") == "mine.3"


def test_one_level():
    assert tree_util.flatten_one_level({"a": (1, 2)})[0] == [(1, 2)]
    pairs, _ = tree_util.flatten_one_level_with_keys(Pair(1, [2]))
    assert [(str(key), child) for key, child in pairs] == [(".first", 1), (".second", [2])]
    pairs, data = tree_util.flatten_one_level_with_keys(Line(1, None, "x"))
    assert [(str(key), child) for key, child in pairs] == [(".slope", 1), (".offset", None)]
    assert data == ("x",)
    with pytest.raises(ValueError, match=r"5 of type int is a leaf"):
        tree_util.flatten_one_level(5)


def test_all_leaves():
    assert tree_util.all_leaves([1, "a"])
    assert not tree_util.all_leaves([1, None])
    assert tree_util.all_leaves([1, None], is_leaf=is_none)


# Mapping and folding


@given(trees())
def test_map(x):
    doubled = tree.map(lambda leaf: 2 * leaf, x)
    assert walk(doubled) == [(path, 2 * leaf) for path, leaf in walk(x)]
    assert tree.structure(doubled) == tree.structure(x)
    assert tree.map(lambda a, b, c: (a, b, c), x, doubled, x) == tree.map(
        lambda leaf: (leaf, 2 * leaf, leaf), x
    )


@given(trees())
def test_map_with_path(x):
    named = tree.map_with_path(lambda path, a, b: (tree_util.keystr(path), a, b), x, x)
    pairs = core.flatten_up_to(tree.structure(x), named)
    assert pairs == [(path, leaf, leaf) for path, leaf in walk(x)]


def test_map_takes_whole_subtrees_of_the_other_trees():
    assert tree.map(lambda a, b: (a, b), [1, 2], [(3, 4), None]) == [(1, (3, 4)), (2, None)]
    assert tree.map(lambda a, b: (a, b), [1, None], [3, 4], is_leaf=is_none) == [(1, 3), (None, 4)]


@given(trees())
def test_folds(x):
    leaves = [leaf for _, leaf in walk(x)]
    assert tree.reduce(lambda total, leaf: total + leaf, x, 5) == sum(leaves, start=5)
    assert tree.reduce_associative(lambda a, b: a + b, x, identity=0) == sum(leaves)
    assert tree.all(x) == all(leaves)
    assert tree.all(x, is_leaf=is_none) == all(tree.leaves(x, is_leaf=is_none))


def test_folds_keep_the_order():
    assert tree.reduce(lambda a, b: f"({a}{b})", {"a": "1", "b": ["2", "3"]}) == "((12)3)"
    assert tree.reduce_associative(lambda a, b: f"({a}{b})", list("12345")) == "((12)(3(45)))"


def test_folds_of_nothing():
    with pytest.raises(TypeError):
        tree.reduce(max, ())
    with pytest.raises(TypeError, match="identity"):
        tree.reduce_associative(max, ())
    assert tree.reduce_associative(max, (), identity=3) == 3


@given(trees(), st.integers(0, 3))
def test_transpose(x, n):
    inner = tree.structure(list(range(n)))
    outer = tree.structure(x)
    tall = tree.map(lambda leaf: [leaf + i for i in range(n)], x)
    expected = [tree.map(lambda leaf, i=i: leaf + i, x) for i in range(n)]
    assert tree.transpose(outer, inner, tall) == expected
    if outer.num_leaves:
        assert tree.transpose(outer, None, tall) == expected


@pytest.mark.parametrize("given", [[(1, 2), (1, 2, 3)], [(1, 2)], [(1, 2), 3], [(1, 2), (1, (2,))]])
def test_transpose_errors(given):
    with pytest.raises(TypeError, match=r"xcore.tree.transpose: trees do not match at"):
        tree.transpose(tree.structure([0, 0]), tree.structure((0, 0)), given)


def test_transpose_needs_an_inner_structure():
    with pytest.raises(TypeError, match="give inner_treedef"):
        tree.transpose(tree.structure(()), None, ())


# Prefixes, and where trees differ


@given(trees(ZEROS), st.data())
def test_broadcast_prefix(full, data):
    """Cut branches off a tree: what is left broadcasts back to it."""
    cut = data.draw(st.sets(st.integers(0, 10)))
    seen = []

    def prune(x):
        children = children_of(x)
        mine = len(seen)
        seen.append(x)
        if children is None or mine in cut:
            labels.extend([mine] * len(walk(x)))
            return Leaf(mine)
        pruned = iter([prune(child) for _, child in children])
        one = tree.structure(x, is_leaf=lambda y: y is not x)
        return tree.unflatten(one, pruned)

    Leaf, labels = namedtuple("Leaf", "n"), []
    prefix = prune(full)
    found = core.broadcast_prefix(prefix, full, is_leaf=lambda y: isinstance(y, Leaf))
    assert [leaf.n for leaf in found] == labels
    filled = tree.broadcast(prefix, full, is_leaf=lambda y: isinstance(y, Leaf))
    assert [leaf.n for leaf in tree.leaves(filled, is_leaf=lambda y: isinstance(y, Leaf))] == labels


def test_broadcast_of_none():
    assert core.broadcast_prefix(None, (1, [2]), is_leaf=is_none) == [None, None]
    assert core.broadcast_prefix((0, None), (1, None)) == [0]
    assert tree.broadcast(7, {"a": 1, "b": [2, None]}) == {"a": 7, "b": [7, None]}


DIFFERENCES = [
    ((1, 2), (1, 2, 3), "", "expected a tuple of 2, given a tuple of 3"),
    ({"a": (1, 2)}, {"a": [1, 2]}, "['a']", "expected a tuple of 2, given a list of 2"),
    ([{"a": 1}], [{"b": 1}], "[0]", "missing keys ['a'], unexpected keys ['b']"),
    ([{"a": 1}], [{"a": 1, "b": 2}], "[0]", "unexpected keys ['b']"),
    ((1, None), (1, 2), "[1]", "expected None, given a leaf"),
    ((1, [2]), (1, 2), "[1]", "expected a list of 1, given a leaf"),
    (Pair(1, (2,)), Pair(1, (2, 3)), ".second", "expected a tuple of 1, given a tuple of 2"),
    (Pair(1, 2), (1, 2), "", "expected a Pair of 2, given a tuple of 2"),
    (Line(1, ()), Line(1, None), ".offset", "expected a tuple of 0, given None"),
    (
        [Line(1, 2, "x")],
        [Line(1, 2, "y")],
        "[0]",
        "expected Line with ('x',), given it with ('y',)",
    ),
    (OrderedDict(a=1), {"a": 1}, "", "expected a OrderedDict of 1, given a dict of 1"),
    (
        OrderedDict(a=1, b=2),
        OrderedDict(b=1, a=2),
        "",
        "expected OrderedDict with ('a', 'b'), given it with ('b', 'a')",
    ),
]


@pytest.mark.parametrize(("expected", "other", "path", "reason"), DIFFERENCES)
def test_differences(expected, other, path, reason):
    found_path, found_reason = core.first_difference(tree.structure(expected), other)
    assert (tree_util.keystr(found_path), found_reason) == (path, reason)
    for call, who in ((tree.map, "tree.map"), (tree.map_with_path, "tree.map_with_path")):
        with pytest.raises(TreeError) as caught:
            call(lambda *xs: xs, expected, other)
        message = str(caught.value)
        assert message.startswith(f"xcore.{who}: trees do not match at ")
        assert f"tree{path}" in message or not path
        assert reason in message
        assert str(tree.structure(expected)) in message
        assert str(tree.structure(other)) in message
    with pytest.raises(TreeError, match="vmap"):
        core.broadcast_prefix(expected, other, who="vmap")


@given(trees(ZEROS), trees(ZEROS))
def test_first_difference_agrees_with_equality(a, b):
    treedef = tree.structure(a)
    difference = core.first_difference(treedef, b, exact=True)
    assert (difference is None) == (treedef == tree.structure(b))
    if core.first_difference(treedef, b) is None:
        assert len(core.flatten_up_to(treedef, b)) == treedef.num_leaves
    else:
        with pytest.raises(TreeError):
            core.flatten_up_to(treedef, b)


def test_check_structure():
    core.check_structure(tree.structure((0, [0])), (1, [2]), "scan")
    with pytest.raises(TreeError, match=r"xcore.scan.*tree\[1\]: expected a leaf, given a list"):
        core.check_structure(tree.structure((0, 0)), (1, [2]), "scan")


# Structures


def test_structures_pickle():
    treedef = tree.structure({"a": (1, [None, 2]), "b": tree_util.Partial(max, 3)})
    assert pickle.loads(pickle.dumps(treedef)) == treedef


@given(trees())
def test_structures_travel_as_pickles(x):
    treedef = tree.structure(x)
    state = pickle.loads(pickle.dumps(core.treedef_state(treedef)))
    again = core.treedef_from_state(state)
    assert again == treedef
    assert hash(again) == hash(treedef)
    assert tree.unflatten(again, tree.leaves(x)) == x


def test_structures_travel_to_another_process():
    state = pickle.dumps(core.treedef_state(tree.structure({"a": (1, [None, 2])})))
    code = (
        "import sys, pickle; from xcore._core import tree; "
        f"print(tree.treedef_from_state(pickle.loads({state!r})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "PyTreeDef({'a': (*, [None, *])})"


def test_treedef_helpers():
    treedef = tree.structure((1, [2, 3]))
    parts = tree_util.treedef_children(treedef)
    assert parts == [tree.structure(0), tree.structure([0, 0])]
    assert tree_util.treedef_tuple(parts) == treedef
    assert tree_util.treedef_is_leaf(parts[0])
    assert not tree_util.treedef_is_leaf(parts[1])
    assert isinstance(treedef, tree_util.PyTreeDef)


# Classes of one's own


def test_is_tree_node():
    nodes = (list, tuple, dict, type(None), OrderedDict, defaultdict, Box, Line)
    assert all(map(tree_util.is_tree_node, nodes))
    assert not any(map(tree_util.is_tree_node, (int, str, np.ndarray, set)))


def test_register_pytree_with_keys():
    class Named:
        def __init__(self, **parts):
            self.parts = parts

    def flatten(x):
        keys = tuple(x.parts)
        return [(tree_util.DictKey(key), x.parts[key]) for key in keys], keys

    def unflatten(keys, children):
        return Named(**dict(zip(keys, children)))

    tree_util.register_pytree_with_keys(Named, flatten, unflatten)
    x = Named(b=1, a=[2])
    assert [(tree_util.keystr(p), y) for p, y in tree.leaves_with_path(x)] == [
        ("['b']", 1),
        ("['a'][0]", 2),
    ]
    assert tree.map(lambda y: y + 1, x).parts == {"b": 2, "a": [3]}


@pytest.mark.parametrize("with_plain", [False, True])
def test_register_pytree_with_keys_class(with_plain):
    class Point:
        def __init__(self, x):
            self.x = x

        def tree_flatten_with_keys(self):
            return ((tree_util.GetAttrKey("x"), self.x),), None

        @classmethod
        def tree_unflatten(cls, _, children):
            return cls(*children)

    calls = []

    def tree_flatten(self):
        calls.append(self)
        return (self.x,), None

    if with_plain:
        Point.tree_flatten = tree_flatten
    assert tree_util.register_pytree_with_keys_class(Point) is Point
    assert tree.leaves(Point(3)) == [3]
    assert tree.map(lambda x: 2 * x, Point(3)).x == 6
    assert tree_util.keystr(tree.leaves_with_path(Point(3))[0][0]) == ".x"
    assert bool(calls) == with_plain


def test_a_class_is_registered_once():
    for again in (
        lambda: tree_util.register_pytree_node_class(Box),
        lambda: tree_util.register_dataclass(Line, ["slope", "offset"], ["name"]),
        lambda: tree_util.register_static(list),
    ):
        with pytest.raises(ValueError, match="registered as a pytree node already"):
            again()


def test_register_static():
    @tree_util.register_static
    @dataclasses.dataclass(frozen=True)
    class Options:
        verbose: bool

    leaves, treedef = tree.flatten([Options(True), 1])
    assert leaves == [1]
    assert treedef == tree.structure([Options(True), 2])
    assert treedef != tree.structure([Options(False), 2])
    assert tree.unflatten(treedef, [5]) == [Options(True), 5]


# Partial


def subtract(a, b, *, scale=1):
    return scale * (a - b)


def test_partial():
    f = tree_util.Partial(subtract, 10, scale=2)
    assert f(3) == 14
    assert tree.leaves(f) == [10, 2]
    g = tree.map(lambda x: x + 1, f)
    assert isinstance(g, tree_util.Partial)
    assert g(3) == 24
    assert tree.structure(f) == tree.structure(g) != tree.structure(tree_util.Partial(max, 1))
    paths = [tree_util.keystr(path) for path, _ in tree.leaves_with_path(f)]
    assert paths == [".args[0]", ".keywords['scale']"]
    assert pickle.loads(pickle.dumps(f))(3) == 14


def test_partial_of_partial():
    f = tree_util.Partial(tree_util.Partial(subtract, 10, scale=3), 4, scale=2)
    assert tree.leaves(f) == [10, 4, 2]
    assert f() == 12
    assert tree.map(lambda x: x, f)() == 12


def test_arguments_of_a_plain_partial_are_structure():
    def wrapped(mode):
        return tree_util.Partial(functools.partial(subtract, scale=mode), 10)

    f = wrapped(2)
    assert tree.leaves(f) == [10]
    assert f(4) == tree.map(lambda x: x, f)(4) == 12
    assert tree.structure(f) == tree.structure(wrapped(2)) != tree.structure(wrapped(3))
    assert hash(tree.structure(f)) == hash(tree.structure(wrapped(2)))
    assert "subtract" in repr(f)


# Faces


def test_faces_are_the_same_functions():
    for name in (
        "map",
        "leaves",
        "structure",
        "flatten",
        "reduce",
        "all",
        "transpose",
        "unflatten",
    ):
        assert getattr(tree_util, f"tree_{name}") is getattr(tree, name)
    for face in (tree, tree_util):
        assert all(hasattr(face, name) for name in face.__all__)
