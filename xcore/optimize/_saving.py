"""Trees of arrays on disk, exact to the last bit, and what continues a run from them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np

from .. import numpy as xnp
from .. import random
from .._core import PyTree, dtypes, tree, typeof


def save(path: str | Path, state: PyTree) -> None:
    """Write a tree of arrays to a file: optimizer states, parameters, results.

    The file is an ``.npz`` archive with one array for each leaf, named by its place in the tree.
    It is written beside its place and then moved there, so that no half of a file is ever seen.

    Args:
      path: of the file.
      state: tree of arrays.

    >>> import tempfile, pathlib, xcore.optimize as xo, xcore.numpy as xnp
    >>> params = xnp.asarray([1.0, 2.0])
    >>> opt = xo.adam(0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(pathlib.Path(folder) / "state.npz", opt.init(params))
    ...     again = load(pathlib.Path(folder) / "state.npz", opt.init(params))
    >>> again[0].mu
    Array([0., 0.], dtype=float32)
    """
    arrays = {_name(path): _raw(x) for path, x in tree.flatten_with_path(state)[0]}
    path = os.fspath(path)
    handle, beside = tempfile.mkstemp(dir=os.path.dirname(path) or ".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **arrays)
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def load(path: str | Path, like: PyTree) -> PyTree:
    """Read a tree that ``save`` wrote.

    Args:
      path: the file.
      like: a tree of the same structure, shapes and dtypes, such as a fresh ``opt.init(params)``.

    >>> import xcore.optimize as xo
    >>> xo.load("missing.npz", 0.0)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    FileNotFoundError: ...
    """
    with np.load(path, allow_pickle=False) as file:
        stored = {name: file[name] for name in file.files}
    leaves, structure = tree.flatten_with_path(like)
    names = [_name(p) for p, _ in leaves]
    if set(names) != set(stored):
        missing, extra = sorted(set(names) - set(stored)), sorted(set(stored) - set(names))
        raise ValueError(
            f"xcore.optimize.load: {path} holds another tree: missing {missing}, unexpected {extra}. "
            "Give as `like` a state made by the same optimizer for the same parameters."
        )
    return tree.unflatten(structure, [_cooked(stored[_name(p)], x, _name(p)) for p, x in leaves])


def _name(path) -> str:
    return tree.keystr(path) or "value"


def _is_key(x) -> bool:
    return isinstance(x, random.KeyArray)


def _raw(x) -> np.ndarray:
    """A leaf as bytes that NumPy can store: its bits where it does not know the dtype."""
    host = np.asarray(random.key_data(x) if _is_key(x) else xnp.asarray(x))
    return host.view(f"u{host.dtype.itemsize}") if host.dtype.kind == "V" else host


def _cooked(host: np.ndarray, like, name: str):
    if _is_key(like):
        return random.wrap_key_data(xnp.asarray(host), impl=random.key_impl(like))
    t = typeof(xnp.asarray(like))
    host = host.view(t.dtype) if t.dtype.kind == "V" and host.dtype.kind == "u" else host
    if host.shape != t.shape or dtypes.as_dtype(host.dtype) != t.dtype:
        raise ValueError(
            f"xcore.optimize.load: {name} is {host.dtype}{list(host.shape)} in the file, but {t} is expected."
        )
    return xnp.asarray(host)
