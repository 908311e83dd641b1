"""What is said of names that other packages define, or that no docstring can stand at: classes of jaxlib, unions,
tuples and sets."""

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

# ----- Names of one kind: a row of a table for each -----

_CHECKS = {
    "all_checks": ("All checks.", "lambda x: 1 / x", "0.0"),
    "automatic_checks": ("All checks but those that the function makes itself.", "lambda x: 1 / x", "0.0"),
    "div_checks": ("Checks that nothing is divided by zero.", "lambda x: 1 / x", "0.0"),
    "empty_checks": ("No checks.", "lambda x: 1 / x", "0.0"),
    "float_checks": ("Checks for divisions by zero, and for results that are NaN.", "xnp.log", "-1.0"),
    "index_checks": ("Checks that positions are inside of the arrays.", "lambda i: xnp.ones(3)[i]", "5"),
    "nan_checks": ("Checks that no result is NaN.", "xnp.log", "-1.0"),
    "user_checks": ("The checks that the function makes by ``check``; the only ones by default.",
                    'lambda x: checkify.check(x > 0, "not positive")', "-1.0"),
}  # fmt: skip


def _of_checks(package: str, name: str) -> str:
    text, function, argument = _CHECKS[name]
    failed = name != "empty_checks"
    return f"""{text} For the argument ``errors`` of ``checkify``.

    >>> import xcore.numpy as xnp
    >>> from {package} import checkify
    >>> checked = checkify.checkify({function}, errors=checkify.{name})
    >>> error, _ = checked({argument})
    >>> error.get() is not None
    {failed}
    """


TOLD |= {
    f"{package}.checkify.{name}": _of_checks(package, name)
    for package in ("xcore", "xcore.experimental")
    for name in _CHECKS
}

_LAYERS = {
    "Tanh": ("tanh(x)", "[-0.7616,  0.    ,  0.964 ]"),
    "Relu": ("max(x, 0)", "[0., 0., 2.]"),
    "Exp": ("e^x", "[0.3679, 1.    , 7.3891]"),
    "LogSoftmax": ("the logarithm of softmax along the last axis", "[-3.1698, -2.1698, -0.1698]"),
    "Softmax": ("e^x divided by its sum along the last axis", "[0.042 , 0.1142, 0.8438]"),
    "Softplus": ("log(1 + e^x)", "[0.3133, 0.6931, 2.1269]"),
    "Sigmoid": ("1/(1 + e^-x)", "[0.2689, 0.5   , 0.8808]"),
    "Elu": ("x for x > 0, else e^x - 1", "[-0.6321,  0.    ,  2.    ]"),
    "LeakyRelu": ("x for x ≥ 0, else x/100", "[-0.01,  0.  ,  2.  ]"),
    "Selu": ("the scaled elu that keeps mean 0 and variance 1", "[-1.1113,  0.    ,  2.1014]"),
    "Gelu": ("x Φ(x) with the normal distribution function Φ", "[-0.1588,  0.    ,  1.9546]"),
    "Identity": ("x itself", "[-1.,  0.,  2.]"),
}


def _of_layer(name: str) -> str:
    formula, shown = _LAYERS[name]
    return f"""The layer that gives {formula}: a pair (init, apply), without parameters.

    >>> import xcore.numpy as xnp
    >>> from xcore.example_libraries import stax
    >>> init, apply = stax.{name}
    >>> apply((), xnp.array([-1.0, 0.0, 2.0])).round(4)
    Array({shown}, dtype=float32)
    """


_CONVOLUTIONS = {
    "Conv": ("GeneralConv", "correlations of images (N, H, W, C) with filters", "4, (3, 3)", "(-1, 8, 8, 3)",
             "(-1, 6, 6, 4)"),
    "Conv1DTranspose": ("GeneralConvTranspose", "transposed convolutions of sequences (N, H, C)",
                        "4, (3,), strides=(2,)", "(-1, 8, 3)", "(-1, 17, 4)"),
    "ConvTranspose": ("GeneralConvTranspose", "transposed convolutions of images (N, H, W, C)",
                      "4, (3, 3), strides=(2, 2)", "(-1, 8, 8, 3)", "(-1, 17, 17, 4)"),
}  # fmt: skip


def _of_convolution(name: str) -> str:
    general, text, given, shape, shown = _CONVOLUTIONS[name]
    return f"""A layer of {text}: ``{general}`` with its first argument given.

    >>> import xcore as xc
    >>> from xcore.example_libraries import stax
    >>> init, apply = stax.{name}({given})
    >>> init(xc.random.key(0), {shape})[0]
    {shown}
    """


_STAX = "xcore.example_libraries.stax"
TOLD |= {f"{_STAX}.{name}": _of_layer(name) for name in _LAYERS}
TOLD |= {f"{_STAX}.{name}": _of_convolution(name) for name in _CONVOLUTIONS}
TOLD |= {
    f"{_STAX}.Flatten": """The layer that makes one axis of all but the first: a pair (init, apply), without parameters.

    >>> import xcore.numpy as xnp
    >>> from xcore.example_libraries import stax
    >>> init, apply = stax.Flatten
    >>> apply((), xnp.ones((5, 2, 3))).shape
    (5, 6)
    """,
    f"{_STAX}.FanInSum": """The layer that adds a list of inputs: a pair (init, apply), without parameters.

    >>> from xcore.example_libraries import stax
    >>> init, apply = stax.FanInSum
    >>> apply((), [1.0, 2.0])
    3.0
    """,
}

TOLD |= {
    f"{package}.checkpoint_policies": """What ``checkpoint`` keeps for the backward pass: policies, by their names.

    ``nothing_saveable`` keeps arguments only, as without a policy, ``everything_saveable`` all, ``dots_saveable``
    the results of matrix products and convolutions, ``dots_with_no_batch_dims_saveable`` those of products without
    batch axes. ``save_only_these_names(*names)`` and its neighbours make a policy of names, which
    ``ad_checkpoint.checkpoint_name`` gives to values.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> f = xc.checkpoint(lambda x: xnp.sin(x @ x), policy=xc.checkpoint_policies.dots_saveable)
    >>> xc.grad(f)(xnp.array([0.0, 1.0])).round(4)
    Array([0.    , 1.0806], dtype=float32)
    """
    for package in ("xcore", "xcore.ad_checkpoint")
}
TOLD |= {
    f"{package}float0": """The dtype of derivatives with respect to integers and booleans, which have none.

    >>> import xcore as xc
    >>> xc.grad(lambda n: 2.0 * n, allow_int=True)(3).dtype == xc.float0
    True
    """
    for package in ("xcore.", "xcore.dtypes.")
}
TOLD["xcore.ops.index"] = """An index as a value, as of ``numpy.s_``.

    >>> import xcore as xc
    >>> xc.ops.index[1:3, 0]
    (slice(1, 3, None), 0)
    """


_CONSTANTS = {
    "pi": ("π, half of a full turn", "round(xnp.pi, 5)", "3.14159"),
    "e": ("e, the base of natural logarithms", "round(xnp.e, 5)", "2.71828"),
    "euler_gamma": ("γ, the constant of Euler and Mascheroni", "round(xnp.euler_gamma, 5)", "0.57722"),
    "inf": ("Infinity, a Python float", "xnp.inf > 1e308", "True"),
    "nan": ("What is no number, a Python float that differs from itself", "xnp.nan == xnp.nan", "False"),
    "newaxis": (
        "``None`` by the name that it has in indices, where it makes an axis of length 1",
        "xnp.ones(3)[:, xnp.newaxis].shape", "(3, 1)",
    ),
    "dtype": ("NumPy's class of dtypes, which arrays here have, too", 'xnp.dtype("float32").itemsize', "4"),
    "object_": ("NumPy's dtype of Python objects, which no array here has", "xnp.object_.__name__", "'object_'"),
    "ComplexWarning": (
        "What NumPy warns of where an imaginary part is dropped", "issubclass(xnp.ComplexWarning, Warning)", "True",
    ),
}  # fmt: skip
_KINDS = {
    "generic": ("all", "bool"), "number": ("all numbers", "int8"), "integer": ("integers", "uint8"),
    "signedinteger": ("integers with a sign", "int32"), "unsignedinteger": ("integers without a sign", "uint32"),
    "inexact": ("real and complex floating-point numbers", "complex64"),
    "floating": ("real floating-point numbers", "float16"),
    "complexfloating": ("complex numbers", "complex64"),
}  # fmt: skip
TOLD |= {
    f"xcore.numpy.{name}": f"""{text}.

    >>> import xcore.numpy as xnp
    >>> {code}
    {shown}
    """
    for name, (text, code, shown) in _CONSTANTS.items()
}
TOLD |= {
    f"xcore.numpy.{name}": f"""The kind of the dtypes of {what}, for ``xnp.issubdtype``.

    >>> import xcore.numpy as xnp
    >>> xnp.issubdtype(xnp.{example}, xnp.{name})
    True
    """
    for name, (what, example) in _KINDS.items()
}
TOLD |= {
    f"xcore.numpy.{name}": f"""The kind of the dtypes of {what}, of which there are no arrays here.

    >>> import xcore.numpy as xnp
    >>> xnp.issubdtype(xnp.float32, xnp.{name})
    False
    """
    for name, what in (("flexible", "texts, bytes and records"), ("character", "texts and bytes"))
}
