"""Where the manuals of NumPy, SciPy and JAX describe a name, as far as that can be told without asking them.

Nothing is fetched: what is installed says what has a page. A name of which that is not certain leads nowhere.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re

import numpy as np

NUMPY = "https://numpy.org/doc/stable/reference"
SCIPY = "https://docs.scipy.org/doc/scipy/reference/generated"
JAX = "https://docs.jax.dev/en/latest/_autosummary"

# Those of NumPy's packages of which each function has a page in one folder; numpy.random's are elsewhere.
PACKAGES = ("numpy", "numpy.linalg", "numpy.fft")
CONSTANTS = ("e", "pi", "inf", "nan", "euler_gamma", "newaxis")
INDEXED = ("c_", "r_", "s_", "mgrid", "ogrid")  # objects that are indexed, with pages of their own
WITHOUT_PAGE = ("numpy.test",)

# JAX is not installed where the site is built. In these packages its manual has a page for each function, under
# its own name; a class is described on its package's page.
OF_JAX = """
    jax.lax jax.lax.linalg jax.nn jax.nn.initializers jax.random jax.tree jax.tree_util jax.ops jax.image jax.debug
    jax.experimental.sparse
""".split()
JAX_ITSELF = """
    block_until_ready checkpoint clear_caches closure_convert custom_gradient custom_jvp custom_vjp default_backend
    device_count device_get device_put devices disable_jit eval_shape grad hessian jacfwd jacrev jit jvp
    linear_transpose linearize live_arrays local_device_count local_devices make_array_from_callback
    make_array_from_process_local_data make_array_from_single_device_arrays make_jaxpr make_mesh named_call
    named_scope pmap process_count process_index process_indices pure_callback shard_map value_and_grad vjp vmap
""".split()
# Classes and functions in upper case that are listed like functions.
LISTED = {
    "jax.random": "PRNGKey",
    "jax.tree_util": "KeyEntry KeyPath Partial",
    "jax.experimental.sparse": "BCOO BCSR COO CSC CSR JAXSparse",
}
# Functions of these packages that their lists leave out, or that came to them lately.
NOT_LISTED = {
    "jax.lax": "dtype mulhi padtype_to_pads pbroadcast pcast pvary stack tile unstack",
    "jax.lax.linalg": "ormqr",
    "jax.nn": "get_scaled_dot_general_config log1mexp logmeanexp scaled_dot_general scaled_matmul",
    "jax.random": "key_dtype key_impl",
    "jax.experimental.sparse": """
        bcoo_rev bcsr_broadcast_in_dim bcsr_sum_duplicates jacfwd jacobian jacrev linalg""",
}


@functools.cache
def address(name: str) -> str | None:
    """The page of a name that is written out in full, as `numpy.linalg.svd`; None where none is certain."""
    module, _, short = name.rpartition(".")
    if not module or any(not part or part[0] == "_" for part in name.split(".")):
        return None
    owner = module.partition(".")[0]
    if owner == "jax":
        return _of_jax(module, short)
    if owner not in ("numpy", "scipy"):
        return None
    try:
        held = importlib.import_module(module)
    except ImportError:
        return None
    return (_of_numpy if owner == "numpy" else _of_scipy)(held, short)


def outside(code: str) -> str | None:
    """The page of a name as texts have it, with `np` for `numpy`."""
    return address(re.sub(r"^np\.", "numpy.", code))


def _of_numpy(module, short: str) -> str | None:
    """A function's page is named as the function calls itself: `numpy.concat` is `concatenate`."""
    if module is np and short in CONSTANTS:
        return f"{NUMPY}/constants.html#numpy.{short}"
    value = getattr(module, short, None)
    if module.__name__ not in PACKAGES or value is None or short not in module.__all__:
        return None
    if module is np and short in INDEXED:
        return f"{NUMPY}/generated/numpy.{short}.html"
    if inspect.isclass(value) and issubclass(value, np.generic):
        return f"{NUMPY}/arrays.scalars.html#numpy.{value.__name__}"  # one page for all types of numbers
    if not (inspect.isroutine(value) or inspect.isclass(value) or isinstance(value, np.ufunc)):
        return None
    own = getattr(value, "__name__", short)
    full = f"{module.__name__}.{own if getattr(module, own, None) is value else short}"
    return None if full in WITHOUT_PAGE else f"{NUMPY}/generated/{full}.html"


def _of_scipy(module, short: str) -> str | None:
    """The docstrings of SciPy's packages list what has a page."""
    value = getattr(module, short, None)
    if value is None or inspect.ismodule(value):
        return None
    for name in (short, getattr(value, "__name__", short)):
        listed = re.search(rf"^ +{re.escape(name)}(?: +--? .*| *)$", module.__doc__ or "", re.M)
        if listed and getattr(module, name, None) is value:
            return f"{SCIPY}/{module.__name__}.{name}.html"
    return None


def _of_jax(module: str, short: str) -> str | None:
    if module == "jax":
        known = short in JAX_ITSELF
    else:
        listed = short.islower() or short in LISTED.get(module, "").split()
        known = module in OF_JAX and listed and short not in NOT_LISTED.get(module, "").split()
    return f"{JAX}/{module}.{short}.html" if known else None
