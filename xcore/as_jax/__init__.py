"""Programs and libraries written for JAX run on xcore: a tree of modules named ``jax``.

``import xcore.as_jax`` first thing in a script, ``python -m xcore.as_jax script.py``, or
``%load_ext xcore.as_jax``: every later ``import jax`` gives names of xcore's. docs/howto/ecosystem.md says
which libraries were tried, and what is missing.
"""

from __future__ import annotations

import importlib as _importlib
import sys as _sys

import xcore as _xcore

from ._modules import NAME as _NAME
from ._modules import Finder as _Finder
from ._modules import held as _held
from ._modules import refuse_if_loaded as _refuse_if_loaded
from ._settings import open_attributes as _open_attributes
from ._settings import read_environment as _read_environment
from ._table import strict as _strict
from ._table import table as _table
from ._types import open_words as _open_words

__all__ = ["is_active"]


def is_active() -> bool:
    """Whether ``import jax`` gives xcore.

    >>> import xcore.as_jax  # doctest: +SKIP
    >>> xcore.as_jax.is_active()  # doctest: +SKIP
    True
    """
    return any(isinstance(f, _Finder) for f in _sys.meta_path)


def _activate() -> None:
    _refuse_if_loaded()
    if not is_active():
        _sys.meta_path.insert(0, _Finder(_table()))
        _open_attributes()
        _open_words()
        if _strict():
            _xcore.config.update("narrow", True)
            _xcore.config.update("clamp", True)
            _xcore.config.update("shared_gradients", True)
        _read_environment()
        _held(_importlib.import_module(_NAME))["xcore"] = _xcore


def load_ipython_extension(ipython) -> None:
    """What ``%load_ext xcore.as_jax`` calls; importing this module has done it."""


_activate()
