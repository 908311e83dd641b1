"""What is said of names that other packages define, or that no docstring can stand at: classes of jaxlib, unions."""

TOLD = {
    "xcore.Device": """A device that arrays can lie on: one processor, or one accelerator.

    >>> import xcore as xc
    >>> device = xc.devices()[0]
    >>> isinstance(device, xc.Device), device.id
    (True, 0)
    """,
    "xcore.profiler.TraceAnnotation": """``with TraceAnnotation("name"):`` names a part of the program in the profile.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> with xc.profiler.TraceAnnotation("the sine"):
    ...     y = xnp.sin(0.0)
    """,
    "xcore.tree_util.DictKey": """A step of a path: the item of a dict under a key.

    >>> import xcore as xc
    >>> [(path, leaf)] = xc.tree.leaves_with_path({"a": 1})
    >>> path, path[0].key
    ((DictKey(key='a'),), 'a')
    """,
    "xcore.tree_util.SequenceKey": """A step of a path: an item of a list or tuple.

    >>> import xcore as xc
    >>> [(path, leaf)] = xc.tree.leaves_with_path([1])
    >>> path, path[0].idx
    ((SequenceKey(idx=0),), 0)
    """,
    "xcore.tree_util.GetAttrKey": """A step of a path: an attribute.

    >>> import xcore as xc
    >>> from collections import namedtuple
    >>> [(path, leaf)] = xc.tree.leaves_with_path(namedtuple("Point", "x")(1))
    >>> path, path[0].name
    ((GetAttrKey(name='x'),), 'x')
    """,
    "xcore.tree_util.FlattenedIndexKey": """A step of a path: a child of a node that has no keys for its children.

    >>> import xcore as xc
    >>> from xcore.tree_util import FlattenedIndexKey, keystr
    >>> keystr((FlattenedIndexKey(2),))
    '[<flat index 2>]'
    """,
    "xcore.tree_util.KeyEntry": """A step of a path: any hashable object; those of lists, dicts and attributes have
    classes of their own.

    >>> import xcore as xc
    >>> [(path, leaf)] = xc.tree.leaves_with_path({"a": 1})
    >>> isinstance(path[0], xc.tree_util.KeyEntry)
    True
    """,
    "xcore.tree_util.KeyPath": """A path to a leaf, in annotations: a tuple of ``KeyEntry``.""",
    "xcore.tree_util.PyTreeDef": """The structure of a pytree: what is left of it without its leaves.

    >>> import xcore as xc
    >>> leaves, structure = xc.tree.flatten({"a": 1, "b": (2, 3)})
    >>> structure.num_leaves, structure.unflatten([4, 5, 6])
    (3, {'a': 4, 'b': (5, 6)})
    """,
    "xcore.tree_util.default_registry": """The classes whose instances are nodes of pytrees, as jaxlib keeps them.""",
    "xcore.typing.ArrayLike": """What functions take where they want an array: arrays, NumPy's arrays and numbers,
    Python numbers, and what NumPy can make an array of. Few functions take lists.""",
    "xcore.typing.Axis": """An axis, several of them, or None for all.""",
    "xcore.typing.DTypeLike": """What names a dtype: a string, a class, NumPy's dtypes, and whatever has a dtype.""",
    "xcore.typing.DeviceLike": """Where an array is to lie: a ``Device``, a sharding, or a layout.""",
    "xcore.typing.Index": """What stands between the brackets of an array: integers, slices, ``None``, ``...``, arrays
    of integers or of bools, and tuples of them.""",
    "xcore.typing.PyTree": """Tuples, lists, dicts, structs and registered classes, with arrays as leaves.""",
    "xcore.typing.Scalar": """A Python number or bool.""",
    "xcore.typing.Shape": """The lengths of the axes: a sequence of ints.""",
}
